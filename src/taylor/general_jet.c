/* SPDX-License-Identifier: Apache-2.0 */
/* Value, gradient and Hessian of a term, anchor by anchor, by the product rule along the tree. The term
 * is a product of several kernels of free inputs. */
#include "taylor/terms.h"

#include "kernel/expression.h"
#include "kernel/kernel.h"
#include "kernel/planes.h"

#include <math.h>
#include <string.h>

/* A jet: value, gradient (m), Hessian (a <= b, row by row). */
typedef struct jet_pair {
    const hfi_terms *terms;
    const double *x, *z;
    size_t m, columns;
} jet_pair;

static size_t position(const jet_pair *at, size_t column)
{
    for (size_t f = 0; f < at->m; f++)
        if (at->terms->free[f] == column) return f;
    return HFI_NONE;
}

static size_t packed(size_t m, size_t a, size_t b)
{
    const size_t low = a < b ? a : b, high = a < b ? b : a;
    return 1 + m + low * (2 * m - low + 1) / 2 + (high - low);
}

static void constant(const jet_pair *at, double value, double *jet)
{
    memset(jet, 0, at->columns * sizeof *jet);
    jet[0] = value;
}

/* jet := jet * other */
static void multiply_jets(const jet_pair *at, const double *other, double *jet)
{
    const size_t m = at->m;
    const double u = jet[0], v = other[0], *du = jet + 1, *dv = other + 1;
    double *h = jet + 1 + m;
    const double *k = other + 1 + m;
    for (size_t a = 0; a < m; a++)
        for (size_t b = a; b < m; b++, h++, k++) *h = *h * v + u * *k + du[a] * dv[b] + du[b] * dv[a];
    for (size_t a = 0; a < m; a++) jet[1 + a] = du[a] * v + u * dv[a];
    jet[0] = u * v;
}

/* A product of functions of one column each: with f its value and e_a, s_a the first and second derivatives
 * of its factors over the factor itself. */
static void multiply_column_jet(const jet_pair *at, size_t f, double value, double slope, double curve,
                                double *jet)
{
    /* jet := jet times the function of free input f with these derivatives; jet depends on inputs before f alone. */
    const size_t m = at->m;
    const double before = jet[0];
    for (size_t a = 0; a < m; a++)
        for (size_t b = a; b < m; b++) {
            double *h = jet + packed(m, a, b);
            if (a == f && b == f)
                *h = before * curve + 2.0 * jet[1 + f] * slope + *h * value;
            else if (a == f || b == f)
                *h = jet[1 + (a == f ? b : a)] * slope + *h * value;
            else
                *h *= value;
        }
    for (size_t a = 0; a < m; a++) jet[1 + a] = jet[1 + a] * value + (a == f ? before * slope : 0.0);
    jet[0] = before * value;
}

