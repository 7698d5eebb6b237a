/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: where the expert is asked, against dense algebra; how often and how much; which requests and
 * places are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "track/book.h"
#include "track/request_list.h"

static void answer_all(hf_context *ctx, hf_track *track, const request_list *list)
{
    for (size_t k = 0; k < list->count; k++)
        assert_int_equal(hf_track_answer(ctx, track, list->r[k].id, NAN, sin(list->x[k]), 0.0), HF_OK);
}

/* Where arena_open() tells something, and one place more. */
enum {
    TABLE = 61
};
static double table[TABLE];

/* ---- greedy choice ----------------------------------------------------------------------------------------------- */

typedef struct arena {
    hf_track_settings s;
    book b;
    hf_track *track;
    double place[DENSE_MOST];
    size_t places;
} arena;

static void told(hf_context *ctx, arena *a, double time, double x, double y, double noise)
{
    tracks_tell(ctx, a->track, time, x, y, noise);
    book_add(&a->b, time, x, y, noise, 0);
    size_t k = 0;
    while (k < a->places && a->place[k] != x) k++;
    if (k == a->places) a->place[a->places++] = x;
}

static void arena_open(hf_context *ctx, arena *a, uint64_t seed)
{
    a->places = 0;
    a->b = (book){.s = &a->s};
    a->track = tracks_make(ctx, &a->s);
    for (size_t i = 0; i < 14; i++) {
        const double x = -4.0 + 8.0 * (double)tracks_below(&seed, 60) / 60.0;
        told(ctx, a, 0.4 * (double)i, x, sin(x) + 2.0, i % 4 == 0 ? 0.05 : 0.0);
    }
}

/* Readings that are known at `time`, an expert's answers that will be replaced left out. */
static dense known(const arena *a, double time)
{
    book b = a->b;
    dense p = book_gather(&b, time, 1.0);
    if (a->s.method != HF_TRACK_SPARQ) return p;
    size_t kept = 0;
    for (size_t i = 0; i < b.count; i++) {
        const double variance = book_site(&a->b, &a->b.list[i], time, 1.0);
        if (!isfinite(variance) || b.list[i].batch != 0) continue;
        p.x[kept] = b.list[i].x;
        p.target[kept] = b.list[i].y;
        p.time[kept] = b.list[i].time;
        p.variance[kept++] = variance;
    }
    if (kept > 0) p.n = kept;
    return p;
}

/* Every request is where the rule's score, given what is known and the answers to those before, is largest
 * among places worth an answer. */
static void check_greedy(const arena *a, const request_list *list, double time, double beta)
{
    const dense start = known(a, time);
    dense p = start;
    for (size_t k = 0; k <= list->count; k++) {
        double best = -INFINITY, got = -INFINITY;
        for (size_t i = 0; i < a->places; i++) {
            const double variance = dense_at(&p, a->place[i]).variance;
            if (k < list->count && a->place[i] == list->x[k]) got = variance;
            if (variance <= a->s.tolerance * a->s.expert_noise) continue;
            const bool upper = a->s.places == HF_PLACES_UPPER;
            const double score =
                upper ? dense_at(&start, a->place[i]).mean + beta * sqrt(variance) : variance;
            if (upper && k < list->count && a->place[i] == list->x[k]) got = score;
            best = fmax(best, score);
        }
        if (k == list->count) {
            if (list->count < a->s.queries)
                assert_true(best == -INFINITY); /* nothing was worth an answer any more */
            return;
        }
        assert_near(got, best, 1e-9);
        assert_near(list->r[k].sd, sqrt(dense_at(&start, list->x[k]).variance), 1e-8);
        p.x[p.n] = list->x[k];
        p.time[p.n] = time;
        p.variance[p.n++] = a->s.expert_noise;
    }
}

static size_t repeats(const request_list *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; j < i; j++) count += list->x[i] == list->x[j];
    return count;
}

static void greedy(hf_context *ctx, hf_track_method method, hf_place_rule rule, size_t queries, double enough,
                   double noise, size_t *repeated, size_t *asked)
{
    static arena a;
    a.s = tracks_settings(method);
    a.s.places = rule;
    a.s.queries = queries;
    a.s.tolerance = enough;
    a.s.expert_noise = noise;
    a.s.beta = 0.4;
    arena_open(ctx, &a, 3);
    for (unsigned round = 0; round < 3; round++) {
        const double time = 5.5 + 0.15 * round; /* so that readings of one's own still count */
        const request_list list = ask_for(ctx, a.track, time);
        assert_true(list.count <= queries);
        check_greedy(&a, &list, time, a.s.beta);
        *repeated += repeats(&list);
        *asked += list.count;
        for (size_t k = 0; k < list.count && round == 0;
             k += 2) { /* some are answered, and count next time */
            assert_int_equal(hf_track_answer(ctx, a.track, list.r[k].id, NAN, 2.0, 0.0), HF_OK);
            book_add(&a.b, time, list.x[k], 2.0, noise, 1);
            a.b.answered_batch = 1;
        }
    }
    hf_track_free(a.track);
}

