/* SPDX-License-Identifier: Apache-2.0 */
/* The exact solver against the textbook. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "solver/naive.h"

#include "linalg/linalg.h"

static const char *const KERNELS[] = {
    "matern52(ard)",
    "se(ard) + linear",
    "1.7*matern32(x1) + 0.3*periodic(x2, period=3) + white",
    "rq * constant(variance=2)",
};
enum {
    KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS
};

static hf_status solve(const problem *p, hfi_solution *s)
{
    return hfi_exact_solve(p->ctx, p->kernel, p->mean, p->sites, p->d, p->x, p->d, s);
}

/* L L' as a full matrix. */
static double *product(const hfi_solution *s)
{
    size_t n = s->n;
    double *a = naive_zeros(n * n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k <= i && k <= j; k++)
                a[i * n + j] += s->factor[i + k * s->capacity] * s->factor[j + k * s->capacity];
    return a;
}

static void equals_the_textbook(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    for (size_t k = 0; k < KERNEL_COUNT; k++) {
        problem p = problem_make(ctx, KERNELS[k], 40, 3, 0.05);
        naive_gp gp = problem_naive(&p);
        hfi_solution s;
        assert_int_equal(solve(&p, &s), HF_OK);
        assert_int_equal(s.n, p.n);
        assert_true(s.jitter == 0.0);
        double *a = product(&s), *inverse = naive_inverse(p.n, gp.a, NULL);
        for (size_t i = 0; i < p.n * p.n; i++) assert_near(a[i], gp.a[i], 1e-12);
        for (size_t i = 0; i < p.n; i++) {
            assert_near(s.t[i], gp.t[i], 1e-10);
            assert_near(s.residual[i], gp.residual[i], 1e-14);
        }
        assert_near(s.log_det, gp.log_det, 1e-10);
        assert_near(hfi_solution_log_evidence(&s), naive_evidence(&gp), 1e-9);
        /* The estimate is a lower bound of the norm of the inverse and seldom below a third of it. */
        double condition = naive_norm1(p.n, gp.a) * naive_norm1(p.n, inverse);
        assert_true(s.condition <= condition * (1.0 + 1e-9) && s.condition >= condition / 3.0);
        assert_true(s.backward < 1e-15 * (double)p.n);
        free(a);
        free(inverse);
        naive_free(&gp);
        hfi_solution_free(&s);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

static void applies_r_and_s(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 25, 2, 0.1);
    naive_gp gp = problem_naive(&p);
    hfi_solution s;
    assert_int_equal(solve(&p, &s), HF_OK);
    size_t n = p.n, m = 3, ld = n + 2;
    double *v = problem_inputs(m, ld, 3), *w = naive_zeros(n), *single = naive_zeros(n);
    for (size_t q = 0; q < m; q++) {
        memcpy(single, v + q * ld, n * sizeof *single);
        double quadratic = 0.0;
        for (size_t i = 0; i < n; i++) {
            w[i] = 0.0;
            for (size_t j = 0; j < n; j++) w[i] += gp.g[i * n + j] * single[j];
            quadratic += w[i] * single[i];
        }
        double *full = naive_zeros(n);
        memcpy(full, single, n * sizeof *full);
        hfi_chol_solve(n, s.factor, s.capacity, full);
        size_t stride;
        assert_ptr_equal(hfi_solution_whiten(&s, 1, single, n, NULL, &stride), single);
        assert_near(hfi_dot(n, single, single), quadratic, 1e-10 * (1.0 + quadratic));
        hfi_solution_spread(&s, single, single);
        for (size_t i = 0; i < n; i++) {
            assert_near(full[i], w[i], 1e-10);
            assert_near(single[i], w[i], 1e-10);
        }
        memcpy(single, v + q * ld, n * sizeof *single);
        hfi_solution_whiten(&s, 1, single, n, NULL, &stride);
        double *block = naive_zeros(m * ld);
        memcpy(block, v, m * ld * sizeof *block);
        hfi_solution_whiten(&s, m, block, ld, NULL, &stride);
        for (size_t i = 0; i < n; i++) assert_near(block[q * ld + i], single[i], 1e-12);
        for (size_t i = n; i < ld; i++) assert_true(block[q * ld + i] == v[q * ld + i]);
        free(block);
        free(full);
    }
    free(v);
    free(w);
    free(single);
    naive_free(&gp);
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

static void takes_only_what_is_present(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "matern32(ard)", 30, 2, 0.05);
    double *x = naive_zeros(p.n * 2), *z = naive_zeros(p.n), *v = naive_zeros(p.n);
    size_t kept = 0;
    for (size_t i = 0; i < p.n; i++) {
        if (i % 4 == 1) {
            assert_int_equal(hf_sites_set_present(ctx, p.sites, i, false), HF_OK);
            p.x[2 * i] = NAN; /* the inputs of an absent row do not matter */
            continue;
        }
        memcpy(x + 2 * kept, p.x + 2 * i, 2 * sizeof *x);
        z[kept] = hf_sites_targets(p.sites)[i];
        v[kept++] = hf_sites_variances(p.sites)[i];
    }
    naive_gp gp = naive_make(p.kernel, p.mean, kept, x, z, v);
    hfi_solution s;
    assert_int_equal(solve(&p, &s), HF_OK);
    assert_int_equal(s.n, kept);
    for (size_t i = 0; i < kept; i++) {
        assert_near(s.t[i], gp.t[i], 1e-10);
        assert_true(s.z[2 * i] == x[2 * i] && s.z[2 * i + 1] == x[2 * i + 1]);
    }
    naive_free(&gp);
    hfi_solution_free(&s);
    free(x);
    free(z);
    free(v);
    problem_free(&p);
    hf_context_free(ctx);
}

static void rows_may_be_apart(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se(ard)", 20, 2, 0.05);
    double *wide = naive_zeros(p.n * 5);
    for (size_t i = 0; i < p.n; i++) {
        memcpy(wide + 5 * i, p.x + 2 * i, 2 * sizeof *wide);
        wide[5 * i + 2] = NAN;
    }
    hfi_solution a, b;
    assert_int_equal(solve(&p, &a), HF_OK);
    assert_int_equal(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, 2, wide, 5, &b), HF_OK);
    assert_memory_equal(a.t, b.t, p.n * sizeof *a.t);
    hfi_solution_free(&a);
    hfi_solution_free(&b);
    free(wide);
    problem_free(&p);
    hf_context_free(ctx);
}

