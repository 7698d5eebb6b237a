/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file train.h
 * @brief From readings to a posterior: objectives with exact gradients, their optimiser, robust
 * re-weighting, the suspect finder.
 */
#ifndef HOLDFAST_TRAIN_H
#define HOLDFAST_TRAIN_H

#include <holdfast/likelihood_list.h>
#include <holdfast/outputs.h>
#include <holdfast/posterior.h>
#include <holdfast/settings.h>
#include <holdfast/transform.h>

HF_BEGIN_DECLS

/** The objective that is maximised over the hyperparameters. All are log densities (sums, nats) and
 * exactly differentiated.
 */
typedef enum hf_objective {
    /** log N(z; m, K + D): the evidence of the sites (for Gaussian sites: the evidence) */
    HF_OBJECTIVE_EVIDENCE = 0,
    /** sum_i log N(y_i; mu_-i, v_-i + s_i): leave-one-out log predictive density of the readings */
    HF_OBJECTIVE_LOO,
    /** the same, each term times the site's weight */
    HF_OBJECTIVE_WLOO,
    /** sum_i weight_i E_q[log N(y_i; f_i, s_i)] - KL(q || prior); with all weights 1 the ELBO of
     * the readings. Not with the exact solver */
    HF_OBJECTIVE_WEIGHTED,
    /** the published RCaGP bound E_q[log Psi^w] - KL(q || prior) (rcagp eq. 13), for sites with
     * beta = 1. A cold posterior with many actions; kept to reproduce. Not with the exact
     * solver */
    HF_OBJECTIVE_RCAGP
} hf_objective;

/**
 * One evaluation: value and gradient, one Cholesky factorisation.
 *
 * With G = (K + D)^-1, a = G (z - m): evidence = -(z-m)'a/2 - log det(K + D)/2 - n log(2 pi)/2.
 * Leave-one-out: mu_-i = z_i - a_i/G_ii, v_-i = 1/G_ii - d_i (Rasmussen and Williams 2006, eqs.
 * 5.10-5.13, carried over to sites). The weights of robust sites are held fixed; z and d follow
 * the noise.
 * @param gradient entries for: every kernel parameter on the training scale (log of positive
 * ones), every mean coefficient, the log noise of every channel of the sites; or NULL (value only:
 * 1/3 of the cost). Cost: evidence n^3 flops + O(n^2 d); leave-one-out 2 n^3 + O(n^2 d).
 * HF_WARN_JITTER when jitter was needed.
 * Errors, with outputs untouched: HF_ERR_ARGUMENT, HF_ERR_DIMENSION, HF_ERR_NOT_FINITE,
 * HF_ERR_NO_DATA, HF_ERR_NOT_POSITIVE_DEFINITE, HF_ERR_TOO_LARGE, HF_ERR_MEMORY.
 */
HF_API hf_status hf_objective_evaluate(hf_context *ctx, hf_objective objective,
                                       const hf_kernel *kernel, const hf_mean *mean,
                                       const hf_sites *sites, const double *x, size_t ldx,
                                       double *value, double *gradient);

/** How readings become sites: Gaussian ones, or a row of the list that describes them all
 * (likelihood_list.h). */
typedef enum hf_likelihood {
    HF_LIKELIHOOD_GAUSSIAN = 0,
#define HF_LIKELIHOOD_OF_(id, symbol, name, help) HF_LIKELIHOOD_##id,
    HF_SITES_LIST(HF_LIKELIHOOD_OF_)
#undef HF_LIKELIHOOD_OF_
} hf_likelihood;

/** How the posterior of latent functions under labels, counts, amounts or Student-t noise is made
 * normal. The first three go with all of them. */
