/* SPDX-License-Identifier: Apache-2.0 */
/* The active set. On a support with signs the best nu solves two triangular systems; the way to it is a line
 * on which the convex dual falls. Where a sign would turn on the way, that reading is dropped; at the end of
 * the way the reading that f violates most is added. */
#include "envelope/envelope.h"
#include "envelope/loops.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Violations below this share of G (the largest f(x_i) / sd_i there is) end the search. */
#define TOLERANCE 1e-14
/* Before f is taken from K. */
#define QUICK_TOLERANCE 1e-9
/* Pivots of the factor below this share of sd_i spoil what is taken from W. */
#define LEAST_STURDY 1e-4
/* Largest error of g_i / sd_i, in units of sqrt k(x,x) + sum |nu_j| sd_j. */
#define NOISE 4e-16
/* Least square of the power function in units of k(x,x): below it is rounding. */
#define LEAST_POWER 1e-14
/* Share of G^2 that the readings of a support must leave for its vertex to be in reach. */
#define LEAST_ROOM 1e-12
/* A support on which f misses the limits by this many times what its sums may be off. */
#define WORTH_POLISHING 2.0
/* A support at whose vertex some f(x_i) misses the limit by this, in units of G sd_i, has drifted. */
#define DRIFT 1e-9

#define NEVER SIZE_MAX

enum {
    PATIENCE = 3, /* full steps without progress, then the first violated reading is taken, not the worst */
    GIVE_UP = 40, /* then this is where rounding ends it */
    REST = 10,    /* pivots between two new factors */
    MANY = 16,    /* pivots of a search without W, and half as many as the support has: then making it pays */
    FEW = 8,      /* times as many readings in the support as pivots: keeping W is not worth it */
    PER_READING = 20 /* pivots: never met but by rounding */
};

typedef struct active_search {
    const hfi_active_problem *problem;
    hfi_chain *chain;
    double scale;      /* of f(x_i) / sd_i */
    double best;       /* value after the best full step */
    size_t standing;   /* full steps since */
    size_t barred;     /* readings that came and went without a step */
    size_t refactored; /* pivots at which the factor was last made anew */
} active_search;

/* Where the support as it is wants to go: nu itself, or only a direction. Into chain->target and chain->t. */
static bool aim(active_search *s, double *value)
{
    const hfi_active_problem *problem = s->problem;
    hfi_chain *chain = s->chain;
    const size_t a = chain->count;
    const double vv = hfi_dot(a, chain->v, chain->v);
    bool bounded = true;
    chain->floored = chain->at_vertex = false;
    if (!problem->cross) {
        chain->t = 1.0;
        s->scale = sqrt(vv);
        *value = -0.5 * vv;
        for (size_t j = 0; j < a; j++) chain->target[j] = -chain->v[j];
    } else {
        const double square = problem->norm * problem->norm, room = square - vv;
        double power = problem->prior - hfi_dot(a, chain->u, chain->u);
        chain->floored = !(power > LEAST_POWER * problem->prior);
        if (chain->floored) power = LEAST_POWER * problem->prior;
        bounded = room > LEAST_ROOM * square;
        if (bounded) {
            chain->t = sqrt(power / room);
            *value = hfi_dot(a, chain->u, chain->v) + sqrt(power * room);
        }
        for (size_t j = 0; j < a; j++)
            chain->target[j] = bounded ? chain->u[j] - chain->t * chain->v[j] : -chain->v[j];
    }
    hfi_active_backward(a, chain->l, chain->ldl, chain->target);
    return bounded;
}

/* How far along the way the first sign turns, and which; 1 (infinity without a target) and `count` when none does. */
static size_t first_turn(const hfi_chain *chain, bool bounded, double *share)
{
    size_t first = chain->count;
    *share = bounded ? 1.0 : INFINITY;
    for (size_t j = 0; j < chain->count; j++) {
        const double sign = chain->sign[j], nu = chain->nu[j];
        const double change = bounded ? chain->target[j] - nu : chain->target[j];
        const bool turns = bounded ? sign * chain->target[j] < 0.0 : sign * change < 0.0;
        if (!turns) continue;
        const double at = sign * nu > 0.0 ? -nu / change : 0.0;
        if (at < *share) {
            *share = at;
            first = j;
        }
    }
    return first;
}

static void move(hfi_chain *chain, bool bounded, double share)
{
    for (size_t j = 0; j < chain->count; j++)
        chain->nu[j] += share * (bounded ? chain->target[j] - chain->nu[j] : chain->target[j]);
    chain->priced = chain->at_vertex = false;
}

/* f over all readings, from K. At a vertex whose k_x lies in the span of the support the quotient g / t is
 * lost in rounding, but f is known without it. */
