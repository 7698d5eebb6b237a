/* SPDX-License-Identifier: Apache-2.0 */
/* Places that are let go: how many stay, which, and that readings and requests stay at theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "track/request_list.h"

/* Readings and requests are at the places they were told and made for, also those that weights are worked out from. */
static void at_their_places(const hf_track *track, const double *readings, const double *requests)
{
    const hfi_snapshot *before = &track->before;
    for (size_t i = 0; i < track->held; i++)
        assert_near(track->places.x[track->told[i].place], readings[track->told[i].id], 0.0);
    for (size_t i = 0; i < before->count; i++)
        assert_near(track->places.x[before->told[i].place], readings[before->told[i].id], 0.0);
    for (size_t i = 0; i < track->opened; i++)
        assert_near(track->places.x[track->open[i].place], requests[track->open[i].id], 0.0);
}

static void drive(hf_context *ctx, const hf_track_settings *s)
{
    static double readings[4000], requests[1000];
    hf_track *track = tracks_make(ctx, s);
    uint64_t seed = 5, id;
    hf_track_summary now = {.bytes = 0};
    size_t bytes = 0;
    for (unsigned i = 0; i < 3000; i++) {
        const double time = 0.8 * i, x = -4.0 + 8.0 * tracks_uniform(&seed);
        if (i % 50 == 1) {
            const request_list list = ask_for(ctx, track, time);
            for (size_t k = 0; k < list.count; k++) requests[list.r[k].id] = list.x[k];
            for (size_t k = 1; k < list.count; k++) { /* one of three waits for its answer */
                hf_track_summary_of(track, &now);
                readings[now.told + now.answered + 1] = list.x[k];
                assert_int_equal(hf_track_answer(ctx, track, list.r[k].id, NAN, 1.0, 0.0), HF_OK);
            }
        }
        assert_int_equal(hf_track_tell(ctx, track, time, &x, sin(x + 0.01 * time), 0.0, &id), HF_OK);
        readings[id] = x;
        hf_track_summary_of(track, &now);
        assert_true(now.held <= 100);
        assert_true(now.places <= (now.held + now.pending + 100) * 5 / 4 + 1);
        if (now.held < 10) assert_true(now.places <= 64 + 4);
        at_their_places(track, readings, requests);
        if (i == 1000) bytes = now.bytes;
    }
    assert_true(now.bytes <= bytes + bytes / 4);
    hf_track_free(track);
}

/* 3000 readings at as many places: places and readings in memory are bounded, and what is in use is whole. */
static void memory_is_bounded(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (hf_track_method m = HF_TRACK_SW_GP_UCB; m <= HF_TRACK_SPARQ_REUSE; m++) {
        hf_track_settings s = tracks_settings(m);
        s.kernel = "0.8*se(lengthscale~0.04)"; /* all places matter */
        s.most_places = 64;
        s.queries = 3;
        s.places = HF_PLACES_DPP; /* anywhere, also where places are about to go */
        s.negligible = 4.0;
        s.robust = m == HF_TRACK_SPARQ_REUSE ? 2.0 : 0.0;
        drive(ctx, &s);
        s.places = HF_PLACES_ANYWHERE;
        if (m >= HF_TRACK_SPARQ) drive(ctx, &s);
    }
    hf_context_free(ctx);
}

/* Half of the places are kept, those that a pivoted factor picks, and those in use. */
static void half_of_the_places_are_kept(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track_settings s = tracks_settings(HF_TRACK_SPARQ);
    s.kernel = "0.8*se(lengthscale~0.04)";
    s.most_places = 64;
    hf_track *track = tracks_make(ctx, &s);
    hf_track_summary now;
    double x[65];
    for (unsigned i = 0; i < 65; i++) {
        x[i] = -4.0 + 8.0 * (double)(i * 27 % 65) / 64.0;
        tracks_tell(ctx, track, 1000.0 * i, x[i], 1.0, 0.0);
        hf_track_summary_of(track, &now);
        if (i < 64) assert_int_equal(now.places, i + 1);
    }
    size_t rows[32], chosen;
    assert_int_equal(hf_dpp_greedy(ctx, hf_track_kernel(track), 65, x, 1, NULL, 32, 0.0, rows, &chosen, NULL),
                     HF_OK);
    assert_int_equal(chosen, 32);
    bool kept[65] = {[64] = true};
    for (size_t k = 0; k < chosen; k++) kept[rows[k]] = true;
    size_t count = 0;
    for (size_t i = 0; i < 65; i++) {
        count += kept[i];
        assert_int_equal(hfi_places_known(&track->places, &x[i]), kept[i]);
    }
    assert_int_equal(now.places, count);
    hf_track_free(track);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(half_of_the_places_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
