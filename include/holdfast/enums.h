/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file enums.h
 * @brief Names of the values of every enum that people read or write.
 *
 *     int value = 0;
 *     if (hf_enum_parse(ctx, HF_ENUM_SOLVER, "exact", &value) == HF_OK) settings.solver = value;
 *     puts(hf_enum_name(HF_ENUM_SOLVER, settings.solver));
 *
 * The tool, model files and JSON use these names. A program, or a binding, lists the values of an
 * enum by counting from 0 to hf_enum_count() - 1.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_ENUMS_H
#define HOLDFAST_ENUMS_H

#include <holdfast/context.h>
#include <holdfast/likelihood_list.h>

/** X(id, type, title, names...): HF_ENUM_<id> stands for the type, and the names are those of its
 * values from 0 on. */
#define HF_ENUM_LIST(X)                                                                            \
    X(ABILITY, hf_ability, "ability of a model", "scores", "class-scores", "suspects",             \
      "covariances", "plain")                                                                      \
    X(ACQUISITION, hf_acquisition, "acquisition function", "log-ei", "ei", "ucb", "log-pi", "pi")  \
    X(ACTION_START, hf_action_start, "start of the actions", "random", "targets", "eigen",         \
      "precision")                                                                                 \
    X(ACTIONS, hf_actions, "kind of actions", "krylov", "inducing", "blocks", "given")             \
    X(AGE_KIND, hf_age_kind, "law of ageing", "none", "quadratic", "linear", "exponential",        \
      "wiener", "table")                                                                           \
    X(ATTACK_GOAL, hf_attack_goal, "goal of an attack", "farthest", "largest", "smallest")         \
    X(ATTACK_KIND, hf_attack_kind, "method of attack", "fgsm", "pgd")                              \
    X(BETA_RULE, hf_beta_rule, "rule for beta", "practical", "theory", "given")                    \
    X(BLOCKS, hf_blocks, "kind of blocks", "contiguous", "clustered")                              \
    X(CENTRE, hf_centre, "centre", "prior", "loo", "neighbours", "conditional")                    \
    X(CERTIFY_STOP, hf_certify_stop, "end of a search", "tolerance", "decided", "time limit",      \
      "node limit", "rounding", "memory limit", "not finite")                                      \
    X(CERTIFY_WHAT, hf_certify_what, "certified value", "mean", "sd", "mean-plus")                 \
    X(CHANCE, hf_chance, "chance of a class", "possible", "ruled out", "open")                     \
    X(CLOSED_METHOD, hf_closed_method, "closed form", "closed-form", "minimum-norm", "ellipsoid",  \
      "gp")                                                                                        \
    X(CONTAMINATION, hf_contamination, "contamination", "none", "uniform", "asymmetric",           \
      "focused")                                                                                   \
    X(CRITERION, hf_criterion, "criterion", "crps", "nlpd", "mae", "rmse")                         \
    X(DATE_ORDER, hf_date_order, "order of dates", "auto", "day", "month")                         \
    X(DECIMAL, hf_decimal, "decimal mark", "auto", "point", "comma")                               \
    X(DISCARD_RULE, hf_discard_rule, "rule of discarding", "negligible", "log", "variance")        \
    X(EULBO_UTILITY, hf_eulbo_utility, "utility", "log-expected", "expected-log")                  \
    X(EXPERT_LABEL, hf_expert_label, "label of an expert", "unknown", "believed", "doubted")       \
    X(EXPERT_RULE, hf_expert_rule, "rule of an expert's mean", "average", "published")             \
    X(EXPERT_USE, hf_expert_use, "use of an expert", "replace", "prior-mean")                      \
    X(FILE_CONTENT, hf_file_content, "kind of file", "other", "model", "envelope", "track",        \
      "study")                                                                                     \
    X(FLIP_KIND, hf_flip_kind, "kind of flip", "nearest", "fewest")                                \
    X(GOAL, hf_goal, "goal", "maximise", "minimise", "at-most", "at-least")                        \
    X(HEADER, hf_header, "header", "auto", "yes", "no")                                            \
    X(INDUCING_CHOICE, hf_inducing_choice, "choice of inducing inputs", "greedy", "kmeans",        \
      "mdpp", "first")                                                                             \
    X(INDUCING_METHOD, hf_inducing_method, "inducing method", "vfe", "fitc", "dtc")                \
    X(INFERENCE, hf_inference, "inference", "laplace", "ep", "variational", "corrected", "auto")   \
    X(LIMITS, hf_limits, "limit of detection", "missing", "half")                                  \
    X(LINK, hf_link, "link", "probit", "logit", "softmax")                                         \
    X(MEAN_KIND, hf_mean_kind, "prior mean", "zero", "constant", "median", "linear", "outputs")    \
    X(OBJECTIVE, hf_objective, "objective", "evidence", "loo", "wloo", "weighted", "rcagp")        \
    X(OPTIMISER, hf_optimiser, "optimiser", "lbfgs", "adam")                                       \
    X(OUTPUTS_THRESHOLD, hf_outputs_threshold, "threshold of outputs", "linear", "lower", "mad")   \
    X(OUTPUTS_WEIGHTING, hf_outputs_weighting, "weighting", "reading", "joint", "channel")         \
    X(PLACE_RULE, hf_place_rule, "rule for places", "variance", "upper", "dpp", "anywhere",        \
      "dpp-falling")                                                                               \
    X(PRIOR_KIND, hf_prior_kind, "prior of lengthscales", "weak", "dimension")                     \
    X(REASON, hf_reason, "reason of a trial", "added", "start", "acquired", "repeat", "explore")   \
    X(SETTING_TYPE, hf_setting_type, "type of a setting", "choice", "flag", "count", "seed",       \
      "number", "text", "list", "length")                                                          \
    X(SHAPE, hf_shape, "shape of a region", "box", "l2", "l1")                                     \
    X(SIDE, hf_side, "side", "lower", "upper")                                                     \
    X(LIKELIHOOD, hf_likelihood, "likelihood", "gaussian" HF_SITES_LIST(HF_LIKELIHOOD_NAME_))      \
    X(SOLVER, hf_solver, "solver", "auto", "exact", "inducing", "projected")                       \
    X(STOP, hf_stop, "end of a training", "not trained", "converged", "evaluation budget used up", \
      "no further progress in floating point", "objective no longer changes")                      \
    X(STUDY_ENTRY_KIND, hf_study_entry_kind, "entry of a study", "asked", "added", "told",         \
      "failed", "expired", "labelled", "added as failed")                                          \
    X(STUDY_REACH, hf_study_reach, "reach", "auto", "global", "regions")                           \
    X(OUTLIERS, hf_outliers, "treatment of outliers", "off", "auto", "force")                      \
    X(THRESHOLD_RULE, hf_threshold_rule, "threshold rule", "quantile", "mad", "given")             \
    X(TRACK_ENTRY_KIND, hf_track_entry_kind, "entry of a track", "told", "asked", "requested",     \
      "answered", "truth", "fitted")                                                               \
    X(TRACK_METHOD, hf_track_method, "method", "gp-ucb", "r-gp-ucb", "sw-gp-ucb", "tv-gp-ucb",     \
      "w-gp-ucb", "ui-gp-ucb", "sparq", "sparq-reuse")                                             \
    X(TRANSFORM, hf_transform, "transform", "none", "sqrt", "log", "auto")                         \
    X(TRIAL_STATE, hf_trial_state, "state of a trial", "pending", "told", "failed", "expired")     \
    X(TRUST_EVENT, hf_trust_event, "event of a trust region", "kept", "grew", "shrank", "ended")   \
    X(UNIT, hf_unit, "unit", "none", "input", "frequency", "frequency2", "output2",                \
      "output2/input2", "output")                                                                  \
    X(VARIABLE_KIND, hf_variable_kind, "kind of variable", "real", "integer", "ordered",           \
      "category")                                                                                  \
    X(VERDICT, hf_verdict, "verdict", "certified", "counterexample", "open")

