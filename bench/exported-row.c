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

typedef struct answer {
    double mean, sd_latent, sd_observed;
} answer;

typedef int predictor(const double *x, answer *result);

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
    const hf_columns columns = {.target = "y"};
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

/* The exported function, compiled with `level`, by the C compiler of the environment. */
static predictor *compile(hf_context *ctx, const hf_model *model, size_t n, int level)
{
    char source[80], library[80], command[400];
    const char *cc = getenv("CC");
    snprintf(source, sizeof source, "/tmp/holdfast-exported-%ld-%zu.c", (long)getpid(), n);
    snprintf(library, sizeof library, "/tmp/holdfast-exported-%ld-%zu-%d.so", (long)getpid(), n, level);
    bench_must(ctx, hf_export_c(ctx, model, NULL, source, NULL), "export");
    snprintf(command, sizeof command, "%s -std=c99 -O%d -shared -fPIC %s -o %s -lm", cc != NULL ? cc : "cc",
             level, source, library);
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

static double exported(predictor *predict, const double *x, double *sum)
{
    const double start = bench_now();
    for (size_t i = 0; i < ROWS; i++) {
        answer a = {0};
        if (predict(x + i * D, &a) != 0) exit(1);
        *sum += a.mean + a.sd_latent;
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
    predictor *const usual = compile(ctx, model, n, 2), *const best = compile(ctx, model, n, 3);
    double *x = bench_doubles(ROWS * D), sums[3] = {0.0};
    timings ours = {0}, second = {0}, third = {0};
    bench_inputs(ROWS, D, 2, x);
    for (size_t k = 0; k < repeats; k++) {
        bench_add(&ours, library(ctx, model, x, &sums[0]));
        bench_add(&second, exported(usual, x, &sums[1]));
        bench_add(&third, exported(best, x, &sums[2]));
    }
    if (fabs(sums[0] - sums[1]) > 1e-6 * fabs(sums[0])) exit(1);
    printf("| %zu | %.1f | %.1f | %.1f |\n", n, 1e6 * bench_median(&ours), 1e6 * bench_median(&second),
           1e6 * bench_median(&third));
    free(x);
    hf_model_free(model);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {20, 50, 100, 200, 500};
    const size_t repeats = bench_repeats(argc, argv, 9);
    hf_context *ctx = hf_context_create();
    if (ctx == NULL || hf_context_set_threads(ctx, 1) < 0) return 1;
    printf("| readings | library, us | exported, -O2, us | exported, -O3, us |\n|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) run(ctx, sizes[k], repeats);
    hf_context_free(ctx);
    return 0;
}
