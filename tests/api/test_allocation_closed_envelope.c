/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the closed envelopes' calls and of norm estimates fails once; see test_allocation.c. */
#include "api/envelopes.h"
#include "api/sweep.h"

#include <holdfast/closed_envelope.h>

/* An envelope that no failing allocation had a part in. */
static hf_envelope *given(const workshop *w)
{
    hf_context *ctx = hf_context_create();
    hf_envelope *envelope = envelopes_make(ctx, w->kernel);
    hf_context_free(ctx);
    return envelope;
}

static hf_status create(workshop *w, hf_closed_method method)
{
    hf_envelope *envelope = given(w);
    hf_closed_envelope *out = UNTOUCHED;
    const hf_status s = settled(hf_closed_envelope_create(w->ctx, envelope, method, NULL, &out), out);
    if (s >= 0) hf_closed_envelope_free(out);
    hf_envelope_free(envelope);
    return s;
}

static hf_status ridge(workshop *w)
{
    return create(w, HF_CLOSED_RIDGE);
}

static hf_status minimum_norm(workshop *w)
{
    return create(w, HF_CLOSED_MINIMUM_NORM);
}

static hf_status ellipsoid(workshop *w)
{
    return create(w, HF_CLOSED_ELLIPSOID);
}

static hf_status confidence(workshop *w)
{
    return create(w, HF_CLOSED_GP);
}

static hf_status model(workshop *w)
{
    const double alpha[ENVELOPES_READINGS] = {1.0};
    hf_envelope *envelope = given(w);
    hf_closed_envelope *out = UNTOUCHED;
    const hf_status s = settled(hf_closed_envelope_model(w->ctx, envelope, alpha, &out), out);
    if (s >= 0) hf_closed_envelope_free(out);
    hf_envelope_free(envelope);
    return s;
}

static hf_status posterior(workshop *w)
{
    double bounds[WORKSHOP_N];
    hf_closed_envelope *out = UNTOUCHED;
    for (size_t i = 0; i < WORKSHOP_N; i++) bounds[i] = 10.0;
    const hf_status s =
        settled(hf_closed_envelope_posterior(w->ctx, w->posterior, 50.0, 0.0, bounds, &out), out);
    if (s >= 0) hf_closed_envelope_free(out);
    return s;
}

static hf_status bounds(workshop *w)
{
    hf_context *ctx = hf_context_create();
    hf_envelope *envelope = given(w);
    hf_closed_envelope *closed = NULL;
    double x[70 * ENVELOPES_INPUTS] = {0.0}, upper[70] = {-77.0};
    assert_int_equal(hf_closed_envelope_create(ctx, envelope, HF_CLOSED_RIDGE, NULL, &closed), HF_OK);
    const hf_status s = hf_closed_envelope_bounds(w->ctx, closed, 70, x, ENVELOPES_INPUTS, NULL, upper, NULL);
    assert_true((upper[0] == -77.0) == (s < 0));
    hf_closed_envelope_free(closed);
    hf_envelope_free(envelope);
    hf_context_free(ctx);
    return s;
}

static hf_status norm(workshop *w)
{
    const hf_bounded_readings readings = envelopes_readings();
    hf_norm_point curve[4] = {{77, 77.0}};
    const hf_status s = hf_norm_estimate(w->ctx, w->kernel, &readings, 4, curve);
    assert_true((curve[0].readings == 77) == (s < 0));
    return s;
}

static void closed_forms_survive(void **state)
{
    (void)state;
    RUN(CASE(ridge, 10), CASE(minimum_norm, 10), CASE(ellipsoid, 12), CASE(confidence, 10), CASE(model, 10),
        CASE(posterior, 10), CASE(bounds, 2), CASE(norm, 20));
}

static hf_status questions(workshop *w)
{
    (void)w;
    assert_true(hf_closed_settings_default().ridge == 1e-2);
    assert_true(isnan(hf_closed_envelope_radius(NULL)));
    return HF_OK;
}

static void questions_need_no_memory(void **state)
{
    (void)state;
    RUN(CASE(questions, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms_survive),
        cmocka_unit_test(questions_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
