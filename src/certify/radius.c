/* SPDX-License-Identifier: Apache-2.0 */
/* The largest certified radius about a point. */
#include "certify/certify.h"

#include <math.h>

enum {
    STEPS = 60, /* of bisection, more than any accuracy takes */
    WALK = 40   /* halvings between a point and a counterexample */
};

typedef struct ball {
    const hfi_held_kind *kind;
    void *of;
    hfi_far far;
    double end; /* of the time for all steps */
    size_t d;
    const double *x;
    double *lower, *upper, *found, *moved, *at; /* d each; `at`: the nearest counterexample */
    hfi_reach out;
} ball;

static double unit_of(const hfi_far *far, size_t j)
{
    return far->unit ? far->unit[j] : 1.0;
}

static const hf_region *region_of(const ball *b)
{
    return b->far.settings.region;
}

static hfi_around place_ball_box(const ball *b, double radius)
{
    for (size_t j = 0; j < b->d; j++) {
        b->lower[j] = b->x[j] - radius * unit_of(&b->far, j);
        b->upper[j] = b->x[j] + radius * unit_of(&b->far, j);
    }
    return (hfi_around){&b->far.settings, b->x, b->lower, b->upper};
}

/* How far away a point is, rounded up; infinite if it moves what is fixed. */
static double distance(const ball *b, const double *point)
{
    return hfi_region_size(region_of(b), b->d, b->x, point, b->far.unit);
}

static void keep_nearer(ball *b, const double *point)
{
    const double away = distance(b, point);
    if (!(away < b->out.broken)) return;
    b->out.broken = away;
    memcpy(b->at, point, b->d * sizeof *b->at);
}

/* A counterexample, pulled towards the point as far as it stays one. */
static hf_status keep(hf_context *ctx, ball *b)
{
    double inside = 0.0, outside = 1.0;
    /* Between steps of an input there is nothing. */
    const bool walks = !region_of(b) || !region_of(b)->step;
    for (int step = 0; walks && step < WALK; step++) {
        const double share = 0.5 * (inside + outside);
        bool broken;
        for (size_t j = 0; j < b->d; j++) b->moved[j] = b->x[j] + share * (b->found[j] - b->x[j]);
        const hf_status status = b->kind->broken(ctx, b->of, b->moved, &broken);
        if (status < 0) return status;
        if (!broken) {
            inside = share;
            continue;
        }
        outside = share;
        keep_nearer(b, b->moved);
    }
    keep_nearer(b, b->found);
    return HF_OK;
}

static hf_status attack(hf_context *ctx, ball *b)
{
    bool broken = false;
    /* Attacks know of boxes only. */
    if (!b->kind->attack || region_of(b)) return HF_OK;
    const hfi_around box = place_ball_box(b, b->far.most);
    hf_status status = b->kind->attack(ctx, b->of, &box, b->found);
    if (status >= 0) status = b->kind->broken(ctx, b->of, b->found, &broken);
    return status >= 0 && broken ? keep(ctx, b) : status;
}

/* Halves the interval between `certified` and `limit`, or sooner tries just short of a counterexample's distance. */
static hf_status bisect(hf_context *ctx, ball *b)
{
    const double most = b->far.most, accuracy = b->far.accuracy;
    double limit = fmin(most, b->out.broken);
    hf_status worst = HF_OK;
    for (int step = 0; step < STEPS && limit - b->out.certified > accuracy * limit; step++) {
        hfi_judged judged = {.verdict = HF_VERDICT_OPEN};
        double radius = 0.5 * (b->out.certified + limit);
        if (step == 0 && !isfinite(b->out.broken)) radius = most;
        if (radius <= b->out.certified) break;
        hfi_around box = place_ball_box(b, radius);
        /* How many steps follow is not known: each may take half of the time that is left. */
        const hf_certify_settings share = hfi_share_time(&b->far.settings, b->end, 2);
        box.settings = &share;
        const hf_status status = b->kind->judge(ctx, b->of, &box, &judged, b->found);
        if (status < 0) return status;
        b->out.nodes += judged.nodes;
        if (judged.verdict == HF_VERDICT_CERTIFIED) {
            b->out.certified = radius;
        } else {
            const hf_status kept = judged.verdict == HF_VERDICT_OPEN ? HF_OK : keep(ctx, b);
            if (kept < 0) return kept;
            worst = hfi_worse(worst, status);
            limit = fmin(radius, b->out.broken);
        }
        if (!hfi_progress(ctx, "radius", (double)(step + 1) / (double)STEPS, b->out.certified))
            return hfi_cancelled(ctx);
    }
    return worst;
}

