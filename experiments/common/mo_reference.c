/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mo_reference.h"
#include "common/room.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    T = MO_REFERENCE_OUTPUTS,
    QUERIES = MO_REFERENCE_QUERIES
};

const char *const mo_reference_objectives[MO_REFERENCE_OBJECTIVES] = {"loo0", "loo1", "loo2", "evidence",
                                                                      "prior2"};

static const double b[T * T] = {1.0, 0.9, 0.7, 0.9, 1.0, 0.8, 0.7, 0.8, 1.0};
static const double noise[T] = {0.01, 0.02, 0.015}, eps[T] = {0.1, 0.2, 0.15}, zeros[T] = {0.0};
static const double lengthscale = 1.2, jitter = 1e-6, ridge = 1e-3;

mo_reference mo_reference_create(size_t n)
{
    mo_reference r = {.n = n, .x = room(n + 6 * n * T, sizeof(double))};
    r.y = r.x + n;
    r.centre = r.y + n * T;
    r.weight = r.centre + n * T;
    r.shift = r.weight + n * T;
    r.first_centre = r.shift + n * T;
    r.first_weight = r.first_centre + n * T;
    return r;
}

void mo_reference_free(mo_reference *r)
{
    free(r->x);
    *r = (mo_reference){0};
}

/* ---- weights ------------------------------------------------------------------------------------------------- */

static hf_status weigh(hf_context *ctx, const mo_reference *r, const double *s, double *centre,
                       double *weight, double *shift, double *threshold)
{
    const hf_outputs_model model = {.outputs = T, .mean = zeros, .covariance = b, .noise = s, .ridge = ridge};
    const hf_outputs_rule rule = {sizeof rule, HF_OUTPUTS_READING, HF_OUTPUTS_LOWER, eps};
    const hf_outputs_sites sites = {.weight = weight, .shift = shift, .scale = threshold};
    hf_status status = hf_outputs_conditional_centre(ctx, r->n, r->y, T, &model, centre);
    if (status >= 0) status = hf_outputs_weights(ctx, &rule, r->n, r->y, T, &model, NULL, &sites);
    for (size_t i = 0; status >= 0 && i < r->n * T; ++i) {
        weight[i] = isnan(r->y[i]) ? NAN : sqrt(weight[i]);
        shift[i] = isnan(r->y[i]) ? NAN : -noise[i % T] * shift[i];
    }
    return status;
}

/* ---- posteriors ---------------------------------------------------------------------------------------------- */

/* Rows of a long table. */
typedef struct rows {
    double *x, *y, *centre;
    size_t *channel;
} rows;

static hf_status make_sites(hf_context *ctx, const mo_reference *r, const rows *at, const double *threshold,
                            hf_sites **out)
{
    hf_status status = hf_sites_gaussian(ctx, r->n * T, at->y, noise[0], NULL, out);
    if (status >= 0) status = hf_sites_set_channels(ctx, *out, T, at->channel);
    if (status >= 0) status = hf_sites_set_channel_noise(ctx, *out, noise);
    if (status >= 0 && threshold) status = hf_sites_recentre_channels(ctx, *out, at->centre, threshold);
    return status;
}

/* sum_j (w_j / beta)^k log N(y_j; mean_j, var_j + noise), over leave-one-out predictions of the readings. */
static hf_status weighted_sum(hf_context *ctx, const hf_posterior *posterior, const hf_sites *sites,
                              double power, double *out)
{
    const size_t n = hf_sites_count(sites);
    double *mean = malloc(2 * n * sizeof *mean), sum = 0.0;
    hf_status status = mean ? hf_leave_one_out(ctx, posterior, mean, mean + n) : HF_ERR_MEMORY;
    for (size_t i = 0, anchor = 0; status >= 0 && i < n; ++i) {
        if (!hf_sites_is_present(sites, i)) continue;
        const double v = mean[n + anchor] + noise[hf_sites_channel(sites, i)],
                     e = hf_sites_readings(sites)[i] - mean[anchor];
        sum +=
            pow(hf_sites_weights(sites)[i], 0.5 * power) * -0.5 * (log(6.283185307179586477 * v) + e * e / v);
        anchor += 1;
    }
    free(mean);
    *out = sum;
    return status;
}

