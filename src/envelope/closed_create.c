/* SPDX-License-Identifier: Apache-2.0 */
/* Closed forms for the readings of an envelope. */
#include "core/settings.h"
#include "envelope/closed.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- arrays and factors ------------------------------------------------------------------------------ */

void hf_closed_envelope_free(hf_closed_envelope *closed)
{
    if (!closed) return;
    const hfi_memory memory = closed->memory;
    hf_kernel_free(closed->kernel);
    hf_mean_free(closed->mean);
    hfi_scaling_free(&closed->scaling);
    HFI_MEMORY_FREE(&memory, closed->x, closed->matrix, closed->factor, closed->sd, closed->target,
                    closed->noise, closed->dual, closed->weight, closed);
}

double hf_closed_envelope_radius(const hf_closed_envelope *closed)
{
    if (!closed) return NAN;
    return sqrt((closed->whole - closed->along) * (closed->whole + closed->along));
}

static hf_status allocate_arrays(hf_context *ctx, hf_closed_envelope *c)
{
    return HFI_ALLOC(ctx, HFI_ROOMS(c->x, c->all, c->d), HFI_ROOMS(c->matrix, c->n, c->n),
                     HFI_ROOMS(c->factor, c->n, c->n), HFI_ROOM(c->sd, c->n), HFI_ROOM(c->target, c->n),
                     HFI_ROOM(c->noise, c->n), HFI_ROOM(c->dual, c->n), HFI_ROOM(c->weight, c->all));
}

hf_status hfi_closed_allocate(hf_context *ctx, const hf_kernel *kernel, size_t n, size_t all,
                              hf_closed_envelope **out)
{
    hf_status status = hfi_require_memory(ctx, "a closed envelope", n, 16.0 * (double)n * (double)n);
    if (status < 0) return status;
    hf_closed_envelope *closed = hfi_alloc(ctx, 1, sizeof *closed);
    if (!closed) return HF_ERR_MEMORY;
    closed->memory = hfi_context_memory(ctx);
    closed->d = hf_kernel_dimension(kernel);
    closed->n = n;
    closed->all = all;
    closed->length = 1.0;
    status = allocate_arrays(ctx, closed);
    if (status >= 0) status = hf_kernel_copy(ctx, kernel, &closed->kernel);
    if (status >= 0) status = hfi_scaling_identity(ctx, closed->d, &closed->scaling);
    if (status >= 0)
        *out = closed;
    else
        hf_closed_envelope_free(closed);
    return status;
}

typedef struct closed_matrix {
    const hf_closed_envelope *closed;
    const double *d; /* NULL: it is in the matrix */
} closed_matrix;

static hf_status fill_closed_matrix(void *arg, double *a, size_t lda)
{
    const closed_matrix *job = arg;
    const size_t n = job->closed->n;
    for (size_t j = 0; j < n; j++) {
        memcpy(a + j * lda + j, job->closed->matrix + j * n + j, (n - j) * sizeof *a);
        if (job->d) a[j * lda + j] += job->d[j];
    }
    return HF_OK;
}

/* Factors the matrix plus diag(d) (n entries, or NULL). `into_matrix`: d is added to the matrix too, and
 * jitter, where it was needed, as more of it; else the matrix stays as it is, whatever was factored. *jitter
 * may be NULL. */
static hf_status factor_plus(hf_context *ctx, hf_closed_envelope *closed, const double *d, bool into_matrix,
                             double *jitter)
{
    const size_t n = closed->n;
    const double scale = hfi_jitter_scale(closed->kernel, n, closed->x, closed->d);
    closed_matrix job = {closed, into_matrix ? NULL : d};
    double added = 0.0;
    for (size_t i = 0; i < n && into_matrix && d; i++) closed->matrix[i * (n + 1)] += d[i];
    hf_status status = HF_OK;
    if (n > 0) status = hfi_chol_jitter(ctx, n, closed->factor, n, scale, fill_closed_matrix, &job, &added);
    if (status < 0) return status;
    for (size_t i = 0; i < n && into_matrix; i++) closed->matrix[i * (n + 1)] += added;
    for (size_t i = 0; i < n; i++) closed->sd[i] = sqrt(closed->matrix[i * (n + 1)]);
    if (jitter) *jitter = added;
    return status;
}

/* ---- direction ------------------------------------------------------------------------------- */

double hfi_closed_unit(const hf_closed_envelope *closed)
{
    return (double)HFI_KERNEL_ROUNDING + 2.0 * DBL_EPSILON * (double)closed->n;
}

