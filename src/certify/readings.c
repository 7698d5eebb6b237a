/* SPDX-License-Identifier: Apache-2.0 */
/* Damage that bad readings can do to a posterior mean. certify_uses.h has the statements.
 * C is the posterior covariance, I the replaced readings, -I what the others alone say:
 *
 * One reading. mean(x) = mean_-i(x) + C_-i(x, x_i) pull, pull = (z - mean_-i(x_i)) / (C_-i(x_i, x_i) + d),
 * where z and d are functions of the reading. The pull of the reading as it is, is its weight t_i, and
 * C_-i(x, x_i) = ((K + D)^-1 k(Z, x))_i (C_-i(x_i, x_i) + d).
 *
 * More. With A = K + D, a_i = (A^-1)_ii and w = A^-1 k(Z, x): mean - mean_-I = w_I' B^-1 t_I, B = (A^-1)_II,
 * and no term C_-I(x, x_i) t_i of it is above s(x) s_i |t_i|. The new readings move mean_-I by the e that
 * minimises the energy |e|^2 + sum_I (e(x_i) - r_i)^2 / d_i, r_i = z - mean_-I(x_i), |e(x)| <= C_-I(x,
 * x)^(1/2) |e|. At the minimum
 * |e|^2 = sum (r_i - e_i) e_i / d_i <= sum r_i^2 / (4 d_i).
 *
 * The set I is not known. B is at least mu diag(a_I), where mu is 1 less the largest sum of count - 1 sizes
 * |(A^-1)_ij| / (a_i a_j)^(1/2) in a row (Gershgorin), and B^-1 is at most A_II. So, of any v, v_I' B^-1 v_I
 * is at most H(v). That is the lesser of 1 / mu times the sum of the `count` largest v_i^2 / a_i and the
 * square of the sum of the `count` largest |v_i| A_ii^(1/2), and
 *
 *     w_I' B^-1 t_I <= (H(w) H(t))^(1/2)        C_-I(x, x) = C(x, x) + w_I' B^-1 w_I <= C(x, x) + H(w)        |z_i - mean_-I(x_i)| <= ((B^-1)_ii H(t))^(1/2)
 *
 * and new sites weigh no more than 1 / min(weight) times the old ones. So |e(x)|^2 <= H(w) / min(weight) sum
 * r_i^2 / d_i too; that falls with the distance from the readings. */
#include "certify/certify.h"

#include "kernel/kernel.h"
#include "linalg/linalg.h"
#include "sites/sites.h"

#include <math.h>
#include <stdlib.h>

enum {
    GRID = 512, /* points on which a pull is looked at, for each of two scales */
    GOLDEN = 80,
    SETS_MOST = 100000 /* that are looked at one by one */
};

/* A robust site as a function of r = reading - centre. */
typedef struct site {
    double threshold, noise, base; /* d = base (1 + r^2 / c^2) */
    double offset;                 /* centre - mean_-i(x_i) */
    double variance;               /* C_-i(x_i, x_i) + jitter */
} site;

static double linear_of(const site *s, double r)
{
    const double c2 = s->threshold * s->threshold, away = c2 + r * r;
    return (r + 2.0 * s->noise * r / away + s->offset) / (s->variance + s->base * away / c2);
}

/* The largest of sign pull between two points of the grid's angle. */
static double golden(const site *s, double sign, double scale, double a, double b)
{
    const double share = 0.6180339887498949;
    double best = -(double)INFINITY;
    for (int k = 0; k < GOLDEN; k++) {
        const double left = b - share * (b - a), right = a + share * (b - a);
        const double at_left = sign * linear_of(s, scale * tan(left)),
                     at_right = sign * linear_of(s, scale * tan(right));
        best = fmax(best, fmax(at_left, at_right));
        if (at_left > at_right)
            b = right;
        else
            a = left;
    }
    return best;
}

/* Over all readings; as far out as it gets a site pulls nothing. */
static double most_linear(const site *s, double sign)
{
    const double half_pi = 1.57079632679489661923;
    double best = 0.0;
    for (int which = 0; which < 2; which++) {
        const double wide = sqrt((s->variance + s->base) / s->base);
        const double scale = which == 0 ? s->threshold : s->threshold * wide;
        int at = 0;
        double top = -(double)INFINITY;
        for (int k = 1; k < GRID; k++) {
            const double value = sign * linear_of(s, scale * tan(half_pi * (2.0 * k / GRID - 1.0)));
            if (value > top) {
                top = value;
                at = k;
            }
        }
        const double a = half_pi * (2.0 * fmax(at - 1, 0.5) / GRID - 1.0),
                     b = half_pi * (2.0 * fmin(at + 1, GRID - 0.5) / GRID - 1.0);
        best = fmax(best, fmax(top, golden(s, sign, scale, a, b)));
    }
    return best;
}

