/* SPDX-License-Identifier: Apache-2.0 */
/* Value of a dual vector: the number that is given out, so it looks at K, not at what the active set made of it. */
#include "envelope/envelope.h"
#include "envelope/loops.h"
#include "kernel/enclosure.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

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

/* out := limit t - (k - K nu) on the support, in long double: what nu still lacks to be its vertex. O(count^2). */
static void dual_residual(const hfi_active_problem *problem, const double *cross, double t,
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

void hfi_dual_refine(const hfi_active_problem *problem, const double *cross, double t, hfi_chain *chain,
                     double *nu)
{
    double *change = chain->target;
    dual_residual(problem, cross, t, chain, nu, change);
    hfi_active_forward(chain->count, 0, chain->l, chain->ldl, change, NULL);
    hfi_active_backward(chain->count, chain->l, chain->ldl, change);
    for (size_t j = 0; j < chain->count; j++) nu[j] -= change[j];
}

void hfi_dual_price(const hfi_active_problem *problem, const double *cross, hfi_chain *chain,
                    const double *nu)
{
    double *missing = chain->target;
    hfi_active_price(problem->n, chain->count, chain->index, nu, problem->k, problem->ldk, cross, chain->g);
    dual_residual(problem, cross, chain->t, chain, nu, missing);
    for (size_t j = 0; j < chain->count; j++)
        chain->g[chain->index[j]] = chain->t * chain->limit[j] - missing[j];
}

/* ---- the last digits of a vertex --------------------------------------------------------------------- */

/* The last digits of a vertex. Close to the readings t comes from P^2 = k(x,x) - u'u, of which rounding
 * leaves few: an f whose norm misses G by a share of 1e-4 misses its limits by that share of their size.
 * That may be more than the room between them. q(nu), summed in long double from K, says what t should
 * be. */

/* t may differ by this share from sqrt(q) / G. */
#define ENOUGH 1e-12
/* More than this share is no rounding: then t stays. */
#define MOST 0.5

enum {
    STEPS = 3
};

/* t at which |f| = G, from q at nu = x1 - t x2: q = P^2 + t^2 v'v. The present t when rounding leaves nothing of it. */
static double wanted(const hfi_active_problem *problem, const hfi_chain *chain, long double square)
{
    const long double t = chain->t, held = hfi_dot(chain->count, chain->v, chain->v),
                      room = (long double)problem->norm * problem->norm - held;
    const double t_new = (double)sqrtl((square - t * t * held) / room);
    return fabs(t_new / chain->t - 1.0) < MOST ? t_new : chain->t;
}

/* By what share of G the norm of f misses it. */
static double miss(const hfi_active_problem *problem, const hfi_chain *chain, const hfi_dual_value *value)
{
    return fabs((double)(sqrtl(value->estimate) / ((long double)chain->t * problem->norm) - 1.0L));
}

/* nu of the same support at another t, by one step of refinement. */
static hfi_dual_value move_to(const hfi_active_problem *problem, hfi_chain *chain, double t)
{
    chain->t = t;
    hfi_dual_refine(problem, problem->cross, t, chain, chain->nu);
    return hfi_dual_evaluate(problem, chain->count, chain->index, chain->nu);
}

hfi_dual_value hfi_active_finish(const hfi_active_problem *problem, hfi_chain *chain)
{
    hfi_dual_value value = hfi_dual_evaluate(problem, chain->count, chain->index, chain->nu);
    if (!chain->at_vertex || chain->floored) return value;
    double off = miss(problem, chain, &value), *kept = chain->alone;
    bool moved = false;
    for (int k = 0; k < STEPS && off > ENOUGH; k++) {
        const double t = chain->t;
        memcpy(kept, chain->nu, chain->count * sizeof *kept);
        const hfi_dual_value there = move_to(problem, chain, wanted(problem, chain, value.estimate));
        const double off_there = miss(problem, chain, &there);
        if (!(off_there < off)) { /* rounding has the last word */
            chain->t = t;
            memcpy(chain->nu, kept, chain->count * sizeof *kept);
            break;
        }
        off = off_there;
        value = there;
        moved = true;
    }
    if (moved) hfi_dual_price(problem, problem->cross, chain, chain->nu);
    return value;
}

/* ---- with every rounding accounted for --------------------------------------------------------------- */

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
    const hfi_interval square = square_of(envelope, x, envelope->settings.jitter, count, index, nu, &ok);
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
