/* SPDX-License-Identifier: Apache-2.0 */
/* Models of the mean: exact value, gradient and Hessian at the centres of several boxes at once, remainders
 * by norms. */
#include "taylor/taylor.h"

#include "linalg/linalg.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* Scratch of one call. */
typedef struct mean_arrays {
    double *x;      /* axes: a centre in units of a term */
    double *q;      /* n */
    double *value;  /* n x together: weights of the anchors */
    double *slope;  /* n x together */
    double *curve;  /* n x together */
    double *sums;   /* columns x together, of curve */
    double *firsts; /* (1 + axes) x together, of slope */
    double *jet;    /* general terms */
    double *width;  /* m: half / scale of a term */
    double *direct; /* 2 n x axes where a term keeps no features */
} mean_arrays;

static size_t largest_axes(const hfi_terms *terms)
{
    size_t most = 1;
    for (size_t k = 0; k < terms->count; k++)
        if (terms->term[k].axes > most) most = terms->term[k].axes;
    return most;
}

static bool has_general(const hfi_terms *terms)
{
    for (size_t k = 0; k < terms->count; k++)
        if (terms->term[k].kind == HFI_TERM_GENERAL) return true;
    return false;
}

static bool lacks_features(const hfi_terms *terms)
{
    for (size_t k = 0; k < terms->count; k++)
        if (terms->term[k].kind == HFI_TERM_RADIAL && !terms->term[k].features) return true;
    return false;
}

static size_t lay_out_mean_arrays(const hfi_taylor *taylor, double *scratch, mean_arrays *b)
{
    const hfi_terms *terms = taylor->terms;
    const size_t n = taylor->n, axes = largest_axes(terms), columns = hfi_term_columns(axes);
    const size_t jet = has_general(terms) ? hfi_term_columns(taylor->m) + hfi_general_scratch(terms) : 0;
    return HFI_LAY_OUT(scratch, HFI_ROOM(b->x, axes), HFI_ROOM(b->q, n), HFI_ROOMS(b->value, n, HFI_TOGETHER),
                       HFI_ROOMS(b->slope, n, HFI_TOGETHER), HFI_ROOMS(b->curve, n, HFI_TOGETHER),
                       HFI_ROOMS(b->sums, columns, HFI_TOGETHER),
                       HFI_ROOMS(b->firsts, 1 + axes, HFI_TOGETHER), HFI_ROOM(b->jet, jet),
                       HFI_ROOM(b->width, taylor->m),
                       HFI_ROOMS(b->direct, lacks_features(terms) ? 2 * n : 0, axes));
}

size_t hfi_taylor_mean_scratch(const hfi_taylor *taylor)
{
    mean_arrays b;
    return lay_out_mean_arrays(taylor, NULL, &b);
}

/* ---- radial terms ------------------------------------------------------------------------------------------------ */

/* Weights of all anchors at one centre, into column q of value, slope and curve. */
static void weigh_mean_anchors(const hfi_term *term, size_t n, size_t q, const mean_arrays *b)
{
    hfi_radial_distance(n, term->axes, b->x, term->z, n, b->q);
    if (term->offset)
        for (size_t i = 0; i < n; i++) b->q[i] += term->offset[i];
    if (term->form == HFI_FORM_SE) /* the three differ in sign alone */
        hfi_radial_values(term->form, term->alpha, n, b->q, term->a, b->curve + q * n);
    else
        hfi_radial_weights(term->form, term->alpha, n, b->q, term->a, b->value + q * n, b->slope + q * n,
                           b->curve + q * n);
}

/* Sums over the anchors of all boxes of a chunk. */
static void sum_features(const hfi_term *term, size_t n, size_t count, const mean_arrays *b)
{
    const size_t columns = hfi_term_columns(term->axes), linear = 1 + term->axes;
    if (hfi_radial_degree(term->form) == 2)
        hfi_gemm_tn(columns, count, n, 1.0, term->features, n, b->curve, n, 0.0, b->sums, columns);
    if (term->form != HFI_FORM_SE && hfi_radial_degree(term->form) >= 1)
        hfi_gemm_tn(linear, count, n, 1.0, term->features, n, b->slope, n, 0.0, b->firsts, linear);
}

/* Where no features are kept: of one box, laid out as the sums of features. */
static void sum_directly(const hfi_term *term, size_t n, size_t q, const mean_arrays *b)
{
    const size_t axes = term->axes, columns = hfi_term_columns(axes);
    double *u = b->direct, *w = b->direct + n * axes, *sums = b->sums + q * columns,
           *firsts = b->firsts + q * (1 + axes);
    const double *curve = b->curve + q * n, *slope = term->form == HFI_FORM_SE ? curve : b->slope + q * n;
    for (size_t a = 0; a < axes; a++)
        for (size_t i = 0; i < n; i++) {
            u[i + a * n] = term->z[i + a * n];
            w[i + a * n] = curve[i] * u[i + a * n];
        }
    sums[0] = hfi_sum_anchors(n, curve);
    firsts[0] = hfi_sum_anchors(n, slope);
    size_t at = 1 + axes;
    for (size_t a = 0; a < axes; a++) {
        sums[1 + a] = hfi_sum_anchors(n, w + a * n);
        firsts[1 + a] = hfi_dot(n, slope, u + a * n);
        for (size_t c = a; c < axes; c++) sums[at++] = hfi_dot(n, w + a * n, u + c * n);
    }
}

