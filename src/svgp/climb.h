/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file svgp_climb.h
 * @brief Training by minibatches, step by step, and how it goes on after an interruption; only
 * files of this room include this.
 */
#ifndef HFI_SVGP_CLIMB_H
#define HFI_SVGP_CLIMB_H

#include "svgp/impl.h"

/** Everything a step depends on is here, in q and in the batches. */
typedef struct hfi_svgp_climb {
    hfi_svgp_run *run;
    hfi_batches batches;
    hfi_svgp_sums sums;
    size_t length; /* of a state: the space's, and log(nu - 1) */
    double *state, *trial, *first, *second, *average;
    size_t moves, averaged;
    double rate, rho;
    /* where training stands */
    size_t whole;       /* steps of q alone */
    size_t round, most; /* of rounds; the next one, how many there can be */
    size_t stage;       /* of the learning rate */
    bool settled;       /* no more rounds */
    size_t step;        /* of this round: the next one, and what those before have seen */
    size_t readings, rows;
    double value;
    double *bound; /* of each round since the learning rate last changed */
    size_t bounds;
    double *numbers; /* of a snapshot; NULL without a journal */
} hfi_svgp_climb;

/** The state of kernel, mean, noise, nu and inducing inputs; and back, with a new factor of Kuu:
 * hfi_svgp_prior(). */
void hfi_svgp_get_state(const hfi_svgp_run *run, double *state);
hf_status hfi_svgp_set_state(const hfi_svgp_run *run, const double *state);

/* ---- what an interrupted fit goes on from (svgp_checkpoint.c) -------------------------------- */

/** Where the run has a journal: room for snapshots, and the last one of an interrupted training, if
 * there is one. Call when all else of the climb is as a training begins. */
hf_status hfi_svgp_resume(hfi_svgp_climb *c);
/** A snapshot, if it is time for one or if `now`. */
void hfi_svgp_snap(hfi_svgp_climb *c, bool now);
/** Training is over: what the journal keeps next is of passes. */
void hfi_svgp_end_snapshots(hfi_svgp_climb *c);

/** hfi_svgp_add_all() at the present q, sums without a gradient: from the journal as long as it
 * lasts. */
hf_status hfi_svgp_pass(const hfi_svgp_run *run, hfi_svgp_sums *sums);

#endif
