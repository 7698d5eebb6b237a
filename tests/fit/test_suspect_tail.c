/* SPDX-License-Identifier: Apache-2.0 */
/* Which readings of larger tables are called wrong: wrong ones beside heavy tails, beside strong noise, off
 * the steps of an instrument, in a tight cluster; and not those that keep the steps. */
#include "outliers/suspects.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 900,
    D = 8,
    EVERY = 15 /* one reading of so many is wrong */
};

typedef struct problem {
    hfi_stream stream;
    double x[N * D], y[N];
    bool wrong[N];
} problem;

/* Readings of a smooth function with noise of the given sd, a share of it ten to forty times as strong. */
static void make(problem *p, double sd, double heavy)
{
    memset(p, 0, sizeof *p);
    hfi_stream_init(&p->stream, 3, HFI_PURPOSE_TEST, 7);
    for (size_t i = 0; i < N; i++) {
        double *x = p->x + i * D;
        for (size_t j = 0; j < D; j++) x[j] = 4.0 * hfi_stream_uniform(&p->stream) - 2.0;
        const double size =
            hfi_stream_uniform(&p->stream) < heavy ? exp(2.5 * hfi_stream_uniform(&p->stream)) : 1.0;
        p->y[i] = sin(1.5 * x[0]) + 0.5 * x[1] + 0.3 * cos(x[2] + x[3]) + 0.2 * x[4] * x[5] +
                  size * sd * hfi_stream_normal(&p->stream);
    }
}

/* Every so many readings moved by `least` to three times as much, up and down. */
static void damage(problem *p, double least)
{
    for (size_t i = 4; i < N; i += EVERY) {
        const double by = least * (1.0 + 2.0 * hfi_stream_uniform(&p->stream));
        p->y[i] += i % 2 == 0 ? by : -by;
        p->wrong[i] = true;
    }
}

typedef struct outcome {
    size_t wrong, found, others;
    hf_fit_report report;
    double noise;
} outcome;

static outcome fit(const problem *p)
{
    outcome out = {0};
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = hf_fit_settings_default();
    hf_reading *readings = calloc(N, sizeof *readings);
    hf_posterior *posterior = NULL;
    const hf_data data = {.n = N, .d = D, .x = p->x, .ldx = D, .y = p->y};
    settings.solver = HF_SOLVER_INDUCING;
    settings.inducing = 40;
    settings.restarts = 0;
    assert_non_null(readings);
    assert_true(hf_fit_data(ctx, &data, &settings, &posterior, &out.report, readings) >= 0);
    for (size_t i = 0; i < N; i++) {
        out.wrong += p->wrong[i];
        out.found += p->wrong[i] && readings[i].suspected && readings[i].weight == 0.0;
        out.others += !p->wrong[i] && readings[i].suspected && readings[i].weight == 0.0;
    }
    out.noise = sqrt(hf_posterior_noise(posterior));
    hf_posterior_free(posterior);
    hf_context_free(ctx);
    free(readings);
    return out;
}

/* Numbers of readings with sizes |t| around 1, sqrt 2, 2, 2 sqrt 2, ... of which those from `cut` on are
 * flagged. Sides alternate up to `one_sided`; from there on all but one in `right` readings are on the left. */
static bool runs_on_but(size_t count, const size_t *height, size_t cut, size_t one_sided, size_t right)
{
    static double t[N], sd[N], sorted[N];
    static bool flag[N];
    size_t n = 0;
    for (size_t b = 0; b < count; b++)
        for (size_t k = 0; k < height[b]; k++, n++) {
            assert_true(n < N);
            t[n] = (k % (b < one_sided ? 2 : right) == 0 ? 1.0 : -1.0) *
                   pow(2.0, 0.5 * (double)b + 0.1 + 0.3 * (double)k / (double)height[b]);
            flag[n] = b >= cut;
            sd[n] = 0.3;
        }
    const hfi_finder finder = {.n = n, .sorted = sorted};
    const hfi_flagging flags = {.flag = flag, .t = t, .sd = sd};
    return hfi_flags_run_on(&finder, &flags, NULL);
}

static bool runs_on_from(size_t count, const size_t *height, size_t cut, size_t one_sided)
{
    return runs_on_but(count, height, cut, one_sided, N);
}

static bool runs_on(size_t count, const size_t *height, size_t cut)
{
    return runs_on_from(count, height, cut, count);
}

static void test_slopes_and_humps(void **unused)
{
    (void)unused;
    const size_t slope[] = {300, 150, 90, 60, 45, 30, 20}, plateau[] = {300, 150, 50, 50, 60, 50, 20},
                 hump[] = {300, 150, 40, 6, 3, 10, 60, 80, 10}, few[] = {300, 150, 60, 12, 9, 6, 3};
    assert_true(runs_on(7, slope, 3));
    assert_true(runs_on(7, plateau, 3));
    assert_false(runs_on(9, hump, 4));
    assert_false(runs_on(7, few, 3)); /* too few to tell */
}

/* Flags on one side of readings that are on both are wrong; a tail of skewed noise has its side long before. */
static void test_one_side(void **unused)
{
    (void)unused;
    const size_t flat[] = {300, 150, 60, 40, 30, 25, 20, 20};
    assert_true(runs_on(8, flat, 4));
    assert_false(runs_on_from(8, flat, 4, 4));
    assert_true(runs_on_from(8, flat, 4, 2)); /* skewed */
    assert_true(runs_on_from(8, flat, 4, 0));
    assert_true(runs_on_from(8, flat, 4, 7)); /* both sides up to the last */
}

