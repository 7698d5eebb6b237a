/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelopes.h
 * @brief A small envelope for the tests of the public interface.
 */
#ifndef TESTS_API_ENVELOPES_H
#define TESTS_API_ENVELOPES_H

#include "api/workshop.h"

#include <holdfast/envelope.h>
#include <math.h>

#define ENVELOPES_NORM 20.0

enum {
    ENVELOPES_READINGS = 12,
    ENVELOPES_INPUTS = 2
};

/* A wave on a few points, one of them twice. */
static inline hf_bounded_readings envelopes_readings(void)
{
    static double x[ENVELOPES_READINGS * ENVELOPES_INPUTS], y[ENVELOPES_READINGS];
    for (size_t i = 0; i < ENVELOPES_READINGS; i++) {
        const double at = (double)(i == 5 ? 4 : i);
        x[i * ENVELOPES_INPUTS] = 0.4 * at;
        x[i * ENVELOPES_INPUTS + 1] = fmod(1.7 * at, 2.0);
        y[i] = sin(x[i * ENVELOPES_INPUTS]) + 0.3 * x[i * ENVELOPES_INPUTS + 1];
    }
    return (hf_bounded_readings){
        .n = ENVELOPES_READINGS, .x = x, .ldx = ENVELOPES_INPUTS, .y = y, .noise_bound = 0.1};
}

static inline hf_envelope *envelopes_make(hf_context *ctx, const hf_kernel *kernel)
{
    const hf_bounded_readings readings = envelopes_readings();
    hf_envelope *envelope = NULL;
    if (hf_envelope_create(ctx, kernel, &readings, ENVELOPES_NORM, NULL, &envelope) != HF_OK)
        fail_msg("%s", hf_context_message(ctx));
    return envelope;
}

#endif
