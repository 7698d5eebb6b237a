/* SPDX-License-Identifier: Apache-2.0 */
/* Covariances: the tiles against the scalar reference, the reference against formulas, and properties every
 * kernel has. */
#include "kernel/gram_reference.h"
#include "kernel_testing.h"

#include "kernel/loops.h"

#define TOLERANCE 1e-13

static double value_at(hf_context *ctx, const char *expression, size_t d, const double *x, const double *z)
{
    hf_kernel *kernel = parse(ctx, expression, d);
    const double k = hfi_kernel_value(kernel, x, z, false);
    hf_kernel_free(kernel);
    return k;
}

/* ---- formulas ------------------------------------------------------------------------------------------- */

static void formulas(void **state)
{
    hf_context *ctx = *state;
    const double x[2] = {0.3, -1.1}, z[2] = {-0.4, 0.9};
    const double t0 = 0.7, t1 = -2.0, l0 = 0.5, l1 = 3.0;
    const double r2 = (t0 / l0) * (t0 / l0) + (t1 / l1) * (t1 / l1), r = sqrt(r2), pi = acos(-1.0);
    const char *ard = "(ard, lengthscale[0]=0.5, lengthscale[1]=3";
    struct {
        const char *before, *after;
        double expected;
    } radial[] = {
        {"2*se", ")", 2.0 * exp(-r2 / 2.0)},
        {"2*matern12", ")", 2.0 * exp(-r)},
        {"2*matern32", ")", 2.0 * (1.0 + sqrt(3.0) * r) * exp(-sqrt(3.0) * r)},
        {"2*matern52", ")", 2.0 * (1.0 + sqrt(5.0) * r + 5.0 * r2 / 3.0) * exp(-sqrt(5.0) * r)},
        {"2*rq", ", alpha=0.8)", 2.0 * pow(1.0 + r2 / 1.6, -0.8)},
    };
    for (size_t i = 0; i < sizeof radial / sizeof radial[0]; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "%s%s%s", radial[i].before, ard, radial[i].after);
        assert_close(text, 0, value_at(ctx, text, 2, x, z), radial[i].expected, 1e-15);
    }
    const double s0 = sin(pi * t0 / 1.7) / 0.6, s1 = sin(pi * t1 / 2.9) / 0.8;
    assert_close(
        "periodic", 0,
        value_at(ctx, "periodic(ard, lengthscale[0]=0.6, lengthscale[1]=0.8, period[0]=1.7, period[1]=2.9)",
                 2, x, z),
        exp(-2.0 * (s0 * s0 + s1 * s1)), 1e-15);
    assert_close("linear", 0, value_at(ctx, "linear(ard, variance[0]=2, variance[1]=3)", 2, x, z),
                 2.0 * x[0] * z[0] + 3.0 * x[1] * z[1], 1e-15);
    assert_close("constant", 0, value_at(ctx, "constant(variance=2.5)", 2, x, z), 2.5, 0.0);
    assert_close("white", 0, value_at(ctx, "white", 2, x, x), 0.0, 0.0);
    const double e = exp(-2.0 * pi * pi * (t0 * t0 * 0.02 + t1 * t1 * 0.03));
    assert_close("sm", 0,
                 value_at(ctx,
                          "sm(components=1, weight=1.5, mean[0,0]=0.4, mean[0,1]=0.7, variance[0,0]=0.02, "
                          "variance[0,1]=0.03)",
                          2, x, z),
                 1.5 * e * cos(2.0 * pi * t0 * 0.4) * cos(2.0 * pi * t1 * 0.7), 1e-15);
}

