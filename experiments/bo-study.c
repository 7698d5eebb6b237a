/* SPDX-License-Identifier: Apache-2.0 */
/* bo-study: studies on the test problems of bo-problem, beside other optimisers. */
#include "common/bo_result.h"
#include "common/options.h"
#include "common/pool.h"
#include "common/room.h"
#include "common/sets.h"

#include <holdfast/version.h>
#include <stdlib.h>
#include <string.h>

static const char heading[] =
    "usage: bo-study [options]\n"
    "Runs studies on test problems of optimisation, with right values and with a share of wrong ones.\n"
    "Prints how far what they recommend is from the best: beside other optimisers, and beside studies that\n"
    "doubt nothing. Problems with two objectives or constraints stand beside random points.\n";

enum {
    USUAL_MOST = 200 /* evaluations of a problem that runs without being named */
};

typedef struct task {
    size_t problem;
    bo_run key;
} task;

typedef struct plan {
    words problems, methods, shares, peers;
    const char *json, *csv, *picture, *data;
    long first, last, jobs, evaluations, percent;
    bool report;
    bo_problem opened[WORDS_MOST];
    size_t count;
    task *tasks;
    size_t task_count;
    bo_results done;
    FILE *file;
} plan;

static bool known_problem(const char *name)
{
    return bo_find(name) != NULL;
}

static bool known_share(const char *text)
{
    char *end;
    const double share = strtod(text, &end);
    return end != text && *end == '\0' && share >= 0.0 && share <= 1.0;
}

static void list_usual(size_t size, char *usual)
{
    size_t count, used = 0;
    const bo_row *rows = bo_rows(&count);
    for (size_t i = 0; i < count; ++i)
        if (rows[i].evaluations <= USUAL_MOST)
            used += (size_t)snprintf(usual + used, size - used, "%s%s", used ? "," : "", rows[i].name);
}

static void read_options(int argc, char **argv, plan *p)
{
    char usual[sizeof p->problems.text] = "";
    list_usual(sizeof usual, usual);
    const option_row rows[] = {
        option_list("problems", "LIST", "default: all of at most 200 evaluations; bo-problem --list has them",
                    &p->problems, usual, known_problem),
        option_list("share", "LIST", "shares of wrong values (default 0,0.25)", &p->shares, "0,0.25",
                    known_share),
        option_range("seeds", "numbers of the runs (default 0..19)", &p->first, &p->last),
        option_list("methods", "LIST",
                    "of default, plain (doubts nothing), informed (knows which are wrong), once (repeats\n"
                    "nothing); global and regions (with and without trust regions), thompson, pursuit\n"
                    "(preset rrp); expert and expert-mean (one value in twenty is corrected), plain-expert\n"
                    "and plain-mean, random; the first is compared with the second and with the peers\n"
                    "(default default,plain,random)",
                    &p->methods, "default,plain,random", bo_method_known),
        option_choice("peers", "FILES",
                      "runs of other optimisers, CSV of peer_optimisers.py, to be shown beside", &p->peers,
                      NULL, NULL),
        option_number("evaluations", "N", "of a run, in place of the problem's own number", &p->evaluations,
                      BO_TENTHS, 100000),
        option_number("jobs", "K", "processes at once (default 1)", &p->jobs, 1, 64),
        option_text("json", "FILE",
                    "append each run as a line of JSON; runs already there are not made again (use\n"
                    "one file for one set of options)",
                    &p->json),
        option_flag("report", "only sum up what is in the file of --json", &p->report),
        option_text("csv", "FILE", "write the runs as bo-table reads them", &p->csv),
        option_number("wrong", "PERCENT", "the share of wrong values that the picture shows (default 25)",
                      &p->percent, 0, 100),
        option_text("picture", "STEM", "draw STEM.svg and STEM.png", &p->picture),
        option_text("data", "DIR", "where the data of others are " SETS_DEFAULT, &p->data),
    };
    options_read(argc, argv, heading,
                 "bo-study --seeds 0..4 --peers experiments/peers/optimisers.csv --jobs 2",
                 sizeof rows / sizeof *rows, rows);
}

static bool open_problems(plan *p)
{
    for (; p->count < p->problems.count; ++p->count)
        if (!bo_open(bo_find(p->problems.items[p->count]), p->data, &p->opened[p->count])) return false;
    return true;
}

/* Seeds are outermost: a run that was stopped has all problems. */
static void make_tasks(plan *p)
{
    const size_t seeds = (size_t)(p->last - p->first + 1);
    p->tasks = room(seeds * p->count * p->shares.count * p->methods.count, sizeof *p->tasks);
    for (long seed = p->first; seed <= p->last; ++seed)
        for (size_t i = 0; i < p->count; ++i)
            for (size_t k = 0; k < p->shares.count; ++k)
                for (size_t m = 0; m < p->methods.count; ++m) {
                    task *t = &p->tasks[p->task_count++];
                    const bo_row *row = p->opened[i].row;
                    *t = (task){.problem = i};
                    t->key = (bo_run){.wrong = strtod(p->shares.items[k], NULL), .seed = seed};
                    t->key.evaluations = p->evaluations ? (size_t)p->evaluations : row->evaluations;
                    snprintf(t->key.problem, sizeof t->key.problem, "%s", row->name);
                    snprintf(t->key.method, sizeof t->key.method, "%s", p->methods.items[m]);
                }
}

/* ---- runs --------------------------------------------------------------------------------------- */

