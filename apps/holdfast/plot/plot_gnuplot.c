/* SPDX-License-Identifier: Apache-2.0 */
/* From a script to a picture: gnuplot, and the file that it draws. */
#include "plot/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PIECE = 1 << 16
};

/* ---- names ------------------------------------------------------------------------------------------------ */

size_t plot_stem(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot != NULL && dot != path && (slash == NULL || dot > slash + 1) ? (size_t)(dot - path)
                                                                            : strlen(path);
}

bool plot_find_format(const char *path, plot_format *format)
{
    static const char *const endings[] = {".svg", ".png", ".pdf"};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(path + plot_stem(path), endings[i]) != 0) continue;
        *format = (plot_format)i;
        return true;
    }
    return false;
}

/* ---- gnuplot ---------------------------------------------------------------------------------------------- */

bool plot_has_gnuplot(void)
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        char program[4096];
        snprintf(program, sizeof program, "%.*s/gnuplot", (int)length, path);
        if (access(program, X_OK) == 0) return true;
        path += length + (path[length] == ':' ? 1 : 0);
    }
    return false;
}

char *plot_output(const tool_arguments *arguments)
{
    const char *given = argument(arguments, "output"), *file = arguments->operand[0];
    return given != NULL ? strdup(given) : with_ending(file, plot_stem(file), ".svg");
}

size_t plot_derive(const tool_arguments *arguments, char *out[TOOL_DERIVED])
{
    if (argument(arguments, "output") != NULL) return 0;
    out[0] = plot_output(arguments);
    return 1;
}

hf_status plot_check(tool_session *session, const char *output, plot_format *format)
{
    if (output == NULL) return HF_ERR_MEMORY;
    if (!plot_find_format(output, format))
        return session_misuse(session, "-o: '%s' ends neither in .svg nor in .png nor in .pdf", output);
    if (!plot_has_gnuplot()) return session_refuse(session, "gnuplot is not installed (Debian: gnuplot-nox)");
    return HF_OK;
}

/* gnuplot at work: what it reads and what it draws are pipes of ours. */
typedef struct gnuplot {
    pid_t child;
    int script, picture;
} gnuplot;

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static void become_gnuplot(const int script[2], const int picture[2])
{
    dup2(script[0], STDIN_FILENO);
    dup2(picture[1], STDOUT_FILENO);
    close_both(script);
    close_both(picture);
    /* Not by the user's own settings: a picture is the same for everybody. */
    execlp("gnuplot", "gnuplot", "--default-settings", (char *)NULL);
    _exit(127);
}

/* No shell is involved. False after a message. */
static bool start_gnuplot(gnuplot *out)
{
    int script[2], picture[2];
    bool piped = pipe(script) == 0;
    if (piped && pipe(picture) != 0) {
        close_both(script);
        piped = false;
    }
    out->child = piped ? fork() : -1;
    if (out->child == 0) become_gnuplot(script, picture);
    const int error = errno;
    if (out->child > 0) {
        close(script[0]);
        close(picture[1]);
        *out = (gnuplot){out->child, script[1], picture[0]};
        return true;
    }
    if (piped) {
        close_both(script);
        close_both(picture);
    }
    complain("gnuplot cannot be started: %s", strerror(error));
    return false;
}

/* ---- bytes ------------------------------------------------------------------------------------------------ */

typedef struct bytes {
    char *at;
    size_t count, room;
} bytes;

/* The script, data included. False when out of memory. */
static bool make_script(plot_writer *writer, const void *data, plot_format format, const char *output,
                        bytes *out)
{
    FILE *script = open_memstream(&out->at, &out->count);
    if (script == NULL) return false;
    const bool written = writer(script, data, format, output);
    return fclose(script) == 0 && written;
}

