/* SPDX-License-Identifier: Apache-2.0 */
/* From R's values to the library's and back. Nothing is computed here. Each object of the library belongs to
 * an external pointer, so that an error of R, which jumps, leaks none. */
#include "package.h"

#include <R_ext/Rdynload.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

hf_context *hfr_context;
static pid_t owner; /* the process that made it: a fork must not use more than one thread */

/* ---- statuses, interrupts, objects ------------------------------------------------------------------------------ */

void hfr_check(hf_status status)
{
    if (status == HF_OK) return;
    const char *message = hf_context_message(hfr_context);
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

bool hfr_go_on(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)done;
    (void)value;
    (void)user;
    return R_ToplevelExec(look_for_interrupt, NULL) == TRUE;
}

void hfr_prepare(SEXP threads, double seed)
{
    const bool forked = getpid() != owner;
    hfr_check(hf_context_set_threads(hfr_context, forked ? 1 : Rf_asInteger(threads)));
    hf_context_set_seed(hfr_context, (uint64_t)seed);
}

static void free_model(SEXP pointer)
{
    hf_model_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

void hfr_free_table(SEXP pointer)
{
    hf_table_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

SEXP hfr_owner_of(R_CFinalizer_t release)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, release, TRUE);
    UNPROTECT(1);
    return pointer;
}

hf_model *hfr_model_of(SEXP pointer)
{
    return R_ExternalPtrAddr(pointer);
}

static SEXP is_gone(SEXP pointer)
{
    return Rf_ScalarLogical(R_ExternalPtrAddr(pointer) == NULL);
}

/* ---- texts and lists -------------------------------------------------------------------------------------------- */

const char *hfr_text(SEXP strings, R_xlen_t i)
{
    return Rf_translateCharUTF8(STRING_ELT(strings, i));
}

/* NULL for a NULL of R. */
static const char *text_or_null(SEXP string)
{
    return Rf_isNull(string) ? NULL : hfr_text(string, 0);
}

/* Pointers to texts, until the call ends. */
static const char **texts(SEXP strings)
{
    const R_xlen_t count = Rf_xlength(strings);
    const char **all = (const char **)R_alloc((size_t)count + 1, sizeof *all);
    for (R_xlen_t i = 0; i < count; i++) all[i] = hfr_text(strings, i);
    return all;
}

SEXP hfr_make_text(const char *string)
{
    return string ? Rf_ScalarString(Rf_mkCharCE(string, CE_UTF8)) : R_NilValue;
}

SEXP hfr_make_texts(const hf_model *model, size_t (*count)(const hf_model *),
                    const char *(*at)(const hf_model *, size_t))
{
    SEXP all = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count(model)));
    for (size_t i = 0; i < count(model); i++)
        SET_STRING_ELT(all, (R_xlen_t)i, Rf_mkCharCE(at(model, i), CE_UTF8));
    UNPROTECT(1);
    return all;
}

hfr_list hfr_start_list(R_xlen_t count)
{
    hfr_list made = {PROTECT(Rf_allocVector(VECSXP, count)), PROTECT(Rf_allocVector(STRSXP, count)), 0};
    Rf_setAttrib(made.values, R_NamesSymbol, made.names);
    return made;
}

SEXP hfr_put(hfr_list *to, const char *name, SEXP value)
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
    hfr_check(hf_table_set_text(hfr_context, table, name, (size_t)Rf_xlength(levels), texts(levels), choice));
}

