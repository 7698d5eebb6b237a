/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file likelihood.h
 * @brief Likelihoods of one reading given its latent value f: a table with a row for each kind.
 *
 * Inference, prediction and scores read the table and never ask which kind a likelihood is. Where a
 * log density is concave in f, Newton's method finds the only mode and site precisions are never
 * negative; a row whose log density is not says so, and how a normal density lies below its
 * likelihood, from which inference starts. A new likelihood is one file with its functions and one
 * row of holdfast/likelihood_list.h.
 *
 *     probit               log Phi(y f), y = -1 or 1                  label of two classes
 *     logit                -log(1 + exp(-y f)), y = -1 or 1           label of two classes
 *     poisson              mean mu = exp(f), variance mu              count
 *     negative-binomial    mean mu = exp(f), variance mu + d mu^2     count, d its dispersion
 *     gamma                mean mu = exp(f), variance d mu^2          positive amount
 *     student-t            y - f is Student-t, squared scale d, nu degrees of freedom
 *
 * The shift of a reading is added to its latent value: the logarithm of its exposure.
 */
#ifndef HFI_SITES_LIKELIHOOD_H
#define HFI_SITES_LIKELIHOOD_H

#include <holdfast/train.h>

/** One reading, as a likelihood sees it. */
typedef struct hfi_seen {
    double y;     /* the reading; of a label -1 (class 0) or 1 (class 1) */
    double shift; /* added to its latent value */
    /* parameter of likelihoods that have one; with what is known about this reading alone */
    double dispersion;
    double shape; /* second parameter of likelihoods that have two */
    /* The part of the log density that does not depend on f; its derivatives in log dispersion and
     * in the shape; and log y (0 where y is not positive); set by hfi_likelihood_place(). */
    double constant, constant_slope, constant_shape, log_y;
    double kept[2]; /* what else hfi_likelihood_place() has found for the likelihood itself */
} hfi_seen;

/** Log density l of a reading at f and its derivatives; those in parameters that it does not have
 * are 0. */
typedef struct hfi_likelihood_slopes {
    double value;
    double f, w, fff;   /* l', -l'', l''' */
    double d, f_d, w_d; /* derivatives of value, f and w in log dispersion */
    double n, f_n, w_n; /* and in the shape */
} hfi_likelihood_slopes;

/** Product of a normal N(mean, var) of f and the likelihood of a reading. With Z its integral, its
 * own mean is mean + var slope and its variance var + var^2 curvature: derivatives of log Z in the
 * mean. */
typedef struct hfi_likelihood_tilted {
    double log_z, slope, curvature; /* curvature <= 0 of concave ones */
    double share; /* 1 + var curvature: its variance over var, without cancellation */
    double d, n;  /* d log Z / d log dispersion and / d shape */
} hfi_likelihood_tilted;

/** Expectations over a normal f: of the log density, of its derivatives l' and -l'', and those of
 * the parameters. */
typedef struct hfi_likelihood_expected {
    double value, f, w, d, n;
} hfi_likelihood_expected;

typedef struct hfi_likelihood {
    const char *name;      /* as hf_enum_name(HF_ENUM_LIKELIHOOD, ) has it */
    bool labels;           /* the reading is a label */
    bool rate;             /* the mean of a reading is exp(f + shift) */
    bool whole;            /* of these: readings are whole numbers from 0; else they are positive */
    hf_inference usual;    /* what HF_INFERENCE_AUTO stands for */
    const char *parameter; /* name of its dispersion; NULL: it has none */
    /** Its second parameter and how that is trained: log(shape - above) ~ N(log(start - above),
     * sd^2), in [least, most]. Name NULL: it has none. */
    struct {
        const char *name;
        double above, start, sd, least, most;
    } shape;
    /** Where the log density is not concave: precision of the normal density around y that touches
     * the likelihood at f and, up to a factor, lies below it elsewhere. A factor from 1 on widens
     * its dispersion. NULL: the log density is concave. */
    double (*touch)(const hfi_seen *seen, double f, double widening);
    /** Variance of the normal density with the same central 95 % interval as the noise. NULL: no
     * noise. */
    double (*observed)(double dispersion, double shape);
    /** Sets the parts that do not depend on f; NULL: there are none. */
    void (*place)(hfi_seen *seen);
    /** The rest, at f + shift. */
    void (*slopes)(const hfi_seen *seen, double f, hfi_likelihood_slopes *out);
    /** Product of a normal density and the likelihood to the power `power`; false: by quadrature.
     * NULL: always. */
    bool (*tilt)(const hfi_seen *seen, double power, double mean, double var,
                 hfi_likelihood_tilted *out);
    /** Expectations over a normal density; NULL: by quadrature. */
    void (*expect)(const hfi_seen *seen, double mean, double var, hfi_likelihood_expected *out);
    double step; /* widest step in f at which a trapezoidal rule has an error below rounding */
    /** P(reading <= y) where the mean of a reading is mu. NULL where it is no rate. */
    double (*cumulative)(double dispersion, double mu, double y);
    /** Variance of a reading of mean mu is linear mu + square mu^2. NULL where it is no rate. */
    void (*variance)(double dispersion, double *linear, double *square);
} hfi_likelihood;

