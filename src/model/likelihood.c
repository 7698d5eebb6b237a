/* SPDX-License-Identifier: Apache-2.0 */
/* Models of counts and amounts: latent values become readings. */
#include "model/target.h"

#include "data/text.h"
#include "settings/settings.h"

#include <holdfast/likelihood.h>

#include <math.h>

const char *hf_model_exposure_column(const hf_model *model)
{
    return model != NULL && hfi_model_has_likelihood(model) ? model->mean_column : NULL;
}

hf_status hfi_likelihood_check_columns(hf_context *ctx, const hf_columns *columns,
                                       const hf_fit_settings *settings)
{
    const char *name = hf_enum_name(HF_ENUM_LIKELIHOOD, settings->sites), *what = NULL;
    if (hfi_likelihood_of_rates(settings->sites) == NULL) {
        if (columns->exposure == NULL) return HF_OK;
        return hfi_refuse(ctx, "the exposure column \"%s\" is of counts or amounts, not of %s sites",
                          columns->exposure, name);
    }
    if (columns->mean != NULL) what = "a mean column; give an exposure column";
    if (columns->noise != NULL) what = "a noise column: the likelihood says how readings vary";
    if (what == NULL) return HF_OK;
    return hfi_refuse(ctx, "%s sites do not go with %s", name, what);
}

hf_status hfi_likelihood_check_rows(hf_context *ctx, const hf_model *model, const hf_table *table)
{
    char place[512], shown[HFI_SHOWN_BYTES];
    const hfi_likelihood *l = hfi_likelihood_of_rates(model->settings.sites);
    for (size_t i = 0; l != NULL && i < model->n; i++)
        if (!isnan(model->y[i]) && !hfi_likelihood_allows(l, model->y[i]))
            return hfi_refuse(ctx,
                              "%s, column \"%s\": %s sites take %s, and this is %g; leave the fields of "
                              "wrong readings empty",
                              hfi_row_place(table, model->row[i] - 1, place, sizeof place),
                              hfi_text_shown(model->target, shown), l->name,
                              l->whole ? "counts, whole numbers from 0" : "positive numbers", model->y[i]);
    return HF_OK;
}

static double dispersion_of(const hf_model *model)
{
    return hf_posterior_noise(model->posterior);
}

void hfi_likelihood_reading(const hf_model *model, double mean, double var, double *out_mean, double *out_sd)
{
    hf_reading_moments m = {NAN, NAN, NAN};
    hf_likelihood_moments(model->settings.sites, dispersion_of(model), mean, var, &m);
    *out_mean = m.mean;
    *out_sd = m.sd;
}

static double quantile(const hf_model *model, double mean, double var, double p)
{
    double q = NAN;
    hf_likelihood_quantile(model->settings.sites, dispersion_of(model), mean, var, p, &q);
    return q;
}

void hfi_likelihood_summary(const hf_model *model, double mean, double var, double out[6])
{
    hf_reading_moments m = {NAN, NAN, NAN};
    hf_likelihood_moments(model->settings.sites, dispersion_of(model), mean, var, &m);
    out[0] = m.mean;
    out[1] = m.sd_mean;
    out[2] = m.sd;
    out[3] = quantile(model, mean, var, 0.025);
    out[4] = quantile(model, mean, var, 0.975);
    out[5] = quantile(model, mean, var, 0.5);
}

/* Sums of scores. */
typedef struct score_sums {
    size_t n, inside50, inside90, inside95;
    double away, square, density, crps;
} score_sums;

/* y is between the quantiles of (1 - level) / 2 and (1 + level) / 2, ends included: P(<= y) reaches the
 * lower, and what is below y does not reach the upper one. */
static bool is_inside(double below, double up_to, double level)
{
    return up_to >= 0.5 * (1.0 - level) && below < 0.5 * (1.0 + level);
}

static void score_row(const hf_model *model, double y, double mean, double var, score_sums *s)
{
    const hf_likelihood sites = model->settings.sites;
    const bool whole = hfi_likelihood_of_rates(sites)->whole;
    const double dispersion = dispersion_of(model);
    double reading = NAN, sd = NAN, crps = NAN, density = -INFINITY, up_to = NAN, below = NAN;
    hfi_likelihood_reading(model, mean, var, &reading, &sd);
    if (hf_likelihood_log_score(sites, dispersion, mean, var, y, &density) < 0) density = -INFINITY;
    hf_likelihood_crps(sites, dispersion, mean, var, y, &crps);
    hf_likelihood_cumulative(sites, dispersion, mean, var, y, &up_to);
    below = up_to;
    if (whole) hf_likelihood_cumulative(sites, dispersion, mean, var, ceil(y) - 1.0, &below);
    s->n++;
    s->away += fabs(y - quantile(model, mean, var, 0.5));
    s->square += (y - reading) * (y - reading);
    s->density += density;
    s->crps += crps;
    s->inside50 += is_inside(below, up_to, 0.5);
    s->inside90 += is_inside(below, up_to, 0.9);
    s->inside95 += is_inside(below, up_to, 0.95);
}

static hf_status score_regression_rows(hf_context *ctx, const hf_model *model, size_t n, const double *y,
                                       const double *mean, const double *sd, hf_metrics *out)
{
    score_sums s = {0};
    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i]) || isnan(mean[i]) || isnan(sd[i])) continue;
        score_row(model, y[i], mean[i], sd[i] * sd[i], &s);
        if (!hfi_progress(ctx, "score", (double)i / (double)n, NAN)) return hfi_cancelled(ctx);
    }
    if (s.n == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "no row has both a target and a prediction");
    const double count = (double)s.n;
    *out = (hf_metrics){.n = s.n,
                        .mae = s.away / count,
                        .rmse = sqrt(s.square / count),
                        .nlpd = -s.density / count,
                        .coverage50 = (double)s.inside50 / count,
                        .coverage90 = (double)s.inside90 / count,
                        .coverage95 = (double)s.inside95 / count,
                        .crps = s.crps / count};
    return s.n < n ? HF_WARN_ROWS_SKIPPED : HF_OK;
}

hf_status hfi_model_metrics(hf_context *ctx, const hf_model *model, size_t n, const double *y,
                            const double *mean, const double *sd, hf_metrics *out)
{
    return hfi_model_has_likelihood(model)
               ? score_regression_rows(ctx, model, n, y, mean, sd, out)
               : hf_metrics_transformed(ctx, n, model->settings.transform, y, mean, sd, out);
}
