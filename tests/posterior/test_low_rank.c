/* SPDX-License-Identifier: Apache-2.0 */
/* Posteriors of low rank, made by hand in both forms: everything one can ask of a posterior, against matrices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "posterior/support.h"

#include "linalg/linalg.h"

enum {
    N = 36,
    D = 2,
    RANK = 7
};

/* A projection on actions A: S = A (A'(K + D)A)^-1 A', t = S (z - m), all as full matrices. */
typedef struct projection {
    naive_gp gp;
    size_t rank;
    double *a;       /* N x rank, row-major */
    double *inverse; /* of A'(K + D)A */
    double *s;       /* N x N */
    double *t;
} projection;

/* Block actions have one entry in a row, dense ones all. Reading l belongs to block (5 l + 3) % rank. */
static double action(bool blocks, size_t rank, size_t l, size_t column)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, l * rank + column);
    double value = hfi_stream_normal(&stream);
    return !blocks || (5 * l + 3) % rank == column ? value : 0.0;
}

/* Gram-Schmidt over the columns, so that the condition of random actions does not enter. */
static void orthonormalise(size_t rank, double *a)
{
    for (size_t c = 0; c < rank; c++) {
        double norm = 0.0;
        for (size_t b = 0; b < c; b++) {
            double along = 0.0;
            for (size_t l = 0; l < N; l++) along += a[l * rank + b] * a[l * rank + c];
            for (size_t l = 0; l < N; l++) a[l * rank + c] -= along * a[l * rank + b];
        }
        for (size_t l = 0; l < N; l++) norm += a[l * rank + c] * a[l * rank + c];
        for (size_t l = 0; l < N; l++) a[l * rank + c] /= sqrt(norm);
    }
}

static projection project(const problem *p, bool blocks, size_t rank)
{
    projection q = {.gp = problem_naive(p), .rank = rank};
    double *g = naive_zeros(rank * rank);
    q.a = naive_zeros(N * rank);
    q.s = naive_zeros(N * N);
    q.t = naive_zeros(N);
    for (size_t l = 0; l < N; l++)
        for (size_t c = 0; c < rank; c++) q.a[l * rank + c] = action(blocks, rank, l, c);
    orthonormalise(rank, q.a); /* blocks are orthogonal as they are */
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t b = 0; b < rank; b++)
                for (size_t c = 0; c < rank; c++)
                    g[b * rank + c] += q.a[i * rank + b] * q.gp.a[i * N + j] * q.a[j * rank + c];
    q.inverse = naive_inverse(rank, g, NULL);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t b = 0; b < rank; b++)
                for (size_t c = 0; c < rank; c++)
                    q.s[i * N + j] += q.a[i * rank + b] * q.inverse[b * rank + c] * q.a[j * rank + c];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) q.t[i] += q.s[i * N + j] * q.gp.residual[j];
    free(g);
    return q;
}

static void project_free(projection *q)
{
    naive_free(&q->gp);
    free(q->a);
    free(q->inverse);
    free(q->s);
    free(q->t);
}

static double reference_mean(const projection *q, const double *x)
{
    double value;
    hf_mean_evaluate(q->gp.mean, 1, x, D, &value);
    for (size_t i = 0; i < N; i++)
        value += hfi_kernel_value(q->gp.kernel, x, q->gp.x + i * D, false) * q->t[i];
    return value;
}

static double reference_covariance(const projection *q, const double *x, const double *z, bool same)
{
    double value = hfi_kernel_value(q->gp.kernel, x, z, same);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            value -= hfi_kernel_value(q->gp.kernel, x, q->gp.x + i * D, false) * q->s[i * N + j] *
                     hfi_kernel_value(q->gp.kernel, z, q->gp.x + j * D, false);
    return value;
}

/* L of A'(K + D)A as a column-major lower triangle. */
static void factor_into(const projection *q, double *l)
{
    double *g = naive_inverse(q->rank, q->inverse, NULL);
    for (size_t i = 0; i < q->rank; i++)
        for (size_t j = 0; j < q->rank; j++) l[i + j * q->rank] = i >= j ? g[i * q->rank + j] : 0.0;
    assert_int_equal(hfi_chol(NULL, q->rank, l, q->rank), HF_OK);
    free(g);
}

