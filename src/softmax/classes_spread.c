/* SPDX-License-Identifier: Apache-2.0 */
/* The covariance between the classes, S_ij(x) = [i = j] k(x, x) - w_i(x)'w_j(x), w_i = R'k_i(Z, x): the
 * prior's part is constant for stationary kernels. The other one, what the data explain, has a Taylor polynomial about
 * the box or about a larger one; the norms of features bound its remainders (certify.md): w_i belongs to a part of the
 * prior's features, and a functional of them is no longer than that of all. Its products are a polynomial whose
 * coefficients are the entries of a Gram matrix. */
#include "softmax/classes.h"

#include "linalg/linalg.h"
#include <float.h>
#include <math.h>
#include <string.h>

size_t hfi_jet_count(size_t m, int degree)
{
    return degree == 0 ? 1 : degree == 1 ? 1 + m : 1 + m + m * (m + 1) / 2;
}

/* Place of v_a v_b, a <= b, among the jets. */
static size_t pair_of(size_t m, size_t a, size_t b)
{
    return a * m - a * (a + 1) / 2 + b;
}

static size_t square_at(size_t m, size_t a, size_t b)
{
    return a < b ? 1 + m + pair_of(m, a, b) : 1 + m + pair_of(m, b, a);
}

size_t hfi_jets_room(const hfi_classes *c, int degree)
{
    const size_t all = c->classes * hfi_jet_count(c->m, degree);
    return all * all + 2 * c->m;
}

/* ---- making jets --------------------------------------------------------------------------------------- */

typedef struct class_jet_arrays {
    double *columns; /* rows x count */
    double *q, *value, *slope, *curve;
    double *x;       /* m */
    double *centre;  /* d */
    double *scratch; /* of the kernel */
    double *white;   /* rank x C count: whitened */
    double *room;
} class_jet_arrays;

/* Derivatives of what a radial term has of k(Z, centre) along the half-widths: d_a, then d_a d_b (a < b) and
 * d_a d_a / 2. */
static void add_columns(const hfi_class *side, const hfi_term *term, size_t m, int degree,
                        const double *centre, const double *half, double *columns, size_t ld,
                        const class_jet_arrays *b)
{
    const size_t n = side->taylor.n;
    for (size_t a = 0; a < term->axes; a++) {
        const size_t f = term->axis[a];
        b->x[a] = (centre[f] - side->subject.middle[side->subject.free[f]]) / term->scale[a];
    }
    hfi_radial_distance(n, term->axes, b->x, term->z, n, b->q);
    for (size_t i = 0; term->offset && i < n; i++) b->q[i] += term->offset[i];
    hfi_radial_weights(term->form, term->alpha, n, b->q, term->factor, b->value, b->slope, b->curve);
    for (size_t a = 0; a < term->axes; a++) {
        const size_t fa = term->axis[a];
        const double wa = half[fa] / term->scale[a], *za = term->z + a * n;
        double *first = columns + (1 + fa) * ld;
        for (size_t i = 0; i < n; i++) first[i] += wa * b->slope[i] * (b->x[a] - za[i]);
        for (size_t c = a; degree == 2 && c < term->axes; c++) {
            const double w = wa * half[term->axis[c]] / term->scale[c] * (c == a ? 0.5 : 1.0),
                         *zc = term->z + c * n;
            double *second = columns + square_at(m, fa, term->axis[c]) * ld;
            for (size_t i = 0; i < n; i++) {
                double entry = b->curve[i] * (b->x[a] - za[i]) * (b->x[c] - zc[i]);
                if (c == a) entry += b->slope[i];
                second[i] += w * entry;
            }
        }
    }
}

/* Columns of one class for one of the jets. */
static void fill_class_jet_columns(const hfi_classes *c, const hfi_class *side, const hfi_jets *jets,
                                   double *columns, size_t rows, const class_jet_arrays *b)
{
    const hf_posterior *posterior = c->posterior;
    const size_t n = side->taylor.n;
    memcpy(b->centre, side->subject.middle, c->d * sizeof *b->centre);
    for (size_t f = 0; f < c->m; f++) b->centre[side->subject.free[f]] = jets->centre[f];
    hfi_kernel_cross_block(posterior->kernel, 1, b->centre, c->d, n,
                           posterior->solution.z + side->first * c->d, c->d, columns, rows, b->scratch);
    for (size_t k = 0; jets->degree > 0 && k < side->taylor.terms->count; k++)
        if (side->taylor.terms->term[k].kind == HFI_TERM_RADIAL)
            add_columns(side, &side->taylor.terms->term[k], c->m, jets->degree, jets->centre, jets->half,
                        columns, rows, b);
}

