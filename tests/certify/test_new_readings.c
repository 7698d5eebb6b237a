/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of the sd and of quantiles of a new reading: no point of a box is outside, ends are attained, proofs
 * and claims agree. */
#include "bound/box_testing.h"

#include "rigorous/rigorous.h"

#include "core/assert_near.h"
#include <holdfast/certify_flip.h>

enum {
    SAMPLES = 120
};

static const double calibration = 1.3;

/* By predictions: of a new reading. */
static double value_of(const cert *c, hf_certify_what what, double beta, const double *x)
{
    double mean, var;
    assert_int_equal(hf_predict(c->ctx, c->posterior, 1, x, INPUTS, &mean, NULL, &var), HF_OK);
    return what == HF_CERTIFY_SD ? sqrt(var) : mean + beta * sqrt(var);
}

static hf_certify_settings new_ones(double beta, double tolerance)
{
    hf_certify_settings settings = hf_certify_settings_default();
    settings.observed = true;
    settings.beta = beta;
    settings.tolerance = tolerance;
    settings.node_limit = 600;
    return settings;
}

/* Returns whether the search came to its end. */
static bool check(cert *c, hf_certify_what what, const hf_certify_settings *settings, hfi_stream *stream)
{
    double at[2][INPUTS], x[INPUTS];
    hf_range r;
    if (hf_certify(c->ctx, c->posterior, what, settings, c->lower, c->upper, &r, at[0], at[1]) < 0)
        fail_msg("%s", hf_context_message(c->ctx));
    for (int k = 0; k < 2; k++) {
        const double there = value_of(c, what, settings->beta, at[k]);
        assert_near(there, k ? r.upper_attained : r.lower_attained, 1e-8 * (1.0 + fabs(there)));
    }
    for (size_t k = 0; k < SAMPLES; k++) {
        cert_random_point(c, stream, x);
        const double value = value_of(c, what, settings->beta, x), slack = 1e-12 * (1.0 + fabs(value));
        if (value < r.lower - slack || value > r.upper + slack)
            fail_msg("%.15g is outside of [%.15g, %.15g]", value, r.lower, r.upper);
    }
    if (r.stop != HF_CERTIFY_TOLERANCE) return false;
    assert_true(r.lower_attained - r.lower <= settings->tolerance * (1.0 + 1e-9));
    assert_true(r.upper - r.upper_attained <= settings->tolerance * (1.0 + 1e-9));
    return true;
}

static void nothing_is_outside(void **state)
{
    static const char *const kernels[] = {"se(ard)", "matern52(ard)", "matern12 + 0.1*white", "se*periodic"};
    static const double betas[] = {1.96, -1.96, 0.3};
    size_t ended = 0, all = 0;
    for (size_t e = 0; e < sizeof kernels / sizeof *kernels; e++) {
        cert c = cert_make(*state, kernels[e], 30, e, (cert_solver)(e % CERT_SOLVERS), e == 1);
        hfi_stream stream;
        hfi_stream_init(&stream, 81, HFI_PURPOSE_TEST, e);
        c.posterior->calibration = calibration;
        for (size_t k = 0; k < 6; k++) {
            hf_certify_settings settings = new_ones(betas[k % 3], 0.1);
            const hf_certify_what what = k == 2 || k == 4 ? HF_CERTIFY_SD : HF_CERTIFY_MEAN_PLUS;
            settings.bounds = k == 5 ? HF_BOUND_DECOMPOSITION : HF_BOUND_ALL;
            cert_place(&c, kernels[e], k % 2 ? 0.3 : 0.05, &stream);
            if (k == 3) memcpy(c.upper, c.lower, sizeof c.upper); /* a point */
            ended += check(&c, what, &settings, &stream);
            all++;
        }
        cert_drop(&c);
    }
    assert_true(ended > all / 3);
}

