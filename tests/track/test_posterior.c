/* SPDX-License-Identifier: Apache-2.0 */
/* The posterior at a time against dense algebra: which readings count, with what variance, and what follows
 * from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "track/book.h"
#include <stdio.h>

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

static bool compare_at(hf_context *ctx, const book *b, const hf_track *track, double now)
{
    hf_track_summary summary;
    hf_track_summary_of(track, &summary);
    hf_posterior *mean = NULL, *spread = NULL;
    const hf_status status = hf_track_posterior(ctx, track, now, &mean, &spread);
    if (status == HF_ERR_ARGUMENT && now < summary.clock) return false;
    if (status != HF_OK) fail_msg("at %g: %s", now, hf_context_message(ctx));
    const dense p = book_gather(b, now, 1.0);
    assert_true((spread != NULL) == (b->s->method == HF_TRACK_W_GP_UCB));
    dense_check(ctx, &p, mean, true);
    if (spread != NULL) {
        const dense q = book_gather(b, now, 2.0);
        assert_int_equal(q.n, p.n);
        dense_check(ctx, &q, spread, false);
    }
    hf_posterior_free(mean);
    hf_posterior_free(spread);
    return true;
}

/* Compares a suggestion with the posterior it is from. */
static void compare_ask(hf_context *ctx, const book *b, hf_track *track, double now)
{
    double x;
    hf_suggestion said;
    assert_int_equal(hf_track_ask(ctx, track, now, &x, &said), HF_OK);
    const dense p = book_gather(b, now, 1.0), q = book_gather(b, now, 2.0);
    const dense_answer mean = dense_at(&p, x), spread = dense_at(&q, x);
    const bool w = b->s->method == HF_TRACK_W_GP_UCB;
    size_t places = 0;
    for (size_t i = 0; i < p.n; i++) {
        bool first = true;
        for (size_t j = 0; j < i; j++) first = first && p.x[j] != p.x[i];
        places += first || b->s->method == HF_TRACK_TV_GP_UCB;
    }
    size_t answers = 0;
    for (size_t i = 0; i < b->count; i++)
        answers += b->list[i].batch != 0 && isfinite(book_site(b, &b->list[i], now, 1.0));
    assert_int_equal(said.answers, answers);
    assert_int_equal(said.readings, p.n);
    assert_int_equal(said.places, places);
    assert_near(said.information, mean.information, 1e-9);
    assert_near(said.prior_mean, mean.prior_mean, 1e-9);
    assert_near(said.mean, mean.mean, 1e-9);
    assert_near(said.sd, sqrt(w ? spread.variance : mean.variance), 1e-7);
    const double t = (double)(b->own + 1);
    const double beta = b->s->beta_rule == HF_BETA_GIVEN ? b->s->beta
                        : b->s->beta_rule == HF_BETA_PRACTICAL
                            ? sqrt(0.8 * log(4.0 * t))
                            : b->s->norm_bound + sqrt(2.0 * (log(2.0 / b->s->delta) + mean.information));
    assert_near(said.beta, beta, 1e-9);
    assert_near(said.bound, said.mean + said.beta * said.sd, 1e-12);
    for (size_t i = 0; i < 41;
         i++) { /* nothing on a grid is better than what was found by more than the lattice explains */
        const double z = -4.0 + 0.2 * (double)i;
        const double sd = sqrt(fmax(0.0, dense_at(w ? &q : &p, z).variance));
        assert_true(dense_at(&p, z).mean + beta * sd <= said.bound + 1e-4 * (1.0 + fabs(said.bound)));
    }
}

/* A reading that is refused would not count, now or at any step; one that would not is refused, but that
 * blocks of r-gp-ucb end within a window. */
static void tell(hf_context *ctx, book *b, hf_track *track, double time, double x, double y, double noise)
{
    hf_track_summary before, after;
    hf_track_summary_of(track, &before);
    const reading r = {time, x, y, noise > 0.0 ? noise : TRACKS_NOISE, 0};
    static book last;
    last = *b;
    last.own = SIZE_MAX - 1; /* the limit of the rule `log` grows with the step */
    const double clock = time < before.clock ? b->clock : before.clock;
    const bool useless = b->count > 0 && time < book_newest(b) && isinf(book_site(&last, &r, clock, 1.0));
    const hf_status status = hf_track_tell(ctx, track, time, &x, y, noise, NULL);
    hf_track_summary_of(track, &after);
    if (b->s->method != HF_TRACK_R_GP_UCB || !useless)
        assert_int_equal(status, useless && time < clock ? HF_ERR_ARGUMENT : HF_OK);
    assert_int_equal(after.told, before.told + (status == HF_OK));
    if (status == HF_OK) book_add(b, time, x, y, noise, 0);
}

