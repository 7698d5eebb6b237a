/* SPDX-License-Identifier: Apache-2.0 */
/* One weight for each output, from the variance that its residuals have in excess. */
#include "sites/outputs.h"

#include <math.h>
#include <string.h>

static const double MEDIAN_TO_SD = 1.482602218505602;

/* Standard errors of a robust scale, 1.17 / sqrt(count) each, that pass for chance. */
static const double CHANCE = 3.5;

enum {
    ROUNDS = 10 /* per output; each bad output takes one or two */
};

typedef struct channel {
    double scale;    /* robust standard deviation over the expected one */
    double variance; /* median of the expected ones */
    size_t count;
} channel;

/* `scratch` holds 2 n. */
static channel look(size_t n, size_t outputs, size_t t, const double *y, size_t ldy, const double *mean,
                    const double *variance, double *scratch)
{
    channel c = {.scale = 1.0};
    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i * ldy + t])) continue;
        const double v = variance[i * outputs + t];
        scratch[c.count] = fabs(y[i * ldy + t] - mean[i * outputs + t]) / sqrt(v);
        scratch[n + c.count++] = v;
    }
    if (c.count == 0) return c;
    /* So that its square is finite too. */
    c.scale = fmin(1e100, MEDIAN_TO_SD * hfi_median(scratch, c.count));
    c.variance = hfi_median(scratch + n, c.count);
    return c;
}

/* The output that stands out most, by more than chance; `outputs` when there is none. */
static size_t find_worst(size_t n, size_t outputs, const double *y, size_t ldy, const double *mean,
                         const double *variance, double *scratch, channel *worst)
{
    size_t found = outputs;
    *worst = (channel){.scale = 0.0};
    for (size_t t = 0; t < outputs; t++) {
        const channel c = look(n, outputs, t, y, ldy, mean, variance, scratch);
        if (c.count == 0 || c.scale <= 1.0 + CHANCE / sqrt((double)c.count) || c.scale <= worst->scale)
            continue;
        found = t;
        *worst = c;
    }
    return found;
}

/* excess (T) := e. `block` holds 2 n T + 2 n. */
static hf_status settle(hf_context *ctx, size_t n, const double *y, size_t ldy, const hf_outputs_model *model,
                        double *block, double *noise, double *excess)
{
    const size_t outputs = model->outputs, size = n * outputs;
    hf_status status = HF_OK;
    for (size_t round = 0; round < ROUNDS * outputs && status >= 0; round++) {
        hf_outputs_model widened = *model;
        channel worst;
        for (size_t t = 0; t < outputs; t++) noise[t] = model->noise[t] + excess[t];
        widened.noise = noise;
        status = hfi_worse(status, hfi_outputs_condition(ctx, n, y, ldy, &widened, block, block + size));
        if (status < 0) return status;
        const size_t t = find_worst(n, outputs, y, ldy, block, block + size, block + 2 * size, &worst);
        if (t == outputs) return status;
        excess[t] += (worst.scale * worst.scale - 1.0) * worst.variance;
    }
    return hfi_worse(status, hfi_fail(ctx, HF_WARN_NOT_CONVERGED,
                                      "after %zu rounds some output still varies more than it should",
                                      (size_t)ROUNDS * outputs));
}

hf_status hfi_outputs_weigh_channels(hf_context *ctx, size_t n, const double *y, size_t ldy,
                                     const hf_outputs_model *model, const hf_outputs_sites *out)
{
    const size_t outputs = model->outputs, size = n * outputs;
    double *block = hfi_alloc(ctx, 2 * size + 2 * n + outputs, sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    memset(out->scale, 0, outputs * sizeof *out->scale);
    hf_status status = settle(ctx, n, y, ldy, model, block, block + 2 * size + 2 * n, out->scale);
    for (size_t i = 0; i < n && status >= 0; i++) {
        for (size_t t = 0; t < outputs; t++) {
            const double s = model->noise[t];
            out->weight[i * outputs + t] = isnan(y[i * ldy + t]) ? 0.0 : s / (s + out->scale[t]);
            out->shift[i * outputs + t] = 0.0;
        }
    }
    hfi_free(ctx, block);
    return status;
}
