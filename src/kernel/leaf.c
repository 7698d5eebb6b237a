/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/coregion.h"
#include "kernel/planes.h"
#include "kernel/tile.h"

#include <string.h>

static size_t entries(const hfi_tile *tile)
{
    return tile->points.rows * tile->points.width;
}

static const size_t *leaf_columns(const hfi_tile *tile, const hfi_leaf *leaf)
{
    return tile->kernel->columns + leaf->column_at;
}

/* One of the leaf's arrays as a number for each column. */
static hfi_axes leaf_axes(const hfi_tile *tile, const hfi_leaf *leaf, hfi_field field)
{
    return (hfi_axes){leaf->columns, leaf_columns(tile, leaf), tile->kernel->value + hfi_leaf_at(leaf, field),
                      leaf->ard ? 1u : 0u};
}

static double leaf_alpha(const hfi_tile *tile, const hfi_leaf *leaf)
{
    return leaf->form == HFI_FORM_RQ ? tile->kernel->value[hfi_leaf_at(leaf, HFI_FIELD_ALPHA)] : 1.0;
}

/* Calls visit(entry) where slow and fast point are the same row: entry (r, r + diagonal). */
static double white_sum(const hfi_tile *tile, const double *adjoint)
{
    double sum = 0.0;
    for (size_t r = 0; tile->same && r < tile->points.rows; r++) {
        const ptrdiff_t c = (ptrdiff_t)r + tile->diagonal;
        if (c >= 0 && c < (ptrdiff_t)tile->count) sum += adjoint[r * tile->points.width + (size_t)c];
    }
    return sum;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void white_value(const hfi_tile *tile, double variance, double *out)
{
    hfi_loop_fill(entries(tile), 0.0, out);
    for (size_t r = 0; tile->same && r < tile->points.rows; r++) {
        const ptrdiff_t c = (ptrdiff_t)r + tile->diagonal;
        if (c >= 0 && c < (ptrdiff_t)tile->count) out[r * tile->points.width + (size_t)c] = variance;
    }
}

static void linear_value(const hfi_tile *tile, const hfi_leaf *leaf, double *out)
{
    const hfi_axes variances = leaf_axes(tile, leaf, HFI_FIELD_VARIANCE);
    hfi_loop_fill(entries(tile), 0.0, out);
    for (size_t a = 0; a < variances.count; a++)
        hfi_loop_linear(&tile->points, variances.columns[a], variances.value[variances.step * a], out);
}

static void periodic_value(const hfi_tile *tile, const hfi_leaf *leaf, double *out)
{
    const hfi_axes lengthscales = leaf_axes(tile, leaf, HFI_FIELD_LENGTHSCALE);
    const hfi_axes periods = leaf_axes(tile, leaf, HFI_FIELD_PERIOD);
    hfi_loop_fill(entries(tile), 0.0, out);
    for (size_t a = 0; a < periods.count; a++)
        hfi_loop_periodic(&tile->points, periods.columns[a], periods.value[periods.step * a],
                          lengthscales.value[lengthscales.step * a], out);
    hfi_loop_decay(entries(tile), 2.0, out);
}

static void spectral_value(const hfi_tile *tile, const hfi_leaf *leaf, double *out, double *spare)
{
    const double *value = tile->kernel->value, *weight = value + hfi_leaf_at(leaf, HFI_FIELD_WEIGHT);
    const double *mean = value + hfi_leaf_at(leaf, HFI_FIELD_MEAN),
                 *variance = value + hfi_leaf_at(leaf, HFI_FIELD_VARIANCE);
    const size_t *columns = leaf_columns(tile, leaf);
    double *exponent = spare, *wave = spare + HFI_BUFFER;
    hfi_loop_fill(entries(tile), 0.0, out);
    for (size_t q = 0; q < leaf->components; q++) {
        hfi_loop_fill(entries(tile), 0.0, exponent);
        hfi_loop_fill(entries(tile), 1.0, wave);
        for (size_t a = 0; a < leaf->columns; a++)
            hfi_loop_spectral(&tile->points, columns[a], mean[q * leaf->columns + a],
                              variance[q * leaf->columns + a], exponent, wave);
        hfi_loop_spectral_add(entries(tile), weight[q], exponent, wave, out);
    }
}

/* exp(-sum 1 / l_j) over the columns whose codes differ: a product over columns of (1 - rho) delta + rho, rho
 * = exp(-1 / l_j) in (0, 1). Each of these is positive definite, being a positive multiple of the identity plus a
 * constant that is not negative. */
static void category_value(const hfi_tile *tile, const hfi_leaf *leaf, double *out)
{
    const hfi_axes lengthscales = leaf_axes(tile, leaf, HFI_FIELD_LENGTHSCALE);
    hfi_loop_fill(entries(tile), 0.0, out);
    for (size_t a = 0; a < lengthscales.count; a++)
        hfi_loop_codes(&tile->points, lengthscales.columns[a],
                       1.0 / lengthscales.value[lengthscales.step * a], out);
    hfi_loop_decay(entries(tile), 1.0, out);
}

/* Outputs of the slow points and of the fast ones. */
typedef struct outputs {
    int slow[HFI_STRIP], fast[HFI_TILE];
} outputs;

static void find_outputs(const hfi_tile *tile, const hfi_leaf *leaf, outputs *found)
{
    const hfi_points *p = &tile->points;
    const size_t column = leaf_columns(tile, leaf)[0];
    for (size_t r = 0; r < p->rows; r++)
        found->slow[r] = hfi_output_of(p->x[r * p->ldx + column], leaf->outputs);
    hfi_loop_outputs(p->width, p->z + column * p->ldz, leaf->outputs, found->fast);
}

/* The covariances of each slow point's output with those of the fast points: row[r] is a row of spare, made
 * once for an output. */
static void coregion_rows(const hfi_tile *tile, const hfi_leaf *leaf, double *spare,
                          const double *row[HFI_STRIP])
{
    const double *b = tile->kernel->pairs + leaf->pairs_at;
    outputs found;
    find_outputs(tile, leaf, &found);
    for (size_t r = 0; r < tile->points.rows; r++) {
        size_t same = 0;
        while (found.slow[same] != found.slow[r]) same++;
        row[r] = spare + same * HFI_TILE;
        if (same == r)
            hfi_loop_pick(tile->points.width, b + (size_t)found.slow[r] * leaf->outputs, found.fast,
                          spare + r * HFI_TILE);
    }
}

static void coregion_value(const hfi_tile *tile, const hfi_leaf *leaf, double *out, double *spare)
{
    const size_t width = tile->points.width;
    const double *row[HFI_STRIP];
    coregion_rows(tile, leaf, spare, row);
    for (size_t r = 0; r < tile->points.rows; r++) memcpy(out + r * width, row[r], width * sizeof *out);
}

void hfi_leaf_value(const hfi_tile *tile, const hfi_leaf *leaf, double *out, double *spare)
{
    switch (leaf->form) {
    case HFI_FORM_PERIODIC:
        periodic_value(tile, leaf, out);
        break;
    case HFI_FORM_LINEAR:
        linear_value(tile, leaf, out);
        break;
    case HFI_FORM_CONSTANT:
        hfi_loop_fill(entries(tile), tile->kernel->value[leaf->first], out);
        break;
    case HFI_FORM_WHITE:
        white_value(tile, tile->kernel->value[leaf->first], out);
        break;
    case HFI_FORM_SM:
        spectral_value(tile, leaf, out, spare);
        break;
    case HFI_FORM_COREGION:
        coregion_value(tile, leaf, out, spare);
        break;
    case HFI_FORM_CATEGORY:
        category_value(tile, leaf, out);
        break;
    case HFI_FORM_WAVE:
    case HFI_FORM_SWELL:
    case HFI_FORM_TILT:
        hfi_plane_tile(tile, leaf, out, spare);
        break;
    default: {
        const hfi_axes lengthscales = leaf_axes(tile, leaf, HFI_FIELD_LENGTHSCALE);
        hfi_loop_distance(&tile->points, &lengthscales, out);
        hfi_loop_radial(&tile->points, leaf->form, leaf_alpha(tile, leaf), 1.0, out, out, tile->points.width);
        break;
    }
    }
}

void hfi_leaf_write(const hfi_tile *tile, const hfi_leaf *leaf, double scale, double *out, size_t ldo,
                    double *spare)
{
    const hfi_axes lengthscales = leaf_axes(tile, leaf, HFI_FIELD_LENGTHSCALE);
    hfi_loop_distance(&tile->points, &lengthscales, spare);
    hfi_loop_radial(&tile->points, leaf->form, leaf_alpha(tile, leaf), scale, spare, out, ldo);
}

void hfi_leaf_write_outputs(const hfi_tile *tile, const hfi_leaf *leaf, const hfi_leaf *coregion, double *out,
                            size_t ldo, double *spare)
{
    const hfi_axes lengthscales = leaf_axes(tile, leaf, HFI_FIELD_LENGTHSCALE);
    const size_t width = tile->points.width;
    const double *row[HFI_STRIP];
    hfi_points point = tile->points;
    coregion_rows(tile, coregion, spare + HFI_BUFFER, row);
    hfi_loop_distance(&tile->points, &lengthscales, spare);
    point.rows = 1;
    for (size_t r = 0; r < tile->points.rows; r++) {
        point.x = tile->points.x + r * point.ldx;
        hfi_loop_radial(&point, leaf->form, leaf_alpha(tile, leaf), 1.0, spare + r * width, out + r * ldo,
                        ldo);
        hfi_loop_multiply(width, row[r], out + r * ldo);
    }
}

/* ---- reverse mode ---------------------------------------------------------------------------- */

/* Slots of a radial leaf: value, slope dk/d(r^2), r^2, and for rq dk/d(log alpha). */
size_t hfi_leaf_slots(const hfi_leaf *leaf)
{
    if (!hfi_form_is_radial(leaf->form)) return 1;
    return leaf->form == HFI_FORM_RQ ? 4 : 3;
}

void hfi_leaf_store(const hfi_tile *tile, const hfi_leaf *leaf, double *slots, double *spare)
{
    if (!hfi_form_is_radial(leaf->form)) {
        hfi_leaf_value(tile, leaf, slots, spare);
        return;
    }
    const hfi_axes lengthscales = leaf_axes(tile, leaf, HFI_FIELD_LENGTHSCALE);
    double *slope = slots + HFI_BUFFER, *r2 = slots + 2 * HFI_BUFFER;
    /* Only rq has the fourth slot. */
    double *by_alpha = leaf->form == HFI_FORM_RQ ? slots + 3 * HFI_BUFFER : spare;
    hfi_loop_distance(&tile->points, &lengthscales, r2);
    hfi_loop_radial_slope(leaf->form, entries(tile), leaf_alpha(tile, leaf), r2, slots, slope, by_alpha);
}

static void radial_adjoint(const hfi_tile *tile, const hfi_leaf *leaf, const double *slots,
                           const double *adjoint, double *spare, double *grad)
{
    const hfi_axes lengthscales = leaf_axes(tile, leaf, HFI_FIELD_LENGTHSCALE);
    double *by_lengthscale = grad + hfi_leaf_at(leaf, HFI_FIELD_LENGTHSCALE);
    const double *r2 = slots + 2 * HFI_BUFFER;
    hfi_loop_scale(entries(tile), 1.0, slots + HFI_BUFFER, spare);
    hfi_loop_multiply(entries(tile), adjoint, spare);
    if (leaf->form == HFI_FORM_RQ)
        grad[hfi_leaf_at(leaf, HFI_FIELD_ALPHA)] +=
            hfi_loop_dot(entries(tile), adjoint, slots + 3 * HFI_BUFFER);
    /* d(r^2)/d(log l) = -2 r^2, column by column if each has its own l. */
    if (!leaf->ard) {
        by_lengthscale[0] -= 2.0 * hfi_loop_dot(entries(tile), spare, r2);
        return;
    }
    for (size_t first = 0; first < lengthscales.count; first += 4) {
        double sums[4];
        const size_t left = lengthscales.count - first, count = left < 4 ? left : 4;
        hfi_loop_squares(&tile->points, &lengthscales, first, count, spare, sums);
        for (size_t a = 0; a < count; a++) by_lengthscale[first + a] -= 2.0 * sums[a];
    }
}

static void periodic_adjoint(const hfi_tile *tile, const hfi_leaf *leaf, const double *slots,
                             const double *adjoint, double *spare, double *grad)
{
    const hfi_axes lengthscales = leaf_axes(tile, leaf, HFI_FIELD_LENGTHSCALE);
    const hfi_axes periods = leaf_axes(tile, leaf, HFI_FIELD_PERIOD);
    double *by_lengthscale = grad + hfi_leaf_at(leaf, HFI_FIELD_LENGTHSCALE);
    double *by_period = grad + hfi_leaf_at(leaf, HFI_FIELD_PERIOD);
    hfi_loop_scale(entries(tile), 4.0, slots, spare);
    hfi_loop_multiply(entries(tile), adjoint, spare);
    for (size_t a = 0; a < periods.count; a++) {
        double sums[2];
        hfi_loop_periodic_sums(&tile->points, periods.columns[a], periods.value[periods.step * a],
                               lengthscales.value[lengthscales.step * a], spare, sums);
        by_lengthscale[lengthscales.step * a] += sums[0];
        by_period[periods.step * a] += sums[1];
    }
}

static void category_adjoint(const hfi_tile *tile, const hfi_leaf *leaf, const double *slots,
                             const double *adjoint, double *spare, double *grad)
{
    const hfi_axes lengthscales = leaf_axes(tile, leaf, HFI_FIELD_LENGTHSCALE);
    double *by_lengthscale = grad + hfi_leaf_at(leaf, HFI_FIELD_LENGTHSCALE);
    hfi_loop_scale(entries(tile), 1.0, slots, spare);
    hfi_loop_multiply(entries(tile), adjoint, spare);
    for (size_t a = 0; a < lengthscales.count; a++)
        by_lengthscale[lengthscales.step * a] +=
            hfi_loop_codes_sum(&tile->points, lengthscales.columns[a], spare) /
            lengthscales.value[lengthscales.step * a];
}

static void linear_adjoint(const hfi_tile *tile, const hfi_leaf *leaf, const double *adjoint, double *grad)
{
    const hfi_axes variances = leaf_axes(tile, leaf, HFI_FIELD_VARIANCE);
    for (size_t a = 0; a < variances.count; a++) {
        const double variance = variances.value[variances.step * a];
        grad[leaf->first + variances.step * a] +=
            variance * hfi_loop_linear_sum(&tile->points, variances.columns[a], adjoint);
    }
}

/* One component of sm at one slow point. The product of the cosines of all columns but one comes from
 * products from the left (kept) and from the right (carried along). A division would not do, because a cosine may be
 * 0. */
static void spectral_point(const hfi_tile *tile, const hfi_leaf *leaf, size_t q, const hfi_points *point,
                           const double *adjoint, double *spare, double *by_parameter, double *by_input)
{
    const size_t width = point->width, count = leaf->columns;
    const double *value = tile->kernel->value, *mean = value + hfi_leaf_at(leaf, HFI_FIELD_MEAN) + q * count;
    const double *variance = value + hfi_leaf_at(leaf, HFI_FIELD_VARIANCE) + q * count;
    const size_t *columns = leaf_columns(tile, leaf);
    double *cosines = tile->waves, *left = tile->waves + count * HFI_TILE;
    double *exponent = spare, *wave = spare + HFI_TILE, *b = spare + 2 * HFI_TILE,
           *right = spare + 3 * HFI_TILE;
    hfi_loop_fill(width, 0.0, exponent);
    hfi_loop_fill(width, 1.0, wave);
    for (size_t a = 0; a < count; a++) {
        double *cosine = cosines + a * HFI_TILE;
        hfi_loop_scale(width, 1.0, wave, left + a * HFI_TILE);
        hfi_loop_fill(width, 1.0, cosine);
        hfi_loop_spectral(point, columns[a], mean[a], variance[a], exponent, cosine);
        hfi_loop_multiply(width, cosine, wave);
    }
    hfi_loop_spectral_weight(width, value[hfi_leaf_at(leaf, HFI_FIELD_WEIGHT) + q], exponent, adjoint, b);
    if (by_parameter) by_parameter[hfi_leaf_at(leaf, HFI_FIELD_WEIGHT) + q] += hfi_loop_dot(width, b, wave);
    hfi_loop_fill(width, 1.0, right);
    for (size_t a = count; a-- > 0;) {
        double sums[3], *others = left + a * HFI_TILE;
        hfi_loop_multiply(width, right, others);
        hfi_loop_spectral_sums(point, columns[a], mean[a], variance[a], others, wave, b, sums);
        hfi_loop_multiply(width, cosines + a * HFI_TILE, right);
        if (by_parameter) {
            by_parameter[hfi_leaf_at(leaf, HFI_FIELD_VARIANCE) + q * count + a] -= sums[0];
            by_parameter[hfi_leaf_at(leaf, HFI_FIELD_MEAN) + q * count + a] -= sums[1];
        }
        if (by_input) by_input[columns[a]] -= sums[2];
    }
}

static void spectral_adjoint(const hfi_tile *tile, const hfi_leaf *leaf, const double *adjoint, double *spare,
                             double *by_parameter, double *by_input)
{
    for (size_t r = 0; r < tile->points.rows; r++) {
        hfi_points point = tile->points;
        point.rows = 1;
        point.x += r * point.ldx;
        for (size_t q = 0; q < leaf->components; q++)
            spectral_point(tile, leaf, q, &point, adjoint + r * point.width, spare, by_parameter, by_input);
    }
}

_Static_assert(HFI_MAX_OUTPUTS <= HFI_BUFFER, "a row of B fits into a tile buffer");

/* Weights of pairs of outputs: rows of one output are added first, then each row's entries go to the output
 * of their column. */
static void coregion_adjoint(const hfi_tile *tile, const hfi_leaf *leaf, const double *adjoint, double *spare,
                             double *grad)
{
    const size_t width = tile->points.width, rows = tile->points.rows;
    double *sum = spare, *by_output = spare + HFI_BUFFER;
    outputs found;
    find_outputs(tile, leaf, &found);
    hfi_loop_fill(leaf->outputs, 0.0, by_output);
    for (size_t r = 0; r < rows; r++) {
        size_t same = 0;
        while (found.slow[same] != found.slow[r]) same++;
        if (same < r) continue;
        memcpy(sum, adjoint + r * width, width * sizeof *sum);
        for (size_t other = r + 1; other < rows; other++)
            if (found.slow[other] == found.slow[r]) hfi_loop_add(width, adjoint + other * width, sum);
        for (size_t j = 0; j < width; j++) by_output[found.fast[j]] += sum[j];
        for (size_t j = 0; j < width; j++) {
            const size_t t = (size_t)found.fast[j];
            if (by_output[t] == 0.0) continue;
            hfi_coregion_adjoint(tile->kernel, leaf, (size_t)found.slow[r], t, by_output[t], grad);
            by_output[t] = 0.0;
        }
    }
}

void hfi_leaf_adjoint(const hfi_tile *tile, const hfi_leaf *leaf, const double *slots, const double *adjoint,
                      double *spare, double *grad)
{
    switch (leaf->form) {
    case HFI_FORM_PERIODIC:
        periodic_adjoint(tile, leaf, slots, adjoint, spare, grad);
        break;
    case HFI_FORM_LINEAR:
        linear_adjoint(tile, leaf, adjoint, grad);
        break;
    case HFI_FORM_CONSTANT:
        /* d/d(log v) = v times the sum of adjoints, and the value is v everywhere. */
        grad[leaf->first] += hfi_loop_dot(entries(tile), adjoint, slots);
        break;
    case HFI_FORM_WHITE:
        grad[leaf->first] += tile->kernel->value[leaf->first] * white_sum(tile, adjoint);
        break;
    case HFI_FORM_SM:
        spectral_adjoint(tile, leaf, adjoint, spare, grad, NULL);
        break;
    case HFI_FORM_COREGION:
        coregion_adjoint(tile, leaf, adjoint, spare, grad);
        break;
    case HFI_FORM_CATEGORY:
        category_adjoint(tile, leaf, slots, adjoint, spare, grad);
        break;
    case HFI_FORM_WAVE:
    case HFI_FORM_SWELL:
    case HFI_FORM_TILT:
        hfi_plane_adjoint(tile, leaf, adjoint, spare, grad);
        break;
    default:
        radial_adjoint(tile, leaf, slots, adjoint, spare, grad);
        break;
    }
}

/* ---- gradient in the slow point -------------------------------------------------------------- */

static void radial_backward(const hfi_tile *tile, const hfi_leaf *leaf, const double *slots,
                            const double *adjoint, double *spare, double *grad)
{
    const hfi_axes lengthscales = leaf_axes(tile, leaf, HFI_FIELD_LENGTHSCALE);
    hfi_loop_scale(entries(tile), 2.0, slots + HFI_BUFFER, spare);
    hfi_loop_multiply(entries(tile), adjoint, spare);
    for (size_t a = 0; a < lengthscales.count; a++)
        grad[lengthscales.columns[a]] += hfi_loop_backward(&tile->points, lengthscales.columns[a],
                                                           lengthscales.value[lengthscales.step * a], spare);
}

static void periodic_backward(const hfi_tile *tile, const hfi_leaf *leaf, const double *slots,
                              const double *adjoint, double *spare, double *grad)
{
    const hfi_axes lengthscales = leaf_axes(tile, leaf, HFI_FIELD_LENGTHSCALE);
    const hfi_axes periods = leaf_axes(tile, leaf, HFI_FIELD_PERIOD);
    hfi_loop_scale(entries(tile), -2.0, slots, spare);
    hfi_loop_multiply(entries(tile), adjoint, spare);
    for (size_t a = 0; a < periods.count; a++)
        grad[periods.columns[a]] +=
            hfi_loop_periodic_backward(&tile->points, periods.columns[a], periods.value[periods.step * a],
                                       lengthscales.value[lengthscales.step * a], spare);
}

static void linear_backward(const hfi_tile *tile, const hfi_leaf *leaf, const double *adjoint, double *grad)
{
    const hfi_axes variances = leaf_axes(tile, leaf, HFI_FIELD_VARIANCE);
    for (size_t a = 0; a < variances.count; a++) {
        const size_t column = variances.columns[a];
        const double *z = tile->points.z + column * tile->points.ldz;
        grad[column] += variances.value[variances.step * a] * hfi_loop_dot(tile->points.width, adjoint, z);
    }
}

void hfi_leaf_backward(const hfi_tile *tile, const hfi_leaf *leaf, const double *slots, const double *adjoint,
                       double *spare, double *grad)
{
    switch (leaf->form) {
    case HFI_FORM_PERIODIC:
        periodic_backward(tile, leaf, slots, adjoint, spare, grad);
        break;
    case HFI_FORM_LINEAR:
        linear_backward(tile, leaf, adjoint, grad);
        break;
    case HFI_FORM_CONSTANT:
    case HFI_FORM_WHITE:
    case HFI_FORM_COREGION: /* steps are flat */
    case HFI_FORM_CATEGORY:
        break;
    case HFI_FORM_SM:
        spectral_adjoint(tile, leaf, adjoint, spare, NULL, grad);
        break;
    case HFI_FORM_WAVE:
    case HFI_FORM_SWELL:
    case HFI_FORM_TILT:
        hfi_plane_backward(tile, leaf, adjoint, spare, grad);
        break;
    default:
        radial_backward(tile, leaf, slots, adjoint, spare, grad);
        break;
    }
}