/* The solution as a solver would leave it. `readings`: false makes it look like the inducing solver's. */
static hfi_solution solution_of(hf_context *ctx, const problem *p, const projection *q, bool blocks,
                                bool readings)
{
    hfi_solution s;
    assert_int_equal(hfi_solution_alloc_low_rank(ctx, blocks ? HFI_FORM_BLOCKS : HFI_FORM_DENSE, N, D,
                                                 q->rank, readings, &s),
                     HF_OK);
    s.solver = readings ? HF_SOLVER_PROJECTED : HF_SOLVER_INDUCING;
    memcpy(s.z, p->x, N * D * sizeof *s.z);
    memcpy(s.t, q->t, N * sizeof *s.t);
    double *l = naive_zeros(q->rank * q->rank);
    factor_into(q, l);
    for (size_t i = 0; i < N; i++) {
        if (readings) {
            s.residual[i] = q->gp.residual[i];
            s.variance[i] = hf_sites_variances(p->sites)[i];
        }
        if (blocks) {
            s.block[i] = (5 * i + 3) % q->rank;
            s.entry[i] = q->a[i * q->rank + s.block[i]];
            continue;
        }
        /* Row i of A L^-T is L^-1 times row i of A. */
        double *row = naive_zeros(q->rank);
        memcpy(row, q->a + i * q->rank, q->rank * sizeof *row);
        hfi_chol_forward(q->rank, l, q->rank, row);
        for (size_t c = 0; c < q->rank; c++) s.r[i + c * N] = row[c];
        free(row);
    }
    if (blocks) memcpy(s.factor, l, q->rank * q->rank * sizeof *l);
    free(l);
    return s;
}

static hf_posterior *posterior_of(hf_context *ctx, const problem *p, const projection *q, bool blocks,
                                  bool readings, const hfi_scaling *scaling)
{
    hfi_solution s = solution_of(ctx, p, q, blocks, readings);
    hf_posterior *posterior = NULL;
    assert_int_equal(hfi_posterior_create(ctx, p->kernel, p->mean, &s, scaling, p->noise, 1.5, &posterior),
                     HF_OK);
    return posterior;
}

static const char *const KERNELS[] = {"matern52(ard)", "se + 0.3*linear", "matern32(ard) + 0.2*white"};
enum {
    KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS
};

/* One point, many points, the joint distribution: all as the matrices say, in the user's units. */
static void everything_equals_the_matrices(void **state)
{
    (void)state;
    enum {
        M = 75
    };
    hf_context *ctx = problem_context(2);
    hfi_scaling scaling = support_scaling(ctx, D);
    const double unit = scaling.y_scale * scaling.y_scale;
    for (size_t k = 0; k < 2 * KERNEL_COUNT; k++) {
        bool blocks = k % 2 == 0;
        problem p = problem_make(ctx, KERNELS[k / 2], N, D, 0.05);
        projection q = project(&p, blocks, RANK);
        hf_posterior *posterior = posterior_of(ctx, &p, &q, blocks, k != 3, &scaling);
        hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, posterior);
        double *z = problem_inputs(M, D, 31), x[M * D], means[M], latent[M], observed[M];
        double *c = naive_zeros(M * M);
        memcpy(z, p.x, D * sizeof *z); /* an anchor's own place, too */
        for (size_t i = 0; i < M; i++) support_to_user(&scaling, z + i * D, x + i * D);
        assert_int_equal(hf_predict(ctx, posterior, M, x, D, means, latent, observed), HF_OK);
        assert_int_equal(hf_predict_covariance(ctx, posterior, M, x, D, c, M), HF_OK);
        for (size_t i = 0; i < M; i++) {
            double mean, var, seen;
            assert_int_equal(hf_predict_latent(posterior, w, x + i * D, &mean, &var, NULL, NULL), HF_OK);
            assert_int_equal(hf_predict_observed(posterior, w, x + i * D, NULL, &seen, NULL, NULL), HF_OK);
            assert_near((mean - scaling.y_shift) / scaling.y_scale, reference_mean(&q, z + i * D), 1e-10);
            assert_near(var / unit, reference_covariance(&q, z + i * D, z + i * D, true), 1e-10);
            assert_near(seen, 1.5 * (var + 0.05 * unit), 1e-11);
            assert_near(means[i], mean, 1e-11);
            assert_near(latent[i], var, 1e-11 * unit);
            assert_near(observed[i], seen, 1e-11 * unit);
            assert_near(c[i * M + i], var, 1e-11 * unit);
            for (size_t j = 0; j < i; j += 11)
                assert_near(c[i * M + j] / unit, reference_covariance(&q, z + i * D, z + j * D, false),
                            1e-10);
        }
        free(z);
        free(c);
        hf_posterior_workspace_free(w);
        hf_posterior_free(posterior);
        project_free(&q);
        problem_free(&p);
    }
    hfi_scaling_free(&scaling);
    hf_context_free(ctx);
}

