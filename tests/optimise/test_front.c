/* SPDX-License-Identifier: Apache-2.0 */
/* Fronts, hypervolumes and expected improvements against definitions, draws and differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "core/normal.h"
#include "optimise/optimise.h"
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 64
};

typedef struct cloud {
    size_t n, m;
    double value[MOST * 8];
} cloud;

/* Points on a lattice of `steps` values an objective, so that there are ties and repetitions; 0: anywhere. */
static cloud draw(uint64_t seed, size_t n, size_t m, size_t steps)
{
    cloud c = {.n = n, .m = m};
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < n * m; i++)
        c.value[i] =
            steps > 0 ? (double)hfi_stream_below(&stream, steps) : 3.0 * hfi_stream_uniform(&stream) - 0.5;
    return c;
}

/* ---- fronts -------------------------------------------------------------------------------------------- */

static bool beaten(const cloud *c, size_t i)
{
    for (size_t k = 0; k < c->n; k++) {
        bool nowhere_below = true, above = false;
        for (size_t j = 0; j < c->m; j++) {
            const double other = c->value[k * c->m + j], own = c->value[i * c->m + j];
            nowhere_below = nowhere_below && other >= own;
            above = above || other > own;
        }
        if (nowhere_below && (above || k < i)) return true;
    }
    return false;
}

static void a_front_is_what_nothing_dominates(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (uint64_t seed = 0; seed < 60; seed++) {
        const cloud c = draw(seed, seed % 40, 1 + seed % 4, seed % 3 == 0 ? 0 : 2 + seed % 5);
        size_t index[MOST], count = 77, next = 0;
        assert_int_equal(hf_front(ctx, c.n, c.m, c.value, index, &count), HF_OK);
        for (size_t i = 0; i < c.n; i++)
            if (!beaten(&c, i)) {
                assert_true(next < count);
                assert_int_equal(index[next++], i);
            }
        assert_int_equal(next, count);
    }
    hf_context_free(ctx);
}

static void bad_points_are_refused_with_the_place(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double values[] = {1.0, 2.0, 3.0, NAN}, reference[] = {0.0, INFINITY}, wide[] = {1e200, 1e200};
    const double zero[11] = {0.0};
    size_t index[2] = {7, 7}, count = 77;
    double volume = 77.0;
    hf_ehvi *ehvi = NULL;
    assert_int_equal(hf_front(ctx, 2, 2, values, index, &count), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "objective 1 of point 1 "));
    assert_int_equal(hf_front(ctx, 2, 0, values, index, &count), HF_ERR_ARGUMENT);
    assert_true(index[0] == 7 && count == 77);
    assert_int_equal(hf_hypervolume(ctx, 1, 2, values, reference, &volume), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "objective 1 "));
    assert_int_equal(hf_hypervolume(ctx, 1, 2, wide, zero, &volume), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_hypervolume(ctx, 0, 11, NULL, zero, &volume), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "11 objectives"));
    assert_true(volume == 77.0);
    assert_int_equal(hf_ehvi_create(ctx, 1, 4, zero, zero, &ehvi), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "4 objectives"));
    assert_null(ehvi);
    hf_context_free(ctx);
}

/* ---- hypervolume --------------------------------------------------------------------------------------- */

/* Inclusion and exclusion over all subsets: up to a dozen points. */
static double by_subsets(const cloud *c, const double *reference)
{
    double sum = 0.0;
    for (size_t set = 1; set < (size_t)1 << c->n; set++) {
        double corner[8], product = -1.0;
        for (size_t j = 0; j < c->m; j++) corner[j] = INFINITY;
        for (size_t i = 0; i < c->n; i++) {
            if (!(set >> i & 1)) continue;
            product = -product;
            for (size_t j = 0; j < c->m; j++) corner[j] = fmin(corner[j], c->value[i * c->m + j]);
        }
        for (size_t j = 0; j < c->m; j++) product *= fmax(0.0, corner[j] - reference[j]);
        sum += product;
    }
    return sum;
}

static double hypervolume(hf_context *ctx, const cloud *c, const double *reference)
{
    double volume;
    assert_int_equal(hf_hypervolume(ctx, c->n, c->m, c->value, reference, &volume), HF_OK);
    return volume;
}

