/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the sub-verbs of holdfast study share. */
#include "study/studied.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- a run ----------------------------------------------------------------------------------------------------- */

int studied_run(const tool_arguments *arguments)
{
    studied run = {.arguments = arguments};
    const int code = session_open(arguments, &run.session);
    if (code != TOOL_OK) return code;
    run.session.keeper = "study";
    const hf_status status = arguments->verb->study(&run);
    hf_study_free(run.study);
    return session_close(&run.session, status);
}

void studied_take(studied *run, hf_study *study)
{
    run->study = study;
    run->settings = hf_study_settings_of(study);
    run->d = run->settings->variables;
    run->outcomes = run->settings->outcomes;
}

hf_status studied_open(studied *run, bool write)
{
    double wait = 30.0;
    hf_study *study = NULL;
    const bool waits = write && has_argument(run->arguments, "wait");
    hf_status status = waits ? session_number(&run->session, "wait", false, &wait) : HF_OK;
    if (status >= 0 && wait < 0.0) status = MISUSE(run, "--wait: %g seconds are no time to wait", wait);
    if (status >= 0) status = hf_study_file_open(run->session.ctx, run->arguments->operand[0], write, &study);
    progress_clear(run->session.progress);
    if (status < 0) return status;
    studied_take(run, study);
    return waits ? hf_study_file_patience(run->session.ctx, study, wait) : status;
}

hf_status studied_look(studied *run)
{
    const hf_status status = hf_study_look(run->session.ctx, run->study);
    progress_clear(run->session.progress);
    return status == HF_ERR_NO_DATA ? HF_OK : status;
}

/* ---- operands --------------------------------------------------------------------------------------------------- */

hf_status studied_trial(studied *run, const char *text, hf_trial *out)
{
    char *end;
    errno = 0;
    const unsigned long long id = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        return MISUSE(run, "'%s' is no number of a trial", text);
    return hf_study_trial(run->session.ctx, run->study, id, out);
}

/* The outcome whose name `text` begins with, before a "="; `outcomes` if there is none. */
static size_t find_outcome(const studied *run, const char *text, size_t length)
{
    size_t o = 0;
    for (; o < run->outcomes; o++) {
        const char *name = run->settings->outcome[o].name;
        if (strlen(name) == length && memcmp(name, text, length) == 0) break;
    }
    return o;
}

static hf_status no_outcome(studied *run, const char *text, size_t length)
{
    char list[1024] = "";
    tool_line line = {.text = list, .bytes = sizeof list};
    for (size_t o = 0; o < run->outcomes; o++)
        put(&line, "%s%s", o > 0 ? ", " : "", run->settings->outcome[o].name);
    return REFUSE(run, "the study has no outcome \"%.*s\", but %s", (int)length, text, list);
}

/* "3.2" is the next outcome's, "time=3.2" that of time. */
static hf_status take_value(studied *run, const char *text, size_t *next, const char *what, double *value)
{
    const char *equals = strrchr(text, '=');
    size_t o = *next;
    if (equals != NULL && (o = find_outcome(run, text, (size_t)(equals - text))) == run->outcomes)
        return no_outcome(run, text, (size_t)(equals - text));
    if (o >= run->outcomes)
        return MISUSE(run, "'%s' is a %s too many: the study has %zu outcome%s", text, what, run->outcomes,
                      plural(run->outcomes));
    const char *number = equals != NULL ? equals + 1 : text;
    char *end;
    value[o] = strtod(number, &end);
    if (end == number || *end != '\0')
        return MISUSE(run, "'%s' is no %s: write a number, or NAME=NUMBER", text, what);
    *next = equals != NULL ? *next : *next + 1;
    return HF_OK;
}