/** The enums that have names, each by its id in HF_ENUM_LIST. */
typedef enum hf_enum {
#define HF_ENUM_ID_(id, type, title, ...) HF_ENUM_##id,
    HF_ENUM_LIST(HF_ENUM_ID_)
#undef HF_ENUM_ID_
    /** number of enums; no enum itself */
    HF_ENUM_COUNT
} hf_enum;

HF_BEGIN_DECLS

/** The enum in words ("solver"); "unknown" for a number that is no hf_enum. Never NULL. Any
 * thread. */
HF_API const char *hf_enum_title(hf_enum of);

/** Number of values of the enum: they are 0 to this less 1. 0 for a number that is no hf_enum. Any
 * thread. */
HF_API unsigned hf_enum_count(hf_enum of);

/** Name of a value; "unknown" for a number that is no value of the enum. Never NULL, owned by the
 * library. Any thread. O(1). */
HF_API const char *hf_enum_name(hf_enum of, unsigned value);

/**
 * The value with a name. A pointer to a variable of the enum fits `value`. O(number of values). Any
 * thread, each with its own context. Errors, with `value` as it was: HF_ERR_ARGUMENT for a name
 * that the enum does not have, with the names that it has in the message; for NULL as name or
 * value; for a number that is no hf_enum.
 */
HF_API hf_status hf_enum_parse(hf_context *ctx, hf_enum of, const char *name, unsigned *value);

HF_END_DECLS

#endif
