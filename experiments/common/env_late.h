/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_late.h
 * @brief The states of the reactor that the published program takes for those at the sampling
 * instants.
 *
 * It integrates a whole plan with steps that adapt to the error (Dormand and Prince, J. Comp. Appl.
 * Math. 6, 1980; relative tolerance 1e-3; Shampine and Reichelt, SIAM J. Sci. Comput. 18, 1997,
 * tell the rules for the step), has four states a step, and takes the first that is not before the
 * instant: up to 6 s late, by a time that depends on all feeds of the plan, those to come included.
 * The last state is at the end of the plan and not late.
 */
#ifndef EXPERIMENTS_ENV_LATE_H
#define EXPERIMENTS_ENV_LATE_H

#include "common/env_reactor.h"

#include <stddef.h>

/** `count` states, REACTOR_STATES numbers each, after `start`, one a feed. */
void reactor_late(const double start[REACTOR_STATES], const double *feeds, size_t count,
                  double *states);

#endif
