/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a fit, as JSON. */
#include "report/report.h"
#include "shell/settings.h"

#include <math.h>
#include <string.h>

static const char *unit_name(hf_unit unit)
{
    static const char *const names[] = {
        "none", "input", "1/input", "1/input^2", "target^2", "target^2/input^2", "target"};
    return names[unit];
}

static json_t *json_hyperparameters(const hf_model *model)
{
    json_t *list = json_array();
    for (size_t i = 0; i < hf_model_parameters(model); i++) {
        hf_parameter p;
        if (hf_model_parameter(model, i, &p) < 0) continue;
        json_t *entry = JSON_OF({"name", json_string(p.name)}, {"value", json_number(p.value)},
                                {"unit", json_string(unit_name(p.unit))}, {"held", json_boolean(p.fixed)});
        if (p.column < hf_model_features(model))
            json_object_set_new(entry, "column", json_text(hf_model_feature(model, p.column)));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *json_numbers(size_t count, const double *values)
{
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++) json_array_append_new(list, json_number(values[k]));
    return list;
}

/* Whether a setting says anything of models with these sites and outputs. */
static bool is_told(const hf_model *model, const hf_setting *setting)
{
    hf_setting_clash clash = {0};
    const hf_fit_settings *s = hf_model_settings_of(model);
    if (!setting->in_model) return false;
    if (hf_settings_check(NULL, hf_fit_settings_table(), s, hf_model_outputs(model), setting->name, &clash) >=
        0)
        return true;
    if (clash.setting == NULL) return true;
    return clash.other != NULL && strcmp(clash.other->name, "sites") != 0 &&
           strcmp(clash.other->name, "centre") != 0;
}

static json_t *json_settings(const hf_model *model)
{
    const hf_fit_settings *s = hf_model_settings_of(model);
    json_t *object = json_object();
    for (size_t i = 0; i < hf_setting_count(hf_fit_settings_table()); i++) {
        const hf_setting *setting = hf_setting_at(hf_fit_settings_table(), i);
        if (!is_told(model, setting)) continue;
        /* as asked for: `auto` and null mean that the report says what came of it */
        json_object_set_new(object, setting->name, json_setting(hf_fit_settings_table(), s, setting));
    }
    if (s->output_beta != NULL)
        json_object_set_new(object, "output_beta", json_numbers(s->output_beta_count, s->output_beta));
    if (s->output_eps != NULL)
        json_object_set_new(object, "output_eps", json_numbers(s->output_eps_count, s->output_eps));
    return object;
}

/* Predictions that a verdict on the suspects gives; null where nobody is suspected. */
static json_t *json_side(const hf_outliers_side *side)
{
    if (isnan(side->error)) return json_null();
    return JSON_OF({"error", json_number(side->error)}, {"sd", json_number(side->sd)});
}

static json_t *json_report(const hf_model *model)
{
    const hf_fit_report *r = hf_model_report_of(model);
    return JSON_OF({"readings", json_count(r->readings)}, {"missing", json_count(r->missing)},
                   {"rows_skipped", json_count(hf_model_skipped(model))},
                   {"stop", json_string(hf_enum_name(HF_ENUM_STOP, r->stop))},
                   {"evaluations", json_count(r->evaluations)}, {"rounds", json_count(r->rounds)},
                   {"objective", json_number(r->objective)}, {"log_prior", json_number(r->log_prior)},
                   {"gradient_norm", json_number(r->gradient_norm)}, {"at_bound", json_count(r->at_bound)},
                   {"at_bound_names", json_string(r->at_bound_names)}, {"jitter", json_number(r->jitter)},
                   {"condition", json_number(r->condition)}, {"backward", json_number(r->backward)},
                   {"bytes", json_number(r->bytes)}, {"seconds", json_number(r->seconds)},
                   {"threshold", json_number(r->threshold)},
                   {"solver", json_string(hf_enum_name(HF_ENUM_SOLVER, r->solver))},
                   {"inducing", json_count(r->inducing)}, {"actions", json_count(r->actions)},
                   {"passes", json_count(r->passes)}, {"residual", json_number(r->residual)},
                   {"nu", json_number(r->nu)}, {"suspects", json_count(r->suspects)},
                   {"suspects_adopted", json_boolean(r->suspects_adopted)}, {"groups", json_count(r->groups)},
                   {"benefit", json_number(r->benefit)}, {"gain", json_number(r->gain)},
                   {"chance", json_number(r->chance)},
                   {"suspects_undecided", json_boolean(r->suspects_undecided)}, {"kept", json_side(&r->kept)},
                   {"set_aside", json_side(&r->set_aside)}, {"calibration", json_number(r->calibration)});
}

static json_t *json_suspects(const hf_model *model, const hf_table *suspects)
{
    const bool plain = hf_model_settings_of(model)->transform == HF_TRANSFORM_NONE;
    const char *const columns[] = {"row",    "y",      plain ? "loo_mean" : "loo_median",
                                   "loo_sd", "weight", "group"};
    static const char *const keys[] = {"row", "y", "expected", "sd", "weight", "group"};
    if (suspects == NULL) return json_null(); /* the model has no rows to name them by */
    const double *output = table_column(NULL, suspects, "output");
    const double *line = table_column(NULL, suspects, "line"); /* of the file, where that is at hand */
    json_t *list = json_array();
    for (size_t i = 0; i < hf_table_rows(suspects); i++) {
        json_t *entry = json_object();
        if (output != NULL)
            json_object_set_new(entry, "output", json_text(hf_model_output(model, (size_t)output[i])));
        if (line != NULL) json_object_set_new(entry, "line", json_count((size_t)line[i]));
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            const double *numbers = table_column(NULL, suspects, columns[k]);
            bool whole = strcmp(keys[k], "row") == 0 || strcmp(keys[k], "group") == 0;
            double value = numbers != NULL ? numbers[i] : NAN;
            json_object_set_new(entry, keys[k], whole ? json_count((size_t)value) : json_number(value));
        }
        json_array_append_new(list, entry);
    }
    return list;
}

