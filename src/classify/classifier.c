/* SPDX-License-Identifier: Apache-2.0 */
/* The classifier: a posterior over latent functions, and the link. */
#include "classify/classify.h"
#include "classify/softmax.h"
#include "core/settings.h"
#include <string.h>

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
    *c = (hf_classifier){hfi_context_memory(ctx), posterior, link, classes, hf_class_rule_default(), NULL};
    *out = c;
    return HF_OK;
}

void hf_classifier_free(hf_classifier *classifier)
{
    if (!classifier) return;
    const hfi_memory memory = classifier->memory;
    hf_posterior_free(classifier->posterior);
    hfi_memory_free(&memory, classifier->loss);
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

/* The loss of two classes makes a threshold. */
static hf_status take_loss(hf_context *ctx, const hf_classifier *c, hf_class_rule *rule)
{
    double threshold;
    hf_status status = hfi_class_check_loss(ctx, c->classes, rule->loss);
    if (status < 0 || c->link == HF_LINK_SOFTMAX) return status;
    status =
        hf_class_threshold(ctx, rule->loss[2] - rule->loss[0], rule->loss[1] - rule->loss[3], &threshold);
    if (status >= 0 && rule->threshold != 0.5 && rule->threshold != threshold)
        return hfi_refuse(ctx, "a loss makes the threshold %g, but %g is given besides", threshold,
                          rule->threshold);
    if (status >= 0) rule->threshold = threshold;
    return status;
}

hf_status hf_classifier_set_rule(hf_context *ctx, hf_classifier *classifier, const hf_class_rule *rule)
{
    hf_class_rule own;
    if (!classifier) return hfi_refuse(ctx, "hf_classifier_set_rule: classifier is NULL");
    hf_status status = hfi_settings_open(ctx, hf_class_rule_table(), rule, &own);
    if (status < 0) return status;
    if (classifier->link == HF_LINK_SOFTMAX && (own.lambda != 1.0 || own.threshold != 0.5))
        return hfi_refuse(
            ctx, "a scale of %g and a threshold of %g are for the links of two classes, not for softmax",
            own.lambda, own.threshold);
    double *loss = NULL;
    if (own.loss) {
        status = take_loss(ctx, classifier, &own);
        if (status < 0) return status;
        const size_t count = classifier->classes * classifier->classes;
        loss = hfi_memory_alloc(&classifier->memory, count, sizeof *loss);
        if (!loss) return hfi_out_of_memory(ctx);
        memcpy(loss, own.loss, count * sizeof *loss);
    }
    hfi_memory_free(&classifier->memory, classifier->loss);
    own.loss = classifier->loss = loss;
    classifier->rule = own;
    return HF_OK;
}

hf_status hfi_classifier_with_loss(hf_context *ctx, const hf_classifier *classifier, const double *loss,
                                   hf_classifier *out)
{
    *out = *classifier;
    if (!loss) return HF_OK;
    out->rule.threshold = hf_class_rule_default().threshold;
    out->rule.loss = loss;
    return take_loss(ctx, out, &out->rule);
}

const hf_class_rule *hf_classifier_rule(const hf_classifier *classifier)
{
    return classifier ? &classifier->rule : NULL;
}

/* ---- predictions ------------------------------------------------------------------------------------------------- */

/* Rows of the answer to a question about two classes. */
typedef struct two_class_rows {
    double *mean, *var;  /* m each */
    double *probability; /* m x 2, or NULL */
    size_t *winner;
    double *error;
} two_class_rows;

static hf_status fill_class_answers(const hf_classifier *c, size_t m, const two_class_rows *a)
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
        return hfi_softmax_predict(ctx, classifier->posterior, classifier->classes, classifier->rule.loss, m,
                                   x, ldx, probability, winner, latent_mean, latent_var, error);
    double *room = hfi_alloc(ctx, m, 2 * sizeof *room);
    if (!room) return HF_ERR_MEMORY;
    const two_class_rows a = {room, room + m, probability, winner, error};
    hf_status s = hf_predict(ctx, classifier->posterior, m, x, ldx, a.mean, a.var, NULL);
    const hf_status filled = s >= 0 ? fill_class_answers(classifier, m, &a) : s;
    if (s >= 0 && filled < 0) s = hfi_fail(ctx, filled, "a latent value is not finite");
    if (s >= 0 && latent_mean) memcpy(latent_mean, a.mean, m * sizeof *latent_mean);
    if (s >= 0 && latent_var) memcpy(latent_var, a.var, m * sizeof *latent_var);
    hfi_free(ctx, room);
    return s;
}
