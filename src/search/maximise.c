/* SPDX-License-Identifier: Apache-2.0 */
/* One search: free entries into a point and back, the best so far, progress and cancellation. */
#include "search/maximise.h"
#include <math.h>
#include <string.h>

void hfi_search_enter(hfi_search_run *r)
{
    for (size_t k = 0; k < r->count; k++) r->point[k] = fmin(fmax(r->point[k], r->lower[k]), r->upper[k]);
}

static double projected_norm(const hfi_search_run *r, const double *point, const double *gradient)
{
    double norm = 0.0;
    for (size_t k = 0; k < r->count; k++) {
        if (point[k] <= r->lower[k] && gradient[k] < 0.0) continue;
        if (point[k] >= r->upper[k] && gradient[k] > 0.0) continue;
        norm = fmax(norm, fabs(gradient[k]));
    }
    return norm;
}

static double add_objective_prior(const hfi_objective *o, const double *theta, double *gradient)
{
    return o->kind->log_prior ? o->kind->log_prior(o->self, theta, gradient) : 0.0;
}

static hf_status progress(const hfi_search_run *r)
{
    const hfi_search_settings *how = r->settings;
    if (!how->stage || !how->evaluations) return HF_OK;
    const double done = fmin(0.99, (double)*how->evaluations / (double)how->budget);
    return hfi_progress(r->ctx, how->stage, done, r->best_total) ? HF_OK : hfi_cancelled(r->ctx);
}

static void remember_best_point(hfi_search_run *r, double total)
{
    if (r->any && !(total > r->best_total)) return;
    r->any = true;
    r->best = r->here;
    r->best_total = total;
    memcpy(r->best_theta, r->theta, r->space->count * sizeof *r->theta);
    if (r->objective->kind->accepted) r->objective->kind->accepted(r->objective->self, r->here.value);
}

hf_status hfi_search_look(hfi_search_run *r, const double *point, double *total, double *gradient)
{
    const hfi_objective *o = r->objective;
    for (size_t k = 0; k < r->count; k++) r->theta[hfi_space_index(r->space, k)] = point[k];
    hf_status s = hfi_objective_evaluate(r->ctx, o, r->theta, &r->here.value, r->slopes);
    if (r->settings->evaluations) ++*r->settings->evaluations;
    if (o->kind->judge) s = o->kind->judge(o->self, s);
    if (s < 0) return s;
    r->here.log_prior = add_objective_prior(o, r->theta, r->slopes);
    *total = r->here.value + r->here.log_prior;
    if (!isfinite(*total)) return HF_ERR_NOT_POSITIVE_DEFINITE;
    for (size_t k = 0; k < r->count; k++) gradient[k] = r->slopes[hfi_space_index(r->space, k)];
    r->here.gradient_norm = projected_norm(r, point, gradient);
    r->here.status = s;
    remember_best_point(r, *total);
    const hf_status told = progress(r);
    return told < 0 ? told : s;
}

void hfi_search_take_last(hfi_search_run *r)
{
    r->best = r->here;
    memcpy(r->best_theta, r->theta, r->space->count * sizeof *r->theta);
}

/* Nothing is free: the value at theta as it is. */
static hf_status evaluate_only(hf_context *ctx, const hfi_objective *o, const hfi_search_settings *how,
                               const double *theta, hfi_optimum *out)
{
    hfi_optimum here = {.stop = HF_STOP_NOT_TRAINED};
    here.status = hfi_objective_evaluate(ctx, o, theta, &here.value, NULL);
    if (how->evaluations) ++*how->evaluations;
    here.log_prior = add_objective_prior(o, theta, NULL);
    if (here.status < 0) return here.status;
    *out = here;
    return HF_OK;
}

static void begin_search_run(hfi_search_run *r, const double *theta, double *work)
{
    const size_t all = r->space->count;
    r->theta = work;
    r->slopes = work + all;
    r->best_theta = work + 2 * all;
    r->point = work + 3 * all;
    r->lower = r->point + r->count;
    r->upper = r->lower + r->count;
    memcpy(r->theta, theta, all * sizeof *theta);
    for (size_t k = 0; k < r->count; k++) {
        const size_t i = hfi_space_index(r->space, k);
        r->point[k] = theta[i];
        r->lower[k] = r->space->lower[i];
        r->upper[k] = r->space->upper[i];
    }
}

hf_status hfi_maximise(hf_context *ctx, const hfi_objective *objective, const hfi_space *space,
                       const hfi_search_settings *settings, double *theta, hfi_optimum *out)
{
    if (space->free_count == 0) return evaluate_only(ctx, objective, settings, theta, out);
    hfi_search_run r = {
        .ctx = ctx, .objective = objective, .space = space, .settings = settings, .count = space->free_count};
    double *work = hfi_alloc(ctx, space->count + space->free_count, 3 * sizeof *work);
    if (!work) return HF_ERR_MEMORY;
    begin_search_run(&r, theta, work);
    hf_status s = settings->by(&r);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE && !r.any && objective->kind->nowhere)
        s = hfi_fail(ctx, s, "%s", objective->kind->nowhere);
    if (s >= 0) {
        memcpy(theta, r.best_theta, space->count * sizeof *theta);
        *out = r.best;
    }
    hfi_free(ctx, work);
    return s < 0 ? s : HF_OK;
}
