/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_henon.h"
#include "common/env_bounds.h"
#include "common/room.h"
#include "common/sets.h"

#include <math.h>
#include <stdlib.h>

static const double edge = 10.0;

double env_henon(const double *z)
{
    return 1.0 - 0.8 * z[0] * z[0] + z[1] + 8.0 * sin(0.8 * z[1]);
}

env_set env_set_create(size_t n, double noise)
{
    return (env_set){.n = n, .x = room(2 * n, sizeof(double)), .y = room(n, sizeof(double)), .noise = noise};
}

void env_set_free(env_set *set)
{
    free(set->x);
    free(set->y);
    *set = (env_set){0};
}

hf_bounded_readings env_set_readings(const env_set *set, double noise)
{
    return (hf_bounded_readings){.n = set->n, .x = set->x, .ldx = 2, .y = set->y, .noise_bound = noise};
}

static double place(size_t i, size_t side)
{
    return -edge + 2.0 * edge * (double)i / (double)(side - 1);
}

double *env_henon_mesh(size_t side)
{
    double *x = room(2 * side * side, sizeof(double));
    for (size_t i = 0; i < side * side; ++i) {
        x[2 * i] = place(i / side, side);
        x[2 * i + 1] = place(i % side, side);
    }
    return x;
}

double *env_henon_numbered(const double *x, size_t n, double first, double step)
{
    double *out = room(3 * n, sizeof(double));
    for (size_t i = 0; i < n; ++i) {
        out[3 * i] = x[2 * i];
        out[3 * i + 1] = x[2 * i + 1];
        out[3 * i + 2] = first + step * (double)i;
    }
    return out;
}

bool env_henon_published(hf_context *ctx, const env_set *set, double noise, double norm, size_t side,
                         double *width, double *above)
{
    const size_t m = side * side;
    double *mesh = env_henon_mesh(side), *queries = env_henon_numbered(mesh, m, ENV_HENON_QUERY, 0.0),
           *x = env_henon_numbered(set->x, set->n, 0.0, 1.0);
    const env_problem p = {
        ENV_HENON_PUBLISHED, {.n = set->n, .x = x, .ldx = 3, .y = set->y, .noise_bound = noise}, norm, 0.0};
    env_bounds b = env_bounds_create(m);
    hf_envelope *envelope = env_problem_envelope(ctx, &p, "readings, with 1e-8");
    const bool ok = envelope && env_optimal(ctx, envelope, m, queries, &b);
    *width = *above = 0.0;
    for (size_t i = 0; ok && i < m; ++i) *above += (b.upper[i] - env_henon(mesh + 2 * i)) / (double)m;
    if (ok) *width = env_mean_width(&b);
    hf_envelope_free(envelope);
    env_bounds_free(&b);
    free(x);
    free(queries);
    free(mesh);
    return ok;
}

env_set env_henon_grid(py_random *stream, size_t side, double noise)
{
    env_set set = {
        .n = side * side, .x = env_henon_mesh(side), .y = room(side * side, sizeof(double)), .noise = noise};
    for (size_t i = 0; i < set.n; ++i)
        set.y[i] = env_henon(set.x + 2 * i) + py_between(stream, -noise, noise);
    return set;
}

env_set env_henon_random(py_random *stream, size_t n, double noise)
{
    env_set set = env_set_create(n, noise);
    for (size_t i = 0; i < n; ++i) {
        set.x[2 * i] = py_between(stream, -edge, edge);
        set.x[2 * i + 1] = py_between(stream, -edge, edge);
        set.y[i] = env_henon(set.x + 2 * i) + py_between(stream, -noise, noise);
    }
    return set;
}

static double clipped(py_random *stream, double noise)
{
    return fmin(fmax(py_normal(stream, 0.0, noise / 2.58), -noise), noise);
}

void env_henon_tables(double noise, env_set *random, env_set *grid)
{
    enum {
        SIDE = 10
    };
    py_random stream;
    py_seed(&stream, 1);
    *random = env_set_create(SIDE * SIDE, noise);
    *grid = (env_set){
        .n = SIDE * SIDE, .x = env_henon_mesh(SIDE), .y = room(SIDE * SIDE, sizeof(double)), .noise = noise};
    for (size_t i = 0; i < random->n; ++i) {
        random->x[2 * i] = py_between(&stream, -edge, edge);
        random->x[2 * i + 1] = py_between(&stream, -edge, edge);
        random->y[i] = env_henon(random->x + 2 * i) + clipped(&stream, noise);
    }
    for (size_t i = 0; i < grid->n; ++i) grid->y[i] = env_henon(grid->x + 2 * i) + clipped(&stream, noise);
}

/* The named columns of a CSV file, rows together; NULL where the file or a column is not there. */
static double *read_columns(hf_context *ctx, const char *folder, const char *file, size_t count,
                            const char *const *names, size_t *rows)
{
    char path[SETS_PATH];
    hf_table *table = NULL;
    if (!sets_find(folder, file, path)) {
        sets_explain(folder, file, "the authors' data are left out");
        return NULL;
    }
    if (hf_table_read_csv(ctx, path, &table) < 0) return NULL;
    *rows = hf_table_rows(table);
    double *out = room(*rows * count, sizeof(double));
    for (size_t j = 0; out && j < count; ++j) {
        size_t at;
        const double *column;
        if (hf_table_find(ctx, table, names[j], &at) < 0 || hf_table_numbers(ctx, table, at, &column) < 0) {
            free(out);
            out = NULL;
            break;
        }
        for (size_t i = 0; i < *rows; ++i) out[i * count + j] = column[i];
    }
    hf_table_free(table);
    return out;
}

bool env_henon_authors(hf_context *ctx, const char *data, env_set *out, size_t *m, double **bounds)
{
    static const char *const readings[] = {"z1", "z2", "y"}, *const saved[] = {"z1", "z2", "opt_lb",
                                                                               "opt_ub"};
    size_t n;
    double *rows = read_columns(ctx, data, "rkhs_henon_grid_delta1/readings.csv", 3, readings, &n);
    *out = (env_set){0};
    if (!rows) return false;
    *out = env_set_create(n, 1.0);
    for (size_t i = 0; i < n; ++i) {
        out->x[2 * i] = rows[3 * i];
        out->x[2 * i + 1] = rows[3 * i + 1];
        out->y[i] = rows[3 * i + 2];
    }
    free(rows);
    if (bounds) *bounds = read_columns(ctx, data, "rkhs_henon_grid_delta1/bounds.csv", 4, saved, m);
    if (bounds && !*bounds) env_set_free(out);
    return !bounds || *bounds;
}

option_row env_henon_option(const char **data)
{
    *data = sets_folder();
    return option_text("data", "DIR", "folder that holds rkhs_henon_grid_delta1/ " SETS_DEFAULT, data);
}