json_t *json_model(const hf_model *model, const hf_table *suspects, const tool_quality *quality)
{
    const char *noise = hf_model_noise_column(model), *mean = hf_model_mean_column(model);
    json_t *features = json_array(), *notes = json_array();
    for (size_t j = 0; j < hf_model_features(model); j++)
        json_array_append_new(features, json_text(hf_model_feature(model, j)));
    for (size_t i = 0; i < hf_model_notes(model); i++)
        json_array_append_new(notes, json_text(hf_model_note(model, i)));
    const char *exposure = hf_model_exposure_column(model);
    uint64_t seed = 0;
    const bool seeded = hf_model_seed(model, &seed);
    double trained = NAN, observed = NAN;
    const bool noisy = trained_noise(model, &trained, &observed);
    json_t *object = JSON_OF(
        {"holdfast", json_string(hf_version())}, {"source", json_text(hf_model_source(model))},
        {"target", json_text(hf_model_target(model))}, {"features", features},
        {"noise_column", json_text(noise)}, {"mean_column", json_text(mean)},
        {"settings", json_settings(model)}, {"report", json_report(model)},
        {"parameters", json_hyperparameters(model)}, {"suspects", json_suspects(model, suspects)},
        {"notes", notes}, {"data_sha256", json_text(hf_model_data_checksum(model))},
        {exposure != NULL ? "exposure_column" : NULL, json_text(exposure)},
        {"command", json_text(hf_model_command(model))}, {"seed", seeded ? json_count(seed) : json_null()},
        {noisy ? "noise" : NULL,
         JSON_OF({"trained", json_number(trained)}, {"observed", json_number(observed)})});
    if (object != NULL && has_outputs_table(model)) json_add_outputs(object, model, suspects);
    if (object != NULL && hf_model_can(model, HF_ABILITY_CLASS_SCORES)) json_add_classes(object, model);
    if (object != NULL) json_add_quality(object, model, quality);
    return object;
}
