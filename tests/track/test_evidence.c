/* SPDX-License-Identifier: Apache-2.0 */
/* The evidence of readings in time: value by dense algebra, gradient by differences, and fits of tracks that
 * were simulated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "track/evidence.h"
#include "track/tracks.h"

#define TWO_PI 6.28318530717958647692

enum {
    N = 21,
    SIMULATED = 160
};

static double normal(uint64_t *seed)
{
    const double u = tracks_uniform(seed), v = tracks_uniform(seed);
    return sqrt(-2.0 * log(u)) * cos(TWO_PI * v);
}

/* ---- the evidence ------------------------------------------------------------------------------------------------ */

static void fill(hfi_evidence *e, uint64_t seed)
{
    for (size_t i = 0; i < e->n; i++) {
        for (size_t j = 0; j < e->d; j++) e->x[i * e->d + j] = 3.0 * tracks_uniform(&seed);
        e->time[i] = 6.0 * tracks_uniform(&seed);
        e->y[i] = sin(e->x[i * e->d] + 0.3 * e->time[i]) + 2.0;
        e->known[i] = i % 3 == 0 ? 0.03 : 0.0;
        e->share[i] = i % 3 == 0 ? 0.0 : 1.0 + 2.0 * (double)(i % 2);
    }
    e->x[e->d] = e->x[0]; /* the same place, and the same time */
    e->time[1] = e->time[0];
}

static hfi_evidence make(hf_context *ctx, const char *expression, size_t d, hf_kernel **kernel)
{
    hfi_evidence e;
    assert_int_equal(hf_kernel_parse(ctx, expression, NULL, d, kernel), HF_OK);
    assert_int_equal(hfi_evidence_create(ctx, *kernel, N, &e), HF_OK);
    fill(&e, 5);
    return e;
}

/* log N(y; m 1, A) of a kernel 0.8 se(1.3) at T = period, with the best constant. */
static double directly(const hfi_evidence *e, double noise, double period)
{
    static long double a[DENSE_MOST][DENSE_MOST];
    long double ones[N], y[N], value = -0.5L * N * logl(2.0L * acosl(-1.0L));
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j <= i; j++) {
            const long double gap = ((long double)e->time[i] - e->time[j]) / period;
            a[i][j] = dense_kernel(e->x[i], e->x[j]) * expl(-0.5L * gap * gap);
        }
        a[i][i] += e->known[i] + (long double)noise * e->share[i];
        ones[i] = 1.0L;
        y[i] = e->y[i];
    }
    value -= 0.5L * dense_factor(N, a);
    dense_forward(N, a, ones);
    dense_forward(N, a, y);
    const long double m = dense_dot(N, ones, y) / dense_dot(N, ones, ones);
    for (size_t i = 0; i < N; i++) y[i] -= m * ones[i];
    return (double)(value - 0.5L * dense_dot(N, y, y));
}

static void the_value_is_the_formula(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    hfi_evidence e = make(ctx, "0.8*se(lengthscale~1.3)", 1, &kernel);
    double point[4], value;
    hfi_kernel_theta(kernel, point);
    for (unsigned k = 0; k < 4; k++) {
        const double noise = 0.004 * pow(5.0, k), period = 0.3 * pow(4.0, k);
        point[2] = log(noise);
        point[3] = log(period);
        assert_int_equal(hfi_evidence_evaluate(&e, point, &value, NULL), HF_OK);
        assert_near(value, directly(&e, noise, period), 1e-9);
    }
    hfi_evidence_free(&e);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

static void gradients_are_those_of_the_value(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const char *const kernels[] = {"se", "matern32(ard)", "0.5*matern52(x1) + rq(x2)",
                                   "se(x1)*periodic(x2, period~2) + linear", "0.3*matern12 + 0.1*white"};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        hf_kernel *kernel = NULL;
        hfi_evidence e = make(ctx, kernels[k], 2, &kernel);
        const size_t p = hf_kernel_parameters(kernel);
        double point[12], gradient[12], value, above, below;
        assert_true(p + 2 <= 12);
        hfi_kernel_theta(kernel, point);
        point[p] = log(0.05);
        point[p + 1] = log(1.7);
        assert_int_equal(hfi_evidence_evaluate(&e, point, &value, gradient), HF_OK);
        for (size_t i = 0; i < p + 2; i++) {
            const double was = point[i], step = 1e-5;
            point[i] = was + step;
            assert_int_equal(hfi_evidence_evaluate(&e, point, &above, NULL), HF_OK);
            point[i] = was - step;
            assert_int_equal(hfi_evidence_evaluate(&e, point, &below, NULL), HF_OK);
            point[i] = was;
            assert_near(gradient[i], (above - below) / (2.0 * step), 1e-6 * (1.0 + fabs(gradient[i])));
        }
        hfi_evidence_free(&e);
        hf_kernel_free(kernel);
    }
    hf_context_free(ctx);
}

