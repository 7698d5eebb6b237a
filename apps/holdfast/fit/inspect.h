/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file inspect.h
 * @brief Parts of holdfast inspect.
 */
#ifndef HF_TOOL_INSPECT_H
#define HF_TOOL_INSPECT_H

#include "shell/tool.h"

/** --moved ROW:OUTPUT=VALUE: prints how far that reading would move the model. */
hf_status inspect_moved(tool_session *session, const hf_model *model, const char *text);
/** The report on an envelope; `rows` NULL: no table. */
hf_status inspect_envelope(tool_session *session, const char *file, const char *rows);

#endif
