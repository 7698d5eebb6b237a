/* SPDX-License-Identifier: Apache-2.0 */
/* Acquisition functions over points: values at many, gradients at one, and the place where they are largest. */
#include "optimise/acquire.h"

#include "posterior/posterior.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    CHUNK = 4096,      /* points that are predicted at a time */
    FEW_SAMPLES = 512, /* as many are looked at however large the posterior is */
    FEW_STARTS = 3
};
/* Multiplications of a search with default settings. */
static const double look_work = 1e9, climb_work = 1e9;

typedef struct prepared {
    const hf_acquire *a;
    const hfi_acquisition_row *row;
    size_t d, posteriors;
    bool feasibility;     /* alone */
    hf_workspace **rooms; /* of f, then of the constraints */
    double *slopes;       /* 2 d: gradients of mean and variance */
    double *total;        /* d: gradient so far */
} prepared;

static const hf_posterior *posterior_of(const hf_acquire *a, size_t k)
{
    return k == 0 ? a->posterior : a->constraint[k - 1];
}

/* ---- checks ---------------------------------------------------------------------------------------------------------- */

static hf_status check_posterior(hf_context *ctx, const hf_acquire *a, size_t k, size_t d)
{
    const hf_posterior *posterior = posterior_of(a, k);
    if (posterior == NULL && k == 0) return hfi_fail(ctx, HF_ERR_ARGUMENT, "the posterior of f is NULL");
    if (posterior == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the posterior of constraint %zu (counted from 0) is NULL",
                        k - 1);
    if (hf_posterior_outputs(posterior) > 1)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "acquisition functions are of one output; a posterior has %zu",
                        hf_posterior_outputs(posterior));
    if (hf_posterior_dimension(posterior) != d && k == 0)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the posterior of f has %zu inputs, but the domain has %zu",
                        hf_posterior_dimension(posterior), d);
    if (hf_posterior_dimension(posterior) != d)
        return hfi_fail(ctx, HF_ERR_DIMENSION,
                        "the posterior of constraint %zu (counted from 0) has %zu inputs, but f has %zu",
                        k - 1, hf_posterior_dimension(posterior), d);
    return HF_OK;
}

static hf_status check_best(hf_context *ctx, const hf_acquire *a, const hfi_acquisition_row *row)
{
    if (!row->improves && !isfinite(a->beta))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "beta, %g, is not finite", a->beta);
    if (!row->improves && a->constraints > 0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "%s can be negative and is not multiplied by the probability of %zu constraints; use "
                        "log-ei",
                        row->name, a->constraints);
    if (!row->improves || isfinite(a->best)) return HF_OK;
    if (a->best != -INFINITY)
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "best is %g; it must be finite or -infinity", a->best);
    if (a->constraints == 0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "best is -infinity and there are no constraints: nothing is to be improved upon");
    return HF_OK;
}

/* `d` is the domain's. */
static hf_status check(hf_context *ctx, const hf_acquire *a, size_t d)
{
    const hfi_acquisition_row *row = hfi_acquisition_of(a->kind);
    if (row == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "there is no acquisition function number %d", (int)a->kind);
    if (a->constraints > 0 && (a->constraint == NULL || a->limit == NULL))
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "there are %zu constraints, but their posteriors or limits are NULL", a->constraints);
    hf_status status = HF_OK;
    for (size_t k = 0; k <= a->constraints && status >= 0; k++) status = check_posterior(ctx, a, k, d);
    for (size_t k = 0; k < a->constraints && status >= 0; k++)
        if (!isfinite(a->limit[k]))
            status = hfi_fail(ctx, HF_ERR_NOT_FINITE, "limit %zu (counted from 0), %g, is not finite", k,
                              a->limit[k]);
    return status >= 0 ? check_best(ctx, a, row) : status;
}

/* ---- one point --------------------------------------------------------------------------------------------------------- */

static double not_below(double value)
{
    return fmax(value, -DBL_MAX);
}

