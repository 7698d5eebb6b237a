/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the prior means. */
#include "mean/mean.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const kinds[] = {"zero", "constant", "median", "linear",
                                    "outputs"}; /* in the order of hf_mean_kind */

hf_status hf_mean_kind_parse(hf_context *ctx, const char *name, hf_mean_kind *out)
{
    size_t index = 0;
    const hf_status s = hfi_choice_parse(ctx, "prior mean", kinds, COUNT(kinds), name, out ? &index : NULL);
    if (s == HF_OK) *out = (hf_mean_kind)index;
    return s;
}

const char *hf_mean_kind_name(hf_mean_kind kind)
{
    return hfi_choice_name(kinds, COUNT(kinds), (size_t)kind);
}