void hfi_closed_direction(hf_closed_envelope *closed, double *work)
{
    const size_t n = closed->n;
    const double unit = hfi_closed_unit(closed);
    double inner = 0.0, bulk = 0.0, spread = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double held = closed->dual[i] * closed->target[i],
                     lost = fabs(closed->dual[i]) * closed->noise[i];
        inner += held - lost;
        bulk += fabs(held) + lost;
        spread += fabs(closed->dual[i]) * closed->sd[i];
    }
    hfi_symv(n, closed->matrix, n, closed->dual, work);
    const double square = fmax(0.0, hfi_dot(n, closed->dual, work)) + unit * spread * spread;
    closed->along = 0.0;
    if (!(square > 0.0)) return;
    closed->length = sqrt(square);
    closed->spread = spread;
    closed->along = fmax(0.0, inner - unit * bulk) / closed->length;
}

/* ---- the site of least width ------------------------------------------------------------------------- */

/* The common factor of the ellipsoid's site variances, d_i = c s_i^2. With B = S^-1 K S^-1 = Q diag(l) Q', S = diag(s):
 *
 *     radius^2 = G^2 + sum_i e_i^2 / (c s_i^2) - sum_k (Q' S^-1 y)_k^2 / (l_k + c)
 *     sd_i^2   = s_i^2 sum_k Q_ik^2 l_k c / (l_k + c)                    at input i
 *     sd_i^2   = s_i^2 (1 / sum_k Q_ik^2 / (l_k + c) - c)                there, had reading i not been made
 *
 * so that each c costs two products of a matrix and a vector. The width at the inputs alone hardly depends on
 * c once the sites are small, and the least of it is far from that between them; with the inputs as if they
 * had no reading it stands for both. */

enum {
    GRID = 49,
    GOLDEN = 40
};

/* Around c = n, where the noise is worth as much as the norm; beyond these the one or the other is all there is. */
#define LEAST_FACTOR 1e-3
#define MOST_FACTOR  1e5

typedef struct scan {
    size_t n;
    double *square;     /* Q_ik^2, column k is eigenvector k */
    double *value;      /* l_k >= 0 */
    double *projection; /* (Q' S^-1 y)_k^2 */
    double *gain, *share, *known,
        *unknown; /* known: sd_i^2 / s_i^2; unknown: 1 over that of the other, plus c */
    const double *s;
    double noise; /* sum e_i^2 / s_i^2 */
    double norm;
} scan;

static double mean_width(const scan *job, double c)
{
    double radius2 = job->norm * job->norm + job->noise / c, sum = 0.0;
    for (size_t k = 0; k < job->n; k++) {
        job->share[k] = 1.0 / (job->value[k] + c);
        job->gain[k] = job->value[k] * c * job->share[k];
        radius2 -= job->projection[k] * job->share[k];
    }
    hfi_gemv(job->n, job->n, 1.0, job->square, job->n, job->gain, 0.0, job->known);
    hfi_gemv(job->n, job->n, 1.0, job->square, job->n, job->share, 0.0, job->unknown);
    for (size_t i = 0; i < job->n; i++)
        sum += job->s[i] * (sqrt(fmax(0.0, job->known[i])) + sqrt(fmax(0.0, 1.0 / job->unknown[i] - c)));
    return sum * sqrt(fmax(0.0, radius2));
}

/* Least on a grid of log c, then by golden section between its neighbours. */
static double search_least_width(const scan *job)
{
    const double from = log(LEAST_FACTOR * (double)job->n), to = log(MOST_FACTOR * (double)job->n);
    const double step = (to - from) / (GRID - 1), ratio = 0.5 * (sqrt(5.0) - 1.0);
    double best = from, least = INFINITY;
    for (int g = 0; g < GRID; g++) {
        const double width = mean_width(job, exp(from + g * step));
        if (width < least) {
            least = width;
            best = from + g * step;
        }
    }
    double left = best - step, right = best + step;
    for (int g = 0; g < GOLDEN; g++) {
        const double low = right - ratio * (right - left), high = left + ratio * (right - left);
        if (mean_width(job, exp(low)) <= mean_width(job, exp(high)))
            right = high;
        else
            left = low;
    }
    return exp(0.5 * (left + right));
}

