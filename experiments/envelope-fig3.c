/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope-fig3.c
 * @brief Figure 3: envelopes of the forced Henon map along z1 = -3: optimal, closed forms, ellipsoid.
 *
 * 100 readings with uniform noise 1, on a grid or at random; norm 1200. The closed form is Proposition 3
 * around kernel ridge regression with lambda = 1e-2 (times n). The grid of the authors is public (with 1e-5
 * on the diagonal of K, as they had it); random points are drawn here, from several seeds.
 */
#include "common/env_bounds.h"
#include "common/env_henon.h"
#include "common/env_published.h"
#include "common/env_run.h"
#include "common/picture.h"

#include <math.h>
#include <stdlib.h>

enum {
    READINGS = 100
};

typedef enum method {
    OPTIMAL,
    CLOSED,
    MINIMUM_NORM,
    ELLIPSOID,
    OPTIMAL_CODED,
    CLOSED_CODED,
    METHODS
} method;

static const char *const columns[METHODS] = {"optimal",   "closed",        "minimum_norm",
                                             "ellipsoid", "optimal_coded", "closed_coded"};
static const double slice = -3.0, noise = 1.0, authors_jitter = 1e-5, authors_ridge = 1e-2;

typedef struct run {
    hf_context *ctx;
    const char *data;
    long seeds, points;
    env_rows rows;
} run;

static double *slice_points(size_t m)
{
    double *x = malloc((2 * m + 1) * sizeof *x);
    if (!x) exit(1);
    for (size_t i = 0; i < m; ++i) {
        x[2 * i] = slice;
        x[2 * i + 1] = -10.0 + 20.0 * (double)i / (double)(m - 1);
    }
    return x;
}

/* The two that the authors plot, with their jitter. */
static bool as_coded(hf_context *ctx, const env_problem *p, size_t m, const double *x, env_bounds *optimal,
                     env_bounds *closed)
{
    env_problem jittered = *p;
    jittered.jitter = authors_jitter;
    hf_envelope *envelope = env_problem_envelope(ctx, &jittered, "readings, 1e-5 on K");
    if (!envelope) return false;
    const double smoothest = hf_envelope_minimum_norm(envelope);
    const env_published how = {.jitter = authors_jitter,
                               .ridge = authors_ridge * (double)p->readings.n,
                               .square = -smoothest * smoothest};
    const bool ok =
        env_optimal(ctx, envelope, m, x, optimal) && env_published_closed(ctx, p, &how, m, x, closed);
    hf_envelope_free(envelope);
    return ok;
}

/* All envelopes along the slice. */
static bool envelopes(hf_context *ctx, const env_set *set, size_t m, const double *x, env_bounds out[METHODS])
{
    const env_problem p = {ENV_HENON_KERNEL, env_set_readings(set, noise), ENV_HENON_NORM, 0.0};
    hf_envelope *envelope = env_problem_envelope(ctx, &p, "readings");
    hf_closed_settings settings = hf_closed_settings_default();
    settings.ridge = authors_ridge;
    const bool ok = envelope && env_optimal(ctx, envelope, m, x, &out[OPTIMAL]) &&
                    env_closed(ctx, envelope, HF_CLOSED_RIDGE, &settings, m, x, &out[CLOSED]) &&
                    env_closed(ctx, envelope, HF_CLOSED_MINIMUM_NORM, NULL, m, x, &out[MINIMUM_NORM]) &&
                    env_closed(ctx, envelope, HF_CLOSED_ELLIPSOID, NULL, m, x, &out[ELLIPSOID]) &&
                    as_coded(ctx, &p, m, x, &out[OPTIMAL_CODED], &out[CLOSED_CODED]);
    hf_envelope_free(envelope);
    return ok;
}

static bool measure(run *r, const env_set *set, const char *name)
{
    const size_t m = (size_t)r->points;
    double *x = slice_points(m), values[METHODS];
    env_bounds all[METHODS];
    for (size_t k = 0; k < METHODS; ++k) all[k] = env_bounds_create(m);
    const bool ok = envelopes(r->ctx, set, m, x, all);
    for (size_t k = 0; k < METHODS; ++k) {
        values[k] = ok ? env_mean_width(&all[k]) : NAN;
        env_bounds_free(&all[k]);
    }
    if (ok) env_rows_add(&r->rows, name, values);
    free(x);
    return ok;
}

static env_set draw(bool random, uint32_t seed)
{
    py_random stream;
    py_seed(&stream, seed);
    return random ? env_henon_random(&stream, READINGS, noise) : env_henon_grid(&stream, 10, noise);
}

static bool work(void *state)
{
    run *r = state;
    env_set set;
    bool ok = true;
    if (env_henon_authors(r->ctx, r->data, &set, NULL, NULL)) {
        if (!env_rows_find(&r->rows, "authors")) ok = measure(r, &set, "authors");
        env_set_free(&set);
    } else {
        printf("The authors' data are not in %s (--data DIR): left out.\n", r->data);
    }
    for (int random = 0; random < 2; ++random)
        for (long seed = 0; ok && seed < r->seeds; ++seed) {
            char name[64];
            snprintf(name, sizeof name, "%s, seed %ld", random ? "random" : "grid", seed);
            if (env_rows_find(&r->rows, name)) continue;
            set = draw(random != 0, (uint32_t)seed);
            ok = measure(r, &set, name);
            env_set_free(&set);
        }
    return ok;
}

