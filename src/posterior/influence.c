/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far one reading moves the posterior.
 *
 * Let p be the posterior of the latent values f at the anchors and q the same with the site of reading i
 * replaced. Both are the cavity of i times one site, and that site sees f through f_i alone. Hence p(f) =
 * p(f_i) h(f_-i | f_i) and q(f) = q(f_i) h(f_-i | f_i) with the same conditional h, and
 *
 *     KL(p || q) = KL(p(f_i) || q(f_i)),
 *
 * a divergence of two normals on the line. With the cavity N(c, v), the site (r, d) and its replacement (s,
 * e)
 *
 *     p(f_i) = N(c + v (r - c) / (v + d), v d / (v + d)),   q(f_i) the same with (s, e), or N(c, v) without a
 * site,
 *
 *     KL = (x - log(1 + x) + u^2) / 2,     x = var_p / var_q - 1 = v / (v + d) (d / e - 1),
 *                                          u = (mean_p - mean_q) / sd_q
 *                                            = sqrt(v (1 + v / e)) ((r - c) / (v + d) - (s - c) / (v + e)).
 *
 * Nothing here cancels or overflows when e or d is huge, which is what a robust site makes of a gross error:
 * then (s - c) / (v + e) goes to zero and the influence stays below that of removing the reading. With a
 * Gaussian site e stays and u^2 grows with s^2.
 */
#include "linalg/linalg.h"
#include "posterior/posterior.h"

#include <math.h>
#include <string.h>

/* ---- projected on readings as anchors ---------------------------------------------------------------- */

/*
 * How far one reading moves a projected posterior (Proposition 4.1 and section F.1 of the RCaGP paper).
 *
 * The actions A stay. Let S = R R', a = row j of R and total covariance R'(K + D)R = I. The projected
 * readings R'z are a vector; its part orthogonal to a does not contain reading j. Given that part,
 * what is left is one number
 *
 *     psi = a'R'z / a'a = alpha + z_j,        alpha made of the other readings
 *
 * Its noise given everything else is l + d_j, with l = 1 / (a'L0^-1 a), L0 = R'DR less reading j. Its latent
 * part has the variance v = a'(R'KR + L0)a / (a'a)^2 - l, and no term of that is of the size of d_j: a gross
 * error has a huge one.
 *
 * Replacing the site of reading j moves psi by what the target moves and its noise to l + e: two normals on
 * the line, as for the exact posterior (influence.c). Removing it takes row j out of A: the posterior then
 * sees alpha instead of psi, and the divergence is that of two normals in the plane of (alpha, f_j), by
 *
 *     KL(p || q) = E_p[log site of p - log site of q] - log Z_p + log Z_q.
 */

/* Below this, a reading's row of R is zero and its site says nothing. */
static const double NOTHING = 1e-200;

/* Distribution of reading j and its action when everything else is known. */
typedef struct line {
    double square;     /* a'a; 0: the actions do not look at the reading */
    double innovation; /* of psi */
    double latent;     /* v */
    double rest;       /* l */
    double along;      /* covariance of psi's latent part and f_j */
    double mean;       /* of f_j, less the prior mean */
    double variance;   /* of f_j */
} line;

typedef struct room {
    double *r;      /* R, n x q */
    double *d;      /* D less reading j, n */
    double *rest;   /* L0, q x q */
    double *a, *b;  /* q each: row j of R and of KR */
    double *u;      /* q: R'r */
    double *work;   /* q */
    double *vector; /* n */
    double *column; /* n */
} room;

static void room_free(hf_context *ctx, room *m)
{
    HFI_FREE(ctx, m->r, m->d, m->rest, m->a);
}

static hf_status room_init(hf_context *ctx, size_t n, size_t q, room *m)
{
    *m = (room){.r = hfi_alloc(ctx, n, q * sizeof *m->r),
                .d = hfi_alloc(ctx, n, 3 * sizeof *m->d),
                .rest = hfi_alloc(ctx, q, q * sizeof *m->rest),
                .a = hfi_alloc(ctx, q, 4 * sizeof *m->a)};
    if (!m->r || !m->d || !m->rest || !m->a) {
        room_free(ctx, m);
        return HF_ERR_MEMORY;
    }
    m->vector = m->d + n;
    m->column = m->vector + n;
    m->b = m->a + q;
    m->u = m->b + q;
    m->work = m->u + q;
    return HF_OK;
}

/* R, column by column. */
static void spread_root(const hfi_solution *s, size_t q, room *m)
{
    for (size_t c = 0; c < q; c++) {
        memset(m->work, 0, q * sizeof *m->work);
        m->work[c] = 1.0;
        hfi_solution_spread(s, m->work, m->r + c * s->n);
    }
}

/* l = 1 / (a'L0^-1 a); 0 where the other readings put no noise on a. Destroys L0. */
static double noise_of_rest(hf_context *ctx, size_t q, const double *a, double *rest, double *work)
{
    if (hfi_chol(ctx, q, rest, q) < 0) return 0.0;
    memcpy(work, a, q * sizeof *work);
    hfi_chol_forward(q, rest, q, work);
    const double inverse = hfi_dot(q, work, work);
    return isfinite(inverse) && inverse > 0.0 ? 1.0 / inverse : 0.0;
}

