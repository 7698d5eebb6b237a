/* SPDX-License-Identifier: Apache-2.0 */
/* Columns beside a prediction say what it may be wrong by. */
#include "fit/predicted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONDITION = 1024
};

/* Rows of the model's inputs that are complete, row-major; *count of them, `row` says which. */
static hf_status gather(hf_context *ctx, const hf_model *model, const hf_table *table, double *x, size_t *row,
                        size_t *count)
{
    const size_t rows = hf_table_rows(table), d = hf_model_features(model);
    hf_table *inputs = NULL;
    const hf_status status = hf_model_inputs(ctx, model, table, &inputs);
    if (status < 0) return status;
    for (size_t j = 0; j < d; j++) {
        const double *column = table_column(ctx, inputs, hf_model_feature(model, j));
        for (size_t i = 0; i < rows && column != NULL; i++) x[i * d + j] = column[i];
    }
    hf_table_free(inputs);
    *count = 0;
    for (size_t i = 0; i < rows; i++) {
        bool complete = true;
        for (size_t j = 0; j < d; j++) complete = complete && !isnan(x[i * d + j]);
        if (!complete) continue;
        memmove(x + *count * d, x + i * d, d * sizeof *x);
        row[(*count)++] = i;
    }
    return HF_OK;
}

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
    *c = (complete){
        .rows = rows, .x = calloc(rows * d + 1, sizeof *c->x), .row = calloc(rows + 1, sizeof *c->row)};
    return c->x != NULL && c->row != NULL ? gather(ctx, model, table, c->x, c->row, &c->count)
                                          : HF_ERR_MEMORY;
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

hf_status add_computational(hf_context *ctx, const hf_model *model, hf_table *table)
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

static void describe(const hf_model *model, double norm, char condition[CONDITION])
{
    const char *target = hf_model_target(model);
    const bool robust = hf_model_settings(model)->sites == HF_LIKELIHOOD_ROBUST;
    snprintf(
        condition, CONDITION,
        "%.200s_worst_case bounds the distance of %.200s_mean from a new reading if the readings%s, less the "
        "prior mean, are values of a function whose norm in the RKHS of kernel plus noise is at most %.6g; "
        "%.200s_worst_case_computational bounds its distance from the exact mean whatever the function",
        target, target, robust ? " as the robust weights shift them" : "", norm, target);
}

static hf_status say_worst_case(const tool_session *session, const hf_model *model, double norm,
                                const hf_projection_error *e, json_t **said)
{
    char condition[CONDITION];
    describe(model, norm, condition);
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

hf_status add_worst_case(const tool_arguments *arguments, tool_session *session, const hf_model *model,
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
