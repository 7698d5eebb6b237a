/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a track: settings, robust weights, suggestions, books, and all that is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/settings.h"
#include "track/state.h"

/* ---- settings ------------------------------------------------------------------------------------------ */

static void refuse(hf_context *ctx, hf_track_settings s, hf_status expected, const char *word)
{
    hf_track *track = NULL;
    assert_int_equal(hf_track_create(ctx, &s, &track), expected);
    assert_null(track);
    if (strstr(hf_context_message(ctx), word) == NULL)
        fail_msg("'%s' does not say '%s'", hf_context_message(ctx), word);
}

/* Each setting alone made bad: a name for the message, and the field. */
#define BAD(word, assignment)                                                                                \
    (s = tracks_settings(method), (assignment), refuse(ctx, s, HF_ERR_ARGUMENT, word))

static void bad_settings_are_refused_one_by_one(void **state)
{
    (void)state;
    const double tenth = 0.1;
    const bool yes = true;
    hf_context *ctx = hf_context_create();
    const hf_track_method method = HF_TRACK_SPARQ_REUSE;
    hf_track_settings s = tracks_settings(method);
    const double wrong[] = {0.0, -1.0, NAN, INFINITY};
    for (size_t k = 0; k < 4; k++) {
        BAD("noise is", s.noise = wrong[k]);
        if (k > 0) BAD("expert_noise is", s.expert_noise = wrong[k]);
        if (k > 1) BAD("mean is", (s.mean_given = true, s.mean = wrong[k]));
        BAD("discard_variance is", (s.discard = HF_DISCARD_VARIANCE, s.discard_variance = wrong[k]));
        if (k < 3) BAD("negligible", s.negligible = wrong[k]);
        if (k > 0) BAD("beta is", s.beta = wrong[k]);
        if (k > 0) BAD("norm_bound is", (s.beta_rule = HF_BETA_THEORY, s.norm_bound = wrong[k]));
        BAD("delta", (s.beta_rule = HF_BETA_THEORY, s.delta = wrong[k]));
        if (k > 0) BAD("robust", s.robust = wrong[k]);
        if (k > 0) BAD("query_factor is", s.query_factor = wrong[k]);
        if (k > 0) BAD("query_power is", s.query_power = wrong[k]);
        if (k > 0) BAD("every is", s.every = wrong[k]);
        if (k > 0) BAD("tolerance", s.tolerance = wrong[k]);
        if (k < 3) BAD("superseded is", s.superseded = wrong[k]);
        BAD("rate", s.age.rate = wrong[k]);
        BAD("window", (s.method = HF_TRACK_SW_GP_UCB, s.window = wrong[k]));
        BAD("window", (s.method = HF_TRACK_R_GP_UCB, s.window = wrong[k]));
        if (k > 0)
            BAD(k == 2 ? "eps" : "forgetting is", (s.method = HF_TRACK_TV_GP_UCB, s.forgetting = wrong[k]));
        BAD(k == 0 || k == 2 ? "eta" : "forgetting is",
            (s.method = HF_TRACK_W_GP_UCB, s.forgetting = wrong[k]));
        if (k > 0) BAD("resolution", s.resolution = wrong[k]);
    }
    BAD("delta", (s.beta_rule = HF_BETA_THEORY, s.delta = 1.0));
    BAD("eps", (s.method = HF_TRACK_TV_GP_UCB, s.forgetting = 1.0));
    BAD("forgetting is", (s.method = HF_TRACK_W_GP_UCB, s.forgetting = 1.1));
    BAD("most_places", s.most_places = 15);
    BAD("iterations", s.iterations = 0);
    BAD("resolution", s.resolution = 0.6);
    BAD("there is no choice of", s.places = (hf_place_rule)5);
    BAD("there is no choice of", s.method = (hf_track_method)8);
    BAD("table", (s.age.kind = HF_AGE_TABLE, s.age.entries = 0));
    BAD("no inputs", s.domain.dimension = 0);
    BAD("bounds", s.domain.lower = NULL);
    BAD("no steps", s.domain.step = &tenth);
    BAD("no categories", s.domain.category = &yes);
    BAD("white", s.kernel = "se + white");
    BAD("one output", s.kernel = "coregion(x1, outputs=2)");
    const char *const nameless[] = {""};
    BAD("name of input 1", s.names = nameless);
    s = tracks_settings(method), s.kernel = "se(", refuse(ctx, s, HF_ERR_PARSE, "se(");
    hf_track *track = NULL;
    assert_int_equal(hf_track_create(NULL, &s, &track), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_create(ctx, NULL, &track), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_create(ctx, &s, NULL), HF_ERR_ARGUMENT);
    hf_track_free(NULL);
    hf_context_free(ctx);
}

