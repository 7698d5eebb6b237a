/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file inducing_cavity.h
 * @brief Leaving one reading out of an inducing posterior: a scalar matter.
 */
#ifndef HFI_INDUCING_CAVITY_H
#define HFI_INDUCING_CAVITY_H

#include "solver/inducing_chunk.h"

/** Mean (less the prior mean) and variance of what the inducing inputs say about reading j, without its site:
 *
 *     share = 1 - p h        variance = h / share        mean = (mu - p h r) / share
 *
 * share is at least 1 / (1 + p q), which keeps the quotients finite when rounding has used it up. */
typedef struct hfi_inducing_cavity {
    double share, mean, variance;
} hfi_inducing_cavity;

static inline hfi_inducing_cavity hfi_inducing_cavity_make(const hfi_inducing_chunk *c, size_t j)
{
    const double p = c->precision[j], mu = c->mean_part[j], h = c->variance_part[j];
    const double least = 1.0 / (1.0 + p * c->resolved[j]), share = 1.0 - p * h > least ? 1.0 - p * h : least;
    return (hfi_inducing_cavity){share, (mu - p * h * c->residual[j]) / share, h / share};
}

#endif