static void volumes_of_all_subsets(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (uint64_t seed = 0; seed < 60; seed++) {
        const cloud c = draw(seed, seed % 9, 1 + seed % 5, seed % 2 == 0 ? 0 : 4);
        const double reference[5] = {0.0, 0.25, -0.1, 0.5, 0.0}, expected = by_subsets(&c, reference);
        assert_near(hypervolume(ctx, &c, reference), expected, 1e-11 * fmax(1.0, expected));
    }
    hf_context_free(ctx);
}

static void volumes_do_not_mind_order_and_scale(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t m = 2; m <= 4; m++) {
        const cloud c = draw(m, 20, m, 0);
        const double reference[4] = {0.0}, volume = hypervolume(ctx, &c, reference);
        cloud turned = c, scaled = c;
        for (size_t i = 0; i < c.n; i++)
            memcpy(turned.value + i * m, c.value + (c.n - 1 - i) * m, m * sizeof *turned.value);
        for (size_t i = 0; i < c.n; i++) scaled.value[i * m] *= 1024.0;
        assert_near(hypervolume(ctx, &turned, reference), volume, 1e-14 * volume);
        assert_near(hypervolume(ctx, &scaled, reference), 1024.0 * volume, 1e-11 * volume);
        assert_true(hypervolume(ctx, &(cloud){.n = 0, .m = m}, reference) == 0.0);
    }
    hf_context_free(ctx);
}

static bool stop(const char *stage, double done, double value, void *user)
{
    (void)stage, (void)done, (void)value, (void)user;
    return false;
}

static void a_volume_can_be_cancelled(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const cloud c = draw(1, 20, 3, 0);
    const double reference[3] = {0.0};
    double volume = 77.0;
    hf_context_set_progress(ctx, stop, NULL);
    assert_int_equal(hf_hypervolume(ctx, c.n, c.m, c.value, reference, &volume), HF_ERR_CANCELLED);
    assert_true(volume == 77.0);
    hf_context_free(ctx);
}

/* ---- expected improvement ------------------------------------------------------------------------------ */

static const double base[3] = {0.1, -0.2, 0.3};

static hf_ehvi *prepared(hf_context *ctx, const cloud *c)
{
    hf_ehvi *out = NULL;
    assert_int_equal(hf_ehvi_create(ctx, c->n, c->m, c->value, base, &out), HF_OK);
    assert_int_equal(hf_ehvi_objectives(out), c->m);
    return out;
}

static double improvement(hf_context *ctx, const cloud *c, double before, const double *y)
{
    cloud more = *c;
    memcpy(more.value + c->n * c->m, y, c->m * sizeof *y);
    more.n++;
    return hypervolume(ctx, &more, base) - before;
}

/* A value that is known adds what it adds: this is about every box. */
static void without_doubt_it_is_the_volume_added(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double none[3] = {0.0};
    for (uint64_t seed = 0; seed < 90; seed++) {
        const cloud c = draw(seed, seed % 31, 1 + seed % 3, seed % 2 == 0 ? 0 : 5);
        const cloud tried = draw(seed + 1000, 10, c.m, seed % 2 == 0 ? 0 : 6);
        hf_ehvi *ehvi = prepared(ctx, &c);
        const double before = hypervolume(ctx, &c, base);
        for (size_t i = 0; i < tried.n; i++) {
            double value;
            const double *y = tried.value + i * c.m;
            assert_int_equal(hf_ehvi_value(ehvi, y, none, &value, NULL, NULL), HF_OK);
            assert_near(value, improvement(ctx, &c, before, y), 1e-12 * fmax(1.0, before));
        }
        hf_ehvi_free(ehvi);
    }
    hf_context_free(ctx);
}

