/* SPDX-License-Identifier: Apache-2.0 */
/* One query: two active sets, the bounds that they prove, and how far those may be from the best. */
#include "core/settings.h"
#include "envelope/envelope.h"
#include "envelope/loops.h"

#include <math.h>
#include <string.h>

/* f is not taken from a square root below this share of k(x,x), which is rounding; any larger root is
 * allowed, it makes f shorter. */
#define LEAST_SQUARE 1e-14
/* And in units of what the sums behind it are made of. */
#define NOISE 1e-15
/* A bound is reported that may be off by more than this share of the prior scale. */
#define WORTH_A_WARNING 1e-6

typedef struct query {
    const hf_envelope *envelope;
    hf_envelope_workspace *workspace;
    const double *x;
    const hf_envelope_limits *limits;
    size_t at;        /* the reading at x, or n */
    double centre_at; /* the centre's value at x */
    hfi_active_problem problem;
    hfi_chain *chain;
    hf_side side;
} query;

/* Result of one side. */
typedef struct side_bound {
    double bound, gap;
    double missing;     /* the gap to the best that the jitter leaves */
    long double square; /* of the nu that gave the bound */
    size_t pivots;
    hfi_active_end end;
} side_bound;

static double round_up(long double value)
{
    const double nearest = (double)value;
    return (long double)nearest < value ? nextafter(nearest, INFINITY) : nearest;
}

static double bound_of(const hfi_active_problem *problem, const hfi_dual_value *value)
{
    const long double root = problem->norm * sqrtl(value->square) * (1.0L + 1e-18L);
    return round_up(root + value->support + 1e-18L * (root + fabsl(value->support)));
}

/* Factor on g that makes it a function of norm G or less, and what that function is at x. At a
 * vertex 1 / t keeps the limits that are held; rounding may make that function too long, which a
 * *share of the way to the centre mends. */
static double function_of(const query *q, const hfi_dual_value *value, double *at_x, double *share)
{
    const hfi_chain *chain = q->chain;
    const hf_envelope *envelope = q->envelope;
    *share = 0.0;
    if (chain->at_vertex && chain->floored) {
        *at_x = 0.0;
        for (size_t j = 0; j < chain->count; j++)
            *at_x -= chain->alone[j] * q->problem.cross[chain->index[j]];
        return 1.0;
    }
    const double square = fmax((double)value->estimate, LEAST_SQUARE * q->problem.prior);
    double factor = q->problem.norm / sqrt(square);
    if (chain->at_vertex && (factor > 1.0 / chain->t || envelope->has_centre)) {
        const double longer = sqrt(square) / chain->t - q->problem.norm;
        if (longer > 0.0) *share = longer / (q->problem.norm + longer - envelope->centre_norm);
        factor = 1.0 / chain->t;
    }
    *at_x = factor * (double)value->reach;
    return factor;
}

/* Share of the way to the centre at which f meets all readings; infinite when there is none. */
static double share_needed(const query *q, double factor, double rounding)
{
    const hf_envelope *envelope = q->envelope;
    const double mirror = q->side == HF_UPPER ? 1.0 : -1.0, *g = q->chain->g;
    double share = 0.0;
    for (size_t i = 0; i < envelope->n; i++) {
        const double f = factor * g[i], above = f - q->problem.upper[i], below = q->problem.lower[i] - f;
        const double over = fmax(above, below);
        if (!(over > rounding * q->problem.sd[i])) continue;
        const double inside = mirror * envelope->centre_value[i],
                     way = above > below ? f - inside : inside - f;
        /* At an exact reading the centre is the end of the way, but for rounding. */
        if (!envelope->has_centre || !(way + rounding * q->problem.sd[i] >= over)) return INFINITY;
        share = fmax(share, fmin(1.0, over / way));
    }
    return share;
}

/* How far the bound is from a function that meets everything: f of the active set, drawn towards
 * the centre as far as its violations ask for. Without the `jitter` of the problem readings may be
 * missed by as much as it allows. */
