/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file outliers.h
 * @brief Loops that fit while they decide which readings are wrong: suspects, robust weights,
 * relevance pursuit; calibration.
 */
#ifndef HFI_OUTLIERS_H
#define HFI_OUTLIERS_H

#include "objective/samples.h"
#include "search/trainer.h"
#include <math.h>

/** The step that readings were rounded to: most are equal to another one, and those lie whole steps
 * apart; else 0. A reading known to half a
 *  step has at least the variance step^2 / 12. O(n log n). */
hf_status hfi_reading_step(hf_context *ctx, size_t n, const double *y, double *step);

/** Standardised residuals from which on a reading is a suspect, below and above; how many of how
 * many rows were suspects where that was found out. Zero: not known. */
typedef struct hfi_cut {
    double low, high;
    size_t suspects, rows;
} hfi_cut;

/** Typical leave-one-out residuals of the readings that nobody suspects, scaled units. */
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

/** Verdict of the suspect finder. */
typedef struct hfi_verdict {
    bool adopted;
    hfi_suspicion evidence;
    size_t rounds, groups;
    bool *suspected;               /* rows */
    size_t *group;                 /* rows */
    double *plain_mean, *plain_sd; /* rows: leave-one-out by the plain state; NULL: nobody asks */
} hfi_verdict;

/** The suspect finder: from the plain state (in) to the final state (out), with presence set in the
 * sites. */
hf_status hfi_find_suspects(hfi_trainer *trainer, const hf_fit_settings *settings, double *state,
                            hfi_verdict *verdict);

/** How a re-weighting ended. */
typedef struct hfi_reweighting {
    size_t rounds, most; /* done, and allowed */
    double change;       /* of a weight, in the last round: the largest */
} hfi_reweighting;

/** Robust re-weighting to a fixed point. `state` in: start; out: final. The sites are left with
 * their final weights. */
hf_status hfi_robust_reweight(hfi_trainer *trainer, const hf_fit_settings *settings,
                              double threshold, double *state, hfi_reweighting *done);

/** Robust weights from residuals about `centre` (rows), then re-centred by the settings' rule until
 * they stand still; before each of the first `trained` times the hyperparameters are trained for
 * some steps, otherwise they stay as they are. */
hf_status hfi_robust_refine(hfi_trainer *trainer, const hf_fit_settings *settings, double threshold,
                            const double *centre, size_t trained, double *state,
                            hfi_reweighting *done);

/** HF_WARN_NOT_CONVERGED where the last of several rounds, which were all that were allowed, still
 * moved a weight by 0.01. One round alone is asked for as it is. */
hf_status hfi_reweighting_remark(hf_context *ctx, const hfi_reweighting *done);

/** kappa = max(1, n / (n - trained) max(mean t^2, (q95 |t| / 1.96)^2)) over the n readings kept and
 * a few borderline suspects; `trained` is the number of trained parameters (at most n / 2 counts).
 * `group` is not 0 for members of a group set aside. */
hf_status hfi_calibration(hf_context *ctx, size_t n, const double *t, const bool *kept,
                          const size_t *group, size_t trained, double *kappa);

/* ---- robust weights of several outputs, from what readings of a sample say of each other ----- */

/** State that the weights are made with; owned by the fit. */
typedef struct hfi_conditional {
    hfi_samples samples;
    hf_outputs_rule rule;
    const size_t *readings; /* of each output; the fit's */
    double *eps;            /* outputs; this and all below in the order of the samples' columns */
    double *weight;         /* rows x outputs, and so on, of the samples */
    double *shift;
    double *model;       /* mean, noise (outputs each), covariance (outputs x outputs) */
    double *covariances; /* rows x outputs x outputs: of each sample at its inputs */
    /* they are not all the same, and count in place of the covariance in `model` */
    bool varies;
    /* as `model`, with no noise: location and covariance of the readings themselves */
    double *rows;
    size_t complete; /* samples that have all outputs, if `rows` is made of them; else 0 */
    bool estimated;  /* `rows` is there */
    /* `rows` takes the place of the fitted covariance where readings are nearer to its centres */
    bool chooses;
    bool by_rows; /* it has taken it, for good, here or in the fit that this one goes on from */
} hfi_conditional;

/** For the readings of a fit; `place_of` as in hfi_samples_init(). HF_ERR_ARGUMENT for settings
 * that say nothing here. */
hf_status hfi_conditional_init(hf_context *ctx, const hf_fit_settings *settings, size_t n, size_t d,
                               size_t outputs, const double *x, const double *y,
                               const size_t *sample, const size_t *place_of, const size_t *readings,
                               hfi_conditional *out);
void hfi_conditional_free(hfi_conditional *conditional);

/**
 * Weights before any fit: the covariance between outputs is the minimum covariance determinant's of
 * the complete samples, with no noise. The kernel's starts there too (if it has one coregion of
 * full rank that is free), with its location for the constants. With too few complete samples the
 * outputs start unrelated. `state` is brought up to date.
 */
hf_status hfi_conditional_start(hfi_trainer *trainer, hfi_conditional *conditional, double *state);
/**
 * Weights from the present kernel, mean and noise; *change is the largest difference to the old
 * ones. The covariance of the first weights stays where the readings are nearer to its centres.
 * That is where the product of the outputs' thresholds is smaller by more than chance explains.
 * Chance is Akaike's final prediction error of T numbers for each output: sqrt((n + T) / (n - T))
 * at n complete samples. A fit in one round, or without training, has the kernel's.
 */
hf_status hfi_conditional_reweigh(hfi_trainer *trainer, hfi_conditional *conditional,
                                  double *change);
/** Whether a fit of these settings chooses between the two. */
bool hfi_conditional_chooses(const hf_fit_settings *settings);
/**
 * Location (T) and covariance (T x T) of complete samples, in the order of their columns; their
 * number into *complete. By the minimum covariance determinant, which leaves out as many as the
 * shares `eps` (T) say. With too few: medians, squared MADs, no covariance, and *complete is 0.
 */
hf_status hfi_conditional_estimate(hf_context *ctx, const hfi_samples *samples, const double *eps,
                                   double *mean, double *covariance, size_t *complete);

/* ---- relevance pursuit ----------------------------------------------------------------------- */

/* Gaussian noise, and a variance rho_i of its own for each of a few readings. (Ament, Santorella,
 * Eriksson, Letham, Balandat, Bakshy, "Robust Gaussian Processes via Relevance Pursuit", 2024). */

/**
 * Finds which readings have a variance of their own, how large it is, and the hyperparameters. It
 * uses the exact or the inducing evaluator of the trainer (objective: evidence).
 *
 * Beside that start, one with shorter lengthscales (explore.h) is tried.
 *
 * @param state     in: where to start (hfi_trainer_cold()); out: the result
 * @param rounds    receives how many supports were fitted
 * @param suspected one entry a row: set where rho_i > 3 s_i (weight below 1/4). The sites are left
 *                  with weight s_i / (s_i + rho_i).
 * Errors: HF_ERR_ARGUMENT (projected evaluator, another objective), HF_ERR_NO_DATA, HF_ERR_MEMORY,
 * HF_ERR_CANCELLED.
 */
hf_status hfi_pursuit_fit(hfi_trainer *trainer, const hf_fit_settings *settings, double *state,
                          size_t *rounds, bool *suspected);

#endif
