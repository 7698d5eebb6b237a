/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks by gradients: what certificates are compared with. They prove nothing. */
#include "bound/classes.h"
#include "certify/class.h"
#include "certify/climb.h"

#include <math.h>

enum {
    STEPS = 40,
    STEPS_MOST = 1000000
};

typedef struct attacker {
    hfi_watch watch;
    const hf_classifier *classifier;
    const hf_posterior *posterior;
    const hfi_quantity *quantity; /* of two classes */
    hf_class_rule rule;
    hf_workspace *workspace;
    hfi_subject subject;  /* of several classes: a point, and what looks at points */
    hfi_classes *classes; /* else NULL */
    double sign;          /* 1: the class that is attacked is class 1, or the one that `classes` looks at */
    size_t d;
    double *of_mean, *of_var; /* d each */
    double *row, *middle;     /* d + 1: with a place for the class */
    hfi_climb climb;
} attacker;

/* Probability of class 1 (of several classes: the one that is attacked) at x, and its gradient in of_mean. */
static hf_status look(attacker *a, const double *x, double *probability)
{
    double mean, var;
    if (a->classes) {
        memcpy(a->row, x, a->d * sizeof *a->row);
        *probability = hfi_classes_value(a->classes, a->row, a->of_mean);
        return isfinite(*probability) ? HF_OK : HF_ERR_NOT_FINITE;
    }
    const hf_status status =
        hf_predict_latent(a->posterior, a->workspace, x, &mean, &var, a->of_mean, a->of_var);
    if (status < 0) return status;
    *probability = a->quantity->value(a->quantity, a->rule.lambda, mean, sqrt(var));
    hfi_quantity_gradient(a->quantity, a->rule.lambda, a->d, mean, sqrt(var), 1.0, a->of_mean, a->of_var,
                          a->of_mean);
    return HF_OK;
}

/* What is left of the probability of the attacked class. */
static hf_status look_left(void *of, const double *x, double *left, double *slope)
{
    attacker *a = of;
    double p;
    const hf_status status = look(a, x, &p);
    if (status < 0) return status;
    *left = a->sign > 0.0 ? p : 1.0 - p;
    for (size_t j = 0; j < a->d; j++) slope[j] = a->sign * a->of_mean[j];
    return status;
}

/* Of several classes: the most probable one. */
static void choose_class(attacker *a, const double *x)
{
    double *p = a->middle + a->d + 1;
    memcpy(a->row, x, a->d * sizeof *a->row);
    hfi_classes_look(a->classes, a->row, p);
    a->classes->winner = 0;
    for (size_t c = 1; c < a->classes->classes; c++)
        if (p[c] > p[a->classes->winner]) a->classes->winner = c;
}

static hf_status attack_one(attacker *a, const double *x, double *out, double *probability)
{
    double p, best = (double)INFINITY;
    if (a->classes) choose_class(a, x);
    hf_status status = look(a, x, &p);
    if (status < 0) return status;
    a->sign = a->classes || p > a->rule.threshold ? 1.0 : -1.0;
    status = hfi_climb_from(&a->climb, x, out, &best);
    if (a->classes && status >= 0) {
        memcpy(a->row, out, a->d * sizeof *out);
        best = hfi_classes_value(a->classes, a->row, NULL);
    }
    *probability = best;
    return status;
}

hf_status hfi_check_attack(hf_context *ctx, hf_attack_kind kind, size_t steps)
{
    if ((kind == HF_ATTACK_FGSM || kind == HF_ATTACK_PGD) && steps <= STEPS_MOST) return HF_OK;
    return hfi_fail(ctx, HF_ERR_ARGUMENT, "there is no attack number %d of %zu steps", (int)kind, steps);
}

hf_status hfi_check_boxes(hf_context *ctx, size_t m, size_t d, const double *x, const double *lower,
                          const double *upper)
{
    for (size_t k = 0; k < m * d; k++)
        if (!(x[k] >= lower[k]) || !(x[k] <= upper[k]) || !isfinite(lower[k]) || !isfinite(upper[k]))
            return hfi_fail(ctx, HF_ERR_ARGUMENT, "box %zu: input %zu is %g, which is not within [%g, %g]",
                            k / d + 1, k % d + 1, x[k], lower[k], upper[k]);
    return HF_OK;
}

