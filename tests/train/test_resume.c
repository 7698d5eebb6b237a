/* SPDX-License-Identifier: Apache-2.0 */
/* Fits that are stopped, again and again, go on from their checkpoint and end where an unbroken one does, to the digit. */
#include "data/support.h"
#include "mean/failing_allocator.h"
#include "train/train.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
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
} kind;

/* ---- fits -------------------------------------------------------------------------------------------------- */

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
} watch;

static bool look(const char *stage, double done, double value, void *user)
{
    watch *w = user;
    assert_non_null(stage);
    (void)done;
    (void)value;
    w->calls++;
    return w->stop_at == 0 || w->calls < w->stop_at;
}

/* sin(3 x) with noise of 0.1, and a reading in fifteen far off. */
static void make_table(size_t n, double *x, double *y)
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

static hf_status fit(hf_context *ctx, const kind *of, const char *checkpoint, outcome *out)
{
    double x[MOST_ROWS], y[MOST_ROWS], query[QUERIES];
    hf_fit_settings settings;
    hf_posterior *posterior = NULL;
    hf_reading reading[MOST_ROWS];
    memset(out, 0, sizeof *out);
    make_table(of->rows, x, y);
    for (size_t k = 0; k < QUERIES; k++) query[k] = -2.5 + 5.0 * (double)k / (QUERIES - 1);
    const hf_data data = {.n = of->rows, .d = 1, .x = x, .ldx = 1, .y = y};
    out->status = hf_fit_settings_preset(ctx, of->preset, &settings);
    if (of->adapt) of->adapt(&settings);
    settings.checkpoint = checkpoint;
    settings.resume = true;
    if (out->status >= 0) out->status = hf_fit_data(ctx, &data, &settings, &posterior, &out->report, reading);
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

/* A fit that is stopped at a call of its progress callback, by its number; 0: never. *calls receives how many there were. */
static hf_status fit_until(const kind *of, const char *checkpoint, size_t stop_at, size_t *calls,
                           outcome *out)
{
    hf_context *ctx = hf_context_create();
    watch w = {.stop_at = stop_at};
    assert_non_null(ctx);
    hf_context_set_progress(ctx, look, &w);
    const hf_status s = fit(ctx, of, checkpoint, out);
    if (s < 0 && s != HF_ERR_CANCELLED) fail_msg("%s: %s", of->name, hf_context_message(ctx));
    *calls = w.calls;
    hf_context_free(ctx);
    return s;
}

#define SAME(member)                                                                                         \
    if (memcmp(&got->member, &wanted->member, sizeof got->member) != 0) fail_msg("%s: another " #member, name)

static void assert_same(const char *name, const outcome *got, const outcome *wanted)
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

/* ---- the kinds --------------------------------------------------------------------------------------------- */

static void briefly(hf_fit_settings *s)
{
    s->iterations = 12;
}

static void by_laplace(hf_fit_settings *s)
{
    briefly(s);
    s->student_method = HF_STUDENT_LAPLACE;
    s->restarts = 1;
}

static void by_ep(hf_fit_settings *s)
{
    briefly(s);
    s->student_method = HF_STUDENT_EP;
}

static void with_given_nu(hf_fit_settings *s)
{
    briefly(s);
    s->student_nu = 3.0;
    s->train_mean = true;
}

static void with_restarts(hf_fit_settings *s)
{
    briefly(s);
    s->restarts = 1;
}

static void by_inducing(hf_fit_settings *s)
{
    briefly(s);
    s->solver = HF_SOLVER_INDUCING;
    s->inducing = 15;
}

static const kind kinds[] = {{"Student-t, variational", "student-t", briefly, 70},
                             {"Student-t, Laplace, restarts", "student-t", by_laplace, 40},
                             {"Student-t, EP", "student-t", by_ep, 40},
                             {"Student-t, nu given", "student-t", with_given_nu, 60},
                             {"pursuit", "rrp", with_restarts, 60},
                             {"pursuit, inducing", "rrp", by_inducing, 80}};

enum {
    KINDS = sizeof kinds / sizeof kinds[0]
};

/* ---- stopping ---------------------------------------------------------------------------------------------- */

static char *file_bytes(const char *path, size_t *bytes)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    *bytes = (size_t)about.st_size;
    return file_get(path);
}

/* A fit with all its answers at hand asks nobody: the file stays as it is. */
static void assert_complete(const kind *of, const char *path, const outcome *whole)
{
    outcome again;
    size_t calls = 0, before = 0, after = 0;
    char *first = file_bytes(path, &before);
    fit_until(of, path, 0, &calls, &again);
    assert_same(of->name, &again, whole);
    char *second = file_bytes(path, &after);
    if (before != after || memcmp(first, second, before) != 0)
        fail_msg("%s: something was evaluated again", of->name);
    free(first);
    free(second);
}

static void stopped_fits_go_on(const kind *of, const char *path)
{
    enum {
        STOPS = 7
    };
    outcome whole, part;
    size_t all = 0, calls = 0;
    fit_until(of, NULL, 0, &all, &whole);
    assert_true(all > STOPS);
    for (size_t k = 0; k < STOPS; k++) {
        /* The first calls, the last ones, and some between. */
        const size_t at = 1 + (all - 1) * k / (STOPS - 1);
        assert_int_equal(fit_until(of, path, at, &calls, &part), HF_ERR_CANCELLED);
        assert_int_equal(calls, at);
    }
    fit_until(of, path, 0, &calls, &part);
    assert_same(of->name, &part, &whole);
    assert_complete(of, path, &whole);
}

static void all_kinds(void (*test)(const kind *of, const char *path))
{
    for (size_t k = 0; k < KINDS; k++) {
        folder scratch = folder_make();
        char path[256];
        folder_file(&scratch, "checkpoint", path);
        test(&kinds[k], path);
        folder_remove(&scratch);
    }
}

static void every_kind_goes_on_after_a_stop(void **state)
{
    (void)state;
    all_kinds(stopped_fits_go_on);
}

/* ---- out of memory ----------------------------------------------------------------------------------------- */

/* A fit whose allocation `fail_at` fails (0: none). @return how many there were. */
static size_t fit_with_failure(const kind *of, const char *path, size_t fail_at, hf_status *status,
                               outcome *out)
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

static void starved_fits_go_on(const kind *of, const char *path)
{
    enum {
        FAILURES = 6
    };
    outcome whole, part;
    hf_status status;
    size_t calls;
    fit_until(of, NULL, 0, &calls, &whole);
    const size_t all = fit_with_failure(of, path, 0, &status, &part);
    assert_same(of->name, &part, &whole);
    size_t failed = 0;
    for (size_t k = 0; k < FAILURES; k++) {
        assert_int_equal(remove(path), 0);
        fit_with_failure(of, path, all / 9 + (all - all / 9) * k / FAILURES, &status, &part);
        failed += status == HF_ERR_MEMORY ? 1 : 0;
        /* What has no memory for its checkpoint goes on without, and says so. */
        if (status >= 0) part.report.checkpoint_warning[0] = '\0';
        if (status != HF_ERR_MEMORY) assert_same(of->name, &part, &whole);
        fit_until(of, path, 0, &calls, &part);
        assert_same(of->name, &part, &whole);
    }
    assert_true(failed > FAILURES / 2);
}

static void every_kind_goes_on_after_a_failed_allocation(void **state)
{
    (void)state;
    all_kinds(starved_fits_go_on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_goes_on_after_a_stop),
        cmocka_unit_test(every_kind_goes_on_after_a_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
