/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far several sites move a posterior together, over all of f or at some points.
 *
 * Let R be the anchors whose sites change, c and V mean and covariance of f_R without their sites (the
 * cavity); D and E the sites' variances before and after, r and s their targets. The posteriors p and q
 * of the values f_M at points M differ by a factor that depends on f_M through h = E[f_R | f_M] alone,
 * with the cavity's normal h ~ N(c, H) and f_R | h ~ N(h, V - H), where
 *
 *     H = C_RM C_MM^-1 C_MR        (V where M is all of f).
 *
 * p and q of h are therefore regressions with one reading for each site: r with the noise V - H + D, s
 * with V - H + E. With h = c + F u, F F' = H, u ~ N(0, I) and P, Q the precisions of the noises,
 *
 *     precision of u:  A_p = I + F'P F,   A_q = I + F'Q F,      means A_p^-1 F'P (r - c), A_q^-1 F'Q (s - c)
 *     KL(p || q) = (sum_i x_i - log(1 + x_i) + (m_p - m_q)' A_q (m_p - m_q)) / 2
 *
 * with the eigenvalues x_i of A_p^-1/2 (A_q - A_p) A_p^-1/2. A site that is not there has precision 0, and
 * P = W (I + W (V - H) W)^-1 W, W W = D^-1, so that neither a huge variance nor none at all overflows.
 *
 * With G = (K + D)^-1 and a_q = G_R: k(Z, q):   C_qq' = cov_p(q, q') + a_q' G_RR^-1 a_q'.
 */
#include "posterior/posterior.h"

#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

/* Matrices k x k are column-major without gaps. */
typedef struct moved_sites {
    hf_context *ctx;
    const hf_posterior *posterior;
    size_t k, m;
    const size_t *anchor;
    double *points;                     /* (k + m) x d, solver's units: R, then M */
    double *c, *target, *precision;     /* k each; the last two of p, then of q */
    double *joint;                      /* (k + m) x (k + m): the cavity's covariance */
    double *v, *h, *open, *a[2], *work; /* k x k: V; H, then F; V - H, then a root of it; F'P F; scratch */
    double *linear[2];                  /* k: F'P (r - c) */
} moved_sites;

/* One block of doubles for everything. */
static hf_status allocate_moved_sites(moved_sites *job, double **block)
{
    const size_t k = job->k, q = job->k + job->m, d = job->posterior->solution.d;
    const double doubles = (double)q * ((double)d + (double)q) + 7.0 * (double)k * (double)(k + 1);
    hf_status status =
        hfi_require_memory(job->ctx, "the influence at points", q, (double)sizeof(double) * doubles);
    if (status < 0) return status;
    *block = hfi_alloc(job->ctx, q * (d + q) + 7 * k + 6 * k * k, sizeof **block);
    if (*block == NULL) return HF_ERR_MEMORY;
    double **const part[] = {&job->c,         &job->v,     &job->h,      &job->open,      &job->a[0],
                             &job->a[1],      &job->work,  &job->target, &job->precision, &job->linear[0],
                             &job->linear[1], &job->joint, &job->points};
    const size_t size[] = {k, k * k, k * k, k * k, k * k, k * k, k * k, 2 * k, 2 * k, k, k, q * q, q * d};
    double *next = *block;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        *part[i] = next;
        next += size[i];
    }
    return HF_OK;
}

