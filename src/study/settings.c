/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a study: checks, a copy of its own, and what follows from them. */
#include "study/study.h"

#include "core/settings.h"

#include <holdfast/likelihood.h>
#include <math.h>
#include <string.h>

/* ---- checks -------------------------------------------------------------------------------------------- */

static hf_status check_certain(hf_context *ctx, const hf_outcome *o)
{
    if (!o->certain) return HF_OK;
    if (!(o->noise_bound > 0.0) || !isfinite(o->noise_bound))
        return hfi_refuse(ctx, "certain constraint %s: its noise bound is %g; it must be > 0", o->name,
                          o->noise_bound);
    if (!(o->norm_bound > 0.0) || !isfinite(o->norm_bound) || !isfinite(o->centre))
        return hfi_refuse(ctx,
                          "certain constraint %s: norm bound %g and centre %g must be finite, the first > 0",
                          o->name, o->norm_bound, o->centre);
    if (o->kernel == NULL)
        return hfi_refuse(ctx, "certain constraint %s: the kernel whose norm is bounded is missing", o->name);
    return HF_OK;
}

static hf_status check_outcome(hf_context *ctx, const hf_study_settings *s, size_t i, size_t *objectives)
{
    const hf_outcome *o = &s->outcome[i];
    if (o->name == NULL || o->name[0] == '\0') return hfi_refuse(ctx, "outcome %zu has no name", i + 1);
    if ((unsigned)o->goal > HF_GOAL_AT_LEAST)
        return hfi_refuse(ctx, "outcome %s has an unknown goal, %d", o->name, (int)o->goal);
    for (size_t k = 0; k < i; k++)
        if (strcmp(o->name, s->outcome[k].name) == 0)
            return hfi_refuse(ctx, "two outcomes are named %s", o->name);
    for (size_t k = 0; k < s->variables; k++)
        if (strcmp(o->name, s->variable[k].name) == 0)
            return hfi_refuse(ctx, "%s names a variable and an outcome", o->name);
    const bool objective = o->goal == HF_GOAL_MAXIMISE || o->goal == HF_GOAL_MINIMISE;
    *objectives += objective;
    if (objective && o->certain)
        return hfi_refuse(ctx, "outcome %s: an objective is no certain constraint", o->name);
    if (!objective && !isfinite(o->limit))
        return hfi_refuse(ctx, "constraint %s: its limit is %g; it must be finite", o->name, o->limit);
    return check_certain(ctx, o);
}

static hf_status check_outcomes(hf_context *ctx, const hf_study_settings *s)
{
    size_t objectives = 0;
    if (s->outcomes == 0 || s->outcome == NULL)
        return hfi_refuse(ctx, "a study needs an outcome to maximise or minimise");
    for (size_t i = 0; i < s->outcomes; i++) {
        const hf_status status = check_outcome(ctx, s, i, &objectives);
        if (status < 0) return status;
    }
    if (objectives < 1 || objectives > HFI_STUDY_OBJECTIVES)
        return hfi_refuse(ctx, "the study has %zu objectives; one to three are possible", objectives);
    if (s->outcomes > HFI_STUDY_OUTCOMES)
        return hfi_refuse(ctx, "the study has %zu outcomes; %d are possible", s->outcomes,
                          (int)HFI_STUDY_OUTCOMES);
    return HF_OK;
}

static hf_status check_preset(hf_context *ctx, const hf_study_settings *s)
{
    hf_fit_settings fit;
    const hf_status status =
        hf_fit_settings_preset(ctx, s->preset != NULL ? s->preset : "default", &fit, sizeof fit);
    if (status < 0) return status;
    if (hf_likelihood_has_labels(fit.sites) || hf_likelihood_has_rate(fit.sites) || fit.minibatch > 0)
        return hfi_refuse(ctx, "the preset %s is no surrogate of a study", s->preset);
    return HF_OK;
}

/* ---- the copy ------------------------------------------------------------------------------------------ */

