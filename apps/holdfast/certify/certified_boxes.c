/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes: about the rows of a table, between those of two, or told by ranges of inputs. */
#include "certify/certified.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static hf_status refuse_gap(certified *run, const hf_table *table, size_t row, size_t j)
{
    const char *column = hf_model_category(run->model, j, NULL);
    return REFUSE(run, "%s, line %zu: \"%s\" is missing%s", hf_table_source(table), hf_table_line(table, row),
                  column != NULL ? column : hf_model_feature(run->model, j),
                  column != NULL ? ", or a text that the model has not seen" : "");
}

/* The inputs of a table, m x d, read as predict reads them; every one must be a number. */
static hf_status read_points(certified *run, const char *path, hf_table **table, size_t *m, double **out)
{
    hf_context *ctx = run->session.ctx;
    hf_table *inputs = NULL;
    hf_status status = read_table(&run->session, path, run->model, table);
    if (status < 0) return status;
    *m = hf_table_rows(*table);
    if (*m == 0) return REFUSE(run, "%s: a header and no rows", path);
    *out = calloc(*m * run->d + 1, sizeof **out);
    if (*out == NULL) return HF_ERR_MEMORY;
    status = hf_model_inputs(ctx, run->model, *table, &inputs);
    for (size_t j = 0; j < run->d && status >= 0; j++) {
        const double *numbers = NULL;
        status = hf_table_numbers(ctx, inputs, j, &numbers);
        for (size_t i = 0; i < *m && status >= 0; i++) {
            (*out)[i * run->d + j] = numbers[i];
            if (isnan(numbers[i])) status = refuse_gap(run, *table, i, j);
        }
    }
    hf_table_free(inputs);
    return status;
}

static hf_status allocate_boxes(certified *run)
{
    run->lower = calloc(run->m * run->d + 1, sizeof *run->lower);
    run->upper = calloc(run->m * run->d + 1, sizeof *run->upper);
    return run->lower != NULL && run->upper != NULL ? HF_OK : HF_ERR_MEMORY;
}

hf_status certified_points(certified *run)
{
    run->radii = 1;
    const hf_status status =
        read_points(run, argument(run->arguments, "at"), &run->at, &run->points, &run->x);
    run->m = run->points;
    return status;
}

/* ---- units ---------------------------------------------------------------------------------------------------- */

/* Least, largest and standard deviation of an input over the rows that the fit used. */
static hf_status describe_training_input(certified *run, size_t j, double *low, double *high, double *sd)
{
    const hf_table *rows;
    const hf_status status = certified_training(run, &rows);
    if (status < 0) return status;
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

/* Holds all inputs but those named. */
static hf_status hold_others(certified *run)
{
    tool_names names = {0};
    if (!argument_names(run->arguments, "features", &names)) return session_told(&run->session);
    bool *moves = calloc(run->d + 1, sizeof *moves);
    hf_status status = moves != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k < names.count && status >= 0; k++) {
        if (!certified_select(run, names.list[k], moves))
            status = REFUSE(run, "--features: the model has no input \"%s\"", names.list[k]);
    }
    for (size_t j = 0; j < run->d && status >= 0; j++)
        if (!moves[j]) run->unit[j] = 0.0;
    free(moves);
    names_free(&names);
    return status;
}

hf_status certified_units(certified *run)
{
    hf_status status = HF_OK;
    for (size_t j = 0; j < run->d && has_argument(run->arguments, "sds") && status >= 0; j++) {
        double low, high;
        if (certified_is_category(run, j)) continue;
        status = describe_training_input(run, j, &low, &high, &run->unit[j]);
        if (status == HF_ERR_NO_DATA)
            return REFUSE(run, "--sds: the model has not kept its rows, and knows no deviations of them");
    }
    if (status >= 0 && certified_named_radii(run)) status = certified_take_radii(run);
    return status >= 0 && has_argument(run->arguments, "features") ? hold_others(run) : status;
}

/* ---- boxes ---------------------------------------------------------------------------------------------------- */

/* A box that the readings say nothing about is legal and rarely meant. */
static void warn_outside(certified *run)
{
    for (size_t j = 0; j < run->d; j++) {
        double low, high, sd;
        if (describe_training_input(run, j, &low, &high, &sd) < 0) return;
        for (size_t i = 0; i < run->m; i++) {
            const double from = run->lower[i * run->d + j], to = run->upper[i * run->d + j];
            if (to >= low && from <= high) continue;
            const size_t row = i / run->radii;
            warn(&run->session,
                 "%s %zu: \"%s\" from %g to %g is outside of the readings, which go from %g to %g",
                 run->at != NULL ? "line" : "row", run->at != NULL ? hf_table_line(run->at, row) : row + 1,
                 hf_model_feature(run->model, j), from, to, low, high);
            return;
        }
    }
}

/* Each point once for every radius. */
static hf_status repeat_points(certified *run, size_t radii)
{
    const size_t bytes = run->d * sizeof *run->x;
    double *x = calloc(run->points * radii * run->d + 1, sizeof *x);
    if (x == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < run->points * radii; k++)
        memcpy(x + k * run->d, run->x + k / radii * run->d, bytes);
    free(run->x);
    run->x = x;
    run->radii = radii;
    run->m = run->points * radii;
    return HF_OK;
}

