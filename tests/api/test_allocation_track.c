/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the steps of a track fails once; see test_allocation.c. The call that failed is tried
 * again, and comes out as if nothing had been. */
#include "api/sweep.h"

enum {
    READINGS = 9
};

static hf_track_settings settings(void)
{
    static const double lower[] = {0.0, -1.0}, upper[] = {4.0, 1.0};
    hf_track_settings s = hf_track_settings_default(HF_TRACK_SPARQ_REUSE);
    s.domain = (hf_domain){.dimension = 2, .lower = lower, .upper = upper};
    s.age.rate = 0.2;
    s.queries = 3;
    s.samples = 8;
    s.starts = 1;
    return s;
}

static hf_status create(workshop *w)
{
    static const double points[] = {0.0, 1.0, 3.0}, ages[] = {1.0, 2.0}, added[] = {0.1, 0.3};
    static const char *const names[] = {"station"};
    hf_track_settings s = hf_track_settings_default(HF_TRACK_UI_GP_UCB);
    s.domain = (hf_domain){.dimension = 1, .candidates = 3, .points = points};
    s.age = (hf_age_law){.kind = HF_AGE_TABLE, .entries = 2, .ages = ages, .added = added};
    s.names = names;
    hf_track *out = UNTOUCHED;
    const hf_status status = settled(hf_track_create(w->ctx, &s, &out), out);
    if (status >= 0) hf_track_free(out);
    return status;
}

/* A track that was told a few readings and has a list of requests. */
static hf_status made(workshop *w, size_t readings, hf_track **out)
{
    const hf_track_settings s = settings();
    size_t count;
    hf_track *track = NULL;
    hf_status status = hf_track_create(w->ctx, &s, &track);
    for (size_t i = 0; i < readings && status >= 0; i++) {
        const double x[] = {0.45 * (double)i, cos((double)i)};
        status = hf_track_tell(w->ctx, track, (double)i, x, sin(x[0]), 0.0, NULL);
    }
    if (status >= 0) status = hf_track_requests(w->ctx, track, (double)readings, &count);
    if (status < 0)
        hf_track_free(track);
    else
        *out = track;
    return status;
}

/* All that can be seen of a track but how much memory it holds. */
static uint64_t seen(const hf_track *track)
{
    uint64_t print = 1;
    hf_track_summary s;
    hf_track_reading r;
    hf_track_request q;
    hf_parameter p;
    hf_track_summary_of(track, &s);
    s.bytes = 0;
    fingerprint_bytes(&print, &s, sizeof s);
    for (size_t i = 0; hf_track_reading_at(track, i, &r) >= 0; i++) {
        fingerprint_bytes(&print, r.x, 2 * sizeof *r.x);
        const double numbers[] = {(double)r.id, r.time, r.y, r.noise, r.weight, r.variance};
        fingerprint_bytes(&print, numbers, sizeof numbers);
    }
    for (size_t i = 0; hf_track_request_at(track, i, &q) >= 0; i++) {
        const double numbers[] = {(double)q.id, q.time, q.sd, q.x[0], q.x[1]};
        fingerprint_bytes(&print, numbers, sizeof numbers);
    }
    for (size_t i = 0; hf_kernel_parameter(hf_track_kernel(track), i, &p) >= 0; i++)
        fingerprint_bytes(&print, &p.value, sizeof p.value);
    return print;
}

typedef hf_status (*step)(hf_context *ctx, hf_track *track);

/* A step of a track; where it failed for want of memory the track is as it was, and the step can be made. */
static hf_status survive(workshop *w, size_t readings, step run)
{
    hf_track *track = NULL;
    hf_status status = made(w, readings, &track);
    if (status < 0) return status;
    const uint64_t before = seen(track);
    hf_context *own = hf_context_create();
    status = run(w->ctx, track);
    if (status == HF_ERR_MEMORY) {
        assert_true(seen(track) == before);
        assert_true(run(own, track) >= 0);
    }
    const uint64_t after = seen(track);
    workshop quiet = {.ctx = own};
    hf_track *other = NULL;
    assert_true(made(&quiet, readings, &other) >= 0 && run(own, other) >= 0);
    assert_true(seen(other) == after);
    hf_track_free(other);
    hf_context_free(own);
    hf_track_free(track);
    return status;
}

