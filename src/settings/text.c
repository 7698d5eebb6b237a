/* SPDX-License-Identifier: Apache-2.0 */
/* Members of hf_fit_settings by their names: values, checks, and texts in and out. */
#include "core/core.h"
#include "settings/table.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table for everybody ------------------------------------------------------------------------------------ */

size_t hf_fit_setting_count(void)
{
    return HFI_SETTINGS;
}

const hf_setting *hf_fit_setting_at(size_t index)
{
    return index < HFI_SETTINGS ? &hfi_settings[index].face : NULL;
}

const hfi_setting *hfi_setting_find(const char *name)
{
    for (size_t i = 0; name && i < HFI_SETTINGS; i++)
        if (strcmp(hfi_settings[i].face.name, name) == 0) return &hfi_settings[i];
    return NULL;
}

const hf_setting *hf_fit_setting_find(const char *name)
{
    const hfi_setting *row = hfi_setting_find(name);
    return row ? &row->face : NULL;
}

const char *hf_setting_choice(const hf_setting *setting, size_t index)
{
    const hfi_setting *row = setting ? hfi_setting_find(setting->name) : NULL;
    return row && index < row->face.choices ? row->choice(index) : NULL;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static bool is_enum(const hfi_setting *row)
{
    return row->face.type == HF_SETTING_CHOICE;
}

uint64_t hfi_setting_whole(const hfi_setting *row, const hf_fit_settings *settings)
{
    const char *place = (const char *)settings + row->offset;
    unsigned choice;
    bool flag;
    size_t count;
    switch (row->face.type) {
    case HF_SETTING_CHOICE:
        memcpy(&choice, place, sizeof choice);
        return choice;
    case HF_SETTING_FLAG:
        memcpy(&flag, place, sizeof flag);
        return flag;
    default:
        memcpy(&count, place, sizeof count);
        return count;
    }
}

double hfi_setting_value(const hfi_setting *row, const hf_fit_settings *settings)
{
    double value;
    if (row->face.type != HF_SETTING_NUMBER) return (double)hfi_setting_whole(row, settings);
    memcpy(&value, (const char *)settings + row->offset, sizeof value);
    return value;
}

void hfi_setting_assign(const hfi_setting *row, double value, hf_fit_settings *settings)
{
    char *place = (char *)settings + row->offset;
    if (row->face.type == HF_SETTING_CHOICE) {
        const unsigned choice = (unsigned)value;
        memcpy(place, &choice, sizeof choice);
    } else if (row->face.type == HF_SETTING_FLAG) {
        const bool flag = value != 0.0;
        memcpy(place, &flag, sizeof flag);
    } else if (row->face.type == HF_SETTING_NUMBER) {
        memcpy(place, &value, sizeof value);
    } else if (row->face.type == HF_SETTING_COUNT || row->face.type == HF_SETTING_LENGTH) {
        const size_t count = (size_t)value;
        memcpy(place, &count, sizeof count);
    } else {
        const void *none = NULL;
        memcpy(place, &none, sizeof none);
    }
}

static const char *text_of(const hfi_setting *row, const hf_fit_settings *settings)
{
    const char *text;
    memcpy(&text, (const char *)settings + row->offset, sizeof text);
    return text;
}

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

/* "a positive number", "a whole number, at least 1", "a number from 0 to less than 1" */
static void range_in_words(const hf_setting *face, char *text, size_t bytes)
{
    const bool number = face->type == HF_SETTING_NUMBER;
    char most[48] = "";
    if (isfinite(face->most))
        snprintf(most, sizeof most, " to %s%g", face->below ? "less than " : "", face->most);
    if (!number)
        snprintf(text, bytes, "a whole number, at least %g%s", face->least, most);
    else if (face->above && face->least == 0.0)
        snprintf(text, bytes, "a positive number%s", most);
    else
        snprintf(text, bytes, "a number %s %g%s", face->above ? "more than" : "from", face->least, most);
}

static bool in_range(const hf_setting *face, double value)
{
    const bool low = face->above ? value > face->least : value >= face->least;
    const bool high = face->below ? value < face->most : value <= face->most;
    return (low && high) || (value == 0.0 && face->zero);
}

static hf_status out_of_range(hf_context *ctx, const hf_setting *face, const char *value)
{
    char range[96];
    range_in_words(face, range, sizeof range);
    if (face->zero)
        return hfi_refuse(ctx, "%s is %.40s; give %s, or 0: %s", face->name, value, range, face->zero);
    return hfi_refuse(ctx, "%s is %.40s; give %s", face->name, value, range);
}

/* The number of a choice by its name. */
static hf_status read_choice(hf_context *ctx, const hfi_setting *row, const char *value, double *out)
{
    const char *names[HFI_MOST_CHOICES];
    char what[64];
    size_t index = 0;
    for (size_t k = 0; k < row->face.choices; k++) names[k] = row->choice(k);
    snprintf(what, sizeof what, "choice of %s", row->face.name);
    const hf_status s = hfi_choice_parse(ctx, what, names, row->face.choices, value, &index);
    if (s == HF_OK) *out = (double)index;
    return s;
}

hf_status hfi_setting_range(hf_context *ctx, const hfi_setting *row, const hf_fit_settings *settings)
{
    char text[48];
    double value = 0.0;
    const unsigned long long whole =
        row->face.type == HF_SETTING_NUMBER ? 0 : hfi_setting_whole(row, settings);
    switch (row->face.type) {
    case HF_SETTING_CHOICE:
        if (whole < row->face.choices) return HF_OK;
        snprintf(text, sizeof text, "%llu", whole);
        return read_choice(ctx, row, text, &value);
    case HF_SETTING_COUNT:
    case HF_SETTING_NUMBER:
        value = hfi_setting_value(row, settings);
        snprintf(text, sizeof text, "%g", value);
        return in_range(&row->face, value) ? HF_OK : out_of_range(ctx, &row->face, text);
    case HF_SETTING_LENGTH: /* stands after its array */
        if (whole == 0 || text_of(row - 1, settings)) return HF_OK;
        return hfi_refuse(ctx, "%s is %llu, but %s is NULL", row->face.name, whole, row[-1].face.name);
    default:
        return HF_OK;
    }
}

hf_status hfi_settings_ranges(hf_context *ctx, const hf_fit_settings *settings)
{
    hf_status s = HF_OK;
    for (size_t i = 0; s >= 0 && i < HFI_SETTINGS; i++)
        s = hfi_setting_range(ctx, &hfi_settings[i], settings);
    return s;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

/* The row of a setting with a text; NULL after a message. */
static const hfi_setting *find_row(hf_context *ctx, const char *name)
{
    const hfi_setting *row = hfi_setting_find(name);
    if (row && row->face.type < HF_SETTING_LIST) return row;
    hfi_refuse(ctx,
               row ? "%.40s is or counts an array, which has no text; use the member itself"
                   : "a fit has no setting '%.40s'",
               name);
    return NULL;
}

static hf_status read_flag(hf_context *ctx, const hf_setting *face, const char *text, double *out)
{
    *out = strcmp(text, "on") == 0 ? 1.0 : 0.0;
    if (*out != 0.0 || strcmp(text, "off") == 0) return HF_OK;
    return hfi_refuse(ctx, "%s: '%.40s' is neither on nor off", face->name, text);
}

/* Counts are exact: what a double cannot hold is out of range. */
static hf_status read_number(hf_context *ctx, const hf_setting *face, const char *text, double *out)
{
    char *end = NULL;
    *out = strtod(text, &end);
    const bool count = face->type == HF_SETTING_COUNT;
    if (end == text || *end != '\0' || isnan(*out))
        return hfi_refuse(ctx, "%s: '%.40s' is not a number", face->name, text);
    if (!in_range(face, *out) || (count && !(*out == floor(*out) && *out < 9007199254740992.0)))
        return out_of_range(ctx, face, text);
    return HF_OK;
}

hf_status hf_fit_settings_set(hf_context *ctx, hf_fit_settings *settings, const char *name, const char *value)
{
    double number = 0.0;
    if (!settings || !name || !value)
        return hfi_refuse(ctx, "hf_fit_settings_set: settings, name and value must not be NULL");
    const hfi_setting *row = find_row(ctx, name);
    if (!row) return HF_ERR_ARGUMENT;
    hf_status s = HF_OK;
    const bool usual = strcmp(value, "default") == 0;
    if (row->face.type == HF_SETTING_TEXT) {
        const char *text = usual || *value == '\0' ? NULL : value;
        memcpy((char *)settings + row->offset, &text, sizeof text);
        return HF_OK;
    }
    if (usual)
        number = row->initial;
    else if (is_enum(row))
        s = read_choice(ctx, row, value, &number);
    else if (row->face.type == HF_SETTING_FLAG)
        s = read_flag(ctx, &row->face, value, &number);
    else
        s = read_number(ctx, &row->face, value, &number);
    if (s >= 0) hfi_setting_assign(row, number, settings);
    return s;
}

/* The shortest text of a number that is read back as it. */
static void write_number(double value, char text[48])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 48, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

void hfi_setting_text(const hfi_setting *row, const hf_fit_settings *settings, size_t room, char *out)
{
    char number[48] = "";
    const char *text = number;
    if (row->face.type == HF_SETTING_TEXT)
        text = text_of(row, settings) ? text_of(row, settings) : "";
    else if (is_enum(row))
        text = row->choice((size_t)hfi_setting_whole(row, settings));
    else if (row->face.type == HF_SETTING_FLAG)
        text = hfi_setting_whole(row, settings) ? "on" : "off";
    else if (row->face.type == HF_SETTING_NUMBER)
        write_number(hfi_setting_value(row, settings), number);
    else if (row->face.type != HF_SETTING_LIST)
        snprintf(number, sizeof number, "%llu", (unsigned long long)hfi_setting_whole(row, settings));
    snprintf(out, room, "%s", text);
}

hf_status hf_fit_settings_get(hf_context *ctx, const hf_fit_settings *settings, const char *name, size_t room,
                              char *out)
{
    char text[48];
    if (!settings || !name || !out)
        return hfi_refuse(ctx, "hf_fit_settings_get: settings, name and out must not be NULL");
    const hfi_setting *row = find_row(ctx, name);
    if (!row) return HF_ERR_ARGUMENT;
    hf_status s = HF_OK;
    if (is_enum(row) && hfi_setting_whole(row, settings) >= hfi_setting_kept(row))
        s = hfi_setting_range(ctx, row, settings);
    if (s < 0) return s;
    hfi_setting_text(row, settings, sizeof text, text);
    const bool is_text = row->face.type == HF_SETTING_TEXT && text_of(row, settings);
    const size_t letters = is_text ? strlen(text_of(row, settings)) : strlen(text);
    if (letters >= room)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "%s has %zu letters, for which %zu bytes are no room", name,
                        letters, room);
    hfi_setting_text(row, settings, room, out);
    return HF_OK;
}