static void duplicates_without_noise_need_jitter(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se(ard)", 12, 1, 1e-30);
    for (size_t i = 6; i < 12; i++) {
        p.x[i] = p.x[i - 6];
        p.extra[i] = 0.0;
    }
    hfi_solution s;
    assert_int_equal(solve(&p, &s), HF_WARN_JITTER);
    assert_true(strlen(hf_context_message(ctx)) > 0);
    assert_true(s.jitter > 0.0 && s.jitter <= 1e-2);
    assert_true(isfinite(s.log_det) && isfinite(s.condition) && s.backward < 1e-13);
    double *a = product(&s);
    for (size_t i = 0; i < 12; i++) assert_near(a[i * 12 + i], 1.0 + s.jitter, 1e-14);
    free(a);
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

static void one_reading(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(4);
    problem p = problem_make(ctx, "2*se", 1, 1, 0.5);
    hfi_solution s;
    assert_int_equal(solve(&p, &s), HF_OK);
    double variance = hf_sites_variances(p.sites)[0];
    assert_near(s.factor[0], sqrt(2.0 + variance), 1e-15);
    assert_near(s.t[0], s.residual[0] / (2.0 + variance), 1e-15);
    assert_near(s.condition, 1.0, 1e-12);
    hfi_solution_free(&s);
    problem_free(&p);
    hf_context_free(ctx);
}

static void threads_change_no_digit(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard) + 0.1*linear", 300, 4, 0.01);
    hfi_solution one, four;
    assert_int_equal(solve(&p, &one), HF_OK);
    assert_int_equal(hf_context_set_threads(ctx, 4), HF_OK);
    assert_int_equal(solve(&p, &four), HF_OK);
    assert_memory_equal(one.t, four.t, p.n * sizeof *one.t);
    for (size_t j = 0; j < p.n; j++)
        assert_memory_equal(one.factor + j * (p.n + 1), four.factor + j * (p.n + 1),
                            (p.n - j) * sizeof *one.factor);
    assert_true(one.log_det == four.log_det && one.condition == four.condition &&
                one.backward == four.backward);
    hfi_solution_free(&one);
    hfi_solution_free(&four);
    problem_free(&p);
    hf_context_free(ctx);
}

/* A reading at 1e12 has a site variance of 1e24 or so; it must not hide what is wrong with the others, nor
 * spoil them. */
