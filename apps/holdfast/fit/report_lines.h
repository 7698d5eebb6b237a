/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file report_lines.h
 * @brief Lines of JSON, as `certify --format jsonl` writes them, into a table.
 */
#ifndef HF_TOOL_REPORT_LINES_H
#define HF_TOOL_REPORT_LINES_H

#include "shell/tool.h"

/** A row for each line and a column for each member that any of them has; hf_table_free() the
 * table. */
hf_status report_read_lines(tool_session *session, const char *path, hf_table **out);

#endif
