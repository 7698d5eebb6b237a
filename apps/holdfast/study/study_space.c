/* SPDX-License-Identifier: Apache-2.0 */
/* Options of study create, in their order, become variables and outcomes. */
#include "study/studied.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void study_plan_free(study_plan *plan)
{
    for (size_t j = 0; plan->labels != NULL && j < plan->settings.variables; j++)
        names_free(&plan->labels[j]);
    for (size_t k = 0; plan->text != NULL && k < plan->texts; k++) free(plan->text[k]);
    TOOL_FREE(plan->labels, plan->text, plan->variable, plan->outcome);
}

/* A copy of an option's value, to be cut; NULL when out of memory. */
static char *copy_of(study_plan *plan, const char *text)
{
    char *copy = strdup(text);
    if (copy != NULL) plan->text[plan->texts++] = copy;
    return copy;
}

/* ---- variables -------------------------------------------------------------------------------------------------- */

static const struct {
    const char *option;
    hf_variable_kind kind;
    bool log;
} kinds[] = {
    {"real", HF_VARIABLE_REAL, false},       {"log", HF_VARIABLE_REAL, true},
    {"integer", HF_VARIABLE_INTEGER, false}, {"log-integer", HF_VARIABLE_INTEGER, true},
    {"ordered", HF_VARIABLE_ORDERED, false}, {"category", HF_VARIABLE_CATEGORY, false},
};

enum {
    KINDS = sizeof kinds / sizeof kinds[0]
};

static size_t kind_of(const char *option)
{
    size_t k = 0;
    while (k < KINDS && strcmp(kinds[k].option, option) != 0) k++;
    return k;
}

/* NAME=LABEL,LABEL,...: the first "=" ends the name, labels may have more of them. */
static hf_status take_labels(studied *run, char *text, const char *given, hf_variable *v, tool_names *labels)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || !take_names(equals + 1, labels))
        return MISUSE(run, "--%s: '%s' is not NAME=LABEL,LABEL,...",
                      hf_enum_name(HF_ENUM_VARIABLE_KIND, v->kind), given);
    *equals = '\0';
    v->name = text;
    v->levels = labels->count;
    v->level = labels->list;
    hf_status status = HF_OK;
    for (size_t k = 0; k < labels->count && status >= 0; k++)
        status = session_name(&run->session, "a label", labels->list[k]);
    return status;
}

static hf_status take_variable(studied *run, study_plan *plan, size_t kind, const char *given)
{
    hf_study_settings *s = &plan->settings;
    hf_variable *v = &plan->variable[s->variables];
    char *text = copy_of(plan, given);
    if (text == NULL) return HF_ERR_MEMORY;
    *v = (hf_variable){.kind = kinds[kind].kind, .log = kinds[kind].log};
    tool_names *labels = &plan->labels[s->variables++];
    hf_status status = HF_OK;
    if (v->kind == HF_VARIABLE_ORDERED || v->kind == HF_VARIABLE_CATEGORY)
        status = take_labels(run, text, given, v, labels);
    else if (strchr(given, ':') == NULL || !take_side(text, &v->name, &v->lower, &v->upper))
        status = MISUSE(run, "--%s: '%s' is not NAME=LOW:HIGH", kinds[kind].option, given);
    return status >= 0 ? session_name(&run->session, "a variable", v->name) : status;
}

/* ---- outcomes --------------------------------------------------------------------------------------------------- */

static hf_status take_outcome(studied *run, study_plan *plan, const char *option, const char *given)
{
    hf_outcome *o = &plan->outcome[plan->settings.outcomes];
    char *text = copy_of(plan, given);
    if (text == NULL) return HF_ERR_MEMORY;
    *o = (hf_outcome){.name = text};
    hf_status status = hf_enum_parse(run->session.ctx, HF_ENUM_GOAL, option, &o->goal);
    if (status < 0) return status;
    plan->settings.outcomes++;
    if (o->goal == HF_GOAL_AT_MOST || o->goal == HF_GOAL_AT_LEAST) {
        char *equals = strrchr(text, '=');
        char *number = equals != NULL ? equals + 1 : text;
        if (equals == NULL || equals == text || !number_until(&number, '\0', &o->limit))
            return MISUSE(run, "--%s: '%s' is not NAME=LIMIT", option, given);
        *equals = '\0';
    }
    return session_name(&run->session, "an outcome", o->name);
}

