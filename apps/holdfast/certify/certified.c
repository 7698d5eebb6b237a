/* SPDX-License-Identifier: Apache-2.0 */
/* The session of a verb about certified ranges, and its table of answers. */
#include "certify/certified.h"
#include "shell/class_rule.h"
#include "shell/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --plot, before any work. */
static hf_status check_files(certified *run)
{
    const char *plot = argument(run->arguments, "plot");
    plot_format format;
    if (plot != NULL && !plot_find_format(plot, &format))
        return MISUSE(run, "--plot: '%s' ends neither in .svg nor in .png nor in .pdf", plot);
    if (plot != NULL && !plot_has_gnuplot())
        return REFUSE(run, "--plot: gnuplot is not installed (Debian: gnuplot-nox)");
    return HF_OK;
}

static hf_status load_certified_model(certified *run)
{
    hf_status status = session_check_output(&run->session, output_of(run->arguments));
    if (status >= 0) status = check_files(run);
    if (status >= 0) status = hf_model_load(run->session.ctx, run->arguments->operand[0], &run->model);
    if (status < 0) return status;
    const hf_transform transform = hf_model_settings_of(run->model)->transform;
    if (transform != HF_TRANSFORM_NONE)
        return REFUSE(run,
                      "%s is a model of the %s of \"%s\" (--transform), and what is certain is told of "
                      "targets as they are; fit without --transform, or to a column of that %s",
                      run->arguments->operand[0], hf_enum_name(HF_ENUM_TRANSFORM, transform),
                      hf_model_target(run->model), hf_enum_name(HF_ENUM_TRANSFORM, transform));
    if (hf_model_mean_column(run->model) != NULL)
        return REFUSE(
            run,
            "%s is a model of \"%s\" less a prior mean that rows bring along (--mean-column %s), which "
            "nobody knows where inputs move; fit without it, or to a column of the difference",
            run->arguments->operand[0], hf_model_target(run->model), hf_model_mean_column(run->model));
    status = take_class_rule(&run->session, run->arguments, run->model);
    if (status < 0) return status;
    run->posterior = hf_model_posterior(run->model);
    run->classifier = hf_model_classifier(run->model);
    run->d = hf_model_features(run->model);
    run->unit = calloc(run->d + 1, sizeof *run->unit);
    if (run->unit == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < run->d; j++) run->unit[j] = 1.0;
    return certified_hold_categories(run);
}

int certified_run(const tool_arguments *arguments)
{
    certified run = {.arguments = arguments};
    const int code = session_open(arguments, &run.session);
    if (code != TOOL_OK) return code;
    hf_status status = load_certified_model(&run);
    if (status >= 0) status = arguments->verb->certify(&run);
    hf_table_free(run.answers);
    hf_table_free(run.training);
    hf_table_free(run.at);
    TOOL_FREE(run.x, run.lower, run.upper, run.unit);
    certified_free_region(&run);
    hf_model_free(run.model);
    return session_close(&run.session, status);
}

hf_status certified_training(certified *run, const hf_table **out)
{
    hf_status status = HF_OK;
    if (run->training == NULL) status = hf_model_training(run->session.ctx, run->model, &run->training);
    *out = run->training;
    return status;
}

/* ---- what is asked about -------------------------------------------------------------------------------------- */

static hf_status find_of(certified *run, size_t *out)
{
    const char *name = argument(run->arguments, "of");
    const size_t classes = hf_model_classes(run->model), outputs = hf_model_outputs(run->model);
    const size_t count = classes > 0 ? classes : outputs;
    *out = classes == 2 ? 1 : 0;
    if (name == NULL) return HF_OK;
    for (int numbers = 0; numbers < 2; numbers++)
        for (size_t k = 0; k < count; k++)
            if (is_label(classes > 0 ? hf_model_class(run->model, k) : hf_model_output(run->model, k), name,
                         numbers)) {
                *out = k;
                return HF_OK;
            }
    return REFUSE(run, "--of: the model has no %s \"%s\"; the first is \"%s\"",
                  classes > 0 ? "class" : "output", name,
                  classes > 0 ? hf_model_class(run->model, 0) : hf_model_output(run->model, 0));
}

#define MIB ((size_t)1 << 20)

/* Time, node and memory limits, where they are given. */
static hf_status take_limits(certified *run, hf_certify_settings *settings)
{
    const hf_status status = session_settings(&run->session, hf_certify_settings_table(), settings);
    run->begun = tool_now();
    if (status < 0 || !has_argument(run->arguments, "memory-limit")) return status;
    if (settings->memory_limit > SIZE_MAX / MIB)
        return MISUSE(run, "--memory-limit: %zu MiB is more than there can be", settings->memory_limit);
    settings->memory_limit *= MIB;
    return status;
}

hf_status certified_settings(certified *run, hf_certify_settings *settings)
{
    const hf_status status = take_limits(run, settings);
    return status >= 0 ? find_of(run, &settings->output) : status;
}

hf_status certified_observed(certified *run, bool observed)
{
    if (observed && run->classifier != NULL) return MISUSE(run, "--observed is for models of readings");
    if (observed && hf_likelihood_has_rate(hf_model_settings_of(run->model)->sites))
        return MISUSE(run, "--observed is not for counts and amounts, whose latent function is the logarithm "
                           "of a rate: predict tells their spread");
    return HF_OK;
}