/* Irregular times, some of them backwards, some far apart; few places; noises of their own. */
static void history(hf_context *ctx, const hf_track_settings *s, uint64_t seed)
{
    static book b;
    b = (book){.s = s};
    hf_track *track = tracks_make(ctx, s);
    double time = -3.0;
    size_t behind = 0;
    for (size_t i = 0; i < 42; i++) {
        const double kind = tracks_uniform(&seed), step = tracks_uniform(&seed);
        if (kind < 0.7) time += 1.2 * step;
        if (kind > 0.97) time += 30.0 * step;
        const double when = kind > 0.8 && kind < 0.97 ? time - 4.0 * step : time;
        const double x = -4.0 + (double)tracks_below(&seed, 17) * 0.5;
        const double noise = tracks_uniform(&seed) < 0.3 ? 0.06 * tracks_uniform(&seed) : 0.0;
        tell(ctx, &b, track, when, x, sin(x + 0.1 * when) + 0.2 * tracks_uniform(&seed) + 3.0, noise);
        if (i % 6 != 0) continue;
        (void)compare_at(ctx, &b, track, time + 2.0 * tracks_uniform(&seed));
        behind += compare_at(ctx, &b, track, time - 3.0 * tracks_uniform(&seed));
        behind += compare_at(ctx, &b, track, time - 0.2 * tracks_uniform(&seed));
    }
    assert_true(behind > 2);
    compare_ask(ctx, &b, track, time + 0.3);
    hf_track_free(track);
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

static void every_method_has_its_readings(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (hf_track_method m = HF_TRACK_GP_UCB; m <= HF_TRACK_SPARQ_REUSE; m++) {
        hf_track_settings s = tracks_settings(m);
        s.beta_rule = (hf_beta_rule)((unsigned)m % 3);
        history(ctx, &s, 11 + (uint64_t)m);
        s.mean_given = true;
        s.mean = 2.5;
        s.negligible = 0.2;
        s.beta_rule = HF_BETA_THEORY;
        s.norm_bound = 0.7;
        history(ctx, &s, 31 + (uint64_t)m);
    }
    hf_context_free(ctx);
}

static const double table_ages[] = {1.0, 3.0, 8.0}, table_added[] = {0.02, 0.5, 2.0};

static void every_law_and_rule_of_discarding(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (hf_age_kind kind = HF_AGE_NONE; kind <= HF_AGE_TABLE; kind++)
        for (hf_discard_rule rule = HF_DISCARD_NEGLIGIBLE; rule <= HF_DISCARD_VARIANCE; rule++) {
            hf_track_settings s =
                tracks_settings(rule == HF_DISCARD_LOG ? HF_TRACK_SPARQ : HF_TRACK_UI_GP_UCB);
            s.age = (hf_age_law){kind, TRACKS_RATE, 3, table_ages, table_added};
            s.discard = rule;
            s.discard_variance = 0.15;
            history(ctx, &s, 100 + 10 * (uint64_t)kind + (uint64_t)rule);
        }
    hf_context_free(ctx);
}

static void answer(hf_context *ctx, book *b, hf_track *track, const hf_track_request *r, double late,
                   uint64_t list, uint64_t of, size_t size)
{
    const double y = cos(r->x[0]) + 0.1 * r->time + 3.0, x = r->x[0], when = r->time + late;
    const reading fresh = {when, x, y, b->s->expert_noise, of};
    hf_track_summary summary;
    hf_track_summary_of(track, &summary);
    const double age = summary.clock - when;
    const bool useless = age > 0.0 && when < book_newest(b) &&
                         book_law(&b->s->age, fresh.noise, age) > b->s->negligible * TRACKS_SCALE;
    assert_int_equal(hf_track_answer(ctx, track, r->id, late > 0.0 ? when : NAN, y, 0.0),
                     useless ? HF_ERR_ARGUMENT : HF_OK);
    if (useless) return;
    if (b->s->method == HF_TRACK_SPARQ_REUSE && of == list && size >= 5) book_supersede(b, x, of);
    if (b->s->method == HF_TRACK_SPARQ &&
        of > b->answered_batch) { /* the answers before are of no more use */
        size_t kept = 0;
        for (size_t i = 0; i < b->count; i++)
            if (b->list[i].batch == 0) b->list[kept++] = b->list[i];
        b->count = kept;
    }
    b->answered_batch = of > b->answered_batch ? of : b->answered_batch;
    book_add(b, fresh.time, fresh.x, fresh.y, fresh.noise, of);
}

/* Lists answered in part, in any order, some answers late and measured late; requests of lists before are
 * answered after those of new ones. */
static void answers_of(hf_context *ctx, hf_track_method method, size_t queries, uint64_t seed)
{
    hf_track_settings s = tracks_settings(method);
    s.queries = queries;
    s.expert_noise = 0.013;
    s.negligible = 1.0;
    static book b;
    b = (book){.s = &s};
    hf_track *track = tracks_make(ctx, &s);
    uint64_t lists = 0, first[16] = {0};
    for (unsigned step = 0; step < 9; step++) {
        const double time = (double)step;
        size_t count = 0;
        assert_int_equal(hf_track_requests(ctx, track, time, &count), HF_OK);
        hf_track_request r = {0};
        if (hf_track_pending_count(track) > 0)
            assert_int_equal(hf_track_request_at(track, hf_track_pending_count(track) - 1, &r), HF_OK);
        if (time > 0.0) first[++lists] = r.id + 1 - count;
        const size_t size = count;
        for (size_t k = hf_track_pending_count(track); k-- > 0;) {
            if (k >= hf_track_pending_count(track) || tracks_uniform(&seed) < 0.5) continue;
            assert_int_equal(hf_track_request_at(track, k, &r), HF_OK);
            uint64_t of = lists;
            while (first[of] > r.id) of--;
            answer(ctx, &b, track, &r, tracks_uniform(&seed) < 0.3 ? 0.4 : 0.0, lists, of, size);
            (void)compare_at(ctx, &b, track, time + 0.4);
        }
        const double x = -4.0 + 8.0 * tracks_uniform(&seed);
        tell(ctx, &b, track, time + 0.5, x, cos(x) + 3.0 + 0.1 * time, 0.0);
        (void)compare_at(ctx, &b, track, time + 0.7);
    }
    compare_ask(ctx, &b, track, 9.0);
    hf_suggestion said;
    double x;
    assert_int_equal(hf_track_ask(ctx, track, 9.0, &x, &said), HF_OK);
    assert_true(said.answers > 0);
    hf_track_free(track);
}

static void answers_count_as_the_method_says(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (uint64_t seed = 1; seed < 6; seed++) {
        answers_of(ctx, HF_TRACK_SPARQ, 6, seed);
        answers_of(ctx, HF_TRACK_SPARQ, 2, seed + 10);
        answers_of(ctx, HF_TRACK_SPARQ_REUSE, 7, seed + 20);
        answers_of(ctx, HF_TRACK_SPARQ_REUSE, 3, seed + 30);
    }
    hf_context_free(ctx);
}

/* noise log t grows while time stands still: a reading that was dropped counts again. */
static void what_was_dropped_may_count_again(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_track_method methods[] = {HF_TRACK_SPARQ, HF_TRACK_UI_GP_UCB};
    for (size_t m = 0; m < 2; m++) {
        hf_track_settings s = tracks_settings(methods[m]);
        s.discard = HF_DISCARD_LOG;
        static book b;
        b = (book){.s = &s};
        hf_track *track = tracks_make(ctx, &s);
        tell(ctx, &b, track, 0.0, 1.0, 0.3, 0.0);
        bool dropped = false;
        for (unsigned k = 0; k < 14; k++) {
            tell(ctx, &b, track, 1.0, -3.0 + 0.4 * k, 0.1 * k, 0.0);
            dropped = dropped || book_gather(&b, 1.0, 1.0).n == b.count - 1;
            (void)compare_at(ctx, &b, track, 1.0);
        }
        assert_true(dropped && book_gather(&b, 1.0, 1.0).n == b.count);
        hf_track_free(track);
    }
    hf_context_free(ctx);
}

/* tv-gp-ucb is a Gaussian process over place and time: the product with matern12 of lengthscale -2 / log(1 - eps). */
static void tv_is_a_kernel_in_place_and_time(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double x[] = {0.3, 1.0, 0.3, -2.0, 2.4, 1.0}, t[] = {0.0, 0.5, 2.0, 7.0, 3.0, 3.0};
    double y[6], rows[12], noise[6];
    char kernel[96];
    hf_track_settings s = tracks_settings(HF_TRACK_TV_GP_UCB);
    s.mean_given = true;
    s.mean = 0.4;
    hf_track *track = tracks_make(ctx, &s);
    for (size_t i = 0; i < 6; i++) {
        y[i] = sin(2.0 * x[i] + t[i]);
        noise[i] = 0.01 * (double)i; /* beside the track's */
        rows[2 * i] = x[i];
        rows[2 * i + 1] = t[i];
        tracks_tell(ctx, track, t[i], x[i], y[i], TRACKS_NOISE + noise[i]);
        y[i] -= s.mean;
    }
    (void)snprintf(kernel, sizeof kernel, "0.8*se(x1, lengthscale=1.3)*matern12(x2, lengthscale=%.17g)",
                   -2.0 / log1p(-s.forgetting));
    hf_kernel *both = NULL;
    hf_mean *zero = NULL;
    hf_sites *sites = NULL;
    hf_posterior *expected = NULL, *got = NULL;
    assert_int_equal(hf_kernel_parse(ctx, kernel, NULL, 2, &both), HF_OK);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, 2, &zero), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, 6, y, TRACKS_NOISE, noise, &sites), HF_OK);
    assert_int_equal(hf_solve_exact(ctx, both, zero, sites, rows, 2, &expected), HF_OK);
    for (unsigned k = 0; k < 5; k++) {
        const double now = 1.0 + 2.3 * k;
        assert_int_equal(hf_track_posterior(ctx, track, now, &got, NULL), HF_OK);
        for (unsigned i = 0; i < 9; i++) {
            const double at = -3.0 + 0.7 * i, row[] = {at, now};
            double m, v, mean, variance;
            assert_int_equal(hf_predict(ctx, expected, 1, row, 2, &m, &v, NULL), HF_OK);
            assert_int_equal(hf_predict(ctx, got, 1, &at, 1, &mean, &variance, NULL), HF_OK);
            assert_near(mean, m + s.mean, 1e-11);
            assert_near(variance, v, 1e-11);
        }
        hf_posterior_free(got);
    }
    hf_posterior_free(expected);
    hf_sites_free(sites);
    hf_mean_free(zero);
    hf_kernel_free(both);
    hf_track_free(track);
    hf_context_free(ctx);
}

