/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tracked.h
 * @brief Shared by the sub-verbs of holdfast track: a track in a file, its places and what they
 * are called.
 */
#ifndef HF_TOOL_TRACKED_H
#define HF_TOOL_TRACKED_H

#include "shell/settings.h"

#include <holdfast/track_advice.h>

/** A run of a sub-verb. */
typedef struct tracked {
    const tool_arguments *arguments;
    tool_session session;
    hf_track *track;
    size_t d, candidates;
    const char *target;       /* of a track without a file, or NULL */
    const char *const *label; /* of its candidates, or NULL */
} tracked;

/** Runs a verb whose work is its member `track`, in a session; the exit status. */
int tracked_run(const tool_arguments *arguments);
/** Members of a verb about one track: that work. */
#define TRACKED(function) TOOL_RUN(1, 1, tracked_run), .track = (function)
/** Opens the track that the first operand names. */
hf_status tracked_open(tracked *run, bool write);

/** The smallest value is looked for. */
bool tracked_minimises(const tracked *run);
/** The name of the target, which is maximised or minimised. */
const char *tracked_target(const tracked *run);
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
/** Adds place, and candidate if there are such. */
void tracked_json_add_place(const tracked *run, json_t *object, const double *x);
/** An open request; a new reference. */
json_t *tracked_json_request(const tracked *run, const hf_track_request *r);

/* ---- new tracks (track_domain.c, track_settings.c) ------------------------------------------- */

/** Parts of a new track; settings point into the rest. */
typedef struct track_plan {
    hf_track_settings settings;
    const char *target;
    double *lower, *upper, *points;
    tool_names sides;   /* of --box, cut into names and ranges */
    const char **names; /* of inputs */
    const char **label; /* of candidates, or NULL */
    const char *called; /* the column of the table that labels are from, or NULL */
    hf_table *table, *ages;
    char *kernel;   /* what was learnt, or NULL */
    json_t *advice; /* of --learn, for --json; or NULL */
} track_plan;

/** Method, and what options say about settings. */
hf_status plan_settings(tracked *run, track_plan *plan);
/** The options that any method may have, over the settings that there are. */
hf_status plan_options(tracked *run, track_plan *plan);
/** Method, settings and domain by --learn: what a survey advises. */
hf_status plan_learn(tracked *run, track_plan *plan);
/** The domain by --box or --candidates. */
hf_status plan_domain(tracked *run, track_plan *plan);
void plan_free(track_plan *plan);

enum {
    TRACK_CREATE_OPTIONS = 8
};
/** Options of track create; they lie beside what reads them. */
extern const tool_option track_create_options[TRACK_CREATE_OPTIONS];

/* ---- history (track_tables.c) ---------------------------------------------------------------- */

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

/* ---- readings and answers out of tables (track_csv.c) ---------------------------------------- */

/** Tells all rows of a table, or none (to a track without a file: some, and an error). *told, how
 * many. */
hf_status tell_table(tracked *run, const char *path, size_t *told);
/** Answers to requests; rows without one are left open. In memory: the caller begins and ends the
 * change of the file. */
hf_status answer_table(tracked *run, const char *path, size_t *answered, size_t *left);

/* ---- after a fit (track_learnt.c) ------------------------------------------------------------ */

enum {
    LEARNT_BYTES = 24576 /* a quote of the shell is four */
};
/** The learnt settings as options of track create, "--kernel 'se(ard, lengthscale[0]~3.1)' --noise
 * 0.02 --drift 0.1", in `text`, which is returned; without the
 * kernel where there is more than one in its expression. */
const char *learnt_options(const tracked *run, char text[LEARNT_BYTES]);
/** The same with what a row of advice says, "--method tv-gp-ucb ..."; `learnt` is of the track that
 * learnt. */
const char *advised_options(const tracked *learnt, const hf_advice_row *row,
                            char text[LEARNT_BYTES]);
/** The kernel's expression with what was learnt; false where it has more than one term. */
bool learnt_kernel(const tracked *learnt, char *text, size_t bytes);
/** Warns where more than a quarter of the readings in memory have a weight below 1/2, which were
 * decided before the fit, and says what helps. */
void warn_of_weights(const tracked *run);

/* ---- standing still (track_standing.c) ------------------------------------------------------- */

/** The track's opinion of standing still, and where. */
typedef struct standing_still {
    bool known; /* there are readings enough */
    double *x;  /* d; to be freed */
    hf_track_standing of;
} standing_still;

/** Looks; too few readings, or none that have a posterior, are no error but leave it unknown. */
hf_status standing_look(tracked *run, standing_still *out);
void standing_free(standing_still *still);
/** An object, or null where it is not known. */
json_t *standing_json(const tracked *run, const standing_still *still);
/** A line or two on standard output; nothing where it is not known. */
void standing_print(const tracked *run, const standing_still *still);
/** Warns where standing still would have been better. */
void standing_warn(const tracked *run, const standing_still *still);

/* ---- advice (track_advise.c) ----------------------------------------------------------------- */

/** Advice, and the track that learnt for it; advised_free() also after an error. */
typedef struct advised {
    hf_track_advice advice;
    tracked learnt; /* places are called as in the track that it is from */
    hf_advice_settings settings;
} advised;

/** Asks for advice on the readings of run->track, by the options of the verb. */
hf_status advised_ask(tracked *run, advised *out);
void advised_free(advised *a);
/** The table and the verdict. */
void advised_print(const tracked *run, const advised *a);
json_t *advised_json(const tracked *run, const advised *a);
/** The moving method that loses least; NULL never. */
const hf_advice_row *advised_row(const advised *a);

/* ---- sub-verbs ------------------------------------------------------------------------------- */

extern const tool_verb verb_track_create, verb_track_ask, verb_track_tell, verb_track_refresh,
    verb_track_show, verb_track_plot, verb_track_undo, verb_track_advise;

#endif
