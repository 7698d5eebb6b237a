/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of R to a model: tables and lists out of the library's answers. */
#include "package.h"

#include <string.h>

/* ---- tables and descriptions ------------------------------------------------------------------------------------ */

static SEXP column_of(const hf_table *table, size_t j)
{
    const size_t rows = hf_table_rows(table);
    const bool numeric = hf_table_is_numeric(table, j);
    SEXP column = PROTECT(Rf_allocVector(numeric ? REALSXP : STRSXP, (R_xlen_t)rows));
    const double *numbers = NULL;
    char buffer[32];
    if (numeric) hfr_check(hf_table_numbers(hfr_context, table, j, &numbers));
    for (size_t i = 0; i < rows; i++)
        if (numeric)
            REAL(column)[i] = ISNAN(numbers[i]) ? NA_REAL : numbers[i];
        else
            SET_STRING_ELT(column, (R_xlen_t)i, Rf_mkCharCE(hf_table_field(table, i, j, buffer), CE_UTF8));
    UNPROTECT(1);
    return column;
}

static SEXP table_as_list(const hf_table *table)
{
    hfr_list made = hfr_start_list((R_xlen_t)hf_table_columns(table));
    for (size_t j = 0; j < hf_table_columns(table); j++)
        hfr_put(&made, hf_table_name(table, j), column_of(table, j));
    UNPROTECT(2);
    return made.values;
}

static SEXP parameters_of(const hf_model *model)
{
    const size_t count = hf_model_parameters(model);
    SEXP values = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)count));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
    for (size_t i = 0; i < count; i++) {
        hf_parameter parameter;
        hfr_check(hf_model_parameter(model, i, &parameter));
        REAL(values)[i] = parameter.value;
        SET_STRING_ELT(names, (R_xlen_t)i, Rf_mkCharCE(parameter.name, CE_UTF8));
    }
    Rf_setAttrib(values, R_NamesSymbol, names);
    UNPROTECT(2);
    return values;
}

static SEXP report_of(const hf_model *model)
{
    const hf_fit_report *r = hf_model_report_of(model);
    hfr_list made = hfr_start_list(10);
    hfr_put(&made, "readings", Rf_ScalarReal((double)r->readings));
    hfr_put(&made, "missing", Rf_ScalarReal((double)r->missing));
    hfr_put(&made, "skipped", Rf_ScalarReal((double)hf_model_skipped(model)));
    hfr_put(&made, "suspects", Rf_ScalarReal((double)r->suspects));
    hfr_put(&made, "adopted", Rf_ScalarLogical(r->suspects_adopted));
    hfr_put(&made, "undecided", Rf_ScalarLogical(r->suspects_undecided));
    hfr_put(&made, "chance", Rf_ScalarReal(r->chance));
    hfr_put(&made, "objective", Rf_ScalarReal(r->objective));
    hfr_put(&made, "solver", Rf_mkString(hf_enum_name(HF_ENUM_SOLVER, r->solver)));
    hfr_put(&made, "stop", Rf_mkString(hf_enum_name(HF_ENUM_STOP, r->stop)));
    UNPROTECT(2);
    return made.values;
}

SEXP hfr_describe(SEXP pointer)
{
    const hf_model *model = hfr_model_of(pointer);
    const hf_fit_settings *settings = hf_model_settings_of(model);
    hfr_list made = hfr_start_list(15);
    hfr_put(&made, "features", hfr_make_texts(model, hf_model_features, hf_model_feature));
    hfr_put(&made, "targets", hfr_make_texts(model, hf_model_outputs, hf_model_output));
    hfr_put(&made, "target", hfr_make_text(hf_model_target(model)));
    hfr_put(&made, "output_column", hfr_make_text(hf_model_output_column(model)));
    hfr_put(&made, "classes", hfr_make_texts(model, hf_model_classes, hf_model_class));
    hfr_put(&made, "notes", hfr_make_texts(model, hf_model_notes, hf_model_note));
    hfr_put(&made, "latents", Rf_ScalarReal((double)hf_model_latents(model)));
    hfr_put(&made, "noise", hfr_make_text(hf_model_noise_column(model)));
    hfr_put(&made, "mean", hfr_make_text(hf_model_mean_column(model)));
    hfr_put(&made, "exposure", hfr_make_text(hf_model_exposure_column(model)));
    hfr_put(&made, "rate", Rf_ScalarLogical(hf_likelihood_has_rate(settings->sites)));
    hfr_put(&made, "transform", Rf_mkString(hf_enum_name(HF_ENUM_TRANSFORM, settings->transform)));
    hfr_put(&made, "kernel", hfr_make_text(settings->kernel));
    hfr_put(&made, "hyperparameters", parameters_of(model));
    hfr_put(&made, "report", report_of(model));
    UNPROTECT(2);
    return made.values;
}

/* ---- predictions ------------------------------------------------------------------------------------------------ */

