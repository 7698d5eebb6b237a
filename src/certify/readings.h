/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file readings.h
 * @brief What one given set of readings can do to a mean when all of them are replaced.
 */
#ifndef HFI_CERTIFY_READINGS_H
#define HFI_CERTIFY_READINGS_H

#include <stddef.h>

enum {
    HFI_SET_MOST = 4 /* readings of a set */
};

/** A robust site: d = base (1 + r^2 / threshold^2) + jitter for a reading r away from its
 * centre. */
typedef struct hfi_replaced {
    double threshold, noise, base, jitter;
    double d;      /* as it is, with jitter */
    double offset; /* centre less target of the site */
    double t;      /* weight of the mean */
} hfi_replaced;

/**
 * A bound of |mean_new(x) - mean(x)| over all replacements of `count` <= HFI_SET_MOST readings I.
 * @param inverse count x count: (K + D)^-1 of their rows and columns
 * @param w       count: (K + D)^-1 k(Z, x) of their rows
 */
double hfi_damage_of_set(size_t count, const hfi_replaced *readings, const double *inverse,
                         const double *w);

#endif
