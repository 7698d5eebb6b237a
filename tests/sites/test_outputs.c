/* SPDX-License-Identifier: Apache-2.0 */
#include "sites/sites.h"
#include <holdfast/outputs.h>

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "mean/failing_allocator.h"

enum {
    MOST_OUTPUTS = 6,
    MOST_ROWS = 120
};

/* A model with its arrays, and readings drawn from it. */
typedef struct problem {
    size_t n, outputs;
    double mean[MOST_OUTPUTS], covariance[MOST_OUTPUTS * MOST_OUTPUTS], noise[MOST_OUTPUTS];
    double y[MOST_ROWS * MOST_OUTPUTS];
    hf_outputs_model model;
} problem;

static problem p, moved;
static double centre[MOST_ROWS * MOST_OUTPUTS], other[MOST_ROWS * MOST_OUTPUTS];
static double weight[MOST_ROWS * MOST_OUTPUTS], shift[MOST_ROWS * MOST_OUTPUTS], scale[MOST_OUTPUTS];
static const double EPS[MOST_OUTPUTS] = {0.1, 0.2, 0.15, 0.1, 0.05, 0.3};
static const hf_outputs_sites SITES = {.weight = weight, .shift = shift, .scale = scale};

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

static void bind(problem *q, double ridge)
{
    q->model = (hf_outputs_model){.outputs = q->outputs,
                                  .mean = q->mean,
                                  .covariance = q->covariance,
                                  .noise = q->noise,
                                  .ridge = ridge};
}

/* B = W W' with random W; `missing` of the readings are not there. */
static void make(uint64_t seed, size_t n, size_t outputs, double ridge, double missing)
{
    double w[MOST_OUTPUTS * MOST_OUTPUTS];
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 0);
    p.n = n;
    p.outputs = outputs;
    for (size_t k = 0; k < outputs * outputs; k++) w[k] = hfi_stream_normal(&stream);
    for (size_t s = 0; s < outputs; s++) {
        p.mean[s] = hfi_stream_normal(&stream);
        p.noise[s] = 0.05 + 0.1 * hfi_stream_uniform(&stream);
        for (size_t t = 0; t < outputs; t++) {
            p.covariance[s * outputs + t] = 0.0;
            for (size_t k = 0; k < outputs; k++)
                p.covariance[s * outputs + t] += w[s * outputs + k] * w[t * outputs + k];
        }
    }
    for (size_t i = 0; i < n; i++) {
        double z[MOST_OUTPUTS];
        for (size_t k = 0; k < outputs; k++) z[k] = hfi_stream_normal(&stream);
        for (size_t s = 0; s < outputs; s++) {
            double y = p.mean[s] + sqrt(p.noise[s]) * hfi_stream_normal(&stream);
            for (size_t k = 0; k < outputs; k++) y += w[s * outputs + k] * z[k];
            p.y[i * outputs + s] = hfi_stream_uniform(&stream) < missing ? NAN : y;
        }
    }
    bind(&p, ridge);
}

/* a x = b by Gauss-Jordan with pivoting; a and b are spoilt. */
static void solve(size_t n, double *a, double *b)
{
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        for (size_t j = 0; j < n; j++) {
            const double swap = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = swap;
        }
        const double swap = b[k];
        b[k] = b[pivot];
        b[pivot] = swap;
        for (size_t i = 0; i < n; i++) {
            if (i == k) continue;
            const double share = a[i * n + k] / a[k * n + k];
            for (size_t j = 0; j < n; j++) a[i * n + j] -= share * a[k * n + j];
            b[i] -= share * b[k];
        }
    }
    for (size_t k = 0; k < n; k++) b[k] /= a[k * n + k];
}

static double covariance_of(const problem *q, size_t s, size_t t)
{
    return q->covariance[s * q->outputs + t] + (s == t ? q->noise[t] : 0.0);
}

