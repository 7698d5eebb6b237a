/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel for one pair of points, in plain scalar code: the reference of the tiles, and the diagonal. */
#include "kernel/coregion.h"
#include "kernel/kernel.h"
#include "kernel/loops.h"
#include "kernel/planes.h"

#include <float.h>
#include <math.h>

typedef struct input_pair {
    const hf_kernel *kernel;
    const double *x, *z;
    bool same; /* white is seen */
} input_pair;

static double difference(const input_pair *at, const hfi_leaf *leaf, size_t a)
{
    const size_t c = hfi_leaf_column(at->kernel, leaf, a);
    return at->x[c] - at->z[c];
}

/* exp(-a), with the tail the tiles cut off cut off here too. */
static double decay(double a)
{
    return a > HFI_EXP_CUT ? 0.0 : exp(-a);
}

static double phase(double t, double frequency)
{
    return fmin(fabs(t) * fmin(frequency, DBL_MAX), HFI_PHASE_CUT);
}

static double compute_radial_value(const input_pair *at, const hfi_leaf *leaf)
{
    double r2 = 0.0;
    for (size_t a = 0; a < leaf->columns; a++) {
        const double u = difference(at, leaf, a) / hfi_leaf_entry(at->kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
        r2 += u * u;
    }
    if (r2 > HFI_HUGE) return 0.0;
    const double s3 = sqrt(3.0 * r2), s5 = sqrt(5.0 * r2);
    switch (leaf->form) {
    case HFI_FORM_MATERN12:
        return decay(sqrt(r2));
    case HFI_FORM_MATERN32:
        return (1.0 + s3) * decay(s3);
    case HFI_FORM_MATERN52:
        return (1.0 + s5 + 5.0 * r2 / 3.0) * decay(s5);
    case HFI_FORM_RQ: {
        const double alpha = at->kernel->value[hfi_leaf_at(leaf, HFI_FIELD_ALPHA)];
        return decay(alpha * log1p(fmin(r2 / (2.0 * alpha), HFI_HUGE)));
    }
    default:
        return decay(0.5 * r2);
    }
}

static double compute_periodic_value(const input_pair *at, const hfi_leaf *leaf)
{
    double sum = 0.0;
    for (size_t a = 0; a < leaf->columns; a++) {
        const double u = sin(phase(difference(at, leaf, a),
                                   HFI_PI / hfi_leaf_entry(at->kernel, leaf, HFI_FIELD_PERIOD, a))) /
                         hfi_leaf_entry(at->kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
        sum += u * u;
    }
    return decay(2.0 * sum);
}

static double compute_linear_value(const input_pair *at, const hfi_leaf *leaf)
{
    double sum = 0.0;
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t c = hfi_leaf_column(at->kernel, leaf, a);
        sum += hfi_leaf_entry(at->kernel, leaf, HFI_FIELD_VARIANCE, a) * (at->x[c] * at->z[c]);
    }
    return sum;
}

static double spectral(const input_pair *at, const hfi_leaf *leaf)
{
    const double *weight = at->kernel->value + hfi_leaf_at(leaf, HFI_FIELD_WEIGHT);
    const double *mean = at->kernel->value + hfi_leaf_at(leaf, HFI_FIELD_MEAN);
    const double *variance = at->kernel->value + hfi_leaf_at(leaf, HFI_FIELD_VARIANCE);
    double sum = 0.0;
    for (size_t q = 0; q < leaf->components; q++) {
        double exponent = 0.0, wave = 1.0;
        for (size_t a = 0; a < leaf->columns; a++) {
            const size_t p = q * leaf->columns + a;
            const double t = difference(at, leaf, a);
            exponent += fmin(2.0 * HFI_PI * HFI_PI * variance[p], DBL_MAX) * (t * t);
            wave *= cos(phase(t, 2.0 * HFI_PI * mean[p]));
        }
        sum += weight[q] * (decay(exponent) * wave);
    }
    return sum;
}

static double coregion(const input_pair *at, const hfi_leaf *leaf)
{
    const size_t c = hfi_leaf_column(at->kernel, leaf, 0);
    return hfi_coregion_value(at->kernel, leaf, (size_t)hfi_output_of(at->x[c], leaf->outputs),
                              (size_t)hfi_output_of(at->z[c], leaf->outputs));
}

static double category(const input_pair *at, const hfi_leaf *leaf)
{
    double sum = 0.0;
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t c = hfi_leaf_column(at->kernel, leaf, a);
        if (hfi_code_of(at->x[c]) != hfi_code_of(at->z[c]))
            sum += 1.0 / hfi_leaf_entry(at->kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
    }
    return decay(sum);
}

static double leaf_value(const input_pair *at, const hfi_leaf *leaf)
{
    switch (leaf->form) {
    case HFI_FORM_PERIODIC:
        return compute_periodic_value(at, leaf);
    case HFI_FORM_LINEAR:
        return compute_linear_value(at, leaf);
    case HFI_FORM_CONSTANT:
        return at->kernel->value[leaf->first];
    case HFI_FORM_WHITE:
        return at->same ? at->kernel->value[leaf->first] : 0.0;
    case HFI_FORM_SM:
        return spectral(at, leaf);
    case HFI_FORM_COREGION:
        return coregion(at, leaf);
    case HFI_FORM_CATEGORY:
        return category(at, leaf);
    case HFI_FORM_WAVE:
    case HFI_FORM_SWELL:
    case HFI_FORM_TILT: {
        const hfi_plane plane = hfi_plane_of(at->kernel, leaf);
        return hfi_plane_between(&plane, at->x, at->z);
    }
    default:
        return compute_radial_value(at, leaf);
    }
}

static double sum_value(const input_pair *at, size_t sum);

static double factor_value(const input_pair *at, size_t factor)
{
    const hfi_node *node = &at->kernel->nodes[factor];
    return node->kind == HFI_NODE_SUM ? sum_value(at, factor)
                                      : leaf_value(at, &at->kernel->leaves[node->leaf]);
}

double hfi_kernel_factor_value(const hf_kernel *kernel, size_t factor, const double *x, const double *z)
{
    const input_pair at = {kernel, x, z, false};
    return factor_value(&at, factor);
}

/* In the order of the tiles: factors from left to right, then the outputscale. */
static double term_without(const input_pair *at, size_t term, size_t except)
{
    const hf_kernel *kernel = at->kernel;
    double product = 1.0;
    for (size_t c = kernel->nodes[term].child; c != HFI_NONE; c = kernel->nodes[c].next)
        if (c != except) product *= factor_value(at, c);
    const size_t scale = kernel->nodes[term].scale;
    return scale == HFI_NONE ? product : kernel->value[scale] * product;
}

static double sum_value(const input_pair *at, size_t sum)
{
    const size_t first = at->kernel->nodes[sum].child;
    double total = term_without(at, first, HFI_NONE);
    for (size_t t = at->kernel->nodes[first].next; t != HFI_NONE; t = at->kernel->nodes[t].next)
        total += term_without(at, t, HFI_NONE);
    return total;
}

double hfi_kernel_value(const hf_kernel *kernel, const double *x, const double *z, bool same)
{
    const input_pair at = {kernel, x, z, same};
    return sum_value(&at, kernel->root);
}

bool hfi_kernel_has(const hf_kernel *kernel, hfi_form form)
{
    for (size_t l = 0; l < kernel->leaf_count; l++)
        if (kernel->leaves[l].form == form) return true;
    return false;
}

bool hfi_kernel_any(const hf_kernel *kernel, bool (*is)(hfi_form form))
{
    for (size_t l = 0; l < kernel->leaf_count; l++)
        if (is(kernel->leaves[l].form)) return true;
    return false;
}

bool hfi_kernel_variance_varies(const hf_kernel *kernel)
{
    return hfi_kernel_any(kernel, hfi_form_varies) || hfi_kernel_has(kernel, HFI_FORM_COREGION);
}

void hfi_kernel_diagonal(const hf_kernel *kernel, size_t m, const double *x, size_t ldx, bool with_white,
                         double *diag)
{
    const bool varies = hfi_kernel_variance_varies(kernel);
    for (size_t q = 0; q < m; q++)
        diag[q] = q == 0 || varies ? hfi_kernel_value(kernel, x + q * ldx, x + q * ldx, with_white) : diag[0];
}

/* ---- k(x, x) --------------------------------------------------------------------------------- */

static void plane_backward(const input_pair *at, const hfi_leaf *leaf, double adjoint, double *grad)
{
    const hfi_plane plane = hfi_plane_of(at->kernel, leaf);
    const hfi_plane_point p = hfi_plane_at(&plane, at->x);
    const double of_phase = 2.0 * adjoint * plane.turn * hfi_plane_slope(p, p);
    for (size_t a = 0; a < plane.columns; a++) grad[plane.column[a]] += of_phase * plane.slope[a];
}

/* d/dx k(x, x): only linear factors, swells and tilts have a slope along the diagonal. Forward values,
 * adjoints back, as on the tiles.
 */
static void diagonal_backward(const input_pair *at, size_t sum, double adjoint, double *grad)
{
    const hf_kernel *kernel = at->kernel;
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        for (size_t c = kernel->nodes[t].child; c != HFI_NONE; c = kernel->nodes[c].next) {
            const hfi_node *factor = &kernel->nodes[c];
            const bool varies =
                factor->kind == HFI_NODE_SUM || hfi_form_varies(kernel->leaves[factor->leaf].form);
            if (!varies) continue;
            const double of_factor = adjoint * term_without(at, t, c);
            if (factor->kind == HFI_NODE_SUM) {
                diagonal_backward(at, c, of_factor, grad);
                continue;
            }
            const hfi_leaf *leaf = &kernel->leaves[factor->leaf];
            if (hfi_form_is_plane(leaf->form)) {
                plane_backward(at, leaf, of_factor, grad);
                continue;
            }
            for (size_t a = 0; a < leaf->columns; a++) {
                const size_t j = hfi_leaf_column(at->kernel, leaf, a);
                grad[j] +=
                    of_factor * hfi_leaf_entry(at->kernel, leaf, HFI_FIELD_VARIANCE, a) * 2.0 * at->x[j];
            }
        }
    }
}

void hfi_kernel_diagonal_input_gradient(const hf_kernel *kernel, const double *x, double *grad)
{
    const input_pair at = {kernel, x, x, false};
    diagonal_backward(&at, kernel->root, 1.0, grad);
}