hf_status studied_values(studied *run, size_t first, double *value)
{
    const tool_arguments *a = run->arguments;
    size_t next = 0;
    hf_status status = HF_OK;
    for (size_t o = 0; o < run->outcomes; o++) value[o] = NAN;
    for (size_t i = first; i < a->operands && status >= 0; i++)
        status = take_value(run, a->operand[i], &next, "value", value);
    if (status >= 0 && next > 0 && next < run->outcomes)
        status = MISUSE(run, "%zu value%s for %zu outcomes; write NAME=VALUE for those that were measured",
                        next, plural(next), run->outcomes);
    return status;
}

hf_status studied_noise(studied *run, double *noise)
{
    tool_names list;
    size_t next = 0;
    for (size_t o = 0; o < run->outcomes; o++) noise[o] = 0.0;
    if (!has_argument(run->arguments, "noise")) return HF_OK;
    if (!argument_names(run->arguments, "noise", &list)) return session_told(&run->session);
    hf_status status = HF_OK;
    for (size_t i = 0; i < list.count && status >= 0; i++)
        status = take_value(run, list.list[i], &next, "variance", noise);
    names_free(&list);
    for (size_t o = 0; o < run->outcomes && status >= 0; o++)
        if (!(noise[o] >= 0.0) || isinf(noise[o]))
            status =
                MISUSE(run, "--noise: %g is no variance of %s", noise[o], run->settings->outcome[o].name);
    return status;
}

/* ---- outcomes --------------------------------------------------------------------------------------------------- */

bool studied_is_objective(const studied *run, size_t outcome)
{
    const hf_goal goal = run->settings->outcome[outcome].goal;
    return goal == HF_GOAL_MAXIMISE || goal == HF_GOAL_MINIMISE;
}

size_t studied_objectives(const studied *run)
{
    size_t count = 0;
    for (size_t o = 0; o < run->outcomes; o++) count += studied_is_objective(run, o);
    return count;
}

size_t studied_first(const studied *run)
{
    size_t o = 0;
    while (!studied_is_objective(run, o)) o++;
    return o;
}

hf_status studied_outcome(studied *run, size_t *outcome)
{
    const char *name = argument(run->arguments, "of");
    *outcome = studied_first(run);
    if (name == NULL) return HF_OK;
    *outcome = find_outcome(run, name, strlen(name));
    return *outcome < run->outcomes ? HF_OK : no_outcome(run, name, strlen(name));
}

double studied_tolerance(const studied *run)
{
    double low = INFINITY, high = -INFINITY;
    const size_t o = studied_first(run);
    for (uint64_t id = 1; id <= hf_study_trials(run->study); id++) {
        hf_trial t;
        if (hf_study_trial(run->session.ctx, run->study, id, &t) < 0 || t.aside) continue;
        low = fmin(low, t.value[o]);
        high = fmax(high, t.value[o]);
    }
    return high > low ? 0.01 * (high - low) : 0.01;
}

