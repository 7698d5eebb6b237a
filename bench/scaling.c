/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file scaling.c
 * @brief One evaluation of each solver by the processes that mpirun started, one thread each. scripts/scaling
 * runs it and makes docs/scaling.md of it.
 *
 * Prints lines "what n numbers seconds", seconds the least of all repeats: of a fixed n and of one that grows
 * with the number of processes as much as the work of one process stays the same. "sum" is the group's
 * addition of that many numbers.
 */
#include "common/bench.h"
#include "kernel/kernel.h"
#include "linalg/grid.h"
#include "objective/evaluator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HF_WITH_MPI
#include <mpi.h>
#endif

enum {
    D = 8,
    INDUCING_ROWS = 8192,
    INDUCING = 256,
    PROJECTED_ROWS = 16384,
    ACTIONS = 64,
    EXACT_ROWS = 2048,
    SUM = 1 << 18
};

/* The task that is timed, and everything it needs. */
typedef struct job {
    hf_context *ctx;
    size_t n, repeats;
    double *x, *y;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    hfi_evaluator evaluator;
    double *room;
} job;

typedef void (*timed)(job *j);

static job make(hf_context *ctx, size_t n, size_t repeats)
{
    job j = {.ctx = ctx, .n = n, .repeats = repeats, .x = bench_doubles(n * D), .y = bench_doubles(n)};
    j.room = bench_doubles(n * (ACTIONS + 1) + SUM);
    bench_inputs(n, D, 1, j.x);
    bench_targets(n, D, j.x, j.y);
    j.kernel = bench_kernel(ctx, D);
    bench_must(ctx, hf_mean_create(ctx, HF_MEAN_CONSTANT, D, &j.mean), "mean");
    bench_must(ctx, hf_sites_gaussian(ctx, n, j.y, 0.1, NULL, &j.sites), "sites");
    return j;
}

static void give_model(job *j)
{
    j->evaluator.kernel = j->kernel;
    j->evaluator.mean = j->mean;
    j->evaluator.sites = j->sites;
    bench_must(j->ctx, hfi_evaluator_select(&j->evaluator), "selection");
}

static void drop(job *j)
{
    hfi_evaluator_free(&j->evaluator);
    hf_sites_free(j->sites);
    hf_mean_free(j->mean);
    hf_kernel_free(j->kernel);
    free(j->x);
    free(j->y);
    free(j->room);
}

/* The least time of all repeats; all processes begin together, and the work ends in sums that they wait for. */
static void report(job *j, const char *what, size_t numbers, timed work)
{
    double least = INFINITY;
    for (size_t k = 0; k <= j->repeats; ++k) {
        double ready = 1.0;
        bench_must(j->ctx, hfi_group_sum(j->ctx, 1, &ready), "sum");
        const double start = bench_now();
        work(j);
        if (k > 0) least = fmin(least, bench_now() - start);
    }
    if (hfi_group_rank(j->ctx) == 0) printf("%s %zu %zu %.6g\n", what, j->n, numbers, least);
    fflush(stdout);
}

static void evaluate(job *j)
{
    double value, gradient[D + 8];
    bench_must(j->ctx, hfi_evaluator_run(&j->evaluator, HF_OBJECTIVE_EVIDENCE, &value, gradient),
               "evaluation");
}

static void inducing(hf_context *ctx, size_t n, size_t repeats)
{
    job j = make(ctx, n, repeats);
    hfi_inducing points;
    bench_must(ctx, hfi_inducing_init(ctx, HF_INDUCING_VFE, INDUCING, D, j.x, D, &points), "inducing");
    bench_must(ctx, hfi_evaluator_init_inducing(ctx, &j.evaluator, n, D, j.x, D, &points), "evaluator");
    give_model(&j);
    report(&j, "inducing", INDUCING, evaluate);
    drop(&j);
}

static void product(job *j)
{
    size_t first[ACTIONS + 1];
    for (size_t a = 0; a <= ACTIONS; ++a) first[a] = j->n * a / ACTIONS;
    bench_must(j->ctx,
               hfi_kernel_block_product(j->ctx, j->kernel, j->n, j->x, D, ACTIONS, first, j->y, HFI_DOUBLE,
                                        j->room, j->n),
               "product");
}

static void projected(hf_context *ctx, size_t n, size_t repeats)
{
    job j = make(ctx, n, repeats);
    report(&j, "projected", ACTIONS, product);
    drop(&j);
}

static void exact(hf_context *ctx, size_t n, size_t repeats)
{
    job j = make(ctx, n, repeats);
    bench_must(ctx,
               hfi_grid_wanted(ctx, n) ? hfi_evaluator_init_group(ctx, &j.evaluator, false, n, D, j.x, D)
                                       : hfi_evaluator_init(ctx, &j.evaluator, false, n, D, j.x, D),
               "evaluator");
    give_model(&j);
    report(&j, "exact", n, evaluate);
    drop(&j);
}

static void add_one(job *j)
{
    bench_must(j->ctx, hfi_group_sum(j->ctx, 1, j->room), "sum");
}

static void add_many(job *j)
{
    bench_must(j->ctx, hfi_group_sum(j->ctx, SUM, j->room), "sum");
}

static void sums(hf_context *ctx, size_t repeats)
{
    job j = make(ctx, 1, 10 * repeats);
    memset(j.room, 0, SUM * sizeof *j.room);
    report(&j, "sum", 1, add_one);
    report(&j, "sum", SUM, add_many);
    drop(&j);
}

static void measure(hf_context *ctx, size_t repeats)
{
    const double p = (double)hfi_group_size(ctx);
    bench_must(ctx, hf_context_set_threads(ctx, 1), "threads");
    sums(ctx, repeats);
    inducing(ctx, INDUCING_ROWS, repeats);
    projected(ctx, PROJECTED_ROWS, repeats);
    exact(ctx, EXACT_ROWS, repeats);
    if (p == 1.0) { /* what does not shrink with the rows */
        inducing(ctx, INDUCING_ROWS / 4, repeats);
        return;
    }
    inducing(ctx, (size_t)(INDUCING_ROWS * p), repeats);
    projected(ctx, (size_t)(PROJECTED_ROWS * sqrt(p)), repeats);
    exact(ctx, (size_t)(EXACT_ROWS * cbrt(p)), repeats);
}

int main(int argc, char **argv)
{
    const size_t repeats = bench_repeats(argc, argv, 5);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
#ifdef HF_WITH_MPI
    hf_group group;
    int support = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &support) != MPI_SUCCESS) return 1;
    bench_must(ctx, hf_group_mpi(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &group), "group");
    bench_must(ctx, hf_context_set_group(ctx, &group), "group");
#endif
    measure(ctx, repeats);
    hf_context_free(ctx);
#ifdef HF_WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