static void identities(void **state)
{
    hf_context *ctx = *state;
    const double x[2] = {0.3, -1.1}, z[2] = {-0.4, 0.9}, shifted[2] = {0.3 + 2.0 * 1.25, -1.1 - 3.0 * 1.25};
    const double se = value_at(ctx, "se", 2, x, z), m12 = value_at(ctx, "matern12", 2, x, z);
    assert_close("rq tends to se", 0, value_at(ctx, "rq(alpha=1e13)", 2, x, z), se, 1e-12);
    assert_close("sum", 0, value_at(ctx, "se + 2*matern12", 2, x, z), se + 2.0 * m12, 1e-15);
    assert_close("product", 0, value_at(ctx, "se*matern12*2", 2, x, z), se * m12 * 2.0, 1e-15);
    assert_close("distribution", 0, value_at(ctx, "(se + 0.5)*matern12", 2, x, z), (se + 0.5) * m12, 1e-15);
    assert_close("ard of equal lengthscales", 0, value_at(ctx, "se(ard)", 2, x, z), se, 1e-15);
    assert_close("columns multiply", 0, value_at(ctx, "se(x1)*se(x2)", 2, x, z), se, 1e-15);
    assert_close("sm at frequency nearly 0 is se", 0,
                 value_at(ctx, "sm(components=1, mean=1e-12, variance=0.025330295910584444)", 2, x, z), se,
                 1e-14);
    assert_close("periodicity", 0, value_at(ctx, "periodic(period=1.25)", 2, x, shifted), 1.0, 1e-14);
    assert_close("periodicity", 1, value_at(ctx, "periodic(period=1.25)", 2, shifted, z),
                 value_at(ctx, "periodic(period=1.25)", 2, x, z), 1e-14);
    /* A long period and a lengthscale in proportion: 2 sin^2(pi t / p) / l^2 tends to t^2 / (2 s^2) with s =
     * l p / (2 pi). */
    assert_close("periodic tends to se", 0,
                 value_at(ctx, "periodic(period=1e6, lengthscale=6.283185307179586e-6)", 2, x, z), se, 1e-10);
}

/* Our own exp, which all kernels stand on: at most 1.5 units in the last place off, exactly 1 at 0, cut off at 700. */
static void exponentials(void **state)
{
    (void)state;
    enum {
        COUNT = 8000
    };
    double a[COUNT], e[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        const double part = (double)i / COUNT;
        a[i] = i % 2 ? 700.0 * part : exp(-40.0 * part);
    }
    memcpy(e, a, sizeof a);
    hfi_loop_decay(COUNT, 1.0, e);
    for (size_t i = 0; i < COUNT; i++) {
        const double exact = exp(-a[i]), unit = nextafter(exact, 2.0) - exact;
        if (!(fabs(e[i] - exact) <= 1.5 * unit))
            fail_msg("exp(-%.17g) = %.17g, not %.17g: %g units", a[i], e[i], exact, (e[i] - exact) / unit);
    }
    double ends[8] = {0.0, 700.0, nextafter(700.0, 701.0), 800.0, 1e300, INFINITY, NAN, 5e-324};
    hfi_loop_decay(8, 1.0, ends);
    assert_true(ends[0] == 1.0 && ends[7] == 1.0);
    assert_close("exp(-700)", 0, ends[1], exp(-700.0), 1e-15 * exp(-700.0));
    for (size_t i = 2; i < 6; i++) assert_true(ends[i] == 0.0);
    assert_true(isnan(ends[6]));
}

/* ---- tiles against the reference ------------------------------------------------------------------------ */

/* Relative to the diagonal, and to the entry too where the entry is no small difference of larger numbers. */
static void compare(const char *expression, size_t n, const double *k, const double *reference)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(reference[i + i * n]));
    const bool cancels = strstr(expression, "linear") || strstr(expression, "sm") ||
                         strstr(expression, "wave") || strstr(expression, "swell");
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            const double wanted = reference[i + j * n];
            const double scale = cancels ? largest : fabs(wanted);
            if (!(fabs(k[i + j * n] - wanted) <= TOLERANCE * scale))
                fail_msg("%s (%zu, %zu): %.17g, expected %.17g", expression, i, j, k[i + j * n], wanted);
        }
    }
}

static void check_gram(hf_context *ctx, const char *expression, size_t n, size_t d, uint64_t seed)
{
    hf_kernel *kernel = parse(ctx, expression, d);
    double *x = make_points(n, d, seed), *k = make_zeros(n * n), *reference = make_zeros(n * n);
    shake(kernel, seed);
    for (size_t i = 0; i < n * n; i++) k[i] = -77.0;
    assert_int_equal(hfi_kernel_gram_lower(ctx, kernel, n, x, d, k, n), HF_OK);
    gram_reference(kernel, n, x, d, reference, n);
    compare(expression, n, k, reference);
    for (size_t j = 1; j < n; j++)
        for (size_t i = 0; i < j; i++)
            assert_true(k[i + j * n] == -77.0); /* the upper triangle is not ours */
    double *full = make_zeros(n * n);
    assert_int_equal(hf_kernel_gram(ctx, kernel, n, x, d, full, n), HF_OK);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            assert_true(full[i + j * n] == k[i + j * n]);
            assert_true(full[j + i * n] == k[i + j * n]);
        }
    }
    free(full);
    free(reference);
    free(k);
    free(x);
    hf_kernel_free(kernel);
}

