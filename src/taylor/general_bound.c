/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of the features of a product of kernels in a box. Along a line x = c + s v the kernel between two of
 * its points has the Taylor coefficients
 *
 *     k(y + s v, y + s' v) = sum_ij C_ij s^i s'^j        |D_v^p phi(y)|^2 = (p!)^2 C_pp
 *
 * and the remainder of the polynomial of degree p - 1 is at most sup_y sqrt(C_pp) per unit of the norm. Sizes
 * of coefficients multiply and add along the tree; for stationary kernels nothing is lost by taking sizes,
 * since all that meet in C_pp have one sign, and C_pp grows with each |v_j|: the corner of the box has the
 * largest. */
#include "taylor/terms.h"

#include "kernel/expression.h"
#include "kernel/kernel.h"
#include "kernel/planes.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    ORDERS = 4 /* 0 to 3 */
};

/* Sizes of a factor's coefficients, its features' distance from the centre's; c[0][0]: largest |phi|^2 in the box. */
typedef struct worth {
    double c[ORDERS][ORDERS];
    double distance;
} worth;

typedef struct term_box {
    const hfi_terms *terms;
    const double *centre, *half;
} term_box;

static worth constant(double value)
{
    worth w = {.distance = 0.0};
    w.c[0][0] = value;
    return w;
}

static worth multiply_worths(const worth *a, const worth *b)
{
    worth w = {.distance = a->distance * sqrt(b->c[0][0]) + b->distance * sqrt(a->c[0][0])};
    for (int i = 0; i < ORDERS; i++)
        for (int j = 0; j < ORDERS; j++)
            for (int k = 0; k <= i; k++)
                for (int l = 0; l <= j; l++) w.c[i][j] += a->c[k][l] * b->c[i - k][j - l];
    return w;
}

static worth add_worths(const worth *a, const worth *b)
{
    worth w = {.distance = hypot(a->distance, b->distance)};
    for (int i = 0; i < ORDERS; i++)
        for (int j = 0; j < ORDERS; j++) w.c[i][j] = a->c[i][j] + b->c[i][j];
    return w;
}

/* From the sizes of kappa(s) = e0 + e1 s^2 + e2 s^4 + e3 s^6, s being s - s'. */
static worth stationary(const double e[ORDERS], double distance)
{
    static const double BINOMIAL[ORDERS][2 * ORDERS - 1] = {
        {1}, {1, 2, 1}, {1, 4, 6, 4, 1}, {1, 6, 15, 20, 15, 6, 1}};
    worth w = {.distance = distance};
    for (int m = 0; m < ORDERS; m++)
        for (int i = 0; i <= 2 * m; i++)
            if (i < ORDERS && 2 * m - i < ORDERS) w.c[i][2 * m - i] += e[m] * BINOMIAL[m][i];
    return w;
}

/* e := e f */
static void even_multiply(const double f[ORDERS], double e[ORDERS])
{
    for (int m = ORDERS; m-- > 0;) {
        double sum = 0.0;
        for (int k = 0; k <= m; k++) sum += e[k] * f[m - k];
        e[m] = sum;
    }
}

