/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file likelihood_list.h
 * @brief The one list of likelihoods.
 *
 * HF_LIKELIHOOD_<ID> of hf_likelihood, names of sites and presets, help texts and the table of the
 * library (src/sites/likelihood.h) are made from it. A new likelihood is a row here, the file
 * src/sites/likelihood_<symbol>.c with its functions, its tests and its documentation.
 *
 * X(ID, symbol, name, help)
 */
#ifndef HOLDFAST_LIKELIHOOD_LIST_H
#define HOLDFAST_LIKELIHOOD_LIST_H

/** Readings scatter about the latent value itself. Student-t: noise of squared scale sigma^2 and nu
 * degrees of freedom. Predictions are normal: the observed variance is the latent one plus
 * sigma^2 (q / 1.96)^2, where q is the 0.975 quantile of the t distribution: the normal density
 * with the same central 95 % interval as the noise. It is finite for every nu (the noise's own
 * variance, sigma^2 nu / (nu - 2), is not for nu <= 2) and tends to sigma^2 as nu grows. Where
 * noise dominates, intervals of other levels differ from those of the t distribution: 50 % ones
 * are too wide. */
#define HF_NOISE_LIKELIHOODS(X)                                                                    \
    X(STUDENT_T, student_t, "student-t", "readings with heavy-tailed noise")

/** Labels of two classes: the target of hf_fit() is a class, and the model a classifier
 * (classify.h). */
#define HF_LABEL_LIKELIHOODS(X)                                                                    \
    X(PROBIT, probit, "probit", "labels of two classes")                                           \
    X(LOGIT, logit, "logit", "labels of two classes, with the logistic function")

/** Readings of mean mu, where log mu = f + log exposure (likelihood.h). */
#define HF_RATE_LIKELIHOODS(X)                                                                     \
    X(POISSON, poisson, "poisson", "counts of variance mu")                                        \
    X(NEGATIVE_BINOMIAL, negative_binomial, "negative-binomial",                                   \
      "counts of variance mu + dispersion mu^2")                                                   \
    X(GAMMA, gamma, "gamma", "positive amounts of variance dispersion mu^2")

#define HF_LIKELIHOOD_LIST(X) HF_NOISE_LIKELIHOODS(X) HF_LABEL_LIKELIHOODS(X) HF_RATE_LIKELIHOODS(X)

/** For lists of names: ", name" of a row. */
#define HF_LIKELIHOOD_NAME_(id, symbol, name, help) , name

#endif
