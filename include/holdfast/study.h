/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study.h
 * @brief Studies: Bayesian optimisation with evaluations that may be wrong, missing or late.
 *
 * A study looks for the settings of something that is expensive to try: a process, a simulation,
 * a program. Its user repeats
 *
 *     hf_study_ask(study, q)        q trials: settings to try next
 *     hf_study_tell(study, trial)   the outcome of a trial; or hf_study_fail()
 *     hf_study_best(study)          the settings to use
 *
 * in any order, from any number of programs (study_file.h). Past results enter by hf_study_add().
 *
 * **Surrogate.** The variables are inputs u of a Gaussian process: real ones are taken to [0, 1],
 * those with `log` by their logarithm; integers and ordered levels lie on a lattice in [0, 1];
 * categories are codes 0, 1, ... of the kernel `category`. The kernel is matern52(ard) of the
 * numbers times category(ard) of the codes, with the prior log l ~ N(sqrt 2 + log(d) / 2, sqrt 3)
 * on lengthscales (Hvarfner, Hellsten, Nardi 2024). Hyperparameters are trained when the number
 * of readings has grown by a tenth, and kept with the journal in between.
 *
 * **Wrong evaluations.** The surrogate doubts a value as a fit doubts a reading (train.h). A trial
 * that it sets aside has no say; hf_trial.suspected tells which, hf_trial.mean and hf_trial.sd what
 * the others say of it. Where one reading alone decides what comes next, hf_study_ask() asks to
 * repeat its trial (hf_proposal.repeats). hf_study_best() goes by the posterior mean, never by
 * the largest value.
 *
 * **Acquisition.** log expected improvement over the best posterior mean among the trials, over
 * what pending trials may turn out to be; times the probability that the constraints hold.
 * Two or three objectives: log expected hypervolume improvement.
 *
 * Internally everything is maximised; a minimised objective has its sign changed at the door, and
 * all that these functions take and give is in the user's units and sign.
 *
 * Thread-safety: one thread at a time uses a study. On error nothing changes. The same settings,
 * seed and history give the same answers, whatever the number of threads.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_STUDY_H
#define HOLDFAST_STUDY_H

#include <holdfast/acquire.h>
#include <holdfast/certify.h>
#include <holdfast/expert.h>
#include <holdfast/posterior.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

typedef struct hf_study hf_study;

/** How a variable may be chosen. */
typedef enum hf_variable_kind {
    /** any number of [lower, upper] */
    HF_VARIABLE_REAL = 0,
    /** any whole number of [lower, upper] */
    HF_VARIABLE_INTEGER,
    /** one of `levels` labels that have an order: small, medium, large */
    HF_VARIABLE_ORDERED,
    /** one of `levels` labels without one */
    HF_VARIABLE_CATEGORY
} hf_variable_kind;

/** A variable: something that a trial sets. */
typedef struct hf_variable {
    /** not empty, no two alike */
    const char *name;
    hf_variable_kind kind;
    /** real, integer: lower < upper, finite */
    double lower, upper;
    /** real, integer: ratios count, not differences; lower > 0 */
    bool log;
    /** ordered, category: how many, >= 2 */
    size_t levels;
    /** and their labels, no two alike */
    const char *const *level;
} hf_variable;

/** Use of an outcome. */
typedef enum hf_goal {
    /** an objective: large values are looked for */
    HF_GOAL_MAXIMISE = 0,
    /** an objective: small values are looked for */
    HF_GOAL_MINIMISE,
    /** a constraint: value <= limit */
    HF_GOAL_AT_MOST,
    /** a constraint: value >= limit */
    HF_GOAL_AT_LEAST
} hf_goal;

