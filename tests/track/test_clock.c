/* SPDX-License-Identifier: Apache-2.0 */
/* A track's clock is moved by what was told, for good; by questions about times to come only until something earlier
 * is told. And a fit that is stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "track/request_list.h"

static double clock_of(const hf_track *track)
{
    hf_track_summary now;
    hf_track_summary_of(track, &now);
    return now.clock;
}

static void assert_same_readings(const hf_track *a, const hf_track *b)
{
    hf_track_summary left, right;
    hf_track_summary_of(a, &left);
    hf_track_summary_of(b, &right);
    assert_int_equal(left.held, right.held);
    for (size_t i = 0; i < left.held; i++) {
        hf_track_reading r, s;
        assert_int_equal(hf_track_reading_at(a, i, &r), HF_OK);
        assert_int_equal(hf_track_reading_at(b, i, &s), HF_OK);
        assert_near(r.time, s.time, 0.0);
        assert_near(r.weight, s.weight, 0.0);
        assert_near(r.variance, s.variance, 0.0);
        assert_true(r.counts == s.counts);
    }
}

/* A track that is asked about the far future again and again beside one that is not. */
static void questions_move_no_limit(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (hf_track_method method = HF_TRACK_GP_UCB; method <= HF_TRACK_SPARQ_REUSE; method++) {
        hf_track_settings s = tracks_settings(method);
        s.robust = 2.0;
        hf_track *asked = tracks_make(ctx, &s), *quiet = tracks_make(ctx, &s);
        uint64_t seed = 11;
        for (unsigned k = 0; k < 24; k++) {
            const double time = 0.5 * k, x = -4.0 + 8.0 * tracks_uniform(&seed);
            const double y = sin(x) + (k % 5 == 4 ? 4.0 : 0.1 * tracks_uniform(&seed));
            double at;
            hf_suggestion said;
            if (k % 3 == 1) assert_true(hf_track_ask(ctx, asked, 1e12, &at, &said) >= 0);
            if (k % 3 == 1) assert_near(clock_of(asked), 1e12, 0.0);
            tracks_tell(ctx, asked, time, x, y, 0.0);
            tracks_tell(ctx, quiet, time, x, y, 0.0);
            assert_near(clock_of(asked), time, 0.0);
            if (k % 7 == 6) { /* late, and the clock stays */
                assert_true(hf_track_ask(ctx, asked, 1e9, &at, &said) >= 0);
                assert_int_equal(hf_track_tell(ctx, asked, time - 0.2, &x, y, 0.0, NULL),
                                 hf_track_tell(ctx, quiet, time - 0.2, &x, y, 0.0, NULL));
                assert_near(clock_of(asked), time, 0.0);
            }
        }
        hf_track_free(asked);
        hf_track_free(quiet);
    }
    hf_context_free(ctx);
}

static void weights_are_those_without_the_questions(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
    s.robust = 2.0;
    hf_track *asked = tracks_make(ctx, &s), *quiet = tracks_make(ctx, &s);
    uint64_t seed = 7;
    for (unsigned k = 0; k < 30; k++) {
        const double x = -4.0 + 8.0 * tracks_uniform(&seed), y = sin(x) + (k % 5 == 4 ? 4.0 : 0.0);
        double at;
        hf_suggestion said;
        if (k % 3 == 1) assert_true(hf_track_ask(ctx, asked, 1e12, &at, &said) >= 0);
        tracks_tell(ctx, asked, k, x, y, 0.0);
        tracks_tell(ctx, quiet, k, x, y, 0.0);
        assert_same_readings(asked, quiet);
    }
    double weight = 1.0;
    for (size_t i = 0; i < 30; i++) {
        hf_track_reading r;
        if (hf_track_reading_at(asked, i, &r) == HF_OK) weight = fmin(weight, r.weight);
    }
    assert_true(weight < 0.5); /* there was something to weigh */
    hf_track_free(asked);
    hf_track_free(quiet);
    hf_context_free(ctx);
}

/* Under the rule `log` the first readings have horizon 0, but may count once log t has grown: they are taken
 * in any order. */
static void early_readings_come_in_any_order(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_track_settings s = tracks_settings(HF_TRACK_SPARQ);
    hf_track *track = tracks_make(ctx, &s);
    const double times[] = {3.0, 2.6, 3.1, 2.9, 2.5};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        tracks_tell(ctx, track, times[i], 0.5 * (double)i, 1.0, 0.0);
    /* horizon at the last step there can be: noise log(2^64) = noise + (rate age)^2 */
    const double last = sqrt(TRACKS_NOISE * (log(18446744073709551615.0) - 1.0)) / TRACKS_RATE;
    const double x = 1.0;
    tracks_tell(ctx, track, 3.1 - last + 1e-6, x, 1.0, 0.0);
    assert_int_equal(hf_track_tell(ctx, track, 3.1 - last - 1e-6, &x, 1.0, 0.0, NULL), HF_ERR_ARGUMENT);
    hf_track_free(track);
    hf_context_free(ctx);
}

static bool stop_after(const char *stage, double done, double value, void *user)
{
    (void)value;
    if (strcmp(stage, "fit") != 0) return true;
    assert_true(done >= 0.0 && done <= 1.0);
    int *left = user;
    return (*left)-- > 0;
}

static void a_fit_can_be_stopped(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
    hf_track *track = tracks_make(ctx, &s);
    for (unsigned k = 0; k < 20; k++) tracks_tell(ctx, track, k, -4.0 + 0.4 * k, sin(k), 0.0);
    const double noise = hf_track_settings_of(track)->noise, rate = hf_track_settings_of(track)->age.rate;
    int left = 3;
    hf_context_set_progress(ctx, stop_after, &left);
    assert_int_equal(hf_track_fit(ctx, track), HF_ERR_CANCELLED);
    assert_int_equal(left, -1); /* not asked again */
    assert_near(hf_track_settings_of(track)->noise, noise, 0.0);
    assert_near(hf_track_settings_of(track)->age.rate, rate, 0.0);
    left = 1000;
    assert_true(hf_track_fit(ctx, track) >= 0);
    assert_true(left < 1000);
    hf_track_free(track);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_move_no_limit),
        cmocka_unit_test(weights_are_those_without_the_questions),
        cmocka_unit_test(early_readings_come_in_any_order),
        cmocka_unit_test(a_fit_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
