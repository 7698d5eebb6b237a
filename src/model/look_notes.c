/* SPDX-License-Identifier: Apache-2.0 */
/* Remarks on odd inputs of the rows that a model learns from. */
#include "model/inputs.h"
#include "model/look.h"

#include "data/text.h"

#include <math.h>

enum {
    SHOWN_LINES = 5, /* places named in one remark */
    SHOWN_NOTES = 5, /* remarks of one kind */
    PLACES = 240     /* bytes of a list of places */
};

/* The rows of a model's table that have a reading, and what is known of their inputs. */
typedef struct table_view {
    hf_context *ctx;
    hf_model *model;
    const hf_table *table;
    size_t n;
    size_t *at;            /* of each row its first reading in the model */
    double *value;         /* n, a column in the order of the rows */
    double *scratch;       /* n */
    hfi_column_look *look; /* one for each input */
    hfi_counter *counter;  /* the same */
} table_view;

/* Rows of a wide table are `outputs` readings side by side. */
static size_t count_rows(const hf_model *model, size_t *at)
{
    const size_t stride = hfi_model_stride(model);
    size_t count = 0;
    for (size_t i = 0; i < model->n; i += stride) {
        bool any = false;
        for (size_t t = 0; t < stride; t++) any = any || !isnan(model->y[i + t]);
        if (any) at[count++] = i;
    }
    return count;
}

static void fill_input_values(const table_view *v, size_t j, double *values)
{
    for (size_t i = 0; i < v->n; i++) values[i] = v->model->x[v->at[i] * v->model->width + j];
}

/* The number of a row in its file, and what to call it. */
static size_t line_of(const table_view *v, size_t i, const char **word)
{
    const size_t row = v->model->row[v->at[i]], line = hf_table_line(v->table, row - 1);
    *word = line > 0 ? "line" : "row";
    return line > 0 ? line : row;
}

/* How many inputs have something odd beyond those that are named. */
static hf_status note_others(const table_view *v, size_t inputs, const char *what)
{
    const size_t others = inputs - SHOWN_NOTES;
    return hfi_model_note(v->ctx, v->model, "%zu other input%s %s", others, others == 1 ? " has" : "s have",
                          what);
}

/* ---- codes ----------------------------------------------------------------------------------------------- */

/* "line 5", "lines 5, 17, 31, ..." */
static void places_of(const table_view *v, const hfi_code *code, char text[PLACES])
{
    size_t used = 0, found = 0;
    const char *word = "";
    for (size_t i = 0; i < v->n && found < SHOWN_LINES; i++) {
        if (v->value[i] != code->value) continue;
        const size_t line = line_of(v, i, &word);
        char before[16] = ", ";
        if (found++ == 0) hfi_print(before, sizeof before, "%s%s ", word, code->count > 1 ? "s" : "");
        used += (size_t)hfi_print(text + used, PLACES - used, "%s%zu", before, line);
    }
    hfi_print(text + used, PLACES - used, "%s", code->count > SHOWN_LINES ? ", ..." : "");
}

static hf_status note_codes(const table_view *v, size_t j)
{
    const hfi_column_look *look = &v->look[j];
    char name[HFI_SHOWN_BYTES], value[32], places[PLACES];
    hf_status status = HF_OK;
    for (size_t k = 0; k < look->codes && status >= 0; k++) {
        places_of(v, &look->code[k], places);
        status = hfi_model_note(v->ctx, v->model,
                                "input \"%s\": %s stands in %zu of %zu rows (%s), far from the other values "
                                "(%.6g to %.6g); if it is a code for \"missing\", leave those fields empty",
                                hfi_text_shown(v->model->feature[j], name),
                                hf_format_double(look->code[k].value, value), look->code[k].count, v->n,
                                places, look->low, look->high);
    }
    return status;
}

static hf_status note_all_codes(const table_view *v)
{
    hf_status status = HF_OK;
    size_t inputs = 0;
    for (size_t j = 0; j < v->model->d && status >= 0; j++) {
        if (v->look[j].codes == 0 || inputs++ >= SHOWN_NOTES) continue;
        fill_input_values(v, j, v->value);
        status = note_codes(v, j);
    }
    if (status < 0 || inputs <= SHOWN_NOTES) return status;
    return note_others(v, inputs, "values that look like codes for \"missing\"");
}

/* ---- far rows -------------------------------------------------------------------------------------------- */

/* The first input of a row that is far; SIZE_MAX if none is. */
static size_t far_input(const table_view *v, size_t i)
{
    const double *x = v->model->x + v->at[i] * v->model->width;
    for (size_t j = 0; j < v->model->d; j++)
        if (hfi_look_is_far(&v->look[j], x[j])) return j;
    return SIZE_MAX;
}

