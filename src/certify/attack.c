/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks by gradients, on classes and on values of posteriors: what certificates are compared with. They
 * prove nothing. */
#include "certify/certify.h"
#include "softmax/classes.h"

#include <math.h>

enum {
    STEPS = 40
};

/* ---- steps that attacks take: along signs of slopes in a box, along what is steepest in a ball ---------- */

static const double share = 0.1; /* of a box's side, of the first projected step */

/* Points of one box whose score is to be small. */
typedef struct descent {
    /* The score at a point of the user's and its slope (d): errors end the climb. */
    hf_status (*look)(void *of, const double *point, double *score, double *slope);
    void *of;
    hfi_watch *watch;
    hf_attack_kind kind;
    size_t d, steps;             /* steps of projected climbs */
    const hf_region *region;     /* NULL: the whole box; without `moves` and `sets` */
    const double *lower, *upper; /* d each: the box, cut to what is physical */
    const double *centre, *half; /* of the region; NULL without one */
    double *x, *at, *slope;      /* d each: where steps lead, where that is in the region */
} descent;

static void along_signs(const descent *c, double length)
{
    for (size_t j = 0; j < c->d; j++) {
        const double slope = c->slope[j], side = c->upper[j] - c->lower[j];
        c->x[j] -= (slope > 0.0 ? 1.0 : slope < 0.0 ? -1.0 : 0.0) * length * side;
    }
}

static void along_slope(const descent *c, double length)
{
    double square = 0.0;
    for (size_t j = 0; j < c->d; j++) square += pow(c->slope[j] * c->half[j], 2.0);
    for (size_t j = 0; j < c->d && square > 0.0; j++)
        c->x[j] -= 2.0 * length * c->half[j] * c->half[j] * c->slope[j] / sqrt(square);
}

static void along_steepest(const descent *c, double length)
{
    size_t best = 0;
    for (size_t j = 1; j < c->d; j++)
        if (fabs(c->slope[j]) * c->half[j] > fabs(c->slope[best]) * c->half[best]) best = j;
    c->x[best] -= copysign(2.0 * length * c->half[best], c->slope[best]);
}

/* By what is steepest among moves of one length of that shape. */
static void (*const along[])(const descent *c, double length) = {
    [HF_SHAPE_BOX] = along_signs, [HF_SHAPE_L2] = along_slope, [HF_SHAPE_L1] = along_steepest};

static hf_shape shape_of(const descent *c)
{
    return c->region ? c->region->shape : HF_SHAPE_BOX;
}

static void clamp(const descent *c, double *x)
{
    for (size_t j = 0; j < c->d; j++) x[j] = fmin(fmax(x[j], c->lower[j]), c->upper[j]);
}

/* Into the ball, towards its centre. */
static void shrink(const descent *c, double *x)
{
    const double room = 1e-12;
    double sum = 0.0;
    const hf_shape shape = shape_of(c);
    if (shape == HF_SHAPE_BOX) return;
    for (size_t j = 0; j < c->d; j++) {
        const double half = c->half[j], u = half > 0.0 ? fabs(x[j] - c->centre[j]) / half : 0.0;
        sum += shape == HF_SHAPE_L2 ? u * u : u;
    }
    const double size = shape == HF_SHAPE_L2 ? sqrt(sum) : sum, most = 1.0 - room;
    for (size_t j = 0; j < c->d && size > most; j++)
        x[j] = c->centre[j] + (x[j] - c->centre[j]) * (most / size);
}

/* `at` := the point of the region that x of the box stands for: towards the centre. */
static void place_in_region(const descent *c, const double *x, double *at)
{
    memcpy(at, x, c->d * sizeof *at);
    shrink(c, at);
    for (size_t j = 0; c->region && c->region->step && j < c->d; j++) {
        const double step = c->region->step[j], away = at[j] - c->centre[j];
        if (step > 0.0) at[j] = c->centre[j] + copysign(floor(fabs(away) / step + 1e-9), away) * step;
    }
    clamp(c, at);
}

static hf_status try_attack_point(const descent *c, bool anyhow, double *out, double *best)
{
    double score;
    place_in_region(c, c->x, c->at);
    const hf_status status = c->look(c->of, c->at, &score, c->slope);
    if (status < 0 || !(anyhow || score < *best)) return status;
    *best = score;
    memcpy(out, c->at, c->d * sizeof *out);
    return status;
}

/* From a point of the box: `out` := the best point on the way if its score is below *best, which
 * becomes it. HF_ATTACK_FGSM takes its one step as it comes. HF_ERR_CANCELLED. */
