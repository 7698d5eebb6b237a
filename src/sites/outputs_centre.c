/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional means and variances of readings given the others of their row, pattern by pattern. */
#include "sites/outputs.h"

#include <math.h>
#include <string.h>

/* A conditional variance below this share of the whole is rounding. */
static const double LEAST_SHARE = 1e-12;

typedef struct centre_job {
    const hf_outputs_model *model;
    const double *y;
    size_t ldy;
    double *mean, *variance; /* n x T or NULL */
    double *coefficient;     /* T x T */
    double *work;            /* 2 T T + 2 T */
    double *conditional;     /* T: variances of the pattern at hand */
    size_t *observed, *index;
} centre_job;

static size_t list_observed(size_t outputs, const double *y, size_t *observed)
{
    size_t count = 0;
    for (size_t t = 0; t < outputs; t++)
        if (!isnan(y[t])) observed[count++] = t;
    return count;
}

static void apply_centre_coefficients(const centre_job *j, size_t row, size_t count)
{
    const size_t outputs = j->model->outputs;
    const double *y = j->y + row * j->ldy;
    for (size_t t = 0; t < outputs; t++) {
        double sum = 0.0;
        for (size_t k = 0; k < count; k++) {
            const size_t s = j->observed[k];
            sum += j->coefficient[t * outputs + s] * hfi_outputs_deviation(j->model, s, y[s]);
        }
        if (j->mean) j->mean[row * outputs + t] = j->model->mean[t] + sum;
        if (j->variance) j->variance[row * outputs + t] = j->conditional[t];
    }
}

static hf_status one_pattern(hf_context *ctx, const centre_job *all, const hfi_patterns *patterns,
                             size_t group)
{
    const size_t outputs = all->model->outputs, begin = patterns->begin[group],
                 end = patterns->begin[group + 1];
    const hf_outputs_model model = hfi_outputs_at(all->model, patterns->row[begin]);
    centre_job own = *all;
    own.model = &model;
    const centre_job *j = &own;
    const size_t count = list_observed(outputs, j->y + patterns->row[begin] * j->ldy, j->observed);
    hf_status status =
        hfi_outputs_regress(ctx, j->model, count, j->observed, j->coefficient, j->work, j->index);
    if (status < 0) return status;
    for (size_t t = 0; t < outputs; t++) {
        const double whole = hfi_outputs_covariance(j->model, t, t);
        double left = whole;
        for (size_t k = 0; k < count; k++) {
            const size_t s = j->observed[k];
            if (s != t) left -= j->coefficient[t * outputs + s] * hfi_outputs_covariance(j->model, t, s);
        }
        j->conditional[t] = fmax(left, LEAST_SHARE * whole);
    }
    for (size_t i = begin; i < end; i++) apply_centre_coefficients(j, patterns->row[i], count);
    return status;
}

hf_status hfi_outputs_condition(hf_context *ctx, size_t n, const double *y, size_t ldy,
                                const hf_outputs_model *model, double *mean, double *variance)
{
    const size_t outputs = model->outputs;
    hfi_patterns patterns = {0};
    hf_status status = hfi_patterns_create(ctx, n, y, ldy, model, &patterns);
    double *block = hfi_alloc(ctx, 3 * outputs * outputs + 3 * outputs, sizeof *block);
    size_t *index = hfi_alloc(ctx, 2 * outputs, sizeof *index);
    if (status >= 0 && (block == NULL || index == NULL)) status = HF_ERR_MEMORY;
    if (status >= 0) {
        const centre_job j = {.model = model,
                              .y = y,
                              .ldy = ldy,
                              .mean = mean,
                              .variance = variance,
                              .coefficient = block,
                              .work = block + outputs * outputs,
                              .conditional = block + 3 * outputs * outputs + 2 * outputs,
                              .observed = index,
                              .index = index + outputs};
        for (size_t k = 0; k < patterns.groups && status >= 0; k++)
            status = hfi_worse(status, one_pattern(ctx, &j, &patterns, k));
    }
    hfi_patterns_free(ctx, &patterns);
    HFI_FREE(ctx, block, index);
    return status;
}

hf_status hf_outputs_conditional_centre(hf_context *ctx, size_t n, const double *y, size_t ldy,
                                        const hf_outputs_model *model, double *centre)
{
    hf_status status = hfi_outputs_check(ctx, "hf_outputs_conditional_centre", n, y, ldy, model);
    if (status < 0) return status;
    if (centre == NULL && n > 0) return hfi_refuse(ctx, "hf_outputs_conditional_centre: centre is NULL");
    double *result = hfi_alloc_product(ctx, n, model->outputs, sizeof *result);
    if (result == NULL) return HF_ERR_MEMORY;
    status = hfi_outputs_condition(ctx, n, y, ldy, model, result, NULL);
    if (status >= 0 && n > 0) memcpy(centre, result, n * model->outputs * sizeof *result);
    hfi_free(ctx, result);
    return status;
}