/* The logarithm of the probability of constraint k, with derivatives in its mean and sd. */
static hfi_acquired feasible(const hf_acquire *a, size_t k, double mean, double sd)
{
    hfi_acquired at = hfi_acquisition_at(hfi_acquisition_of(HF_ACQUIRE_LOG_PI), a->limit[k], sd, mean, 0.0);
    at.mean = -at.mean;
    return at;
}

/* total += factor (d mean / d x, d sd / d x) at; an sd of 0 has no gradient, and one that overflows none worth having. */
static void add_slopes(const prepared *p, hfi_acquired at, double sd, double factor)
{
    const double of_mean = factor * at.mean, of_var = sd > 0.0 ? factor * at.sd / (2.0 * sd) : 0.0;
    for (size_t j = 0; j < p->d; j++) {
        const double spread = of_var * p->slopes[p->d + j];
        p->total[j] += of_mean * p->slopes[j] + (isfinite(spread) ? spread : 0.0);
    }
}

static hf_status predict(const prepared *p, size_t k, const double *x, bool slopes, double *mean, double *sd)
{
    double var;
    const hf_status status = hf_predict_latent(posterior_of(p->a, k), p->rooms[k], x, mean, &var,
                                               slopes ? p->slopes : NULL, slopes ? p->slopes + p->d : NULL);
    if (status >= 0) *sd = sqrt(var);
    return status;
}

/* The value is v P, or log v + log P: v of f, P of the constraints. */
static hf_status at(void *of, size_t d, const double *x, double *value, double *gradient)
{
    const prepared *p = of;
    const bool logarithm = p->row->logarithm;
    double log_p = 0.0, mean, sd = 0.0;
    hfi_acquired v = {.value = logarithm ? 0.0 : 1.0};
    hf_status status = HF_OK;
    memset(p->total, 0, d * sizeof *p->total);
    for (size_t k = 0; k < p->a->constraints && status >= 0; k++) {
        status = predict(p, k + 1, x, gradient != NULL, &mean, &sd);
        if (status < 0) return status;
        const hfi_acquired one = feasible(p->a, k, mean, sd);
        log_p = not_below(log_p + one.value);
        if (gradient != NULL) add_slopes(p, one, sd, 1.0);
    }
    const double probability = exp(log_p);
    if (!p->feasibility) {
        status = predict(p, 0, x, gradient != NULL, &mean, &sd);
        if (status < 0) return status;
        v = hfi_acquisition_at(p->row, mean, sd, p->a->best, p->a->beta);
    }
    if (!logarithm)
        for (size_t j = 0; j < d; j++) p->total[j] *= v.value * probability;
    if (gradient != NULL && !p->feasibility) add_slopes(p, v, sd, logarithm ? 1.0 : probability);
    *value = logarithm ? not_below(v.value + log_p) : v.value * probability;
    if (gradient != NULL) memcpy(gradient, p->total, d * sizeof *gradient);
    for (size_t j = 0; gradient != NULL && j < d; j++)
        if (!isfinite(gradient[j])) return HF_ERR_NOT_FINITE;
    return isfinite(*value) ? HF_OK : HF_ERR_NOT_FINITE;
}

/* ---- many points --------------------------------------------------------------------------------------------------------- */

/* values := log P, or v P, or log v + log P. */
static hf_status chunk_values(hf_context *ctx, const prepared *p, size_t m, const double *x, double *mean,
                              double *var, double *values)
{
    const hf_acquire *a = p->a;
    hf_status status = HF_OK;
    for (size_t i = 0; i < m; i++) values[i] = 0.0;
    for (size_t k = 0; k < a->constraints && status >= 0; k++) {
        status = hf_predict(ctx, a->constraint[k], m, x, p->d, mean, var, NULL);
        for (size_t i = 0; i < m && status >= 0; i++)
            values[i] = not_below(values[i] + feasible(a, k, mean[i], sqrt(var[i])).value);
    }
    if (status >= 0 && !p->feasibility) status = hf_predict(ctx, a->posterior, m, x, p->d, mean, var, NULL);
    for (size_t i = 0; i < m && status >= 0; i++) {
        const double v = p->feasibility
                             ? (p->row->logarithm ? 0.0 : 1.0)
                             : hfi_acquisition_at(p->row, mean[i], sqrt(var[i]), a->best, a->beta).value;
        values[i] = p->row->logarithm ? not_below(v + values[i]) : v * exp(values[i]);
        if (!isfinite(values[i]))
            status = hfi_fail(ctx, HF_ERR_NOT_FINITE, "%s overflows at a point with mean %g and sd %g",
                              p->row->name, mean[i], sqrt(var[i]));
    }
    return status;
}

