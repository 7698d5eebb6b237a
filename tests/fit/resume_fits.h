/* SPDX-License-Identifier: Apache-2.0 */
/* Fits that are stopped, again and again, go on from their checkpoint and end where an unbroken one
 * does, to the digit: what the tests of that share. */
#ifndef RESUME_FITS_H
#define RESUME_FITS_H

#include "data/support.h"
#include "mean/failing_allocator.h"
#include "posterior/posterior.h"
#include <holdfast/train.h>

#include <math.h>
#include <sys/stat.h>

enum {
    MOST_ROWS = 400,
    QUERIES = 12
};

/* A kind of fit. */
typedef struct kind {
    const char *name, *preset;
    void (*adapt)(hf_fit_settings *settings);
    size_t rows;
    /* A fit that goes on tells of answers that it had before, too; else of what is left to do
     * alone. */
    bool tells_again;
    double (*turn)(double y); /* readings of the table into those of this fit; NULL: as they are */
} kind;

/* ---- fits ------------------------------------------------------------------------------------ */

typedef struct outcome {
    hf_status status;
    hf_fit_report report;
    double mean[QUERIES], latent[QUERIES], observed[QUERIES];
    double weight[MOST_ROWS];
    bool suspected[MOST_ROWS];
} outcome;

/* Counts what a fit tells of, and stops it. */
typedef struct watch {
    size_t calls, stop_at; /* from 1; 0: never */
    size_t steps;          /* of training, among the calls */
} watch;

static inline bool look(const char *stage, double done, double value, void *user)
{
    watch *w = user;
    (void)done;
    (void)value;
    w->calls++;
    w->steps += strcmp(stage, "train") == 0 ? 1 : 0;
    return w->stop_at == 0 || w->calls < w->stop_at;
}

/* sin(3 x) with noise of 0.1, and a reading in fifteen far off. */
static inline void make_table(size_t n, double *x, double *y)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 8, HFI_PURPOSE_TEST, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        y[i] = sin(3.0 * x[i]) + 0.1 * hfi_stream_normal(&stream) +
               (i % 15 == 4 ? 3.0 + 0.1 * (double)(i % 7) : 0.0);
    }
    y[n / 2] = NAN;
}

static inline hf_status fit(hf_context *ctx, const kind *of, const char *checkpoint, outcome *out)
{
    double x[MOST_ROWS], y[MOST_ROWS], query[QUERIES];
    hf_fit_settings settings;
    hf_posterior *posterior = NULL;
    hf_reading reading[MOST_ROWS];
    memset(out, 0, sizeof *out);
    make_table(of->rows, x, y);
    for (size_t i = 0; of->turn && i < of->rows; i++) y[i] = of->turn(y[i]);
    for (size_t k = 0; k < QUERIES; k++) query[k] = -2.5 + 5.0 * (double)k / (QUERIES - 1);
    const hf_data data = {.n = of->rows, .d = 1, .x = x, .ldx = 1, .y = y};
    out->status = hf_fit_settings_preset(ctx, of->preset, &settings, sizeof settings);
    if (of->adapt) of->adapt(&settings);
    settings.checkpoint = checkpoint;
    settings.resume = true;
    if (out->status >= 0)
        out->status = hf_fit_data(ctx, &data, &settings, &posterior, &out->report, reading);
    if (out->status < 0) return out->status;
    const hf_status predicted =
        hf_predict(ctx, posterior, QUERIES, query, 1, out->mean, out->latent, out->observed);
    for (size_t i = 0; i < of->rows; i++) {
        out->weight[i] = reading[i].weight;
        out->suspected[i] = reading[i].suspected;
    }
    hf_posterior_free(posterior);
    return predicted < 0 ? predicted : out->status;
}

/* A fit that is stopped at a call of its progress callback, by its number; 0: never. */
static inline hf_status fit_until(const kind *of, const char *checkpoint, size_t stop_at,
                                  watch *seen, outcome *out)
{
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    *seen = (watch){.stop_at = stop_at};
    hf_context_set_progress(ctx, look, seen);
    const hf_status s = fit(ctx, of, checkpoint, out);
    if (s < 0 && s != HF_ERR_CANCELLED)
        fail_msg("%s: %d %s", of->name, (int)s, hf_context_message(ctx));
    hf_context_free(ctx);
    return s;
}

#define SAME(member)                                                                               \
    if (memcmp(&got->member, &wanted->member, sizeof got->member) != 0)                            \
    fail_msg("%s: another " #member, name)

static inline void assert_same(const char *name, const outcome *got, const outcome *wanted)
{
    SAME(status);
    SAME(mean);
    SAME(latent);
    SAME(observed);
    SAME(weight);
    SAME(suspected);
    SAME(report.stop);
    SAME(report.evaluations);
    SAME(report.rounds);
    SAME(report.objective);
    SAME(report.log_prior);
    SAME(report.gradient_norm);
    SAME(report.threshold);
    SAME(report.nu);
    SAME(report.calibration);
    SAME(report.jitter);
    assert_string_equal(got->report.checkpoint_warning, "");
}

/* ---- stopping -------------------------------------------------------------------------------- */

static inline char *file_bytes(const char *path, size_t *bytes)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    *bytes = (size_t)about.st_size;
    return file_get(path);
}

