/* SPDX-License-Identifier: Apache-2.0 */
/* Huber's linear regression with a ridge, by iteratively re-weighted least squares. */
#include "sites/huber.h"

#include "linalg/linalg.h"

#include <float.h>
#include <math.h>

enum {
    REWEIGHTINGS = 30
};

static const double RIDGE_PER_READING = 1e-3;
static const double HUBER_K = 1.345;      /* 95 % efficient for normal errors */
static const double FAR_OUT = 4.685;      /* where Tukey's biweight gives up on a reading; here it */
static const double FAR_OUT_SHARE = 0.05; /* keeps a little weight, so that the fit can come back */

/* Re-weighting has arrived when no residual moves by more than this many sds. */
static const double TOLERANCE = 1e-9;

/* One weighted ridge problem; the workspace of whichever form is smaller. */
typedef struct problem {
    const hf_context *ctx;
    size_t n, d;
    const double *x;
    size_t ldx;
    const double *y;
    double ridge;
    double *weight;  /* n */
    double *square;  /* primal p x p, p = d + 1; dual n x n */
    double *design;  /* primal: sqrt(w) (1, x), n x p column-major; dual: x x', n x n */
    double *vector;  /* primal p; dual 2 n */
    double *scratch; /* n */
} problem;

/* (A' W A + ridge) b = A' W y with A = (1, x); then r = y - A b. The intercept carries no ridge. */
static hf_status solve_primal(problem *q, double *r)
{
    size_t n = q->n, p = q->d + 1;
    for (size_t i = 0; i < n; i++) {
        double root = sqrt(q->weight[i]);
        q->design[i] = root;
        for (size_t k = 0; k < q->d; k++) q->design[(k + 1) * n + i] = root * q->x[i * q->ldx + k];
        q->scratch[i] = root * q->y[i];
    }
    hfi_gemm_tn(p, p, n, 1.0, q->design, n, q->design, n, 0.0, q->square, p);
    for (size_t k = 1; k < p; k++) q->square[k * p + k] += q->ridge;
    hfi_gemv_t(n, p, 1.0, q->design, n, q->scratch, 0.0, q->vector);
    hf_status status = hfi_chol(q->ctx, p, q->square, p);
    if (status < 0) return status;
    hfi_chol_solve(p, q->square, p, q->vector);
    for (size_t i = 0; i < n; i++) {
        double fit = q->vector[0];
        for (size_t k = 0; k < q->d; k++) fit += q->vector[k + 1] * q->x[i * q->ldx + k];
        r[i] = q->y[i] - fit;
    }
    return HF_OK;
}

/* The same minimum through M = x x' + ridge W^-1 when there are more inputs than readings: b_0 is the
 * generalised average of y under M, M alpha = y - b_0, and r = ridge W^-1 alpha. */
static hf_status solve_dual(problem *q, double *r)
{
    size_t n = q->n;
    double *ones = q->vector, *alpha = q->vector + n, sum_ones = 0.0, sum_y = 0.0;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) q->square[j * n + i] = q->design[j * n + i];
        q->square[j * n + j] += q->ridge / q->weight[j];
        ones[j] = 1.0;
        alpha[j] = q->y[j];
    }
    hf_status status = hfi_chol(q->ctx, n, q->square, n);
    if (status < 0) return status;
    hfi_chol_solve(n, q->square, n, ones);
    hfi_chol_solve(n, q->square, n, alpha);
    for (size_t i = 0; i < n; i++) {
        sum_ones += ones[i];
        sum_y += alpha[i];
    }
    for (size_t i = 0; i < n; i++) r[i] = q->ridge / q->weight[i] * (alpha[i] - sum_y / sum_ones * ones[i]);
    return HF_OK;
}

/* A robust standard deviation. When half the residuals coincide their MAD is zero, but they may still coincide
 * off the fit; zero only when half of them are. */
static double spread(const double *r, size_t n, double *scratch)
{
    double sd = hfi_mad(r, n, scratch);
    if (sd > 0.0) return sd;
    for (size_t i = 0; i < n; i++) scratch[i] = fabs(r[i]);
    return hfi_median(scratch, n);
}

