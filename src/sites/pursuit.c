/* SPDX-License-Identifier: Apache-2.0 */
/* Variances of a few readings' own. */
#include "sites/pursuit.h"
#include "sites/sites_impl.h"

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