static hf_status decompose(hf_context *ctx, const hf_closed_envelope *closed, scan *job)
{
    const size_t n = job->n;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            job->square[i + j * n] = closed->matrix[i + j * n] / (job->s[i] * job->s[j]);
    const hf_status status = hfi_symmetric_eigen(ctx, n, job->square, n, job->value);
    if (status < 0) return status;
    for (size_t i = 0; i < n; i++) {
        const double noise = closed->noise[i] / job->s[i];
        job->gain[i] = closed->target[i] / job->s[i];
        job->noise += noise * noise;
    }
    for (size_t k = 0; k < n; k++) {
        double *column = job->square + k * n;
        const double along = hfi_dot(n, column, job->gain);
        job->projection[k] = along * along;
        job->value[k] = fmax(0.0, job->value[k]);
        for (size_t i = 0; i < n; i++) column[i] *= column[i];
    }
    return status;
}

/* The factor on s_i^2 that makes the mean width of the ellipsoid at the n inputs, with and without the
 * reading there, least; s (n) > 0; K in `matrix`. One eigendecomposition: 9 n^3 flops, 24 n^2 bytes for the
 * time being. */
static hf_status choose_site(hf_context *ctx, const hf_closed_envelope *closed, const double *s, double norm,
                             double *site)
{
    const size_t n = closed->n;
    scan job = {.n = n, .s = s, .norm = norm};
    *site = 1.0;
    if (n == 0) return HF_OK;
    hf_status status = hfi_require_memory(ctx, "choosing the sites", n, 32.0 * (double)n * (double)n);
    if (status < 0) return status;
    status = HFI_ALLOC(ctx, HFI_ROOMS(job.square, n, n), HFI_ROOM(job.value, n), HFI_ROOM(job.projection, n),
                       HFI_ROOM(job.gain, n), HFI_ROOM(job.share, n), HFI_ROOM(job.known, n),
                       HFI_ROOM(job.unknown, n));
    if (status >= 0) status = decompose(ctx, closed, &job);
    if (status >= 0) *site = search_least_width(&job);
    HFI_FREE(ctx, job.square, job.value, job.projection, job.gain, job.share, job.known, job.unknown);
    return status;
}

/* ---- making ------------------------------------------------------------------------------------------- */

/* An exact reading has no noise bound that says what its site could be: it is taken for one with this share
 * of the largest bound. */
#define EXACT_SHARE 1e-3
/* All of them exact: sites of this share of the kernel's variance. */
#define EXACT_SITE 1e-12
/* A noise bound read as a 99 % quantile. */
#define BOUND_IN_SDS 2.58

static bool two_sided(const hf_envelope *envelope, size_t i)
{
    return isfinite(envelope->lower[HF_UPPER][i]) && isfinite(envelope->upper[HF_UPPER][i]);
}

/* place[i]: where reading i of the envelope went; those with both limits come first. Their number. */
static size_t sort_readings(const hf_envelope *envelope, size_t *place)
{
    size_t n = 0, rest;
    for (size_t i = 0; i < envelope->n; i++) n += two_sided(envelope, i);
    rest = n;
    for (size_t i = 0, first = 0; i < envelope->n; i++) place[i] = two_sided(envelope, i) ? first++ : rest++;
    return n;
}

/* Inputs, midpoints, half widths rounded up, K with the envelope's jitter. */
static void gather_closed_readings(const hf_envelope *envelope, const size_t *place,
                                   hf_closed_envelope *closed)
{
    const size_t n = closed->n, d = closed->d;
    for (size_t i = 0; i < envelope->n; i++) {
        const size_t at = place[i];
        memcpy(closed->x + at * d, envelope->x + i * d, d * sizeof *closed->x);
        if (at >= n) continue;
        const double lower = envelope->lower[HF_UPPER][i], upper = envelope->upper[HF_UPPER][i];
        closed->target[at] = 0.5 * lower + 0.5 * upper;
        const double half = fmax(upper - closed->target[at], closed->target[at] - lower);
        closed->noise[at] = half * (1.0 + 2.0 * DBL_EPSILON);
        for (size_t j = 0; j < envelope->n; j++)
            if (place[j] < n) closed->matrix[place[j] + at * n] = envelope->k[j + i * envelope->ldk];
        closed->matrix[at * (n + 1)] += envelope->settings.jitter;
    }
}

/* ---- the methods ----------------------------------------------------------------------------- */

