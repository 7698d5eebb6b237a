/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp-scale.c
 * @brief Large tables on a budget: seconds, memory and accuracy of the inducing and the projected solver.
 *
 * Five sets of 15 000 to 45 730 rows, whole or sampled, and made-up data of any size; clean, and with 5 % of
 * the training targets damaged. One process a fit, so that its largest memory is its own.
 */
#include "common/peer.h"
#include "common/room.h"
#include "common/scale_check.h"
#include "common/scale_data.h"
#include "common/scale_report.h"
#include "common/sets.h"
#include "common/study.h"

#include <stdlib.h>
#include <string.h>

enum {
    EXACT_MOST = 2000 /* training rows for exact fits, ours and the peer's */
};

typedef struct task {
    const char *set, *kind;
    size_t rows;
    char method[16];
} task;

typedef struct plan {
    study study;
    const char *data, *peer;
    words sets, kinds, solvers, sizes, rows;
    bool rows_given, check;
    task *tasks;
} plan;

static bool known_size(const char *text)
{
    char *end;
    const unsigned long size = strtoul(text, &end, 10);
    return end != text && !*end && size >= 1 && size <= 100000;
}

static bool known_rows(const char *text)
{
    char *end;
    const unsigned long rows = strtoul(text, &end, 10);
    return strcmp(text, "all") == 0 || (end != text && !*end && rows >= 20 && rows <= 100000000);
}

/* Does the method have a budget that --sizes gives? */
static bool has_size(const char *solver)
{
    return strcmp(solver, "default") != 0 && strcmp(solver, "exact") != 0 && strcmp(solver, "sklearn") != 0;
}

static void read_options(int argc, char **argv, plan *p)
{
    option_row rows[] = {
        option_text("data", "DIR", "folder with <set>/<set>.csv " SETS_DEFAULT, &p->data),
        option_list("sets", "LIST", "of bike,elevators,pol,kin40k,protein (default all) and synthetic",
                    &p->sets, "bike,elevators,pol,kin40k,protein", scale_set_known),
        option_choice("kinds", "LIST", "of none,asymmetric,uniform,focused (default the first two)",
                      &p->kinds, "none,asymmetric", "none,asymmetric,uniform,focused"),
        option_choice(
            "solvers", "LIST",
            "of inducing (preset rcsvgp), weighted and wloo (the same with the objective of that name);\n"
            "projected (preset rcagp), plain (preset sgpr) and svgp (both not robust); default (nothing\n"
            "asked for), exact and sklearn (both up to 2000 training rows);\n"
            "default inducing,projected",
            &p->solvers, "inducing,projected",
            "inducing,projected,plain,weighted,wloo,svgp,default,exact,sklearn"),
        option_list("sizes", "LIST", "inducing inputs and actions (default 64,256)", &p->sizes, "64,256",
                    known_size),
        option_list("rows", "LIST",
                    "rows of a set that take part, or all (default all); of synthetic: training rows",
                    &p->rows, "all", known_rows),
        option_flag("check",
                    "instead of fits: is the variance of a solver below the exact one? With the sizes,\n"
                    "on the rows given (default 2000)",
                    &p->check),
        option_text("peer", "SCRIPT", "of sklearn (default peer_sklearn.py beside this program)", &p->peer),
        option_number("threads", "K", "threads of a fit (default all)", &p->study.threads, 1, 256)};
    rows[5].given = &p->rows_given;
    study_read(&p->study, argc, argv,
               "usage: rcagp-scale [option]...\n"
               "Cost and accuracy of solvers on a budget on large tables.\n",
               "rcagp-scale --sets kin40k --rows 2000,4000,8000 --sizes 64", sizeof rows / sizeof *rows,
               rows);
}

/* ---- tasks ----------------------------------------------------------------------------------------------- */

static size_t rows_of(const char *text)
{
    return strcmp(text, "all") == 0 ? 0 : (size_t)strtoul(text, NULL, 10);
}

static void add_task(plan *p, const task *t, const char *solver, const char *size)
{
    task *new = &p->tasks[p->study.count++];
    *new = *t;
    snprintf(new->method, sizeof new->method, "%.9s%s%.5s", solver, size ? " " : "", size ? size : "");
}

static void add_solvers(plan *p, const task *t)
{
    for (size_t k = 0; k < p->solvers.count; ++k) {
        const char *solver = p->solvers.items[k];
        const bool exact = strcmp(solver, "exact") == 0 || strcmp(solver, "sklearn") == 0;
        if (exact && (t->rows == 0 || t->rows > EXACT_MOST)) continue;
        if (!has_size(solver)) add_task(p, t, solver, NULL);
        for (size_t i = 0; has_size(solver) && i < p->sizes.count; ++i)
            add_task(p, t, solver, p->sizes.items[i]);
    }
}

static void make_tasks(plan *p)
{
    const size_t most =
        p->sets.count * p->rows.count * p->kinds.count * p->solvers.count * (1 + p->sizes.count);
    p->tasks = room(most, sizeof *p->tasks);
    for (size_t i = 0; i < p->sets.count; ++i) {
        const char *set = p->sets.items[i];
        if (!p->study.report && !scale_present(p->data, set)) continue;
        for (size_t r = 0; r < p->rows.count; ++r)
            for (size_t k = 0; k < p->kinds.count; ++k) {
                const task t = {.set = set, .kind = p->kinds.items[k], .rows = rows_of(p->rows.items[r])};
                add_solvers(p, &t);
            }
    }
}

