/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a track: their defaults. */
#include "track/track.h"

#include <math.h>

#define COUNT(names) (sizeof(names) / sizeof *(names))

static const char *const METHODS[] = {"gp-ucb",   "r-gp-ucb",  "sw-gp-ucb", "tv-gp-ucb",
                                      "w-gp-ucb", "ui-gp-ucb", "sparq",     "sparq-reuse"};
static const char *const BETA_RULES[] = {"practical", "theory", "given"};
static const char *const DISCARD_RULES[] = {"negligible", "log", "variance"};
static const char *const PLACE_RULES[] = {"variance", "upper", "dpp", "anywhere", "dpp-falling"};

hf_status hf_track_method_parse(hf_context *ctx, const char *name, hf_track_method *out)
{
    if (out == NULL) return hfi_fail(ctx, HF_ERR_ARGUMENT, "the place for the result is NULL");
    size_t index = 0;
    const hf_status s = hfi_choice_parse(ctx, "method", METHODS, COUNT(METHODS), name, &index);
    if (s == HF_OK) *out = (hf_track_method)index;
    return s;
}

const char *hf_track_method_name(hf_track_method method)
{
    return hfi_choice_name(METHODS, COUNT(METHODS), (size_t)method);
}

hf_status hf_beta_rule_parse(hf_context *ctx, const char *name, hf_beta_rule *out)
{
    if (out == NULL) return hfi_fail(ctx, HF_ERR_ARGUMENT, "the place for the result is NULL");
    size_t index = 0;
    const hf_status s = hfi_choice_parse(ctx, "rule for beta", BETA_RULES, COUNT(BETA_RULES), name, &index);
    if (s == HF_OK) *out = (hf_beta_rule)index;
    return s;
}

const char *hf_beta_rule_name(hf_beta_rule rule)
{
    return hfi_choice_name(BETA_RULES, COUNT(BETA_RULES), (size_t)rule);
}

hf_status hf_discard_rule_parse(hf_context *ctx, const char *name, hf_discard_rule *out)
{
    if (out == NULL) return hfi_fail(ctx, HF_ERR_ARGUMENT, "the place for the result is NULL");
    size_t index = 0;
    const hf_status s =
        hfi_choice_parse(ctx, "rule of discarding", DISCARD_RULES, COUNT(DISCARD_RULES), name, &index);
    if (s == HF_OK) *out = (hf_discard_rule)index;
    return s;
}

const char *hf_discard_rule_name(hf_discard_rule rule)
{
    return hfi_choice_name(DISCARD_RULES, COUNT(DISCARD_RULES), (size_t)rule);
}

hf_status hf_place_rule_parse(hf_context *ctx, const char *name, hf_place_rule *out)
{
    if (out == NULL) return hfi_fail(ctx, HF_ERR_ARGUMENT, "the place for the result is NULL");
    size_t index = 0;
    const hf_status s =
        hfi_choice_parse(ctx, "rule for places", PLACE_RULES, COUNT(PLACE_RULES), name, &index);
    if (s == HF_OK) *out = (hf_place_rule)index;
    return s;
}

const char *hf_place_rule_name(hf_place_rule rule)
{
    return hfi_choice_name(PLACE_RULES, COUNT(PLACE_RULES), (size_t)rule);
}

hf_track_settings hf_track_settings_default(hf_track_method method)
{
    const bool sparq = method == HF_TRACK_SPARQ || method == HF_TRACK_SPARQ_REUSE;
    hf_track_settings settings = {.method = method,
                                  .noise = 0.01,
                                  .age = {.kind = HF_AGE_QUADRATIC},
                                  .discard =
                                      method == HF_TRACK_SPARQ ? HF_DISCARD_LOG : HF_DISCARD_NEGLIGIBLE,
                                  .negligible = 100.0,
                                  .forgetting = NAN,
                                  .beta_rule = HF_BETA_GIVEN,
                                  .beta = 2.0,
                                  .norm_bound = 1.0,
                                  .delta = 0.05,
                                  .robust = sparq ? 2.0 : 0.0,
                                  .places = HF_PLACES_VARIANCE,
                                  .query_factor = 6.0,
                                  .query_power = 1.0,
                                  .enough = 0.5,
                                  .superseded = 0.6,
                                  .most_places = 512,
                                  .search = hf_search_settings_default()};
    settings.search.resolution = 1.0 / 2048.0;
    return settings;
}
