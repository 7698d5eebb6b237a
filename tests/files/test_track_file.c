/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a track: what a call returned from is in it, a track opened again goes on with the same digits,
 * and what is no track is refused. */
#include "data/support.h"
#include "files/track_bytes.h"
#include "store/seals.h"

#include "files/track_store.h"

#include <holdfast/envelope_file.h>

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- tracks --------------------------------------------------------------------------------------------------- */

static const double lower[2] = {-5.0, 0.0}, upper[2] = {5.0, 2.0};
static const double stations[6] = {0.0, 0.5, -0.0, 1.5, 2.5, 4.0};
static const double ages[3] = {1.0, 2.5, 40.0}, added[3] = {0.01, 0.02, 1.0};
static const char *const names[2] = {"east", "a, b"};
static const char *const labels[6] = {"Queens", "Bronx", "O'Hare", "\xc3\x85s", "x y", "z"};

/* Settings of every sort, kind by kind. */
enum {
    KINDS = 5
};

static hf_track_settings settings_of(int kind)
{
    static const hf_track_method methods[KINDS] = {HF_TRACK_SPARQ_REUSE, HF_TRACK_SPARQ, HF_TRACK_TV_GP_UCB,
                                                   HF_TRACK_W_GP_UCB, HF_TRACK_UI_GP_UCB};
    hf_track_settings s = hf_track_settings_default(methods[kind]);
    s.domain = (hf_domain){.dimension = 2, .lower = lower, .upper = upper};
    s.samples = 64;
    s.age.rate = 0.1;
    s.queries = 3;
    if (kind == 0) {
        s.names = names;
        s.kernel = "1.5*se('a, b', lengthscale=0.7) + matern32(east, lengthscale~2)";
        s.beta_rule = HF_BETA_THEORY;
    } else if (kind == 1) {
        s.domain = (hf_domain){.dimension = 1, .candidates = 6, .points = stations};
        s.kernel = "se(lengthscale=0.8)";
        s.resolution = 0.0;
        s.queries = SIZE_MAX;
    } else if (kind == 4) {
        s.age = (hf_age_law){.kind = HF_AGE_TABLE, .entries = 3, .ages = ages, .added = added};
        s.mean_given = true;
        s.mean = -0.25;
    }
    if (kind == 2) s.forgetting = 0.03;
    if (kind == 3) {
        s.forgetting = 0.9;
        s.minimise = true;
    }
    return s;
}

static const char *const *labels_of(int kind)
{
    return kind == 1 ? labels : NULL;
}

static hf_track *created(hf_context *ctx, int kind, const char *path)
{
    const hf_track_settings settings = settings_of(kind);
    hf_track *track = NULL;
    const hf_status status =
        path != NULL ? hf_track_file_create(ctx, path, &settings, "ozone", labels_of(kind), &track)
                     : hf_track_create(ctx, &settings, &track);
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
    return track;
}

static hf_track *opened(hf_context *ctx, const char *path, bool write)
{
    hf_track *track = NULL;
    if (hf_track_file_open(ctx, path, write, &track) < 0) fail_msg("%s", hf_context_message(ctx));
    return track;
}

static double truth(const double *x, double time)
{
    return sin(x[0] - 0.2 * time) + 0.1 * time;
}

/* A step: half of what is requested is answered, some of it late; a third of the steps has two readings, and
 * the regret of some is known. */
static void step(hf_context *ctx, hf_track *track, int k, hf_suggestion *out)
{
    const double time = 0.7 * (double)k;
    double x[2] = {0.0, 0.0};
    size_t due = 0;
    assert_true(hf_track_requests(ctx, track, time, &due) >= 0);
    for (size_t i = 0; i < hf_track_pending_count(track);) {
        hf_track_request request;
        assert_int_equal(hf_track_request_at(track, i, &request), HF_OK);
        if ((request.id + (uint64_t)k) % 2 == 0 ||
            hf_track_answer(ctx, track, request.id, NAN, truth(request.x, request.time), 0.0) < 0)
            i++;
    }
    if (hf_track_ask(ctx, track, time, x, out) < 0) fail_msg("%s", hf_context_message(ctx));
    assert_true(hf_track_tell(ctx, track, time, x, truth(x, time), 0.0, NULL) >= 0);
    if (k % 3 == 1) { /* out of order; too old for some */
        const hf_status late = hf_track_tell(ctx, track, time - 0.3, x, truth(x, time) + 4.0, 0.02, NULL);
        assert_true(late >= 0 || late == HF_ERR_ARGUMENT);
    }
    const double best = hf_track_settings_of(track)->minimise ? -2.0 : 2.0;
    if (k % 4 == 2)
        assert_true(hf_track_record_optimum(ctx, track, time, best + 0.1 * time, truth(x, time)) >= 0);
}

static void play(hf_context *ctx, hf_track *track, int from, int to)
{
    hf_suggestion suggestion;
    for (int k = from; k < to; k++) step(ctx, track, k, &suggestion);
}

