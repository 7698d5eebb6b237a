/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on values of posteriors: steps from many starts, in boxes and regions. */
#include "bound/problem.h"
#include "certify/climb.h"
#include "certify/region.h"
#include "certify/value.h"

#include <math.h>

enum {
    STEPS = 40,
    STARTS = 5,
    STARTS_MOST = 100000
};

typedef struct aim {
    const hf_posterior *posterior;
    hf_workspace *workspace;
    const hfi_quantity *quantity;
    const hf_certify_settings *settings;
    const hf_attack_settings *how;
    hf_region region;               /* of the settings, about the points */
    size_t d, width;                /* inputs; with the number of an output */
    double sign;                    /* 1: small values are looked for, -1: large ones */
    double *row, *of_mean, *of_var; /* width each */
    double *start, *first, *second; /* d each: where a climb begins, the best point of each sign */
    hfi_sides sides;                /* d each */
    hfi_watch watch;
    hfi_climb climb;
} aim;

hf_attack_settings hf_attack_settings_default(void)
{
    return (hf_attack_settings){
        .what = HF_CERTIFY_MEAN, .kind = HF_ATTACK_PGD, .steps = STEPS, .starts = STARTS};
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static hf_status look(void *of, const double *point, double *score, double *slope)
{
    aim *a = of;
    double mean, var = 0.0;
    const hfi_quantity *what = a->quantity;
    const double beta = a->settings->beta;
    memcpy(a->row, point, a->d * sizeof *point);
    if (a->width > a->d) a->row[a->d] = (double)a->settings->output;
    const hf_status status = (a->settings->observed ? hf_predict_observed : hf_predict_latent)(
        a->posterior, a->workspace, a->row, &mean, what->sd ? &var : NULL, a->of_mean,
        what->sd ? a->of_var : NULL);
    if (status < 0) return status;
    *score = a->sign * what->value(what, beta, mean, sqrt(var));
    hfi_quantity_gradient(what, beta, a->d, mean, sqrt(var), 1.0, a->of_mean, a->of_var, slope);
    for (size_t j = 0; j < a->d; j++) slope[j] *= a->sign;
    return isfinite(*score) ? status : HF_ERR_NOT_FINITE;
}

/* ---- one box ----------------------------------------------------------------------------------------------------- */

/* The smallest score from the point and, of projected attacks, from points that are drawn. */
static hf_status climb(aim *a, double sign, size_t box, const double *x, double *out, double *best)
{
    hfi_stream stream;
    hfi_stream_init(&stream, a->how->seed, HFI_PURPOSE_SAMPLE, box);
    a->sign = sign;
    *best = (double)INFINITY;
    hf_status status = hfi_climb_from(&a->climb, x, out, best);
    for (size_t k = 1; a->how->kind == HF_ATTACK_PGD && k < a->how->starts && status >= 0; k++) {
        for (size_t j = 0; j < a->d; j++) {
            const double low = a->climb.lower[j], high = a->climb.upper[j];
            a->start[j] = fmin(low + hfi_stream_uniform(&stream) * (high - low), high);
        }
        status = hfi_climb_from(&a->climb, a->start, out, best);
    }
    *best *= sign;
    return status;
}

static hf_status attack_one(aim *a, size_t box, const double *x, double *out, double *value)
{
    const bool farthest = a->how->goal == HF_ATTACK_FARTHEST;
    double here, other;
    if (!farthest) return climb(a, a->how->goal == HF_ATTACK_LARGEST ? -1.0 : 1.0, box, x, out, value);
    hf_status status = climb(a, 1.0, box, x, a->first, value);
    if (status >= 0) status = climb(a, -1.0, box, x, a->second, &other);
    a->sign = 1.0;
    if (status >= 0) status = look(a, x, &here, a->climb.slope);
    if (status < 0) return status;
    const bool up = fabs(other - here) > fabs(*value - here);
    if (up) *value = other;
    memcpy(out, up ? a->second : a->first, a->d * sizeof *out);
    return status;
}

/* The box, cut to the region. */
static hf_status place(hf_context *ctx, aim *a, size_t box, const double *lower, const double *upper)
{
    if (!a->settings->region) {
        a->climb.lower = lower;
        a->climb.upper = upper;
        return HF_OK;
    }
    memcpy(a->sides.lower, lower, a->d * sizeof *lower);
    memcpy(a->sides.upper, upper, a->d * sizeof *upper);
    return hfi_region_place(ctx, &a->region, box, a->d, &a->sides);
}

/* ---- all boxes --------------------------------------------------------------------------------------------------- */

static hf_status check(hf_context *ctx, const aim *a, size_t m, const double *x, const double *lower,
                       const double *upper)
{
    const hf_attack_settings *how = a->how;
    const hf_region *region = a->settings->region;
    hf_status status = hfi_check_attack(ctx, how->kind, how->steps);
    if (status >= 0 && ((int)how->goal < 0 || how->goal > HF_ATTACK_SMALLEST))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "there is no goal number %d of an attack", (int)how->goal);
    if (status >= 0 && how->starts > STARTS_MOST)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "an attack from %zu starts; at most %d are", how->starts,
                        STARTS_MOST);
    if (status >= 0) status = hfi_check_boxes(ctx, m, a->d, x, lower, upper);
    for (size_t k = 0; k < m && status >= 0; k++)
        status = hfi_problem_check(ctx, a->posterior, a->quantity, a->settings, lower + k * a->d,
                                   upper + k * a->d);
    if (status < 0 || !region) return status;
    if (region->moves > 0 || region->sets)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "attacks are in boxes and balls, without sets and a number of inputs that move");
    return hfi_region_check(ctx, region, a->d, false);
}