static char *copy_text(const hf_study *study, const char *text, bool *lost)
{
    if (text == NULL) return NULL;
    char *copy = hfi_memory_strdup(&study->memory, text);
    *lost = *lost || copy == NULL;
    return copy;
}

static bool copy_variables(hf_study *study, const hf_study_settings *from)
{
    bool lost = false;
    hf_variable *copies = hfi_memory_alloc(&study->memory, from->variables, sizeof *copies);
    study->s.variable = copies;
    study->s.variables = copies != NULL ? from->variables : 0;
    for (size_t i = 0; copies != NULL && i < from->variables; i++) {
        const hf_variable *v = &from->variable[i];
        copies[i] = *v;
        copies[i].name = copy_text(study, v->name, &lost);
        copies[i].level = NULL;
        const char **level =
            v->levels > 0 ? hfi_memory_alloc(&study->memory, v->levels, sizeof *level) : NULL;
        copies[i].level = level;
        if (v->levels > 0 && level == NULL) copies[i].levels = 0;
        lost = lost || (v->levels > 0 && level == NULL);
        for (size_t k = 0; level != NULL && k < v->levels; k++)
            level[k] = copy_text(study, v->level[k], &lost);
    }
    return copies != NULL && !lost;
}

static bool copy_outcomes(hf_study *study, const hf_study_settings *from)
{
    bool lost = false;
    hf_outcome *copies = hfi_memory_alloc(&study->memory, from->outcomes, sizeof *copies);
    study->s.outcome = copies;
    study->s.outcomes = copies != NULL ? from->outcomes : 0;
    for (size_t i = 0; copies != NULL && i < from->outcomes; i++) {
        copies[i] = from->outcome[i];
        copies[i].name = copy_text(study, from->outcome[i].name, &lost);
        copies[i].kernel = copy_text(study, from->outcome[i].kernel, &lost);
    }
    return copies != NULL && !lost;
}

/* The free() of what is const for everybody else. */
static void free_const_block(const hfi_memory *memory, const void *block)
{
    void *mine;
    memcpy(&mine, &block, sizeof mine);
    hfi_memory_free(memory, mine);
}

void hfi_study_settings_free(const hfi_memory *memory, hf_study_settings *s)
{
    for (size_t i = 0; i < s->variables; i++) {
        const hf_variable *v = &s->variable[i];
        free_const_block(memory, v->name);
        for (size_t k = 0; v->level != NULL && k < v->levels; k++) free_const_block(memory, v->level[k]);
        free_const_block(memory, v->level);
    }
    for (size_t i = 0; i < s->outcomes; i++) {
        free_const_block(memory, s->outcome[i].name);
        free_const_block(memory, s->outcome[i].kernel);
    }
    free_const_block(memory, s->variable);
    free_const_block(memory, s->outcome);
    free_const_block(memory, s->preset);
    free_const_block(memory, s->kernel);
    *s = (hf_study_settings){0};
}

void hfi_study_free_settings(hf_study *study)
{
    hfi_study_settings_free(&study->memory, &study->s);
    free_const_block(&study->memory, study->domain.lower);
    hfi_memory_free(&study->memory, study->expression);
}

/* ---- what follows -------------------------------------------------------------------------------------- */

double hfi_study_sign(const hf_study *study, size_t outcome)
{
    if (outcome >= study->outcomes) return 1.0;
    const hf_goal goal = study->s.outcome[outcome].goal;
    return goal == HF_GOAL_MINIMISE || goal == HF_GOAL_AT_LEAST ? -1.0 : 1.0;
}

double hfi_study_limit(const hf_study *study, size_t outcome)
{
    if (outcome >= study->outcomes) return 0.5;
    return hfi_study_sign(study, outcome) * study->s.outcome[outcome].limit;
}

bool hfi_study_is_objective(const hf_study *study, size_t outcome)
{
    return outcome < study->outcomes && (study->s.outcome[outcome].goal == HF_GOAL_MAXIMISE ||
                                         study->s.outcome[outcome].goal == HF_GOAL_MINIMISE);
}