static void gradients_are_derivatives(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    hfi_scaling scaling = support_scaling(ctx, D);
    for (size_t k = 0; k < 2 * KERNEL_COUNT; k++) {
        problem p = problem_make(ctx, KERNELS[k / 2], N, D, 0.1);
        projection q = project(&p, k % 2 == 0, RANK);
        hf_posterior *posterior = posterior_of(ctx, &p, &q, k % 2 == 0, true, &scaling);
        hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, posterior);
        double *points = problem_inputs(6, D, 23), x[D], gm[D], gv[D];
        for (size_t i = 0; i < 6; i++) {
            support_to_user(&scaling, points + i * D, x);
            assert_int_equal(hf_predict_observed(posterior, w, x, NULL, NULL, gm, gv), HF_OK);
            for (size_t j = 0; j < D; j++) {
                double h = 1e-5 * scaling.x_scale[j], at = x[j], mean[2], var[2];
                for (int side = 0; side < 2; side++) {
                    x[j] = side == 0 ? at - h : at + h;
                    assert_int_equal(
                        hf_predict_observed(posterior, w, x, mean + side, var + side, NULL, NULL), HF_OK);
                }
                x[j] = at;
                double size = scaling.y_scale / scaling.x_scale[j];
                assert_near((mean[1] - mean[0]) / (2.0 * h), gm[j], 2e-8 * size);
                assert_near((var[1] - var[0]) / (2.0 * h), gv[j], 3e-8 * size * scaling.y_scale);
            }
        }
        free(points);
        hf_posterior_workspace_free(w);
        hf_posterior_free(posterior);
        project_free(&q);
        problem_free(&p);
    }
    hfi_scaling_free(&scaling);
    hf_context_free(ctx);
}

/* As many actions as readings: the exact posterior. Fewer: never less variance than it. */
static void the_exact_posterior_is_the_limit(void **state)
{
    (void)state;
    enum {
        M = 60
    };
    hf_context *ctx = problem_context(2);
    hfi_scaling scaling;
    assert_int_equal(hfi_scaling_identity(ctx, D, &scaling), HF_OK);
    for (size_t k = 0; k < 2 * KERNEL_COUNT; k++) {
        bool blocks = k % 2 == 0;
        problem p = problem_make(ctx, KERNELS[k / 2], N, D, 0.05);
        hf_posterior *exact = support_solve(&p);
        double *x = problem_inputs(M, D, 77), mean[M], var[M], mean_exact[M], var_exact[M], missing[M];
        assert_int_equal(hf_predict(ctx, exact, M, x, D, mean_exact, var_exact, NULL), HF_OK);
        for (size_t rank = 1; rank <= N; rank += 5) { /* 1, 6, ..., 36 */
            projection q = project(&p, blocks, rank);
            hf_posterior *posterior = posterior_of(ctx, &p, &q, blocks, true, &scaling);
            assert_int_equal(hf_predict(ctx, posterior, M, x, D, mean, var, NULL), HF_OK);
            assert_int_equal(hf_predict_computational(ctx, posterior, M, x, D, missing), HF_OK);
            for (size_t i = 0; i < M; i++) {
                assert_true(var[i] >= var_exact[i] - 1e-12);
                assert_true(missing[i] >= 0.0);
                assert_near(missing[i], fmax(0.0, var[i] - var_exact[i]), 1e-11);
                if (rank == N) assert_near(var[i], var_exact[i], 1e-10);
                if (rank == N) assert_near(mean[i], mean_exact[i], 1e-9);
            }
            hf_posterior_free(posterior);
            project_free(&q);
        }
        assert_int_equal(hf_predict_computational(ctx, exact, M, x, D, missing), HF_OK);
        for (size_t i = 0; i < M; i++) assert_true(missing[i] == 0.0);
        free(x);
        hf_posterior_free(exact);
        problem_free(&p);
    }
    hfi_scaling_free(&scaling);
    hf_context_free(ctx);
}

