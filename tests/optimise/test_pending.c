/* SPDX-License-Identifier: Apache-2.0 */
/* Acquisition functions averaged over what f may be at other points: against integrals in two dimensions,
 * drawn brute force, and a posterior that has been told; gradients; batches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimise/bounds.h"
#include <holdfast/acquire.h>

static const double points[] = {0.4, -0.7, -1.2, 0.5, 1.1, 1.3};

static double one_value(const pair *w, const hf_acquire *a, const double *x, double *gradient)
{
    double value = NAN;
    const hf_status status = hf_acquire_evaluate(w->ctx, a, 1, x, &value, gradient);
    if (status < 0) fail_msg("%s", hf_context_message(w->ctx));
    return value;
}

/* Mean of d points, and the factor of their covariance. */
typedef struct joint {
    size_t n;
    double mean[4], l[4][4];
} joint;

static joint joint_of(const pair *w, size_t n, const double *x)
{
    joint j = {.n = n};
    double c[16];
    assert_int_equal(hf_predict(w->ctx, w->mean, n, x, 2, j.mean, NULL, NULL), HF_OK);
    assert_int_equal(hf_predict_covariance(w->ctx, w->mean, n, x, 2, c, n), HF_OK);
    for (size_t b = 0; b < n; b++)
        for (size_t a = b; a < n; a++) {
            double rest = c[a * n + b];
            for (size_t k = 0; k < b; k++) rest -= j.l[a][k] * j.l[b][k];
            j.l[a][b] = a == b ? sqrt(rest) : rest / j.l[b][b];
        }
    return j;
}

/* Gain of the last point beside the others: E[max(f_last - max(best, f_others), 0)] or its probability, for e in
 * standard units. */
static double added(const joint *j, double best, const double *e, bool probability)
{
    double f = 0.0;
    for (size_t a = 0; a < j->n; a++) {
        f = j->mean[a];
        for (size_t k = 0; k <= a; k++) f += j->l[a][k] * e[k];
        if (a + 1 < j->n) best = fmax(best, f);
    }
    return probability ? (double)(f > best) : fmax(f - best, 0.0);
}

/* Two points: the integral over both by the trapezoidal rule. */
static void two_points_are_the_integral(void **state)
{
    (void)state;
    const double x[][2] = {{0.5, -0.6}, {1.0, 0.2}, {-1.8, 1.8}, {0.9, -1.4}};
    for (size_t c = 0; c < 4; c++) {
        pair w = pair_open(c % 2 ? "se(lengthscale=0.8)" : "matern52(lengthscale=1)", 15, 2, false);
        const double both[] = {points[0], points[1], x[c][0], x[c][1]}, step = 0.02, best = 0.3 * (double)c;
        const joint j = joint_of(&w, 2, both);
        double improvement = 0.0;
        for (double a = -7.0; a < 7.0; a += step)
            for (double b = -7.0; b < 7.0; b += step)
                improvement += added(&j, best, (double[]){a, b}, false) * exp(-0.5 * (a * a + b * b));
        improvement *= step * step / (2.0 * acos(-1.0));
        hf_acquire a = {.size = sizeof a,
                        .kind = HF_ACQUIRE_EI,
                        .posterior = w.mean,
                        .best = best,
                        .pending = 1,
                        .pending_x = points};
        a.draws = 4000;
        const double value = one_value(&w, &a, x[c], NULL);
        assert_near(value, improvement, 1e-4 * (improvement + 0.01));
        a.kind = HF_ACQUIRE_LOG_EI;
        assert_near(one_value(&w, &a, x[c], NULL), log(value), 1e-10);
        a.draws = 0; /* the usual number is enough for most purposes */
        assert_near(exp(one_value(&w, &a, x[c], NULL)), improvement, 0.03 * (improvement + 0.01));
        pair_close(&w);
    }
}

