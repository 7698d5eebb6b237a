/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to fits of files that are read in parts; see test_arguments.c. */
#include "api/refused.h"

static void streaming(workshop *w)
{
    const hf_columns columns = {.size = sizeof columns, .target = "y"}, nameless = {.size = sizeof nameless},
                     other = {.size = sizeof other, .target = "z"};
    hf_fit_settings settings = workshop_untrained();
    hf_model *out = NULL;
    const char *cache = w->out;
    ARGUMENT(hf_fit_stream(w->ctx, NULL, cache, &columns, &settings, &out, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, cache, NULL, &settings, &out, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, cache, &columns, NULL, &out, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, cache, &columns, &settings, NULL, NULL));
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, cache, &nameless, &settings, &out, NULL));
    REFUSED(HF_ERR_IO, hf_fit_stream(w->ctx, "/nonexistent.csv", cache, &columns, &settings, &out, NULL));
    REFUSED(HF_ERR_IO, hf_fit_stream(w->ctx, w->csv, "/nonexistent/c", &columns, &settings, &out, NULL));
    REFUSED(HF_ERR_IO, hf_fit_stream(w->ctx, w->csv, w->csv, &columns, &settings, &out, NULL));
    REFUSED(HF_ERR_NO_COLUMN, hf_fit_stream(w->ctx, w->csv, cache, &other, &settings, &out, NULL));
    settings.solver = HF_SOLVER_PROJECTED;
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, cache, &columns, &settings, &out, NULL));
    settings = workshop_untrained();
    settings.suspects = HF_OUTLIERS_FORCE;
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, cache, &columns, &settings, &out, NULL));
    settings = workshop_untrained();
    settings.sites = HF_LIKELIHOOD_PURSUIT;
    ARGUMENT(hf_fit_stream(w->ctx, w->csv, cache, &columns, &settings, &out, NULL));
    assert_null(out);
    remove(cache);
}

REFUSED_TEST(streaming)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streaming_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
