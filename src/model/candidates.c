/* SPDX-License-Identifier: Apache-2.0 */
/* The settings that predict the readings best, from fits with each. */
#include "model/candidates.h"
#include "model/target.h"
#include "search/explore.h"

#include <math.h>
#include <string.h>

/* Readings to choose from. */
static const size_t least_readings = 10;

static void candidate_free(hf_context *ctx, hfi_candidate *c)
{
    hf_posterior_free(c->posterior);
    HFI_FREE(ctx, c->reading, c->density);
    c->posterior = NULL;
    c->reading = NULL;
    c->density = c->refit = NULL;
}

/* NaN at the border of a domain, where there is a probability and no density. */
static double log_density(hf_transform transform, double y, double mean, double variance)
{
    if (!isfinite(hf_transform_log_derivative(transform, y)) || isnan(mean)) return NAN;
    return hf_transform_log_density(transform, y, mean, variance);
}

static hf_status densities(hf_context *ctx, const hf_model *model, hfi_candidate *c)
{
    const size_t n = model->n;
    const hf_transform transform = c->settings.transform;
    const double kappa = hf_posterior_calibration(model->posterior);
    double *mean = hfi_alloc(ctx, n, 2 * sizeof *mean);
    if (mean == NULL) return HF_ERR_MEMORY;
    double *sd = mean + n;
    const hf_status status = model->kind->left_out(ctx, model, mean, sd);
    for (size_t i = 0; i < n && status >= 0; i++) {
        const hf_reading *r = &model->reading[i];
        const double y = model->y[i];
        c->density[i] = log_density(transform, y, mean[i], sd[i] * sd[i]);
        c->refit[i] = log_density(transform, y, r->refit_mean, kappa * r->refit_sd * r->refit_sd);
    }
    hfi_free(ctx, mean);
    return status;
}

/* The fit passes through the model, which lends its rows. */
static hf_status fit_candidate(hf_context *ctx, hf_model *model, hfi_candidate *c)
{
    if (HFI_ALLOC(ctx, HFI_ROOM(c->reading, model->n), HFI_ROOMS(c->density, model->n, 2)) < 0)
        return HF_ERR_MEMORY;
    c->refit = c->density + model->n;
    hf_status status = hfi_model_fit_rows(ctx, model, &c->settings);
    if (status < 0) return status;
    c->status = status;
    hfi_print(c->message, sizeof c->message, "%s", hf_context_message(ctx));
    status = densities(ctx, model, c);
    c->posterior = model->posterior;
    c->report = model->report;
    memcpy(c->reading, model->reading, model->n * sizeof *c->reading);
    model->posterior = NULL;
    return status;
}

/* NaN where one of them says nothing. */
static double difference(const hfi_candidate *a, const hfi_candidate *b, size_t i)
{
    const double refit = a->refit[i] - b->refit[i];
    return isnan(refit) ? a->density[i] - b->density[i] : refit;
}

/* a over b, paired: differences are clipped, and readings that both set aside have no say. Where
 * both tell it, a reading counts by what hyperparameters trained without it say: those of more
 * parameters follow their readings the more. */
static hfi_gain compare_pair(const hf_model *model, const hfi_candidate *a, const hfi_candidate *b)
{
    hfi_tally gains = {.count = 0.0};
    for (size_t i = 0; i < model->n; i++) {
        const bool wrong = !(a->reading[i].weight > 0.0) && !(b->reading[i].weight > 0.0);
        const double all = difference(a, b, i);
        if (!wrong && !isnan(all)) hfi_tally_add(&gains, hfi_gain_counted(all));
    }
    if (gains.count < (double)least_readings) return (hfi_gain){NAN, NAN};
    return (hfi_gain){gains.mean, hfi_tally_error(&gains)};
}

/* Whether a sets a reading aside that b keeps. */
static bool sets_more_aside(const hf_model *model, const hfi_candidate *a, const hfi_candidate *b)
{
    for (size_t i = 0; i < model->n; i++)
        if (!(a->reading[i].weight > 0.0) && b->reading[i].weight > 0.0) return true;
    return false;
}

static bool is_better(const hf_model *model, const hfi_contest *contest, const hfi_candidate *a,
                      const hfi_candidate *b)
{
    if (contest->keeps && sets_more_aside(model, a, b)) return false;
    const hfi_gain gain = compare_pair(model, a, b);
    return hfi_gain_is_clear(gain.mean, gain.error);
}

/* "transform: log (leave-one-out density better by 0.31 +- 0.04 nats a reading than with none)" */
static hf_status remark(hf_context *ctx, hf_model *model, const hfi_contest *contest,
                        const hfi_candidate *list, size_t count, size_t best)
{
    const char *what = contest->what, *name = list[best].name;
    if (count == 1) return hfi_model_note(ctx, model, "%s: %s (%s)", what, name, contest->none);
    if (best > 0) {
        const hfi_gain gain = compare_pair(model, &list[best], &list[0]);
        return hfi_model_note(
            ctx, model, "%s: %s (leave-one-out density better by %.2g +- %.1g nats a reading than with %s)",
            what, name, gain.mean, gain.error, list[0].name);
    }
    char text[400] = "";
    for (size_t k = 1; k < count; k++) {
        const hfi_gain gain = compare_pair(model, &list[k], &list[0]);
        const size_t used = strlen(text);
        if (isnan(gain.mean))
            return hfi_model_note(ctx, model, "%s: %s (fewer than %zu readings to choose from)", what, name,
                                  least_readings);
        hfi_print(text + used, sizeof text - used, "%s%s by %.2g +- %.1g%s", k > 1 ? ", " : "", list[k].name,
                  gain.mean, gain.error,
                  contest->keeps && sets_more_aside(model, &list[k], &list[0]) ? ", setting more aside" : "");
    }
    return hfi_model_note(
        ctx, model, "%s: %s (no other has a leave-one-out density that is clearly better: %s nats a reading)",
        what, name, text);
}

/* The candidate's fit is the model's. */
static hf_status take_candidate_fit(hf_context *ctx, hf_model *model, hfi_candidate *c, double seconds)
{
    model->posterior = c->posterior;
    c->posterior = NULL;
    model->report = c->report;
    model->report.seconds = seconds;
    memcpy(model->reading, c->reading, model->n * sizeof *c->reading);
    return hfi_fail(ctx, c->status, "%s", c->message);
}

hf_status hfi_candidates_choose(hf_context *ctx, hf_model *model, const hfi_contest *contest,
                                hfi_candidate *list, size_t count, size_t *best)
{
    hf_status status = HF_OK;
    double seconds = 0.0;
    *best = 0;
    for (size_t k = 0; k < count && status >= 0; k++) {
        status = fit_candidate(ctx, model, &list[k]);
        if (status < 0) break;
        seconds += list[k].report.seconds;
        if (k > 0 && is_better(model, contest, &list[k], &list[*best])) *best = k;
    }
    if (status >= 0) status = remark(ctx, model, contest, list, count, *best);
    if (status >= 0) status = take_candidate_fit(ctx, model, &list[*best], seconds);
    for (size_t k = 0; k < count; k++) candidate_free(ctx, &list[k]);
    return status;
}