/* The three objectives with the weights before the first fit, which are those that the program maximises with. */
static hf_status first_objectives(hf_context *ctx, mo_reference *r, const hf_kernel *kernel,
                                  const hf_mean *mean, const rows *at)
{
    hf_sites *sites = NULL;
    hf_posterior *posterior = NULL;
    memcpy(at->centre, r->first_centre, r->n * T * sizeof *at->centre);
    hf_status status = make_sites(ctx, r, at, r->first_threshold, &sites);
    if (status >= 0)
        status = hf_objective_evaluate(ctx, HF_OBJECTIVE_LOO, kernel, mean, sites, at->x, 2, &r->objective[0],
                                       NULL);
    if (status >= 0)
        status = hf_objective_evaluate(ctx, HF_OBJECTIVE_WLOO, kernel, mean, sites, at->x, 2,
                                       &r->objective[2], NULL);
    if (status >= 0) status = hf_solve_exact(ctx, kernel, mean, sites, at->x, 2, &posterior);
    if (status >= 0) status = weighted_sum(ctx, posterior, sites, 1.0, &r->objective[1]);
    hf_posterior_free(posterior);
    hf_sites_free(sites);
    return status;
}

/* Posterior of one kind: 0 with weights, 1 plain, 2 centred on the prior mean. */
static hf_status predict(hf_context *ctx, mo_reference *r, size_t kind, const hf_kernel *kernel,
                         const hf_mean *mean, const rows *at, const double *threshold)
{
    double query[QUERIES];
    hf_sites *sites = NULL;
    hf_posterior *posterior = NULL;
    for (size_t q = 0; q < QUERIES; ++q) query[q] = -5.5 + 0.25 * (double)q;
    hf_status status = make_sites(ctx, r, at, threshold, &sites);
    if (status >= 0 && kind > 0)
        status = hf_objective_evaluate(ctx, kind == 1 ? HF_OBJECTIVE_EVIDENCE : HF_OBJECTIVE_WLOO, kernel,
                                       mean, sites, at->x, 2, &r->objective[2 + kind], NULL);
    if (status >= 0) status = hf_solve_exact(ctx, kernel, mean, sites, at->x, 2, &posterior);
    for (size_t q = 0; status >= 0 && q < QUERIES * T; ++q) {
        const double point[2] = {query[q / T], (double)(q % T)};
        status = hf_predict(ctx, posterior, 1, point, 2, &r->mean[kind][q], &r->var[kind][q], NULL);
    }
    hf_posterior_free(posterior);
    hf_sites_free(sites);
    return status;
}

static hf_status predict_all(hf_context *ctx, mo_reference *r, const rows *at)
{
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    double threshold[T];
    hf_status status = hf_kernel_parse(ctx, "coregion(x2, outputs=3)*se(x1) + white", NULL, 2, &kernel);
    if (status >= 0) status = hf_kernel_set_coregion(ctx, kernel, 0, b);
    if (status >= 0) status = hf_kernel_set(ctx, kernel, "lengthscale", lengthscale);
    if (status >= 0) status = hf_kernel_set(ctx, kernel, "white.variance", jitter);
    if (status >= 0) status = hf_mean_create(ctx, HF_MEAN_ZERO, 2, &mean);
    if (status >= 0) status = predict(ctx, r, 0, kernel, mean, at, r->threshold);
    if (status >= 0) status = predict(ctx, r, 1, kernel, mean, at, NULL);
    if (status >= 0) status = first_objectives(ctx, r, kernel, mean, at);
    memset(at->centre, 0, r->n * T * sizeof *at->centre);
    if (status >= 0)
        status = hf_outputs_thresholds(ctx, HF_OUTPUTS_LOWER, r->n, T, r->y, T, at->centre, eps, threshold);
    if (status >= 0) status = predict(ctx, r, 2, kernel, mean, at, threshold);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    return status;
}

hf_status mo_reference_compute(hf_context *ctx, mo_reference *r)
{
    const size_t n = r->n * T;
    rows at = {.x = malloc(4 * n * sizeof(double)), .channel = malloc(n * sizeof(size_t))};
    double *unused = malloc(n * sizeof *unused);
    hf_status status = at.x && at.channel && unused ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = weigh(ctx, r, noise, r->centre, r->weight, r->shift, r->threshold);
    if (status >= 0)
        status = weigh(ctx, r, zeros, r->first_centre, r->first_weight, unused, r->first_threshold);
    if (status >= 0) {
        at.y = at.x + 2 * n;
        at.centre = at.x + 3 * n;
        for (size_t i = 0; i < n; ++i) {
            at.x[2 * i] = r->x[i / T];
            at.x[2 * i + 1] = (double)(i % T);
            at.y[i] = r->y[i];
            at.centre[i] = r->centre[i];
            at.channel[i] = i % T;
        }
        status = predict_all(ctx, r, &at);
    }
    free(at.x);
    free(at.channel);
    free(unused);
    return status;
}
