/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file attack_models.h
 * @brief Random posteriors and classifiers to attack certificates on: kernels composed from the
 * whole language, all solvers and sites, one output and several.
 *
 * All is drawn from a number, so that a model can be made again. Nothing here depends on a test
 * framework: bench/soundness.c uses it too.
 */
#ifndef ATTACK_MODELS_H
#define ATTACK_MODELS_H

#include "kernel/kernel.h"
#include "posterior/posterior.h"
#include <holdfast/certify_uses.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ATTACK_INPUTS = 8, /* at most, with the number of the output */
    ATTACK_TEXT = 768
};

/** A box in the user's units. */
typedef struct attack_box {
    double lower[ATTACK_INPUTS], upper[ATTACK_INPUTS];
} attack_box;

typedef struct attack_model {
    hf_context *ctx;
    hf_posterior *posterior;
    hf_classifier *classifier; /* owns the posterior; NULL: readings */
    hf_posterior_workspace *workspace;
    hf_sites *sites; /* of the exact solver's readings, else NULL */
    hfi_stream stream;
    uint64_t seed;
    size_t n, d, inputs, outputs; /* readings; of the posterior; of the data; 1: one */
    const char *solver;
    bool robust, sharp;
    double sign;    /* of a sharp model: which end is sharp, 1 the upper one */
    double scale;   /* of values: root of the prior variance in user units */
    attack_box own; /* of a sharp model: where it is */
    char text[ATTACK_TEXT];
    double *x, *y; /* n x d, n */
} attack_model;

static inline void *attack_memory(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (memory) return memory;
    fprintf(stderr, "out of memory\n");
    exit(1);
}

/** Whether a call went well; a message otherwise. */
static inline bool attack_ok(const attack_model *m, hf_status status, const char *what)
{
    if (status >= 0) return true;
    fprintf(stderr, "model %llu (%s): %s: %s\n", (unsigned long long)m->seed, m->text, what,
            hf_context_message(m->ctx));
    return false;
}

static inline double attack_between(hfi_stream *s, double low, double high)
{
    return low + (high - low) * hfi_stream_uniform(s);
}

static inline double attack_log_between(hfi_stream *s, double low, double high)
{
    return pow(10.0, attack_between(s, low, high));
}

/* ---- kernels --------------------------------------------------------------------------------- */

static inline void attack_write(char *text, const char *more)
{
    const size_t used = strlen(text), room = ATTACK_TEXT - 1 - used;
    strncat(text, more, room);
}

/* "x1, x3, " of the first `inputs`, or nothing for all of them. */
static inline void attack_columns(hfi_stream *s, size_t inputs, char *text)
{
    if (hfi_stream_below(s, 3) != 0) return;
    const size_t first = hfi_stream_below(s, inputs);
    char word[32];
    for (size_t j = first; j < inputs; j += 1 + hfi_stream_below(s, 2)) {
        snprintf(word, sizeof word, "x%zu, ", j + 1);
        attack_write(text, word);
    }
}

static inline void attack_leaf(hfi_stream *s, size_t inputs, bool stationary, char *text)
{
    static const char *const NAMES[] = {"se",     "matern52", "matern32", "matern12",
                                        "rq",     "se",       "matern52", "periodic",
                                        "linear", "sm",       "white"};
    const size_t which = hfi_stream_below(s, stationary ? 7 : sizeof NAMES / sizeof *NAMES);
    char more[96];
    attack_write(text, NAMES[which]);
    if (which == 10) {
        attack_write(text, "(variance~0.05)");
        return;
    }
    attack_write(text, "(");
    attack_columns(s, inputs, text);
    const double length = attack_between(s, 0.4, 1.6) * sqrt((double)inputs);
    const char *shape = hfi_stream_below(s, 2) ? "ard" : "iso";
    if (which == 8)
        snprintf(more, sizeof more, "%s, variance~%.4g)", shape, attack_between(s, 0.1, 1.0));
    else if (which == 9)
        snprintf(more, sizeof more, "components=%zu)", 1 + hfi_stream_below(s, 3));
    else if (which == 7)
        snprintf(more, sizeof more, "%s, lengthscale~%.4g, period~%.4g)", shape, length,
                 attack_between(s, 0.7, 4.0));
    else
        snprintf(more, sizeof more, "%s, lengthscale~%.4g)", shape, length);
    attack_write(text, more);
}

