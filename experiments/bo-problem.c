/* SPDX-License-Identifier: Apache-2.0 */
/* bo-problem: evaluates test problems of optimisation for other programs, line by line. Optimisers in any language
 * thus see exactly the same functions, starts and wrong values. */
#include "common/bo_problem.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/options.h"
#include "common/room.h"

static const char heading[] =
    "usage: bo-problem [--list] [--spread NAME] [--data DIR]\n"
    "Evaluates test problems of optimisation; everything is maximised. Reads lines from standard input and\n"
    "answers each at once:\n"
    "  NAME SEED [SHARE]   begins a run: a share of wrong values, default 0.25; answers \"ok NAME ...\"\n"
    "  start N             answers N lines, the points of the common random design of this run\n"
    "  X1 X2 ... XD        the next evaluation: the clean values (objectives, constraints), then what is "
    "told\n"
    "What is not understood is answered by \"error\" and a reason, and is not an evaluation.\n";

typedef struct run {
    bo_problem problem;
    bool open;
    unsigned long long seed;
    size_t evaluations;
    double share;
} run;

static void print_parameter(const bo_parameter *p)
{
    static const char *const kinds[] = {"real", "log", "integer", "category"};
    printf("{\"name\": \"%s\", \"kind\": \"%s\", \"lower\": %.17g, \"upper\": %.17g}", p->name,
           kinds[p->kind], p->lower, p->upper);
}

/* One line of JSON for each problem. */
static void list_problems(void)
{
    size_t count;
    const bo_row *rows = bo_rows(&count);
    for (size_t i = 0; i < count; ++i) {
        const bo_row *r = &rows[i];
        printf("{\"name\": \"%s\", \"about\": \"%s\", \"objectives\": %zu, \"constraints\": %zu, "
               "\"evaluations\": %zu, "
               "\"starts\": %zu, \"proved\": %s, \"needs\": \"%s\", ",
               r->name, r->about, r->objectives, r->constraints, r->evaluations, r->starts,
               r->proved ? "true" : "false", r->file ? r->file : "");
        if (isnan(r->best))
            printf("\"best\": null, ");
        else
            printf("\"best\": %.17g, ", r->best);
        printf("\"reference\": [%.17g, %.17g], \"sd\": [%.17g, %.17g], \"parameters\": [", r->reference[0],
               r->reference[1], r->sd[0], r->sd[1]);
        for (size_t j = 0; j < r->d; ++j) {
            const bo_parameter p = bo_parameter_of(r, j);
            if (j) printf(", ");
            print_parameter(&p);
        }
        printf("]}\n");
    }
}

static int spread(const char *name, const char *folder)
{
    const bo_row *row = bo_find(name);
    bo_problem problem;
    double sd[BO_MOST_OBJECTIVES];
    if (!row) {
        fprintf(stderr, "there is no problem \"%s\"; --list says which there are\n", name);
        return 2;
    }
    if (!bo_open(row, folder, &problem)) return 77;
    bo_spread(&problem, row->spread_points, sd);
    printf("%s", name);
    for (size_t k = 0; k < row->objectives; ++k) printf(" %.17g", sd[k]);
    putchar('\n');
    bo_close(&problem);
    return 0;
}

static void begin(run *r, char *line, const char *folder)
{
    char name[64], rest[8];
    unsigned long long seed;
    double share = 0.25;
    const int read = sscanf(line, "%63s %llu %lf %7s", name, &seed, &share, rest);
    const bo_row *row = bo_find(name);
    if (!row) {
        printf("error there is no problem \"%s\"\n", name);
        return;
    }
    if (read < 2 || read > 3 || !(share >= 0.0 && share <= 1.0)) {
        printf("error a run begins with NAME SEED [SHARE], a share in [0, 1]\n");
        return;
    }
    if (r->open) bo_close(&r->problem);
    r->open = bo_open(row, folder, &r->problem);
    if (!r->open) {
        printf("error the data of \"%s\" are not there\n", name);
        return;
    }
    r->seed = seed;
    r->share = share;
    r->evaluations = 0;
    printf("ok %s dimensions %zu objectives %zu constraints %zu evaluations %zu starts %zu best %.17g\n",
           name, row->d, row->objectives, row->constraints, row->evaluations, row->starts, row->best);
}

static void start(const run *r, const char *line)
{
    size_t count;
    if (!r->open || sscanf(line, "start %zu", &count) != 1 || count > 100000) {
        printf(
            "error start is followed by a number of points, at most 100000, and a run is begun before it\n");
        return;
    }
    const size_t d = r->problem.row->d;
    double *x = room(count * d, sizeof *x);
    bo_start(&r->problem, r->seed, count, x);
    for (size_t i = 0; i < count * d; ++i) printf("%.17g%c", x[i], (i + 1) % d ? ' ' : '\n');
    free(x);
}

/* The numbers of a line; false where there are not d of them and nothing else. */
static bool numbers(char *line, size_t d, double *x)
{
    char *at = line;
    for (size_t j = 0; j < d; ++j) {
        char *end;
        x[j] = strtod(at, &end);
        if (end == at) return false;
        at = end;
    }
    while (isspace((unsigned char)*at)) ++at;
    return *at == '\0';
}

static void evaluate(run *r, char *line)
{
    double x[BO_MOST_PARAMETERS], values[BO_MOST_VALUES];
    char message[200];
    if (!r->open) {
        printf("error a run begins with NAME SEED [SHARE]\n");
        return;
    }
    const bo_row *row = r->problem.row;
    if (!numbers(line, row->d, x)) {
        printf("error a point of %s has %zu numbers and nothing else\n", row->name, row->d);
        return;
    }
    if (!bo_inside(row, x, message)) {
        printf("error %s\n", message);
        return;
    }
    bo_evaluate(&r->problem, x, values);
    for (size_t i = 0; i < row->objectives + row->constraints; ++i) printf("%.17g ", values[i]);
    for (size_t i = 0; i < row->objectives; ++i)
        printf("%.17g ", bo_told(&r->problem, r->seed, r->evaluations, r->share, i, values[i]));
    for (size_t i = 0; i < row->constraints; ++i) printf("%.17g ", values[row->objectives + i]);
    putchar('\n');
    ++r->evaluations;
}

static int answer(const char *folder)
{
    run r = {.share = 0.25};
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) >= 0) {
        char *at = line;
        while (isspace((unsigned char)*at)) ++at;
        if (strncmp(at, "start", 5) == 0)
            start(&r, at);
        else if (isalpha((unsigned char)*at) && strncmp(at, "nan", 3) != 0 && strncmp(at, "inf", 3) != 0)
            begin(&r, at, folder);
        else if (*at)
            evaluate(&r, at);
        if (fflush(stdout) != 0) break;
    }
    free(line);
    if (r.open) bo_close(&r.problem);
    return ferror(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
    const char *folder = NULL, *name = NULL;
    bool list = false;
    const option_row rows[] = {
        option_flag("list", "print the problems, a line of JSON each, and end", &list),
        option_text("spread", "NAME",
                    "compute the standard deviations by which wrong values of a problem are off, and end",
                    &name),
        option_text("data", "DIR", "where the data of others are", &folder),
    };
    options_read(argc, argv, heading, "printf 'branin 1\\n2.5 7.5\\n' | bo-problem",
                 sizeof rows / sizeof *rows, rows);
    if (list) list_problems();
    if (name) return spread(name, folder);
    return list ? 0 : answer(folder);
}
