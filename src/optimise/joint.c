/* SPDX-License-Identifier: Apache-2.0 */
/* All places of a batch at once: what they are worth together, its gradient through the factor of their
 * covariance, and a climb. */
#include "optimise/acquire.h"

#include "linalg/linalg.h"
#include "search/maximise.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* A side of the box has so many of a climb's units. Values are logarithms: their unit is 1. */
static const double units = 100.0;
static const double flat = 1e-7, enough = 1e-10;
/* A climb that gains less leaves the places as they are. */
static const double least_gain = 1e-9;
enum {
    ITERATIONS = 60
};

/* Points known come first: pending ones, and those to be improved upon. Then the batch. */
typedef struct joint_acquisition {
    hf_context *ctx;
    const hf_acquire *a;
    const hfi_acquisition_row *row; /* of the logarithm */
    size_t d, q, known, p, draws;
    double *points;                     /* p x d */
    double *e;                          /* draws x p */
    hfi_acquired *part;                 /* draws x q: the improvement's logarithm, and its slopes */
    size_t *best;                       /* draws x q: whose f it improves upon; SIZE_MAX: nobody's */
    double *f;                          /* p: of one draw */
    double *log_p;                      /* q: of the constraints */
    double *share;                      /* q: of the value */
    double *by_mean;                    /* p */
    double *by_factor;                  /* p x p, column-major, lower: as the factor is */
    double *by_cov;                     /* p x p, symmetric */
    double *room;                       /* 3 d + p */
    double *log_p_slope;                /* q x d */
    hf_posterior_workspace **workspace; /* of f, then of the constraints */
} joint_acquisition;

/* ---- the value ------------------------------------------------------------------------------------------- */

static double dot(size_t n, const double *a, size_t step, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) sum += a[k * step] * b[k];
    return sum;
}

/* Adds up what each place of the batch adds to those before it in draw s. */
static void one_draw(joint_acquisition *j, const hfi_given *g, size_t s)
{
    const double *e = j->e + s * j->p;
    double most = j->a->best;
    size_t whose = SIZE_MAX;
    for (size_t k = 0; k < j->p; k++) {
        const double mean = g->mean[k] + dot(k, g->factor + k, j->p, e), sd = g->factor[k + k * j->p];
        if (k >= j->known) {
            const size_t i = s * j->q + k - j->known;
            j->part[i] = hfi_acquisition_at(j->row, mean, sd, most, 0.0);
            j->part[i].value += j->log_p[k - j->known];
            j->best[i] = whose;
        }
        j->f[k] = mean + sd * e[k];
        if (j->f[k] > most) {
            most = j->f[k];
            whose = k;
        }
    }
}

/* A slope in f of point k, in draw e: mean + L e. `last`: without the point's own variable. */
static void by_value(joint_acquisition *j, size_t k, const double *e, bool own, double slope)
{
    j->by_mean[k] += slope;
    for (size_t i = 0; i < k + own; i++) j->by_factor[k + i * j->p] += slope * e[i];
}

/* Derivatives of the value by the means and by the factor, and each place's share of the value. */
static void backwards(joint_acquisition *j, double largest, double sum)
{
    const size_t p = j->p;
    memset(j->by_mean, 0, p * sizeof *j->by_mean);
    memset(j->by_factor, 0, p * p * sizeof *j->by_factor);
    memset(j->share, 0, j->q * sizeof *j->share);
    for (size_t s = 0; s < j->draws; s++)
        for (size_t i = 0; i < j->q; i++) {
            const hfi_acquired at = j->part[s * j->q + i];
            const double weight = exp(at.value - largest) / sum, *e = j->e + s * p;
            const size_t k = j->known + i, best = j->best[s * j->q + i];
            if (!(weight > 0.0)) continue;
            j->share[i] += weight;
            by_value(j, k, e, false, weight * at.mean);
            j->by_factor[k + k * p] += weight * at.sd;
            if (best != SIZE_MAX) by_value(j, best, e, true, -weight * at.mean);
        }
}