static hf_status attack_all(hf_context *ctx, aim *a, size_t m, const double *x, const double *lower,
                            const double *upper, double *points, double *values)
{
    hf_status status = HF_OK;
    hfi_watch_begin(&a->watch, ctx, "attack", 0.0);
    for (size_t k = 0; k < m && status >= 0; k++) {
        const size_t at = k * a->d;
        a->watch.done = (double)k / (double)m;
        status = place(ctx, a, k, lower + at, upper + at);
        if (status < 0) return status;
        a->climb.centre = x + at;
        status = attack_one(a, k, x + at, points + at, &values[k]);
        if (status == HF_ERR_CANCELLED)
            (void)hfi_cancelled(ctx);
        else if (status < 0)
            hfi_fail(ctx, status, "box %zu: the prediction failed", k + 1);
    }
    return status;
}

static bool make_room(hf_context *ctx, aim *a, size_t m, double **out)
{
    const size_t d = a->d, w = a->width;
    double *room = hfi_alloc(ctx, 3 * w + 10 * d + m * (d + 1), sizeof *room);
    *out = room;
    a->workspace = room ? hf_workspace_create(ctx, a->posterior) : NULL;
    if (!a->workspace) return false;
    a->row = room, a->of_mean = room + w, a->of_var = room + 2 * w;
    a->start = room + 3 * w, a->first = a->start + d, a->second = a->first + d;
    double *sides = a->second + d;
    a->sides = (hfi_sides){sides, sides + d, sides + 2 * d, sides + 3 * d};
    a->climb = (hfi_climb){.look = look,
                           .of = a,
                           .watch = &a->watch,
                           .kind = a->how->kind,
                           .d = d,
                           .steps = a->how->steps ? a->how->steps : STEPS,
                           .region = a->settings->region,
                           .lower = a->sides.lower,
                           .upper = a->sides.upper,
                           .half = a->sides.half,
                           .x = sides + 4 * d,
                           .at = sides + 5 * d,
                           .slope = sides + 6 * d};
    return true;
}

hf_status hf_attack_value(hf_context *ctx, const hf_posterior *posterior, const hf_attack_settings *settings,
                          size_t m, const double *x, const double *lower, const double *upper,
                          double *attacked, double *value_there)
{
    const hf_certify_settings standard = hf_certify_settings_default();
    const hf_attack_settings usual = hf_attack_settings_default(), *how = settings ? settings : &usual;
    hfi_value of;
    double *room = NULL;
    if (!ctx || !posterior || !x || !lower || !upper || !attacked)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_attack_value: an argument that must not be NULL is");
    hf_status status = hfi_value_of(ctx, posterior, how->what, &of);
    if (status < 0) return status;
    aim a = {.posterior = posterior,
             .quantity = of.quantity,
             .settings = how->value ? how->value : &standard,
             .how = how,
             .d = of.inputs,
             .width = posterior->scaling.d};
    if (a.settings->region) a.region = *a.settings->region;
    a.region.centre = x;
    status = check(ctx, &a, m, x, lower, upper);
    if (status < 0 || m == 0) return status;
    status = make_room(ctx, &a, m, &room) ? HF_OK : HF_ERR_MEMORY;
    double *points = room ? room + 3 * a.width + 10 * a.d : NULL, *values = points ? points + m * a.d : NULL;
    if (status >= 0) status = attack_all(ctx, &a, m, x, lower, upper, points, values);
    if (status >= 0) {
        memcpy(attacked, points, m * a.d * sizeof *attacked);
        if (value_there) memcpy(value_there, values, m * sizeof *values);
    }
    hf_workspace_free(a.workspace);
    hfi_free(ctx, room);
    return status;
}
