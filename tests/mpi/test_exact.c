/* SPDX-License-Identifier: Apache-2.0 */
/* Exact evaluations and solves by several processes against those of one. */
#include "core/context_impl.h"
#include "mpi/processes.h"

#include "core/assert_near.h"
#include "mean/failing_allocator.h"
#include "objective/evaluator.h"
#include "solver/exact_grid.h"
#include <math.h>

#include <stdio.h>

enum {
    N = 210,
    D = 2,
    MOST = 32
};

typedef struct fixture {
    hf_context *together, *alone;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    double x[N * D], y[N];
} fixture;

static void make(fixture *f, const char *expression, hf_mean_kind mean, bool robust)
{
    double extra[N], centre[N];
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 1);
    memset(f, 0, sizeof *f);
    f->together = processes_join();
    f->alone = hf_context_create();
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) f->x[i * D + j] = 6.0 * hfi_stream_uniform(&stream) - 3.0;
        f->y[i] = sin(2.0 * f->x[i * D]) + 0.3 * f->x[i * D + 1] + 0.1 * hfi_stream_normal(&stream);
        extra[i] = i % 4 == 0 ? 0.05 : 0.0;
        centre[i] = 0.2 * f->x[i * D];
    }
    f->y[3] += 4.0;
    f->y[77] = NAN;
    assert_int_equal(hf_kernel_parse(f->alone, expression, NULL, D, &f->kernel), HF_OK);
    assert_int_equal(hf_mean_create(f->alone, mean, D, &f->mean), HF_OK);
    const double b[D + 1] = {0.3, -0.2, 0.1};
    assert_int_equal(hf_mean_set(f->alone, f->mean, b, false), HF_OK);
    if (robust)
        assert_int_equal(hf_sites_robust(f->alone, N, f->y, 0.07, extra, centre, 0.8, &f->sites), HF_OK);
    else
        assert_int_equal(hf_sites_gaussian(f->alone, N, f->y, 0.07, extra, &f->sites), HF_OK);
    f->together->shared_factor = 1;
}

static void drop(fixture *f)
{
    hf_sites_free(f->sites);
    hf_mean_free(f->mean);
    hf_kernel_free(f->kernel);
    hf_context_free(f->together);
    hf_context_free(f->alone);
}

static hf_status start(const fixture *f, hf_context *ctx, bool group, hfi_evaluator *e)
{
    const hf_status s = group ? hfi_evaluator_init_group(ctx, e, true, N, D, f->x, D)
                              : hfi_evaluator_init(ctx, e, true, N, D, f->x, D);
    e->kernel = f->kernel;
    e->mean = f->mean;
    e->sites = f->sites;
    return s < 0 ? s : hfi_evaluator_select(e);
}

/* Both evaluators at one state; the gradient of one objective, relative to its largest entry. */
static void compare(const fixture *f, hfi_evaluator *shared, hfi_evaluator *local, hf_objective objective)
{
    const size_t count = hf_kernel_parameters(f->kernel) + hf_mean_coefficients(f->mean) + 1;
    double value[3] = {0.0}, gradient[2][MOST];
    assert_true(count <= MOST);
    const hf_status status[3] = {hfi_evaluator_run(shared, objective, &value[0], gradient[0]),
                                 hfi_evaluator_run(local, objective, &value[1], gradient[1]),
                                 hfi_evaluator_run(shared, objective, &value[2], NULL)};
    double largest = 1.0;
    for (size_t p = 0; p < count; p++) largest = fmax(largest, fabs(gradient[1][p]));
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(status[k], HF_OK);
        assert_near(value[k], value[1], 1e-11 * (1.0 + fabs(value[1])));
    }
    for (size_t p = 0; p < count; p++) assert_near(gradient[0][p], gradient[1][p], 1e-10 * largest);
}

static void compare_curvature(const fixture *f, hfi_evaluator *shared, hfi_evaluator *local,
                              hf_objective objective)
{
    const size_t count = hf_kernel_parameters(f->kernel) + hf_mean_coefficients(f->mean) + 1;
    double value = 0.0, gradient[MOST], matrix[2][MOST * MOST], largest = 0.0;
    hfi_evaluator *const both[] = {shared, local};
    for (size_t k = 0; k < 2; k++) {
        const hf_status ran = hfi_evaluator_run(both[k], objective, &value, gradient);
        assert_int_equal(ran, HF_OK);
        const hf_status found = hfi_evaluator_curvature(both[k], objective, matrix[k]);
        assert_int_equal(found, HF_OK);
    }
    for (size_t p = 0; p < count; p++) largest = fmax(largest, fabs(matrix[1][p + p * count]));
    assert_true(largest > 0.0);
    for (size_t p = 0; p < count * count; p++) assert_near(matrix[0][p], matrix[1][p], 1e-10 * largest);
}

