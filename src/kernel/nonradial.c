/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of the kernels that are not functions of a distance alone: linear, periodic, spectral mixture. */
#include "kernel/loops.h"
#include "kernel/vector.h"

#include "core/core.h"
#include <float.h>

HFI_CLONES void hfi_loop_linear(const hfi_points *points, size_t column, double variance,
                                double *restrict out)
{
    const size_t width = points->width;
    const double *restrict z = points->z + column * points->ldz;
    for (size_t r = 0; r < points->rows; r++) {
        const double x = points->x[r * points->ldx + column];
        double *restrict row = out + r * width;
        HFI_SIMD
        for (size_t j = 0; j < width; j++) row[j] += variance * (x * z[j]);
    }
}

HFI_CLONES double hfi_loop_linear_sum(const hfi_points *points, size_t column, const double *restrict g)
{
    const size_t width = points->width;
    const double *restrict z = points->z + column * points->ldz;
    double sum = 0.0;
    for (size_t r = 0; r < points->rows; r++) {
        const double x = points->x[r * points->ldx + column];
        const double *restrict row = g + r * width;
        double part = 0.0;
        HFI_SIMD_SUM(part)
        for (size_t j = 0; j < width; j++) part += row[j] * (x * z[j]);
        sum += part;
    }
    return sum;
}

/* Sine and cosine of |x - z|: one is odd, the other even, and both are used in even combinations. */
HFI_INLINE double phase(double t, double frequency)
{
    const double a = fabs(t) * frequency;
    return CUT(a, HFI_PHASE_CUT);
}

HFI_INLINE double finite(double a)
{
    return CUT(a, DBL_MAX);
}

HFI_CLONES void hfi_loop_periodic(const hfi_points *points, size_t column, double period, double lengthscale,
                                  double *restrict out)
{
    const size_t width = points->width;
    const double frequency = finite(HFI_PI / period), f = 1.0 / lengthscale;
    const double *restrict z = points->z + column * points->ldz;
    for (size_t r = 0; r < points->rows; r++) {
        const double x = points->x[r * points->ldx + column];
        double *restrict row = out + r * width;
        HFI_SIMD
        for (size_t j = 0; j < width; j++) {
            const double u = sin(phase(x - z[j], frequency)) * f;
            row[j] += u * u;
        }
    }
}

/* sin cos is written as sin(2 a) / 2: beside a sine the compiler makes one scalar sincos out of a cosine. */
HFI_CLONES void hfi_loop_periodic_sums(const hfi_points *points, size_t column, double period,
                                       double lengthscale, const double *restrict g, double sums[2])
{
    const size_t width = points->width;
    const double frequency = finite(HFI_PI / period), f = 1.0 / lengthscale;
    const double *restrict z = points->z + column * points->ldz;
    double by_lengthscale = 0.0, by_period = 0.0;
    for (size_t r = 0; r < points->rows; r++) {
        const double x = points->x[r * points->ldx + column];
        const double *restrict row = g + r * width;
        double part0 = 0.0, part1 = 0.0;
        HFI_SIMD_SUM(part0, part1)
        for (size_t j = 0; j < width; j++) {
            const double a = phase(x - z[j], frequency), u = sin(a) * f, square = u * u;
            const double cross = (0.5 * sin(2.0 * a) * f) * f * a;
            const double up = CUT(cross, HFI_HUGE);
            part0 += row[j] * CUT(square, HFI_HUGE);
            part1 += row[j] * (up < -HFI_HUGE ? -HFI_HUGE : up);
        }
        by_lengthscale += part0;
        by_period += part1;
    }
    sums[0] = by_lengthscale;
    sums[1] = by_period;
}

