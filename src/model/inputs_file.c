/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that are no numbers, and the dialect of the training table, in a model file: keys of the table meta. */
#include "model/file.h"
#include "model/inputs.h"

#include <string.h>

enum {
    KEY_BYTES = 64,
    MOST_CODES = 1000
};

static const char *const kinds[HFI_INPUT_KINDS] = {"number", "date", "category"};
static const char *const forms[] = {"iso", "month", "numbers", "name", "time"};

/* "input.3.kind" */
static const char *key_of(size_t j, const char *what, char key[KEY_BYTES])
{
    hfi_print(key, KEY_BYTES, "input.%zu.%s", j, what);
    return key;
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

static void write_date(hfi_writer *w, size_t j, const hfi_input *in)
{
    char key[KEY_BYTES], mark[2] = {in->style.mark, '\0'};
    hfi_writer_meta(w, key_of(j, "form", key), hfi_text(forms[in->style.form]));
    hfi_writer_meta(w, key_of(j, "order", key), hfi_text(hf_enum_name(HF_ENUM_DATE_ORDER, in->style.order)));
    hfi_writer_meta(w, key_of(j, "mark", key), hfi_text(mark));
    hfi_writer_meta(w, key_of(j, "timed", key), hfi_whole(in->style.timed ? 1 : 0));
    hfi_writer_meta(w, key_of(j, "offset", key), hfi_whole(in->style.offset ? 1 : 0));
    hfi_writer_meta(w, key_of(j, "origin", key), hfi_number(in->origin));
}

static void write_dialect(hfi_writer *w, const hf_dialect *d)
{
    char key[KEY_BYTES];
    if (d->decimal != HF_DECIMAL_AUTO)
        hfi_writer_meta(w, "dialect.decimal", hfi_text(hf_enum_name(HF_ENUM_DECIMAL, d->decimal)));
    if (d->limits != HF_LIMITS_MISSING)
        hfi_writer_meta(w, "dialect.limits", hfi_text(hf_enum_name(HF_ENUM_LIMITS, d->limits)));
    for (size_t k = 0; k < d->missing_count; k++) {
        hfi_print(key, sizeof key, "dialect.missing.%zu", k);
        hfi_writer_meta(w, key, hfi_text(d->missing[k]));
    }
}

void hfi_write_inputs(hfi_writer *w, const hf_model *model)
{
    char key[KEY_BYTES];
    write_dialect(w, &model->dialect);
    for (size_t j = 0; model->input != NULL && j < model->d; j++) {
        const hfi_input *in = &model->input[j];
        if (in->kind == HFI_INPUT_NUMBER) continue;
        hfi_writer_meta(w, key_of(j, "kind", key), hfi_text(kinds[in->kind]));
        hfi_writer_meta(w, key_of(j, "column", key), hfi_text(in->column));
        if (in->kind == HFI_INPUT_CATEGORY) hfi_writer_meta(w, key_of(j, "value", key), hfi_text(in->value));
        if (in->kind == HFI_INPUT_DATE) write_date(w, j, in);
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

static hf_status read_choice(const hfi_reader *r, const char *key, hf_enum of, unsigned *out)
{
    const char *names[8];
    const size_t count = (size_t)hf_enum_count(of);
    for (size_t k = 0; k < count && k < 8; k++) names[k] = hf_enum_name(of, (unsigned)k);
    return hfi_meta_choice(r, key, names, count, out);
}

static hf_status read_date(const hfi_reader *r, size_t j, hfi_input *in)
{
    char key[KEY_BYTES], *mark = NULL;
    unsigned form = 0, order = 0;
    hf_status status =
        hfi_meta_choice(r, key_of(j, "form", key), forms, sizeof forms / sizeof forms[0], &form);
    if (status >= 0) status = read_choice(r, key_of(j, "order", key), HF_ENUM_DATE_ORDER, &order);
    if (status >= 0) status = hfi_meta_flag(r, key_of(j, "timed", key), &in->style.timed);
    if (status >= 0) status = hfi_meta_flag(r, key_of(j, "offset", key), &in->style.offset);
    if (status >= 0) status = hfi_meta_double(r, key_of(j, "origin", key), -1e12, &in->origin);
    if (status >= 0 && in->origin > 1e12) status = hfi_meta_bad(r, key_of(j, "origin", key));
    if (status >= 0) status = hfi_meta_text(r, key_of(j, "mark", key), false, &mark);
    if (status >= 0 && strlen(mark) > 1) status = hfi_meta_bad(r, key_of(j, "mark", key));
    in->style.form = (hfi_date_form)form;
    in->style.order = (hf_date_order)order;
    in->style.mark = mark != NULL ? *mark : '\0';
    hfi_memory_free(&r->memory, mark);
    return status;
}

static hf_status read_input(const hfi_reader *r, size_t j, hfi_input *in)
{
    char key[KEY_BYTES];
    unsigned kind = 0;
    if (!hfi_meta_has(r, key_of(j, "kind", key))) return HF_OK;
    hf_status status = hfi_meta_choice(r, key, kinds, HFI_INPUT_KINDS, &kind);
    if (status >= 0 && kind == HFI_INPUT_NUMBER) return hfi_meta_bad(r, key);
    if (status >= 0) status = hfi_meta_text(r, key_of(j, "column", key), false, &in->column);
    if (status >= 0 && kind == HFI_INPUT_CATEGORY)
        status = hfi_meta_text(r, key_of(j, "value", key), false, &in->value);
    if (status >= 0 && kind == HFI_INPUT_DATE) status = read_date(r, j, in);
    if (status >= 0) in->kind = (hfi_input_kind)kind;
    return status;
}

static bool has_inputs(const hfi_reader *r)
{
    char key[KEY_BYTES];
    for (size_t j = 0; j < r->model->d; j++)
        if (hfi_meta_has(r, key_of(j, "kind", key))) return true;
    return false;
}

/* The codes into `codes`, each a copy of its own that the caller frees; how many there are goes to *count. */
static hf_status read_codes(const hfi_reader *r, char *codes[MOST_CODES], size_t *count)
{
    char key[KEY_BYTES];
    hf_status status = HF_OK;
    for (*count = 0; *count < MOST_CODES && status >= 0; ++*count) {
        hfi_print(key, sizeof key, "dialect.missing.%zu", *count);
        if (!hfi_meta_has(r, key)) break;
        codes[*count] = NULL;
        status = hfi_meta_text(r, key, false, &codes[*count]);
    }
    return status;
}

static hf_status read_dialect(const hfi_reader *r)
{
    unsigned decimal = HF_DECIMAL_AUTO, limits = HF_LIMITS_MISSING;
    size_t count = 0;
    char **codes = hfi_alloc(r->ctx, MOST_CODES, sizeof *codes);
    if (codes == NULL) return HF_ERR_MEMORY;
    hf_status status = read_codes(r, codes, &count);
    if (status >= 0 && hfi_meta_has(r, "dialect.decimal"))
        status = read_choice(r, "dialect.decimal", HF_ENUM_DECIMAL, &decimal);
    if (status >= 0 && hfi_meta_has(r, "dialect.limits"))
        status = read_choice(r, "dialect.limits", HF_ENUM_LIMITS, &limits);
    const hf_dialect d = {.size = sizeof d,
                          .decimal = (hf_decimal)decimal,
                          .limits = (hf_limits)limits,
                          .missing = (const char *const *)codes,
                          .missing_count = count};
    if (status >= 0) status = hfi_model_keep_dialect(r->ctx, r->model, &d);
    for (size_t k = 0; k < count; k++) hfi_memory_free(&r->memory, codes[k]);
    hfi_free(r->ctx, codes);
    return status;
}

hf_status hfi_read_inputs(const hfi_reader *r)
{
    hf_model *model = r->model;
    hf_status status = read_dialect(r);
    if (status < 0 || !has_inputs(r)) return status;
    model->input = hfi_alloc(r->ctx, model->d, sizeof *model->input);
    if (model->input == NULL) return HF_ERR_MEMORY;
    model->inputs = model->d;
    for (size_t j = 0; j < model->d && status >= 0; j++) status = read_input(r, j, &model->input[j]);
    return status;
}

/* ---- the dialect of a model -------------------------------------------------------------------------------- */

hf_status hfi_model_keep_dialect(hf_context *ctx, hf_model *model, const hf_dialect *dialect)
{
    size_t bytes = dialect->missing_count * sizeof(char *);
    for (size_t k = 0; k < dialect->missing_count; k++) bytes += strlen(dialect->missing[k]) + 1;
    model->dialect = *dialect;
    model->dialect.header = HF_HEADER_AUTO;
    model->dialect.dates = HF_DATE_ORDER_AUTO;
    model->dialect.remembered = true;
    model->dialect.missing = NULL;
    if (dialect->missing_count == 0) return HF_OK;
    char **codes = hfi_alloc(ctx, bytes, 1);
    if (codes == NULL) {
        model->dialect.missing_count = 0;
        return HF_ERR_MEMORY;
    }
    char *at = (char *)(codes + dialect->missing_count);
    for (size_t k = 0; k < dialect->missing_count; k++) {
        codes[k] = at;
        memcpy(at, dialect->missing[k], strlen(dialect->missing[k]) + 1);
        at += strlen(at) + 1;
    }
    model->dialect.missing = (const char *const *)codes;
    return HF_OK;
}

const hf_dialect *hf_model_dialect(const hf_model *model)
{
    return model != NULL ? &model->dialect : NULL;
}