/* Columns of one class for all jets, whitened, into out (rank x together count). */
static void whiten_class_jets(const hfi_classes *c, const hfi_class *side, size_t together,
                              const hfi_jets *jets, double *out, const class_jet_arrays *b)
{
    const hfi_solution *s = &c->posterior->solution;
    const size_t count = jets->count, all = together * count, rank = hfi_solution_rank(s);
    const bool dense = s->form == HFI_FORM_DENSE;
    const size_t rows = dense ? side->taylor.n : s->n;
    double *columns = b->columns + (dense ? 0 : side->first);
    memset(b->columns, 0, rows * all * sizeof *b->columns);
    for (size_t k = 0; k < together; k++)
        fill_class_jet_columns(c, side, &jets[k], columns + k * count * rows, rows, b);
    if (dense) {
        hfi_gemm_tn(rank, all, rows, 1.0, s->r + side->first, s->n, columns, rows, 0.0, out, rank);
        return;
    }
    size_t ld;
    const double *w = hfi_solution_whiten(s, all, b->columns, rows, b->room, &ld);
    for (size_t k = 0; k < all; k++) memcpy(out + k * rank, w + k * ld, rank * sizeof *out);
}

static size_t lay_out_class_jets(const hfi_classes *c, size_t all, double *scratch, class_jet_arrays *b)
{
    const hfi_solution *s = &c->posterior->solution;
    const bool dense = s->form == HFI_FORM_DENSE;
    const size_t widest = c->widest;
    return HFI_LAY_OUT(scratch, HFI_ROOM(b->q, widest), HFI_ROOM(b->value, widest),
                       HFI_ROOM(b->slope, widest), HFI_ROOM(b->curve, widest), HFI_ROOM(b->x, c->m),
                       HFI_ROOM(b->centre, c->d),
                       HFI_ROOM(b->scratch, hfi_kernel_scratch(c->posterior->kernel)),
                       HFI_ROOMS(b->white, c->classes * all, hfi_solution_rank(s)),
                       HFI_ROOMS(b->columns, dense ? widest : s->n, all),
                       HFI_ROOM(b->room, dense ? 0 : hfi_solution_room(s, all)));
}

size_t hfi_jets_scratch(const hfi_classes *c, int degree, size_t together)
{
    class_jet_arrays b;
    return lay_out_class_jets(c, together * hfi_jet_count(c->m, degree), NULL, &b);
}

/* Products of n numbers, of columns that a dense factor or triangular solves have made; as for one output
 * (taylor_spread.c). */
static double rounding_of(const hfi_classes *c, double largest)
{
    const hfi_solution *s = &c->posterior->solution;
    const double n = (double)s->n;
    double worst = 2.0 + sqrt(fmax(s->condition, 1.0));
    if (s->form == HFI_FORM_DENSE) worst = 2.0 + c->factor_norm * sqrt(n * c->prior);
    if (!(worst < 1e12)) worst = 1e12;
    return DBL_EPSILON * (2.0 * n + 64.0) * worst * largest;
}

hfi_jets hfi_jets_about(const hfi_classes *c, int degree, const double *centre, const double *half,
                        double *room)
{
    const hfi_jets out = {.degree = degree,
                          .count = hfi_jet_count(c->m, degree),
                          .centre = room,
                          .half = room + c->m,
                          .gram = room + 2 * c->m};
    memcpy(out.centre, centre, c->m * sizeof *centre);
    memcpy(out.half, half, c->m * sizeof *half);
    return out;
}

