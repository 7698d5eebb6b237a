/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study best */
#include "shell/settings.h"
#include "study/studied.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"certify", 0, NULL, "the place in the whole space, tried or not, with a proof", false},
    {"tolerance", 0, "E",
     "how far the mean there may be from the best one (default: a\nhundredth of the range of values told)",
     false},
    {"time-limit", 0, "S", "seconds for the proof (default 60; 0: no limit): wider, just as true", false},
};

/* A place, and all outcomes there. */
typedef struct best_place {
    double *at;        /* d */
    double *mean, *sd; /* outcomes; NaN: too little is known */
    hf_best best;
    hf_study_certificate proof;
    bool certified;
} best_place;

static void answer_free(best_place *a)
{
    free(a->at);
}

static hf_status answer_begin(const studied *run, best_place *a)
{
    *a = (best_place){.at = calloc(run->d + 2 * run->outcomes, sizeof *a->at)};
    a->mean = a->at != NULL ? a->at + run->d : NULL;
    a->sd = a->at != NULL ? a->mean + run->outcomes : NULL;
    return a->at != NULL ? HF_OK : HF_ERR_MEMORY;
}

/* Expectations of every outcome at a place. */
static hf_status predict_outcomes(const studied *run, best_place *a)
{
    hf_status status = HF_OK;
    for (size_t o = 0; o < run->outcomes && status >= 0; o++) {
        status = hf_study_predict(run->session.ctx, run->study, o, 1, a->at, &a->mean[o], &a->sd[o]);
        if (status != HF_ERR_NO_DATA) continue;
        a->mean[o] = a->sd[o] = NAN;
        status = HF_OK;
    }
    return status;
}

/* ---- what was told there ---------------------------------------------------------------------------------------- */

/* Whether trial t has the settings of the first trial `first`, and told this outcome. */
static bool told_there(const hf_trial *t, uint64_t first, size_t outcome)
{
    return (t->id == first || t->repeats == first) && t->state == HF_TRIAL_TOLD && !isnan(t->value[outcome]);
}

