/* SPDX-License-Identifier: Apache-2.0 */
/* From R's values to the library's and back. Nothing is computed here. Each object of the library belongs to an external
 * pointer, so that an error of R, which jumps, leaks none. */
#include <holdfast/holdfast.h>

#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static hf_context *context; /* R has one thread */
static pid_t owner;         /* the process that made it: a fork must not use more than one thread */

/* ---- statuses, interrupts, objects ------------------------------------------------------------------------------ */

/* Errors and warnings become conditions of R: tell() in conditions.R raises them. */
static void check(hf_status status)
{
    if (status == HF_OK) return;
    const char *message = hf_context_message(context);
    if (*message == '\0') message = hf_status_text(status);
    SEXP text = PROTECT(Rf_ScalarString(Rf_mkCharCE(message, CE_UTF8)));
    SEXP name = PROTECT(Rf_mkString(hf_status_name(status)));
    SEXP call = PROTECT(Rf_lang4(Rf_install("tell"), Rf_ScalarLogical(status < 0), name, text));
    SEXP package = PROTECT(Rf_mkString("holdfast"));
    Rf_eval(call, R_FindNamespace(package));
    UNPROTECT(4);
}

static void look_for_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}

static bool go_on(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)done;
    (void)value;
    (void)user;
    return R_ToplevelExec(look_for_interrupt, NULL) == TRUE;
}

/* Threads and seed (from 0 on, below 2^53) of the next call. */
static void prepare(SEXP threads, double seed)
{
    const bool forked = getpid() != owner;
    check(hf_context_set_threads(context, forked ? 1 : Rf_asInteger(threads)));
    hf_context_set_seed(context, (uint64_t)seed);
}

static void free_model(SEXP pointer)
{
    hf_model_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

static void free_table(SEXP pointer)
{
    hf_table_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

/* An external pointer that will own an object. */
static SEXP owner_of(R_CFinalizer_t release)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, release, TRUE);
    UNPROTECT(1);
    return pointer;
}

static hf_model *model_of(SEXP pointer)
{
    return R_ExternalPtrAddr(pointer);
}

static SEXP is_gone(SEXP pointer)
{
    return Rf_ScalarLogical(R_ExternalPtrAddr(pointer) == NULL);
}

/* ---- texts and lists -------------------------------------------------------------------------------------------- */

static const char *text(SEXP strings, R_xlen_t i)
{
    return Rf_translateCharUTF8(STRING_ELT(strings, i));
}

/* NULL for a NULL of R. */
static const char *text_or_null(SEXP string)
{
    return Rf_isNull(string) ? NULL : text(string, 0);
}

/* Pointers to texts, until the call ends. */
static const char **texts(SEXP strings)
{
    const R_xlen_t count = Rf_xlength(strings);
    const char **all = (const char **)R_alloc((size_t)count + 1, sizeof *all);
    for (R_xlen_t i = 0; i < count; i++) all[i] = text(strings, i);
    return all;
}

static SEXP make_text(const char *string)
{
    return string ? Rf_ScalarString(Rf_mkCharCE(string, CE_UTF8)) : R_NilValue;
}

/* The texts that a function counts and names. */
static SEXP make_texts(const hf_model *model, size_t (*count)(const hf_model *),
                       const char *(*at)(const hf_model *, size_t))
{
    SEXP all = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count(model)));
    for (size_t i = 0; i < count(model); i++)
        SET_STRING_ELT(all, (R_xlen_t)i, Rf_mkCharCE(at(model, i), CE_UTF8));
    UNPROTECT(1);
    return all;
}

/* A list that is filled from its front. */
typedef struct list {
    SEXP values, names;
    R_xlen_t used;
} list;

/* Protects two objects. */
static list start_list(R_xlen_t count)
{
    list made = {PROTECT(Rf_allocVector(VECSXP, count)), PROTECT(Rf_allocVector(STRSXP, count)), 0};
    Rf_setAttrib(made.values, R_NamesSymbol, made.names);
    return made;
}

