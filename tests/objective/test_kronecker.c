/* SPDX-License-Identifier: Apache-2.0 */
/* The evidence of full tables through eigenvectors: the same value and gradient as by factoring everything. */
#include "objective/kronecker.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 31,
    MOST_OUTPUTS = 5,
    D = 3, /* two inputs and the number of the output */
    MOST = N * MOST_OUTPUTS,
    PARAMETERS = 64
};

typedef struct fixture {
    hf_context *ctx;
    size_t outputs, n;
    double x[MOST * D], y[MOST];
    size_t sample[MOST];
    hfi_evaluator e;
} fixture;

/* Readings in a shuffled order. */
static void make(fixture *f, const char *expression, size_t outputs, bool own_noise)
{
    memset(f, 0, sizeof *f);
    f->ctx = hf_context_create();
    f->outputs = outputs;
    f->n = N * outputs;
    hfi_stream stream;
    hfi_stream_init(&stream, 21, HFI_PURPOSE_TEST, 1);
    double inputs[N * 2];
    for (size_t i = 0; i < N * 2; i++) inputs[i] = 3.0 * hfi_stream_normal(&stream);
    for (size_t k = 0; k < f->n; k++) {
        const size_t cell = (k * 17) % f->n, i = cell / outputs, t = cell % outputs;
        f->x[k * D] = inputs[2 * i];
        f->x[k * D + 1] = inputs[2 * i + 1];
        f->x[k * D + 2] = (double)t;
        f->y[k] = sin(inputs[2 * i]) + 0.3 * (double)t * inputs[2 * i + 1] + 0.1 * hfi_stream_normal(&stream);
        f->sample[k] = i;
    }
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    assert_int_equal(hf_kernel_parse(f->ctx, expression, NULL, D, &kernel), HF_OK);
    size_t first = 0, factors = 0;
    if (hfi_kernel_coregion(kernel, 0, &first, &factors, NULL, NULL)) {
        double theta[PARAMETERS];
        hfi_kernel_theta(kernel, theta);
        for (size_t k = 0; k < factors; k++) theta[first + k] += 0.4 * hfi_stream_normal(&stream);
        hfi_kernel_set_theta(kernel, theta);
    }
    assert_int_equal(hf_mean_create_outputs(f->ctx, D, outputs, &mean), HF_OK);
    assert_int_equal(hfi_mean_start(f->ctx, mean, f->n, f->x, D, f->y, NULL), HF_OK);
    assert_int_equal(hf_sites_gaussian(f->ctx, f->n, f->y, 0.05, NULL, &sites), HF_OK);
    if (own_noise) {
        size_t channel[MOST];
        double noise[MOST_OUTPUTS];
        for (size_t k = 0; k < f->n; k++) channel[k] = (size_t)f->x[k * D + 2];
        for (size_t t = 0; t < outputs; t++) noise[t] = 0.01 + 0.03 * (double)t;
        assert_int_equal(hf_sites_set_channels(f->ctx, sites, outputs, channel), HF_OK);
        assert_int_equal(hf_sites_set_channel_noise(f->ctx, sites, noise), HF_OK);
    }
    assert_int_equal(hfi_evaluator_init(f->ctx, &f->e, false, f->n, D, f->x, D), HF_OK);
    f->e.kernel = kernel;
    f->e.mean = mean;
    f->e.sites = sites;
    assert_int_equal(hfi_evaluator_select(&f->e), HF_OK);
}

static void drop(fixture *f)
{
    hf_kernel_free(f->e.kernel);
    hf_mean_free(f->e.mean);
    hf_sites_free(f->e.sites);
    hfi_evaluator_free(&f->e);
    hf_context_free(f->ctx);
}