static bool is_goal(const char *option)
{
    static const char *const goals[] = {"maximise", "minimise", "at-most", "at-least"};
    bool found = false;
    for (size_t k = 0; k < sizeof goals / sizeof goals[0]; k++)
        found = found || strcmp(goals[k], option) == 0;
    return found;
}

/* The constraint that "NAME:..." is of; *rest is what follows the colon. */
static hf_outcome *find_certain(const study_plan *plan, char *text, char **rest)
{
    for (size_t o = 0; o < plan->settings.outcomes; o++) {
        const size_t length = strlen(plan->outcome[o].name);
        if (strncmp(text, plan->outcome[o].name, length) != 0 || text[length] != ':') continue;
        *rest = text + length + 1;
        return &plan->outcome[o];
    }
    return NULL;
}

/* noise=V,norm=B,centre=C,kernel=EXPR: the kernel is all that is left, commas included. */
static bool take_bounds(char *text, hf_outcome *o)
{
    const struct {
        const char *name;
        double *value;
    } of[] = {{"noise=", &o->noise_bound}, {"norm=", &o->norm_bound}, {"centre=", &o->centre}};
    while (strncmp(text, "kernel=", 7) != 0) {
        size_t k = 0;
        while (k < 3 && strncmp(text, of[k].name, strlen(of[k].name)) != 0) k++;
        if (k == 3) return false;
        text += strlen(of[k].name);
        if (!number_until(&text, ',', of[k].value)) return false;
        text++;
    }
    o->kernel = text + 7;
    return true;
}

static hf_status take_certain(studied *run, study_plan *plan, const char *given)
{
    char *text = copy_of(plan, given), *rest = NULL;
    if (text == NULL) return HF_ERR_MEMORY;
    hf_outcome *o = find_certain(plan, text, &rest);
    if (o == NULL)
        return MISUSE(run,
                      "--certain: '%s' does not begin with the name of a constraint (--at-most, --at-least) "
                      "and a colon",
                      given);
    o->certain = true;
    if (take_bounds(rest, o)) return HF_OK;
    return MISUSE(run, "--certain: '%s' is not NAME:noise=V,norm=B,kernel=EXPR", given);
}

/* ---- both ---------------------------------------------------------------------------------------------- */

hf_status study_plan_space(studied *run, study_plan *plan)
{
    const tool_arguments *a = run->arguments;
    plan->variable = calloc(a->count + 1, sizeof *plan->variable);
    plan->outcome = calloc(a->count + 1, sizeof *plan->outcome);
    plan->labels = calloc(a->count + 1, sizeof *plan->labels);
    plan->text = calloc(a->count + 1, sizeof *plan->text);
    if (plan->variable == NULL || plan->outcome == NULL || plan->labels == NULL || plan->text == NULL)
        return HF_ERR_MEMORY;
    plan->settings.variable = plan->variable;
    plan->settings.outcome = plan->outcome;
    hf_status status = HF_OK;
    for (size_t i = 0; i < a->count && status >= 0; i++) {
        const char *option = a->list[i].option->name;
        const size_t kind = kind_of(option);
        if (kind < KINDS) status = take_variable(run, plan, kind, a->list[i].value);
        if (is_goal(option)) status = take_outcome(run, plan, option, a->list[i].value);
    }
    for (size_t i = 0; i < a->count && status >= 0; i++)
        if (strcmp(a->list[i].option->name, "certain") == 0)
            status = take_certain(run, plan, a->list[i].value);
    if (status >= 0 && plan->settings.variables == 0)
        status = MISUSE(run, "there is nothing to set: --real, --log, --integer, --log-integer, --ordered "
                             "and --category say what is");
    if (status >= 0 && !has_argument(a, "minimise") && !has_argument(a, "maximise"))
        status = MISUSE(run, "--minimise or --maximise is missing: what is looked for?");
    return status;
}
