/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file record.h
 * @brief One line of JSON per fitted model: what an experiment writes, reads back when it resumes,
 * and sums up.
 */
#ifndef EXPERIMENTS_RECORD_H
#define EXPERIMENTS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    RECORD_ROWS = 96
};

/** One method on one damaged training set. Scores are in units of the clean training targets'
 * sd. */
typedef struct record {
    char set[40];
    char kind[16];
    char method[16];
    double share;
    long split;
    size_t train, test;
    double mae, rmse, nlpd, coverage50, coverage90, coverage95;
    size_t wrong;       /**< readings that were damaged */
    size_t found;       /**< of those, how many were set aside or down-weighted below 1/4 */
    size_t false_flags; /**< undamaged readings treated so */
    bool adopted;       /**< the suspect finder acted */
    /* The next five are 0 and "" in lines of before they were measured. */
    size_t suspected;          /**< damaged readings that the finder suspects, set aside or not */
    double band;               /**< mean width of the 95 % intervals of the test rows */
    double objective;          /**< what training reached, log prior included, in nats */
    char aside[RECORD_ROWS];   /**< training rows set aside, from 1, by blanks; "..." when cut */
    char suspect[RECORD_ROWS]; /**< the same of all rows that the finder suspects */
    double kappa;
    size_t evaluations;
    double seconds;
    /** of the processor for the fit, all threads; unlike `seconds` hardly disturbed by other
     * work */
    double cpu_seconds;
    double predict_seconds; /**< for the test rows, variances included */
    /** largest memory of the process that fitted and predicted; 0 where it was not measured */
    double megabytes;
} record;

/** A record of that place without any scores: what looks a record up, or sums up those of all
 * splits. */
record record_key(const char *set, const char *kind, const char *method, double share, long split);

typedef struct records {
    record *items;
    size_t count, capacity;
    size_t
        /** hash table: 1 + place of the first item of a key, 0 where free; 2 x capacity entries */
        *slots;
} records;

/** Adds a copy; ends the program when memory is out. */
void records_add(records *list, const record *item);
void records_free(records *list);
/** The record with the key of `key` (set, kind, method, share, split), the first of several, or
 * NULL. */
const record *records_find(const records *list, const record *key);

/** Writes one line. false if a score is not finite or the stream failed. */
bool record_write(FILE *out, const record *item);
/** Reads one line. false, with the reason on standard error, if it is none. */
bool record_read(const char *line, record *out);
/** Reads a file of lines; a missing file is an empty one. false on a malformed line other than a
 * torn last one. */
bool records_load(records *list, const char *path);

/** Mean, sd (n - 1) and extremes of one field over the records that match set, kind, share and
 * method. */
typedef struct summary {
    size_t count;
    double mean, sd, least, most;
} summary;

summary records_summary(const records *list, const record *key, double (*field)(const record *));

double record_mae(const record *item);
double record_rmse(const record *item);
double record_nlpd(const record *item);
double record_coverage95(const record *item);
double record_train(const record *item);
double record_found(const record *item);
double record_wrong(const record *item);
double record_false(const record *item);
double record_adopted(const record *item);
double record_kappa(const record *item);
double record_evaluations(const record *item);
double record_seconds(const record *item);
double record_cpu_seconds(const record *item);
double record_predict_seconds(const record *item);
double record_megabytes(const record *item);

#endif
