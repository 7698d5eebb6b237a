/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ageing.h
 * @brief Readings grow old: the site of a reading of something that drifts has a variance that
 * grows with its age.
 *
 * A reading y_i of f at time t_i says about f now what a reading of larger noise would say
 * ("uncertainty injection"). With v the variance of a reading at age 0 (its noise; for robust
 * readings the variance of their site) and a = |t - t_i| its age, the variance d(v, a) of the site
 * at time t is
 *
 * | law | d(v, a) | rate r is in | where it comes from |
 * |---|---|---|---|
 * | none | v | | nothing drifts |
 * | quadratic | v + (r a)^2 | y / time | drift <= r a step; r^2 = v: v (a^2 + 1), SparQ eq. 10 |
 * | linear | (sqrt v + r a)^2 | y / time | deviations add: drift that may conspire with the noise |
 * | exponential | v exp(r a) | 1 / time | forgetting; r = -log eta: the weights eta^a of W-GP-UCB |
 * | Wiener | v + r^2 a | y / sqrt(time) | f is a Wiener process (Brunzema, von Rohr, Trimpe 2022) |
 * | table | v + w(a) | | the user's: w is given at ages, linear between them |
 *
 * Every law is non-decreasing in a and in v, and d(v, 0) = v.
 */
#ifndef HOLDFAST_AGEING_H
#define HOLDFAST_AGEING_H

#include <holdfast/sites.h>

HF_BEGIN_DECLS

/** The laws of the table above. */
typedef enum hf_age_kind {
    HF_AGE_NONE = 0,
    HF_AGE_QUADRATIC,
    HF_AGE_LINEAR,
    HF_AGE_EXPONENTIAL,
    HF_AGE_WIENER,
    HF_AGE_TABLE
} hf_age_kind;

/** A law with its numbers. The arrays are the caller's and stay so. */
typedef struct hf_age_law {
    hf_age_kind kind;
    /** r >= 0; not for none and table */
    double rate;
    /** of the table, at least 1 */
    size_t entries;
    /** `entries` finite ages > 0, ascending; w(0) = 0 is understood */
    const double *ages;
    /** w there: >= 0, finite, non-decreasing; beyond the last age infinite */
    const double *added;
} hf_age_law;

/**
 * HF_OK, or HF_ERR_ARGUMENT with what is wrong (a rate that is negative or not finite, a table that
 * is empty, not ascending, or decreasing). O(entries of the table).
 */
HF_API hf_status hf_age_law_check(hf_context *ctx, const hf_age_law *law);

/** d(variance, |age|) by a law that has been checked; infinite beyond a table's end and where it
 * overflows. NaN for NaN and without a law. Thread-safe. O(log entries). */
HF_API double hf_age_variance(const hf_age_law *law, double variance, double age);

/**
 * The largest age at which d(variance, age) <= limit: 0 if not even d(variance, 0) is (or if one of
 * the two is NaN), infinite if it always is. In closed form, of a table by bisection of its
 * entries; to 1e-12 relative. NaN without a law. Thread-safe. O(log entries).
 */
HF_API double hf_age_horizon(const hf_age_law *law, double variance, double limit);

/**
 * Makes sites older: d_i := d(d_i, |age_i|), Gaussian and robust ones alike; targets stay. A
 * reading whose variance becomes infinite becomes absent.
 * @param age one for each of the hf_sites_count() readings, finite where the reading is present.
 * The sites then follow their noise no longer (hf_sites_set_noise(), hf_sites_recentre() and
 * hf_sites_set_present() are not for them). HF_ERR_ARGUMENT, HF_ERR_NOT_FINITE, HF_ERR_MEMORY; on
 * error nothing changes. O(n).
 */
HF_API hf_status hf_sites_age(hf_context *ctx, hf_sites *sites, const hf_age_law *law,
                              const double *age);

HF_END_DECLS

#endif
