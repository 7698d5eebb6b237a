/* SPDX-License-Identifier: Apache-2.0 */
/* Flags are a tail or a hump by sizes in two units: standardised ones, and errors as they are. Where sds differ
 * wrong readings stand apart in the second only; tails, skewed ones too, do so in neither. */
#include "outliers/suspects.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 1800,
    DRAWS = 200,
    WRONG = 180
};

/* The largest sd by the least. */
static const double spread = 10.0;

typedef struct residuals {
    double t[N], sd[N], equal[N], sorted[N];
    bool flag[N];
} residuals;

/* ---- laws of noise, one sided or heavy, each about its median -------------------------------------------- */

typedef double (*law)(hfi_stream *s);

static double exponential(hfi_stream *s)
{
    return -log(hfi_stream_uniform(s)) - log(2.0);
}

static double gamma_half(hfi_stream *s)
{
    const double z = hfi_stream_normal(s);
    return z * z - 0.455;
}

static double gamma_two(hfi_stream *s)
{
    return hfi_stream_gamma(s, 2.0) - 1.678;
}

static double log_normal(hfi_stream *s)
{
    return exp(hfi_stream_normal(s)) - 1.0;
}

static double mild_log_normal(hfi_stream *s)
{
    return exp(0.5 * hfi_stream_normal(s)) - 1.0;
}

static double wild_log_normal(hfi_stream *s)
{
    return exp(1.5 * hfi_stream_normal(s)) - 1.0;
}

static double weibull(hfi_stream *s)
{
    const double z = log(hfi_stream_uniform(s));
    return z * z - log(2.0) * log(2.0);
}

static double gumbel(hfi_stream *s)
{
    return -log(-log(hfi_stream_uniform(s))) + log(log(2.0));
}

static double pareto(hfi_stream *s)
{
    return pow(hfi_stream_uniform(s), -0.5) - sqrt(2.0);
}

static double mild_pareto(hfi_stream *s)
{
    return pow(hfi_stream_uniform(s), -1.0 / 3.0) - cbrt(2.0);
}

static double normal_and_exponential(hfi_stream *s)
{
    return hfi_stream_normal(s) + 2.0 * exponential(s);
}

static double normal_and_log_normal(hfi_stream *s)
{
    return 0.5 * hfi_stream_normal(s) + log_normal(s);
}

/* Heavy on one side only. */
static double half_student(hfi_stream *s)
{
    const double z = hfi_stream_normal(s);
    return z < 0.0 ? z : z / sqrt(hfi_stream_gamma(s, 1.0));
}

static double student_two(hfi_stream *s)
{
    return hfi_stream_normal(s) / sqrt(hfi_stream_gamma(s, 1.0));
}

static double cauchy(hfi_stream *s)
{
    return tan(HFI_PI * (hfi_stream_uniform(s) - 0.5));
}

static const law laws[] = {
    exponential,  gamma_half,  gamma_two, log_normal,  mild_log_normal,        wild_log_normal,
    weibull,      gumbel,      pareto,    mild_pareto, normal_and_exponential, normal_and_log_normal,
    half_student, student_two, cauchy};

/* ---- draws ----------------------------------------------------------------------------------------------- */

/* Sds of a table where some readings have near neighbours: from a tenth of the largest on. */
static void draw_sds(hfi_stream *s, residuals *r)
{
    for (size_t i = 0; i < N; i++) {
        r->sd[i] = exp(log(spread) * (hfi_stream_uniform(s) - 1.0));
        r->equal[i] = 1.0;
    }
}

/* Flags the share that is furthest out; the others then have mean 0 and sd 1. */
static void flag_furthest(residuals *r, double share)
{
    double sum = 0.0, squares = 0.0, kept = 0.0;
    for (size_t i = 0; i < N; i++) r->sorted[i] = fabs(r->t[i]);
    const double cut = hfi_quantile(r->sorted, N, 1.0 - share);
    for (size_t i = 0; i < N; i++) {
        r->flag[i] = fabs(r->t[i]) > cut;
        if (r->flag[i]) continue;
        sum += r->t[i];
        squares += r->t[i] * r->t[i];
        kept += 1.0;
    }
    const double mean = sum / kept, sd = sqrt(squares / kept - mean * mean);
    for (size_t i = 0; i < N; i++) r->t[i] = (r->t[i] - mean) / sd;
}

