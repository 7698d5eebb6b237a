/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of means and sds in many inputs, which points do not leave. */
#include "bound/box_testing.h"

#include "taylor/loops.h"

enum {
    N = 60,
    WIDE = 8
};

/* A posterior of n readings in d inputs. */
static hf_posterior *solve_readings(hf_context *ctx, const char *expression, size_t n, size_t d,
                                    const double *x)
{
    hf_kernel *kernel = NULL;
    hf_mean *mean;
    hf_sites *sites;
    hf_posterior *posterior;
    double *y = make_zeros(n);
    for (size_t i = 0; i < n; i++) y[i] = sin(x[i * d]) + x[i * d + 1] * x[i * d + 2];
    assert_int_equal(hf_kernel_parse(ctx, expression, NULL, d, &kernel), HF_OK);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, d, &mean), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, n, y, 0.01, NULL, &sites), HF_OK);
    assert_int_equal(hf_solve_exact(ctx, kernel, mean, sites, x, d, &posterior), HF_OK);
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(y);
    return posterior;
}

/* Twenty inputs are not too many, and more than there are third derivatives for are answered as ever. */
static void many_inputs_are_answered(void **state)
{
    for (size_t d = 20; d <= HFI_SHARP_INPUTS + 2; d += 6) {
        double *x = make_zeros(40 * d), *low = make_zeros(2 * d), *high = low + d;
        hfi_stream stream;
        hfi_stream_init(&stream, 50, HFI_PURPOSE_TEST, d);
        for (size_t i = 0; i < 40 * d; i++) x[i] = hfi_stream_normal(&stream);
        for (size_t j = 0; j < d; j++) {
            low[j] = x[j] - 0.15;
            high[j] = x[j] + 0.15;
        }
        hf_posterior *posterior = solve_readings(*state, "matern52(lengthscale=4)", 40, d, x);
        hf_posterior_workspace *workspace = hf_posterior_workspace_create(*state, posterior);
        hf_certify_settings settings = hf_certify_settings_default();
        hf_range range;
        settings.node_limit = 200;
        assert_true(
            hf_certify(*state, posterior, HF_CERTIFY_MEAN, &settings, low, high, &range, NULL, NULL) >= 0);
        if (d <= HFI_SHARP_INPUTS) assert_int_equal(range.stop, HF_CERTIFY_TOLERANCE);
        for (size_t k = 0; k < 300; k++) {
            double at[HFI_SHARP_INPUTS + 8], value;
            for (size_t j = 0; j < d; j++) at[j] = hfi_stream_uniform(&stream) < 0.5 ? low[j] : high[j];
            assert_int_equal(hf_predict_latent(posterior, workspace, at, &value, NULL, NULL, NULL), HF_OK);
            assert_true(value >= range.lower && value <= range.upper);
        }
        hf_posterior_workspace_free(workspace);
        hf_posterior_free(posterior);
        free(x);
        free(low);
    }
}

/* Random points, corners, and the ends of gradient steps stay inside; the search ends, since monotone inputs go. */
static void check_wide(hf_context *ctx, const hf_posterior *posterior, const double *low, const double *high,
                       const hf_range *range)
{
    hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, posterior);
    hfi_stream stream;
    hfi_stream_init(&stream, 63, HFI_PURPOSE_TEST, 0);
    for (size_t k = 0; k < 600; k++) {
        double at[WIDE], slope[WIDE], unused[WIDE], mean, var;
        const double sign = k % 2 ? 1.0 : -1.0;
        for (size_t j = 0; j < WIDE; j++) {
            const double u = hfi_stream_uniform(&stream);
            at[j] = k % 3 ? low[j] + u * (high[j] - low[j]) : u < 0.5 ? low[j] : high[j];
        }
        for (size_t step = 0; step < 6; step++) {
            assert_int_equal(hf_predict_latent(posterior, workspace, at, &mean, &var, unused, slope), HF_OK);
            assert_true(sqrt(var) >= range->lower && sqrt(var) <= range->upper);
            for (size_t j = 0; j < WIDE; j++) {
                const double to = at[j] + sign * (slope[j] > 0.0 ? 1.0 : -1.0) * (high[j] - low[j]) /
                                              (2.0 + 3.0 * (double)step);
                at[j] = fmin(fmax(to, low[j]), high[j]);
            }
        }
    }
    hf_posterior_workspace_free(workspace);
}

static void sds_of_many_inputs_are_found(void **state)
{
    const char *const kernels[] = {"se(lengthscale=2)", "matern52(lengthscale=2)"};
    for (size_t e = 0; e < 4; e++) {
        double x[N * WIDE], low[WIDE], high[WIDE];
        hfi_stream stream;
        hfi_stream_init(&stream, 62, HFI_PURPOSE_TEST, 0);
        for (size_t i = 0; i < N * WIDE; i++) x[i] = hfi_stream_normal(&stream);
        hf_posterior *posterior = solve_readings(*state, kernels[e / 2], N, WIDE, x);
        const double half = e % 2 ? 0.2 : 0.1;
        for (size_t j = 0; j < WIDE; j++) {
            low[j] = x[(1 + e) * WIDE + j] - half;
            high[j] = x[(1 + e) * WIDE + j] + half;
        }
        hf_certify_settings settings = hf_certify_settings_default();
        hf_range range;
        settings.time_limit = 0.0;
        settings.tolerance = 0.02;
        settings.node_limit = 4000;
        assert_true(hf_certify(*state, posterior, HF_CERTIFY_SD, &settings, low, high, &range, NULL, NULL) >=
                    0);
        assert_int_equal(range.stop, HF_CERTIFY_TOLERANCE);
        check_wide(*state, posterior, low, high, &range);
        hf_posterior_free(posterior);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_inputs_are_answered),
        TEST(sds_of_many_inputs_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