/* A fit with all its answers at hand asks nobody: the file stays as it is. */
static inline void assert_complete(const kind *of, const char *path, const outcome *whole)
{
    outcome again;
    watch seen;
    size_t before = 0, after = 0;
    char *first = file_bytes(path, &before);
    fit_until(of, path, 0, &seen, &again);
    assert_same(of->name, &again, whole);
    char *second = file_bytes(path, &after);
    if (before != after || memcmp(first, second, before) != 0)
        fail_msg("%s: something was evaluated again", of->name);
    free(first);
    free(second);
}

/* Stopped at the first calls, at the last ones, and at some between. */
static inline void stopped_fits_go_on(const kind *of, const char *path)
{
    enum {
        STOPS = 5
    };
    outcome whole, part;
    watch seen;
    fit_until(of, NULL, 0, &seen, &whole);
    const size_t all = seen.calls, steps = seen.steps;
    size_t made = 0, stops = 0;
    hf_status s = HF_ERR_CANCELLED;
    assert_true(all > STOPS);
    for (size_t k = 0; s < 0; k++) {
        const size_t reached = 1 + (all - 1) * k / (STOPS - 1);
        const size_t at = of->tells_again ? reached : k == 0 ? 1 : 1 + (all - 1) / (STOPS - 1);
        s = fit_until(of, path, k < 2 * STOPS && at <= all ? at : 0, &seen, &part);
        stops += s < 0 ? 1 : 0;
        made += seen.steps;
    }
    assert_true(stops >= 3);
    assert_same(of->name, &part, &whole);
    /* No step was made twice. */
    if (!of->tells_again && made != steps)
        fail_msg("%s: %zu steps, not %zu", of->name, made, steps);
    assert_complete(of, path, &whole);
}

static inline void all_kinds(const kind *kinds, size_t count,
                             void (*test)(const kind *of, const char *path))
{
    for (size_t k = 0; k < count; k++) {
        folder scratch = folder_make();
        char path[256];
        folder_file(&scratch, "checkpoint", path);
        test(&kinds[k], path);
        folder_remove(&scratch);
    }
}

/* ---- out of memory --------------------------------------------------------------------------- */

/* A fit whose allocation `fail_at` fails (0: none). @return how many there were. */
static inline size_t fit_with_failure(const kind *of, const char *path, size_t fail_at,
                                      hf_status *status, outcome *out)
{
    failing_allocator memory = {0};
    hf_allocator allocator = {failing_allocate, failing_release, &memory};
    hf_context *ctx = hf_context_create_with(&allocator);
    assert_non_null(ctx);
    const size_t held = memory.held, begin = memory.allocations;
    if (fail_at > 0) memory.fail_at = begin + fail_at;
    *status = fit(ctx, of, path, out);
    assert_int_equal(memory.held, held);
    const size_t count = memory.allocations - begin;
    hf_context_free(ctx);
    return count;
}

static inline void starved_fits_go_on(const kind *of, const char *path)
{
    enum {
        FAILURES = 4
    };
    outcome whole, part;
    hf_status status;
    watch seen;
    fit_until(of, NULL, 0, &seen, &whole);
    const size_t all = fit_with_failure(of, path, 0, &status, &part);
    assert_same(of->name, &part, &whole);
    size_t failed = 0;
    for (size_t k = 0; k < FAILURES; k++) {
        assert_int_equal(remove(path), 0);
        fit_with_failure(of, path, all / 9 + (all - all / 9) * k / FAILURES, &status, &part);
        failed += status == HF_ERR_MEMORY ? 1 : 0;
        /* A fit that has no memory for its checkpoint goes on without, and says so. */
        if (status >= 0) part.report.checkpoint_warning[0] = '\0';
        if (status != HF_ERR_MEMORY) assert_same(of->name, &part, &whole);
        fit_until(of, path, 0, &seen, &part);
        assert_same(of->name, &part, &whole);
    }
    assert_true(failed > FAILURES / 2);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Fits that the tests of one program are about; their state. */
typedef struct kind_list {
    const kind *kinds;
    size_t count;
} kind_list;

static inline void every_kind_goes_on_after_a_stop(void **state)
{
    const kind_list *list = *state;
    all_kinds(list->kinds, list->count, stopped_fits_go_on);
}

static inline void every_kind_goes_on_after_a_failed_allocation(void **state)
{
    const kind_list *list = *state;
    all_kinds(list->kinds, list->count, starved_fits_go_on);
}

static inline int run_kinds(const kind *kinds, size_t count)
{
    kind_list list = {kinds, count};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_kind_goes_on_after_a_stop, &list),
        cmocka_unit_test_prestate(every_kind_goes_on_after_a_failed_allocation, &list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