/* In one transaction: one by one is slow on some disks. */
static void play_at_once(hf_context *ctx, hf_track *track, int from, int to)
{
    assert_int_equal(hf_track_file_begin(ctx, track), HF_OK);
    play(ctx, track, from, to);
    assert_int_equal(hf_track_file_end(ctx, track, true), HF_OK);
}

static bool same_double(double a, double b)
{
    return (a == b && signbit(a) == signbit(b)) || (isnan(a) && isnan(b));
}

static void assert_same_suggestion(const hf_suggestion *a, const hf_suggestion *b)
{
    assert_true(same_double(a->mean, b->mean) && same_double(a->sd, b->sd) &&
                same_double(a->bound, b->bound) && same_double(a->beta, b->beta) &&
                same_double(a->information, b->information) && same_double(a->prior_mean, b->prior_mean));
    assert_true(a->index == b->index && a->readings == b->readings && a->answers == b->answers &&
                a->pending == b->pending);
}

static void assert_same_track(const hf_track *a, const hf_track *b)
{
    hf_track_summary left, right;
    hf_track_summary_of(a, &left);
    hf_track_summary_of(b, &right);
    assert_true(left.told == right.told && left.asked == right.asked && left.requested == right.requested &&
                left.answered == right.answered && left.held == right.held && left.pending == right.pending &&
                left.truths == right.truths && left.step == right.step);
    assert_true(same_double(left.clock, right.clock) && same_double(left.regret, right.regret));
    for (size_t i = 0; i < left.held; i++) {
        hf_track_reading p, q;
        assert_int_equal(hf_track_reading_at(a, i, &p), HF_OK);
        assert_int_equal(hf_track_reading_at(b, i, &q), HF_OK);
        assert_true(p.id == q.id && p.answer == q.answer && p.counts == q.counts);
        assert_true(same_double(p.time, q.time) && same_double(p.y, q.y) && same_double(p.noise, q.noise) &&
                    same_double(p.weight, q.weight) && same_double(p.x[0], q.x[0]));
    }
}

/* ---- round trips ---------------------------------------------------------------------------------------------- */

static void a_track_opened_again_is_the_same(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    for (int kind = 0; kind < KINDS; kind++) {
        char path[256], name[16];
        snprintf(name, sizeof name, "t%d.hf", kind);
        folder_file(&scratch, name, path);
        hf_track *plain = created(ctx, kind, NULL), *filed = created(ctx, kind, path);
        play(ctx, plain, 0, 9);
        for (int part = 0; part < 2; part++) {
            const int from = part == 0 ? 0 : 4, to = part == 0 ? 4 : 9;
            if (kind == 0)
                play(ctx, filed, from, to);
            else
                play_at_once(ctx, filed, from, to);
            hf_track_free(filed);
            filed = opened(ctx, path, true);
        }
        assert_same_track(plain, filed);
        assert_string_equal(hf_track_target(filed), "ozone");
        assert_string_equal(hf_track_target(plain), "y");
        for (size_t j = 0; j < hf_track_settings_of(plain)->domain.dimension; j++)
            assert_string_equal(hf_track_name(plain, j), hf_track_name(filed, j));
        for (size_t i = 0; i < 6; i++) {
            if (kind == 1)
                assert_string_equal(hf_track_candidate(filed, i), labels[i]);
            else
                assert_null(hf_track_candidate(filed, i));
        }
        assert_null(hf_track_candidate(filed, 6));
        for (int k = 9; k < 11; k++) {
            hf_suggestion a, b;
            step(ctx, plain, k, &a);
            step(ctx, filed, k, &b);
            assert_same_suggestion(&a, &b);
        }
        hf_track_free(plain);
        hf_track_free(filed);
    }
    assert_int_equal(folder_count(&scratch), KINDS);
    folder_remove(&scratch);
    hf_context_free(ctx);
}

/* Settings come back to the bit, those that SQLite has no number for too. */
static void settings_come_back(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    for (int kind = 0; kind < KINDS; kind++) {
        char path[256], name[16];
        snprintf(name, sizeof name, "t%d.hf", kind);
        hf_track *track = created(ctx, kind, folder_file(&scratch, name, path)), *again;
        hf_track *plain = created(ctx, kind, NULL);
        hf_track_free(track);
        again = opened(ctx, path, false);
        const hf_track_settings *a = hf_track_settings_of(plain), *b = hf_track_settings_of(again);
        for (size_t i = 0; i < hf_setting_count(hf_track_settings_table()); i++) {
            const hf_setting *setting = hf_setting_at(hf_track_settings_table(), i);
            char x[64], y[64];
            const bool shortened = strcmp(setting->name, "queries") == 0 && kind == 1;
            if (setting->type >= HF_SETTING_TEXT || shortened) continue;
            assert_int_equal(hf_settings_get(ctx, hf_track_settings_table(), a, setting->name, sizeof x, x),
                             HF_OK);
            assert_int_equal(hf_settings_get(ctx, hf_track_settings_table(), b, setting->name, sizeof y, y),
                             HF_OK);
            if (strcmp(x, y) != 0) fail_msg("%s: %s and %s", setting->name, x, y);
        }
        assert_string_equal(a->kernel, b->kernel);
        const size_t numbers = a->domain.dimension * (a->domain.candidates > 0 ? a->domain.candidates : 1);
        if (a->domain.candidates > 0)
            assert_memory_equal(a->domain.points, b->domain.points, numbers * sizeof(double));
        else
            assert_memory_equal(a->domain.lower, b->domain.lower, numbers * sizeof(double));
        if (kind == 4) assert_memory_equal(b->age.added, added, sizeof added);
        hf_track_free(plain);
        hf_track_free(again);
    }
    folder_remove(&scratch);
    hf_context_free(ctx);
}

