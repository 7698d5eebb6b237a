/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a tube's making fails once, and its steps need none; see test_allocation.c. */
#include "api/envelopes.h"
#include "api/sweep.h"

#include <holdfast/reach.h>

enum {
    STEPS = 3
};

static hf_status create(workshop *w)
{
    hf_context *ctx = hf_context_create();
    hf_envelope *envelope = envelopes_make(ctx, w->kernel);
    const hf_envelope *const known[1] = {envelope};
    hf_reach *out = UNTOUCHED;
    const hf_status s = settled(hf_reach_create(w->ctx, 1, 1, known, NULL, &out), out);
    if (s >= 0) hf_reach_free(out);
    hf_envelope_free(envelope);
    hf_context_free(ctx);
    return s;
}

static void making_survives(void **state)
{
    (void)state;
    RUN(CASE(create, 5));
}

/* The allocator counts: boxes and points, cold and warm, and what is refused. */
static void steps_need_no_memory(void **state)
{
    (void)state;
    meter m;
    hf_context *ctx = meter_context(&m);
    workshop w;
    workshop_open(&w, ctx);
    hf_envelope *envelope = envelopes_make(ctx, w.kernel);
    const hf_envelope *const known[1] = {envelope};
    hf_reach_settings settings = hf_reach_settings_default();
    assert_true(settings.splits == 2 && !settings.increments);
    hf_reach *reach = NULL;
    assert_int_equal(hf_reach_create(ctx, 1, 1, known, &settings, &reach), HF_OK);
    const size_t before = atomic_load(&m.made);
    assert_true(before > 0);
    for (int k = 0; k < 200; k++) {
        const double low = 0.02 * k, high = low + (k % 3 == 0 ? 0.0 : 0.1), u[STEPS] = {0.1, 0.9, 0.01 * k};
        double lower[STEPS], upper[STEPS];
        assert_true(hf_reach_tube(reach, STEPS, &low, &high, u, NULL, NULL, lower, upper) >= 0);
        for (int i = 0; i < STEPS; i++) assert_true(lower[i] <= upper[i]);
        assert_int_equal(hf_reach_tube(reach, STEPS, &low, NULL, u, NULL, NULL, lower, upper),
                         HF_ERR_ARGUMENT);
    }
    assert_int_equal(atomic_load(&m.made), before);
    hf_reach_free(reach);
    hf_envelope_free(envelope);
    workshop_close(&w);
    hf_context_free(ctx);
    assert_int_equal(atomic_load(&m.live), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(making_survives),
                                       cmocka_unit_test(steps_need_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
