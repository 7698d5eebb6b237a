/* SPDX-License-Identifier: Apache-2.0 */
/* A fit's opinion of the readings that were told before it: their weights were decided by a kernel and a
 * noise that it has replaced. */
#include "track/tracked.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KERNEL_BYTES = 4096
};

/* ---- the kernel with its values --------------------------------------------------------------------------------- */

/* Length of text up to the first of `ends` outside of quotes and brackets. */
static size_t length_to(const char *text, const char *ends)
{
    size_t i = 0;
    int depth = 0;
    for (char quote = '\0'; text[i] != '\0'; i++) {
        const char c = text[i];
        if (quote == '\0' && depth == 0 && strchr(ends, c) != NULL) break;
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '\'' || c == '"')
            quote = c;
        else if (strchr("([", c) != NULL)
            depth++;
        else if (strchr(")]", c) != NULL)
            depth--;
    }
    return i;
}

/* "lengthscale[0] ~ 3" of a kernel that has lengthscales. */
static bool is_of_parameter(const hf_kernel *kernel, const char *text, size_t length)
{
    const size_t value = length_to(text, "=~,)"), name = strcspn(text, "[ =~");
    if (value >= length) return false;
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        if (hf_kernel_parameter(kernel, i, &p) >= 0 && strncmp(p.name, text, name) == 0 &&
            (p.name[name] == '\0' || p.name[name] == '['))
            return true;
    }
    return false;
}

/* The first kernel of an expression, behind the numbers in front of it. */
static const char *first_kernel(const char *text)
{
    while (*text != '\0' && !isalpha((unsigned char)*text)) {
        char *end;
        const bool number = isdigit((unsigned char)*text) || *text == '.';
        if (number) (void)strtod(text, &end);
        text = number && end > text ? end : text + 1;
    }
    return text;
}

/* Columns and the like as they are written; every parameter at its value. */
static void write_kernel(const hf_kernel *kernel, tool_line *out)
{
    const char *text = first_kernel(hf_kernel_expression(kernel)), *between = "(";
    const size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
    put(out, "%.*s", (int)name, text);
    text += name;
    text += strspn(text, " ");
    while (*text == '(' || *text == ',') {
        text += 1 + strspn(text + 1, " ");
        const size_t length = length_to(text, ",)");
        if (length > 0 && !is_of_parameter(kernel, text, length)) {
            put(out, "%s%.*s", between, (int)length, text);
            between = ", ";
        }
        text += length;
    }
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        if (hf_kernel_parameter(kernel, i, &p) < 0) continue;
        put(out, "%s%s%c%.4g", between, p.name, p.fixed ? '=' : '~', p.value);
        between = ", ";
    }
    put(out, ")");
}

static bool is_same_kernel(const hf_kernel *a, const hf_kernel *b)
{
    if (hf_kernel_parameters(a) != hf_kernel_parameters(b)) return false;
    for (size_t i = 0; i < hf_kernel_parameters(a); i++) {
        hf_parameter p, q;
        if (hf_kernel_parameter(a, i, &p) < 0 || hf_kernel_parameter(b, i, &q) < 0 ||
            strcmp(p.name, q.name) != 0 || p.fixed != q.fixed ||
            !(fabs(p.value - q.value) <= 1e-3 * fabs(p.value)))
            return false;
    }
    return true;
}

/* An expression of the kernel as it is now; false where there is none that is known to be right, as for sums
 * and products. */
static bool kernel_of_now(const tracked *run, char *text, size_t bytes)
{
    const hf_kernel *kernel = hf_track_kernel(run->track);
    tool_line out = {.text = text, .bytes = bytes}; /* what is cut is no kernel */
    hf_kernel *read = NULL;
    const char **names = calloc(run->d, sizeof *names);
    if (names == NULL) return false;
    for (size_t j = 0; j < run->d; j++) names[j] = hf_track_name(run->track, j);
    write_kernel(kernel, &out);
    const bool same =
        hf_kernel_parse(run->session.ctx, text, names, run->d, &read) >= 0 && is_same_kernel(kernel, read);
    hf_kernel_free(read);
    free(names);
    return same;
}

/* ---- what helps ------------------------------------------------------------------------------------------------- */

/* The kernel as it is now, as a word for the shell, to be freed; NULL where there is none. */
static char *kernel_word(const tracked *run)
{
    char kernel[KERNEL_BYTES] = "";
    if (!kernel_of_now(run, kernel, sizeof kernel)) return NULL;
    return command_of((const char *const[]){kernel, NULL});
}

const char *learnt_options(const tracked *run, char text[LEARNT_BYTES])
{
    char *kernel = kernel_word(run);
    tool_line out = {.text = text, .bytes = LEARNT_BYTES};
    const hf_track_settings *s = hf_track_settings_of(run->track);
    if (kernel != NULL) put(&out, "--kernel %s ", kernel);
    free(kernel);
    put(&out, "--noise %.4g", s->noise);
    if (s->age.kind == HF_AGE_QUADRATIC) put(&out, " --drift %.4g", s->age.rate);
    return text;
}

const char *advised_options(const tracked *learnt, const hf_advice_row *row, char text[LEARNT_BYTES])
{
    char *kernel = kernel_word(learnt);
    tool_line out = {.text = text, .bytes = LEARNT_BYTES};
    put(&out, "--method %s", hf_enum_name(HF_ENUM_TRACK_METHOD, row->method));
    if (kernel != NULL) put(&out, " --kernel %s", kernel);
    free(kernel);
    put(&out, " --noise %.4g", hf_track_settings_of(learnt->track)->noise);
    if (row->law == HF_AGE_WIENER) put(&out, " --age-law %s", hf_enum_name(HF_ENUM_AGE_KIND, row->law));
    if (row->rate > 0.0) put(&out, " --drift %.4g", row->rate);
    if (isfinite(row->window)) put(&out, " --window %.4g", row->window);
    if (isfinite(row->forgetting)) put(&out, " --forgetting %.4g", row->forgetting);
    if (row->queries > 0) put(&out, " --queries %.4g", (double)row->queries);
    return text;
}

bool learnt_kernel(const tracked *learnt, char *text, size_t bytes)
{
    return kernel_of_now(learnt, text, bytes);
}

void warn_of_weights(const tracked *run)
{
    char text[LEARNT_BYTES];
    hf_track_summary summary;
    size_t low = 0;
    hf_track_summary_of(run->track, &summary);
    for (size_t i = 0; i < summary.held; i++) {
        hf_track_reading r;
        if (hf_track_reading_at(run->track, i, &r) >= 0 && r.weight < 0.5) low++;
    }
    if (4 * low <= summary.held) return;
    warn(&run->session,
         "%zu of the %zu readings in memory have a weight below 1/2, decided when they were told, by the "
         "kernel and noise of then. The noise that was learnt is too low if they were right.\n"
         "If they were, tell them all to a new track that doubts nothing and learns from them (refresh "
         "--fit),\n"
         "  holdfast track create ... --robust off %s\n"
         "and then to the one to go on with, made with the options that it says it learnt",
         low, summary.held, learnt_options(run, text));
}
