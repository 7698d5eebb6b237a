/* SPDX-License-Identifier: Apache-2.0 */
/* Which class is ahead, by means and covariances alone (classes_order.h). With V_ab the variance of f_a - f_b, the
 * covariance that is asked about is (V_wk - V_jk) / 2. All classes have kernels that are multiples of one. Its
 * covariances with the anchors are k(x), so that V_ab(x) = k_a(x, x) + k_b(x, x) - k(x)'M_ab k(x). With
 * k(c + u) = k + J u + r
 *
 *     m_w - m_j + (V_wk - V_jk) / 2 = const + g'k(x) - |e_wk|^2 / 2 + |e_jk|^2 / 2,
 *     g = t_w - t_j - (M_wk - M_jk) k(c),     |e_ab|^2 = (k(x) - k)'M_ab (k(x) - k)
 *
 * The first sum has its second derivatives, and its third ones by sizes. |e_ab| is the length of J u + r in M_ab, where
 * r is no longer than the remainder of the prior's features. */
#include "softmax/classes_order.h"

#include "linalg/linalg.h"
#include "taylor/quadratic.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* Sds of the prior that a class is to be ahead by, beyond the order: a probability is then ahead by about 1e-6. */
static const double margin = 1e-5;

/* ---- one box's sums, whatever is asked --------------------------------------------------------------------------- */

typedef struct order_arrays {
    double *x, *w; /* axes: a centre and half-widths in units of a term */
    double *q, *value, *slope, *curve;
    double *columns; /* n x (1 + m) x together: k and J */
    double *third;   /* n x together: of each anchor, by its size */
    double *product; /* n x (1 + m) x together: of one pair of classes */
    double *beta;    /* n x pairs x together: M_ab k */
    double *gram;    /* (1 + m)^2 x pairs x together: of k and J in M_ab */
    double *second;  /* n x m (m + 1) / 2: second derivatives, of one box */
    double *weight;  /* n */
    double *sums;    /* m (m + 1) / 2 */
    double *rest;    /* C: squared remainders of the features */
    double *g, *h, *own_gap, *point, *work, *inner, *square;
    double *place; /* d */
    double *ball;  /* 2 m */
    double *along; /* m: shares of remainders */
} order_arrays;

static size_t count_pairs(size_t n)
{
    return n * (n - 1) / 2;
}

static size_t lay_out_order(const hfi_order *o, const hfi_classes *c, double *scratch, order_arrays *b)
{
    const size_t n = o->n, m = c->m, pairs = count_pairs(o->classes), all = (1 + m) * HFI_TOGETHER;
    return HFI_LAY_OUT(
        scratch, HFI_ROOM(b->x, m), HFI_ROOM(b->w, m), HFI_ROOM(b->q, n), HFI_ROOM(b->value, n),
        HFI_ROOM(b->slope, n), HFI_ROOM(b->curve, n), HFI_ROOMS(b->columns, n, all),
        HFI_ROOMS(b->third, n, HFI_TOGETHER), HFI_ROOMS(b->product, n, all),
        HFI_ROOMS(b->beta, n * pairs, HFI_TOGETHER), HFI_ROOMS(b->gram, (1 + m) * pairs, all),
        HFI_ROOMS(b->second, n, count_pairs(m + 1)), HFI_ROOM(b->weight, n),
        HFI_ROOM(b->sums, count_pairs(m + 1)), HFI_ROOM(b->rest, o->classes), HFI_ROOM(b->g, m),
        HFI_ROOMS(b->h, m, m), HFI_ROOM(b->own_gap, m), HFI_ROOM(b->point, m), HFI_ROOMS(b->inner, m, m),
        HFI_ROOM(b->place, c->d), HFI_ROOM(b->ball, 2 * m), HFI_ROOM(b->work, hfi_quadratic_work(m)),
        HFI_ROOMS(b->square, 2 * m, m), HFI_ROOM(b->along, m));
}