/* User units and threads: the share of the variance that is computational has no unit and no digit to lose. */
static void the_computational_part_has_the_users_units(void **state)
{
    (void)state;
    enum {
        M = 300
    };
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", N, D, 0.05);
    projection q = project(&p, false, RANK);
    hfi_scaling plain, scaling = support_scaling(ctx, D);
    assert_int_equal(hfi_scaling_identity(ctx, D, &plain), HF_OK);
    hf_posterior *one = posterior_of(ctx, &p, &q, false, true, &plain),
                 *two = posterior_of(ctx, &p, &q, false, true, &scaling);
    double *z = problem_inputs(M, D + 1, 9), x[M * D], scaled[M], user[M], threads[M];
    for (size_t i = 0; i < M; i++) support_to_user(&scaling, z + i * (D + 1), x + i * D);
    assert_int_equal(hf_predict_computational(ctx, one, M, z, D + 1, scaled), HF_OK);
    assert_int_equal(hf_predict_computational(ctx, two, M, x, D, user), HF_OK);
    assert_int_equal(hf_context_set_threads(ctx, 3), HF_OK);
    assert_int_equal(hf_predict_computational(ctx, two, M, x, D, threads), HF_OK);
    assert_memory_equal(user, threads, sizeof user);
    for (size_t i = 0; i < M; i++) assert_near(user[i], scaled[i] * scaling.y_scale * scaling.y_scale, 1e-10);
    free(z);
    hf_posterior_free(one);
    hf_posterior_free(two);
    hfi_scaling_free(&plain);
    hfi_scaling_free(&scaling);
    project_free(&q);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Whitened draws have mean 0 and covariance 1 to within 5 standard errors. */
static void samples_have_the_right_moments(void **state)
{
    (void)state;
    enum {
        M = 3,
        COUNT = 10000
    };
    hf_context *ctx = problem_context(2);
    hfi_scaling scaling = support_scaling(ctx, D);
    for (int blocks = 0; blocks < 2; blocks++) {
        problem p = problem_make(ctx, "matern32(ard)", N, D, 0.3);
        projection q = project(&p, blocks == 1, RANK);
        hf_posterior *posterior = posterior_of(ctx, &p, &q, blocks == 1, blocks == 1, &scaling);
        double *x = problem_inputs(M, D, 53), mean[M], c[M * M], *s = naive_zeros(COUNT * M);
        for (size_t i = 0; i < M; i++) support_to_user(&scaling, x + i * D, x + i * D);
        assert_int_equal(hf_predict(ctx, posterior, M, x, D, mean, NULL, NULL), HF_OK);
        assert_int_equal(hf_predict_covariance(ctx, posterior, M, x, D, c, M), HF_OK);
        assert_int_equal(hf_sample(ctx, posterior, M, x, D, COUNT, 0, s), HF_OK);
        assert_int_equal(hfi_chol(ctx, M, c, M), HF_OK);
        double first[M] = {0.0}, second[M][M] = {{0.0}}, root = sqrt((double)COUNT);
        for (size_t k = 0; k < COUNT; k++) {
            double u[M];
            for (size_t i = 0; i < M; i++) u[i] = s[k * M + i] - mean[i];
            hfi_chol_forward(M, c, M, u);
            for (size_t i = 0; i < M; i++) {
                first[i] += u[i] / COUNT;
                for (size_t j = 0; j < M; j++) second[i][j] += u[i] * u[j] / COUNT;
            }
        }
        for (size_t i = 0; i < M; i++) {
            assert_near(first[i], 0.0, 5.0 / root);
            for (size_t j = 0; j < M; j++) assert_near(second[i][j], i == j, (i == j ? 7.1 : 5.0) / root);
        }
        free(s);
        free(x);
        hf_posterior_free(posterior);
        project_free(&q);
        problem_free(&p);
    }
    hfi_scaling_free(&scaling);
    hf_context_free(ctx);
}

static void assert_refused(hf_context *ctx, hf_status status, const char *hint)
{
    assert_int_equal(status, HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "needs the exact solver"));
    assert_non_null(strstr(hf_context_message(ctx), hint));
}

