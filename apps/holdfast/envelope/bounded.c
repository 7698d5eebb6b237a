/* SPDX-License-Identifier: Apache-2.0 */
/* Readings with bounded noise, out of a table. */
#include "envelope/bounded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the end ---------------------------------------------------------------------------------- */

int bounded_close(bounded *run, hf_status status)
{
    hf_kernel_free(run->kernel);
    hf_table_free(run->table);
    names_free(&run->given);
    TOOL_FREE(run->feature, run->x, run->y, run->below, run->above, run->row);
    return session_close(&run->session, status);
}

/* ---- columns ----------------------------------------------------------------------------------------------- */

/* The options that name a column of numbers with how far a reading can be off. */
static const char *const noise_options[] = {"noise-bound-column", "noise-below", "noise-above"};

static bool is_spoken_for(const bounded *run, const char *name)
{
    if (strcmp(name, run->target) == 0) return true;
    for (size_t k = 0; k < 3; k++) {
        const char *column = argument(run->arguments, noise_options[k]);
        if (column != NULL && strcmp(column, name) == 0) return true;
    }
    for (size_t k = 0; k < run->other_count; k++)
        if (strcmp(run->others[k], name) == 0) return true;
    return false;
}

static hf_status choose_features(bounded *run)
{
    const size_t columns = hf_table_columns(run->table);
    if (!argument_names(run->arguments, "features", &run->given)) return session_told(&run->session);
    const size_t most = run->given.count > columns ? run->given.count : columns;
    run->feature = calloc(most + 1, sizeof *run->feature);
    if (run->feature == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < run->given.count; j++) {
        const char *name = run->given.list[j];
        if (is_spoken_for(run, name))
            return REFUSE(run, "\"%s\" cannot be an input: it is the target or %s", name,
                          run->other_count > 0 ? "what is said of it" : "a noise bound");
        for (size_t k = 0; k < j; k++)
            if (strcmp(run->feature[k], name) == 0) return MISUSE(run, "--features names \"%s\" twice", name);
        run->feature[run->d++] = name;
    }
    for (size_t j = 0; j < columns && run->given.count == 0; j++)
        if (hf_table_is_numeric(run->table, j) && !is_spoken_for(run, hf_table_name(run->table, j)))
            run->feature[run->d++] = hf_table_name(run->table, j);
    return run->d > 0 ? HF_OK
                      : REFUSE(run, "%s: no inputs: no numeric column beside \"%s\"",
                               hf_table_source(run->table), run->target);
}

static hf_status infinite(bounded *run, const char *name, size_t row)
{
    return REFUSE(run, "%s, line %zu, column \"%s\": the value is infinite", hf_table_source(run->table),
                  hf_table_line(run->table, row), name);
}

/* ---- noise bounds ------------------------------------------------------------------------------------------ */

static hf_status check_noise_options(bounded *run, bool noisy)
{
    const tool_arguments *a = run->arguments;
    const bool constant = has_argument(a, "noise-bound"), column = has_argument(a, "noise-bound-column"),
               below = has_argument(a, "noise-below"), above = has_argument(a, "noise-above");
    if (below != above)
        return MISUSE(
            run, "--noise-below and --noise-above go together; a column of 0 is an exact side, inf none");
    if ((constant ? 1 : 0) + (column ? 1 : 0) + (below ? 1 : 0) > 1)
        return MISUSE(
            run,
            "--noise-bound, --noise-bound-column and --noise-below with --noise-above exclude each other");
    if (noisy && !constant && !column && !below)
        return MISUSE(run, "--noise-bound is missing: how far can a reading be off? (0: not at all)");
    if (!argument_double(a, "noise-bound", &run->noise)) return session_told(&run->session);
    if (!(run->noise >= 0.0 && run->noise < (double)INFINITY))
        return MISUSE(run, "--noise-bound: %g is not a finite number from 0 on", run->noise);
    return HF_OK;
}

/* Noise bounds of the rows that are used. */
static hf_status gather_noise(bounded *run, const char *option, bool limited, double **out)
{
    const char *name = argument(run->arguments, option);
    const double *numbers;
    if (name == NULL) return HF_OK;
    hf_status status = table_numbers(run->session.ctx, run->table, name, &numbers);
    if (status < 0) return status;
    *out = calloc(run->n + 1, sizeof **out);
    if (*out == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < run->n; i++) {
        const double value = numbers[run->row[i]];
        const size_t line = hf_table_line(run->table, run->row[i]);
        const char *source = hf_table_source(run->table);
        if (isnan(value))
            return REFUSE(run, "%s, line %zu, column \"%s\": the noise bound is missing", source, line, name);
        if (value < 0.0)
            return REFUSE(run, "%s, line %zu, column \"%s\": the noise bound %g is negative", source, line,
                          name, value);
        if (limited && isinf(value)) return infinite(run, name, run->row[i]);
        (*out)[i] = value;
    }
    return HF_OK;
}

