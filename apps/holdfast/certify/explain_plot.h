/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file explain_plot.h
 * @brief The picture of scores of inputs.
 */
#ifndef HF_TOOL_EXPLAIN_PLOT_H
#define HF_TOOL_EXPLAIN_PLOT_H

#include "certify/certified.h"

typedef struct explain_picture {
    const certified *run;
    const double *lower, *upper; /* of each input, averaged over the rows */
    size_t of;                   /* class or output */
    size_t rows, columns;        /* of an image whose pixels the inputs are; 0: bars */
} explain_picture;

/** Draws it, if --plot was given. */
hf_status explain_draw(certified *run, const explain_picture *data);

#endif
