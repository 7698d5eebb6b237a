/* SPDX-License-Identifier: Apache-2.0 */
/* Leave-one-out with fixed block actions: the reading left out has its entry set to zero (solver/projected_system.h has
 * the formulas), and the derivatives of all that. O(n i^2) beside the two passes over K. */
#include "objective/projected_impl.h"

#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

static double *vector(const hfi_evaluator *e, int which)
{
    return hfi_projected_vector(e->projected, which);
}

/* Everything about leaving one out. By place: q, c and m wait in OWN, CROSS and WEIGHT, where their adjoints go. */
typedef struct cavities {
    hfi_block_rest rest;
    double *small; /* owns 4 x count of rest, then 2 x count of adjoints: of 1 / pi and of f */
    double *places;
    double *precision_bar, *weight_bar;
    size_t *block; /* by place */
} cavities;

static void cavities_free(hf_context *ctx, cavities *c)
{
    HFI_FREE(ctx, c->small, c->places, c->block);
    memset(c, 0, sizeof *c);
}

static hf_status cavities_init(hf_context *ctx, const hfi_block_system *s, cavities *c)
{
    const size_t n = s->count;
    const hf_status status =
        HFI_ALLOC(ctx, HFI_ROOMS(c->small, n, 6), HFI_ROOMS(c->places, s->n, 2), HFI_ROOM(c->block, s->n));
    if (status < 0) {
        cavities_free(ctx, c);
        return HF_ERR_MEMORY;
    }
    c->rest = (hfi_block_rest){.precision = c->small,
                               .latent = c->small + n,
                               .weight = c->small + 2 * n,
                               .shift = c->small + 3 * n,
                               .noise = c->places,
                               .target = c->places + s->n};
    c->precision_bar = c->small + 4 * n;
    c->weight_bar = c->small + 5 * n;
    for (size_t a = 0; a < n; a++) {
        c->precision_bar[a] = c->weight_bar[a] = 0.0;
        for (size_t l = s->actions->first[a]; l < s->actions->first[a + 1]; l++) c->block[l] = a;
    }
    return HF_OK;
}

static hfi_block_cavity cavity(const hfi_evaluator *e, const cavities *c, size_t l)
{
    return hfi_block_cavity_at(&e->projected->system, &c->rest, c->block[l], l, vector(e, HFI_PV_OWN)[l],
                               vector(e, HFI_PV_CROSS)[l], vector(e, HFI_PV_WEIGHT)[l]);
}

/* The projection, q, c and m of every place, and mean and variance by row. `inverse` receives G^-1. */
static hf_status project(hfi_evaluator *e, cavities *c, double *inverse, double *mean, double *variance)
{
    hfi_block_system *s = &e->projected->system;
    const hf_status solved = hfi_projected_factor(e);
    if (solved < 0) return solved;
    const hf_status made = cavities_init(e->ctx, s, c);
    if (made < 0) return made;
    hfi_block_system_rows(s, vector(e, HFI_PV_WEIGHT), vector(e, HFI_PV_OWN));
    hfi_block_system_inverse_rows(s);
    hfi_block_rest_prepare(s, inverse, &c->rest);
    double *cross = vector(e, HFI_PV_CROSS), *offset = vector(e, HFI_PV_R_BAR);
    hf_mean_evaluate(e->mean, s->n, s->x, s->d, offset);
    for (size_t l = 0; l < s->n; l++) {
        cross[l] = s->b[l + c->block[l] * s->n];
        const hfi_block_cavity found = cavity(e, c, l);
        mean[s->row[l]] = offset[l] + found.mean;
        variance[s->row[l]] = found.variance;
    }
    return solved;
}

/* The sum over readings and its derivatives in mean, variance and noise of each. */
static double terms(hfi_evaluator *e, bool weighted)
{
    const hf_sites *sites = e->sites;
    double sum = 0.0;
    for (size_t i = 0; i < e->rows; i++) {
        const double s = hfi_sites_noise(sites, i), omega = weighted ? sites->weight[i] : 1.0;
        const double v = vector(e, HFI_PV_VARIANCE)[i] + fmax(s, 1e-300);
        const double error = sites->y[i] - vector(e, HFI_PV_MEAN)[i];
        sum -= omega * (HFI_HALF_LOG_2PI + 0.5 * log(v) + 0.5 * error * error / v);
        vector(e, HFI_PV_MU_BAR)[i] = omega * error / v;
        vector(e, HFI_PV_V_BAR)[i] = omega * 0.5 * (error * error / v - 1.0) / v;
        vector(e, HFI_PV_S_BAR)[i] = vector(e, HFI_PV_V_BAR)[i];
        vector(e, HFI_PV_Z_BAR)[i] = 0.0;
        vector(e, HFI_PV_D_BAR)[i] = 0.0;
    }
    return sum;
}

/* One place: from the adjoints of its mean and variance to those of q, c, m, k, D, r and of its block's 1 /
 * pi and f. */