static hf_status gather_noises(bounded *run)
{
    hf_status status = gather_noise(run, "noise-bound-column", true, &run->below);
    if (status >= 0) status = gather_noise(run, "noise-below", false, &run->below);
    if (status >= 0) status = gather_noise(run, "noise-above", false, &run->above);
    for (size_t i = 0; i < run->n && status >= 0 && run->above != NULL; i++)
        if (isinf(run->below[i]) && isinf(run->above[i]))
            status = REFUSE(run, "%s, line %zu: a reading without limits on both sides says nothing",
                            hf_table_source(run->table), hf_table_line(run->table, run->row[i]));
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

/* Rows with a target and all inputs, and their numbers. */
static hf_status gather_rows(bounded *run, const double *target, const double *const *column)
{
    const size_t rows = hf_table_rows(run->table);
    for (size_t i = 0; i < rows; i++) {
        bool complete = !isnan(target[i]);
        if (isinf(target[i])) return infinite(run, run->target, i);
        for (size_t j = 0; j < run->d; j++) {
            if (isinf(column[j][i])) return infinite(run, run->feature[j], i);
            complete = complete && !isnan(column[j][i]);
        }
        if (!complete) continue;
        for (size_t j = 0; j < run->d; j++) run->x[run->n * run->d + j] = column[j][i];
        run->y[run->n] = target[i];
        run->row[run->n++] = i;
    }
    run->left_out = rows - run->n;
    if (run->n == 0)
        return REFUSE(run, "%s: no rows with a target and all inputs", hf_table_source(run->table));
    if (run->left_out > 0)
        warn(&run->session, "%s: %zu of %zu rows left out: the target or an input is missing",
             hf_table_source(run->table), run->left_out, rows);
    return HF_OK;
}

static hf_status gather_limited_readings(bounded *run)
{
    const double *target, **column = calloc(run->d + 1, sizeof *column);
    const size_t rows = hf_table_rows(run->table);
    run->x = calloc(rows * run->d + 1, sizeof *run->x);
    run->y = calloc(rows + 1, sizeof *run->y);
    run->row = calloc(rows + 1, sizeof *run->row);
    hf_status status =
        column != NULL && run->x != NULL && run->y != NULL && run->row != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = table_numbers(run->session.ctx, run->table, run->target, &target);
    for (size_t j = 0; j < run->d && status >= 0; j++)
        status = table_numbers(run->session.ctx, run->table, run->feature[j], &column[j]);
    if (status >= 0) status = gather_rows(run, target, column);
    free(column);
    return status >= 0 ? gather_noises(run) : status;
}

/* ---- the level ------------------------------------------------------------------------------------------- */

static hf_status median_of(bounded *run, double *out)
{
    double *sorted = calloc(run->n, sizeof *sorted);
    if (sorted == NULL) return HF_ERR_MEMORY;
    memcpy(sorted, run->y, run->n * sizeof *sorted);
    qsort(sorted, run->n, sizeof *sorted, by_size);
    *out = 0.5 * sorted[(run->n - 1) / 2] + 0.5 * sorted[run->n / 2];
    free(sorted);
    return HF_OK;
}

static hf_status choose_offset(bounded *run)
{
    const char *offset = argument(run->arguments, "offset");
    if (offset == NULL) return HF_OK;
    if (strcmp(offset, "median") == 0) return median_of(run, &run->offset);
    if (!argument_double(run->arguments, "offset", &run->offset)) return session_told(&run->session);
    return isfinite(run->offset) ? HF_OK : MISUSE(run, "--offset: %g is not a finite number", run->offset);
}

/* Whether functions of the kernel may be as large far from everything as at the first reading, all
 * together: k does not fall with the distance. */
static bool has_level(const bounded *run)
{
    double far[2], *x = calloc(2 * run->d, sizeof *x);
    bool level = true;
    for (size_t j = 0; x != NULL && j < run->d; j++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < run->n; i++) {
            low = fmin(low, run->x[i * run->d + j]);
            high = fmax(high, run->x[i * run->d + j]);
        }
        x[j] = run->x[j];
        x[run->d + j] = run->x[j] + 1e6 * (high - low) + 1e6 * fabs(high);
    }
    if (x != NULL && hf_kernel_cross(run->session.ctx, run->kernel, 1, x, run->d, 2, x, run->d, far, 2) >= 0)
        level = fabs(far[1]) > 1e-3 * fabs(far[0]);
    free(x);
    return level;
}

void bounded_mind_level(const bounded *run)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < run->n; i++) {
        low = fmin(low, run->y[i]);
        high = fmax(high, run->y[i]);
    }
    const double nearest = low > 0.0 ? low : -high; /* to 0; negative when it is among them */
    if (has_argument(run->arguments, "offset") || run->n < 2 || !(nearest > 2.0 * (high - low))) return;
    if (has_level(run)) return;
    note(&run->session,
         "\"%s\" is between %.6g and %.6g, far from 0, which is where this kernel's functions go without "
         "readings: --offset median, with a norm of its own, makes bounds tighter there",
         run->target, low, high);
}

hf_status bounded_read(bounded *run, const char *path, bool noisy)
{
    run->target = argument(run->arguments, "target");
    if (run->target == NULL) return MISUSE(run, "--target is missing: name the column of the readings");
    hf_status status = check_noise_options(run, noisy);
    if (status >= 0) status = read_table(&run->session, path, NULL, &run->table);
    if (status >= 0) status = choose_features(run);
    if (status >= 0) status = gather_limited_readings(run);
    return status >= 0 ? choose_offset(run) : status;
}

hf_bounded_readings bounded_readings(const bounded *run)
{
    return (hf_bounded_readings){.n = run->n,
                                 .x = run->x,
                                 .ldx = run->d,
                                 .y = run->y,
                                 .noise_bound = run->noise,
                                 .below = run->below,
                                 .above = run->above,
                                 .offset = run->offset};
}
