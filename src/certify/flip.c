/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest move that changes a class or breaks a claim. */
#include <holdfast/certify_flip.h>

#include "certify/certify.h"

#include <math.h>

/* A claim or a class about a point, and the box to look in. */
typedef struct flip {
    hfi_claimed claimed;
    hfi_named named;
    bool of_class; /* the class is to stay: `claimed` has no limits */
    const hfi_held_kind *kind;
    void *of; /* of that kind */
    hf_certify_settings settings;
    hf_region region; /* of them, about x */
    hfi_far far;
    size_t d, classes; /* 0 classes: a posterior */
    double end;        /* of the time of the call */
    const double *x;
    double *lower, *upper; /* d each: the box of FEWEST, of ends that can be reached */
    double *at, *best;     /* d each */
    double *points;        /* 2 d x (d + 1): candidates */
    double *numbers;       /* 2 d x max(classes, 2) */
    double *margin;        /* 2 d */
    size_t *input;         /* 2 d: of each candidate */
    bool found;            /* `best` is an example */
    hf_flip out;
} flip;

/* ---- values at many points --------------------------------------------------------------------------------------- */

/* How far from flipping: the lead of the winner, or how far the value is inside its limits. */
static hf_status find_margins(hf_context *ctx, const flip *f, size_t count)
{
    const hfi_claimed *c = &f->claimed;
    const hf_certify_settings *s = &f->settings;
    const size_t classes = f->classes;
    double *p = f->numbers, *var = f->numbers + count;
    hf_status status;
    if (classes > 0) {
        status =
            hf_classify_predict(ctx, c->value.classifier, count, f->points, f->d, p, NULL, NULL, NULL, NULL);
    } else {
        const size_t width = c->value.posterior->scaling.d;
        /* From the last on: rows become as wide as the posterior's. */
        for (size_t k = count; width > f->d && k-- > 0;) {
            memmove(f->points + k * width, f->points + k * f->d, f->d * sizeof *f->points);
            f->points[k * width + f->d] = (double)s->output;
        }
        status = hf_predict(ctx, c->value.posterior, count, f->points, width, p, s->observed ? NULL : var,
                            s->observed ? var : NULL);
    }
    for (size_t k = 0; k < count && status >= 0; k++) {
        double value, size, least = (double)INFINITY;
        if (f->of_class) {
            for (size_t q = 0; q < classes; q++)
                if (q != f->named.winner)
                    least = fmin(least, hfi_class_margin(c->value.classifier, p + k * classes,
                                                         f->named.winner, q, &size));
            /* 0 at the threshold of two classes, where that is 1/2 exactly what is left of the lead. */
            const double ahead = 1.0 - 2.0 * hf_classifier_rule(c->value.classifier)->threshold;
            f->margin[k] = least;
            f->margin[k] += f->named.winner == 1 ? ahead : -ahead;
            continue;
        }
        const hfi_quantity *of = c->value.quantity;
        value = classes > 0 ? p[k * classes + s->output] : of->value(of, s->beta, p[k], sqrt(var[k]));
        f->margin[k] = fmin(c->side[0].broken - value, c->side[1].broken + value);
    }
    return status;
}

/* ---- fewer inputs ------------------------------------------------------------------------------------------------ */

static size_t count_moved(const flip *f, const double *point)
{
    size_t count = 0;
    for (size_t j = 0; j < f->d; j++) count += point[j] != f->x[j];
    return count;
}

/* Puts back inputs of the example that need not move: again and again the one that matters least. */
static hf_status put_back(hf_context *ctx, flip *f)
{
    for (;;) {
        size_t count = 0, least = 0;
        bool broken;
        for (size_t j = 0; j < f->d; j++) {
            if (f->best[j] == f->x[j]) continue;
            memcpy(f->points + count * f->d, f->best, f->d * sizeof *f->best);
            f->points[count * f->d + j] = f->x[j];
            f->input[count++] = j;
        }
        if (count < 2) return HF_OK;
        hf_status status = find_margins(ctx, f, count);
        if (status < 0) return status;
        for (size_t k = 1; k < count; k++)
            if (f->margin[k] < f->margin[least]) least = k;
        memcpy(f->at, f->best, f->d * sizeof *f->at);
        f->at[f->input[least]] = f->x[f->input[least]];
        status = f->kind->broken(ctx, f->of, f->at, &broken);
        if (status < 0 || !broken) return status;
        memcpy(f->best, f->at, f->d * sizeof *f->at);
        if (!hfi_progress(ctx, "flip", 1.0 - (double)count / (double)f->d, (double)count))
            return hfi_cancelled(ctx);
    }
}

