/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a ledger, which several programs change in turn: nothing that a call returned from is lost, and
 * everybody sees one order. */
#include "store/ledger_owner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define assert_says(ctx, words)                                                                              \
    do {                                                                                                     \
        if (strstr(hf_context_message(ctx), words) == NULL)                                                  \
            fail_msg("\"%s\" does not say \"%s\"", hf_context_message(ctx), words);                          \
    } while (0)

/* A place for a tally, and a context. */
typedef struct scene {
    folder in;
    char path[256];
    hf_context *ctx;
} scene;

static scene scene_make(void)
{
    scene s = {.in = folder_make(), .ctx = hf_context_create()};
    folder_file(&s.in, "tally.hf", s.path);
    tally_make(s.ctx, s.path);
    return s;
}

static void scene_end(scene *s)
{
    hf_context_free(s->ctx);
    folder_remove(&s->in);
}

static void wait_for(pid_t child)
{
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

static void pause_for(double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

/* ---- turns ---------------------------------------------------------------------------------------------------- */

enum {
    PROGRAMS = 4,
    TURNS = 15
};

/* A program: exit status 0 when all of its turns went well. */
static pid_t take_turns(const char *path, uint64_t id, int turns)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0) return child;
    hf_context *ctx = hf_context_create();
    tally t;
    hfi_ledger *ledger = tally_open(ctx, path, HFI_LEDGER_SHARED, &t);
    int bad = 0;
    for (int k = 0; k < turns && bad == 0; k++) bad = tally_turn(ctx, ledger, &t, id) < 0;
    hfi_ledger_close(ledger);
    hf_context_free(ctx);
    _exit(bad != 0 || t.torn ? 1 : 0);
}

static void programs_take_turns(void **state)
{
    (void)state;
    scene s = scene_make();
    pid_t child[PROGRAMS];
    for (uint64_t i = 0; i < PROGRAMS; i++) child[i] = take_turns(s.path, i, TURNS);
    for (size_t i = 0; i < PROGRAMS; i++) wait_for(child[i]);
    const tally t = tally_of_file(s.ctx, s.path);
    assert_int_equal(t.count, PROGRAMS * TURNS);
    for (size_t i = 0; i < PROGRAMS; i++) assert_int_equal(t.last_of[i], TURNS);
    assert_false(t.torn);
    assert_int_equal(folder_count(&s.in), 1); /* the last one to leave deletes the rollback journal */
    scene_end(&s);
}

/* Says which entries it was told are on the disk, until it is killed. */
static pid_t append_until_killed(const char *path, uint64_t id, int told)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0) return child;
    hf_context *ctx = hf_context_create();
    tally t;
    hfi_ledger *ledger = tally_open(ctx, path, HFI_LEDGER_SHARED, &t);
    for (;;) {
        if (tally_turn(ctx, ledger, &t, id) < 0) _exit(1);
        const uint64_t said[2] = {id, t.last_of[id]};
        if (write(told, said, sizeof said) != sizeof said) _exit(1);
    }
}

static void nothing_told_is_lost_to_a_kill(void **state)
{
    (void)state;
    scene s = scene_make();
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child[PROGRAMS];
    uint64_t most[PROGRAMS] = {0}, said[2], random = 12345;
    for (uint64_t i = 0; i < PROGRAMS; i++) child[i] = append_until_killed(s.path, i, ends[1]);
    for (uint64_t heard = 0; heard != (1U << PROGRAMS) - 1; heard |= 1U << said[0]) {
        assert_int_equal(read(ends[0], said, sizeof said), sizeof said);
        most[said[0]] = said[1];
    }
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    for (int k = 0; k < 25; k++) {
        random = 6364136223846793005U * random + 1442695040888963407U;
        const uint64_t victim = (random >> 33) % PROGRAMS;
        pause_for(0.001 * (double)((random >> 40) % 24));
        kill(child[victim], SIGKILL);
        waitpid(child[victim], NULL, 0);
        child[victim] = append_until_killed(s.path, victim, ends[1]);
        while (read(ends[0], said, sizeof said) == sizeof said) most[said[0]] = said[1];
    }
    for (size_t i = 0; i < PROGRAMS; i++) {
        pause_for(0.02);
        kill(child[i], SIGKILL);
        waitpid(child[i], NULL, 0);
    }
    while (read(ends[0], said, sizeof said) == sizeof said) most[said[0]] = said[1];
    close(ends[0]);
    close(ends[1]);
    const tally t = tally_of_file(s.ctx, s.path);
    assert_false(t.torn);
    for (size_t i = 0; i < PROGRAMS; i++) assert_true(most[i] > 0 && t.last_of[i] >= most[i]);
    scene_end(&s);
}

