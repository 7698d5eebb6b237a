/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the envelope's calls fails once; see test_allocation.c. */
#include "api/envelopes.h"
#include "api/sweep.h"

static hf_status create(workshop *w)
{
    const hf_bounded_readings readings = envelopes_readings();
    hf_envelope *out = UNTOUCHED;
    const hf_status s =
        settled(hf_envelope_create(w->ctx, w->kernel, &readings, ENVELOPES_NORM, NULL, &out), out);
    if (s >= 0) hf_envelope_free(out);
    return s;
}

static hf_status contradict(workshop *w)
{
    const hf_bounded_readings readings = envelopes_readings();
    hf_envelope *out = UNTOUCHED;
    const hf_status s = settled(hf_envelope_create(w->ctx, w->kernel, &readings, 1e-3, NULL, &out), out);
    return s == HF_ERR_INCONSISTENT ? HF_OK : s;
}

static hf_status consistency(workshop *w)
{
    const hf_bounded_readings readings = envelopes_readings();
    hf_consistency report = {.distinct = 77};
    size_t conflict[ENVELOPES_READINGS];
    const hf_status s =
        hf_envelope_consistency(w->ctx, w->kernel, &readings, ENVELOPES_NORM, &report, conflict);
    assert_true((report.distinct == 77) == (s < 0));
    return s;
}

/* An envelope that no failing allocation had a part in. */
static hf_envelope *given(const workshop *w)
{
    hf_context *ctx = hf_context_create();
    hf_envelope *envelope = envelopes_make(ctx, w->kernel);
    hf_context_free(ctx);
    return envelope;
}

static hf_status workspace(workshop *w)
{
    hf_envelope *envelope = given(w);
    hf_envelope_workspace *workspace = hf_envelope_workspace_create(w->ctx, envelope);
    hf_envelope_workspace_free(workspace);
    hf_envelope_free(envelope);
    return workspace ? HF_OK : w->ctx ? HF_ERR_MEMORY : HF_ERR_ARGUMENT;
}

static hf_status batch(workshop *w)
{
    hf_envelope *envelope = given(w);
    double x[70 * ENVELOPES_INPUTS] = {0.0};
    hf_bound out[70] = {{.lower = 77.0}};
    const hf_status s = hf_envelope_bounds_batch(w->ctx, envelope, 70, x, ENVELOPES_INPUTS, NULL, out);
    assert_true((out[0].lower == 77.0) == (s < 0));
    hf_envelope_free(envelope);
    return s;
}

/* One that remembers the context's allocator. */
static hf_status own(workshop *w, hf_envelope **out)
{
    const hf_bounded_readings readings = envelopes_readings();
    return hf_envelope_create(w->ctx, w->kernel, &readings, ENVELOPES_NORM, NULL, out);
}

static hf_envelope_workspace *given_workspace(const hf_envelope *envelope)
{
    hf_context *ctx = hf_context_create();
    hf_envelope_workspace *workspace = hf_envelope_workspace_create(ctx, envelope);
    assert_non_null(workspace);
    hf_context_free(ctx);
    return workspace;
}

/* The envelope grows beyond its room, or stays as it was, also for those who ask. */
static hf_status add(workshop *w)
{
    hf_envelope *envelope = NULL;
    hf_status s = own(w, &envelope);
    if (s < 0) return s;
    hf_envelope_workspace *workspace = given_workspace(envelope);
    const double x[ENVELOPES_INPUTS] = {3.0, 3.0};
    const size_t before = hf_envelope_readings(envelope);
    hf_bound first, second;
    assert_int_equal(hf_envelope_bounds(envelope, workspace, x, NULL, &first, NULL, NULL), HF_OK);
    s = hf_envelope_add(w->ctx, envelope, x, 0.0, 1.0, 1.0);
    assert_int_equal(hf_envelope_readings(envelope), before + (s >= 0 ? 1 : 0));
    hf_envelope_workspace_reset(workspace);
    const hf_status asked = hf_envelope_bounds(envelope, workspace, x, NULL, &second, NULL, NULL);
    assert_int_equal(asked, s >= 0 ? HF_ERR_ARGUMENT : HF_OK);
    if (s < 0) assert_memory_equal(&first, &second, sizeof first);
    hf_envelope_workspace_free(workspace);
    hf_envelope_free(envelope);
    return s;
}

/* A reading that contradicts the others leaves workspaces alone too, though there was no room for it. */
static hf_status refuse(workshop *w)
{
    hf_envelope *envelope = NULL;
    hf_status s = own(w, &envelope);
    if (s < 0) return s;
    hf_envelope_workspace *workspace = given_workspace(envelope);
    const double x[ENVELOPES_INPUTS] = {3.0, 3.0};
    hf_bound first, second;
    assert_int_equal(hf_envelope_bounds(envelope, workspace, x, NULL, &first, NULL, NULL), HF_OK);
    s = hf_envelope_add(w->ctx, envelope, x, 1e6, 1.0, 1.0);
    hf_envelope_workspace_reset(workspace);
    assert_int_equal(hf_envelope_bounds(envelope, workspace, x, NULL, &second, NULL, NULL), HF_OK);
    assert_memory_equal(&first, &second, sizeof first);
    hf_envelope_workspace_free(workspace);
    hf_envelope_free(envelope);
    return s == HF_ERR_INCONSISTENT ? HF_OK : s;
}