typedef enum hf_inference {
    /** At its mode, with the curvature there: quickest, variances too small. Under Student-t noise
     * its evidence jumps where the mode does, which can end a training early. */
    HF_INFERENCE_LAPLACE = 0,
    /** Expectation propagation: nearly the exact moments, at two to four times the cost. Under
     * Student-t noise damped, and fractional where it has no fixed point; slowest. */
    HF_INFERENCE_EP,
    /** The Gaussian q of the largest ELBO: a lower bound of the evidence, smooth in the
     * hyperparameters. */
    HF_INFERENCE_VARIATIONAL,
    /** softmax: Laplace's covariance, and in place of the mode the mean that goes best with it */
    HF_INFERENCE_CORRECTED,
    /** Variational for Student-t noise, corrected for softmax, EP for all others; a model tells
     * which it was. */
    HF_INFERENCE_AUTO
} hf_inference;

/** The method that climbs the objective. */
typedef enum hf_optimiser {
    /** gradients; the exact solver adds second derivatives in a trust region
     * (docs/methods/robust-default.md) */
    HF_OPTIMISER_LBFGS = 0,
    /** `iterations` steps of size learning_rate; the published setting is 50 at 0.01 */
    HF_OPTIMISER_ADAM
} hf_optimiser;

/** The suspect finder: look for wrong readings and set them aside. */
typedef enum hf_outliers {
    HF_OUTLIERS_OFF = 0,
    /** set aside only when that clearly predicts the kept readings better; else the plain fit is
     * returned untouched */
    HF_OUTLIERS_AUTO,
    /** set aside what was found, without asking whether it pays */
    HF_OUTLIERS_FORCE
} hf_outliers;

/**
 * Log-normal priors on lengthscales, for fits with `priors`. With d the inputs that a distance is
 * of:
 *
 * | prior | lengthscale l | noise variance of a standardised target |
 * |---|---|---|
 * | weak | log l ~ N(log(d) / 2 + 0.5, 2^2), standardised inputs | at least 1e-6 |
 * | dimension | l ~ LogNormal(sqrt 2 + log(d) / 2, sqrt 3), inputs in [0, 1] | at least 1e-7 |
 *
 * Dimension is the prior of Hvarfner, Hellsten and Nardi (2024): a function of many inputs is taken
 * to vary less along each. Their maxima are of densities of l, not of its logarithm, and so is
 * this: the prior of log l is normal about the logarithm of the mode, sqrt 2 + log(d) / 2 - 3. An
 * input's [0, 1] is its range among the readings, with unit_inputs [0, 1] itself. Outputscale and
 * noise have weak priors either way: log a ~ N(0, 2^2), log s ~ N(log 0.03, 3^2).
 */
typedef enum hf_prior_kind {
    HF_PRIOR_WEAK = 0,
    /** scaled with the number of inputs, for searches in many of them */
    HF_PRIOR_DIMENSION
} hf_prior_kind;

/** A hyperparameter fixed by name, user units: "noise", "mean", "threshold", or a kernel parameter
 * ("outputscale", "lengthscale[0]", ...). Several outputs: also "noise[t]", all of "mean[t]", and
 * the whole lower triangle of "coregionalisation[s,t]", the matrix B of the coregion (of one among
 * several "coregion2.coregionalisation[s,t]", counted from 1; of independent outputs its
 * diagonal); the coregion that a fit puts before the kernel by itself then has full rank. */
typedef struct hf_assignment {
    const char *name;
    double value;
} hf_assignment;

