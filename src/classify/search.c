/* SPDX-License-Identifier: Apache-2.0 */
/* The search for hyperparameters, from one start and others around it. */
#include "classify/search.h"
#include "search/box_search.h"
#include <math.h>
#include <string.h>

typedef struct run {
    const hfi_class_search *how;
    double *state, *gradient; /* full ones of the point being evaluated */
    double value, prior;
    double *best; /* full state */
    double best_value, best_prior;
} run;

static hf_status evaluate(void *arg, const double *point, double *total, double *gradient)
{
    run *r = arg;
    hfi_trainer *t = r->how->trainer;
    for (size_t k = 0; k < t->free_count; k++) r->state[t->free_index[k]] = point[k];
    hf_status s = hfi_trainer_set(t, r->state);
    if (s < 0) return s;
    memset(r->gradient, 0, t->count * sizeof *r->gradient);
    s = r->how->evaluate(r->how->arg, &r->value, r->gradient);
    t->evaluations++;
    if (s < 0) return s;
    r->prior = hfi_trainer_add_prior(t, r->state, r->gradient);
    for (size_t k = 0; k < t->free_count; k++) gradient[k] = r->gradient[t->free_index[k]];
    *total = r->value + r->prior;
    const double done = fmin(0.99, (double)t->evaluations / (double)(t->budget ? t->budget : 1));
    return hfi_progress(t->evaluator.ctx, "train", done, *total) ? s : hfi_cancelled(t->evaluator.ctx);
}

static void improved(void *arg)
{
    run *r = arg;
    r->best_value = r->value;
    r->best_prior = r->prior;
    memcpy(r->best, r->state, r->how->trainer->count * sizeof *r->best);
    r->how->improved(r->how->arg);
}

static hf_status climb(run *r, double *point, double *lower, double *upper, size_t iterations)
{
    hfi_trainer *t = r->how->trainer;
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        lower[k] = t->lower[i];
        upper[k] = t->upper[i];
        point[k] = r->state[i];
    }
    hfi_box_search box = {.ctx = t->evaluator.ctx,
                          .count = t->free_count,
                          .lower = lower,
                          .upper = upper,
                          .most = iterations + iterations / 2 + 5,
                          .enough = t->enough,
                          .evaluate = evaluate,
                          .improved = improved,
                          .arg = r};
    const hf_status s = hfi_box_maximise(&box, point);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE)
        return hfi_fail(t->evaluator.ctx, s,
                        "no normal approximation of the posterior was found at any hyperparameters tried");
    if (s < 0) return s;
    t->stop = box.stop;
    t->gradient_norm = box.gradient_norm;
    return HF_OK;
}

/* From `state`; *total receives the best value with priors. */
static hf_status maximise(const hfi_class_search *how, double *state, size_t iterations, double *total)
{
    hfi_trainer *t = how->trainer;
    double *work = hfi_alloc(t->evaluator.ctx, t->count, 6 * sizeof *work);
    if (!work) return HF_ERR_MEMORY;
    run r = {.how = how, .state = work, .gradient = work + t->count, .best = work + 2 * t->count};
    memcpy(r.state, state, t->count * sizeof *state);
    const hf_status s = climb(&r, work + 3 * t->count, work + 4 * t->count, work + 5 * t->count, iterations);
    if (s >= 0) {
        memcpy(state, r.best, t->count * sizeof *state);
        t->log_prior = r.best_prior;
        *total = r.best_value + r.best_prior;
    }
    hfi_free(t->evaluator.ctx, work);
    return s;
}

static hf_status restart(const hfi_class_search *how, double *state, size_t iterations, size_t restarts)
{
    hfi_trainer *t = how->trainer;
    double *start = hfi_alloc(t->evaluator.ctx, t->count, 2 * sizeof *start), best = 0.0, total = 0.0;
    if (!start) return HF_ERR_MEMORY;
    double *trial = start + t->count;
    memcpy(start, state, t->count * sizeof *state);
    hf_status s = maximise(how, state, iterations, &best);
    hf_stop stop = t->stop;
    double norm = t->gradient_norm, log_prior = t->log_prior;
    for (size_t k = 1; s >= 0 && k <= restarts; k++) {
        memcpy(trial, start, t->count * sizeof *trial);
        hfi_trainer_scatter(t, k, trial);
        s = maximise(how, trial, iterations, &total);
        if (s < 0 || total <= best) continue;
        best = total;
        stop = t->stop;
        norm = t->gradient_norm;
        log_prior = t->log_prior;
        memcpy(state, trial, t->count * sizeof *state);
    }
    t->stop = stop;
    t->gradient_norm = norm;
    t->log_prior = log_prior;
    hfi_free(t->evaluator.ctx, start);
    return s;
}

hf_status hfi_class_train(const hfi_class_search *how, double *state, size_t iterations, size_t restarts)
{
    hfi_trainer *t = how->trainer;
    hf_status s = HF_OK;
    t->stop = HF_STOP_NOT_TRAINED;
    t->gradient_norm = 0.0;
    t->log_prior = hfi_trainer_log_prior(t, state);
    if (t->free_count > 0) s = restart(how, state, iterations, restarts);
    if (s >= 0) s = hfi_trainer_set(t, state);
    t->evaluations++;
    return s < 0 ? s : how->evaluate(how->arg, &t->value, NULL);
}