/* ---- a change that others see --------------------------------------------------------------------------------- */

static void what_others_appended_is_caught_up_with(void **state)
{
    (void)state;
    scene s = scene_make();
    tally one, two, looking;
    hfi_ledger *a = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &one);
    hfi_ledger *b = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &two);
    hfi_ledger *look = tally_open(s.ctx, s.path, HFI_LEDGER_LOOK, &looking);
    for (int k = 0; k < 7; k++) assert_int_equal(tally_put(s.ctx, a, &one, 1), HF_OK);
    /* A change that is decided without them is not appended, and nothing is lost by trying. */
    assert_int_equal(tally_put(s.ctx, b, &two, 2), HF_ERR_IO);
    assert_says(s.ctx, "it has changed since it was read last");
    assert_int_equal(two.taken, 0);
    assert_int_equal(hfi_ledger_begin(s.ctx, b, 1.0), HF_OK);
    assert_int_equal(tally_put(s.ctx, b, &two, 2), HF_ERR_IO);
    assert_int_equal(tally_catch_up(s.ctx, b, &two), HF_OK);
    assert_int_equal(tally_put(s.ctx, b, &two, 2), HF_OK);
    assert_int_equal(hfi_ledger_end(s.ctx, b, true), HF_OK);
    assert_int_equal(two.count, 8);
    /* Only what is new is handed out. */
    assert_int_equal(tally_catch_up(s.ctx, look, &looking), HF_OK);
    assert_int_equal(looking.sum, two.sum);
    looking.taken = 0;
    assert_int_equal(tally_turn(s.ctx, a, &one, 1), HF_OK);
    assert_int_equal(tally_catch_up(s.ctx, look, &looking), HF_OK);
    assert_int_equal(looking.taken, 1);
    assert_int_equal(tally_catch_up(s.ctx, look, &looking), HF_OK);
    assert_int_equal(looking.taken, 1);
    assert_int_equal(looking.sum, one.sum);
    assert_int_equal(tally_put(s.ctx, look, &looking, 3), HF_ERR_ARGUMENT);
    assert_says(s.ctx, "opened to look at");
    hfi_ledger_close(look);
    hfi_ledger_close(a);
    hfi_ledger_close(b);
    assert_int_equal(tally_of_file(s.ctx, s.path).sum, one.sum);
    scene_end(&s);
}

static void a_change_is_kept_whole_or_not_at_all(void **state)
{
    (void)state;
    scene s = scene_make();
    tally one, two;
    hfi_ledger *a = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &one);
    hfi_ledger *b = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &two);
    assert_int_equal(hfi_ledger_end(s.ctx, a, true), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_ledger_begin(s.ctx, a, 1.0), HF_OK);
    assert_int_equal(hfi_ledger_begin(s.ctx, a, 1.0), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_ledger_end(s.ctx, a, false), HF_OK); /* nothing was appended: nothing is lost */
    assert_int_equal(tally_turn(s.ctx, a, &one, 1), HF_OK);
    assert_int_equal(hfi_ledger_begin(s.ctx, a, 1.0), HF_OK);
    for (int k = 0; k < 3; k++) assert_int_equal(tally_put(s.ctx, a, &one, 1), HF_OK);
    assert_int_equal(tally_catch_up(s.ctx, b, &two), HF_OK);
    assert_int_equal(two.count, 1);
    assert_int_equal(hfi_ledger_end(s.ctx, a, false), HF_OK);
    assert_int_equal(tally_put(s.ctx, a, &one, 1), HF_ERR_ARGUMENT);
    assert_says(s.ctx, "open the tally again");
    assert_int_equal(tally_catch_up(s.ctx, a, &one), HF_ERR_ARGUMENT);
    assert_int_equal(tally_turn(s.ctx, b, &two, 2), HF_OK);
    assert_int_equal(tally_load(s.ctx, a, &one), HF_OK); /* or loaded again */
    assert_int_equal(one.sum, two.sum);
    assert_int_equal(tally_turn(s.ctx, a, &one, 1), HF_OK);
    hfi_ledger_close(a);
    hfi_ledger_close(b);
    scene_end(&s);
}