/* The noise is the least that a new reading's sd can be, and mean alone knows of none. */
static void noise_is_added(void **state)
{
    cert c = cert_make(*state, "se(ard)", 40, 2, CERT_EXACT, false);
    hfi_stream stream;
    hf_range r, without;
    hf_certify_settings settings = new_ones(1.0, 1e-3);
    hfi_stream_init(&stream, 82, HFI_PURPOSE_TEST, 0);
    c.posterior->calibration = calibration;
    cert_place(&c, "se(ard)", 0.1, &stream);
    const double least = sqrt(calibration * hf_posterior_noise(c.posterior));
    assert_true(hf_certify(*state, c.posterior, HF_CERTIFY_SD, &settings, c.lower, c.upper, &r, NULL, NULL) >=
                0);
    assert_true(r.lower >= least * (1.0 - 1e-9));
    for (int k = 0; k < 2; k++) {
        settings.observed = k == 0;
        assert_true(hf_certify(*state, c.posterior, HF_CERTIFY_MEAN, &settings, c.lower, c.upper,
                               k ? &without : &r, NULL, NULL) >= 0);
    }
    assert_true(r.lower == without.lower && r.upper == without.upper);
    cert_drop(&c);
}

static void proofs_hold_what_is_attained(void **state)
{
    if (!hfi_interval_usable()) skip(); /* under valgrind */
    cert c = cert_make(*state, "se(ard) + 0.2*white", 16, 4, CERT_EXACT, false);
    hfi_stream stream;
    hfi_stream_init(&stream, 83, HFI_PURPOSE_TEST, 0);
    c.posterior->calibration = calibration;
    for (int k = 0; k < 3; k++) {
        const hf_certify_what what = k == 1 ? HF_CERTIFY_SD : HF_CERTIFY_MEAN_PLUS;
        hf_certify_settings settings = new_ones(k == 2 ? -1.5 : 1.5, 0.1);
        hf_range proved, quick;
        settings.node_limit = 60;
        cert_place(&c, "se(ard)", 0.02, &stream);
        assert_true(hf_certify(*state, c.posterior, what, &settings, c.lower, c.upper, &quick, NULL, NULL) >=
                    0);
        settings.rigorous = true;
        assert_true(hf_certify(*state, c.posterior, what, &settings, c.lower, c.upper, &proved, NULL, NULL) >=
                    0);
        assert_true(proved.rigorous && proved.lower <= quick.upper_attained + 1e-9);
        assert_true(proved.lower <= quick.lower_attained && proved.upper >= quick.upper_attained);
        assert_true(quick.lower <= proved.lower_attained && quick.upper >= proved.upper_attained);
        assert_true(proved.upper - proved.lower < quick.upper - quick.lower + 0.5);
    }
    cert_drop(&c);
}

/* "A new reading is below this with 97.5 %", and the nearest point where it is not. */
static void claims_of_quantiles(void **state)
{
    cert c = cert_make(*state, "se(ard)", 30, 6, CERT_EXACT, false);
    hfi_stream stream;
    double x[INPUTS], unit[INPUTS], example[INPUTS];
    hf_certify_settings settings = new_ones(1.96, 0.1);
    hfi_stream_init(&stream, 84, HFI_PURPOSE_TEST, 0);
    c.posterior->calibration = calibration;
    cert_place(&c, "se(ard)", 0.3, &stream);
    for (size_t j = 0; j < INPUTS; j++) {
        x[j] = 0.5 * (c.lower[j] + c.upper[j]);
        unit[j] = c.upper[j] - x[j];
    }
    hf_claim claim = hf_claim_default();
    claim.posterior = c.posterior;
    claim.what = HF_CERTIFY_MEAN_PLUS;
    const double here = value_of(&c, claim.what, 1.96, x);
    claim.never_above = here + 0.5;
    for (int kind = 0; kind <= HF_FLIP_FEWEST; kind++) {
        hf_flip f;
        assert_true(hf_certify_flip(*state, &claim, (hf_flip_kind)kind, &settings, x, unit, 2.0, 0.05, &f,
                                    example) >= 0);
        assert_near(f.value, here, 1e-7 * (1.0 + fabs(here)));
        assert_true(isfinite(f.distance));
        assert_true(value_of(&c, claim.what, 1.96, example) > claim.never_above);
        assert_near(f.flipped, value_of(&c, claim.what, 1.96, example), 1e-7 * (1.0 + fabs(here)));
    }
    cert_drop(&c);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_outside),
        TEST(noise_is_added),
        TEST(proofs_hold_what_is_attained),
        TEST(claims_of_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
