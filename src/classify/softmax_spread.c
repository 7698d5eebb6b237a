/* SPDX-License-Identifier: Apache-2.0 */
/* Likelihoods under the softmax link as expectations over the covariance of the latent values. */
#include "classify/softmax.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum {
    COLUMNS = 32, /* of a matrix in one task */
    LABELS = 16,  /* readings in one task */
    PAIRS = 1024
};

struct hfi_softmax_spread {
    size_t width;   /* C - 1 */
    double *root;   /* n x C x width: f_i = mean + root z, last row 0 */
    double *points; /* PAIRS x width */
    double *value;  /* n: of a look */
    double *last;   /* C n: where the last look was at */
    double sum;     /* what it saw */
    bool looked;
    double *scratch; /* threads x (4 C or C n COLUMNS and C^2) */
    size_t stride;   /* of it */
};

typedef struct spread_covariances {
    const hfi_softmax_problem *p;
    struct hfi_softmax_spread *spread;
} spread_covariances;

/* S_ab = [a = b] (K_a - K_a E_a K_a) + (M^-1/2 E_a K_a)'(M^-1/2 E_b K_b) of some readings, and the roots of
 * what matters, the differences between classes. */
static void root_columns(size_t task, int thread, void *arg)
{
    const spread_covariances *job = arg;
    const hfi_softmax_problem *p = job->p;
    struct hfi_softmax_spread *spread = job->spread;
    const size_t n = p->n, classes = p->classes, first = task * COLUMNS,
                 count = n - first < COLUMNS ? n - first : COLUMNS;
    double *u = spread->scratch + (size_t)thread * spread->stride, *sigma = u + classes * n * COLUMNS,
           *own = sigma + classes * classes;
    for (size_t c = 0; c < classes; c++) {
        double *part = u + c * n * COLUMNS;
        const double *k = p->k + c * n * n + first * n;
        hfi_gemm_tn(n, count, n, 1.0, p->e + c * n * n, n, k, n, 0.0, part, n);
        for (size_t q = 0; q < count; q++)
            own[c * COLUMNS + q] = k[first + q + q * n] - hfi_dot(n, k + q * n, part + q * n);
        hfi_chol_forward_block(n, count, p->m, n, part, n);
    }
    for (size_t q = 0; q < count; q++) {
        for (size_t a = 0; a < classes; a++)
            for (size_t b = 0; b < classes; b++)
                sigma[a * classes + b] = (a == b ? own[a * COLUMNS + q] : 0.0) +
                                         hfi_dot(n, u + (a * COLUMNS + q) * n, u + (b * COLUMNS + q) * n);
        hfi_softmax_differences(classes, sigma, spread->width,
                                spread->root + (first + q) * classes * spread->width);
    }
}

/* Adds one point to the averages of a reading; the largest latent value leaves no overflow. */
static double add_point(size_t classes, size_t label, const double *f, double *at, double *mean,
                        double *curvature)
{
    double largest = f[0], sum = 0.0;
    for (size_t c = 1; c < classes; c++) largest = fmax(largest, f[c]);
    for (size_t c = 0; c < classes; c++) sum += at[c] = exp(f[c] - largest);
    for (size_t c = 0; c < classes; c++) {
        const double share = at[c] / sum;
        mean[c] += share;
        *curvature += share * (sum - at[c]) / sum;
    }
    return f[label] - largest - log(sum);
}

typedef struct mean_look {
    hfi_softmax_problem *p;
    const double *f;
} mean_look;

