/* SPDX-License-Identifier: Apache-2.0 */
/* Damage by bad readings, against trying: refits with replaced readings never go further; with one they get there. */
#include "certify/certify.h"
#include "sites/sites.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ROWS = 14,
    POINTS = 5
};

typedef struct trial {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    hf_posterior *posterior;
    double x[ROWS], y[ROWS], centre[ROWS], at[POINTS], mean_at[POINTS];
} trial;

static hf_sites *make_sites(const trial *t, const double *y, double threshold)
{
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_robust(t->ctx, ROWS, y, 0.05, NULL, t->centre, threshold, &sites), HF_OK);
    return sites;
}

static void predict(const trial *t, const hf_sites *sites, double *mean, hf_posterior **keep)
{
    hf_posterior *p = NULL;
    assert_true(hf_solve_exact(t->ctx, t->kernel, t->mean, sites, t->x, 1, &p) >= 0);
    assert_int_equal(hf_predict(t->ctx, p, POINTS, t->at, 1, mean, NULL, NULL), HF_OK);
    if (keep)
        *keep = p;
    else
        hf_posterior_free(p);
}

static void begin(trial *t, double threshold)
{
    hfi_stream stream;
    const double level = 0.4;
    t->ctx = hf_context_create();
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 8);
    for (size_t i = 0; i < ROWS; i++) {
        t->x[i] = 0.5 * (double)i + 0.2 * hfi_stream_uniform(&stream);
        t->y[i] = sin(t->x[i]) + 0.2 * hfi_stream_normal(&stream);
        t->centre[i] = i % 2 ? 0.4 : sin(t->x[i]);
    }
    t->y[4] = (double)NAN;
    for (size_t k = 0; k < POINTS; k++) t->at[k] = -0.5 + 1.7 * (double)k;
    assert_int_equal(hf_kernel_parse(t->ctx, "1.3*se(lengthscale=0.8)", NULL, 1, &t->kernel), HF_OK);
    assert_int_equal(hf_mean_create(t->ctx, HF_MEAN_CONSTANT, 1, &t->mean), HF_OK);
    assert_int_equal(hf_mean_set(t->ctx, t->mean, &level, true), HF_OK);
    t->sites = make_sites(t, t->y, threshold);
    predict(t, t->sites, t->mean_at, &t->posterior);
}

static void end(trial *t)
{
    hf_posterior_free(t->posterior);
    hf_sites_free(t->sites);
    hf_mean_free(t->mean);
    hf_kernel_free(t->kernel);
    hf_context_free(t->ctx);
}

/* Readings far out, near by and between, both sides of the centre. */
static double replacement(int k)
{
    const double size = 0.02 * pow(1.12, k / 2);
    return k % 2 ? size : -size;
}

static void test_one(void **state)
{
    (void)state;
    trial t;
    begin(&t, 0.6);
    double damage[POINTS], tried[POINTS] = {0.0}, mean[POINTS], y[ROWS];
    size_t worst[POINTS], tried_worst[POINTS] = {0};
    assert_int_equal(hf_certify_readings(t.ctx, t.posterior, t.sites, 1, POINTS, t.at, 1, damage, worst),
                     HF_OK);
    for (size_t i = 0; i < ROWS; i++)
        for (int k = 0; k < 160 && !isnan(t.y[i]); k++) {
            for (size_t r = 0; r < ROWS; r++) y[r] = t.y[r];
            y[i] = t.centre[i] + replacement(k);
            hf_sites *sites = make_sites(&t, y, 0.6);
            predict(&t, sites, mean, NULL);
            for (size_t p = 0; p < POINTS; p++)
                if (fabs(mean[p] - t.mean_at[p]) > tried[p]) {
                    tried[p] = fabs(mean[p] - t.mean_at[p]);
                    tried_worst[p] = i;
                }
            hf_sites_free(sites);
        }
    for (size_t p = 0; p < POINTS; p++) {
        assert_true(tried[p] <= damage[p] * (1.0 + 1e-9));
        assert_true(tried[p] >= damage[p] * 0.98);
        assert_int_equal(worst[p], tried_worst[p]);
    }
    end(&t);
}

