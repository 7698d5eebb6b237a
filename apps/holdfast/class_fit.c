/* SPDX-License-Identifier: Apache-2.0 */
/* Which options a fit of labels has. */
#include "fit_settings.h"

#include <string.h>

bool is_label_sites(hf_site_kind sites)
{
    return sites == HF_SITES_PROBIT || sites == HF_SITES_LOGIT || sites == HF_SITES_SOFTMAX;
}

/* The sites of labels come with settings of their own, which the preset of the same name has. */
int choose_labels(const tool_arguments *arguments, hf_context *ctx, hf_fit_settings *s)
{
    const char *preset = argument(arguments, "preset"), *sites = argument(arguments, "sites");
    const char *name = hf_enum_name(HF_ENUM_SITE_KIND, s->sites),
               *inference = argument(arguments, "inference");
    const bool labels = is_label_sites(s->sites);
    if (labels && preset != NULL && sites != NULL && strcmp(preset, sites) != 0)
        return usage_error(arguments->verb, "--preset %s does not go with --sites %s; leave one out", preset,
                           sites);
    if (labels && hf_fit_settings_preset(ctx, name, s) < 0) return wrong_choice(arguments, ctx, "sites");
    if (inference == NULL) return TOOL_OK;
    if (hf_enum_parse(ctx, HF_ENUM_INFERENCE, inference, (int *)&s->inference) < 0)
        return wrong_choice(arguments, ctx, "inference");
    if (!labels)
        return usage_error(arguments->verb,
                           "--inference: it is about labels; say --sites probit or --sites logit");
    if ((s->sites == HF_SITES_SOFTMAX) == (s->inference == HF_INFERENCE_EP) &&
        s->inference != HF_INFERENCE_LAPLACE)
        return usage_error(arguments->verb, "--inference %s does not go with --sites %s: %s", inference, name,
                           s->sites == HF_SITES_SOFTMAX ? "softmax has corrected and laplace"
                                                        : "two classes have ep and laplace");
    return TOOL_OK;
}

int check_labels(const tool_arguments *arguments, const hf_fit_settings *s)
{
    static const char *const useful[] = {"target",      "features",
                                         "drop",        "kernel",
                                         "mean",        "sites",
                                         "preset",      "inference",
                                         "solver",      "inducing",
                                         "set",         "inducing-method",
                                         "no-train",    "inducing-choice",
                                         "restarts",    "iterations",
                                         "standardise", "dry-run",
                                         "output",      "seed",
                                         "threads",     "json",
                                         "quiet",       "help"};
    if (!is_label_sites(s->sites)) return TOOL_OK;
    for (size_t i = 0; i < arguments->count; i++) {
        const char *name = arguments->list[i].option->name;
        bool found = false;
        for (size_t k = 0; k < sizeof useful / sizeof useful[0] && !found; k++)
            found = strcmp(useful[k], name) == 0;
        if (!found)
            return usage_error(arguments->verb, "--%s: it is about readings, and %s sites are of labels",
                               name, hf_enum_name(HF_ENUM_SITE_KIND, s->sites));
    }
    return TOOL_OK;
}