/* Files have these names, whatever becomes of the library's. */
static void names_in_files_stay(void **state)
{
    (void)state;
    static const char *const promised[][2] = {
        {"method", "gp-ucb r-gp-ucb sw-gp-ucb tv-gp-ucb w-gp-ucb ui-gp-ucb sparq sparq-reuse"},
        {"age.kind", "none quadratic linear exponential wiener table"},
        {"discard", "negligible log variance"},
        {"beta_rule", "practical theory given"},
        {"places", "variance upper dpp anywhere dpp-falling"}};
    for (size_t i = 0; i < sizeof promised / sizeof promised[0]; i++) {
        const hf_setting *setting = hf_setting_find(hf_track_settings_table(), promised[i][0]);
        char listed[256] = "";
        for (size_t k = 0; k < setting->choices; k++) {
            if (k > 0) strcat(listed, " ");
            strcat(listed, hf_setting_choice(setting, k));
        }
        assert_string_equal(listed, promised[i][1]);
    }
}

/* Entries are kept to the bit: infinities, zeros of both signs, and NaN with what it carries. */
typedef struct kept {
    const hfi_event *events;
    size_t count;
} kept;

static hf_status compare_entry(hf_context *ctx, uint64_t number, const hfi_event *event, void *user)
{
    (void)ctx;
    kept *k = user;
    assert_true(number == k->count + 1);
    const hfi_event *e = &k->events[k->count++];
    assert_true(event->kind == e->kind && event->id == e->id && event->of == e->of &&
                event->count == e->count);
    assert_memory_equal(&event->time, &e->time, sizeof(double));
    assert_memory_equal(&event->y, &e->y, sizeof(double));
    assert_memory_equal(&event->a, &e->a, sizeof(double));
    assert_memory_equal(&event->b, &e->b, sizeof(double));
    assert_memory_equal(&event->c, &e->c, sizeof(double));
    if (e->count > 0) assert_memory_equal(event->values, e->values, e->count * sizeof(double));
    return HF_OK;
}

static void entries_are_kept_to_the_bit(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256];
    hf_track *track = created(ctx, 0, folder_file(&scratch, "t.hf", path));
    const uint64_t odd = 0x7ff8000000001234U;
    double carried;
    memcpy(&carried, &odd, sizeof carried);
    const double values[4] = {-0.0, 0.1 + 0.2, INFINITY, carried};
    const hfi_event events[] = {
        {.kind = HFI_EVENT_TOLD,
         .id = 1,
         .time = 1e-320,
         .y = -0.0,
         .a = NAN,
         .b = carried,
         .c = -INFINITY,
         .count = 4,
         .values = values},
        {.kind = HFI_EVENT_ANSWERED, .id = UINT64_MAX, .of = UINT64_MAX - 1, .time = 1.0 / 3.0, .y = 5e307},
        {.kind = HFI_EVENT_FITTED, .time = 3.0, .count = 3, .values = values + 1},
        {.kind = HFI_EVENT_BATCH, .id = 7, .time = -INFINITY},
    };
    hfi_track_store *store = hfi_track_store_of(track);
    assert_int_equal(hfi_track_append(ctx, store, 1, events), HF_OK);
    assert_int_equal(hfi_track_append(ctx, store, 3, events + 1), HF_OK);
    kept expected = {.events = events};
    assert_int_equal(hfi_track_read_entries(ctx, store, compare_entry, &expected), HF_OK);
    assert_int_equal(expected.count, 4);
    /* This is no life of a track: opening it names the entry that cannot be. */
    hf_track_free(track);
    assert_int_equal(hf_track_file_open(ctx, path, true, &track), HF_ERR_MODEL_FILE);
    assert_contains(hf_context_message(ctx), "t.hf: damaged: entry 1 ");
    folder_remove(&scratch);
    hf_context_free(ctx);
}

/* ---- history -------------------------------------------------------------------------------------------------- */

typedef struct lived {
    size_t count[HF_ENTRY_FITTED + 1], stop_after, all;
    uint64_t last;
} lived;

