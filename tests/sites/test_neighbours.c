/* SPDX-License-Identifier: Apache-2.0 */
#include "sites/sites.h"
#include "sites/sites_impl.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "mean/failing_allocator.h"

enum {
    N = 60,
    D = 3,
    LDX = 4
};

static int setup(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int teardown(void **state)
{
    hf_context_free(*state);
    return 0;
}

static void make_data(double *x, double *y)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < (size_t)N * LDX; i++) x[i] = i % LDX < D ? hfi_stream_normal(&stream) : NAN;
    for (size_t i = 0; i < N; i++) y[i] = hfi_stream_normal(&stream);
}

typedef struct other {
    double squared, value;
    size_t row;
} other;

static int nearer(const void *left, const void *right)
{
    const other *a = left, *b = right;
    if (a->squared != b->squared) return a->squared < b->squared ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* By sorting all the others. */
static double centre_by_sorting(size_t n, size_t d, const double *x, size_t ldx, const double *y, size_t i)
{
    other others[N];
    double values[N];
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        if (j == i || isnan(y[j])) continue;
        double squared = 0.0;
        for (size_t k = 0; k < d; k++) squared += pow(x[i * ldx + k] - x[j * ldx + k], 2.0);
        others[count++] = (other){.squared = squared, .value = y[j], .row = j};
    }
    qsort(others, count, sizeof *others, nearer);
    if (count > 11) count = 11;
    for (size_t j = 0; j < count; j++) values[j] = others[j].value;
    return hfi_median(values, count);
}

static void it_is_the_median_of_the_nearest_others(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX], y[N], centre[N];
    make_data(x, y);
    y[7] = y[30] = NAN;
    assert_int_equal(hf_robust_centre_neighbours(ctx, N, D, x, LDX, y, centre), HF_OK);
    for (size_t i = 0; i < N; i++) assert_true(centre[i] == centre_by_sorting(N, D, x, LDX, y, i));
    for (size_t n = 2; n < 14; n++) { /* fewer than eleven others */
        assert_int_equal(hf_robust_centre_neighbours(ctx, n, D, x, LDX, y, centre), HF_OK);
        for (size_t i = 0; i < n; i++) assert_true(centre[i] == centre_by_sorting(n, D, x, LDX, y, i));
    }
}

static void its_own_reading_does_not_matter(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX], y[N], before[N], after[N];
    make_data(x, y);
    assert_int_equal(hf_robust_centre_neighbours(ctx, N, D, x, LDX, y, before), HF_OK);
    for (size_t i = 0; i < N; i += 7) {
        double kept = y[i];
        y[i] = 1e12;
        assert_int_equal(hf_robust_centre_neighbours(ctx, N, D, x, LDX, y, after), HF_OK);
        assert_true(after[i] == before[i]);
        for (size_t j = 0; j < N; j++) assert_true(fabs(after[j]) < 10.0); /* and nobody follows it */
        y[i] = kept;
    }
}

static void row_order_and_threads_do_not_matter(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX], y[N], before[N], x2[N * LDX], y2[N], after[N];
    size_t order[N];
    hfi_stream stream;
    make_data(x, y);
    hfi_stream_init(&stream, 6, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < N; i++) order[i] = i;
    hfi_stream_shuffle(&stream, order, N);
    for (size_t i = 0; i < N; i++) {
        memcpy(x2 + i * LDX, x + order[i] * LDX, LDX * sizeof *x);
        y2[i] = y[order[i]];
    }
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
    assert_int_equal(hf_robust_centre_neighbours(ctx, N, D, x, LDX, y, before), HF_OK);
    assert_int_equal(hf_context_set_threads(ctx, 3), HF_OK);
    assert_int_equal(hf_robust_centre_neighbours(ctx, N, D, x2, LDX, y2, after), HF_OK);
    for (size_t i = 0; i < N; i++) assert_true(after[i] == before[order[i]]);
}

