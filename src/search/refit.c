/* SPDX-License-Identifier: Apache-2.0 */
/* Residuals that the readings have had no say in, not even by the hyperparameters. */
#include "linalg/linalg.h"
#include "search/trainer.h"
#include <math.h>
#include <string.h>

enum {
    FOLDS = 10,         /* of many readings; */
    LEAVE_ONE_OUT = 24, /* so few are left out one by one */
    FEW = 20,           /* readings for a trained parameter: with more, its vote hardly shows */
    FEWEST = 5,
    CLIMB =
        60, /* up to so many readings a fold is so much of what there is that one Newton step is not enough: */
    ITERATIONS = 10 /* then the trainer climbs */
};

/* Nats that such a climb may be short of its maximum: without a fold that moves by half a nat for each parameter. */
static const double enough = 0.2;

/* Added to the second derivatives, which are not negative and may be next to nothing: no step is longer for
 * it than a prior of sd 3 would let it be. */
static const double ridge = 0.1;

/* The longest step, in logarithms mostly: the quadratic model is not to be trusted further. */
static const double radius = 1.0;

bool hfi_refit_matters(const hfi_trainer *t)
{
    const size_t present = hf_sites_present(t->evaluator.sites);
    return t->curved && t->free_count > 0 && present >= FEWEST && present < FEW * t->free_count;
}

hf_status hfi_trainer_follow_mean(hfi_trainer *t, double *state)
{
    if (t->train_mean) return HF_OK;
    const size_t kernel_count = hf_kernel_parameters(t->evaluator.kernel);
    const size_t mean_count = hf_mean_coefficients(t->evaluator.mean);
    double *start = t->work;
    const hf_status s = hfi_trainer_cold(t, start);
    if (s >= 0) memcpy(state + kernel_count, start + kernel_count, mean_count * sizeof *state);
    return s;
}

/* fold[i]: which the reading is of, SIZE_MAX for absent ones; every fold has small readings and large ones.
 * Returns the folds' number, 0 without memory. */
static size_t deal(const hfi_evaluator *e, size_t *fold)
{
    const double *y = hf_sites_readings(e->sites);
    hfi_ranked *order = hfi_alloc(e->ctx, e->rows, sizeof *order);
    size_t count = 0;
    if (!order) return 0;
    for (size_t i = 0; i < e->rows; i++) {
        fold[i] = SIZE_MAX;
        if (hf_sites_is_present(e->sites, i)) order[count++] = (hfi_ranked){y[i], i};
    }
    hfi_sort_ranked(order, count);
    const size_t folds = count <= LEAVE_ONE_OUT ? count : FOLDS;
    for (size_t k = 0; k < count; k++) fold[order[k].index] = k % folds;
    hfi_free(e->ctx, order);
    return folds;
}

/* Makes a fold present or absent. */
static hf_status show(hfi_evaluator *e, const size_t *fold, size_t which, bool present)
{
    hf_status s = HF_OK;
    for (size_t i = 0; s >= 0 && i < e->rows; i++)
        if (fold[i] == which) s = hf_sites_set_present(e->ctx, e->sites, i, present);
    return s;
}

/* The maximum of objective + prior near `state` that a quadratic model shows: its second derivatives there,
 * factored. */
typedef struct model_at {
    const double *state;
    double *factor;   /* free_count x free_count */
    double *gradient; /* count */
    double *step;     /* free_count */
    double *own;      /* count: a state */
    bool climb;
} model_at;

/* At the state, with all readings. */
static hf_status factor_curvature(hfi_trainer *t, model_at *m)
{
    const size_t f = t->free_count;
    double value = 0.0, prior = 0.0;
    hf_status s = hfi_evaluator_select(&t->evaluator);
    if (s >= 0) s = hfi_trainer_evaluate(t, m->state, &value, &prior, m->gradient);
    if (s >= 0) s = hfi_trainer_free_curvature(t, m->state, m->factor);
    for (size_t j = 0; s >= 0 && j < f; j++) m->factor[j + j * f] += ridge;
    return s < 0 ? s : hfi_chol(t->evaluator.ctx, f, m->factor, f);
}