static void it_is_the_average_over_draws(void **state)
{
    (void)state;
    enum {
        DRAWS = 20000
    };
    hf_context *ctx = hf_context_create();
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 1);
    const double mean[3] = {1.5, 0.9, 1.2}, sd[3] = {0.8, 0.5, 1.1};
    for (size_t m = 1; m <= 3; m++) {
        const cloud c = draw(m, 12, m, 0);
        hf_ehvi *ehvi = prepared(ctx, &c);
        const double before = hypervolume(ctx, &c, base);
        double value, sum = 0.0, squares = 0.0;
        for (size_t k = 0; k < DRAWS; k++) {
            double y[3];
            for (size_t j = 0; j < m; j++) y[j] = mean[j] + sd[j] * hfi_stream_normal(&stream);
            const double added = improvement(ctx, &c, before, y);
            sum += added;
            squares += added * added;
        }
        assert_int_equal(hf_ehvi_value(ehvi, mean, sd, &value, NULL, NULL), HF_OK);
        const double average = sum / DRAWS,
                     error = sqrt((squares / DRAWS - average * average) / (double)DRAWS);
        assert_near(value, average, 4.5 * error);
        hf_ehvi_free(ehvi);
    }
    hf_context_free(ctx);
}

typedef hf_status (*function)(const hf_ehvi *, const double *, const double *, double *, double *, double *);

static double at(function f, const hf_ehvi *ehvi, const double *mean, const double *sd)
{
    double value;
    assert_int_equal(f(ehvi, mean, sd, &value, NULL, NULL), HF_OK);
    return value;
}

/* Central differences of both parameters of every objective. */
static void check_slopes(function f, const hf_ehvi *ehvi, const double *mean, const double *sd,
                         double tolerance)
{
    double value, by_mean[3], by_sd[3];
    assert_int_equal(f(ehvi, mean, sd, &value, by_mean, by_sd), HF_OK);
    for (size_t j = 0; j < hf_ehvi_objectives(ehvi); j++) {
        double m[3], s[3];
        const double step = 1e-5 * sd[j];
        for (size_t way = 0; way < 2; way++) {
            double ends[2];
            for (size_t end = 0; end < 2; end++) {
                memcpy(m, mean, sizeof m), memcpy(s, sd, sizeof s);
                (way == 0 ? m : s)[j] += end == 0 ? -step : step;
                ends[end] = at(f, ehvi, m, s);
            }
            const double difference = (ends[1] - ends[0]) / (2.0 * step),
                         slope = way == 0 ? by_mean[j] : by_sd[j];
            assert_near(slope, difference, tolerance * (fabs(difference) + fabs(value) / sd[j]));
        }
    }
}

static void slopes_are_differences(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (uint64_t seed = 0; seed < 60; seed++) {
        const cloud c = draw(seed, seed % 20, 1 + seed % 3, 0);
        hf_ehvi *ehvi = prepared(ctx, &c);
        const cloud mean = draw(seed + 500, 1, 3, 0), spread = draw(seed + 700, 1, 3, 0);
        double sd[3], low[3];
        for (size_t j = 0; j < 3; j++) {
            sd[j] = (seed % 4 == 0 ? 0.02 : 1.0) * exp(spread.value[j] - 1.0);
            low[j] = base[j] - (5.0 + 40.0 * mean.value[j] * mean.value[j]) * sd[j];
        }
        /* Far out a value bends too much for a difference; its log does not. */
        if (at(hf_ehvi_log, ehvi, mean.value, sd) > -20.0)
            check_slopes(hf_ehvi_value, ehvi, mean.value, sd, 1e-6);
        check_slopes(hf_ehvi_log, ehvi, mean.value, sd, 1e-6);
        check_slopes(hf_ehvi_log, ehvi, low, sd, 1e-6);
        hf_ehvi_free(ehvi);
    }
    hf_context_free(ctx);
}

static void one_objective_is_expected_improvement(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const cloud c = {.n = 3, .m = 1, .value = {1.0, 2.5, 0.5}};
    hf_ehvi *ehvi = prepared(ctx, &c);
    for (double mean = -30.0; mean < 30.0; mean += 1.7) {
        const double sd = 0.7, log_ei = log(sd) + hfi_normal_excess_at((mean - 2.5) / sd).log_h;
        assert_near(at(hf_ehvi_log, ehvi, &mean, &sd), log_ei, 1e-13 * fmax(1.0, fabs(log_ei)));
        assert_near(at(hf_ehvi_value, ehvi, &mean, &sd), exp(log_ei), 1e-12 * exp(log_ei));
    }
    hf_ehvi_free(ehvi);
    hf_context_free(ctx);
}

