/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots in a journal: the last whole one comes back, whatever happened to the file, and what is kept
 * after them too. */
#include "checkpoint/journal.h"
#include "data/support.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum {
    NUMBERS = 5,
    ASKED = 2,
    TOLD = 3,
    HEADER = 56,
    PLACE = 40 + 8 * NUMBERS + 32,
    ENTRY = 40 + 8 * (ASKED + TOLD) + 32,
    START = HEADER + ENTRY /* one answer, then snapshots */
};

static const hfi_fingerprint print[1] = {{{1, 2, 3, 4, 5}}};

typedef struct scratch {
    hf_context *ctx;
    folder folder;
    char path[256];
} scratch;

static int setup(void **state)
{
    scratch *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->ctx = hf_context_create();
    s->folder = folder_make();
    folder_file(&s->folder, "checkpoint", s->path);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    scratch *s = *state;
    folder_remove(&s->folder);
    hf_context_free(s->ctx);
    free(s);
    return 0;
}

/* ---- a fit of one answer, some steps and two more answers ---------------------------------------------------- */

static double answer_at(size_t which, size_t i)
{
    return sin((double)(7 * which + i)) / 3.0;
}

/* Asks for answer `which`, and gives it if it is not there. */
static bool ask(hfi_journal *journal, size_t which)
{
    const double question[ASKED] = {(double)which, -1.0};
    double told[TOLD] = {NAN, NAN, NAN};
    hfi_journal_entry entry = {.asked = ASKED, .told = TOLD, .key = question, .answer = told};
    bool found = false;
    assert_int_equal(hfi_journal_recall(journal, &entry, &found), HF_OK);
    for (size_t i = 0; i < TOLD; i++) {
        if (found) assert_true(told[i] == answer_at(which, i));
        told[i] = answer_at(which, i);
    }
    if (found) assert_true(entry.value == (double)which && entry.status == HF_WARN_JITTER);
    entry.value = (double)which;
    entry.status = HF_WARN_JITTER;
    if (!found) hfi_journal_keep(journal, &entry);
    return found;
}

/* The numbers after `step` steps say which step that was. */
static void take_snapshot(hfi_journal *journal, size_t step)
{
    double numbers[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++) numbers[i] = (double)step + answer_at(step, i);
    hfi_journal_snapshot(journal, NUMBERS, numbers);
}

/* The step that the last snapshot was taken after; 0: there is none. */
static size_t restore(hfi_journal *journal)
{
    double numbers[NUMBERS];
    bool found = false;
    assert_int_equal(hfi_journal_restore(journal, NUMBERS, numbers, &found), HF_OK);
    if (!found) return 0;
    const size_t step = (size_t)(numbers[0] + 0.5);
    for (size_t i = 0; i < NUMBERS; i++) assert_true(numbers[i] == (double)step + answer_at(step, i));
    return step;
}

static hfi_journal *open_journal(const scratch *s)
{
    hfi_journal *journal = NULL;
    if (hfi_journal_open(s->ctx, s->path, true, print, &journal) != HF_OK)
        fail_msg("%s", hf_context_message(s->ctx));
    return journal;
}

/* Goes on from wherever it was to `steps`, and with `finish` to the end. @return the step it went on from. */
static size_t go_on(const scratch *s, size_t steps, bool finish, size_t *answered)
{
    hfi_journal *journal = open_journal(s);
    *answered = ask(journal, 0) ? 1 : 0;
    const size_t begun = restore(journal);
    for (size_t step = begun + 1; step <= steps; step++) take_snapshot(journal, step);
    if (finish) {
        hfi_journal_pass_snapshots(journal, NUMBERS);
        *answered += ask(journal, 1) ? 1 : 0;
        *answered += ask(journal, 2) ? 1 : 0;
    }
    assert_null(hfi_journal_warning(journal));
    hfi_journal_close(journal, false);
    return begun;
}

static size_t bytes_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return (size_t)about.st_size;
}

/* ---- going on ------------------------------------------------------------------------------------------------ */

static void the_last_one_comes_back(void **state)
{
    const scratch *s = *state;
    size_t answered;
    assert_int_equal(go_on(s, 0, false, &answered), 0);
    for (size_t steps = 1; steps < 8; steps++) {
        assert_int_equal(go_on(s, steps, false, &answered), steps - 1);
        assert_int_equal(answered, 1);
        /* Two places, whatever the number of snapshots; the first one is written to the second place. */
        assert_int_equal(bytes_of(s->path), START + 2 * PLACE);
    }
}

