/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certify_request.h
 * @brief What holdfast certify was asked for, and what came of it.
 */
#ifndef HF_TOOL_CERTIFY_REQUEST_H
#define HF_TOOL_CERTIFY_REQUEST_H

#include "certified.h"

typedef enum certify_question {
    CERTIFY_MEAN,
    CERTIFY_SD,
    CERTIFY_MEAN_PLUS,
    CERTIFY_PROBABILITY, /* from here on about classes */
    CERTIFY_DECISION,
    CERTIFY_ACCURACY,
    CERTIFY_READINGS, /* about readings again */
    CERTIFY_RADII,    /* --max-radius */
    CERTIFY_QUESTIONS
} certify_question;

/** Names, as --what and --json have them. */
extern const char *const certify_questions[CERTIFY_QUESTIONS];

typedef struct certify_request {
    certify_question what;
    size_t radii;
    double *radius; /* none for boxes */
    size_t count;   /* readings that are bad */
    size_t of;      /* class or output */
    hf_certify_settings settings;
    const char *output, *counterexamples;
    bool estimate; /* certificates of the classes rest on an estimate */
    /* What it came to: boxes in all, stopped by a limit, certified, with a counterexample. */
    size_t asked, unfinished, certified, broken;
    double *counterexample;        /* boxes x d, NaN where there is none */
    hf_certified_accuracy *counts; /* of each radius */
    double *low, *high; /* for the picture: ends of ranges, or shares at each radius of `share_at` */
    size_t shares;
    double *share_at;
} certify_request;

void certify_request_free(certify_request *request);

/** Answers into the run's table (certify_answers.c). */
hf_status certify_answer(certified *run, certify_request *asked);
/** The picture (certify_plot.c): ranges and the widths that they have, or shares of rows. */
hf_status certify_draw(certified *run, const certify_request *asked);

#endif
