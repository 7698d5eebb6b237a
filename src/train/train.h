/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file train.h
 * @brief Internal face of the train room: evaluator, trainer, and the two loops that make sites while
 * fitting.
 *
 * A "state" of a model is one vector of numbers on the training scale: all kernel parameters (log of positive
 * ones), the mean's coefficients, the log noise of every channel. Everything in this room works in scaled units.
 */
#ifndef HFI_TRAIN_H
#define HFI_TRAIN_H

#include "posterior/posterior.h"
#include "solver/inducing.h"
#include "solver/projected.h"
#include <holdfast/train.h>
#include <math.h>

/* ---- one evaluation --------------------------------------------------------------------------------------
 */

/** Buffers for evaluating an objective again and again on the same rows. Kernel, mean and sites are the
 * caller's. */
typedef struct hfi_evaluator {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    size_t rows, d;
    const double *x; /* rows x d, row-major, stride ldx */
    size_t ldx;
    size_t n;        /* present readings, gathered by hfi_evaluator_select */
    size_t *row;     /* their rows */
    double *inputs;  /* n x d */
    double *a;       /* n x n: K + D, its factor, its inverse, the weight matrix of the gradient */
    double *b, *c;   /* two more for the leave-one-out gradient; NULL otherwise */
    double *vectors; /* HFI_EVALUATOR_VECTORS x rows */
    double jitter;   /* of the last evaluation */
    /* At most one of these three is not NULL; with the first two, row and inputs above are not used either. Owned by the evaluator. */
    hfi_inducing *inducing;
    struct hfi_projected_evaluator *projected;
    struct hfi_group_evaluator
        *group; /* instead of a, b and c: matrices that several processes hold together */
    struct hfi_kronecker
        *kronecker; /* beside a, with several outputs read everywhere (kronecker.h); else NULL. Owned too */
    struct hfi_kept *kept; /* of the last evaluation (evaluator_kept.c); NULL: nothing. Owned too */
    /* Points that add to the objective (query.h); NULL: none. Not owned. */
    struct hfi_query *query;
} hfi_evaluator;

/** Parameters of an evaluator beyond kernel, mean and noise: coordinates of trained inducing inputs (m x d), or entries of trained
 * block actions (n, by place). They follow log noise in a state and in a gradient. */
size_t hfi_evaluator_extras(const hfi_evaluator *evaluator);
void hfi_evaluator_get_extras(const hfi_evaluator *evaluator, double *values);
void hfi_evaluator_set_extras(hfi_evaluator *evaluator, const double *values);

/** An evaluator for the inducing solver: takes over (moves) `inducing`. Objectives: all five. */
hf_status hfi_evaluator_init_inducing(hf_context *ctx, hfi_evaluator *evaluator, size_t rows, size_t d,
                                      const double *x, size_t ldx, hfi_inducing *inducing);
/** An evaluator for block actions: takes over `actions` (over all rows, all of which must stay present). Objectives: all five;
 * leave-one-out ones only with `train_actions` false. */
hf_status hfi_evaluator_init_projected(hf_context *ctx, hfi_evaluator *evaluator, size_t rows, size_t d,
                                       const double *x, size_t ldx, hfi_block_actions *actions,
                                       bool train_actions, hfi_precision precision);

/** hfi_evaluator_run for the two (inducing_objective.c, projected_objective.c). */
hf_status hfi_inducing_run(hfi_evaluator *evaluator, hf_objective objective, double *value, double *gradient);
hf_status hfi_projected_run(hfi_evaluator *evaluator, hf_objective objective, double *value,
                            double *gradient);
/** Gives back the product of K with the actions, most of what such an evaluator holds; the next evaluation makes it again. */
void hfi_projected_rest(struct hfi_projected_evaluator *projected);
/** Entries of the block actions by their rule, from the evaluator's present kernel, mean and sites.
 * HF_ERR_ARGUMENT (no such rule), HF_ERR_MEMORY. */
hf_status hfi_projected_start(hfi_evaluator *evaluator, hf_action_start rule);
/** The block actions as they are now; owned by the evaluator. */
const hfi_block_actions *hfi_projected_actions(const struct hfi_projected_evaluator *projected);
/** Latent mean (prior mean included) and variance of every row without its own site, at the evaluator's present values. */
hf_status hfi_projected_holdout(hfi_evaluator *evaluator, double *mean, double *variance);
/** Frees evaluator->projected, which may be NULL. */
void hfi_projected_evaluator_free(hfi_evaluator *evaluator);
size_t hfi_projected_extras(const struct hfi_projected_evaluator *projected);
void hfi_projected_get_extras(const struct hfi_projected_evaluator *projected, double *values);
void hfi_projected_set_extras(struct hfi_projected_evaluator *projected, const double *values);