/** An outcome: something that a trial tells. */
typedef struct hf_outcome {
    /** not empty, no two alike, and none that a variable has */
    const char *name;
    hf_goal goal;
    /** of a constraint, finite */
    double limit;
    /** Constraint, true: only settings are asked for which the constraint surely holds. The
     * readings differ from the truth by at most `noise_bound`. The truth minus `centre` has an RKHS
     * norm of at most `norm_bound` under `kernel` (envelope.h). The kernel is an expression in
     * x1, x2, ..., the variables in [0, 1] and codes, with all its values written, e.g.
     * "4*se(lengthscale=0.3)". The first trials must come from hf_study_add(), with settings that
     * satisfy the constraint. */
    bool certain;
    /** certain: > 0 */
    double noise_bound;
    /** certain: > 0 */
    double norm_bound;
    /** certain: finite */
    double centre;
    /** certain: required */
    const char *kernel;
} hf_outcome;

/** Where proposals come from. */
typedef enum hf_study_reach {
    /** trust regions from `region_from` numeric variables on */
    HF_REACH_AUTO = 0,
    /** everywhere */
    HF_REACH_GLOBAL,
    /** trust regions (trust_region.h): TuRBO with `regions` of them */
    HF_REACH_REGIONS
} hf_study_reach;

/** Use of an expert's corrections (hf_study_label()). */
typedef enum hf_expert_use {
    /** they take the place of the readings they correct */
    HF_EXPERT_USE_REPLACE = 0,
    /** the corrected readings are set aside, and the surrogate's prior mean is that of expert.h */
    HF_EXPERT_USE_MEAN
} hf_expert_use;

/** Settings of a study. Start from hf_study_settings_default(). hf_study_create() copies them. */
typedef struct hf_study_settings {
    /** sizeof(hf_study_settings) */
    size_t size;
    /** Entries of `variable`; at least 1 is required. Default: 0. */
    size_t variables;
    /** Variables of the study. Default: NULL. */
    const hf_variable *variable;
    /** Entries of `outcome`. Required: one to three objectives, and any number of constraints up to
     * 16. Default: 0. */
    size_t outcomes;
    /** Objectives and constraints. Default: NULL. */
    const hf_outcome *outcome;

    /** A preset of train.h for one output of numbers. Default: "default". */
    const char *preset;
    /** Expression in x1, x2, ... (u). Default: NULL (as said above). */
    const char *kernel;
    /** Acquisition of a study with one objective. Default: HF_ACQUIRE_LOG_EI. */
    hf_acquisition acquisition;
    /** true: proposals are maximisers of functions drawn from the posterior, in place of the
     * acquisition. Default: false. */
    bool thompson;
    /** beta of UCB. Default: 2. */
    double beta;
    /** Where proposals come from. Default: HF_REACH_AUTO. */
    hf_study_reach reach;
    /** Trust regions side by side. Default: 1. */
    size_t regions;
    /** Number of variables; see HF_REACH_AUTO. Default: 50. */
    size_t region_from;
    /** Quasi-random first trials; 0: 2 (d + 1), at least 5. Default: 0. */
    size_t start;
    /** Quasi-random draws over pending trials. Default: 128. */
    size_t draws;
    /** Values are doubted, with presets that can. Default: true. */
    bool robust;
    /** The study itself repeats a trial at most so often; 0: never. Default: 1. */
    size_t repeats;
    /** Use of an expert's corrections. Default: HF_EXPERT_USE_REPLACE. */
    hf_expert_use expert;
    /** Seconds until a pending trial is given up; 0: never. Default: 0. */
    double expires;
    /** Seed of the study; 0: the context's, at hf_study_create(). Default: 0. */
    uint64_t seed;
} hf_study_settings;
HF_SETTINGS(hf_study_settings)

/** An empty study in memory. HF_ERR_ARGUMENT names the variable, outcome or setting that is wrong
 * and its value; HF_ERR_PARSE (kernels), HF_ERR_MEMORY. O(variables + outcomes). */
HF_API hf_status hf_study_create(hf_context *ctx, const hf_study_settings *from, hf_study **out);
HF_API void hf_study_free(hf_study *study);
/** The settings in use, nothing left to a default but `kernel`; owned by the study. */
HF_API const hf_study_settings *hf_study_settings_of(const hf_study *study);

/* ---- settings of a trial as text ------------------------------------------------------------ */