static void price(active_search *s)
{
    const hfi_active_problem *problem = s->problem;
    hfi_chain *chain = s->chain;
    const double *nu = chain->nu, *cross = problem->cross;
    if (chain->at_vertex && chain->floored) {
        for (size_t j = 0; j < chain->count; j++) chain->alone[j] = -chain->v[j];
        hfi_active_backward(chain->count, chain->l, chain->ldl, chain->alone);
        nu = chain->alone;
        cross = NULL;
        chain->t = 1.0;
    }
    hfi_active_price(problem->n, chain->count, chain->index, nu, problem->k, problem->ldk, cross, chain->g);
    for (size_t j = 0; j < chain->count; j++) chain->g[chain->index[j]] -= problem->jitter * nu[j];
    chain->priced = chain->exact = true;
}

/* The same at a vertex, from the table. */
static void price_quickly(active_search *s)
{
    hfi_chain *chain = s->chain;
    for (size_t i = 0; i < s->problem->n; i++) chain->g[i] = chain->rest[i] + chain->t * chain->held[i];
    for (size_t j = 0; j < chain->count; j++) chain->g[chain->index[j]] -= s->problem->jitter * chain->nu[j];
    chain->priced = true;
    chain->exact = false;
}

static double noise(const active_search *s)
{
    const hfi_chain *chain = s->chain;
    const bool alone = chain->floored || !s->problem->cross;
    const double *nu = chain->floored ? chain->alone : chain->nu;
    double size = alone ? 0.0 : sqrt(s->problem->prior);
    for (size_t j = 0; j < chain->count; j++) size += fabs(nu[j]) * s->problem->sd[chain->index[j]];
    return NOISE * size;
}

/* Whether the readings of the support are met as they should be at its vertex. */
static bool has_drifted(const active_search *s, double noise_here)
{
    const hfi_chain *chain = s->chain;
    for (size_t j = 0; j < chain->count; j++) {
        const size_t i = chain->index[j];
        const double off = fabs(chain->g[i] - chain->t * chain->limit[j]);
        if (off > (DRIFT * chain->t * s->scale + 100.0 * noise_here) * s->problem->sd[i]) return true;
    }
    return false;
}

/* One step of iterative refinement, for the sake of a gap that is not made of rounding. nu moves by rounding only. */
static void polish(active_search *s)
{
    const hfi_active_problem *problem = s->problem;
    hfi_chain *chain = s->chain;
    const double limit = WORTH_POLISHING * noise(s);
    double *nu = chain->floored ? chain->alone : chain->nu, worst = 0.0;
    for (size_t j = 0; j < chain->count; j++) {
        const size_t i = chain->index[j];
        worst = fmax(worst, fabs(chain->g[i] - chain->t * chain->limit[j]) / problem->sd[i]);
    }
    if (!(worst > limit)) return;
    const double *cross = chain->floored ? NULL : problem->cross;
    for (int k = 0; k < 2; k++) hfi_dual_refine(problem, cross, chain->t, chain, nu);
    hfi_dual_price(problem, cross, chain, nu);
}

static bool may_refactor(const active_search *s)
{
    return s->refactored == NEVER || s->chain->pivots > s->refactored + REST;
}

/* Readings that were barred may enter again. */
static void unbar(active_search *s)
{
    hfi_chain *chain = s->chain;
    if (s->barred == 0) return;
    for (size_t i = 0; i < s->problem->n; i++)
        chain->worth[i] = chain->left_out[i] || !(s->problem->sd[i] > 0.0) ? 0.0 : 1.0 / s->problem->sd[i];
    for (size_t j = 0; j < chain->count; j++) chain->worth[chain->index[j]] = 0.0;
    s->barred = 0;
}

static void note_progress(active_search *s, double value)
{
    const double scale = s->problem->cross ? s->problem->norm * sqrt(s->problem->prior) : fabs(value);
    if (value < s->best - 1e-15 * scale) {
        s->best = value;
        s->standing = 0;
        unbar(s);
    } else {
        s->standing++;
    }
}

/* Whether sums with W are worth looking at: they lose what the least pivot of the factor is small by. */
static bool is_sturdy(const active_search *s)
{
    const hfi_chain *chain = s->chain;
    for (size_t j = 0; j < chain->count; j++)
        if (!(chain->l[j * (chain->ldl + 1)] > LEAST_STURDY * s->problem->sd[chain->index[j]])) return false;
    return true;
}

/* The reading to be added, n if there is none: the one by which U falls most if nothing turns on the way. */
static size_t entering(const active_search *s, double tolerance)
{
    const hfi_active_problem *problem = s->problem;
    const hfi_chain *chain = s->chain;
    size_t i = hfi_active_best(problem->n, chain->g, chain->t, problem->lower, problem->upper, chain->worth,
                               chain->kept && is_sturdy(s) ? chain->left : NULL, tolerance);
    if (i == problem->n || s->standing < PATIENCE) return i;
    for (i = 0; i < problem->n; i++) {
        const double above = chain->g[i] - chain->t * problem->upper[i],
                     below = chain->t * problem->lower[i] - chain->g[i];
        if (chain->worth[i] * fmax(above, below) > tolerance) break;
    }
    return i;
}

