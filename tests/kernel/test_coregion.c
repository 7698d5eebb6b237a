/* SPDX-License-Identifier: Apache-2.0 */
/* Several outputs: what coregion means, its factor at zero and below, and B in and out. Values and gradients
 * of expressions with it are also among those of test_values, test_gradients, test_cross_adjoint and
 * test_block_stream. */
#include "kernel/gram_reference.h"
#include "kernel_testing.h"

#include <float.h>

#define MOST 6u /* outputs of the matrices here */

static hfi_stream random_stream(uint64_t index)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 23, HFI_PURPOSE_TEST, index);
    return stream;
}

/* b := a a' for a of `outputs` rows and `rank` columns of normal numbers */
static void random_square(uint64_t index, size_t outputs, size_t rank, double *b)
{
    hfi_stream stream = random_stream(index);
    double a[MOST * MOST];
    for (size_t k = 0; k < outputs * rank; k++) a[k] = hfi_stream_normal(&stream);
    for (size_t s = 0; s < outputs; s++)
        for (size_t t = 0; t < outputs; t++) {
            b[s * outputs + t] = 0.0;
            for (size_t q = 0; q < rank; q++) b[s * outputs + t] += a[s * rank + q] * a[t * rank + q];
        }
}

/* Rows of which the first input is 0 .. outputs - 1, in no order. */
static double *rows_of_outputs(size_t n, size_t outputs, uint64_t index)
{
    double *x = make_points(n, INPUTS, index);
    hfi_stream stream = random_stream(index + 1000);
    for (size_t i = 0; i < n; i++) x[i * INPUTS] = floor((double)outputs * hfi_stream_uniform(&stream));
    return x;
}

static double *gram(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x)
{
    double *k = make_zeros(n * n);
    assert_int_equal(hf_kernel_gram(ctx, kernel, n, x, INPUTS, k, n), HF_OK);
    return k;
}

static double parameter(const hf_kernel *kernel, size_t i)
{
    hf_parameter p;
    assert_int_equal(hf_kernel_parameter(kernel, i, &p), HF_OK);
    return p.value;
}

/* ---- what it means --------------------------------------------------------------------------------------- */

/* sum_q B_q[t, t'] k_q(x, x'), with B from the public function and k_q parsed on its own. */
static void is_a_table_times_a_kernel(void **state)
{
    hf_context *ctx = *state;
    const size_t n = 150;
    hf_kernel *lmc =
        parse(ctx, "coregion(x1, outputs=4)*se(ard) + matern32*coregion(x1, outputs=4, rank=2)", INPUTS);
    hf_kernel *first = parse(ctx, "se(x2, x3, ard, outputscale=1)", INPUTS),
              *second = parse(ctx, "matern32(x2, x3, outputscale=1)", INPUTS);
    double b[2][16], *x = rows_of_outputs(n, 4, 3);
    shake(lmc, 5);
    assert_int_equal(hf_kernel_set(ctx, lmc, "se.lengthscale[0]", 0.7), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, first, "lengthscale[0]", 0.7), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, lmc, "se.lengthscale[1]", 1.3), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, first, "lengthscale[1]", 1.3), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, lmc, "matern32.lengthscale", 0.4), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, second, "lengthscale", 0.4), HF_OK);
    assert_int_equal(hf_kernel_coregions(lmc), 2);
    for (size_t q = 0; q < 2; q++) assert_int_equal(hf_kernel_get_coregion(ctx, lmc, q, b[q]), HF_OK);
    double *k = gram(ctx, lmc, n, x), *k1 = gram(ctx, first, n, x), *k2 = gram(ctx, second, n, x);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t pair = 4 * (size_t)x[i * INPUTS] + (size_t)x[j * INPUTS], at = i * n + j;
            assert_close("K", at, k[at], b[0][pair] * k1[at] + b[1][pair] * k2[at], 1e-14);
        }
    free(k2);
    free(k1);
    free(k);
    free(x);
    hf_kernel_free(second);
    hf_kernel_free(first);
    hf_kernel_free(lmc);
}

