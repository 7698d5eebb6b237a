/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best posterior mean in the whole space, and a proof that nothing is better. Categories are looked at
 * one combination after another, and so are integers and ordered levels while there are not too many; the
 * rest of the variables is a box for branch and bound.
 */
#include "core/settings.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

enum {
    COMBINATIONS = 4096
};

typedef struct proof {
    const hf_study *study;
    const hf_posterior *posterior;
    hf_certify_settings limits; /* of a combination, before the time that is left */
    bool *listed;               /* d: variables whose values are gone through */
    double *lower, *upper;      /* d: the box of a combination */
    double *top;                /* d: the best place found */
    double *x;                  /* d */
    double mean, bound;
    size_t boxes, combinations;
    double began;
    bool open; /* a limit came first somewhere */
} proof;

static double values_of(const hf_variable *v)
{
    switch (v->kind) {
    case HF_VARIABLE_INTEGER:
        return v->upper - v->lower + 1.0;
    case HF_VARIABLE_ORDERED:
    case HF_VARIABLE_CATEGORY:
        return (double)v->levels;
    case HF_VARIABLE_REAL:
        break;
    }
    return INFINITY;
}

static double value_at(const hf_variable *v, size_t k)
{
    return hfi_variable_encode(v, v->kind == HF_VARIABLE_INTEGER ? v->lower + (double)k : (double)k);
}

/* Categories must be gone through; others with few values are, those with the fewest first. */
static hf_status list_variables(hf_context *ctx, proof *p)
{
    const hf_study *study = p->study;
    double product = 1.0;
    for (size_t j = 0; j < study->d; j++) {
        p->listed[j] = study->domain.category[j];
        if (p->listed[j]) product *= values_of(&study->s.variable[j]);
    }
    if (product > COMBINATIONS)
        return hfi_refuse(ctx, "the categories have %.6g combinations; a proof looks at %d at most", product,
                          (int)COMBINATIONS);
    for (;;) {
        size_t best = study->d;
        for (size_t j = 0; j < study->d; j++) {
            const double n = values_of(&study->s.variable[j]);
            if (p->listed[j] || product * n > COMBINATIONS) continue;
            if (best == study->d || n < values_of(&study->s.variable[best])) best = j;
        }
        if (best == study->d) break;
        p->listed[best] = true;
        product *= values_of(&study->s.variable[best]);
    }
    p->combinations = (size_t)product;
    return HF_OK;
}

static void box_of(const proof *p, size_t combination)
{
    for (size_t j = 0; j < p->study->d; j++) {
        const hf_variable *v = &p->study->s.variable[j];
        p->lower[j] = 0.0;
        p->upper[j] = 1.0;
        if (!p->listed[j]) continue;
        const size_t n = (size_t)values_of(v);
        p->lower[j] = p->upper[j] = value_at(v, combination % n);
        combination /= n;
    }
}

/* A place that the space has, near x: whether it is better than what was found. */
static hf_status consider(hf_context *ctx, proof *p, const double *x)
{
    const size_t d = p->study->d;
    double mean;
    for (size_t j = 0; j < d; j++) {
        const hf_variable *v = &p->study->s.variable[j];
        p->x[j] = hfi_variable_encode(v, hfi_variable_decode(v, x[j]));
    }
    const hf_status s = hf_predict(ctx, p->posterior, 1, p->x, d, &mean, NULL, NULL);
    if (s >= 0 && mean > p->mean) {
        p->mean = mean;
        memcpy(p->top, p->x, d * sizeof *p->top);
    }
    return s;
}

static hf_status search_proof_top(hf_context *ctx, proof *p)
{
    const size_t d = p->study->d;
    double *x = hfi_alloc(ctx, d, sizeof *x);
    if (x == NULL) return HF_ERR_MEMORY;
    const hf_ucb mean = {.size = sizeof mean, .mean = p->posterior};
    hf_status s = hf_maximise_ucb(ctx, &mean, &p->study->domain, NULL, 0, NULL, x, NULL);
    if (s >= 0) s = hfi_worse(s, consider(ctx, p, x));
    for (uint64_t id = 1; id <= p->study->trials && s >= 0; id++)
        if (p->study->trial[id - 1]->state == HF_TRIAL_TOLD)
            s = hfi_worse(s, consider(ctx, p, p->study->trial[id - 1]->u));
    hfi_free(ctx, x);
    return s;
}

