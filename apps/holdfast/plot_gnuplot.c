/* SPDX-License-Identifier: Apache-2.0 */
/* From a script to a picture: gnuplot, and the file that it draws. */
#include "plot.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Starts gnuplot with a pipe as its standard input. NULL after a message. No shell is involved. */
static FILE *start_gnuplot(pid_t *child)
{
    int ends[2];
    if (pipe(ends) != 0) {
        complain("gnuplot cannot be started: %s", strerror(errno));
        return NULL;
    }
    *child = fork();
    if (*child == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp("gnuplot", "gnuplot", (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    FILE *script = *child > 0 ? fdopen(ends[1], "w") : NULL;
    if (script != NULL) return script;
    complain("gnuplot cannot be started: %s", strerror(errno));
    close(ends[1]);
    if (*child > 0) waitpid(*child, NULL, 0);
    return NULL;
}

/* Runs the script; gnuplot's own complaints go to standard error. */
static int draw(plot_writer *writer, const void *data, plot_format format, const char *output)
{
    /* gnuplot that dies must be an error message, not a signal. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    pid_t child = 0;
    FILE *script = start_gnuplot(&child);
    if (script == NULL) return TOOL_FAILED;
    bool sent = writer(script, data, format, output);
    sent = fclose(script) == 0 && sent;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        /* Ctrl-C reaches gnuplot too; it will be over soon. */
    }
    if (!sent || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return complain("gnuplot failed; holdfast plot --data-only writes a script to try");
    struct stat info;
    if (stat(output, &info) != 0 || info.st_size == 0)
        return complain("%s: gnuplot wrote nothing; is the disk full?", output);
    return TOOL_OK;
}

/* gnuplot draws into a file beside the final one, which appears only when it is complete. */
int plot_draw(plot_writer *writer, const void *data, plot_format format, const char *output)
{
    struct stat info;
    if (stat(output, &info) == 0 && !S_ISREG(info.st_mode))
        return complain("%s: cannot be written: it is no regular file", output);
    size_t bytes = strlen(output) + 16;
    char *beside = malloc(bytes);
    if (beside == NULL) return complain("out of memory");
    snprintf(beside, bytes, "%s.part-XXXXXX", output);
    int descriptor = mkstemp(beside);
    int code = descriptor >= 0 ? TOOL_OK : complain("%s: cannot be written: %s", output, strerror(errno));
    if (descriptor >= 0) {
        mode_t mask = umask(0);
        umask(mask);
        /* mkstemp's 0600 would surprise who shares the folder; if it stays, the picture is there all the same. */
        if (fchmod(descriptor, 0666 & ~mask) != 0) errno = 0;
        close(descriptor);
        code = draw(writer, data, format, beside);
        if (code == TOOL_OK && rename(beside, output) != 0)
            code = complain("%s: cannot be written: %s", output, strerror(errno));
        if (code != TOOL_OK) unlink(beside);
    }
    free(beside);
    return code;
}