/* A kernel with a coregion writes to the matrix by another way when its tiles are whole. */
static void each_way_of_writing_gives_the_same(void **state)
{
    static const char *const pairs[][2] = {
        {"coregion(x1, outputs=3)*se(ard)", "coregion(x1, outputs=3)*se(ard)*constant(variance=1)"},
        {"rq*coregion(x1, outputs=3, rank=1)", "rq*coregion(x1, outputs=3, rank=1)*constant(variance=1)"}};
    const size_t n = 200;
    double *x = rows_of_outputs(n, 3, 8);
    for (size_t e = 0; e < 2; e++) {
        hf_kernel *fast = parse(*state, pairs[e][0], INPUTS), *slow = parse(*state, pairs[e][1], INPUTS);
        double *a = gram(*state, fast, n, x), *b = gram(*state, slow, n, x);
        assert_memory_equal(a, b, n * n * sizeof *a);
        free(b);
        free(a);
        hf_kernel_free(slow);
        hf_kernel_free(fast);
    }
    free(x);
}

static void one_output_of_variance_one_changes_nothing(void **state)
{
    hf_context *ctx = *state;
    const size_t n = 140;
    hf_kernel *plain = parse(ctx, "matern52(x2, x3, ard, outputscale=1)", INPUTS),
              *with = parse(ctx, "coregion(x1, outputs=1)*matern52(ard)", INPUTS);
    double *x = make_points(n, INPUTS, 12), *a = gram(ctx, plain, n, x), *b = gram(ctx, with, n, x);
    assert_memory_equal(a, b, n * n * sizeof *a);
    assert_int_equal(hf_kernel_parameters(with), 3);
    assert_true(hfi_kernel_typical_variance(with) == 1.0);
    free(b);
    free(a);
    free(x);
    hf_kernel_free(with);
    hf_kernel_free(plain);
}

static void outputs_that_share_nothing_are_independent(void **state)
{
    hf_context *ctx = *state;
    const size_t n = 90;
    static const double b[9] = {2.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 3.0};
    hf_kernel *kernel = parse(ctx, "coregion(x1, outputs=3)*se", INPUTS);
    double *x = rows_of_outputs(n, 3, 4);
    assert_int_equal(hf_kernel_set_coregion(ctx, kernel, 0, b), HF_OK);
    double *k = gram(ctx, kernel, n, x);
    size_t zeros = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const bool apart = x[i * INPUTS] != x[j * INPUTS];
            zeros += apart;
            assert_true((k[i * n + j] == 0.0) == apart);
        }
    assert_true(zeros > n);
    free(k);
    free(x);
    hf_kernel_free(kernel);
}

/* Outputs under other numbers, and B with them. */
static void the_order_of_outputs_is_a_matter_of_names(void **state)
{
    static const size_t renamed[4] = {2, 0, 3, 1};
    hf_context *ctx = *state;
    const size_t n = 77;
    double b[16], other[16], *x = rows_of_outputs(n, 4, 9), *y = malloc(n * INPUTS * sizeof *y);
    hf_kernel *kernel = parse(ctx, "coregion(x1, outputs=4)*matern12", INPUTS);
    assert_non_null(y);
    random_square(2, 4, 4, b);
    for (size_t s = 0; s < 4; s++)
        for (size_t t = 0; t < 4; t++) other[4 * renamed[s] + renamed[t]] = b[4 * s + t];
    memcpy(y, x, n * INPUTS * sizeof *y);
    for (size_t i = 0; i < n; i++) y[i * INPUTS] = (double)renamed[(size_t)x[i * INPUTS]];
    assert_int_equal(hf_kernel_set_coregion(ctx, kernel, 0, b), HF_OK);
    double *k = gram(ctx, kernel, n, x);
    assert_int_equal(hf_kernel_set_coregion(ctx, kernel, 0, other), HF_OK);
    double *l = gram(ctx, kernel, n, y);
    for (size_t k_at = 0; k_at < n * n; k_at++) assert_close("K", k_at, l[k_at], k[k_at], 1e-13);
    free(l);
    free(k);
    free(y);
    free(x);
    hf_kernel_free(kernel);
}

