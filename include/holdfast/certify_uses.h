/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certify_uses.h
 * @brief Uses of certified ranges (certify.h): class probabilities and decisions, radii, attacks,
 * guaranteed explanations, and what bad readings can do while
 *        hyperparameters, centres and thresholds are held.
 *
 * **Two classes**, links probit and logit. A classifier's probability of class 1 is P = E[link(f)]
 * for the latent f of mean m and standard deviation s. It grows with m, and with s it moves towards
 * 1/2; branch and bound runs on P itself, with bounds that see mean and deviation together. Its
 * winner is class 1 exactly where m > 0. With a rule (hf_classifier_set_rule()) P is
 * E[link(lambda f)], and the winner is class 1 where P > threshold: decisions, radii, accuracies,
 * chances of classes and smallest moves are about that. Probabilities nearer to the threshold than
 * 1e-7 of it (above 1/2: of one less it), or than 4e-13, are left open.
 *
 * **More classes**, the link softmax. P = E[softmax(f)] for the joint normal distribution of the
 * latent values of all classes. Bounds see all their means and covariances together; the winner,
 * the class of the largest probability, is certain in a box where it is surely ahead of each other
 * class. With a loss (hf_classifier_set_rule()) the winner has the least expected loss, and is
 * certain where that is surely less than each other decision's; probabilities in what follows are
 * then losses in units of the largest one. Bounds include the error of the quadrature that they
 * use: for up to four classes a bound;
 * for more, six standard errors of a randomly shifted sum that is always the same one, boxes of
 * zero width among them. No quadrature with a useful bound is quick enough there. Certificates of
 * five classes and more rest on that estimate, and answers say so (`estimate`). Differences of
 * probabilities below about 1e-5 (five classes and more: the error, about 1e-3) are left open.
 *
 * All report progress, also within one box, and can be cancelled (HF_ERR_CANCELLED, outputs
 * untouched). `total_time` of the settings is for all boxes of a call. Settings are those of
 * hf_certify(), the tolerance in units of what is asked about: for probabilities the default of
 * 0.01 is one percent. `settings` NULL stands for the defaults, `output` is the class. Units are
 * the user's. certify.h says what certificates rest on, and has the errors of boxes.
 *
 * Sources: Patane, Blaas, Laurenti, Cardelli, Roberts, Kwiatkowska, Adversarial robustness
 * guarantees for Gaussian processes, 2022 (Propositions 8 and 9: how P moves with mean and
 * variance; section 7.4: the scores of hf_explain()); Grosse et al., 2017 (the signed gradient
 * step).
 */
#ifndef HOLDFAST_CERTIFY_USES_H
#define HOLDFAST_CERTIFY_USES_H

#include <holdfast/certify.h>
#include <holdfast/classify.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

/**
 * Ranges of the probability of class settings->output over m boxes, as hf_certify_boxes() has them:
 * lower, upper, argmin and argmax are m x inputs, out has m entries. out[k].upper - out[k].lower is
 * the robustness delta of the box, to the tolerance.
 * Errors: those of hf_certify_boxes(); HF_ERR_ARGUMENT for rigorous settings with the link softmax.
 * HF_WARN_NOT_CONVERGED likewise. Rigorous settings: mean and deviation are intervals, and P of
 * them by enclosed closed form (probit) or quadrature (logit); of classifiers of the exact solver.
 * Cost: as hf_certify_boxes() with sd; softmax: that of every class, and the quadrature in each
 * box.
 */
HF_API hf_status hf_certify_class(hf_context *ctx, const hf_classifier *classifier,
                                  const hf_certify_settings *settings, size_t m,
                                  const double *lower, const double *upper, hf_range *out,
                                  double *argmin, double *argmax);

/**
 * Ranges of the expected loss sum_b loss_ab P_b of deciding for class a = settings->output, as
 * hf_certify_class() has those of P_a. The tolerance is in units of the loss.
 * @param loss classes x classes as hf_class_rule has it; the classifier's rule is left as it is.
 *             NULL: the loss of that rule (hf_classifier_set_rule()), without one 1 - P_a
 * Errors and warnings: those of hf_certify_class(); HF_ERR_ARGUMENT for a loss that is not finite,
 * below 0, or not larger for a wrong decision than for the right one. Cost: that of
 * hf_certify_class().
 */
HF_API hf_status hf_certify_loss(hf_context *ctx, const hf_classifier *classifier,
                                 const double *loss, const hf_certify_settings *settings, size_t m,
                                 const double *lower, const double *upper, hf_range *out,
                                 double *argmin, double *argmax);

