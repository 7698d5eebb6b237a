/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to the calls of a track; see test_arguments.c. Settings one by one, and what a state forbids,
 * are in tests/track/test_track.c. */
#include "api/refused.h"

static hf_track *made(hf_context *ctx, hf_track_method method)
{
    static const double lower[] = {0.0}, upper[] = {4.0};
    hf_track_settings s = hf_track_settings_default(method);
    s.domain = (hf_domain){.dimension = 1, .lower = lower, .upper = upper};
    s.age.rate = 0.2;
    hf_track *track = NULL;
    if (hf_track_create(ctx, &s, &track) != HF_OK) fail_msg("%s", hf_context_message(ctx));
    return track;
}

static void names(workshop *w)
{
    hf_track_method method = HF_TRACK_TV_GP_UCB;
    hf_beta_rule beta = HF_BETA_THEORY;
    hf_discard_rule discard = HF_DISCARD_LOG;
    hf_place_rule places = HF_PLACES_DPP;
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_TRACK_METHOD, "ucb", &method));
    assert_contains(hf_context_message(w->ctx), "sparq-reuse");
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_TRACK_METHOD, NULL, &method));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_TRACK_METHOD, "sparq", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_BETA_RULE, "2", &beta));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_BETA_RULE, NULL, &beta));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_BETA_RULE, "given", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_DISCARD_RULE, "", &discard));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_DISCARD_RULE, NULL, &discard));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_DISCARD_RULE, "log", NULL));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_PLACE_RULE, "auto", &places));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_PLACE_RULE, NULL, &places));
    ARGUMENT(hf_enum_parse(w->ctx, HF_ENUM_PLACE_RULE, "dpp", NULL));
    assert_true(method == HF_TRACK_TV_GP_UCB && beta == HF_BETA_THEORY && discard == HF_DISCARD_LOG &&
                places == HF_PLACES_DPP);
    for (int k = -1; k < 20; k += 20) { /* no such number: some name all the same, or none, but no crash */
        (void)hf_enum_name(HF_ENUM_TRACK_METHOD, (unsigned)k);
        (void)hf_enum_name(HF_ENUM_BETA_RULE, (unsigned)k);
        (void)hf_enum_name(HF_ENUM_DISCARD_RULE, (unsigned)k);
        (void)hf_enum_name(HF_ENUM_PLACE_RULE, (unsigned)k);
    }
    for (hf_track_method m = HF_TRACK_GP_UCB; m <= HF_TRACK_SPARQ_REUSE; m++) {
        assert_int_equal(
            hf_enum_parse(w->ctx, HF_ENUM_TRACK_METHOD, hf_enum_name(HF_ENUM_TRACK_METHOD, m), &method),
            HF_OK);
        assert_int_equal(method, m);
    }
}

static void recommending(workshop *w)
{
    const double bad[] = {0.0, -1.0, NAN, INFINITY};
    double out = 77.0;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        ARGUMENT(hf_track_theoretical_window(w->ctx, HF_TRACK_SW_GP_UCB, bad[k], 0.1, 2.0, &out));
        ARGUMENT(hf_track_theoretical_window(w->ctx, HF_TRACK_W_GP_UCB, 500.0, bad[k], 2.0, &out));
        ARGUMENT(hf_track_theoretical_window(w->ctx, HF_TRACK_TV_GP_UCB, 500.0, 0.1, bad[k], &out));
    }
    ARGUMENT(hf_track_theoretical_window(w->ctx, HF_TRACK_SPARQ, 500.0, 0.1, 2.0, &out));
    ARGUMENT(hf_track_theoretical_window(w->ctx, HF_TRACK_SW_GP_UCB, 500.0, 0.1, 2.0, NULL));
    assert_true(out == 77.0);
    /* The window of Zhou and Shroff, the weight of Deng et al., and the forgetting of Bogunovic et al., from
     * the formulas. */
    assert_int_equal(hf_track_theoretical_window(w->ctx, HF_TRACK_SW_GP_UCB, 500.0, 0.02, 16.0, &out), HF_OK);
    assert_true(fabs(out - 2.0 * sqrt(50.0)) < 1e-12);
    assert_int_equal(hf_track_theoretical_window(w->ctx, HF_TRACK_W_GP_UCB, 500.0, 0.02, 16.0, &out), HF_OK);
    assert_true(fabs(out - (1.0 - 0.5 * sqrt(0.02))) < 1e-12);
    assert_int_equal(hf_track_theoretical_window(w->ctx, HF_TRACK_TV_GP_UCB, 500.0, 0.3, 2.0, &out), HF_OK);
    assert_true(fabs(2.0 * 2.0 * (1.0 - sqrt(1.0 - out)) - 0.09) < 1e-12);
}

