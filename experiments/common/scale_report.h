/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file scale_report.h
 * @brief Cost and quality of large fits, in tables: one row a fit, and how cost grows
 * with the rows.
 */
#ifndef EXPERIMENTS_SCALE_REPORT_H
#define EXPERIMENTS_SCALE_REPORT_H

#include "common/record.h"

/** One row for every combination of set (with its rows), damage and method that has records. The
 * ratio is RMSE over the RMSE of the same method on the same rows undamaged. */
void scale_table(const records *list);

/** For every method of a set that was run on at least three numbers of rows: the slopes of log
 * seconds (processor time of the fit, time of the prediction) and log memory against log n. They
 * come from least squares over both kinds of damage. */
void scale_exponents(const records *list);

#endif