/* (C_OO + ridge I)^-1 (y_O - m_O) over the readings of row i but that of `without`; their number and list. */
static size_t solved(const problem *q, size_t i, size_t without, size_t *list, double *x)
{
    double a[MOST_OUTPUTS * MOST_OUTPUTS];
    size_t count = 0;
    for (size_t t = 0; t < q->outputs; t++)
        if (t != without && !isnan(q->y[i * q->outputs + t])) list[count++] = t;
    for (size_t k = 0; k < count; k++) {
        x[k] = q->y[i * q->outputs + list[k]] - q->mean[list[k]];
        for (size_t l = 0; l < count; l++)
            a[k * count + l] = covariance_of(q, list[k], list[l]) + (k == l ? q->model.ridge : 0.0);
    }
    solve(count, a, x);
    return count;
}

static double slow_centre(const problem *q, size_t i, size_t t)
{
    double x[MOST_OUTPUTS], g = q->mean[t];
    size_t list[MOST_OUTPUTS];
    const size_t count = solved(q, i, t, list, x);
    for (size_t k = 0; k < count; k++) g += q->covariance[t * q->outputs + list[k]] * x[k];
    return g;
}

static double slow_distance(const problem *q, size_t i, size_t *count)
{
    double x[MOST_OUTPUTS], sum = 0.0;
    size_t list[MOST_OUTPUTS];
    *count = solved(q, i, q->outputs, list, x);
    for (size_t k = 0; k < *count; k++) sum += (q->y[i * q->outputs + list[k]] - q->mean[list[k]]) * x[k];
    return sum;
}

static void find_centres(hf_context *ctx, const problem *q, double *out)
{
    assert_int_equal(hf_outputs_conditional_centre(ctx, q->n, q->y, q->outputs, &q->model, out), HF_OK);
}

static void centres_are_the_conditional_means(void **state)
{
    hf_context *ctx = *state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        make(seed, 40, 1 + (size_t)seed % MOST_OUTPUTS, seed % 2 ? 1e-3 : 0.0, seed % 3 ? 0.3 : 0.0);
        find_centres(ctx, &p, centre);
        for (size_t i = 0; i < p.n; i++)
            for (size_t t = 0; t < p.outputs; t++)
                assert_near(centre[i * p.outputs + t], slow_centre(&p, i, t), 1e-9);
    }
}

static void one_output_or_no_company_gives_the_mean(void **state)
{
    hf_context *ctx = *state;
    make(1, 10, 1, 0.0, 0.2);
    find_centres(ctx, &p, centre);
    for (size_t i = 0; i < 10; i++) assert_true(centre[i] == p.mean[0]);
    make(2, 4, 3, 0.0, 0.0);
    for (size_t t = 0; t < 3; t++) p.y[t] = NAN; /* nothing at all */
    p.y[3] = p.y[4] = NAN;                       /* only the third */
    find_centres(ctx, &p, centre);
    for (size_t t = 0; t < 3; t++) assert_true(centre[t] == p.mean[t]);
    assert_true(centre[5] == p.mean[2]);
    assert_near(centre[3],
                p.mean[0] + p.covariance[2] / (p.covariance[8] + p.noise[2]) * (p.y[5] - p.mean[2]), 1e-12);
}

/* y_t is not in g_t, however large, and a row does not know the other rows. */
static void the_own_reading_has_no_say(void **state)
{
    hf_context *ctx = *state;
    make(5, 30, 4, 1e-3, 0.2);
    find_centres(ctx, &p, centre);
    for (size_t t = 0; t < 4; t++) {
        moved = p;
        bind(&moved, 1e-3);
        if (isnan(p.y[28 + t])) continue;
        moved.y[28 + t] = 1e15;
        find_centres(ctx, &moved, other);
        assert_true(other[28 + t] == centre[28 + t]);
        for (size_t k = 0; k < 30 * 4; k++)
            if (k / 4 != 7) assert_true(other[k] == centre[k]);
    }
}