static void envelopes_survive(void **state)
{
    (void)state;
    RUN(CASE(create, 15), CASE(contradict, 15), CASE(consistency, 15), CASE(workspace, 10), CASE(batch, 10),
        CASE(add, 25), CASE(refuse, 25));
}

/* Queries allocate nothing, cold or warm, and neither do the small questions. */
static hf_status questions(workshop *w)
{
    static hf_envelope *envelope;
    static hf_envelope_workspace *workspace;
    hf_bound bound;
    hf_side side = HF_LOWER;
    size_t count, reading[ENVELOPES_READINGS];
    double gradient[2][ENVELOPES_INPUTS], nu[ENVELOPES_READINGS], lower, upper;
    const double *x;
    if (w->ctx == NULL) {
        hf_envelope_workspace_free(workspace);
        hf_envelope_free(envelope);
        return HF_OK;
    }
    if (!envelope) {
        hf_context *ctx = hf_context_create();
        envelope = envelopes_make(ctx, w->kernel);
        workspace = hf_envelope_workspace_create(ctx, envelope);
        hf_context_free(ctx);
    }
    const hf_envelope_settings settings = hf_envelope_settings_default();
    assert_true(settings.jitter == 0.0);
    for (int k = 0; k < 50; k++) {
        const double at[ENVELOPES_INPUTS] = {0.1 * k, 1.0 - 0.05 * k};
        if (k % 7 == 0) hf_envelope_workspace_reset(workspace);
        assert_int_equal(hf_envelope_bounds(envelope, workspace, at, NULL, &bound, gradient[0], gradient[1]),
                         HF_OK);
        hf_envelope_active(workspace, side, &count, reading, nu);
        assert_true(count <= ENVELOPES_READINGS);
    }
    assert_int_equal(hf_envelope_reading(envelope, 0, &x, &lower, &upper), HF_OK);
    assert_true(hf_envelope_readings(envelope) > 0 && hf_envelope_dimension(envelope) == ENVELOPES_INPUTS);
    assert_true(hf_envelope_minimum_norm(envelope) <= hf_envelope_norm(envelope));
    assert_true(hf_envelope_offset(envelope) == 0.0);
    assert_true(hf_envelope_bytes(envelope) > 0.0 && hf_envelope_kernel(envelope) != NULL);
    return HF_OK;
}

static void questions_need_no_memory(void **state)
{
    (void)state;
    RUN(CASE(questions, 0));
}

/* Readings within the reserve, taken or refused, at new inputs and old ones, without one
 * allocation; the one beyond it needs some. */
static void adding_within_the_reserve_needs_no_memory(void **state)
{
    (void)state;
    enum {
        RESERVE = 20
    };
    meter m;
    hf_context *ctx = meter_context(&m);
    workshop w;
    workshop_open(&w, ctx);
    const hf_bounded_readings readings = envelopes_readings();
    hf_envelope_settings settings = hf_envelope_settings_default();
    settings.reserve = RESERVE;
    hf_envelope *envelope = NULL;
    assert_int_equal(hf_envelope_create(ctx, w.kernel, &readings, ENVELOPES_NORM, &settings, &envelope),
                     HF_OK);
    const size_t before = atomic_load(&m.made);
    for (int k = 0; k < RESERVE; k++) {
        const double x[ENVELOPES_INPUTS] = {0.25 * k + 0.1, 0.7};
        assert_int_equal(hf_envelope_add(ctx, envelope, x, 1e6, 1.0, 1.0), HF_ERR_INCONSISTENT);
        assert_int_equal(hf_envelope_add(ctx, envelope, x, NAN, 1.0, 1.0), HF_ERR_NOT_FINITE);
        assert_int_equal(hf_envelope_add(ctx, envelope, x, sin(x[0]) + 0.3 * x[1], 0.2, 0.2), HF_OK);
        assert_int_equal(hf_envelope_add(ctx, envelope, x, sin(x[0]) + 0.3 * x[1], 0.1, INFINITY), HF_OK);
        assert_int_equal(hf_envelope_add(ctx, envelope, x, 50.0, 1.0, 1.0), HF_ERR_INCONSISTENT);
        size_t conflicting = 0;
        hf_envelope_conflict(envelope, &conflicting, NULL, NULL);
        assert_int_equal(conflicting, 1);
    }
    assert_int_equal(atomic_load(&m.made), before);
    const double beyond[ENVELOPES_INPUTS] = {-3.0, -3.0};
    assert_int_equal(hf_envelope_add(ctx, envelope, beyond, 0.0, 1.0, 1.0), HF_OK);
    assert_true(atomic_load(&m.made) > before);
    hf_envelope_free(envelope);
    workshop_close(&w);
    hf_context_free(ctx);
    assert_int_equal(atomic_load(&m.live), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adding_within_the_reserve_needs_no_memory),
        cmocka_unit_test(envelopes_survive),
        cmocka_unit_test(questions_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