/* Three that are pending, and the same three to be improved upon, by drawing all four. */
static void brute_force_agrees(void **state)
{
    (void)state;
    enum {
        N = 200000
    };
    pair w = pair_open("se(lengthscale=0.9)", 12, 2, false);
    const double x[] = {points[0], points[1], points[2], points[3], points[4], points[5], -0.2, 0.4};
    const joint j = joint_of(&w, 4, x);
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 3);
    double improvement = 0.0, probability = 0.0, square = 0.0, noisy = 0.0;
    for (size_t i = 0; i < N; i++) {
        double e[4];
        for (size_t k = 0; k < 4; k++) e[k] = hfi_stream_normal(&stream);
        const double one = added(&j, 0.1, e, false);
        improvement += one / N;
        square += one * one / N;
        probability += added(&j, 0.1, e, true) / N;
        noisy += added(&j, -INFINITY, e, false) / N;
    }
    const double error = 5.0 * sqrt(square / N);
    hf_acquire a = {.size = sizeof a,
                    .kind = HF_ACQUIRE_EI,
                    .posterior = w.mean,
                    .best = 0.1,
                    .pending = 3,
                    .pending_x = points};
    a.draws = 2000;
    assert_near(one_value(&w, &a, x + 6, NULL), improvement, error + 0.01 * improvement);
    a.kind = HF_ACQUIRE_PI;
    assert_near(one_value(&w, &a, x + 6, NULL), probability,
                5.0 * sqrt(probability / N) + 0.01 * probability);
    a.kind = HF_ACQUIRE_EI;
    a.pending = 1;
    a.against = 2;
    a.against_x = points + 2;
    a.best = -INFINITY; /* as good as the best of the three */
    assert_near(one_value(&w, &a, x + 6, NULL), noisy, 2.0 * error + 0.01 * noisy);
    pair_close(&w);
}

/* Where f is known to a hair a pending point is as good as none, and one to improve upon is its value as `best`. */
static void what_is_known_already_changes_nothing(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.8)", 15, 2, false);
    const double at[] = {0.3, 0.2}, x[] = {-0.5, 1.0};
    assert_int_equal(hf_posterior_add(w.ctx, w.mean, at, 0.9, 1e-10), HF_OK);
    const hf_acquire plain = {.size = sizeof plain, .posterior = w.mean, .best = 0.9};
    hf_acquire a = {.size = sizeof a, .posterior = w.mean, .best = -INFINITY, .against = 1, .against_x = at};
    assert_near(one_value(&w, &a, x, NULL), one_value(&w, &plain, x, NULL), 1e-4);
    a = plain;
    a.pending = 1;
    a.pending_x = at;
    assert_near(one_value(&w, &a, x, NULL), one_value(&w, &plain, x, NULL), 1e-4);
    pair_close(&w);
}

/* ucb: the mean is as before, the sd that of a posterior that has been told the mean. */
static void bounds_keep_their_mean(void **state)
{
    (void)state;
    pair w = pair_open("matern52(lengthscale=0.8)", 15, 2, false),
         told = pair_open("matern52(lengthscale=0.8)", 15, 2, false);
    const double x[] = {0.1, -0.4};
    double mean, var;
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(
            hf_predict_latent(told.mean, told.mean_room, points + 2 * k, &mean, NULL, NULL, NULL), HF_OK);
        assert_int_equal(hf_posterior_add(told.ctx, told.mean, points + 2 * k, mean, 1e-11), HF_OK);
        hf_posterior_workspace_free(told.mean_room);
        told.mean_room = hf_posterior_workspace_create(told.ctx, told.mean);
    }
    const hf_acquire a = {.size = sizeof a,
                          .kind = HF_ACQUIRE_UCB,
                          .posterior = w.mean,
                          .beta = 2.0,
                          .pending = 3,
                          .pending_x = points};
    assert_int_equal(hf_predict_latent(told.mean, told.mean_room, x, &mean, &var, NULL, NULL), HF_OK);
    assert_near(one_value(&w, &a, x, NULL), mean + 2.0 * sqrt(var), 1e-5);
    pair_close(&told);
    pair_close(&w);
}