static hf_status many(hf_context *ctx, void *of, size_t m, size_t d, const double *x, double *values)
{
    const prepared *p = of;
    const size_t chunk = m < CHUNK ? m : CHUNK;
    double *room = hfi_alloc_unset(ctx, chunk, 2 * sizeof *room);
    hf_status status = room != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t begin = 0; begin < m && status >= 0; begin += chunk) {
        const size_t count = m - begin < chunk ? m - begin : chunk;
        status = chunk_values(ctx, p, count, x + begin * d, room, room + chunk, values + begin);
    }
    hfi_free(ctx, room);
    return status;
}

/* ---- preparing ------------------------------------------------------------------------------------------------------------- */

static void finish(hf_context *ctx, prepared *p)
{
    for (size_t k = 0; p->rooms != NULL && k < p->posteriors; k++) hf_workspace_free(p->rooms[k]);
    hfi_free(ctx, p->rooms);
    hfi_free(ctx, p->slopes);
}

static hf_status prepare(hf_context *ctx, const hf_acquire *a, size_t d, prepared *p)
{
    *p = (prepared){.a = a, .row = hfi_acquisition_of(a->kind), .d = d, .posteriors = 1 + a->constraints};
    p->feasibility = p->row->improves && a->best == -INFINITY;
    p->rooms = hfi_alloc(ctx, p->posteriors, sizeof *p->rooms);
    p->slopes = hfi_alloc(ctx, d, 3 * sizeof *p->slopes);
    if (p->rooms == NULL || p->slopes == NULL) return HF_ERR_MEMORY;
    p->total = p->slopes + 2 * d;
    for (size_t k = 0; k < p->posteriors; k++) {
        p->rooms[k] = hf_workspace_create(ctx, posterior_of(a, k));
        if (p->rooms[k] == NULL) return HF_ERR_MEMORY;
    }
    return HF_OK;
}

/* Multiplications for the value at a point. */
static double work_of(const prepared *p)
{
    double sum = 0.0;
    for (size_t k = p->feasibility ? 1 : 0; k < p->posteriors; k++) {
        const double n = (double)hf_posterior_anchors(posterior_of(p->a, k));
        sum += n * (n + (double)p->d);
    }
    return sum;
}

static hf_status evaluate(hf_context *ctx, prepared *p, size_t m, const double *x, double *values,
                          double *gradients)
{
    if (gradients == NULL) return many(ctx, p, m, p->d, x, values);
    for (size_t i = 0; i < m; i++) {
        if (!hfi_progress(ctx, "acquire", (double)i / (double)m, NAN)) return hfi_cancelled(ctx);
        const hf_status status = at(p, p->d, x + i * p->d, values + i, gradients + i * p->d);
        if (status < 0)
            return hfi_fail(ctx, status, "%s has no value or no gradient at row %zu (counted from 0)",
                            p->row->name, i);
    }
    return HF_OK;
}

/* Into room of its own, so that the outputs are untouched on error. */
static hf_status evaluate_aside(hf_context *ctx, const hf_acquire *a, size_t m, const double *x,
                                double *values, double *gradients)
{
    const size_t d = hf_posterior_dimension(a->posterior);
    prepared p;
    double *v = hfi_alloc_unset(ctx, m, sizeof *v);
    double *g = gradients != NULL ? hfi_alloc_product(ctx, m, d, sizeof *g) : NULL;
    hf_status status = prepare(ctx, a, d, &p);
    if (v == NULL || (gradients != NULL && g == NULL)) status = HF_ERR_MEMORY;
    if (status >= 0) status = evaluate(ctx, &p, m, x, v, g);
    if (status >= 0) {
        memcpy(values, v, m * sizeof *values);
        if (gradients != NULL) memcpy(gradients, g, m * d * sizeof *gradients);
    }
    finish(ctx, &p);
    hfi_free(ctx, g);
    hfi_free(ctx, v);
    return status;
}

