/* SPDX-License-Identifier: Apache-2.0 */
/* Conditioning on sites, and the gradient, by the inducing solver: the prior covariance of the rows is Q +
 * diag(e), with e white noise and for FITC also k - q.
 *
 * The prediction of a row by the inducing inputs without its own site has the mean c and the variance h; its
 * latent value adds e:
 *
 *     v_c = h + e        g = (c + v_c linear) / (1 + v_c w)        variance = v_c / (1 + v_c w)
 *
 * VFE is DTC less half a trace, sum_i p_i (k_ii - q_ii) with p = w / (1 + w white), the precision of a
 * reading and its white noise together. The trace looks at the sites, which move with the hyperparameters.
 * Its derivative in w_i, half of (k - q) / (1 + w white)^2, is that of a marginal variance: for Laplace's
 * method it joins variance_i where the determinant answers the mode; for EP, a stationary point of its energy
 * E, that of E + t trace moves with t as the trace needs it:
 *
 *     d trace / d sites . d sites / d hyperparameters
 *         = d / dt of (d E / d hyperparameters, sites held) at the stationary points of E + t trace. */
#include "inference/latent.h"
#include "solver/inducing_chunk.h"
#include <math.h>
#include <string.h>

/* A precision below this says nothing, and its inverse is hardly a number. */
static const double least_precision = 1e-290;

static void give_sites(hfi_latent_problem *p, const double *shift, double sign)
{
    double *target = p->work + 4 * p->n, *variance = p->work + 5 * p->n;
    for (size_t i = 0; i < p->n; i++) {
        const bool says = p->w[i] > least_precision;
        const double moved = p->linear[i] + (shift ? sign * shift[i] : 0.0);
        target[i] = says ? p->offset[i] + moved / p->w[i] : NAN;
        variance[i] = says ? 1.0 / p->w[i] : INFINITY;
    }
    hfi_sites_give(p->inducing.sites, target, variance);
}

/* The rows of a chunk, and what they add to the determinant. */
static double read_chunk(const hfi_latent_problem *p, const hfi_inducing_chunk *c, double *alpha,
                         double *latent, double *variance)
{
    double log_det = 0.0;
    for (size_t j = 0; j < c->count; j++) {
        const hfi_inducing_cavity rest = hfi_inducing_cavity_make(c, j);
        const size_t i = c->row[j];
        const hf_inducing_method method = c->inducing->method;
        const double w = p->w[i], open = fmax(c->prior[j] - c->resolved[j], 0.0);
        const double own = c->white[j] + (method == HF_INDUCING_FITC ? open : 0.0), v = rest.variance + own,
                     share = 1.0 + v * w;
        latent[i] = (rest.mean + v * p->linear[i]) / share;
        alpha[i] = p->linear[i] - w * latent[i];
        if (w > least_precision) log_det += log(w);
        const double part = 1.0 / (1.0 + w * c->white[j]);
        if (method == HF_INDUCING_VFE) log_det += w * part * open;
        if (variance)
            variance[i] = v / share + (method == HF_INDUCING_VFE ? p->tilt * part * part * open : 0.0);
    }
    return log_det;
}

hf_status hfi_latent_inducing_condition(hfi_latent_problem *p, double *alpha, double *latent,
                                        double *variance)
{
    hfi_evaluator *e = &p->inducing;
    hfi_inducing *u = e->inducing;
    hfi_inducing_chunk chunk;
    give_sites(p, NULL, 0.0);
    if (hf_sites_present(e->sites) == 0) return hfi_fail(p->ctx, HF_ERR_NO_DATA, "no reading says anything");
    hf_status s = hfi_inducing_factor(u, e->kernel, e->mean, e->sites, e->rows, e->x, e->ldx);
    if (s < 0) return s;
    s = hfi_inducing_chunk_init(&chunk, u, e->kernel, e->mean, e->sites, e->rows, e->x, e->ldx, true);
    if (s < 0) return s;
    p->log_det = u->log_det;
    for (size_t at = 0; at < e->rows; at += chunk.capacity) {
        const size_t left = e->rows - at;
        hfi_inducing_chunk_load(&chunk, at, at + (left < chunk.capacity ? left : chunk.capacity), true);
        hfi_inducing_chunk_solve(&chunk);
        p->log_det += read_chunk(p, &chunk, alpha, latent, variance);
    }
    hfi_inducing_chunk_free(&chunk);
    return HF_OK;
}

/* (K^-1 + W)^-1 c: the posterior mean that sites of the present precisions have for the linear coefficients c. */
static hf_status answer(hfi_latent_problem *p, const double *c)
{
    double *kept = p->work + 3 * p->n;
    if (!p->likelihood->parameter) return HF_OK;
    memcpy(kept, p->linear, p->n * sizeof *kept);
    memcpy(p->linear, c, p->n * sizeof *c);
    const hf_status s = hfi_latent_inducing_condition(p, p->work + p->n, p->answer, NULL);
    memcpy(p->linear, kept, p->n * sizeof *kept);
    return s;
}

/* The answer of the mode is v'dK a + v'dm with v = (K + D)^-1 D c: half the difference of the gradients with
 * targets moved by D c either way, in which everything cancels that is not linear in v. */
