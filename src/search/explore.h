/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file explore.h
 * @brief Parts of hfi_trainer_explore(), for searches of their own too.
 */
#ifndef HFI_TRAIN_EXPLORE_H
#define HFI_TRAIN_EXPLORE_H

#include "search/trainer.h"

enum {
    HFI_EXPLORE_READINGS = 300 /* that starts are compared on where there are more */
};

/** Objective + prior of the last maximisation. */
static inline double hfi_trainer_total(const hfi_trainer *t)
{
    return t->found.value + t->found.log_prior;
}

/** Objective + prior at `state`, *total; -infinity where it has none, which is no error. */
hf_status hfi_explore_value(void *trainer, const double *state, double *total);
/** A start's worth by some rule, as hfi_explore_value() with the trainer as `arg` tells it. */
typedef hf_status (*hfi_start_value)(void *arg, const double *state, double *total);
/** The shorter start to search from, by the values at `cold` moved by each: `at`, as long as a
 * state, is left moved by it. NULL where none has a value or all are `cold` itself. */
hf_status hfi_start_shorter(hfi_trainer *t, hfi_start_value value_of, void *arg, const double *cold,
                            double *at, const hfi_start **out);
/** Whether the last maximisation ended more than half a nat above `than`. */
bool hfi_explore_is_higher(const hfi_trainer *t, double than);
/** From `trial`, in `most` iterations, to where one gains less than a nat, and whether that is more
 * than half a nat above `than`: nothing hangs on rounding, and most maxima are the same one. */
hf_status hfi_explore_climb(hfi_trainer *t, double *trial, size_t most, double than, bool *better);
/** A difference of two log densities of a reading as it counts: 5 nats at most, either way, because
 * a wrong reading would have thousands. */
double hfi_gain_counted(double difference);
/** Whether such differences are clearly above 0 in the mean: by more than two of its standard
 * errors. */
bool hfi_gain_is_clear(double mean, double error);
/** Whether the present readings, each predicted by all others, are clearly better predicted at
 * `kept` than at `found`, a state of higher objective. The evidence speaks for the prior with the
 * readings: where the prior is wrong, its higher maximum can be the one that predicts worse. Log
 * densities are compared in pairs (hfi_gain_counted(), hfi_gain_is_clear()).
 * Leaves the trainer at `kept`. Two exact solves with leave-one-out: O(n^3). */
hf_status hfi_trainer_predicts_worse(hfi_trainer *t, const double *found, const double *kept,
                                     bool *worse);

/** Periods of the kernel that are free, and that nobody has given a start, get one in `state`, a
 * cold start, and in t->start: of those that the spectrum of the present readings proposes
 * (spectrum.h) the one that a search ends highest from. That must be half a nat above where it ends
 * from the period as it is. Their boxes grow to hold it. One period after the other, eight at most;
 * each takes about fifteen evaluations and seven searches to a nat, on 300 readings where there are
 * more. `work`: two states. */
hf_status hfi_scout_periods(hfi_trainer *t, double *state, size_t iterations, double *work);
/** The same with room of its own, where hfi_trainer_explore() would do so. */
hf_status hfi_explore_periods(hfi_trainer *t, double *state, size_t iterations);

#endif
