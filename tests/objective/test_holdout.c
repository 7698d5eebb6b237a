/* SPDX-License-Identifier: Apache-2.0 */
/* Leave-one-out in the evaluator's own matrix against that of a solution, and against fits that leave one
 * reading out. */
#include "objective/holdout.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    MOST = 300, /* more than a tile of the factor */
    D = 2,
    HUGE_ROW = 4,
    ABSENT = 7 /* every so many */
};

typedef struct fixture {
    hf_context *ctx;
    size_t n;
    double x[MOST * D], y[MOST], extra[MOST];
    hfi_evaluator e;
} fixture;

static void make(fixture *f, size_t n, const char *expression, bool robust)
{
    memset(f, 0, sizeof *f);
    f->ctx = hf_context_create();
    f->n = n;
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 3);
    for (size_t i = 0; i < n * D; i++) f->x[i] = 1.5 * hfi_stream_normal(&stream);
    for (size_t i = 0; i < n; i++)
        f->y[i] = sin(f->x[i * D]) + 0.3 * f->x[i * D + 1] + 0.2 * hfi_stream_normal(&stream);
    f->y[9] = 30.0;
    f->extra[HUGE_ROW] = 1e12;
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    assert_int_equal(hf_kernel_parse(f->ctx, expression, NULL, D, &kernel), HF_OK);
    assert_int_equal(hf_mean_create(f->ctx, HF_MEAN_LINEAR, D, &mean), HF_OK);
    assert_int_equal(hfi_mean_start(f->ctx, mean, n, f->x, D, f->y, NULL), HF_OK);
    double centre[MOST] = {0.0};
    const hf_status made = robust ? hf_sites_robust(f->ctx, n, f->y, 0.05, f->extra, centre, 1.5, &sites)
                                  : hf_sites_gaussian(f->ctx, n, f->y, 0.05, f->extra, &sites);
    assert_int_equal(made, HF_OK);
    for (size_t i = 0; i < n; i += ABSENT)
        assert_int_equal(hf_sites_set_present(f->ctx, sites, i, false), HF_OK);
    assert_int_equal(hfi_evaluator_init(f->ctx, &f->e, false, n, D, f->x, D), HF_OK);
    f->e.kernel = kernel;
    f->e.mean = mean;
    f->e.sites = sites;
}

static void drop(fixture *f)
{
    hf_kernel_free(f->e.kernel);
    hf_mean_free(f->e.mean);
    hf_sites_free(f->e.sites);
    hfi_evaluator_free(&f->e);
    hf_context_free(f->ctx);
}

static hf_status solve(const fixture *f, hfi_solution *out)
{
    return hfi_exact_solve(f->ctx, f->e.kernel, f->e.mean, f->e.sites, D, f->x, D, out);
}

static void assert_same(const hfi_holdout *r, const hfi_holdout *want, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs(r->mean[i] - want->mean[i]) <= tolerance * (1.0 + fabs(want->mean[i])));
        assert_true(fabs(r->sd[i] - want->sd[i]) <= tolerance * want->sd[i]);
        assert_true(fabs(r->t[i] - want->t[i]) <= tolerance * (1.0 + fabs(want->t[i])));
    }
}

/* By a solution that knows all present readings, and for each of these by one that does not know it. */
static void compare(fixture *f, bool one_by_one)
{
    hfi_holdout r, whole, single;
    hfi_holdout *all[] = {&r, &whole, &single};
    for (size_t k = 0; k < 3; k++) assert_int_equal(hfi_holdout_init(f->ctx, all[k], f->n), HF_OK);
    hfi_solution s;
    assert_int_equal(solve(f, &s), HF_OK);
    assert_int_equal(hfi_holdout_from_solution(&f->e, &s, &whole), HF_OK);
    assert_int_equal(hfi_holdout_compute(&f->e, &r), HF_OK);
    assert_true(fabs(r.log_evidence - hfi_solution_log_evidence(&s)) < 1e-9 * (1.0 + fabs(r.log_evidence)));
    assert_same(&r, &whole, f->n, 1e-10);
    hfi_solution_free(&s);
    assert_int_equal(hfi_holdout_absent(&f->e, &single), HF_OK);
    for (size_t i = 0; i < f->n; i++) {
        if (hf_sites_is_present(f->e.sites, i)) continue;
        assert_true(single.mean[i] == r.mean[i] && single.sd[i] == r.sd[i] && single.t[i] == r.t[i]);
    }
    for (size_t i = 0; i < f->n && one_by_one; i++) {
        if (!hf_sites_is_present(f->e.sites, i)) continue;
        assert_int_equal(hf_sites_set_present(f->ctx, f->e.sites, i, false), HF_OK);
        assert_int_equal(solve(f, &s), HF_OK);
        assert_int_equal(hfi_holdout_from_solution(&f->e, &s, &single), HF_OK);
        hfi_solution_free(&s);
        assert_int_equal(hf_sites_set_present(f->ctx, f->e.sites, i, true), HF_OK);
        assert_true(fabs(r.mean[i] - single.mean[i]) < 1e-7 * (1.0 + fabs(single.mean[i])));
        assert_true(fabs(r.sd[i] - single.sd[i]) < 1e-7 * single.sd[i]);
    }
    for (size_t k = 0; k < 3; k++) hfi_holdout_free(f->ctx, all[k]);
}

static const char *const kernels[] = {"se(ard)", "matern32 + 0.5*linear"};

