/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certify_classes.h
 * @brief Certified ranges of the probabilities of all classes at once, and which classes remain
 * possible in a box.
 *
 * hf_certify_class() of certify_uses.h encloses the probability of one class. Here every class gets
 * its range. Probabilities sum to 1, P_c = 1 - sum_(j != c) P_j, which constrains the ranges of a
 * box jointly: where a limit ended a search
 *
 *     lower_c >= 1 - sum_(j != c) upper_j        upper_c <= 1 - sum_(j != c) lower_j
 *
 * may be narrower than what was found for c alone. Beside its range each class has a chance:
 * whether some point of the box is of that class. A class is ruled out where its largest
 * probability is below the least of another; else branch and bound looks for the largest
 * min_(j != c) (P_c - P_j) of the box, until it is known on which side of 0 that is. With a loss
 * (hf_classifier_set_rule()) expected losses take the place of probabilities in that.
 *
 * Boxes, settings, units and what certificates rest on are those of certify.h and certify_uses.h;
 * source: Patane, Blaas, Laurenti, Cardelli, Roberts, Kwiatkowska, Adversarial robustness
 * guarantees for Gaussian processes, 2022 (Problem 1, for each class; bounds of our own).
 *
 * Thread-safe, with a context for each thread: the classifier is only read.
 */
#ifndef HOLDFAST_CERTIFY_CLASSES_H
#define HOLDFAST_CERTIFY_CLASSES_H

#include <holdfast/certify_uses.h>

HF_BEGIN_DECLS

/** Whether a class is that of a point of a box. */
typedef enum hf_chance {
    /** a point of this class was found */
    HF_CHANCE_TAKEN = 0,
    /** no point of the box is of this class */
    HF_CHANCE_NONE,
    /** a limit came first, or differences are within what rounding or the quadrature may be off */
    HF_CHANCE_OPEN
} hf_chance;

/** The verdict on one class in one box. */
typedef struct hf_class_range {
    /** of its probability; nodes and seconds are those of the chance, too */
    hf_range range;
    hf_chance chance;
} hf_class_range;

/**
 * Ranges and chances of all C classes over m boxes.
 * @param settings     NULL for the defaults; output, decide_at, lower_only and upper_only are not
 *                     looked at. The tolerance is that of the ranges
 * @param lower, upper m x inputs
 * @param out          m x C: box after box, classes in their order
 * @param at           m x C x inputs or NULL: a point of that class; NaN where the chance is not
 *                     HF_CHANCE_TAKEN
 *
 * Errors, which leave the outputs alone: those of hf_certify_class(). HF_WARN_NOT_CONVERGED: a
 * limit ended the search for a range or a chance; what is told holds.
 * Cost: of two classes one range and the sign of the latent mean; of more, a range a class and up
 * to one search more a class. Threads as in hf_certify_boxes(): no digit depends on them. The
 * classifier is only read.
 */
HF_API hf_status hf_certify_classes(hf_context *ctx, const hf_classifier *classifier,
                                    const hf_certify_settings *settings, size_t m,
                                    const double *lower, const double *upper, hf_class_range *out,
                                    double *at);

HF_END_DECLS

#endif
