/* SPDX-License-Identifier: Apache-2.0 */
#include "sites/sites.h"
#include <holdfast/robust_covariance.h>

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "mean/failing_allocator.h"

enum {
    MOST_ROWS = 2000,
    MOST_COLUMNS = 10
};

/* Everything that one call gives. */
typedef struct answer {
    double location[MOST_COLUMNS], covariance[MOST_COLUMNS * MOST_COLUMNS];
    double raw_location[MOST_COLUMNS], raw_covariance[MOST_COLUMNS * MOST_COLUMNS];
    double distance[MOST_ROWS], normal[MOST_COLUMNS];
    bool support[MOST_ROWS], kept[MOST_ROWS];
    hf_robust_covariance_report report;
} answer;

static answer first, second;

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

static hf_status ask(hf_context *ctx, size_t n, size_t p, const double *x,
                     const hf_robust_covariance_settings *settings, answer *a)
{
    memset(a, 0, sizeof *a);
    const hf_robust_covariance_arrays out = {.location = a->location,
                                             .covariance = a->covariance,
                                             .raw_location = a->raw_location,
                                             .raw_covariance = a->raw_covariance,
                                             .distance = a->distance,
                                             .support = a->support,
                                             .kept = a->kept,
                                             .normal = a->normal};
    return hf_robust_covariance(ctx, n, p, x, p, settings, &out, &a->report);
}

/* Correlated normal rows about (1, 2, ...); the first `bad` of them are moved. */
static void make(uint64_t seed, size_t n, size_t p, size_t bad, double away, double *x)
{
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < n; i++) {
        const double common = hfi_stream_normal(&stream);
        for (size_t j = 0; j < p; j++)
            x[i * p + j] = (double)(j + 1) + common + 0.5 * (double)(j + 1) * hfi_stream_normal(&stream) +
                           (i < bad ? away : 0.0);
    }
}

static double determinant(size_t p, double *a)
{
    double value = 1.0;
    for (size_t k = 0; k < p; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < p; i++)
            if (fabs(a[i * p + k]) > fabs(a[pivot * p + k])) pivot = i;
        for (size_t j = 0; j < p; j++) {
            const double swap = a[k * p + j];
            a[k * p + j] = a[pivot * p + j];
            a[pivot * p + j] = swap;
        }
        if (pivot != k) value = -value;
        value *= a[k * p + k];
        for (size_t i = k + 1; i < p && a[k * p + k] != 0.0; i++) {
            const double share = a[i * p + k] / a[k * p + k];
            for (size_t j = k; j < p; j++) a[i * p + j] -= share * a[k * p + j];
        }
    }
    return value;
}

/* Mean and covariance (divided by the count) of the marked rows, straight from the definition. */
static void moments(size_t n, size_t p, const double *x, const bool *marked, double *mean, double *covariance)
{
    double count = 0.0;
    for (size_t j = 0; j < p; j++) mean[j] = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (!marked[i]) continue;
        count += 1.0;
        for (size_t j = 0; j < p; j++) mean[j] += x[i * p + j];
    }
    for (size_t j = 0; j < p; j++) mean[j] /= count;
    for (size_t j = 0; j < p; j++) {
        for (size_t k = 0; k < p; k++) {
            double sum = 0.0;
            for (size_t i = 0; i < n; i++)
                if (marked[i]) sum += (x[i * p + j] - mean[j]) * (x[i * p + k] - mean[k]);
            covariance[j * p + k] = sum / count;
        }
    }
}

static double determinant_of(size_t n, size_t p, const double *x, const bool *marked)
{
    double mean[MOST_COLUMNS], covariance[MOST_COLUMNS * MOST_COLUMNS];
    moments(n, p, x, marked, mean, covariance);
    return determinant(p, covariance);
}

