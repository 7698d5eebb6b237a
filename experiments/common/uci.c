/* SPDX-License-Identifier: Apache-2.0 */
#include "common/uci.h"
#include "common/sets.h"

#include <stdlib.h>
#include <string.h>

enum {
    FILE_BYTES = 256 /* of names in tables of this program */
};

const uci_set uci_sets[] = {
    {"boston", "medv", {NULL, NULL}, 0, true, 1.15, 0.0},
    {"energy", "Y1", {"Y2", NULL}, 0, false, 1.15, 0.0},
    {"yacht", "residuary_resistance", {NULL, NULL}, 0, true, 1.15, 0.0},
    {"parkinsons", "PPE", {"name", "status"}, 0, true, 1.25, 0.0},
    {"concrete", "y", {NULL, NULL}, 800, false, 1.15, 0.0},
    {"airfoil", "y", {NULL, NULL}, 800, false, 1.15, 0.0},
    {"wine", "y", {NULL, NULL}, 800, false, 1.15, 0.0},
};
const size_t uci_set_count = sizeof uci_sets / sizeof *uci_sets;

const uci_set *uci_find(const char *name)
{
    for (size_t i = 0; i < uci_set_count; ++i)
        if (strcmp(uci_sets[i].name, name) == 0) return &uci_sets[i];
    return NULL;
}

static bool path_of(const char *data, const char *name, char file[FILE_BYTES], char path[SETS_PATH])
{
    snprintf(file, FILE_BYTES, "%s/%s.csv", name, name);
    return sets_find(data, file, path);
}

bool uci_present(const char *data, const char *name)
{
    char path[SETS_PATH], file[FILE_BYTES], outcome[FILE_BYTES];
    if (path_of(data, name, file, path)) return true;
    snprintf(outcome, sizeof outcome, "%s is left out", name);
    sets_explain(data, file, outcome);
    return false;
}

void uci_keep_present(const char *data, words *sets)
{
    size_t kept = 0;
    for (size_t i = 0; i < sets->count; ++i)
        if (uci_present(data, sets->items[i])) sets->items[kept++] = sets->items[i];
    sets->count = kept;
}

static bool is_input(const uci_set *set, const char *column)
{
    for (size_t k = 0; k < 2; ++k)
        if (set->drop[k] && strcmp(set->drop[k], column) == 0) return false;
    return strcmp(set->target, column) != 0;
}

/* Copies the listed rows into x (row-major, inputs in the file's order) and y. */
static hf_status gather(hf_context *ctx, const hf_table *table, const uci_set *set, const size_t *rows,
                        size_t count, size_t d, double *x, double *y)
{
    size_t j = 0;
    for (size_t c = 0; c < hf_table_columns(table); ++c) {
        const char *name = hf_table_name(table, c);
        bool target = strcmp(name, set->target) == 0;
        const double *numbers;
        if (!target && !is_input(set, name)) continue;
        hf_status status = hf_table_numbers(ctx, table, c, &numbers);
        if (status < 0) return status;
        for (size_t i = 0; i < count; ++i) {
            if (target)
                y[i] = numbers[rows[i]];
            else
                x[i * d + j] = numbers[rows[i]];
        }
        if (!target) ++j;
    }
    return HF_OK;
}

/* The rows of one split: order[0..*train) to train, the rest of the *used to test. */
static hf_status choose(hf_context *ctx, const uci_set *set, bool all_rows, long split, long offset,
                        size_t total, size_t *order, size_t *train, size_t *used)
{
    size_t *sample = malloc(total * sizeof *sample), *shuffled = malloc(total * sizeof *shuffled), ignored;
    hf_status status = sample && shuffled ? HF_OK : HF_ERR_MEMORY;
    bool all = all_rows || !set->sample || set->sample >= total;
    *used = all ? total : set->sample;
    for (size_t i = 0; i < total && status >= 0; ++i) sample[i] = i;
    if (status >= 0 && !all)
        status = hf_split(ctx, (uint64_t)(offset + 3000 + split), 0.0, total, sample, &ignored);
    const double test_share = set->test_share > 0.0 ? set->test_share : 0.2;
    if (status >= 0)
        status = hf_split(ctx, (uint64_t)(offset + 1000 + split), test_share, *used, shuffled, train);
    for (size_t i = 0; i < *used && status >= 0; ++i) order[i] = sample[shuffled[i]];
    free(sample);
    free(shuffled);
    return status;
}

static hf_status build(hf_context *ctx, const hf_table *table, const uci_set *set, bool all_rows, long split,
                       long offset, problem *out)
{
    size_t total = hf_table_rows(table), train = 0, used = 0, d = 0;
    size_t *order = malloc((total ? total : 1) * sizeof *order);
    hf_status status =
        order ? choose(ctx, set, all_rows, split, offset, total, order, &train, &used) : HF_ERR_MEMORY;
    for (size_t c = 0; c < hf_table_columns(table); ++c) d += is_input(set, hf_table_name(table, c));
    if (status >= 0) {
        *out = problem_create(train, used - train, d);
        status = gather(ctx, table, set, order, train, d, out->x, out->y);
    }
    if (status >= 0) status = gather(ctx, table, set, order + train, used - train, d, out->tx, out->ty);
    if (status >= 0) out->unit = sample_sd(out->n, out->y);
    free(order);
    return status;
}

bool uci_problem(hf_context *ctx, const char *data, const uci_set *set, bool all_rows, long split,
                 long offset, hf_contamination kind, double share, problem *out)
{
    char path[SETS_PATH], file[FILE_BYTES];
    hf_table *table = NULL;
    *out = (problem){0};
    path_of(data, set->name, file, path);
    hf_status status = hf_table_read_csv(ctx, path, &table);
    if (status >= 0) status = build(ctx, table, set, all_rows, split, offset, out);
    if (status >= 0 && kind != HF_CONTAMINATION_NONE)
        status = hf_contaminate(ctx, kind, share, (uint64_t)(offset + 5000 + split), out->n, out->d, out->x,
                                out->d, out->y, out->wrong);
    if (status < 0) {
        fprintf(stderr, "%s: %s: %s\n", path, hf_status_name(status), hf_context_message(ctx));
        problem_free(out);
    }
    hf_table_free(table);
    return status >= 0;
}
