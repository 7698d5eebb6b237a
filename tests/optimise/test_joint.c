/* SPDX-License-Identifier: Apache-2.0 */
/* All places of a batch at once: their joint value, its gradient, and the climb. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimise/bounds.h"
#include <float.h>
#include <holdfast/acquire.h>

static const double known[] = {0.4, -0.7, -1.2, 0.5};
static const double batch[] = {1.1, 1.3, -0.2, 0.4, 0.9, -1.4};

static double joint_value(const pair *w, const hf_acquire *a, size_t q, const double *x, double *gradient)
{
    double value = NAN;
    const hf_status status = hf_acquire_joint(w->ctx, a, q, x, &value, gradient);
    if (status < 0) fail_msg("%s", hf_context_message(w->ctx));
    return value;
}

/* Mean of what the best of the last q of n points improves upon all others and `best`, by drawing. */
static double improvement_of(const pair *w, size_t n, size_t q, const double *x, double best)
{
    enum {
        N = 100000,
        MOST = 6
    };
    double mean[MOST], c[MOST * MOST], l[MOST][MOST], sum = 0.0;
    assert_int_equal(hf_predict(w->ctx, w->mean, n, x, 2, mean, NULL, NULL), HF_OK);
    assert_int_equal(hf_predict_covariance(w->ctx, w->mean, n, x, 2, c, n), HF_OK);
    for (size_t b = 0; b < n; b++)
        for (size_t a = b; a < n; a++) {
            double rest = c[a * n + b];
            for (size_t k = 0; k < b; k++) rest -= l[a][k] * l[b][k];
            l[a][b] = a == b ? sqrt(rest) : rest / l[b][b];
        }
    hfi_stream stream;
    hfi_stream_init(&stream, 6, HFI_PURPOSE_TEST, 3);
    for (size_t i = 0; i < N; i++) {
        double e[MOST], before = best, most = best;
        for (size_t a = 0; a < n; a++) {
            double f = mean[a];
            e[a] = hfi_stream_normal(&stream);
            for (size_t k = 0; k <= a; k++) f += l[a][k] * e[k];
            most = fmax(most, f);
            if (a + q < n) before = most;
        }
        sum += (most - before) / N;
    }
    return sum;
}

static void one_place_is_the_acquisition_function(void **state)
{
    (void)state;
    const double limit = 0.1;
    for (int c = 0; c < 2; c++) {
        pair w = pair_open("se(lengthscale=0.7)", 20, 2, false);
        const hf_posterior *constraint[] = {w.spread};
        const hf_acquire a = {.size = sizeof a,
                              .posterior = w.mean,
                              .best = 0.4,
                              .constraints = (size_t)c,
                              .constraint = constraint,
                              .limit = &limit};
        for (size_t i = 0; i < 3; i++) {
            double value, slopes[2], expected[2];
            assert_int_equal(hf_acquire_evaluate(w.ctx, &a, 1, batch + 2 * i, &value, expected), HF_OK);
            assert_near(joint_value(&w, &a, 1, batch + 2 * i, slopes), value, 1e-9 * (1.0 + fabs(value)));
            for (size_t j = 0; j < 2; j++)
                assert_near(slopes[j], expected[j], 1e-7 * (1.0 + fabs(expected[j])));
        }
        pair_close(&w);
    }
}

static void the_value_is_what_drawing_says(void **state)
{
    (void)state;
    pair w = pair_open("matern52(lengthscale=0.9)", 12, 2, false);
    double all[10];
    memcpy(all, known, sizeof known);
    memcpy(all + 4, batch, sizeof batch);
    hf_acquire a = {.size = sizeof a, .posterior = w.mean, .best = 0.1, .draws = 2048};
    double drawn = improvement_of(&w, 3, 3, batch, 0.1);
    assert_near(exp(joint_value(&w, &a, 3, batch, NULL)), drawn, 0.03 * drawn);
    a.kind = HF_ACQUIRE_EI;
    a.pending = 2;
    a.pending_x = known;
    drawn = improvement_of(&w, 5, 3, all, 0.1);
    assert_near(exp(joint_value(&w, &a, 3, batch, NULL)), drawn, 0.05 * drawn);
    a.best = -INFINITY;
    drawn = improvement_of(&w, 5, 3, all, -1e300);
    a.pending = a.against = 1;
    a.against_x = known + 2;
    assert_near(exp(joint_value(&w, &a, 3, batch, NULL)), drawn, 0.05 * drawn);
    pair_close(&w);
}