static void the_choice_is_greedy(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    size_t few = 0, many = 0, repeated = 0, none = 0;
    for (hf_track_method m = HF_TRACK_SPARQ; m <= HF_TRACK_SPARQ_REUSE; m++)
        for (hf_place_rule rule = HF_PLACES_VARIANCE; rule <= HF_PLACES_UPPER; rule++) {
            greedy(ctx, m, rule, 6, 0.05, 0.02, &none, &many);
            greedy(ctx, m, rule, 22, 0.0, 0.5, &repeated, &many); /* an answer leaves a place uncertain */
            greedy(ctx, m, rule, 22, 1.5, 0.02, &none, &few);
        }
    assert_true(repeated > 0);
    assert_true(few > 0 && few < 3 * 22 * 4); /* `tolerance` ended some lists */
    hf_context_free(ctx);
}

static void samples_have_distinct_places(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static arena a;
    request_list first[3];
    for (unsigned run = 0; run < 2; run++) {
        a.s = tracks_settings(HF_TRACK_SPARQ);
        a.s.places = HF_PLACES_DPP;
        a.s.queries = 5;
        arena_open(ctx, &a, 8);
        for (unsigned k = 0; k < 3; k++) {
            const request_list list = ask_for(ctx, a.track, 6.0 + k);
            assert_int_equal(list.count, 5);
            assert_int_equal(repeats(&list), 0);
            const dense p = known(&a, 6.0 + k);
            for (size_t i = 0; i < list.count; i++)
                assert_near(list.r[i].sd, sqrt(dense_at(&p, list.x[i]).variance), 1e-8);
            if (run == 0) first[k] = list; /* the same track makes the same lists */
            assert_memory_equal(first[k].x, list.x, sizeof list.x);
        }
        hf_track_free(a.track);
    }
    assert_false(tracks_same(first[0].x, first[1].x, sizeof first[0].x) &&
                 tracks_same(first[1].x, first[2].x, sizeof first[1].x)); /* and not always the same one */
    hf_context_free(ctx);
}

/* ---- anywhere ---------------------------------------------------------------------------------------------------- */

/* The places that the list number `batch` (from 0) is chosen from take the place of those told. */
static void look_anywhere(arena *a, size_t batch)
{
    const hf_domain *domain = &a->s.domain;
    a->places = domain->candidates > 0 ? domain->candidates : a->s.most_places;
    if (domain->candidates > 0)
        memcpy(a->place, domain->points, a->places * sizeof *a->place);
    else
        hf_domain_quasirandom(domain, batch * a->places, a->places, a->place);
}

static bool is_among(const arena *a, double x)
{
    size_t k = 0;
    while (k < a->places && a->place[k] != x) k++;
    return k < a->places;
}

/* Sum over the places of what answers at a list's places leave of the variance, given what is known. */
static double left(const arena *a, double time, size_t count, const double *x)
{
    dense p = known(a, time);
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) {
        p.x[p.n] = x[k];
        p.time[p.n] = time;
        p.variance[p.n++] = a->s.expert_noise;
    }
    for (size_t i = 0; i < a->places; i++) sum += dense_at(&p, a->place[i]).variance;
    return sum;
}

static double most_left(const arena *a, double time, size_t count, const double *x)
{
    dense p = known(a, time);
    double most = 0.0;
    for (size_t k = 0; k < count; k++) {
        p.x[p.n] = x[k];
        p.time[p.n] = time;
        p.variance[p.n++] = a->s.expert_noise;
    }
    for (size_t i = 0; i < a->places; i++) most = fmax(most, dense_at(&p, a->place[i]).variance);
    return most;
}

/* One after another where least is left, until every place is certain enough. */
static size_t greedily(const arena *a, double time, double *x)
{
    size_t count = 0;
    for (; count < a->s.queries && most_left(a, time, count, x) > a->s.tolerance * a->s.expert_noise;
         count++) {
        double least = INFINITY, where = 0.0;
        for (size_t i = 0; i < a->places; i++) {
            x[count] = a->place[i];
            const double now = left(a, time, count + 1, x);
            if (now >= least) continue;
            least = now;
            where = a->place[i];
        }
        x[count] = where;
    }
    return count;
}

