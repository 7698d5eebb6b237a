/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of the standard deviation over a box, from the models of features and variance. */
#include "moments/bounds_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The least (sign 1) or the largest of the squared length of the features' linear model. */
static double extreme_square(const hfi_bounds_box *x, double sign, double *point, double *gap)
{
    const hfi_spread_model *s = &x->spread;
    const hfi_bounds_scratch *b = x->b;
    double predicted;
    for (size_t a = 0; a < x->m; a++) b->g[a] = 2.0 * s->b[a];
    for (size_t k = 0; k < x->m * x->m; k++) b->h[k] = 2.0 * s->g[k];
    const double least =
        hfi_quadratic_lower(x->m, sign, b->g, b->h, x->ball, point, &predicted, gap, b->work);
    return s->var + sign * least - sign * s->rounding;
}

double hfi_centre_sd(const hfi_bounds_box *x)
{
    return hfi_root(fmax(x->spread.var, 0.0) + x->spread.noise);
}

double hfi_lowest_sd(const hfi_bounds_box *x, double *point, double *gap)
{
    const hfi_spread_model *s = &x->spread;
    double low = fmax(0.0, hfi_root(s->var - s->rounding) - s->distance);
    if (s->remainder < (double)INFINITY)
        low = fmax(low, hfi_root(extreme_square(x, 1.0, point, gap)) - s->remainder);
    if (s->white_fall > 0.0) low = hfi_root(low * low - s->white_fall);
    low = fmax(0.0, low - 4.0 * DBL_EPSILON * s->ceiling);
    return s->noise > 0.0 ? (1.0 - 8.0 * DBL_EPSILON) * hfi_root(low * low + s->noise) : low;
}

double hfi_highest_sd(const hfi_bounds_box *x, double *point, double *gap)
{
    const hfi_spread_model *s = &x->spread;
    double high = fmin(s->ceiling, hfi_root(s->var + s->rounding) + s->distance);
    if (s->remainder < (double)INFINITY)
        high = fmin(high, hfi_root(extreme_square(x, -1.0, point, gap)) + s->remainder);
    if (s->white_rise > 0.0) high = fmin(s->ceiling, hfi_root(high * high + s->white_rise));
    high += 4.0 * DBL_EPSILON * s->ceiling;
    return s->noise > 0.0 ? (1.0 + 8.0 * DBL_EPSILON) * hfi_root(high * high + s->noise) : high;
}

void hfi_bound_sd(hfi_bounds_box *x, double *point)
{
    const hfi_bounds_scratch *b = x->b;
    memset(point, 0, x->m * sizeof *point);
    memset(b->best_gap, 0, x->m * sizeof *b->best_gap);
    const double extreme =
        x->sign > 0.0 ? hfi_lowest_sd(x, point, b->best_gap) : -hfi_highest_sd(x, point, b->best_gap);
    x->bound = extreme;
    x->predicted = extreme;
    x->own = true;
}

/* ---- the variance's cubic model ---------------------------------------------------------------------------------- */

static hfi_square_model make_square(hfi_bounds_box *x)
{
    const size_t m = x->m;
    const hfi_taylor *taylor = x->made->taylor;
    double *at = x->b->square;
    hfi_square_model model = {
        .g = at, .slope_error = at + m, .share = at + 2 * m, .h = at + 3 * m, .t = x->b->cubic};
    /* Most of the boxes that stand together ask for this, if one does. */
    if (!x->spreads->solved) hfi_taylor_spread_on(taylor, x->spread_count, x->spreads);
    x->spread.solved = x->spreads->solved;
    /* Behind what hfi_taylor_spread() has left. */
    hfi_taylor_square(taylor, x->centre, x->half, &x->spread, &model,
                      x->b->models + hfi_taylor_spread_scratch(taylor));
    return model;
}

/* The least (sign 1) or the largest variance in the box, as far as the question needs it. */
static double extreme_variance(const hfi_bounds_box *x, const hfi_square_model *model, double *point,
                               double *predicted)
{
    const hfi_spread_model *s = &x->spread;
    const double lost = (x->sign > 0.0 ? model->below : model->above) + model->rounding;
    const double tolerance = x->problem->settings.tolerance / x->problem->scale;
    /* No bound of -sd is above 0, and one of sd at or below 0 is nothing. */
    const double wanted = x->enough * x->enough - s->noise;
    double enough = (double)INFINITY;
    if (x->sign * x->enough > 0.0 && isfinite(x->enough)) enough = x->sign * (wanted - s->var) + lost;
    const hfi_cubic cubic = {
        .m = x->m, .sign = x->sign, .g = model->g, .h = model->h, .t = model->t, .ball = x->ball};
    const hfi_cubic_effort effort = {.parts = HFI_PARTS,
                                     .enough = enough,
                                     .want = 0.1 * lost + 0.04 * tolerance * sqrt(fmax(s->var, 0.0))};
    double *work = x->b->models + hfi_taylor_spread_scratch(x->made->taylor);
    const double least = hfi_cubic_lower(&cubic, &effort, point, predicted, x->b->gap, work);
    return s->var + x->sign * (least - lost);
}

/* ---- parts that are not worth a model ---------------------------------------------------------------------------- */

enum {
    LEVELS = 3 /* of halving without looking: HFI_LEAVES parts */
};

/* A part by the features' linear model of the box: |phi|^2 about value + g'u + u'H u / 2. */
typedef struct guess {
    double value;
    double *g, *h, *half; /* m, m x m, m */
} guess;

