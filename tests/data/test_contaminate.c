/* SPDX-License-Identifier: Apache-2.0 */
/* Contamination protocols: how many rows, by how much, and nothing else. */
#include "data/support.h"

#include "core/core.h"

#include <holdfast/contaminate.h>

#include <math.h>

enum {
    N = 201,
    D = 3,
    LDX = 5
};

typedef struct data {
    double x[N * LDX], y[N];
    bool mask[N];
} data;

static int make_context(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int free_context(void **state)
{
    hf_context_free(*state);
    return 0;
}

static void fill(data *out)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < N * LDX; i++) out->x[i] = 10 * hfi_stream_normal(&stream);
    for (size_t i = 0; i < N; i++) {
        out->y[i] = 100 + 4 * hfi_stream_normal(&stream);
        out->mask[i] = i % 2 == 0; /* must be overwritten */
    }
}

static double sd_of(const double *y, size_t n)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++) mean += y[i] / (double)n;
    for (size_t i = 0; i < n; i++) squares += (y[i] - mean) * (y[i] - mean);
    return sqrt(squares / (double)(n - 1));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* By sorting, for an odd number of values. */
static double median_of(const double *values, size_t stride, double *sorted)
{
    for (size_t i = 0; i < N; i++) sorted[i] = values[i * stride];
    qsort(sorted, N, sizeof *sorted, ascending);
    return sorted[N / 2];
}

static double raw_mad_of(const double *values, size_t stride)
{
    double sorted[N], deviation[N];
    double median = median_of(values, stride, sorted);
    for (size_t i = 0; i < N; i++) deviation[i] = fabs(values[i * stride] - median);
    return median_of(deviation, 1, sorted);
}

static void shifts_are_what_the_protocol_says(void **state)
{
    static const hf_contamination kinds[] = {HF_CONTAMINATION_UNIFORM, HF_CONTAMINATION_ASYMMETRIC};
    static const double shares[] = {0, 0.001, 0.02, 0.1, 0.25, 0.5, 1};
    static data clean, dirty;
    fill(&clean);
    double s = sd_of(clean.y, N);
    for (size_t k = 0; k < 2; k++) {
        for (size_t p = 0; p < sizeof shares / sizeof shares[0]; p++) {
            fill(&dirty);
            assert_int_equal(
                hf_contaminate(*state, kinds[k], shares[p], 7, N, D, dirty.x, LDX, dirty.y, dirty.mask),
                HF_OK);
            size_t up = 0, down = 0, expected = (size_t)floor(shares[p] * N + 0.5);
            for (size_t i = 0; i < N; i++) {
                double shift = (dirty.y[i] - clean.y[i]) / s;
                up += shift > 0;
                down += shift < 0;
                assert_true(dirty.mask[i] == (shift != 0));
                if (dirty.mask[i]) assert_true(fabs(shift) > 3 - 1e-9 && fabs(shift) < 9 + 1e-9);
            }
            assert_int_equal(up + down, expected);
            assert_int_equal(up, kinds[k] == HF_CONTAMINATION_UNIFORM ? (expected + 1) / 2 : 0);
            assert_memory_equal(dirty.x, clean.x, sizeof clean.x);
        }
    }
}

/* The whole of U(3, 9) is used: mean 6 and variance 3 within four standard errors. */
static void shifts_are_uniform(void **state)
{
    enum {
        ROWS = 20000
    };
    static double y[ROWS], before[ROWS];
    hfi_stream stream;
    hfi_stream_init(&stream, 6, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < ROWS; i++) before[i] = y[i] = hfi_stream_normal(&stream);
    double s = sd_of(before, ROWS), mean = 0, square = 0, low = 9, high = 3;
    assert_int_equal(hf_contaminate(*state, HF_CONTAMINATION_ASYMMETRIC, 1, 1, ROWS, 0, NULL, 0, y, NULL),
                     HF_OK);
    for (size_t i = 0; i < ROWS; i++) {
        double u = (before[i] - y[i]) / s;
        mean += u / ROWS;
        square += u * u / ROWS;
        low = fmin(low, u);
        high = fmax(high, u);
    }
    assert_true(fabs(mean - 6) < 4 * sqrt(3.0 / ROWS));
    assert_true(fabs(square - mean * mean - 3) < 0.1);
    assert_true(low < 3.01 && high > 8.99);
}

