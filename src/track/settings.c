/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a track: their defaults. */
#include "track/track.h"

#include <math.h>

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
                                  .tolerance = 0.5,
                                  .superseded = 0.6,
                                  .most_places = 512,
                                  .search = hf_search_settings_default()};
    settings.search.resolution = 1.0 / 2048.0;
    return settings;
}
