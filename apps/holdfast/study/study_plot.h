/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study_plot.h
 * @brief Pictures of a study: their data (study_plot_data.c) and the gnuplot scripts that draw
 * them.
 */
#ifndef HF_TOOL_STUDY_PLOT_H
#define HF_TOOL_STUDY_PLOT_H

#include "plot/plot.h"
#include "study/studied.h"

enum {
    STUDY_SLICES = 12, /* variables that are drawn, at most: those that matter most */
    STUDY_POINTS = 81, /* of a slice */
    STUDY_AXES = 14,   /* of parallel coordinates */
    STUDY_BARS = 24
};

/** A slice of the surrogate along one variable, through the best place. */
typedef struct study_slice {
    size_t variable, m;
    double x[STUDY_POINTS], mean[STUDY_POINTS], sd[STUDY_POINTS];
    /* n: values told, moved along the surrogate to the slice; NaN: nothing was told */
    double *moved;
} study_slice;

/** Everything that is drawn; what a picture does not need is empty. */
typedef struct study_picture {
    studied *run;
    size_t of; /* outcome */
    size_t n;
    hf_trial *trial; /* n */
    double *at;      /* d: the best place */
    hf_best best;
    bool certified;
    double bound;               /* what nothing is beyond */
    double *share, *low, *high; /* d: relevance */
    size_t *order;              /* d: variables, the one that matters most first */
    size_t slices;
    study_slice *slice;
    size_t count; /* of the front */
    uint64_t *front;
    double *mean, *sd; /* count x outcomes: what is expected of its trials */
} study_picture;

void study_picture_free(study_picture *data);
/** Needs of each picture. */
hf_status study_progress_make(study_picture *data);
hf_status study_relevance_make(study_picture *data);
hf_status study_slices_make(study_picture *data);
hf_status study_parallel_make(study_picture *data);
hf_status study_front_make(study_picture *data);

/** Whether what a trial told breaks a constraint. */
bool study_breaks(const study_picture *data, const hf_trial *trial);
/** A trial told this outcome, and that value is set aside. */
bool study_is_aside(const hf_trial *trial, size_t outcome);
/** Where a value lies between the ends of its variable, from 0 to 1. */
double study_share_of(const hf_variable *variable, double value);

/** Writers of the pictures. */
plot_writer study_progress_script, study_relevance_script, study_slices_script,
    study_parallel_script, study_front_script;
/** Begins one: terminal, style, and a title, "s.hf: loss, minimised", followed by `text`. */
void study_plot_begin(FILE *out, const study_picture *data, plot_format format, unsigned height,
                      const char *output, const char *text);

#endif
