/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq_drift.h
 * @brief The drifting function of the paper's synthetic experiment, and the kernel that a survey of
 * it asks for.
 *
 * f_t(x) = exp(-0.05 (x - 5 sin(0.1 t))^2) + 0.5 cos(0.2 x) + 1.5 on [-50, 50], noise variance
 * 0.01. From one step to the next it moves by 0.096 at most. The survey: 60 readings of f_0 at
 * uniformly drawn places, before the first step, which the track is not told; hf_track_fit() takes
 * outputscale and lengthscale of a squared exponential kernel from them. Readings at random times
 * would mix the drift into the lengthscale.
 */
#ifndef EXPERIMENTS_SPARQ_DRIFT_H
#define EXPERIMENTS_SPARQ_DRIFT_H

#include "common/sparq_world.h"

#define DRIFT_NOISE 0.01 /**< variance */
#define DRIFT_RATE  0.1  /**< largest change of f in a step, rounded up */

/** The world; its domain is a constant of the program. */
sparq_world drift_world(size_t steps);

/** Results of the survey. */
typedef struct drift_survey {
    char kernel[120];
    double variance; /**< outputscale */
    double lengthscale;
    /** the smallest RKHS norm of a function within four standard deviations of the survey's
     * readings (less their mean) */
    double norm;
    double information; /**< of 500 evenly spread readings, in nats: about the most there can be */
} drift_survey;

/** false: reason on standard error. */
bool drift_survey_make(hf_context *ctx, uint64_t seed, drift_survey *out);
/** Largest and mean over t = 1 ... steps of sup_x |f_{t+1}(x) - f_t(x)|. */
void drift_change(size_t steps, double *largest, double *mean);
/** Average regret when every place is drawn uniformly, when it is the worst, and when it is always
 * the best fixed place. */
void drift_references(size_t steps, double *random, double *worst, double *fixed);

#endif