static void nothing_is_left_to_a_default(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double lower[] = {-1.0, 0.0, 5.0}, upper[] = {1.0, 100.0, 5.0};
    char first[] = "speed", second[] = "angle", third[] = "fixed";
    const char *names[] = {first, second, third};
    hf_track_settings s = hf_track_settings_default(HF_TRACK_SPARQ);
    s.domain = (hf_domain){.dimension = 3, .lower = lower, .upper = upper};
    s.names = names;
    s.age.rate = 0.1;
    hf_track *track = tracks_make(ctx, &s);
    lower[0] = upper[0] = 77.0; /* what was given is copied */
    first[0] = 'X';
    const hf_track_settings *own = hf_track_settings_of(track);
    assert_string_equal(hf_track_name(track, 0), "speed");
    assert_null(hf_track_name(track, 3));
    assert_near(own->domain.lower[0], -1.0, 0.0);
    assert_near(own->expert_noise, own->noise, 0.0);
    assert_near(own->query_power, 1.0, 0.0);
    hf_parameter p;
    const double lengths[] = {0.2, 10.0, 0.1};
    for (size_t j = 0; j < 3; j++) {
        assert_int_equal(hf_kernel_parameter(hf_track_kernel(track), 1 + j, &p), HF_OK);
        assert_near(p.value, lengths[j], 1e-12);
        assert_false(p.fixed);
    }
    hf_suggestion said;
    double x[3];
    assert_int_equal(hf_track_ask(ctx, track, 0.0, x, &said), HF_OK);
    assert_near(x[0], 0.0, 0.0);
    assert_near(x[1], 50.0, 0.0);
    assert_near(x[2], 5.0, 0.0);
    assert_true(isnan(said.mean) && said.sd == 1.0 && said.readings == 0);
    hf_track_free(track);
    hf_context_free(ctx);
}

/* ---- robust weights ------------------------------------------------------------------------------------ */

/* The reading told last against the formula: centre and variance of the posterior `last`, made for the time `its`. */
static void check_weight(hf_context *ctx, const hf_track *track, const hf_posterior *last, double its,
                         double k)
{
    hf_track_summary summary;
    hf_track_reading r;
    hf_track_summary_of(track, &summary);
    assert_int_equal(hf_track_reading_at(track, summary.held - 1, &r), HF_OK);
    double weight = 1.0, shift = 0.0;
    if (last != NULL) {
        double centre, variance;
        assert_int_equal(hf_predict(ctx, last, 1, r.x, 1, &centre, &variance, NULL), HF_OK);
        const double drift = pow(TRACKS_RATE * (r.time - its), 2.0), off = r.y - centre;
        const double c2 = k * k * (variance + drift + r.noise);
        weight = 1.0 / (1.0 + off * off / c2);
        shift = 2.0 * off / (c2 + off * off);
    }
    assert_near(r.weight, weight, 1e-12);
    const hfi_told *site = &track->told[summary.held - 1];
    assert_near(site->variance, r.noise / weight, 1e-10 * site->variance);
    assert_near(site->target, r.y + r.noise * shift, 1e-12);
    assert_near(r.variance, r.noise / weight + pow(TRACKS_RATE * (summary.clock - r.time), 2.0),
                1e-10 * r.variance);
}

static hf_posterior *posterior_at(hf_context *ctx, const hf_track *track, double time)
{
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_track_posterior(ctx, track, time, &posterior, NULL), HF_OK);
    return posterior;
}

