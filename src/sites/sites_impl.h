/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sites_impl.h
 * @brief How one site follows from its reading; for the sites room only.
 */
#ifndef HFI_SITES_IMPL_H
#define HFI_SITES_IMPL_H

#include "sites/sites.h"

/** Room for channels, which the readings then belong to; noise and threshold of each are those of
 * all. */
hf_status hfi_sites_make_channels(hf_context *ctx, hf_sites *sites, size_t channels,
                                  const size_t *channel);

/** Weight and shift of reading i for its centre and the threshold in use (absent: both 0), then z
 * and d. */
void hfi_site_weigh(hf_sites *sites, size_t i);

/** z and d of reading i from weight, shift and noise. */
void hfi_site_refresh(hf_sites *sites, size_t i);

/** Finite and at least 0, and greater than 0 together with the extra variance of every present
 * reading; else
 *  an error that says which reading has no noise. */
hf_status hfi_sites_check_noise(hf_context *ctx, const hf_sites *sites, double noise);
/** The same for one noise variance per channel. */
hf_status hfi_sites_check_noises(hf_context *ctx, const hf_sites *sites, const double *noises);

/** An amplitude of the weight function is finite and at least 0. */
hf_status hfi_sites_check_beta(hf_context *ctx, double beta);

#endif
