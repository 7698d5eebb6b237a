/* SPDX-License-Identifier: Apache-2.0 */
/* Claims: no point of a box is against a certified one, counterexamples are against it, and radii agree with
 * what points say. */
#include "bound/box_testing.h"

#include "rigorous/rigorous.h"

#include "core/assert_near.h"
#include <holdfast/certify_claims.h>

enum {
    BOXES = 6,
    SAMPLES = 300
};

static hf_certify_settings quick(void)
{
    hf_certify_settings settings = hf_certify_settings_default();
    settings.node_limit = 2000;
    settings.tolerance = 0.05;
    return settings;
}

static hf_claim above(double v)
{
    hf_claim claim = hf_claim_default();
    claim.never_above = v;
    return claim;
}

static hf_claim_answer ask(const cert *c, hf_certify_what what, const hf_claim *claim, const double *x,
                           double *worst)
{
    hf_certify_settings settings = quick();
    hf_claim_answer out;
    hf_claim own = *claim;
    own.posterior = c->posterior;
    own.what = what;
    if (hf_certify_claims(c->ctx, &own, &settings, 1, x, c->lower, c->upper, &out, worst) < 0)
        fail_msg("%s", hf_context_message(c->ctx));
    return out;
}

/* How far a value is beyond the claim; negative: it keeps to it. */
static double beyond(const hf_claim *claim, double value, double at_point)
{
    return fmax(fmax(value - claim->never_above, claim->never_below - value),
                fabs(value - at_point) - claim->delta);
}

static void check(const cert *c, hf_certify_what what, const hf_claim *claim, const double *x,
                  hfi_stream *stream, size_t *counts)
{
    double worst[INPUTS], point[INPUTS];
    const hf_claim_answer out = ask(c, what, claim, x, worst);
    const double at_point = cert_value(c, what, 1.0, x, NULL), slack = 1e-7 * (1.0 + fabs(at_point));
    counts[out.verdict]++;
    assert_near(out.value, at_point, slack);
    assert_near(out.worst, cert_value(c, what, 1.0, worst, NULL), slack);
    for (size_t j = 0; j < INPUTS; j++) assert_true(worst[j] >= c->lower[j] && worst[j] <= c->upper[j]);
    assert_near(out.margin, -beyond(claim, out.worst, at_point), slack);
    assert_false(out.rigorous || out.estimate);
    if (out.verdict == HF_VERDICT_COUNTEREXAMPLE) assert_true(out.margin < 0.0);
    for (size_t k = 0; k < SAMPLES; k++) {
        cert_random_point(c, stream, point);
        const double value = cert_value(c, what, 1.0, point, NULL);
        assert_true(value >= out.lower && value <= out.upper);
        if (out.verdict == HF_VERDICT_CERTIFIED) assert_true(beyond(claim, value, at_point) <= slack);
    }
}

/* Limits from far inside the range to far outside of it. */
static void verdicts_agree_with_points(void **state)
{
    const char *const kernels[] = {"se(ard)", "matern52(ard)"};
    size_t counts[HF_VERDICT_OPEN + 1] = {0};
    for (size_t e = 0; e < 2; e++) {
        cert c = cert_make(*state, kernels[e], 40, e, CERT_EXACT, e == 1);
        hfi_stream stream;
        hfi_stream_init(&stream, 51, HFI_PURPOSE_TEST, e);
        for (size_t b = 0; b < BOXES; b++) {
            double x[INPUTS];
            const hf_certify_what what = b % 3 == 2 ? HF_CERTIFY_SD : HF_CERTIFY_MEAN;
            cert_place(&c, kernels[e], b % 2 ? 0.1 : 0.4, &stream);
            for (size_t j = 0; j < INPUTS; j++) x[j] = 0.5 * (c.lower[j] + c.upper[j]);
            const double v = cert_value(&c, what, 1.0, x, NULL);
            const double shares[] = {-0.5, 0.1, 3.0};
            for (size_t k = 0; k < 3; k++) {
                hf_claim claim = above(v + shares[k]);
                check(&c, what, &claim, x, &stream, counts);
                claim = hf_claim_default();
                claim.never_below = v - shares[k];
                check(&c, what, &claim, x, &stream, counts);
                claim = hf_claim_default();
                claim.delta = fabs(shares[k]);
                check(&c, what, &claim, x, &stream, counts);
            }
        }
        cert_drop(&c);
    }
    assert_true(counts[HF_VERDICT_CERTIFIED] > 10 && counts[HF_VERDICT_COUNTEREXAMPLE] > 10);
}