/** Settings of a fit. Always start from hf_fit_settings_default() or hf_fit_settings_preset(). */
typedef struct hf_fit_settings {
    /** sizeof(hf_fit_settings) */
    size_t size;
    /** Expression (kernel.h). "auto" is for hf_fit() only, which chooses one for a table (model.h).
     * Default: NULL ("matern52(ard)"). */
    const char *kernel;
    /** Prior mean. Linear, exact solver, Gaussian readings of one output: the coefficients have a
     * wide normal prior (variance 1e4 in standardised units) and are integrated out. The
     * posterior's kernel then ends in "+ constant + linear(ard)", these variances held, and
     * "mean[j]" are generalised least squares estimates. Elsewhere they are trained and taken as
     * known. Default: HF_MEAN_CONSTANT. */
    hf_mean_kind mean;
    /** How readings become sites. Default: HF_LIKELIHOOD_GAUSSIAN. */
    hf_likelihood sites;
    /** The suspect finder; only with Gaussian sites and `train`. Default: HF_OUTLIERS_AUTO. */
    hf_outliers suspects;
    /** The suspect finder also tests tight clusters of rows as a whole. Default: true. */
    bool groups;
    /** Observed variances get a factor kappa >= 1 from leave-one-out residuals. Default: true. */
    bool calibrate;

    /** Robust sites: centre of the residuals. Default: HF_CENTRE_LEAVE_ONE_OUT. */
    hf_centre centre;
    /** Robust sites: rule of the soft threshold. Default: HF_THRESHOLD_MAD. */
    hf_threshold_rule threshold_rule;
    /** Expected share of outliers, for the quantile rule; in [0, 1). Default: 0.1. */
    double eps;
    /** Soft threshold of the given rule, user units; > 0. Default: infinity. */
    double threshold;
    /** At most so many re-weightings. Where the last of several still moves a weight by 0.01, the
     * fit returns HF_WARN_NOT_CONVERGED. Default: 8. */
    size_t rounds;
    /** Observed noise is corrected for down-weighting, hf_robust_consistent_noise(). Default: true.
     */
    bool consistent_noise;

    /** false: parameters stay at their start or set values. Default: true. */
    bool train;
    /** Objective that training maximises. Default: HF_OBJECTIVE_EVIDENCE. */
    hf_objective objective;
    /** Log-normal priors on lengthscales, outputscales and noise; see
     * docs/methods/robust-default.md. Default: true. */
    bool priors;
    /** Prior of lengthscales; HF_PRIOR_DIMENSION needs `priors`. Default: HF_PRIOR_WEAK. */
    hf_prior_kind lengthscale_prior;

    /** Coefficients of the mean are optimised with the rest; false: constant = average of the
     * present readings. Default: true. */
    bool train_mean;
    /** Seeded random starts, beside the cold one and those with shorter lengthscales that a fit
     * tries by itself (robust-default.md). Default: 0. */
    size_t restarts;
    /** An optimisation makes at most 1.5 x this + 5 objective evaluations. Default: 60. */
    size_t iterations;
    /** Inputs (mean, sd) and target (median, robust scale) are standardised inside, undone in every
     * output. Default: true. */
    bool standardise;
    /** true: inputs are used as they are, with starts and boxes of lengthscales for inputs spread
     * over [0, 1]. The target is standardised if `standardise` says so. The readings at hand then
     * change no unit. Default: false. */
    bool unit_inputs;

    /** Solver of the posterior. Default: HF_SOLVER_AUTO. */
    hf_solver solver;
    /** Inducing inputs m; 0: chosen by the number of readings. Default: 0. */
    size_t inducing;
    /** Approximation of the inducing solver. Default: HF_INDUCING_VFE. */
    hf_inducing_method inducing_method;
    /** Choice of inducing inputs. Default: HF_INDUCING_GREEDY. */
    hf_inducing_choice inducing_choice;
    /** Inducing inputs, `inducing` x d row-major in the units of the inputs, no more than readings;
     * inducing_choice is not looked at then. Readings of one output, without minibatches; not with
     * block actions. A model does not keep them. Default: NULL. */
    const double *inducing_inputs;
    /** Inducing inputs are optimised with the rest. Default: false. */
    bool train_inducing;
    /** i of the projected solver; 0: chosen by the number of readings. Default: 0. */
    size_t actions;
    /** Kind of actions. Blocks are trained with the hyperparameters; the other kinds take these
     * from an inducing fit. Default: HF_ACTIONS_KRYLOV. */
    hf_actions action_kind;
    /** Given actions (action_kind): the matrix A, `action_rows` x `actions` row-major, in no units.
     * It has a row for each row of the data (hf_fit(): of the table), and a column for each
     * action. It is as hf_projection.matrix, errors included. Other rows are HF_ERR_DIMENSION. A
     * row whose reading is missing, left out or set aside is not looked at. Needs the projected
     * solver and readings of one output. It is the caller's, read during the fit; a model does not
     * keep it. Default: NULL. */
    const double *action_matrix;
    /** Rows of action_matrix; 0 without one. Default: 0. */
    size_t action_rows;
    /** Block actions: which readings share one. Default: HF_BLOCKS_CONTIGUOUS. */
    hf_blocks blocks;
    /** Block actions: their first entries; from the first weights where sites have some. Default:
     * HF_ACTION_START_RANDOM. */
    hf_action_start action_start;
    /** Entries of block actions are optimised with the rest; false: they end as action_start says
     * for the final sites, mean and kernel. Default: true. */
    bool train_actions;
    /** Tolerance of Krylov actions, hf_projection. Default: 0.01. */
    double tolerance;
    /** As hf_projection.single_precision. Default: false. */
    bool single_precision;
    /** Method that climbs the objective. Default: HF_OPTIMISER_LBFGS. */
    hf_optimiser optimiser;
    /** Adam's step. Default: 0.01. */
    double learning_rate;
    /** Rows a step, inducing solver only; 0: all rows at once. Default: 0. */
    size_t minibatch;
    /** An upper bound on the trained noise variance, of every output, user units squared; 0: none.
     * Default: 0. */
    double max_noise;
    /** Several outputs: rank of the covariance between them; 0: full up to 8 outputs, then 3.
     * Default: 0. */
    size_t coregion_rank;
    /** true: the outputs have one noise in common, in standardised units. Default: false. */
    bool shared_noise;
    /** true: no covariance between outputs, and a kernel (that of `kernel`) with hyperparameters of
     * its own for each. One factorisation of all readings together all the same. Default: false.
     */
    bool independent;
    /** Scope of a weight, with HF_CENTRE_CONDITIONAL. Default: HF_OUTPUTS_READING. */
    hf_outputs_weighting weighting;
    /** One expected share of outliers per output, each in [0, 1). 0: no outliers are expected, the
     * threshold is the largest residual. Default: NULL (eps for all). */
    const double *output_eps;
    /** Entries of `output_eps`. Default: 0. */
    size_t output_eps_count;
    /** Noise variance that training starts from, user units squared. 0: 0.1 of the target's scale
     * squared, with several outputs and Gaussian sites 0.03 of each output's. Default: 0. */
    double noise_start;
    /** Lengthscales, outputscales and noise start from this, in units that `standardise` makes. The
     * kernel (lengthscale~2), `start` and noise_start go before it. A model does not keep it.
     * Default: 0 (the usual starts). */
    double common_start;
    /** beta of robust sites; 0: hf_sites_set_beta(). In units of the target; of several outputs the
     * number means each output's own units: 2 for degrees and metres is 2 degrees and 2 metres.
     * Default: 0. */
    double beta;
    /** true: beta counts in scales of the target, the robust one by which `standardise`, which must
     * be on, divides it. Each of several outputs has its own. A model keeps beta in units of the
     * target, that of several outputs as output_beta. Default: false. */
    bool scaled_beta;
    /** One beta for each output, finite and at least 0, in units of that output, or with
     * scaled_beta in its scales. Robust sites only. Default: NULL (beta for all). */
    const double *output_beta;
    /** Entries of `output_beta`. Default: 0. */
    size_t output_beta_count;
    /** Degrees of freedom > 1; 0: trained in [2, 50], from 4. Default: 0. */
    double student_nu;
    /** How latent functions are made normal. Student-t noise with the inducing solver is
     * variational whatever this says. Default: HF_INFERENCE_AUTO. */
    hf_inference inference;
    /** Transform of the target; hf_fit() only, of a table (transform.h). Default:
     * HF_TRANSFORM_NONE. */
    hf_transform transform;
    /** File that keeps every evaluation, so that a killed fit can go on. With minibatches it keeps
     * what the next step starts from, at most a second old. It stays after the fit, to be removed
     * when the model is safe. Default: NULL (none). */
    const char *checkpoint;
    /** The fit goes on from `checkpoint` if it is there: the same result, to the digit, as an
     * unbroken fit. Default: false. */
    bool resume;

    /** Values held. Default: NULL (none). */
    const hf_assignment *set;
    /** Entries of `set`. Default: 0. */
    size_t set_count;
    /** Values that training starts from, names as in `set`, which wins. For one output. A value out
     * of its box starts at the edge. A mean that is not trained follows the readings. Default:
     * NULL (none). */
    const hf_assignment *start;
    /** Entries of `start`. Default: 0. */
    size_t start_count;
    /** true: training starts from `start` and nowhere else, without a look at other starts: for a
     * fit of nearly the same readings again. Needs `train` and a start; no restarts. Default:
     * false. */
    bool warm;
} hf_fit_settings;