static bool work(size_t number, FILE *out, void *user)
{
    const plan *p = user;
    const task *t = &p->tasks[number];
    bo_result result = {.run = t->key};
    hf_context *ctx = hf_context_create();
    const bool ok = ctx && hf_context_set_threads(ctx, 1) >= 0 &&
                    bo_loop(ctx, &p->opened[t->problem], &result) && bo_result_write(out, &result);
    hf_context_free(ctx);
    return ok;
}

static bool collect(const char *line, void *user)
{
    plan *p = user;
    bo_result result;
    if (!bo_result_read(line, &result)) return false;
    bo_results_add(&p->done, &result);
    if (p->file && (fprintf(p->file, "%s\n", line) < 0 || fflush(p->file) != 0)) {
        perror(p->json);
        return false;
    }
    return true;
}

static size_t run_missing(plan *p)
{
    const pool_calls calls = {work, collect, p};
    size_t *left = room(p->task_count, sizeof *left), count = 0, failed = 0;
    for (size_t i = 0; i < p->task_count; ++i)
        if (!bo_results_find(&p->done, &p->tasks[i].key)) left[count++] = i;
    if (count) failed = pool_run(left, count, (size_t)p->jobs, &calls);
    free(left);
    return failed;
}

static bool open_json(plan *p)
{
    if (!p->json) return true;
    if (!bo_results_load(&p->done, p->json)) return false;
    if (!p->report && !(p->file = fopen(p->json, "a"))) perror(p->json);
    return p->report || p->file;
}

/* ---- report ------------------------------------------------------------------------------------- */

static bool has_share(const plan *p, double share)
{
    for (size_t k = 0; k < p->shares.count; ++k)
        if (strtod(p->shares.items[k], NULL) == share) return true;
    return false;
}

static bool wanted(const plan *p, const bo_run *r)
{
    return words_hold(&p->problems, r->problem) && has_share(p, r->wrong) && r->seed >= p->first &&
           r->seed <= p->last;
}

/* Runs of the peers on the problems of the plan, shares and seeds. */
static bool add_peers(const plan *p, bo_runs *out)
{
    bo_runs all = {0};
    bool ok = true;
    for (size_t i = 0; i < p->peers.count && ok; ++i) ok = bo_runs_load(&all, p->peers.items[i]);
    for (size_t i = 0; i < all.count && ok; ++i)
        if (wanted(p, &all.items[i])) bo_runs_add(out, &all.items[i]);
    bo_runs_free(&all);
    return ok;
}

/* Our runs: of `method` alone, or of all where it is NULL. */
static void add_ours(const bo_results *results, const char *method, bo_runs *out)
{
    for (size_t i = 0; i < results->count; ++i) {
        const bo_run *r = &results->items[i].run;
        if ((!method || strcmp(r->method, method) == 0) && !bo_runs_find(out, r)) bo_runs_add(out, r);
    }
}

/* The results that the plan names, in its order: seeds innermost. */
static void pick_results(const plan *p, bo_results *out)
{
    const size_t each = p->task_count / (size_t)(p->last - p->first + 1);
    for (size_t cell = 0; cell < each; ++cell)
        for (size_t i = cell; i < p->task_count; i += each) {
            const bo_result *found = bo_results_find(&p->done, &p->tasks[i].key);
            if (found) bo_results_add(out, found);
        }
}

static bool report(const plan *p)
{
    bo_results results = {0};
    bo_runs beside = {0}, ours = {0}, all = {0};
    bool ok = add_peers(p, &beside) && add_peers(p, &all);
    pick_results(p, &results);
    add_ours(&results, "random", &beside);
    add_ours(&results, p->methods.items[0], &beside);
    add_ours(&results, NULL, &ours);
    add_ours(&results, NULL, &all);
    if (ok) {
        printf("holdfast %s on %s. Seeds %ld..%ld.\n\n", hf_version(), hf_blas_description(), p->first,
               p->last);
        bo_table_print(stdout, &beside, p->methods.items[0]);
        if (p->methods.count > 1) bo_pair_print(stdout, &ours, p->methods.items[0], p->methods.items[1]);
        bo_results_print(stdout, &results);
    }
    if (ok && p->csv) ok = bo_runs_save(&ours, p->csv);
    if (ok && p->picture)
        ok = bo_curves_draw(&all, (double)p->percent / 100.0, p->methods.items[0], p->picture);
    bo_runs_free(&beside);
    bo_runs_free(&ours);
    bo_runs_free(&all);
    bo_results_free(&results);
    return ok;
}

int main(int argc, char **argv)
{
    plan p = {.last = 19, .jobs = 1, .percent = 25, .data = sets_folder()};
    size_t failed = 0;
    read_options(argc, argv, &p);
    if (p.report && !p.json) {
        fputs("bo-study: --report needs the file of --json\n", stderr);
        return 2;
    }
    if (!open_problems(&p)) return SETS_MISSING;
    make_tasks(&p);
    bool ok = open_json(&p);
    if (ok && !p.report) failed = run_missing(&p);
    if (failed) fprintf(stderr, "bo-study: %zu runs failed; the tables hold what there is\n", failed);
    ok = ok && report(&p);
    if (p.file && fclose(p.file) != 0) ok = false;
    for (size_t i = 0; i < p.count; ++i) bo_close(&p.opened[i]);
    bo_results_free(&p.done);
    free(p.tasks);
    return ok && !failed ? 0 : 1;
}
