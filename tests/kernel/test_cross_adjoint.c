/* SPDX-License-Identifier: Apache-2.0 */
/* Adjoints of cross-covariances, of a Gram matrix in its inputs and of prior variances, against central differences. */
#include "kernel_testing.h"

#define STEP 1e-5

/* ---- cross-covariances ----------------------------------------------------------------------- */

typedef struct cross {
    hf_kernel *kernel;
    size_t m, n, ldx, ldz, ldw;
    double *x, *z, *w;
} cross;

static cross make_cross(hf_context *ctx, const char *expression, uint64_t seed, size_t m, size_t n)
{
    cross c = {.kernel = parse(ctx, expression, INPUTS),
               .m = m,
               .n = n,
               .ldx = INPUTS + 1,
               .ldz = INPUTS + 2,
               .ldw = n + 3};
    c.x = make_points(m, c.ldx, seed);
    c.z = make_points(n, c.ldz, seed + 1);
    c.w = make_points(m, c.ldw, seed + 2);
    shake(c.kernel, seed);
    return c;
}

static void drop_cross(cross *c)
{
    hf_kernel_free(c->kernel);
    free(c->x);
    free(c->z);
    free(c->w);
}

/* sum_jq W_jq k(x_q, z_j) by the scalar reference; of one j alone if it is below n. */
static double cross_sum(const cross *c, size_t only)
{
    double sum = 0.0;
    for (size_t q = 0; q < c->m; q++)
        for (size_t j = 0; j < c->n; j++)
            if (only >= c->n || only == j)
                sum += c->w[j + q * c->ldw] *
                       hfi_kernel_value(c->kernel, c->x + q * c->ldx, c->z + j * c->ldz, false);
    return sum;
}

static void check_theta(const char *expression, cross *c, const double *grad)
{
    const size_t count = hf_kernel_parameters(c->kernel);
    double *theta = make_zeros(count);
    hfi_kernel_theta(c->kernel, theta);
    for (size_t p = 0; p < count; p++) {
        const double at = theta[p];
        theta[p] = at + STEP;
        hfi_kernel_set_theta(c->kernel, theta);
        const double above = cross_sum(c, SIZE_MAX);
        theta[p] = at - STEP;
        hfi_kernel_set_theta(c->kernel, theta);
        const double below = cross_sum(c, SIZE_MAX);
        theta[p] = at;
        hfi_kernel_set_theta(c->kernel, theta);
        const double difference = (above - below) / (2.0 * STEP);
        assert_close(expression, p, grad[p], difference, 1e-7 * (1.0 + fabs(difference)));
    }
    free(theta);
}

static void check_inputs(const char *expression, cross *c, const double *grad)
{
    for (size_t j = 0; j < c->n; j++)
        for (size_t k = 0; k < INPUTS; k++) {
            double *at = c->z + j * c->ldz + k, was = *at;
            *at = was + STEP;
            const double above = cross_sum(c, j);
            *at = was - STEP;
            const double below = cross_sum(c, j);
            *at = was;
            const double difference = (above - below) / (2.0 * STEP);
            assert_close(expression, j * INPUTS + k, grad[j * INPUTS + k], difference,
                         2e-6 * (1.0 + fabs(difference)));
        }
}

static void check_cross(hf_context *ctx, const char *expression, uint64_t seed, size_t m, size_t n)
{
    cross c = make_cross(ctx, expression, seed, m, n);
    const size_t count = hf_kernel_parameters(c.kernel);
    double *theta = make_zeros(count), *inputs = make_zeros(n * INPUTS);
    for (size_t p = 0; p < count; p++) theta[p] = 1.0; /* gradients are added */
    for (size_t p = 0; p < n * INPUTS; p++) inputs[p] = 1.0;
    assert_int_equal(
        hfi_kernel_cross_adjoint(ctx, c.kernel, m, c.x, c.ldx, n, c.z, c.ldz, c.w, c.ldw, theta, NULL),
        HF_OK);
    assert_int_equal(
        hfi_kernel_cross_adjoint(ctx, c.kernel, m, c.x, c.ldx, n, c.z, c.ldz, c.w, c.ldw, NULL, inputs),
        HF_OK);
    for (size_t p = 0; p < count; p++) theta[p] -= 1.0;
    for (size_t p = 0; p < n * INPUTS; p++) inputs[p] -= 1.0;
    check_theta(expression, &c, theta);
    check_inputs(expression, &c, inputs);
    free(theta);
    free(inputs);
    drop_cross(&c);
}