static void identical_outputs_repeat_each_other(void **state)
{
    hf_context *ctx = *state;
    p.n = 3;
    p.outputs = 2;
    for (size_t k = 0; k < 4; k++) p.covariance[k] = 2.0;
    for (size_t t = 0; t < 2; t++) p.mean[t] = 1.0, p.noise[t] = 0.0;
    const double y[6] = {3.0, 5.0, NAN, 4.0, 7.0, NAN};
    memcpy(p.y, y, sizeof y);
    bind(&p, 0.0);
    find_centres(ctx, &p, centre);
    assert_near(centre[0], 5.0, 1e-14);
    assert_near(centre[1], 3.0, 1e-14);
    assert_near(centre[2], 4.0, 1e-14);
    assert_near(centre[5], 7.0, 1e-14);
    /* Three of them: given two, the matrix is singular; something is added, and the answer is their mean. */
    p.n = 1;
    p.outputs = 3;
    for (size_t k = 0; k < 9; k++) p.covariance[k] = 2.0;
    p.mean[2] = 1.0, p.noise[2] = 0.0, p.y[2] = 8.0;
    bind(&p, 0.0);
    assert_int_equal(hf_outputs_conditional_centre(ctx, 1, p.y, 3, &p.model, centre), HF_WARN_JITTER);
    assert_near(centre[0], 6.5, 1e-3);
    /* With a ridge nothing needs adding, and T of them at once are right, though nearly dependent. */
    bind(&p, 1e-7);
    find_centres(ctx, &p, centre);
    for (size_t t = 0; t < 3; t++) assert_near(centre[t], slow_centre(&p, 0, t), 1e-6);
}

/* Only the independent outputs' means are left when B is diagonal. */
static void independent_outputs_say_nothing(void **state)
{
    hf_context *ctx = *state;
    make(9, 20, 4, 0.0, 0.1);
    for (size_t s = 0; s < 4; s++)
        for (size_t t = 0; t < 4; t++) p.covariance[s * 4 + t] = s == t ? 1.5 : 0.0;
    find_centres(ctx, &p, centre);
    for (size_t i = 0; i < 20; i++)
        for (size_t t = 0; t < 4; t++) assert_true(centre[i * 4 + t] == p.mean[t]);
}

static void permute(const size_t *to, double ridge)
{
    moved = p;
    for (size_t s = 0; s < p.outputs; s++) {
        moved.mean[to[s]] = p.mean[s];
        moved.noise[to[s]] = p.noise[s];
        for (size_t t = 0; t < p.outputs; t++)
            moved.covariance[to[s] * p.outputs + to[t]] = p.covariance[s * p.outputs + t];
        for (size_t i = 0; i < p.n; i++) moved.y[i * p.outputs + to[s]] = p.y[i * p.outputs + s];
    }
    bind(&moved, ridge);
}

static void renaming_outputs_renames_the_results(void **state)
{
    hf_context *ctx = *state;
    const size_t to[4] = {2, 0, 3, 1};
    double eps[4], weight2[40 * 4], shift2[40 * 4], scale2[4];
    const hf_outputs_sites sites2 = {.weight = weight2, .shift = shift2, .scale = scale2};
    make(11, 40, 4, 1e-3, 0.2);
    permute(to, 1e-3);
    for (size_t t = 0; t < 4; t++) eps[to[t]] = EPS[t];
    for (int kind = HF_OUTPUTS_READING; kind <= HF_OUTPUTS_CHANNEL; kind++) {
        hf_outputs_rule rule = {.size = sizeof rule, .weighting = (hf_outputs_weighting)kind, .eps = EPS};
        assert_int_equal(hf_outputs_weights(ctx, &rule, 40, p.y, 4, &p.model, NULL, &SITES), HF_OK);
        rule.eps = eps;
        assert_int_equal(hf_outputs_weights(ctx, &rule, 40, moved.y, 4, &moved.model, NULL, &sites2), HF_OK);
        for (size_t t = 0; t < 4; t++) {
            assert_near(scale2[to[t]], scale[t], 1e-9);
            for (size_t i = 0; i < 40; i++) {
                assert_near(weight2[i * 4 + to[t]], weight[i * 4 + t], 1e-9);
                assert_near(shift2[i * 4 + to[t]], shift[i * 4 + t], 1e-9);
            }
        }
    }
}