hf_status hf_acquire_evaluate(hf_context *ctx, const hf_acquire *acquire, size_t m, const double *x,
                              double *values, double *gradients)
{
    if (acquire == NULL || acquire->posterior == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the acquisition function, or the posterior of f, is NULL");
    if (values == NULL && m > 0) return hfi_fail(ctx, HF_ERR_ARGUMENT, "values is NULL");
    const size_t d = hf_posterior_dimension(acquire->posterior);
    hf_status status = check(ctx, acquire, d);
    if (status >= 0) status = hfi_posterior_check_rows(ctx, acquire->posterior, m, x, d);
    return status < 0 || m == 0 ? status : evaluate_aside(ctx, acquire, m, x, values, gradients);
}

/* ---- the largest ------------------------------------------------------------------------------------------------------------- */

/* Looking costs a product a point, climbing two solves a step, which wait for memory. */
static hf_search_settings usual_settings(double work, size_t d)
{
    hf_search_settings settings = hf_search_settings_default();
    const double samples = look_work / work,
                 starts = climb_work / (10.0 * (double)settings.iterations * work);
    if (samples < 256.0 * (double)(d < 16 ? d : 16))
        settings.samples = (size_t)fmax(samples, (double)FEW_SAMPLES);
    if (starts < (double)settings.starts) settings.starts = (size_t)fmax(starts, (double)FEW_STARTS);
    return settings;
}

static hf_status find(hf_context *ctx, prepared *p, const hf_domain *domain,
                      const hf_search_settings *settings, size_t guess_count, const double *guesses,
                      double *x, hf_maximiser *report)
{
    const hfi_surface surface = {.what = p->row->name,
                                 .of = p,
                                 .near = p->a->posterior,
                                 .work = work_of(p),
                                 .bottomless = p->row->logarithm,
                                 .many = many,
                                 .at = at};
    const hf_search_settings usual = usual_settings(surface.work, p->d);
    double *place = hfi_alloc(ctx, p->d, sizeof *place);
    hf_maximiser found = {.index = 0};
    hf_status status = place != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0)
        status = hfi_maximise_surface(ctx, &surface, domain, settings != NULL ? settings : &usual,
                                      guess_count, guesses, place, &found);
    if (status >= 0) status = at(p, p->d, place, &found.value, NULL);
    if (status >= 0) status = predict(p, 0, place, false, &found.mean, &found.sd);
    if (status >= 0) {
        memcpy(x, place, p->d * sizeof *x);
        if (report != NULL) *report = found;
    }
    hfi_free(ctx, place);
    return status;
}

hf_status hf_acquire_maximise(hf_context *ctx, const hf_acquire *acquire, const hf_domain *domain,
                              const hf_search_settings *settings, size_t guess_count, const double *guesses,
                              double *x, hf_maximiser *report)
{
    const double begin = hfi_now();
    prepared p = {.a = acquire};
    if (acquire == NULL) return hfi_fail(ctx, HF_ERR_ARGUMENT, "the acquisition function is NULL");
    hf_status status = hfi_maximise_check_call(ctx, domain, settings, guess_count, guesses, x);
    if (status >= 0) status = check(ctx, acquire, domain->dimension);
    if (status < 0) return status;
    status = prepare(ctx, acquire, domain->dimension, &p);
    if (status >= 0) status = find(ctx, &p, domain, settings, guess_count, guesses, x, report);
    if (status >= 0 && report != NULL) report->seconds = hfi_now() - begin;
    finish(ctx, &p);
    return status;
}
