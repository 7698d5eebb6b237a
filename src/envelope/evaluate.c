/* SPDX-License-Identifier: Apache-2.0 */
/* Value of a dual vector: the number that is given out, so it looks at K, not at what the active set made of it. */
#include "envelope/envelope.h"

#include <math.h>

/* Two roundings of a long double for every term of a sum of squares, generously. */
#define LONG_ROUNDING 2.2e-19L

hfi_dual_value hfi_dual_evaluate(const hfi_active_problem *problem, size_t count, const size_t *index,
                                 const double *nu)
{
    long double square = problem->prior, reach = problem->prior, support = 0.0L, bulk = 0.0L;
    long double size = sqrtl((long double)problem->prior), terms = (long double)(2 * count + 8);
    for (size_t a = 0; a < count; a++) {
        const size_t i = index[a];
        const double *column = problem->k + i * problem->ldk;
        const long double own = nu[a], diagonal = (long double)column[i] + problem->jitter;
        const long double cross = problem->cross ? (long double)problem->cross[i] : 0.0L;
        long double row = 0.5L * own * diagonal;
        for (size_t b = 0; b < a; b++) row += (long double)column[index[b]] * nu[b];
        square += 2.0L * own * (row - cross);
        reach -= own * cross;
        const long double held = own > 0.0L ? own * problem->upper[i] : own * problem->lower[i];
        if (own != 0.0L) support += held;
        if (own != 0.0L) bulk += fabsl(held);
        size += fabsl(own) * sqrtl(diagonal);
    }
    const long double estimate = square;
    square += (HFI_KERNEL_ROUNDING + terms * LONG_ROUNDING) * size * size;
    return (hfi_dual_value){.square = square > 0.0L ? square : 0.0L,
                            .estimate = estimate,
                            .support = support + terms * LONG_ROUNDING * bulk,
                            .reach = reach,
                            .size = size};
}

void hfi_dual_residual(const hfi_active_problem *problem, const double *cross, double t,
                       const hfi_chain *chain, const double *nu, double *out)
{
    for (size_t a = 0; a < chain->count; a++) {
        const size_t i = chain->index[a];
        const double *column = problem->k + i * problem->ldk;
        long double sum = (long double)t * chain->limit[a] - (cross ? (long double)cross[i] : 0.0L);
        for (size_t b = 0; b < chain->count; b++) sum += (long double)column[chain->index[b]] * nu[b];
        out[a] = (double)(sum + (long double)problem->jitter * nu[a]);
    }
}
