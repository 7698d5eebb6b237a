/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file trainer.h
 * @brief Maximising an objective over the hyperparameters, from one start or several.
 */
#ifndef HFI_TRAINER_H
#define HFI_TRAINER_H

#include "objective/evaluator.h"
#include "objective/holdout.h"
#include "search/maximise.h"

/** Another start than the cold one: all lengthscales that are free times one factor, all noises
 * times another. */
typedef struct hfi_start {
    const char *name;
    double lengthscale, noise;
} hfi_start;

/** An objective with priors, boxes and a choice of free parameters, ready to be maximised from any
 * state. */
typedef struct hfi_trainer {
    hfi_evaluator evaluator;
    hf_objective objective;
    /* length of a state: kernel parameters, mean coefficients, log noises, the evaluator's
     * extras */
    size_t count;
    /* where the log noises are in a state: as many as the sites have channels,
     * hfi_trainer_noises() */
    size_t noise;
    size_t free_count;
    size_t *free_index; /* positions of the trained parameters in a state */
    double *lower, *upper;
    double *prior_mean, *prior_sd; /* sd = infinity: no prior */
    double *start;                 /* the state a cold fit starts from */
    const hfi_start *moved;        /* how cold fits move `start`; NULL: not. Not owned */
    double *work;                  /* 6 x count */
    /* false: hfi_trainer_cold resets the mean from the present readings and training leaves it */
    bool train_mean;
    bool warm; /* searches start from `start` and nowhere else */
    /* The mean's coefficients in `start` are where it starts, not the readings' own. */
    bool mean_started;
    /* rows x d: the inputs standardised, for rules that measure distances, whatever the units the
     * kernel sees */
    const double *comparable;
    size_t evaluations;
    /* nats: a search other than Adam's also ends where an iteration gains no more; 0: only by its
     * own tolerances */
    double enough;
    hf_optimiser optimiser;
    bool curved;          /* second derivatives are known: the trust region in place of L-BFGS */
    double learning_rate; /* of Adam */
    struct hfi_conditional
        *conditional; /* weights from the other outputs (conditional.h); NULL: none. Not owned */
    struct hfi_journal
        /* answers evaluations that an interrupted fit has made already; NULL: none. Not owned */
        *journal;
    size_t outputs; /* 1, or T: then the last input is the number of the output */
    /* evaluations the whole fit is expected to take; for the progress callback */
    size_t budget;
    hfi_optimum found; /* by the last optimisation */
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

/** Another random start around a state: kernel parameters and noises that are free move by a normal
 * number of sd 1.5 each, which `number` and the context's seed decide. */
void hfi_trainer_scatter(const hfi_trainer *trainer, size_t number, double *state);
double hfi_trainer_log_prior(const hfi_trainer *trainer, const double *state);

/** The same, and its derivatives are added to `gradient`, all `count` entries, unless that is
 * NULL. */
double hfi_trainer_add_prior(const hfi_trainer *trainer, const double *state, double *gradient);

/** Objective, log prior and the gradient of their sum (all `count` entries, or NULL) at a state;
 * the model is left there. Counts as one evaluation. */
hf_status hfi_trainer_evaluate(hfi_trainer *trainer, const double *state, double *value,
                               double *log_prior, double *gradient);

/** hfi_evaluator_curvature() at the state of the last hfi_trainer_evaluate(), from the journal
 * where there is one: count x count. */
hf_status hfi_trainer_curvature(hfi_trainer *trainer, const double *state, double *matrix);

/** The same of the free parameters alone, that of the prior added: free_count x free_count. */
hf_status hfi_trainer_free_curvature(hfi_trainer *t, const double *state, double *out);

/** The entries of a state, for a search. */
static inline hfi_space hfi_trainer_space(const hfi_trainer *t)
{
    return (hfi_space){.count = t->count,
                       .free_count = t->free_count,
                       .free_index = t->free_index,
                       .lower = t->lower,
                       .upper = t->upper};
}

/** A trainer's space and `more` free entries behind those of a state. */
typedef struct hfi_wide_space {
    hfi_space space;
    double *theta, *lower, *upper; /* all entries; those of a state are filled */
    size_t *free_index;
} hfi_wide_space;

/** HF_ERR_MEMORY. Released by hfi_wide_space_free(), also after an error. */
hf_status hfi_trainer_widen(const hfi_trainer *trainer, const double *state, size_t more,
                            hfi_wide_space *out);
void hfi_wide_space_free(hf_context *ctx, hfi_wide_space *wide);

/** Maximises an objective over a space (NULL: the trainer's) from theta (in and out), at most 1.5
 * iterations + 5 evaluations (Adam: as many steps). The trainer counts them, and its report of the
 * last optimisation is of this one. Errors as of hfi_maximise(); warnings of the evaluation at the
 * result. */
hf_status hfi_trainer_search(hfi_trainer *trainer, hfi_optimiser by, const hfi_objective *objective,
                             const hfi_space *space, double enough, size_t iterations,
                             double *theta);

/** Maximises objective + prior over the present readings from `state` (in and out), at most 1.5
 * iterations + 5 evaluations. The model is left at the result. HF_ERR_CANCELLED; warnings of the
 * last evaluation. */
hf_status hfi_trainer_maximise(hfi_trainer *trainer, double *state, size_t iterations);

/** A search from a state (in and out) that leaves the trainer's report. */
typedef hf_status (*hfi_trainer_climb)(void *arg, double *state);

/** After a search that led to `state` and to the trainer's report: more of them from `restarts`
 * seeded random starts around `start`. State and report become those of the best one. */
hf_status hfi_trainer_restart(hfi_trainer *trainer, const double *start, size_t restarts,
                              hfi_trainer_climb climb, void *arg, double *state);

/** hfi_trainer_maximise() from `state`, and from starts with shorter lengthscales (explore.c):
 * where a function moves quickly the first may end in a maximum in which all is noise. With
 * `quiet` from less noise too. The first is kept unless another ends clearly higher. A table
 * that needs no other start thus gets the same state, digit for digit, as without. *chosen (or
 * NULL) receives the start that did, NULL if none. About 1.5 times the evaluations; where
 * readings are many the others are tried on 300 of them. Periods of the kernel that are free and
 * not given are looked for first (explore.h), and t->start gets what is found. Maximises once
 * where nothing is free, with block actions and with Adam. */
hf_status hfi_trainer_explore(hfi_trainer *trainer, bool quiet, double *state, size_t iterations,
                              const hfi_start **chosen);

/** Does what follows the first maximisation of hfi_trainer_explore() alone, for the readings that
 * are present now: `state`, which a search ended at, becomes what one from a shorter start ends at
 * if that is clearly higher. Three values, and a search where `state` is longer than that start. */
hf_status hfi_trainer_escape(hfi_trainer *trainer, double *state, size_t iterations, bool *found);

/** A mean that is not trained becomes that of the present readings. */
hf_status hfi_trainer_follow_mean(hfi_trainer *trainer, double *state);

/** Whether so few readings are present, for the hyperparameters trained, that leave-one-out
 * residuals at the
 * fitted state look better than they are; and second derivatives make refits cheap. */
bool hfi_refit_matters(const hfi_trainer *trainer);

/**
 * Residuals of the present readings by hyperparameters that have not seen them either: folds of
 * them (each by itself where they are few, else ten that the order of the readings' sizes deals)
 * are left out in turn. The others are trained from `state`, a maximum of objective + prior, and
 * predict them. With more than 60 readings that training is one Newton step with the second
 * derivatives at `state`. Entries of absent readings in `r` stay, and those that cannot be had.
 * Trainer and model are left at `state` with the same readings present. Two evaluations a fold,
 * with few readings about five.
 */
hf_status hfi_refit_residuals(hfi_trainer *trainer, const double *state, hfi_holdout *r);

#endif
