/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file likelihood.h
 * @brief Counts and positive amounts: from a normal latent value to new readings.
 *
 * A fit with sites poisson, negative-binomial or gamma (hf_fit_settings.sites) has a latent
 * function f with a Gaussian process prior. Its readings have the mean mu = exposure exp(f):
 *
 * | sites | readings | variance of a reading |
 * |---|---|---|
 * | poisson | counts 0, 1, 2, ... | mu |
 * | negative-binomial | counts | mu + dispersion mu^2 |
 * | gamma | positive amounts | dispersion mu^2 |
 *
 * exp(f) is the **rate**: the mean of a reading of exposure 1. The dispersion is trained with the
 * hyperparameters; it takes the place of the noise variance wherever that is asked for
 * (hf_posterior_noise(), hf_model_parameter()). The posterior of f is normal: expectation
 * propagation or Laplace's method makes each reading a Gaussian pseudo-observation (hf_inference).
 * A posterior can do for f all that it can do for readings, in units of log rate. Its observed
 * variances mean nothing here: this header's functions tell of new readings.
 *
 * The latent value is N(mean, var), to which the logarithm of the exposure has been added. A new
 * reading then has the distribution that averages over the latent value. Its quantiles are exact to
 * the digits that the functions promise: intervals are not mean plus or minus standard deviations.
 *
 * All functions are pure, allocate nothing and may be called by any thread. Errors of all, which
 * leave the output alone: HF_ERR_ARGUMENT (a NULL; sites that are none of these three; a var that
 * is negative; a dispersion that is not positive, which poisson does not look at),
 * HF_ERR_NOT_FINITE (mean, var or dispersion). Sources: Rasmussen and Williams, Gaussian processes
 * for machine learning, 2006, chapter 3; DLMF 8.2 and 8.17.
 *
 * Every function costs O(1) where it names no time.
 */
#ifndef HOLDFAST_LIKELIHOOD_H
#define HOLDFAST_LIKELIHOOD_H

#include <holdfast/train.h>

HF_BEGIN_DECLS

/** Whether sites are of counts or amounts. Any thread. */
HF_API bool hf_likelihood_has_rate(hf_likelihood sites);

/** Whether sites are of labels, of two classes or more. Any thread. */
HF_API bool hf_likelihood_has_labels(hf_likelihood sites);

/** Moments of a new reading. */
typedef struct hf_reading_moments {
    /** exp(mean + var / 2) */
    double mean;
    /** standard deviation of mu: how little is known of the rate */
    double sd_mean;
    /** standard deviation of the reading itself */
    double sd;
} hf_reading_moments;

/**
 * Mean and standard deviations; infinite where they are too large for a double. Errors: those of
 * all, above. O(1).
 */
HF_API hf_status hf_likelihood_moments(hf_likelihood sites, double dispersion, double mean,
                                       double var, hf_reading_moments *out);

/**
 * P(reading <= y), to 1e-9. 10 to 100 us. Errors: those of all, above; HF_ERR_NOT_FINITE
 * for a y that is NaN.
 */
HF_API hf_status hf_likelihood_cumulative(hf_likelihood sites, double dispersion, double mean,
                                          double var, double y, double *probability);

/** The quantile of probability p, in (0, 1), else HF_ERR_ARGUMENT: of counts the smallest k with
 * P(reading <= k) >= p; of amounts the place where P is p, to 1e-10 relative. About 1 ms. */
HF_API hf_status hf_likelihood_quantile(hf_likelihood sites, double dispersion, double mean,
                                        double var, double p, double *quantile);

/** log P(reading = y) of counts, log density of amounts, natural logarithm; 1e-9. HF_ERR_ARGUMENT
 * also for a y that the sites do not take. About 10 us. */
HF_API hf_status hf_likelihood_log_score(hf_likelihood sites, double dispersion, double mean,
                                         double var, double y, double *log_density);

/**
 * Continuous ranked probability score, in units of readings: the integral over t of
 * (P(reading <= t) - 1{t >= y})^2, of counts the sum over t = 0, 1, ...; to 1e-5 of itself. It is
 * the expected |reading - y| less half that between two new readings. 0.05 to 20 ms.
 * Errors: those of all, above; HF_ERR_ARGUMENT also for a y that the sites do not take.
 * Source: Gneiting and Raftery, Strictly proper scoring rules, prediction, and estimation, JASA
 * 102, 2007.
 */
HF_API hf_status hf_likelihood_crps(hf_likelihood sites, double dispersion, double mean, double var,
                                    double y, double *crps);

HF_END_DECLS

#endif