static void check(const char *expression, hf_mean_kind mean, bool robust)
{
    fixture f;
    hfi_evaluator shared, local;
    make(&f, expression, mean, robust);
    const hf_status started = start(&f, f.together, true, &shared);
    assert_int_equal(started, HF_OK);
    assert_int_equal(start(&f, f.alone, false, &local), HF_OK);
    assert_null(shared.a);
    for (int o = 0; o < 3; o++) {
        compare(&f, &shared, &local, (hf_objective)o);
        compare_curvature(&f, &shared, &local, (hf_objective)o);
    }
    /* and with fewer readings, in the same room */
    for (size_t i = 0; i < N; i++)
        if (i % 3 == 0) assert_int_equal(hf_sites_set_present(f.alone, f.sites, i, false), HF_OK);
    assert_int_equal(hfi_evaluator_select(&shared), HF_OK);
    assert_int_equal(hfi_evaluator_select(&local), HF_OK);
    for (int o = 0; o < 3; o++) compare(&f, &shared, &local, (hf_objective)o);
    hfi_evaluator_free(&shared);
    hfi_evaluator_free(&local);
    drop(&f);
}

static void evaluations_are_those_of_one(void **state)
{
    (void)state;
    check("matern52(ard)", HF_MEAN_CONSTANT, false);
    check("matern52(ard)", HF_MEAN_LINEAR, true);
    check("se*periodic(x1) + linear + white", HF_MEAN_ZERO, true);
}

/* The public call takes the way of several processes by itself, from the order on that pays. */
static void the_public_call(void **state)
{
    (void)state;
    fixture f;
    double value[2] = {0.0}, gradient[2][MOST];
    make(&f, "matern32", HF_MEAN_CONSTANT, true);
    const hf_status shared = hf_objective_evaluate(f.together, HF_OBJECTIVE_WLOO, f.kernel, f.mean, f.sites,
                                                   f.x, D, &value[0], gradient[0]);
    assert_int_equal(shared, HF_OK);
    assert_int_equal(hf_objective_evaluate(f.alone, HF_OBJECTIVE_WLOO, f.kernel, f.mean, f.sites, f.x, D,
                                           &value[1], gradient[1]),
                     HF_OK);
    assert_near(value[0], value[1], 1e-10 * fabs(value[1]));
    for (size_t p = 0; p < hf_kernel_parameters(f.kernel) + 2; p++)
        assert_near(gradient[0][p], gradient[1][p], 1e-9 * (1.0 + fabs(gradient[1][p])));
    assert_int_equal(hfi_grid_wanted(f.together, 1), hfi_group_size(f.together) > 1);
    f.together->shared_factor = 0;
    assert_false(hfi_grid_wanted(f.together, N));
    assert_false(hfi_grid_wanted(f.alone, 1000000));
    drop(&f);
}

static void solutions_are_those_of_one(void **state)
{
    (void)state;
    fixture f;
    hfi_solution shared, local;
    make(&f, "matern52(ard) + 0.1*white", HF_MEAN_LINEAR, true);
    const hf_status solved = hfi_exact_solve(f.together, f.kernel, f.mean, f.sites, D, f.x, D, &shared);
    assert_int_equal(solved, HF_OK);
    assert_int_equal(hfi_exact_solve(f.alone, f.kernel, f.mean, f.sites, D, f.x, D, &local), HF_OK);
    assert_int_equal(shared.n, local.n);
    assert_near(shared.log_det, local.log_det, 1e-10 * fabs(local.log_det));
    for (size_t i = 0; i < local.n; i++) {
        assert_near(shared.t[i], local.t[i], 1e-10 * (1.0 + fabs(local.t[i])));
        for (size_t j = 0; j <= i; j++)
            assert_near(shared.factor[i + j * shared.capacity], local.factor[i + j * local.capacity], 1e-11);
    }
    hfi_solution_free(&shared);
    hfi_solution_free(&local);
    drop(&f);
}

