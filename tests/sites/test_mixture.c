/* SPDX-License-Identifier: Apache-2.0 */
#include "sites/mixture.h"
#include "sites/sites.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "mean/failing_allocator.h"

enum {
    N = 200,
    PLANTED = 16
};

static const double NU[HFI_NU_COUNT] = {1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0};

static int setup(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int teardown(void **state)
{
    hf_context_free(*state);
    return 0;
}

/* Student-t with whole degrees of freedom; nu = 0 means normal. */
static double student(hfi_stream *stream, int nu)
{
    double z = hfi_stream_normal(stream), chi2 = 0.0;
    for (int k = 0; k < nu; k++) chi2 += pow(hfi_stream_normal(stream), 2.0);
    return nu > 0 ? z / sqrt(chi2 / nu) : z;
}

/* n draws of scale `tau`; the first `planted` are 12 to 36 tau away: on either side, or all below. */
static void make_residuals(double *t, size_t n, size_t planted, bool below, int nu, double tau, uint64_t seed)
{
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, (uint64_t)nu);
    for (size_t i = 0; i < n; i++) t[i] = tau * student(&stream, nu);
    for (size_t i = 0; i < planted; i++) {
        double size = tau * (12.0 + 24.0 * hfi_stream_uniform(&stream));
        t[i] = below || i % 2 == 0 ? -size : size;
    }
}

/* log of the Student-t density by the textbook formula. */
static double log_student(double t, double nu, double tau)
{
    return lgamma(0.5 * (nu + 1.0)) - lgamma(0.5 * nu) - 0.5 * log(nu * HFI_PI) - log(tau) -
           0.5 * (nu + 1.0) * log1p(t * t / (nu * tau * tau));
}

static double slow_log_likelihood(const hfi_residuals *r, double nu, double pi, double tau,
                                  const hfi_window *window)
{
    double total = 0.0;
    for (size_t i = 0; i < r->n; i++) {
        double t = r->t[i], density = (1.0 - pi) * exp(log_student(t, nu, tau));
        if ((window->left && t <= -window->from) || (window->right && t >= window->from))
            density += pi * window->density;
        total += log(density);
    }
    return total;
}

static hfi_window whole_range(const hfi_residuals *r)
{
    return (hfi_window){.left = true,
                        .right = true,
                        .density = 1.0 / (r->t[r->n - 1] - r->t[0]),
                        .left_end = r->n,
                        .right_begin = r->n};
}

static hfi_window beyond(const hfi_residuals *r, double from)
{
    hfi_window w = {.left = true, .right = true, .from = from, .right_begin = r->n};
    while (w.left_end < r->n && r->t[w.left_end] <= -from) w.left_end++;
    while (w.right_begin > 0 && r->t[w.right_begin - 1] >= from) w.right_begin--;
    w.density = 0.5 / (r->largest - from);
    return w;
}

static void residuals_are_sorted_scaled_and_limited(void **state)
{
    const double t[6] = {4.0, -2.0, 1e200, NAN, -0.5, -INFINITY};
    const bool skip[6] = {false, false, false, true, false, false};
    hfi_residuals r;
    assert_int_equal(hfi_residuals_create(*state, 6, t, skip, true, &r), HF_OK);
    assert_int_equal(r.n, 5);
    assert_near(r.scale, 1.482602218505602 * 4.0, 1e-14); /* median of 0.5, 2, 4, 1e200, inf */
    const double expected[5] = {-1000.0, -2.0 / r.scale, -0.5 / r.scale, 4.0 / r.scale, 1000.0};
    for (size_t i = 0; i < 5; i++) assert_near(r.t[i], expected[i], 1e-13);
    assert_true(r.largest == 1000.0);
    hfi_residuals_free(*state, &r);
    assert_int_equal(hfi_residuals_create(*state, 6, t, skip, false, &r), HF_OK);
    assert_int_equal(r.n, 0); /* three are left, too few for a mixture */
    hfi_mixture none = hfi_mixture_inliers(&r, 0);
    assert_true(hfi_mixture_probability(&r, &none, 1e200) == 1.0);
    assert_true(hfi_mixture_probability(&r, &none, 4.0) == 0.0);
    hfi_residuals_free(*state, &r);
}