static void gradients_are_those_of_the_values(void **state)
{
    (void)state;
    static const hf_acquisition kinds[] = {HF_ACQUIRE_LOG_EI, HF_ACQUIRE_EI, HF_ACQUIRE_UCB,
                                           HF_ACQUIRE_LOG_PI, HF_ACQUIRE_PI};
    const double limit = 0.2;
    for (size_t c = 0; c < 15; c++) {
        pair w =
            pair_open(c % 2 ? "matern52(lengthscale=0.8)" : "se(lengthscale=0.9) + 0.1*linear", 14, 2, c > 9);
        hfi_scaling scaling = support_scaling(w.ctx, 2);
        const hf_posterior *constraint[] = {w.spread};
        const bool ucb = kinds[c % 5] == HF_ACQUIRE_UCB;
        double user[6], x[16], *unit = problem_inputs(8, 2, 6), values[8], many[8], gradients[16];
        for (size_t i = 0; i < 3; i++) {
            if (c > 9)
                support_to_user(&scaling, points + 2 * i, user + 2 * i);
            else
                memcpy(user + 2 * i, points + 2 * i, 2 * sizeof *user);
        }
        for (size_t i = 0; i < 8; i++) {
            if (c > 9)
                support_to_user(&scaling, unit + 2 * i, x + 2 * i);
            else
                memcpy(x + 2 * i, unit + 2 * i, 2 * sizeof *x);
        }
        const hf_acquire a = {.size = sizeof a,
                              .kind = kinds[c % 5],
                              .posterior = w.mean,
                              .best = c > 9 ? -14.0 : 0.4,
                              .beta = 1.5,
                              .constraints = !ucb && c > 4 && c < 10,
                              .constraint = constraint,
                              .limit = &limit,
                              .pending = 2,
                              .pending_x = user,
                              .against = ucb ? 0 : 1,
                              .against_x = user + 4,
                              .stream = c};
        assert_int_equal(hf_acquire_evaluate(w.ctx, &a, 8, x, values, gradients), HF_OK);
        assert_int_equal(hf_acquire_evaluate(w.ctx, &a, 8, x, many, NULL), HF_OK);
        for (size_t i = 0; i < 16; i++) {
            const double h = 1e-5 * (c > 9 ? scaling.x_scale[i % 2] : 1.0), here = x[i];
            assert_near(values[i / 2], many[i / 2], 1e-9 * (1.0 + fabs(values[i / 2])));
            x[i] = here + h;
            const double up = one_value(&w, &a, x + i / 2 * 2, NULL);
            x[i] = here - h;
            const double slope = (up - one_value(&w, &a, x + i / 2 * 2, NULL)) / (2.0 * h);
            x[i] = here;
            if (!(fabs(gradients[i] - slope) <=
                  1e-5 * (1.0 / (c > 9 ? scaling.x_scale[i % 2] : 1.0) + fabs(slope))))
                fail_msg("case %zu, entry %zu: %.9g, differences say %.9g", c, i, gradients[i], slope);
        }
        free(unit);
        hfi_scaling_free(&scaling);
        pair_close(&w);
    }
}

/* A pending point where most was promised sends the next one elsewhere; the same for the same stream,
 * whatever the threads. */
static void pending_points_are_kept_away_from(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.5)", 25, 2, false);
    const hf_domain box = cube(2);
    hf_acquire a = {.size = sizeof a, .posterior = w.mean, .best = 0.6};
    double first[2], x[3][2];
    hf_argmax top, found[3];
    assert_int_equal(hf_acquire_maximise(w.ctx, &a, &box, NULL, 0, NULL, first, &top), HF_OK);
    a.pending = 1;
    a.pending_x = first;
    for (int t = 0; t < 3; t++) {
        a.stream = t == 2 ? 9 : 3;
        assert_int_equal(hf_context_set_threads(w.ctx, t == 1 ? 4 : 1), HF_OK);
        assert_int_equal(hf_acquire_maximise(w.ctx, &a, &box, NULL, 0, NULL, x[t], found + t), HF_OK);
        found[t].seconds = 0.0;
        assert_true(hypot(x[t][0] - first[0], x[t][1] - first[1]) > 0.1);
        assert_true(found[t].value < top.value);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(found, found + 1, sizeof *found);
    assert_true(found[2].value != found[0].value && fabs(found[2].value - found[0].value) < 0.1);
    pair_close(&w);
}

/* ---- batches ------------------------------------------------------------------------------------------- */

/* E[max(max f - best, 0)] of some places, by drawing. */
static double improvement_of(const pair *w, size_t q, const double *x, double best)
{
    enum {
        N = 50000
    };
    const joint j = joint_of(w, q, x);
    hfi_stream stream;
    hfi_stream_init(&stream, 6, HFI_PURPOSE_TEST, 3);
    double sum = 0.0;
    for (size_t i = 0; i < N; i++) {
        double e[4], most = best;
        for (size_t a = 0; a < q; a++) {
            double f = j.mean[a];
            e[a] = hfi_stream_normal(&stream);
            for (size_t k = 0; k <= a; k++) f += j.l[a][k] * e[k];
            most = fmax(most, f);
        }
        sum += (most - best) / N;
    }
    return sum;
}

static void batches_add_up_to_their_improvement(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        pair w = pair_open("se(lengthscale=0.5)", 10 + 9 * c, 2, false);
        const hf_domain box = cube(2);
        hf_acquire a = {
            .size = sizeof a, .kind = HF_ACQUIRE_EI, .posterior = w.mean, .best = 0.7, .draws = 128};
        double x[2][8], values[2][4], sum[2] = {0.0, 0.0}, one[2];
        hf_argmax found;
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(hf_acquire_batch(w.ctx, &a, &box, NULL, 4, 3 * k, 0, NULL, x[k], values[k]),
                             HF_OK);
            for (size_t i = 0; i < 4; i++) {
                sum[k] += values[k][i];
                assert_true(hf_domain_contains(&box, x[k] + 2 * i, NULL));
            }
            const double drawn = improvement_of(&w, 4, x[k], a.best);
            assert_near(sum[k], drawn, 0.04 * drawn);
        }
        assert_true(sum[1] >= sum[0]);
        assert_int_equal(hf_acquire_maximise(w.ctx, &a, &box, NULL, 0, NULL, one, &found), HF_OK);
        assert_memory_equal(one, x[0], sizeof one);
        assert_near(values[0][0], found.value, 0.0);
        a.kind = HF_ACQUIRE_LOG_EI; /* the same places, but for where climbs end */
        assert_int_equal(hf_acquire_batch(w.ctx, &a, &box, NULL, 4, 2, 0, NULL, x[1], values[1]), HF_OK);
        double logs = 0.0;
        for (size_t i = 0; i < 4; i++) logs += exp(values[1][i]);
        assert_true(logs >= 0.99 * sum[0]);
        pair_close(&w);
    }
}

