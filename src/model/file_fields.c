/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of settings and report, each with its key in a model file. Keys are part of the format: never
 * rename one. A field that is added later gets the format version that has it first. */
#include "model/file.h"

#include <stddef.h>

static const char *const means[] = {"zero", "constant", "median", "linear", "outputs"};
static const char *const sites[] = {"gaussian", "robust", "student-t", "pursuit",
                                    "probit",   "logit",  "softmax"};
static const char *const suspects[] = {"off", "auto", "force"};
static const char *const centres[] = {"prior", "loo", "neighbours", "conditional"};
static const char *const weightings[] = {"reading", "joint", "channel"};
static const char *const rules[] = {"quantile", "mad", "given"};
static const char *const objectives[] = {"evidence", "loo", "wloo", "weighted", "rcagp"};
static const char *const solvers[] = {"auto", "exact", "inducing", "projected"};
static const char *const methods[] = {"vfe", "fitc", "dtc"};
static const char *const choices[] = {"greedy", "kmeans", "mdpp", "first"};
static const char *const action_kinds[] = {"krylov", "inducing", "blocks", "given"};
static const char *const block_rules[] = {"contiguous", "clustered"};
static const char *const starts[] = {"random", "targets", "eigen", "precision"};
static const char *const optimisers[] = {"lbfgs", "adam"};
static const char *const student_methods[] = {"laplace", "ep", "variational"};
static const char *const inferences[] = {"laplace", "ep", "corrected"};
static const char *const transforms[] = {"none", "sqrt", "log"};
static const char *const priors_of_lengthscales[] = {"weak", "dimension"};
static const char *const stops[] = {"not trained", "converged", "iterations", "roundoff", "level"};

const char *const hfi_form_names[HFI_FACTOR_FORMS] = {"exact", "dense", "blocks"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SETTING(field, type, since)                                                                          \
    {                                                                                                        \
        "settings." #field, type, offsetof(hf_fit_settings, field), NULL, 0, since                           \
    }
#define SETTING_CHOICE(field, list, since)                                                                   \
    {                                                                                                        \
        "settings." #field, HFI_CHOICE, offsetof(hf_fit_settings, field), list, COUNT(list), since           \
    }
#define REPORT(field, type, since)                                                                           \
    {                                                                                                        \
        "report." #field, type, offsetof(hf_fit_report, field), NULL, 0, since                               \
    }
#define REPORT_CHOICE(field, list, since)                                                                    \
    {                                                                                                        \
        "report." #field, HFI_CHOICE, offsetof(hf_fit_report, field), list, COUNT(list), since               \
    }

const hfi_file_field hfi_settings_fields[] = {
    SETTING_CHOICE(mean, means, 1),
    SETTING_CHOICE(sites, sites, 1),
    SETTING_CHOICE(suspects, suspects, 1),
    SETTING(groups, HFI_FLAG, 1),
    SETTING(calibrate, HFI_FLAG, 1),
    SETTING_CHOICE(centre, centres, 1),
    SETTING_CHOICE(threshold_rule, rules, 1),
    SETTING(eps, HFI_REAL, 1),
    SETTING(threshold, HFI_REAL, 1),
    SETTING(rounds, HFI_SIZE, 1),
    SETTING(consistent_noise, HFI_FLAG, 1),
    SETTING(train, HFI_FLAG, 1),
    SETTING_CHOICE(objective, objectives, 1),
    SETTING(priors, HFI_FLAG, 1),
    SETTING(train_mean, HFI_FLAG, 1),
    SETTING(restarts, HFI_SIZE, 1),
    SETTING(iterations, HFI_SIZE, 1),
    SETTING(standardise, HFI_FLAG, 1),
    SETTING_CHOICE(solver, solvers, 2),
    SETTING(inducing, HFI_SIZE, 2),
    SETTING_CHOICE(inducing_method, methods, 2),
    SETTING_CHOICE(inducing_choice, choices, 2),
    SETTING(train_inducing, HFI_FLAG, 2),
    SETTING(actions, HFI_SIZE, 2),
    SETTING_CHOICE(action_kind, action_kinds, 2),
    SETTING_CHOICE(blocks, block_rules, 2),
    SETTING_CHOICE(action_start, starts, 2),
    SETTING(train_actions, HFI_FLAG, 2),
    SETTING(tolerance, HFI_REAL, 2),
    SETTING(single_precision, HFI_FLAG, 2),
    SETTING_CHOICE(optimiser, optimisers, 2),
    SETTING(learning_rate, HFI_REAL, 2),
    SETTING(minibatch, HFI_SIZE, 2),
    SETTING(beta, HFI_REAL, 2),
    SETTING_CHOICE(student_method, student_methods, 2),
    SETTING(student_nu, HFI_REAL, 2),
    SETTING(max_noise, HFI_REAL, 3),
    SETTING(coregion_rank, HFI_SIZE, 3),
    SETTING(shared_noise, HFI_FLAG, 3),
    SETTING(independent, HFI_FLAG, 3),
    SETTING_CHOICE(weighting, weightings, 3),
    SETTING_CHOICE(inference, inferences, 4),
    SETTING_CHOICE(transform, transforms, 5),
    SETTING_CHOICE(lengthscale_prior, priors_of_lengthscales, 6),
    SETTING(unit_inputs, HFI_FLAG, 6),
};
const size_t hfi_settings_field_count = COUNT(hfi_settings_fields);

const hfi_file_field hfi_report_fields[] = {
    REPORT(readings, HFI_SIZE, 1),    REPORT(missing, HFI_SIZE, 1),
    REPORT_CHOICE(stop, stops, 1),    REPORT(evaluations, HFI_SIZE, 1),
    REPORT(rounds, HFI_SIZE, 1),      REPORT(objective, HFI_REAL, 1),
    REPORT(log_prior, HFI_REAL, 1),   REPORT(gradient_norm, HFI_REAL, 1),
    REPORT(at_bound, HFI_SIZE, 1),    REPORT(jitter, HFI_REAL, 1),
    REPORT(condition, HFI_REAL, 1),   REPORT(backward, HFI_REAL, 1),
    REPORT(bytes, HFI_REAL, 1),       REPORT(seconds, HFI_REAL, 1),
    REPORT(threshold, HFI_REAL, 1),   REPORT(suspects_adopted, HFI_FLAG, 1),
    REPORT(suspects, HFI_SIZE, 1),    REPORT(groups, HFI_SIZE, 1),
    REPORT(benefit, HFI_REAL, 1),     REPORT(gain, HFI_REAL, 1),
    REPORT(calibration, HFI_REAL, 1), REPORT_CHOICE(solver, solvers, 2),
    REPORT(inducing, HFI_SIZE, 2),    REPORT(actions, HFI_SIZE, 2),
    REPORT(passes, HFI_SIZE, 2),      REPORT(residual, HFI_REAL, 2),
    REPORT(nu, HFI_REAL, 2),
};
const size_t hfi_report_field_count = COUNT(hfi_report_fields);
