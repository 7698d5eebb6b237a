/* SPDX-License-Identifier: Apache-2.0 */
/* Robust conjugate sites: inverse multiquadric weights about a centre. */
#include "sites/sites_impl.h"

#include <float.h>
#include <math.h>

static hf_status check_threshold(hf_context *ctx, double threshold)
{
    if (threshold >= DBL_MIN) return HF_OK; /* below it, 1/c overflows */
    return hfi_refuse(ctx, "the soft threshold is %g; give a positive number or infinity", threshold);
}

static hf_status check_centre(hf_context *ctx, const char *function, const hf_sites *sites,
                              const double *centre)
{
    if (sites == NULL || (centre == NULL && sites->n > 0))
        return hfi_refuse(ctx, "%s: %s is NULL", function, sites == NULL ? "sites" : "centre");
    for (size_t i = 0; i < sites->n; i++) {
        if (sites->weight[i] > 0.0 && !isfinite(centre[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the centre of reading %zu is %g; give a finite number",
                            i, centre[i]);
    }
    return HF_OK;
}

static void weigh_about(hf_sites *sites, const double *centre)
{
    for (size_t i = 0; i < sites->n; i++) {
        if (sites->weight[i] == 0.0) continue;
        sites->centre[i] = centre[i];
        hfi_site_weigh(sites, i);
    }
}

hf_status hf_sites_recentre(hf_context *ctx, hf_sites *sites, const double *centre, double threshold)
{
    hf_status status = check_centre(ctx, "hf_sites_recentre", sites, centre);
    if (status >= 0) status = check_threshold(ctx, threshold);
    if (status < 0) return status;
    sites->threshold = threshold;
    for (size_t c = 0; sites->channel && c < sites->channels; c++) sites->thresholds[c] = threshold;
    weigh_about(sites, centre);
    return HF_OK;
}

hf_status hf_sites_recentre_channels(hf_context *ctx, hf_sites *sites, const double *centre,
                                     const double *thresholds)
{
    hf_status status = check_centre(ctx, "hf_sites_recentre_channels", sites, centre);
    if (status >= 0 && thresholds == NULL)
        return hfi_refuse(ctx, "hf_sites_recentre_channels: thresholds is NULL");
    for (size_t c = 0; status >= 0 && c < sites->channels; c++) status = check_threshold(ctx, thresholds[c]);
    if (status < 0) return status;
    sites->threshold = thresholds[0];
    for (size_t c = 0; sites->channel && c < sites->channels; c++) sites->thresholds[c] = thresholds[c];
    weigh_about(sites, centre);
    return HF_OK;
}

hf_status hf_sites_robust(hf_context *ctx, size_t n, const double *y, double noise, const double *extra,
                          const double *centre, double threshold, hf_sites **out)
{
    if (out == NULL) return hfi_refuse(ctx, "hf_sites_robust: out is NULL");
    hf_sites *sites = NULL;
    hf_status status = hf_sites_gaussian(ctx, n, y, noise, extra, &sites);
    if (status >= 0) status = hf_sites_recentre(ctx, sites, centre, threshold);
    if (status < 0) {
        hf_sites_free(sites);
        return status;
    }
    *out = sites;
    return status;
}