static void numbers_are_rounded_and_held_in_range(void **state)
{
    static const struct {
        double number;
        size_t output;
    } cases[] = {{0.0, 0}, {0.49, 0}, {0.51, 1}, {1.0, 1},   {1.6, 2},    {2.0, 2},     {2.4, 2},
                 {7.0, 2}, {-3.0, 0}, {-0.0, 0}, {1e300, 2}, {-1e300, 0}, {DBL_MAX, 2}, {1.49, 1}};
    hf_kernel *kernel = parse(*state, "coregion(x1, outputs=3)", 1);
    double b[9], scratch_free = 0.0;
    shake(kernel, 3);
    assert_int_equal(hf_kernel_get_coregion(*state, kernel, 0, b), HF_OK);
    const size_t count = sizeof cases / sizeof cases[0];
    double x[sizeof cases / sizeof cases[0]], k[sizeof cases / sizeof cases[0]];
    for (size_t i = 0; i < count; i++) x[i] = cases[i].number;
    for (size_t t = 0; t < 3; t++) {
        const double z = (double)t;
        assert_int_equal(hf_kernel_cross(*state, kernel, count, x, 1, 1, &z, 1, k, 1), HF_OK);
        for (size_t i = 0; i < count; i++) {
            assert_true(k[i] == b[3 * cases[i].output + t]);
            assert_close("scalar", i, hfi_kernel_value(kernel, x + i, &z, false), k[i], 1e-15);
        }
    }
    for (size_t i = 0; i < count; i++) {
        hfi_kernel_diagonal(kernel, 1, x + i, 1, true, &scratch_free);
        assert_close("diagonal", i, scratch_free, b[4 * cases[i].output], 1e-15);
    }
    /* Several points in one call, too: the variance is not the same everywhere. */
    hfi_kernel_diagonal(kernel, count, x, 1, false, k);
    for (size_t i = 0; i < count; i++) assert_close("diagonal", i, k[i], b[4 * cases[i].output], 1e-15);
    assert_close("typical", 0, hfi_kernel_typical_variance(kernel), (b[0] + b[4] + b[8]) / 3.0, 1e-15);
    hf_kernel_free(kernel);
}

/* ---- gradients ------------------------------------------------------------------------------------------- */

typedef struct sums {
    const double *x, *w;
    size_t n;
} sums;

/* sum_ij w_ij k(x_i, x_j), both triangles by the scalar reference; w symmetric */
static double weighted(const hf_kernel *kernel, const sums *s)
{
    double total = 0.0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->n; j++)
            total +=
                s->w[i * s->n + j] * hfi_kernel_value(kernel, s->x + i * INPUTS, s->x + j * INPUTS, false);
    return total;
}

static double weighted_diagonal(const hf_kernel *kernel, const sums *s)
{
    double total = 0.0;
    for (size_t i = 0; i < s->n; i++)
        total += s->w[i] * hfi_kernel_value(kernel, s->x + i * INPUTS, s->x + i * INPUTS, false);
    return total;
}

static void check_slope(hf_kernel *kernel, const char *what, const sums *s, const double *grad,
                        double (*value)(const hf_kernel *, const sums *))
{
    const size_t count = hf_kernel_parameters(kernel);
    double *theta = make_zeros(count);
    const double step = 3e-5;
    hfi_kernel_theta(kernel, theta);
    for (size_t p = 0; p < count; p++) {
        const double at = theta[p];
        theta[p] = at + step;
        hfi_kernel_set_theta(kernel, theta);
        const double above = value(kernel, s);
        theta[p] = at - step;
        hfi_kernel_set_theta(kernel, theta);
        const double below = value(kernel, s), slope = (above - below) / (2.0 * step);
        theta[p] = at;
        assert_close(what, p, grad[p], slope, 3e-7 * (1.0 + fabs(slope)));
    }
    hfi_kernel_set_theta(kernel, theta);
    free(theta);
}

