/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file default-bed.c
 * @brief Is the default fit safe on many small real tables, clean and with one or several wrong readings?
 *
 * The tables of data/bed come with Holdfast. A random fifth of the rows of each is held out, and training targets are
 * damaged (bed_damage.h). Scores are in units of the clean training targets' sd. Every fitted model is one line of
 * JSON; with --json FILE the lines are kept, and a run that was stopped goes on where it was.
 */
#include "common/bed.h"
#include "common/bed_damage.h"
#include "common/bed_report.h"
#include "common/room.h"
#include "common/sets.h"
#include "common/study.h"

#include <stdlib.h>
#include <string.h>

static const char KNOWN[] = "known", RESTARTS[] = "restarts";

enum {
    STARTS = 3 /* more than one */
};

typedef struct plan {
    study study;
    const char *data, *half;
    words tables, methods, kinds;
    long most;
    bool full, restarts;
    bed bed;
    bed_case *tasks;
    size_t room;
} plan;

static bool known_kind(const char *name)
{
    return strcmp(name, KNOWN) == 0 || bed_kind_find(name) != NULL;
}

static void read_options(int argc, char **argv, plan *p)
{
    const option_row rows[] = {
        option_text("data", "DIR", "folder with bed/tables.csv in place of that which comes with Holdfast",
                    &p->data),
        option_text("half", "HALF", "tables of the half tune or held, or all (default)", &p->half),
        option_choice("tables", "LIST", "names of at most 32 tables (default all)", &p->tables, NULL, NULL),
        OPTION_SOME("methods", &p->methods, "gp,default,oracle"),
        option_list("kinds", "LIST",
                    "of none,one_6,one_10,one_20,one_x10,one_zero,one_sign,three_10,shift,x10,\n"
                    "zero,swap,stuck,clustered,known (default all)",
                    &p->kinds,
                    "none,one_6,one_10,one_20,one_x10,one_zero,one_sign,three_10,shift,x10,zero,swap,stuck,"
                    "clustered,known",
                    known_kind),
        option_number("most", "N", "rows that a larger table is sampled to (default 1000)", &p->most,
                      BED_FEWEST, 100000),
        option_flag("full", "all splits of all tables; else large ones have fewer", &p->full),
        option_flag("restarts",
                    "in place of all that: what three more starts of the plain GP gain on clean\n"
                    "training rows, of split 0 if --splits does not say otherwise",
                    &p->restarts)};
    study_read(
        &p->study, argc, argv,
        "usage: default-bed [option]...\n"
        "The default beside the plain GP and an oracle on many small real tables, clean and damaged.\n",
        "default-bed --half tune --splits 0 --jobs 2 --json /tmp/quick.jsonl", sizeof rows / sizeof *rows,
        rows);
    if (strcmp(p->half, "all") != 0 && strcmp(p->half, "tune") != 0 && strcmp(p->half, "held") != 0) {
        fprintf(stderr, "--half: \"%s\" is not one of the choices; see --help\n", p->half);
        exit(2);
    }
    if (p->restarts && !p->study.chosen) p->study.last = p->study.first;
}

static void add_task(plan *p, const bed_case *task)
{
    if (p->study.count == p->room) {
        p->room = p->room ? 2 * p->room : 1024;
        p->tasks = room_more(p->tasks, p->room, sizeof *p->tasks);
    }
    p->tasks[p->study.count++] = *task;
}

static bool wanted(const plan *p, const bed_table *t)
{
    if (strcmp(p->half, "all") != 0 && t->held != (strcmp(p->half, "held") == 0)) return false;
    return p->tables.count == 0 || words_hold(&p->tables, t->name);
}

/* Splits of a table: fewer for a large one, whose fits take longest and of which each judges by more rows. */
static long splits_of(const plan *p, const bed_table *t)
{
    const long all = (long)study_splits(&p->study);
    const long some = t->n <= 250 ? all : t->n <= 500 ? 2 : 1;
    return p->full || some > all ? all : some;
}

/* A task, if the damage applies. */
static void try_task(plan *p, hf_context *ctx, const bed_case *task)
{
    problem data;
    bool applies;
    if (!bed_problem(ctx, task, &data, &applies)) exit(1);
    if (applies) add_task(p, task);
    problem_free(&data);
}

