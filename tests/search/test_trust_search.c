/* SPDX-License-Identifier: Apache-2.0 */
/* Maximisation with a model of the curvature: quadratics in boxes, curved valleys, places without a value, errors. */
#include "search/trust_search.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 5
};

/* What a search is told of. */
typedef struct landscape {
    size_t evaluations, looks;
    double wall; /* no value where the first entry is beyond */
    bool blind;  /* its curvature is the unit matrix, whatever it is */
    hf_status error;
    size_t error_at; /* evaluation that fails, from 1; 0: none */
    double at[N];    /* the point evaluated last */
} landscape;

static hf_status count_one(landscape *l, size_t n, const double *point)
{
    l->evaluations++;
    memcpy(l->at, point, n * sizeof *point);
    if (l->evaluations == l->error_at) return l->error;
    return point[0] > l->wall ? HF_ERR_NOT_POSITIVE_DEFINITE : HF_WARN_JITTER;
}

/* -x'Ax/2 + b'x, A = 1 1' + diag(1 .. N), b alternating */
static double entry(size_t i, size_t j)
{
    return 1.0 + (i == j ? (double)(i + 1) : 0.0);
}

static hf_status bowl(void *arg, const double *x, double *value, double *gradient)
{
    const hf_status s = count_one(arg, N, x);
    *value = 0.0;
    for (size_t i = 0; i < N; i++) {
        const double b = i % 2 == 0 ? 2.0 : -1.5;
        gradient[i] = b;
        for (size_t j = 0; j < N; j++) gradient[i] -= entry(i, j) * x[j];
        *value += 0.5 * x[i] * (gradient[i] + b);
    }
    return s;
}

static hf_status bowl_curvature(void *arg, double *matrix)
{
    landscape *l = arg;
    l->looks++;
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) matrix[i + j * N] = l->blind ? (i == j ? 1.0 : 0.0) : entry(i, j);
    return HF_OK;
}

/* Rosenbrock's valley, upside down. */
static hf_status valley(void *arg, const double *x, double *value, double *gradient)
{
    const double a = 1.0 - x[0], b = x[1] - x[0] * x[0];
    *value = -(a * a + 100.0 * b * b);
    gradient[0] = 2.0 * a + 400.0 * x[0] * b;
    gradient[1] = -200.0 * b;
    return count_one(arg, 2, x);
}

static hf_status valley_curvature(void *arg, double *matrix)
{
    landscape *l = arg;
    l->looks++;
    const double x = l->at[0], y = l->at[1];
    matrix[0] = l->blind ? 1.0 : 2.0 - 400.0 * (y - 3.0 * x * x);
    matrix[1] = matrix[2] = l->blind ? 0.0 : -400.0 * x;
    matrix[3] = l->blind ? 1.0 : 200.0;
    return HF_OK;
}

static const double low[N] = {-INFINITY, -0.2, -INFINITY, -0.1, -3.0},
                    high[N] = {0.4, 5.0, INFINITY, 0.1, 3.0};
static const double far_low[N] = {-9.0, -9.0, -9.0, -9.0, -9.0}, far_high[N] = {9.0, 9.0, 9.0, 9.0, 9.0};

static hfi_trust_search in_bowl(hf_context *ctx, landscape *l)
{
    return (hfi_trust_search){.ctx = ctx,
                              .count = N,
                              .lower = low,
                              .upper = high,
                              .most = 100,
                              .evaluate = bowl,
                              .curvature = bowl_curvature,
                              .arg = l};
}

static hfi_trust_search in_valley(hf_context *ctx, landscape *l)
{
    return (hfi_trust_search){.ctx = ctx,
                              .count = 2,
                              .lower = far_low,
                              .upper = far_high,
                              .most = 200,
                              .evaluate = valley,
                              .curvature = valley_curvature,
                              .arg = l};
}

