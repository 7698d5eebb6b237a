/* SPDX-License-Identifier: Apache-2.0 */
/* Every option has an effect or is a mistake that is told: which settings each of them needs. */
#include "fit_settings.h"

#include <string.h>

typedef bool (*condition)(const hf_fit_settings *s);

static bool projected(const hf_fit_settings *s)
{
    return s->solver == HF_SOLVER_PROJECTED;
}

static bool block_actions(const hf_fit_settings *s)
{
    return projected(s) && s->action_kind == HF_ACTIONS_BLOCKS;
}

static bool counted(const hf_fit_settings *s)
{
    return s->action_kind != HF_ACTIONS_INDUCING;
}

static bool not_given(const hf_fit_settings *s)
{
    return s->action_kind != HF_ACTIONS_GIVEN;
}

static bool given(const hf_fit_settings *s)
{
    return projected(s) && s->action_kind == HF_ACTIONS_GIVEN;
}

static bool trained_blocks(const hf_fit_settings *s)
{
    return block_actions(s) && s->train;
}

static bool krylov(const hf_fit_settings *s)
{
    return projected(s) && s->action_kind == HF_ACTIONS_KRYLOV;
}

/* Block actions are trained by themselves; the other actions take hyperparameters and places from inducing inputs. */
static bool inducing_inputs(const hf_fit_settings *s)
{
    return s->solver == HF_SOLVER_INDUCING || (projected(s) && !block_actions(s));
}

static bool all_rows_inducing(const hf_fit_settings *s)
{
    return inducing_inputs(s) && s->minibatch == 0;
}

static bool trained_inducing(const hf_fit_settings *s)
{
    return inducing_inputs(s) && s->train;
}

static bool minibatches(const hf_fit_settings *s)
{
    return s->solver == HF_SOLVER_INDUCING && s->train;
}

static bool trained(const hf_fit_settings *s)
{
    return s->train;
}

static bool all_rows_trained(const hf_fit_settings *s)
{
    return s->train && s->minibatch == 0;
}

static bool by_adam(const hf_fit_settings *s)
{
    return s->train && s->optimiser == HF_OPTIMISER_ADAM;
}

static bool student(const hf_fit_settings *s)
{
    return s->sites == HF_SITES_STUDENT_T;
}

static bool student_not_inducing(const hf_fit_settings *s)
{
    return student(s) && (s->solver != HF_SOLVER_INDUCING || s->student_method == HF_STUDENT_VARIATIONAL);
}

static bool amplitude(const hf_fit_settings *s)
{
    return s->beta > 0 || s->output_beta_count > 0;
}

static bool not_in_scales(const hf_fit_settings *s)
{
    return s->standardise || !s->scaled_beta;
}

static const struct rule {
    const char *option;
    condition useful;
    const char *otherwise;
} rules[] = {
    {"actions", projected, "it is about the projected solver; say --solver projected"},
    {"actions", counted, "there are as many inducing actions as inducing inputs; say --inducing"},
    {"actions", not_given, "there are as many given actions as the file has columns; leave it out"},
    {"actions-file", given, "it is about given actions; say --solver projected --action-kind given"},
    {"action-kind", projected, "it is about the projected solver; say --solver projected"},
    {"single-precision", projected, "it is about the projected solver; say --solver projected"},
    {"tolerance", krylov, "it is about Krylov actions; say --solver projected --action-kind krylov"},
    {"blocks", block_actions, "it is about block actions; say --solver projected --action-kind blocks"},
    {"action-start", block_actions, "it is about block actions; say --solver projected --action-kind blocks"},
    {"fixed-actions", trained_blocks, "it is about block actions that would be trained"},
    {"inducing", inducing_inputs,
     "neither the exact solver nor block actions have inducing inputs; say --solver inducing"},
    {"inducing-method", all_rows_inducing,
     "it is about the inducing solver, on all rows at once; say --solver inducing"},
    {"inducing-choice", inducing_inputs,
     "neither the exact solver nor block actions have inducing inputs; say --solver inducing"},
    {"train-inducing", trained_inducing, "there are no inducing inputs to train; say --solver inducing"},
    {"minibatch", minibatches, "it is about training the inducing solver; say --solver inducing"},
    {"student-method", student_not_inducing,
     "the inducing solver is variational; leave it out, or say --solver exact"},
    {"objective", trained, "it is about training; leave out --no-train"},
    {"restarts", all_rows_trained,
     "random starts are about training on all rows; leave out --no-train and --minibatch"},
    {"iterations", trained, "it is about training; leave out --no-train"},
    {"lengthscale-prior", trained, "it is about training; leave out --no-train"},
    {"max-noise", trained, "it is about training; leave out --no-train, or say --set noise=V"},
    {"noise-start", trained, "it is about training; leave out --no-train, or say --set noise=V"},
    {"common-start", trained, "it is about training; leave out --no-train"},
    {"scaled-beta", amplitude, "it is about --beta, which is not given"},
    {"standardise", not_in_scales, "off, there are no scales in which beta could count; say --beta alone"},
    {"optimiser", trained, "it is about training; leave out --no-train"},
    {"learning-rate", by_adam, "it is the step of adam; say --optimiser adam"},
    {"checkpoint", trained, "it keeps what training has found; leave out --no-train"},
    {"resume", trained, "it goes on with training; leave out --no-train"},
};

/* ---- what training can maximise ---------------------------------------------------------------------------
 */

