/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the tests of the kernel room: kernels of every kind, seeded points, comparisons. */
#ifndef KERNEL_TESTING_H
#define KERNEL_TESTING_H

#include "kernel/kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INPUTS 3u

/* Every kernel, iso and ard, all columns and some, and what joins them. */
static const char *const EXPRESSIONS[] = {
    "se",
    "se(ard)",
    "se(x2)",
    "se(x3, x1, ard)",
    "matern12",
    "matern12(ard)",
    "matern32",
    "matern32(x1, x2, ard)",
    "matern52",
    "matern52(ard)",
    "rq",
    "rq(ard)",
    "rq(x3)",
    "periodic",
    "periodic(ard)",
    "periodic(x2, period~0.7)",
    "linear",
    "linear(ard)",
    "linear(x2)",
    "constant",
    "white",
    "sm",
    "sm(x2)",
    "sm(x1, x3, components=3)",
    "matern52(ard) + 0.5*periodic(x3, period=12)",
    "se*periodic",
    "2*linear(ard)*se + 0.1*white",
    "(se + linear)*matern32(ard)",
    "white*se*constant",
    "se*periodic*(rq(x1) + white)",
    "((se + constant)*(linear + matern12(ard)) + white)*rq + sm(x1)*linear",
    "se(x1) + se(x2) + se(x3) + se(x1)*se(x2)*se(x3)",
    "coregion(x2, outputs=2)",
    "coregion(x2, outputs=2)*se(ard)",
    "rq*coregion(x1, outputs=2, rank=1)",
    "coregion(x1, outputs=3, rank=2)*matern52(ard) + 2*coregion(x1, outputs=3)*periodic(x3)",
    "category(x2)",
    "category(x1, x3, ard)",
    "matern52(ard)*category(x3)",
    "category(x1, x2)*rq(x1) + coregion(x3, outputs=2)*category(x2, x1, ard)",
    "(category(x2, ard) + white)*linear(ard)*periodic(x1)",
    "(coregion(x3, outputs=2, factor[1,0]~-0.4) + white)*linear(ard) + se(x3)",
    "wave",
    "wave(x2, x3)*se(ard)",
    "swell(x1)",
    "tilt(ard, rate~0.3)",
    "0.7*se(ard)*wave + tilt(x1, x3)*swell*wave(x2) + (swell(x3) + white)*linear",
};
#define EXPRESSION_COUNT (sizeof EXPRESSIONS / sizeof EXPRESSIONS[0])

/* Whether a kernel of it is a step function of numbers of outputs or codes. */
static inline bool sees_codes(const char *expression)
{
    return strstr(expression, "coregion") != NULL || strstr(expression, "category") != NULL;
}

static inline hf_kernel *parse(hf_context *ctx, const char *expression, size_t d)
{
    hf_kernel *kernel = NULL;
    if (hf_kernel_parse(ctx, expression, NULL, d, &kernel) != HF_OK)
        fail_msg("%s: %s", expression, hf_context_message(ctx));
    return kernel;
}

/* Points in [-1.5, 1.5]. */
static inline double *make_points(size_t n, size_t d, uint64_t index)
{
    hfi_stream stream;
    double *x = malloc((n * d + 1) * sizeof *x);
    assert_non_null(x);
    hfi_stream_init(&stream, 7, HFI_PURPOSE_TEST, index);
    for (size_t i = 0; i < n * d; i++) x[i] = 3.0 * hfi_stream_uniform(&stream) - 1.5;
    return x;
}

/* Moves every parameter off its start, differently. */
static inline void shake(hf_kernel *kernel, uint64_t index)
{
    const size_t count = hf_kernel_parameters(kernel);
    double *theta = malloc(count * sizeof *theta);
    hfi_stream stream;
    assert_non_null(theta);
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, index);
    hfi_kernel_theta(kernel, theta);
    for (size_t p = 0; p < count; p++) theta[p] += 0.8 * hfi_stream_uniform(&stream) - 0.4;
    hfi_kernel_set_theta(kernel, theta);
    free(theta);
}

static inline void assert_close(const char *what, size_t i, double got, double wanted,
                                double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance))
        fail_msg("%s [%zu]: %.17g, expected %.17g, off by %g > %g", what, i, got, wanted,
                 got - wanted, tolerance);
}

static inline double *make_zeros(size_t count)
{
    double *zeros = calloc(count + 1, sizeof *zeros);
    assert_non_null(zeros);
    return zeros;
}

static inline int make_context(void **state)
{
    hf_context *ctx = hf_context_create();
    *state = ctx;
    /* Many small matrices: threads that wait for each other on a busy machine would take most of
     * the time. */
    return ctx == NULL || hf_context_set_threads(ctx, 1) != HF_OK;
}

static inline int drop_context(void **state)
{
    hf_context_free(*state);
    return 0;
}

#endif
