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

#define SETTINGS hf_envelope_limits
static const hfi_setting limit_rows[] = {
    {COUNT(pivots, 0)},
    {SIZE(seconds)},
    {SIZE(gap)},
};
SETTINGS_TABLE(hf_envelope_limits, "limits of a query", limit_rows)
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

const hf_envelope_settings *hf_envelope_settings_of(const hf_envelope *envelope)
{
    return envelope ? &envelope->settings : NULL;
}
