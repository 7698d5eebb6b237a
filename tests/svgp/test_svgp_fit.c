/* SPDX-License-Identifier: Apache-2.0 */
/* Variational inference by minibatches: whole fits, odd tables, failures. */
#include "svgp/impl.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    MOST = 64
};

/* A trainer's part that a fit reads: what is free, in which box, under which prior. */
typedef struct space {
    hfi_trainer trainer;
    size_t index[MOST];
    double lower[MOST], upper[MOST], mean[MOST], sd[MOST];
} space;

static void make_space(space *s, const hf_kernel *kernel, const hf_mean *mean, size_t coordinates)
{
    memset(s, 0, sizeof *s);
    hfi_trainer *t = &s->trainer;
    t->noise = hf_kernel_parameters(kernel) + hf_mean_coefficients(mean);
    t->count = t->free_count = t->noise + 1 + coordinates;
    assert_true(t->count <= MOST);
    for (size_t i = 0; i < t->count; i++) {
        s->index[i] = i;
        s->lower[i] = -10.0;
        s->upper[i] = 10.0;
        s->sd[i] = INFINITY;
    }
    t->free_index = s->index;
    t->lower = s->lower;
    t->upper = s->upper;
    t->prior_mean = s->mean;
    t->prior_sd = s->sd;
}

enum {
    ROWS = 1500,
    PLACES = 12
};

typedef struct whole {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    space space;
    double *x, *y, z[PLACES];
    hfi_row_arrays arrays;
    hfi_row_source rows;
    hf_fit_settings settings;
    double noise, nu;
    hfi_solution solution;
    hfi_svgp_report report;
} whole;

/* y = sin(3 x) + 0.1 noise; `wild` of a hundred readings are far above. */
static void prepare_whole(whole *w, hf_likelihood kind, size_t wild, size_t minibatch, bool trained_z)
{
    memset(w, 0, sizeof *w);
    w->ctx = hf_context_create();
    w->x = calloc(ROWS, sizeof *w->x);
    w->y = calloc(ROWS, sizeof *w->y);
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 9);
    for (size_t i = 0; i < ROWS; i++) {
        w->x[i] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        w->y[i] = sin(3.0 * w->x[i]) + 0.1 * hfi_stream_normal(&stream) + (i % 100 < wild ? 6.0 : 0.0);
    }
    for (size_t j = 0; j < PLACES; j++) w->z[j] = -2.0 + 4.0 * (double)j / (PLACES - 1);
    assert_int_equal(hf_kernel_parse(w->ctx, "se", NULL, 1, &w->kernel), HF_OK);
    assert_int_equal(hf_mean_create(w->ctx, HF_MEAN_CONSTANT, 1, &w->mean), HF_OK);
    make_space(&w->space, w->kernel, w->mean, trained_z ? PLACES : 0);
    w->arrays = (hfi_row_arrays){.n = ROWS, .d = 1, .x = w->x, .ldx = 1, .y = w->y};
    w->rows = hfi_row_source_in_memory(&w->arrays);
    w->settings = hf_fit_settings_default();
    w->settings.sites = kind;
    w->settings.minibatch = minibatch;
    w->settings.train_inducing = trained_z;
    w->settings.iterations = 30;
    w->noise = 0.1;
}

static hf_status run_whole(whole *w)
{
    return hfi_svgp_fit(w->ctx, &w->rows, &w->space.trainer, w->kernel, w->mean, &w->noise, &w->nu,
                        &w->settings, INFINITY, PLACES, w->z, &w->solution, &w->report);
}

static void drop_whole(whole *w)
{
    hfi_solution_free(&w->solution);
    hf_kernel_free(w->kernel);
    hf_mean_free(w->mean);
    free(w->x);
    free(w->y);
    hf_context_free(w->ctx);
}

static double error_of(const whole *w)
{
    double sum = 0.0;
    for (size_t i = 0; i < 41; i++) {
        const double at = -1.9 + 3.8 * (double)i / 40.0;
        double mean;
        hf_mean_evaluate(w->mean, 1, &at, 1, &mean);
        for (size_t j = 0; j < PLACES; j++)
            mean += hfi_kernel_value(w->kernel, &at, w->solution.z + j, false) * w->solution.t[j];
        sum += (mean - sin(3.0 * at)) * (mean - sin(3.0 * at)) / 41.0;
    }
    return sqrt(sum);
}

