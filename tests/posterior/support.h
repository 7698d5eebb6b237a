/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file support.h
 * @brief Posteriors for the tests, with and without a scaling, and finite differences. Include
 * after <cmocka.h>.
 */
#ifndef HF_TEST_POSTERIOR_SUPPORT_H
#define HF_TEST_POSTERIOR_SUPPORT_H

#include "posterior/posterior.h"
#include "solver/naive.h"

static inline hf_posterior *support_solve(const problem *p)
{
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_solve_exact(p->ctx, p->kernel, p->mean, p->sites, p->x, p->d, &posterior),
                     HF_OK);
    assert_non_null(posterior);
    return posterior;
}

/* Units in which nothing is 1: what a fit's standardisation might be. */
static inline hfi_scaling support_scaling(hf_context *ctx, size_t d)
{
    hfi_scaling scaling;
    assert_int_equal(hfi_scaling_identity(ctx, d, &scaling), HF_OK);
    for (size_t j = 0; j < d; j++) {
        scaling.x_shift[j] = 3.0 - 2.0 * (double)j;
        scaling.x_scale[j] = j % 2 == 0 ? 40.0 : 0.125;
    }
    scaling.y_shift = -17.0;
    scaling.y_scale = 6.5;
    return scaling;
}

/* A point of the problem in the user's units. */
static inline void support_to_user(const hfi_scaling *scaling, const double *scaled, double *x)
{
    for (size_t j = 0; j < scaling->d; j++)
        x[j] = scaled[j] * scaling->x_scale[j] + scaling->x_shift[j];
}

/* The problem as if it had been standardised from the user's units, with calibrated intervals. */
static inline hf_posterior *support_scaled(const problem *p, double kappa)
{
    hfi_scaling scaling = support_scaling(p->ctx, p->d);
    hfi_solution solution;
    hf_posterior *posterior = NULL;
    assert_int_equal(
        hfi_exact_solve(p->ctx, p->kernel, p->mean, p->sites, p->d, p->x, p->d, &solution), HF_OK);
    assert_int_equal(hfi_posterior_create(p->ctx, p->kernel, p->mean, &solution, &scaling, p->noise,
                                          kappa, &posterior),
                     HF_OK);
    assert_null(solution.factor); /* moved */
    hfi_solution_free(&solution);
    hfi_scaling_free(&scaling);
    return posterior;
}

#endif
