/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast plot */
#include "plot/plot.h"
#include "report/report.h"

#include <stdlib.h>
#include <unistd.h>

static const tool_option options[] = {
    {"x", 'x', "COLUMN",
     "input of the slice (default: the one along which the prediction\nvaries most; of an envelope the "
     "first)",
     false},
    {"output", 'o', "OUT", "picture to write: .svg, .png or .pdf (default: the model's name\nwith .svg)",
     TOOL_WRITES},
    {"data-only", 0, NULL,
     "no picture, but what it is made of: OUT.gp, a gnuplot script,\nOUT-slice.csv and OUT-rows.csv", false},
};

/* --data-only writes the script, the slice and the rows in place of the picture. */
enum {
    DATA_FILES = 3
};
static const char *const data_endings[DATA_FILES] = {".gp", "-slice.csv", "-rows.csv"};

static size_t derive(const tool_arguments *arguments, char *out[TOOL_DERIVED])
{
    char *output = plot_output(arguments);
    const size_t files = has_argument(arguments, "data-only") ? DATA_FILES : 0;
    size_t count = 0;
    for (size_t k = 0; k < files; k++)
        out[count++] = output != NULL ? with_ending(output, plot_stem(output), data_endings[k]) : NULL;
    if (argument(arguments, "output") == NULL)
        out[count++] = output;
    else
        free(output);
    return count;
}

/* The kinds of pictures: a model of one output, or of several, a classifier, or an envelope. */
typedef struct model_picture {
    plot_data one;
    plot_outputs several;
    plot_envelope envelope;
    plot_classes classes;
    bool is_several, is_envelope, is_classes;
} model_picture;

static bool write_picture(FILE *script, const void *any, plot_format format, const char *output)
{
    const model_picture *data = any;
    if (data->is_envelope) return plot_envelope_script(script, &data->envelope, format, output);
    if (data->is_classes) return plot_classes_script(script, &data->classes, format, output);
    return data->is_several ? plot_outputs_script(script, &data->several, format, output)
                            : plot_script(script, &data->one, format, output);
}

/* ---- data only -------------------------------------------------------------------------------------------- */

static hf_status write_tables(hf_context *ctx, const model_picture *data, const char *slice, const char *rows)
{
    hf_table *table = NULL, *limits = NULL;
    hf_status status = data->is_envelope  ? plot_envelope_table(ctx, &data->envelope, &table)
                       : data->is_classes ? plot_classes_table(ctx, &data->classes, &table)
                       : data->is_several ? plot_outputs_table(ctx, &data->several, &table)
                                          : plot_slice_table(ctx, &data->one, &table);
    if (status >= 0 && data->is_envelope) status = plot_envelope_readings(ctx, &data->envelope, &limits);
    const hf_table *readings = data->is_envelope  ? limits
                               : data->is_classes ? data->classes.rows
                               : data->is_several ? data->several.rows
                                                  : data->one.rows;
    if (status >= 0) status = hf_table_write_csv(ctx, table, slice);
    if (status >= 0) status = hf_table_write_csv(ctx, readings, rows);
    hf_table_free(table);
    hf_table_free(limits);
    return status;
}

/* All three files or none. */
static int write_data(const tool_session *session, const model_picture *data, plot_format format,
                      const char *output)
{
    const size_t stem = plot_stem(output);
    char *script = with_ending(output, stem, data_endings[0]),
         *slice = with_ending(output, stem, data_endings[1]),
         *rows = with_ending(output, stem, data_endings[2]);
    int code = script != NULL && slice != NULL && rows != NULL ? TOOL_OK : complain("out of memory");
    if (code == TOOL_OK) code = plot_write_script(session->ctx, write_picture, data, format, output, script);
    if (code == TOOL_OK && write_tables(session->ctx, data, slice, rows) < 0) {
        code = complain("%s", hf_context_message(session->ctx));
        unlink(script);
        unlink(slice);
    }
    if (code == TOOL_OK && !session->json) say(stdout, "Wrote %s, %s and %s\n", script, slice, rows);
    TOOL_FREE(script, slice, rows);
    return code;
}

/* ---- the verb --------------------------------------------------------------------------------------------- */

static json_t *json_model_picture(const hf_model *model, const model_picture *data, const char *output)
{
    const size_t column = data->is_classes   ? data->classes.column
                          : data->is_several ? data->several.column
                                             : data->one.column;
    const size_t readings =
        data->is_several || data->is_classes ? hf_model_report_of(model)->readings : data->one.n;
    const bool several = data->is_several, classes = data->is_classes;
    return JSON_OF(
        {"output", json_text(output)}, {"target", json_text(hf_model_target(model))},
        {"x", json_text(hf_model_feature(model, column))}, {"readings", json_count(readings)},
        {several ? NULL : "maps", json_boolean(classes ? data->classes.maps : data->one.map.drawn)},
        {several ? "outputs" : NULL, several ? json_outputs(model) : NULL});
}