static SEXP put(list *to, const char *name, SEXP value)
{
    SET_VECTOR_ELT(to->values, to->used, value);
    SET_STRING_ELT(to->names, to->used++, Rf_mkCharCE(name, CE_UTF8));
    return value;
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static void set_factor(hf_table *table, const char *name, SEXP factor)
{
    const size_t rows = (size_t)Rf_xlength(factor);
    SEXP levels = Rf_getAttrib(factor, R_LevelsSymbol);
    size_t *choice = (size_t *)R_alloc(rows + 1, sizeof *choice);
    for (size_t i = 0; i < rows; i++)
        choice[i] = INTEGER(factor)[i] == NA_INTEGER ? SIZE_MAX : (size_t)INTEGER(factor)[i] - 1;
    check(hf_table_set_text(context, table, name, (size_t)Rf_xlength(levels), texts(levels), choice));
}

/* A table out of a list of columns, doubles and factors. */
static SEXP table_from(SEXP columns)
{
    SEXP names = Rf_getAttrib(columns, R_NamesSymbol), pointer = PROTECT(owner_of(free_table));
    const R_xlen_t count = Rf_xlength(columns);
    hf_table *table = NULL;
    check(hf_table_create(context, count > 0 ? (size_t)Rf_xlength(VECTOR_ELT(columns, 0)) : 0, &table));
    R_SetExternalPtrAddr(pointer, table);
    for (R_xlen_t j = 0; j < count; j++) {
        SEXP column = VECTOR_ELT(columns, j);
        if (Rf_isFactor(column))
            set_factor(table, text(names, j), column);
        else
            check(hf_table_set_numbers(context, table, text(names, j), REAL(column)));
    }
    UNPROTECT(1);
    return pointer;
}

static SEXP column_of(const hf_table *table, size_t j)
{
    const size_t rows = hf_table_rows(table);
    const bool numeric = hf_table_is_numeric(table, j);
    SEXP column = PROTECT(Rf_allocVector(numeric ? REALSXP : STRSXP, (R_xlen_t)rows));
    const double *numbers = NULL;
    char buffer[32];
    if (numeric) check(hf_table_numbers(context, table, j, &numbers));
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
    list made = start_list((R_xlen_t)hf_table_columns(table));
    for (size_t j = 0; j < hf_table_columns(table); j++)
        put(&made, hf_table_name(table, j), column_of(table, j));
    UNPROTECT(2);
    return made.values;
}

/* ---- settings --------------------------------------------------------------------------------------------------- */

static SEXP choices_of(const hf_setting *setting)
{
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)setting->choices));
    for (size_t k = 0; k < setting->choices; k++)
        SET_STRING_ELT(names, (R_xlen_t)k, Rf_mkChar(hf_setting_choice(setting, k)));
    UNPROTECT(1);
    return names;
}

/* A list for each setting that has a text. */
static SEXP settings_table(void)
{
    const hf_fit_settings usual = hf_fit_settings_default();
    char value[128];
    list all = start_list((R_xlen_t)hf_setting_count(hf_fit_settings_table()));
    for (size_t i = 0; i < hf_setting_count(hf_fit_settings_table()); i++) {
        const hf_setting *setting = hf_setting_at(hf_fit_settings_table(), i);
        const bool has_text = setting->type < HF_SETTING_LIST;
        list made = start_list(has_text ? 6 : 0);
        if (has_text) {
            check(hf_settings_get(context, hf_fit_settings_table(), &usual, setting->name, sizeof value,
                                  value));
            put(&made, "group", Rf_mkString(setting->group));
            put(&made, "type", Rf_mkString(hf_enum_name(HF_ENUM_SETTING_TYPE, setting->type)));
            put(&made, "default", Rf_mkString(value));
            put(&made, "choices", choices_of(setting));
            put(&made, "unit", Rf_mkString(setting->unit ? setting->unit : ""));
            put(&made, "help", Rf_mkString(setting->help ? setting->help : ""));
        }
        put(&all, setting->name, made.values);
        UNPROTECT(2);
    }
    UNPROTECT(2);
    return all.values;
}

