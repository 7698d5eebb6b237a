/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fit_settings.h
 * @brief From the options of `holdfast fit` to hf_fit_settings.
 */
#ifndef HF_TOOL_FIT_SETTINGS_H
#define HF_TOOL_FIT_SETTINGS_H

#include "shell/settings.h"

/** The verb (fit.c); its options are in fit_options.c. */
int fit_run(const tool_arguments *arguments);

/** Name of the checkpoint beside the model that -o names; to be freed, NULL when out of memory. */
char *fit_checkpoint(const tool_arguments *arguments);

/** Settings with the memory they point into. */
typedef struct fit_settings {
    hf_fit_settings settings;
    hf_assignment *set;
    char *set_text;   /* names of the assignments */
    char *checkpoint; /* the default name of one; NULL if it was given or there is none */
    double *eps;      /* a share of outliers for each output; NULL if there is one for all */
    double *beta;     /* likewise of amplitudes */
    double *actions;  /* the matrix of given actions; NULL: none */
} fit_settings;

/** `targets`: how many there are. TOOL_OK, TOOL_USAGE after a message, or TOOL_FAILED. Free with
 * fit_settings_free in any case. */
int fit_settings_from(const tool_arguments *arguments, hf_context *ctx, size_t targets,
                      fit_settings *out);
void fit_settings_free(fit_settings *settings);

/* ---- parts of it ----------------------------------------------------------------------------- */

/** Wrong usage of an option in the library's own words. */
int wrong_choice(const tool_arguments *arguments, hf_context *ctx, const char *name);
/** --actions-file: the matrix of given actions. TOOL_OK, or TOOL_FAILED after a
 * message. */
int read_actions(const tool_arguments *arguments, hf_context *ctx, fit_settings *out);

#endif