/* Inside: no slope. At a bound: none that leads inside. */
static void test_quadratic_in_a_box(void **state)
{
    for (int blind = 0; blind < 2; blind++) {
        landscape l = {.wall = INFINITY, .blind = blind == 1};
        hfi_trust_search search = in_bowl(*state, &l);
        double x[N] = {-2.0, 7.0, 1.0, 0.0, -3.0}, gradient[N], value = 0.0;
        assert_int_equal(hfi_trust_maximise(&search, x), HF_OK);
        assert_int_equal(search.stop, HF_STOP_CONVERGED);
        assert_int_equal(search.status, HF_WARN_JITTER);
        assert_true(l.evaluations <= (blind ? 40 : 12));
        size_t bounds = 0;
        (void)bowl(&l, x, &value, gradient);
        assert_true(value == search.value);
        for (size_t k = 0; k < N; k++) {
            assert_true(x[k] >= low[k] && x[k] <= high[k]);
            if (x[k] == low[k]) assert_true(gradient[k] < 1e-3);
            if (x[k] == high[k]) assert_true(gradient[k] > -1e-3);
            if (x[k] == low[k] || x[k] == high[k])
                bounds++;
            else
                assert_true(fabs(gradient[k]) < 1e-2);
        }
        assert_true(bounds >= 2);
    }
}

static void test_valley(void **state)
{
    for (int blind = 0; blind < 2; blind++) {
        landscape l = {.wall = INFINITY, .blind = blind == 1};
        hfi_trust_search search = in_valley(*state, &l);
        double x[2] = {-1.2, 1.0};
        assert_int_equal(hfi_trust_maximise(&search, x), HF_OK);
        assert_true(l.evaluations <= 200);
        if (fabs(x[0] - 1.0) > 1e-2 || fabs(x[1] - 1.0) > 2e-2)
            fail_msg("ended at %g, %g after %zu evaluations", x[0], x[1], l.evaluations);
        assert_true(l.looks >= 1);
    }
}

static void test_steps_back_from_where_there_is_no_value(void **state)
{
    landscape l = {.wall = 0.1};
    hfi_trust_search search = in_bowl(*state, &l);
    double x[N] = {-2.0, 0.0, 1.0, 0.0, 0.0};
    assert_int_equal(hfi_trust_maximise(&search, x), HF_OK);
    assert_true(x[0] <= 0.1);
    assert_true(isfinite(search.value));
    l = (landscape){.wall = -5.0};
    double outside[N] = {0.0};
    assert_int_equal(hfi_trust_maximise(&search, outside), HF_ERR_NOT_POSITIVE_DEFINITE);
    for (size_t k = 0; k < N; k++) assert_true(outside[k] == 0.0);
}

static void test_errors_and_limits(void **state)
{
    for (size_t at = 1; at <= 3; at++) {
        landscape l = {.wall = INFINITY, .error = HF_ERR_CANCELLED, .error_at = at};
        hfi_trust_search search = in_valley(*state, &l);
        double x[2] = {-1.2, 1.0};
        assert_int_equal(hfi_trust_maximise(&search, x), HF_ERR_CANCELLED);
        assert_int_equal(l.evaluations, at);
        assert_true(x[0] == -1.2 && x[1] == 1.0);
    }
    landscape l = {.wall = INFINITY};
    hfi_trust_search search = in_valley(*state, &l);
    search.most = 4;
    double x[2] = {-1.2, 1.0};
    assert_int_equal(hfi_trust_maximise(&search, x), HF_OK);
    assert_int_equal(l.evaluations, 4);
    assert_int_equal(search.stop, HF_STOP_ITERATIONS);
}

/* With less to be gained than what is asked for, nothing is tried. */
static void test_enough_is_enough(void **state)
{
    landscape l = {.wall = INFINITY};
    hfi_trust_search search = in_bowl(*state, &l);
    double x[N] = {0.0}, again[N];
    search.enough = 1e-6;
    assert_int_equal(hfi_trust_maximise(&search, x), HF_OK);
    const double best = search.value;
    memcpy(again, x, sizeof again);
    again[2] += 0.01;
    search.enough = 0.1;
    l = (landscape){.wall = INFINITY};
    assert_int_equal(hfi_trust_maximise(&search, again), HF_OK);
    assert_int_equal(l.evaluations, 1);
    assert_int_equal(search.stop, HF_STOP_LEVEL);
    assert_true(search.value > best - 0.1);
}

static int make_context(void **state)
{
    *state = hf_context_create();
    return *state ? 0 : -1;
}

static int drop_context(void **state)
{
    hf_context_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quadratic_in_a_box),
        cmocka_unit_test(test_valley),
        cmocka_unit_test(test_steps_back_from_where_there_is_no_value),
        cmocka_unit_test(test_errors_and_limits),
        cmocka_unit_test(test_enough_is_enough),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