static void focused_rows_gather_at_one_place(void **state)
{
    static data clean, dirty;
    double sorted[N];
    fill(&clean);
    fill(&dirty);
    double s = sd_of(clean.y, N), target = median_of(clean.y, 1, sorted) - 3 * s;
    assert_int_equal(
        hf_contaminate(*state, HF_CONTAMINATION_FOCUSED, 0.1, 7, N, D, dirty.x, LDX, dirty.y, dirty.mask),
        HF_OK);
    size_t damaged = 0;
    for (size_t i = 0; i < N; i++) {
        damaged += dirty.mask[i];
        for (size_t j = 0; j < LDX; j++) {
            double before = clean.x[i * LDX + j], after = dirty.x[i * LDX + j];
            if (!dirty.mask[i] || j >= D) {
                assert_true(before == after);
                continue;
            }
            double u = (after - median_of(clean.x + j, LDX, sorted)) / (0.1 * raw_mad_of(clean.x + j, LDX));
            assert_true(u > -1e-9 && u < 1 + 1e-9);
        }
        if (!dirty.mask[i]) {
            assert_true(dirty.y[i] == clean.y[i]);
            continue;
        }
        double u = (dirty.y[i] - target) / (0.1 * raw_mad_of(clean.y, 1));
        assert_true(u > -1e-9 && u < 1 + 1e-9);
    }
    assert_int_equal(damaged, 20);
}

static void seeds_decide(void **state)
{
    static data first, second, third;
    for (int kind = HF_CONTAMINATION_UNIFORM; kind <= HF_CONTAMINATION_FOCUSED; kind++) {
        fill(&first);
        fill(&second);
        fill(&third);
        hf_context_set_seed(*state, 1);
        hf_contaminate(*state, (hf_contamination)kind, 0.1, 7, N, D, first.x, LDX, first.y, first.mask);
        hf_context_set_seed(*state, 2);
        hf_contaminate(*state, (hf_contamination)kind, 0.1, 7, N, D, second.x, LDX, second.y, second.mask);
        hf_contaminate(*state, (hf_contamination)kind, 0.1, 8, N, D, third.x, LDX, third.y, third.mask);
        assert_memory_equal(&first, &second, sizeof first);
        assert_memory_not_equal(first.mask, third.mask, sizeof first.mask);
    }
}

static void none_changes_nothing(void **state)
{
    static data clean, dirty;
    fill(&clean);
    fill(&dirty);
    assert_int_equal(
        hf_contaminate(*state, HF_CONTAMINATION_NONE, 0.5, 7, N, D, dirty.x, LDX, dirty.y, dirty.mask),
        HF_OK);
    assert_memory_equal(dirty.y, clean.y, sizeof clean.y);
    for (size_t i = 0; i < N; i++) assert_false(dirty.mask[i]);
}

static void missing_values_are_left_alone(void **state)
{
    static data clean, dirty;
    fill(&dirty);
    for (size_t i = 0; i < N; i += 2) dirty.y[i] = NAN; /* 101 of 201 */
    for (size_t i = 0; i < N; i += 3) dirty.x[i * LDX] = NAN;
    clean = dirty;
    assert_int_equal(
        hf_contaminate(*state, HF_CONTAMINATION_FOCUSED, 0.1, 7, N, D, dirty.x, LDX, dirty.y, dirty.mask),
        HF_OK);
    size_t damaged = 0;
    for (size_t i = 0; i < N; i++) {
        damaged += dirty.mask[i];
        assert_true(isnan(dirty.y[i]) == isnan(clean.y[i]));
        if (dirty.mask[i]) assert_true(i % 2 == 1 && isfinite(dirty.x[i * LDX]));
    }
    assert_int_equal(damaged, 10);
}

static void small_and_huge_data(void **state)
{
    double one = 5, two[2] = {1, 3}, huge[4] = {1e300, -1e300, 2e300, 0}, edge[2] = {1.7e308, -1.7e308};
    bool mask[4];
    assert_int_equal(hf_contaminate(*state, HF_CONTAMINATION_UNIFORM, 1, 7, 0, 0, NULL, 0, NULL, NULL),
                     HF_OK);
    assert_int_equal(hf_contaminate(*state, HF_CONTAMINATION_UNIFORM, 0.4, 7, 1, 0, NULL, 0, &one, mask),
                     HF_OK);
    assert_true(one == 5 && !mask[0]);
    assert_int_equal(hf_contaminate(*state, HF_CONTAMINATION_UNIFORM, 0.6, 7, 1, 0, NULL, 0, &one, mask),
                     HF_ERR_NO_DATA);
    assert_true(one == 5);
    assert_int_equal(hf_contaminate(*state, HF_CONTAMINATION_ASYMMETRIC, 0.5, 7, 2, 0, NULL, 0, two, mask),
                     HF_OK);
    assert_true(mask[0] != mask[1]);
    double shift = mask[0] ? 1 - two[0] : 3 - two[1];
    assert_true(shift > 3 * sqrt(2) && shift < 9 * sqrt(2));
    assert_int_equal(hf_contaminate(*state, HF_CONTAMINATION_UNIFORM, 0.5, 7, 4, 0, NULL, 0, huge, mask),
                     HF_OK);
    for (int i = 0; i < 4; i++) assert_true(isfinite(huge[i]));
    assert_int_equal(hf_contaminate(*state, HF_CONTAMINATION_UNIFORM, 1, 7, 2, 0, NULL, 0, edge, mask),
                     HF_ERR_NOT_FINITE);
    assert_true(edge[0] == 1.7e308 && edge[1] == -1.7e308);
}

