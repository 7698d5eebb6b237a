/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of fits of labels, and of what is decided by them. */
#include "core/settings_rows.h"

#include "settings/sites_bits.h"

#include <holdfast/classify.h>

#define TWO     (BIT(HF_LINK_PROBIT) | BIT(HF_LINK_LOGIT))
#define SOFTMAX BIT(HF_LINK_SOFTMAX)

#define SETTINGS hf_class_settings
static const hfi_setting rows[] = {
    {CHOICE(link, hf_link, LINK, HF_LINK_SOFTMAX)},
    {CHOICE(inference, hf_inference, INFERENCE, HF_INFERENCE_AUTO), DEFAULT(HF_INFERENCE_AUTO),
     CLASHES(INFERENCE_OF_LABELS(link, TWO, SOFTMAX))},
    {TEXT(kernel)},
    {CHOICE(mean, hf_mean_kind, MEAN_KIND, HF_MEAN_LINEAR), DEFAULT(HF_MEAN_CONSTANT),
     CLASHES(MEAN_OF_LABELS(link, TWO, SOFTMAX))},
    {FLAG(own_kernels)},
    {FLAG(train), DEFAULT(true)},
    {FLAG(priors), DEFAULT(true)},
    {FLAG(train_mean), DEFAULT(true)},
    {FLAG(standardise), DEFAULT(true)},
    {COUNT(iterations, 1), DEFAULT(60)},
    {COUNT(restarts, 0)},
    {CHOICE(solver, hf_solver, SOLVER, HF_SOLVER_PROJECTED), CLASHES(SOLVER_OF_LABELS(link, TWO, SOFTMAX))},
    {COUNT(inducing, 0)},
    {CHOICE(inducing_method, hf_inducing_method, INDUCING_METHOD, HF_INDUCING_DTC),
     DEFAULT(HF_INDUCING_FITC)},
    {CHOICE(inducing_choice, hf_inducing_choice, INDUCING_CHOICE, HF_INDUCING_FIRST)},
    {LIST(set)},
    {LENGTH(set_count)},
};
SETTINGS_TABLE(hf_class_settings, "a fit of labels", rows)
#undef SETTINGS

#define SETTINGS hf_class_rule
static const hfi_setting rule_rows[] = {
    {NUMBER(lambda, 1e-6, 1e6), DEFAULT(1)},
    {NUMBER(threshold, 0, 1), .face.above = true, .face.below = true, DEFAULT(0.5)},
    {LIST(loss)},
};
SETTINGS_TABLE(hf_class_rule, "a rule of decisions", rule_rows)
