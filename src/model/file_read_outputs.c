/* SPDX-License-Identifier: Apache-2.0 */
/* Several outputs in a model file: names, scaling, noises. */
#include "model/target.h"

#include <math.h>

/* A row of the table of outputs. */
typedef struct output {
    char *name;
    double shift, scale, noise;
    bool held;
} output;

static const hfi_file_field fields[] = {
    {.key = "an output", .type = HFI_TEXT, .offset = offsetof(output, name)},
    {.type = HFI_REAL, .offset = offsetof(output, shift)},
    {.type = HFI_REAL, .offset = offsetof(output, scale)},
    {.type = HFI_REAL, .offset = offsetof(output, noise)},
    {.type = HFI_FLAG, .offset = offsetof(output, held)},
};
static const hfi_file_rows rows = {
    .noun = "output",
    .select = "SELECT position, name, shift, scale, noise, noise_held FROM output ORDER BY position",
    .fields = sizeof fields / sizeof fields[0],
    .field = fields,
};

static hf_status read_names(const hfi_reader *r, size_t outputs)
{
    hf_model *model = r->model;
    output *list = hfi_alloc(r->ctx, outputs, sizeof *list);
    model->output = hfi_alloc(r->ctx, outputs, sizeof *model->output);
    model->noises_held = hfi_alloc(r->ctx, outputs, sizeof *model->noises_held);
    hf_status status =
        list != NULL && model->output != NULL && model->noises_held != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        status = hfi_reader_rows(r, &rows, outputs, sizeof *list, list);
        for (size_t t = 0; t < outputs; t++) {
            model->output[t] = list[t].name;
            model->noises_held[t] = list[t].held;
        }
    }
    hfi_free(r->ctx, list);
    return status;
}

/* An optional number for each output, at least 0 and below `above`; *list belongs to the model. */
static hf_status read_list(const hfi_reader *r, const char *name, double above, double **list, size_t *count)
{
    const size_t outputs = r->model->outputs;
    if (!hfi_array_there(r, name)) return HF_OK;
    hf_status status = hfi_array_new(r, name, outputs, 1, false, list);
    for (size_t t = 0; status >= 0 && t < outputs; t++)
        if (!((*list)[t] >= 0.0 && (*list)[t] < above)) status = hfi_meta_bad(r, name);
    *count = outputs;
    return status;
}

static hf_status read_lists(const hfi_reader *r)
{
    hf_model *model = r->model;
    hf_fit_settings *s = &model->settings;
    hf_status status = read_list(r, "output_eps", 1.0, &model->output_eps, &s->output_eps_count);
    if (status >= 0)
        status = read_list(r, "output_beta", INFINITY, &model->output_beta, &s->output_beta_count);
    s->output_eps = model->output_eps;
    s->output_beta = model->output_beta;
    return status;
}

hf_status hfi_read_outputs(const hfi_reader *r)
{
    hf_model *model = r->model;
    size_t outputs = 0;
    hf_status status = hfi_meta_size(r, "outputs", &outputs);
    if (status >= 0 && (outputs == 0 || !hfi_reader_has_room(r, outputs, 1)))
        status = hfi_meta_bad(r, "outputs");
    if (status >= 0) status = hfi_meta_text(r, "output_column", true, &model->output_column);
    if (status < 0 || outputs <= 1) return status;
    /* A wide table's readings come in rows of all outputs. */
    if ((model->output_column == NULL && model->n % outputs != 0) ||
        !hfi_reader_has_room(r, model->n, model->d + 1))
        return hfi_meta_bad(r, "rows");
    model->outputs = outputs;
    model->width = model->d + 1;
    status = read_names(r, outputs);
    return status < 0 ? status : read_lists(r);
}

hf_status hfi_outputs_read_scaling(const hfi_reader *r, double noise, hfi_scaling *scaling, double *noises)
{
    (void)noise; /* each has its own */
    const size_t outputs = r->model->outputs;
    double *both = hfi_alloc(r->ctx, outputs, 2 * sizeof *both);
    output *list = hfi_alloc(r->ctx, outputs, sizeof *list);
    hf_status status = both != NULL && list != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = hfi_reader_rows(r, &rows, outputs, sizeof *list, list);
    for (size_t t = 0; list != NULL && t < outputs; t++) {
        const output *o = &list[t];
        hfi_memory_free(&r->memory, o->name); /* it is there already */
        if (status < 0) continue;
        both[t] = o->shift;
        both[outputs + t] = o->scale;
        noises[t] = o->noise;
        if (!isfinite(o->shift) || !(o->scale > 0.0) || !isfinite(o->scale) || !(o->noise >= 0.0) ||
            !isfinite(o->noise))
            status = hfi_reader_damaged(r, "an output is not as it should be");
    }
    if (status >= 0) status = hfi_scaling_set_outputs(r->ctx, scaling, outputs, both, both + outputs);
    HFI_FREE(r->ctx, both, list);
    return status;
}
