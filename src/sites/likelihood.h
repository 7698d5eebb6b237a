/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file likelihood.h
 * @brief Likelihoods of one reading given its latent value f: a table with a row for each kind.
 *
 * Inference, prediction and scores read the table and never ask which kind a likelihood is. All rows
 * have log densities that are concave in f, so that Newton's method finds the only mode and site
 * precisions are never negative. A new likelihood is one file with its functions and one row.
 *
 *     probit               log Phi(y f), y = -1 or 1                  label of two classes
 *     logit                -log(1 + exp(-y f)), y = -1 or 1           label of two classes
 *     poisson              mean mu = exp(f), variance mu              count
 *     negative-binomial    mean mu = exp(f), variance mu + d mu^2     count, d its dispersion
 *     gamma                mean mu = exp(f), variance d mu^2          positive amount
 *
 * The shift of a reading is added to its latent value: the logarithm of its exposure.
 */
#ifndef HFI_SITES_LIKELIHOOD_H
#define HFI_SITES_LIKELIHOOD_H

#include <stdbool.h>
#include <stddef.h>

/** One reading, as a likelihood sees it. */
typedef struct hfi_seen {
    double y;          /* the reading; of a label -1 (class 0) or 1 (class 1) */
    double shift;      /* added to its latent value */
    double dispersion; /* parameter of likelihoods that have one */
    /* The part of the log density that does not depend on f, its derivative in log dispersion, and log y (0 where y
     * is not positive); set by hfi_likelihood_place(). */
    double constant, constant_slope, log_y;
} hfi_seen;

/** Log density l of a reading at f and its derivatives; those in log dispersion are 0 without one. */
typedef struct hfi_likelihood_slopes {
    double value;
    double f, w, fff;   /* l', -l'' >= 0, l''' */
    double d, f_d, w_d; /* derivatives of value, f and w in log dispersion */
} hfi_likelihood_slopes;

/** Product of a normal N(mean, var) of f and the likelihood of a reading. With Z its integral, its own
 * mean is mean + var slope and its variance var + var^2 bend: derivatives of log Z in the mean. */
typedef struct hfi_likelihood_tilted {
    double log_z, slope, bend; /* bend <= 0 */
    double share;              /* 1 + var bend: its variance over var, without cancellation */
    double d;                  /* d log Z / d log dispersion */
} hfi_likelihood_tilted;

typedef struct hfi_likelihood {
    const char *name;      /* as hf_enum_name(HF_ENUM_SITE_KIND, ) has it */
    bool labels;           /* the reading is a label; else the mean of a reading is exp(f + shift) */
    bool whole;            /* readings are whole numbers from 0; else they are positive, if not labels */
    const char *parameter; /* name of its parameter; NULL: it has none */
    /** Sets the parts that do not depend on f; NULL: there are none. */
    void (*place)(hfi_seen *seen);
    /** The rest, at f + shift. */
    void (*slopes)(const hfi_seen *seen, double f, hfi_likelihood_slopes *out);
    /** Closed form of the product with a normal density; NULL: by quadrature. */
    void (*tilt)(const hfi_seen *seen, double mean, double var, hfi_likelihood_tilted *out);
    double step; /* widest step in f at which a trapezoidal rule has an error below rounding */
    /** P(reading <= y) where the mean of a reading is mu. NULL for labels. */
    double (*cumulative)(double dispersion, double mu, double y);
    /** Variance of a reading of mean mu is linear mu + square mu^2. NULL for labels. */
    void (*variance)(double dispersion, double *linear, double *square);
} hfi_likelihood;

extern const hfi_likelihood hfi_likelihood_probit, hfi_likelihood_logit, hfi_likelihood_poisson,
    hfi_likelihood_negative_binomial, hfi_likelihood_gamma;

/** The row of that name; NULL: it is no likelihood of this table, or NULL. */
const hfi_likelihood *hfi_likelihood_named(const char *name);

/** Whether counts or amounts can be y: whole numbers from 0 to 2^53, or positive and finite. */
bool hfi_likelihood_allows(const hfi_likelihood *likelihood, double y);

/** To be called when y or the dispersion of a reading changed. */
void hfi_likelihood_place(const hfi_likelihood *likelihood, hfi_seen *seen);

/** Accurate to some 1e-14 relative for every finite f, however improbable the reading is. Pure. */
hfi_likelihood_slopes hfi_likelihood_density(const hfi_likelihood *likelihood, const hfi_seen *seen,
                                             double f);

/** The product with N(mean, var), var >= 0. Closed form, or the trapezoidal rule from the mode outwards
 * until the product is below exp(-40) of the mode's: relative accuracy 1e-12 for standard deviations up
 * to 1000 steps; beyond, the step grows. 36 points and more. Pure. */
hfi_likelihood_tilted hfi_likelihood_tilt(const hfi_likelihood *likelihood, const hfi_seen *seen, double mean,
                                          double var);

/* ---- a new reading where log of its mean is N(mean, var); not for labels ------------------------------------ */

/** Mean of the reading, standard deviation of its mean, and its own. exp(mean + var/2) and so on: infinite
 * where that is too large for a double. */
void hfi_likelihood_moments(const hfi_likelihood *likelihood, double dispersion, double mean, double var,
                            double *reading, double *sd_mean, double *sd_reading);

/** P(reading <= y), to 1e-9 absolute. 40 to 300 evaluations of a density or distribution function. */
double hfi_likelihood_cumulative(const hfi_likelihood *likelihood, double dispersion, double mean, double var,
                                 double y);

/** The p-quantile, 0 < p < 1: of counts the smallest k with P(reading <= k) >= p. 10 to 45 evaluations of the
 * above. */
double hfi_likelihood_quantile(const hfi_likelihood *likelihood, double dispersion, double mean, double var,
                               double p);

#endif