/* a'L0 a, its lower triangle given. */
static double quadratic(size_t q, const double *l0, const double *a, double *work)
{
    hfi_symv(q, l0, q, a, work);
    return hfi_dot(q, a, work);
}

/* y'Ky without white noise, y in m->vector. */
static hf_status signal(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s, room *m,
                        double *result)
{
    const hf_status status = hfi_kernel_dense_product(ctx, kernel, s->n, s->z, s->d, 1, m->vector, s->n,
                                                      HFI_DOUBLE, m->column, s->n);
    if (status >= 0) *result = hfi_dot(s->n, m->vector, m->column);
    return status;
}

/* Row j of KR, and the variances of f_j: prior and white noise. */
static hf_status compute_anchor_row(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s, size_t q,
                                    size_t j, room *m, double *prior, double *white)
{
    const double *z = s->z + j * s->d;
    double *scratch = hfi_alloc(ctx, hfi_kernel_scratch(kernel) + 1, sizeof *scratch);
    if (!scratch) return HF_ERR_MEMORY;
    hfi_kernel_cross_block(kernel, 1, z, s->d, s->n, s->z, s->d, m->column, s->n, scratch);
    hfi_free(ctx, scratch);
    hfi_gemv_t(s->n, q, 1.0, m->r, s->n, m->column, 0.0, m->b);
    hfi_kernel_diagonal(kernel, 1, z, s->d, false, prior);
    hfi_kernel_diagonal(kernel, 1, z, s->d, true, white);
    *white = fmax(*white - *prior, 0.0);
    return HF_OK;
}

static hf_status find_line(hf_context *ctx, const hf_kernel *kernel, const hfi_solution *s, size_t j, room *m,
                           line *out, double *white)
{
    const size_t n = s->n, q = hfi_solution_rank(s);
    double prior = 0.0, power = 0.0;
    spread_root(s, q, m);
    for (size_t c = 0; c < q; c++) m->a[c] = m->r[j + c * n];
    const double square = hfi_dot(q, m->a, m->a);
    hf_status status = compute_anchor_row(ctx, kernel, s, q, j, m, &prior, white);
    if (status < 0) return status;
    *out = (line){.square = square > NOTHING ? square : 0.0};
    if (out->square == 0.0) return HF_OK;
    hfi_kernel_diagonal(kernel, n, s->z, s->d, true, m->d);
    hfi_kernel_diagonal(kernel, n, s->z, s->d, false, m->vector);
    for (size_t l = 0; l < n; l++) m->d[l] = fmax(m->d[l] - m->vector[l], 0.0) + s->variance[l];
    m->d[j] = 0.0;
    status = hfi_tall_square(ctx, n, q, m->r, n, m->d, m->rest, q);
    if (status < 0) return status;
    hfi_gemv(n, q, 1.0, m->r, n, m->a, 0.0, m->vector);
    status = signal(ctx, kernel, s, m, &power);
    if (status < 0) return status;
    const double total = (power + quadratic(q, m->rest, m->a, m->work)) / (square * square);
    out->rest = fmin(noise_of_rest(ctx, q, m->a, m->rest, m->work), total);
    out->latent = total - out->rest;
    hfi_gemv_t(n, q, 1.0, m->r, n, s->residual, 0.0, m->u);
    const double cross = hfi_dot(q, m->a, m->b);
    out->innovation = hfi_dot(q, m->a, m->u) / square;
    out->along = cross / square;
    out->mean = hfi_dot(q, m->b, m->u) - cross * out->innovation;
    out->variance = fmax(prior - hfi_dot(q, m->b, m->b) + cross * out->along, 0.0);
    return HF_OK;
}

/* Against the posterior that sees alpha instead of psi. */
static double removal(const line *k, double residual, double d)
{
    const double total = k->latent + k->rest + d, a = k->innovation, b = a - (residual - k->mean);
    const double with = k->latent - k->along;
    const double prior = fmax(k->latent - 2.0 * k->along + k->variance, 0.0);
    double kl = log1p(k->latent / (k->rest + d)) - k->latent / total + a / total * (a * k->latent / total);
    /* Nothing but rounding is left of an action that was this reading's own: what remains is the prior. */
    if (prior + k->rest > 1e-12 * (k->latent + k->variance + k->rest) && k->rest > 0.0) {
        const double shift = b - with * a / total, left = fmax(prior - with * with / total, 0.0);
        kl += (shift * shift + left) / k->rest - log1p(prior / k->rest) - b / (prior + k->rest) * b;
    }
    return fmax(0.5 * kl, 0.0);
}

/* hf_influence() of a projected solution with readings as anchors: site j gets this residual and
 * variance (solver's units),
 * infinity takes its row out of the actions. O(n rank^2 + rank^3 + n^2 d), n rank doubles. */