static void answers_follow_the_snapshots(void **state)
{
    const scratch *s = *state;
    size_t answered;
    go_on(s, 4, true, &answered);
    assert_int_equal(answered, 0);
    assert_int_equal(bytes_of(s->path), START + 2 * PLACE + 2 * ENTRY);
    assert_int_equal(go_on(s, 4, true, &answered), 4);
    assert_int_equal(answered, 3);
    /* Also behind a single one, which lies in the second place. */
    assert_int_equal(remove(s->path), 0);
    go_on(s, 1, true, &answered);
    assert_int_equal(go_on(s, 1, true, &answered), 1);
    assert_int_equal(answered, 3);
}

/* ---- files that were cut or damaged -------------------------------------------------------------------------- */

static void a_file_cut_anywhere_goes_on(void **state)
{
    const scratch *s = *state;
    size_t answered;
    go_on(s, 6, true, &answered);
    const size_t size = bytes_of(s->path);
    char *whole = file_get(s->path);
    for (size_t length = START; length <= size; length++) {
        file_put(s->path, whole, length);
        hfi_journal *journal = open_journal(s);
        assert_true(ask(journal, 0));
        /* The sixth lies in the first place, the fifth in the second. */
        assert_int_equal(restore(journal), length < START + PLACE ? 0 : 6);
        hfi_journal_pass_snapshots(journal, NUMBERS);
        assert_int_equal(ask(journal, 1), length >= START + 2 * PLACE + ENTRY);
        assert_int_equal(ask(journal, 2), length == size);
        assert_null(hfi_journal_warning(journal));
        hfi_journal_close(journal, false);
    }
    free(whole);
}

static void a_damaged_one_leaves_the_one_before(void **state)
{
    const scratch *s = *state;
    size_t answered;
    go_on(s, 6, false, &answered);
    const size_t size = bytes_of(s->path);
    char *whole = file_get(s->path), *damaged = malloc(size);
    assert_non_null(damaged);
    for (size_t at = 0; at < 2 * PLACE; at++) {
        memcpy(damaged, whole, size);
        damaged[START + at] ^= (char)(1 << at % 8);
        file_put(s->path, damaged, size);
        assert_int_equal(go_on(s, 0, false, &answered), at < PLACE ? 5 : 6);
    }
    /* Both: from the answers alone, with a warning. */
    damaged[START + 60] ^= 1;
    damaged[START + PLACE + 60] ^= 1;
    file_put(s->path, damaged, size);
    hfi_journal *journal = open_journal(s);
    assert_true(ask(journal, 0));
    assert_int_equal(restore(journal), 0);
    assert_contains(hfi_journal_warning(journal), "damaged after 1 evaluations");
    take_snapshot(journal, 1);
    hfi_journal_close(journal, false);
    assert_int_equal(go_on(s, 1, true, &answered), 1);
    free(whole);
    free(damaged);
}

/* A write that a machine's fall interrupted leaves any piece of the new snapshot and the rest of the old one. */
static void a_torn_one_leaves_the_one_before(void **state)
{
    const scratch *s = *state;
    size_t answered;
    go_on(s, 6, false, &answered);
    char *before = file_get(s->path);
    const size_t size = bytes_of(s->path);
    go_on(s, 7, false, &answered);
    char *after = file_get(s->path), *torn = malloc(size);
    assert_non_null(torn);
    for (size_t at = 0; at <= PLACE; at++) {
        memcpy(torn, before, size);
        memcpy(torn + START + PLACE, after + START + PLACE, at); /* the seventh, in the second place */
        file_put(s->path, torn, size);
        /* Two digests may agree in some of their last bytes. */
        const bool all = memcmp(torn, after, size) == 0;
        assert_int_equal(go_on(s, 0, false, &answered), all ? 7 : 6);
    }
    free(before);
    free(after);
    free(torn);
}

static void those_of_another_length_are_not_taken(void **state)
{
    const scratch *s = *state;
    size_t answered;
    double numbers[NUMBERS + 1];
    bool found = true;
    go_on(s, 6, false, &answered);
    hfi_journal *journal = open_journal(s);
    assert_true(ask(journal, 0));
    assert_int_equal(hfi_journal_restore(journal, NUMBERS - 1, numbers, &found), HF_OK);
    assert_false(found);
    hfi_journal_close(journal, false);
}

/* ---- disks and devices --------------------------------------------------------------------------------------- */

static void a_disk_that_fills_up_keeps_the_last_one(void **state)
{
    const scratch *s = *state;
    size_t answered;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    limit = before;
    limit.rlim_cur = START + 2 * PLACE + ENTRY / 2;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    hfi_journal *journal = open_journal(s);
    assert_false(ask(journal, 0));
    assert_int_equal(restore(journal), 0);
    for (size_t step = 1; step <= 5; step++) take_snapshot(journal, step);
    assert_null(hfi_journal_warning(journal));
    hfi_journal_pass_snapshots(journal, NUMBERS);
    assert_false(ask(journal, 1));
    assert_contains(hfi_journal_warning(journal), "ended after 1 evaluations and 5 snapshots");
    assert_false(hfi_journal_is_due(journal));
    assert_false(ask(journal, 2));
    hfi_journal_close(journal, false);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(go_on(s, 5, true, &answered), 5);
    assert_int_equal(go_on(s, 5, true, &answered), 5);
    assert_int_equal(answered, 3);
}

