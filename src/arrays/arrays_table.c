/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of arrays as a table: what they are called, and the copy. */
#include "arrays/arrays.h"

#include "data/table_set.h"

#include <string.h>

/* ---- names -------------------------------------------------------------------------------------------- */

enum {
    NAME_BYTES = 24, /* x18446744073709551615 */
    SPECIAL = 3      /* of the noise, of prior or exposure, of the label */
};

static bool is_listed(const char *name, size_t count, const char *const *list)
{
    for (size_t k = 0; list != NULL && k < count; k++)
        if (list[k] != NULL && strcmp(list[k], name) == 0) return true;
    return false;
}

/* `base` with as many _ as it takes to differ from inputs and outputs. */
static const char *special_name(const hf_arrays *rows, const hfi_array_names *names, const char *base,
                                char *text)
{
    size_t length = strlen(base);
    memcpy(text, base, length + 1);
    while (is_listed(text, rows->inputs, names->input) ||
           (rows->label == NULL && is_listed(text, rows->outputs, names->output))) {
        text[length++] = '_';
        text[length] = '\0';
    }
    return text;
}

/* x0, x1, ... into a list, unless there is one, with as many _ as it takes to differ from `others`; moves on in
 * text and lists. */
static const char *const *numbered(const char *const *given, size_t count, const char *begin, size_t other,
                                   const char *const *others, char **text, const char ***lists)
{
    if (given != NULL) return given;
    const char **own = *lists;
    for (size_t k = 0; k < count; k++) {
        own[k] = *text;
        int length = hfi_print(*text, NAME_BYTES, count == 1 && *begin == 'y' ? "%s" : "%s%zu", begin, k);
        for (; is_listed(*text, other, others); (*text)[length] = '\0') (*text)[length++] = '_';
        *text += length + 1;
    }
    *lists += count;
    return own;
}

hf_status hfi_array_names_make(hf_context *ctx, const hf_arrays *rows, hfi_array_names *out)
{
    /* a name that differs from n others has n _ at most */
    const size_t longest = 16 + rows->inputs + rows->outputs,
                 listed = rows->inputs + rows->outputs + rows->classes,
                 room = NAME_BYTES * listed + rows->inputs * rows->outputs + SPECIAL * longest;
    *out = (hfi_array_names){.text = hfi_alloc(ctx, room, 1),
                             .lists = hfi_alloc(ctx, listed + 1, sizeof *out->lists)};
    if (out->text == NULL || out->lists == NULL) {
        hfi_array_names_free(ctx, out);
        return HF_ERR_MEMORY;
    }
    char *text = out->text;
    const char **lists = out->lists;
    out->input = numbered(rows->input_names, rows->inputs, "x", 0, NULL, &text, &lists);
    if (rows->label == NULL)
        out->output =
            numbered(rows->output_names, rows->outputs, "y", rows->inputs, out->input, &text, &lists);
    else
        out->classes = numbered(rows->class_names, rows->classes, "", 0, NULL, &text, &lists);
    if (rows->label != NULL && rows->output_names == NULL) {
        *lists = special_name(rows, out, "label", text);
        out->output = lists;
        text += longest;
    } else if (rows->label != NULL) {
        out->output = rows->output_names;
    }
    if (rows->noise.at != NULL) out->noise = special_name(rows, out, "noise", text);
    text += longest;
    if (rows->mean.at != NULL || rows->exposure.at != NULL)
        out->prior = special_name(rows, out, rows->mean.at != NULL ? "prior_mean" : "exposure", text);
    return HF_OK;
}

hf_status hfi_array_names_of(hf_context *ctx, const hf_model *model, const hf_arrays *rows,
                             hfi_array_names *out)
{
    *out = (hfi_array_names){.input = (const char *const *)model->feature,
                             .output = (const char *const *)model->output,
                             .classes = (const char *const *)model->class_name,
                             .noise = rows->noise.at != NULL ? model->noise_column : NULL,
                             .lists = hfi_alloc(ctx, 1, sizeof *out->lists)};
    if (out->lists == NULL) return HF_ERR_MEMORY;
    if (rows->mean.at != NULL || rows->exposure.at != NULL) out->prior = model->mean_column;
    if (model->output != NULL) return HF_OK;
    out->lists[0] = model->target;
    out->output = out->lists;
    return HF_OK;
}

void hfi_array_names_free(hf_context *ctx, hfi_array_names *names)
{
    HFI_FREE(ctx, names->text, names->lists);
    *names = (hfi_array_names){0};
}

/* ---- the copy ----------------------------------------------------------------------------------------- */

static hf_status add_view_column(hf_context *ctx, hf_table *table, const hf_arrays *rows, const hf_view *view,
                                 size_t j, const char *name, double *work)
{
    if (name == NULL) return hfi_refuse(ctx, "the name of column %zu of the arrays is NULL", j);
    for (size_t i = 0; i < rows->rows; i++) work[i] = hfi_view_at(view, i, j);
    const size_t before = hf_table_columns(table);
    const hf_status status = hf_table_set_numbers(ctx, table, name, work);
    if (status < 0 || hf_table_columns(table) > before) return status;
    return hfi_refuse(ctx, "two of the arrays' columns have the name \"%s\"", name);
}

static hf_status add_labels(hf_context *ctx, hf_table *table, const hf_arrays *rows,
                            const hfi_array_names *names)
{
    for (size_t i = 0; i < rows->rows; i++)
        if (rows->label[i] >= rows->classes && rows->label[i] != HF_LABEL_MISSING)
            return hfi_refuse(ctx, "%s, row %zu: the label is class %zu of %zu, counted from 0",
                              hf_table_source(table), i + 1, rows->label[i], rows->classes);
    if (names->output[0] == NULL) return hfi_refuse(ctx, "the name of the label is NULL");
    return hf_table_set_text(ctx, table, names->output[0], rows->classes, names->classes, rows->label);
}

static hf_status fill_arrays_table(hf_context *ctx, hf_table *table, const hf_arrays *rows,
                                   const hfi_array_names *names, double *work)
{
    hf_status status = HF_OK;
    for (size_t j = 0; j < rows->inputs && status >= 0; j++)
        status = add_view_column(ctx, table, rows, &rows->x, j, names->input[j], work);
    for (size_t t = 0; t < rows->outputs && rows->label == NULL && rows->y.at != NULL && status >= 0; t++)
        status = add_view_column(ctx, table, rows, &rows->y, t, names->output[t], work);
    if (status >= 0 && names->noise != NULL)
        status = add_view_column(ctx, table, rows, &rows->noise, 0, names->noise, work);
    if (status >= 0 && names->prior != NULL)
        status = add_view_column(ctx, table, rows, rows->mean.at != NULL ? &rows->mean : &rows->exposure, 0,
                                 names->prior, work);
    if (status >= 0 && rows->label != NULL) status = add_labels(ctx, table, rows, names);
    return status;
}

hf_status hfi_arrays_to_table(hf_context *ctx, const hf_arrays *rows, const hfi_array_names *names,
                              hf_table **out)
{
    hf_table *table = NULL;
    double *work = hfi_alloc(ctx, rows->rows, sizeof *work);
    if (work == NULL) return HF_ERR_MEMORY;
    hf_status status =
        hfi_table_create_named(ctx, rows->rows, rows->source != NULL ? rows->source : "arrays", &table);
    if (status >= 0) status = fill_arrays_table(ctx, table, rows, names, work);
    hfi_free(ctx, work);
    if (status < 0) {
        hf_table_free(table);
        return status;
    }
    *out = table;
    return HF_OK;
}
