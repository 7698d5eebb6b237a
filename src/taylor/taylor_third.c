/* SPDX-License-Identifier: Apache-2.0 */
/* Models of third degree. The kernels se and matern52 have four derivatives everywhere, as functions of their
 * argument, although the features of matern52 have two: with v the move in units of a term and tau its
 * largest length,
 *
 *     | f(c + v) - sum_{k <= 3} D_v^k f(c) / k! | <= tau^4 / 24 sum_i |a_i| E(q_i),      E(q) >= |D^4
 *     psi(|u|^2)| in any direction of length 1 for all |u|^2 >= q
 *
 * and q_i the squared distance of anchor i from the box. The derivatives to the third are sums over the
 * anchors, in which what anchors add cancels; only what is left counts by sizes. */
#include "taylor/taylor.h"

#include "linalg/linalg.h"
#include "taylor/loops.h"
#include <float.h>
#include <math.h>
#include <string.h>

size_t hfi_third_lay_out(const hfi_taylor *taylor, double *scratch, hfi_third_scratch *b)
{
    const size_t n = taylor->n, m = taylor->m;
    return HFI_LAY_OUT(scratch, HFI_ROOM(b->x, m), HFI_ROOM(b->w, m), HFI_ROOM(b->q, n),
                       HFI_ROOM(b->weight, n), HFI_ROOM(b->curve, n),
                       HFI_ROOM(b->sums, m * (m + 1) * (m + 2) / 6), HFI_ROOMS(b->columns, n, m),
                       HFI_ROOM(b->slope, m), HFI_ROOM(b->share, m));
}

/* As a function of its argument. */
static bool has_fourth(hfi_form form)
{
    return form == HFI_FORM_SE || form == HFI_FORM_MATERN52;
}

bool hfi_taylor_has_third(const hfi_taylor *taylor)
{
    if (taylor->m > HFI_SHARP_INPUTS) return false;
    for (size_t k = 0; k < taylor->terms->count; k++) {
        const hfi_term *term = &taylor->terms->term[k];
        if (term->kind == HFI_TERM_CONSTANT) continue;
        if (term->kind != HFI_TERM_RADIAL || !has_fourth(term->form)) return false;
    }
    return true;
}

size_t hfi_taylor_third_scratch(const hfi_taylor *taylor)
{
    hfi_third_scratch b;
    return hfi_taylor_has_third(taylor) ? hfi_third_lay_out(taylor, NULL, &b) : 0;
}

double hfi_third_fourth_size(const hfi_term *term, size_t n, const double *weight, const hfi_third_scratch *b)
{
    for (size_t i = 0; i < n; i++) b->q[i] = term->offset ? term->offset[i] : 0.0;
    for (size_t a = 0; a < term->axes; a++) {
        const double *z = term->z + a * n, x = b->x[a];
        const double near = b->w[a] + 1e-13 * (term->reach[a] + fabs(x) + b->w[a]);
        for (size_t i = 0; i < n; i++) {
            const double away = fabs(x - z[i]) - near, apart = away > 0.0 ? away : 0.0;
            b->q[i] += apart * apart;
        }
    }
    for (size_t i = 0; i < n; i++) b->q[i] *= 1.0 - 1e-12;
    hfi_radial_fourth(term->form, n, b->q, b->curve);
    for (size_t i = 0; i < n; i++) b->curve[i] *= fabs(weight[i]);
    return hfi_sum_anchors(n, b->curve) * (1.0 + 1e-10 + DBL_EPSILON * (double)n);
}

/* The remainder of one term; its derivatives and shares are added to those there are. */
static double add_remainder(const hfi_taylor *taylor, const hfi_term *term, double tau,
                            const hfi_third_scratch *b)
{
    if (!(tau > 0.0)) return 0.0;
    const double size = hfi_third_fourth_size(term, taylor->n, term->a, b), cube = tau * tau * tau;
    const double remainder = size * cube * tau / 24.0;
    for (size_t a = 0; a < term->axes; a++) {
        b->slope[term->axis[a]] += size * cube * b->w[a] / 6.0;
        b->share[term->axis[a]] += remainder * (b->w[a] / tau) * (b->w[a] / tau);
    }
    return remainder;
}

double hfi_third_rounding(const hfi_term *term, size_t n, double size, double tau, const hfi_third_scratch *b)
{
    const double s2 = hfi_radial_curve_bound(term->form, term->alpha);
    double moved = 0.0, reach = 0.0;
    for (size_t a = 0; a < term->axes; a++) {
        const double far = term->reach[a] + fabs(b->x[a]);
        moved += b->w[a] * far;
        reach += far;
    }
    const double unit =
        DBL_EPSILON * ((double)n + 8.0 * (double)term->axes + 128.0 + 8.0 * (2.0 + 3.0 * s2) * reach);
    return unit * size * s2 * (tau * tau * (tau + moved) + moved * moved * moved);
}

