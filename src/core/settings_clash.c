/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings go together, by the clashes of their rows; settings that are opened have to. */
#include "core/core.h"
#include "core/settings.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static bool is_outputs(const char *name)
{
    return strcmp(name, "outputs") == 0;
}

unsigned hfi_setting_bit(const hfi_setting *row, const void *settings)
{
    const char *pointer;
    switch (row->face.type) {
    case HF_SETTING_CHOICE:
    case HF_SETTING_FLAG:
        return (unsigned)hfi_setting_whole(row, settings);
    case HF_SETTING_TEXT:
    case HF_SETTING_LIST:
        memcpy(&pointer, (const char *)settings + row->offset, sizeof pointer);
        if (!pointer) return 0;
        return row->face.type == HF_SETTING_TEXT && strcmp(pointer, "auto") == 0 ? 2 : 1;
    default:
        return hfi_setting_value(row, settings) != 0.0;
    }
}

static bool has(unsigned bits, unsigned bit)
{
    return bit < 32 && (bits >> bit & 1u) != 0;
}

/* A value that nobody needs to have chosen. */
static bool is_idle(const hfi_setting *row, const void *settings)
{
    if (hfi_setting_bit(row, settings) == 0) return true;
    const double value = row->face.type < HF_SETTING_TEXT ? hfi_setting_value(row, settings) : NAN;
    return !row->strict && (value == row->initial || (isnan(value) && isnan(row->initial)));
}

/* Whether the first choice is none yet. */
static bool is_open(const hfi_setting *row)
{
    return strcmp(hf_enum_name(row->names, 0), "auto") == 0;
}

static unsigned present_bit(const hf_settings_table *table, const char *of, const void *settings,
                            size_t outputs)
{
    return is_outputs(of) ? outputs > 1 : hfi_setting_bit(hfi_setting_find(table, of), settings);
}

static size_t last_term(const hfi_clash *clash)
{
    size_t last = 0;
    while (last + 1 < HFI_TERMS && clash->term[last + 1].of) last++;
    return last;
}

static bool holds(const hf_settings_table *table, const hfi_clash *clash, const hfi_setting *row,
                  const void *settings, size_t outputs)
{
    if (clash->values != 0 && !has(clash->values, hfi_setting_bit(row, settings))) return false;
    for (size_t k = 0; k <= last_term(clash); k++)
        if (!has(clash->term[k].with, present_bit(table, clash->term[k].of, settings, outputs))) return false;
    return true;
}

