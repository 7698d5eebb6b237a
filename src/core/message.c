/* SPDX-License-Identifier: Apache-2.0 */
/* The context's last message. */
#include "core/context_impl.h"

#include <string.h>

/* Ends a text that did not fit with "..." and never in the middle of a UTF-8 character. */
static void mark_truncated(char *text, size_t bytes)
{
    size_t end = bytes - sizeof "...";
    while (end > 0 && ((unsigned char)text[end] & 0xC0U) == 0x80U) end--;
    memcpy(text + end, "...", sizeof "...");
}

static void set_message(hf_context *ctx, hf_status status, const char *format, va_list args)
{
    if (ctx == NULL) return;
    /* The arguments may include the present message (to add words to it), so it must not be written in place.
     */
    char text[HFI_MESSAGE_BYTES];
    int length = hfi_print_list(text, sizeof text, format, args);
    if (length < 0)
        hfi_print(text, sizeof text, "%s", hf_status_text(status));
    else if ((size_t)length >= sizeof text)
        mark_truncated(text, sizeof text);
    memcpy(ctx->message, text, sizeof text);
}

hf_status hfi_fail(hf_context *ctx, hf_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_message(ctx, status, format, args);
    va_end(args);
    return status;
}

hf_status hfi_refuse(hf_context *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_message(ctx, HF_ERR_ARGUMENT, format, args);
    va_end(args);
    return HF_ERR_ARGUMENT;
}

hf_status hfi_refuse_null(hf_context *ctx, const char *function, const char *names, size_t count,
                          const void *const *arguments)
{
    for (size_t i = 0; i < count; i++) {
        names += strspn(names, ", ");
        const size_t length = strcspn(names, ",");
        if (arguments[i] == NULL) return hfi_refuse(ctx, "%s: %.*s is NULL", function, (int)length, names);
        names += length;
    }
    return hfi_refuse(ctx, "%s: ctx is NULL", function);
}

hf_status hfi_out_of_memory(hf_context *ctx)
{
    return hfi_fail(ctx, HF_ERR_MEMORY, "out of memory");
}

hf_status hfi_cancelled(hf_context *ctx)
{
    return hfi_fail(ctx, HF_ERR_CANCELLED, "cancelled by the progress callback");
}

hf_status hfi_worse(hf_status a, hf_status b)
{
    if (a < 0) return a;
    if (b < 0) return b;
    return a != HF_OK ? a : b;
}