/** Whether certificates of a classifier rest on an estimate of the quadrature's error and not on a
 * bound: link softmax, five classes and more. O(1). */
HF_API bool hf_certify_is_estimate(const hf_classifier *classifier);

/** The verdict on decisions in a box. */
typedef enum hf_verdict {
    /** the class of the point is that of every point of the box */
    HF_VERDICT_CERTIFIED = 0,
    /** a point of another class was found */
    HF_VERDICT_COUNTEREXAMPLE,
    /** a limit came first, or differences are within what rounding or the quadrature may be off */
    HF_VERDICT_OPEN
} hf_verdict;

/** The decision over one box. */
typedef struct hf_decision {
    /** class at the point */
    size_t winner;
    hf_verdict verdict;
    size_t nodes;
    double seconds;
    /** hf_certify_is_estimate() */
    bool estimate;
} hf_decision;

/**
 * Whether the class of x[k] is that of all points of box k.
 * @param loss           classes x classes as hf_class_rule has it: the class of a point is that of
 *                       the least expected loss, and answers are to the digit those with a rule
 *                       that has this loss and the lambda of the classifier's rule, which is left
 *                       as it is. NULL: the classifier's rule decides (hf_classifier_set_rule())
 * @param x              m x inputs: points, of which only the class matters
 * @param counterexample m x inputs or NULL: the point of another class; NaN where there is none
 * Stops as soon as that is known; tolerance and decide_at of the settings are not looked at.
 * HF_WARN_NOT_CONVERGED: a verdict is open.
 * Errors: those of hf_certify_boxes(); HF_ERR_ARGUMENT for a point outside its box, and for a loss
 * that hf_classifier_set_rule() refuses. The classifier is only read: threads with contexts of
 * their own may ask about several losses at once. Cost: a prediction and one end of a search of
 * hf_certify_class() a box.
 */
HF_API hf_status hf_certify_decision(hf_context *ctx, const hf_classifier *classifier,
                                     const double *loss, const hf_certify_settings *settings,
                                     size_t m, const double *x, const double *lower,
                                     const double *upper, hf_decision *out, double *counterexample);

/** How far a point can be moved. */
typedef struct hf_radius {
    size_t winner;
    /** no point up to this distance is of another class */
    double certified;
    /** a point at this distance is of another class; infinity: none was found */
    double broken;
    size_t nodes;
    double seconds;
    /** hf_certify_is_estimate() */
    bool estimate;
} hf_radius;

/**
 * The largest radius whose box x +- radius unit is certified, by bisection between what is
 * certified and the nearest counterexample found.
 * @param unit     inputs entries >= 0, not all 0, or NULL for 1 each: what radius 1 is of each
 *         input; 0 holds an input fixed
 * @param most     no radius beyond this is looked at; > 0, finite
 * @param accuracy bisection ends when the certified radius is within this share of the broken one
 *         (or of `most`); in (0, 1)
 * @param counterexample inputs entries or NULL: the point at distance `broken`; NaN where there is
 *         none
 * A limit of the settings holds for each step, and is HF_WARN_NOT_CONVERGED: `certified` is true
 * all the same. Each step may take half of the total time that is left.
 * Errors: those of hf_certify_decision(); HF_ERR_ARGUMENT for a unit, most or accuracy that is
 * none. Cost: a verdict of hf_certify_decision() for each step, about log2(1 / accuracy) of them.
 */
HF_API hf_status hf_certify_radius(hf_context *ctx, const hf_classifier *classifier,
                                   const hf_certify_settings *settings, const double *x,
                                   const double *unit, double most, double accuracy, hf_radius *out,
                                   double *counterexample);

/** How to look for a counterexample without any proof. */
typedef enum hf_attack_kind {
    /** one step along the sign of the gradient, to the sides of the box */
    HF_ATTACK_FGSM = 0,
    /** steps of that kind, from a tenth of the box's sides down, kept inside; the best point wins
     */
    HF_ATTACK_PGD
} hf_attack_kind;

/**
 * Points of boxes where the class of x[k] is less probable.
 * @param x, lower, upper m x inputs, each x inside its box.
 * @param steps           of the projected attack; 0 stands for 40
 * @param attacked        m x inputs
 * @param probability     m entries or NULL: what is left there of the probability of x[k]'s class
 * HF_ERR_ARGUMENT: a point outside its box. Cost: a prediction with gradients for each step.
 */