static void what_was_taken_back_is_noticed(void **state)
{
    (void)state;
    scene s = scene_make();
    tally one, other = {0};
    hfi_ledger *a = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &one);
    for (int k = 0; k < 4; k++) assert_int_equal(tally_turn(s.ctx, a, &one, 1), HF_OK);
    hfi_ledger *undo = tally_new(s.ctx, s.path);
    uint64_t removed = 0;
    const hfi_ledger_owner owner = tally_owner(&other);
    assert_int_equal(hfi_ledger_open(s.ctx, undo, s.path, HFI_LEDGER_OWN), HF_OK);
    assert_int_equal(hfi_ledger_undo(s.ctx, undo, 2, &owner, &removed), HF_OK);
    assert_int_equal(removed, 2);
    hfi_ledger_close(undo);
    assert_int_equal(tally_catch_up(s.ctx, a, &one), HF_ERR_IO);
    assert_says(s.ctx, "open it again");
    /* Also when as many others came since. */
    hfi_ledger *b = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &other);
    for (int k = 0; k < 5; k++) assert_int_equal(tally_turn(s.ctx, b, &other, 2), HF_OK);
    assert_int_equal(tally_turn(s.ctx, a, &one, 1), HF_ERR_IO);
    assert_says(s.ctx, "open it again");
    assert_int_equal(tally_load(s.ctx, a, &one), HF_OK);
    assert_int_equal(tally_turn(s.ctx, a, &one, 1), HF_OK);
    hfi_ledger_close(a);
    hfi_ledger_close(b);
    scene_end(&s);
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

static bool refuse(const char *stage, double done, double value, void *user)
{
    (void)value;
    assert_true(done >= 0.0 && done <= 1.0);
    if (strcmp(stage, "wait") == 0) ++*(int *)user;
    return *(int *)user < 3;
}

static void one_waits_for_ones_turn(void **state)
{
    (void)state;
    scene s = scene_make();
    tally one, two;
    hfi_ledger *a = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &one);
    hfi_ledger *b = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &two);
    assert_int_equal(hfi_ledger_begin(s.ctx, a, 0.0), HF_OK);
    const double since = hfi_now();
    assert_int_equal(hfi_ledger_begin(s.ctx, b, 0.1), HF_ERR_IO);
    assert_true(hfi_now() - since >= 0.1);
    assert_says(s.ctx, "another program has been changing it for 0.1 seconds");
    int asked = 0;
    hf_context_set_progress(s.ctx, refuse, &asked);
    assert_int_equal(hfi_ledger_begin(s.ctx, b, 60.0), HF_ERR_CANCELLED);
    assert_int_equal(asked, 3);
    hf_context_set_progress(s.ctx, NULL, NULL);
    /* Meanwhile anybody may look. */
    assert_int_equal(tally_put(s.ctx, a, &one, 1), HF_OK);
    assert_int_equal(tally_of_file(s.ctx, s.path).count, 0);
    assert_int_equal(hfi_ledger_end(s.ctx, a, true), HF_OK);
    assert_int_equal(tally_turn(s.ctx, b, &two, 2), HF_OK);
    hfi_ledger_close(a);
    hfi_ledger_close(b);
    scene_end(&s);
}

static void one_who_owns_it_shares_with_nobody(void **state)
{
    (void)state;
    scene s = scene_make();
    tally one, two;
    hfi_ledger *own = tally_open(s.ctx, s.path, HFI_LEDGER_OWN, &one);
    hfi_ledger *shared = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &two);
    assert_int_equal(hfi_ledger_begin(s.ctx, shared, 0.05), HF_ERR_IO);
    assert_int_equal(tally_put(s.ctx, own, &one, 1), HF_OK);
    hfi_ledger_close(own);
    assert_int_equal(hfi_ledger_begin(s.ctx, shared, 0.05), HF_OK);
    hfi_ledger *late = tally_new(s.ctx, s.path);
    assert_int_equal(hfi_ledger_open(s.ctx, late, s.path, HFI_LEDGER_OWN), HF_ERR_IO);
    assert_says(s.ctx, "another program has it open for changes");
    hfi_ledger_close(late);
    assert_int_equal(hfi_ledger_end(s.ctx, shared, true), HF_OK);
    own = tally_open(s.ctx, s.path, HFI_LEDGER_OWN, &one); /* nobody is at work now */
    hfi_ledger_close(own);
    hfi_ledger_close(shared);
    scene_end(&s);
}