static void thresholds_follow_their_rules(void **state)
{
    hf_context *ctx = *state;
    /* |r| of output 0: 1, 2, 3, 4, 10; of output 1: 5 in the only reading. */
    const double y[10] = {1.0, NAN, -2.0, 5.0, 3.0, NAN, -4.0, NAN, 10.0, NAN}, zero[10] = {0.0};
    const double eps[2] = {0.3, 0.5};
    double c[2];
    assert_int_equal(hf_outputs_thresholds(ctx, HF_OUTPUTS_LINEAR, 5, 2, y, 2, zero, eps, c), HF_OK);
    assert_near(c[0], 3.8, 1e-13);
    assert_near(c[1], 5.0, 1e-13);
    assert_int_equal(hf_outputs_thresholds(ctx, HF_OUTPUTS_LOWER, 5, 2, y, 2, zero, eps, c), HF_OK);
    assert_near(c[0], 3.0, 1e-13);
    assert_near(c[1], 5.0, 1e-13);
    const double unexpected[2] = {0.0, 0.5}; /* output 0 has no outliers: its largest residual */
    for (size_t rule = 0; rule < 2; rule++) {
        assert_int_equal(
            hf_outputs_thresholds(ctx, (hf_outputs_threshold)rule, 5, 2, y, 2, zero, unexpected, c), HF_OK);
        assert_near(c[0], 10.0, 1e-13);
    }
    assert_int_equal(hf_outputs_thresholds(ctx, HF_OUTPUTS_MAD, 5, 2, y, 2, zero, NULL, c), HF_OK);
    assert_near(c[0], 3.0 * 1.482602218505602 * 3.0,
                1e-12); /* r = -4 -2 1 3 10: median 1, deviations 5 3 0 2 9 */
    const double none[4] = {1.0, NAN, 2.0, NAN};
    assert_int_equal(hf_outputs_thresholds(ctx, HF_OUTPUTS_LINEAR, 2, 2, none, 2, zero, eps, c),
                     HF_ERR_NO_DATA);
    assert_non_null(strstr(hf_context_message(ctx), "output 1"));
    assert_int_equal(hf_outputs_thresholds(ctx, HF_OUTPUTS_LOWER, 5, 1, zero, 2, zero, eps, c), HF_OK);
    assert_true(c[0] > 0.0);
}

