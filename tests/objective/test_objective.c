/* SPDX-License-Identifier: Apache-2.0 */
/* Objectives: values by definition, gradients by finite differences, leave-one-out by brute force. */
#include "linalg/linalg.h"
#include "posterior/posterior.h"
#include <holdfast/train.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 23,
    D = 3,
    MOST = 64
};

typedef struct fixture {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    double x[N * D], y[N], extra[N];
} fixture;

static void make(fixture *f, const char *expression, hf_mean_kind mean, bool robust)
{
    memset(f, 0, sizeof *f);
    f->ctx = hf_context_create();
    assert_non_null(f->ctx);
    hfi_stream stream;
    hfi_stream_init(&stream, 7, HFI_PURPOSE_TEST, 1);
    double centre[N];
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) f->x[i * D + j] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        f->y[i] = sin(f->x[i * D]) + 0.3 * f->x[i * D + 1] + 0.1 * hfi_stream_normal(&stream);
        f->extra[i] = i % 4 == 0 ? 0.05 : 0.0;
        centre[i] = 0.2 * f->x[i * D];
    }
    f->y[3] += 4.0;
    f->y[9] = NAN; /* a missing reading must not disturb anything */
    assert_int_equal(hf_kernel_parse(f->ctx, expression, NULL, D, &f->kernel), HF_OK);
    assert_int_equal(hf_mean_create(f->ctx, mean, D, &f->mean), HF_OK);
    double b[D + 1] = {0.3, -0.2, 0.1, 0.05};
    if (hf_mean_coefficients(f->mean) > 0) assert_int_equal(hf_mean_set(f->ctx, f->mean, b, false), HF_OK);
    if (robust)
        assert_int_equal(hf_sites_robust(f->ctx, N, f->y, 0.07, f->extra, centre, 0.8, &f->sites), HF_OK);
    else
        assert_int_equal(hf_sites_gaussian(f->ctx, N, f->y, 0.07, f->extra, &f->sites), HF_OK);
}

static void drop(fixture *f)
{
    hf_sites_free(f->sites);
    hf_mean_free(f->mean);
    hf_kernel_free(f->kernel);
    hf_context_free(f->ctx);
}

static size_t count(const fixture *f)
{
    return hf_kernel_parameters(f->kernel) + hf_mean_coefficients(f->mean) + 1;
}

/* Moves parameter p of the state by h and evaluates. */
static double shifted(const fixture *f, hf_objective objective, size_t p, double h)
{
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    assert_int_equal(hf_kernel_copy(f->ctx, f->kernel, &kernel), HF_OK);
    assert_int_equal(hf_mean_copy(f->ctx, f->mean, &mean), HF_OK);
    assert_int_equal(hf_sites_copy(f->ctx, f->sites, &sites), HF_OK);
    const size_t kernel_count = hf_kernel_parameters(kernel), mean_count = hf_mean_coefficients(mean);
    if (p < kernel_count) {
        double theta[MOST];
        hfi_kernel_theta(kernel, theta);
        theta[p] += h;
        hfi_kernel_set_theta(kernel, theta);
    } else if (p < kernel_count + mean_count) {
        double b[D + 1];
        memcpy(b, hf_mean_values(mean), mean_count * sizeof *b);
        b[p - kernel_count] += h;
        assert_int_equal(hf_mean_set(f->ctx, mean, b, false), HF_OK);
    } else {
        assert_int_equal(hf_sites_set_noise(f->ctx, sites, hf_sites_noise(sites) * exp(h)), HF_OK);
    }
    double value = 0.0;
    assert_int_equal(hf_objective_evaluate(f->ctx, objective, kernel, mean, sites, f->x, D, &value, NULL),
                     HF_OK);
    hf_kernel_free(kernel);
    hf_mean_free(mean);
    hf_sites_free(sites);
    return value;
}