static void cross_covariances(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) check_cross(*state, EXPRESSIONS[e], 10 * e, 13, 9);
}

/* Several tiles, strips and blocks on either side, the last of each incomplete. */
static void cross_covariances_of_many_tiles(void **state)
{
    check_cross(*state, "matern52(ard) + rq*periodic(x2) + white", 5, 83, 70);
    check_cross(*state, "sm(x1, x2)*linear + 0.3*matern32(ard)", 6, 71, 67);
}

static void both_results_at_once_are_the_same(void **state)
{
    hf_context *ctx = *state;
    cross c = make_cross(ctx, "se(ard)*linear + white", 3, 70, 35);
    const size_t count = hf_kernel_parameters(c.kernel);
    double *theta[2] = {make_zeros(count), make_zeros(count)},
           *inputs[2] = {make_zeros(c.n * INPUTS), make_zeros(c.n * INPUTS)};
    hfi_kernel_cross_adjoint(ctx, c.kernel, c.m, c.x, c.ldx, c.n, c.z, c.ldz, c.w, c.ldw, theta[0],
                             inputs[0]);
    hfi_kernel_cross_adjoint(ctx, c.kernel, c.m, c.x, c.ldx, c.n, c.z, c.ldz, c.w, c.ldw, theta[1], NULL);
    hfi_kernel_cross_adjoint(ctx, c.kernel, c.m, c.x, c.ldx, c.n, c.z, c.ldz, c.w, c.ldw, NULL, inputs[1]);
    assert_memory_equal(theta[0], theta[1], count * sizeof(double));
    assert_memory_equal(inputs[0], inputs[1], c.n * INPUTS * sizeof(double));
    for (int k = 0; k < 2; k++) {
        free(theta[k]);
        free(inputs[k]);
    }
    drop_cross(&c);
}

/* ---- Gram matrices in their inputs ----------------------------------------------------------- */

/* sum over all j, k of W_jk k(z_j, z_k) without white, W given by its lower triangle. */
static double gram_sum(const hf_kernel *kernel, size_t n, const double *z, const double *w)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++)
        for (size_t j = k; j < n; j++)
            sum += (j == k ? 1.0 : 2.0) * w[j + k * n] *
                   hfi_kernel_value(kernel, z + j * INPUTS, z + k * INPUTS, false);
    return sum;
}

static void check_gram_inputs(hf_context *ctx, const char *expression, uint64_t seed, size_t n)
{
    hf_kernel *kernel = parse(ctx, expression, INPUTS);
    double *z = make_points(n, INPUTS, seed), *w = make_points(n, n, seed + 1),
           *grad = make_zeros(n * INPUTS);
    shake(kernel, seed);
    for (size_t j = 1; j < n; j++) /* the upper triangle is not read */
        for (size_t i = 0; i < j; i++) w[i + j * n] = NAN;
    for (size_t p = 0; p < n * INPUTS; p++) grad[p] = 1.0;
    assert_int_equal(hfi_kernel_gram_input_adjoint(ctx, kernel, n, z, INPUTS, w, n, grad), HF_OK);
    for (size_t p = 0; p < n * INPUTS; p++) {
        const double at = z[p];
        z[p] = at + STEP;
        const double above = gram_sum(kernel, n, z, w);
        z[p] = at - STEP;
        const double below = gram_sum(kernel, n, z, w);
        z[p] = at;
        const double difference = (above - below) / (2.0 * STEP);
        assert_close(expression, p, grad[p] - 1.0, difference, 2e-6 * (1.0 + fabs(difference)));
    }
    free(grad);
    free(w);
    free(z);
    hf_kernel_free(kernel);
}

