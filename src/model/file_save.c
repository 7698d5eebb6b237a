/* SPDX-License-Identifier: Apache-2.0 */
/* A model as a database image, and that image as a file. */
#include "model/class_model.h"
#include "model/inputs.h"

#include <holdfast/version.h>
#include <math.h>

static void write_form(hfi_writer *w, const hfi_solution *solution)
{
    hfi_writer_meta(w, "solver", hfi_text(hf_enum_name(HF_ENUM_SOLVER, solution->solver)));
    hfi_writer_meta(w, "form", hfi_text(hfi_form_names[solution->form]));
    hfi_writer_meta(w, "anchors", hfi_whole(solution->n));
    if (solution->form == HFI_FORM_EXACT) return; /* what follows comes with the factor */
    hfi_writer_meta(w, "rank", hfi_whole(solution->rank));
    hfi_writer_meta(w, "jitter", hfi_number(solution->jitter));
    hfi_writer_meta(w, "condition", hfi_number(solution->condition));
    hfi_writer_meta(w, "backward", hfi_number(solution->backward));
}

static void write_meta(hfi_writer *w, const hf_model *model)
{
    const hf_posterior *posterior = model->posterior;
    hfi_writer_meta(w, "format", hfi_text("holdfast model"));
    hfi_writer_meta(w, "library", hfi_text(hf_version()));
    hfi_writer_meta(w, "source", hfi_text(model->source));
    if (model->command != NULL) hfi_writer_meta(w, "command", hfi_text(model->command));
    if (model->seeded) hfi_writer_meta_seed(w, "seed", model->seed);
    hfi_writer_meta(w, "target", hfi_text(model->target));
    hfi_writer_meta(w, "noise_column", hfi_text(model->noise_column));
    hfi_writer_meta(w, "data_sha256", hfi_text(model->checksum));
    hfi_writer_meta(w, "inputs", hfi_whole(model->d));
    hfi_writer_meta(w, "rows", hfi_whole(model->n));
    hfi_writer_meta(w, "rows_skipped", hfi_whole(model->skipped));
    write_form(w, &posterior->solution);
    hfi_writer_meta(w, "kernel", hfi_text(model->kernel));
    hfi_writer_meta(w, "mean", hfi_text(hf_enum_name(HF_ENUM_MEAN_KIND, hf_mean_get_kind(posterior->mean))));
    hfi_writer_meta(w, "mean_held", hfi_whole(hf_mean_held(posterior->mean) ? 1 : 0));
    hfi_writer_meta(w, "target_shift", hfi_number(posterior->scaling.y_shift));
    hfi_writer_meta(w, "target_scale", hfi_number(posterior->scaling.y_scale));
    hfi_writer_meta(w, "noise", hfi_number(posterior->noise));
    hfi_writer_meta(w, "noise_held", hfi_whole(model->noise_held ? 1 : 0));
    hfi_writer_meta(w, "calibration", hfi_number(posterior->calibration));
    hfi_writer_meta(w, "report.at_bound_names", hfi_text(model->report.at_bound_names));
    hfi_writer_fields(w, &hfi_student_method, 1, &model->settings);
    hfi_writer_settings(w, hf_fit_settings_table(), &model->settings);
    hfi_writer_fields(w, hfi_report_fields, hfi_report_field_count, &model->report);
    if (w->version >= 3) {
        hfi_writer_meta(w, "outputs", hfi_whole(model->outputs));
        hfi_writer_meta(w, "output_column", hfi_text(model->output_column));
        hfi_writer_meta(w, "output_input",
                        hfi_text(model->width > model->d ? model->feature[model->d] : NULL));
    }
    if (w->version >= 4) hfi_writer_meta(w, "class_input", hfi_text(model->class_input));
    if (w->version >= HFI_FORMAT_VERSION) hfi_writer_meta(w, "mean_column", hfi_text(model->mean_column));
}

/* ---- names and parameters -------------------------------------------------------------------- */