static void gram_matches_reference(void **state)
{
    static const size_t sizes[] = {1, 2, 7, 8, 9, 17, 63, 64, 65, 100};
    for (size_t e = 0; e < EXPRESSION_COUNT; e++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            check_gram(*state, EXPRESSIONS[e], sizes[s], INPUTS, 10 * e + s);
}

static void other_dimensions(void **state)
{
    static const char *const kernels[] = {"se(ard)",     "matern52",         "periodic",
                                          "linear(ard)", "sm(components=1)", "rq(ard) + 3*white"};
    static const size_t dimensions[] = {1, 2, 4, 5, 9, 100};
    for (size_t e = 0; e < sizeof kernels / sizeof kernels[0]; e++)
        for (size_t s = 0; s < sizeof dimensions / sizeof dimensions[0]; s++)
            check_gram(*state, kernels[e], 70 - dimensions[s] / 2, dimensions[s], 7 * e + s);
}

/* More points than a panel holds: d = 600 leaves room for one tile, so three panels. */
static void several_panels(void **state)
{
    check_gram(*state, "matern32(ard)", 150, 600, 3);
    check_gram(*state, "se(x1) + linear(x600)", 150, 600, 4);
}

/* The same pair has the same covariance, to the bit, wherever it stands: Gram, cross, one query at a time. */
static void cross_equals_gram(void **state)
{
    hf_context *ctx = *state;
    const size_t n = 90;
    double *x = make_points(n, INPUTS, 5), *k = make_zeros(n * n), *cross = make_zeros(n * n),
           *column = make_zeros(n);
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        hf_kernel *kernel = parse(ctx, EXPRESSIONS[e], INPUTS);
        double *scratch = make_zeros(hfi_kernel_scratch(kernel)), *diagonal = make_zeros(n);
        const bool white = strstr(EXPRESSIONS[e], "white") != NULL;
        /* Squares of cosines and exponentials that the diagonal has from another library. */
        const bool squares = strstr(EXPRESSIONS[e], "swell") || strstr(EXPRESSIONS[e], "tilt");
        const double unit = squares ? 2e-15 : 2e-16;
        shake(kernel, e);
        assert_int_equal(hf_kernel_gram(ctx, kernel, n, x, INPUTS, k, n), HF_OK);
        assert_int_equal(hf_kernel_cross(ctx, kernel, n, x, INPUTS, n, x, INPUTS, cross, n), HF_OK);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++)
                if (i != j || !white) assert_true(cross[i * n + j] == k[i * n + j]);
            hfi_kernel_cross_block(kernel, 1, x + i * INPUTS, INPUTS, n, x, INPUTS, column, n, scratch);
            assert_memory_equal(column, cross + i * n, n * sizeof *column);
        }
        hfi_kernel_diagonal(kernel, n, x, INPUTS, true, diagonal);
        for (size_t i = 0; i < n; i++)
            assert_close(EXPRESSIONS[e], i, k[i * n + i], diagonal[i], unit * fabs(diagonal[i]));
        hfi_kernel_diagonal(kernel, n, x, INPUTS, false, diagonal);
        for (size_t i = 0; i < n; i++)
            assert_close(EXPRESSIONS[e], i, cross[i * n + i], diagonal[i], unit * fabs(diagonal[i]));
        free(diagonal);
        free(scratch);
        hf_kernel_free(kernel);
    }
    free(column);
    free(cross);
    free(k);
    free(x);
}

