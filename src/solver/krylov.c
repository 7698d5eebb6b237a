/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Krylov actions: each is D^-1 times what the readings still have to say, z - m - (K + D)t, made orthogonal to those before.
 * Without other actions this is what conjugate gradients visit. After actions D^-1 K_XZ it is what preconditioned ones do:
 * with the inducing inputs' Q = K_XZ K_ZZ^-1 K_ZX, (Q + D)^-1 v differs from D^-1 v by what those actions span, so that
 * being among them they are the preconditioner, at no cost, and they take down the variance everywhere, which directions of
 * the residual do not.
 *
 * All vectors are kept orthogonal, so that the space is what it is in exact arithmetic for as many steps as there are.
 */
#include "solver/projected_dense.h"

#include <math.h>
#include <string.h>

hf_status hfi_krylov_grow(hfi_dense_system *s, size_t count, double tolerance)
{
    hf_status worst = HF_OK;
    bool exhausted = false;
    size_t step = 0;
    for (; step < count && s->residual > tolerance && !exhausted; step++) {
        if (!hfi_progress(s->ctx, "actions", (double)step / (double)count, s->residual))
            return hfi_cancelled(s->ctx);
        const size_t before = s->core.count;
        if (before == s->n) break;
        memcpy(hfi_dense_system_next(s), s->rest, s->n * sizeof *s->rest);
        const hf_status status = hfi_dense_system_grow(s, 1);
        if (status < 0) return status;
        worst = hfi_worse(worst, status);
        exhausted = s->core.count == before;
    }
    if (!(s->residual > tolerance) || !(tolerance > 0.0)) return worst;
    return hfi_worse(
        worst,
        hfi_fail(s->ctx, HF_WARN_NOT_CONVERGED,
                 "after %zu Krylov actions %.3g of the readings is not explained yet (tolerance %.3g); "
                 "the variances include it, more actions would reduce it",
                 step, s->residual, tolerance));
}