/* Mean and covariance without the sites of R, from the posterior's. `g`: n x k, G_:R; `a`: k x (k + m). */
static hf_status take_out(moved_sites *job, double *g, double *a, double *column, double *scratch)
{
    const hf_posterior *p = job->posterior;
    const hfi_solution *s = &p->solution;
    const size_t k = job->k, q = k + job->m;
    double *root = job->work;
    for (size_t j = 0; j < k; j++) {
        memset(g + j * s->n, 0, s->n * sizeof *g);
        g[j * s->n + job->anchor[j]] = 1.0;
        hfi_chol_solve(s->n, s->factor, s->capacity, g + j * s->n);
        for (size_t i = 0; i < k; i++) root[i + j * k] = g[j * s->n + job->anchor[i]];
    }
    hf_status status = hfi_chol(job->ctx, k, root, k);
    if (status < 0)
        return hfi_fail(job->ctx, status,
                        "the readings that change cannot be told apart: their sites are too precise for "
                        "inputs that are so close");
    double *t = job->linear[0]; /* G_RR^-1 t_R; nothing else is in there yet */
    for (size_t i = 0; i < k; i++) t[i] = s->t[job->anchor[i]];
    hfi_chol_forward(k, root, k, t);
    for (size_t i = 0; i < q; i++) {
        hfi_kernel_cross_block(p->kernel, 1, job->points + i * s->d, s->d, s->n, s->z, s->d, column, s->n,
                               scratch);
        for (size_t j = 0; j < k; j++) a[j + i * k] = hfi_dot(s->n, g + j * s->n, column);
        hfi_chol_forward(k, root, k, a + i * k);
        if (i < k) job->c[i] = hfi_dot(s->n, column, s->t) - hfi_dot(k, a + i * k, t);
    }
    for (size_t j = 0; j < q; j++)
        for (size_t i = j; i < q; i++) job->joint[i + j * q] += hfi_dot(k, a + i * k, a + j * k);
    return HF_OK;
}

static hf_status find_cavity(moved_sites *job)
{
    const hf_posterior *p = job->posterior;
    const hfi_solution *s = &p->solution;
    const size_t k = job->k, q = k + job->m;
    hf_context *ctx = job->ctx;
    double *mean = hfi_alloc(ctx, q, (1 + k) * sizeof *mean), *g = hfi_alloc(ctx, s->n, (k + 1) * sizeof *g);
    double *scratch = hfi_alloc(ctx, hfi_kernel_scratch(p->kernel), sizeof *scratch);
    hf_status status = mean && g && scratch ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = hfi_posterior_joint_scaled(ctx, p, q, job->points, mean, job->joint);
    if (status >= 0) status = take_out(job, g, mean + q, g + k * s->n, scratch);
    HFI_FREE(ctx, mean, g, scratch);
    return status;
}

/* Overwrites a positive semidefinite matrix (lower triangle) by B with B B' = it. */
static hf_status root_of(hf_context *ctx, size_t k, double *a, double *values)
{
    const hf_status status = hfi_symmetric_eigen(ctx, k, a, k, values);
    for (size_t j = 0; j < k && status >= 0; j++)
        for (size_t i = 0; i < k; i++) a[i + j * k] *= sqrt(fmax(values[j], 0.0));
    return status;
}

/* Fills in C_MM, which is factored. */
static hf_status fill_points(void *arg, double *a, size_t lda)
{
    const moved_sites *job = arg;
    const hf_posterior *p = job->posterior;
    const size_t k = job->k, q = k + job->m, d = p->solution.d;
    for (size_t j = 0; j < job->m; j++) {
        const double *x = job->points + (k + j) * d;
        double with, without;
        memcpy(a + j * (lda + 1), job->joint + (k + j) * (q + 1), (job->m - j) * sizeof *a);
        hfi_kernel_diagonal(p->kernel, 1, x, d, true, &with);
        hfi_kernel_diagonal(p->kernel, 1, x, d, false, &without);
        a[j * (lda + 1)] -= with - without; /* white noise of another reading there */
    }
    return HF_OK;
}

/* H = S'S, S = L^-1 C_MR. */
static hf_status see_from_points(moved_sites *job)
{
    const size_t k = job->k, m = job->m, q = k + m;
    hf_context *ctx = job->ctx;
    double *l = hfi_alloc(ctx, m, (m + k) * sizeof *l), jitter = 0.0, scale = 0.0;
    if (l == NULL) return HF_ERR_MEMORY;
    for (size_t j = k; j < q; j++) scale = fmax(scale, job->joint[j * (q + 1)]);
    hf_status status = HF_OK;
    memset(job->h, 0, k * k * sizeof *job->h);
    if (scale > 0.0) status = hfi_chol_jitter(ctx, m, l, m, scale, fill_points, job, &jitter);
    if (scale > 0.0 && status >= 0) {
        double *s = l + m * m;
        for (size_t j = 0; j < k; j++) memcpy(s + j * m, job->joint + j * q + k, m * sizeof *s);
        hfi_chol_forward_block(m, k, l, m, s, m);
        for (size_t j = 0; j < k; j++)
            for (size_t i = j; i < k; i++) job->h[i + j * k] = hfi_dot(m, s + i * m, s + j * m);
    }
    hfi_free(ctx, l);
    return status < 0 ? status : HF_OK; /* what jitter takes away is below what a factor can see */
}

