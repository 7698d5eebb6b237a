/* SPDX-License-Identifier: Apache-2.0 */
/* Names of choices, to and from their numbers. */
#include "core/core.h"

#include <string.h>

void hfi_choices_text(const char *const *names, size_t count, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used < bytes; i++) {
        const char *separator = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        int written = hfi_print(text + used, bytes - used, "%s%s", separator, names[i]);
        used += written > 0 ? (size_t)written : 0;
    }
}

hf_status hfi_choice_parse(hf_context *ctx, const char *what, const char *const *names, size_t count,
                           const char *name, size_t *index)
{
    if (name == NULL || index == NULL) return hfi_refuse(ctx, "the %s or the place for it is NULL", what);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *index = i;
        return HF_OK;
    }
    char list[384];
    hfi_choices_text(names, count, list, sizeof list);
    return hfi_refuse(ctx, "there is no %s '%.40s'; give %s", what, name, list);
}

const char *hfi_choice_name(const char *const *names, size_t count, size_t index)
{
    return index < count ? names[index] : "unknown";
}
