/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of what looks at a track fail once; see test_allocation.c. Advice makes thousands of them in
 * runs that are alike: some of these. */
#include "api/sweep.h"

enum {
    READINGS = 22
};

static hf_track *survey(hf_context *ctx)
{
    static const double points[] = {-1.0, 0.0, 1.0};
    hf_track_settings s = hf_track_settings_default(HF_TRACK_GP_UCB);
    hf_track *track = NULL;
    s.domain = (hf_domain){.dimension = 1, .candidates = 3, .points = points};
    s.kernel = "se(outputscale=1, lengthscale=1.5)";
    assert_int_equal(hf_track_create(ctx, &s, &track), HF_OK);
    for (size_t i = 0; i < READINGS; i++)
        assert_int_equal(hf_track_tell(ctx, track, (double)i, &points[i % 3],
                                       cos(points[i % 3] - 0.1 * (double)i) + 0.1 * cos(7.0 * (double)i), 0.0,
                                       NULL),
                         HF_OK);
    return track;
}

static hf_status stand(workshop *w)
{
    hf_context *own = hf_context_create();
    hf_track *track = survey(own);
    double x = 77.0;
    hf_track_standing out = {.compared = 77};
    const hf_status status = hf_track_standing_of(w->ctx, track, &x, &out);
    if (status < 0) assert_true(x == 77.0 && out.compared == 77);
    hf_track_free(track);
    hf_context_free(own);
    return status;
}

static void standing_survives(void **state)
{
    (void)state;
    RUN(CASE(stand, 5));
}

static void some_of_advice(void **state)
{
    (void)state;
    meter m;
    hf_context *ctx = meter_context(&m), *own = hf_context_create();
    hf_track *track = survey(own);
    hf_advice_settings s = hf_advice_settings_default();
    hf_track_advice out = {.rows = 77};
    hf_track *learnt = UNTOUCHED;
    s.draws = s.steps = 2;
    s.queries = 1;
    const size_t live = atomic_load(&m.live);
    size_t failed = 0;
    hf_status status = HF_ERR_MEMORY;
    for (size_t k = 1; status == HF_ERR_MEMORY; k += 1 + k / 8) {
        m.fail_at = atomic_load(&m.made) + k;
        status = hf_track_advise(ctx, track, &s, &out, &learnt);
        m.fail_at = 0;
        if (status < 0) {
            failed++;
            assert_true(out.rows == 77 && learnt == UNTOUCHED);
            assert_contains(hf_context_message(ctx), "out of memory");
            assert_int_equal(atomic_load(&m.live), live);
        }
    }
    assert_true(status >= 0 && failed > 30 && out.rows > 10);
    hf_track_free(learnt);
    assert_int_equal(atomic_load(&m.live), live);
    hf_track_free(track);
    hf_context_free(own);
    hf_context_free(ctx);
    assert_int_equal(atomic_load(&m.live), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standing_survives),
        cmocka_unit_test(some_of_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