static hf_status influence_projected(hf_context *ctx, const hf_posterior *p, size_t j, double residual,
                                     double variance, double *kl)
{
    const hfi_solution *s = &p->solution;
    room m;
    line k;
    double white = 0.0;
    hf_status status = room_init(ctx, s->n, hfi_solution_rank(s), &m);
    if (status < 0) return status;
    status = find_line(ctx, p->kernel, s, j, &m, &k, &white);
    room_free(ctx, &m);
    if (status < 0) return status;
    const double d = s->variance[j] + white;
    if (k.square == 0.0)
        *kl = 0.0;
    else if (isinf(variance))
        *kl = removal(&k, s->residual[j], d);
    else
        *kl = hfi_influence_divergence(0.0, k.latent, k.innovation, k.rest + d,
                                       k.innovation + residual - s->residual[j], k.rest + variance + white);
    return HF_OK;
}

/* ---- the call ----------------------------------------------------------------------------------------- */

double hfi_influence_excess(double x)
{
    if (fabs(x) > 1e-4) return x - log1p(x);
    return x * x * (1.0 / 2.0 - x * (1.0 / 3.0 - x * (1.0 / 4.0 - x / 5.0)));
}

double hfi_influence_divergence(double c, double v, double r, double d, double s, double e)
{
    if (v == 0.0) return 0.0; /* the other readings leave nothing open that a site could change */
    double x = v / (v + d) * (d / e - 1.0), linear = isinf(e) ? 0.0 : (s - c) / (v + e);
    double u = sqrt(v * (1.0 + v / e)) * ((r - c) / (v + d) - linear);
    return 0.5 * (hfi_influence_excess(x) + u * u);
}

hf_status hfi_check_site(hf_context *ctx, const char *which, double target, double variance)
{
    if (!(variance > 0.0))
        return hfi_refuse(ctx, "the %s site's variance is %g; give a positive one, or infinity for removal",
                          which, variance);
    if (!isinf(variance) && !isfinite(target))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the %s site's target is %g", which, target);
    return HF_OK;
}

/* The anchors have to be the readings. */
static hf_status check_influence_anchor(hf_context *ctx, const hf_posterior *posterior, size_t i,
                                        const double *kl)
{
    if (posterior == NULL || kl == NULL)
        return hfi_refuse(ctx, "hf_influence: %s is NULL",
                          posterior == NULL ? "the posterior" : "the result");
    const hfi_solution *s = &posterior->solution;
    if (s->residual == NULL || s->variance == NULL)
        return hfi_refuse(ctx, "the anchors of an inducing posterior are not its readings; "
                               "hf_influence_inducing() takes the reading itself");
    if (i >= s->n) return hfi_refuse(ctx, "anchor %zu of %zu (counted from 0) does not exist", i, s->n);
    return HF_OK;
}

void hfi_site_to_solver(const hf_posterior *p, const double *z, double *target, double *variance)
{
    const size_t output = hfi_scaling_output(&p->scaling, z);
    double prior;
    hf_mean_evaluate(p->mean, 1, z, p->solution.d, &prior);
    *target = isinf(*variance) ? 0.0 : hfi_scaling_target(&p->scaling, output, *target) - prior;
    *variance = hfi_scaling_site_variance(&p->scaling, output, *variance);
}

hf_status hf_influence(hf_context *ctx, const hf_posterior *posterior, size_t i, double target,
                       double variance, double *kl)
{
    hf_status status = check_influence_anchor(ctx, posterior, i, kl);
    if (status >= 0) status = hfi_check_site(ctx, "replacing", target, variance);
    if (status < 0) return status;
    const hfi_solution *s = &posterior->solution;
    double c, v, r = target, e = variance;
    hfi_site_to_solver(posterior, s->z + i * s->d, &r, &e);
    if (s->form != HFI_FORM_EXACT) return influence_projected(ctx, posterior, i, r, e, kl);
    status = hfi_solution_cavity(ctx, posterior->kernel, s, i, &c, &v);
    if (status < 0) return status;
    *kl = hfi_influence_divergence(c, v, s->residual[i], s->variance[i] + s->jitter, r, e + s->jitter);
    return HF_OK;
}

hf_status hf_influence_of_removal(hf_context *ctx, const hf_posterior *posterior, double *kl)
{
    hf_status status =
        hfi_posterior_need_exact(ctx, posterior, "the influence of removing each reading",
                                 "hf_influence() answers for one reading of a projected posterior");
    if (status < 0) return status;
    if (kl == NULL) return hfi_refuse(ctx, "hf_influence_of_removal: the result is NULL");
    const hfi_solution *s = &posterior->solution;
    double *c = hfi_alloc(ctx, s->n, 2 * sizeof *c);
    if (c == NULL) return HF_ERR_MEMORY;
    status = hfi_solution_cavities(ctx, posterior->kernel, s, c, c + s->n);
    for (size_t i = 0; i < s->n && status >= 0; i++)
        kl[i] = hfi_influence_divergence(c[i], c[s->n + i], s->residual[i], s->variance[i] + s->jitter, 0.0,
                                         INFINITY);
    hfi_free(ctx, c);
    return status;
}
