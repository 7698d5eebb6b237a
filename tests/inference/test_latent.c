/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence of counts and amounts: gradients against differences, by both methods and both solvers, and where
 * the answer is known. */
#include "inference/latent.h"
#include "kernel/kernel.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    ROWS = 30,
    MOST = 12
};

static const char *const names[] = {"poisson", "negative-binomial", "gamma"};
static const hf_inference inferences[] = {HF_INFERENCE_LAPLACE, HF_INFERENCE_EP, HF_INFERENCE_VARIATIONAL};

typedef struct counts {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    double x[ROWS], y[ROWS], shift[ROWS];
} counts;

/* Counts of a rate that waves, with exposures of their own, and one that is far too large; for amounts the
 * same and a half. */
static void counts_make(counts *c, bool whole)
{
    hfi_stream stream;
    c->ctx = hf_context_create();
    assert_non_null(c->ctx);
    assert_int_equal(hf_context_set_threads(c->ctx, 1), HF_OK);
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < ROWS; i++) {
        c->x[i] = 0.2 * (double)i;
        c->shift[i] = i % 3 == 0 ? 0.5 : 0.0;
        const double mu = exp(1.0 + sin(c->x[i]) + c->shift[i] + 0.3 * hfi_stream_normal(&stream));
        c->y[i] = floor(mu) + (whole ? 0.0 : 0.5);
    }
    c->y[4] = whole ? 60.0 : 60.5;
    c->y[9] = NAN;
    assert_int_equal(hf_kernel_parse(c->ctx, "matern52(ard)", NULL, 1, &c->kernel), HF_OK);
    assert_int_equal(hf_mean_create(c->ctx, HF_MEAN_CONSTANT, 1, &c->mean), HF_OK);
    const double start = 0.8;
    assert_int_equal(hf_mean_set(c->ctx, c->mean, &start, false), HF_OK);
}

static void counts_free(counts *c)
{
    hf_kernel_free(c->kernel);
    hf_mean_free(c->mean);
    hf_context_free(c->ctx);
}

static hf_status start(const counts *c, const hfi_likelihood *l, hf_inference inference, const double *shift,
                       hfi_inducing *u, size_t rows, hfi_latent_problem *p)
{
    const hfi_latent_given given = {.kernel = c->kernel,
                                    .mean = c->mean,
                                    .rows = rows,
                                    .x = c->x,
                                    .ldx = 1,
                                    .y = c->y,
                                    .shift = shift,
                                    .inducing = u};
    return hfi_latent_problem_init(c->ctx, l, inference, &given, p);
}

static double evaluate(hfi_latent_problem *p, double *gradient)
{
    double value = NAN;
    assert_int_equal(hfi_latent_evaluate(p, &value, gradient), HF_OK);
    assert_true(p->converged);
    return value;
}

/* Value after entry `at` of kernel parameters, mean and log dispersion moved. */
static double moved(counts *c, hfi_latent_problem *p, const double *theta, size_t at, double by)
{
    const size_t kernel_count = hf_kernel_parameters(c->kernel);
    double there[MOST];
    memcpy(there, theta, (kernel_count + 2) * sizeof *there);
    there[at] += by;
    hfi_kernel_set_theta(c->kernel, there);
    assert_int_equal(hf_mean_set(c->ctx, c->mean, there + kernel_count, false), HF_OK);
    p->dispersion = exp(there[kernel_count + 1]);
    return evaluate(p, NULL);
}

static void compare(counts *c, hfi_latent_problem *p, double tolerance)
{
    static const double at[] = {-2e-3, -1e-3, 1e-3, 2e-3}, weight[] = {1.0, -8.0, 8.0, -1.0};
    const size_t kernel_count = hf_kernel_parameters(c->kernel),
                 parameters = p->likelihood->parameter ? 1 : 0;
    double theta[MOST], gradient[MOST];
    hfi_kernel_theta(c->kernel, theta);
    theta[kernel_count] = 0.8;
    theta[kernel_count + 1] = log(0.15);
    p->dispersion = 0.15;
    evaluate(p, gradient);
    for (size_t i = 0; i < kernel_count + 1 + parameters; i++) {
        double slope = 0.0;
        for (int s = 0; s < 4; s++) slope += weight[s] * moved(c, p, theta, i, at[s]) / 12e-3;
        assert_near(gradient[i], slope, tolerance * (1.0 + fabs(slope)));
    }
}

static void exact_gradients_agree_with_differences(void **state)
{
    (void)state;
    for (size_t k = 0; k < 9; k++) {
        const hfi_likelihood *l = hfi_likelihood_named(names[k / 3]);
        counts c;
        hfi_latent_problem p;
        counts_make(&c, l->whole);
        assert_int_equal(start(&c, l, inferences[k % 3], c.shift, NULL, ROWS, &p), HF_OK);
        compare(&c, &p, 1e-7);
        hfi_latent_problem_free(&p);
        counts_free(&c);
    }
}

/* FITC and DTC, whose answers for the dispersion need the covariance of the inducing solver, and VFE, whose
 * trace sees the sites. */
static void inducing_gradients_agree_with_differences(void **state)
{
    (void)state;
    const hf_inducing_method methods[] = {HF_INDUCING_FITC, HF_INDUCING_DTC, HF_INDUCING_VFE};
    for (size_t k = 0; k < 27; k++) {
        const hfi_likelihood *l = hfi_likelihood_named(names[k / 9]);
        const hf_inference inference = inferences[k % 3];
        const hf_inducing_method method = methods[k / 3 % 3];
        counts c;
        hfi_inducing u;
        hfi_latent_problem p;
        double z[6];
        counts_make(&c, l->whole);
        for (size_t j = 0; j < 6; j++) z[j] = 0.1 + (double)j;
        assert_int_equal(hfi_inducing_init(c.ctx, method, 6, 1, z, 1, &u), HF_OK);
        assert_int_equal(start(&c, l, inference, c.shift, &u, ROWS, &p), HF_OK);
        compare(&c, &p, 2e-6);
        hfi_latent_problem_free(&p);
        hfi_inducing_free(&u);
        counts_free(&c);
    }
}

