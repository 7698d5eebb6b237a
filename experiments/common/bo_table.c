/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/picture.h"
#include "common/quantile.h"
#include "common/room.h"

enum {
    NAMES_MOST = 64
};

typedef struct names {
    const char *items[NAMES_MOST];
    size_t count;
} names;

static void names_add(names *list, const char *name)
{
    for (size_t i = 0; i < list->count; ++i)
        if (strcmp(list->items[i], name) == 0) return;
    if (list->count < NAMES_MOST) list->items[list->count++] = name;
}

void bo_runs_add(bo_runs *runs, const bo_run *run)
{
    if (runs->count == runs->capacity) {
        runs->capacity = runs->capacity ? 2 * runs->capacity : 256;
        runs->items = room_more(runs->items, runs->capacity, sizeof *runs->items);
    }
    runs->items[runs->count++] = *run;
}

void bo_runs_free(bo_runs *runs)
{
    free(runs->items);
    *runs = (bo_runs){0};
}

static bool read_run(const char *line, bo_run *out)
{
    int used = 0;
    *out = (bo_run){0};
    if (sscanf(line, "%23[^,],%23[^,],%lf,%ld,%zu%n", out->problem, out->method, &out->wrong, &out->seed,
               &out->evaluations, &used) != 5)
        return false;
    for (size_t i = 0; i < BO_TENTHS; ++i) {
        int more = 0;
        if (sscanf(line + used, ",%lf%n", &out->regret[i], &more) != 1) return false;
        used += more;
    }
    return strcmp(line + used, "\n") == 0;
}

static bool is_run(const bo_run *r, const char *problem, const char *method, double wrong)
{
    return strcmp(r->problem, problem) == 0 && strcmp(r->method, method) == 0 && r->wrong == wrong;
}

const bo_run *bo_runs_find(const bo_runs *runs, const bo_run *key)
{
    for (size_t i = 0; i < runs->count; ++i) {
        const bo_run *r = &runs->items[i];
        if (is_run(r, key->problem, key->method, key->wrong) && r->seed == key->seed) return r;
    }
    return NULL;
}

bool bo_runs_load(bo_runs *runs, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0, number = 0;
    bool good = file != NULL;
    if (!file) perror(path);
    while (good && getline(&line, &capacity, file) >= 0) {
        bo_run run;
        if (++number == 1 && strncmp(line, "problem,", 8) == 0) continue;
        if (read_run(line, &run)) {
            good = !bo_runs_find(runs, &run);
            if (good)
                bo_runs_add(runs, &run);
            else
                fprintf(stderr, "%s:%zu: this run is there already: %s", path, number, line);
        } else if (strchr(line, '\n')) {
            fprintf(stderr, "%s:%zu: no run: %s", path, number, line);
            good = false;
        }
    }
    free(line);
    if (file) fclose(file);
    return good;
}

static bool begin(FILE *out)
{
    fputs("problem,peer,wrong,seed,evaluations", out);
    for (int i = 1; i <= BO_TENTHS; ++i) fprintf(out, ",r%d", 100 * i / BO_TENTHS);
    return fputc('\n', out) != EOF && fflush(out) == 0;
}

static bool write_run(FILE *out, const bo_run *r)
{
    fprintf(out, "%s,%s,%g,%ld,%zu", r->problem, r->method, r->wrong, r->seed, r->evaluations);
    for (size_t i = 0; i < BO_TENTHS; ++i) fprintf(out, ",%.4g", r->regret[i]);
    return fputc('\n', out) != EOF && fflush(out) == 0;
}

bool bo_runs_save(const bo_runs *runs, const char *path)
{
    FILE *file = fopen(path, "w");
    bool good = file && begin(file);
    for (size_t i = 0; i < runs->count && good; ++i) good = write_run(file, &runs->items[i]);
    if (file && fclose(file) != 0) good = false;
    if (!good) perror(path);
    return good;
}

