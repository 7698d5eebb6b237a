/* SPDX-License-Identifier: Apache-2.0 */
/* All readers of CSV ask whether the machine has room for a text, and by which mark its fields are separated. */
#include "data/table_impl.h"

hf_status hfi_csv_must_fit(hf_context *ctx, const char *source, size_t bytes)
{
    size_t available;
    if (hfi_memory_has((double)bytes, &available)) return HF_OK;
    return hfi_fail(
        ctx, HF_ERR_TOO_LARGE,
        "%s: %zu bytes of memory are needed to read it, more than there are; read a part of the rows", source,
        bytes);
}

char hfi_csv_separator(const char *text, size_t bytes)
{
    const char *p = text, *end = text + bytes;
    size_t commas = 0, semicolons = 0, tabs = 0;
    bool quoted = false, start = true;
    for (; p < end && (quoted || (*p != '\n' && *p != '\r')); p++) {
        bool separates = !quoted && (*p == ',' || *p == ';' || *p == '\t');
        if (quoted && *p == '"' && p + 1 < end && p[1] == '"')
            p++; /* a quote in the name */
        else if (*p == '"' && (quoted || start))
            quoted = !quoted;
        commas += separates && *p == ',';
        semicolons += separates && *p == ';';
        tabs += separates && *p == '\t';
        start = separates;
    }
    if (commas >= semicolons && commas >= tabs) return ',';
    return semicolons >= tabs ? ';' : '\t';
}