/* F and a root of V - H. */
static hf_status resolve(moved_sites *job)
{
    const size_t k = job->k, q = k + job->m;
    for (size_t j = 0; j < k; j++) memcpy(job->v + j * k, job->joint + j * q, k * sizeof *job->v);
    memset(job->open, 0, k * k * sizeof *job->open);
    memcpy(job->h, job->v, k * k * sizeof *job->h);
    hf_status status = HF_OK;
    if (job->m > 0) {
        status = see_from_points(job);
        for (size_t i = 0; i < k * k; i++) job->open[i] = job->v[i] - job->h[i];
        if (status >= 0) status = root_of(job->ctx, k, job->open, job->work);
    }
    return status < 0 ? status : root_of(job->ctx, k, job->h, job->work);
}

/* F'P F (lower triangle) and F'P (r - c) of the sites before (0) or after (1). */
static hf_status look_through(moved_sites *job, size_t which)
{
    const size_t k = job->k;
    const double *target = job->target + which * k, *precision = job->precision + which * k;
    double *l = job->v, *wf = job->work, *linear = job->linear[which]; /* V is not needed any more */
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++) {
            double sum = i == j ? 1.0 : 0.0;
            for (size_t t = 0; t < k; t++)
                sum += job->open[i + t * k] * job->open[j + t * k] * precision[i] * precision[j];
            l[i + j * k] = sum;
        }
    const hf_status status = hfi_chol(job->ctx, k, l, k);
    if (status < 0)
        return hfi_fail(job->ctx, status,
                        "a site is too precise for what the points leave open of its reading");
    for (size_t i = 0; i < k; i++)
        linear[i] = precision[i] > 0.0 ? precision[i] * (target[i] - job->c[i]) : 0.0;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) wf[i + j * k] = precision[i] * job->h[i + j * k];
    hfi_chol_forward(k, l, k, linear);
    hfi_chol_forward_block(k, k, l, k, wf, k);
    double *a = job->a[which];
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++) a[i + j * k] = hfi_dot(k, wf + i * k, wf + j * k);
    /* F'W L^-T L^-1 W (r - c), in place by way of c, which the other sites still need. */
    double *first = job->joint; /* the covariance is not needed any more */
    for (size_t j = 0; j < k; j++) first[j] = hfi_dot(k, wf + j * k, linear);
    memcpy(linear, first, k * sizeof *linear);
    return HF_OK;
}

/* x - log(1 + x) of all eigenvalues. `l`: the factor of A_p; job->v becomes A_q - A_p. */
static hf_status compare_spread(moved_sites *job, const double *l, double *out)
{
    const size_t k = job->k;
    double *change = job->v, *values = job->open;
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++) {
            change[i + j * k] = job->a[1][i + j * k] - job->a[0][i + j * k];
            change[j + i * k] = change[i + j * k];
        }
    hfi_chol_forward_block(k, k, l, k, change, k);
    for (size_t j = 0; j < k; j++) /* transpose, and once more */
        for (size_t i = j + 1; i < k; i++) {
            const double kept = change[i + j * k];
            change[i + j * k] = change[j + i * k];
            change[j + i * k] = kept;
        }
    hfi_chol_forward_block(k, k, l, k, change, k);
    const hf_status status = hfi_symmetric_eigen(job->ctx, k, change, k, values);
    *out = 0.0;
    for (size_t i = 0; i < k && status >= 0; i++) *out += hfi_influence_excess(values[i]);
    return status;
}