/* ---- one set ----------------------------------------------------------------------------------------- */

/* A set I of readings that are replaced, with C the covariance given all others, V = C + D = ((A^-1)_II)^-1:
 *
 *     mean_new(x) - mean(x) = sum_I c_i (pull_i - t_i),    c = V w_I,    mean_-I(x_i) = z_i - (V t_I)_i
 *
 * The pull of reading i beside those of a set L of the others is (z - mean_-I(x_i) - sum_L C_il pull_l) / (v
 * + d). There pull_l are those of L without i, and v >= C_ii - C_iL (C_LL + base)^-1 C_Li; z - centre and d are
 * functions of r = reading - centre: |r| / (v + d) <= threshold / (2 (base (base + v))^(1/2)), and the shift is at most
 * noise / threshold. So a bound for each L follows from those of its parts, the smallest first. */

enum {
    SET_MOST = 4, /* readings of a set */
    SUBSETS = 1 << SET_MOST
};

/* A robust site: d = base (1 + r^2 / threshold^2) + jitter for a reading r away from its centre. */
typedef struct replaced {
    double threshold, noise, base, jitter;
    double d;      /* as it is, with jitter */
    double offset; /* centre less target of the site */
    double t;      /* weight of the mean */
} replaced;

typedef struct set {
    size_t count;
    const replaced *of;
    double v[SET_MOST][SET_MOST];      /* C */
    double offset[SET_MOST];           /* centre - mean_-I(x_i) */
    double most[2][SUBSETS][SET_MOST]; /* of pull, and of -pull */
} set;

/* out := the inverse of a positive definite matrix; false where rounding has left none. */
static int invert(size_t n, const double *a, double out[SET_MOST][SET_MOST])
{
    double m[SET_MOST][2 * SET_MOST];
    memset(m, 0, sizeof m);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) m[i][j] = a[i * n + j];
        m[i][n + i] = 1.0;
    }
    for (size_t k = 0; k < n; k++) {
        if (!(m[k][k] > 0.0)) return 0;
        for (size_t i = 0; i < n; i++) {
            const double share = i == k ? 0.0 : m[i][k] / m[k][k];
            for (size_t j = k; j < 2 * n && i != k; j++) m[i][j] -= share * m[k][j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) out[i][j] = m[i][n + j] / m[i][i];
    return 1;
}

/* The least variance of reading i given those of L, wherever they lie. */
static double least_variance(const set *s, size_t i, unsigned others)
{
    double m[SET_MOST][SET_MOST + 1], left = s->v[i][i];
    size_t index[SET_MOST], n = 0;
    for (size_t l = 0; l < s->count; l++)
        if (others >> l & 1u) index[n++] = l;
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) m[a][b] = s->v[index[a]][index[b]];
        m[a][a] += s->of[index[a]].base + s->of[index[a]].jitter;
        m[a][n] = s->v[index[a]][i];
    }
    for (size_t k = 0; k < n; k++) {
        if (!(m[k][k] > 0.0)) return 0.0;
        left -= m[k][n] * m[k][n] / m[k][k];
        for (size_t a = k + 1; a < n; a++) {
            const double share = m[a][k] / m[k][k];
            for (size_t b = k + 1; b <= n; b++) m[a][b] -= share * m[k][b];
        }
    }
    return fmax(0.0, left * (1.0 - 1e-9));
}

static void bound_linear(set *s, size_t i, unsigned others)
{
    const replaced *r = &s->of[i];
    const double v = least_variance(s, i, others) + r->jitter;
    double low = s->offset[i], high = s->offset[i];
    for (size_t l = 0; l < s->count; l++) {
        if (!(others >> l & 1u)) continue;
        const double c = s->v[i][l], up = s->most[0][others][l], down = s->most[1][others][l];
        high += c > 0.0 ? c * down : -c * up;
        low -= c > 0.0 ? c * up : -c * down;
    }
    const double own = 0.5 * r->threshold / sqrt(r->base * (r->base + v)), shift = r->noise / r->threshold;
    s->most[0][others | 1u << i][i] = own + fmax(0.0, shift + high) / (r->base + v);
    s->most[1][others | 1u << i][i] = own + fmax(0.0, shift - low) / (r->base + v);
}

