/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file robust-uci.c
 * @brief Does the default stay accurate when training readings are wrong, and harmless when none is?
 *
 * Seven UCI sets, splits of 80 % to train and 20 % to test, and damage to the training part only
 * (contaminate.h). Scores are in units of the clean training targets' sd. Every fitted model is one line of
 * JSON; with --json FILE the lines are kept, and a run that was stopped goes on where it was.
 */
#include "common/room.h"
#include "common/sets.h"
#include "common/study.h"
#include "common/uci.h"
#include "common/verdict.h"

#include <stdlib.h>
#include <string.h>

typedef struct task {
    const uci_set *set;
    damage what;
    long split;
} task;

/* The request, and the tasks that come of it. */
typedef struct plan {
    study study;
    const char *data;
    words sets, methods, kinds, shares;
    bool full, shares_given;
    task *tasks;
    damage damages[16]; /* every damage that occurs, for the tables */
    size_t damage_count;
} plan;

static bool known_share(const char *text)
{
    char *end;
    double share = strtod(text, &end);
    return end != text && !*end && share > 0.0 && share < 50.0;
}

static void read_options(int argc, char **argv, plan *p)
{
    option_row rows[] = {
        option_text("data", "DIR", "folder with <set>/<set>.csv " SETS_DEFAULT, &p->data),
        OPTION_SOME("sets", &p->sets, "boston,energy,yacht,parkinsons,concrete,airfoil,wine"),
        OPTION_SOME("methods", &p->methods, "gp,rcgp,smooth,default,oracle"),
        OPTION_SOME("kinds", &p->kinds, "none,uniform,asymmetric,focused"),
        option_list("share", "LIST",
                    "shares of damaged readings in per cent, for every set (default 10, and on\n"
                    "boston, yacht and parkinsons also 2 and 25)",
                    &p->shares, "10,2,25", known_share),
        option_flag("full", "all rows of concrete, airfoil and wine instead of 800", &p->full)};
    rows[4].given = &p->shares_given;
    study_read(&p->study, argc, argv,
               "usage: robust-uci [option]...\n"
               "Accuracy of the default, its peers and an oracle on seven UCI sets with damaged training "
               "readings.\n",
               "robust-uci --sets yacht,boston --splits 0..4 --jobs 2 --json /tmp/quick.jsonl",
               sizeof rows / sizeof *rows, rows);
}

static void add_task(plan *p, const uci_set *set, const char *kind, double share)
{
    size_t k = 0;
    while (k < p->damage_count && (strcmp(p->damages[k].kind, kind) != 0 || p->damages[k].share != share))
        ++k;
    if (k == p->damage_count) {
        if (k == sizeof p->damages / sizeof *p->damages) {
            fputs("--kinds and --share make more than 16 kinds of damage\n", stderr);
            exit(2);
        }
        p->damages[p->damage_count++] = (damage){kind, share};
    }
    for (long split = p->study.first; split <= p->study.last; ++split)
        p->tasks[p->study.count++] = (task){set, {kind, share}, split};
}

static bool wanted_share(const plan *p, const uci_set *set, const char *share)
{
    return p->shares_given || strcmp(share, "10") == 0 || set->other_shares;
}

static void make_plan(plan *p)
{
    size_t most = p->sets.count * p->kinds.count * p->shares.count * study_splits(&p->study);
    p->tasks = room(most, sizeof *p->tasks);
    for (size_t s = 0; s < p->sets.count; ++s) {
        const uci_set *set = uci_find(p->sets.items[s]);
        for (size_t k = 0; k < p->kinds.count; ++k) {
            if (strcmp(p->kinds.items[k], "none") == 0) {
                add_task(p, set, "none", 0.0);
                continue;
            }
            for (size_t j = 0; j < p->shares.count; ++j)
                if (wanted_share(p, set, p->shares.items[j]))
                    add_task(p, set, p->kinds.items[k], strtod(p->shares.items[j], NULL) / 100.0);
        }
    }
}

static const task *task_of(const study *s, size_t number)
{
    return &((const plan *)s->user)->tasks[number];
}

static bool key_of(const study *s, size_t number, size_t which, record *key)
{
    const plan *p = s->user;
    const task *t = task_of(s, number);
    if (which >= p->methods.count) return false;
    *key = record_key(t->set->name, t->what.kind, p->methods.items[which], t->what.share, t->split);
    return true;
}

static bool data_of(const study *s, hf_context *ctx, size_t number, problem *out)
{
    const plan *p = s->user;
    const task *t = task_of(s, number);
    hf_contamination kind;
    return hf_enum_parse(ctx, HF_ENUM_CONTAMINATION, t->what.kind, &kind) >= 0 &&
           uci_problem(ctx, p->data, t->set, p->full, t->split, s->offset, kind, t->what.share, out);
}

static bool fit(const study *s, hf_context *ctx, const problem *data, record *item)
{
    (void)s;
    return method_run(ctx, item->method, data, item);
}

static void report(const plan *p)
{
    verdict v = {0};
    const study *s = &p->study;
    printf(
        "holdfast %s on %s. Splits %ld..%ld, seed offset %ld%s. Scores in units of the clean training sd.\n",
        hf_version(), hf_blas_description(), s->first, s->last, s->offset,
        p->full ? ", all rows" : ", large sets sampled to 800 rows");
    for (size_t i = 0; i < p->sets.count; ++i)
        verdict_table(&s->done, p->sets.items[i], p->damages, p->damage_count);
    verdict_heading();
    for (size_t i = 0; i < p->sets.count; ++i)
        verdict_aims(&s->done, p->sets.items[i], uci_find(p->sets.items[i])->limit, p->damages,
                     p->damage_count, &v);
    printf("\n%zu aims met, %zu missed.\n", v.met, v.missed);
}

int main(int argc, char **argv)
{
    static const study_calls calls = {key_of, data_of, fit};
    plan p = {.study = {.last = 19, .jobs = 1, .threads = 1, .calls = &calls}, .data = sets_folder()};
    p.study.user = &p;
    read_options(argc, argv, &p);
    if (!p.study.report) uci_keep_present(p.data, &p.sets);
    if (p.sets.count == 0) return SETS_MISSING;
    make_plan(&p);
    size_t failed = study_run(&p.study);
    report(&p);
    free(p.tasks);
    return study_close(&p.study, "robust-uci", failed);
}
