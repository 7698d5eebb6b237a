/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_loop.h"

#include "common/clock.h"
#include "common/room.h"

#include <holdfast/front.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- methods ---------------------------------------------------------------------------------- */

static void plain(hf_study_settings *s)
{
    s->robust = false;
    s->repeats = 0;
}

static void once(hf_study_settings *s)
{
    s->repeats = 0;
}

static void everywhere(hf_study_settings *s)
{
    s->reach = HF_REACH_GLOBAL;
}

static void regions(hf_study_settings *s)
{
    s->reach = HF_REACH_REGIONS;
}

static void thompson(hf_study_settings *s)
{
    s->thompson = true;
}

static void pursuit(hf_study_settings *s)
{
    s->preset = "rrp";
}

static void plain_judged(hf_study_settings *s)
{
    plain(s);
    s->expert = HF_EXPERT_USE_REPLACE;
}

static void plain_mean(hf_study_settings *s)
{
    plain(s);
    s->expert = HF_EXPERT_USE_MEAN;
}

static void judged_mean(hf_study_settings *s)
{
    s->expert = HF_EXPERT_USE_MEAN;
}

static void judged_replace(hf_study_settings *s)
{
    s->expert = HF_EXPERT_USE_REPLACE;
}

static const bo_method methods[] = {
    {.name = "default", .about = "a study as it comes"},
    {.name = "plain", .about = "values are never doubted, nothing is repeated", .change = plain},
    {.name = "once", .about = "nothing is repeated", .change = once},
    {.name = "global", .about = "no trust regions, whatever the dimension", .change = everywhere},
    {.name = "regions", .about = "trust regions, whatever the dimension", .change = regions},
    {.name = "thompson", .about = "maximisers of functions drawn from the posterior", .change = thompson},
    {.name = "pursuit", .about = "wrong values by relevance pursuit, preset rrp", .change = pursuit},
    {.name = "informed",
     .about = "an expert doubts each wrong value, and no other",
     .change = plain,
     .informed = true},
    {.name = "expert",
     .about = "an expert's corrections in place of readings",
     .change = judged_replace,
     .judged = true},
    {.name = "expert-mean",
     .about = "an expert's corrections for a prior mean",
     .change = judged_mean,
     .judged = true},
    {.name = "plain-expert",
     .about = "plain, and corrections in place of readings",
     .change = plain_judged,
     .judged = true},
    {.name = "plain-mean",
     .about = "plain, and corrections for a prior mean",
     .change = plain_mean,
     .judged = true},
    {.name = "random", .about = "uniform points, and the best as told", .uniform = true},
};

const bo_method *bo_methods(size_t *count)
{
    *count = sizeof methods / sizeof *methods;
    return methods;
}

static const bo_method *method_of(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i)
        if (strcmp(methods[i].name, name) == 0) return &methods[i];
    return NULL;
}

bool bo_method_known(const char *name)
{
    return method_of(name) != NULL;
}

/* ---- a run ------------------------------------------------------------------------------------- */

typedef struct loop {
    hf_context *ctx;
    const bo_problem *problem;
    const bo_row *row;
    bo_result *out;
    hf_study *study; /* NULL: uniform points */
    bool informed;   /* the study is told which values are wrong */
    size_t values;   /* of an evaluation */
    size_t starts, n;
    bool judged;
    size_t said;              /* readings that the expert was shown */
    double *x, *clean, *told; /* a row for each evaluation; x begins with the design */
    size_t *which;            /* recommended */
} loop;

static bool done(const loop *l, hf_status status, const char *call)
{
    if (status >= 0) return true;
    const bo_run *r = &l->out->run;
    fprintf(stderr, "%s, %s, seed %ld, evaluation %zu: %s: %s\n", r->problem, r->method, r->seed, l->n, call,
            hf_context_message(l->ctx));
    return false;
}

static bool satisfies(const loop *l, const double *values)
{
    for (size_t j = l->row->objectives; j < l->values; ++j)
        if (values[j] > 0.0) return false;
    return true;
}

/* By how much the constraints are broken. */
static double excess(const loop *l, const double *values)
{
    double most = 0.0;
    for (size_t j = l->row->objectives; j < l->values; ++j) most = fmax(most, values[j]);
    return most;
}

/* Is `a` better than `b`: nearer to feasible, else larger. */
static bool better(const loop *l, const double *a, const double *b)
{
    const double ea = excess(l, a), eb = excess(l, b);
    return ea < eb || (ea == eb && a[0] > b[0]);
}

static size_t best_of(const loop *l, const double *values)
{
    size_t best = 0;
    for (size_t i = 1; i < l->n; ++i)
        if (better(l, values + i * l->values, values + best * l->values)) best = i;
    return best;
}

/* Regret of some evaluations of a problem with two objectives. */
static bool missing_volume(const loop *l, const size_t *which, size_t count, double *regret)
{
    const size_t m = l->row->objectives;
    double *points = room(count * m, sizeof *points), volume = 0.0;
    for (size_t i = 0; i < count; ++i)
        memcpy(points + i * m, l->clean + (which ? which[i] : i) * l->values, m * sizeof *points);
    const bool ok =
        done(l, hf_hypervolume(l->ctx, count, m, points, l->row->reference, &volume), "hf_hypervolume");
    free(points);
    *regret = fmax(0.0, l->row->best - volume);
    return ok;
}

