/* SPDX-License-Identifier: Apache-2.0 */
/* Hyperparameters and the variances of a support, found together. For each reading of the support the search moves
 *
 *     eta_i = log(1 + rho_i / v_i) >= 0,   v_i the reading's variance given all others at the start of the search,
 *
 * which is -log(1 - s_i) for the parameter s_i = rho_i / (v_i + rho_i) of the paper: given the others the negative objective is convex in
 * it, with curvature 1/2 at its minimum however far out the reading is. */
#include "checkpoint/journal.h"
#include "outliers/pursuit_impl.h"
#include "search/box_search.h"
#include <math.h>
#include <string.h>

/* exp(this) is far from overflowing when it is multiplied with any variance in use. */
static const double most_eta = 300.0;

typedef struct joint {
    hfi_pursuit *p;
    size_t members;
    size_t *row;      /* of the support */
    double *unit;     /* v of the support */
    double *gradient; /* in the whole state */
    double *slope;    /* d objective / d rho of the support */
    double value, log_prior;
    double *best_state, *best_rho;
    double best_value, best_log_prior;
} joint;

/* Slopes in rho. The exact evaluator's matrix holds d objective / d (K + D) after a gradient. */
static hf_status find_slopes(joint *w)
{
    hfi_pursuit *p = w->p;
    const hfi_evaluator *e = &p->trainer->evaluator;
    if (e->inducing) {
        const hf_status s = hfi_pursuit_look(p);
        for (size_t q = 0; s >= 0 && q < w->members; q++)
            w->slope[q] = hfi_pursuit_slope(&p->outlook[w->row[q]], p->now.rho[w->row[q]]);
        return s;
    }
    size_t q = 0;
    for (size_t a = 0; a < e->n && q < w->members; a++)
        if (e->row[a] == w->row[q]) w->slope[q++] = e->a[a * (e->n + 1)];
    return HF_OK;
}

/* Objective, and the gradient of objective + prior in the point, at the model in place. */
static hf_status compute(joint *w, const double *point, double *gradient)
{
    hfi_pursuit *p = w->p;
    const hfi_trainer *t = p->trainer;
    const size_t count = t->free_count;
    hf_status s = hfi_evaluator_run(&p->trainer->evaluator, HF_OBJECTIVE_EVIDENCE, &w->value, w->gradient);
    if (s >= 0 && w->members > 0) s = hfi_worse(find_slopes(w), s);
    /* Numbers that are not finite say as little about a place as what cannot be factored. */
    if (s < 0) return s == HF_ERR_NOT_FINITE ? HF_ERR_NOT_POSITIVE_DEFINITE : s;
    hfi_trainer_add_prior(t, p->now.state, w->gradient);
    for (size_t k = 0; k < count; k++) gradient[k] = w->gradient[t->free_index[k]];
    for (size_t q = 0; q < w->members; q++)
        gradient[count + q] = w->slope[q] * w->unit[q] * exp(point[count + q]);
    return s;
}

/* That from the journal as long as it lasts. */
static hf_status ask(joint *w, const double *point, double *gradient)
{
    struct hfi_journal *journal = w->p->trainer->journal;
    const size_t size = w->p->trainer->free_count + w->members;
    bool found = false;
    hf_status answer = HF_OK;
    if (!journal) return compute(w, point, gradient);
    hf_status s = hfi_journal_take(journal, size, point, &found, &w->value, gradient, &answer);
    if (s < 0 || found) return s < 0 ? s : answer;
    s = compute(w, point, gradient);
    hfi_journal_append(journal, size, point, w->value, gradient, s);
    return s;
}

static hf_status evaluate(void *arg, const double *point, double *total, double *gradient)
{
    joint *w = arg;
    hfi_pursuit *p = w->p;
    hfi_trainer *t = p->trainer;
    const size_t count = t->free_count;
    for (size_t k = 0; k < count; k++) p->now.state[t->free_index[k]] = point[k];
    for (size_t q = 0; q < w->members; q++) p->now.rho[w->row[q]] = w->unit[q] * expm1(point[count + q]);
    hf_status s = hfi_pursuit_set(p, &p->now);
    if (s >= 0) s = ask(w, point, gradient);
    t->evaluations++;
    if (s < 0) return s;
    w->log_prior = hfi_trainer_log_prior(t, p->now.state);
    *total = w->value + w->log_prior;
    const double done = fmin(0.99, (double)t->evaluations / (double)(t->budget ? t->budget : 1));
    return hfi_progress(t->evaluator.ctx, "train", done, *total) ? s : hfi_cancelled(t->evaluator.ctx);
}

