/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_reactor.h
 * @brief The stirred-tank reactor of the envelope paper's Example 3: two concentrations, one feed,
 * sampled every 30 s.
 *
 *     cA' = u (5.1 - cA) - r1 cA - r3 cA^2,     cB' = - u cB + r1 cA - r2 cB          [1/h],     r1 = r2
 *
 * with Arrhenius rates at 114.19 degrees Celsius. This is what the published program integrates;
 * the paper prints a square on cB and rates per second beside a feed per hour.
 */
#ifndef EXPERIMENTS_ENV_REACTOR_H
#define EXPERIMENTS_ENV_REACTOR_H

enum {
    REACTOR_STATES = 2
};

/** Constraints: REACTOR_LOW[j] <= state j <= REACTOR_HIGH[j], and the feed. */
extern const double reactor_low[REACTOR_STATES], reactor_high[REACTOR_STATES];
extern const double reactor_target[REACTOR_STATES];
#define REACTOR_FEED_LOW    3.0
#define REACTOR_FEED_HIGH   25.0
#define REACTOR_FEED_TARGET 14.19

/** Its derivative per hour. */
void reactor_slope(const double x[REACTOR_STATES], double u, double out[REACTOR_STATES]);
/** The state 30 s later, u held: classical Runge-Kutta, 15 steps of 2 s. x and next may be the
 * same. */
void reactor_step(const double x[REACTOR_STATES], double u, double next[REACTOR_STATES]);

#endif