static hf_status bound_combination(hf_context *ctx, proof *p, size_t combination)
{
    hf_certify_settings c = p->limits;
    hf_range range;
    double *argmax = hfi_alloc(ctx, p->study->d, sizeof *argmax);
    if (argmax == NULL) return HF_ERR_MEMORY;
    if (c.total_time > 0.0) {
        const double left = c.total_time - (hfi_now() - p->began);
        c.time_limit = fmax(1e-3, c.time_limit > 0.0 ? fmin(c.time_limit, left) : left);
        c.total_time = 0.0;
    }
    box_of(p, combination);
    hf_status s =
        hf_certify(ctx, p->posterior, HF_CERTIFY_MEAN, &c, p->lower, p->upper, &range, NULL, argmax);
    if (s >= 0) {
        p->bound = fmax(p->bound, range.upper);
        p->boxes += range.nodes;
        if (!isnan(range.upper_attained)) s = consider(ctx, p, argmax);
    }
    hfi_free(ctx, argmax);
    return s < 0 ? s : HF_OK;
}

static hf_status prove(hf_context *ctx, proof *p)
{
    hf_status s = list_variables(ctx, p);
    if (s >= 0) s = search_proof_top(ctx, p);
    for (size_t k = 0; k < p->combinations && s >= 0; k++) {
        if (!hfi_progress(ctx, "certify", (double)k / (double)p->combinations, p->bound))
            return hfi_cancelled(ctx);
        s = bound_combination(ctx, p, k);
    }
    p->bound = fmax(p->bound, p->mean);
    return s < 0 ? s : HF_OK;
}

/* ---- the call ------------------------------------------------------------------------------------------ */

/* `limits` receives those of a combination, in which half of the tolerance is the surrogate's. */
static hf_status check_proof_settings(hf_context *ctx, const hf_study *study, double tolerance,
                                      const hf_certify_settings *given, hf_certify_settings *limits)
{
    if (!(tolerance > 0.0) || isinf(tolerance))
        return hfi_refuse(ctx, "the tolerance is %g; it must be positive and finite", tolerance);
    if (study->objectives > 1)
        return hfi_refuse(ctx, "a proof is about one objective; the study has %zu", study->objectives);
    if (study->outcomes > 1)
        return hfi_refuse(ctx, "a proof about the best place that satisfies constraints is not possible");
    const hf_status s = hfi_settings_open(ctx, hf_certify_settings_table(), given, limits);
    limits->tolerance = 0.5 * tolerance;
    limits->output = 0;
    limits->upper_only = true;
    limits->lower_only = false;
    return s;
}

static hf_status conclude_proof(hf_context *ctx, const proof *p, double tolerance, double *at, hf_best *best,
                                hf_study_certificate *out)
{
    const hf_study *study = p->study;
    const size_t o = study->objective[0];
    hfi_verdict_at place;
    hf_status s = hfi_study_judge(ctx, study, 1, p->top, &place);
    if (s < 0) return s;
    for (size_t j = 0; j < study->d; j++) at[j] = hfi_variable_decode(&study->s.variable[j], p->top[j]);
    if (best != NULL) hfi_study_describe(study, hfi_study_same(study, at), &place, best);
    out->mean = hfi_study_outward(study, o, p->mean);
    out->bound = hfi_study_outward(study, o, p->bound);
    out->gap = fabs(out->bound - out->mean);
    out->proved = out->gap <= tolerance;
    out->boxes = p->boxes;
    out->seconds = hfi_now() - p->began;
    if (out->proved) return s;
    return hfi_fail(ctx, HF_WARN_NOT_CONVERGED, "the gap is %g, more than the tolerance %g: %s", out->gap,
                    tolerance,
                    "a limit of the search came first, or integers are bounded as if they could lie between");
}

hf_status hf_study_certify(hf_context *ctx, hf_study *study, double tolerance,
                           const hf_certify_settings *limits, double *at, hf_best *best,
                           hf_study_certificate *out)
{
    hf_context *own;
    hf_certify_settings opened;
    if (ctx == NULL || study == NULL || at == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_study_certify: a context, a study and places for the results are needed");
    hf_status s = check_proof_settings(ctx, study, tolerance, limits, &opened);
    if (s >= 0) s = hfi_study_begin(ctx, study, &own);
    if (s < 0) return s;
    const size_t d = study->d;
    double *room = hfi_alloc(own, d, 4 * sizeof *room + sizeof(bool));
    if (room != NULL) {
        proof p = {.study = study,
                   .posterior = study->surrogate[study->objective[0]].posterior,
                   .limits = opened,
                   .lower = room,
                   .upper = room + d,
                   .top = room + 2 * d,
                   .x = room + 3 * d,
                   .listed = (bool *)(room + 4 * d),
                   .mean = -INFINITY,
                   .bound = -INFINITY,
                   .began = hfi_now()};
        s = prove(own, &p);
        if (s >= 0) s = hfi_worse(s, conclude_proof(own, &p, tolerance, at, best, out));
    } else {
        s = HF_ERR_MEMORY;
    }
    hfi_free(own, room);
    hfi_context_give_back(ctx, own);
    return s;
}