static void enter(active_search *s, size_t i)
{
    const hfi_active_problem *problem = s->problem;
    const bool above =
        s->chain->g[i] - s->chain->t * problem->upper[i] > s->chain->t * problem->lower[i] - s->chain->g[i];
    hfi_chain_add(problem, s->chain, i, hfi_is_exact(problem, i) ? 0 : above ? 1 : -1);
}

/* The first sign that turns on the way, whose reading goes. */
static void leave(active_search *s, size_t turning, bool bounded, double share)
{
    hfi_chain *chain = s->chain;
    const size_t i = chain->index[turning];
    const bool stands = chain->nu[turning] == 0.0;
    move(chain, bounded, share);
    hfi_chain_drop(s->problem, chain, turning);
    if (stands) {
        chain->worth[i] = 0.0;
        s->barred++;
    }
    chain->pivots++;
}

/* At a vertex: f from the table, and from K before it is believed that nothing is left to do. Into *next the
 * reading that is to enter, or n; true when instead the factor had to be made anew. */
static bool look_around(active_search *s, double value, size_t *next)
{
    hfi_chain *chain = s->chain;
    const bool quick = chain->tabled && !chain->floored && is_sturdy(s);
    if (quick) {
        price_quickly(s);
        note_progress(s, value);
        *next = entering(s, QUICK_TOLERANCE * chain->t * s->scale + noise(s));
        if (*next < s->problem->n) return false;
    }
    price(s);
    const double noise_here = noise(s);
    if (may_refactor(s) && (chain->suspect || has_drifted(s, noise_here))) {
        s->refactored = chain->pivots;
        hfi_chain_refresh(s->problem, chain, true);
        return true;
    }
    if (!quick) note_progress(s, value);
    *next = entering(s, TOLERANCE * chain->t * s->scale + noise_here);
    return false;
}

/* Asked again with f from K where it says so. */
static bool is_enough(active_search *s, hfi_active_enough enough, void *arg)
{
    if (!enough(arg)) return false;
    if (s->chain->exact) return true;
    price(s);
    return enough(arg);
}

/* W, from now on. */
static void make_table(active_search *s)
{
    unbar(s);
    hfi_chain_refresh(s->problem, s->chain, true);
}

/* One change of the support, or the end. */
static bool pivot(active_search *s, hfi_active_enough enough, void *arg, hfi_active_end *end)
{
    hfi_chain *chain = s->chain;
    double value = 0.0, share;
    const bool bounded = aim(s, &value);
    const size_t turning = first_turn(chain, bounded, &share);
    *end = HFI_ACTIVE_STUCK;
    if (turning < chain->count) {
        leave(s, turning, bounded, share);
        return true;
    }
    if (!bounded) return false;
    memcpy(chain->nu, chain->target, chain->count * sizeof *chain->nu);
    chain->at_vertex = true;
    size_t next;
    if (look_around(s, value, &next)) return true;
    if (enough && is_enough(s, enough, arg)) {
        *end = HFI_ACTIVE_ENOUGH;
        return false;
    }
    if (next == s->problem->n) {
        *end = s->barred > 0 ? HFI_ACTIVE_STUCK : HFI_ACTIVE_OPTIMAL;
        return false;
    }
    if (s->standing > GIVE_UP) return false;
    if (chain->kept && !chain->tabled) hfi_chain_table(s->problem, chain);
    if (!chain->kept && chain->pivots > MANY + chain->count / 2) make_table(s);
    enter(s, next);
    chain->pivots++;
    return true;
}

hfi_active_end hfi_active_solve(const hfi_active_problem *problem, hfi_chain *chain, size_t pivots,
                                double seconds, hfi_active_enough enough, void *arg)
{
    active_search s = {
        .problem = problem, .chain = chain, .scale = problem->norm, .best = INFINITY, .refactored = NEVER};
    const double begun = seconds > 0.0 ? hfi_now() : 0.0;
    const size_t most = PER_READING * (problem->n + 10);
    hfi_active_end end = HFI_ACTIVE_OPTIMAL;
    chain->pivots = 0;
    hfi_chain_refresh(problem, chain, false);
    while (pivot(&s, enough, arg, &end)) {
        end = HFI_ACTIVE_LIMIT;
        if (pivots > 0 && chain->pivots >= pivots) break;
        if (seconds > 0.0 && hfi_now() - begun > seconds) break;
        end = HFI_ACTIVE_STUCK;
        if (chain->pivots >= most) break;
    }
    if (FEW * chain->pivots < chain->count) chain->kept = chain->tabled = false;
    if (!chain->priced || !chain->exact) price(&s);
    if (chain->at_vertex) polish(&s);
    return end;
}