/* Named numbers as assignments. */
static const hf_assignment *assignments(SEXP numbers, size_t *count)
{
    *count = (size_t)Rf_xlength(numbers);
    hf_assignment *made = (hf_assignment *)R_alloc(*count + 1, sizeof *made);
    SEXP names = Rf_getAttrib(numbers, R_NamesSymbol);
    for (size_t k = 0; k < *count; k++) made[k] = (hf_assignment){text(names, (R_xlen_t)k), REAL(numbers)[k]};
    return *count > 0 ? made : NULL;
}

/* A preset (NULL: default, or of labels, counts and amounts that of the sites), then what was chosen. */
static hf_fit_settings settings_from(SEXP preset, SEXP chosen, size_t outputs)
{
    hf_fit_settings settings = hf_fit_settings_default();
    const size_t count = (size_t)Rf_xlength(chosen);
    const char **value = texts(chosen), **name = texts(Rf_getAttrib(chosen, R_NamesSymbol));
    const char *recipe = text_or_null(preset);
    for (size_t k = 0; k < count && !recipe; k++)
        if (strcmp(name[k], "sites") == 0) {
            check(hf_settings_set(context, hf_fit_settings_table(), &settings, name[k], value[k]));
            if (hf_likelihood_has_labels(settings.sites) || hf_likelihood_has_rate(settings.sites))
                check(hf_fit_settings_preset(context, value[k], &settings, sizeof settings));
        }
    if (recipe) check(hf_fit_settings_preset(context, recipe, &settings, sizeof settings));
    for (size_t k = 0; k < count; k++)
        check(hf_settings_set(context, hf_fit_settings_table(), &settings, name[k], value[k]));
    check(hf_fit_settings_complete(context, &settings, recipe != NULL, count, name));
    for (size_t k = 0; k < count; k++)
        check(hf_settings_check(context, hf_fit_settings_table(), &settings, outputs, name[k], NULL));
    return settings;
}

static SEXP has_rate(SEXP preset, SEXP chosen, SEXP outputs)
{
    const hf_fit_settings settings = settings_from(preset, chosen, (size_t)Rf_asInteger(outputs));
    return Rf_ScalarLogical(hf_likelihood_has_rate(settings.sites));
}

/* ---- models ----------------------------------------------------------------------------------------------------- */

/* roles: targets, features, and names of the columns of noise, mean and exposure or NULL. */
static SEXP fit(SEXP columns, SEXP roles, SEXP preset, SEXP chosen, SEXP hold, SEXP start, SEXP threads,
                SEXP seed)
{
    prepare(threads, Rf_asReal(seed));
    SEXP targets = VECTOR_ELT(roles, 0), features = VECTOR_ELT(roles, 1);
    hf_columns use = {.features = texts(features), .feature_count = (size_t)Rf_xlength(features)};
    use.targets = texts(targets);
    use.target_count = (size_t)Rf_xlength(targets);
    use.noise = text_or_null(VECTOR_ELT(roles, 2));
    use.mean = text_or_null(VECTOR_ELT(roles, 3));
    use.exposure = text_or_null(VECTOR_ELT(roles, 4));
    use.text_inputs = true;
    hf_fit_settings settings = settings_from(preset, chosen, use.target_count);
    settings.set = assignments(hold, &settings.set_count);
    settings.start = assignments(start, &settings.start_count);
    SEXP table = PROTECT(table_from(columns)), made = PROTECT(owner_of(free_model));
    hf_model *model = NULL;
    hf_context_set_progress(context, go_on, NULL);
    const hf_status status = hf_fit(context, R_ExternalPtrAddr(table), &use, &settings, &model, NULL);
    hf_context_set_progress(context, NULL, NULL);
    R_SetExternalPtrAddr(made, model);
    check(status < 0 || status == HF_WARN_NOT_CONVERGED ? status
                                                        : HF_OK); /* the model's notes have the rest */
    UNPROTECT(2);
    return made;
}

static SEXP save(SEXP model, SEXP path)
{
    check(hf_model_save(context, model_of(model), text(path, 0)));
    return R_NilValue;
}

/* Into an external pointer that is empty, or (NULL) a new one. */
static SEXP load(SEXP path, SEXP pointer)
{
    hf_model *model = NULL;
    check(hf_model_load(context, text(path, 0), &model));
    SEXP made = PROTECT(Rf_isNull(pointer) ? owner_of(free_model) : pointer);
    if (!Rf_isNull(pointer)) R_RegisterCFinalizerEx(made, free_model, TRUE);
    R_SetExternalPtrAddr(made, model);
    UNPROTECT(1);
    return made;
}

