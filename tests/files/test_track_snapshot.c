/* SPDX-License-Identifier: Apache-2.0 */
/* A track that is opened from a snapshot is to the bit the one that its whole journal makes. No snapshot,
 * whatever is in it, does harm. */
#include "data/support.h"
#include "files/track_bytes.h"

#include "files/track_store.h"

#include <math.h>

static const double lower[2] = {-5.0, 0.0}, upper[2] = {5.0, 2.0};
static const double stations[6] = {0.0, 0.5, -0.0, 1.5, 2.5, 4.0};

enum {
    KINDS = 5
};

static hf_track_settings settings_of(int kind)
{
    static const hf_track_method methods[KINDS] = {HF_TRACK_SPARQ_REUSE, HF_TRACK_SPARQ, HF_TRACK_UI_GP_UCB,
                                                   HF_TRACK_W_GP_UCB, HF_TRACK_GP_UCB};
    hf_track_settings s = hf_track_settings_default(methods[kind]);
    s.domain = (hf_domain){.dimension = 2, .lower = lower, .upper = upper};
    s.samples = 32;
    s.starts = 1;
    s.resolution = 0.125;
    s.age.rate = 0.3;
    s.queries = 6;
    s.most_places = 24;
    s.robust = 2.0;
    if (kind == 1) {
        s.domain = (hf_domain){.dimension = 1, .candidates = 6, .points = stations};
        s.kernel = "se(lengthscale=0.8)";
        s.minimise = true;
        s.resolution = 0.0;
    }
    if (kind == 3) s.forgetting = 0.8;
    if (kind == 4) s.robust = 0.0;
    return s;
}

/* A place of few. */
static void place_of(const hf_track_settings *s, uint64_t random, double x[2])
{
    if (s->domain.candidates > 0) {
        x[0] = stations[random % 6];
        return;
    }
    x[0] = -4.0 + (double)(random % 4) * 2.5;
    x[1] = 0.5 + 0.5 * (double)(random / 4 % 3);
}

static uint64_t stir(uint64_t *random)
{
    *random = 6364136223846793005U * *random + 1442695040888963407U;
    return *random >> 33;
}

static double truth(const double *x, double time)
{
    return sin(x[0] - 0.02 * time) + 0.001 * time;
}

static void ask_the_expert(hf_context *ctx, hf_track *track, double time)
{
    size_t due = 0;
    hf_track_request r;
    assert_true(hf_track_requests(ctx, track, time, &due) >= 0);
    for (size_t i = 0; i < hf_track_pending_count(track);) {
        assert_int_equal(hf_track_request_at(track, i, &r), HF_OK);
        if (r.id % 4 == 0 || hf_track_answer(ctx, track, r.id, NAN, truth(r.x, r.time), 0.0) < 0) i++;
    }
}

/* Readings, mostly; questions, answers, regrets, one fit. */
static void play(hf_context *ctx, hf_track *track, int from, int to)
{
    hf_suggestion suggestion;
    uint64_t random = 77 + (uint64_t)from;
    for (int k = from; k < to; k++) {
        const double time = 0.25 * (double)k;
        double x[2] = {0.0, 0.0};
        place_of(hf_track_settings_of(track), stir(&random), x);
        const double error = k % 17 == 3 ? 4.0 : 0.1 * (double)(stir(&random) % 10);
        if (hf_track_tell(ctx, track, time, x, truth(x, time) + error, k % 5 == 0 ? 0.05 : 0.0, NULL) < 0)
            fail_msg("%s", hf_context_message(ctx));
        if (k % 60 == 7) ask_the_expert(ctx, track, time);
        if (k % 60 == 9) assert_true(hf_track_ask(ctx, track, time + 0.1, x, &suggestion) >= 0);
        if (k % 60 == 11)
            assert_true(hf_track_record_optimum(ctx, track, time,
                                                hf_track_settings_of(track)->minimise ? -3.0 : 3.0,
                                                truth(x, time)) >= 0);
        if (k == 30) assert_true(hf_track_fit(ctx, track) >= 0);
    }
}

/* ---- what a track remembers ----------------------------------------------------------------------------------- */

static hfi_bytes state_of(hf_context *ctx, const hf_track *track)
{
    hfi_bytes bytes = {.memory = hfi_context_memory(ctx)};
    hfi_track_state(&bytes, track);
    assert_false(bytes.failed);
    return bytes;
}