size_t hfi_order_scratch(const hfi_order *o, const hfi_classes *c)
{
    order_arrays b;
    return o ? lay_out_order(o, c, NULL, &b) : 0;
}

/* A box at hand. */
typedef struct order_box {
    const hfi_order *o;
    const hfi_classes *c;
    const order_arrays *b;
    const hfi_ball *ball; /* NULL: none */
    size_t at;            /* its number among those that are bounded together */
    const double *centre; /* d */
    const double *half;   /* m */
    double length;        /* of what M_ab multiplies: k and its derivatives along the box */
    double off;           /* and of what that is off */
} order_box;

/* Values of a term at the centre, with the factors of class 0; x and w are where the box is. */
static double weigh_term(const order_box *x, const hfi_term *term)
{
    const order_arrays *b = x->b;
    const size_t n = x->o->n;
    const double tau = hfi_taylor_place(&x->c->side[0].taylor, term, x->centre, x->half, b->x, b->w);
    hfi_radial_distance(n, term->axes, b->x, term->z, n, b->q);
    for (size_t i = 0; term->offset && i < n; i++) b->q[i] += term->offset[i];
    hfi_radial_weights(term->form, term->alpha, n, b->q, term->factor, b->value, b->slope, b->curve);
    return tau;
}

/* The most that third derivatives of an anchor's term make anywhere in the box. */
static void add_thirds(const order_box *x, const hfi_term *term, double tau)
{
    const size_t n = x->o->n;
    const double cube = tau * tau * tau / 6.0 * (1.0 + 1e-12);
    double *third = x->b->third + x->at * n;
    for (size_t i = 0; i < n; i++) {
        const double offset = term->offset ? term->offset[i] : 0.0,
                     near = fmax(0.0, sqrt(fmax(0.0, x->b->q[i] - offset)) * (1.0 - 1e-12) - tau);
        third[i] += cube * fabs(term->factor[i]) *
                    hfi_radial_third_size(term->form, term->alpha, near * near + offset);
    }
}

/* k and J of a box. */
static void fill_order_columns(const order_box *x)
{
    const order_arrays *b = x->b;
    const size_t n = x->o->n, m = x->c->m;
    const hfi_terms *terms = x->c->side[0].taylor.terms;
    double *k = b->columns + x->at * (1 + m) * n, *slopes = k + n;
    memset(k, 0, (1 + m) * n * sizeof *k);
    memset(b->third + x->at * n, 0, n * sizeof *b->third);
    for (size_t t = 0; t < terms->count; t++) {
        const hfi_term *term = &terms->term[t];
        if (term->kind == HFI_TERM_CONSTANT) {
            for (size_t i = 0; i < n; i++) k[i] += term->factor[i];
            continue;
        }
        const double tau = weigh_term(x, term);
        for (size_t i = 0; i < n; i++) k[i] += b->value[i];
        for (size_t a = 0; a < term->axes; a++) {
            const double at = b->x[a], width = b->w[a], *z = term->z + a * n;
            double *out = slopes + term->axis[a] * n;
            for (size_t i = 0; i < n; i++) out[i] += width * b->slope[i] * (at - z[i]);
        }
        add_thirds(x, term, tau);
    }
}

/* Their second derivatives along the box, a <= c. */
static void fill_seconds(const order_box *x)
{
    const order_arrays *b = x->b;
    const size_t n = x->o->n, m = x->c->m;
    const hfi_terms *terms = x->c->side[0].taylor.terms;
    memset(b->second, 0, n * count_pairs(m + 1) * sizeof *b->second);
    for (size_t t = 0; t < terms->count; t++) {
        const hfi_term *term = &terms->term[t];
        if (term->kind == HFI_TERM_CONSTANT) continue;
        (void)weigh_term(x, term);
        for (size_t a = 0; a < term->axes; a++)
            for (size_t e = a; e < term->axes; e++) {
                const size_t low = term->axis[a] < term->axis[e] ? term->axis[a] : term->axis[e],
                             high = term->axis[a] < term->axis[e] ? term->axis[e] : term->axis[a];
                const double width = b->w[a] * b->w[e], own = a == e ? 1.0 : 0.0, xa = b->x[a], xe = b->x[e],
                             *za = term->z + a * n, *ze = term->z + e * n;
                double *out = b->second + (low * m - low * (low + 1) / 2 + high) * n;
                for (size_t i = 0; i < n; i++)
                    out[i] += width * (b->curve[i] * (xa - za[i]) * (xe - ze[i]) + own * b->slope[i]);
            }
    }
}

