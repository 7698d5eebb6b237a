/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp-complexity.c
 * @brief The cost of i actions: seconds of a solve, of a step of training and of predictions against i. Beside
 * them stand bare products of matrices of the same shapes (sections 2 and B of "Robust and Computation-Aware Gaussian
 * Processes", 2025).
 *
 * 4096 readings of four inputs, uniform on [0, 1]^4; Matern-5/2, lengthscale 0.4; robust sites. The paper
 * says O(n i max(i, n/i)) for blocks, so n^2 up to i = 64 = n^1/2 and n i^2 beyond, O(n^2 i) for dense
 * actions, and O(n i) for memory. One thread; the least processor time of several runs counts.
 */
#include "common/clock.h"
#include "common/draws.h"
#include "common/options.h"
#include "common/quantile.h"

#include "linalg/linalg.h"

#include <holdfast/holdfast.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum {
    INPUTS = 4,
    ASKED = 1000,
    COUNTS = 7,
    LEAST = 16, /* actions; each row has twice as many as the one before */
    REPEATS = 5,
    SHORT = 1, /* steps of training; the difference of two fits is timed */
    LONG = 4
};

enum {
    SOLVE,
    STEP,
    PREDICT,
    BYTES,
    PRODUCT,
    DENSE,
    DENSE_PRODUCT,
    COLUMNS
};

static const double noise = 0.01, eps = 0.2;

/* ---- memory ---------------------------------------------------------------------------------------------- */

typedef struct counter {
    atomic_size_t now, most;
} counter;

static void *take(size_t bytes, void *user)
{
    counter *c = user;
    max_align_t *memory = malloc(bytes + sizeof *memory);
    if (!memory) return NULL;
    *(size_t *)memory = bytes;
    const size_t now = atomic_fetch_add(&c->now, bytes) + bytes;
    size_t most = atomic_load(&c->most);
    while (now > most && !atomic_compare_exchange_weak(&c->most, &most, now)) {
    }
    return memory + 1;
}

static void give(void *memory, void *user)
{
    if (!memory) return;
    max_align_t *start = (max_align_t *)memory - 1;
    atomic_fetch_sub(&((counter *)user)->now, *(size_t *)start);
    free(start);
}

/* ---- the problem ----------------------------------------------------------------------------------------- */

typedef struct workload {
    counter memory;
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    size_t n;
    double *x, *y, *asked, *out; /* out: mean, latent variance */
    double *a, *b, *c;           /* n x n, n x i, n x i of the products */
} workload;

static void workload_free(workload *p)
{
    hf_sites_free(p->sites);
    hf_kernel_free(p->kernel);
    hf_mean_free(p->mean);
    hf_context_free(p->ctx);
    free(p->x);
    free(p->a);
}

static bool draw(workload *p)
{
    draws d = {0x9e3779b97f4a7c15u};
    double *far = p->c;
    for (size_t k = 0; k < p->n * INPUTS; ++k) p->x[k] = draw_uniform(&d);
    for (size_t k = 0; k < ASKED * INPUTS; ++k) p->asked[k] = draw_uniform(&d);
    for (size_t i = 0; i < p->n; ++i) {
        const double *x = p->x + i * INPUTS;
        p->y[i] = sin(5.0 * x[0]) + x[1] * x[2] + 0.1 * draw_normal(&d);
        far[i] = fabs(p->y[i]);
    }
    const double threshold = quantile_of(far, p->n, 1.0 - eps);
    for (size_t i = 0; i < p->n; ++i) p->c[i] = 0.0;
    const bool ok = hf_sites_robust(p->ctx, p->n, p->y, noise, NULL, p->c, threshold, &p->sites) >= 0;
    const size_t most = (size_t)LEAST << (COUNTS - 1);
    for (size_t k = 0; k < p->n * p->n; ++k) p->a[k] = draw_uniform(&d);
    for (size_t k = 0; k < p->n * most; ++k) p->b[k] = draw_uniform(&d);
    return ok;
}

