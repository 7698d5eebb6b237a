/* SPDX-License-Identifier: Apache-2.0 */
/* What bad readings can do to a posterior mean. certify_uses.h has the statements; with C the posterior covariance, I the replaced readings and -I what the others alone say:
 *
 * One reading. mean(x) = mean_-i(x) + C_-i(x, x_i) pull,  pull = (z - mean_-i(x_i)) / (C_-i(x_i, x_i) + d), where z and d are functions of the reading.
 * The pull of the reading as it is, is its weight t_i, and C_-i(x, x_i) = ((K + D)^-1 k(Z, x))_i (C_-i(x_i, x_i) + d).
 *
 * More. mean - mean_-I = C_-I(., I) t_I, no entry of which is above s(x) s_i |t_i|. The new readings move mean_-I by the e that minimises the energy
 * |e|^2 + sum_I w (e(x_i) - r_i)^2, r_i = z - mean_-I(x_i), |e(x)| <= s(x) |e|. At the minimum |e|^2 = sum w (r_i - e_i) e_i <= sum w r_i^2 / 4. */
#include "certify/class.h"
#include "kernel/kernel.h"
#include "linalg/linalg.h"
#include "sites/sites.h"

#include <math.h>
#include <stdlib.h>

enum {
    GRID = 512, /* points on which a pull is looked at, for each of two scales */
    GOLDEN = 80
};

/* A robust site as a function of r = reading - centre. */
typedef struct site {
    double threshold, noise, base; /* d = base (1 + r^2 / c^2) */
    double offset;                 /* centre - mean_-i(x_i) */
    double variance;               /* C_-i(x_i, x_i) + jitter */
} site;

static double pull_of(const site *s, double r)
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
        const double at_left = sign * pull_of(s, scale * tan(left)),
                     at_right = sign * pull_of(s, scale * tan(right));
        best = fmax(best, fmax(at_left, at_right));
        if (at_left > at_right)
            b = right;
        else
            a = left;
    }
    return best;
}

