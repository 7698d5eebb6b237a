/* SPDX-License-Identifier: Apache-2.0 */
/* Moments of softmax: against predictions' and differences, and the comparison of densities that bounds of small
 * probabilities rest on. */
#include "kernel/kernel_testing.h"

#include "core/assert_near.h"

#include "classify/softmax.h"
#include "softmax/classes_impl.h"

enum {
    CLASSES = 3,
    MOST_CLASSES = 5
};

/* S (C x C) with differences B (1 + Y) B' to the last class, which knows nothing of the others. */
static void make_covariance(const double *b, const double *y, double *s)
{
    double inner[4], half[4];
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++) inner[i * 2 + j] = (i == j ? 1.0 : 0.0) + y[i * 2 + j];
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++) half[i * 2 + j] = b[i * 2] * inner[j] + b[i * 2 + 1] * inner[2 + j];
    for (size_t k = 0; k < CLASSES * CLASSES; k++) s[k] = 0.0;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++)
            s[i * CLASSES + j] = half[i * 2] * b[j * 2] + half[i * 2 + 1] * b[j * 2 + 1];
}

/* P(m, S) is at most (1 + r)^(q / 2) exp((q^(1/2) r + r^2 / (2 (1 - r))) / 2) times
 * P(m, (1 + r) S_0), |Y| <= r. */
static void densities_are_compared(void **state)
{
    hf_context *ctx = *state;
    hfi_rules rules;
    hfi_stream stream;
    assert_int_equal(hfi_rules_create(ctx, CLASSES, 1e-10, &rules), HF_OK);
    double *scratch = make_zeros(hfi_rules_scratch(&rules)), nearest = 0.0;
    hfi_stream_init(&stream, 51, HFI_PURPOSE_TEST, 0);
    for (size_t trial = 0; trial < 300; trial++) {
        const double none[4] = {0.0}, r = 0.85 * hfi_stream_uniform(&stream);
        double b[4], y[4], mean[CLASSES] = {0.0}, at[9], wide[9], p[CLASSES], above[CLASSES], length = 0.0;
        for (size_t k = 0; k < 4; k++) b[k] = 2.0 * hfi_stream_normal(&stream);
        for (size_t k = 0; k < 2; k++) mean[k] = 4.0 * hfi_stream_normal(&stream);
        y[0] = hfi_stream_normal(&stream);
        y[3] = hfi_stream_normal(&stream);
        y[1] = y[2] = hfi_stream_normal(&stream);
        if (trial % 3 == 0) y[0] = y[3] = -1.0, y[1] = y[2] = 0.0;
        for (size_t k = 0; k < 4; k++) length += y[k] * y[k];
        for (size_t k = 0; k < 4; k++) y[k] *= r / sqrt(length);
        make_covariance(b, y, at);
        make_covariance(b, none, wide);
        for (size_t k = 0; k < 9; k++) wide[k] *= 1.0 + r;
        const double error = hfi_moments(&rules, mean, at, p, NULL, scratch) +
                             hfi_moments(&rules, mean, wide, above, NULL, scratch);
        const double grown = (1.0 + r) * exp(0.5 * (sqrt(2.0) * r + 0.5 * r * r / (1.0 - r)));
        for (size_t c = 0; c < CLASSES; c++) {
            assert_true(p[c] <= grown * (above[c] + error) + error);
            if (r < 0.1) nearest = fmax(nearest, p[c] / above[c]);
        }
    }
    assert_true(nearest > 0.9);
    free(scratch);
    hfi_rules_free(&rules);
}

/* Means, gradient and Hessian of the quadrature against predictions' and differences; scaled and plain
 * constants against what third and fourth derivatives are. */
