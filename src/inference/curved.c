/* SPDX-License-Identifier: Apache-2.0 */
/* Factorisations behind a posterior with precisions of either sign; curved.h has the formulas. */
#include "inference/curved.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    COLUMNS = 32 /* of a matrix in one task */
};

static size_t tasks(size_t columns)
{
    return (columns + COLUMNS - 1) / COLUMNS;
}

static size_t width(size_t columns, size_t first)
{
    return columns - first < COLUMNS ? columns - first : COLUMNS;
}

double hfi_curved_bytes(size_t n, size_t negatives)
{
    const double size = (double)n, o = (double)negatives;
    return 8.0 * (3.0 * size * size + 7.0 * size + 2.0 * o * size + o * o);
}

hf_status hfi_curved_init(hf_context *ctx, size_t n, double *b, hfi_curved *out)
{
    memset(out, 0, sizeof *out);
    size_t square;
    if (!hfi_size_mul(n, n, &square)) return hfi_out_of_memory(ctx);
    *out = (hfi_curved){.ctx = ctx, .n = n, .b = b};
    if (HFI_ALLOC(ctx, HFI_ROOM(out->k, square), HFI_ROOMS(out->w, n, 5), HFI_ROOM(out->negative, n)) < 0) {
        hfi_curved_free(out);
        return HF_ERR_MEMORY;
    }
    out->root = out->w + n;
    out->work = out->w + 2 * n;
    return HF_OK;
}

void hfi_curved_free(hfi_curved *c)
{
    HFI_FREE(c->ctx, c->k, c->w, c->negative, c->f, c->f_rows, c->h, c->flat_excess, c->spare);
    memset(c, 0, sizeof *c);
}

/* Room for `count` readings of negative precision. */
static hf_status reserve_curved(hfi_curved *c, size_t count)
{
    if (count <= c->capacity) return HF_OK;
    const size_t capacity = count + count / 4 < c->n ? count + count / 4 : c->n;
    HFI_FREE(c->ctx, c->f, c->f_rows, c->h);
    c->capacity = 0;
    if (HFI_ALLOC(c->ctx, HFI_ROOMS(c->f, c->n, capacity), HFI_ROOMS(c->f_rows, c->n, capacity),
                  HFI_ROOMS(c->h, capacity, 2 * capacity)) < 0)
        return HF_ERR_MEMORY;
    c->capacity = capacity;
    return HF_OK;
}

static void fill_curved_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const hfi_curved *c = arg;
    const size_t n = c->n, first = task * COLUMNS, end = first + width(n, first);
    for (size_t j = first; j < end; j++) {
        const double *k = c->k + j * n;
        double *b = c->b + j * n;
        for (size_t i = j; i < n; i++) b[i] = c->root[i] * k[i] * c->root[j];
        b[j] += 1.0;
    }
}

/* L^-1 W+^1/2 K_:i for some of the readings, n entries each, in `columns`. */
typedef struct half_solve {
    const hfi_curved *c;
    size_t count;
    const size_t *index;
    double *columns;
} half_solve;

static void half_solve_block(size_t task, int thread, void *arg)
{
    (void)thread;
    const half_solve *job = arg;
    const hfi_curved *c = job->c;
    const size_t n = c->n, first = task * COLUMNS, count = width(job->count, first);
    double *block = job->columns + first * n;
    for (size_t q = 0; q < count; q++) {
        const double *k = c->k + job->index[first + q] * n;
        for (size_t i = 0; i < n; i++) block[i + q * n] = c->root[i] * k[i];
    }
    hfi_chol_forward_block(n, count, c->b, n, block, n);
}

/* From L^-1 W+^1/2 K_:N to E = K^-1 Sigma+_:N = I_:N - W+^1/2 L^-T (that), some columns. */
static void solve_block_backward(size_t task, int thread, void *arg)
{
    (void)thread;
    const hfi_curved *c = arg;
    const size_t n = c->n, first = task * COLUMNS, count = width(c->negatives, first);
    double *block = c->f + first * n;
    hfi_chol_backward_block(n, count, c->b, n, block, n);
    for (size_t q = 0; q < count; q++) {
        for (size_t i = 0; i < n; i++) block[i + q * n] *= -c->root[i];
        block[c->negative[first + q] + q * n] += 1.0;
    }
}

/* R+ x for the positive part alone; out may not be x. */
static void positive_r(const hfi_curved *c, const double *x, double *out)
{
    for (size_t i = 0; i < c->n; i++) out[i] = c->root[i] * x[i];
    hfi_chol_solve(c->n, c->b, c->n, out);
    for (size_t i = 0; i < c->n; i++) out[i] *= c->root[i];
}

