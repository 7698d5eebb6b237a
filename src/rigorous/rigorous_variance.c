/* SPDX-License-Identifier: Apache-2.0 */
/* Posterior covariances of the value and its slopes at one point, from approximate solutions and what they
 * lack. For covariances v and w with the anchors and any u, A = K + D and r = v - A u,
 *
 *     v' A^-1 w = u_v'w + u_w'r_v + r_v' A^-1 r_w,     |r_v' A^-1 r_w|^2 <= (sum r_vi^2 / d_i) (sum r_wi^2 / d_i)
 *
 * as K is positive semi-definite: so u may come from the stored factor, whose rounding only makes r larger. */
#include "rigorous/rigorous_impl.h"

/* (A u)_i, with rounding. `total` is at least sum |u_j|. */
static hfi_interval row_product(const hfi_rigorous *r, size_t i, const double *u, long double total)
{
    const hfi_solution *s = &r->posterior->solution;
    const double *column = r->gram + i * s->n;
    long double sum = 0.0L, size = 0.0L;
    for (size_t j = 0; j < s->n; j++) {
        const long double term = (long double)column[j] * u[j];
        sum += term;
        size += fabsl(term);
    }
    /* A product and n sums, half a unit each, of what was added up with roundings too: four times that holds
     * both. The entries are off by `radius`. */
    const long double units = 2.0L * (long double)(s->n + 2) * LDBL_EPSILON;
    const long double slack = hfi_up(hfi_up(hfi_times_up(units, size) + hfi_times_up(r->radius, total)) +
                                     LDBL_MIN * (long double)s->n);
    const hfi_interval diagonal =
        hfi_interval_add(hfi_interval_point(s->variance[i]), hfi_interval_point(s->jitter));
    return hfi_interval_add(hfi_interval_widen(hfi_interval_point(sum), slack),
                            hfi_interval_multiply(diagonal, hfi_interval_point(u[i])));
}

/* Covariances of the anchors with the value and, where count is more than 1, with each slope; and about A^-1
 * of them. */
static bool solve_covariances(hfi_rigorous_work *work, size_t count)
{
    const hf_posterior *posterior = work->of->posterior;
    const hfi_solution *s = &posterior->solution;
    for (size_t i = 0; i < s->n; i++) {
        if (!hfi_watch_glance(work->watch) ||
            !hfi_kernel_enclose_box(posterior->kernel, work->middle, s->z + i * s->d, false, count > 1,
                                    work->one, work->scratch))
            return false;
        for (size_t a = 0; a < count; a++) {
            work->column[a * s->n + i] = work->one[a];
            work->solved[a * s->n + i] = (double)(0.5L * (work->one[a].lower + work->one[a].upper));
        }
    }
    for (size_t a = 0; a < count && hfi_watch_glance(work->watch); a++) {
        size_t ld;
        double *of = work->solved + a * s->n,
               *whitened = hfi_solution_whiten(s, 1, of, s->n, work->room, &ld);
        hfi_solution_spread(s, whitened, of);
    }
    return true;
}

/* r_v of each, and at least r_v' A^-1 r_v. */
static void residuals(hfi_rigorous_work *work, size_t count)
{
    const hfi_rigorous *r = work->of;
    const size_t n = r->posterior->solution.n;
    for (size_t a = 0; a < count && hfi_watch_glance(work->watch); a++) {
        const double *u = work->solved + a * n;
        long double total = 0.0L, rest = 0.0L;
        for (size_t i = 0; i < n; i++) total = hfi_up(total + fabsl((long double)u[i]));
        for (size_t i = 0; i < n; i++) {
            const hfi_interval residual =
                hfi_interval_subtract(work->column[a * n + i], row_product(r, i, u, total));
            const long double square = hfi_interval_square(residual).upper;
            work->residual[a * n + i] = residual;
            if (square == 0.0L) continue;
            rest = r->variance[i] > 0.0L ? hfi_up(rest + hfi_up(square / r->variance[i])) : INFINITY;
        }
        work->rest[a] = rest;
    }
}

/* v_a' A^-1 v_b */
static hfi_interval taken(const hfi_rigorous_work *work, size_t a, size_t b)
{
    const size_t n = work->of->posterior->solution.n;
    hfi_interval sum = hfi_interval_point(0.0L);
    for (size_t i = 0; i < n; i++) {
        const hfi_interval ua = hfi_interval_point(work->solved[a * n + i]);
        const hfi_interval ub = hfi_interval_point(work->solved[b * n + i]);
        const hfi_interval one = hfi_interval_multiply(ua, work->column[b * n + i]);
        const hfi_interval two = hfi_interval_multiply(ub, work->residual[a * n + i]);
        sum = hfi_interval_add(sum, hfi_interval_add(one, two));
    }
    const long double product = hfi_times_up(work->rest[a], work->rest[b]);
    const long double rest = product > 0.0L ? hfi_up(sqrtl(product)) : 0.0L;
    if (a != b) return hfi_interval_widen(sum, rest);
    return (hfi_interval){sum.lower, hfi_up(sum.upper + rest)};
}

/* Prior covariances: of the value its own, of value and slope half the slope of k(x, x). The covariance of two slopes:
 * the second derivatives of k(x, x) are twice those of k(x, z) in x at z = x, and twice the mixed ones. */
static bool prior_jet(hfi_rigorous_work *work, int order)
{
    const hf_posterior *posterior = work->of->posterior;
    const size_t d = posterior->solution.d, size = hfi_kernel_jet_size(posterior->kernel, order);
    if (!hfi_kernel_enclose_box(posterior->kernel, work->middle, NULL, false, order, work->spread,
                                work->scratch))
        return false;
    if (order == 0) return true;
    if (!hfi_kernel_enclose_box(posterior->kernel, work->middle, work->centre, false, order, work->one,
                                work->scratch))
        return false;
    for (size_t k = 1 + d; k < size; k++)
        work->spread[k] = hfi_interval_subtract(
            work->spread[k], (hfi_interval){2.0L * work->one[k].lower, 2.0L * work->one[k].upper});
    return true;
}

bool hfi_rigorous_spread(hfi_rigorous_work *work, int order)
{
    const size_t d = work->of->posterior->solution.d, count = order == 0 ? 1 : 1 + d;
    hfi_interval *jet = work->spread;
    if (!prior_jet(work, order) || !solve_covariances(work, count)) return false;
    const long double most = jet[0].upper > 0.0L ? jet[0].upper : 0.0L;
    residuals(work, count);
    jet[0] = hfi_interval_subtract(jet[0], taken(work, 0, 0));
    if (!(jet[0].lower > 0.0L)) jet[0].lower = 0.0L;
    if (!(jet[0].upper < most)) jet[0].upper = most;
    if (jet[0].upper < 0.0L) jet[0].upper = 0.0L;
    for (size_t i = 0; i < d && order > 0 && hfi_watch_glance(work->watch); i++) {
        const hfi_interval slope = taken(work, 0, 1 + i);
        jet[1 + i] = hfi_interval_subtract(jet[1 + i], hfi_interval_add(slope, slope));
        for (size_t j = 0; j <= i; j++) {
            const hfi_interval both = taken(work, 1 + i, 1 + j);
            hfi_interval *out = &jet[1 + d + i * (i + 1) / 2 + j];
            *out = hfi_interval_subtract(*out, hfi_interval_add(both, both));
        }
    }
    return !hfi_watch_stopped(work->watch);
}
