/* SPDX-License-Identifier: Apache-2.0 */
/* A model as a database image, and that image as a file. */
#include "model/class_model.h"
#include "model/inputs.h"

#include <holdfast/version.h>
#include <math.h>

static void write_form(hfi_writer *w, sqlite3_stmt *statement, const hfi_solution *solution)
{
    hfi_writer_meta_text(w, statement, "solver", hf_enum_name(HF_ENUM_SOLVER, solution->solver));
    hfi_writer_meta_text(w, statement, "form", hfi_form_names[solution->form]);
    hfi_writer_meta_size(w, statement, "anchors", solution->n);
    if (solution->form == HFI_FORM_EXACT) return; /* what follows comes with the factor */
    hfi_writer_meta_size(w, statement, "rank", solution->rank);
    hfi_writer_meta_double(w, statement, "jitter", solution->jitter);
    hfi_writer_meta_double(w, statement, "condition", solution->condition);
    hfi_writer_meta_double(w, statement, "backward", solution->backward);
}

static void write_meta(hfi_writer *w, const hf_model *model)
{
    const hf_posterior *posterior = model->posterior;
    sqlite3_stmt *statement = hfi_writer_prepare(w, "INSERT INTO meta (key, value) VALUES (?1, ?2)");
    hfi_writer_meta_text(w, statement, "format", "holdfast model");
    hfi_writer_meta_text(w, statement, "library", hf_version());
    hfi_writer_meta_text(w, statement, "source", model->source);
    if (model->command != NULL) hfi_writer_meta_text(w, statement, "command", model->command);
    if (model->seeded) hfi_writer_meta_seed(w, statement, "seed", model->seed);
    hfi_writer_meta_text(w, statement, "target", model->target);
    hfi_writer_meta_text(w, statement, "noise_column", model->noise_column);
    hfi_writer_meta_text(w, statement, "data_sha256", model->checksum);
    hfi_writer_meta_size(w, statement, "inputs", model->d);
    hfi_writer_meta_size(w, statement, "rows", model->n);
    hfi_writer_meta_size(w, statement, "rows_skipped", model->skipped);
    write_form(w, statement, &posterior->solution);
    hfi_writer_meta_text(w, statement, "kernel", model->kernel);
    hfi_writer_meta_text(w, statement, "mean",
                         hf_enum_name(HF_ENUM_MEAN_KIND, hf_mean_get_kind(posterior->mean)));
    hfi_writer_meta_size(w, statement, "mean_held", hf_mean_held(posterior->mean) ? 1 : 0);
    hfi_writer_meta_double(w, statement, "target_shift", posterior->scaling.y_shift);
    hfi_writer_meta_double(w, statement, "target_scale", posterior->scaling.y_scale);
    hfi_writer_meta_double(w, statement, "noise", posterior->noise);
    hfi_writer_meta_size(w, statement, "noise_held", model->noise_held ? 1 : 0);
    hfi_writer_meta_double(w, statement, "calibration", posterior->calibration);
    hfi_writer_meta_text(w, statement, "report.at_bound_names", model->report.at_bound_names);
    hfi_writer_fields(w, statement, &hfi_student_method, 1, &model->settings);
    hfi_writer_settings(w, statement, hf_fit_settings_table(), &model->settings);
    hfi_writer_fields(w, statement, hfi_report_fields, hfi_report_field_count, &model->report);
    if (w->version >= 3) {
        hfi_writer_meta_size(w, statement, "outputs", model->outputs);
        hfi_writer_meta_text(w, statement, "output_column", model->output_column);
        hfi_writer_meta_text(w, statement, "output_input",
                             model->width > model->d ? model->feature[model->d] : NULL);
    }
    if (w->version >= 4) hfi_writer_meta_text(w, statement, "class_input", model->class_input);
    if (w->version >= HFI_FORMAT_VERSION)
        hfi_writer_meta_text(w, statement, "mean_column", model->mean_column);
    sqlite3_finalize(statement);
}

/* ---- names and parameters -------------------------------------------------------------------- */

static void write_features(hfi_writer *w, const hf_model *model)
{
    const hfi_scaling *scaling = &model->posterior->scaling;
    sqlite3_stmt *statement = hfi_writer_features(w);
    for (size_t j = 0; j < model->d; j++)
        hfi_writer_feature(w, statement, j, model->feature[j], scaling->x_shift[j], scaling->x_scale[j]);
    sqlite3_finalize(statement);
}