static hf_status add_answer(hfi_latent_problem *p, size_t count, double *gradient)
{
    hfi_evaluator *e = &p->inducing;
    double *c = p->work, *side = hfi_alloc(p->ctx, count, sizeof *side), ignored = 0.0;
    if (!side) return HF_ERR_MEMORY;
    hf_status s = hfi_latent_inducing_condition(p, p->work + p->n, p->work + 2 * p->n, p->variance);
    for (size_t i = 0; i < p->n; i++) c[i] = p->variance[i] * p->half_third[i];
    if (s >= 0) s = answer(p, c);
    for (double sign = 1.0; s >= 0 && sign > -2.0; sign -= 2.0) {
        give_sites(p, c, sign);
        s = hfi_inducing_run(e, HF_OBJECTIVE_EVIDENCE, &ignored, side);
        for (size_t k = 0; s >= 0 && k < count; k++) gradient[k] += 0.5 * sign * side[k];
    }
    hfi_free(p->ctx, side);
    return s;
}

/* Places beside t = 0 at which the sites of EP are looked at, in units of `sideways`. Beside each stands what
 * it counts for in a difference whose own error is of the fourth order. The places are as far off as that allows: fixed
 * points are known to 1e-10, which the distance divides. Below 0 there is no fixed point when a row has a smaller
 * variance than the trace would take away. Rows far from all inducing inputs have one; then the places are
 * those above. */
enum {
    PLACES = 5
};
static const double sideways = 2e-3;
typedef struct site_place {
    double at, weight;
} site_place;
static const site_place around[PLACES] = {
    {1.0, 8.0 / 12.0}, {-1.0, -8.0 / 12.0}, {2.0, -1.0 / 12.0}, {-2.0, 1.0 / 12.0}, {0.0, 0.0}};
static const site_place above[PLACES] = {
    {0.0, -25.0 / 12.0}, {1.0, 48.0 / 12.0}, {2.0, -36.0 / 12.0}, {3.0, 16.0 / 12.0}, {4.0, -3.0 / 12.0}};

/* The difference of gradients at the fixed points of EP there; the sites in the end are those of the last. */
static hf_status trace_difference(hfi_latent_problem *p, const site_place *places, size_t count, double *side,
                                  double *sum)
{
    hfi_inducing *u = p->inducing.inducing;
    const bool converged = p->converged;
    double ignored = 0.0, bar[2];
    hf_status s = HF_OK;
    for (size_t k = 0; k < count; k++) sum[k] = 0.0;
    memset(p->trace_bar, 0, sizeof p->trace_bar);
    for (size_t at = 0; s >= 0 && at < PLACES; at++) {
        if (places[at].weight == 0.0) continue;
        p->tilt = places[at].at * sideways;
        s = p->method->find_sites(p, &ignored);
        p->converged = p->converged && converged;
        if (s >= 0) p->method->slopes(p, bar);
        for (size_t k = 0; s >= 0 && k < 2; k++) p->trace_bar[k] += places[at].weight / sideways * bar[k];
        u->method = HF_INDUCING_DTC;
        give_sites(p, NULL, 0.0);
        if (s >= 0) s = hfi_inducing_run(&p->inducing, HF_OBJECTIVE_EVIDENCE, &ignored, side);
        u->method = HF_INDUCING_VFE;
        for (size_t k = 0; s >= 0 && k < count; k++) sum[k] += places[at].weight / sideways * side[k];
    }
    p->tilt = 0.0;
    return s;
}

/* The answer of EP's sites by the difference of four more fixed points next to the one found. They start from
 * it, and it is put back. */
static hf_status add_trace_answer(hfi_latent_problem *p, size_t count, double *gradient)
{
    double *kept = hfi_alloc(p->ctx, 5 * p->n + 2 * count, sizeof *kept);
    hfi_likelihood_tilted *tilted = hfi_alloc(p->ctx, p->n, sizeof *tilted);
    if (!kept || !tilted) {
        HFI_FREE(p->ctx, kept, tilted);
        return HF_ERR_MEMORY;
    }
    memcpy(tilted, p->tilted, p->n * sizeof *tilted);
    double *side = kept + 5 * p->n, *sum = side + count;
    memcpy(kept, p->w, 5 * p->n * sizeof *kept);
    const hfi_latent_problem found = *p;
    p->kept_w = kept;
    p->kept_linear = kept + p->n;
    p->started = true;
    hf_status s = trace_difference(p, around, count, side, sum);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) {
        p->converged = found.converged;
        s = trace_difference(p, above, count, side, sum);
    }
    for (size_t k = 0; s >= 0 && k < count; k++) gradient[k] += sum[k];
    p->rounds = found.rounds;
    p->kept_w = found.kept_w;
    p->kept_linear = found.kept_linear;
    p->started = found.started;
    memcpy(p->w, kept, 5 * p->n * sizeof *kept);
    memcpy(p->tilted, tilted, p->n * sizeof *tilted);
    HFI_FREE(p->ctx, tilted, kept);
    return s;
}

hf_status hfi_latent_inducing_gradient(hfi_latent_problem *p, double *gradient)
{
    hfi_evaluator *e = &p->inducing;
    const hfi_inducing *u = e->inducing;
    const size_t shared = hf_kernel_parameters(e->kernel) + hf_mean_coefficients(e->mean),
                 count = shared + 1 + (u->train_inputs ? u->m * u->d : 0);
    double *full = hfi_alloc(p->ctx, count, sizeof *full), ignored = 0.0;
    if (!full) return HF_ERR_MEMORY;
    give_sites(p, NULL, 0.0);
    hf_status s = hfi_inducing_run(e, HF_OBJECTIVE_EVIDENCE, &ignored, full);
    if (s >= 0 && p->method->mode)
        s = add_answer(p, count, full);
    else if (s >= 0 && u->method == HF_INDUCING_VFE && p->method->tilt == 0.0)
        s = add_trace_answer(p, count, full);
    if (s >= 0) memcpy(gradient, full, (u->train_inputs ? count : shared) * sizeof *gradient);
    hfi_free(p->ctx, full);
    return s < 0 ? s : HF_OK;
}