#define ROW_(id, symbol, name, help) extern const hfi_likelihood hfi_likelihood_##symbol;
HF_LIKELIHOOD_LIST(ROW_)
#undef ROW_

/** The row of that name; NULL: it is no likelihood of this table, or NULL. */
const hfi_likelihood *hfi_likelihood_named(const char *name);

/** Whether counts or amounts can be y: whole numbers from 0 to 2^53, or positive and finite. */
bool hfi_likelihood_allows(const hfi_likelihood *likelihood, double y);

/** To be called before all below, and when y or a parameter of a reading changed. */
void hfi_likelihood_place(const hfi_likelihood *likelihood, hfi_seen *seen);

/** Accurate to some 1e-14 relative for every finite f, however improbable the reading is. Pure. */
hfi_likelihood_slopes hfi_likelihood_density(const hfi_likelihood *likelihood, const hfi_seen *seen,
                                             double f);

/** The product of the likelihood to the power `power` in (0, 1] with N(mean, var), var >= 0. Closed
 * form, or the trapezoidal rule from the mode outwards until the product is below exp(-40) of the
 * mode's: relative accuracy 1e-12 for standard deviations up to 1000 steps; beyond, the step grows.
 * 36 points and more. Pure. */
hfi_likelihood_tilted hfi_likelihood_tilt(const hfi_likelihood *likelihood, const hfi_seen *seen,
                                          double power, double mean, double var);

/** Expectations over N(mean, var), var >= 0. Closed form, or the trapezoidal rule: relative
 * accuracy 1e-11 for standard deviations up to 3; beyond some 1000 steps the step grows. 40 points
 * and more. Pure. */
hfi_likelihood_expected hfi_likelihood_expect(const hfi_likelihood *likelihood,
                                              const hfi_seen *seen, double mean, double var);

/* ---- a new reading where log of its mean is N(mean, var); not for labels --------------------- */

/** Mean of the reading, standard deviation of its mean, and its own. exp(mean + var/2) and so on:
 * infinite where that is too large for a double. */
void hfi_likelihood_moments(const hfi_likelihood *likelihood, double dispersion, double mean,
                            double var, double *reading, double *sd_mean, double *sd_reading);

/** P(reading <= y), to 1e-9 absolute. 40 to 300 evaluations of a density or distribution
 * function. */
double hfi_likelihood_cumulative(const hfi_likelihood *likelihood, double dispersion, double mean,
                                 double var, double y);

/** The p-quantile, 0 < p < 1: of counts the smallest k with P(reading <= k) >= p. 10 to 45
 * evaluations of the above. */
double hfi_likelihood_quantile(const hfi_likelihood *likelihood, double dispersion, double mean,
                               double var, double p);

/** Continuous ranked probability score: the integral of (P(reading <= t) - 1{t >= y})^2 over t,
 * which of counts is the sum over whole numbers. To 1e-5 of itself. At most some 600 evaluations of
 * hfi_likelihood_cumulative(). */
double hfi_likelihood_crps(const hfi_likelihood *likelihood, double dispersion, double mean,
                           double var, double y);

/* ---- regularised incomplete Gamma and Beta functions: distribution functions of gamma, Poisson
 * and negative binomial variables --- */

/** P(a, z) = gamma(a, z) / Gamma(a) and Q = 1 - P, for a > 0; z <= 0 counts as 0. Relative accuracy
 * 1e-13 times the size of a log z, O(sqrt a) steps. */
double hfi_gamma_below(double a, double z);
double hfi_gamma_above(double a, double z);

/** I_x(a, b) for a, b > 0, x in [0, 1]; `rest` is 1 - x, to be given because it may be small.
 * Accuracy and cost as above, with the larger of a and b. Source: DLMF 8.17.22. */
double hfi_beta_below(double a, double b, double x, double rest);

#endif
