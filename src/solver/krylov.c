/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Krylov actions: each is D^-1 times what the readings still have to say, z - m - (K + D)t, made orthogonal
 * to those before. Without other actions this is what conjugate gradients visit. After actions D^-1 K_XZ it
 * is what preconditioned ones do: with the inducing inputs' Q = K_XZ K_ZZ^-1 K_ZX, (Q + D)^-1 v differs from
 * D^-1 v by what those actions span. Being among the actions they are the preconditioner, at no cost. They take down
 * the variance everywhere, which directions of the residual do not.
 *
 * All vectors are kept orthogonal, so that the space is what it is in exact arithmetic for as many
 * steps as there are. A residual that is nearly gone has no direction but that of its rounding,
 * which other processors round otherwise. By then the same direction comes from the action before
 * instead, and where the space is exhausted, single readings go on.
 */
#include "solver/projected_dense.h"

#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

/* Residual below which its direction is not taken from itself: some eight digits of it are right there. */
static const double SETTLED = 1e-8;
/* Part of the next direction that has to be new, or the space is exhausted: far above the rounding of the products. */
static const double EXHAUSTED = 1e-10, EXHAUSTED_SINGLE = 1e-4;

/* The residual moves by (H + I) Q G^-1 e for every action e that is added, so that this is where
 * the next residual points: H Q G^-1 e, e the last action, less what is in Q. `tolerance`: part of
 * its length that has to be new. */
static hf_status follow(hfi_dense_system *s, double *tolerance)
{
    const hfi_projected_core *c = &s->core;
    double *next = hfi_dense_system_next(s), *g = hfi_alloc(s->ctx, c->count, sizeof *g);
    double most = 0.0, sum = 0.0;
    if (!g) return HF_ERR_MEMORY;
    memset(g, 0, c->count * sizeof *g);
    g[c->count - 1] = 1.0;
    hfi_chol_solve(c->count, c->factor, c->capacity, g);
    memset(next, 0, s->n * sizeof *next);
    hfi_tall_add(s->ctx, s->n, c->count, 1, 1.0, s->w, s->n, g, c->count, next, s->n);
    for (size_t a = 0; a < c->count; a++) {
        const double *w = s->w + a * s->n;
        most = fmax(most, hfi_dot(s->n, w, w));
        sum += fabs(g[a]);
    }
    hfi_free(s->ctx, g);
    const double length = sqrt(hfi_dot(s->n, next, next));
    const double part = s->precision == HFI_SINGLE ? EXHAUSTED_SINGLE : EXHAUSTED;
    *tolerance = length > 0.0 ? part * sqrt(most) * sum / length : 1.0;
    return HF_OK;
}

/* Single readings in a fixed order that is spread over the table. */
typedef struct single_readings {
    size_t visited, step;
} single_readings;

static size_t common_divisor(size_t a, size_t b)
{
    while (b > 0) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static single_readings readings_in_order(size_t n)
{
    single_readings order = {.step = (size_t)(0.618 * (double)n) + 1};
    while (common_divisor(n, order.step) != 1) order.step++;
    return order;
}

/* The next reading of which enough is outside Q. The parts outside add up to n - count over all
 * readings, so that one is left while count < n: those that are passed over could not make 1
 * together. */
static void take_reading(hfi_dense_system *s, single_readings *order)
{
    double *next = hfi_dense_system_next(s);
    memset(next, 0, s->n * sizeof *next);
    for (; order->visited < s->n; order->visited++) {
        const size_t i = (order->visited * order->step) % s->n;
        double outside = 1.0;
        for (size_t a = 0; a < s->core.count; a++) {
            const double q = s->solution.r[i + a * s->n];
            outside -= q * q;
        }
        if (outside < 0.5 / (double)s->n) continue;
        next[i] = 1.0;
        order->visited++;
        return;
    }
}

/* One action more, by the first of the three ways that has one. */
static hf_status grow_krylov_actions(hfi_dense_system *s, single_readings *order)
{
    const size_t before = s->core.count;
    hf_status status = HF_OK;
    if (s->residual > SETTLED) {
        memcpy(hfi_dense_system_next(s), s->rest, s->n * sizeof *s->rest);
        status = hfi_dense_system_grow(s, 1, HFI_DENSE_DEPENDENT);
    }
    if (status >= 0 && s->core.count == before && before > 0) {
        double tolerance = 1.0;
        status = follow(s, &tolerance);
        if (status >= 0 && tolerance < 1.0) status = hfi_dense_system_grow(s, 1, tolerance);
    }
    if (status >= 0 && s->core.count == before) {
        take_reading(s, order);
        status = hfi_dense_system_grow(s, 1, HFI_DENSE_DEPENDENT);
    }
    return status;
}

hf_status hfi_krylov_grow(hfi_dense_system *s, size_t count, double tolerance)
{
    hf_status worst = HF_OK;
    single_readings order = readings_in_order(s->n);
    size_t step = 0;
    for (; step < count && s->core.count < s->n; step++) {
        if (tolerance > 0.0 && !(s->residual > tolerance)) break;
        if (!hfi_progress(s->ctx, "actions", (double)step / (double)count, s->residual))
            return hfi_cancelled(s->ctx);
        const hf_status status = grow_krylov_actions(s, &order);
        if (status < 0) return status;
        worst = hfi_worse(worst, status);
    }
    if (!(s->residual > tolerance) || !(tolerance > 0.0)) return worst;
    return hfi_worse(worst,
                     hfi_fail(s->ctx, HF_WARN_NOT_CONVERGED,
                              "after %zu Krylov actions %.3g of the readings is not explained yet (tolerance "
                              "%.3g); the variances include it, more actions would reduce it",
                              step, s->residual, tolerance));
}