/* Gram, cross, block and diagonal adjoints at factors that are zero, negative and large. */
static void check_adjoints(hf_context *ctx, const char *expression, const double *factors, size_t count)
{
    const size_t n = 70, first[4] = {0, 20, 45, n};
    hf_kernel *kernel = parse(ctx, expression, INPUTS);
    const size_t parameters = hf_kernel_parameters(kernel);
    size_t at = 0;
    assert_true(hfi_kernel_coregion(kernel, 0, &at, NULL, NULL, NULL));
    for (size_t k = 0; k < count; k++)
        assert_int_equal(hfi_kernel_set_parameter(kernel, at + k, factors[k], -30.0, 30.0, false), HF_OK);
    double *x = rows_of_outputs(n, 3, 31), *w = make_points(n, n, 32), *grad = make_zeros(parameters);
    double *s = make_points(n, 1, 33), *b_bar = make_points(n, 3, 34);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) w[i * n + j] = w[j * n + i];
    const sums all = {x, w, n};
    assert_int_equal(hfi_kernel_gram_adjoint(ctx, kernel, n, x, INPUTS, w, n, grad), HF_OK);
    check_slope(kernel, "gram", &all, grad, weighted);
    memset(grad, 0, parameters * sizeof *grad);
    double *backward = make_zeros(n * INPUTS);
    assert_int_equal(hfi_kernel_cross_adjoint(ctx, kernel, n, x, INPUTS, n, x, INPUTS, w, n, grad, backward),
                     HF_OK);
    check_slope(kernel, "cross", &all, grad, weighted);
    for (size_t i = 0; i < n; i++) assert_true(backward[i * INPUTS] == 0.0);
    memset(grad, 0, parameters * sizeof *grad);
    hfi_kernel_diagonal_adjoint(kernel, n, x, INPUTS, w, NULL, grad);
    check_slope(kernel, "diagonal", &all, grad, weighted_diagonal);
    memset(grad, 0, parameters * sizeof *grad);
    assert_int_equal(
        hfi_kernel_block_adjoint(ctx, kernel, n, x, INPUTS, 3, first, s, HFI_DOUBLE, b_bar, n, NULL, grad),
        HF_OK);
    for (size_t a = 0; a < 3; a++)
        for (size_t j = first[a]; j < first[a + 1]; j++)
            for (size_t l = 0; l < n; l++) w[l * n + j] = b_bar[l + a * n] * s[j];
    check_slope(kernel, "block", &all, grad, weighted);
    free(backward);
    free(b_bar);
    free(s);
    free(grad);
    free(w);
    free(x);
    hf_kernel_free(kernel);
}

static void gradients_at_zero_and_below(void **state)
{
    static const double zero[6] = {0.0}, mixed[6] = {-1.2, 0.0, 0.8, -0.5, 2.0, 0.0};
    static const double large[6] = {6.0, -5.0, -1e-3, 4.0, 0.0, -3.0};
    const double *const sets[] = {zero, mixed, large};
    for (size_t k = 0; k < 3; k++) {
        check_adjoints(*state, "coregion(x1, outputs=3)*se(ard)", sets[k], 6);
        check_adjoints(*state, "matern52*coregion(x1, outputs=3, rank=2) + linear", sets[k], 5);
        check_adjoints(*state, "coregion(x1, outputs=3, rank=1)", sets[k], 3);
    }
}

/* More outputs than a tile has points, and many that occur once. */
static void many_outputs(void **state)
{
    hf_context *ctx = *state;
    const size_t n = 150, outputs = 40;
    hf_kernel *kernel = parse(ctx, "coregion(x1, outputs=40, rank=3)*matern32", INPUTS);
    const size_t parameters = hf_kernel_parameters(kernel);
    assert_int_equal(parameters, 6 + 37 * 3 + 40 + 1);
    double *x = rows_of_outputs(n, outputs, 2), *w = make_points(n, n, 3), *grad = make_zeros(parameters);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) w[i * n + j] = w[j * n + i];
    shake(kernel, 4);
    double *k = gram(ctx, kernel, n, x), *slow = make_zeros(n * n);
    gram_reference(kernel, n, x, INPUTS, slow, n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) assert_close("K", i, k[j * n + i], slow[j * n + i], 1e-14);
    assert_int_equal(hfi_kernel_gram_adjoint(ctx, kernel, n, x, INPUTS, w, n, grad), HF_OK);
    const sums all = {x, w, n};
    check_slope(kernel, "gram", &all, grad, weighted);
    free(slow);
    free(k);
    free(grad);
    free(w);
    free(x);
    hf_kernel_free(kernel);
}

/* ---- the parameters -------------------------------------------------------------------------------------- */

