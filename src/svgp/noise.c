/* SPDX-License-Identifier: Apache-2.0 */
/* Expected log densities of one reading, by kind of noise. */
#include "svgp/impl.h"
#include <math.h>

/* A residual further out counts as this many thresholds, as in sites.h. */
static const double furthest = 1e100;

/* log N(target; mean, d) - variance / (2 d): derivatives in the target and in d as well. */
typedef struct normal_term {
    double value, mean, variance, d;
} normal_term;

static normal_term expected_normal(double error, double d, double variance)
{
    const double ratio = (error * error + variance) / d;
    return (normal_term){.value = -HFI_HALF_LOG_2PI - 0.5 * log(d) - 0.5 * ratio,
                         .mean = error / d,
                         .variance = -0.5 / d,
                         .d = 0.5 * (ratio - 1.0) / d};
}

static hfi_svgp_term gaussian(const hfi_svgp_noise *noise, double y, double extra, double white, double mean,
                              double variance, double centre)
{
    (void)centre;
    const normal_term t = expected_normal(y - mean, noise->noise + extra + white, variance);
    return (hfi_svgp_term){
        .value = t.value, .mean = t.mean, .variance = t.variance, .white = t.d, .noise = t.d * noise->noise};
}

/* z = y + s shift, d = s / weight + white; the derivative in z is minus that in the mean. */
static hfi_svgp_term robust(const hfi_svgp_noise *noise, double y, double extra, double white, double mean,
                            double variance, double centre)
{
    const double c = noise->threshold, limit = furthest * c;
    if (isinf(c)) return gaussian(noise, y, extra, white, mean, variance, centre);
    const double r = fmin(fmax(y - centre, -limit), limit), q = r / c, s = noise->noise + extra;
    const double weight = 1.0 / (1.0 + q * q);
    const double shift = fabs(q) <= 1.0 ? 2.0 * q / (1.0 + q * q) / c : 2.0 / r / (1.0 + 1.0 / (q * q));
    const double error = (centre - mean) + r + s * shift;
    const normal_term t = expected_normal(error, s / weight + white, variance);
    return (hfi_svgp_term){.value = t.value,
                           .mean = t.mean,
                           .variance = t.variance,
                           .white = t.d,
                           .noise = (t.d / weight - t.mean * shift) * noise->noise,
                           .far = weight < 0.25};
}

static hfi_svgp_term student(const hfi_svgp_noise *noise, double y, double extra, double white, double mean,
                             double variance, double centre)
{
    (void)centre;
    const double s = noise->noise + extra, r = y - mean;
    hfi_student_expected t;
    hfi_student_expect(&noise->student, r, variance + white, s, &t);
    return (hfi_svgp_term){.value = t.value,
                           .mean = t.m,
                           .variance = t.v,
                           .white = t.v,
                           .noise = t.scale / s * noise->noise,
                           .nu = t.nu * (noise->student.nu - 1.0),
                           .far = r * r > 9.0 * s};
}

hfi_svgp_term hfi_svgp_expected(const hfi_svgp_noise *noise, double y, double extra, double white,
                                double mean, double variance, double centre)
{
    if (isnan(y)) return (hfi_svgp_term){0};
    return noise->kind->expected(noise, y, extra, white, mean, variance, centre);
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static const hfi_svgp_kind kinds[] = {
    [HF_LIKELIHOOD_GAUSSIAN] = {.expected = gaussian, .rho = 1.0},
    [HF_LIKELIHOOD_ROBUST] = {.expected = robust, .weighed = true, .rho = 1.0},
    [HF_LIKELIHOOD_STUDENT_T] = {
        .expected = student, .shape = true, .approach = &kinds[HF_LIKELIHOOD_ROBUST], .rho = 0.5}};

enum {
    KINDS = sizeof kinds / sizeof kinds[0]
};

const hfi_svgp_kind *hfi_svgp_kind_of(hf_likelihood sites)
{
    return (size_t)sites < KINDS && kinds[sites].expected ? &kinds[sites] : NULL;
}
