/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file classify.h
 * @brief Gaussian process classification: from labels to a posterior over latent functions, and
 * from there to probabilities.
 *
 * A latent function f with a Gaussian process prior says how strongly an input speaks for a class,
 * a link turns it into a probability:
 *
 * | link | classes | probability |
 * |---|---|---|
 * | probit | 2 | p(class 1 given f) = Phi(f), the normal distribution function |
 * | logit | 2 | p(class 1 given f) = 1 / (1 + exp(-f)) |
 * | softmax | C >= 2 | p(class c given f) = exp(f_c) / sum_b exp(f_b), a function for each |
 *
 * The posterior of f under such a likelihood is not normal. It is approximated by a normal one,
 * which is that of Gaussian pseudo-observations, **sites**: label i becomes a reading z_i of f(x_i)
 * with variance d_i. From there everything is as for readings: a classifier owns an hf_posterior,
 * and whatever a posterior can do (gradients, covariances, samples, certificates) it can do for a
 * classifier's latent functions.
 *
 * **Two classes.** Class 0 and class 1; f is for class 1. Latent values are on the scale of the
 * link, so that there is no noise and nothing to standardise in the target.
 *
 * **More classes.** The C latent functions of the softmax link are independent a priori and one
 * posterior of C outputs: its kernel and its mean have one input more than there are features, the
 * last, and that is the number of the class. The kernel must give different classes no covariance,
 * as these do:
 *
 *     coregion(class, outputs=3, rank=1, factor=0, own=1)*constant*(matern52(ard))
 *         the same hyperparameters for all
 *     coregion(class, outputs=3, factor[0,0]~1, factor[1,0]=0, ...)*(matern52(ard)) + ...
 *         each its own
 *
 * A posteriori they are not independent. They are inferred by Laplace's method, and their S is not
 * that of sites (posterior.h says what S is). The mode is nearer to the prior than the posterior
 * mean, by a factor of two and more where labels are clear. This makes its probabilities
 * underconfident; "corrected" puts the mean where it goes best with the covariance: K^-1 (mean - m)
 * = y - E[p], the expectation under the approximation itself.
 *
 * **Evidence.** Both approximations come with one of log p(labels), which training maximises, with
 * exact gradients.
 *
 * Sources: Rasmussen and Williams, Gaussian processes for machine learning, 2006, chapters 3 and 5.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_CLASSIFY_H
#define HOLDFAST_CLASSIFY_H

#include <holdfast/posterior.h>
#include <holdfast/settings.h>
#include <holdfast/train.h>
#include <stdint.h>

HF_BEGIN_DECLS

/** The label of a row whose class is not known; such rows say nothing. */
#define HF_LABEL_MISSING SIZE_MAX

/** From latent values to probabilities. */
typedef enum hf_link {
    HF_LINK_PROBIT = 0,
    HF_LINK_LOGIT,
    HF_LINK_SOFTMAX
} hf_link;

/**
 * Probability of class 1 for a latent value N(mean, var): E[link(f)]. Probit: Phi(mean / sqrt(1 +
 * var)), in closed form. Logit: by a quadrature of fixed points, trapezoidal in a variable in which
 * the integrand is analytic in a strip of half width pi/2 or more.
 * @param error a proved bound on the absolute error of the quadrature and of its summation, below
 *         1e-13; 0 for a closed form. May be NULL.
 * With a scale lambda of the link: ask with lambda mean and lambda^2 var.
 * Allocates nothing; thread-safe. About 40 ns (probit), 2 to 8 us (logit). Source of the bound:
 * Trefethen and Weideman, The exponentially convergent trapezoidal rule, SIAM Review 56, 2014,
 * theorem 5.1.
 * Errors, which leave the outputs alone: HF_ERR_ARGUMENT (a link of other than two classes, a
 * negative var, no place for the probability), HF_ERR_NOT_FINITE (mean or var).
 */
HF_API hf_status hf_class_probability(hf_link link, double mean, double var, double *probability,
                                      double *error);

