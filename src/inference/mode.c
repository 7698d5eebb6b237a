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

static void move(hfi_mode_search *search, double step, const double *alpha, const double *latent)
{
    hfi_axpy(search->length, step, alpha, search->alpha);
    hfi_axpy(search->length, step, latent, search->latent);
}

bool hfi_mode_climb(hfi_mode_search *search, double step, double slope, const double *alpha,
                    const double *latent)
{
    const double here = search->density(search->self, 0.0, alpha, latent);
    for (int halving = 0; halving < MOST_HALVINGS; halving++, step *= 0.5) {
        if (!(search->density(search->self, step, alpha, latent) > here + 1e-4 * fabs(step) * slope))
            continue;
        move(search, step, alpha, latent);
        return true;
    }
    return false;
}

hf_status hfi_mode_find(hfi_mode_search *search)
{
    double before = INFINITY, slope = 0.0;
    search->converged = false;
    for (search->rounds = 1; search->rounds < MOST_STEPS; search->rounds++) {
        hf_status s = search->direction(search->self, search->step_alpha, search->step_latent, &slope);
        if (s == HF_ERR_NOT_POSITIVE_DEFINITE && search->leave) {
            s = search->leave(search);
            if (s < 0) return s;
            continue;
        }
        if (s < 0) return s;
        if (!isfinite(slope))
            return hfi_fail(search->ctx, HF_ERR_NOT_FINITE, "the latent values are not finite");
        search->converged = slope < search->tolerance || (slope < below_rounding && slope > 0.25 * before);
        before = slope;
        if (slope < below_rounding || search->converged)
            move(search, 1.0, search->step_alpha, search->step_latent);
        if (search->converged) return HF_OK;
        if (slope >= below_rounding &&
            !hfi_mode_climb(search, 1.0, slope, search->step_alpha, search->step_latent)) {
            search->converged = slope < lost;
            return HF_OK;
        }
    }
    return search->direction(search->self, search->step_alpha, search->step_latent, &slope);
}
