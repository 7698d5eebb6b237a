/* SPDX-License-Identifier: Apache-2.0 */
/* The transform that predicts the readings best, from fits with each. */
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A reading's say in the choice, in nats: wrong ones would have thousands. */
static const double most = 5.0;
/* Standard errors that a transform must be better by. */
static const double margin = 2.0;

enum {
    LEAST = 10 /* readings to choose from */
};

/* What a fit left in the model, and what it says of each reading when it is left out. */
typedef struct candidate {
    hf_transform transform;
    hf_status status;
    hf_posterior *posterior;
    hf_fit_report report;
    hf_reading *reading;
    double *density; /* log density of the reading; NaN where there is none */
    char message[1000];
} candidate;

/* Mean difference of two candidates and its standard error; NaN for fewer than LEAST readings. */
typedef struct comparison {
    double gain, error;
} comparison;

static void candidate_free(hf_context *ctx, candidate *c)
{
    hf_posterior_free(c->posterior);
    hfi_free(ctx, c->reading);
    hfi_free(ctx, c->density);
    *c = (candidate){0};
}

static hf_status densities(hf_context *ctx, const hf_model *model, candidate *c)
{
    const size_t n = model->n;
    double *mean = hfi_alloc(ctx, n, 2 * sizeof *mean);
    if (mean == NULL) return HF_ERR_MEMORY;
    double *sd = mean + n;
    const hf_status status = hfi_model_left_out(ctx, model, mean, sd);
    for (size_t i = 0; i < n && status >= 0; i++) {
        const double y = model->y[i];
        /* At the border of a domain there is a probability and no density. */
        const bool inside = isfinite(hf_transform_log_derivative(c->transform, y));
        c->density[i] = inside ? hf_transform_log_density(c->transform, y, mean[i], sd[i] * sd[i]) : NAN;
    }
    hfi_free(ctx, mean);
    return status;
}

/* The fit passes through the model, which lends its rows. */
static hf_status try_candidate(hf_context *ctx, hf_model *model, const hf_fit_settings *settings,
                               candidate *c)
{
    hf_fit_settings own = *settings;
    own.transform = c->transform;
    c->reading = hfi_alloc(ctx, model->n, sizeof *c->reading);
    c->density = hfi_alloc(ctx, model->n, sizeof *c->density);
    if (c->reading == NULL || c->density == NULL) return HF_ERR_MEMORY;
    hf_status status = hfi_model_fit_rows(ctx, model, &own);
    if (status < 0) return status;
    c->status = status;
    snprintf(c->message, sizeof c->message, "%s", hf_context_message(ctx));
    status = densities(ctx, model, c);
    c->posterior = model->posterior;
    c->report = model->report;
    memcpy(c->reading, model->reading, model->n * sizeof *c->reading);
    model->posterior = NULL;
    return status;
}

/* Readings that both have set aside as wrong have no say. */
static comparison compare(const hf_model *model, const candidate *a, const candidate *b)
{
    double mean = 0.0, squares = 0.0, count = 0.0;
    for (size_t i = 0; i < model->n; i++) {
        const bool wrong = !(a->reading[i].weight > 0.0) && !(b->reading[i].weight > 0.0);
        if (wrong || isnan(a->density[i]) || isnan(b->density[i])) continue;
        const double difference = fmax(-most, fmin(most, a->density[i] - b->density[i]));
        const double from = difference - mean;
        mean += from / ++count;
        squares += from * (difference - mean);
    }
    if (count < LEAST) return (comparison){NAN, NAN};
    return (comparison){mean, sqrt(squares / (count - 1.0) / count)};
}

static bool is_better(comparison c)
{
    return c.gain > margin * c.error;
}

/* "transform: log (leave-one-out density better by 0.31 +- 0.04 nats a reading than with none)" */
static hf_status remark(hf_context *ctx, hf_model *model, const candidate *list, size_t count, size_t best)
{
    const char *name = hf_transform_name(list[best].transform);
    if (count == 1)
        return hfi_model_note(ctx, model,
                              "transform: none (neither sqrt nor log has a place for all readings)");
    if (best > 0) {
        const comparison c = compare(model, &list[best], &list[0]);
        return hfi_model_note(ctx, model,
                              "transform: %s (leave-one-out density better by %.2g +- %.1g nats a reading "
                              "than with none)",
                              name, c.gain, c.error);
    }
    char text[160] = "";
    for (size_t k = 1; k < count; k++) {
        const comparison c = compare(model, &list[k], &list[0]);
        const size_t used = strlen(text);
        if (isnan(c.gain))
            return hfi_model_note(ctx, model, "transform: none (fewer than %d readings to choose from)",
                                  LEAST);
        snprintf(text + used, sizeof text - used, "%s%s by %.2g +- %.1g", k > 1 ? ", " : "",
                 hf_transform_name(list[k].transform), c.gain, c.error);
    }
    return hfi_model_note(ctx, model,
                          "transform: none (no other has a leave-one-out density that is clearly better: %s "
                          "nats a reading)",
                          text);
}

/* From the mildest to the strongest: a stronger one has to be better than the best before it. */
static hf_status choose(hf_context *ctx, hf_model *model, const hf_fit_settings *settings, candidate *list,
                        size_t *best)
{
    hf_status status = HF_OK;
    size_t count = 0;
    *best = 0;
    for (unsigned t = 0; t < HF_TRANSFORM_AUTO && status >= 0; t++) {
        if (!hfi_transform_takes(model, (hf_transform)t)) continue;
        list[count].transform = (hf_transform)t;
        status = try_candidate(ctx, model, settings, &list[count]);
        if (status >= 0 && count > 0 && is_better(compare(model, &list[count], &list[*best]))) *best = count;
        count++;
    }
    return status < 0 ? status : remark(ctx, model, list, count, *best);
}

hf_status hfi_transform_choose(hf_context *ctx, hf_model *model, const hf_fit_settings *settings,
                               hf_transform *chosen)
{
    candidate list[HF_TRANSFORM_AUTO] = {{0}};
    size_t best;
    hf_status status = choose(ctx, model, settings, list, &best);
    if (status >= 0) {
        candidate *c = &list[best];
        double seconds = 0.0;
        for (size_t k = 0; k < HF_TRANSFORM_AUTO; k++) seconds += list[k].report.seconds;
        model->posterior = c->posterior;
        c->posterior = NULL;
        model->report = c->report;
        model->report.seconds = seconds;
        memcpy(model->reading, c->reading, model->n * sizeof *c->reading);
        *chosen = c->transform;
        status = hfi_fail(ctx, c->status, "%s", c->message);
    }
    for (size_t k = 0; k < HF_TRANSFORM_AUTO; k++) candidate_free(ctx, &list[k]);
    return status;
}