/* Adds one term's value, gradient and Hessian at a centre to the model of its box. */
static void assemble(const hfi_taylor *taylor, const hfi_term *term, size_t q, const mean_arrays *b,
                     hfi_mean_model *model, double *value)
{
    const size_t m = taylor->m, n = taylor->n, axes = term->axes, columns = hfi_term_columns(axes);
    const bool se = term->form == HFI_FORM_SE;
    const double *s2 = b->sums + q * columns, *s1 = se ? s2 : b->firsts + q * (1 + axes);
    const double *second = s2 + 1 + axes, sign = se ? -1.0 : 1.0;
    *value = hfi_sum_anchors(n, (se ? b->curve : b->value) + q * n);
    const int degree = hfi_radial_degree(term->form);
    for (size_t a = 0; degree >= 1 && a < axes; a++) {
        const double first = sign * (b->x[a] * s1[0] - s1[1 + a]);
        model->g[term->axis[a]] += b->width[a] * first;
        for (size_t c = a; degree == 2 && c < axes; c++) {
            double entry = b->x[a] * (b->x[c] * s2[0] - s2[1 + c]) - b->x[c] * s2[1 + a] + *second++;
            if (c == a) entry += sign * s1[0];
            entry *= b->width[a] * b->width[c];
            model->h[term->axis[a] * m + term->axis[c]] += entry;
            if (c != a) model->h[term->axis[c] * m + term->axis[a]] += entry;
        }
    }
}

/* A-priori: each of the sums has n products of a weight and at most two coordinates, and a weight follows its
 * distance. */
double hfi_term_rounding(const hfi_term *term, size_t n, double size, double tau, const double *x,
                         const double *w)
{
    const double s1 = hfi_radial_slope_bound(term->form),
                 s2 = hfi_radial_curve_bound(term->form, term->alpha);
    double moved = 0.0, reach = 0.0;
    for (size_t a = 0; a < term->axes; a++) {
        const double far = term->reach[a] + fabs(x[a]);
        moved += w[a] * far;
        reach += far;
    }
    const double unit =
        DBL_EPSILON * ((double)n + 4.0 * (double)term->axes + 64.0 + 8.0 * (1.0 + s1 + s2) * reach);
    return unit * size * (1.0 + s1 * (moved + tau * tau) + s2 * moved * moved);
}

/* The least remainder that one of the term's partitions into near and far anchors gives; *best is that partition. */
static double least_remainder(const hfi_term *term, double tau, const hfi_level **best)
{
    const double near = hfi_radial_remainder(term->form, term->alpha, tau), far = tau * tau * tau / 6.0;
    double least = (double)INFINITY;
    *best = &term->level[HFI_LEVELS - 1];
    for (size_t k = 0; k < HFI_LEVELS; k++) {
        const hfi_level *level = &term->level[k];
        const double remainder = level->norm * near + (level->far > 0.0 ? far * level->far : 0.0);
        if (!(remainder < least)) continue;
        least = remainder;
        *best = level;
    }
    return least * (1.0 + 8.0 * DBL_EPSILON);
}

static void bound_radial(const hfi_term *term, size_t n, double tau, double value, const mean_arrays *b,
                         hfi_mean_model *model)
{
    const hfi_level *level;
    const double remainder = least_remainder(term, tau, &level);
    const double distance = term->norm * hfi_radial_distance_bound(term->form, term->alpha, tau);
    model->remainder += remainder;
    model->crude_lower += fmax(value - distance, -term->norm);
    model->crude_upper += fmin(value + distance, term->norm);
    model->rounding += hfi_term_rounding(term, n, term->size, tau, b->x, b->width);
    /* Where slopes are compared with their values at the centre alone the far part's curvature would be
     * wanted: all anchors count by their norm. */
    if (term->form == HFI_FORM_MATERN52) level = &term->level[HFI_LEVELS - 1];
    for (size_t a = 0; a < term->axes; a++) {
        const double v = b->width[a];
        if (v > 0.0)
            model->slope_error[term->axis[a]] +=
                level->norm * hfi_radial_slope_remainder(term->form, term->alpha, tau, v) +
                0.5 * v * tau * tau * level->far;
        if (tau > 0.0) model->remainder_share[term->axis[a]] += remainder * (v / tau) * (v / tau);
    }
}