/* ---- expected log densities (expected.c) ------------------------------------------------------------------
 *
 * sum_j l_j(mu_j, v_j) with f_j ~ N(mu_j, v_j) under q, and its derivatives; the solvers add their own -KL.
 *
 *     evidence  -log(2 pi d)/2 - ((z - mu)^2 + v) / (2 d)                        the ELBO of the sites
 *     weighted  rho [ -log(2 pi s)/2 - ((y - mu)^2 + v) / (2 s) ]
 *     rcagp     -(w^2 / s^2) ((y - mu)^2 + v) + (2 / s) [ (dw^2/dy) (y - mu) + w^2 ],  w^2 = beta^2 rho
 */

/** Adjoints, `rows` entries each; 0 for absent readings. */
typedef struct hfi_expected {
    double *mu, *v;    /* in mu and v */
    double *z, *d, *s; /* direct ones in site target, site variance and noise variance s_j */
} hfi_expected;

/** Value of the sum, and if `bar` is not NULL the adjoints. */
double hfi_expected_terms(hf_objective objective, const hf_sites *sites, const double *mu, const double *v,
                          hfi_expected *bar);
/** gradient[c] += d/d log noise of channel c, from adjoints in z, d and s (NULL: none): sum over its readings of (z_bar shift +
 * d_bar slope + s_bar) * noise. */
void hfi_noise_adjoint(const hf_sites *sites, const double *z_bar, const double *d_bar, const double *s_bar,
                       double *gradient);

/** Makes buffers; `leave_one_out` reserves what the leave-one-out gradient needs. HF_ERR_TOO_LARGE beforehand
 * if they cannot fit. */
hf_status hfi_evaluator_init(hf_context *ctx, hfi_evaluator *evaluator, bool leave_one_out, size_t rows,
                             size_t d, const double *x, size_t ldx);
/** The same with the matrices held by all processes of the context's group together (evaluator_group.c). There is no `a` then for those who want to read
 * the weights of the gradient. */
hf_status hfi_evaluator_init_group(hf_context *ctx, hfi_evaluator *evaluator, bool leave_one_out, size_t rows,
                                   size_t d, const double *x, size_t ldx);
void hfi_evaluator_free(hfi_evaluator *evaluator);
/** Gathers the present readings; must be called after presence changed. HF_ERR_NO_DATA if there is none. */
hf_status hfi_evaluator_select(hfi_evaluator *evaluator);
/** Objective and gradient (or NULL) at the present values of kernel, mean and sites; see
 * hf_objective_evaluate(). */
hf_status hfi_evaluator_run(hfi_evaluator *evaluator, hf_objective objective, double *value,
                            double *gradient);

/** Whether there is a curvature to be had: by the exact solver, unless it evaluates without ever forming K + D. */
bool hfi_evaluator_knows_curvature(const hfi_evaluator *evaluator, hf_objective objective);
/** Minus the second derivatives of the evidence, averaged with their expectation (curvature.c), in the parameters of kernel, mean and log noises at the values of the
 * last evaluation, which must have been of this objective and with a gradient: symmetric, not negative definite, both triangles. For a leave-one-out density they are a
 * stand-in for its own. O(n^2 count); collective where several processes share the matrix. */
hf_status hfi_evaluator_curvature(hfi_evaluator *evaluator, hf_objective objective, double *matrix);

/** From now on an evaluation of the evidence with a gradient is remembered, so that residuals of
 * the same model and readings take O(n^2), and not n^3, to the same digits. Takes a copy of the
 * factor, rows x rows. Does nothing for solvers other than the exact one in one process.
 * HF_ERR_MEMORY. */
hf_status hfi_evaluator_keep(hfi_evaluator *evaluator);
/** Bytes an evaluator takes. */
double hfi_evaluator_bytes(size_t rows, size_t d, bool leave_one_out);

/* ---- training --------------------------------------------------------------------------------------------
 */

/** Another start than the cold one: all lengthscales that are free times one factor, all noises
 * times another. */
typedef struct hfi_start {
    const char *name;
    double lengthscale, noise;
} hfi_start;

/** A hundredth of every noise: for models with a maximum in which one output of several is all
 * noise. */
extern const hfi_start hfi_quiet_start;