static void steps(workshop *w)
{
    hf_track *track = made(w->ctx, HF_TRACK_SPARQ);
    const double x = 1.0;
    double place = 77.0;
    size_t count = 77;
    hf_suggestion said;
    hf_posterior *posterior = NULL;
    ARGUMENT(hf_track_tell(w->ctx, NULL, 0.0, &x, 1.0, 0.0, NULL));
    ARGUMENT(hf_track_tell(w->ctx, track, 0.0, NULL, 1.0, 0.0, NULL));
    ARGUMENT(hf_track_requests(w->ctx, NULL, 0.0, &count));
    ARGUMENT(hf_track_requests(w->ctx, track, 0.0, NULL));
    ARGUMENT(hf_track_answer(w->ctx, NULL, 1, NAN, 1.0, 0.0));
    ARGUMENT(hf_track_answer(w->ctx, track, 1, NAN, 1.0, 0.0));
    ARGUMENT(hf_track_ask(w->ctx, NULL, 0.0, &place, &said));
    ARGUMENT(hf_track_ask(w->ctx, track, 0.0, NULL, &said));
    ARGUMENT(hf_track_ask(w->ctx, track, 0.0, &place, NULL));
    ARGUMENT(hf_track_posterior(w->ctx, NULL, 0.0, &posterior, NULL));
    ARGUMENT(hf_track_posterior(w->ctx, track, 0.0, NULL, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_track_posterior(w->ctx, track, 0.0, &posterior, NULL));
    ARGUMENT(hf_track_fit(w->ctx, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_track_fit(w->ctx, track));
    ARGUMENT(hf_track_record_optimum(w->ctx, NULL, 0.0, 1.0, 0.0));
    ARGUMENT(hf_track_record_optimum(w->ctx, track, 0.0, 0.0, 1.0));
    assert_int_equal(hf_track_tell(NULL, track, 0.0, &x, 1.0, 0.0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_ask(NULL, track, 0.0, &place, &said), HF_ERR_ARGUMENT);
    assert_true(place == 77.0 && count == 77 && posterior == NULL);
    hf_track_summary summary;
    hf_track_summary_of(track, &summary);
    assert_true(summary.told == 0 && summary.asked == 0 && isnan(summary.clock));
    hf_track_free(track);
}

static void looking(workshop *w)
{
    hf_track *track = made(w->ctx, HF_TRACK_GP_UCB);
    hf_track_request request;
    hf_track_reading reading;
    hf_track_summary summary = {.told = 77};
    assert_int_equal(hf_track_request_at(track, 0, &request), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_request_at(NULL, 0, &request), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_request_at(track, 0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_reading_at(track, 0, &reading), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_reading_at(NULL, 0, &reading), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_reading_at(track, 0, NULL), HF_ERR_ARGUMENT);
    hf_track_summary_of(track, NULL);
    hf_track_summary_of(NULL, &summary);
    assert_int_equal(summary.told, 0);
    assert_int_equal(hf_track_pending_count(NULL), 0);
    assert_null(hf_track_settings_of(NULL));
    assert_null(hf_track_kernel(NULL));
    assert_null(hf_track_name(NULL, 0));
    assert_null(hf_track_name(track, 1));
    hf_track_free(track);
    hf_track_free(NULL);
}

REFUSED_TEST(names)
REFUSED_TEST(recommending)
REFUSED_TEST(steps)
REFUSED_TEST(looking)

static void advising(workshop *w)
{
    hf_track *track = made(w->ctx, HF_TRACK_GP_UCB), *learnt = NULL;
    const hf_advice_settings fine = hf_advice_settings_default();
    hf_advice_settings bad[] = {fine, fine, fine, fine, fine, fine};
    hf_track_advice advice = {.rows = 77};
    hf_track_standing standing = {.compared = 77};
    double x = 77.0;
    ARGUMENT(hf_track_standing_of(w->ctx, NULL, &x, &standing));
    ARGUMENT(hf_track_standing_of(w->ctx, track, NULL, &standing));
    ARGUMENT(hf_track_standing_of(w->ctx, track, &x, NULL));
    REFUSED(HF_ERR_NO_DATA, hf_track_standing_of(w->ctx, track, &x, &standing));
    ARGUMENT(hf_track_advise(w->ctx, NULL, &fine, &advice, &learnt));
    ARGUMENT(hf_track_advise(w->ctx, track, NULL, &advice, &learnt));
    ARGUMENT(hf_track_advise(w->ctx, track, &fine, NULL, &learnt));
    REFUSED(HF_ERR_NO_DATA, hf_track_advise(w->ctx, track, &fine, &advice, &learnt));
    bad[0].draws = 1;
    bad[1].draws = 1001;
    bad[2].steps = 1;
    bad[3].steps = 1001;
    bad[4].step = -1.0;
    bad[5].step = NAN;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        ARGUMENT(hf_track_advise(w->ctx, track, &bad[k], &advice, &learnt));
    assert_int_equal(hf_track_standing_of(NULL, track, &x, &standing), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_advise(NULL, track, &fine, &advice, &learnt), HF_ERR_ARGUMENT);
    assert_true(x == 77.0 && standing.compared == 77 && advice.rows == 77 && learnt == NULL);
    hf_track_free(track);
}
REFUSED_TEST(advising)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_refuse),    cmocka_unit_test(recommending_refuse),
        cmocka_unit_test(steps_refuse),    cmocka_unit_test(looking_refuse),
        cmocka_unit_test(advising_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
