/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope-example3.c
 * @brief Example 3: are planned sequences of feeds safe? A box for every step of a stirred-tank reactor, from
 * readings of earlier runs.
 *
 * A model of one step, learned from 400 noisy readings, plans eight feeds (common/env_control.h). Where the
 * reactor is after k steps is a function of the state it starts in and of the k feeds; for each k and each of
 * the two concentrations that function has an envelope. It comes from 800 earlier plans that were carried out and read
 * with noise uniform within 0.05, bound 0.06. Kernels are squared exponential with one lengthscale, from five
 * contiguous folds of 400 noise-free runs; the norm is 1.2 times what those runs ask for, sqrt(y'(K + 1e-5 I)^-1 y).
 * The boxes are for the plans from four states; the printed areas are means over the eight boxes of all four.
 *
 * As the published program does: the 400 runs are from corners of the box of states and feeds, so that after
 * k < 8 steps only 2^(k+2) inputs are different, each of them read often; and states are read late
 * (common/env_late.h), by a time that depends on feeds to come. So the same input was read with different
 * results, and it is the norms that account for that which the printed areas are made of. With --exact the
 * plant is read at the sampling instants.
 *
 * Differences from the published program: a plan's states are eliminated from the optimisation, and the state
 * shown beside a box is the one at the instant.
 */
#include "common/env_bounds.h"
#include "common/env_boxes.h"
#include "common/env_choose.h"
#include "common/env_control.h"
#include "common/env_late.h"
#include "common/env_matlab.h"
#include "common/env_nlp.h"
#include "common/env_published.h"
#include "common/env_run.h"
#include "common/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUTS = REACTOR_STATES + CONTROL_STEPS
};

static const double noise = 0.05, bound = 0.06, safety = 1.2, own_jitter = 1e-5, ridge = 1e-7,
                    model_jitter = 1e-8;
/* Runs of the plant: initial state and feeds (INPUTS numbers each), and the states after each step. */
typedef struct runs {
    size_t n;
    double *x;
    double *y; /* n x CONTROL_STEPS x REACTOR_STATES */
} runs;

/* Knowledge about the map to a state after some steps. */
typedef struct known {
    double lengthscale, norm;
} known;

typedef struct run {
    hf_context *ctx;
    long initial, samples, steps;
    words solver;
    bool ipopt, exact;
    env_rows rows;
    known known[CONTROL_STEPS][REACTOR_STATES];
    control_model model;
    size_t failed; /* plans that the solver did not finish */
} run;

static void runs_free(runs *r)
{
    free(r->x);
    free(r->y);
}

/* ---- data ---------------------------------------------------------------------------------------------- */

static void carry_out(const double *input, size_t steps, double *states)
{
    double x[REACTOR_STATES] = {input[0], input[1]};
    for (size_t k = 0; k < steps; ++k) {
        reactor_step(x, input[REACTOR_STATES + k], x);
        memcpy(states + REACTOR_STATES * k, x, sizeof x);
    }
}

static void read_run(const run *r, const double *input, double *states)
{
    if (r->exact)
        carry_out(input, (size_t)r->steps, states);
    else
        reactor_late(input, input + REACTOR_STATES, (size_t)r->steps, states);
}

static runs runs_create(size_t n)
{
    return (runs){.n = n,
                  .x = room(n * INPUTS, sizeof(double)),
                  .y = room(n * CONTROL_STEPS * REACTOR_STATES, sizeof(double))};
}

/* From corners of the box of states and feeds (for few feeds: from a grid in it), without noise. */
static runs cornered(const run *r)
{
    const size_t d = REACTOR_STATES + (size_t)r->steps;
    double low[INPUTS] = {reactor_low[0], reactor_low[1]}, high[INPUTS] = {reactor_high[0], reactor_high[1]};
    py_random stream;
    runs out = runs_create((size_t)r->samples);
    for (size_t j = REACTOR_STATES; j < d; ++j) {
        low[j] = REACTOR_FEED_LOW;
        high[j] = REACTOR_FEED_HIGH;
    }
    double *grid = matlab_grid(&stream, out.n, d, low, high);
    for (size_t i = 0; i < out.n; ++i) {
        memcpy(out.x + i * INPUTS, grid + i * d, d * sizeof *grid);
        read_run(r, out.x + i * INPUTS, out.y + i * CONTROL_STEPS * REACTOR_STATES);
    }
    free(grid);
    return out;
}

