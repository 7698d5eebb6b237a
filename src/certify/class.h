/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file class.h
 * @brief What the uses of certificates share.
 */
#ifndef HFI_CERTIFY_CLASS_H
#define HFI_CERTIFY_CLASS_H

#include "certify/range.h"
#include "classify/classify.h"
#include <float.h>
#include <holdfast/certify_uses.h>
#include <string.h>

/** HF_ERR_ARGUMENT unless the classifier has this class; *quantity is its probability of class 1,
 * under the softmax link of settings.output. */
hf_status hfi_class_quantity(hf_context *ctx, const hf_classifier *classifier, size_t class,
                             const hfi_quantity **quantity);
/** Whether a prediction at a point is surely of another class than `winner`: ahead of it by more
 * than the quadrature's error where that is an estimate. */
hf_status hfi_certify_is_other(hf_context *ctx, const hf_classifier *classifier,
                               const double *point, size_t winner, bool *out);
/** Inputs of the data, without the number of a class. */
size_t hfi_class_inputs(const hf_classifier *classifier);
/** hf_certify_class() of arguments that are not NULL. */
hf_status hfi_certify_class_boxes(hf_context *ctx, const hf_classifier *classifier,
                                  const hf_certify_settings *settings, size_t m,
                                  const double *lower, const double *upper, hf_range *out,
                                  double *argmin, double *argmax);

/** The range over one box of what decides for the class: of several classes by how much it is ahead
 * of the next, of two the latent mean, or with another threshold than 1/2 the probability of class
 * 1. *own gets the cut (decide_at), a tolerance that is a small share of it, and output; which end
 * is looked for is the caller's. */
hf_status hfi_class_lead(hf_context *ctx, const hf_classifier *classifier, size_t class,
                         hf_certify_settings *own, const double *lower, const double *upper,
                         hf_range *range, double *at);

/** By how much a decision is expected to cost less than another one, of two classes by a threshold
 * the lead of its probability; *size times the error of a probability is how far that may be
 * off. */
double hfi_class_margin(const hf_classifier *classifier, const double *p, size_t decision,
                        size_t other, double *size);

/** Ranges of class 1 of two become those of class 0. */
void hfi_turn_ranges(size_t m, hf_range *ranges);

#endif
