/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and the kernel of them, out of a file. */
#include "store/reader.h"

#include <math.h>

hf_status hfi_read_features(const hfi_reader *r, size_t d, char **names, double *shift, double *scale)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, "SELECT position, name, shift, scale FROM feature ORDER BY position", -1,
                           &s, NULL) != SQLITE_OK)
        return hfi_reader_damaged(r, "its inputs cannot be read");
    hf_status status = HF_OK;
    size_t j = 0;
    for (; status >= 0 && sqlite3_step(s) == SQLITE_ROW; j++) {
        const char *name = (const char *)sqlite3_column_text(s, 1);
        const double by = sqlite3_column_double(s, 2), unit = sqlite3_column_double(s, 3);
        if (j >= d || sqlite3_column_int64(s, 0) != (sqlite3_int64)j || name == NULL || !isfinite(by) ||
            !(unit > 0.0) || !isfinite(unit)) {
            status = hfi_reader_damaged(r, "an input is not as it should be");
            break;
        }
        shift[j] = by;
        scale[j] = unit;
        names[j] = hfi_memory_strdup(&r->memory, name);
        if (names[j] == NULL) status = hfi_out_of_memory(r->ctx);
    }
    sqlite3_finalize(s);
    return status >= 0 && j != d ? hfi_reader_damaged(r, "inputs are missing") : status;
}

/* Value, box and held flag of a parameter. Earlier files may hold a value a rounding beyond its
 * bound: the bound moves. */
static bool read_parameter(sqlite3_stmt *s, hf_kernel *kernel, size_t i)
{
    const double value = sqlite3_column_double(s, 1);
    double lower = sqlite3_column_double(s, 2), upper = sqlite3_column_double(s, 3);
    if (!hfi_kernel_parameter_real(kernel, i) && value > 0.0) {
        if (value < lower && hfi_kernel_on_bound(value, lower)) lower = value;
        if (value > upper && hfi_kernel_on_bound(value, upper)) upper = value;
    }
    return isfinite(value) &&
           hfi_kernel_set_parameter(kernel, i, value, lower, upper, sqlite3_column_int(s, 4) != 0) >= 0;
}

static hf_status read_parameters(const hfi_reader *r, hf_kernel *kernel)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db,
                           "SELECT position, value, lower, upper, held FROM parameter ORDER BY position", -1,
                           &s, NULL) != SQLITE_OK)
        return hfi_reader_damaged(r, "its parameters cannot be read");
    hf_status status = HF_OK;
    size_t i = 0, count = hf_kernel_parameters(kernel);
    for (; status >= 0 && sqlite3_step(s) == SQLITE_ROW; i++) {
        const bool fits = i < count && sqlite3_column_int64(s, 0) == (sqlite3_int64)i;
        if (!fits || !read_parameter(s, kernel, i))
            status = hfi_reader_damaged(r, "a parameter is not as it should be");
    }
    sqlite3_finalize(s);
    return status >= 0 && i != count ? hfi_reader_damaged(r, "parameters are missing") : status;
}

hf_status hfi_read_kernel(const hfi_reader *r, const char *expression, const char *const *features, size_t d,
                          hf_kernel **out)
{
    hf_kernel *kernel = NULL;
    hf_status status = hf_kernel_parse(r->ctx, expression, features, d, &kernel);
    if (status < 0)
        return status == HF_ERR_MEMORY ? status : hfi_reader_damaged(r, "its kernel cannot be read");
    status = read_parameters(r, kernel);
    if (status < 0)
        hf_kernel_free(kernel);
    else
        *out = kernel;
    return status;
}
