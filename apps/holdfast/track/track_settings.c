/* SPDX-License-Identifier: Apache-2.0 */
/* Options of track create become settings of a new track. An option that the method has no use for is refused. */
#include "track/tracked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const tool_option track_create_options[] = {
    {"box", 0, "RANGES", "measure anywhere in a box: 'x=-50:50' or 'a=0:1,b=-3:3'", true},
    {"candidates", 0, "PLACES.csv", "or at the rows of a table", TOOL_READS},
    {"features", 'f', "A,B,...", "input columns of the candidates (default: all of numbers but\nthe label)",
     true},
    {"label", 0, "COLUMN", "names of the candidates (default: the first column of text)", false},
    {"target", 't', "NAME", "what is measured (default y)", false},
    TOOL_SETTINGS(0, NULL),
    {"learn", 0, "SURVEY.csv",
     "choose method, drift, kernel and noise by readings at many places\nand times (columns time, inputs, "
     "target), as track advise does;\nwith an expert's answers where --queries says how many a step",
     TOOL_READS},
    {"age-table", 0, "AGES.csv",
     "for --age-law table: columns age and added, the variance that a reading\nof that age has more than a "
     "fresh one",
     TOOL_READS},
};

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Whether the method has a use for a setting. */
static bool has_use(const tracked *run, const track_plan *plan, const char *name)
{
    return hf_settings_check(run->session.ctx, hf_track_settings_table(), &plan->settings, 1, name, NULL) >=
           0;
}

/* A number that is the whole text. */
static bool is_number(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(value);
}

/* A word in place of a number is that of a rule. A number in place of a rule's word is the rule of given numbers. */
static hf_status take_track_option(tracked *run, const tool_given *given, hf_track_settings *s)
{
    const hf_settings_table *table = hf_track_settings_table();
    const hf_setting *setting = setting_of(table, given->option->name);
    const char *value = given->value;
    tool_session *session = &run->session;
    if (setting == NULL || strcmp(setting->name, "method") == 0) return HF_OK;
    const bool beta = strcmp(setting->name, "beta") == 0, number = value != NULL && is_number(value);
    if (beta && value != NULL && strcmp(value, "given") == 0)
        return session_misuse(session, "--beta given: write the number itself");
    if (beta) s->beta_rule = HF_BETA_GIVEN;
    if (beta && !number) setting = hf_setting_find(table, "beta_rule");
    if (strcmp(setting->name, "discard") == 0 && value != NULL && strcmp(value, "variance") == 0)
        return session_misuse(session, "--discard variance: write the variance itself");
    if (strcmp(setting->name, "discard") == 0 && number) {
        s->discard = HF_DISCARD_VARIANCE;
        setting = hf_setting_find(table, "discard_variance");
    }
    if (strcmp(setting->name, "robust") == 0 && value != NULL && strcmp(value, "off") == 0) value = "0";
    s->mean_given = s->mean_given || strcmp(setting->name, "mean") == 0;
    return session_wrong_word(session, given->option->name,
                              setting_apply(session->ctx, table, setting, value, s));
}

/* An option that the method has no use for is refused. */
static hf_status check_uses(tracked *run, const track_plan *plan)
{
    static const char *const of_box[] = {"resolution", "samples", "starts"};
    const hf_settings_table *table = hf_track_settings_table();
    const tool_arguments *a = run->arguments;
    for (size_t k = 0; k < sizeof of_box / sizeof of_box[0]; k++)
        if (has_argument(a, of_box[k]) && !has_argument(a, "box"))
            return MISUSE(run, "--%s is for --box; this track has no use for it", of_box[k]);
    if (has_argument(a, "age-table") && !has_use(run, plan, "age.rate"))
        return MISUSE(run, "--age-table is for a method whose readings age");
    for (size_t i = 0; i < a->count; i++) {
        hf_setting_clash clash = {0};
        const hf_setting *setting = setting_of(table, a->list[i].option->name);
        if (setting == NULL ||
            hf_settings_check(run->session.ctx, table, &plan->settings, 1, setting->name, &clash) >= 0)
            continue;
        if (clash.other != NULL && strcmp(clash.other->name, "beta_rule") == 0)
            return MISUSE(run, "--%s is for --beta theory", a->list[i].option->name);
        run->session.refused =
            setting_clash_error(a, run->session.ctx, table, a->list[i].option->name, &clash);
        return HF_ERR_ARGUMENT;
    }
    return HF_OK;
}