/* Regret of one evaluation of a problem with one objective. */
static double missing_value(const loop *l, size_t which)
{
    const double *clean = l->clean + which * l->values;
    double value = clean[0];
    if (!satisfies(l, clean)) {
        value = INFINITY;
        for (size_t i = 0; i < l->starts; ++i) value = fmin(value, l->clean[i * l->values]);
    }
    return fmax(0.0, l->row->best - value);
}

/* Settings that would be used now: numbers of evaluations. */
static bool recommend(loop *l, size_t *count)
{
    const bool several = l->row->objectives > 1;
    double at[BO_MOST_PARAMETERS];
    hf_best best = {.trial = 0};
    uint64_t *trial;
    bool ok;
    *count = 1;
    if (!l->study && !several) {
        l->which[0] = best_of(l, l->told);
        return true;
    }
    if (!l->study) return done(l, hf_front(l->ctx, l->n, l->values, l->told, l->which, count), "hf_front");
    if (!several) {
        ok = done(l, hf_study_best(l->ctx, l->study, at, &best), "hf_study_best");
        if (ok) l->which[0] = (size_t)best.trial - 1;
        return ok;
    }
    trial = room(l->n, sizeof *trial);
    ok = done(l, hf_study_front(l->ctx, l->study, trial, count), "hf_study_front");
    for (size_t i = 0; ok && i < *count; ++i) l->which[i] = (size_t)trial[i] - 1;
    free(trial);
    return ok;
}

static bool judge(loop *l, double *regret)
{
    size_t count = 0;
    if (!recommend(l, &count)) return false;
    l->out->feasible = satisfies(l, l->clean + l->which[0] * l->values);
    if (l->row->objectives > 1) return missing_volume(l, l->which, count, regret);
    *regret = missing_value(l, l->which[0]);
    return true;
}

/* ---- evaluations -------------------------------------------------------------------------------- */

/* Evaluates the point in row n of x. */
static void evaluate(loop *l)
{
    const bo_run *r = &l->out->run;
    double *clean = l->clean + l->n * l->values, *told = l->told + l->n * l->values;
    bool wrong = false;
    bo_evaluate(l->problem, l->x + l->n * l->row->d, clean);
    memcpy(told, clean, l->values * sizeof *told);
    for (size_t j = 0; j < l->row->objectives; ++j) {
        told[j] = bo_told(l->problem, (uint64_t)r->seed, l->n, r->wrong, j, clean[j]);
        wrong = wrong || told[j] != clean[j];
    }
    l->out->wrong += wrong;
}

/* An expert's word on evaluation n, which the study has been told. */
static bool inform(loop *l)
{
    const double *clean = l->clean + l->n * l->values, *told = l->told + l->n * l->values;
    bool ok = true;
    for (size_t j = 0; ok && l->informed && j < l->row->objectives; ++j)
        ok = told[j] == clean[j] ||
             done(l,
                  hf_study_label(l->ctx, l->study, (uint64_t)l->n + 1, j, HF_EXPERT_DOUBTED, NAN, 0.0, NULL),
                  "hf_study_label");
    return ok;
}

static bool step(loop *l)
{
    double *x = l->x + l->n * l->row->d, *told = l->told + l->n * l->values;
    if (!l->study || l->n < l->starts) {
        evaluate(l);
        return !l->study ||
               (done(l, hf_study_add(l->ctx, l->study, x, told, NULL, NULL, NULL), "hf_study_add") &&
                inform(l));
    }
    hf_proposal proposal;
    hf_trial trial;
    const double since = cpu_clock();
    if (!done(l, hf_study_ask(l->ctx, l->study, 1, (double)l->n, &proposal), "hf_study_ask")) return false;
    l->out->longest = fmax(l->out->longest, cpu_clock() - since);
    l->out->repeats += proposal.repeats != 0;
    if (!done(l, hf_study_trial(l->ctx, l->study, proposal.trial, &trial), "hf_study_trial")) return false;
    memcpy(x, trial.at, l->row->d * sizeof *x);
    evaluate(l);
    return done(l, hf_study_tell(l->ctx, l->study, proposal.trial, told, NULL, NULL), "hf_study_tell") &&
           inform(l);
}

/* Evaluations after which the regret of tenth k is taken: as peer_optimisers.py does. */
static size_t tenth(const bo_run *r, size_t k)
{
    return (r->evaluations * (k + 1) + BO_TENTHS - 1) / BO_TENTHS;
}

