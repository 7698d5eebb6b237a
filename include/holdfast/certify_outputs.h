/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certify_outputs.h
 * @brief How far the means of all outputs together surely move while inputs stay in a box.
 *
 * For a posterior of q outputs, a point x*, a box T and a norm of output space,
 *
 *     |v| = (sum_i |w_i v_i|^p)^(1/p), p >= 1;    max_i |w_i v_i| for p infinite,
 *
 * hf_certify_outputs() returns numbers attained <= upper between which the largest
 * |mean(x*) - mean(x)| over x in T is, and whether it is at most delta. With ranges [L_i, U_i] of
 * each mean over T the distance is at most |v*|, v*_i = max(mean_i(x*) - L_i, U_i - mean_i(x*)),
 * because norms of this kind grow with every |v_i|. Branch and bound takes bounds of the L_i and
 * U_i over parts of the box. So the largest |v*| of the parts comes as near to the supremum as
 * asked.
 *
 * Boxes, settings, units and what certificates rest on are those of certify.h. Outputs in units of
 * their own need weights: 1 over what counts as much in each.
 *
 * Source: Patane, Blaas, Laurenti, Cardelli, Roberts, Kwiatkowska, Adversarial robustness
 * guarantees for Gaussian processes, 2022, Proposition 13 (|v*| of the whole box; halving
 * is not in it).
 *
 * Thread-safe, with a context for each thread: the posterior is only read.
 */
#ifndef HOLDFAST_CERTIFY_OUTPUTS_H
#define HOLDFAST_CERTIFY_OUTPUTS_H

#include <holdfast/certify_uses.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

/** How outputs are measured together. Always start from hf_output_norm_default(). */
typedef struct hf_output_norm {
    /** sizeof(hf_output_norm) */
    size_t size;
    /** From 1 on; infinity: the largest. Default: 2. */
    double p;
    /** One for each output, > 0; the caller's. Default: NULL (1 each). */
    const double *weight;
    /** A verdict against it; >= 0. Default: infinity (none). */
    double delta;
} hf_output_norm;
/** The defaults that the fields name. */
HF_SETTINGS(hf_output_norm)

/** The answer for one box. */
typedef struct hf_output_shift {
    /** on delta; certified where there is none */
    hf_verdict verdict;
    /** the distance is at most this in the whole box */
    double upper;
    /** and surely at least this at a point of it */
    double attained;
    /** why the search ended */
    hf_certify_stop stop;
    /** of the box that were bounded */
    size_t parts;
    /** ranges of single outputs over these parts: parts times outputs */
    size_t nodes;
    double seconds;
    /** proof against rounding, as asked for */
    bool rigorous;
} hf_output_shift;

/**
 * The distance of all outputs over m boxes.
 * @param norm     NULL for the defaults
 * @param settings NULL for the defaults; output, beta, observed, decide_at, lower_only and
 *                 upper_only are not looked at. The tolerance is that of the distance, the node
 *                 limit is that of parts. Regions are those of certify.h
 * @param x        m x inputs: the points x*, which need not be inside their boxes
 * @param lower, upper m x inputs
 * @param out      m entries
 * @param farthest m x inputs or NULL: where `attained` is attained; a counterexample where the
 *                 verdict says so
 *
 * A counterexample's distance is beyond delta by more than rounding. A search ends when the verdict
 * is known, or when upper - attained is at most the tolerance (a thousandth of delta, if that is
 * less).
 *
 * Errors, which leave all outputs alone: those of hf_certify_boxes(); HF_ERR_ARGUMENT for p below 1
 * or not a number, a weight that is not above 0 or not finite; for a negative delta, and for
 * rigorous settings with p other than 1, 2 and infinity (powers have no proven rounding).
 * HF_WARN_NOT_CONVERGED: a verdict is open, or a limit or rounding ended a search.
 * Cost: bounds of each output's mean over every part; parts are some tens for boxes of few inputs.
 * Threads: the same digits for any number of them. The posterior is only read.
 * Progress ("certify") and cancellation as in certify.h.
 */
HF_API hf_status hf_certify_outputs(hf_context *ctx, const hf_posterior *posterior,
                                    const hf_output_norm *norm, const hf_certify_settings *settings,
                                    size_t m, const double *x, const double *lower,
                                    const double *upper, hf_output_shift *out, double *farthest);

HF_END_DECLS

#endif