/** The value of variable `j` that `text` says: a number, or a label. HF_ERR_ARGUMENT names the
 * variable, the text and what would be valid: out of bounds, not whole, no such label. O(levels).
 */
HF_API hf_status hf_study_parse(hf_context *ctx, const hf_study *study, size_t j, const char *text,
                                double *value);
/** The other way round, into `n` bytes: numbers so that hf_study_parse() gets them back exactly.
 * Returns the length without the terminating zero, as snprintf() does; 0 for an index out of
 * range. */
HF_API size_t hf_study_format(const hf_study *study, size_t j, double value, size_t n, char *text);

/* ---- trials ---------------------------------------------------------------------------------- */

/** Fate of a trial. */
typedef enum hf_trial_state {
    /** asked, nothing was told yet */
    HF_TRIAL_PENDING = 0,
    HF_TRIAL_TOLD,
    HF_TRIAL_FAILED,
    /** given up; what is told later counts all the same */
    HF_TRIAL_EXPIRED
} hf_trial_state;

/** Why a trial was asked. */
typedef enum hf_reason {
    /** it was not asked: hf_study_add() */
    HF_REASON_ADDED = 0,
    /** one of the first, quasi-random ones */
    HF_REASON_START,
    /** the acquisition is largest there */
    HF_REASON_ACQUIRED,
    /** a reading that decides what comes next is measured again */
    HF_REASON_REPEAT,
    /** the acquisition sees nothing to gain: where least is known */
    HF_REASON_EXPLORE
} hf_reason;

/** A trial. Arrays are the study's, until its next change. */
typedef struct hf_trial {
    /** 1, 2, ... over the life of the study */
    uint64_t id;
    hf_trial_state state;
    hf_reason reason;
    /** the first trial with these settings, if this one repeats it; else 0 */
    uint64_t repeats;
    /** seconds since 1970; NaN if it was not */
    double asked, told;
    /** settings: a number for each variable; labels by number, from 0 */
    const double *at;
    /** outcomes as told; NaN: missing */
    const double *value;
    /** variance of each value that was told with it; 0: not known */
    const double *noise;
    /** told with it, e.g. why it failed; "" if nothing was */
    const char *note;
    /** a value of it is set aside, or would be if that paid */
    bool suspected;
    /** a value of it has no say */
    bool aside;
    /** 3 an outcome: hf_expert_label, correction or NaN, its variance */
    const double *label;
    /** which, if one is suspected */
    size_t outcome;
    /** suspected: what the others say of that value */
    double mean, sd;
} hf_trial;

/** Number of trials, of whatever state. */
HF_API uint64_t hf_study_trials(const hf_study *study);
/** Trial `id` (1 to hf_study_trials()). Suspicions are those of the newest surrogate:
 * hf_study_look() makes it. HF_ERR_ARGUMENT: there is no such trial. O(outcomes readings). */
HF_API hf_status hf_study_trial(hf_context *ctx, const hf_study *study, uint64_t id, hf_trial *out);

/** A proposal of hf_study_ask(). */
typedef struct hf_proposal {
    uint64_t trial;
    hf_reason reason;
    /** the trial that it repeats, or 0 */
    uint64_t repeats;
    /** of the first objective, latent, as expected; NaN for starts */
    double mean, sd;
    /** of the acquisition; NaN without */
    double value;
} hf_proposal;

/**
 * Asks for `count` trials, which are then pending.
 * @param now      seconds since 1970, by which trials expire; NaN: the clock's
 * @param proposal `count` entries; settings: hf_study_trial()
 * While fewer than `start` trials have told something, proposals fill the space evenly. A repeated
 * trial does not count as an incumbent again: see docs/methods/study.md for the rule.
 * HF_ERR_ARGUMENT: count is 0 or above 10 000; a certain constraint and no trial from which
 * anything is known to be feasible. HF_ERR_NO_DATA: every combination of a finite space was tried,
 * and nothing is left to repeat. HF_ERR_CANCELLED, HF_ERR_MEMORY, HF_ERR_IO. O(n^3) where the
 * surrogate is new, O(n^2) where one reading came in, and hf_acquire_maximise() for each proposal.
 */