static void check_gradient(const char *expression, hf_mean_kind mean, bool robust, hf_objective objective)
{
    fixture f;
    make(&f, expression, mean, robust);
    double value = 0.0, gradient[MOST];
    assert_true(count(&f) <= MOST);
    assert_int_equal(
        hf_objective_evaluate(f.ctx, objective, f.kernel, f.mean, f.sites, f.x, D, &value, gradient), HF_OK);
    double scale = 1.0;
    for (size_t p = 0; p < count(&f); p++) scale = fmax(scale, fabs(gradient[p]));
    for (size_t p = 0; p < count(&f); p++) {
        const double h = 1e-4;
        const double difference = (8.0 * (shifted(&f, objective, p, h) - shifted(&f, objective, p, -h)) -
                                   (shifted(&f, objective, p, 2 * h) - shifted(&f, objective, p, -2 * h))) /
                                  (12.0 * h);
        if (fabs(difference - gradient[p]) > 1e-8 * scale)
            fail_msg("%s, mean %s, %s, %s: parameter %zu: gradient %.12g, difference quotient %.12g",
                     expression, hf_enum_name(HF_ENUM_MEAN_KIND, mean), robust ? "robust" : "gaussian",
                     hf_enum_name(HF_ENUM_OBJECTIVE, objective), p, gradient[p], difference);
    }
    drop(&f);
}

static void gradients_match_difference_quotients(void **state)
{
    (void)state;
    static const char *const expressions[] = {"matern52(ard)", "se(iso) + linear(ard)",
                                              "rq(x1, x2) * periodic(x3) + white"};
    static const hf_mean_kind means[] = {HF_MEAN_ZERO, HF_MEAN_CONSTANT, HF_MEAN_LINEAR};
    for (size_t e = 0; e < 3; e++)
        for (int robust = 0; robust < 2; robust++)
            for (int o = 0; o < 3; o++)
                check_gradient(expressions[e], means[e], robust != 0, (hf_objective)o);
}

static void value_is_the_same_with_and_without_gradient(void **state)
{
    (void)state;
    fixture f;
    make(&f, "matern52(ard)", HF_MEAN_CONSTANT, true);
    for (int o = 0; o < 3; o++) {
        double with = 0.0, without = 0.0, gradient[MOST];
        assert_int_equal(
            hf_objective_evaluate(f.ctx, (hf_objective)o, f.kernel, f.mean, f.sites, f.x, D, &with, gradient),
            HF_OK);
        assert_int_equal(
            hf_objective_evaluate(f.ctx, (hf_objective)o, f.kernel, f.mean, f.sites, f.x, D, &without, NULL),
            HF_OK);
        assert_true(with == without);
    }
    drop(&f);
}

/* The leave-one-out sum by solving n problems of n - 1 readings each. */
static double brute_force_loo(fixture *f, bool weighted)
{
    double sum = 0.0;
    for (size_t i = 0; i < N; i++) {
        if (!hf_sites_is_present(f->sites, i)) continue;
        hf_sites *without;
        assert_int_equal(hf_sites_copy(f->ctx, f->sites, &without), HF_OK);
        assert_int_equal(hf_sites_set_present(f->ctx, without, i, false), HF_OK);
        hf_posterior *posterior;
        assert_int_equal(hf_solve_exact(f->ctx, f->kernel, f->mean, without, f->x, D, &posterior), HF_OK);
        double mean = 0.0, var = 0.0;
        assert_int_equal(hf_predict(f->ctx, posterior, 1, f->x + i * D, D, &mean, &var, NULL), HF_OK);
        const double v = var + 0.07 + f->extra[i], e = f->y[i] - mean;
        sum -= (weighted ? hf_sites_weights(f->sites)[i] : 1.0) *
               (HFI_HALF_LOG_2PI + 0.5 * log(v) + 0.5 * e * e / v);
        hf_posterior_free(posterior);
        hf_sites_free(without);
    }
    return sum;
}

static void leave_one_out_equals_brute_force(void **state)
{
    (void)state;
    for (int robust = 0; robust < 2; robust++) {
        fixture f;
        make(&f, "matern32(ard)", HF_MEAN_LINEAR, robust != 0);
        for (int weighted = 0; weighted < 2; weighted++) {
            double value = 0.0;
            const hf_objective o = weighted ? HF_OBJECTIVE_WLOO : HF_OBJECTIVE_LOO;
            assert_int_equal(hf_objective_evaluate(f.ctx, o, f.kernel, f.mean, f.sites, f.x, D, &value, NULL),
                             HF_OK);
            assert_true(fabs(value - brute_force_loo(&f, weighted != 0)) < 1e-9 * fabs(value));
        }
        drop(&f);
    }
}

