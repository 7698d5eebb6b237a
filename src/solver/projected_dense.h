/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file projected_dense.h
 * @brief A projection on dense actions that grows: what D^-1 K_XZ and Krylov actions are made with.
 *
 * It works in coordinates in which every reading has unit noise. There a reading far out, of huge
 * D, is as small as it deserves to be: with H = D^-1/2 K D^-1/2 and orthonormal columns Q,
 *
 *     A = D^-1/2 Q,   T = Q'H Q,   Lambda = Q'Q = I,   G = T + I
 *
 * so that G's eigenvalues are 1 or more, whatever the actions and sites are.
 */
#ifndef HFI_PROJECTED_DENSE_H
#define HFI_PROJECTED_DENSE_H

#include "solver/projected.h"

typedef struct hfi_dense_system {
    hf_context *ctx;
    const hf_kernel *kernel;
    hfi_precision precision;
    size_t n;
    /* anchors; its r holds Q until the end, and a last column beside for a step of Krylov's */
    hfi_solution solution;
    hfi_projected_core core; /* count: columns of Q so far */
    double *w;               /* n x capacity: H Q */
    double *root;            /* n: D^1/2 */
    double *prior;           /* n: k(x, x) without white noise */
    double *target;          /* n: D^-1/2 r */
    double *rest;            /* n: target - (H + I) Q u, what the readings still have to say */
    double residual;         /* |rest| / |target|; 0 when both are */
    size_t passes;
} hfi_dense_system;

/** Gathers the present readings; room for `capacity` actions. *out is zeroed on error. */
hf_status hfi_dense_system_init(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                const hf_sites *sites, size_t d, const double *x, size_t ldx,
                                size_t capacity, hfi_precision precision, hfi_dense_system *out);
void hfi_dense_system_free(hfi_dense_system *system);
/** Where the next actions go, in the coordinates of Q (D^1/2 A): column core.count of Q. */
double *hfi_dense_system_next(hfi_dense_system *system);
/** Part of a column's length that has to be new. Even what is mostly rounding is an action like any
 * other: the posterior is right for any actions, so that the limit is low. */
#define HFI_DENSE_DEPENDENT 1e-12
/** Takes `count` columns written there: makes them orthonormal, drops those of which no more than
 * the part `dependent` is new, one pass over K (none when nothing is left), and solves. */
hf_status hfi_dense_system_grow(hfi_dense_system *system, size_t count, double dependent);
/** The solution of what has been grown, which takes over the system's memory. At least one
 * action. */
hf_status hfi_dense_system_finish(hfi_dense_system *system, hfi_solution *out,
                                  hf_projection_report *report);

/** Krylov actions until the residual is at `tolerance`, if that is above 0, or `count` more of
 * them, if there are as many readings (krylov.c): how many there are in the end is not a matter of
 * rounding. HF_WARN_NOT_CONVERGED. */
hf_status hfi_krylov_grow(hfi_dense_system *system, size_t count, double tolerance);
/** Given actions (p->matrix over all rows of the sites): those of the present readings. */
hf_status hfi_given_actions_grow(hfi_dense_system *system, const hf_sites *sites,
                                 const hf_projection *p);

#endif
