/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast inspect */
#include "envelope/bounded.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"rows", 'r', "OUT.csv",
     "write what is thought of each reading: row, of several outputs\noutput (its number, from 0), y, "
     "loo_mean, loo_sd, weight,\ninfluence, suspected, group, of a transformed target loo_median and\n"
     "loo_residual; of an envelope inputs, lower, upper",
     TOOL_WRITES},
    {"moved", 0, "ROW:OUTPUT=VALUE",
     "print how far the model would move if the reading of OUTPUT in data row\n"
     "ROW were VALUE (nothing after =: not taken); print nothing else.\n"
     "ROW=VALUE where there is one output",
     0},
};

/* ---- --moved: how far one reading that becomes another one moves the model --------------------------------------- */

/* "ROW:OUTPUT=VALUE", "ROW=VALUE" of one output; no value: not taken. */
typedef struct moved_reading {
    size_t row;
    const char *name; /* of the output; NULL if none was said */
    size_t output;
    double y;
} moved_reading;

static bool parse_moved(char *text, moved_reading *out)
{
    char *value = strrchr(text, '='), *end;
    if (value == NULL) return false;
    *value++ = '\0';
    char *colon = strchr(text, ':');
    if (colon != NULL) *colon = '\0';
    out->name = colon != NULL ? colon + 1 : NULL;
    if (text[0] < '0' || text[0] > '9') return false;
    out->row = (size_t)strtoull(text, &end, 10);
    if (*end != '\0') return false;
    out->y = NAN;
    if (*value == '\0') return true;
    return number_until(&value, '\0', &out->y);
}

static bool find_output(const hf_model *model, moved_reading *out)
{
    const size_t outputs = hf_model_outputs(model);
    if (outputs == 1 && out->name == NULL) return true;
    for (size_t t = 0; t < outputs && out->name != NULL; t++) {
        out->output = t;
        if (strcmp(out->name, hf_model_output(model, t)) == 0) return true;
    }
    return false;
}

static void print_moved(tool_session *session, const hf_model *model, const moved_reading *m,
                        const double *kl, double joint)
{
    const size_t outputs = hf_model_outputs(model);
    const char *name = hf_model_output(model, m->output);
    if (!session->json) {
        if (isnan(m->y))
            say(stdout, "Without %s of row %zu the model would move by\n\n", name, m->row);
        else
            say(stdout, "If %s of row %zu were %g, the model would move by\n\n", name, m->row, m->y);
        for (size_t t = 0; t < outputs && outputs > 1; t++)
            say(stdout, "  %-24s %12.6g nats\n", hf_model_output(model, t), kl[t]);
        say(stdout, "  %-24s %12.6g nats\n", outputs > 1 ? "all outputs together" : name, joint);
        return;
    }
    json_t *each = json_object();
    for (size_t t = 0; t < outputs && outputs > 1; t++)
        json_add_named(each, hf_model_output(model, t), json_number(kl[t]));
    session_print(session,
                  JSON_OF({"row", json_count(m->row)}, {"output", json_text(name)}, {"y", json_number(m->y)},
                          {"influence", json_number(joint)}, {"outputs", each}));
}

/* --moved, about a model; an envelope has no influence. */
static hf_status inspect_moved(tool_session *session, const char *file, const char *text)
{
    hf_context *ctx = session->ctx;
    hf_model *model = NULL;
    hf_status status = hf_model_load(ctx, file, &model);
    if (status < 0) return status;
    const size_t outputs = hf_model_outputs(model);
    char *copy = strdup(text);
    double *kl = calloc(outputs > 0 ? outputs : 1, sizeof *kl), joint = 0.0;
    moved_reading m = {0};
    if (copy == NULL || kl == NULL)
        status = session_refuse(session, "out of memory");
    else if (!parse_moved(copy, &m))
        status = session_misuse(session, "--moved is \"%s\", not ROW:OUTPUT=VALUE, such as 12:y2=7.5", text);
    else if (!find_output(model, &m))
        status = m.name != NULL
                     ? session_refuse(session, "--moved %s: the model has no output \"%s\"", text, m.name)
                     : session_refuse(session, "--moved %s: which of the %zu outputs? Say ROW:OUTPUT=VALUE",
                                      text, outputs);
    if (status >= 0) status = hf_model_influence(ctx, model, m.row, m.output, m.y, kl, &joint);
    progress_clear(session->progress);
    if (status >= 0) print_moved(session, model, &m, kl, joint);
    TOOL_FREE(copy, kl);
    hf_model_free(model);
    return status;
}

