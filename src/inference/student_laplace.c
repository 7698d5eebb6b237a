/* SPDX-License-Identifier: Apache-2.0 */
/* Laplace's approximation at a mode of the posterior under Student-t noise: Newton where the curvature allows, with steps that never
 * lower the density, and a way out of saddles. Vanhatalo, Jylanki and Vehtari (2009), "Gaussian process regression with Student-t
 * likelihood". */
#include "inference/student_impl.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    MOST_STEPS = 200,
    MOST_HALVINGS = 30,
    COLD_STEPS = 6
};

/* Of the Newton decrement, nats: the mode is then known to about 1e-7 of a standard deviation. */
static const double tolerance = 1e-14;
/* The decrement below which the density itself, a sum of many terms, can no longer tell two steps apart. */
static const double below_rounding = 1e-9;
/* The decrement at which a search that rounding stopped has arrived for all purposes. */
static const double lost = 1e-5;

void hfi_student_mean(hfi_student_problem *p, const double *b)
{
    double *kb = p->work;
    hfi_curved_k(&p->curved, b, kb);
    hfi_curved_r(&p->curved, kb, p->force);
    for (size_t i = 0; i < p->n; i++) p->force[i] = b[i] - p->force[i];
    hfi_curved_k(&p->curved, p->force, p->latent);
}

/* One step of re-weighted least squares with the squared scales times `widening`; with 1 it never lowers the density. */
static hf_status reweigh(hfi_student_problem *p, double widening)
{
    double *b = p->work + p->n;
    for (size_t i = 0; i < p->n; i++) {
        p->curved.w[i] = hfi_student_precision(&p->t, p->residual[i] - p->latent[i], widening * p->scale[i]);
        b[i] = p->curved.w[i] * p->residual[i];
    }
    p->factorisations++;
    const hf_status s = hfi_curved_factor(&p->curved, NULL);
    if (s >= 0) hfi_student_mean(p, b);
    return s;
}

hf_status hfi_student_cold(hfi_student_problem *p)
{
    double mean = 0.0, squared = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        p->work[i] = fabs(p->residual[i]);
        mean += p->scale[i] / (double)p->n;
    }
    squared = hfi_median(p->work, p->n) * 1.4826;
    squared *= squared;
    const double widest = fmax(squared / mean, 1.0);
    memset(p->latent, 0, p->n * sizeof *p->latent);
    hf_status s = HF_OK;
    for (int step = 0; s >= 0 && step < COLD_STEPS; step++)
        s = reweigh(p, pow(widest, 1.0 - step / (COLD_STEPS - 1.0)));
    return s;
}

void hfi_student_positive(hfi_student_problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        p->curved.w[i] = hfi_student_precision(&p->t, p->residual[i] - p->latent[i], p->scale[i]);
        p->pull[i] = p->curved.w[i] * p->residual[i];
    }
}

static void slopes(hfi_student_problem *p)
{
    hfi_student_slopes *at = p->moments;
    for (size_t i = 0; i < p->n; i++) {
        hfi_student_density(&p->t, p->residual[i] - p->latent[i], p->scale[i], &at[i]);
        p->curved.w[i] = -at[i].ff;
    }
}

/* Log density of the posterior up to a constant, a step along the direction. */
static double density(const hfi_student_problem *p, double step, const double *force, const double *latent)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const double g = p->latent[i] + step * latent[i], a = p->force[i] + step * force[i];
        hfi_student_slopes at;
        hfi_student_density(&p->t, p->residual[i] - g, p->scale[i], &at);
        sum += at.value - 0.5 * a * g;
    }
    return sum;
}

static void move(hfi_student_problem *p, double step, const double *force, const double *latent)
{
    hfi_axpy(p->n, step, force, p->force);
    hfi_axpy(p->n, step, latent, p->latent);
}

/* The first of the steps 1, 1/2, 1/4, ... (with `sign`) that raises the density enough; false if none does. `slope` >= 0 is what a unit
 * step gains to first order. */
static bool climb(hfi_student_problem *p, double sign, double slope, const double *force,
                  const double *latent)
{
    const double here = density(p, 0.0, force, latent);
    double step = sign;
    for (int halving = 0; halving < MOST_HALVINGS; halving++, step *= 0.5) {
        const double there = density(p, step, force, latent);
        if (!(there > here + 1e-4 * fabs(step) * slope)) continue;
        move(p, step, force, latent);
        return true;
    }
    return false;
}

/* Away from a saddle, along the direction in which the posterior curves upwards. False where rounding made it look like one. */
static bool escape(hfi_student_problem *p, double *force)
{
    double *latent = p->work + 3 * p->n, largest = 0.0, scale = 0.0;
    hfi_curved_k(&p->curved, force, latent);
    for (size_t i = 0; i < p->n; i++) {
        largest = fmax(largest, fabs(latent[i]));
        scale = fmax(scale, sqrt(p->scale[i]));
    }
    if (!(largest > 0.0)) return false;
    for (size_t i = 0; i < p->n; i++) {
        latent[i] *= scale / largest;
        force[i] *= scale / largest;
    }
    return climb(p, 1.0, 0.0, force, latent) || climb(p, -1.0, 0.0, force, latent);
}