static hf_status note_far(const table_view *v)
{
    char text[HFI_SHOWN_BYTES * SHOWN_LINES + PLACES] = "", name[HFI_SHOWN_BYTES], value[32];
    size_t count = 0, used = 0;
    bool any = false;
    for (size_t j = 0; j < v->model->d; j++) any = any || v->look[j].far > 0;
    for (size_t i = 0; i < v->n && any; i++) {
        const size_t j = far_input(v, i);
        if (j == SIZE_MAX || count++ >= SHOWN_LINES) continue;
        const char *word;
        const size_t line = line_of(v, i, &word);
        used +=
            (size_t)hfi_print(text + used, sizeof text - used, "%s%s %zu, \"%s\" = %s (others %.6g to %.6g)",
                              used > 0 ? "; " : "", word, line, hfi_text_shown(v->model->feature[j], name),
                              hf_format_double(v->model->x[v->at[i] * v->model->width + j], value),
                              v->look[j].low, v->look[j].high);
        if (used >= sizeof text) used = sizeof text - 1;
    }
    if (count == 0) return HF_OK;
    return hfi_model_note(
        v->ctx, v->model,
        "%zu of %zu rows %s an input far from those of all other rows, which can bend the whole fit: %s%s",
        count, v->n, count == 1 ? "has" : "have", text, count > SHOWN_LINES ? "; ..." : "");
}

/* ---- numbers of rows ------------------------------------------------------------------------------------- */

/* The inputs of a Latin hypercube are permutations, all of them: what one of several counts, says nothing. */
static void forgive_designs(const table_view *v)
{
    size_t shuffled = 0;
    for (size_t j = 0; j < v->model->d; j++) shuffled += v->counter[j] == HFI_COUNTS_SHUFFLED ? 1 : 0;
    for (size_t j = 0; j < v->model->d && shuffled > 1; j++)
        if (v->counter[j] == HFI_COUNTS_SHUFFLED) v->counter[j] = HFI_COUNTS_NOTHING;
}

static hf_status note_counters(const table_view *v)
{
    char name[HFI_SHOWN_BYTES];
    hf_status status = HF_OK;
    size_t inputs = 0;
    if (v->model->d < 2) return HF_OK;
    forgive_designs(v);
    for (size_t j = 0; j < v->model->d && status >= 0; j++) {
        if (v->counter[j] == HFI_COUNTS_NOTHING || inputs++ >= SHOWN_NOTES) continue;
        hfi_text_shown(v->model->feature[j], name);
        status = hfi_model_note(
            v->ctx, v->model,
            "input \"%s\" looks like a number of the row (different integers%s); if it is, --drop %s leaves "
            "it out",
            name, v->counter[j] == HFI_COUNTS_IN_ORDER ? ", in order" : ", hardly any left out", name);
    }
    if (status >= 0 && inputs > SHOWN_NOTES)
        status = note_others(v, inputs, "the look of a number of the row");
    return status;
}

/* ---- all ------------------------------------------------------------------------------------------------- */

static void examine_table_inputs(const table_view *v)
{
    for (size_t j = 0; j < v->model->d; j++) {
        fill_input_values(v, j, v->value);
        if (!hfi_input_is_time(v->model, j)) v->counter[j] = hfi_look_at_order(v->n, v->value, v->scratch);
        /* Ones and zeros that were made of texts are no codes. */
        if (!hfi_input_is_category(v->model, j)) hfi_look_at_column(v->n, v->value, &v->look[j]);
    }
}

hf_status hfi_look_at_inputs(hf_context *ctx, hf_model *model, const hf_table *table)
{
    table_view v = {.ctx = ctx,
                    .model = model,
                    .table = table,
                    .at = hfi_alloc(ctx, model->n, sizeof *v.at),
                    .value = hfi_alloc(ctx, model->n, sizeof *v.value),
                    .scratch = hfi_alloc(ctx, model->n, sizeof *v.scratch),
                    .look = hfi_alloc(ctx, model->d, sizeof *v.look),
                    .counter = hfi_alloc(ctx, model->d, sizeof *v.counter)};
    hf_status status = HF_ERR_MEMORY;
    if (v.at != NULL && v.value != NULL && v.scratch != NULL && v.look != NULL && v.counter != NULL) {
        status = HF_OK;
        v.n = count_rows(model, v.at);
        if (v.n > 0) examine_table_inputs(&v);
        if (v.n > 0) status = note_all_codes(&v);
        if (status >= 0) status = note_far(&v);
        if (status >= 0) status = note_counters(&v);
    }
    HFI_FREE(ctx, v.at, v.value, v.scratch, v.look, v.counter);
    return status;
}