static void strides_are_respected(void **state)
{
    hf_kernel *kernel = parse(*state, "matern52(ard)", 2);
    const double x[] = {0.0, 1.0, NAN, 2.0, 3.0, NAN, 1.0, -1.0, NAN};
    double k[15];
    for (size_t i = 0; i < 15; i++) k[i] = -5.0;
    assert_int_equal(hf_kernel_gram(*state, kernel, 3, x, 3, k, 5), HF_OK);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++)
            assert_close("stride", i, k[i * 5 + j], hfi_kernel_value(kernel, x + 3 * i, x + 3 * j, i == j),
                         1e-15);
        assert_true(k[i * 5 + 3] == -5.0 && k[i * 5 + 4] == -5.0);
    }
    hf_kernel_free(kernel);
}

/* ---- properties ----------------------------------------------------------------------------------------- */

/* Plain Cholesky with a little jitter; false when a pivot is not positive. */
static bool is_positive_definite(size_t n, double *a)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            double sum = a[i + j * n];
            for (size_t k = 0; k < j; k++) sum -= a[i + k * n] * a[j + k * n];
            if (i == j && !(sum > 0.0)) return false;
            a[i + j * n] = i == j ? sqrt(sum) : sum / a[j + j * n];
        }
    }
    return true;
}

static void matrices_are_positive_definite(void **state)
{
    const size_t n = 60;
    double *k = make_zeros(n * n), *x = make_points(n, INPUTS, 9);
    memcpy(x + INPUTS, x, INPUTS * sizeof *x);
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        shake(kernel, e);
        assert_int_equal(hfi_kernel_gram_lower(*state, kernel, n, x, INPUTS, k, n), HF_OK);
        for (size_t i = 0; i < n; i++) k[i + i * n] += 1e-9 * (1.0 + hfi_kernel_typical_variance(kernel));
        if (!is_positive_definite(n, k)) fail_msg("%s is not positive definite", EXPRESSIONS[e]);
        hf_kernel_free(kernel);
    }
    free(x);
    free(k);
}

static void duplicates_are_at_distance_zero(void **state)
{
    static const char *const stationary[] = {"se(ard)",       "matern12", "matern32",
                                             "matern52(ard)", "rq",       "periodic"};
    const double x[4] = {0.1, 1e17, 0.1, 1e17};
    double k[4];
    for (size_t e = 0; e < sizeof stationary / sizeof stationary[0]; e++) {
        hf_kernel *kernel = parse(*state, stationary[e], 2);
        assert_int_equal(hf_kernel_gram(*state, kernel, 2, x, 2, k, 2), HF_OK);
        for (size_t i = 0; i < 4; i++) assert_true(k[i] == 1.0);
        hf_kernel_free(kernel);
    }
}

static void near_points_do_not_cancel(void **state)
{
    hf_kernel *kernel = parse(*state, "matern12(lengthscale=1e-6)", 1);
    const double x[2] = {1.0, 1.0 + 1e-9};
    double k[4];
    assert_int_equal(hf_kernel_gram(*state, kernel, 2, x, 1, k, 2), HF_OK);
    assert_close("near", 0, k[1], exp(-(x[1] - x[0]) / 1e-6), 1e-15);
    hf_kernel_free(kernel);
}

static void huge_inputs_give_zero(void **state)
{
    static const double huge[] = {1e100, 1e160, 1e300, 1.7e308};
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        if (strstr(EXPRESSIONS[e], "linear")) continue; /* grows with the inputs */
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        for (size_t h = 0; h < sizeof huge / sizeof huge[0]; h++) {
            const double a = huge[h], x[3 * INPUTS] = {a, a, a, -a, -a, -a, 0.0, a, 1.0};
            double k[9];
            assert_int_equal(hf_kernel_gram(*state, kernel, 3, x, INPUTS, k, 3), HF_OK);
            for (size_t i = 0; i < 9; i++) {
                if (!isfinite(k[i])) fail_msg("%s at %g: entry %zu is %g", EXPRESSIONS[e], a, i, k[i]);
                const double reference =
                    hfi_kernel_value(kernel, x + i / 3 * INPUTS, x + i % 3 * INPUTS, i % 4 == 0);
                assert_close(EXPRESSIONS[e], i, k[i], reference, 1e-12 * (1.0 + fabs(reference)));
            }
            const bool local = e < 10; /* se and matern: nothing is left at this distance */
            if (local) assert_true(k[1] == 0.0);
        }
        hf_kernel_free(kernel);
    }
}

