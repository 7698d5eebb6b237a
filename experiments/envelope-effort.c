/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope-effort.c
 * @brief Figure 1, how 1200 arises, and how a bound that is stopped early compares with the optimum.
 *
 * - Figure 1: f = x^2 + 2 x on [-1.5, 0.5], squared exponential kernel of lengthscale 2, norm 8. On the
 *   right, two readings at one input that are off by
 *   all of the noise bound, up and down, leave f itself there; a bound that is half as much too large does
 *   not (Remark 4).
 * - The norm of the forced Henon map: what exact readings on a grid ask for, without and with 1e-8 on the
 *   diagonal of K; and that times the safety factor of 1.2 that the authors' other program has.
 * - Effort: mean width over a mesh of the envelope of Figure 2 (random, noise 1, the published program's
 *   readings). Each bound is started cold and stopped after so many changes of the active set.
 */
#include "common/env_bounds.h"
#include "common/env_henon.h"
#include "common/env_run.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum {
    SIDES = 5,
    EFFORTS = 9,
    MESH = 25
};

static const size_t sides[SIDES] = {8, 10, 12, 15, 20};
static const size_t efforts[EFFORTS] = {1, 2, 5, 10, 20, 30, 50, 100, 0};
static const char *const columns[] = {"first", "second", "third"};

typedef struct run {
    hf_context *ctx;
    env_rows rows;
} run;

/* ---- Figure 1 ------------------------------------------------------------------------------------------------- */

static double parabola(double x)
{
    return x * x + 2.0 * x;
}

/* The interval at the second input; `times` the noise bound that the readings were made with. */
static bool figure1(run *r, const char *name, size_t readings, double times)
{
    const double noise = 0.05, x[3] = {-1.2, 0.1327, 0.1327};
    const double y[3] = {parabola(x[0]), parabola(x[1]) + noise, parabola(x[2]) - noise};
    const env_problem p = {"se(lengthscale=2)",
                           {.n = readings, .x = x, .ldx = 1, .y = y, .noise_bound = times * noise},
                           8.0,
                           0.0};
    if (env_rows_find(&r->rows, name)) return true;
    env_bounds b = env_bounds_create(1);
    hf_envelope *envelope = env_problem_envelope(r->ctx, &p, name);
    const bool ok = envelope && env_optimal(r->ctx, envelope, 1, x + 1, &b);
    const double values[] = {ok ? b.lower[0] : NAN, ok ? b.upper[0] : NAN, parabola(x[1])};
    if (ok) env_rows_add(&r->rows, name, values);
    hf_envelope_free(envelope);
    env_bounds_free(&b);
    return ok;
}

static const struct {
    const char *name;
    size_t readings;
    double times;
} figures[] = {{"one reading, off by all of the bound", 2, 1.0},
               {"two readings, off by all of it, up and down", 3, 1.0},
               {"the same, noise bound 1.5 times as large", 3, 1.5}};

/* ---- the norm -------------------------------------------------------------------------------------------------- */

static bool norm_with(run *r, const char *expression, size_t n, size_t d, const double *x, const double *y,
                      double *out)
{
    hf_kernel *kernel = NULL;
    hf_norm_point point = {0};
    const hf_bounded_readings readings = {.n = n, .x = x, .ldx = d, .y = y};
    hf_status status = hf_kernel_parse(r->ctx, expression, NULL, d, &kernel);
    if (status >= 0) status = hf_norm_estimate(r->ctx, kernel, &readings, 1, &point);
    if (status < 0) fprintf(stderr, "norm: %s: %s\n", hf_status_name(status), hf_context_message(r->ctx));
    hf_kernel_free(kernel);
    *out = point.norm;
    return status >= 0;
}

static bool norms(run *r, size_t side)
{
    char name[64];
    snprintf(name, sizeof name, "norm, grid of %zu", side * side);
    if (env_rows_find(&r->rows, name)) return true;
    const size_t n = side * side;
    double values[3] = {(double)n, NAN, NAN}, *x = env_henon_mesh(side),
           *numbered = env_henon_numbered(x, n, 0.0, 1.0);
    env_set set = env_set_create(n, 0.0);
    for (size_t i = 0; i < n; ++i) set.y[i] = env_henon(x + 2 * i);
    const bool ok = norm_with(r, ENV_HENON_KERNEL, n, 2, x, set.y, &values[1]) &&
                    norm_with(r, ENV_HENON_PUBLISHED, n, 3, numbered, set.y, &values[2]);
    if (ok) env_rows_add(&r->rows, name, values);
    env_set_free(&set);
    free(numbered);
    free(x);
    return ok;
}