bo_cell bo_runs_cell(const bo_runs *runs, const char *problem, const char *method, double wrong, size_t tenth)
{
    double *values = room(runs->count, sizeof *values);
    bo_cell out = {0};
    for (size_t i = 0; i < runs->count; ++i)
        if (is_run(&runs->items[i], problem, method, wrong))
            values[out.seeds++] = runs->items[i].regret[tenth];
    out.lower = quantile_of(values, out.seeds, 0.25);
    out.median = median_of(values, out.seeds);
    out.upper = quantile_of(values, out.seeds, 0.75);
    free(values);
    return out;
}

static names methods_of(const bo_runs *runs)
{
    names out = {.count = 0};
    for (size_t i = 0; i < runs->count; ++i) names_add(&out, runs->items[i].method);
    return out;
}

static names problems_of(const bo_runs *runs)
{
    names out = {.count = 0};
    for (size_t i = 0; i < runs->count; ++i) names_add(&out, runs->items[i].problem);
    return out;
}

const char *bo_runs_best(const bo_runs *runs, const char *problem, double wrong, const char *ours)
{
    const names methods = methods_of(runs);
    const char *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < methods.count; ++i) {
        if (ours && strcmp(methods.items[i], ours) == 0) continue;
        const bo_cell cell = bo_runs_cell(runs, problem, methods.items[i], wrong, BO_TENTHS - 1);
        if (cell.seeds && (!best || cell.median < least)) {
            best = methods.items[i];
            least = cell.median;
        }
    }
    return best;
}

static void print_cell(FILE *out, const bo_cell *cell, size_t most, bool best)
{
    if (!cell->seeds) {
        fputs(" - |", out);
        return;
    }
    fprintf(out, best ? " **%.3g** (%.2g, %.2g)" : " %.3g (%.2g, %.2g)", cell->median, cell->lower,
            cell->upper);
    if (cell->seeds < most) fprintf(out, ", %zu seeds", cell->seeds);
    fputs(" |", out);
}

static void print_ratio(FILE *out, const bo_cell *ours, const bo_cell *peer, double wrong)
{
    const double asked = wrong > 0.0 ? 1.0 / 3.0 : 1.0;
    if (!ours->seeds || !peer->seeds)
        fputs(" - | - |", out);
    else if (peer->median > 0.0)
        fprintf(out, " %.3g | %s |", ours->median / peer->median,
                ours->median <= asked * peer->median ? "yes" : "no");
    else
        fprintf(out, " - | %s |", ours->median <= 0.0 ? "yes" : "no");
}

static void print_share(FILE *out, const bo_runs *runs, double wrong, const char *ours)
{
    const names methods = methods_of(runs), problems = problems_of(runs);
    size_t most = 0;
    fprintf(out, "\n### %g %% wrong values\n\n| problem |", 100.0 * wrong);
    for (size_t i = 0; i < methods.count; ++i) fprintf(out, " %s |", methods.items[i]);
    fputs(ours ? " best peer | ratio | reached |\n|---|" : " best |\n|---|", out);
    for (size_t i = 0; i < methods.count + (ours ? 3 : 1); ++i) fputs("---|", out);
    fputc('\n', out);
    for (size_t j = 0; j < problems.count; ++j)
        for (size_t i = 0; i < methods.count; ++i) {
            const bo_cell cell =
                bo_runs_cell(runs, problems.items[j], methods.items[i], wrong, BO_TENTHS - 1);
            if (cell.seeds > most) most = cell.seeds;
        }
    for (size_t j = 0; j < problems.count; ++j) {
        const char *problem = problems.items[j], *best = bo_runs_best(runs, problem, wrong, ours);
        fprintf(out, "| %s |", problem);
        for (size_t i = 0; i < methods.count; ++i) {
            const bo_cell cell = bo_runs_cell(runs, problem, methods.items[i], wrong, BO_TENTHS - 1);
            print_cell(out, &cell, most, best && strcmp(best, methods.items[i]) == 0);
        }
        fprintf(out, " %s |", best ? best : "-");
        if (ours) {
            const bo_cell own = bo_runs_cell(runs, problem, ours, wrong, BO_TENTHS - 1);
            const bo_cell peer =
                best ? bo_runs_cell(runs, problem, best, wrong, BO_TENTHS - 1) : (bo_cell){0};
            print_ratio(out, &own, &peer, wrong);
        }
        fputc('\n', out);
    }
}