static json_t *json_envelope_picture(const plot_envelope *data, const char *output)
{
    return JSON_OF({"output", json_text(output)}, {"target", json_text(data->labels->target)},
                   {"x", json_text(data->labels->features[data->column])}, {"maps", json_boolean(data->maps)},
                   {"readings", json_count(hf_envelope_readings(data->envelope))});
}

/* Loads the model or the envelope, and computes what is drawn. */
static hf_status compute_picture(const tool_session *session, const tool_arguments *arguments,
                                 hf_model **model, model_picture *data)
{
    const char *file = arguments->operand[0], *x = argument(arguments, "x");
    data->is_envelope = hf_file_type(file) == HF_FILE_ENVELOPE;
    if (data->is_envelope) return plot_envelope_make(session->ctx, file, x, &data->envelope);
    const hf_status status = hf_model_load(session->ctx, file, model);
    if (status < 0) return status;
    data->is_classes = hf_model_can(*model, HF_ABILITY_CLASS_SCORES);
    if (data->is_classes) return plot_classes_make(session->ctx, *model, x, &data->classes);
    data->is_several = hf_model_can(*model, HF_ABILITY_COVARIANCES);
    return data->is_several ? plot_outputs_make(session->ctx, *model, x, &data->several)
                            : plot_data_make(session->ctx, *model, x, &data->one);
}

static hf_status make_picture(tool_session *session, const char *output, plot_format format)
{
    model_picture data = {0};
    hf_model *model = NULL;
    const bool data_only = has_argument(session->arguments, "data-only");
    const hf_status status = compute_picture(session, session->arguments, &model, &data);
    progress_clear(session->progress);
    if (status >= 0)
        session->refused = data_only ? write_data(session, &data, format, output)
                                     : plot_draw(session->ctx, write_picture, &data, format, output);
    const bool made = status >= 0 && session->refused == TOOL_OK;
    if (made && session->json)
        session_print(session, data.is_envelope ? json_envelope_picture(&data.envelope, output)
                                                : json_model_picture(model, &data, output));
    else if (made && !data_only)
        say(stdout, "Wrote %s\n", output);
    plot_data_free(&data.one);
    plot_outputs_free(&data.several);
    plot_envelope_free(&data.envelope);
    plot_classes_free(&data.classes);
    hf_model_free(model);
    return status;
}

static hf_status run_plot(tool_session *session)
{
    plot_format format = PLOT_SVG;
    char *output = plot_output(session->arguments);
    hf_status status = HF_OK;
    if (output == NULL)
        status = HF_ERR_MEMORY;
    else if (!plot_find_format(output, &format))
        status = session_misuse(session, "-o: '%s' ends neither in .svg nor in .png nor in .pdf", output);
    else if (!has_argument(session->arguments, "data-only") && !plot_has_gnuplot())
        status = session_refuse(
            session, "gnuplot is not installed (Debian: gnuplot-nox); --data-only works without it");
    if (status >= 0) status = make_picture(session, output, format);
    free(output);
    return status;
}

const tool_verb verb_plot = {
    .name = "plot",
    .operands = "MODEL.hf|ENV.hf [-o OUT.svg] [OPTION]...",
    .summary = "Draw a model and what it thinks of its readings, or an envelope",
    .text =
        "Four panels: a slice along one input with its bands and the readings, observed against "
        "leave-one-out\n"
        "prediction, the weights, and the residuals. Where all weights are 1, the coverage of leave-one-out\n"
        "intervals against their nominal level takes the place of the weights. Other inputs of a slice are "
        "at\n"
        "their medians, but those that correlate with its input by 1/2 or more follow their regression on "
        "it.\n"
        "Suspected readings are red crosses; the ten farthest have their row numbers. The title has the\n"
        "leave-one-out score of the kept readings. Of two inputs there are maps of mean and standard "
        "deviation\n"
        "too, unless --x names one. Of several outputs there is a slice each, shaded where only others have\n"
        "readings. Of an envelope (holdfast bound --save) the bounds along its input with the readings'\n"
        "intervals; of one of two inputs, maps of upper bound, lower bound and width; of one of more, or "
        "with\n"
        "--x, a slice through the medians. Of a classifier the probabilities of the classes along its input; "
        "of\n"
        "one of two inputs as a map; of one of more a slice as above. Needs gnuplot.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast plot boston.hf --x lstat -o boston.svg",
    TOOL_OPTIONS(options),
    .derives = derive,
    TOOL_WORK(1, 1, run_plot),
};
