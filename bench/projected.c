/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file projected.c
 * @brief One evaluation of the projected solver as a stream: B = K A and its adjoint, n = 40 000, d = 8, 256
 * blocks, ARD Matern-5/2.
 *
 * Beside the arithmetic of two covariances per pair of rows, and beside the same quantities in numpy.
 */
#include "common/bench.h"
#include "common/pair_alone.h"
#include "kernel/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    N = 40000,
    D = 8,
    BLOCKS = 256,
    PEER_N = 8000
};

/* ---- memory, counted -------------------------------------------------------------------------------------------- */

typedef struct meter {
    size_t held, most;
} meter;

static void *counted(size_t bytes, void *user)
{
    meter *m = user;
    size_t *block = NULL;
    if (posix_memalign((void **)&block, 64, bytes + 64) != 0) return NULL;
    *block = bytes;
    m->held += bytes;
    if (m->held > m->most) m->most = m->held;
    return (char *)block + 64;
}

static void uncounted(void *memory, void *user)
{
    meter *m = user;
    size_t *block = (size_t *)(void *)((char *)memory - 64);
    m->held -= *block;
    free(block);
}

/* ---- clock ------------------------------------------------------------------------------------------------------- */

/* One thread is timed by the processor time it has used, which others on the machine disturb little; several
 * by the clock. */
static double now(int threads)
{
    struct timespec t;
    if (threads > 1) return bench_now();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- ours -------------------------------------------------------------------------------------------------------- */

typedef struct setup {
    hf_context *ctx;
    hf_kernel *kernel;
    meter memory;
    double *x, *s, *b, *s_bar, theta[D + 1];
    size_t first[BLOCKS + 1];
} setup;

typedef struct seconds {
    double product, adjoint;
} seconds;

static seconds evaluate(setup *p, size_t n, hfi_precision precision)
{
    const int threads = hf_context_threads(p->ctx);
    for (size_t a = 0; a <= BLOCKS; ++a) p->first[a] = n * a / BLOCKS;
    memset(p->s_bar, 0, n * sizeof *p->s_bar);
    memset(p->theta, 0, sizeof p->theta);
    double start = now(threads);
    bench_must(
        p->ctx,
        hfi_kernel_block_product(p->ctx, p->kernel, n, p->x, D, BLOCKS, p->first, p->s, precision, p->b, n),
        "product");
    double middle = now(threads);
    bench_must(p->ctx,
               hfi_kernel_block_adjoint(p->ctx, p->kernel, n, p->x, D, BLOCKS, p->first, p->s, precision,
                                        p->b, n, p->s_bar, p->theta),
               "adjoint");
    return (seconds){middle - start, now(threads) - middle};
}

/* Two covariances for each of the n (n + 1) / 2 pairs, shared out among the threads. */
static double limit(size_t n, int threads, int overlapped)
{
    const size_t share = n * (n + 1) / (size_t)threads;
    double start = now(threads), sum = 0.0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : sum)
    for (int t = 0; t < threads; ++t) sum += bench_pair_alone(share, overlapped);
    if (isnan(sum)) puts("the limit is not a number");
    return now(threads) - start;
}

typedef struct column {
    timings product, adjoint, whole;
} column;

static void add(column *c, seconds s)
{
    bench_add(&c->product, s.product);
    bench_add(&c->adjoint, s.adjoint);
    bench_add(&c->whole, s.product + s.adjoint);
}

static double least(const timings *t)
{
    double least = INFINITY;
    for (size_t i = 0; i < t->count; ++i) least = fmin(least, t->seconds[i]);
    return least;
}

/* Medians of runs in turns, and in brackets the ratio of the least times, which a busy machine spoils less. */
static void speed(setup *p, int threads, size_t repeats)
{
    column both[2] = {{{0}, {0}, {0}}, {{0}, {0}, {0}}};
    timings plain = {0}, overlapped = {0};
    bench_must(p->ctx, hf_context_set_threads(p->ctx, threads), "threads");
    for (size_t k = 0; k < repeats; ++k) {
        add(&both[0], evaluate(p, N, HFI_DOUBLE));
        bench_add(&plain, limit(N, threads, 0));
        bench_add(&overlapped, limit(N, threads, 1));
        add(&both[1], evaluate(p, N, HFI_SINGLE));
    }
    for (int precision = 0; precision < 2; ++precision) {
        const column *c = &both[precision];
        const double a = bench_median(&c->whole), b = bench_median(&plain), o = bench_median(&overlapped);
        printf("| %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f %% (%.0f %%) | %.0f %% (%.0f %%) |\n",
               precision ? "single" : "double", threads, bench_median(&c->product), bench_median(&c->adjoint),
               a, b, o, 100.0 * b / a, 100.0 * least(&plain) / least(&c->whole), 100.0 * o / a,
               100.0 * least(&overlapped) / least(&c->whole));
    }
}

/* ---- growth, precision, memory ------------------------------------------------------------------------- */

