/* SPDX-License-Identifier: Apache-2.0 */
/* Minimising is maximising -y, to the last digit, whatever the method, the domain and the expert's rule; and
 * finds a valley that moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "track/request_list.h"

static double valley(double x, double t)
{
    return 2.0 + pow(x - 2.0 * sin(0.15 * t), 2.0) / 8.0;
}

/* Both tracks live through the same: the second is told everything with the other sign. */
static void live(hf_context *ctx, hf_track *low, hf_track *high)
{
    uint64_t seed = 3;
    for (unsigned k = 0; k < 16; k++) {
        const double time = 0.8 * k;
        const request_list asked = ask_for(ctx, low, time), mirror = ask_for(ctx, high, time);
        assert_int_equal(asked.count, mirror.count);
        for (size_t i = 0; i < asked.count; i++) {
            assert_near(asked.x[i], mirror.x[i], 0.0);
            assert_near(asked.r[i].sd, mirror.r[i].sd, 0.0);
            if (i % 4 == 3) continue;
            const double y = valley(asked.x[i], time) + (tracks_uniform(&seed) < 0.1 ? 3.0 : 0.0);
            assert_true(hf_track_answer(ctx, low, asked.r[i].id, NAN, y, 0.0) >= 0);
            assert_true(hf_track_answer(ctx, high, mirror.r[i].id, NAN, -y, 0.0) >= 0);
        }
        double at, opposite;
        hf_suggestion a, b;
        const hf_status status = hf_track_ask(ctx, low, time, &at, &a);
        assert_true(status >= 0);
        assert_int_equal(hf_track_ask(ctx, high, time, &opposite, &b), status);
        assert_near(at, opposite, 0.0);
        assert_int_equal(a.index, b.index);
        if (k > 0) {
            assert_near(a.mean, -b.mean, 0.0);
            assert_near(a.bound, -b.bound, 0.0);
            assert_near(a.bound, a.mean - a.beta * a.sd, 1e-12);
            assert_near(a.prior_mean, -b.prior_mean, 0.0);
        }
        assert_near(a.sd, b.sd, 0.0);
        assert_near(a.information, b.information, 0.0);
        const double y = valley(at, time) + 0.1 * (tracks_uniform(&seed) - 0.5);
        tracks_tell(ctx, low, time, at, y, 0.0);
        tracks_tell(ctx, high, time, at, -y, 0.0);
        assert_int_equal(hf_track_record_optimum(ctx, low, time, 2.0, valley(at, time)), HF_OK);
        assert_int_equal(hf_track_record_optimum(ctx, high, time, -2.0, -valley(at, time)), HF_OK);
    }
}

static void same_fit(hf_context *ctx, hf_track *low, hf_track *high)
{
    const hf_status fitted = hf_track_fit(ctx, low);
    assert_true(fitted >= 0);
    assert_int_equal(hf_track_fit(ctx, high), fitted);
    assert_near(hf_track_settings_of(low)->noise, hf_track_settings_of(high)->noise, 0.0);
    assert_near(hf_track_settings_of(low)->age.rate, hf_track_settings_of(high)->age.rate, 0.0);
}

static void it_is_maximising_the_other_sign(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (hf_track_method method = HF_TRACK_GP_UCB; method <= HF_TRACK_SPARQ_REUSE; method++)
        for (unsigned k = 0; k < 4; k++) {
            hf_track_settings s = k % 2 ? tracks_candidates(method) : tracks_settings(method);
            s.places = k < 2 ? HF_PLACES_VARIANCE : HF_PLACES_UPPER;
            s.robust = 2.0;
            if (k == 3) s.mean_given = true, s.mean = -2.5;
            hf_track *high = tracks_make(ctx, &s);
            s.minimise = true;
            s.mean = -s.mean;
            hf_track *low = tracks_make(ctx, &s);
            assert_true(hf_track_settings_of(low)->minimise && !hf_track_settings_of(high)->minimise);
            live(ctx, low, high);
            if (method == HF_TRACK_SPARQ && k == 0) same_fit(ctx, low, high);
            hf_track_summary a, b;
            hf_track_summary_of(low, &a);
            hf_track_summary_of(high, &b);
            assert_true(a.regret >= 0.0 && a.truths == 16);
            assert_near(a.regret, b.regret, 0.0);
            hf_track_free(low);
            hf_track_free(high);
        }
    hf_context_free(ctx);
}

static void it_follows_a_valley(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
    s.minimise = true;
    hf_track *track = tracks_make(ctx, &s);
    double late = 0.0;
    for (unsigned k = 0; k < 60; k++) {
        const double time = 0.8 * k;
        const request_list asked = ask_for(ctx, track, time);
        for (size_t i = 0; i < asked.count; i++)
            assert_true(hf_track_answer(ctx, track, asked.r[i].id, NAN, valley(asked.x[i], time), 0.0) >= 0);
        double x;
        hf_suggestion said;
        assert_true(hf_track_ask(ctx, track, time, &x, &said) >= 0);
        tracks_tell(ctx, track, time, x, valley(x, time), 0.0);
        assert_int_equal(hf_track_record_optimum(ctx, track, time, 2.0, valley(x, time)), HF_OK);
        if (k >= 30) late += valley(x, time) - 2.0;
    }
    assert_true(late / 30.0 < 0.05); /* the hills are 4.5 high */
    hf_track_free(track);
    hf_context_free(ctx);
}

static void a_truth_below_the_best_is_none(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track_settings s = tracks_settings(HF_TRACK_GP_UCB);
    s.minimise = true;
    hf_track *track = tracks_make(ctx, &s);
    hf_track_summary now;
    assert_int_equal(hf_track_record_optimum(ctx, track, 1.0, 2.0, 1.9), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "is below the best there is by 0.1"));
    assert_int_equal(hf_track_record_optimum(ctx, track, 1.0, 2.0, 2.0 * (1.0 - 1e-10)), HF_OK);
    assert_int_equal(hf_track_record_optimum(ctx, track, 2.0, -2.0, 1.0), HF_OK);
    hf_track_summary_of(track, &now);
    assert_int_equal(now.truths, 2);
    assert_near(now.regret, 3.0, 0.0);
    hf_track_free(track);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_maximising_the_other_sign),
        cmocka_unit_test(it_follows_a_valley),
        cmocka_unit_test(a_truth_below_the_best_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
