/* SPDX-License-Identifier: Apache-2.0 */
/* A bound with every rounding accounted for: it holds in exact arithmetic for exactly the stored kernel,
 * inputs and limits. */
#include "envelope/envelope.h"
#include "kernel/enclosure.h"

#include <math.h>

static hfi_interval covariance(const hf_envelope *envelope, const double *x, const double *z, bool *ok)
{
    hfi_interval k = {0.0L, 0.0L};
    if (!hfi_kernel_enclose(envelope->kernel, x, z, false, &k.lower, &k.upper)) *ok = false;
    return k;
}

/* |k(., x) - sum nu_i k(., x_i)|^2 and the jitter's share; without x |sum nu_i k(., x_i)|^2. */
static hfi_interval square_of(const hf_envelope *envelope, const double *x, double jitter, size_t count,
                              const size_t *index, const double *nu, bool *ok)
{
    const size_t d = envelope->d;
    const hfi_interval nothing = {0.0L, 0.0L};
    hfi_interval square = x ? covariance(envelope, x, x, ok) : nothing;
    for (size_t a = 0; a < count && *ok; a++) {
        const double *at = envelope->x + index[a] * d;
        const hfi_interval own = hfi_interval_point(nu[a]);
        /* nu_a (nu_a (k_aa + j) + 2 (sum over earlier ones - k_a)) */
        hfi_interval row = x ? hfi_interval_negate(covariance(envelope, x, at, ok)) : nothing;
        for (size_t b = 0; b < a; b++)
            row = hfi_interval_add(
                row, hfi_interval_multiply(hfi_interval_point(nu[b]),
                                           covariance(envelope, at, envelope->x + index[b] * d, ok)));
        const hfi_interval diagonal =
            hfi_interval_add(covariance(envelope, at, at, ok), hfi_interval_point(jitter));
        const hfi_interval inner =
            hfi_interval_add(hfi_interval_multiply(own, diagonal), hfi_interval_add(row, row));
        square = hfi_interval_add(square, hfi_interval_multiply(own, inner));
    }
    return square;
}

double hfi_envelope_rigorous(const hf_envelope *envelope, const hfi_active_problem *problem, const double *x,
                             size_t count, const size_t *index, const double *nu)
{
    bool ok = hfi_interval_usable();
    const hfi_interval square = square_of(envelope, x, envelope->jitter, count, index, nu, &ok);
    if (!ok) return INFINITY;
    const long double root = square.upper > 0.0L ? hfi_up(sqrtl(square.upper)) : 0.0L;
    hfi_interval sum = hfi_interval_point(hfi_times_up(problem->norm, root));
    for (size_t a = 0; a < count; a++) {
        const double limit = nu[a] > 0.0 ? problem->upper[index[a]] : problem->lower[index[a]];
        if (nu[a] != 0.0)
            sum = hfi_interval_add(
                sum, hfi_interval_multiply(hfi_interval_point(nu[a]), hfi_interval_point(limit)));
    }
    const double nearest = (double)sum.upper;
    return (long double)nearest < sum.upper ? nextafter(nearest, INFINITY) : nearest;
}

hfi_interval hfi_rigorous_square(const hf_envelope *envelope, size_t count, const size_t *index,
                                 const double *nu)
{
    bool ok = hfi_interval_usable();
    const hfi_interval square = square_of(envelope, NULL, 0.0, count, index, nu, &ok);
    return ok ? square : (hfi_interval){0.0L, INFINITY};
}
