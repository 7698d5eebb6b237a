/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq_summary.h
 * @brief Means over the rows whose names begin alike: realisations of one case.
 */
#ifndef EXPERIMENTS_SPARQ_SUMMARY_H
#define EXPERIMENTS_SPARQ_SUMMARY_H

#include "common/env_rows.h"

/** Mean, sd (n - 1) and extremes; without NaN. count 0: mean and sd 0. */
typedef struct sparq_summary {
    size_t count;
    double mean, sd, least, most;
} sparq_summary;

sparq_summary sparq_summarise(const env_rows *rows, const char *start, size_t column);

#endif