/* Readings at one place without noise to speak of: the same jitter, the same warning. */
static void jitter(void **state)
{
    (void)state;
    fixture f;
    hfi_evaluator shared, local;
    double value[2] = {0.0};
    make(&f, "se(lengthscale~50)", HF_MEAN_ZERO, false);
    hf_sites_free(f.sites);
    assert_int_equal(hf_sites_gaussian(f.alone, N, f.y, 1e-18, NULL, &f.sites), HF_OK);
    const hf_status started = start(&f, f.together, true, &shared);
    assert_int_equal(started, HF_OK);
    assert_int_equal(start(&f, f.alone, false, &local), HF_OK);
    const hf_status status = hfi_evaluator_run(&shared, HF_OBJECTIVE_EVIDENCE, &value[0], NULL);
    assert_int_equal(status, HF_WARN_JITTER);
    assert_int_equal(hfi_evaluator_run(&local, HF_OBJECTIVE_EVIDENCE, &value[1], NULL), HF_WARN_JITTER);
    assert_true(shared.jitter == local.jitter);
    assert_near(value[0], value[1], 1e-4 * fabs(value[1]));
    hfi_evaluator_free(&shared);
    hfi_evaluator_free(&local);
    drop(&f);
}

static void what_is_not_finite(void **state)
{
    (void)state;
    fixture f;
    hfi_evaluator shared;
    double value = 0.25;
    make(&f, "linear", HF_MEAN_ZERO, false);
    f.x[(N - 1) * D] = 1e200;
    const hf_status started = start(&f, f.together, true, &shared);
    const hf_status status = hfi_evaluator_run(&shared, HF_OBJECTIVE_EVIDENCE, &value, NULL);
    assert_int_equal(started, HF_OK);
    assert_int_equal(status, HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(f.together), "not finite"));
    assert_true(value == 0.25);
    hfi_evaluator_free(&shared);
    drop(&f);
}

/* One call to be swept. */
typedef hf_status (*poor_call)(const fixture *f, hf_context *poor);

static hf_status poor_evaluation(const fixture *f, hf_context *poor)
{
    double value = 0.25, gradient[MOST];
    hfi_evaluator e;
    hf_status status = start(f, poor, true, &e);
    if (status >= 0) status = hfi_evaluator_run(&e, HF_OBJECTIVE_LOO, &value, gradient);
    hfi_evaluator_free(&e);
    return status < 0 && value != 0.25 ? HF_ERR_INTERNAL : status;
}

static hf_status poor_solve(const fixture *f, hf_context *poor)
{
    hfi_solution s;
    poor->shared_factor = 1;
    const hf_status status = hfi_exact_solve(poor, f->kernel, f->mean, f->sites, D, f->x, D, &s);
    hfi_solution_free(&s);
    return status;
}

/* The last process has no memory for one thing after the other: all of them hear of it, and nobody waits. */
static void sweep(poor_call call)
{
    fixture f;
    make(&f, "matern52(ard)", HF_MEAN_CONSTANT, true);
    const bool last = hfi_group_rank(f.together) + 1 == hfi_group_size(f.together);
    bool whole = false;
    for (size_t k = 2; !whole; k++) { /* the first allocation is the context */
        failing_allocator memory = {.fail_at = last ? k : 0};
        const hf_allocator allocator = {
            .allocate = failing_allocate, .release = failing_release, .user = &memory};
        hf_context *poor = hf_context_create_with(&allocator), *rich = f.together;
        processes_join_with(poor);
        assert_int_equal(hf_context_set_threads(poor, 1), HF_OK);
        const hf_status status = call(&f, poor);
        hf_context_free(poor);
        whole = status == HF_OK;
        double agreed = whole ? 1.0 : 0.0;
        const hf_status summed = hfi_group_sum(rich, 1, &agreed);
        assert_int_equal(summed, HF_OK);
        assert_true(agreed == (whole ? (double)hfi_group_size(rich) : 0.0));
        assert_true(whole || status == HF_ERR_MEMORY);
        assert_int_equal(memory.held, 0);
        assert_in_range(k, 2, 100);
    }
    drop(&f);
}

static void memory_of_one(void **state)
{
    (void)state;
    sweep(poor_evaluation);
    sweep(poor_solve);
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluations_are_those_of_one), cmocka_unit_test(the_public_call),
        cmocka_unit_test(solutions_are_those_of_one),   cmocka_unit_test(jitter),
        cmocka_unit_test(what_is_not_finite),           cmocka_unit_test(memory_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return processes_run(run);
}
