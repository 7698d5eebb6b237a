/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the centres of robust weights. */
#include "sites/sites.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const centres[] = {"prior", "loo", "neighbours",
                                      "conditional"}; /* in the order of hf_centre */

hf_status hf_centre_parse(hf_context *ctx, const char *name, hf_centre *out)
{
    size_t index = 0;
    const hf_status s = hfi_choice_parse(ctx, "centre", centres, COUNT(centres), name, out ? &index : NULL);
    if (s == HF_OK) *out = (hf_centre)index;
    return s;
}

const char *hf_centre_name(hf_centre centre)
{
    return hfi_choice_name(centres, COUNT(centres), (size_t)centre);
}
