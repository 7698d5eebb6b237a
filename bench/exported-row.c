/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file exported-row.c
 * @brief One row predicted by an exported file (hf_export_c()) beside hf_predict(): d = 4, ARD Matern-5/2, exact.
 */
#include "common/bench.h"

#include <dlfcn.h>
#include <holdfast/export_c.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    D = 4,
    ROWS = 2000 /* predicted one by one in each turn */
};

/* Rows and results are double or float. */
typedef int predictor(const void *x, void *result);

/* How a file is exported and compiled. */
typedef struct variant {
    bool single, compact;
    int level; /* of optimisation */
} variant;

static const variant variants[] = {{false, false, 2}, {false, false, 3}, {true, false, 2}, {true, true, 2}};

enum {
    VARIANTS = sizeof variants / sizeof variants[0]
};

static hf_model *make_model(hf_context *ctx, size_t n)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    double *x = bench_doubles(n * D), *y = bench_doubles(n), *column = bench_doubles(n);
    hf_table *table = NULL;
    hf_model *model = NULL;
    bench_inputs(n, D, 1, x);
    bench_targets(n, D, x, y);
    bench_must(ctx, hf_table_create(ctx, n, &table), "table");
    for (size_t j = 0; j < D; j++) {
        for (size_t i = 0; i < n; i++) column[i] = x[i * D + j];
        bench_must(ctx, hf_table_set_numbers(ctx, table, names[j], column), "table");
    }
    bench_must(ctx, hf_table_set_numbers(ctx, table, "y", y), "table");
    hf_fit_settings settings = hf_fit_settings_default();
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    settings.train = false;
    settings.suspects = HF_OUTLIERS_OFF;
    settings.solver = HF_SOLVER_EXACT;
    bench_must(ctx, hf_fit(ctx, table, &columns, &settings, &model, NULL), "fit");
    hf_table_free(table);
    free(x);
    free(y);
    free(column);
    return model;
}

/* The exported function, compiled by the C compiler of the environment. */
static predictor *compile(hf_context *ctx, const hf_model *model, size_t n, const variant *how)
{
    hf_export_settings settings = hf_export_settings_default();
    settings.single = how->single;
    settings.compact = how->compact;
    char source[80], library[80], command[400];
    const char *cc = getenv("CC");
    snprintf(source, sizeof source, "/tmp/holdfast-exported-%ld-%zu.c", (long)getpid(), n);
    snprintf(library, sizeof library, "/tmp/holdfast-exported-%ld-%zu-%td.so", (long)getpid(), n,
             how - variants);
    bench_must(ctx, hf_export_c(ctx, model, &settings, source, NULL), "export");
    snprintf(command, sizeof command, "%s -std=c99 -O%d -shared -fPIC %s -o %s -lm", cc != NULL ? cc : "cc",
             how->level, source, library);
    if (system(command) != 0) exit(1);
    void *handle = dlopen(library, RTLD_NOW);
    void *symbol = handle != NULL ? dlsym(handle, "predict") : NULL;
    predictor *function = NULL;
    if (symbol != NULL) *(void **)&function = symbol;
    unlink(source);
    unlink(library);
    if (function == NULL) exit(1);
    return function;
}

static double exported(predictor *predict, const variant *how, const double *x, double *sum)
{
    float row[D], told[3] = {0.0f};
    double answer[3] = {0.0};
    const double start = bench_now();
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < D; j++) row[j] = (float)x[i * D + j];
        const void *at = how->single ? (const void *)row : x + i * D;
        if (predict(at, how->single ? (void *)told : answer) != 0) exit(1);
        *sum += how->single ? (double)told[0] + (double)told[1] : answer[0] + answer[1];
    }
    return (bench_now() - start) / ROWS;
}

static double library(hf_context *ctx, const hf_model *model, const double *x, double *sum)
{
    const double start = bench_now();
    for (size_t i = 0; i < ROWS; i++) {
        double mean, latent;
        bench_must(ctx, hf_predict(ctx, hf_model_posterior(model), 1, x + i * D, D, &mean, &latent, NULL),
                   "predict");
        *sum += mean + sqrt(latent);
    }
    return (bench_now() - start) / ROWS;
}

static void run(hf_context *ctx, size_t n, size_t repeats)
{
    hf_model *model = make_model(ctx, n);
    double *x = bench_doubles(ROWS * D), sums[VARIANTS + 1] = {0.0};
    timings ours = {0}, theirs[VARIANTS] = {0};
    predictor *made[VARIANTS];
    for (size_t v = 0; v < VARIANTS; v++) made[v] = compile(ctx, model, n, &variants[v]);
    bench_inputs(ROWS, D, 2, x);
    for (size_t k = 0; k < repeats; k++) {
        bench_add(&ours, library(ctx, model, x, &sums[VARIANTS]));
        for (size_t v = 0; v < VARIANTS; v++)
            bench_add(&theirs[v], exported(made[v], &variants[v], x, &sums[v]));
    }
    printf("| %zu | %.1f |", n, 1e6 * bench_median(&ours));
    for (size_t v = 0; v < VARIANTS; v++) {
        if (fabs(sums[v] - sums[VARIANTS]) > 1e-5 * fabs(sums[VARIANTS])) exit(1);
        printf(" %.1f |", 1e6 * bench_median(&theirs[v]));
    }
    printf("\n");
    free(x);
    hf_model_free(model);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {20, 50, 100, 200, 500};
    const size_t repeats = bench_repeats(argc, argv, 9);
    hf_context *ctx = hf_context_create();
    if (ctx == NULL || hf_context_set_threads(ctx, 1) < 0) return 1;
    printf("| readings | library, us | -O2, us | -O3, us | single, -O2, us | compact, -O2, us |\n"
           "|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) run(ctx, sizes[k], repeats);
    hf_context_free(ctx);
    return 0;
}
