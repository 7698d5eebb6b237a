/* SPDX-License-Identifier: Apache-2.0 */
/* Models of the standard deviation: Taylor in the posterior's feature space. */
#include "taylor/taylor.h"

#include "linalg/linalg.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct spread_arrays {
    double *x;       /* m */
    double *columns; /* n x (1 + m) x together: k(Z, c), then its derivatives along the box */
    double *q;       /* n */
    double *value;   /* n */
    double *slope;   /* n */
    double *curve;   /* n */
    double *room;    /* of the solution, for all columns */
    double *scratch; /* of the kernel */
    double *end;     /* d */
} spread_arrays;

static size_t lay_out_spread_arrays(const hfi_taylor *taylor, double *scratch, spread_arrays *b)
{
    const hf_posterior *posterior = taylor->subject->posterior;
    const size_t n = taylor->n, m = taylor->m, columns = (1 + m) * HFI_TOGETHER;
    return HFI_LAY_OUT(scratch, HFI_ROOM(b->x, m), HFI_ROOMS(b->columns, n, columns), HFI_ROOM(b->q, n),
                       HFI_ROOM(b->value, n), HFI_ROOM(b->slope, n), HFI_ROOM(b->curve, n),
                       HFI_ROOM(b->room, hfi_solution_room(&posterior->solution, columns)),
                       HFI_ROOM(b->scratch, hfi_kernel_scratch(posterior->kernel)),
                       HFI_ROOM(b->end, taylor->subject->d));
}

size_t hfi_taylor_spread_scratch(const hfi_taylor *taylor)
{
    spread_arrays b;
    return lay_out_spread_arrays(taylor, NULL, &b);
}

/* Adds the derivatives along the box of what a radial term has of k(Z, c), and its part of the prior's Gram
 * matrix of them. */
static void add_derivatives(const hfi_taylor *taylor, const hfi_term *term, const double *centre,
                            const double *half, double *columns, hfi_spread_model *model,
                            const spread_arrays *b)
{
    const size_t n = taylor->n, m = taylor->m;
    for (size_t a = 0; a < term->axes; a++) {
        const size_t column = taylor->subject->free[term->axis[a]];
        b->x[a] = (centre[column] - taylor->subject->middle[column]) / term->scale[a];
    }
    hfi_radial_distance(n, term->axes, b->x, term->z, n, b->q);
    for (size_t i = 0; term->offset && i < n; i++) b->q[i] += term->offset[i];
    hfi_radial_weights(term->form, term->alpha, n, b->q, term->factor, b->value, b->slope, b->curve);
    for (size_t a = 0; a < term->axes; a++) {
        const size_t f = term->axis[a];
        const double v = half[f] / term->scale[a], *z = term->z + a * n;
        double *out = columns + (1 + f) * n;
        for (size_t i = 0; i < n; i++) out[i] += v * b->slope[i] * (b->x[a] - z[i]);
        model->g[f * m + f] += term->self * hfi_radial_slope_bound(term->form) * v * v;
    }
}

static double white_at(const hfi_taylor *taylor, const double *x)
{
    double with, without;
    const hf_kernel *kernel = taylor->subject->posterior->kernel;
    hfi_kernel_diagonal(kernel, 1, x, taylor->subject->d, true, &with);
    hfi_kernel_diagonal(kernel, 1, x, taylor->subject->d, false, &without);
    return with - without;
}

/* Along the diagonal only linear kernels see where they are, and what they add grows with each |x_j|. */
static void bound_white(const hfi_taylor *taylor, const double *centre, const double *half,
                        hfi_spread_model *model, const spread_arrays *b)
{
    const hfi_subject *subject = taylor->subject;
    const double here = white_at(taylor, centre), unit = 64.0 * DBL_EPSILON;
    model->white_fall = model->white_rise = 0.0;
    double end[2];
    for (int side = 0; side < 2; side++) {
        memcpy(b->end, centre, subject->d * sizeof *b->end);
        for (size_t f = 0; f < subject->free_count; f++) {
            const double c = fabs(centre[subject->free[f]]);
            b->end[subject->free[f]] = side ? c + half[f] : fmax(0.0, c - half[f]);
        }
        end[side] = white_at(taylor, b->end);
    }
    if (end[0] != end[1]) {
        model->white_fall = fmax(0.0, here - end[0]) + unit * end[1];
        model->white_rise = fmax(0.0, end[1] - here) + unit * end[1];
    }
    model->ceiling = sqrt(model->ceiling * model->ceiling + end[1] * (1.0 + unit));
}

/* Squares add up over the terms: their features are orthogonal in the prior, and the posterior's are shorter. */
static void bound_terms(const hfi_taylor *taylor, const double *centre, const double *half,
                        hfi_spread_model *model)
{
    double remainder = 0.0, distance = 0.0, ceiling = 0.0;
    for (size_t k = 0; k < taylor->terms->count; k++) {
        const hfi_term *term = &taylor->terms->term[k];
        if (term->kind == HFI_TERM_GENERAL) {
            hfi_constants worth;
            hfi_general_constants(taylor->terms, term->node, term->order, centre, half, &worth);
            distance += worth.distance * worth.distance;
            ceiling += worth.size * worth.size;
            for (size_t a = 0; a < taylor->m; a++)
                model->remainder_share[a] += term->share[a] * half[a] * worth.distance;
            continue;
        }
        ceiling += term->self;
        if (term->kind == HFI_TERM_CONSTANT) continue;
        double square = 0.0;
        for (size_t a = 0; a < term->axes; a++) {
            const double v = half[term->axis[a]] / term->scale[a];
            square += v * v;
            model->remainder_share[term->axis[a]] += term->self * v * v;
        }
        const double tau = sqrt(square) * (1.0 + 4.0 * DBL_EPSILON * (double)(term->axes + 2));
        const double r = hfi_radial_linear_remainder(term->form, term->alpha, tau),
                     s = hfi_radial_distance_bound(term->form, term->alpha, tau);
        remainder += term->self * r * r;
        distance += term->self * s * s;
    }
    const double up = 1.0 + 16.0 * DBL_EPSILON;
    model->remainder = taylor->terms->smooth_radial ? sqrt(remainder) * up : (double)INFINITY;
    model->distance = sqrt(distance) * up;
    model->ceiling = sqrt(ceiling) * up;
}

