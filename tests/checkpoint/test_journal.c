/* SPDX-License-Identifier: Apache-2.0 */
/* The journal behind checkpoint and resume: it answers as it was told, or not at all, whatever happened to the file. */
#include "checkpoint/answers.h"
#include "checkpoint/journal_impl.h"
#include "data/support.h"
#include "mean/failing_allocator.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
    COUNT = 3, /* numbers in a state */
    RECORDS = 4,
    HEADER = 8 + 8 + sizeof(hfi_fingerprint),
    RECORD = 40 + 16 * COUNT + 32
};

static const hfi_fingerprint print[1] = {{{1, 2, 3, 4, 5}}};
static const hfi_fingerprint other[1] = {{{1, 2, 30, 40, 5}}};

/* The objective of these tests: any function of the number of the evaluation. The third has no value. */
typedef struct answer {
    double state[COUNT], value, gradient[COUNT];
    hf_status status;
} answer;

static answer answer_to(size_t k)
{
    answer a = {.value = sin(7.0 * (double)k), .status = k == 2 ? HF_ERR_NOT_POSITIVE_DEFINITE : HF_OK};
    if (k == 1) a.status = HF_WARN_JITTER;
    if (k == 2) a.value = 0.0;
    for (size_t i = 0; i < COUNT; i++) {
        a.state[i] = cos((double)(k * COUNT + i)) / 3.0;
        a.gradient[i] = k == 2 ? 0.0 : exp(a.state[i]);
    }
    return a;
}

/* Asks for evaluation k; true if the journal knew it, and then it was right. */
static bool ask(hfi_journal *journal, size_t k)
{
    const answer right = answer_to(k);
    double value = NAN, gradient[COUNT] = {NAN, NAN, NAN};
    bool found = false;
    hf_status status = HF_OK;
    assert_int_equal(take_answer(journal, COUNT, right.state, &found, &value, gradient, &status), HF_OK);
    if (!found) return false;
    assert_int_equal(status, right.status);
    assert_memory_equal(&value, &right.value, sizeof value);
    assert_memory_equal(gradient, right.gradient, sizeof gradient);
    return true;
}

static void tell(hfi_journal *journal, size_t k)
{
    answer a = answer_to(k);
    keep_answer(journal, COUNT, a.state, a.value, a.gradient, a.status);
}

/* A fit of `records` evaluations; returns how many of them the journal answered. */
static size_t go_through(hfi_journal *journal, size_t records)
{
    for (size_t k = 0; k < records; k++)
        if (!ask(journal, k)) tell(journal, k);
    return journal->taken;
}

typedef struct scratch {
    hf_context *ctx;
    folder folder;
    char path[256], complete[HEADER + RECORDS * RECORD + 1]; /* the file, and what it should hold */
} scratch;

static size_t bytes_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return (size_t)about.st_size;
}

static hfi_journal *open_journal(const scratch *s, bool resume)
{
    hfi_journal *journal = NULL;
    if (hfi_journal_open(s->ctx, s->path, resume, print, &journal) != HF_OK)
        fail_msg("%s", hf_context_message(s->ctx));
    return journal;
}