/**
 * The approximate log evidence of labels and its gradient, at given hyperparameters, with the exact
 * solver. With g = f - m, log likelihoods l_i, W = -l'' and a = l' at the mode:
 *
 *     Laplace    sum_i l_i - a'g/2 - log det(I + K W)/2     Rasmussen, Williams, alg. 3.1, 5.1
 *     EP         log of the the approximation's normalisation; alg. 3.5, 5.2, all sites at once
 *
 * @param x        n x d row-major inputs, stride ldx, d = dimension of the kernel; read where there
 *         is a label
 * @param label    n entries below `classes`, or HF_LABEL_MISSING. Labels of one class only are
 *         allowed here.
 * @param gradient entries for every kernel parameter on the training scale (log of positive ones),
 *         then every mean coefficient; or NULL
 * Errors, which leave the outputs alone: HF_ERR_ARGUMENT (a NULL, a label out of range, a number of
 * classes that the link is not for); HF_ERR_NO_DATA (no label), HF_ERR_NOT_FINITE (the row is
 * named), HF_ERR_DIMENSION, HF_ERR_TOO_LARGE, HF_ERR_MEMORY. HF_WARN_NOT_CONVERGED: the iteration
 * was stopped by its limit or by rounding. Laplace: n^3/3 flops for each of 5 to 10 steps; EP:
 * those, then 2 n^3/3 for each of 10 to 20 rounds; n^3 for the gradient. Softmax: C n^3 for each of
 * 5 to 10 steps. 3 n^2 doubles.
 */
HF_API hf_status hf_class_evidence(hf_context *ctx, hf_link link, hf_inference inference,
                                   const hf_kernel *kernel, const hf_mean *mean, size_t n,
                                   const double *x, size_t ldx, const size_t *label, size_t classes,
                                   double *value, double *gradient);

/** A posterior over latent functions, and the link. Immutable: any number of threads may ask it. */
typedef struct hf_classifier hf_classifier;

/**
 * The classifier at given hyperparameters, with the exact solver; arguments, cost and errors as for
 * hf_class_evidence().
 * @param value receives the approximate log evidence, or NULL
 * kernel, mean and x are copied. Free with hf_classifier_free().
 */
HF_API hf_status hf_classify_exact(hf_context *ctx, hf_link link, hf_inference inference,
                                   const hf_kernel *kernel, const hf_mean *mean, size_t n,
                                   const double *x, size_t ldx, const size_t *label, size_t classes,
                                   hf_classifier **out, double *value);
/** Settings of a fit. Always start from hf_class_settings_default(). */
typedef struct hf_class_settings {
    /** sizeof(hf_class_settings) */
    size_t size;
    /** Link of latent values and classes. Default: HF_LINK_PROBIT. */
    hf_link link;
    /** Corrected softmax fits train their hyperparameters by Laplace's evidence. Default:
     * HF_INFERENCE_AUTO. */
    hf_inference inference;
    /** Expression (kernel.h). Default: NULL ("matern52(ard)"). */
    const char *kernel;
    /** Mean of the latent function; softmax: one constant for each class, or zero. Default:
     * HF_MEAN_CONSTANT. */
    hf_mean_kind mean;
    /** Softmax: each class has hyperparameters of its own. Default: false. */
    bool own_kernels;
    /** Parameters are trained, and else stay at their start or set values. Default: true. */
    bool train;
    /** Weak log-normal priors on lengthscales and outputscales, those of hf_fit_settings with
     * latent values in units of the link. Default: true. */
    bool priors;
    /** A constant mean is trained, and else is the share of class 1 less that of class 0. Default:
     * true. */
    bool train_mean;
    /** Inputs are scaled (mean, sd), undone in every output. Default: true. */
    bool standardise;
    /** A search makes at most 1.5 x this + 5 evaluations. Default: 60. */
    size_t iterations;
    /** Additional seeded random starts. Default: 0. */
    size_t restarts;
    /** Method. Default: HF_SOLVER_AUTO (exact up to 2000 labels, then inducing). */
    hf_solver solver;
    /** Inducing inputs; 0: chosen by the number of labels. Default: 0. */
    size_t inducing;
    /** FITC, DTC or VFE (solver.h). Default: HF_INDUCING_FITC. */
    hf_inducing_method inducing_method;
    /** Choice of inducing inputs. Default: HF_INDUCING_GREEDY. */
    hf_inducing_choice inducing_choice;
    /** Values held: "mean" or a kernel parameter, user units. Default: NULL (none). */
    const hf_assignment *set;
    /** Entries of `set`. Default: 0. */
    size_t set_count;
} hf_class_settings;
HF_SETTINGS(hf_class_settings)

