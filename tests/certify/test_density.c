/* SPDX-License-Identifier: Apache-2.0 */
/* Small class probabilities over boxes: the bounds of single boxes against points. */
#include "classify/labels.h"

#include "kernel/kernel_testing.h"
#include <holdfast/certify_uses.h>

enum {
    CLASSES = 3,
    PLANE = 2 /* inputs */
};

typedef struct trial {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_classifier *classifier;
} trial;

/* Clouds around a circle. */
static void begin(trial *t, hf_context *ctx, const char *kernel, hfi_stream *stream)
{
    enum {
        N = 45
    };
    double x[N * PLANE];
    size_t label[N];
    char expression[200];
    t->ctx = ctx;
    for (size_t i = 0; i < N; i++) {
        const double angle = 2.0 * HFI_PI * (double)(i % CLASSES) / CLASSES;
        label[i] = i % CLASSES;
        x[i * PLANE] = 0.5 * hfi_stream_normal(stream) + 1.5 * cos(angle);
        x[i * PLANE + 1] = 0.5 * hfi_stream_normal(stream) + 1.5 * sin(angle);
    }
    snprintf(expression, sizeof expression, "coregion(x3, outputs=3, rank=1, factor=0, own=1)*%s", kernel);
    assert_int_equal(hf_kernel_parse(ctx, expression, NULL, PLANE + 1, &t->kernel), HF_OK);
    assert_int_equal(hf_mean_create_outputs(ctx, PLANE + 1, CLASSES, &t->mean), HF_OK);
    if (hf_classify_exact(ctx, HF_LINK_SOFTMAX, HF_INFERENCE_LAPLACE, t->kernel, t->mean, N, x, PLANE, label,
                          CLASSES, &t->classifier, NULL) < 0)
        fail_msg("%s", hf_context_message(ctx));
}

static void end(trial *t)
{
    hf_classifier_free(t->classifier);
    hf_kernel_free(t->kernel);
    hf_mean_free(t->mean);
}

/* The bounds of one box against points of it; adds how far the ends are from what is attained. */
static void check_box(const trial *t, const double *lower, const double *upper, size_t output,
                      hfi_stream *stream, double *low, double *high)
{
    enum {
        POINTS = 64
    };
    double x[POINTS * PLANE], p[POINTS * CLASSES];
    size_t winner[POINTS];
    hf_range r;
    hf_certify_settings settings = hf_certify_settings_default();
    settings.output = output;
    settings.node_limit = 1;
    assert_true(hf_certify_class(t->ctx, t->classifier, &settings, 1, lower, upper, &r, NULL, NULL) >= 0);
    for (size_t k = 0; k < POINTS * PLANE; k++) {
        const double u = 1.4 * hfi_stream_uniform(stream) - 0.2, at = u < 0.0 ? 0.0 : u > 1.0 ? 1.0 : u;
        x[k] = lower[k % PLANE] + at * (upper[k % PLANE] - lower[k % PLANE]);
    }
    assert_int_equal(
        hf_classify_predict(t->ctx, t->classifier, POINTS, x, PLANE, p, winner, NULL, NULL, NULL), HF_OK);
    for (size_t k = 0; k < POINTS; k++)
        assert_true(p[k * CLASSES + output] >= r.lower - 1e-9 && p[k * CLASSES + output] <= r.upper + 1e-9);
    *low += r.lower_attained - r.lower;
    *high += r.upper - r.upper_attained;
}

/* Boxes inside one cloud: its class is likely, the others are not, and one box says so. */
static void single_boxes_hold(void **state)
{
    const char *const kernels[] = {"6*(se(ard, lengthscale=1.5))", "8*(matern52(ard, lengthscale=2))",
                                   "5*(rq(lengthscale=2, alpha=1.5) + 0.05*white)"};
    const double most[] = {0.03, 0.05, 0.25};
    for (size_t e = 0; e < sizeof kernels / sizeof *kernels; e++) {
        trial t;
        hfi_stream stream;
        hfi_stream_init(&stream, 52, HFI_PURPOSE_TEST, e);
        begin(&t, *state, kernels[e], &stream);
        double low = 0.0, high = 0.0;
        for (size_t k = 0; k < 24; k++) {
            double lower[PLANE], upper[PLANE];
            const double half = k % 4 == 3 ? 0.5 : 0.1,
                         angle = 2.0 * HFI_PI * (double)(k % CLASSES) / CLASSES;
            for (size_t j = 0; j < PLANE; j++) {
                const double at = 1.7 * (j == 0 ? cos(angle) : sin(angle)) + 0.3 * hfi_stream_normal(&stream);
                lower[j] = at - half;
                upper[j] = at + half;
            }
            double unused = 0.0;
            const bool count = k % 4 != 3;
            check_box(&t, lower, upper, k % CLASSES, &stream, count ? &low : &unused, &unused);
            check_box(&t, lower, upper, (k + 1) % CLASSES, &stream, &unused, count ? &high : &unused);
        }
        assert_true(low / 18.0 < most[e] && high / 18.0 < most[e]);
        end(&t);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(single_boxes_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
