/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp_table.h
 * @brief One table of "Robust and Computation-Aware Gaussian Processes" (2025): the printed number,
 * ours with the published settings, ours with the defaults, and which printed numbers the defaults
 * do not beat.
 */
#ifndef EXPERIMENTS_RCAGP_TABLE_H
#define EXPERIMENTS_RCAGP_TABLE_H

typedef struct rcagp_table {
    const char *program; /**< name, for messages */
    const char *table;   /**< as in rcagp_paper.h */
    const char *title;   /**< "Table 1: ..." */
    const char *kernel;  /**< "matern32" or "se" */
    const char *kinds;   /**< comma-separated */
    const char *models;  /**< published models that the table has, comma-separated */
    const char *own;     /**< ours beside them; NULL: default,rcagp,rcsvgp */
} rcagp_table;

/** The whole program: options, fits, report. Returns its exit status. */
int rcagp_table_main(int argc, char **argv, const rcagp_table *table);

#endif
