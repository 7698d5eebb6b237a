/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file projected.h
 * @brief The projected (computation-aware) solver.
 *
 * Actions A (n x i, of full column rank): G = A'(K + D)A = L L', t = A G^-1 A'(z - m), R = A L^-T.
 * The variance k(x,x) - |L^-1 A'k_x|^2 is never below the exact posterior's, for any A, and equal
 * to it when i = n. n counts the present readings. The kernel's white noise belongs to D here and
 * to the prior variance in predictions, as in the exact solver.
 *
 * A projected solution's log_det is chosen so that hfi_solution_log_evidence() is the ELBO of the
 * sites for q(f) = N(m + K t, K - K S K), a lower bound on log N(z; m, K + D) that more actions
 * only raise. Its jitter is the most that was added to an entry of G's diagonal; condition and
 * backward error are those of G u = A'(z - m) with a unit diagonal.
 */
#ifndef HFI_PROJECTED_H
#define HFI_PROJECTED_H

#include "solver/solver.h"

/** Block-sparse actions over n readings. */
typedef struct hfi_block_actions {
    size_t n, count;
    size_t *order; /* n: reading at place k; places are sorted by block */
    size_t *first; /* count + 1: places where the blocks begin */
    double *entry; /* n, by place */
} hfi_block_actions;

/** Blocks by rule, of sizes that differ by at most one; entries zero. `count` <= n. */
hf_status hfi_block_actions_init(hf_context *ctx, hf_blocks rule, size_t n, size_t d,
                                 const double *x, size_t ldx, size_t count, hfi_block_actions *out);
/** Entries by rule; residual = z - m and variance = d by reading (not by place), which random and
 * eigen starts do not look at. No block is left all zero: where the rule gives nothing (targets at
 * the prior mean), its entries are equal. */
hf_status hfi_block_actions_start(hf_context *ctx, hfi_block_actions *actions,
                                  hf_action_start start, const hf_kernel *kernel, const double *x,
                                  size_t ldx, const double *residual, const double *variance);
void hfi_block_actions_free(hf_context *ctx, hfi_block_actions *actions);

/** Projection on given block actions over the present readings (blocks form). One pass, 8 n count
 * bytes. HF_ERR_TOO_LARGE, HF_WARN_JITTER, HF_ERR_NOT_POSITIVE_DEFINITE (a block of zeros),
 * HF_ERR_NOT_FINITE. *out is zeroed on error. */
hf_status hfi_projected_solve_blocks(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                     const hf_sites *sites, size_t d, const double *x, size_t ldx,
                                     const hfi_block_actions *actions, hfi_precision precision,
                                     hfi_solution *out, hf_projection_report *report);
/** Whatever `p` says: chooses the actions, then projects. x: all rows (hf_sites_count). */
hf_status hfi_projected_solve(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                              const hf_sites *sites, size_t d, const double *x, size_t ldx,
                              const hf_projection *p, hfi_solution *out,
                              hf_projection_report *report);
/** Whether a matrix of n rows and `count` columns, row-major, is one of actions (hf_projection):
 * finite, from one to n independent columns. O(n count^2); 8 n count bytes. */
hf_status hfi_given_actions_check(hf_context *ctx, size_t n, size_t count, const double *matrix);
/** Bytes held at the peak and flops, for n readings. */
void hfi_projected_cost(size_t n, size_t d, const hf_projection *p, double *bytes, double *flops);

/** Mean (less the prior mean) and latent variance (white noise of the kernel included) of every
 * anchor's f given all other anchors. The actions are the same, with that reading's row of A set to
 * zero. Exact up to rounding, however large a site variance is. O(n rank^2) (blocks) or O(n rank)
 * (dense) after one pass over K; 8 n rank bytes. */
hf_status hfi_projected_cavities(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s,
                                 double *mean, double *variance);

/* ---- projected_core.c ------------------------------------------------------------------------ */

/**
 * The small system that every projection ends in, whatever its actions A.
 *
 *     T = A'KA,  Lambda = A'DA (diagonal),  G = T + Lambda = L L',  u = G^-1 A'r,  r = z - m
 *
 * Jitter, where G needs it to be factored, is relative to G's own diagonal and counts as more of
 * Lambda: noise that the projected readings A'z are said to have. It makes the posterior more
 * careful, never less: S = A G^-1 A' only shrinks.
 *
 * Since q(f) = N(m + K A u, K - K A G^-1 A'K) whatever Lambda is,
 *
 *     2 KL(q || prior) = u'A'r - u'Lambda u + log det G - log det Lambda - i + tr(G^-1 Lambda)
 */
typedef struct hfi_projected_core {
    hf_context *ctx;
    size_t count, capacity; /* columns of A, and room for them: the leading dimension */
    double *t;              /* T, both triangles, which may differ by rounding */
    double *factor;         /* L, lower triangle */
    double *lambda, *rhs, *u;
    double *scale;  /* roots of G's diagonal */
    double jitter;  /* relative to G's diagonal */
    double log_det; /* of G */
} hfi_projected_core;

/** Zeroed room for `capacity` actions; count is set to that. *out is zeroed on error. */
hf_status hfi_projected_core_init(hf_context *ctx, size_t capacity, hfi_projected_core *out);
void hfi_projected_core_free(hfi_projected_core *core);
/** L, u and log det from T, Lambda and A'r. HF_WARN_JITTER; HF_ERR_NOT_POSITIVE_DEFINITE when an
 * action is zero; HF_ERR_NOT_FINITE. O(count^3 / 3). */
hf_status hfi_projected_core_factor(hfi_projected_core *core);
/** G^-1, both triangles, leading dimension count. O(count^3). */
void hfi_projected_core_inverse(const hfi_projected_core *core, double *inverse);
/** KL(q || prior); `inverse` from above. */
double hfi_projected_core_divergence(const hfi_projected_core *core, const double *inverse);
/** Absolute jitter: the most that was added to an entry of G's diagonal. */
double hfi_projected_core_jitter(const hfi_projected_core *core);
/** Condition number of G scaled to a unit diagonal, estimated, and the relative error of u in that
 * scale. */
hf_status hfi_projected_core_measure(const hfi_projected_core *core, double *condition,
                                     double *backward);

#endif
