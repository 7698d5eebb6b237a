/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file outputs.h
 * @brief Several correlated outputs at one input: what the others say about one of them, and
 * weights for readings, rows and outputs.
 *
 * There are n rows (inputs) and T outputs. y is n x T, row-major, row i at y + i * ldy; any reading
 * may be missing (NaN). The readings of a row are normal with means m and covariance
 *
 *     C = B + diag(s)     B: T x T covariance of the latent outputs at one input; s: noises
 *
 * so that for any set O of outputs, C_OO is that of the readings of O. With the intrinsic
 * coregionalisation model K((x,t),(x',t')) = B_tt' k(x,x') and k(x,x) = 1, B is its B; with a sum
 * of such kernels, the sum of theirs. Where k(x,x) is not the same everywhere (`linear`), each row
 * has a B of its own.
 *
 * **Weights.** A reading becomes a site with
 *
 *     z_it = y_it + s_t shift_it          d_it = s_t / weight_it          0 < weight_it <= 1
 *
 * as in sites.h. Where shift comes from: the robust conjugate loss of one row is that of weighted
 * score matching, after integration by parts. With the diagonal weight matrix W(y) = diag(w_t(y))
 * it is, up to a constant in f,
 *
 *     sum_t w_t^2 / s_t^2 (f_t - y_t)^2 + 2 sum_t d/dy_t [ w_t^2 (f_t - y_t) / s_t ]
 *
 * in which f_t has the coefficients w_t^2 / s_t^2 (of f_t^2) and -2 [ w_t^2 y_t / s_t^2 -
 * (dw_t^2/dy_t) / s_t ] (of f_t). Completing the square leaves
 *
 *     d_t = s_t^2 / (2 w_t^2),   z_t = y_t - s_t d log w_t^2 / dy_t
 *
 * and with w_t = sqrt(s_t / 2) sqrt(weight_t):   shift_t = - d log weight_t / dy_t.
 *
 * Only the derivative by the *own* reading appears, also when a weight depends on the others: the
 * divergence takes the t-th entry by the t-th reading. This is exact for any diagonal W that is
 * differentiable in y with diagonal noise; what is not in it is that thresholds and scales are
 * themselves computed from the readings: they are held fixed, here as in the published method.
 *
 * - HF_OUTPUTS_READING, each reading by itself: with r = y_it - g_it, weight = 1 / (1 + r^2 /
 *   c_t^2), shift = 2 r / (c_t^2 + r^2). g may depend on anything but y_it. |weight r| <= c_t / 2
 *   and |shift| <= 1 / c_t, wherever any reading is.
 * - HF_OUTPUTS_JOINT, each row as a whole: with r = y - m over the p_i outputs O observed in row i,
 *   A = C_OO + ridge I, q = r' A^-1 r / p_i: weight = 1 / (1 + q / c^2) for all of them, shift_t =
 *   d log(1 + q / c^2) / dy_t = (2 / p_i) (A^-1 r)_t / (c^2 + q). |weight r_t| <= c sqrt(p_i A_tt)
 *   / 2 and |shift_t| <= sqrt((A^-1)_tt / p_i) / c. For T = 1 it is the first with c_t = c sqrt(C +
 *   ridge) and centre m.
 * - HF_OUTPUTS_CHANNEL, each output as a whole: weight_t = s_t / (s_t + e_t) for all its readings,
 *   shift 0. (The weight is no function of a single reading; its part in the medians is left out
 *   like that in thresholds.) e_t >= 0 is the variance that the output's residuals have in excess:
 *   the robust scale of output t is k_t = median_i |y_it - g_it| / sd_it / 0.6745. Here g and sd
 *   are its conditional mean and standard deviation given the other readings of the row, under C +
 *   diag(e). Starting at e = 0, the output with the largest k_t gets (k_t^2 - 1) median_i sd_it^2
 *   more, until every k_t <= 1 + 3.5 / sqrt(readings), three standard errors. An output that is
 *   wrong makes those that lean on it look wrong too, but itself most; with more than half of the
 *   outputs wrong nothing is promised. It does not bound the influence of one reading.
 *
 * Readings further than 1e100 thresholds, or for JOINT 1e100 standard deviations, count as that
 * far.
 *
 * Thread safety: these functions only read their arguments; use one context per thread. Costs are
 * with P different patterns of missing readings.
 *
 * Sources: the multi-output robust conjugate process (MO-RCGP), sections 3.1 and B.1, for the first
 * weight, its centre and the loss; Altamirano, Briol, Knoblauch, "Robust and Conjugate Gaussian
 * Process Regression" (2024), Proposition 3.1. The other two weights are derived here.
 */
#ifndef HOLDFAST_OUTPUTS_H
#define HOLDFAST_OUTPUTS_H

#include <holdfast/settings.h>

HF_BEGIN_DECLS

/** The readings' distribution at one input; the arrays are the caller's. */
typedef struct hf_outputs_model {
    /** T >= 1 */
    size_t outputs;
    /** T: m */
    const double *mean;
    /** T x T: B, symmetric, row- or column-major; its lower triangle (row t, column <= t) is read
     */
    const double *covariance;
    /** T: s >= 0; zeros are fine except for HF_OUTPUTS_CHANNEL */
    const double *noise;
    /** n x T x T: B of every row, row i's at i T T, as above; NULL: `covariance` is that of all
     * rows. `covariance` is not looked at where it is given. Rows then share no factors: P is n in
     * the costs below. */
    const double *covariances;
    /** >= 0, added to the diagonal of what is inverted; 0 is the exact conditional mean, the
     * published program has 1e-3 */
    double ridge;
} hf_outputs_model;