/* Far below the front EHVI underflows, its log does not; far above it is a volume. */
static void logs_reach_where_values_do_not(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t m = 1; m <= 3; m++) {
        const cloud c = draw(m, 15, m, 0);
        hf_ehvi *ehvi = prepared(ctx, &c);
        const double sd[3] = {0.5, 0.5, 0.5}, none[3] = {0.0}, far[3] = {1e9, 1e9, 1e9};
        double last = INFINITY;
        for (double depth = 1.0; depth < 1e6; depth *= 3.0) {
            const double mean[3] = {-depth, -depth, -depth};
            const double value = at(hf_ehvi_log, ehvi, mean, sd);
            assert_true(isfinite(value) && value < last);
            last = value;
        }
        const double low[3] = {-1e4, -1e4, -1e4};
        double by_mean[3] = {1.0, 1.0, 1.0}, value;
        assert_true(at(hf_ehvi_value, ehvi, low, sd) == 0.0);
        assert_int_equal(hf_ehvi_log(ehvi, low, none, &value, by_mean, NULL), HF_OK);
        assert_true(value == -INFINITY && by_mean[0] == 0.0);
        assert_near(at(hf_ehvi_log, ehvi, far, sd), (double)m * log(1e9), 1e-6);
        hf_ehvi_free(ehvi);
    }
    hf_context_free(ctx);
}

static void units_multiply(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double mean[3] = {1.5, 0.9, 1.2}, sd[3] = {0.8, 0.5, 1.1};
    for (size_t m = 1; m <= 3; m++) {
        const cloud c = draw(m + 40, 15, m, 0);
        cloud other = {.n = c.n, .m = m};
        hf_ehvi *ehvi = prepared(ctx, &c), *changed = NULL;
        const double scale[3] = {8.0, 0.25, 1e6}, shift[3] = {3.0, -2.0, 0.5};
        double reference[3], moved[3], spread[3], product = 1.0;
        for (size_t j = 0; j < m; j++) {
            reference[j] = scale[j] * base[j] + shift[j];
            moved[j] = scale[j] * mean[j] + shift[j];
            spread[j] = scale[j] * sd[j];
            product *= scale[j];
            for (size_t i = 0; i < c.n; i++) /* in another order, too */
                other.value[(c.n - 1 - i) * m + j] = scale[j] * c.value[i * m + j] + shift[j];
        }
        assert_int_equal(hf_ehvi_create(ctx, c.n, m, other.value, reference, &changed), HF_OK);
        const double value = at(hf_ehvi_value, ehvi, mean, sd);
        assert_near(at(hf_ehvi_value, changed, moved, spread), product * value, 1e-11 * product * value);
        hf_ehvi_free(ehvi);
        hf_ehvi_free(changed);
    }
    hf_context_free(ctx);
}

/* The integral over a side is that over its halves, wherever they are, and whichever formula does them. */
static void strips_add_up(void **state)
{
    (void)state;
    for (double lower = -60.0; lower < 60.0; lower += 3.3)
        for (double width = 1e-9; width < 200.0; width *= 3.7) {
            const double middle = lower + 0.4 * width, upper = lower + width;
            const double whole = hfi_front_strip(lower, upper, 0.3, 1.3, true).log_value;
            const double left = hfi_front_strip(lower, middle, 0.3, 1.3, false).log_value;
            const double right = hfi_front_strip(middle, upper, 0.3, 1.3, false).log_value;
            /* The ends are rounded, and with them the widths. */
            const double rounding = 2e-15 * (1.0 + fabs(lower)) / width;
            assert_near(exp(left - whole) + exp(right - whole), 1.0, 1e-11 + rounding);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_front_is_what_nothing_dominates),
        cmocka_unit_test(bad_points_are_refused_with_the_place),
        cmocka_unit_test(volumes_of_all_subsets),
        cmocka_unit_test(volumes_do_not_mind_order_and_scale),
        cmocka_unit_test(a_volume_can_be_cancelled),
        cmocka_unit_test(without_doubt_it_is_the_volume_added),
        cmocka_unit_test(it_is_the_average_over_draws),
        cmocka_unit_test(slopes_are_differences),
        cmocka_unit_test(one_objective_is_expected_improvement),
        cmocka_unit_test(logs_reach_where_values_do_not),
        cmocka_unit_test(units_multiply),
        cmocka_unit_test(strips_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
