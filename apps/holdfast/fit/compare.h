/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file compare.h
 * @brief Parts of holdfast compare: the models that take part, and what is said of them.
 */
#ifndef HF_TOOL_COMPARE_H
#define HF_TOOL_COMPARE_H

#include "fit/fit_settings.h"

/** A model by the options of holdfast fit. */
typedef struct rival {
    char *name;
    char *text;  /* of --model, cut into words; else NULL */
    char **word; /* as a command line of holdfast fit, which begins with the table */
    size_t words;
    tool_arguments options;
    fit_settings settings;
} rival;

typedef struct rivals {
    size_t count;
    rival *list;
    hf_contender *contender; /* count: what hf_compare() takes */
} rivals;

/** Models from --preset, --kernel, --mean (all combinations) and --model. TOOL_OK, or an exit
 * status
 * after a message. Free with rivals_free() in any case. */
int rivals_from(const tool_arguments *arguments, hf_context *ctx, rivals *out);
void rivals_free(rivals *list);

/** The table of scores, which model to take, and which are as good. */
hf_status report_comparison(tool_session *session, const hf_comparison *comparison,
                            const char *target, hf_criterion by);
/** Predictions without their fold, a row for each reading and repeat. */
hf_status comparison_table(hf_context *ctx, const hf_table *from, const hf_comparison *comparison,
                           hf_table **out);

#endif