/* As long as the greedy list, it leaves less, and less than lists drawn at random. Returns what exchanges gained. */
static double check_survey(const arena *a, const request_list *list, double time)
{
    const dense start = known(a, time);
    double other[LIST_MOST];
    assert_int_equal(greedily(a, time, other), list->count);
    const double before = left(a, time, list->count, other), after = left(a, time, list->count, list->x);
    assert_true(after <= before + 1e-9);
    uint64_t seed = 7;
    for (size_t k = 0; k < list->count; k++) {
        assert_true(is_among(a, list->x[k]));
        assert_near(list->r[k].sd, sqrt(dense_at(&start, list->x[k]).variance), 1e-8);
    }
    for (unsigned draw = 0; draw < 8; draw++) {
        for (size_t k = 0; k < list->count; k++) other[k] = a->place[tracks_below(&seed, a->places)];
        assert_true(after < left(a, time, list->count, other));
    }
    return before - after;
}

static void anywhere(hf_context *ctx, hf_track_settings s, size_t *repeated, size_t *elsewhere,
                     double *gained)
{
    static arena a;
    a.s = s;
    a.s.places = HF_PLACES_ANYWHERE;
    a.s.queries = 5;
    a.s.expert_noise = 0.05;
    if (s.domain.candidates == 0) a.s.most_places = 32;
    arena_open(ctx, &a, 3);
    request_list before = {.count = 0};
    for (unsigned round = 0; round < 2; round++) {
        const double time = 5.5 + 0.15 * round;
        const request_list list = ask_for(ctx, a.track, time);
        for (size_t k = 0; k < list.count; k++) *elsewhere += !is_among(&a, list.x[k]);
        look_anywhere(&a, round);
        assert_true(list.count > 2 && list.count <= 5);
        *gained += check_survey(&a, &list, time);
        for (size_t k = 0; k < list.count; k++) {
            assert_true(hf_domain_contains(&a.s.domain, &list.x[k], NULL));
            for (size_t i = 0; i < before.count; i++) *repeated += before.x[i] == list.x[k];
        }
        before = list;
        for (size_t k = 0; k < list.count; k += 2) {
            assert_int_equal(hf_track_answer(ctx, a.track, list.r[k].id, NAN, 2.0, 0.0), HF_OK);
            book_add(&a.b, time, list.x[k], 2.0, 0.05, round + 1);
            a.b.answered_batch = round + 1;
            if (s.method == HF_TRACK_SPARQ_REUSE && list.count > 4) {
                const reading last = a.b.list[--a.b.count];
                book_supersede(&a.b, list.x[k], round + 1);
                a.b.list[a.b.count++] = last;
            }
        }
    }
    hf_track_free(a.track);
}

/* New places of a box for each list, all candidates of a table; of them those whose answers leave least. */
static void anywhere_is_a_survey(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < TABLE; k++) table[k] = -4.0 + 8.0 * (double)k / 60.0;
    double gained = 0.0;
    size_t boxes = 0, tables = 0, elsewhere = 0, known = 0;
    for (hf_track_method m = HF_TRACK_SPARQ; m <= HF_TRACK_SPARQ_REUSE; m++) {
        anywhere(ctx, tracks_settings(m), &boxes, &elsewhere, &gained);
        hf_track_settings s = tracks_settings(m);
        s.domain = (hf_domain){.dimension = 1, .candidates = TABLE, .points = table};
        anywhere(ctx, s, &tables, &known, &gained);
    }
    assert_int_equal(boxes, 0);
    assert_true(elsewhere > 8); /* nothing was ever told there */
    assert_true(gained > 1e-4);
    hf_context_free(ctx);
}

/* ---- tolerance --------------------------------------------------------------------------------------------------- */