static bool workload_make(size_t n, workload *p)
{
    const size_t most = (size_t)LEAST << (COUNTS - 1);
    const double zero = 0.0;
    const hf_allocator counting = {take, give, &p->memory};
    p->n = n;
    p->ctx = hf_context_create_with(&counting);
    p->x = calloc(n * (INPUTS + 1) + ASKED * (INPUTS + 2), sizeof *p->x);
    p->a = calloc(n * (n + 2 * most), sizeof *p->a);
    if (!p->ctx || !p->x || !p->a) return false;
    p->y = p->x + n * INPUTS;
    p->asked = p->y + n;
    p->out = p->asked + ASKED * INPUTS;
    p->b = p->a + n * n;
    p->c = p->b + n * most;
    return hf_context_set_threads(p->ctx, 1) >= 0 &&
           hf_kernel_parse(p->ctx, "matern52(iso, lengthscale=0.4, outputscale=1)", NULL, INPUTS,
                           &p->kernel) >= 0 &&
           hf_mean_create(p->ctx, HF_MEAN_CONSTANT, INPUTS, &p->mean) >= 0 &&
           hf_mean_set(p->ctx, p->mean, &zero, true) >= 0 && draw(p);
}

/* ---- times ----------------------------------------------------------------------------------------------- */

static hf_status time_solve(workload *p, const hf_projection *how, double *seconds, double *bytes,
                            hf_posterior **out)
{
    hf_status status = HF_OK;
    *seconds = INFINITY;
    for (int repeat = 0; repeat < REPEATS && status >= 0; ++repeat) {
        hf_posterior_free(*out);
        *out = NULL;
        const size_t before = atomic_load(&p->memory.now);
        atomic_store(&p->memory.most, before);
        const double began = cpu_clock();
        status = hf_solve_projected(p->ctx, p->kernel, p->mean, p->sites, p->x, INPUTS, how, out, NULL);
        *seconds = fmin(*seconds, cpu_clock() - began);
        *bytes = (double)(atomic_load(&p->memory.most) - before);
    }
    return status;
}

static hf_status time_predict(workload *p, const hf_posterior *posterior, double *seconds)
{
    hf_status status = HF_OK;
    *seconds = INFINITY;
    for (int repeat = 0; repeat < REPEATS && status >= 0; ++repeat) {
        const double began = cpu_clock();
        status = hf_predict(p->ctx, posterior, ASKED, p->asked, INPUTS, p->out, p->out + ASKED, NULL);
        *seconds = fmin(*seconds, cpu_clock() - began);
    }
    return status;
}

/* A fit of `steps` steps of Adam with trained blocks, as printed but for the number of actions. */
static hf_status time_fit(workload *p, size_t count, size_t steps, double *seconds, size_t *evaluations)
{
    const hf_data data = {.n = p->n, .d = INPUTS, .x = p->x, .ldx = INPUTS, .y = p->y};
    hf_posterior *posterior = NULL;
    hf_fit_settings settings;
    hf_fit_report report;
    hf_status status = hf_fit_settings_preset(p->ctx, "rcagp-text", &settings, sizeof settings);
    if (status < 0) return status;
    settings.actions = count;
    settings.iterations = steps;
    const double began = cpu_clock();
    status = hf_fit_data(p->ctx, &data, &settings, &posterior, &report, NULL);
    *seconds = cpu_clock() - began;
    *evaluations = report.evaluations;
    hf_posterior_free(posterior);
    return status;
}

static hf_status time_step(workload *p, size_t count, double *seconds)
{
    double few = 0.0, many = 0.0;
    size_t least = 0, most = 0;
    hf_status status = time_fit(p, count, SHORT, &few, &least);
    if (status >= 0) status = time_fit(p, count, LONG, &many, &most);
    *seconds = (many - few) / (double)(most - least);
    return status;
}

/* The least time of A'B; A is k x m, B is k x n. */
static double time_product(size_t m, size_t n, size_t k, const double *a, const double *b, double *c)
{
    double seconds = INFINITY;
    for (int repeat = 0; repeat < REPEATS; ++repeat) {
        const double began = cpu_clock();
        hfi_gemm_tn(m, n, k, 1.0, a, k, b, k, 0.0, c, m);
        seconds = fmin(seconds, cpu_clock() - began);
    }
    return seconds;
}

