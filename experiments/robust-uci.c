/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file robust-uci.c
 * @brief Does the default stay accurate when training readings are wrong, and harmless when none is?
 *
 * Seven UCI sets, splits of 80 % to train and 20 % to test, and damage to the training part only
 * (contaminate.h). Scores are in units of the clean training targets' sd. Every fitted model is one line of
 * JSON; with --json FILE the lines are kept, and a run that was stopped goes on where it was.
 */
#include "common/pool.h"
#include "common/uci.h"
#include "common/verdict.h"
#include "common/words.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: robust-uci [option]...\n"
    "Accuracy of the default, its peers and an oracle on seven UCI sets with damaged training readings.\n"
    "\n"
    "  --data DIR        folder with <set>/<set>.csv (default ../shared/data)\n"
    "  --sets LIST       of boston,energy,yacht,parkinsons,concrete,airfoil,wine (default all)\n"
    "  --splits A..B     numbers of the splits (default 0..19)\n"
    "  --methods LIST    of gp,rcgp,smooth,default,oracle (default all)\n"
    "  --kinds LIST      of none,uniform,asymmetric,focused (default all)\n"
    "  --share LIST      shares of damaged readings in per cent, for every set (default 10, and on\n"
    "                    boston, yacht and parkinsons also 2 and 25)\n"
    "  --full            all rows of concrete, airfoil and wine instead of 800\n"
    "  --seed-offset N   added to every seed: fresh splits and fresh damage (default 0)\n"
    "  --jobs K          processes at once, one thread each (default 1)\n"
    "  --json FILE       append each fitted model as a line of JSON; models already there are not fitted "
    "again\n"
    "                    (use one file for one set of options)\n"
    "  --report          only sum up what is in the file of --json\n"
    "  --help            this text\n"
    "\n"
    "Example: robust-uci --sets yacht,boston --splits 0..4 --jobs 2 --json /tmp/quick.jsonl\n";

typedef struct options {
    const char *data, *json;
    words sets, methods, kinds, shares;
    long first, last, offset;
    size_t jobs;
    bool full, report, shares_given;
} options;

typedef struct task {
    const uci_set *set;
    damage what;
    long split;
} task;

typedef struct plan {
    options options;
    task *tasks;
    size_t count;
    damage damages[16]; /**< every damage that occurs, for the tables */
    size_t damage_count;
    records done;
    FILE *file;
} plan;

static bool known_set(const char *name)
{
    return uci_find(name) != NULL;
}

static bool known_kind(const char *name)
{
    static const char *const kinds[] = {"none", "uniform", "asymmetric", "focused"};
    for (size_t i = 0; i < 4; ++i)
        if (strcmp(name, kinds[i]) == 0) return true;
    return false;
}

static bool known_share(const char *text)
{
    char *end;
    double share = strtod(text, &end);
    return end != text && !*end && share > 0.0 && share < 50.0;
}

