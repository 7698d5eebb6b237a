/* SPDX-License-Identifier: Apache-2.0 */
/* Draws from gamma and Poisson distributions. */
#include "core/core.h"

#include <math.h>

/* Marsaglia and Tsang, A simple method for generating gamma variables, 2000; a shape below 1 is that of shape
 * + 1 times a power of a uniform. */
double hfi_stream_gamma(hfi_stream *stream, double shape)
{
    if (shape < 1.0) {
        const double power = log(hfi_stream_uniform(stream)) / shape;
        return hfi_stream_gamma(stream, shape + 1.0) * exp(power);
    }
    const double d = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        const double z = hfi_stream_normal(stream), root = 1.0 + c * z, v = root * root * root;
        if (root <= 0.0) continue;
        if (log(hfi_stream_uniform(stream)) < 0.5 * z * z + d - d * v + d * log(v)) return d * v;
    }
}

/* log k!, by Stirling's series where its error is below rounding. */
static double log_factorial(double k)
{
    double sum = 0.0;
    while (k < 16.0) sum -= log(++k);
    const double square = 1.0 / (k * k);
    return sum + (k + 0.5) * log(k) - k + HFI_HALF_LOG_2PI +
           (1.0 - square * (1.0 / 30.0 - square * (1.0 / 105.0 - square / 140.0))) / (12.0 * k);
}

/* Hoermann, The transformed rejection method for generating Poisson random variables, 1993: algorithm PTRS. */
static double poisson_large(hfi_stream *stream, double mean)
{
    const double root = sqrt(mean), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), inner = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        const double u = hfi_stream_uniform(stream) - 0.5, v = hfi_stream_uniform(stream);
        const double us = 0.5 - fabs(u), k = floor((2.0 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= inner) return k;
        if (k < 0.0 || (us < 0.013 && v > us)) continue;
        if (log(v * inverse / (a / (us * us) + b)) <= k * log(mean) - mean - log_factorial(k)) return k;
    }
}

double hfi_stream_poisson(hfi_stream *stream, double mean)
{
    if (mean >= 10.0) return poisson_large(stream, mean);
    const double end = exp(-mean);
    double count = 0.0, product = hfi_stream_uniform(stream);
    while (product > end) {
        product *= hfi_stream_uniform(stream);
        count += 1.0;
    }
    return count;
}