static void assert_same(hf_context *ctx, const hf_track *a, const hf_track *b)
{
    hfi_bytes left = state_of(ctx, a), right = state_of(ctx, b);
    assert_int_equal(left.count, right.count);
    assert_memory_equal(left.data, right.data, left.count);
    hfi_bytes_free(&left);
    hfi_bytes_free(&right);
}

static void assert_go_on_alike(hf_context *ctx, hf_track *a, hf_track *b)
{
    hf_suggestion left, right;
    double x[2] = {0.0, 0.0}, z[2] = {0.0, 0.0};
    const double time = 1000.0;
    assert_true(hf_track_ask(ctx, a, time, x, &left) >= 0);
    assert_true(hf_track_ask(ctx, b, time, z, &right) >= 0);
    assert_memory_equal(x, z, sizeof x);
    left.seconds = right.seconds = 0.0;
    assert_memory_equal(&left, &right, sizeof left);
}

static hf_track *opened(hf_context *ctx, const char *path, bool write)
{
    hf_track *track = NULL;
    if (hf_track_file_open(ctx, path, write, &track) < 0) fail_msg("%s", hf_context_message(ctx));
    return track;
}

static uint64_t covered(const hf_track *track)
{
    return hfi_track_store_of(track)->ledger->covered;
}

static void sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s: %s", text, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* A track of some 1250 entries, the last of them after its snapshot. */
static hf_track *made(hf_context *ctx, int kind, const char *path)
{
    const hf_track_settings settings = settings_of(kind);
    hf_track *track = NULL;
    assert_int_equal(hf_track_file_create(ctx, path, &settings, NULL, NULL, &track), HF_OK);
    assert_int_equal(hf_track_file_begin(ctx, track), HF_OK);
    play(ctx, track, 0, 1000);
    assert_int_equal(hf_track_file_end(ctx, track, true), HF_OK);
    assert_true(covered(track) >= 1000);
    assert_int_equal(hf_track_file_begin(ctx, track), HF_OK);
    play(ctx, track, 1000, 1100);
    assert_int_equal(hf_track_file_end(ctx, track, true), HF_OK);
    return track;
}

static void it_is_what_the_journal_makes(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const folder in = folder_make();
    char path[256];
    folder_file(&in, "t.hf", path);
    for (int kind = 0; kind < KINDS; kind++) {
        hf_track *live = made(ctx, kind, path), *same = NULL;
        hf_track *shortly = opened(ctx, path, false);
        assert_int_equal(covered(shortly), covered(live));
        assert_same(ctx, live, shortly);
        hf_track_free(live);
        sql(path, "DROP TABLE snapshot; PRAGMA user_version=1");
        same = opened(ctx, path, false);
        assert_int_equal(covered(same), 0);
        assert_same(ctx, shortly, same);
        hf_track_free(shortly);
        hf_track_free(same);
        remove(path);
    }
    folder_remove(&in);
    hf_context_free(ctx);
}

static void it_goes_on_as_the_journal_does(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const folder in = folder_make();
    char path[256];
    folder_file(&in, "t.hf", path);
    hf_track_free(made(ctx, 0, path));
    hf_track *shortly = opened(ctx, path, true);
    assert_true(covered(shortly) > 0);
    hf_track_free(shortly);
    unsigned char *bytes = NULL;
    size_t size = 0;
    assert_int_equal(hfi_file_read(ctx, path, &bytes, &size), HF_OK);
    hf_track *whole = NULL, *quick = NULL;
    assert_int_equal(track_from_bytes(ctx, bytes, size, "quick", &quick), HF_OK);
    sql(path, "DELETE FROM snapshot");
    hfi_free(ctx, bytes);
    assert_int_equal(hfi_file_read(ctx, path, &bytes, &size), HF_OK);
    assert_int_equal(track_from_bytes(ctx, bytes, size, "whole", &whole), HF_OK);
    hfi_free(ctx, bytes);
    play(ctx, whole, 1100, 1200); /* in memory: neither has a file */
    play(ctx, quick, 1100, 1200);
    assert_same(ctx, whole, quick);
    assert_go_on_alike(ctx, whole, quick);
    hf_track_free(whole);
    hf_track_free(quick);
    folder_remove(&in);
    hf_context_free(ctx);
}

