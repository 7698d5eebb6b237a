/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the values of enums: one table for all of them. */
#include "core/core.h"

#include <holdfast/enums.h>

#define NAMES(id, type, title, ...) static const char *const names_of_##type[] = {__VA_ARGS__};
HF_ENUM_LIST(NAMES)
#undef NAMES

static const struct enum_row {
    const char *title;
    const char *const *names;
    size_t count;
} rows[] = {
#define ROW(id, type, title, ...) {title, names_of_##type, sizeof names_of_##type / sizeof *names_of_##type},
    HF_ENUM_LIST(ROW)
#undef ROW
};

static const struct enum_row *row_of(hf_enum of)
{
    return (size_t)of < sizeof rows / sizeof *rows ? &rows[of] : NULL;
}

const char *hf_enum_title(hf_enum of)
{
    const struct enum_row *row = row_of(of);
    return row != NULL ? row->title : "unknown";
}

unsigned hf_enum_count(hf_enum of)
{
    const struct enum_row *row = row_of(of);
    return row != NULL ? (unsigned)row->count : 0;
}

const char *hf_enum_name(hf_enum of, unsigned value)
{
    const struct enum_row *row = row_of(of);
    return row != NULL ? hfi_choice_name(row->names, row->count, value) : "unknown";
}

hf_status hf_enum_parse(hf_context *ctx, hf_enum of, const char *name, unsigned *value)
{
    const struct enum_row *row = row_of(of);
    size_t index = 0;
    if (row == NULL) return hfi_refuse(ctx, "hf_enum_parse: %d is no hf_enum", (int)of);
    const hf_status s =
        hfi_choice_parse(ctx, row->title, row->names, row->count, name, value != NULL ? &index : NULL);
    if (s == HF_OK) *value = (unsigned)index;
    return s;
}
