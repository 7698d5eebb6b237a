/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks by gradients: what certificates are compared with. They prove nothing. */
#include "certify/class.h"
#include "certify/classes.h"

#include <math.h>

enum {
    STEPS = 40,
    STEPS_MOST = 1000000
};

static const double share = 0.1; /* of a box's side, of the first projected step */

typedef struct attacker {
    hfi_watch watch;
    const hf_classifier *classifier;
    const hf_posterior *posterior;
    hf_certify_what what;
    hf_workspace *workspace;
    hfi_subject subject;  /* of several classes: a point, and what looks at points */
    hfi_classes *classes; /* else NULL */
    size_t d, steps;
    double *x, *of_mean, *of_var; /* d each */
    double *row, *middle;         /* d + 1: with a place for the class */
    const double *lower, *upper;  /* of the box at hand */
} attacker;

/* Probability of class 1 (of several classes: the one that is attacked) at x, and its gradient in of_mean. */
static hf_status look(attacker *a, const double *x, double *probability)
{
    double mean, var, link_of_mean, link_of_sd;
    if (a->classes) {
        memcpy(a->row, x, a->d * sizeof *a->row);
        *probability = hfi_classes_value(a->classes, a->row, a->of_mean);
        return isfinite(*probability) ? HF_OK : HF_ERR_NOT_FINITE;
    }
    const hf_status status =
        hf_predict_latent(a->posterior, a->workspace, x, &mean, &var, a->of_mean, a->of_var);
    if (status < 0) return status;
    const double sd = sqrt(var);
    *probability = hfi_link_value(a->what, mean, sd);
    hfi_link_slopes(a->what, mean, sd, &link_of_mean, &link_of_sd);
    for (size_t j = 0; j < a->d; j++)
        a->of_mean[j] =
            link_of_mean * a->of_mean[j] + (sd > 0.0 ? 0.5 * link_of_sd * a->of_var[j] / sd : 0.0);
    return HF_OK;
}

/* A step of `length` sides along the sign of the gradient, downwards (sign 1) or upwards. */
static void step(attacker *a, double sign, double length)
{
    for (size_t j = 0; j < a->d; j++) {
        const double slope = sign * a->of_mean[j], side = a->upper[j] - a->lower[j];
        const double to = a->x[j] - (slope > 0.0 ? 1.0 : slope < 0.0 ? -1.0 : 0.0) * length * side;
        a->x[j] = fmin(fmax(to, a->lower[j]), a->upper[j]);
    }
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

static hf_status attack_one(attacker *a, hf_attack_kind kind, const double *x, double *out,
                            double *probability)
{
    double p;
    if (a->classes) choose_class(a, x);
    hf_status status = look(a, x, &p);
    if (status < 0) return status;
    const double sign = a->classes || p > 0.5 ? 1.0 : -1.0;
    double best = sign > 0.0 ? p : 1.0 - p;
    const size_t steps = kind == HF_ATTACK_SIGN ? 1 : a->steps;
    memcpy(a->x, x, a->d * sizeof *a->x);
    memcpy(out, x, a->d * sizeof *out);
    for (size_t k = 0; k < steps && status >= 0; k++) {
        if (!hfi_watch_ok(&a->watch)) return HF_ERR_CANCELLED;
        step(a, sign, kind == HF_ATTACK_SIGN ? 1.0 : share * (1.0 - (double)k / (double)steps));
        status = look(a, a->x, &p);
        const double left = sign > 0.0 ? p : 1.0 - p;
        /* One step is taken as it comes. */
        if (kind == HF_ATTACK_PROJECTED && !(left < best)) continue;
        best = left;
        memcpy(out, a->x, a->d * sizeof *out);
    }
    if (a->classes && status >= 0) {
        memcpy(a->row, out, a->d * sizeof *out);
        best = hfi_classes_value(a->classes, a->row, NULL);
    }
    *probability = best;
    return status;
}

static hf_status check(hf_context *ctx, size_t m, size_t d, const double *x, const double *lower,
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
    if ((int)a->what != HFI_CERTIFY_SOFTMAX) {
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

hf_status hf_attack(hf_context *ctx, const hf_classifier *classifier, hf_attack_kind kind, size_t steps,
                    size_t m, const double *x, const double *lower, const double *upper, double *attacked,
                    double *probability)
{
    attacker a = {.classifier = classifier, .steps = steps ? steps : STEPS};
    if (!ctx || !classifier || !x || !lower || !upper || !attacked)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_attack: an argument that must not be NULL is");
    if ((kind != HF_ATTACK_SIGN && kind != HF_ATTACK_PROJECTED) || steps > STEPS_MOST)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "there is no attack number %d of %zu steps", (int)kind, steps);
    hf_status status = hfi_certify_link_of(ctx, classifier, 0, &a.what);
    if (status < 0) return status;
    a.posterior = hf_classifier_posterior(classifier);
    a.d = hfi_class_inputs(classifier);
    status = check(ctx, m, a.d, x, lower, upper);
    if (status < 0 || m == 0) return status;
    const size_t own = 5 * a.d + 2 + hf_classifier_classes(classifier);
    double *room = hfi_alloc(ctx, own + m * (a.d + 1), sizeof *room);
    if (!room) return HF_ERR_MEMORY;
    a.x = room, a.of_mean = room + a.d, a.of_var = room + 2 * a.d;
    a.row = room + 3 * a.d, a.middle = a.row + a.d + 1;
    status = make_ready(ctx, &a, x);
    if (status >= 0) {
        double *points = room + own, *left = points + m * a.d;
        hfi_watch_begin(&a.watch, ctx, "attack", 0.0);
        for (size_t k = 0; k < m && status >= 0; k++) {
            a.watch.done = (double)k / (double)m;
            a.lower = lower + k * a.d;
            a.upper = upper + k * a.d;
            status = attack_one(&a, kind, x + k * a.d, points + k * a.d, &left[k]);
            if (status == HF_ERR_CANCELLED)
                (void)hfi_cancelled(ctx);
            else if (status < 0)
                hfi_fail(ctx, status, "box %zu: the prediction failed", k + 1);
        }
        if (status >= 0) {
            memcpy(attacked, points, m * a.d * sizeof *attacked);
            if (probability) memcpy(probability, left, m * sizeof *left);
        }
    }
    hf_workspace_free(a.workspace);
    hfi_classes_free(a.classes);
    hfi_free(ctx, room);
    return status;
}
