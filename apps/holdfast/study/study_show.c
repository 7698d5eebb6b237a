/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study show */
#include "study/studied.h"

#include <math.h>
#include <stdlib.h>

static const tool_option options[] = {
    {"trials", 0, NULL, "all trials, a line each", false},
    {"journal", 0, NULL, "everything that happened, a line each", false},
    {"suspects", 0, NULL, "trials whose values are doubted, only", false},
};

/* How many trials are in each state. */
typedef struct counts {
    size_t of[HF_TRIAL_EXPIRED + 1];
    size_t suspected, aside;
} counts;

static hf_status count_trials(const studied *run, counts *c)
{
    hf_status status = HF_OK;
    *c = (counts){0};
    for (uint64_t id = 1; id <= hf_study_trials(run->study) && status >= 0; id++) {
        hf_trial t;
        status = hf_study_trial(run->session.ctx, run->study, id, &t);
        if (status < 0) break;
        c->of[t.state]++;
        c->suspected += t.suspected;
        c->aside += t.aside;
    }
    return status;
}

/* ---- what the study is ------------------------------------------------------------------------------------------ */

static void print_variable(const studied *run, size_t j)
{
    char from[32], to[32];
    const hf_variable *v = &run->settings->variable[j];
    say(stdout, "  variable   %s, ", v->name);
    if (v->level == NULL) {
        say(stdout, "%s from %s to %s%s\n", hf_enum_name(HF_ENUM_VARIABLE_KIND, v->kind),
            hf_format_double(v->lower, from), hf_format_double(v->upper, to), v->log ? ", by ratios" : "");
        return;
    }
    printf("%s:", hf_enum_name(HF_ENUM_VARIABLE_KIND, v->kind));
    for (size_t k = 0; k < v->levels; k++) say(stdout, "%s %s", k > 0 ? "," : "", v->level[k]);
    putchar('\n');
}

static void print_settings(const studied *run)
{
    char goal[64];
    const hf_study_settings *s = run->settings;
    for (size_t j = 0; j < run->d; j++) print_variable(run, j);
    for (size_t o = 0; o < run->outcomes; o++)
        say(stdout, "  outcome    %s, %s%s\n", s->outcome[o].name, studied_goal(run, o, goal),
            s->outcome[o].certain ? ", for certain" : "");
    say(stdout, "  surrogate  %s%s%s%s%s\n", s->preset, s->kernel != NULL ? ", kernel " : "",
        s->kernel != NULL ? s->kernel : "", s->robust ? "" : ", every value is believed",
        s->expert == HF_EXPERT_USE_MEAN ? ", an expert's corrections for a prior mean" : "");
    printf("  asking     %s; reach %s; %zu trials fill the space first\n",
           studied_objectives(run) > 1 ? "hypervolume improvement"
           : s->thompson               ? "thompson"
                                       : hf_enum_name(HF_ENUM_ACQUISITION, s->acquisition),
           hf_enum_name(HF_ENUM_STUDY_REACH, s->reach), s->start);
}

/* ---- trials ----------------------------------------------------------------------------------------------------- */

/* "told 31, the others say 0.3 (sd 0.02)" */
static void print_doubt(const studied *run, const hf_trial *t)
{
    char number[32];
    say(stdout, "%s: told %s = %s, the others say %.6g (sd %.3g)", t->aside ? "set aside" : "doubted",
        run->settings->outcome[t->outcome].name, hf_format_double(t->value[t->outcome], number), t->mean,
        t->sd);
}

static void print_trial(const studied *run, const hf_trial *t)
{
    char at[STUDIED_WORDS], told[STUDIED_WORDS];
    say(stdout, "  %llu  %s, %s", (unsigned long long)t->id, hf_enum_name(HF_ENUM_TRIAL_STATE, t->state),
        hf_enum_name(HF_ENUM_REASON, t->reason));
    if (t->repeats > 0) printf(" of %llu", (unsigned long long)t->repeats);
    say(stdout, "  %s", studied_at(run, t->at, sizeof at, at));
    studied_told(run, t->value, sizeof told, told);
    if (*told != '\0') say(stdout, ": %s", told);
    if (*t->note != '\0') say(stdout, " (%s)", t->note);
    if (t->suspected) {
        fputs("; ", stdout);
        print_doubt(run, t);
    }
    putchar('\n');
}

/* Which trials. */
typedef enum filter {
    ANY,
    PENDING,
    ASIDE,
    SUSPECTED
} filter;

static bool passes(const hf_trial *t, filter which)
{
    return which == ANY || (which == PENDING && t->state == HF_TRIAL_PENDING) ||
           (which == ASIDE && t->aside) || (which == SUSPECTED && t->suspected);
}

