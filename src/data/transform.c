/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms of a target: a row of functions each. */
#include "core/core.h"
#include "core/normal.h"

#include <holdfast/transform.h>

#include <math.h>
#include <stdbool.h>

#define SQRT_HALF        0.70710678118654752440 /* 1 / sqrt(2) */
#define ONE_OVER_SQRT_PI 0.56418958354775628695

/* ---- none -------------------------------------------------------------------------------------- */

static double same(double value)
{
    return value;
}

static double flat(double y)
{
    return 0.0 * y;
}

static void same_moments(double m, double v, double *mean, double *variance)
{
    *mean = m;
    *variance = v;
}

static double normal_crps(double y, double m, double s)
{
    return hfi_normal_crps(y - m, s);
}

/* ---- log --------------------------------------------------------------------------------------- */

static double log_slope(double y)
{
    return -log(y);
}

static void log_moments(double m, double v, double *mean, double *variance)
{
    *mean = exp(m + 0.5 * v);
    *variance = expm1(v) * exp(2.0 * m + v);
}

static double log_crps(double y, double m, double s)
{
    const double w = y > 0.0 ? (log(y) - m) / s : -INFINITY, mean = exp(m + 0.5 * s * s);
    return y * erf(w * SQRT_HALF) - 2.0 * mean * (hfi_normal_cdf(w - s) - hfi_normal_cdf(-s * SQRT_HALF));
}

/* ---- sqrt -------------------------------------------------------------------------------------- */

static double square(double z)
{
    return z > 0.0 ? z * z : 0.0;
}

static double sqrt_slope(double y)
{
    return -log(2.0 * sqrt(y));
}

/* Beyond nine standard deviations the normal distribution has no mass below 0 that a double could
 * tell, and the variance is not made by a subtraction. */
static void sqrt_moments(double m, double v, double *mean, double *variance)
{
    const double s = sqrt(v);
    if (m >= 9.0 * s) {
        *mean = m * m + v;
        *variance = v * (4.0 * m * m + 2.0 * v);
        return;
    }
    const double a = m / s > -40.0 ? m / s : -40.0; /* less of it is above 0 than a double can tell */
    const double above = hfi_normal_cdf(a), density = hfi_normal_density(a), b = a * a;
    const double second = (b + 1.0) * above + a * density;
    const double fourth = (b * b + 6.0 * b + 3.0) * above + (a * b + 5.0 * a) * density;
    *mean = v * fmax(second, 0.0);
    *variance = v * v * fmax(fourth - second * second, 0.0);
}

/* The integral of 2 z Phi((z - m) / s)^2 from minus infinity to z. */
static double squared_cdf(double z, double m, double s)
{
    const double u = (z - m) / s, below = hfi_normal_cdf(u), density = hfi_normal_density(u);
    return (s * (2.0 * m * u + s * u * u - s)) * below * below + 4.0 * m * s * density * below -
           2.0 * m * s * ONE_OVER_SQRT_PI * hfi_normal_cdf(u / SQRT_HALF) +
           2.0 * s * s * u * density * below + s * s * density * density;
}

static double sqrt_crps(double y, double m, double s)
{
    const double z = y > 0.0 ? sqrt(y) : 0.0;
    return fmax(squared_cdf(z, m, s) - squared_cdf(0.0, m, s) - squared_cdf(-z, -m, s), 0.0) + fmax(-y, 0.0);
}

/* ---- the list ---------------------------------------------------------------------------------- */

typedef struct transform {
    double least; /* the domain: finite numbers from here on, */
    bool open;    /* without this one; */
    const char *domain;
    double lowest; /* z at or below it all mean the same y */
    double (*forward)(double y);
    double (*inverse)(double z);
    double (*log_derivative)(double y);
    void (*moments)(double m, double v, double *mean, double *variance);
    double (*crps)(double y, double m, double s);
} transform;

static const transform transforms[] = {
    [HF_TRANSFORM_NONE] = {-INFINITY, false, "a number", -INFINITY, same, same, flat, same_moments,
                           normal_crps},
    [HF_TRANSFORM_SQRT] = {0.0, false, "0 or more", 0.0, sqrt, square, sqrt_slope, sqrt_moments, sqrt_crps},
    [HF_TRANSFORM_LOG] = {0.0, true, "positive", -INFINITY, log, exp, log_slope, log_moments, log_crps},
};

enum {
    TRANSFORMS = sizeof transforms / sizeof transforms[0]
};

static const transform *find_transform(hf_transform which)
{
    return (size_t)which < TRANSFORMS ? &transforms[which] : NULL;
}

const char *hf_transform_domain(hf_transform which)
{
    const transform *t = find_transform(which);
    return t != NULL ? t->domain : NULL;
}

bool hf_transform_accepts(hf_transform which, double y)
{
    const transform *t = find_transform(which);
    return t != NULL && isfinite(y) && (t->open ? y > t->least : y >= t->least);
}

double hf_transform_forward(hf_transform which, double y)
{
    return hf_transform_accepts(which, y) ? find_transform(which)->forward(y) : NAN;
}

double hf_transform_inverse(hf_transform which, double z)
{
    const transform *t = find_transform(which);
    return t != NULL && !isnan(z) ? t->inverse(z) : NAN;
}

double hf_transform_log_derivative(hf_transform which, double y)
{
    return hf_transform_accepts(which, y) ? find_transform(which)->log_derivative(y) : NAN;
}

void hf_transform_moments(hf_transform which, double mean, double variance, double *y_mean,
                          double *y_variance)
{
    const transform *t = find_transform(which);
    double moments[2] = {NAN, NAN};
    if (t != NULL && !isnan(mean) && variance >= 0.0) t->moments(mean, variance, &moments[0], &moments[1]);
    if (y_mean != NULL) *y_mean = moments[0];
    if (y_variance != NULL) *y_variance = moments[1];
}

double hf_transform_residual(hf_transform which, double y, double mean, double variance)
{
    const transform *t = find_transform(which);
    if (t == NULL || isnan(y) || isnan(mean) || !(variance > 0.0)) return NAN;
    if (!hf_transform_accepts(which, y)) return -INFINITY;
    const double z = t->forward(y), residual = (z - mean) / sqrt(variance);
    return z <= t->lowest ? fmin(residual, 0.0) : residual;
}

double hf_transform_log_density(hf_transform which, double y, double mean, double variance)
{
    const transform *t = find_transform(which);
    if (t == NULL || isnan(y) || isnan(mean) || !(variance > 0.0)) return NAN;
    if (!hf_transform_accepts(which, y)) return -INFINITY;
    const double z = t->forward(y), u = (z - mean) / sqrt(variance);
    if (z <= t->lowest) return hfi_log_normal_cdf(u);
    return t->log_derivative(y) - HFI_HALF_LOG_2PI - 0.5 * log(variance) - 0.5 * u * u;
}

double hf_transform_crps(hf_transform which, double y, double mean, double variance)
{
    const transform *t = find_transform(which);
    if (t == NULL || !isfinite(y) || isnan(mean) || !(variance > 0.0)) return NAN;
    return t->crps(y, mean, sqrt(variance));
}
