/* SPDX-License-Identifier: Apache-2.0 */
/* The context of one run of a verb, its messages and its exit status. */
#include "group.h"
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int vcomplain(const char *format, va_list args)
{
    fputs("holdfast: ", stderr);
    vsay(stderr, format, args);
    fputc('\n', stderr);
    return TOOL_FAILED;
}

int complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int code = vcomplain(format, args);
    va_end(args);
    return code;
}

void warn(const tool_session *session, const char *format, ...)
{
    if (session->quiet) return;
    progress_clear(session->progress);
    va_list args;
    va_start(args, format);
    fputs("holdfast: warning: ", stderr);
    vsay(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void note(const tool_session *session, const char *format, ...)
{
    if (session->quiet) return;
    progress_clear(session->progress);
    va_list args;
    va_start(args, format);
    fputs("holdfast: ", stderr);
    vsay(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

hf_status warn_status(const tool_session *session, hf_status status)
{
    if (status > 0) warn(session, "%s", hf_context_message(session->ctx));
    return status;
}

int session_open(const tool_arguments *arguments, tool_session *out)
{
    uint64_t seed = 0;
    size_t threads = 0;
    if (!argument_seed(arguments, "seed", &seed) || !argument_size(arguments, "threads", &threads))
        return TOOL_USAGE;
    *out = (tool_session){.quiet = has_argument(arguments, "quiet"), .json = has_argument(arguments, "json")};
    out->ctx = hf_context_create();
    if (out->ctx == NULL) return complain("out of memory");
    hf_context_set_seed(out->ctx, seed);
    if (hf_context_set_threads(out->ctx, (int)threads) < 0) {
        int status = usage_error(arguments->verb, "--threads: %s", hf_context_message(out->ctx));
        hf_context_free(out->ctx);
        return status;
    }
    if (group_join(out->ctx) < 0) {
        int status = complain("%s", hf_context_message(out->ctx));
        hf_context_free(out->ctx);
        return status;
    }
    signal_install();
    out->progress = progress_start(out->ctx, out->quiet);
    return TOOL_OK;
}

int session_close(tool_session *session, hf_status status)
{
    progress_stop(session->progress);
    int code = TOOL_OK;
    int stopped = signal_seen();
    if (status == HF_ERR_CANCELLED && stopped != 0) {
        if (session->checkpoint != NULL)
            complain("stopped; add --resume to go on from %s", session->checkpoint);
        else
            complain("stopped; nothing was written");
        code = 128 + stopped;
    } else if (status < 0) {
        const char *message = hf_context_message(session->ctx);
        code = complain("%s", *message != '\0' ? message : hf_status_text(status));
    }
    hf_context_free(session->ctx);
    /* A full disk is noticed when the last bytes leave the buffer. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == TOOL_OK)
        code = complain("standard output: cannot be written: %s", strerror(errno));
    return code;
}

const double *table_column(hf_context *ctx, const hf_table *table, const char *name)
{
    size_t column;
    const double *numbers;
    if (hf_table_find(ctx, table, name, &column) < 0 || hf_table_numbers(ctx, table, column, &numbers) < 0)
        return NULL;
    return numbers;
}

hf_status suspects_of(hf_context *ctx, const hf_model *model, hf_table **out)
{
    if (hf_model_classes(model) > 0) return HF_OK;
    const hf_status status = hf_model_suspects(ctx, model, out);
    return status == HF_ERR_NO_DATA ? HF_OK : status;
}