static void log_likelihood_is_that_of_the_textbook(void **state)
{
    double t[N];
    hfi_residuals r;
    make_residuals(t, N, PLANTED, false, 3, 0.7, 1);
    assert_int_equal(hfi_residuals_create(*state, N, t, NULL, true, &r), HF_OK);
    const hfi_window windows[2] = {whole_range(&r), beyond(&r, 4.5)};
    for (size_t nu = 0; nu < HFI_NU_COUNT; nu++) {
        hfi_mixture alone = hfi_mixture_inliers(&r, nu);
        assert_near(alone.log_likelihood, slow_log_likelihood(&r, NU[nu], 0.0, alone.tau, windows), 1e-9);
        for (size_t w = 0; w < 2; w++) {
            hfi_mixture m = hfi_mixture_fit(&r, nu, windows + w, 0.1, 7);
            assert_near(m.log_likelihood, slow_log_likelihood(&r, NU[nu], m.pi, m.tau, windows + w), 1e-9);
        }
    }
    hfi_residuals_free(*state, &r);
}

static void every_step_climbs(void **state)
{
    double t[N];
    hfi_residuals r;
    make_residuals(t, N, PLANTED, false, 2, 1.0, 2);
    assert_int_equal(hfi_residuals_create(*state, N, t, NULL, true, &r), HF_OK);
    const hfi_window windows[2] = {whole_range(&r), beyond(&r, 3.0)};
    for (size_t nu = 0; nu < HFI_NU_COUNT; nu++) {
        for (size_t w = 0; w < 2; w++) {
            double last = -INFINITY;
            for (int steps = 0; steps <= 40; steps++) {
                double now = hfi_mixture_fit(&r, nu, windows + w, 0.3, steps).log_likelihood;
                assert_true(now >= last - 1e-10);
                last = now;
            }
        }
    }
    hfi_residuals_free(*state, &r);
}

/* No point of a fine grid over (pi, tau) has a noticeably higher likelihood than where EM ended. */
static void em_finds_the_top(void **state)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        double t[60];
        hfi_residuals r;
        make_residuals(t, 60, 5, false, 3, 1.0, seed);
        assert_int_equal(hfi_residuals_create(*state, 60, t, NULL, true, &r), HF_OK);
        const hfi_window windows[2] = {whole_range(&r), beyond(&r, 3.0)};
        for (size_t nu = 0; nu < HFI_NU_COUNT; nu += 3) {
            for (size_t w = 0; w < 2; w++) {
                double grid = -INFINITY;
                for (double pi = 0.002; pi <= 0.5; pi *= 1.15)
                    for (double tau = 0.1; tau < 5.0; tau *= 1.05)
                        grid = fmax(grid, slow_log_likelihood(&r, NU[nu], pi, tau, windows + w));
                double em = fmax(hfi_mixture_fit(&r, nu, windows + w, 0.005, 40).log_likelihood,
                                 hfi_mixture_fit(&r, nu, windows + w, 0.1, 40).log_likelihood);
                assert_true(em >= grid - 0.01);
            }
            double grid = -INFINITY;
            for (double tau = 0.1; tau < 5.0; tau *= 1.002)
                grid = fmax(grid, slow_log_likelihood(&r, NU[nu], 0.0, tau, windows));
            assert_true(hfi_mixture_inliers(&r, nu).log_likelihood >= grid - 1e-9);
        }
        hfi_residuals_free(*state, &r);
    }
}

static void counts(const double *probability, double least, double tau, const double *t, size_t *found,
                   size_t *wrong)
{
    *found = *wrong = 0;
    for (size_t i = 0; i < N; i++) {
        bool flagged = probability[i] > least && fabs(t[i]) > 3.0 * tau;
        *found += i < PLANTED && flagged;
        *wrong += i >= PLANTED && flagged;
    }
}