static void gram_inputs(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) check_gram_inputs(*state, EXPRESSIONS[e], 7 * e, 9);
    check_gram_inputs(*state, "matern52(ard) + rq*periodic(x2)*linear(x1)", 4, 71);
}

/* Equal rows stand on the top of stationary kernels, and at the kink of matern12 the gradient is taken as 0. */
static void equal_inputs_do_not_backward(void **state)
{
    static const char *const stationary[] = {"se(ard)", "matern12", "matern52", "rq", "periodic", "sm"};
    const double z[2 * INPUTS] = {0.3, -1.0, 2.0, 0.3, -1.0, 2.0}, w[4] = {1.0, 5.0, NAN, -2.0};
    for (size_t e = 0; e < sizeof stationary / sizeof stationary[0]; e++) {
        hf_kernel *kernel = parse(*state, stationary[e], INPUTS);
        double grad[2 * INPUTS] = {0.0};
        assert_int_equal(hfi_kernel_gram_input_adjoint(*state, kernel, 2, z, INPUTS, w, 2, grad), HF_OK);
        for (size_t p = 0; p < 2 * INPUTS; p++) assert_true(grad[p] == 0.0);
        hf_kernel_free(kernel);
    }
}

/* ---- prior variances ------------------------------------------------------------------------- */

static double diagonal_sum(const hf_kernel *kernel, size_t m, const double *x, const double *latent,
                           const double *white)
{
    double sum = 0.0;
    for (size_t q = 0; q < m; q++) {
        const double without = hfi_kernel_value(kernel, x + q * INPUTS, x + q * INPUTS, false);
        const double with = hfi_kernel_value(kernel, x + q * INPUTS, x + q * INPUTS, true);
        sum += (latent ? latent[q] * without : 0.0) + (white ? white[q] * (with - without) : 0.0);
    }
    return sum;
}

static void check_diagonal(hf_context *ctx, const char *expression, uint64_t seed, bool latent, bool white)
{
    const size_t m = 6;
    hf_kernel *kernel = parse(ctx, expression, INPUTS);
    const size_t count = hf_kernel_parameters(kernel);
    double *x = make_points(m, INPUTS, seed), *weights = make_points(m, 2, seed + 1),
           *theta = make_zeros(count), *grad = make_zeros(count);
    const double *w_latent = latent ? weights : NULL, *w_white = white ? weights + m : NULL;
    shake(kernel, seed);
    hfi_kernel_theta(kernel, theta);
    for (size_t p = 0; p < count; p++) grad[p] = 1.0;
    hfi_kernel_diagonal_adjoint(kernel, m, x, INPUTS, w_latent, w_white, grad);
    for (size_t p = 0; p < count; p++) {
        const double at = theta[p];
        theta[p] = at + STEP;
        hfi_kernel_set_theta(kernel, theta);
        const double above = diagonal_sum(kernel, m, x, w_latent, w_white);
        theta[p] = at - STEP;
        hfi_kernel_set_theta(kernel, theta);
        const double below = diagonal_sum(kernel, m, x, w_latent, w_white);
        theta[p] = at;
        const double difference = (above - below) / (2.0 * STEP);
        assert_close(expression, p, grad[p] - 1.0, difference, 1e-8 * (1.0 + fabs(difference)));
    }
    free(grad);
    free(theta);
    free(weights);
    free(x);
    hf_kernel_free(kernel);
}

