/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the choices a user has in training. */
#include "core/core.h"
#include "posterior/posterior.h"
#include "settings/settings.h"
#include <holdfast/classify.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* In the orders of their enums. */
static const char *const objectives[] = {"evidence", "loo", "wloo", "weighted", "rcagp"};
static const char *const site_kinds[] = {"gaussian", "robust", "student-t", "pursuit",
                                         "probit",   "logit",  "softmax"};
static const char *const student_methods[] = {"laplace", "ep", "variational"};
static const char *const optimisers[] = {"lbfgs", "adam"};
static const char *const lengthscale_priors[] = {"weak", "dimension"};
static const char *const inferences[] = {"laplace", "ep", "corrected"};
static const char *const transforms[] = {"none", "sqrt", "log", "auto"};
static const char *const treatments[] = {"off", "auto", "force"};

hf_status hf_objective_parse(hf_context *ctx, const char *name, hf_objective *out)
{
    size_t index = 0;
    const hf_status s =
        hfi_choice_parse(ctx, "objective", objectives, COUNT(objectives), name, out ? &index : NULL);
    if (s == HF_OK) *out = (hf_objective)index;
    return s;
}

const char *hf_objective_name(hf_objective objective)
{
    return hfi_choice_name(objectives, COUNT(objectives), (size_t)objective);
}

hf_status hf_site_kind_parse(hf_context *ctx, const char *name, hf_site_kind *out)
{
    size_t index = 0;
    const hf_status s =
        hfi_choice_parse(ctx, "kind of sites", site_kinds, COUNT(site_kinds), name, out ? &index : NULL);
    if (s == HF_OK) *out = (hf_site_kind)index;
    return s;
}

const char *hf_site_kind_name(hf_site_kind kind)
{
    return hfi_choice_name(site_kinds, COUNT(site_kinds), (size_t)kind);
}

bool hfi_site_kind_is_class(hf_site_kind kind)
{
    return kind == HF_SITES_PROBIT || kind == HF_SITES_LOGIT || kind == HF_SITES_SOFTMAX;
}

hf_status hf_suspects_parse(hf_context *ctx, const char *name, hf_suspects *out)
{
    size_t index = 0;
    const hf_status s = hfi_choice_parse(ctx, "treatment of suspects", treatments, COUNT(treatments), name,
                                         out ? &index : NULL);
    if (s == HF_OK) *out = (hf_suspects)index;
    return s;
}

const char *hf_suspects_name(hf_suspects suspects)
{
    return hfi_choice_name(treatments, COUNT(treatments), (size_t)suspects);
}

hf_status hf_prior_kind_parse(hf_context *ctx, const char *name, hf_prior_kind *out)
{
    size_t index = 0;
    const hf_status s = hfi_choice_parse(ctx, "prior of lengthscales", lengthscale_priors,
                                         COUNT(lengthscale_priors), name, out ? &index : NULL);
    if (s == HF_OK) *out = (hf_prior_kind)index;
    return s;
}

const char *hf_prior_kind_name(hf_prior_kind prior)
{
    return hfi_choice_name(lengthscale_priors, COUNT(lengthscale_priors), (size_t)prior);
}

const char *hf_stop_text(hf_stop stop)
{
    switch (stop) {
    case HF_STOP_NOT_TRAINED:
        return "not trained";
    case HF_STOP_CONVERGED:
        return "converged";
    case HF_STOP_ITERATIONS:
        return "evaluation budget used up";
    case HF_STOP_ROUNDOFF:
        return "no further progress in floating point";
    case HF_STOP_LEVEL:
        return "objective no longer changes";
    }
    return "?";
}

hf_status hf_student_method_parse(hf_context *ctx, const char *name, hf_student_method *out)
{
    size_t index = 0;
    const hf_status s = hfi_choice_parse(ctx, "method for Student-t noise", student_methods,
                                         COUNT(student_methods), name, out ? &index : NULL);
    if (s == HF_OK) *out = (hf_student_method)index;
    return s;
}

const char *hf_student_method_name(hf_student_method method)
{
    return hfi_choice_name(student_methods, COUNT(student_methods), (size_t)method);
}

hf_status hf_optimiser_parse(hf_context *ctx, const char *name, hf_optimiser *out)
{
    size_t index = 0;
    const hf_status s =
        hfi_choice_parse(ctx, "optimiser", optimisers, COUNT(optimisers), name, out ? &index : NULL);
    if (s == HF_OK) *out = (hf_optimiser)index;
    return s;
}

const char *hf_optimiser_name(hf_optimiser optimiser)
{
    return hfi_choice_name(optimisers, COUNT(optimisers), (size_t)optimiser);
}

hf_status hf_inference_parse(hf_context *ctx, const char *name, hf_inference *out)
{
    size_t index = 0;
    const hf_status s =
        hfi_choice_parse(ctx, "inference", inferences, COUNT(inferences), name, out ? &index : NULL);
    if (s == HF_OK) *out = (hf_inference)index;
    return s;
}

const char *hf_inference_name(hf_inference inference)
{
    return hfi_choice_name(inferences, COUNT(inferences), (size_t)inference);
}

hf_status hf_transform_parse(hf_context *ctx, const char *name, hf_transform *out)
{
    size_t index = 0;
    const hf_status s =
        hfi_choice_parse(ctx, "transform", transforms, COUNT(transforms), name, out ? &index : NULL);
    if (s == HF_OK) *out = (hf_transform)index;
    return s;
}

const char *hf_transform_name(hf_transform transform)
{
    return hfi_choice_name(transforms, COUNT(transforms), (size_t)transform);
}