static void errors_leave_the_data_alone(void **state)
{
    static const struct {
        hf_contamination kind;
        double share;
        size_t ldx;
        double poison; /* put at y[5]; 0: nowhere */
        hf_status status;
        const char *message;
    } cases[] = {
        {HF_CONTAMINATION_UNIFORM, -0.1, LDX, 0, HF_ERR_ARGUMENT,
         "the share is -0.1; it must lie between 0 and 1"},
        {HF_CONTAMINATION_UNIFORM, 1.01, LDX, 0, HF_ERR_ARGUMENT, "the share is 1.01"},
        {HF_CONTAMINATION_UNIFORM, NAN, LDX, 0, HF_ERR_ARGUMENT, "the share is nan"},
        {(hf_contamination)9, 0.1, LDX, 0, HF_ERR_ARGUMENT, "number 9"},
        {HF_CONTAMINATION_FOCUSED, 0.1, D - 1, 0, HF_ERR_DIMENSION, "row stride 2 is less than 3 features"},
        {HF_CONTAMINATION_FOCUSED, 0.1, LDX, INFINITY, HF_ERR_NOT_FINITE, "the target of row 6 is infinite"},
    };
    static data clean, dirty;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        fill(&dirty);
        if (cases[k].poison != 0) dirty.y[5] = cases[k].poison;
        clean = dirty;
        assert_int_equal(hf_contaminate(*state, cases[k].kind, cases[k].share, 7, N, D, dirty.x, cases[k].ldx,
                                        dirty.y, dirty.mask),
                         cases[k].status);
        assert_contains(hf_context_message(*state), cases[k].message);
        assert_memory_equal(&dirty, &clean, sizeof clean);
    }
    fill(&dirty);
    dirty.x[7 * LDX + 2] = INFINITY;
    clean = dirty;
    assert_int_equal(
        hf_contaminate(*state, HF_CONTAMINATION_FOCUSED, 0.1, 7, N, D, dirty.x, LDX, dirty.y, dirty.mask),
        HF_ERR_NOT_FINITE);
    assert_contains(hf_context_message(*state), "feature 3 of row 8 is infinite");
    assert_memory_equal(&dirty, &clean, sizeof clean);
    assert_int_equal(hf_contaminate(*state, HF_CONTAMINATION_FOCUSED, 0.1, 7, N, D, NULL, LDX, dirty.y, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_contaminate(*state, HF_CONTAMINATION_UNIFORM, 0.1, 7, N, D, NULL, LDX, NULL, NULL),
                     HF_ERR_ARGUMENT);
    for (size_t i = 0; i < N; i++) dirty.y[i] = 3;
    assert_int_equal(hf_contaminate(*state, HF_CONTAMINATION_UNIFORM, 0.1, 7, N, D, NULL, LDX, dirty.y, NULL),
                     HF_ERR_NO_DATA);
    assert_contains(hf_context_message(*state), "all targets are equal");
}

static void names_and_numbers_agree(void **state)
{
    for (int i = HF_CONTAMINATION_NONE; i <= HF_CONTAMINATION_FOCUSED; i++) {
        hf_contamination kind = (hf_contamination)99;
        assert_int_equal(hf_enum_parse(*state, HF_ENUM_CONTAMINATION,
                                       hf_enum_name(HF_ENUM_CONTAMINATION, (unsigned)i), &kind),
                         HF_OK);
        assert_int_equal(kind, i);
    }
    hf_contamination kind = HF_CONTAMINATION_FOCUSED;
    assert_int_equal(hf_enum_parse(*state, HF_ENUM_CONTAMINATION, "Uniform", &kind), HF_ERR_ARGUMENT);
    assert_int_equal(kind, HF_CONTAMINATION_FOCUSED);
    assert_contains(hf_context_message(*state),
                    "there is no contamination 'Uniform'; give none, uniform, asymmetric or focused");
    assert_int_equal(hf_enum_parse(*state, HF_ENUM_CONTAMINATION, NULL, &kind), HF_ERR_ARGUMENT);
    assert_string_equal(hf_enum_name(HF_ENUM_CONTAMINATION, (unsigned)-1), "unknown");
    assert_string_equal(hf_enum_name(HF_ENUM_CONTAMINATION, (unsigned)4), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifts_are_what_the_protocol_says),
        cmocka_unit_test(shifts_are_uniform),
        cmocka_unit_test(focused_rows_gather_at_one_place),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(none_changes_nothing),
        cmocka_unit_test(missing_values_are_left_alone),
        cmocka_unit_test(small_and_huge_data),
        cmocka_unit_test(errors_leave_the_data_alone),
        cmocka_unit_test(names_and_numbers_agree),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