/** Labelled rows as arrays. */
typedef struct hf_class_data {
    size_t n, d;
    /** n x d row-major, finite */
    const double *x;
    /** row stride of x, >= d */
    size_t ldx;
    /** n entries below `classes`, or HF_LABEL_MISSING */
    const size_t *label;
    size_t classes;
    /** d input names for the kernel expression and messages, or NULL */
    const char *const *names;
    /** `classes` names for messages, or NULL */
    const char *const *class_names;
} hf_class_data;

/** Report of a fit. */
typedef struct hf_class_report {
    /** rows with a label */
    size_t labels;
    /** rows without one */
    size_t missing;
    hf_stop stop;
    /** of the evidence, over all searches */
    size_t evaluations;
    /** approximate log evidence at the end, without priors */
    double objective;
    /** log prior density there, 0 without priors */
    double log_prior;
    /** largest derivative of their sum that does not push against a bound */
    double gradient_norm;
    /** trained parameters that ended at a bound */
    size_t at_bound;
    /** their names, comma-separated, cut if too long */
    char at_bound_names[160];
    /** steps of the last inference: of Newton's method, or rounds over all sites */
    size_t rounds;
    double jitter;
    double bytes;
    double seconds;
    /** never auto */
    hf_solver solver;
    /** inducing inputs used, 0 if none */
    size_t inducing;
} hf_class_report;

/**
 * The fit: hyperparameters by the maximum of the approximate log evidence (plus priors), and the
 * classifier there.
 *
 * With inducing inputs the prior covariance of the rows is the solver's (solver.h) and the evidence
 * that of this model, exactly differentiated; of VFE it is the evidence under Q less sum_i w_i
 * (k_ii - q_ii)/2 with the precisions w of the sites.
 * @param report may be NULL
 * Errors, which leave the outputs alone: those of hf_class_evidence(), HF_ERR_NO_DATA (all labels
 * of one class; a class that no row has), HF_ERR_PARSE (kernel), HF_ERR_ARGUMENT (settings),
 * HF_ERR_CANCELLED. Warnings: HF_WARN_NOT_CONVERGED (search or inference), HF_WARN_AT_BOUND,
 * HF_WARN_JITTER. Reports progress as "train". Cost: some 30 evaluations, see hf_class_evidence();
 * n m^2 a step with m inducing inputs.
 */
HF_API hf_status hf_classifier_fit(hf_context *ctx, const hf_class_data *data,
                                   const hf_class_settings *settings, hf_classifier **out,
                                   hf_class_report *report);

/** From parts, e.g. of a model file: takes over the posterior, which stays the caller's on error.
 * HF_ERR_ARGUMENT: a number of classes that the link is not for, a NULL. O(1). */
HF_API hf_status hf_classifier_create(hf_context *ctx, hf_posterior *posterior, hf_link link,
                                      size_t classes, hf_classifier **out);
HF_API void hf_classifier_free(hf_classifier *classifier);

/** The posterior of the latent function, owned by the classifier; link and number of classes (0 for
 * NULL). */
HF_API const hf_posterior *hf_classifier_posterior(const hf_classifier *classifier);
HF_API hf_link hf_classifier_link(const hf_classifier *classifier);
HF_API size_t hf_classifier_classes(const hf_classifier *classifier);

/** From latent values to a decision. With two classes P = E[link(lambda f)] is the probability of
 * class 1, and the decision is class 1 where P > threshold, else class 0. With a loss the decision
 * is the class a whose expected loss sum_b loss_ab P_b is least, of equals the first. */
