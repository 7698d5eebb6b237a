/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where stochastic steps start. Adam on noisy gradients is slow along the long flat ridges of a bound, which L-BFGS on the exact
 * bound of a share of the rows crosses in a few dozen evaluations; what is left for the steps is what the other rows have to say.
 */
#include "train/svgp_impl.h"
#include <math.h>
#include <string.h>

enum {
    SHARE = 8192,
    SHARE_INDUCING = 256,
    ROUNDS = 3 /* re-weightings of robust noise, which goes on being re-weighted later */
};

typedef struct warm {
    size_t n;
    double *x, *y, *extra;
    hf_sites *sites;
    hfi_trainer trainer; /* the space's arrays, an evaluator of its own */
    size_t *free_index;
    double *state;
} warm;

/* The space without coordinates of inducing inputs, which stay. */
static hf_status borrow_space(const hfi_svgp_run *run, warm *w)
{
    const hfi_trainer *space = run->space;
    hf_context *ctx = run->q->ctx;
    w->free_index = hfi_alloc(ctx, space->count, sizeof *w->free_index);
    w->state = hfi_alloc(ctx, space->count, 7 * sizeof *w->state);
    if (!w->free_index || !w->state) return HF_ERR_MEMORY;
    w->trainer = *space;
    w->trainer.evaluator = (hfi_evaluator){0};
    w->trainer.count = space->noise + 1;
    w->trainer.work = w->state + space->count;
    w->trainer.free_index = w->free_index;
    w->trainer.free_count = 0;
    for (size_t k = 0; k < space->free_count; k++)
        if (space->free_index[k] <= space->noise)
            w->free_index[w->trainer.free_count++] = space->free_index[k];
    w->trainer.comparable = w->x;
    w->trainer.objective = HF_OBJECTIVE_EVIDENCE;
    w->trainer.optimiser = HF_OPTIMISER_LBFGS;
    w->trainer.evaluations = 0;
    w->trainer.journal = NULL;
    return HF_OK;
}

static hf_status make_evaluator(const hfi_svgp_run *run, warm *w)
{
    hfi_svgp *q = run->q;
    hfi_evaluator *e = &w->trainer.evaluator;
    const size_t m = q->m < SHARE_INDUCING ? q->m : SHARE_INDUCING;
    hfi_inducing inducing;
    hf_status s = hfi_inducing_init(q->ctx, HF_INDUCING_VFE, m, q->d, q->z, q->d, &inducing);
    if (s < 0) return s;
    s = hfi_evaluator_init_inducing(q->ctx, e, w->n, q->d, w->x, q->d, &inducing);
    if (s < 0) {
        hfi_inducing_free(&inducing);
        return s;
    }
    e->kernel = q->kernel;
    e->mean = q->mean;
    e->sites = w->sites;
    return HF_OK;
}

static hf_status take_share(const hfi_svgp_run *run, warm *w)
{
    hf_context *ctx = run->q->ctx;
    const size_t wanted = run->rows->n < SHARE ? run->rows->n : SHARE;
    w->x = hfi_alloc(ctx, wanted, run->q->d * sizeof(double));
    w->y = hfi_alloc(ctx, wanted, 2 * sizeof(double));
    if (!w->x || !w->y) return HF_ERR_MEMORY;
    w->extra = w->y + wanted;
    const hf_status s = hfi_rows_sample(ctx, run->rows, wanted, 1, w->x, w->y, w->extra, &w->n);
    if (s < 0) return s;
    return hf_sites_gaussian(ctx, w->n, w->y, run->q->noise.noise, w->extra, &w->sites);
}

static hf_status climb(hfi_svgp_run *run, warm *w)
{
    hfi_trainer *t = &w->trainer;
    hf_fit_settings settings = *run->settings;
    hfi_trainer_get(t, w->state);
    if (settings.sites == HF_SITES_GAUSSIAN) return hfi_trainer_maximise(t, w->state, settings.iterations);
    size_t rounds = 0;
    hf_status s = hfi_evaluator_select(&t->evaluator);
    if (settings.sites == HF_SITES_STUDENT_T) settings.threshold_rule = HF_THRESHOLD_MAD;
    if (settings.rounds > ROUNDS) settings.rounds = ROUNDS;
    if (s >= 0) s = hfi_robust_reweight(t, &settings, run->threshold, w->state, &rounds);
    return s;
}

hf_status hfi_svgp_warm_start(hfi_svgp_run *run)
{
    hf_context *ctx = run->q->ctx;
    warm w = {0};
    hf_status s = take_share(run, &w);
    if (s >= 0 && hf_sites_present(w.sites) > 0) {
        s = borrow_space(run, &w);
        if (s >= 0) s = make_evaluator(run, &w);
        if (s >= 0) s = climb(run, &w);
        if (s >= 0) s = hfi_trainer_set(&w.trainer, w.state);
        if (s >= 0) run->q->noise.noise = exp(w.state[run->space->noise]);
        if (s >= 0) s = hfi_svgp_prior(run->q);
        if (w.trainer.evaluator.ctx) hfi_evaluator_free(&w.trainer.evaluator);
    }
    hf_sites_free(w.sites);
    hfi_free(ctx, w.free_index);
    hfi_free(ctx, w.state);
    hfi_free(ctx, w.x);
    hfi_free(ctx, w.y);
    return s;
}
