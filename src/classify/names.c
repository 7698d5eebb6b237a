/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the choices a user has in classification. */
#include "core/core.h"
#include <holdfast/classify.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* In the order of its enum. */
static const char *const links[] = {"probit", "logit", "softmax"};

hf_status hf_link_parse(hf_context *ctx, const char *name, hf_link *out)
{
    size_t index = 0;
    const hf_status s = hfi_choice_parse(ctx, "link", links, COUNT(links), name, out ? &index : NULL);
    if (s == HF_OK) *out = (hf_link)index;
    return s;
}

const char *hf_link_name(hf_link link)
{
    return hfi_choice_name(links, COUNT(links), (size_t)link);
}