typedef struct hf_class_rule {
    /** sizeof(hf_class_rule) */
    size_t size;
    /** Scale of the link of two classes, between 1e-6 and 1e6. Probit: P = Phi(mean /
     * sqrt(lambda^-2 + var)). Above 1 probabilities are farther from 1/2, below 1 nearer to it,
     * than those of the fit. Default: 1. */
    double lambda;
    /** P of two classes is compared with it; in (0, 1). Default: 0.5. */
    double threshold;
    /** Costs, classes x classes, row by row: entry (a, b) is the cost of the decision a where the
     * class is b. Not negative, finite, and a wrong decision costs more than the right one:
     * loss_ab > loss_bb. Default: NULL (every wrong decision costs 1). */
    const double *loss;
} hf_class_rule;
/** The defaults that the fields name. */
HF_SETTINGS(hf_class_rule)

/**
 * The threshold that makes the expected loss least: deciding 1 costs wrong_1 (1 - P), deciding 0
 * costs wrong_0 P, so that class 1 costs less where P > wrong_1 / (wrong_1 + wrong_0).
 * @param wrong_1 what the decision 1 costs where the class is 0, > 0, finite.
 * @param wrong_0 what the decision 0 costs where the class is 1, > 0, finite.
 * Errors, which leave the threshold alone: HF_ERR_ARGUMENT for a NULL, costs that are not above 0
 * or not finite, or so unequal that the quotient is 0 or 1 in double precision.
 * Source: Rasmussen and Williams, 2006, section 3.1 (asymmetric losses).
 */
HF_API hf_status hf_class_threshold(hf_context *ctx, double wrong_1, double wrong_0,
                                    double *threshold);

/**
 * Lets a classifier decide by another rule. All that asks it follows from then on: probabilities
 * and winners of hf_classify_predict(), certificates, attacks, explanations. The posterior stays as
 * it is, and files do not keep the rule. Not while another thread asks it.
 * @param rule NULL for the defaults; its loss is copied. With the links probit and logit a loss
 *        makes
 *             the threshold (loss_10 - loss_00) / (loss_10 - loss_00 + loss_01 - loss_11)
 * Errors, which leave the rule alone: HF_ERR_MEMORY; HF_ERR_ARGUMENT for a NULL classifier, numbers
 * out of range, a scale or a threshold for the link softmax, a loss beside a threshold.
 * O(classes^2).
 */
HF_API hf_status hf_classifier_set_rule(hf_context *ctx, hf_classifier *classifier,
                                        const hf_class_rule *rule);
/** The rule, owned by the classifier, until the next rule; NULL for NULL. */
HF_API const hf_class_rule *hf_classifier_rule(const hf_classifier *classifier);

/**
 * The expected losses sum_b loss_ab P_b of the decisions a.
 * @param loss        classes x classes as hf_class_rule has it, or NULL: 1 - P_a
 * @param probability classes entries P_b
 * @param expected    classes entries, not overlapping the others
 * No errors; a NULL of the last two or no classes: nothing is done. O(classes^2).
 */
HF_API void hf_class_expected_loss(size_t classes, const double *loss, const double *probability,
                                   double *expected);

/**
 * Class probabilities at m points x (m x d row-major, stride ldx). Any of the outputs may be NULL.
 * @param probability m x classes, row by row; rows add up to 1 to rounding. softmax: of x with d -
 *         1 inputs, the class being put last for every one
 * @param winner      m entries: the class of the largest probability, of equals the first; with a
 *                    rule (hf_classifier_set_rule()) that which it decides for
 * @param latent_mean, latent_var  m entries: of f; softmax: m x classes
 * @param error       m entries: bound on the error of each probability of a row, as
 *                    hf_class_probability() gives it. softmax: a bound for up to four classes (the
 *                    product of trapezoidal rules, 1e-9 for three and 1e-6 for four where latent
 *                    standard deviations are below 10), for more three standard errors of a
 *                    randomly shifted sum over 65 536 points at most, always the same ones
 * Cost as hf_predict() with variances. Outputs are untouched on error; can be cancelled.
 */
HF_API hf_status hf_classify_predict(hf_context *ctx, const hf_classifier *classifier, size_t m,
                                     const double *x, size_t ldx, double *probability,
                                     size_t *winner, double *latent_mean, double *latent_var,
                                     double *error);

HF_END_DECLS

#endif
