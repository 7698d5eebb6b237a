/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The influence of one reading that becomes another number, with the sites of its row mates that follow it.
 *
 * A model keeps of each reading its weight, and of its site target and variance. Noise, threshold and
 * centre of the weight are found from these: d = s / weight, or s^2 / (2 beta^2 weight) with an amplitude;
 * z - y = s shift; with r = y - centre, weight = 1 / (1 + r^2 / c^2) and shift = 2 r / (c^2 + r^2), so that
 * r = 2 (1 - weight) / shift. The threshold c is that of the reading of the output whose weight is nearest
 * to a half. A centre that hangs on row mates moves by the difference of hf_outputs_conditional_centre()
 * after and before; where it was before is what the site says. The fit may have taken the readings' own
 * covariance for it in place of the kernel's: that is estimated again, and the one whose centres are nearer
 * to what the sites say is the one.
 */
#include "model/target.h"

#include "objective/samples.h"
#include "outliers/outliers.h"
#include "sites/kind.h"
#include <holdfast/outputs.h>

#include <math.h>
#include <string.h>

/* A weight that is 1 to rounding tells no threshold: such an output has none. */
static const double PLAIN = 1e-10;

/* A reading as the solver has it. */
typedef struct seen {
    size_t output, anchor;
    double y, target, variance, weight, extra, noise; /* noise: s of the reading, extra included */
    double beta;                                      /* 0: the usual amplitude */
} seen;

typedef struct influence_request {
    hf_context *ctx;
    const hf_model *model;
    size_t reading; /* which becomes `y` (solver's units; NaN: not there) */
    double y;
    hfi_samples samples; /* of several outputs */
    size_t sample;       /* in which the reading is */
    double *threshold;   /* of each output; infinite: no robust weights */
    size_t count;        /* sites that change */
    size_t *anchor;
    double *target, *variance; /* user units */
} influence_request;

static bool is_present(const hf_model *model, size_t i)
{
    return model->reading[i].weight > 0.0;
}

static double amplitude(const hf_model *model, size_t output)
{
    const double beta = model->output_beta != NULL ? model->output_beta[output] : model->settings.beta;
    return beta / hfi_scaling_scale(&model->posterior->scaling, output);
}

static double to_solver(const hf_model *model, size_t i, double y)
{
    const size_t output = hfi_model_output_of(model, i);
    return hfi_scaling_target(&model->posterior->scaling, output, y - hfi_model_prior(model, i));
}

/* `anchor`: how many readings before this one have a site. */
static seen gather_reading_facts(const hf_model *model, size_t i, size_t anchor)
{
    const hf_posterior *p = model->posterior;
    const hfi_solution *s = &p->solution;
    seen r = {.output = hfi_model_output_of(model, i), .anchor = anchor};
    double prior;
    hf_mean_evaluate(p->mean, 1, s->z + anchor * s->d, s->d, &prior);
    r.y = to_solver(model, i, model->y[i]);
    r.target = s->residual[anchor] + prior;
    r.variance = s->variance[anchor];
    r.weight = model->reading[i].weight;
    r.beta = hfi_sites_kind_of(model->settings.sites)->weighed ? amplitude(model, r.output) : 0.0;
    r.noise = r.beta > 0.0 ? sqrt(2.0 * r.variance * r.weight) * r.beta : r.variance * r.weight;
    if (model->extra != NULL) r.extra = hfi_scaling_site_variance(&p->scaling, r.output, model->extra[i]);
    return r;
}

/* Residual from the centre of a robust weight. The site's shift tells it well near the centre, the weight far out. */
static double residual_of(const seen *r, double threshold)
{
    const double shift = (r->target - r->y) / r->noise;
    return r->weight > 0.5 ? shift * threshold * threshold / (2.0 * r->weight)
                           : copysign(threshold * sqrt(1.0 / r->weight - 1.0), shift);
}

