/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo_table.h
 * @brief One table of the multi-output paper: the printed number, ours with the published settings,
 * ours with the presets, and which printed numbers the presets do not reach.
 */
#ifndef EXPERIMENTS_MO_TABLE_H
#define EXPERIMENTS_MO_TABLE_H

#include "common/mo_methods.h"
#include "common/study.h"

/** A printed "mean ± sd"; the sd is that of the population. */
typedef struct mo_value {
    double mean, sd;
} mo_value;

/** One printed row. */
typedef struct mo_cell {
    const char *kind, *model;
    mo_value rmse, nlpd;
} mo_cell;

/** One draw of the data. */
typedef struct mo_draw_result {
    problem data;
    /** what the functions are at the test rows, to be freed; NULL where nobody knows */
    double *latent;
} mo_draw_result;

typedef struct mo_table {
    const char *program, *title;
    const char *kinds;    /**< comma-separated */
    const char *models;   /**< comma-separated, common/mo_methods.h */
    const char *file;     /**< needed below the folder of data, or NULL */
    bool latent;          /**< also scored against the functions */
    const mo_cell *cells; /**< what was printed */
    size_t cell_count;
    /** The data of one split; `folder` is that of the data. false: reason on standard error. */
    bool (*data)(hf_context *ctx, const char *folder, const char *kind, uint64_t seed,
                 mo_draw_result *out);
    /** The terms of the protocol. */
    void (*terms)(const char *kind, mo_terms *out);
    /** Further tables and a picture (`stem` may be NULL) from the records, or NULL: there is no
     * picture. */
    void (*more)(const records *done, const words *kinds, const words *models, const char *stem);
} mo_table;

/** The whole program: options, fits, report. Returns its exit status. */
int mo_table_main(int argc, char **argv, const mo_table *table);

/** Scores of one model over the splits; `truth` is "readings" or "functions". The sd is the
 * population's. */
summary mo_table_sum(const records *done, const char *truth, const char *kind, const char *model,
                     double (*field)(const record *));

#endif
