/* SPDX-License-Identifier: Apache-2.0 */
/* Complaints on standard error: what went wrong, and wrong usage. */
#include "shell/tool.h"

#include <stdarg.h>

int vcomplain(const char *format, va_list args)
{
    paint(stderr, TOOL_RED, "holdfast:");
    fputc(' ', stderr);
    vsay(stderr, format, args);
    fputc('\n', stderr);
    return TOOL_FAILED;
}

int complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int code = vcomplain(format, args);
    va_end(args);
    return code;
}

int vusage_error(const tool_verb *verb, const char *format, va_list args)
{
    vcomplain(format, args);
    fprintf(stderr, "Try 'holdfast %s%s--help'.\n", verb != NULL ? verb->name : "", verb != NULL ? " " : "");
    return TOOL_USAGE;
}

int usage_error(const tool_verb *verb, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int code = vusage_error(verb, format, args);
    va_end(args);
    return code;
}