size_t hfi_plan_scratch(size_t m)
{
    return (LEVELS + 1) * (m * m + 2 * m) + m;
}

static guess guess_at(const hfi_bounds_box *x, size_t level)
{
    double *at = x->b->plan + x->m + level * (x->m * x->m + 2 * x->m);
    return (guess){0.0, at, at + x->m, at + x->m + x->m * x->m};
}

/* Whether the cubic model would lose what there is between what has to be shown and the least value that is
 * expected: the part has to be split anyway. *split := where. */
static bool is_hopeless(const hfi_bounds_box *x, const guess *part, size_t *split)
{
    const hfi_spread_model *s = &x->spread;
    double predicted, most = -1.0, *gap = x->b->plan;
    (void)hfi_quadratic_lower(x->m, x->sign, part->g, part->h, NULL, x->b->point, &predicted, gap,
                              x->b->work);
    const double there = x->sign * part->value + predicted,
                 wanted = x->enough * fabs(x->enough) - x->sign * s->noise;
    for (size_t a = 0; a < x->m; a++) {
        const double shrunk = x->half[a] > 0.0 ? part->half[a] / x->half[a] : 0.0,
                     share = gap[a] + s->remainder_share[a] * shrunk * shrunk;
        if (!(share > most) || !(part->half[a] > 0.0)) continue;
        most = share;
        *split = a;
    }
    return most >= 0.0 && hfi_taylor_square_estimate(x->made->taylor, part->half, s) > there - wanted;
}

/* The half of a part on one side. */
static guess halve(const hfi_bounds_box *x, const guess *part, size_t f, double sign, size_t level)
{
    const size_t m = x->m;
    guess half = guess_at(x, level);
    const double d = 0.5 * sign;
    half.value = part->value + d * (part->g[f] + 0.5 * d * part->h[f * m + f]);
    memcpy(half.h, part->h, m * m * sizeof *half.h);
    memcpy(half.half, part->half, m * sizeof *half.half);
    for (size_t a = 0; a < m; a++) {
        half.g[a] = part->g[a] + d * part->h[a * m + f];
        half.h[a * m + f] *= 0.5;
        half.h[f * m + a] *= 0.5;
    }
    half.g[f] *= 0.5;
    half.half[f] *= 0.5;
    return half;
}

/* Writes the plan of a part from place `at` on; returns the place behind it. */
static size_t make_plan(const hfi_bounds_box *x, const guess *part, size_t level, size_t at)
{
    size_t split = 0;
    if (level == LEVELS || !is_hopeless(x, part, &split)) {
        x->plan[at] = 0;
        return at + 1;
    }
    x->plan[at++] = (unsigned char)(split + 1);
    for (int side = -1; side < 2; side += 2) {
        const guess half = halve(x, part, split, (double)side, level + 1);
        at = make_plan(x, &half, level + 1, at);
    }
    return at;
}

/* Whether the box is not worth the cubic model; it then has a plan of parts that are, or that are small. */
static bool plans_parts(const hfi_bounds_box *x)
{
    const hfi_spread_model *s = &x->spread;
    guess box = guess_at(x, 0);
    if (!isfinite(x->enough)) return false;
    box.value = s->var;
    memcpy(box.half, x->half, x->m * sizeof *box.half);
    for (size_t a = 0; a < x->m; a++) box.g[a] = 2.0 * s->b[a];
    for (size_t k = 0; k < x->m * x->m; k++) box.h[k] = 2.0 * s->g[k];
    (void)make_plan(x, &box, 0, 0);
    return x->plan[0] != 0;
}

void hfi_bound_square(hfi_bounds_box *x, double *point, signed char *face)
{
    const hfi_spread_model *s = &x->spread;
    const hfi_bounds_scratch *b = x->b;
    const double unit = 8.0 * DBL_EPSILON;
    double predicted;
    if (!(s->remainder < (double)INFINITY) || s->white_fall > 0.0 || s->white_rise > 0.0) return;
    if (plans_parts(x)) return;
    const hfi_square_model model = make_square(x);
    hfi_find_faces(x, model.g, model.h, model.slope_error, 4.0 * model.rounding, face);
    const double square = extreme_variance(x, &model, b->point, &predicted);
    if (!(fabs(square) <= DBL_MAX)) return;
    const double end = hfi_root(hfi_root(square) * hfi_root(square) + s->noise);
    const double bound = x->sign * end - unit * (end + s->ceiling);
    if (!(bound > x->bound)) return;
    x->bound = bound;
    x->predicted = x->sign * hfi_root(s->var + x->sign * predicted + s->noise);
    memcpy(point, b->point, x->m * sizeof *point);
    const double lost = x->sign > 0.0 ? model.below : model.above;
    for (size_t a = 0; a < x->m; a++) {
        b->best_gap[a] = b->gap[a];
        s->remainder_share[a] = lost * model.share[a];
    }
}

void hfi_find_faces(const hfi_bounds_box *x, const double *g, const double *h, const double *error,
                    double rounding, signed char *face)
{
    for (size_t a = 0; a < x->m; a++) {
        double radius = error[a] + rounding;
        for (size_t c = 0; c < x->m; c++) radius += fabs(h[a * x->m + c]);
        const double slope = x->sign * g[a];
        face[a] = slope > radius ? -1 : slope < -radius ? 1 : 0;
    }
}
