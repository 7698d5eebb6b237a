/* SPDX-License-Identifier: Apache-2.0 */
/* The readings' covariance at one input, its factors, and the regressions of each output on the others. */
#include "linalg/linalg.h"
#include "sites/outputs.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Where a pivot is below this share of its variance, regressions are not read off the inverse, whose entries
 * have lost too many digits. */
static const double STABLE_SHARE = 1e-6, SINGULAR_SHARE = 1e-14;

static const double FURTHEST = 1e100;

hf_outputs_model hfi_outputs_at(const hf_outputs_model *model, size_t row)
{
    hf_outputs_model at = *model;
    if (model->covariances != NULL)
        at.covariance = model->covariances + row * model->outputs * model->outputs;
    at.covariances = NULL;
    return at;
}

double hfi_outputs_covariance(const hf_outputs_model *model, size_t s, size_t t)
{
    const size_t low = s < t ? s : t, high = s < t ? t : s;
    return model->covariance[high * model->outputs + low] + (s == t ? model->noise[t] : 0.0);
}

double hfi_outputs_deviation(const hf_outputs_model *model, size_t t, double y)
{
    const double most = FURTHEST * sqrt(hfi_outputs_covariance(model, t, t) + model->ridge);
    return fmax(-most, fmin(most, y - model->mean[t]));
}