/* One block: lower, upper, step, and which are categories. */
static hf_status make_domain(hf_context *ctx, hf_study *study)
{
    const size_t d = study->d;
    double *block = hfi_memory_alloc(&study->memory, d, 3 * sizeof *block + sizeof(bool));
    if (block == NULL) return hfi_out_of_memory(ctx);
    double *lower = block, *upper = block + d, *step = upper + d;
    bool *category = (bool *)(step + d);
    for (size_t j = 0; j < d; j++) {
        const hf_variable *v = &study->s.variable[j];
        category[j] = v->kind == HF_VARIABLE_CATEGORY;
        lower[j] = 0.0;
        upper[j] = category[j] ? (double)(v->levels - 1) : 1.0;
        step[j] = hfi_variable_step(v);
    }
    study->domain =
        (hf_domain){.dimension = d, .lower = lower, .upper = upper, .step = step, .category = category};
    return HF_OK;
}

/* ", ard)" of the inputs of one kind, or nothing. */
static size_t write_kernel(const hf_study *study, bool category, char *text, size_t room)
{
    size_t at = 0;
    for (size_t j = 0; j < study->d; j++) {
        if (study->domain.category[j] != category) continue;
        at += (size_t)hfi_print(at < room ? text + at : NULL, at < room ? room - at : 0, "%sx%zu",
                                at > 0     ? ", "
                                : category ? "category("
                                           : "matern52(",
                                j + 1);
    }
    if (at > 0) at += (size_t)hfi_print(at < room ? text + at : NULL, at < room ? room - at : 0, ", ard)");
    return at;
}

static hf_status make_kernel(hf_context *ctx, hf_study *study)
{
    hf_kernel *kernel = NULL;
    if (study->s.kernel != NULL) {
        study->expression = hfi_memory_strdup(&study->memory, study->s.kernel);
    } else {
        const size_t room = 64 + 24 * study->d;
        char *text = study->expression = hfi_memory_alloc(&study->memory, room, 1);
        if (text != NULL) {
            size_t at = write_kernel(study, false, text, room);
            if (at > 0 && write_kernel(study, true, NULL, 0) > 0)
                at += (size_t)hfi_print(text + at, room - at, " * ");
            (void)write_kernel(study, true, text + at, room - at);
        }
    }
    if (study->expression == NULL) return hfi_out_of_memory(ctx);
    const hf_status s = hf_kernel_parse(ctx, study->expression, NULL, study->d, &kernel);
    hf_kernel_free(kernel);
    return s;
}

hf_status hfi_study_take_settings(hf_context *ctx, const hf_study_settings *from, hf_study *study)
{
    hf_study_settings given;
    hf_status s = hfi_settings_open(ctx, hf_study_settings_table(), from, &given);
    if (s < 0) return s;
    from = &given;
    s = hfi_variables_check(ctx, from->variables, from->variable);
    if (s >= 0) s = check_outcomes(ctx, from);
    if (s >= 0) s = check_preset(ctx, from);
    if (s < 0) return s;
    bool lost = false;
    study->s = *from;
    study->s.variables = study->s.outcomes = 0;
    study->s.variable = NULL;
    study->s.outcome = NULL;
    study->s.preset = copy_text(study, from->preset != NULL ? from->preset : "default", &lost);
    study->s.kernel = copy_text(study, from->kernel, &lost);
    if (!copy_variables(study, from) || !copy_outcomes(study, from) || lost) return hfi_out_of_memory(ctx);
    study->d = study->s.variables;
    study->outcomes = study->s.outcomes;
    for (size_t i = 0; i < study->outcomes; i++)
        if (hfi_study_is_objective(study, i)) study->objective[study->objectives++] = i;
    if (study->s.start == 0) study->s.start = study->d < 2 ? 5 : 2 * (study->d + 1);
    if (study->s.draws == 0) study->s.draws = 128;
    if (study->s.seed == 0) study->s.seed = hf_context_seed(ctx);
    s = make_domain(ctx, study);
    return s < 0 ? s : make_kernel(ctx, study);
}
