/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file proof.h
 * @brief Rigorous ranges of many boxes.
 */
#ifndef HFI_CERTIFY_PROOF_H
#define HFI_CERTIFY_PROOF_H

#include "posterior/posterior.h"
#include <holdfast/certify.h>

/** As hf_certify_boxes(), with checked arguments and `inputs` sides a box; argmin and argmax (m x
 * inputs) are not NULL. `watch` can stop it. Errors of hfi_rigorous_create(), with a message; a
 * box of which a bound is not finite has hfi_unknown_range(). */
hf_status hfi_prove_boxes(hf_context *ctx, hfi_watch *watch, const hf_posterior *posterior,
                          hf_certify_what what, const hf_certify_settings *settings, size_t m, size_t inputs,
                          const double *lower, const double *upper, hf_range *range, double *argmin,
                          double *argmax);

#endif
