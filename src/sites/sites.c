/* SPDX-License-Identifier: Apache-2.0 */
/* Life of a set of sites, and what can be changed about it afterwards. */
#include "sites/sites_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- readings of several instruments ----------------------------------------------------------------- */

/* Room for channels, which the readings then belong to; noise and threshold of each are those of all. */
static hf_status make_channels(hf_context *ctx, hf_sites *sites, size_t channels, const size_t *channel)
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
    return make_channels(ctx, sites, channels, channel);
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

/* An amplitude of the weight function is finite and at least 0. */
static hf_status check_beta(hf_context *ctx, double beta)
{
    if (beta >= 0.0 && isfinite(beta)) return HF_OK;
    return hfi_refuse(ctx, "beta is %g; give a positive number, or 0 for the usual amplitude", beta);
}

hf_status hf_sites_set_channel_beta(hf_context *ctx, hf_sites *sites, const double *beta)
{
    if (sites == NULL || beta == NULL)
        return hfi_refuse(ctx, "hf_sites_set_channel_beta: %s is NULL", sites == NULL ? "sites" : "beta");
    hf_status status = HF_OK;
    for (size_t c = 0; status >= 0 && c < sites->channels; c++) status = check_beta(ctx, beta[c]);
    for (size_t i = 0; status >= 0 && i < sites->n; i++) {
        sites->beta[i] = beta[hfi_sites_channel(sites, i)];
        hfi_site_refresh(sites, i);
    }
    return status;
}

/* ---- life of a set of sites --------------------------------------------------------------------------- */

/* Arrays of n entries that share one block, in the order in which they are carved out of it. */
enum {
    ARRAYS = 8
};

static hf_status allocate_sites(hf_context *ctx, size_t n, hf_sites **out)
{
    hf_sites *sites = hfi_alloc(ctx, 1, sizeof *sites);
    if (sites == NULL) return HF_ERR_MEMORY;
    double *block = hfi_alloc(ctx, n, ARRAYS * sizeof *block);
    if (block == NULL) {
        hfi_free(ctx, sites);
        return HF_ERR_MEMORY;
    }
    *sites = (hf_sites){.memory = hfi_context_memory(ctx),
                        .n = n,
                        .threshold = INFINITY,
                        .channels = 1,
                        .y = block,
                        .extra = block + n,
                        .centre = block + 2 * n,
                        .weight = block + 3 * n,
                        .shift = block + 4 * n,
                        .target = block + 5 * n,
                        .variance = block + 6 * n,
                        .beta = block + 7 * n};
    *out = sites;
    return HF_OK;
}

void hf_sites_free(hf_sites *sites)
{
    if (sites == NULL) return;
    hfi_memory memory = sites->memory; /* by value: the sites themselves are about to go */
    HFI_MEMORY_FREE(&memory, sites->channel, sites->noises, sites->y, sites);
}

