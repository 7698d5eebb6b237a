/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track_plot.h
 * @brief The picture of a track: its data (track_plot.c) and the gnuplot script that draws them
 * (track_plot_script.c).
 */
#ifndef HF_TOOL_TRACK_PLOT_H
#define HF_TOOL_TRACK_PLOT_H

#include "plot/plot.h"
#include "track/tracked.h"

enum {
    TRACK_SLICES = 4, /* inputs of a box that are drawn, at most */
    TRACK_BARS = 30   /* candidates that are drawn; more are not legible */
};

/** The posterior at `time`: of a box of one input along it, of more along each through one place,
 * of candidates at each. */
typedef struct track_picture {
    tracked *run;
    double time;
    bool known;                 /* there is a posterior */
    size_t slices;              /* 0: candidates */
    size_t input[TRACK_SLICES]; /* along which; those that the box does not fix come first */
    size_t m;                   /* points of a slice, or candidates */
    double *x;                  /* slices x m: the input along; of candidates nothing */
    double *mean;               /* slices x m */
    double *sd;                 /* slices x m */
    double *through;            /* d: the place that slices go through */
    /* it is what was asked for last, rather than the middle of the box */
    bool is_asked;
    /* row of history of the last place asked for; `history.count`: none */
    size_t last;
    double origin; /* of the axes of time: a whole number, 0 unless numbers on them would be long */
    track_history history;
    hf_track_summary summary;
} track_picture;

/** A plot_writer of it. */
bool track_picture_script(FILE *script, const void *data, plot_format format, const char *output);

#endif