static void starts_are_moderate(void **state)
{
    for (size_t outputs = 1; outputs <= MOST; outputs++)
        for (size_t rank = 1; rank <= outputs; rank++) {
            char text[64];
            double b[MOST * MOST];
            (void)snprintf(text, sizeof text, "coregion(x1, outputs=%zu, rank=%zu)", outputs, rank);
            hf_kernel *kernel = parse(*state, text, 1);
            assert_int_equal(hf_kernel_coregion_outputs(kernel, 0), outputs);
            assert_int_equal(hf_kernel_get_coregion(*state, kernel, 0, b), HF_OK);
            for (size_t s = 0; s < outputs; s++)
                for (size_t t = 0; t < outputs; t++) {
                    const double value = b[s * outputs + t];
                    assert_true(value == b[t * outputs + s]);
                    if (s == t || rank == outputs)
                        assert_close(text, s, value, s == t ? 1.0 : 0.5, 1e-14);
                    else
                        assert_true(value > 0.25 && value < 0.6);
                }
            hf_kernel_free(kernel);
        }
}

/* With the columns of W alike, training could never tell them apart: the gradients of no two agree. */
static void columns_start_apart(void **state)
{
    hf_kernel *kernel = parse(*state, "coregion(x1, outputs=6, rank=3)", 1);
    double w[6][3] = {{0.0}};
    size_t p = 0;
    for (size_t s = 0; s < 6; s++)
        for (size_t q = 0; q < 3 && q <= s; q++) w[s][q] = parameter(kernel, p++);
    for (size_t q = 0; q < 3; q++)
        for (size_t r = 0; r < q; r++) {
            size_t same = 0, opposite = 0;
            for (size_t s = 3; s < 6; s++) same += w[s][q] == w[s][r], opposite += w[s][q] == -w[s][r];
            assert_true(same < 3 && opposite < 3);
        }
    hf_kernel_free(kernel);
}

