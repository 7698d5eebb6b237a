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

const char *hf_certify_stop_name(hf_certify_stop stop)
{
    static const char *const NAMES[] = {"tolerance", "decided",      "time limit", "node limit",
                                        "rounding",  "memory limit", "not finite"};
    return hfi_choice_name(NAMES, sizeof NAMES / sizeof *NAMES, (size_t)stop);
}

hf_region hf_region_default(void)
{
    return (hf_region){.shape = HF_SHAPE_BOX};
}

const char *hf_shape_name(hf_shape shape)
{
    static const char *const NAMES[] = {"box", "l2", "l1"};
    return hfi_choice_name(NAMES, sizeof NAMES / sizeof *NAMES, (size_t)shape);
}
