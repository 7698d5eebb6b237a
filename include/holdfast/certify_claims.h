/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certify_claims.h
 * @brief Whether a value keeps to limits in a whole box of inputs, and how large the box may be.
 *
 * A claim is made of up to three limits: the value is never above one number, never below another,
 * and never farther than delta from what it is at the point. hf_certify_claims() says of each box
 * whether the claim surely holds, or gives a point where it surely does not.
 * hf_certify_claim_radius() finds the largest box about a point in which it holds.
 *
 * The value is that of certify.h (latent mean, sd, mean + beta sd) of a posterior; settings.output
 * is the output. With a classifier it is the probability of a class; settings.output is the class.
 *
 * **Ground of a verdict.** A verdict rests on the same as ranges do (certify.h): an allowance for
 * rounding, or interval arithmetic with rigorous settings; probabilities of five classes and more
 * rest on an estimate. A point counts as a counterexample if the value there is beyond the limit by
 * more than the allowance at that point. A value that is nearer to the limit than that is left
 * open. So is a limit nearer than the tolerance to an attained value, if the search ends at the
 * tolerance.
 *
 * Definition 3 and Problem 2 of Patane et al., 2022, are a claim of delta.
 *
 * Thread-safe, with a context for each thread: posterior and classifier are only read.
 */
#ifndef HOLDFAST_CERTIFY_CLAIMS_H
#define HOLDFAST_CERTIFY_CLAIMS_H

#include <holdfast/certify_uses.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

/** A claim about a value. Always start from hf_claim_default(). */
typedef struct hf_claim {
    /** sizeof(hf_claim) */
    size_t size;
    /** The posterior that the claim is about, the caller's; or NULL with a classifier. Default:
     * NULL. */
    const hf_posterior *posterior;
    /** Value of the posterior. Default: HF_CERTIFY_MEAN. */
    hf_certify_what what;
    /** The classifier that the claim is about, the caller's; or NULL with a posterior. Default:
     * NULL. */
    const hf_classifier *classifier;
    /** The value is at most this. Default: infinity (no such limit). */
    double never_above;
    /** The value is at least this; at most never_above. Default: -infinity (no such limit). */
    double never_below;
    /** The value is at most this far from the value at the point; >= 0. Default: infinity (no such
     * limit). */
    double delta;
} hf_claim;

/** No limits at all and of nothing, which is no claim yet. */
HF_SETTINGS(hf_claim)

/** The verdict on a claim in one box. */
typedef struct hf_claim_answer {
    hf_verdict verdict;
    /** at the point */
    double value;
    /** lower <= value(x) <= upper in the box; infinite: not asked for */
    double lower, upper;
    /** attained, nearest to its limit or farthest beyond it */
    double worst;
    /** how far inside the limit `worst` is; negative: beyond it */
    double margin;
    /** why the longer search ended */
    hf_certify_stop stop;
    size_t nodes;
    double seconds;
    /** proof against rounding, as asked for */
    bool rigorous;
    /** hf_certify_is_estimate() */
    bool estimate;
} hf_claim_answer;

/**
 * Whether a value keeps to the claim in m boxes.
 * @param settings NULL for the defaults; lower_only, upper_only and decide_at are not looked at
 * @param x        m x inputs: points, which delta is about; they need not be inside their boxes
 * @param lower, upper m x inputs: the boxes
 * @param out      m entries
 * @param worst    m x inputs or NULL: where `out->worst` is attained, a counterexample where the
 *                 verdict says so
 *
 * A search ends as soon as the verdict is known: `lower` and `upper` are then as wide as they are.
 * Both limits share time_limit and total_time.
 *
 * Errors, which leave all outputs alone: those of hf_certify_boxes(); HF_ERR_ARGUMENT for a claim
 * without limits, a limit that is not a number, never_below above never_above; for a negative
 * delta, a claim of nothing or of two things.
 * HF_WARN_NOT_CONVERGED: a verdict is open. Progress ("certify") and cancellation as there. Cost:
 * at most two searches of hf_certify() a box, one for each limit that the claim has.
 */
HF_API hf_status hf_certify_claims(hf_context *ctx, const hf_claim *claim,
                                   const hf_certify_settings *settings, size_t m, const double *x,
                                   const double *lower, const double *upper, hf_claim_answer *out,
                                   double *worst);

/** How far a point can be moved with the claim kept. */
typedef struct hf_claim_reach {
    /** at the point */
    double value;
    /** the claim holds in the whole box of this radius; NaN: not at the point */
    double certified;
    /** it does not at a point this far away; infinity: none was found */
    double broken;
    size_t nodes;
    double seconds;
    /** as in hf_claim_answer */
    bool rigorous, estimate;
} hf_claim_reach;

/**
 * The largest radius for which the claim holds in the box x +- radius unit, by bisection.
 * hf_certify_radius() does the same, and says what unit, most and accuracy are. The tolerance is at
 * most a ten-thousandth of how far the value at the point is from its limits.
 * @param counterexample inputs entries or NULL: the point at distance `broken`; NaN: there is none
 * HF_WARN_NOT_CONVERGED: a step was left open; `certified` is true all the same. Errors: those of
 * hf_certify_claims() and hf_certify_radius(). Cost: a verdict of hf_certify_claims() for each step
 * of the bisection, about log2(1 / accuracy) of them.
 */
HF_API hf_status hf_certify_claim_radius(hf_context *ctx, const hf_claim *claim,
                                         const hf_certify_settings *settings, const double *x,
                                         const double *unit, double most, double accuracy,
                                         hf_claim_reach *out, double *counterexample);

HF_END_DECLS

#endif
