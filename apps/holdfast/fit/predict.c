/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast predict */
#include "report/report.h"
#include "shell/class_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- columns that say what a prediction may be wrong by -------------------------------------------------------- */

/* Rows of a table with all of the model's inputs. */
typedef struct complete {
    size_t rows, count;
    double *x;   /* count rows of the model's inputs */
    size_t *row; /* which they are */
} complete;

static void complete_free(complete *c)
{
    TOOL_FREE(c->x, c->row);
}

static hf_status complete_make(hf_context *ctx, const hf_model *model, const hf_table *table, complete *c)
{
    const size_t rows = hf_table_rows(table), d = hf_model_features(model);
    hf_table *inputs = NULL;
    *c = (complete){
        .rows = rows, .x = calloc(rows * d + 1, sizeof *c->x), .row = calloc(rows + 1, sizeof *c->row)};
    if (c->x == NULL || c->row == NULL) return HF_ERR_MEMORY;
    const hf_status status = hf_model_inputs(ctx, model, table, &inputs);
    if (status < 0) return status;
    for (size_t j = 0; j < d; j++) {
        const double *column = table_column(ctx, inputs, hf_model_feature(model, j));
        for (size_t i = 0; i < rows && column != NULL; i++) c->x[i * d + j] = column[i];
    }
    hf_table_free(inputs);
    for (size_t i = 0; i < rows; i++) {
        bool all = true;
        for (size_t j = 0; j < d; j++) all = all && !isnan(c->x[i * d + j]);
        if (!all) continue;
        memmove(c->x + c->count * d, c->x + i * d, d * sizeof *c->x);
        c->row[c->count++] = i;
    }
    return HF_OK;
}

/* <target><ending>: factor times each value; NaN in incomplete rows. */
static hf_status set_column(hf_context *ctx, const hf_model *model, hf_table *table, const char *ending,
                            const complete *c, const double *value, double factor)
{
    double *column = calloc(c->rows + 1, sizeof *column);
    if (column == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < c->rows; i++) column[i] = NAN;
    for (size_t k = 0; k < c->count; k++) column[c->row[k]] = factor * value[k];
    const hf_status status = table_set_named(ctx, table, hf_model_target(model), ending, column);
    free(column);
    return status;
}

static hf_status worse(hf_status a, hf_status b)
{
    return a < 0 || b == HF_OK ? a : b;
}

/* <target>_sd_computational; NaN in rows that lack an input. */
static hf_status add_computational(hf_context *ctx, const hf_model *model, hf_table *table)
{
    complete c;
    hf_status status = complete_make(ctx, model, table, &c);
    double *value = calloc(c.count + 1, sizeof *value);
    if (status >= 0 && value == NULL) status = HF_ERR_MEMORY;
    if (status >= 0 && c.count > 0)
        status = hf_predict_computational(ctx, hf_model_posterior(model), c.count, c.x,
                                          hf_model_features(model), value);
    for (size_t k = 0; k < c.count && status >= 0; k++) value[k] = sqrt(value[k]);
    if (status >= 0)
        status = worse(set_column(ctx, model, table, "_sd_computational", &c, value, 1.0), status);
    free(value);
    complete_free(&c);
    return status;
}

/* ---- worst cases ------------------------------------------------------------------------------------------ */

/* The norm that --worst-case says. */
static hf_status take_norm(const tool_arguments *arguments, tool_session *session, double least, double *norm)
{
    const char *text = argument(arguments, "worst-case");
    *norm = least;
    if (strcmp(text, "least") == 0) return HF_OK;
    if (!argument_double(arguments, "worst-case", norm)) return session_told(session);
    if (!(*norm > 0.0 && isfinite(*norm)))
        return session_misuse(session, "--worst-case %s: give a positive norm, or least", text);
    if (*norm < least * (1.0 - 1e-9))
        return session_refuse(session,
                              "--worst-case %s: no function of that norm agrees with the readings; the least "
                              "norm that does is %.6g",
                              text, least);
    return HF_OK;
}

