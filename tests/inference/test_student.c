/* SPDX-License-Identifier: Apache-2.0 */
/* Student-t noise: evidences against quadrature over all latent values, gradients against difference
 * quotients, fits. */
#include "inference/student.h"
#include "linalg/linalg.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 24,
    D = 2,
    MOST = 32
};

typedef struct fixture {
    hfi_evaluator e;
    double x[N * D], y[N], extra[N];
} fixture;

static void make_rows(fixture *f, size_t n, const char *expression, hf_mean_kind mean, double noise)
{
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    assert_int_equal(hfi_evaluator_init(ctx, &f->e, false, n, D, f->x, D), HF_OK);
    assert_int_equal(hf_kernel_parse(ctx, expression, NULL, D, &f->e.kernel), HF_OK);
    assert_int_equal(hf_mean_create(ctx, mean, D, &f->e.mean), HF_OK);
    const double b[D + 1] = {0.1, -0.2, 0.15};
    if (hf_mean_coefficients(f->e.mean) > 0) assert_int_equal(hf_mean_set(ctx, f->e.mean, b, false), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, n, f->y, noise, f->extra, &f->e.sites), HF_OK);
    assert_int_equal(hfi_evaluator_select(&f->e), HF_OK);
}

static void make(fixture *f, const char *expression, hf_mean_kind mean, double noise)
{
    memset(f, 0, sizeof *f);
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) f->x[i * D + j] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        f->y[i] = sin(2.0 * f->x[i * D]) + 0.3 * f->x[i * D + 1] + 0.1 * hfi_stream_normal(&stream);
        f->extra[i] = i % 5 == 0 ? 0.01 : 0.0;
    }
    f->y[3] += 3.0;
    f->y[7] -= 1.0;
    f->y[15] += 50.0;
    f->y[9] = NAN;
    make_rows(f, N, expression, mean, noise);
}

static void drop(fixture *f)
{
    hf_context *ctx = f->e.ctx;
    hf_kernel_free(f->e.kernel);
    hf_mean_free(f->e.mean);
    hf_sites_free(f->e.sites);
    hfi_evaluator_free(&f->e);
    hf_context_free(ctx);
}

static size_t count(const fixture *f)
{
    return hf_kernel_parameters(f->e.kernel) + hf_mean_coefficients(f->e.mean) + 2;
}

/* Value with parameter k of (kernel, mean, log sigma^2, nu) moved by h. */
static double moved(fixture *f, hfi_latent_problem *p, double nu, size_t k, double h)
{
    const size_t kernel_count = hf_kernel_parameters(f->e.kernel),
                 mean_count = hf_mean_coefficients(f->e.mean);
    double theta[MOST], kept[MOST], b[D + 1], value = NAN;
    const double noise = hf_sites_noise(f->e.sites);
    hfi_kernel_theta(f->e.kernel, kept);
    memcpy(theta, kept, kernel_count * sizeof *theta);
    memcpy(b, hf_mean_values(f->e.mean), mean_count * sizeof *b);
    if (k < kernel_count)
        theta[k] += h;
    else if (k < kernel_count + mean_count)
        b[k - kernel_count] += h;
    else if (k == kernel_count + mean_count)
        assert_int_equal(hf_sites_set_noise(f->e.ctx, f->e.sites, noise * exp(h)), HF_OK);
    else
        nu += h;
    hfi_kernel_set_theta(f->e.kernel, theta);
    double old[D + 1];
    memcpy(old, hf_mean_values(f->e.mean), mean_count * sizeof *old);
    if (mean_count) assert_int_equal(hf_mean_set(f->e.ctx, f->e.mean, b, false), HF_OK);
    assert_int_equal(hfi_student_evaluate(p, &f->e, nu, &value, NULL), HF_OK);
    if (!p->converged) fail_msg("the iteration does not converge at parameter %zu moved by %g", k, h);
    hfi_kernel_set_theta(f->e.kernel, kept);
    if (mean_count) assert_int_equal(hf_mean_set(f->e.ctx, f->e.mean, old, false), HF_OK);
    assert_int_equal(hf_sites_set_noise(f->e.ctx, f->e.sites, noise), HF_OK);
    return value;
}

static void check_gradient(hf_inference method, double power, const char *expression, hf_mean_kind mean,
                           double nu, double noise)
{
    fixture f;
    make(&f, expression, mean, noise);
    hfi_latent_problem p;
    assert_int_equal(hfi_student_problem(&f.e, &hfi_likelihood_student_t, method, &p), HF_OK);
    p.power = power;
    double value, gradient[MOST], scale = 1.0;
    assert_int_equal(hfi_student_evaluate(&p, &f.e, nu, &value, gradient), HF_OK);
    assert_true(p.converged);
    hfi_latent_keep(&p);
    for (size_t k = 0; k < count(&f); k++) scale = fmax(scale, fabs(gradient[k]));
    for (size_t k = 0; k < count(&f); k++) {
        const double h = 1e-3;
        const double quotient = (8.0 * (moved(&f, &p, nu, k, h) - moved(&f, &p, nu, k, -h)) -
                                 (moved(&f, &p, nu, k, 2.0 * h) - moved(&f, &p, nu, k, -2.0 * h))) /
                                (12.0 * h);
        if (fabs(quotient - gradient[k]) > 2e-6 * scale)
            fail_msg("method %d, %s, nu %g, noise %g: parameter %zu: gradient %.12g, quotient %.12g",
                     (int)method, expression, nu, noise, k, gradient[k], quotient);
    }
    hfi_latent_problem_free(&p);
    drop(&f);
}

