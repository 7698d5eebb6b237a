/* SPDX-License-Identifier: Apache-2.0 */
/* The last digits of a vertex. Close to the readings t comes from P^2 = k(x,x) - u'u, of which rounding
 * leaves few: an f whose norm misses G by a share of 1e-4 misses its limits by that share of their size,
 * which may be more than the room between them. q(nu), summed in long double from K, says what t should
 * be. */
#include "envelope/envelope.h"
#include "envelope/loops.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

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
    double *change = chain->target;
    chain->t = t;
    hfi_dual_residual(problem, problem->cross, t, chain, chain->nu, change);
    hfi_active_forward(chain->count, 0, chain->l, chain->ldl, change, NULL);
    hfi_active_backward(chain->count, chain->l, chain->ldl, change);
    for (size_t j = 0; j < chain->count; j++) chain->nu[j] -= change[j];
    return hfi_dual_evaluate(problem, chain->count, chain->index, chain->nu);
}

/* f over all readings; at those of the support from sums in long double. */
static void price_finely(const hfi_active_problem *problem, hfi_chain *chain)
{
    double *missing = chain->target;
    hfi_active_price(problem->n, chain->count, chain->index, chain->nu, problem->k, problem->ldk,
                     problem->cross, chain->g);
    hfi_dual_residual(problem, problem->cross, chain->t, chain, chain->nu, missing);
    for (size_t j = 0; j < chain->count; j++)
        chain->g[chain->index[j]] = chain->t * chain->limit[j] - missing[j];
}

hfi_dual_value hfi_active_settle(const hfi_active_problem *problem, hfi_chain *chain)
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
    if (moved) price_finely(problem, chain);
    return value;
}
