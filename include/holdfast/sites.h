/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sites.h
 * @brief Every likelihood becomes Gaussian pseudo-observations: sites.
 *
 * The site of reading i is a target z_i and a variance d_i > 0; a solver sees nothing else:
 *
 *     s_i = noise + extra_i  noise variance of the reading (extra: known, per reading; usually 0)
 *     z_i = y_i + s_i shift_i
 *     d_i = s_i / weight_i
 *
 * Gaussian readings have weight 1 and shift 0. Robust conjugate readings (inverse multiquadric
 * weight function with centre g and soft threshold c) have, with r = y - g,
 *
 *     weight = 1 / (1 + r^2 / c^2),   shift = 2 r / (c^2 + r^2)
 *
 * so c -> infinity gives the Gaussian site and |y| -> infinity has vanishing influence. Source:
 * Altamirano, Briol, Knoblauch, "Robust and Conjugate Gaussian Process Regression" (2024),
 * Proposition 3.1, with beta = sqrt(noise / 2). A reading that is missing (y = NaN) or set aside is
 * *absent*: weight 0, no site.
 *
 * Readings of any finite size are fine: a residual beyond 1e100 c counts as 1e100 c. At that
 * distance a reading has lost all but 1e-100 of its pull. So no weight underflows and no variance
 * is infinite.
 *
 * Thread safety: sites may be read by any number of threads at once; whoever changes them needs
 * them alone.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_SITES_H
#define HOLDFAST_SITES_H

#include <holdfast/context.h>

HF_BEGIN_DECLS

typedef struct hf_sites hf_sites;

/** Where robust weights are centred. */
typedef enum hf_centre {
    /** the prior mean (the published RCGP) */
    HF_CENTRE_PRIOR = 0,
    /** the leave-one-out posterior mean, iterated to a fixed point */
    HF_CENTRE_LEAVE_ONE_OUT,
    /** the median of the nearest readings, not counting the reading itself */
    HF_CENTRE_NEIGHBOURS,
    /** several outputs: what the other readings of the same sample say (outputs.h) */
    HF_CENTRE_CONDITIONAL
} hf_centre;

/** How the soft threshold c is chosen from the residuals r = y - g of the present readings. */
typedef enum hf_threshold_rule {
    /** The (1 - eps) quantile of |r|, linear interpolation of order statistics; for a conditional
     * centre (several outputs) the order statistic at or below it. */
    HF_THRESHOLD_QUANTILE = 0,
    /** 3 x 1.4826 x median |r - median r| */
    HF_THRESHOLD_MAD,
    /** the caller's number, kept as it is */
    HF_THRESHOLD_GIVEN
} hf_threshold_rule;

/**
 * Gaussian sites for n readings.
 * @param n     any number, 0 included
 * @param y     n targets; NaN = missing; infinite is HF_ERR_NOT_FINITE. Copied.
 * @param noise noise variance, finite, >= 0 (> 0 unless the extra of every present reading is)
 * @param extra n known noise variances, finite, >= 0, to be added, or NULL; those of missing
 *              readings are not looked at. Copied.
 * O(n).
 */
HF_API hf_status hf_sites_gaussian(hf_context *ctx, size_t n, const double *y, double noise,
                                   const double *extra, hf_sites **out);

/**
 * Robust sites: the same with `centre` (n entries, finite where a reading is present) and threshold
 * c > 0 (infinity allowed: Gaussian sites, exactly).
 * Errors: those of hf_sites_gaussian(); HF_ERR_ARGUMENT for a threshold that is not positive,
 * HF_ERR_NOT_FINITE for a centre that is not finite where a reading is present. O(n).
 */
HF_API hf_status hf_sites_robust(hf_context *ctx, size_t n, const double *y, double noise,
                                 const double *extra, const double *centre, double threshold,
                                 hf_sites **out);
HF_API hf_status hf_sites_copy(hf_context *ctx, const hf_sites *sites, hf_sites **out);
HF_API void hf_sites_free(hf_sites *sites);

/** Number of readings n, how many of them have a site, and whether reading i does. O(1); counting
 * those with a site is O(n). */
HF_API size_t hf_sites_count(const hf_sites *sites);
HF_API size_t hf_sites_present(const hf_sites *sites);
HF_API bool hf_sites_is_present(const hf_sites *sites, size_t i);
/** The noise variance they were made with; with channels, that of channel 0. */
HF_API double hf_sites_noise(const hf_sites *sites);
/** z, d, weights, readings: n entries each, owned by the sites. Absent ones: z = NaN, d = inf,
 * weight 0. */
HF_API const double *hf_sites_targets(const hf_sites *sites);
HF_API const double *hf_sites_variances(const hf_sites *sites);
HF_API const double *hf_sites_weights(const hf_sites *sites);
HF_API const double *hf_sites_readings(const hf_sites *sites);

/**
 * Changes the noise variance; z and d, both linear in it, follow. On error nothing changes. O(n).
 * Errors: HF_ERR_ARGUMENT for NULL and for a variance that is negative, not finite, or 0 where a
 * present reading has no other.
 */
HF_API hf_status hf_sites_set_noise(hf_context *ctx, hf_sites *sites, double noise);
/** Takes reading i out (present = false) or back in as a Gaussian site of weight 1, until the next
 * recentring; a reading that is present already keeps its weight, a missing one cannot come back.
 * O(1).
 * Errors: HF_ERR_ARGUMENT for NULL, no such reading, one that is missing or has variance 0.
 */