/* ---- locks of a process --------------------------------------------------------------------------------------- */

/* Whether another process finds a lock of SQLite on the file. */
static bool is_locked(const char *path)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        const int file = open(path, O_RDWR);
        _exit(file < 0 || fcntl(file, F_GETLK, &whole) != 0 ? 2 : whole.l_type != F_UNLCK);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) < 2);
    return WEXITSTATUS(how) == 1;
}

static size_t descriptors(void)
{
    size_t count = 0;
    for (int k = 0; k < 256; k++) count += fcntl(k, F_GETFD) >= 0;
    return count;
}

/* To close any descriptor of a file ends all locks that a process has on it. */
static void closing_one_keeps_the_locks_of_another(void **state)
{
    (void)state;
    scene s = scene_make();
    tally one, two;
    const size_t before = descriptors();
    hfi_ledger *a = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &one);
    assert_false(is_locked(s.path));
    assert_int_equal(hfi_ledger_begin(s.ctx, a, 0.0), HF_OK);
    assert_true(is_locked(s.path));
    size_t open_now = 0;
    for (int k = 0; k < 20; k++) {
        hfi_ledger *b = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &two);
        hfi_ledger *look = tally_open(s.ctx, s.path, HFI_LEDGER_LOOK, &two);
        hfi_ledger_close(b);
        hfi_ledger_close(look);
        assert_true(is_locked(s.path));
        if (k == 0) open_now = descriptors();
    }
    assert_int_equal(descriptors(), open_now); /* one descriptor serves them all */
    assert_int_equal(tally_put(s.ctx, a, &one, 1), HF_OK);
    assert_int_equal(hfi_ledger_end(s.ctx, a, true), HF_OK);
    assert_false(is_locked(s.path));
    hfi_ledger_close(a);
    assert_int_equal(descriptors(), before);
    scene_end(&s);
}

/* ---- programs that are killed --------------------------------------------------------------------------------- */

/* In the middle of a change, with half of it in the file already. */
static void die_in_a_change(const char *path)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hf_context *ctx = hf_context_create();
        tally t;
        hfi_ledger *ledger = tally_open(ctx, path, HFI_LEDGER_SHARED, &t);
        (void)sqlite3_exec(ledger->db, "PRAGMA cache_size=1", NULL, NULL, NULL);
        if (hfi_ledger_begin(ctx, ledger, 1.0) >= 0)
            for (int k = 0; k < 500; k++) (void)tally_put(ctx, ledger, &t, 5);
        (void)raise(SIGKILL);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how));
}

static void what_a_killed_program_left_is_undone(void **state)
{
    (void)state;
    scene s = scene_make();
    tally one, looking;
    hfi_ledger *a = tally_open(s.ctx, s.path, HFI_LEDGER_SHARED, &one);
    hfi_ledger *look = tally_open(s.ctx, s.path, HFI_LEDGER_LOOK, &looking);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(tally_turn(s.ctx, a, &one, 1), HF_OK);
        struct stat about, after;
        assert_int_equal(stat(s.path, &about), 0);
        die_in_a_change(s.path);
        assert_int_equal(stat(s.path, &after), 0);
        assert_true(after.st_size > about.st_size);
        /* By whoever comes first: one that looks, one that changes, one that opens. */
        if (round == 0 && tally_catch_up(s.ctx, look, &looking) < 0)
            fail_msg("%s", hf_context_message(s.ctx));
        if (round == 1 && tally_turn(s.ctx, a, &one, 1) < 0) fail_msg("%s", hf_context_message(s.ctx));
        assert_int_equal(tally_of_file(s.ctx, s.path).sum, one.sum);
        assert_int_equal(stat(s.path, &after), 0);
        assert_int_equal(after.st_size, about.st_size);
    }
    assert_int_equal(tally_catch_up(s.ctx, look, &looking), HF_OK);
    assert_int_equal(looking.sum, one.sum);
    hfi_ledger_close(look);
    hfi_ledger_close(a);
    assert_int_equal(folder_count(&s.in), 1);
    scene_end(&s);
}

