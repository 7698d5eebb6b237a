/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file chain.h
 * @brief How well a Markov chain has mixed, by its trace; for the solver room
 * only.
 */
#ifndef HFI_CHAIN_H
#define HFI_CHAIN_H

#include "core/core.h"

/** Chains of fewer steps are too short for `drift` and `correlation`. */
#define HFI_CHAIN_SHORTEST 64

/** See hf_dpp_report for what they mean. */
typedef struct hfi_chain_summary {
    double mean, sd;    /* over the second half */
    double drift;       /* NaN: too short to say, or the trace stays as it is in both quarters */
    double correlation; /* NaN: too short to say, or the trace stays as it is */
} hfi_chain_summary;

/**
 * A trace of steps > 0. HF_ERR_MEMORY (steps / 2 numbers).
 *
 * The correlation is the integrated autocorrelation time 1 + 2 sum of the autocorrelations of a
 * reversible chain without negative eigenvalues (a lazy one), of the second half: at least 1; NaN
 * for a trace that stays as it is to rounding. Sums of neighbouring autocovariances as long as they
 * are positive, and no larger than those before (Geyer 1992, sec. 3.3); where these are still
 * positive at lag 128, neighbours in the trace are averaged (Flyvbjerg and Petersen 1989). That
 * leaves the variance of its mean as it is and makes lags half as long: O(128 steps) for any
 * correlation.
 */
hf_status hfi_chain_summarise(hf_context *ctx, size_t steps, const double *trace,
                              hfi_chain_summary *out);

#endif