/* The symmetric B with dV = tr(B dC), C = L L', from by_factor = dV / dL: B is the symmetric part of
 * L^-T Phi(L' by_factor) L^-1, Phi the lower triangle with half the diagonal (Murray 2016). */
static void through_factor(joint_acquisition *j, const double *l)
{
    const size_t p = j->p;
    double *b = j->by_cov;
    for (size_t c = 0; c < p; c++)
        for (size_t r = 0; r < p; r++) {
            double sum = 0.0;
            for (size_t k = r; k < p && r >= c; k++) sum += l[k + r * p] * j->by_factor[k + c * p];
            b[r + c * p] = r == c ? 0.5 * sum : sum;
        }
    for (size_t c = 0; c < p; c++) /* L' X = b, column by column */
        for (size_t r = p; r-- > 0;) {
            double sum = b[r + c * p];
            for (size_t k = r + 1; k < p; k++) sum -= l[k + r * p] * b[k + c * p];
            b[r + c * p] = sum / l[r + r * p];
        }
    for (size_t r = 0; r < p; r++) /* X L = b, row by row */
        for (size_t c = p; c-- > 0;) {
            double sum = b[r + c * p];
            for (size_t k = c + 1; k < p; k++) sum -= b[r + k * p] * l[k + c * p];
            b[r + c * p] = sum / l[c + c * p];
        }
    for (size_t c = 0; c < p; c++)
        for (size_t r = 0; r <= c; r++) b[r + c * p] = b[c + r * p] = 0.5 * (b[r + c * p] + b[c + r * p]);
}

/* The gradient at place k: of its mean, of its covariances with all others, of its constraints. */
static hf_status slope_of(joint_acquisition *j, hfi_given *g, size_t i, double *gradient)
{
    const size_t k = j->known + i, p = j->p, d = j->d;
    const double *x = j->points + k * d;
    double mean, var, *of_mean = j->room, *of_cov = j->room + d, *q = j->room + 3 * d;
    const hf_status status =
        hf_predict_latent(j->a->posterior, j->workspace[0], x, &mean, &var, of_mean, of_cov);
    if (status < 0) return status;
    /* sum_b B_kb cov(x_b, x) = (L' B_k)' w(x) */
    for (size_t c = 0; c < p; c++) {
        q[c] = 0.0;
        for (size_t r = c; r < p; r++) q[c] += g->factor[r + c * p] * j->by_cov[r + k * p];
    }
    hfi_given_gradient(g, x, q, of_cov);
    for (size_t c = 0; c < d; c++) {
        gradient[c] = j->by_mean[k] * of_mean[c] + 2.0 * of_cov[c] + j->share[i] * j->log_p_slope[i * d + c];
        if (!isfinite(gradient[c])) return HF_ERR_NOT_FINITE;
    }
    return status;
}

/* Probabilities of the constraints at the places, and their slopes if `slopes`. */
static hf_status constraints(joint_acquisition *j, bool slopes)
{
    const size_t d = j->d;
    memset(j->log_p, 0, j->q * sizeof *j->log_p);
    memset(j->log_p_slope, 0, j->q * d * sizeof *j->log_p_slope);
    for (size_t i = 0; i < j->q; i++)
        for (size_t c = 0; c < j->a->constraints; c++) {
            double mean, var, *of_mean = slopes ? j->room : NULL, *of_var = slopes ? j->room + d : NULL;
            const hf_status status =
                hf_predict_latent(j->a->constraint[c], j->workspace[1 + c], j->points + (j->known + i) * d,
                                  &mean, &var, of_mean, of_var);
            if (status < 0) return status;
            const double sd = sqrt(var);
            const hfi_acquired one = hfi_acquisition_feasible(j->a->limit[c], mean, sd);
            const double by_var = sd > 0.0 ? one.sd / (2.0 * sd) : 0.0;
            j->log_p[i] = fmax(j->log_p[i] + one.value, -DBL_MAX);
            for (size_t k = 0; slopes && k < d; k++)
                j->log_p_slope[i * d + k] += one.mean * of_mean[k] + by_var * of_var[k];
        }
    return HF_OK;
}

