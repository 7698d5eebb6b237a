/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file normal.h
 * @brief Scores of a normal distribution that metrics and transforms share.
 */
#ifndef HFI_DATA_NORMAL_H
#define HFI_DATA_NORMAL_H

/** CRPS of N(0, sd^2) at `error` (transform.c). */
double hfi_normal_crps(double error, double sd);

#endif