static void add_radial(const hfi_taylor *taylor, const hfi_term *term, size_t count, const double *centre,
                       const double *half, hfi_mean_model *models, const mean_arrays *b)
{
    const size_t n = taylor->n, d = taylor->subject->d;
    for (size_t q = 0; q < count; q++) {
        (void)hfi_taylor_place(taylor, term, centre + q * d, half + q * taylor->m, b->x, b->width);
        weigh_mean_anchors(term, n, q, b);
        if (!term->features) sum_directly(term, n, q, b);
    }
    if (term->features) sum_features(term, n, count, b);
    for (size_t q = 0; q < count; q++) {
        double value;
        const double tau =
            hfi_taylor_place(taylor, term, centre + q * d, half + q * taylor->m, b->x, b->width);
        assemble(taylor, term, q, b, &models[q], &value);
        models[q].value += value;
        bound_radial(term, n, tau, value, b, &models[q]);
    }
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

static void add_constant(const hfi_taylor *taylor, const hfi_term *term, hfi_mean_model *model)
{
    model->value += term->total;
    model->crude_lower += term->total;
    model->crude_upper += term->total;
    model->rounding += DBL_EPSILON * ((double)taylor->n + 64.0) * term->size;
}

static void add_general(const hfi_taylor *taylor, const hfi_term *term, const double *centre,
                        const double *half, hfi_mean_model *model, const mean_arrays *b)
{
    const size_t m = taylor->m;
    double *sum = b->jet, *scratch = sum + hfi_term_columns(m);
    hfi_constants worth;
    memset(sum, 0, hfi_term_columns(m) * sizeof *sum);
    hfi_general_jet(taylor->terms, term, centre, taylor->terms->t, sum, scratch);
    hfi_general_constants(taylor->terms, term->node, term->order, centre, half, &worth);
    model->value += sum[0];
    const double *second = sum + 1 + m;
    for (size_t a = 0; a < m; a++) {
        model->g[a] += half[a] * sum[1 + a];
        for (size_t c = a; c < m; c++) {
            const double entry = *second++ * half[a] * half[c];
            model->h[a * m + c] += entry;
            if (c != a) model->h[c * m + a] += entry;
        }
    }
    const double remainder = term->norm * worth.remainder, distance = term->norm * worth.distance;
    model->remainder += remainder;
    model->crude_lower += fmax(sum[0] - distance, -term->norm * worth.size);
    model->crude_upper += fmin(sum[0] + distance, term->norm * worth.size);
    model->rounding += DBL_EPSILON * ((double)taylor->n + 16.0 * (double)(m * m) + 1024.0) * term->size *
                       worth.orders * term->phase;
    double widths = 0.0;
    for (size_t a = 0; a < m; a++) widths += term->share[a] * half[a];
    for (size_t a = 0; a < m; a++) {
        if (term->share[a] > 0.0) model->slope_error[a] = INFINITY;
        if (widths > 0.0) model->remainder_share[a] += remainder * term->share[a] * half[a] / widths;
    }
}

static void begin_mean_model(const hfi_taylor *taylor, const double *centre, const double *half,
                             hfi_mean_model *model)
{
    const size_t m = taylor->m;
    const hf_posterior *posterior = taylor->subject->posterior;
    hf_mean_evaluate(posterior->mean, 1, centre, taylor->subject->d, &model->value);
    memset(model->h, 0, m * m * sizeof *model->h);
    memset(model->slope_error, 0, m * sizeof *model->slope_error);
    memset(model->remainder_share, 0, m * sizeof *model->remainder_share);
    model->remainder = 0.0;
    double moved = 0.0, size = fabs(model->value);
    for (size_t a = 0; a < m; a++) {
        model->g[a] = half[a] * taylor->mean_slope[a];
        moved += fabs(model->g[a]);
        size += fabs(taylor->mean_slope[a] * centre[taylor->subject->free[a]]);
    }
    model->crude_lower = model->value - moved;
    model->crude_upper = model->value + moved;
    model->rounding = DBL_EPSILON * (2.0 * (double)taylor->subject->d + 64.0) * (size + moved);
}

void hfi_taylor_mean(const hfi_taylor *taylor, size_t count, const double *centre, const double *half,
                     hfi_mean_model *models, double *scratch)
{
    mean_arrays b;
    (void)lay_out_mean_arrays(taylor, scratch, &b);
    const size_t d = taylor->subject->d, m = taylor->m;
    for (size_t q = 0; q < count; q++) begin_mean_model(taylor, centre + q * d, half + q * m, &models[q]);
    for (size_t k = 0; k < taylor->terms->count; k++) {
        const hfi_term *term = &taylor->terms->term[k];
        if (term->kind == HFI_TERM_RADIAL)
            add_radial(taylor, term, count, centre, half, models, &b);
        else
            for (size_t q = 0; q < count; q++) {
                if (term->kind == HFI_TERM_CONSTANT)
                    add_constant(taylor, term, &models[q]);
                else
                    add_general(taylor, term, centre + q * d, half + q * m, &models[q], &b);
            }
    }
    for (size_t q = 0; q < count; q++) {
        models[q].outside = models[q].remainder;
        models[q].has_cubic = false;
    }
}
