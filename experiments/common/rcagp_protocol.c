/* SPDX-License-Identifier: Apache-2.0 */
#include "common/rcagp_protocol.h"
#include "common/draws.h"
#include "common/quantile.h"
#include "common/uci.h"
#include "common/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- data ------------------------------------------------------------------------------------------------ */

typedef struct moments {
    double mean, sd;
} moments;

/* Mean and population sd of column j of both parts. */
static moments measure(size_t n, const double *a, size_t m, const double *b, size_t stride)
{
    moments r = {0.0, 0.0};
    const double count = (double)(n + m);
    for (size_t i = 0; i < n + m; ++i) r.mean += (i < n ? a[i * stride] : b[(i - n) * stride]) / count;
    for (size_t i = 0; i < n + m; ++i) {
        const double e = (i < n ? a[i * stride] : b[(i - n) * stride]) - r.mean;
        r.sd += e * e / count;
    }
    r.sd = r.sd > 0.0 ? sqrt(r.sd) : 1.0;
    return r;
}

static void standardise(size_t n, double *a, size_t stride, moments by)
{
    for (size_t i = 0; i < n; ++i) a[i * stride] = (a[i * stride] - by.mean) / by.sd;
}

/* Median and median absolute deviation of a column. */
static moments robust(size_t n, const double *a, size_t stride, double *scratch)
{
    moments r;
    for (size_t i = 0; i < n; ++i) scratch[i] = a[i * stride];
    r.mean = median_of(scratch, n);
    for (size_t i = 0; i < n; ++i) scratch[i] = fabs(a[i * stride] - r.mean);
    r.sd = median_of(scratch, n);
    return r;
}

static void damage_focused(problem *p, draws *stream, double *scratch)
{
    const moments y = robust(p->n, p->y, 1, scratch);
    for (size_t j = 0; j < p->d; ++j) {
        const moments x = robust(p->n, p->x + j, p->d, scratch);
        for (size_t i = 0; i < p->n; ++i)
            if (p->wrong[i]) p->x[i * p->d + j] = x.mean + 0.1 * draw_uniform(stream) * x.sd;
    }
    for (size_t i = 0; i < p->n; ++i)
        if (p->wrong[i]) p->y[i] -= 3.0 * y.mean + 0.1 * draw_uniform(stream) * y.sd;
}

/* `sd` of all clean targets. The targets are in the units of the file. */
static bool damage_rows(problem *p, const char *kind, double sd, uint64_t seed)
{
    draws stream = {seed * 0x2545f4914f6cdd1du + 1};
    const size_t wanted = (size_t)(0.1 * (double)p->n + 0.5);
    size_t done = 0;
    if (strcmp(kind, "none") == 0) return true;
    double *scratch = malloc(p->n * sizeof *scratch);
    if (!scratch) return false;
    for (size_t i = 0; i < p->n; ++i) {
        if (draw_uniform(&stream) * (double)(p->n - i) >= (double)(wanted - done)) continue;
        p->wrong[i] = true;
        done += 1;
        if (strcmp(kind, "focused") == 0) continue;
        const double shift = sd * (3.0 + 6.0 * draw_uniform(&stream));
        p->y[i] += strcmp(kind, "uniform") == 0 && 2 * done > wanted + 1 ? -shift : shift;
    }
    if (strcmp(kind, "focused") == 0) damage_focused(p, &stream, scratch);
    free(scratch);
    return true;
}

bool rcagp_problem(hf_context *ctx, const char *data, const char *set, const char *kind, long split,
                   long offset, problem *out)
{
    if (!uci_problem(ctx, data, uci_find(set), true, split, offset, HF_CONTAMINATION_NONE, 0.0, out))
        return false;
    const moments y = measure(out->n, out->y, out->m, out->ty, 1);
    moments *x = malloc(out->d * sizeof *x);
    bool ok = x != NULL;
    for (size_t j = 0; ok && j < out->d; ++j) x[j] = measure(out->n, out->x + j, out->m, out->tx + j, out->d);
    ok = ok && damage_rows(out, kind, y.sd, (uint64_t)(offset + 5000 + split));
    for (size_t j = 0; ok && j < out->d; ++j) {
        standardise(out->n, out->x + j, out->d, x[j]);
        standardise(out->m, out->tx + j, out->d, x[j]);
    }
    standardise(out->n, out->y, 1, y);
    standardise(out->m, out->ty, 1, y);
    out->unit = 1.0;
    free(x);
    if (!ok) fputs("out of memory\n", stderr);
    return ok;
}

/* ---- models ---------------------------------------------------------------------------------------------- */

static const char published[] = "SVGP,CaGP,RCSVGP,RCaGP,Student-t,RRP";
static const char ours[] = "default,forced,rcagp,rcsvgp,gp,rcgp,sgpr,svgp,cagp,student-t,rrp";