/* Trials that a filter lets through, as lines after a heading, or into a list. */
static hf_status list_trials(const studied *run, filter which, const char *heading, json_t *list)
{
    hf_status status = HF_OK;
    bool any = false;
    for (uint64_t id = 1; id <= hf_study_trials(run->study) && status >= 0; id++) {
        hf_trial t;
        status = hf_study_trial(run->session.ctx, run->study, id, &t);
        if (status < 0 || !passes(&t, which)) continue;
        if (list != NULL) {
            json_array_append_new(list, studied_json_trial(run, &t));
            continue;
        }
        if (!any && heading != NULL) puts(heading);
        any = true;
        print_trial(run, &t);
    }
    return status;
}

/* ---- which parameters matter ------------------------------------------------------------------------------------ */

static hf_status tell_relevance(const studied *run, size_t outcome, json_t *list)
{
    double *share = calloc(3 * run->d, sizeof *share);
    if (share == NULL) return HF_ERR_MEMORY;
    double *low = share + run->d, *high = low + run->d;
    hf_status status = hf_study_relevance(run->session.ctx, run->study, outcome, share, low, high);
    if (status >= 0 && list == NULL)
        say(stdout, "\nWhat matters to %s: share of its variation, with a 90 %% interval\n",
            run->settings->outcome[outcome].name);
    for (size_t j = 0; j < run->d && status >= 0; j++) {
        const char *name = run->settings->variable[j].name;
        if (list == NULL)
            say(stdout, "  %s  %.2f (%.2f to %.2f)\n", name, share[j], low[j], high[j]);
        else
            json_array_append_new(list,
                                  JSON_OF({"outcome", json_text(run->settings->outcome[outcome].name)},
                                          {"variable", json_text(name)}, {"share", json_number(share[j])},
                                          {"lower", json_number(low[j])}, {"upper", json_number(high[j])}));
    }
    free(share);
    return status == HF_ERR_NO_DATA ? HF_OK : status;
}