static void weights_are_those_of_the_formula(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
    s.robust = 1.7;
    hf_track *track = tracks_make(ctx, &s);
    hf_posterior *last = NULL, *next = NULL;
    hf_suggestion said;
    double x;
    size_t count;
    tracks_tell(ctx, track, 0.0, 1.0, 0.4, 0.0);
    check_weight(ctx, track, NULL, 0.0, 1.7); /* there is nothing to compare the first with */
    tracks_tell(ctx, track, 0.0, 1.5, 9.0, 0.0);
    check_weight(ctx, track, NULL, 0.0, 1.7);
    last = posterior_at(ctx, track, 0.0);
    tracks_tell(ctx, track, 1.5, 1.2, -3.0, 0.0); /* moves the clock on */
    check_weight(ctx, track, last, 0.0, 1.7);
    tracks_tell(ctx, track, 1.5, -2.0, 4.0, 0.3); /* at the same time: with the same */
    check_weight(ctx, track, last, 0.0, 1.7);
    tracks_tell(ctx, track, 0.7, 1.3, 4.0, 0.0); /* out of order: too */
    check_weight(ctx, track, last, 0.0, 1.7);
    hf_posterior_free(last);
    last = posterior_at(ctx, track, 1.5);
    assert_int_equal(hf_track_requests(ctx, track, 4.0, &count), HF_OK); /* which moves the clock on */
    assert_true(count > 2);
    for (uint64_t id = 1; id <= 3;
         id++) { /* an expert errs like others; answers of a list do not judge each other */
        assert_int_equal(hf_track_answer(ctx, track, id, id == 2 ? 4.3 : NAN, 5.0 - (double)id, 0.0), HF_OK);
        if (id == 2) { /* measured later: what there was at 4 is what it is compared with */
            check_weight(ctx, track, next, 4.0, 1.7);
            hf_posterior_free(last);
            last = next;
            continue;
        }
        check_weight(ctx, track, last, id == 1 ? 1.5 : 4.0, 1.7);
        if (id == 1) next = posterior_at(ctx, track, 4.0);
    }
    next = posterior_at(ctx, track, 5.0);
    assert_int_equal(hf_track_ask(ctx, track, 5.0, &x, &said), HF_OK);
    tracks_tell(ctx, track, 5.0, x, 1.0, 0.0); /* with what was suggested by */
    check_weight(ctx, track, next, 5.0, 1.7);
    hf_posterior_free(last);
    hf_posterior_free(next);
    hf_track_free(track);
    hf_context_free(ctx);
}

static void a_reading_of_any_size_is_survived(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (unsigned robust = 0; robust < 2; robust++) {
        hf_track_settings s = tracks_settings(HF_TRACK_SW_GP_UCB);
        s.robust = robust;
        hf_track *track = tracks_make(ctx, &s);
        hf_suggestion said;
        double x;
        tracks_tell(ctx, track, 0.0, 0.0, 1.0, 0.0);
        tracks_tell(ctx, track, 1.0, 1.0, 1e200, 1e-200);
        tracks_tell(ctx, track, 1.0, 1.0, -1e200, 1e-120);
        assert_true(hf_track_ask(ctx, track, 2.0, &x, &said) >= 0);
        assert_true(isfinite(x) && isfinite(said.bound));
        assert_true(hf_track_ask(ctx, track, 1e3, &x, &said) >= 0); /* when nothing else counts */
        assert_true(isfinite(x) && isfinite(said.bound) && said.readings >= 1);
        hf_track_free(track);
    }
    hf_context_free(ctx);
}

/* ---- suggestions --------------------------------------------------------------------------------------- */

static void suggestions_are_in_the_domain_and_repeat(void **state)
{
    (void)state;
    hf_context *contexts[] = {hf_context_create(), hf_context_create()};
    assert_int_equal(hf_context_set_threads(contexts[0], 1), HF_OK);
    assert_int_equal(hf_context_set_threads(contexts[1], 4), HF_OK);
    for (unsigned list = 0; list < 2; list++) {
        double place[2][30];
        for (unsigned who = 0; who < 2; who++) {
            hf_context *ctx = contexts[who];
            const hf_track_settings s =
                list ? tracks_candidates(HF_TRACK_SPARQ_REUSE) : tracks_settings(HF_TRACK_SPARQ_REUSE);
            hf_track *track = tracks_make(ctx, &s);
            for (unsigned k = 0; k < 30; k++) {
                double x, again;
                hf_suggestion said, second;
                hf_track_summary before, after;
                assert_int_equal(hf_track_ask(ctx, track, k, &x, &said), HF_OK);
                hf_track_summary_of(track, &before);
                assert_int_equal(hf_track_ask(ctx, track, k, &again, &second), HF_OK);
                hf_track_summary_of(track, &after);
                assert_int_equal(after.asked, before.asked);
                assert_int_equal(before.asked, k + 1);
                said.seconds = second.seconds = 0.0;
                assert_memory_equal(&x, &again, sizeof x);
                assert_memory_equal(&said, &second, sizeof said);
                size_t index = 77;
                assert_true(hf_domain_contains(&s.domain, &x, &index));
                assert_int_equal(index, said.index);
                if (k == 0) assert_near(x, 0.0, 0.0);
                place[who][k] = x;
                tracks_tell(ctx, track, k, x, cos(x - 0.1 * k), 0.0);
            }
            hf_track_free(track);
        }
        assert_memory_equal(place[0], place[1], sizeof place[0]);
    }
    hf_context_free(contexts[0]);
    hf_context_free(contexts[1]);
}

