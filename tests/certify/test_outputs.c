/* SPDX-License-Identifier: Apache-2.0 */
/* How far all outputs together move: no point of a box is farther, what is attained is near to that, verdicts
 * agree with a grid. */
#include "bound/box_testing.h"

#include <holdfast/certify_outputs.h>

enum {
    OUTPUTS = 3,
    FREE = 2,
    SAMPLES = 600
};

static const double shifts[OUTPUTS] = {1.0, -4.0, 0.0}, scales[OUTPUTS] = {2.0, 0.5, 1.0};

static cert begin(hf_context *ctx, const char *kernel)
{
    cert c = cert_make(ctx, kernel, 60, 8, CERT_EXACT, false);
    assert_int_equal(hfi_scaling_set_outputs(ctx, &c.posterior->scaling, OUTPUTS, shifts, scales), HF_OK);
    return c;
}

static void means(const cert *c, const double *x, double *out)
{
    for (size_t i = 0; i < OUTPUTS; i++) {
        const double row[FREE + 1] = {x[0], x[1], (double)i};
        assert_int_equal(hf_predict(c->ctx, c->posterior, 1, row, FREE + 1, &out[i], NULL, NULL), HF_OK);
    }
}

/* By the book, for a few of the powers. */
static double slow_norm(const hf_output_norm *norm, const double *a, const double *b)
{
    double sum = 0.0, most = 0.0;
    for (size_t i = 0; i < OUTPUTS; i++) {
        const double v = fabs(a[i] - b[i]) * (norm->weight ? norm->weight[i] : 1.0);
        sum += pow(v, norm->p);
        most = fmax(most, v);
    }
    return isinf(norm->p) ? most : pow(sum, 1.0 / norm->p);
}

static double distance(const cert *c, const hf_output_norm *norm, const double *x, const double *y)
{
    double a[OUTPUTS], b[OUTPUTS];
    means(c, x, a);
    means(c, y, b);
    return slow_norm(norm, a, b);
}

static const double weights[OUTPUTS] = {0.5, 2.0, 1.0};
static const double powers[] = {1.0, 2.0, INFINITY, 3.5};

static void draw_box(hfi_stream *stream, double half, double *x, double *lower, double *upper)
{
    for (size_t j = 0; j < FREE; j++) {
        x[j] = 2.0 * hfi_stream_uniform(stream) - 1.0;
        lower[j] = x[j] - half * hfi_stream_uniform(stream);
        upper[j] = x[j] + half * hfi_stream_uniform(stream);
    }
}

static void attack(const cert *c, const hf_output_norm *norm, hfi_stream *stream, const hf_output_shift *s,
                   const double *x, const double *lower, const double *upper)
{
    for (size_t k = 0; k < SAMPLES; k++) {
        double y[FREE];
        for (size_t j = 0; j < FREE; j++) {
            const double u = hfi_stream_uniform(stream);
            y[j] = u < 0.15 ? lower[j] : u > 0.85 ? upper[j] : lower[j] + u * (upper[j] - lower[j]);
        }
        const double there = distance(c, norm, x, y);
        if (!(there <= s->upper + 1e-12)) fail_msg("p %g: %.15g is beyond %.15g", norm->p, there, s->upper);
    }
}

static void no_point_is_farther(void **state)
{
    cert c = begin(*state, "coregion(x3, outputs=3)*se(x1, x2)");
    hfi_stream stream;
    size_t halved = 0;
    hfi_stream_init(&stream, 51, HFI_PURPOSE_TEST, 0);
    for (size_t k = 0; k < 24; k++) {
        double x[FREE], lower[FREE], upper[FREE], far[FREE];
        hf_output_norm norm = hf_output_norm_default();
        hf_certify_settings settings = hf_certify_settings_default();
        hf_output_shift s;
        norm.p = powers[k % 4];
        norm.weight = k % 3 ? weights : NULL;
        settings.tolerance = 0.02;
        settings.node_limit = k % 8 == 7 ? 3 : 0;
        draw_box(&stream, k % 2 ? 0.6 : 0.1, x, lower, upper);
        const hf_status status =
            hf_certify_outputs(*state, c.posterior, &norm, &settings, 1, x, lower, upper, &s, far);
        assert_true(status == HF_OK || (status == HF_WARN_NOT_CONVERGED && settings.node_limit > 0));
        assert_int_equal(s.verdict, HF_VERDICT_CERTIFIED);
        if (settings.node_limit == 0) {
            assert_int_equal(s.stop, HF_CERTIFY_TOLERANCE);
            assert_true(s.upper - s.attained <= 0.02);
        }
        for (size_t j = 0; j < FREE; j++) assert_true(far[j] >= lower[j] && far[j] <= upper[j]);
        assert_true(fabs(distance(&c, &norm, x, far) - s.attained) <= 1e-9);
        halved += s.parts > 1;
        attack(&c, &norm, &stream, &s, x, lower, upper);
    }
    assert_true(halved > 0);
    cert_drop(&c);
}

