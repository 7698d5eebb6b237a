/* SPDX-License-Identifier: Apache-2.0 */
/* The trainer's maximisation where second derivatives are to be had. */
#include "checkpoint/journal.h"
#include "search/trainer.h"
#include "search/trust_search.h"
#include <math.h>
#include <string.h>

typedef struct run {
    hfi_trainer *trainer;
    double *state, *gradient; /* count each */
    double *matrix;           /* count x count */
    double best;              /* objective + prior so far; -infinity: none yet */
} run;

static hf_status evaluate(void *arg, const double *point, double *value, double *gradient)
{
    run *r = arg;
    hfi_trainer *t = r->trainer;
    double prior = 0.0;
    for (size_t k = 0; k < t->free_count; k++) r->state[t->free_index[k]] = point[k];
    const hf_status s = hfi_trainer_evaluate(t, r->state, value, &prior, r->gradient);
    if (s < 0) return s;
    *value += prior;
    for (size_t k = 0; k < t->free_count; k++) gradient[k] = r->gradient[t->free_index[k]];
    if (isfinite(*value)) r->best = fmax(r->best, *value);
    const double done = fmin(0.99, (double)t->evaluations / (double)t->budget);
    return hfi_progress(t->evaluator.ctx, "train", done, r->best) ? s : HF_ERR_CANCELLED;
}

hf_status hfi_trainer_free_bend(hfi_trainer *t, const double *state, double *work, double *out)
{
    const size_t count = t->free_count;
    const hf_status s = hfi_trainer_curvature(t, state, work);
    for (size_t j = 0; s >= 0 && j < count; j++) {
        const size_t b = t->free_index[j];
        for (size_t i = 0; i < count; i++) out[i + j * count] = work[t->free_index[i] + b * t->count];
        if (isfinite(t->prior_sd[b])) out[j + j * count] += 1.0 / (t->prior_sd[b] * t->prior_sd[b]);
    }
    return s;
}

static hf_status curvature(void *arg, double *matrix)
{
    run *r = arg;
    return hfi_trainer_free_bend(r->trainer, r->state, r->matrix, matrix);
}

static hf_status climb(run *r, double *state, size_t iterations)
{
    hfi_trainer *t = r->trainer;
    double *point = t->work + 3 * t->count, *lower = point + t->count, *upper = lower + t->count;
    memcpy(r->state, state, t->count * sizeof *state);
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        lower[k] = t->lower[i];
        upper[k] = t->upper[i];
        point[k] = state[i];
    }
    hfi_trust_search search = {.ctx = t->evaluator.ctx,
                               .count = t->free_count,
                               .lower = lower,
                               .upper = upper,
                               .most = iterations + iterations / 2 + 5,
                               .enough = t->enough,
                               .evaluate = evaluate,
                               .curvature = curvature,
                               .arg = r};
    const hf_status s = hfi_trust_maximise(&search, point);
    if (s < 0) return s;
    for (size_t k = 0; k < t->free_count; k++) state[t->free_index[k]] = point[k];
    t->stop = search.stop;
    t->log_prior = hfi_trainer_log_prior(t, state);
    t->value = search.value - t->log_prior;
    t->gradient_norm = search.gradient_norm;
    return search.status;
}

/* Second derivatives of all pairs of hyperparameters, here and twice in the search: nothing beside
 * the readings, until a kernel has a lengthscale for each of many inputs. */
static hf_status require_memory(const hfi_trainer *t)
{
    const double gigabyte = 1e9, p = (double)t->count, m = (double)t->free_count;
    const double bytes = (double)sizeof(double) * (p * p + 2.0 * m * m);
    size_t available;
    if (hfi_memory_has(bytes, &available)) return HF_OK;
    return hfi_fail(
        t->evaluator.ctx, HF_ERR_TOO_LARGE,
        "training %zu hyperparameters needs %.4g GB of memory for their second derivatives, %.4g GB "
        "are available; a kernel with one lengthscale for all %zu inputs has few of them: \"se\" "
        "(-k se) in place of \"se(ard)\"",
        t->free_count, bytes / gigabyte, (double)available / gigabyte, t->evaluator.d);
}

hf_status hfi_trainer_climb_curved(hfi_trainer *t, double *state, size_t iterations)
{
    hf_context *ctx = t->evaluator.ctx;
    run r = {.trainer = t, .state = t->work, .gradient = t->work + t->count, .best = -INFINITY};
    const hf_status fits = require_memory(t);
    if (fits < 0) return fits;
    r.matrix = hfi_alloc(ctx, t->count, t->count * sizeof *r.matrix);
    if (!r.matrix) return HF_ERR_MEMORY;
    const hf_status s = climb(&r, state, iterations);
    hfi_free(ctx, r.matrix);
    if (s == HF_ERR_CANCELLED) return hfi_cancelled(ctx);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE)
        return hfi_fail(ctx, s,
                        "the covariance of the readings cannot be factored at any hyperparameters tried");
    if (s < 0) return s;
    const hf_status set = hfi_trainer_set(t, state);
    return set < 0 ? set : s;
}