/* Over all readings; as far out as it gets a site pulls nothing. */
static double most_pull(const site *s, double sign)
{
    const double half_pi = 1.57079632679489661923;
    double best = 0.0;
    for (int which = 0; which < 2; which++) {
        const double wide = sqrt((s->variance + s->base) / s->base);
        const double scale = which == 0 ? s->threshold : s->threshold * wide;
        int at = 0;
        double top = -(double)INFINITY;
        for (int k = 1; k < GRID; k++) {
            const double value = sign * pull_of(s, scale * tan(half_pi * (2.0 * k / GRID - 1.0)));
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

typedef struct attacked {
    const hf_posterior *posterior;
    const hf_sites *sites;
    size_t n, count;
    size_t *row;  /* of every anchor */
    double *far;  /* one reading: how far its pull can move, times C_-i + d */
    double spent; /* more: the bracket of certify_uses.h */
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
            a->far[i] = (v + d) * fmax(most_pull(&of_i, 1.0) - s->t[i], most_pull(&of_i, -1.0) + s->t[i]);
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

static hf_status prepare_several(hf_context *ctx, attacked *a)
{
    const hfi_solution *s = &a->posterior->solution;
    double *prior = hfi_alloc(ctx, a->n, 2 * sizeof *prior);
    if (!prior) return HF_ERR_MEMORY;
    double *values = prior + a->n;
    hfi_kernel_diagonal(a->posterior->kernel, a->n, s->z, s->d, true, prior);
    for (size_t i = 0; i < a->n; i++) values[i] = fabs(s->t[i]) * sqrt(prior[i]);
    const double removal = sum_largest(a->n, values, a->count);
    for (size_t i = 0; i < a->n; i++) {
        const size_t row = a->row[i];
        const double c = hfi_sites_threshold(a->sites, row), noise = hfi_sites_noise(a->sites, row);
        const double d = s->variance[i] + s->jitter;
        /* The mean at the anchor, as it is: z less what is left of the residual. */
        const double mean = a->sites->target[row] - d * s->t[i];
        const double base = s->variance[i] * a->sites->weight[row] + s->jitter;
        const double reach = c + noise / c + fabs(a->sites->centre[row] - mean) + sqrt(prior[i]) * removal;
        values[i] = isfinite(c) ? 0.25 * reach * reach / base : (double)INFINITY;
    }
    a->spent = (removal + sqrt(sum_largest(a->n, values, a->count))) * (1.0 + 1e-12);
    hfi_free(ctx, prior);
    return HF_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static hf_status check(hf_context *ctx, const hf_posterior *posterior, const hf_sites *sites, size_t count,
                       size_t m, const double *x, size_t ldx)
{
    hf_status status = hfi_posterior_need_exact(ctx, posterior, "what bad readings can do",
                                                "fit a sample of the readings with it");
    if (status < 0) return status;
    const hfi_scaling *scaling = &posterior->scaling;
    if (scaling->outputs > 1)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "what bad readings can do is told of one output; there are %zu",
                        scaling->outputs);
    if (scaling->y_shift != 0.0 || scaling->y_scale != 1.0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the posterior's values are in other units than its sites'");
    if (sites->given)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "these sites follow no reading: they come from an iteration");
    const size_t present = hf_sites_present(sites);
    if (present != posterior->solution.n)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the posterior has %zu readings and the sites %zu",
                        posterior->solution.n, present);
    if (count == 0 || count > present)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "%zu readings cannot be replaced: there are %zu", count,
                        present);
    return hfi_posterior_check_rows(ctx, posterior, m, x, ldx);
}

static void ask(const attacked *a, size_t m, const double *x, size_t ldx, double *work, double *damage,
                size_t *worst)
{
    const hf_kernel *kernel = a->posterior->kernel;
    const hfi_solution *s = &a->posterior->solution;
    double *point = work, *column = point + s->d, *room = column + a->n,
           *scratch = room + hfi_solution_room(s, 1);
    for (size_t k = 0; k < m; k++) {
        hfi_scaling_inputs(&a->posterior->scaling, 1, x + k * ldx, ldx, point);
        size_t row = 0;
        if (a->count == 1) {
            hfi_kernel_cross_block(kernel, 1, point, s->d, a->n, s->z, s->d, column, a->n, scratch);
            damage_of_one(a, column, room, &damage[k], &row);
        } else {
            double prior;
            hfi_kernel_diagonal(kernel, 1, point, s->d, true, &prior);
            damage[k] = prior > 0.0 ? sqrt(prior) * a->spent : 0.0;
        }
        if (worst) worst[k] = row;
    }
}

hf_status hf_certify_readings(hf_context *ctx, const hf_posterior *posterior, const hf_sites *sites,
                              size_t count, size_t m, const double *x, size_t ldx, double *damage,
                              size_t *worst)
{
    if (!ctx || !posterior || !sites || !x || !damage)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_certify_readings: an argument that must not be NULL is");
    hf_status status = check(ctx, posterior, sites, count, m, x, ldx);
    if (status < 0) return status;
    const hfi_solution *s = &posterior->solution;
    attacked a = {.posterior = posterior, .sites = sites, .n = s->n, .count = count};
    a.row = hfi_alloc(ctx, a.n, sizeof *a.row);
    a.far = hfi_alloc(ctx, a.n, sizeof *a.far);
    double *work = hfi_alloc(
        ctx, s->d + a.n + hfi_solution_room(s, 1) + hfi_kernel_scratch(posterior->kernel) + 1, sizeof *work);
    status = a.row && a.far && work ? HF_OK : HF_ERR_MEMORY;
    size_t at = 0;
    for (size_t i = 0; i < sites->n && status >= 0; i++)
        if (hf_sites_is_present(sites, i)) a.row[at++] = i;
    if (status >= 0) status = count == 1 ? prepare_one(ctx, &a) : prepare_several(ctx, &a);
    if (status >= 0) ask(&a, m, x, ldx, work, damage, count == 1 ? worst : NULL);
    hfi_free(ctx, a.row);
    hfi_free(ctx, a.far);
    hfi_free(ctx, work);
    return status;
}