static const task *task_of(const study *s, size_t number, long *split)
{
    const plan *p = s->user;
    *split = s->first + (long)(number % study_splits(s));
    return &p->tasks[number / study_splits(s)];
}

static bool key_of(const study *s, size_t number, size_t which, record *key)
{
    long split;
    const task *t = task_of(s, number, &split);
    if (which > 0) return false;
    *key = record_key(t->set, t->kind, t->method, strcmp(t->kind, "none") == 0 ? 0.0 : 0.05, split);
    if (t->rows) snprintf(key->set, sizeof key->set, "%s, %zu rows", t->set, t->rows);
    return true;
}

static bool data_of(const study *s, hf_context *ctx, size_t number, problem *out)
{
    const plan *p = s->user;
    long split;
    const task *t = task_of(s, number, &split);
    return scale_problem(ctx, p->data, t->set, t->rows, t->kind, split, s->offset, out);
}

static hf_status settings_of(hf_context *ctx, const char *method, hf_fit_settings *out)
{
    const char *space = strchr(method, ' ');
    const size_t size = space ? (size_t)strtoul(space, NULL, 10) : 0;
    const char *preset = "default";
    if (strncmp(method, "inducing", 8) == 0) preset = "rcsvgp";
    if (strncmp(method, "projected", 9) == 0) preset = "rcagp";
    if (strncmp(method, "plain", 5) == 0) preset = "sgpr";
    if (strncmp(method, "svgp", 4) == 0) preset = "svgp";
    if (method[0] == 'w') preset = "rcsvgp";
    const hf_status status = hf_fit_settings_preset(ctx, preset, out, sizeof *out);
    if (status < 0) return status;
    if (strncmp(method, "weighted", 8) == 0) out->objective = HF_OBJECTIVE_WEIGHTED;
    if (strncmp(method, "wloo", 4) == 0) out->objective = HF_OBJECTIVE_WLOO;
    if (strcmp(method, "exact") == 0) out->solver = HF_SOLVER_EXACT;
    out->inducing = size;
    if (out->solver == HF_SOLVER_PROJECTED) out->actions = size;
    return status;
}

static bool fit(const study *s, hf_context *ctx, const problem *data, record *item)
{
    const plan *p = s->user;
    hf_fit_settings settings;
    if (strcmp(item->method, "sklearn") == 0) return peer_run(ctx, p->peer, data, item);
    if (settings_of(ctx, item->method, &settings) < 0) {
        fprintf(stderr, "%s: %s\n", item->method, hf_context_message(ctx));
        return false;
    }
    return settings_run(ctx, &settings, data, item);
}

/* ---- the variance ---------------------------------------------------------------------------------------- */

static size_t check(const plan *p)
{
    size_t failed = 0;
    scale_check_heading();
    for (size_t i = 0; i < p->sets.count; ++i) {
        const char *set = p->sets.items[i];
        if (!scale_present(p->data, set)) continue;
        for (size_t r = 0; r < p->rows.count; ++r) {
            const size_t rows = p->rows_given ? rows_of(p->rows.items[r]) : EXACT_MOST;
            problem data = {0};
            hf_context *ctx = hf_context_create();
            const bool ok = ctx && hf_context_set_threads(ctx, (int)p->study.threads) >= 0 &&
                            scale_problem(ctx, p->data, set, rows, "asymmetric", p->study.first,
                                          p->study.offset, &data) &&
                            scale_check(ctx, set, &data, &p->sizes);
            fflush(stdout);
            failed += !ok;
            problem_free(&data);
            hf_context_free(ctx);
        }
    }
    return failed;
}

int main(int argc, char **argv)
{
    static const study_calls calls = {key_of, data_of, fit};
    char folder[SETS_PATH], peer[SETS_PATH + 32];
    plan p = {.peer = "peer_sklearn.py", .study = {.jobs = 1, .calls = &calls}, .data = sets_folder()};
    study *s = &p.study;
    s->user = &p;
    if (sets_program(folder)) {
        snprintf(peer, sizeof peer, "%speer_sklearn.py", folder);
        p.peer = peer;
    }
    read_options(argc, argv, &p);
    if (p.check) return check(&p) ? 1 : 0;
    make_tasks(&p);
    if (p.study.count == 0) {
        fputs("rcagp-scale: nothing was run\n", stderr);
        free(p.tasks);
        return SETS_MISSING;
    }
    s->count *= study_splits(s);
    size_t failed = study_run(s);
    printf("holdfast %s on %s. 90 %% of the rows train; damage: 5 %% of the training targets less 3 to 9 sd. "
           "Scores in units of "
           "the clean training sd.\n",
           hf_version(), hf_blas_description());
    scale_table(&s->done);
    scale_exponents(&s->done);
    free(p.tasks);
    return study_close(s, "rcagp-scale", failed);
}
