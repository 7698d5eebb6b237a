/* SPDX-License-Identifier: Apache-2.0 */
/* Prior variances k(x, x) and their gradient in the parameters. On the diagonal only amplitudes are left: radial and
 * periodic factors are 1 there, whatever their lengthscales. */
#include "kernel/coregion.h"
#include "kernel/kernel.h"
#include "kernel/planes.h"

typedef struct diagonal_point {
    const hf_kernel *kernel;
    const double
        *x; /* NULL: of no output, which stands for the mean of all, and of inputs that are all `number` */
    bool white;
    double number;
} diagonal_point;

static double linear_term(const diagonal_point *at, const hfi_leaf *leaf, size_t a)
{
    const double x = at->x ? at->x[at->kernel->columns[leaf->column_at + a]] : at->number;
    return at->kernel->value[leaf->first + (leaf->ard ? a : 0)] * (x * x);
}

/* The output of the point. */
static size_t output(const diagonal_point *at, const hfi_leaf *leaf)
{
    return (size_t)hfi_output_of(at->x[at->kernel->columns[leaf->column_at]], leaf->outputs);
}

static double leaf_value(const diagonal_point *at, const hfi_leaf *leaf)
{
    const double *value = at->kernel->value + leaf->first;
    double sum = 0.0;
    switch (leaf->form) {
    case HFI_FORM_LINEAR:
        for (size_t a = 0; a < leaf->columns; a++) sum += linear_term(at, leaf, a);
        return sum;
    case HFI_FORM_CONSTANT:
        return value[0];
    case HFI_FORM_WHITE:
        return at->white ? value[0] : 0.0;
    case HFI_FORM_SM:
        value = at->kernel->value + hfi_leaf_at(leaf, HFI_FIELD_WEIGHT);
        for (size_t q = 0; q < leaf->components; q++) sum += value[q];
        return sum;
    case HFI_FORM_COREGION:
        return at->x ? hfi_coregion_value(at->kernel, leaf, output(at, leaf), output(at, leaf))
                     : hfi_coregion_mean(at->kernel, leaf);
    case HFI_FORM_SWELL:
    case HFI_FORM_TILT: {
        if (!at->x) return 1.0;
        const hfi_plane plane = hfi_plane_of(at->kernel, leaf);
        const hfi_plane_point p = hfi_plane_at(&plane, at->x);
        return hfi_plane_value(p, p);
    }
    default:
        return 1.0;
    }
}

static double term_without(const diagonal_point *at, size_t term, size_t except);

static double factor_value(const diagonal_point *at, size_t factor)
{
    const hfi_node *node = &at->kernel->nodes[factor];
    if (node->kind != HFI_NODE_SUM) return leaf_value(at, &at->kernel->leaves[node->leaf]);
    double sum = 0.0;
    for (size_t t = node->child; t != HFI_NONE; t = at->kernel->nodes[t].next)
        sum += term_without(at, t, HFI_NONE);
    return sum;
}

static double term_without(const diagonal_point *at, size_t term, size_t except)
{
    const hf_kernel *kernel = at->kernel;
    const size_t scale = kernel->nodes[term].scale;
    double product = scale == HFI_NONE ? 1.0 : kernel->value[scale];
    for (size_t c = kernel->nodes[term].child; c != HFI_NONE; c = kernel->nodes[c].next)
        if (c != except) product *= factor_value(at, c);
    return product;
}

