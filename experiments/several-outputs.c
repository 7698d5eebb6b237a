/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file several-outputs.c
 * @brief Three correlated outputs with gaps and wrong readings, tables of any size: what is found, how well
 * the functions are recovered, seconds.
 *
 * Functions of two inputs on [0, 10]^2 that mix three waves, of size 10, 20 and 30; noise 0.05, 0.08 and 0.11
 * of that; every tenth reading is missing and a share of the others are 2 to 5 sizes too low.
 */
#include "common/clock.h"
#include "common/draws.h"
#include "common/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    OUTPUTS = 3,
    COLUMNS = 3 /* two inputs and the number of the output */
};

typedef struct table {
    size_t n, wrong;
    double *x, *y, *truth;
    bool *bad;
    size_t *sample;
} table;

static const double size_of[OUTPUTS] = {10.0, 20.0, 30.0}, noise_of[OUTPUTS] = {0.05, 0.08, 0.11};

static void functions(double a, double b, double f[OUTPUTS])
{
    const double u = sin(a) * cos(0.5 * b), v = cos(0.7 * a + b), w = sin(0.09 * a * b);
    f[0] = u + 0.3 * v;
    f[1] = 0.8 * u - 0.4 * v + 0.2 * w;
    f[2] = -0.5 * u + 0.6 * v;
}

static bool make(size_t samples, double share, uint64_t seed, table *t)
{
    const size_t most = samples * OUTPUTS;
    draws d = {.state = seed};
    *t = (table){.x = malloc(most * COLUMNS * sizeof *t->x),
                 .y = malloc(most * sizeof *t->y),
                 .truth = malloc(most * sizeof *t->truth),
                 .bad = calloc(most, sizeof *t->bad),
                 .sample = malloc(most * sizeof *t->sample)};
    if (!t->x || !t->y || !t->truth || !t->bad || !t->sample) return false;
    for (size_t i = 0; i < samples; i++) {
        const double a = 10.0 * draw_uniform(&d), b = 10.0 * draw_uniform(&d);
        double f[OUTPUTS];
        functions(a, b, f);
        for (size_t o = 0; o < OUTPUTS; o++) {
            if (draw_uniform(&d) < 0.1) continue;
            const size_t k = t->n++;
            t->x[k * COLUMNS] = a;
            t->x[k * COLUMNS + 1] = b;
            t->x[k * COLUMNS + 2] = (double)o;
            t->sample[k] = i;
            t->truth[k] = size_of[o] * f[o];
            t->y[k] = t->truth[k] + size_of[o] * noise_of[o] * draw_normal(&d);
            t->bad[k] = draw_uniform(&d) < share;
            if (t->bad[k]) t->y[k] -= size_of[o] * (2.0 + 3.0 * draw_uniform(&d));
            t->wrong += t->bad[k] ? 1 : 0;
        }
    }
    return true;
}

static void drop(table *t)
{
    free(t->x);
    free(t->y);
    free(t->truth);
    free(t->bad);
    free(t->sample);
}

/* One row of the table that is printed. */
static bool report(hf_context *ctx, const table *t, const hf_posterior *posterior, const hf_reading *reading,
                   const hf_fit_report *fit, const char *preset)
{
    double *mean = malloc((t->n + 1) * sizeof *mean), *var = malloc((t->n + 1) * sizeof *var);
    const bool ok = mean && var && hf_predict(ctx, posterior, t->n, t->x, COLUMNS, mean, NULL, var) >= 0;
    double squares[OUTPUTS] = {0};
    size_t count[OUTPUTS] = {0}, found = 0, alarms = 0, covered = 0;
    for (size_t i = 0; ok && i < t->n; i++) {
        const size_t o = (size_t)t->x[i * COLUMNS + 2];
        const double error = (mean[i] - t->truth[i]) / size_of[o];
        squares[o] += error * error;
        count[o]++;
        found += t->bad[i] && reading[i].suspected;
        alarms += !t->bad[i] && reading[i].suspected;
        covered += !t->bad[i] && fabs(t->y[i] - mean[i]) <= 1.96 * sqrt(var[i]);
    }
    if (ok) {
        printf("| %zu | %s | %s | %.1f | %zu/%zu | %zu |", t->n, hf_enum_name(HF_ENUM_SOLVER, fit->solver),
               preset, fit->seconds, found, t->wrong, alarms);
        for (size_t o = 0; o < OUTPUTS; o++) printf(" %.4f", sqrt(squares[o] / (double)count[o]));
        printf(" |");
        for (size_t o = 0; o < OUTPUTS; o++)
            printf(" %.3f", sqrt(hf_posterior_output_noise(posterior, o)) / size_of[o]);
        printf(" | %.3f |\n", (double)covered / (double)(t->n - t->wrong));
    }
    free(mean);
    free(var);
    return ok;
}