/* Inputs go to ends of the box, the best of them first, until the point is an example. */
static hf_status go_to_ends(hf_context *ctx, flip *f)
{
    bool broken = false;
    double last = (double)INFINITY;
    memcpy(f->best, f->x, f->d * sizeof *f->best);
    for (size_t moved = 0; moved < f->d; moved++) {
        size_t count = 0, best = 0;
        for (size_t j = 0; j < f->d; j++)
            for (int up = 0; up < 2; up++) {
                const double to = up ? f->upper[j] : f->lower[j];
                if (to == f->best[j] || to == f->x[j]) continue;
                memcpy(f->points + count * f->d, f->best, f->d * sizeof *f->best);
                f->points[count * f->d + j] = to;
                f->input[count++] = 2 * j + (size_t)up;
            }
        if (count == 0) return HF_OK;
        hf_status status = find_margins(ctx, f, count);
        if (status < 0) return status;
        for (size_t k = 1; k < count; k++)
            if (f->margin[k] < f->margin[best]) best = k;
        if (!(f->margin[best] < last)) return HF_OK;
        last = f->margin[best];
        const size_t j = f->input[best] / 2;
        f->best[j] = f->input[best] % 2 ? f->upper[j] : f->lower[j];
        status = last <= 0.0 ? f->kind->broken(ctx, f->of, f->best, &broken) : HF_OK;
        f->found = broken;
        if (status < 0 || broken) return status;
        if (!hfi_progress(ctx, "flip", (double)(moved + 1) / (double)f->d, last)) return hfi_cancelled(ctx);
    }
    return HF_OK;
}

/* ---- how few inputs surely do not do it -------------------------------------------------------------------------- */

static hf_status judge_moved_claim(hf_context *ctx, flip *f, size_t moves, hfi_judged *out)
{
    /* How many searches follow is not known: each may take half of the time that is left. */
    hf_certify_settings own = hfi_share_time(&f->settings, f->end, 2);
    hf_region region = own.region ? *own.region : hf_region_default();
    region.centre = f->x;
    region.moves = moves;
    own.region = moves > 0 || own.region ? &region : NULL;
    const hfi_around box = {&own, f->x, f->lower, f->upper};
    const hf_status status = f->kind->judge(ctx, f->of, &box, out, f->at);
    if (status >= 0) f->out.nodes += out->nodes;
    return status;
}

/* Lets what was found at `at` take the place of an example that moves more. */
static void take_example(flip *f)
{
    if (f->found && count_moved(f, f->best) <= count_moved(f, f->at)) return;
    memcpy(f->best, f->at, f->d * sizeof *f->at);
    f->found = true;
}

static bool too_many(size_t movers, size_t moves)
{
    double count = 1.0;
    for (size_t k = 0; k < moves && count <= HF_MOST_PARTS; k++)
        count *= (double)(movers - k) / (double)(k + 1);
    return count > HF_MOST_PARTS;
}

static hf_status spare(hf_context *ctx, flip *f, size_t movers)
{
    hf_status worst = HF_OK;
    while (f->out.spared + 1 < (f->found ? count_moved(f, f->best) : movers)) {
        hfi_judged judged = {.verdict = HF_VERDICT_OPEN};
        const size_t moves = f->out.spared + 1;
        if (too_many(movers, moves)) return worst;
        const hf_status status = judge_moved_claim(ctx, f, moves, &judged);
        if (status < 0) return status;
        if (judged.verdict == HF_VERDICT_COUNTEREXAMPLE) take_example(f);
        if (judged.verdict == HF_VERDICT_OPEN) worst = hfi_worse(worst, status);
        if (judged.verdict != HF_VERDICT_CERTIFIED) return worst;
        f->out.spared = moves;
    }
    return worst;
}

/* The ends of the box that inputs can go to: within limits, by whole steps. */
static hf_status place_ends(hf_context *ctx, flip *f)
{
    const hf_region *r = f->settings.region;
    hfi_sides sides = {f->lower, f->upper, f->at, f->best};
    for (size_t j = 0; j < f->d; j++) {
        const double reach = f->far.most * (f->far.unit ? f->far.unit[j] : 1.0);
        f->lower[j] = f->x[j] - reach;
        f->upper[j] = f->x[j] + reach;
    }
    if (!r) return HF_OK;
    hf_status status = hfi_region_check(ctx, r, f->d, f->settings.rigorous);
    if (status >= 0) status = hfi_region_place(ctx, r, 0, f->d, &sides);
    for (size_t j = 0; status >= 0 && r->step && j < f->d; j++) {
        if (!(r->step[j] > 0.0)) continue;
        const double x = f->x[j], step = r->step[j];
        f->lower[j] = x - floor((x - f->lower[j]) / step) * step;
        f->upper[j] = x + floor((f->upper[j] - x) / step) * step;
    }
    return status;
}