/* Algorithm 1's order: what is asked about a later time is answered from the time of the newest reading or answer. */
static void the_order_of_the_paper(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
    s.queries = 2;
    hf_track *before = tracks_make(ctx, &s);
    s.expert_after = true;
    hf_track *after = tracks_make(ctx, &s);
    hf_track *const both[] = {before, after};
    size_t count;
    for (size_t k = 0; k < 2; k++) {
        tracks_tell(ctx, both[k], 1.0, -1.0, 0.2, 0.0);
        tracks_tell(ctx, both[k], 2.0, 2.0, 0.9, 0.0);
        assert_int_equal(hf_track_requests(ctx, both[k], 2.5, &count), HF_OK);
        assert_int_equal(hf_track_answer(ctx, both[k], 1, 3.0, 0.7, 0.0), HF_OK);
    }
    const double asked[] = {2.7, 3.0, 9.0}, used[] = {2.7, 3.0, 3.0};
    for (size_t k = 0; k < 3; k++) {
        hf_posterior *expected = posterior_at(ctx, before, used[k]),
                     *got = posterior_at(ctx, after, asked[k]);
        for (size_t i = 0; i < CANDIDATES; i++) {
            double m[2], v[2];
            assert_int_equal(hf_predict(ctx, expected, 1, &tracks_points[i], 1, &m[0], &v[0], NULL), HF_OK);
            assert_int_equal(hf_predict(ctx, got, 1, &tracks_points[i], 1, &m[1], &v[1], NULL), HF_OK);
            assert_near(m[1], m[0], 0.0);
            assert_near(v[1], v[0], 0.0);
        }
        hf_posterior_free(expected);
        hf_posterior_free(got);
    }
    hf_track_free(before);
    hf_track_free(after);
    hf_context_free(ctx);
}

/* ---- books --------------------------------------------------------------------------------------------- */

static void regret_is_added_up(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_track_settings s = tracks_settings(HF_TRACK_SPARQ);
    hf_track *track = tracks_make(ctx, &s);
    hf_track_summary summary;
    hf_track_summary_of(track, &summary);
    assert_true(isnan(summary.clock) && isnan(summary.average_regret) && isnan(summary.regret_per_answer));
    assert_int_equal(summary.step, 1);
    assert_int_equal(hf_track_record_optimum(ctx, track, 0.0, 1e9, 0.0),
                     HF_OK); /* a large one, and many small ones */
    for (unsigned k = 0; k < 10000; k++)
        assert_int_equal(hf_track_record_optimum(ctx, track, k, 1e-8, 0.0), HF_OK);
    assert_int_equal(hf_track_record_optimum(ctx, track, 0.0, 3.0, 3.0 * (1.0 + 1e-10)),
                     HF_OK); /* rounding counts as none */
    hf_track_summary_of(track, &summary);
    assert_near(summary.regret, 1e9 + 1e-4, 1.2e-7); /* one digit of 1e9 */
    assert_near(summary.average_regret, summary.regret / 10002.0, 1e-6);
    assert_true(isnan(summary.regret_per_answer));
    assert_int_equal(summary.truths, 10002);
    const uint64_t before = state_of(track);
    assert_int_equal(hf_track_record_optimum(ctx, track, 0.0, 3.0, 3.0 * (1.0 + 1e-8)), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_record_optimum(ctx, track, 0.0, -3.0, -3.0 * (1.0 - 1e-8)), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_record_optimum(ctx, track, NAN, 3.0, 2.0), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_track_record_optimum(ctx, track, 0.0, INFINITY, 2.0), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_track_record_optimum(ctx, track, 0.0, 3.0, NAN), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_track_record_optimum(ctx, track, 0.0, 1.5e308, -1.5e308), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_track_record_optimum(NULL, track, 0.0, 3.0, 2.0), HF_ERR_ARGUMENT);
    assert_true(state_of(track) == before);
    size_t count;
    tracks_tell(ctx, track, 0.0, 0.0, 1.0, 0.0);
    assert_int_equal(hf_track_requests(ctx, track, 1.0, &count), HF_OK);
    for (uint64_t id = 1; id <= 2; id++)
        assert_int_equal(hf_track_answer(ctx, track, id, NAN, 1.0, 0.0), HF_OK);
    hf_track_summary_of(track, &summary);
    assert_near(summary.regret_per_answer, 0.5e9, 1.0);
    assert_int_equal(summary.step, 2);
    hf_track_free(track);
    hf_context_free(ctx);
}

