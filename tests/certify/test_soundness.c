/* SPDX-License-Identifier: Apache-2.0 */
/* No value is outside of its certified range: random points, corners and gradient attacks in random boxes, over kernels, solvers, sites and reasons to stop.
 * An argument k looks at k times as many points. */
#include "certify/certify_testing.h"

static size_t times = 1;

typedef struct watch {
    const char *name;
    hf_range range;
    double slack;
    size_t seen;
    double low, high;
} watch;

static void visit(double value, void *arg)
{
    watch *w = arg;
    w->seen++;
    w->low = fmin(w->low, value);
    w->high = fmax(w->high, value);
    if (!(value >= w->range.lower - w->slack && value <= w->range.upper + w->slack))
        fail_msg("%s: %.17g is not in [%.17g, %.17g] (%s)", w->name, value, w->range.lower, w->range.upper,
                 hf_certify_stop_name(w->range.stop));
}

/* What double precision makes of a prediction itself: of an sd near 0 the root of a rounding. */
static double slack_of(const cert *c, hf_certify_what what)
{
    return what == HF_CERTIFY_MEAN ? 1e-11 : 1e-8 * c->posterior->scaling.y_scale;
}

static size_t attack_range(const cert *c, const char *name, hf_certify_what what,
                           const hf_certify_settings *settings, size_t points, hfi_stream *stream)
{
    double argmin[INPUTS], argmax[INPUTS], x[INPUTS];
    watch w = {.name = name, .slack = slack_of(c, what), .low = INFINITY, .high = -INFINITY};
    if (hf_certify(c->ctx, c->posterior, what, settings, c->lower, c->upper, &w.range, argmin, argmax) < 0)
        fail_msg("%s: %s", name, hf_context_message(c->ctx));
    assert_true(w.range.lower <= w.range.lower_attained && w.range.upper_attained <= w.range.upper);
    assert_true(w.range.lower_attained == cert_value(c, what, settings->beta, argmin, NULL));
    assert_true(w.range.upper_attained == cert_value(c, what, settings->beta, argmax, NULL));
    for (size_t k = 0; k < points; k++) {
        cert_random_point(c, stream, x);
        if (k % 16 == 0)
            cert_attack(c, what, settings->beta, k % 32 ? 1.0 : -1.0, x, 12, visit, &w);
        else
            visit(cert_value(c, what, settings->beta, x, NULL), &w);
    }
    if (w.range.stop == HF_CERTIFY_TOLERANCE) {
        /* Nor is it wider than was asked for. */
        assert_true(w.range.lower_attained - w.range.lower <= settings->tolerance * (1.0 + 1e-12));
        assert_true(w.range.upper - w.range.upper_attained <= settings->tolerance * (1.0 + 1e-12));
        assert_true(w.low >= w.range.lower_attained - settings->tolerance);
        assert_true(w.high <= w.range.upper_attained + settings->tolerance);
    }
    return w.seen;
}

static size_t attack_kernel(hf_context *ctx, size_t e, cert_solver solver, bool robust, size_t points)
{
    const size_t limits[] = {1, 2, 3, 9, 40};
    const double halves[] = {0.02, 0.2, 1.0};
    const double betas[] = {2.0, -1.5};
    hfi_stream stream;
    cert c = cert_make(ctx, EXPRESSIONS[e], 40, 97 * e + 13 * (size_t)solver + robust, solver, robust);
    hfi_stream_init(&stream, 42, HFI_PURPOSE_TEST, e + 100 * (size_t)solver);
    size_t seen = 0;
    for (size_t k = 0; k < 6; k++) {
        hf_certify_settings settings = hf_certify_settings_default();
        settings.node_limit = limits[(k + e) % 5];
        settings.beta = betas[k % 2];
        settings.tolerance = 0.05;
        cert_place(&c, EXPRESSIONS[e], halves[k % 3], &stream);
        seen += attack_range(&c, EXPRESSIONS[e], HF_CERTIFY_MEAN, &settings, points, &stream);
        seen += attack_range(&c, EXPRESSIONS[e], HF_CERTIFY_SD, &settings, points, &stream);
        seen += attack_range(&c, EXPRESSIONS[e], HF_CERTIFY_MEAN_PLUS, &settings, points, &stream);
    }
    cert_drop(&c);
    return seen;
}

static void nothing_is_outside(void **state)
{
    const size_t points = 256 * times;
    size_t seen = 0;
    for (size_t e = 0; e < EXPRESSION_COUNT; e++)
        seen += attack_kernel(*state, e, (cert_solver)(e % CERT_SOLVERS), e % 2 == 0, points) +
                attack_kernel(*state, e, (cert_solver)((e + 1) % CERT_SOLVERS), e % 2 != 0, points);
    assert_true(seen > 70 * 18 * points);
}

int main(int argc, char **argv)
{
    if (argc > 1) times = (size_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_outside, make_context, drop_context)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
