/* SPDX-License-Identifier: Apache-2.0 */
/* The influence of a reading where the weights follow the covariance of the readings themselves. */
#include "model/model_testing.h"

#include "core/assert_near.h"

#include <holdfast/outputs.h>
#include <holdfast/robust_covariance.h>

enum {
    T = 2,
    ROWS = 90,
    N = ROWS * T,
    MOVED = 40
};

/* A trend in common and waves of their own; every tenth reading of the second is 5 too high. */
static hf_model *trend(hf_context *ctx, double *y)
{
    static const char *const names[] = {"y0", "y1"};
    const hf_columns columns = {.size = sizeof columns, .targets = names, .target_count = T};
    const size_t bytes = 64 + 96 * ROWS;
    char *text = malloc(bytes);
    size_t used = (size_t)snprintf(text, bytes, "x,y0,y1\n");
    hfi_stream stream;
    hfi_stream_init(&stream, 6, HFI_PURPOSE_TEST, 4);
    for (size_t i = 0; i < ROWS; i++) {
        const double x = -4.0 + 8.0 * (double)i / ROWS;
        y[i * T] = 2.0 * x + sin(5.0 * x) + 0.05 * hfi_stream_normal(&stream);
        y[i * T + 1] = 2.0 * x + cos(5.0 * x) + 0.05 * hfi_stream_normal(&stream) + (i % 10 == 3 ? 5.0 : 0.0);
        used += (size_t)snprintf(text + used, bytes - used, "%.17g,%.17g,%.17g\n", x, y[i * T], y[i * T + 1]);
    }
    hf_table *table = table_of(ctx, text);
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(ctx, "morcgp", &settings, sizeof settings), HF_OK);
    settings.standardise = false;
    hf_model *model = NULL;
    if (hf_fit(ctx, table, &columns, &settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    hf_table_free(table);
    free(text);
    return model;
}

/* Centres of `y` by the robust covariance of `judged`, and thresholds of those. */
static void judge(hf_context *ctx, const double *judged, const double *y, double *centre, double *threshold)
{
    static const double eps[T] = {0.1, 0.1}, none[T] = {0.0, 0.0};
    double mean[T], covariance[T * T], before[N];
    hf_robust_covariance_settings settings = hf_robust_covariance_settings_default();
    settings.support_fraction = 0.8;
    const hf_robust_covariance_arrays out = {.location = mean, .covariance = covariance};
    assert_int_equal(hf_robust_covariance(ctx, ROWS, T, judged, T, &settings, &out, NULL), HF_OK);
    const hf_outputs_model rows = {.outputs = T, .mean = mean, .covariance = covariance, .noise = none};
    assert_int_equal(hf_outputs_conditional_centre(ctx, ROWS, judged, T, &rows, before), HF_OK);
    assert_int_equal(hf_outputs_conditional_centre(ctx, ROWS, y, T, &rows, centre), HF_OK);
    assert_int_equal(hf_outputs_thresholds(ctx, HF_OUTPUTS_LOWER, ROWS, T, judged, T, before, eps, threshold),
                     HF_OK);
}

static void follows_the_row_by_the_covariance_of_the_readings(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double y[N], moved[N], centre[N], threshold[T];
    hf_model *model = trend(ctx, y);
    const hf_posterior *p = hf_model_posterior(model);
    for (double by = -4.0; by < 6.0; by += 4.0) {
        memcpy(moved, y, sizeof moved);
        moved[MOVED * T] += by;
        judge(ctx, y, moved, centre, threshold);
        size_t anchor[T];
        double target[T], variance[T], wanted, joint;
        for (size_t t = 0; t < T; t++) {
            const size_t i = MOVED * T + t;
            const double r = moved[i] - centre[i], c = threshold[t], noise = hf_posterior_output_noise(p, t);
            anchor[t] = i;
            target[t] = moved[i] + noise * 2.0 * r / (c * c + r * r);
            variance[t] = noise * (1.0 + r * r / (c * c));
        }
        assert_int_equal(hf_influence_sites(ctx, p, T, anchor, target, variance, 0, NULL, 0, &wanted), HF_OK);
        assert_int_equal(hf_model_influence(ctx, model, 1 + MOVED, 0, moved[MOVED * T], NULL, &joint), HF_OK);
        assert_near(joint, wanted, 1e-6 * (1.0 + wanted));
        assert_true(by == 0.0 ? wanted < 1e-6 : wanted > 1e-2);
    }
    hf_model_free(model);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_row_by_the_covariance_of_the_readings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