/* The list of step t is hf_dpp_sample()'s with the steps that a tolerance of 1/t asks for, and at most 0.01. */
static void tolerance_falls(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track_settings s = tracks_settings(HF_TRACK_SPARQ);
    s.places = HF_PLACES_DPP_FALLING;
    s.queries = 9;
    hf_track *track = tracks_make(ctx, &s);
    double x[30];
    size_t places = 0, differ = 0;
    for (unsigned i = 1; i <= 400; i++) {
        const unsigned k = i * 7 % 30;
        const double at = -4.0 + 8.0 * k / 30.0;
        tracks_tell(ctx, track, (double)i, at, 1.0, 0.0);
        if (places < 30) x[places++] = at;
        if (i != 30 && i != 200 && i != 400) continue;
        const size_t batch = i == 30 ? 1 : i == 200 ? 2 : 3;
        const request_list list = ask_for(ctx, track, i + 0.5);
        size_t rows[9], plain[9];
        hf_dpp_report report;
        assert_int_equal(
            hf_dpp_sample(ctx, hf_track_kernel(track), places, x, 1, 9, 0, batch, plain, &report), HF_OK);
        const size_t usual = report.steps,
                     steps = hf_dpp_mixing_steps(places, report.chosen, fmin(0.01, 1.0 / (i + 1.0)));
        assert_true(i == 30 ? steps == usual : steps > usual);
        assert_int_equal(
            hf_dpp_sample(ctx, hf_track_kernel(track), places, x, 1, 9, steps, batch, rows, NULL), HF_OK);
        assert_int_equal(list.count, report.chosen);
        for (size_t q = 0; q < list.count; q++) {
            assert_near(list.x[q], x[rows[q]], 0.0);
            differ += rows[q] != plain[q];
        }
        if (i == 30) assert_int_equal(differ, 0);
    }
    assert_true(differ > 0);
    hf_track_free(track);
    hf_context_free(ctx);
}

/* ---- how many, how often ----------------------------------------------------------------------------------------- */

static void numbers_grow_like_a_logarithm(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double factors[] = {6.0, 1.5, 0.3}, powers[] = {0.0, 2.0, 0.5};
    for (size_t k = 0; k < 3; k++) {
        hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
        s.query_factor = factors[k];
        s.query_power = powers[k];
        s.tolerance = 0.0;
        hf_track *track = tracks_make(ctx, &s);
        assert_int_equal(ask_for(ctx, track, 0.0).count, 0); /* there is no place yet */
        for (unsigned i = 1; i < 40; i++) {
            tracks_tell(ctx, track, (double)i, 0.1 * i, 1.0, 0.0);
            if (i % 7 != 1) continue;
            const double t = fmax(2.0, i + 1.0);
            const request_list list = ask_for(ctx, track, i + 0.5);
            assert_int_equal(list.count, (size_t)ceil(factors[k] * pow(log(t), k == 0 ? 1.0 : powers[k])));
        }
        hf_track_free(track);
    }
    hf_track_settings s = tracks_settings(HF_TRACK_SPARQ);
    s.query_factor = 0.0;
    hf_track *track = tracks_make(ctx, &s);
    tracks_tell(ctx, track, 0.0, 0.0, 1.0, 0.0);
    assert_int_equal(ask_for(ctx, track, 1.0).count, 0);
    hf_track_free(track);
    s = tracks_settings(HF_TRACK_UI_GP_UCB); /* without an expert */
    track = tracks_make(ctx, &s);
    tracks_tell(ctx, track, 0.0, 0.0, 1.0, 0.0);
    assert_int_equal(ask_for(ctx, track, 1.0).count, 0);
    hf_track_free(track);
    hf_context_free(ctx);
}

static void lists_come_when_they_are_due(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track_settings s = tracks_settings(HF_TRACK_SPARQ_REUSE);
    s.queries = 4;
    s.tolerance = 0.0;
    s.every = 2.5;
    hf_track *track = tracks_make(ctx, &s);
    tracks_tell(ctx, track, 0.0, 0.0, 1.0, 0.0);
    const request_list first = ask_for(ctx, track, 1.0);
    assert_int_equal(first.count, 4);
    assert_int_equal(ask_for(ctx, track, 1.0).count, 4); /* no further ones */
    assert_int_equal(hf_track_pending_count(track), 4);
    assert_int_equal(hf_track_answer(ctx, track, first.r[2].id, NAN, 1.0, 0.0), HF_OK);
    assert_int_equal(ask_for(ctx, track, 1.0).count, 3); /* those not answered yet */
    assert_int_equal(ask_for(ctx, track, 3.4).count, 0);
    assert_int_equal(ask_for(ctx, track, 0.5).count, 0); /* nor for a time gone by */
    assert_int_equal(ask_for(ctx, track, 3.5).count, 4);
    assert_int_equal(hf_track_pending_count(track), 7);
    hf_track_summary summary;
    hf_track_summary_of(track, &summary);
    assert_int_equal(summary.requested, 8);
    assert_int_equal(summary.answered, 1);
    assert_int_equal(summary.pending, 7);
    hf_track_free(track);
    hf_context_free(ctx);
}

/* ---- which requests and answers stay ----------------------------------------------------------------------------- */

