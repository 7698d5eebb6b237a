/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of so few readings that these say little about how widely the output varies, and that a
 * fit could explain them by chance. */
#include "fit/fit.h"

#include "settings/settings.h"
#include "sites/chi_squared.h"
#include <math.h>

/* Factor that shrinks the prior's sd of their part in the other outputs' variation. */
static const double COUPLED = 0.25;

/* The chance of a spread of readings as small as that, or smaller. */
static const double CHANCE = 0.1;

/* Prior knowledge of one output from the others: their typical scale, and their typical spread relative to the
 * size of the readings. Without others that have enough readings, the scale of all readings
 * together. `work`: 2 x outputs. */
static void look_at_others(const hfi_fit *fit, const double *location, const double *scale, double all,
                           double *typical, double *relative, double *work)
{
    double *share = work + fit->outputs;
    size_t others = 0;
    for (size_t t = 0; t < fit->outputs; t++) {
        if (hfi_output_is_sparse(fit->readings[t])) continue;
        work[others] = log(scale[t]);
        share[others++] = log(scale[t] / hypot(scale[t], location[t]));
    }
    *typical = others > 0 ? exp(hfi_sum_sorted(work, others) / (double)others) : all;
    *relative = others > 0 ? exp(hfi_sum_sorted(share, others) / (double)others) : 0.0;
}

/* Root mean square, and standard deviation, of the readings of one output. */
static void measure(const hfi_fit *fit, size_t output, double *size, double *sd)
{
    const double count = (double)fit->readings[output];
    double mean = 0.0, squares = 0.0;
    *size = *sd = 0.0;
    for (size_t i = 0; i < fit->n; i++) {
        if (fit->x[i * fit->d + fit->d - 1] != (double)output) continue;
        *size = hypot(*size, fit->y[i] / sqrt(count));
        mean += fit->y[i] / count;
    }
    for (size_t i = 0; i < fit->n; i++)
        if (fit->x[i * fit->d + fit->d - 1] == (double)output) squares = hypot(squares, fit->y[i] - mean);
    if (fit->readings[output] > 1) *sd = squares / sqrt(count - 1.0);
}

void hfi_fit_scale_sparse(const hfi_fit *fit, double all, const double *location, double *scale, double *work)
{
    double typical, relative;
    look_at_others(fit, location, scale, all, &typical, &relative, work);
    for (size_t t = 0; t < fit->outputs; t++) {
        const size_t count = fit->readings[t];
        if (!hfi_output_is_sparse(count)) continue;
        double size, sd;
        measure(fit, t, &size, &sd);
        scale[t] = fmax(typical, relative * size);
        if (!(sd > 1e-13 * size)) continue;
        const double widest = sd * sqrt((double)(count - 1) / hfi_chi_squared_quantile(count - 1, CHANCE));
        scale[t] = fmin(fmax(scale[t], sd), widest);
    }
}

void hfi_fit_bound_sparse(const hfi_fit *fit, hfi_trainer *t)
{
    const size_t coregions = hf_kernel_coregions(fit->kernel);
    for (size_t i = 0; fit->outputs > 1 && i < coregions; i++)
        for (size_t s = 0; s < fit->outputs; s++) {
            bool squared;
            size_t first, end;
            if (!hfi_output_is_sparse(fit->readings[s])) continue;
            const size_t p = hfi_kernel_coregion_own(fit->kernel, i, s, &squared, &first, &end);
            for (size_t k = first; k < end; k++) t->prior_sd[k] *= fit->settings->priors ? COUPLED : 1.0;
            if (p == SIZE_MAX) continue;
            const double unit = fit->settings->standardise ? 1.0 : hfi_scaling_scale(&fit->measured, s);
            const double least = unit * sqrt(1.0 - (double)fit->readings[s] / HFI_SPARSE_READINGS);
            t->lower[p] = fmax(t->lower[p], squared ? 2.0 * log(least) : least);
            t->upper[p] = fmax(t->upper[p], t->lower[p]);
        }
}
