/* SPDX-License-Identifier: Apache-2.0 */
/* One journal for a group of processes: the first owns the file, all get the same answers, and none waits for ever. */
#include "checkpoint/answers.h"
#include "checkpoint/journal_impl.h"
#include "data/support.h"

#include <math.h>
#include <pthread.h>

enum {
    SIZE = 3,
    COUNT = 2,
    MOST = 6
};

static const hfi_fingerprint print[1] = {{{1, 2, 3, 4, 5}}};
static const hfi_fingerprint other[1] = {{{1, 2, 30, 4, 5}}};

/* Stand-in for message passing. */
typedef struct exchange {
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    double total[COUNT + 8];
} exchange;

typedef struct process {
    exchange *wire;
    size_t rank;
    const char *path;
    const hfi_fingerprint *fingerprint;
    size_t records; /* evaluations of this run */
    bool wrong;     /* asks for something else at the second evaluation */
    hf_status status;
    size_t taken;
    double values[MOST], gradients[MOST * COUNT];
    char message[256];
} process;

static bool add_up(size_t count, double *values, void *user)
{
    const process *p = user;
    exchange *w = p->wire;
    if (count > COUNT + 8) return false;
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

static hf_status evaluate(process *p, hfi_journal *journal, size_t k)
{
    const double shift = p->wrong && k == 1 ? 1.0 : 0.0;
    const double state[COUNT] = {(double)k + shift, -0.5 * (double)k};
    double *gradient = p->gradients + k * COUNT;
    bool found = false;
    hf_status status = HF_OK;
    const hf_status taken = take_answer(journal, COUNT, state, &found, &p->values[k], gradient, &status);
    if (taken < 0 || found) return taken < 0 ? taken : status;
    p->values[k] = exp(0.1 * (double)k);
    for (size_t i = 0; i < COUNT; i++) gradient[i] = sin((double)(k + i));
    keep_answer(journal, COUNT, state, p->values[k], gradient, HF_WARN_JITTER);
    return HF_WARN_JITTER;
}

static void *run_process(void *arg)
{
    process *p = arg;
    hf_context *ctx = hf_context_create();
    const hf_group group = {.rank = p->rank, .size = SIZE, .sum = add_up, .user = p};
    hfi_journal *journal = NULL;
    p->status = hf_context_set_group(ctx, &group);
    if (p->status >= 0) p->status = hfi_journal_open(ctx, p->path, true, p->fingerprint, &journal);
    for (size_t k = 0; k < p->records && p->status >= 0; k++) p->status = evaluate(p, journal, k);
    p->taken = journal ? journal->taken : 0;
    snprintf(p->message, sizeof p->message, "%s", hf_context_message(ctx));
    hfi_journal_close(journal, false);
    hf_context_free(ctx);
    return NULL;
}

static void run_all(process all[SIZE])
{
    exchange wire = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread[SIZE];
    assert_int_equal(pthread_barrier_init(&wire.barrier, NULL, SIZE), 0);
    for (size_t r = 0; r < SIZE; r++) {
        all[r].rank = r;
        all[r].wire = &wire;
        assert_int_equal(pthread_create(&thread[r], NULL, run_process, &all[r]), 0);
    }
    for (size_t r = 0; r < SIZE; r++) assert_int_equal(pthread_join(thread[r], NULL), 0);
    pthread_barrier_destroy(&wire.barrier);
}

static void run_with(const char *path, const hfi_fingerprint *fingerprint, size_t records, bool wrong,
                     process all[SIZE])
{
    for (size_t r = 0; r < SIZE; r++)
        all[r] = (process){.path = path, .fingerprint = fingerprint, .records = records, .wrong = wrong};
    run_all(all);
}

static void all_get_what_the_first_has(void **state)
{
    (void)state;
    folder scratch = folder_make();
    char path[256];
    folder_file(&scratch, "checkpoint", path);
    process first[SIZE], second[SIZE];
    run_with(path, print, 4, false, first);
    assert_int_equal(folder_count(&scratch), 1);
    run_with(path, print, MOST, false, second);
    for (size_t r = 0; r < SIZE; r++) {
        assert_int_equal(first[r].status, HF_WARN_JITTER);
        assert_int_equal(second[r].status, HF_WARN_JITTER);
        assert_int_equal(first[r].taken, 0);
        assert_int_equal(second[r].taken, 4);
        assert_memory_equal(second[r].values, first[r].values, 4 * sizeof(double));
        assert_memory_equal(second[r].gradients, first[r].gradients, 4 * COUNT * sizeof(double));
        assert_memory_equal(second[r].values, second[0].values, sizeof second[r].values);
    }
    folder_remove(&scratch);
}

static void all_end_when_the_first_must(void **state)
{
    (void)state;
    folder scratch = folder_make();
    char path[256];
    folder_file(&scratch, "checkpoint", path);
    process all[SIZE];
    run_with(path, print, 4, false, all);
    run_with(path, other, 4, false, all); /* refused at the opening */
    for (size_t r = 0; r < SIZE; r++) {
        assert_int_equal(all[r].status, HF_ERR_ARGUMENT);
        assert_true(strlen(all[r].message) > 0);
    }
    assert_contains(all[0].message, "belongs to another fit");
    run_with(path, print, 4, true, all); /* and at the second evaluation */
    for (size_t r = 0; r < SIZE; r++) {
        assert_int_equal(all[r].status, HF_ERR_ARGUMENT);
        assert_int_equal(all[r].taken, 1);
    }
    folder_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_get_what_the_first_has),
        cmocka_unit_test(all_end_when_the_first_must),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
