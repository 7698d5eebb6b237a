/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file class.h
 * @brief What the uses of certificates share.
 */
#ifndef HFI_CERTIFY_CLASS_H
#define HFI_CERTIFY_CLASS_H

#include "certify/link.h"
#include "certify/search.h"
#include <float.h>
#include <holdfast/certify_uses.h>
#include <string.h>

/** HF_ERR_ARGUMENT unless it is a classifier of two classes that has this one; *what is its probability of class 1. */
hf_status hfi_certify_two_classes(hf_context *ctx, const hf_classifier *classifier, size_t class,
                                  hf_certify_what *what);
/** hf_certify_class() of arguments that are not NULL. */
hf_status hfi_certify_class_boxes(hf_context *ctx, const hf_classifier *classifier,
                                  const hf_certify_settings *settings, size_t m, const double *lower,
                                  const double *upper, hf_range *out, double *argmin, double *argmax);

#endif
