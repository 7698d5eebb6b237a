/* SPDX-License-Identifier: Apache-2.0 */
/* Hyperparameters and the variances of a support, found together. For each reading of the support the search moves
 *
 *     eta_i = log(1 + rho_i / v_i) >= 0,   v_i the reading's variance given all others at the start of the search,
 *
 * which is -log(1 - s_i) for the parameter s_i = rho_i / (v_i + rho_i) of the paper: given the others the
 * negative objective is convex in it, with curvature 1/2 at its minimum however far out the reading is. */
#include "checkpoint/journal.h"
#include "outliers/pursuit_impl.h"
#include <math.h>
#include <string.h>

/* exp(this) is far from overflowing when it is multiplied with any variance in use. */
static const double most_eta = 300.0;

/* Theta is the trainer's state, then eta of the support. */
typedef struct support_search {
    hfi_pursuit *p;
    size_t members;
    size_t *row;  /* of the support */
    double *unit; /* v of the support */
} support_search;

/* Slopes in rho into the gradient's entries of eta. A matrix of an evaluator holds d objective / d (K + D)
 * after a gradient. */
static hf_status find_slopes(const support_search *w, double *slope)
{
    hfi_pursuit *p = w->p;
    const hfi_evaluator *e = &p->trainer->evaluator;
    if (!e->a) {
        const hf_status s = hfi_pursuit_look(p);
        for (size_t q = 0; s >= 0 && q < w->members; q++)
            slope[q] = hfi_pursuit_slope(&p->outlook[w->row[q]], p->now.rho[w->row[q]]);
        return s;
    }
    size_t q = 0;
    for (size_t a = 0; a < e->n && q < w->members; a++)
        if (e->row[a] == w->row[q]) slope[q++] = e->a[a * (e->n + 1)];
    return HF_OK;
}

static hf_status pursuit_place(void *self, const double *theta)
{
    const support_search *w = self;
    hfi_pursuit *p = w->p;
    const size_t count = p->trainer->count;
    memcpy(p->now.state, theta, count * sizeof *theta);
    for (size_t q = 0; q < w->members; q++) p->now.rho[w->row[q]] = w->unit[q] * expm1(theta[count + q]);
    return hfi_pursuit_set(p, &p->now);
}

static hf_status pursuit_evaluate(void *self, const double *theta, double *value, double *gradient)
{
    const support_search *w = self;
    hfi_trainer *t = w->p->trainer;
    hf_status s = hfi_evaluator_run(&t->evaluator, HF_OBJECTIVE_EVIDENCE, value, gradient);
    if (!gradient) return s;
    double *slope = gradient + t->count;
    if (s >= 0 && w->members > 0) s = hfi_worse(find_slopes(w, slope), s);
    for (size_t q = 0; s >= 0 && q < w->members; q++)
        slope[q] = slope[q] * w->unit[q] * exp(theta[t->count + q]);
    /* Numbers that are not finite say as little about a place as what cannot be factored. */
    return hfi_judge_overflow(NULL, s);
}

static double pursuit_log_prior(void *self, const double *theta, double *gradient)
{
    const support_search *w = self;
    return hfi_trainer_add_prior(w->p->trainer, theta, gradient);
}

static const hfi_objective_kind of_pursuit = {
    .place = pursuit_place,
    .evaluate = pursuit_evaluate,
    .log_prior = pursuit_log_prior,
    .judge = hfi_judge_overflow,
    .nowhere = "the covariance of the readings cannot be factored at any hyperparameters tried"};

/* Variances of the support's readings given all others. */
static hf_status compute_units(void *arg, hfi_journal_entry *entry)
{
    const support_search *w = arg;
    const hf_status s = hfi_pursuit_look(w->p);
    for (size_t q = 0; s >= 0 && q < w->members; q++) entry->answer[q] = w->p->outlook[w->row[q]].variance;
    return s;
}

static hf_status find_units(support_search *w)
{
    hfi_pursuit *p = w->p;
    hfi_journal_entry entry = {
        .asked = p->trainer->count, .told = w->members, .key = p->now.state, .answer = w->unit};
    return w->members > 0 ? hfi_journal_answer(p->trainer->journal, &entry, compute_units, w) : HF_OK;
}

static hf_status run_support_search(support_search *w, hfi_wide_space *wide, size_t iterations)
{
    hfi_pursuit *p = w->p;
    hfi_trainer *t = p->trainer;
    const hfi_objective objective = {
        .kind = &of_pursuit, .self = w, .count = wide->space.count, .journal = t->journal};
    for (size_t q = 0; q < w->members; q++) {
        wide->lower[t->count + q] = 0.0;
        wide->upper[t->count + q] = most_eta;
        wide->theta[t->count + q] = log1p(p->now.rho[w->row[q]] / w->unit[q]);
    }
    const hf_status s =
        hfi_trainer_search(t, hfi_by_lbfgs, &objective, &wide->space, 0.0, iterations, wide->theta);
    if (s < 0) return s;
    p->now.found = t->found;
    return hfi_worse(pursuit_place(w, wide->theta), s);
}

hf_status hfi_pursuit_maximise(hfi_pursuit *p, size_t iterations)
{
    hfi_evaluator *e = &p->trainer->evaluator;
    support_search w = {.p = p};
    hfi_wide_space wide = {0};
    hf_status s = hfi_pursuit_set(p, &p->now);
    if (s < 0) return s;
    w.unit = hfi_alloc(e->ctx, p->now.size + 1, sizeof *w.unit);
    w.row = hfi_alloc(e->ctx, p->now.size + 1, sizeof *w.row);
    s = w.unit && w.row ? hfi_trainer_widen(p->trainer, p->now.state, p->now.size, &wide) : HF_ERR_MEMORY;
    for (size_t i = 0; s >= 0 && i < e->rows; i++)
        if (p->now.member[i]) w.row[w.members++] = i;
    if (s >= 0) s = find_units(&w);
    if (s >= 0) s = run_support_search(&w, &wide, iterations);
    HFI_FREE(e->ctx, w.unit, w.row);
    hfi_wide_space_free(e->ctx, &wide);
    return s;
}
