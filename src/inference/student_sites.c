/* SPDX-License-Identifier: Apache-2.0 */
/* Sites to their fixed point: accelerated steps as long as they do well, damped ones else. */
#include "inference/student_sites.h"
#include <math.h>
#include <string.h>

enum {
    MOST_POINTS = 80,
    MOST_FACTORISATIONS = 100, /* of one evaluation, shortened steps included */
    MOST_HALVINGS = 12,
    NEAR_HALVINGS = 2, /* where rounding may be what keeps the value from rising */
    PATIENCE = 4       /* points without progress before steps are shortened */
};

static const double least_step = 0.1;
/* An accelerated point may be this much further from its wanted sites than the point before. */
static const double leeway = 2.0;
/* So near to the fixed point rounding decides whether the value rises: with precisions of 1e7 over the prior's, as of little noise and a large
 * output scale, a wanted site is known to some 1e-4. */
static const double near = 1e-3, rounding = 1e-12;

static void pack(const hfi_site_loop *loop)
{
    const hfi_student_problem *p = loop->p;
    for (size_t i = 0; i < p->n; i++) {
        const double s = p->scale[i], root = sqrt(s);
        loop->at[i] = p->curved.w[i] * s;
        loop->at[p->n + i] = p->pull[i] * root;
        loop->residual[i] = loop->wanted[i] * s - loop->at[i];
        loop->residual[p->n + i] = loop->wanted[p->n + i] * root - loop->at[p->n + i];
    }
}

static hf_status measure_at(hfi_site_loop *loop, const double *sites)
{
    hfi_student_problem *p = loop->p;
    for (size_t i = 0; i < p->n; i++) {
        p->curved.w[i] = sites[i] / p->scale[i];
        p->pull[i] = sites[p->n + i] / sqrt(p->scale[i]);
    }
    return loop->measure(loop);
}

static hf_status start(hfi_site_loop *loop)
{
    hfi_student_problem *p = loop->p;
    hf_status s = HF_OK;
    loop->usable = false;
    if (p->started) {
        memcpy(p->curved.w, p->kept_precision, p->n * sizeof *p->curved.w);
        memcpy(p->pull, p->kept_pull, p->n * sizeof *p->pull);
        s = loop->measure(loop);
    }
    if (s < 0 || loop->usable) return s;
    s = hfi_student_cold(p);
    if (s < 0) return s;
    hfi_student_positive(p);
    return loop->measure(loop);
}

/* The accelerated point, if it is good enough. */
static hf_status leap(hfi_site_loop *loop, double value, double change, bool *taken)
{
    hfi_anderson_next(&loop->history, loop->at, loop->residual, loop->step, loop->next);
    const hf_status s = measure_at(loop, loop->next);
    const double slack = change < near ? rounding * (1.0 + fabs(value)) : 0.0;
    *taken = s >= 0 && loop->usable &&
             (loop->ascends ? loop->value >= value - slack : loop->change <= leeway * change);
    return s;
}

/* The longest of the damped steps step, step/2, ... that leads somewhere; back to where it started if none does. */
static hf_status walk(hfi_site_loop *loop, double value, double change, bool *taken)
{
    const size_t count = 2 * loop->p->n;
    const double slack = change < near ? rounding * (1.0 + fabs(value)) : 0.0;
    const int halvings = change < near ? NEAR_HALVINGS : MOST_HALVINGS;
    double step = loop->step;
    hfi_anderson_reset(&loop->history);
    for (int halving = 0; halving < halvings; halving++, step *= 0.5) {
        for (size_t i = 0; i < count; i++) loop->next[i] = loop->at[i] + step * loop->residual[i];
        const hf_status s = measure_at(loop, loop->next);
        *taken = s >= 0 && loop->usable && (!loop->ascends || loop->value >= value - slack);
        if (s < 0 || *taken) return s;
    }
    return measure_at(loop, loop->at);
}

/* Whether the points left would not lift the value to the problem's floor at the pace of the last
 * one, which gained `gain`. */
static bool hopeless(const hfi_site_loop *loop, int points, double gain)
{
    const double missing = loop->p->floor - loop->value;
    return loop->ascends && points >= PATIENCE && missing > gain * (MOST_POINTS - points);
}

static hf_status iterate(hfi_site_loop *loop)
{
    hfi_student_problem *p = loop->p;
    const size_t most = p->factorisations + MOST_FACTORISATIONS;
    double best = INFINITY, last = -INFINITY;
    int waited = 0;
    p->converged = false;
    hf_status s = start(loop);
    for (int count = 0; s >= 0 && loop->usable && count < MOST_POINTS && p->factorisations < most; count++) {
        const bool flat = loop->ascends && loop->value < last + rounding * (1.0 + fabs(last));
        p->converged = loop->change < (flat ? near : p->tolerance);
        if (p->converged) return s;
        if (hopeless(loop, count, loop->value - last)) return s;
        last = loop->value;
        waited = loop->change < best ? 0 : waited + 1;
        best = fmin(best, loop->change);
        if (!loop->ascends && waited > PATIENCE) {
            loop->step = fmax(0.6 * loop->step, least_step);
            hfi_anderson_reset(&loop->history);
            waited = 0;
            best = loop->change;
        }
        const double value = loop->value, change = loop->change;
        bool taken = false;
        pack(loop);
        s = leap(loop, value, change, &taken);
        if (s >= 0 && !taken) s = walk(loop, value, change, &taken);
        if (s >= 0 && !taken) {
            p->converged = change < near; /* by then it is rounding that is in the way */
            break;
        }
    }
    return s;
}

hf_status hfi_site_loop_run(hfi_site_loop *loop)
{
    hfi_student_problem *p = loop->p;
    const size_t count = 2 * p->n;
    loop->numbers = hfi_alloc(p->evaluator->ctx, count, 5 * sizeof *loop->numbers);
    if (!loop->numbers) return HF_ERR_MEMORY;
    loop->wanted = loop->numbers;
    loop->cavity = loop->numbers + count;
    loop->at = loop->numbers + 2 * count;
    loop->residual = loop->numbers + 3 * count;
    loop->next = loop->numbers + 4 * count;
    hf_status s = hfi_anderson_init(p->evaluator->ctx, count, &loop->history);
    if (s >= 0) s = iterate(loop);
    /* No posterior at the sites left: nothing to report of this place. */
    if (s >= 0 && !loop->usable) s = HF_ERR_NOT_POSITIVE_DEFINITE;
    hfi_anderson_free(&loop->history);
    hfi_free(p->evaluator->ctx, loop->numbers);
    return s;
}