/* Sums of products of leaves and of sums in parentheses. */
static inline void attack_sum(hfi_stream *s, size_t inputs, int depth, char *text)
{
    const size_t terms = 1 + hfi_stream_below(s, depth == 0 ? 3 : 2);
    for (size_t t = 0; t < terms; t++) {
        char more[32];
        if (t > 0) attack_write(text, " + ");
        snprintf(more, sizeof more, "%.3g*", attack_log_between(s, -1.0, 0.7));
        if (hfi_stream_below(s, 2)) attack_write(text, more);
        const size_t factors = hfi_stream_below(s, 5) < 3 ? 1 : 2;
        for (size_t f = 0; f < factors; f++) {
            if (f > 0) attack_write(text, "*");
            if (depth < 2 && hfi_stream_below(s, 6) == 0) {
                attack_write(text, "(");
                attack_sum(s, inputs, depth + 1, text);
                attack_write(text, ")");
            } else {
                attack_leaf(s, inputs, false, text);
            }
        }
    }
}

static inline void attack_expression(attack_model *m)
{
    hfi_stream *s = &m->stream;
    m->text[0] = '\0';
    /* Kernels of one stationary term have bounds of their own. */
    if (m->sharp || (m->outputs == 1 && hfi_stream_below(s, 5) == 0)) {
        attack_leaf(s, m->inputs, true, m->text);
        if (!m->sharp || hfi_stream_below(s, 3)) return;
        attack_write(m->text, "*");
        attack_leaf(s, m->inputs, true, m->text);
        return;
    }
    if (m->outputs > 1) {
        char more[64];
        snprintf(more, sizeof more, "coregion(x%zu, outputs=%zu%s)*(", m->d, m->outputs,
                 hfi_stream_below(s, 2) ? ", rank=1" : "");
        attack_write(m->text, more);
    }
    attack_sum(s, m->inputs, 0, m->text);
    if (m->outputs > 1) attack_write(m->text, ")");
}

static inline hf_kernel *attack_kernel(attack_model *m)
{
    hf_kernel *kernel = NULL;
    if (!attack_ok(m, hf_kernel_parse(m->ctx, m->text, NULL, m->d, &kernel), "kernel")) return NULL;
    const size_t count = hf_kernel_parameters(kernel);
    double *theta = attack_memory(count, sizeof *theta);
    hfi_kernel_theta(kernel, theta);
    for (size_t p = 0; p < count; p++) {
        hf_parameter parameter;
        const double moved = attack_between(&m->stream, -0.3, 0.3);
        if (hf_kernel_parameter(kernel, p, &parameter) >= 0 && !parameter.fixed) theta[p] += moved;
    }
    hfi_kernel_set_theta(kernel, theta);
    free(theta);
    return kernel;
}

/* ---- readings -------------------------------------------------------------------------------- */

static inline hf_mean *attack_mean(attack_model *m)
{
    static const hf_mean_kind KINDS[] = {HF_MEAN_ZERO, HF_MEAN_CONSTANT, HF_MEAN_LINEAR};
    hf_mean *mean = NULL;
    double b[ATTACK_INPUTS + 2];
    const bool outputs = m->outputs > 1 && hfi_stream_below(&m->stream, 2);
    const hf_mean_kind kind = m->sharp ? HF_MEAN_LINEAR : KINDS[hfi_stream_below(&m->stream, 3)];
    const hf_status status = outputs ? hf_mean_create_outputs(m->ctx, m->d, m->outputs, &mean)
                                     : hf_mean_create(m->ctx, kind, m->d, &mean);
    if (!attack_ok(m, status, "mean")) return NULL;
    for (size_t k = 0; k < ATTACK_INPUTS + 2; k++) b[k] = hfi_stream_normal(&m->stream);
    if (m->sharp)
        for (size_t k = 1; k <= m->d; k++) b[k] = 10.0 * m->sign;
    if (hf_mean_coefficients(mean) > 0) (void)hf_mean_set(m->ctx, mean, b, true);
    return mean;
}

