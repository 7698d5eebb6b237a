/* SPDX-License-Identifier: Apache-2.0 */
/* E[softmax(f)] for normal f: limits, symmetries, and other rules. */
#include "classify/labels.h"
#include "classify/softmax.h"

enum {
    MOST = 8
};

static double expectation(size_t classes, const double *mean, const double *covariance, double *probability)
{
    double *scratch = malloc(hfi_softmax_scratch(classes) * sizeof *scratch), error = NAN;
    assert_non_null(scratch);
    hfi_softmax_probability(classes, mean, covariance, probability, &error, scratch);
    free(scratch);
    return error;
}

static void spread(size_t classes, double own, double other, double *covariance)
{
    for (size_t k = 0; k < classes * classes; k++) covariance[k] = k % (classes + 1) == 0 ? own : other;
}

static void without_variance_it_is_the_softmax(void **state)
{
    (void)state;
    for (size_t classes = 2; classes <= MOST; classes++) {
        double mean[MOST], covariance[MOST * MOST], p[MOST], sum = 0.0;
        spread(classes, 2.0, 2.0, covariance); /* of which the differences have none */
        for (size_t c = 0; c < classes; c++) {
            mean[c] = 0.7 * (double)c - 1.0;
            sum += exp(mean[c]);
        }
        assert_true(expectation(classes, mean, covariance, p) < 1e-5);
        for (size_t c = 0; c < classes; c++) assert_near(p[c], exp(mean[c]) / sum, 1e-9);
    }
}

/* Equal classes have equal shares, to what the error says. */
static void equal_classes_are_equal(void **state)
{
    (void)state;
    static const double sizes[] = {0.01, 1.0, 9.0, 100.0};
    for (size_t classes = 2; classes <= MOST; classes++) {
        for (size_t k = 0; k < 4; k++) {
            double mean[MOST] = {0}, covariance[MOST * MOST], p[MOST];
            spread(classes, sizes[k], -0.1 * sizes[k], covariance);
            const double error = expectation(classes, mean, covariance, p);
            for (size_t c = 0; c < classes; c++)
                assert_near(p[c], 1.0 / (double)classes, 1.4 * error + 1e-12);
            if (classes <= 3) assert_true(error < 1e-8);
            if (classes > 3 && sizes[k] < 10.0) assert_true(error < 2e-3);
        }
    }
}

/* A class so far below the others that it takes no part leaves the others as they are without it. */
static void a_hopeless_class_takes_no_part(void **state)
{
    (void)state;
    for (size_t classes = 3; classes <= 6; classes++) {
        double mean[MOST], covariance[MOST * MOST], fewer[MOST * MOST], p[MOST], q[MOST];
        spread(classes, 1.5, 0.3, covariance);
        spread(classes - 1, 1.5, 0.3, fewer);
        for (size_t c = 0; c < classes; c++) mean[c] = c + 1 < classes ? 0.3 * (double)c : -60.0;
        const double error =
            expectation(classes, mean, covariance, p) + expectation(classes - 1, mean, fewer, q);
        for (size_t c = 0; c + 1 < classes; c++) assert_near(p[c], q[c], 2.0 * error + 1e-12);
        assert_true(p[classes - 1] < 1e-10);
    }
}

/* The bound holds for the plain rule with a tenth of the step, wide and narrow. */
static void bounds_of_three_hold(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 0);
    for (int trial = 0; trial < 12; trial++) {
        const double size = pow(4.0, trial % 4 - 1);
        double root[9], covariance[9], mean[3], p[3], fine[3] = {0};
        for (size_t k = 0; k < 9; k++) root[k] = size * hfi_stream_normal(&stream);
        for (size_t c = 0; c < 3; c++) mean[c] = 2.0 * size * hfi_stream_normal(&stream);
        for (size_t a = 0; a < 3; a++)
            for (size_t b = 0; b < 3; b++)
                covariance[3 * a + b] = root[3 * a] * root[3 * b] + root[3 * a + 1] * root[3 * b + 1] +
                                        root[3 * a + 2] * root[3 * b + 2];
        const double error = expectation(3, mean, covariance, p);
        const double v0 = covariance[0] + covariance[8] - 2.0 * covariance[2],
                     v1 = covariance[4] + covariance[8] - 2.0 * covariance[5],
                     both = covariance[1] + covariance[8] - covariance[2] - covariance[5];
        const double a = sqrt(v1), b = both / a, c = sqrt(v0 - b * b), h = 0.06 / fmax(1.0, size);
        const int steps = (int)(8.0 / h);
        for (int i = -steps; i <= steps; i++) {
            const double z = i * h;
            for (int j = -steps; j <= steps; j++) {
                const double u = j * h;
                const double x = exp(mean[0] - mean[2] + b * z + c * u), y = exp(mean[1] - mean[2] + a * z);
                const double w = h * h * exp(-0.5 * (z * z + u * u)) / (2.0 * HFI_PI) / (1.0 + x + y);
                fine[0] += w * x;
                fine[1] += w * y;
                fine[2] += w;
            }
        }
        for (size_t k = 0; k < 3; k++) assert_near(p[k], fine[k], error + 1e-13);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_variance_it_is_the_softmax),
        cmocka_unit_test(equal_classes_are_equal),
        cmocka_unit_test(a_hopeless_class_takes_no_part),
        cmocka_unit_test(bounds_of_three_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