static SEXP parameters_of(const hf_model *model)
{
    const size_t count = hf_model_parameters(model);
    SEXP values = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)count));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
    for (size_t i = 0; i < count; i++) {
        hf_parameter parameter;
        check(hf_model_parameter(model, i, &parameter));
        REAL(values)[i] = parameter.value;
        SET_STRING_ELT(names, (R_xlen_t)i, Rf_mkCharCE(parameter.name, CE_UTF8));
    }
    Rf_setAttrib(values, R_NamesSymbol, names);
    UNPROTECT(2);
    return values;
}

static SEXP report_of(const hf_model *model)
{
    const hf_fit_report *r = hf_model_report(model);
    list made = start_list(10);
    put(&made, "readings", Rf_ScalarReal((double)r->readings));
    put(&made, "missing", Rf_ScalarReal((double)r->missing));
    put(&made, "skipped", Rf_ScalarReal((double)hf_model_skipped(model)));
    put(&made, "suspects", Rf_ScalarReal((double)r->suspects));
    put(&made, "adopted", Rf_ScalarLogical(r->suspects_adopted));
    put(&made, "undecided", Rf_ScalarLogical(r->suspects_undecided));
    put(&made, "chance", Rf_ScalarReal(r->chance));
    put(&made, "objective", Rf_ScalarReal(r->objective));
    put(&made, "solver", Rf_mkString(hf_enum_name(HF_ENUM_SOLVER, r->solver)));
    put(&made, "stop", Rf_mkString(hf_enum_name(HF_ENUM_STOP, r->stop)));
    UNPROTECT(2);
    return made.values;
}

static SEXP describe(SEXP pointer)
{
    const hf_model *model = model_of(pointer);
    const hf_fit_settings *settings = hf_model_settings(model);
    list made = start_list(15);
    put(&made, "features", make_texts(model, hf_model_features, hf_model_feature));
    put(&made, "targets", make_texts(model, hf_model_outputs, hf_model_output));
    put(&made, "target", make_text(hf_model_target(model)));
    put(&made, "output_column", make_text(hf_model_output_column(model)));
    put(&made, "classes", make_texts(model, hf_model_classes, hf_model_class));
    put(&made, "notes", make_texts(model, hf_model_notes, hf_model_note));
    put(&made, "latents", Rf_ScalarReal((double)hf_model_latents(model)));
    put(&made, "noise", make_text(hf_model_noise_column(model)));
    put(&made, "mean", make_text(hf_model_mean_column(model)));
    put(&made, "exposure", make_text(hf_model_exposure_column(model)));
    put(&made, "rate", Rf_ScalarLogical(hf_likelihood_has_rate(settings->sites)));
    put(&made, "transform", Rf_mkString(hf_enum_name(HF_ENUM_TRANSFORM, settings->transform)));
    put(&made, "kernel", make_text(settings->kernel));
    put(&made, "hyperparameters", parameters_of(model));
    put(&made, "report", report_of(model));
    UNPROTECT(2);
    return made.values;
}

/* ---- predictions ------------------------------------------------------------------------------------------------ */

/* An array that C fills by rows: dimensions of R are in the opposite order. */
static double *array(list *to, const char *name, size_t rows, size_t entries, size_t levels)
{
    SEXP made = put(to, name, Rf_allocVector(REALSXP, (R_xlen_t)(rows * entries * levels)));
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
    if (name && hf_table_find(context, table, name, &column) >= 0)
        check(hf_table_numbers(context, table, column, &numbers));
    return (hf_view){numbers, 1, 1};
}