static bool runs_on(residuals *r, double *sd)
{
    const hfi_finder finder = {.n = N, .sorted = r->sorted};
    const hfi_flagging flags = {.flag = r->flag, .t = r->t, .sd = sd};
    return hfi_flags_run_on(&finder, &flags, NULL);
}

/* How many draws of a law run on where sds are not looked at, and how many of these do not where they are.
 * Noise is of one size in the unit of the readings, or in that of their sds. */
static size_t count_turned(law noise, bool by_sd, size_t *slopes)
{
    static residuals r;
    hfi_stream s;
    size_t turned = 0;
    hfi_stream_init(&s, 11, HFI_PURPOSE_TEST, by_sd);
    *slopes = 0;
    for (size_t k = 0; k < DRAWS; k++) {
        draw_sds(&s, &r);
        for (size_t i = 0; i < N; i++) r.t[i] = noise(&s) / (by_sd ? 1.0 : r.sd[i]);
        flag_furthest(&r, 0.03 + 0.07 * hfi_stream_uniform(&s));
        if (!runs_on(&r, r.equal)) continue;
        *slopes += 1;
        turned += runs_on(&r, r.sd) ? 0 : 1;
    }
    return turned;
}

/* Fifteen laws in two units: of the draws that run on, one in a hundred may be taken for a hump, and of all laws
 * together one in 500. */
static void test_tails_are_tails_in_both_units(void **unused)
{
    (void)unused;
    size_t all = 0, turned = 0;
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++)
        for (int by_sd = 0; by_sd < 2; by_sd++) {
            size_t slopes = 0;
            const size_t some = count_turned(laws[k], by_sd == 1, &slopes);
            assert_true(100 * some <= slopes);
            turned += some;
            all += slopes;
        }
    assert_true(all > 20 * DRAWS); /* the others are too few in each bin, or on one side */
    assert_true(500 * turned <= all);
}

/* Errors of the size of their sds; some are off by `least` to three times as much of the typical sd as well, on
 * one side or on both. The furthest of them are flagged. */
static void damage(hfi_stream *s, residuals *r, double least, bool both)
{
    const double typical = exp(-0.5 * log(spread));
    draw_sds(s, r);
    for (size_t i = 0; i < N; i++) {
        r->t[i] = hfi_stream_normal(s);
        if (i < WRONG)
            r->t[i] -= (both && i % 2 == 0 ? -1.0 : 1.0) * least * (1.0 + 2.0 * hfi_stream_uniform(s)) *
                       typical / r->sd[i];
        r->flag[i] = fabs(r->t[i]) > 4.0;
    }
}

/* Draws of damage that are not taken for a tail, with sds and with equal ones. */
static void count_found(double least, bool both, size_t *found, size_t *by_t)
{
    static residuals r;
    hfi_stream s;
    hfi_stream_init(&s, 12, HFI_PURPOSE_TEST, both);
    *found = *by_t = 0;
    for (size_t k = 0; k < DRAWS; k++) {
        damage(&s, &r, least, both);
        *found += runs_on(&r, r.sd) ? 0 : 1;
        *by_t += runs_on(&r, r.equal) ? 0 : 1;
    }
}

/* A tenth of the readings are off by six typical sds and more: four draws of five pass. By standardised sizes
 * alone two of three do. */
static void test_wrong_readings_stand_apart(void **unused)
{
    (void)unused;
    for (int both = 0; both < 2; both++) {
        size_t found = 0, by_t = 0;
        count_found(6.0, both == 1, &found, &by_t);
        assert_true(5 * found >= 4 * DRAWS);
        assert_true(found >= by_t + DRAWS / 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tails_are_tails_in_both_units),
                                       cmocka_unit_test(test_wrong_readings_stand_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
