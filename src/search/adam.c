/* SPDX-License-Identifier: Apache-2.0 */
/* Adam on the full objective, for results that were published with it. */
#include "search/trainer.h"
#include <math.h>
#include <string.h>

static const double decay_mean = 0.9, decay_square = 0.999, epsilon = 1e-8;

/* The run: the point, its gradient and the two moments, over all parameters of a state. */
typedef struct run {
    hfi_trainer *trainer;
    double *trial, *gradient, *first, *second;
    double rate;
} run;

static void step(const run *r, const double *state, size_t count)
{
    const hfi_trainer *t = r->trainer;
    const double by_mean = 1.0 - pow(decay_mean, (double)count);
    const double by_square = 1.0 - pow(decay_square, (double)count);
    memcpy(r->trial, state, t->count * sizeof *state);
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        const double move = r->first[i] / by_mean / (sqrt(r->second[i] / by_square) + epsilon);
        r->trial[i] = fmin(fmax(state[i] + r->rate * move, t->lower[i]), t->upper[i]);
    }
}

static void remember(const run *r)
{
    const hfi_trainer *t = r->trainer;
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        const double g = r->gradient[i];
        r->first[i] = decay_mean * r->first[i] + (1.0 - decay_mean) * g;
        r->second[i] = decay_square * r->second[i] + (1.0 - decay_square) * g * g;
    }
}

/* The objective at `state` into the trainer's report. */
static hf_status look(run *r, const double *state)
{
    hfi_trainer *t = r->trainer;
    double value = 0.0, prior = 0.0;
    hf_status s = hfi_trainer_evaluate(t, state, &value, &prior, r->gradient);
    if (s >= 0 && !isfinite(value)) s = HF_ERR_NOT_POSITIVE_DEFINITE;
    if (s < 0) return s;
    t->value = value;
    t->log_prior = prior;
    t->gradient_norm = hfi_trainer_projected_norm(t, state, r->gradient);
    const double done = fmin(0.99, (double)t->evaluations / (double)t->budget);
    return hfi_progress(t->evaluator.ctx, "train", done, value + prior) ? s : hfi_cancelled(t->evaluator.ctx);
}

static hf_status climb(run *r, double *state, size_t steps)
{
    hfi_trainer *t = r->trainer;
    hf_status s = look(r, state);
    for (size_t k = 1; s >= 0 && k <= steps; k++) {
        remember(r);
        step(r, state, k);
        s = look(r, r->trial);
        for (int halvings = 0; s == HF_ERR_NOT_POSITIVE_DEFINITE && halvings < 20; halvings++) {
            r->rate *= 0.5;
            step(r, state, k);
            s = look(r, r->trial);
        }
        if (s >= 0) memcpy(state, r->trial, t->count * sizeof *state);
    }
    return s;
}

hf_status hfi_trainer_adam(hfi_trainer *t, double *state, size_t steps)
{
    hf_context *ctx = t->evaluator.ctx;
    double *work = hfi_alloc(ctx, t->count, 4 * sizeof *work);
    if (!work) return HF_ERR_MEMORY;
    run r = {.trainer = t,
             .trial = work,
             .gradient = work + t->count,
             .first = work + 2 * t->count,
             .second = work + 3 * t->count,
             .rate = t->learning_rate};
    hf_status s = climb(&r, state, steps);
    t->stop = HF_STOP_ITERATIONS;
    hfi_free(ctx, work);
    return s;
}
