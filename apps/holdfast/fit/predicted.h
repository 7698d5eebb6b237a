/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file predicted.h
 * @brief Columns that `predict` adds beside the predictions, for models of one output.
 */
#ifndef TOOL_PREDICTED_H
#define TOOL_PREDICTED_H

#include "shell/tool.h"

/** <target>_sd_computational; NaN in rows that lack an input. */
hf_status add_computational(hf_context *ctx, const hf_model *model, hf_table *table);
/** <target>_worst_case and <target>_worst_case_computational for --worst-case, and under which
 * condition they hold: as a
 * note and, in *said (a new reference), as JSON. A norm that is no positive number, or below what
 * the readings need, is
 * HF_ERR_ARGUMENT. */
hf_status add_worst_case(const tool_arguments *arguments, tool_session *session,
                         const hf_model *model, hf_table *table, json_t **said);

#endif
