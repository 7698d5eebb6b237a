/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fit_settings.h
 * @brief From the options of `holdfast fit` to hf_fit_settings.
 */
#ifndef HF_TOOL_FIT_SETTINGS_H
#define HF_TOOL_FIT_SETTINGS_H

#include "tool.h"

/** Settings with the memory they point into. */
typedef struct fit_settings {
    hf_fit_settings settings;
    hf_assignment *set;
    char *set_text; /* names of the assignments */
} fit_settings;

/** TOOL_OK, TOOL_USAGE after a message, or TOOL_FAILED. Free with fit_settings_free in any case. */
int fit_settings_from(const tool_arguments *arguments, hf_context *ctx, fit_settings *out);
void fit_settings_free(fit_settings *settings);

#endif
