/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction at many points: the same as one at a time, whatever the blocks and the threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/support.h"

enum {
    INPUTS = 3,
    QUERIES = 1700 /* several blocks, the last one not full */
};

typedef struct result {
    double mean[QUERIES], latent[QUERIES], observed[QUERIES];
} result;

static result *predict(hf_context *ctx, const hf_posterior *posterior, size_t m, const double *x, size_t ldx)
{
    result *r = calloc(1, sizeof *r);
    assert_non_null(r);
    assert_int_equal(hf_predict(ctx, posterior, m, x, ldx, r->mean, r->latent, r->observed), HF_OK);
    return r;
}

static void equals_one_at_a_time(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "matern52(ard) + 0.3*linear + 0.1*white", 70, INPUTS, 0.05);
    hf_posterior *posterior = support_scaled(&p, 1.5);
    hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, posterior);
    double *x = problem_inputs(QUERIES, INPUTS + 1, 41); /* one column too many: the stride */
    for (size_t i = 0; i < QUERIES; i++)
        support_to_user(&posterior->scaling, x + i * (INPUTS + 1), x + i * (INPUTS + 1));
    result *r = predict(ctx, posterior, QUERIES, x, INPUTS + 1);
    double *alone = naive_zeros(QUERIES), unit = posterior->scaling.y_scale;
    assert_int_equal(hf_predict(ctx, posterior, QUERIES, x, INPUTS + 1, alone, NULL, NULL), HF_OK);
    for (size_t i = 0; i < QUERIES; i++) {
        double mean, latent, observed;
        assert_int_equal(hf_predict_latent(posterior, w, x + i * (INPUTS + 1), &mean, &latent, NULL, NULL),
                         HF_OK);
        assert_int_equal(hf_predict_observed(posterior, w, x + i * (INPUTS + 1), NULL, &observed, NULL, NULL),
                         HF_OK);
        assert_near(r->mean[i], mean, 1e-12 * unit);
        assert_near(alone[i], mean, 1e-12 * unit);
        assert_near(r->latent[i], latent, 1e-12 * unit * unit);
        assert_near(r->observed[i], observed, 1e-12 * unit * unit);
    }
    /* Each output may be left out. */
    result *part = calloc(1, sizeof *part);
    assert_non_null(part);
    assert_int_equal(hf_predict(ctx, posterior, QUERIES, x, INPUTS + 1, NULL, NULL, part->observed), HF_OK);
    assert_int_equal(hf_predict(ctx, posterior, QUERIES, x, INPUTS + 1, NULL, part->latent, NULL), HF_OK);
    assert_memory_equal(part->observed, r->observed, sizeof r->observed);
    assert_memory_equal(part->latent, r->latent, sizeof r->latent);
    assert_int_equal(hf_predict(ctx, posterior, 0, NULL, INPUTS, NULL, NULL, NULL), HF_OK);
    free(part);
    free(r);
    free(alone);
    free(x);
    hf_posterior_workspace_free(w);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static void a_row_does_not_depend_on_its_neighbours(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern32(ard)", 50, INPUTS, 0.05);
    hf_posterior *posterior = support_solve(&p);
    double *x = problem_inputs(QUERIES, INPUTS, 42);
    result *all = predict(ctx, posterior, QUERIES, x, INPUTS);
    const size_t starts[] = {0, 1, 31, 255, 256, 700, 1699};
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        size_t begin = starts[k];
        result *tail = predict(ctx, posterior, QUERIES - begin, x + begin * INPUTS, INPUTS);
        for (size_t i = begin; i < QUERIES; i++) {
            assert_near(tail->mean[i - begin], all->mean[i], 1e-13);
            assert_near(tail->latent[i - begin], all->latent[i], 1e-13);
        }
        free(tail);
    }
    free(all);
    free(x);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static void threads_change_no_digit(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "matern52(ard) + linear", 90, INPUTS, 0.05);
    hf_posterior *posterior = support_solve(&p);
    double *x = problem_inputs(QUERIES, INPUTS, 43);
    result *one = predict(ctx, posterior, QUERIES, x, INPUTS);
    for (int threads = 2; threads <= 5; threads += 3) {
        assert_int_equal(hf_context_set_threads(ctx, threads), HF_OK);
        result *many = predict(ctx, posterior, QUERIES, x, INPUTS);
        assert_memory_equal(one, many, sizeof *one);
        free(many);
    }
    free(one);
    free(x);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- progress --------------------------------------------------------------------------------------------------- */

