/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file suspects.h
 * @brief Parts of the suspect finder; only outliers/suspect_*.c include this.
 *
 * Peel, prune, gate, group (docs/methods/robust-default.md): a set S of flagged readings and a
 * state p fitted to the others are improved in turn; a gate asks whether setting S aside pays; a
 * test on whole groups sees what no leave-one-out residual can.
 */
#ifndef HFI_SUSPECTS_H
#define HFI_SUSPECTS_H

#include "outliers/outliers.h"

/** One flag set with the state fitted to the rest, and what its residuals say. */
typedef struct hfi_flagging {
    bool *flag;    /* rows */
    double *state; /* trainer->count */
    double *t;     /* rows: standardised residuals */
    double *crps;  /* rows */
    double *sd;    /* rows: predictive standard deviations; t times it is the error */
    double cost;   /* J: description length of readings and flags, nats; small is good */
} hfi_flagging;

typedef struct hfi_finder {
    hf_context *ctx;
    hfi_trainer *trainer;
    const hf_fit_settings *settings;
    size_t n;
    size_t outputs;        /* of several, which are judged one by one: the last input says which;
                              else 1 */
    double range;          /* of the readings, those far out cut */
    bool wild;             /* some are far out */
    hfi_holdout residuals; /* scratch */
    double *probability;   /* scratch, rows */
    double *sorted;        /* scratch, rows */
    bool *flag;            /* scratch, rows */
    bool *replicate;       /* rows: one of several measurements of one specimen, which are never
                              suspects */
    hfi_flagging assessed; /* the last one that was; `any` says whether there is one */
    bool any;
    bool held; /* hyperparameters stay while flags move */
    size_t rounds;
} hfi_finder;

/** Iterations of a fit that goes on from where the last one ended. */
enum {
    HFI_FINDER_WARM = 25
};

/** While flags still move, hyperparameters need not be better than this many nats: what decides
 * about flags is worth several. */
static const double hfi_finder_enough = 0.1;

/** The same where a state is only something to start from. A search that knows second derivatives
 * and gains no more than that is near its end; one that does not may not be. */
static inline double hfi_finder_roughly(const hfi_finder *finder)
{
    return finder->trainer->curved ? 1.0 : hfi_finder_enough;
}

hf_status hfi_flagging_init(hf_context *ctx, hfi_flagging *flagging, size_t rows, size_t count);
void hfi_flagging_free(hf_context *ctx, hfi_flagging *flagging);
void hfi_flagging_copy(const hfi_finder *finder, hfi_flagging *to, const hfi_flagging *from);

/** Makes exactly the unflagged readings present. */
hf_status hfi_finder_present(hfi_finder *finder, const bool *flag);
/** Fits the unflagged readings from `state` (in and out), or from the cold start if `cold`. While
 * hyperparameters are held only a mean that is not trained follows. */
hf_status hfi_finder_fit(hfi_finder *finder, const bool *flag, double *state, bool cold,
                         size_t iterations);
/** Residuals, CRPS and cost of flagging->flag and flagging->state; what was assessed last is not
 * computed again. The model is left there. */
hf_status hfi_finder_assess(hfi_finder *finder, hfi_flagging *flagging);

/** hfi_mixture_liberal() or hfi_mixture_prune(). */
typedef hf_status (*hfi_mixture_of)(hf_context *ctx, size_t n, const double *t, const bool *skip,
                                    double *probability, double *tau);
/** Flags in finder->flag from the residuals of `f`: outliers by a mixture with more than the
 * probability `least` and further out than three of its scales, and those in `lock`. At most half
 * are flagged. */
hf_status hfi_finder_flag(hfi_finder *finder, hfi_mixture_of mixture, double least,
                          const hfi_flagging *f, const bool *lock);

/** Liberal rounds, then prune rounds, from start (flag, state) to the cheapest flagging met. */
hf_status hfi_trim(hfi_finder *finder, const bool *lock, const hfi_flagging *start,
                   hfi_flagging *best);

/** Sum of the CRPS of readings not in `skip` (may be NULL), none less than `least`. */
double hfi_sum_crps(size_t n, const double *crps, const bool *skip, double least);

/** The gate's opinion of a flagging. */
typedef struct hfi_judgement {
    bool accepted;
    hfi_suspicion evidence;
} hfi_judgement;

/** The output of a row; 0 where there is one. */
size_t hfi_finder_output(const hfi_finder *finder, size_t row);
/** Whether a flagging clearly predicts the kept readings better than `base` does, each output by
 * itself: flags of outputs that do not pass are taken back, and the state fitted anew. With
 * HF_OUTLIERS_FORCE everything passes. */
hf_status hfi_gate(hfi_finder *finder, const bool *lock, const hfi_flagging *base, hfi_flagging *f,
                   hfi_judgement *out);

/** One start of an attempt. */
typedef struct hfi_attempt {
    /* the cheapest accepted; if none was accepted, the cheapest that flagged anything */
    hfi_flagging result;
    bool found;  /* something was flagged */
    bool tested; /* by hfi_isolated_run() */
    hfi_judgement judged;
} hfi_attempt;

/** Peels from the plain start and, if `robust_start`, from the nearest-neighbour start; `base` is
 * what the gate compares with. */
hf_status hfi_attempt_run(hfi_finder *finder, const bool *lock, const hfi_flagging *base,
                          bool robust_start, hfi_attempt *attempt);

/** Few flags are judged like extreme values (suspect_isolated.c): those that sound readings with
 * the others' tails would hardly reach replace the attempt's result. Many are left as the gate
 * judged them. */
hf_status hfi_isolated_run(hfi_finder *finder, const bool *lock, hfi_attempt *attempt);

/** The median over the suspects (of rows that are not locked) of a chance: that any of its
 * output's readings reaches as far, under the tails of the kept ones. */
hf_status hfi_mid_chance(hfi_finder *finder, const bool *lock, const hfi_flagging *f, double *out);

/** Wrong readings lie apart: on a logarithmic scale of |t| there is a valley between the hump they
 * make and the others. true where the flags (many enough to tell) are but the far side of one
 * slope, both by |t| and by the errors themselves. That is the tail of legitimate readings that the
 * model has no room for. Readings in `without` (may be NULL) do not count. */
bool hfi_flags_run_on(const hfi_finder *finder, const hfi_flagging *f, const bool *without);

size_t hfi_count_flags(size_t n, const bool *flag);

#endif
