/* SPDX-License-Identifier: Apache-2.0 */
#include "common/pool.h"
#include "common/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    POOL_MOST = 64
};

typedef struct worker {
    pid_t pid;
    int pipe;
    char *text;
    size_t length, capacity;
} worker;

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static worker start(size_t task, const pool_calls *calls)
{
    int ends[2];
    if (pipe(ends) != 0) give_up("pipe");
    fflush(NULL);
    worker w = {.pid = fork(), .pipe = ends[0]};
    if (w.pid < 0) give_up("fork");
    if (w.pid == 0) {
        close(ends[0]);
        FILE *out = fdopen(ends[1], "w");
        bool ok = out && calls->work(task, out, calls->user);
        if (out && fclose(out) != 0) ok = false;
        _exit(ok ? 0 : 1);
    }
    close(ends[1]);
    return w;
}

/* Reads what there is; true when the child has closed its end. */
static bool drain(worker *w)
{
    if (w->capacity - w->length < 4096) {
        char *text = realloc(w->text, w->capacity + 65536);
        if (!text) give_up("reading results");
        w->text = text;
        w->capacity += 65536;
    }
    ssize_t got = read(w->pipe, w->text + w->length, w->capacity - w->length - 1);
    if (got < 0) return errno != EINTR;
    w->length += (size_t)got;
    return got == 0;
}

static bool finish(worker *w, const pool_calls *calls)
{
    int status = 0;
    bool ok = true;
    close(w->pipe);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ok = false;
    /* Lines of a task that failed half-way are still good: each is a model that was fitted and scored. */
    if (w->text) {
        w->text[w->length] = '\0';
        for (char *line = w->text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            if (!calls->line(line, calls->user)) exit(1);
        }
    }
    free(w->text);
    return ok;
}

static void progress(size_t done, size_t count, size_t failed, double since)
{
    double spent = wall_clock() - since;
    double left = done ? spent / (double)done * (double)(count - done) : 0.0;
    fprintf(stderr, "%s%zu of %zu tasks, %zu failed, %.0f s spent, about %.0f s to go%s",
            isatty(STDERR_FILENO) ? "\r\033[K" : "", done, count, failed, spent, left,
            isatty(STDERR_FILENO) && done < count ? "" : "\n");
}

size_t pool_run(const size_t *tasks, size_t count, size_t jobs, const pool_calls *calls)
{
    worker workers[POOL_MOST];
    struct pollfd waits[POOL_MOST];
    size_t running = 0, next = 0, done = 0, failed = 0;
    double since = wall_clock();
    if (jobs < 1) jobs = 1;
    if (jobs > POOL_MOST) jobs = POOL_MOST;
    while (next < count || running > 0) {
        while (running < jobs && next < count) workers[running++] = start(tasks[next++], calls);
        for (size_t i = 0; i < running; ++i)
            waits[i] = (struct pollfd){.fd = workers[i].pipe, .events = POLLIN};
        if (poll(waits, (nfds_t)running, -1) < 0 && errno != EINTR) give_up("poll");
        for (size_t i = running; i-- > 0;) {
            if (!(waits[i].revents & (POLLIN | POLLHUP | POLLERR)) || !drain(&workers[i])) continue;
            if (!finish(&workers[i], calls)) failed += 1;
            workers[i] = workers[--running];
            done += 1;
            progress(done, count, failed, since);
        }
    }
    return failed;
}
