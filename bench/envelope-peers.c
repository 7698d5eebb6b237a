/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope-peers.c
 * @brief Optimal bounds on one thread beside Ipopt (where the build found it) and cvxopt (where Python has
 * it), on the problems of envelope.c.
 *
 * Both are interior-point methods and get the problem in the form in which they solve it fastest; what can be
 * made before a query's clock starts (factors, inverses) is. All stop at 1e-8. A ratio is printed only where
 * the bounds are the same to AGREED times G. Times are of the processor, for each of the two bounds.
 */
#include "common/bench.h"
#include "common/bounded.h"
#include "common/bounded_ipopt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    QUERIES = 20,
    PATH = 1000
};

#define LENGTHSCALE "0.3"
#define AGREED      1e-6

typedef struct setting {
    const char *name;
    double noise; /* share of the largest |f| */
    size_t n, queries;
} setting;

static const setting settings[] = {
    {"Matern-5/2, noise 0.05", 0.05, 100, QUERIES}, {"Matern-5/2, noise 0.05", 0.05, 300, QUERIES},
    {"Matern-5/2, noise 0.05", 0.05, 1000, 2},      {"Matern-5/2, noise 1e-4", 1e-4, 100, QUERIES},
    {"Matern-5/2, noise 1e-4", 1e-4, 300, QUERIES}, {"Matern-5/2, noise 1e-4", 1e-4, 1000, 2},
};

typedef struct task {
    const setting *setting;
    bounded data;
    double query[QUERIES * BOUNDED_D];
    double lower[QUERIES], upper[QUERIES]; /* ours */
} task;

typedef struct peer {
    size_t answers;
    double seconds, iterations; /* of a bound, on average */
    double worst;               /* largest difference from ours over G */
} peer;

static void note(const task *t, size_t q, double lower, double upper, double seconds, double iterations,
                 peer *p)
{
    const double off = (fabs(lower - t->lower[q]) + fabs(upper - t->upper[q])) / t->data.norm;
    p->answers++;
    p->seconds += seconds / (double)t->setting->queries;
    p->iterations += iterations / (double)t->setting->queries;
    p->worst = isnan(off) ? INFINITY : fmax(p->worst, off); /* fmax() would pass over a missing bound */
}

/* ---- ours -------------------------------------------------------------------------------------------------------- */

typedef struct ours {
    hf_envelope *envelope;
    hf_envelope_workspace *workspace;
    timings cold, path;
} ours;

static void time_ours(task *t, ours *o, size_t repeats)
{
    for (size_t k = 0; k <= repeats; ++k) {
        hf_bound bound;
        double x[BOUNDED_D];
        const double first = bounded_seconds();
        for (size_t q = 0; q < t->setting->queries; ++q) {
            hf_envelope_workspace_reset(o->workspace);
            (void)hf_envelope_bounds(o->envelope, o->workspace, t->query + q * BOUNDED_D, NULL, &bound, NULL,
                                     NULL);
            t->lower[q] = bound.lower;
            t->upper[q] = bound.upper;
        }
        const double second = bounded_seconds();
        for (size_t q = 0; q < PATH; ++q) {
            bounded_path(q, PATH, x);
            (void)hf_envelope_bounds(o->envelope, o->workspace, x, NULL, &bound, NULL, NULL);
        }
        if (k == 0) continue; /* pages are touched for the first time */
        bench_add(&o->cold, 0.5 * (second - first) / (double)t->setting->queries);
        bench_add(&o->path, 0.5 * (bounded_seconds() - second) / PATH);
    }
}

/* ---- Ipopt ------------------------------------------------------------------------------------------------------- */

static void gram(hf_context *ctx, const task *t, const double *query, double *k)
{
    const size_t n = t->data.n;
    double *points = bench_doubles((n + 1) * BOUNDED_D);
    memcpy(points, t->data.x, n * BOUNDED_D * sizeof *points);
    memcpy(points + n * BOUNDED_D, query, BOUNDED_D * sizeof *points);
    bench_must(ctx, hf_kernel_gram(ctx, t->data.kernel, n + 1, points, BOUNDED_D, k, n + 1), "gram");
    free(points);
}

/* Lower triangle by columns of a := a^-1, which is the upper one by rows of what is given: symmetric, so both. */
static void invert(size_t n, double *a)
{
    const int order = (int)n;
    int info = 0;
    dpotrf_("L", &order, a, &order, &info, 1);
    if (info == 0) dpotri_("L", &order, a, &order, &info, 1);
    if (info == 0) return;
    fputs("the matrix of covariances is singular\n", stderr);
    exit(1);
}

/* Values at readings and query of K (K + noise^2 I)^-1 y: a start that is nearly allowed. */
static void smooth(const task *t, const double *k, double *start)
{
    const size_t n = t->data.n;
    double *a = bench_doubles(n * n);
    for (size_t i = 0; i < n; ++i) {
        memcpy(a + i * n, k + i * (n + 1), n * sizeof *a);
        a[i * n + i] += t->data.noise * t->data.noise;
    }
    invert(n, a);
    memset(start, 0, (n + 1) * sizeof *start);
    for (size_t i = 0; i < n; ++i) {
        double weight = 0.0;
        for (size_t j = 0; j < n; ++j) weight += a[i < j ? i * n + j : j * n + i] * t->data.y[j];
        for (size_t j = 0; j <= n; ++j) start[j] += weight / t->data.norm * k[i * (n + 1) + j];
    }
    free(a);
}