/** The default: robust, safe on clean data: plain GP, suspects found and set aside when that
 * clearly pays, calibrated intervals. */
HF_SETTINGS(hf_fit_settings)

/** "default"; "gp" (plain GP: no suspects, no calibration); "rcgp" (the published RCGP: robust
 * sites, prior-mean centre, c = 0.9 quantile, leave-one-out objective). For budgets: "cagp"
 * (Gaussian sites, trained block actions); "rcagp" (robust sites, hyperparameters from an inducing
 * fit with re-centring, projection on Krylov actions); "sgpr" (Gaussian sites, inducing); "rcsvgp"
 * (robust sites, inducing); "svgp" (Gaussian sites, inducing, minibatches); "student-t" and "rrp"
 * (relevance pursuit, calibrated).
 *
 * "rcagp-text" and "rcagp-program" are RCaGP as its paper (2025) prints and as its program runs it:
 * matern52(iso) on 25 trained block actions, or matern32(iso) on 5; weights about the constant mean
 * with the 0.8 quantile and beta = 1 scale of the target; 50 steps of Adam at 0.01 on
 * HF_OBJECTIVE_RCAGP, from log 2, without priors. The published scale of the target is its standard
 * deviation, here it is the robust one. A fit of fewer readings than actions is HF_ERR_ARGUMENT.
 *
 * For several outputs (hf_data.outputs; all others work there too): "mogp" (plain), "morcgp"
 * (MO-RCGP: robust weights centred on what the other outputs say; its published objective is
 * HF_OBJECTIVE_WLOO), "t-mogp" (Student-t noise that the outputs share) and "independent" (the
 * default, without covariance between outputs). For labels "softmax", and every likelihood of
 * likelihood_list.h by its name.
 * @param size sizeof of the struct
 * Errors: HF_ERR_ARGUMENT, which lists the names; NULL, or no size of the struct. O(1). */