/* Half-width of a column; 0 where it is fixed. */
static double width(const term_box *at, size_t c)
{
    for (size_t f = 0; f < at->terms->free_count; f++)
        if (at->terms->free[f] == c) return at->half[f];
    return 0.0;
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

static worth bound_radial_leaf(const term_box *at, const hfi_leaf *leaf)
{
    double u = 0.0;
    for (size_t a = 0; a < leaf->columns; a++) {
        const double v = width(at, hfi_leaf_column(at->terms->kernel, leaf, a)) /
                         hfi_leaf_entry(at->terms->kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
        u += v * v;
    }
    double e[ORDERS] = {1.0, 0.0, 0.0, 0.0}, alpha = 0.0;
    switch (leaf->form) {
    case HFI_FORM_MATERN12:
        break;
    case HFI_FORM_MATERN32:
        e[1] = 1.5 * u;
        break;
    case HFI_FORM_MATERN52:
        e[1] = 5.0 / 6.0 * u;
        e[2] = 25.0 / 24.0 * u * u;
        break;
    case HFI_FORM_RQ:
        alpha = at->terms->kernel->value[hfi_leaf_at(leaf, HFI_FIELD_ALPHA)];
        e[1] = 0.5 * u;
        e[2] = (alpha + 1.0) / alpha * u * u / 8.0;
        e[3] = (alpha + 1.0) * (alpha + 2.0) / (alpha * alpha) * u * u * u / 48.0;
        break;
    default:
        e[1] = 0.5 * u;
        e[2] = u * u / 8.0;
        e[3] = u * u * u / 48.0;
        break;
    }
    return stationary(e, hfi_radial_distance_bound(leaf->form, alpha, sqrt(u)));
}

/* exp(-(1 - cos(2 w s)) / l^2) column by column, w = pi half / period. */
static worth bound_periodic_leaf(const term_box *at, const hfi_leaf *leaf)
{
    double e[ORDERS] = {1.0, 0.0, 0.0, 0.0}, exponent = 0.0;
    for (size_t a = 0; a < leaf->columns; a++) {
        const double w = HFI_PI * width(at, hfi_leaf_column(at->terms->kernel, leaf, a)) /
                         hfi_leaf_entry(at->terms->kernel, leaf, HFI_FIELD_PERIOD, a);
        const double l = hfi_leaf_entry(at->terms->kernel, leaf, HFI_FIELD_LENGTHSCALE, a), y = 4.0 * w * w,
                     b = 1.0 / (l * l);
        const double a1 = 0.5 * b * y, a2 = b * y * y / 24.0, a3 = b * y * y * y / 720.0;
        const double f[ORDERS] = {1.0, a1, a2 + 0.5 * a1 * a1, a3 + a1 * a2 + a1 * a1 * a1 / 6.0};
        even_multiply(f, e);
        const double wave = w < 0.5 * HFI_PI ? sin(w) : 1.0;
        exponent += 2.0 * wave * wave * b;
    }
    return stationary(e, sqrt(-2.0 * expm1(-exponent)));
}

static worth spectral(const term_box *at, const hfi_leaf *leaf)
{
    const double *value = at->terms->kernel->value;
    double total[ORDERS] = {0.0};
    for (size_t q = 0; q < leaf->components; q++) {
        const double weight = value[hfi_leaf_at(leaf, HFI_FIELD_WEIGHT) + q];
        double e[ORDERS] = {weight, 0.0, 0.0, 0.0};
        for (size_t a = 0; a < leaf->columns; a++) {
            const size_t p = q * leaf->columns + a;
            const double h = width(at, hfi_leaf_column(at->terms->kernel, leaf, a));
            const double g = 2.0 * HFI_PI * HFI_PI * value[hfi_leaf_at(leaf, HFI_FIELD_VARIANCE) + p] * h * h;
            const double w = 2.0 * HFI_PI * value[hfi_leaf_at(leaf, HFI_FIELD_MEAN) + p] * h, y = w * w;
            const double gauss[ORDERS] = {1.0, g, 0.5 * g * g, g * g * g / 6.0};
            const double wave[ORDERS] = {1.0, 0.5 * y, y * y / 24.0, y * y * y / 720.0};
            even_multiply(gauss, e);
            even_multiply(wave, e);
        }
        for (int m = 0; m < ORDERS; m++) total[m] += e[m];
    }
    /* |phi(x) - phi(c)|^2 is at most -kappa''(0) = 2 e1 along the line, and at most 4 kappa(0). */
    return stationary(total, sqrt(fmin(2.0 * total[1], 4.0 * total[0])));
}

static worth bound_linear_leaf(const term_box *at, const hfi_leaf *leaf)
{
    worth w = {.distance = 0.0};
    double distance = 0.0;
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t c = hfi_leaf_column(at->terms->kernel, leaf, a);
        const double v = hfi_leaf_entry(at->terms->kernel, leaf, HFI_FIELD_VARIANCE, a), h = width(at, c),
                     most = fabs(at->centre[c]) + h;
        w.c[0][0] += v * most * most;
        w.c[0][1] += v * most * h;
        w.c[1][1] += v * h * h;
        distance += v * h * h;
    }
    w.c[1][0] = w.c[0][1];
    w.distance = sqrt(distance);
    return w;
}

/* With c what u moves by: derivatives of wave's features are of length c^p, those of the others at most c^p times
 * the largest exp(u) in the box. */
static worth bound_plane_leaf(const term_box *at, const hfi_leaf *leaf)
{
    static const double FACTORIAL[ORDERS] = {1.0, 1.0, 2.0, 6.0};
    const hfi_plane p = hfi_plane_of(at->terms->kernel, leaf);
    double u = 0.0, c = 0.0, power[ORDERS] = {1.0};
    for (size_t a = 0; a < p.columns; a++) {
        u += p.slope[a] * at->centre[p.column[a]];
        c += fabs(p.turn * p.slope[a]) * width(at, p.column[a]);
    }
    const double most = leaf->form == HFI_FORM_TILT ? exp(u + c) : 1.0;
    for (int i = 1; i < ORDERS; i++) power[i] = power[i - 1] * c;
    if (leaf->form == HFI_FORM_WAVE) {
        const double y = c * c, e[ORDERS] = {1.0, 0.5 * y, y * y / 24.0, y * y * y / 720.0};
        return stationary(e, fmin(c, 2.0));
    }
    worth w = {.distance = leaf->form == HFI_FORM_TILT ? most * c : fmin(c, 2.0)};
    for (int i = 0; i < ORDERS; i++)
        for (int j = 0; j < ORDERS; j++)
            w.c[i][j] = most * most * power[i] * power[j] / (FACTORIAL[i] * FACTORIAL[j]);
    return w;
}

static worth leaf_worth(const term_box *at, const hfi_leaf *leaf)
{
    switch (leaf->form) {
    case HFI_FORM_PERIODIC:
        return bound_periodic_leaf(at, leaf);
    case HFI_FORM_LINEAR:
        return bound_linear_leaf(at, leaf);
    case HFI_FORM_SM:
        return spectral(at, leaf);
    case HFI_FORM_WAVE:
    case HFI_FORM_SWELL:
    case HFI_FORM_TILT:
        return bound_plane_leaf(at, leaf);
    default:
        return bound_radial_leaf(at, leaf);
    }
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static worth term_worth(const term_box *at, size_t term)
{
    const hf_kernel *kernel = at->terms->kernel;
    const size_t scale = kernel->nodes[term].scale;
    worth product = constant(scale == HFI_NONE ? 1.0 : kernel->value[scale]);
    for (size_t c = kernel->nodes[term].child; c != HFI_NONE; c = kernel->nodes[c].next) {
        const hfi_node *factor = &kernel->nodes[c];
        worth of_factor;
        if (!hfi_factor_is_free(at->terms, c)) {
            of_factor = constant(hfi_kernel_factor_value(kernel, c, at->centre, at->centre));
        } else if (factor->kind == HFI_NODE_LEAF) {
            of_factor = leaf_worth(at, &kernel->leaves[factor->leaf]);
        } else {
            of_factor = constant(0.0);
            for (size_t t = factor->child; t != HFI_NONE; t = kernel->nodes[t].next) {
                const worth of_term = term_worth(at, t);
                of_factor = add_worths(&of_factor, &of_term);
            }
        }
        product = multiply_worths(&product, &of_factor);
    }
    return product;
}

void hfi_general_constants(const hfi_terms *terms, size_t node, int order, const double *centre,
                           const double *half, hfi_constants *out)
{
    const term_box at = {terms, centre, half};
    const worth w = term_worth(&at, node);
    const double up = 1.0 + 256.0 * DBL_EPSILON;
    out->size = sqrt(w.c[0][0]) * up;
    out->distance = w.distance * up;
    out->orders = 0.0;
    for (int p = 0; p < order || p == 0; p++) out->orders += sqrt(w.c[p][p]);
    out->remainder = order > 0 ? sqrt(w.c[order][order]) * up : out->distance;
}