/* A-priori for squared lengths of whitened columns: triangular solves are backward stable, products with a
 * dense R are sums of n. */
double hfi_taylor_variance_rounding(const hfi_taylor *taylor, double prior, double slopes)
{
    const hfi_solution *s = &taylor->subject->posterior->solution;
    const double n = (double)taylor->n;
    double worst = 2.0 + sqrt(taylor->condition);
    if (s->form == HFI_FORM_DENSE) worst = 2.0 + taylor->factor_norm * sqrt(n * prior);
    if (!(worst < 1e12)) worst = 1e12;
    const double unit = DBL_EPSILON * (2.0 * n + 64.0) * worst;
    return unit * (prior + slopes);
}

/* k(Z, c) and its derivatives, and the prior's part of the model. */
static void fill_spread_columns(const hfi_taylor *taylor, const double *centre, const double *half,
                                double *columns, hfi_spread_model *model, const spread_arrays *b)
{
    const hf_posterior *posterior = taylor->subject->posterior;
    const size_t n = taylor->n, m = taylor->m, d = taylor->subject->d;
    double slopes = 0.0;
    memset(model->b, 0, m * sizeof *model->b);
    memset(model->g, 0, m * m * sizeof *model->g);
    memset(model->remainder_share, 0, m * sizeof *model->remainder_share);
    hfi_kernel_cross_block(posterior->kernel, 1, centre, d, n, posterior->solution.z, d, columns, n,
                           b->scratch);
    hfi_kernel_diagonal(posterior->kernel, 1, centre, d, true, &model->var);
    if (taylor->terms->smooth_radial) {
        memset(columns + n, 0, n * m * sizeof *columns);
        for (size_t k = 0; k < taylor->terms->count; k++)
            if (taylor->terms->term[k].kind == HFI_TERM_RADIAL)
                add_derivatives(taylor, &taylor->terms->term[k], centre, half, columns, model, b);
        for (size_t a = 0; a < m; a++) slopes += sqrt(model->g[a * m + a]);
        slopes = 2.0 * slopes * sqrt(model->var) + slopes * slopes;
    }
    model->rounding = hfi_taylor_variance_rounding(taylor, model->var, slopes);
}

/* Takes off the prior's part what the data explain: w are the whitened columns of one box. */
static void take_off(size_t m, size_t columns, size_t rank, const double *w, size_t ld,
                     hfi_spread_model *model)
{
    model->var -= hfi_dot(rank, w, w);
    for (size_t a = 0; columns > 1 && a < m; a++) {
        const double *wa = w + (1 + a) * ld;
        model->b[a] = -hfi_dot(rank, w, wa);
        for (size_t c = a; c < m; c++) {
            model->g[a * m + c] -= hfi_dot(rank, wa, w + (1 + c) * ld);
            model->g[c * m + a] = model->g[a * m + c];
        }
    }
}

void hfi_taylor_spread(const hfi_taylor *taylor, size_t count, const double *centre, const double *half,
                       hfi_spread_model *models, double *scratch)
{
    size_t ld;
    spread_arrays b;
    (void)lay_out_spread_arrays(taylor, scratch, &b);
    const hfi_solution *s = &taylor->subject->posterior->solution;
    const size_t n = taylor->n, m = taylor->m, d = taylor->subject->d;
    const size_t columns = taylor->terms->smooth_radial ? 1 + m : 1;
    for (size_t q = 0; q < count; q++)
        fill_spread_columns(taylor, centre + q * d, half + q * m, b.columns + q * columns * n, &models[q],
                            &b);
    double *w = hfi_solution_whiten(s, columns * count, b.columns, n, b.room, &ld);
    for (size_t q = 0; q < count; q++) {
        models[q].white = w + q * columns * ld;
        models[q].white_ld = ld;
        models[q].solved = false;
        take_off(m, columns, hfi_solution_rank(s), w + q * columns * ld, ld, &models[q]);
        bound_terms(taylor, centre + q * d, half + q * m, &models[q]);
        bound_white(taylor, centre + q * d, half + q * m, &models[q], &b);
    }
}

void hfi_taylor_spread_on(const hfi_taylor *taylor, size_t count, hfi_spread_model *models)
{
    const hfi_solution *s = &taylor->subject->posterior->solution;
    if (s->form != HFI_FORM_EXACT || !taylor->terms->smooth_radial) return;
    hfi_chol_backward_block(s->n, (1 + taylor->m) * count, s->factor, s->capacity, models[0].white,
                            models[0].white_ld);
    for (size_t q = 0; q < count; q++) models[q].solved = true;
}