static void test_several(void **state)
{
    (void)state;
    trial t;
    begin(&t, 0.6);
    hfi_stream stream;
    hfi_stream_init(&stream, 4, HFI_PURPOSE_TEST, 9);
    double last[POINTS] = {0.0};
    for (size_t count = 2; count <= 4; count++) {
        double damage[POINTS], mean[POINTS], y[ROWS];
        assert_int_equal(
            hf_certify_readings(t.ctx, t.posterior, t.sites, count, POINTS, t.at, 1, damage, NULL), HF_OK);
        for (int attempt = 0; attempt < 600; attempt++) {
            for (size_t r = 0; r < ROWS; r++) y[r] = t.y[r];
            for (size_t k = 0; k < count; k++) {
                const size_t i = hfi_stream_below(&stream, ROWS);
                if (!isnan(y[i])) y[i] = t.centre[i] + replacement((int)hfi_stream_below(&stream, 160));
            }
            hf_sites *sites = make_sites(&t, y, 0.6);
            predict(&t, sites, mean, NULL);
            for (size_t p = 0; p < POINTS; p++) assert_true(fabs(mean[p] - t.mean_at[p]) <= damage[p]);
            hf_sites_free(sites);
        }
        for (size_t p = 0; p < POINTS; p++) {
            assert_true(isfinite(damage[p]) && damage[p] > last[p]);
            last[p] = damage[p];
        }
    }
    end(&t);
}

static void test_gaussian(void **state)
{
    (void)state;
    trial t;
    begin(&t, (double)INFINITY);
    double damage[POINTS];
    for (size_t count = 1; count <= 2; count++) {
        assert_int_equal(
            hf_certify_readings(t.ctx, t.posterior, t.sites, count, POINTS, t.at, 1, damage, NULL), HF_OK);
        for (size_t p = 0; p < POINTS; p++) assert_true(isinf(damage[p]));
    }
    assert_int_equal(hf_certify_readings(t.ctx, t.posterior, t.sites, 0, POINTS, t.at, 1, damage, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_certify_readings(t.ctx, t.posterior, t.sites, ROWS, POINTS, t.at, 1, damage, NULL),
                     HF_ERR_ARGUMENT);
    end(&t);
}

/* In other units than the sites': the same, times the target's scale; and far from all readings next to nothing. */
static void test_units(void **state)
{
    (void)state;
    trial t;
    double plain[POINTS], scaled[POINTS], far_off, at[POINTS];
    const double far_out = 1e3;
    begin(&t, 0.6);
    for (size_t count = 1; count <= 3; count++) {
        hfi_scaling *scaling = &t.posterior->scaling;
        assert_int_equal(
            hf_certify_readings(t.ctx, t.posterior, t.sites, count, POINTS, t.at, 1, plain, NULL), HF_OK);
        assert_int_equal(
            hf_certify_readings(t.ctx, t.posterior, t.sites, count, 1, &far_out, 1, &far_off, NULL), HF_OK);
        assert_true(far_off >= 0.0 && far_off < 1e-12);
        for (size_t p = 0; p < POINTS; p++) at[p] = 4.0 * t.at[p] - 7.0;
        scaling->y_shift = -3.0, scaling->y_scale = 2.5, scaling->x_shift[0] = -7.0,
        scaling->x_scale[0] = 4.0;
        assert_int_equal(hf_certify_readings(t.ctx, t.posterior, t.sites, count, POINTS, at, 1, scaled, NULL),
                         HF_OK);
        for (size_t p = 0; p < POINTS; p++)
            assert_true(fabs(scaled[p] - 2.5 * plain[p]) <= 1e-12 * scaled[p]);
        scaling->y_shift = scaling->x_shift[0] = 0.0, scaling->y_scale = scaling->x_scale[0] = 1.0;
    }
    hf_sites *others = make_sites(&t, t.y, 0.9);
    assert_int_equal(hf_certify_readings(t.ctx, t.posterior, others, 1, POINTS, t.at, 1, plain, NULL),
                     HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(t.ctx), "was not made from these sites"));
    hf_sites_free(others);
    end(&t);
}

