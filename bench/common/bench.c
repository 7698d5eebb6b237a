/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double bench_processor(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

void bench_add(timings *t, double seconds)
{
    if (t->count < BENCH_MOST) t->seconds[t->count++] = seconds;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(const timings *t)
{
    timings sorted = *t;
    if (t->count == 0) return NAN;
    qsort(sorted.seconds, sorted.count, sizeof *sorted.seconds, ascending);
    return 0.5 * (sorted.seconds[(sorted.count - 1) / 2] + sorted.seconds[sorted.count / 2]);
}

size_t bench_repeats(int argc, char **argv, size_t usual)
{
    if (argc == 1) return usual;
    char *end = NULL;
    long repeats = argc == 3 && strcmp(argv[1], "--repeats") == 0 ? strtol(argv[2], &end, 10) : 0;
    if (!end || *end || repeats < 1 || repeats > BENCH_MOST) {
        fprintf(stderr, "usage: %s [--repeats K], K from 1 to %d (default %zu)\n", argv[0], BENCH_MOST,
                usual);
        exit(2);
    }
    return (size_t)repeats;
}

double *bench_doubles(size_t count)
{
    double *memory = malloc((count ? count : 1) * sizeof *memory);
    if (!memory) {
        fprintf(stderr, "no memory for %zu numbers\n", count);
        exit(1);
    }
    return memory;
}

void bench_must(hf_context *ctx, hf_status status, const char *what)
{
    if (status >= 0) return;
    fprintf(stderr, "%s: %s: %s\n", what, hf_status_name(status), hf_context_message(ctx));
    exit(1);
}

void bench_inputs(size_t n, size_t d, uint64_t seed, double *x)
{
    uint64_t state = seed;
    for (size_t i = 0; i < n * d; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = (double)(state >> 11) * 0x1p-53;
    }
}

void bench_targets(size_t n, size_t d, const double *x, double *y)
{
    for (size_t i = 0; i < n; ++i) {
        y[i] = 0.0;
        for (size_t j = 0; j < d; ++j)
            y[i] += sin(3.0 * x[i * d + j] + (double)j) + 0.1 * sin(1e4 * x[i * d + j]);
    }
}

hf_kernel *bench_kernel(hf_context *ctx, size_t d)
{
    hf_kernel *kernel = NULL;
    char name[48];
    bench_must(ctx, hf_kernel_parse(ctx, "matern52(ard)", NULL, d, &kernel), "kernel");
    bench_must(ctx, hf_kernel_set(ctx, kernel, "outputscale", 1.5), "outputscale");
    for (size_t j = 0; j < d; ++j) {
        snprintf(name, sizeof name, "lengthscale[%zu]", j);
        bench_must(ctx, hf_kernel_set(ctx, kernel, name, 0.5 + 0.1 * (double)j), name);
    }
    return kernel;
}

double bench_peer(const char *job, size_t n, size_t d, size_t rows, size_t repeats)
{
    const char *source = getenv("HF_SOURCE");
    char command[1024];
    double seconds = NAN;
    snprintf(command, sizeof command,
             "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 /usr/bin/python3 '%s/bench/peer_sklearn.py' %s %zu "
             "%zu %zu %zu",
             source ? source : ".", job, n, d, rows, repeats);
    fflush(stdout);
    FILE *pipe = popen(command, "r");
    if (!pipe || fscanf(pipe, "%lf", &seconds) != 1) seconds = NAN;
    if (pipe) pclose(pipe);
    return seconds;
}

/* OpenBLAS's, where it is linked. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

int bench_bare_threads(int threads)
{
    if (!openblas_set_num_threads || !openblas_get_num_threads) return 1;
    openblas_set_num_threads(threads);
    return openblas_get_num_threads();
}

const char *bench_text(double value, char buffer[32])
{
    if (isnan(value))
        snprintf(buffer, 32, "-");
    else
        snprintf(buffer, 32, value < 0.1 ? "%.4f" : "%.3f", value);
    return buffer;
}