/* M_ab k, and the Gram matrices of k and J, of all boxes. */
static void multiply_order(const hfi_order *o, const hfi_classes *c, size_t count, const order_arrays *b)
{
    const size_t n = o->n, each = 1 + c->m, pairs = count_pairs(o->classes);
    for (size_t p = 0; p < pairs; p++) {
        hfi_gemm_tn(n, each * count, n, 1.0, o->matrix + p * n * n, n, b->columns, n, 0.0, b->product, n);
        for (size_t q = 0; q < count; q++) {
            const double *product = b->product + q * each * n;
            memcpy(b->beta + (q * pairs + p) * n, product, n * sizeof *product);
            hfi_gemm_tn(each, each, n, 1.0, b->columns + q * each * n, n, product, n, 0.0,
                        b->gram + (q * pairs + p) * each * each, each);
        }
    }
}

/* Squared remainders of the prior's features, which those of what the data explain are no longer than; and along
 * which inputs they grow. */
static void find_rests(const order_box *x)
{
    const order_arrays *b = x->b;
    memset(b->along, 0, x->c->m * sizeof *b->along);
    for (size_t a = 0; a < x->o->classes; a++) {
        const hfi_terms *terms = x->c->side[a].taylor.terms;
        b->rest[a] = 0.0;
        for (size_t t = 0; t < terms->count; t++) {
            const hfi_term *term = &terms->term[t];
            if (term->kind == HFI_TERM_CONSTANT) continue;
            const double tau = hfi_taylor_place(&x->c->side[a].taylor, term, x->centre, x->half, b->x, b->w),
                         left = hfi_radial_linear_remainder(term->form, term->alpha, tau);
            b->rest[a] += term->self * left * left * (1.0 + 1e-12);
            for (size_t e = 0; tau > 0.0 && e < term->axes; e++)
                b->along[term->axis[e]] += term->self * b->w[e] * b->w[e];
        }
    }
}

/* Lengths that rounding of products is relative to. */
static void find_lengths(order_box *x)
{
    const order_arrays *b = x->b;
    const size_t n = x->o->n, m = x->c->m;
    const double *k = b->columns + x->at * (1 + m) * n;
    const hfi_terms *terms = x->c->side[0].taylor.terms;
    double moved = 1.0;
    x->length = 0.0;
    for (size_t a = 0; a <= m; a++) x->length += sqrt(hfi_dot(n, k + a * n, k + a * n));
    for (size_t p = 0; p < count_pairs(m + 1); p++)
        x->length += sqrt(hfi_dot(n, b->second + p * n, b->second + p * n));
    for (size_t t = 0; t < terms->count; t++)
        for (size_t e = 0; terms->term[t].kind == HFI_TERM_RADIAL && e < terms->term[t].axes; e++)
            moved += x->half[terms->term[t].axis[e]] / terms->term[t].scale[e];
    x->off =
        DBL_EPSILON * hfi_terms_units(terms, x->centre) * sqrt((double)n) * x->c->prior * 9.0 * moved * moved;
}

/* ---- one question of a box --------------------------------------------------------------------------------------- */

/* Whether `lead` is ahead of `rival`, as far as class `other` tells; that is the number of classes for the means
 * alone. */
typedef struct order_question {
    size_t lead, rival, other;
} order_question;