/* A function about readings as anchors says that it needs the exact solver, and what to do instead. */
static void refuses_what_needs_the_exact_solver(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard)", N, D, 0.05);
    hfi_scaling scaling;
    assert_int_equal(hfi_scaling_identity(ctx, D, &scaling), HF_OK);
    for (int kind = 0; kind < 3; kind++) {
        bool blocks = kind == 0, readings = kind != 2;
        projection q = project(&p, blocks, RANK);
        hf_posterior *posterior = posterior_of(ctx, &p, &q, blocks, readings, &scaling);
        double x[D] = {0.1, 0.2}, out[2 * N] = {5.0}, backward = 6.0;
        assert_int_equal(hf_posterior_solver(posterior), readings ? HF_SOLVER_PROJECTED : HF_SOLVER_INDUCING);
        assert_int_equal(hf_posterior_rank(posterior), RANK);
        assert_int_equal(hf_posterior_anchors(posterior), N);
        const hf_solve_report *report = hf_posterior_report_of(posterior);
        assert_true(isnan(report->log_evidence) && report->bytes > 8.0 * N && report->bytes < 8.0 * N * N);
        assert_refused(ctx, hf_leave_one_out(ctx, posterior, out, out + N), "hf_model_rows");
        assert_refused(ctx, hf_influence_of_removal(ctx, posterior, out), "hf_influence()");
        assert_refused(ctx, hf_posterior_add(ctx, posterior, x, 1.0, 1.0), "solve again");
        assert_refused(ctx, hf_posterior_remove(ctx, posterior, 0), "solve again");
        assert_refused(ctx, hf_posterior_replace(ctx, posterior, 0, 1.0, 1.0), "solve again");
        assert_refused(ctx, hf_posterior_backward_error(ctx, posterior, &backward), "drift");
        assert_refused(ctx, hf_posterior_refresh(ctx, posterior), "drift");
        if (!readings) {
            assert_int_equal(hf_predict_computational(ctx, posterior, 1, x, D, out), HF_ERR_ARGUMENT);
            assert_non_null(strstr(hf_context_message(ctx), "projection"));
            assert_int_equal(hf_influence(ctx, posterior, 0, 1.0, 1.0, out), HF_ERR_ARGUMENT);
            assert_non_null(strstr(hf_context_message(ctx), "hf_influence_inducing()"));
            assert_int_equal(hf_predict_worst_case(ctx, posterior, 1, x, D, out, NULL), HF_ERR_ARGUMENT);
            assert_non_null(strstr(hf_context_message(ctx), "worst case"));
            hf_projection_error error = {.rho = 77.0};
            assert_int_equal(hf_projected_error(ctx, posterior, true, &error), HF_ERR_ARGUMENT);
            assert_true(error.rho == 77.0);
        }
        assert_true(out[0] == 5.0 && backward == 6.0);
        hf_posterior_free(posterior);
        project_free(&q);
    }
    hfi_scaling_free(&scaling);
    problem_free(&p);
    hf_context_free(ctx);
}

static bool stop_at_once(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)done;
    (void)value;
    (void)user;
    return false;
}

static void the_computational_part_fails_cleanly(void **state)
{
    (void)state;
    bool done = false;
    for (size_t fail = 1; !done; fail++) {
        counter count = {0};
        hf_context *ctx = counter_context(&count);
        problem p = problem_make(ctx, "matern52(ard)", N, D, 0.05);
        projection q = project(&p, true, RANK);
        hfi_scaling scaling;
        assert_int_equal(hfi_scaling_identity(ctx, D, &scaling), HF_OK);
        hf_posterior *posterior = posterior_of(ctx, &p, &q, true, true, &scaling);
        double x[2 * D] = {0.1, 0.2, 0.3, 0.4}, var[2] = {-5.0, -5.0};
        assert_int_equal(hf_predict_computational(ctx, NULL, 2, x, D, var), HF_ERR_ARGUMENT);
        assert_int_equal(hf_predict_computational(ctx, posterior, 2, x, D, NULL), HF_ERR_ARGUMENT);
        assert_int_equal(hf_predict_computational(ctx, posterior, 2, x, D - 1, var), HF_ERR_DIMENSION);
        assert_int_equal(hf_predict_computational(ctx, posterior, 0, NULL, D, NULL), HF_OK);
        hf_context_set_progress(ctx, stop_at_once, NULL);
        assert_int_equal(hf_predict_computational(ctx, posterior, 2, x, D, var), HF_ERR_CANCELLED);
        hf_context_set_progress(ctx, NULL, NULL);
        x[3] = NAN;
        assert_int_equal(hf_predict_computational(ctx, posterior, 2, x, D, var), HF_ERR_NOT_FINITE);
        x[3] = 0.4;
        assert_true(var[0] == -5.0);
        long live = count.live;
        count.fail = count.calls + fail;
        hf_status status = hf_predict_computational(ctx, posterior, 2, x, D, var);
        count.fail = 0;
        done = status == HF_OK;
        assert_true(done ? var[0] >= 0.0 : status == HF_ERR_MEMORY && var[0] == -5.0);
        assert_int_equal(count.live, live);
        hf_posterior_free(posterior);
        hfi_scaling_free(&scaling);
        project_free(&q);
        problem_free(&p);
        hf_context_free(ctx);
        assert_int_equal(count.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_equals_the_matrices),
        cmocka_unit_test(gradients_are_derivatives),
        cmocka_unit_test(the_exact_posterior_is_the_limit),
        cmocka_unit_test(the_computational_part_has_the_users_units),
        cmocka_unit_test(samples_have_the_right_moments),
        cmocka_unit_test(refuses_what_needs_the_exact_solver),
        cmocka_unit_test(the_computational_part_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
