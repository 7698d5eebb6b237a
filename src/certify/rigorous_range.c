/* SPDX-License-Identifier: Apache-2.0 */
/* Rigorous ranges by the search that all ranges are found by. Every comparison is of bounds that
 * hold, so that what it returns holds whenever it stops. */
#include "certify/rigorous_impl.h"
#include "certify/search.h"

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

/* ---- ground ---------------------------------------------------------------------------------------------- */

/* A whole question: the box in both units, and what each thread works in. */
typedef struct question {
    const hfi_rigorous *rigorous;
    size_t d, threads;
    hfi_rigorous_work *work;     /* threads */
    const double *lower, *upper; /* user */
    double *sides;               /* scaled, outward: lower, upper, middle; then argmin and argmax */
} question;

/* The side that moves the features most, of those that can be halved. Of the box that was bounded last. */
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

static void bounds(void *of, int thread, double sign, double enough, size_t count, const double *low,
                   const double *high, hfi_box_bound *out)
{
    const question *q = of;
    for (size_t k = 0; k < count; k++)
        bound_one(&q->work[thread], q->d, sign, enough, low + k * q->d, high + k * q->d, &out[k]);
}

/* Surely attained: an upper bound of sign value at the point in the user's units. */
static double look(void *of, double sign, bool descend, const double *point, double *user)
{
    const question *q = of;
    const hfi_scaling *scaling = &q->rigorous->posterior->scaling;
    hfi_interval value;
    (void)descend; /* what a box's model expects to be best was tried when it was bounded */
    for (size_t j = 0; j < q->d; j++) {
        user[j] = point[j] * scaling->x_scale[j] + scaling->x_shift[j];
        if (!(user[j] >= q->lower[j])) user[j] = q->lower[j];
        if (user[j] > q->upper[j]) user[j] = q->upper[j];
    }
    return value_at(q->work, user, &value) ? hfi_double_up(signed_by(sign, value).upper) : (double)NAN;
}

static const hfi_ground_kind kind = {bounds, look};

static void drop(question *q)
{
    const hfi_memory *memory = &q->rigorous->memory;
    for (size_t k = 0; q->work && k < q->threads; k++) hfi_rigorous_work_free(&q->work[k]);
    hfi_memory_free(memory, q->work);
    hfi_memory_free(memory, q->sides);
}

static hf_status place(question *q, hf_certify_what what, const hf_certify_settings *settings,
                       hfi_watch *watch)
{
    const hfi_memory *memory = &q->rigorous->memory;
    const hfi_scaling *scaling = &q->rigorous->posterior->scaling;
    const size_t d = q->d;
    q->sides = hfi_memory_alloc(memory, 5 * d, sizeof *q->sides);
    q->work = hfi_memory_alloc(memory, q->threads, sizeof *q->work);
    if (!q->sides || !q->work) return HF_ERR_MEMORY;
    for (size_t k = 0; k < q->threads; k++) {
        q->work[k] = hfi_rigorous_work_create(q->rigorous, what, settings->beta);
        if (!q->work[k].block) return HF_ERR_MEMORY;
        q->work[k].observed = settings->observed;
        q->work[k].watch = watch;
    }
    for (size_t j = 0; j < d; j++) {
        double *lower = q->sides + j, *upper = lower + d, *middle = upper + d;
        *lower = hfi_double_down(scaled(scaling, j, q->lower[j]).lower);
        *upper = hfi_double_up(scaled(scaling, j, q->upper[j]).upper);
        *middle = 0.5 * *lower + 0.5 * *upper;
        if (!isfinite(*lower) || !isfinite(*upper)) return HF_ERR_NOT_FINITE;
    }
    return HF_OK;
}

hf_status hfi_rigorous_range(const hf_context *ctx, hfi_watch *watch, const hfi_rigorous *rigorous,
                             hf_certify_what what, const hf_certify_settings *settings, double deadline,
                             size_t threads, const double *lower, const double *upper, hf_range *out,
                             double *argmin, double *argmax)
{
    const size_t d = rigorous->posterior->solution.d;
    const double start = hfi_now();
    hf_range range;
    question q = {.rigorous = rigorous, .d = d, .threads = threads, .lower = lower, .upper = upper};
    hf_status status = place(&q, what, settings, watch);
    if (status >= 0) {
        const hfi_ground ground = {.kind = &kind,
                                   .of = &q,
                                   .sides = d,
                                   .inputs = d,
                                   .lower = q.sides,
                                   .upper = q.sides + d,
                                   .middle = q.sides + 2 * d,
                                   .memory = rigorous->memory,
                                   .costly = what != HF_CERTIFY_MEAN};
        double *least = q.sides + 3 * d, *most = least + d;
        status = hfi_search_ends(ctx, watch, &ground, settings, deadline, &range, least, most);
        if (status >= 0 && (isinf(range.lower_attained) || isinf(range.upper_attained)))
            status = HF_ERR_NOT_FINITE;
        if (status >= 0 && argmin) memcpy(argmin, least, d * sizeof *argmin);
        if (status >= 0 && argmax) memcpy(argmax, most, d * sizeof *argmax);
    }
    drop(&q);
    if (status < 0) return status;
    range.seconds = hfi_now() - start;
    range.rounding = 0.0;
    *out = range;
    return HF_OK;
}

hf_status hfi_rigorous_value(const hfi_rigorous *rigorous, hf_certify_what what, double beta, const double *x,
                             double *lower, double *upper)
{
    hfi_interval value;
    hfi_rigorous_work work = hfi_rigorous_work_create(rigorous, what, beta);
    if (work.block == NULL) return HF_ERR_MEMORY;
    const bool ok = value_at(&work, x, &value);
    hfi_rigorous_work_free(&work);
    if (!ok) return HF_ERR_NOT_FINITE;
    *lower = hfi_double_down(value.lower);
    *upper = hfi_double_up(value.upper);
    return HF_OK;
}
