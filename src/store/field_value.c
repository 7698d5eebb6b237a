/* SPDX-License-Identifier: Apache-2.0 */
/* One member of a struct, in and out of a statement. Names of choices are part of the formats: never rename one. */
#include "store/reader.h"

#include <math.h>
#include <string.h>

/* All enums with values from 0 on have the size of an unsigned int with the compilers we support. */
_Static_assert(sizeof(hf_mean_kind) == sizeof(unsigned) && sizeof(hf_stop) == sizeof(unsigned),
               "enums must have the size of unsigned");

typedef union member {
    size_t size;
    double real;
    bool flag;
    unsigned choice;
    char *text;
} member;

static const size_t member_bytes[] = {
    [HFI_SIZE] = sizeof(size_t),     [HFI_REAL] = sizeof(double), [HFI_FLAG] = sizeof(bool),
    [HFI_CHOICE] = sizeof(unsigned), [HFI_TEXT] = sizeof(char *), [HFI_TEXT_OR_NULL] = sizeof(char *)};

hfi_sql_value hfi_file_field_value(const hfi_file_field *field, const void *object)
{
    member m = {0};
    memcpy(&m, (const char *)object + field->offset, member_bytes[field->type]);
    switch (field->type) {
    case HFI_SIZE:
        return hfi_whole(m.size > INT64_MAX ? INT64_MAX : m.size);
    case HFI_REAL:
        return hfi_number(m.real);
    case HFI_FLAG:
        return hfi_whole(m.flag ? 1 : 0);
    case HFI_CHOICE:
        return m.choice < field->choices ? hfi_text(field->names[m.choice]) : (hfi_sql_value){0};
    default:
        return hfi_text(m.text);
    }
}

/* False: it is none of the names. */
static bool take_choice(sqlite3_stmt *statement, int column, const hfi_file_field *field, unsigned *out)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    if (sqlite3_column_type(statement, column) != SQLITE_TEXT || text == NULL) return false;
    for (*out = 0; *out < field->choices; ++*out)
        if (strcmp(text, field->names[*out]) == 0) return true;
    return false;
}

static hf_status take_text(const hfi_memory *memory, sqlite3_stmt *statement, int column, char **out)
{
    const char *text = sqlite3_column_type(statement, column) == SQLITE_TEXT
                           ? (const char *)sqlite3_column_text(statement, column)
                           : NULL;
    if (text == NULL || strlen(text) != (size_t)sqlite3_column_bytes(statement, column))
        return HF_ERR_MODEL_FILE;
    *out = hfi_memory_strdup(memory, text);
    return *out != NULL ? HF_OK : HF_ERR_MEMORY;
}

hf_status hfi_file_field_take(const hfi_memory *memory, sqlite3_stmt *statement, int column,
                              const hfi_file_field *field, void *object)
{
    const int type = sqlite3_column_type(statement, column);
    const sqlite3_int64 number = sqlite3_column_int64(statement, column);
    const bool counts = type == SQLITE_INTEGER && number >= 0;
    hf_status status = HF_OK;
    bool good = true;
    member m = {0};
    switch (field->type) {
    case HFI_SIZE:
        good = counts;
        m.size = (size_t)number;
        break;
    case HFI_REAL:
        good = type == SQLITE_FLOAT || type == SQLITE_NULL;
        m.real = type == SQLITE_NULL ? NAN : sqlite3_column_double(statement, column);
        break;
    case HFI_FLAG:
        good = counts && number <= 1;
        m.flag = number == 1;
        break;
    case HFI_CHOICE:
        good = take_choice(statement, column, field, &m.choice);
        break;
    case HFI_TEXT_OR_NULL:
        if (type == SQLITE_NULL) break;
        status = take_text(memory, statement, column, &m.text);
        break;
    case HFI_TEXT:
        status = take_text(memory, statement, column, &m.text);
        break;
    }
    if (!good) return HF_ERR_MODEL_FILE;
    if (status >= 0) memcpy((char *)object + field->offset, &m, member_bytes[field->type]);
    return status;
}
