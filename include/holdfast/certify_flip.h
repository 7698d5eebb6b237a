/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certify_flip.h
 * @brief The minimal adversarial example: the smallest move of the inputs of a point that changes
 * its class, or that takes a value past a limit.
 *
 * A move is small in one of two senses: it does not go far (HF_FLIP_NEAREST), or it changes few
 * inputs (HF_FLIP_FEWEST, within a box). An answer has two sides: the size of an example that was
 * found, and a size of which there surely is none. Where they meet the example is a smallest one.
 *
 * The fewest inputs are the budget of Patane et al., 2022, Figure 6 (section 7.4). The size that is
 * surely too small is not in the paper.
 *
 * Thread-safe, with a context for each thread: posterior and classifier are only read.
 */
#ifndef HOLDFAST_CERTIFY_FLIP_H
#define HOLDFAST_CERTIFY_FLIP_H

#include <holdfast/certify_claims.h>

HF_BEGIN_DECLS

/** In which sense a move is small. */
typedef enum hf_flip_kind {
    /** least distance; of moves that go so far, few inputs */
    HF_FLIP_NEAREST = 0,
    /** fewest inputs, anywhere in the box */
    HF_FLIP_FEWEST
} hf_flip_kind;

/** An example, and what there surely is none of. */
typedef struct hf_flip {
    /** classes of point and example; SIZE_MAX: none, or not about classes */
    size_t winner, other;
    /** at the point; of classes the probability of `winner` */
    double value;
    /** the same at the example; NaN where there is none */
    double flipped;
    /** no move this far or less does it; NaN: the point is against it */
    double certified;
    /** of the example; infinity: none was found */
    double distance;
    /** no move of so many inputs or fewer does it, within the box */
    size_t spared;
    /** inputs that the example moves; 0 where there is none */
    size_t moved;
    size_t nodes;
    double seconds;
    /** as in hf_claim_answer */
    bool rigorous, estimate;
} hf_flip;

/**
 * The smallest move of a point that breaks a claim.
 * @param claim    as for hf_certify_claims(); a claim of a classifier without any limit stands for
 *                 "the class stays that of the point". A quantile of a regression: mean + beta sd
 * @param centre   the point, inputs entries
 * @param settings NULL for the defaults; of several outputs or classes `output`. A region gives the
 *                 shape of distances, limits and steps; HF_FLIP_FEWEST takes boxes without `moves`
 *                 and `sets`. Limits are those of each search, the tolerance as for
 *                 hf_certify_claim_radius()
 * @param unit, most, accuracy as for hf_certify_radius(): distances are in units of `unit`, none
 *                 beyond `most` is looked at. HF_FLIP_FEWEST looks in the box of radius `most`
 * @param example  inputs entries or NULL: NaN where none was found
 *
 * HF_FLIP_NEAREST: hf_certify_radius() or hf_certify_claim_radius(), whose certified and broken
 * radius these are; then inputs that need not move go back, that first which matters least.
 * `spared` is 0, or all inputs that move if `certified` is `most`.
 *
 * HF_FLIP_FEWEST: inputs go to an end of the box one after the other. The next is always the one
 * that brings the value nearest to its limit, or the class nearest to a tie; where this does not
 * lead there, the search over the whole box may. Inputs that need not move go back. Then sets of 1,
 * 2, ... inputs are certified, every choice of them, up to the first that does it or is left open,
 * or to HF_MOST_PARTS choices: `spared`. If spared + 1 is `moved`, fewer do not do it. `certified`
 * is `most` if nothing in the box does it, else 0.
 *
 * HF_WARN_NOT_CONVERGED: a search was left open; what is told holds all the same. Errors, which
 * leave the outputs alone: those of hf_certify_claim_radius() and hf_certify_radius(); a kind that
 * is not there; regions as said. Cost: that of the searches, and 2 d predictions for each input
 * that goes. Progress ("radius", "flip", "certify"), cancellation and threads as in certify.h.
 */
HF_API hf_status hf_certify_flip(hf_context *ctx, const hf_claim *claim, hf_flip_kind kind,
                                 const hf_certify_settings *settings, const double *centre,
                                 const double *unit, double most, double accuracy, hf_flip *out,
                                 double *example);

HF_END_DECLS

#endif