/* ---- ages ------------------------------------------------------------------------------------------------------- */

/* The first age that does not go with the one before it; `entries` when all do. */
static size_t wrong_age(tracked *run, const hf_age_law *law)
{
    for (size_t k = 0; k < law->entries; k++) {
        const size_t before = k > 0 ? 1 : 0;
        hf_age_law two = *law;
        two.ages = law->ages + k - before;
        two.added = law->added + k - before;
        two.entries = 1 + before;
        if (hf_age_law_check(run->session.ctx, &two) < 0) return k;
    }
    return law->entries;
}

static hf_status take_table(tracked *run, track_plan *plan)
{
    hf_age_law *law = &plan->settings.age;
    hf_status status =
        hf_table_read_csv(run->session.ctx, argument(run->arguments, "age-table"), &plan->ages);
    if (status >= 0) status = session_column(&run->session, plan->ages, "age", false, &law->ages);
    if (status >= 0) status = session_column(&run->session, plan->ages, "added", false, &law->added);
    if (status < 0) return status;
    law->entries = hf_table_rows(plan->ages);
    const size_t wrong = wrong_age(run, law);
    status = hf_age_law_check(run->session.ctx, law);
    if (wrong == law->entries)
        return session_refuse_at(&run->session, status, "%s", hf_table_source(plan->ages));
    return session_refuse_at(&run->session, status, "%s, line %zu", hf_table_source(plan->ages),
                             hf_table_line(plan->ages, wrong));
}

static hf_status take_ages(tracked *run, track_plan *plan)
{
    const tool_arguments *a = run->arguments;
    const hf_age_kind kind = plan->settings.age.kind;
    const bool table = has_argument(a, "age-table");
    if (!has_use(run, plan, "age.rate")) return HF_OK;
    if (kind == HF_AGE_TABLE && !table) return MISUSE(run, "--age-law table needs --age-table AGES.csv");
    if (kind != HF_AGE_TABLE && table) return MISUSE(run, "--age-table is for --age-law table");
    const bool rated = kind != HF_AGE_TABLE && kind != HF_AGE_NONE;
    if (rated && !has_argument(a, "drift"))
        return MISUSE(run, "--drift is missing: how much can the function change in a unit of time? (--learn "
                           "SURVEY.csv learns it from readings, and which method to use)");
    if (!rated && has_argument(a, "drift"))
        return MISUSE(run, "--drift is not for --age-law %s", hf_enum_name(HF_ENUM_AGE_KIND, kind));
    return table ? take_table(run, plan) : HF_OK;
}

/* Settings that the method cannot do without. */
static hf_status check_needs(tracked *run, const track_plan *plan)
{
    static const char *const needed[] = {"window", "forgetting"};
    const char *method = hf_enum_name(HF_ENUM_TRACK_METHOD, plan->settings.method);
    for (size_t k = 0; k < sizeof needed / sizeof needed[0]; k++)
        if (!has_argument(run->arguments, needed[k]) && has_use(run, plan, needed[k]))
            return MISUSE(run, "--%s is missing: %s needs it", needed[k], method);
    return HF_OK;
}

hf_status plan_options(tracked *run, track_plan *plan)
{
    const tool_arguments *a = run->arguments;
    hf_status status = HF_OK;
    for (size_t i = 0; i < a->count && status >= 0; i++)
        status = take_track_option(run, &a->list[i], &plan->settings);
    return status >= 0 ? check_uses(run, plan) : status;
}

hf_status plan_settings(tracked *run, track_plan *plan)
{
    const char *name = argument(run->arguments, "method"), *target = argument(run->arguments, "target");
    hf_track_method method = HF_TRACK_SPARQ_REUSE;
    hf_status status = HF_OK;
    if (name != NULL)
        status = session_wrong_word(&run->session, "method",
                                    hf_enum_parse(run->session.ctx, HF_ENUM_TRACK_METHOD, name, &method));
    if (status < 0) return status;
    plan->settings = hf_track_settings_default(method);
    plan->target = target != NULL ? target : "y";
    status = plan_options(run, plan);
    if (status >= 0) status = take_ages(run, plan);
    return status >= 0 ? check_needs(run, plan) : status;
}