/* Averages over the points for one reading. */
static void average_reading(const mean_look *job, size_t i, double *scratch)
{
    hfi_softmax_problem *p = job->p;
    const struct hfi_softmax_spread *spread = p->spread;
    const size_t classes = p->classes, width = spread->width, n = p->n;
    double *f = scratch, *at = f + classes, *shift = at + classes, *mean = shift + classes, curvature = 0.0,
           value = 0.0;
    const double *root = spread->root + i * classes * width;
    memset(mean, 0, classes * sizeof *mean);
    for (size_t q = 0; q < PAIRS; q++) {
        const double *z = spread->points + q * width;
        for (size_t c = 0; c < classes; c++) {
            shift[c] = 0.0;
            for (size_t j = 0; j < width; j++) shift[c] += root[c * width + j] * z[j];
        }
        for (int side = 0; side < 2; side++) {
            for (size_t c = 0; c < classes; c++) f[c] = job->f[c * n + i] + (side ? -shift[c] : shift[c]);
            value += add_point(classes, p->label[i], f, at, mean, &curvature);
        }
    }
    spread->value[i] = value / (2 * PAIRS);
    double others = 0.0, of_mean = 0.0;
    for (size_t c = 0; c < classes; c++) {
        mean[c] /= 2 * PAIRS;
        of_mean += mean[c] * (1.0 - mean[c]);
        if (c != p->label[i]) others += mean[c];
    }
    /* D whose D - P P' has the trace of the expected one */
    const double share = of_mean > 0.0 ? fmin(curvature / (2 * PAIRS) / of_mean, 1.0) : 1.0;
    for (size_t c = 0; c < classes; c++) {
        p->probability[c * n + i] = share * mean[c];
        p->slope[c * n + i] = c == p->label[i] ? others : -mean[c];
    }
}

static void look_at_some(size_t task, int thread, void *arg)
{
    const mean_look *job = arg;
    const struct hfi_softmax_spread *spread = job->p->spread;
    const size_t n = job->p->n, end = (task + 1) * LABELS < n ? (task + 1) * LABELS : n;
    for (size_t i = task * LABELS; i < end; i++)
        average_reading(job, i, spread->scratch + (size_t)thread * spread->stride);
}

double hfi_softmax_look_around(hfi_softmax_problem *p, const double *f)
{
    struct hfi_softmax_spread *spread = p->spread;
    const size_t bytes = p->classes * p->n * sizeof *f;
    if (spread->looked && memcmp(f, spread->last, bytes) == 0) return spread->sum;
    mean_look job = {p, f};
    hfi_parallel_for(p->ctx, (p->n + LABELS - 1) / LABELS, look_at_some, &job);
    spread->sum = 0.0;
    for (size_t i = 0; i < p->n; i++) spread->sum += spread->value[i];
    memcpy(spread->last, f, bytes);
    spread->looked = true;
    return spread->sum;
}

hf_status hfi_softmax_spread_make(hfi_softmax_problem *p)
{
    const size_t n = p->n, classes = p->classes, threads = (size_t)hf_context_threads(p->ctx);
    struct hfi_softmax_spread *spread = p->spread = hfi_alloc(p->ctx, 1, sizeof *spread);
    if (!spread) return HF_ERR_MEMORY;
    spread->width = classes - 1;
    spread->stride = classes * (n + 1) * COLUMNS + classes * (classes + 4);
    if (HFI_ALLOC(p->ctx, HFI_ROOMS(spread->root, n, spread->width * classes),
                  HFI_ROOMS(spread->points, PAIRS, spread->width), HFI_ROOM(spread->value, n),
                  HFI_ROOMS(spread->last, n, classes),
                  HFI_ROOMS(spread->scratch, threads, spread->stride)) < 0)
        return HF_ERR_MEMORY;
    const hf_status s = hfi_softmax_normals(p->ctx, classes, PAIRS, spread->points);
    if (s < 0) return s;
    for (size_t c = 0; c < classes; c++) {
        hfi_symmetrise(p->ctx, n, p->k + c * n * n, n);
        hfi_symmetrise(p->ctx, n, p->e + c * n * n, n);
    }
    spread_covariances job = {p, spread};
    hfi_parallel_for(p->ctx, (n + COLUMNS - 1) / COLUMNS, root_columns, &job);
    return HF_OK;
}

void hfi_softmax_spread_free(hfi_softmax_problem *p)
{
    struct hfi_softmax_spread *spread = p->spread;
    if (!spread) return;
    HFI_FREE(p->ctx, spread->root, spread->points, spread->value, spread->last, spread->scratch, spread);
    p->spread = NULL;
}
