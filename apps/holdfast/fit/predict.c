/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast predict */
#include "fit/predicted.h"
#include "report/report.h"
#include "shell/class_rule.h"

#include <math.h>
#include <stdlib.h>

enum {
    REMARK = 2048
};

static const tool_option options[] = {
    {"output", 'o', "OUT.csv", "file to write (default: standard output)", TOOL_WRITES},
    {"computational", 0, NULL,
     "projected solver: add <target>_sd_computational, the part of\n<target>_sd_latent that more actions "
     "would take away;\ntakes an exact factor of all readings",
     false},
    {"worst-case", 0, "B",
     "exact or projected solver: add <target>_worst_case, which bounds the\nerror for functions whose norm "
     "is at most B (least: the least norm that\nagrees with the readings), and "
     "<target>_worst_case_computational, which\nbounds the distance from the exact mean; takes an exact "
     "factor",
     false},
    {"covariance", 0, NULL,
     "several outputs: add the latent covariances between them, <b>_<a>_cov\nfor each pair, as with all "
     "outputs predicted",
     false},
    CLASS_RULE,
    DIALECT_OPTIONS,
    {"outside", 0, NULL,
     "add <target>_outside: how far a row's inputs lie outside those of\nthe training rows, in ranges of the "
     "input that is furthest out;\n0 inside",
     false},
};

/* The columns that were added, as JSON; and how many rows have no prediction, by the first column of numbers. */
static json_t *json_columns(const hf_model *model, const hf_table *table, size_t *missing)
{
    json_t *list = json_array();
    *missing = SIZE_MAX;
    for (size_t i = 0; i < hf_predicted_columns(model, table); i++) {
        hf_predicted_column column;
        size_t length = 0;
        hf_predicted_column_at(model, table, i, NULL, 0, &length, &column);
        char *name = calloc(length + 1, 1);
        if (name == NULL) break;
        hf_predicted_column_at(model, table, i, name, length + 1, NULL, NULL);
        json_array_append_new(list,
                              JSON_OF({"name", json_text(name)}, {"meaning", json_string(column.meaning)}));
        const double *numbers =
            *missing == SIZE_MAX && !column.label ? table_column(NULL, table, name) : NULL;
        free(name);
        if (numbers == NULL) continue;
        *missing = 0;
        for (size_t k = 0; k < hf_table_rows(table); k++) *missing += isnan(numbers[k]) ? 1 : 0;
    }
    return list;
}

static void print_summary(tool_session *session, const hf_model *model, const hf_table *table,
                          const char *output, const char *remark, json_t *worst)
{
    size_t missing;
    json_t *columns = json_columns(model, table, &missing);
    json_t *notes = json_array();
    if (*remark != '\0') json_array_append_new(notes, json_text(remark));
    const bool several = hf_model_can(model, HF_ABILITY_COVARIANCES);
    session_print(session,
                  JSON_OF({"output", json_text(output)}, {"target", json_text(hf_model_target(model))},
                          {"rows", json_count(hf_table_rows(table))},
                          {"without_prediction", json_integer((json_int_t)missing)}, {"columns", columns},
                          {"notes", notes}, {worst != NULL ? "worst_case" : NULL, json_incref(worst)},
                          {several ? "outputs" : NULL, several ? json_outputs(model) : NULL}));
}

/* Whether the model can tell what was asked for beside the predictions. */
static hf_status check_additions(tool_session *session, const hf_model *model)
{
    static const char *const latent[] = {"computational", "worst-case"};
    for (size_t k = 0; k < 2; k++)
        if (has_argument(session->arguments, latent[k]) && !hf_model_can(model, HF_ABILITY_PLAIN))
            return session_refuse(
                session,
                "--%s is about models of one output as it is read; that of \"%s\" is a classifier, of "
                "several outputs, of counts or amounts, or fitted with --transform",
                latent[k], hf_model_target(model));
    if (has_argument(session->arguments, "covariance") && !hf_model_can(model, HF_ABILITY_COVARIANCES))
        return session_refuse(
            session, "--covariance is between several outputs; that of \"%s\" has one, or is a classifier",
            hf_model_target(model));
    return HF_OK;
}