/* ---- what is refused ----------------------------------------------------------------------------------- */

#define REFUSED(expected, word, call)                                                                        \
    do {                                                                                                     \
        const uint64_t was = state_of(track);                                                                \
        assert_int_equal((call), (expected));                                                                \
        if (strstr(hf_context_message(ctx), (word)) == NULL)                                                 \
            fail_msg("'%s' does not say '%s'", hf_context_message(ctx), (word));                             \
        assert_true(state_of(track) == was);                                                                 \
    } while (0)

static void what_is_refused_changes_nothing(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (unsigned list = 0; list < 2; list++) {
        hf_track_settings s = list ? tracks_candidates(HF_TRACK_SPARQ) : tracks_settings(HF_TRACK_SPARQ);
        s.queries = 3;
        s.tolerance = 0.0;
        s.negligible = 1.0;
        hf_track *track = tracks_make(ctx, &s);
        const double in = 1.0, out = list ? 1.5 : 4.1, none = NAN;
        double x = 7.0;
        size_t count = 7;
        uint64_t id = 7;
        hf_suggestion said;
        hf_posterior *posterior = NULL;
        REFUSED(HF_ERR_NO_DATA, "no reading", hf_track_posterior(ctx, track, 0.0, &posterior, NULL));
        REFUSED(HF_ERR_ARGUMENT, "never a request", hf_track_answer(ctx, track, 1, NAN, 1.0, 0.0));
        tracks_tell(ctx, track, 100.0, 1.0, 0.5, 0.0);
        REFUSED(HF_ERR_ARGUMENT, list ? "candidates" : "outside",
                hf_track_tell(ctx, track, 100.0, &out, 1.0, 0.0, &id));
        REFUSED(HF_ERR_NOT_FINITE, "input x1", hf_track_tell(ctx, track, 100.0, &none, 1.0, 0.0, &id));
        REFUSED(HF_ERR_NOT_FINITE, "time", hf_track_tell(ctx, track, INFINITY, &in, 1.0, 0.0, &id));
        REFUSED(HF_ERR_NOT_FINITE, "reading", hf_track_tell(ctx, track, 100.0, &in, NAN, 0.0, &id));
        REFUSED(HF_ERR_ARGUMENT, "noise", hf_track_tell(ctx, track, 100.0, &in, 1.0, -1.0, &id));
        REFUSED(HF_ERR_ARGUMENT, "noise", hf_track_tell(ctx, track, 100.0, &in, 1.0, NAN, &id));
        REFUSED(HF_ERR_ARGUMENT, "60 behind", hf_track_tell(ctx, track, 40.0, &in, 1.0, 0.0, &id));
        REFUSED(HF_ERR_ARGUMENT, "60 behind", hf_track_ask(ctx, track, 40.0, &x, &said));
        REFUSED(HF_ERR_NOT_FINITE, "time", hf_track_ask(ctx, track, NAN, &x, &said));
        REFUSED(HF_ERR_ARGUMENT, "60 behind", hf_track_requests(ctx, track, 40.0, &count));
        REFUSED(HF_ERR_NOT_FINITE, "time", hf_track_requests(ctx, track, NAN, &count));
        REFUSED(HF_ERR_ARGUMENT, "60 behind", hf_track_posterior(ctx, track, 40.0, &posterior, NULL));
        REFUSED(HF_ERR_NO_DATA, "8 readings", hf_track_fit(ctx, track));
        assert_true(x == 7.0 && count == 7 && id == 7 && posterior == NULL);
        assert_int_equal(hf_track_requests(ctx, track, 101.0, &count), HF_OK);
        assert_int_equal(count, 3);
        hf_track_request r;
        assert_int_equal(hf_track_request_at(track, 0, &r), HF_OK);
        assert_int_equal(r.index, list ? 5 : 0); /* 1 is the sixth candidate */
        assert_near(r.x[0], 1.0, 0.0);
        REFUSED(HF_ERR_ARGUMENT, "never a request", hf_track_answer(ctx, track, 4, NAN, 1.0, 0.0));
        REFUSED(HF_ERR_ARGUMENT, "never a request", hf_track_answer(ctx, track, 0, NAN, 1.0, 0.0));
        REFUSED(HF_ERR_ARGUMENT, "before it was requested", hf_track_answer(ctx, track, 1, 100.9, 1.0, 0.0));
        REFUSED(HF_ERR_NOT_FINITE, "reading", hf_track_answer(ctx, track, 1, NAN, NAN, 0.0));
        REFUSED(HF_ERR_NOT_FINITE, "time", hf_track_answer(ctx, track, 1, INFINITY, 1.0, 0.0));
        REFUSED(HF_ERR_ARGUMENT, "noise", hf_track_answer(ctx, track, 1, NAN, 1.0, -0.1));
        assert_int_equal(hf_track_answer(ctx, track, 1, NAN, 1.0, 0.0), HF_OK);
        REFUSED(HF_ERR_ARGUMENT, "no longer open", hf_track_answer(ctx, track, 1, NAN, 1.0, 0.0));
        tracks_tell(ctx, track, 160.0, 1.0, 0.5, 0.0);
        REFUSED(HF_ERR_ARGUMENT, "59 behind", hf_track_answer(ctx, track, 2, NAN, 1.0, 0.0)); /* too old */
        assert_int_equal(hf_track_answer(ctx, track, 2, 160.0, 1.0, 0.0),
                         HF_OK); /* but not if measured now */
        assert_true(hf_track_ask(ctx, track, 300.0, &x, &said) >= 0);
        tracks_tell(ctx, track, 159.9, 1.0, 0.5, 0.0); /* a question, also one by mistake, moves no limit */
        tracks_tell(ctx, track, 161.0, 1.0, 0.5, 0.0);
        REFUSED(HF_ERR_ARGUMENT, "61 behind", hf_track_tell(ctx, track, 100.0, &in, 1.0, 0.0, &id));
        hf_track_reading reading;
        assert_int_equal(hf_track_reading_at(track, 99, &reading), HF_ERR_ARGUMENT);
        hf_track_free(track);
    }
    hf_context_free(ctx);
}

