/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to saving and loading an envelope and to the search for its kernel; see test_arguments.c. */
#include "api/envelopes.h"
#include "api/refused.h"

#include <holdfast/envelope_file.h>
#include <holdfast/envelope_kernel.h>

static void files(workshop *w)
{
    hf_envelope *envelope = envelopes_make(w->ctx, w->kernel), *out = NULL;
    const hf_envelope_labels nameless = {.features = (const char *const[]){"a", NULL}, .feature_count = 2},
                             few = {.features = (const char *const[]){"a"}, .feature_count = 1},
                             counted = {.feature_count = 2};
    ARGUMENT(hf_envelope_save(w->ctx, NULL, NULL, "e.hf"));
    ARGUMENT(hf_envelope_save(w->ctx, envelope, NULL, NULL));
    assert_int_equal(hf_envelope_save(NULL, envelope, NULL, "e.hf"), HF_ERR_ARGUMENT);
    ARGUMENT(hf_envelope_save(w->ctx, envelope, &nameless, "e.hf"));
    ARGUMENT(hf_envelope_save(w->ctx, envelope, &few, "e.hf"));
    ARGUMENT(hf_envelope_save(w->ctx, envelope, &counted, "e.hf"));
    REFUSED(HF_ERR_IO, hf_envelope_save(w->ctx, envelope, NULL, "no/such/e.hf"));
    ARGUMENT(hf_envelope_load(w->ctx, NULL, &out, NULL));
    ARGUMENT(hf_envelope_load(w->ctx, "e.hf", NULL, NULL));
    assert_int_equal(hf_envelope_load(NULL, "e.hf", &out, NULL), HF_ERR_ARGUMENT);
    REFUSED(HF_ERR_IO, hf_envelope_load(w->ctx, "no/such/e.hf", &out, NULL));
    REFUSED(HF_ERR_IO, hf_envelope_load(w->ctx, ".", &out, NULL));
    assert_null(out);
    hf_envelope_labels_free(NULL);
    assert_int_equal(hf_file_type(NULL), HF_FILE_OTHER);
    assert_null(hf_envelope_settings_of(NULL));
    hf_envelope_free(envelope);
}
REFUSED_TEST(files)

static void searches(workshop *w)
{
    hf_bounded_readings readings = envelopes_readings();
    hf_kernel_search found = {.readings = 77};
    hf_kernel *kernel = NULL, *white = NULL;
    assert_int_equal(hf_kernel_parse(w->ctx, "se", NULL, ENVELOPES_INPUTS, &kernel), HF_OK);
    assert_int_equal(hf_kernel_parse(w->ctx, "se + white", NULL, ENVELOPES_INPUTS, &white), HF_OK);
    ARGUMENT(hf_envelope_kernel_search(w->ctx, NULL, &readings, &found));
    ARGUMENT(hf_envelope_kernel_search(w->ctx, kernel, NULL, &found));
    ARGUMENT(hf_envelope_kernel_search(w->ctx, white, &readings, &found));
    assert_int_equal(hf_envelope_kernel_search(NULL, kernel, &readings, &found), HF_ERR_ARGUMENT);
    readings.n = 2;
    REFUSED(HF_ERR_NO_DATA, hf_envelope_kernel_search(w->ctx, kernel, &readings, &found));
    readings = envelopes_readings();
    readings.ldx = 1;
    REFUSED(HF_ERR_DIMENSION, hf_envelope_kernel_search(w->ctx, kernel, &readings, &found));
    assert_int_equal(found.readings, 77);
    hf_kernel_free(white);
    hf_kernel_free(kernel);
}
REFUSED_TEST(searches)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_refuse),
        cmocka_unit_test(searches_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
