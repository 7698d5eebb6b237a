/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sites_bits.h
 * @brief Words of clashes that more than one table has: kinds of sites, and what fits of labels do
 * without.
 *
 * For files of rows alone, after core/settings_rows.h.
 */
#ifndef HFI_SITES_BITS_H
#define HFI_SITES_BITS_H

#include "core/settings_rows.h"

#include <holdfast/likelihood_list.h>

#define OR_BIT(id, symbol, name, help) | BIT(HF_LIKELIHOOD_##id)
#define LABELS                         (BIT(HF_LIKELIHOOD_SOFTMAX) HF_LABEL_LIKELIHOODS(OR_BIT))
#define NOISES                         (0u HF_NOISE_LIKELIHOODS(OR_BIT))
#define RATES                          (0u HF_RATE_LIKELIHOODS(OR_BIT))
/* Their sites are searched for by methods of their own. */
#define SEARCHED                                                                                   \
    (BIT(HF_LIKELIHOOD_PURSUIT) HF_NOISE_LIKELIHOODS(OR_BIT) HF_RATE_LIKELIHOODS(OR_BIT))

/* Clashes of solver, mean and inference, whose terms are bits of the member `of`: sites of a fit,
 * the link of a fit of labels. */
#define SOLVER_OF_LABELS(of, two, softmax)                                                         \
    VALUES_REFUSED(BIT(HF_SOLVER_PROJECTED), of, (two) | (softmax)),                               \
    {                                                                                              \
        .values = BIT(HF_SOLVER_INDUCING), .refused = true, .term = {{#of, (softmax)}},            \
        .why = "softmax has the exact solver"                                                      \
    }
#define MEAN_OF_LABELS(of, two, softmax)                                                           \
    {.values = BIT(HF_MEAN_MEDIAN),                                                                \
     .refused = true,                                                                              \
     .term = {{#of, (two) | (softmax)}},                                                           \
     .why = "labels have no median"},                                                              \
    {                                                                                              \
        .values = BIT(HF_MEAN_LINEAR), .refused = true, .term = {{#of, (softmax)}},                \
        .why = "of several classes it is constant, one for each, or zero"                          \
    }
#define INFERENCE_OF_LABELS(of, others, softmax)                                                   \
    {.values = BIT(HF_INFERENCE_EP) | BIT(HF_INFERENCE_VARIATIONAL),                               \
     .refused = true,                                                                              \
     .term = {{#of, (softmax)}},                                                                   \
     .why = "softmax has corrected and laplace"},                                                  \
    {                                                                                              \
        .values = BIT(HF_INFERENCE_CORRECTED), .refused = true, .term = {{#of, (others)}},         \
        .why = "it is for softmax"                                                                 \
    }

#endif