/* Writes the table of outputs. A single output has nothing in it that is not in the table meta. */
void hfi_outputs_write(hfi_writer *w, const hf_model *model)
{
    if (model->outputs == 1) return;
    const hf_posterior *posterior = model->posterior;
    sqlite3_stmt *statement =
        hfi_writer_prepare(w, "INSERT INTO output (position, name, shift, scale, noise, noise_held) "
                              "VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    for (size_t t = 0; t < model->outputs; t++) {
        hfi_writer_bind_size(w, statement, 1, t);
        hfi_writer_bind_text(w, statement, 2, model->output[t]);
        hfi_writer_bind_double(w, statement, 3, hfi_scaling_shift(&posterior->scaling, t));
        hfi_writer_bind_double(w, statement, 4, hfi_scaling_scale(&posterior->scaling, t));
        hfi_writer_bind_double(w, statement, 5, hfi_posterior_noise(posterior, t));
        hfi_writer_bind_size(w, statement, 6, model->noises_held[t] ? 1 : 0);
        hfi_writer_step(w, statement);
    }
    sqlite3_finalize(statement);
}

static void write_parameters(hfi_writer *w, const hf_model *model)
{
    const hf_kernel *kernel = model->posterior->kernel;
    sqlite3_stmt *statement = hfi_writer_parameters(w);
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter user = {0};
        if (hfi_model_kernel_parameter(model, i, &user) < 0) w->rc = SQLITE_INTERNAL;
        hfi_writer_parameter(w, statement, kernel, i, user.value);
    }
    sqlite3_finalize(statement);
}

static void write_notes(hfi_writer *w, const hf_model *model)
{
    sqlite3_stmt *statement = hfi_writer_prepare(w, "INSERT INTO note (position, text) VALUES (?1, ?2)");
    for (size_t i = 0; i < model->notes; i++) {
        hfi_writer_bind_size(w, statement, 1, i);
        hfi_writer_bind_text(w, statement, 2, model->note[i]);
        hfi_writer_step(w, statement);
    }
    sqlite3_finalize(statement);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Row by row, with zeros above the diagonal, where the solution has scratch. */
static void write_factor(hfi_writer *w, const char *name, size_t n, const double *l)
{
    double *rows = hfi_alloc(w->ctx, n, n * sizeof *rows);
    if (rows == NULL) {
        w->rc = SQLITE_NOMEM;
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
        w->rc = SQLITE_NOMEM;
        return;
    }
    for (size_t l = 0; l < n; l++) values[l] = (double)solution->block[l];
    hfi_writer_array(w, "anchor_block", n, 1, values);
    hfi_free(w->ctx, values);
    hfi_writer_array(w, "anchor_entry", n, 1, solution->entry);
    write_factor(w, "action_factor", solution->rank, solution->factor);
}

typedef double reading_number(const hf_model *model, size_t i);

static double row_number(const hf_model *model, size_t i)
{
    return (double)model->row[i];
}

static double row_weight(const hf_model *model, size_t i)
{
    return model->reading[i].weight;
}

static double row_suspected(const hf_model *model, size_t i)
{
    return model->reading[i].suspected ? 1.0 : 0.0;
}

static double row_group(const hf_model *model, size_t i)
{
    return (double)model->reading[i].group;
}

static double row_loo_mean(const hf_model *model, size_t i)
{
    return model->reading[i].loo_mean;
}

static double row_loo_var(const hf_model *model, size_t i)
{
    return model->reading[i].loo_var;
}

static double row_plain_mean(const hf_model *model, size_t i)
{
    return model->reading[i].plain_mean;
}

static double row_plain_sd(const hf_model *model, size_t i)
{
    return model->reading[i].plain_sd;
}

/* Only where suspects were set aside is there something to compare with. */
static bool knows_plain(const hf_model *model)
{
    for (size_t i = 0; i < model->n; i++)
        if (model->reading[i].plain_sd > 0.0) return true;
    return false;
}

/* `values`: scratch of a number for each row. */
static void write_reading(hfi_writer *w, const char *name, const hf_model *model, reading_number *number,
                          double *values)
{
    for (size_t i = 0; i < model->n; i++) values[i] = number(model, i);
    hfi_writer_array(w, name, model->n, 1, values);
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
        w->rc = SQLITE_NOMEM;
        return;
    }
    write_reading(w, "row_number", model, row_number, values);
    write_reading(w, "row_weight", model, row_weight, values);
    write_reading(w, "row_suspected", model, row_suspected, values);
    write_reading(w, "row_group", model, row_group, values);
    if (model->posterior->solution.form != HFI_FORM_EXACT) {
        write_reading(w, "row_loo_mean", model, row_loo_mean, values);
        write_reading(w, "row_loo_var", model, row_loo_var, values);
    }
    if (knows_plain(model)) {
        write_reading(w, "row_plain_mean", model, row_plain_mean, values);
        write_reading(w, "row_plain_sd", model, row_plain_sd, values);
    }
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
    hfi_writer w = {
        .ctx = ctx, .kind = &hfi_kind_model, .version = version, .schema = version, .piece = piece};
    hfi_writer_begin(&w);
    write_meta(&w, model);
    hfi_write_inputs(&w, model);
    write_features(&w, model);
    model->kind->write(&w, model);
    write_parameters(&w, model);
    write_notes(&w, model);
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
    status = hfi_writer_store(ctx, path, bytes, size);
    sqlite3_free(bytes);
    return status;
}