static bool live(const hf_track_entry *entry, void *user)
{
    lived *l = user;
    assert_true(entry->number > l->last);
    l->last = entry->number;
    l->count[entry->kind]++;
    assert_true((entry->x == NULL) == (entry->kind == HF_ENTRY_TRUTH || entry->kind == HF_ENTRY_FITTED));
    if (entry->kind == HF_ENTRY_ANSWERED) {
        assert_true(entry->request > 0 && entry->y == truth(entry->x, entry->time));
        assert_true(entry->weight > 0.0 && entry->weight <= 1.0);
    }
    if (entry->kind == HF_ENTRY_REQUESTED) assert_true(entry->sd > 0.0 && isnan(entry->y));
    if (entry->kind == HF_ENTRY_TRUTH) assert_true(entry->value <= entry->best);
    return ++l->all != l->stop_after;
}

static void history_is_what_happened(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256];
    hf_track *track = created(ctx, 1, folder_file(&scratch, "t.hf", path));
    play_at_once(ctx, track, 0, 8);
    hf_track_summary summary;
    hf_track_summary_of(track, &summary);
    lived all = {0}, some = {.stop_after = 5};
    assert_int_equal(hf_track_file_history(ctx, track, live, &all), HF_OK);
    assert_true(all.count[HF_ENTRY_TOLD] == summary.told && all.count[HF_ENTRY_ASKED] == summary.asked);
    assert_true(all.count[HF_ENTRY_REQUESTED] == summary.requested &&
                all.count[HF_ENTRY_ANSWERED] == summary.answered &&
                all.count[HF_ENTRY_TRUTH] == summary.truths);
    assert_true(summary.answered > 0 && summary.requested > summary.answered);
    assert_int_equal(hf_track_file_history(ctx, track, live, &some), HF_OK);
    assert_int_equal(some.all, 5);
    hf_track *plain = created(ctx, 1, NULL);
    assert_int_equal(hf_track_file_history(ctx, plain, live, &some), HF_ERR_ARGUMENT);
    hf_track_free(plain);
    hf_track_free(track);
    folder_remove(&scratch);
    hf_context_free(ctx);
}

/* ---- one writer, many that look ------------------------------------------------------------------------------- */

