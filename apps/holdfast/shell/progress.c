/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and the progress bar. */
#include "shell/tool.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The one thing a signal handler may touch; a global because handlers have no arguments. */
static volatile sig_atomic_t stop_signal;

static void remember_stop_signal(int number)
{
    stop_signal = number;
}

int signal_seen(void)
{
    return (int)stop_signal;
}

void signal_install(void)
{
    struct sigaction action = {0};
    action.sa_handler = remember_stop_signal;
    sigemptyset(&action.sa_mask);
    /* The second Ctrl-C has the usual effect. No SA_RESTART: a read that waits must come back. */
    action.sa_flags = (int)SA_RESETHAND;
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction old;
        /* A signal that a parent chose to ignore (nohup) stays ignored. */
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(numbers[i], &action, NULL);
    }
    /* A file that grows beyond what is allowed is a write that failed, not the end of the program. */
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL);
}

/* How far a stage was at a moment. */
typedef struct mark {
    double time, done;
} mark;

struct progress {
    bool show;    /* standard error is a terminal, and not -q */
    bool visible; /* a bar stands there now */
    double begin, drawn;
    char stage[16];      /* that the marks belong to */
    mark older, younger; /* the pace is measured from the older one */
    const char *whole;   /* a longer stage that reports are parts of; NULL: none */
    double from, share;  /* which part */
};

double tool_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A second of silence: most runs are over by then and a bar would only flicker. */
static const double silence = 1.0, interval = 0.1;

/* The pace of the last ten to twenty seconds: what a fit takes from its checkpoint passes in no time. */
static const double window = 10.0;

enum {
    BAR = 30
};

static void keep_pace(struct progress *progress, const char *stage, double time, double done)
{
    if (strncmp(progress->stage, stage, sizeof progress->stage - 1) != 0 || done < progress->younger.done) {
        snprintf(progress->stage, sizeof progress->stage, "%s", stage);
        progress->older = progress->younger = (mark){time, done};
    } else if (time - progress->younger.time > window) {
        progress->older = progress->younger;
        progress->younger = (mark){time, done};
    }
}

/* "  2:10 left"; empty while nothing can be said. */
static void time_left(const struct progress *progress, double time, double done, char text[24])
{
    const double elapsed = time - progress->older.time, gained = done - progress->older.done;
    text[0] = '\0';
    if (elapsed < 2 * silence || !(gained > 0.02)) return;
    const double left = elapsed * (1 - done) / gained;
    if (left < 3600)
        snprintf(text, 24, "  %d:%02d left", (int)(left / 60), (int)left % 60);
    else if (left < 360000)
        snprintf(text, 24, "  %d h %02d min left", (int)(left / 3600), (int)(left / 60) % 60);
}

static void draw_progress_bar(struct progress *progress, const char *stage, double done, double value)
{
    char bar[BAR + 1], figure[40] = "", share[16] = "", left[24] = "";
    memset(bar, ' ', BAR);
    bar[BAR] = '\0';
    if (done >= 0) {
        double part = done < 1 ? done : 1;
        memset(bar, '#', (size_t)(part * BAR));
        snprintf(share, sizeof share, " %3.0f %%", 100 * part);
        time_left(progress, progress->drawn, part, left);
    }
    if (isfinite(value)) snprintf(figure, sizeof figure, "  objective %.6g", value);
    fprintf(stderr, "\r\033[K%-8s [%s]%s%s%s", stage, bar, share, left, figure);
    fflush(stderr);
    progress->visible = true;
}

static bool report(const char *stage, double done, double value, void *user)
{
    struct progress *progress = user;
    if (stop_signal != 0) return false;
    if (!progress->show) return true;
    if (progress->whole != NULL) {
        stage = progress->whole;
        done = progress->from + (done > 0 ? progress->share * done : 0);
    }
    double time = tool_now();
    if (done >= 0) keep_pace(progress, stage, time, done);
    if (time - progress->begin < silence || time - progress->drawn < interval) return true;
    progress->drawn = time;
    draw_progress_bar(progress, stage, done, value);
    return true;
}

struct progress *progress_start(hf_context *ctx, bool quiet)
{
    struct progress *progress = calloc(1, sizeof *progress);
    if (progress == NULL) return NULL; /* only a bar: the work can be done without */
    progress->show = !quiet && isatty(STDERR_FILENO) == 1;
    progress->begin = tool_now();
    hf_context_set_progress(ctx, report, progress);
    return progress;
}

void progress_part(struct progress *progress, const char *stage, double from, double share)
{
    if (progress == NULL) return;
    progress->whole = stage;
    progress->from = from;
    progress->share = share;
}

bool progress_step(struct progress *progress, const char *stage, size_t k, size_t m)
{
    if (progress == NULL) return stop_signal == 0;
    progress_part(progress, stage, (double)k / (double)m, 1.0 / (double)m);
    return report("", 0.0, (double)NAN, progress); /* the stage is the whole one */
}

void progress_clear(struct progress *progress)
{
    if (progress == NULL || !progress->visible) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->visible = false;
}

void progress_stop(struct progress *progress)
{
    progress_clear(progress);
    free(progress);
}
