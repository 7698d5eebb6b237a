/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to exports; see test_arguments.c. */
#include "api/envelopes.h"
#include "api/refused.h"

#include <holdfast/export_c.h>
#include <unistd.h>

static const char path[] = "api-no-export.c";

static void models(workshop *w)
{
    hf_export_settings settings = hf_export_settings_default();
    hf_export_report report = {.data_bytes = 77};
    assert_string_equal(settings.name, "predict");
    assert_false(settings.single || settings.compact || settings.mean_only);
    ARGUMENT(hf_export_c(w->ctx, NULL, NULL, path, &report));
    ARGUMENT(hf_export_c(w->ctx, w->model, NULL, NULL, &report));
    assert_int_equal(hf_export_c(NULL, w->model, NULL, path, &report), HF_ERR_ARGUMENT);
    static const char *const names[] = {"",      "2x",     "a b",
                                        "while", "kernel", "a12345678901234567890123456789012345678901"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        settings.name = names[i];
        ARGUMENT(hf_export_c(w->ctx, w->model, &settings, path, &report));
    }
    settings = hf_export_settings_default();
    settings.compact = settings.mean_only = true;
    ARGUMENT(hf_export_c(w->ctx, w->model, &settings, path, &report));
    REFUSED(HF_ERR_IO, hf_export_c(w->ctx, w->model, NULL, "no/such/e.c", &report));
    assert_int_equal(report.data_bytes, 77);
    assert_int_not_equal(access(path, F_OK), 0);
}
REFUSED_TEST(models)

static void envelopes(workshop *w)
{
    hf_envelope *envelope = envelopes_make(w->ctx, w->kernel);
    hf_export_settings settings = hf_export_settings_default();
    ARGUMENT(hf_export_envelope_c(w->ctx, NULL, NULL, HF_CLOSED_RIDGE, NULL, path, NULL));
    ARGUMENT(hf_export_envelope_c(w->ctx, envelope, NULL, HF_CLOSED_RIDGE, NULL, NULL, NULL));
    ARGUMENT(hf_export_envelope_c(w->ctx, envelope, NULL, (hf_closed_method)9, NULL, path, NULL));
    assert_int_equal(hf_export_envelope_c(NULL, envelope, NULL, HF_CLOSED_RIDGE, NULL, path, NULL),
                     HF_ERR_ARGUMENT);
    settings.single = true;
    ARGUMENT(hf_export_envelope_c(w->ctx, envelope, NULL, HF_CLOSED_RIDGE, &settings, path, NULL));
    assert_int_not_equal(access(path, F_OK), 0);
    hf_envelope_free(envelope);
}
REFUSED_TEST(envelopes)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_refuse), cmocka_unit_test(envelopes_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