static hf_status check_model(hf_context *ctx, const char *who, const hf_outputs_model *model)
{
    const size_t outputs = model->outputs;
    if (!(model->ridge >= 0.0) || isinf(model->ridge))
        return hfi_refuse(ctx, "%s: the ridge is %g; give a finite number of at least 0", who, model->ridge);
    for (size_t t = 0; t < outputs; t++) {
        if (!(model->noise[t] >= 0.0) || isinf(model->noise[t]))
            return hfi_refuse(
                ctx, "%s: the noise variance of output %zu is %g; give a finite number of at least 0", who, t,
                model->noise[t]);
        if (!isfinite(model->mean[t]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "%s: the mean of output %zu is %g", who, t,
                            model->mean[t]);
        for (size_t s = 0; s <= t; s++)
            if (!isfinite(model->covariance[t * outputs + s]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "%s: the covariance of outputs %zu and %zu is %g",
                                who, t, s, model->covariance[t * outputs + s]);
        const double variance = hfi_outputs_covariance(model, t, t);
        if (!(variance >= DBL_MIN && variance <= 1e100))
            return hfi_refuse(
                ctx,
                "%s: the variance of output %zu, noise included, is %g; give a positive number up to 1e100",
                who, t, variance);
    }
    return HF_OK;
}

hf_status hfi_outputs_check(hf_context *ctx, const char *who, size_t n, const double *y, size_t ldy,
                            const hf_outputs_model *model)
{
    if (model == NULL || model->mean == NULL || model->noise == NULL ||
        (model->covariance == NULL && model->covariances == NULL))
        return hfi_refuse(ctx, "%s: the model or a part of it is NULL", who);
    if (model->outputs == 0) return hfi_refuse(ctx, "%s: there are no outputs", who);
    if (n > 0 && y == NULL) return hfi_refuse(ctx, "%s: y is NULL", who);
    if (ldy < model->outputs)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "%s: rows are %zu apart but have %zu outputs", who, ldy,
                        model->outputs);
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < model->outputs; t++)
            if (isinf(y[i * ldy + t]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                                "%s: the reading of output %zu in row %zu is infinite", who, t, i);
    if (model->covariances == NULL) return check_model(ctx, who, model);
    hf_status status = HF_OK;
    for (size_t i = 0; i < n && status >= 0; i++) {
        const hf_outputs_model at = hfi_outputs_at(model, i);
        status = check_model(ctx, who, &at);
    }
    return status;
}

typedef struct selection {
    const hf_outputs_model *model;
    size_t count;
    const size_t *list;
} selection;

static void fill_selected_covariance(const selection *s, double *a)
{
    for (size_t j = 0; j < s->count; j++)
        for (size_t k = j; k < s->count; k++)
            a[k + j * s->count] =
                hfi_outputs_covariance(s->model, s->list[k], s->list[j]) + (k == j ? s->model->ridge : 0.0);
}

typedef struct factoring {
    const hf_context *ctx;
    const selection *chosen;
    double *a;
} factoring;

/* A pivot that is no more than what rounding leaves counts as none. */
static hf_status factor_with(void *arg, double added)
{
    const factoring *f = arg;
    const size_t count = f->chosen->count;
    fill_selected_covariance(f->chosen, f->a);
    for (size_t k = 0; k < count; k++) f->a[k + k * count] += added;
    if (hfi_chol(f->ctx, count, f->a, count) < 0) return HF_ERR_NOT_POSITIVE_DEFINITE;
    for (size_t k = 0; k < count; k++) {
        const size_t t = f->chosen->list[k];
        const double variance = hfi_outputs_covariance(f->chosen->model, t, t);
        if (!(f->a[k + k * count] * f->a[k + k * count] >= (double)count * SINGULAR_SHARE * variance))
            return HF_ERR_NOT_POSITIVE_DEFINITE;
    }
    return HF_OK;
}

hf_status hfi_outputs_factor(hf_context *ctx, const hf_outputs_model *model, size_t count, const size_t *list,
                             double *a)
{
    selection chosen = {.model = model, .count = count, .list = list};
    factoring f = {.ctx = ctx, .chosen = &chosen, .a = a};
    double scale = 0.0, jitter = 0.0;
    for (size_t k = 0; k < count; k++)
        scale += hfi_outputs_covariance(model, list[k], list[k]) / (double)count;
    if (count == 0) return HF_OK;
    return hfi_jitter_steps(ctx, count, scale, factor_with, &f, &jitter);
}

/* Row t: C_t,list (C + ridge I)^-1 by a factor of the latter. */
static void solve_row(const hf_outputs_model *model, size_t t, size_t count, const size_t *list,
                      const double *factor, double *right, double *coefficient)
{
    for (size_t k = 0; k < count; k++) right[k] = hfi_outputs_covariance(model, t, list[k]);
    if (count > 0) hfi_chol_solve(count, factor, count, right);
    for (size_t k = 0; k < count; k++) coefficient[t * model->outputs + list[k]] = right[k];
}

/* Rows of the observed outputs from the inverse; false, with nothing done, when that would cost too many digits. */
static bool read_off_inverse(hf_context *ctx, const hf_outputs_model *model, size_t count,
                             const size_t *observed, double *a, double *coefficient)
{
    selection chosen = {.model = model, .count = count, .list = observed};
    fill_selected_covariance(&chosen, a);
    if (hfi_chol(ctx, count, a, count) < 0) return false;
    for (size_t k = 0; k < count; k++) {
        const double variance = hfi_outputs_covariance(model, observed[k], observed[k]) + model->ridge;
        if (!(a[k + k * count] * a[k + k * count] >= STABLE_SHARE * variance)) return false;
    }
    hfi_chol_inverse(ctx, count, a, count);
    hfi_symmetrise(ctx, count, a, count);
    for (size_t k = 0; k < count; k++)
        for (size_t l = 0; l < count; l++)
            if (l != k)
                coefficient[observed[k] * model->outputs + observed[l]] =
                    -a[l + k * count] / a[k + k * count];
    return true;
}

hf_status hfi_outputs_regress(hf_context *ctx, const hf_outputs_model *model, size_t count,
                              const size_t *observed, double *coefficient, double *work, size_t *index)
{
    const size_t outputs = model->outputs;
    double *factor = work, *other = work + outputs * outputs, *right = other + outputs * outputs;
    memset(coefficient, 0, outputs * outputs * sizeof *coefficient);
    hf_status status = HF_OK;
    if (count < outputs) {
        status = hfi_outputs_factor(ctx, model, count, observed, factor);
        if (status < 0) return status;
        for (size_t t = 0, k = 0; t < outputs; t++) {
            if (k < count && observed[k] == t)
                k++;
            else
                solve_row(model, t, count, observed, factor, right, coefficient);
        }
    }
    if (count == 0 || read_off_inverse(ctx, model, count, observed, other, coefficient)) return status;
    for (size_t k = 0; k < count && status >= 0; k++) {
        size_t others = 0;
        for (size_t l = 0; l < count; l++)
            if (l != k) index[others++] = observed[l];
        status = hfi_worse(status, hfi_outputs_factor(ctx, model, others, index, other));
        if (status >= 0) solve_row(model, observed[k], others, index, other, right, coefficient);
    }
    return status;
}
