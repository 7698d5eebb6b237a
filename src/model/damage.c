/* SPDX-License-Identifier: Apache-2.0 */
/* Damage that bad readings can do to a model's predictions. The sites of its readings follow from what a model keeps:
 * weight, target of the site, threshold and noise. */
#include "model/target.h"

#include "sites/kind.h"

#include <holdfast/certify_uses.h>

#include <math.h>

/* The solver's view of the rows, absent ones NaN; `extra` and `centre` after it. */
static void scale_rows(const hf_model *model, double *y)
{
    const hfi_scaling *scaling = &model->posterior->scaling;
    double *extra = y + model->n;
    for (size_t i = 0; i < model->n; i++) {
        const bool present = model->reading[i].weight > 0.0;
        y[i] =
            present ? (model->y[i] - hfi_model_prior(model, i) - scaling->y_shift) / scaling->y_scale : NAN;
        extra[i] =
            present && model->extra != NULL ? model->extra[i] / (scaling->y_scale * scaling->y_scale) : 0.0;
    }
}

/* Where the weight of a reading is centred. The move of its site tells it well near the centre, its weight
 * far out. */
static double centre_of(double y, double site, double noise, double weight, double threshold)
{
    const double moved = site - y;
    const double away = weight > 0.5 ? moved * threshold * threshold / (2.0 * noise * weight)
                                     : copysign(threshold * sqrt(1.0 / weight - 1.0), moved);
    return y - away;
}

/* The noise variance that the sites were made with, which is not the observed one where that was corrected: d
 * = s / weight, or with an amplitude of the weight function s^2 / (2 beta^2 weight). The reading about whose
 * noise least is known besides tells it best. */
static double noise_of(const hf_model *model, const double *y, const double *extra)
{
    const hf_posterior *p = model->posterior;
    const double beta = model->settings.beta / p->scaling.y_scale;
    double least = INFINITY, noise = p->noise;
    for (size_t i = 0, k = 0; i < model->n; i++) {
        if (isnan(y[i])) continue;
        const double own = p->solution.variance[k++] * model->reading[i].weight;
        if (extra[i] >= least) continue;
        least = extra[i];
        noise = fmax((beta > 0.0 ? sqrt(2.0 * own) * beta : own) - least, 0.0);
    }
    return noise;
}

/* `block`: y, extra, centre and a number for each anchor, of n entries each. */
static hf_status rebuild_sites(hf_context *ctx, const hf_model *model, double *block, hf_sites **out)
{
    const size_t n = model->n;
    const hf_posterior *p = model->posterior;
    const hfi_solution *s = &p->solution;
    double *y = block, *extra = y + n, *centre = extra + n, *prior = centre + n;
    scale_rows(model, y);
    const double noise = noise_of(model, y, extra);
    const double threshold = model->report.threshold / p->scaling.y_scale;
    if (!hfi_sites_kind_of(model->settings.sites)->weighed || !isfinite(threshold))
        return hf_sites_gaussian(ctx, n, y, noise, extra, out);
    hf_mean_evaluate(p->mean, s->n, s->z, s->d, prior);
    for (size_t i = 0, k = 0; i < n; i++) {
        centre[i] = 0.0;
        if (isnan(y[i])) continue;
        centre[i] =
            centre_of(y[i], s->residual[k] + prior[k], noise + extra[i], model->reading[i].weight, threshold);
        k++;
    }
    const hf_status status = hf_sites_robust(ctx, n, y, noise, extra, centre, threshold, out);
    const double beta = model->settings.beta / p->scaling.y_scale;
    return status >= 0 && beta > 0.0 ? hf_sites_set_beta(ctx, *out, beta) : status;
}

static hf_status check_damage_model(hf_context *ctx, const hf_model *model)
{
    if (model->outputs > 1)
        return hfi_refuse(ctx, "what bad readings can do is told of one output; there are %zu",
                          model->outputs);
    hf_status status = hfi_transform_deny(ctx, model, "what bad readings can do",
                                          "it is told in the units of what is modelled");
    if (status < 0) return status;
    status = hfi_posterior_need_exact(ctx, model->posterior, "what bad readings can do",
                                      "fit a sample of the readings with it");
    if (status < 0) return status;
    if (!hfi_sites_kind_of(model->settings.sites)->direct)
        return hfi_refuse(ctx, "what bad readings can do is told of Gaussian and of robust sites; these "
                               "follow no reading alone: they come from an iteration over all of them");
    return HF_OK;
}

hf_status hf_model_contamination_bound(hf_context *ctx, const hf_model *model, size_t count, size_t m,
                                       const double *x, double *damage, size_t *worst)
{
    if (ctx == NULL || model == NULL || x == NULL || damage == NULL)
        return HFI_REFUSE_NULL(ctx, "hf_model_contamination_bound", model, x, damage);
    if (model->kind->damage == NULL) return hfi_target_lacks(ctx, model, "hf_model_contamination_bound");
    return model->kind->damage(ctx, model, count, m, x, damage, worst);
}

hf_status hfi_outputs_damage(hf_context *ctx, const hf_model *model, size_t count, size_t m, const double *x,
                             double *damage, size_t *worst)
{
    hf_status status = check_damage_model(ctx, model);
    if (status < 0) return status;
    hf_sites *sites = NULL;
    double *block = hfi_alloc(ctx, model->n, 4 * sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    status = rebuild_sites(ctx, model, block, &sites);
    hfi_free(ctx, block);
    if (status >= 0)
        status = hf_certify_readings(ctx, model->posterior, sites, count, m, x, model->d, damage,
                                     count == 1 ? worst : NULL);
    for (size_t k = 0; k < m && status >= 0 && worst != NULL && count == 1; k++)
        worst[k] = model->row[worst[k]];
    hf_sites_free(sites);
    return status;
}
