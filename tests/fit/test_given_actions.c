/* SPDX-License-Identifier: Apache-2.0 */
/* Fits with actions of one's own: rows of readings that are missing, units, and what is refused. */
#include "core/core.h"
#include <holdfast/posterior.h>
#include <holdfast/train.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 50,
    POINTS = 12
};

typedef struct problem {
    double x[N], y[N], matrix[N * N];
    hf_data data;
    hf_fit_settings settings;
} problem;

/* Readings in hundreds, the eighth of them missing; the matrix is the identity. */
static problem *make(void)
{
    problem *p = calloc(1, sizeof *p);
    assert_non_null(p);
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 8);
    for (size_t i = 0; i < N; i++) {
        p->x[i] = 10.0 * (double)i / N;
        p->y[i] = 700.0 + 100.0 * sin(p->x[i]) + 10.0 * hfi_stream_normal(&stream);
        p->matrix[i * N + i] = 1.0 + (double)i;
    }
    p->y[7] = NAN;
    p->data = (hf_data){.n = N, .d = 1, .x = p->x, .ldx = 1, .y = p->y};
    p->settings = hf_fit_settings_default();
    p->settings.suspects = HF_OUTLIERS_OFF;
    p->settings.calibrate = false;
    p->settings.kernel = "matern52";
    p->settings.solver = HF_SOLVER_PROJECTED;
    p->settings.action_kind = HF_ACTIONS_GIVEN;
    p->settings.actions = p->settings.action_rows = N;
    p->settings.action_matrix = p->matrix;
    return p;
}

static void predict(const problem *p, size_t actions, double *mean, double *variance)
{
    hf_context *ctx = hf_context_create();
    hf_posterior *posterior = NULL;
    hf_fit_report report;
    double x[POINTS];
    for (size_t q = 0; q < POINTS; q++) x[q] = 0.9 * (double)q - 0.3;
    assert_true(hf_fit_data(ctx, &p->data, &p->settings, &posterior, &report, NULL) >= 0);
    if (actions > 0) assert_int_equal(report.actions, actions);
    assert_int_equal(hf_predict(ctx, posterior, POINTS, x, 1, mean, variance, NULL), HF_OK);
    hf_posterior_free(posterior);
    hf_context_free(ctx);
}

static void assert_same(const double *mean, const double *variance, const double *other, const double *spread)
{
    for (size_t q = 0; q < POINTS; q++) {
        assert_true(fabs(mean[q] - other[q]) < 1e-5);
        assert_true(fabs(variance[q] - spread[q]) < 1e-5 * fabs(spread[q]));
    }
}

/* At given hyperparameters: as many independent actions as readings say what the exact solver says. */
static void the_identity_is_the_exact_fit(void **state)
{
    (void)state;
    problem *p = make();
    double mean[POINTS], variance[POINTS], exact[POINTS], spread[POINTS];
    p->settings.train = false;
    predict(p, N - 1, mean, variance);
    p->settings.action_matrix = NULL;
    p->settings.action_rows = 0;
    p->settings.solver = HF_SOLVER_EXACT;
    predict(p, 0, exact, spread);
    assert_same(mean, variance, exact, spread);
    free(p);
}

/* Trained: hyperparameters are those of Krylov actions, and columns count in no units. */
static void units_of_the_columns_do_not_count(void **state)
{
    (void)state;
    problem *p = make();
    double mean[POINTS], variance[POINTS], other[POINTS], spread[POINTS];
    p->settings.actions = 9;
    for (size_t k = 0; k < (size_t)N * 9; k++)
        p->matrix[k] = cos(0.05 * (double)((k % 9 + 1) * (2 * (k / 9) + 1)));
    predict(p, 9, mean, variance);
    for (size_t k = 0; k < (size_t)N * 9; k++) p->matrix[k] *= pow(10.0, (double)(k % 9) - 5.0);
    for (size_t k = 7 * 9; k < 8 * 9; k++) p->matrix[k] = 3.0; /* of the missing reading */
    predict(p, 9, other, spread);
    assert_same(mean, variance, other, spread);
    p->settings.actions = 3;
    for (size_t k = 0; k < (size_t)N * 3; k++) p->matrix[k] = cos(0.05 * (double)((k % 3 + 1) * (k / 3)));
    predict(p, 3, other, spread);
    double more = 0.0;
    for (size_t q = 0; q < POINTS; q++) more = fmax(more, spread[q] / variance[q]);
    assert_true(more > 2.0);
    free(p);
}

static void assert_refused(const problem *p, hf_status status, const char *part)
{
    hf_context *ctx = hf_context_create();
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_fit_data(ctx, &p->data, &p->settings, &posterior, NULL, NULL), status);
    if (!strstr(hf_context_message(ctx), part)) fail_msg("%s: %s", part, hf_context_message(ctx));
    assert_null(posterior);
    hf_context_free(ctx);
}

static void what_is_no_matrix_of_actions_is_refused(void **state)
{
    (void)state;
    problem *p = make();
    p->settings.action_rows = N - 1;
    assert_refused(p, HF_ERR_DIMENSION, "49 rows for 50 rows of data");
    p->settings.action_rows = N;
    p->settings.action_kind = HF_ACTIONS_KRYLOV;
    assert_refused(p, HF_ERR_ARGUMENT, "action_kind krylov");
    p->settings.action_kind = HF_ACTIONS_GIVEN;
    p->settings.solver = HF_SOLVER_AUTO;
    assert_refused(p, HF_ERR_ARGUMENT, "but with projected");
    p->settings.solver = HF_SOLVER_PROJECTED;
    p->settings.actions = 0;
    assert_refused(p, HF_ERR_ARGUMENT, "0 columns");
    p->settings.actions = N;
    p->matrix[3] = NAN;
    assert_refused(p, HF_ERR_NOT_FINITE, "row 1, column 4");
    p->matrix[3] = 0.0;
    p->matrix[2 * N + 2] = 0.0;
    assert_refused(p, HF_ERR_ARGUMENT, "column 3 of 50");
    p->settings.action_matrix = NULL;
    assert_refused(p, HF_ERR_ARGUMENT, "action_matrix is NULL");
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_identity_is_the_exact_fit),
        cmocka_unit_test(units_of_the_columns_do_not_count),
        cmocka_unit_test(what_is_no_matrix_of_actions_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