static void moments_have_their_slopes(void **state)
{
    for (size_t n = 2; n <= MOST_CLASSES; n++) {
        double mean[MOST_CLASSES], s[MOST_CLASSES * MOST_CLASSES], p[MOST_CLASSES], q[MOST_CLASSES],
            a[MOST_CLASSES] = {0}, w[MOST_CLASSES], w2[MOST_CLASSES], h[MOST_CLASSES * MOST_CLASSES],
            h2[MOST_CLASSES * MOST_CLASSES], third[35], scratch[4000], error;
        hfi_rules rules;
        assert_int_equal(hfi_rules_create(*state, n, 1e-9, &rules), HF_OK);
        double *room = calloc(hfi_rules_scratch(&rules), sizeof *room);
        assert_true(hfi_softmax_scratch(n) <= sizeof scratch / sizeof *scratch);
        for (size_t i = 0; i < n; i++) {
            mean[i] = 0.7 * (double)i - 0.5;
            for (size_t j = 0; j < n; j++)
                s[i * n + j] = (i == j ? 2.0 + (double)i : 0.3) - 0.1 * (double)(i * j);
        }
        a[1] = 1.0;
        a[0] = -1.0;
        const double off = hfi_moments(&rules, mean, s, p, third, room);
        hfi_softmax_probability(n, mean, s, q, &error, scratch);
        for (size_t i = 0; i < n; i++) assert_near(p[i], q[i], off + error + 1e-12);
        hfi_moments_slopes(n, third, a, w, h);
        for (size_t j = 0; j < n; j++) {
            double up[MOST_CLASSES], low[MOST_CLASSES];
            const double step = 1e-4;
            mean[j] += step;
            (void)hfi_moments(&rules, mean, s, up, third, room);
            hfi_moments_slopes(n, third, a, w2, h2);
            mean[j] -= 2.0 * step;
            (void)hfi_moments(&rules, mean, s, low, third, room);
            double w3[MOST_CLASSES];
            hfi_moments_slopes(n, third, a, w3, h2);
            mean[j] += step;
            assert_near((up[1] - up[0] - low[1] + low[0]) / (2.0 * step), w[j], 1e-6);
            for (size_t i = 0; i < n; i++) assert_near((w2[i] - w3[i]) / (2.0 * step), h[i * n + j], 1e-5);
            /* d G / d S_jj = H_jj / 2 */
            s[j * n + j] += step;
            (void)hfi_moments(&rules, mean, s, up, NULL, room);
            s[j * n + j] -= 2.0 * step;
            (void)hfi_moments(&rules, mean, s, low, NULL, room);
            s[j * n + j] += step;
            if (n < 5) /* a fixed sum does not know that */
                assert_near((up[1] - up[0] - low[1] + low[0]) / (2.0 * step), 0.5 * h[j * n + j], 1e-5);
        }
        free(room);
        hfi_rules_free(&rules);
    }
}

/* Third and fourth derivatives by differences: with a linear D and X of one input, D^3 G [D] : X + D^4 G : X
 * X / 4 is the Hessian's entry. */
static void tensors_tilt_as_slopes_change(void **state)
{
    enum {
        N = 3
    };
    const double mean[N] = {0.4, -0.7, 0.1}, s[N * N] = {3.0, 0.4, -0.2, 0.4, 2.0, 0.3, -0.2, 0.3, 4.0};
    double d[N] = {0.3, -0.5, 0.2}, x[N * N] = {0.5, 0.1, 0.2, 0.1, -0.4, 0.3, 0.2, 0.3, 0.6};
    double p[N], third[10], fifth[21], a[N] = {1.0, 0.0, -1.0}, w[N], h[2][N * N], white[64], room[600],
                                       out = 0.0;
    hfi_rules rules;
    assert_int_equal(hfi_rules_create(*state, N, 1e-11, &rules), HF_OK);
    double *scratch = calloc(hfi_rules_scratch(&rules), sizeof *scratch);
    assert_true(hfi_tensor_room(N) <= sizeof room / sizeof *room);
    hfi_mean_model models[N] = {{.g = &d[0]}, {.g = &d[1]}, {.g = &d[2]}};
    const hfi_box_scratch bench = {.a = a, .fifth = fifth, .tensor = room, .white = white};
    const hfi_box box = {.b = &bench, .m = 1, .n = N, .mean = models, .s = {.linear = x}};
    (void)hfi_moments_fifth(&rules, mean, s, p, fifth, scratch);
    (void)hfi_tensor_tilt(&box, &out);
    double expected = 0.0;
    const double step = 1e-4;
    for (int side = 0; side < 2; side++) {
        double moved[N], wider[N * N];
        const double sign = side == 0 ? step : -step;
        for (size_t i = 0; i < N; i++) moved[i] = mean[i] + sign * d[i];
        (void)hfi_moments(&rules, moved, s, p, third, scratch);
        hfi_moments_slopes(N, third, a, w, h[0]);
        for (size_t k = 0; k < N * N; k++) wider[k] = s[k] + sign * x[k];
        (void)hfi_moments(&rules, mean, wider, p, third, scratch);
        hfi_moments_slopes(N, third, a, w, h[1]);
        /* dH/dS : X = D^4 G : X / 2 */
        for (size_t k = 0; k < N * N; k++)
            expected += (side == 0 ? 1.0 : -1.0) / (2.0 * step) * x[k] * (h[0][k] + 0.5 * h[1][k]);
    }
    assert_near(out, expected, 1e-6);
    free(scratch);
    hfi_rules_free(&rules);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(densities_are_compared),
        TEST(moments_have_their_slopes),
        TEST(tensors_tilt_as_slopes_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