static void a_second_writer_is_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256];
    hf_track *track = created(ctx, 0, folder_file(&scratch, "t.hf", path)), *second = NULL;
    play(ctx, track, 0, 2);
    assert_int_equal(hf_track_file_open(ctx, path, true, &second), HF_ERR_IO);
    assert_contains(hf_context_message(ctx), "another program has it open for changes");
    assert_null(second);
    /* Looking is free, sees what is there, and changes nothing. */
    hf_track *look = opened(ctx, path, false);
    assert_same_track(track, look);
    const double x[2] = {0.5, 0.5};
    hf_suggestion suggestion;
    double place[2];
    size_t due;
    assert_int_equal(hf_track_tell(ctx, look, 3.0, x, 1.0, 0.0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_ask(ctx, look, 3.0, place, &suggestion), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_requests(ctx, look, 3.0, &due), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_record_optimum(ctx, look, 3.0, 2.0, 1.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_file_begin(ctx, look), HF_ERR_ARGUMENT);
    assert_same_track(track, look);
    play(ctx, track, 2, 3);
    lived seen = {0};
    hf_track_summary summary;
    hf_track_summary_of(track, &summary);
    assert_int_equal(hf_track_file_history(ctx, look, live, &seen), HF_OK);
    assert_true(seen.count[HF_ENTRY_TOLD] == summary.told);
    hf_track_free(look);
    play(ctx, track, 3, 4);
    hf_track_free(track);
    second = opened(ctx, path, true);
    play(ctx, second, 4, 5);
    hf_track_free(second);
    folder_remove(&scratch);
    hf_context_free(ctx);
}

static void many_changes_are_one_or_none(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256];
    hf_track *track = created(ctx, 0, folder_file(&scratch, "t.hf", path)), *plain = created(ctx, 0, NULL);
    assert_int_equal(hf_track_file_end(ctx, track, true), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_file_begin(ctx, plain), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_file_begin(ctx, track), HF_OK);
    assert_int_equal(hf_track_file_begin(ctx, track), HF_ERR_ARGUMENT);
    play(ctx, track, 0, 4);
    assert_int_equal(hf_track_file_end(ctx, track, true), HF_OK);
    play(ctx, plain, 0, 4);
    assert_int_equal(hf_track_file_begin(ctx, track), HF_OK);
    play(ctx, track, 4, 6);
    assert_int_equal(hf_track_file_end(ctx, track, false), HF_OK);
    const double x[2] = {0.5, 0.5};
    assert_int_equal(hf_track_tell(ctx, track, 9.0, x, 1.0, 0.0, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "open the track again");
    assert_int_equal(hf_track_file_begin(ctx, track), HF_ERR_ARGUMENT);
    hf_track_free(track);
    track = opened(ctx, path, true);
    assert_same_track(track, plain);
    /* Freed in the middle, it is none of it. */
    assert_int_equal(hf_track_file_begin(ctx, track), HF_OK);
    play(ctx, track, 4, 6);
    hf_track_free(track);
    track = opened(ctx, path, false);
    assert_same_track(track, plain);
    hf_track_free(track);
    hf_track_free(plain);
    folder_remove(&scratch);
    hf_context_free(ctx);
}

/* ---- what can happen to a file -------------------------------------------------------------------------------- */

/* A program that is killed in the middle of a transaction, with half of it in the file already. */
static void die_in_a_transaction(const char *path)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sqlite3 *db = NULL;
        if (sqlite3_open(path, &db) == SQLITE_OK)
            (void)sqlite3_exec(
                db,
                "PRAGMA cache_size=1; BEGIN; UPDATE journal SET numbers = zeroblob(400); UPDATE "
                "head SET entries = 0; UPDATE array SET data = zeroblob(5)",
                NULL, NULL, NULL);
        (void)raise(SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void what_a_killed_program_left_is_put_in_order(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256];
    hf_track *track = created(ctx, 1, folder_file(&scratch, "t.hf", path)), *plain = created(ctx, 1, NULL);
    play_at_once(ctx, track, 0, 9);
    play(ctx, plain, 0, 9);
    hf_track_free(track);
    for (int write = 0; write < 2; write++) {
        die_in_a_transaction(path);
        assert_int_equal(folder_count(&scratch), 2);
        track = opened(ctx, path, write == 1);
        assert_same_track(track, plain);
        hf_track_free(track);
        if (write == 1) assert_int_equal(folder_count(&scratch), 1);
    }
    folder_remove(&scratch);
    hf_track_free(plain);
    hf_context_free(ctx);
}

/* A limit on the size of files stands for a disk that is full. */
static void a_full_disk_loses_nothing_that_was_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256];
    hf_track *track = created(ctx, 0, folder_file(&scratch, "t.hf", path)), *plain = created(ctx, 0, NULL);
    play_at_once(ctx, track, 0, 12);
    play(ctx, plain, 0, 12);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    struct rlimit before, small = {.rlim_cur = (rlim_t)about.st_size};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const double x[2] = {0.5, 0.5};
    hf_status status = HF_OK;
    double told = 0.0;
    for (int k = 0; k < 1000 && status >= 0; k++) {
        status = hf_track_tell(ctx, track, 8.4, x, told, 0.0, NULL);
        if (status >= 0) assert_true(hf_track_tell(ctx, plain, 8.4, x, told, 0.0, NULL) >= 0);
        told += 0.001;
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, HF_ERR_IO);
    assert_contains(hf_context_message(ctx), "t.hf: cannot be written: ");
    assert_same_track(track, plain);
    /* Room again, it goes on. */
    play_at_once(ctx, track, 13, 15);
    play(ctx, plain, 13, 15);
    hf_track_free(track);
    track = opened(ctx, path, false);
    assert_same_track(track, plain);
    hf_track_free(track);
    hf_track_free(plain);
    folder_remove(&scratch);
    hf_context_free(ctx);
}

static void a_file_that_is_taken_away_is_noticed(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256], other[256];
    hf_track *track = created(ctx, 0, folder_file(&scratch, "t.hf", path));
    play(ctx, track, 0, 1);
    assert_int_equal(rename(path, folder_file(&scratch, "u.hf", other)), 0);
    const double x[2] = {0.5, 0.5};
    assert_int_equal(hf_track_tell(ctx, track, 3.0, x, 1.0, 0.0, NULL), HF_ERR_IO);
    assert_contains(hf_context_message(ctx), "moved or replaced");
    assert_int_equal(rename(other, path), 0);
    play(ctx, track, 1, 2);
    /* Whoever changes it without asking for the lock is noticed too. */
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE head SET entries = entries + 1", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(hf_track_tell(ctx, track, 3.0, x, 1.0, 0.0, NULL), HF_ERR_IO);
    assert_contains(hf_context_message(ctx), "something else has changed it");
    hf_track_free(track);
    folder_remove(&scratch);
    hf_context_free(ctx);
}

