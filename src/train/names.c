/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the choices a user has in training. */
#include "core/core.h"
#include <holdfast/train.h>
#include <string.h>

static const char *const objective_names[] = {"evidence", "loo", "wloo"};
static const char *const site_names[] = {"gaussian", "robust"};
static const char *const suspect_names[] = {"off", "auto", "force"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Index of `name`, or an error that lists what is valid. */
static hf_status find(hf_context *ctx, const char *what, const char *const *names, size_t count,
                      const char *name, size_t *index)
{
    for (size_t i = 0; name && i < count; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *index = i;
        return HF_OK;
    }
    char list[128] = "";
    for (size_t i = 0; i < count; i++) {
        if (i > 0) strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, names[i], sizeof list - strlen(list) - 1);
    }
    return hfi_fail(ctx, HF_ERR_ARGUMENT, "unknown %s '%s'; valid are: %s", what, name ? name : "(null)",
                    list);
}

hf_status hf_objective_parse(hf_context *ctx, const char *name, hf_objective *out)
{
    size_t index = 0;
    const hf_status s = find(ctx, "objective", objective_names, COUNT(objective_names), name, &index);
    if (s == HF_OK) *out = (hf_objective)index;
    return s;
}

const char *hf_objective_name(hf_objective objective)
{
    return (size_t)objective < COUNT(objective_names) ? objective_names[objective] : "?";
}

hf_status hf_site_kind_parse(hf_context *ctx, const char *name, hf_site_kind *out)
{
    size_t index = 0;
    const hf_status s = find(ctx, "kind of sites", site_names, COUNT(site_names), name, &index);
    if (s == HF_OK) *out = (hf_site_kind)index;
    return s;
}

const char *hf_site_kind_name(hf_site_kind kind)
{
    return (size_t)kind < COUNT(site_names) ? site_names[kind] : "?";
}

hf_status hf_suspects_parse(hf_context *ctx, const char *name, hf_suspects *out)
{
    size_t index = 0;
    const hf_status s = find(ctx, "treatment of suspects", suspect_names, COUNT(suspect_names), name, &index);
    if (s == HF_OK) *out = (hf_suspects)index;
    return s;
}

const char *hf_suspects_name(hf_suspects suspects)
{
    return (size_t)suspects < COUNT(suspect_names) ? suspect_names[suspects] : "?";
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
    }
    return "?";
}