/** An objective with priors, boxes and a choice of free parameters, ready to be maximised from any state. */
typedef struct hfi_trainer {
    hfi_evaluator evaluator;
    hf_objective objective;
    size_t
        count; /* length of a state: kernel parameters, mean coefficients, log noises, the evaluator's extras */
    size_t
        noise; /* where the log noises are in a state: as many as the sites have channels, hfi_trainer_noises() */
    size_t free_count;
    size_t *free_index; /* positions of the trained parameters in a state */
    double *lower, *upper;
    double *prior_mean, *prior_sd; /* sd = infinity: no prior */
    double *start;                 /* the state a cold fit starts from */
    const hfi_start *moved;        /* how cold fits move `start`; NULL: not. Not owned */
    double *work;                  /* 6 x count */
    bool train_mean; /* false: hfi_trainer_cold resets the mean from the present readings and training leaves
                        it */
    bool warm;       /* searches start from `start` and nowhere else */
    /* The mean's coefficients in `start` are where it starts, not the readings' own. */
    bool mean_started;
    const double *comparable; /* rows x d: the inputs standardised, for rules that measure distances, whatever
                                 the units the kernel sees */
    const size_t *
        order; /* rows in an order that does not depend on how outputs are numbered; NULL: as they are. Not owned */
    size_t evaluations;
    double
        enough; /* nats: a search other than Adam's also ends where an iteration gains no more; 0: only by its own tolerances */
    hf_optimiser optimiser;
    bool curved;          /* second derivatives are known: hfi_trainer_climb_curved() in place of L-BFGS */
    bool recalled;        /* the last answer was the journal's, so that the evaluator knows nothing of it */
    double learning_rate; /* of Adam */
    struct hfi_conditional
        *conditional; /* weights from the other outputs (conditional.h); NULL: none. Not owned */
    struct hfi_journal
        *journal;   /* answers evaluations that an interrupted fit has made already; NULL: none. Not
                       owned */
    size_t outputs; /* 1, or T: then the last input is the number of the output */
    size_t budget;  /* evaluations the whole fit is expected to take; for the progress callback */
    /* of the last optimisation */
    hf_stop stop;
    double value; /* objective without prior */
    double log_prior;
    double gradient_norm; /* of objective + prior, over free parameters not pushing against a bound */
} hfi_trainer;

void hfi_trainer_free(hfi_trainer *trainer);
/** Noise variances in a state: one for each channel of the sites. */
static inline size_t hfi_trainer_noises(const hfi_trainer *trainer)
{
    return hf_sites_channels(trainer->evaluator.sites);
}
/** Puts a state into kernel, mean and noise; the other way round. */
hf_status hfi_trainer_set(hfi_trainer *trainer, const double *state);
void hfi_trainer_get(const hfi_trainer *trainer, double *state);
/** The cold start for the present readings: `start`, moved as `moved` says, with the mean's
 * coefficients set from them. */
hf_status hfi_trainer_cold(hfi_trainer *trainer, double *state);
/** Entries of block actions anew, from the present kernel, mean and sites, into `state` too where
 * they are trained; nothing where there are no block actions. */
hf_status hfi_trainer_start_actions(hfi_trainer *trainer, hf_action_start rule, double *state);
/** The box of the evaluator's extras: anywhere within sight of where they are now. */
void hfi_trainer_bound_extras(hfi_trainer *trainer);
/** Moves free lengthscales, frequencies and noises of a state, in the box. */
void hfi_trainer_move(const hfi_trainer *trainer, const hfi_start *start, double *state);
/** Another random start around a state: kernel parameters and noises that are free move by a normal number of sd 1.5 each, which `number` and the context's seed
 * decide. */
void hfi_trainer_scatter(const hfi_trainer *trainer, size_t number, double *state);
double hfi_trainer_log_prior(const hfi_trainer *trainer, const double *state);
/** The same, and its derivatives are added to `gradient`, all `count` entries. */
double hfi_trainer_add_prior(const hfi_trainer *trainer, const double *state, double *gradient);
/** Objective, log prior and the gradient of their sum (all `count` entries, or NULL) at a state;
 * the model is left there. Counts as one evaluation. */
hf_status hfi_trainer_evaluate(hfi_trainer *trainer, const double *state, double *value, double *log_prior,
                               double *gradient);
/** Largest derivative over free parameters that does not point out of the box. */
double hfi_trainer_projected_norm(const hfi_trainer *trainer, const double *state, const double *gradient);
/** `steps` steps of Adam (Kingma and Ba 2015) with the trainer's learning rate from `state` (in and out), clipped to the box. A step into
 * what cannot be factored is taken back and halved. The last state is the result, as in the publications that train so. */
