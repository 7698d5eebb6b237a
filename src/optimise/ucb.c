/* SPDX-License-Identifier: Apache-2.0 */
/* mean + beta sd: at one point with its gradient, at many, and where it is largest. */
#include "core/settings.h"
#include "optimise/optimise.h"

#include "posterior/posterior.h"
#include <math.h>
#include <string.h>

enum {
    CHUNK = 4096 /* points that are put together with the inputs behind them at a time */
};

static const hf_posterior *posterior_of_sd(const hf_ucb *bound)
{
    return bound->spread != NULL ? bound->spread : bound->mean;
}

static hf_status check_inputs(hf_context *ctx, const char *whose, const hf_posterior *posterior, size_t d,
                              size_t contexts)
{
    const size_t has = hf_posterior_dimension(posterior);
    if (contexts <= has && has - contexts == d) return HF_OK;
    return hfi_fail(ctx, HF_ERR_DIMENSION,
                    "the posterior of the %s has %zu inputs, but the domain has %zu and %zu follow", whose,
                    has, d, contexts);
}

/* The caller's bound over the defaults, into *bound, which has all its parts and is of points with d inputs. */
static hf_status take_bound(hf_context *ctx, const hf_ucb *given, size_t d, hf_ucb *bound)
{
    hf_status status = hfi_settings_take(ctx, hf_ucb_table(), given, bound);
    if (status < 0) return status;
    if (bound->mean == NULL) return hfi_refuse(ctx, "the bound, or the posterior of its mean, is NULL");
    if (!isfinite(bound->beta))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "beta, %g, is not finite", bound->beta);
    status = check_inputs(ctx, "mean", bound->mean, d, bound->contexts);
    if (status >= 0)
        status = check_inputs(ctx, "standard deviation", posterior_of_sd(bound), d, bound->contexts);
    if (status < 0) return status;
    if (bound->contexts > 0 && bound->context == NULL)
        return hfi_refuse(ctx, "%zu inputs follow the domain's, but their values are NULL", bound->contexts);
    for (size_t k = 0; k < bound->contexts; k++)
        if (!isfinite(bound->context[k]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "value %zu (counted from 0) of the inputs behind the domain's is not finite", k);
    return HF_OK;
}

static void put_together(const hf_ucb *bound, size_t d, const double *x, double *point)
{
    memcpy(point, x, d * sizeof *point);
    if (bound->contexts > 0) memcpy(point + d, bound->context, bound->contexts * sizeof *point);
}

/* gradient += beta d sd / d x = beta d var / d x / (2 sd), which has no value at sd = 0 and none worth having
 * where it overflows. */
static void add_spread(size_t d, double beta, double sd, const double *gradient_var, double *gradient)
{
    const double factor = beta / (2.0 * sd);
    for (size_t j = 0; j < d; j++)
        if (!isfinite(gradient[j] + factor * gradient_var[j])) return;
    for (size_t j = 0; j < d; j++) gradient[j] += factor * gradient_var[j];
}

/* The bound at one point, with workspaces `m` and `v` for its mean and its variance. */
static hf_status bound_at(const hf_ucb *bound, hf_posterior_workspace *m, hf_posterior_workspace *v, size_t d,
                          const double *x, bool want_sd, hfi_ucb_parts *parts, double *gradient_or_null)
{
    const size_t all = d + bound->contexts;
    double *point = hfi_workspace_spare(m, all);
    if (point == NULL) return HF_ERR_ARGUMENT;
    double *gradient_mean = gradient_or_null != NULL ? point + all : NULL;
    const bool uses_sd = bound->beta != 0.0;
    double *gradient_var = gradient_or_null != NULL && uses_sd ? point + 2 * all : NULL;
    const bool same = posterior_of_sd(bound) == bound->mean;
    double var = NAN, *var_out = uses_sd || want_sd ? &var : NULL, middle;
    put_together(bound, d, x, point);
    hf_status status = hf_predict_latent(bound->mean, m, point, &middle, same ? var_out : NULL, gradient_mean,
                                         same ? gradient_var : NULL);
    if (status >= 0 && !same && var_out != NULL)
        status = hf_predict_latent(bound->spread, v, point, NULL, &var, NULL, gradient_var);
    if (status < 0) return status;
    const double sd = sqrt(var);
    const double value = uses_sd ? middle + bound->beta * sd : middle;
    if (!isfinite(value)) return HF_ERR_NOT_FINITE;
    *parts = (hfi_ucb_parts){.value = value, .mean = middle, .sd = sd};
    if (gradient_or_null != NULL) {
        memcpy(gradient_or_null, gradient_mean, d * sizeof *gradient_or_null);
        if (uses_sd) add_spread(d, bound->beta, sd, gradient_var, gradient_or_null);
    }
    return status;
}

hf_status hf_ucb_evaluate(const hf_ucb *bound, hf_posterior_workspace *mean, hf_posterior_workspace *spread,
                          size_t d, const double *x, double *value, double *gradient)
{
    if (x == NULL || value == NULL) return HF_ERR_ARGUMENT;
    hf_ucb own;
    hf_status status = take_bound(NULL, bound, d, &own);
    hfi_ucb_parts parts;
    if (status >= 0) status = bound_at(&own, mean, spread, d, x, false, &parts, gradient);
    if (status >= 0) *value = parts.value;
    return status;
}

