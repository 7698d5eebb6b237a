/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq_world.h
 * @brief Runs of tracks in a world whose truth is known: steps, expert, regret.
 *
 * A step at time 1, 2, ...: the expert answers what the track requests, the track says where to
 * measure, the place is measured and told. The first place is drawn uniformly from the domain and
 * not asked for: the centre of the domain, where a track begins, may be a good place by accident.
 */
#ifndef EXPERIMENTS_SPARQ_WORLD_H
#define EXPERIMENTS_SPARQ_WORLD_H

#include "common/sparq_survey.h"

#include <holdfast/holdfast.h>

/** The world of a run: places and values that can be measured, and how badly they are. */
typedef struct sparq_world {
    hf_domain domain;
    size_t steps;
    size_t first;    /**< candidates: 1 + the one to begin with; 0: drawn */
    double budget;   /**< > 0: ends when the library has taken so many seconds */
    double noise_sd; /**< normal errors that are added to the values; 0 for data */
    /** so many readings and answers, each with this probability, are off by */
    double outliers;
    double least, most; /**< +- U(least, most) more */
    /** a control: measured and told from the second step on, in place of lists */
    sparq_survey survey;
    /** f at a step (1, 2, ...) and a place; NaN where nothing can be measured. */
    double (*value)(const void *user, size_t step, const double *x, size_t index);
    double (*best)(const void *user, size_t step); /**< max f */
    const void *user;
} sparq_world;

/** Record of a run. Arrays have an entry for each step that was made. */
typedef struct sparq_trace {
    size_t steps;
    double *regret;   /**< NaN where nothing could be measured */
    double *requests; /**< how many there were, or places of the survey */
    double *seconds;  /**< of the processor, for the library's calls */
    double *bytes;    /**< of the track after the step */
    hf_track_summary summary;
} sparq_trace;

/** Runs a track with these settings; own readings and answers draw from two streams of the seed, so
 * that methods meet the same errors. false: reason on standard error. */
bool sparq_run(hf_context *ctx, const sparq_world *world, const hf_track_settings *settings,
               uint64_t seed, sparq_trace *out);
/** Answers, or readings of surveys, a step. */
double sparq_answers(const sparq_trace *trace);
/** Mean regret of steps from + 1 to `to`, without those that are NaN. */
double sparq_average(const sparq_trace *trace, size_t from, size_t to);
void sparq_trace_free(sparq_trace *trace);

#endif