static void read_options(int argc, char **argv, options *o)
{
    enum {
        DATA,
        SETS,
        SPLITS,
        METHODS,
        KINDS,
        SHARE,
        FULL,
        OFFSET,
        JOBS,
        JSON,
        REPORT,
        HELP
    };
    static const struct option names[] = {{"data", 1, NULL, DATA},     {"sets", 1, NULL, SETS},
                                          {"splits", 1, NULL, SPLITS}, {"methods", 1, NULL, METHODS},
                                          {"kinds", 1, NULL, KINDS},   {"share", 1, NULL, SHARE},
                                          {"full", 0, NULL, FULL},     {"seed-offset", 1, NULL, OFFSET},
                                          {"jobs", 1, NULL, JOBS},     {"json", 1, NULL, JSON},
                                          {"report", 0, NULL, REPORT}, {"help", 0, NULL, HELP},
                                          {NULL, 0, NULL, 0}};
    int which;
    while ((which = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (which) {
        case DATA:
            o->data = optarg;
            break;
        case SETS:
            words_parse(&o->sets, "sets", optarg, known_set);
            break;
        case SPLITS:
            words_range("splits", optarg, &o->first, &o->last);
            break;
        case METHODS:
            words_parse(&o->methods, "methods", optarg, method_known);
            break;
        case KINDS:
            words_parse(&o->kinds, "kinds", optarg, known_kind);
            break;
        case SHARE:
            words_parse(&o->shares, "share", optarg, known_share);
            o->shares_given = true;
            break;
        case FULL:
            o->full = true;
            break;
        case OFFSET:
            o->offset = words_number("seed-offset", optarg, 0, 1000000000);
            break;
        case JOBS:
            o->jobs = (size_t)words_number("jobs", optarg, 1, 64);
            break;
        case JSON:
            o->json = optarg;
            break;
        case REPORT:
            o->report = true;
            break;
        case HELP:
            fputs(usage, stdout);
            exit(0);
        default:
            fputs(usage, stderr);
            exit(2);
        }
    }
    if (optind < argc || (o->report && !o->json)) {
        fputs(usage, stderr);
        exit(2);
    }
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
    for (long split = p->options.first; split <= p->options.last; ++split)
        p->tasks[p->count++] = (task){set, {kind, share}, split};
}

static bool wanted_share(const options *o, const uci_set *set, const char *share)
{
    return o->shares_given || strcmp(share, "10") == 0 || set->other_shares;
}

static void make_plan(plan *p)
{
    const options *o = &p->options;
    size_t most = o->sets.count * o->kinds.count * o->shares.count * (size_t)(o->last - o->first + 1);
    p->tasks = calloc(most, sizeof *p->tasks);
    if (!p->tasks) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    for (size_t s = 0; s < o->sets.count; ++s) {
        const uci_set *set = uci_find(o->sets.items[s]);
        if (!o->report && !uci_present(o->data, set)) {
            fprintf(stderr, "skipped %s: %s/%s/%s.csv is not there\n", set->name, o->data, set->name,
                    set->name);
            continue;
        }
        for (size_t k = 0; k < o->kinds.count; ++k) {
            if (strcmp(o->kinds.items[k], "none") == 0) {
                add_task(p, set, "none", 0.0);
                continue;
            }
            for (size_t j = 0; j < o->shares.count; ++j)
                if (wanted_share(o, set, o->shares.items[j]))
                    add_task(p, set, o->kinds.items[k], strtod(o->shares.items[j], NULL) / 100.0);
        }
    }
}

static record key_of(const task *t, const char *method)
{
    record key = {.share = t->what.share, .split = t->split};
    snprintf(key.set, sizeof key.set, "%s", t->set->name);
    snprintf(key.kind, sizeof key.kind, "%s", t->what.kind);
    snprintf(key.method, sizeof key.method, "%s", method);
    return key;
}

static bool work(size_t number, FILE *out, void *user)
{
    const plan *p = user;
    const task *t = &p->tasks[number];
    hf_context *ctx = hf_context_create();
    hf_contamination kind;
    problem data;
    bool ok = ctx && hf_context_set_threads(ctx, 1) >= 0 &&
              hf_contamination_parse(ctx, t->what.kind, &kind) >= 0 &&
              uci_problem(ctx, p->options.data, t->set, p->options.full, t->split, p->options.offset, kind,
                          t->what.share, &data);
    for (size_t m = 0; ok && m < p->options.methods.count; ++m) {
        record item = key_of(t, p->options.methods.items[m]);
        if (records_find(&p->done, &item)) continue;
        ok = method_run(ctx, item.method, &data, &item) && record_write(out, &item);
        if (!ok)
            fprintf(stderr, "%s, split %ld, %s %g: %s failed\n", item.set, item.split, item.kind, item.share,
                    item.method);
    }
    if (ok || ctx) hf_context_free(ctx);
    return ok;
}

static bool collect(const char *line, void *user)
{
    plan *p = user;
    record item;
    if (!record_read(line, &item)) return false;
    records_add(&p->done, &item);
    if (p->file && (fprintf(p->file, "%s\n", line) < 0 || fflush(p->file) != 0)) {
        perror(p->options.json);
        return false;
    }
    return true;
}

static size_t run(plan *p)
{
    size_t *left = calloc(p->count ? p->count : 1, sizeof *left), count = 0, failed = 0;
    pool_calls calls = {work, collect, p};
    if (!left) return p->count;
    for (size_t i = 0; i < p->count; ++i) {
        bool missing = false;
        for (size_t m = 0; m < p->options.methods.count; ++m) {
            record key = key_of(&p->tasks[i], p->options.methods.items[m]);
            missing = missing || !records_find(&p->done, &key);
        }
        if (missing) left[count++] = i;
    }
    if (count) failed = pool_run(left, count, p->options.jobs, &calls);
    free(left);
    return failed;
}

static void report(const plan *p)
{
    verdict v = {0};
    printf(
        "holdfast %s on %s. Splits %ld..%ld, seed offset %ld%s. Scores in units of the clean training sd.\n",
        hf_version(), hf_blas_description(), p->options.first, p->options.last, p->options.offset,
        p->options.full ? ", all rows" : ", large sets sampled to 800 rows");
    for (size_t s = 0; s < p->options.sets.count; ++s)
        verdict_table(&p->done, p->options.sets.items[s], p->damages, p->damage_count);
    verdict_heading();
    for (size_t s = 0; s < p->options.sets.count; ++s)
        verdict_aims(&p->done, p->options.sets.items[s], uci_find(p->options.sets.items[s])->limit,
                     p->damages, p->damage_count, &v);
    printf("\n%zu aims met, %zu missed.\n", v.met, v.missed);
}

int main(int argc, char **argv)
{
    plan p = {0};
    options *o = &p.options;
    size_t failed = 0;
    o->data = "../shared/data";
    o->last = 19;
    o->jobs = 1;
    words_parse(&o->sets, "sets", "boston,energy,yacht,parkinsons,concrete,airfoil,wine", known_set);
    words_parse(&o->methods, "methods", "gp,rcgp,smooth,default,oracle", method_known);
    words_parse(&o->kinds, "kinds", "none,uniform,asymmetric,focused", known_kind);
    words_parse(&o->shares, "share", "10,2,25", known_share);
    read_options(argc, argv, o);
    make_plan(&p);
    if (p.count == 0) {
        fprintf(stderr, "robust-uci: no data in %s: give the folder with --data DIR (nothing was run)\n",
                o->data);
        free(p.tasks);
        return 0;
    }
    if (o->json && !records_load(&p.done, o->json)) return 1;
    if (o->json && !o->report && !(p.file = fopen(o->json, "a"))) {
        perror(o->json);
        return 1;
    }
    if (!o->report) failed = run(&p);
    report(&p);
    if (p.file && fclose(p.file) != 0) failed += 1;
    if (failed) fprintf(stderr, "robust-uci: %zu tasks failed; the tables hold what there is\n", failed);
    records_free(&p.done);
    free(p.tasks);
    return failed ? 1 : 0;
}