/* ---- files that are none -------------------------------------------------------------------------------------- */

static void assert_refused(scene *s, const char *path, hf_status expected, const char *words)
{
    for (int mode = HFI_LEDGER_LOOK; mode <= HFI_LEDGER_SHARED; mode++) {
        hfi_ledger *ledger = tally_new(s->ctx, path);
        assert_int_equal(hfi_ledger_open(s->ctx, ledger, path, (hfi_ledger_use)mode), expected);
        assert_says(s->ctx, words);
        hfi_ledger_close(ledger);
    }
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    scene s = scene_make();
    char other[256];
    folder_file(&s.in, "other", other);
    assert_refused(&s, other, HF_ERR_IO, "No such file");
    assert_refused(&s, s.in.path, HF_ERR_IO, "it is a folder, not a tally's file");
    assert_refused(&s, "/dev/null", HF_ERR_IO, "not a tally's file");
    file_put(other, "nothing of the kind", 19);
    assert_refused(&s, other, HF_ERR_MODEL_FILE, other);
    char *bytes = file_get(s.path);
    struct stat about;
    assert_int_equal(stat(s.path, &about), 0);
    bytes[71] = 'r'; /* HFtr */
    file_put(other, bytes, (size_t)about.st_size);
    assert_refused(&s, other, HF_ERR_MODEL_FILE, "a track, not a tally");
    free(bytes);
    hfi_ledger *ledger = tally_new(s.ctx, other);
    assert_int_equal(hfi_ledger_create(s.ctx, ledger, other, tally_fill, "a tally", HFI_LEDGER_SHARED),
                     HF_ERR_IO);
    assert_says(s.ctx, "is there already");
    hfi_ledger_close(ledger);
    scene_end(&s);
}

/* NULL, or what went wrong. As somebody who may not write everywhere. */
static const char *look_at_read_only(hf_context *ctx, const char *below, const char *path)
{
    tally t = {0};
    tally_make(ctx, path);
    if (chmod(below, 0500) != 0) return "the folder cannot be protected";
    hfi_ledger *ledger = tally_open(ctx, path, HFI_LEDGER_SHARED, &t);
    if (tally_turn(ctx, ledger, &t, 1) != HF_ERR_IO) return "a change was made without a rollback journal";
    if (strstr(hf_context_message(ctx), "cannot be written") == NULL) return hf_context_message(ctx);
    hfi_ledger_close(ledger);
    if (tally_of_file(ctx, path).count != 0) return "the change is there";
    if (chmod(path, 0400) != 0) return "the file cannot be protected";
    if (tally_of_file(ctx, path).count != 0) return "the change is there";
    ledger = tally_new(ctx, path);
    if (hfi_ledger_open(ctx, ledger, path, HFI_LEDGER_SHARED) != HF_ERR_IO)
        return "it was opened for changes";
    if (strstr(hf_context_message(ctx), "Permission denied") == NULL) return hf_context_message(ctx);
    hfi_ledger_close(ledger);
    return NULL;
}

static void a_folder_that_may_not_be_written_is_said(void **state)
{
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(1);
        const folder in = folder_make();
        char path[256];
        hf_context *ctx = hf_context_create();
        const char *wrong = look_at_read_only(ctx, in.path, folder_file(&in, "tally.hf", path));
        if (wrong != NULL) fprintf(stderr, "%s\n", wrong);
        hf_context_free(ctx);
        if (chmod(in.path, 0700) != 0) _exit(1);
        folder_remove(&in);
        _exit(wrong != NULL);
    }
    wait_for(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_take_turns),
        cmocka_unit_test(nothing_told_is_lost_to_a_kill),
        cmocka_unit_test(what_others_appended_is_caught_up_with),
        cmocka_unit_test(a_change_is_kept_whole_or_not_at_all),
        cmocka_unit_test(what_was_taken_back_is_noticed),
        cmocka_unit_test(one_waits_for_ones_turn),
        cmocka_unit_test(one_who_owns_it_shares_with_nobody),
        cmocka_unit_test(closing_one_keeps_the_locks_of_another),
        cmocka_unit_test(what_a_killed_program_left_is_undone),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(a_folder_that_may_not_be_written_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