const char *studied_goal(const studied *run, size_t outcome, char buffer[64])
{
    char number[32];
    const hf_outcome *o = &run->settings->outcome[outcome];
    if (studied_is_objective(run, outcome)) return hf_enum_name(HF_ENUM_GOAL, o->goal);
    snprintf(buffer, 64, "%s %s", o->goal == HF_GOAL_AT_MOST ? "at most" : "at least",
             hf_format_double(o->limit, number));
    return buffer;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

const char *studied_at(const studied *run, const double *at, size_t bytes, char *buffer)
{
    size_t used = 0;
    for (size_t j = 0; j < run->d && used < bytes; j++) {
        used += (size_t)snprintf(buffer + used, bytes - used, "%s%s = ", j > 0 ? ", " : "",
                                 run->settings->variable[j].name);
        if (used < bytes) used += hf_study_format(run->study, j, at[j], bytes - used, buffer + used);
    }
    return buffer;
}

const char *studied_told(const studied *run, const double *value, size_t bytes, char *buffer)
{
    char number[32];
    tool_line line = {.text = buffer, .bytes = bytes};
    *buffer = '\0';
    for (size_t o = 0; o < run->outcomes; o++)
        if (!isnan(value[o]))
            put(&line, "%s%s = %s", line.used > 0 ? ", " : "", run->settings->outcome[o].name,
                hf_format_double(value[o], number));
    return buffer;
}

const char *studied_time(double seconds, char buffer[32])
{
    struct tm utc;
    *buffer = '\0';
    if (!(fabs(seconds) < 1e11)) return buffer;
    const double milliseconds = floor(seconds * 1000.0);
    const double whole = floor(milliseconds / 1000.0);
    const time_t when = (time_t)whole;
    if (gmtime_r(&when, &utc) == NULL) return buffer;
    const size_t used = strftime(buffer, 32, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(buffer + used, 32 - used, ".%03dZ", (int)(milliseconds - 1000.0 * whole));
    return buffer;
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

json_t *studied_json_at(const studied *run, const double *at)
{
    json_t *object = json_object();
    for (size_t j = 0; j < run->d; j++) {
        const hf_variable *v = &run->settings->variable[j];
        json_t *value = v->level != NULL                 ? json_text(v->level[(size_t)at[j]])
                        : v->kind == HF_VARIABLE_INTEGER ? json_integer((json_int_t)at[j])
                                                         : json_number(at[j]);
        json_add_named(object, v->name, value);
    }
    return object;
}

json_t *studied_json_told(const studied *run, const double *value)
{
    json_t *object = json_object();
    for (size_t o = 0; o < run->outcomes; o++)
        if (!isnan(value[o])) json_add_named(object, run->settings->outcome[o].name, json_number(value[o]));
    return object;
}

json_t *studied_json_time(double seconds)
{
    char buffer[32];
    studied_time(seconds, buffer);
    return *buffer != '\0' ? json_string(buffer) : json_null();
}

static bool has_noise(const studied *run, const hf_trial *trial)
{
    bool any = false;
    for (size_t o = 0; o < run->outcomes; o++) any = any || trial->noise[o] > 0.0;
    return any;
}

/* An expert's words about values. */
static void add_labels(const studied *run, json_t *object, const hf_trial *trial)
{
    json_t *labels = json_object();
    for (size_t o = 0; o < run->outcomes; o++) {
        const double *said = trial->label + 3 * o;
        const hf_expert_label label = (hf_expert_label)said[0];
        if (label == HF_EXPERT_UNKNOWN) continue;
        json_add_named(labels, run->settings->outcome[o].name,
                       JSON_OF({"label", json_string(hf_enum_name(HF_ENUM_EXPERT_LABEL, label))},
                               {"correction", json_number(said[1])}));
    }
    if (json_object_size(labels) > 0)
        json_object_set_new(object, "labels", labels);
    else
        json_decref(labels);
}

json_t *studied_json_trial(const studied *run, const hf_trial *trial)
{
    json_t *object =
        JSON_OF({"trial", json_count(trial->id)},
                {"state", json_string(hf_enum_name(HF_ENUM_TRIAL_STATE, trial->state))},
                {"why", json_string(hf_enum_name(HF_ENUM_REASON, trial->reason))},
                {"repeats", trial->repeats > 0 ? json_count(trial->repeats) : json_null()},
                {"at", studied_json_at(run, trial->at)}, {"outcomes", studied_json_told(run, trial->value)},
                {"asked", studied_json_time(trial->asked)}, {"told", studied_json_time(trial->told)},
                {"note", *trial->note != '\0' ? json_text(trial->note) : json_null()},
                {"suspected", json_boolean(trial->suspected)}, {"aside", json_boolean(trial->aside)});
    if (has_noise(run, trial)) json_object_set_new(object, "noise", studied_json_told(run, trial->noise));
    add_labels(run, object, trial);
    JSON_ADD(object,
             {trial->suspected ? "doubted" : NULL,
              trial->suspected ? json_text(run->settings->outcome[trial->outcome].name) : NULL},
             {trial->suspected ? "expected" : NULL, json_number(trial->mean)},
             {trial->suspected ? "expected_sd" : NULL, json_number(trial->sd)});
    return object;
}