/* Gram matrix of the k-th of the jets, from blocks of two classes each. */
static void multiply_out(const hfi_classes *c, size_t together, size_t k, const double *white, hfi_jets *out)
{
    const size_t count = out->count, all = c->classes * count,
                 rank = hfi_solution_rank(&c->posterior->solution);
    double largest = c->prior;
    for (size_t j = 0; j < c->classes; j++)
        for (size_t i = 0; i <= j; i++)
            hfi_gemm_tn(count, count, rank, 1.0, white + (i * together + k) * count * rank, rank,
                        white + (j * together + k) * count * rank, rank, 0.0,
                        out->gram + i * count + j * count * all, all);
    for (size_t q = 0; q < all; q++) {
        for (size_t p = 0; p < q / count * count; p++) out->gram[q + p * all] = out->gram[p + q * all];
        largest = fmax(largest, out->gram[q * (all + 1)]);
    }
    out->rounding = rounding_of(c, 2.0 * largest);
}

void hfi_jets_fill(const hfi_classes *c, size_t together, hfi_jets *jets, double *scratch)
{
    if (together == 0) return;
    const size_t each = together * jets->count, rank = hfi_solution_rank(&c->posterior->solution);
    class_jet_arrays b;
    (void)lay_out_class_jets(c, each, scratch, &b);
    for (size_t i = 0; i < c->classes; i++)
        whiten_class_jets(c, &c->side[i], together, jets, b.white + i * each * rank, &b);
    for (size_t k = 0; k < together; k++) multiply_out(c, together, k, b.white, &jets[k]);
}

/* ---- what is left ------------------------------------------------------------------------------------------------ */

/* Distance of the farthest point of a box from where the jets are, in units of a term. */
static double reach_of(const hfi_term *term, const double *origin, const double *centre, const double *half)
{
    double square = 0.0;
    for (size_t a = 0; a < term->axes; a++) {
        const size_t f = term->axis[a];
        const double far = (fabs(centre[f] - origin[f]) + half[f]) / term->scale[a];
        square += far * far;
    }
    return sqrt(square) * (1.0 + 4.0 * DBL_EPSILON * (double)(term->axes + 4));
}

/* Distance of a general term, which jets of degree 0 alone know. `full` d entries of scratch. */
static double general_distance(const hfi_classes *c, size_t i, const hfi_term *term, const double *centre,
                               const double *half, double *full)
{
    hfi_constants worth;
    memcpy(full, c->side[i].subject.middle, c->d * sizeof *full);
    for (size_t f = 0; f < c->m; f++) full[c->side[i].subject.free[f]] = centre[f];
    hfi_general_constants(c->side[i].taylor.terms, term->node, term->order, full, half, &worth);
    return worth.distance;
}

/* How far the features can be from their polynomial (degree 0: from where they are at the jets' centre) in a box. */
double hfi_jets_remainder(const hfi_classes *c, int degree, const double *origin, size_t i,
                          const double *centre, const double *half, double *full)
{
    double square = 0.0;
    const hfi_terms *terms = c->side[i].taylor.terms;
    for (size_t k = 0; k < terms->count; k++) {
        const hfi_term *term = &terms->term[k];
        double left = 0.0;
        if (term->kind == HFI_TERM_CONSTANT) continue;
        if (term->kind == HFI_TERM_GENERAL) {
            left = general_distance(c, i, term, centre, half, full);
            square += left * left;
            continue;
        }
        const double tau = reach_of(term, origin, centre, half);
        if (degree == 2)
            left = hfi_radial_remainder(term->form, term->alpha, tau);
        else if (degree == 1)
            left = hfi_radial_linear_remainder(term->form, term->alpha, tau);
        else
            left = hfi_radial_distance_bound(term->form, term->alpha, tau);
        square += term->self * left * left;
    }
    return sqrt(square) * (1.0 + 16.0 * DBL_EPSILON);
}

/* ---- the model of a box ------------------------------------------------------------------------------------------ */

typedef struct class_box_shape {
    size_t m, count, all;
    double *v, *eta; /* m: the box's centre and half-widths in units of the jets */
    double *e;       /* count */
    double *of_e;    /* C x all: Gram times e of one class: of_e[j] = Gram (e_j) */
    double *slope;   /* m x all of one class: Gram times d_a e */
    double *full;    /* d */
    double *unit;    /* count: half-widths of the squares */
} class_box_shape;