static void compare(const char *expression, size_t outputs, bool own_noise, bool by_inputs)
{
    fixture f;
    make(&f, expression, outputs, own_noise);
    const size_t count = hf_kernel_parameters(f.e.kernel) + outputs + (own_noise ? outputs : 1);
    double dense = 0.0, fast = 0.0, a[PARAMETERS], b[PARAMETERS], scale = 1.0, alone = 0.0;
    assert_true(count <= PARAMETERS);
    assert_int_equal(hfi_evaluator_run(&f.e, HF_OBJECTIVE_EVIDENCE, &dense, a), HF_OK);
    assert_int_equal(hfi_kronecker_init(&f.e, outputs, by_inputs ? NULL : f.sample, NULL), HF_OK);
    assert_non_null(f.e.kronecker);
    assert_true(hfi_kronecker_applies(&f.e));
    f.e.a[0] = NAN;
    assert_int_equal(hfi_evaluator_run(&f.e, HF_OBJECTIVE_EVIDENCE, &fast, b), HF_OK);
    assert_int_equal(hfi_evaluator_run(&f.e, HF_OBJECTIVE_EVIDENCE, &alone, NULL), HF_OK);
    assert_true(alone == fast);
    assert_true(isnan(f.e.a[0])); /* nobody has factored */
    if (!(fabs(fast - dense) <= 1e-10 * fabs(dense)))
        fail_msg("%s: %.15g, but %.15g by factoring", expression, fast, dense);
    for (size_t p = 0; p < count; p++) scale = fmax(scale, fabs(a[p]));
    for (size_t p = 0; p < count; p++)
        if (!(fabs(a[p] - b[p]) <= 1e-9 * scale))
            fail_msg("%s, %zu outputs: entry %zu of the gradient is %.12g, but %.12g by factoring",
                     expression, outputs, p, b[p], a[p]);
    drop(&f);
}

static void test_same_as_factoring(void **state)
{
    (void)state;
    compare("coregion(x3, outputs=3)*matern52(ard)", 3, true, false);
    compare("coregion(x3, outputs=3)*matern52(ard)", 3, false, true);
    compare("coregion(x3, outputs=5, rank=2)*se", 5, true, true);
    compare("coregion(x3, outputs=4)*(se + linear(ard))", 4, true, false);
    compare("coregion(x3, outputs=3, rank=1)*se(x1)*matern12(x2)", 3, true, false);
}

/* Where it would be wrong it is not used. */
static void test_where_it_does_not_apply(void **state)
{
    (void)state;
    const char *const others[] = {"coregion(x3, outputs=3)*se + coregion(x3, outputs=3)*matern12",
                                  "coregion(x3, outputs=3)*se + linear",
                                  "se(x1, x2, x3)",
                                  "(coregion(x3, outputs=3) + linear)*se",
                                  "coregion(x3, outputs=3)*se(x1, x3)",
                                  "coregion(x3, outputs=3)*(se + white)"};
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        fixture f;
        make(&f, others[k], 3, true);
        assert_int_equal(hfi_kronecker_init(&f.e, 3, f.sample, NULL), HF_OK);
        if (f.e.kronecker) fail_msg("%s is taken for a product", others[k]);
        drop(&f);
    }
    fixture f;
    make(&f, "coregion(x3, outputs=3)*se", 3, true);
    assert_int_equal(hfi_kronecker_init(&f.e, 3, f.sample, NULL), HF_OK);
    assert_true(hfi_kronecker_applies(&f.e));
    hfi_sites_weigh_as(f.e.sites, 4, 0.5, 0.0);
    assert_false(hfi_kronecker_applies(&f.e));
    hfi_sites_weigh_as(f.e.sites, 4, 1.0, 0.0);
    assert_true(hfi_kronecker_applies(&f.e));
    assert_int_equal(hf_sites_set_present(f.ctx, f.e.sites, 7, false), HF_OK);
    assert_int_equal(hfi_evaluator_select(&f.e), HF_OK);
    assert_false(hfi_kronecker_applies(&f.e));
    hfi_kronecker_free(&f.e);
    /* Two readings of one output, none of another: not a full table, though the number is right. */
    f.x[5 * D + 2] = f.x[5 * D + 2] == 0.0 ? 1.0 : 0.0;
    assert_int_equal(hfi_kronecker_init(&f.e, 3, f.sample, NULL), HF_OK);
    assert_null(f.e.kronecker);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_factoring),
        cmocka_unit_test(test_where_it_does_not_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