/* The same as the robust sites of each output by itself. */
static void weights_of_readings_are_those_of_robust_sites(void **state)
{
    hf_context *ctx = *state;
    double y[50], g[50];
    make(21, 50, 3, 1e-3, 0.2);
    p.y[3 * 7] = 1e15, p.y[3 * 8 + 1] = -1e200;
    const hf_outputs_rule rule = {.size = sizeof rule, .eps = EPS};
    assert_int_equal(hf_outputs_weights(ctx, &rule, 50, p.y, 3, &p.model, NULL, &SITES), HF_OK);
    find_centres(ctx, &p, centre);
    for (size_t t = 0; t < 3; t++) {
        hf_sites *sites = NULL;
        double c = 0.0;
        for (size_t i = 0; i < 50; i++) y[i] = p.y[i * 3 + t], g[i] = centre[i * 3 + t];
        assert_int_equal(hf_robust_threshold(ctx, HF_THRESHOLD_QUANTILE, 50, y, g, EPS[t], &c), HF_OK);
        assert_near(scale[t], c, 1e-14 * c);
        assert_int_equal(hf_sites_robust(ctx, 50, y, 1.0, NULL, g, c, &sites), HF_OK);
        for (size_t i = 0; i < 50; i++) {
            assert_near(weight[i * 3 + t], sites->weight[i], 1e-14);
            assert_near(shift[i * 3 + t], sites->shift[i], 1e-14 / c);
        }
        hf_sites_free(sites);
    }
    for (size_t k = 0; k < 150; k++) other[k] = 0.25; /* another centre */
    assert_int_equal(hf_outputs_weights(ctx, &rule, 50, p.y, 3, &p.model, other, &SITES), HF_OK);
    const double q = (p.y[0] - 0.25) / scale[0];
    if (!isnan(p.y[0])) assert_near(weight[0], 1.0 / (1.0 + q * q), 1e-14);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Weights from the definition, and shifts as minus the derivative of log weight by central differences. */
static void weights_of_rows(void **state)
{
    hf_context *ctx = *state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        double root[MOST_ROWS], sorted[MOST_ROWS];
        size_t rows = 0, count;
        make(40 + seed, 60, 2 + (size_t)seed % 4, seed % 2 ? 1e-3 : 0.0, 0.3);
        const hf_outputs_rule rule = {
            .size = sizeof rule, .weighting = HF_OUTPUTS_JOINT, .threshold = HF_OUTPUTS_LOWER, .eps = EPS};
        double eps = 0.0;
        for (size_t t = 0; t < p.outputs; t++) eps = fmax(eps, EPS[t]);
        assert_int_equal(hf_outputs_weights(ctx, &rule, p.n, p.y, p.outputs, &p.model, NULL, &SITES), HF_OK);
        for (size_t i = 0; i < p.n; i++) {
            const double squared = slow_distance(&p, i, &count);
            root[i] = count > 0 ? sqrt(squared / (double)count) : NAN;
            if (count > 0) sorted[rows++] = root[i];
        }
        qsort(sorted, rows, sizeof *sorted, ascending);
        const double c = sorted[(size_t)((double)(rows - 1) * (1.0 - eps))];
        for (size_t k = 0; k < p.n * p.outputs; k++) {
            const size_t i = k / p.outputs;
            if (isnan(p.y[k])) {
                assert_true(weight[k] == 0.0 && shift[k] == 0.0);
                continue;
            }
            assert_near(scale[k % p.outputs], c, 1e-10 * c);
            assert_near(weight[k], 1.0 / (1.0 + root[i] * root[i] / (c * c)), 1e-10);
            const double y = p.y[k], step = 1e-5;
            double log_weight[2];
            for (int side = 0; side < 2; side++) {
                p.y[k] = side ? y + step : y - step;
                const double squared = slow_distance(&p, i, &count);
                log_weight[side] = -log1p(squared / (double)count / (c * c));
            }
            p.y[k] = y;
            assert_near(shift[k], -(log_weight[1] - log_weight[0]) / (2.0 * step), 1e-6);
        }
    }
}

/* With one output the row is the reading; with MAD the unit is that of a standard normal. */
static void one_output_makes_rows_readings(void **state)
{
    hf_context *ctx = *state;
    make(50, 100, 1, 0.0, 0.1);
    for (size_t i = 0; i < 100; i++) centre[i] = p.mean[0];
    hf_outputs_rule rule = {.size = sizeof rule, .weighting = HF_OUTPUTS_READING, .eps = EPS};
    double weight2[100], shift2[100], scale2[1];
    const hf_outputs_sites sites2 = {.weight = weight2, .shift = shift2, .scale = scale2};
    assert_int_equal(hf_outputs_weights(ctx, &rule, 100, p.y, 1, &p.model, centre, &SITES), HF_OK);
    rule.weighting = HF_OUTPUTS_JOINT;
    assert_int_equal(hf_outputs_weights(ctx, &rule, 100, p.y, 1, &p.model, NULL, &sites2), HF_OK);
    assert_near(scale2[0] * sqrt(covariance_of(&p, 0, 0)), scale[0], 1e-12 * scale[0]);
    for (size_t i = 0; i < 100; i++) {
        assert_near(weight2[i], weight[i], 1e-12);
        assert_near(shift2[i], shift[i], 1e-12);
    }
    make(51, 120, 4, 0.0, 0.2);
    rule = (hf_outputs_rule){
        .size = sizeof(hf_outputs_rule), .weighting = HF_OUTPUTS_JOINT, .threshold = HF_OUTPUTS_MAD};
    assert_int_equal(hf_outputs_weights(ctx, &rule, 120, p.y, 4, &p.model, NULL, &SITES), HF_OK);
    assert_near(scale[3], 3.0, 0.5);
}