/* With pending points, points to improve upon and a constraint, and in units where nothing is 1. */
static void gradients_are_differences(void **state)
{
    (void)state;
    for (size_t c = 0; c < 6; c++) {
        const bool scaled = c > 3;
        pair w = pair_open(c % 2 ? "matern52(lengthscale=0.8)" : "se(lengthscale=0.9) + 0.1*linear", 14, 2,
                           scaled);
        hfi_scaling scaling = support_scaling(w.ctx, 2);
        const hf_posterior *constraint[] = {w.spread};
        double points[4], x[6], gradient[6];
        const double limit = scaled ? scaling.y_shift : 0.2;
        for (size_t i = 0; i < 5; i++) {
            const double *from = i < 2 ? known + 2 * i : batch + 2 * (i - 2);
            double *to = i < 2 ? points + 2 * i : x + 2 * (i - 2);
            if (scaled)
                support_to_user(&scaling, from, to);
            else
                memcpy(to, from, 2 * sizeof *to);
        }
        const hf_acquire a = {.size = sizeof a,
                              .posterior = w.mean,
                              .best = scaled ? -14.0 : 0.4,
                              .constraints = c % 3 == 1,
                              .constraint = constraint,
                              .limit = &limit,
                              .pending = c > 0,
                              .pending_x = points,
                              .against = c > 1,
                              .against_x = points + 2,
                              .stream = c};
        const double value = joint_value(&w, &a, 3, x, gradient);
        assert_near(joint_value(&w, &a, 3, x, NULL), value, 0.0);
        for (size_t i = 0; i < 6; i++) {
            const double unit = scaled ? scaling.x_scale[i % 2] : 1.0, h = 1e-6 * unit, here = x[i];
            x[i] = here + h;
            const double up = joint_value(&w, &a, 3, x, NULL);
            x[i] = here - h;
            const double slope = (up - joint_value(&w, &a, 3, x, NULL)) / (2.0 * h);
            x[i] = here;
            if (!(fabs(gradient[i] - slope) * unit <= 2e-5 * (1.0 + fabs(slope) * unit)))
                fail_msg("case %zu, entry %zu: %.9g, differences say %.9g", c, i, gradient[i], slope);
        }
        hfi_scaling_free(&scaling);
        pair_close(&w);
    }
}

/* ---- the climb ------------------------------------------------------------------------------------------- */

/* Two humps of one height: greed puts the first place between them, the climb takes it to one of them. */
static void greed_is_mended(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const double x[] = {-2.0, 2.0, -3.0, 3.0}, y[] = {-0.6, -0.6, -1.0, -1.0}, from = -2.0, to = 2.0;
    pair w = {.ctx = ctx};
    assert_int_equal(hf_kernel_parse(ctx, "se(lengthscale=1.6)", NULL, 1, &w.p.kernel), HF_OK);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, 1, &w.p.mean), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, 4, y, 1e-4, NULL, &w.p.sites), HF_OK);
    assert_int_equal(hf_solve_exact(ctx, w.p.kernel, w.p.mean, w.p.sites, x, 1, &w.mean), HF_OK);
    const hf_domain line = {.dimension = 1, .lower = &from, .upper = &to};
    const hf_acquire a = {.size = sizeof a, .posterior = w.mean, .best = 0.0, .draws = 1024};
    double greedy[2], swept[2], moved[2], gain;
    assert_int_equal(hf_acquire_batch(ctx, &a, &line, NULL, 2, 0, 0, NULL, greedy, NULL), HF_OK);
    assert_int_equal(hf_acquire_batch(ctx, &a, &line, NULL, 2, 4, 0, NULL, swept, NULL), HF_OK);
    memcpy(moved, greedy, sizeof moved);
    assert_int_equal(hf_acquire_ascend(ctx, &a, &line, 0, 2, moved, &gain), HF_OK);
    assert_true(fabs(moved[0]) > 0.1 && moved[0] * moved[1] < 0.0 && gain > 1e-4);
    const double value = joint_value(&w, &a, 2, moved, NULL);
    assert_near(value, joint_value(&w, &a, 2, greedy, NULL) + gain, 1e-9);
    assert_true(value > joint_value(&w, &a, 2, swept, NULL) - 1e-3);
    hf_posterior_free(w.mean);
    hf_sites_free(w.p.sites);
    hf_mean_free(w.p.mean);
    hf_kernel_free(w.p.kernel);
    hf_context_free(ctx);
}

/* From greedy batches, in the box, on lattices and with constraints: never worse, by other draws too; the
 * same whatever the threads. */