/* Stands after the name of a preset: the same with an RBF kernel. */
static const char rbf[] = "-se";

/* The preset's name without that ending. */
static bool preset_of(const char *model, char name[16], bool *with_rbf)
{
    const size_t length = strlen(model), ending = sizeof rbf - 1;
    *with_rbf = length > ending && strcmp(model + length - ending, rbf) == 0;
    snprintf(name, 16, "%.*s", (int)(*with_rbf ? length - ending : length), model);
    return words_among(ours, name);
}

bool rcagp_model_is_ours(const char *model)
{
    char name[16];
    bool with_rbf;
    return preset_of(model, name, &with_rbf);
}

bool rcagp_model_known(const char *model)
{
    return rcagp_model_is_ours(model) || words_among(published, model);
}

const char *rcagp_kernel(rcagp_source source, const char *kernel)
{
    return source == RCAGP_TEXT && strcmp(kernel, "matern32") == 0 ? "matern52" : kernel;
}

static const char *expression(const char *kernel)
{
    if (strcmp(kernel, "se") == 0) return "se(iso, lengthscale~0.693147, outputscale~0.693147)";
    return strcmp(kernel, "matern52") == 0 ? "matern52(iso, lengthscale~0.693147, outputscale~0.693147)"
                                           : "matern32(iso, lengthscale~0.693147, outputscale~0.693147)";
}

/* Settings that all published models have in common. */
static hf_fit_settings published_settings(rcagp_source source, const char *kernel, double eps)
{
    hf_fit_settings s = hf_fit_settings_default();
    s.kernel = expression(rcagp_kernel(source, kernel));
    s.noise_start = 0.6931471805599453;
    s.suspects = HF_OUTLIERS_OFF;
    s.calibrate = s.priors = s.standardise = s.consistent_noise = false;
    s.optimiser = HF_OPTIMISER_ADAM;
    s.iterations = 50;
    s.learning_rate = 0.01;
    s.solver = HF_SOLVER_INDUCING;
    s.inducing = source == RCAGP_TEXT ? 25 : 100;
    s.inducing_choice = HF_INDUCING_FIRST;
    s.train_inducing = true;
    s.centre = HF_CENTRE_PRIOR;
    s.threshold_rule = HF_THRESHOLD_QUANTILE;
    s.eps = eps;
    s.rounds = 1;
    return s;
}

/* The library's, for a table that is standardised already, by the moments of its clean readings. */
static hf_status published_preset(hf_context *ctx, rcagp_source source, const char *kernel, double eps,
                                  hf_fit_settings *out)
{
    const hf_status s =
        hf_fit_settings_preset(ctx, source == RCAGP_TEXT ? "rcagp-text" : "rcagp-program", out, sizeof *out);
    if (s < 0) return s;
    out->kernel = expression(rcagp_kernel(source, kernel));
    out->noise_start = out->common_start;
    out->standardise = out->scaled_beta = false;
    out->eps = eps;
    return HF_OK;
}

static hf_status own_settings(hf_context *ctx, const char *model, hf_fit_settings *out)
{
    char name[16];
    bool with_rbf;
    (void)preset_of(model, name, &with_rbf);
    const bool forced = strcmp(name, "forced") == 0;
    const hf_status s = hf_fit_settings_preset(ctx, forced ? "default" : name, out, sizeof *out);
    if (s >= 0 && forced) out->suspects = HF_OUTLIERS_FORCE;
    if (s >= 0 && with_rbf) out->kernel = "se(ard)";
    return s;
}

hf_status rcagp_settings(hf_context *ctx, const char *model, rcagp_source source, const char *kernel,
                         double eps, hf_fit_settings *out)
{
    if (rcagp_model_is_ours(model)) return own_settings(ctx, model, out);
    if (strcmp(model, "RCaGP") == 0) return published_preset(ctx, source, kernel, eps, out);
    *out = published_settings(source, kernel, eps);
    if (source == RCAGP_TEXT && strcmp(model, "SVGP") == 0) out->mean = HF_MEAN_ZERO;
    if (strcmp(model, "RCSVGP") == 0) {
        out->sites = HF_LIKELIHOOD_ROBUST;
        out->beta = 1.0;
        out->objective = HF_OBJECTIVE_RCAGP;
    }
    if (strcmp(model, "CaGP") == 0) {
        out->solver = HF_SOLVER_PROJECTED;
        out->inducing = 0;
        out->train_inducing = false;
        out->actions = source == RCAGP_TEXT ? 25 : 5;
        out->action_kind = HF_ACTIONS_BLOCKS;
        out->action_start = HF_ACTION_START_RANDOM;
        out->train_actions = true;
    }
    if (strcmp(model, "Student-t") == 0) out->sites = HF_LIKELIHOOD_STUDENT_T;
    if (strcmp(model, "RRP") == 0) out->sites = HF_LIKELIHOOD_PURSUIT;
    return HF_OK;
}
