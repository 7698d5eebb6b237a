/* SPDX-License-Identifier: Apache-2.0 */
/* --threshold, --loss and --lambda: how probabilities of two classes become a decision. */
#include "shell/class_rule.h"

#include <math.h>
#include <stdlib.h>

static const char *given(const tool_arguments *a)
{
    static const char *const names[] = {"threshold", "loss", "lambda"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (has_argument(a, names[k])) return names[k];
    return NULL;
}

static hf_status take_loss(tool_session *session, const tool_arguments *a, double *threshold)
{
    size_t count = 0;
    double *costs = NULL;
    if (!has_argument(a, "loss")) return HF_OK;
    if (has_argument(a, "threshold"))
        return session_misuse(session, "--loss makes a threshold; leave out --threshold");
    if (!argument_doubles(a, "loss", &count, &costs)) return session_told(session);
    const bool pair =
        count == 2 && costs[0] > 0.0 && costs[1] > 0.0 && isfinite(costs[0]) && isfinite(costs[1]);
    const hf_status status =
        pair ? hf_class_threshold(session->ctx, costs[0], costs[1], threshold)
             : session_misuse(session, "--loss: '%s' is not two costs above 0, such as 1,20",
                              argument(a, "loss"));
    free(costs);
    return status;
}

hf_status take_class_rule(tool_session *session, const tool_arguments *a, hf_model *model)
{
    const char *name = given(a);
    hf_class_rule rule = hf_class_rule_default();
    if (name == NULL) return HF_OK;
    if (hf_model_classes(model) != 2 || hf_classifier_link(hf_model_classifier(model)) == HF_LINK_SOFTMAX)
        return session_refuse(
            session,
            "--%s is for models of two classes with probit or logit sites; that of \"%s\" is another one",
            name, hf_model_target(model));
    if (!argument_double(a, "threshold", &rule.threshold) || !argument_double(a, "lambda", &rule.lambda))
        return session_told(session);
    if (!(rule.threshold > 0.0) || !(rule.threshold < 1.0))
        return session_misuse(session, "--threshold: %g is not a number between 0 and 1", rule.threshold);
    if (!(rule.lambda >= 1e-6) || !(rule.lambda <= 1e6))
        return session_misuse(session, "--lambda: %g is not a number from 1e-6 to 1e6", rule.lambda);
    const hf_status status = take_loss(session, a, &rule.threshold);
    return status >= 0 ? hf_model_set_class_rule(session->ctx, model, &rule) : status;
}