/*
 * A bound of |mean_new(x) - mean(x)| over all replacements of `count` <= SET_MOST readings I.
 * @param inverse count x count: (K + D)^-1 of their rows and columns
 * @param w       count: (K + D)^-1 k(Z, x) of their rows
 */
static double damage_of_set(size_t count, const replaced *readings, const double *inverse, const double *w)
{
    set s = {.count = count, .of = readings};
    double c[SET_MOST], up = 0.0, down = 0.0;
    const unsigned all = (1u << count) - 1u;
    if (!invert(count, inverse, s.v)) return (double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        c[i] = 0.0;
        s.offset[i] = readings[i].offset;
        for (size_t j = 0; j < count; j++) {
            c[i] += s.v[i][j] * w[j];
            s.offset[i] += s.v[i][j] * readings[j].t;
        }
    }
    for (size_t i = 0; i < count; i++) s.v[i][i] = fmax(0.0, s.v[i][i] - readings[i].d);
    for (unsigned part = 1; part <= all; part++)
        for (size_t i = 0; i < count; i++)
            if (part >> i & 1u) bound_linear(&s, i, part & ~(1u << i));
    for (size_t i = 0; i < count; i++) {
        const double more = s.most[0][all][i] - readings[i].t, less = s.most[1][all][i] + readings[i].t;
        up += c[i] > 0.0 ? c[i] * more : -c[i] * less;
        down += c[i] > 0.0 ? c[i] * less : -c[i] * more;
    }
    return fmax(up, down) * (1.0 + 1e-9);
}

/* More than one reading: what does not depend on the point. */
typedef struct several {
    double removal;     /* sum of the largest |t_i| s_i */
    double energy;      /* sum of the largest r_i^2 / (4 d_i) */
    double mu;          /* 0 or below: unknown */
    double of_t;        /* H(t) */
    double weight;      /* the least */
    double *inverse;    /* n: 1 / a_i */
    double *own;        /* n: A_ii */
    double *ranked;     /* n: numbers to be sorted */
    double *whole;      /* n x n: A^-1, where all sets can be looked at; else NULL */
    replaced *readings; /* n, likewise */
} several;

typedef struct attacked {
    const hf_posterior *posterior;
    const hf_sites *sites;
    size_t n, count;
    size_t *row; /* of every anchor */
    double *far; /* one reading: how far its pull can move, times C_-i + d */
    several more;
} attacked;

/* ---- one reading ------------------------------------------------------------------------------------------------- */

static hf_status prepare_one(hf_context *ctx, attacked *a)
{
    const hfi_solution *s = &a->posterior->solution;
    double *mean = hfi_alloc(ctx, a->n, 2 * sizeof *mean);
    if (!mean) return HF_ERR_MEMORY;
    double *variance = mean + a->n;
    const hf_status status = hfi_solution_cavities(ctx, a->posterior->kernel, s, mean, variance);
    for (size_t i = 0; i < a->n && status >= 0; i++) {
        const size_t row = a->row[i];
        const double z = a->sites->target[row], d = s->variance[i], v = variance[i] + s->jitter;
        const site of_i = {.threshold = hfi_sites_threshold(a->sites, row),
                           .noise = hfi_sites_noise(a->sites, row),
                           .base = d * a->sites->weight[row],
                           .offset = a->sites->centre[row] - (z - s->residual[i] + mean[i]),
                           .variance = v};
        a->far[i] = (double)INFINITY;
        if (isfinite(of_i.threshold))
            a->far[i] = (v + d) * fmax(most_linear(&of_i, 1.0) - s->t[i], most_linear(&of_i, -1.0) + s->t[i]);
    }
    hfi_free(ctx, mean);
    return status;
}

static void damage_of_one(const attacked *a, double *column, double *room, double *damage, size_t *worst)
{
    const hfi_solution *s = &a->posterior->solution;
    size_t ld;
    double *w = hfi_solution_whiten(s, 1, column, a->n, room, &ld);
    hfi_solution_spread(s, w, w);
    *damage = 0.0;
    *worst = a->row[0];
    for (size_t i = 0; i < a->n; i++) {
        if (w[i] == 0.0) continue;
        const double moved = fabs(w[i]) * a->far[i];
        if (!(moved > *damage)) continue;
        *damage = moved;
        *worst = a->row[i];
    }
}

