/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of searches, of what they maximise, of trust regions and EULBO. */
#include "core/settings_rows.h"

#include <holdfast/acquire_front.h>
#include <holdfast/eulbo.h>
#include <holdfast/trust_region.h>

#define SETTINGS hf_search_settings
static const hfi_setting rows[] = {
    {COUNT(samples, 0), HELP("points of a box that are looked at (default, and 0: 256 for each input)")},
    {COUNT(starts, 0), DEFAULT(6), HELP("and so many climbs from the best of them (default 6; 0: none)")},
    {COUNT(iterations, 1), DEFAULT(40), HELP("evaluations of a climb at most (default 40)")},
    {NUMBER(resolution, 0, 0.5), UNIT("share"),
     HELP("places are rounded to multiples of this share of the sides of the box\n(default 0: not rounded)")},
};
SETTINGS_TABLE(hf_search_settings, "a search", rows)
#undef SETTINGS

#define SETTINGS hf_ucb
static const hfi_setting ucb_rows[] = {
    {LIST(mean)}, {LIST(spread)}, {FINITE(beta)}, {COUNT(contexts, 0)}, {LIST(context)}, {FLAG(minimise)},
};
SETTINGS_TABLE(hf_ucb, "a confidence bound", ucb_rows)
#undef SETTINGS

#define SETTINGS hf_acquire
static const hfi_setting acquire_rows[] = {
    {CHOICE(kind, hf_acquisition, ACQUISITION, HF_ACQUIRE_PI)},
    {LIST(posterior)},
    {NUMBER(best, -INFINITY, INFINITY)},
    {FINITE(beta)},
    {COUNT(constraints, 0)},
    {LIST(constraint)},
    {LIST(limit)},
    {COUNT(pending, 0)},
    {LIST(pending_x)},
    {COUNT(against, 0)},
    {LIST(against_x)},
    {COUNT(draws, 0)},
    {SEED(stream)},
};
SETTINGS_TABLE(hf_acquire, "an acquisition function", acquire_rows)
#undef SETTINGS

#define SETTINGS hf_acquire_front
static const hfi_setting front_rows[] = {
    {COUNT_TO(objectives, 0, 3)},
    {LIST(objective)},
    {COUNT(points, 0)},
    {LIST(values)},
    {LIST(reference)},
    {COUNT(constraints, 0)},
    {LIST(constraint)},
    {LIST(limit)},
    {COUNT(pending, 0)},
    {LIST(pending_x)},
    {COUNT(draws, 0)},
    {SEED(stream)},
};
SETTINGS_TABLE(hf_acquire_front, "an acquisition function of several objectives", front_rows)
#undef SETTINGS

#define SETTINGS hf_trust_settings
static const hfi_setting trust_rows[] = {
    {POSITIVE(side), DEFAULT(0.8)},
    {POSITIVE(smallest), DEFAULT(1.0 / 128.0)},
    {POSITIVE(largest), DEFAULT(1.6)},
    {COUNT(successes, 1), DEFAULT(10)},
    {COUNT(failures, 0)},
    {SIZE(improvement), DEFAULT(1e-3)},
};
SETTINGS_TABLE(hf_trust_settings, "a trust region", trust_rows)
#undef SETTINGS

#define SETTINGS hf_eulbo_settings
static const hfi_setting eulbo_rows[] = {
    {COUNT(batch, 1), DEFAULT(1)},
    {FINITE(best), UNSET("the largest posterior mean at a reading")},
    {CHOICE(utility, hf_eulbo_utility, EULBO_UTILITY, HF_UTILITY_EXPECTED_LOG)},
    {NUMBER(temperature, 0.01, 100), DEFAULT(0.1)},
    {POSITIVE(weight), DEFAULT(1)},
    {NUMBER(rate_model, 0, 1), DEFAULT(0.01)},
    {NUMBER(rate_points, 0, 1), DEFAULT(0.001)},
    {FLAG(joint)},
    {NUMBER(clip, 0, INFINITY), .face.above = true, DEFAULT(2)},
    {COUNT(epochs, 0), DEFAULT(30)},
    {COUNT(steps, 1), DEFAULT(8)},
    {COUNT(patience, 1), DEFAULT(3)},
    {COUNT(retries, 0), DEFAULT(8)},
    {COUNT(draws, 1), DEFAULT(128)},
    {LIST(search)},
};
SETTINGS_TABLE(hf_eulbo_settings, "EULBO", eulbo_rows)