HF_API hf_status hf_fit_settings_preset(hf_context *ctx, const char *name, hf_fit_settings *out,
                                        size_t size);

/**
 * Gives members that were not chosen the values which go with those that were: 20 inducing inputs
 * want the inducing solver, a given threshold its rule, minibatches Adam. Options of
 * `holdfast fit` and keywords of bindings have these consequences, by this one function.
 * @param preset true: settings come from a preset that was chosen, whose sites stay
 * @param count  names in `names`: the members that were chosen, those without a text too, in the
 * order of their weight. Where they exclude each other the first ones count
 *
 * Whether the settings go together then is hf_settings_check()'s to say. Errors: HF_ERR_ARGUMENT,
 * settings untouched: NULL, a size that is none, or no such setting. O(count). Any thread.
 */
HF_API hf_status hf_fit_settings_complete(hf_context *ctx, hf_fit_settings *settings, bool preset,
                                          size_t count, const char *const *names);

/** Why the last optimisation stopped. */
typedef enum hf_stop {
    HF_STOP_NOT_TRAINED = 0,
    /** no gradient entry that a bound does not hold is above 1e-3 nats per unit of the training
     * scale; of minibatches: the average of the last epochs stopped changing */
    HF_STOP_CONVERGED,
    /** the evaluation budget was used up */
    HF_STOP_ITERATIONS,
    /** no further progress in floating point */
    HF_STOP_ROUNDOFF,
    /** objective or parameters stopped changing, by 1e-7 of their size or what a stage of the
     * fit asks for, with a larger gradient */
    HF_STOP_LEVEL
} hf_stop;