static int check_objective(const tool_arguments *arguments, const hf_fit_settings *s)
{
    const tool_verb *verb = arguments->verb;
    const char *name = hf_enum_name(HF_ENUM_OBJECTIVE, s->objective);
    const bool leave_one_out = s->objective == HF_OBJECTIVE_LOO || s->objective == HF_OBJECTIVE_WLOO;
    if (s->objective == HF_OBJECTIVE_EVIDENCE || !s->train) return TOOL_OK;
    if (s->minibatch > 0)
        return usage_error(verb,
                           "--objective %s: minibatches maximise the bound on the evidence; leave out "
                           "--minibatch",
                           name);
    if (s->sites == HF_SITES_STUDENT_T || s->sites == HF_SITES_PURSUIT)
        return usage_error(verb, "--objective %s: %s sites are trained by the evidence", name,
                           hf_enum_name(HF_ENUM_SITE_KIND, s->sites));
    if (leave_one_out && trained_blocks(s) && s->train_actions)
        return usage_error(verb,
                           "--objective %s: actions trained by leave-one-out fit the noise; add "
                           "--fixed-actions",
                           name);
    if (leave_one_out) return TOOL_OK;
    if (s->solver == HF_SOLVER_EXACT || s->solver == HF_SOLVER_AUTO)
        return usage_error(verb,
                           "--objective %s: it is a bound of the approximations; say --solver inducing or "
                           "--solver projected",
                           name);
    if (s->objective == HF_OBJECTIVE_RCAGP && (s->sites != HF_SITES_ROBUST || !amplitude(s)))
        return usage_error(verb,
                           "--objective rcagp: it is about robust sites with a given --beta (published: 1 "
                           "for a standardised target)");
    return TOOL_OK;
}

/* What the kinds of sites can be solved with. */
static int check_sites(const tool_arguments *arguments, const hf_fit_settings *s)
{
    const tool_verb *verb = arguments->verb;
    const char *name = hf_enum_name(HF_ENUM_SITE_KIND, s->sites);
    if (s->sites == HF_SITES_STUDENT_T && s->solver == HF_SOLVER_PROJECTED)
        return usage_error(verb,
                           "--solver projected: %s sites are made by the exact and the inducing solver; "
                           "say one of these, or --sites robust",
                           name);
    if (s->sites == HF_SITES_PURSUIT && s->minibatch > 0)
        return usage_error(verb, "--minibatch: relevance pursuit looks at all rows; leave it out");
    if (s->sites == HF_SITES_PURSUIT && block_actions(s))
        return usage_error(verb,
                           "--action-kind blocks: relevance pursuit takes its hyperparameters from the exact "
                           "or the inducing solver; say --action-kind krylov");
    return TOOL_OK;
}

/* Settings that go with a transform of the target. */
static int check_transform(const tool_arguments *arguments, const hf_fit_settings *s)
{
    const tool_verb *verb = arguments->verb;
    const char *name = hf_enum_name(HF_ENUM_TRANSFORM, s->transform);
    if (s->transform == HF_TRANSFORM_NONE) return TOOL_OK;
    if (has_argument(arguments, "stream"))
        return usage_error(verb, "--transform %s is of a table in memory; leave out --stream", name);
    if (has_argument(arguments, "noise-column"))
        return usage_error(verb, "--transform %s: a noise column is of the target as it is; leave one out",
                           name);
    if (has_argument(arguments, "mean-column"))
        return usage_error(verb, "--transform %s: a mean column is of the target as it is; leave one out",
                           name);
    if (has_argument(arguments, "output-column"))
        return usage_error(verb, "--transform %s is of one target; leave out --output-column", name);
    if (s->transform == HF_TRANSFORM_AUTO &&
        (has_argument(arguments, "checkpoint") || has_argument(arguments, "resume")))
        return usage_error(verb, "--transform auto takes several fits, and a checkpoint holds one; name the "
                                 "transform");
    return TOOL_OK;
}

/* Settings that go with a kernel that is to be chosen. */
static int check_kernel(const tool_arguments *arguments, const hf_fit_settings *s)
{
    const tool_verb *verb = arguments->verb;
    if (s->kernel == NULL || strcmp(s->kernel, "auto") != 0) return TOOL_OK;
    if (has_argument(arguments, "stream"))
        return usage_error(verb, "--kernel auto is for a table in memory; leave out --stream");
    if (has_argument(arguments, "output-column"))
        return usage_error(verb, "--kernel auto is for one target; leave out --output-column");
    if (has_argument(arguments, "checkpoint") || has_argument(arguments, "resume"))
        return usage_error(verb, "--kernel auto takes several fits, and a checkpoint holds one; name the "
                                 "kernel");
    return TOOL_OK;
}

int check_effects(const tool_arguments *arguments, const hf_fit_settings *s)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (has_argument(arguments, rules[i].option) && !rules[i].useful(s))
            return usage_error(arguments->verb, "--%s: %s", rules[i].option, rules[i].otherwise);
    if (given(s) && !has_argument(arguments, "actions-file"))
        return usage_error(arguments->verb, "--action-kind given: which? Say --actions-file FILE.csv");
    int status = check_sites(arguments, s);
    if (status == TOOL_OK) status = check_transform(arguments, s);
    if (status == TOOL_OK) status = check_kernel(arguments, s);
    return status == TOOL_OK ? check_objective(arguments, s) : status;
}