static double gap_to(const query *q, const hfi_dual_value *value, double bound, double jitter)
{
    const hfi_chain *chain = q->chain;
    const double mirror = q->side == HF_UPPER ? 1.0 : -1.0;
    const double *nu = chain->at_vertex && chain->floored ? chain->alone : chain->nu;
    double f, size = 0.0, share;
    const double factor = function_of(q, value, &f, &share);
    for (size_t j = 0; j < chain->count; j++) {
        chain->g[chain->index[j]] += jitter * nu[j]; /* f itself does without */
        size += fabs(nu[j]) * q->problem.sd[chain->index[j]];
    }
    if (!(chain->at_vertex && chain->floored)) size += sqrt(q->problem.prior);
    share = fmax(share,
                 share_needed(q, factor, HFI_VIOLATION_ROUNDING * q->problem.norm + NOISE * factor * size));
    for (size_t j = 0; j < chain->count; j++) chain->g[chain->index[j]] -= jitter * nu[j];
    if (!(share <= 1.0)) return INFINITY;
    if (share > 0.0) f += share * (mirror * q->centre_at - f);
    return fmax(0.0, bound - f);
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

static void give(hfi_chain *chain, size_t count, const size_t *index, const double *nu)
{
    chain->given = count;
    memcpy(chain->given_index, index, count * sizeof *index);
    memcpy(chain->given_nu, nu, count * sizeof *nu);
}

static void try_nu(const query *q, size_t count, const size_t *index, const double *nu, side_bound *a)
{
    const hfi_dual_value value = hfi_dual_evaluate(&q->problem, count, index, nu);
    const double bound = bound_of(&q->problem, &value);
    if (!(bound < a->bound)) return;
    a->bound = bound;
    a->square = value.square;
    give(q->chain, count, index, nu);
}

/* Besides where the active set ended: nothing, the readings at x alone, and, where k_x lies in the span of
 * the support, exactly that. */
static void try_others(const query *q, side_bound *a)
{
    hfi_chain *chain = q->chain;
    try_nu(q, 0, chain->index, chain->nu, a);
    if (chain->floored && chain->count > 0) {
        memcpy(chain->target, chain->u, chain->count * sizeof *chain->u);
        hfi_active_backward(chain->count, chain->l, chain->ldl, chain->target);
        try_nu(q, chain->count, chain->index, chain->target, a);
    }
    const double one = 1.0;
    for (size_t k = 0; k < q->workspace->close_count; k++) try_nu(q, 1, &q->workspace->close[k], &one, a);
    if (q->at < q->envelope->n) {
        const long double root = q->problem.norm * sqrtl((long double)q->problem.jitter) * (1.0L + 1e-18L);
        const double bound = round_up(q->problem.upper[q->at] + root);
        if (bound <= a->bound) {
            a->bound = bound;
            a->square = q->problem.jitter;
            give(chain, 1, &q->at, &one);
        }
    }
}

static bool is_close_enough(void *arg)
{
    const query *q = arg;
    const hfi_dual_value value =
        hfi_dual_evaluate(&q->problem, q->chain->count, q->chain->index, q->chain->nu);
    return gap_to(q, &value, bound_of(&q->problem, &value), q->problem.jitter) <= q->limits->gap;
}

/* At a reading (or one that cannot be told from it) f is what the others allow, cut off at its limits: the
 * values at x of the functions that meet the others are an interval. So the active set does without it, and
 * is spared a problem whose square root is zero. */
static void set_aside(const query *q, unsigned char left_out)
{
    const hf_envelope_workspace *w = q->workspace;
    hfi_chain *chain = q->chain;
    for (size_t k = 0; k < w->close_count; k++) {
        const size_t i = w->close[k];
        chain->left_out[i] = left_out;
        for (size_t j = 0; left_out && j < chain->count; j++)
            if (chain->index[j] == i) hfi_chain_drop(&q->problem, chain, j);
    }
}

static side_bound solve_side(query *q)
{
    hfi_chain *chain = q->chain;
    const hf_envelope_limits *limits = q->limits;
    side_bound a = {.bound = INFINITY};
    set_aside(q, 1);
    a.end = hfi_active_solve(&q->problem, chain, limits->pivots, limits->seconds,
                             limits->gap > 0.0 ? is_close_enough : NULL, q);
    set_aside(q, 0);
    a.pivots = chain->pivots;
    chain->given = 0;
    const hfi_dual_value value = hfi_active_finish(&q->problem, chain);
    const double bound = bound_of(&q->problem, &value);
    if (bound < a.bound) {
        a.bound = bound;
        a.square = value.square;
        give(chain, chain->count, chain->index, chain->nu);
    }
    try_others(q, &a);
    /* The reading at x alone needs no more than its limit. */
    const bool alone = chain->given == 1 && chain->given_index[0] == q->at && chain->given_nu[0] == 1.0;
    if (q->envelope->settings.rigorous && !alone)
        a.bound = hfi_envelope_rigorous(q->envelope, &q->problem, q->x, chain->given, chain->given_index,
                                        chain->given_nu);
    a.gap = a.missing = gap_to(q, &value, a.bound, q->problem.jitter);
    if (q->problem.jitter > 0.0) a.missing = gap_to(q, &value, a.bound, 0.0);
    return a;
}

/* ---- slopes -------------------------------------------------------------------------------------------- */

/* G / (2 sqrt q) (d k(x,x) - 2 sum nu_i d k(x, x_i)), nu held. Zero where q is rounding: f cannot be told
 * from the reading there. */
static void write_gradient(const query *q, const side_bound *a, double *gradient)
{
    const hf_envelope *envelope = q->envelope;
    hf_envelope_workspace *w = q->workspace;
    const hfi_chain *chain = q->chain;
    const size_t d = envelope->d;
    memset(gradient, 0, d * sizeof *gradient);
    if (!(a->square > 10.0L * LEAST_SQUARE * q->problem.prior)) return;
    for (size_t j = 0; j < chain->given; j++)
        memcpy(w->near + j * d, envelope->x + chain->given_index[j] * d, d * sizeof *w->near);
    for (size_t j = 0; j < chain->given; j++) chain->work[j] = -2.0 * chain->given_nu[j];
    hfi_kernel_diagonal_input_gradient(envelope->kernel, q->x, gradient);
    if (chain->given > 0)
        hfi_kernel_input_gradient(envelope->kernel, q->x, chain->given, w->near, d, chain->work, gradient,
                                  w->scratch);
    const double factor = 0.5 * q->problem.norm / (double)sqrtl(a->square);
    for (size_t j = 0; j < d; j++) gradient[j] *= q->side == HF_UPPER ? factor : -factor;
}

/* ---- the call ------------------------------------------------------------------------------------------ */

/* The readings whose distance to x in the space is rounding. */
static void find_close(query *q)
{
    hf_envelope_workspace *w = q->workspace;
    const hf_envelope *envelope = q->envelope;
    const double prior = q->problem.prior;
    w->close_count = 0;
    if (envelope->settings.jitter > LEAST_SQUARE * prior)
        return; /* then a reading at x is one among others */
    for (size_t i = 0; i < envelope->n; i++) {
        const double square = prior - 2.0 * w->cross[i] + envelope->sd[i] * envelope->sd[i];
        if (square <= LEAST_SQUARE * prior) w->close[w->close_count++] = i;
    }
}

/* k_x and k(x,x); at a reading its very column, so that nothing is left of the distance to it. */
static void compute_query_covariances(query *q)
{
    const hf_envelope *envelope = q->envelope;
    hf_envelope_workspace *w = q->workspace;
    const size_t n = envelope->n;
    q->at = hfi_envelope_reading_at(envelope, q->x);
    if (q->at < n) {
        memcpy(w->cross, envelope->k + q->at * envelope->ldk, n * sizeof *w->cross);
        q->problem.prior = w->cross[q->at];
    } else {
        hfi_kernel_cross_block(envelope->kernel, 1, q->x, envelope->d, n, envelope->x, envelope->d, w->cross,
                               n, w->scratch);
        hfi_kernel_diagonal(envelope->kernel, 1, q->x, envelope->d, false, &q->problem.prior);
    }
    find_close(q);
    q->centre_at = 0.0;
    for (size_t j = 0; envelope->has_centre && j < envelope->centre_count; j++)
        q->centre_at -= envelope->centre_nu[j] * w->cross[envelope->centre_index[j]];
}

static side_bound ask_side(query *q, hf_side side, double *gradient)
{
    const double prior = q->problem.prior;
    q->side = side;
    q->chain = &q->workspace->chain[side];
    q->problem = hfi_envelope_problem(q->envelope, side);
    q->problem.cross = q->workspace->cross;
    q->problem.prior = prior;
    if (!(prior > 0.0)) { /* every function of the space is zero here */
        hfi_chain_reset(q->chain);
        if (gradient) memset(gradient, 0, q->envelope->d * sizeof *gradient);
        return (side_bound){.bound =
                                q->envelope->settings.rigorous
                                    ? hfi_envelope_rigorous(q->envelope, &q->problem, q->x, 0, NULL, NULL)
                                    : 0.0};
    }
    side_bound a = solve_side(q);
    if (gradient) write_gradient(q, &a, gradient);
    return a;
}

/* However the search ended: the gap says what it came to. */
static bool is_late(const query *q, const side_bound *a)
{
    const double accepted = WORTH_A_WARNING * q->problem.norm * sqrt(fmax(q->problem.prior, 0.0)),
                 wanted = q->limits->gap;
    return a->end == HFI_ACTIVE_LIMIT || !(a->missing <= fmax(accepted, wanted));
}

static hf_status check_bound_query(const hf_envelope *envelope, const hf_envelope_workspace *workspace,
                                   const double *x, const hf_bound *out)
{
    if (!envelope || !workspace || !x || !out) return HF_ERR_ARGUMENT;
    if (workspace->owner != envelope || workspace->capacity != envelope->capacity) return HF_ERR_ARGUMENT;
    for (size_t j = 0; j < envelope->d; j++)
        if (!isfinite(x[j])) return HF_ERR_NOT_FINITE;
    return HF_OK;
}

hf_status hf_envelope_bounds(const hf_envelope *envelope, hf_envelope_workspace *workspace, const double *x,
                             const hf_envelope_limits *limits, hf_bound *out, double *gradient_lower,
                             double *gradient_upper)
{
    hf_envelope_limits own;
    hf_status status = check_bound_query(envelope, workspace, x, out);
    if (status >= 0) status = hfi_settings_take(NULL, hf_envelope_limits_table(), limits, &own);
    if (status < 0) return status;
    query q = {.envelope = envelope, .workspace = workspace, .x = x, .limits = &own};
    compute_query_covariances(&q);
    if (!isfinite(q.problem.prior)) return HF_ERR_NOT_FINITE;
    double *gradient[HFI_SIDES] = {workspace->gradient, workspace->gradient + envelope->d};
    side_bound a[HFI_SIDES];
    for (int side = 0; side < HFI_SIDES; side++) {
        double *wanted = (side == HF_LOWER ? gradient_lower : gradient_upper) ? gradient[side] : NULL;
        a[side] = ask_side(&q, (hf_side)side, wanted);
        if (!isfinite(a[side].bound)) return HF_ERR_NOT_FINITE;
        if (is_late(&q, &a[side])) status = HF_WARN_NOT_CONVERGED;
    }
    *out = (hf_bound){.lower = hfi_add_down(-a[HF_LOWER].bound, envelope->offset),
                      .upper = hfi_add_up(a[HF_UPPER].bound, envelope->offset),
                      .gap_lower = a[HF_LOWER].gap,
                      .gap_upper = a[HF_UPPER].gap,
                      .active_lower = workspace->chain[HF_LOWER].given,
                      .active_upper = workspace->chain[HF_UPPER].given,
                      .pivots = a[HF_LOWER].pivots + a[HF_UPPER].pivots};
    if (gradient_lower) memcpy(gradient_lower, gradient[HF_LOWER], envelope->d * sizeof *gradient_lower);
    if (gradient_upper) memcpy(gradient_upper, gradient[HF_UPPER], envelope->d * sizeof *gradient_upper);
    return status;
}

void hf_envelope_active(const hf_envelope_workspace *workspace, hf_side side, size_t *count, size_t *reading,
                        double *nu)
{
    if (!workspace || (side != HF_LOWER && side != HF_UPPER)) {
        if (count) *count = 0;
        return;
    }
    const hfi_chain *chain = &workspace->chain[side];
    if (count) *count = chain->given;
    if (reading) memcpy(reading, chain->given_index, chain->given * sizeof *reading);
    if (nu) memcpy(nu, chain->given_nu, chain->given * sizeof *nu);
}