/** How thresholds follow from absolute residuals. */
typedef enum hf_outputs_threshold {
    /** (1 - eps) quantile, linear interpolation of order statistics */
    HF_OUTPUTS_LINEAR = 0,
    /** the order statistic below it, number floor((count - 1) (1 - eps)) from 0: the published
     * program's */
    HF_OUTPUTS_LOWER,
    /** 3 x 1.4826 x median |r - median r|; for rows 3 x median of sqrt(q_i / (median of chi^2_p /
     * p)) */
    HF_OUTPUTS_MAD
} hf_outputs_threshold;

/** Scope of a weight; see the top of this file. */
typedef enum hf_outputs_weighting {
    HF_OUTPUTS_READING = 0,
    HF_OUTPUTS_JOINT,
    HF_OUTPUTS_CHANNEL
} hf_outputs_weighting;

/**
 * Predicts each output of a row from its other readings:
 *
 *     g_it = m_t + C_{t,O} (C_OO + ridge I)^-1 (y_iO - m_O)
 *     O: the outputs observed in row i other than t
 *
 * m_t when there is none. For missing readings too, for which it is a prediction. g_it does not
 * depend on y_it, to the last digit.
 * @param centre n x T, row-major without gaps; must not overlap y
 * @return HF_OK, or HF_WARN_JITTER when a C_OO + ridge I was singular and something was added.
 * Errors: HF_ERR_ARGUMENT, HF_ERR_DIMENSION (ldy < T), HF_ERR_NOT_FINITE (an infinite reading, or
 * the model), HF_ERR_NOT_POSITIVE_DEFINITE, HF_ERR_MEMORY. Rows of one pattern share one factor A =
 * C_OO + ridge I, and all T regressions follow from the columns of A^-1: those of output t on the
 * others are -(A^-1)_ts / (A^-1)_tt, ridge or not. O(P T^3 + n T^2 + n T log n). A pattern whose A
 * is nearly singular (an output is determined by the others to six digits) is solved output by
 * output: O(T^4) for it.
 */
HF_API hf_status hf_outputs_conditional_centre(hf_context *ctx, size_t n, const double *y,
                                               size_t ldy, const hf_outputs_model *model,
                                               double *centre);

/**
 * One threshold for each output from |y_it - g_it| over its present readings.
 * @param centre    n x T, row-major without gaps; finite where a reading is present
 * @param eps       T expected shares of outliers in [0, 1); not looked at (may be NULL) with
 * HF_OUTPUTS_MAD. 0: no outliers are expected there; the threshold is the largest residual, so that
 * no weight of a reading is below 1/2.
 * @param threshold T; positive and finite, with the lower limits of hf_robust_threshold()
 * Errors: HF_ERR_NO_DATA (an output without a reading), HF_ERR_NOT_FINITE, HF_ERR_ARGUMENT,
 * HF_ERR_DIMENSION, HF_ERR_MEMORY. O(n T log n).
 */
HF_API hf_status hf_outputs_thresholds(hf_context *ctx, hf_outputs_threshold rule, size_t n,
                                       size_t outputs, const double *y, size_t ldy,
                                       const double *centre, const double *eps, double *threshold);

/** Which weights, and the thresholds that they need. */
typedef struct hf_outputs_rule {
    /** sizeof(hf_outputs_rule) */
    size_t size;
    /** Default: HF_OUTPUTS_READING. */
    hf_outputs_weighting weighting;
    /** READING and JOINT. Default: HF_OUTPUTS_LINEAR. */
    hf_outputs_threshold threshold;
    /** T, as for hf_outputs_thresholds(); JOINT takes the largest of them as the share of rows.
     * Default: none. */
    const double *eps;
} hf_outputs_rule;
HF_SETTINGS(hf_outputs_rule)

/** Results; the arrays are the caller's. */
typedef struct hf_outputs_sites {
    /** n x T, row-major without gaps; 0 for missing readings */
    double *weight;
    /** n x T; 0 for missing readings; in one over the unit of the output */
    double *shift;
    /** T or NULL: c_t (READING, in the output's unit), c (JOINT, T times, no unit), e_t (CHANNEL,
     * its unit squared) */
    double *scale;
} hf_outputs_sites;

/**
 * Weights and shifts of all readings.
 * @param centre READING: n x T centres, row-major without gaps, or NULL for the conditional one.
 *         The others do not look at it.
 * Errors and warnings: those of the two functions above; HF_ERR_ARGUMENT (CHANNEL with a noise
 * variance of zero); HF_WARN_NOT_CONVERGED (CHANNEL, after 10 T rounds). Costs: as the conditional
 * centre (CHANNEL: each round) and O(n T log n).
 */
HF_API hf_status hf_outputs_weights(hf_context *ctx, const hf_outputs_rule *rule, size_t n,
                                    const double *y, size_t ldy, const hf_outputs_model *model,
                                    const double *centre, const hf_outputs_sites *out);

HF_END_DECLS

#endif
