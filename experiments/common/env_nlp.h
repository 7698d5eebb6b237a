/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_nlp.h
 * @brief Small smooth optimisation problems with constraints: min f(u), g(u) <= 0, low <= u <=
 * high.
 *
 * By NLopt's SLSQP, which the library needs anyway, or by Ipopt where the build found it (Debian:
 * coinor-libipopt-dev).
 */
#ifndef EXPERIMENTS_ENV_NLP_H
#define EXPERIMENTS_ENV_NLP_H

#include <stdbool.h>
#include <stddef.h>

enum {
    NLP_VARIABLES = 16,
    NLP_CONSTRAINTS = 64
};

typedef struct env_nlp {
    size_t n, m; /**< variables, constraints; at most NLP_VARIABLES, NLP_CONSTRAINTS */
    double low, high;
    /** f, and where they are not NULL its gradient (n), g (m) and the m x n derivatives of g,
     * row-major. */
    double (*evaluate)(const double *u, double *gradient, double *g, double *slopes, void *user);
    void *user;
} env_nlp;

/** Whether Ipopt is there. */
bool env_nlp_ipopt(void);
/** From u to a solution in u. Returns whether it ended with one that it believes in; u is the best
 * found in any case. */
bool env_nlp_solve(const env_nlp *problem, bool ipopt, double *u);

#endif