/* ---- several ----------------------------------------------------------------------------------------------------- */

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static double sum_largest(size_t n, double *values, size_t count)
{
    double sum = 0.0;
    qsort(values, n, sizeof *values, falling);
    for (size_t i = 0; i < count; i++) sum += values[i];
    return sum;
}

/* H(v) */
static double most_form(const attacked *a, const double *v)
{
    const several *of = &a->more;
    for (size_t i = 0; i < a->n; i++) of->ranked[i] = fabs(v[i]) * sqrt(of->own[i]);
    const double sum = sum_largest(a->n, of->ranked, a->count);
    if (!(of->mu > 0.0)) return sum * sum;
    for (size_t i = 0; i < a->n; i++) of->ranked[i] = v[i] * v[i] * of->inverse[i];
    return fmin(sum * sum, sum_largest(a->n, of->ranked, a->count) / of->mu);
}

/* mu, from one column of A^-1 after another. */
static void find_mu(attacked *a, double *column, double *room)
{
    const hfi_solution *s = &a->posterior->solution;
    several *of = &a->more;
    double most = 0.0;
    for (size_t i = 0; i < a->n; i++) {
        size_t ld;
        memset(column, 0, a->n * sizeof *column);
        column[i] = 1.0;
        double *w = hfi_solution_whiten(s, 1, column, a->n, room, &ld);
        hfi_solution_spread(s, w, w);
        if (of->whole) memcpy(of->whole + i * a->n, w, a->n * sizeof *w);
        for (size_t j = 0; j < a->n; j++)
            of->ranked[j] = j == i ? 0.0 : fabs(w[j]) * sqrt(of->inverse[i] * of->inverse[j]);
        most = fmax(most, sum_largest(a->n, of->ranked, a->count - 1));
    }
    of->mu = 1.0 - most * (1.0 + 1e-9) - 1e-9;
}

/* How far reading i can be from what the readings outside of any I say at its place, in its own noise: r_i^2
 * / (4 d_i). */
static double energy_of(const attacked *a, size_t i)
{
    const hfi_solution *s = &a->posterior->solution;
    const several *of = &a->more;
    const size_t row = a->row[i];
    const double c = hfi_sites_threshold(a->sites, row), noise = hfi_sites_noise(a->sites, row);
    const double z = a->sites->target[row], centre = a->sites->centre[row], d = s->variance[i] + s->jitter;
    /* The mean at the anchor, as it is: z less what is left of the residual. */
    const double mean = z - d * s->t[i], prior = fmax(0.0, of->own[i] - d);
    const double of_i = of->mu > 0.0 ? fmin(of->own[i], of->inverse[i] / of->mu) : of->own[i];
    const double away =
        fmin(fabs(centre - mean) + sqrt(prior) * of->removal, fabs(centre - z) + sqrt(of_i * of->of_t));
    const double base = s->variance[i] * a->sites->weight[row] + s->jitter, reach = c + noise / c + away;
    return isfinite(c) ? 0.25 * reach * reach / base : (double)INFINITY;
}

static void weigh_several(attacked *a)
{
    const hfi_solution *s = &a->posterior->solution;
    several *of = &a->more;
    for (size_t i = 0; i < a->n; i++)
        of->ranked[i] = fabs(s->t[i]) * sqrt(fmax(0.0, of->own[i] - s->variance[i] - s->jitter));
    of->removal = sum_largest(a->n, of->ranked, a->count);
    of->of_t = most_form(a, s->t);
    of->weight = 1.0;
    for (size_t i = 0; i < a->n; i++) {
        of->ranked[i] = energy_of(a, i);
        of->weight = fmin(of->weight, a->sites->weight[a->row[i]]);
    }
    of->energy = sum_largest(a->n, of->ranked, a->count);
}

/* ---- every set of a few ------------------------------------------------------------------------------------------ */

/* Whether there are few enough sets. */
static bool few_sets(size_t n, size_t count)
{
    double sets = 1.0;
    if (count > SET_MOST) return false;
    for (size_t i = 0; i < count; i++) sets *= (double)(n - i) / (double)(i + 1);
    return sets <= SETS_MOST;
}

static void describe_readings(attacked *a)
{
    const hfi_solution *s = &a->posterior->solution;
    for (size_t i = 0; i < a->n; i++) {
        const size_t row = a->row[i];
        a->more.readings[i] = (replaced){.threshold = hfi_sites_threshold(a->sites, row),
                                         .noise = hfi_sites_noise(a->sites, row),
                                         .base = s->variance[i] * a->sites->weight[row],
                                         .jitter = s->jitter,
                                         .d = s->variance[i] + s->jitter,
                                         .offset = a->sites->centre[row] - a->sites->target[row],
                                         .t = s->t[i]};
    }
}

