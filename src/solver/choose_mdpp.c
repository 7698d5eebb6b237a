/* SPDX-License-Identifier: Apache-2.0 */
/* Inducing inputs as a sample of the determinantal point process of the prior covariance, by Metropolis swaps. */
#include "linalg/linalg.h"
#include "solver/choose.h"

#include <math.h>
#include <string.h>

typedef struct swapper {
    const hf_kernel *kernel;
    const double *x;
    size_t n, ldx, m;
    size_t *rows;
    unsigned char *inside; /* n: the row is chosen */
    double *chosen;        /* m x d: inputs of the chosen rows, in the factor's order */
    double *factor;        /* m x m, L L' = K of the chosen rows */
    double *other;         /* m x m: what the factor becomes */
    double *column;        /* m: covariances of the proposed row with the chosen */
    double *solved;        /* m */
    double *unit;          /* m */
    double *scratch;
    size_t d;
    double least;   /* conditional variances below this are none */
    double log_det; /* of the chosen rows' covariance */
} swapper;

static double prior_variance(const swapper *s, size_t row)
{
    double value;
    hfi_kernel_diagonal(s->kernel, 1, s->x + row * s->ldx, s->ldx, false, &value);
    return value;
}

static void covariances(swapper *s, size_t row, size_t count)
{
    hfi_kernel_cross_block(s->kernel, 1, s->x + row * s->ldx, s->ldx, count, s->chosen, s->d, s->column, s->m,
                           s->scratch);
}

static void place_chosen_row(swapper *s, size_t at, size_t row)
{
    s->rows[at] = row;
    s->inside[row] = 1;
    memcpy(s->chosen + at * s->d, s->x + row * s->ldx, s->d * sizeof *s->chosen);
}

static hf_status factor_start(hf_context *ctx, swapper *s)
{
    for (size_t i = 0; i < s->m; i++) {
        double variance = prior_variance(s, s->rows[i]);
        covariances(s, s->rows[i], i);
        s->least = fmax(s->least, HFI_CHOICE_RESOLUTION * variance);
        if (hfi_chol_append(i, s->factor, s->m, s->column, variance) < 0)
            return hfi_fail(ctx, HF_ERR_NOT_POSITIVE_DEFINITE,
                            "the prior covariance of the chosen rows is singular at row %zu (counted from 0)",
                            s->rows[i]);
        place_chosen_row(s, i, s->rows[i]);
    }
    s->log_det = hfi_chol_logdet(s->m, s->factor, s->m);
    return HF_OK;
}

/*
 * With A = K^-1, v = A k_j and the conditional variance r = k_jj - k_j'v of row j given all chosen, block inversion
 * gives the conditional variance given all chosen but the p-th: r + v_p^2 / A_pp. That of row p given those is
 * 1 / A_pp, and det K' / det K is the ratio of the two. With s = L^-1 k_j and u = L^-1 e_p, r = k_jj - s's, v_p = u's
 * and A_pp = u'u. @return the ratio; *left: row j's given the others.
 */
static double determinant_ratio(swapper *s, size_t p, size_t row, double *left)
{
    const size_t after = s->m - p; /* u is zero before p */
    double *u = s->unit + p;
    covariances(s, row, s->m);
    memcpy(s->solved, s->column, s->m * sizeof *s->solved);
    hfi_chol_forward(s->m, s->factor, s->m, s->solved);
    memset(u, 0, after * sizeof *u);
    u[0] = 1.0;
    hfi_chol_forward(after, s->factor + p * (s->m + 1), s->m, u);
    const double rest = prior_variance(s, row) - hfi_dot(s->m, s->solved, s->solved);
    const double weight = hfi_dot(after, u, s->solved + p), precision = hfi_dot(after, u, u);
    *left = fmax(0.0, rest) + weight * weight / precision;
    return *left * precision;
}

/* The new row goes to the end. False: it is no good after all, and nothing has changed. Errors do not pile
 * up: that of an entry of L L' is as old as the younger of its two rows, and rows come and go. */
static bool swap(swapper *s, size_t p, size_t row)
{
    size_t m = s->m, gone = s->rows[p];
    memcpy(s->other, s->factor, m * m * sizeof *s->factor);
    hfi_chol_delete(m, s->other, m, p, s->unit);
    memmove(s->column + p, s->column + p + 1, (m - p - 1) * sizeof *s->column);
    if (hfi_chol_append(m - 1, s->other, m, s->column, prior_variance(s, row)) < 0) return false;
    double *before = s->factor;
    s->factor = s->other;
    s->other = before;
    memmove(s->rows + p, s->rows + p + 1, (m - p - 1) * sizeof *s->rows);
    memmove(s->chosen + p * s->d, s->chosen + (p + 1) * s->d, (m - p - 1) * s->d * sizeof *s->chosen);
    s->inside[gone] = 0;
    place_chosen_row(s, m - 1, row);
    s->log_det = hfi_chol_logdet(m, s->factor, m);
    return true;
}

static void propose(swapper *s, hfi_stream *stream, hfi_swap_log *log)
{
    size_t p = hfi_stream_below(stream, s->m), row;
    do row = hfi_stream_below(stream, s->n);
    while (s->inside[row]);
    double threshold = hfi_stream_uniform(stream), left;
    double ratio = determinant_ratio(s, p, row, &left);
    log->proposals++;
    if (left > s->least && threshold < ratio && swap(s, p, row)) log->accepted++;
}

static hf_status walk(hf_context *ctx, swapper *s, size_t steps, hfi_stream *stream, hfi_swap_log *log)
{
    for (size_t step = 0; step < steps; step++) {
        if (step % 64 == 0 && !hfi_progress(ctx, "choose", (double)step / (double)steps, NAN))
            return hfi_cancelled(ctx);
        const bool lazy = hfi_stream_bits(stream) >> 63 != 0;
        if (!lazy) propose(s, stream, log);
        if (log->trace != NULL) log->trace[step] = s->log_det;
    }
    log->log_det = s->log_det;
    return HF_OK;
}

hf_status hfi_choose_mdpp(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *x, size_t ldx,
                          size_t chosen, size_t *rows, size_t steps, hfi_stream *stream, hfi_swap_log *log)
{
    if (chosen >= n) return HF_OK; /* nothing to swap with */
    const size_t m = chosen, d = hf_kernel_dimension(kernel);
    swapper s = {.kernel = kernel, .x = x, .n = n, .ldx = ldx, .m = m, .rows = rows, .d = d};
    hf_status status =
        HFI_ALLOC(ctx, HFI_ROOM(s.inside, n), HFI_ROOMS(s.chosen, m, d), HFI_ROOMS(s.factor, m, m),
                  HFI_ROOMS(s.other, m, m), HFI_ROOM(s.column, m), HFI_ROOM(s.solved, m), HFI_ROOM(s.unit, m),
                  HFI_ROOM(s.scratch, hfi_kernel_scratch(kernel)));
    if (status >= 0) {
        status = factor_start(ctx, &s);
        hfi_swap_log own = {.trace = NULL};
        if (status >= 0) status = walk(ctx, &s, steps, stream, log != NULL ? log : &own);
    }
    HFI_FREE(ctx, s.inside, s.chosen, s.factor, s.other, s.column, s.solved, s.unit, s.scratch);
    return status;
}
