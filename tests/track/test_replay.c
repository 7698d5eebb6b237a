/* SPDX-License-Identifier: Apache-2.0 */
/* A track is the sum of its events: played again, at any instant, they make the same track; what the journal
 * did not take never happened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "track/state.h"

enum {
    EVENTS_MOST = 1200,
    VALUES_MOST = 8,
    CALLS = 70
};

/* ---- a journal in memory ------------------------------------------------------------------------------- */

typedef struct tape {
    hfi_event event[EVENTS_MOST];
    double values[EVENTS_MOST][VALUES_MOST];
    size_t count;
    double failing; /* share of appends that fail */
    uint64_t seed;
    bool failed; /* the last append */
    unsigned closed;
} tape;

static hf_status append(hf_context *ctx, void *user, size_t count, const hfi_event *events)
{
    tape *t = user;
    t->failed = tracks_uniform(&t->seed) < t->failing;
    if (t->failed) return hfi_fail(ctx, HF_ERR_IO, "the disk is full");
    for (size_t i = 0; i < count; i++) {
        assert_true(t->count < EVENTS_MOST && events[i].count <= VALUES_MOST);
        t->event[t->count] = events[i];
        if (events[i].count > 0)
            memcpy(t->values[t->count], events[i].values, events[i].count * sizeof(double));
        t->event[t->count].values = events[i].count > 0 ? t->values[t->count] : NULL;
        t->count++;
    }
    return HF_OK;
}

static void closed(void *user)
{
    ((tape *)user)->closed++;
}

static hf_track *played(hf_context *ctx, const hf_track_settings *s, const tape *t)
{
    hf_track *track = tracks_make(ctx, s);
    for (size_t i = 0; i < t->count; i++)
        if (hfi_track_replay(ctx, track, &t->event[i]) != HF_OK)
            fail_msg("event %zu: %s", i, hf_context_message(ctx));
    return track;
}

/* ---- calls --------------------------------------------------------------------------------------------- */

typedef enum verb {
    TELL,
    REQUESTS,
    ANSWER,
    ASK,
    TRUTH,
    FIT
} verb;

typedef struct call {
    verb verb;
    double time, x, y, noise;
    uint64_t id;
} call;

/* All that a call returns. */
typedef struct outcome {
    hf_status status;
    double number[8];
    size_t whole[6];
} outcome;

static outcome ask(hf_context *ctx, hf_track *track, double time)
{
    outcome out;
    memset(&out, 0, sizeof out);
    double x = 0.0;
    hf_suggestion s = {.index = 0};
    out.status = hf_track_ask(ctx, track, time, &x, &s);
    const double numbers[] = {x, s.mean, s.sd, s.bound, s.beta, s.information, s.prior_mean, s.jitter};
    const size_t wholes[] = {s.index, s.readings, s.answers, s.places, s.pending};
    memcpy(out.number, numbers, sizeof numbers);
    memcpy(out.whole, wholes, sizeof wholes);
    return out;
}

static outcome make(hf_context *ctx, hf_track *track, const call *c)
{
    outcome out;
    memset(&out, 0, sizeof out);
    uint64_t id = 0;
    switch (c->verb) {
    case TELL:
        out.status = hf_track_tell(ctx, track, c->time, &c->x, c->y, c->noise, &id);
        out.whole[0] = (size_t)id;
        break;
    case REQUESTS:
        out.status = hf_track_requests(ctx, track, c->time, &out.whole[0]);
        break;
    case ANSWER:
        out.status = hf_track_answer(ctx, track, c->id, c->time, c->y, c->noise);
        break;
    case ASK:
        return ask(ctx, track, c->time);
    case TRUTH:
        out.status = hf_track_record_optimum(ctx, track, c->time, 2.0, c->y);
        break;
    default:
        out.status = hf_track_fit(ctx, track);
    }
    return out;
}

/* Mostly sensible, now and then not: times long gone, places that there are not, NaN, requests that never were. */
static call invent(const hf_track *track, double now, uint64_t *seed)
{
    const double kind = tracks_uniform(seed);
    call c = {.verb = TELL, .time = now, .noise = tracks_uniform(seed) < 0.2 ? 0.05 : 0.0};
    c.x = -4.0 + (double)tracks_below(seed, 9); /* a candidate */
    c.y = sin(c.x) + (tracks_uniform(seed) < 0.1 ? 7.0 : 0.1 * tracks_uniform(seed));
    if (kind < 0.12) c.verb = REQUESTS;
    if (kind >= 0.12 && kind < 0.42 && track->opened > 0) {
        c.verb = ANSWER;
        c.id = track->open[tracks_below(seed, track->opened)].id;
        c.time = tracks_uniform(seed) < 0.6 ? NAN : now;
    }
    if (kind >= 0.42 && kind < 0.62) c.verb = ASK;
    if (kind >= 0.62 && kind < 0.66) c.verb = TRUTH;
    if (kind >= 0.66 && kind < 0.68) c.verb = FIT;
    const double odd = tracks_uniform(seed);
    if (odd < 0.03) c.time -= 500.0;
    if (odd >= 0.03 && odd < 0.08) c.time -= 2.0 * tracks_uniform(seed);
    if (odd >= 0.08 && odd < 0.11) c.x = 17.0;
    if (odd >= 0.11 && odd < 0.13) c.y = NAN;
    if (odd >= 0.13 && odd < 0.15) c.id += 1000;
    if (odd >= 0.15 && odd < 0.16) c.time = INFINITY;
    return c;
}