static void one_entry_at_a_time_makes_snapshots_too(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const folder in = folder_make();
    char path[256];
    folder_file(&in, "t.hf", path);
    const hf_track_settings settings = settings_of(4);
    hf_track *track = NULL;
    assert_int_equal(hf_track_file_create(ctx, path, &settings, NULL, NULL, &track), HF_OK);
    assert_int_equal(hf_track_file_begin(ctx, track), HF_OK);
    play(ctx, track, 100, 1050);
    assert_int_equal(hf_track_file_end(ctx, track, true), HF_OK);
    const uint64_t entries = hfi_track_store_of(track)->ledger->entries;
    assert_true(entries < 1000);
    assert_int_equal(covered(track), 0);
    const double x[2] = {1.0, 1.0};
    for (uint64_t k = entries; k < 1001; k++)
        assert_true(hf_track_tell(ctx, track, 400.0 + (double)k, x, 1.0, 0.0, NULL) >= 0);
    assert_int_equal(covered(track), 1000);
    hf_track *again = opened(ctx, path, false);
    assert_same(ctx, track, again);
    hf_track_free(again);
    hf_track_free(track);
    uint64_t removed = 0;
    assert_int_equal(hf_track_file_undo(ctx, path, 5, &removed), HF_OK);
    again = opened(ctx, path, true);
    assert_int_equal(covered(again), 0);
    assert_int_equal(hfi_track_store_of(again)->ledger->entries, 996);
    hf_track_free(again);
    folder_remove(&in);
    hf_context_free(ctx);
}

/* ---- states of anybody's making ------------------------------------------------------------------------------- */

/* Reads it into a new track; HF_OK or HF_ERR_MODEL_FILE, and what was taken over can be used. */
static hf_status restored(hf_context *ctx, int kind, const unsigned char *bytes, size_t count)
{
    const hf_track_settings settings = settings_of(kind);
    hf_track *track = NULL;
    assert_int_equal(hf_track_create(ctx, &settings, &track), HF_OK);
    const hf_status status = hfi_track_restore(ctx, track, bytes, count);
    hf_track_summary summary;
    hf_track_summary_of(track, &summary);
    if (status >= 0) {
        hfi_bytes again = state_of(ctx, track);
        assert_int_equal(again.count, count);
        hfi_bytes_free(&again);
        for (size_t i = 0; i < summary.held; i++) {
            hf_track_reading r;
            assert_int_equal(hf_track_reading_at(track, i, &r), HF_OK);
            assert_true(isfinite(r.y) && isfinite(r.x[0]));
        }
    }
    hf_track_free(track);
    return status;
}

static void no_state_does_harm(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (int kind = 0; kind < KINDS; kind++) {
        const hf_track_settings settings = settings_of(kind);
        hf_track *track = NULL;
        assert_int_equal(hf_track_create(ctx, &settings, &track), HF_OK);
        hfi_bytes good = state_of(ctx, track);
        assert_int_equal(restored(ctx, kind, good.data, good.count), HF_OK); /* of an empty track */
        hfi_bytes_free(&good);
        play(ctx, track, 0, 40);
        good = state_of(ctx, track);
        assert_int_equal(restored(ctx, kind, good.data, good.count), HF_OK);
        for (size_t k = 0; k < good.count; k += k % 3 == 0 ? 5 : 7) {
            assert_int_equal(restored(ctx, kind, good.data, k), HF_ERR_MODEL_FILE);
            const unsigned char kept = good.data[k];
            good.data[k] = (unsigned char)(k % 2 == 0 ? ~kept : kept + 1);
            const hf_status status = restored(ctx, kind, good.data, good.count);
            assert_true(status == HF_OK || status == HF_ERR_MODEL_FILE);
            good.data[k] = kept;
        }
        hfi_bytes_add_u64(&good, 0); /* more than there should be */
        assert_int_equal(restored(ctx, kind, good.data, good.count), HF_ERR_MODEL_FILE);
        assert_int_equal(restored(ctx, (kind + 1) % KINDS, good.data, good.count), HF_ERR_MODEL_FILE);
        hfi_bytes_free(&good);
        hf_track_free(track);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_the_journal_makes),
        cmocka_unit_test(it_goes_on_as_the_journal_does),
        cmocka_unit_test(one_entry_at_a_time_makes_snapshots_too),
        cmocka_unit_test(no_state_does_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