/* All subsets of h of n <= 16 rows. */
static double least_determinant(size_t n, size_t p, size_t h, const double *x, bool *best)
{
    double least = INFINITY;
    bool marked[16];
    for (unsigned set = 0; set < 1u << n; set++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            marked[i] = set >> i & 1u;
            count += marked[i];
        }
        if (count != h) continue;
        const double value = determinant_of(n, p, x, marked);
        if (value >= least) continue;
        least = value;
        memcpy(best, marked, sizeof marked);
    }
    return least;
}

static void tiny_tables_reach_the_global_minimum(void **state)
{
    hf_context *ctx = *state;
    double x[16 * 3];
    bool best[16];
    for (uint64_t seed = 0; seed < 24; seed++) {
        const size_t p = 1 + (size_t)seed % 3, n = 9 + (size_t)seed % 4;
        make(seed, n, p, seed % 4, 30.0, x);
        assert_int_equal(ask(ctx, n, p, x, NULL, &first), HF_OK);
        const size_t h = (n + p + 1) / 2;
        assert_int_equal(first.report.support, h);
        const double least = least_determinant(n, p, h, x, best);
        assert_memory_equal(best, first.support, n * sizeof *best);
        assert_near(first.report.log_determinant, log(least), 1e-10);
        double mean[3], covariance[9];
        moments(n, p, x, best, mean, covariance);
        for (size_t j = 0; j < p; j++) assert_near(first.raw_location[j], mean[j], 1e-12);
        for (size_t j = 0; j < p * p; j++) assert_near(first.raw_covariance[j], covariance[j], 1e-11);
    }
}

/* One column, a size at which windows run, with values that would spoil running sums. */
static void one_column_is_exact(void **state)
{
    hf_context *ctx = *state;
    static double x[301];
    static bool marked[301];
    for (uint64_t seed = 0; seed < 6; seed++) {
        const size_t n = 101 + 40 * (size_t)seed;
        make(seed, n, 1, seed % 2 ? 40 : 0, seed % 3 ? 1e9 : -1e40, x);
        assert_int_equal(ask(ctx, n, 1, x, NULL, &first), HF_OK);
        const size_t h = (n + 2) / 2;
        /* Ascending copy; every window from the definition. */
        double sorted[301], least = INFINITY;
        memcpy(sorted, x, n * sizeof *x);
        (void)hfi_median(sorted, n);
        for (size_t s = 0; s + h <= n; s++) {
            for (size_t i = 0; i < n; i++) marked[i] = i >= s && i < s + h;
            least = fmin(least, determinant_of(n, 1, sorted, marked));
        }
        assert_near(determinant_of(n, 1, x, first.support) / least, 1.0, 1e-9);
        assert_near(first.report.log_determinant, log(least), 1e-9);
    }
}

static void defaults_are_what_the_header_says(void **state)
{
    (void)state;
    const hf_robust_covariance_settings s = hf_robust_covariance_settings_default();
    assert_true(s.support_fraction == 0.0 && s.starts == 500 && s.reweight);
}

static void all_rows_give_the_classical_estimate(void **state)
{
    hf_context *ctx = *state;
    double x[50 * 3], mean[3], covariance[9];
    bool all[50];
    make(3, 50, 3, 0, 0.0, x);
    for (size_t i = 0; i < 50; i++) all[i] = true;
    moments(50, 3, x, all, mean, covariance);
    hf_robust_covariance_settings settings = hf_robust_covariance_settings_default();
    settings.support_fraction = 1.0;
    settings.reweight = false;
    assert_int_equal(ask(ctx, 50, 3, x, &settings, &first), HF_OK);
    for (size_t j = 0; j < 3; j++) assert_near(first.location[j], mean[j], 1e-12);
    for (size_t j = 0; j < 9; j++) assert_near(first.covariance[j], covariance[j], 1e-12);
    assert_memory_equal(first.kept, all, sizeof all);
    assert_true(first.report.raw_factor == 1.0 && first.report.final_factor == 1.0);
    assert_int_equal(first.report.steps, 0);
}