static void planted_outliers_are_found(void **state)
{
    hf_context *ctx = *state;
    double t[N], probability[N], tau = NAN;
    size_t found, wrong, runs = 0, liberal_wrong = 0, pruned_found = 0, pruned_wrong = 0;
    for (int nu = 0; nu <= 6; nu += 3) {
        for (uint64_t seed = 1; seed <= 10; seed++, runs++) {
            make_residuals(t, N, PLANTED, seed % 2 == 0, nu, 0.25, seed);
            assert_int_equal(hfi_mixture_liberal(ctx, N, t, NULL, probability, &tau), HF_OK);
            counts(probability, 0.5, tau, t, &found, &wrong);
            assert_int_equal(found, PLANTED); /* liberal: all of them, and some more */
            assert_true(tau > 0.15 && tau < 0.35);
            liberal_wrong += wrong;
            assert_int_equal(hfi_mixture_prune(ctx, N, t, NULL, probability, &tau), HF_OK);
            counts(probability, 0.9, tau, t, &found, &wrong);
            assert_true(tau > 0.15 && tau < 0.35);
            pruned_found += found;
            pruned_wrong += wrong;
        }
    }
    assert_true(liberal_wrong <= 3 * runs);
    assert_true(100 * pruned_found >= 96 * PLANTED * runs); /* prune: hardly any more, most of them */
    assert_true(5 * pruned_wrong <= runs);
}

static void heavy_tails_are_not_outliers(void **state)
{
    hf_context *ctx = *state;
    double t[N], probability[N], tau = NAN, worst = 0.0, gain = NAN;
    size_t flagged = 0;
    for (int nu = 0; nu <= 6; nu += 2) {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            make_residuals(t, N, 0, false, nu, 1.0, seed);
            assert_int_equal(hfi_mixture_prune(ctx, N, t, NULL, probability, &tau), HF_OK);
            for (size_t i = 0; i < N; i++) flagged += probability[i] > 0.9 && fabs(t[i]) > 3.0 * tau;
            assert_int_equal(hfi_mixture_gain(ctx, N, t, NULL, &gain), HF_OK);
            worst = fmax(worst, gain);
        }
    }
    assert_true(worst < 10.0);
    assert_true(flagged < 40); /* of 8000, a tenth of them Cauchy-like */
}

/* A hump of readings on one side gains no less because one more reading is far beyond it. */
static void one_reading_far_out_hides_no_hump(void **state)
{
    hf_context *ctx = *state;
    double t[N + 1], gain = NAN, with_one = NAN;
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 3);
    for (size_t i = 0; i < N; i++)
        t[i] = i % 15 == 0 ? -4.0 - 8.0 * hfi_stream_uniform(&stream) : hfi_stream_normal(&stream);
    t[N] = -400.0;
    assert_int_equal(hfi_mixture_gain(ctx, N, t, NULL, &gain), HF_OK);
    assert_int_equal(hfi_mixture_gain(ctx, N + 1, t, NULL, &with_one), HF_OK);
    assert_true(gain > 20.0 && with_one > 10.0);
}

static void gain_is_large_under_contamination(void **state)
{
    hf_context *ctx = *state;
    double t[N], gain = NAN;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        make_residuals(t, N, PLANTED, seed % 2 == 0, 0, 1.0, seed);
        assert_int_equal(hfi_mixture_gain(ctx, N, t, NULL, &gain), HF_OK);
        assert_true(gain > 15.0);
    }
}

static void a_reading_at_infinity_does_not_hide_the_others(void **state)
{
    hf_context *ctx = *state;
    const double far[] = {1e4, 1e12, 1e300, INFINITY};
    double t[N], probability[N], tau = NAN, first[N] = {0.0};
    for (size_t k = 0; k < 4; k++) {
        size_t found, wrong;
        make_residuals(t, N, PLANTED, true, 3, 1.0, 4);
        t[0] = far[k];
        assert_int_equal(hfi_mixture_liberal(ctx, N, t, NULL, probability, &tau), HF_OK);
        counts(probability, 0.5, tau, t, &found, &wrong);
        assert_true(found >= PLANTED - 1 && wrong <= 8);
        assert_true(probability[0] > 0.99 && isfinite(tau));
        if (k == 0) memcpy(first, probability, sizeof first);
        for (size_t i = 0; i < N; i++)
            assert_near(probability[i], first[i], 1e-12); /* how far does not matter */
        assert_int_equal(hfi_mixture_prune(ctx, N, t, NULL, probability, &tau), HF_OK);
        assert_true(probability[0] > 0.9 && fabs(t[0]) > 3.0 * tau);
        double gain = NAN;
        assert_int_equal(hfi_mixture_gain(ctx, N, t, NULL, &gain), HF_OK);
        assert_true(isfinite(gain) && gain > 0.0);
    }
}

