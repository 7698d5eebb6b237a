/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope-example3.c
 * @brief Example 3: is a planned sequence of feeds safe? A box for every step of a stirred-tank reactor, from readings of earlier runs.
 *
 * A model of one step, learned from 400 noisy readings, plans eight feeds (common/env_control.h). Where the reactor is after k steps is a function of the state it starts in and
 * of the k feeds; for each k and each of the two concentrations that function has an envelope, from 800 earlier plans that were carried out and read with noise uniform within
 * 0.05, bound 0.06. Kernels are squared exponential with one lengthscale, chosen among 2, 2.1, ..., 5 by the squared error of five contiguous folds of 400 noise-free
 * runs; the norm is 1.2 times what those runs ask for, sqrt(y'(K + 1e-5 I)^-1 y). The boxes are for the plan from (2.7, 0.544).
 *
 * Differences from the published program: the plant is integrated to the sampling instants exactly; the model of a step knows the variance of its noise (with --interpolate it is
 * told 1e-8, as there); random numbers are others, and so are the runs that lengthscales and norms are from, which here are plans too.
 */
#include "common/env_bounds.h"
#include "common/env_control.h"
#include "common/env_nlp.h"
#include "common/env_published.h"
#include "common/env_rows.h"
#include "common/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUTS = REACTOR_STATES + CONTROL_STEPS,
    FOLDS = 5
};

typedef enum column {
    FEED,
    STATE,
    OPTIMAL = STATE + REACTOR_STATES, /* low and high of each state */
    CLOSED = OPTIMAL + 2 * REACTOR_STATES,
    LENGTHSCALE = CLOSED + 2 * REACTOR_STATES,
    NORM = LENGTHSCALE + REACTOR_STATES,
    COLUMNS = NORM + REACTOR_STATES
} column;

static const char *const columns[COLUMNS] = {"feed",
                                             "cA",
                                             "cB",
                                             "cA_low",
                                             "cA_high",
                                             "cB_low",
                                             "cB_high",
                                             "cA_closed_low",
                                             "cA_closed_high",
                                             "cB_closed_low",
                                             "cB_closed_high",
                                             "cA_lengthscale",
                                             "cB_lengthscale",
                                             "cA_norm",
                                             "cB_norm"};
static const double noise = 0.05, bound = 0.06, safety = 1.2, own_jitter = 1e-5, ridge = 1e-7;
static const double start[REACTOR_STATES] = {2.7, 0.544};

/* Runs of the plant: initial state and feeds (INPUTS numbers each), and the states after each step. */
typedef struct runs {
    size_t n;
    double *x;
    double *y; /* n x CONTROL_STEPS x REACTOR_STATES */
} runs;

typedef struct run {
    hf_context *ctx;
    long initial, samples, steps;
    bool ipopt, interpolate;
    env_rows rows;
    control_model model;
    size_t failed; /* plans that the solver did not finish */
} run;