/* The value at places x (q x d), and its gradient unless that is NULL. */
static hf_status value_at(joint_acquisition *j, const double *x, double *value, double *gradient)
{
    hfi_given given;
    memcpy(j->points + j->known * j->d, x, j->q * j->d * sizeof *j->points);
    hf_status status = constraints(j, gradient != NULL);
    if (status < 0) return status;
    status = hfi_given_begin(j->ctx, j->a->posterior, j->p, j->points, &given);
    for (size_t s = 0; s < j->draws && status >= 0; s++) one_draw(j, &given, s);
    double largest = -DBL_MAX, sum = 0.0;
    for (size_t i = 0; i < j->draws * j->q && status >= 0; i++) largest = fmax(largest, j->part[i].value);
    for (size_t i = 0; i < j->draws * j->q && status >= 0; i++) sum += exp(j->part[i].value - largest);
    const bool none = largest == -DBL_MAX;
    if (status >= 0) *value = none ? -DBL_MAX : largest + log(sum / (double)j->draws);
    if (status >= 0 && gradient != NULL && none) memset(gradient, 0, j->q * j->d * sizeof *gradient);
    if (status >= 0 && gradient != NULL && !none) {
        backwards(j, largest, sum);
        through_factor(j, given.factor);
        for (size_t i = 0; i < j->q && status >= 0; i++) status = slope_of(j, &given, i, gradient + i * j->d);
    }
    hfi_given_end(j->ctx, &given);
    return status < 0 ? status : HF_OK;
}

/* ---- preparing ------------------------------------------------------------------------------------------- */

static void free_joint_acquisition(joint_acquisition *j)
{
    for (size_t k = 0; j->workspace != NULL && k <= j->a->constraints; k++)
        hf_posterior_workspace_free(j->workspace[k]);
    HFI_FREE(j->ctx, j->workspace, j->points, j->e, j->part, j->best, j->f, j->by_mean, j->log_p, j->share,
             j->room, j->by_factor, j->by_cov, j->log_p_slope);
}

static hf_status allocate_joint_acquisition(joint_acquisition *j)
{
    hf_context *ctx = j->ctx;
    const size_t d = j->d, p = j->p, q = j->q;
    const hf_status status =
        HFI_ALLOC(ctx, HFI_ROOMS(j->points, p, d), HFI_ROOMS(j->e, j->draws, p),
                  HFI_ROOMS(j->part, j->draws, q), HFI_ROOMS(j->best, j->draws, q), HFI_ROOM(j->f, p),
                  HFI_ROOM(j->by_mean, p), HFI_ROOM(j->log_p, q), HFI_ROOM(j->share, q),
                  HFI_ROOM(j->room, 3 * d + p), HFI_ROOMS(j->by_factor, p, p), HFI_ROOMS(j->by_cov, p, p),
                  HFI_ROOMS(j->log_p_slope, q, d), HFI_ROOM(j->workspace, 1 + j->a->constraints));
    if (status < 0) return status;
    for (size_t k = 0; k <= j->a->constraints; k++) {
        j->workspace[k] =
            hf_posterior_workspace_create(ctx, k == 0 ? j->a->posterior : j->a->constraint[k - 1]);
        if (j->workspace[k] == NULL) return HF_ERR_MEMORY;
    }
    return HF_OK;
}

/* `a` has been checked. On error it can only be finished. */
static hf_status begin_joint_acquisition(hf_context *ctx, const hf_acquire *a, size_t d, size_t q,
                                         joint_acquisition *j)
{
    *j = (joint_acquisition){.ctx = ctx,
                             .a = a,
                             .row = hfi_acquisition_of(HF_ACQUIRE_LOG_EI),
                             .d = d,
                             .q = q,
                             .known = a->pending + a->against,
                             .p = a->pending + a->against + q,
                             .draws = a->draws > 0 ? a->draws : HFI_DRAWS};
    const hf_status status = allocate_joint_acquisition(j);
    if (status < 0) return status;
    if (a->pending > 0) memcpy(j->points, a->pending_x, a->pending * d * sizeof *j->points);
    if (a->against > 0) memcpy(j->points + a->pending * d, a->against_x, a->against * d * sizeof *j->points);
    return hfi_draw_normals(ctx, a->stream, j->p, j->draws, j->e);
}