/* The estimate is what the header says of its own marks, and the distances are its distances. */
static void reweighting_follows_its_formula(void **state)
{
    hf_context *ctx = *state;
    static double x[200 * 2];
    double mean[2], covariance[4];
    make(8, 200, 2, 60, 25.0, x);
    assert_int_equal(ask(ctx, 200, 2, x, NULL, &first), HF_OK);
    const double q = -2.0 * log(0.025), h = (double)first.report.support, tail = -2.0 * log(1.0 - h / 200.0);
    const double raw_factor = h / 200.0 / (1.0 - exp(-0.5 * tail) * (1.0 + 0.5 * tail));
    assert_near(first.report.raw_factor, raw_factor, 1e-12);
    assert_near(first.report.final_factor, 0.975 / (1.0 - 0.025 * (1.0 + 0.5 * q)), 1e-12);
    const double *s = first.raw_covariance, *m = first.raw_location;
    size_t kept = 0;
    for (size_t i = 0; i < 200; i++) {
        const double a = x[2 * i] - m[0], b = x[2 * i + 1] - m[1];
        const double squared =
            (a * a * s[3] - 2.0 * a * b * s[1] + b * b * s[0]) / (s[0] * s[3] - s[1] * s[1]);
        assert_int_equal(first.kept[i], squared / raw_factor <= q);
        kept += first.kept[i];
        if (i < 60) assert_false(first.kept[i]);
    }
    assert_int_equal(kept, first.report.kept);
    moments(200, 2, x, first.kept, mean, covariance);
    for (size_t j = 0; j < 2; j++) assert_near(first.location[j], mean[j], 1e-12);
    for (size_t j = 0; j < 4; j++)
        assert_near(first.covariance[j], first.report.final_factor * covariance[j], 1e-12);
    const double *c = first.covariance, a = x[0] - mean[0], b = x[1] - mean[1];
    assert_near(first.distance[0],
                sqrt((a * a * c[3] - 2.0 * a * b * c[1] + b * b * c[0]) / (c[0] * c[3] - c[1] * c[1])), 1e-9);
}

/* 40 % of the rows at 1e9 move the estimate no more than leaving them out does. */
static void breakdown(void **state)
{
    hf_context *ctx = *state;
    static double x[1000 * 10];
    const size_t rows[] = {100, 250, 1000}, columns[] = {2, 5, 10};
    for (size_t k = 0; k < 3; k++) {
        for (size_t l = 0; l < 3; l++) {
            const size_t n = rows[k], p = columns[l], bad = n * 2 / 5;
            make(5 + k, n, p, bad, 1e9, x);
            assert_int_equal(ask(ctx, n, p, x, NULL, &first), HF_OK);
            for (size_t i = 0; i < bad; i++) assert_false(first.support[i] || first.kept[i]);
            assert_true(ask(ctx, n - bad, p, x + bad * p, NULL, &second) >= 0);
            for (size_t j = 0; j < p; j++) {
                const double sd = sqrt(second.covariance[j * p + j]);
                assert_near(first.location[j], second.location[j], 0.5 * sd);
                assert_true(first.covariance[j * p + j] < 3.0 * sd * sd);
                assert_true(first.covariance[j * p + j] > 0.3 * sd * sd);
            }
        }
    }
}