static void places_and_names_that_cannot_be(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256];
    hf_track *track = NULL;
    const hf_track_settings box = settings_of(0), points = settings_of(1);
    static const char *const twice[6] = {"a", "b", "c", "d", "b", "e"}, *const empty[6] = {"a", "",  "c",
                                                                                           "d", "b", "e"};
    folder_file(&scratch, "t.hf", path);
    assert_int_equal(hf_track_file_create(ctx, path, &points, NULL, twice, &track), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "two candidates are called \"b\"");
    assert_int_equal(hf_track_file_create(ctx, path, &points, NULL, empty, &track), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_file_create(ctx, path, &box, NULL, labels, &track), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_file_create(ctx, "-", &box, NULL, NULL, &track), HF_ERR_ARGUMENT);
    assert_int_equal(hf_track_file_create(ctx, scratch.path, &box, NULL, NULL, &track), HF_ERR_IO);
    assert_int_equal(hf_track_file_create(ctx, "/dev/full", &box, NULL, NULL, &track), HF_ERR_IO);
    hf_track_settings wrong = box;
    wrong.noise = -1.0;
    assert_int_equal(hf_track_file_create(ctx, path, &wrong, NULL, NULL, &track), HF_ERR_ARGUMENT);
    assert_int_equal(folder_count(&scratch), 0);
    file_put(path, "a,b\n1,2\n", 8);
    assert_int_equal(hf_track_file_create(ctx, path, &box, NULL, NULL, &track), HF_ERR_IO);
    assert_contains(hf_context_message(ctx), "is there already");
    assert_int_equal(hf_track_file_open(ctx, path, true, &track), HF_ERR_MODEL_FILE);
    assert_contains(hf_context_message(ctx), "text; is it the data?");
    assert_int_equal(hf_track_file_open(ctx, scratch.path, true, &track), HF_ERR_IO);
    assert_int_equal(hf_track_file_open(ctx, "no/such/t.hf", false, &track), HF_ERR_IO);
    assert_int_equal(hf_track_file_open(ctx, "/dev/null", false, &track), HF_ERR_IO);
    assert_null(track);
    folder_remove(&scratch);
    hf_context_free(ctx);
}

/* ---- damage --------------------------------------------------------------------------------------------------- */

/* A track's file in memory, with the track it is of, and a place to spoil copies of it. */
typedef struct image {
    hf_context *ctx;
    hf_track *track;
    unsigned char *bytes, *copy;
    size_t size;
} image;

static image image_make(void)
{
    image made = {.ctx = hf_context_create(), .track = NULL};
    folder scratch = folder_make();
    char path[256];
    hf_track *track = created(made.ctx, 1, folder_file(&scratch, "t.hf", path));
    play_at_once(made.ctx, track, 0, 4);
    hf_track_free(track);
    assert_int_equal(hfi_file_read(made.ctx, path, &made.bytes, &made.size), HF_OK);
    assert_int_equal(hf_file_type(path), HF_FILE_TRACK);
    made.track = opened(made.ctx, path, false);
    made.copy = malloc(made.size + 4096);
    assert_non_null(made.copy);
    memcpy(made.copy, made.bytes, made.size);
    folder_remove(&scratch);
    return made;
}

static void image_free(image *made)
{
    free(made->copy);
    hfi_free(made->ctx, made->bytes);
    hf_track_free(made->track);
    hf_context_free(made->ctx);
}

static void assert_refused(image *made, size_t size, const char *message)
{
    hf_track *track = NULL;
    const hf_status status = track_from_bytes(made->ctx, made->copy, size, "t.hf", &track);
    if (status != HF_ERR_MODEL_FILE) fail_msg("%s instead of %s", hf_status_name(status), message);
    assert_null(track);
    assert_contains(hf_context_message(made->ctx), "t.hf: ");
    assert_contains(hf_context_message(made->ctx), message);
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    image made = image_make();
    assert_refused(&made, 0, "empty");
    made.copy[71] ^= 1;
    assert_refused(&made, made.size, "SQLite database, but not a Holdfast track");
    memcpy(made.copy + 68, "HFmd", 4);
    assert_refused(&made, made.size, "a model, not a track");
    memcpy(made.copy, made.bytes, made.size);
    made.copy[63] = HFI_TRACK_VERSION + 1;
    assert_refused(&made, made.size, "newer Holdfast (format 3");
    made.copy[63] = HFI_TRACK_PLAIN;
    made.copy[18] = made.copy[19] = 2;
    assert_refused(&made, made.size, "rollback journal");
    made.copy[18] = made.copy[19] = 1;
    for (size_t size = 16; size < made.size; size += size < 520 ? 31 : 1021)
        assert_refused(&made, size, "truncated");
    memset(made.copy + made.size, 0, 4096);
    assert_refused(&made, made.size + 4096, "damaged");
    image_free(&made);
}

/* Whatever bit flips: refused, or it was one that carries no content and the track is the same. */
static void flipped_bits_do_not_pass(void **state)
{
    (void)state;
    image made = image_make();
    size_t refused = 0, named = 0;
    for (size_t bit = 0; bit < 8 * made.size; bit += 1021) {
        made.copy[bit / 8] ^= (unsigned char)(1U << (bit % 8));
        hf_track *track = NULL;
        const hf_status status = track_from_bytes(made.ctx, made.copy, made.size, "t.hf", &track);
        if (status == HF_OK) {
            assert_same_track(track, made.track);
        } else {
            assert_int_equal(status, HF_ERR_MODEL_FILE);
            refused++;
            named += strstr(hf_context_message(made.ctx), "damaged: entry ") != NULL ? 1 : 0;
        }
        hf_track_free(track);
        made.copy[bit / 8] ^= (unsigned char)(1U << (bit % 8));
    }
    assert_true(refused > 20 && named > 5);
    image_free(&made);
}