/* The direction (K^-1 + W)^-1 (l' - a) for the matrix that was factored. @return its first-order gain. */
static double direction(hfi_student_problem *p, double *force, double *latent)
{
    const hfi_student_slopes *at = p->moments;
    double *e = p->work, *ke = p->work + p->n;
    for (size_t i = 0; i < p->n; i++) e[i] = at[i].f - p->force[i];
    hfi_curved_k(&p->curved, e, ke);
    hfi_curved_r(&p->curved, ke, force);
    for (size_t i = 0; i < p->n; i++) force[i] = e[i] - force[i];
    hfi_curved_k(&p->curved, force, latent);
    return hfi_dot(p->n, e, latent);
}

/* One step up where K^-1 + W is not positive definite: by its positive part, or by re-weighting. *saddle is set at a place from which
 * these lead nowhere and the negative curvature does not either. */
static hf_status indefinite_step(hfi_student_problem *p, double *out, bool *stuck)
{
    double *force = p->work + 2 * p->n, *latent = p->work + 3 * p->n;
    p->curved.negatives = 0; /* what was factored first is the positive part */
    const double slope = direction(p, force, latent);
    if (slope > below_rounding && climb(p, 1.0, slope, force, latent)) return HF_OK;
    if (slope > below_rounding) return reweigh(p, 1.0);
    *stuck = !escape(p, out);
    return HF_OK;
}

/* To a mode; w, the factor and the slopes are those at it. */
static hf_status find_mode(hfi_student_problem *p)
{
    double *force = p->work + 2 * p->n, *latent = p->work + 3 * p->n, *out = p->work + 4 * p->n;
    double before = INFINITY;
    p->converged = false;
    for (int step = 0; step < MOST_STEPS; step++) {
        bool stuck = false;
        slopes(p);
        p->factorisations++;
        hf_status s = hfi_curved_factor(&p->curved, out);
        if (s == HF_ERR_NOT_POSITIVE_DEFINITE) {
            s = indefinite_step(p, out, &stuck);
            if (s < 0 || stuck) return s < 0 ? s : HF_ERR_NOT_POSITIVE_DEFINITE;
            continue;
        }
        if (s < 0) return s;
        const double slope = direction(p, force, latent);
        p->converged = slope < tolerance || (slope < below_rounding && slope > 0.25 * before);
        if (p->converged) return HF_OK;
        before = slope;
        if (slope < below_rounding)
            move(p, 1.0, force, latent);
        else if (!climb(p, 1.0, slope, force, latent)) {
            p->converged = slope < lost;
            return HF_OK;
        }
    }
    slopes(p);
    return hfi_curved_factor(&p->curved, NULL);
}

/* Share of its curvature below which a direction counts by a tangent in the determinant. Where one vanishes, a mode is about to be lost, the
 * approximation means nothing, and its logarithm would be infinite: a search would go there and stay. */
static const double flat_limit = 0.5;

/* With c_i = variance_i l'''_i / 2, what the determinant answers to a move of the mode: v = (I + W K)^-1 c. */
static void answers(hfi_student_problem *p)
{
    const hfi_student_slopes *at = p->moments;
    double *c = p->work, *kc = p->work + p->n, *kv = p->work + 2 * p->n;
    hfi_curved_soften_variances(&p->curved, flat_limit, p->variance);
    for (size_t i = 0; i < p->n; i++) c[i] = 0.5 * p->variance[i] * at[i].fff;
    hfi_curved_k(&p->curved, c, kc);
    hfi_symv(p->n, p->curved.b, p->n, kc, p->v);
    for (size_t i = 0; i < p->n; i++) p->v[i] = c[i] - p->v[i];
    hfi_curved_k(&p->curved, p->v, kv);
    p->nu_bar = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const double half = 0.5 * p->variance[i];
        p->scale_bar[i] = at[i].scale + half * at[i].ff_scale + kv[i] * at[i].f_scale;
        p->nu_bar += at[i].nu + half * at[i].ff_nu + kv[i] * at[i].f_nu;
    }
    hfi_curved_soften_r(&p->curved);
}

hf_status hfi_student_laplace(hfi_student_problem *p, bool gradient, double *value)
{
    hf_status s = HF_OK;
    if (p->started) {
        memcpy(p->force, p->kept_force, p->n * sizeof *p->force);
        hfi_curved_k(&p->curved, p->force, p->latent);
    } else {
        s = hfi_student_cold(p);
    }
    if (s >= 0) s = find_mode(p);
    if (s < 0) return s;
    double log_det = 0.0;
    s = hfi_curved_soften(&p->curved, flat_limit, &log_det);
    if (s < 0) return s;
    const hfi_student_slopes *at = p->moments;
    double sum = -0.5 * log_det;
    for (size_t i = 0; i < p->n; i++) sum += at[i].value - 0.5 * p->force[i] * p->latent[i];
    if (gradient) {
        s = hfi_curved_finish(&p->curved, p->variance);
        if (s < 0) return s;
        answers(p);
    }
    *value = sum;
    return HF_OK;
}