typedef struct shares {
    double items[NAMES_MOST];
    size_t count;
} shares;

static shares shares_of(const bo_runs *runs)
{
    shares out = {.count = 0};
    for (size_t i = 0; i < runs->count; ++i) {
        size_t k = 0;
        while (k < out.count && out.items[k] != runs->items[i].wrong) ++k;
        if (k == out.count && out.count < NAMES_MOST) out.items[out.count++] = runs->items[i].wrong;
    }
    return out;
}

void bo_table_print(FILE *out, const bo_runs *runs, const char *ours)
{
    const shares all = shares_of(runs);
    fputs("Median simple regret at the end (quartiles); the best peer's is bold.\n", out);
    for (size_t k = 0; k < all.count; ++k) print_share(out, runs, all.items[k], ours);
}

/* Mean and standard error of one method's last regrets. */
typedef struct spread {
    double mean, error;
} spread;

static spread spread_of(size_t count, const double *values)
{
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; ++i) mean += values[i] / (double)count;
    for (size_t i = 0; i < count; ++i) squares += (values[i] - mean) * (values[i] - mean);
    return (spread){mean, count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : NAN};
}

static void print_pair(FILE *out, const bo_runs *runs, const char *problem, double wrong, const char *first,
                       const char *second)
{
    double *a = room(runs->count, sizeof *a), *b = room(runs->count, sizeof *b);
    size_t count = 0, lower = 0;
    for (size_t i = 0; i < runs->count; ++i) {
        if (!is_run(&runs->items[i], problem, first, wrong)) continue;
        bo_run key = runs->items[i];
        snprintf(key.method, sizeof key.method, "%s", second);
        const bo_run *other = bo_runs_find(runs, &key);
        if (!other) continue;
        a[count] = runs->items[i].regret[BO_TENTHS - 1];
        b[count] = other->regret[BO_TENTHS - 1];
        lower += a[count] < b[count];
        ++count;
    }
    const spread sa = spread_of(count, a), sb = spread_of(count, b);
    if (count > 0) {
        const char *verdict = sa.mean + sa.error < sb.mean - sb.error   ? "lower"
                              : sb.mean + sb.error < sa.mean - sa.error ? "higher"
                                                                        : "overlap";
        fprintf(out, "| %s | %.3g +- %.2g | %.3g +- %.2g | %zu of %zu | %s |\n", problem, sa.mean, sa.error,
                sb.mean, sb.error, lower, count, verdict);
    }
    free(a);
    free(b);
}

void bo_pair_print(FILE *out, const bo_runs *runs, const char *first, const char *second)
{
    const shares all = shares_of(runs);
    const names problems = problems_of(runs);
    fputs("\nMean simple regret at the end +- its standard error, over the seeds that both have run.\n", out);
    for (size_t k = 0; k < all.count; ++k) {
        fprintf(out,
                "\n### %g %% wrong values\n\n| problem | %s | %s | lower on | intervals "
                "|\n|---|---|---|---|---|\n",
                100.0 * all.items[k], first, second);
        for (size_t j = 0; j < problems.count; ++j)
            print_pair(out, runs, problems.items[j], all.items[k], first, second);
    }
}

