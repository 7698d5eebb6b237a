/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a table: where a row is, numbers that are finite, names that a message lists. */
#include "model/model.h"

#include "data/text.h"

#include <math.h>
#include <string.h>

const char *hfi_row_place(const hf_table *table, size_t row, char *buffer, size_t bytes)
{
    size_t line = hf_table_line(table, row);
    if (line > 0)
        hfi_print(buffer, bytes, "%s, line %zu", hf_table_source(table), line);
    else
        hfi_print(buffer, bytes, "%s, row %zu", hf_table_source(table), row + 1);
    return buffer;
}

size_t hfi_column_named(const hf_table *table, const char *name)
{
    for (size_t j = 0; name != NULL && j < hf_table_columns(table); j++)
        if (strcmp(hf_table_name(table, j), name) == 0) return j;
    return SIZE_MAX;
}

hf_status hfi_check_finite(hf_context *ctx, const hf_table *table, const char *name, const double *numbers)
{
    char place[512], shown[HFI_SHOWN_BYTES];
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        if (isinf(numbers[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "%s, column \"%s\": the value is infinite; correct it, or leave the field empty "
                            "if it is not known",
                            hfi_row_place(table, i, place, sizeof place), hfi_text_shown(name, shown));
    }
    return HF_OK;
}

hf_status hfi_finite_numbers(hf_context *ctx, const hf_table *table, size_t column, const double **numbers)
{
    hf_status status = hf_table_numbers(ctx, table, column, numbers);
    return status < 0 ? status : hfi_check_finite(ctx, table, hf_table_name(table, column), *numbers);
}

hf_status hfi_check_noise(hf_context *ctx, const hf_table *table, size_t column, const double *noise)
{
    char place[512], shown[HFI_SHOWN_BYTES];
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        if (noise[i] < 0)
            return hfi_refuse(ctx, "%s, column \"%s\": a noise variance cannot be negative (%g)",
                              hfi_row_place(table, i, place, sizeof place),
                              hfi_text_shown(hf_table_name(table, column), shown), noise[i]);
    }
    return HF_OK;
}

hf_status hfi_likelihood_check_exposure(hf_context *ctx, const hf_table *table, size_t column,
                                        const double *exposure)
{
    char place[512], shown[HFI_SHOWN_BYTES];
    for (size_t i = 0; i < hf_table_rows(table); i++)
        if (!isnan(exposure[i]) && !(exposure[i] > 0.0))
            return hfi_refuse(ctx, "%s, column \"%s\": an exposure must be positive, not %g",
                              hfi_row_place(table, i, place, sizeof place),
                              hfi_text_shown(hf_table_name(table, column), shown), exposure[i]);
    return HF_OK;
}

bool hfi_is_complete(const hfi_sources *from, size_t d, size_t row)
{
    for (size_t j = 0; j < d; j++)
        if (isnan(from->x[j][row])) return false;
    if (from->output != NULL && from->output[row] == SIZE_MAX) return false;
    if (from->mean != NULL && isnan(from->mean[row])) return false;
    return from->noise == NULL || !isnan(from->noise[row]);
}

bool hfi_is_constant(const double *values, size_t count, size_t stride)
{
    double first = NAN;
    for (size_t i = 0; i < count; i++) {
        double value = values[i * stride];
        if (isnan(value)) continue;
        if (isnan(first)) first = value;
        if (value != first) return false;
    }
    return true;
}

void hfi_list_names(size_t count, char *const *names, size_t bytes, char *list)
{
    char shown[HFI_SHOWN_BYTES];
    size_t used = 0;
    *list = '\0';
    for (size_t t = 0; t < count; t++) {
        if (used + HFI_SHOWN_BYTES + 8 >= bytes) {
            hfi_print(list + used, bytes - used, ", ...");
            return;
        }
        used += (size_t)hfi_print(list + used, bytes - used, "%s\"%s\"", t > 0 ? ", " : "",
                                  hfi_text_shown(names[t], shown));
    }
}

hf_status hfi_unknown_name(hf_context *ctx, const hf_table *table, size_t row, size_t column,
                           const char *what, const char *field, size_t count, char *const *names)
{
    char place[512], shown[HFI_SHOWN_BYTES], named[HFI_SHOWN_BYTES], list[300];
    hfi_list_names(count, names, sizeof list, list);
    return hfi_refuse(ctx, "%s, column \"%s\": the model has no %s \"%s\"; it has %s",
                      hfi_row_place(table, row, place, sizeof place),
                      hfi_text_shown(hf_table_name(table, column), named), what, hfi_text_shown(field, shown),
                      list);
}

size_t hfi_columns_outputs(const hf_columns *columns)
{
    /* How many a long table has is known once it is read. */
    return columns->target_count > 1 ? columns->target_count : columns->output_column != NULL ? 2 : 1;
}