static void an_invertible_map_and_a_shift_pass_through(void **state)
{
    hf_context *ctx = *state;
    static double x[400 * 3], z[400 * 3];
    const double map[9] = {2.0, 0.3, 0.0, -400.0, 100.0, 7.0, 1e-3, 0.0, 2e-3}, shift[3] = {5.0, -1e4, 1.0};
    make(12, 400, 3, 130, 12.0, x);
    for (size_t i = 0; i < 400; i++)
        for (size_t j = 0; j < 3; j++) {
            z[3 * i + j] = shift[j];
            for (size_t k = 0; k < 3; k++) z[3 * i + j] += map[3 * j + k] * x[3 * i + k];
        }
    assert_int_equal(ask(ctx, 400, 3, x, NULL, &first), HF_OK);
    assert_int_equal(ask(ctx, 400, 3, z, NULL, &second), HF_OK);
    assert_memory_equal(first.support, second.support, 400 * sizeof *first.support);
    for (size_t i = 0; i < 400; i++)
        assert_near(second.distance[i], first.distance[i], 1e-6 * (1.0 + first.distance[i]));
    for (size_t j = 0; j < 3; j++) {
        double location = shift[j];
        for (size_t k = 0; k < 3; k++) location += map[3 * j + k] * first.location[k];
        assert_near(second.location[j], location, 1e-9 * (1.0 + fabs(location)));
        for (size_t k = 0; k < 3; k++) {
            double sum = 0.0;
            for (size_t a = 0; a < 9; a++)
                sum += map[3 * j + a / 3] * first.covariance[a] * map[3 * k + a % 3];
            const double size = sqrt(second.covariance[4 * j] * second.covariance[4 * k]);
            assert_near(second.covariance[3 * j + k], sum, 1e-8 * size);
        }
    }
}

static void order_and_threads_change_no_digit(void **state)
{
    hf_context *ctx = *state;
    static double x[1700 * 4], moved[1700 * 4];
    static size_t order[1700];
    const size_t sizes[] = {80, 700, 1700};
    for (size_t k = 0; k < 3; k++) {
        const size_t n = sizes[k];
        hfi_stream stream;
        hfi_stream_init(&stream, 77, HFI_PURPOSE_TEST, k);
        make(20 + k, n, 4, n / 4, 6.0, x);
        for (size_t i = 0; i < n; i++) order[i] = i;
        hfi_stream_shuffle(&stream, order, n);
        for (size_t i = 0; i < n; i++) memcpy(moved + 4 * i, x + 4 * order[i], 4 * sizeof *x);
        assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
        assert_int_equal(ask(ctx, n, 4, x, NULL, &first), HF_OK);
        assert_int_equal(hf_context_set_threads(ctx, 4), HF_OK);
        assert_int_equal(ask(ctx, n, 4, moved, NULL, &second), HF_OK);
        assert_memory_equal(first.location, second.location, sizeof first.location);
        assert_memory_equal(first.covariance, second.covariance, sizeof first.covariance);
        assert_true(first.report.log_determinant == second.report.log_determinant);
        assert_int_equal(first.report.steps, second.report.steps);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(second.support[i], first.support[order[i]]);
            assert_true(second.distance[i] == first.distance[order[i]]);
        }
    }
}

static void incomplete_rows_are_left_out(void **state)
{
    hf_context *ctx = *state;
    double x[60 * 2], whole[40 * 2];
    make(4, 60, 2, 10, 9.0, x);
    size_t count = 0;
    for (size_t i = 0; i < 60; i++) {
        if (i % 3 == 1)
            x[2 * i + i % 2] = NAN;
        else
            memcpy(whole + 2 * count++, x + 2 * i, 2 * sizeof *x);
    }
    assert_int_equal(ask(ctx, 60, 2, x, NULL, &first), HF_WARN_ROWS_SKIPPED);
    assert_non_null(strstr(hf_context_message(ctx), "20 of 60"));
    assert_int_equal(ask(ctx, 40, 2, whole, NULL, &second), HF_OK);
    assert_memory_equal(first.location, second.location, sizeof first.location);
    assert_memory_equal(first.covariance, second.covariance, sizeof first.covariance);
    assert_int_equal(first.report.skipped, 20);
    assert_true(isnan(first.distance[1]) && !first.support[1] && !first.kept[1]);
}