/* Values told there of an outcome: as text with `list` NULL, else into a JSON list. */
static void told_values(const studied *run, uint64_t id, size_t outcome, json_t *list, size_t bytes,
                        char *words)
{
    char number[32];
    hf_trial t;
    tool_line line = {.text = words, .bytes = bytes};
    if (words != NULL) *words = '\0';
    if (id == 0 || hf_study_trial(run->session.ctx, run->study, id, &t) < 0) return;
    const uint64_t first = t.repeats != 0 ? t.repeats : id;
    for (uint64_t k = first; k <= hf_study_trials(run->study); k++) {
        if (hf_study_trial(run->session.ctx, run->study, k, &t) < 0 || !told_there(&t, first, outcome))
            continue;
        const bool aside = t.aside && t.outcome == outcome;
        if (list != NULL)
            json_array_append_new(list,
                                  JSON_OF({"trial", json_count(k)}, {"value", json_number(t.value[outcome])},
                                          {"aside", json_boolean(aside)}));
        else
            put(&line, "%s%s%s", line.used > 0 ? ", " : "", hf_format_double(t.value[outcome], number),
                aside ? " (set aside)" : "");
    }
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void print_outcome(const studied *run, const best_place *a, size_t o)
{
    char goal[64], told[STUDIED_WORDS];
    const bool first = o == studied_first(run) && a->best.trial + (a->certified ? 1 : 0) > 0;
    told_values(run, a->best.trial, o, NULL, sizeof told, told);
    say(stdout, "  %s (%s): ", run->settings->outcome[o].name, studied_goal(run, o, goal));
    if (isnan(a->mean[o]))
        fputs("too little is known", stdout);
    else if (first)
        printf("%.6g, 95 %% interval %.6g to %.6g", a->best.mean, a->best.lower, a->best.upper);
    else
        printf("%.6g, sd %.3g", a->mean[o], a->sd[o]);
    if (*told != '\0') say(stdout, "; told %s", told);
    putchar('\n');
}

static void print_proof(const studied *run, const best_place *a)
{
    const hf_study_certificate *p = &a->proof;
    say(stdout, "No setting has a posterior mean of %s %s %.6g: %s to within %.3g, in %zu boxes and %.1f s\n",
        run->settings->outcome[studied_first(run)].name,
        run->settings->outcome[studied_first(run)].goal == HF_GOAL_MINIMISE ? "below" : "above", p->bound,
        p->proved ? "proved" : "known", p->gap, p->boxes, p->seconds);
}

static void print_answer(const studied *run, const best_place *a)
{
    char words[STUDIED_WORDS];
    say(stdout, "%s\n", studied_at(run, a->at, sizeof words, words));
    for (size_t o = 0; o < run->outcomes; o++) print_outcome(run, a, o);
    if (run->outcomes > studied_objectives(run))
        printf("  all constraints hold with probability %.3g\n", a->best.feasible);
    if (a->best.trial > 0)
        printf("  trial %llu, %zu reading%s with a say\n", (unsigned long long)a->best.trial,
               a->best.readings, plural(a->best.readings));
    if (a->certified) print_proof(run, a);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *json_outcomes_at(const studied *run, const best_place *a)
{
    char goal[64];
    json_t *list = json_array();
    for (size_t o = 0; o < run->outcomes; o++) {
        json_t *told = json_array();
        told_values(run, a->best.trial, o, told, 0, NULL);
        json_array_append_new(list, JSON_OF({"name", json_text(run->settings->outcome[o].name)},
                                            {"goal", json_string(studied_goal(run, o, goal))},
                                            {"mean", json_number(a->mean[o])}, {"sd", json_number(a->sd[o])},
                                            {"told", told}));
    }
    return list;
}

static json_t *json_proof(const hf_study_certificate *p)
{
    return JSON_OF({"mean", json_number(p->mean)}, {"bound", json_number(p->bound)},
                   {"gap", json_number(p->gap)}, {"proved", json_boolean(p->proved)},
                   {"boxes", json_count(p->boxes)}, {"seconds", json_number(p->seconds)});
}

static json_t *json_answer(const studied *run, const best_place *a)
{
    const bool one = studied_objectives(run) == 1;
    return JSON_OF({"trial", a->best.trial > 0 ? json_count(a->best.trial) : json_null()},
                   {"at", studied_json_at(run, a->at)}, {"outcomes", json_outcomes_at(run, a)},
                   {one ? "mean" : NULL, json_number(a->best.mean)},
                   {one ? "lower" : NULL, json_number(a->best.lower)},
                   {one ? "upper" : NULL, json_number(a->best.upper)},
                   {one ? "feasible" : NULL, json_number(a->best.feasible)},
                   {one ? "readings" : NULL, json_count(a->best.readings)},
                   {a->certified ? "certificate" : NULL, json_proof(&a->proof)});
}

/* ---- one objective ---------------------------------------------------------------------------------------------- */

static hf_status certify(studied *run, best_place *a)
{
    hf_certify_settings limits = hf_certify_settings_default();
    double tolerance = studied_tolerance(run);
    hf_status status = session_settings(&run->session, hf_certify_settings_table(), &limits);
    if (has_argument(run->arguments, "tolerance")) tolerance = limits.tolerance;
    if (status >= 0)
        status = warn_status(&run->session, hf_study_certify(run->session.ctx, run->study, tolerance, &limits,
                                                             a->at, &a->best, &a->proof));
    a->certified = status >= 0;
    return status;
}

static hf_status best_of_one(studied *run)
{
    best_place a;
    hf_status status = answer_begin(run, &a);
    if (status >= 0) status = studied_look(run);
    if (status >= 0)
        status = has_argument(run->arguments, "certify")
                     ? certify(run, &a)
                     : warn_status(&run->session, hf_study_best(run->session.ctx, run->study, a.at, &a.best));
    if (status >= 0) status = predict_outcomes(run, &a);
    progress_clear(run->session.progress);
    if (status >= 0 && run->session.json) {
        session_print(&run->session, json_answer(run, &a));
    } else if (status >= 0) {
        print_answer(run, &a);
    }
    answer_free(&a);
    return status;
}

/* ---- several objectives: the front ------------------------------------------------------------------------------ */

static void print_of_front(const studied *run, const best_place *a)
{
    char words[STUDIED_WORDS];
    say(stdout, "  %llu  %s:", (unsigned long long)a->best.trial,
        studied_at(run, a->at, sizeof words, words));
    for (size_t o = 0; o < run->outcomes; o++)
        say(stdout, "%s %s %.6g +- %.2g", o > 0 ? "," : "", run->settings->outcome[o].name, a->mean[o],
            a->sd[o]);
    putchar('\n');
}

static hf_status tell_front(studied *run, const uint64_t *trial, size_t count)
{
    best_place a;
    json_t *list = json_array();
    hf_status status = answer_begin(run, &a);
    if (status >= 0 && !run->session.json)
        printf("%zu trial%s that no other is better than in everything; means and their sds\n", count,
               plural(count));
    for (size_t i = 0; i < count && status >= 0; i++) {
        hf_trial t;
        status = hf_study_trial(run->session.ctx, run->study, trial[i], &t);
        if (status < 0) break;
        memcpy(a.at, t.at, run->d * sizeof *a.at);
        a.best.trial = trial[i];
        status = predict_outcomes(run, &a);
        if (status >= 0 && run->session.json) json_array_append_new(list, json_answer(run, &a));
        if (status >= 0 && !run->session.json) print_of_front(run, &a);
    }
    answer_free(&a);
    if (status >= 0 && run->session.json) {
        session_print(&run->session, JSON_OF({"front", list}));
        return status;
    }
    json_decref(list);
    return status;
}

static hf_status best_of_several(studied *run)
{
    if (has_argument(run->arguments, "certify"))
        return MISUSE(run, "--certify is for one objective; this study has %zu", studied_objectives(run));
    size_t count = 0;
    uint64_t *trial = calloc((size_t)hf_study_trials(run->study) + 1, sizeof *trial);
    hf_status status = trial != NULL ? studied_look(run) : HF_ERR_MEMORY;
    if (status >= 0)
        status = warn_status(&run->session, hf_study_front(run->session.ctx, run->study, trial, &count));
    progress_clear(run->session.progress);
    if (status >= 0) status = tell_front(run, trial, count);
    free(trial);
    return status;
}

static hf_status best(studied *run)
{
    const tool_arguments *a = run->arguments;
    if (!has_argument(a, "certify") && (has_argument(a, "tolerance") || has_argument(a, "time-limit")))
        return MISUSE(run, "--%s is for --certify",
                      has_argument(a, "tolerance") ? "tolerance" : "time-limit");
    const hf_status status = studied_open(run, false);
    if (status < 0) return status;
    return studied_objectives(run) > 1 ? best_of_several(run) : best_of_one(run);
}

const tool_verb verb_study_best = {
    .name = "study best",
    .operands = "FILE [OPTION]...",
    .summary = "Say which settings to use",
    .text =
        "Among the trials the one of the best posterior mean, never that of the best value told, which may\n"
        "be wrong or lucky. Beside the mean of all outcomes stands what was told. With constraints only\n"
        "trials count that hold them as likely as not, if there are some. Of several objectives: the front.\n"
        "--certify looks in the whole space, and proves that nothing there has a better mean.",
    .example = "  holdfast study create found.hf --real miles=1:30 --real feet=200:8000 --minimise minutes\n"
               "  holdfast study import found.hf data/hills.csv --drop race\n"
               "  holdfast study best found.hf --certify --tolerance 1",
    TOOL_OPTIONS(options),
    STUDIED(1, 1, best),
};
