/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of saving and loading an envelope, and of the search for its kernel, fails once; see
 * test_allocation.c. */
#include "api/envelopes.h"
#include "api/sweep.h"

#include <holdfast/envelope_file.h>
#include <holdfast/envelope_kernel.h>
#include <unistd.h>

static const char path[] = "api-envelope-file.hf";

/* An envelope that no failing allocation had a part in. */
static hf_envelope *given(const workshop *w)
{
    hf_context *ctx = hf_context_create();
    hf_envelope *envelope = envelopes_make(ctx, w->kernel);
    hf_context_free(ctx);
    return envelope;
}

static hf_status save(workshop *w)
{
    hf_envelope *envelope = given(w);
    assert_int_equal(hf_envelope_settings_of(envelope)->reserve, 0);
    const hf_status s = hf_envelope_save(w->ctx, envelope, NULL, path);
    assert_int_equal(hf_file_type(path), s >= 0 ? HF_FILE_ENVELOPE : HF_FILE_OTHER);
    unlink(path);
    hf_envelope_free(envelope);
    return s;
}

static hf_status load(workshop *w)
{
    hf_envelope *envelope = given(w), *out = UNTOUCHED;
    hf_envelope_labels *labels = NULL;
    hf_context *ctx = hf_context_create();
    assert_int_equal(hf_envelope_save(ctx, envelope, NULL, path), HF_OK);
    hf_context_free(ctx);
    const hf_status s = settled(hf_envelope_load(w->ctx, path, &out, &labels), out);
    assert_true((labels != NULL) == (s >= 0));
    if (s >= 0) hf_envelope_free(out);
    hf_envelope_labels_free(labels);
    unlink(path);
    hf_envelope_free(envelope);
    return s;
}

static hf_status look_for_kernel(workshop *w)
{
    const hf_bounded_readings readings = envelopes_readings();
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    hf_parameter before, after;
    hf_kernel_search found = {.readings = 77};
    assert_int_equal(hf_kernel_parse(ctx, "se", NULL, ENVELOPES_INPUTS, &kernel), HF_OK);
    assert_int_equal(hf_kernel_parameter(kernel, 1, &before), HF_OK);
    const double value = before.value;
    const hf_status s = hf_envelope_kernel_search(w->ctx, kernel, &readings, &found);
    assert_int_equal(hf_kernel_parameter(kernel, 1, &after), HF_OK);
    assert_true((found.readings == 77) == (s < 0) && (after.value == value) == (s < 0));
    hf_kernel_free(kernel);
    hf_context_free(ctx);
    return s;
}

static void files_and_searches_survive(void **state)
{
    (void)state;
    RUN(CASE(save, 5), CASE(load, 15), CASE(look_for_kernel, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_and_searches_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
