/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/loops.h"
#include "kernel/coregion.h"
#include "kernel/vector.h"

#define WIDEST 8u /* axes in one pass */

HFI_CLONES void hfi_loop_fill(size_t count, double value, double *out)
{
    for (size_t i = 0; i < count; i++) out[i] = value;
}

HFI_CLONES void hfi_loop_scale(size_t count, double factor, const double *a, double *out)
{
    HFI_SIMD
    for (size_t i = 0; i < count; i++) out[i] = factor * a[i];
}

HFI_CLONES void hfi_loop_multiply(size_t count, const double *restrict a, double *restrict out)
{
    for (size_t i = 0; i < count; i++) out[i] *= a[i];
}

HFI_CLONES void hfi_loop_add(size_t count, const double *restrict a, double *restrict out)
{
    for (size_t i = 0; i < count; i++) out[i] += a[i];
}

HFI_CLONES double hfi_loop_dot(size_t count, const double *restrict a, const double *restrict b)
{
    double sum = 0.0;
    HFI_SIMD_SUM(sum)
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

/* ---- distances ------------------------------------------------------------------------------- */

/* Several axes in one pass over the buffer, so that it is loaded and stored less often. `axes` and `start`
 * are constants where this is called: the loop over the axes is unrolled and its numbers stay in
 * registers. */
HFI_INLINE void distance(const hfi_points *p, const hfi_axes *axes, size_t first, const size_t count,
                         const bool start, double *restrict r2)
{
    const size_t *column = axes->columns + first, width = p->width;
    const double *z[WIDEST];
    double f[WIDEST];
    for (size_t a = 0; a < count; a++) {
        f[a] = 1.0 / axes->value[axes->step * (first + a)];
        z[a] = p->z + column[a] * p->ldz;
    }
    for (size_t r = 0; r < p->rows; r++) {
        double x[WIDEST];
        for (size_t a = 0; a < count; a++) x[a] = p->x[r * p->ldx + column[a]];
        double *restrict out = r2 + r * width;
        HFI_SIMD
        for (size_t j = 0; j < width; j++) {
            double sum = start ? 0.0 : out[j];
            HFI_UNROLL
            for (size_t a = 0; a < count; a++) {
                const double u = (x[a] - z[a][j]) * f[a];
                sum += u * u;
            }
            out[j] = sum;
        }
    }
}

HFI_CLONES void hfi_loop_distance(const hfi_points *points, const hfi_axes *lengthscales, double *r2)
{
    const size_t count = lengthscales->count, whole = count / WIDEST * WIDEST;
    size_t axis = 0;
    for (; axis < whole; axis += WIDEST) {
        if (axis == 0)
            distance(points, lengthscales, 0, WIDEST, true, r2);
        else
            distance(points, lengthscales, axis, WIDEST, false, r2);
    }
    if (axis == 0 && count >= 4) {
        distance(points, lengthscales, 0, 4, true, r2);
        axis = 4;
    } else if (axis == 0) {
        distance(points, lengthscales, 0, 1, true, r2);
        axis = 1;
    }
    if (axis + 4 <= count) {
        distance(points, lengthscales, axis, 4, false, r2);
        axis += 4;
    }
    for (; axis < count; axis++) distance(points, lengthscales, axis, 1, false, r2);
}

/* Lane sums first, then the lanes in order: the sum does not depend on the vector's width. */
HFI_INLINE double sum_lanes(const double *acc, size_t width)
{
    double lane[HFI_LANES] = {0.0};
    for (size_t j = 0; j < width; j += HFI_LANES)
        for (size_t l = 0; l < HFI_LANES; l++) lane[l] += acc[j + l];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

HFI_INLINE void squares1(const hfi_points *p, size_t column, double value, const double *restrict g,
                         double *restrict acc)
{
    const size_t width = p->width;
    const double f = 1.0 / value;
    const double *restrict z = p->z + column * p->ldz;
    for (size_t j = 0; j < width; j++) acc[j] = 0.0;
    for (size_t r = 0; r < p->rows; r++) {
        const double x = p->x[r * p->ldx + column];
        const double *restrict weight = g + r * width;
        HFI_SIMD
        for (size_t j = 0; j < width; j++) {
            const double u = (x - z[j]) * f, square = u * u;
            acc[j] += weight[j] * CUT(square, HFI_HUGE);
        }
    }
}

HFI_INLINE void squares4(const hfi_points *p, const hfi_axes *axes, size_t first, const double *restrict g,
                         double *restrict acc)
{
    const size_t *column = axes->columns + first;
    const double *value = axes->value + axes->step * first;
    const size_t step = axes->step, width = p->width;
    const double f0 = 1.0 / value[0], f1 = 1.0 / value[step], f2 = 1.0 / value[2 * step],
                 f3 = 1.0 / value[3 * step];
    const double *restrict z0 = p->z + column[0] * p->ldz, *restrict z1 = p->z + column[1] * p->ldz;
    const double *restrict z2 = p->z + column[2] * p->ldz, *restrict z3 = p->z + column[3] * p->ldz;
    for (size_t j = 0; j < 4 * HFI_TILE; j++) acc[j] = 0.0;
    for (size_t r = 0; r < p->rows; r++) {
        const double *x = p->x + r * p->ldx;
        const double x0 = x[column[0]], x1 = x[column[1]], x2 = x[column[2]], x3 = x[column[3]];
        const double *restrict weight = g + r * width;
        HFI_SIMD
        for (size_t j = 0; j < width; j++) {
            const double u0 = (x0 - z0[j]) * f0, u1 = (x1 - z1[j]) * f1;
            const double u2 = (x2 - z2[j]) * f2, u3 = (x3 - z3[j]) * f3;
            const double s0 = u0 * u0, s1 = u1 * u1, s2 = u2 * u2, s3 = u3 * u3;
            acc[j] += weight[j] * CUT(s0, HFI_HUGE);
            acc[HFI_TILE + j] += weight[j] * CUT(s1, HFI_HUGE);
            acc[2 * HFI_TILE + j] += weight[j] * CUT(s2, HFI_HUGE);
            acc[3 * HFI_TILE + j] += weight[j] * CUT(s3, HFI_HUGE);
        }
    }
}

HFI_CLONES void hfi_loop_squares(const hfi_points *points, const hfi_axes *axes, size_t first, size_t count,
                                 const double *g, double sums[4])
{
    double acc[4 * HFI_TILE] = {0.0};
    if (count == 4) {
        squares4(points, axes, first, g, acc);
        for (size_t a = 0; a < 4; a++) sums[a] = sum_lanes(acc + a * HFI_TILE, points->width);
        return;
    }
    for (size_t a = 0; a < count; a++) {
        squares1(points, axes->columns[first + a], axes->value[axes->step * (first + a)], g, acc);
        sums[a] = sum_lanes(acc, points->width);
    }
}

HFI_CLONES double hfi_loop_backward(const hfi_points *points, size_t column, double value,
                                    const double *restrict g)
{
    const double x = points->x[column], f = 1.0 / value, limit = 1e150;
    const double *restrict z = points->z + column * points->ldz;
    double sum = 0.0;
    HFI_SIMD_SUM(sum)
    for (size_t j = 0; j < points->width; j++) {
        const double u = (x - z[j]) * f, up = CUT(u, limit), cut = up < -limit ? -limit : up;
        sum += g[j] * cut;
    }
    return sum * f;
}

/* ---- outputs --------------------------------------------------------------------------------- */

HFI_CLONES void hfi_loop_outputs(size_t width, const double *restrict numbers, size_t outputs,
                                 int *restrict index)
{
    HFI_SIMD
    for (size_t j = 0; j < width; j++) index[j] = hfi_output_of(numbers[j], outputs);
}

HFI_CLONES void hfi_loop_pick(size_t width, const double *restrict table, const int *restrict index,
                              double *restrict out)
{
    HFI_SIMD
    for (size_t j = 0; j < width; j++) out[j] = table[index[j]];
}

/* ---- categories ------------------------------------------------------------------------------ */

HFI_CLONES void hfi_loop_codes(const hfi_points *points, size_t column, double weight, double *restrict out)
{
    const size_t width = points->width;
    const double *restrict z = points->z + column * points->ldz;
    for (size_t r = 0; r < points->rows; r++) {
        const double code = hfi_code_of(points->x[r * points->ldx + column]);
        double *restrict row = out + r * width;
        for (size_t j = 0; j < width; j++) row[j] += hfi_code_of(z[j]) == code ? 0.0 : weight;
    }
}

HFI_CLONES double hfi_loop_codes_sum(const hfi_points *points, size_t column, const double *restrict g)
{
    const size_t width = points->width;
    const double *restrict z = points->z + column * points->ldz;
    double sum = 0.0;
    for (size_t r = 0; r < points->rows; r++) {
        const double code = hfi_code_of(points->x[r * points->ldx + column]);
        for (size_t j = 0; j < width; j++) sum += hfi_code_of(z[j]) == code ? 0.0 : g[r * width + j];
    }
    return sum;
}

/* ---- functions of the distance --------------------------------------------------------------- */

/* log(1 + y) for y >= 0 with full relative accuracy: the last term returns what rounding 1 + y has lost. */
HFI_INLINE double log_one_plus(double y)
{
    const double u = 1.0 + y;
    return log(u) + (y - (u - 1.0)) / u;
}

HFI_CLONES void hfi_loop_decay(size_t count, double factor, double *out)
{
    HFI_SIMD
    for (size_t i = 0; i < count; i++) out[i] = decay(factor * out[i]);
}

HFI_INLINE void radial_row(hfi_form form, size_t count, double alpha, double scale, const double *r2,
                           double *out)
{
    switch (form) {
    case HFI_FORM_MATERN12:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) out[i] = scale * decay(sqrt(r2[i]));
        break;
    case HFI_FORM_MATERN32:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double root = sqrt(3.0 * r2[i]), s = CUT(root, HFI_EXP_CUT);
            out[i] = scale * ((1.0 + s) * decay(root));
        }
        break;
    case HFI_FORM_MATERN52:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double root = sqrt(5.0 * r2[i]), s = CUT(root, HFI_EXP_CUT);
            out[i] = scale * ((1.0 + s * (1.0 + s * (1.0 / 3.0))) * decay(root));
        }
        break;
    case HFI_FORM_RQ:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double y = r2[i] / (2.0 * alpha), k = decay(alpha * log_one_plus(CUT(y, HFI_HUGE)));
            out[i] = y > HFI_HUGE ? 0.0 : scale * k;
        }
        break;
    default: /* se */
        HFI_SIMD
        for (size_t i = 0; i < count; i++) out[i] = scale * decay(0.5 * r2[i]);
        break;
    }
}