/* What looks at points: of several classes that of certificates, for none of the inputs moving. */
static hf_status make_ready(hf_context *ctx, attacker *a, const double *x)
{
    if (!a->quantity->of_class) {
        a->workspace = hf_workspace_create(ctx, a->posterior);
        return a->workspace ? HF_OK : HF_ERR_MEMORY;
    }
    memcpy(a->row, x, a->d * sizeof *x);
    a->row[a->d] = 0.0;
    hfi_scaling_inputs(&a->posterior->scaling, 1, a->row, a->d + 1, a->middle);
    a->subject = (hfi_subject){.posterior = a->posterior,
                               .d = a->d + 1,
                               .lower = a->middle,
                               .upper = a->middle,
                               .middle = a->middle};
    return hfi_classes_create(ctx, a->posterior, &a->subject, 0, false, 0.01, &a->classes);
}

/* Every row, into the caller's arrays in the end. */
static hf_status attack_all(hf_context *ctx, attacker *a, size_t m, const double *x, const double *lower,
                            const double *upper, double *points, double *left)
{
    hf_status status = HF_OK;
    hfi_watch_begin(&a->watch, ctx, "attack", 0.0);
    for (size_t k = 0; k < m && status >= 0; k++) {
        a->watch.done = (double)k / (double)m;
        a->climb.lower = lower + k * a->d;
        a->climb.upper = upper + k * a->d;
        status = attack_one(a, x + k * a->d, points + k * a->d, &left[k]);
        if (status == HF_ERR_CANCELLED)
            (void)hfi_cancelled(ctx);
        else if (status < 0)
            hfi_fail(ctx, status, "box %zu: the prediction failed", k + 1);
    }
    return status;
}

hf_status hf_attack(hf_context *ctx, const hf_classifier *classifier, hf_attack_kind kind, size_t steps,
                    size_t m, const double *x, const double *lower, const double *upper, double *attacked,
                    double *probability)
{
    attacker a = {.classifier = classifier};
    if (!ctx || !classifier || !x || !lower || !upper || !attacked)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_attack: an argument that must not be NULL is");
    hf_status status = hfi_check_attack(ctx, kind, steps);
    if (status >= 0) status = hfi_class_quantity(ctx, classifier, 0, &a.quantity);
    if (status < 0) return status;
    a.posterior = hf_classifier_posterior(classifier);
    a.rule = hf_classifier_rule(classifier);
    a.d = hfi_class_inputs(classifier);
    status = hfi_check_boxes(ctx, m, a.d, x, lower, upper);
    if (status < 0 || m == 0) return status;
    const size_t own = 7 * a.d + 2 + hf_classifier_classes(classifier);
    double *room = hfi_alloc(ctx, own + m * (a.d + 1), sizeof *room);
    if (!room) return HF_ERR_MEMORY;
    a.of_mean = room, a.of_var = room + a.d;
    a.row = room + 5 * a.d, a.middle = a.row + a.d + 1;
    a.climb = (hfi_climb){.look = look_left,
                          .of = &a,
                          .watch = &a.watch,
                          .kind = kind,
                          .d = a.d,
                          .steps = steps ? steps : STEPS,
                          .x = room + 2 * a.d,
                          .at = room + 3 * a.d,
                          .slope = room + 4 * a.d};
    status = make_ready(ctx, &a, x);
    double *points = room + own, *left = points + m * a.d;
    if (status >= 0) status = attack_all(ctx, &a, m, x, lower, upper, points, left);
    if (status >= 0) {
        memcpy(attacked, points, m * a.d * sizeof *attacked);
        if (probability) memcpy(probability, left, m * sizeof *left);
    }
    hf_workspace_free(a.workspace);
    hfi_classes_free(a.classes);
    hfi_free(ctx, room);
    return status;
}