/* h rows in a plane: x3 = 2 x1 - x2 + 1 but for 12 wild rows. Wild rows within the plane must not matter either. */
static void a_plane_is_found_and_told(void **state)
{
    hf_context *ctx = *state;
    double x[60 * 3];
    make(9, 60, 3, 0, 0.0, x);
    for (size_t i = 0; i < 60; i++) {
        if (i >= 12 && i < 20) x[3 * i] += 1e3;
        if (i >= 12) x[3 * i + 2] = 2.0 * x[3 * i] - x[3 * i + 1] + 1.0;
    }
    assert_int_equal(ask(ctx, 60, 3, x, NULL, &first), HF_WARN_SINGULAR);
    assert_int_equal(first.report.rank, 2);
    assert_true(isinf(first.report.log_determinant) && first.report.log_determinant < 0.0);
    assert_near(first.normal[0], 2.0 / sqrt(6.0), 1e-6);
    assert_near(first.normal[1], -1.0 / sqrt(6.0), 1e-6);
    assert_near(first.normal[2], -1.0 / sqrt(6.0), 1e-6);
    for (size_t i = 0; i < 60; i++) {
        if (i < 12)
            assert_true(isinf(first.distance[i]) && !first.kept[i]);
        else if (i < 20)
            assert_true(isfinite(first.distance[i]) && first.distance[i] > 100.0 && !first.kept[i]);
    }
    assert_true(first.covariance[0] < 10.0);
    assert_near(first.location[2], 2.0 * first.location[0] - first.location[1] + 1.0, 1e-9);
}

static void constant_columns_and_duplicates(void **state)
{
    hf_context *ctx = *state;
    double x[60 * 2];
    make(9, 60, 2, 0, 0.0, x);
    for (size_t i = 0; i < 60; i++) x[2 * i + 1] = 1e6 + 0.1;
    assert_int_equal(ask(ctx, 60, 2, x, NULL, &first), HF_WARN_SINGULAR);
    assert_non_null(strstr(hf_context_message(ctx), "column 1"));
    assert_true(first.normal[0] == 0.0 && first.normal[1] == 1.0);
    assert_int_equal(first.report.rank, 1);
    assert_true(first.covariance[3] == 0.0 && first.covariance[0] > 0.1);
    assert_near(first.location[1], 1e6 + 0.1, 1e-9);
    /* Two thirds of the rows are the same point. */
    make(10, 60, 2, 0, 0.0, x);
    for (size_t i = 0; i < 40; i++) x[2 * i] = 7.0, x[2 * i + 1] = -1.0;
    assert_int_equal(ask(ctx, 60, 2, x, NULL, &first), HF_WARN_SINGULAR);
    assert_int_equal(first.report.rank, 0);
    assert_int_equal(first.report.kept, 40);
    assert_near(first.location[0], 7.0, 1e-12);
    assert_near(first.location[1], -1.0, 1e-12);
    assert_true(first.distance[0] == 0.0 && isinf(first.distance[50]));
    /* Every row twice is no trouble. */
    make(11, 30, 2, 0, 0.0, x);
    memcpy(x + 60, x, 60 * sizeof *x);
    assert_int_equal(ask(ctx, 60, 2, x, NULL, &first), HF_OK);
    /* One column, all the same. */
    for (size_t i = 0; i < 60; i++) x[i] = 3.5;
    assert_int_equal(ask(ctx, 60, 1, x, NULL, &first), HF_WARN_SINGULAR);
    assert_true(first.location[0] == 3.5 && first.covariance[0] == 0.0);
}

static void extreme_values(void **state)
{
    hf_context *ctx = *state;
    double x[50 * 2];
    make(2, 50, 2, 0, 0.0, x);
    assert_int_equal(ask(ctx, 50, 2, x, NULL, &second), HF_OK);
    for (size_t i = 0; i < 100; i++) x[i] *= i % 2 ? 1e-150 : 1e100;
    assert_int_equal(ask(ctx, 50, 2, x, NULL, &first), HF_OK);
    assert_near(first.location[0] / (1e100 * second.location[0]), 1.0, 1e-9);
    assert_near(first.covariance[3] / (second.covariance[3] * 1e-150 * 1e-150), 1.0, 1e-9);
    make(2, 50, 2, 0, 0.0, x);
    for (size_t i = 0; i < 20; i++) x[2 * i] = i % 2 ? 1.7e308 : -1.7e308;
    assert_int_equal(ask(ctx, 50, 2, x, NULL, &first), HF_OK);
    assert_near(first.location[0], second.location[0], 1.0);
}