static void place_adjoint(hfi_evaluator *e, cavities *c, size_t l)
{
    const hfi_block_system *s = &e->projected->system;
    const size_t a = c->block[l], row = s->row[l];
    const double entry = s->actions->entry[l], cross = vector(e, HFI_PV_CROSS)[l], f = c->rest.weight[a];
    const hfi_block_cavity at = cavity(e, c, l);
    const double mean = vector(e, HFI_PV_MU_BAR)[row], variance = vector(e, HFI_PV_V_BAR)[row];
    double kappa = 0.0, omega = 0.0, sigma = 0.0;
    if (at.sigma > 0.0) {
        const double ratio = at.kappa / at.sigma;
        kappa = (mean * at.omega - 2.0 * variance * at.kappa) / at.sigma;
        omega = mean * ratio;
        sigma = ratio * (variance * ratio - mean * at.omega / at.sigma);
    }
    const double tau = variance + entry * (entry * sigma - kappa), rest = mean + entry * omega;
    const double own = kappa - 2.0 * entry * sigma + tau * cross, block = omega - rest * cross;
    c->precision_bar[a] += sigma + own * cross + block * s->core.u[a];
    c->weight_bar[a] += block / c->rest.precision[a];
    vector(e, HFI_PV_OWN)[l] = -2.0 * tau;
    vector(e, HFI_PV_CROSS)[l] = tau * at.own - rest * f + own / c->rest.precision[a];
    vector(e, HFI_PV_WEIGHT)[l] = rest;
    vector(e, HFI_PV_PRIOR_BAR)[l] = tau;
    vector(e, HFI_PV_NOISE_BAR)[l] = -entry * entry * sigma;
    vector(e, HFI_PV_WHITE_BAR)[l] = variance;
    vector(e, HFI_PV_R_BAR)[l] = -entry * omega;
}

/* Gbar = sum_l tau_l p_l p_l' - (P C + C'P)/2 - P diag(pi_bar) P with row a of C the sum of c_bar_l p_l' over
 * block a. */
static hf_status small_adjoints(hfi_evaluator *e, cavities *c, hfi_projected_bar *bar, double *scratch)
{
    const hfi_block_system *s = &e->projected->system;
    const size_t n = s->count;
    hf_status status = hfi_tall_square(s->ctx, s->n, n, s->b, s->n, vector(e, HFI_PV_PRIOR_BAR), bar->g, n);
    if (status >= 0)
        status = hfi_tall_inner(s->ctx, s->n, n, s->b, s->n, 1, vector(e, HFI_PV_WEIGHT), s->n, bar->u, n);
    if (status < 0) return status;
    double *rows = bar->g + n * n; /* C */
    for (size_t b = 0; b < n; b++)
        for (size_t a = 0; a < n; a++) {
            double sum = 0.0;
            for (size_t l = s->actions->first[a]; l < s->actions->first[a + 1]; l++)
                sum += vector(e, HFI_PV_CROSS)[l] * s->b[l + b * s->n];
            rows[a + b * n] = sum;
        }
    /* P diag(pi_bar) P is its own mirror image: added to C, one product and its mirror image make all of it. */
    for (size_t a = 0; a < n; a++) {
        const double pi = c->rest.precision[a], pi_bar = -c->precision_bar[a] / (pi * pi);
        for (size_t b = 0; b < n; b++) rows[a + b * n] += pi_bar * bar->inverse[b + a * n];
    }
    status = hfi_tall_inner(s->ctx, n, n, bar->inverse, n, n, rows, n, scratch, n);
    if (status < 0) return status;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) bar->g[i + j * n] -= 0.5 * (scratch[i + j * n] + scratch[j + i * n]);
    for (size_t a = 0; a < n; a++) {
        bar->rhs[a] = bar->lambda[a] = 0.0;
        for (size_t i = 0; i < n; i++) bar->u[i] += bar->inverse[i + a * n] * c->weight_bar[a];
    }
    return HF_OK;
}

static hf_status differentiate(hfi_evaluator *e, cavities *c, hfi_projected_bar *bar, double *gradient)
{
    const hfi_block_system *s = &e->projected->system;
    double *scratch = hfi_alloc(e->ctx, s->count, s->count * sizeof *scratch);
    if (!scratch) return HF_ERR_MEMORY;
    for (size_t l = 0; l < s->n; l++) place_adjoint(e, c, l);
    hf_status status = small_adjoints(e, c, bar, scratch);
    hfi_free(e->ctx, scratch);
    if (status >= 0) status = hfi_projected_collect(e, bar, gradient);
    return status;
}

hf_status hfi_projected_leave_one_out(hfi_evaluator *e, bool weighted, double *value, double *gradient)
{
    hfi_projected_evaluator *p = e->projected;
    hfi_projected_bar bar = hfi_projected_bar_of(p);
    cavities c = {0};
    hf_status status = project(e, &c, bar.inverse, vector(e, HFI_PV_MEAN), vector(e, HFI_PV_VARIANCE));
    if (status >= 0) {
        const double result = terms(e, weighted);
        const hf_status made = gradient ? differentiate(e, &c, &bar, gradient) : HF_OK;
        if (made >= 0) *value = result;
        if (made < 0) status = made;
    }
    cavities_free(e->ctx, &c);
    return status;
}

hf_status hfi_projected_holdout(hfi_evaluator *e, double *mean, double *variance)
{
    cavities c = {0};
    const hf_status status = project(e, &c, e->projected->squares, mean, variance);
    hfi_block_system_release(&e->projected->system);
    cavities_free(e->ctx, &c);
    return status;
}