static hf_status tell_once(hf_context *ctx, hf_track *track)
{
    const double x[] = {3.7, 0.123};
    return hf_track_tell(ctx, track, 20.0, x, 4.0, 0.0, NULL);
}

static hf_status request_once(hf_context *ctx, hf_track *track)
{
    size_t count;
    return hf_track_requests(ctx, track, 30.0, &count);
}

static hf_status answer_once(hf_context *ctx, hf_track *track)
{
    return hf_track_answer(ctx, track, 2, NAN, 0.4, 0.0);
}

static hf_status ask_once(hf_context *ctx, hf_track *track)
{
    double x[2];
    hf_suggestion said;
    return hf_track_ask(ctx, track, 9.5, x, &said);
}

static hf_status fit_once(hf_context *ctx, hf_track *track)
{
    return hf_track_fit(ctx, track);
}

static hf_status truth_once(hf_context *ctx, hf_track *track)
{
    return hf_track_record_optimum(ctx, track, 9.0, 2.0, 1.0);
}

static hf_status posterior_once(hf_context *ctx, hf_track *track)
{
    hf_posterior *out = UNTOUCHED;
    const hf_status status = settled(hf_track_posterior(ctx, track, 9.0, &out, NULL), out);
    if (status >= 0) hf_posterior_free(out);
    return status;
}

/* Calls functions that allocate nothing. */
static hf_status names(workshop *w)
{
    hf_track_method method;
    hf_beta_rule beta;
    hf_discard_rule discard;
    hf_place_rule places;
    double window;
    hf_status s = hf_enum_parse(w->ctx, HF_ENUM_TRACK_METHOD,
                                hf_enum_name(HF_ENUM_TRACK_METHOD, HF_TRACK_SPARQ), &method);
    if (s >= 0)
        s = hf_enum_parse(w->ctx, HF_ENUM_BETA_RULE, hf_enum_name(HF_ENUM_BETA_RULE, HF_BETA_THEORY), &beta);
    if (s >= 0)
        s = hf_enum_parse(w->ctx, HF_ENUM_DISCARD_RULE, hf_enum_name(HF_ENUM_DISCARD_RULE, HF_DISCARD_LOG),
                          &discard);
    if (s >= 0)
        s = hf_enum_parse(w->ctx, HF_ENUM_PLACE_RULE, hf_enum_name(HF_ENUM_PLACE_RULE, HF_PLACES_DPP),
                          &places);
    if (s >= 0) s = hf_track_theoretical_window(w->ctx, HF_TRACK_SW_GP_UCB, 100.0, 0.1, 2.0, &window);
    assert_true(hf_track_name(NULL, 0) == NULL && hf_track_settings_of(NULL) == NULL);
    assert_int_equal(hf_track_pending_count(NULL), 0);
    return s;
}

static hf_status tell(workshop *w)
{
    return survive(w, 2, tell_once);
}

static hf_status request(workshop *w)
{
    return survive(w, 2, request_once);
}

static hf_status answer(workshop *w)
{
    return survive(w, 2, answer_once);
}

static hf_status ask(workshop *w)
{
    return survive(w, 2, ask_once);
}

static hf_status fit(workshop *w)
{
    return survive(w, READINGS, fit_once);
}

static hf_status truth(workshop *w)
{
    return survive(w, 1, truth_once);
}

static hf_status posterior(workshop *w)
{
    return survive(w, 1, posterior_once);
}

static void tracks_survive(void **state)
{
    (void)state;
    RUN(CASE(create, 10), CASE(tell, 60), CASE(request, 60), CASE(answer, 60), CASE(ask, 60), CASE(fit, 100),
        CASE(truth, 20), CASE(posterior, 40), CASE(names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