hf_status hfi_check_radius(hf_context *ctx, const hfi_far *far)
{
    const double most = far->most, accuracy = far->accuracy;
    bool moves = false;
    for (size_t j = 0; j < far->d; j++) {
        const double u = unit_of(far, j);
        if (!(u >= 0.0) || !isfinite(u))
            return hfi_refuse(ctx, "the unit of input %zu is %g; it must be 0 or above", j + 1, u);
        moves = moves || u > 0.0;
    }
    if (!moves) return hfi_refuse(ctx, "no input moves: all units are 0");
    if (!(most > 0.0) || !isfinite(most))
        return hfi_refuse(ctx, "the largest radius is %g; it must be above 0 and finite", most);
    if (!(accuracy > 0.0) || !(accuracy < 1.0))
        return hfi_refuse(ctx, "the accuracy is %g; it must be between 0 and 1", accuracy);
    return HF_OK;
}

hf_status hfi_find_radius(hf_context *ctx, const hfi_held_kind *kind, void *of, const hfi_far *far,
                          hfi_reach *out, double *counterexample)
{
    const size_t d = far->d;
    ball b = {.kind = kind, .of = of, .far = *far, .d = d, .x = far->x};
    double *room = hfi_alloc(ctx, 5 * d, sizeof *room);
    if (!room) return HF_ERR_MEMORY;
    b.lower = room, b.upper = room + d, b.found = room + 2 * d, b.moved = room + 3 * d, b.at = room + 4 * d;
    b.out.broken = (double)INFINITY;
    for (size_t j = 0; j < d; j++) b.at[j] = (double)NAN;
    hf_region region;
    hfi_region_about(&b.far.settings, far->x, &region);
    b.end = hfi_call_deadline(&far->settings);
    hf_status status = attack(ctx, &b);
    if (status >= 0) status = bisect(ctx, &b);
    if (status >= 0) {
        *out = b.out;
        if (counterexample) memcpy(counterexample, b.at, d * sizeof *counterexample);
    }
    hfi_free(ctx, room);
    return status;
}

/* ---- of classes -------------------------------------------------------------------------------------------------- */

static hf_status class_broken(hf_context *ctx, void *of, const double *point, bool *out)
{
    const hfi_named *n = of;
    return hfi_certify_is_other(ctx, n->classifier, point, n->winner, out);
}

static hf_status class_attack(hf_context *ctx, void *of, const hfi_around *box, double *found)
{
    const hfi_named *n = of;
    return hf_attack(ctx, n->classifier, HF_ATTACK_PGD, 0, 1, box->x, box->lower, box->upper, found, NULL);
}

static hf_status class_decide(hf_context *ctx, void *of, const hfi_around *box, hfi_judged *out,
                              double *found)
{
    const hfi_named *n = of;
    hf_decision decision;
    const hf_status status = hf_certify_decision(ctx, n->classifier, NULL, box->settings, 1, box->x,
                                                 box->lower, box->upper, &decision, found);
    if (status < 0) return status;
    *out = (hfi_judged){.verdict = decision.verdict, .nodes = decision.nodes};
    return status;
}

const hfi_held_kind hfi_held_class = {class_broken, class_attack, class_decide};

hf_status hf_certify_radius(hf_context *ctx, const hf_classifier *classifier,
                            const hf_certify_settings *settings, const double *x, const double *unit,
                            double most, double accuracy, hf_radius *out, double *counterexample)
{
    const hfi_quantity *quantity;
    if (!ctx || !classifier || !x || !out)
        return HFI_REFUSE_NULL(ctx, "hf_certify_radius", classifier, x, out);
    hf_status status = hfi_class_quantity(ctx, classifier, 0, &quantity);
    if (status < 0) return status;
    const size_t d = hfi_class_inputs(classifier);
    hf_region region;
    hfi_far far = {.d = d, .x = x, .unit = unit, .most = most, .accuracy = accuracy};
    const double start = hfi_now();
    hfi_named n = {.classifier = classifier};
    hfi_reach reach;
    status = hfi_certify_open(ctx, settings, &far.settings, &region);
    if (status >= 0) status = hfi_check_radius(ctx, &far);
    if (status >= 0)
        status = hf_classify_predict(ctx, classifier, 1, x, d, NULL, &n.winner, NULL, NULL, NULL);
    if (status >= 0) status = hfi_find_radius(ctx, &hfi_held_class, &n, &far, &reach, counterexample);
    if (status >= 0)
        *out = (hf_radius){.winner = n.winner,
                           .certified = reach.certified,
                           .broken = reach.broken,
                           .nodes = reach.nodes,
                           .seconds = hfi_now() - start,
                           .estimate = hf_certify_is_estimate(classifier)};
    return status;
}
