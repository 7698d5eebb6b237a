/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of certified ranges and of what is made of them. */
#include "certify/certify.h"
#include "core/settings_rows.h"

#include <holdfast/certify_outputs.h>

#define QUANTITY .face.group = "quantity"
#define SEARCH   .face.group = "search"
#define LIMITS   .face.group = "limits"

#define SETTINGS hf_certify_settings
static const hfi_setting rows[] = {
    {FINITE(beta), QUANTITY, DEFAULT(1), OPTION("beta", "B", "of mean-plus, of either sign")},
    {COUNT(output, 0), QUANTITY, HELP("which of several outputs, counted from 0 (default 0)")},
    {NUMBER(tolerance, 0, INFINITY), .face.above = true, SEARCH, DEFAULT(0.01), UNIT("value"),
     OPTION("tolerance", "E",
            "how far a range may be wider than what is attained, at either\nend (default 0.01)")},
    {NUMBER(time_limit, 0, INFINITY), LIMITS, DEFAULT(60), UNIT("s"),
     OPTION("time-limit", "S", "seconds for a box (default 60; 0: no limit): wider, just as true")},
    {NUMBER(total_time, 0, INFINITY), LIMITS, UNIT("s"),
     OPTION("total-time", "S",
            "seconds for all boxes: each has an even share of what is left\n(default 0: no limit)")},
    {COUNT(node_limit, 0), LIMITS,
     OPTION("node-limit", "N", "parts that a box is split into (default 0: no limit), likewise")},
    {COUNT(memory_limit, 0), LIMITS, DEFAULT((size_t)256 << 20), UNIT("bytes"),
     OPTION("memory-limit", "M",
            "MiB for the parts of a box that are open (default 256; 0: no\nlimit), likewise")},
    {FLAG(lower_only), SEARCH, CLASHES(REFUSED(upper_only, ON)),
     HELP("the lower end of a range alone, half the work (default off)")},
    {FLAG(upper_only), SEARCH, HELP("the upper end alone (default off)")},
    {NUMBER(decide_at, -INFINITY, INFINITY), SEARCH, UNSET("never"), UNIT("value"),
     HELP("stop as soon as it is known on which side of this all values are\n(default: never)")},
    {COUNT_TO(bounds, 0, HF_BOUND_ALL), SEARCH, DEFAULT(HF_BOUND_ALL),
     HELP("bounds that are used, a sum of 1, 2 and 4 (default: all of them)")},
    {FLAG(rigorous), .face.group = "proof",
     OPTION("rigorous", NULL, "proof against rounding; probabilities of two classes only")},
    {FLAG(observed), QUANTITY,
     OPTION("observed", NULL,
            "of sd and mean-plus: the sd of a new reading, its noise in it, so\nthat mean-plus is a quantile "
            "of readings")},
    {LIST(region), SEARCH, HELP("the points of a box that are meant (default: all)")},
};
SETTINGS_TABLE(hf_certify_settings, "a certified range", rows)
#undef SETTINGS

#define SETTINGS hf_region
static const hfi_setting region_rows[] = {
    {CHOICE(shape, hf_shape, SHAPE, HF_SHAPE_L1), HELP("box (default), l2 or l1: the points whose moves, in "
                                                       "units of the\nhalf-widths, have at most norm 1")},
    {LIST(least), HELP("lower limits within which inputs stay besides (default: none)")},
    {LIST(most), HELP("upper limits, likewise")},
    {LIST(step), HELP("inputs move by whole multiples of it only; 0: freely (default)")},
    {COUNT(moves, 0), HELP("inputs that move at once, at most (default 0: all)")},
    {LIST(sets), HELP("inputs that move together while others stay (default: all)")},
    {LENGTH(set_count)},
    {LIST(centre), HELP("points that moves are counted from (default: the middles)")},
};
SETTINGS_TABLE(hf_region, "a region", region_rows)
#undef SETTINGS

#define SETTINGS hf_claim
static const hfi_setting claim_rows[] = {
    {LIST(posterior)},
    {CHOICE(what, hf_certify_what, CERTIFY_WHAT, HF_CERTIFY_MEAN_PLUS),
     HELP("the value: mean (default), sd or mean-plus, mean + beta sd")},
    {LIST(classifier)},
    {NUMBER(never_above, -INFINITY, INFINITY), DEFAULT((double)INFINITY), UNIT("value"),
     OPTION("never-above", "V",
            "a verdict instead of a range: whether the value (--what mean,\nsd, mean-plus or probability) is "
            "never above V in the box")},
    {NUMBER(never_below, -INFINITY, INFINITY), DEFAULT(-(double)INFINITY), UNIT("value"),
     OPTION("never-below", "V", "never below V, likewise; both: between them")},
    {NUMBER(delta, 0, INFINITY), DEFAULT((double)INFINITY), UNIT("value"),
     OPTION("delta", "D", "never farther than D from what it is at the point, likewise")},
};
SETTINGS_TABLE(hf_claim, "a claim", claim_rows)
#undef SETTINGS

#define SETTINGS hf_output_norm
static const hfi_setting norm_rows[] = {
    {NUMBER(p, 1, INFINITY), DEFAULT(2),
     OPTION("norm", "P", "of outputs: 1, 2 (default), inf or another power from 1 on")},
    {LIST(weight),
     OPTION("weights", "W,...",
            "of outputs: what each is multiplied by, in their order (default 1);\n1 over what counts as much "
            "in each")},
    {NUMBER(delta, 0, INFINITY), DEFAULT((double)INFINITY), UNIT("value"),
     HELP("how far the outputs together may be from those of the point\n(default: no limit)")},
};
SETTINGS_TABLE(hf_output_norm, "a norm of outputs", norm_rows)
#undef SETTINGS

#define SETTINGS hf_attack_settings
static const hfi_setting attack_rows[] = {
    {CHOICE(what, hf_certify_what, CERTIFY_WHAT, HF_CERTIFY_MEAN_PLUS),
     OPTION("what", "WHAT", "of models of readings: mean (default), sd, mean-plus (mean + B sd)")},
    {LIST(value)},
    {CHOICE(kind, hf_attack_kind, ATTACK_KIND, HF_ATTACK_PGD), DEFAULT(HF_ATTACK_PGD),
     HELP("pgd (default): many small steps; fgsm: one step along the sign of\nthe gradient")},
    {CHOICE(goal, hf_attack_goal, ATTACK_GOAL, HF_ATTACK_SMALLEST),
     OPTION("goal", "GOAL",
            "of models of readings: farthest (default) from the value in the\nrow, largest or smallest")},
    {COUNT_TO(steps, 0, HFI_ATTACK_STEPS), DEFAULT(40),
     OPTION("steps", "N", "of the projected attack (default 40)")},
    {COUNT_TO(starts, 0, HFI_ATTACK_STARTS), DEFAULT(5),
     OPTION("starts", "N",
            "of models of readings: from how many points the projected attack\nbegins, the row and others "
            "drawn from its box (default 5)")},
    {SEED(seed), HELP("seed of the points that attacks begin from (default 0)")},
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
