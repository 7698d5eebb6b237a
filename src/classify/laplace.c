/* SPDX-License-Identifier: Apache-2.0 */
/* Laplace's approximation: Newton's method to the only mode of a log-concave posterior, with steps that never lower the density. */
#include "classify/classify.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    MOST_STEPS = 100,
    MOST_HALVINGS = 40
};

/* Of the Newton decrement, nats: the factor is then that at a place 1e-10 of a standard deviation from the mode, and the last step goes there. */
static const double tolerance = 1e-20;
/* The decrement below which the density itself, a sum of many terms, can no longer tell two steps apart. */
static const double below_rounding = 1e-9;
/* The decrement at which a search that rounding stopped has arrived for all purposes. */
static const double lost = 1e-5;

static void slopes(hfi_class_problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        p->at[i] = hfi_class_density(p->link, p->sign[i], p->offset[i] + p->latent[i]);
        p->curved.w[i] = p->at[i].w;
    }
}

/* Log density of the posterior up to a constant, a step along the direction. */
static double density(const hfi_class_problem *p, double step, const double *force, const double *latent)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const double g = p->latent[i] + step * latent[i], a = p->force[i] + step * force[i];
        sum += hfi_class_density(p->link, p->sign[i], p->offset[i] + g).value - 0.5 * a * g;
    }
    return sum;
}

/* The direction (K^-1 + W)^-1 (l' - a) for the matrix that was factored. @return its first-order gain. */
static double direction(hfi_class_problem *p, double *force, double *latent)
{
    double *e = p->work, *ke = p->work + p->n;
    for (size_t i = 0; i < p->n; i++) e[i] = p->at[i].f - p->force[i];
    hfi_curved_k(&p->curved, e, ke);
    hfi_curved_r(&p->curved, ke, force);
    for (size_t i = 0; i < p->n; i++) force[i] = e[i] - force[i];
    hfi_curved_k(&p->curved, force, latent);
    return hfi_dot(p->n, e, latent);
}

static void move(hfi_class_problem *p, double step, const double *force, const double *latent)
{
    hfi_axpy(p->n, step, force, p->force);
    hfi_axpy(p->n, step, latent, p->latent);
}

/* The first of the steps 1, 1/2, 1/4, ... that raises the density enough; false if none does. */
static bool climb(hfi_class_problem *p, double slope, const double *force, const double *latent)
{
    const double here = density(p, 0.0, force, latent);
    double step = 1.0;
    for (int halving = 0; halving < MOST_HALVINGS; halving++, step *= 0.5) {
        if (!(density(p, step, force, latent) > here + 1e-4 * step * slope)) continue;
        move(p, step, force, latent);
        return true;
    }
    return false;
}

/* To the mode; w, the factor and the slopes are those at it. */
static hf_status find_mode(hfi_class_problem *p)
{
    double *force = p->work + 2 * p->n, *latent = p->work + 3 * p->n, before = INFINITY;
    p->converged = false;
    for (p->rounds = 1; p->rounds <= MOST_STEPS; p->rounds++) {
        slopes(p);
        const hf_status s = hfi_curved_factor(&p->curved, NULL);
        if (s < 0) return s;
        const double slope = direction(p, force, latent);
        if (!isfinite(slope)) return hfi_fail(p->ctx, HF_ERR_NOT_FINITE, "the latent values are not finite");
        p->converged = slope < tolerance || (slope < below_rounding && slope > 0.25 * before);
        before = slope;
        if (slope < below_rounding) move(p, 1.0, force, latent);
        if (p->converged) return HF_OK;
        if (slope >= below_rounding && !climb(p, slope, force, latent)) {
            p->converged = slope < lost;
            return HF_OK;
        }
    }
    slopes(p);
    return hfi_curved_factor(&p->curved, NULL);
}

/* With c_i = variance_i l'''_i / 2, what the determinant answers to a move of the mode: v = (I + W K)^-1 c. */
static void answers(hfi_class_problem *p)
{
    double *c = p->work, *kc = p->work + p->n;
    for (size_t i = 0; i < p->n; i++) c[i] = 0.5 * p->variance[i] * p->at[i].fff;
    hfi_curved_k(&p->curved, c, kc);
    hfi_symv(p->n, p->matrix, p->n, kc, p->v);
    for (size_t i = 0; i < p->n; i++) p->v[i] = c[i] - p->v[i];
}

hf_status hfi_class_laplace(hfi_class_problem *p, bool gradient, double *value)
{
    if (p->started) {
        memcpy(p->force, p->kept_force, p->n * sizeof *p->force);
        hfi_curved_k(&p->curved, p->force, p->latent);
    } else {
        memset(p->force, 0, p->n * sizeof *p->force);
        memset(p->latent, 0, p->n * sizeof *p->latent);
    }
    hf_status s = find_mode(p);
    if (s < 0) return s;
    double sum = -0.5 * p->curved.log_det;
    for (size_t i = 0; i < p->n; i++) sum += p->at[i].value - 0.5 * p->force[i] * p->latent[i];
    if (gradient) {
        s = hfi_curved_finish(&p->curved, p->variance);
        if (s < 0) return s;
        answers(p);
    }
    *value = sum;
    return HF_OK;
}
