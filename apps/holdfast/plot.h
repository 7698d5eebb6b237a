/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file plot.h
 * @brief The picture of a model: its data (plot_data.c) and the gnuplot script that draws them (plot_script.c).
 */
#ifndef HF_TOOL_PLOT_H
#define HF_TOOL_PLOT_H

#include "tool.h"

enum {
    PLOT_POINTS = 241 /* along the slice */
};

/** Everything that is drawn. Arrays of n entries per reading, PLOT_POINTS per slice. */
typedef struct plot_data {
    const hf_model *model;
    hf_table *rows;     /* of hf_model_rows(): owns the arrays of the readings */
    hf_table *training; /* of hf_model_training() */
    size_t n, d;
    const double *row, *y, *loo_mean, *loo_sd, *weight, *suspected;

    size_t column; /* the input of the slice */
    double at[PLOT_POINTS], mean[PLOT_POINTS], sd_latent[PLOT_POINTS], sd_observed[PLOT_POINTS];
    double *reading_at; /* n: the input */
    double
        *reading_value; /* n: the reading; with several inputs moved along to the slice (partial residual) */
} plot_data;

/** Computes everything; `x` names the input of the slice, NULL: the one along which the prediction varies most. */
hf_status plot_data_make(hf_context *ctx, const hf_model *model, const char *x, plot_data *out);
void plot_data_free(plot_data *data);
/** The slice as a table. */
hf_status plot_slice_table(hf_context *ctx, const plot_data *data, hf_table **out);

/** Formats that gnuplot can make. */
typedef enum plot_format {
    PLOT_SVG,
    PLOT_PNG,
    PLOT_PDF
} plot_format;

/** Writes the whole script, data included, so that it draws `output` wherever it is run. False when writing failed. */
bool plot_script(FILE *script, const plot_data *data, plot_format format, const char *output);

#endif
