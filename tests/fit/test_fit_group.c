/* SPDX-License-Identifier: Apache-2.0 */
/* Whole fits by a group of three against fits by one, without message passing. */
#include "core/thread_group.h"
#include "fit/group_fits.h"

enum {
    SIZE = 3
};

typedef struct fits {
    size_t which;
    bool train;
    fit_outcome by[SIZE];
} fits;

static void run_one(hf_context *ctx, size_t rank, void *arg)
{
    fits *f = arg;
    fit_run(ctx, f->which, f->train, &f->by[rank]);
}

static void three_end_where_one_does(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2 * FIT_CASES; k++) {
        const size_t which = k / 2;
        fits one = {.which = which, .train = k % 2 > 0}, three = one;
        thread_group_run(1, run_one, &one);
        thread_group_run(SIZE, run_one, &three);
        for (size_t r = 0; r < SIZE; r++) {
            assert_same_fit(which, one.train, &three.by[r], &one.by[0]);
            assert_memory_equal(three.by[r].mean, three.by[0].mean, sizeof three.by[r].mean);
            assert_memory_equal(three.by[r].variance, three.by[0].variance, sizeof three.by[r].variance);
        }
    }
}

/* ---- a table of several parts ------------------------------------------------------------------------------ */

enum {
    LONG_ROWS = 5000 /* stages of 4096 and of all rows: parts of 2048, and three of 1667 */
};

typedef struct long_fits {
    const double *x, *y;
    double mean[SIZE][FIT_QUERIES], variance[SIZE][FIT_QUERIES];
    hf_status status[SIZE];
} long_fits;

static void run_long(hf_context *ctx, size_t rank, void *arg)
{
    long_fits *f = arg;
    const hf_data data = {.n = LONG_ROWS, .d = 1, .x = f->x, .ldx = 1, .y = f->y};
    hf_fit_settings settings;
    hf_posterior *posterior = NULL;
    double query[FIT_QUERIES];
    for (size_t k = 0; k < FIT_QUERIES; k++) query[k] = 0.2 * (double)k - 1.5;
    hf_status s = hf_fit_settings_preset(ctx, "rcsvgp", &settings, sizeof settings);
    settings.inducing = 12;
    settings.iterations = 12;
    settings.rounds = 2;
    if (s >= 0) s = hf_fit_data(ctx, &data, &settings, &posterior, NULL, NULL);
    if (s >= 0) s = hf_predict(ctx, posterior, FIT_QUERIES, query, 1, f->mean[rank], NULL, f->variance[rank]);
    f->status[rank] = s;
    hf_posterior_free(posterior);
}

/* Trained, with weights found again and again: to the digit. */
static void inducing_fits_do_not_know_how_many_processes_there_are(void **state)
{
    (void)state;
    static double x[LONG_ROWS], y[LONG_ROWS];
    static long_fits one, some;
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < LONG_ROWS; i++) {
        x[i] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        y[i] = sin(2.0 * x[i]) + 0.1 * hfi_stream_normal(&stream) + (i % 37 == 5 ? 5.0 : 0.0);
    }
    one = some = (long_fits){.x = x, .y = y};
    thread_group_run(1, run_long, &one);
    assert_true(one.status[0] >= 0);
    for (size_t size = 2; size <= SIZE; size++) {
        thread_group_run(size, run_long, &some);
        for (size_t r = 0; r < size; r++) {
            assert_true(some.status[r] >= 0);
            assert_memory_equal(some.mean[r], one.mean[0], sizeof one.mean[0]);
            assert_memory_equal(some.variance[r], one.variance[0], sizeof one.variance[0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_end_where_one_does),
        cmocka_unit_test(inducing_fits_do_not_know_how_many_processes_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