/* Kernel ridge regression: weight = (K + n lambda I)^-1 target. `work` n. */
static hf_status ridge(hf_context *ctx, hf_closed_envelope *closed, double lambda, double *work)
{
    const size_t n = closed->n;
    for (size_t i = 0; i < n; i++) work[i] = (double)n * lambda;
    const hf_status status = factor_plus(ctx, closed, work, false, NULL);
    if (status < 0 || n == 0) return status;
    memcpy(closed->weight, closed->target, n * sizeof *closed->weight);
    hfi_chol_solve(n, closed->factor, n, closed->weight);
    return status;
}

/* Proposition 3: F = f, F0 the smoothest function, as far as it is made of readings with both limits. */
static hf_status proposition(hf_context *ctx, const hf_envelope *envelope, const size_t *place,
                             hf_closed_envelope *closed, double *work)
{
    const hf_status status = factor_plus(ctx, closed, NULL, false, NULL);
    if (status < 0) return status;
    for (size_t a = 0; a < envelope->smooth_count; a++) {
        const size_t at = place[envelope->smooth_index[a]];
        if (at < closed->n) closed->dual[at] = -envelope->smooth_nu[a];
    }
    hfi_closed_direction(closed, work);
    closed->whole = envelope->norm;
    closed->along = fmin(closed->along, closed->whole);
    return status;
}

/* s_i of d_i = site s_i^2. */
static void site_scales(const hf_closed_envelope *closed, double norm, double *s)
{
    double most = 0.0;
    for (size_t i = 0; i < closed->n; i++) most = fmax(most, closed->noise[i]);
    const double exact = sqrt(EXACT_SITE * hfi_jitter_scale(closed->kernel, closed->n, closed->x, closed->d));
    for (size_t i = 0; i < closed->n; i++)
        s[i] = most > 0.0 ? fmax(closed->noise[i], EXACT_SHARE * most) / norm : exact;
}

/* F = (f, (target - f(x_i)) / sqrt d_i), F0 the posterior mean's: its dual are the posterior's weights. `work` n. */
static hf_status ellipsoid(hf_context *ctx, double norm, double site, hf_closed_envelope *closed,
                           double *work)
{
    const size_t n = closed->n;
    double jitter = 0.0, whole = norm * norm;
    hf_status status = HF_OK;
    site_scales(closed, norm, work);
    if (site == 0.0) status = choose_site(ctx, closed, work, norm, &site);
    if (status < 0) return status;
    for (size_t i = 0; i < n; i++) work[i] = site * work[i] * work[i];
    status = factor_plus(ctx, closed, work, true, &jitter);
    if (status < 0) return status;
    for (size_t i = 0; i < n; i++) {
        whole += closed->noise[i] * closed->noise[i] / (work[i] + jitter);
        closed->noise[i] = 0.0; /* it is in the radius now */
    }
    memcpy(closed->dual, closed->target, n * sizeof *closed->dual);
    if (n > 0) hfi_chol_solve(n, closed->factor, n, closed->dual);
    memcpy(closed->weight, closed->dual, n * sizeof *closed->weight);
    hfi_closed_direction(closed, work);
    closed->whole = sqrt(whole) * (1.0 + (double)n * DBL_EPSILON);
    closed->along = fmin(closed->along, closed->whole);
    return status;
}

static hf_status confidence(hf_context *ctx, double norm, const hf_closed_settings *settings,
                            hf_closed_envelope *closed, double *work)
{
    const size_t n = closed->n;
    double s = settings->noise_sd, jitter = 0.0, most = 0.0;
    for (size_t i = 0; i < n; i++) most = fmax(most, closed->noise[i]);
    if (s == 0.0) s = most / BOUND_IN_SDS;
    if (!(s > 0.0) && n > 0)
        return hfi_refuse(ctx, "the GP bound needs a noise standard deviation: the readings are exact");
    for (size_t i = 0; i < n; i++) {
        work[i] = s * s;
        closed->noise[i] = 0.0;
    }
    const hf_status status = factor_plus(ctx, closed, work, true, &jitter);
    if (status < 0) return status;
    memcpy(closed->weight, closed->target, n * sizeof *closed->weight);
    if (n > 0) hfi_chol_solve(n, closed->factor, n, closed->weight);
    const double variance = s * s + jitter;
    const double gain =
        n > 0 ? 0.5 * (hfi_chol_logdet(n, closed->factor, n) - (double)n * log(variance)) : 0.0;
    closed->whole = norm + 4.0 * sqrt(variance) * sqrt(gain + 1.0 - log(settings->probability));
    return status;
}

