/* SPDX-License-Identifier: Apache-2.0 */
/* Leave-one-out and influence against refits and against the divergence of the whole vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/support.h"

enum {
    INPUTS = 2,
    N = 18
};

/* Readings with a few gross errors, as robust sites around zero. */
static problem contaminated(hf_context *ctx, const char *kernel, double gross)
{
    problem p = problem_make(ctx, kernel, N, INPUTS, 0.05);
    double centre[N] = {0.0};
    p.y[3] += gross;
    p.y[11] -= gross;
    hf_sites_free(p.sites);
    assert_int_equal(hf_sites_robust(ctx, N, p.y, p.noise, p.extra, centre, 1.5, &p.sites), HF_OK);
    return p;
}

/* The same readings without one of them, and with none of the others changed. */
static hf_posterior *refit_without(const problem *p, size_t out)
{
    hf_sites *kept = p->sites, *without = NULL;
    assert_int_equal(hf_sites_copy(p->ctx, kept, &without), HF_OK);
    assert_int_equal(hf_sites_set_present(p->ctx, without, out, false), HF_OK);
    problem q = *p;
    q.sites = without;
    hf_posterior *posterior = support_solve(&q);
    hf_sites_free(without);
    return posterior;
}

static void leave_one_out_equals_refits(void **state)
{
    (void)state;
    static const char *const kernels[] = {"matern52(ard)", "se + linear + 0.1*white"};
    static const double gross[] = {0.0, 30.0, 1e4, 1e12};
    hf_context *ctx = problem_context(2);
    for (size_t k = 0; k < 2; k++)
        for (size_t g = 0; g < 4; g++) {
            problem p = contaminated(ctx, kernels[k], gross[g]);
            hf_posterior *posterior = support_solve(&p);
            double mean[N], var[N];
            assert_int_equal(hf_leave_one_out(ctx, posterior, mean, var), HF_OK);
            for (size_t i = 0; i < N; i++) {
                hf_posterior *refit = refit_without(&p, i);
                hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, refit);
                double m, v;
                assert_int_equal(hf_predict_latent(refit, w, p.x + i * INPUTS, &m, &v, NULL, NULL), HF_OK);
                assert_near(mean[i], m, 1e-9);
                assert_near(var[i], v, 1e-9);
                hf_posterior_workspace_free(w);
                hf_posterior_free(refit);
            }
            hf_posterior_free(posterior);
            problem_free(&p);
        }
    hf_context_free(ctx);
}

