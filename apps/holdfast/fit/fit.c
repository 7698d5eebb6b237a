/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast fit */
#include "fit/fit_settings.h"
#include "report/report.h"
#include "shell/group.h"

#include <math.h>
#include <sys/stat.h>

/* Everything a fit holds, so that it can be let go in one place. */
typedef struct fit_job {
    tool_session session;
    const tool_arguments *arguments;
    fit_settings settings;
    tool_names targets, features, drop;
    hf_table *table, *suspects;
    hf_model *model;
    tool_quality quality;
} fit_job;

static void job_free(fit_job *job)
{
    quality_free(&job->quality);
    hf_table_free(job->suspects);
    hf_model_free(job->model);
    hf_table_free(job->table);
    names_free(&job->drop);
    names_free(&job->features);
    names_free(&job->targets);
    fit_settings_free(&job->settings);
}

/* A column of that very name is one target, though as a list it could be several or have quotes around it. */
static bool is_one_column(const fit_job *job)
{
    size_t column;
    return job->table == NULL ||
           hf_table_find(job->session.ctx, job->table, argument(job->arguments, "target"), &column) >= 0;
}

static hf_columns columns_of(const fit_job *job)
{
    hf_columns columns = {.size = sizeof columns,
                          .features = job->features.list,
                          .feature_count = job->features.count,
                          .drop = job->drop.list,
                          .drop_count = job->drop.count,
                          .noise = argument(job->arguments, "noise-column"),
                          .exposure = argument(job->arguments, "exposure"),
                          .mean = argument(job->arguments, "mean-column"),
                          .output_column = argument(job->arguments, "output-column"),
                          .text_inputs = !has_argument(job->arguments, "numbers-only")};
    if (is_one_column(job)) {
        columns.target = argument(job->arguments, "target");
    } else {
        columns.targets = job->targets.list;
        columns.target_count = job->targets.count;
    }
    return columns;
}

/* ---- what it will take ----------------------------------------------------------------------- */

/* "projected solver with at most 64 actions beyond 256 inducing inputs" */
static void solver_in_words(const hf_cost *cost, hf_actions kind, char *text, size_t bytes)
{
    char actions[64] = "", inducing[64] = "";
    const bool krylov = kind == HF_ACTIONS_KRYLOV && cost->inducing > 0;
    if (cost->actions > 0 && kind != HF_ACTIONS_INDUCING)
        snprintf(actions, sizeof actions, " with %s%zu action%s", krylov ? "at most " : "", cost->actions,
                 plural(cost->actions));
    if (cost->inducing > 0)
        snprintf(inducing, sizeof inducing, " %s %zu inducing input%s", *actions != '\0' ? "beyond" : "with",
                 cost->inducing, plural(cost->inducing));
    snprintf(text, bytes, "%s solver%s%s", hf_enum_name(HF_ENUM_SOLVER, cost->solver), actions, inducing);
}

/* `columns`: the description of the columns for JSON, a reference that is used up; or NULL. */
static bool print_cost(const fit_job *job, const hf_cost *cost, json_t *columns)
{
    const double rate = flops_per_second(job->session.ctx), seconds = cost->flops / rate;
    if (job->session.json)
        return json_print(JSON_OF(
            {"columns", columns}, {"readings", json_count(cost->readings)},
            {"inputs", json_count(cost->inputs)},
            {"solver", json_string(hf_enum_name(HF_ENUM_SOLVER, cost->solver))},
            {"inducing", json_count(cost->inducing)}, {"actions", json_count(cost->actions)},
            {"training_rows", json_count(cost->training_rows)}, {"bytes", json_number(cost->bytes)},
            {"available_bytes", json_number(cost->available_bytes)},
            {"evaluation_flops", json_number(cost->evaluation_flops)}, {"flops", json_number(cost->flops)},
            {"seconds", json_number(seconds)}, {"exact_bytes", json_number(cost->exact_bytes)},
            {"fits", json_boolean(cost->bytes <= cost->available_bytes)}));
    char solver[128], time[TOOL_WORDS];
    solver_in_words(cost, job->settings.settings.action_kind, solver, sizeof solver);
    const size_t outputs = job->targets.count;
    printf("%zu readings of %zu inputs", cost->readings, cost->inputs);
    if (outputs > 1) printf(" and %zu outputs", outputs);
    printf("\nsolver       %s\n", solver);
    if (cost->training_rows < cost->readings)
        printf("training     on a random share of %zu readings\n", cost->training_rows);
    printf("memory       %.4g MB (%.0f bytes), %.4g MB available\n"
           "evaluation   %.3g flops for the objective and its gradient\n"
           "whole fit    about %.3g flops",
           cost->bytes / 1e6, cost->bytes, cost->available_bytes / 1e6, cost->evaluation_flops, cost->flops);
    if (isfinite(seconds)) printf(", some %s on this machine", time_in_words(seconds, time));
    putchar('\n');
    return true;
}