/* One for each output. */
static void find_thresholds(influence_request *q)
{
    const hf_model *model = q->model;
    const bool robust =
        hfi_sites_kind_of(model->settings.sites)->weighed && model->settings.weighting == HF_OUTPUTS_READING;
    double *nearest = q->threshold + model->outputs; /* to a half */
    for (size_t t = 0; t < model->outputs; t++) {
        q->threshold[t] = INFINITY;
        nearest[t] = 0.5 - PLAIN;
    }
    for (size_t i = 0, anchor = 0; i < model->n && robust; i++) {
        if (!is_present(model, i)) continue;
        const seen r = gather_reading_facts(model, i, anchor++);
        const double away = fabs(r.weight - 0.5), shift = (r.target - r.y) / r.noise;
        if (!(away < nearest[r.output])) continue;
        nearest[r.output] = away;
        q->threshold[r.output] = 2.0 * (1.0 - r.weight) / fabs(shift) * sqrt(r.weight / (1.0 - r.weight));
    }
}

/* ---- the row --------------------------------------------------------------------------------------------- */

/* The model of a row. Arrays are one block. */
typedef struct row_model {
    double *y;                                     /* 2 x T: before and after */
    double *mean, *noise, *covariance;             /* of the kernel */
    double *own_mean, *own_noise, *own_covariance; /* of the readings themselves, without noise */
    double *own_centre;                            /* 2 x T */
} row_model;

/* Readings of the row and the kernel's covariance there; `u` holds 2 d doubles. */
static void describe_row(const influence_request *q, const seen *row, const size_t *reading, double *u,
                         row_model *r)
{
    const hf_model *model = q->model;
    const hf_posterior *p = model->posterior;
    const size_t outputs = model->outputs, d = p->solution.d;
    double *v = u + d;
    hfi_scaling_inputs(&p->scaling, 1, model->x + q->reading * model->width, model->width, u);
    memcpy(v, u, d * sizeof *v);
    for (size_t t = 0; t < outputs; t++) {
        const bool present = reading[t] != SIZE_MAX;
        r->y[t] = present ? row[t].y : NAN;
        r->y[outputs + t] = reading[t] == q->reading ? q->y : r->y[t];
        r->noise[t] = present ? row[t].noise - row[t].extra : 0.0;
        r->mean[t] = hf_mean_get_kind(p->mean) == HF_MEAN_OUTPUTS ? hf_mean_values(p->mean)[t] : 0.0;
        u[d - 1] = (double)t;
        for (size_t s = 0; s < outputs; s++) {
            v[d - 1] = (double)s;
            r->covariance[t * outputs + s] = hfi_kernel_value(p->kernel, u, v, false);
        }
    }
}

/* How far centres before are from those of the sites, in thresholds. */
static double miss(const influence_request *q, const seen *row, const size_t *reading, const double *centre)
{
    double sum = 0.0;
    for (size_t t = 0; t < q->model->outputs; t++) {
        if (reading[t] == SIZE_MAX || isinf(q->threshold[t])) continue;
        const double off = row[t].y - centre[t] - residual_of(&row[t], q->threshold[t]);
        sum += off * off / (q->threshold[t] * q->threshold[t]);
    }
    return sum;
}

