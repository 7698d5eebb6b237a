/* SPDX-License-Identifier: Apache-2.0 */
/* Contributions of each reading to an objective of the inducing solver, and their direct derivatives. */
#include "objective/inducing_impl.h"
#include "solver/inducing_chunk.h"
#include <math.h>

enum {
    ARRAYS = 13
};

hf_status hfi_inducing_bars_init(hf_context *ctx, size_t capacity, hfi_inducing_bars *b)
{
    double **const array[ARRAYS] = {&b->mu, &b->h, &b->q,     &b->prior, &b->white, &b->offset,  &b->z,
                                    &b->d,  &b->s, &b->log_p, &b->r,     &b->mean,  &b->variance};
    b->numbers = hfi_alloc(ctx, capacity, ARRAYS * sizeof *b->numbers);
    if (!b->numbers) return HF_ERR_MEMORY;
    for (size_t a = 0; a < ARRAYS; a++) *array[a] = b->numbers + a * capacity;
    return HF_OK;
}

/* Part of the prior variance that the inducing inputs leave open; negative only by rounding. */
static double unresolved(const hfi_inducing_chunk *c, size_t j)
{
    return fmax(c->prior[j] - c->resolved[j], 0.0);
}

static void clear(hfi_inducing_bars *b, size_t j)
{
    b->mu[j] = b->h[j] = b->q[j] = b->prior[j] = b->white[j] = b->offset[j] = 0.0;
    b->z[j] = b->d[j] = b->s[j] = b->log_p[j] = b->r[j] = 0.0;
}

/* log N(z; m, Q + 1/p) less what depends on B and c, and for VFE - p (k - q) / 2. */
static void evidence_terms(const hfi_inducing_chunk *c, hfi_inducing_bars *b)
{
    const bool trace = c->inducing->method == HF_INDUCING_VFE;
    for (size_t j = 0; j < c->count; j++) {
        const double p = c->precision[j], r = c->residual[j], open = trace ? unresolved(c, j) : 0.0;
        clear(b, j);
        b->log_p[j] = 0.5 - 0.5 * p * r * r - 0.5 * p * open;
        b->r[j] = -p * r;
        if (open > 0.0) {
            b->q[j] = 0.5 * p;
            b->prior[j] = -0.5 * p;
        }
    }
}

/* omega log N(y; cavity's mean, cavity's variance + s) */
static double leave_one_out_terms(const hfi_inducing_chunk *c, bool weighted, hfi_inducing_bars *b)
{
    double sum = 0.0;
    for (size_t j = 0; j < c->count; j++) {
        const hfi_inducing_cavity cavity = hfi_inducing_cavity_make(c, j);
        const double p = c->precision[j], mu = c->mean_part[j], r = c->residual[j], share = cavity.share;
        const double s = hfi_sites_noise(&c->sites, j), omega = weighted ? c->sites.weight[j] : 1.0;
        const double open = unresolved(c, j), v = cavity.variance + open + c->white[j] + fmax(s, 1e-300);
        const double error = c->sites.y[j] - c->offset[j] - cavity.mean;
        sum -= omega * (HFI_HALF_LOG_2PI + 0.5 * log(v) + 0.5 * error * error / v);
        const double mean_bar = omega * error / v, v_bar = 0.5 * omega * (error * error / v - 1.0) / v;
        /* d mean / d h = p (mu - r) / share^2 and d mean / d p = h (mu - r) / share^2. */
        const double by_share = mean_bar * (mu - r) / share / share;
        clear(b, j);
        b->mu[j] = mean_bar / share;
        b->h[j] = v_bar / share / share + p * by_share;
        b->log_p[j] = p * (v_bar * cavity.variance * cavity.variance + c->variance_part[j] * by_share);
        b->r[j] = -mean_bar * p * cavity.variance;
        b->offset[j] = mean_bar;
        b->white[j] = v_bar;
        b->s[j] = v_bar;
        if (open > 0.0) {
            b->prior[j] = v_bar;
            b->q[j] = -v_bar;
        }
    }
    return sum;
}

/* Expected log densities under q, whose marginals are N(mean, variance). */
static double expected_terms(hf_objective objective, const hfi_inducing_chunk *c, hfi_inducing_bars *b)
{
    for (size_t j = 0; j < c->count; j++) {
        b->mean[j] = c->offset[j] + c->mean_part[j];
        b->variance[j] = unresolved(c, j) + c->variance_part[j] + c->white[j];
    }
    hfi_expected bar = {.mu = b->mu, .v = b->h, .z = b->z, .d = b->d, .s = b->s};
    const double sum = hfi_expected_terms(objective, &c->sites, b->mean, b->variance, &bar);
    for (size_t j = 0; j < c->count; j++) {
        const bool open = unresolved(c, j) > 0.0;
        b->offset[j] = b->mu[j];
        b->white[j] = b->h[j];
        b->prior[j] = open ? b->h[j] : 0.0;
        b->q[j] = open ? -b->h[j] : 0.0;
        b->log_p[j] = 0.0;
        b->r[j] = 0.0;
    }
    return sum;
}

double hfi_inducing_terms(hf_objective objective, const hfi_inducing_chunk *chunk, hfi_inducing_bars *bars)
{
    switch (objective) {
    case HF_OBJECTIVE_LOO:
    case HF_OBJECTIVE_WLOO:
        return leave_one_out_terms(chunk, objective == HF_OBJECTIVE_WLOO, bars);
    case HF_OBJECTIVE_WEIGHTED:
    case HF_OBJECTIVE_RCAGP:
        return expected_terms(objective, chunk, bars);
    case HF_OBJECTIVE_EVIDENCE:
        break;
    }
    evidence_terms(chunk, bars);
    return 0.0;
}
