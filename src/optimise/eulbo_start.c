/* SPDX-License-Identifier: Apache-2.0 */
/* Where a climb of EULBO begins: at the points of largest utility for the surrogate that the bound has trained. */
#include "optimise/eulbo.h"

#include "posterior/posterior.h"
#include <math.h>
#include <string.h>

enum {
    POOL = 256,      /* candidates for the points of a batch behind the first */
    BATCH_STREAM = 3 /* of the draws over them */
};

/* ---- the surrogate ------------------------------------------------------------------------------------- */

static hf_status make_surrogate(hfi_eulbo *e, const double *state)
{
    hfi_fit *fit = e->fit;
    hfi_solution solution = {0};
    hf_status status = hfi_trainer_set(&fit->trainer, state);
    if (status >= 0) status = hfi_fit_solve(fit, &solution);
    if (status < 0) return status;
    status = hfi_posterior_create(e->ctx, fit->kernel, fit->mean, &solution, &fit->scaling,
                                  hf_sites_noise(fit->sites), 1.0, &e->start);
    if (status < 0) {
        hfi_solution_free(&solution);
        return status;
    }
    e->workspace = hf_posterior_workspace_create(e->ctx, e->start);
    return e->workspace != NULL ? HF_OK : HF_ERR_MEMORY;
}

/* The largest posterior mean at a reading: a wrong one hardly moves it. */
static hf_status find_best(hfi_eulbo *e)
{
    const hf_data *data = e->fit->data;
    e->best = e->settings.best;
    if (!isnan(e->best)) return HF_OK;
    double *mean = hfi_alloc_unset(e->ctx, data->n, sizeof *mean);
    if (mean == NULL) return HF_ERR_MEMORY;
    const hf_status status = hf_predict(e->ctx, e->start, data->n, data->x, data->ldx, mean, NULL, NULL);
    e->best = -INFINITY;
    for (size_t i = 0; status >= 0 && i < data->n; i++)
        if (!isnan(data->y[i])) e->best = fmax(e->best, mean[i]);
    hfi_free(e->ctx, mean);
    return status;
}

/* ---- utility of one point as a surface ----------------------------------------------------------------- */

static hf_status eulbo_start_evaluate_many(hf_context *ctx, void *of, size_t m, size_t d, const double *x,
                                           double *out)
{
    const hfi_eulbo *e = of;
    double *variance = hfi_alloc_unset(ctx, m, sizeof *variance), ignored[2];
    if (variance == NULL) return HF_ERR_MEMORY;
    const hf_status status = hf_predict(ctx, e->start, m, x, d, out, variance, NULL);
    for (size_t i = 0; status >= 0 && i < m; i++)
        out[i] = hfi_utility_single(&e->utility, out[i], variance[i], ignored, ignored + 1);
    hfi_free(ctx, variance);
    return status;
}

static hf_status eulbo_start_evaluate_at(void *of, size_t d, const double *x, double *value, double *gradient)
{
    const hfi_eulbo *e = of;
    double mean, variance, by_mean, by_variance, *slopes = e->gradients;
    const bool wanted = gradient != NULL;
    const hf_status status = hf_predict_latent(e->start, e->workspace, x, &mean, &variance,
                                               wanted ? slopes : NULL, wanted ? slopes + d : NULL);
    if (status < 0) return status;
    *value = hfi_utility_single(&e->utility, mean, variance, &by_mean, &by_variance);
    for (size_t j = 0; wanted && j < d; j++) gradient[j] = by_mean * slopes[j] + by_variance * slopes[d + j];
    return isfinite(*value) ? HF_OK : HF_ERR_NOT_FINITE;
}

/* ---- several points ------------------------------------------------------------------------------------ */

/* Whether x is one of the first `count` points. */
static bool is_chosen(const hfi_eulbo *e, size_t count, const double *x)
{
    const size_t d = e->domain->dimension;
    for (size_t k = 0; k < count; k++) {
        size_t j = 0;
        while (j < d && e->points[k * d + j] == x[j]) j++;
        if (j == d) return true;
    }
    return false;
}

/* U over all draws, candidate i being a point. */
static double with_candidate(const hfi_eulbo *e, size_t count, const double *samples, const double *largest,
                             size_t i, double *logs)
{
    for (size_t s = 0; s < e->settings.draws; s++)
        logs[s] = hfi_log_softplus((fmax(largest[s], samples[s * count + i]) - e->best) / e->unit, NULL);
    return hfi_utility_sum(&e->utility, e->settings.draws, NULL, logs, NULL);
}