static void improved(void *arg)
{
    joint *w = arg;
    hfi_pursuit *p = w->p;
    w->best_value = w->value;
    w->best_log_prior = w->log_prior;
    memcpy(w->best_state, p->now.state, p->trainer->count * sizeof *w->best_state);
    for (size_t q = 0; q < w->members; q++) w->best_rho[q] = p->now.rho[w->row[q]];
}

/* Variances of the support's readings given all others, from the journal as long as it lasts. */
static hf_status find_units(joint *w)
{
    hfi_pursuit *p = w->p;
    hfi_trainer *t = p->trainer;
    hfi_journal_entry entry = {
        .asked = t->count, .told = w->members, .question = p->now.state, .answer = w->unit};
    bool found = false;
    hf_status s = t->journal ? hfi_journal_recall(t->journal, &entry, &found) : HF_OK;
    if (s < 0 || found) return s < 0 ? s : entry.status;
    s = hfi_pursuit_look(p);
    for (size_t q = 0; s >= 0 && q < w->members; q++) w->unit[q] = p->outlook[w->row[q]].variance;
    entry.status = s;
    if (t->journal && s >= 0) hfi_journal_keep(t->journal, &entry);
    return s;
}

/* Box and start of a point: the trainer's free parameters, then eta. */
static void place(joint *w, double *point, double *lower, double *upper)
{
    const hfi_trainer *t = w->p->trainer;
    const size_t count = t->free_count;
    for (size_t k = 0; k < count; k++) {
        const size_t i = t->free_index[k];
        lower[k] = t->lower[i];
        upper[k] = t->upper[i];
        point[k] = w->p->now.state[i];
    }
    for (size_t q = 0; q < w->members; q++) {
        lower[count + q] = 0.0;
        upper[count + q] = most_eta;
        point[count + q] = log1p(w->p->now.rho[w->row[q]] / w->unit[q]);
    }
}

/* Nothing to search for: the objective as it is. */
static hf_status evaluate_only(hfi_pursuit *p)
{
    hfi_trainer *t = p->trainer;
    const hf_status s = hfi_evaluator_run(&t->evaluator, HF_OBJECTIVE_EVIDENCE, &p->now.value, NULL);
    t->evaluations++;
    p->now.log_prior = hfi_trainer_log_prior(t, p->now.state);
    p->now.stop = HF_STOP_NOT_TRAINED;
    p->now.gradient_norm = 0.0;
    return s;
}

static hf_status run(joint *w, double *numbers, size_t size, size_t iterations)
{
    hfi_pursuit *p = w->p;
    hfi_box_search box = {.ctx = p->trainer->evaluator.ctx,
                          .count = size,
                          .lower = numbers + size,
                          .upper = numbers + 2 * size,
                          .most = iterations + iterations / 2 + 5,
                          .evaluate = evaluate,
                          .improved = improved,
                          .arg = w};
    place(w, numbers, numbers + size, numbers + 2 * size);
    const hf_status s = hfi_box_maximise(&box, numbers);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE)
        return hfi_fail(p->trainer->evaluator.ctx, s,
                        "the covariance of the readings cannot be factored at any hyperparameters tried");
    if (s < 0) return s;
    memcpy(p->now.state, w->best_state, p->trainer->count * sizeof *p->now.state);
    for (size_t q = 0; q < w->members; q++) p->now.rho[w->row[q]] = w->best_rho[q];
    p->now.value = w->best_value;
    p->now.log_prior = w->best_log_prior;
    p->now.stop = box.stop;
    p->now.gradient_norm = box.gradient_norm;
    return hfi_worse(hfi_pursuit_set(p, &p->now), box.status);
}

hf_status hfi_pursuit_maximise(hfi_pursuit *p, size_t iterations)
{
    hfi_trainer *t = p->trainer;
    hfi_evaluator *e = &t->evaluator;
    const size_t size = t->free_count + p->now.size;
    hf_status s = hfi_pursuit_set(p, &p->now);
    if (s >= 0 && size == 0) return evaluate_only(p);
    if (s < 0) return s;
    double *numbers = hfi_alloc(e->ctx, 3 * size + 3 * p->now.size + 2 * t->count, sizeof *numbers);
    size_t *row = hfi_alloc(e->ctx, p->now.size, sizeof *row);
    if (numbers && row) {
        joint w = {.p = p, .row = row, .unit = numbers + 3 * size};
        w.slope = w.unit + p->now.size;
        w.best_rho = w.slope + p->now.size;
        w.gradient = w.best_rho + p->now.size;
        w.best_state = w.gradient + t->count;
        for (size_t i = 0; i < e->rows; i++)
            if (p->now.member[i]) row[w.members++] = i;
        if (w.members > 0) s = find_units(&w);
        if (s >= 0) s = run(&w, numbers, size, iterations);
    } else {
        s = HF_ERR_MEMORY;
    }
    hfi_free(e->ctx, numbers);
    hfi_free(e->ctx, row);
    return s;
}
