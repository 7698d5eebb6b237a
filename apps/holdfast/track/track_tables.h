/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track_tables.h
 * @brief What a track remembers, as tables.
 */
#ifndef HF_TOOL_TRACK_TABLES_H
#define HF_TOOL_TRACK_TABLES_H

#include "track/tracked.h"

/** Columns of history: these, the inputs, and from TRACK_FIXED + d on those of the next list. */
enum {
    TRACK_NUMBER = 0, /* of the entry */
    TRACK_ID,         /* of a reading or request */
    TRACK_REQUEST,
    TRACK_TIME,
    TRACK_FIXED
};
enum {
    TRACK_Y = 0,
    TRACK_NOISE,
    TRACK_WEIGHT,
    TRACK_MEAN,  /* asked */
    TRACK_SD,    /* asked, requested */
    TRACK_BOUND, /* asked */
    TRACK_BEST,  /* truth */
    TRACK_VALUE, /* truth */
    TRACK_AFTER
};

/** Events in order: numbers in rows, NaN where there are none. */
typedef struct track_history {
    size_t d, columns; /* TRACK_FIXED + d + TRACK_AFTER */
    size_t count, room;
    double *numbers; /* count x columns */
    size_t *kind;    /* count: hf_track_entry_kind */
    bool failed;     /* out of memory */
} track_history;

hf_status track_history_read(tracked *run, track_history *out);
void track_history_free(track_history *history);
/** A number of a row, `after` in the second list. */
double track_history_after(const track_history *history, size_t row, size_t after);

/** The column "candidate" by names: row i is of candidate choice[i], SIZE_MAX for none. */
hf_status track_candidate_column(const tracked *run, hf_table *table, const size_t *choice);
/** Tables of history, and of the readings in memory. */
hf_status track_history_table(tracked *run, const char *path);
hf_status track_readings_table(tracked *run, const char *path);

#endif