static void extreme_parameters_stay_finite(void **state)
{
    static const double values[] = {2.3e-308, 1e-200, 1e200, 1.7e308};
    double *x = make_points(6, INPUTS, 2), k[36], grad[64];
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        for (size_t p = 0; p < hf_kernel_parameters(kernel); p++) {
            hf_parameter parameter;
            assert_int_equal(hf_kernel_parameter(kernel, p, &parameter), HF_OK);
            if (parameter.unit == HF_UNIT_OUTPUT2 || parameter.unit == HF_UNIT_OUTPUT2_INPUT2 ||
                parameter.unit == HF_UNIT_OUTPUT || hfi_kernel_parameter_real(kernel, p))
                continue;
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                assert_int_equal(hfi_kernel_set_parameter(kernel, p, values[v], 2.3e-308, 1.7e308, false),
                                 HF_OK);
                assert_int_equal(hf_kernel_gram(*state, kernel, 6, x, INPUTS, k, 6), HF_OK);
                for (size_t i = 0; i < 36; i++)
                    if (!isfinite(k[i]))
                        fail_msg("%s, %s = %g: %g", EXPRESSIONS[e], parameter.name, values[v], k[i]);
                memset(grad, 0, sizeof grad);
                assert_int_equal(hfi_kernel_gram_adjoint(*state, kernel, 6, x, INPUTS, k, 6, grad), HF_OK);
                for (size_t q = 0; q < hf_kernel_parameters(kernel); q++)
                    if (isnan(grad[q]))
                        fail_msg("%s, %s = %g: gradient %zu", EXPRESSIONS[e], parameter.name, values[v], q);
            }
            assert_int_equal(hfi_kernel_set_parameter(kernel, p, parameter.value, 1e-9, 1e9, false), HF_OK);
        }
        hf_kernel_free(kernel);
    }
    free(x);
}

static void threads_do_not_change_a_bit(void **state)
{
    hf_context *ctx = *state;
    const size_t n = 333;
    double *x = make_points(n, INPUTS, 1), *one = make_zeros(n * n), *many = make_zeros(n * n);
    for (size_t e = 0; e < EXPRESSION_COUNT; e += 4) {
        hf_kernel *kernel = parse(ctx, EXPRESSIONS[e], INPUTS);
        assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
        assert_int_equal(hf_kernel_gram(ctx, kernel, n, x, INPUTS, one, n), HF_OK);
        assert_int_equal(hf_context_set_threads(ctx, 5), HF_OK);
        assert_int_equal(hf_kernel_gram(ctx, kernel, n, x, INPUTS, many, n), HF_OK);
        assert_memory_equal(one, many, n * n * sizeof *one);
        assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
        assert_int_equal(hf_kernel_cross(ctx, kernel, 100, x, INPUTS, n, x, INPUTS, one, n), HF_OK);
        assert_int_equal(hf_context_set_threads(ctx, 5), HF_OK);
        assert_int_equal(hf_kernel_cross(ctx, kernel, 100, x, INPUTS, n, x, INPUTS, many, n), HF_OK);
        assert_memory_equal(one, many, 100 * n * sizeof *one);
        hf_kernel_free(kernel);
    }
    free(many);
    free(one);
    free(x);
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
}

typedef struct variance_case {
    const char *expression;
    double expected;
} variance_case;

