/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel that predicts the readings best, from fits with each. */
#include "model/candidates.h"
#include "settings/settings.h"

#include <string.h>

static bool always(const hf_model *model, const hf_fit_settings *settings)
{
    (void)model;
    (void)settings;
    return true;
}

/* With one input the lengthscale is that of all. */
static bool several_inputs(const hf_model *model, const hf_fit_settings *settings)
{
    (void)settings;
    return model->d > 1;
}

/* A linear mean is a linear term already. */
static bool no_linear_mean(const hf_model *model, const hf_fit_settings *settings)
{
    (void)model;
    return settings->mean != HF_MEAN_LINEAR;
}

/* The first is what a fit takes by itself. */
static const struct kernel_kind {
    const char *expression;
    bool (*considered)(const hf_model *model, const hf_fit_settings *settings);
} kinds[] = {
    {"matern52(ard)", always},
    {"matern52", several_inputs},
    {"matern52(ard) + linear(ard)", no_linear_mean},
    {"matern32(ard)", always},
};

enum {
    KINDS = sizeof kinds / sizeof kinds[0]
};

static const hfi_contest contest = {"kernel", "no other is considered", true};

/* Held values that are not the kernel's. */
static bool is_shared(const char *name)
{
    return strcmp(name, "noise") == 0 || strcmp(name, "threshold") == 0 || strcmp(name, "mean") == 0 ||
           strncmp(name, "mean[", strlen("mean[")) == 0;
}

hf_status hfi_kernel_choice_check(hf_context *ctx, const hf_fit_settings *settings)
{
    if (!hfi_kernel_is_auto(settings->kernel)) return HF_OK;
    for (size_t i = 0; i < settings->set_count; i++)
        if (!is_shared(settings->set[i].name))
            return hfi_refuse(
                ctx, "the kernel auto has no parameter '%s' to hold before it is chosen; name the kernel",
                settings->set[i].name);
    return HF_OK;
}

size_t hfi_kernel_choice_fits(const hf_model *model, const hf_fit_settings *settings)
{
    if (!hfi_kernel_is_auto(settings->kernel)) return 0;
    size_t fits = 0;
    for (size_t k = 0; k < KINDS; k++) fits += kinds[k].considered(model, settings);
    return fits;
}

hf_status hfi_kernel_choose(hf_context *ctx, hf_model *model, const hf_fit_settings *settings,
                            const char **chosen)
{
    hfi_candidate list[KINDS];
    size_t count = 0, best;
    for (size_t k = 0; k < KINDS; k++) {
        if (!kinds[k].considered(model, settings)) continue;
        list[count] = (hfi_candidate){.name = kinds[k].expression, .settings = *settings};
        list[count++].settings.kernel = kinds[k].expression;
    }
    const hf_status status = hfi_candidates_choose(ctx, model, &contest, list, count, &best);
    if (status >= 0) *chosen = list[best].settings.kernel;
    return status;
}