HFI_CLONES void hfi_loop_radial(const hfi_points *points, hfi_form form, double alpha, double scale,
                                const double *r2, double *out, size_t ldo)
{
    const size_t width = points->width;
    if (ldo == width) {
        radial_row(form, points->rows * width, alpha, scale, r2, out);
        return;
    }
    for (size_t r = 0; r < points->rows; r++)
        radial_row(form, width, alpha, scale, r2 + r * width, out + r * ldo);
}

/* At r = 0 the slope of matern12 is infinite while every use multiplies it by r^2 or by a difference that is
 * 0. */
HFI_CLONES void hfi_loop_radial_slope(hfi_form form, size_t count, double alpha, double *restrict r2,
                                      double *restrict k, double *restrict slope, double *restrict by_alpha)
{
    switch (form) {
    case HFI_FORM_MATERN12:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double r = sqrt(r2[i]), e = decay(r), fall = -0.5 * e / (r > 0.0 ? r : 1.0);
            k[i] = e;
            slope[i] = r > 0.0 ? fall : 0.0;
        }
        break;
    case HFI_FORM_MATERN32:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double root = sqrt(3.0 * r2[i]), s = CUT(root, HFI_EXP_CUT), e = decay(root);
            k[i] = (1.0 + s) * e;
            slope[i] = -1.5 * e;
        }
        break;
    case HFI_FORM_MATERN52:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double root = sqrt(5.0 * r2[i]), s = CUT(root, HFI_EXP_CUT), e = decay(root);
            k[i] = (1.0 + s * (1.0 + s * (1.0 / 3.0))) * e;
            slope[i] = (-5.0 / 6.0) * (1.0 + s) * e;
        }
        break;
    case HFI_FORM_RQ:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double raw = r2[i] / (2.0 * alpha), y = CUT(raw, HFI_HUGE), l = log_one_plus(y);
            const double e = decay(alpha * l), value = raw > HFI_HUGE ? 0.0 : e;
            k[i] = value;
            slope[i] = -0.5 * value / (1.0 + y);
            by_alpha[i] = alpha * value * (y / (1.0 + y) - l);
        }
        break;
    default: /* se */
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double e = decay(0.5 * r2[i]);
            k[i] = e;
            slope[i] = -0.5 * e;
        }
        break;
    }
    for (size_t i = 0; i < count; i++) r2[i] = CUT(r2[i], HFI_HUGE);
}