static void typical_variance(void **state)
{
    static const variance_case cases[] = {{"3*se", 3.0},
                                          {"se + 2*white", 3.0},
                                          {"linear", 2.0},
                                          {"linear + 5", 5.0},
                                          {"2*sm(components=3)", 2.0},
                                          {"(se + 1)*rq", 2.0},
                                          {"white(variance=4)*se", 4.0},
                                          {"linear(x1)*linear(x2)", 1.0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hf_kernel *kernel = parse(*state, cases[i].expression, 2);
        assert_close(cases[i].expression, 0, hfi_kernel_typical_variance(kernel), cases[i].expected, 1e-15);
        hf_kernel_free(kernel);
    }
}

static void wrong_arguments(void **state)
{
    hf_context *ctx = *state;
    hf_kernel *kernel = parse(ctx, "se", 2);
    double x[4] = {0.0, 1.0, 2.0, 3.0}, k[4] = {9.0, 9.0, 9.0, 9.0};
    assert_int_equal(hf_kernel_gram(ctx, kernel, 2, x, 1, k, 2), HF_ERR_DIMENSION);
    assert_int_equal(hf_kernel_gram(ctx, kernel, 2, x, 2, k, 1), HF_ERR_DIMENSION);
    assert_int_equal(hf_kernel_gram(ctx, kernel, 2, NULL, 2, k, 2), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_gram(ctx, NULL, 2, x, 2, k, 2), HF_ERR_ARGUMENT);
    assert_int_equal(hf_kernel_cross(ctx, kernel, 1, x, 2, 2, NULL, 2, k, 2), HF_ERR_ARGUMENT);
    x[3] = NAN;
    assert_int_equal(hf_kernel_gram(ctx, kernel, 2, x, 2, k, 2), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "row 2, input 2"));
    x[3] = INFINITY;
    assert_int_equal(hf_kernel_cross(ctx, kernel, 1, x, 2, 2, x, 2, k, 2), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_kernel_gram(ctx, kernel, 0, NULL, 2, NULL, 0), HF_OK);
    assert_int_equal(hf_kernel_cross(ctx, kernel, 0, NULL, 2, 1, x, 2, NULL, 1), HF_OK);
    for (size_t i = 0; i < 4; i++) assert_true(k[i] == 9.0);
    hf_kernel_free(kernel);
}

/* Values of a kernel at finite inputs are finite, or refused with the row: never inf - inf. */
static void what_overflows_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        double most; /* inputs of this size are refused, and of its fourth root not */
    } tries[] = {{"linear", 1e200},
                 {"linear(ard)", 1e155},
                 {"linear * se", 1e154},
                 {"linear * linear", 1e150},
                 {"se + 1e100*linear", 1e110},
                 {"se", INFINITY},
                 {"matern52(ard)", INFINITY},
                 {"rq", INFINITY},
                 {"sm(components=1)", INFINITY}};
    hf_context *ctx = hf_context_create();
    for (size_t t = 0; t < sizeof tries / sizeof *tries; t++) {
        hf_kernel *kernel = NULL;
        assert_int_equal(hf_kernel_parse(ctx, tries[t].expression, NULL, 2, &kernel), HF_OK);
        for (int large = 0; large < 2; large++) {
            const double most = isinf(tries[t].most) ? 1.7e308 : tries[t].most,
                         a = large ? most : pow(most, 0.25);
            const double x[] = {0.0, 0.0, a, -a, -a, a, a, a};
            double k[16] = {7.0};
            const hf_status expected = large && !isinf(tries[t].most) ? HF_ERR_NOT_FINITE : HF_OK;
            assert_int_equal(hf_kernel_gram(ctx, kernel, 4, x, 2, k, 4), expected);
            if (expected < 0) assert_true(k[0] == 7.0 && strstr(hf_context_message(ctx), "row 2") != NULL);
            for (size_t i = 0; i < 16; i++) assert_true(isfinite(k[i]));
            assert_int_equal(hf_kernel_cross(ctx, kernel, 1, x, 2, 4, x, 2, k, 4), expected);
            assert_int_equal(hf_kernel_cross(ctx, kernel, 4, x, 2, 1, x, 2, k, 4), expected);
            for (size_t i = 0; i < 16; i++) assert_true(isfinite(k[i]));
        }
        hf_kernel_free(kernel);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas),
        cmocka_unit_test(identities),
        cmocka_unit_test(exponentials),
        cmocka_unit_test(gram_matches_reference),
        cmocka_unit_test(other_dimensions),
        cmocka_unit_test(several_panels),
        cmocka_unit_test(cross_equals_gram),
        cmocka_unit_test(strides_are_respected),
        cmocka_unit_test(matrices_are_positive_definite),
        cmocka_unit_test(duplicates_are_at_distance_zero),
        cmocka_unit_test(near_points_do_not_cancel),
        cmocka_unit_test(huge_inputs_give_zero),
        cmocka_unit_test(extreme_parameters_stay_finite),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(typical_variance),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(what_overflows_is_refused),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