/* `x` has all inputs of the posteriors. */
static hf_status add_up(hf_context *ctx, const hf_ucb *bound, size_t m, size_t all, const double *x,
                        double *values, double *var)
{
    const hf_posterior *spread = posterior_of_sd(bound);
    const bool uses_sd = bound->beta != 0.0, same = spread == bound->mean;
    hf_status status = hf_predict(ctx, bound->mean, m, x, all, values, uses_sd && same ? var : NULL, NULL);
    if (status >= 0 && uses_sd && !same) status = hf_predict(ctx, spread, m, x, all, NULL, var, NULL);
    if (status < 0) return status;
    for (size_t i = 0; i < m; i++) {
        if (uses_sd) values[i] += bound->beta * sqrt(var[i]);
        if (!isfinite(values[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "mean + beta sd overflows with beta = %g", bound->beta);
    }
    return status;
}

/* hf_predict() at all points, some at a time. */
static hf_status in_chunks(hf_context *ctx, const hf_ucb *bound, size_t m, size_t d, const double *x,
                           double *values)
{
    const size_t all = d + bound->contexts, chunk = m < CHUNK ? m : CHUNK;
    double *var = hfi_alloc_unset(ctx, chunk, sizeof *var);
    double *rows = bound->contexts > 0 ? hfi_alloc_unset(ctx, chunk, all * sizeof *rows) : NULL;
    hf_status status = var == NULL || (bound->contexts > 0 && rows == NULL) ? HF_ERR_MEMORY : HF_OK;
    for (size_t begin = 0; begin < m && status >= 0; begin += chunk) {
        const size_t count = m - begin < chunk ? m - begin : chunk;
        for (size_t i = 0; rows != NULL && i < count; i++)
            put_together(bound, d, x + (begin + i) * d, rows + i * all);
        status = add_up(ctx, bound, count, all, rows != NULL ? rows : x + begin * d, values + begin, var);
    }
    HFI_FREE(ctx, rows, var);
    return status;
}

/* ---- the place where it is largest --------------------------------------------------------------------- */

typedef struct signed_bound {
    const hf_ucb *bound; /* mean + sign beta sd */
    double sign;         /* the largest sign x bound is looked for: 1, or -1 for the smallest bound */
    hf_posterior_workspace *mean, *spread;
    bool want_sd; /* at the place that is found */
} signed_bound;

static hf_status ucb_evaluate_many(hf_context *ctx, void *of, size_t m, size_t d, const double *x,
                                   double *values)
{
    const signed_bound *f = of;
    const hf_status status = in_chunks(ctx, f->bound, m, d, x, values);
    for (size_t i = 0; i < m && status >= 0; i++) values[i] *= f->sign;
    return status;
}

static hf_status ucb_evaluate_at(void *of, size_t d, const double *x, double *value, double *gradient)
{
    const signed_bound *f = of;
    hfi_ucb_parts parts;
    const hf_status status = bound_at(f->bound, f->mean, f->spread, d, x, false, &parts, gradient);
    if (status < 0) return status;
    *value = f->sign * parts.value;
    for (size_t j = 0; gradient != NULL && j < d; j++) gradient[j] *= f->sign;
    return status;
}

static hf_status ucb_describe(hf_context *ctx, void *of, size_t d, const double *x, hf_argmax *found)
{
    (void)ctx;
    const signed_bound *f = of;
    hfi_ucb_parts parts = {.value = NAN};
    const hf_status status = bound_at(f->bound, f->mean, f->spread, d, x, f->want_sd, &parts, NULL);
    found->value = parts.value;
    found->mean = parts.mean;
    found->sd = parts.sd;
    return status;
}

static hf_status find_ucb_optimum(hf_context *ctx, signed_bound *f, const hf_domain *domain,
                                  const hf_search_settings *settings, size_t guess_count,
                                  const double *guesses, double *x, hf_argmax *found)
{
    const hf_posterior *spread = posterior_of_sd(f->bound);
    const double anchors = (double)hf_posterior_anchors(spread);
    const hfi_surface surface = {.what = "the bound",
                                 .of = f,
                                 .near = f->bound->mean,
                                 .work = anchors * (anchors + (double)domain->dimension),
                                 .many = ucb_evaluate_many,
                                 .at = ucb_evaluate_at,
                                 .describe = ucb_describe};
    f->mean = hf_posterior_workspace_create(ctx, f->bound->mean);
    f->spread = spread == f->bound->mean ? f->mean : hf_posterior_workspace_create(ctx, spread);
    hf_status status = f->mean != NULL && f->spread != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0)
        status = hfi_maximise_surface(ctx, &surface, domain, settings, guess_count, guesses, x, found);
    if (f->spread != f->mean) hf_posterior_workspace_free(f->spread);
    hf_posterior_workspace_free(f->mean);
    return status;
}

hf_status hf_maximise_ucb(hf_context *ctx, const hf_ucb *bound, const hf_domain *domain,
                          const hf_search_settings *settings, size_t guess_count, const double *guesses,
                          double *x, hf_argmax *report)
{
    const double begin = hfi_now();
    hf_argmax found = {.index = 0};
    hf_status status = hfi_maximise_check_call(ctx, domain, settings, guess_count, guesses, x);
    hf_ucb towards;
    if (status >= 0) status = take_bound(ctx, bound, domain->dimension, &towards);
    if (status < 0) return status;
    const double sign = towards.minimise ? -1.0 : 1.0;
    towards.beta *= sign;
    signed_bound f = {.bound = &towards, .sign = sign, .want_sd = report != NULL};
    status = find_ucb_optimum(ctx, &f, domain, settings, guess_count, guesses, x, &found);
    found.seconds = hfi_now() - begin;
    if (status >= 0 && report != NULL) *report = found;
    return status;
}
