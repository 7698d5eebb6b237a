/* SPDX-License-Identifier: Apache-2.0 */
/* --threshold, --loss and --lambda: how probabilities of classes become a decision. */
#include "shell/class_rule.h"

#include <math.h>
#include <stdlib.h>

/* Costs are finite and none is below 0; of k classes there are k of them, or k k. Filled up to k k. */
static bool fill_up(size_t classes, size_t count, const double *costs, double *loss)
{
    for (size_t k = 0; k < count; k++)
        if (!isfinite(costs[k]) || costs[k] < 0.0) return false;
    for (size_t a = 0; a < classes; a++)
        for (size_t b = 0; b < classes; b++)
            loss[a * classes + b] = count == classes ? (a == b ? 0.0 : costs[b]) : costs[a * classes + b];
    return true;
}

static hf_status take_loss(tool_session *session, const tool_arguments *a, hf_model *model,
                           hf_class_rule *rule)
{
    const size_t classes = hf_model_classes(model);
    size_t count = 0;
    double *costs = NULL;
    if (!argument_doubles(a, "loss", &count, &costs)) return session_told(session);
    double *loss = calloc(classes * classes, sizeof *loss);
    hf_status status = loss != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0 &&
        ((count != classes && count != classes * classes) || !fill_up(classes, count, costs, loss)))
        status = session_misuse(
            session,
            "--loss: '%s' is not %zu costs, one a class, or %zu, one a decision and a class, none below 0",
            argument(a, "loss"), classes, classes * classes);
    rule->loss = loss;
    if (status >= 0) status = hf_model_set_class_rule(session->ctx, model, rule);
    if (status == HF_ERR_ARGUMENT)
        status = session_misuse(session, "--loss: %s", hf_context_message(session->ctx));
    free(costs);
    free(loss);
    return status;
}

hf_status take_class_rule(tool_session *session, const tool_arguments *a, hf_model *model)
{
    const bool loss = has_argument(a, "loss"), threshold = has_argument(a, "threshold"),
               lambda = has_argument(a, "lambda"), for_two = threshold || lambda;
    hf_class_rule rule = hf_class_rule_default();
    if (!loss && !for_two) return HF_OK;
    const size_t classes = hf_model_classes(model);
    const bool two = classes == 2 && hf_classifier_link(hf_model_classifier(model)) != HF_LINK_SOFTMAX;
    if (for_two ? !two : classes < 2)
        return session_refuse(session, "--%s is for models of %s; that of \"%s\" is another one",
                              threshold ? "threshold"
                              : lambda  ? "lambda"
                                        : "loss",
                              for_two ? "two classes with probit or logit sites" : "classes",
                              hf_model_target(model));
    if (loss && threshold) return session_misuse(session, "--loss makes a threshold; leave out --threshold");
    if (!argument_double(a, "threshold", &rule.threshold) || !argument_double(a, "lambda", &rule.lambda))
        return session_told(session);
    if (!(rule.threshold > 0.0) || !(rule.threshold < 1.0))
        return session_misuse(session, "--threshold: %g is not a number between 0 and 1", rule.threshold);
    if (!(rule.lambda >= 1e-6) || !(rule.lambda <= 1e6))
        return session_misuse(session, "--lambda: %g is not a number from 1e-6 to 1e6", rule.lambda);
    return loss ? take_loss(session, a, model, &rule) : hf_model_set_class_rule(session->ctx, model, &rule);
}