HF_API hf_status hf_study_ask(hf_context *ctx, hf_study *study, size_t count, double now,
                              hf_proposal *proposal);

/**
 * The outcome of a trial.
 * @param y      outcomes in their order; NaN: not measured (at least one must be a number)
 * @param noise  variance of each reading, >= 0, 0: not known; or NULL
 * @param note   or NULL
 * The same values told twice are one. HF_ERR_ARGUMENT: no such trial; told already, with another
 * value (the message has both); nothing but NaN (hf_study_fail() is for that). HF_ERR_NOT_FINITE:
 * an infinite value. HF_ERR_IO: it is not told. O(outcomes), and with a file the writing.
 */
HF_API hf_status hf_study_tell(hf_context *ctx, hf_study *study, uint64_t trial, const double *y,
                               const double *noise, const char *note);
/** A trial that failed, with what it told before it did (`y`, as above, or NULL). The study
 * then learns where trials fail, and asks less there. A trial that was told is HF_ERR_ARGUMENT.
 * Cost: that of hf_study_tell(). */
HF_API hf_status hf_study_fail(hf_context *ctx, hf_study *study, uint64_t trial, const double *y,
                               const char *note);
/**
 * A trial that was not asked: past data, or somebody's idea.
 * @param at  settings, in the user's units; integers whole, labels by number. HF_ERR_ARGUMENT:
 *            outside the space, with the variable's name and bounds
 * @param id  its number, or NULL
 * O(variables + outcomes), and with a file the writing.
 */
HF_API hf_status hf_study_add(hf_context *ctx, hf_study *study, const double *at, const double *y,
                              const double *noise, const char *note, uint64_t *id);
/** A past trial that failed: settings as hf_study_add() takes them, and what it told before it
 * did (`partial`, with gaps, or NULL). It counts as one that hf_study_fail() was told of, and may
 * be told an outcome later. Errors as of hf_study_add(), which refuses a trial without any
 * outcome. Cost: that of hf_study_add(). */
HF_API hf_status hf_study_add_failed(hf_context *ctx, hf_study *study, const double *at,
                                     const double *partial, const char *note, uint64_t *id);

/* ---- an expert ----------------------------------------------------------------------------- */

/**
 * Readings of the first objective that an expert should look at: those whose right values would
 * move what is thought of all readings most (hf_expert_ask(), with leave-one-out predictions).
 * @param count  how many at most, 0: as many as are due; receives how many, 0 where nobody is due
 * @param trial  room for as many, at most hf_study_trials(): their numbers, the most urgent first
 * Errors as of hf_study_look(). O(n^3).
 */
HF_API hf_status hf_study_expert(hf_context *ctx, hf_study *study, size_t *count, uint64_t *trial);
/** Readings of the first objective that an expert should still look at: one in twenty, rounded up,
 * less those that have a label. 0 for NULL. It tells of what the study knew when it was asked last.
 * O(n). */
HF_API size_t hf_study_expert_due(const hf_study *study);
/**
 * Takes an expert's word on a reading. A believed one is never set aside, a doubted one always, and
 * a correction takes its place (or makes a prior mean: hf_study_settings.expert); the trial goes on
 * showing what was told.
 * @param correction NaN, or of a doubted reading what it should have been
 * @param variance   of the correction, >= 0; 0: not known
 * @param note       or NULL
 * HF_ERR_ARGUMENT: no such trial or outcome, nothing was told of it, a correction without doubt.
 * HF_ERR_IO. O(1), and with a file the writing.
 */
HF_API hf_status hf_study_label(hf_context *ctx, hf_study *study, uint64_t trial, size_t outcome,
                                hf_expert_label verdict, double correction, double variance,
                                const char *note);

/* ---- answers --------------------------------------------------------------------------------- */