static void print_seeds(const run *r, const char *layout)
{
    double sum[METHODS] = {0}, squares[METHODS] = {0};
    size_t count = 0;
    for (long seed = 0; seed < r->seeds; ++seed) {
        char name[64];
        snprintf(name, sizeof name, "%s, seed %ld", layout, seed);
        const double *v = env_rows_find(&r->rows, name);
        for (size_t k = 0; v && k < METHODS; ++k) {
            sum[k] += v[k];
            squares[k] += v[k] * v[k];
        }
        count += v != NULL;
    }
    if (!count) return;
    printf("| %s |", layout);
    for (size_t k = 0; k < METHODS; ++k) {
        const double mean = sum[k] / (double)count;
        printf(" %.2f ± %.2f |", mean, sqrt(fmax(0.0, squares[k] / (double)count - mean * mean)));
    }
    printf(" %zu |\n", count);
}

static void report(const void *state)
{
    const run *r = state;
    const double *v = env_rows_find(&r->rows, "authors");
    puts("\n| average width along z1 = -3 | optimal | closed form, ridge | closed form, minimum norm | "
         "ellipsoid | optimal, 1e-5 on K | closed form, ridge, "
         "1e-5 on K | draws |\n|---|---|---|---|---|---|---|---|\n"
         "| printed: grid | | | | | 8.93 | 21.13 | 1 |\n| printed: random | | | | | 18.96 | 34.62 | 1 |");
    if (v) {
        printf("| the authors' grid |");
        for (size_t k = 0; k < METHODS; ++k) printf(" %.2f |", v[k]);
        puts(" 1 |");
    }
    print_seeds(r, "grid");
    print_seeds(r, "random");
}

/* ---- picture ------------------------------------------------------------------------------------------- */

static void print_panel(FILE *out, const char *title, size_t m, const double *x, const env_bounds *all)
{
    fputs("$curves << EOD\n", out);
    for (size_t i = 0; i < m; ++i)
        fprintf(out, "%.5g %.6g %.6g %.6g %.6g %.6g %.6g %.6g\n", x[2 * i + 1], env_henon(x + 2 * i),
                all[OPTIMAL].lower[i], all[OPTIMAL].upper[i], all[CLOSED].lower[i], all[CLOSED].upper[i],
                all[ELLIPSOID].lower[i], all[ELLIPSOID].upper[i]);
    fprintf(out,
            "EOD\nset title '%s'\nplot $curves using 1:5:6 with filledcurves fc rgb '#cde6d0' title 'closed "
            "form (%.1f)', \\\n"
            " $curves using 1:7:8 with filledcurves fc rgb '#f3d9a4' title 'ellipsoid (%.1f)', \\\n"
            " $curves using 1:3:4 with filledcurves fc rgb '#8fb4d9' title 'optimal (%.1f)', \\\n"
            " $curves using 1:5 with lines lw 1 lc rgb '#4dac6e' notitle, $curves using 1:6 with lines lw 1 "
            "lc rgb '#4dac6e' notitle, \\\n"
            " $curves using 1:7 with lines lw 1 lc rgb '#e0a030' notitle, $curves using 1:8 with lines lw 1 "
            "lc rgb '#e0a030' notitle, \\\n"
            " $curves using 1:2 with lines lw 1.5 dt 2 lc rgb '#202020' title 'function'\n",
            title, env_mean_width(&all[CLOSED]), env_mean_width(&all[ELLIPSOID]),
            env_mean_width(&all[OPTIMAL]));
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    enum {
        FINE = 201
    };
    picture p;
    bool ok = true;
    double *x = slice_points(FINE);
    picture_begin(&p);
    fputs("set multiplot layout 1,2 margins 0.06,0.985,0.12,0.92 spacing 0.06\nset xlabel 'z_2'\nset xrange "
          "[-10:10]\nset yrange "
          "[-70:50]\nset key top left Left reverse\nset ylabel 'along z_1 = -3' offset 1\n",
          p.script);
    for (int random = 0; ok && random < 2; ++random) {
        env_set set = draw(random != 0, 0);
        env_bounds all[METHODS];
        for (size_t k = 0; k < METHODS; ++k) all[k] = env_bounds_create(FINE);
        ok = envelopes(r->ctx, &set, FINE, x, all);
        if (ok) print_panel(p.script, random ? "100 random points" : "grid of 10 x 10", FINE, x, all);
        for (size_t k = 0; k < METHODS; ++k) env_bounds_free(&all[k]);
        env_set_free(&set);
        fputs("unset key\nunset ylabel\nset key top left Left reverse\n", p.script);
    }
    fputs("unset multiplot\n", p.script);
    free(x);
    return picture_draw(&p, stem, 1200, 480) && ok;
}

int main(int argc, char **argv)
{
    run r = {.seeds = 20, .points = 101, .rows = {.columns = columns, .width = METHODS}};
    const option_row options[] = {
        env_henon_option(&r.data),
        option_number("seeds", "N", "draws of each kind (default 20)", &r.seeds, 0, 10000),
        option_number("points", "N", "queries along the slice (default 101)", &r.points, 2, 100000)};
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, false};
    return env_run(argc, argv, "envelope-fig3", "Figure 3: optimal and closed-form envelopes along a slice.",
                   "--json fig3.jsonl --picture fig3", sizeof options / sizeof *options, options, &program);
}
