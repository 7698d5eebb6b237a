/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file projected_core.h
 * @brief The small system that every projection ends in, whatever its actions A.
 *
 *     T = A'KA,  Lambda = A'DA (diagonal),  G = T + Lambda = L L',  u = G^-1 A'r,  r = z - m
 *
 * Jitter, where G needs it to be factored, is relative to G's own diagonal and counts as more of
 * Lambda: noise that the projected readings A'z are said to have. It makes the posterior more
 * careful, never less: S = A G^-1 A' only shrinks.
 *
 * Since q(f) = N(m + K A u, K - K A G^-1 A'K) whatever Lambda is,
 *
 *     KL(q || prior) = { u'A'r - u'Lambda u + log det G - log det Lambda - i + tr(G^-1 Lambda) } / 2
 */
#ifndef HFI_PROJECTED_CORE_H
#define HFI_PROJECTED_CORE_H

#include "core/core.h"

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
