/* SPDX-License-Identifier: Apache-2.0 */
/* Second derivatives of the evidence, nearly, for the price of products with vectors. Leave-one-out densities
 * use them too: they are sums over the same readings of densities of the same model, and bend about as the
 * evidence does.
 *
 * With G = (K + D)^-1 and alpha = G r the second derivative of the evidence in two parameters of K + D is,
 * but for the curvature of K + D itself, tr(G K_p G K_q) / 2 - alpha' K_p G K_q alpha. The trace is what
 * would take n^3 for each parameter; where the model is right its expectation is that of the other term. The
 * average of both is therefore -alpha' K_p G K_q alpha / 2 (Gilmour, Thompson and Cullis 1995). */
#include "linalg/linalg.h"
#include "objective/evaluator_impl.h"
#include <math.h>
#include <string.h>

/* Where the coefficients of the mean are among the parameters. */
typedef struct layout {
    size_t count, mean, noise;
} layout;

static layout lay_out_parameters(const hfi_evaluator *e)
{
    layout l = {.mean = hf_kernel_parameters(e->kernel)};
    l.noise = l.mean + hf_mean_coefficients(e->mean);
    l.count = l.noise + hf_sites_channels(e->sites);
    return l;
}

/* How (K + D) alpha - r changes at reading i with each parameter of mean and noise, alpha held. The mean's
 * share of the evidence is quadratic: there is no trace to average with, hence the root of two. */
static void slopes_of_reading(const hfi_evaluator *e, const layout *l, size_t i, double *slope)
{
    const size_t row = e->row[i], channel = hfi_sites_channel(e->sites, row);
    const double root = sqrt(2.0), alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA)[i];
    memset(slope + l->mean, 0, (l->count - l->mean) * sizeof *slope);
    hfi_mean_adjoint(e->mean, 1, e->inputs + i * e->d, e->d, &root, slope + l->mean);
    slope[l->noise + channel] = hf_sites_channel_noise(e->sites, channel) *
                                (hfi_sites_variance_slope(e->sites, row) * alpha - e->sites->shift[row]);
}

/* The column of parameter p in V: those of outputs lie in the order that does not depend on their numbers,
 * which sums are not to see. */
static size_t column_of(const hfi_evaluator *e, const layout *l, size_t p)
{
    if (!e->place_of || p < l->mean) return p;
    if (p >= l->noise) return hf_sites_channels(e->sites) > 1 ? l->noise + e->place_of[p - l->noise] : p;
    return hf_mean_get_kind(e->mean) == HF_MEAN_OUTPUTS ? l->mean + e->place_of[p - l->mean] : p;
}

/* Rows and columns back to the numbers of the parameters. */
static hf_status renumber(const hfi_evaluator *e, const layout *l, double *matrix)
{
    size_t *order = hfi_alloc(e->ctx, l->count, sizeof *order);
    if (!order) return HF_ERR_MEMORY;
    for (size_t p = 0; p < l->count; p++) order[p] = column_of(e, l, p);
    hf_status s = hfi_rearrange(e->ctx, l->count, l->count * sizeof *matrix, order, matrix);
    for (size_t q = 0; s >= 0 && q < l->count; q++)
        s = hfi_rearrange(e->ctx, l->count, sizeof *matrix, order, matrix + q * l->count);
    hfi_free(e->ctx, order);
    return s;
}

/* V: n x count, a column for each parameter. `work` has as many entries. */
static hf_status find_slopes(hfi_evaluator *e, const layout *l, double *work, double *v)
{
    const size_t n = e->n;
    const hf_status s = hfi_kernel_gram_slopes(e->ctx, e->kernel, n, e->inputs, e->d,
                                               hfi_evaluator_vector(e, HFI_EV_ALPHA), work);
    if (s < 0) return s;
    for (size_t p = 0; p < l->mean; p++)
        for (size_t i = 0; i < n; i++) v[i + p * n] = work[p + i * l->mean];
    for (size_t i = 0; i < n; i++) {
        slopes_of_reading(e, l, i, work);
        for (size_t p = l->mean; p < l->count; p++) v[i + column_of(e, l, p) * n] = work[p];
    }
    return s;
}

/* Half of G V. An evaluation of the evidence leaves W = (alpha alpha' - G) / 2, one of a leave-one-out
 * density G itself; several processes, twice that W. */
static hf_status multiply_half_matrix(const hfi_evaluator *e, hf_objective objective, size_t count,
                                      const double *v, double *half_gv)
{
    const size_t n = e->n;
    const bool inverse = objective != HF_OBJECTIVE_EVIDENCE;
    const double *alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA);
    for (size_t p = 0; p < count; p++) {
        double *to = half_gv + p * n;
        const hf_status s = e->kind->matrix->multiply(e, inverse, v + p * n, to);
        if (s < 0) return s;
        const double along = 0.5 * hfi_dot(n, alpha, v + p * n);
        for (size_t i = 0; i < n; i++) to[i] = inverse ? 0.5 * to[i] : along * alpha[i] - to[i];
    }
    return HF_OK;
}

static hf_status agree_on_matrix_status(const hfi_evaluator *e, hf_status s)
{
    return e->kind->matrix->agree ? e->kind->matrix->agree(e, s) : s;
}

hf_status hfi_evaluator_curvature(hfi_evaluator *e, hf_objective objective, double *matrix)
{
    const layout l = lay_out_parameters(e);
    double *v = hfi_alloc(e->ctx, e->n, 2 * l.count * sizeof *v);
    const hf_status ready = agree_on_matrix_status(e, v ? HF_OK : HF_ERR_MEMORY);
    if (ready < 0 || !v) {
        hfi_free(e->ctx, v);
        return ready;
    }
    double *half_gv = v + e->n * l.count;
    hf_status s = agree_on_matrix_status(e, find_slopes(e, &l, half_gv, v));
    if (s >= 0) s = multiply_half_matrix(e, objective, l.count, v, half_gv);
    if (s >= 0) s = hfi_tall_inner(e->ctx, e->n, l.count, v, e->n, l.count, half_gv, e->n, matrix, l.count);
    if (s >= 0 && e->place_of) s = renumber(e, &l, matrix);
    /* Mean and covariance: what is expected is zero. Two halves that should be one, to the last digit. */
    for (size_t q = 0; s >= 0 && q < l.count; q++) {
        const bool mean = q >= l.mean && q < l.noise;
        for (size_t p = 0; p <= q; p++) {
            double *above = matrix + p + q * l.count, *below = matrix + q + p * l.count;
            *above = *below = mean == (p >= l.mean && p < l.noise) ? 0.5 * (*above + *below) : 0.0;
        }
    }
    hfi_free(e->ctx, v);
    return s;
}
