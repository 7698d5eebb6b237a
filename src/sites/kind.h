/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kind.h
 * @brief Kinds of sites: what follows from a likelihood's name alone, a row for each.
 *
 * Files ask the row what they want to know, and nobody else compares likelihoods. The rows of
 * sites/likelihood.h are kinds of sites too; here are also those whose sites another method makes:
 * Gaussian ones, robust ones, relevance pursuit and the softmax link.
 */
#ifndef HFI_SITES_KIND_H
#define HFI_SITES_KIND_H

#include "sites/likelihood.h"

typedef struct hfi_sites_kind {
    const hfi_likelihood *likelihood; /* its row; NULL: another method makes the sites */
    bool plain;         /* a reading is its own site: it counts as it is, or is set aside */
    bool weighed;       /* smooth weights that fall with the residual, found again and again */
    bool direct;        /* a site follows its own reading; else all of them are found together */
    bool every_class;   /* a latent function for each class of any number; else one, of two */
    hf_inference usual; /* what HF_INFERENCE_AUTO stands for */
} hfi_sites_kind;

/** The row of a likelihood; one that says no to everything where there is none. Pure. */
const hfi_sites_kind *hfi_sites_kind_of(hf_likelihood sites);

/** Variance of a new reading about its latent value, from the noise that training ended with.
 * `shape`: second parameter of likelihoods that have one. `threshold`: soft threshold of the
 * weights where the noise is to be made consistent, else infinite. */
double hfi_sites_observed_noise(const hfi_sites_kind *kind, double noise, double shape,
                                double threshold);

#endif