static double negative_root(const hfi_curved *c, size_t q)
{
    return sqrt(-c->w[c->negative[q]]);
}

/* H has a negative eigenvalue; with its eigenvector e, f = Sigma+_:N s e gives f'(K^-1 + W) f < 0. */
static hf_status find_escape(hfi_curved *c, double *h, double *escape)
{
    const size_t n = c->n, o = c->negatives;
    double *values = hfi_alloc(c->ctx, o, sizeof *values);
    if (!values) return HF_ERR_MEMORY;
    const hf_status s = hfi_symmetric_eigen(c->ctx, o, h, o, values);
    hfi_free(c->ctx, values);
    if (s < 0) return s;
    double *x = c->work, *kx = c->work + n;
    memset(x, 0, n * sizeof *x);
    for (size_t q = 0; q < o; q++) x[c->negative[q]] = negative_root(c, q) * h[q];
    hfi_curved_k(c, x, kx);
    positive_r(c, kx, escape);
    for (size_t i = 0; i < n; i++) escape[i] = x[i] - escape[i];
    return HF_ERR_NOT_POSITIVE_DEFINITE;
}

/* H, its factor, and F. */
static hf_status factor_negative(hfi_curved *c, double *escape)
{
    const size_t n = c->n, o = c->negatives;
    const hf_status reserved = reserve_curved(c, o);
    if (reserved < 0) return reserved;
    half_solve job = {c, o, c->negative, c->f};
    hfi_parallel_for(c->ctx, tasks(o), half_solve_block, &job);
    hfi_gemm_tn(o, o, n, 1.0, c->f, n, c->f, n, 0.0, c->h, o);
    double *copy = c->h + o * o;
    for (size_t q = 0; q < o; q++)
        for (size_t p = q; p < o; p++) {
            const double sigma = c->k[c->negative[p] + c->negative[q] * n] - c->h[p + q * o];
            c->h[p + q * o] = (p == q ? 1.0 : 0.0) - negative_root(c, p) * sigma * negative_root(c, q);
            copy[p + q * o] = c->h[p + q * o];
        }
    if (hfi_chol(c->ctx, o, c->h, o) < 0)
        return escape ? find_escape(c, copy, escape) : HF_ERR_NOT_POSITIVE_DEFINITE;
    c->log_det += hfi_chol_logdet(o, c->h, o);
    hfi_parallel_for(c->ctx, tasks(o), solve_block_backward, c);
    for (size_t q = 0; q < o; q++)
        for (size_t i = 0; i < n; i++) c->f_rows[q + i * o] = negative_root(c, q) * c->f[i + q * n];
    hfi_chol_forward_block(o, n, c->h, o, c->f_rows, o);
    for (size_t q = 0; q < o; q++)
        for (size_t i = 0; i < n; i++) c->f[i + q * n] = c->f_rows[q + i * o];
    return HF_OK;
}

hf_status hfi_curved_factor(hfi_curved *c, double *escape)
{
    const size_t n = c->n;
    c->negatives = c->flat = 0;
    for (size_t i = 0; i < n; i++) {
        c->root[i] = sqrt(fmax(c->w[i], 0.0));
        if (c->w[i] < 0.0) c->negative[c->negatives++] = i;
    }
    hfi_parallel_for(c->ctx, tasks(n), fill_curved_columns, c);
    const hf_status s = hfi_chol(c->ctx, n, c->b, n);
    /* B is positive definite whatever W is; only numbers that are not finite get here. */
    if (s < 0) return hfi_fail(c->ctx, HF_ERR_NOT_FINITE, "a covariance or a site precision is not finite");
    c->log_det = hfi_chol_logdet(n, c->b, n);
    return c->negatives > 0 ? factor_negative(c, escape) : HF_OK;
}

void hfi_curved_k(const hfi_curved *c, const double *x, double *out)
{
    hfi_symv(c->n, c->k, c->n, x, out);
}

void hfi_curved_r(const hfi_curved *c, const double *x, double *out)
{
    positive_r(c, x, out);
    for (size_t q = 0; q < c->negatives; q++) {
        const double *f = c->f + q * c->n;
        hfi_axpy(c->n, -hfi_dot(c->n, f, x), f, out);
    }
}

/* Precision times prior variance below which (1 - B^-1_ii) / w_i would lose this factor in digits. */
static const double WEAK = 1e-3;

enum {
    CHUNK = 256 /* weak readings whose columns are held at once */
};

/* Sigma+_ii of readings of negative precision is in H; those for which it is not to be had from there, and
 * readings of little precision, are weak. */