static void the_climb_is_never_worse(void **state)
{
    (void)state;
    const double from[] = {-2.0, -2.0}, to[] = {2.0, 2.0}, by[] = {0.0, 0.25}, limit = 0.3;
    const hf_domain domains[] = {cube(2), {.dimension = 2, .lower = from, .upper = to, .step = by}};
    for (size_t c = 0; c < 4; c++) {
        pair w = pair_open(c < 2 ? "se(lengthscale=0.6)" : "matern52(lengthscale=0.8)", 10 + 5 * c, 2, false);
        const hf_posterior *constraint[] = {w.spread};
        const hf_domain *domain = &domains[c % 2];
        hf_acquire a = {.size = sizeof a,
                        .posterior = w.mean,
                        .best = 0.6,
                        .constraints = c > 1,
                        .constraint = constraint,
                        .limit = &limit,
                        .pending = 1,
                        .pending_x = known,
                        .draws = 512};
        double greedy[6], moved[2][6], gain[2];
        assert_int_equal(hf_acquire_batch(w.ctx, &a, domain, NULL, 3, 0, 0, NULL, greedy, NULL), HF_OK);
        for (int t = 0; t < 2; t++) {
            assert_int_equal(hf_context_set_threads(w.ctx, 1 + 3 * t), HF_OK);
            memcpy(moved[t], greedy, sizeof greedy);
            assert_int_equal(hf_acquire_ascend(w.ctx, &a, domain, 0, 3, moved[t], &gain[t]), HF_OK);
            assert_true(gain[t] >= 0.0);
        }
        assert_memory_equal(moved[0], moved[1], sizeof greedy);
        assert_near(joint_value(&w, &a, 3, moved[0], NULL) - joint_value(&w, &a, 3, greedy, NULL), gain[0],
                    1e-9);
        for (size_t i = 0; i < 3; i++) {
            assert_true(hf_domain_contains(domain, moved[0] + 2 * i, NULL));
            assert_true(c % 2 == 0 || moved[0][2 * i + 1] == greedy[2 * i + 1]);
        }
        a.stream = 99;
        assert_true(joint_value(&w, &a, 3, moved[0], NULL) > joint_value(&w, &a, 3, greedy, NULL) - 0.02);
        pair_close(&w);
    }
}

static void candidates_and_valleys_stay(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.5)", 10, 2, false);
    const hf_domain box = cube(2), listed = {.dimension = 2, .candidates = 3, .points = batch};
    hf_acquire a = {.size = sizeof a, .posterior = w.mean, .best = 0.3};
    double x[6], gain = 7.0, slopes[6];
    memcpy(x, batch, sizeof x);
    assert_int_equal(hf_acquire_ascend(w.ctx, &a, &listed, 0, 3, x, &gain), HF_OK);
    assert_memory_equal(x, batch, sizeof x);
    assert_near(gain, 0.0, 0.0);
    a.best = 1e200; /* nothing is worth anything: no slope, no step */
    assert_near(joint_value(&w, &a, 3, batch, slopes), -DBL_MAX, 0.0);
    for (size_t i = 0; i < 6; i++) assert_near(slopes[i], 0.0, 0.0);
    assert_int_equal(hf_acquire_ascend(w.ctx, &a, &box, 0, 3, x, &gain), HF_OK);
    assert_memory_equal(x, batch, sizeof x);
    pair_close(&w);
}

static void refused(const pair *w, const hf_acquire *a, size_t q, const double *from, hf_status expected,
                    const char *word)
{
    const hf_domain box = cube(2);
    double value = 7.0, gain = 7.0, x[6];
    memcpy(x, from, sizeof x);
    for (int k = 0; k < 2; k++) {
        const hf_status status = k ? hf_acquire_ascend(w->ctx, a, &box, 0, q, x, &gain)
                                   : hf_acquire_joint(w->ctx, a, q, x, &value, NULL);
        if (status != expected || strstr(hf_context_message(w->ctx), word) == NULL)
            fail_msg("%s: '%s' does not say '%s'", hf_status_name(status), hf_context_message(w->ctx), word);
    }
    assert_true(value == 7.0 && gain == 7.0 && memcmp(x, from, sizeof x) == 0);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    pair w = pair_open("se", 8, 2, false);
    const hf_domain box = cube(2);
    const double none[] = {0.0, 0.0, NAN, 0.0, 0.0, 0.0};
    const hf_acquire good = {.size = sizeof good, .posterior = w.mean, .best = 0.1};
    hf_acquire a = good;
    double far[] = {0.0, 0.0, 3.0, 0.0};
    refused(&w, &good, 0, batch, HF_ERR_ARGUMENT, "q is 0");
    refused(&w, &good, 5000, batch, HF_ERR_ARGUMENT, "more than 4096");
    refused(&w, &good, 3, none, HF_ERR_NOT_FINITE, "input 0 of row 1");
    a.kind = HF_ACQUIRE_PI;
    refused(&w, &a, 3, batch, HF_ERR_ARGUMENT, "pi of a batch");
    a = good, a.best = NAN;
    refused(&w, &a, 3, batch, HF_ERR_NOT_FINITE, "best");
    assert_int_equal(hf_acquire_ascend(w.ctx, &good, &box, 0, 2, far, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(w.ctx), "place 1"));
    const double limit = 0.0;
    const hf_posterior *constraint[] = {w.spread};
    a = good, a.best = -INFINITY, a.constraints = 1, a.constraint = constraint, a.limit = &limit;
    refused(&w, &a, 3, batch, HF_ERR_ARGUMENT, "no points to improve upon");
    pair_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_place_is_the_acquisition_function),
        cmocka_unit_test(the_value_is_what_drawing_says),
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(greed_is_mended),
        cmocka_unit_test(the_climb_is_never_worse),
        cmocka_unit_test(candidates_and_valleys_stay),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