static void devices_hold_none(void **state)
{
    const scratch *s = *state;
    hfi_journal *journal = NULL;
    assert_int_equal(hfi_journal_open(s->ctx, "/dev/null", true, print, &journal), HF_OK);
    assert_false(ask(journal, 0));
    assert_int_equal(restore(journal), 0);
    assert_false(hfi_journal_is_due(journal));
    take_snapshot(journal, 1);
    hfi_journal_pass_snapshots(journal, NUMBERS);
    assert_false(ask(journal, 1));
    assert_null(hfi_journal_warning(journal));
    hfi_journal_close(journal, true);
}

/* Between a twentieth of a second and a second after the last, on any disk of use. */
static void they_become_due(void **state)
{
    const scratch *s = *state;
    hfi_journal *journal = open_journal(s);
    assert_int_equal(restore(journal), 0);
    assert_false(hfi_journal_is_due(journal));
    while (!hfi_journal_is_due(journal)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    take_snapshot(journal, 1);
    assert_false(hfi_journal_is_due(journal));
    while (!hfi_journal_is_due(journal)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    hfi_journal_close(journal, false);
}

/* ---- several processes --------------------------------------------------------------------------------------- */

enum {
    SIZE = 3
};

typedef struct wire {
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    double total[64];
} wire;

typedef struct process {
    wire *wire;
    size_t rank, steps;
    const char *path;
    size_t begun, answered;
} process;

static bool add_up(size_t count, double *values, void *user)
{
    const process *p = user;
    wire *w = p->wire;
    if (count > 64) return false;
    if (p->rank == 0) memset(w->total, 0, sizeof w->total);
    pthread_barrier_wait(&w->barrier);
    pthread_mutex_lock(&w->lock);
    for (size_t k = 0; k < count; k++) w->total[k] += values[k];
    pthread_mutex_unlock(&w->lock);
    pthread_barrier_wait(&w->barrier);
    memcpy(values, w->total, count * sizeof *values);
    pthread_barrier_wait(&w->barrier);
    return true;
}

static void *run_process(void *arg)
{
    process *p = arg;
    scratch s = {.ctx = hf_context_create()};
    const hf_group group = {.rank = p->rank, .size = SIZE, .sum = add_up, .user = p};
    snprintf(s.path, sizeof s.path, "%s", p->path);
    if (hf_context_set_group(s.ctx, &group) >= 0) p->begun = go_on(&s, p->steps, p->steps > 4, &p->answered);
    hf_context_free(s.ctx);
    return NULL;
}

static void all_processes_get_the_same(void **state)
{
    const scratch *s = *state;
    for (size_t steps = 3; steps < 8; steps++) {
        wire w = {.lock = PTHREAD_MUTEX_INITIALIZER};
        process all[SIZE];
        pthread_t thread[SIZE];
        assert_int_equal(pthread_barrier_init(&w.barrier, NULL, SIZE), 0);
        for (size_t r = 0; r < SIZE; r++) {
            all[r] = (process){.wire = &w, .rank = r, .steps = steps < 6 ? steps : 5, .path = s->path};
            assert_int_equal(pthread_create(&thread[r], NULL, run_process, &all[r]), 0);
        }
        for (size_t r = 0; r < SIZE; r++) assert_int_equal(pthread_join(thread[r], NULL), 0);
        pthread_barrier_destroy(&w.barrier);
        for (size_t r = 0; r < SIZE; r++) {
            assert_int_equal(all[r].begun, steps == 3 ? 0 : steps < 6 ? steps - 1 : 5);
            assert_int_equal(all[r].answered, steps == 3 ? 0 : steps < 6 ? 1 : 3);
        }
    }
}

int main(void)
{
#define SNAPSHOT_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        SNAPSHOT_TEST(the_last_one_comes_back),
        SNAPSHOT_TEST(answers_follow_the_snapshots),
        SNAPSHOT_TEST(a_file_cut_anywhere_goes_on),
        SNAPSHOT_TEST(a_damaged_one_leaves_the_one_before),
        SNAPSHOT_TEST(a_torn_one_leaves_the_one_before),
        SNAPSHOT_TEST(those_of_another_length_are_not_taken),
        SNAPSHOT_TEST(a_disk_that_fills_up_keeps_the_last_one),
        SNAPSHOT_TEST(devices_hold_none),
        SNAPSHOT_TEST(they_become_due),
        SNAPSHOT_TEST(all_processes_get_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