hf_status hfi_trainer_adam(hfi_trainer *trainer, double *state, size_t steps);
/** hfi_evaluator_curvature() at the state of the last hfi_trainer_evaluate(), from the journal where there is one: count x count. */
hf_status hfi_trainer_curvature(hfi_trainer *trainer, const double *state, double *matrix);
/** The same of the free parameters alone, that of the prior added: free_count x free_count. `work`
 * has count x count entries. */
hf_status hfi_trainer_free_bend(hfi_trainer *t, const double *state, double *work, double *out);
/** hfi_trainer_maximise() by a trust region with second derivatives, which takes a third to a half of the evaluations. */
hf_status hfi_trainer_climb_curved(hfi_trainer *trainer, double *state, size_t iterations);
/** Maximises objective + prior over the present readings from `state` (in and out), at most 1.5 iterations +
 * 5 evaluations. The model is left at the result. HF_ERR_CANCELLED; warnings of the last evaluation. */
hf_status hfi_trainer_maximise(hfi_trainer *trainer, double *state, size_t iterations);

/** hfi_trainer_maximise() from `state`, and from starts with shorter lengthscales (explore.c):
 * where a function moves quickly the first may end in a maximum in which all is noise. With
 * `quiet` from less noise too. The first is kept unless another ends clearly higher, so that a
 * table that needs no other start gets the same state, digit for digit, as without. *chosen (or
 * NULL) receives the start that did, NULL if none. About 1.5 times the evaluations; where
 * readings are many the others are tried on 300 of them. Periods of the kernel that are free and
 * not given are looked for first (explore.h), and t->start gets what is found. Maximises once
 * where nothing is free, with block actions and with Adam. */
hf_status hfi_trainer_explore(hfi_trainer *trainer, bool quiet, double *state, size_t iterations,
                              const hfi_start **chosen);

/** What comes after the first maximisation of hfi_trainer_explore() alone, for the readings that
 * are present now: `state`, which a search ended at, becomes what one from a shorter start ends at
 * if that is clearly higher. Three values, and a search where `state` is longer than that start. */
hf_status hfi_trainer_escape(hfi_trainer *trainer, double *state, size_t iterations, bool *found);

/* ---- residuals -------------------------------------------------------------------------------------------
 */

/** What a state says about every reading, from the present ones alone: leave-one-out for those, prediction
 * for absent ones. */
typedef struct hfi_holdout {
    double *mean; /* latent mean, prior mean included */
    double *sd;   /* of the reading: sqrt(latent variance + noise + extra) */
    double *t;    /* (y - mean) / sd */
    double log_evidence;
} hfi_holdout;

hf_status hfi_holdout_init(hf_context *ctx, hfi_holdout *residuals, size_t rows);
void hfi_holdout_free(hf_context *ctx, hfi_holdout *residuals);
/** At the model's present values and presence, with the evaluator's own solver. */
hf_status hfi_holdout_compute(hfi_evaluator *evaluator, hfi_holdout *residuals);
/** The same for absent readings; entries of present ones say nothing. Saves their O(n^3/3). */
hf_status hfi_holdout_absent(hfi_evaluator *evaluator, hfi_holdout *residuals);
/** The same from a solution with readings as anchors (exact or projected) for the evaluator's rows. */
hf_status hfi_holdout_from_solution(hfi_evaluator *evaluator, const hfi_solution *solution,
                                    hfi_holdout *residuals);

/** The step that readings were rounded to: most are equal to another one, and those lie whole steps apart; else 0. A reading known to half a
 *  step has at least the variance step^2 / 12. O(n log n). */
hf_status hfi_reading_step(hf_context *ctx, size_t n, const double *y, double *step);

/** Fewer readings of one output of several than this say little about how widely it varies, and can
 * be explained by chance (fit_sparse.c). */
enum {
    HFI_SPARSE_READINGS = 8
};
bool hfi_output_is_sparse(size_t readings);

/** Sites of labels, which are not fitted here but in the classify room. */
bool hfi_site_kind_is_class(hf_site_kind kind);
/** Whether a fit of a table is to choose the kernel of its settings: it is "auto". */
bool hfi_kernel_is_auto(const char *kernel);

/* ---- solvers of a fit --------------------------------------------------------------------------------------
 */

/** The solver that a fit of n readings with d inputs will use, and how many inducing inputs and actions (0 where there are none). What the
 * settings leave open is chosen by n: exact up to 2000 readings, then projected on Krylov actions with hyperparameters from inducing inputs,
 * from 20 000 on inducing alone. */