static size_t lay_out_shape(const hfi_classes *c, size_t count, double *scratch, class_box_shape *s)
{
    *s = (class_box_shape){.m = c->m, .count = count, .all = c->classes * count};
    return HFI_LAY_OUT(scratch, HFI_ROOM(s->v, s->m), HFI_ROOM(s->eta, s->m), HFI_ROOM(s->e, count),
                       HFI_ROOMS(s->of_e, c->classes, s->all), HFI_ROOMS(s->slope, s->m, s->all),
                       HFI_ROOM(s->full, c->d), HFI_ROOM(s->unit, count));
}

size_t hfi_covariance_scratch(const hfi_classes *c)
{
    const int most = c->degree > c->local_degree ? c->degree : c->local_degree;
    class_box_shape s;
    return lay_out_shape(c, hfi_jet_count(c->m, most), NULL, &s);
}

static class_box_shape place_shape(const hfi_classes *c, const hfi_jets *jets, const double *centre,
                                   const double *half, double *scratch)
{
    class_box_shape s;
    (void)lay_out_shape(c, jets->count, scratch, &s);
    for (size_t a = 0; a < c->m; a++) {
        const double unit = jets->half[a];
        s.v[a] = unit > 0.0 ? (centre[a] - jets->centre[a]) / unit : 0.0;
        s.eta[a] = unit > 0.0 ? half[a] / unit : 0.0;
    }
    memset(s.e, 0, s.count * sizeof *s.e);
    s.e[0] = 1.0;
    for (size_t a = 0; jets->degree >= 1 && a < c->m; a++) {
        s.e[1 + a] = s.v[a];
        for (size_t b = a; jets->degree == 2 && b < c->m; b++) s.e[square_at(c->m, a, b)] = s.v[a] * s.v[b];
    }
    return s;
}

/* out (all) := Gram times the vector d_a e (a < m) or e (a = m) of class j. */
static void apply_class_gram(const class_box_shape *s, const hfi_jets *jets, size_t j, size_t a, double *out)
{
    const double *gram = jets->gram + j * s->count * s->all;
    memset(out, 0, s->all * sizeof *out);
    if (a == s->m) {
        for (size_t k = 0; k < s->count; k++)
            if (s->e[k] != 0.0) hfi_add_multiple(s->all, s->e[k], gram + k * s->all, out);
        return;
    }
    hfi_add_multiple(s->all, s->eta[a], gram + (1 + a) * s->all, out);
    for (size_t b = 0; jets->degree == 2 && b < s->m; b++) {
        const double factor = s->eta[a] * s->v[b] * (a == b ? 2.0 : 1.0);
        if (factor != 0.0) hfi_add_multiple(s->all, factor, gram + square_at(s->m, a, b) * s->all, out);
    }
}

/* A column of `apply` times e or d_a e of class i. */
static double times(const class_box_shape *s, const hfi_jets *jets, size_t i, size_t a, const double *column)
{
    const double *own = column + i * s->count;
    double sum = 0.0;
    if (a == s->m) {
        for (size_t k = 0; k < s->count; k++) sum += s->e[k] * own[k];
        return sum;
    }
    sum = s->eta[a] * own[1 + a];
    for (size_t b = 0; jets->degree == 2 && b < s->m; b++)
        sum += s->eta[a] * s->v[b] * (a == b ? 2.0 : 1.0) * own[square_at(s->m, a, b)];
    return sum;
}

/* Terms of third and fourth order of w_i'w_j, w_i = A_i + J_i u + Q_i(u, u): the sum of the sizes of the
 * coefficients. `slope`: of class j. */
static void add_higher(const hfi_classes *c, const class_box_shape *s, const hfi_jets *jets, size_t j,
                       double *lost)
{
    const size_t m = s->m, first = 1 + m;
    double *unit = s->unit;
    for (size_t i = 0; i < c->classes; i++) {
        double third = 0.0, fourth = 0.0;
        size_t k = first;
        for (size_t a = 0; a < m; a++)
            for (size_t b = a; b < m; b++, k++) unit[k] = s->eta[a] * s->eta[b];
        for (k = first; k < s->count; k++) {
            const double *row = jets->gram + (j * s->count + k) * s->all + i * s->count;
            double sum = 0.0;
            for (size_t a = 0; a < m; a++) sum += fabs(s->slope[a * s->all + i * s->count + k]);
            third += unit[k] * sum;
            sum = 0.0;
            for (size_t l = first; l < s->count; l++) sum += fabs(row[l]) * unit[l];
            fourth += unit[k] * sum;
        }
        lost[i * c->classes + j] += third + 0.5 * fourth;
        lost[j * c->classes + i] += third + 0.5 * fourth;
    }
}