size_t certified_latent(const certified *run, size_t of)
{
    const bool one = run->classifier != NULL && hf_model_latents(run->model) == 1;
    return one ? 0 : of;
}

/* ---- answers ------------------------------------------------------------------------------------------------ */

hf_status certified_begin(certified *run, size_t rows, const double *points, const char *const *names)
{
    hf_context *ctx = run->session.ctx;
    for (size_t k = 0; names[k] != NULL && points != NULL; k++)
        for (size_t j = 0; j < run->d; j++)
            if (strcmp(names[k], hf_model_feature(run->model, j)) == 0)
                return REFUSE(run, "an input is called \"%s\" like a column of the result; rename it",
                              names[k]);
    hf_table_free(run->answers);
    run->answers = NULL;
    hf_status status = hf_table_create(ctx, rows, &run->answers);
    for (size_t j = 0; j < run->d && points != NULL && status >= 0; j++)
        status = table_set(ctx, run->answers, hf_model_feature(run->model, j), points + j, run->d);
    return status;
}

hf_status certified_numbers(certified *run, const char *const *names, const double *block)
{
    return table_set_all(run->session.ctx, run->answers, names, block);
}

/* Whether an input moves in any box. */
static bool moves(const certified *run, size_t j)
{
    for (size_t k = 0; k < run->m; k++)
        if (run->lower[k * run->d + j] < run->upper[k * run->d + j]) return true;
    return false;
}

hf_status certified_places(certified *run, const char *ending, const double *points)
{
    hf_status status = HF_OK;
    for (size_t j = 0; j < run->d && status >= 0; j++) {
        const char *input = hf_model_feature(run->model, j);
        if (!moves(run, j)) continue;
        char *name = with_ending(input, strlen(input), ending);
        if (name == NULL)
            status = HF_ERR_MEMORY;
        else if (table_has(run->answers, name))
            status = REFUSE(run, "an input is called \"%s\" like a column of the result; rename it", name);
        else
            status = table_set(run->session.ctx, run->answers, name, points + j, run->d);
        free(name);
    }
    return status;
}

hf_status certified_text(certified *run, const char *name, size_t count, const char *const *text,
                         const size_t *choice)
{
    return hf_table_set_text(run->session.ctx, run->answers, name, count, text, choice);
}

hf_status certified_classes(certified *run, const char *name, const size_t *class)
{
    const size_t classes = hf_model_classes(run->model);
    const char **text = calloc(classes + 1, sizeof *text);
    if (text == NULL) return HF_ERR_MEMORY;
    for (size_t c = 0; c < classes; c++) text[c] = hf_model_class(run->model, c);
    const hf_status status = certified_text(run, name, classes, text, class);
    free(text);
    return status;
}

hf_status certified_write(certified *run, const char *path)
{
    progress_clear(run->session.progress);
    return hf_table_write_csv(run->session.ctx, run->answers, path);
}

const char certified_heading[] = " at graph 0,1.05 left font ',14' textcolor '#1d2026'\nset tmargin 3\n";
const char certified_key[] =
    "set key outside right top Left reverse samplen 1.5 spacing 1.2 textcolor '#4a4f57'\n";

hf_status certified_draw(certified *run, plot_writer *writer, const void *data)
{
    const char *path = argument(run->arguments, "plot");
    plot_format format;
    if (path == NULL || !plot_find_format(path, &format)) return HF_OK;
    progress_clear(run->session.progress);
    run->session.refused = plot_draw(run->session.ctx, writer, data, format, path);
    return run->session.refused == TOOL_OK ? HF_OK : HF_ERR_IO;
}

bool certified_is_estimate(const certified *run)
{
    return run->classifier != NULL && hf_certify_is_estimate(run->classifier);
}

void certified_warn_estimate(const certified *run)
{
    warn(&run->session,
         "certificates of %zu classes rest on an estimate, six standard errors of a quadrature, and on no "
         "bound",
         hf_classifier_classes(run->classifier));
}

/* ---- limits ---------------------------------------------------------------------------------------------------- */

hf_certify_settings certified_share(const certified *run, const hf_certify_settings *settings, size_t left)
{
    hf_certify_settings own = *settings;
    /* 0 would be no limit; without any time the box as a whole is bounded. */
    if (own.total_time > 0.0)
        own.total_time = fmax((run->begun + settings->total_time - tool_now()) / (double)left, 1e-9);
    return own;
}

void certified_tell_limits(const certified *run, const hf_certify_settings *settings, size_t by_time,
                           size_t by_memory, size_t all)
{
    const char *boxes = all == 1 ? "box" : "boxes", *rest = "what is told of them is wider, and just as true";
    char own[64] = "", total[64] = "";
    if (settings->time_limit > 0.0)
        (void)snprintf(own, sizeof own, "%g s a box (--time-limit)", settings->time_limit);
    if (settings->total_time > 0.0)
        (void)snprintf(total, sizeof total, "%s%g s for all (--total-time)", own[0] != '\0' ? ", " : "",
                       settings->total_time);
    if (by_time > 0)
        warn(&run->session, "%zu of %zu %s ended at a time limit, %s%s: %s", by_time, all, boxes, own, total,
             rest);
    if (by_memory > 0)
        warn(&run->session, "%zu of %zu %s ended at the memory limit, %zu MiB a box (--memory-limit): %s",
             by_memory, all, boxes, settings->memory_limit / MIB, rest);
}
