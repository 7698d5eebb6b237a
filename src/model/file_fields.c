/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of settings and report, each with its key in a model file. Keys are part of the format: never
 * rename one. A field that is added later must be optional when reading files of version 1. */
#include "model/file.h"

#include <math.h>
#include <string.h>

static const char *const means[] = {"zero", "constant", "median", "linear"};
static const char *const sites[] = {"gaussian", "robust"};
static const char *const suspects[] = {"off", "auto", "force"};
static const char *const centres[] = {"prior", "loo", "neighbours"};
static const char *const rules[] = {"quantile", "mad", "given"};
static const char *const objectives[] = {"evidence", "loo", "wloo"};
static const char *const stops[] = {"not trained", "converged", "iterations", "roundoff"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SETTING(field, type)                                                                                 \
    {                                                                                                        \
        "settings." #field, type, offsetof(hf_fit_settings, field), NULL, 0                                  \
    }
#define SETTING_CHOICE(field, list)                                                                          \
    {                                                                                                        \
        "settings." #field, HFI_CHOICE, offsetof(hf_fit_settings, field), list, COUNT(list)                  \
    }
#define REPORT(field, type)                                                                                  \
    {                                                                                                        \
        "report." #field, type, offsetof(hf_fit_report, field), NULL, 0                                      \
    }

const hfi_field hfi_settings_fields[] = {
    SETTING_CHOICE(mean, means),           SETTING_CHOICE(sites, sites),
    SETTING_CHOICE(suspects, suspects),    SETTING(groups, HFI_FLAG),
    SETTING(calibrate, HFI_FLAG),          SETTING_CHOICE(centre, centres),
    SETTING_CHOICE(threshold_rule, rules), SETTING(eps, HFI_REAL),
    SETTING(threshold, HFI_REAL),          SETTING(rounds, HFI_SIZE),
    SETTING(consistent_noise, HFI_FLAG),   SETTING(train, HFI_FLAG),
    SETTING_CHOICE(objective, objectives), SETTING(priors, HFI_FLAG),
    SETTING(train_mean, HFI_FLAG),         SETTING(restarts, HFI_SIZE),
    SETTING(iterations, HFI_SIZE),         SETTING(standardise, HFI_FLAG),
};
const size_t hfi_settings_field_count = COUNT(hfi_settings_fields);

const hfi_field hfi_report_fields[] = {
    REPORT(readings, HFI_SIZE),
    REPORT(missing, HFI_SIZE),
    {"report.stop", HFI_CHOICE, offsetof(hf_fit_report, stop), stops, COUNT(stops)},
    REPORT(evaluations, HFI_SIZE),
    REPORT(rounds, HFI_SIZE),
    REPORT(objective, HFI_REAL),
    REPORT(log_prior, HFI_REAL),
    REPORT(gradient_norm, HFI_REAL),
    REPORT(at_bound, HFI_SIZE),
    REPORT(jitter, HFI_REAL),
    REPORT(condition, HFI_REAL),
    REPORT(backward, HFI_REAL),
    REPORT(bytes, HFI_REAL),
    REPORT(seconds, HFI_REAL),
    REPORT(threshold, HFI_REAL),
    REPORT(suspects_adopted, HFI_FLAG),
    REPORT(suspects, HFI_SIZE),
    REPORT(groups, HFI_SIZE),
    REPORT(benefit, HFI_REAL),
    REPORT(gain, HFI_REAL),
    REPORT(calibration, HFI_REAL),
};
const size_t hfi_report_field_count = COUNT(hfi_report_fields);

int hfi_field_bind(sqlite3_stmt *statement, int at, const hfi_field *field, const void *object)
{
    const char *place = (const char *)object + field->offset;
    if (field->type == HFI_SIZE) {
        size_t value;
        memcpy(&value, place, sizeof value);
        return sqlite3_bind_int64(statement, at, (sqlite3_int64)value);
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

static bool take_choice(sqlite3_stmt *statement, int column, const hfi_field *field, void *place)
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

bool hfi_field_take(sqlite3_stmt *statement, int column, const hfi_field *field, void *object)
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