static void fill_model(const hfi_classes *c, const class_box_shape *s, const hfi_jets *jets,
                       hfi_covariance_model *out)
{
    const size_t classes = c->classes, m = s->m, square = classes * classes;
    for (size_t j = 0; j < classes; j++) apply_class_gram(s, jets, j, m, s->of_e + j * s->all);
    for (size_t i = 0; i < classes; i++)
        for (size_t j = 0; j < classes; j++) {
            const double *of_j = s->of_e + j * s->all, *of_i = s->of_e + i * s->all;
            out->here[i * classes + j] = -times(s, jets, i, m, of_j);
            for (size_t a = 0; jets->degree >= 1 && a < m; a++)
                out->linear[a * square + i * classes + j] =
                    -times(s, jets, i, a, of_j) - times(s, jets, j, a, of_i);
            for (size_t a = 0; jets->degree == 2 && a < m; a++)
                for (size_t b = a; b < m; b++) {
                    const size_t k = square_at(m, a, b);
                    out->square[pair_of(m, a, b) * square + i * classes + j] =
                        -s->eta[a] * s->eta[b] * (of_j[i * s->count + k] + of_i[j * s->count + k]);
                }
        }
    for (size_t j = 0; jets->degree >= 1 && j < classes; j++) {
        for (size_t a = 0; a < m; a++) apply_class_gram(s, jets, j, a, s->slope + a * s->all);
        for (size_t i = 0; i < classes; i++)
            for (size_t a = 0; a < m; a++)
                for (size_t b = 0; b < m; b++)
                    out->square[pair_of(m, a < b ? a : b, a < b ? b : a) * square + i * classes + j] -=
                        times(s, jets, i, a, s->slope + b * s->all);
        if (jets->degree == 2) add_higher(c, s, jets, j, out->lost);
    }
}

/* Whether the jets are about the box's own centre. */
static bool is_centred(const class_box_shape *s)
{
    for (size_t a = 0; a < s->m; a++)
        if (s->v[a] != 0.0) return false;
    return true;
}

/* The polynomials of the posterior's features have, beside those of what the data explain, the prior's own.
 * About their own centre that is constant to the third degree, and
 * |D^2 / 2|^2 of the prior's features, a quarter of the fourth derivative of the kernel along a line, is what is in
 * the fourth. */
static double prior_squares(const hfi_classes *c, size_t i, const double *centre, const double *half)
{
    const hfi_terms *terms = c->side[i].taylor.terms;
    double sum = 0.0;
    for (size_t k = 0; k < terms->count; k++) {
        const hfi_term *term = &terms->term[k];
        if (term->kind != HFI_TERM_RADIAL) continue;
        const double tau = reach_of(term, centre, centre, half), square = tau * tau;
        sum += term->self * 0.75 * hfi_radial_curve_bound(term->form, term->alpha) * square * square;
    }
    return sum * (1.0 + 1e-12);
}

/* The prior's part: constant along smooth radial terms; any other moves the features, which are then all that
 * is known. */
