/* SPDX-License-Identifier: Apache-2.0 */
/* The same for each file of the tool: complaints return what their comments say. */
#ifndef HFI_TESTS_HOUSE_ANALYSER_TOOL_H
#define HFI_TESTS_HOUSE_ANALYSER_TOOL_H

#include "shell/tool.h"

#define complain(...)          ((void)complain(__VA_ARGS__), TOOL_FAILED)
#define usage_error(verb, ...) ((void)usage_error((verb), __VA_ARGS__), TOOL_USAGE)

#endif