static void growth(setup *p, size_t repeats)
{
    double before = NAN;
    puts("\none thread, double:\n\n| n | product, s | adjoint, s | exponent since half of n | bytes beside B "
         "|\n|---|---|---|---|---|");
    for (size_t n = N / 4; n <= N; n *= 2) {
        column c = {{0}, {0}, {0}};
        p->memory.most = p->memory.held;
        const size_t held = p->memory.held;
        for (size_t k = 0; k < repeats; ++k) add(&c, evaluate(p, n, HFI_DOUBLE));
        const double time = least(&c.whole);
        printf("| %zu | %.2f | %.2f | ", n, least(&c.product), least(&c.adjoint));
        if (isnan(before))
            printf("- |");
        else
            printf("%.2f |", log2(time / before));
        printf(" %.1f MB (B: %.1f MB) |\n", 1e-6 * (double)(p->memory.most - held),
               8e-6 * (double)n * BLOCKS);
        before = time;
    }
}

/* Largest difference over the largest number. */
static double difference(size_t count, const double *a, const double *b)
{
    double most = 0.0, size = 0.0;
    for (size_t i = 0; i < count; ++i) {
        most = fmax(most, fabs(a[i] - b[i]));
        size = fmax(size, fabs(a[i]));
    }
    return most / size;
}

static void precision(setup *p, size_t n)
{
    double *b = bench_doubles(n * BLOCKS), *s_bar = bench_doubles(n), theta[D + 1];
    (void)evaluate(p, n, HFI_DOUBLE);
    memcpy(b, p->b, n * BLOCKS * sizeof *b);
    memcpy(s_bar, p->s_bar, n * sizeof *s_bar);
    memcpy(theta, p->theta, sizeof theta);
    (void)evaluate(p, n, HFI_SINGLE);
    printf("\nsingle against double, n = %zu, largest difference over largest number: B %.1e, entries %.1e, "
           "parameters %.1e\n",
           n, difference(n * BLOCKS, b, p->b), difference(n, s_bar, p->s_bar),
           difference(D + 1, theta, p->theta));
    free(b);
    free(s_bar);
}

/* ---- peer -------------------------------------------------------------------------------------------------------- */

static double total(size_t count, const double *values)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) sum += values[i];
    return sum;
}

static void peer(setup *p, size_t repeats)
{
    const char *source = getenv("HF_SOURCE");
    char command[1024];
    double numpy[4], ours = INFINITY;
    snprintf(
        command, sizeof command,
        "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 /usr/bin/python3 '%s/bench/peer_projected.py' %d %d %d %zu",
        source ? source : ".", PEER_N, D, BLOCKS, repeats);
    fflush(stdout);
    for (size_t k = 0; k < repeats; ++k) {
        const seconds s = evaluate(p, PEER_N, HFI_DOUBLE);
        ours = fmin(ours, s.product + s.adjoint);
    }
    FILE *pipe = popen(command, "r");
    const bool made = pipe && fscanf(pipe, "%lf %lf %lf %lf", numpy, numpy + 1, numpy + 2, numpy + 3) == 4;
    if (pipe) pclose(pipe);
    if (!made) return;
    const double scale = (double)N * N / ((double)PEER_N * PEER_N);
    printf("\nnumpy, one thread: %.2f s at n = %d (ours %.3f s, %.0f times as fast); times n^2: %.0f s at n "
           "= %d\n",
           numpy[0], PEER_N, ours, numpy[0] / ours, scale * numpy[0], N);
    printf("the same numbers to: B %.0e, entries %.0e, parameters %.0e\n",
           fabs(numpy[1] / total((size_t)PEER_N * BLOCKS, p->b) - 1.0),
           fabs(numpy[2] / total(PEER_N, p->s_bar) - 1.0), fabs(numpy[3] / total(D + 1, p->theta) - 1.0));
}

int main(int argc, char **argv)
{
    size_t repeats = bench_repeats(argc, argv, 3);
    setup p = {.x = bench_doubles(N * D),
               .s = bench_doubles(N),
               .b = bench_doubles((size_t)N * BLOCKS),
               .s_bar = bench_doubles(N)};
    const hf_allocator allocator = {counted, uncounted, &p.memory};
    p.ctx = hf_context_create_with(&allocator);
    if (!p.ctx) return 1;
    p.kernel = bench_kernel(p.ctx, D);
    bench_inputs(N, D, 1, p.x);
    bench_inputs(N, 1, 2, p.s);
    printf("n = %d, d = %d, %d blocks, matern52(ard)\n\n| precision | threads | product, s | adjoint, s | "
           "both, s "
           "| limit, s | limit overlapped, s | limit / ours | overlapped / ours "
           "|\n|---|---|---|---|---|---|---|---|---|\n",
           N, D, BLOCKS);
    for (int threads = 1; threads <= 2; ++threads) speed(&p, threads, repeats);
    bench_must(p.ctx, hf_context_set_threads(p.ctx, 1), "threads");
    growth(&p, repeats);
    precision(&p, N / 4);
    peer(&p, repeats);
    puts("\nAim: limit / ours at least 60 % in double; numpy at least 10 times slower. In brackets: ratios "
         "of least times.");
    free(p.x);
    free(p.s);
    free(p.b);
    free(p.s_bar);
    hf_kernel_free(p.kernel);
    hf_context_free(p.ctx);
    return 0;
}