void hfi_third_add_sorted(size_t m, size_t a, size_t b, size_t c, double entry, double *t)
{
    const size_t low = a < b ? a : b, high = a < b ? b : a;
    const size_t first = c < low ? c : low, last = c > high ? c : high;
    t[(first * m + (a + b + c - first - last)) * m + last] += entry;
}

void hfi_third_add_cubic(const hfi_taylor *taylor, const hfi_term *term, const double *weight,
                         const hfi_third_scratch *b, double *t)
{
    const size_t n = taylor->n, m = taylor->m, axes = term->axes, *axis = term->axis;
    hfi_radial_distance(n, axes, b->x, term->z, n, b->q);
    for (size_t i = 0; term->offset && i < n; i++) b->q[i] += term->offset[i];
    hfi_radial_third_weights(term->form, n, b->q, weight, b->curve, b->weight);
    for (size_t a = 0; a < axes; a++) {
        const double *z = term->z + a * n, x = b->x[a], w = b->w[a];
        for (size_t i = 0; i < n; i++) b->columns[i + a * n] = w * (x - z[i]);
    }
    hfi_triple_sums(n, axes, n, b->columns, b->weight, b->q, b->sums);
    const double *sum = b->sums;
    for (size_t i = 0; i < axes; i++) {
        const double curvature = hfi_dot(n, b->curve, b->columns + i * n);
        for (size_t j = 0; j < axes; j++)
            hfi_third_add_sorted(m, axis[i], axis[j], axis[j],
                                 curvature * b->w[j] * b->w[j] * (i == j ? 3.0 : 1.0), t);
        for (size_t j = i; j < axes; j++)
            for (size_t k = j; k < axes; k++) t[(axis[i] * m + axis[j]) * m + axis[k]] += *sum++;
    }
}

void hfi_third_fill_up(size_t m, double *t)
{
    for (size_t a = 0; a < m; a++)
        for (size_t b = a; b < m; b++)
            for (size_t c = b; c < m; c++) {
                const double entry = t[(a * m + b) * m + c];
                t[(a * m + c) * m + b] = t[(b * m + a) * m + c] = t[(b * m + c) * m + a] = entry;
                t[(c * m + a) * m + b] = t[(c * m + b) * m + a] = entry;
            }
}

/* Shares, slopes and remainder of a model whose cubic terms are known; `outside` is what is left of it. */
static void close_in(const hfi_taylor *taylor, double outside, const hfi_third_scratch *b,
                     hfi_mean_model *model)
{
    const size_t m = taylor->m;
    const double up = 1.0 + 1e-12;
    double third = 0.0;
    for (size_t a = 0; a < m; a++) {
        double sizes = 0.0;
        for (size_t k = 0; k < m * m; k++) sizes += fabs(model->cubic[a * m * m + k]);
        third += sizes / 6.0;
        model->slope_error[a] = fmin(model->slope_error[a], (b->slope[a] + 0.5 * sizes) * up);
        model->remainder_share[a] = b->share[a];
    }
    model->outside = outside;
    model->has_cubic = true;
    model->remainder = fmin(model->remainder, (outside + third) * up);
}

void hfi_taylor_third(const hfi_taylor *taylor, const double *centre, const double *half,
                      hfi_mean_model *model, double *scratch)
{
    hfi_third_scratch b;
    (void)hfi_third_lay_out(taylor, scratch, &b);
    const size_t m = taylor->m, count = taylor->terms->count;
    double outside = 0.0;
    memset(b.slope, 0, m * sizeof *b.slope);
    memset(b.share, 0, m * sizeof *b.share);
    for (size_t k = 0; k < count; k++) {
        const hfi_term *term = &taylor->terms->term[k];
        if (term->kind != HFI_TERM_RADIAL) continue;
        const double tau = hfi_taylor_place(taylor, term, centre, half, b.x, b.w);
        outside += add_remainder(taylor, term, tau, &b);
    }
    outside *= 1.0 + 1e-12;
    if (!(outside < model->outside)) return;
    memset(model->cubic, 0, m * m * m * sizeof *model->cubic);
    for (size_t k = 0; k < count; k++) {
        const hfi_term *term = &taylor->terms->term[k];
        if (term->kind != HFI_TERM_RADIAL) continue;
        const double tau = hfi_taylor_place(taylor, term, centre, half, b.x, b.w);
        hfi_third_add_cubic(taylor, term, term->a, &b, model->cubic);
        model->rounding += hfi_third_rounding(term, taylor->n, term->size, tau, &b);
    }
    hfi_third_fill_up(m, model->cubic);
    close_in(taylor, outside, &b, model);
}
