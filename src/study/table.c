/* SPDX-License-Identifier: Apache-2.0 */
/* The one list of the members of hf_study_settings. Files of studies keep them. */
#include "study/study.h"

#define SETTINGS hf_study_settings
#include "core/settings_rows.h"

static const hfi_setting rows[] = {
    {LIST(variable)},
    {LENGTH(variables)},
    {LIST(outcome)},
    {LENGTH(outcomes)},
    {TEXT(preset), .usual = "default",
     OPTION("surrogate", "PRESET", "model of the outcomes: a preset of holdfast fit (default: default)")},
    {TEXT(kernel), OPTION("kernel", "EXPR",
                          "its kernel, of x1, x2, ... in [0, 1] (default: matern52(ard) of\n"
                          "numbers times category(ard) of categories)")},
    {CHOICE(acquisition, hf_acquisition, ACQUISITION, HF_ACQUIRE_PI), SINCE(1), DEFAULT(HF_ACQUIRE_LOG_EI),
     OPTION("acquisition", "RULE",
            "log-ei (default), ei, ucb, log-pi, pi, or thompson: maxima of drawn\n"
            "functions; of one objective")},
    {FLAG(thompson), SINCE(1)},
    {SIZE(beta), SINCE(1), DEFAULT(2), OPTION("beta", "B", "ucb: sds above the mean (default 2)"),
     CLASHES(NOT(thompson, ON), NOT(acquisition, ALL_BUT(BIT(HF_ACQUIRE_UCB))))},
    {CHOICE(reach, hf_study_reach, STUDY_REACH, HF_REACH_REGIONS), SINCE(1), DEFAULT(HF_REACH_AUTO),
     OPTION("reach", "REACH",
            "where to look: global, regions (trust regions), or auto (default):\n"
            "regions from 15 numeric variables on")},
    {COUNT_TO(regions, 1, HFI_STUDY_REGIONS), SINCE(1), DEFAULT(1),
     OPTION("regions", "R", "trust regions side by side (default 1)"),
     CLASHES(NOT(reach, BIT(HF_REACH_GLOBAL)))},
    {COUNT(region_from, 0), SINCE(1), DEFAULT(50)},
    {COUNT_TO(start, 0, 100000), SINCE(1),
     OPTION("start", "N",
            "trials that fill the space first (default: 2 for each variable and\n2, at least 5)")},
    {COUNT_TO(draws, 0, 16384), SINCE(1), DEFAULT(128),
     OPTION("draws", "N", "draws of what pending trials may turn out to be (default 128)")},
    {FLAG(robust), SINCE(1), DEFAULT(true), OPTION("no-doubt", NULL, "believe every value")},
    {COUNT(repeats, 0), SINCE(1), DEFAULT(1),
     OPTION("repeats", "K", "the study repeats a trial at most so often (default 1; 0: never)")},
    {CHOICE(expert, hf_expert_use, EXPERT_USE, HF_EXPERT_USE_MEAN), SINCE(1), .late = true,
     OPTION("expert", "USE",
            "what becomes of corrections (study label): replace (default), in place of\n"
            "the readings, or prior-mean: the surrogate's, those readings set aside")},
    {NUMBER(expires, 0, INFINITY), SINCE(1), UNIT("s"),
     OPTION("expires", "SECONDS", "give up trials that are pending for so long (default: never)")},
    {SEED(seed)},
};
SETTINGS_TABLE(hf_study_settings, "a study", rows)