/* Which of readings at `time` and 2 count when asked at `now`. */
static void window(hf_context *ctx, hf_track_method method, double time, double now, size_t expected)
{
    hf_track_settings s = tracks_settings(method);
    s.window = 2.0;
    hf_track *track = tracks_make(ctx, &s);
    double x;
    hf_suggestion said;
    tracks_tell(ctx, track, time, 1.0, 0.3, 0.0);
    tracks_tell(ctx, track, 2.0, 2.0, 0.5, 0.0);
    assert_int_equal(hf_track_ask(ctx, track, now, &x, &said), HF_OK);
    assert_int_equal(said.readings, expected);
    hf_track_free(track);
}

static void windows_at_their_edges(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    window(ctx, HF_TRACK_SW_GP_UCB, 0.5, 2.5, 1); /* of age 2: gone */
    window(ctx, HF_TRACK_SW_GP_UCB, 0.5, nextafter(2.5, 0.0), 2);
    window(ctx, HF_TRACK_SW_GP_UCB, 0.5, 900.0, 1); /* the newest stays */
    window(ctx, HF_TRACK_R_GP_UCB, nextafter(2.0, 0.0), 2.0, 1);
    window(ctx, HF_TRACK_R_GP_UCB, 2.0, nextafter(4.0, 0.0), 2);
    window(ctx, HF_TRACK_R_GP_UCB, 1.9, nextafter(2.0, 0.0), 2);
    window(ctx, HF_TRACK_R_GP_UCB, 0.0, 4.0, 1);
    hf_context_free(ctx);
}

