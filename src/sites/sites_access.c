/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at sites. */
#include "sites/sites.h"

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
