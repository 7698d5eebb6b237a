/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of settings by their tables: sizes, defaults, values, ranges, and texts in and out. */
#include "core/core.h"
#include "core/settings.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table for everybody ------------------------------------------------------------------------------------ */

size_t hf_setting_count(const hf_settings_table *table)
{
    return table ? table->count : 0;
}

const hf_setting *hf_setting_at(const hf_settings_table *table, size_t index)
{
    return table && index < table->count ? &table->row[index].face : NULL;
}

const hfi_setting *hfi_setting_find(const hf_settings_table *table, const char *name)
{
    for (size_t i = 0; table && name && i < table->count; i++)
        if (strcmp(table->row[i].face.name, name) == 0) return &table->row[i];
    return NULL;
}

const hf_setting *hf_setting_find(const hf_settings_table *table, const char *name)
{
    const hfi_setting *row = hfi_setting_find(table, name);
    return row ? &row->face : NULL;
}

const char *hf_setting_choice(const hf_setting *setting, size_t index)
{
    if (!setting || index >= setting->choices) return NULL;
    return hf_enum_name(((const hfi_setting *)setting)->names, (unsigned)index);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static bool is_enum(const hfi_setting *row)
{
    return row->face.type == HF_SETTING_CHOICE;
}

uint64_t hfi_setting_whole(const hfi_setting *row, const void *settings)
{
    const char *place = (const char *)settings + row->offset;
    unsigned choice;
    bool flag;
    size_t count;
    uint64_t seed;
    switch (row->face.type) {
    case HF_SETTING_CHOICE:
        memcpy(&choice, place, sizeof choice);
        return choice;
    case HF_SETTING_FLAG:
        memcpy(&flag, place, sizeof flag);
        return flag;
    case HF_SETTING_SEED:
        memcpy(&seed, place, sizeof seed);
        return seed;
    default:
        memcpy(&count, place, sizeof count);
        return count;
    }
}

double hfi_setting_value(const hfi_setting *row, const void *settings)
{
    double value;
    if (row->face.type != HF_SETTING_NUMBER) return (double)hfi_setting_whole(row, settings);
    memcpy(&value, (const char *)settings + row->offset, sizeof value);
    return value;
}

void hfi_setting_assign(const hfi_setting *row, double value, void *settings)
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
    } else if (row->face.type == HF_SETTING_SEED) {
        const uint64_t seed = (uint64_t)value;
        memcpy(place, &seed, sizeof seed);
    } else if (row->face.type == HF_SETTING_COUNT || row->face.type == HF_SETTING_LENGTH) {
        const size_t count = (size_t)value;
        memcpy(place, &count, sizeof count);
    } else {
        const void *none = NULL;
        memcpy(place, &none, sizeof none);
    }
}

/* Writes the default. */
static void reset(const hfi_setting *row, void *settings)
{
    hfi_setting_assign(row, row->initial, settings);
    if (row->face.type == HF_SETTING_TEXT)
        memcpy((char *)settings + row->offset, &row->usual, sizeof row->usual);
}

static const char *text_of(const hfi_setting *row, const void *settings)
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
        hfi_print(most, sizeof most, " to %s%g", face->below ? "less than " : "", face->most);
    if (isinf(face->least))
        hfi_print(text, bytes, "a %snumber", face->above ? "finite " : "");
    else if (!number)
        hfi_print(text, bytes, "a whole number, at least %g%s", face->least, most);
    else if (face->above && face->least == 0.0)
        hfi_print(text, bytes, "a positive number%s", most);
    else
        hfi_print(text, bytes, "a number %s %g%s", face->above ? "more than" : "from", face->least, most);
}

static bool in_range(const hf_setting *face, double value)
{
    const bool low = face->above ? value > face->least : value >= face->least;
    const bool high = face->below ? value < face->most : value <= face->most;
    return (low && high) || (value == 0.0 && face->zero) || (isnan(value) && face->unset);
}

static hf_status out_of_range(hf_context *ctx, const hf_setting *face, const char *value)
{
    char range[96];
    range_in_words(face, range, sizeof range);
    if (face->unset)
        return hfi_refuse(ctx, "%s is %.40s; give %s, or nan: %s", face->name, value, range, face->unset);
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
    for (size_t k = 0; k < row->face.choices; k++) names[k] = hf_enum_name(row->names, (unsigned)k);
    hfi_print(what, sizeof what, "choice of %s", row->face.name);
    const hf_status s = hfi_choice_parse(ctx, what, names, row->face.choices, value, &index);
    if (s == HF_OK) *out = (double)index;
    return s;
}