HFI_CLONES double hfi_loop_periodic_backward(const hfi_points *points, size_t column, double period,
                                             double lengthscale, const double *restrict g)
{
    const double frequency = finite(HFI_PI / period), f = 1.0 / lengthscale, x = points->x[column];
    const double *restrict z = points->z + column * points->ldz;
    double sum = 0.0;
    HFI_SIMD_SUM(sum)
    for (size_t j = 0; j < points->width; j++) {
        const double t = x - z[j], a = phase(t, frequency);
        const double uv = (0.5 * sin(2.0 * a) * f) * f, up = CUT(uv, HFI_HUGE);
        sum += g[j] * (t < 0.0 ? -up : up);
    }
    return 2.0 * frequency * sum;
}

/* ---- spectral mixture ------------------------------------------------------------------------ */

HFI_CLONES void hfi_loop_spectral(const hfi_points *points, size_t column, double frequency, double variance,
                                  double *restrict exponent, double *restrict wave)
{
    const size_t width = points->width;
    const double omega = finite(2.0 * HFI_PI * frequency), rate = finite(2.0 * HFI_PI * HFI_PI * variance);
    const double *restrict z = points->z + column * points->ldz;
    for (size_t r = 0; r < points->rows; r++) {
        const double x = points->x[r * points->ldx + column];
        double *restrict e = exponent + r * width, *restrict w = wave + r * width;
        HFI_SIMD
        for (size_t j = 0; j < width; j++) {
            const double t = x - z[j];
            e[j] += rate * (t * t);
            w[j] *= cos(phase(t, omega));
        }
    }
}

HFI_CLONES void hfi_loop_spectral_add(size_t count, double weight, const double *restrict exponent,
                                      const double *restrict wave, double *restrict out)
{
    HFI_SIMD
    for (size_t i = 0; i < count; i++) out[i] += weight * (decay(exponent[i]) * wave[i]);
}

HFI_CLONES void hfi_loop_spectral_weight(size_t count, double weight, const double *restrict exponent,
                                         const double *restrict g, double *restrict b)
{
    HFI_SIMD
    for (size_t i = 0; i < count; i++) b[i] = g[i] * (weight * decay(exponent[i]));
}

HFI_CLONES void hfi_loop_spectral_sums(const hfi_points *points, size_t column, double frequency,
                                       double variance, const double *restrict others,
                                       const double *restrict wave, const double *restrict b, double sums[3])
{
    const double omega = finite(2.0 * HFI_PI * frequency), rate = finite(2.0 * HFI_PI * HFI_PI * variance);
    const double *restrict z = points->z + column * points->ldz;
    const double x = points->x[column];
    double by_variance = 0.0, by_frequency = 0.0, by_input = 0.0;
    HFI_SIMD_SUM(by_variance, by_frequency, by_input)
    for (size_t j = 0; j < points->width; j++) {
        const double t = x - z[j], a = phase(t, omega), s = sin(a);
        const double square = rate * (t * t), slope = 2.0 * rate * fabs(t), turn = s * omega;
        const double of_distance = b[j] * (wave[j] * CUT(slope, HFI_HUGE) + others[j] * turn);
        by_variance += b[j] * wave[j] * CUT(square, HFI_HUGE);
        by_frequency += b[j] * others[j] * (a * s);
        by_input += t < 0.0 ? -of_distance : of_distance;
    }
    sums[0] = by_variance;
    sums[1] = by_frequency;
    sums[2] = by_input;
}

HFI_CLONES void hfi_loop_phases(size_t count, size_t d, const double *rates, size_t stride, const double *x,
                                double *restrict phases)
{
    for (size_t j = 0; j < d; j++) {
        const double *restrict f = rates + j * stride;
        const double at = x[j];
        HFI_SIMD
        for (size_t i = 0; i < count; i++) phases[i] += f[i] * at;
    }
}

HFI_CLONES void hfi_loop_cosines(size_t count, const double *restrict phases, double *restrict out)
{
    HFI_SIMD
    for (size_t i = 0; i < count; i++) out[i] = cos(phases[i]);
}

HFI_CLONES void hfi_loop_sines(size_t count, const double *restrict phases, double *restrict out)
{
    HFI_SIMD
    for (size_t i = 0; i < count; i++) out[i] = sin(phases[i]);
}