static void leave_one_out_in_user_units(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = contaminated(ctx, "matern52(ard)", 5.0);
    hf_posterior *plain = support_solve(&p), *scaled = support_scaled(&p, 1.3);
    const hfi_scaling *scaling = &scaled->scaling;
    double a[N], av[N], b[N], bv[N], alone[N], removal[N], removal_scaled[N];
    assert_int_equal(hf_leave_one_out(ctx, plain, a, av), HF_OK);
    assert_int_equal(hf_leave_one_out(ctx, scaled, b, bv), HF_OK);
    assert_int_equal(hf_leave_one_out(ctx, scaled, alone, NULL), HF_OK);
    assert_int_equal(hf_influence_of_removal(ctx, plain, removal), HF_OK);
    assert_int_equal(hf_influence_of_removal(ctx, scaled, removal_scaled), HF_OK);
    assert_memory_equal(alone, b, sizeof b);
    for (size_t i = 0; i < N; i++) {
        double kl, kl_scaled, unit = scaling->y_scale * scaling->y_scale;
        assert_near(b[i], a[i] * scaling->y_scale + scaling->y_shift, 1e-11);
        assert_near(bv[i], av[i] * unit, 1e-11);
        /* A divergence has no unit. */
        assert_near(removal[i], removal_scaled[i], 1e-11);
        assert_int_equal(hf_influence(ctx, plain, i, 0.7, 0.4, &kl), HF_OK);
        assert_int_equal(
            hf_influence(ctx, scaled, i, 0.7 * scaling->y_scale + scaling->y_shift, 0.4 * unit, &kl_scaled),
            HF_OK);
        assert_near(kl, kl_scaled, 1e-10 * (1.0 + kl));
    }
    hf_posterior_free(plain);
    hf_posterior_free(scaled);
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- influence against the whole vector ---------------------------------------------------------------- */

typedef struct normal {
    double mean[N], covariance[N * N];
} normal;

/* The posterior of f at the anchors: prior precision plus site precisions, by explicit inverses. */
static normal posterior_at_anchors(const problem *p, const double *target, const double *variance)
{
    normal result;
    double k[N * N], shift[N];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            k[i * N + j] = hfi_kernel_value(p->kernel, p->x + i * INPUTS, p->x + j * INPUTS, i == j);
    double *precision = naive_inverse(N, k, NULL);
    for (size_t i = 0; i < N; i++) {
        double prior;
        hf_mean_evaluate(p->mean, 1, p->x + i * INPUTS, INPUTS, &prior);
        precision[i * N + i] += 1.0 / variance[i];
        shift[i] = isinf(variance[i]) ? 0.0 : (target[i] - prior) / variance[i];
    }
    double *covariance = naive_inverse(N, precision, NULL);
    for (size_t i = 0; i < N; i++) {
        hf_mean_evaluate(p->mean, 1, p->x + i * INPUTS, INPUTS, result.mean + i);
        for (size_t j = 0; j < N; j++) result.mean[i] += covariance[i * N + j] * shift[j];
    }
    memcpy(result.covariance, covariance, sizeof result.covariance);
    free(precision);
    free(covariance);
    return result;
}

/* KL(p || q) of two normal vectors. */
static double divergence(const normal *p, const normal *q)
{
    double det_p, det_q, trace = 0.0, square = 0.0;
    double *inverse = naive_inverse(N, q->covariance, &det_q);
    free(naive_inverse(N, p->covariance, &det_p));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            trace += inverse[i * N + j] * p->covariance[j * N + i];
            square += (p->mean[i] - q->mean[i]) * inverse[i * N + j] * (p->mean[j] - q->mean[j]);
        }
    free(inverse);
    return 0.5 * (trace - (double)N + square + det_q - det_p);
}

static void influence_is_the_divergence_of_the_whole_vectors(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = contaminated(ctx, "matern32(ard)", 8.0);
    hf_posterior *posterior = support_solve(&p);
    double target[N], variance[N], removal[N];
    memcpy(target, hf_sites_targets(p.sites), sizeof target);
    memcpy(variance, hf_sites_variances(p.sites), sizeof variance);
    normal before = posterior_at_anchors(&p, target, variance);
    assert_int_equal(hf_influence_of_removal(ctx, posterior, removal), HF_OK);
    const double targets[] = {0.3, 40.0, -2.0, NAN}, variances[] = {0.5, 0.05, 1e4, INFINITY};
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < 4; k++) {
            double kept_target = target[i], kept_variance = variance[i], kl;
            target[i] = targets[k];
            variance[i] = variances[k];
            normal after = posterior_at_anchors(&p, target, variance);
            double whole = divergence(&before, &after);
            assert_int_equal(hf_influence(ctx, posterior, i, targets[k], variances[k], &kl), HF_OK);
            assert_near(kl, whole, 1e-9 * (1.0 + whole));
            if (k == 3) assert_near(removal[i], kl, 1e-11 * (1.0 + kl));
            target[i] = kept_target;
            variance[i] = kept_variance;
            /* A site replaced by itself changes nothing. */
            assert_int_equal(hf_influence(ctx, posterior, i, target[i], variance[i], &kl), HF_OK);
            assert_near(kl, 0.0, 1e-25);
        }
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

/* The site that a robust, or with an infinite threshold a Gaussian, reading at y makes. */
static double influence_of_moving(const problem *p, const hf_posterior *posterior, size_t i, double y,
                                  double threshold)
{
    double readings[N], centre[N] = {0.0}, kl;
    memcpy(readings, p->y, sizeof readings);
    readings[i] = y;
    hf_sites *moved = NULL;
    assert_int_equal(hf_sites_robust(p->ctx, N, readings, p->noise, p->extra, centre, threshold, &moved),
                     HF_OK);
    assert_int_equal(
        hf_influence(p->ctx, posterior, i, hf_sites_targets(moved)[i], hf_sites_variances(moved)[i], &kl),
        HF_OK);
    hf_sites_free(moved);
    return kl;
}