/* Value, gradient and sites at a prior mean; returns how many numbers. */
static size_t answer(counts *c, hfi_latent_problem *p, double mean, double *numbers)
{
    const size_t kept = HFI_LATENT_KEPT * p->n;
    memset(numbers, 0, (1 + MOST) * sizeof *numbers);
    assert_int_equal(hf_mean_set(c->ctx, c->mean, &mean, false), HF_OK);
    numbers[0] = evaluate(p, numbers + 1);
    memcpy(numbers + 1 + MOST, p->w, kept * sizeof *numbers);
    return 1 + MOST + kept;
}

/* Evaluations that were not kept leave no trace in the next. */
static void forget(counts *c, hfi_latent_problem *p)
{
    double before[1 + MOST + HFI_LATENT_KEPT * ROWS], after[1 + MOST + HFI_LATENT_KEPT * ROWS];
    for (int kept = 0; kept < 2; kept++) {
        const size_t count = answer(c, p, 0.7, before);
        answer(c, p, 1.4, after);
        answer(c, p, 0.7, after);
        assert_memory_equal(after, before, count * sizeof *before);
        hfi_latent_keep(p);
    }
}

/* A search that goes on from a checkpoint knows the best evaluation before, and no others. */
static void evaluations_depend_on_the_kept_one_alone(void **state)
{
    (void)state;
    const hf_inducing_method methods[] = {HF_INDUCING_FITC, HF_INDUCING_DTC, HF_INDUCING_VFE};
    for (size_t k = 0; k < 12; k++) {
        const hfi_likelihood *l = hfi_likelihood_named(names[k % 3]);
        const bool exact = k / 3 == 3;
        counts c;
        hfi_inducing u = {0};
        hfi_latent_problem p;
        double z[6];
        counts_make(&c, l->whole);
        for (size_t j = 0; j < 6; j++) z[j] = 0.1 + (double)j;
        if (!exact) assert_int_equal(hfi_inducing_init(c.ctx, methods[k / 3], 6, 1, z, 1, &u), HF_OK);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(start(&c, l, inferences[i], c.shift, exact ? NULL : &u, ROWS, &p), HF_OK);
            p.dispersion = 0.15;
            forget(&c, &p);
            hfi_latent_problem_free(&p);
        }
        if (!exact) hfi_inducing_free(&u);
        counts_free(&c);
    }
}

/* One reading: the evidence is an integral over one latent value, which EP has exactly and the variational
 * bound from below. */
static void one_reading_is_exact(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        const hfi_likelihood *l = hfi_likelihood_named(names[k]);
        hfi_latent_problem p;
        counts c;
        counts_make(&c, l->whole);
        const double y = c.y[0] = 5.0, shift = 0.4, var = hfi_kernel_value(c.kernel, c.x, c.x, true);
        assert_int_equal(start(&c, l, HF_INFERENCE_EP, &shift, NULL, 1, &p), HF_OK);
        p.dispersion = 0.3;
        hfi_seen seen = {.y = y, .shift = shift, .dispersion = 0.3};
        hfi_likelihood_place(l, &seen);
        const double value = evaluate(&p, NULL),
                     expected = hfi_likelihood_tilt(l, &seen, 1.0, 0.8, var).log_z;
        assert_near(value, expected, 1e-9);
        hfi_latent_problem_free(&p);
        assert_int_equal(start(&c, l, HF_INFERENCE_VARIATIONAL, &shift, NULL, 1, &p), HF_OK);
        p.dispersion = 0.3;
        const double bound = evaluate(&p, NULL);
        assert_true(bound <= expected && bound > expected - 0.05);
        hfi_latent_problem_free(&p);
        counts_free(&c);
    }
}

/* Many counts: log y is nearly normal with variance 1/y, and the posterior that of such readings. */
static void large_counts_are_nearly_normal(void **state)
{
    (void)state;
    counts c;
    hfi_latent_problem p;
    double target[ROWS], variance[ROWS];
    counts_make(&c, true);
    for (size_t k = 0; k < 2; k++) {
        const double many = k == 0 ? 1e6 : 1e4, mean = log(many);
        for (size_t i = 0; i < ROWS; i++) c.y[i] = floor(many * exp(sin(c.x[i])));
        assert_int_equal(hf_mean_set(c.ctx, c.mean, &mean, false), HF_OK);
        assert_int_equal(start(&c, &hfi_likelihood_poisson, inferences[k], NULL, NULL, ROWS, &p), HF_OK);
        evaluate(&p, NULL);
        hfi_latent_sites(&p, target, variance);
        for (size_t i = 0; i < ROWS; i++) {
            assert_near(target[i], log(c.y[i]), 10.0 / many);
            assert_near(variance[i] * c.y[i], 1.0, 10.0 / sqrt(many));
        }
        hfi_latent_problem_free(&p);
    }
    counts_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_gradients_agree_with_differences),
        cmocka_unit_test(inducing_gradients_agree_with_differences),
        cmocka_unit_test(evaluations_depend_on_the_kept_one_alone),
        cmocka_unit_test(one_reading_is_exact),
        cmocka_unit_test(large_counts_are_nearly_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
