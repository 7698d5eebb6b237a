/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track-file.c
 * @brief Opening a track's file: by its snapshot and the entries after it, and by its whole journal.
 */
#include "common/bench.h"

#include <holdfast/track_file.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const double lower[1] = {-10.0}, upper[1] = {10.0};

/* Tracks of which a window or all of the readings are held. */
typedef struct contents {
    const char *name;
    hf_track_method method;
    double window;
    int entries;
} contents;

static void fill(hf_context *ctx, const contents *c, const char *path)
{
    hf_track_settings s = hf_track_settings_default(c->method);
    hf_track *track = NULL;
    s.domain = (hf_domain){.dimension = 1, .lower = lower, .upper = upper};
    if (c->window > 0.0) s.window = c->window;
    bench_must(ctx, hf_track_file_create(ctx, path, &s, NULL, NULL, &track), "create");
    bench_must(ctx, hf_track_file_begin(ctx, track), "begin");
    for (int k = 0; k < c->entries; ++k) {
        const double x = -10.0 + 20.0 * (double)(k % 64) / 64.0;
        bench_must(ctx, hf_track_tell(ctx, track, (double)k, &x, sin(x + 1e-3 * k), 0.0, NULL), "tell");
    }
    bench_must(ctx, hf_track_file_end(ctx, track, true), "end");
    hf_track_free(track);
}

static double open_it(hf_context *ctx, const char *path, size_t *held)
{
    hf_track *track = NULL;
    hf_track_summary summary;
    const double start = bench_now();
    bench_must(ctx, hf_track_file_open(ctx, path, false, &track), "open");
    const double seconds = bench_now() - start;
    hf_track_summary_of(track, &summary);
    *held = summary.held;
    hf_track_free(track);
    return seconds;
}

/* The whole journal, read and played again. */
static double verify(hf_context *ctx, const char *path)
{
    const double start = bench_now();
    bench_must(ctx, hf_track_file_undo(ctx, path, 0, NULL), "verify");
    return bench_now() - start;
}

int main(int argc, char **argv)
{
    static const contents all[] = {{"sw-gp-ucb, window 1000", HF_TRACK_SW_GP_UCB, 1000.0, 10000},
                                   {"sw-gp-ucb, window 1000", HF_TRACK_SW_GP_UCB, 1000.0, 100000},
                                   {"gp-ucb, which forgets nothing", HF_TRACK_GP_UCB, 0.0, 100000}};
    const size_t repeats = bench_repeats(argc, argv, 9);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    puts("| track | entries | held | by snapshot, ms | whole journal, ms |\n|---|---|---|---|---|");
    for (size_t c = 0; c < sizeof all / sizeof *all; ++c) {
        char folder[] = "/tmp/holdfast-bench-XXXXXX", path[64];
        timings quick = {0}, whole = {0};
        size_t held = 0;
        if (mkdtemp(folder) == NULL) return 1;
        snprintf(path, sizeof path, "%s/track.hf", folder);
        fill(ctx, &all[c], path);
        for (size_t k = 0; k <= repeats; ++k) {
            const double a = open_it(ctx, path, &held), b = verify(ctx, path);
            if (k == 0) continue;
            bench_add(&quick, a);
            bench_add(&whole, b);
        }
        printf("| %s | %d | %zu | %.2f | %.0f |\n", all[c].name, all[c].entries, held,
               1e3 * bench_median(&quick), 1e3 * bench_median(&whole));
        remove(path);
        rmdir(folder);
    }
    hf_context_free(ctx);
    return 0;
}
