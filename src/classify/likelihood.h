/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file likelihood.h
 * @brief Log likelihoods of one label of two classes: l(f) = log link(sign f), sign = -1 (class 0) or 1 (class 1).
 */
#ifndef HFI_CLASSIFY_LIKELIHOOD_H
#define HFI_CLASSIFY_LIKELIHOOD_H

#include <holdfast/classify.h>

/** l and its derivatives in f. Both links are log-concave: w = -l'' >= 0. */
typedef struct hfi_class_slopes {
    double value, f, w, fff;
} hfi_class_slopes;

/** Accurate to some 1e-14 relative for every finite f, however wrong the label is. */
hfi_class_slopes hfi_class_density(hf_link link, double sign, double f);

/** What a normal N(mean, var) times the likelihood of a label is made of: log of its integral Z, and with the derivatives of log Z in the mean its own mean
 * mean + var slope and variance var + var^2 bend, bend < 0. */
typedef struct hfi_class_tilted {
    double log_z, slope, bend;
} hfi_class_tilted;

/** Probit: closed form. Logit: by the trapezoidal rule around the mode, relative accuracy 1e-12 or better for the standard deviations up to 1000 that it takes points
 * for (36 a unit); beyond, the step grows. */
hfi_class_tilted hfi_class_tilt(hf_link link, double sign, double mean, double var);

#endif