static bool run(hf_context *ctx, const table *t, const char *preset, const char *solver)
{
    hf_fit_settings settings;
    hf_fit_report fit;
    hf_posterior *posterior = NULL;
    hf_reading *reading = malloc((t->n + 1) * sizeof *reading);
    const hf_data data = {.n = t->n,
                          .d = COLUMNS,
                          .x = t->x,
                          .ldx = COLUMNS,
                          .y = t->y,
                          .outputs = OUTPUTS,
                          .sample = t->sample};
    hf_status s = reading ? hf_fit_settings_preset(ctx, preset, &settings, sizeof settings) : HF_ERR_MEMORY;
    if (s >= 0 && solver) s = hf_enum_parse(ctx, HF_ENUM_SOLVER, solver, &settings.solver);
    if (s >= 0) s = hf_fit_data(ctx, &data, &settings, &posterior, &fit, reading);
    if (s != HF_OK) fprintf(stderr, "%s: %s\n", preset, hf_context_message(ctx));
    const bool ok = s >= 0 && report(ctx, t, posterior, reading, &fit, preset);
    hf_posterior_free(posterior);
    free(reading);
    return ok;
}

static bool preset_known(const char *name)
{
    hf_fit_settings settings;
    return hf_fit_settings_preset(NULL, name, &settings, sizeof settings) >= 0;
}

int main(int argc, char **argv)
{
    long samples = 300, per_cent = 5, seed = 1;
    words presets = {0};
    const char *solver = NULL;
    const option_row rows[] = {
        option_number("samples", "N", "rows of three outputs (default 300)", &samples, 4, 1000000),
        option_number("wrong", "P", "per cent of the readings that are wrong (default 5)", &per_cent, 0, 45),
        option_list("presets", "LIST", "of the tool's (default default,morcgp,mogp)", &presets,
                    "default,morcgp,mogp", preset_known),
        option_text("solver", "S", "of exact,inducing,projected (default: by the number of readings)",
                    &solver),
        option_number("seed", "K", "of the draws (default 1)", &seed, 0, 1000000)};
    options_read(argc, argv,
                 "usage: several-outputs [option]...\n"
                 "Three correlated outputs with gaps and wrong readings.\n",
                 "several-outputs --samples 3000 --presets default", sizeof rows / sizeof rows[0], rows);
    table t = {0};
    hf_context *ctx = hf_context_create();
    bool ok = ctx && make((size_t)samples, 0.01 * (double)per_cent, (uint64_t)seed, &t);
    if (!ok) {
        fputs("several-outputs: out of memory\n", stderr);
    } else {
        puts("| readings | solver | preset | seconds | found | falsely suspected | RMSE of the functions | "
             "noise sd (0.05 0.08 0.11) | cover 95 |\n"
             "|---|---|---|---|---|---|---|---|---|");
        for (size_t k = 0; k < presets.count; k++) ok = run(ctx, &t, presets.items[k], solver) && ok;
    }
    drop(&t);
    hf_context_free(ctx);
    return ok ? 0 : 1;
}