static hf_status descend(const descent *c, const double *from, double *out, double *best)
{
    const bool one = c->kind == HF_ATTACK_FGSM;
    const size_t steps = one ? 1 : c->steps;
    memcpy(c->x, from, c->d * sizeof *c->x);
    hf_status status = try_attack_point(c, false, out, best);
    for (size_t k = 0; k < steps && status >= 0; k++) {
        if (!hfi_watch_ok(c->watch)) return HF_ERR_CANCELLED;
        along[shape_of(c)](c, one ? 1.0 : share * (1.0 - (double)k / (double)steps));
        clamp(c, c->x);
        shrink(c, c->x);
        status = try_attack_point(c, one, out, best);
    }
    return status;
}

/* ---- an attack ---------------------------------------------------------------------------------------- */

typedef struct aim {
    hfi_value value;
    const hf_certify_settings *settings;
    const hf_attack_settings *how;
    double beta, threshold;
    hf_region region; /* of the settings, about the points */
    hf_posterior_workspace *workspace;
    hfi_subject subject;                     /* of several classes: a point, and what looks at points */
    hfi_classes *classes;                    /* else NULL */
    size_t d, width;                         /* inputs; with the number of an output */
    double sign;                             /* 1: small values are looked for, -1: large ones */
    double *row, *middle, *of_mean, *of_var; /* width each */
    double *probability;                     /* of all classes */
    double *start, *first, *second;          /* d each: where a climb begins, the best point of each sign */
    hfi_sides sides;                         /* d each */
    hfi_watch watch;
    descent climb;
} aim;

/* ---- values ------------------------------------------------------------------------------------------------------ */

static hf_status score_attack_point(void *of, const double *point, double *score, double *slope)
{
    aim *a = of;
    const hfi_quantity *what = a->value.quantity;
    double mean, var = 0.0;
    memcpy(a->row, point, a->d * sizeof *point);
    if (a->width > a->d) a->row[a->d] = (double)a->settings->output;
    if (a->classes) {
        *score = hfi_classes_value(a->classes, a->row, slope);
    } else {
        const hf_status status = (a->settings->observed ? hf_predict_observed : hf_predict_latent)(
            a->value.posterior, a->workspace, a->row, &mean, what->sd ? &var : NULL, a->of_mean,
            what->sd ? a->of_var : NULL);
        if (status < 0) return status;
        *score = what->value(what, a->beta, mean, sqrt(var));
        hfi_quantity_gradient(what, a->beta, a->d, mean, sqrt(var), 1.0, a->of_mean, a->of_var, slope);
    }
    *score *= a->sign;
    for (size_t j = 0; j < a->d; j++) slope[j] *= a->sign;
    return isfinite(*score) ? HF_OK : HF_ERR_NOT_FINITE;
}

/* ---- one box ----------------------------------------------------------------------------------------------------- */

/* The smallest score from the point and, of projected attacks, from points that are drawn. */
static hf_status search_attack_starts(aim *a, double sign, size_t box, const double *x, double *out,
                                      double *best)
{
    hfi_stream stream;
    hfi_stream_init(&stream, a->how->seed, HFI_PURPOSE_SAMPLE, box);
    a->sign = sign;
    *best = (double)INFINITY;
    hf_status status = descend(&a->climb, x, out, best);
    for (size_t k = 1; a->how->kind == HF_ATTACK_PGD && k < a->how->starts && status >= 0; k++) {
        for (size_t j = 0; j < a->d; j++) {
            const double low = a->climb.lower[j], high = a->climb.upper[j];
            a->start[j] = fmin(low + hfi_stream_uniform(&stream) * (high - low), high);
        }
        status = descend(&a->climb, a->start, out, best);
    }
    *best *= sign;
    return status;
}

static hf_status attack_value(aim *a, size_t box, const double *x, double *out, double *value)
{
    double here, other;
    if (a->how->goal != HF_ATTACK_FARTHEST)
        return search_attack_starts(a, a->how->goal == HF_ATTACK_LARGEST ? -1.0 : 1.0, box, x, out, value);
    hf_status status = search_attack_starts(a, 1.0, box, x, a->first, value);
    if (status >= 0) status = search_attack_starts(a, -1.0, box, x, a->second, &other);
    a->sign = 1.0;
    if (status >= 0) status = score_attack_point(a, x, &here, a->climb.slope);
    if (status < 0) return status;
    const bool up = fabs(other - here) > fabs(*value - here);
    if (up) *value = other;
    memcpy(out, up ? a->second : a->first, a->d * sizeof *out);
    return status;
}

