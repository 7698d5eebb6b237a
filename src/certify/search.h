/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file search.h
 * @brief Best-first branch and bound for one end of a range.
 */
#ifndef HFI_CERTIFY_SEARCH_H
#define HFI_CERTIFY_SEARCH_H

#include "certify/question.h"

/** One end. */
typedef struct hfi_end {
    double bound;    /* sign value(x) >= bound in the whole box */
    double attained; /* sign value at `at` */
    double *at;      /* inputs of the data, user's units. The caller's */
    hf_certify_stop stop;
    size_t nodes;
    double rounding; /* of the whole box */
} hfi_end;

/** Finds the least of sign value. Threads over boxes, the same result for any number; inside another parallel loop it is serial. The only outcome but HF_OK is
 * HF_ERR_MEMORY, without a message.
 * @param node_limit 0 for none
 * @param deadline   on hfi_now()'s clock, or infinity */
hf_status hfi_search(const hf_context *ctx, hfi_question *question, double sign, size_t node_limit,
                     double deadline, hfi_end *end);

/** hf_certify_boxes(), also of the probabilities in link.h. */
hf_status hfi_certify_boxes(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                            const hf_certify_settings *settings, size_t m, const double *lower,
                            const double *upper, hf_range *out, double *argmin, double *argmax);

/** Improves a point by projected gradient steps; `point` holds free inputs in the solver's units and is moved, sign value of it is *value, `user` the same point in
 * the user's units. `work` holds 4 m doubles. */
void hfi_descend(hfi_question *question, double sign, double *point, double *value, double *user,
                 double *work);

#endif
