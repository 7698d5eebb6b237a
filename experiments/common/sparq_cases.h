/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq_cases.h
 * @brief Which tracks the synthetic experiment runs, and what is kept of a run.
 */
#ifndef EXPERIMENTS_SPARQ_CASES_H
#define EXPERIMENTS_SPARQ_CASES_H

#include "common/sparq_drift.h"
#include "common/sparq_summary.h"

/** Where the window or forgetting of a baseline comes from. */
typedef enum sparq_source {
    SPARQ_GIVEN = 0,
    SPARQ_RECOMMENDED,    /**< hf_track_theoretical_window() with the change that there is */
    SPARQ_RECOMMENDED_ONE /**< the same with the paper's bound of 1 a step */
} sparq_source;

/** A kind of run. A member that is 0 stands for the library's default. */
typedef struct sparq_case {
    const char *group, *name;
    hf_track_method method;
    /** window, forgetting or, for methods with an age law, the rate (0: DRIFT_RATE) */
    double number;
    sparq_source source;
    hf_age_kind law;
    hf_beta_rule rule; /**< HF_BETA_PRACTICAL with beta 0: beta = 2 as by default */
    double beta;       /**< > 0: given; < 0: by `rule` */
    bool by_mean;      /**< beta = 0 */
    hf_place_rule places;
    double factor;
    size_t queries;
    double every;
    double enough; /**< 0: 0.05, at which lists are nearly always as long as Q_t */
    double robust; /**< < 0: Gaussian sites */
    double outliers;
    bool after;
    bool printed;        /**< zero mean, and SparQ drops readings above noise log t */
    bool free_mean;      /**< printed, but the mean is estimated */
    sparq_survey survey; /**< a control */
} sparq_case;

extern const sparq_case sparq_cases[];
extern const size_t sparq_case_count;

/** Names of groups in their order, with a heading each. */
typedef struct sparq_group {
    const char *name, *heading;
} sparq_group;
extern const sparq_group sparq_groups[];
extern const size_t sparq_group_count;
/** The case, or NULL. */
const sparq_case *sparq_case_find(const char *group, const char *name);

enum {
    SPARQ_CHECKS = 13
};
/** Steps whose average regret is kept. */
extern const size_t sparq_checks[SPARQ_CHECKS];

/** Numbers that are kept: average regret up to each of the steps (NaN beyond the end), then of the
 * second half and of the whole, and answers a step. */
typedef enum sparq_column {
    SPARQ_HALF = SPARQ_CHECKS,
    SPARQ_ALL,
    SPARQ_ANSWERS,
    SPARQ_COLUMNS
} sparq_column;
extern const char *const sparq_columns[SPARQ_COLUMNS];

/** The settings of its track; `survey` must stay. false: reason on standard error. */
bool sparq_case_settings(hf_context *ctx, const sparq_case *c, const drift_survey *survey,
                         size_t steps, hf_track_settings *s);
/** Runs a case on one realisation. `values`: the columns; `requests`: how many requests there were
 * at each of the steps. false: reason on standard error. */
bool sparq_case_run(hf_context *ctx, const sparq_case *c, size_t steps, uint64_t seed,
                    double values[SPARQ_COLUMNS], double requests[SPARQ_CHECKS]);

/** Over the realisations that there are; `prefix` as for sparq_row_name(). */
sparq_summary sparq_case_summary(const env_rows *rows, const char *prefix, const sparq_case *c,
                                 size_t column);
/** The name of a row. */
void sparq_row_name(const char *prefix, const sparq_case *c, long seed, char *out, size_t size);

#endif
