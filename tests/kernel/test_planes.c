/* SPDX-License-Identifier: Apache-2.0 */
/* wave, swell and tilt: their formulas, that they are positive semidefinite whatever their parameters, and
 * that products of them are the generalised spectral kernels as these are written. */
#include "kernel_testing.h"

#include <stdlib.h>

static double plane(const double *f, const double *x)
{
    double u = 0.0;
    for (size_t j = 0; j < INPUTS; j++) u += f[j] * x[j];
    return u;
}

static double value_of(hf_context *ctx, const char *expression, const double *x, const double *z)
{
    hf_kernel *kernel = parse(ctx, expression, INPUTS);
    const double value = hfi_kernel_value(kernel, x, z, false);
    hf_kernel_free(kernel);
    return value;
}

#define F "frequency[0]=0.3, frequency[1]=-0.7, frequency[2]=0.15"
#define G "frequency[0]=-0.1, frequency[1]=0.2, frequency[2]=0.4"
#define R "rate[0]=0.3, rate[1]=-0.2, rate[2]=0.05"
static const double f[INPUTS] = {0.3, -0.7, 0.15}, g[INPUTS] = {-0.1, 0.2, 0.4},
                    r[INPUTS] = {0.3, -0.2, 0.05};

static void formulas(void **state)
{
    const double turn = 2.0 * acos(-1.0);
    double *x = make_points(20, INPUTS, 3);
    for (size_t i = 0; i < 10; i++) {
        const double *a = x + i * INPUTS, *b = x + (10 + i) * INPUTS;
        double t[INPUTS];
        for (size_t j = 0; j < INPUTS; j++) t[j] = a[j] - b[j];
        assert_close("wave", i, value_of(*state, "wave(" F ")", a, b), cos(turn * plane(f, t)), 1e-14);
        assert_close("swell", i, value_of(*state, "swell(" G ")", a, b),
                     cos(turn * plane(g, a)) * cos(turn * plane(g, b)), 1e-14);
        assert_close("tilt", i, value_of(*state, "tilt(" R ")", a, b), exp(plane(r, a) + plane(r, b)), 1e-13);
        assert_close("columns", i, value_of(*state, "wave(x3, x1, frequency[0]=-1, frequency[1]=2)", a, b),
                     cos(turn * (2.0 * t[0] - t[2])), 1e-14);
    }
    free(x);
}

/* exp(r'(x + x')) Psi(x)'Psi(x') with Psi = (cos w1'x + cos w2'x, sin w1'x + sin w2'x). */
static void the_kernel_that_is_not_stationary(void **state)
{
    const double turn = 2.0 * acos(-1.0);
    double *x = make_points(20, INPUTS, 4);
    for (size_t i = 0; i < 10; i++) {
        double psi[2][2] = {{0.0}};
        const double *at[2] = {x + i * INPUTS, x + (10 + i) * INPUTS};
        for (size_t s = 0; s < 2; s++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const double u = turn * (plane(f, at[s]) + sign * plane(g, at[s]));
                psi[s][0] += cos(u);
                psi[s][1] += sin(u);
            }
        const double wanted =
            exp(plane(r, at[0]) + plane(r, at[1])) * (psi[0][0] * psi[1][0] + psi[0][1] * psi[1][1]);
        assert_close("B.7", i,
                     value_of(*state, "tilt(" R ", outputscale=4)*swell(" G ")*wave(" F ")", at[0], at[1]),
                     wanted, 1e-13);
    }
    free(x);
}

/* Least eigenvalues by Cholesky's factor of the Gram matrix with 1e-10 of its size added. */
static void positive_semidefinite(void **state)
{
    static const char *const kernels[] = {"wave",
                                          "swell",
                                          "tilt",
                                          "se(ard)*wave + 0.5*se(ard)*wave",
                                          "tilt*swell*wave",
                                          "tilt*swell*wave*matern32(ard) + 0.3*wave(x2)"};
    const size_t n = 40;
    double *k = make_zeros(n * n);
    for (size_t e = 0; e < sizeof kernels / sizeof *kernels; e++)
        for (uint64_t trial = 0; trial < 12; trial++) {
            hf_kernel *kernel = parse(*state, kernels[e], INPUTS);
            const size_t count = hf_kernel_parameters(kernel);
            double *x = make_points(n, INPUTS, trial), *theta = make_zeros(count), most = 0.0;
            hfi_stream stream;
            hfi_stream_init(&stream, 71, HFI_PURPOSE_TEST, trial);
            hfi_kernel_theta(kernel, theta);
            for (size_t p = 0; p < count; p++) theta[p] += 1.5 * hfi_stream_normal(&stream);
            hfi_kernel_set_theta(kernel, theta);
            assert_int_equal(hf_kernel_gram(*state, kernel, n, x, INPUTS, k, n), HF_OK);
            for (size_t i = 0; i < n; i++) most = fmax(most, k[i * n + i]);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < i; j++) assert_true(k[i * n + j] == k[j * n + i]);
            for (size_t j = 0; j < n; j++) {
                double left = k[j * n + j] + 1e-10 * most;
                for (size_t p = 0; p < j; p++) left -= k[j * n + p] * k[j * n + p];
                if (!(left > 0.0)) fail_msg("%s, trial %d: %g", kernels[e], (int)trial, left / most);
                k[j * n + j] = sqrt(left);
                for (size_t i = j + 1; i < n; i++) {
                    for (size_t p = 0; p < j; p++) k[i * n + j] -= k[i * n + p] * k[j * n + p];
                    k[i * n + j] /= k[j * n + j];
                }
            }
            free(theta);
            free(x);
            hf_kernel_free(kernel);
        }
    free(k);
}

/* Written back and read again: real parameters of either sign, in the units of the data. */
static void written_and_read(void **state)
{
    hf_kernel *kernel = parse(*state, "2*se*wave(x1, x3, frequency[1]~-0.4) + tilt(rate=-0.1)", INPUTS);
    hf_parameter parameter;
    size_t frequencies = 0, rates = 0;
    for (size_t p = 0; p < hf_kernel_parameters(kernel); p++) {
        assert_int_equal(hf_kernel_parameter(kernel, p, &parameter), HF_OK);
        if (strstr(parameter.name, "frequency")) {
            assert_true(parameter.unit == HF_UNIT_FREQUENCY && !parameter.fixed && parameter.lower < 0.0);
            assert_true(parameter.value == (frequencies++ == 0 ? 0.1 : -0.4));
        }
        if (strstr(parameter.name, "rate")) {
            assert_true(parameter.unit == HF_UNIT_FREQUENCY && parameter.fixed && parameter.value == -0.1);
            rates++;
        }
    }
    assert_true(frequencies == 2 && rates == INPUTS);
    hf_kernel *copy = NULL;
    assert_int_equal(hf_kernel_copy(*state, kernel, &copy), HF_OK);
    const double x[INPUTS] = {0.3, 0.1, -0.7}, z[INPUTS] = {-0.2, 0.5, 0.4};
    assert_true(hfi_kernel_value(kernel, x, z, false) == hfi_kernel_value(copy, x, z, false));
    hf_kernel_free(copy);
    hf_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(formulas, make_context, drop_context),
        cmocka_unit_test_setup_teardown(the_kernel_that_is_not_stationary, make_context, drop_context),
        cmocka_unit_test_setup_teardown(positive_semidefinite, make_context, drop_context),
        cmocka_unit_test_setup_teardown(written_and_read, make_context, drop_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
