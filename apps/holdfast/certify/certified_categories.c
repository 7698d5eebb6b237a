/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs by name, and those that stand for texts: they are 0 or 1, and of one column one alone is 1. They are
 * held unless they are named. */
#include "certify/certified.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_COMBINATIONS = 4096
};

size_t certified_input(const certified *run, const char *name, size_t length)
{
    for (size_t j = 0; j < run->d; j++) {
        const char *input = hf_model_feature(run->model, j);
        if (strlen(input) == length && memcmp(input, name, length) == 0) return j;
    }
    return run->d;
}

bool certified_is_category(const certified *run, size_t j)
{
    return hf_model_category(run->model, j, NULL) != NULL;
}

/* Whether an input stands for a text of that column. */
static bool is_of_column(const certified *run, size_t j, const char *column)
{
    const char *own = hf_model_category(run->model, j, NULL);
    return own != NULL && strcmp(own, column) == 0;
}

bool certified_select(const certified *run, const char *name, bool *set)
{
    const size_t own = certified_input(run, name, strlen(name));
    bool found = own < run->d;
    if (found) set[own] = true;
    for (size_t j = 0; j < run->d && own == run->d; j++) {
        if (!is_of_column(run, j, name)) continue;
        set[j] = true;
        found = true;
    }
    return found;
}

/* Adds the inputs that an option names, `valued`: as NAME=VALUE. False when out of memory. */
static bool mark_named(const certified *run, const char *option, bool valued, bool *set)
{
    const tool_arguments *a = run->arguments;
    bool kept = true;
    for (size_t i = 0; i < a->count; i++) {
        tool_names names = {0};
        if (strcmp(a->list[i].option->name, option) != 0 || !take_names(a->list[i].value, &names)) continue;
        for (size_t k = 0; k < names.count && kept; k++) {
            const char *equals = valued ? strrchr(names.list[k], '=') : NULL;
            const size_t length = equals != NULL ? (size_t)(equals - names.list[k]) : strlen(names.list[k]);
            char *name = with_ending(names.list[k], length, "");
            kept = name != NULL;
            if (kept) (void)certified_select(run, name, set);
            free(name);
        }
        names_free(&names);
    }
    return kept;
}

hf_status certified_hold_categories(certified *run)
{
    bool *named = calloc(run->d + 1, sizeof *named);
    const bool known = named != NULL && mark_named(run, "features", false, named) &&
                       mark_named(run, "group", false, named) && mark_named(run, "radius", true, named);
    for (size_t j = 0; j < run->d && known; j++)
        if (certified_is_category(run, j) && !named[j]) run->unit[j] = 0.0;
    free(named);
    return known ? HF_OK : HF_ERR_MEMORY;
}

bool certified_moves_category(const certified *run)
{
    for (size_t j = 0; j < run->d; j++)
        if (run->unit[j] > 0.0 && certified_is_category(run, j)) return true;
    return false;
}

/* ---- boxes ---------------------------------------------------------------------------------------------------- */

/* Inputs from j on that are of the same column. */
static size_t same_column(const certified *run, size_t j)
{
    const char *column = hf_model_category(run->model, j, NULL);
    size_t count = 1;
    while (column != NULL && j + count < run->d && is_of_column(run, j + count, column)) count++;
    return count;
}

bool certified_take_category(const certified *run, const char *name, double *lower, double *upper)
{
    const size_t j = certified_input(run, name, strlen(name));
    const char *column = j < run->d ? hf_model_category(run->model, j, NULL) : NULL;
    if (column == NULL) return false;
    if (lower == NULL) return true;
    size_t first = j;
    while (first > 0 && is_of_column(run, first - 1, column)) first--;
    const size_t end = first + same_column(run, first);
    for (size_t k = first; k < end; k++) lower[k] = upper[k] = k == j ? 1.0 : 0.0;
    return true;
}

/* Combination `index` of the columns whose side is not told (NaN) into a box. */
static void combine(const certified *run, size_t index, double *lower, double *upper)
{
    for (size_t j = 0, count; j < run->d; j += count) {
        count = same_column(run, j);
        if (lower[j] == lower[j] || !certified_is_category(run, j)) continue;
        if (count == 0) return; /* a column has a text */
        for (size_t k = 0; k < count; k++) lower[j + k] = upper[j + k] = k == index % count ? 1.0 : 0.0;
        index /= count;
    }
}

/* How many combinations there are; MOST_COMBINATIONS + 1: more than that. `first`: an input of one of them. */
static size_t count_combinations(const certified *run, size_t *first)
{
    size_t boxes = 1;
    for (size_t j = 0, count; j < run->d && boxes <= MOST_COMBINATIONS; j += count) {
        count = same_column(run, j);
        if (run->lower[j] == run->lower[j] || !certified_is_category(run, j)) continue;
        boxes *= count;
        *first = j;
    }
    return boxes <= MOST_COMBINATIONS ? boxes : MOST_COMBINATIONS + 1;
}

hf_status certified_each_category(certified *run)
{
    size_t first = 0;
    const size_t d = run->d, boxes = count_combinations(run, &first);
    if (boxes > MOST_COMBINATIONS)
        return REFUSE(
            run, "--box: there are more than %d combinations of texts; say some of them, as in --box '%s'",
            (int)MOST_COMBINATIONS, hf_model_feature(run->model, first));
    double *lower = calloc(boxes * d + 1, sizeof *lower), *upper = calloc(boxes * d + 1, sizeof *upper);
    for (size_t b = 0; b < boxes && lower != NULL && upper != NULL; b++) {
        memcpy(lower + b * d, run->lower, d * sizeof *lower);
        memcpy(upper + b * d, run->upper, d * sizeof *upper);
        combine(run, b, lower + b * d, upper + b * d);
    }
    free(run->lower);
    free(run->upper);
    run->lower = lower;
    run->upper = upper;
    run->m = boxes;
    return lower != NULL && upper != NULL ? HF_OK : HF_ERR_MEMORY;
}