/* ---- an envelope ------------------------------------------------------------------------------------------------- */

/* Readings by what limits them. */
typedef struct kinds {
    size_t both, lower, upper, exact;
    double widest;
} kinds;

static kinds count_kinds(const hf_envelope *envelope)
{
    kinds k = {0};
    for (size_t i = 0; i < hf_envelope_readings(envelope); i++) {
        double low, high;
        if (hf_envelope_reading(envelope, i, NULL, &low, &high) < 0) continue;
        if (low == high)
            k.exact++;
        else if (isinf(low))
            k.upper++;
        else if (isinf(high))
            k.lower++;
        else
            k.both++;
        if (isfinite(high - low)) k.widest = fmax(k.widest, high - low);
    }
    return k;
}

static json_t *json_envelope(const hf_envelope *e, const hf_envelope_labels *labels, const char *file)
{
    const kinds k = count_kinds(e);
    const hf_envelope_settings *settings = hf_envelope_settings_of(e);
    json_t *inputs = json_array();
    for (size_t j = 0; j < labels->feature_count; j++)
        json_array_append_new(inputs, json_text(labels->features[j]));
    return JSON_OF({"envelope", json_text(file)}, {"target", json_text(labels->target)},
                   {"source", json_text(labels->source)}, {"inputs", inputs},
                   {"kernel", bounded_json_kernel(hf_envelope_kernel(e))},
                   {"distinct", json_count(hf_envelope_readings(e))}, {"intervals", json_count(k.both)},
                   {"from_below", json_count(k.lower)}, {"from_above", json_count(k.upper)},
                   {"exact", json_count(k.exact)}, {"widest", json_number(k.widest)},
                   {"offset", json_number(hf_envelope_offset(e))}, {"norm", json_number(hf_envelope_norm(e))},
                   {"minimum_norm", json_number(hf_envelope_minimum_norm(e))},
                   {"jitter", json_number(settings->jitter)}, {"rigorous", json_boolean(settings->rigorous)},
                   {"reserve", json_count(settings->reserve)}, {"bytes", json_number(hf_envelope_bytes(e))});
}

static void print_envelope(const hf_envelope *e, const hf_envelope_labels *labels)
{
    const kinds k = count_kinds(e);
    const hf_envelope_settings *settings = hf_envelope_settings_of(e);
    const double norm = hf_envelope_norm(e), least = hf_envelope_minimum_norm(e);
    char words[TOOL_WORDS];
    say(stdout, "Envelope of %s by ", labels->target);
    for (size_t j = 0; j < labels->feature_count; j++)
        say(stdout, "%s%s", j > 0 ? ", " : "", labels->features[j]);
    printf("\n\n");
    if (*labels->source != '\0') say(stdout, "readings from    %s\n", labels->source);
    printf("distinct         %zu: %zu intervals, %zu exact, %zu from below only, %zu from above only\n",
           hf_envelope_readings(e), k.both, k.exact, k.lower, k.upper);
    printf("widest interval  %.6g\n", k.widest);
    bounded_print_kernel(hf_envelope_kernel(e));
    if (hf_envelope_offset(e) != 0.0)
        printf("offset           %.6g: norms are those of the function less that\n", hf_envelope_offset(e));
    printf("norm bound       %.6g; the readings ask for %.6g (%.0f %%)\n", norm, least, 100.0 * least / norm);
    printf("jitter           %g\n", settings->jitter);
    printf("rounding         %s\n", settings->rigorous ? "all of it accounted for" : "not accounted for");
    printf("memory           %s\n", bytes_in_words(hf_envelope_bytes(e), words));
}

