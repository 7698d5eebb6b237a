/* SPDX-License-Identifier: Apache-2.0 */
/* The smoothest function that meets all readings, and one that has room to all limits. */
#include "envelope/envelope.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* More would make the search longer and the gaps no better. */
#define MOST_SHARE 0.05
/* Share of nu'K nu left open by rounded kernel values, from which exact ones are used. */
#define WORTH_ENCLOSING 1e-3L

enum {
    TRIALS = 12 /* each with a quarter of the share of the intervals that a centre is to keep free */
};

double hfi_smoothest_norm(const hfi_chain *chain)
{
    return sqrt(hfi_dot(chain->count, chain->v, chain->v));
}

typedef struct cap {
    const hfi_chain *chain;
    double square;
} cap;

/* At every vertex the square is that of the smoothest function that meets some of the readings. */
static bool is_beyond(void *arg)
{
    const cap *c = arg;
    return hfi_dot(c->chain->count, c->chain->v, c->chain->v) > c->square;
}

double hfi_smoothest_solve(const hfi_active_problem *problem, hfi_chain *chain, double most)
{
    cap c = {.chain = chain, .square = most * most};
    const hfi_active_end end = hfi_active_solve(problem, chain, 0, 0.0, is_beyond, &c);
    return end == HFI_ACTIVE_ENOUGH ? INFINITY : hfi_smoothest_norm(chain);
}

static hfi_dual_value evaluate_smoothest(const hfi_active_problem *problem, const hfi_chain *chain)
{
    hfi_active_problem alone = *problem;
    alone.cross = NULL;
    alone.prior = 0.0;
    return hfi_dual_evaluate(&alone, chain->count, chain->index, chain->nu);
}

/* -h / sqrt(nu'K nu) from below. */
static double norm_of(long double support, long double square)
{
    if (!(support < 0.0L)) return 0.0;
    return nextafter((double)(-support / sqrtl(square)), 0.0);
}

double hfi_envelope_certified(const hf_envelope *envelope, const hfi_active_problem *problem,
                              const hfi_chain *chain, double *open)
{
    const hfi_dual_value value = evaluate_smoothest(problem, chain);
    hfi_interval square = {value.estimate, value.square};
    if (value.support < 0.0L && square.upper - square.lower > WORTH_ENCLOSING * square.lower) {
        const hfi_interval exact = hfi_rigorous_square(envelope, chain->count, chain->index, chain->nu);
        if (exact.upper < square.upper) square = exact;
    }
    if (open) {
        const bool known = !(value.support < 0.0L) || square.lower > 0.0L;
        *open = !known                 ? INFINITY
                : value.support < 0.0L ? (double)sqrtl(square.upper / square.lower) - 1.0
                                       : 0.0;
    }
    return norm_of(value.support, square.upper);
}

/* ---- a centre --------------------------------------------------------------------------------------------------- */

/* An interval that is no wider than rounding: a centre cannot have room in it. */
static bool is_point(const hf_envelope *envelope, size_t i)
{
    const double width = envelope->upper[HF_UPPER][i] - envelope->lower[HF_UPPER][i];
    return width <= HFI_VIOLATION_ROUNDING * envelope->norm * envelope->sd[i];
}

/* Limits moved inwards: `kept` of each half width is left, and a limit that is alone moves by as much of a
 * tenth of what f can be there. */
static void shrink(const hf_envelope *envelope, double kept, double *lower, double *upper)
{
    for (size_t i = 0; i < envelope->n; i++) {
        const double lo = envelope->lower[HF_UPPER][i], hi = envelope->upper[HF_UPPER][i];
        const double alone = 0.1 * envelope->norm * envelope->sd[i], half = 0.5 * (hi - lo);
        const double inwards = (1.0 - kept) * (isfinite(half) ? half : alone);
        lower[i] = lo + inwards;
        upper[i] = hi - inwards;
        if (is_point(envelope, i)) lower[i] = upper[i] = 0.5 * lo + 0.5 * hi;
    }
}

/* Whether the chain's function keeps all readings, with some room where there is any. */
static bool has_room(const hf_envelope *envelope, const hfi_chain *chain)
{
    for (size_t i = 0; i < envelope->n; i++) {
        const double lo = envelope->lower[HF_UPPER][i], hi = envelope->upper[HF_UPPER][i];
        if (!is_point(envelope, i) && !(chain->g[i] > lo && chain->g[i] < hi)) return false;
    }
    return true;
}

