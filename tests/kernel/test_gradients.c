/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives against central differences: in every parameter and in the inputs, for every kernel and combination. */
#include "kernel/gram_reference.h"
#include "kernel_testing.h"

#define STEP 1e-5

/* sum over all i, j of W_ij K_ij by the scalar reference */
static double weighted_sum(const hf_kernel *kernel, size_t n, const double *x, const double *w, double *k)
{
    double sum = 0.0;
    gram_reference(kernel, n, x, INPUTS, k, n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) sum += (i == j ? 1.0 : 2.0) * w[i + j * n] * k[i + j * n];
    return sum;
}

static void check_parameters(hf_context *ctx, const char *expression, uint64_t seed, size_t n)
{
    hf_kernel *kernel = parse(ctx, expression, INPUTS);
    const size_t count = hf_kernel_parameters(kernel);
    double *x = make_points(n, INPUTS, seed), *w = make_points(n, n, seed + 1), *k = make_zeros(n * n);
    double *theta = make_zeros(count), *grad = make_zeros(count);
    memcpy(x + INPUTS, x, INPUTS * sizeof *x); /* duplicates have gradients too */
    shake(kernel, seed);
    hfi_kernel_theta(kernel, theta);
    for (size_t p = 0; p < count; p++) grad[p] = 1.0; /* gradients are added */
    /* The upper triangle is not read. */
    for (size_t j = 1; j < n; j++)
        for (size_t i = 0; i < j; i++) w[i + j * n] = NAN;
    assert_int_equal(hfi_kernel_gram_adjoint(ctx, kernel, n, x, INPUTS, w, n, grad), HF_OK);
    for (size_t p = 0; p < count; p++) {
        const double at = theta[p];
        theta[p] = at + STEP;
        hfi_kernel_set_theta(kernel, theta);
        const double above = weighted_sum(kernel, n, x, w, k);
        theta[p] = at - STEP;
        hfi_kernel_set_theta(kernel, theta);
        const double below = weighted_sum(kernel, n, x, w, k);
        theta[p] = at;
        const double difference = (above - below) / (2.0 * STEP);
        assert_close(expression, p, grad[p] - 1.0, difference, 1e-7 * (1.0 + fabs(difference)));
    }
    free(grad);
    free(theta);
    free(k);
    free(w);
    free(x);
    hf_kernel_free(kernel);
}

static void parameters(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++)
        for (uint64_t seed = 0; seed < 2; seed++)
            check_parameters(*state, EXPRESSIONS[e], 100 * e + seed, 21);
}

/* Several tiles, strips and blocks, the last of each incomplete. */
static void parameters_of_many_tiles(void **state)
{
    check_parameters(*state, "matern52(ard) + rq*periodic(x2) + white", 5, 83);
    check_parameters(*state, "sm(x1, x2)*linear + 0.3*matern12(ard)", 6, 131);
}

/* K a by the scalar reference */
static void product(const hf_kernel *kernel, size_t n, const double *x, const double *a, double *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = 0.0;
        for (size_t j = 0; j < n; j++)
            out[i] += hfi_kernel_value(kernel, x + i * INPUTS, x + j * INPUTS, i == j) * a[j];
    }
}

static void check_slopes(hf_context *ctx, const char *expression, uint64_t seed, size_t n)
{
    hf_kernel *kernel = parse(ctx, expression, INPUTS);
    const size_t count = hf_kernel_parameters(kernel);
    double *x = make_points(n, INPUTS, seed), *a = make_points(n, 1, seed + 1), *theta = make_zeros(count);
    double *above = make_zeros(n), *below = make_zeros(n), *v = make_zeros(n * count);
    memcpy(x + INPUTS, x, INPUTS * sizeof *x);
    shake(kernel, seed);
    hfi_kernel_theta(kernel, theta);
    for (size_t k = 0; k < n * count; k++) v[k] = NAN; /* is overwritten */
    assert_int_equal(hfi_kernel_gram_slopes(ctx, kernel, n, x, INPUTS, a, v), HF_OK);
    for (size_t p = 0; p < count; p++) {
        const double at = theta[p];
        theta[p] = at + STEP;
        hfi_kernel_set_theta(kernel, theta);
        product(kernel, n, x, a, above);
        theta[p] = at - STEP;
        hfi_kernel_set_theta(kernel, theta);
        product(kernel, n, x, a, below);
        theta[p] = at;
        for (size_t i = 0; i < n; i++) {
            const double difference = (above[i] - below[i]) / (2.0 * STEP);
            assert_close(expression, p, v[p + i * count], difference, 1e-6 * (1.0 + fabs(difference)));
        }
    }
    free(v);
    free(below);
    free(above);
    free(theta);
    free(a);
    free(x);
    hf_kernel_free(kernel);
}