/* Reading k goes out to 1e15 and beyond: weight x residual and shift stay within what the header promises. */
static void influence_is_bounded(void **state)
{
    hf_context *ctx = *state;
    make(60, 60, 3, 1e-3, 0.15);
    memcpy(other, p.y, sizeof p.y);
    for (int kind = HF_OUTPUTS_READING; kind <= HF_OUTPUTS_JOINT; kind++) {
        const hf_outputs_rule rule = {
            .size = sizeof rule, .weighting = (hf_outputs_weighting)kind, .eps = EPS};
        double clean[3];
        assert_int_equal(hf_outputs_weights(ctx, &rule, 60, other, 3, &p.model, NULL, &SITES), HF_OK);
        memcpy(clean, scale, sizeof clean);
        for (size_t k = 30; k < 42; k++) {
            if (isnan(other[k])) continue;
            for (double size = 1e3; size < 1e301; size *= size < 1e16 ? 1e3 : 1e45) {
                memcpy(p.y, other, sizeof p.y);
                p.y[k] = k % 2 ? size : -size;
                assert_int_equal(hf_outputs_weights(ctx, &rule, 60, p.y, 3, &p.model, NULL, &SITES), HF_OK);
                find_centres(ctx, &p, centre);
                for (size_t j = 0; j < 180; j++) {
                    const size_t t = j % 3;
                    if (isnan(p.y[j])) continue;
                    assert_true(scale[t] < 3.0 * clean[t]);
                    const double spread = sqrt(covariance_of(&p, t, t) + 1e-3) * sqrt(3.0);
                    const double r = p.y[j] - (kind == HF_OUTPUTS_READING ? centre[j] : p.mean[t]);
                    const double pull = kind == HF_OUTPUTS_READING ? scale[t] : scale[t] * spread;
                    const double steep =
                        kind == HF_OUTPUTS_READING ? scale[t] : scale[t] * sqrt(p.noise[t] + 1e-3);
                    assert_true(fabs(fmin(1e110, fmax(-1e110, r)) * weight[j]) <= 0.51 * pull);
                    assert_true(fabs(shift[j]) <= 1.01 / steep);
                    assert_true(weight[j] > 0.0 && weight[j] <= 1.0);
                }
                assert_true(weight[k] < 1e-2);
            }
        }
    }
}

/* A whole output ten times as wide as it should be, and wrong in sign half of the time. */
static void a_bad_channel_is_found_and_the_others_kept(void **state)
{
    hf_context *ctx = *state;
    const hf_outputs_rule rule = {.size = sizeof rule, .weighting = HF_OUTPUTS_CHANNEL};
    make(70, 120, 4, 0.0, 0.1);
    assert_int_equal(hf_outputs_weights(ctx, &rule, 120, p.y, 4, &p.model, NULL, &SITES), HF_OK);
    for (size_t k = 0; k < 480; k++) assert_true(weight[k] == (isnan(p.y[k]) ? 0.0 : 1.0) && shift[k] == 0.0);
    for (size_t bad = 0; bad < 4; bad++) {
        make(70, 120, 4, 0.0, 0.1);
        hfi_stream stream;
        hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, bad);
        const double sd = 10.0 * sqrt(covariance_of(&p, bad, bad));
        for (size_t i = 0; i < 120; i++) p.y[i * 4 + bad] += sd * hfi_stream_normal(&stream);
        assert_int_equal(hf_outputs_weights(ctx, &rule, 120, p.y, 4, &p.model, NULL, &SITES), HF_OK);
        for (size_t t = 0; t < 4; t++) {
            if (t != bad)
                assert_true(scale[t] < 0.05 * sd * sd);
            else
                assert_near(scale[t] / (sd * sd), 1.0, 0.5);
            for (size_t i = 0; i < 120; i++)
                if (!isnan(p.y[i * 4 + t]))
                    assert_near(weight[i * 4 + t], p.noise[t] / (p.noise[t] + scale[t]), 1e-15);
        }
    }
}