static void gradients_match_difference_quotients(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const hf_inference method = k < 3 ? (hf_inference)k : HF_INFERENCE_EP;
        const double power = k < 3 ? 1.0 : 0.5;
        check_gradient(method, power, "matern52(ard)", HF_MEAN_CONSTANT, 4.0, 0.05);
        check_gradient(method, power, "se(iso)", HF_MEAN_LINEAR, 2.0, 0.01);
        check_gradient(method, power, "matern32(iso) + white", HF_MEAN_ZERO, 20.0, 0.1);
    }
}

static void threads_change_no_digit(void **state)
{
    (void)state;
    for (int method = 0; method <= HF_INFERENCE_VARIATIONAL; method++) {
        double value[2], gradient[2][MOST] = {{0.0}}, target[2][2 * N];
        for (int k = 0; k < 2; k++) {
            fixture f;
            hfi_latent_problem p;
            make(&f, "matern52(ard)", HF_MEAN_CONSTANT, 0.05);
            hf_context_set_threads(f.e.ctx, 1 + 2 * k);
            assert_int_equal(hfi_student_problem(&f.e, &hfi_likelihood_student_t, (hf_inference)method, &p),
                             HF_OK);
            assert_int_equal(hfi_student_evaluate(&p, &f.e, 3.0, &value[k], gradient[k]), HF_OK);
            hfi_latent_sites(&p, target[k], target[k] + N);
            hfi_latent_problem_free(&p);
            drop(&f);
        }
        assert_memory_equal(&value[0], &value[1], sizeof value[0]);
        assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
        assert_memory_equal(target[0], target[1], sizeof target[0]);
    }
}

/* The fixed point does not depend on where its iteration started. */
static void kept_starts_lead_to_the_same_place(void **state)
{
    (void)state;
    for (int method = 0; method <= HF_INFERENCE_VARIATIONAL; method++) {
        fixture f;
        hfi_latent_problem p;
        double cold, warm;
        make(&f, "matern52(ard)", HF_MEAN_CONSTANT, 0.05);
        assert_int_equal(hfi_student_problem(&f.e, &hfi_likelihood_student_t, (hf_inference)method, &p),
                         HF_OK);
        assert_int_equal(hfi_student_evaluate(&p, &f.e, 4.0, &cold, NULL), HF_OK);
        const size_t first = p.factorisations;
        assert_int_equal(hfi_student_evaluate(&p, &f.e, 5.0, &warm, NULL), HF_OK);
        hfi_latent_keep(&p);
        const size_t before = p.factorisations;
        assert_int_equal(hfi_student_evaluate(&p, &f.e, 4.0, &warm, NULL), HF_OK);
        if (fabs(warm - cold) > 1e-8 * fabs(cold))
            fail_msg("method %d: cold %.15g, warm %.15g", method, cold, warm);
        assert_true(p.factorisations - before < first);
        hfi_latent_problem_free(&p);
        drop(&f);
    }
}

/* Where the bound cannot reach what a search has reached already, nobody waits for its fixed point;
 * where it can, nothing is cut short. */
static void what_is_out_of_reach_is_left_early(void **state)
{
    (void)state;
    fixture f;
    make(&f, "se(ard)", HF_MEAN_CONSTANT, 1e-6);
    double patient = NAN, hasty = NAN, lenient = NAN;
    hfi_latent_problem p;
    assert_int_equal(hfi_student_problem(&f.e, &hfi_likelihood_student_t, HF_INFERENCE_VARIATIONAL, &p),
                     HF_OK);
    assert_int_equal(hfi_student_evaluate(&p, &f.e, 2.0, &patient, NULL), HF_OK);
    const size_t all = p.factorisations;
    p.floor = patient + 1e4;
    assert_int_equal(hfi_student_evaluate(&p, &f.e, 2.0, &hasty, NULL), HF_OK);
    const size_t few = p.factorisations - all;
    assert_true(2 * few <= all);
    assert_false(p.converged);
    assert_true(hasty <= patient + 1e-9);
    p.floor = patient - 1e-3;
    assert_int_equal(hfi_student_evaluate(&p, &f.e, 2.0, &lenient, NULL), HF_OK);
    assert_true(lenient >= p.floor);
    hfi_latent_problem_free(&p);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_no_digit),
        cmocka_unit_test(kept_starts_lead_to_the_same_place),
        cmocka_unit_test(what_is_out_of_reach_is_left_early),
        cmocka_unit_test(gradients_match_difference_quotients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