HF_API hf_status hf_sites_set_present(hf_context *ctx, hf_sites *sites, size_t i, bool present);
/**
 * Amplitude beta of the weight function w = beta (1 + r^2/c^2)^-1/2: then d_i = s_i^2 / (2 w^2). 0,
 * with which sites are made, stands for sqrt(s_i / 2), so that an ordinary reading has d_i = s_i;
 * the published RCaGP has 1. Finite, >= 0. O(n).
 * Errors, with nothing changed: HF_ERR_ARGUMENT for NULL and other numbers.
 */
HF_API hf_status hf_sites_set_beta(hf_context *ctx, hf_sites *sites, double beta);
/**
 * Readings of several instruments or outputs: reading i is of channel[i] < channels, and s_i =
 * noise of its channel + extra_i. All channels start with the noise and threshold that the sites
 * have. n entries, copied; calling it again makes new channels. Without channels there is one, 0.
 * O(n).
 * Errors, with nothing changed: HF_ERR_ARGUMENT for NULL, 0 channels and a reading of no channel;
 * HF_ERR_MEMORY.
 */
HF_API hf_status hf_sites_set_channels(hf_context *ctx, hf_sites *sites, size_t channels,
                                       const size_t *channel);
/** One noise variance per channel (hf_sites_channels() entries, as for hf_sites_set_noise(), which
 * gives all channels the same). On error nothing changes. O(n channels).
 * Errors: those of hf_sites_set_noise().
 */
HF_API hf_status hf_sites_set_channel_noise(hf_context *ctx, hf_sites *sites, const double *noise);
/** One amplitude beta per channel (hf_sites_channels() entries, each as for hf_sites_set_beta(),
 * which gives all channels the same). It stays with the readings when they get other channels. On
 * error nothing changes. O(n).
 * Errors: those of hf_sites_set_beta().
 */
HF_API hf_status hf_sites_set_channel_beta(hf_context *ctx, hf_sites *sites, const double *beta);
/** Amplitude of reading i, 0 for the usual one and where there is no such reading. O(1). */
HF_API double hf_sites_beta(const hf_sites *sites, size_t i);
/** Number of channels; that of reading i; the noise variance of a channel, 0 if there is none. */
HF_API size_t hf_sites_channels(const hf_sites *sites);
HF_API size_t hf_sites_channel(const hf_sites *sites, size_t i);
HF_API double hf_sites_channel_noise(const hf_sites *sites, size_t channel);
/** New centre for all present readings as by hf_sites_recentre(), with one threshold per channel.
 * O(n).
 * Errors: those of hf_sites_recentre().
 */
HF_API hf_status hf_sites_recentre_channels(hf_context *ctx, hf_sites *sites, const double *centre,
                                            const double *thresholds);
/** New centre and threshold for all present readings; entries of absent ones are not looked at. On
 * error nothing changes. O(n).
 * Errors: HF_ERR_ARGUMENT for NULL and a threshold that is not positive; HF_ERR_NOT_FINITE for a
 * centre that is not finite where a reading is present.
 */
HF_API hf_status hf_sites_recentre(hf_context *ctx, hf_sites *sites, const double *centre,
                                   double threshold);

/**
 * c by a rule, from the residuals y - centre of the present readings.
 * @param eps       expected share of outliers, in [0, 1); for the quantile rule only. 0: none is
 * expected; the threshold is the largest residual, so that no weight is below 1/2.
 * @param threshold receives c. With HF_THRESHOLD_GIVEN it holds the number already, which is
 *         checked and kept.
 * The result is positive and finite: at least 1e-6 of the readings' own 1.4826 MAD, so that exact
 * data still have a threshold; where that is zero too, 1e-6 of the largest residual; 1 when all are
 * zero.
 * Errors: HF_ERR_NO_DATA (no reading), HF_ERR_NOT_FINITE (y infinite, or a centre not finite where
 * a reading is present). O(n log n).
 */
HF_API hf_status hf_robust_threshold(hf_context *ctx, hf_threshold_rule rule, size_t n,
                                     const double *y, const double *centre, double eps,
                                     double *threshold);

/**
 * Centre by nearest readings: the median of y over the 11 nearest rows with a reading (Euclid on
 * the inputs as given, so standardise them first; all such rows when there are fewer), the row
 * itself not counted. Among rows equally far away those with the lower index count. Where there is
 * no other reading, the row's own.
 * @param centre n entries, must not overlap y
 * Errors: HF_ERR_NO_DATA (no reading), HF_ERR_NOT_FINITE, HF_ERR_DIMENSION (ldx < d). O(n^2 d) on
 * the context's threads, with a copy of x and n doubles per thread.
 */
HF_API hf_status hf_robust_centre_neighbours(hf_context *ctx, size_t n, size_t d, const double *x,
                                             size_t ldx, const double *y, double *centre);

/** Noise variance that is consistent for normal readings: the v with v E[u^2 / (1 + u^2 v / c^2)] =
 * noise, u ~ N(0, 1): what down-weighting took away is given back. v >= noise; v -> noise as c ->
 * infinity. Relative accuracy 1e-13. There is no such v when noise >= c^2 (nearly all weight is
 * gone then): the correction ends at v = 100 c^2, a factor of 113, which larger noise gets too. NaN
 * unless noise >= 0 and c > 0. */
HF_API double hf_robust_consistent_noise(double noise, double threshold);

HF_END_DECLS

#endif