/* A limit that the value has at the point is neither kept nor broken for sure. */
static void limits_at_the_value_are_open(void **state)
{
    cert c = cert_make(*state, "se(ard)", 30, 2, CERT_EXACT, false);
    hfi_stream stream;
    hfi_stream_init(&stream, 52, HFI_PURPOSE_TEST, 0);
    cert_place(&c, "se(ard)", 0.2, &stream);
    double x[INPUTS];
    memcpy(x, c.lower, sizeof x);
    memcpy(c.upper, c.lower, sizeof c.upper);
    const double v = cert_value(&c, HF_CERTIFY_MEAN, 1.0, x, NULL);
    hf_claim claim = above(v);
    assert_int_equal(ask(&c, HF_CERTIFY_MEAN, &claim, x, NULL).verdict, HF_VERDICT_OPEN);
    claim = above(v + 1e-3);
    assert_int_equal(ask(&c, HF_CERTIFY_MEAN, &claim, x, NULL).verdict, HF_VERDICT_CERTIFIED);
    claim = above(v - 1e-3);
    assert_int_equal(ask(&c, HF_CERTIFY_MEAN, &claim, x, NULL).verdict, HF_VERDICT_COUNTEREXAMPLE);
    claim = hf_claim_default();
    claim.delta = 0.0;
    assert_int_equal(ask(&c, HF_CERTIFY_MEAN, &claim, x, NULL).verdict, HF_VERDICT_OPEN);
    cert_drop(&c);
}

static void proofs_say_so(void **state)
{
    if (!hfi_interval_usable()) skip(); /* under valgrind */
    cert c = cert_make(*state, "se(ard)", 20, 3, CERT_EXACT, false);
    hfi_stream stream;
    hfi_stream_init(&stream, 53, HFI_PURPOSE_TEST, 0);
    cert_place(&c, "se(ard)", 0.05, &stream);
    hf_certify_settings settings = quick();
    settings.rigorous = true;
    const double v = cert_value(&c, HF_CERTIFY_MEAN, 1.0, c.lower, NULL);
    hf_claim claims[] = {above(v + 30.0), above(v - 1e-3)};
    hf_claim_answer out;
    for (size_t k = 0; k < 2; k++) {
        claims[k].posterior = c.posterior;
        assert_true(
            hf_certify_claims(*state, &claims[k], &settings, 1, c.lower, c.lower, c.upper, &out, NULL) >= 0);
        assert_true(out.rigorous);
        assert_int_equal(out.verdict, k == 0 ? HF_VERDICT_CERTIFIED : HF_VERDICT_COUNTEREXAMPLE);
    }
    cert_drop(&c);
}

static hf_status radius(const cert *c, const hf_certify_settings *settings, const hf_claim *claim,
                        const double *x, const double *unit, double most, double accuracy,
                        hf_claim_reach *out, double *at)
{
    hf_claim own = *claim;
    own.posterior = c->posterior;
    return hf_certify_claim_radius(c->ctx, &own, settings, x, unit, most, accuracy, out, at);
}

/* Points within the certified radius keep to the claim, and the counterexample is as far as is said. */
static void radii_hold(void **state)
{
    cert c = cert_make(*state, "se(ard)", 40, 4, CERT_EXACT, false);
    hfi_stream stream;
    hfi_stream_init(&stream, 54, HFI_PURPOSE_TEST, 0);
    cert_place(&c, "se(ard)", 0.2, &stream);
    double x[INPUTS], unit[INPUTS], at[INPUTS], point[INPUTS];
    for (size_t j = 0; j < INPUTS; j++) {
        x[j] = 0.5 * (c.lower[j] + c.upper[j]);
        unit[j] = j == 1 ? 0.0 : c.posterior->scaling.x_scale[j];
    }
    const hf_certify_settings settings = quick();
    const double v = cert_value(&c, HF_CERTIFY_MEAN, 1.0, x, NULL);
    hf_claim claim = hf_claim_default();
    claim.delta = 0.5;
    hf_claim_reach r;
    assert_true(radius(&c, &settings, &claim, x, unit, 3.0, 0.02, &r, at) >= 0);
    assert_near(r.value, v, 1e-7 * (1.0 + fabs(v)));
    assert_true(r.certified > 0.01 && r.certified < r.broken && r.broken < 3.0);
    assert_true(r.certified > 0.8 * r.broken);
    assert_true(fabs(cert_value(&c, HF_CERTIFY_MEAN, 1.0, at, NULL) - v) > 0.5);
    assert_true(at[1] == x[1]);
    for (size_t j = 0; j < INPUTS; j += 2)
        assert_true(fabs(at[j] - x[j]) <= r.broken * unit[j] * (1.0 + 1e-12));
    for (size_t k = 0; k < SAMPLES; k++) {
        for (size_t j = 0; j < INPUTS; j++)
            point[j] = x[j] + r.certified * unit[j] * (2.0 * hfi_stream_uniform(&stream) - 1.0);
        assert_true(fabs(cert_value(&c, HF_CERTIFY_MEAN, 1.0, point, NULL) - v) <= 0.5 + 1e-7);
    }
    claim = above(v - 1.0); /* not even at the point */
    assert_true(radius(&c, &settings, &claim, x, NULL, 3.0, 0.02, &r, at) >= 0);
    assert_true(isnan(r.certified) && r.broken == 0.0 && memcmp(at, x, sizeof at) == 0);
    claim = above(v);
    assert_int_equal(radius(&c, &settings, &claim, x, NULL, 3.0, 0.02, &r, at), HF_WARN_NOT_CONVERGED);
    assert_true(isnan(r.certified) && isinf(r.broken) && isnan(at[0]));
    cert_drop(&c);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(verdicts_agree_with_points),
        TEST(limits_at_the_value_are_open),
        TEST(proofs_say_so),
        TEST(radii_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
