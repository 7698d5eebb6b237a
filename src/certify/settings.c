/* SPDX-License-Identifier: Apache-2.0 */
#include <holdfast/certify.h>

#include "core/core.h"
#include <math.h>

hf_certify_settings hf_certify_settings_default(void)
{
    return (hf_certify_settings){.beta = 1.0,
                                 .tolerance = 0.01,
                                 .time_limit = 60.0,
                                 .memory_limit = (size_t)256 << 20,
                                 .decide_at = (double)NAN,
                                 .bounds = HF_BOUND_ALL};
}

hf_region hf_region_default(void)
{
    return (hf_region){.shape = HF_SHAPE_BOX};
}