static void errors_leave_the_outputs_alone(void **state)
{
    hf_context *ctx = *state;
    double x[20 * 3], location[3] = {7.0, 7.0, 7.0}, covariance[9] = {7.0};
    const hf_robust_covariance_arrays out = {.location = location, .covariance = covariance}, none = {0};
    hf_robust_covariance_settings settings;
    make(1, 20, 3, 0, 0.0, x);
    assert_int_equal(hf_robust_covariance(ctx, 6, 3, x, 3, NULL, &out, NULL), HF_ERR_NO_DATA);
    assert_non_null(strstr(hf_context_message(ctx), "6 of 6"));
    assert_int_equal(hf_robust_covariance(ctx, 2, 3, x, 3, NULL, &out, NULL), HF_ERR_NO_DATA);
    assert_int_equal(hf_robust_covariance(ctx, 0, 3, NULL, 3, NULL, &out, NULL), HF_ERR_NO_DATA);
    assert_int_equal(hf_robust_covariance(ctx, 20, 3, NULL, 3, NULL, &out, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_robust_covariance(ctx, 20, 0, x, 3, NULL, &out, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_robust_covariance(ctx, 20, 3, x, 2, NULL, &out, NULL), HF_ERR_DIMENSION);
    assert_int_equal(hf_robust_covariance(ctx, 20, 3, x, 3, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_robust_covariance(ctx, 20, 3, x, 3, NULL, &none, NULL), HF_ERR_ARGUMENT);
    const double fractions[] = {0.4, 1.1, -1.0, NAN};
    for (size_t k = 0; k < 4; k++) {
        settings = hf_robust_covariance_settings_default();
        settings.support_fraction = fractions[k];
        assert_int_equal(hf_robust_covariance(ctx, 20, 3, x, 3, &settings, &out, NULL), HF_ERR_ARGUMENT);
    }
    settings = hf_robust_covariance_settings_default();
    settings.starts = 0;
    assert_int_equal(hf_robust_covariance(ctx, 20, 3, x, 3, &settings, &out, NULL), HF_ERR_ARGUMENT);
    x[31] = -INFINITY;
    assert_int_equal(hf_robust_covariance(ctx, 20, 3, x, 3, NULL, &out, NULL), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "row 10, column 1"));
    assert_true(location[0] == 7.0 && covariance[0] == 7.0);
}

static hf_status every_allocation(hf_context *ctx)
{
    double x[30 * 2], location[2] = {7.0, 7.0}, covariance[4];
    const hf_robust_covariance_arrays out = {.location = location, .covariance = covariance};
    make(1, 30, 2, 0, 0.0, x);
    hf_status status = hf_robust_covariance(ctx, 30, 2, x, 2, NULL, &out, NULL);
    assert_true(status >= 0 || location[0] == 7.0);
    return status;
}

static void survives_every_failing_allocation(void **state)
{
    (void)state;
    failing_sweep(every_allocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_tables_reach_the_global_minimum),
        cmocka_unit_test(one_column_is_exact),
        cmocka_unit_test(defaults_are_what_the_header_says),
        cmocka_unit_test(all_rows_give_the_classical_estimate),
        cmocka_unit_test(reweighting_follows_its_formula),
        cmocka_unit_test(breakdown),
        cmocka_unit_test(an_invertible_map_and_a_shift_pass_through),
        cmocka_unit_test(order_and_threads_change_no_digit),
        cmocka_unit_test(incomplete_rows_are_left_out),
        cmocka_unit_test(a_plane_is_found_and_told),
        cmocka_unit_test(constant_columns_and_duplicates),
        cmocka_unit_test(extreme_values),
        cmocka_unit_test(errors_leave_the_outputs_alone),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
