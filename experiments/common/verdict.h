/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file verdict.h
 * @brief Tables of what was measured, in Markdown, and which of the aims they meet.
 */
#ifndef EXPERIMENTS_VERDICT_H
#define EXPERIMENTS_VERDICT_H

#include "common/record.h"

/** One damage: what was done to the training rows. */
typedef struct damage {
    const char *kind;
    double share;
} damage;

/** One row per damage and method of a set that has records. */
void verdict_table(const records *list, const char *set, const damage *damages, size_t count);

/** How many aims were met and missed. */
typedef struct verdict {
    size_t met, missed;
} verdict;

/** The heading of the table that verdict_aims() adds rows to. */
void verdict_heading(void);

/** Aims for one set: mean MAE of "default" at most `limit` times its own clean mean; no split above
 * twice its own clean value; clean MAE and RMSE at most 1 % and NLPD at most 0.03 worse than "gp";
 *  95 % intervals that cover 90 to 98 %.
 *  Prints each with its number and, beside it, what the oracle reaches; counts in *v. */
void verdict_aims(const records *list, const char *set, double limit, const damage *damages,
                  size_t count, verdict *v);

#endif
