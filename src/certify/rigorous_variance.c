/* SPDX-License-Identifier: Apache-2.0 */
/* The variance at one point, from an approximate solution and what it lacks. For any u, with A = K + D and r = k - A u,
 *
 *     k' A^-1 k = 2 u'k - u'A u + r' A^-1 r,     0 <= r' A^-1 r <= sum r_i^2 / d_i
 *
 * as K is positive semi-definite: so u may come from the stored factor, whose rounding only makes r larger. */
#include "certify/rigorous_impl.h"

#include <string.h>

/* a b summed in long double: |error| <= (n + 2) units of the sum of sizes. */
typedef struct dot {
    long double sum, size;
} dot;

static hfi_interval row_product(const hfi_rigorous *r, size_t i, const double *u, long double total)
{
    const hfi_solution *s = &r->posterior->solution;
    const double *column = r->gram + i * s->n;
    dot p = {0.0L, 0.0L};
    for (size_t j = 0; j < s->n; j++) {
        const long double term = (long double)column[j] * u[j];
        p.sum += term;
        p.size += fabsl(term);
    }
    /* Sizes were added up with roundings too: twice the allowance holds both. The entries themselves are off by `radius`. */
    const long double units = 2.0L * (long double)(s->n + 2) * LDBL_EPSILON;
    const long double slack = hfi_up(hfi_times_up(units, p.size) + hfi_times_up(r->radius, total)) + LDBL_MIN;
    const hfi_interval diagonal =
        hfi_interval_add(hfi_interval_point(s->variance[i]), hfi_interval_point(s->jitter));
    return hfi_interval_add(hfi_interval_widen(hfi_interval_point(p.sum), slack),
                            hfi_interval_multiply(diagonal, hfi_interval_point(u[i])));
}

/* work->column := k at the middle, work->solved := about A^-1 k. */
static bool solve(hfi_rigorous_work *work)
{
    const hf_posterior *posterior = work->of->posterior;
    const hfi_solution *s = &posterior->solution;
    size_t ld;
    for (size_t i = 0; i < s->n; i++) {
        if (!hfi_kernel_enclose_box(posterior->kernel, work->middle, s->z + i * s->d, false, 0,
                                    &work->column[i], work->scratch))
            return false;
        work->solved[i] = (double)(0.5L * (work->column[i].lower + work->column[i].upper));
    }
    double *whitened = hfi_solution_whiten(s, 1, work->solved, s->n, work->room, &ld);
    hfi_solution_spread(s, whitened, work->solved);
    return true;
}

bool hfi_rigorous_variance(hfi_rigorous_work *work, hfi_interval *out)
{
    const hfi_rigorous *r = work->of;
    const hfi_solution *s = &r->posterior->solution;
    hfi_interval prior, taken = hfi_interval_point(0.0L);
    long double total = 0.0L, rest = 0.0L;
    if (!hfi_kernel_enclose_box(r->posterior->kernel, work->middle, NULL, false, 0, &prior, work->scratch) ||
        !solve(work))
        return false;
    for (size_t i = 0; i < s->n; i++) total = hfi_up(total + fabsl((long double)work->solved[i]));
    for (size_t i = 0; i < s->n; i++) {
        const hfi_interval u = hfi_interval_point(work->solved[i]), k = work->column[i];
        const hfi_interval product = row_product(r, i, work->solved, total);
        const hfi_interval residual = hfi_interval_subtract(k, product);
        /* u (2 k - A u) = u (k + residual) */
        taken = hfi_interval_add(taken, hfi_interval_multiply(u, hfi_interval_add(k, residual)));
        const long double square = hfi_interval_square(residual).upper;
        if (!(r->variance[i] > 0.0L) && square > 0.0L) rest = INFINITY;
        if (r->variance[i] > 0.0L) rest = hfi_up(rest + hfi_up(square / r->variance[i]));
    }
    taken.upper = hfi_up(taken.upper + rest);
    *out = hfi_interval_subtract(prior, taken);
    if (out->lower < 0.0L || !isfinite(out->lower)) out->lower = 0.0L;
    if (out->upper > prior.upper) out->upper = prior.upper;
    if (out->upper < 0.0L) out->upper = 0.0L;
    return true;
}