/* The place of a pair of classes among those of the box. */
static size_t place_of_pair(const order_box *x, size_t a, size_t b)
{
    return x->at * count_pairs(x->o->classes) + hfi_order_pair(a, b);
}

/* The pair (a, b)'s part of the variance at the centre, and of its Hessian, into value and h. */
static void take_pair(const order_box *x, size_t a, size_t b, double sign, double *value)
{
    const size_t m = x->c->m, each = 1 + m, place = place_of_pair(x, a, b);
    const double *gram = x->b->gram + place * each * each;
    hfi_axpy(x->o->n, -sign, x->b->beta + place * x->o->n, x->b->weight);
    *value -= 0.5 * sign * gram[0];
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) x->b->h[i * m + j] -= sign * gram[(1 + i) + (1 + j) * each];
}

/* |J u| in M_ab, anywhere in the box, and how long what is left of the features can be. */
static void find_pair_lengths(const order_box *x, size_t a, size_t b, double rounding, double *moved,
                              double *rest)
{
    const size_t m = x->c->m, each = 1 + m;
    const double *gram = x->b->gram + place_of_pair(x, a, b) * each * each;
    for (size_t i = 0; i < m; i++) memcpy(x->b->inner + i * m, gram + 1 + (1 + i) * each, m * sizeof *gram);
    *rest = sqrt(x->b->rest[a] + x->b->rest[b]) * (1.0 + 1e-12);
    *moved = hfi_taylor_longest(m, x->b->inner, rounding, x->b->square);
}

/* The covariance's part of a question: weights, value and Hessian, and what the features' remainders take off. */
static double take_covariance(const order_box *x, const order_question *of, double rounding, double *value)
{
    const hfi_classes *c = x->c;
    double moved, rest;
    take_pair(x, of->lead, of->other, 1.0, value);
    take_pair(x, of->rival, of->other, -1.0, value);
    *value += 0.5 * (hfi_order_prior(c, c->side[of->lead].subject.middle) -
                     hfi_order_prior(c, c->side[of->rival].subject.middle));
    find_pair_lengths(x, of->lead, of->other, rounding, &moved, &rest);
    const double lost = moved * rest + 0.5 * rest * rest;
    find_pair_lengths(x, of->rival, of->other, rounding, &moved, &rest);
    return lost + moved * rest;
}

/* The prior means' difference, and the weights of the posterior ones. */
static double take_means(const order_box *x, const order_question *of)
{
    const hfi_classes *c = x->c;
    const order_arrays *b = x->b;
    const size_t n = x->o->n;
    const hfi_class *lead = &c->side[of->lead], *rival = &c->side[of->rival];
    const double *t = c->posterior->solution.t, own = x->o->ratio[of->lead], other = x->o->ratio[of->rival];
    double value[2];
    for (size_t i = 0; i < n; i++) b->weight[i] = own * t[lead->first + i] - other * t[rival->first + i];
    memcpy(b->place, x->centre, c->d * sizeof *b->place);
    for (size_t k = 0; k < 2; k++) {
        b->place[c->d - 1] = (double)(k ? of->rival : of->lead);
        hf_mean_evaluate(c->posterior->mean, 1, b->place, c->d, &value[k]);
    }
    for (size_t a = 0; a < c->m; a++)
        b->g[a] = x->half[a] * (lead->taylor.mean_slope[a] - rival->taylor.mean_slope[a]);
    return value[0] - value[1];
}

