/* SPDX-License-Identifier: Apache-2.0 */
/* Problems whose bounds are proof against rounding. Every comparison of the search is of bounds that
 * hold, so that what it returns holds whenever it stops. */
#include "bound/problem.h"
#include "rigorous/rigorous_impl.h"

#include <string.h>

/* ---- units ---------------------------------------------------------------------------------------------- */

/* x~ = (x - shift) / scale */
static hfi_interval scaled(const hfi_scaling *scaling, size_t j, double x)
{
    const hfi_interval moved =
        hfi_interval_subtract(hfi_interval_point(x), hfi_interval_point(scaling->x_shift[j]));
    if (scaling->x_scale[j] == 1.0) return moved;
    return hfi_interval_divide(moved, hfi_interval_point(scaling->x_scale[j]));
}

static bool value_at(hfi_rigorous_work *work, const double *x, hfi_interval *out)
{
    const hf_posterior *posterior = work->of->posterior;
    for (size_t j = 0; j < posterior->solution.d; j++) work->middle[j] = scaled(&posterior->scaling, j, x[j]);
    return hfi_rigorous_at(work, out);
}

static hfi_interval signed_by(double sign, hfi_interval a)
{
    return sign < 0.0 ? hfi_interval_negate(a) : a;
}

/* ---- a box ----------------------------------------------------------------------------------------------- */

/* The box in both units, and what each thread works in. All inputs of the posterior are sides, the number of
 * an output among them. */
typedef struct rigorous_state {
    size_t d, threads;
    hfi_rigorous_work *work; /* threads */
    double *numbers; /* the box in the user's units, scaled sides outward and their middle; a point: 6 d */
} rigorous_state;

/* The side that moves the features most, of those that can be halved. It is about the box that was bounded last. */
static size_t widest(const hfi_rigorous_work *work, size_t d, const double *lower, const double *upper)
{
    size_t side = 0;
    bool found = false;
    for (size_t j = 0; j < d; j++) {
        if (!hfi_side_splits(lower[j], upper[j]) || (found && !(work->share[j] > work->share[side])))
            continue;
        side = j;
        found = true;
    }
    return side;
}

static void bound_one(hfi_rigorous_work *work, size_t d, double sign, double enough, const double *lower,
                      const double *upper, hfi_box_bound *out)
{
    hfi_rigorous_bounds bounds;
    hfi_interval value;
    memset(out->face, 0, d * sizeof *out->face);
    out->bound = (double)NAN;
    if (!hfi_rigorous_bound(work, lower, upper, &bounds)) return;
    const hfi_interval centre = signed_by(sign, bounds.centre);
    out->bound = hfi_double_down(signed_by(sign, bounds.box).lower);
    out->centre = out->predicted = hfi_double_up(centre.upper);
    /* Halves would gain no more than some roundings of the value at the centre: such a box is done with. */
    out->rounding = (double)(centre.upper - centre.lower);
    out->slack = (double)(centre.upper - out->bound);
    out->split = widest(work, d, lower, upper);
    memcpy(out->point, work->centre, d * sizeof *out->point);
    if (!(out->bound < enough) || !hfi_rigorous_step(work, sign, lower, upper) ||
        !hfi_rigorous_at(work, &value))
        return;
    const double there = hfi_double_up(signed_by(sign, value).upper);
    if (!(there < out->predicted)) return;
    out->predicted = there;
    memcpy(out->point, work->centre, d * sizeof *out->point);
}

static void rigorous_problem_bounds(void *of, int thread, double sign, double enough, size_t count,
                                    const double *low, const double *high, hfi_box_bound *out)
{
    const hfi_certify_problem *q = of;
    const rigorous_state *s = q->state;
    for (size_t k = 0; k < count; k++)
        bound_one(&s->work[thread], s->d, sign, enough, low + k * s->d, high + k * s->d, &out[k]);
}

/* Surely attained: an upper bound of sign value at the point in the user's units. */
static double rigorous_problem_look(void *of, double sign, bool descend, const double *point, double *user)
{
    const hfi_certify_problem *q = of;
    const rigorous_state *s = q->state;
    const hfi_scaling *scaling = &q->subject.posterior->scaling;
    const double *lower = s->numbers, *upper = lower + s->d;
    double *x = s->numbers + 5 * s->d;
    hfi_interval value;
    (void)descend; /* what a box's model expects to be best was tried when it was bounded */
    for (size_t j = 0; j < s->d; j++) {
        x[j] = point[j] * scaling->x_scale[j] + scaling->x_shift[j];
        if (!(x[j] >= lower[j])) x[j] = lower[j];
        if (x[j] > upper[j]) x[j] = upper[j];
    }
    memcpy(user, x, q->inputs * sizeof *user);
    return value_at(s->work, x, &value) ? hfi_double_up(signed_by(sign, value).upper) : (double)NAN;
}

