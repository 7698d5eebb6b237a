/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope-norm.c
 * @brief Appendix A and Figure 7: the norm that readings ask for, as they become more.
 *
 * Two functions on [-10, 10]^2 under the squared exponential kernel with lengthscale 5, read at random
 * points, the same ones at every noise level:
 *
 * - sum: 25 kernel functions with random centres and normal weights, so that the norm is known (as in Figure 7);
 * - henon: the forced Henon map of the first two examples. It grows beyond all bounds away from the origin,
 *   which no function in the space of this kernel does. Their values on the square determine those functions: no norm
 *   is enough for the map itself, only for functions near it.
 *
 * Every reading is known within the noise bound; the norm is that of the smoothest function within all of them.
 */
#include "common/env_bounds.h"
#include "common/env_henon.h"
#include "common/env_run.h"
#include "common/picture.h"

#include <math.h>

enum {
    NOISES = 4,
    TERMS = 25,
    POINTS = 12,
    FUNCTIONS = 2
};

static const char *const names[FUNCTIONS] = {"sum", "henon"};
static const double noises[NOISES] = {1e-4, 1e-2, 1e-1, 1.0};
static const char *const columns[] = {"readings", "norm"};

typedef struct run {
    hf_context *ctx;
    long readings, seed;
    double centres[2 * TERMS], weights[TERMS], norm;
    env_rows rows;
} run;

static double kernel_at(const double *a, const double *b)
{
    const double u = a[0] - b[0], v = a[1] - b[1];
    return exp(-(u * u + v * v) / 50.0);
}

static void make_sum(run *r)
{
    py_random stream;
    double square = 0.0;
    py_seed(&stream, 7);
    for (size_t i = 0; i < TERMS; ++i) {
        r->centres[2 * i] = py_between(&stream, -10.0, 10.0);
        r->centres[2 * i + 1] = py_between(&stream, -10.0, 10.0);
        r->weights[i] = py_normal(&stream, 0.0, 10.0);
    }
    for (size_t i = 0; i < TERMS; ++i)
        for (size_t j = 0; j < TERMS; ++j)
            square += r->weights[i] * r->weights[j] * kernel_at(r->centres + 2 * i, r->centres + 2 * j);
    r->norm = sqrt(square);
}

static double value(const run *r, size_t function, const double *z)
{
    double sum = 0.0;
    if (function == 1) return env_henon(z);
    for (size_t i = 0; i < TERMS; ++i) sum += r->weights[i] * kernel_at(r->centres + 2 * i, z);
    return sum;
}

static void point_name(size_t function, double noise, size_t point, char *out, size_t size)
{
    snprintf(out, size, "%s, noise %g, point %zu", names[function], noise, point);
}

/* The same points and the same noise, scaled, at every level. */
static env_set draw(const run *r, size_t function, double noise)
{
    py_random stream;
    env_set set = env_set_create((size_t)r->readings, noise);
    py_seed(&stream, (uint32_t)r->seed);
    for (size_t i = 0; i < set.n; ++i) {
        set.x[2 * i] = py_between(&stream, -10.0, 10.0);
        set.x[2 * i + 1] = py_between(&stream, -10.0, 10.0);
        set.y[i] = value(r, function, set.x + 2 * i) + py_between(&stream, -noise, noise);
    }
    return set;
}

static bool curve(run *r, size_t function, double noise)
{
    char name[64];
    hf_norm_point points[POINTS];
    hf_kernel *kernel = NULL;
    point_name(function, noise, POINTS - 1, name, sizeof name);
    if (env_rows_find(&r->rows, name)) return true;
    env_set set = draw(r, function, noise);
    const hf_bounded_readings readings = env_set_readings(&set, noise);
    hf_status status = hf_kernel_parse(r->ctx, ENV_HENON_KERNEL, NULL, 2, &kernel);
    if (status >= 0) status = hf_norm_estimate(r->ctx, kernel, &readings, POINTS, points);
    if (status < 0)
        fprintf(stderr, "%s, noise %g: %s: %s\n", names[function], noise, hf_status_name(status),
                hf_context_message(r->ctx));
    for (size_t k = 0; status >= 0 && k < POINTS; ++k) {
        const double values[] = {(double)points[k].readings, points[k].norm};
        point_name(function, noise, k, name, sizeof name);
        env_rows_add(&r->rows, name, values);
    }
    hf_kernel_free(kernel);
    env_set_free(&set);
    return status >= 0;
}