/* Writes the table of outputs. A single output has nothing in it that is not in the table meta. */
void hfi_outputs_write(hfi_writer *w, const hf_model *model)
{
    if (model->outputs == 1) return;
    const hf_posterior *posterior = model->posterior;
    for (size_t t = 0; t < model->outputs; t++)
        hfi_writer_insert(w,
                          "INSERT INTO output (position, name, shift, scale, noise, noise_held) "
                          "VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                          HFI_VALUES(hfi_whole(t), hfi_text(model->output[t]),
                                     hfi_number(hfi_scaling_shift(&posterior->scaling, t)),
                                     hfi_number(hfi_scaling_scale(&posterior->scaling, t)),
                                     hfi_number(hfi_posterior_noise(posterior, t)),
                                     hfi_whole(model->noises_held[t] ? 1 : 0)));
}

static double user_value(const void *model, size_t i)
{
    hf_parameter user;
    return hfi_model_kernel_parameter(model, i, &user) >= 0 ? user.value : (double)NAN;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Row by row, with zeros above the diagonal, where the solution has scratch. */
static void write_factor(hfi_writer *w, const char *name, size_t n, const double *l)
{
    double *rows = hfi_alloc(w->ctx, n, n * sizeof *rows);
    if (rows == NULL) {
        hfi_writer_out_of_memory(w);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) rows[i * n + j] = l[i + j * n];
    hfi_writer_array(w, name, n, n, rows);
    hfi_free(w->ctx, rows);
}

static void write_solution(hfi_writer *w, const hfi_solution *solution)
{
    size_t n = solution->n;
    hfi_writer_array(w, "anchor_inputs", n, solution->d, solution->z);
    if (solution->residual != NULL) hfi_writer_array(w, "anchor_residual", n, 1, solution->residual);
    if (solution->variance != NULL) hfi_writer_array(w, "anchor_variance", n, 1, solution->variance);
    hfi_writer_array(w, "anchor_weight", n, 1, solution->t);
    if (hfi_class_is_restored(solution))
        hfi_writer_array(w, "anchor_probability", n, 1, solution->entry);
    else if (solution->form == HFI_FORM_DENSE)
        hfi_writer_array(w, "projection", solution->rank, n, solution->r);
    if (solution->form != HFI_FORM_BLOCKS) return;
    double *values = hfi_alloc(w->ctx, n, sizeof *values);
    if (values == NULL) {
        hfi_writer_out_of_memory(w);
        return;
    }
    for (size_t l = 0; l < n; l++) values[l] = (double)solution->block[l];
    hfi_writer_array(w, "anchor_block", n, 1, values);
    hfi_free(w->ctx, values);
    hfi_writer_array(w, "anchor_entry", n, 1, solution->entry);
    write_factor(w, "action_factor", solution->rank, solution->factor);
}

/* `values`: scratch of a number for each row. */
static void write_reading(hfi_writer *w, const hf_model *model, const hfi_reading_row *row, double *values)
{
    if (row->is_kept != NULL && !row->is_kept(model)) return;
    for (size_t i = 0; i < model->n; i++) values[i] = hfi_reading_number(row, &model->reading[i]);
    hfi_writer_array(w, row->name, model->n, 1, values);
}

/* The evidence about the suspects, where there are some. */
static void write_evidence(hfi_writer *w, const hf_fit_report *r)
{
    const double values[HFI_EVIDENCE_NUMBERS] = {r->suspects_undecided ? 1.0 : 0.0,
                                                 r->chance,
                                                 r->kept.error,
                                                 r->kept.sd,
                                                 r->set_aside.error,
                                                 r->set_aside.sd};
    if (!isnan(r->kept.error)) hfi_writer_array(w, "suspects", 1, HFI_EVIDENCE_NUMBERS, values);
}

static void write_arrays(hfi_writer *w, const hf_model *model)
{
    hfi_writer_array(w, "mean", hf_mean_coefficients(model->posterior->mean), 1,
                     hf_mean_values(model->posterior->mean));
    write_solution(w, &model->posterior->solution);
    hfi_writer_array(w, "row_inputs", model->n, model->width, model->x);
    hfi_writer_array(w, "row_target", model->n, 1, model->y);
    if (model->extra != NULL) hfi_writer_array(w, "row_noise", model->n, 1, model->extra);
    if (model->prior != NULL) hfi_writer_array(w, "row_mean", model->n, 1, model->prior);
    if (model->output_eps != NULL) hfi_writer_array(w, "output_eps", model->outputs, 1, model->output_eps);
    if (model->output_beta != NULL) hfi_writer_array(w, "output_beta", model->outputs, 1, model->output_beta);
    write_evidence(w, &model->report);
    double *values = hfi_alloc(w->ctx, model->n, sizeof *values);
    if (values == NULL) {
        hfi_writer_out_of_memory(w);
        return;
    }
    for (size_t i = 0; i < model->n; i++) values[i] = (double)model->row[i];
    hfi_writer_array(w, "row_number", model->n, 1, values);
    for (size_t k = 0; k < HFI_READING_ROWS; k++) write_reading(w, model, &hfi_reading_rows[k], values);
    hfi_free(w->ctx, values);
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool hfi_model_is_latest(const hf_model *model)
{
    return model->settings.lengthscale_prior != HF_PRIOR_WEAK || model->settings.unit_inputs ||
           model->mean_column != NULL ||
           (model->kind->format == 0 && hfi_kernel_has_codes(model->posterior->kernel));
}

unsigned hfi_model_format(const hf_model *model)
{
    if (model->kind->format > 0) return model->kind->format;
    if (hfi_model_is_latest(model)) return HFI_FORMAT_VERSION;
    if (model->settings.transform != HF_TRANSFORM_NONE) return HFI_FORMAT_TRANSFORM;
    const hf_fit_settings *s = &model->settings, plain = hf_fit_settings_default();
    const bool plainly = s->max_noise == plain.max_noise && s->coregion_rank == plain.coregion_rank &&
                         s->shared_noise == plain.shared_noise && s->independent == plain.independent &&
                         s->weighting == plain.weighting && s->centre != HF_CENTRE_CONDITIONAL &&
                         s->mean != HF_MEAN_OUTPUTS;
    return model->outputs == 1 && plainly ? HFI_FORMAT_ONE_OUTPUT : HFI_FORMAT_OUTPUTS;
}

hf_status hfi_model_to_image(hf_context *ctx, const hf_model *model, size_t piece, unsigned char **image,
                             size_t *size)
{
    const unsigned version = hfi_model_format(model);
    static const hfi_text_rows notes = {.insert = "INSERT INTO note (position, text) VALUES (?1, ?2)"};
    hfi_writer w = {.ctx = ctx,
                    .kind = &hfi_kind_model,
                    .version = version,
                    .tables = hfi_model_tables(version),
                    .piece = piece};
    hfi_writer_begin(&w);
    write_meta(&w, model);
    hfi_write_inputs(&w, model);
    hfi_writer_features(&w, model->d, (const char *const *)model->feature, model->posterior->scaling.x_shift,
                        model->posterior->scaling.x_scale);
    model->kind->write(&w, model);
    hfi_writer_parameters(&w, model->posterior->kernel, user_value, model);
    hfi_writer_texts(&w, &notes, 0, model->notes, (const char *const *)model->note);
    write_arrays(&w, model);
    return hfi_writer_end(&w, image, size);
}

hf_status hf_model_save(hf_context *ctx, const hf_model *model, const char *path)
{
    if (model == NULL || path == NULL)
        return hfi_refuse(ctx, "hf_model_save: model and path must not be NULL");
    unsigned char *bytes;
    size_t size;
    hf_status status = hfi_model_to_image(ctx, model, HFI_PIECE_BYTES, &bytes, &size);
    if (status < 0) return status;
    status = hfi_writer_store(ctx, path, false, bytes, size);
    hfi_image_free(bytes);
    return status;
}
