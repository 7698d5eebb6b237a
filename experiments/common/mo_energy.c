/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mo_energy.h"
#include "common/quantile.h"
#include "common/sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUTS = 8,
    OUTPUTS = 2,
    COLUMNS = INPUTS + OUTPUTS
};

/* Columns X1..X8, Y1, Y2 of a row, standardised; `rows` is set. NULL: reason on standard error. */
static double *load(hf_context *ctx, const char *folder, size_t *rows)
{
    static const char *const names[COLUMNS] = {"X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8", "Y1", "Y2"};
    char path[SETS_PATH];
    hf_table *table = NULL;
    double *out = NULL;
    sets_find(folder, "energy/energy.csv", path);
    hf_status status = hf_table_read_csv(ctx, path, &table);
    if (status >= 0) {
        *rows = hf_table_rows(table);
        out = malloc(*rows * COLUMNS * sizeof *out);
        if (!out) status = HF_ERR_MEMORY;
    }
    for (size_t j = 0; status >= 0 && j < COLUMNS; ++j) {
        const double *numbers, n = (double)*rows;
        size_t place;
        double mean = 0.0, squares = 0.0;
        status = hf_table_find(ctx, table, names[j], &place);
        if (status >= 0) status = hf_table_numbers(ctx, table, place, &numbers);
        if (status < 0) break;
        for (size_t i = 0; i < *rows; ++i) mean += numbers[i] / n;
        for (size_t i = 0; i < *rows; ++i) squares += (numbers[i] - mean) * (numbers[i] - mean) / n;
        for (size_t i = 0; i < *rows; ++i) out[i * COLUMNS + j] = (numbers[i] - mean) / sqrt(squares);
    }
    hf_table_free(table);
    if (status >= 0) return out;
    fprintf(stderr, "%s: %s\n", path, hf_context_message(ctx));
    free(out);
    return NULL;
}

/* Median, and median absolute deviation, of every OUTPUTS-th value. */
static void robust(size_t samples, const double *a, size_t stride, double *scratch, double *middle,
                   double *spread)
{
    for (size_t i = 0; i < samples; ++i) scratch[i] = a[i * stride];
    *middle = median_of(scratch, samples);
    for (size_t i = 0; i < samples; ++i) scratch[i] = fabs(a[i * stride] - *middle);
    *spread = median_of(scratch, samples);
}

static void damage_focused(problem *p, size_t samples, const bool *chosen, draws *stream, double *scratch)
{
    double middle, spread;
    for (size_t j = 0; j < INPUTS; ++j) {
        robust(samples, p->x + j, OUTPUTS * p->d, scratch, &middle, &spread);
        for (size_t i = 0; i < samples; ++i)
            if (chosen[i]) mo_set_input(p, false, i, j, middle + 0.1 * draw_uniform(stream) * spread);
    }
    robust(samples, p->y, OUTPUTS, scratch, &middle, &spread);
    for (size_t i = 0; i < samples; ++i)
        if (chosen[i]) p->y[i * OUTPUTS] = 6.0 + 0.1 * draw_uniform(stream) * spread;
}

static bool damage(problem *p, const char *kind, draws *stream)
{
    const size_t samples = p->n / OUTPUTS;
    const bool focused = strcmp(kind, "focused") == 0;
    const size_t wanted = (samples + (focused ? 0 : 5)) / 10; /* the program rounds, but not for this kind */
    bool *chosen = malloc(samples * sizeof *chosen);
    double *scratch = malloc(samples * sizeof *scratch);
    const bool ok = chosen && scratch;
    size_t done = 0;
    if (ok && strcmp(kind, "none") != 0) {
        mo_choose(stream, samples, wanted, chosen);
        for (size_t i = 0; i < samples; ++i) {
            if (!chosen[i]) continue;
            p->wrong[i * OUTPUTS] = true;
            done += 1;
            if (focused) continue;
            const double size = 6.0 + 3.0 * draw_uniform(stream);
            p->y[i * OUTPUTS] += strcmp(kind, "uniform") == 0 && 2 * done > wanted ? -size : size;
        }
        if (focused) damage_focused(p, samples, chosen, stream, scratch);
    }
    free(chosen);
    free(scratch);
    return ok;
}

bool mo_energy_data(hf_context *ctx, const char *folder, const char *kind, uint64_t seed, mo_draw_result *out)
{
    size_t rows = 0, train = 0;
    double *all = load(ctx, folder, &rows);
    size_t *order = all ? malloc(rows * sizeof *order) : NULL;
    bool ok = order && hf_split(ctx, 1000 + seed, 0.25, rows, order, &train) >= 0;
    if (ok) {
        problem *p = &out->data;
        draws stream = {(5000 + seed) * 0x2545f4914f6cdd1du + 1};
        *p = mo_problem_create(train, rows - train, INPUTS, OUTPUTS);
        for (size_t i = 0; i < rows; ++i) {
            const double *row = all + order[i] * COLUMNS;
            const bool test = i >= train;
            const size_t place = test ? i - train : i;
            for (size_t j = 0; j < INPUTS; ++j) mo_set_input(p, test, place, j, row[j]);
            memcpy((test ? p->ty : p->y) + place * OUTPUTS, row + INPUTS, OUTPUTS * sizeof *row);
        }
        ok = damage(p, kind, &stream);
        if (!ok) problem_free(p);
    }
    free(all);
    free(order);
    return ok;
}

void mo_energy_terms(const char *kind, mo_terms *out)
{
    out->kernel = "se(lengthscale~1)"; /* where the program starts */
    out->shared_noise = true;          /* and the mean 0 for both, as the program has */
    out->nu = strcmp(kind, "focused") == 0 ? 9.0 : 10.0;
    out->eps[0] = 0.1;
    out->eps[1] = 0.0;
}