/* Asks somebody who knows to look at one in twenty readings of the first objective. */
static bool hear(loop *l)
{
    const size_t due = l->n >= l->starts ? l->n / 20 : 0;
    for (; l->judged && l->said < due; ++l->said) {
        size_t count = 1;
        uint64_t trial;
        if (!done(l, hf_study_expert(l->ctx, l->study, &count, &trial), "hf_study_expert")) return false;
        if (count == 0) return true;
        const size_t i = ((size_t)trial - 1) * l->values;
        const bool wrong = l->told[i] != l->clean[i];
        if (!done(l,
                  hf_study_label(l->ctx, l->study, trial, 0, wrong ? HF_EXPERT_DOUBTED : HF_EXPERT_BELIEVED,
                                 wrong ? l->clean[i] : (double)NAN, 0.0, NULL),
                  "hf_study_label"))
            return false;
    }
    return true;
}

static bool run(loop *l)
{
    bo_run *r = &l->out->run;
    for (size_t k = 0; k < BO_TENTHS; ++k) {
        while (l->n < tenth(r, k)) {
            if (!step(l)) return false;
            ++l->n;
            if (!hear(l)) return false;
        }
        if (!judge(l, &r->regret[k])) return false;
    }
    if (l->row->objectives > 1) return missing_volume(l, NULL, l->n, &l->out->seen);
    l->out->seen = missing_value(l, best_of(l, l->clean));
    return true;
}

/* Trials that have no say at the end. */
static bool count_aside(loop *l)
{
    for (size_t i = 0; l->study && i < l->n; ++i) {
        hf_trial trial;
        if (!done(l, hf_study_trial(l->ctx, l->study, (uint64_t)i + 1, &trial), "hf_study_trial"))
            return false;
        l->out->aside += trial.aside;
        if (trial.aside &&
            memcmp(l->clean + i * l->values, l->told + i * l->values, l->values * sizeof *l->clean) != 0)
            l->out->aside_wrong += 1;
    }
    return true;
}

/* ---- the study ------------------------------------------------------------------------------------ */

enum {
    LEVELS_MOST = 64
};

static const hf_variable_kind kinds[] = {[BO_REAL] = HF_VARIABLE_REAL,
                                         [BO_LOG] = HF_VARIABLE_REAL,
                                         [BO_INTEGER] = HF_VARIABLE_INTEGER,
                                         [BO_CATEGORY] = HF_VARIABLE_CATEGORY};

static bool open_study(loop *l, const bo_method *method)
{
    char label[LEVELS_MOST][8];
    const char *level[LEVELS_MOST];
    bo_parameter parameter[BO_MOST_PARAMETERS];
    hf_variable variable[BO_MOST_PARAMETERS] = {{0}};
    hf_outcome outcome[BO_MOST_VALUES] = {{.name = "value1"}, {.name = "value2"}, {.name = "value3"}};
    for (int i = 0; i < LEVELS_MOST; ++i) {
        snprintf(label[i], sizeof label[i], "%d", i);
        level[i] = label[i];
    }
    for (size_t j = 0; j < l->row->d; ++j) {
        const bo_parameter *p = &parameter[j];
        parameter[j] = bo_parameter_of(l->row, j);
        variable[j] = (hf_variable){.name = p->name,
                                    .kind = kinds[p->kind],
                                    .lower = p->lower,
                                    .upper = p->upper,
                                    .log = p->kind == BO_LOG};
        if (p->kind != BO_CATEGORY) continue;
        variable[j].levels = (size_t)p->upper + 1;
        variable[j].level = level;
    }
    for (size_t j = 0; j < l->values; ++j)
        outcome[j].goal = j < l->row->objectives ? HF_GOAL_MAXIMISE : HF_GOAL_AT_MOST;
    hf_study_settings settings = hf_study_settings_default();
    settings.variables = l->row->d;
    settings.variable = variable;
    settings.outcomes = l->values;
    settings.outcome = outcome;
    settings.seed = (uint64_t)l->out->run.seed + 1;
    if (method->change) method->change(&settings);
    return done(l, hf_study_create(l->ctx, &settings, &l->study), "hf_study_create");
}

bool bo_loop(hf_context *ctx, const bo_problem *problem, bo_result *out)
{
    const bo_row *row = problem->row;
    const bo_run key = out->run;
    const bo_method *method = method_of(key.method);
    const double since = cpu_clock();
    *out = (bo_result){.run = key};
    loop l = {.ctx = ctx, .problem = problem, .row = row, .out = out, .informed = method->informed};
    l.judged = method->judged;
    l.values = row->objectives + row->constraints;
    l.starts = row->starts < key.evaluations ? row->starts : key.evaluations;
    l.x = room(key.evaluations * row->d, sizeof *l.x);
    l.clean = room(key.evaluations * l.values, sizeof *l.clean);
    l.told = room(key.evaluations * l.values, sizeof *l.told);
    l.which = room(key.evaluations, sizeof *l.which);
    bo_start(problem, (uint64_t)key.seed, method->uniform ? key.evaluations : l.starts, l.x);
    const bool ok = (method->uniform || open_study(&l, method)) && run(&l) && count_aside(&l);
    out->seconds = cpu_clock() - since;
    hf_study_free(l.study);
    free(l.x);
    free(l.clean);
    free(l.told);
    free(l.which);
    return ok;
}