/* A wavy function with noise, some readings wrong, some inputs twice. */
static inline void attack_readings(attack_model *m)
{
    hfi_stream *s = &m->stream;
    const double size = attack_log_between(s, -1.0, 1.0);
    for (size_t i = 0; i < m->n; i++) {
        double *row = m->x + i * m->d;
        for (size_t j = 0; j < m->inputs; j++) row[j] = hfi_stream_normal(s);
        if (i > 2 && hfi_stream_below(s, 25) == 0)
            memcpy(row, m->x + hfi_stream_below(s, i) * m->d, m->inputs * sizeof *row);
        if (m->outputs > 1) row[m->inputs] = (double)hfi_stream_below(s, m->outputs);
        m->y[i] =
            sin(1.7 * row[0]) + 0.5 * row[m->inputs - 1] * row[0] + 0.1 * hfi_stream_normal(s);
        if (hfi_stream_below(s, 12) == 0) m->y[i] += 6.0 * hfi_stream_normal(s);
        m->y[i] *= size;
    }
}

/* The worst function for a Taylor polynomial of degree p about c in the direction v, up to
 * differences for derivatives: f = phi(c + v) - sum_j D_v^j phi(c) / j!. Its prior mean rises along
 * v (or f is turned over and it falls), so that the polynomial is largest where the remainder is.
 * Readings that have these weights. */
static inline void attack_sharpen(attack_model *m, const hf_kernel *kernel, const hf_mean *mean,
                                  double noise)
{
    static const double AT[] = {1.0, 0.0, 0.1, -0.1};
    hfi_stream *s = &m->stream;
    const double step = AT[2], sign = m->sign;
    const size_t degree = strstr(m->text, "matern12") ? 0 : strstr(m->text, "matern32") ? 1 : 2;
    double t[4] = {1.0, -1.0, 0.0, 0.0}, k[16];
    m->n = 4;
    if (degree > 0) t[2] = -0.5 / step, t[3] = 0.5 / step;
    if (degree > 1)
        t[1] += 1.0 / (step * step), t[2] -= 0.5 / (step * step), t[3] -= 0.5 / (step * step);
    const double half = attack_log_between(s, -1.3, 0.3);
    for (size_t j = 0; j < m->d; j++) {
        const double c = hfi_stream_normal(s), own = half * attack_between(s, 0.2, 1.0);
        for (size_t i = 0; i < m->n; i++) m->x[i * m->d + j] = c + AT[i] * own;
        m->own.lower[j] = c - own;
        m->own.upper[j] = c + own;
    }
    if (!attack_ok(m, hf_kernel_gram(m->ctx, kernel, m->n, m->x, m->d, k, m->n), "gram")) return;
    for (size_t i = 0; i < m->n; i++) {
        const double *b = hf_mean_values(mean);
        m->y[i] = b[0] + sign * noise * t[i];
        for (size_t j = 0; j < m->d; j++) m->y[i] += b[1 + j] * m->x[i * m->d + j];
        for (size_t l = 0; l < m->n; l++) m->y[i] += sign * k[i * m->n + l] * t[l];
    }
}

static inline hf_sites *attack_sites(attack_model *m, const double *y, double noise,
                                     double threshold)
{
    hf_sites *sites = NULL;
    double *centre = attack_memory(m->n, sizeof *centre);
    const hf_status status =
        m->robust ? hf_sites_robust(m->ctx, m->n, y, noise, NULL, centre, threshold, &sites)
                  : hf_sites_gaussian(m->ctx, m->n, y, noise, NULL, &sites);
    free(centre);
    return attack_ok(m, status, "sites") ? sites : NULL;
}

/* ---- posteriors ------------------------------------------------------------------------------ */

static inline hf_status attack_solve(attack_model *m, const hf_kernel *kernel, const hf_mean *mean,
                                     const hf_sites *sites)
{
    static const hf_inducing_method METHODS[] = {HF_INDUCING_VFE, HF_INDUCING_FITC,
                                                 HF_INDUCING_DTC};
    hfi_stream *s = &m->stream;
    const size_t which = m->sharp ? 0 : hfi_stream_below(s, 4);
    m->solver = which < 2 ? "exact" : which == 2 ? "inducing" : "projected";
    if (which < 2) return hf_solve_exact(m->ctx, kernel, mean, sites, m->x, m->d, &m->posterior);
    const size_t count = 1 + m->n / 3;
    if (which == 2) {
        double *z = attack_memory(count * m->d, sizeof *z);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < m->d; j++)
                z[i * m->d + j] =
                    j < m->inputs ? hfi_stream_normal(s) : (double)hfi_stream_below(s, m->outputs);
        const hf_status status =
            hf_solve_inducing(m->ctx, kernel, mean, sites, m->x, m->d,
                              METHODS[hfi_stream_below(s, 3)], count, z, m->d, &m->posterior);
        free(z);
        return status;
    }
    const hf_projection projection = {.size = sizeof projection,
                                      .actions = hfi_stream_below(s, 2) ? HF_ACTIONS_KRYLOV
                                                                        : HF_ACTIONS_BLOCKS,
                                      .count = count};
    return hf_solve_projected(m->ctx, kernel, mean, sites, m->x, m->d, &projection, &m->posterior,
                              NULL);
}