static void skipped_readings_do_not_count(void **state)
{
    hf_context *ctx = *state;
    double t[N], some[N], p_all[N], p_some[N], tau_all = NAN, tau_some = NAN, gain_all = NAN, gain_some = NAN;
    bool skip[N];
    size_t kept = 0;
    make_residuals(t, N, PLANTED, false, 3, 1.0, 5);
    for (size_t i = 0; i < N; i++) {
        skip[i] = i % 5 == 0;
        if (!skip[i]) some[kept++] = t[i];
        if (i % 10 == 0) t[i] = NAN; /* not even looked at */
    }
    assert_int_equal(hfi_mixture_gain(ctx, N, t, skip, &gain_all), HF_OK);
    assert_int_equal(hfi_mixture_gain(ctx, kept, some, NULL, &gain_some), HF_OK);
    assert_true(gain_all == gain_some);
    for (int prune = 0; prune < 2; prune++) {
        hf_status (*mixture)(hf_context *, size_t, const double *, const bool *, double *, double *) =
            prune ? hfi_mixture_prune : hfi_mixture_liberal;
        assert_int_equal(mixture(ctx, N, t, skip, p_all, &tau_all), HF_OK);
        assert_int_equal(mixture(ctx, kept, some, NULL, p_some, &tau_some), HF_OK);
        assert_true(tau_all == tau_some);
        for (size_t i = 0, j = 0; i < N; i++) assert_true(p_all[i] == (skip[i] ? 1.0 : p_some[j++]));
    }
}

static void row_order_and_units_do_not_matter(void **state)
{
    hf_context *ctx = *state;
    double t[N], mixed[N], p[N], p_mixed[N], tau = NAN, tau_mixed = NAN;
    size_t order[N];
    hfi_stream stream;
    make_residuals(t, N, PLANTED, false, 3, 1.0, 6);
    hfi_stream_init(&stream, 7, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < N; i++) order[i] = i;
    hfi_stream_shuffle(&stream, order, N);
    for (size_t i = 0; i < N; i++) mixed[i] = ldexp(t[order[i]], 40);
    for (int prune = 0; prune < 2; prune++) {
        hf_status (*mixture)(hf_context *, size_t, const double *, const bool *, double *, double *) =
            prune ? hfi_mixture_prune : hfi_mixture_liberal;
        assert_int_equal(mixture(ctx, N, t, NULL, p, &tau), HF_OK);
        assert_int_equal(mixture(ctx, N, mixed, NULL, p_mixed, &tau_mixed), HF_OK);
        assert_true(tau_mixed == ldexp(tau, 40));
        for (size_t i = 0; i < N; i++) assert_true(p_mixed[i] == p[order[i]]);
    }
}

static void assert_sensible(hf_context *ctx, size_t n, const double *t, size_t outliers)
{
    double probability[16], tau = NAN, gain = NAN;
    for (int prune = 0; prune < 2; prune++) {
        size_t flagged = 0;
        assert_int_equal(
            (prune ? hfi_mixture_prune : hfi_mixture_liberal)(ctx, n, t, NULL, probability, &tau), HF_OK);
        assert_true(isfinite(tau) && tau > 0.0);
        for (size_t i = 0; i < n; i++) {
            assert_true(probability[i] >= 0.0 && probability[i] <= 1.0);
            flagged += probability[i] > (prune ? 0.9 : 0.5) && fabs(t[i]) > 3.0 * tau;
        }
        assert_int_equal(flagged, outliers);
    }
    assert_int_equal(hfi_mixture_gain(ctx, n, t, NULL, &gain), HF_OK);
    assert_true(isfinite(gain) && gain >= 0.0);
}