/* Plans from the states of a grid a little inside the constraints, carried out and read with noise. */
static runs planned(run *r)
{
    const double low[REACTOR_STATES] = {reactor_low[0] / 0.92, reactor_low[1] / 0.92},
                 high[REACTOR_STATES] = {reactor_high[0] * 0.92, reactor_high[1] * 0.92};
    const size_t steps = (size_t)r->steps;
    py_random stream;
    runs out = runs_create((size_t)r->initial);
    double *states = matlab_grid(&stream, out.n, REACTOR_STATES, low, high);
    for (size_t i = 0; i < out.n; ++i) {
        double *input = out.x + i * INPUTS, *y = out.y + i * CONTROL_STEPS * REACTOR_STATES;
        memcpy(input, states + i * REACTOR_STATES, REACTOR_STATES * sizeof *input);
        if (!control_solve(&r->model, input, steps, r->ipopt, input + REACTOR_STATES)) r->failed += 1;
        read_run(r, input, y);
        for (size_t k = 0; k < steps * REACTOR_STATES; ++k) y[k] += py_between(&stream, -noise, noise);
    }
    free(states);
    return out;
}

/* Inputs (n x d) and outputs (n) of the map to state j after k steps. */
static void as_table(const runs *all, size_t k, size_t j, double *x, double *y)
{
    const size_t d = REACTOR_STATES + k;
    for (size_t i = 0; i < all->n; ++i) {
        memcpy(x + i * d, all->x + i * INPUTS, d * sizeof *x);
        y[i] = all->y[(i * CONTROL_STEPS + k - 1) * REACTOR_STATES + j];
    }
}

/* Lengthscales and norms of all maps. */
static bool learn(run *r)
{
    runs sound = cornered(r);
    const size_t n = sound.n;
    double *x = room(n * INPUTS, sizeof(double)), *y = room(n, sizeof(double));
    bool ok = true;
    for (size_t k = 1; k <= (size_t)r->steps; ++k)
        for (size_t j = 0; ok && j < REACTOR_STATES; ++j) {
            const size_t d = REACTOR_STATES + k;
            known *map = &r->known[k - 1][j];
            as_table(&sound, k, j, x, y);
            map->lengthscale = env_choose_lengthscale(r->ctx, n, d, x, y, own_jitter + ridge * (double)n);
            map->norm = safety * env_ask_norm(r->ctx, n, d, x, y, map->lengthscale, own_jitter);
            ok = isfinite(map->norm);
        }
    free(x);
    free(y);
    runs_free(&sound);
    return ok;
}

/* ---- the boxes ----------------------------------------------------------------------------------------- */

/* Bounds on state j after k steps at the BOX_STARTS plans, into their rows. */
static bool certify(run *r, const runs *read, const double (*plans)[INPUTS], size_t k, size_t j,
                    box_values *values)
{
    const size_t d = REACTOR_STATES + k;
    const known *map = &r->known[k - 1][j];
    double *x = room(read->n * d, sizeof(double)), *y = room(read->n, sizeof(double)),
           queries[BOX_STARTS * INPUTS];
    char kernel[64];
    as_table(read, k, j, x, y);
    for (size_t i = 0; i < BOX_STARTS; ++i) memcpy(queries + i * d, plans[i], d * sizeof *queries);
    snprintf(kernel, sizeof kernel, "se(lengthscale=%.17g)", map->lengthscale);
    const env_problem p = {
        kernel, {.n = read->n, .x = x, .ldx = d, .y = y, .noise_bound = bound}, map->norm, own_jitter};
    env_bounds optimal = env_bounds_create(BOX_STARTS), closed = env_bounds_create(BOX_STARTS);
    hf_envelope *envelope = env_problem_envelope(r->ctx, &p, kernel);
    const double smoothest = envelope ? hf_envelope_minimum_norm(envelope) : NAN;
    const env_published how = {own_jitter, ridge * (double)read->n, -smoothest * smoothest};
    const bool ok = envelope && env_optimal(r->ctx, envelope, BOX_STARTS, queries, &optimal) &&
                    env_published_closed(r->ctx, &p, &how, BOX_STARTS, queries, &closed);
    for (size_t i = 0; ok && i < BOX_STARTS; ++i) {
        values[i][BOX_OPTIMAL + 2 * j] = optimal.lower[i];
        values[i][BOX_OPTIMAL + 2 * j + 1] = optimal.upper[i];
        values[i][BOX_CLOSED + 2 * j] = closed.lower[i];
        values[i][BOX_CLOSED + 2 * j + 1] = closed.upper[i];
        values[i][BOX_LENGTHSCALE + j] = map->lengthscale;
        values[i][BOX_NORM + j] = map->norm;
    }
    hf_envelope_free(envelope);
    env_bounds_free(&optimal);
    env_bounds_free(&closed);
    free(x);
    free(y);
    return ok;
}

