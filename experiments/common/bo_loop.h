/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bo_loop.h
 * @brief One run of a study on a test problem: the starts, wrong values and evaluations that every
 * optimiser has.
 *
 * Judged methods have an expert: after every twentieth evaluation hf_study_expert() names a
 * reading, and what is said of it is true: believed, or doubted and corrected. Those of the random
 * design are looked at when it is done.
 *
 * Regret is of what would be recommended, by clean values. One objective: the problem's best less
 * the clean value at the recommended settings; where these break a constraint, the clean value
 * counts as the smallest of the common random design. Two: the largest hypervolume less that of the
 * clean values at the recommended settings.
 */
#ifndef EXPERIMENTS_BO_LOOP_H
#define EXPERIMENTS_BO_LOOP_H

#include "common/bo_problem.h"
#include "common/bo_table.h"

#include <holdfast/study.h>

/** The outcome of a run. */
typedef struct bo_result {
    bo_run run;
    double seen;        /**< regret at the end, were the best of the settings tried known */
    bool feasible;      /**< the last recommendation satisfies the constraints */
    size_t wrong;       /**< evaluations of which a wrong value was told */
    size_t aside;       /**< trials with a value that has no say at the end */
    size_t aside_wrong; /**< of these, of which a wrong value was told */
    size_t repeats;     /**< trials that repeat another */
    double seconds;     /**< of the processor, evaluations included */
    double longest;     /**< of the processor, for one hf_study_ask() */
} bo_result;

/** A way to run. */
typedef struct bo_method {
    const char *name, *about;
    bool uniform;  /**< uniform points, by their values as told, and no study */
    bool judged;   /**< an expert looks at one reading in twenty, and corrects it if it is wrong */
    bool informed; /**< an expert labels each wrong value as soon as it is told */
    void (*change)(hf_study_settings *settings); /**< what differs from the default, or NULL */
} bo_method;

const bo_method *bo_methods(size_t *count);
bool bo_method_known(const char *name);

/** Runs what `out->run` says: its method, share, seed and evaluations. False, with the reason on
 * standard error, where a call fails. */
bool bo_loop(hf_context *ctx, const bo_problem *problem, bo_result *out);

#endif