static void of_equally_far_rows_the_first_count(void **state)
{
    hf_context *ctx = *state;
    double x[14] = {0.0}, y[14], centre[14];
    for (size_t i = 0; i < 14; i++) y[i] = (double)i;
    assert_int_equal(hf_robust_centre_neighbours(ctx, 14, 1, x, 1, y, centre), HF_OK);
    assert_true(centre[13] == 5.0); /* rows 0 to 10 */
    assert_true(centre[0] == 6.0);  /* rows 1 to 11 */
}

static void huge_inputs_do_not_overflow(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX], y[N], plain[N], scaled[N];
    make_data(x, y);
    assert_int_equal(hf_robust_centre_neighbours(ctx, N, D, x, LDX, y, plain), HF_OK);
    for (size_t i = 0; i < (size_t)N * LDX; i++) x[i] = ldexp(x[i], 1000);
    assert_int_equal(hf_robust_centre_neighbours(ctx, N, D, x, LDX, y, scaled), HF_OK);
    for (size_t i = 0; i < N; i++) assert_true(scaled[i] == plain[i]);
}

static void a_single_reading_is_its_own_centre(void **state)
{
    hf_context *ctx = *state;
    const double x[2] = {0.0, 1.0}, y[2] = {4.5, NAN};
    double centre[2] = {0.0};
    assert_int_equal(hf_robust_centre_neighbours(ctx, 1, 1, x, 1, y, centre), HF_OK);
    assert_true(centre[0] == 4.5);
    assert_int_equal(hf_robust_centre_neighbours(ctx, 2, 1, x, 1, y, centre), HF_OK);
    assert_true(centre[0] == 4.5 && centre[1] == 4.5);
}

static void errors_say_what_is_wrong(void **state)
{
    hf_context *ctx = *state;
    const double x[2] = {0.0, 1.0}, bad[2] = {0.0, NAN}, y[2] = {1.0, 2.0}, inf[2] = {1.0, -INFINITY};
    double centre[2] = {7.0, 7.0};
    assert_int_equal(hf_robust_centre_neighbours(ctx, 2, 1, bad, 1, y, centre), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "row 1"));
    assert_int_equal(hf_robust_centre_neighbours(ctx, 2, 1, x, 1, inf, centre), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_robust_centre_neighbours(ctx, 1, 1, x, 1, bad + 1, centre), HF_ERR_NO_DATA);
    assert_int_equal(hf_robust_centre_neighbours(ctx, 0, 1, x, 1, y, centre), HF_ERR_NO_DATA);
    assert_int_equal(hf_robust_centre_neighbours(ctx, 1, 2, x, 1, y, centre), HF_ERR_DIMENSION);
    assert_int_equal(hf_robust_centre_neighbours(ctx, 2, 1, NULL, 1, y, centre), HF_ERR_ARGUMENT);
    assert_int_equal(hf_robust_centre_neighbours(ctx, 2, 1, x, 1, NULL, centre), HF_ERR_ARGUMENT);
    assert_int_equal(hf_robust_centre_neighbours(ctx, 2, 1, x, 1, y, NULL), HF_ERR_ARGUMENT);
    assert_true(centre[0] == 7.0 && centre[1] == 7.0);
}

static hf_status every_allocation(hf_context *ctx)
{
    double x[N * LDX], y[N], centre[N];
    make_data(x, y);
    return hf_robust_centre_neighbours(ctx, N, D, x, LDX, y, centre);
}

static void survives_every_failing_allocation(void **state)
{
    (void)state;
    failing_sweep(every_allocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_median_of_the_nearest_others),
        cmocka_unit_test(its_own_reading_does_not_matter),
        cmocka_unit_test(row_order_and_threads_do_not_matter),
        cmocka_unit_test(of_equally_far_rows_the_first_count),
        cmocka_unit_test(huge_inputs_do_not_overflow),
        cmocka_unit_test(a_single_reading_is_its_own_centre),
        cmocka_unit_test(errors_say_what_is_wrong),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
