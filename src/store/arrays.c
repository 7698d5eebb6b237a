/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices out of the table array. */
#include "store/reader.h"

#include "core/bytes.h"

#include <math.h>

/* One entry of the table: from 1 to `most` rows, or exactly `most` if that is none. False: missing or not as it should
 * be. */
static bool read_piece(const hfi_reader *r, const char *name, size_t most, size_t columns, bool missing,
                       double *out, size_t *rows)
{
    sqlite3_stmt *s = hfi_statement_row(r->db, "SELECT rows, columns, data FROM array WHERE name = ?1",
                                        HFI_VALUES(hfi_text(name)));
    bool good =
        s != NULL && sqlite3_column_type(s, 0) == SQLITE_INTEGER &&
        sqlite3_column_int64(s, 0) >= (most > 0 ? 1 : 0) && (uint64_t)sqlite3_column_int64(s, 0) <= most &&
        sqlite3_column_int64(s, 1) == (sqlite3_int64)columns && sqlite3_column_type(s, 2) == SQLITE_BLOB;
    *rows = good ? (size_t)sqlite3_column_int64(s, 0) : 0;
    const unsigned char *bytes = good ? sqlite3_column_blob(s, 2) : NULL;
    size_t count = *rows * columns;
    good = good && (size_t)sqlite3_column_bytes(s, 2) == 8 * count && (bytes != NULL || count == 0);
    hfi_bytes_left from = {.at = bytes, .left = good ? 8 * count : 0};
    if (good) hfi_bytes_take_doubles(&from, count, out);
    for (size_t i = 0; good && i < count; i++) good = isfinite(out[i]) || (missing && isnan(out[i]));
    sqlite3_finalize(s);
    return good;
}

bool hfi_array_there(const hfi_reader *r, const char *name)
{
    sqlite3_stmt *s = hfi_statement_row(r->db, "SELECT 1 FROM array WHERE name = ?1 OR name = ?1 || '/0'",
                                        HFI_VALUES(hfi_text(name)));
    sqlite3_finalize(s);
    return s != NULL;
}

hf_status hfi_array_read(const hfi_reader *r, const char *name, size_t rows, size_t columns, bool missing,
                         double *out)
{
    size_t got = 0;
    bool good = read_piece(r, name, rows, columns, missing, out, &got) && got == rows;
    size_t done = good ? rows : 0;
    for (size_t k = 0; done < rows; k++) {
        char numbered[64];
        sqlite3_snprintf(sizeof numbered, numbered, "%s/%llu", name, (unsigned long long)k);
        if (!read_piece(r, numbered, rows - done, columns, missing, out + done * columns, &got)) break;
        done += got;
    }
    if (good || (done == rows && rows > 0)) return HF_OK;
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: array \"%s\" is missing or not as it should be",
                    r->name, name);
}

hf_status hfi_array_new(const hfi_reader *r, const char *name, size_t rows, size_t columns, bool missing,
                        double **out)
{
    *out = hfi_alloc_product(r->ctx, rows, columns, sizeof **out);
    return *out != NULL ? hfi_array_read(r, name, rows, columns, missing, *out) : HF_ERR_MEMORY;
}

bool hfi_is_count(double value)
{
    return value >= 0.0 && value <= 9007199254740992.0 && value == floor(value);
}

hf_status hfi_array_read_sizes(const hfi_reader *r, const char *name, size_t rows, size_t limit, size_t *out)
{
    double *values = hfi_alloc(r->ctx, rows, sizeof *values);
    if (values == NULL) return HF_ERR_MEMORY;
    hf_status status = hfi_array_read(r, name, rows, 1, false, values);
    for (size_t i = 0; i < rows && status >= 0; i++) {
        if (hfi_is_count(values[i]) && values[i] < (double)limit)
            out[i] = (size_t)values[i];
        else
            status = hfi_meta_bad(r, name);
    }
    hfi_free(r->ctx, values);
    return status;
}
