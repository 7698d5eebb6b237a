/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of several instruments, each with a noise variance and a threshold of its own. */
#include "sites/sites_impl.h"

#include <string.h>

hf_status hfi_sites_make_channels(hf_context *ctx, hf_sites *sites, size_t channels, const size_t *channel)
{
    size_t *of = hfi_alloc(ctx, sites->n, sizeof *of);
    double *noises = hfi_alloc(ctx, channels, 2 * sizeof *noises);
    if (of == NULL || noises == NULL) {
        HFI_FREE(ctx, of, noises);
        return HF_ERR_MEMORY;
    }
    if (sites->n > 0) memcpy(of, channel, sites->n * sizeof *of);
    for (size_t c = 0; c < channels; c++) {
        noises[c] = sites->noise;
        noises[channels + c] = sites->threshold;
    }
    HFI_MEMORY_FREE(&sites->memory, sites->channel, sites->noises);
    sites->channels = channels;
    sites->channel = of;
    sites->noises = noises;
    sites->thresholds = noises + channels;
    return HF_OK;
}

hf_status hf_sites_set_channels(hf_context *ctx, hf_sites *sites, size_t channels, const size_t *channel)
{
    if (sites == NULL || (channel == NULL && sites->n > 0))
        return hfi_refuse(ctx, "hf_sites_set_channels: %s is NULL", sites == NULL ? "sites" : "channel");
    if (channels == 0) return hfi_refuse(ctx, "hf_sites_set_channels: there are 0 channels");
    for (size_t i = 0; i < sites->n; i++)
        if (channel[i] >= channels)
            return hfi_refuse(ctx, "reading %zu is of channel %zu, but there are %zu (from 0)", i, channel[i],
                              channels);
    return hfi_sites_make_channels(ctx, sites, channels, channel);
}

hf_status hf_sites_set_channel_noise(hf_context *ctx, hf_sites *sites, const double *noise)
{
    if (sites == NULL || noise == NULL)
        return hfi_refuse(ctx, "hf_sites_set_channel_noise: %s is NULL", sites == NULL ? "sites" : "noise");
    if (!sites->channel) return hf_sites_set_noise(ctx, sites, noise[0]);
    const hf_status status = hfi_sites_check_noises(ctx, sites, noise);
    if (status < 0) return status;
    sites->noise = noise[0];
    memcpy(sites->noises, noise, sites->channels * sizeof *noise);
    for (size_t i = 0; i < sites->n; i++) hfi_site_refresh(sites, i);
    return HF_OK;
}

hf_status hf_sites_set_channel_beta(hf_context *ctx, hf_sites *sites, const double *beta)
{
    if (sites == NULL || beta == NULL)
        return hfi_refuse(ctx, "hf_sites_set_channel_beta: %s is NULL", sites == NULL ? "sites" : "beta");
    hf_status status = HF_OK;
    for (size_t c = 0; status >= 0 && c < sites->channels; c++) status = hfi_sites_check_beta(ctx, beta[c]);
    for (size_t i = 0; status >= 0 && i < sites->n; i++) {
        sites->beta[i] = beta[hfi_sites_channel(sites, i)];
        hfi_site_refresh(sites, i);
    }
    return status;
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