hf_status hfi_setting_range(hf_context *ctx, const hfi_setting *row, const void *settings)
{
    char text[48];
    double value = 0.0;
    const unsigned long long whole =
        row->face.type == HF_SETTING_NUMBER ? 0 : hfi_setting_whole(row, settings);
    switch (row->face.type) {
    case HF_SETTING_CHOICE:
        if (whole < row->face.choices) return HF_OK;
        hfi_print(text, sizeof text, "%llu", whole);
        return read_choice(ctx, row, text, &value);
    case HF_SETTING_COUNT:
    case HF_SETTING_NUMBER:
        value = hfi_setting_value(row, settings);
        hfi_print(text, sizeof text, "%g", value);
        return in_range(&row->face, value) ? HF_OK : out_of_range(ctx, &row->face, text);
    case HF_SETTING_LENGTH: /* stands after its array */
        if (whole == 0 || text_of(row - 1, settings)) return HF_OK;
        return hfi_refuse(ctx, "%s is %llu, but %s is NULL", row->face.name, whole, row[-1].face.name);
    default:
        return HF_OK;
    }
}

hf_status hfi_settings_ranges(hf_context *ctx, const hf_settings_table *table, const void *settings)
{
    hf_status s = HF_OK;
    for (size_t i = 0; s >= 0 && i < table->count; i++) s = hfi_setting_range(ctx, &table->row[i], settings);
    return s;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

/* No struct of settings is as large: it is the size of one that was not set. */
static const size_t absurd_size = 65536;

static hf_status wrong_size(hf_context *ctx, const char *name, size_t size)
{
    return hfi_refuse(ctx, "the size of the %s is %zu; set it to sizeof(%s)", name, size, name);
}

hf_status hfi_struct_open(hf_context *ctx, const char *name, const void *given, size_t least, void *own,
                          size_t bytes)
{
    size_t size;
    if (given == NULL) return hfi_refuse(ctx, "the %s is NULL", name);
    memcpy(&size, given, sizeof size);
    if (size < least || size >= absurd_size) return wrong_size(ctx, name, size);
    for (size_t i = bytes; i < size; i++)
        if (((const unsigned char *)given)[i] != 0)
            return hfi_refuse(ctx,
                              "the size of the %s is %zu; this library knows %zu bytes, and others are set",
                              name, size, bytes);
    memcpy(own, given, size < bytes ? size : bytes);
    memcpy(own, &bytes, sizeof bytes);
    return HF_OK;
}

/* Where a member ends. */
static size_t end_of(const hfi_setting *row)
{
    static const size_t widths[] = {
        [HF_SETTING_CHOICE] = sizeof(unsigned), [HF_SETTING_FLAG] = sizeof(bool),
        [HF_SETTING_COUNT] = sizeof(size_t),    [HF_SETTING_SEED] = sizeof(uint64_t),
        [HF_SETTING_NUMBER] = sizeof(double),   [HF_SETTING_TEXT] = sizeof(char *),
        [HF_SETTING_LIST] = sizeof(void *),     [HF_SETTING_LENGTH] = sizeof(size_t)};
    return row->offset + widths[row->face.type];
}

static void unknown_setting(hf_context *ctx, const hf_settings_table *table, const char *name, size_t size)
{
    const char *names[HFI_MOST_SETTINGS];
    char list[900];
    const char *asked = name ? name : "";
    size_t count = 0;
    hfi_nearest search;
    hfi_nearest_begin(&search, asked, strlen(asked));
    for (size_t i = 0; i < table->count && count < HFI_MOST_SETTINGS; i++) {
        if (end_of(&table->row[i]) > size) continue;
        names[count++] = table->row[i].face.name;
        hfi_nearest_offer(&search, names[count - 1]);
    }
    if (search.best) {
        hfi_refuse(ctx, "%s has no setting '%.40s'; did you mean '%s'?", table->owner, asked, search.best);
        return;
    }
    hfi_choices_text(names, count, list, sizeof list);
    hfi_refuse(ctx, "%s has no setting '%.40s'; there are %s", table->owner, asked, list);
}

const hfi_setting *hfi_setting_named(hf_context *ctx, const hf_settings_table *table, const char *name,
                                     size_t size)
{
    const hfi_setting *row = hfi_setting_find(table, name);
    if (row && end_of(row) <= size) return row;
    unknown_setting(ctx, table, name, size);
    return NULL;
}

/* The size of settings that are written to: a program may know fewer members than there are. */
hf_status hfi_settings_size(hf_context *ctx, const hf_settings_table *table, const void *settings,
                            size_t *size)
{
    if (!table || !settings) return hfi_refuse(ctx, "the table or the settings are NULL");
    memcpy(size, settings, sizeof *size);
    return *size < end_of(&table->row[0]) || *size >= absurd_size ? wrong_size(ctx, table->type, *size)
                                                                  : HF_OK;
}

hf_status hf_settings_init(const hf_settings_table *table, void *settings, size_t size)
{
    if (!table || !settings || size < end_of(&table->row[0]) || size >= absurd_size) return HF_ERR_ARGUMENT;
    memset(settings, 0, size);
    memcpy(settings, &size, sizeof size);
    for (size_t i = 0; i < table->count; i++)
        if (end_of(&table->row[i]) <= size) reset(&table->row[i], settings);
    return HF_OK;
}

hf_status hfi_settings_take(hf_context *ctx, const hf_settings_table *table, const void *given, void *own)
{
    (void)hf_settings_init(table, own, table->bytes);
    if (!given) return HF_OK;
    return hfi_struct_open(ctx, table->type, given, end_of(&table->row[0]), own, table->bytes);
}

hf_status hfi_settings_give(hf_context *ctx, const hf_settings_table *table, const void *own, void *out,
                            size_t size)
{
    if (hf_settings_init(table, out, size) < 0)
        return hfi_refuse(ctx, "the %s are NULL, or %zu is not their size", table->type, size);
    memcpy(out, own, size < table->bytes ? size : table->bytes);
    memcpy(out, &size, sizeof size);
    return HF_OK;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

/* The row of a setting with a text, which lies within `size` bytes; NULL after a message. */
static const hfi_setting *find_row(hf_context *ctx, const hf_settings_table *table, const char *name,
                                   size_t size)
{
    const hfi_setting *row = hfi_setting_named(ctx, table, name, size);
    if (!row || row->face.type < HF_SETTING_LIST) return row;
    hfi_refuse(ctx, "%s is or counts an array, which has no text; use the member itself", name);
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
    *out = hfi_strtod(text, &end);
    const bool count = face->type == HF_SETTING_COUNT;
    if (end == text || *end != '\0' || isspace((unsigned char)*text) || (isnan(*out) && !face->unset))
        return hfi_refuse(ctx, "%s: '%.40s' is not a number", face->name, text);
    if (!in_range(face, *out) || (count && *out != floor(*out))) return out_of_range(ctx, face, text);
    if (count && !(*out < 9007199254740992.0))
        return hfi_refuse(ctx, "%s is %.40s; give a whole number below 2^53", face->name, text);
    return HF_OK;
}

bool hfi_seed_parse(const char *text, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static hf_status read_seed(hf_context *ctx, const hf_setting *face, const char *text, void *settings,
                           size_t offset)
{
    uint64_t seed;
    if (!hfi_seed_parse(text, &seed))
        return hfi_refuse(ctx, "%s: '%.40s' is not a whole number from 0 to 2^64 - 1", face->name, text);
    memcpy((char *)settings + offset, &seed, sizeof seed);
    return HF_OK;
}

hf_status hf_settings_set(hf_context *ctx, const hf_settings_table *table, void *settings, const char *name,
                          const char *value)
{
    double number = 0.0;
    size_t size = 0;
    hf_status s = hfi_settings_size(ctx, table, settings, &size);
    if (s < 0) return s;
    if (!name || !value) return hfi_refuse(ctx, "hf_settings_set: name and value must not be NULL");
    const hfi_setting *row = find_row(ctx, table, name, size);
    if (!row) return HF_ERR_ARGUMENT;
    if (strcmp(value, "default") == 0 ||
        (row->face.type == HF_SETTING_TEXT && *value == '\0' && !row->usual)) {
        reset(row, settings);
        return HF_OK;
    }
    switch (row->face.type) {
    case HF_SETTING_TEXT:
        memcpy((char *)settings + row->offset, &value, sizeof value);
        return HF_OK;
    case HF_SETTING_SEED:
        return read_seed(ctx, &row->face, value, settings, row->offset);
    case HF_SETTING_CHOICE:
        s = read_choice(ctx, row, value, &number);
        break;
    case HF_SETTING_FLAG:
        s = read_flag(ctx, &row->face, value, &number);
        break;
    default:
        s = read_number(ctx, &row->face, value, &number);
    }
    if (s >= 0) hfi_setting_assign(row, number, settings);
    return s;
}

/* The shortest text of a number that is read back as it. */
static void write_number(double value, char text[48])
{
    for (int digits = 15; digits <= 17; digits++) {
        hfi_print(text, 48, "%.*g", digits, value);
        if (hfi_strtod(text, NULL) == value || isnan(value)) return;
    }
}

void hfi_setting_text(const hfi_setting *row, const void *settings, size_t room, char *out)
{
    char number[48] = "";
    const char *text = number;
    if (row->face.type == HF_SETTING_TEXT)
        text = text_of(row, settings) ? text_of(row, settings) : "";
    else if (is_enum(row))
        text = hf_enum_name(row->names, (unsigned)hfi_setting_whole(row, settings));
    else if (row->face.type == HF_SETTING_FLAG)
        text = hfi_setting_whole(row, settings) ? "on" : "off";
    else if (row->face.type == HF_SETTING_NUMBER)
        write_number(hfi_setting_value(row, settings), number);
    else if (row->face.type != HF_SETTING_LIST)
        hfi_print(number, sizeof number, "%llu", (unsigned long long)hfi_setting_whole(row, settings));
    hfi_print(out, room, "%s", text);
}

hf_status hf_settings_get(hf_context *ctx, const hf_settings_table *table, const void *settings,
                          const char *name, size_t room, char *out)
{
    char text[48];
    size_t size = 0;
    hf_status s = hfi_settings_size(ctx, table, settings, &size);
    if (s < 0) return s;
    if (!name || !out) return hfi_refuse(ctx, "hf_settings_get: name and out must not be NULL");
    const hfi_setting *row = find_row(ctx, table, name, size);
    if (!row) return HF_ERR_ARGUMENT;
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
