/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file likelihood_list.h
 * @brief The one list of likelihoods.
 *
 * HF_LIKELIHOOD_<ID> of hf_likelihood, names of sites and presets, help texts and the table of the
 * library (src/sites/likelihood.h) are made from it. A new likelihood is a row here, the file
 * src/sites/likelihood_<symbol>.c with its functions, its tests and its documentation. One of
 * another method (OTHER) is a row of src/sites/kind.h and of src/fit/ways.c instead of the file.
 *
 * The order of rows is that of the numbers in hf_likelihood, from 1 on. A new row comes last, so
 * that programs which are compiled already ask for the same likelihood as before.
 */
#ifndef HOLDFAST_LIKELIHOOD_LIST_H
#define HOLDFAST_LIKELIHOOD_LIST_H

/**
 * KIND(ID, symbol, name, help), where the kind of a row says what the target is:
 *
 * OTHER: of methods that the table of the library does not describe. robust: smooth robust
 * conjugate weights, re-weighted to a fixed point. pursuit: Gaussian, a few readings with a
 * variance of their own: relevance pursuit (Ament et al. 2024).
 *
 * NOISE: readings scatter about the latent value itself. Student-t: noise of squared scale sigma^2
 * and nu degrees of freedom. Predictions are normal: the observed variance is the latent one plus
 * sigma^2 (q / 1.96)^2, where q is the 0.975 quantile of the t distribution: the normal density
 * with the same central 95 % interval as the noise. It is finite for every nu (the noise's own
 * variance, sigma^2 nu / (nu - 2), is not for nu <= 2) and tends to sigma^2 as nu grows. Where
 * noise dominates, intervals of other levels differ from those of the t distribution: 50 % ones
 * are too wide.
 *
 * LABEL: labels of two classes; the target of hf_fit() is a class, and the model a classifier
 * (classify.h).
 *
 * RATE: readings of mean mu, where log mu = f + log exposure (likelihood.h).
 */
#define HF_LIKELIHOODS(OTHER, NOISE, LABEL, RATE)                                                  \
    OTHER(ROBUST, robust, "robust", "smooth weights that fall with the residual")                  \
    NOISE(STUDENT_T, student_t, "student-t", "readings with heavy-tailed noise")                   \
    OTHER(PURSUIT, pursuit, "pursuit", "a few readings with a variance of their own")              \
    LABEL(PROBIT, probit, "probit", "labels of two classes")                                       \
    LABEL(LOGIT, logit, "logit", "labels of two classes, with the logistic function")              \
    OTHER(SOFTMAX, softmax, "softmax", "labels of any number of classes")                          \
    RATE(POISSON, poisson, "poisson", "counts of variance mu")                                     \
    RATE(NEGATIVE_BINOMIAL, negative_binomial, "negative-binomial",                                \
         "counts of variance mu + dispersion mu^2")                                                \
    RATE(GAMMA, gamma, "gamma", "positive amounts of variance dispersion mu^2")

#define HF_NO_LIKELIHOOD_(id, symbol, name, help)

/** The rows of one kind, X(ID, symbol, name, help) for each. */
#define HF_NOISE_LIKELIHOODS(X)                                                                    \
    HF_LIKELIHOODS(HF_NO_LIKELIHOOD_, X, HF_NO_LIKELIHOOD_, HF_NO_LIKELIHOOD_)
#define HF_LABEL_LIKELIHOODS(X)                                                                    \
    HF_LIKELIHOODS(HF_NO_LIKELIHOOD_, HF_NO_LIKELIHOOD_, X, HF_NO_LIKELIHOOD_)
#define HF_RATE_LIKELIHOODS(X)                                                                     \
    HF_LIKELIHOODS(HF_NO_LIKELIHOOD_, HF_NO_LIKELIHOOD_, HF_NO_LIKELIHOOD_, X)

/** The rows that have a file in the library, and all rows. */
#define HF_LIKELIHOOD_LIST(X) HF_LIKELIHOODS(HF_NO_LIKELIHOOD_, X, X, X)
#define HF_SITES_LIST(X)      HF_LIKELIHOODS(X, X, X, X)

/** For lists of names: ", name" of a row. */
#define HF_LIKELIHOOD_NAME_(id, symbol, name, help) , name

#endif
