/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of an export fails once, and leaves no file; see test_allocation.c. */
#include "api/envelopes.h"
#include "api/sweep.h"

#include <holdfast/export_c.h>
#include <unistd.h>

static const char path[] = "api-export.c";

static hf_status finish(hf_status s)
{
    assert_int_equal(access(path, F_OK) == 0, s >= 0);
    unlink(path);
    return s;
}

static hf_status export_double(workshop *w)
{
    hf_export_report report = {.data_bytes = 77};
    const hf_status s = finish(hf_export_c(w->ctx, w->model, NULL, path, &report));
    assert_true((report.data_bytes == 77) == (s < 0));
    return s;
}

static hf_status export_compact(workshop *w)
{
    hf_export_settings settings = hf_export_settings_default();
    settings.compact = true;
    return finish(hf_export_c(w->ctx, w->model, &settings, path, NULL));
}

static hf_status export_bound(workshop *w)
{
    hf_context *ctx = hf_context_create();
    hf_envelope *envelope = envelopes_make(ctx, w->kernel);
    const hf_status s =
        finish(hf_export_envelope_c(w->ctx, envelope, NULL, HF_CLOSED_ELLIPSOID, NULL, path, NULL));
    hf_envelope_free(envelope);
    hf_context_free(ctx);
    return s;
}

static void exports_survive(void **state)
{
    (void)state;
    RUN(CASE(export_double, 10), CASE(export_compact, 12), CASE(export_bound, 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exports_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
