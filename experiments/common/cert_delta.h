/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cert_delta.h
 * @brief How far class probabilities can move about test points: delta = largest - least, from
 * certified bounds, so that it is too large by at most two tolerances; kept as rows, summed up, and
 * drawn as boxes.
 */
#ifndef EXPERIMENTS_CERT_DELTA_H
#define EXPERIMENTS_CERT_DELTA_H

#include "common/cert_data.h"
#include "common/env_rows.h"

#include <stdio.h>

enum {
    CERT_POINTS_MOST = 1000,
    CERT_DELTA_FIELDS = 7
};

/** Columns of the rows: delta, the part of it that was attained, seconds and whether a limit came
 * first. Columns of the model: accuracy, evaluations and seconds of the fit. */
extern const char *const cert_delta_columns[CERT_DELTA_FIELDS];

/** One model, and the points about which its probabilities are enclosed. */
typedef struct cert_delta_task {
    const char *name; /**< of the rows, before the number of the point */
    const cert_set *set;
    size_t n; /**< training points */
    cert_model model;
    double gamma;
    long points, limit;
} cert_delta_task;

/** Fits and adds the rows that are lacking, of the class that wins at the point; true without a fit
 * where none is lacking, and with a message where the fit fails. */
bool cert_delta_measure(hf_context *ctx, const cert_delta_task *task, env_rows *rows);

/** Summary of all rows of one model. */
typedef struct cert_delta_summary {
    size_t count;
    double delta[CERT_POINTS_MOST]; /**< ascending */
    double quarter, median, three_quarters, mean;
    double seconds, stopped; /**< a point; how many */
    double accuracy, evaluations;
} cert_delta_summary;

/** False where there are none. */
bool cert_delta_sum(const env_rows *rows, const char *name, cert_delta_summary *out);
/** The deltas as a here-document of gnuplot, under that name (without the $). */
void cert_delta_block(FILE *script, const env_rows *rows, const char *name, const char *block);

#endif
