/* SPDX-License-Identifier: Apache-2.0 */
/* The classifier: a posterior over latent functions, and the link. */
#include "classify/classify.h"
#include "classify/softmax.h"
#include <math.h>
#include <string.h>

struct hf_classifier {
    hfi_memory memory;
    hf_posterior *posterior;
    hf_link link;
    size_t classes;
    hf_class_rule rule;
};

hf_status hf_classifier_create(hf_context *ctx, hf_posterior *posterior, hf_link link, size_t classes,
                               hf_classifier **out)
{
    if (!posterior || !out)
        return hfi_refuse(ctx, "hf_classifier_create: %s is NULL", posterior ? "out" : "posterior");
    const hf_status s = hfi_class_check_link(ctx, link, classes);
    if (s < 0) return s;
    if (posterior->scaling.outputs != (link == HF_LINK_SOFTMAX ? classes : 1))
        return hfi_refuse(ctx, "the posterior has %zu outputs, which is not for %zu classes",
                          posterior->scaling.outputs, classes);
    hf_classifier *c = hfi_alloc(ctx, 1, sizeof *c);
    if (!c) return HF_ERR_MEMORY;
    *c = (hf_classifier){hfi_context_memory(ctx), posterior, link, classes, hf_class_rule_default()};
    *out = c;
    return HF_OK;
}

void hf_classifier_free(hf_classifier *classifier)
{
    if (!classifier) return;
    const hfi_memory memory = classifier->memory;
    hf_posterior_free(classifier->posterior);
    hfi_memory_free(&memory, classifier);
}

hf_posterior *hfi_classifier_posterior(hf_classifier *classifier)
{
    return classifier->posterior;
}

const hf_posterior *hf_classifier_posterior(const hf_classifier *classifier)
{
    return classifier ? classifier->posterior : NULL;
}

hf_link hf_classifier_link(const hf_classifier *classifier)
{
    return classifier ? classifier->link : HF_LINK_PROBIT;
}

size_t hf_classifier_classes(const hf_classifier *classifier)
{
    return classifier ? classifier->classes : 0;
}

/* ---- the rule ---------------------------------------------------------------------------------------------------- */

static const double least_lambda = 1e-6, most_lambda = 1e6;

hf_class_rule hf_class_rule_default(void)
{
    return (hf_class_rule){.lambda = 1.0, .threshold = 0.5};
}

hf_status hf_class_threshold(hf_context *ctx, double wrong_1, double wrong_0, double *threshold)
{
    if (!threshold) return hfi_refuse(ctx, "hf_class_threshold: threshold is NULL");
    if (!(wrong_1 > 0.0) || !(wrong_0 > 0.0) || !isfinite(wrong_1) || !isfinite(wrong_0))
        return hfi_refuse(ctx, "the losses are %g and %g; both must be above 0 and finite", wrong_1, wrong_0);
    const double quotient = 1.0 / (1.0 + wrong_0 / wrong_1);
    if (!(quotient > 0.0) || !(quotient < 1.0))
        return hfi_refuse(ctx, "the losses are %g and %g, which no probability can weigh against each other",
                          wrong_1, wrong_0);
    *threshold = quotient;
    return HF_OK;
}

hf_status hf_classifier_set_rule(hf_context *ctx, hf_classifier *classifier, const hf_class_rule *rule)
{
    const hf_class_rule own = rule ? *rule : hf_class_rule_default();
    if (!classifier) return hfi_refuse(ctx, "hf_classifier_set_rule: classifier is NULL");
    if (!(own.lambda >= least_lambda) || !(own.lambda <= most_lambda))
        return hfi_refuse(ctx, "the scale of the link is %g; it must be from %g to %g", own.lambda,
                          least_lambda, most_lambda);
    if (!(own.threshold > 0.0) || !(own.threshold < 1.0))
        return hfi_refuse(ctx, "the threshold is %g; it must be above 0 and below 1", own.threshold);
    if (classifier->link == HF_LINK_SOFTMAX && (own.lambda != 1.0 || own.threshold != 0.5))
        return hfi_refuse(
            ctx, "a scale of %g and a threshold of %g are for the links of two classes, not for softmax",
            own.lambda, own.threshold);
    classifier->rule = own;
    return HF_OK;
}

hf_class_rule hf_classifier_rule(const hf_classifier *classifier)
{
    return classifier ? classifier->rule : hf_class_rule_default();
}

/* ---- predictions ------------------------------------------------------------------------------------------------- */

/* Rows of the answer to a question about two classes. */
typedef struct answer {
    double *mean, *var;  /* m each */
    double *probability; /* m x 2, or NULL */
    size_t *winner;
    double *error;
} answer;

static hf_status fill(const hf_classifier *c, size_t m, const answer *a)
{
    const double lambda = c->rule.lambda, threshold = c->rule.threshold;
    for (size_t i = 0; i < m; i++) {
        double p = 0.0, error = 0.0;
        const hf_status s =
            hf_class_probability(c->link, lambda * a->mean[i], lambda * lambda * a->var[i], &p, &error);
        if (s < 0) return s;
        if (a->probability) {
            a->probability[2 * i] = 1.0 - p;
            a->probability[2 * i + 1] = p;
        }
        /* P is above 1/2 exactly where the mean is above 0. */
        if (a->winner) a->winner[i] = (threshold == 0.5 ? a->mean[i] > 0.0 : p > threshold) ? 1 : 0;
        if (a->error) a->error[i] = error;
    }
    return HF_OK;
}

hf_status hf_classify_predict(hf_context *ctx, const hf_classifier *classifier, size_t m, const double *x,
                              size_t ldx, double *probability, size_t *winner, double *latent_mean,
                              double *latent_var, double *error)
{
    if (!classifier) return hfi_refuse(ctx, "hf_classify_predict: classifier is NULL");
    if (classifier->link == HF_LINK_SOFTMAX)
        return hfi_softmax_predict(ctx, classifier->posterior, classifier->classes, m, x, ldx, probability,
                                   winner, latent_mean, latent_var, error);
    double *room = hfi_alloc(ctx, m, 2 * sizeof *room);
    if (!room) return HF_ERR_MEMORY;
    const answer a = {room, room + m, probability, winner, error};
    hf_status s = hf_predict(ctx, classifier->posterior, m, x, ldx, a.mean, a.var, NULL);
    const hf_status filled = s >= 0 ? fill(classifier, m, &a) : s;
    if (s >= 0 && filled < 0) s = hfi_fail(ctx, filled, "a latent value is not finite");
    if (s >= 0 && latent_mean) memcpy(latent_mean, a.mean, m * sizeof *latent_mean);
    if (s >= 0 && latent_var) memcpy(latent_var, a.var, m * sizeof *latent_var);
    hfi_free(ctx, room);
    return s;
}
