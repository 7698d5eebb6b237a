/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of an exact evaluation that do not look at its matrix: the present readings, their residuals, and the
 * gradient in mean and noise. */
#include "objective/evaluator_impl.h"
#include <string.h>

hf_status hfi_exact_select(hfi_evaluator *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->rows; i++) {
        if (!hf_sites_is_present(e->sites, i)) continue;
        e->row[n] = i;
        memcpy(e->inputs + n * e->d, e->x + i * e->ldx, e->d * sizeof *e->inputs);
        n++;
    }
    e->n = n;
    return HF_OK;
}

void hfi_evaluator_residuals(hfi_evaluator *e)
{
    double *r = hfi_evaluator_vector(e, HFI_EV_RESIDUAL),
           *variance = hfi_evaluator_vector(e, HFI_EV_VARIANCE);
    const double *z = hf_sites_targets(e->sites), *d = hf_sites_variances(e->sites);
    hf_mean_evaluate(e->mean, e->n, e->inputs, e->d, r);
    for (size_t i = 0; i < e->n; i++) {
        r[i] = z[e->row[i]] - r[i];
        variance[i] = d[e->row[i]];
    }
}

void hfi_evaluator_collect(hfi_evaluator *e, const double *w, size_t step, bool leave_one_out,
                           double *gradient)
{
    const size_t kernel_count = hf_kernel_parameters(e->kernel), mean_count = hf_mean_coefficients(e->mean);
    double *noise = gradient + kernel_count + mean_count;
    const double *v_bar = leave_one_out ? hfi_evaluator_vector(e, HFI_EV_V_BAR) : NULL;
    memset(gradient + kernel_count, 0, (mean_count + hf_sites_channels(e->sites)) * sizeof *gradient);
    hfi_mean_adjoint(e->mean, e->n, e->inputs, e->d, hfi_evaluator_vector(e, HFI_EV_MEAN_BAR),
                     gradient + kernel_count);
    const double *z_bar = hfi_evaluator_vector(e, HFI_EV_Z_BAR);
    for (size_t i = 0; i < e->n; i++) {
        const size_t row = e->row[i];
        const double slope = hfi_sites_variance_slope(e->sites, row);
        double bar = w[i * step] * slope + z_bar[i] * e->sites->shift[row];
        if (v_bar) bar += v_bar[i] * (1.0 - slope);
        noise[hfi_sites_channel(e->sites, row)] += bar;
    }
    for (size_t c = 0; c < hf_sites_channels(e->sites); c++) noise[c] *= hf_sites_channel_noise(e->sites, c);
}