/* An array that C fills by rows: dimensions of R are in the opposite order. */
static double *array(hfr_list *to, const char *name, size_t rows, size_t entries, size_t levels)
{
    SEXP made = hfr_put(to, name, Rf_allocVector(REALSXP, (R_xlen_t)(rows * entries * levels)));
    SEXP dim = PROTECT(Rf_allocVector(INTSXP, 3));
    INTEGER(dim)[0] = (int)levels;
    INTEGER(dim)[1] = (int)entries;
    INTEGER(dim)[2] = (int)rows;
    Rf_setAttrib(made, R_DimSymbol, dim);
    UNPROTECT(1);
    return REAL(made);
}

/* A column of the table as a view; none where the name is NULL or the table lacks it. */
static hf_view view_of(const hf_table *table, const char *name)
{
    size_t column = 0;
    const double *numbers = NULL;
    if (name && hf_table_find(hfr_context, table, name, &column) >= 0)
        hfr_check(hf_table_numbers(hfr_context, table, column, &numbers));
    return (hf_view){numbers, 1, 1};
}

/* The inputs of the table's rows, by rows, until the call ends. */
static double *inputs_of(const hf_model *model, SEXP table, hf_arrays *rows)
{
    SEXP pointer = PROTECT(hfr_owner_of(hfr_free_table));
    hf_table *numbers = NULL;
    const hf_status status = hf_model_inputs(hfr_context, model, R_ExternalPtrAddr(table), &numbers);
    R_SetExternalPtrAddr(pointer, numbers);
    hfr_check(status);
    const size_t n = rows->rows = hf_table_rows(numbers), d = rows->inputs = hf_model_features(model);
    double *x = (double *)R_alloc(n * d + 1, sizeof *x);
    for (size_t j = 0; j < d; j++) {
        const double *column = NULL;
        hfr_check(hf_table_numbers(hfr_context, numbers, j, &column));
        for (size_t i = 0; i < n; i++) x[i * d + j] = column[i];
    }
    UNPROTECT(1);
    return x;
}

/* want: names of members of hf_predictions. */
SEXP hfr_predict(SEXP pointer, SEXP columns, SEXP want, SEXP levels, SEXP threads)
{
    hfr_prepare(threads, 0.0);
    const hf_model *model = hfr_model_of(pointer);
    SEXP table = PROTECT(hfr_table_from(columns));
    const hf_table *asked = R_ExternalPtrAddr(table);
    hf_arrays rows = {.size = sizeof rows};
    rows.x = (hf_view){inputs_of(model, table, &rows), (ptrdiff_t)rows.inputs, 1};
    rows.noise = view_of(asked, hf_model_noise_column(model));
    rows.mean = view_of(asked, hf_model_mean_column(model));
    rows.exposure = view_of(asked, hf_model_exposure_column(model));
    hf_predictions wanted = {
        .size = sizeof wanted, .levels = (size_t)Rf_xlength(levels), .level = REAL(levels)};
    const size_t outputs = hf_model_outputs(model), latents = hf_model_latents(model);
    const struct {
        const char *name;
        double **place;
        size_t entries, levels;
    } all[] = {{"mean", &wanted.mean, outputs, 1},
               {"sd_latent", &wanted.sd_latent, outputs, 1},
               {"sd_observed", &wanted.sd_observed, outputs, 1},
               {"quantile", &wanted.quantile, outputs, wanted.levels},
               {"probability", &wanted.probability, hf_model_classes(model), 1},
               {"latent_mean", &wanted.latent_mean, latents, 1},
               {"latent_sd", &wanted.latent_sd, latents, 1}};
    hfr_list made = hfr_start_list(Rf_xlength(want));
    for (R_xlen_t k = 0; k < Rf_xlength(want); k++)
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            if (strcmp(hfr_text(want, k), all[i].name) == 0)
                *all[i].place = array(&made, all[i].name, rows.rows, all[i].entries, all[i].levels);
    hf_context_set_progress(hfr_context, hfr_go_on, NULL);
    const hf_status status = hf_model_predict_arrays(hfr_context, model, &rows, &wanted);
    hf_context_set_progress(hfr_context, NULL, NULL);
    hfr_check(status == HF_WARN_ROWS_SKIPPED ? HF_OK : status);
    UNPROTECT(3);
    return made.values;
}

/* ---- opinions --------------------------------------------------------------------------------------------------- */

/* Every reading, or the rows of the fit. */
SEXP hfr_rows_of(SEXP pointer, SEXP training)
{
    SEXP table = PROTECT(hfr_owner_of(hfr_free_table));
    hf_table *rows = NULL;
    const hf_status status = Rf_asLogical(training)
                                 ? hf_model_training(hfr_context, hfr_model_of(pointer), &rows)
                                 : hf_model_rows(hfr_context, hfr_model_of(pointer), &rows);
    R_SetExternalPtrAddr(table, rows);
    hfr_check(status);
    SEXP made = PROTECT(table_as_list(rows));
    UNPROTECT(2);
    return made;
}