/** The study's knowledge of a place. */
typedef struct hf_best {
    /** the trial; 0: a place where nothing was tried */
    uint64_t trial;
    /** posterior mean of the (first) objective, latent, user's units */
    double mean;
    /** central 95 % interval of the latent value */
    double lower, upper;
    /** probability that all constraints hold; 1 without any */
    double feasible;
    /** trials with these settings that have a say */
    size_t readings;
} hf_best;

/**
 * Settings to use: among the trials that told something, the one of the best posterior mean. With
 * constraints only those whose probability of feasibility is at least 1/2 are looked at, or where
 * there is none, the one with the largest. Several objectives: hf_study_front().
 * Training may find no noise and end at the least it may take. Then readings that have a say decide
 * between trials whose posterior means differ by less than three standard deviations of it.
 * @param at  a number for each variable
 * One trial that told something is the best, with an interval without ends. HF_ERR_NO_DATA: nothing
 * was told, or too little of a constraint. Errors as of hf_study_look(). O(n^2) beside the
 * surrogate's.
 */
HF_API hf_status hf_study_best(hf_context *ctx, hf_study *study, double *at, hf_best *out);

/** A proof about the posterior mean. */
typedef struct hf_study_certificate {
    /** largest (minimising: smallest) posterior mean found in the whole space */
    double mean;
    /** nothing in the space has a posterior mean beyond this */
    double bound;
    /** between the two, >= 0 */
    double gap;
    /** gap <= tolerance */
    bool proved;
    /** looked at */
    size_t boxes;
    double seconds;
} hf_study_certificate;

/**
 * The place of the best posterior mean in the whole space, and a proof by branch and bound
 * (certify.h).
 * @param tolerance > 0, user's units
 * @param limits    time and boxes; NULL: hf_certify_settings_default()
 * @param at        a number for each variable.
 * Integers and ordered levels are bounded as if they could
 * lie between (sound, the gap may stay open); of categories every combination is looked at, at most
 * 4096. HF_WARN_NOT_CONVERGED: a limit came first; the bound holds. HF_ERR_ARGUMENT: a tolerance or
 * limits out of range (before anything is fitted), more than one objective, constraints, or too
 * many combinations. Cost: that of hf_study_look(), and of hf_certify() for each combination of
 * categories.
 */
HF_API hf_status hf_study_certify(hf_context *ctx, hf_study *study, double tolerance,
                                  const hf_certify_settings *limits, double *at, hf_best *best,
                                  hf_study_certificate *out);

/** Trials whose posterior means nobody dominates, of feasible ones as in hf_study_best(): their
 * numbers, best first objective first. `trial` has room for hf_study_trials(). HF_ERR_NO_DATA:
 * nothing was told. Cost: that of hf_study_best() and hf_front(). */
HF_API hf_status hf_study_front(hf_context *ctx, hf_study *study, uint64_t *trial, size_t *count);

/** Makes the surrogate agree with what was told; nothing is asked. Then hf_study_trial() knows who
 * is suspected. HF_ERR_NO_DATA: fewer than two readings of an outcome. O(n^3) where a surrogate is
 * trained anew, O(n^2) where one reading came in, O(1) if nothing did. */
HF_API hf_status hf_study_look(hf_context *ctx, hf_study *study);
/** Posterior mean and sd (latent) of an outcome at m settings (m x variables), user's units. Either
 * may be NULL. HF_ERR_ARGUMENT, HF_ERR_NO_DATA and the errors of hf_study_look(). O(m n^2). */
HF_API hf_status hf_study_predict(hf_context *ctx, hf_study *study, size_t outcome, size_t m,
                                  const double *at, double *mean, double *sd);
/** How much each variable matters to an outcome. Variable j has a main effect on the posterior
 * mean. Its standard deviation over the space counts, as a share of the sd of the posterior mean.
 * The 90 % interval is over functions drawn from the posterior. Arrays of as many entries as
 * variables. O(variables (n + 256) 3000).
 * Errors: those of hf_study_predict().
 */
HF_API hf_status hf_study_relevance(hf_context *ctx, hf_study *study, size_t outcome, double *share,
                                    double *lower, double *upper);

HF_END_DECLS

#endif