/* The least number that holds is found from both sides, also with intervals. */
static void verdicts(void **state)
{
    cert c = begin(*state, "coregion(x3, outputs=3)*matern52(x1, x2)");
    hfi_stream stream;
    hfi_stream_init(&stream, 52, HFI_PURPOSE_TEST, 0);
    for (size_t k = 0; k < 8; k++) {
        double x[FREE], lower[FREE], upper[FREE], far[FREE];
        hf_output_norm norm = hf_output_norm_default();
        hf_certify_settings settings = hf_certify_settings_default();
        hf_output_shift s;
        norm.p = powers[k % 3];
        norm.weight = weights;
        settings.tolerance = 0.01;
        settings.rigorous = k == 0 || k == 1;
        draw_box(&stream, settings.rigorous ? 0.02 : 0.3, x, lower, upper);
        assert_int_equal(
            hf_certify_outputs(*state, c.posterior, &norm, &settings, 1, x, lower, upper, &s, far), HF_OK);
        assert_true(s.rigorous == settings.rigorous);
        const double attained = s.attained, upper_end = s.upper;
        norm.delta = 1.05 * upper_end;
        assert_int_equal(
            hf_certify_outputs(*state, c.posterior, &norm, &settings, 1, x, lower, upper, &s, far), HF_OK);
        assert_true(s.verdict == HF_VERDICT_CERTIFIED && s.stop == HF_CERTIFY_DECIDED);
        attack(&c, &norm, &stream, &s, x, lower, upper);
        norm.delta = 0.9 * attained;
        assert_int_equal(
            hf_certify_outputs(*state, c.posterior, &norm, &settings, 1, x, lower, upper, &s, far), HF_OK);
        assert_int_equal(s.verdict, HF_VERDICT_COUNTEREXAMPLE);
        assert_true(distance(&c, &norm, x, far) > norm.delta);
    }
    cert_drop(&c);
}

/* A box of zero width moves nothing, a point outside of its box counts, and one output is its range. */
static void ends(void **state)
{
    cert c = begin(*state, "coregion(x3, outputs=3)*se(x1, x2)");
    const double x[FREE] = {0.2, -0.1}, y[FREE] = {0.5, 0.3};
    hf_output_norm norm = hf_output_norm_default();
    hf_output_shift s;
    assert_int_equal(hf_certify_outputs(*state, c.posterior, NULL, NULL, 1, x, x, x, &s, NULL), HF_OK);
    assert_true(s.attained == 0.0 && s.upper < 1e-9 && s.parts == 1);
    assert_int_equal(hf_certify_outputs(*state, c.posterior, NULL, NULL, 1, x, y, y, &s, NULL), HF_OK);
    assert_true(fabs(s.attained - distance(&c, &norm, x, y)) < 1e-9 && s.upper - s.attained < 1e-9);
    cert_drop(&c);
    c = cert_make(*state, "se(ard)", 40, 5, CERT_EXACT, false);
    hf_range r;
    const double at[INPUTS] = {0.1, 0.2, 0.3}, low[INPUTS] = {0.0, 0.1, 0.2}, high[INPUTS] = {0.2, 0.3, 0.4};
    hf_certify_settings settings = hf_certify_settings_default();
    settings.tolerance = 1e-4;
    assert_int_equal(hf_certify_outputs(*state, c.posterior, NULL, &settings, 1, at, low, high, &s, NULL),
                     HF_OK);
    assert_int_equal(hf_certify(*state, c.posterior, HF_CERTIFY_MEAN, &settings, low, high, &r, NULL, NULL),
                     HF_OK);
    const double value = cert_value(&c, HF_CERTIFY_MEAN, 0.0, at, NULL);
    assert_true(fabs(s.upper - fmax(r.upper - value, value - r.lower)) < 2e-4);
    cert_drop(&c);
}

