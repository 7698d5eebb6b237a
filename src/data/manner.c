/* SPDX-License-Identifier: Apache-2.0 */
/* Manners: life cycle, remarks, codes for missing values. */
#include "data/manner.h"

#include "core/settings_rows.h"
#include "data/table_impl.h"

#include <math.h>
#include <string.h>

#define SETTINGS hf_dialect
static const hfi_setting dialect_rows[] = {
    {CHOICE(decimal, hf_decimal, DECIMAL, HF_DECIMAL_COMMA)},
    {CHOICE(dates, hf_date_order, DATE_ORDER, HF_DATE_ORDER_MONTH)},
    {CHOICE(header, hf_header, HEADER, HF_HEADER_NO)},
    {CHOICE(limits, hf_limits, LIMITS, HF_LIMITS_HALF)},
    {LIST(missing)},
    {LENGTH(missing_count)},
    {FLAG(remembered)},
};
SETTINGS_TABLE(hf_dialect, "a dialect", dialect_rows)
#undef SETTINGS

static hf_status check_dialect(hf_context *ctx, const hf_dialect *r)
{
    const struct {
        hf_enum of;
        unsigned value;
    } choices[] = {{HF_ENUM_DECIMAL, r->decimal},
                   {HF_ENUM_DATE_ORDER, r->dates},
                   {HF_ENUM_HEADER, r->header},
                   {HF_ENUM_LIMITS, r->limits}};
    for (size_t k = 0; k < sizeof choices / sizeof choices[0]; k++)
        if (choices[k].value >= (unsigned)hf_enum_count(choices[k].of))
            return hfi_refuse(ctx, "dialect: %u is no %s", choices[k].value, hf_enum_title(choices[k].of));
    for (size_t k = 0; k < r->missing_count; k++)
        if (r->missing == NULL || r->missing[k] == NULL)
            return hfi_refuse(ctx, "dialect: code %zu for missing values is NULL", k);
    return HF_OK;
}

/* Copies of the codes, one behind the other, with the pointers to them in front. */
static bool keep_codes(hfi_manner *manner, const hf_dialect *dialect)
{
    const size_t count = dialect->missing_count;
    size_t bytes = count * sizeof(char *);
    for (size_t k = 0; k < count; k++) bytes += strlen(dialect->missing[k]) + 1;
    char **codes = hfi_memory_alloc(&manner->memory, bytes, 1);
    manner->code = hfi_memory_alloc(&manner->memory, count, sizeof *manner->code);
    manner->coded = hfi_memory_alloc(&manner->memory, count, sizeof *manner->coded);
    manner->dialect.missing = (const char *const *)codes;
    if (codes == NULL || manner->code == NULL || manner->coded == NULL) return false;
    char *at = (char *)(codes + count);
    for (size_t k = 0; k < count; k++) {
        codes[k] = at;
        memcpy(at, dialect->missing[k], strlen(dialect->missing[k]) + 1);
        at += strlen(at) + 1;
        if (hfi_field_parse(codes[k], &manner->code[k]) != HFI_FIELD_NUMBER) manner->code[k] = NAN;
    }
    return true;
}

hf_status hfi_manner_make(hf_context *ctx, const hf_dialect *dialect, hfi_manner **out)
{
    hf_dialect own;
    hf_status status = hfi_settings_take(ctx, hf_dialect_table(), dialect, &own);
    if (status >= 0) status = check_dialect(ctx, &own);
    if (status < 0) return status;
    hfi_manner *manner = hfi_alloc(ctx, 1, sizeof *manner);
    if (manner == NULL) return HF_ERR_MEMORY;
    manner->memory = hfi_context_memory(ctx);
    manner->dialect = own;
    if (!keep_codes(manner, &own)) {
        hfi_manner_free(manner);
        return hfi_out_of_memory(ctx);
    }
    manner->learnt = manner->dialect;
    manner->learnt.remembered = true;
    *out = manner;
    return HF_OK;
}

hf_status hfi_manner_copy(hf_context *ctx, const hfi_manner *from, hfi_manner **out)
{
    *out = NULL;
    if (from == NULL) return HF_OK;
    hfi_manner *copy = NULL;
    hf_status status = hfi_manner_make(ctx, &from->dialect, &copy);
    if (copy == NULL) return status;
    status = hfi_manner_columns(ctx, copy, from->fields);
    if (status < 0) {
        hfi_manner_free(copy);
        return status;
    }
    if (from->fields > 0) memcpy(copy->worn, from->worn, from->fields * sizeof *copy->worn);
    copy->separator = from->separator;
    copy->settled = true;
    *out = copy;
    return HF_OK;
}

void hfi_manner_free(hfi_manner *manner)
{
    if (manner == NULL) return;
    const hfi_memory memory = manner->memory;
    for (size_t i = 0; i < manner->notes; i++) hfi_memory_free(&memory, manner->note[i]);
    HFI_MEMORY_FREE(&memory, manner->note, (void *)manner->dialect.missing, manner->code, manner->coded,
                    manner->worn, manner);
}

hf_status hfi_manner_columns(hf_context *ctx, hfi_manner *manner, size_t fields)
{
    if (manner->fields == fields) return HF_OK;
    manner->worn = hfi_alloc(ctx, fields, sizeof *manner->worn);
    if (manner->worn == NULL) return HF_ERR_MEMORY;
    manner->fields = fields;
    return HF_OK;
}

hf_status hfi_manner_note(hf_context *ctx, hfi_manner *manner, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    hfi_print_list(text, sizeof text, format, args);
    va_end(args);
    char **longer = hfi_alloc(ctx, manner->notes + 1, sizeof *longer);
    if (longer == NULL) return HF_ERR_MEMORY;
    char *copy = hfi_memory_strdup(&manner->memory, text);
    if (copy == NULL) {
        hfi_free(ctx, longer);
        return hfi_out_of_memory(ctx);
    }
    if (manner->notes > 0) memcpy(longer, manner->note, manner->notes * sizeof *longer);
    hfi_memory_free(&manner->memory, manner->note);
    manner->note = longer;
    manner->note[manner->notes++] = copy;
    return HF_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool hfi_manner_is_code(const hfi_manner *manner, const char *text, size_t *which)
{
    if (manner->dialect.missing_count == 0) return false;
    while (is_blank(*text)) text++;
    size_t length = strlen(text);
    while (length > 0 && is_blank(text[length - 1])) length--;
    double value = NAN;
    const bool number = hfi_field_parse(text, &value) == HFI_FIELD_NUMBER;
    for (size_t k = 0; k < manner->dialect.missing_count; k++) {
        const char *code = manner->dialect.missing[k];
        *which = k;
        if (number && manner->code[k] == value) return true;
        if (strlen(code) == length && memcmp(code, text, length) == 0) return true;
    }
    return false;
}

bool hfi_field_is_missing(const hf_table *table, const char *text)
{
    double value;
    size_t code;
    return hfi_field_parse(text, &value) == HFI_FIELD_MISSING ||
           (table->manner != NULL && hfi_manner_is_code(table->manner, text, &code));
}