/* ---- creating -------------------------------------------------------------------------------- */

typedef struct closed_request {
    hf_closed_method method;
    const hf_closed_settings *settings;
    const double *alpha; /* of the model, in the envelope's order; NULL: the method's own */
} closed_request;

/* The coefficients of the centre that Proposition 3 is about. */
static hf_status set_model(hf_context *ctx, const hf_envelope *envelope, const closed_request *r,
                           const size_t *place, hf_closed_envelope *closed, double *work)
{
    if (r->alpha) {
        for (size_t i = 0; i < envelope->n; i++) closed->weight[place[i]] = r->alpha[i];
        return HF_OK;
    }
    if (r->method == HF_CLOSED_RIDGE) return ridge(ctx, closed, r->settings->ridge, work);
    for (size_t a = 0; a < envelope->smooth_count; a++)
        closed->weight[place[envelope->smooth_index[a]]] = -envelope->smooth_nu[a];
    return HF_OK;
}

static hf_status compute_closed_form(hf_context *ctx, const hf_envelope *envelope, const closed_request *r,
                                     const size_t *place, hf_closed_envelope *closed, double *work)
{
    if (!hfi_progress(ctx, "closed envelope", 0.0, NAN)) return hfi_cancelled(ctx);
    if (r->method == HF_CLOSED_ELLIPSOID)
        return ellipsoid(ctx, envelope->norm, r->settings->site, closed, work);
    if (r->method == HF_CLOSED_GP) return confidence(ctx, envelope->norm, r->settings, closed, work);
    const hf_status status = set_model(ctx, envelope, r, place, closed, work);
    if (status < 0) return status;
    if (!hfi_progress(ctx, "closed envelope", 0.5, NAN)) return hfi_cancelled(ctx);
    return hfi_worse(proposition(ctx, envelope, place, closed, work), status);
}

static hf_status create_closed_envelope(hf_context *ctx, const hf_envelope *envelope, const closed_request *r,
                                        hf_closed_envelope **out)
{
    hf_closed_envelope *closed = NULL;
    size_t *place;
    double *work;
    hf_status status = HFI_ALLOC(ctx, HFI_ROOM(place, envelope->n), HFI_ROOM(work, envelope->n));
    if (status >= 0) {
        const size_t n = sort_readings(envelope, place);
        status = hfi_closed_allocate(ctx, envelope->kernel, n, envelope->n, &closed);
    }
    if (status >= 0) {
        gather_closed_readings(envelope, place, closed);
        closed->scaling.y_shift = envelope->offset;
        closed->slack = 2.0 * DBL_EPSILON * fabs(envelope->offset);
        status = compute_closed_form(ctx, envelope, r, place, closed, work);
    }
    HFI_FREE(ctx, work, place);
    if (status >= 0)
        *out = closed;
    else
        hf_closed_envelope_free(closed);
    return status;
}

hf_status hf_closed_envelope_create(hf_context *ctx, const hf_envelope *envelope, hf_closed_method method,
                                    const hf_closed_settings *settings, hf_closed_envelope **out)
{
    hf_closed_settings own;
    const closed_request r = {.method = method, .settings = &own};
    if (!ctx || !envelope || !out)
        return hfi_refuse(ctx, "a closed envelope needs a context, an envelope and a place for the result");
    if (method != HF_CLOSED_RIDGE && method != HF_CLOSED_MINIMUM_NORM && method != HF_CLOSED_ELLIPSOID &&
        method != HF_CLOSED_GP)
        return hfi_refuse(ctx, "there is no closed form %d", (int)method);
    const hf_status status = hfi_settings_open(ctx, hf_closed_settings_table(), settings, &own);
    return status < 0 ? status : create_closed_envelope(ctx, envelope, &r, out);
}

hf_status hf_closed_envelope_model(hf_context *ctx, const hf_envelope *envelope, const double *alpha,
                                   hf_closed_envelope **out)
{
    const closed_request r = {.method = HF_CLOSED_RIDGE, .alpha = alpha};
    if (!ctx || !envelope || !alpha || !out)
        return hfi_refuse(
            ctx, "a closed envelope needs a context, an envelope, coefficients and a place for the result");
    for (size_t i = 0; i < envelope->n; i++)
        if (!isfinite(alpha[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "coefficient %zu (counted from 0) is %g", i, alpha[i]);
    return create_closed_envelope(ctx, envelope, &r, out);
}