SEXP hfr_table_from(SEXP columns)
{
    SEXP names = Rf_getAttrib(columns, R_NamesSymbol), pointer = PROTECT(hfr_owner_of(hfr_free_table));
    const R_xlen_t count = Rf_xlength(columns);
    hf_table *table = NULL;
    hfr_check(
        hf_table_create(hfr_context, count > 0 ? (size_t)Rf_xlength(VECTOR_ELT(columns, 0)) : 0, &table));
    R_SetExternalPtrAddr(pointer, table);
    for (R_xlen_t j = 0; j < count; j++) {
        SEXP column = VECTOR_ELT(columns, j);
        if (Rf_isFactor(column))
            set_factor(table, hfr_text(names, j), column);
        else
            hfr_check(hf_table_set_numbers(hfr_context, table, hfr_text(names, j), REAL(column)));
    }
    UNPROTECT(1);
    return pointer;
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
    hfr_list all = hfr_start_list((R_xlen_t)hf_setting_count(hf_fit_settings_table()));
    for (size_t i = 0; i < hf_setting_count(hf_fit_settings_table()); i++) {
        const hf_setting *setting = hf_setting_at(hf_fit_settings_table(), i);
        const bool has_text = setting->type < HF_SETTING_LIST;
        hfr_list made = hfr_start_list(has_text ? 6 : 0);
        if (has_text) {
            hfr_check(hf_settings_get(hfr_context, hf_fit_settings_table(), &usual, setting->name,
                                      sizeof value, value));
            hfr_put(&made, "group", Rf_mkString(setting->group));
            hfr_put(&made, "type", Rf_mkString(hf_enum_name(HF_ENUM_SETTING_TYPE, setting->type)));
            hfr_put(&made, "default", Rf_mkString(value));
            hfr_put(&made, "choices", choices_of(setting));
            hfr_put(&made, "unit", Rf_mkString(setting->unit ? setting->unit : ""));
            hfr_put(&made, "help", Rf_mkString(setting->help ? setting->help : ""));
        }
        hfr_put(&all, setting->name, made.values);
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
    for (size_t k = 0; k < *count; k++)
        made[k] = (hf_assignment){hfr_text(names, (R_xlen_t)k), REAL(numbers)[k]};
    return *count > 0 ? made : NULL;
}

void hfr_set(const hf_settings_table *table, void *settings, SEXP chosen)
{
    const char **value = texts(chosen), **name = texts(Rf_getAttrib(chosen, R_NamesSymbol));
    for (R_xlen_t k = 0; k < Rf_xlength(chosen); k++)
        hfr_check(hf_settings_set(hfr_context, table, settings, name[k], value[k]));
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
            hfr_check(hf_settings_set(hfr_context, hf_fit_settings_table(), &settings, name[k], value[k]));
            if (hf_likelihood_has_labels(settings.sites) || hf_likelihood_has_rate(settings.sites))
                hfr_check(hf_fit_settings_preset(hfr_context, value[k], &settings, sizeof settings));
        }
    if (recipe) hfr_check(hf_fit_settings_preset(hfr_context, recipe, &settings, sizeof settings));
    hfr_set(hf_fit_settings_table(), &settings, chosen);
    hfr_check(hf_fit_settings_complete(hfr_context, &settings, recipe != NULL, count, name));
    for (size_t k = 0; k < count; k++)
        hfr_check(hf_settings_check(hfr_context, hf_fit_settings_table(), &settings, outputs, name[k], NULL));
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
    hfr_prepare(threads, Rf_asReal(seed));
    SEXP targets = VECTOR_ELT(roles, 0), features = VECTOR_ELT(roles, 1);
    hf_columns use = {
        .size = sizeof use, .features = texts(features), .feature_count = (size_t)Rf_xlength(features)};
    use.targets = texts(targets);
    use.target_count = (size_t)Rf_xlength(targets);
    use.noise = text_or_null(VECTOR_ELT(roles, 2));
    use.mean = text_or_null(VECTOR_ELT(roles, 3));
    use.exposure = text_or_null(VECTOR_ELT(roles, 4));
    use.text_inputs = true;
    hf_fit_settings settings = settings_from(preset, chosen, use.target_count);
    settings.set = assignments(hold, &settings.set_count);
    settings.start = assignments(start, &settings.start_count);
    SEXP table = PROTECT(hfr_table_from(columns)), made = PROTECT(hfr_owner_of(free_model));
    hf_model *model = NULL;
    hf_context_set_progress(hfr_context, hfr_go_on, NULL);
    const hf_status status = hf_fit(hfr_context, R_ExternalPtrAddr(table), &use, &settings, &model, NULL);
    hf_context_set_progress(hfr_context, NULL, NULL);
    R_SetExternalPtrAddr(made, model);
    hfr_check(status < 0 || status == HF_WARN_NOT_CONVERGED ? status
                                                            : HF_OK); /* the model's notes have the rest */
    UNPROTECT(2);
    return made;
}

static SEXP save(SEXP model, SEXP path)
{
    hfr_check(hf_model_save(hfr_context, hfr_model_of(model), hfr_text(path, 0)));
    return R_NilValue;
}

/* Into an external pointer that is empty, or (NULL) a new one. */
static SEXP load(SEXP path, SEXP pointer)
{
    hf_model *model = NULL;
    hfr_check(hf_model_load(hfr_context, hfr_text(path, 0), &model));
    SEXP made = PROTECT(Rf_isNull(pointer) ? hfr_owner_of(free_model) : pointer);
    if (!Rf_isNull(pointer)) R_RegisterCFinalizerEx(made, free_model, TRUE);
    R_SetExternalPtrAddr(made, model);
    UNPROTECT(1);
    return made;
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
    {"describe", (DL_FUNC)(void (*)(void))hfr_describe, 1},
    {"predict", (DL_FUNC)(void (*)(void))hfr_predict, 5},
    {"rows_of", (DL_FUNC)(void (*)(void))hfr_rows_of, 2},
    {"opinions", (DL_FUNC)(void (*)(void))hfr_opinions, 1},
    {"shares", (DL_FUNC)(void (*)(void))hfr_shares, 1},
    {"left_out", (DL_FUNC)(void (*)(void))hfr_left_out, 1},
    {"certify", (DL_FUNC)(void (*)(void))hfr_certify, 6},
    {NULL, NULL, 0}};
/* clang-format on */

void R_init_holdfast(DllInfo *info)
{
    hfr_context = hf_context_create();
    owner = getpid();
    if (!hfr_context) Rf_error("holdfast: out of memory");
    R_registerRoutines(info, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(info, FALSE);
    R_forceSymbols(info, TRUE);
}

void R_unload_holdfast(DllInfo *info)
{
    (void)info;
    hf_context_free(hfr_context);
}