/* The data of one line: evaluations, median, quartiles. Regrets of 0 are drawn at the lower edge. */
static size_t print_curve(FILE *out, const bo_runs *runs, const char *problem, const char *method,
                          double wrong, size_t which)
{
    size_t evaluations = 0, points = 0;
    for (size_t i = 0; i < runs->count; ++i)
        if (is_run(&runs->items[i], problem, method, wrong)) evaluations = runs->items[i].evaluations;
    fprintf(out, "$line%zu << EOD\n", which);
    for (size_t k = 0; k < BO_TENTHS && evaluations; ++k) {
        const bo_cell cell = bo_runs_cell(runs, problem, method, wrong, k);
        fprintf(out, "%zu %.5g %.5g %.5g\n", evaluations * (k + 1) / BO_TENTHS, fmax(cell.median, 1e-8),
                fmax(cell.lower, 1e-8), fmax(cell.upper, 1e-8));
        ++points;
    }
    fputs("EOD\n", out);
    return points;
}

/* Colour and width of the line of a method: ours is black and broad. */
static void print_style(FILE *out, const names *methods, size_t which, const char *ours)
{
    static const char *const colours[] = {"#d1495b", "#1f7a8c", "#e0a030", "#5a8f3c",
                                          "#8d6a9f", "#3b6fb5", "#a0522d", "#909090"};
    if (ours && strcmp(methods->items[which], ours) == 0)
        fputs("lw 3.5 lc rgb 'black'", out);
    else
        fprintf(out, "lw 2 lc rgb '%s'", colours[which % (sizeof colours / sizeof *colours)]);
}

static void print_panel(FILE *out, const bo_runs *runs, const char *problem, double wrong,
                        const names *methods, const char *ours)
{
    bool drawn[NAMES_MOST];
    const char *separator = "plot ";
    for (size_t i = 0; i < methods->count; ++i)
        drawn[i] = print_curve(out, runs, problem, methods->items[i], wrong, i) > 0;
    fputs("set title ", out);
    picture_quote(out, problem);
    fputc('\n', out);
    for (size_t i = 0; i < methods->count; ++i) {
        if (!drawn[i]) continue;
        fprintf(out, "%s$line%zu using 1:3:4 with filledcurves ", separator, i);
        print_style(out, methods, i, ours);
        fprintf(out, " fs transparent solid 0.12 noborder, $line%zu using 1:2 with lines ", i);
        print_style(out, methods, i, ours);
        separator = ", ";
    }
    fputc('\n', out);
}

/* A panel of names alone: they would hide curves. */
static void print_names(FILE *out, const names *methods, const char *ours)
{
    fputs("unset title\nunset xlabel\nunset ylabel\nunset tics\nunset border\nunset grid\nunset logscale\n"
          "set key center left Left reverse samplen 3\nset xrange [0:1]\nset yrange [0:1]\n",
          out);
    for (size_t i = 0; i < methods->count; ++i) {
        fputs(i ? ", NaN with lines " : "plot NaN with lines ", out);
        print_style(out, methods, i, ours);
        fputs(" title ", out);
        picture_quote(out, methods->items[i]);
    }
    fputc('\n', out);
}

bool bo_curves_draw(const bo_runs *runs, double wrong, const char *ours, const char *stem)
{
    const names methods = methods_of(runs);
    names problems = {.count = 0};
    for (size_t i = 0; i < runs->count; ++i)
        if (runs->items[i].wrong == wrong) names_add(&problems, runs->items[i].problem);
    if (!problems.count) {
        fprintf(stderr, "%s: no run has a share of %g wrong values\n", stem, wrong);
        return false;
    }
    const int panels = (int)problems.count + 1, columns = panels < 4 ? panels : 4;
    const int rows = (panels + columns - 1) / columns;
    picture p;
    picture_begin(&p);
    fprintf(
        p.script,
        "set multiplot layout %d,%d\nset xlabel 'evaluations'\nset ylabel 'simple regret'\nset logscale y\n"
        "set format y '10^{%%T}'\nunset key\n",
        rows, columns);
    for (size_t j = 0; j < problems.count; ++j)
        print_panel(p.script, runs, problems.items[j], wrong, &methods, ours);
    print_names(p.script, &methods, ours);
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 400 * columns, 330 * rows);
}
