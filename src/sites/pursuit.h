/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pursuit.h
 * @brief Gaussian sites of which some readings have a variance rho_i of their own, beyond noise and
 * what is known.
 *
 * While rho is being found it lies in the sites' extra variances: d_i = noise + known_i + rho_i
 * follows the noise with slope 1 for a held rho_i, which is what an objective's derivative in log
 * noise means. In the end it becomes a weight, from which readers of the sites see how far the
 * reading is trusted:
 *
 *     weight_i = s_i / (s_i + rho_i),   s_i = noise + known_i,   d_i = s_i / weight_i = s_i + rho_i
 */
#ifndef HFI_SITES_PURSUIT_H
#define HFI_SITES_PURSUIT_H

#include "sites/sites.h"

/** The extra variance of reading i becomes known + rho; d follows. */
void hfi_sites_set_own_variance(hf_sites *sites, size_t i, double known, double rho);
/** rho, n entries, from extra variances to weights; `known` as it was before. */
void hfi_sites_fold_own_variances(hf_sites *sites, const double *known, const double *rho);

#endif
