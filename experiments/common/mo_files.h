/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo_files.h
 * @brief A wide table of readings of several outputs over one input.
 */
#ifndef EXPERIMENTS_MO_FILES_H
#define EXPERIMENTS_MO_FILES_H

#include "common/mo_problem.h"

/** Column `input`, divided by `unit`, and the `outputs` columns, empty = missing; test rows are a
 * grid of `grid` points over all inputs. The reading of output `wrong_output` in row `wrong_row`,
 * counted from 0, is marked wrong. false: reason on standard error. */
bool mo_read_wide(hf_context *ctx, const char *path, const char *input, double unit, size_t outputs,
                  const char *const *names, size_t wrong_row, size_t wrong_output, size_t grid,
                  problem *out);

#endif
