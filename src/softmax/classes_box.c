/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of class probabilities over boxes, for the search. */
#include "softmax/classes_impl.h"
#include "softmax/classes_order.h"
#include "taylor/quadratic.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    CHEAP = 64 /* jets, of all classes, that a box may have of its own without asking */
};

static size_t most_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Boxes whose own jets are made together, unasked; 1: where one lacks them. */
static size_t jets_together(const hfi_classes *c)
{
    const bool cheap = !c->heavy && c->classes * hfi_jet_count(c->m, c->local_degree) <= CHEAP;
    return cheap ? HFI_TOGETHER : 1;
}

static size_t mean_size(size_t m)
{
    return m * m + 3 * m;
}

static size_t lay_out_box_scratch(const hfi_classes *c, double *scratch, hfi_box_scratch *b)
{
    const size_t m = c->m, d = c->d, n = c->classes, square = n * n, boxes = n * HFI_TOGETHER;
    size_t mean = 0;
    for (size_t i = 0; i < n; i++) mean = most_of(mean, hfi_taylor_mean_scratch(&c->side[i].taylor));
    return HFI_LAY_OUT(
        scratch, HFI_ROOM(b->centre, d * HFI_TOGETHER), HFI_ROOM(b->half, m * HFI_TOGETHER),
        HFI_ROOM(b->models, boxes * (sizeof(hfi_mean_model) / sizeof(double) + 1)),
        HFI_ROOM(b->means, boxes * mean_size(m)),
        HFI_ROOM(b->covariance, square * (3 + m + m * (m + 1) / 2) + 2 * n + m), HFI_ROOM(b->tilt, m + m * m),
        HFI_ROOM(b->g, m), HFI_ROOM(b->h, m * m), HFI_ROOM(b->gap, m), HFI_ROOM(b->point, m),
        HFI_ROOM(b->work, hfi_quadratic_work(m)), HFI_ROOM(b->best_gap, m), HFI_ROOM(b->at, n),
        HFI_ROOM(b->p, n), HFI_ROOM(b->q, n), HFI_ROOM(b->third, hfi_third_count(n)),
        HFI_ROOM(b->third2, hfi_third_count(n)),
        HFI_ROOM(b->fifth, hfi_tensors_wanted(n) ? hfi_fifth_count(n) : 0),
        HFI_ROOM(b->tensor, hfi_tensor_room(n)), HFI_ROOM(b->fine, m * m), HFI_ROOM(b->bent, m * m),
        HFI_ROOM(b->a, n), HFI_ROOM(b->w, n), HFI_ROOM(b->w2, n), HFI_ROOM(b->low, n),
        HFI_ROOM(b->curve, square), HFI_ROOM(b->spare, square), HFI_ROOM(b->wide, square),
        HFI_ROOM(b->factor, square), HFI_ROOM(b->row, n), HFI_ROOM(b->highest, n), HFI_ROOM(b->along, m),
        HFI_ROOM(b->white, (m + 2) * square + n), HFI_ROOM(b->place, m * HFI_TOGETHER),
        HFI_ROOM(b->place2, m), HFI_ROOM(b->full, d), HFI_ROOM(b->ball, 2 * m),
        HFI_ROOM(b->shape, hfi_covariance_scratch(c)), HFI_ROOM(b->moments, hfi_rules_scratch(&c->quick)),
        HFI_ROOM(b->jets, jets_together(c) * hfi_jets_room(c, c->local_degree)),
        HFI_ROOM(b->scratch, most_of(most_of(mean, hfi_jets_scratch(c, c->degree, 1)),
                                     hfi_jets_scratch(c, c->local_degree, jets_together(c)))));
}

size_t hfi_classes_scratch(const hfi_classes *classes)
{
    hfi_box_scratch b;
    return lay_out_box_scratch(classes, NULL, &b);
}

/* ---- a box ------------------------------------------------------------------------------------------------------- */