static double apart(const jet_pair *at, size_t c)
{
    return at->x[c] - at->z[c];
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

static void compute_radial_jet(const jet_pair *at, const hfi_leaf *leaf, double *jet)
{
    double q = 0.0, value, slope, curve;
    const double one = 1.0;
    const double alpha =
        leaf->form == HFI_FORM_RQ ? at->terms->kernel->value[hfi_leaf_at(leaf, HFI_FIELD_ALPHA)] : 0.0;
    for (size_t a = 0; a < leaf->columns; a++) {
        const double u = apart(at, hfi_leaf_column(at->terms->kernel, leaf, a)) /
                         hfi_leaf_entry(at->terms->kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
        q += u * u;
    }
    hfi_radial_weights(leaf->form, alpha, 1, &q, &one, &value, &slope, &curve);
    constant(at, value, jet);
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t f = position(at, hfi_leaf_column(at->terms->kernel, leaf, a));
        if (f == HFI_NONE) continue;
        const double la = hfi_leaf_entry(at->terms->kernel, leaf, HFI_FIELD_LENGTHSCALE, a),
                     ua = apart(at, hfi_leaf_column(at->terms->kernel, leaf, a)) / la / la;
        jet[1 + f] = slope * ua;
        jet[packed(at->m, f, f)] += slope / la / la;
        for (size_t b = a; b < leaf->columns; b++) {
            const size_t g = position(at, hfi_leaf_column(at->terms->kernel, leaf, b));
            if (g == HFI_NONE) continue;
            const double lb = hfi_leaf_entry(at->terms->kernel, leaf, HFI_FIELD_LENGTHSCALE, b);
            jet[packed(at->m, f, g)] +=
                curve * ua * apart(at, hfi_leaf_column(at->terms->kernel, leaf, b)) / lb / lb;
        }
    }
}

static void compute_periodic_jet(const jet_pair *at, const hfi_leaf *leaf, double *jet)
{
    constant(at, 1.0, jet);
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t c = hfi_leaf_column(at->terms->kernel, leaf, a), f = position(at, c);
        const double rate = HFI_PI / hfi_leaf_entry(at->terms->kernel, leaf, HFI_FIELD_PERIOD, a),
                     l2 = pow(hfi_leaf_entry(at->terms->kernel, leaf, HFI_FIELD_LENGTHSCALE, a), 2.0),
                     t = apart(at, c);
        const double wave = sin(rate * t), value = exp(-2.0 * wave * wave / l2);
        if (f == HFI_NONE) {
            for (size_t k = 0; k < at->columns; k++) jet[k] *= value;
            continue;
        }
        const double first = -2.0 * rate * sin(2.0 * rate * t) / l2,
                     second = -4.0 * rate * rate * cos(2.0 * rate * t) / l2;
        multiply_column_jet(at, f, value, value * first, value * (first * first + second), jet);
    }
}

static void compute_linear_jet(const jet_pair *at, const hfi_leaf *leaf, double *jet)
{
    constant(at, 0.0, jet);
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t c = hfi_leaf_column(at->terms->kernel, leaf, a), f = position(at, c);
        const double slope = hfi_leaf_entry(at->terms->kernel, leaf, HFI_FIELD_VARIANCE, a) * at->z[c];
        jet[0] += slope * at->x[c];
        if (f != HFI_NONE) jet[1 + f] += slope;
    }
}

static void component(const jet_pair *at, const hfi_leaf *leaf, size_t q, double *jet)
{
    const double *value = at->terms->kernel->value;
    constant(at, value[hfi_leaf_at(leaf, HFI_FIELD_WEIGHT) + q], jet);
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t c = hfi_leaf_column(at->terms->kernel, leaf, a), f = position(at, c),
                     p = q * leaf->columns + a;
        const double w = 2.0 * HFI_PI * value[hfi_leaf_at(leaf, HFI_FIELD_MEAN) + p],
                     s = 4.0 * HFI_PI * HFI_PI * value[hfi_leaf_at(leaf, HFI_FIELD_VARIANCE) + p],
                     t = apart(at, c);
        const double e = exp(-0.5 * s * t * t), cosine = cos(w * t), sine = sin(w * t);
        if (f == HFI_NONE) {
            for (size_t k = 0; k < at->columns; k++) jet[k] *= e * cosine;
            continue;
        }
        const double slope = -e * (s * t * cosine + w * sine);
        const double curve = e * ((s * s * t * t - s - w * w) * cosine + 2.0 * s * t * w * sine);
        multiply_column_jet(at, f, e * cosine, slope, curve, jet);
    }
}