/* Attacks the probability of the class that the point has: finds what can be left of it. */
static hf_status attack_class(aim *a, size_t box, const double *x, double *out, double *left)
{
    double p;
    hf_status status;
    if (!a->classes) {
        a->sign = 1.0;
        status = score_attack_point(a, x, &p, a->climb.slope);
        if (status < 0) return status;
        const double sign = p > a->threshold ? 1.0 : -1.0;
        status = search_attack_starts(a, sign, box, x, out, left);
        if (sign < 0.0) *left = 1.0 - *left;
        return status;
    }
    memcpy(a->row, x, a->d * sizeof *a->row);
    hfi_classes_look(a->classes, a->row, a->probability);
    a->classes->winner = 0;
    for (size_t c = 1; c < a->classes->classes; c++)
        if (a->probability[c] > a->probability[a->classes->winner]) a->classes->winner = c;
    status = search_attack_starts(a, 1.0, box, x, out, left);
    memcpy(a->row, out, a->d * sizeof *out);
    if (status >= 0) *left = hfi_classes_value(a->classes, a->row, NULL);
    return status;
}

/* ---- all boxes --------------------------------------------------------------------------------------------------- */

/* The box, cut to the region. */
static hf_status cut_box_to_region(hf_context *ctx, aim *a, size_t box, const double *x, const double *lower,
                                   const double *upper)
{
    a->climb.centre = x;
    a->climb.lower = a->settings->region ? a->sides.lower : lower;
    a->climb.upper = a->settings->region ? a->sides.upper : upper;
    if (!a->settings->region) return HF_OK;
    memcpy(a->sides.lower, lower, a->d * sizeof *lower);
    memcpy(a->sides.upper, upper, a->d * sizeof *upper);
    return hfi_region_place(ctx, &a->region, box, a->d, &a->sides);
}

static hf_status attack_all(hf_context *ctx, aim *a, size_t m, const double *x, const double *lower,
                            const double *upper, double *points, double *values)
{
    hf_status status = HF_OK;
    hfi_watch_begin(&a->watch, ctx, "attack", 0.0);
    for (size_t k = 0; k < m && status >= 0; k++) {
        const size_t at = k * a->d;
        a->watch.done = (double)k / (double)m;
        status = cut_box_to_region(ctx, a, k, x + at, lower + at, upper + at);
        if (status < 0) return status;
        status = (a->value.classifier ? attack_class : attack_value)(a, k, x + at, points + at, &values[k]);
        if (status == HF_ERR_CANCELLED)
            (void)hfi_cancelled(ctx);
        else if (status < 0)
            hfi_fail(ctx, status, "box %zu: the prediction failed", k + 1);
    }
    return status;
}

/* Makes ready what looks at points; for several classes it is that of certificates, with no input moving. */
static hf_status make_ready(hf_context *ctx, aim *a, const double *x)
{
    if (!a->value.quantity->of_class) {
        a->workspace = hf_posterior_workspace_create(ctx, a->value.posterior);
        return a->workspace ? HF_OK : HF_ERR_MEMORY;
    }
    memcpy(a->row, x, a->d * sizeof *x);
    a->row[a->d] = 0.0;
    hfi_scaling_inputs(&a->value.posterior->scaling, 1, a->row, a->width, a->middle);
    a->subject = (hfi_subject){.posterior = a->value.posterior,
                               .d = a->width,
                               .lower = a->middle,
                               .upper = a->middle,
                               .middle = a->middle};
    return hfi_classes_create(ctx, a->value.posterior, &a->subject, 0, a->value.quantity, 0.01, &a->classes);
}

