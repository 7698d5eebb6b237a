/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lines.h
 * @brief Files of results, a line each, to which a program adds that may be killed at any moment.
 */
#ifndef EXPERIMENTS_LINES_H
#define EXPERIMENTS_LINES_H

#include <stdbool.h>

/** Hands each line of a file, its newline included, to `take`, which is false for a malformed one.
 * A last line without a newline was torn by a crash: it is cut off. A missing file is an empty one.
 * False, with file and line on standard error, where a line was malformed. */
bool lines_load(const char *path, bool (*take)(const char *line, void *user), void *user);

#endif
