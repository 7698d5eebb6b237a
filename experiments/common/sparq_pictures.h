/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq_pictures.h
 * @brief Pictures of what tracks lose: average regret with bands, and requests against log t.
 */
#ifndef EXPERIMENTS_SPARQ_PICTURES_H
#define EXPERIMENTS_SPARQ_PICTURES_H

#include "common/sparq_cases.h"

/** Six panels: practical and theory constants, recommended windows, outliers, few answers,
 * requests. Bands are one standard deviation. Panels without rows are empty. */
bool sparq_picture_synthetic(const env_rows *rows, const char *requests_prefix, const char *stem);

#endif