/* The inputs of the table's rows, by rows, until the call ends. */
static double *inputs_of(const hf_model *model, SEXP table, hf_arrays *rows)
{
    SEXP pointer = PROTECT(owner_of(free_table));
    hf_table *numbers = NULL;
    const hf_status status = hf_model_inputs(context, model, R_ExternalPtrAddr(table), &numbers);
    R_SetExternalPtrAddr(pointer, numbers);
    check(status);
    const size_t n = rows->rows = hf_table_rows(numbers), d = rows->inputs = hf_model_features(model);
    double *x = (double *)R_alloc(n * d + 1, sizeof *x);
    for (size_t j = 0; j < d; j++) {
        const double *column = NULL;
        check(hf_table_numbers(context, numbers, j, &column));
        for (size_t i = 0; i < n; i++) x[i * d + j] = column[i];
    }
    UNPROTECT(1);
    return x;
}

/* want: names of members of hf_predictions. */
static SEXP predict(SEXP pointer, SEXP columns, SEXP want, SEXP levels, SEXP threads)
{
    prepare(threads, 0.0);
    const hf_model *model = model_of(pointer);
    SEXP table = PROTECT(table_from(columns));
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
    list made = start_list(Rf_xlength(want));
    for (R_xlen_t k = 0; k < Rf_xlength(want); k++)
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            if (strcmp(text(want, k), all[i].name) == 0)
                *all[i].place = array(&made, all[i].name, rows.rows, all[i].entries, all[i].levels);
    hf_context_set_progress(context, go_on, NULL);
    const hf_status status = hf_model_predict_arrays(context, model, &rows, &wanted);
    hf_context_set_progress(context, NULL, NULL);
    check(status == HF_WARN_ROWS_SKIPPED ? HF_OK : status);
    UNPROTECT(3);
    return made.values;
}

/* ---- opinions --------------------------------------------------------------------------------------------------- */

/* Every reading, or the rows of the fit. */
static SEXP rows_of(SEXP pointer, SEXP training)
{
    SEXP table = PROTECT(owner_of(free_table));
    hf_table *rows = NULL;
    const hf_status status = Rf_asLogical(training) ? hf_model_training(context, model_of(pointer), &rows)
                                                    : hf_model_rows(context, model_of(pointer), &rows);
    R_SetExternalPtrAddr(table, rows);
    check(status);
    SEXP made = PROTECT(table_as_list(rows));
    UNPROTECT(2);
    return made;
}

static SEXP opinions(SEXP pointer)
{
    const hf_model *model = model_of(pointer);
    const size_t n = hf_model_reading_count(model);
    hf_reading_arrays arrays = {.size = sizeof arrays};
    arrays.row = (size_t *)R_alloc(n + 1, sizeof(size_t));
    arrays.output = (size_t *)R_alloc(n + 1, sizeof(size_t));
    arrays.suspected = (bool *)R_alloc(n + 1, sizeof(bool));
    list made = start_list(4);
    arrays.weight = REAL(put(&made, "weight", Rf_allocVector(REALSXP, (R_xlen_t)n)));
    double *row = REAL(put(&made, "row", Rf_allocVector(REALSXP, (R_xlen_t)n)));
    double *output = REAL(put(&made, "output", Rf_allocVector(REALSXP, (R_xlen_t)n)));
    int *suspected = LOGICAL(put(&made, "suspected", Rf_allocVector(LGLSXP, (R_xlen_t)n)));
    check(hf_model_readings(context, model, &arrays));
    for (size_t i = 0; i < n; i++) {
        row[i] = (double)arrays.row[i] + 1;
        output[i] = (double)arrays.output[i] + 1;
        suspected[i] = arrays.suspected[i];
    }
    UNPROTECT(2);
    return made.values;
}

static SEXP shares(SEXP pointer)
{
    const hf_model *model = model_of(pointer);
    SEXP made = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)hf_model_features(model)));
    check(hf_model_relevance(context, model, REAL(made)));
    Rf_setAttrib(made, R_NamesSymbol, make_texts(model, hf_model_features, hf_model_feature));
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

static SEXP left_out(SEXP pointer)
{
    hf_leave_one_out_scores scores;
    check(hf_model_leave_one_out(context, model_of(pointer), &scores));
    list made = start_list(3);
    put(&made, "this model", scores_of(&scores.model, scores.model_r2));
    put(&made, "plain Gaussian process", scores_of(&scores.plain, scores.plain_r2));
    put(&made, "mean of the others", scores_of(&scores.mean, 0.0));
    UNPROTECT(2);
    return made.values;
}