static bool boxes(run *r, const runs *read)
{
    const size_t steps = (size_t)r->steps;
    double plans[BOX_STARTS][INPUTS], states[BOX_STARTS][CONTROL_STEPS * REACTOR_STATES];
    bool ok = true;
    for (size_t i = 0; i < BOX_STARTS; ++i) {
        memcpy(plans[i], box_starts[i], sizeof box_starts[i]);
        if (!control_solve(&r->model, box_starts[i], steps, r->ipopt, plans[i] + REACTOR_STATES))
            r->failed += 1;
        carry_out(plans[i], steps, states[i]);
    }
    for (size_t k = 1; ok && k <= steps; ++k) {
        box_values values[BOX_STARTS];
        for (size_t j = 0; ok && j < REACTOR_STATES; ++j)
            ok = certify(r, read, (const double(*)[INPUTS])plans, k, j, values);
        for (size_t i = 0; ok && i < BOX_STARTS; ++i) {
            char name[64];
            values[i][BOX_FEED] = plans[i][REACTOR_STATES + k - 1];
            memcpy(values[i] + BOX_STATE, states[i] + (k - 1) * REACTOR_STATES,
                   REACTOR_STATES * sizeof(double));
            if (!boxes_find(&r->rows, i, k, name)) env_rows_add(&r->rows, name, values[i]);
        }
    }
    return ok;
}

static bool work(void *state)
{
    run *r = state;
    const double var = model_jitter + ridge * (double)r->samples;
    double lengthscales[REACTOR_STATES];
    char name[64];
    if (boxes_find(&r->rows, BOX_STARTS - 1, (size_t)r->steps, name)) return true;
    r->ipopt = strcmp(r->solver.items[0], "ipopt") == 0;
    bool ok = learn(r);
    for (size_t j = 0; j < REACTOR_STATES; ++j) lengthscales[j] = r->known[0][j].lengthscale;
    ok = ok && control_model_create(r->ctx, (size_t)r->samples, noise, var, lengthscales, &r->model);
    if (ok) {
        runs read = planned(r);
        ok = boxes(r, &read);
        runs_free(&read);
        printf(
            "Plans by %s; of %ld, %zu were not finished to the solver's tolerance and taken as they were.\n",
            r->ipopt ? "Ipopt" : "NLopt (SLSQP)", r->initial + BOX_STARTS, r->failed);
    }
    control_model_free(&r->model);
    return ok;
}

static bool solver_known(const char *name)
{
    return strcmp(name, "nlopt") == 0 || (strcmp(name, "ipopt") == 0 && env_nlp_ipopt());
}

static void report(const void *state)
{
    const run *r = state;
    boxes_report(&r->rows, (size_t)r->steps);
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    return boxes_picture(&r->rows, (size_t)r->steps, stem);
}

int main(int argc, char **argv)
{
    run r = {.initial = 800,
             .samples = 400,
             .steps = CONTROL_STEPS,
             .rows = {.columns = box_columns, .width = BOX_COLUMNS}};
    const option_row options[] = {
        option_number("initial", "N", "initial states of the runs that are read (default 800)", &r.initial,
                      10, 20000),
        option_number("samples", "N", "for the model of a step, and for lengthscales and norms (default 400)",
                      &r.samples, 20, 5000),
        option_number("steps", "N", "ahead (default 8)", &r.steps, 1, CONTROL_STEPS),
        option_list("solver", "NAME", "nlopt, or ipopt where the build found it, which then is the default",
                    &r.solver, env_nlp_ipopt() ? "ipopt" : "nlopt", solver_known),
        option_flag("exact",
                    "the plant is read at the sampling instants, not late as by the published program",
                    &r.exact)};
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, false};
    return env_run(
        argc, argv, "envelope-example3", "Example 3: boxes that surely hold a reactor along plans.",
        "--json example3.jsonl --picture example3", sizeof options / sizeof *options, options, &program);
}
