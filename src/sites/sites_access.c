/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at sites, and variances of a few readings' own. */
#include "sites/sites_impl.h"

size_t hf_sites_count(const hf_sites *sites)
{
    return sites != NULL ? sites->n : 0;
}

size_t hf_sites_present(const hf_sites *sites)
{
    size_t present = 0;
    for (size_t i = 0; i < hf_sites_count(sites); i++) present += sites->weight[i] > 0.0;
    return present;
}

bool hf_sites_is_present(const hf_sites *sites, size_t i)
{
    return i < hf_sites_count(sites) && sites->weight[i] > 0.0;
}

double hf_sites_noise(const hf_sites *sites)
{
    return sites != NULL ? sites->noise : 0.0;
}

double hf_sites_beta(const hf_sites *sites, size_t i)
{
    return i < hf_sites_count(sites) ? sites->beta[i] : 0.0;
}

size_t hf_sites_channels(const hf_sites *sites)
{
    return sites != NULL ? sites->channels : 0;
}

size_t hf_sites_channel(const hf_sites *sites, size_t i)
{
    return i < hf_sites_count(sites) ? hfi_sites_channel(sites, i) : 0;
}

double hf_sites_channel_noise(const hf_sites *sites, size_t channel)
{
    if (channel >= hf_sites_channels(sites)) return 0.0;
    return sites->channel ? sites->noises[channel] : sites->noise;
}

const double *hf_sites_targets(const hf_sites *sites)
{
    return sites != NULL ? sites->target : NULL;
}

const double *hf_sites_variances(const hf_sites *sites)
{
    return sites != NULL ? sites->variance : NULL;
}

const double *hf_sites_weights(const hf_sites *sites)
{
    return sites != NULL ? sites->weight : NULL;
}

const double *hf_sites_readings(const hf_sites *sites)
{
    return sites != NULL ? sites->y : NULL;
}

/* ---- variances of a few readings' own -------------------------------------------------------------------- */

void hfi_sites_set_own_variance(hf_sites *sites, size_t i, double known, double rho)
{
    sites->extra[i] = known + rho;
    hfi_site_refresh(sites, i);
}

void hfi_sites_fold_own_variances(hf_sites *sites, const double *known, const double *rho)
{
    for (size_t i = 0; i < sites->n; i++) {
        if (sites->weight[i] == 0.0) continue;
        const double s = hf_sites_channel_noise(sites, hf_sites_channel(sites, i)) + known[i];
        sites->extra[i] = known[i];
        sites->weight[i] = s / (s + rho[i]);
        hfi_site_refresh(sites, i);
    }
}
