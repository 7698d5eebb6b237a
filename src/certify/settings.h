/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings.h
 * @brief Settings of certified ranges, as a caller gives them.
 */
#ifndef HFI_CERTIFY_SETTINGS_H
#define HFI_CERTIFY_SETTINGS_H

#include "core/settings.h"

#include <holdfast/certify_claims.h>

enum {
    /* of an attack at most */
    HFI_ATTACK_STEPS = 1000000,
    HFI_ATTACK_STARTS = 100000
};

/** hfi_settings_open() of the settings and of the region that they name, which is then *region. */
hf_status hfi_certify_open(hf_context *ctx, const hf_certify_settings *given,
                           hf_certify_settings *own, hf_region *region);

#endif