static void errors_leave_the_outputs_alone(void **state)
{
    hf_context *ctx = *state;
    make(80, 5, 2, 0.0, 0.0);
    const problem good = p;
    hf_outputs_rule rule = {.size = sizeof rule, .eps = EPS};
    for (size_t k = 0; k < 10; k++) centre[k] = weight[k] = 7.0;
#define CENTRE()  hf_outputs_conditional_centre(ctx, 5, p.y, 2, &p.model, centre)
#define WEIGHTS() hf_outputs_weights(ctx, &rule, 5, p.y, 2, &p.model, NULL, &SITES)
    assert_int_equal(hf_outputs_conditional_centre(ctx, 5, p.y, 1, &p.model, centre), HF_ERR_DIMENSION);
    assert_int_equal(hf_outputs_conditional_centre(ctx, 5, p.y, 2, NULL, centre), HF_ERR_ARGUMENT);
    assert_int_equal(hf_outputs_conditional_centre(ctx, 5, NULL, 2, &p.model, centre), HF_ERR_ARGUMENT);
    assert_int_equal(hf_outputs_conditional_centre(ctx, 5, p.y, 2, &p.model, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_outputs_conditional_centre(ctx, 0, NULL, 2, &p.model, NULL), HF_OK);
    p.y[3] = INFINITY;
    assert_int_equal(CENTRE(), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "output 1 in row 1"));
    assert_int_equal(WEIGHTS(), HF_ERR_NOT_FINITE);
    p = good;
    p.noise[1] = -1.0;
    assert_int_equal(CENTRE(), HF_ERR_ARGUMENT);
    p = good;
    p.model.ridge = NAN;
    assert_int_equal(CENTRE(), HF_ERR_ARGUMENT);
    p = good;
    p.covariance[2] = NAN;
    assert_int_equal(CENTRE(), HF_ERR_NOT_FINITE);
    p = good;
    p.covariance[3] = -5.0;
    assert_int_equal(CENTRE(), HF_ERR_ARGUMENT);
    p = good;
    rule.weighting = (hf_outputs_weighting)9;
    assert_int_equal(WEIGHTS(), HF_ERR_ARGUMENT);
    rule = (hf_outputs_rule){.size = sizeof(hf_outputs_rule)};
    assert_int_equal(WEIGHTS(), HF_ERR_ARGUMENT); /* no eps */
    rule = (hf_outputs_rule){.size = sizeof(hf_outputs_rule), .weighting = HF_OUTPUTS_CHANNEL};
    p.noise[0] = 0.0;
    assert_int_equal(WEIGHTS(), HF_ERR_ARGUMENT);
    for (size_t k = 0; k < 10; k++) assert_true(centre[k] == 7.0 && weight[k] == 7.0);
#undef CENTRE
#undef WEIGHTS
}

static void names_go_there_and_back(void **state)
{
    hf_context *ctx = *state;
    for (int kind = HF_OUTPUTS_READING; kind <= HF_OUTPUTS_CHANNEL; kind++) {
        hf_outputs_weighting back = (hf_outputs_weighting)99;
        assert_int_equal(hf_enum_parse(ctx, HF_ENUM_OUTPUTS_WEIGHTING,
                                       hf_enum_name(HF_ENUM_OUTPUTS_WEIGHTING, (unsigned)kind), &back),
                         HF_OK);
        assert_int_equal(back, kind);
    }
    hf_outputs_weighting none;
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_OUTPUTS_WEIGHTING, "rows", &none), HF_ERR_ARGUMENT);
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_OUTPUTS_WEIGHTING, "joint", NULL), HF_ERR_ARGUMENT);
}

static hf_outputs_weighting swept;

static hf_status every_allocation(hf_context *ctx)
{
    const hf_outputs_rule rule = {
        .size = sizeof rule, .weighting = swept, .threshold = HF_OUTPUTS_LOWER, .eps = EPS};
    weight[0] = 7.0;
    hf_status status = hf_outputs_weights(ctx, &rule, p.n, p.y, p.outputs, &p.model, NULL, &SITES);
    assert_true(status >= 0 || weight[0] == 7.0);
    return status;
}