static hf_status say_worst_case(const tool_session *session, const hf_model *model, double norm,
                                const hf_projection_error *e, json_t **said)
{
    char condition[1024];
    const char *target = hf_model_target(model);
    const bool robust = hf_model_settings_of(model)->sites == HF_LIKELIHOOD_ROBUST;
    (void)snprintf(condition, sizeof condition,
                   "%.200s_worst_case bounds the distance of %.200s_mean from a new reading on one "
                   "condition: the readings%s, less the prior mean, are values of a function whose norm in "
                   "the RKHS of kernel plus noise is at most %.6g; %.200s_worst_case_computational bounds "
                   "its distance from the exact mean whatever the function",
                   target, target, robust ? " as the robust weights shift them" : "", norm, target);
    note(session, "%s (norm needed by the readings %.6g; of the exact weights %.3g %% were not computed)",
         condition, e->norm, 100.0 * e->rho);
    *said = JSON_OF({"norm", json_real(norm)}, {"least_norm", json_real(e->norm)}, {"rho", json_real(e->rho)},
                    {"remaining", json_real(e->remaining)}, {"condition", json_text(condition)});
    return *said != NULL ? HF_OK : HF_ERR_MEMORY;
}

static hf_status add_columns(const tool_arguments *arguments, tool_session *session, const hf_model *model,
                             hf_table *table, const complete *c, double *total, json_t **said)
{
    const hf_posterior *posterior = hf_model_posterior(model);
    hf_projection_error e;
    double norm = 0.0, *part = total + c->count;
    hf_status status = hf_projected_error(session->ctx, posterior, false, &e);
    const hf_status taken = status < 0 ? status : take_norm(arguments, session, e.norm, &norm);
    if (taken < 0) return taken;
    if (c->count > 0)
        status = worse(hf_predict_worst_case(session->ctx, posterior, c->count, c->x,
                                             hf_model_features(model), total, part),
                       status);
    if (status >= 0)
        status = worse(set_column(session->ctx, model, table, "_worst_case", c, total, norm), status);
    if (status >= 0)
        status =
            worse(set_column(session->ctx, model, table, "_worst_case_computational", c, part, e.remaining),
                  status);
    return status < 0 ? status : worse(say_worst_case(session, model, norm, &e, said), status);
}

/* <target>_worst_case and <target>_worst_case_computational for --worst-case, and under which condition they
   hold: as a note and, in *said (a new reference), as JSON. A norm that is no positive number, or below what the
   readings need, is HF_ERR_ARGUMENT. */
static hf_status add_worst_case(const tool_arguments *arguments, tool_session *session, const hf_model *model,
                                hf_table *table, json_t **said)
{
    complete c;
    hf_status status = complete_make(session->ctx, model, table, &c);
    double *total = calloc(c.count + 1, 2 * sizeof *total);
    if (status >= 0 && total == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = add_columns(arguments, session, model, table, &c, total, said);
    free(total);
    complete_free(&c);
    return status;
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
static hf_status predict_into_table(const tool_arguments *arguments, tool_session *session,
                                    const hf_model *model, hf_table *table, char remark[REMARK],
                                    json_t **worst)
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

static hf_status run_predict(tool_session *session)
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
    if (status >= 0) status = predict_into_table(arguments, session, model, table, remark, &worst);
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
        "Adds the columns <target>_mean, <target>_sd_latent, <target>_sd_observed, <target>_lo95 and\n"
        "<target>_hi95 (the central 95 % interval of a new reading) and keeps all others. Only the model's\n"
        "inputs have to be there; rows in which one is missing get no prediction. NEW.csv may be - for\n"
        "standard input. With --json the table goes to the file and a summary to standard output.\n"
        "Of a transformed target (fit --transform) mean and standard deviations are those of the target, "
        "the\n"
        "interval is between quantiles, and <target>_median comes last.\n"
        "Of counts and amounts (sites poisson and the like) likewise, at the exposure of the row,\n"
        "and then the rate for one unit of exposure: <target>_rate, <target>_rate_lo95, <target>_rate_hi95.\n"
        "Of several outputs each has its five columns, named by its own column. If the model was fitted "
        "with\n"
        "--output-column and NEW.csv has that column, each row is about its own output. The names then "
        "begin\n"
        "with the target's; if not, all outputs are predicted, in columns <target>_<output>_mean, ....\n"
        "Of a classifier: <target>_class, the most probable class; p_<class>, the probability of each; and "
        "the\n"
        "latent function, <target>_mean and <target>_sd, with softmax sites <target>_<class>_mean, ....\n"
        "Rows with an input outside of those that the model learnt from, by more than a tenth of their\n"
        "range, are warned of: predictions there are extrapolated.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast predict boston.hf data/boston.csv -o predictions.csv",
    TOOL_OPTIONS(options),
    .extends = true,
    TOOL_WORK(2, 2, run_predict),
};
