/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of a table of labels. */
#include "model/class_model.h"

#include "classify/classify.h"
#include "core/settings.h"
#include "fit/fit.h"
#include "settings/settings.h"

#include <math.h>
#include <string.h>

size_t hfi_class_latents(const hf_model *model)
{
    return hfi_sites_kind_of(model->settings.sites)->every_class ? model->classes : 1;
}

/* ---- what means nothing for labels ---------------------------------------------------------------------------- */

static const char *superfluous_column(const hf_columns *columns)
{
    if (columns->noise != NULL) return "a noise column: labels have no noise variance";
    if (columns->exposure != NULL) return "an exposure column: labels are not counted";
    if (columns->mean != NULL) return "a mean column: a label has no prior mean in its own units";
    if (columns->target_count > 1) return "several targets: a row has one label";
    if (columns->output_column != NULL) return "an output column: a row has one label";
    return NULL;
}

hf_status hfi_class_check(hf_context *ctx, const char *function, const hf_table *table,
                          const hf_columns *columns, const hf_fit_settings *settings)
{
    (void)function;
    (void)table;
    const char *name = hf_enum_name(HF_ENUM_LIKELIHOOD, settings->sites), *what = superfluous_column(columns);
    if (what != NULL) return hfi_refuse(ctx, "%s sites do not go with %s", name, what);
    return hfi_settings_agree(ctx, hf_fit_settings_table(), settings, 1, NULL);
}

/* ---- fit -------------------------------------------------------------------------------------------------------- */

/* Where a classification has no number of that name, there is none in the report either. */
static hf_fit_report fit_report(const hf_class_report *r)
{
    hf_fit_report out = {.readings = r->labels,
                         .missing = r->missing,
                         .stop = r->stop,
                         .evaluations = r->evaluations,
                         .rounds = r->rounds,
                         .objective = r->objective,
                         .log_prior = r->log_prior,
                         .gradient_norm = r->gradient_norm,
                         .at_bound = r->at_bound,
                         .jitter = r->jitter,
                         .condition = NAN,
                         .backward = NAN,
                         .bytes = r->bytes,
                         .seconds = r->seconds,
                         .threshold = INFINITY,
                         .solver = r->solver,
                         .inducing = r->inducing,
                         .residual = NAN,
                         .nu = INFINITY,
                         .benefit = NAN,
                         .gain = NAN,
                         .chance = NAN,
                         .kept = {NAN, NAN},
                         .set_aside = {NAN, NAN},
                         .calibration = 1.0};
    memcpy(out.at_bound_names, r->at_bound_names, sizeof out.at_bound_names);
    return out;
}

/* Labels as the classify room takes them. */
static void give_labels(hf_model *model, size_t *label)
{
    for (size_t i = 0; i < model->n; i++) {
        const bool missing = isnan(model->y[i]);
        label[i] = missing ? HF_LABEL_MISSING : (size_t)model->y[i];
        model->reading[i] = (hf_reading){.weight = missing ? 0.0 : 1.0,
                                         .loo_mean = NAN,
                                         .loo_var = NAN,
                                         .plain_mean = NAN,
                                         .plain_sd = NAN,
                                         .refit_mean = NAN,
                                         .refit_sd = NAN};
    }
}

hf_status hfi_class_learn(hf_context *ctx, hf_model *model, const hf_fit_settings *settings)
{
    size_t *label = hfi_alloc(ctx, model->n, sizeof *label);
    if (label == NULL) return HF_ERR_MEMORY;
    give_labels(model, label);
    const hf_class_data data = {.n = model->n,
                                .d = model->d,
                                .x = model->x,
                                .ldx = model->d,
                                .label = label,
                                .classes = model->classes,
                                .names = (const char *const *)model->feature,
                                .class_names = (const char *const *)model->class_name};
    hf_class_report report = {0};
    const hf_status fitted = hfi_classifier_fit(ctx, &data, settings, false, &model->classifier, &report);
    hfi_free(ctx, label);
    if (fitted < 0) return fitted;
    /* The classifier owns it, and a model changes nothing in its posterior. */
    model->posterior = hfi_classifier_posterior(model->classifier);
    model->report = fit_report(&report);
    hf_status status = HF_OK;
    if (fitted > 0) status = hfi_model_note(ctx, model, "%s", hf_context_message(ctx));
    if (status >= 0) status = hfi_model_keep_settings(ctx, model, settings);
    if (status >= 0 && hfi_class_latents(model) > 1) {
        model->class_input = hfi_model_free_name(ctx, model, "class");
        if (model->class_input == NULL) status = HF_ERR_MEMORY;
    }
    if (status >= 0) status = hfi_model_finish(ctx, model);
    return status < 0 ? status : fitted;
}

/* ---- cost ------------------------------------------------------------------------------------------------------- */

/* Steps of an inference, and evaluations of a training, that are usual. */
static const double usual_steps = 8.0, usual_evaluations = 30.0;

/* Functions, rows and evaluations of a fit. */
typedef struct class_cost {
    const hf_fit_settings *settings;
    double latents, evaluations;
    size_t n, d;
} class_cost;

/* Flops of one evaluation; the exact solver's cost is told whichever is chosen. */
static double exact_evaluation(const class_cost *c, hf_cost *out)
{
    const double rows = (double)c->n, d = (double)c->d, latents = c->latents;
    const double square = rows * rows, cube = square * rows;
    out->exact_bytes = 8.0 * square * (latents == 1.0 ? 2.0 : 2.0 * latents + 4.0 + 2.0 * latents * latents);
    const double each = latents * (usual_steps / 3.0 + 1.0) * cube + 20.0 * latents * square * d;
    out->exact_flops = c->evaluations * each;
    return each;
}

static void exact_cost(const class_cost *c, hf_cost *out)
{
    out->evaluation_flops = exact_evaluation(c, out);
    out->bytes = out->exact_bytes;
    out->flops = out->exact_flops;
}

static void inducing_cost(const class_cost *c, hf_cost *out)
{
    hf_fit_settings like = *c->settings;
    size_t inducing = 0, actions = 0;
    like.solver = out->solver;
    hfi_choose_solver(&like, c->n, c->d, &inducing, &actions);
    inducing = inducing < c->n ? inducing : c->n;
    const double rows = (double)c->n, d = (double)c->d, m = (double)inducing,
                 pass = 2.0 * rows * m * m + 20.0 * rows * m * d;
    (void)exact_evaluation(c, out);
    out->inducing = inducing;
    out->bytes = c->latents * (8.0 * m * (4.0 * m + d) + 8.0 * rows * (d + 16.0));
    out->evaluation_flops = c->latents * (usual_steps + 3.0) * pass;
    out->flops = c->evaluations * out->evaluation_flops;
}

void hfi_class_cost(const hf_model *model, const hf_fit_settings *settings, hf_cost *out)
{
    static void (*const costs[])(const class_cost *, hf_cost *) = {
        [HF_SOLVER_EXACT] = exact_cost, [HF_SOLVER_INDUCING] = inducing_cost};
    class_cost c = {.settings = settings,
                    .latents = hfi_sites_kind_of(settings->sites)->every_class ? (double)model->classes : 1.0,
                    .evaluations =
                        settings->train ? usual_evaluations * (1.0 + (double)settings->restarts) : 1.0,
                    .d = model->d};
    for (size_t i = 0; i < model->n; i++) c.n += isnan(model->y[i]) ? 0 : 1;
    out->training_rows = out->readings = c.n;
    out->solver = hfi_choose_class_solver(settings, c.n);
    costs[out->solver](&c, out);
}
