/* SPDX-License-Identifier: Apache-2.0 */
/* Turns an expert's labels of readings into expected right values, and these into a prior mean. */
#include "mean/expert.h"

#include "kernel/kernel.h"

#include <math.h>

size_t hf_expert_labelled(const hf_expert *expert)
{
    return expert != NULL ? expert->count : 0;
}

double hf_expert_base(const hf_expert *expert)
{
    return expert != NULL ? expert->settings.base : (double)NAN;
}

hf_status hf_expert_reading_of(hf_context *ctx, const hf_expert *expert, size_t row, hf_expert_reading *out)
{
    if (expert == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_expert_reading_of: expert and out must not be NULL");
    if (row >= expert->n)
        return hfi_refuse(ctx, "hf_expert_reading_of: there is no row %zu of %zu", row, expert->n);
    *out = expert->reading[row];
    return HF_OK;
}

void hf_expert_free(hf_expert *expert)
{
    if (expert == NULL) return;
    const hfi_memory memory = expert->memory;
    hf_kernel_free(expert->kernel);
    HFI_MEMORY_FREE(&memory, expert->x, expert->y, expert->reading, expert->asked, expert->self, expert->row,
                    expert->place, expert->place_self, expert);
}

hf_status hfi_expert_correlations(hf_context *ctx, const hf_expert *e, const double *x, double own,
                                  size_t count, const double *z, const double *self, double *out)
{
    const size_t d = e->d;
    if (count == 0) return HF_OK;
    const hf_status s = hf_kernel_cross(ctx, e->kernel, 1, x, d, count, z, d, out, count);
    for (size_t k = 0; k < count && s >= 0; k++) {
        const double scale = own * self[k];
        out[k] = scale > 0.0 && isfinite(scale) ? fmin(fmax(out[k] / scale, 0.0), 1.0) : 0.0;
    }
    return s;
}

/* Correlations of a point become weights of the labelled readings. */
static void weigh_labelled_readings(const hf_expert *expert, double *l)
{
    double sum = 0.0;
    for (size_t k = 0; k < expert->count; k++) {
        if (expert->flat) l[k] = 1.0;
        sum += l[k];
    }
    const double scale =
        expert->settings.rule == HF_EXPERT_PUBLISHED ? (double)expert->count : fmax(1.0, sum);
    for (size_t k = 0; k < expert->count; k++) l[k] /= scale;
}

/* `l` has a number for each labelled reading. */
static hf_status mean_at(hf_context *ctx, const hf_expert *expert, const double *x, double *l, double *mean,
                         double *var)
{
    double own = 0.0;
    hfi_kernel_diagonal(expert->kernel, 1, x, expert->d, false, &own);
    const hf_status s = hfi_expert_correlations(ctx, expert, x, sqrt(fmax(own, 0.0)), expert->count,
                                                expert->place, expert->place_self, l);
    if (s < 0) return s;
    weigh_labelled_readings(expert, l);
    const double base = expert->settings.base;
    *mean = base;
    *var = 0.0;
    for (size_t k = 0; k < expert->count; k++) {
        const hf_expert_reading *r = &expert->reading[expert->row[k]];
        *mean += l[k] * (r->expected - base);
        *var += l[k] * l[k] * r->expected_var;
    }
    return HF_OK;
}

hf_status hf_expert_mean(hf_context *ctx, const hf_expert *expert, size_t m, const double *x, size_t ldx,
                         double *mean, double *var)
{
    if (expert == NULL || (m > 0 && x == NULL))
        return hfi_refuse(ctx, "hf_expert_mean: expert and x must not be NULL");
    if (ldx < expert->d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "hf_expert_mean: row stride %zu is less than the %zu inputs",
                        ldx, expert->d);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < expert->d; j++)
            if (!isfinite(x[i * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "hf_expert_mean: input %zu of row %zu is not finite",
                                j + 1, i + 1);
    double *l = hfi_alloc(ctx, expert->count + 1, sizeof *l);
    if (l == NULL) return HF_ERR_MEMORY;
    hf_status s = HF_OK;
    for (size_t i = 0; i < m && s >= 0; i++) {
        double here, spread;
        s = mean_at(ctx, expert, x + i * ldx, l, &here, &spread);
        if (s >= 0 && mean != NULL) mean[i] = here;
        if (s >= 0 && var != NULL) var[i] = spread;
    }
    hfi_free(ctx, l);
    return s;
}