/* Reads all that is ready. 1: more may come, 0: end of file, -1: failed. */
static int read_some(int from, bytes *to)
{
    if (to->room - to->count < PIECE) {
        char *larger = realloc(to->at, 2 * to->room + PIECE);
        if (larger == NULL) return -1;
        to->at = larger;
        to->room = 2 * to->room + PIECE;
    }
    const ssize_t got = read(from, to->at + to->count, PIECE);
    if (got < 0) return errno == EINTR ? 1 : -1;
    to->count += (size_t)got;
    return got > 0 ? 1 : 0;
}

/* The script goes in while the picture comes out: neither pipe holds all of it. */
static bool converse(gnuplot *with, const bytes *script, bytes *picture)
{
    size_t sent = 0;
    int more = fcntl(with->script, F_SETFL, O_NONBLOCK) == 0 ? 1 : -1;
    while (more > 0) {
        struct pollfd ends[2] = {{.fd = with->picture, .events = POLLIN},
                                 {.fd = with->script, .events = POLLOUT}};
        if (poll(ends, 2, -1) < 0 && errno != EINTR) more = -1;
        if (more > 0 && ends[0].revents != 0) more = read_some(with->picture, picture);
        if (with->script < 0 || ends[1].revents == 0) continue;
        const ssize_t put = write(with->script, script->at + sent, script->count - sent);
        if (put > 0) sent += (size_t)put;
        const bool over = put < 0 && errno != EAGAIN && errno != EINTR;
        if (!over && sent < script->count) continue;
        close(with->script);
        with->script = -1;
    }
    return more == 0 && sent == script->count;
}

/* Runs the script; gnuplot's own complaints go to standard error. */
static int run_gnuplot(const bytes *script, bytes *picture)
{
    /* gnuplot that dies must be an error message, not a signal. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    gnuplot run;
    if (!start_gnuplot(&run)) return TOOL_FAILED;
    const bool drawn = converse(&run, script, picture);
    close(run.picture);
    if (run.script >= 0) close(run.script);
    int status = 0;
    while (waitpid(run.child, &status, 0) < 0 && errno == EINTR) {
        /* Ctrl-C reaches gnuplot too; it will be over soon. */
    }
    if (!drawn || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return complain("gnuplot failed; holdfast plot --data-only writes a script to try");
    return picture->count > 0 ? TOOL_OK : complain("gnuplot drew nothing");
}

/* ---- files ------------------------------------------------------------------------------------------------ */

static int write_bytes(hf_context *ctx, const char *path, const bytes *content)
{
    return hf_file_write(ctx, path, content->at, content->count) >= 0
               ? TOOL_OK
               : complain("%s", hf_context_message(ctx));
}

int plot_draw(hf_context *ctx, plot_writer *writer, const void *data, plot_format format, const char *output)
{
    struct stat info;
    bytes script = {0}, picture = {0};
    if (stat(output, &info) == 0 && !S_ISREG(info.st_mode))
        return complain("%s: cannot be written: it is no regular file", output);
    int code = make_script(writer, data, format, NULL, &script) ? TOOL_OK : complain("out of memory");
    if (code == TOOL_OK) code = run_gnuplot(&script, &picture);
    if (code == TOOL_OK) code = write_bytes(ctx, output, &picture);
    TOOL_FREE(script.at, picture.at);
    return code;
}

bool plot_drew(tool_session *session, plot_writer *writer, const void *data, plot_format format,
               const char *output)
{
    progress_clear(session->progress);
    session->refused = plot_draw(session->ctx, writer, data, format, output);
    const bool drawn = session->refused == TOOL_OK;
    if (drawn && !session->json) say(stdout, "Drew %s\n", output);
    return drawn && session->json;
}

int plot_write_script(hf_context *ctx, plot_writer *writer, const void *data, plot_format format,
                      const char *output, const char *path)
{
    bytes script = {0};
    int code = make_script(writer, data, format, output, &script) ? write_bytes(ctx, path, &script)
                                                                  : complain("out of memory");
    free(script.at);
    return code;
}
