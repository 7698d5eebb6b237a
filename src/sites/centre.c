/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the centres of robust weights. */
#include "sites/sites.h"

#include <string.h>

static const struct {
    hf_centre centre;
    const char *name;
} CENTRES[] = {
    {HF_CENTRE_PRIOR, "prior"}, {HF_CENTRE_LEAVE_ONE_OUT, "loo"}, {HF_CENTRE_NEIGHBOURS, "neighbours"}};

enum {
    CENTRE_COUNT = sizeof CENTRES / sizeof CENTRES[0]
};

hf_status hf_centre_parse(hf_context *ctx, const char *name, hf_centre *out)
{
    if (name == NULL || out == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_centre_parse: %s is NULL", name == NULL ? "name" : "out");
    for (size_t i = 0; i < CENTRE_COUNT; i++) {
        if (strcmp(name, CENTRES[i].name) == 0) {
            *out = CENTRES[i].centre;
            return HF_OK;
        }
    }
    return hfi_fail(ctx, HF_ERR_ARGUMENT, "there is no centre '%.40s'; give prior, loo or neighbours", name);
}

const char *hf_centre_name(hf_centre centre)
{
    for (size_t i = 0; i < CENTRE_COUNT; i++)
        if (CENTRES[i].centre == centre) return CENTRES[i].name;
    return "unknown";
}