static void slopes(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) check_slopes(*state, EXPRESSIONS[e], 300 + e, 19);
    check_slopes(*state, "matern52(ard) + rq*periodic(x2) + white", 7, 150);
}

static double weighted_cross(const hf_kernel *kernel, const double *x, size_t n, const double *z,
                             const double *w)
{
    double sum = 0.0;
    for (size_t j = 0; j < n; j++) sum += w[j] * hfi_kernel_value(kernel, x, z + j * INPUTS, false);
    return sum;
}

static void inputs(void **state)
{
    const size_t n = 75;
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        double *z = make_points(n, INPUTS, e), *w = make_points(n, 1, e + 50),
               *x = make_points(1, INPUTS, e + 90);
        double *scratch = make_zeros(hfi_kernel_scratch(kernel)), grad[INPUTS] = {1.0, 1.0, 1.0};
        shake(kernel, e);
        hfi_kernel_input_gradient(kernel, x, n, z, INPUTS, w, grad, scratch);
        for (size_t c = 0; c < INPUTS; c++) {
            const double at = x[c];
            x[c] = at + STEP;
            const double above = weighted_cross(kernel, x, n, z, w);
            x[c] = at - STEP;
            const double below = weighted_cross(kernel, x, n, z, w);
            x[c] = at;
            const double difference = (above - below) / (2.0 * STEP);
            /* matern12 has a kink at each z; no point is that near, but its third derivative is large. */
            assert_close(EXPRESSIONS[e], c, grad[c] - 1.0, difference, 2e-6 * (1.0 + fabs(difference)));
        }
        free(scratch);
        free(x);
        free(w);
        free(z);
        hf_kernel_free(kernel);
    }
}

static void diagonal_inputs(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        double *x = make_points(1, INPUTS, e), grad[INPUTS] = {1.0, 1.0, 1.0};
        shake(kernel, e);
        hfi_kernel_diagonal_input_gradient(kernel, x, grad);
        for (size_t c = 0; c < INPUTS; c++) {
            const double at = x[c];
            double above = 0.0, below = 0.0;
            x[c] = at + STEP;
            hfi_kernel_diagonal(kernel, 1, x, INPUTS, false, &above);
            x[c] = at - STEP;
            hfi_kernel_diagonal(kernel, 1, x, INPUTS, false, &below);
            x[c] = at;
            const double difference = (above - below) / (2.0 * STEP);
            assert_close(EXPRESSIONS[e], c, grad[c] - 1.0, difference, 1e-7 * (1.0 + fabs(difference)));
        }
        free(x);
        hf_kernel_free(kernel);
    }
}

/* At distance 0 every stationary kernel has input gradient 0 and lengthscale gradient 0, also matern12. */
static void coincident_points(void **state)
{
    static const char *const stationary[] = {"se(ard)",  "matern12", "matern12(ard)", "matern32",
                                             "matern52", "rq",       "periodic",      "sm"};
    for (size_t e = 0; e < sizeof stationary / sizeof stationary[0]; e++) {
        hf_kernel *kernel = parse(*state, stationary[e], INPUTS);
        const size_t count = hf_kernel_parameters(kernel);
        const double x[2 * INPUTS] = {0.3, -1.0, 2.0, 0.3, -1.0, 2.0}, w[4] = {1.0, 1.0, 0.0, 1.0};
        double grad[INPUTS] = {0.0}, *by_parameter = make_zeros(count),
               *scratch = make_zeros(hfi_kernel_scratch(kernel));
        hfi_kernel_input_gradient(kernel, x, 1, x, INPUTS, w, grad, scratch);
        for (size_t c = 0; c < INPUTS; c++) assert_true(grad[c] == 0.0);
        assert_int_equal(hfi_kernel_gram_adjoint(*state, kernel, 2, x, INPUTS, w, 2, by_parameter), HF_OK);
        for (size_t p = 0; p < count; p++) {
            hf_parameter parameter;
            assert_int_equal(hf_kernel_parameter(kernel, p, &parameter), HF_OK);
            const double expected = parameter.unit == HF_UNIT_OUTPUT2 ? 4.0 * parameter.value : 0.0;
            assert_close(stationary[e], p, by_parameter[p], expected, 1e-15);
        }
        free(scratch);
        free(by_parameter);
        hf_kernel_free(kernel);
    }
}