/* ---- fits -------------------------------------------------------------------------------------------------------- */

/* Readings of a draw from the model itself: scale, lengthscale, noise, and T = sqrt(scale) / rate. */
typedef struct truth {
    double scale, length, noise, period;
} truth;

/* f over n points in place and time, by a finite sum of random waves: spectral densities of both squared
 * exponentials are normal. */
static void simulate(const truth *t, uint64_t seed, size_t n, const double *x, const double *time, double *y)
{
    enum {
        WAVES = 400
    };
    memset(y, 0, n * sizeof *y);
    for (size_t k = 0; k < WAVES; k++) {
        const double in_x = normal(&seed) / t->length, in_time = normal(&seed) / t->period;
        const double phase = TWO_PI * tracks_uniform(&seed);
        for (size_t i = 0; i < n; i++)
            y[i] += sqrt(2.0 * t->scale / WAVES) * cos(in_x * x[i] + in_time * time[i] + phase);
    }
    for (size_t i = 0; i < n; i++) y[i] += 4.0 + sqrt(t->noise) * normal(&seed);
}

static hf_track *simulated(hf_context *ctx, const hf_track_settings *s, const truth *t, uint64_t seed)
{
    double x[SIMULATED], time[SIMULATED], y[SIMULATED];
    for (size_t i = 0; i < SIMULATED; i++) {
        x[i] = -4.0 + 8.0 * tracks_uniform(&seed);
        time[i] = 0.2 * ((double)i + tracks_uniform(&seed));
    }
    simulate(t, seed, SIMULATED, x, time, y);
    hf_track *track = tracks_make(ctx, s);
    for (size_t i = 0; i < SIMULATED; i++) tracks_tell(ctx, track, time[i], x[i], y[i], 0.0);
    return track;
}

static double parameter(const hf_track *track, size_t i)
{
    hf_parameter p;
    assert_int_equal(hf_kernel_parameter(hf_track_kernel(track), i, &p), HF_OK);
    return p.value;
}

static void within_factor(double value, double expected, double factor)
{
    if (!(value > expected / factor && value < expected * factor))
        fail_msg("%g is not %g within a factor of %g", value, expected, factor);
}

static void a_fit_finds_what_readings_were_made_with(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const truth truths[] = {{0.8, 1.3, 0.02, 4.0}, {0.8, 0.9, 0.1, 9.0}};
    for (size_t k = 0; k < 2; k++) {
        hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
        s.noise = 0.05;
        s.age.rate = 1.0;
        hf_track *track = simulated(ctx, &s, &truths[k], 17 + k);
        assert_int_equal(hf_track_fit(ctx, track), HF_OK);
        const hf_track_settings *after = hf_track_settings_of(track);
        within_factor(parameter(track, 1), truths[k].length, 1.3);
        within_factor(parameter(track, 0), truths[k].scale, 2.0);
        within_factor(after->noise, truths[k].noise, 1.6);
        assert_near(after->expert_noise, after->noise, 0.0);
        within_factor(after->age.rate, sqrt(truths[k].scale) / truths[k].period, 1.7);
        hf_track_reading reading;
        assert_int_equal(hf_track_reading_at(track, 0, &reading), HF_OK);
        for (size_t i = 0; i < SIMULATED; i++) assert_near(track->recent.noise[i], after->noise, 0.0);
        assert_near(reading.noise, after->noise, 0.0); /* readings with the track's noise have the new one */
        hf_track_free(track);
    }
    hf_context_free(ctx);
}

static void what_is_held_stays(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const truth made = {0.8, 1.3, 0.02, 4.0};
    const char *const kernels[] = {"0.5*se(lengthscale=1.1)", "0.5*se(lengthscale=1.6)"};
    for (size_t k = 0; k < 2; k++) {
        hf_track_settings s = tracks_settings(HF_TRACK_UI_GP_UCB);
        s.kernel = kernels[k];
        s.age = (hf_age_law){.kind = HF_AGE_LINEAR, .rate = 0.07}; /* which is not trained */
        s.expert_noise = 0.3;
        hf_track *track = simulated(ctx, &s, &made, 3);
        assert_true(hf_track_fit(ctx, track) >= 0);
        assert_near(parameter(track, 1), k == 0 ? 1.1 : 1.6, 1e-15);
        assert_true(fabs(parameter(track, 0) - 0.5) > 1e-3);
        assert_near(hf_track_settings_of(track)->age.rate, 0.07, 0.0);
        assert_near(hf_track_settings_of(track)->expert_noise, 0.3, 0.0);
        hf_track_free(track);
    }
    hf_context_free(ctx);
}