static void same(const outcome *a, const outcome *b, const call *c, const char *who)
{
    if (!tracks_same(a, b, sizeof *a))
        fail_msg("%s: call %d at %g: %s and %s, %.17g and %.17g", who, (int)c->verb, c->time,
                 hf_status_name(a->status), hf_status_name(b->status), a->number[0], b->number[0]);
}

/* One history on a track whose journal fails now and then. Beside it stand one without a journal that never
 * sees those calls, and one made of the journal before every call. */
static void live(hf_context *ctx, hf_context *alone, const hf_track_settings *s, uint64_t seed,
                 unsigned *worked)
{
    static tape t;
    memset(&t, 0, sizeof t);
    t.failing = 0.08;
    t.seed = seed + 99;
    const hfi_event_journal journal = {.append = append, .close = closed, .user = &t, .target = "y"};
    hf_track *track = tracks_make(ctx, s), *twin = tracks_make(alone, s);
    hfi_track_set_journal(track, &journal);
    double now = 0.0;
    for (unsigned k = 0; k < CALLS; k++) {
        if (tracks_uniform(&seed) < 0.35) now += 1.5 * tracks_uniform(&seed);
        const call c = invent(track, now, &seed);
        hf_track *again = played(ctx, s, &t);
        const uint64_t before = state_of(track);
        assert_true(state_of(again) == before);
        t.failed = false;
        const outcome got = make(ctx, track, &c);
        if (got.status < 0) assert_true(state_of(track) == before);
        if (t.failed) {
            assert_int_equal(got.status, HF_ERR_IO);
        } else {
            const outcome by_twin = make(alone, twin, &c), by_journal = make(ctx, again, &c);
            same(&got, &by_twin, &c, "the twin");
            same(&got, &by_journal, &c, "the journal");
            assert_true(state_of(again) == state_of(track));
            worked[c.verb] += got.status >= 0;
        }
        assert_true(state_of(twin) == state_of(track));
        hf_track_free(again);
    }
    hf_track_free(track);
    hf_track_free(twin);
    assert_int_equal(t.closed, 1);
}

static void a_track_is_its_journal(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create(), *alone = hf_context_create();
    assert_int_equal(hf_context_set_threads(ctx, 3), HF_OK);
    assert_int_equal(hf_context_set_threads(alone, 1), HF_OK);
    unsigned worked[FIT + 1] = {0};
    for (unsigned k = 0; k < 10; k++) {
        const hf_track_method methods[] = {HF_TRACK_SPARQ_REUSE, HF_TRACK_SPARQ, HF_TRACK_TV_GP_UCB,
                                           HF_TRACK_W_GP_UCB, HF_TRACK_UI_GP_UCB};
        const hf_track_method method = methods[k % 5];
        hf_track_settings s = k % 2 == 0 ? tracks_settings(method) : tracks_candidates(method);
        s.robust = k < 7 ? 2.0 : 0.0;
        s.places = (hf_place_rule)(k % 5);
        s.expert_after = k == 6;
        s.samples = 24;
        s.starts = 1;
        if (k == 5) s.age.kind = HF_AGE_EXPONENTIAL;
        live(ctx, alone, &s, 1000 + 7 * k, worked);
    }
    for (verb v = TELL; v <= FIT; v++) assert_true(worked[v] > 3);
    hf_context_free(ctx);
    hf_context_free(alone);
}

