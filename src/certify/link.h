/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file link.h
 * @brief The probability of class 1 of two as a function P(q, s) of the latent mean q and standard deviation s, P = E[link(lambda (q + s z))] for a standard normal z.
 *
 * P grows with q, and with s it falls where q > 0 and grows where q < 0; P(-q, s) = 1 - P(q, s). All second derivatives are expectations of link'' times 1, z or z^2.
 */
#ifndef HFI_CERTIFY_LINK_H
#define HFI_CERTIFY_LINK_H

#include <holdfast/certify.h>

/** What is asked about, after the last hf_certify_what. */
enum {
    HFI_CERTIFY_PROBIT = HF_CERTIFY_MEAN_PLUS + 1,
    HFI_CERTIFY_LOGIT,
    HFI_CERTIFY_SOFTMAX, /* of several classes the probability of one (classes.h) */
    HFI_CERTIFY_MARGIN   /* and the least by which it is ahead of the others */
};

/** Which link, and its scale. */
typedef struct hfi_link {
    hf_certify_what what; /* HFI_CERTIFY_PROBIT or HFI_CERTIFY_LOGIT */
    double lambda;        /* > 0 */
} hfi_link;

/** Whether a question is about a probability of two classes. */
bool hfi_link_asked(hf_certify_what what);
/** P(q, s); s >= 0. As a function of lambda q and lambda s, off by at most HFI_LINK_ERROR. */
double hfi_link_value(hfi_link link, double q, double s);
/** dP/dq and dP/ds, off by at most lambda HFI_LINK_SLOPE_ERROR. */
void hfi_link_slopes(hfi_link link, double q, double s, double *of_q, double *of_s);
/** The least of P(q, s) where q >= q_low and s is in [s_low, s_high], its own rounding taken off. */
double hfi_link_least(hfi_link link, double q_low, double s_low, double s_high);
/** What the linear model of P at a point can lose where q is at most dq and s at most ds away. */
double hfi_link_bend(hfi_link link, double dq, double ds);

#define HFI_LINK_ERROR       2e-13
#define HFI_LINK_SLOPE_ERROR 1e-7

#endif