static void factors_are_real_on_the_training_scale(void **state)
{
    hf_context *ctx = *state;
    hf_kernel *kernel = parse(ctx, "coregion(x1, outputs=2, rank=1)", 1);
    double theta[4], lower[4], upper[4], b[4];
    hf_parameter p;
    assert_int_equal(hf_kernel_parameters(kernel), 4);
    assert_int_equal(hf_kernel_set(ctx, kernel, "factor[1,0]", -2.0), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, kernel, "factor[0,0]", 0.0), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, kernel, "own", 0.25), HF_OK);
    assert_int_equal(hf_kernel_get_coregion(ctx, kernel, 0, b), HF_OK);
    assert_true(b[0] == 0.25 && b[1] == 0.0 && b[2] == 0.0 && b[3] == 4.25);
    hfi_kernel_theta(kernel, theta);
    hfi_kernel_theta_bounds(kernel, lower, upper);
    assert_true(theta[0] == 0.0 && theta[1] == -2.0 && theta[2] == log(0.25));
    assert_true(lower[1] == -30.0 && upper[1] == 30.0 && lower[2] < -5.9 && upper[2] > 5.9);
    theta[1] = 1e300; /* an optimiser gone astray leaves finite values */
    theta[0] = -1e300;
    hfi_kernel_set_theta(kernel, theta);
    assert_int_equal(hf_kernel_get_coregion(ctx, kernel, 0, b), HF_OK);
    assert_true(isfinite(b[0]) && isfinite(b[1]) && isfinite(b[3]));
    assert_int_equal(hf_kernel_parameter(kernel, 1, &p), HF_OK);
    assert_true(p.unit == HF_UNIT_OUTPUT && p.column == SIZE_MAX && hfi_kernel_parameter_real(kernel, 1));
    assert_int_equal(hf_kernel_parameter(kernel, 2, &p), HF_OK);
    assert_true(p.unit == HF_UNIT_OUTPUT2 && p.column == SIZE_MAX && !hfi_kernel_parameter_real(kernel, 2));
    assert_int_equal(hf_kernel_set(ctx, kernel, "own[1]", -1.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_set(ctx, kernel, "own[1]", 0.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_set(ctx, kernel, "factor", NAN), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_set(ctx, kernel, "factor", 1e101), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_kernel_set_parameter(kernel, 0, -1.0, -2.0, 0.0, true), HF_OK);
    assert_int_equal(hfi_kernel_set_parameter(kernel, 0, 1.0, -2.0, 0.0, true), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_kernel_set_parameter(kernel, 2, 1.0, 0.0, 2.0, true), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_set(ctx, kernel, "coregion.factor", 1.0), HF_OK);
    assert_int_equal(hf_kernel_get_coregion(ctx, kernel, 0, b), HF_OK);
    assert_true(b[0] == 1.25 && b[1] == 1.0 && b[3] == 1.25);
    hf_kernel_free(kernel);
}

static void numbers_of_outputs_are_no_inputs(void **state)
{
    hf_context *ctx = *state;
    const char *const names[4] = {"a", "sensor", "b", "place"};
    hf_kernel *kernel = NULL;
    hf_parameter p;
    size_t column = 99, first = 99, factors = 99, own = 99;
    assert_int_equal(hf_kernel_parse(ctx,
                                     "se(ard) + coregion(sensor, outputs=2)*linear(ard) + "
                                     "coregion(place, outputs=3, rank=1) + rq(sensor)",
                                     names, 4, &kernel),
                     HF_OK);
    /* se: outputscale and two lengthscales; 3 factors; two variances; 3 factors and 3 own; rq: 3 */
    assert_int_equal(hf_kernel_parameters(kernel), 17);
    assert_int_equal(hf_kernel_parameter(kernel, 2, &p), HF_OK);
    assert_string_equal(p.name, "se.lengthscale[1]");
    assert_int_equal(p.column, 2);
    assert_int_equal(hf_kernel_parameter(kernel, 7, &p), HF_OK);
    assert_string_equal(p.name, "linear.variance[1]");
    assert_int_equal(p.column, 2);
    assert_true(hfi_kernel_coregion(kernel, 1, &first, &factors, &own, &column));
    assert_true(first == 8 && factors == 3 && own == 3 && column == 3);
    assert_int_equal(hf_kernel_parameter(kernel, first, &p), HF_OK);
    assert_string_equal(p.name, "coregion2.factor[0,0]");
    assert_true(hfi_kernel_coregion(kernel, 0, NULL, NULL, &own, &column));
    assert_true(own == 0 && column == 1);
    assert_false(hfi_kernel_coregion(kernel, 2, &first, &factors, &own, &column));
    assert_true(first == 8 && column == 1);
    hf_kernel_free(kernel);
    kernel = NULL;
    assert_int_equal(hf_kernel_parse(ctx, "coregion(x1, outputs=2)*se", NULL, 1, &kernel), HF_ERR_PARSE);
    assert_non_null(strstr(hf_context_message(ctx), "no input is left for se"));
    assert_null(kernel);
}

static void absurd_sizes_are_refused(void **state)
{
    char text[256] = "coregion(x1, outputs=1000, rank=1)";
    hf_kernel *kernel = NULL;
    for (size_t i = 0; i < 3; i++) strcat(text, " + coregion(x1, outputs=1000, rank=1)");
    assert_int_equal(hf_kernel_parse(*state, text, NULL, 1, &kernel), HF_OK);
    assert_int_equal(hf_kernel_coregions(kernel), 4);
    hf_kernel_free(kernel);
    kernel = NULL;
    strcat(text, " + coregion(x1, outputs=2)");
    assert_int_equal(hf_kernel_parse(*state, text, NULL, 1, &kernel), HF_ERR_PARSE);
    assert_non_null(strstr(hf_context_message(*state), "more than 4000000 pairs"));
    assert_null(kernel);
}

/* ---- B in and out ---------------------------------------------------------------------------------------- */

static void comes_back(void **state)
{
    hf_context *ctx = *state;
    for (size_t outputs = 1; outputs <= MOST; outputs++) {
        char text[64];
        (void)snprintf(text, sizeof text, "se + 3*coregion(x2, outputs=%zu)*se(x1)", outputs);
        hf_kernel *kernel = parse(ctx, text, 2);
        for (size_t rank = 0; rank <= outputs; rank++) {
            double b[MOST * MOST], back[MOST * MOST], copied[MOST * MOST];
            hf_kernel *copy = NULL;
            random_square(10 * outputs + rank, outputs, rank, b);
            if (hf_kernel_set_coregion(ctx, kernel, 0, b) != HF_OK)
                fail_msg("%zu outputs, rank %zu: %s", outputs, rank, hf_context_message(ctx));
            assert_int_equal(hf_kernel_get_coregion(ctx, kernel, 0, back), HF_OK);
            for (size_t k = 0; k < outputs * outputs; k++) assert_close(text, k, back[k], b[k], 2e-14);
            assert_int_equal(hf_kernel_copy(ctx, kernel, &copy), HF_OK);
            assert_int_equal(hf_kernel_set(ctx, kernel, "factor", 0.5), HF_OK);
            assert_int_equal(hf_kernel_get_coregion(ctx, copy, 0, copied), HF_OK);
            assert_memory_equal(copied, back, outputs * outputs * sizeof *back);
            hf_kernel_free(copy);
        }
        hf_kernel_free(kernel);
    }
}

/* A zero variance first, in the middle, twice; a repeated output; correlation -1; nearly 1. */
static void deficient_by_hand(void **state)
{
    static const double cases[][9] = {{0.0, 0.0, 0.0, 0.0, 2.0, 1.0, 0.0, 1.0, 1.0},
                                      {1.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.3},
                                      {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0},
                                      {1.0, 1.0, 0.5, 1.0, 1.0, 0.5, 0.5, 0.5, 1.0},
                                      {4.0, -4.0, 2.0, -4.0, 4.0, -2.0, 2.0, -2.0, 1.0},
                                      {1.0, 1.0 - 1e-9, 0.0, 1.0 - 1e-9, 1.0, 0.0, 0.0, 0.0, 1.0},
                                      {1e-30, 0.0, 0.0, 0.0, 1e30, 1.0, 0.0, 1.0, 1e-30}};
    hf_kernel *kernel = parse(*state, "coregion(x1, outputs=3)", 1);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double back[9];
        if (hf_kernel_set_coregion(*state, kernel, 0, cases[c]) != HF_OK)
            fail_msg("case %zu: %s", c, hf_context_message(*state));
        assert_int_equal(hf_kernel_get_coregion(*state, kernel, 0, back), HF_OK);
        for (size_t k = 0; k < 9; k++)
            assert_close("B", 10 * c + k, back[k], cases[c][k], 1e-14 * fabs(cases[c][k]));
    }
    hf_kernel_free(kernel);
}