static void *reserve(size_t count)
{
    void *p = malloc((count + 1) * sizeof(double));
    if (!p) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static void runs_free(runs *r)
{
    free(r->x);
    free(r->y);
}

/* ---- data ----------------------------------------------------------------------------------------------------------------------- */

static void carry_out(const double *input, size_t steps, double *states)
{
    double x[REACTOR_STATES] = {input[0], input[1]};
    for (size_t k = 0; k < steps; ++k) {
        reactor_step(x, input[REACTOR_STATES + k], x);
        memcpy(states + REACTOR_STATES * k, x, sizeof x);
    }
}

/* Plans from the n states of a grid a little inside the constraints, carried out and read with noise within `level`. */
static runs planned(run *r, py_random *stream, size_t n, double level)
{
    const double low[REACTOR_STATES] = {reactor_low[0] / 0.92, reactor_low[1] / 0.92},
                 high[REACTOR_STATES] = {reactor_high[0] * 0.92, reactor_high[1] * 0.92};
    const size_t steps = (size_t)r->steps;
    runs out = {.n = n, .x = reserve(n * INPUTS), .y = reserve(n * CONTROL_STEPS * REACTOR_STATES)};
    double *states = control_grid(stream, n, REACTOR_STATES, low, high);
    for (size_t i = 0; i < n; ++i) {
        double *input = out.x + i * INPUTS, *y = out.y + i * CONTROL_STEPS * REACTOR_STATES;
        memcpy(input, states + i * REACTOR_STATES, REACTOR_STATES * sizeof *input);
        if (!control_solve(&r->model, input, steps, r->ipopt, input + REACTOR_STATES)) r->failed += 1;
        carry_out(input, steps, y);
        for (size_t k = 0; k < steps * REACTOR_STATES; ++k) y[k] += py_between(stream, -level, level);
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

/* ---- lengthscale and norm ------------------------------------------------------------------------------------------------------ */

/* Sum of squared errors over contiguous folds; NaN when a fit fails. */
static double fold_error(hf_context *ctx, size_t n, size_t d, const double *x, const double *y,
                         double lengthscale)
{
    double *kept = reserve(n * d), *read = reserve(n), *mean = reserve(n), sum = 0.0;
    for (size_t f = 0; f < FOLDS; ++f) {
        const size_t from = f * n / FOLDS, to = (f + 1) * n / FOLDS, count = n - (to - from);
        memcpy(kept, x, from * d * sizeof *kept);
        memcpy(kept + from * d, x + to * d, (n - to) * d * sizeof *kept);
        memcpy(read, y, from * sizeof *read);
        memcpy(read + from, y + to, (n - to) * sizeof *read);
        hf_posterior *fit =
            control_fit(ctx, count, d, kept, read, lengthscale, own_jitter + ridge * (double)count);
        const bool good = fit && hf_predict(ctx, fit, to - from, x + from * d, d, mean, NULL, NULL) >= 0;
        if (!good) sum = NAN;
        for (size_t i = from; good && i < to; ++i) sum += (mean[i - from] - y[i]) * (mean[i - from] - y[i]);
        hf_posterior_free(fit);
    }
    free(kept);
    free(read);
    free(mean);
    return sum;
}

static double choose_lengthscale(hf_context *ctx, size_t n, size_t d, const double *x, const double *y)
{
    double best = NAN, least = INFINITY;
    for (int i = 20; i <= 50; ++i) {
        const double error = fold_error(ctx, n, d, x, y, 0.1 * i);
        if (error < least) {
            least = error;
            best = 0.1 * i;
        }
    }
    return best;
}

/* sqrt(y'(K + jitter I)^-1 y): at most the norm of any function through the readings. The residuals of a posterior are jitter times what (K + jitter I)^-1 makes of y. */
static double ask_norm(hf_context *ctx, size_t n, size_t d, const double *x, const double *y,
                       double lengthscale)
{
    double *mean = reserve(n), sum = 0.0;
    hf_posterior *fit = control_fit(ctx, n, d, x, y, lengthscale, own_jitter);
    const bool good = fit && hf_predict(ctx, fit, n, x, d, mean, NULL, NULL) >= 0;
    if (!good) sum = NAN;
    for (size_t i = 0; good && i < n; ++i) sum += y[i] * (y[i] - mean[i]) / own_jitter;
    hf_posterior_free(fit);
    free(mean);
    return sqrt(sum);
}

/* ---- the boxes ------------------------------------------------------------------------------------------------------------------ */

/* Bounds on state j after k steps at the plan. */
static bool certify(run *r, const runs *read, const runs *sound, const double *plan, size_t k, size_t j,
                    double *values)
{
    const size_t d = REACTOR_STATES + k, n = read->n > sound->n ? read->n : sound->n;
    double *x = reserve(n * d), *y = reserve(n);
    char kernel[64];
    as_table(sound, k, j, x, y);
    const double lengthscale = choose_lengthscale(r->ctx, sound->n, d, x, y),
                 norm = safety * ask_norm(r->ctx, sound->n, d, x, y, lengthscale);
    as_table(read, k, j, x, y);
    snprintf(kernel, sizeof kernel, "se(lengthscale=%.17g)", lengthscale);
    const env_problem p = {
        kernel, {.n = read->n, .x = x, .ldx = d, .y = y, .noise = bound}, norm, own_jitter};
    env_bounds optimal = env_bounds_create(1), closed = env_bounds_create(1);
    hf_envelope *envelope = isfinite(norm) ? env_problem_envelope(r->ctx, &p, kernel) : NULL;
    const double smoothest = envelope ? hf_envelope_minimum_norm(envelope) : NAN;
    const env_published how = {own_jitter, ridge * (double)read->n, -smoothest * smoothest};
    const bool ok = envelope && env_optimal(r->ctx, envelope, 1, plan, &optimal) &&
                    env_published_closed(r->ctx, &p, &how, 1, plan, &closed);
    values[OPTIMAL + 2 * j] = optimal.lower[0];
    values[OPTIMAL + 2 * j + 1] = optimal.upper[0];
    values[CLOSED + 2 * j] = closed.lower[0];
    values[CLOSED + 2 * j + 1] = closed.upper[0];
    values[LENGTHSCALE + j] = lengthscale;
    values[NORM + j] = norm;
    hf_envelope_free(envelope);
    env_bounds_free(&optimal);
    env_bounds_free(&closed);
    free(x);
    free(y);
    return ok;
}

static void step_name(size_t k, char *out, size_t size)
{
    snprintf(out, size, "step %zu", k);
}

static bool boxes(run *r, const runs *read, const runs *sound)
{
    const size_t steps = (size_t)r->steps;
    double plan[INPUTS] = {start[0], start[1]}, states[CONTROL_STEPS * REACTOR_STATES];
    bool ok = true;
    if (!control_solve(&r->model, start, steps, r->ipopt, plan + REACTOR_STATES)) r->failed += 1;
    carry_out(plan, steps, states);
    for (size_t k = 1; ok && k <= steps; ++k) {
        char name[64];
        double values[COLUMNS];
        values[FEED] = plan[REACTOR_STATES + k - 1];
        for (size_t j = 0; ok && j < REACTOR_STATES; ++j) {
            values[STATE + j] = states[(k - 1) * REACTOR_STATES + j];
            ok = certify(r, read, sound, plan, k, j, values);
        }
        step_name(k, name, sizeof name);
        if (ok) env_rows_add(&r->rows, name, values);
    }
    return ok;
}

static bool work(run *r)
{
    const double lengthscales[REACTOR_STATES] = {4.0, 4.0};
    py_random stream;
    char name[64];
    step_name((size_t)r->steps, name, sizeof name);
    if (env_rows_find(&r->rows, name)) return true;
    py_seed(&stream, 1);
    const double var = r->interpolate ? 1e-8 : noise * noise / 3.0;
    bool ok = control_model_create(r->ctx, &stream, (size_t)r->samples, noise, var, lengthscales, &r->model);
    if (ok) {
        runs sound = planned(r, &stream, (size_t)r->samples, 0.0),
             read = planned(r, &stream, (size_t)r->initial, noise);
        ok = boxes(r, &read, &sound);
        runs_free(&sound);
        runs_free(&read);
        printf(
            "Plans by %s; of %ld, %zu were not finished to the solver's tolerance and taken as they were.\n",
            r->ipopt ? "Ipopt" : "NLopt (SLSQP)", r->initial + r->samples + 1, r->failed);
    }
    control_model_free(&r->model);
    return ok;
}

/* ---- what is printed ---------------------------------------------------------------------------------------------------------- */

static double area(const double *box)
{
    return (box[1] - box[0]) * (box[3] - box[2]);
}

static bool holds(const double *box, const double *v)
{
    return box[0] <= v[STATE] && v[STATE] <= box[1] && box[2] <= v[STATE + 1] && v[STATE + 1] <= box[3];
}

static bool safe(const double *box)
{
    return box[0] >= reactor_low[0] && box[1] <= reactor_high[0] && box[2] >= reactor_low[1] &&
           box[3] <= reactor_high[1];
}

static void report(const run *r)
{
    double sum[2] = {0.0};
    size_t count = 0, inside = 0, certified[2] = {0};
    puts("\n| step | feed | cA | cB | optimal: cA | cB | area | closed form: cA | cB | area | lengthscales | "
         "norms |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t k = 1; k <= (size_t)r->steps; ++k) {
        char name[64];
        step_name(k, name, sizeof name);
        const double *v = env_rows_find(&r->rows, name);
        if (!v) continue;
        const double *optimal = v + OPTIMAL, *closed = v + CLOSED;
        printf(
            "| %zu | %.2f | %.4f | %.4f | %.3f to %.3f | %.3f to %.3f | %.4f | %.3f to %.3f | %.3f to %.3f | "
            "%.4f | %.1f, %.1f | %.0f, %.0f |\n",
            k, v[FEED], v[STATE], v[STATE + 1], optimal[0], optimal[1], optimal[2], optimal[3], area(optimal),
            closed[0], closed[1], closed[2], closed[3], area(closed), v[LENGTHSCALE], v[LENGTHSCALE + 1],
            v[NORM], v[NORM + 1]);
        sum[0] += area(optimal);
        sum[1] += area(closed);
        count += 1;
        inside += holds(optimal, v) && holds(closed, v);
        certified[0] += safe(optimal);
        certified[1] += safe(closed);
    }
    if (count)
        printf("\nMean area: optimal %.4f (printed 0.0741), closed form %.4f (printed 0.1780). The reactor "
               "is in both boxes at %zu of "
               "%zu steps; boxes within the constraints: optimal %zu, closed form %zu.\n",
               sum[0] / (double)count, sum[1] / (double)count, inside, count, certified[0], certified[1]);
}

static void print_boxes(FILE *out, const run *r, int first, const char *colour)
{
    for (size_t k = 1; k <= (size_t)r->steps; ++k) {
        char name[64];
        step_name(k, name, sizeof name);
        const double *v = env_rows_find(&r->rows, name);
        if (!v) continue;
        const double *b = v + first;
        fprintf(out,
                "set object %zu rectangle from %.6g,%.6g to %.6g,%.6g fc rgb '%s' fs transparent solid 0.15 "
                "border lc rgb '%s'\n",
                k, b[0], b[2], b[1], b[3], colour, colour);
    }
}

static void print_trace(FILE *out, int state)
{
    fprintf(out,
            "unset object\nset xlabel 'step'\nset xrange [-0.3:8.3]\nset ylabel '%s' offset 1\nset yrange "
            "[%s]\nset key top right\nplot %g with lines dt 2 lc rgb "
            "'#a03030' notitle, %g with lines dt 2 lc rgb '#a03030' notitle, $s using 1:%d:%d with "
            "filledcurves fc rgb '#cde6d0' title 'closed form', "
            "$s using 1:%d:%d with filledcurves fc rgb '#8fb4d9' title 'optimal', $s using 1:%d with "
            "linespoints pt 7 ps 0.5 lw 1.5 lc rgb '#202020' title "
            "'reactor'\n",
            state ? "c_B" : "c_A", state ? "0.3:1.4" : "0.8:3.2", reactor_low[state], reactor_high[state],
            8 + 2 * state, 9 + 2 * state, 4 + 2 * state, 5 + 2 * state, 2 + state);
}

static bool draw_picture(const run *r, const char *stem)
{
    static const char *const titles[2] = {"optimal", "closed form"};
    static const char *const colours[2] = {"#1f4e79", "#4dac6e"};
    picture p;
    picture_begin(&p);
    fprintf(p.script, "$s << EOD\n0 %g %g %g %g %g %g %g %g %g %g\n", start[0], start[1], start[0], start[0],
            start[1], start[1], start[0], start[0], start[1], start[1]);
    for (size_t k = 1; k <= (size_t)r->steps; ++k) {
        char name[64];
        step_name(k, name, sizeof name);
        const double *v = env_rows_find(&r->rows, name);
        if (!v) continue;
        fprintf(p.script, "%zu", k);
        for (int i = STATE; i < LENGTHSCALE; ++i) fprintf(p.script, " %.6g", v[i]);
        fputc('\n', p.script);
    }
    fputs("EOD\nset multiplot layout 2,2 margins 0.07,0.985,0.09,0.95 spacing 0.08,0.13\nset style fill "
          "solid\n",
          p.script);
    for (int i = 0; i < 2; ++i) {
        print_boxes(p.script, r, i ? CLOSED : OPTIMAL, colours[i]);
        fprintf(p.script,
                "set title '%s'\nset xlabel 'c_A'\nset ylabel 'c_B' offset 1\nset xrange [0.9:3.1]\nset "
                "yrange [0.3:1.4]\nset arrow 1 from 1,0.5 to 3,0.5 nohead "
                "dt 2 lc rgb '#a03030'\nset arrow 2 from 3,0.5 to 3,1.4 nohead dt 2 lc rgb '#a03030'\nset "
                "arrow 3 from 1,0.5 to 1,1.4 nohead dt 2 lc rgb "
                "'#a03030'\nplot $s using 2:3 with linespoints pt 7 ps 0.5 lw 1.5 lc rgb '#202020' notitle, "
                "'+' using (%g):(%g) every ::0::0 with points pt 3 ps 1.2 lc "
                "rgb '#c02020' title 'target'\nunset object\n",
                titles[i], reactor_target[0], reactor_target[1]);
    }
    fputs("unset arrow\nunset title\n", p.script);
    for (int state = 0; state < REACTOR_STATES; ++state) print_trace(p.script, state);
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 1100, 820);
}

static bool solver_known(const char *name)
{
    return strcmp(name, "nlopt") == 0 || (strcmp(name, "ipopt") == 0 && env_nlp_ipopt());
}

int main(int argc, char **argv)
{
    env_options options = {0};
    words solver = {.count = 0};
    run r = {.initial = 800,
             .samples = 400,
             .steps = CONTROL_STEPS,
             .rows = {.columns = columns, .width = COLUMNS}};
    option_row rows[ENV_OPTIONS + 4] = {
        {.name = "initial",
         .value = "N",
         .help = "initial states of the runs that are read (default 800)",
         .number = &r.initial,
         .least = 10,
         .most = 20000},
        {.name = "samples",
         .value = "N",
         .help = "for the model of a step, lengthscales and norms (default 400)",
         .number = &r.samples,
         .least = 20,
         .most = 5000},
        {.name = "steps",
         .value = "N",
         .help = "ahead (default 8)",
         .number = &r.steps,
         .least = 1,
         .most = CONTROL_STEPS},
        {.name = "solver",
         .value = "NAME",
         .help = "nlopt, or ipopt where the build found it, which then is the default",
         .list = &solver,
         .known = solver_known},
        {.name = "interpolate",
         .help = "the model of a step goes through its noisy readings, as the published one",
         .flag = &r.interpolate}};
    const size_t count = 5 + env_options_rows(&options, true, rows + 5);
    options_read(argc, argv,
                 "usage: envelope-example3 [option]...\n"
                 "Example 3: boxes that surely hold a reactor along a plan.\n",
                 "envelope-example3 --json example3.jsonl --picture example3", count, rows);
    r.ctx = hf_context_create();
    r.rows.path = options.json;
    r.ipopt = solver.count ? strcmp(solver.items[0], "ipopt") == 0 : env_nlp_ipopt();
    if (options.jobs) hf_context_set_threads(r.ctx, (int)options.jobs);
    bool ok = env_rows_load(&r.rows);
    if (ok && !options.report) ok = work(&r);
    if (ok) report(&r);
    if (ok && options.picture) ok = draw_picture(&r, options.picture);
    env_rows_free(&r.rows);
    hf_context_free(r.ctx);
    return ok ? 0 : 1;
}