static sqlite3 *image_database(const image *made)
{
    sqlite3 *db = NULL;
    const size_t room = 2 * made->size + 65536;
    unsigned char *bytes = sqlite3_malloc64(room);
    assert_non_null(bytes);
    memcpy(bytes, made->bytes, made->size);
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_deserialize(db, "main", bytes, (sqlite3_int64)made->size, (sqlite3_int64)room,
                                         SQLITE_DESERIALIZE_FREEONCLOSE),
                     SQLITE_OK);
    return db;
}

/* Changes content with SQLite's own means. `seal` makes the checksums right again: what is left to detect is
 * nonsense. */
static hf_status open_changed(const image *made, const char *sql, bool seal, hf_track **track)
{
    sqlite3 *db = image_database(made);
    sqlite3_int64 size = 0;
    char *error = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) fail_msg("%s: %s", sql, error);
    if (seal) assert_int_equal(seal_ledger(db, &hfi_track_form), SQLITE_OK);
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
    assert_non_null(bytes);
    *track = NULL;
    const hf_status status = track_from_bytes(made->ctx, bytes, (size_t)size, "t.hf", track);
    sqlite3_free(bytes);
    sqlite3_close(db);
    return status;
}

static void change(const image *made, const char *sql, bool seal, const char *message)
{
    hf_track *track = NULL;
    const hf_status status = open_changed(made, sql, seal, &track);
    if (status != HF_ERR_MODEL_FILE) fail_msg("%s: %s", sql, hf_status_name(status));
    assert_null(track);
    assert_contains(hf_context_message(made->ctx), message);
}

static void changed_content_is_refused(void **state)
{
    (void)state;
    image made = image_make();
    change(&made, "UPDATE meta SET value = 'z' WHERE key = 'target'", false, "its settings do not match");
    change(&made, "UPDATE candidate SET name = 'z' WHERE position = 1", false, "its settings do not match");
    change(&made, "DELETE FROM meta WHERE key = 'content_sha256'", false, "content_sha256");
    change(&made, "UPDATE journal SET id = id + 1 WHERE number = 3", false, "entry 3 ");
    change(&made, "UPDATE journal SET kind = 'answered' WHERE number = 4", false, "entry 4 ");
    change(&made, "UPDATE journal SET numbers = numbers || zeroblob(8) WHERE number = 5", false, "entry 5 ");
    change(&made, "UPDATE journal SET seal = zeroblob(16) WHERE number = 6", false, "entry 6 ");
    change(&made, "DELETE FROM journal WHERE number = 2", false, "entry 2 ");
    change(&made, "DELETE FROM journal WHERE number = (SELECT max(number) FROM journal)", false,
           "entries where there should be ");
    change(&made, "DELETE FROM journal", false, "0 entries where there should be ");
    change(&made, "DELETE FROM head", false, "how long");
    change(&made, "UPDATE head SET seal = zeroblob(16)", false, "entries where there should be ");
    image_free(&made);
}

static void nonsense_with_right_checksums_is_refused(void **state)
{
    (void)state;
    image made = image_make();
    static const char *const statements[][2] = {
        {"UPDATE meta SET value = 9223372036854775807 WHERE key = 'inputs'", "inputs"},
        {"UPDATE meta SET value = 9223372036854775807 WHERE key = 'candidates'", "inputs"},
        {"UPDATE meta SET value = 1000000000 WHERE key = 'candidates'", "inputs"},
        {"UPDATE meta SET value = 0 WHERE key = 'inputs'", "inputs"},
        {"UPDATE meta SET value = 7 WHERE key = 'candidates'", "points"},
        {"UPDATE meta SET value = -1 WHERE key = 'settings.queries'", "settings.queries"},
        {"UPDATE meta SET value = 'soon' WHERE key = 'settings.every'", "settings.every"},
        {"UPDATE meta SET value = -1.0 WHERE key = 'settings.noise'", "its settings make no track"},
        {"UPDATE meta SET value = 'se(' WHERE key = 'kernel'", "its settings make no track"},
        {"UPDATE meta SET value = 'best' WHERE key = 'settings.method'", "settings.method"},
        {"UPDATE meta SET value = 2 WHERE key = 'settings.minimise'", "settings.minimise"},
        {"DELETE FROM meta WHERE key = 'settings.minimise'", "settings.minimise"},
        {"UPDATE meta SET value = NULL WHERE key = 'target'", "target"},
        {"DELETE FROM meta WHERE key = 'settings.beta'", "settings.beta"},
        {"DELETE FROM candidate WHERE position = 5", "name"},
        {"UPDATE candidate SET name = x'41' WHERE position = 5", "name"},
        {"INSERT INTO candidate VALUES (6, 'more')", "more names"},
        {"DELETE FROM array WHERE name = 'points'", "points"},
        {"UPDATE array SET data = zeroblob(40) WHERE name = 'points'", "points"},
        {"UPDATE journal SET kind = 'guessed' WHERE number = 2", "entry 2 "},
        {"UPDATE journal SET numbers = zeroblob(24) WHERE number = 2", "entry 2 "},
        {"UPDATE journal SET numbers = zeroblob(43) WHERE number = 2", "entry 2 "},
        {"UPDATE journal SET numbers = substr(numbers, 1, 40) WHERE number = 2", "entry 2 "},
        {"UPDATE journal SET of = 999 WHERE kind = 'answered'", "entry "},
        {"UPDATE journal SET numbers = x'000000000000f87f' || substr(numbers, 9) WHERE number = 2",
         "entry 2 "},
        {"UPDATE journal SET number = 1000 WHERE number = 7", "entry 7 "},
        {"INSERT INTO head VALUES (1, 0, zeroblob(16))", "how long"},
        {"CREATE TABLE extra (x)", "tables, views or triggers"},
        {"CREATE VIEW v AS SELECT 1", "tables, views or triggers"},
        {"CREATE TRIGGER t AFTER INSERT ON journal BEGIN SELECT 1; END", "tables, views or triggers"},
        {"CREATE INDEX i ON journal (id)", "tables, views or triggers"},
        {"ALTER TABLE input ADD COLUMN z", "\"input\""},
    };
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
        change(&made, statements[i][0], true, statements[i][1]);
    image_free(&made);
}

