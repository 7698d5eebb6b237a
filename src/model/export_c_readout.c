/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of an exported model, a row for each kind: from the normal distribution of the latent function to what is told. */
#include "classify/classify.h"
#include "model/class_model.h"
#include "model/export_c.h"

#include <holdfast/classify.h>
#include <holdfast/transform.h>
#include <math.h>

/* ---- readings ------------------------------------------------------------------------------------------- */

static bool is_readings(const hf_model *model)
{
    return hfi_model_functions(model) == model->outputs && !model->kind->latent &&
           !hfi_model_has_likelihood(model) && model->settings.transform == HF_TRANSFORM_NONE;
}

static void no_helpers(hfi_emitter *e)
{
    (void)e;
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

static bool is_two_classes(const hf_model *model, hf_link link)
{
    return model->classes == 2 && hfi_model_functions(model) == 1 &&
           hfi_class_link(model->settings.sites) == link;
}

static bool is_probit(const hf_model *model)
{
    return is_two_classes(model, HF_LINK_PROBIT);
}

static bool is_logit(const hf_model *model)
{
    return is_two_classes(model, HF_LINK_LOGIT);
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

static void probit_helpers(hfi_emitter *e)
{
    hfi_emit(e, "\n/* Normal probability of the link, in closed form. */\n"
                "static `_real probability(`_real mean, `_real var)\n{\n    return 0.5@ * erfc$((-mean / "
                "sqrt$(1.0@ + var)) * 0.70710678118654752440@);\n}\n");
}

/* The trapezoidal rule of src/classify/probability.c, with as many points. */
static void logit_helpers(hfi_emitter *e)
{
    hfi_emit(
        e, "\nstatic `_real logistic(`_real u)\n{\n"
           "    return (u > 0.0@) ? (1.0@ / (1.0@ + exp$(-u))) : (exp$(u) / (1.0@ + exp$(u)));\n}\n\n"
           "/* The mean of the logistic function over a normal distribution, by the trapezoidal rule. */\n"
           "static `_real probability(`_real mean, `_real var)\n{\n"
           "    const `_real sd = sqrt$(var), away = -fabs$(mean);\n    `_real sum = 0.0@;\n    int k;\n"
           "    if (sd > 1.0@) {\n        for (k = -152; k <= 152; k++) {\n"
           "            const `_real x = (`_real)k * 0.25@, small = exp$(-fabs$(x)), one = 1.0@ + small;\n"
           "            sum += (small / (one * one)) * (0.5@ * erfc$(((x - away) / sd) * "
           "0.70710678118654752440@));\n        }\n    } else {\n        for (k = -36; k <= 36; k++) {\n"
           "            const `_real t = (`_real)k * 0.25@;\n"
           "            sum += logistic(away + (sd * t)) * exp$((-0.5@ * t * t) - 0.91893853320467274178@);\n"
           "        }\n    }\n    sum *= 0.25@;\n    return (mean > 0.0@) ? (1.0@ - sum) : sum;\n}\n");
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static const char class_fields[] = "    `_real probability; /* of the second class */\n";
static const char class_code[] = "        result->mean = mean;\n        result->sd_latent = sqrt$(latent);\n"
                                 "        result->sd_observed = result->sd_latent;\n"
                                 "        result->probability = probability(mean, latent);\n";
static const char class_comment[] =
    "mean and sd_latent are those of the latent function, sd_observed is sd_latent";

static const hfi_readout readouts[] = {
    {is_readings, "", "mean of the function; sd_latent without the noise, sd_observed of a new reading",
     no_helpers,
     "        result->mean = mean;\n        result->sd_latent = sqrt$(latent);\n"
     "        result->sd_observed = sqrt$(observed);\n",
     expect_readings},
    {is_log, "    `_real median;\n",
     "mean, sd_observed and median of a new reading, whose log was modelled; sd_latent without the noise",
     no_helpers,
     "        result->mean = exp$(mean + (0.5@ * observed));\n"
     "        result->sd_latent = sqrt$(expm1$(latent)) * exp$(mean + (0.5@ * latent));\n"
     "        result->sd_observed = sqrt$(expm1$(observed)) * result->mean;\n"
     "        result->median = exp$(mean);\n",
     expect_log},
    {is_probit, class_fields, class_comment, probit_helpers, class_code, expect_class},
    {is_logit, class_fields, class_comment, logit_helpers, class_code, expect_class},
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

hf_status hfi_export_readout(hf_context *ctx, const hf_model *model, const hfi_readout **out)
{
    if (model->mean_column != NULL)
        return hfi_fail(
            ctx, HF_ERR_ARGUMENT,
            "the model cannot be exported as C: its prior means are a column, which the file has not");
    if (hfi_mean_lifted(model->posterior->mean))
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "the model cannot be exported as C: an expert's mean is part of it");
    for (size_t i = 0; i < sizeof readouts / sizeof readouts[0]; i++)
        if (readouts[i].is(model)) {
            *out = &readouts[i];
            return HF_OK;
        }
    return hfi_fail(ctx, HF_ERR_ARGUMENT, "the model cannot be exported as C: %s", reason(model));
}