static hf_status check_joint_batch(hf_context *ctx, const hf_acquire *a, size_t d, size_t q, const double *x)
{
    if (q == 0) return hfi_refuse(ctx, "a batch has at least one place; q is 0");
    const hf_status status = hfi_acquire_check(ctx, a, d);
    if (status < 0) return status;
    if (a->kind != HF_ACQUIRE_LOG_EI && a->kind != HF_ACQUIRE_EI)
        return hfi_refuse(ctx, "%s of a batch has no joint value here; log-ei and ei have one",
                          hf_enum_name(HF_ENUM_ACQUISITION, a->kind));
    if (a->best == -INFINITY && a->pending + a->against == 0)
        return hfi_refuse(ctx,
                          "best is -infinity and there are no points to improve upon: a batch has no value");
    if (q > HFI_MOST_POINTS || a->pending + a->against > HFI_MOST_POINTS - q)
        return hfi_refuse(ctx, "%zu places and %zu points given are more than %d", q, a->pending + a->against,
                          HFI_MOST_POINTS);
    return hfi_posterior_check_rows(ctx, a->posterior, q, x, d);
}

hf_status hf_acquire_joint(hf_context *ctx, const hf_acquire *a, size_t q, const double *x, double *value,
                           double *gradients)
{
    hf_acquire own;
    hf_status status = hfi_acquire_take(ctx, a, &own);
    if (status < 0) return status;
    if (own.posterior == NULL) return hfi_refuse(ctx, "the posterior of f is NULL");
    if (value == NULL) return hfi_refuse(ctx, "hf_acquire_joint: value is NULL");
    const size_t d = hf_posterior_dimension(own.posterior);
    status = check_joint_batch(ctx, &own, d, q, x);
    if (status < 0) return status;
    joint_acquisition j;
    double here = 0.0, *slopes = gradients != NULL ? hfi_alloc_product(ctx, q, d, sizeof *slopes) : NULL;
    status = begin_joint_acquisition(ctx, &own, d, q, &j);
    if (gradients != NULL && slopes == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = value_at(&j, x, &here, slopes);
    if (status == HF_ERR_NOT_FINITE)
        (void)hfi_fail(ctx, status, "the batch has no value or no gradient at these places");
    if (status >= 0) {
        *value = here;
        if (gradients != NULL) memcpy(gradients, slopes, q * d * sizeof *gradients);
    }
    free_joint_acquisition(&j);
    hfi_free(ctx, slopes);
    return status;
}

/* ---- the climb ------------------------------------------------------------------------------------------- */

typedef struct joint_climb {
    joint_acquisition *j;
    const hf_domain *domain;
    size_t smooth; /* inputs that are continuous */
    size_t *inputs;
    double *x, *gradient;       /* q x d */
    double *at, *lower, *upper; /* q x smooth */
    double base;
} joint_climb;

static void place_joint_points(joint_climb *c, const double *at)
{
    for (size_t i = 0; i < c->j->q; i++)
        for (size_t k = 0; k < c->smooth; k++) {
            const size_t input = c->inputs[k];
            c->x[i * c->j->d + input] = hfi_domain_at(c->domain, input, at[i * c->smooth + k] / units);
        }
}

static hf_status joint_evaluate(void *self, const double *at, double *value, double *gradient)
{
    joint_climb *c = self;
    double here;
    place_joint_points(c, at);
    const hf_status status = value_at(c->j, c->x, &here, c->gradient);
    if (status < 0) return status;
    *value = here - c->base;
    for (size_t i = 0; i < c->j->q; i++)
        for (size_t k = 0; k < c->smooth; k++) {
            const size_t input = c->inputs[k];
            gradient[i * c->smooth + k] = c->gradient[i * c->j->d + input] *
                                          (c->domain->upper[input] - c->domain->lower[input]) / units;
        }
    return status;
}

static const hfi_objective_kind of_places = {.evaluate = joint_evaluate, .judge = hfi_judge_overflow};

/* From c->x, which becomes the best place seen, by *gain better. */
static hf_status go_up(joint_climb *c, size_t iterations, double *gain)
{
    const size_t q = c->j->q, d = c->j->d;
    *gain = 0.0;
    hf_status status = value_at(c->j, c->x, &c->base, NULL);
    if (status < 0 || c->base == -DBL_MAX) return status;
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < c->smooth; k++) {
            const size_t j = c->inputs[k];
            const double low = c->domain->lower[j];
            c->at[i * c->smooth + k] = (c->x[i * d + j] - low) / (c->domain->upper[j] - low) * units;
            c->upper[i * c->smooth + k] = units;
        }
    const hfi_objective objective = {.kind = &of_places, .self = c, .count = q * c->smooth};
    const hfi_space space = hfi_space_box(objective.count, c->lower, c->upper);
    const hfi_search_settings settings = {
        .by = hfi_by_lbfgs, .enough = enough, .flat = flat, .most = iterations};
    hfi_optimum found;
    status = hfi_maximise(c->j->ctx, &objective, &space, &settings, c->at, &found);
    if (status == HF_ERR_NOT_POSITIVE_DEFINITE) return HF_OK; /* there is no slope here */
    if (status < 0) return status;
    place_joint_points(c, c->at);
    if (found.value > least_gain) *gain = found.value;
    return HF_OK;
}