/* The first of the pool is the first point; then each time the candidate with which the utility of the
 * largest is largest. */
static void choose_batch(const hfi_eulbo *e, size_t count, const double *samples, double *largest,
                         double *logs, const double *pool)
{
    const size_t d = e->domain->dimension, draws = e->settings.draws;
    for (size_t s = 0; s < draws; s++) largest[s] = samples[s * count];
    memcpy(e->points, pool, d * sizeof *pool);
    for (size_t k = 1; k < e->settings.batch; k++) {
        size_t best = 0; /* again the first, where there is nothing else */
        double best_value = -INFINITY;
        for (size_t i = 1; i < count; i++) {
            if (is_chosen(e, k, pool + i * d)) continue;
            const double value = with_candidate(e, count, samples, largest, i, logs);
            if (best > 0 && !(value > best_value + 1e-9)) continue;
            best_value = value;
            best = i;
        }
        memcpy(e->points + k * d, pool + best * d, d * sizeof *pool);
        for (size_t s = 0; s < draws; s++) largest[s] = fmax(largest[s], samples[s * count + best]);
    }
}

/* From `count` candidates, the first of which is the first point. */
static hf_status choose_from(hfi_eulbo *e, size_t count, double *pool)
{
    const size_t draws = e->settings.draws;
    double *samples = hfi_alloc_product(e->ctx, draws, count, sizeof *samples);
    double *largest = hfi_alloc_unset(e->ctx, draws, 2 * sizeof *largest);
    hf_status status = samples != NULL && largest != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0)
        status = hf_sample(e->ctx, e->start, count, pool, e->domain->dimension, draws, BATCH_STREAM, samples);
    if (status >= 0) choose_batch(e, count, samples, largest, largest + draws, pool);
    HFI_FREE(e->ctx, samples, largest);
    return status < 0 ? status : HF_OK;
}

/* The points that were looked at for the first, the best of them. */
static hf_status fill_batch(hfi_eulbo *e)
{
    const size_t d = e->domain->dimension;
    size_t free, smooth, count = 0, chosen = 0, starts[POOL];
    size_t *inputs = hfi_alloc(e->ctx, d, sizeof *inputs);
    double *points = NULL, *values = NULL, *pool = hfi_alloc_product(e->ctx, POOL + 1, d, sizeof *pool);
    hf_status status = inputs != NULL && pool != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        free = hfi_domain_free_inputs(e->domain, inputs, &smooth);
        status = hfi_points_to_look_at(e->ctx, e->start, e->domain, free, inputs, e->search.samples,
                                       e->guess_count, e->guesses, &points, &count);
    }
    if (status >= 0) {
        values = hfi_alloc_unset(e->ctx, count, sizeof *values);
        status =
            values != NULL ? eulbo_start_evaluate_many(e->ctx, e, count, d, points, values) : HF_ERR_MEMORY;
    }
    if (status >= 0)
        status = hfi_choose_starts(e->ctx, e->domain, count, points, values, POOL, starts, &chosen);
    if (status >= 0) {
        memcpy(pool, e->points, d * sizeof *pool);
        for (size_t k = 0; k < chosen; k++)
            memcpy(pool + (k + 1) * d, points + starts[k] * d, d * sizeof *pool);
        status = choose_from(e, chosen + 1, pool);
    }
    HFI_FREE(e->ctx, inputs, points, values, pool);
    return status;
}

hf_status hfi_eulbo_begin(hfi_eulbo *e, double *state)
{
    const hfi_fit *fit = e->fit;
    hf_status status = make_surrogate(e, state);
    if (status >= 0) status = find_best(e);
    if (status < 0) return status;
    const double scale = fit->settings->standardise ? fit->scaling.y_scale : fit->measured.y_scale;
    e->unit = e->utility.unit = e->settings.temperature * scale;
    e->utility.best = e->report.best = e->best;
    hf_argmax found;
    const hfi_surface surface = {.what = "the expected utility",
                                 .of = e,
                                 .near = e->start,
                                 .work = (double)fit->n * (double)fit->d,
                                 .bottomless = true,
                                 .many = eulbo_start_evaluate_many,
                                 .at = eulbo_start_evaluate_at};
    status = hfi_maximise_surface(e->ctx, &surface, e->domain, &e->search, e->guess_count, e->guesses,
                                  e->points, &found);
    if (status >= 0 && e->settings.batch > 1) status = fill_batch(e);
    return status;
}