/* A priori: of sums over the anchors with the weights, and of products in M_ab. */
static double rounding_of_question(const order_box *x, const order_question *of, double value,
                                   double products)
{
    const size_t n = x->o->n;
    const hfi_terms *terms = x->c->side[0].taylor.terms;
    double sum = products + DBL_EPSILON * 64.0 * fabs(value);
    for (size_t t = 0; t < terms->count; t++) {
        const hfi_term *term = &terms->term[t];
        double size = 0.0;
        for (size_t i = 0; i < n; i++) size += fabs(x->b->weight[i] * term->factor[i]);
        if (term->kind == HFI_TERM_CONSTANT) {
            sum += DBL_EPSILON * ((double)n + 64.0) * size;
            continue;
        }
        const double tau =
            hfi_taylor_place(&x->c->side[0].taylor, term, x->centre, x->half, x->b->x, x->b->w);
        sum += hfi_term_rounding(term, n, size, tau, x->b->x, x->b->w);
    }
    for (size_t a = 0; a < x->c->m; a++)
        sum += 64.0 * DBL_EPSILON * fabs(x->centre[x->c->subject->free[a]]) *
               (fabs(x->c->side[of->lead].taylor.mean_slope[a]) +
                fabs(x->c->side[of->rival].taylor.mean_slope[a]));
    return sum;
}

/* Error of a product of k and its derivatives in M_lead,other and M_rival,other. */
static double rounding_of_products(const order_box *x, const order_question *of)
{
    const hfi_order *o = x->o;
    if (of->other == o->classes) return 0.0;
    const double trace = o->trace[hfi_order_pair(of->lead, of->other)] +
                         o->trace[hfi_order_pair(of->rival, of->other)],
                 unit = 16.0 * DBL_EPSILON * (double)(o->n + o->rank + 64);
    return trace * x->length * (unit * x->length + 4.0 * x->off);
}

