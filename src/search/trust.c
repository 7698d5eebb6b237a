/* SPDX-License-Identifier: Apache-2.0 */
/* Steps to the maximum of a quadratic model, as long as it is trusted. A step s from x maximises g's - s'B s
 * / 2 with no entry beyond the radius. B is what the objective says of its curvature, renewed where a step gained much.
 * Between these it is the symmetric rank-one update from every point that had a value (Nocedal and Wright 2006,
 * chapters 4 and 6.2). The radius grows where the model was right and shrinks where it was not. */
#include "linalg/linalg.h"
#include "search/maximise.h"
#include <math.h>
#include <string.h>

/* In units of the parameters, most of which are logarithms: a factor of e to begin with, of 20 at most. */
static const double first_radius = 1.0, largest_radius = 3.0, least_step = 1e-10;

/* A step that gained more nats has gone far enough for the curvature to be another. */
static const double worth_a_look = 1.0;

/* Changes smaller than the tolerance in a row that end a search. */
enum {
    CALM = 2,
    DAMPINGS = 80 /* by a factor of two each: from nothing to where no step is left */
};

typedef struct run {
    hfi_search_run *search;
    double value, norm; /* at x: objective, largest free derivative */
    double *x, *gradient, *trial, *trial_gradient, *step, *work; /* count each */
    double *b, *factor;                                          /* count x count */
    size_t *free;                                                /* entries that do not push out of the box */
    size_t free_count;
    double radius;
    double damping; /* on the diagonal of B for the present step */
    bool curved;    /* B is to be asked for before the next step */
    size_t calm;
} run;

/* The free entries, and the largest derivative among them. */
static void find_free(run *r)
{
    const hfi_search_run *search = r->search;
    r->free_count = 0;
    r->norm = 0.0;
    for (size_t k = 0; k < search->count; k++) {
        if (r->x[k] <= search->lower[k] && r->gradient[k] < 0.0) continue;
        if (r->x[k] >= search->upper[k] && r->gradient[k] > 0.0) continue;
        r->free[r->free_count++] = k;
        r->norm = fmax(r->norm, fabs(r->gradient[k]));
    }
}

/* work := (B + damping)^-1 g of the free entries; false where that is no step within the radius. */
static bool solve_damped_step(run *r, double damping)
{
    const size_t m = r->search->count, f = r->free_count;
    for (size_t j = 0; j < f; j++) {
        for (size_t i = j; i < f; i++) r->factor[i + j * f] = r->b[r->free[i] + r->free[j] * m];
        r->factor[j + j * f] += damping;
        r->work[j] = r->gradient[r->free[j]];
    }
    if (hfi_chol(r->search->ctx, f, r->factor, f) != HF_OK) return false;
    hfi_chol_solve(f, r->factor, f, r->work);
    for (size_t j = 0; j < f; j++)
        if (!(fabs(r->work[j]) <= r->radius)) return false;
    return true;
}

/* Into r->step and r->trial, cut at the box; returns its longest entry. */
static double find_step(run *r)
{
    const hfi_search_run *search = r->search;
    const size_t m = search->count;
    double largest = 1e-6, longest = 0.0;
    for (size_t k = 0; k < m; k++) largest = fmax(largest, fabs(r->b[k + k * m]));
    r->damping = 0.0;
    bool found = solve_damped_step(r, 0.0);
    for (int d = 0; !found && d < DAMPINGS; d++) {
        r->damping = d == 0 ? 1e-6 * largest : 2.0 * r->damping;
        found = solve_damped_step(r, r->damping);
    }
    memcpy(r->trial, r->x, m * sizeof *r->trial);
    for (size_t j = 0; found && j < r->free_count; j++) {
        const size_t k = r->free[j];
        r->trial[k] = fmin(fmax(r->x[k] + r->work[j], search->lower[k]), search->upper[k]);
    }
    for (size_t k = 0; k < m; k++) {
        r->step[k] = r->trial[k] - r->x[k];
        longest = fmax(longest, fabs(r->step[k]));
    }
    return longest;
}

static double promise(const run *r)
{
    const size_t m = r->search->count;
    double sum = 0.0;
    for (size_t j = 0; j < m; j++)
        sum += r->step[j] * (r->gradient[j] - 0.5 * hfi_dot(m, r->b + j * m, r->step));
    return sum;
}

