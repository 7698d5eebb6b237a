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
 * S is never formed. hfi_solution_apply() maps k(Z, x) to R' k(Z, x), whose squared norm is what the data
 * took away from the prior variance. For the exact solver R = L^-T with L L' = K + D.
 */
#ifndef HFI_SOLVER_H
#define HFI_SOLVER_H

#include "core/core.h"
#include "kernel/kernel.h"
#include "mean/mean.h"
#include "sites/sites.h"

typedef struct hfi_solution {
    hfi_memory memory;
    size_t n;         /* anchors: the present readings, in row order */
    size_t d;         /* inputs */
    size_t capacity;  /* rows allocated; leading dimension of `factor` */
    double *z;        /* anchors' inputs, n x d row-major, stride d */
    double *residual; /* z_i - m_i: site targets less prior mean */
    double *variance; /* d_i without jitter */
    double *t;        /* (K + D)^-1 residual */
    double *factor;   /* L, lower triangle, column-major, stride capacity */
    double jitter;    /* absolute amount added to every diagonal entry; 0 if none */
    double log_det;   /* log det (K + D + jitter) */
    double condition; /* estimated 1-norm condition number */
    double backward;  /* ||(K + D) t - r|| / (||K + D|| ||t|| + ||r||): relative backward error of t */
} hfi_solution;

/** Bytes and flops of an exact solve with n readings of d inputs. */
void hfi_exact_cost(size_t n, size_t d, double *bytes, double *flops);

/** Factors K + D for the present readings and solves for t. x: all rows (hf_sites_count), row-major. O(n^3/3
 * + n^2 d). HF_ERR_TOO_LARGE when it cannot fit in memory (bytes in the message), HF_ERR_NO_DATA when no
 * reading is present, HF_WARN_JITTER when jitter was needed. *out is zeroed on error. */
hf_status hfi_exact_solve(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                          const hf_sites *sites, size_t d, const double *x, size_t ldx, hfi_solution *out);
void hfi_solution_free(hfi_solution *solution);

/** V := R' V for m columns of cross-covariances, in place (n x m, column-major). Serial, no allocation. O(n^2
 * m). */
void hfi_solution_apply(const hfi_solution *solution, size_t m, double *v, size_t ldv);
/** w := S w for one vector, in place. O(n^2). */
void hfi_solution_apply_s(const hfi_solution *solution, double *w);

/** log N(z; m, K + D) of the sites. */
double hfi_solution_log_evidence(const hfi_solution *solution);

/** Closed-form leave-one-out of all anchors: mean_i = z_i - t_i/G_ii - m_i and latent variance 1/G_ii - d_i,
 * G = (K + D)^-1. Means are relative to the prior mean (residual scale): add m_i. `mean`, `variance` n each.
 * O(n^3/3). */
hf_status hfi_solution_loo(hf_context *ctx, const hfi_solution *solution, double *mean, double *variance);

/** Adds an anchor (input x, site residual r, site variance v); `column` = k(Z, x) (n), `prior` = k(x, x).
 * O(n^2). Grows storage by doubling. */
hf_status hfi_solution_append(hf_context *ctx, hfi_solution *solution, const double *x, double r, double v,
                              const double *column, double prior);
/** Removes anchor i. O(n^2). */
hf_status hfi_solution_delete(hf_context *ctx, hfi_solution *solution, size_t i);
/** Gives anchor i another site residual and variance (rank-one update or downdate of the factor). O(n^2). */
hf_status hfi_solution_replace(hf_context *ctx, hfi_solution *solution, size_t i, double r, double v);
/** Backward error of the present factor and t against a freshly computed K + D: grows with online updates.
 * O(n^2 d). Stored in `backward`. */
hf_status hfi_solution_check(hf_context *ctx, const hf_kernel *kernel, hfi_solution *solution);
/** Factors afresh from kernel, z, residual and variance. O(n^3/3). */
hf_status hfi_solution_refresh(hf_context *ctx, const hf_kernel *kernel, hfi_solution *solution);

#endif
