/* SPDX-License-Identifier: Apache-2.0 */
/* The common factor of the ellipsoid's site variances, d_i = c s_i^2. With B = S^-1 K S^-1 = Q diag(l) Q', S = diag(s):
 *
 *     radius^2 = G^2 + sum_i e_i^2 / (c s_i^2) - sum_k (Q' S^-1 y)_k^2 / (l_k + c)
 *     sd_i^2   = s_i^2 sum_k Q_ik^2 l_k c / (l_k + c)                    at input i
 *     sd_i^2   = s_i^2 (1 / sum_k Q_ik^2 / (l_k + c) - c)                there, had reading i not been made
 *
 * so that each c costs two products of a matrix and a vector. The width at the inputs alone hardly depends on
 * c once the sites are small, and the least of it is far from that between them; with the inputs as if they
 * had no reading it stands for both. */
#include "envelope/closed.h"
#include "linalg/linalg.h"

#include <math.h>

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
static double search(const scan *job)
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

hf_status hfi_closed_choose_site(hf_context *ctx, const hf_closed_envelope *closed, const double *s,
                                 double norm, double *site)
{
    enum {
        VECTORS = 6
    };
    const size_t n = closed->n;
    scan job = {.n = n, .s = s, .norm = norm};
    *site = 1.0;
    if (n == 0) return HF_OK;
    hf_status status = hfi_require_memory(ctx, "choosing the sites", n, 32.0 * (double)n * (double)n);
    if (status < 0) return status;
    job.square = hfi_alloc(ctx, n, n * sizeof *job.square);
    job.value = job.square ? hfi_alloc(ctx, n, VECTORS * sizeof *job.value) : NULL;
    status = HF_ERR_MEMORY;
    if (job.value) {
        job.projection = job.value + n;
        job.gain = job.projection + n;
        job.share = job.gain + n;
        job.known = job.share + n;
        job.unknown = job.known + n;
        status = decompose(ctx, closed, &job);
    }
    if (status >= 0) *site = search(&job);
    HFI_FREE(ctx, job.value, job.square);
    return status;
}