static void fits_find_function_and_noise(void **state)
{
    (void)state;
    static const hf_likelihood kinds[] = {HF_LIKELIHOOD_GAUSSIAN, HF_LIKELIHOOD_ROBUST,
                                          HF_LIKELIHOOD_STUDENT_T};
    for (size_t k = 0; k < 3; k++)
        for (int adam = 0; adam < 2; adam++) {
            whole w;
            prepare_whole(&w, kinds[k], 0, 128, false);
            w.settings.optimiser = adam ? HF_OPTIMISER_ADAM : HF_OPTIMISER_LBFGS;
            assert_true(run_whole(&w) >= 0);
            assert_true(error_of(&w) < 0.02);
            assert_near(w.report.observed_noise, 0.01, 0.003);
            assert_int_equal(w.report.readings, ROWS);
            assert_true(kinds[k] == HF_LIKELIHOOD_STUDENT_T ? w.nu > 4.0 && w.nu <= 50.0 : isinf(w.nu));
            drop_whole(&w);
        }
}

/* Eight of a hundred readings far off: the plain fit is pulled by half a unit, the two others are not. */
static void wild_readings_do_not_hurt(void **state)
{
    (void)state;
    whole w;
    prepare_whole(&w, HF_LIKELIHOOD_GAUSSIAN, 8, 128, false);
    assert_true(run_whole(&w) >= 0);
    assert_true(error_of(&w) > 0.2);
    drop_whole(&w);
    prepare_whole(&w, HF_LIKELIHOOD_ROBUST, 8, 128, false);
    assert_true(run_whole(&w) >= 0);
    assert_true(error_of(&w) < 0.03);
    assert_near(w.report.down_weighted, 0.08, 0.02);
    drop_whole(&w);
    prepare_whole(&w, HF_LIKELIHOOD_STUDENT_T, 8, 128, false);
    assert_true(run_whole(&w) >= 0);
    assert_true(error_of(&w) < 0.03);
    assert_true(w.nu < 4.0);
    drop_whole(&w);
}

/* To the digit, trained inducing inputs included. */
static void the_number_of_threads_changes_nothing(void **state)
{
    (void)state;
    static const hf_likelihood kinds[] = {HF_LIKELIHOOD_GAUSSIAN, HF_LIKELIHOOD_ROBUST,
                                          HF_LIKELIHOOD_STUDENT_T};
    for (size_t k = 0; k < 3; k++) {
        whole one, three;
        prepare_whole(&one, kinds[k], 3, 200, k != 1);
        prepare_whole(&three, kinds[k], 3, 200, k != 1);
        one.settings.iterations = three.settings.iterations = 2;
        assert_int_equal(hf_context_set_threads(one.ctx, 1), HF_OK);
        assert_int_equal(hf_context_set_threads(three.ctx, 3), HF_OK);
        assert_true(run_whole(&one) >= 0);
        assert_true(run_whole(&three) >= 0);
        assert_true(one.noise == three.noise);
        assert_true(one.report.found.value == three.report.found.value);
        assert_memory_equal(one.z, three.z, sizeof one.z);
        assert_memory_equal(one.solution.t, three.solution.t, PLACES * sizeof(double));
        assert_memory_equal(one.solution.r, three.solution.r, PLACES * PLACES * sizeof(double));
        drop_whole(&one);
        drop_whole(&three);
    }
}

/* Student-t: at the end a natural gradient has nothing left to change, trained or not. */
static void student_fits_end_at_a_fixed_point(void **state)
{
    (void)state;
    for (int trained = 0; trained < 2; trained++) {
        whole w;
        prepare_whole(&w, HF_LIKELIHOOD_STUDENT_T, 5, 0, false);
        w.settings.train = trained != 0;
        if (!trained) w.space.trainer.free_count = 0;
        w.settings.student_nu = 3.0;
        w.settings.iterations = 3;
        assert_true(run_whole(&w) >= 0);
        const hfi_svgp_noise n = {.kind = hfi_svgp_kind_of(HF_LIKELIHOOD_STUDENT_T),
                                  .noise = w.noise,
                                  .student = hfi_student_make(w.nu)};
        assert_true(w.nu == 3.0);
        /* The same q by natural steps from the prior, small ones, long enough. */
        hfi_svgp q;
        hfi_svgp_sums sums;
        assert_int_equal(hfi_svgp_init(w.ctx, w.kernel, w.mean, &n, PLACES, 1, w.z, 512, &q), HF_OK);
        assert_int_equal(hfi_svgp_prior(&q), HF_OK);
        assert_int_equal(hfi_svgp_sums_init(&q, true, false, false, &sums), HF_OK);
        for (int step = 0; step < 60; step++) {
            hfi_svgp_sums_clear(&q, &sums);
            assert_int_equal(hfi_svgp_add_all(&q, &w.rows, &sums), HF_OK);
            assert_int_equal(hfi_svgp_natural(&q, &sums, 1.0, 0.5), HF_OK);
        }
        hfi_svgp_sums_clear(&q, &sums);
        assert_int_equal(hfi_svgp_add_all(&q, &w.rows, &sums), HF_OK);
        const double bound = sums.value - hfi_svgp_kl(&q);
        assert_near(w.report.found.value, bound, 1e-3);
        hfi_svgp_sums_free(&q, &sums);
        hfi_svgp_free(&q);
        drop_whole(&w);
    }
}

