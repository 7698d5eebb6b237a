/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of the value that is asked about over boxes, from the models of mean and standard deviation and from
 * the other kinds. Everything here is about sign value, whose least is looked for. */
#include "bound/link.h"
#include "decomposition/decomposition.h"
#include "moments/bounds_impl.h"
#include "taylor/loops.h"

#include <float.h>
#include <math.h>
#include <string.h>

static size_t lay_out_bounds_scratch(size_t m, size_t d, double *scratch, hfi_bounds_scratch *b)
{
    return HFI_LAY_OUT(
        scratch, HFI_ROOMS(b->centre, d, HFI_TOGETHER), HFI_ROOMS(b->half, m, HFI_TOGETHER),
        HFI_ROOMS(b->mean, m * m + 3 * m, HFI_TOGETHER), HFI_ROOMS(b->spread, m * m + 2 * m, HFI_TOGETHER),
        HFI_ROOM(b->g, m), HFI_ROOMS(b->h, m, m), HFI_ROOM(b->gap, m), HFI_ROOM(b->point, m),
        HFI_ROOM(b->best_gap, m), HFI_ROOM(b->full, d), HFI_ROOM(b->sides, 4 * d),
        HFI_ROOM(b->work, hfi_quadratic_work(m)), HFI_ROOM(b->cubic, m <= HFI_SHARP_INPUTS ? m * m * m : 0),
        HFI_ROOM(b->square, m * m + 3 * m), HFI_ROOM(b->ball, 2 * m), HFI_ROOM(b->plan, hfi_plan_scratch(m)),
        HFI_ROOM(b->models, 0));
}

size_t hfi_moments_scratch(size_t m, size_t d)
{
    hfi_bounds_scratch b;
    return lay_out_bounds_scratch(m, d, NULL, &b);
}

size_t hfi_moments_sharp_scratch(const hfi_taylor *taylor)
{
    const size_t third = hfi_taylor_third_scratch(taylor), pairs = hfi_taylor_sharpen_scratch(taylor),
                 square = hfi_taylor_square_scratch(taylor);
    size_t models = third > pairs ? third : pairs;
    if (square > models) models = square;
    if (models == 0) return 0;
    const size_t parts = hfi_cubic_work(taylor->m, HFI_PARTS);
    return models > parts ? models : parts;
}

/* A bound constant + the least of g'u + u'H u / 2 - lost; kept if it is better than what there is. */
static void offer_quadratic(hfi_bounds_box *x, const double *g, const double *h, double constant, double lost)
{
    const hfi_bounds_scratch *b = x->b;
    double predicted;
    const double least = hfi_quadratic_lower(x->m, 1.0, g, h, x->ball, b->point, &predicted, b->gap, b->work);
    const double bound = constant + least - lost;
    if (!(bound > x->bound)) return;
    x->bound = bound;
    x->predicted = constant + predicted;
    x->own = true;
    memcpy(b->best_gap, b->gap, x->m * sizeof *b->gap);
}

static void offer(hfi_bounds_box *x, double bound)
{
    if (bound > x->bound) x->bound = bound;
}

/* ---- mean -------------------------------------------------------------------------------------------------------- */

/* The least of the sharpened model, as far as the question needs it. */
static double least_cubic(const hfi_bounds_box *x, double lost, double *point, double *predicted)
{
    const hfi_certify_problem *q = x->problem;
    const hfi_cubic cubic = {
        .m = x->m, .sign = x->sign, .g = x->mean->g, .h = x->mean->h, .t = x->mean->cubic, .ball = x->ball};
    const hfi_cubic_effort effort = {
        .parts = x->of_spread ? HFI_PARTS / 4 : HFI_PARTS,
        .enough = !x->of_spread ? x->enough + lost - x->sign * x->mean->value : (double)INFINITY,
        .want = 0.1 * x->mean->outside + 0.02 * q->settings.tolerance / q->scale};
    return hfi_cubic_lower(&cubic, &effort, point, predicted, x->b->best_gap, x->b->models);
}

