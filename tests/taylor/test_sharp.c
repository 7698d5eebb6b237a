/* SPDX-License-Identifier: Apache-2.0 */
/* Models of the mean that are sharpened by what the posterior mean is around a box's centre. */
#include "bound/box_testing.h"

#include "taylor/quadratic.h"
#include "taylor/taylor.h"

/* One box inside another, its models before and after they are sharpened, and points in it. Values in the
 * solver's units. */
static void check_sharp(const cert *c, double share, hfi_stream *stream, double *gain)
{
    const hfi_scaling *s = &c->posterior->scaling;
    double low[INPUTS], high[INPUTS], middle[INPUTS], extent[INPUTS], centre[INPUTS], half[INPUTS], g[INPUTS],
        error[INPUTS], shares[INPUTS], point[INPUTS], gap[INPUTS], h[INPUTS * INPUTS],
        t[INPUTS * INPUTS * INPUTS];
    const size_t free_inputs[INPUTS] = {0, 1, 2};
    for (size_t j = 0; j < INPUTS; j++) {
        low[j] = (c->lower[j] - s->x_shift[j]) / s->x_scale[j];
        high[j] = (c->upper[j] - s->x_shift[j]) / s->x_scale[j];
        middle[j] = 0.5 * (low[j] + high[j]);
        extent[j] = 0.5 * (high[j] - low[j]) * (1.0 + 1e-12);
    }
    const hfi_subject subject = {c->posterior, INPUTS, low, high, INPUTS, free_inputs, middle, extent};
    hfi_taylor *taylor;
    assert_int_equal(hfi_taylor_create(c->ctx, &subject, &taylor), HF_OK);
    assert_true(hfi_taylor_can_sharpen(taylor));
    double *scratch = make_zeros(hfi_taylor_mean_scratch(taylor) + hfi_taylor_sharpen_scratch(taylor) +
                                 hfi_cubic_work(INPUTS, 64));
    for (size_t j = 0; j < INPUTS; j++) {
        half[j] = share * extent[j];
        centre[j] = middle[j] + (extent[j] - half[j]) * (2.0 * hfi_stream_uniform(stream) - 1.0);
    }
    hfi_mean_model model = {.g = g, .h = h, .cubic = t, .slope_error = error, .remainder_share = shares};
    hfi_taylor_mean(taylor, 1, centre, half, &model, scratch);
    const double before = model.remainder;
    hfi_taylor_sharpen(taylor, centre, half, &model, scratch);
    assert_true(model.has_cubic && model.outside < before && model.remainder <= before);
    *gain += log(before / model.outside);
    double end[2], predicted;
    for (size_t e = 0; e < 2; e++) {
        const hfi_cubic cubic = {.m = INPUTS, .sign = e ? -1.0 : 1.0, .g = g, .h = h, .t = t};
        const hfi_cubic_effort effort = {.parts = 64, .enough = INFINITY};
        end[e] = hfi_cubic_lower(&cubic, &effort, point, &predicted, gap, scratch);
    }
    for (size_t k = 0; k < 200; k++) {
        double u[INPUTS], x[INPUTS], slope[INPUTS], mean;
        for (size_t j = 0; j < INPUTS; j++) {
            u[j] = fmax(-1.0, fmin(1.0, 4.0 * hfi_stream_uniform(stream) - 2.0));
            x[j] = (centre[j] + half[j] * u[j]) * s->x_scale[j] + s->x_shift[j];
        }
        assert_int_equal(hf_predict_latent(c->posterior, c->workspace, x, &mean, NULL, slope, NULL), HF_OK);
        mean = (mean - s->y_shift) / s->y_scale;
        double plane = model.value;
        for (size_t a = 0; a < INPUTS; a++) {
            double radius = error[a] + 4.0 * model.rounding;
            plane += g[a] * u[a];
            for (size_t b = 0; b < INPUTS; b++) {
                plane += 0.5 * u[a] * u[b] * h[a * INPUTS + b];
                radius += fabs(h[a * INPUTS + b]);
            }
            if (fabs(g[a]) > radius) assert_true(slope[a] * g[a] > 0.0);
        }
        const double lost = model.outside + model.rounding + 1e-12;
        assert_true(fabs(mean - plane) <= model.remainder + model.rounding + 1e-12);
        assert_true(mean >= model.value + end[0] - lost && mean <= model.value - end[1] + lost);
    }
    free(scratch);
    hfi_taylor_free(taylor);
}

/* Sharpened models hold at points, say the right signs of slopes, and are worth their while: with and without
 * a linear prior mean. */
static void sharpened_models_hold(void **state)
{
    double gain = 0.0;
    size_t boxes = 0;
    for (uint64_t index = 4; index < 6; index++) {
        cert c = cert_make(*state, "se(ard)", 60, index, CERT_EXACT, false);
        hfi_stream stream;
        hfi_stream_init(&stream, 47, HFI_PURPOSE_TEST, index);
        for (size_t k = 0; k < 24; k++, boxes++) {
            cert_place(&c, "se(ard)", 0.2, &stream);
            check_sharp(&c, k % 3 == 0 ? 1.0 : k % 3 == 1 ? 0.4 : 0.02, &stream, &gain);
        }
        cert_drop(&c);
    }
    assert_true(gain > log(5.0) * (double)boxes);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sharpened_models_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