hf_solver hfi_choose_solver(const hf_fit_settings *settings, size_t n, size_t d, size_t *inducing,
                            size_t *actions);

/** What a fit of n readings with d inputs will take (fit_cost.c). */
typedef struct hfi_estimate {
    hf_solver solver;         /* never auto */
    size_t inducing, actions; /* 0 where there are none */
    size_t training_rows;     /* that the hyperparameters are learnt from */
    double bytes;             /* at the peak, without the data */
    double evaluation_flops;  /* one objective with gradient */
    double flops;             /* a typical fit */
} hfi_estimate;
void hfi_fit_estimate(const hf_fit_settings *settings, size_t n, size_t d, hfi_estimate *out);

/* ---- loops ------------------------------------------------------------------------------------------------
 */

/** Standardised residuals from which on a reading is a suspect, below and above. Zero: not known. */
typedef struct hfi_cut {
    double low, high;
} hfi_cut;

/** What leave-one-out residuals of the readings that nobody suspects are like, scaled units. */
typedef struct hfi_side {
    double error; /* mean |error| */
    double sd;    /* mean predictive standard deviation of a reading */
} hfi_side;

/** Why suspects are set aside or kept; NaN what nobody has asked. */
typedef struct hfi_suspicion {
    bool undecided;         /* it is near its limit */
    double benefit;         /* CRPS of the kept readings, without the suspects over with them */
    double gain;            /* nats of an outlier component in the mixture of residuals */
    double chance;          /* that sound readings reach so far (suspect_isolated.c) */
    hfi_side with, without; /* the suspects */
} hfi_suspicion;

static inline hfi_suspicion hfi_suspicion_none(void)
{
    const hfi_side unknown = {NAN, NAN};
    hfi_suspicion none = {.benefit = NAN, .gain = NAN, .chance = NAN};
    none.with = none.without = unknown;
    return none;
}

/** What the suspect finder concluded. */
typedef struct hfi_verdict {
    bool adopted;
    hfi_suspicion evidence;
    size_t rounds, groups;
    bool *suspected;               /* rows */
    size_t *group;                 /* rows */
    double *plain_mean, *plain_sd; /* rows: leave-one-out by the plain state; NULL: nobody asks */
} hfi_verdict;

/** The suspect finder: from the plain state (in) to the final state (out), with presence set in the sites. */
hf_status hfi_find_suspects(hfi_trainer *trainer, const hf_fit_settings *settings, double *state,
                            hfi_verdict *verdict);

/** A mean that is not trained becomes that of the present readings. */
hf_status hfi_trainer_follow_mean(hfi_trainer *trainer, double *state);

/** Whether so few readings are present, for the hyperparameters trained, that leave-one-out
 * residuals at the
 * fitted state look better than they are; and second derivatives make refits cheap. */
bool hfi_refit_matters(const hfi_trainer *trainer);
/**
 * Residuals of the present readings by hyperparameters that have not seen them either: folds of
 * them (each by itself where they are few, else ten that the order of the readings' sizes deals)
 * are left out in turn, the others are trained from `state`, a maximum of objective + prior, and
 * predict them. With more than 60 readings that training is one Newton step with the second
 * derivatives at `state`. Entries of absent readings in `r` stay, and those that cannot be had.
 * Trainer and model are left at `state` with the same readings present. Two evaluations a fold,
 * with few readings about five.
 */
hf_status hfi_refit_residuals(hfi_trainer *trainer, const double *state, hfi_holdout *r);

/** Robust re-weighting to a fixed point. `state` in: start; out: final. The sites are left with their final
 * weights; *rounds counts. */
hf_status hfi_robust_reweight(hfi_trainer *trainer, const hf_fit_settings *settings, double threshold,
                              double *state, size_t *rounds);

/** Robust weights from residuals about `centre` (rows), then re-centred by the settings' rule until they stand still; before each of the first
 * `trained` times the hyperparameters are trained for some steps, otherwise they stay as they are. */
hf_status hfi_robust_settle(hfi_trainer *trainer, const hf_fit_settings *settings, double threshold,
                            const double *centre, size_t trained, double *state, size_t *rounds);

/** kappa = max(1, n / (n - trained) max(mean t^2, (q95 |t| / 1.96)^2)) over the n readings kept and a few borderline suspects; `trained` is the
 * number of trained parameters (at most n / 2 counts). `group` is not 0 for members of a group set aside. */
hf_status hfi_calibration(hf_context *ctx, size_t n, const double *t, const bool *kept, const size_t *group,
                          size_t trained, double *kappa);

#endif