/* Leaves what is to be said of the predictions in `remark`. */
static hf_status predict(const tool_arguments *arguments, tool_session *session, const hf_model *model,
                         hf_table *table, char remark[REMARK], json_t **worst)
{
    hf_status status = hf_predict_into_table(session->ctx, model, table);
    if (status >= 0) snprintf(remark, REMARK, "%s", hf_context_message(session->ctx));
    if (*remark != '\0') warn(session, "%s", remark);
    if (status >= 0 && has_argument(arguments, "computational"))
        status = warn_status(session, add_computational(session->ctx, model, table));
    if (status >= 0 && has_argument(arguments, "worst-case"))
        status = warn_status(session, add_worst_case(arguments, session, model, table, worst));
    /* The user has been told what is missing. */
    if (status >= 0 && has_argument(arguments, "covariance"))
        status = hf_predict_covariances_into_table(session->ctx, model, table);
    if (status >= 0 && has_argument(arguments, "outside"))
        status = hf_predict_outside_into_table(session->ctx, model, table);
    return status;
}

static hf_status work(tool_session *session)
{
    const tool_arguments *arguments = session->arguments;
    const char *output = output_of(arguments);
    hf_model *model = NULL;
    hf_table *table = NULL;
    json_t *worst = NULL;
    char remark[REMARK] = "";
    hf_status status = session_check_output(session, output);
    if (status >= 0) status = hf_model_load(session->ctx, arguments->operand[0], &model);
    if (status >= 0) status = take_class_rule(session, arguments, model);
    if (status >= 0) status = check_additions(session, model);
    if (status >= 0) status = read_table(session, arguments->operand[1], model, &table);
    if (status >= 0) status = predict(arguments, session, model, table, remark, &worst);
    progress_clear(session->progress);
    if (status >= 0) status = hf_table_write_csv(session->ctx, table, output);
    if (status >= 0 && session->json) print_summary(session, model, table, output, remark, worst);
    json_decref(worst);
    hf_table_free(table);
    hf_model_free(model);
    return status;
}

const tool_verb verb_predict = {
    .name = "predict",
    .operands = "MODEL.hf NEW.csv [-o OUT.csv]",
    .summary = "Add predictions to the rows of a table",
    .text =
        "Adds the columns <target>_mean, <target>_sd_latent, <target>_sd_observed, <target>_lo95 "
        "and\n<target>_hi95 (the central 95 % interval of a new reading) and keeps all others. Only the "
        "model's\ninputs have to be there; rows in which one is missing get no prediction. NEW.csv may be - "
        "for\nstandard input. With --json the table goes to the file and a summary to standard output.\nOf a "
        "transformed target (fit --transform) mean and standard deviations are those of the target, "
        "the\ninterval is between quantiles, and <target>_median comes last.\nOf counts and amounts (sites "
        "poisson and the like) likewise, at the exposure of the row,\nand then the rate for one unit of "
        "exposure: <target>_rate, <target>_rate_lo95, <target>_rate_hi95.\nOf several outputs each has its "
        "five columns, named by its own column. If the model was fitted with\n--output-column and NEW.csv "
        "has that column, each row is about its own output, and the names begin\nwith the target's; if not, "
        "all outputs are predicted, in columns <target>_<output>_mean, ....\nOf a classifier: "
        "<target>_class, the most probable class; p_<class>, the probability of each; and the\nlatent "
        "function, <target>_mean and <target>_sd, with softmax sites <target>_<class>_mean, ....\nRows with "
        "an input outside of those that the model learnt from, by more than a tenth of their\nrange, are "
        "warned of: predictions there are extrapolated.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast predict boston.hf data/boston.csv -o predictions.csv",
    TOOL_OPTIONS(options),
    .extends = true,
    TOOL_WORK(2, 2, work),
};