static void residuals_are_those_of_a_solution(void **state)
{
    (void)state;
    fixture *f = malloc(sizeof *f);
    assert_non_null(f);
    for (size_t k = 0; k < 4; k++) {
        make(f, 40, kernels[k / 2], k % 2 == 1);
        compare(f, k % 2 == 0); /* who comes back has a robust site of weight 1 */
        drop(f);
        make(f, MOST, kernels[k / 2], k % 2 == 1);
        compare(f, false);
        drop(f);
    }
    free(f);
}

static void evaluate(fixture *f)
{
    double value = 0.0, gradient[16];
    assert_int_equal(hfi_evaluator_select(&f->e), HF_OK);
    assert_int_equal(hfi_evaluator_run(&f->e, HF_OBJECTIVE_EVIDENCE, &value, gradient), HF_OK);
}

/* Each change by itself, after an evaluation that did not know of it. */
static void change_and_compare(fixture *f)
{
    evaluate(f);
    compare(f, false);
    assert_int_equal(hf_kernel_set(f->ctx, f->e.kernel, "lengthscale", 0.7), HF_OK);
    compare(f, false);
    evaluate(f);
    assert_int_equal(hf_sites_set_present(f->ctx, f->e.sites, 3, false), HF_OK);
    compare(f, false);
    evaluate(f);
    /* As many present as before, but others. */
    assert_int_equal(hf_sites_set_present(f->ctx, f->e.sites, 3, true), HF_OK);
    assert_int_equal(hf_sites_set_present(f->ctx, f->e.sites, 5, false), HF_OK);
    compare(f, false);
    evaluate(f);
    assert_int_equal(hf_sites_set_noise(f->ctx, f->e.sites, 0.3), HF_OK);
    compare(f, false);
    evaluate(f);
    double value = 0.0;
    assert_int_equal(hf_sites_set_noise(f->ctx, f->e.sites, 0.2), HF_OK);
    assert_int_equal(hfi_evaluator_run(&f->e, HF_OBJECTIVE_EVIDENCE, &value, NULL), HF_OK);
    compare(f, false);
    evaluate(f);
    double centre[MOST] = {0.0};
    for (size_t i = 0; i < f->n; i++) centre[i] = 0.01 * (double)i;
    assert_int_equal(hf_sites_recentre(f->ctx, f->e.sites, centre, 1.0), HF_OK);
    compare(f, false);
    evaluate(f);
    compare(f, false);
}

/* The last evaluation (of which model, where, on which readings, whether it was kept) makes no difference. */
static void residuals_follow_the_model(void **state)
{
    (void)state;
    fixture *f = malloc(sizeof *f);
    assert_non_null(f);
    for (int keep = 0; keep < 2; keep++) {
        make(f, 60, kernels[0], true);
        if (keep) assert_int_equal(hfi_evaluator_keep(&f->e), HF_OK);
        change_and_compare(f);
        for (size_t i = 0; i < f->n; i++)
            assert_int_equal(hf_sites_set_present(f->ctx, f->e.sites, i, false), HF_OK);
        hfi_holdout r;
        assert_int_equal(hfi_holdout_init(f->ctx, &r, f->n), HF_OK);
        assert_int_equal(hfi_holdout_compute(&f->e, &r), HF_ERR_NO_DATA);
        hfi_holdout_free(f->ctx, &r);
        drop(f);
    }
    free(f);
}

/* To the last bit, the gradient too; more readings than a tile has. */
static void what_is_kept_is_what_would_be_computed(void **state)
{
    (void)state;
    fixture *f = malloc(sizeof *f);
    assert_non_null(f);
    double value[2], gradient[2][16] = {{0.0}}, matrix[2][256] = {{0.0}};
    hfi_holdout r[2];
    for (int keep = 0; keep < 2; keep++) {
        make(f, MOST, kernels[0], false);
        if (keep) assert_int_equal(hfi_evaluator_keep(&f->e), HF_OK);
        assert_int_equal(hfi_holdout_init(f->ctx, &r[keep], MOST), HF_OK);
        assert_int_equal(hfi_evaluator_select(&f->e), HF_OK);
        assert_int_equal(hfi_evaluator_run(&f->e, HF_OBJECTIVE_EVIDENCE, &value[keep], gradient[keep]),
                         HF_OK);
        assert_int_equal(hfi_holdout_compute(&f->e, &r[keep]), HF_OK);
        /* Asked again: the answer, and second derivatives there, are the same. */
        double again = 0.0, second[16] = {0.0};
        assert_int_equal(hfi_evaluator_run(&f->e, HF_OBJECTIVE_EVIDENCE, &again, NULL), HF_OK);
        assert_true(again == value[keep]);
        assert_int_equal(hfi_evaluator_run(&f->e, HF_OBJECTIVE_EVIDENCE, &again, second), HF_OK);
        assert_int_equal(hfi_evaluator_run(&f->e, HF_OBJECTIVE_EVIDENCE, &again, second), HF_OK);
        assert_true(again == value[keep]);
        assert_memory_equal(second, gradient[keep], sizeof second);
        assert_int_equal(hfi_evaluator_curvature(&f->e, HF_OBJECTIVE_EVIDENCE, matrix[keep]), HF_OK);
        if (keep == 1) {
            assert_memory_equal(matrix[0], matrix[1], sizeof matrix[0]);
            assert_true(value[0] == value[1]);
            assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
            assert_memory_equal(r[0].mean, r[1].mean, MOST * sizeof *r[0].mean);
            assert_memory_equal(r[0].sd, r[1].sd, MOST * sizeof *r[0].sd);
            hfi_holdout_free(f->ctx, &r[0]); /* by the same allocator */
            hfi_holdout_free(f->ctx, &r[1]);
        }
        drop(f);
    }
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_are_those_of_a_solution),
        cmocka_unit_test(residuals_follow_the_model),
        cmocka_unit_test(what_is_kept_is_what_would_be_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