HF_API hf_status hf_attack(hf_context *ctx, const hf_classifier *classifier, hf_attack_kind kind,
                           size_t steps, size_t m, const double *x, const double *lower,
                           const double *upper, double *attacked, double *probability);

/** Which values an attack on a prediction looks for. */
typedef enum hf_attack_goal {
    /** that farthest from the value at the point, either way */
    HF_ATTACK_FARTHEST = 0,
    HF_ATTACK_LARGEST,
    HF_ATTACK_SMALLEST
} hf_attack_goal;

/** How an attack on a value goes. Always start from hf_attack_settings_default(). */
typedef struct hf_attack_settings {
    /** sizeof(hf_attack_settings) */
    size_t size;
    /** Latent mean, sd, or mean + beta sd. Default: HF_CERTIFY_MEAN. */
    hf_certify_what what;
    /** The caller's, or NULL. Its beta, output, observed and region say which value and where:
     * regions without `moves` and `sets`, about the points. The rest is checked only. Default:
     * NULL (the defaults). */
    const hf_certify_settings *value;
    /** Method. Default: HF_ATTACK_PGD. */
    hf_attack_kind kind;
    /** Values that are looked for. Default: HF_ATTACK_FARTHEST. */
    hf_attack_goal goal;
    /** Steps of each start of the projected attack; 0 stands for 40. Default: 40. */
    size_t steps;
    /** Starts of the projected attack: the point, and others drawn from the box; 0 stands for 1.
     * Default: 5. */
    size_t starts;
    /** Seed of the starts. Default: 0. */
    uint64_t seed;
} hf_attack_settings;
HF_SETTINGS(hf_attack_settings)

/**
 * Points of boxes where a value of a posterior is far from what it is at x[k].
 * @param settings    NULL for the defaults.
 * @param x, lower, upper m x inputs, each x inside its box.
 * @param attacked    m x inputs, inside of box and region.
 * @param value_there m entries or NULL
 *
 * Steps are along signs of slopes in boxes, along the slope in an L2 ball, and along its largest
 * entry in an L1 ball. Their unit is half-widths of the box. Projected steps never end at a value
 * that is worse than at x[k]; the one step of HF_ATTACK_FGSM may. It proves nothing: what it does
 * not find may be there, and hf_certify_boxes() says what surely is not.
 *
 * Errors, which leave the outputs alone: those of hf_certify_boxes(); HF_ERR_ARGUMENT for a point
 * outside its box, an attack or a goal that there is not, regions as said. Cost: a prediction with
 * gradients for each step. Progress ("attack"); can be cancelled. The posterior is only read, and
 * the digits are the same for any number of threads.
 */
HF_API hf_status hf_attack_value(hf_context *ctx, const hf_posterior *posterior,
                                 const hf_attack_settings *settings, size_t m, const double *x,
                                 const double *lower, const double *upper, double *attacked,
                                 double *value_there);

/** How many of a table's rows are classified rightly, and stay so. */
typedef struct hf_certified_accuracy {
    /** with a label */
    size_t rows;
    /** of them, classified rightly */
    size_t right;
    /** of the right ones, surely so in their whole box */
    size_t certified;
    /** of the right ones, with a counterexample */
    size_t broken;
    /** hf_certify_is_estimate() */
    bool estimate;
} hf_certified_accuracy;

/**
 * Counts over m labelled points, each with the box x +- radius (inputs entries >= 0). Labels may be
 * HF_LABEL_MISSING. The rest is as for hf_certify_decision().
 * Errors: those of hf_certify_decision(); HF_ERR_ARGUMENT for a label that the classifier has not.
 * Cost: that of hf_certify_decision() for the rows with a label.
 */
HF_API hf_status hf_certify_accuracy(hf_context *ctx, const hf_classifier *classifier,
                                     const hf_certify_settings *settings, size_t m, const double *x,
                                     const size_t *label, const double *radius,
                                     hf_certified_accuracy *out);

/**
 * Scores what raising each input by up to step does against lowering it, with guaranteed
 * enclosures. With max+ and min+ over [x_i, x_i + step_i], max- and min- over [x_i - step_i, x_i]
 * and the other inputs held,
 *
 *     score_i = (max+ - max-) + (min+ - min-)      lower_i <= score_i <= upper_i
 *
 * of a posterior's value, or of the probability of class settings->output.
 * @param step  inputs entries >= 0; 0: the score is 0
 * @param lower, upper m x inputs. Widths are at most four tolerances and what the attained values
 *              may be off, unless a limit came first (HF_WARN_NOT_CONVERGED); infinite where a
 *              bound is not finite. Those of classes rest on what hf_certify_is_estimate() says.
 * Errors: those of hf_certify_boxes(); HF_ERR_ARGUMENT for a step below 0. Cost: two ranges of
 * hf_certify() or hf_certify_class() for each input of a point.
 */