/* Tails that differ by a few per cent make many standard errors of thousands of flags, and are tails. */
static void test_one_side_is_more_than_a_lean(void **unused)
{
    (void)unused;
    const size_t many[] = {240, 120, 90, 60, 110, 100, 90, 80};
    assert_true(runs_on_but(8, many, 4, 4, 3)); /* two thirds: 7 standard errors */
    assert_true(runs_on_but(8, many, 4, 4, 5)); /* four fifths */
    assert_false(runs_on_but(8, many, 4, 4, 20));
}

static void test_wrong_readings_beside_heavy_tails(void **unused)
{
    (void)unused;
    static problem p;
    make(&p, 0.03, 0.2);
    damage(&p, 15.0);
    const outcome o = fit(&p);
    assert_int_equal(o.found, o.wrong);
    assert_true(o.others <= N / 50);
    assert_true(o.noise > 0.05); /* that of the readings with their tails */
}

static void test_wrong_readings_beside_strong_noise(void **unused)
{
    (void)unused;
    static problem p;
    make(&p, 0.7, 0.0);
    damage(&p, 4.0);
    const outcome o = fit(&p);
    assert_true(10 * o.found >= 9 * o.wrong);
    assert_true(o.others <= 3);
    assert_true(fabs(o.noise - 0.7) < 0.05);
}

/* Most readings are one number, the others come in steps. */
static void to_steps(problem *p, bool wrong_too)
{
    for (size_t i = 0; i < N; i++) {
        if (p->wrong[i] && !wrong_too) continue;
        const double step = round(4.0 * p->y[i]) / 4.0;
        p->y[i] = p->wrong[i] ? step : fmax(step, 0.0);
    }
}

static void test_steps(void **unused)
{
    (void)unused;
    static problem p;
    make(&p, 0.01, 0.0);
    for (size_t i = 0; i < N; i++) p.y[i] -= 0.3;
    damage(&p, 2.0);
    to_steps(&p, false);
    outcome o = fit(&p);
    assert_true(o.report.suspects_adopted);
    assert_true(o.found + 3 >= o.wrong);
    assert_true(o.others <= N / 100);
    /* The same errors, made by what rounds like the instrument itself, are not told from rare legitimate readings. */
    to_steps(&p, true);
    o = fit(&p);
    assert_false(o.report.suspects_adopted);
}

static void test_cluster(void **unused)
{
    (void)unused;
    static problem p;
    make(&p, 0.4, 0.0);
    for (size_t i = 4; i < N; i += EVERY) {
        for (size_t j = 0; j < D; j++) p.x[i * D + j] = 0.3 + 0.0005 * hfi_stream_uniform(&p.stream);
        p.y[i] = -1.2 + 0.01 * hfi_stream_uniform(&p.stream);
        p.wrong[i] = true;
    }
    const outcome o = fit(&p);
    assert_int_equal(o.report.groups, 1);
    assert_int_equal(o.found, o.wrong);
    assert_true(o.others <= 3);
}

enum {
    LONG_ROWS = 30000 /* most of which no training looks at */
};

/* A few readings that are far off, too few for a share of the rows to know of them. */
static void test_rare_gross_readings(void **unused)
{
    (void)unused;
    static double x[LONG_ROWS], y[LONG_ROWS];
    static hf_reading readings[LONG_ROWS];
    const size_t wrong[] = {7, 11111, 29999};
    hfi_stream stream;
    hfi_stream_init(&stream, 9, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < LONG_ROWS; i++) {
        x[i] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        y[i] = sin(2.0 * x[i]) + 0.05 * exp(0.5 * hfi_stream_normal(&stream)) * hfi_stream_normal(&stream);
    }
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = hf_fit_settings_default();
    hf_fit_report report;
    hf_posterior *posterior = NULL;
    const hf_data data = {.n = LONG_ROWS, .d = 1, .x = x, .ldx = 1, .y = y};
    settings.inducing = 12;
    assert_true(hf_fit_data(ctx, &data, &settings, &posterior, &report, NULL) >= 0);
    assert_false(report.suspects_adopted); /* the tails of the noise are left alone */
    hf_posterior_free(posterior);
    for (size_t k = 0; k < 3; k++) y[wrong[k]] = k == 1 ? -1e5 : 50.0;
    assert_true(hf_fit_data(ctx, &data, &settings, &posterior, &report, readings) >= 0);
    assert_int_equal(report.solver, HF_SOLVER_INDUCING);
    assert_true(report.suspects_adopted);
    assert_int_equal(report.suspects, 3);
    double mean, latent;
    for (size_t k = 0; k < 3; k++) {
        assert_true(readings[wrong[k]].suspected);
        assert_true(readings[wrong[k]].weight == 0.0);
        assert_int_equal(hf_predict(ctx, posterior, 1, x + wrong[k], 1, &mean, &latent, NULL), HF_OK);
        assert_true(fabs(mean - sin(2.0 * x[wrong[k]])) < 0.05);
    }
    hf_posterior_free(posterior);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slopes_and_humps),
                                       cmocka_unit_test(test_one_side),
                                       cmocka_unit_test(test_one_side_is_more_than_a_lean),
                                       cmocka_unit_test(test_wrong_readings_beside_heavy_tails),
                                       cmocka_unit_test(test_wrong_readings_beside_strong_noise),
                                       cmocka_unit_test(test_steps),
                                       cmocka_unit_test(test_cluster),
                                       cmocka_unit_test(test_rare_gross_readings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