/* In a ball the farthest point is found to the tolerance, and no point of a fine grid is farther. */
static void in_a_ball(const cert *c)
{
    const double x[FREE] = {0.2, -0.1}, lower[FREE] = {-0.3, -0.6}, upper[FREE] = {0.7, 0.4};
    hf_region region = hf_region_default();
    hf_certify_settings settings = hf_certify_settings_default();
    hf_output_norm norm = hf_output_norm_default();
    hf_output_shift ball;
    double most = 0.0;
    region.shape = HF_SHAPE_L2;
    settings.region = &region;
    assert_int_equal(
        hf_certify_outputs(c->ctx, c->posterior, &norm, &settings, 1, x, lower, upper, &ball, NULL), HF_OK);
    for (int i = -60; i <= 60; i++)
        for (int j = -60; j <= 60; j++) {
            const double y[FREE] = {x[0] + 0.5 * i / 60.0, x[1] + 0.5 * j / 60.0};
            if (i * i + j * j <= 3600) most = fmax(most, distance(c, &norm, x, y));
        }
    assert_true(most <= ball.upper + 1e-12 && ball.upper <= ball.attained + settings.tolerance);
    assert_true(ball.attained >= most - settings.tolerance);
}

/* Two inputs of which one moves at a time, and limits: the answer is that of the region. */
static void regions(void **state)
{
    cert c = begin(*state, "coregion(x3, outputs=3)*se(x1, x2)");
    const double x[FREE] = {0.2, -0.1}, lower[FREE] = {-0.3, -0.6}, upper[FREE] = {0.7, 0.4};
    hf_region region = hf_region_default();
    hf_certify_settings settings = hf_certify_settings_default();
    hf_output_norm norm = hf_output_norm_default();
    hf_output_shift whole, part;
    norm.p = INFINITY;
    region.moves = 1;
    assert_int_equal(
        hf_certify_outputs(*state, c.posterior, &norm, &settings, 1, x, lower, upper, &whole, NULL), HF_OK);
    settings.region = &region;
    assert_int_equal(
        hf_certify_outputs(*state, c.posterior, &norm, &settings, 1, x, lower, upper, &part, NULL), HF_OK);
    assert_true(part.upper < whole.upper && part.attained > 0.0);
    for (size_t k = 0; k <= 200; k++)
        for (size_t j = 0; j < FREE; j++) {
            double y[FREE] = {x[0], x[1]};
            y[j] = lower[j] + (upper[j] - lower[j]) * (double)k / 200.0;
            assert_true(distance(&c, &norm, x, y) <= part.upper + 1e-12);
        }
    in_a_ball(&c);
    cert_drop(&c);
}

static void bad_arguments(void **state)
{
    cert c = begin(*state, "coregion(x3, outputs=3)*se(x1, x2)");
    const double x[FREE] = {0.2, -0.1}, lower[FREE] = {0.1, -0.2}, upper[FREE] = {0.3, 0.0};
    const double zero[OUTPUTS] = {1.0, 0.0, 1.0};
    hf_output_shift s = {.upper = 77.0};
    hf_certify_settings settings = hf_certify_settings_default();
#define NORM(...)                                                                                            \
    {                                                                                                        \
        sizeof(hf_output_norm), __VA_ARGS__                                                                  \
    }
    const hf_output_norm bad[] = {NORM(0.9, NULL, 1.0), NORM(NAN, NULL, 1.0), NORM(2.0, zero, 1.0),
                                  NORM(2.0, NULL, -1.0), NORM(2.0, NULL, NAN)};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(hf_certify_outputs(*state, c.posterior, &bad[k], NULL, 1, x, lower, upper, &s, NULL),
                         HF_ERR_ARGUMENT);
    settings.rigorous = true;
    assert_int_equal(hf_certify_outputs(*state, c.posterior,
                                        &(hf_output_norm){sizeof(hf_output_norm), 3.0, NULL, 1.0}, &settings,
                                        1, x, lower, upper, &s, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_certify_outputs(*state, c.posterior, NULL, NULL, 1, x, upper, lower, &s, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_certify_outputs(*state, NULL, NULL, NULL, 1, x, lower, upper, &s, NULL),
                     HF_ERR_ARGUMENT);
    assert_true(s.upper == 77.0);
    cert_drop(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_point_is_farther, make_context, drop_context),
        cmocka_unit_test_setup_teardown(verdicts, make_context, drop_context),
        cmocka_unit_test_setup_teardown(ends, make_context, drop_context),
        cmocka_unit_test_setup_teardown(regions, make_context, drop_context),
        cmocka_unit_test_setup_teardown(bad_arguments, make_context, drop_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