/* Work for a call that failed is no good after another one; and asking again says nothing new to the journal. */
static void what_failed_leaves_nothing_behind(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (unsigned between = 0; between < 2; between++) {
        static tape t;
        memset(&t, 0, sizeof t);
        hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
        s.robust = 2.0;
        const hfi_event_journal journal = {.append = append, .user = &t, .target = "y"};
        hf_track *track = tracks_make(ctx, &s), *twin = tracks_make(ctx, &s);
        hfi_track_set_journal(track, &journal);
        const call list = {.verb = REQUESTS, .time = 9.0},
                   late = {.verb = TELL, .time = 12.0, .x = 1.0, .y = 4.0},
                   change = {.verb = between ? FIT : ANSWER, .time = NAN, .y = 3.0, .id = 1};
        for (unsigned k = 0; k < 9; k++) {
            const call tell = {.verb = TELL, .time = k, .x = -4.0 + k, .y = sin(k)};
            assert_true(make(ctx, track, &tell).status >= 0 && make(ctx, twin, &tell).status >= 0);
        }
        assert_true(make(ctx, track, &list).status >= 0 && make(ctx, twin, &list).status >= 0);
        t.failing = 1.0;
        assert_int_equal(make(ctx, track, &late).status, HF_ERR_IO);
        t.failing = 0.0;
        assert_true(make(ctx, track, &change).status >= 0 && make(ctx, twin, &change).status >= 0);
        assert_true(make(ctx, track, &late).status >= 0 && make(ctx, twin, &late).status >= 0);
        assert_true(state_of(track) == state_of(twin));
        const outcome first = ask(ctx, track, 13.0);
        const size_t events = t.count;
        const outcome second = ask(ctx, track, 13.0);
        assert_true(tracks_same(&first, &second, sizeof first) && t.count == events);
        hf_track_free(track);
        hf_track_free(twin);
    }
    hf_context_free(ctx);
}

/* Places are let go while a journal is played as they were while it was written. */
static void places_are_thinned_alike(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static tape t;
    memset(&t, 0, sizeof t);
    hf_track_settings s = tracks_settings(HF_TRACK_SPARQ);
    s.most_places = 16;
    s.queries = 4;
    s.robust = 2.0;
    const hfi_event_journal journal = {.append = append, .user = &t, .target = "y"};
    hf_track *track = tracks_make(ctx, &s);
    hfi_track_set_journal(track, &journal);
    uint64_t seed = 6;
    for (unsigned k = 0; k < 240; k++) {
        const double x = -4.0 + 8.0 * tracks_uniform(&seed);
        size_t count;
        if (k % 3 == 0) assert_int_equal(hf_track_requests(ctx, track, 3.0 * k, &count), HF_OK);
        tracks_tell(ctx, track, 3.0 * k, x, sin(x), 0.0);
        if (k % 20 != 19) continue;
        hf_track *again = played(ctx, &s, &t);
        assert_true(state_of(again) == state_of(track));
        hf_track_free(again);
    }
    hf_track_summary summary;
    hf_track_summary_of(track, &summary);
    assert_true(summary.places < 120);
    hf_track_free(track);
    hf_context_free(ctx);
}

/* ---- journals that are not one ------------------------------------------------------------------------- */

static void refuse(hf_context *ctx, hf_track *track, hfi_event event)
{
    const uint64_t before = state_of(track);
    const hf_status status = hfi_track_replay(ctx, track, &event);
    if (status != HF_ERR_MODEL_FILE) fail_msg("kind %d is %s", (int)event.kind, hf_status_name(status));
    assert_true(state_of(track) == before);
}

static const double here[] = {1.0}, outside[] = {4.5}, none[] = {NAN};
static const double fit[] = {0.0, 0.1, -3.0, 0.2}, loud[] = {0.0, 0.1, 9e9, 0.2},
                    back[] = {0.0, 0.1, -3.0, -0.2}, holed[] = {0.0, NAN, -3.0, 0.2};

/* Entries that may follow a reading at 0 and a list of three requests at 2. */
static const hfi_event told = {HFI_EVENT_TOLD, 2, 0, 3.0, 1.0, 0.1, NAN, INFINITY, 1, here},
                       answered = {HFI_EVENT_ANSWERED, 2, 1, 2.5, 1.0, 0.1, NAN, INFINITY, 0, NULL},
                       more = {HFI_EVENT_REQUESTED, 4, 0, 2.0, 0.0, 0.1, 0.0, 0.0, 1, here},
                       asked = {HFI_EVENT_ASKED, 0, 0, 3.0, 0.0, 0.0, 0.0, 0.0, 1, here},
                       fitted = {HFI_EVENT_FITTED, 0, 0, 3.0, 0.0, 0.0, 0.0, 0.0, 4, fit},
                       truth = {HFI_EVENT_TRUTH, 0, 0, 3.0, 1.0, 2.0, 0.0, 0.0, 0, NULL},
                       batch = {HFI_EVENT_BATCH, 2, 0, 3.0, 0.0, 0.0, 0.0, 0.0, 0, NULL};

static hf_track *with_requests(hf_context *ctx)
{
    hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
    s.queries = 3;
    s.tolerance = 0.0;
    hf_track *track = tracks_make(ctx, &s);
    hfi_event e = more;
    e.id = 1;
    refuse(ctx, track, e); /* there is no list */
    size_t count;
    tracks_tell(ctx, track, 0.0, 1.0, 0.5, 0.0);
    assert_int_equal(hf_track_requests(ctx, track, 2.0, &count), HF_OK);
    assert_int_equal(count, 3);
    return track;
}