/* Location and covariance of all samples as the fit found them; `complete` as hfi_conditional_estimate(). */
static hf_status estimate_again(influence_request *q, row_model *r, size_t *complete)
{
    const hf_model *model = q->model;
    const size_t outputs = model->outputs;
    hfi_samples solver = q->samples; /* but in its units */
    double *block = hfi_alloc(q->ctx, solver.count + 1, outputs * sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    double *eps = block + solver.count * outputs;
    solver.y = block;
    for (size_t t = 0; t < outputs; t++) {
        eps[t] = model->output_eps != NULL ? model->output_eps[t] : model->settings.eps;
        r->own_noise[t] = 0.0;
    }
    for (size_t cell = 0; cell < solver.count * outputs; cell++) {
        const size_t i = solver.reading[cell];
        block[cell] = i != SIZE_MAX && is_present(model, i) ? to_solver(model, i, model->y[i]) : NAN;
    }
    const hf_status status =
        hfi_conditional_estimate(q->ctx, &solver, eps, r->own_mean, r->own_covariance, complete);
    hfi_free(q->ctx, block);
    return status;
}

/* The centres of the readings' own covariance in place of `centre`, if the sites have those. */
static hf_status expect_by_rows(influence_request *q, const seen *row, const size_t *reading, row_model *r,
                                double *centre)
{
    const size_t outputs = q->model->outputs;
    size_t complete = 0;
    hf_status status = estimate_again(q, r, &complete);
    if (status < 0 || complete <= outputs) return status;
    const hf_outputs_model own = {
        .outputs = outputs, .mean = r->own_mean, .covariance = r->own_covariance, .noise = r->own_noise};
    status = hf_outputs_conditional_centre(q->ctx, 2, r->y, outputs, &own, r->own_centre);
    if (status >= 0 && miss(q, row, reading, r->own_centre) < miss(q, row, reading, centre))
        memcpy(centre, r->own_centre, 2 * outputs * sizeof *centre);
    return status;
}

/* Where each output is expected given the others of the row, before and after: 2 x T. */
static hf_status expect(influence_request *q, const seen *row, const size_t *reading, double *centre)
{
    const hf_model *model = q->model;
    const size_t outputs = model->outputs, square = outputs * outputs;
    double *block =
        hfi_alloc(q->ctx, 8 * outputs + 2 * square + 2 * model->posterior->solution.d, sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    row_model r = {.y = block, .own_centre = block + 2 * outputs, .mean = block + 4 * outputs};
    r.noise = r.mean + outputs;
    r.own_mean = r.noise + outputs;
    r.own_noise = r.own_mean + outputs;
    r.covariance = r.own_noise + outputs;
    r.own_covariance = r.covariance + square;
    describe_row(q, row, reading, r.own_covariance + square, &r);
    const hf_outputs_model between = {
        .outputs = outputs, .mean = r.mean, .covariance = r.covariance, .noise = r.noise};
    hf_status status = hf_outputs_conditional_centre(q->ctx, 2, r.y, outputs, &between, centre);
    if (status >= 0 && hfi_conditional_chooses(&model->settings))
        status = expect_by_rows(q, row, reading, &r, centre);
    hfi_free(q->ctx, block);
    return status;
}

/* The site of a reading at `y` whose centre has moved by `moved`, into the question. */
static hf_status change(influence_request *q, const seen *r, double y, double moved)
{
    const hfi_scaling *scaling = &q->model->posterior->scaling;
    const double threshold = q->threshold[r->output];
    double target = y, variance = isnan(y) ? INFINITY : r->variance;
    hf_status status = HF_OK;
    if (!isnan(y) && !isinf(threshold)) {
        const double centre = r->y - residual_of(r, threshold) + moved;
        hf_sites *site = NULL;
        status = hf_sites_robust(q->ctx, 1, &y, r->noise, NULL, &centre, threshold, &site);
        if (status >= 0 && r->beta > 0.0) status = hf_sites_set_beta(q->ctx, site, r->beta);
        if (status >= 0) {
            target = hf_sites_targets(site)[0];
            variance = hf_sites_variances(site)[0];
        }
        hf_sites_free(site);
    }
    const double scale = hfi_scaling_scale(scaling, r->output);
    q->anchor[q->count] = r->anchor;
    q->target[q->count] = hfi_scaling_mean(scaling, r->output, target);
    q->variance[q->count++] = variance * scale * scale;
    return status;
}

/* Whether the other readings of the row follow. */
static bool has_followers(const hf_model *model)
{
    return model->outputs > 1 && hfi_sites_kind_of(model->settings.sites)->weighed &&
           model->settings.centre == HF_CENTRE_CONDITIONAL && model->settings.weighting == HF_OUTPUTS_READING;
}

static hf_status change_row(influence_request *q, const size_t *reading, seen *row, double *centre)
{
    const hf_model *model = q->model;
    const size_t outputs = model->outputs;
    for (size_t i = 0, anchor = 0; i < model->n; i++) {
        if (!is_present(model, i)) continue;
        const size_t t = hfi_model_output_of(model, i);
        if (reading[t] == i) row[t] = gather_reading_facts(model, i, anchor);
        anchor++;
    }
    hf_status status = has_followers(model) ? expect(q, row, reading, centre) : HF_OK;
    for (size_t t = 0; t < outputs && status >= 0; t++) {
        const size_t i = reading[t];
        if (i == SIZE_MAX) continue;
        status = change(q, &row[t], i == q->reading ? q->y : row[t].y, centre[outputs + t] - centre[t]);
    }
    return status;
}

/* New sites of the reading, and of its row mates where these follow. */
static hf_status change_sites(influence_request *q)
{
    const hf_model *model = q->model;
    const size_t outputs = model->outputs;
    size_t *reading = hfi_alloc(q->ctx, outputs, sizeof *reading);
    seen *row = hfi_alloc(q->ctx, outputs, sizeof *row);
    double *centre = hfi_alloc(q->ctx, outputs, 2 * sizeof *centre);
    hf_status status = reading && row && centre ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        for (size_t t = 0; t < outputs; t++) {
            const size_t i = outputs > 1 ? q->samples.reading[q->sample * outputs + t] : q->reading;
            const bool counts = i != SIZE_MAX && is_present(model, i);
            reading[t] = counts && (i == q->reading || has_followers(model)) ? i : SIZE_MAX;
            centre[t] = centre[outputs + t] = 0.0;
        }
        status = change_row(q, reading, row, centre);
    }
    HFI_FREE(q->ctx, reading, row, centre);
    return status;
}

/* ---- the places of an output ----------------------------------------------------------------------------- */

/* The divergence at the places of all readings is that over all of f: there is one output. */
static hf_status of_projected(influence_request *q, double *marginal, double *joint)
{
    double kl;
    const hf_status status =
        hf_influence(q->ctx, q->model->posterior, q->anchor[0], q->target[0], q->variance[0], &kl);
    if (status < 0) return status;
    if (marginal != NULL) *marginal = kl;
    if (joint != NULL) *joint = kl;
    return HF_OK;
}

static hf_status of_output(influence_request *q, size_t t, double *x, double *kl)
{
    const hf_model *model = q->model;
    const size_t width = model->width, outputs = model->outputs;
    size_t m = 0;
    if (outputs == 1) {
        m = model->n;
        memcpy(x, model->x, m * width * sizeof *x);
    }
    for (size_t row = 0; outputs > 1 && row < q->samples.count; row++) {
        size_t i = SIZE_MAX;
        for (size_t s = 0; s < outputs && i == SIZE_MAX; s++) i = q->samples.reading[row * outputs + s];
        memcpy(x + m * width, model->x + i * width, width * sizeof *x);
        x[m++ * width + width - 1] = (double)t;
    }
    return hf_influence_sites(q->ctx, model->posterior, q->count, q->anchor, q->target, q->variance, m, x,
                              width, kl);
}

static hf_status answer(influence_request *q, double *marginal, double *joint)
{
    const hf_model *model = q->model;
    if (!hfi_solver_kind_of(model->posterior->solution.solver)->leaves_out)
        return of_projected(q, marginal, joint);
    double *x = marginal != NULL ? hfi_alloc(q->ctx, model->n, model->width * sizeof *x) : NULL, all = 0.0;
    hf_status status = marginal != NULL && x == NULL ? HF_ERR_MEMORY : HF_OK;
    if (status >= 0)
        status = hf_influence_sites(q->ctx, model->posterior, q->count, q->anchor, q->target, q->variance, 0,
                                    NULL, 0, &all);
    for (size_t t = 0; t < model->outputs && marginal != NULL && status >= 0; t++)
        status = of_output(q, t, x, q->threshold + t); /* thresholds are not needed any more */
    hfi_free(q->ctx, x);
    if (status < 0) return status;
    if (marginal != NULL) memcpy(marginal, q->threshold, model->outputs * sizeof *marginal);
    if (joint != NULL) *joint = all;
    return HF_OK;
}

/* ---- what can be asked ----------------------------------------------------------------------------------- */

static hf_status check_influence_model(hf_context *ctx, const hf_model *model)
{
    const hf_fit_settings *s = &model->settings;
    hf_status status = hfi_transform_deny(ctx, model, "the influence of a reading",
                                          "it is told in the units of what is modelled");
    if (status >= 0) status = hfi_model_check_rows(ctx, model);
    const hfi_solver_kind *kind = hfi_solver_kind_of(model->posterior->solution.solver);
    if (status >= 0 && (model->outputs > 1 || !kind->readings))
        status = hfi_posterior_need_exact(ctx, model->posterior, "the influence of a reading",
                                          model->outputs > 1 ? "fit a sample of the readings with it"
                                                             : "fit with that or the projected solver");
    if (status < 0) return status;
    if (!hfi_sites_kind_of(s->sites)->direct)
        return hfi_refuse(ctx, "the influence of a reading is told of Gaussian and of robust sites; these "
                               "follow no reading alone: they come from an iteration over all of them");
    if (model->outputs > 1 && hfi_sites_kind_of(s->sites)->weighed && s->weighting == HF_OUTPUTS_JOINT)
        return hfi_refuse(ctx, "the influence of a reading is told of weights of single readings and of "
                               "whole outputs, not of whole samples (weighting joint)");
    return HF_OK;
}

static hf_status find_reading(influence_request *q, size_t row, size_t output, double y)
{
    const hf_model *model = q->model;
    if (output >= model->outputs)
        return hfi_refuse(q->ctx, "output %zu of %zu (counted from 0) does not exist", output,
                          model->outputs);
    if (isinf(y)) return hfi_fail(q->ctx, HF_ERR_NOT_FINITE, "the reading would be %g", y);
    const char *name = hf_model_output(model, output);
    for (size_t i = 0; i < model->n; i++) {
        if (model->row[i] != row || hfi_model_output_of(model, i) != output) continue;
        if (!is_present(model, i))
            return hfi_refuse(
                q->ctx, "row %zu of %s has no reading of \"%s\" that counts: it is missing or set aside", row,
                model->source, name);
        q->reading = i;
        q->y = isnan(y) ? y : to_solver(model, i, y);
        return HF_OK;
    }
    return hfi_refuse(q->ctx, "row %zu of %s has no reading of \"%s\"", row, model->source, name);
}

/* Samples are known by their rows in a wide table, by their inputs in a long one. */
static hf_status find_sample(influence_request *q)
{
    const hf_model *model = q->model;
    if (model->outputs == 1) return HF_OK;
    const hf_status status =
        hfi_samples_init(q->ctx, model->n, model->width, model->outputs, model->x, model->y,
                         model->output_column == NULL ? model->row : NULL, NULL, &q->samples);
    if (status < 0) return status;
    const size_t t = hfi_model_output_of(model, q->reading);
    while (q->samples.reading[q->sample * model->outputs + t] != q->reading) q->sample++;
    return HF_OK;
}

hf_status hf_model_influence(hf_context *ctx, const hf_model *model, size_t row, size_t output, double y,
                             double *marginal, double *joint)
{
    if (ctx == NULL || model == NULL) return HFI_REFUSE_NULL(ctx, "hf_model_influence", model);
    if (model->kind->influence == NULL) return hfi_target_lacks(ctx, model, "hf_model_influence");
    return model->kind->influence(ctx, model, row, output, y, marginal, joint);
}

hf_status hfi_outputs_influence(hf_context *ctx, const hf_model *model, size_t row, size_t output, double y,
                                double *marginal, double *joint)
{
    hf_status status = check_influence_model(ctx, model);
    if (status < 0) return status;
    influence_request q = {.ctx = ctx, .model = model, .samples.ctx = ctx};
    const size_t outputs = model->outputs;
    status = find_reading(&q, row, output, y);
    if (status < 0) return status;
    q.threshold = hfi_alloc(ctx, outputs, 4 * sizeof *q.threshold);
    q.anchor = hfi_alloc(ctx, outputs, sizeof *q.anchor);
    status = q.threshold != NULL && q.anchor != NULL ? find_sample(&q) : HF_ERR_MEMORY;
    if (status >= 0) {
        q.target = q.threshold + 2 * outputs;
        q.variance = q.target + outputs;
        find_thresholds(&q);
        status = change_sites(&q);
    }
    if (status >= 0) status = answer(&q, marginal, joint);
    hfi_samples_free(&q.samples);
    HFI_FREE(ctx, q.threshold, q.anchor);
    return status;
}