/* Every row, into the caller's arrays in the end. */
static hf_status attack(hf_context *ctx, aim *a, size_t m, const double *x, const double *lower,
                        const double *upper, double *attacked, double *value_there)
{
    const size_t d = a->d, w = a->width, classes = a->value.posterior->scaling.outputs;
    double *room = hfi_alloc(ctx, 4 * w + classes + 10 * d + m * (d + 1), sizeof *room);
    if (!room) return HF_ERR_MEMORY;
    a->row = room, a->middle = room + w, a->of_mean = room + 2 * w, a->of_var = room + 3 * w;
    a->probability = room + 4 * w;
    a->start = a->probability + classes, a->first = a->start + d, a->second = a->first + d;
    double *sides = a->second + d, *points = sides + 7 * d, *values = points + m * d;
    a->sides = (hfi_sides){sides, sides + d, sides + 2 * d, sides + 3 * d};
    a->climb = (descent){.look = score_attack_point,
                         .of = a,
                         .watch = &a->watch,
                         .kind = a->how->kind,
                         .d = d,
                         .steps = a->how->steps ? a->how->steps : STEPS,
                         .region = a->settings->region,
                         .half = a->sides.half,
                         .x = sides + 4 * d,
                         .at = sides + 5 * d,
                         .slope = sides + 6 * d};
    hf_status status = make_ready(ctx, a, x);
    if (status >= 0) status = attack_all(ctx, a, m, x, lower, upper, points, values);
    if (status >= 0) {
        memcpy(attacked, points, m * d * sizeof *attacked);
        if (value_there) memcpy(value_there, values, m * sizeof *values);
    }
    hf_posterior_workspace_free(a->workspace);
    hfi_classes_free(a->classes);
    hfi_free(ctx, room);
    return status;
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static hf_status check_points(hf_context *ctx, const aim *a, size_t m, const double *x, const double *lower,
                              const double *upper)
{
    for (size_t k = 0; k < m * a->d; k++)
        if (!(x[k] >= lower[k]) || !(x[k] <= upper[k]) || !isfinite(lower[k]) || !isfinite(upper[k]))
            return hfi_refuse(ctx, "box %zu: input %zu is %g, which is not within [%g, %g]", k / a->d + 1,
                              k % a->d + 1, x[k], lower[k], upper[k]);
    return HF_OK;
}

/* Checks the boxes and the region, which only attacks on values have. */
static hf_status check_value(hf_context *ctx, const aim *a, size_t m, const double *lower,
                             const double *upper)
{
    const hf_region *region = a->settings->region;
    hf_status status = HF_OK;
    for (size_t k = 0; k < m && status >= 0; k++)
        status = hfi_problem_check(ctx, a->value.posterior, a->value.quantity, a->settings, lower + k * a->d,
                                   upper + k * a->d);
    if (status < 0 || !region) return status;
    if (region->moves > 0 || region->sets)
        return hfi_refuse(ctx,
                          "attacks are in boxes and balls, without sets and a number of inputs that move");
    return hfi_region_check(ctx, region, a->d, false);
}

hf_status hf_attack(hf_context *ctx, const hf_classifier *classifier, hf_attack_kind kind, size_t steps,
                    size_t m, const double *x, const double *lower, const double *upper, double *attacked,
                    double *probability)
{
    const hf_certify_settings standard = hf_certify_settings_default();
    const hf_attack_settings given = {.size = sizeof given, .kind = kind, .steps = steps};
    hf_attack_settings how;
    aim a = {.settings = &standard, .how = &how};
    if (!ctx || !classifier || !x || !lower || !upper || !attacked)
        return HFI_REFUSE_NULL(ctx, "hf_attack", classifier, x, lower, upper, attacked);
    hf_status status = hfi_settings_open(ctx, hf_attack_settings_table(), &given, &how);
    if (status >= 0) status = hfi_value_of_class(ctx, classifier, &a.value);
    if (status < 0) return status;
    a.d = a.value.inputs;
    a.width = a.value.posterior->scaling.d;
    a.beta = hf_classifier_rule(classifier)->lambda;
    a.threshold = hf_classifier_rule(classifier)->threshold;
    status = check_points(ctx, &a, m, x, lower, upper);
    return status < 0 || m == 0 ? status : attack(ctx, &a, m, x, lower, upper, attacked, probability);
}

hf_status hf_attack_value(hf_context *ctx, const hf_posterior *posterior, const hf_attack_settings *settings,
                          size_t m, const double *x, const double *lower, const double *upper,
                          double *attacked, double *value_there)
{
    hf_certify_settings own;
    hf_attack_settings how;
    hf_region region;
    aim a = {.settings = &own, .how = &how};
    if (!ctx || !posterior || !x || !lower || !upper || !attacked)
        return HFI_REFUSE_NULL(ctx, "hf_attack_value", posterior, x, lower, upper, attacked);
    hf_status status = hfi_settings_open(ctx, hf_attack_settings_table(), settings, &how);
    if (status >= 0) status = hfi_certify_open(ctx, how.value, &own, &region);
    if (status >= 0) status = hfi_value_of(ctx, posterior, how.what, &a.value);
    if (status < 0) return status;
    a.d = a.value.inputs;
    a.width = posterior->scaling.d;
    a.beta = a.settings->beta;
    if (a.settings->region) a.region = *a.settings->region;
    a.region.centre = x;
    status = check_points(ctx, &a, m, x, lower, upper);
    if (status >= 0) status = check_value(ctx, &a, m, lower, upper);
    return status < 0 || m == 0 ? status : attack(ctx, &a, m, x, lower, upper, attacked, value_there);
}