hf_status certified_balls(certified *run, size_t radii, const double *radius)
{
    hf_status status = repeat_points(run, radii);
    if (status >= 0) status = allocate_boxes(run);
    for (size_t k = 0; k < run->m * run->d && status >= 0; k++) {
        const double reach = radius[k / run->d % radii] * run->unit[k % run->d];
        run->lower[k] = run->x[k] - reach;
        run->upper[k] = run->x[k] + reach;
    }
    if (status >= 0) warn_outside(run);
    return status;
}

/* As far as the training rows go, where the sides are not told (NaN). */
static hf_status whole_range(certified *run)
{
    double sd;
    for (size_t j = 0; j < run->d; j++) {
        if (!isnan(run->lower[j]) || certified_is_category(run, j)) continue;
        const hf_status status = describe_training_input(run, j, &run->lower[j], &run->upper[j], &sd);
        if (status == HF_ERR_NO_DATA)
            return REFUSE(run,
                          "--box: from where to where? The model has not kept its rows; say it of each "
                          "input: %s=LOW:HIGH",
                          hf_model_feature(run->model, j));
        if (status < 0) return status;
    }
    return HF_OK;
}

/* "input=low:high". False when it is something else, or the model has no such input. */
static bool parse_range(const certified *run, const char *text, size_t *j, double *low, double *high)
{
    const char *equal = strrchr(text, '=');
    char *end;
    if (equal == NULL || equal == text) return false;
    *j = certified_input(run, text, (size_t)(equal - text));
    *low = strtod(equal + 1, &end);
    if (*j == run->d || end == equal + 1 || *end != ':') return false;
    const char *second = end + 1;
    *high = strtod(second, &end);
    return end != second && *end == '\0' && isfinite(*low) && isfinite(*high);
}

/* One box from ranges of some inputs. */
static hf_status told_box(certified *run, const tool_names *ranges)
{
    run->m = 1;
    const hf_status status = allocate_boxes(run);
    if (status < 0) return status;
    for (size_t j = 0; j < run->d; j++) run->lower[j] = NAN;
    for (size_t k = 0; k < ranges->count; k++) {
        size_t j;
        double low, high;
        if (certified_take_category(run, ranges->list[k], run->lower, run->upper)) continue;
        if (!parse_range(run, ranges->list[k], &j, &low, &high) || certified_is_category(run, j))
            return MISUSE(run,
                          "--box: '%s' is neither INPUT=LOW:HIGH of an input of the model, nor COLUMN=TEXT "
                          "of one of its texts",
                          ranges->list[k]);
        run->lower[j] = low;
        run->upper[j] = high;
    }
    const hf_status ranged = whole_range(run);
    return ranged < 0 ? ranged : certified_each_category(run);
}

static hf_status read_boxes(certified *run, const tool_names *files)
{
    size_t other = 0;
    hf_table *table = NULL;
    if (files->count != 2)
        return MISUSE(run, "--box: give two tables, of the lower and of the upper sides (L.csv,U.csv), or "
                           "ranges (INPUT=LOW:HIGH,...)");
    hf_status status = read_points(run, files->list[0], &table, &run->m, &run->lower);
    hf_table_free(table);
    table = NULL;
    if (status >= 0) status = read_points(run, files->list[1], &table, &other, &run->upper);
    hf_table_free(table);
    if (status >= 0 && run->m != other)
        return REFUSE(run, "--box: %s has %zu rows and %s has %zu", files->list[0], run->m, files->list[1],
                      other);
    return status;
}

static hf_status given_boxes(certified *run)
{
    tool_names parts = {0};
    if (!argument_names(run->arguments, "box", &parts)) return session_told(&run->session);
    bool told = false;
    for (size_t k = 0; k < parts.count; k++) {
        const char *equal = strrchr(parts.list[k], '=');
        told |= (equal != NULL && strchr(equal, ':') != NULL) ||
                certified_take_category(run, parts.list[k], NULL, NULL);
    }
    hf_status status = told ? told_box(run, &parts) : read_boxes(run, &parts);
    names_free(&parts);
    for (size_t k = 0; status >= 0 && run->d > 0 && k < run->m * run->d; k++)
        if (run->lower[k] > run->upper[k])
            status = REFUSE(
                run, "--box: row %zu: \"%s\" goes from %g down to %g: the lower side is above the upper",
                k / run->d + 1, hf_model_feature(run->model, k % run->d), run->lower[k], run->upper[k]);
    return status;
}

hf_status certified_boxes(certified *run, bool whole)
{
    run->radii = 1;
    const tool_names none = {0};
    hf_status status =
        whole && !has_argument(run->arguments, "box") ? told_box(run, &none) : given_boxes(run);
    if (status < 0) return status;
    warn_outside(run);
    run->points = run->m;
    run->x = calloc(run->m * run->d + 1, sizeof *run->x);
    if (run->x == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < run->m * run->d; k++) run->x[k] = 0.5 * run->lower[k] + 0.5 * run->upper[k];
    return HF_OK;
}