SEXP hfr_opinions(SEXP pointer)
{
    const hf_model *model = hfr_model_of(pointer);
    const size_t n = hf_model_reading_count(model);
    hf_reading_arrays arrays = {.size = sizeof arrays};
    arrays.row = (size_t *)R_alloc(n + 1, sizeof(size_t));
    arrays.output = (size_t *)R_alloc(n + 1, sizeof(size_t));
    arrays.suspected = (bool *)R_alloc(n + 1, sizeof(bool));
    hfr_list made = hfr_start_list(4);
    arrays.weight = REAL(hfr_put(&made, "weight", Rf_allocVector(REALSXP, (R_xlen_t)n)));
    double *row = REAL(hfr_put(&made, "row", Rf_allocVector(REALSXP, (R_xlen_t)n)));
    double *output = REAL(hfr_put(&made, "output", Rf_allocVector(REALSXP, (R_xlen_t)n)));
    int *suspected = LOGICAL(hfr_put(&made, "suspected", Rf_allocVector(LGLSXP, (R_xlen_t)n)));
    hfr_check(hf_model_readings(hfr_context, model, &arrays));
    for (size_t i = 0; i < n; i++) {
        row[i] = (double)arrays.row[i] + 1;
        output[i] = (double)arrays.output[i] + 1;
        suspected[i] = arrays.suspected[i];
    }
    UNPROTECT(2);
    return made.values;
}

SEXP hfr_shares(SEXP pointer)
{
    const hf_model *model = hfr_model_of(pointer);
    SEXP made = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)hf_model_features(model)));
    hfr_check(hf_model_relevance(hfr_context, model, REAL(made)));
    Rf_setAttrib(made, R_NamesSymbol, hfr_make_texts(model, hf_model_features, hf_model_feature));
    UNPROTECT(1);
    return made;
}

static SEXP scores_of(const hf_metrics *scores, double r2)
{
    SEXP made = PROTECT(Rf_allocVector(REALSXP, 5));
    const double values[] = {scores->rmse, r2, scores->nlpd, scores->coverage90, scores->coverage95};
    for (R_xlen_t k = 0; k < 5; k++) REAL(made)[k] = scores->n > 0 ? values[k] : NA_REAL;
    UNPROTECT(1);
    return made;
}

SEXP hfr_left_out(SEXP pointer)
{
    hf_leave_one_out_scores scores;
    hfr_check(hf_model_leave_one_out(hfr_context, hfr_model_of(pointer), &scores));
    hfr_list made = hfr_start_list(3);
    hfr_put(&made, "this model", scores_of(&scores.model, scores.model_r2));
    hfr_put(&made, "plain Gaussian process", scores_of(&scores.plain, scores.plain_r2));
    hfr_put(&made, "mean of the others", scores_of(&scores.mean, 0.0));
    UNPROTECT(2);
    return made.values;
}

/* ---- certificates ----------------------------------------------------------------------------------------------- */

static SEXP ranges_as_list(const hf_range *range, size_t m)
{
    hfr_list made = hfr_start_list(5);
    double *end[4];
    static const char *const name[] = {"lower", "upper", "lower_attained", "upper_attained"};
    for (size_t k = 0; k < 4; k++)
        end[k] = REAL(hfr_put(&made, name[k], Rf_allocVector(REALSXP, (R_xlen_t)m)));
    SEXP stop = hfr_put(&made, "stop", Rf_allocVector(STRSXP, (R_xlen_t)m));
    for (size_t i = 0; i < m; i++) {
        const double values[] = {range[i].lower, range[i].upper, range[i].lower_attained,
                                 range[i].upper_attained};
        for (size_t k = 0; k < 4; k++) end[k][i] = values[k];
        SET_STRING_ELT(stop, (R_xlen_t)i, Rf_mkChar(hf_enum_name(HF_ENUM_CERTIFY_STOP, range[i].stop)));
    }
    UNPROTECT(2);
    return made.values;
}

/* Boxes by rows, their sides transposed by R; chosen: settings, texts with names. */
SEXP hfr_certify(SEXP pointer, SEXP what, SEXP lower, SEXP upper, SEXP chosen, SEXP threads)
{
    hfr_prepare(threads, 0.0);
    const hf_model *model = hfr_model_of(pointer);
    const size_t d = hf_model_features(model), m = (size_t)Rf_xlength(lower) / d;
    hf_certify_settings settings = hf_certify_settings_default();
    hfr_set(hf_certify_settings_table(), &settings, chosen);
    unsigned value = 0;
    hfr_check(hf_enum_parse(hfr_context, HF_ENUM_CERTIFY_WHAT, hfr_text(what, 0), &value));
    hf_range *range = (hf_range *)R_alloc(m + 1, sizeof *range);
    const hf_classifier *classifier = hf_model_classifier(model);
    hf_context_set_progress(hfr_context, hfr_go_on, NULL);
    const hf_status status =
        classifier ? hf_certify_class(hfr_context, classifier, &settings, m, REAL(lower), REAL(upper), range,
                                      NULL, NULL)
                   : hf_certify_boxes(hfr_context, hf_model_posterior(model), (hf_certify_what)value,
                                      &settings, m, REAL(lower), REAL(upper), range, NULL, NULL);
    hf_context_set_progress(hfr_context, NULL, NULL);
    hfr_check(status);
    return ranges_as_list(range, m);
}