static void huge_site_variances(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", 30, 2, 0.05), q;
    hf_sites_free(p.sites);
    double *centre = naive_zeros(p.n);
    p.y[4] = 1e12;
    assert_int_equal(hf_sites_robust(ctx, p.n, p.y, p.noise, NULL, centre, 2.0, &p.sites), HF_OK);
    q = p;
    assert_int_equal(hf_sites_copy(ctx, p.sites, &q.sites), HF_OK);
    assert_int_equal(hf_sites_set_present(ctx, q.sites, 4, false), HF_OK);
    hfi_solution with, without;
    assert_int_equal(solve(&p, &with), HF_OK);
    assert_int_equal(solve(&q, &without), HF_OK);
    assert_true(with.backward < 1e-13);
    for (size_t i = 0; i < p.n; i++)
        if (i != 4) assert_near(with.t[i], without.t[i < 4 ? i : i - 1], 1e-9);
    hf_sites_free(q.sites);
    hfi_solution_free(&with);
    hfi_solution_free(&without);
    free(centre);
    problem_free(&p);
    hf_context_free(ctx);
}

static void assert_refused(const problem *p, hf_status expected, const char *words)
{
    hfi_solution s;
    memset(&s, 1, sizeof s);
    assert_int_equal(solve(p, &s), expected);
    assert_non_null(strstr(hf_context_message(p->ctx), words));
    assert_null(s.factor);
    hfi_solution_free(&s); /* nothing to free, and harmless */
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se", 5, 2, 0.1);
    p.x[7] = NAN;
    assert_refused(&p, HF_ERR_NOT_FINITE, "input 1 of row 3");
    p.x[7] = INFINITY;
    assert_refused(&p, HF_ERR_NOT_FINITE, "input 1 of row 3");
    p.x[7] = 0.0;
    for (size_t i = 0; i < p.n; i++) assert_int_equal(hf_sites_set_present(ctx, p.sites, i, false), HF_OK);
    assert_refused(&p, HF_ERR_NO_DATA, "5 readings");
    problem_free(&p);
    p = problem_make(ctx, "linear", 5, 2, 0.1);
    p.x[4] = 1e300; /* its square overflows in the kernel matrix */
    assert_refused(&p, HF_ERR_NOT_FINITE, "not finite");
    problem_free(&p);
    p = problem_make(ctx, "1e-300*se", 5, 2, 1e-200);
    p.sites->target[2] = 1e300;
    assert_refused(&p, HF_ERR_NOT_FINITE, "overflows");
    problem_free(&p);
    hf_context_free(ctx);
}

/* Ten million readings need 800 TB: refused before a byte of it is asked for. */
static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    size_t available = hfi_available_memory();
    if (available == SIZE_MAX) {
        print_message("the memory available is not known here\n");
        skip();
    }
    hf_context *ctx = problem_context(1);
    size_t n = 3000000;
    double *y = naive_zeros(n);
    problem p = {.ctx = ctx, .n = n, .d = 1, .x = y};
    assert_int_equal(hf_kernel_parse(ctx, "se", NULL, 1, &p.kernel), HF_OK);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, 1, &p.mean), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, n, y, 0.1, NULL, &p.sites), HF_OK);
    assert_refused(&p, HF_ERR_TOO_LARGE, "3000000 readings");
    double bytes, flops;
    hfi_exact_cost(n, 1, &bytes, &flops);
    char number[64];
    snprintf(number, sizeof number, "%.0f bytes", bytes);
    assert_non_null(strstr(hf_context_message(ctx), number));
    assert_true(bytes >= 8.0 * (double)n * (double)n && bytes < 8.1 * (double)n * (double)n);
    assert_true(flops >= pow((double)n, 3.0) / 3.0 && flops < pow((double)n, 3.0) * 0.34);
    hf_sites_free(p.sites);
    hf_mean_free(p.mean);
    hf_kernel_free(p.kernel);
    free(y);
    hf_context_free(ctx);
}

static void survives_every_failed_allocation(void **state)
{
    (void)state;
    counter c = {0};
    hf_context *ctx = counter_context(&c);
    problem p = problem_make(ctx, "matern52(ard)", 20, 2, 0.1);
    long before = c.live;
    size_t failures = 0;
    for (;; failures++) {
        hfi_solution s;
        c.calls = 0;
        c.fail = failures + 1;
        hf_status status = solve(&p, &s);
        if (status == HF_OK) {
            hfi_solution_free(&s);
            break;
        }
        assert_int_equal(status, HF_ERR_MEMORY);
        assert_null(s.factor);
        assert_int_equal(c.live, before);
    }
    assert_true(failures >= 5);
    c.fail = 0;
    problem_free(&p);
    hf_context_free(ctx);
    assert_int_equal(c.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_textbook),
        cmocka_unit_test(applies_r_and_s),
        cmocka_unit_test(takes_only_what_is_present),
        cmocka_unit_test(rows_may_be_apart),
        cmocka_unit_test(duplicates_without_noise_need_jitter),
        cmocka_unit_test(one_reading),
        cmocka_unit_test(threads_change_no_digit),
        cmocka_unit_test(huge_site_variances),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