/* Symmetric rank one: B then maps the step to the change of the gradient, whatever sign that has. */
static void update_trust_matrix(run *r)
{
    const size_t m = r->search->count;
    double *error = r->work, along = 0.0;
    for (size_t i = 0; i < m; i++) {
        error[i] = r->gradient[i] - r->trial_gradient[i] - hfi_dot(m, r->b + i * m, r->step);
        along += error[i] * r->step[i];
    }
    const double size = sqrt(hfi_dot(m, error, error) * hfi_dot(m, r->step, r->step));
    if (!(fabs(along) > 1e-8 * size)) return;
    for (size_t j = 0; j < m; j++) hfi_axpy(m, error[j] / along, error, r->b + j * m);
}

/* The trial had a value: the radius follows from it, and the point if it is better. */
static void judge_trust_trial(run *r, double value, double promised, double longest)
{
    const size_t m = r->search->count;
    const double gain = value - r->value;
    update_trust_matrix(r);
    if (gain < 0.25 * promised)
        r->radius = 0.25 * longest;
    else if (gain > 0.75 * promised && longest > 0.4 * r->radius)
        r->radius = fmin(2.0 * r->radius, largest_radius);
    if (!(gain > 0.0)) return;
    memcpy(r->x, r->trial, m * sizeof *r->x);
    memcpy(r->gradient, r->trial_gradient, m * sizeof *r->gradient);
    r->value = value;
    r->curved = gain > worth_a_look;
}

/* One step; sets *stop when it was the last, or is not worth taking. */
static hf_status advance(run *r, bool *stop)
{
    hf_stop *why = &r->search->best.stop;
    const double tolerance = fmax(r->search->settings->enough, hfi_search_still * fabs(r->value));
    const double longest = find_step(r), promised = promise(r), before = r->value;
    *stop = true;
    *why = HF_STOP_CONVERGED;
    if (r->damping == 0.0 && promised <= 0.5 * tolerance) return HF_OK;
    *why = HF_STOP_ROUNDOFF;
    if (longest < least_step) return HF_OK;
    double value = 0.0;
    const hf_status s = hfi_search_look(r->search, r->trial, &value, r->trial_gradient);
    *stop = false;
    *why = HF_STOP_ITERATIONS;
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) {
        r->radius = 0.25 * longest;
        return HF_OK;
    }
    if (s < 0) return s;
    judge_trust_trial(r, value, promised, longest);
    const double gain = r->value - before;
    find_free(r);
    r->calm = fmax(gain, promised) <= tolerance ? r->calm + 1 : 0;
    const bool level = gain > 0.25 * promised && gain <= tolerance && r->damping == 0.0;
    *stop = r->norm < hfi_search_flat || level || r->calm >= CALM;
    if (*stop) *why = HF_STOP_CONVERGED;
    return HF_OK;
}

static hf_status climb_by_trust(run *r)
{
    hfi_search_run *search = r->search;
    const hfi_objective *o = search->objective;
    hf_status s = hfi_search_look(search, r->x, &r->value, r->gradient);
    if (s < 0) return s;
    find_free(r);
    bool stop = r->norm < hfi_search_flat;
    search->best.stop = stop ? HF_STOP_CONVERGED : HF_STOP_ITERATIONS;
    for (size_t count = 1; s >= 0 && !stop && count < search->settings->most; count++) {
        if (r->curved) s = o->kind->curvature(o->self, search->theta, r->b);
        r->curved = false;
        if (s >= 0) s = advance(r, &stop);
    }
    if (search->best.stop == HF_STOP_CONVERGED && !(r->norm < hfi_search_flat))
        search->best.stop = HF_STOP_LEVEL;
    return s;
}

hf_status hfi_by_trust_region(hfi_search_run *search)
{
    const size_t m = search->count;
    double *work = hfi_alloc(search->ctx, m, (5 + 2 * m) * sizeof *work);
    size_t *free_entries = hfi_alloc(search->ctx, m, sizeof *free_entries);
    hf_status s = work && free_entries ? HF_OK : HF_ERR_MEMORY;
    if (s >= 0) {
        hfi_search_enter(search);
        run r = {.search = search,
                 .x = search->point,
                 .gradient = work,
                 .trial = work + m,
                 .trial_gradient = work + 2 * m,
                 .step = work + 3 * m,
                 .work = work + 4 * m,
                 .b = work + 5 * m,
                 .factor = work + 5 * m + m * m,
                 .free = free_entries,
                 .radius = first_radius,
                 .curved = true};
        s = climb_by_trust(&r);
    }
    HFI_FREE(search->ctx, free_entries, work);
    return s;
}