/* ---- certificates ----------------------------------------------------------------------------------------------- */

static SEXP ranges_as_list(const hf_range *range, size_t m)
{
    list made = start_list(5);
    double *end[4];
    static const char *const name[] = {"lower", "upper", "lower_attained", "upper_attained"};
    for (size_t k = 0; k < 4; k++) end[k] = REAL(put(&made, name[k], Rf_allocVector(REALSXP, (R_xlen_t)m)));
    SEXP stop = put(&made, "stop", Rf_allocVector(STRSXP, (R_xlen_t)m));
    for (size_t i = 0; i < m; i++) {
        const double values[] = {range[i].lower, range[i].upper, range[i].lower_attained,
                                 range[i].upper_attained};
        for (size_t k = 0; k < 4; k++) end[k][i] = values[k];
        SET_STRING_ELT(stop, (R_xlen_t)i, Rf_mkChar(hf_enum_name(HF_ENUM_CERTIFY_STOP, range[i].stop)));
    }
    UNPROTECT(2);
    return made.values;
}

/* Boxes by rows, their sides transposed by R; numbers: output or class, tolerance, beta, seconds, observed, rigorous. */
static SEXP certify(SEXP pointer, SEXP what, SEXP lower, SEXP upper, SEXP numbers, SEXP threads)
{
    prepare(threads, 0.0);
    const hf_model *model = model_of(pointer);
    const size_t d = hf_model_features(model), m = (size_t)Rf_xlength(lower) / d;
    const double *number = REAL(numbers);
    hf_certify_settings settings = hf_certify_settings_default();
    settings.output = (size_t)number[0];
    settings.tolerance = number[1];
    settings.beta = number[2];
    settings.time_limit = number[3];
    settings.observed = number[4] > 0;
    settings.rigorous = number[5] > 0;
    unsigned value = 0;
    check(hf_enum_parse(context, HF_ENUM_CERTIFY_WHAT, text(what, 0), &value));
    hf_range *range = (hf_range *)R_alloc(m + 1, sizeof *range);
    const hf_classifier *classifier = hf_model_classifier(model);
    hf_context_set_progress(context, go_on, NULL);
    const hf_status status =
        classifier
            ? hf_certify_class(context, classifier, &settings, m, REAL(lower), REAL(upper), range, NULL, NULL)
            : hf_certify_boxes(context, hf_model_posterior(model), (hf_certify_what)value, &settings, m,
                               REAL(lower), REAL(upper), range, NULL, NULL);
    hf_context_set_progress(context, NULL, NULL);
    check(status);
    return ranges_as_list(range, m);
}

/* ---- the package ------------------------------------------------------------------------------------------------ */

/* clang-format off */
static const R_CallMethodDef routines[] = {
    {"settings_table", (DL_FUNC)(void (*)(void))settings_table, 0},
    {"has_rate", (DL_FUNC)(void (*)(void))has_rate, 3},
    {"fit", (DL_FUNC)(void (*)(void))fit, 8},
    {"save", (DL_FUNC)(void (*)(void))save, 2},
    {"load", (DL_FUNC)(void (*)(void))load, 2},
    {"is_gone", (DL_FUNC)(void (*)(void))is_gone, 1},
    {"describe", (DL_FUNC)(void (*)(void))describe, 1},
    {"predict", (DL_FUNC)(void (*)(void))predict, 5},
    {"rows_of", (DL_FUNC)(void (*)(void))rows_of, 2},
    {"opinions", (DL_FUNC)(void (*)(void))opinions, 1},
    {"shares", (DL_FUNC)(void (*)(void))shares, 1},
    {"left_out", (DL_FUNC)(void (*)(void))left_out, 1},
    {"certify", (DL_FUNC)(void (*)(void))certify, 6},
    {NULL, NULL, 0}};
/* clang-format on */

void R_init_holdfast(DllInfo *info)
{
    context = hf_context_create();
    owner = getpid();
    if (!context) Rf_error("holdfast: out of memory");
    R_registerRoutines(info, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(info, FALSE);
    R_forceSymbols(info, TRUE);
}

void R_unload_holdfast(DllInfo *info)
{
    (void)info;
    hf_context_free(context);
}