static void noises_of_their_own_are_kept(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track_settings s = tracks_settings(HF_TRACK_UI_GP_UCB);
    hf_track *track = tracks_make(ctx, &s);
    uint64_t seed = 9;
    for (size_t i = 0; i < 40; i++)
        tracks_tell(ctx, track, 0.1 * (double)i, -4.0 + 0.2 * (double)i,
                    sin(0.2 * (double)i) + 0.3 * normal(&seed), i % 2 == 0 ? 0.5 : 0.0);
    assert_true(hf_track_fit(ctx, track) >= 0);
    for (size_t i = 0; i < 40; i++) {
        hf_track_reading r;
        assert_int_equal(hf_track_reading_at(track, i, &r), HF_OK);
        assert_near(r.noise, i % 2 == 0 ? 0.5 : hf_track_settings_of(track)->noise, 0.0);
    }
    within_factor(hf_track_settings_of(track)->noise, 0.09, 2.5);
    hf_track_free(track);
    hf_context_free(ctx);
}

/* Robust sites are linear in the noise: after a fit they are those of the new noise, with the old weight. */
static void robust_sites_follow_the_noise(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
    s.robust = 2.0;
    hf_track *track = tracks_make(ctx, &s);
    uint64_t seed = 4;
    double weight[30], shift[30];
    for (size_t i = 0; i < 30; i++)
        tracks_tell(ctx, track, 0.1 * (double)i, -4.0 + 0.2 * (double)i,
                    sin(0.2 * (double)i) + 0.1 * normal(&seed) + (i == 20 ? 4.0 : 0.0), 0.0);
    for (size_t i = 0; i < 30; i++) {
        weight[i] = track->told[i].weight;
        shift[i] = (track->told[i].target - track->told[i].y) / TRACKS_NOISE;
    }
    assert_true(weight[20] < 0.1 && shift[20] != 0.0);
    assert_true(hf_track_fit(ctx, track) >= 0);
    const double noise = hf_track_settings_of(track)->noise;
    within_factor(noise, 0.01, 2.5); /* for the weights are the evidence's too */
    assert_true(noise != TRACKS_NOISE);
    for (size_t i = 0; i < 30; i++) {
        assert_near(track->told[i].weight, weight[i], 0.0);
        assert_near(track->told[i].variance, noise / weight[i], 1e-12 * noise / weight[i]);
        assert_near(track->told[i].target, track->told[i].y + noise * shift[i], 1e-12);
    }
    hf_track_free(track);
    hf_context_free(ctx);
}

/* Readings of one moment say nothing about drift. */
static void a_survey_leaves_the_rate(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double rates[] = {1e-5, 0.15, 40.0};
    for (size_t k = 0; k < 3; k++) {
        hf_track_settings s = tracks_settings(HF_TRACK_UI_GP_UCB);
        s.age.rate = rates[k];
        hf_track *track = tracks_make(ctx, &s);
        uint64_t seed = 12;
        for (size_t i = 0; i < 30; i++) {
            const double x = -4.0 + 0.27 * (double)i;
            tracks_tell(ctx, track, 7.0, x, 3.0 * sin(x) + 0.1 * normal(&seed), 0.0);
        }
        const double period = sqrt(track->typical) / rates[k];
        assert_int_equal(hf_track_fit(ctx, track), HF_OK);
        assert_true(track->typical > 1.2 * TRACKS_SCALE);
        assert_near(sqrt(track->typical) / hf_track_settings_of(track)->age.rate, period, 1e-9 * period);
        hf_track_free(track);
    }
    hf_context_free(ctx);
}

static void few_or_flat_readings(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_track_settings s = tracks_settings(HF_TRACK_UI_GP_UCB);
    hf_track *track = tracks_make(ctx, &s);
    assert_int_equal(hf_track_fit(NULL, track), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_fit(ctx, NULL), HF_ERR_ARGUMENT);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(hf_track_fit(ctx, track), HF_ERR_NO_DATA);
        tracks_tell(ctx, track, 3.0, 0.5, 1.0, 0.0); /* all the same, at one time and place */
    }
    const hf_status status = hf_track_fit(ctx, track);
    assert_true(status == HF_OK || status == HF_WARN_AT_BOUND || status == HF_WARN_NOT_CONVERGED);
    const hf_track_settings *after = hf_track_settings_of(track);
    assert_true(after->noise > 0.0 && isfinite(after->noise) && after->age.rate > 0.0);
    double x;
    hf_suggestion said;
    assert_true(hf_track_ask(ctx, track, 3.0, &x, &said) >= 0);
    assert_true(isfinite(said.bound));
    hf_track_free(track);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_value_is_the_formula),
        cmocka_unit_test(gradients_are_those_of_the_value),
        cmocka_unit_test(a_fit_finds_what_readings_were_made_with),
        cmocka_unit_test(what_is_held_stays),
        cmocka_unit_test(noises_of_their_own_are_kept),
        cmocka_unit_test(robust_sites_follow_the_noise),
        cmocka_unit_test(a_survey_leaves_the_rate),
        cmocka_unit_test(few_or_flat_readings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
