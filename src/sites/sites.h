/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sites.h
 * @brief Internal face of the sites room: the site arrays, and what the suspect finder computes
 * from residuals alone.
 */
#ifndef HFI_SITES_H
#define HFI_SITES_H

#include "core/core.h"
#include <holdfast/sites.h>

struct hf_sites {
    hfi_memory memory;
    size_t n;
    double noise;     /* of channel 0 */
    double threshold; /* soft threshold in use, of channel 0; infinity for Gaussian sites */
    /* targets and variances were given (hfi_sites_give) and do not follow the noise */
    bool given;
    size_t channels; /* 1 when `channel` is NULL */
    size_t *channel; /* channel of every reading, or NULL: all are of one */
    double *noises;  /* with channels: noise and threshold of each; else NULL */
    double *thresholds;
    double *y;        /* readings, NaN = missing */
    double *extra;    /* known per-reading variances, 0 where none */
    double *centre;   /* g; NaN for Gaussian sites */
    double *weight;   /* rho in (0, 1]; 0 when absent */
    double *beta;     /* amplitude of the weight function; 0: sqrt(s / 2), so that d = s / weight */
    double *shift;    /* dz/dnoise; dd/dnoise is hfi_sites_variance_slope() */
    double *target;   /* z */
    double *variance; /* d */
};

/** Channel of reading i; s_i, its noise variance with what is known about it alone; its
 * threshold. */
static inline size_t hfi_sites_channel(const hf_sites *sites, size_t i)
{
    return sites->channel ? sites->channel[i] : 0;
}
/** The channel that has an output's noise: its own, or the one that all outputs share. */
static inline size_t hfi_sites_output_channel(const hf_sites *sites, size_t output)
{
    return sites->channels > 1 ? output : 0;
}
static inline double hfi_sites_noise(const hf_sites *sites, size_t i)
{
    return (sites->channel ? sites->noises[sites->channel[i]] : sites->noise) + sites->extra[i];
}
static inline double hfi_sites_threshold(const hf_sites *sites, size_t i)
{
    return sites->channel ? sites->thresholds[sites->channel[i]] : sites->threshold;
}
/** hf_sites_set_beta() with an amplitude for each of the n readings. */
hf_status hfi_sites_set_betas(hf_context *ctx, hf_sites *sites, const double *beta);
/** d d_i / d noise of a present reading: 1 / weight, or s / (beta^2 weight), or 0 for given
 * sites. */
double hfi_sites_variance_slope(const hf_sites *sites, size_t i);
/** Weight (in (0, 1]) and shift of a present reading as they are, until the next recentring; z and
 * d follow the noise. */
void hfi_sites_weigh_as(hf_sites *sites, size_t i, double weight, double shift);
/** Reading k becomes reading order[k], a permutation, with all that belongs to it. HF_ERR_MEMORY,
 * after which the sites are of no use. */
hf_status hfi_sites_rearrange(hf_context *ctx, hf_sites *sites, const size_t *order);
/** Sites that some iteration settled on (Student-t, expectation propagation): targets and variances
 * (n entries, positive; infinite: the reading says nothing and becomes absent) as they are,
 * whatever the noise. weight := min(1, s_i / d_i). hf_sites_recentre() and hf_sites_set_present()
 * are not for such sites. */
void hfi_sites_give(hf_sites *sites, const double *target, const double *variance);

/* ---- the suspect finder's parts that need no kernel
 * -------------------------------------------------------
 *
 * The mixtures' sums run over sorted residuals, so that the order of the rows does not matter, bit
 * for bit. With fewer than 4 residuals nothing is an outlier. A residual beyond 1000 t0, t0 =
 * 1.4826 x median |t|, is an outlier without being asked (probability 1). The liberal and the prune
 * mixture leave it out, so that it cannot stretch the outliers' range and hide the others; the gain
 * counts it as that far out. NaN among the residuals in use is HF_ERR_NOT_FINITE.
 */

/** Posterior probability that each standardised residual t_i is an outlier, under the "liberal"
 * mixture
 *  (1-pi) T_nu(0, tau) + pi U(range of t); ML over nu in {1, 1.5, 2, 3, 5, 10, 30} by EM (40 steps,
 *  pi from
 * 0.005 and 0.1, pi <= 0.5). `skip[i]` leaves a reading out (its probability is set to 1); NULL
 * skips none. The range counts as at least 4 t0. `probability` has n entries; *tau receives the
 * scale. 3 ms for n = 400. */
hf_status hfi_mixture_liberal(hf_context *ctx, size_t n, const double *t, const bool *skip,
                              double *probability, double *tau);

/** The "prune" mixture: outliers uniform on a <= |t| <= max|t| (both sides, left, or right), a in 3
 * t0 1.5^k, k = 0..12, t0 = 1.4826 median |t|, at most half of the readings beyond a; nu in {2, 3,
 * 5, 10, 30}; EM 25 steps from the share beyond a; best likelihood wins. A side counts as at least
 * t0 wide. 4 ms for n = 400. */
hf_status hfi_mixture_prune(hf_context *ctx, size_t n, const double *t, const bool *skip,
                            double *probability, double *tau);

/** gain = max log likelihood of the prune mixture (nu from 1 on; outliers uniform in t or in log
 * |t|, so that one far out does not thin the others) - max log likelihood of T_nu alone; >= 0. */
hf_status hfi_mixture_gain(hf_context *ctx, size_t n, const double *t, const bool *skip,
                           double *gain);

/** Tight groups of rows: connected components of the graph "distance < 0.35 x median
 * nearest-neighbour distance" with max(4, 0.02 n) <= size <= 0.4 n; at most `max_groups`, largest
 * first. group[i] = 0 for none, 1.. for the group. O(n^2 d). */
hf_status hfi_suspect_groups(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                             size_t max_groups, size_t *group, size_t *count);

/* ---- variances of a few readings' own -------------------------------------------------------- */

/* While rho is being found it lies in the sites' extra variances: d_i = noise + known_i + rho_i
 * follows the noise with slope 1 for a held rho_i, which is what an objective's derivative in log
 * noise means. In the end it becomes a weight, from which readers of the sites see how far the
 * reading is trusted:
 *
 *     weight_i = s_i / (s_i + rho_i),   s_i = noise + known_i,   d_i = s_i / weight_i = s_i + rho_i
 */

/** The extra variance of reading i becomes known + rho; d follows. */
void hfi_sites_set_own_variance(hf_sites *sites, size_t i, double known, double rho);
/** rho, n entries, from extra variances to weights; `known` as it was before. */
void hfi_sites_fold_own_variances(hf_sites *sites, const double *known, const double *rho);

#endif