static void entries_that_are_none_are_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track *track = with_requests(ctx);
    const hfi_event all[] = {told, answered, more, asked, fitted, truth, batch};
    hfi_event e;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        e = all[k], e.time = NAN, refuse(ctx, track, e);
        e = all[k], e.time = INFINITY, refuse(ctx, track, e);
        e = all[k], e.count += 1, refuse(ctx, track, e);
        e = all[k], e.kind = HFI_EVENTS, refuse(ctx, track, e);
        if (all[k].count == 0) continue;
        e = all[k], e.count = 0, refuse(ctx, track, e);
        e = all[k], e.values = NULL, refuse(ctx, track, e);
    }
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) { /* but sound ones are taken */
        e = all[k];
        if (e.kind == HFI_EVENT_ANSWERED) e.id = 3;
        assert_int_equal(hfi_track_replay(ctx, track, &e), HF_OK);
    }
    hf_track_free(track);
    hf_context_free(ctx);
}

static void entries_that_cannot_follow_are_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track *track = with_requests(ctx);
    hfi_event e;
    e = told, e.id = 3, refuse(ctx, track, e);
    e = told, e.y = NAN, refuse(ctx, track, e);
    e = told, e.a = 0.0, refuse(ctx, track, e);
    e = told, e.a = INFINITY, refuse(ctx, track, e);
    e = told, e.b = 1.0, e.c = 0.0, refuse(ctx, track, e);
    e = told, e.b = 1.0, e.c = NAN, refuse(ctx, track, e);
    e = told, e.b = INFINITY, refuse(ctx, track, e);
    e = told, e.values = outside, refuse(ctx, track, e);
    e = told, e.values = none, refuse(ctx, track, e);
    e = answered, e.of = 4, refuse(ctx, track, e);
    e = answered, e.id = 1, refuse(ctx, track, e);
    e = answered, e.time = 1.9, refuse(ctx, track, e);
    e = answered, e.y = INFINITY, refuse(ctx, track, e);
    e = more, e.id = 1, refuse(ctx, track, e);
    e = more, e.time = 2.5, refuse(ctx, track, e);
    e = more, e.a = NAN, refuse(ctx, track, e);
    e = more, e.values = outside, refuse(ctx, track, e);
    e = asked, e.values = none, refuse(ctx, track, e);
    e = fitted, e.values = loud, refuse(ctx, track, e);
    e = fitted, e.values = back, refuse(ctx, track, e);
    e = fitted, e.values = holed, refuse(ctx, track, e);
    e = truth, e.y = NAN, refuse(ctx, track, e);
    e = batch, e.time = 2.0, refuse(ctx, track, e);
    hf_track_free(track);
    hf_context_free(ctx);
}

/* A track to look at refuses what would change it, and says all else. */
static void a_track_to_look_at(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
    hf_track *track = tracks_make(ctx, &s);
    for (unsigned k = 0; k < 9; k++) tracks_tell(ctx, track, k, -4.0 + k, 0.1 * k, 0.0);
    size_t count = 77;
    assert_int_equal(hf_track_requests(ctx, track, 9.0, &count), HF_OK);
    const hfi_event_journal silent = {.target = "y"};
    assert_null(hfi_track_journal(track));
    hfi_track_set_journal(track, &silent);
    assert_non_null(hfi_track_journal(track));
    const uint64_t before = state_of(track);
    const double x = 0.0;
    double place = 5.0;
    hf_suggestion said;
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_track_tell(ctx, track, 9.0, &x, 1.0, 0.0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_answer(ctx, track, 1, NAN, 1.0, 0.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_ask(ctx, track, 9.0, &place, &said), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_record_optimum(ctx, track, 9.0, 1.0, 1.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_fit(ctx, track), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_requests(ctx, track, 10.0, &count), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "look at"));
    assert_int_equal(hf_track_requests(ctx, track, 9.0, &count), HF_OK); /* these there are */
    assert_int_equal(hf_track_posterior(ctx, track, 9.5, &posterior, NULL), HF_OK);
    hf_posterior_free(posterior);
    assert_near(place, 5.0, 0.0);
    assert_true(state_of(track) == before);
    hf_track_free(track);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_track_is_its_journal),
        cmocka_unit_test(what_failed_leaves_nothing_behind),
        cmocka_unit_test(places_are_thinned_alike),
        cmocka_unit_test(entries_that_are_none_are_refused),
        cmocka_unit_test(entries_that_cannot_follow_are_refused),
        cmocka_unit_test(a_track_to_look_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