static hf_status measure(workload *p, size_t count, double v[COLUMNS])
{
    const hf_projection blocks = {.size = sizeof blocks,
                                  .actions = HF_ACTIONS_BLOCKS,
                                  .count = count,
                                  .blocks = HF_BLOCKS_CONTIGUOUS,
                                  .start = HF_ACTION_START_PRECISION};
    const hf_projection dense = {
        .size = sizeof dense, .actions = HF_ACTIONS_INDUCING, .count = count, .choice = HF_INDUCING_FIRST};
    hf_posterior *posterior = NULL;
    double bytes = 0.0;
    hf_status status = time_solve(p, &blocks, v + SOLVE, v + BYTES, &posterior);
    if (status >= 0) status = time_predict(p, posterior, v + PREDICT);
    if (status >= 0) status = time_step(p, count, v + STEP);
    if (status >= 0) status = time_solve(p, &dense, v + DENSE, &bytes, &posterior);
    hf_posterior_free(posterior);
    v[PRODUCT] = time_product(count, count, p->n, p->b, p->b, p->c);
    v[DENSE_PRODUCT] = time_product(p->n, count, p->n, p->a, p->b, p->c);
    return status;
}

/* ---- report ---------------------------------------------------------------------------------------------- */

/* The slope of log v against log i by least squares, rows from..to. */
static double slope(double v[COUNTS][COLUMNS], size_t column, size_t from, size_t to)
{
    double sum = 0.0, squares = 0.0;
    const double middle = 0.5 * (double)(from + to);
    for (size_t k = from; k <= to; ++k) {
        const double by = ((double)k - middle);
        sum += by * log2(v[k][column]);
        squares += by * by;
    }
    return sum / squares;
}

static void print_slopes(double v[COUNTS][COLUMNS], size_t count, const size_t *columns)
{
    static const struct {
        const char *name;
        size_t from, to;
    } parts[] = {{"slope, 16 to 64", 0, 2}, {"slope, 256 to 1024", 4, 6}};
    for (size_t part = 0; part < 2; ++part) {
        printf("| %s |", parts[part].name);
        for (size_t k = 0; k < count; ++k)
            printf(" %.2f |", slope(v, columns[k], parts[part].from, parts[part].to));
        puts(" |");
    }
}

static void print_tables(size_t n, double v[COUNTS][COLUMNS])
{
    static const size_t blocks[] = {SOLVE, STEP, PREDICT, BYTES, PRODUCT}, dense[] = {DENSE, DENSE_PRODUCT};
    printf(
        "%zu readings, four inputs, one thread, seconds of processor time; `A'A` is a bare product, A of n "
        "rows and i columns. holdfast %s on %s.\n\n"
        "| i | solve, blocks | step of training | %d predictions | MB | A'A | solve / A'A |\n"
        "|---|---|---|---|---|---|---|\n",
        n, hf_version(), hf_blas_description(), ASKED);
    for (size_t k = 0; k < COUNTS; ++k)
        printf("| %d | %.4f | %.4f | %.4f | %.1f | %.4f | %.1f |\n", LEAST << k, v[k][SOLVE], v[k][STEP],
               v[k][PREDICT], 1e-6 * v[k][BYTES], v[k][PRODUCT], v[k][SOLVE] / v[k][PRODUCT]);
    print_slopes(v, sizeof blocks / sizeof *blocks, blocks);
    puts("\n`KA` is a bare product, K of n rows and columns.\n\n"
         "| i | solve, dense | KA | solve / KA |\n|---|---|---|---|");
    for (size_t k = 0; k < COUNTS; ++k)
        printf("| %d | %.4f | %.4f | %.2f |\n", LEAST << k, v[k][DENSE], v[k][DENSE_PRODUCT],
               v[k][DENSE] / v[k][DENSE_PRODUCT]);
    print_slopes(v, sizeof dense / sizeof *dense, dense);
}

int main(int argc, char **argv)
{
    long n = 4096;
    const option_row rows[] = {
        option_number("rows", "N", "readings (default 4096)", &n, LEAST << (COUNTS - 1), 20000)};
    options_read(argc, argv,
                 "usage: rcagp-complexity [option]...\n"
                 "What i actions cost, beside bare products of matrices.\n",
                 "rcagp-complexity --rows 2048", sizeof rows / sizeof *rows, rows);
    static workload p;
    static double values[COUNTS][COLUMNS];
    hf_status status = workload_make((size_t)n, &p) ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k < COUNTS && status >= 0; ++k) status = measure(&p, (size_t)LEAST << k, values[k]);
    if (status >= 0)
        print_tables((size_t)n, values);
    else
        fprintf(stderr, "rcagp-complexity: %s\n", p.ctx ? hf_context_message(p.ctx) : "out of memory");
    workload_free(&p);
    return status < 0 ? 1 : 0;
}