/** Leave-one-out predictions of the readings that are not suspected, in units of the target
 * (several
 * outputs: of each output's robust scale); NaN where none is suspected. */
typedef struct hf_outliers_side {
    /** mean absolute error */
    double error;
    /** mean predictive standard deviation of a reading, before calibration */
    double sd;
} hf_outliers_side;

/** Report of a fit. Objective values are in the scaled units the fit works in. */
typedef struct hf_fit_report {
    /** rows with a target that hf_data.aside does not set aside */
    size_t readings;
    /** rows with a target that it does; not among `suspects` */
    size_t aside;
    /** rows without one */
    size_t missing;
    hf_stop stop;
    /** objective evaluations over all optimisations */
    size_t evaluations;
    /** re-weightings (robust) or flagging rounds (suspects) */
    size_t rounds;
    /** final value of the objective, without priors */
    double objective;
    /** log prior density at the end, 0 without priors */
    double log_prior;
    /** largest |d objective / d parameter| that does not push against a bound */
    double gradient_norm;
    /** trained parameters that ended at a bound */
    size_t at_bound;
    /** their names, comma-separated, cut if too long */
    char at_bound_names[160];
    double jitter;
    double condition;
    double backward;
    double bytes;
    double seconds;

    /** soft threshold c in user units; infinity without robust sites */
    double threshold;

    /** the solver that computed the posterior: never auto */
    hf_solver solver;
    /** inducing inputs used, 0 if none */
    size_t inducing;
    /** actions used, 0 if none */
    size_t actions;
    /** evaluations of all of K for the posterior (projected) */
    size_t passes;
    /** hf_projection_report; NaN without */
    double residual;
    /** degrees of freedom of Student-t noise; infinity without */
    double nu;
    /** why a checkpoint could not be kept ("" if it could): the fit itself is not affected */
    char checkpoint_warning[160];

    /** suspects were set aside */
    bool suspects_adopted;
    /** the evidence about them is near its limit: a little more or less would have turned the
     * verdict. HF_OUTLIERS_FORCE or HF_OUTLIERS_OFF decides */
    bool suspects_undecided;
    /** readings suspected (set aside if adopted; otherwise only reported) */
    size_t suspects;
    /** groups among them */
    size_t groups;
    /** CRPS ratio on the kept readings, robust over plain; small is a clear benefit; NaN if no
     * attempt */
    double benefit;
    /** nats by which an outlier component improves the residuals' mixture; NaN if no attempt */
    double gain;
    /** probability that any of as many sound readings is as far from what the others say as the
     * nearest suspect; few suspects are judged by it. NaN if none was */
    double chance;
    /** what either verdict gives */
    hf_outliers_side kept, set_aside;
    /** kappa */
    double calibration;
} hf_fit_report;

