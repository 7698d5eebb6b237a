/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a fit of a file that is read in parts fails once; see test_allocation.c. */
#include "api/sweep.h"

/* `again`: the cache is there already. */
static hf_status stream(workshop *w, const hf_fit_settings *settings, bool again)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y", .noise = "v"};
    hf_model *out = UNTOUCHED;
    hf_fit_report report = {.readings = 77};
    if (!again) remove(w->out);
    hf_status s = settled(hf_fit_stream(w->ctx, w->csv, w->out, &columns, settings, &out, &report), out);
    assert_true((report.readings == 77) == (s < 0));
    if (s >= 0) {
        hf_model_free(out);
        remove(w->out);
    }
    return s;
}

static hf_status stream_given(workshop *w)
{
    hf_fit_settings settings = workshop_untrained();
    settings.inducing = 3;
    return stream(w, &settings, false);
}

static hf_status stream_again(workshop *w)
{
    hf_fit_settings settings = workshop_untrained();
    settings.inducing = 3;
    return stream(w, &settings, true);
}

static hf_status trained(workshop *w, hf_likelihood sites)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_OFF;
    settings.sites = sites;
    settings.inducing = 3;
    settings.minibatch = 8;
    settings.rounds = 1;
    settings.kernel = "se(iso)";
    settings.iterations = 1;
    return stream(w, &settings, true);
}

static hf_status stream_robust(workshop *w)
{
    return trained(w, HF_LIKELIHOOD_ROBUST);
}

static hf_status stream_student(workshop *w)
{
    return trained(w, HF_LIKELIHOOD_STUDENT_T);
}

static void streams_survive(void **state)
{
    (void)state;
    RUN(CASE(stream_given, 60), CASE(stream_again, 60), CASE(stream_robust, 100), CASE(stream_student, 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