/* The readings as a table: inputs, lower, upper. */
static hf_status write_readings(hf_context *ctx, const hf_envelope *e, const hf_envelope_labels *labels,
                                const char *path)
{
    const size_t n = hf_envelope_readings(e), d = labels->feature_count;
    hf_table *table = NULL;
    double *columns = calloc(n * (d + 2), sizeof *columns);
    hf_status status = columns != NULL ? hf_table_create(ctx, n, &table) : HF_ERR_MEMORY;
    for (size_t i = 0; i < n && status >= 0; i++) {
        const double *x;
        status = hf_envelope_reading(e, i, &x, &columns[d * n + i], &columns[(d + 1) * n + i]);
        for (size_t j = 0; j < d && status >= 0; j++) columns[j * n + i] = x[j];
    }
    for (size_t j = 0; j < d + 2 && status >= 0; j++)
        status = hf_table_set_numbers(ctx, table,
                                      j < d    ? labels->features[j]
                                      : j == d ? "lower"
                                               : "upper",
                                      columns + j * n);
    if (status >= 0) status = hf_table_write_csv(ctx, table, path);
    hf_table_free(table);
    free(columns);
    return status;
}

/* The report on an envelope; `rows` NULL: no table. */
static hf_status inspect_envelope(tool_session *session, const char *file, const char *rows)
{
    hf_envelope *envelope = NULL;
    hf_envelope_labels *labels = NULL;
    hf_status status = hf_envelope_load(session->ctx, file, &envelope, &labels);
    progress_clear(session->progress);
    if (status >= 0 && rows != NULL) status = write_readings(session->ctx, envelope, labels, rows);
    progress_clear(session->progress);
    const bool only_rows = is_standard(rows);
    if (status >= 0 && !only_rows && session->json)
        session_print(session, json_envelope(envelope, labels, file));
    else if (status >= 0 && !only_rows)
        print_envelope(envelope, labels);
    hf_envelope_labels_free(labels);
    hf_envelope_free(envelope);
    return status;
}

/* ---- a model ----------------------------------------------------------------------------------------------------- */

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

static hf_status run_inspect(tool_session *session)
{
    const tool_arguments *arguments = session->arguments;
    const char *reading = argument(arguments, "moved");
    const char *rows_path = argument(arguments, "rows"), *file = arguments->operand[0];
    if (is_standard(rows_path) && session->json)
        return session_misuse(session, "--json and --rows - cannot both go to standard output");
    if (reading != NULL && rows_path != NULL)
        return session_misuse(session, "--moved and --rows cannot go together");
    if (reading != NULL) return inspect_moved(session, file, reading);
    return hf_file_type(file) == HF_FILE_ENVELOPE ? inspect_envelope(session, file, rows_path)
                                                  : inspect_model(session, file, rows_path);
}

const tool_verb verb_inspect = {
    .name = "inspect",
    .operands = "MODEL.hf|ENV.hf [--rows OUT.csv | --moved ROW:OUTPUT=VALUE]",
    .summary = "Show what a model has learnt, or what an envelope is made of",
    .text =
        "Prints the report of the fit, the suspected readings, leave-one-out scores, the relevance of the\n"
        "inputs; the hyperparameters in the units of the data; and the command that makes the model again.\n"
        "With --rows also a table with one row per reading: its leave-one-out prediction (from the others),\n"
        "its weight (1 plain, 0 set aside); how far the model would move without it (influence, in nats);\n"
        "whether it is suspected, and its group. --rows - writes that table and nothing else.\n"
        "--moved tells how far the model would move if one reading were another number (influence, in nats:\n"
        "over all outputs together and over each of several). Hyperparameters and thresholds are held.\n"
        "Of a classifier it shows classes and evidence, and --rows row, label, the most probable class and "
        "the\n"
        "probability of the label.\n"
        "Of an envelope (holdfast bound --save) it shows the readings' intervals, kernel and norm bound.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast inspect boston.hf --rows readings.csv",
    TOOL_OPTIONS(options),
    TOOL_WORK(1, 1, run_inspect),
};
