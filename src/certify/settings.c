/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of certified ranges and of what is made of them. */
#include "certify/certify.h"
#include "core/settings_rows.h"

#include <holdfast/certify_outputs.h>

#define SETTINGS hf_certify_settings
static const hfi_setting rows[] = {
    {FINITE(beta), DEFAULT(1)},
    {COUNT(output, 0)},
    {NUMBER(tolerance, 0, INFINITY), .face.above = true, DEFAULT(0.01)},
    {NUMBER(time_limit, 0, INFINITY), DEFAULT(60), UNIT("s")},
    {NUMBER(total_time, 0, INFINITY), UNIT("s")},
    {COUNT(node_limit, 0)},
    {COUNT(memory_limit, 0), DEFAULT((size_t)256 << 20), UNIT("bytes")},
    {FLAG(lower_only), CLASHES(REFUSED(upper_only, ON))},
    {FLAG(upper_only)},
    {NUMBER(decide_at, -INFINITY, INFINITY), UNSET("never")},
    {COUNT_TO(bounds, 0, HF_BOUND_ALL), DEFAULT(HF_BOUND_ALL)},
    {FLAG(rigorous)},
    {FLAG(observed)},
    {LIST(region)},
};
SETTINGS_TABLE(hf_certify_settings, "a certified range", rows)
#undef SETTINGS

#define SETTINGS hf_region
static const hfi_setting region_rows[] = {
    {CHOICE(shape, hf_shape, SHAPE, HF_SHAPE_L1)},
    {LIST(least)},
    {LIST(most)},
    {LIST(step)},
    {COUNT(moves, 0)},
    {LIST(sets)},
    {LENGTH(set_count)},
    {LIST(centre)},
};
SETTINGS_TABLE(hf_region, "a region", region_rows)
#undef SETTINGS

#define SETTINGS hf_claim
static const hfi_setting claim_rows[] = {
    {LIST(posterior)},
    {CHOICE(what, hf_certify_what, CERTIFY_WHAT, HF_CERTIFY_MEAN_PLUS)},
    {LIST(classifier)},
    {NUMBER(never_above, -INFINITY, INFINITY), DEFAULT((double)INFINITY)},
    {NUMBER(never_below, -INFINITY, INFINITY), DEFAULT(-(double)INFINITY)},
    {NUMBER(delta, 0, INFINITY), DEFAULT((double)INFINITY)},
};
SETTINGS_TABLE(hf_claim, "a claim", claim_rows)
#undef SETTINGS

#define SETTINGS hf_output_norm
static const hfi_setting norm_rows[] = {
    {NUMBER(p, 1, INFINITY), DEFAULT(2)},
    {LIST(weight)},
    {NUMBER(delta, 0, INFINITY), DEFAULT((double)INFINITY)},
};
SETTINGS_TABLE(hf_output_norm, "a norm of outputs", norm_rows)
#undef SETTINGS

#define SETTINGS hf_attack_settings
static const hfi_setting attack_rows[] = {
    {CHOICE(what, hf_certify_what, CERTIFY_WHAT, HF_CERTIFY_MEAN_PLUS)},
    {LIST(value)},
    {CHOICE(kind, hf_attack_kind, ATTACK_KIND, HF_ATTACK_PGD), DEFAULT(HF_ATTACK_PGD)},
    {CHOICE(goal, hf_attack_goal, ATTACK_GOAL, HF_ATTACK_SMALLEST)},
    {COUNT_TO(steps, 0, HFI_ATTACK_STEPS), DEFAULT(40)},
    {COUNT_TO(starts, 0, HFI_ATTACK_STARTS), DEFAULT(5)},
    {SEED(seed)},
};
SETTINGS_TABLE(hf_attack_settings, "an attack", attack_rows)
#undef SETTINGS

#define SETTINGS hf_linear_settings
static const hfi_setting linear_rows[] = {
    {COUNT(output, 0)},
    {COUNT(pairs, 0), DEFAULT(1000)},
    {SIZE(width)},
    {SEED(seed)},
};
SETTINGS_TABLE(hf_linear_settings, "a linear explanation", linear_rows)

hf_status hfi_certify_open(hf_context *ctx, const hf_certify_settings *given, hf_certify_settings *own,
                           hf_region *region)
{
    const hf_status status = hfi_settings_open(ctx, hf_certify_settings_table(), given, own);
    if (status < 0 || !own->region) return status;
    const hf_region *other = own->region;
    own->region = region;
    return hfi_settings_open(ctx, hf_region_table(), other, region);
}