static hf_status tell_objectives(const studied *run, json_t *list)
{
    hf_status status = HF_OK;
    for (size_t o = 0; o < run->outcomes && status >= 0; o++)
        if (studied_is_objective(run, o)) status = tell_relevance(run, o, list);
    return status;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static hf_status print_journal(studied *run)
{
    char when[32];
    study_journal journal;
    hf_status status = study_journal_read(run, &journal);
    for (size_t i = 0; i < journal.count && status >= 0; i++) {
        printf("  %llu  %s  ", (unsigned long long)journal.entry[i].number,
               studied_time(journal.entry[i].time, when));
        study_journal_print(run, &journal.entry[i], false);
    }
    study_journal_free(&journal);
    return status;
}

static hf_status print_summary(studied *run)
{
    counts c;
    hf_status status = count_trials(run, &c);
    if (status < 0) return status;
    say(stdout, "%s: a study\n", run->arguments->operand[0]);
    print_settings(run);
    printf("\n%llu trials: %zu told, %zu pending, %zu failed, %zu given up; %zu doubted, %zu of them set "
           "aside\n",
           (unsigned long long)hf_study_trials(run->study), c.of[HF_TRIAL_TOLD], c.of[HF_TRIAL_PENDING],
           c.of[HF_TRIAL_FAILED], c.of[HF_TRIAL_EXPIRED], c.suspected, c.aside);
    status = list_trials(run, ASIDE, "\nSet aside", NULL);
    if (status >= 0) status = list_trials(run, PENDING, "\nPending", NULL);
    return status >= 0 ? tell_objectives(run, NULL) : status;
}

static hf_status print_study_text(studied *run)
{
    const tool_arguments *a = run->arguments;
    if (has_argument(a, "journal")) return print_journal(run);
    if (has_argument(a, "trials")) return list_trials(run, ANY, NULL, NULL);
    if (has_argument(a, "suspects")) return list_trials(run, SUSPECTED, NULL, NULL);
    return print_summary(run);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *json_variables(const studied *run)
{
    json_t *list = json_array();
    for (size_t j = 0; j < run->d; j++) {
        const hf_variable *v = &run->settings->variable[j];
        const bool number = v->level == NULL;
        json_t *labels = json_array();
        for (size_t k = 0; k < v->levels && !number; k++)
            json_array_append_new(labels, json_text(v->level[k]));
        json_array_append_new(
            list, JSON_OF({"name", json_text(v->name)},
                          {"kind", json_string(hf_enum_name(HF_ENUM_VARIABLE_KIND, v->kind))},
                          {number ? "lower" : NULL, json_number(v->lower)},
                          {number ? "upper" : NULL, json_number(v->upper)},
                          {number ? "log" : NULL, json_boolean(v->log)}, {number ? NULL : "labels", labels}));
    }
    return list;
}

static json_t *json_outcomes_of(const studied *run)
{
    json_t *list = json_array();
    for (size_t o = 0; o < run->outcomes; o++) {
        const hf_outcome *out = &run->settings->outcome[o];
        json_t *certain =
            JSON_OF({"noise", json_number(out->noise_bound)}, {"norm", json_number(out->norm_bound)},
                    {"centre", json_number(out->centre)}, {"kernel", json_text(out->kernel)});
        json_array_append_new(
            list, JSON_OF({"name", json_text(out->name)},
                          {"goal", json_string(hf_enum_name(HF_ENUM_GOAL, out->goal))},
                          {studied_is_objective(run, o) ? NULL : "limit", json_number(out->limit)},
                          {out->certain ? "certain" : NULL, certain}));
    }
    return list;
}

static json_t *json_settings(const studied *run)
{
    const hf_study_settings *s = run->settings;
    return JSON_OF(
        {"surrogate", json_string(s->preset)}, {"kernel", json_text(s->kernel)},
        {"acquisition",
         json_string(s->thompson ? "thompson" : hf_enum_name(HF_ENUM_ACQUISITION, s->acquisition))},
        {"beta", json_number(s->beta)}, {"reach", json_string(hf_enum_name(HF_ENUM_STUDY_REACH, s->reach))},
        {"regions", json_count(s->regions)}, {"start", json_count(s->start)}, {"draws", json_count(s->draws)},
        {"doubt", json_boolean(s->robust)}, {"repeats", json_count(s->repeats)},
        {"expert", json_string(hf_enum_name(HF_ENUM_EXPERT_USE, s->expert))},
        {"expires", s->expires > 0.0 ? json_number(s->expires) : json_null()}, {"seed", json_count(s->seed)});
}

static json_t *json_counts(const counts *c)
{
    json_t *object = json_object();
    for (size_t k = 0; k <= HF_TRIAL_EXPIRED; k++)
        json_object_set_new(object, hf_enum_name(HF_ENUM_TRIAL_STATE, (unsigned)k), json_count(c->of[k]));
    return object;
}

static hf_status add_list(const studied *run, json_t *object, const char *key, filter which)
{
    json_t *list = json_array();
    json_object_set_new(object, key, list);
    return list_trials(run, which, NULL, list);
}

static hf_status add_journal(studied *run, json_t *object)
{
    study_journal journal;
    json_t *list = json_array();
    json_object_set_new(object, "journal", list);
    const hf_status status = study_journal_read(run, &journal);
    for (size_t i = 0; i < journal.count && status >= 0; i++)
        json_array_append_new(list, study_journal_json(run, &journal.entry[i]));
    study_journal_free(&journal);
    return status;
}

static hf_status add_summary(const studied *run, json_t *object)
{
    counts c;
    hf_status status = count_trials(run, &c);
    if (status < 0) return status;
    json_t *relevance = json_array();
    JSON_ADD(object, {"file", json_text(run->arguments->operand[0])}, {"variables", json_variables(run)},
             {"outcomes", json_outcomes_of(run)}, {"settings", json_settings(run)},
             {"trials", json_count(hf_study_trials(run->study))}, {"states", json_counts(&c)},
             {"relevance", relevance});
    status = add_list(run, object, "suspects", SUSPECTED);
    if (status >= 0) status = add_list(run, object, "pending", PENDING);
    return status >= 0 ? tell_objectives(run, relevance) : status;
}

static hf_status print_study_json(studied *run)
{
    const tool_arguments *a = run->arguments;
    json_t *object = json_object();
    hf_status status;
    if (has_argument(a, "journal"))
        status = add_journal(run, object);
    else if (has_argument(a, "trials"))
        status = add_list(run, object, "trials", ANY);
    else if (has_argument(a, "suspects"))
        status = add_list(run, object, "suspects", SUSPECTED);
    else
        status = add_summary(run, object);
    progress_clear(run->session.progress);
    if (status < 0)
        json_decref(object);
    else
        session_print(&run->session, object);
    return status;
}

/* ---- the verb --------------------------------------------------------------------------------------------------- */

static hf_status show(studied *run)
{
    const tool_arguments *a = run->arguments;
    if (has_argument(a, "trials") + has_argument(a, "journal") + has_argument(a, "suspects") > 1)
        return MISUSE(run, "--trials, --journal and --suspects exclude each other");
    hf_status status = studied_open(run, false);
    if (status >= 0 && !has_argument(a, "journal")) status = studied_look(run);
    progress_clear(run->session.progress);
    if (status < 0) return status;
    return run->session.json ? print_study_json(run) : print_study_text(run);
}

const tool_verb verb_study_show = {
    .name = "study show",
    .operands = "FILE [--trials|--journal|--suspects] [OPTION]...",
    .summary = "Say what a study knows, and whom it doubts",
    .text = "Settings, how far it is, trials that are set aside with what the others say of them, pending\n"
            "ones, and which variables matter. Looking changes nothing, and goes while others ask and tell.",
    .example = "  holdfast study create known.hf --real x=0:1 --minimise loss\n"
               "  holdfast study ask known.hf -n 3\n"
               "  holdfast study show known.hf --trials",
    TOOL_OPTIONS(options),
    STUDIED(1, 1, show),
};
