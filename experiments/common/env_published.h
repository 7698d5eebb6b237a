/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_published.h
 * @brief The closed-form envelope as the published programs compute it.
 *
 *     s(x) +- ( P(x) sqrt(G^2 -+ N^2) + e |a|_1 + |y'a - s(x)| ),     a = (K + j I)^-1 k_x,  P^2 = k(x,x) - k_x'a,  s(x) = y'(K + r I)^-1 k_x
 *
 * with N the norm of the smoothest consistent function. Proposition 3 has j = 0 and a minus. With j
 * > 0 and a plus the bound remains sure, because |f(x) - a'y| <= G sqrt(k(x,x) - 2 a'k_x + a'K a) +
 * e |a|_1 for whatever a, and P is larger than the root.
 */
#ifndef EXPERIMENTS_ENV_PUBLISHED_H
#define EXPERIMENTS_ENV_PUBLISHED_H

#include "common/env_bounds.h"

typedef struct env_published {
    double jitter; /**< j */
    double ridge;  /**< r */
    double square; /**< what is added to G^2: N^2 with its sign */
} env_published;

/** At the m queries x. false: reason on standard error. */
bool env_published_closed(hf_context *ctx, const env_problem *p, const env_published *how, size_t m,
                          const double *x, env_bounds *out);

#endif