/* ---- odd tables, refusals, failures ---------------------------------------------------------------------------- */

static void odd_tables(void **state)
{
    (void)state;
    static const hf_likelihood kinds[] = {HF_LIKELIHOOD_GAUSSIAN, HF_LIKELIHOOD_ROBUST,
                                          HF_LIKELIHOOD_STUDENT_T};
    for (size_t k = 0; k < 3; k++) {
        whole w;
        prepare_whole(&w, kinds[k], 0, 64, false);
        w.settings.iterations = 2;
        for (size_t i = 0; i < ROWS; i++) w.y[i] = NAN;
        assert_int_equal(run_whole(&w), HF_ERR_NO_DATA);
        assert_null(w.solution.t);
        w.y[700] = 0.3; /* one reading among many rows */
        assert_true(run_whole(&w) >= 0);
        assert_int_equal(w.report.readings, 1);
        assert_true(isfinite(w.report.found.value) && isfinite(w.noise));
        hfi_solution_free(&w.solution);
        w.arrays.n = 1; /* one row */
        w.y[0] = 0.3;
        w.rows = hfi_row_source_in_memory(&w.arrays);
        w.settings.minibatch = 0;
        assert_true(run_whole(&w) >= 0);
        assert_true(isfinite(w.solution.t[0]));
        hfi_solution_free(&w.solution);
        w.arrays.n = 200; /* the same input and the same target everywhere */
        w.rows = hfi_row_source_in_memory(&w.arrays);
        for (size_t i = 0; i < 200; i++) {
            w.x[i] = 0.5;
            w.y[i] = 1.0;
        }
        assert_true(run_whole(&w) >= 0);
        assert_true(isfinite(w.solution.t[0]) && isfinite(w.report.found.value));
        drop_whole(&w);
    }
}

static void what_it_has_no_bound_for_is_refused(void **state)
{
    (void)state;
    whole w;
    prepare_whole(&w, HF_LIKELIHOOD_PURSUIT, 0, 64, false);
    assert_int_equal(run_whole(&w), HF_ERR_ARGUMENT);
    w.settings.sites = HF_LIKELIHOOD_GAUSSIAN;
    w.settings.objective = HF_OBJECTIVE_LOO;
    assert_int_equal(run_whole(&w), HF_ERR_ARGUMENT);
    w.settings.objective = HF_OBJECTIVE_EVIDENCE;
    w.settings.inducing_method = HF_INDUCING_FITC;
    assert_int_equal(run_whole(&w), HF_ERR_ARGUMENT);
    w.settings.inducing_method = HF_INDUCING_VFE;
    w.settings.sites = HF_LIKELIHOOD_STUDENT_T;
    w.settings.student_nu = 1.0;
    assert_int_equal(run_whole(&w), HF_ERR_ARGUMENT);
    w.settings.student_nu = 0.0;
    w.noise = 0.0;
    assert_int_equal(run_whole(&w), HF_ERR_ARGUMENT);
    assert_null(w.solution.t);
    drop_whole(&w);
}

static hf_status fail_late(void *arg, size_t begin, size_t count, double *x, double *y, double *extra)
{
    const whole *w = arg;
    if (begin > 1000) return hfi_fail(w->ctx, HF_ERR_IO, "the disk is gone");
    for (size_t i = 0; i < count; i++) {
        x[i] = w->x[begin + i];
        y[i] = w->y[begin + i];
        extra[i] = 0.0;
    }
    return HF_OK;
}

static void errors_of_reading_come_through(void **state)
{
    (void)state;
    whole w;
    prepare_whole(&w, HF_LIKELIHOOD_ROBUST, 0, 64, false);
    w.rows.read = fail_late;
    w.rows.arg = &w;
    assert_int_equal(run_whole(&w), HF_ERR_IO);
    assert_string_equal(hf_context_message(w.ctx), "the disk is gone");
    assert_null(w.solution.t);
    drop_whole(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_find_function_and_noise),
        cmocka_unit_test(wild_readings_do_not_hurt),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
        cmocka_unit_test(student_fits_end_at_a_fixed_point),
        cmocka_unit_test(odd_tables),
        cmocka_unit_test(what_it_has_no_bound_for_is_refused),
        cmocka_unit_test(errors_of_reading_come_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