/** Readings as arrays. */
typedef struct hf_data {
    size_t n, d;
    /** n x d row-major, finite */
    const double *x;
    /** row stride of x, >= d */
    size_t ldx;
    /** n targets; NaN = missing */
    const double *y;
    /** n known noise variances (user units squared) to be added to the trained noise, or NULL */
    const double *noise;
    /** n prior means of readings, units of y; NULL: 0. The fit is one of y - mean: so are
     * hf_fit_settings.mean, kernel, hyperparameters, the posterior and its predictions. Add the
     * mean of the place that is asked about to them. Finite where y is present */
    const double *mean;
    /** n positive exposures of counts or amounts, finite where y is present; NULL: 1. The mean of a
     * reading is its exposure times exp(f). */
    const double *exposure;
    /** d input names for the kernel expression and messages, or NULL */
    const char *const *names;
    /** 0 or 1: one. T > 1: readings of T correlated outputs, one a row; the last of the d inputs is
     * the number of its output, 0, 1, ..., T - 1, and is not standardised. Each output is
     * standardised by itself and has a noise of its own */
    size_t outputs;
    /** T names of outputs for messages, or NULL */
    const char *const *output_names;
    /** n flags, or NULL: readings that are set aside without asking, as one does with suspects
     * that an earlier fit found. They have no say in anything, units included, and are reported as
     * suspected, with weight 0. */
    const bool *aside;
    /** n numbers: readings of different outputs with the same one were taken together (a row of a
     * wide table); NULL: those with equal inputs. For HF_CENTRE_CONDITIONAL */
    const size_t *sample;
} hf_data;

/** The fit's judgement of one reading. */
typedef struct hf_reading {
    /** rho in [0, 1]: 1 plain, 0 set aside or missing */
    double weight;
    /** flagged by the suspect finder (also when its finding was not adopted), or robust weight
     * below 1/4 */
    bool suspected;
    /** 1.. for a tight cluster found wrong as a whole, else 0 */
    size_t group;
    /** latent mean without the reading itself, user units; NaN for missing readings and for the
     * exact solver, which is asked with hf_leave_one_out(). This and the other means here are of
     * y: hf_data.mean is added to them */
    double loo_mean;
    /** and its latent variance */
    double loo_var;
    /** where suspects were set aside: what the plain Gaussian process, with all readings, says
     * of this one without it, user units; NaN elsewhere, for missing readings and where large
     * tables are trained in stages */
    double plain_mean;
    /** and its standard deviation, noise included */
    double plain_sd;
    /** where intervals are calibrated by refits (few readings for each trained hyperparameter):
     * what hyperparameters trained without this reading say of it, user units; NaN elsewhere
     * and for missing readings */
    double refit_mean;
    /** and its standard deviation, noise included, not calibrated */
    double refit_sd;
} hf_reading;

/**
 * Fits a posterior to readings.
 * @param readings n entries, written, or NULL
 * Errors: HF_ERR_NO_DATA (no reading present), HF_ERR_NOT_FINITE (row and column named),
 * HF_ERR_ARGUMENT (settings), HF_ERR_PARSE (kernel), HF_ERR_TOO_LARGE (before any work; also where
 * second derivatives of a lengthscale for each of very many inputs do not fit: "se" has one for
 * all), HF_ERR_CANCELLED. Warnings: HF_WARN_JITTER, HF_WARN_AT_BOUND, HF_WARN_NOT_CONVERGED. Labels
 * are HF_ERR_ARGUMENT here: hf_classifier_fit() takes them; so is a transform, which hf_fit() does
 * to a table: give hf_transform_forward() of the readings; and so is the kernel "auto". A constant
 * target or input and duplicate rows are fine. Cost: a few hundred objective evaluations for the
 * default; see hf_objective_evaluate().
 */
HF_API hf_status hf_fit_data(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings,
                             hf_posterior **posterior, hf_fit_report *report, hf_reading *readings);

/**
 * The hyperparameters of a posterior of one output, user units, as a list for
 * hf_fit_settings.start, or .set with `train` false: each kernel parameter, the noise and, if it
 * is constant, the mean. A fit of the same readings that is held at them, with the same readings
 * `aside`, is the same posterior to rounding. The noise is that of a reading: for robust sites
 * with consistent_noise, and for Student-t noise, not what training ended with.
 * @param room entries of `out`; more are not written. `out` may be NULL, to count
 * @return how many there are; 0 for NULL and for several outputs
 * Names belong to the posterior, or to nobody. O(room). Any thread, while nobody changes it.
 */
HF_API size_t hf_fit_assignments(const hf_posterior *posterior, size_t room, hf_assignment *out);

HF_END_DECLS

#endif
