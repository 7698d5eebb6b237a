/* SPDX-License-Identifier: Apache-2.0 */
/* Rigorous ranges of one box, by what was prepared once for a posterior. */
#ifndef RIGOROUS_TESTING_H
#define RIGOROUS_TESTING_H

#include "bound/problem.h"
#include "rigorous/rigorous.h"

#include <stdlib.h>

/* argmin and argmax hold the inputs of the data. */
static inline hf_status prove(hf_context *ctx, hf_posterior *posterior, hfi_rigorous *rigorous,
                              const hfi_quantity *quantity, const hf_certify_settings *settings,
                              const double *lower, const double *upper, hf_range *out,
                              double *argmin, double *argmax)
{
    hf_certify_settings own = *settings;
    hfi_certify_problem *problem = NULL;
    hfi_branch_problem whole;
    own.rigorous = true;
    hf_status status =
        hfi_problem_create(ctx, posterior, quantity, &own, rigorous, lower, upper, &problem);
    if (status < 0) return status;
    status = problem->functions->begin(problem, 1, &whole);
    if (status >= 0) {
        status = hfi_search_ends(NULL, NULL, &whole, &own, (double)INFINITY, out, argmin, argmax);
        problem->functions->end(problem);
    }
    hfi_problem_free(problem);
    return status;
}

/* The interval of the value at one point: of a box that is a point, what its ends attain. */
static inline hf_status prove_at(hf_context *ctx, hf_posterior *posterior, hfi_rigorous *rigorous,
                                 const hfi_quantity *quantity, const hf_certify_settings *settings,
                                 const double *x, double *low, double *high)
{
    hf_certify_settings own = hf_certify_settings_default();
    hf_range range;
    double *at = calloc(2 * posterior->solution.d, sizeof *at);
    if (at == NULL) return HF_ERR_MEMORY;
    own.beta = settings->beta;
    own.output = settings->output;
    const hf_status status = prove(ctx, posterior, rigorous, quantity, &own, x, x, &range, at,
                                   at + posterior->solution.d);
    *low = range.upper_attained;
    *high = range.lower_attained;
    free(at);
    return status;
}

#endif