static void few_and_degenerate_residuals_are_sensible(void **state)
{
    hf_context *ctx = *state;
    const double normal[] = {0.3, -1.1, 0.8, 1.6, -0.4}, three[] = {0.1, -0.2, 1e6};
    const double zeros[8] = {0.0}, equal[] = {2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0},
                 tiny[] = {5e-324, 0.0, 0.0, 0.0, 0.0};
    const double mostly_zero[] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, -7.0, 0.0, 0.0};
    const double huge[] = {1e308, -1.1e308, 0.9e308, 1.2e308, -0.8e308};
    for (size_t n = 0; n <= 5; n++) assert_sensible(ctx, n, normal, 0);
    for (size_t n = 1; n <= 3; n++) assert_sensible(ctx, n, three, 0); /* three readings cannot tell */
    assert_sensible(ctx, 8, zeros, 0);
    assert_sensible(ctx, 7, equal, 0);
    assert_sensible(ctx, 12, mostly_zero, 2);
    assert_sensible(ctx, 5, huge, 0);
    double probability[5], tau = NAN;
    assert_int_equal(hfi_mixture_liberal(ctx, 5, tiny, NULL, probability, &tau), HF_OK);
    assert_true(isfinite(tau) && tau >= 0.0);
}

static void what_is_not_a_number_is_an_error(void **state)
{
    hf_context *ctx = *state;
    const double bad[5] = {1.0, 2.0, NAN, -1.0, 0.5}, infinite[4] = {INFINITY, -INFINITY, INFINITY, 1.0};
    double probability[5] = {7.0, 7.0, 7.0, 7.0, 7.0}, tau = 7.0, gain = 7.0;
    assert_int_equal(hfi_mixture_liberal(ctx, 5, bad, NULL, probability, &tau), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "residual 2"));
    assert_int_equal(hfi_mixture_prune(ctx, 5, bad, NULL, probability, &tau), HF_ERR_NOT_FINITE);
    assert_int_equal(hfi_mixture_gain(ctx, 5, bad, NULL, &gain), HF_ERR_NOT_FINITE);
    assert_int_equal(hfi_mixture_gain(ctx, 4, infinite, NULL, &gain), HF_ERR_NOT_FINITE);
    assert_true(probability[0] == 7.0 && tau == 7.0 && gain == 7.0);
}

static hf_status sweep_liberal(hf_context *ctx)
{
    const double t[6] = {0.1, -0.5, 0.9, -1.2, 0.4, 30.0};
    double probability[6], tau;
    return hfi_mixture_liberal(ctx, 6, t, NULL, probability, &tau);
}

static hf_status sweep_prune(hf_context *ctx)
{
    const double t[6] = {0.1, -0.5, 0.9, -1.2, 0.4, 30.0};
    double probability[6], tau, gain;
    hf_status status = hfi_mixture_prune(ctx, 6, t, NULL, probability, &tau);
    return status < 0 ? status : hfi_mixture_gain(ctx, 6, t, NULL, &gain);
}

static void survives_every_failing_allocation(void **state)
{
    (void)state;
    failing_sweep(sweep_liberal);
    failing_sweep(sweep_prune);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_are_sorted_scaled_and_limited),
        cmocka_unit_test(log_likelihood_is_that_of_the_textbook),
        cmocka_unit_test(every_step_climbs),
        cmocka_unit_test(em_finds_the_top),
        cmocka_unit_test(planted_outliers_are_found),
        cmocka_unit_test(heavy_tails_are_not_outliers),
        cmocka_unit_test(gain_is_large_under_contamination),
        cmocka_unit_test(one_reading_far_out_hides_no_hump),
        cmocka_unit_test(a_reading_at_infinity_does_not_hide_the_others),
        cmocka_unit_test(skipped_readings_do_not_count),
        cmocka_unit_test(row_order_and_units_do_not_matter),
        cmocka_unit_test(few_and_degenerate_residuals_are_sensible),
        cmocka_unit_test(what_is_not_a_number_is_an_error),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