static void what_is_no_covariance_is_refused(void **state)
{
    static const struct {
        double b[4];
        const char *said;
    } cases[] = {{{1.0, 2.0, 2.0, 1.0}, "output 1 has the variance -3"},
                 {{0.0, 1.0, 1.0, 1.0}, "covariance with output 1"},
                 {{-1.0, 0.0, 0.0, 1.0}, "the variance B[0,0] is -1"},
                 {{1.0, 0.5, 0.4, 1.0}, "not symmetric: B[1,0]"},
                 {{1.0, NAN, NAN, 1.0}, "B[0,1] = "},
                 {{1e201, 0.0, 0.0, 1.0}, "B[0,0] = 1e+201"},
                 {{1.0, 1.0 + 1e-9, 1.0 + 1e-9, 1.0}, "output 1 has the variance"}};
    hf_context *ctx = *state;
    hf_kernel *kernel = parse(ctx, "coregion(x1, outputs=2) + coregion(x1, outputs=2, rank=1)", 1);
    double before[4], after[4];
    assert_int_equal(hf_kernel_get_coregion(ctx, kernel, 0, before), HF_OK);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        assert_int_equal(hf_kernel_set_coregion(ctx, kernel, 0, cases[c].b), HF_ERR_ARGUMENT);
        if (!strstr(hf_context_message(ctx), cases[c].said))
            fail_msg("no '%s' in: %s", cases[c].said, hf_context_message(ctx));
    }
    static const double one[4] = {1.0, 0.0, 0.0, 1.0};
    assert_int_equal(hf_kernel_set_coregion(ctx, kernel, 1, one), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "rank 1 of 2"));
    assert_int_equal(hf_kernel_set(ctx, kernel, "coregion1.own", 1.0), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "no parameter 'coregion1.own'"));
    assert_int_equal(hf_kernel_set_coregion(ctx, kernel, 2, one), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "the kernel has 2"));
    assert_int_equal(hf_kernel_set_coregion(ctx, NULL, 0, one), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_set_coregion(ctx, kernel, 0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_get_coregion(ctx, kernel, 2, after), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_get_coregion(ctx, kernel, 0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_coregion_outputs(kernel, 2), 0);
    assert_int_equal(hf_kernel_coregions(NULL), 0);
    assert_int_equal(hf_kernel_get_coregion(ctx, kernel, 0, after), HF_OK);
    assert_memory_equal(before, after, sizeof before);
    hf_kernel_free(kernel);
}

/* All variances of u'Bu are sums of squares: B of any parameters has a Cholesky factor once its rounding is added. */
static void any_parameters_make_a_covariance(void **state)
{
    hf_context *ctx = *state;
    for (size_t rank = 1; rank <= MOST; rank++) {
        char text[64];
        double b[MOST * MOST];
        (void)snprintf(text, sizeof text, "coregion(x1, outputs=6, rank=%zu)", rank);
        hf_kernel *kernel = parse(ctx, text, 1), *full = parse(ctx, "coregion(x1, outputs=6)", 1);
        for (uint64_t trial = 0; trial < 20; trial++) {
            hfi_stream stream = random_stream(100 * rank + trial);
            for (size_t p = 0; p < hf_kernel_parameters(kernel); p++) {
                const double value = hfi_kernel_parameter_real(kernel, p) ? 3.0 * hfi_stream_normal(&stream)
                                                                          : hfi_stream_uniform(&stream) + 0.1;
                assert_int_equal(hfi_kernel_set_parameter(kernel, p, value, value, value, false), HF_OK);
            }
            assert_int_equal(hf_kernel_get_coregion(ctx, kernel, 0, b), HF_OK);
            if (hf_kernel_set_coregion(ctx, full, 0, b) != HF_OK)
                fail_msg("rank %zu: %s", rank, hf_context_message(ctx));
        }
        hf_kernel_free(full);
        hf_kernel_free(kernel);
    }
}

/* Row 2 alone, of output 1, is too large for a number: it is refused, wherever it stands. */
static void an_output_that_overflows_is_refused(void **state)
{
    hf_context *ctx = *state;
    hf_kernel *kernel = parse(ctx, "coregion(x1, outputs=2) * coregion(x1, outputs=2)", 1);
    const double x[] = {0.0, 1.0};
    double k[4] = {7.0, 7.0, 7.0, 7.0};
    assert_int_equal(hf_kernel_set(ctx, kernel, "coregion1.factor[1,1]", 1e80), HF_OK);
    assert_int_equal(hf_kernel_set(ctx, kernel, "coregion2.factor[1,1]", 1e80), HF_OK);
    assert_int_equal(hf_kernel_gram(ctx, kernel, 1, x, 1, k, 2), HF_OK);
    assert_true(isfinite(k[0]));
    k[0] = 7.0;
    assert_int_equal(hf_kernel_gram(ctx, kernel, 2, x, 1, k, 2), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "row 2"));
    assert_int_equal(hf_kernel_cross(ctx, kernel, 1, x, 1, 2, x, 1, k, 2), HF_ERR_NOT_FINITE);
    for (size_t i = 0; i < 4; i++) assert_true(k[i] == 7.0);
    hf_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_table_times_a_kernel),
        cmocka_unit_test(each_way_of_writing_gives_the_same),
        cmocka_unit_test(one_output_of_variance_one_changes_nothing),
        cmocka_unit_test(outputs_that_share_nothing_are_independent),
        cmocka_unit_test(the_order_of_outputs_is_a_matter_of_names),
        cmocka_unit_test(numbers_are_rounded_and_held_in_range),
        cmocka_unit_test(gradients_at_zero_and_below),
        cmocka_unit_test(many_outputs),
        cmocka_unit_test(starts_are_moderate),
        cmocka_unit_test(columns_start_apart),
        cmocka_unit_test(factors_are_real_on_the_training_scale),
        cmocka_unit_test(numbers_of_outputs_are_no_inputs),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(an_output_that_overflows_is_refused),
        cmocka_unit_test(comes_back),
        cmocka_unit_test(deficient_by_hand),
        cmocka_unit_test(what_is_no_covariance_is_refused),
        cmocka_unit_test(any_parameters_make_a_covariance),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
