/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of an exported model, a row for each kind: from the normal distribution of the latent function to
 * what is told. */
#include "classify/classify.h"
#include "export/export_c.h"
#include "model/class_model.h"

#include <holdfast/classify.h>
#include <holdfast/transform.h>
#include <math.h>

/* ---- readings ------------------------------------------------------------------------------------------- */

static bool is_readings(const hf_model *model)
{
    return hfi_model_functions(model) == model->outputs && !model->kind->latent &&
           !hfi_model_has_likelihood(model) && model->settings.transform == HF_TRANSFORM_NONE;
}

static void no_helpers(hfi_emitter *e, const hf_model *model)
{
    (void)e;
    (void)model;
}

static void expect_readings(const hf_model *model, size_t output, const double answer[3], double out[4],
                            double *unit)
{
    out[0] = answer[0];
    out[1] = sqrt(answer[1]);
    out[2] = sqrt(answer[2]);
    *unit = hfi_scaling_scale(&model->posterior->scaling, output);
}

/* ---- the log of a reading ------------------------------------------------------------------------------- */

static bool is_log(const hf_model *model)
{
    return model->settings.transform == HF_TRANSFORM_LOG;
}

static void expect_log(const hf_model *model, size_t output, const double answer[3], double out[4],
                       double *unit)
{
    double latent, observed;
    hf_transform_moments(HF_TRANSFORM_LOG, answer[0], answer[1], NULL, &latent);
    hf_transform_moments(HF_TRANSFORM_LOG, answer[0], answer[2], &out[0], &observed);
    out[1] = sqrt(latent);
    out[2] = sqrt(observed);
    out[3] = exp(answer[0]);
    const double scale = hfi_scaling_scale(&model->posterior->scaling, output);
    *unit = 4.0 * (1.0 + scale) * (1.0 + scale) * hypot(out[0], out[2]);
}

/* ---- two classes ---------------------------------------------------------------------------------------- */

static const char *link_code(const hf_model *model)
{
    return hfi_class_probability_code(hfi_class_link(model->settings.sites));
}

static bool is_two_classes(const hf_model *model)
{
    return model->classes == 2 && hfi_model_functions(model) == 1 && link_code(model) != NULL;
}

static void expect_class(const hf_model *model, size_t output, const double answer[3], double out[4],
                         double *unit)
{
    (void)output;
    out[0] = answer[0];
    out[1] = out[2] = sqrt(answer[1]);
    if (hf_class_probability(hfi_class_link(model->settings.sites), answer[0], answer[1], &out[3], NULL) < 0)
        out[3] = NAN;
    *unit = hfi_scaling_scale(&model->posterior->scaling, 0);
}

static void class_helpers(hfi_emitter *e, const hf_model *model)
{
    hfi_emit(e, "%s", link_code(model));
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static const hfi_readout readouts[] = {
    {.is = is_readings,
     .fields = "",
     .comment = "mean of the function; sd_latent without the noise, sd_observed of a new reading",
     .helpers = no_helpers,
     .code = "        result->mean = (`_real)mean;\n        result->sd_latent = (`_real)sqrt(latent);\n"
             "        result->sd_observed = (`_real)sqrt(observed);\n",
     .expect = expect_readings,
     .check = ""},
    {.is = is_log,
     .fields = "    `_real median;\n",
     .comment =
         "mean, sd_observed and median of a new reading, whose log was modelled; sd_latent without the noise",
     .helpers = no_helpers,
     .code =
         "        const double whole = exp(mean + (0.5 * observed));\n        result->mean = (`_real)whole;\n"
         "        result->sd_latent = (`_real)(sqrt(expm1(latent)) * exp(mean + (0.5 * latent)));\n"
         "        result->sd_observed = (`_real)(sqrt(expm1(observed)) * whole);\n"
         "        result->median = (`_real)exp(mean);\n",
     .expect = expect_log,
     .check = "        bad += differs((double)r.median / unit, want[3] / unit, mean_limit, &mean_most);\n"},
    {.is = is_two_classes,
     .fields = "    `_real probability; /* of the second class */\n",
     .comment = "mean and sd_latent are those of the latent function, sd_observed is sd_latent",
     .helpers = class_helpers,
     .code = "        (void)observed;\n        result->mean = (`_real)mean;\n        result->sd_latent = "
             "(`_real)sqrt(latent);\n"
             "        result->sd_observed = result->sd_latent;\n"
             "        result->probability = (`_real)probability(mean, latent);\n",
     .expect = expect_class,
     .check =
         "        bad += differs((double)r.probability, want[3], mean_limit + var_limit, &mean_most);\n"},
};

static const char *reason(const hf_model *model)
{
    if (hfi_model_has_likelihood(model)) return "it is one of counts or amounts, whose predictions are sums";
    if (model->classes > 2) return "it has more than two classes, whose probabilities are integrals";
    if (model->settings.transform != HF_TRANSFORM_NONE)
        return "its transform sqrt has moments with tails of the normal distribution; log and none can be "
               "exported";
    return "there is no C for its kind of target";
}

bool hfi_export_named(const hf_model *model)
{
    return model->width > model->d;
}

hf_status hfi_export_readout(hf_context *ctx, const hf_model *model, const hfi_readout **out)
{
    if (model->mean_column != NULL)
        return hfi_refuse(
            ctx, "the model cannot be exported as C: its prior means are a column, which the file has not");
    if (hfi_mean_lifted(model->posterior->mean))
        return hfi_refuse(ctx, "the model cannot be exported as C: an expert's mean is part of it");
    for (size_t i = 0; i < sizeof readouts / sizeof readouts[0]; i++)
        if (readouts[i].is(model)) {
            *out = &readouts[i];
            return HF_OK;
        }
    return hfi_refuse(ctx, "the model cannot be exported as C: %s", reason(model));
}