static hf_status diverge(moved_sites *job, double *kl)
{
    const size_t k = job->k;
    double *p = job->a[0], *q = job->a[1], *l = job->work, *lq = job->h, spread = 0.0;
    hf_status status = look_through(job, 0);
    if (status >= 0) status = look_through(job, 1);
    if (status < 0) return status;
    memcpy(l, p, k * k * sizeof *l);
    memcpy(lq, q, k * k * sizeof *lq);
    for (size_t i = 0; i < k; i++) {
        l[i * (k + 1)] += 1.0;
        lq[i * (k + 1)] += 1.0;
    }
    status = hfi_chol(job->ctx, k, l, k);
    if (status >= 0) status = hfi_chol(job->ctx, k, lq, k);
    if (status >= 0) status = compare_spread(job, l, &spread);
    if (status == HF_ERR_NOT_POSITIVE_DEFINITE || status == HF_ERR_NOT_FINITE)
        return hfi_fail(job->ctx, status, "the influence of %zu sites overflows: they are too precise", k);
    if (status < 0) return status;
    hfi_chol_solve(k, l, k, job->linear[0]);
    hfi_chol_solve(k, lq, k, job->linear[1]);
    double *moved_by = job->linear[0], square = 0.0;
    for (size_t i = 0; i < k; i++) moved_by[i] -= job->linear[1][i];
    for (size_t i = 0; i < k; i++) { /* A_q = L L' */
        double sum = 0.0;
        for (size_t j = i; j < k; j++) sum += lq[j + i * k] * moved_by[j];
        square += sum * sum;
    }
    *kl = 0.5 * (spread + square);
    return HF_OK;
}

static hf_status check_moved_sites(hf_context *ctx, const hf_posterior *posterior, size_t count,
                                   const size_t *anchor, const double *target, const double *variance,
                                   size_t m, const double *x, size_t ldx, const double *kl)
{
    hf_status status = hfi_posterior_need_exact(ctx, posterior, "the influence of several readings",
                                                "hf_influence() answers for one of a projected posterior");
    if (status < 0) return status;
    if (count == 0) return hfi_refuse(ctx, "hf_influence_sites: no site is given");
    if (anchor == NULL || target == NULL || variance == NULL || kl == NULL)
        return HFI_REFUSE_NULL(ctx, "hf_influence_sites", anchor, target, variance, kl);
    const size_t n = posterior->solution.n;
    if (count > n) return hfi_refuse(ctx, "%zu sites of %zu anchors cannot change", count, n);
    for (size_t i = 0; i < count; i++) {
        if (anchor[i] >= n)
            return hfi_refuse(ctx, "anchor %zu of %zu (counted from 0) does not exist", anchor[i], n);
        for (size_t j = 0; j < i; j++)
            if (anchor[i] == anchor[j]) return hfi_refuse(ctx, "anchor %zu is given twice", anchor[i]);
        status = hfi_check_site(ctx, "replacing", target[i], variance[i]);
        if (status < 0) return status;
    }
    return m > 0 ? hfi_posterior_check_rows(ctx, posterior, m, x, ldx) : HF_OK;
}

hf_status hf_influence_sites(hf_context *ctx, const hf_posterior *posterior, size_t count,
                             const size_t *anchor, const double *target, const double *variance, size_t m,
                             const double *x, size_t ldx, double *kl)
{
    hf_status status = check_moved_sites(ctx, posterior, count, anchor, target, variance, m, x, ldx, kl);
    if (status < 0) return status;
    const hfi_solution *s = &posterior->solution;
    moved_sites job = {.ctx = ctx, .posterior = posterior, .k = count, .m = m, .anchor = anchor};
    double *block = NULL;
    status = allocate_moved_sites(&job, &block);
    if (status < 0) return status;
    for (size_t i = 0; i < count; i++) {
        const size_t j = anchor[i];
        double e = variance[i];
        memcpy(job.points + i * s->d, s->z + j * s->d, s->d * sizeof *job.points);
        job.target[i] = s->residual[j];
        job.target[count + i] = target[i];
        hfi_site_to_solver(posterior, s->z + j * s->d, &job.target[count + i], &e);
        job.precision[i] = 1.0 / sqrt(s->variance[j] + s->jitter);
        job.precision[count + i] = 1.0 / sqrt(e + s->jitter);
    }
    if (m > 0) hfi_scaling_inputs(&posterior->scaling, m, x, ldx, job.points + count * s->d);
    status = find_cavity(&job);
    if (status >= 0) status = resolve(&job);
    double result = 0.0;
    if (status >= 0) status = diverge(&job, &result);
    hfi_free(ctx, block);
    if (status < 0) return status;
    if (!isfinite(result)) return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the influence of the sites overflows");
    *kl = result;
    return HF_OK;
}