static peer time_ipopt(hf_context *ctx, const task *t)
{
    const size_t n = t->data.n, order = n + 1;
    double *inverse = bench_doubles(order * order), *low = bench_doubles(n), *high = bench_doubles(n),
           *start = bench_doubles(order);
    peer p = {0};
    for (size_t i = 0; i < n; ++i) {
        low[i] = (t->data.y[i] - t->data.noise) / t->data.norm;
        high[i] = (t->data.y[i] + t->data.noise) / t->data.norm;
    }
    for (size_t q = 0; bounded_has_ipopt() && q < t->setting->queries; ++q) {
        const bounded_program program = {n, inverse, low, high, start};
        gram(ctx, t, t->query + q * BOUNDED_D, inverse);
        smooth(t, inverse, start);
        invert(order, inverse);
        const bounded_answer down = bounded_ipopt(&program, HF_LOWER), up = bounded_ipopt(&program, HF_UPPER);
        note(t, q, down.value * t->data.norm, up.value * t->data.norm, 0.5 * (down.seconds + up.seconds),
             0.5 * (down.iterations + up.iterations), &p);
    }
    free(inverse);
    free(low);
    free(high);
    free(start);
    return p;
}

/* ---- cvxopt ------------------------------------------------------------------------------------------------------ */

static void write_problem(const task *t, FILE *file)
{
    const bounded *b = &t->data;
    fprintf(file, "%zu %zu " LENGTHSCALE " %.17g\n", b->n, t->setting->queries, b->norm);
    for (size_t i = 0; i < b->n; ++i)
        fprintf(file, "%.17g %.17g %.17g %.17g\n", b->x[i * BOUNDED_D], b->x[i * BOUNDED_D + 1],
                b->y[i] - b->noise, b->y[i] + b->noise);
    for (size_t i = 0; i < t->setting->queries * BOUNDED_D; ++i) fprintf(file, "%.17g\n", t->query[i]);
}

static void time_cvxopt(const task *t, peer *chol, peer *own)
{
    const char *source = getenv("HF_SOURCE");
    char name[] = "/tmp/envelope-peers-XXXXXX", command[1024], way[8];
    double lower, upper, seconds, iterations;
    size_t lines = 0;
    const int descriptor = mkstemp(name);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    *chol = *own = (peer){0};
    if (!file) return;
    write_problem(t, file);
    (void)fclose(file);
    snprintf(command, sizeof command,
             "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 /usr/bin/python3 '%s/bench/peer_envelope.py' %s",
             source ? source : ".", name);
    FILE *pipe = popen(command, "r");
    while (pipe && lines < 2 * t->setting->queries &&
           fscanf(pipe, "%7s %lf %lf %lf %lf", way, &lower, &upper, &seconds, &iterations) == 5) {
        note(t, lines / 2, lower, upper, seconds, iterations, strcmp(way, "own") == 0 ? own : chol);
        lines++;
    }
    if (pipe) pclose(pipe);
    (void)unlink(name);
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static void print_peer(const task *t, const char *name, const peer *p, double cold, double path)
{
    printf("| %s | %zu | %.4f | %.4f | %s |", t->setting->name, t->setting->n, 1e3 * cold, 1e3 * path, name);
    if (p->answers < t->setting->queries)
        puts(" - | - | - | - | - |");
    else if (p->worst <= AGREED)
        printf(" %.1f | %.0f | %.0e | %.0f | %.0f |\n", 1e3 * p->seconds, p->iterations, p->worst,
               p->seconds / cold, p->seconds / path);
    else
        printf(" %.1f | %.0f | %.0e | - | - |\n", 1e3 * p->seconds, p->iterations, p->worst);
    (void)fflush(stdout);
}

static void report(hf_context *ctx, const setting *s, size_t repeats)
{
    task t = {.setting = s,
              .data = bounded_make(ctx, "matern52(lengthscale=" LENGTHSCALE ")", s->n, s->noise)};
    const hf_bounded_readings readings = {
        .n = s->n, .x = t.data.x, .ldx = BOUNDED_D, .y = t.data.y, .noise_bound = t.data.noise};
    ours o = {0};
    peer chol, own;
    bench_inputs(s->queries, BOUNDED_D, 5, t.query);
    bench_must(ctx, hf_envelope_create(ctx, t.data.kernel, &readings, t.data.norm, NULL, &o.envelope),
               "envelope");
    o.workspace = hf_envelope_workspace_create(ctx, o.envelope);
    if (!o.workspace) exit(1);
    time_ours(&t, &o, repeats);
    const peer ipopt = time_ipopt(ctx, &t);
    time_cvxopt(&t, &chol, &own);
    time_ours(&t, &o, repeats); /* on both sides of the others: a busy moment hits ours too */
    const double cold = bench_median(&o.cold), path = bench_median(&o.path);
    print_peer(&t, "Ipopt", &ipopt, cold, path);
    print_peer(&t, "cvxopt, chol", &chol, cold, path);
    print_peer(&t, "cvxopt, own", &own, cold, path);
    hf_envelope_workspace_free(o.workspace);
    hf_envelope_free(o.envelope);
    bounded_free(&t.data);
}

int main(int argc, char **argv)
{
    const size_t repeats = bench_repeats(argc, argv, 5);
    hf_context *ctx = hf_context_create();
    if (!ctx) return 1;
    bench_must(ctx, hf_context_set_threads(ctx, 1), "threads");
    (void)bench_bare_threads(1);
    printf("One thread, two inputs, %s\n\n", hf_blas_description());
    puts("| kernel, noise | n | cold, ms | on a path, ms | other | other, ms | iterations | difference / G "
         "| other / cold | other / path |\n|---|---|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; ++i) report(ctx, &settings[i], repeats);
    puts("\nAim: the others at least 100 times slower.");
    hf_context_free(ctx);
    return 0;
}