/* ---- effort ----------------------------------------------------------------------------------------------------- */

static void effort_name(size_t pivots, char *out, size_t size)
{
    if (pivots)
        snprintf(out, size, "effort, %zu", pivots);
    else
        snprintf(out, size, "effort, no limit");
}

static bool effort(run *r, const hf_envelope *envelope, const double *mesh, size_t pivots)
{
    const hf_envelope_limits limits = {.size = sizeof limits, .pivots = pivots};
    char name[64];
    double width = 0.0, taken = 0.0;
    effort_name(pivots, name, sizeof name);
    if (env_rows_find(&r->rows, name)) return true;
    hf_envelope_workspace *work = hf_envelope_workspace_create(r->ctx, envelope);
    const size_t m = (size_t)MESH * MESH;
    const clock_t begin = clock();
    hf_status status = work ? HF_OK : HF_ERR_MEMORY;
    for (size_t i = 0; i < m && status >= 0; ++i) {
        hf_bound b = {0};
        hf_envelope_workspace_reset(work);
        status = hf_envelope_bounds(envelope, work, mesh + 2 * i, &limits, &b, NULL, NULL);
        width += (b.upper - b.lower) / (double)m;
        taken += 0.5 * (double)b.pivots / (double)m;
    }
    const double values[] = {width, taken,
                             1e6 * (double)(clock() - begin) / CLOCKS_PER_SEC / (2.0 * (double)m)};
    hf_envelope_workspace_free(work);
    if (status >= 0) env_rows_add(&r->rows, name, values);
    return status >= 0;
}

static bool all_efforts(run *r)
{
    py_random stream;
    py_seed(&stream, 1);
    env_set set = env_henon_random(&stream, 100, 1.0);
    const env_problem p = {ENV_HENON_KERNEL, env_set_readings(&set, 1.0), ENV_HENON_NORM, 0.0};
    double *mesh = env_henon_mesh(MESH);
    hf_envelope *envelope = env_problem_envelope(r->ctx, &p, "readings");
    bool ok = envelope != NULL;
    for (size_t k = 0; ok && k < EFFORTS; ++k) ok = effort(r, envelope, mesh, efforts[k]);
    hf_envelope_free(envelope);
    free(mesh);
    env_set_free(&set);
    return ok;
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static bool work(void *state)
{
    run *r = state;
    bool ok = true;
    for (size_t k = 0; ok && k < sizeof figures / sizeof *figures; ++k)
        ok = figure1(r, figures[k].name, figures[k].readings, figures[k].times);
    for (size_t k = 0; ok && k < SIDES; ++k) ok = norms(r, sides[k]);
    return ok && all_efforts(r);
}

static void report(const void *state)
{
    const run *r = state;
    char name[64];
    puts("\n| Figure 1, at x = 0.1327 | f | lower | upper | width |\n|---|---|---|---|---|");
    for (size_t k = 0; k < sizeof figures / sizeof *figures; ++k) {
        const double *v = env_rows_find(&r->rows, figures[k].name);
        if (v) printf("| %s | %.6f | %.6f | %.6f | %.2g |\n", figures[k].name, v[2], v[0], v[1], v[1] - v[0]);
    }
    puts("\n| exact readings on a grid | norm that they ask for | with 1e-8 on the diagonal | that times 1.2 "
         "|\n|---|---|---|---|");
    for (size_t k = 0; k < SIDES; ++k) {
        snprintf(name, sizeof name, "norm, grid of %zu", sides[k] * sides[k]);
        const double *v = env_rows_find(&r->rows, name);
        if (v) printf("| %.0f | %.1f | %.1f | %.0f |\n", v[0], v[1], v[2], 1.2 * v[2]);
    }
    const double *best = env_rows_find(&r->rows, "effort, no limit");
    puts("\n| changes of the active set allowed | mean width | of the optimum | changes a bound | "
         "microseconds a bound |\n|---|---|---|---|---|");
    for (size_t k = 0; k < EFFORTS; ++k) {
        effort_name(efforts[k], name, sizeof name);
        const double *v = env_rows_find(&r->rows, name);
        if (v && best)
            printf("| %s | %.2f | %.3f | %.1f | %.0f |\n", name + 8, v[0], v[0] / best[0], v[1], v[2]);
    }
}

int main(int argc, char **argv)
{
    run r = {.rows = {.columns = columns, .width = 3}};
    const env_program program = {work, report, NULL, &r, &r.rows, &r.ctx, false};
    return env_run(argc, argv, "envelope-effort",
                   "Figure 1, how the norm bound arises, and bounds against effort.", "--json effort.jsonl",
                   0, NULL, &program);
}