static bool work(void *state)
{
    run *r = state;
    bool ok = true;
    for (size_t f = 0; ok && f < FUNCTIONS; ++f)
        for (size_t j = 0; ok && j < NOISES; ++j) ok = curve(r, f, noises[j]);
    return ok;
}

static const double *point(const run *r, size_t function, double noise, size_t k)
{
    char name[64];
    point_name(function, noise, k, name, sizeof name);
    return env_rows_find(&r->rows, name);
}

static void report(const void *state)
{
    const run *r = state;
    for (size_t f = 0; f < FUNCTIONS; ++f) {
        printf("\n### %s\n\n| readings |", f ? "The forced Henon map" : "A sum of 25 kernel functions");
        for (size_t j = 0; j < NOISES; ++j) printf(" within %g |", noises[j]);
        printf("\n|---|---|---|---|---|\n");
        for (size_t k = 0; k < POINTS; ++k) {
            const double *first = point(r, f, noises[0], k);
            if (!first) continue;
            printf("| %.0f |", first[0]);
            for (size_t j = 0; j < NOISES; ++j) {
                const double *v = point(r, f, noises[j], k);
                if (v)
                    printf(" %.1f |", v[1]);
                else
                    printf(" |");
            }
            putchar('\n');
        }
        if (f == 0) printf("\nIts norm is %.1f.\n", r->norm);
    }
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    static const char *const colours[NOISES] = {"#1f4e79", "#4dac6e", "#e0a030", "#c05050"};
    picture p;
    picture_begin(&p);
    fprintf(p.script,
            "set multiplot layout 1,2 margins 0.07,0.985,0.13,0.92 spacing 0.08\nset xlabel 'readings'\nset "
            "logscale x\nset xrange "
            "[%d:%ld]\nset key top left Left reverse\nset ylabel 'norm that they ask for'\n",
            1, r->readings);
    for (size_t f = 0; f < FUNCTIONS; ++f) {
        for (size_t j = 0; j < NOISES; ++j) {
            fprintf(p.script, "$c%zu << EOD\n", j);
            for (size_t k = 0; k < POINTS; ++k) {
                const double *v = point(r, f, noises[j], k);
                if (v) fprintf(p.script, "%.0f %.6g\n", v[0], v[1]);
            }
            fputs("EOD\n", p.script);
        }
        fprintf(p.script, "set title '%s'\nset yrange [0:%g]\nplot ",
                f ? "forced Henon map" : "sum of 25 kernel functions", 1.5 * (f ? ENV_HENON_NORM : r->norm));
        for (size_t j = 0; j < NOISES; ++j)
            fprintf(p.script, "$c%zu with linespoints lw 2 pt 7 ps 0.5 lc rgb '%s' title 'within %g', ", j,
                    colours[j], noises[j]);
        fprintf(p.script, "%.6g with lines dt 2 lc rgb '#404040' title '%s'\n", f ? ENV_HENON_NORM : r->norm,
                f ? "1200, as in the paper" : "its norm");
    }
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 1200, 460);
}

int main(int argc, char **argv)
{
    run r = {.readings = 200, .seed = 1, .rows = {.columns = columns, .width = 2}};
    const option_row options[] = {
        option_number("readings", "N", "how many (default 200)", &r.readings, POINTS, 5000),
        option_number("seed", "K", "of points and noise (default 1)", &r.seed, 0, 1000000)};
    make_sum(&r);
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, false};
    return env_run(argc, argv, "envelope-norm",
                   "Appendix A: the norm that readings ask for, as they become more.", "--picture norm",
                   sizeof options / sizeof *options, options, &program);
}
