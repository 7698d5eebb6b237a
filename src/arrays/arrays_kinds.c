/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk of rows, as each kind of model predicts it. */
#include "arrays/arrays.h"

#include "core/normal.h"

#include <holdfast/likelihood.h>

#include <math.h>

static void put_array_value(const hfi_array_job *job, hfi_array array, size_t row, size_t k, double value)
{
    double *place = hfi_array_place(job, array, row, k);
    if (place != NULL) *place = value;
}

/* ---- readings, of one output or several --------------------------------------------------------------- */

static bool is_readings(const hf_model *model)
{
    return model->kind->score != NULL && !hfi_model_has_likelihood(model);
}

static size_t reading_width(const hf_model *model, hfi_array array, size_t levels)
{
    if (array == HFI_ARRAY_OUTPUT_COVARIANCE) return model->outputs * model->outputs;
    return array == HFI_ARRAY_QUANTILE ? model->outputs * levels : model->outputs;
}

static size_t reading_scratch(const hf_model *model, bool between)
{
    return model->outputs * (between ? 3 + model->outputs : 3);
}

/* One reading from moments of what is modelled. */
static void put_reading(const hfi_array_job *job, size_t row, size_t t, double mean, double var,
                        double observed)
{
    const hf_transform transform = job->model->settings.transform;
    const size_t levels = job->wanted->levels;
    double centre = mean, latent = var, noisy = observed;
    if (transform != HF_TRANSFORM_NONE) {
        hf_transform_moments(transform, mean, var, NULL, &latent);
        hf_transform_moments(transform, mean, observed, &centre, &noisy);
    }
    put_array_value(job, HFI_ARRAY_MEAN, row, t, centre);
    put_array_value(job, HFI_ARRAY_SD_LATENT, row, t, sqrt(latent));
    put_array_value(job, HFI_ARRAY_SD_OBSERVED, row, t, sqrt(noisy));
    put_array_value(job, HFI_ARRAY_LATENT_MEAN, row, t, mean);
    put_array_value(job, HFI_ARRAY_LATENT_SD, row, t, sqrt(var));
    for (size_t q = 0; q < levels; q++) {
        const double z = mean + job->half[q] * sqrt(observed);
        put_array_value(job, HFI_ARRAY_QUANTILE, row, t * levels + q,
                        transform == HF_TRANSFORM_NONE ? z : hf_transform_inverse(transform, z));
    }
}

static hf_status predict_readings(hf_context *ctx, hfi_array_job *job, const hfi_array_chunk *chunk)
{
    const hf_model *model = job->model;
    const hf_arrays *rows = job->rows;
    const size_t outputs = model->outputs, cells = chunk->count * outputs;
    double *mean = job->scratch, *var = mean + cells, *observed = var + cells;
    double *between = job->stage[HFI_ARRAY_OUTPUT_COVARIANCE] != NULL ? observed + cells : NULL;
    if (mean == NULL) return hfi_out_of_memory(ctx); /* never: an analyser cannot know */
    if (!job->variance)
        for (size_t k = 0; k < 2 * cells; k++) var[k] = 0.0;
    double *latent = job->variance ? var : NULL, *noisy = job->variance ? observed : NULL;
    const hf_status status =
        outputs == 1 && between == NULL
            ? hf_predict(ctx, model->posterior, chunk->count, chunk->x, chunk->ldx, mean, latent, noisy)
            : hf_predict_outputs(ctx, model->posterior, chunk->count, chunk->x, chunk->ldx, mean, latent,
                                 noisy, between);
    if (status < 0) return status;
    const double kappa = hf_posterior_calibration(model->posterior);
    for (size_t k = 0; k < chunk->count; k++) {
        const size_t row = chunk->row[k];
        const double prior = rows->mean.at != NULL ? hfi_view_at(&rows->mean, row, 0) : 0.0;
        const double noise = rows->noise.at != NULL ? hfi_view_at(&rows->noise, row, 0) : 0.0;
        for (size_t t = 0; t < outputs; t++) {
            const size_t at = k * outputs + t;
            put_reading(job, row, t, mean[at] + prior, var[at],
                        observed[at] + (isnan(noise) ? 0.0 : kappa * noise));
        }
        for (size_t e = 0; between != NULL && e < outputs * outputs; e++)
            put_array_value(job, HFI_ARRAY_OUTPUT_COVARIANCE, row, e, between[k * outputs * outputs + e]);
    }
    return HF_OK;
}

/* ---- counts and amounts ------------------------------------------------------------------------------- */

static size_t rate_width(const hf_model *model, hfi_array array, size_t levels)
{
    (void)model;
    return array == HFI_ARRAY_QUANTILE ? levels : 1;
}

static size_t rate_scratch(const hf_model *model, bool between)
{
    (void)model;
    (void)between;
    return 2;
}

/* A chunk of latent moments, for the parallel loop over its rows. */
typedef struct rates {
    const hfi_array_job *job;
    const hfi_array_chunk *chunk;
    const double *mean, *var;
    size_t first;
} rates;

