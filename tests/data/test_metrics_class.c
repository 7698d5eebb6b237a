/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of class probabilities against values worked out by hand, and calibration of readings drawn from the
 * predictions. */
#include "data/support.h"

#include "core/core.h"

#include <holdfast/metrics.h>

#include <math.h>

static int make_context(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int free_context(void **state)
{
    hf_context_free(*state);
    return 0;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void worked_by_hand(void **state)
{
    static const size_t label[] = {0, 1, 2, 2};
    static const double p[] = {0.7, 0.2, 0.1, 0.5, 0.3, 0.2, 0.25, 0.25, 0.5, 0.4, 0.4, 0.2};
    hf_class_metrics m;
    hf_calibration_bin bin[2];
    assert_int_equal(hf_metrics_class(*state, 4, 3, label, p, 2, bin, &m), HF_OK);
    assert_int_equal(m.n, 4);
    assert_near(m.accuracy, 0.5, 0);
    assert_near(m.nlpd, -(log(0.7) + log(0.3) + log(0.5) + log(0.2)) / 4, 1e-15);
    assert_near(m.brier, (0.14 + 0.78 + 0.375 + 0.96) / 4, 1e-15);
    /* 0.5 belongs to the lower half: there are 0.5 (wrong), 0.5 (right), 0.4 (wrong) */
    assert_int_equal(bin[0].n, 3);
    assert_near(bin[0].confidence, 1.4 / 3, 1e-15);
    assert_near(bin[0].accuracy, 1.0 / 3, 1e-15);
    assert_int_equal(bin[1].n, 1);
    assert_near(m.calibration_error, 0.4 / 4 + 0.3 / 4, 1e-15);
}

/* Every edge belongs to the bin below it, whatever confidence * bins rounds to. */
static void edges_belong_below(void **state)
{
    enum {
        BINS = 100
    };
    hf_calibration_bin bin[BINS];
    hf_class_metrics m;
    for (size_t b = BINS / 2; b < BINS; b++) {
        const double edge = (double)b / BINS, above = nextafter(edge, 1);
        const double p[] = {edge, 1 - edge, above, 1 - above};
        const size_t label[] = {0, 0};
        assert_int_equal(hf_metrics_class(*state, 2, 2, label, p, BINS, bin, &m), HF_OK);
        assert_int_equal(bin[b - 1].n, 1);
        assert_int_equal(bin[b].n, 1);
    }
}

static void the_first_of_equal_classes_wins(void **state)
{
    const double p[] = {0.5, 0.5};
    hf_class_metrics m;
    assert_int_equal(hf_metrics_class(*state, 1, 2, (size_t[]){0}, p, 10, NULL, &m), HF_OK);
    assert_near(m.accuracy, 1, 0);
    assert_int_equal(hf_metrics_class(*state, 1, 2, (size_t[]){1}, p, 10, NULL, &m), HF_OK);
    assert_near(m.accuracy, 0, 0);
}

static void certain_and_wrong_is_infinite(void **state)
{
    const double p[] = {1, 0, 1, 0};
    hf_class_metrics m;
    assert_int_equal(hf_metrics_class(*state, 2, 2, (size_t[]){1, 0}, p, 10, NULL, &m), HF_OK);
    assert_true(isinf(m.nlpd) && m.nlpd > 0);
    assert_near(m.brier, 1, 0);
    assert_near(m.calibration_error, 0.5, 0);
}

/* Labels drawn from the predictions: all scores at their expectations, within five standard errors. */
static void right_predictions_are_calibrated(void **state)
{
    enum {
        N = 20000,
        C = 3
    };
    static double p[N * C];
    static size_t label[N];
    double entropy = 0, brier = 0, confidence = 0;
    hfi_stream stream;
    hfi_stream_init(&stream, 8, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < N; i++) {
        double *q = p + i * C, sum = 0, largest = 0;
        for (size_t c = 0; c < C; c++) sum += q[c] = exp(1.5 * hfi_stream_normal(&stream));
        for (size_t c = 0; c < C; c++) {
            q[c] /= sum;
            entropy -= q[c] * log(q[c]) / N;
            brier += q[c] * (1 - q[c]) / N;
            largest = fmax(largest, q[c]);
        }
        confidence += largest / N;
        double u = hfi_stream_uniform(&stream);
        for (label[i] = 0; label[i] + 1 < C && u > q[label[i]]; label[i]++) u -= q[label[i]];
    }
    hf_class_metrics m;
    assert_int_equal(hf_metrics_class(*state, N, C, label, p, 15, NULL, &m), HF_OK);
    assert_near(m.nlpd, entropy, 5 / sqrt(N));
    assert_near(m.brier, brier, 5 * 0.5 / sqrt(N));
    assert_near(m.accuracy, confidence, 5 * 0.5 / sqrt(N));
    assert_true(m.calibration_error < 5 * 0.5 * sqrt(15.0 / N) && m.calibration_error > 0);
}

static void missing_rows_are_left_out(void **state)
{
    const double p[] = {0.5, 0.5, NAN, 0.5, 0.25, 0.75};
    const size_t label[] = {SIZE_MAX, 0, 1};
    hf_class_metrics m;
    assert_int_equal(hf_metrics_class(*state, 3, 2, label, p, 10, NULL, &m), HF_WARN_ROWS_SKIPPED);
    assert_contains(hf_context_message(*state), "2 of 3 rows have no label or no prediction");
    assert_int_equal(m.n, 1);
    assert_near(m.nlpd, -log(0.75), 1e-15);
}

static void errors_leave_the_results_alone(void **state)
{
    static const struct {
        size_t label;
        double a, b;
        const char *message;
    } cases[] = {
        {2, 0.5, 0.5, "the label of row 2 is class 2; there are 2, counted from 0"},
        {0, 1.5, -0.5, "row 2 has probability 1.5 of class 0"},
        {0, 0.5, -0.5, "row 2 has probability -0.5 of class 1"},
        {0, 0.5, INFINITY, "row 2 has probability inf of class 1"},
        {0, 0.5, 0.4, "the probabilities of row 2 sum to 0.9, not to 1"},
    };
    hf_class_metrics m = {.n = 77};
    hf_calibration_bin bin[2] = {{.n = 78}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const double p[] = {0.5, 0.5, cases[k].a, cases[k].b};
        const size_t label[] = {0, cases[k].label};
        assert_int_equal(hf_metrics_class(*state, 2, 2, label, p, 2, bin, &m), HF_ERR_ARGUMENT);
        assert_contains(hf_context_message(*state), cases[k].message);
    }
    const double p[] = {NAN, 0.5};
    const size_t label[] = {0};
    assert_int_equal(hf_metrics_class(*state, 1, 2, label, p, 2, bin, &m), HF_ERR_NO_DATA);
    assert_int_equal(hf_metrics_class(*state, 0, 2, NULL, NULL, 2, bin, &m), HF_ERR_NO_DATA);
    assert_int_equal(hf_metrics_class(*state, 1, 0, label, p, 2, bin, &m), HF_ERR_ARGUMENT);
    assert_int_equal(hf_metrics_class(*state, 1, 2, label, p, 0, bin, &m), HF_ERR_ARGUMENT);
    assert_int_equal(hf_metrics_class(*state, 1, 2, NULL, p, 2, bin, &m), HF_ERR_ARGUMENT);
    assert_int_equal(hf_metrics_class(*state, 1, 2, label, p, 2, bin, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(m.n, 77);
    assert_int_equal(bin[0].n, 78);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_by_hand),
        cmocka_unit_test(edges_belong_below),
        cmocka_unit_test(the_first_of_equal_classes_wins),
        cmocka_unit_test(certain_and_wrong_is_infinite),
        cmocka_unit_test(right_predictions_are_calibrated),
        cmocka_unit_test(missing_rows_are_left_out),
        cmocka_unit_test(errors_leave_the_results_alone),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