HF_API hf_status hf_explain(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                            const hf_certify_settings *settings, size_t m, const double *x,
                            const double *step, double *lower, double *upper);
HF_API hf_status hf_explain_class(hf_context *ctx, const hf_classifier *classifier,
                                  const hf_certify_settings *settings, size_t m, const double *x,
                                  const double *step, double *lower, double *upper);

/**
 * How far the posterior mean at m points can move when any `count` readings are replaced by any
 * numbers. Kernel and its hyperparameters, prior mean, noise, centres and thresholds are held: |
 * mean_new(x) - mean(x) | <= damage. It says nothing of a fit made again, which chooses these from
 * the new readings and can move the mean several times as far.
 *
 * One reading: the largest over readings and replacements, exactly (to rounding), by its
 * leave-one-out moments; a site's pull is a bounded function of its reading when the site is
 * robust, and unbounded when it is Gaussian: the damage is then infinite. More readings: a bound
 * that holds for any choice of them. Up to four, of which there are at most 100 000 sets: the
 * largest over all sets of a bound that follows from the covariance of each and from what one site
 * can pull at most. Otherwise a bound for all sets at once, which is loose (docs/methods/certify.md
 * says how loose both are).
 *
 * @param posterior of the exact solver (HF_ERR_ARGUMENT otherwise); with several outputs x has the
 *         number of the output last, and any of all readings may be replaced
 * @param sites     those it was made from, in the solver's units: a fit's are standardised, and the
 *         damage is in the user's units all the same
 * @param damage    m entries
 * @param worst     m entries or NULL: the row of the worst reading; written when `count` is 1
 * HF_ERR_ARGUMENT: count 0 or more than there are readings, sites of another number of readings or
 * with other variances. O(n^3) once, O(n^2) a point, and a microsecond for each set.
 */
HF_API hf_status hf_certify_readings(hf_context *ctx, const hf_posterior *posterior,
                                     const hf_sites *sites, size_t count, size_t m, const double *x,
                                     size_t ldx, double *damage, size_t *worst);

/** The neighbourhood in which a linear function stands for a prediction. Always start from
 * hf_linear_settings_default(). */
typedef struct hf_linear_settings {
    /** sizeof(hf_linear_settings) */
    size_t size;
    /** The one of several outputs, or the class. Default: 0. */
    size_t output;
    /** Pairs of points drawn; at least as many as there are inputs that move. Default: 1000. */
    size_t pairs;
    /** Width of the weights, in steps; 0 stands for 0.75 root(inputs that move). Default: 0. */
    double width;
    /** Seed of the pairs. Default: 0. */
    uint64_t seed;
} hf_linear_settings;
HF_SETTINGS(hf_linear_settings)

/**
 * Scores the inputs by a linear function: nothing is proved, and it is there to compare
 * hf_explain() with. Around each point, at z = x +- step u with standard normal u, the prediction
 * is fitted by a + b'z. Squares are weighted by exp(-|u|^2 / (2 width^2)), as LIME does with these
 * weights (Ribeiro, Singh, Guestrin 2016);
 *
 *     score_i = 2 step_i b_i     what hf_explain() with this step gives for that linear function.
 *
 * Drawn are pairs x + step u, x - step u, so that what is even in u does not disturb; the same u
 * for every point, by the seed.
 * @param step   inputs entries >= 0; 0: the input does not move and scores 0
 * @param scores m x inputs
 * hf_explain_linear_class(): of the probability of class settings->output, of any number of
 * classes. Cost: 2 pairs predictions a point. The outputs are untouched on error: HF_ERR_ARGUMENT
 * (settings, step, a width that no draws are near enough for), errors of predictions.
 */
HF_API hf_status hf_explain_linear(hf_context *ctx, const hf_posterior *posterior,
                                   const hf_linear_settings *settings, size_t m, const double *x,
                                   const double *step, double *scores);
HF_API hf_status hf_explain_linear_class(hf_context *ctx, const hf_classifier *classifier,
                                         const hf_linear_settings *settings, size_t m,
                                         const double *x, const double *step, double *scores);

HF_END_DECLS

#endif
