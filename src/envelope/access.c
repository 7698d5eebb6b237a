/* SPDX-License-Identifier: Apache-2.0 */
/* How an envelope was set up. */
#include "envelope/envelope.h"

hf_envelope_settings hf_envelope_get_settings(const hf_envelope *envelope)
{
    if (!envelope) return hf_envelope_settings_default();
    return (hf_envelope_settings){.jitter = envelope->jitter,
                                  .reserve = envelope->capacity - envelope->n,
                                  .rigorous = envelope->rigorous};
}