static void keep_centre(hf_envelope *envelope, const hfi_chain *chain)
{
    envelope->has_centre = true;
    envelope->centre_norm = hfi_smoothest_norm(chain);
    envelope->centre_count = chain->count;
    memcpy(envelope->centre_index, chain->index, chain->count * sizeof *chain->index);
    memcpy(envelope->centre_nu, chain->nu, chain->count * sizeof *chain->nu);
    memcpy(envelope->centre_value, chain->g, envelope->n * sizeof *chain->g);
}

/* Norm over the share of the intervals that is kept is convex: half the way to G along its tangent is the
 * largest share worth trying. */
static double first_share(const hf_envelope *envelope, const hfi_chain *chain)
{
    const double norm = hfi_smoothest_norm(chain);
    double rise = 0.0;
    for (size_t j = 0; j < chain->count; j++) {
        const size_t i = chain->index[j];
        const double half = 0.5 * (envelope->upper[HF_UPPER][i] - envelope->lower[HF_UPPER][i]);
        rise += fabs(chain->nu[j]) * (isfinite(half) ? half : 0.1 * envelope->norm * envelope->sd[i]);
    }
    const double share = 0.5 * (envelope->norm - norm) * norm / rise;
    return share < MOST_SHARE ? share : MOST_SHARE;
}

/* Goes on from the smoothest function. */
static void find_centre(hf_envelope *envelope, hfi_chain *chain, double *limits)
{
    hfi_active_problem problem = hfi_envelope_problem(envelope, HF_UPPER);
    double *lower = limits, *upper = limits + envelope->capacity;
    problem.jitter = 0.0;
    problem.lower = lower;
    problem.upper = upper;
    envelope->has_centre = false;
    double share = first_share(envelope, chain);
    for (int k = 0; k < TRIALS && share > 0.0; k++, share *= 0.25) {
        shrink(envelope, 1.0 - share, lower, upper);
        if (hfi_smoothest_solve(&problem, chain, envelope->norm) < envelope->norm &&
            has_room(envelope, chain)) {
            keep_centre(envelope, chain);
            return;
        }
    }
}

/* ---- both ---------------------------------------------------------------------------------------------- */

static void recall(const hf_envelope *envelope, const hfi_active_problem *problem, hfi_chain *chain)
{
    hfi_chain_reset(chain);
    chain->suspect = chain->indefinite = false;
    chain->count = envelope->smooth_count;
    memcpy(chain->index, envelope->smooth_index, chain->count * sizeof *chain->index);
    memcpy(chain->sign, envelope->smooth_sign, chain->count * sizeof *chain->sign);
    memcpy(chain->nu, envelope->smooth_nu, chain->count * sizeof *chain->nu);
    hfi_chain_refresh(problem, chain, true);
}

static void remember_smoothest(hf_envelope *envelope, const hfi_chain *chain)
{
    envelope->smooth_count = chain->count;
    memcpy(envelope->smooth_index, chain->index, chain->count * sizeof *chain->index);
    memcpy(envelope->smooth_sign, chain->sign, chain->count * sizeof *chain->sign);
    memcpy(envelope->smooth_nu, chain->nu, chain->count * sizeof *chain->nu);
}

/* A reading at which every function of the space is zero, but must not be. */
static bool is_out_of_reach(const hf_envelope *envelope)
{
    for (size_t i = 0; i < envelope->n; i++)
        if (!(envelope->sd[i] > 0.0) &&
            (envelope->lower[HF_UPPER][i] > 0.0 || envelope->upper[HF_UPPER][i] < 0.0))
            return true;
    return false;
}

hf_status hfi_envelope_find_smoothest(hf_context *ctx, hf_envelope *envelope)
{
    hfi_chain *chain = &envelope->work_area.chain;
    hfi_active_problem problem = hfi_envelope_problem(envelope, HF_UPPER);
    problem.jitter = 0.0;
    recall(envelope, &problem, chain);
    (void)hfi_smoothest_solve(&problem, chain, INFINITY);
    const double certified = hfi_envelope_certified(envelope, &problem, chain, NULL);
    hf_status status = HF_OK;
    if (chain->indefinite)
        status = hfi_fail(ctx, HF_ERR_NOT_POSITIVE_DEFINITE,
                          "the kernel matrix of the readings has a negative eigenvalue");
    else if (certified > envelope->norm || is_out_of_reach(envelope))
        status = HF_ERR_INCONSISTENT;
    if (status >= 0) {
        envelope->minimum_norm = certified;
        remember_smoothest(envelope, chain);
        find_centre(envelope, chain, envelope->work_area.limits);
    }
    return status;
}