static bool is_weak(const hfi_curved *c, size_t i, size_t *next_negative, double *variance)
{
    if (!(c->w[i] < 0.0)) return c->w[i] * c->k[i * (c->n + 1)] < WEAK;
    const size_t o = c->negatives, q = (*next_negative)++;
    const double taken = 1.0 - c->h[o * o + q * (o + 1)];
    if (taken < WEAK) return true;
    variance[i] = taken / -c->w[i];
    return false;
}

/* Sigma+_ii of readings of little or negative precision, from H or from columns of the factor. */
static hf_status weak_variances(const hfi_curved *c, double *variance)
{
    const size_t n = c->n;
    double *columns = hfi_alloc(c->ctx, n, CHUNK * sizeof *columns);
    size_t *index = hfi_alloc(c->ctx, CHUNK, sizeof *index), count = 0, next = 0;
    const hf_status s = columns && index ? HF_OK : HF_ERR_MEMORY;
    for (size_t i = 0; s >= 0 && i < n; i++) {
        if (is_weak(c, i, &next, variance)) index[count++] = i;
        if (count == 0 || (count < CHUNK && i + 1 < n)) continue;
        half_solve job = {c, count, index, columns};
        hfi_parallel_for(c->ctx, tasks(count), half_solve_block, &job);
        for (size_t q = 0; q < count; q++) {
            const double *v = columns + q * n;
            variance[index[q]] = c->k[index[q] * (n + 1)] - hfi_dot(n, v, v);
        }
        count = 0;
    }
    HFI_FREE(c->ctx, columns, index);
    return s;
}

typedef struct spread {
    const hfi_curved *c;
    double *out;
} spread;

/* K F, some columns. */
static void spread_block(size_t task, int thread, void *arg)
{
    (void)thread;
    const spread *job = arg;
    const hfi_curved *c = job->c;
    const size_t n = c->n, first = task * COLUMNS;
    hfi_gemm_tn(n, width(c->negatives, first), n, 1.0, c->k, n, c->f + first * n, n, 0.0,
                job->out + first * n, n);
}

/* Sigma_ii from the diagonal of B^-1; `room` has n o entries. */
static void diagonal(const hfi_curved *c, const double *inverse, double *room, double *variance)
{
    const size_t n = c->n;
    spread job = {c, room};
    for (size_t i = 0; i < n; i++)
        if (!(c->w[i] * c->k[i * (n + 1)] < WEAK)) variance[i] = (1.0 - inverse[i]) / c->w[i];
    hfi_parallel_for(c->ctx, tasks(c->negatives), spread_block, &job);
    for (size_t q = 0; q < c->negatives; q++)
        for (size_t i = 0; i < n; i++) {
            const double gain = room[i + q * n];
            variance[i] += gain * gain;
        }
}

hf_status hfi_curved_variances(hfi_curved *c, double *variance)
{
    const size_t n = c->n;
    if (!c->spare) {
        size_t square;
        if (!hfi_size_mul(n, n + 1, &square)) return hfi_out_of_memory(c->ctx);
        c->spare = hfi_alloc(c->ctx, square, sizeof *c->spare);
        if (!c->spare) return HF_ERR_MEMORY;
    }
    const hf_status s = weak_variances(c, variance);
    if (s < 0) return s;
    double *inverse = c->spare + n * n;
    hfi_chol_inverse_diagonal(c->ctx, n, c->b, n, c->spare, inverse);
    diagonal(c, inverse, c->spare, variance);
    return HF_OK;
}

/* R from B^-1, some columns. */
static void scale_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const hfi_curved *c = arg;
    const size_t n = c->n, o = c->negatives, first = task * COLUMNS, count = width(n, first);
    for (size_t j = first; j < first + count; j++)
        for (size_t i = j; i < n; i++) c->b[i + j * n] *= c->root[i] * c->root[j];
    if (o > 0)
        hfi_gemm_tn(n - first, count, o, -1.0, c->f_rows + first * o, o, c->f_rows + first * o, o, 1.0,
                    c->b + first * (n + 1), n);
}

hf_status hfi_curved_finish(hfi_curved *c, double *variance)
{
    const size_t n = c->n;
    const hf_status s = weak_variances(c, variance);
    if (s < 0) return s;
    hfi_chol_inverse(c->ctx, n, c->b, n);
    for (size_t i = 0; i < n; i++) c->work[i] = c->b[i * (n + 1)];
    hfi_parallel_for(c->ctx, tasks(n), scale_columns, c);
    hfi_symmetrise(c->ctx, n, c->b, n);
    diagonal(c, c->work, c->f_rows, variance); /* F' has served */
    return HF_OK;
}