/* An answer measured late is the newest reading; when its list is replaced another one must be. */
static void there_is_a_newest_when_lists_are_replaced(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (unsigned reuse = 0; reuse < 2; reuse++) {
        hf_track_settings s = tracks_settings(reuse ? HF_TRACK_SPARQ_REUSE : HF_TRACK_SPARQ);
        s.queries = 5;
        s.tolerance = 0.0;
        s.age = (hf_age_law){.kind = HF_AGE_TABLE, .entries = 3, .ages = table_ages, .added = table_added};
        hf_track *track = tracks_make(ctx, &s);
        size_t count;
        hf_posterior *posterior = NULL;
        tracks_tell(ctx, track, 0.0, 1.0, 0.3, 0.0);
        assert_int_equal(hf_track_requests(ctx, track, 1.0, &count), HF_OK);
        assert_int_equal(count, 5);
        assert_int_equal(hf_track_answer(ctx, track, 1, 7.0, 0.2, 0.0), HF_OK);
        assert_int_equal(hf_track_requests(ctx, track, 2.0, &count), HF_OK);
        assert_int_equal(count, 5);
        assert_int_equal(hf_track_answer(ctx, track, 6, NAN, 0.1, 0.0), HF_OK);
        for (unsigned k = 0; k < 3; k++) {
            assert_int_equal(hf_track_posterior(ctx, track, 7.0 + 16.0 * k, &posterior, NULL), HF_OK);
            hf_posterior_free(posterior);
        }
        hf_track_free(track);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_has_its_readings),
        cmocka_unit_test(every_law_and_rule_of_discarding),
        cmocka_unit_test(answers_count_as_the_method_says),
        cmocka_unit_test(what_was_dropped_may_count_again),
        cmocka_unit_test(tv_is_a_kernel_in_place_and_time),
        cmocka_unit_test(windows_at_their_edges),
        cmocka_unit_test(there_is_a_newest_when_lists_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
