/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the table meta. */
#include "store/reader.h"

#include <math.h>

/* Positions a statement at the value of a key (column 0). NULL when there is none. */
static sqlite3_stmt *find_meta_value(const hfi_reader *r, const char *key)
{
    return hfi_statement_row(r->db, "SELECT value FROM meta WHERE key = ?1", HFI_VALUES(hfi_text(key)));
}

bool hfi_meta_has(const hfi_reader *r, const char *key)
{
    sqlite3_stmt *statement = find_meta_value(r, key);
    sqlite3_finalize(statement);
    return statement != NULL;
}

hf_status hfi_meta_bad(const hfi_reader *r, const char *key)
{
    return hfi_fail(r->ctx, HF_ERR_MODEL_FILE, "%s: damaged: \"%s\" is missing or not as it should be",
                    r->name, key);
}

hf_status hfi_meta_text(const hfi_reader *r, const char *key, bool optional, char **out)
{
    const hfi_file_field field = {.key = key, .type = optional ? HFI_TEXT_OR_NULL : HFI_TEXT};
    return hfi_meta_field(r, &field, out);
}

hf_status hfi_meta_seed(const hfi_reader *r, const char *key, uint64_t *out)
{
    char *text = NULL;
    hf_status status = hfi_meta_text(r, key, false, &text);
    if (status < 0) return status;
    if (!hfi_seed_parse(text, out)) status = hfi_meta_bad(r, key);
    hfi_memory_free(&r->memory, text);
    return status;
}

hf_status hfi_meta_field(const hfi_reader *r, const hfi_file_field *field, void *object)
{
    sqlite3_stmt *statement = find_meta_value(r, field->key);
    const hf_status status =
        statement != NULL ? hfi_file_field_take(&r->memory, statement, 0, field, object) : HF_ERR_MODEL_FILE;
    sqlite3_finalize(statement);
    if (status == HF_ERR_MEMORY) return hfi_out_of_memory(r->ctx);
    return status < 0 ? hfi_meta_bad(r, field->key) : HF_OK;
}

hf_status hfi_meta_size(const hfi_reader *r, const char *key, size_t *out)
{
    const hfi_file_field field = {.key = key, .type = HFI_SIZE};
    return hfi_meta_field(r, &field, out);
}

hf_status hfi_meta_flag(const hfi_reader *r, const char *key, bool *out)
{
    const hfi_file_field field = {.key = key, .type = HFI_FLAG};
    return hfi_meta_field(r, &field, out);
}

hf_status hfi_meta_any_double(const hfi_reader *r, const char *key, double *out)
{
    const hfi_file_field field = {.key = key, .type = HFI_REAL};
    return hfi_meta_field(r, &field, out);
}

hf_status hfi_meta_double(const hfi_reader *r, const char *key, double lowest, double *out)
{
    hf_status status = hfi_meta_any_double(r, key, out);
    return status >= 0 && !(*out >= lowest && isfinite(*out)) ? hfi_meta_bad(r, key) : status;
}

hf_status hfi_meta_choice(const hfi_reader *r, const char *key, const char *const *names, size_t count,
                          unsigned *out)
{
    const hfi_file_field field = {.key = key, .type = HFI_CHOICE, .names = names, .choices = count};
    return hfi_meta_field(r, &field, out);
}