/* One Newton step of m->own for the readings that are present now. */
static hf_status step_by_newton(hfi_trainer *t, model_at *m)
{
    const size_t f = t->free_count;
    double value = 0.0, prior = 0.0, longest = 0.0;
    const hf_status s = hfi_trainer_evaluate(t, m->own, &value, &prior, m->gradient);
    if (s < 0) return s;
    for (size_t k = 0; k < f; k++) m->step[k] = m->gradient[t->free_index[k]];
    hfi_chol_solve(f, m->factor, f, m->step);
    for (size_t k = 0; k < f; k++) longest = fmax(longest, fabs(m->step[k]));
    const double share = longest > radius ? radius / longest : 1.0;
    for (size_t k = 0; k < f; k++) {
        const size_t i = t->free_index[k];
        m->own[i] = fmin(fmax(m->own[i] + share * m->step[k], t->lower[i]), t->upper[i]);
    }
    return hfi_trainer_set(t, m->own);
}

/* Without the fold: what hyperparameters that have not seen it say of its readings, into `r`. */
static hf_status predict_fold(hfi_trainer *t, model_at *m, const size_t *fold, size_t which,
                              hfi_holdout *scratch, hfi_holdout *r)
{
    hfi_evaluator *e = &t->evaluator;
    hf_status s = show(e, fold, which, false);
    memcpy(m->own, m->state, t->count * sizeof *m->own);
    if (s >= 0) s = hfi_trainer_follow_mean(t, m->own);
    if (s >= 0 && !m->climb) s = hfi_evaluator_select(e);
    if (s >= 0) s = m->climb ? hfi_trainer_maximise(t, m->own, ITERATIONS) : step_by_newton(t, m);
    if (s >= 0) s = hfi_holdout_absent(e, scratch);
    const bool solved = s >= 0;
    s = hfi_unless_none(s); /* its readings keep the residuals they have */
    for (size_t i = 0; solved && i < e->rows; i++) {
        if (fold[i] != which) continue;
        r->mean[i] = scratch->mean[i];
        r->sd[i] = scratch->sd[i];
        r->t[i] = scratch->t[i];
    }
    const hf_status back = show(e, fold, which, true);
    return s < 0 ? s : back;
}

static hf_status predict_folds(hfi_trainer *t, model_at *m, hfi_holdout *r)
{
    hfi_evaluator *e = &t->evaluator;
    size_t *fold = hfi_alloc(e->ctx, e->rows, sizeof *fold);
    hfi_holdout scratch;
    hf_status s = fold ? hfi_holdout_init(e->ctx, &scratch, e->rows) : HF_ERR_MEMORY;
    if (s >= 0) {
        const size_t folds = deal(e, fold);
        if (folds == 0) s = HF_ERR_MEMORY;
        for (size_t k = 0; s >= 0 && k < folds; k++) s = predict_fold(t, m, fold, k, &scratch, r);
        hfi_holdout_free(e->ctx, &scratch);
    }
    hfi_free(e->ctx, fold);
    return s < 0 ? s : HF_OK;
}

hf_status hfi_refit_residuals(hfi_trainer *t, const double *state, hfi_holdout *r)
{
    hf_context *ctx = t->evaluator.ctx;
    const size_t count = t->count, f = t->free_count;
    double *room = hfi_alloc(ctx, f * f + f + 2 * count, sizeof *room);
    if (!room) return HF_ERR_MEMORY;
    model_at m = {.state = state, .factor = room, .step = room + f * f};
    m.gradient = m.step + f;
    m.own = m.gradient + count;
    const hfi_optimum before = t->found;
    const double usual = t->enough;
    m.climb = hf_sites_present(t->evaluator.sites) <= CLIMB;
    t->enough = enough;
    hf_status s = hfi_evaluator_keep(&t->evaluator);
    if (s >= 0 && !m.climb) s = factor_curvature(t, &m);
    if (s >= 0) s = predict_folds(t, &m, r);
    s = hfi_unless_none(s); /* nothing bends there: all residuals stay */
    /* How training ended is told of the fit itself. */
    t->enough = usual;
    t->found = before;
    if (s >= 0) s = hfi_evaluator_select(&t->evaluator);
    if (s >= 0) s = hfi_trainer_set(t, state);
    hfi_free(ctx, room);
    return s;
}
