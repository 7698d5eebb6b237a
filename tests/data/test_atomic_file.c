/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_TMPFILE */
/* Output that is complete or not there: whatever goes wrong, the older file is unharmed and nothing else is
 * left. */
#include "data/support.h"

#include "data/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A system without files that have no name: this open() comes before the C library's. */
static bool refuse_nameless;

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if (refuse_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return openat(AT_FDCWD, path, flags, mode);
}

static int make_context(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int free_context(void **state)
{
    hf_context_free(*state);
    refuse_nameless = false;
    return 0;
}

static hf_status write_text(hf_context *ctx, const char *path, const char *text)
{
    hfi_file file;
    hf_status status = hfi_file_begin(ctx, path, &file);
    if (status == HF_OK) status = hfi_file_write(ctx, &file, text, strlen(text));
    if (status == HF_OK) status = hfi_file_commit(ctx, &file);
    hfi_file_abort(&file);
    return status;
}

static void assert_file(const char *path, const char *expected)
{
    char *text = file_get(path);
    assert_string_equal(text, expected);
    free(text);
}

static int without_nameless(void **state)
{
    refuse_nameless = true;
    return make_context(state);
}

static void a_new_file_appears_only_when_complete(void **state)
{
    folder scratch = folder_make();
    char path[256];
    hfi_file file;
    folder_file(&scratch, "new", path);
    assert_int_equal(hfi_file_begin(*state, path, &file), HF_OK);
    assert_int_equal(hfi_file_write(*state, &file, "hello", 5), HF_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(folder_count(&scratch), refuse_nameless ? 1 : 0);
    assert_int_equal(hfi_file_commit(*state, &file), HF_OK);
    assert_file(path, "hello");
    assert_int_equal(folder_count(&scratch), 1);
    hfi_file_abort(&file);
    assert_int_equal(folder_count(&scratch), 1);
    folder_remove(&scratch);
}

/* Two make the same new file at the same time: one has it. */
static void a_file_that_must_be_new_replaces_nothing(void **state)
{
    folder scratch = folder_make();
    char path[256];
    hfi_file first, second;
    folder_file(&scratch, "new", path);
    assert_int_equal(hfi_file_begin(*state, path, &first), HF_OK);
    assert_int_equal(hfi_file_begin(*state, path, &second), HF_OK);
    assert_int_equal(hfi_file_write(*state, &first, "first", 5), HF_OK);
    assert_int_equal(hfi_file_write(*state, &second, "second", 6), HF_OK);
    assert_int_equal(hfi_file_commit_new(*state, &second), HF_OK);
    assert_int_equal(hfi_file_commit_new(*state, &first), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "new: cannot be written: ");
    assert_file(path, "second");
    assert_int_equal(folder_count(&scratch), 1);
    folder_remove(&scratch);
}

static void an_aborted_file_leaves_nothing(void **state)
{
    folder scratch = folder_make();
    char path[256];
    hfi_file file;
    file_put(folder_file(&scratch, "old", path), "old", 3);
    assert_int_equal(hfi_file_begin(*state, path, &file), HF_OK);
    assert_int_equal(hfi_file_write(*state, &file, "new", 3), HF_OK);
    assert_int_equal(folder_count(&scratch), refuse_nameless ? 2 : 1);
    hfi_file_abort(&file);
    hfi_file_abort(&file);
    assert_file(path, "old");
    assert_int_equal(folder_count(&scratch), 1);
    folder_remove(&scratch);
}

static void names_are_not_predictable(void **state)
{
    folder scratch = folder_make();
    char path[256];
    hfi_file first, second;
    folder_file(&scratch, "same", path);
    assert_int_equal(hfi_file_begin(*state, path, &first), HF_OK);
    assert_int_equal(hfi_file_begin(*state, path, &second), HF_OK);
    assert_string_not_equal(first.temporary, second.temporary);
    assert_int_equal(hfi_file_commit(*state, &first), HF_OK);
    assert_int_equal(hfi_file_commit(*state, &second), HF_OK);
    folder_remove(&scratch);
}

/* Whoever is killed cannot tidy up. */
static void a_kill_leaves_nothing(void **state)
{
    folder scratch = folder_make();
    char path[256];
    hfi_file file;
    int status = 0;
    file_put(folder_file(&scratch, "old", path), "old", 3);
    const pid_t child = fork();
    if (child == 0) {
        const bool begun = hfi_file_begin(*state, path, &file) == HF_OK;
        if (begun && file.temporary == NULL && hfi_file_write(*state, &file, "new", 3) == HF_OK)
            raise(SIGKILL);
        _exit(begun ? 77 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 77);
    assert_int_equal(folder_count(&scratch), 1);
    assert_file(path, "old");
    folder_remove(&scratch);
    if (!WIFSIGNALED(status)) skip(); /* no nameless files where temporary files go */
}

static void bytes_are_written_as_they_are(void **state)
{
    folder scratch = folder_make();
    char path[256];
    folder_file(&scratch, "new", path);
    assert_int_equal(hf_file_write(*state, path, "a\0b", 4), HF_OK);
    char *text = file_get(path);
    assert_memory_equal(text, "a\0b", 4);
    free(text);
    assert_int_equal(hf_file_write(*state, path, NULL, 0), HF_OK);
    assert_file(path, "");
    assert_int_equal(hf_file_write(*state, path, NULL, 1), HF_ERR_ARGUMENT);
    assert_int_equal(hf_file_write(*state, NULL, "x", 1), HF_ERR_ARGUMENT);
    assert_int_equal(hf_file_write(*state, "/nowhere/new", "x", 1), HF_ERR_IO);
    assert_file(path, "");
    assert_int_equal(folder_count(&scratch), 1);
    folder_remove(&scratch);
}

static void permissions_and_links_are_kept(void **state)
{
    folder scratch = folder_make();
    char path[256], link[256], fresh[256], dangling[256];
    struct stat about;
    file_put(folder_file(&scratch, "target", path), "old", 3);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("target", folder_file(&scratch, "link", link)), 0);
    assert_int_equal(write_text(*state, link, "through the link"), HF_OK);
    assert_file(path, "through the link");
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);

    mode_t mask = umask(027);
    assert_int_equal(write_text(*state, folder_file(&scratch, "fresh", fresh), "x"), HF_OK);
    umask(mask);
    assert_int_equal(stat(fresh, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);

    assert_int_equal(symlink("nowhere", folder_file(&scratch, "dangling", dangling)), 0);
    assert_int_equal(write_text(*state, dangling, "x"), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "it is a link to a file that does not exist");
    assert_int_equal(folder_count(&scratch), 4);
    folder_remove(&scratch);
}

static void impossible_places(void **state)
{
    folder scratch = folder_make();
    char path[256], message[320];
    static const struct {
        const char *name;
        const char *message;
    } cases[] = {
        {"none/out.csv",
         "none/out.csv: cannot be written: No such file or directory; check the name and its folder"},
        {"new/", "new/: cannot be written: Is a directory"},
        {"file/out.csv", "file/out.csv: cannot be written: Not a directory"},
    };
    file_put(folder_file(&scratch, "file", path), "x", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(write_text(*state, folder_file(&scratch, cases[i].name, path), "x"), HF_ERR_IO);
        snprintf(message, sizeof message, "%s/%s", scratch.path, cases[i].message);
        assert_contains(hf_context_message(*state), message);
    }
    assert_int_equal(write_text(*state, scratch.path, "x"), HF_ERR_IO);
    assert_contains(hf_context_message(*state), "it is a folder; give a file name");
    assert_int_equal(write_text(*state, "", "x"), HF_ERR_ARGUMENT);
    assert_int_equal(folder_count(&scratch), 1);
    folder_remove(&scratch);
}

static void devices_are_written_in_place(void **state)
{
    struct stat about;
    assert_int_equal(write_text(*state, "/dev/null", "x"), HF_OK);
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
    assert_int_equal(write_text(*state, "/dev/full", "x"), HF_ERR_IO);
    assert_contains(
        hf_context_message(*state),
        "/dev/full: cannot be written: No space left on device; free some space or write elsewhere");
}

static void a_pipe_is_written_in_place(void **state)
{
    folder scratch = folder_make();
    char path[256], got[16] = "";
    folder_file(&scratch, "pipe", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(write_text(*state, path, "through"), HF_OK);
    assert_int_equal(read(reader, got, sizeof got), 7);
    assert_string_equal(got, "through");
    close(reader);
    assert_int_equal(folder_count(&scratch), 1);
    folder_remove(&scratch);
}

/* ---- errors in the middle -------------------------------------------------------------------- */

/* Runs in a child, because limits and users are for a process: 0 if all was as it should be. */
static int in_child(int (*body)(const char *path), const char *path)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(body(path));
    int result = -1;
    assert_true(child > 0 && waitpid(child, &result, 0) == child);
    return WIFEXITED(result) ? WEXITSTATUS(result) : 200 + WTERMSIG(result);
}

static int write_beyond_the_limit(const char *path)
{
    struct rlimit limit = {300000, 300000};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    static char text[1000001];
    memset(text, 'x', sizeof text - 1);
    hf_context *ctx = hf_context_create();
    hf_status status = write_text(ctx, path, text);
    bool told = strstr(hf_context_message(ctx), "cannot be written: File too large") != NULL;
    hf_context_free(ctx);
    return status == HF_ERR_IO && told ? 0 : 1;
}

static void a_file_that_does_not_fit_leaves_the_old_one(void **state)
{
    (void)state;
    folder scratch = folder_make();
    char path[256];
    file_put(folder_file(&scratch, "out", path), "old", 3);
    assert_int_equal(in_child(write_beyond_the_limit, path), 0);
    assert_file(path, "old");
    assert_int_equal(folder_count(&scratch), 1);
    folder_remove(&scratch);
}

/* Root may write everywhere; so the child becomes somebody else. */
static int write_without_permission(const char *path)
{
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 77;
    hf_context *ctx = hf_context_create();
    hf_status status = write_text(ctx, path, "new");
    bool told = strstr(hf_context_message(ctx), "Permission denied; choose a place you may use") != NULL;
    hf_context_free(ctx);
    return status == HF_ERR_IO && told ? 0 : 1;
}

static void permissions_are_respected(void **state)
{
    (void)state;
    folder scratch = folder_make();
    char path[256], protected[256];
    file_put(folder_file(&scratch, "out", path), "old", 3);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(chmod(scratch.path, 0555), 0); /* no new file here */
    int folder_result = in_child(write_without_permission, path);
    assert_int_equal(chmod(scratch.path, 0777), 0);
    file_put(folder_file(&scratch, "protected", protected), "old", 3);
    assert_int_equal(chmod(protected, 0444), 0); /* a rename would get around this */
    int file_result = in_child(write_without_permission, protected);
    assert_file(path, "old");
    assert_file(protected, "old");
    assert_int_equal(folder_count(&scratch), 2);
    folder_remove(&scratch);
    if (folder_result == 77) skip();
    assert_int_equal(folder_result, 0);
    assert_int_equal(file_result, 0);
}

static bool stop_at_third(const char *stage, double done, double value, void *user)
{
    int *calls = user;
    assert_string_equal(stage, "write");
    assert_true(done >= 0 && done <= 1 && isnan(value));
    return ++*calls < 3;
}

static void cancelling_leaves_the_old_file(void **state)
{
    folder scratch = folder_make();
    char path[256];
    int calls = 0;
    enum {
        ROWS = 100000
    };
    double *numbers = calloc(ROWS, sizeof *numbers);
    assert_non_null(numbers);
    hf_table *table = NULL;
    file_put(folder_file(&scratch, "out.csv", path), "old", 3);
    assert_int_equal(hf_table_create(*state, ROWS, &table), HF_OK);
    assert_int_equal(hf_table_set_numbers(*state, table, "a number", numbers), HF_OK);
    hf_context_set_progress(*state, stop_at_third, &calls);
    assert_int_equal(hf_table_write_csv(*state, table, path), HF_ERR_CANCELLED);
    hf_context_set_progress(*state, NULL, NULL);
    assert_int_equal(calls, 3);
    assert_file(path, "old");
    assert_int_equal(folder_count(&scratch), 1);
    hf_table_free(table);
    free(numbers);
    folder_remove(&scratch);
}

/* ---- standard output ------------------------------------------------------------------------- */

static int write_table_to_standard_output(const char *path)
{
    int output = open(path, O_WRONLY);
    if (output < 0 || dup2(output, STDOUT_FILENO) < 0) return 2;
    hf_context *ctx = hf_context_create();
    hf_table *table = NULL;
    hf_status status = hf_table_parse_csv(ctx, "a,b\n1,2\n", 8, "t", &table);
    printf("# before\n");
    if (status == HF_OK) status = hf_table_write_csv(ctx, table, "-");
    bool told =
        strcmp(hf_context_message(ctx), "standard output: cannot be written: No space left on device; free "
                                        "some space or write elsewhere") == 0;
    hf_table_free(table);
    hf_context_free(ctx);
    return status == HF_OK ? 0 : status == HF_ERR_IO && told ? 3 : 1;
}

static void standard_output_keeps_the_order_and_reports_errors(void **state)
{
    (void)state;
    folder scratch = folder_make();
    char path[256];
    file_put(folder_file(&scratch, "out", path), "", 0);
    assert_int_equal(in_child(write_table_to_standard_output, path), 0);
    assert_file(path, "# before\na,b\n1,2\n");
    assert_int_equal(in_child(write_table_to_standard_output, "/dev/full"), 3);
    folder_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest here[] = {
        cmocka_unit_test(a_new_file_appears_only_when_complete),
        cmocka_unit_test(a_file_that_must_be_new_replaces_nothing),
        cmocka_unit_test(an_aborted_file_leaves_nothing),
        cmocka_unit_test(bytes_are_written_as_they_are),
        cmocka_unit_test(permissions_and_links_are_kept),
        cmocka_unit_test(impossible_places),
        cmocka_unit_test(devices_are_written_in_place),
        cmocka_unit_test(a_pipe_is_written_in_place),
        cmocka_unit_test(cancelling_leaves_the_old_file),
    };
    const struct CMUnitTest with_names[] = {cmocka_unit_test(names_are_not_predictable)};
    const struct CMUnitTest without_names[] = {cmocka_unit_test(a_kill_leaves_nothing)};
    /* Without a context of the parent's: the child could not free it, and leak checkers would say so. */
    const struct CMUnitTest in_children[] = {
        cmocka_unit_test(a_file_that_does_not_fit_leaves_the_old_one),
        cmocka_unit_test(permissions_are_respected),
        cmocka_unit_test(standard_output_keeps_the_order_and_reports_errors),
    };
    return cmocka_run_group_tests(here, make_context, free_context) +
           cmocka_run_group_tests(without_names, make_context, free_context) +
           cmocka_run_group_tests(here, without_nameless, free_context) +
           cmocka_run_group_tests(with_names, without_nameless, free_context) +
           cmocka_run_group_tests(in_children, NULL, NULL);
}
