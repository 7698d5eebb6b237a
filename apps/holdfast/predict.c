/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast predict */
#include "tool.h"

#include <math.h>
#include <string.h>

static const tool_option options[] = {
    {"output", 'o', "OUT.csv", "file to write (default: standard output)", false},
};

static bool print_summary(const hf_model *model, const hf_table *table, const char *output)
{
    char name[512];
    snprintf(name, sizeof name, "%s_mean", hf_model_target(model));
    const double *mean = table_column(NULL, table, name);
    size_t rows = hf_table_rows(table), missing = 0;
    for (size_t i = 0; i < rows && mean != NULL; i++) missing += isnan(mean[i]) ? 1 : 0;
    return json_print(json_pack("{s:s, s:s, s:I, s:I}", "output", output, "target", hf_model_target(model),
                                "rows", (json_int_t)rows, "without_prediction", (json_int_t)missing));
}

static int run(const tool_arguments *arguments)
{
    const char *output = argument(arguments, "output");
    if (output == NULL) output = "-";
    bool to_stdout = strcmp(output, "-") == 0;
    if (to_stdout && has_argument(arguments, "json"))
        return usage_error(arguments->verb,
                           "--json and the table cannot both go to standard output; add -o OUT.csv");
    tool_session session;
    int code = session_open(arguments, &session);
    if (code != TOOL_OK) return code;

    hf_model *model = NULL;
    hf_table *table = NULL;
    hf_status status = hf_model_load(session.ctx, arguments->operand[0], &model);
    if (status >= 0) status = hf_table_read_csv(session.ctx, arguments->operand[1], &table);
    if (status >= 0) status = warn_status(&session, hf_predict_into_table(session.ctx, model, table));
    progress_clear(session.progress);
    if (status >= 0) status = hf_table_write_csv(session.ctx, table, output);
    bool printed = status < 0 || !session.json || print_summary(model, table, output);
    hf_table_free(table);
    hf_model_free(model);
    code = session_close(&session, status);
    return code == TOOL_OK && !printed ? TOOL_FAILED : code;
}

const tool_verb verb_predict = {
    .name = "predict",
    .operands = "MODEL.hf NEW.csv [-o OUT.csv]",
    .summary = "Add predictions to the rows of a table",
    .text =
        "Adds the columns <target>_mean, <target>_sd_latent, <target>_sd_observed, <target>_lo95 and\n"
        "<target>_hi95 (the central 95 % interval of a new reading) and keeps all others. Only the model's\n"
        "inputs have to be there; rows in which one is missing get no prediction. NEW.csv may be - for\n"
        "standard input. With --json the table goes to the file and a summary to standard output.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast predict boston.hf data/boston.csv -o predictions.csv",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 2,
    .most = 2,
    .run = run,
};
