/* SPDX-License-Identifier: Apache-2.0 */
/* Functions drawn from the prior: their covariance is the kernel, and their gradient the slope. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "kernel/features.h"

enum {
    D = 3,
    POINTS = 5,
    DRAWS = 30000,
    EACH = 3
};

/* The last input is the number of an output where there is a coregion. */
static const double points[POINTS * D] = {0.3, -0.2, 0.0, 0.5, 0.1,  2.0,  -0.9, 0.4,
                                          1.0, 1.6,  1.1, 2.0, 0.31, -1.3, 0.0};

static const char *const kernels[] = {
    "se(ard)",
    "2.5*matern12(lengthscale=0.7)",
    "matern32(x1, x2, ard, lengthscale[0]=0.4)",
    "matern52",
    "rq(lengthscale=0.6, alpha=0.4)",
    "rq(alpha=8)",
    "periodic(x1, period=1.7, lengthscale=0.8)",
    "periodic(x1, x2, ard, period[0]=3.1, lengthscale[0]=0.15)",
    "sm(x1, x2, components=3)",
    "se(x1, x2)*wave(x1, x2, frequency[0]=0.3, frequency[1]=-0.2)",
    "linear(ard, variance[0]=2)",
    "linear + constant(variance=0.3)",
    "0.5*linear(x1)*linear(x2)",
    "matern52(x1) * linear(x2)",
    "se(x1)*periodic(x2, period=2) + 0.3*rq(x1)",
    "se(x1)*(1 + 0.5*linear(x2) + matern12(x2))",
    "(se(x1) + 0.2*linear(x2))*(matern32(x2) + constant(variance=2))",
    "coregion(x3, outputs=3)",
    "coregion(x3, outputs=3, rank=1) * matern52(x1)",
    "category(x3, lengthscale=0.8) * matern52(x1)",
    "1.5*category(x3, lengthscale=2) + se(x1)*(category(x3) + linear(x2))",
    "category(x2, x3, ard, lengthscale[0]=0.5)*rq(x1)",
    "coregion(x3, outputs=3) * se(x1) + coregion(x3, outputs=3, rank=2) * linear(x2)",
};

static hf_kernel *parsed(hf_context *ctx, const char *expression)
{
    hf_kernel *kernel = NULL;
    assert_int_equal(hf_kernel_parse(ctx, expression, NULL, D, &kernel), HF_OK);
    return kernel;
}

static hfi_features drawn(hf_context *ctx, const hf_kernel *kernel, size_t each, uint64_t index)
{
    hfi_features features;
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, index);
    assert_int_equal(hfi_features_create(ctx, kernel, each, &stream, &features), HF_OK);
    return features;
}

/* Sums of products over the draws, and of their squares, whose spread says how far off the averages may be. */
static void covariances_are_the_kernel(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        hf_kernel *kernel = parsed(ctx, kernels[k]);
        double sum[POINTS] = {0.0}, product[POINTS][POINTS] = {{0.0}}, square[POINTS][POINTS] = {{0.0}};
        for (size_t draw = 0; draw < DRAWS; draw++) {
            hfi_features f = drawn(ctx, kernel, EACH, draw);
            double value[POINTS];
            for (size_t i = 0; i < POINTS; i++) {
                value[i] = hfi_features_evaluate(&f, points + i * D, NULL);
                sum[i] += value[i] / DRAWS;
                for (size_t j = 0; j <= i; j++) {
                    product[i][j] += value[i] * value[j] / DRAWS;
                    square[i][j] += value[i] * value[j] * value[i] * value[j] / DRAWS;
                }
            }
            hfi_features_free(&f);
        }
        for (size_t i = 0; i < POINTS; i++)
            for (size_t j = 0; j <= i; j++) {
                const double expected = hfi_kernel_value(kernel, points + i * D, points + j * D, i == j);
                const double error = sqrt((square[i][j] - product[i][j] * product[i][j]) / DRAWS);
                if (!(fabs(product[i][j] - expected) < 4.5 * error))
                    fail_msg("%s: points %zu and %zu: %g, not %g (%g)", kernels[k], i, j, product[i][j],
                             expected, error);
                if (i == j) assert_near(sum[i], 0.0, 4.5 * sqrt(expected / DRAWS));
            }
        hf_kernel_free(kernel);
    }
    hf_context_free(ctx);
}

static void gradients_are_differences(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        hf_kernel *kernel = parsed(ctx, kernels[k]);
        hfi_features f = drawn(ctx, kernel, EACH, 77);
        for (size_t i = 0; i < POINTS; i++) {
            double gradient[D] = {1.0, 2.0, 3.0}, x[D];
            const double value = hfi_features_evaluate(&f, points + i * D, gradient);
            assert_true(value == hfi_features_evaluate(&f, points + i * D, NULL));
            for (size_t j = 0; j < D; j++) {
                const double step = 1e-6;
                memcpy(x, points + i * D, sizeof x);
                x[j] += step;
                double difference = hfi_features_evaluate(&f, x, NULL);
                x[j] -= 2.0 * step;
                difference = (difference - hfi_features_evaluate(&f, x, NULL)) / (2.0 * step);
                /* Frequencies of matern12 have no mean: some are high. */
                assert_near(gradient[j] - (double)(j + 1), difference, 1e-5 * (1.0 + fabs(difference)));
            }
        }
        hfi_features_free(&f);
        hf_kernel_free(kernel);
    }
    hf_context_free(ctx);
}

static void finite_terms_take_one_feature(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = parsed(ctx, "linear + constant + se + linear*linear");
    hfi_features f = drawn(ctx, kernel, EACH, 0);
    assert_int_equal(f.count, 1 + 1 + EACH + EACH);
    hfi_features_free(&f);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static void what_is_no_function_is_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = parsed(ctx, "se + 0.1*white");
    hfi_features f;
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 0);
    assert_int_equal(hfi_features_create(ctx, kernel, EACH, &stream, &f), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "'white'"));
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covariances_are_the_kernel),
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(finite_terms_take_one_feature),
        cmocka_unit_test(what_is_no_function_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
