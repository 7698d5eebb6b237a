/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file default-fit.c
 * @brief A whole default fit of data/boston.csv (506 rows, 13 inputs), with and without wrong readings, and
 * the plain one.
 */
#include "common/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct houses {
    size_t n, d;
    double *x, *y, *damaged;
} houses;

static houses read_houses(hf_context *ctx)
{
    const char *source = getenv("HF_SOURCE");
    char path[1024];
    hf_table *table = NULL;
    const double *column;
    snprintf(path, sizeof path, "%s/data/boston.csv", source ? source : ".");
    bench_must(ctx, hf_table_read_csv(ctx, path, &table), "table");
    houses h = {.n = hf_table_rows(table), .d = hf_table_columns(table) - 1};
    h.x = bench_doubles(h.n * h.d);
    h.y = bench_doubles(h.n);
    h.damaged = bench_doubles(h.n);
    for (size_t j = 0; j <= h.d; ++j) { /* the target is the last column */
        bench_must(ctx, hf_table_numbers(ctx, table, j, &column), "column");
        for (size_t i = 0; i < h.n; ++i) {
            if (j == h.d)
                h.y[i] = column[i];
            else
                h.x[i * h.d + j] = column[i];
        }
    }
    memcpy(h.damaged, h.y, h.n * sizeof *h.y);
    bench_must(ctx,
               hf_contaminate(ctx, HF_CONTAMINATION_ASYMMETRIC, 0.1, 1, h.n, h.d, NULL, h.d, h.damaged, NULL),
               "damage");
    hf_table_free(table);
    return h;
}

static void compare(hf_context *ctx, const houses *h, const char *what, const char *preset, const double *y,
                    int threads, size_t repeats)
{
    hf_data data = {.n = h->n, .d = h->d, .x = h->x, .ldx = h->d, .y = y};
    hf_fit_settings settings;
    hf_fit_report report = {0};
    timings seconds = {0};
    bench_must(ctx, hf_fit_settings_preset(ctx, preset, &settings, sizeof settings), "preset");
    bench_must(ctx, hf_context_set_threads(ctx, threads), "threads");
    for (size_t k = 0; k <= repeats; ++k) {
        hf_posterior *posterior = NULL;
        double start = bench_now();
        bench_must(ctx, hf_fit_data(ctx, &data, &settings, &posterior, &report, NULL), "fit");
        if (k > 0) bench_add(&seconds, bench_now() - start);
        hf_posterior_free(posterior);
    }
    printf("| %s | %d | %.2f | %zu | %zu |\n", what, threads, bench_median(&seconds), report.evaluations,
           report.suspects_adopted ? report.suspects : 0);
}

int main(int argc, char **argv)
{
    size_t repeats = bench_repeats(argc, argv, 3);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    houses h = read_houses(ctx);
    printf("n = %zu, d = %zu\n\n| fit of Boston | threads | seconds | evaluations | set aside "
           "|\n|---|---|---|---|---|\n",
           h.n, h.d);
    for (int threads = 1; threads <= 2; ++threads) {
        compare(ctx, &h, "plain GP", "gp", h.y, threads, repeats);
        compare(ctx, &h, "default", "default", h.y, threads, repeats);
        compare(ctx, &h, "default, 10 % wrong", "default", h.damaged, threads, repeats);
    }
    puts("\nAim: the default under 2 s.");
    free(h.x);
    free(h.y);
    free(h.damaged);
    hf_context_free(ctx);
    return 0;
}
