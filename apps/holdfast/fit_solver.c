/* SPDX-License-Identifier: Apache-2.0 */
/* Which solver a fit has, by the options: who speaks of actions wants the projected solver, who speaks of inducing
 * inputs the inducing one. */
#include "fit_settings.h"

#include <math.h>
#include <string.h>

/* Parses a choice into a field; the option's name is the key. */
#define CHOICE(option, of, field)                                                                            \
    do {                                                                                                     \
        const char *text_ = argument(arguments, option);                                                     \
        if (text_ != NULL && hf_enum_parse(ctx, of, text_, (int *)&(field)) < 0)                             \
            return wrong_choice(arguments, ctx, option);                                                     \
    } while (0)

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool is_any_given(const tool_arguments *arguments, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has_argument(arguments, names[i])) return true;
    return false;
}

/* Only where neither an option nor a preset has named a solver. */
static void imply_solver(const tool_arguments *arguments, hf_fit_settings *s)
{
    static const char *const projected[] = {"actions",       "action-kind",      "blocks",    "action-start",
                                            "fixed-actions", "single-precision", "tolerance", "actions-file"};
    static const char *const inducing[] = {"inducing", "inducing-method", "inducing-choice", "train-inducing",
                                           "minibatch"};
    static const char *const blocks[] = {"blocks", "action-start", "fixed-actions"};
    if (s->solver == HF_SOLVER_AUTO && is_any_given(arguments, projected, COUNT(projected)))
        s->solver = HF_SOLVER_PROJECTED;
    if (s->solver == HF_SOLVER_AUTO && is_any_given(arguments, inducing, COUNT(inducing)))
        s->solver = HF_SOLVER_INDUCING;
    if (argument(arguments, "action-kind") == NULL && is_any_given(arguments, blocks, COUNT(blocks)))
        s->action_kind = HF_ACTIONS_BLOCKS;
    if (argument(arguments, "action-kind") == NULL && has_argument(arguments, "actions-file"))
        s->action_kind = HF_ACTIONS_GIVEN;
}

/* A number that must be positive where it is given. */
static int read_positive(const tool_arguments *arguments, const char *name, double *value)
{
    if (!argument_double(arguments, name, value)) return TOOL_USAGE;
    if (has_argument(arguments, name) && !(*value > 0 && isfinite(*value)))
        return usage_error(arguments->verb, "--%s: it must be positive, not %s", name,
                           argument(arguments, name));
    return TOOL_OK;
}

static int read_count(const tool_arguments *arguments, const char *name, size_t *value)
{
    if (!argument_size(arguments, name, value)) return TOOL_USAGE;
    if (has_argument(arguments, name) && *value == 0)
        return usage_error(arguments->verb, "--%s: it must be at least 1", name);
    return TOOL_OK;
}

/* What is read in parts is trained on parts, as many rows at a time as the preset for minibatches has. */
static int choose_stream(const tool_arguments *arguments, hf_fit_settings *s)
{
    enum {
        USUAL_ROWS = 1024
    };
    if (!has_argument(arguments, "stream")) return TOOL_OK;
    if (s->solver != HF_SOLVER_AUTO && s->solver != HF_SOLVER_INDUCING)
        return usage_error(arguments->verb, "--stream goes with the inducing solver; leave out --solver %s",
                           hf_enum_name(HF_ENUM_SOLVER, s->solver));
    if (strcmp(arguments->operand[0], "-") == 0)
        return usage_error(arguments->verb, "--stream reads a file more than once; standard input cannot be");
    s->solver = HF_SOLVER_INDUCING;
    if (s->minibatch == 0) s->minibatch = USUAL_ROWS;
    return TOOL_OK;
}

static int choose_training(const tool_arguments *arguments, hf_context *ctx, hf_fit_settings *s)
{
    /* There is no other way to train on a few rows at a time. */
    if (s->minibatch > 0) s->optimiser = HF_OPTIMISER_ADAM;
    CHOICE("optimiser", HF_ENUM_OPTIMISER, s->optimiser);
    if (s->minibatch > 0 && s->optimiser != HF_OPTIMISER_ADAM)
        return usage_error(arguments->verb, "--optimiser: minibatches are trained by adam");
    int status = read_positive(arguments, "learning-rate", &s->learning_rate);
    if (status == TOOL_OK) status = read_positive(arguments, "noise-start", &s->noise_start);
    if (status == TOOL_OK) status = read_positive(arguments, "common-start", &s->common_start);
    if (status == TOOL_OK) status = read_count(arguments, "iterations", &s->iterations);
    if (has_argument(arguments, "train-inducing")) s->train_inducing = true;
    if (has_argument(arguments, "fixed-actions")) s->train_actions = false;
    return status;
}

static int choose_student(const tool_arguments *arguments, hf_context *ctx, hf_fit_settings *s)
{
    CHOICE("student-method", HF_ENUM_STUDENT_METHOD, s->student_method);
    if (!argument_double(arguments, "nu", &s->student_nu)) return TOOL_USAGE;
    if (has_argument(arguments, "nu") && !(s->student_nu > 1 && isfinite(s->student_nu)))
        return usage_error(arguments->verb, "--nu: the degrees of freedom must be more than 1, not %s",
                           argument(arguments, "nu"));
    return TOOL_OK;
}

int choose_solver(const tool_arguments *arguments, hf_context *ctx, hf_fit_settings *s)
{
    CHOICE("solver", HF_ENUM_SOLVER, s->solver);
    CHOICE("inducing-method", HF_ENUM_INDUCING_METHOD, s->inducing_method);
    CHOICE("inducing-choice", HF_ENUM_INDUCING_CHOICE, s->inducing_choice);
    CHOICE("action-kind", HF_ENUM_ACTIONS, s->action_kind);
    CHOICE("blocks", HF_ENUM_BLOCKS, s->blocks);
    CHOICE("action-start", HF_ENUM_ACTION_START, s->action_start);
    imply_solver(arguments, s);
    if (has_argument(arguments, "single-precision")) s->single_precision = true;
    int status = read_count(arguments, "inducing", &s->inducing);
    if (status == TOOL_OK) status = read_count(arguments, "minibatch", &s->minibatch);
    if (status == TOOL_OK) status = read_count(arguments, "actions", &s->actions);
    if (status != TOOL_OK) return status;
    if (!argument_double(arguments, "tolerance", &s->tolerance)) return TOOL_USAGE;
    if (!(s->tolerance >= 0 && s->tolerance < 1))
        return usage_error(arguments->verb, "--tolerance: %g is not from 0 to 1", s->tolerance);
    status = choose_stream(arguments, s);
    if (status == TOOL_OK) status = choose_student(arguments, ctx, s);
    return status == TOOL_OK ? choose_training(arguments, ctx, s) : status;
}
