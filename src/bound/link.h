/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file link.h
 * @brief The probability of class 1 of two as a function P(q, s) of the latent mean q and standard
 * deviation s, P = E[link(lambda (q + s z))] for a standard normal z.
 *
 * P grows with q, and with s it falls where q > 0 and grows where q < 0; P(-q, s) = 1 - P(q, s).
 * All second derivatives are expectations of link'' times 1, z or z^2.
 */
#ifndef HFI_BOUND_LINK_H
#define HFI_BOUND_LINK_H

#include <holdfast/classify.h>

/** Which link, and its scale. */
typedef struct hfi_link {
    hf_link link;  /* HF_LINK_PROBIT or HF_LINK_LOGIT */
    double lambda; /* > 0 */
} hfi_link;

/** P(q, s); s >= 0. As a function of lambda q and lambda s, off by at most HFI_LINK_ERROR. */
double hfi_link_value(hfi_link link, double q, double s);
/** dP/dq and dP/ds, off by at most lambda HFI_LINK_SLOPE_ERROR. */
void hfi_link_slopes(hfi_link link, double q, double s, double *of_q, double *of_s);
/** The least of P(q, s) where q >= q_low and s is in [s_low, s_high], its own rounding taken
 * off. */
double hfi_link_least(hfi_link link, double q_low, double s_low, double s_high);
/** The most that a linear model of P at a point loses where q is dq and s is ds away at most. */
double hfi_link_curvature(hfi_link link, double dq, double ds);

#define HFI_LINK_ERROR       2e-13
#define HFI_LINK_SLOPE_ERROR 1e-7

#endif