static void put_rate(size_t index, int thread, void *arg)
{
    (void)thread;
    const rates *of = arg;
    const hfi_array_job *job = of->job;
    const size_t k = of->first + index, row = of->chunk->row[k], levels = job->wanted->levels;
    const hf_view *exposure = &job->rows->exposure;
    const hf_likelihood sites = job->model->settings.sites;
    const double dispersion = hf_posterior_noise(job->model->posterior), var = of->var[k];
    const double shift = exposure->at != NULL ? log(hfi_view_at(exposure, row, 0)) : 0.0;
    const double mean = of->mean[k] + shift;
    hf_reading_moments m = {NAN, NAN, NAN};
    hf_likelihood_moments(sites, dispersion, mean, var, &m);
    put_array_value(job, HFI_ARRAY_MEAN, row, 0, m.mean);
    put_array_value(job, HFI_ARRAY_SD_LATENT, row, 0, m.sd_mean);
    put_array_value(job, HFI_ARRAY_SD_OBSERVED, row, 0, m.sd);
    put_array_value(job, HFI_ARRAY_LATENT_MEAN, row, 0, of->mean[k]);
    put_array_value(job, HFI_ARRAY_LATENT_SD, row, 0, sqrt(var));
    for (size_t q = 0; q < levels; q++) {
        double quantile = NAN;
        hf_likelihood_quantile(sites, dispersion, mean, var, job->wanted->level[q], &quantile);
        put_array_value(job, HFI_ARRAY_QUANTILE, row, q, quantile);
    }
}

static hf_status predict_rates(hf_context *ctx, hfi_array_job *job, const hfi_array_chunk *chunk)
{
    enum {
        AT_ONCE = 64 /* rows between two looks at whether to go on */
    };
    double *mean = job->scratch, *var = mean + chunk->count;
    const hf_status status =
        hf_predict(ctx, job->model->posterior, chunk->count, chunk->x, chunk->ldx, mean, var, NULL);
    if (status < 0) return status;
    rates of = {.job = job, .chunk = chunk, .mean = mean, .var = var};
    for (; of.first < chunk->count; of.first += AT_ONCE) {
        const size_t left = chunk->count - of.first;
        hfi_parallel_for(ctx, left < AT_ONCE ? left : AT_ONCE, put_rate, &of);
        if (!hfi_progress(ctx, "predict", (double)of.first / (double)chunk->count, NAN))
            return hfi_cancelled(ctx);
    }
    return HF_OK;
}

/* ---- labels ------------------------------------------------------------------------------------------- */

static bool is_labels(const hf_model *model)
{
    return model->kind->score_classes != NULL;
}

static size_t label_width(const hf_model *model, hfi_array array, size_t levels)
{
    (void)levels;
    return array == HFI_ARRAY_PROBABILITY ? model->classes : hfi_class_latents(model);
}

/* The winners, too, which are no larger than numbers. */
static size_t label_scratch(const hf_model *model, bool between)
{
    (void)between;
    return model->classes + 2 * hfi_class_latents(model);
}

static hf_status predict_labels(hf_context *ctx, hfi_array_job *job, const hfi_array_chunk *chunk)
{
    const hf_model *model = job->model;
    const size_t classes = model->classes, latents = hfi_class_latents(model);
    double *probability = job->scratch, *mean = probability + chunk->count * classes,
           *var = mean + chunk->count * latents;
    size_t *winner = hfi_alloc(ctx, chunk->count, sizeof *winner);
    if (winner == NULL) return HF_ERR_MEMORY;
    const hf_status status = hf_classify_predict(ctx, model->classifier, chunk->count, chunk->x, chunk->ldx,
                                                 probability, winner, mean, var, NULL);
    for (size_t k = 0; k < chunk->count && status >= 0; k++) {
        const size_t row = chunk->row[k];
        if (job->winner != NULL) job->winner[row] = winner[k];
        for (size_t c = 0; c < classes; c++)
            put_array_value(job, HFI_ARRAY_PROBABILITY, row, c, probability[k * classes + c]);
        for (size_t l = 0; l < latents; l++) {
            put_array_value(job, HFI_ARRAY_LATENT_MEAN, row, l, mean[k * latents + l]);
            put_array_value(job, HFI_ARRAY_LATENT_SD, row, l, sqrt(var[k * latents + l]));
        }
    }
    hfi_free(ctx, winner);
    return status;
}

/* ---- the table ---------------------------------------------------------------------------------------- */

static const hfi_array_kind kinds[] = {
    {.what = "a model of readings",
     .is = is_readings,
     .has = {[HFI_ARRAY_MEAN] = true,
             [HFI_ARRAY_SD_LATENT] = true,
             [HFI_ARRAY_SD_OBSERVED] = true,
             [HFI_ARRAY_QUANTILE] = true,
             [HFI_ARRAY_LATENT_MEAN] = true,
             [HFI_ARRAY_LATENT_SD] = true,
             [HFI_ARRAY_OUTPUT_COVARIANCE] = true},
     .width = reading_width,
     .scratch = reading_scratch,
     .predict = predict_readings},
    {.what = "a model of counts or amounts",
     .is = hfi_model_has_likelihood,
     .has = {[HFI_ARRAY_MEAN] = true,
             [HFI_ARRAY_SD_LATENT] = true,
             [HFI_ARRAY_SD_OBSERVED] = true,
             [HFI_ARRAY_QUANTILE] = true,
             [HFI_ARRAY_LATENT_MEAN] = true,
             [HFI_ARRAY_LATENT_SD] = true},
     .width = rate_width,
     .scratch = rate_scratch,
     .predict = predict_rates},
    {.what = "a classifier",
     .is = is_labels,
     .has = {[HFI_ARRAY_PROBABILITY] = true, [HFI_ARRAY_LATENT_MEAN] = true, [HFI_ARRAY_LATENT_SD] = true},
     .winner = true,
     .width = label_width,
     .scratch = label_scratch,
     .predict = predict_labels},
};

const hfi_array_kind *hfi_array_kind_of(const hf_model *model)
{
    const hfi_array_kind *kind = kinds;
    while (!kind->is(model)) kind++;
    return kind;
}
