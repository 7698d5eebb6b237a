/* SPDX-License-Identifier: Apache-2.0 */
/* Problems about several classes (classes.h). */
#include "softmax/classes_order.h"

#include <math.h>

static hf_status softmax_problem_prepare(hf_context *ctx, hfi_watch *watch, const hf_posterior *posterior,
                                         const hfi_quantity *quantity, void **shared)
{
    hfi_order *order = NULL;
    const hf_status status = hfi_order_create(ctx, watch, posterior, quantity, &order);
    *shared = order;
    return status;
}

static void softmax_problem_forget(void *shared)
{
    hfi_order_free(shared);
}

static hf_status softmax_problem_create(hf_context *ctx, hfi_certify_problem *q)
{
    hfi_classes *classes = NULL;
    const hf_status status = hfi_classes_create(ctx, q->subject.posterior, &q->subject, q->settings.output,
                                                q->quantity, q->settings.tolerance, &classes);
    q->state = classes;
    if (status < 0 || q->subject.free_count == 0) return status;
    if (q->shared && hfi_order_serves(q->shared, classes)) classes->order = q->shared;
    q->scratch = hfi_classes_scratch(classes) + hfi_order_scratch(classes->order, classes);
    return status;
}

static void destroy(hfi_certify_problem *q)
{
    hfi_classes_free(q->state);
}

/* Where a look at a point takes long, a value that comes with a gradient is the models'. */
static double value(hfi_certify_problem *q, const double *point, double *user, double *gradient)
{
    hfi_classes *classes = q->state;
    hfi_problem_place(q, point, user);
    if (gradient && classes->heavy) return hfi_classes_sketch(classes, point, gradient);
    const double there = hfi_classes_value(classes, q->x, gradient ? q->gradient : NULL);
    for (size_t f = 0; gradient && f < q->subject.free_count; f++)
        gradient[f] = q->gradient[q->free[f]] * q->subject.posterior->scaling.x_scale[q->free[f]];
    return there;
}

static void at_point(hfi_certify_problem *q, double *user, double *value, double *lower, double *upper)
{
    double error;
    hfi_problem_place(q, q->subject.middle, user); /* nothing of it is read, as nothing is free */
    *value = hfi_classes_point(q->state, q->x, &error);
    *lower = *value - error;
    *upper = *value + error;
}

static void softmax_problem_bounds(void *of, int thread, double sign, double enough, size_t count,
                                   const double *low, const double *high, hfi_box_bound *out)
{
    const hfi_certify_problem *q = of;
    hfi_classes_bounds(q, sign, enough, count, low, high, out, hfi_problem_scratch(q, thread));
}

static hf_status softmax_problem_begin(hfi_certify_problem *q, size_t threads, hfi_branch_problem *out)
{
    static const hfi_branch_functions functions = {softmax_problem_bounds, hfi_problem_look};
    hfi_classes *classes = q->state;
    classes->watch = q->watch;
    return hfi_problem_begin(q, threads, &functions, out);
}

const hfi_problem_functions hfi_problem_of_classes = {.prepare = softmax_problem_prepare,
                                                      .forget = softmax_problem_forget,
                                                      .create = softmax_problem_create,
                                                      .destroy = destroy,
                                                      .begin = softmax_problem_begin,
                                                      .end = hfi_problem_end,
                                                      .at_point = at_point,
                                                      .value = value,
                                                      .approximates = true};