static int setup(void **state)
{
    scratch *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->ctx = hf_context_create();
    s->folder = folder_make();
    folder_file(&s->folder, "checkpoint", s->path);
    hfi_journal *journal = open_journal(s, false);
    assert_int_equal(go_through(journal, RECORDS), 0);
    assert_null(hfi_journal_warning(journal));
    hfi_journal_close(journal, false);
    char *text = file_get(s->path);
    assert_int_equal(bytes_of(s->path), HEADER + RECORDS * RECORD);
    memcpy(s->complete, text, sizeof s->complete - 1);
    free(text);
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

static void assert_file(const scratch *s, const char *bytes, size_t count)
{
    char *text = file_get(s->path);
    assert_int_equal(bytes_of(s->path), count);
    assert_memory_equal(text, bytes, count);
    free(text);
}

/* The file must be refused, with those words, and left as it is. */
static void assert_refused(const scratch *s, bool resume, const hfi_fingerprint *fingerprint,
                           const char *words)
{
    const size_t count = bytes_of(s->path);
    char *before = file_get(s->path);
    hfi_journal *journal = NULL;
    assert_int_equal(hfi_journal_open(s->ctx, s->path, resume, fingerprint, &journal), HF_ERR_ARGUMENT);
    assert_null(journal);
    assert_contains(hf_context_message(s->ctx), words);
    assert_contains(hf_context_message(s->ctx), s->path);
    assert_file(s, before, count);
    free(before);
}

/* ---- answers ---------------------------------------------------------------------------------------------- */

static void what_was_told_is_answered(void **state)
{
    const scratch *s = *state;
    hfi_journal *journal = open_journal(s, true);
    assert_int_equal(go_through(journal, RECORDS), RECORDS);
    assert_false(ask(journal, RECORDS));
    tell(journal, RECORDS);
    assert_null(hfi_journal_warning(journal));
    hfi_journal_close(journal, false);
    journal = open_journal(s, true);
    assert_int_equal(go_through(journal, RECORDS + 3), RECORDS + 1);
    hfi_journal_close(journal, true);
    assert_int_not_equal(access(s->path, F_OK), 0);
}

static void every_record_is_in_the_file_before_the_next(void **state)
{
    scratch *s = *state;
    folder_file(&s->folder, "growing", s->path);
    hfi_journal *journal = open_journal(s, true);
    for (size_t k = 0; k < RECORDS; k++) {
        assert_int_equal(bytes_of(s->path), HEADER + k * RECORD);
        assert_false(ask(journal, k));
        tell(journal, k);
    }
    assert_file(s, s->complete, sizeof s->complete - 1);
    hfi_journal_close(journal, false);
}

static void another_question_is_another_fit(void **state)
{
    const scratch *s = *state;
    for (size_t wrong = 0; wrong < RECORDS; wrong++) {
        hfi_journal *journal = open_journal(s, true);
        for (size_t k = 0; k < wrong; k++) assert_true(ask(journal, k));
        answer a = answer_to(wrong);
        a.state[COUNT - 1] = nextafter(a.state[COUNT - 1], 2.0); /* one bit */
        bool found = true;
        double value = 5.0;
        hf_status status = HF_OK;
        assert_int_equal(take_answer(journal, COUNT, a.state, &found, &value, a.gradient, &status),
                         HF_ERR_ARGUMENT);
        assert_false(found);
        assert_true(value == 5.0);
        assert_contains(hf_context_message(s->ctx), "belongs to another fit");
        assert_int_equal(take_answer(journal, COUNT - 1, a.state, &found, &value, a.gradient, &status),
                         HF_ERR_ARGUMENT);
        hfi_journal_close(journal, false);
        assert_file(s, s->complete, sizeof s->complete - 1);
    }
}

/* Nothing follows from being out of memory: the next attempt must ask again. */
static void what_is_no_result_is_not_kept(void **state)
{
    scratch *s = *state;
    folder_file(&s->folder, "no-result", s->path);
    hfi_journal *journal = open_journal(s, false);
    answer a = answer_to(0);
    const hf_status errors[] = {HF_ERR_CANCELLED, HF_ERR_MEMORY, HF_ERR_INTERNAL};
    for (size_t i = 0; i < 3; i++) keep_answer(journal, COUNT, a.state, 1.0, a.gradient, errors[i]);
    hfi_journal_close(journal, false);
    assert_int_equal(bytes_of(s->path), HEADER);
    journal = open_journal(s, false); /* nothing to lose: no need to resume */
    assert_false(ask(journal, 0));
    hfi_journal_close(journal, false);
}

/* ---- files that were cut or damaged ------------------------------------------------------------------------ */

static void a_file_cut_anywhere_goes_on_from_the_last_whole_record(void **state)
{
    const scratch *s = *state;
    for (size_t length = 0; length < sizeof s->complete; length++) {
        file_put(s->path, s->complete, length);
        hfi_journal *journal = open_journal(s, true);
        const size_t whole = length < HEADER ? 0 : (length - HEADER) / RECORD;
        assert_int_equal(go_through(journal, RECORDS), whole);
        assert_null(hfi_journal_warning(journal));
        hfi_journal_close(journal, false);
        assert_file(s, s->complete, sizeof s->complete - 1);
    }
}

static void a_flipped_bit_never_makes_a_wrong_answer(void **state)
{
    const scratch *s = *state;
    char damaged[sizeof s->complete];
    size_t warnings = 0;
    for (size_t bit = 8 * HEADER; bit < 8 * (sizeof s->complete - 1); bit++) {
        memcpy(damaged, s->complete, sizeof damaged);
        damaged[bit / 8] = (char)(damaged[bit / 8] ^ (1 << bit % 8));
        file_put(s->path, damaged, sizeof damaged - 1);
        hfi_journal *journal = open_journal(s, true);
        assert_int_equal(go_through(journal, RECORDS), (bit / 8 - HEADER) / RECORD);
        const char *warning = hfi_journal_warning(journal);
        if (warning) assert_contains(warning, "damaged");
        warnings += warning ? 1 : 0;
        hfi_journal_close(journal, false);
        assert_file(s, s->complete, sizeof s->complete - 1);
    }
    /* All but those where one of the lengths says that it was cut. */
    assert_true(warnings >= (size_t)8 * RECORDS * (RECORD - 16));
}

static void a_damaged_beginning_is_no_checkpoint_of_ours(void **state)
{
    static const char *const words[] = {"no checkpoint",
                                        "belongs to another fit (other byte order)",
                                        "belongs to another fit (other data)",
                                        "belongs to another fit (other likelihood)",
                                        "belongs to another fit (other settings)",
                                        "belongs to another fit (other seed)",
                                        "belongs to another fit (other version of the library)"};
    const scratch *s = *state;
    char damaged[sizeof s->complete];
    assert_int_equal(HEADER, 8 * sizeof words / sizeof words[0]);
    for (size_t bit = 0; bit < (size_t)8 * HEADER; bit++) {
        memcpy(damaged, s->complete, sizeof damaged);
        damaged[bit / 8] = (char)(damaged[bit / 8] ^ (1 << bit % 8));
        file_put(s->path, damaged, sizeof damaged - 1);
        assert_refused(s, true, print, words[bit / 64]);
    }
}

static void records_in_another_order_are_not_taken(void **state)
{
    const scratch *s = *state;
    char swapped[sizeof s->complete];
    memcpy(swapped, s->complete, sizeof swapped);
    memcpy(swapped + HEADER, s->complete + HEADER + RECORD, RECORD);
    file_put(s->path, swapped, sizeof swapped - 1);
    hfi_journal *journal = open_journal(s, true);
    assert_int_equal(go_through(journal, RECORDS), 0);
    assert_non_null(hfi_journal_warning(journal));
    hfi_journal_close(journal, false);
    assert_file(s, s->complete, sizeof s->complete - 1);
}

/* ---- files that are not ours ------------------------------------------------------------------------------- */

static void foreign_files_are_left_alone(void **state)
{
    const scratch *s = *state;
    static const char *const texts[] = {
        "x", "a,b,y\n1,2,3\n",
        "SQLite format 3: something long enough to hold a header and a record of a journal. And yet it is "
        "none, because it does not begin as one does, whatever follows. So it must be left as it is, to the "
        "byte.",
        "HFJOUR1x"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        file_put(s->path, texts[i], strlen(texts[i]));
        assert_refused(s, true, print, "no checkpoint");
        assert_refused(s, false, print, "no checkpoint");
    }
}

static void work_is_not_thrown_away(void **state)
{
    const scratch *s = *state;
    assert_refused(s, false, print, "resume from them");
    assert_refused(s, true, other, "belongs to another fit (other settings, seed); remove it");
    assert_refused(s, false, other, "belongs to another fit (other settings, seed); remove it");
}

static void what_cannot_be_opened_is_said(void **state)
{
    const scratch *s = *state;
    hfi_journal *journal = NULL;
    char path[600];
    assert_int_equal(hfi_journal_open(s->ctx, "", true, print, &journal), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_journal_open(s->ctx, s->folder.path, true, print, &journal), HF_ERR_IO);
    assert_contains(hf_context_message(s->ctx), "directory");
    snprintf(path, sizeof path, "%s/missing/checkpoint", s->folder.path);
    assert_int_equal(hfi_journal_open(s->ctx, path, true, print, &journal), HF_ERR_IO);
    assert_contains(hf_context_message(s->ctx), path);
    assert_null(journal);
}

static void two_fits_do_not_write_one_checkpoint(void **state)
{
    const scratch *s = *state;
    hfi_journal *first = open_journal(s, true), *second = NULL;
    assert_int_equal(hfi_journal_open(s->ctx, s->path, true, print, &second), HF_ERR_IO);
    assert_contains(hf_context_message(s->ctx), "another fit is writing");
    assert_int_equal(go_through(first, RECORDS), RECORDS);
    hfi_journal_close(first, false);
    hfi_journal_close(open_journal(s, true), false);
}

/* ---- disks that are full ------------------------------------------------------------------------------------ */

static void a_full_disk_costs_the_checkpoint_and_nothing_else(void **state)
{
    const scratch *s = *state;
    hfi_journal *journal = NULL;
    assert_int_equal(hfi_journal_open(s->ctx, "/dev/full", true, print, &journal), HF_OK);
    assert_int_equal(go_through(journal, RECORDS), 0);
    assert_contains(hfi_journal_warning(journal), "No space left on device");
    hfi_journal_close(journal, true);
    assert_int_equal(access("/dev/full", F_OK), 0);
}

static void a_disk_that_fills_up_keeps_the_whole_records(void **state)
{
    scratch *s = *state;
    folder_file(&s->folder, "filling", s->path);
    /* A limit on the size of files does what a full disk does, for this process alone. */
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    limit = before;
    limit.rlim_cur = HEADER + 2 * RECORD + RECORD / 2;
    hfi_journal *journal = open_journal(s, true);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(go_through(journal, RECORDS), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_contains(hfi_journal_warning(journal), "ended after 2 evaluations");
    hfi_journal_close(journal, false);
    journal = open_journal(s, true);
    assert_int_equal(go_through(journal, RECORDS), 2);
    hfi_journal_close(journal, false);
    assert_file(s, s->complete, sizeof s->complete - 1);
}

static void without_memory_nothing_is_lost(void **state)
{
    const scratch *s = *state;
    failing_allocator memory = {0};
    hf_allocator allocator = {failing_allocate, failing_release, &memory};
    hf_context *ctx = hf_context_create_with(&allocator);
    assert_non_null(ctx);
    const size_t held = memory.held;
    bool done = false;
    for (size_t k = 1; !done && k < 50; k++) {
        hfi_journal *journal = NULL;
        memory.fail_at = memory.allocations + k;
        const hf_status opened = hfi_journal_open(ctx, s->path, true, print, &journal);
        assert_true(opened == HF_OK || opened == HF_ERR_MEMORY);
        if (opened == HF_OK) {
            const answer a = answer_to(0);
            double value, gradient[COUNT];
            bool found;
            hf_status status;
            const hf_status taken = take_answer(journal, COUNT, a.state, &found, &value, gradient, &status);
            assert_true(taken == HF_ERR_MEMORY || (taken == HF_OK && found));
            done = taken == HF_OK;
        }
        hfi_journal_close(journal, false);
        assert_int_equal(memory.held, held);
        assert_file(s, s->complete, sizeof s->complete - 1);
    }
    assert_true(done);
    hf_context_free(ctx);
}

/* ---- answers ------------------------------------------------------------------------------------------------ */

typedef struct oracle {
    size_t asked;
    bool unseen; /* when it was asked last */
    hf_status status;
} oracle;

static hf_status compute(void *arg, hfi_journal_entry *entry)
{
    oracle *o = arg;
    o->asked++;
    o->unseen = entry->unseen;
    entry->value = 2.0 * entry->key[0];
    entry->answer[0] = -entry->key[0];
    return o->status;
}

static hf_status ask_oracle(hfi_journal *journal, oracle *o, double question, hfi_journal_entry *entry)
{
    static double asked, told;
    asked = question;
    told = NAN;
    *entry = (hfi_journal_entry){.asked = 1, .told = 1, .key = &asked, .answer = &told};
    const hf_status s = hfi_journal_answer(journal, entry, compute, o);
    if (s >= 0) assert_true(entry->value == 2.0 * question && told == -question);
    return s;
}

/* The journal answers first, then the one who computes, who is told that it has not seen the question before;
 * an error that is no answer is asked again. */
static void answers_are_the_journals_as_long_as_it_lasts(void **state)
{
    scratch *s = *state;
    hfi_journal *journal = NULL;
    hfi_journal_entry entry;
    oracle first = {.status = HF_WARN_JITTER}, second = {0};
    assert_int_equal(ask_oracle(NULL, &first, 3.0, &entry), HF_WARN_JITTER);
    assert_true(first.asked == 1 && !first.unseen && !entry.recalled);
    remove(s->path);
    assert_int_equal(hfi_journal_open(s->ctx, s->path, true, print, &journal), HF_OK);
    assert_int_equal(ask_oracle(journal, &first, 4.0, &entry), HF_WARN_JITTER);
    first.status = HF_ERR_NOT_POSITIVE_DEFINITE;
    assert_int_equal(ask_oracle(journal, &first, 5.0, &entry), HF_ERR_NOT_POSITIVE_DEFINITE);
    first.status = HF_ERR_MEMORY;
    assert_int_equal(ask_oracle(journal, &first, 6.0, &entry), HF_ERR_MEMORY);
    hfi_journal_close(journal, false);
    assert_int_equal(hfi_journal_open(s->ctx, s->path, true, print, &journal), HF_OK);
    assert_int_equal(ask_oracle(journal, &second, 4.0, &entry), HF_WARN_JITTER);
    assert_true(entry.recalled);
    assert_int_equal(ask_oracle(journal, &second, 5.0, &entry), HF_ERR_NOT_POSITIVE_DEFINITE);
    assert_true(entry.recalled && second.asked == 0);
    assert_int_equal(ask_oracle(journal, &second, 6.0, &entry), HF_OK);
    assert_true(!entry.recalled && second.asked == 1 && second.unseen);
    assert_int_equal(ask_oracle(journal, &second, 7.0, &entry), HF_OK);
    assert_true(second.asked == 2 && !second.unseen);
    hfi_journal_close(journal, false);
    assert_int_equal(hfi_journal_open(s->ctx, s->path, true, print, &journal), HF_OK);
    assert_int_equal(ask_oracle(journal, &second, 9.0, &entry), HF_ERR_ARGUMENT);
    assert_int_equal(second.asked, 2);
    hfi_journal_close(journal, true);
}

int main(void)
{
#define JOURNAL_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        JOURNAL_TEST(what_was_told_is_answered),
        JOURNAL_TEST(every_record_is_in_the_file_before_the_next),
        JOURNAL_TEST(another_question_is_another_fit),
        JOURNAL_TEST(what_is_no_result_is_not_kept),
        JOURNAL_TEST(a_file_cut_anywhere_goes_on_from_the_last_whole_record),
        JOURNAL_TEST(a_flipped_bit_never_makes_a_wrong_answer),
        JOURNAL_TEST(a_damaged_beginning_is_no_checkpoint_of_ours),
        JOURNAL_TEST(records_in_another_order_are_not_taken),
        JOURNAL_TEST(answers_are_the_journals_as_long_as_it_lasts),
        JOURNAL_TEST(foreign_files_are_left_alone),
        JOURNAL_TEST(work_is_not_thrown_away),
        JOURNAL_TEST(what_cannot_be_opened_is_said),
        JOURNAL_TEST(two_fits_do_not_write_one_checkpoint),
        JOURNAL_TEST(a_full_disk_costs_the_checkpoint_and_nothing_else),
        JOURNAL_TEST(a_disk_that_fills_up_keeps_the_whole_records),
        JOURNAL_TEST(without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
