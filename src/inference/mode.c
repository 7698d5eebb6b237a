/* SPDX-License-Identifier: Apache-2.0 */
/* Newton's method to a mode. */
#include "inference/mode.h"
#include "linalg/linalg.h"
#include <math.h>

enum {
    MOST_STEPS = 200,
    MOST_HALVINGS = 40
};

/* The decrement below which the density itself, a sum of many terms, can no longer tell two steps apart. */
static const double below_rounding = 1e-9;
/* The decrement at which a search that rounding stopped has arrived for all purposes. */
static const double lost = 1e-5;

static void move(hfi_mode_search *m, double step, const double *force, const double *latent)
{
    hfi_axpy(m->length, step, force, m->force);
    hfi_axpy(m->length, step, latent, m->latent);
}

bool hfi_mode_climb(hfi_mode_search *m, double step, double slope, const double *force, const double *latent)
{
    const double here = m->density(m->self, 0.0, force, latent);
    for (int halving = 0; halving < MOST_HALVINGS; halving++, step *= 0.5) {
        if (!(m->density(m->self, step, force, latent) > here + 1e-4 * fabs(step) * slope)) continue;
        move(m, step, force, latent);
        return true;
    }
    return false;
}

hf_status hfi_mode_find(hfi_mode_search *m)
{
    double before = INFINITY, slope = 0.0;
    m->converged = false;
    for (m->rounds = 1; m->rounds < MOST_STEPS; m->rounds++) {
        hf_status s = m->direction(m->self, m->step_force, m->step_latent, &slope);
        if (s == HF_ERR_NOT_POSITIVE_DEFINITE && m->leave) {
            s = m->leave(m);
            if (s < 0) return s;
            continue;
        }
        if (s < 0) return s;
        if (!isfinite(slope)) return hfi_fail(m->ctx, HF_ERR_NOT_FINITE, "the latent values are not finite");
        m->converged = slope < m->tolerance || (slope < below_rounding && slope > 0.25 * before);
        before = slope;
        if (slope < below_rounding || m->converged) move(m, 1.0, m->step_force, m->step_latent);
        if (m->converged) return HF_OK;
        if (slope >= below_rounding && !hfi_mode_climb(m, 1.0, slope, m->step_force, m->step_latent)) {
            m->converged = slope < lost;
            return HF_OK;
        }
    }
    return m->direction(m->self, m->step_force, m->step_latent, &slope);
}