/* Every parameter but the real ones is a log: its derivative is its share of the value. */
static void leaf_adjoint(const diagonal_point *at, const hfi_leaf *leaf, double adjoint, double *theta)
{
    switch (leaf->form) {
    case HFI_FORM_LINEAR:
        for (size_t a = 0; a < leaf->columns; a++)
            theta[leaf->first + (leaf->ard ? a : 0)] += adjoint * linear_term(at, leaf, a);
        break;
    case HFI_FORM_CONSTANT:
    case HFI_FORM_WHITE:
        theta[leaf->first] += adjoint * leaf_value(at, leaf);
        break;
    case HFI_FORM_SM: {
        const size_t first = hfi_leaf_at(leaf, HFI_FIELD_WEIGHT);
        for (size_t q = 0; q < leaf->components; q++)
            theta[first + q] += adjoint * at->kernel->value[first + q];
        break;
    }
    case HFI_FORM_COREGION:
        if (at->x)
            hfi_coregion_adjoint(at->kernel, leaf, output(at, leaf), output(at, leaf), adjoint, theta);
        else
            hfi_coregion_mean_adjoint(at->kernel, leaf, adjoint, theta);
        break;
    case HFI_FORM_SWELL:
    case HFI_FORM_TILT: {
        if (!at->x) break;
        const hfi_plane plane = hfi_plane_of(at->kernel, leaf);
        const hfi_plane_point p = hfi_plane_at(&plane, at->x);
        const double of_phase = 2.0 * adjoint * plane.turn * hfi_plane_slope(p, p);
        for (size_t a = 0; a < plane.columns; a++) theta[plane.at + a] += of_phase * at->x[plane.column[a]];
        break;
    }
    default:
        break;
    }
}

static void sum_adjoint(const diagonal_point *at, size_t sum, double adjoint, double *theta)
{
    const hf_kernel *kernel = at->kernel;
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        const size_t scale = kernel->nodes[t].scale;
        if (scale != HFI_NONE) theta[scale] += adjoint * term_without(at, t, HFI_NONE);
        for (size_t c = kernel->nodes[t].child; c != HFI_NONE; c = kernel->nodes[c].next) {
            const double of_factor = adjoint * term_without(at, t, c);
            if (kernel->nodes[c].kind == HFI_NODE_SUM)
                sum_adjoint(at, c, of_factor, theta);
            else
                leaf_adjoint(at, &kernel->leaves[kernel->nodes[c].leaf], of_factor, theta);
        }
    }
}

/* With white the variance is that without it plus the white part: the first gets w_latent - w_white, the
 * whole w_white. */
static void point_adjoint(const hf_kernel *kernel, const double *x, double latent, double white,
                          double *theta)
{
    const diagonal_point without = {.kernel = kernel, .x = x},
                         with = {.kernel = kernel, .x = x, .white = true};
    sum_adjoint(&without, kernel->root, latent - white, theta);
    sum_adjoint(&with, kernel->root, white, theta);
}

void hfi_kernel_diagonal_adjoint(const hf_kernel *kernel, size_t m, const double *x, size_t ldx,
                                 const double *w_latent, const double *w_white, double *theta)
{
    const bool white = w_white != NULL && hfi_kernel_has(kernel, HFI_FORM_WHITE);
    double latent_sum = 0.0, white_sum = 0.0;
    if (m == 0 || (!w_latent && !white)) return;
    if (hfi_kernel_variance_varies(kernel)) {
        for (size_t q = 0; q < m; q++)
            point_adjoint(kernel, x + q * ldx, w_latent ? w_latent[q] : 0.0, white ? w_white[q] : 0.0, theta);
        return;
    }
    /* The same variance everywhere: one point stands for all. */
    for (size_t q = 0; q < m; q++) {
        latent_sum += w_latent ? w_latent[q] : 0.0;
        white_sum += white ? w_white[q] : 0.0;
    }
    point_adjoint(kernel, x, latent_sum, white_sum, theta);
}

/* The point that is typical, and its variance. */
static double typical(const hf_kernel *kernel, diagonal_point *at)
{
    *at = (diagonal_point){.kernel = kernel, .white = true};
    const double at_zero = factor_value(at, kernel->root);
    if (at_zero > 0.0) return at_zero;
    at->number = 1.0;
    return factor_value(at, kernel->root);
}

double hfi_kernel_typical_variance(const hf_kernel *kernel)
{
    diagonal_point at;
    return typical(kernel, &at);
}

void hfi_kernel_typical_adjoint(const hf_kernel *kernel, double weight, double *theta)
{
    diagonal_point at;
    (void)typical(kernel, &at);
    sum_adjoint(&at, kernel->root, weight, theta);
}