/* Two outputs, each with a noise, a threshold and a scale of its own. */
static hf_sites *make_outputs_sites(const trial *t, const double *y)
{
    static const double noise[] = {0.05, 0.2}, thresholds[] = {0.6, 1.1};
    size_t channel[ROWS];
    hf_sites *sites = make_sites(t, y, 0.6);
    for (size_t i = 0; i < ROWS; i++) channel[i] = i % 2;
    assert_int_equal(hf_sites_set_channels(t->ctx, sites, 2, channel), HF_OK);
    assert_int_equal(hf_sites_set_channel_noise(t->ctx, sites, noise), HF_OK);
    assert_int_equal(hf_sites_recentre_channels(t->ctx, sites, t->centre, thresholds), HF_OK);
    return sites;
}

static hf_posterior *solve_outputs(const trial *t, const hf_sites *sites)
{
    static const double shifts[] = {1.0, -2.0}, scales[] = {3.0, 0.5};
    double x[2 * ROWS];
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_posterior *p = NULL;
    for (size_t i = 0; i < ROWS; i++) x[2 * i] = t->x[i], x[2 * i + 1] = (double)(i % 2);
    assert_int_equal(hf_kernel_parse(t->ctx, "coregion(x2, outputs=2)*se(lengthscale=0.8)", NULL, 2, &kernel),
                     HF_OK);
    assert_int_equal(hf_mean_create(t->ctx, HF_MEAN_ZERO, 2, &mean), HF_OK);
    assert_true(hf_solve_exact(t->ctx, kernel, mean, sites, x, 2, &p) >= 0);
    assert_int_equal(hfi_scaling_set_outputs(t->ctx, &p->scaling, 2, shifts, scales), HF_OK);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    return p;
}

static void test_outputs(void **state)
{
    (void)state;
    trial t;
    double at[2 * POINTS], damage[3][POINTS], tried[POINTS] = {0.0}, before[POINTS], after[POINTS], y[ROWS];
    size_t worst[POINTS], tried_worst[POINTS] = {0};
    begin(&t, 0.6);
    hf_sites *sites = make_outputs_sites(&t, t.y);
    hf_posterior *posterior = solve_outputs(&t, sites);
    for (size_t p = 0; p < POINTS; p++) at[2 * p] = t.at[p], at[2 * p + 1] = (double)(p % 2);
    assert_int_equal(hf_predict(t.ctx, posterior, POINTS, at, 2, before, NULL, NULL), HF_OK);
    for (size_t count = 1; count <= 3; count++)
        assert_int_equal(
            hf_certify_readings(t.ctx, posterior, sites, count, POINTS, at, 2, damage[count - 1], worst),
            HF_OK);
    for (size_t i = 0; i < ROWS; i++)
        for (int k = 0; k < 160 && !isnan(t.y[i]); k++) {
            memcpy(y, t.y, sizeof y);
            y[i] = t.centre[i] + replacement(k);
            /* The next reading too, for the bounds of several. */
            for (size_t both = 0; both < 1 + (size_t)(k % 5 == 0); both++) {
                if (both)
                    y[(i + 1) % ROWS] =
                        isnan(t.y[(i + 1) % ROWS]) ? (double)NAN : t.centre[(i + 1) % ROWS] + replacement(k);
                hf_sites *other_sites = make_outputs_sites(&t, y);
                hf_posterior *other = solve_outputs(&t, other_sites);
                assert_int_equal(hf_predict(t.ctx, other, POINTS, at, 2, after, NULL, NULL), HF_OK);
                for (size_t p = 0; p < POINTS; p++) {
                    const double moved = fabs(after[p] - before[p]);
                    assert_true(moved <= damage[both][p] * (1.0 + 1e-9) && moved <= damage[2][p]);
                    if (both || moved <= tried[p]) continue;
                    tried[p] = moved;
                    tried_worst[p] = i;
                }
                hf_posterior_free(other);
                hf_sites_free(other_sites);
            }
        }
    assert_int_equal(hf_certify_readings(t.ctx, posterior, sites, 1, POINTS, at, 2, damage[0], worst), HF_OK);
    for (size_t p = 0; p < POINTS; p++) {
        assert_true(tried[p] >= 0.97 * damage[0][p]);
        assert_int_equal(worst[p], tried_worst[p]);
    }
    hf_posterior_free(posterior);
    hf_sites_free(sites);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one), cmocka_unit_test(test_several),
                                       cmocka_unit_test(test_gaussian), cmocka_unit_test(test_units),
                                       cmocka_unit_test(test_outputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
