/* SPDX-License-Identifier: Apache-2.0 */
/* Certified ranges with generalised spectral kernels: no point of a box is outside, and the ends are as near
 * as asked. */
#include "bound/box_testing.h"

enum {
    SAMPLES = 400
};

static const char *const kernels[] = {
    "2*se(ard)*wave(frequency~0.3) + se(ard)*wave(x1, x2, frequency~-0.6)",
    "tilt(rate~0.2)*swell(x1, frequency~0.3)*wave(x2, x3, frequency~0.5) + se(ard)",
    "se*swell(frequency~0.2) + 0.5*wave(x1, frequency~0.7)",
    "tilt(x2, rate~0.4)*matern52(ard) + 0.1*constant"};

static void check(const cert *c, const char *expression, hf_certify_what what,
                  const hf_certify_settings *settings, hfi_stream *stream)
{
    hf_range r;
    double low[INPUTS], high[INPUTS];
    if (hf_certify(c->ctx, c->posterior, what, settings, c->lower, c->upper, &r, low, high) < 0)
        fail_msg("%s: %s", expression, hf_context_message(c->ctx));
    if (settings->node_limit == 0) {
        assert_int_equal(r.stop, HF_CERTIFY_TOLERANCE);
        assert_true(r.lower_attained - r.lower <= settings->tolerance + 1e-12);
        assert_true(r.upper - r.upper_attained <= settings->tolerance + 1e-12);
    }
    assert_true(isfinite(r.lower) && isfinite(r.upper));
    for (size_t k = 0; k < SAMPLES; k++) {
        double x[INPUTS];
        for (size_t j = 0; j < INPUTS; j++) {
            const double u = hfi_stream_uniform(stream);
            x[j] = u < 0.15   ? c->lower[j]
                   : u > 0.85 ? c->upper[j]
                              : c->lower[j] + u * (c->upper[j] - c->lower[j]);
        }
        const double value = cert_value(c, what, settings->beta, x, NULL),
                     slack = what == HF_CERTIFY_MEAN ? 1e-10 : 1e-6;
        if (!(value >= r.lower - slack && value <= r.upper + slack))
            fail_msg("%s: %.15g is outside of [%.15g, %.15g]", expression, value, r.lower, r.upper);
    }
}

static void ranges_hold(void **state)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 61, HFI_PURPOSE_TEST, 0);
    for (size_t e = 0; e < sizeof kernels / sizeof *kernels; e++)
        for (int solver = 0; solver < (int)CERT_SOLVERS; solver++) {
            cert c = cert_make(*state, kernels[e], 50, 5, (cert_solver)solver, solver == 1);
            for (int w = 0; w <= (int)HF_CERTIFY_MEAN_PLUS; w++)
                for (int b = 0; b < 3; b++) {
                    hf_certify_settings settings = hf_certify_settings_default();
                    settings.tolerance = 0.05;
                    settings.beta = -1.5;
                    settings.node_limit = w == 0 && b < 2 ? 0 : 60;
                    cert_place(&c, kernels[e], b == 0 ? 0.05 : b == 1 ? 0.2 : 0.8, &stream);
                    check(&c, kernels[e], (hf_certify_what)w, &settings, &stream);
                }
            cert_drop(&c);
        }
}

/* The same by intervals, and points by both agree. */
static void proofs_hold(void **state)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 62, HFI_PURPOSE_TEST, 0);
    for (size_t e = 0; e < sizeof kernels / sizeof *kernels; e++) {
        cert c = cert_make(*state, kernels[e], 25, 5, CERT_EXACT, false);
        for (int b = 0; b < 2; b++) {
            hf_certify_settings settings = hf_certify_settings_default();
            settings.rigorous = true;
            settings.node_limit = 20;
            cert_place(&c, kernels[e], 0.1, &stream);
            check(&c, kernels[e], HF_CERTIFY_MEAN, &settings, &stream);
            check(&c, kernels[e], HF_CERTIFY_SD, &settings, &stream);
            hf_range point, proof;
            settings.node_limit = 0;
            assert_int_equal(hf_certify(c.ctx, c.posterior, HF_CERTIFY_MEAN, &settings, c.lower, c.lower,
                                        &proof, NULL, NULL),
                             HF_OK);
            settings.rigorous = false;
            assert_int_equal(hf_certify(c.ctx, c.posterior, HF_CERTIFY_MEAN, &settings, c.lower, c.lower,
                                        &point, NULL, NULL),
                             HF_OK);
            assert_true(point.lower <= proof.lower && proof.upper <= point.upper);
        }
        cert_drop(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranges_hold, make_context, drop_context),
        cmocka_unit_test_setup_teardown(proofs_hold, make_context, drop_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
