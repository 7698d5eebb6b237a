/* SPDX-License-Identifier: Apache-2.0 */
/* Values that the parts of a picture share: spreads, bands, and which readings are marked. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool plot_spread_of(const double *values, size_t n, plot_spread *out)
{
    double *sorted = malloc((n + 1) * sizeof *sorted);
    if (sorted == NULL) return false;
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, by_size);
    double last = (double)(n - 1);
    *out = (plot_spread){sorted[0], sorted[(size_t)(0.05 * last)], sorted[n / 2],
                         sorted[(size_t)(0.95 * last + 0.5)], sorted[n - 1]};
    free(sorted);
    return true;
}

void plot_margins(const plot_spread *s, double *low, double *high)
{
    double margin = 0.04 * (s->most - s->least);
    if (!(margin > 0)) margin = fabs(s->least) > 0 ? 0.1 * fabs(s->least) : 1.0;
    *low = s->least - margin;
    *high = s->most + margin;
}

/* Quantile of a new reading of exposure 1. */
static double reading_quantile(const plot_data *data, size_t k, double sds)
{
    const double sd = data->sd_latent[k], p = 0.5 * erfc(-sds * 0.70710678118654752440);
    double quantile = NAN;
    hf_likelihood_quantile(hf_model_settings_of(data->model)->sites,
                           hf_posterior_noise(hf_model_posterior(data->model)), data->mean[k], sd * sd, p,
                           &quantile);
    return quantile;
}

double plot_band(const plot_data *data, size_t k, const double *sd, double sds)
{
    if (data->rates && sd == data->sd_observed) return reading_quantile(data, k, sds);
    return hf_transform_inverse(data->transform, data->mean[k] + sds * sd[k]);
}

/* How far the others' prediction of a reading is off, in standard deviations. */
static double distance(const plot_data *data, size_t i)
{
    const double t =
        data->residual != NULL ? data->residual[i] : (data->y[i] - data->loo_mean[i]) / data->loo_sd[i];
    return isnan(t) ? 0.0 : fabs(t);
}

size_t plot_find_marked(const plot_data *data, size_t marked[PLOT_MARKED])
{
    size_t count = 0;
    for (size_t i = 0; i < data->n; i++) {
        if (isnan(data->y[i]) || data->suspected[i] == 0.0) continue;
        size_t at = count;
        while (at > 0 && distance(data, i) > distance(data, marked[at - 1])) at--;
        if (at == PLOT_MARKED) continue;
        if (count < PLOT_MARKED) count++;
        for (size_t k = count - 1; k > at; k--) marked[k] = marked[k - 1];
        marked[at] = i;
    }
    return count;
}