static void influence_is_bounded_for_robust_sites_only(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = contaminated(ctx, "matern52(ard)", 0.0);
    hf_posterior *posterior = support_solve(&p);
    double removal[N];
    assert_int_equal(hf_influence_of_removal(ctx, posterior, removal), HF_OK);
    for (size_t i = 0; i < N; i += 5) {
        double most = 0.0;
        for (double y = 1.0; y < 1e13; y *= 3.0)
            most = fmax(most, fmax(influence_of_moving(&p, posterior, i, y, 1.5),
                                   influence_of_moving(&p, posterior, i, -y, 1.5)));
        assert_true(most < 100.0);
        /* Far out a robust reading is as good as removed. */
        assert_near(influence_of_moving(&p, posterior, i, 1e12, 1.5), removal[i], 1e-6);
        assert_near(influence_of_moving(&p, posterior, i, 1e300, 1.5), removal[i], 1e-9);
        /* A Gaussian one grows with the square. */
        double at_1e6 = influence_of_moving(&p, posterior, i, 1e6, INFINITY);
        double at_1e9 = influence_of_moving(&p, posterior, i, 1e9, INFINITY);
        assert_true(at_1e6 > 1e6);
        assert_near(at_1e9 / at_1e6, 1e6, 1e2);
    }
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static void bad_arguments(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = contaminated(ctx, "se", 0.0);
    hf_posterior *posterior = support_solve(&p);
    double kl = 3.0, mean[N];
    assert_int_equal(hf_influence(ctx, posterior, N, 0.0, 1.0, &kl), HF_ERR_ARGUMENT);
    assert_int_equal(hf_influence(ctx, posterior, 0, 0.0, 0.0, &kl), HF_ERR_ARGUMENT);
    assert_int_equal(hf_influence(ctx, posterior, 0, 0.0, NAN, &kl), HF_ERR_ARGUMENT);
    assert_int_equal(hf_influence(ctx, posterior, 0, NAN, 1.0, &kl), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_influence(ctx, NULL, 0, 0.0, 1.0, &kl), HF_ERR_ARGUMENT);
    assert_int_equal(hf_influence(ctx, posterior, 0, 0.0, 1.0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_influence_of_removal(ctx, NULL, mean), HF_ERR_ARGUMENT);
    assert_int_equal(hf_influence_of_removal(ctx, posterior, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_leave_one_out(ctx, NULL, mean, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_leave_one_out(ctx, posterior, NULL, NULL), HF_ERR_ARGUMENT);
    assert_true(kl == 3.0);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static void one_reading_and_threads(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "2*se", 1, 1, 0.5);
    hf_posterior *posterior = support_solve(&p);
    double mean, var, prior;
    assert_int_equal(hf_leave_one_out(ctx, posterior, &mean, &var), HF_OK);
    hf_mean_evaluate(p.mean, 1, p.x, 1, &prior);
    assert_near(mean, prior, 1e-14); /* nobody is left but the prior */
    assert_near(var, 2.0, 1e-14);
    hf_posterior_free(posterior);
    problem_free(&p);
    p = problem_make(ctx, "matern52(ard)", 200, INPUTS, 0.5);
    for (size_t i = 0; i < 200; i += 2) p.sites->variance[i] = 1e9; /* more than one block of weak readings */
    posterior = support_solve(&p);
    double *one = naive_zeros(200), *four = naive_zeros(200);
    assert_int_equal(hf_influence_of_removal(ctx, posterior, one), HF_OK);
    assert_int_equal(hf_context_set_threads(ctx, 4), HF_OK);
    assert_int_equal(hf_influence_of_removal(ctx, posterior, four), HF_OK);
    assert_memory_equal(one, four, 200 * sizeof *one);
    free(one);
    free(four);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leave_one_out_equals_refits),
        cmocka_unit_test(leave_one_out_in_user_units),
        cmocka_unit_test(influence_is_the_divergence_of_the_whole_vectors),
        cmocka_unit_test(influence_is_bounded_for_robust_sites_only),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(one_reading_and_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
