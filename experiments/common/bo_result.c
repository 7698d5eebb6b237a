/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_result.h"

#include "common/lines.h"
#include "common/quantile.h"
#include "common/room.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void bo_results_add(bo_results *results, const bo_result *item)
{
    if (results->count == results->capacity) {
        results->capacity = results->capacity ? 2 * results->capacity : 256;
        results->items = room_more(results->items, results->capacity, sizeof *results->items);
    }
    results->items[results->count++] = *item;
}

void bo_results_free(bo_results *results)
{
    free(results->items);
    *results = (bo_results){0};
}

static bool is_cell(const bo_run *a, const bo_run *b)
{
    return strcmp(a->problem, b->problem) == 0 && strcmp(a->method, b->method) == 0 && a->wrong == b->wrong;
}

const bo_result *bo_results_find(const bo_results *results, const bo_run *key)
{
    for (size_t i = 0; i < results->count; ++i)
        if (is_cell(&results->items[i].run, key) && results->items[i].run.seed == key->seed)
            return &results->items[i];
    return NULL;
}

/* ---- JSON --------------------------------------------------------------------------------------- */

bool bo_result_write(FILE *out, const bo_result *item)
{
    const bo_run *r = &item->run;
    json_t *regret = json_array();
    for (size_t k = 0; k < BO_TENTHS; ++k) json_array_append_new(regret, json_real(r->regret[k]));
    json_t *object = json_pack(
        "{ss ss sf sI sI so sf sb sI sI sI sI sf sf}", "problem", r->problem, "method", r->method, "share",
        r->wrong, "seed", (json_int_t)r->seed, "evaluations", (json_int_t)r->evaluations, "regret", regret,
        "seen", item->seen, "feasible", (int)item->feasible, "wrong", (json_int_t)item->wrong, "aside",
        (json_int_t)item->aside, "aside_wrong", (json_int_t)item->aside_wrong, "repeats",
        (json_int_t)item->repeats, "seconds", item->seconds, "longest", item->longest);
    const bool ok = object && json_dumpf(object, out, JSON_COMPACT) == 0 && fputc('\n', out) != EOF;
    json_decref(object);
    return ok;
}

static bool read_regret(const json_t *array, double regret[BO_TENTHS])
{
    if (json_array_size(array) != BO_TENTHS) return false;
    for (size_t k = 0; k < BO_TENTHS; ++k) {
        const json_t *value = json_array_get(array, k);
        if (!json_is_number(value)) return false;
        regret[k] = json_number_value(value);
    }
    return true;
}

bool bo_result_read(const char *line, bo_result *out)
{
    json_error_t error;
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error), *regret = NULL;
    const char *problem = NULL, *method = NULL;
    json_int_t seed = 0, evaluations = 0, wrong = 0, aside = 0, aside_wrong = 0, repeats = 0;
    int feasible = 0;
    bo_result r = {.seen = 0.0};
    bool ok =
        object && json_unpack_ex(object, &error, 0, "{ss ss sF sI sI so sF sb sI sI sI sI sF sF}", "problem",
                                 &problem, "method", &method, "share", &r.run.wrong, "seed", &seed,
                                 "evaluations", &evaluations, "regret", &regret, "seen", &r.seen, "feasible",
                                 &feasible, "wrong", &wrong, "aside", &aside, "aside_wrong", &aside_wrong,
                                 "repeats", &repeats, "seconds", &r.seconds, "longest", &r.longest) == 0;
    if (!ok)
        fprintf(stderr, "no result of a run: %s\n", error.text);
    else if (!(ok = read_regret(regret, r.run.regret)))
        fprintf(stderr, "no result of a run: \"regret\" is no array of %d numbers\n", BO_TENTHS);
    if (ok) {
        snprintf(r.run.problem, sizeof r.run.problem, "%s", problem);
        snprintf(r.run.method, sizeof r.run.method, "%s", method);
        r.run.seed = (long)seed;
        r.run.evaluations = (size_t)evaluations;
        r.feasible = feasible != 0;
        r.wrong = (size_t)wrong;
        r.aside = (size_t)aside;
        r.aside_wrong = (size_t)aside_wrong;
        r.repeats = (size_t)repeats;
        *out = r;
    }
    json_decref(object);
    return ok;
}

static bool take(const char *line, void *user)
{
    bo_result item;
    if (!bo_result_read(line, &item)) return false;
    bo_results_add(user, &item);
    return true;
}

bool bo_results_load(bo_results *results, const char *path)
{
    return lines_load(path, take, results);
}

/* ---- the table ------------------------------------------------------------------------------------ */

/* Means but for the medians of regrets and the longest. */
static void print_cell(FILE *out, const bo_results *results, const bo_run *cell)
{
    double *last = room(results->count, sizeof *last), *seen = room(results->count, sizeof *seen);
    double wrong = 0.0, aside = 0.0, aside_wrong = 0.0, repeats = 0.0, seconds = 0.0, longest = 0.0;
    size_t seeds = 0, feasible = 0;
    for (size_t i = 0; i < results->count; ++i) {
        const bo_result *r = &results->items[i];
        if (!is_cell(&r->run, cell)) continue;
        last[seeds] = r->run.regret[BO_TENTHS - 1];
        seen[seeds++] = r->seen;
        feasible += r->feasible;
        wrong += (double)r->wrong;
        aside += (double)r->aside;
        aside_wrong += (double)r->aside_wrong;
        repeats += (double)r->repeats;
        seconds += r->seconds;
        longest = fmax(longest, r->longest);
    }
    const double n = (double)seeds;
    fprintf(out, "| %s | %g %% | %s | %.3g | %.3g | %zu of %zu | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f |\n",
            cell->problem, 100.0 * cell->wrong, cell->method, median_of(last, seeds), median_of(seen, seeds),
            feasible, seeds, wrong / n, aside / n, aside_wrong / n, repeats / n, seconds / n, longest);
    free(last);
    free(seen);
}

void bo_results_print(FILE *out, const bo_results *results)
{
    fputs(
        "\nMedian regret of what is recommended at the end, and of the best that was tried; means over "
        "the\nseeds: values told wrong, trials without a say, of these told wrong, repeated trials, "
        "seconds of the\nprocessor for a run; and the longest time that one proposal took.\n\n"
        "| problem | wrong | method | recommended | tried | feasible | told wrong | aside | of these wrong | "
        "repeats | seconds | longest |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        out);
    for (size_t i = 0; i < results->count; ++i) {
        const bo_run *cell = &results->items[i].run;
        size_t first = 0;
        while (!is_cell(&results->items[first].run, cell)) ++first;
        if (first == i) print_cell(out, results, cell);
    }
}