static void survives_every_failing_allocation(void **state)
{
    (void)state;
    make(90, 12, 3, 0.0, 0.2);
    for (int kind = HF_OUTPUTS_READING; kind <= HF_OUTPUTS_CHANNEL; kind++) {
        swept = (hf_outputs_weighting)kind;
        failing_sweep(every_allocation);
    }
}

/* Each row by the covariance of its own: what a model with that one for all says of the row. */
static void rows_may_differ_in_covariance(void **state)
{
    static double own[MOST_ROWS * MOST_OUTPUTS * MOST_OUTPUTS];
    make(61, 40, 4, 0.0, 0.3);
    const size_t square = p.outputs * p.outputs;
    for (size_t i = 0; i < p.n; i++)
        for (size_t k = 0; k < square; k++)
            own[i * square + k] = (0.2 + 0.05 * (double)(i / 2)) * p.covariance[k];
    hf_outputs_model model = p.model;
    model.covariance = NULL;
    model.covariances = own;
    assert_int_equal(hf_outputs_conditional_centre(*state, p.n, p.y, p.outputs, &model, centre), HF_OK);
    for (size_t i = 0; i < p.n; i++) {
        hf_outputs_model one = p.model;
        one.covariance = own + i * square;
        assert_int_equal(
            hf_outputs_conditional_centre(*state, 1, p.y + i * p.outputs, p.outputs, &one, other), HF_OK);
        for (size_t t = 0; t < p.outputs; t++)
            assert_true(fabs(centre[i * p.outputs + t] - other[t]) <= 1e-12 * (1.0 + fabs(other[t])));
    }
    const hf_outputs_rule rules[] = {
        {.size = sizeof(hf_outputs_rule), .weighting = HF_OUTPUTS_READING, .eps = EPS},
        {.size = sizeof(hf_outputs_rule), .weighting = HF_OUTPUTS_JOINT, .eps = EPS},
        {.size = sizeof(hf_outputs_rule), .weighting = HF_OUTPUTS_CHANNEL, .eps = EPS}};
    for (size_t r = 0; r < 3; r++) {
        /* All the same: as one for all. */
        for (size_t i = 0; i < p.n; i++) memcpy(own + i * square, p.covariance, square * sizeof *own);
        assert_true(hf_outputs_weights(*state, &rules[r], p.n, p.y, p.outputs, &model, NULL, &SITES) >= 0);
        memcpy(other, weight, p.n * p.outputs * sizeof *other);
        assert_true(hf_outputs_weights(*state, &rules[r], p.n, p.y, p.outputs, &p.model, NULL, &SITES) >= 0);
        for (size_t k = 0; k < p.n * p.outputs; k++) assert_true(fabs(other[k] - weight[k]) <= 1e-11);
    }
    own[3 * square] = NAN;
    assert_int_equal(hf_outputs_conditional_centre(*state, p.n, p.y, p.outputs, &model, centre),
                     HF_ERR_NOT_FINITE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_may_differ_in_covariance),
        cmocka_unit_test(centres_are_the_conditional_means),
        cmocka_unit_test(one_output_or_no_company_gives_the_mean),
        cmocka_unit_test(the_own_reading_has_no_say),
        cmocka_unit_test(identical_outputs_repeat_each_other),
        cmocka_unit_test(independent_outputs_say_nothing),
        cmocka_unit_test(renaming_outputs_renames_the_results),
        cmocka_unit_test(thresholds_follow_their_rules),
        cmocka_unit_test(weights_of_readings_are_those_of_robust_sites),
        cmocka_unit_test(weights_of_rows),
        cmocka_unit_test(one_output_makes_rows_readings),
        cmocka_unit_test(influence_is_bounded),
        cmocka_unit_test(a_bad_channel_is_found_and_the_others_kept),
        cmocka_unit_test(errors_leave_the_outputs_alone),
        cmocka_unit_test(names_go_there_and_back),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