void hfi_bound_mean(hfi_bounds_box *x, double *point)
{
    const hfi_mean_model *model = x->mean;
    const hfi_bounds_scratch *b = x->b;
    const double lost = model->outside + model->rounding, value = x->sign * model->value;
    double predicted;
    const double least = model->has_cubic ? least_cubic(x, lost, point, &predicted)
                                          : hfi_quadratic_lower(x->m, x->sign, model->g, model->h, x->ball,
                                                                point, &predicted, b->best_gap, b->work);
    x->bound = value + least - lost;
    x->predicted = value + predicted;
    x->own = true;
    offer(x, (x->sign > 0.0 ? model->crude_lower : -model->crude_upper) - model->rounding);
    if (!(x->bound >= -DBL_MAX)) x->bound = -(double)INFINITY;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

/* factor sd from below by its tangent in the feature space: sd >= (var + b'u) / sd(c) - remainder, factor >= 0. */
static void join_lower(hfi_bounds_box *x, double factor)
{
    const hfi_mean_model *mean = x->mean;
    const hfi_spread_model *s = &x->spread;
    const hfi_bounds_scratch *b = x->b;
    const double var = s->var + s->noise, rounding = s->rounding + 4.0 * DBL_EPSILON * s->noise;
    if (!(s->remainder < (double)INFINITY) || s->white_rise > 0.0 || !(var > 4.0 * rounding)) return;
    const double sd = sqrt(var);
    for (size_t a = 0; a < x->m; a++) b->g[a] = x->sign * mean->g[a] + factor * s->b[a] / sd;
    for (size_t k = 0; k < x->m * x->m; k++) b->h[k] = x->sign * mean->h[k];
    offer_quadratic(x, b->g, b->h, x->sign * mean->value + factor * sd,
                    mean->remainder + mean->rounding + factor * (s->remainder + 4.0 * rounding / sd));
}

/* - factor sd by the parabola that touches the root at `at`: sd <= (square + at^2) / (2 at) + remainder,
 * factor >= 0. */
static void join_upper(hfi_bounds_box *x, double factor, double at)
{
    const hfi_mean_model *mean = x->mean;
    const hfi_spread_model *s = &x->spread;
    const hfi_bounds_scratch *b = x->b;
    const double var = s->var + s->noise, rounding = s->rounding + 4.0 * DBL_EPSILON * s->noise;
    if (!(s->remainder < (double)INFINITY) || s->white_rise > 0.0 || !(at * at > 4.0 * rounding)) return;
    for (size_t a = 0; a < x->m; a++) b->g[a] = x->sign * mean->g[a] - factor * s->b[a] / at;
    for (size_t k = 0; k < x->m * x->m; k++) b->h[k] = x->sign * mean->h[k] - factor * s->g[k] / at;
    offer_quadratic(x, b->g, b->h, x->sign * mean->value - factor * 0.5 * (var / at + at),
                    mean->remainder + mean->rounding + factor * (s->remainder + 2.0 * rounding / at));
}

void hfi_bound_both(hfi_bounds_box *x, double *point)
{
    const hfi_bounds_scratch *b = x->b;
    const double factor = x->sign * x->problem->settings.beta;
    hfi_bound_mean(x, point);
    const double shift = factor >= 0.0 ? factor * hfi_lowest_sd(x, b->point, b->gap)
                                       : factor * hfi_highest_sd(x, b->point, b->gap);
    x->predicted += factor * hfi_centre_sd(x);
    x->bound += shift;
    if (factor > 0.0) join_lower(x, factor);
    if (factor < 0.0) {
        join_upper(x, -factor, hfi_centre_sd(x));
        join_upper(x, -factor, hfi_highest_sd(x, b->point, b->gap));
    }
}

/* ---- probability ------------------------------------------------------------------------------------------------- */

/* Sign p is P(sign mean, sd), less 1 where the sign is -1: P(-q, s) = 1 - P(q, s). */
static double below_one(const hfi_bounds_box *x)
{
    return x->sign > 0.0 ? 0.0 : 1.0;
}

static hfi_link link_of(const hfi_bounds_box *x)
{
    return (hfi_link){x->problem->quantity->link, x->problem->settings.beta};
}

/* The least of sign mean + factor times the features' length in the box. */
static double least_joint(const hfi_bounds_box *x, const hfi_spread_model *spread, double factor,
                          double crude)
{
    hfi_bounds_box y = *x;
    y.spread = *spread;
    y.bound = crude;
    if (factor > 0.0) join_lower(&y, factor);
    if (factor < 0.0) join_upper(&y, -factor, hfi_root(spread->var));
    return y.bound;
}

/* Probit: P = Phi(r) with r = sign mean / S, S = sqrt(lambda^-2 + sd^2) the length of the features with a
 * constant one added. For any t, r - t = (sign mean - t S) / S. The second t is the bound that the first, the
 * centre's r, gives. */
static double least_ratio(const hfi_bounds_box *x, double least_mean, double low, double high)
{
    const double lambda = x->problem->settings.beta, one = 1.0 / (lambda * lambda);
    hfi_spread_model longer = x->spread;
    longer.var = fmax(longer.var, 0.0) + one;
    longer.rounding += 8.0 * DBL_EPSILON * longer.var;
    longer.ceiling = sqrt(one + longer.ceiling * longer.ceiling);
    const double shortest = sqrt(one + low * low), longest = sqrt(one + high * high);
    double best = least_mean / (least_mean > 0.0 ? longest : shortest);
    double t = x->sign * x->mean->value / sqrt(longer.var);
    for (int round = 0; round < 2; round++) {
        const double crude = least_mean - t * (t > 0.0 ? longest : shortest);
        const double least = least_joint(x, &longer, -t, crude);
        const double ratio = t + fmin(least / shortest, least / longest);
        best = fmax(best, ratio - 8.0 * DBL_EPSILON * (fabs(t) + fabs(ratio)));
        t = ratio;
        if (!isfinite(t)) break;
    }
    return best;
}

/* Logit: the linear model of P at the centre, whose minimum is one of mean + beta sd. */
static double least_linear(const hfi_bounds_box *x, double least_mean, double most_mean, double low,
                           double high)
{
    const double q = x->sign * x->mean->value, s = hfi_root(x->spread.var);
    double of_q, of_s;
    hfi_link_slopes(link_of(x), q, s, &of_q, &of_s);
    if (!(of_q > 1e-12)) return -(double)INFINITY;
    const double beta = of_s / of_q;
    const double joint = least_joint(x, &x->spread, beta, least_mean + fmin(beta * low, beta * high));
    const double dq = fmax(q - least_mean, most_mean - q), ds = fmax(s - low, high - s);
    return hfi_link_value(link_of(x), q, s) + of_q * (joint - q - beta * s) -
           hfi_link_curvature(link_of(x), dq, ds);
}

/* The least of the mean comes last, as what it expects is where the box is looked at. */
static void bound_link(hfi_bounds_box *x, bool joint, double *point)
{
    const hfi_bounds_scratch *b = x->b;
    const hfi_link link = link_of(x), plain = {link.link, 1.0};
    x->sign = -x->sign;
    hfi_bound_mean(x, point);
    const double most_mean = -x->bound;
    x->sign = -x->sign;
    hfi_bound_mean(x, point);
    const double least_mean = x->bound;
    const double low = hfi_lowest_sd(x, b->point, b->gap), high = hfi_highest_sd(x, b->point, b->gap);
    double least = hfi_link_least(link, least_mean, low, high);
    if (joint)
        least = fmax(least, hfi_link_least(plain, least_ratio(x, least_mean, low, high), 0.0, 0.0));
    else
        least = fmax(least, least_linear(x, least_mean, most_mean, low, high));
    x->predicted = hfi_link_value(link, x->predicted, hfi_root(x->spread.var)) - below_one(x);
    x->bound = least - below_one(x);
    x->own = true;
}

void hfi_bound_probit(hfi_bounds_box *x, double *point)
{
    bound_link(x, true, point);
}

void hfi_bound_logit(hfi_bounds_box *x, double *point)
{
    bound_link(x, false, point);
}

/* ---- the decomposition ------------------------------------------------------------------------------------------- */

/* Bound A of the mean. */
static void bound_decomposition(hfi_bounds_box *x, double *scratch)
{
    const hfi_certify_problem *q = x->problem;
    const hfi_bounds_scratch *b = x->b;
    if (!x->made->decomposition) return;
    const size_t d = q->subject.d;
    hfi_enclosure e = {.gap_lower = b->sides,
                       .gap_upper = b->sides + d,
                       .at_lower = b->sides + 2 * d,
                       .at_upper = b->sides + 3 * d};
    memset(b->full, 0, d * sizeof *b->full);
    for (size_t f = 0; f < x->m; f++) b->full[q->subject.free[f]] = x->half[f];
    hfi_decomposition_mean(x->made->decomposition, x->centre, b->full, scratch, &e);
    const double bound = x->sign > 0.0 ? e.lower : -e.upper;
    if (!(bound > x->bound)) return;
    x->bound = bound;
    x->own = false;
    for (size_t f = 0; f < x->m; f++)
        b->best_gap[f] = (x->sign > 0.0 ? e.gap_lower : e.gap_upper)[q->subject.free[f]];
}

/* ---- a box ------------------------------------------------------------------------------------------------------- */

/* The input that adds most to what the bound may be off; the widest where nothing tells. */
static size_t choose_split(const hfi_bounds_box *x)
{
    const hfi_certify_problem *q = x->problem;
    hfi_split best = {.most = -1.0, .widest = -1.0};
    for (size_t a = 0; a < x->m; a++) {
        if (!(x->half[a] > 0.0)) continue;
        double share = x->b->best_gap[a];
        if (x->own && x->of_mean) share += x->mean->remainder_share[a];
        if (x->own && x->of_spread) share += x->spread.remainder_share[a];
        hfi_split_offer(&best, a, share, x->half[a] / q->subject.extent[a]);
    }
    return best.input;
}

static double centre_value(const hfi_bounds_box *x)
{
    const hfi_quantity *of = x->problem->quantity;
    return x->sign * of->value(of, x->problem->settings.beta, x->of_mean ? x->mean->value : 0.0,
                               x->of_spread ? hfi_centre_sd(x) : 0.0);
}

static double box_rounding(const hfi_bounds_box *x)
{
    const hfi_quantity *of = x->problem->quantity;
    double of_sd = 0.0;
    if (x->of_spread) {
        const double sd = hfi_centre_sd(x), r = x->spread.rounding + 8.0 * DBL_EPSILON * x->spread.noise;
        of_sd = sd * sd > r ? r / sd : sqrt(r);
    }
    return of->rounding(of, x->problem->settings.beta, x->of_mean ? x->mean->rounding : 0.0, of_sd);
}

static void scale_box_bound(const hfi_bounds_box *x, hfi_box_bound *out)
{
    const hfi_certify_problem *q = x->problem;
    const double shift = x->sign * q->shift, up = q->scale;
    const double centre = centre_value(x);
    out->centre = shift + up * centre;
    out->predicted = shift + up * x->predicted;
    const double bound = shift + up * x->bound;
    out->bound = bound - 4.0 * DBL_EPSILON * (fabs(shift) + fabs(bound));
    if (!(out->bound >= -DBL_MAX)) out->bound = -(double)INFINITY;
    out->rounding = up * box_rounding(x);
    /* The centre need not be in the ball. */
    out->slack = x->ball ? (double)INFINITY : out->centre - out->bound;
    out->split = choose_split(x);
    for (size_t a = 0; a < x->m; a++)
        out->point[a] = x->centre[q->subject.free[a]] + x->half[a] * out->point[a];
}

/* A sharper model costs about n / 12 others, and leaves an eighth of the remainder or less: a box that lacks
 * `gain` would otherwise be split into some gain^(m / 3) parts. The whole box, of which there is but one, is
 * always worth it. */
static bool is_worth_sharpening(const hfi_bounds_box *x)
{
    const hfi_certify_problem *q = x->problem;
    const double most = 8.0;
    if (!x->of_mean || !(q->settings.bounds & HF_BOUND_TAYLOR) || !(x->bound < x->enough) ||
        !hfi_taylor_can_sharpen(x->made->taylor))
        return false;
    const double n = (double)x->made->taylor->n, pairs = fmin(n, HFI_SHARP_ANCHORS);
    if (!(x->enough < (double)INFINITY)) return n <= 10000.0;
    const double spare = x->predicted - x->enough, lost = x->mean->remainder;
    const double gain = lost < most * spare ? lost / spare : most;
    return pow(gain, (double)x->m / 3.0) > pairs * pairs / n / 12.0;
}

/* Cubic terms cost about m / 3 others, and make up for more. */
static bool is_worth_third(const hfi_bounds_box *x)
{
    const hfi_certify_problem *q = x->problem;
    return x->of_mean && (q->settings.bounds & HF_BOUND_TAYLOR) && x->bound < x->enough &&
           hfi_taylor_has_third(x->made->taylor);
}

/* The variance's cubic terms cost a few others, and make up for more. */
static bool is_worth_square(const hfi_bounds_box *x)
{
    const hfi_certify_problem *q = x->problem;
    return !x->of_mean && (q->settings.bounds & HF_BOUND_FEATURE) && x->bound < x->enough &&
           hfi_taylor_has_square(x->made->taylor);
}

/* The bound once more, with a model that `sharpen` has made sharper. */
static void bound_again(hfi_bounds_box *x, double *models, double *point,
                        void (*sharpen)(const hfi_taylor *, const double *, const double *, hfi_mean_model *,
                                        double *))
{
    const double before = x->bound;
    sharpen(x->made->taylor, x->centre, x->half, x->mean, models);
    x->problem->quantity->bound(x, point);
    x->bound = fmax(x->bound, before);
}

static void bound_one(hfi_bounds_box *x, double *models, hfi_box_bound *out)
{
    const hfi_certify_problem *q = x->problem;
    const size_t m = x->m;
    memset(out->face, 0, m * sizeof *out->face);
    q->quantity->bound(x, out->point);
    if (is_worth_third(x)) bound_again(x, models, out->point, hfi_taylor_third);
    if (is_worth_square(x)) hfi_bound_square(x, out->point, out->face);
    if (is_worth_sharpening(x)) bound_again(x, models, out->point, hfi_taylor_sharpen);
    const unsigned own =
        (x->of_mean ? (unsigned)HF_BOUND_TAYLOR : 0u) | (x->of_spread ? (unsigned)HF_BOUND_FEATURE : 0u);
    if ((q->settings.bounds & own) != own) x->bound = -(double)INFINITY;
    if (!x->of_spread && (q->settings.bounds & HF_BOUND_TAYLOR))
        hfi_find_faces(x, x->mean->g, x->mean->h, x->mean->slope_error, 4.0 * x->mean->rounding, out->face);
    bound_decomposition(x, models);
    scale_box_bound(x, out);
}

/* Centres and half-widths, the latter rounded up. */
static void compute_box_centres(const hfi_certify_problem *q, size_t count, const double *low,
                                const double *high, const hfi_bounds_scratch *b)
{
    const size_t m = q->subject.free_count, d = q->subject.d;
    for (size_t k = 0; k < count; k++) {
        double *centre = b->centre + k * d, *half = b->half + k * m;
        memcpy(centre, q->subject.middle, d * sizeof *centre);
        for (size_t f = 0; f < m; f++) {
            const double l = low[k * m + f], h = high[k * m + f], c = 0.5 * (l + h);
            centre[q->subject.free[f]] = c;
            half[f] = fmax(h - c, c - l) * (1.0 + 2.0 * DBL_EPSILON);
        }
    }
}

void hfi_moments_bounds(void *of, int thread, double sign, double enough, size_t count, const double *low,
                        const double *high, hfi_box_bound *bounds)
{
    const hfi_certify_problem *q = of;
    const hfi_moments_state *made = q->state;
    const size_t m = q->subject.free_count, d = q->subject.d, one = m * m + 3 * m;
    hfi_bounds_scratch b;
    (void)lay_out_bounds_scratch(m, d, hfi_problem_scratch(q, thread), &b);
    hfi_mean_model models[HFI_TOGETHER] = {{0}};
    hfi_spread_model spreads[HFI_TOGETHER] = {{0}};
    compute_box_centres(q, count, low, high, &b);
    const bool mean = q->quantity->mean, spread = q->quantity->sd;
    if (mean) {
        for (size_t k = 0; k < count; k++) {
            double *at = b.mean + k * one;
            models[k] = (hfi_mean_model){.g = at,
                                         .slope_error = at + m,
                                         .remainder_share = at + 2 * m,
                                         .h = at + 3 * m,
                                         .cubic = b.cubic};
        }
        hfi_taylor_mean(made->taylor, count, b.centre, b.half, models, b.models);
    }
    if (spread) {
        for (size_t k = 0; k < count; k++) {
            double *at = b.spread + k * (m * m + 2 * m);
            spreads[k] = (hfi_spread_model){.b = at, .g = at + m, .remainder_share = at + m + m * m};
        }
        hfi_taylor_spread(made->taylor, count, b.centre, b.half, spreads, b.models);
        for (size_t k = 0; k < count; k++) spreads[k].noise = q->noise;
    }
    for (size_t k = 0; k < count; k++) {
        hfi_bounds_box x = {.problem = q,
                            .made = made,
                            .b = &b,
                            .sign = sign,
                            .m = m,
                            .centre = b.centre + k * d,
                            .half = b.half + k * m,
                            .plan = bounds[k].plan,
                            .mean = &models[k],
                            .of_mean = mean,
                            .of_spread = spread,
                            .spreads = spreads + k,
                            .spread_count = count - k,
                            .spread = spreads[k],
                            .bound = -(double)INFINITY,
                            .enough = (enough - sign * q->shift) / q->scale};
        hfi_ball ball;
        for (size_t f = 0; f < m; f++) b.point[f] = x.centre[q->subject.free[f]];
        if (hfi_problem_ball(q, b.point, x.half, b.ball, &ball)) x.ball = &ball;
        bound_one(&x, b.models, &bounds[k]);
    }
}
