/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file quantities.h
 * @brief The table of what can be certified of a posterior (quantity.h).
 */
#ifndef HFI_CERTIFY_QUANTITIES_H
#define HFI_CERTIFY_QUANTITIES_H

#include "bound/quantity.h"

/** Latent mean, latent sd, mean + beta sd. */
extern const hfi_quantity hfi_quantity_mean, hfi_quantity_sd, hfi_quantity_mean_plus;
/** The probability of class 1 of two (link.h). */
extern const hfi_quantity hfi_quantity_probit, hfi_quantity_logit;
/** Three quantities: the probability of one of several classes (classes.h); the least by which
 * deciding for it costs less than for another; and what it is expected to cost; of rows without a
 * loss every wrong decision costs 1. */
extern const hfi_quantity hfi_quantity_softmax, hfi_quantity_margin, hfi_quantity_loss;

/** The public ones; NULL: there is none of that number. */
const hfi_quantity *hfi_quantity_of(hf_certify_what what);

#endif
