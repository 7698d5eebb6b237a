/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of what is about several outputs fails once; see test_allocation.c. */
#include "api/sweep.h"

static const double EPS[2] = {0.1, 0.2}, MEAN[2] = {0.5, -0.5}, COVARIANCE[4] = {1.0, 0.6, 0.6, 2.0},
                    NOISE[2] = {0.1, 0.2};
static const hf_outputs_model MODEL = {.outputs = 2, .mean = MEAN, .covariance = COVARIANCE, .noise = NOISE};

/* n x 2 readings, some of them missing. */
static void readings(double *y, size_t n, bool gaps)
{
    for (size_t i = 0; i < 2 * n; i++)
        y[i] = gaps && i % 7 == 3 ? NAN : sin(3.0 * (double)i) + 0.1 * (double)(i % 2);
}

static hf_status covariance_of(workshop *w, size_t n, size_t p)
{
    static double x[1400];
    double location[2] = {7.0, 7.0}, covariance[4];
    const hf_robust_covariance_arrays out = {.location = location, .covariance = covariance};
    hf_robust_covariance_settings settings = hf_robust_covariance_settings_default();
    hf_robust_covariance_report report = {.support = 77};
    settings.starts = 5;
    readings(x, 700, false);
    hf_status s = hf_robust_covariance(w->ctx, n, p, x, p, &settings, &out, &report);
    if (s < 0) assert_true(location[0] == 7.0 && report.support == 77);
    return s;
}

static hf_status covariance_small(workshop *w)
{
    return covariance_of(w, 40, 2);
}

static hf_status covariance_large(workshop *w)
{
    return covariance_of(w, 700, 2);
}

static hf_status covariance_one_column(workshop *w)
{
    return covariance_of(w, 40, 1);
}

static hf_status centre(workshop *w)
{
    double y[20], g[20] = {7.0};
    readings(y, 10, true);
    hf_status s = hf_outputs_conditional_centre(w->ctx, 10, y, 2, &MODEL, g);
    if (s < 0) assert_true(g[0] == 7.0);
    return s;
}

static hf_status thresholds(workshop *w)
{
    double y[20], g[20] = {0.0}, c[2] = {7.0, 7.0};
    readings(y, 10, true);
    hf_status s = hf_outputs_thresholds(w->ctx, HF_OUTPUTS_LOWER, 10, 2, y, 2, g, EPS, c);
    if (s < 0) assert_true(c[0] == 7.0 && c[1] == 7.0);
    return s;
}

static hf_status weights_by(workshop *w, hf_outputs_weighting weighting)
{
    double y[20], weight[20] = {7.0}, shift[20] = {7.0};
    const hf_outputs_rule rule = {.weighting = weighting, .eps = EPS};
    const hf_outputs_sites out = {.weight = weight, .shift = shift};
    readings(y, 10, true);
    hf_status s = hf_outputs_weights(w->ctx, &rule, 10, y, 2, &MODEL, NULL, &out);
    if (s < 0) assert_true(weight[0] == 7.0 && shift[0] == 7.0);
    return s;
}

static hf_status weights_reading(workshop *w)
{
    return weights_by(w, HF_OUTPUTS_READING);
}

static hf_status weights_joint(workshop *w)
{
    return weights_by(w, HF_OUTPUTS_JOINT);
}

static hf_status weights_channel(workshop *w)
{
    return weights_by(w, HF_OUTPUTS_CHANNEL);
}

static hf_status weighting_names(workshop *w)
{
    hf_outputs_weighting weighting;
    assert_string_equal(hf_outputs_weighting_name(HF_OUTPUTS_JOINT), "joint");
    return hf_outputs_weighting_parse(w->ctx, "channel", &weighting);
}

static void outputs_survive(void **state)
{
    (void)state;
    RUN(CASE(covariance_small, 8), CASE(covariance_large, 8), CASE(covariance_one_column, 5), CASE(centre, 4),
        CASE(thresholds, 2), CASE(weights_reading, 5), CASE(weights_joint, 5), CASE(weights_channel, 5),
        CASE(weighting_names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