/* A number below the question's in the whole box; `predicted` is that at the point where the polynomial is least. */
static double bound_question(const order_box *x, const order_question *of, double *predicted, double *lost,
                             double *rounding)
{
    const hfi_classes *c = x->c;
    const order_arrays *b = x->b;
    const size_t n = x->o->n, m = c->m, pairs = count_pairs(m + 1);
    const double products = rounding_of_products(x, of), *k = b->columns + x->at * (1 + m) * n,
                 *third = b->third + x->at * n;
    double value = take_means(x, of), least;
    memset(b->h, 0, m * m * sizeof *b->h);
    value += hfi_dot(n, b->weight, k);
    *lost = 0.0;
    if (of->other < c->classes) *lost = take_covariance(x, of, products, &value);
    hfi_gemv_t(n, m, 1.0, k + n, n, b->weight, 1.0, b->g);
    hfi_gemv_t(n, pairs, 1.0, b->second, n, b->weight, 0.0, b->sums);
    for (size_t a = 0, p = 0; a < m; a++)
        for (size_t e = a; e < m; e++, p++) {
            b->h[a * m + e] += b->sums[p];
            if (e != a) b->h[e * m + a] += b->sums[p];
        }
    for (size_t i = 0; i < n; i++) *lost += fabs(b->weight[i]) * third[i];
    *lost *= 1.0 + 1e-10;
    *rounding = rounding_of_question(x, of, value, products);
    least = hfi_quadratic_lower(m, 1.0, b->g, b->h, x->ball, b->point, predicted, b->own_gap, b->work);
    least += value - *lost - *rounding;
    *predicted += value;
    /* Nothing is known where a number is not finite. */
    if (!isfinite(*predicted)) *predicted = -(double)INFINITY;
    return isfinite(least) ? least : -(double)INFINITY;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

/* Whether one class is ahead of another one: the least of all questions. */
static void bound_lead(const order_box *x, size_t ahead, size_t rival, hfi_ordered *out)
{
    const hfi_classes *c = x->c;
    const order_arrays *b = x->b;
    const double ahead_by = margin * (1.0 + sqrt(c->prior));
    double along = 0.0;
    *out = (hfi_ordered){.least = (double)INFINITY, .predicted = (double)INFINITY};
    for (size_t a = 0; a < c->m; a++) along += b->along[a];
    for (size_t other = 0; other <= c->classes; other++) {
        const order_question of = {ahead, rival, other};
        double predicted, lost, rounding;
        if (other == ahead || other == rival) continue;
        const double least = bound_question(x, &of, &predicted, &lost, &rounding) - ahead_by;
        out->predicted = fmin(out->predicted, predicted - ahead_by);
        out->rounding = fmax(out->rounding, rounding);
        if (!(least < out->least)) continue;
        hfi_split best = {.most = -1.0, .widest = -1.0};
        out->least = least;
        for (size_t a = 0; a < c->m; a++)
            if (x->half[a] > 0.0)
                hfi_split_offer(&best, a, b->own_gap[a] + (along > 0.0 ? lost * b->along[a] / along : 0.0),
                                x->half[a] / c->subject->extent[a]);
        out->split = best.input;
    }
}

/* With sign 1 the winner is ahead of all where it is ahead of that which is nearest; with sign -1 one class ahead
 * of it will do. */
static void bound_order(const order_box *x, double sign, hfi_ordered *out)
{
    const size_t winner = x->c->winner;
    double predicted = (double)INFINITY;
    *out = (hfi_ordered){.least = sign * (double)INFINITY};
    for (size_t other = 0; other < x->c->classes; other++) {
        hfi_ordered own;
        if (other == winner) continue;
        bound_lead(x, sign > 0.0 ? winner : other, sign > 0.0 ? other : winner, &own);
        predicted = fmin(predicted, own.predicted);
        if (sign * own.least < sign * out->least) *out = own;
    }
    if (sign > 0.0) out->predicted = predicted;
}

static unsigned char *write_plan(const size_t *inputs, size_t levels, unsigned char *plan)
{
    if (levels == 0) {
        *plan = 0;
        return plan + 1;
    }
    *plan = (unsigned char)(1 + *inputs);
    return write_plan(inputs + 1, levels - 1, write_plan(inputs + 1, levels - 1, plan + 1));
}

/* Remainders fall with the third power of the box's size. Where halves would lack as much as the box, smaller parts
 * are asked for at once. */
static void plan_parts(const order_box *x, hfi_ordered *out)
{
    enum {
        LEVELS = 3 /* HFI_LEAVES parts */
    };
    size_t input[LEVELS], levels = 0;
    double *along = x->b->own_gap, before = 0.0, left = 1.0;
    memcpy(along, x->b->along, x->c->m * sizeof *along);
    for (size_t a = 0; a < x->c->m; a++) before += along[a];
    while (levels < LEVELS && before > 0.0 && out->predicted - out->least > 0.0 &&
           (out->predicted - out->least) * left * sqrt(left) > out->predicted) {
        double after = 0.0;
        size_t widest = 0;
        for (size_t a = 1; a < x->c->m; a++)
            if (along[a] > along[widest]) widest = a;
        along[widest] *= 0.25;
        for (size_t a = 0; a < x->c->m; a++) after += along[a];
        left = after / before;
        input[levels++] = widest;
    }
    out->plan[0] = 0;
    if (levels > 1) (void)write_plan(input, levels, out->plan);
}

void hfi_order_bounds(const hfi_order *o, const hfi_certify_problem *problem, double sign, size_t count,
                      const double *centre, const double *half, hfi_ordered *out, double *scratch)
{
    const hfi_classes *c = problem->state;
    order_arrays b;
    (void)lay_out_order(o, c, scratch, &b);
    order_box box[HFI_TOGETHER];
    for (size_t q = 0; q < count; q++) {
        box[q] = (order_box){
            .o = o, .c = c, .b = &b, .at = q, .centre = centre + q * c->d, .half = half + q * c->m};
        fill_order_columns(&box[q]);
    }
    multiply_order(o, c, count, &b);
    for (size_t q = 0; q < count; q++) {
        hfi_ball ball;
        for (size_t f = 0; f < c->m; f++) b.point[f] = box[q].centre[c->subject->free[f]];
        if (hfi_problem_ball(problem, b.point, box[q].half, b.ball, &ball)) box[q].ball = &ball;
        fill_seconds(&box[q]);
        find_rests(&box[q]);
        find_lengths(&box[q]);
        bound_order(&box[q], sign, &out[q]);
        plan_parts(&box[q], &out[q]);
    }
}
