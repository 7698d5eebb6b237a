/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes: about the rows of a table, or between those of two. */
#include "certified.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The inputs of a table, m x d; every one must be a number. */
static hf_status read_points(certified *run, const char *path, size_t *m, double **out)
{
    hf_context *ctx = run->session.ctx;
    hf_table *table = NULL;
    hf_status status = hf_table_read_csv(ctx, path, &table);
    if (status < 0) return status;
    *m = hf_table_rows(table);
    *out = calloc(*m * run->d + 1, sizeof **out);
    if (*out == NULL) status = HF_ERR_MEMORY;
    for (size_t j = 0; j < run->d && status >= 0; j++) {
        const char *name = hf_model_feature(run->model, j);
        size_t column;
        const double *numbers = NULL;
        status = hf_table_find(ctx, table, name, &column);
        if (status >= 0) status = hf_table_numbers(ctx, table, column, &numbers);
        for (size_t i = 0; i < *m && status >= 0; i++) {
            (*out)[i * run->d + j] = numbers[i];
            if (isnan(numbers[i]))
                status = certified_refuse(run, "%s, line %zu: \"%s\" is missing", path,
                                          hf_table_line(table, i), name);
        }
    }
    hf_table_free(table);
    return status;
}

static hf_status make_room(certified *run)
{
    run->lower = calloc(run->m * run->d + 1, sizeof *run->lower);
    run->upper = calloc(run->m * run->d + 1, sizeof *run->upper);
    return run->lower != NULL && run->upper != NULL ? HF_OK : HF_ERR_MEMORY;
}

hf_status certified_points(certified *run)
{
    return read_points(run, argument(run->arguments, "at"), &run->m, &run->x);
}

/* ---- units ---------------------------------------------------------------------------------------------------- */

/* Least, largest and standard deviation of an input over the rows that the fit used. */
static hf_status describe(certified *run, const hf_table *rows, size_t j, double *low, double *high,
                          double *sd)
{
    const double *numbers = table_column(run->session.ctx, rows, hf_model_feature(run->model, j));
    const size_t n = hf_table_rows(rows);
    if (numbers == NULL || n == 0) return HF_ERR_NO_DATA;
    double mean = 0.0, square = 0.0;
    *low = *high = numbers[0];
    for (size_t i = 0; i < n; i++) {
        mean += numbers[i] / (double)n;
        *low = fmin(*low, numbers[i]);
        *high = fmax(*high, numbers[i]);
    }
    for (size_t i = 0; i < n; i++) square += (numbers[i] - mean) * (numbers[i] - mean) / (double)n;
    *sd = sqrt(square);
    return HF_OK;
}

hf_status certified_units(certified *run)
{
    const tool_arguments *a = run->arguments;
    tool_names names = {0};
    hf_table *rows = NULL;
    hf_status status = HF_OK;
    if (has_argument(a, "sds")) {
        status = hf_model_training(run->session.ctx, run->model, &rows);
        for (size_t j = 0; j < run->d && status >= 0; j++) {
            double low, high;
            status = describe(run, rows, j, &low, &high, &run->unit[j]);
        }
        hf_table_free(rows);
    }
    if (status < 0 || !has_argument(a, "features")) return status;
    if (!argument_names(a, "features", &names)) {
        run->refused = TOOL_USAGE;
        return HF_ERR_ARGUMENT;
    }
    bool *moves = calloc(run->d + 1, sizeof *moves);
    if (moves == NULL) status = HF_ERR_MEMORY;
    for (size_t k = 0; k < names.count && status >= 0; k++) {
        size_t j = 0;
        while (j < run->d && strcmp(names.list[k], hf_model_feature(run->model, j)) != 0) j++;
        if (j < run->d)
            moves[j] = true;
        else
            status = certified_refuse(run, "--features: the model has no input \"%s\"", names.list[k]);
    }
    for (size_t j = 0; j < run->d && status >= 0; j++)
        if (!moves[j]) run->unit[j] = 0.0;
    free(moves);
    names_free(&names);
    return status;
}

/* ---- boxes ---------------------------------------------------------------------------------------------------- */

hf_status certified_balls(certified *run, double radius)
{
    const hf_status status = make_room(run);
    for (size_t k = 0; k < run->m * run->d && status >= 0; k++) {
        run->lower[k] = run->x[k] - radius * run->unit[k % run->d];
        run->upper[k] = run->x[k] + radius * run->unit[k % run->d];
    }
    return status;
}

static hf_status whole_range(certified *run)
{
    hf_table *rows = NULL;
    run->m = 1;
    hf_status status = make_room(run);
    if (status >= 0) status = hf_model_training(run->session.ctx, run->model, &rows);
    for (size_t j = 0; j < run->d && status >= 0; j++) {
        double sd;
        status = describe(run, rows, j, &run->lower[j], &run->upper[j], &sd);
    }
    hf_table_free(rows);
    return status;
}

static hf_status given_boxes(certified *run)
{
    tool_names files = {0};
    size_t other = 0;
    if (!argument_names(run->arguments, "box", &files)) {
        run->refused = TOOL_USAGE;
        return HF_ERR_ARGUMENT;
    }
    hf_status status = HF_OK;
    if (files.count != 2)
        status =
            certified_misuse(run, "--box: give two tables, of the lower and of the upper sides: L.csv,U.csv");
    if (status >= 0) status = read_points(run, files.list[0], &run->m, &run->lower);
    if (status >= 0) status = read_points(run, files.list[1], &other, &run->upper);
    if (status >= 0 && run->m != other)
        status = certified_refuse(run, "--box: %s has %zu rows and %s has %zu", files.list[0], run->m,
                                  files.list[1], other);
    for (size_t k = 0; status >= 0 && run->d > 0 && k < run->m * run->d; k++)
        if (run->lower[k] > run->upper[k])
            status = certified_refuse(
                run, "--box: row %zu: \"%s\" goes from %g down to %g: the lower side is above the upper",
                k / run->d + 1, hf_model_feature(run->model, k % run->d), run->lower[k], run->upper[k]);
    names_free(&files);
    return status;
}

/* A box that the readings say nothing about is legal and rarely meant. */
static hf_status warn_outside(certified *run)
{
    hf_table *rows = NULL;
    if (hf_model_training(run->session.ctx, run->model, &rows) < 0) return HF_OK;
    for (size_t j = 0; j < run->d; j++) {
        double low, high, sd;
        if (describe(run, rows, j, &low, &high, &sd) < 0) break;
        for (size_t i = 0; i < run->m; i++) {
            const double from = run->lower[i * run->d + j], to = run->upper[i * run->d + j];
            if (to >= low && from <= high) continue;
            warn(&run->session,
                 "row %zu: \"%s\" from %g to %g is outside of the readings, which go from %g to %g", i + 1,
                 hf_model_feature(run->model, j), from, to, low, high);
            j = run->d;
            break;
        }
    }
    hf_table_free(rows);
    return HF_OK;
}

hf_status certified_boxes(certified *run, bool whole)
{
    hf_status status = whole && !has_argument(run->arguments, "box") ? whole_range(run) : given_boxes(run);
    if (status >= 0) status = warn_outside(run);
    if (status < 0) return status;
    run->x = calloc(run->m * run->d + 1, sizeof *run->x);
    if (run->x == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < run->m * run->d; k++) run->x[k] = 0.5 * run->lower[k] + 0.5 * run->upper[k];
    return HF_OK;
}