static void prior_variances(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++)
        for (int which = 0; which < 4; which++)
            check_diagonal(*state, EXPRESSIONS[e], 3 * e, (which & 1) != 0, (which & 2) != 0);
}

/* The diagonal itself, which takes a short cut where it is constant. */
static void prior_variances_are_values(void **state)
{
    const size_t m = 9;
    double *x = make_points(m, INPUTS, 1), diagonal[9];
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        shake(kernel, e);
        for (int white = 0; white < 2; white++) {
            hfi_kernel_diagonal(kernel, m, x, INPUTS, white != 0, diagonal);
            for (size_t q = 0; q < m; q++)
                assert_true(diagonal[q] ==
                            hfi_kernel_value(kernel, x + q * INPUTS, x + q * INPUTS, white != 0));
        }
        hf_kernel_free(kernel);
    }
    free(x);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void threads_do_not_change_a_bit(void **state)
{
    hf_context *ctx = *state;
    for (size_t e = 0; e < EXPRESSION_COUNT; e += 5) {
        cross c = make_cross(ctx, EXPRESSIONS[e], e, 300, 131);
        const size_t count = hf_kernel_parameters(c.kernel), inputs = c.n * INPUTS;
        double *w = make_points(c.n, c.n, 9), *z = make_points(c.n, INPUTS, 8), *grad[2];
        for (int t = 0; t < 2; t++) {
            grad[t] = make_zeros(count + 2 * inputs);
            assert_int_equal(hf_context_set_threads(ctx, 1 + 4 * t), HF_OK);
            assert_int_equal(hfi_kernel_cross_adjoint(ctx, c.kernel, c.m, c.x, c.ldx, c.n, c.z, c.ldz, c.w,
                                                      c.ldw, grad[t], grad[t] + count),
                             HF_OK);
            assert_int_equal(hfi_kernel_gram_input_adjoint(ctx, c.kernel, c.n, z, INPUTS, w, c.n,
                                                           grad[t] + count + inputs),
                             HF_OK);
        }
        assert_memory_equal(grad[0], grad[1], (count + 2 * inputs) * sizeof(double));
        free(grad[0]);
        free(grad[1]);
        free(w);
        free(z);
        drop_cross(&c);
    }
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
}

static void nothing_to_do(void **state)
{
    hf_kernel *kernel = parse(*state, "se", INPUTS);
    double grad[INPUTS] = {5.0, 6.0, 7.0};
    const double x[INPUTS] = {0.0}, w[1] = {1.0};
    assert_int_equal(
        hfi_kernel_cross_adjoint(*state, kernel, 0, NULL, INPUTS, 1, x, INPUTS, w, 1, grad, grad), HF_OK);
    assert_int_equal(
        hfi_kernel_cross_adjoint(*state, kernel, 1, x, INPUTS, 0, NULL, INPUTS, NULL, 1, grad, grad), HF_OK);
    assert_int_equal(hfi_kernel_cross_adjoint(*state, kernel, 1, x, INPUTS, 1, x, INPUTS, w, 1, NULL, NULL),
                     HF_OK);
    assert_int_equal(hfi_kernel_gram_input_adjoint(*state, kernel, 0, NULL, INPUTS, NULL, 1, grad), HF_OK);
    hfi_kernel_diagonal_adjoint(kernel, 0, NULL, INPUTS, w, w, grad);
    hfi_kernel_diagonal_adjoint(kernel, 1, x, INPUTS, NULL, NULL, grad);
    assert_true(grad[0] == 5.0 && grad[1] == 6.0 && grad[2] == 7.0);
    hf_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cross_covariances),
        cmocka_unit_test(cross_covariances_of_many_tiles),
        cmocka_unit_test(both_results_at_once_are_the_same),
        cmocka_unit_test(gram_inputs),
        cmocka_unit_test(equal_inputs_do_not_backward),
        cmocka_unit_test(prior_variances),
        cmocka_unit_test(prior_variances_are_values),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(nothing_to_do),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