/* Where NaN is a value, it is the default or stands for the default 0. */
static void values_that_are_none_are_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_settings_table *table = hf_track_settings_table();
    for (size_t i = 0; i < table->count; i++) {
        const hfi_setting *row = &table->row[i];
        hf_track_settings s = hf_track_settings_default(HF_TRACK_SPARQ_REUSE);
        if (row->face.type != HF_SETTING_NUMBER) continue;
        hfi_setting_assign(row, NAN, &s);
        assert_int_equal(hfi_settings_agree(ctx, table, &s, 1, NULL),
                         row->face.unset ? HF_OK : HF_ERR_ARGUMENT);
        if (row->face.unset) assert_true(isnan(row->initial) || row->initial == 0.0);
        assert_false(isnan(row->initial) && !row->face.unset);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_are_none_are_told),
        cmocka_unit_test(bad_settings_are_refused_one_by_one),
        cmocka_unit_test(nothing_is_left_to_a_default),
        cmocka_unit_test(weights_are_those_of_the_formula),
        cmocka_unit_test(a_reading_of_any_size_is_survived),
        cmocka_unit_test(suggestions_are_in_the_domain_and_repeat),
        cmocka_unit_test(the_order_of_the_paper),
        cmocka_unit_test(regret_is_added_up),
        cmocka_unit_test(what_is_refused_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
