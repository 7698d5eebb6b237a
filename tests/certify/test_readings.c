/* SPDX-License-Identifier: Apache-2.0 */
/* What bad readings can do, against trying: refits with replaced readings never go further, and with one reading they get there. */
#include "certify/class.h"
#include "sites/sites.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one), cmocka_unit_test(test_several),
                                       cmocka_unit_test(test_gaussian)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