static int dry_run(fit_job *job)
{
    hf_columns columns = columns_of(job);
    hf_cost cost;
    hf_table *described = NULL;
    hf_status status =
        hf_fit_columns(job->session.ctx, job->table, &columns, &job->settings.settings, &described);
    if (status < 0) return session_close(&job->session, status);
    bool shown = job->session.json || print_columns(stdout, described);
    status = hf_fit_cost(job->session.ctx, job->table, &columns, &job->settings.settings, &cost);
    json_t *list = status >= 0 && job->session.json ? json_described(described) : NULL;
    hf_table_free(described);
    if (status < 0) return session_close(&job->session, status);
    bool printed = print_cost(job, &cost, list) && shown, fits = cost.bytes <= cost.available_bytes;
    int code = session_close(&job->session, HF_OK);
    if (!printed) return TOOL_FAILED;
    if (fits) return code;
    return complain(
        "a fit of %zu readings with the %s solver needs %.0f bytes of memory, %.0f are available; %s",
        cost.readings, hf_enum_name(HF_ENUM_SOLVER, cost.solver), cost.bytes, cost.available_bytes,
        solver_words_of(cost.solver)->smaller);
}

/* A user who did not choose a solver is told which it will be, and what the exact one would have taken. */
static hf_status announce(const fit_job *job)
{
    if (job->settings.settings.solver != HF_SOLVER_AUTO) return HF_OK;
    hf_columns columns = columns_of(job);
    hf_cost cost;
    const hf_status status =
        hf_fit_cost(job->session.ctx, job->table, &columns, &job->settings.settings, &cost);
    if (status < 0 || cost.solver == HF_SOLVER_EXACT || job->session.quiet) return status;
    char solver[128], bytes[TOOL_WORDS], time[TOOL_WORDS];
    solver_in_words(&cost, job->settings.settings.action_kind, solver, sizeof solver);
    bytes_in_words(cost.exact_bytes, bytes);
    const double seconds = cost.exact_flops / flops_per_second(job->session.ctx);
    if (cost.exact_bytes > cost.available_bytes)
        note(&job->session, "%zu readings: %s; --solver exact would need %s of memory", cost.readings, solver,
             bytes);
    else if (isfinite(seconds))
        note(&job->session, "%zu readings: %s; --solver exact would take about %s and %s", cost.readings,
             solver, bytes, time_in_words(seconds, time));
    else
        note(&job->session, "%zu readings: %s; --solver exact would take about %s", cost.readings, solver,
             bytes);
    return status;
}

/* ---- fit ------------------------------------------------------------------------------------- */

static void show_notes(const fit_job *job)
{
    const char *checkpoint = hf_model_report_of(job->model)->checkpoint_warning;
    for (size_t i = 0; i < hf_model_notes(job->model); i++)
        warn(&job->session, "%s", hf_model_note(job->model, i));
    if (*checkpoint != '\0') warn(&job->session, "%s", checkpoint);
}

static int show_result(fit_job *job)
{
    const char *output = argument(job->arguments, "output");
    progress_clear(job->session.progress);
    show_notes(job);
    if (job->session.json) {
        json_t *json = json_model(job->model, job->suspects, &job->quality);
        JSON_ADD(json, {"model", json_text(output)});
        if (!json_print(json)) return TOOL_FAILED;
    } else {
        report_model(stdout, job->model, job->suspects, &job->quality);
        if (output != NULL)
            say(stdout, "\nSaved as %s\n", output);
        else
            printf("\nNot saved; add -o MODEL.hf to keep the model.\n");
    }
    return TOOL_OK;
}

static hf_status fit_job_model(fit_job *job)
{
    hf_context *ctx = job->session.ctx;
    const hf_fit_settings *settings = &job->settings.settings;
    const hf_columns columns = columns_of(job);
    if (has_argument(job->arguments, "stream"))
        return hf_fit_stream(ctx, job->arguments->operand[0], argument(job->arguments, "cache"), &columns,
                             settings, &job->model, NULL);
    const hf_status status = announce(job);
    return status < 0 ? status : hf_fit(ctx, job->table, &columns, settings, &job->model, NULL);
}

/* The model is where it should be: what would have brought it back after a failure is no longer needed.
 * Devices are left alone. */