static void end(hfi_certify_problem *q)
{
    rigorous_state *s = q->state;
    for (size_t k = 0; s && s->work && k < s->threads; k++)
        if (s->work[k].block) hfi_rigorous_work_free(&s->work[k]);
    if (s) hfi_memory_free(&q->memory, s->work);
    if (s) hfi_memory_free(&q->memory, s->numbers);
    hfi_memory_free(&q->memory, s);
    q->state = NULL;
}

static hf_status place_rigorous_sides(hfi_certify_problem *q, rigorous_state *s)
{
    const hfi_scaling *scaling = &q->subject.posterior->scaling;
    const size_t d = s->d;
    double *lower = s->numbers, *upper = lower + d;
    memcpy(lower, q->user_lower, q->inputs * sizeof *lower);
    memcpy(upper, q->user_upper, q->inputs * sizeof *upper);
    if (q->inputs < d) lower[d - 1] = upper[d - 1] = (double)q->settings.output;
    for (size_t j = 0; j < d; j++) {
        double *low = s->numbers + 2 * d + j, *high = low + d, *middle = high + d;
        *low = hfi_double_down(scaled(scaling, j, lower[j]).lower);
        *high = hfi_double_up(scaled(scaling, j, upper[j]).upper);
        *middle = 0.5 * *low + 0.5 * *high;
        if (!isfinite(*low) || !isfinite(*high)) return HF_ERR_NOT_FINITE;
    }
    return HF_OK;
}

static hf_status make_rigorous_state(hfi_certify_problem *q, size_t threads)
{
    rigorous_state *s = q->state = hfi_memory_alloc(&q->memory, 1, sizeof *s);
    if (!s) return HF_ERR_MEMORY;
    *s = (rigorous_state){.d = q->subject.d, .threads = threads};
    if (!HFI_MEMORY_ALLOC(&q->memory, HFI_ROOM(s->numbers, 6 * s->d), HFI_ROOM(s->work, threads)))
        return HF_ERR_MEMORY;
    for (size_t k = 0; k < threads; k++) {
        s->work[k] = hfi_rigorous_work_create(q->shared, q->quantity, q->settings.beta);
        if (!s->work[k].block) return HF_ERR_MEMORY;
        s->work[k].observed = q->settings.observed;
        s->work[k].watch = q->watch;
    }
    return place_rigorous_sides(q, s);
}

static hf_status rigorous_problem_begin(hfi_certify_problem *q, size_t threads, hfi_branch_problem *out)
{
    static const hfi_branch_functions functions = {rigorous_problem_bounds, rigorous_problem_look};
    const hf_status status = make_rigorous_state(q, threads);
    if (status < 0) {
        end(q);
        return status;
    }
    const rigorous_state *s = q->state;
    const size_t d = s->d;
    const double *sides = s->numbers + 2 * d;
    *out = (hfi_branch_problem){.functions = &functions,
                                .of = q,
                                .sides = d,
                                .inputs = q->inputs,
                                .lower = sides,
                                .upper = sides + d,
                                .middle = sides + 2 * d,
                                .memory = q->memory,
                                .costly = q->quantity->sd};
    return HF_OK;
}

/* All is made when it is searched. */
static hf_status rigorous_problem_create(hf_context *ctx, hfi_certify_problem *q)
{
    (void)ctx;
    (void)q;
    return HF_OK;
}

static hf_status rigorous_problem_prepare(hf_context *ctx, hfi_watch *watch, const hf_posterior *posterior,
                                          const hfi_quantity *quantity, void **shared)
{
    hfi_rigorous *rigorous = NULL;
    const hf_status status = hfi_rigorous_create(ctx, watch, posterior, quantity->sd, &rigorous);
    *shared = rigorous;
    return status;
}

static void forget(void *shared)
{
    hfi_rigorous_free(shared);
}

const hfi_problem_functions hfi_problem_rigorous = {.prepare = rigorous_problem_prepare,
                                                    .forget = forget,
                                                    .create = rigorous_problem_create,
                                                    .destroy = end,
                                                    .begin = rigorous_problem_begin,
                                                    .end = end};
