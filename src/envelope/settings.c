/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of envelopes. */
#include "core/settings_rows.h"
#include "envelope/envelope.h"

#include <holdfast/closed_envelope.h>
#include <holdfast/reach.h>

#define SETTINGS hf_envelope_settings
static const hfi_setting rows[] = {
    {SIZE(jitter)},
    {COUNT(reserve, 0)},
    {FLAG(rigorous)},
};
SETTINGS_TABLE(hf_envelope_settings, "an envelope", rows)
#undef SETTINGS

#define SETTINGS hf_closed_settings
static const hfi_setting closed_rows[] = {
    {SIZE(ridge), DEFAULT(0.01)},
    {SIZE(site)},
    {SIZE(noise_sd)},
    {NUMBER(probability, 0, 1), .face.above = true, .face.below = true, DEFAULT(0.01)},
};
SETTINGS_TABLE(hf_closed_settings, "a closed form", closed_rows)
#undef SETTINGS

#define SETTINGS hf_reach_settings
static const hfi_setting reach_rows[] = {
    {COUNT(splits, 1), DEFAULT(2)},
    {FLAG(increments)},
};
SETTINGS_TABLE(hf_reach_settings, "a prediction of reach", reach_rows)

hf_status hf_envelope_get_settings(hf_context *ctx, const hf_envelope *envelope, hf_envelope_settings *out,
                                   size_t size)
{
    hf_envelope_settings own = hf_envelope_settings_default();
    if (!envelope) return hfi_refuse(ctx, "hf_envelope_get_settings: envelope is NULL");
    own.jitter = envelope->jitter;
    own.reserve = envelope->capacity - envelope->n;
    own.rigorous = envelope->rigorous;
    return hfi_settings_give(ctx, hf_envelope_settings_table(), &own, out, size);
}