/* Units as a fit would choose them. */
static inline bool attack_units(attack_model *m)
{
    hfi_scaling *scaling = &m->posterior->scaling;
    hfi_stream *s = &m->stream;
    for (size_t j = 0; j < m->inputs; j++) {
        scaling->x_shift[j] = 3.0 * hfi_stream_normal(s);
        scaling->x_scale[j] = attack_log_between(s, -2.0, 2.0);
    }
    if (m->outputs > 1) {
        double shift[ATTACK_INPUTS], scale[ATTACK_INPUTS];
        for (size_t t = 0; t < m->outputs; t++) {
            shift[t] = 5.0 * hfi_stream_normal(s);
            scale[t] = attack_log_between(s, -1.0, 1.0);
        }
        return attack_ok(m, hfi_scaling_set_outputs(m->ctx, scaling, m->outputs, shift, scale),
                         "units");
    }
    if (m->classifier) return true;
    scaling->y_shift = 5.0 * hfi_stream_normal(s);
    scaling->y_scale = attack_log_between(s, -1.0, 1.0);
    return true;
}

/* Measures the size of values: by the root of the largest prior variance among the readings. */
static inline void attack_measure(attack_model *m)
{
    const hfi_solution *s = &m->posterior->solution;
    double most = 1e-6;
    for (size_t i = 0; i < s->n; i++)
        most = fmax(
            most, hfi_kernel_value(m->posterior->kernel, s->z + i * s->d, s->z + i * s->d, false));
    double unit = 0.0;
    for (size_t t = 0; t < m->outputs; t++)
        unit = fmax(unit, hfi_scaling_scale(&m->posterior->scaling, t));
    m->scale = sqrt(most) * unit;
}

static inline void attack_end(attack_model *m)
{
    hf_posterior_workspace_free(m->workspace);
    if (m->classifier)
        hf_classifier_free(m->classifier);
    else
        hf_posterior_free(m->posterior);
    hf_sites_free(m->sites);
    free(m->x);
    free(m->y);
    memset(m, 0, sizeof *m);
}

static inline attack_model attack_begin(hf_context *ctx, uint64_t seed, size_t most)
{
    attack_model m = {.ctx = ctx, .seed = seed, .solver = "exact"};
    hfi_stream_init(&m.stream, seed, HFI_PURPOSE_TEST, 4711);
    m.n = 3 + hfi_stream_below(&m.stream, most - 2);
    if (hfi_stream_below(&m.stream, 12) == 0) m.n *= 4;
    m.inputs = 1 + hfi_stream_below(&m.stream, hfi_stream_below(&m.stream, 3) ? 3 : 6);
    m.outputs = 1;
    return m;
}

