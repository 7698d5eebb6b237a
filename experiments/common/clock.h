/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file clock.h
 * @brief Seconds and memory of this process.
 */
#ifndef EXPERIMENTS_CLOCK_H
#define EXPERIMENTS_CLOCK_H

/** Seconds from some moment on. */
double wall_clock(void);
/** Seconds of processor time that this process has taken, all threads. */
double cpu_clock(void);
/** Largest resident memory that the process, or one it waited for, has had, in 10^6 bytes. */
double peak_megabytes(void);

#endif
