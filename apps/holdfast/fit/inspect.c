/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast inspect */
#include "fit/inspect.h"
#include "report/report.h"

#include <inttypes.h>

static const tool_option options[] = {
    {"rows", 'r', "OUT.csv",
     "write what is thought of each reading: row, of several outputs\noutput (its number, from 0), y, "
     "loo_mean, loo_sd, weight,\ninfluence, suspected, group, of a transformed target loo_median and\n"
     "loo_residual; of an envelope inputs, lower, upper",
     TOOL_WRITES},
    {"moved", 0, "ROW:OUTPUT=VALUE",
     "print how far the model would move if the reading of OUTPUT in data row\nROW were VALUE, nothing after "
     "= for not taken, and nothing else; of one\noutput ROW=VALUE",
     0},
};

static void print_origin(const hf_model *model)
{
    uint64_t seed = 0;
    const char *command = hf_model_command(model);
    if (command != NULL) say(stdout, "\nTo make it again: %s", command);
    printf("\nWritten by Holdfast %s", hf_model_library(model));
    if (hf_model_seed(model, &seed)) printf(", seed %" PRIu64, seed);
    putchar('\n');
}

static void print_model(tool_session *session, const hf_model *model, const hf_table *suspects,
                        const tool_quality *quality, const char *file)
{
    if (!session->json) {
        report_model(stdout, model, suspects, quality);
        for (size_t i = 0; i < hf_model_notes(model); i++)
            say(stdout, "%s  %s\n", i == 0 ? "\nNotes\n" : "", hf_model_note(model, i));
        print_origin(model);
        say(stdout, "SHA-256 of the training data: %s\n", hf_model_data_checksum(model));
        say(stdout, "SHA-256 of this model: %s\n", hf_model_content_checksum(model));
        return;
    }
    json_t *json = json_model(model, suspects, quality);
    JSON_ADD(json, {"model", json_text(file)},
             {"content_sha256", json_text(hf_model_content_checksum(model))});
    session_print(session, json);
}

static hf_status inspect_model(tool_session *session, const char *file, const char *rows_path)
{
    const bool only_rows = is_standard(rows_path);
    hf_context *ctx = session->ctx;
    hf_model *model = NULL;
    hf_table *suspects = NULL, *rows = NULL;
    tool_quality quality = {0};
    hf_status status = hf_model_load(ctx, file, &model);
    if (status >= 0 && !only_rows) status = suspects_of(ctx, model, &suspects);
    if (status >= 0 && !only_rows) status = quality_of(ctx, model, &quality);
    if (status >= 0 && rows_path != NULL) status = hf_model_rows(ctx, model, &rows);
    progress_clear(session->progress);
    if (status >= 0 && rows_path != NULL) status = hf_table_write_csv(ctx, rows, rows_path);
    if (status >= 0 && !only_rows) print_model(session, model, suspects, &quality, file);
    quality_free(&quality);
    hf_table_free(rows);
    hf_table_free(suspects);
    hf_model_free(model);
    return status;
}

/* --moved of a model; an envelope has no influence. */
static hf_status inspect_only_moved(tool_session *session, const char *file, const char *moved)
{
    hf_model *model = NULL;
    hf_status status = hf_model_load(session->ctx, file, &model);
    if (status >= 0) status = inspect_moved(session, model, moved);
    hf_model_free(model);
    return status;
}

static hf_status work(tool_session *session)
{
    const tool_arguments *arguments = session->arguments;
    const char *moved = argument(arguments, "moved");
    const char *rows_path = argument(arguments, "rows"), *file = arguments->operand[0];
    if (is_standard(rows_path) && session->json)
        return session_misuse(session, "--json and --rows - cannot both go to standard output");
    if (moved != NULL && rows_path != NULL)
        return session_misuse(session, "--moved and --rows cannot go together");
    if (moved != NULL) return inspect_only_moved(session, file, moved);
    return hf_file_type(file) == HF_FILE_ENVELOPE ? inspect_envelope(session, file, rows_path)
                                                  : inspect_model(session, file, rows_path);
}

const tool_verb verb_inspect = {
    .name = "inspect",
    .operands = "MODEL.hf|ENV.hf [--rows OUT.csv | --moved ROW:OUTPUT=VALUE]",
    .summary = "Show what a model has learnt, or what an envelope is made of",
    .text =
        "Prints the report of the fit, the suspected readings, leave-one-out scores, the relevance of the\n"
        "inputs, the hyperparameters in the units of the data, and the command that makes the model again.\n"
        "With --rows also a table with one row per reading: its leave-one-out prediction (from the others),\n"
        "its weight (1 plain, 0 set aside), how far the model would move without it (influence, in nats),\n"
        "whether it is suspected, and its group. --rows - writes that table and nothing else.\n"
        "--moved tells how far the model would move if one reading were another number (influence, in\n"
        "nats, over all outputs together and over each of several), hyperparameters and thresholds held.\n"
        "Of a classifier it shows classes and evidence, and --rows row, label, the most probable class and "
        "the\n"
        "probability of the label.\n"
        "Of an envelope (holdfast bound --save) it shows the readings' intervals, kernel and norm bound.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast inspect boston.hf --rows readings.csv",
    TOOL_OPTIONS(options),
    TOOL_WORK(1, 1, work),
};
