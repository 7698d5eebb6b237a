/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a coregion's factor in another order than outputs have numbers: nothing but names is seen of it. */
#include "kernel_testing.h"

enum {
    T = 4,
    N = 30
};

static const char *const KERNELS[] = {"coregion(x1, outputs=4)*se(ard)",
                                      "coregion(x1, outputs=4, rank=2)*matern32",
                                      "coregion(x1, outputs=4)*se + coregion(x1, outputs=4, rank=3)*linear"};
static const size_t ORDER[T] = {2, 0, 3, 1};

static double *rows_of_outputs(void)
{
    double *x = make_points(N, INPUTS, 4);
    for (size_t i = 0; i < N; i++) x[i * INPUTS] = (double)(i * 7 % T);
    return x;
}

static double *gram(hf_context *ctx, const hf_kernel *kernel, const double *x)
{
    double *k = make_zeros(N * N);
    assert_int_equal(hf_kernel_gram(ctx, kernel, N, x, INPUTS, k, N), HF_OK);
    return k;
}

static void covariances_stay_and_come_back(void **state)
{
    double *x = rows_of_outputs();
    for (size_t e = 0; e < sizeof KERNELS / sizeof *KERNELS; e++) {
        hf_kernel *kernel = parse(*state, KERNELS[e], INPUTS), *copy = NULL;
        shake(kernel, 3 + e);
        double *before = gram(*state, kernel, x);
        assert_int_equal(hfi_kernel_order_outputs(*state, kernel, ORDER), HF_OK);
        assert_int_equal(hf_kernel_copy(*state, kernel, &copy), HF_OK);
        double *there = gram(*state, copy, x);
        assert_int_equal(hfi_kernel_order_outputs(*state, kernel, NULL), HF_OK);
        double *after = gram(*state, kernel, x);
        for (size_t k = 0; k < N * N; k++) {
            assert_close("ordered", k, there[k], before[k], 1e-13);
            assert_close("put back", k, after[k], before[k], 1e-13);
        }
        free(after);
        free(there);
        free(before);
        hf_kernel_free(copy);
        hf_kernel_free(kernel);
    }
    free(x);
}

/* Slope of sum_ij c_ij K_ij, by differences. */
static void slopes_are_those_of_the_order(void **state)
{
    double *x = rows_of_outputs(), *c = make_zeros(N * N);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) c[i * N + j] = c[j * N + i] = sin((double)(3 * i + 5 * j));
    for (size_t e = 0; e < sizeof KERNELS / sizeof *KERNELS; e++) {
        hf_kernel *kernel = parse(*state, KERNELS[e], INPUTS);
        shake(kernel, 9 + e);
        assert_int_equal(hfi_kernel_order_outputs(*state, kernel, ORDER), HF_OK);
        const size_t count = hf_kernel_parameters(kernel);
        double *grad = make_zeros(count), *theta = make_zeros(count);
        assert_int_equal(hfi_kernel_gram_adjoint(*state, kernel, N, x, INPUTS, c, N, grad), HF_OK);
        hfi_kernel_theta(kernel, theta);
        for (size_t p = 0; p < count; p++) {
            double sum[2] = {0.0, 0.0};
            const double h = 1e-5;
            for (int side = 0; side < 2; side++) {
                theta[p] += side ? -2.0 * h : h;
                hfi_kernel_set_theta(kernel, theta);
                double *k = gram(*state, kernel, x);
                for (size_t i = 0; i < N * N; i++) sum[side] += c[i] * k[i];
                free(k);
            }
            theta[p] += h;
            const double slope = (sum[0] - sum[1]) / (2.0 * h);
            if (!(fabs(slope - grad[p]) <= 1e-5 * (1.0 + fabs(slope))))
                fail_msg("%s, parameter %zu: %g by differences, %g told", KERNELS[e], p, slope, grad[p]);
        }
        free(theta);
        free(grad);
        hf_kernel_free(kernel);
    }
    free(c);
    free(x);
}