/* A function of u alone: the slope is turn f times that per unit of u, the curvature -u^2 or u^2 likewise. */
static void compute_plane_jet(const jet_pair *at, const hfi_leaf *leaf, double *jet)
{
    const hfi_plane p = hfi_plane_of(at->terms->kernel, leaf);
    const hfi_plane_point x = hfi_plane_at(&p, at->x), z = hfi_plane_at(&p, at->z);
    const double value = hfi_plane_value(x, z), slope = hfi_plane_slope(x, z),
                 curve = leaf->form == HFI_FORM_TILT ? value : -value;
    constant(at, value, jet);
    for (size_t a = 0; a < p.columns; a++) {
        const size_t f = position(at, p.column[a]);
        if (f == HFI_NONE) continue;
        jet[1 + f] = slope * p.turn * p.slope[a];
        for (size_t b = a; b < p.columns; b++) {
            const size_t g = position(at, p.column[b]);
            if (g != HFI_NONE) jet[packed(at->m, f, g)] = curve * p.turn * p.slope[a] * p.turn * p.slope[b];
        }
    }
}

static void leaf_jet(const jet_pair *at, const hfi_leaf *leaf, double *jet, double *spare)
{
    switch (leaf->form) {
    case HFI_FORM_PERIODIC:
        compute_periodic_jet(at, leaf, jet);
        break;
    case HFI_FORM_LINEAR:
        compute_linear_jet(at, leaf, jet);
        break;
    case HFI_FORM_WAVE:
    case HFI_FORM_SWELL:
    case HFI_FORM_TILT:
        compute_plane_jet(at, leaf, jet);
        break;
    case HFI_FORM_SM:
        constant(at, 0.0, jet);
        for (size_t q = 0; q < leaf->components; q++) {
            component(at, leaf, q, spare);
            for (size_t k = 0; k < at->columns; k++) jet[k] += spare[k];
        }
        break;
    default:
        compute_radial_jet(at, leaf, jet);
        break;
    }
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static void term_jet(const jet_pair *at, size_t term, double *jet, double *spare);

static void sum_jet(const jet_pair *at, size_t sum, double *jet, double *spare)
{
    const hf_kernel *kernel = at->terms->kernel;
    constant(at, 0.0, jet);
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        term_jet(at, t, spare, spare + at->columns);
        for (size_t k = 0; k < at->columns; k++) jet[k] += spare[k];
    }
}

/* Two jets for each level of the tree: a factor's, and what the factor needs itself. */
static void term_jet(const jet_pair *at, size_t term, double *jet, double *spare)
{
    const hf_kernel *kernel = at->terms->kernel;
    const size_t scale = kernel->nodes[term].scale;
    constant(at, scale == HFI_NONE ? 1.0 : kernel->value[scale], jet);
    for (size_t c = kernel->nodes[term].child; c != HFI_NONE; c = kernel->nodes[c].next) {
        const hfi_node *factor = &kernel->nodes[c];
        if (!hfi_factor_is_free(at->terms, c)) {
            const double value = hfi_kernel_factor_value(kernel, c, at->x, at->z);
            for (size_t k = 0; k < at->columns; k++) jet[k] *= value;
            continue;
        }
        if (factor->kind == HFI_NODE_SUM)
            sum_jet(at, c, spare, spare + at->columns);
        else
            leaf_jet(at, &kernel->leaves[factor->leaf], spare, spare + at->columns);
        multiply_jets(at, spare, jet);
    }
}

size_t hfi_general_scratch(const hfi_terms *terms)
{
    return (2 * (size_t)HFI_MAX_DEPTH + 4) * hfi_term_columns(terms->free_count);
}

void hfi_general_jet(const hfi_terms *terms, const hfi_term *term, const double *x, const double *weight,
                     double *sum, double *scratch)
{
    jet_pair at = {
        .terms = terms, .x = x, .m = terms->free_count, .columns = hfi_term_columns(terms->free_count)};
    double *jet = scratch, *spare = scratch + at.columns;
    const size_t kept = term->order >= 3 ? at.columns : term->order == 2 ? 1 + at.m : 1;
    for (size_t i = 0; i < terms->n; i++) {
        at.z = terms->anchor + i * terms->d;
        term_jet(&at, term->node, jet, spare);
        for (size_t k = 0; k < kept; k++) sum[k] += weight[i] * jet[k];
    }
}