/** A posterior of readings; of `most` at most. False with a message where none can be had. */
static inline bool attack_posterior(hf_context *ctx, uint64_t seed, size_t most, attack_model *out)
{
    attack_model m = attack_begin(ctx, seed, most);
    hfi_stream *s = &m.stream;
    m.sharp = hfi_stream_below(s, 5) == 0;
    m.sign = hfi_stream_below(s, 2) ? 1.0 : -1.0;
    m.robust = !m.sharp && hfi_stream_below(s, 2);
    if (!m.sharp && hfi_stream_below(s, 5) == 0) m.outputs = 2 + hfi_stream_below(s, 2);
    m.d = m.inputs + (m.outputs > 1);
    m.x = attack_memory((m.n + 4) * m.d, sizeof *m.x);
    m.y = attack_memory(m.n + 4, sizeof *m.y);
    attack_expression(&m);
    const double noise = m.sharp ? 1e-6 : attack_log_between(s, -4.0, 0.0);
    hf_kernel *kernel = attack_kernel(&m);
    hf_mean *mean = kernel ? attack_mean(&m) : NULL;
    bool ok = mean != NULL;
    if (ok && m.sharp)
        attack_sharpen(&m, kernel, mean, noise);
    else
        attack_readings(&m);
    hf_sites *sites = ok ? attack_sites(&m, m.y, noise, attack_between(s, 0.3, 3.0)) : NULL;
    ok = sites && attack_ok(&m, attack_solve(&m, kernel, mean, sites), "solve");
    if (ok) m.workspace = hf_posterior_workspace_create(ctx, m.posterior);
    ok = ok && m.workspace && attack_units(&m);
    if (ok) attack_measure(&m);
    if (ok && strcmp(m.solver, "exact") == 0)
        m.sites = sites;
    else
        hf_sites_free(sites);
    hf_kernel_free(kernel);
    hf_mean_free(mean);
    for (size_t j = 0; ok && m.sharp && j < m.d; j++) {
        const hfi_scaling *scaling = &m.posterior->scaling;
        m.own.lower[j] = m.own.lower[j] * scaling->x_scale[j] + scaling->x_shift[j];
        m.own.upper[j] = m.own.upper[j] * scaling->x_scale[j] + scaling->x_shift[j];
    }
    if (!ok) attack_end(&m);
    *out = m;
    return ok;
}

/** A classifier of `classes` classes; more than two: softmax. */
static inline bool attack_classifier(hf_context *ctx, uint64_t seed, size_t most, size_t classes,
                                     attack_model *out)
{
    attack_model m = attack_begin(ctx, seed, most);
    hfi_stream *s = &m.stream;
    const bool many = classes > 2;
    size_t *label = attack_memory(m.n + classes, sizeof *label);
    hf_mean *mean = NULL;
    m.n += classes;
    m.d = m.inputs + many;
    m.x = attack_memory(m.n * m.d, sizeof *m.x);
    m.y = attack_memory(m.n, sizeof *m.y);
    if (many)
        snprintf(m.text, sizeof m.text,
                 "coregion(x%zu, outputs=%zu, rank=1, factor=0, own=1)*%.3g*(", m.d, classes,
                 attack_log_between(s, -0.5, 1.0));
    attack_sum(s, m.inputs, 0, m.text);
    if (many) attack_write(m.text, ")");
    for (size_t i = 0; i < m.n; i++) {
        for (size_t j = 0; j < m.inputs; j++) m.x[i * m.inputs + j] = 1.2 * hfi_stream_normal(s);
        const double f = sin(1.5 * m.x[i * m.inputs]) + 0.4 * hfi_stream_normal(s);
        label[i] = i < classes ? i
                               : (size_t)fmin((double)(classes - 1),
                                              fmax(0.0, floor((f + 1.0) * 0.5 * (double)classes)));
    }
    hf_kernel *kernel = attack_kernel(&m);
    hf_status status = !kernel ? HF_ERR_ARGUMENT
                       : many  ? hf_mean_create_outputs(ctx, m.d, classes, &mean)
                               : hf_mean_create(ctx, HF_MEAN_CONSTANT, m.d, &mean);
    const hf_link link = many                     ? HF_LINK_SOFTMAX
                         : hfi_stream_below(s, 2) ? HF_LINK_PROBIT
                                                  : HF_LINK_LOGIT;
    const hf_inference inference =
        many || hfi_stream_below(s, 2) ? HF_INFERENCE_LAPLACE : HF_INFERENCE_EP;
    m.solver = hf_enum_name(HF_ENUM_LINK, link);
    if (status >= 0)
        status = hf_classify_exact(ctx, link, inference, kernel, mean, m.n, m.x, m.inputs, label,
                                   classes, &m.classifier, NULL);
    bool ok = attack_ok(&m, status, "classify");
    if (ok) m.posterior = (hf_posterior *)(uintptr_t)hf_classifier_posterior(m.classifier);
    if (ok) m.workspace = hf_posterior_workspace_create(ctx, m.posterior);
    ok = ok && m.workspace && (many || attack_units(&m));
    m.scale = 1.0;
    hf_kernel_free(kernel);
    hf_mean_free(mean);
    free(label);
    if (!ok) attack_end(&m);
    *out = m;
    return ok;
}

#endif