/* A number out of the journal. */
static int ask_journal(const image *made, const char *what)
{
    sqlite3 *db = image_database(made);
    sqlite3_stmt *s = NULL;
    char *sql = sqlite3_mprintf("SELECT %s FROM journal", what);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    const int number = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    sqlite3_free(sql);
    sqlite3_close(db);
    return number;
}

/* The checksums are right, and each entry by itself can follow those before. */
static void lists_of_requests_are_whole(void **state)
{
    (void)state;
    image made = image_make();
    const int first = ask_journal(&made, "min(CASE kind WHEN 'batch' THEN number END)"),
              last = ask_journal(&made, "max(CASE kind WHEN 'batch' THEN number END)"),
              end = ask_journal(&made, "max(CASE kind WHEN 'requested' THEN number END)"),
              entries = ask_journal(&made, "max(number)");
    assert_true(first > 1 && first < last && last + 2 <= end && end < entries);
    char sql[128], entry[64];
    const int lists[2] = {first, last};
    for (int i = 0; i < 2; i++) {
        snprintf(entry, sizeof entry, "entry %d of its journal cannot be: it is a list", lists[i]);
        snprintf(sql, sizeof sql, "UPDATE journal SET id = id + 1 WHERE number = %d", lists[i]);
        change(&made, sql, true, entry);
        assert_contains(hf_context_message(made.ctx), "the last 1 do not follow");
        snprintf(sql, sizeof sql, "UPDATE journal SET id = -1 WHERE number = %d", lists[i]);
        change(&made, sql, true, entry);
        snprintf(sql, sizeof sql, "UPDATE journal SET id = 0 WHERE number = %d", lists[i]);
        snprintf(entry, sizeof entry, "entry %d of its journal cannot be: it is a request", lists[i] + 1);
        change(&made, sql, true, entry);
    }
    /* The last list is as long as it says; the journal ends anywhere in it, or after it. */
    snprintf(entry, sizeof entry, "entry %d of its journal cannot be: it is a list", last);
    for (int to = last - 1; to <= end; to++) {
        snprintf(sql, sizeof sql, "DELETE FROM journal WHERE number > %d", to);
        if (to >= last && to < end) {
            change(&made, sql, true, entry);
            continue;
        }
        hf_track *track = NULL;
        if (open_changed(&made, sql, true, &track) < 0) fail_msg("%s", hf_context_message(made.ctx));
        hf_track_free(track);
    }
    image_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_track_opened_again_is_the_same),
        cmocka_unit_test(settings_come_back),
        cmocka_unit_test(names_in_files_stay),
        cmocka_unit_test(entries_are_kept_to_the_bit),
        cmocka_unit_test(history_is_what_happened),
        cmocka_unit_test(a_second_writer_is_told),
        cmocka_unit_test(many_changes_are_one_or_none),
        cmocka_unit_test(what_a_killed_program_left_is_put_in_order),
        cmocka_unit_test(a_full_disk_loses_nothing_that_was_told),
        cmocka_unit_test(a_file_that_is_taken_away_is_noticed),
        cmocka_unit_test(places_and_names_that_cannot_be),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(flipped_bits_do_not_pass),
        cmocka_unit_test(changed_content_is_refused),
        cmocka_unit_test(nonsense_with_right_checksums_is_refused),
        cmocka_unit_test(lists_of_requests_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