static hf_status check_readings(hf_context *ctx, size_t n, const double *y, const double *extra)
{
    if (y == NULL && n > 0) return hfi_refuse(ctx, "sites: y is NULL but n is %zu", n);
    for (size_t i = 0; i < n; i++) {
        if (isinf(y[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "reading %zu (counted from 0) is infinite; mark a missing reading with NaN", i);
        if (extra != NULL && !isnan(y[i]) && (!(extra[i] >= 0.0) || isinf(extra[i])))
            return hfi_refuse(ctx,
                              "the known variance of reading %zu is %g; give a finite number of at least 0",
                              i, extra[i]);
    }
    return HF_OK;
}

hf_status hf_sites_gaussian(hf_context *ctx, size_t n, const double *y, double noise, const double *extra,
                            hf_sites **out)
{
    if (out == NULL) return hfi_refuse(ctx, "hf_sites_gaussian: out is NULL");
    hf_status status = check_readings(ctx, n, y, extra);
    if (status < 0) return status;
    hf_sites *sites = NULL;
    status = allocate_sites(ctx, n, &sites);
    if (status < 0) return status;
    sites->noise = noise;
    for (size_t i = 0; i < n; i++) {
        sites->y[i] = y[i];
        sites->extra[i] = extra != NULL && !isnan(y[i]) ? extra[i] : 0.0;
        sites->centre[i] = NAN;
        hfi_site_weigh(sites, i);
    }
    status = hfi_sites_check_noise(ctx, sites, noise);
    if (status < 0) {
        hf_sites_free(sites);
        return status;
    }
    *out = sites;
    return HF_OK;
}

hf_status hf_sites_copy(hf_context *ctx, const hf_sites *sites, hf_sites **out)
{
    if (sites == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_sites_copy: %s is NULL", sites == NULL ? "sites" : "out");
    hf_sites *copy = NULL;
    hf_status status = allocate_sites(ctx, sites->n, &copy);
    if (status < 0) return status;
    copy->noise = sites->noise;
    copy->threshold = sites->threshold;
    copy->given = sites->given;
    if (sites->n > 0) memcpy(copy->y, sites->y, ARRAYS * sites->n * sizeof *copy->y);
    if (sites->channel) status = make_channels(ctx, copy, sites->channels, sites->channel);
    if (status < 0) {
        hf_sites_free(copy);
        return status;
    }
    if (sites->channel) memcpy(copy->noises, sites->noises, 2 * sites->channels * sizeof *copy->noises);
    *out = copy;
    return HF_OK;
}

hf_status hfi_sites_rearrange(hf_context *ctx, hf_sites *sites, const size_t *order)
{
    hf_status s = HF_OK;
    for (size_t k = 0; s >= 0 && k < ARRAYS; k++)
        s = hfi_rearrange(ctx, sites->n, sizeof *sites->y, order, sites->y + k * sites->n);
    if (s < 0 || !sites->channel) return s;
    return hfi_rearrange(ctx, sites->n, sizeof *sites->channel, order, sites->channel);
}

hf_status hf_sites_set_noise(hf_context *ctx, hf_sites *sites, double noise)
{
    if (sites == NULL) return hfi_refuse(ctx, "hf_sites_set_noise: sites is NULL");
    hf_status status = hfi_sites_check_noise(ctx, sites, noise);
    if (status < 0) return status;
    sites->noise = noise;
    for (size_t c = 0; sites->channel && c < sites->channels; c++) sites->noises[c] = noise;
    for (size_t i = 0; i < sites->n; i++) hfi_site_refresh(sites, i);
    return HF_OK;
}

hf_status hf_sites_set_beta(hf_context *ctx, hf_sites *sites, double beta)
{
    if (sites == NULL) return hfi_refuse(ctx, "hf_sites_set_beta: sites is NULL");
    const hf_status status = check_beta(ctx, beta);
    if (status < 0) return status;
    for (size_t i = 0; i < sites->n; i++) {
        sites->beta[i] = beta;
        hfi_site_refresh(sites, i);
    }
    return HF_OK;
}

hf_status hfi_sites_set_betas(hf_context *ctx, hf_sites *sites, const double *beta)
{
    hf_status status = HF_OK;
    for (size_t i = 0; status >= 0 && i < sites->n; i++) status = check_beta(ctx, beta[i]);
    for (size_t i = 0; status >= 0 && i < sites->n; i++) {
        sites->beta[i] = beta[i];
        hfi_site_refresh(sites, i);
    }
    return status;
}

void hfi_sites_weigh_as(hf_sites *sites, size_t i, double weight, double shift)
{
    if (!(sites->weight[i] > 0.0)) return;
    sites->weight[i] = weight;
    sites->shift[i] = shift;
    sites->centre[i] = NAN; /* shift and weight have no other memory of it */
    hfi_site_refresh(sites, i);
}

void hfi_sites_give(hf_sites *sites, const double *target, const double *variance)
{
    sites->given = true;
    for (size_t i = 0; i < sites->n; i++) {
        const double s = hfi_sites_noise(sites, i);
        const bool present = !isnan(sites->y[i]) && !isinf(variance[i]);
        /* A weight that rounds to 0 would make the reading absent. */
        sites->weight[i] = present ? fmax(DBL_MIN, fmin(1.0, s / variance[i])) : 0.0;
        sites->shift[i] = 0.0;
        sites->target[i] = present ? target[i] : NAN;
        sites->variance[i] = present ? variance[i] : INFINITY;
    }
}

hf_status hf_sites_set_present(hf_context *ctx, hf_sites *sites, size_t i, bool present)
{
    if (sites == NULL) return hfi_refuse(ctx, "hf_sites_set_present: sites is NULL");
    if (i >= sites->n)
        return hfi_refuse(ctx, "there is no reading %zu among %zu (they count from 0)", i, sites->n);
    if (present == (sites->weight[i] > 0.0)) return HF_OK;
    if (present && isnan(sites->y[i]))
        return hfi_refuse(ctx, "reading %zu is missing (NaN) and cannot be made present", i);
    if (present && !(hfi_sites_noise(sites, i) > 0.0))
        return hfi_refuse(ctx, "reading %zu has noise variance 0 and cannot be made present", i);
    sites->weight[i] = present ? 1.0 : 0.0;
    sites->shift[i] = 0.0;
    sites->centre[i] = NAN;
    hfi_site_refresh(sites, i);
    return HF_OK;
}