static void covariance_arrays(const hfi_box *x, hfi_covariance_model *s)
{
    const size_t square = x->n * x->n, m = x->m;
    s->here = x->b->covariance;
    s->lost = s->here + square;
    s->linear = s->lost + square;
    s->square = s->linear + m * square;
    s->remainder = s->square + m * (m + 1) / 2 * square;
    s->moved = s->remainder + x->n;
    s->share = s->moved + x->n;
    s->meets = s->share + m;
}

/* Whether jets of its own would serve the box better than those of the whole one. */
static bool wants_own(const hfi_box *x)
{
    const hfi_classes *c = x->c;
    double by_whole = 0.0, by_own = 0.0;
    for (size_t i = 0; i < x->n; i++) {
        by_whole += hfi_jets_remainder(c, c->degree, c->whole.centre, i, x->centre, x->half, x->b->full);
        by_own += hfi_jets_remainder(c, c->local_degree, x->centre, i, x->centre, x->half, x->b->full);
    }
    return by_own < 0.7 * by_whole;
}

static void find_covariance(hfi_box *x, const hfi_jets *jets)
{
    const hfi_box_scratch *b = x->b;
    hfi_covariance_of_box(x->c, jets, x->centre, x->half, &x->s, b->shape);
    for (size_t i = 0; i < x->n; i++) b->at[i] = x->mean[i].value;
    x->error = hfi_moments(&x->c->quick, b->at, x->s.here, b->p, b->third, b->moments);
    x->fifth = false;
    hfi_box_sizes(x);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Takes sign times a functional that is asked about in hand; false: there is none of that number. */
static bool take_row(hfi_box *x, double sign, size_t row)
{
    double *a = x->b->a, size;
    if (!hfi_classes_row(x->c, row, a)) return false;
    const double centre = hfi_classes_centre(x->n, a, &size);
    for (size_t b = 0; b < x->n; b++) a[b] *= sign;
    hfi_box_take(x, sign * centre, size);
    return true;
}

/* sign P_c in hand. */
static void take_class(hfi_box *x, double sign, size_t c)
{
    memset(x->b->a, 0, x->n * sizeof *x->b->a);
    x->b->a[c] = sign;
    hfi_box_take(x, 0.0, 1.0);
}

/* Keeps the better one of the bound that there is and another one. */
static void offer(hfi_box *x, double bound)
{
    x->bound = fmax(x->bound, bound);
}

static bool is_enough(const hfi_box *x)
{
    return x->bound >= x->enough;
}

/* The lesser of two functionals, with sign -1 of two that stand with their sign turned: the value is the
 * least of all. */
static double lesser_of(double sign, double a, double b)
{
    return sign > 0.0 ? fmin(a, b) : fmax(a, b);
}

/* The least functional by Taylor's formula; with sign -1 none has the whole below the best of the bounds. */
static double by_taylor(hfi_box *x, double sign, bool fine, double *point)
{
    const size_t m = x->m;
    const hfi_box_scratch *b = x->b;
    double best = sign * (double)INFINITY, predicted = best, *own = b->place2;
    x->here = best;
    x->least_osc = (double)INFINITY;
    for (size_t row = 0; row < x->n; row++) {
        if (!take_row(x, sign, row)) continue;
        if (fine) hfi_box_refine(x);
        const double bound = hfi_box_by_taylor(x, own, b->gap);
        x->least_osc = fmin(x->least_osc, x->osc);
        x->here = lesser_of(sign, x->here, x->base);
        if (sign * x->predicted < sign * predicted) {
            predicted = x->predicted;
            memcpy(point, own, m * sizeof *point);
        }
        if (!(sign * bound < sign * best)) continue;
        best = bound;
        memcpy(b->best_gap, b->gap, m * sizeof *b->gap);
    }
    x->predicted = predicted;
    return best;
}

/* Densities bound sign v'P: with k the class of the largest weight it is v_k + sum_b (v_b - v_k) P_b, where
 * the other classes are no more likely than their densities let them be. More than one of these are not
 * looked for where class k is not likely at the centre. */
static double row_by_densities(hfi_box *x, const double *v, double sign, double *top)
{
    const size_t n = x->n;
    double *highest = x->b->highest, bound, size = 0.0;
    size_t k = 0, others = 0;
    double floor = (double)INFINITY;
    for (size_t b = 0; b < n; b++) {
        floor = fmin(floor, sign * v[b]);
        size = fmax(size, fabs(v[b]));
        if (sign * v[b] > sign * v[k]) k = b;
    }
    for (size_t b = 0; b < n; b++) others += v[b] != v[k];
    bound = *top = sign * v[k];
    if (others > 1 && !(x->b->p[k] > 0.5)) return floor;
    for (size_t b = 0; b < n; b++) {
        if (v[b] == v[k]) continue;
        if (isnan(highest[b])) highest[b] = fmin(hfi_box_by_density(x, b), 1.0);
        bound += (sign * v[b] - sign * v[k]) * highest[b];
    }
    return fmax(floor, others > 1 ? bound - 1e-12 * size : bound);
}

/* All functionals by densities. */
static double by_densities(hfi_box *x, double sign)
{
    double best = sign * (double)INFINITY, top, *v = x->b->row;
    for (size_t row = 0; row < x->n; row++) {
        if (!hfi_classes_row(x->c, row, v)) continue;
        const double bound = row_by_densities(x, v, sign, &top);
        if (!(sign * bound < sign * best)) continue;
        best = bound;
        x->top = top;
    }
    return best;
}

/* All functionals where P_c is surely at least p: the other classes share the rest. */
static double by_least_probability(const hfi_box *x, size_t c, double p)
{
    double best = (double)INFINITY, *v = x->b->row;
    for (size_t row = 0; row < x->n; row++) {
        double least = (double)INFINITY;
        if (!hfi_classes_row(x->c, row, v)) continue;
        for (size_t b = 0; b < x->n; b++)
            if (b != c) least = fmin(least, v[b]);
        best = fmin(best, p * v[c] + (1.0 - p) * least - 8.0 * DBL_EPSILON * (fabs(v[c]) + fabs(least)));
    }
    return best;
}

/* Sign times the value in the box. Densities put most boxes aside that can be, and need no more moments than the first;
 * where what the others lose at least leaves them a chance, they get it. */
static void bound_value(hfi_box *x, double sign, double *point)
{
    const hfi_quantity *of = x->c->quantity;
    const size_t c = x->c->winner;
    for (size_t b = 0; b < x->n; b++) x->b->highest[b] = (double)NAN;
    x->bound = by_taylor(x, sign, false, point);
    x->by_density = false;
    if (is_enough(x)) return;
    const double densities = by_densities(x, sign);
    x->by_density = densities > x->bound || (x->smooth && !(x->scaled_spread < 0.9));
    offer(x, densities);
    if (is_enough(x) || !hfi_box_may_do(x)) return;
    const double before = x->bound;
    if (hfi_tensors_wanted(x->n)) offer(x, by_taylor(x, sign, true, point));
    if (!is_enough(x) && !of->of_loss && (sign > 0.0 || !of->of_margin)) {
        const double predicted = x->predicted;
        take_class(x, sign, c);
        hfi_box_refine(x);
        const double own = sign > 0.0 ? hfi_box_by_vertices(x, c) : hfi_box_by_tangent(x, c, point);
        offer(x, of->of_margin ? by_least_probability(x, c, own) : own);
        x->predicted = predicted;
    }
    if (x->bound > before) x->by_density = false;
}

/* The share of input a in the curvature of softmax that Taylor's formula loses. */
static double curved_share(const hfi_box *x, size_t a)
{
    const size_t n = x->n;
    double reach = 0.0, total = 0.0, move = 0.0, spread = hfi_matrix_size(n, x->s.linear + a * n * n);
    for (size_t i = 0; i < n; i++) {
        reach += x->s.remainder[i];
        for (size_t j = 0; j < i; j++) move = fmax(move, fabs(x->mean[i].g[a] - x->mean[j].g[a]));
    }
    for (size_t c = 0; c < x->m; c++) total += x->s.share[c];
    if (total > 0.0) spread += reach * x->s.share[a] / total;
    return x->osc *
           (HFI_CUMULANT_3 * x->moves * move + 0.5 * HFI_CUMULANT_4 * (x->moves * spread + x->spread * move) +
            0.25 * HFI_CUMULANT_5 * x->spread * spread);
}

/* The input that adds most to what the bound may be off; the widest where nothing tells. Densities lose a share of
 * probabilities that grows about twice as fast as the length of X. */
static size_t choose_split(const hfi_box *x)
{
    hfi_split best = {.most = -1.0, .widest = -1.0};
    double lost = 1.0;
    if (x->scaled_spread < 0.9) lost = 2.0 * (x->top - x->here);
    for (size_t a = 0; a < x->m; a++) {
        if (!(x->half[a] > 0.0)) continue;
        double share = x->b->best_gap[a];
        for (size_t i = 0; i < x->n; i++) share += fabs(x->b->w[i]) * x->mean[i].remainder_share[a];
        share += x->by_density ? lost * x->b->along[a] : curved_share(x, a);
        hfi_split_offer(&best, a, share, x->half[a] / x->c->subject->extent[a]);
    }
    return best.input;
}

static void bound_by(hfi_box *x, double sign, const hfi_jets *jets, double *point)
{
    find_covariance(x, jets);
    bound_value(x, sign, point);
    if (!(x->bound >= -(double)INFINITY)) x->bound = -(double)INFINITY;
}

/* Whether jets of its own may be what a box lacks that is not far from done: the remainders of the features
 * are a good part of what its bound loses. */
static bool lacks_jets(const hfi_box *x)
{
    const double gap = x->here - x->bound, near = x->c->quantity->of_margin
                                                      ? 0.05 * x->c->unit
                                                      : (x->c->heavy ? 3.0 : 20.0) * x->c->tolerance;
    if (is_enough(x)) return false;
    if (x->c->quantity->of_margin ? x->bound > 0.0 || x->here < 0.0 : gap < x->c->tolerance) return false;
    if (x->tilt_lost > 0.25 * gap) return true;
    return gap < near && x->scaled_spread < 0.9 && x->spread_rest > 0.4 * x->scaled_spread;
}

/* `own`: jets that it has already; NULL: none, and where it lacks them they take the room of other boxes',
 * which have none then (jets_together()). */
static void bound_one(hfi_box *x, double sign, const hfi_jets *own, hfi_box_bound *out)
{
    const size_t n = x->n;
    double rounding = 0.0;
    memset(out->face, 0, x->m * sizeof *out->face);
    for (size_t i = 0; i < n; i++) rounding += x->mean[i].rounding;
    covariance_arrays(x, &x->s);
    bound_by(x, sign, own ? own : &x->c->whole, out->point);
    if (!own && lacks_jets(x) && wants_own(x)) {
        hfi_jets jets = hfi_jets_about(x->c, x->c->local_degree, x->centre, x->half, x->b->jets);
        hfi_jets_fill(x->c, 1, &jets, x->b->scratch);
        bound_by(x, sign, &jets, out->point);
    }
    out->bound = x->bound;
    out->centre = x->here;
    out->predicted = fmax(x->predicted, x->bound);
    out->rounding = rounding + (own ? own : &x->c->whole)->rounding + 2.0 * x->error;
    out->slack = x->ball ? (double)INFINITY : x->here - x->bound; /* the centre need not be in the ball */
    out->split = choose_split(x);
    for (size_t a = 0; a < x->m; a++) out->point[a] = x->centre[a] + x->half[a] * out->point[a];
}

/* Models of the means of one class for all boxes. */
static void model_class(const hfi_classes *c, size_t i, size_t count, const hfi_box_scratch *b,
                        hfi_mean_model *models)
{
    const size_t m = c->m, one = mean_size(m);
    for (size_t k = 0; k < count; k++) {
        double *at = b->means + (k * c->classes + i) * one;
        b->centre[k * c->d + c->d - 1] = c->side[i].subject.middle[c->d - 1];
        models[k] =
            (hfi_mean_model){.g = at, .slope_error = at + m, .remainder_share = at + 2 * m, .h = at + 3 * m};
    }
    hfi_taylor_mean(&c->side[i].taylor, count, b->centre, b->half, models, b->scratch);
}

/* Centres and half-widths of boxes, from their sides. */
static void place_boxes(const hfi_classes *c, size_t count, const double *low, const double *high,
                        const hfi_box_scratch *b)
{
    const size_t m = c->m, d = c->d;
    for (size_t k = 0; k < count; k++) {
        memcpy(b->centre + k * d, c->subject->middle, d * sizeof *b->centre);
        for (size_t f = 0; f < m; f++) {
            const double l = low[k * m + f], h = high[k * m + f], middle = 0.5 * (l + h);
            b->centre[k * d + c->subject->free[f]] = middle;
            b->half[k * m + f] = fmax(h - middle, middle - l) * (1.0 + 2.0 * DBL_EPSILON);
        }
    }
}

/* A box of which the order of the classes is known, or will be when it is split: no probability is looked at. */
static void answer_by_order(const hfi_classes *c, const hfi_ordered *of, const double *low,
                            const double *high, hfi_box_bound *out)
{
    const size_t m = c->m;
    memset(out->face, 0, m * sizeof *out->face);
    for (size_t f = 0; f < m; f++) out->point[f] = 0.5 * (low[f] + high[f]);
    out->bound = of->least > 0.0 ? DBL_MIN : -(double)INFINITY;
    out->centre = out->predicted = (double)INFINITY;
    out->rounding = of->rounding;
    out->slack = (double)INFINITY;
    out->split = of->split;
    memcpy(out->plan, of->plan, sizeof of->plan);
}

/* Answers what the order of the classes can: where all that is asked is which is ahead. The others' numbers into
 * `left`, and their places go to the front; how many there are. */
static size_t answer_orders(const hfi_certify_problem *q, double sign, double enough, size_t count,
                            const double *low, const double *high, hfi_box_bound *bounds, size_t *left,
                            const hfi_box_scratch *b, double *scratch)
{
    const hfi_classes *c = q->state;
    const size_t m = c->m, d = c->d;
    hfi_ordered found[HFI_TOGETHER];
    size_t rest = 0;
    const bool asked = c->order && enough <= DBL_MIN;
    if (asked) hfi_order_bounds(c->order, q, sign, count, b->centre, b->half, found, scratch);
    for (size_t k = 0; k < count; k++) {
        if (asked && (found[k].least > 0.0 || found[k].predicted > 0.0)) {
            answer_by_order(c, &found[k], low + k * m, high + k * m, &bounds[k]);
            continue;
        }
        memmove(b->centre + rest * d, b->centre + k * d, d * sizeof *b->centre);
        memmove(b->half + rest * m, b->half + k * m, m * sizeof *b->half);
        left[rest++] = k;
    }
    return rest;
}

/* Boxes that are placed, by moments. */
static void bound_by_moments(const hfi_certify_problem *q, double sign, double enough, size_t count,
                             const size_t *which, hfi_box_bound *bounds, const hfi_box_scratch *b)
{
    const hfi_classes *c = q->state;
    const size_t m = c->m, d = c->d, n = c->classes;
    hfi_mean_model *models = (hfi_mean_model *)b->models, together[HFI_TOGETHER];
    for (size_t i = 0; i < n; i++) {
        model_class(c, i, count, b, together);
        for (size_t k = 0; k < count; k++) models[k * n + i] = together[k];
    }
    hfi_box boxes[HFI_TOGETHER];
    hfi_jets jets[HFI_TOGETHER], *own[HFI_TOGETHER];
    size_t with_own = 0;
    const bool cheap = jets_together(c) > 1;
    for (size_t k = 0; k < count; k++) {
        double *place = b->place + k * m;
        for (size_t f = 0; f < m; f++) place[f] = b->centre[k * d + c->subject->free[f]];
        boxes[k] = (hfi_box){.c = c,
                             .b = b,
                             .m = m,
                             .n = n,
                             .centre = place,
                             .half = b->half + k * m,
                             .mean = models + k * n,
                             .enough = enough};
        own[k] = cheap && (!c->filled || wants_own(&boxes[k])) ? &jets[with_own++] : NULL;
        if (own[k])
            *own[k] = hfi_jets_about(c, c->local_degree, place, boxes[k].half,
                                     b->jets + (with_own - 1) * hfi_jets_room(c, c->local_degree));
    }
    hfi_jets_fill(c, with_own, jets, b->scratch);
    for (size_t k = 0; k < count && hfi_watch_glance(c->watch); k++) {
        hfi_ball ball;
        if (hfi_problem_ball(q, boxes[k].centre, boxes[k].half, b->ball, &ball)) boxes[k].ball = &ball;
        bound_one(&boxes[k], sign, own[k], &bounds[which[k]]);
    }
}

/* Jets about the whole box, in the first call, which is about that box alone. Where it needs none and parts have
 * their own, there will be none. */
static void fill_whole(hfi_classes *c, bool needed, double *scratch)
{
    c->asked = true;
    if (c->filled || (!needed && jets_together(c) > 1)) return;
    hfi_jets_fill(c, 1, &c->whole, scratch);
    c->filled = true;
}

void hfi_classes_bounds(const hfi_certify_problem *q, double sign, double enough, size_t count,
                        const double *low, const double *high, hfi_box_bound *bounds, double *scratch)
{
    hfi_classes *c = q->state;
    size_t left[HFI_TOGETHER];
    hfi_box_scratch b;
    const size_t own = lay_out_box_scratch(c, scratch, &b);
    place_boxes(c, count, low, high, &b);
    const size_t rest = answer_orders(q, sign, enough, count, low, high, bounds, left, &b, scratch + own);
    if (!c->asked) fill_whole(c, rest > 0, b.scratch);
    if (rest > 0) bound_by_moments(q, sign, enough, rest, left, bounds, &b);
}

/* ---- sketches ---------------------------------------------------------------------------------------------------- */

double hfi_classes_sketch(hfi_classes *c, const double *point, double *gradient)
{
    const size_t m = c->m, n = c->classes, square = n * n;
    hfi_box_scratch b;
    (void)lay_out_box_scratch(c, c->sketch, &b);
    hfi_mean_model *models = (hfi_mean_model *)b.models;
    hfi_box x = {.c = c, .b = &b, .m = m, .n = n, .centre = b.place, .half = b.half, .mean = models};
    memcpy(b.place, point, m * sizeof *point);
    memcpy(b.half, c->subject->extent, m * sizeof *b.half);
    memcpy(b.centre, c->subject->middle, c->d * sizeof *b.centre);
    for (size_t f = 0; f < m; f++) b.centre[c->subject->free[f]] = point[f];
    for (size_t i = 0; i < n; i++) {
        model_class(c, i, 1, &b, models + i);
        b.at[i] = models[i].value;
    }
    covariance_arrays(&x, &x.s);
    hfi_covariance_of_box(c, &c->whole, b.place, b.half, &x.s, b.shape);
    (void)hfi_moments(&c->quick, b.at, x.s.here, b.p, b.third, b.moments);
    const double least = hfi_classes_least(c, b.p, b.a, b.row);
    hfi_moments_slopes(n, b.third, b.a, b.w, b.curve);
    for (size_t a = 0; a < m; a++) {
        double slope = 0.0;
        for (size_t i = 0; i < n; i++) slope += b.w[i] * models[i].g[a];
        for (size_t k = 0; k < square; k++) slope += 0.5 * b.curve[k] * x.s.linear[a * square + k];
        gradient[a] = slope / c->subject->extent[a];
    }
    return least;
}
