/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file solver.h
 * @brief Internal face of the solver room: sites in, solution out.
 *
 * A solution is what every solver ends in:
 *
 *     mean(x)   = m(x) + k(x, Z) t
 *     cov(x,x') = k(x,x') - k(x, Z) S k(Z, x'),    S = R R'
 *
 * S is never formed. hfi_solution_whiten() maps k(Z, x) to R' k(Z, x), whose squared norm is what
 * the data took away from the prior variance. R has one of three forms:
 *
 *     exact    R = L^-T,    L L' = K + D                anchors: the present readings, rank n
 *     dense    R            n x rank                    inducing inputs, or readings under dense
 *     actions
 *     blocks   R = A L^-T,  L L' = A'(K + D)A           one non-zero s_l of A in each row, in column a(l)
 */
#ifndef HFI_SOLVER_H
#define HFI_SOLVER_H

#include "core/core.h"
#include "kernel/kernel.h"
#include "mean/mean.h"
#include "sites/sites.h"
#include <holdfast/solver.h>

/** How R is held. */
typedef enum hfi_factor_form {
    HFI_FORM_EXACT = 0,
    HFI_FORM_DENSE,
    HFI_FORM_BLOCKS,
    HFI_FACTOR_FORMS
} hfi_factor_form;

typedef struct hfi_solution {
    hfi_memory memory;
    hfi_factor_form form;
    hf_solver solver; /* who made it */
    /* anchors: the present readings, in row order; for the inducing solver its inputs */
    size_t n;
    size_t d;         /* inputs */
    size_t capacity;  /* rows allocated; leading dimension of `factor` */
    double *z;        /* anchors' inputs, n x d row-major, stride d */
    double *residual; /* z_i - m_i: site targets less prior mean; NULL for the inducing solver */
    double *variance; /* d_i without jitter; NULL for the inducing solver */
    double *t;        /* weights of the mean; exact: (K + D)^-1 residual */
    /* L, lower triangle, column-major, stride capacity (exact) or rank (blocks); the strict upper
     * one is scratch */
    double *factor;
    /* columns of R; 0 for the exact form, where there are n: hfi_solution_rank() */
    size_t rank;
    double *r;     /* dense: R, n x rank column-major, stride n; else NULL */
    size_t *block; /* blocks: a(l) < rank for every anchor; else NULL */
    /* blocks: s_l; dense, of labels under the softmax link: the probabilities that R follows from;
     * else NULL */
    double *entry;
    /* absolute amount added to every diagonal entry; 0 if none. Acts as extra site variance */
    double jitter;
    double log_det; /* log det A, A = K + D + jitter */
    /* 1-norm condition number of A, estimated at the last factorisation or check */
    double condition;
    double backward; /* see hfi_solution_measure(); as of the last factorisation or check */
} hfi_solution;

/** A solver: facts about the solutions that it makes. */
typedef struct hfi_solver_kind {
    bool form[HFI_FACTOR_FORMS]; /* in which R may be held */
    /* the anchors are the present readings, with residuals and variances */
    bool readings;
    /* any reading can be left out of the solution by itself; for others a fit tells of each */
    bool leaves_out;
} hfi_solver_kind;

/** The row of a solver; of `auto` one without any of that. Thread-safe, O(1). */
const hfi_solver_kind *hfi_solver_kind_of(hf_solver solver);

/** Bytes and flops of an exact solve with n readings of d inputs. */
void hfi_exact_cost(size_t n, size_t d, double *bytes, double *flops);
/** HF_ERR_TOO_LARGE (needed, available, the number of readings that would fit) when `bytes` more
 * cannot be had without swapping. `what` completes "... of n readings needs". */
hf_status hfi_require_memory(hf_context *ctx, const char *what, size_t n, double bytes);
/** Scale that jitter is relative to: the kernel's typical variance, else the average prior variance
 * of the n rows, else 1. Always positive and finite. */
double hfi_jitter_scale(const hf_kernel *kernel, size_t n, const double *x, size_t ldx);

/** Zeroed arrays for n anchors of d inputs (capacity n). *out is zeroed on error. */
hf_status hfi_solution_alloc(hf_context *ctx, size_t n, size_t d, hfi_solution *out);

/** Inputs, residuals and variances of the present rows into a solution allocated for them.
 * HF_ERR_NOT_FINITE names the row. */
hf_status hfi_solution_gather(hf_context *ctx, const hf_mean *mean, const hf_sites *sites,
                              const double *x, size_t ldx, hfi_solution *solution);
/** Factors K + D for the present readings and solves for t. x: all rows (hf_sites_count),
 * row-major. O(n^3/3 + n^2 d). HF_ERR_TOO_LARGE when it cannot fit in memory (bytes in the
 * message), HF_ERR_NO_DATA when no reading is present, HF_WARN_JITTER when jitter was needed. *out
 * is zeroed on error. */
hf_status hfi_exact_solve(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                          const hf_sites *sites, size_t d, const double *x, size_t ldx,
                          hfi_solution *out);
void hfi_solution_free(hfi_solution *solution);

/** Zeroed arrays for n anchors of d inputs in the form `dense` or `blocks` with `rank` columns;
 * `readings` adds residual and variance. *out is zeroed on error. */
hf_status hfi_solution_alloc_low_rank(hf_context *ctx, hfi_factor_form form, size_t n, size_t d,
                                      size_t rank, bool readings, hfi_solution *out);
/** Columns of R. */
size_t hfi_solution_rank(const hfi_solution *solution);
/** Doubles of room that hfi_solution_whiten() needs for m columns: 0 for the exact form. */
size_t hfi_solution_room(const hfi_solution *solution, size_t m);
/** R' V for m columns of cross-covariances V (n x m, column-major, destroyed). @return where the
 * result is: rank x m column-major, its stride in *ld. Exact: in place of V; else in `room`.
 * Serial, no allocation. Cost m n^2 (exact), 2 m n rank (dense), m (n + rank^2) (blocks). */
double *hfi_solution_whiten(const hfi_solution *solution, size_t m, double *v, size_t ldv,
                            double *room, size_t *ld);
/** out := R w (n entries) for one w of `rank` entries, which may be destroyed; out must not overlap
 * w unless the form is exact, when out may be w: S k = R (R' k). */
void hfi_solution_spread(const hfi_solution *solution, double *w, double *out);

/** log N(z; m, K + D) of the sites. */
double hfi_solution_log_evidence(const hfi_solution *solution);

/** Mean and latent variance of every anchor's f_i given all other anchors (the cavity)
 * (leave-one-out), less the prior mean; accurate for any site variance. `mean`, `variance`: anchors
 * entries. O(n^3/3). */
hf_status hfi_solution_cavities(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s,
                                double *mean, double *variance);
/** The same where nothing else is asked of the solution: its factor serves as scratch, and is
 *  lost. */
hf_status hfi_last_cavities(hf_context *ctx, const hf_kernel *kernel, hfi_solution *s, double *mean,
                            double *variance);
/** The same where diag((K + D + jitter)^-1) is known. O(n), but for very weak sites. */
hf_status hfi_known_cavities(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s,
                             const double *diagonal, double *mean, double *variance);
/** The same of anchor i alone. O(n^2). */
hf_status hfi_solution_cavity(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s,
                              size_t i, double *mean, double *variance);

/** Adds an anchor (input x, site residual r, site variance v); `column` = k(Z, x) (n), `prior` =
 * k(x, x). O(n^2). Grows storage by doubling. */
hf_status hfi_solution_append(hf_context *ctx, hfi_solution *solution, const double *x, double r,
                              double v, const double *column, double prior);
/** Removes anchor i. O(n^2). */
hf_status hfi_solution_delete(hf_context *ctx, hfi_solution *solution, size_t i);
/** Gives anchor i another site residual and variance (rank-one update or downdate of the factor);
 * `prior` = k(z_i, z_i). O(n^2). Accurate also when the variance changes by many orders of
 * magnitude. */
hf_status hfi_solution_replace(hf_context *ctx, hfi_solution *solution, size_t i, double r,
                               double v, double prior);
/**
 * Backward errors of the present factor and of t against a freshly computed A = K + D + jitter; the
 * larger of the two is stored in `backward`, and `condition` is estimated anew. Both are taken
 * after scaling A to a unit diagonal (H = S A S), because Cholesky's rounding errors are small in
 * that scale; without it one reading with a huge site variance would hide every error of the
 * others.
 *
 *     weights: ||S (A t - r)|| / (||H|| ||t / S|| + ||S r||)      factor: ||S (L L' - A) S p|| /
 *     ||H||, p =
 * +-1
 *
 * O(n^2 d), O(n) memory.
 */
hf_status hfi_solution_measure(hf_context *ctx, const hf_kernel *kernel, hfi_solution *solution);
/** The same, and HF_WARN_DRIFT above HFI_DRIFT_LIMIT. */
hf_status hfi_solution_check(hf_context *ctx, const hf_kernel *kernel, hfi_solution *solution);
/** Factors afresh from kernel, z, residual and variance. O(n^3/3). */
hf_status hfi_solution_refresh(hf_context *ctx, const hf_kernel *kernel, hfi_solution *solution);

/** Backward error from which a refresh is advised. A fresh factor has some 1e-16. */
#define HFI_DRIFT_LIMIT 1e-10

#endif
