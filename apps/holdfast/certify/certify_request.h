/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certify_request.h
 * @brief The question to holdfast certify, and what came of it.
 */
#ifndef HF_TOOL_CERTIFY_REQUEST_H
#define HF_TOOL_CERTIFY_REQUEST_H

#include "certify/certified.h"

#include <holdfast/certify_outputs.h>

typedef enum certify_task {
    CERTIFY_MEAN,
    CERTIFY_SD,
    CERTIFY_MEAN_PLUS,
    CERTIFY_PROBABILITY, /* from here on about classes */
    CERTIFY_LOSS,        /* expected, of a decision */
    CERTIFY_CLASSES,     /* all probabilities, and which classes remain */
    CERTIFY_DECISION,
    CERTIFY_ACCURACY,
    CERTIFY_READINGS, /* about readings again */
    CERTIFY_INTERVAL, /* of a new one */
    CERTIFY_OUTPUTS,  /* how far all outputs move together */
    CERTIFY_RADII,    /* --max-radius of classes */
    CERTIFY_CLAIM,    /* --never-above, --never-below, --delta of one of the values above */
    CERTIFY_REACH,    /* --max-radius of these */
    CERTIFY_TASKS
} certify_task;

/** Names, as --what and --json have them. */
extern const char *const certify_tasks[CERTIFY_TASKS];

/** When --fail-on makes the exit status 3. */
typedef enum certify_fail {
    CERTIFY_FAIL_NEVER,
    CERTIFY_FAIL_COUNTEREXAMPLE,
    CERTIFY_FAIL_OPEN /* or open */
} certify_fail;

enum {
    CERTIFY_FAILED = 3 /* exit status */
};

typedef struct certify_request {
    certify_task what;
    certify_task value; /* what a claim is of: up to CERTIFY_PROBABILITY */
    hf_claim claim;
    hf_output_norm norm; /* of all outputs; its weights are the request's */
    double *weight;
    certify_fail fail;
    bool where, sides; /* columns: attaining points, sides of the boxes */
    bool lines;        /* --format jsonl */
    size_t radii;
    double *radius; /* none for boxes */
    size_t count;   /* readings that are bad */
    size_t of;      /* class or output */
    hf_certify_settings settings;
    const char *output, *counterexamples;
    bool estimate; /* certificates of the classes rest on an estimate */
    /* Counts: boxes in all, stopped by a limit, certified, with a counterexample. */
    size_t asked, unfinished, certified, broken;
    double *counterexample;        /* boxes x d, NaN where there is none */
    hf_certified_accuracy *counts; /* of each radius */
    /* for the picture: ends of ranges, or shares at each radius of `share_at` */
    double *low, *high;
    size_t shares;
    double *share_at;
} certify_request;

void certify_request_free(certify_request *request);

/* ---- questions (certify_request.c) ----------------------------------------------------------- */

/** Whether something is certified of boxes, or a counterexample to it found. */
bool certify_decides(certify_task what);
/** Whether ranges or verdicts of one value are told, which are attained somewhere. */
bool certify_attains(certify_task what);
/** Whether the range is one of the logarithm of a rate, so that the rate has a range too. */
bool certify_has_rate(const certified *run, const certify_request *asked);
/** Whether it is the radius of a row that is looked for. */
bool certify_finds_radius(certify_task what);
/** Which value of the posterior that is. */
hf_certify_what certify_value(certify_task value);
/** Whether a search that told nothing took the time of a box. */
bool certify_ran_out(const certify_request *asked, double seconds);

/* ---- answers --------------------------------------------------------------------------------- */

/** Answers into the run's table (certify_answers.c). */
hf_status certify_answer(certified *run, certify_request *asked);
/** The answer for all classes (certify_classes.c). */
hf_status certify_classes(certified *run, certify_request *asked);
/** The answer for claims (certify_claims.c). */
hf_status certify_claims(certified *run, certify_request *asked);
/** The claim with its subject, and settings with the output or class of it. */
hf_claim certify_claim_of(const certified *run, const certify_request *asked,
                          hf_certify_settings *settings);
/** All outputs together: --norm, --weights and --delta, and answers (certify_outputs.c). */
hf_status certify_parse_norm(certified *run, certify_request *asked);
hf_status certify_outputs(certified *run, certify_request *asked);
/** The table of answers as JSON lines, each with all that it is about (certify_lines.c). */
hf_status certify_write_lines(certified *run, const certify_request *asked);
/** The limits, to a JSON object. */
void certify_json_claim(json_t *json, const hf_claim *claim);

/* ---- what answers share (certify_columns.c) -------------------------------------------------- */

enum {
    CERTIFY_STATUS = 40 /* room for the longest text of a status */
};

/** Begins the table with the points, their radii where there are several, and --sides; `names` are
 * the columns that follow, the first entry left free. */
hf_status certify_begin(certified *run, const certify_request *asked, const char *const *names);
/** The name of a status as the table has them: with what they rest on where that is an estimate. */
const char *certify_status_text(const certify_request *asked, const char *name, char *room);
/** A column of reasons to stop, counted; warns of limits that were met. */
hf_status certify_stops(certified *run, certify_request *asked, const size_t *stop);
/** Columns of the points `at` (m x d) where worst values are, if --where asks for them; those that
 * are no counterexample become NaN. */
hf_status certify_worst(certified *run, certify_request *asked, const size_t *verdict, double *at);
/** nodes, seconds */
extern const char *const certify_costs[];
/** A column of verdicts, counted. */
hf_status certify_verdicts(certified *run, certify_request *asked, const size_t *verdict);
/** Room for two numbers of `count` boxes or radii each; false when out of memory. */
bool certify_make_ends(certify_request *asked, size_t count);
/** The picture (certify_plot.c): ranges and the widths that they have, or shares of rows. */
hf_status certify_draw(certified *run, const certify_request *asked);

#endif
