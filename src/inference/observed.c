/* SPDX-License-Identifier: Apache-2.0 */
/* New counts and amounts, for everybody. */
#include "settings/settings.h"
#include <holdfast/likelihood.h>
#include <math.h>

static hf_status check_rate_query(hf_likelihood sites, double dispersion, double mean, double var,
                                  const void *out, const hfi_likelihood **likelihood)
{
    *likelihood = hfi_likelihood_of_rates(sites);
    if (!*likelihood || !out) return HF_ERR_ARGUMENT;
    if (!isfinite(mean) || !isfinite(var)) return HF_ERR_NOT_FINITE;
    if (var < 0.0) return HF_ERR_ARGUMENT;
    if (!(*likelihood)->parameter) return HF_OK;
    if (!isfinite(dispersion)) return HF_ERR_NOT_FINITE;
    return dispersion > 0.0 ? HF_OK : HF_ERR_ARGUMENT;
}

bool hf_likelihood_has_rate(hf_likelihood sites)
{
    return hfi_likelihood_of_rates(sites) != NULL;
}

bool hf_likelihood_has_labels(hf_likelihood sites)
{
    return hfi_likelihood_is_class(sites);
}

hf_status hf_likelihood_moments(hf_likelihood sites, double dispersion, double mean, double var,
                                hf_reading_moments *out)
{
    const hfi_likelihood *l = NULL;
    const hf_status s = check_rate_query(sites, dispersion, mean, var, out, &l);
    if (s >= 0) hfi_likelihood_moments(l, dispersion, mean, var, &out->mean, &out->sd_mean, &out->sd);
    return s;
}

hf_status hf_likelihood_cumulative(hf_likelihood sites, double dispersion, double mean, double var, double y,
                                   double *probability)
{
    const hfi_likelihood *l = NULL;
    const hf_status s = check_rate_query(sites, dispersion, mean, var, probability, &l);
    if (s < 0) return s;
    if (isnan(y)) return HF_ERR_NOT_FINITE;
    *probability = hfi_likelihood_cumulative(l, dispersion, mean, var, y);
    return HF_OK;
}

hf_status hf_likelihood_quantile(hf_likelihood sites, double dispersion, double mean, double var, double p,
                                 double *quantile)
{
    const hfi_likelihood *l = NULL;
    const hf_status s = check_rate_query(sites, dispersion, mean, var, quantile, &l);
    if (s < 0) return s;
    if (!(p > 0.0 && p < 1.0)) return HF_ERR_ARGUMENT;
    *quantile = hfi_likelihood_quantile(l, dispersion, mean, var, p);
    return HF_OK;
}

hf_status hf_likelihood_log_score(hf_likelihood sites, double dispersion, double mean, double var, double y,
                                  double *log_density)
{
    const hfi_likelihood *l = NULL;
    const hf_status s = check_rate_query(sites, dispersion, mean, var, log_density, &l);
    if (s < 0) return s;
    if (!hfi_likelihood_allows(l, y)) return HF_ERR_ARGUMENT;
    hfi_seen seen = {.y = y, .dispersion = dispersion};
    hfi_likelihood_place(l, &seen);
    *log_density = hfi_likelihood_tilt(l, &seen, 1.0, mean, var).log_z;
    return HF_OK;
}

hf_status hf_likelihood_crps(hf_likelihood sites, double dispersion, double mean, double var, double y,
                             double *crps)
{
    const hfi_likelihood *l = NULL;
    const hf_status s = check_rate_query(sites, dispersion, mean, var, crps, &l);
    if (s < 0) return s;
    if (!hfi_likelihood_allows(l, y)) return HF_ERR_ARGUMENT;
    *crps = hfi_likelihood_crps(l, dispersion, mean, var, y);
    return HF_OK;
}