static double damage_of(const attacked *a, const size_t *chosen, const double *w)
{
    replaced readings[SET_MOST];
    double inverse[SET_MOST * SET_MOST], of_w[SET_MOST];
    for (size_t i = 0; i < a->count; i++) {
        readings[i] = a->more.readings[chosen[i]];
        of_w[i] = w[chosen[i]];
        for (size_t j = 0; j < a->count; j++)
            inverse[i * a->count + j] = a->more.whole[chosen[i] * a->n + chosen[j]];
    }
    return damage_of_set(a->count, readings, inverse, of_w);
}

/* The largest over all sets. */
static double damage_of_sets(const attacked *a, hfi_watch *watch, const double *w)
{
    size_t chosen[SET_MOST], at = a->count;
    double most = 0.0;
    for (size_t i = 0; i < a->count; i++) chosen[i] = i;
    while (at > 0 && hfi_watch_glance(watch)) {
        most = fmax(most, damage_of(a, chosen, w));
        for (at = a->count; at > 0 && chosen[at - 1] == a->n - a->count + at - 1; at--) continue;
        if (at == 0) break;
        chosen[at - 1]++;
        for (size_t i = at; i < a->count; i++) chosen[i] = chosen[i - 1] + 1;
    }
    return most;
}

/* ---- any ----------------------------------------------------------------------------------------------- */

static hf_status prepare_several(hf_context *ctx, attacked *a)
{
    const hfi_solution *s = &a->posterior->solution;
    several *of = &a->more;
    double *mean, *room;
    const bool few = few_sets(a->n, a->count);
    hf_status status = HFI_ALLOC(ctx, HFI_ROOMS(of->inverse, a->n, 3), HFI_ROOMS(mean, a->n, 2),
                                 HFI_ROOM(room, hfi_solution_room(s, 1) + 1));
    if (status >= 0 && few)
        status = HFI_ALLOC(ctx, HFI_ROOM(of->whole, a->n * a->n), HFI_ROOM(of->readings, a->n));
    if (status >= 0) status = hfi_solution_cavities(ctx, a->posterior->kernel, s, mean, of->inverse);
    if (status >= 0) {
        of->own = of->inverse + a->n;
        of->ranked = of->own + a->n;
        hfi_kernel_diagonal(a->posterior->kernel, a->n, s->z, s->d, true, of->own);
        for (size_t i = 0; i < a->n; i++) {
            of->inverse[i] += s->variance[i] + s->jitter;
            of->own[i] += s->variance[i] + s->jitter;
        }
        find_mu(a, mean, room);
        if (few) describe_readings(a);
        weigh_several(a);
    }
    HFI_FREE(ctx, mean, room);
    return status;
}

