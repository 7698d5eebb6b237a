/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bed_report.h
 * @brief Sums over the fits of the bed, as tables of Markdown.
 */
#ifndef EXPERIMENTS_BED_REPORT_H
#define EXPERIMENTS_BED_REPORT_H

#include "common/bed.h"

/** Which records to sum up. */
typedef struct bed_scope {
    const records *done;
    const bed *tables;
    bool held; /**< the half */
} bed_scope;

/** Sections (a) to (f) of a half, and the table of its data tables. */
void bed_report_half(const bed_scope *scope);
/** Which of the rows known to be odd were set aside. */
void bed_report_known(const records *done, const bed *tables);
/** Tables on which more starts reached more than 5 nats. */
void bed_report_restarts(const records *done, const bed *tables);

#endif