static void add_prior(const hfi_classes *c, const class_box_shape *s, const hfi_jets *jets,
                      const double *centre, const double *half, hfi_covariance_model *out)
{
    double widths = 1.0;
    for (size_t a = 0; a < s->m; a++) widths += fabs(s->v[a]) + fabs(s->eta[a]);
    if (jets->degree == 2) widths *= widths;
    const double rounding = jets->rounding * widths * widths;
    for (size_t k = 0; k < c->classes * c->classes; k++) out->lost[k] += rounding;
    for (size_t i = 0; i < c->classes; i++) {
        double prior;
        memcpy(s->full, c->side[i].subject.middle, c->d * sizeof *s->full);
        for (size_t f = 0; f < c->m; f++) s->full[c->side[i].subject.free[f]] = centre[f];
        hfi_kernel_diagonal(c->posterior->kernel, 1, s->full, c->d, false, &prior);
        /* Surely not below 0 as a matrix: what rounding could take off is put on. */
        const double own = (double)c->classes * rounding;
        out->here[i * (c->classes + 1)] += prior + own;
        out->lost[i * (c->classes + 1)] += own;
    }
    /* The remainders of the features meet those of the posterior, or the part of them that the data explain. */
    const bool whole = jets->degree == 0 || (jets->degree == 2 && is_centred(s));
    for (size_t i = 0; i < c->classes; i++) {
        for (size_t j = 0; j < c->classes; j++) {
            const size_t k = i * c->classes + j;
            out->meets[k] = whole ? out->here[k] : times(s, jets, i, s->m, s->of_e + j * s->all);
        }
        if (whole && jets->degree == 2) out->lost[i * (c->classes + 1)] += prior_squares(c, i, centre, half);
    }
}

/* White variance is not in the jets. Along the diagonal only linear kernels see where they are, and what they
 * add grows with each |x_j|. */
static void add_white(const hfi_classes *c, const class_box_shape *s, const double *centre,
                      const double *half, hfi_covariance_model *out)
{
    const hf_kernel *kernel = c->posterior->kernel;
    for (size_t i = 0; i < c->classes; i++) {
        const hfi_subject *subject = &c->side[i].subject;
        double white[3], without;
        for (int place = 0; place < 3; place++) {
            memcpy(s->full, subject->middle, c->d * sizeof *s->full);
            for (size_t f = 0; f < c->m; f++) {
                const double x = centre[f];
                s->full[subject->free[f]] = place == 0   ? x
                                            : place == 1 ? fmax(0.0, fabs(x) - half[f])
                                                         : fabs(x) + half[f];
            }
            hfi_kernel_diagonal(kernel, 1, s->full, c->d, true, &white[place]);
            hfi_kernel_diagonal(kernel, 1, s->full, c->d, false, &without);
            white[place] -= without;
        }
        out->here[i * (c->classes + 1)] += white[0];
        if (white[1] != white[2])
            out->lost[i * (c->classes + 1)] +=
                fmax(white[0] - white[1], white[2] - white[0]) + 64.0 * DBL_EPSILON * c->prior;
    }
}

static void find_moves(const hfi_classes *c, const class_box_shape *s, const hfi_jets *jets,
                       const double *centre, const double *half, hfi_covariance_model *out)
{
    memset(out->share, 0, c->m * sizeof *out->share);
    for (size_t i = 0; i < c->classes; i++) {
        const hfi_terms *terms = c->side[i].taylor.terms;
        out->remainder[i] = hfi_jets_remainder(c, jets->degree, jets->centre, i, centre, half, s->full);
        out->moved[i] = hfi_jets_remainder(c, 0, centre, i, centre, half, s->full);
        for (size_t k = 0; k < terms->count; k++) {
            const hfi_term *term = &terms->term[k];
            for (size_t a = 0; term->kind == HFI_TERM_RADIAL && a < term->axes; a++) {
                const double w = half[term->axis[a]] / term->scale[a];
                out->share[term->axis[a]] += term->self * w * w;
            }
            for (size_t f = 0; term->kind == HFI_TERM_GENERAL && f < c->m; f++)
                out->share[f] += term->share[f] * half[f];
        }
    }
}

void hfi_covariance_of_box(const hfi_classes *c, const hfi_jets *jets, const double *centre,
                           const double *half, hfi_covariance_model *out, double *scratch)
{
    const size_t square = c->classes * c->classes;
    const class_box_shape s = place_shape(c, jets, centre, half, scratch);
    memset(out->linear, 0, c->m * square * sizeof *out->linear);
    memset(out->square, 0, c->m * (c->m + 1) / 2 * square * sizeof *out->square);
    memset(out->lost, 0, square * sizeof *out->lost);
    fill_model(c, &s, jets, out);
    add_prior(c, &s, jets, centre, half, out);
    add_white(c, &s, centre, half, out);
    find_moves(c, &s, jets, centre, half, out);
}
