/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where stochastic steps start. Adam on noisy gradients is slow along the long flat ridges of a bound. L-BFGS
 * on the exact bound of a share of the rows crosses them in a few dozen evaluations; what is left for the
 * steps is what the other rows have to say. Inducing inputs are placed anew for what has been learnt: before
 * that, nobody could know which inputs matter.
 */
#include "outliers/outliers.h"
#include "svgp/impl.h"
#include <math.h>
#include <string.h>

/* Cold on few rows, then on more of them. */
typedef struct warm_stage {
    size_t rows, inducing;
    size_t iterations, rounds; /* of L-BFGS; of re-weighting, which goes on later */
} warm_stage;

static const warm_stage stages[] = {{4096, 128, SIZE_MAX, 3}, {16384, 512, 25, 2}};

enum {
    STAGES = sizeof stages / sizeof stages[0]
};

typedef struct warm {
    size_t n;
    double *x, *y, *extra;
    double *z; /* room for all inducing inputs */
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
    if (HFI_ALLOC(ctx, HFI_ROOM(w->free_index, space->count), HFI_ROOMS(w->state, space->count, 7)) < 0)
        return HF_ERR_MEMORY;
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
    return HF_OK;
}

/* Places up to m inducing inputs among the share's rows for the present kernel; *chosen of them are distinct. */
static hf_status place_inducing_inputs(const hfi_svgp_run *run, warm *w, size_t m, size_t *chosen)
{
    return hf_choose_inducing(run->q->ctx, run->q->kernel, run->settings->inducing_choice, w->n, w->x,
                              run->q->d, m, w->z, chosen);
}

static hf_status make_evaluator(const hfi_svgp_run *run, warm *w, size_t wanted)
{
    hfi_svgp *q = run->q;
    hfi_evaluator *e = &w->trainer.evaluator;
    hfi_inducing inducing;
    size_t m = 0;
    hf_status s = place_inducing_inputs(run, w, hfi_smaller(wanted, hfi_smaller(q->m, w->n)), &m);
    if (s >= 0) s = hfi_inducing_init(q->ctx, HF_INDUCING_VFE, m, q->d, w->z, q->d, &inducing);
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

static hf_status take_share(const hfi_svgp_run *run, size_t rows, uint64_t index, warm *w)
{
    hf_context *ctx = run->q->ctx;
    const size_t d = run->q->d, wanted = hfi_smaller(run->rows->n, rows);
    if (HFI_ALLOC(ctx, HFI_ROOMS(w->x, wanted, d), HFI_ROOMS(w->y, wanted, 2),
                  HFI_ROOMS(w->z, run->q->m, d)) < 0)
        return HF_ERR_MEMORY;
    w->extra = w->y + wanted;
    size_t count = 0;
    const hf_status s = hfi_row_source_sample(ctx, run->rows, wanted, index, w->x, w->y, w->extra, &count);
    if (s < 0) return s;
    for (size_t i = 0; i < count; i++) {
        if (isnan(w->y[i])) continue;
        memmove(w->x + w->n * d, w->x + i * d, d * sizeof *w->x);
        w->y[w->n] = w->y[i];
        w->extra[w->n++] = w->extra[i];
    }
    return hf_sites_gaussian(ctx, w->n, w->y, run->q->noise.noise, w->extra, &w->sites);
}

static hf_status climb_warm_stage(hfi_svgp_run *run, const warm_stage *at, warm *w)
{
    hfi_trainer *t = &w->trainer;
    hf_fit_settings settings = *run->settings;
    hfi_trainer_get(t, w->state);
    settings.iterations = hfi_smaller(settings.iterations, at->iterations);
    const hfi_svgp_kind *kind = run->q->noise.kind;
    if (hfi_svgp_is_plain(kind)) return hfi_trainer_maximise(t, w->state, settings.iterations);
    hfi_reweighting done;
    hf_status s = hfi_evaluator_select(&t->evaluator);
    if (kind->approach) settings.threshold_rule = HF_THRESHOLD_MAD;
    settings.rounds = settings.rounds > 0 ? hfi_smaller(settings.rounds, at->rounds) : at->rounds;
    if (s >= 0) s = hfi_robust_reweight(t, &settings, run->threshold, w->state, &done);
    return s;
}

/* After the last stage the fit's own inducing inputs. Rows that repeat may leave fewer places than there are
 * inputs: then those stay. */
static hf_status replace_inputs(hfi_svgp_run *run, warm *w)
{
    hfi_svgp *q = run->q;
    size_t chosen = 0;
    if (w->n < q->m) return HF_OK;
    const hf_status s = place_inducing_inputs(run, w, q->m, &chosen);
    if (s >= 0 && chosen == q->m) memcpy(q->z, w->z, q->m * q->d * sizeof *q->z);
    return s;
}

static void warm_free(hf_context *ctx, warm *w)
{
    if (w->trainer.evaluator.ctx) hfi_evaluator_free(&w->trainer.evaluator);
    hf_sites_free(w->sites);
    HFI_FREE(ctx, w->free_index, w->state, w->x, w->y, w->z);
}

static hf_status go_through(hfi_svgp_run *run, size_t k)
{
    hfi_svgp *q = run->q;
    warm w = {0};
    hf_status s = take_share(run, stages[k].rows, 1 + k, &w);
    if (s >= 0 && w.n > 0) {
        s = borrow_space(run, &w);
        if (s >= 0) s = make_evaluator(run, &w, stages[k].inducing);
        if (s >= 0) s = climb_warm_stage(run, &stages[k], &w);
        if (s >= 0) s = hfi_trainer_set(&w.trainer, w.state);
        if (s >= 0) q->noise.noise = exp(w.state[run->space->noise]);
        if (s >= 0 && k + 1 == STAGES) s = replace_inputs(run, &w);
    }
    warm_free(q->ctx, &w);
    return s;
}

hf_status hfi_svgp_warm_start(hfi_svgp_run *run)
{
    hf_status s = HF_OK;
    for (size_t k = 0; s >= 0 && k < STAGES; k++)
        /* A table no larger than a stage is looked at once, by the last one. */
        if (k + 1 == STAGES || run->rows->n > stages[k].rows) s = go_through(run, k);
    return s < 0 ? s : hfi_svgp_prior(run->q);
}