static void evidence_equals_the_solvers(void **state)
{
    (void)state;
    fixture f;
    make(&f, "se(ard)", HF_MEAN_CONSTANT, true);
    double value = 0.0;
    assert_int_equal(
        hf_objective_evaluate(f.ctx, HF_OBJECTIVE_EVIDENCE, f.kernel, f.mean, f.sites, f.x, D, &value, NULL),
        HF_OK);
    hf_posterior *posterior;
    assert_int_equal(hf_solve_exact(f.ctx, f.kernel, f.mean, f.sites, f.x, D, &posterior), HF_OK);
    const hf_solve_report *report = hf_posterior_report_of(posterior);
    assert_true(fabs(report->log_evidence - value) < 1e-10 * fabs(value));
    hf_posterior_free(posterior);
    drop(&f);
}

/* Infinite threshold: every objective is that of the plain GP. */
static void infinite_threshold_is_the_plain_gp(void **state)
{
    (void)state;
    fixture f;
    make(&f, "matern52(ard)", HF_MEAN_CONSTANT, false);
    double centre[N] = {0.0};
    hf_sites *robust;
    assert_int_equal(hf_sites_robust(f.ctx, N, f.y, 0.07, f.extra, centre, INFINITY, &robust), HF_OK);
    for (int o = 0; o < 3; o++) {
        double plain = 0.0, limit = 0.0, a[MOST], b[MOST];
        assert_int_equal(
            hf_objective_evaluate(f.ctx, (hf_objective)o, f.kernel, f.mean, f.sites, f.x, D, &plain, a),
            HF_OK);
        assert_int_equal(
            hf_objective_evaluate(f.ctx, (hf_objective)o, f.kernel, f.mean, robust, f.x, D, &limit, b),
            HF_OK);
        assert_true(plain == limit);
        for (size_t p = 0; p < count(&f); p++) assert_true(fabs(a[p] - b[p]) <= 1e-12 * (1.0 + fabs(a[p])));
    }
    hf_sites_free(robust);
    drop(&f);
}

static void threads_do_not_change_a_digit(void **state)
{
    (void)state;
    fixture f;
    make(&f, "matern52(ard) + periodic(x2)", HF_MEAN_CONSTANT, true);
    for (int o = 0; o < 3; o++) {
        double one = 0.0, four = 0.0, a[MOST], b[MOST];
        hf_context_set_threads(f.ctx, 1);
        assert_int_equal(
            hf_objective_evaluate(f.ctx, (hf_objective)o, f.kernel, f.mean, f.sites, f.x, D, &one, a), HF_OK);
        hf_context_set_threads(f.ctx, 4);
        assert_int_equal(
            hf_objective_evaluate(f.ctx, (hf_objective)o, f.kernel, f.mean, f.sites, f.x, D, &four, b),
            HF_OK);
        assert_true(one == four);
        assert_memory_equal(a, b, count(&f) * sizeof *a);
    }
    drop(&f);
}

static void all_readings_missing_is_an_error(void **state)
{
    (void)state;
    fixture f;
    make(&f, "se", HF_MEAN_ZERO, false);
    for (size_t i = 0; i < N; i++)
        if (hf_sites_is_present(f.sites, i))
            assert_int_equal(hf_sites_set_present(f.ctx, f.sites, i, false), HF_OK);
    double value = -5.0;
    assert_int_equal(
        hf_objective_evaluate(f.ctx, HF_OBJECTIVE_LOO, f.kernel, f.mean, f.sites, f.x, D, &value, NULL),
        HF_ERR_NO_DATA);
    assert_true(value == -5.0);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_difference_quotients),
        cmocka_unit_test(value_is_the_same_with_and_without_gradient),
        cmocka_unit_test(leave_one_out_equals_brute_force),
        cmocka_unit_test(evidence_equals_the_solvers),
        cmocka_unit_test(infinite_threshold_is_the_plain_gp),
        cmocka_unit_test(threads_do_not_change_a_digit),
        cmocka_unit_test(all_readings_missing_is_an_error),
    };
    return cmocka_run_group_tests_name("objective", tests, NULL, NULL);
}
