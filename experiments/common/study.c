/* SPDX-License-Identifier: Apache-2.0 */
#include "common/study.h"
#include "common/clock.h"
#include "common/pool.h"
#include "common/room.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPTIONS = 5
};

static void put_options(study *s, option_row rows[OPTIONS])
{
    rows[0] =
        option_range("splits", "numbers of the splits (default those of the tables)", &s->first, &s->last);
    rows[0].given = &s->chosen;
    rows[1] =
        option_number("seed-offset", "N", "added to every seed: fresh splits and fresh damage (default 0)",
                      &s->offset, 0, 1000000000);
    rows[2] = option_number("jobs", "K", "processes at once (default 1)", &s->jobs, 1, 64);
    rows[3] = option_text("json", "FILE",
                          "append each fitted model as a line of JSON; models already there are not\n"
                          "fitted again (use one file for one set of options)",
                          &s->json);
    rows[4] = option_flag("report", "only sum up what is in the file of --json", &s->report);
}

void study_read(study *s, int argc, char **argv, const char *heading, const char *example, size_t count,
                const option_row *own)
{
    option_row rows[STUDY_OWN_OPTIONS + OPTIONS];
    memcpy(rows, own, count * sizeof *rows);
    put_options(s, rows + count);
    options_read(argc, argv, heading, example, count + OPTIONS, rows);
}

size_t study_splits(const study *s)
{
    return (size_t)(s->last - s->first + 1);
}

static void open_results(study *s)
{
    if (s->report && !s->json) {
        fputs("--report needs the file of --json\n", stderr);
        exit(2);
    }
    if (!s->json) return;
    if (!records_load(&s->done, s->json)) exit(1);
    if (!s->report && !(s->file = fopen(s->json, "a"))) {
        perror(s->json);
        exit(1);
    }
}

static bool fit_one(const study *s, hf_context *ctx, const problem *data, record *item, FILE *out)
{
    if (records_find(&s->done, item)) return true;
    bool ok = s->calls->fit(s, ctx, data, item);
    item->megabytes = peak_megabytes();
    if (ok && record_write(out, item) && fflush(out) == 0) return true;
    fprintf(stderr, "%s, split %ld, %s %g: %s failed\n", item->set, item->split, item->kind, item->share,
            item->method);
    return false;
}

static bool work(size_t task, FILE *out, void *user)
{
    const study *s = user;
    hf_context *ctx = hf_context_create();
    problem data = {0};
    record item = {0};
    bool ok = ctx && hf_context_set_threads(ctx, (int)s->threads) >= 0 && s->calls->data(s, ctx, task, &data);
    size_t failed = ok ? 0 : 1;
    /* A model that fails does not keep the others of the task from being fitted. */
    for (size_t which = 0; ok && s->calls->key(s, task, which, &item); ++which) {
        failed += !fit_one(s, ctx, &data, &item, out);
        item = (record){0};
    }
    problem_free(&data);
    hf_context_free(ctx);
    return failed == 0;
}

static bool collect(const char *line, void *user)
{
    study *s = user;
    record item;
    if (!record_read(line, &item)) return false;
    records_add(&s->done, &item);
    if (s->file && (fprintf(s->file, "%s\n", line) < 0 || fflush(s->file) != 0)) {
        perror(s->json);
        return false;
    }
    return true;
}

static bool missing(const study *s, size_t task)
{
    record key = {0};
    for (size_t which = 0; s->calls->key(s, task, which, &key); ++which) {
        if (!records_find(&s->done, &key)) return true;
        key = (record){0};
    }
    return false;
}

size_t study_run(study *s)
{
    open_results(s);
    if (s->report) return 0;
    size_t *left = room(s->count, sizeof *left), count = 0, failed = 0;
    pool_calls calls = {work, collect, s};
    for (size_t i = 0; i < s->count; ++i)
        if (missing(s, i)) left[count++] = i;
    if (count) failed = pool_run(left, count, (size_t)s->jobs, &calls);
    free(left);
    return failed;
}

int study_close(study *s, const char *program, size_t failed)
{
    if (s->file && fclose(s->file) != 0) failed += 1;
    if (failed) fprintf(stderr, "%s: %zu tasks failed; the tables hold what there is\n", program, failed);
    records_free(&s->done);
    return failed ? 1 : 0;
}
