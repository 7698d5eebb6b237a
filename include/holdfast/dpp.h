/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dpp.h
 * @brief A few rows that say most about all: determinantal point processes.
 *
 * The M-determinantal point process (M-DPP) of a kernel over n rows gives every set Z of M rows the
 * probability det K_ZZ / sum of all such determinants: rows that resemble each other are seldom
 * chosen together. Sources: Kulesza and Taskar 2011; Burt, Rasmussen, van der Wilk 2020 (sec.
 * 4.2.2, Algorithm 1); SparQ-GP-UCB uses it to choose where an expert is asked. The kernel is that
 * of the latent function: its white noise does not count.
 */
#ifndef HOLDFAST_DPP_H
#define HOLDFAST_DPP_H

#include <holdfast/kernel.h>

HF_BEGIN_DECLS

/**
 * Greedy maximisation of det(q_i K_ij q_j) over sets of rows by pivoted Cholesky: each time the row
 * of largest q_i^2 v_i, v_i its conditional prior variance given those chosen before (of equals, to
 * 1e-12 of the largest prior variance, the lowest). With all q_i = 1 that is the greedy choice of
 * the M-DPP; with a quality it is that of a quality-diversity process, which prefers rows that
 * matter, such as those of a large expected improvement. Stops at m rows, or when no row's
 * conditional variance exceeds `min_variance`, or when it is below 1e-10 of the largest prior
 * variance: rows that equal chosen ones are never chosen. At least one row is.
 * @param x       n x d row-major, stride ldx; n >= 1
 * @param q       qualities, n entries >= 0, finite, not all 0; NULL: all 1. Rows of quality 0, or
 *                below 1e-150 of the largest, are never chosen
 * @param m       at most so many rows, >= 1
 * @param min_variance >= 0, in units of the kernel (a variance), whatever the quality
 * @param rows    m entries: the chosen rows, in the order of choice.
 * @param chosen  how many.
 * @param log_det log det(q_i K_ij q_j) of the chosen rows, or NULL.
 * HF_ERR_ARGUMENT, HF_ERR_DIMENSION, HF_ERR_NOT_FINITE (names the row), HF_ERR_TOO_LARGE,
 * HF_ERR_MEMORY, HF_ERR_CANCELLED. O(n m^2) time, 8 n m bytes; all threads, the same rows for any
 * number. Thread-safe, with a context for each thread. Sources: Chen, Zhang, Zhou 2018 (the greedy
 * choice); Moss, Ober, Picheny 2023 (the quality).
 */
HF_API hf_status hf_dpp_greedy(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                               size_t ldx, const double *q, size_t m, double min_variance,
                               size_t *rows, size_t *chosen, double *log_det);

/** Course of a chain. Without steps (there is one set only) acceptance and what follows log_det_sd
 * are NaN. */
typedef struct hf_dpp_report {
    /** rows: m, or fewer if there are not m that are linearly independent */
    size_t chosen;
    /** of the chain, lazy ones included */
    size_t steps;
    /** swaps that were looked at: about half of the steps */
    size_t proposals;
    /** swaps that were made */
    size_t accepted;
    /** accepted / proposals; NaN without proposals */
    double acceptance;
    /** log det K_ZZ of the greedy set */
    double log_det_start;
    /** of the set returned */
    double log_det;
    /** over the second half of the chain */
    double log_det_mean;
    double log_det_sd;
    /** Means of log det over the second and the fourth quarter differ by so many of their standard
     * errors (as Geweke 1992 compares stretches): above 3 the chain has not mixed. NaN if too short
     * to say (fewer than 64 steps), or if log det is the same throughout, as where a chain never
     * moves. */
    double drift;
    /** Integrated autocorrelation time of log det over the second half, in steps, at least 1
     * (initial monotone sequence, Geyer 1992, sec. 3.3). NaN like drift. */
    double correlation;
    /** steps / (2 correlation): independent sets in the second half */
    double independent;
} hf_dpp_report;

/**
 * Steps after which the chain from the greedy set is within `tolerance` (total variation) of the
 * M-DPP: ceil(n m (log log n + log m + log(1 / tolerance^2))), the order of Burt et al. 2020, sec.
 * 4.2.2 (their O with constant 1: a rule, not a bound; `drift` and `correlation` of the report say
 * what the chain itself shows). At least 1; 0 for m >= n and for m = 0, when there is one set only;
 * SIZE_MAX for a tolerance that is not positive. O(1).
 */
HF_API size_t hf_dpp_mixing_steps(size_t n, size_t m, double tolerance);

/**
 * An approximate sample of the M-DPP: a lazy Metropolis chain on sets of m rows, started at
 * hf_dpp_greedy()'s. A step stays put with probability 1/2. Else a row of the set and one outside
 * are drawn uniformly and swapped with probability min(1, det K_Z'Z' / det K_ZZ). Together that is
 * the acceptance 1/2 min(1, .) of Burt et al.'s Algorithm 1. Sets that are singular to rounding
 * (conditional variance of a row below 1e-10 of the largest prior variance) have probability 0. If
 * fewer than m rows are linearly independent, it is a sample of sets of as many as are.
 * @param steps   0: hf_dpp_mixing_steps() of n, the rows chosen and 0.01
 * @param stream  number of the random stream: with the context's seed it determines the sample
 * @param rows    m entries: the chosen rows, ascending; how many, says the report: min(n, m) but
 *                for rows that depend on each other
 * @param report  or NULL
 * Determinant ratios come from the factor of the present set (Schur complements): O(m d + m^2) a
 * proposal and another O(m^2) a swap; never a determinant anew. Beside the greedy choice 16 m^2 + n
 * bytes, and 12 a step for the report. Errors as for hf_dpp_greedy(), on which no output changes;
 * the chain runs on one thread.
 */
HF_API hf_status hf_dpp_sample(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x,
                               size_t ldx, size_t m, size_t steps, uint64_t stream, size_t *rows,
                               hf_dpp_report *report);

HF_END_DECLS

#endif