static void eight_lists_stay_open(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (hf_track_method m = HF_TRACK_SPARQ; m <= HF_TRACK_SPARQ_REUSE; m++) {
        hf_track_settings s = tracks_settings(m);
        s.queries = 2;
        s.tolerance = 0.0;
        hf_track *track = tracks_make(ctx, &s);
        tracks_tell(ctx, track, 0.0, 0.0, 1.0, 0.0);
        for (unsigned k = 1; k <= 12; k++) {
            assert_int_equal(ask_for(ctx, track, 0.1 * k).count, 2);
            assert_int_equal(hf_track_pending_count(track), 2 * (k < 8 ? k : 8));
        }
        hf_track_request r;
        assert_int_equal(hf_track_request_at(track, 0, &r), HF_OK);
        assert_int_equal(r.id, 9); /* of the fifth list */
        assert_int_equal(hf_track_answer(ctx, track, 8, NAN, 1.0, 0.0), HF_ERR_ARGUMENT);
        assert_int_equal(hf_track_answer(ctx, track, 15, NAN, 1.0, 0.0), HF_OK); /* of the eighth */
        /* sparq forgets the lists before one that is answered; whoever reuses answers waits for theirs. */
        assert_int_equal(hf_track_pending_count(track), m == HF_TRACK_SPARQ ? 9 : 15);
        assert_int_equal(hf_track_answer(ctx, track, 9, NAN, 1.0, 0.0),
                         m == HF_TRACK_SPARQ ? HF_ERR_ARGUMENT : HF_OK);
        assert_int_equal(hf_track_request_at(track, hf_track_pending_count(track), &r), HF_ERR_ARGUMENT);
        hf_track_free(track);
    }
    hf_context_free(ctx);
}

static size_t answers_held(const hf_track *track)
{
    hf_track_summary summary;
    hf_track_reading r;
    size_t count = 0;
    hf_track_summary_of(track, &summary);
    for (size_t i = 0; i < summary.held; i++) {
        assert_int_equal(hf_track_reading_at(track, i, &r), HF_OK);
        count += r.answer;
    }
    return count;
}

/* Three places 1 apart (correlation 0.74), asked twice: how many answers are there after the second list's
 * first answer. */
static void replaced(hf_context *ctx, hf_track_method method, size_t queries, double superseded,
                     size_t expected)
{
    hf_track_settings s = tracks_settings(method);
    s.queries = queries;
    s.tolerance = 0.0;
    s.superseded = superseded;
    hf_track *track = tracks_make(ctx, &s);
    for (unsigned k = 0; k < 3; k++) tracks_tell(ctx, track, 0.0, k, 1.0, 0.0);
    request_list list = ask_for(ctx, track, 1.0);
    assert_int_equal(list.count, queries);
    answer_all(ctx, track, &list);
    assert_int_equal(answers_held(track), queries);
    list = ask_for(ctx, track, 2.0);
    list.count = 1;
    size_t there = 0;
    hf_track_reading r;
    for (size_t i = 0; i < queries + 3; i++) {
        assert_int_equal(hf_track_reading_at(track, i, &r), HF_OK);
        there += r.answer && r.x[0] == list.x[0];
    }
    answer_all(ctx, track, &list);
    assert_int_equal(answers_held(track), expected == SIZE_MAX ? queries - there + 1 : expected);
    hf_track_free(track);
}

static void fresh_answers_replace_old_ones(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    replaced(ctx, HF_TRACK_SPARQ, 3, 0.6, 1);
    replaced(ctx, HF_TRACK_SPARQ, 7, 5.0, 1);
    replaced(ctx, HF_TRACK_SPARQ_REUSE, 4, 0.1, 5);        /* not by a list of 4 */
    replaced(ctx, HF_TRACK_SPARQ_REUSE, 5, 0.1, 1);        /* exp(-2^2 / (2 1.3^2)) = 0.31: all of them */
    replaced(ctx, HF_TRACK_SPARQ_REUSE, 5, 1.0, SIZE_MAX); /* only those at the place itself */
    replaced(ctx, HF_TRACK_SPARQ_REUSE, 5, 1.5, 6);        /* none */
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_is_greedy),          cmocka_unit_test(samples_have_distinct_places),
        cmocka_unit_test(numbers_grow_like_a_logarithm), cmocka_unit_test(lists_come_when_they_are_due),
        cmocka_unit_test(eight_lists_stay_open),         cmocka_unit_test(fresh_answers_replace_old_ones),
        cmocka_unit_test(anywhere_is_a_survey),          cmocka_unit_test(tolerance_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
