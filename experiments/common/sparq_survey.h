/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq_survey.h
 * @brief Controls: surveys as large as an expert's lists, of places that no track chose.
 *
 * Whoever may ask an expert may as well measure at random or even places. A survey of step t is
 * measured before x_t is chosen, as answers are, and told to a track that forgets it with the step.
 */
#ifndef EXPERIMENTS_SPARQ_SURVEY_H
#define EXPERIMENTS_SPARQ_SURVEY_H

#include "common/draws.h"

#include <holdfast/holdfast.h>

/** Where it is measured. */
typedef enum sparq_survey_kind {
    SPARQ_SURVEY_NONE = 0,
    SPARQ_SURVEY_RANDOM, /**< uniform; candidates: without repetition */
    /** a box of one input: the middles of equal parts; else each the farthest from those before,
     * the first being the first of all */
    SPARQ_SURVEY_EVEN,
    /** a box of one input: even, all moved by one draw for each survey, around the ends; else
     * random */
    SPARQ_SURVEY_SHIFTED,
    SPARQ_SURVEY_LARGEST /**< candidates: those of the largest mean so far, unmeasured ones first */
} sparq_survey_kind;

/** A control. */
typedef struct sparq_survey {
    sparq_survey_kind kind;
    bool visited;  /**< only where x_t was before */
    double factor; /**< ceil(factor log max(t, 2)) places */
    size_t count;  /**< > 0: so many instead */
    bool best;     /**< x_t is where the survey's best reading is; else the track says */
} sparq_survey;

/** Places that a control knows. */
typedef struct sparq_known {
    const hf_domain *domain;
    size_t count, room;   /* visited, each once */
    double *x;            /* of boxes: room x d */
    size_t *index;        /* of candidates */
    double *sum, *number; /* of candidates: readings */
} sparq_known;

/** false: out of memory. */
bool sparq_known_begin(sparq_known *known, const hf_domain *domain);
void sparq_known_end(sparq_known *known);
/** x_t was here. false: out of memory. */
bool sparq_known_visit(sparq_known *known, const double *x, size_t index);
/** A candidate was measured. */
void sparq_known_measured(sparq_known *known, size_t index, double y);

/** How many places the survey of a step has at most. */
size_t sparq_survey_size(const sparq_survey *survey, size_t step);
/**
 * The places of a step's survey.
 * @param most as sparq_survey_size() says
 * @param x     most x d; @param index most entries (0 in a box); both filled as far as it returns
 */
size_t sparq_survey_places(const sparq_survey *survey, const sparq_known *known, size_t most,
                           draws *stream, double *x, size_t *index);

#endif
