/* SPDX-License-Identifier: Apache-2.0 */
/* The context of one run of a verb, its warnings and its exit status. */
#include "shell/group.h"
#include "shell/tool.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void warn(const tool_session *session, const char *format, ...)
{
    if (session->quiet) return;
    progress_clear(session->progress);
    va_list args;
    va_start(args, format);
    fputs("holdfast: ", stderr);
    paint(stderr, TOOL_YELLOW, "warning:");
    fputc(' ', stderr);
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
    out->arguments = arguments;
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
    } else if (status < 0 && session->refused == 0) {
        const char *message = hf_context_message(session->ctx);
        code = complain("%s", *message != '\0' ? message : hf_status_text(status));
    }
    hf_context_free(session->ctx);
    if (session->refused != 0 && code == TOOL_OK) code = session->refused;
    /* A full disk is noticed when the last bytes leave the buffer. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == TOOL_OK)
        code = complain("standard output: cannot be written: %s", strerror(errno));
    if (session->kept && code != TOOL_OK)
        complain("the %s has kept what was done all the same: do not repeat it", session->keeper);
    return code;
}

int session_run(const tool_arguments *arguments)
{
    tool_session session;
    const int code = session_open(arguments, &session);
    return code != TOOL_OK ? code : session_close(&session, arguments->verb->work(&session));
}

void session_print(tool_session *session, json_t *value)
{
    if (!json_print(value)) session->refused = TOOL_FAILED;
}

/* ---- what goes wrong in a verb ------------------------------------------------------------------------------ */

hf_status session_refuse(tool_session *session, const char *format, ...)
{
    va_list args;
    progress_clear(session->progress);
    va_start(args, format);
    session->refused = vcomplain(format, args);
    va_end(args);
    return HF_ERR_ARGUMENT;
}

hf_status session_misuse(tool_session *session, const char *format, ...)
{
    va_list args;
    progress_clear(session->progress);
    va_start(args, format);
    session->refused = vusage_error(session->arguments->verb, format, args);
    va_end(args);
    return HF_ERR_ARGUMENT;
}

hf_status session_told(tool_session *session)
{
    session->refused = TOOL_USAGE;
    return HF_ERR_ARGUMENT;
}

hf_status session_refuse_at(tool_session *session, hf_status status, const char *format, ...)
{
    char where[512];
    if (status >= 0 || status == HF_ERR_MEMORY || status == HF_ERR_CANCELLED || session->refused != 0)
        return status;
    va_list args;
    va_start(args, format);
    vsnprintf(where, sizeof where, format, args);
    va_end(args);
    return session_refuse(session, "%s: %s", where, hf_context_message(session->ctx));
}

hf_status session_wrong_word(tool_session *session, const char *option, hf_status status)
{
    if (status >= 0 || status == HF_ERR_MEMORY) return status;
    return session_misuse(session, "--%s: %s", option, hf_context_message(session->ctx));
}

hf_status session_name(tool_session *session, const char *what, const char *name)
{
    if (is_utf8(name)) return HF_OK;
    char *legible = to_utf8(name);
    if (legible == NULL) return HF_ERR_MEMORY;
    const hf_status status = session_refuse(
        session, "%s is called \"%s\" in an encoding that is not UTF-8: write names in UTF-8", what, legible);
    free(legible);
    return status;
}

hf_status session_number(tool_session *session, const char *option, bool needed, double *value)
{
    const char *text = argument(session->arguments, option);
    if (needed && text == NULL) return session_misuse(session, "--%s is missing", option);
    if (!argument_double(session->arguments, option, value)) return session_told(session);
    if (text != NULL && !isfinite(*value))
        return session_misuse(session, "--%s: '%s' is not a finite number", option, text);
    return HF_OK;
}

hf_status session_entries(tool_session *session, uint64_t *entries, uint64_t *after)
{
    const tool_arguments *a = session->arguments;
    if (has_argument(a, "entries") && has_argument(a, "after"))
        return session_misuse(session, "--entries and --after exclude each other");
    if (!argument_seed(a, "entries", entries) || !argument_seed(a, "after", after))
        return session_told(session);
    return *entries > 0 ? HF_OK : session_misuse(session, "--entries: 0 is nothing to take back");
}

const char *output_of(const tool_arguments *arguments)
{
    const char *output = argument(arguments, "output");
    return output != NULL ? output : "-";
}

bool is_standard(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

hf_status session_check_output(tool_session *session, const char *path)
{
    if (!session->json || !is_standard(path)) return HF_OK;
    return session_misuse(session, "--json and the table cannot both go to standard output; add -o OUT.csv");
}

void session_tell_removed(tool_session *session, bool known, uint64_t removed, size_t count,
                          void (*print)(const void *of, size_t i), json_t *(*json)(const void *of, size_t i),
                          const void *of)
{
    const size_t first = removed < count ? count - (size_t)removed : 0;
    session->kept = removed > 0;
    if (session->json) {
        json_t *list = known ? json_array() : json_null();
        for (size_t i = first; i < count; i++) json_array_append_new(list, json(of, i));
        session_print(session, JSON_OF({"removed", json_count(removed)}, {"entries", list}));
        return;
    }
    if (removed == 0)
        puts("There was nothing to take back");
    else if (!known)
        printf("Took back the last %llu entr%s\n", (unsigned long long)removed, removed == 1 ? "y" : "ies");
    for (size_t i = first; i < count; i++) {
        fputs("Took back ", stdout);
        print(of, i);
    }
}

hf_status session_column(tool_session *session, const hf_table *table, const char *name, bool missing,
                         const double **out)
{
    hf_status status = table_numbers(session->ctx, table, name, out);
    for (size_t i = 0; i < hf_table_rows(table) && status >= 0; i++) {
        if (isfinite((*out)[i]) || (missing && isnan((*out)[i]))) continue;
        status =
            session_refuse(session, "%s, line %zu, column \"%s\": the value is %s", hf_table_source(table),
                           hf_table_line(table, i), name, isnan((*out)[i]) ? "missing" : "infinite");
    }
    return status;
}

hf_status table_numbers(hf_context *ctx, const hf_table *table, const char *name, const double **out)
{
    size_t column;
    const hf_status status = hf_table_find(ctx, table, name, &column);
    return status >= 0 ? hf_table_numbers(ctx, table, column, out) : status;
}

const double *table_column(hf_context *ctx, const hf_table *table, const char *name)
{
    const double *numbers;
    return table_numbers(ctx, table, name, &numbers) >= 0 ? numbers : NULL;
}

bool table_has(const hf_table *table, const char *name)
{
    for (size_t j = 0; j < hf_table_columns(table); j++)
        if (strcmp(hf_table_name(table, j), name) == 0) return true;
    return false;
}

hf_status session_variances(tool_session *session, const hf_table *table, const char *name,
                            const double **out)
{
    *out = NULL;
    if (!table_has(table, name)) return HF_OK;
    hf_status status = session_column(session, table, name, true, out);
    for (size_t i = 0; i < hf_table_rows(table) && status >= 0; i++)
        if (!(isnan((*out)[i]) || (*out)[i] > 0.0))
            status = session_refuse(session, "%s, line %zu, column \"%s\": %g is no variance",
                                    hf_table_source(table), hf_table_line(table, i), name, (*out)[i]);
    return status;
}

double variance_at(const double *variances, size_t i)
{
    return variances == NULL || isnan(variances[i]) ? 0.0 : variances[i];
}