/* Two humps of one height, the greedy first place on a third between them: sweeps move it. */
static void sweeps_find_what_greed_missed(void **state)
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
    const hf_acquire a = {
        .size = sizeof a, .kind = HF_ACQUIRE_EI, .posterior = w.mean, .best = 0.0, .draws = 1024};
    double greedy[2], swept[2], before[2], after[2];
    assert_int_equal(hf_acquire_batch(ctx, &a, &line, NULL, 2, 0, 0, NULL, greedy, before), HF_OK);
    assert_int_equal(hf_acquire_batch(ctx, &a, &line, NULL, 2, 4, 0, NULL, swept, after), HF_OK);
    assert_near(greedy[0], 0.0, 0.02);
    assert_true(fabs(swept[0]) > 0.1 && swept[0] * swept[1] < 0.0);
    assert_true(after[0] + after[1] > (before[0] + before[1]) * (1.0 + 1e-4));
    hf_posterior_free(w.mean);
    hf_sites_free(w.p.sites);
    hf_mean_free(w.p.mean);
    hf_kernel_free(w.p.kernel);
    hf_context_free(ctx);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    pair w = pair_open("se", 8, 2, false);
    const hf_domain box = cube(2);
    const double none[] = {0.0, NAN}, at[] = {0.0, 0.0};
    const hf_acquire good = {.size = sizeof good, .posterior = w.mean, .best = 0.1};
    struct {
        hf_acquire a;
        hf_status status;
        const char *word;
    } rows[] = {{good, HF_ERR_ARGUMENT, "pending points, but they are NULL"},
                {good, HF_ERR_NOT_FINITE, "input 1 of row 0"},
                {good, HF_ERR_ARGUMENT, "4097 pending"},
                {good, HF_ERR_ARGUMENT, "points to improve upon, but they are NULL"},
                {good, HF_ERR_ARGUMENT, "improves upon nothing"}};
    rows[0].a.pending = 1;
    rows[1].a.pending = 1, rows[1].a.pending_x = none;
    rows[2].a.pending = 4097, rows[2].a.pending_x = points;
    rows[3].a.against = 1;
    rows[4].a.against = 1, rows[4].a.against_x = points, rows[4].a.kind = HF_ACQUIRE_UCB;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double value = 7.0, x[4] = {7.0, 7.0, 7.0, 7.0};
        assert_int_equal(hf_acquire_evaluate(w.ctx, &rows[k].a, 1, at, &value, NULL), rows[k].status);
        if (strstr(hf_context_message(w.ctx), rows[k].word) == NULL)
            fail_msg("%s", hf_context_message(w.ctx));
        assert_int_equal(hf_acquire_batch(w.ctx, &rows[k].a, &box, NULL, 2, 0, 0, NULL, x, NULL),
                         rows[k].status);
        assert_true(value == 7.0 && x[0] == 7.0);
    }
    double x[2] = {7.0, 7.0};
    assert_int_equal(hf_acquire_batch(w.ctx, &good, &box, NULL, 0, 0, 0, NULL, x, NULL), HF_ERR_ARGUMENT);
    hf_acquire pi = good;
    pi.kind = HF_ACQUIRE_PI;
    assert_int_equal(hf_acquire_batch(w.ctx, &pi, &box, NULL, 1, 2, 0, NULL, x, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(w.ctx), "2 sweeps"));
    assert_true(x[0] == 7.0);
    pair_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_points_are_the_integral),
        cmocka_unit_test(brute_force_agrees),
        cmocka_unit_test(what_is_known_already_changes_nothing),
        cmocka_unit_test(bounds_keep_their_mean),
        cmocka_unit_test(gradients_are_those_of_the_values),
        cmocka_unit_test(pending_points_are_kept_away_from),
        cmocka_unit_test(batches_add_up_to_their_improvement),
        cmocka_unit_test(sweeps_find_what_greed_missed),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
