/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, flags and choices of a struct, in and out of a statement. */
#include "store/file.h"

#include <math.h>
#include <string.h>

int hfi_file_field_bind(sqlite3_stmt *statement, int at, const hfi_file_field *field, const void *object)
{
    const char *place = (const char *)object + field->offset;
    if (field->type == HFI_SIZE) {
        size_t value;
        memcpy(&value, place, sizeof value);
        return sqlite3_bind_int64(statement, at, value > INT64_MAX ? INT64_MAX : (sqlite3_int64)value);
    }
    if (field->type == HFI_REAL) {
        double value;
        memcpy(&value, place, sizeof value);
        return sqlite3_bind_double(statement, at, value);
    }
    if (field->type == HFI_FLAG) {
        bool value;
        memcpy(&value, place, sizeof value);
        return sqlite3_bind_int(statement, at, value ? 1 : 0);
    }
    /* All enums with values from 0 on have the size of an unsigned int with the compilers we support. */
    unsigned value;
    memcpy(&value, place, sizeof value);
    if (value >= field->choices) return SQLITE_MISMATCH;
    return sqlite3_bind_text(statement, at, field->names[value], -1, SQLITE_STATIC);
}

_Static_assert(sizeof(hf_mean_kind) == sizeof(unsigned) && sizeof(hf_stop) == sizeof(unsigned),
               "enums must have the size of unsigned");

static bool take_choice(sqlite3_stmt *statement, int column, const hfi_file_field *field, void *place)
{
    if (sqlite3_column_type(statement, column) != SQLITE_TEXT) return false;
    const char *text = (const char *)sqlite3_column_text(statement, column);
    for (unsigned i = 0; i < field->choices; i++) {
        if (text == NULL || strcmp(text, field->names[i]) != 0) continue;
        memcpy(place, &i, sizeof i);
        return true;
    }
    return false;
}

bool hfi_file_field_take(sqlite3_stmt *statement, int column, const hfi_file_field *field, void *object)
{
    char *place = (char *)object + field->offset;
    int type = sqlite3_column_type(statement, column);
    if (field->type == HFI_CHOICE) return take_choice(statement, column, field, place);
    if (field->type == HFI_REAL) {
        if (type != SQLITE_FLOAT && type != SQLITE_NULL) return false;
        double number = type == SQLITE_NULL ? NAN : sqlite3_column_double(statement, column);
        memcpy(place, &number, sizeof number);
        return true;
    }
    if (type != SQLITE_INTEGER) return false;
    sqlite3_int64 number = sqlite3_column_int64(statement, column);
    if (number < 0 || (field->type == HFI_FLAG && number > 1)) return false;
    if (field->type == HFI_FLAG) {
        bool flag = number == 1;
        memcpy(place, &flag, sizeof flag);
    } else {
        size_t count = (size_t)number;
        memcpy(place, &count, sizeof count);
    }
    return true;
}