static void remove_checkpoint(const fit_job *job)
{
    const char *path = job->settings.settings.checkpoint;
    struct stat info;
    if (path != NULL && group_is_first() && stat(path, &info) == 0 && S_ISREG(info.st_mode)) remove(path);
}

/* The lines of suspected readings besides their rows, while the file is at hand. */
static hf_status add_lines(fit_job *job)
{
    if (job->suspects == NULL || job->table == NULL) return HF_OK;
    const size_t count = hf_table_rows(job->suspects), rows = hf_table_rows(job->table);
    const double *row = table_column(NULL, job->suspects, "row");
    double *line = calloc(count + 1, sizeof *line);
    if (line == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < count && row != NULL; i++)
        if (row[i] >= 1.0 && row[i] <= (double)rows)
            line[i] = (double)hf_table_line(job->table, (size_t)row[i] - 1);
    const hf_status status = hf_table_set_numbers(job->session.ctx, job->suspects, "line", line);
    free(line);
    return status;
}

/* Names of files that are written are left out, so that the same model is the same file wherever it lies. */
static hf_status keep_command(const fit_job *job)
{
    char *command = command_text(job->arguments);
    const hf_status status =
        command != NULL ? hf_model_set_command(job->session.ctx, job->model, command) : HF_ERR_MEMORY;
    free(command);
    return status;
}

static int fit(fit_job *job)
{
    hf_context *ctx = job->session.ctx;
    const char *output = argument(job->arguments, "output");
    hf_status status = fit_job_model(job);
    if (status >= 0) status = suspects_of(ctx, job->model, &job->suspects);
    if (status >= 0) status = add_lines(job);
    if (status >= 0) status = quality_of(ctx, job->model, &job->quality);
    if (status >= 0) status = keep_command(job);
    /* Saved before it is shown: a report of a model that could not be kept would be a promise broken. */
    if (status >= 0 && output != NULL && group_is_first()) status = hf_model_save(ctx, job->model, output);
    if (status >= 0) remove_checkpoint(job);
    int code = status >= 0 ? show_result(job) : TOOL_OK;
    int closed = session_close(&job->session, status);
    return closed != TOOL_OK ? closed : code;
}

static int prepare_fit_job(fit_job *job)
{
    const tool_arguments *arguments = job->arguments;
    const char *output = argument(arguments, "output");
    if (argument(arguments, "target") == NULL)
        return usage_error(arguments->verb, "--target is missing: name the column to predict");
    if (is_standard(output)) return usage_error(arguments->verb, "-o: a model is a file; give it a name");
    if (has_argument(arguments, "features") && has_argument(arguments, "drop"))
        return usage_error(arguments->verb, "--features and --drop both choose the inputs; give one");
    if (!argument_names(arguments, "target", &job->targets) ||
        !argument_names(arguments, "features", &job->features) ||
        !argument_names(arguments, "drop", &job->drop))
        return TOOL_USAGE;
    int status = fit_settings_from(arguments, job->session.ctx, job->targets.count, &job->settings);
    if (status != TOOL_OK) return status;
    if (has_argument(arguments, "cache") && !has_argument(arguments, "stream"))
        return usage_error(arguments->verb, "--cache is the cache of --stream; add --stream");
    for (size_t k = 0; k < dialect_option_count && has_argument(arguments, "stream"); k++)
        if (has_argument(arguments, dialect_options[k]))
            return usage_error(
                arguments->verb,
                "--%s is about tables in memory; --stream reads CSV as it should be: convert the file",
                dialect_options[k]);
    if (has_argument(arguments, "dry-run") && has_argument(arguments, "stream"))
        return usage_error(
            arguments->verb,
            "--dry-run counts what grows with the table; a streamed fit does not; leave it out");
    job->session.checkpoint = job->settings.settings.checkpoint;
    return read_actions(arguments, job->session.ctx, &job->settings);
}

int fit_run(const tool_arguments *arguments)
{
    fit_job job = {.arguments = arguments};
    int status = session_open(arguments, &job.session);
    if (status != TOOL_OK) return status;
    status = prepare_fit_job(&job);
    if (status != TOOL_OK) {
        session_close(&job.session, HF_OK);
    } else {
        hf_status read = HF_OK;
        if (!has_argument(arguments, "stream"))
            read = read_table(&job.session, arguments->operand[0], NULL, &job.table);
        if (read < 0)
            status = session_close(&job.session, read);
        else
            status = has_argument(arguments, "dry-run") ? dry_run(&job) : fit(&job);
    }
    job_free(&job);
    return status;
}