/* The first clash of a row; NULL: none. */
static const hfi_clash *find_clash(const hf_settings_table *table, const hfi_setting *row,
                                   const void *settings, size_t outputs, bool refused_only)
{
    for (const hfi_clash *c = row->clashes; c && c->term[0].of; c++)
        if ((c->refused || !refused_only) && holds(table, c, row, settings, outputs)) return c;
    return NULL;
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

/* Choices that are not among the bits, "a, b or c"; "auto", which is no choice yet, only where it is the one. */
static void other_choices(const hfi_setting *row, unsigned bits, char *text, size_t room)
{
    size_t count = 0, used = 0, written = 0;
    text[0] = '\0';
    for (unsigned k = 0; k < row->face.choices; k++) count += !has(bits, k);
    if (count > 1 && !has(bits, 0) && is_open(row)) {
        bits |= 1u;
        count--;
    }
    for (unsigned k = 0; k < row->face.choices && used < room; k++) {
        if (has(bits, k)) continue;
        const char *separator = written == 0 ? "" : written + 1 == count ? " or " : ", ";
        used += (size_t)hfi_print(text + used, room - used, "%s%s", separator, hf_enum_name(row->names, k));
        written++;
    }
}

static void describe_clash(const hf_settings_table *table, const hfi_setting *row, const hfi_clash *clash,
                           const void *settings, size_t outputs, hf_setting_clash *out)
{
    const size_t last = last_term(clash);
    const char *of = clash->term[last].of;
    const hfi_setting *other = is_outputs(of) ? NULL : hfi_setting_find(table, of);
    *out = (hf_setting_clash){.setting = &row->face, .other = other ? &other->face : NULL, .why = clash->why};
    hfi_setting_text(row, settings, sizeof out->value, out->value);
    if (other)
        hfi_setting_text(other, settings, sizeof out->other_value, out->other_value);
    else
        hfi_print(out->other_value, sizeof out->other_value, outputs > 1 ? "several" : "one");
    if (other && other->face.type == HF_SETTING_CHOICE)
        other_choices(other, clash->term[last].with, out->wanted, sizeof out->wanted);
    else if (other && other->face.type == HF_SETTING_FLAG)
        hfi_print(out->wanted, sizeof out->wanted, has(clash->term[last].with, 0) ? "on" : "off");
}

/* "actions 25 does not go with solver exact, but with auto or projected" */
static hf_status refuse_clash(hf_context *ctx, const hf_setting_clash *c)
{
    char what[112], rest[320];
    const hf_setting *other = c->other;
    const char *colon = c->why ? ": " : "", *why = c->why ? c->why : "";
    hfi_print(what, sizeof what, "%s%s%s", c->setting->name, *c->value ? " " : "", c->value);
    const bool absent = other && other->type != HF_SETTING_CHOICE && other->type != HF_SETTING_FLAG &&
                        (strcmp(c->other_value, "") == 0 || strcmp(c->other_value, "0") == 0);
    if (!other)
        hfi_print(rest, sizeof rest, "does not go with %s output%s", c->other_value,
                  strcmp(c->other_value, "one") == 0 ? "" : "s");
    else if (absent)
        hfi_print(rest, sizeof rest, "needs %s", other->name);
    else if (other->type == HF_SETTING_FLAG)
        hfi_print(rest, sizeof rest, "needs %s %s", other->name, c->wanted);
    else
        hfi_print(rest, sizeof rest, "does not go with %s %s%s%s", other->name, c->other_value,
                  *c->wanted ? ", but with " : "", c->wanted);
    return hfi_refuse(ctx, "%s %s%s%s", what, rest, colon, why);
}

hf_status hfi_setting_deny(hf_context *ctx, const hfi_setting *row, const void *settings, unsigned bits,
                           const char *beside, const char *why)
{
    char value[48], wanted[160] = "";
    if (!has(bits, hfi_setting_bit(row, settings))) return HF_OK;
    hfi_setting_text(row, settings, sizeof value, value);
    if (row->face.type == HF_SETTING_CHOICE) other_choices(row, bits, wanted, sizeof wanted);
    return hfi_refuse(ctx, "%s%s%s does not go with %s%s%s%s%s", row->face.name, *value ? " " : "", value,
                      beside, *wanted ? ", but with " : "", wanted, why ? ": " : "", why ? why : "");
}

/* ---- for everybody ---------------------------------------------------------------------------------------------- */

static hf_status check_row(hf_context *ctx, const hf_settings_table *table, const hfi_setting *row,
                           const void *settings, size_t outputs, bool refused_only, hf_setting_clash *clash)
{
    const hfi_clash *found = find_clash(table, row, settings, outputs, refused_only);
    hf_setting_clash local;
    if (!found) return HF_OK;
    describe_clash(table, row, found, settings, outputs, &local);
    if (clash) *clash = local;
    return refuse_clash(ctx, &local);
}

hf_status hfi_settings_agree(hf_context *ctx, const hf_settings_table *table, const void *own, size_t outputs,
                             hf_setting_clash *clash)
{
    hf_status s = hfi_settings_ranges(ctx, table, own);
    for (size_t i = 0; s >= 0 && i < table->count; i++)
        if (!is_idle(&table->row[i], own))
            s = check_row(ctx, table, &table->row[i], own, outputs, true, clash);
    return s;
}

hf_status hfi_settings_open(hf_context *ctx, const hf_settings_table *table, const void *given, void *own)
{
    const hf_status s = hfi_settings_take(ctx, table, given, own);
    return s < 0 ? s : hfi_settings_agree(ctx, table, own, 1, NULL);
}

hf_status hf_settings_check(hf_context *ctx, const hf_settings_table *table, const void *settings,
                            size_t outputs, const char *name, hf_setting_clash *clash)
{
    max_align_t room[HFI_SETTINGS_BYTES / sizeof(max_align_t)];
    size_t size = 0;
    hf_status s = hfi_settings_size(ctx, table, settings, &size);
    if (s < 0) return s;
    const hfi_setting *row = name ? hfi_setting_named(ctx, table, name, table->bytes) : NULL;
    if (name && !row) return HF_ERR_ARGUMENT;
    s = hfi_settings_take(ctx, table, settings, room);
    if (s < 0) return s;
    if (!row) return hfi_settings_agree(ctx, table, room, outputs, clash);
    s = hfi_setting_range(ctx, row, room);
    return s < 0 ? s : check_row(ctx, table, row, room, outputs, false, clash);
}

/* Bits of the values of a choice with which a row has no effect, whatever its value and the rest is. */
static unsigned useless_with(const hfi_setting *row, const char *other)
{
    unsigned bits = 0;
    for (const hfi_clash *c = row->clashes; c && c->term[0].of; c++)
        if (c->values == 0 && !c->term[1].of && strcmp(c->term[0].of, other) == 0) bits |= c->term[0].with;
    return bits;
}

void hfi_settings_adapt(const hf_settings_table *table, void *settings, size_t count,
                        const hfi_setting *const *chosen, const char *other)
{
    const hfi_setting *changed = hfi_setting_find(table, other);
    const bool open = is_open(changed);
    const unsigned all = (1u << changed->face.choices) - (open ? 2u : 1u);
    unsigned bits = 0;
    for (size_t k = 0; k < count; k++) {
        const unsigned more = bits | useless_with(chosen[k], other);
        if ((more & all) != all) bits = more;
    }
    const unsigned present = hfi_setting_bit(changed, settings);
    if (bits == 0 || (open ? present != 0 : !has(bits, present))) return;
    unsigned first = open ? 1 : 0;
    while (has(bits, first)) first++;
    hfi_setting_assign(changed, first, settings);
}