static double weight_of(double sds)
{
    if (sds <= HUBER_K) return 1.0;
    return HUBER_K / sds * (sds > FAR_OUT ? FAR_OUT_SHARE : 1.0);
}

/* Largest change of a residual. */
static double moved(size_t n, const double *r, const double *before)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(r[i] - before[i]));
    return most;
}

static hf_status reweight(problem *q, bool dual, double *r, double *before)
{
    for (size_t i = 0; i < q->n; i++) {
        q->weight[i] = 1.0;
        r[i] = INFINITY;
    }
    for (int round = 0; round <= REWEIGHTINGS; round++) {
        for (size_t i = 0; i < q->n; i++) before[i] = r[i];
        hf_status status = dual ? solve_dual(q, r) : solve_primal(q, r);
        if (status < 0) return status;
        double sd = spread(r, q->n, q->scratch);
        if (!(sd > 0.0) || moved(q->n, r, before) <= TOLERANCE * sd)
            break; /* sd = 0: half the readings fit exactly */
        for (size_t i = 0; i < q->n; i++) q->weight[i] = weight_of(fabs(r[i]) / sd);
    }
    return HF_OK;
}

/* y in units near its robust standard deviation and from its median: nothing overflows in sums, and a reading
 * at 1e300 starts so near that 30 re-weightings are enough to be rid of it. The unit is a power of two, so that
 * scaling rounds nothing. */
typedef struct standard {
    double unit, centre; /* centre in units */
} standard;

static const double FURTHEST = 1e3;

static standard standardise(size_t n, const double *y, double *out, double *scratch)
{
    double sd = spread(y, n, scratch);
    int exponent = 0;
    (void)frexp(isfinite(sd) ? sd : DBL_MAX, &exponent);
    standard s = {.unit =
                      sd > 0.0 ? ldexp(1.0, exponent < DBL_MAX_EXP ? exponent - 1 : DBL_MAX_EXP - 1) : 1.0};
    for (size_t i = 0; i < n; i++) scratch[i] = y[i] / s.unit;
    s.centre = hfi_median(scratch, n);
    for (size_t i = 0; i < n; i++) out[i] = fmax(-FURTHEST, fmin(FURTHEST, y[i] / s.unit - s.centre));
    return s;
}

hf_status hfi_huber_residuals(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                              const double *y, double *r)
{
    bool dual = d >= n;
    size_t p = dual ? n : d + 1, square = 0, entries = 0;
    if (!hfi_size_mul(p, p, &square) || !hfi_size_mul(n, p, &entries) || square > SIZE_MAX / 4 ||
        entries > SIZE_MAX / 4)
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu readings of %zu inputs do not fit in memory", n, d);
    double *block = hfi_alloc(ctx, square + entries + 4 * n + 2 * p, sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    double *target = block, *before = block + n;
    problem q = {.ctx = ctx, .n = n, .d = d, .x = x, .ldx = ldx, .y = target};
    q.ridge = RIDGE_PER_READING * (double)n;
    q.weight = block + 2 * n;
    q.scratch = block + 3 * n;
    q.vector = block + 4 * n;
    q.square = q.vector + 2 * p;
    q.design = q.square + square;
    standard s = standardise(n, y, target, q.scratch);
    if (dual) hfi_gemm_tn(n, n, d, 1.0, x, ldx, x, ldx, 0.0, q.design, n);
    hf_status status = reweight(&q, dual, r, before);
    if (status < 0)
        status =
            hfi_fail(ctx, status,
                     "the linear start fit to %zu readings of %zu inputs broke down; standardise them", n, d);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        bool limited = fabs(target[i]) == FURTHEST; /* the residual is that of the reading as it is */
        r[i] = r[i] * s.unit + (limited ? y[i] - (s.centre + target[i]) * s.unit : 0.0);
    }
    hfi_free(ctx, block);
    return status;
}
