/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the tests of bounds over boxes: posteriors of every kind, boxes, values at points. */
#ifndef BOX_TESTING_H
#define BOX_TESTING_H

#include "kernel/kernel_testing.h"

#include "posterior/posterior.h"
#include <holdfast/certify.h>

typedef enum cert_solver {
    CERT_EXACT,
    CERT_INDUCING,
    CERT_PROJECTED,
    CERT_SOLVERS
} cert_solver;

typedef struct cert {
    hf_context *ctx;
    hf_posterior *posterior;
    hf_posterior_workspace *workspace;
    size_t inputs;
    double lower[INPUTS], upper[INPUTS];
} cert;

/* A posterior of n readings of a wavy function, some of them wrong, with robust sites when asked
 * for; in units of its own unless the kernel has outputs. */
static inline cert cert_make(hf_context *ctx, const char *expression, size_t n, uint64_t index,
                             cert_solver solver, bool robust)
{
    cert c = {.ctx = ctx, .inputs = INPUTS};
    hf_kernel *kernel = parse(ctx, expression, INPUTS);
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    hfi_stream stream;
    double *x = make_points(n, INPUTS, index), *y = make_zeros(n), *centre = make_zeros(n);
    const double coefficients[1 + INPUTS] = {0.3, -0.4, 0.5, 0.2};
    shake(kernel, index);
    hfi_stream_init(&stream, 41, HFI_PURPOSE_TEST, index);
    for (size_t i = 0; i < n; i++) {
        y[i] = sin(2.0 * x[i * INPUTS]) + x[i * INPUTS + 1] * x[i * INPUTS + 2] +
               0.2 * hfi_stream_normal(&stream);
        if (i % 9 == 4) y[i] += 8.0;
    }
    assert_int_equal(
        hf_mean_create(ctx, index % 2 ? HF_MEAN_LINEAR : HF_MEAN_CONSTANT, INPUTS, &mean), HF_OK);
    assert_int_equal(hf_mean_set(ctx, mean, coefficients, true), HF_OK);
    if (robust)
        assert_int_equal(hf_sites_robust(ctx, n, y, 0.05, NULL, centre, 1.5, &sites), HF_OK);
    else
        assert_int_equal(hf_sites_gaussian(ctx, n, y, 0.05, NULL, &sites), HF_OK);
    hf_projection projection = {
        .size = sizeof projection, .actions = HF_ACTIONS_KRYLOV, .count = n / 3};
    hf_status status = HF_ERR_INTERNAL;
    if (solver == CERT_EXACT)
        status = hf_solve_exact(ctx, kernel, mean, sites, x, INPUTS, &c.posterior);
    else if (solver == CERT_INDUCING)
        status = hf_solve_inducing(ctx, kernel, mean, sites, x, INPUTS, HF_INDUCING_VFE, n / 2, x,
                                   INPUTS, &c.posterior);
    else
        status = hf_solve_projected(ctx, kernel, mean, sites, x, INPUTS, &projection, &c.posterior,
                                    NULL);
    if (status < 0) fail_msg("%s: %s", expression, hf_context_message(ctx));
    if (!sees_codes(expression)) {
        for (size_t j = 0; j < INPUTS; j++) {
            c.posterior->scaling.x_shift[j] = 3.0 - 2.0 * (double)j;
            c.posterior->scaling.x_scale[j] = j % 2 == 0 ? 40.0 : 0.125;
        }
        c.posterior->scaling.y_scale = 2.5;
        c.posterior->scaling.y_shift = -17.0;
    }
    c.workspace = hf_posterior_workspace_create(ctx, c.posterior);
    assert_non_null(c.workspace);
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(x);
    free(y);
    free(centre);
    return c;
}

static inline void cert_drop(cert *c)
{
    hf_posterior_workspace_free(c->workspace);
    hf_posterior_free(c->posterior);
}

/* A box of that half-width (in the solver's units) about a point; columns with numbers of outputs
 * do not move. */
static inline void cert_place(cert *c, const char *expression, double half, hfi_stream *stream)
{
    const hfi_scaling *s = &c->posterior->scaling;
    bool code[INPUTS];
    (void)hfi_kernel_codes(c->posterior->kernel, code);
    for (size_t j = 0; j < INPUTS; j++) {
        char column[16];
        snprintf(column, sizeof column, "coregion(x%zu", j + 1);
        const bool still = code[j] || strstr(expression, column) != NULL;
        const double centre = 2.4 * hfi_stream_uniform(stream) - 1.2,
                     own = half * (0.5 + hfi_stream_uniform(stream));
        c->lower[j] = still ? rint(fabs(centre)) : (centre - own) * s->x_scale[j] + s->x_shift[j];
        c->upper[j] = still ? c->lower[j] : (centre + own) * s->x_scale[j] + s->x_shift[j];
    }
}

/* The value and, along the box's sides, its slopes (NULL if not wanted). */
static inline double cert_value(const cert *c, hf_certify_what what, double beta, const double *x,
                                double *slope)
{
    double mean, var, of_mean[INPUTS], of_var[INPUTS];
    assert_int_equal(hf_predict_latent(c->posterior, c->workspace, x, &mean, &var,
                                       slope ? of_mean : NULL, slope ? of_var : NULL),
                     HF_OK);
    const double sd = sqrt(var), weight = what == HF_CERTIFY_SD     ? 1.0
                                          : what == HF_CERTIFY_MEAN ? 0.0
                                                                    : beta;
    for (size_t j = 0; slope && j < INPUTS; j++) {
        const double of_sd = sd > 0.0 ? 0.5 * of_var[j] / sd : 0.0;
        slope[j] = ((what == HF_CERTIFY_SD ? 0.0 : of_mean[j]) + weight * of_sd) *
                   (c->upper[j] - c->lower[j]);
    }
    return (what == HF_CERTIFY_SD ? 0.0 : mean) + weight * sd;
}

static inline void cert_random_point(const cert *c, hfi_stream *stream, double *x)
{
    for (size_t j = 0; j < INPUTS; j++) {
        const double u = hfi_stream_uniform(stream);
        /* Corners and sides are where extremes are. */
        x[j] = u < 0.15   ? c->lower[j]
               : u > 0.85 ? c->upper[j]
                          : c->lower[j] + (u - 0.15) / 0.7 * (c->upper[j] - c->lower[j]);
        x[j] = fmin(fmax(x[j], c->lower[j]), c->upper[j]);
    }
}

/* Signed gradient steps that shorten: where an attacker would go. Every value on the way is given
 * to `visit`. */
static inline void cert_attack(const cert *c, hf_certify_what what, double beta, double sign,
                               double *x, size_t steps, void (*visit)(double value, void *arg),
                               void *arg)
{
    double slope[INPUTS], step = 0.5;
    for (size_t k = 0; k < steps; k++, step *= 0.7) {
        visit(cert_value(c, what, beta, x, slope), arg);
        for (size_t j = 0; j < INPUTS; j++) {
            const double side = c->upper[j] - c->lower[j];
            x[j] -= sign * step * side * (slope[j] > 0.0 ? 1.0 : slope[j] < 0.0 ? -1.0 : 0.0);
            x[j] = fmin(fmax(x[j], c->lower[j]), c->upper[j]);
        }
    }
    visit(cert_value(c, what, beta, x, NULL), arg);
}

#endif