/* `column` holds k(Z, x). */
static double damage_of_several(const attacked *a, hfi_watch *watch, double prior, double *column,
                                double *room)
{
    const hfi_solution *s = &a->posterior->solution;
    const several *of = &a->more;
    size_t ld;
    double taken = 0.0, *w = hfi_solution_whiten(s, 1, column, a->n, room, &ld);
    if (!(prior > 0.0)) return 0.0;
    for (size_t i = 0; i < a->n; i++) taken += w[i] * w[i];
    hfi_solution_spread(s, w, w);
    const double h = most_form(a, w);
    const double removal = fmin(sqrt(prior) * of->removal, sqrt(h * of->of_t));
    const double square =
        fmin(fmin(prior, fmax(0.0, prior - taken) + h + 1e-12 * prior), 4.0 * h / of->weight);
    /* An energy may be infinite. */
    const double damage = (removal + (square > 0.0 ? sqrt(square) * sqrt(of->energy) : 0.0)) * (1.0 + 1e-9);
    return of->whole && isfinite(damage) ? fmin(damage, damage_of_sets(a, watch, w)) : damage;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static hf_status check_attacked_readings(hf_context *ctx, const hf_posterior *posterior,
                                         const hf_sites *sites, size_t count, size_t m, const double *x,
                                         size_t ldx)
{
    hf_status status = hfi_posterior_need_exact(ctx, posterior, "what bad readings can do",
                                                "fit a sample of the readings with it");
    if (status < 0) return status;
    if (sites->given) return hfi_refuse(ctx, "these sites follow no reading: they come from an iteration");
    const size_t present = hf_sites_present(sites);
    if (present != posterior->solution.n)
        return hfi_refuse(ctx, "the posterior has %zu readings and the sites %zu", posterior->solution.n,
                          present);
    if (count == 0 || count > present)
        return hfi_refuse(ctx, "%zu readings cannot be replaced: there are %zu", count, present);
    for (size_t i = 0, at = 0; i < sites->n; i++) {
        if (!hf_sites_is_present(sites, i)) continue;
        const double own = posterior->solution.variance[at++];
        if (!(fabs(sites->variance[i] - own) <= 1e-6 * own))
            return hfi_refuse(ctx,
                              "the site of reading %zu has the variance %g and the posterior %g: it was not "
                              "made from these sites, or they are in other units than the solver's",
                              i + 1, sites->variance[i], own);
    }
    return hfi_posterior_check_rows(ctx, posterior, m, x, ldx);
}

/* HF_ERR_CANCELLED leaves some of the answers without meaning. */
static hf_status compute_reading_damage(const attacked *a, hfi_watch *watch, size_t m, const double *x,
                                        size_t ldx, double *work, double *damage, size_t *worst)
{
    const hf_kernel *kernel = a->posterior->kernel;
    const hfi_solution *s = &a->posterior->solution;
    double *point = work, *column = point + s->d, *room = column + a->n,
           *scratch = room + hfi_solution_room(s, 1);
    for (size_t k = 0; k < m; k++) {
        watch->done = (double)k / (double)m;
        if (!hfi_watch_ok(watch)) return HF_ERR_CANCELLED;
        const hfi_scaling *scaling = &a->posterior->scaling;
        hfi_scaling_inputs(scaling, 1, x + k * ldx, ldx, point);
        size_t row = 0;
        hfi_kernel_cross_block(kernel, 1, point, s->d, a->n, s->z, s->d, column, a->n, scratch);
        if (a->count == 1) {
            damage_of_one(a, column, room, &damage[k], &row);
        } else {
            double prior;
            hfi_kernel_diagonal(kernel, 1, point, s->d, true, &prior);
            damage[k] = damage_of_several(a, watch, prior, column, room);
        }
        damage[k] *= hfi_scaling_scale(scaling, hfi_scaling_output(scaling, point));
        worst[k] = row;
    }
    return hfi_watch_stopped(watch) ? HF_ERR_CANCELLED : HF_OK;
}

hf_status hf_certify_readings(hf_context *ctx, const hf_posterior *posterior, const hf_sites *sites,
                              size_t count, size_t m, const double *x, size_t ldx, double *damage,
                              size_t *worst)
{
    if (!ctx || !posterior || !sites || !x || !damage)
        return HFI_REFUSE_NULL(ctx, "hf_certify_readings", posterior, sites, x, damage);
    hf_status status = check_attacked_readings(ctx, posterior, sites, count, m, x, ldx);
    if (status < 0) return status;
    const hfi_solution *s = &posterior->solution;
    attacked a = {.posterior = posterior, .sites = sites, .n = s->n, .count = count};
    double *work, *found;
    size_t *rows;
    const size_t room = s->d + a.n + hfi_solution_room(s, 1) + hfi_kernel_scratch(posterior->kernel) + 1;
    status = HFI_ALLOC(ctx, HFI_ROOM(a.row, a.n), HFI_ROOM(a.far, a.n), HFI_ROOM(work, room),
                       HFI_ROOM(found, m + 1), HFI_ROOM(rows, m + 1));
    hfi_watch watch;
    hfi_watch_begin(&watch, ctx, "certify", 0.0);
    size_t at = 0;
    for (size_t i = 0; i < sites->n && status >= 0; i++)
        if (hf_sites_is_present(sites, i)) a.row[at++] = i;
    if (status >= 0) status = count == 1 ? prepare_one(ctx, &a) : prepare_several(ctx, &a);
    if (status >= 0 && compute_reading_damage(&a, &watch, m, x, ldx, work, found, rows) < 0)
        status = hfi_cancelled(ctx);
    if (status >= 0) {
        memcpy(damage, found, m * sizeof *damage);
        if (worst && count == 1) memcpy(worst, rows, m * sizeof *worst);
    }
    HFI_FREE(ctx, a.row, a.far, a.more.inverse, a.more.whole, a.more.readings, work, found, rows);
    return status;
}
