/* SPDX-License-Identifier: Apache-2.0 */
/* The largest certified radius about a point. */
#include "certify/class.h"

#include <math.h>

enum {
    STEPS = 60, /* of bisection, more than any accuracy takes */
    WALK = 40   /* halvings between a point and a counterexample */
};

typedef struct ball {
    const hf_classifier *classifier;
    hf_certify_settings settings;
    double end; /* of the time for all steps */
    size_t d;
    const double *x, *unit;
    double *lower, *upper, *found, *moved, *at; /* d each; `at`: the nearest counterexample */
    hf_radius out;
} ball;

static double unit_of(const ball *b, size_t j)
{
    return b->unit ? b->unit[j] : 1.0;
}

static void place(const ball *b, double radius)
{
    for (size_t j = 0; j < b->d; j++) {
        b->lower[j] = b->x[j] - radius * unit_of(b, j);
        b->upper[j] = b->x[j] + radius * unit_of(b, j);
    }
}

/* How far away a point is, rounded up; infinite if it moves what is fixed. */
static double distance(const ball *b, const double *point)
{
    double most = 0.0;
    for (size_t j = 0; j < b->d; j++) {
        const double away = fabs(point[j] - b->x[j]);
        if (away > 0.0) most = fmax(most, away / unit_of(b, j));
    }
    return most * (1.0 + 2.0 * DBL_EPSILON);
}

static hf_status is_broken(hf_context *ctx, const ball *b, const double *point, bool *broken)
{
    return hfi_certify_is_other(ctx, b->classifier, point, b->out.winner, broken);
}

/* A counterexample, pulled towards the point as far as it stays one. */
static hf_status keep(hf_context *ctx, ball *b)
{
    double inside = 0.0, outside = 1.0;
    for (int step = 0; step < WALK; step++) {
        const double share = 0.5 * (inside + outside);
        bool broken;
        for (size_t j = 0; j < b->d; j++) b->moved[j] = b->x[j] + share * (b->found[j] - b->x[j]);
        const hf_status status = is_broken(ctx, b, b->moved, &broken);
        if (status < 0) return status;
        if (!broken) {
            inside = share;
            continue;
        }
        outside = share;
        const double away = distance(b, b->moved);
        if (away < b->out.broken) {
            b->out.broken = away;
            memcpy(b->at, b->moved, b->d * sizeof *b->at);
        }
    }
    const double away = distance(b, b->found);
    if (away < b->out.broken) {
        b->out.broken = away;
        memcpy(b->at, b->found, b->d * sizeof *b->at);
    }
    return HF_OK;
}

static hf_status attack(hf_context *ctx, ball *b, double radius)
{
    bool broken;
    place(b, radius);
    hf_status status =
        hf_attack(ctx, b->classifier, HF_ATTACK_PROJECTED, 0, 1, b->x, b->lower, b->upper, b->found, NULL);
    if (status >= 0) status = is_broken(ctx, b, b->found, &broken);
    return status >= 0 && broken ? keep(ctx, b) : status;
}

/* What is between `certified` and `limit` is halved, or sooner tried just short of a counterexample's distance. */
static hf_status bisect(hf_context *ctx, ball *b, double most, double accuracy)
{
    double limit = fmin(most, b->out.broken);
    hf_status worst = HF_OK;
    for (int step = 0; step < STEPS && limit - b->out.certified > accuracy * limit; step++) {
        hf_decision decision;
        double radius = 0.5 * (b->out.certified + limit);
        if (step == 0 && !isfinite(b->out.broken)) radius = most;
        if (radius <= b->out.certified) break;
        place(b, radius);
        /* How many steps follow is not known: each may take half of the time that is left. */
        const hf_certify_settings share = hfi_share_time(&b->settings, b->end, 2);
        const hf_status status =
            hf_certify_decision(ctx, b->classifier, &share, 1, b->x, b->lower, b->upper, &decision, b->found);
        if (status < 0) return status;
        b->out.nodes += decision.nodes;
        if (decision.verdict == HF_VERDICT_CERTIFIED) {
            b->out.certified = radius;
        } else {
            const hf_status kept = decision.verdict == HF_VERDICT_OPEN ? HF_OK : keep(ctx, b);
            if (kept < 0) return kept;
            worst = hfi_worse(worst, status);
            limit = fmin(radius, b->out.broken);
        }
        if (!hfi_progress(ctx, "radius", (double)(step + 1) / (double)STEPS, b->out.certified))
            return hfi_cancelled(ctx);
    }
    return worst;
}

static hf_status check(hf_context *ctx, const ball *b, double most, double accuracy)
{
    bool moves = false;
    for (size_t j = 0; j < b->d; j++) {
        const double u = unit_of(b, j);
        if (!(u >= 0.0) || !isfinite(u))
            return hfi_fail(ctx, HF_ERR_ARGUMENT, "the unit of input %zu is %g; it must be 0 or above", j + 1,
                            u);
        moves = moves || u > 0.0;
    }
    if (!moves) return hfi_fail(ctx, HF_ERR_ARGUMENT, "no input moves: all units are 0");
    if (!(most > 0.0) || !isfinite(most))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the largest radius is %g; it must be above 0 and finite",
                        most);
    if (!(accuracy > 0.0) || !(accuracy < 1.0))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the accuracy is %g; it must be between 0 and 1", accuracy);
    return HF_OK;
}

hf_status hf_certify_radius(hf_context *ctx, const hf_classifier *classifier,
                            const hf_certify_settings *settings, const double *x, const double *unit,
                            double most, double accuracy, hf_radius *out, double *counterexample)
{
    hf_certify_what what;
    if (!ctx || !classifier || !x || !out)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_certify_radius: an argument that must not be NULL is");
    hf_status status = hfi_certify_link_of(ctx, classifier, 0, &what);
    if (status < 0) return status;
    const size_t d = hfi_class_inputs(classifier);
    ball b = {.classifier = classifier,
              .settings = settings ? *settings : hf_certify_settings_default(),
              .d = d,
              .x = x,
              .unit = unit};
    status = check(ctx, &b, most, accuracy);
    if (status < 0) return status;
    double *room = hfi_alloc(ctx, 5 * d, sizeof *room);
    if (!room) return HF_ERR_MEMORY;
    b.lower = room, b.upper = room + d, b.found = room + 2 * d, b.moved = room + 3 * d, b.at = room + 4 * d;
    b.out.broken = (double)INFINITY;
    b.out.estimate = hf_certify_is_estimate(classifier);
    for (size_t j = 0; j < d; j++) b.at[j] = (double)NAN;
    const double start = hfi_now();
    b.end = hfi_call_deadline(&b.settings);
    status = hf_classify_predict(ctx, classifier, 1, x, d, NULL, &b.out.winner, NULL, NULL, NULL);
    if (status >= 0) status = attack(ctx, &b, most);
    if (status >= 0) status = bisect(ctx, &b, most, accuracy);
    b.out.seconds = hfi_now() - start;
    if (status >= 0) {
        *out = b.out;
        if (counterexample) memcpy(counterexample, b.at, d * sizeof *counterexample);
    }
    hfi_free(ctx, room);
    return status;
}