static void gradients_stay_finite_far_apart(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        if (strstr(EXPRESSIONS[e], "linear") || strstr(EXPRESSIONS[e], "tilt"))
            continue; /* grows with the inputs */
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        const size_t count = hf_kernel_parameters(kernel);
        const double x[3 * INPUTS] = {1e300, -1e300, 1e300, -1e300, 1e300, 0.0, 1e160, 1e-300, 1.0};
        const double w[9] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
        double grad[INPUTS] = {0.0}, *by_parameter = make_zeros(count),
               *scratch = make_zeros(hfi_kernel_scratch(kernel));
        for (size_t i = 0; i < 3; i++)
            hfi_kernel_input_gradient(kernel, x + i * INPUTS, 3, x, INPUTS, w, grad, scratch);
        for (size_t c = 0; c < INPUTS; c++) assert_true(isfinite(grad[c]));
        assert_int_equal(hfi_kernel_gram_adjoint(*state, kernel, 3, x, INPUTS, w, 3, by_parameter), HF_OK);
        for (size_t p = 0; p < count; p++)
            if (!isfinite(by_parameter[p]))
                fail_msg("%s: gradient %zu is %g", EXPRESSIONS[e], p, by_parameter[p]);
        free(scratch);
        free(by_parameter);
        hf_kernel_free(kernel);
    }
}

static void threads_do_not_change_a_bit(void **state)
{
    hf_context *ctx = *state;
    const size_t n = 333;
    double *x = make_points(n, INPUTS, 1), *w = make_points(n, n, 2);
    for (size_t e = 0; e < EXPRESSION_COUNT; e += 3) {
        hf_kernel *kernel = parse(ctx, EXPRESSIONS[e], INPUTS);
        const size_t count = hf_kernel_parameters(kernel);
        double *one = make_zeros(count), *many = make_zeros(count);
        assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
        assert_int_equal(hfi_kernel_gram_adjoint(ctx, kernel, n, x, INPUTS, w, n, one), HF_OK);
        assert_int_equal(hf_context_set_threads(ctx, 5), HF_OK);
        assert_int_equal(hfi_kernel_gram_adjoint(ctx, kernel, n, x, INPUTS, w, n, many), HF_OK);
        assert_memory_equal(one, many, count * sizeof *one);
        free(one);
        free(many);
        one = make_zeros(n * count);
        many = make_zeros(n * count);
        assert_int_equal(hfi_kernel_gram_slopes(ctx, kernel, n, x, INPUTS, w, many), HF_OK);
        assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
        assert_int_equal(hfi_kernel_gram_slopes(ctx, kernel, n, x, INPUTS, w, one), HF_OK);
        assert_memory_equal(one, many, n * count * sizeof *one);
        free(one);
        free(many);
        hf_kernel_free(kernel);
    }
    free(w);
    free(x);
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
}

static void nothing_to_do(void **state)
{
    hf_kernel *kernel = parse(*state, "se", INPUTS);
    double grad[3] = {5.0, 6.0, 7.0}, *scratch = make_zeros(hfi_kernel_scratch(kernel));
    const double x[INPUTS] = {0.0};
    assert_int_equal(hfi_kernel_gram_adjoint(*state, kernel, 0, NULL, INPUTS, NULL, 1, grad), HF_OK);
    assert_int_equal(hfi_kernel_gram_slopes(*state, kernel, 0, NULL, INPUTS, NULL, grad), HF_OK);
    hfi_kernel_input_gradient(kernel, x, 0, NULL, INPUTS, NULL, grad, scratch);
    assert_true(grad[0] == 5.0 && grad[1] == 6.0 && grad[2] == 7.0);
    free(scratch);
    hf_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters),
        cmocka_unit_test(parameters_of_many_tiles),
        cmocka_unit_test(slopes),
        cmocka_unit_test(inputs),
        cmocka_unit_test(diagonal_inputs),
        cmocka_unit_test(coincident_points),
        cmocka_unit_test(gradients_stay_finite_far_apart),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(nothing_to_do),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
