/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the prior means. */
#include "mean/mean.h"

#include <string.h>

static const struct {
    hf_mean_kind kind;
    const char *name;
} KINDS[] = {{HF_MEAN_ZERO, "zero"},
             {HF_MEAN_CONSTANT, "constant"},
             {HF_MEAN_MEDIAN, "median"},
             {HF_MEAN_LINEAR, "linear"}};

enum {
    KIND_COUNT = sizeof KINDS / sizeof KINDS[0]
};

hf_status hf_mean_kind_parse(hf_context *ctx, const char *name, hf_mean_kind *out)
{
    if (name == NULL || out == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_mean_kind_parse: %s is NULL",
                        name == NULL ? "name" : "out");
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(name, KINDS[i].name) == 0) {
            *out = KINDS[i].kind;
            return HF_OK;
        }
    }
    return hfi_fail(ctx, HF_ERR_ARGUMENT,
                    "there is no prior mean '%.40s'; give zero, constant, median or linear", name);
}

const char *hf_mean_kind_name(hf_mean_kind kind)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (KINDS[i].kind == kind) return KINDS[i].name;
    return "unknown";
}
