/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tracked.h
 * @brief What the sub-verbs of holdfast track share: a track in a file, its places and what they are called.
 */
#ifndef HF_TOOL_TRACKED_H
#define HF_TOOL_TRACKED_H

#include "tool.h"

/** A run of a sub-verb. */
typedef struct tracked {
    tool_session session;
    hf_track *track;
    size_t d, candidates;
} tracked;

/** A session for the arguments. TOOL_OK, or an exit status with nothing to close. */
int tracked_begin(tracked *run, const tool_arguments *arguments);
/** Opens the track that the first operand names. */
hf_status tracked_open(tracked *run, bool write);
/** Frees everything and ends the session; the exit status. */
int tracked_close(tracked *run, hf_status status);

/** The smallest value is looked for. */
bool tracked_minimises(const tracked *run);
/** Domain of the track. */
const hf_domain *tracked_domain(const tracked *run);
/** Name of a candidate: its label, or its number from 1 on in `buffer`. */
const char *tracked_candidate(const tracked *run, size_t index, char buffer[32]);
/** The candidate of that name; false without a message. */
bool tracked_find(const tracked *run, const char *name, size_t *index);
/** The same with a message that says what would have been right. */
hf_status tracked_find_or_refuse(tracked *run, const char *name, size_t *index);
/** "x = 3.2, y = 4", or "Queens (x = 3.2, y = 4)"; in `buffer`, which is returned. */
const char *tracked_place(const tracked *run, const double *x, char *buffer, size_t bytes);
/** The place as an object of inputs, a new reference. */
json_t *tracked_json_place(const tracked *run, const double *x);
/** Adds place, and candidate if there are such. */
void tracked_json_add_place(const tracked *run, json_t *object, const double *x);

/* ---- new tracks (track_domain.c, track_settings.c) ------------------------------------------------------------- */

/** What a new track is made of; settings point into the rest. */
typedef struct track_plan {
    hf_track_settings settings;
    const char *target;
    double *lower, *upper, *points;
    tool_names sides;   /* of --box, cut into names and ranges */
    const char **names; /* of inputs */
    const char **label; /* of candidates, or NULL */
    const char *called; /* the column of the table that labels are from, or NULL */
    hf_table *table, *ages;
} track_plan;

/** Method, and what options say about settings. */
hf_status plan_settings(tracked *run, track_plan *plan);
/** The domain by --box or --candidates. */
hf_status plan_domain(tracked *run, track_plan *plan);
void plan_free(track_plan *plan);

enum {
    TRACK_CREATE_OPTIONS = 34
};
/** Options of track create; they lie beside what reads them. */
extern const tool_option track_create_options[TRACK_CREATE_OPTIONS];

/* ---- readings and answers out of tables (track_csv.c) ------------------------------------------------------------ */

/** Tells all rows of a table, or none. *told, how many. */
hf_status tell_table(tracked *run, const char *path, size_t *told);
/** Answers to requests; rows without one are left open. In memory: the caller begins and ends the change of the file. */
hf_status answer_table(tracked *run, const char *path, size_t *answered, size_t *left);

/* ---- after a fit (track_learnt.c) -------------------------------------------------------------------------------- */

enum {
    LEARNT_BYTES = 24576 /* a quote of the shell is four */
};
/** What was learnt as options of track create, "--kernel 'se(ard, lengthscale[0]~3.1)' --noise 0.02 --drift 0.1", in `text`, which is returned; without the
 * kernel where there is more than one in its expression. */
const char *learnt_options(const tracked *run, char text[LEARNT_BYTES]);
/** Warns where more than a quarter of the readings in memory have a weight below 1/2, which were decided before the fit, and says what helps. */
void warn_of_weights(const tracked *run);

/* ---- sub-verbs ------------------------------------------------------------------------------------------------- */

extern const tool_verb verb_track_create, verb_track_ask, verb_track_tell, verb_track_refresh,
    verb_track_show, verb_track_plot, verb_track_undo;

#endif