/* B goes in and comes out by the numbers of the outputs; what has been given stays where it is. */
static void matrices_go_by_number(void **state)
{
    hf_kernel *kernel = parse(*state, "coregion(x1, outputs=4)*se", INPUTS),
              *given = parse(*state, "coregion(x1, outputs=4, factor[1,0]=0.25)*se", INPUTS);
    double b[T * T], back[T * T];
    for (size_t s = 0; s < T; s++)
        for (size_t t = 0; t < T; t++) b[s * T + t] = (s == t ? 2.0 : 0.0) + cos((double)(s + t));
    assert_int_equal(hfi_kernel_order_outputs(*state, kernel, ORDER), HF_OK);
    assert_int_equal(hf_kernel_set_coregion(*state, kernel, 0, b), HF_OK);
    assert_int_equal(hf_kernel_get_coregion(*state, kernel, 0, back), HF_OK);
    for (size_t k = 0; k < T * T; k++) assert_close("B", k, back[k], b[k], 1e-13);
    bool squared = true;
    size_t first = 0, end = 0;
    assert_int_equal(hfi_kernel_coregion_own(kernel, 0, 2, &squared, &first, &end), 9);
    assert_false(squared);
    assert_int_equal(first, 6);
    assert_int_equal(end, 9);
    assert_int_equal(hfi_kernel_order_outputs(*state, given, ORDER), HF_OK);
    assert_int_equal(hfi_kernel_coregion_own(given, 0, 0, &squared, &first, &end), 0);
    hf_kernel_free(given);
    hf_kernel_free(kernel);
}

/* Where nothing has been learnt yet, an order moves no digit. */
static void starts_stay(void **state)
{
    for (size_t e = 0; e < sizeof KERNELS / sizeof *KERNELS; e++) {
        hf_kernel *kernel = parse(*state, KERNELS[e], INPUTS);
        const size_t count = hf_kernel_parameters(kernel);
        double *before = make_zeros(count), *after = make_zeros(count);
        hfi_kernel_theta(kernel, before);
        assert_int_equal(hfi_kernel_order_outputs(*state, kernel, ORDER), HF_OK);
        hfi_kernel_theta(kernel, after);
        assert_memory_equal(before, after, count * sizeof *before);
        /* In another unit either: W times 7, own times 49. */
        for (size_t p = 0; p < count; p++) {
            hf_parameter told;
            assert_int_equal(hf_kernel_parameter(kernel, p, &told), HF_OK);
            if (told.unit == HF_UNIT_OUTPUT) before[p] *= 7.0;
        }
        hfi_kernel_set_theta(kernel, before);
        assert_int_equal(hfi_kernel_order_outputs(*state, kernel, NULL), HF_OK);
        hfi_kernel_theta(kernel, after);
        assert_memory_equal(before, after, count * sizeof *before);
        free(after);
        free(before);
        hf_kernel_free(kernel);
    }
}

/* The typical variance does not see the order, and its slopes are those of differences. */
static void typical_variances_have_slopes(void **state)
{
    static const char *const more[] = {"0.7*coregion(x1, outputs=4)*se + white",
                                       "coregion(x1, outputs=4, rank=2)*(constant + linear(x2))",
                                       "coregion(x1, outputs=4)*linear(x2)"};
    for (size_t e = 0; e < sizeof KERNELS / sizeof *KERNELS + sizeof more / sizeof *more; e++) {
        const char *text = e < 3 ? KERNELS[e] : more[e - 3];
        hf_kernel *kernel = parse(*state, text, INPUTS);
        shake(kernel, 5 + e);
        const double before = hfi_kernel_typical_variance(kernel);
        assert_int_equal(hfi_kernel_order_outputs(*state, kernel, ORDER), HF_OK);
        assert_close("typical", e, hfi_kernel_typical_variance(kernel), before, 1e-13);
        const size_t count = hf_kernel_parameters(kernel);
        double *grad = make_zeros(count), *theta = make_zeros(count);
        hfi_kernel_typical_adjoint(kernel, 3.0, grad);
        hfi_kernel_theta(kernel, theta);
        for (size_t p = 0; p < count; p++) {
            const double h = 1e-5;
            theta[p] += h;
            hfi_kernel_set_theta(kernel, theta);
            double slope = hfi_kernel_typical_variance(kernel);
            theta[p] -= 2.0 * h;
            hfi_kernel_set_theta(kernel, theta);
            slope = 3.0 * (slope - hfi_kernel_typical_variance(kernel)) / (2.0 * h);
            theta[p] += h;
            hfi_kernel_set_theta(kernel, theta);
            if (!(fabs(slope - grad[p]) <= 1e-6 * (1.0 + fabs(slope))))
                fail_msg("%s, parameter %zu: %g by differences, %g told", text, p, slope, grad[p]);
        }
        free(theta);
        free(grad);
        hf_kernel_free(kernel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covariances_stay_and_come_back), cmocka_unit_test(slopes_are_those_of_the_order),
        cmocka_unit_test(matrices_go_by_number),          cmocka_unit_test(starts_stay),
        cmocka_unit_test(typical_variances_have_slopes),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