/* Places (q x d) into `to` where they are better. */
static hf_status ascend(joint_acquisition *j, const hf_domain *domain, size_t iterations, double *x,
                        double *gain)
{
    hf_context *ctx = j->ctx;
    const size_t d = j->d, entries = j->q * d;
    joint_climb c = {.j = j, .domain = domain};
    hf_status status =
        HFI_ALLOC(ctx, HFI_ROOM(c.inputs, d), HFI_ROOM(c.x, entries), HFI_ROOM(c.gradient, entries),
                  HFI_ROOM(c.at, entries), HFI_ROOM(c.lower, entries), HFI_ROOM(c.upper, entries));
    if (status >= 0) {
        (void)hfi_domain_free_inputs(domain, c.inputs, &c.smooth);
        memcpy(c.x, x, entries * sizeof *x);
        *gain = 0.0;
        if (c.smooth > 0) status = go_up(&c, iterations, gain);
        if (status >= 0 && *gain > 0.0) memcpy(x, c.x, entries * sizeof *x);
    }
    HFI_FREE(ctx, c.inputs, c.x, c.gradient, c.at, c.lower, c.upper);
    return status;
}

hf_status hf_acquire_ascend(hf_context *ctx, const hf_acquire *a, const hf_domain *domain, size_t iterations,
                            size_t q, double *x, double *gain)
{
    hf_acquire own;
    hf_status status = hfi_acquire_take(ctx, a, &own);
    if (status >= 0) status = hfi_maximise_check_call(ctx, domain, NULL, 0, NULL, x);
    if (status >= 0) status = check_joint_batch(ctx, &own, domain->dimension, q, x);
    for (size_t i = 0; i < q && status >= 0; i++)
        if (!hf_domain_contains(domain, x + i * domain->dimension, NULL))
            status = hfi_refuse(ctx, "place %zu (counted from 0) is not in the domain", i);
    if (status < 0) return status;
    joint_acquisition j;
    double more = 0.0;
    status = HF_OK;
    if (domain->candidates == 0) {
        status = begin_joint_acquisition(ctx, &own, domain->dimension, q, &j);
        if (status >= 0) status = ascend(&j, domain, iterations > 0 ? iterations : ITERATIONS, x, &more);
        if (status == HF_ERR_NOT_FINITE)
            (void)hfi_fail(ctx, status, "the batch has no value at these places");
        free_joint_acquisition(&j);
    }
    if (status >= 0 && gain != NULL) *gain = more;
    return status;
}
