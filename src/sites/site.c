/* SPDX-License-Identifier: Apache-2.0 */
/* One site from one reading: the formulas of <holdfast/sites.h>, arranged so that nothing overflows. */
#include "sites/sites_impl.h"

#include <math.h>

/* A residual further out than this many thresholds counts as this far out. The weight is then 1e-200 and the
 * reading's pull 1e-100 of what it could be, so no result can tell the difference; but without the limit the
 * weight of a reading at 1e300 would underflow to zero and its variance overflow to infinity. */
static const double FURTHEST = 1e100;

/* The residual in use: y - g within the limit. NaN in, NaN out. */
static double residual(const hf_sites *sites, size_t i)
{
    double r = sites->y[i] - sites->centre[i];
    double limit = FURTHEST * hfi_sites_threshold(sites, i);
    return fabs(r) > limit ? copysign(limit, r) : r;
}

void hfi_site_weigh(hf_sites *sites, size_t i)
{
    if (isnan(sites->y[i])) {
        sites->weight[i] = 0.0;
        sites->shift[i] = 0.0;
    } else if (isinf(hfi_sites_threshold(sites, i))) {
        sites->weight[i] = 1.0;
        sites->shift[i] = 0.0;
    } else {
        double c = hfi_sites_threshold(sites, i), r = residual(sites, i), q = r / c;
        sites->weight[i] = 1.0 / (1.0 + q * q);
        /* 2 r / (c^2 + r^2), from whichever of r/c and c/r is at most 1. */
        sites->shift[i] = fabs(q) <= 1.0 ? 2.0 * q / (1.0 + q * q) / c : 2.0 / r / (1.0 + 1.0 / (q * q));
    }
    hfi_site_refresh(sites, i);
}

/* d for the noise variance s of a reading. With an amplitude of its own it is a product of which each factor
 * is moderate. */
static double site_variance(double beta, double s, double weight)
{
    return beta > 0.0 ? s / beta * (s / beta) / (2.0 * weight) : s / weight;
}

double hfi_sites_variance_slope(const hf_sites *sites, size_t i)
{
    if (sites->given) return 0.0;
    const double s = hfi_sites_noise(sites, i), beta = sites->beta[i];
    return beta > 0.0 ? s / beta / beta / sites->weight[i] : 1.0 / sites->weight[i];
}

void hfi_site_refresh(hf_sites *sites, size_t i)
{
    if (sites->given) return;
    if (sites->weight[i] == 0.0) {
        sites->target[i] = NAN;
        sites->variance[i] = INFINITY;
        return;
    }
    double s = hfi_sites_noise(sites, i), y = sites->y[i];
    if (!isnan(sites->centre[i]) && !isinf(hfi_sites_threshold(sites, i))) {
        double r = residual(sites, i);
        /* Only a reading beyond the limit is moved; g + (y - g) would round all the others. */
        if (r != y - sites->centre[i]) y = sites->centre[i] + r;
    }
    sites->target[i] = y + s * sites->shift[i];
    sites->variance[i] = site_variance(sites->beta[i], s, sites->weight[i]);
}

/* One noise variance, for the readings of one channel or for all (SIZE_MAX). */
static hf_status check_noise(hf_context *ctx, const hf_sites *sites, size_t channel, double noise)
{
    if (!(noise >= 0.0) || isinf(noise))
        return hfi_refuse(ctx, "the noise variance is %g; give a finite number of at least 0", noise);
    for (size_t i = 0; i < sites->n; i++) {
        if (channel != SIZE_MAX && hfi_sites_channel(sites, i) != channel) continue;
        if (sites->weight[i] > 0.0 && !(noise + sites->extra[i] > 0.0))
            return hfi_refuse(
                ctx, "reading %zu has noise variance 0; give a positive noise or a known variance for it", i);
        if (isinf(noise + sites->extra[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the noise variance of reading %zu, %g + %g, overflows",
                            i, noise, sites->extra[i]);
    }
    return HF_OK;
}

hf_status hfi_sites_check_noise(hf_context *ctx, const hf_sites *sites, double noise)
{
    return check_noise(ctx, sites, SIZE_MAX, noise);
}

hf_status hfi_sites_check_noises(hf_context *ctx, const hf_sites *sites, const double *noises)
{
    hf_status s = HF_OK;
    for (size_t c = 0; s >= 0 && c < sites->channels; c++) s = check_noise(ctx, sites, c, noises[c]);
    return s;
}