static void plan_table(plan *p, hf_context *ctx, const bed_table *t)
{
    static const double shares[] = {0.02, 0.10, 0.25};
    bed_case task = {.table = t, .offset = p->study.offset, .most = (size_t)p->most};
    if (!p->restarts && t->known_count && words_hold(&p->kinds, KNOWN)) {
        task.kind = KNOWN;
        add_task(p, &task);
    }
    if (bed_sound_rows(t) < BED_FEWEST) return;
    for (task.split = p->study.first; task.split < p->study.first + splits_of(p, t); ++task.split) {
        if (p->restarts) {
            task.kind = RESTARTS;
            add_task(p, &task);
        }
        for (size_t k = 0; k < BED_KINDS && !p->restarts; ++k) {
            const bed_kind *kind = bed_kind_at(k);
            task.kind = bed_kind_name(kind);
            if (!words_hold(&p->kinds, task.kind)) continue;
            for (size_t j = 0; j < (bed_kind_shares(kind) ? 3 : 1); ++j) {
                task.share = bed_kind_shares(kind) ? shares[j] : 0.0;
                try_task(p, ctx, &task);
            }
            task.share = 0.0;
        }
    }
}

static void make_plan(plan *p, hf_context *ctx)
{
    for (size_t i = 0; i < p->tables.count; ++i)
        if (!bed_find(&p->bed, p->tables.items[i])) {
            fprintf(stderr, "--tables: \"%s\" is no table of data/bed/tables.csv\n", p->tables.items[i]);
            exit(2);
        }
    for (size_t i = 0; i < p->bed.count; ++i)
        if (wanted(p, &p->bed.tables[i])) plan_table(p, ctx, &p->bed.tables[i]);
}

static const bed_case *task_of(const study *s, size_t number)
{
    return &((const plan *)s->user)->tasks[number];
}

/* Model `which` of a task, or NULL: on clean rows the oracle is the plain GP, and it knows no more about rows that are
 * merely odd. */
static const char *method_of(const plan *p, const bed_case *t, size_t which)
{
    const bool clean = strcmp(t->kind, "none") == 0 || strcmp(t->kind, KNOWN) == 0;
    if (strcmp(t->kind, RESTARTS) == 0) return which == 0 ? "gp" : which == 1 ? RESTARTS : NULL;
    for (size_t k = 0; k < p->methods.count; ++k) {
        if (clean && strcmp(p->methods.items[k], "oracle") == 0) continue;
        if (which-- == 0) return p->methods.items[k];
    }
    return NULL;
}

static bool key_of(const study *s, size_t number, size_t which, record *key)
{
    const bed_case *t = task_of(s, number);
    const char *method = method_of(s->user, t, which);
    if (!method) return false;
    *key = record_key(t->table->name, t->kind, method, t->share, t->split);
    return true;
}

static bool data_of(const study *s, hf_context *ctx, size_t number, problem *out)
{
    bed_case task = *task_of(s, number);
    bool applies;
    if (strcmp(task.kind, KNOWN) == 0) {
        *out = bed_whole(task.table);
        return true;
    }
    if (strcmp(task.kind, RESTARTS) == 0) task.kind = "none";
    return bed_problem(ctx, &task, out, &applies);
}

static bool fit(const study *s, hf_context *ctx, const problem *data, record *item)
{
    hf_fit_settings settings;
    (void)s;
    if (strcmp(item->method, RESTARTS) != 0) return method_run(ctx, item->method, data, item);
    if (hf_fit_settings_preset(ctx, "gp", &settings, sizeof settings) < 0) return false;
    settings.restarts = STARTS;
    return settings_run(ctx, &settings, data, item);
}

static void report(const plan *p)
{
    const study *s = &p->study;
    printf("holdfast %s on %s. Splits %ld..%ld%s, seed offset %ld, at most %ld rows.\n", hf_version(),
           hf_blas_description(), s->first, s->last, p->full ? "" : ", 2 above 250 rows and 1 above 500",
           s->offset, p->most);
    if (p->restarts) {
        bed_report_restarts(&s->done, &p->bed);
        return;
    }
    for (int held = 1; held >= 0; --held) {
        const bed_scope scope = {&s->done, &p->bed, held == 1};
        if (strcmp(p->half, held ? "tune" : "held") != 0) bed_report_half(&scope);
    }
    bed_report_known(&s->done, &p->bed);
}

int main(int argc, char **argv)
{
    static const study_calls calls = {key_of, data_of, fit};
    plan p = {.study = {.last = 4, .jobs = 1, .threads = 1, .calls = &calls},
              .data = sets_folder(),
              .half = "all",
              .most = 1000};
    bool missing;
    p.study.user = &p;
    read_options(argc, argv, &p);
    hf_context *ctx = hf_context_create();
    /* One thread: the fits run in children, which a pool of threads would not survive. */
    if (!ctx || hf_context_set_threads(ctx, 1) < 0) return 1;
    if (!bed_open(ctx, p.data, &p.bed, &missing)) {
        hf_context_free(ctx);
        return missing ? SETS_MISSING : 1;
    }
    make_plan(&p, ctx);
    hf_context_free(ctx);
    size_t failed = study_run(&p.study);
    report(&p);
    free(p.tasks);
    bed_free(&p.bed);
    return study_close(&p.study, "default-bed", failed);
}