static hf_status find_fewest(hf_context *ctx, flip *f)
{
    hfi_judged judged = {.verdict = HF_VERDICT_OPEN};
    size_t movers = 0;
    hf_status status = place_ends(ctx, f), worst = HF_OK;
    for (size_t j = 0; status >= 0 && j < f->d; j++) movers += f->lower[j] < f->upper[j];
    if (status >= 0) status = go_to_ends(ctx, f);
    if (status >= 0 && !f->found) {
        worst = status = judge_moved_claim(ctx, f, 0, &judged);
        if (status >= 0 && judged.verdict == HF_VERDICT_COUNTEREXAMPLE) take_example(f);
    }
    if (judged.verdict == HF_VERDICT_CERTIFIED) {
        f->out.certified = f->far.most;
        f->out.spared = movers;
        return status;
    }
    if (status >= 0 && f->found) status = put_back(ctx, f);
    if (status >= 0) status = spare(ctx, f, movers);
    return status < 0 ? status : hfi_worse(worst, status);
}

/* ---- nearest ----------------------------------------------------------------------------------------------------- */

static hf_status find_nearest(hf_context *ctx, flip *f)
{
    hfi_reach reach = {.certified = 0.0, .broken = (double)INFINITY};
    hf_status status = hfi_find_radius(ctx, f->kind, f->of, &f->far, &reach, f->best);
    if (status < 0) return status;
    f->out.certified = reach.certified;
    f->out.nodes += reach.nodes;
    f->found = isfinite(reach.broken);
    for (size_t j = 0; reach.certified >= f->far.most && j < f->d; j++)
        f->out.spared += !f->far.unit || f->far.unit[j] > 0.0;
    const hf_status back = f->found ? put_back(ctx, f) : HF_OK;
    return back < 0 ? back : status;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static bool has_limits(const hf_claim *claim)
{
    return claim->posterior || claim->never_above != (double)INFINITY ||
           claim->never_below != -(double)INFINITY || claim->delta != (double)INFINITY;
}

static hf_status check_kind(hf_context *ctx, hf_flip_kind kind, const hf_region *region)
{
    if (kind != HF_FLIP_NEAREST && kind != HF_FLIP_FEWEST)
        return hfi_refuse(ctx, "there is no smallest move of kind number %d", (int)kind);
    if (kind == HF_FLIP_FEWEST && region &&
        (region->shape != HF_SHAPE_BOX || region->moves > 0 || region->sets))
        return hfi_refuse(ctx,
                          "the fewest inputs are looked for in boxes, without balls, sets and a number of "
                          "inputs that move");
    return HF_OK;
}

/* Chooses who is asked, the limits or the class; questions about the point follow. */
static hf_status begin_flip(hf_context *ctx, const hf_claim *claim, const hf_certify_settings *settings,
                            flip *f)
{
    f->of_class = claim->classifier && !has_limits(claim);
    if (!f->of_class) {
        f->kind = &hfi_held_claim;
        f->of = &f->claimed;
        const hf_status status = hfi_claim_check_and_begin(ctx, claim, settings, &f->claimed);
        f->classes = status >= 0 && claim->classifier ? hf_classifier_classes(claim->classifier) : 0;
        return status;
    }
    f->named.classifier = claim->classifier;
    f->kind = &hfi_held_class;
    f->of = &f->named;
    f->classes = hf_classifier_classes(claim->classifier);
    return hfi_value_of_class(ctx, claim->classifier, &f->claimed.value);
}

static hf_status about_class(hf_context *ctx, flip *f, hf_verdict *here)
{
    const hf_status status = hf_classify_predict(ctx, f->named.classifier, 1, f->x, f->d, f->numbers,
                                                 &f->named.winner, NULL, NULL, NULL);
    if (status < 0) return status;
    *here = HF_VERDICT_CERTIFIED;
    f->out.winner = f->named.winner;
    f->out.value = f->numbers[f->named.winner];
    return status;
}

static hf_status about_point(hf_context *ctx, flip *f, hf_verdict *here)
{
    hf_range at;
    hf_status status = hfi_claim_about(ctx, &f->claimed, f->x);
    if (status >= 0) status = hfi_value_at(ctx, &f->claimed.value, &f->settings, f->x, f->claimed.spare, &at);
    if (status < 0) return status;
    *here = hfi_claim_at_point(&f->claimed, &at);
    f->out.value = f->claimed.at_point;
    f->settings.tolerance = f->far.settings.tolerance = hfi_claim_tolerance(&f->claimed);
    if (*here == HF_VERDICT_CERTIFIED) return HF_OK;
    f->out.certified = (double)NAN;
    if (*here == HF_VERDICT_OPEN)
        return hfi_fail(ctx, HF_WARN_NOT_CONVERGED,
                        "whether the claim holds at the point itself is open: the limit is nearer to its "
                        "value than rounding");
    memcpy(f->best, f->x, f->d * sizeof *f->best);
    f->found = true;
    return HF_OK;
}

/* Describes the example. */
static hf_status describe_flip(hf_context *ctx, flip *f)
{
    if (!f->found) return HF_OK;
    f->out.moved = count_moved(f, f->best);
    /* Rounded up, but not out of the box that it was found in. */
    f->out.distance =
        fmin(hfi_region_size(f->settings.region, f->d, f->x, f->best, f->far.unit), f->far.most);
    if (f->of_class) {
        const hf_status status = hf_classify_predict(ctx, f->named.classifier, 1, f->best, f->d, f->numbers,
                                                     &f->out.other, NULL, NULL, NULL);
        if (status >= 0) f->out.flipped = f->numbers[f->named.winner];
        return status;
    }
    hf_range at;
    const hf_status status =
        hfi_value_at(ctx, &f->claimed.value, &f->settings, f->best, f->claimed.spare, &at);
    if (status >= 0) f->out.flipped = at.lower_attained;
    return status;
}

static hf_status search_flip(hf_context *ctx, hf_flip_kind kind, flip *f)
{
    hf_verdict here = HF_VERDICT_OPEN;
    hf_status status = f->of_class ? about_class(ctx, f, &here) : about_point(ctx, f, &here);
    if (status < 0) return status;
    if (here == HF_VERDICT_CERTIFIED) {
        status = hfi_worse(status, kind == HF_FLIP_FEWEST ? find_fewest(ctx, f) : find_nearest(ctx, f));
    }
    const hf_status told = status >= 0 ? describe_flip(ctx, f) : status;
    return told < 0 ? told : status;
}

static hf_status allocate_flip(hf_context *ctx, flip *f)
{
    const size_t d = f->d, each = f->classes > 2 ? f->classes : 2;
    return HFI_ALLOC(ctx, HFI_ROOMS(f->points, 2 * (d + 1), d), HFI_ROOMS(f->numbers, 2 * each, d),
                     HFI_ROOM(f->input, 2 * d), HFI_ROOM(f->margin, 2 * d), HFI_ROOM(f->lower, d),
                     HFI_ROOM(f->upper, d), HFI_ROOM(f->at, d), HFI_ROOM(f->best, d),
                     HFI_ROOM(f->claimed.spare, 2 * d));
}

hf_status hf_certify_flip(hf_context *ctx, const hf_claim *claim, hf_flip_kind kind,
                          const hf_certify_settings *settings, const double *centre, const double *unit,
                          double most, double accuracy, hf_flip *out, double *example)
{
    const double begun = hfi_now();
    hf_region region;
    hf_claim own;
    flip f = {.x = centre};
    if (!ctx || !claim || !centre || !out) return HFI_REFUSE_NULL(ctx, "hf_certify_flip", claim, centre, out);
    hf_status status = hfi_certify_open(ctx, settings, &f.settings, &region);
    if (status >= 0) status = hfi_settings_open(ctx, hf_claim_table(), claim, &own);
    if (status >= 0) status = check_kind(ctx, kind, f.settings.region);
    if (status >= 0) status = begin_flip(ctx, &own, &f.settings, &f);
    if (status < 0) return status;
    f.d = f.claimed.value.inputs;
    hfi_region_about(&f.settings, centre, &f.region);
    f.end = hfi_call_deadline(&f.settings);
    f.far = (hfi_far){
        .settings = f.settings, .d = f.d, .x = centre, .unit = unit, .most = most, .accuracy = accuracy};
    f.out = (hf_flip){.winner = SIZE_MAX,
                      .other = SIZE_MAX,
                      .flipped = (double)NAN,
                      .distance = (double)INFINITY,
                      .rigorous = f.settings.rigorous,
                      .estimate = hfi_value_is_estimate(&f.claimed.value)};
    status = hfi_check_radius(ctx, &f.far);
    if (status < 0) return status;
    status = allocate_flip(ctx, &f);
    if (status >= 0) status = search_flip(ctx, kind, &f);
    if (status >= 0) {
        f.out.seconds = hfi_now() - begun;
        *out = f.out;
        for (size_t j = 0; example && j < f.d; j++) example[j] = f.found ? f.best[j] : (double)NAN;
    }
    HFI_FREE(ctx, f.points, f.numbers, f.input, f.margin, f.lower, f.upper, f.at, f.best, f.claimed.spare);
    return status;
}