typedef struct watch {
    size_t calls, stop_at;
    double last;
    bool rising;
} watch;

static bool look(const char *stage, double done, double value, void *user)
{
    watch *w = user;
    w->rising = w->rising && done >= w->last && done <= 1.0 && isnan(value) && strcmp(stage, "predict") == 0;
    w->last = done;
    return ++w->calls != w->stop_at;
}

static void cancelling_leaves_outputs_alone(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se(ard)", 20, INPUTS, 0.05);
    hf_posterior *posterior = support_solve(&p);
    double *x = problem_inputs(QUERIES, INPUTS, 44);
    result *r = calloc(1, sizeof *r);
    assert_non_null(r);
    watch w = {.rising = true};
    hf_context_set_progress(ctx, look, &w);
    assert_int_equal(hf_predict(ctx, posterior, QUERIES, x, INPUTS, r->mean, r->latent, NULL), HF_OK);
    assert_true(w.rising && w.calls >= 5);
    for (size_t stop = 1; stop <= w.calls; stop++) {
        result *untouched = calloc(1, sizeof *untouched);
        assert_non_null(untouched);
        watch again = {.rising = true, .stop_at = stop};
        hf_context_set_progress(ctx, look, &again);
        memset(r, 0, sizeof *r);
        assert_int_equal(hf_predict(ctx, posterior, QUERIES, x, INPUTS, r->mean, r->latent, r->observed),
                         HF_ERR_CANCELLED);
        assert_int_equal(again.calls, stop);
        assert_memory_equal(r, untouched, sizeof *r);
        free(untouched);
    }
    free(r);
    free(x);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

static void bad_rows_are_named(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    problem p = problem_make(ctx, "se + linear", 10, INPUTS, 0.05);
    hf_posterior *posterior = support_solve(&p);
    double *x = problem_inputs(400, INPUTS, 45);
    double *mean = naive_zeros(400), *var = naive_zeros(400);
    mean[0] = 5.0;
    x[INPUTS * 333 + 2] = NAN;
    assert_int_equal(hf_predict(ctx, posterior, 400, x, INPUTS, mean, var, NULL), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "input 2 of row 333"));
    x[INPUTS * 333 + 2] = 1e200; /* finite, but its square is not */
    assert_int_equal(hf_predict(ctx, posterior, 400, x, INPUTS, mean, var, NULL), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "row 333"));
    assert_int_equal(hf_predict(ctx, posterior, 400, x, INPUTS - 1, mean, var, NULL), HF_ERR_DIMENSION);
    assert_int_equal(hf_predict(ctx, posterior, 400, NULL, INPUTS, mean, var, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_predict(ctx, NULL, 400, x, INPUTS, mean, var, NULL), HF_ERR_ARGUMENT);
    assert_true(mean[0] == 5.0 && var[0] == 0.0);
    /* Far away a stationary kernel knows nothing, and says so without complaint. */
    problem q = problem_make(ctx, "2*matern52(ard)", 10, 1, 0.05);
    hf_posterior *far = support_solve(&q);
    double at = 1e300;
    assert_int_equal(hf_predict(ctx, far, 1, &at, 1, mean, var, NULL), HF_OK);
    assert_near(var[0], 2.0, 0.0);
    hf_posterior_free(far);
    problem_free(&q);
    free(x);
    free(mean);
    free(var);
    hf_posterior_free(posterior);
    problem_free(&p);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_one_at_a_time),    cmocka_unit_test(a_row_does_not_depend_on_its_neighbours),
        cmocka_unit_test(threads_change_no_digit), cmocka_unit_test(cancelling_leaves_outputs_alone),
        cmocka_unit_test(bad_rows_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
