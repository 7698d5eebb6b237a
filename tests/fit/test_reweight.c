/* SPDX-License-Identifier: Apache-2.0 */
/* Re-weighting that ends with its rounds, not at a fixed point, says so with a usable result. */
#include "core/core.h"
#include <holdfast/train.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 60
};

/* The status of a robust fit with so many rounds; its message, and the weights. */
static hf_status fit(size_t rounds, char *message, size_t bytes, double weight[N])
{
    hfi_stream stream;
    double x[N], y[N];
    hf_reading reading[N];
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 3);
    for (size_t i = 0; i < N; i++) {
        x[i] = 10.0 * (double)i / N;
        y[i] = sin(x[i]) + 0.1 * hfi_stream_normal(&stream) + (i % 9 == 4 ? 1.5 : 0.0);
    }
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_OFF;
    settings.sites = HF_LIKELIHOOD_ROBUST;
    settings.rounds = rounds;
    const hf_data data = {.n = N, .d = 1, .x = x, .ldx = 1, .y = y};
    hf_posterior *posterior = NULL;
    hf_fit_report report;
    const hf_status status = hf_fit_data(ctx, &data, &settings, &posterior, &report, reading);
    assert_true(status >= 0);
    assert_non_null(posterior);
    assert_true(report.rounds <= rounds);
    strncpy(message, hf_context_message(ctx), bytes - 1);
    message[bytes - 1] = '\0';
    for (size_t i = 0; i < N; i++) weight[i] = reading[i].weight;
    hf_posterior_free(posterior);
    hf_context_free(ctx);
    return status;
}

static void rounds_that_are_not_enough_are_told(void **state)
{
    (void)state;
    char message[512];
    double early[N], late[N], moved = 0.0;
    assert_int_equal(fit(2, message, sizeof message, early), HF_WARN_NOT_CONVERGED);
    assert_non_null(strstr(message, "re-weighting stopped after 2 rounds"));
    assert_int_equal(fit(100, message, sizeof message, late), HF_OK);
    for (size_t i = 0; i < N; i++) moved = fmax(moved, fabs(early[i] - late[i]));
    assert_true(moved > 0.01); /* the remark was about something */
}

static void one_round_is_taken_as_asked_for(void **state)
{
    (void)state;
    char message[512];
    double weight[N];
    assert_int_equal(fit(1, message, sizeof message, weight), HF_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounds_that_are_not_enough_are_told),
                                       cmocka_unit_test(one_round_is_taken_as_asked_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
