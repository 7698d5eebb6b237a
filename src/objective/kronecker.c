/* SPDX-License-Identifier: Apache-2.0 */
/* The evidence through eigenvectors of k(X, X) and of B; formulas in kronecker.h. All matrices column-major. */
#include "objective/kronecker.h"
#include "linalg/linalg.h"
#include "objective/evaluator_impl.h"
#include <math.h>
#include <string.h>

enum {
    SMALL = 5, /* matrices T x T */
    SMALL_VECTORS = 3,
    WIDE = 4, /* matrices N x T */
    LEAST_OUTPUTS = 3
};

void hfi_kronecker_free(hfi_evaluator *e)
{
    hfi_kronecker *k = e->kronecker;
    if (!k) return;
    hfi_samples_free(&k->samples);
    HFI_FREE(e->ctx, k->x, k->k, k->q, k->w, k->values, k->small, k->wide, k);
    e->kronecker = NULL;
    e->kind = &hfi_exact_evaluator;
}

static hf_status allocate_kronecker(hfi_evaluator *e)
{
    hfi_kronecker *k = e->kronecker;
    const size_t n = k->samples.count, t = k->samples.outputs;
    size_t square;
    if (!hfi_size_mul(n, n, &square)) return hfi_out_of_memory(e->ctx);
    return HFI_ALLOC(e->ctx, HFI_ROOMS(k->x, n, e->d), HFI_ROOM(k->k, square), HFI_ROOM(k->q, square),
                     HFI_ROOM(k->w, square), HFI_ROOMS(k->values, n + t, 2),
                     HFI_ROOMS(k->small, t, SMALL * t + SMALL_VECTORS), HFI_ROOMS(k->wide, n, WIDE * t));
}

hf_status hfi_kronecker_init(hfi_evaluator *e, size_t outputs, const size_t *sample, const size_t *place_of)
{
    if (e->kind != &hfi_exact_evaluator || outputs < LEAST_OUTPUTS || e->rows % outputs != 0 ||
        !hfi_kernel_is_separable(e->kernel))
        return HF_OK;
    hfi_kronecker *k = hfi_alloc(e->ctx, 1, sizeof *k);
    if (!k) return HF_ERR_MEMORY;
    e->kronecker = k;
    hf_status s = hfi_samples_init(e->ctx, e->rows, e->d, outputs, e->x, hf_sites_readings(e->sites), sample,
                                   place_of, &k->samples);
    const bool full = s >= 0 && k->samples.count * outputs == e->rows;
    if (full) s = allocate_kronecker(e);
    if (s < 0 || !full) {
        hfi_kronecker_free(e);
        return s < 0 ? s : HF_OK;
    }
    size_t factors = 0, own = 0;
    (void)hfi_kernel_coregion(e->kernel, 0, &k->coregion, &factors, &own, NULL);
    k->coregion_count = factors + own;
    e->kind = &hfi_kronecker_kind;
    for (size_t i = 0; i < k->samples.count; i++)
        memcpy(k->x + i * e->d, e->x + k->samples.reading[i * outputs] * e->ldx, e->d * sizeof *k->x);
    return HF_OK;
}

bool hfi_kronecker_applies(const hfi_evaluator *e)
{
    const hf_sites *s = e->sites;
    if (!e->kronecker || e->n != e->rows || s->given) return false;
    for (size_t i = 0; i < s->n; i++)
        if (s->weight[i] != 1.0 || s->shift[i] != 0.0 || s->extra[i] != 0.0 || s->beta[i] > 0.0) return false;
    return true;
}

/* Arrays of one evaluation. */
typedef struct kronecker_arrays {
    hfi_evaluator *e;
    hfi_kronecker *k;
    size_t n, t, reference;               /* the column whose covariances stand for k(x, x') */
    double reference_var, input_var;      /* B of it; the largest k(x, x) */
    size_t widest;                        /* the sample that has it */
    double *b, *u, *ut, *inner, *weights; /* T x T: B, U, U', and room */
    double *root, *noise, *diagonal;      /* T: sqrt(s), s, room */
    double *r, *alpha, *p, *y;            /* N x T */
    double *m, *l, *c, *g;                /* eigenvalues; what they are weighted with */
} kronecker_arrays;

static kronecker_arrays begin_kronecker_arrays(hfi_evaluator *e)
{
    hfi_kronecker *k = e->kronecker;
    const size_t n = k->samples.count, t = k->samples.outputs, square = t * t, cells = n * t;
    double *small = k->small, *vectors = small + SMALL * square;
    return (kronecker_arrays){.e = e,
                              .k = k,
                              .n = n,
                              .t = t,
                              .b = small,
                              .u = small + square,
                              .ut = small + 2 * square,
                              .inner = small + 3 * square,
                              .weights = small + 4 * square,
                              .root = vectors,
                              .noise = vectors + t,
                              .diagonal = vectors + 2 * t,
                              .r = k->wide,
                              .alpha = k->wide + cells,
                              .p = k->wide + 2 * cells,
                              .y = k->wide + 3 * cells,
                              .m = k->values,
                              .l = k->values + n,
                              .c = k->values + n + t,
                              .g = k->values + 2 * n + t};
}

/* B and the noises, in the order of the columns, and the one with the largest variance. */
static hf_status read_outputs(kronecker_arrays *w)
{
    const hf_sites *sites = w->e->sites;
    const size_t *output = w->k->samples.output;
    const hf_status s = hf_kernel_get_coregion(w->e->ctx, w->e->kernel, 0, w->inner);
    if (s < 0) return s;
    w->reference = 0;
    for (size_t t = 0; t < w->t; t++)
        for (size_t q = 0; q < w->t; q++) w->b[q + t * w->t] = w->inner[output[q] + output[t] * w->t];
    for (size_t t = 0; t < w->t; t++) {
        w->noise[t] = hf_sites_channel_noise(sites, hfi_sites_output_channel(sites, output[t]));
        w->root[t] = sqrt(w->noise[t]);
        if (w->b[t * (w->t + 1)] > w->b[w->reference * (w->t + 1)]) w->reference = t;
    }
    w->reference_var = w->b[w->reference * (w->t + 1)];
    return w->reference_var > 0.0
               ? HF_OK
               : hfi_fail(w->e->ctx, HF_ERR_NOT_POSITIVE_DEFINITE, "the outputs have no variance");
}

/* k(X, X), and the eigenvectors of it and of S^-1/2 B S^-1/2. */
static hf_status decompose(kronecker_arrays *w)
{
    hfi_evaluator *e = w->e;
    hfi_kronecker *k = w->k;
    const size_t n = w->n, t = w->t;
    for (size_t i = 0; i < n; i++) k->x[i * e->d + e->d - 1] = (double)k->samples.output[w->reference];
    hf_status s = hfi_kernel_gram_lower(e->ctx, e->kernel, n, k->x, e->d, k->k, n);
    if (s < 0) return s;
    w->input_var = 0.0;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) k->k[i + j * n] /= w->reference_var;
        if (k->k[j * (n + 1)] > w->input_var) {
            w->input_var = k->k[j * (n + 1)];
            w->widest = j;
        }
    }
    hfi_symmetrise(e->ctx, n, k->k, n);
    memcpy(k->q, k->k, n * n * sizeof *k->q);
    s = hfi_symmetric_eigen(e->ctx, n, k->q, n, w->m);
    for (size_t q = 0; q < t; q++)
        for (size_t p = 0; p < t; p++) w->u[p + q * t] = w->b[p + q * t] / w->root[p] / w->root[q];
    if (s >= 0) s = hfi_symmetric_eigen(e->ctx, t, w->u, t, w->l);
    /* Below zero they are rounding. */
    for (size_t i = 0; s >= 0 && i < n; i++) w->m[i] = fmax(w->m[i], 0.0);
    for (size_t q = 0; s >= 0 && q < t; q++) {
        w->l[q] = fmax(w->l[q], 0.0);
        for (size_t p = 0; p < t; p++) w->ut[q + p * t] = w->u[p + q * t];
    }
    return s;
}

/* alpha, and the evidence. */
static hf_status solve_kronecker_alpha(kronecker_arrays *w, double *value)
{
    hfi_evaluator *e = w->e;
    const size_t n = w->n, t = w->t;
    double *mean = hfi_evaluator_vector(e, HFI_EV_RESIDUAL);
    hf_mean_evaluate(e->mean, e->rows, e->x, e->ldx, mean);
    for (size_t i = 0; i < n; i++)
        for (size_t q = 0; q < t; q++) {
            const size_t reading = w->k->samples.reading[i * t + q];
            w->r[i + q * n] = hf_sites_targets(e->sites)[reading] - mean[reading];
            w->y[i + q * n] = w->r[i + q * n] / w->root[q];
        }
    memset(w->p, 0, n * t * sizeof *w->p);
    hfi_tall_add(e->ctx, n, t, t, 1.0, w->y, n, w->u, t, w->p, n);
    const hf_status s = hfi_tall_inner(e->ctx, n, n, w->k->q, n, t, w->p, n, w->y, n);
    if (s < 0) return s;
    double log_det = 0.0;
    for (size_t q = 0; q < t; q++) {
        log_det += (double)n * log(w->noise[q]);
        for (size_t i = 0; i < n; i++) {
            w->y[i + q * n] /= 1.0 + w->m[i] * w->l[q];
            log_det += log1p(w->m[i] * w->l[q]);
        }
    }
    memset(w->p, 0, n * t * sizeof *w->p);
    hfi_tall_add(e->ctx, n, n, t, 1.0, w->k->q, n, w->y, n, w->p, n);
    memset(w->alpha, 0, n * t * sizeof *w->alpha);
    hfi_tall_add(e->ctx, n, t, t, 1.0, w->p, n, w->ut, t, w->alpha, n);
    for (size_t q = 0; q < t; q++)
        for (size_t i = 0; i < n; i++) w->alpha[i + q * n] /= w->root[q];
    *value = -0.5 * hfi_dot(n * t, w->r, w->alpha) - 0.5 * log_det - (double)(n * t) * HFI_HALF_LOG_2PI;
    return HF_OK;
}

/* out := S^-1/2 U diag(by) U' S^-1/2 */
static void outer_small(const kronecker_arrays *w, const double *by, double *out)
{
    const size_t t = w->t;
    for (size_t q = 0; q < t; q++)
        for (size_t p = 0; p < t; p++) {
            double sum = 0.0;
            for (size_t a = 0; a < t; a++) sum += w->u[p + a * t] * by[a] * w->u[q + a * t];
            out[p + q * t] = sum / w->root[p] / w->root[q];
        }
}

/* d/dB by T rows at one place, of which only what belongs to the coregion is kept; d/d log s. */
static hf_status small_gradient(kronecker_arrays *w, double *gradient, double *own)
{
    hfi_evaluator *e = w->e;
    const size_t n = w->n, t = w->t, d = e->d, kernel_count = hf_kernel_parameters(e->kernel);
    const size_t *output = w->k->samples.output;
    double *noise = gradient + kernel_count + hf_mean_coefficients(e->mean), *rows = own + kernel_count;
    memset(w->p, 0, n * t * sizeof *w->p);
    hfi_tall_add(e->ctx, n, n, t, 1.0, w->k->k, n, w->alpha, n, w->p, n);
    hf_status s = hfi_tall_inner(e->ctx, n, t, w->alpha, n, t, w->p, n, w->weights, t);
    if (s < 0) return s;
    for (size_t q = 0; q < t; q++) {
        w->g[q] = w->diagonal[q] = 0.0;
        for (size_t i = 0; i < n; i++) {
            w->g[q] += w->m[i] / (1.0 + w->m[i] * w->l[q]);
            w->diagonal[q] += 1.0 / (1.0 + w->m[i] * w->l[q]);
        }
    }
    outer_small(w, w->g, w->inner);
    for (size_t k = 0; k < t * t; k++) w->weights[k] = 0.5 * (w->weights[k] - w->inner[k]) / w->input_var;
    for (size_t q = 0; q < t; q++) {
        memcpy(rows + q * d, w->k->x + w->widest * d, d * sizeof *rows);
        rows[q * d + d - 1] = (double)output[q];
    }
    memset(own, 0, kernel_count * sizeof *own);
    s = hfi_kernel_gram_adjoint(e->ctx, e->kernel, t, rows, d, w->weights, t, own);
    if (s < 0) return s;
    memcpy(gradient + w->k->coregion, own + w->k->coregion, w->k->coregion_count * sizeof *own);
    outer_small(w, w->diagonal, w->inner);
    memset(noise, 0, hf_sites_channels(e->sites) * sizeof *noise);
    for (size_t q = 0; q < t; q++) {
        const double squares = hfi_dot(n, w->alpha + q * n, w->alpha + q * n);
        noise[hfi_sites_output_channel(e->sites, output[q])] +=
            0.5 * (squares - w->inner[q * (t + 1)]) * w->noise[q];
    }
    return HF_OK;
}

/* Weights of k(X, X), through the covariances of the reference output; k is spoilt. */
static hf_status wide_gradient(kronecker_arrays *w, double *gradient)
{
    hfi_evaluator *e = w->e;
    hfi_kronecker *k = w->k;
    const size_t n = w->n, t = w->t;
    const double factor = 0.5 / w->reference_var;
    memset(w->p, 0, n * t * sizeof *w->p);
    hfi_tall_add(e->ctx, n, t, t, factor, w->alpha, n, w->b, t, w->p, n);
    memset(k->w, 0, n * n * sizeof *k->w);
    hfi_lower_product(e->ctx, n, t, w->p, n, w->alpha, n, k->w, n);
    for (size_t i = 0; i < n; i++) {
        w->c[i] = 0.0;
        for (size_t q = 0; q < t; q++) w->c[i] += w->l[q] / (1.0 + w->m[i] * w->l[q]);
        for (size_t j = 0; j < n; j++) k->k[j + i * n] = -factor * w->c[i] * k->q[j + i * n];
    }
    hfi_lower_product(e->ctx, n, n, k->k, n, k->q, n, k->w, n);
    memset(gradient, 0, hf_kernel_parameters(e->kernel) * sizeof *gradient);
    return hfi_kernel_gram_adjoint(e->ctx, e->kernel, n, k->x, e->d, k->w, n, gradient);
}

static void mean_gradient(const kronecker_arrays *w, double *gradient)
{
    hfi_evaluator *e = w->e;
    const size_t kernel_count = hf_kernel_parameters(e->kernel);
    double *bar = hfi_evaluator_vector(e, HFI_EV_MEAN_BAR);
    for (size_t i = 0; i < w->n; i++)
        for (size_t q = 0; q < w->t; q++) bar[w->k->samples.reading[i * w->t + q]] = w->alpha[i + q * w->n];
    memset(gradient + kernel_count, 0, hf_mean_coefficients(e->mean) * sizeof *gradient);
    hfi_mean_adjoint(e->mean, e->rows, e->x, e->ldx, bar, gradient + kernel_count);
}

static hf_status evaluate_kronecker(hfi_evaluator *e, double *value, double *gradient)
{
    kronecker_arrays w = begin_kronecker_arrays(e);
    hf_status s = read_outputs(&w);
    if (s >= 0) s = decompose(&w);
    if (s >= 0) s = solve_kronecker_alpha(&w, value);
    if (s < 0 || !gradient) return s;
    const size_t kernel_count = hf_kernel_parameters(e->kernel);
    double *own = hfi_alloc(e->ctx, kernel_count + w.t * e->d, sizeof *own);
    if (!own) return HF_ERR_MEMORY;
    /* First what needs all of k; then k gives its room away, and what it says of the coregion is overwritten. */
    double *coregion = hfi_alloc(e->ctx, w.k->coregion_count, sizeof *coregion);
    s = coregion ? small_gradient(&w, gradient, own) : HF_ERR_MEMORY;
    if (s >= 0) {
        memcpy(coregion, gradient + w.k->coregion, w.k->coregion_count * sizeof *coregion);
        s = wide_gradient(&w, gradient);
        memcpy(gradient + w.k->coregion, coregion, w.k->coregion_count * sizeof *coregion);
    }
    if (s >= 0) mean_gradient(&w, gradient);
    e->jitter = 0.0;
    HFI_FREE(e->ctx, coregion, own);
    return s;
}

/* ---- the kind: exact, but for an evidence that is never factored ------------------------------------------- */

static hf_status kronecker_run(hfi_evaluator *e, hf_objective objective, double *value, double *gradient)
{
    return objective == HF_OBJECTIVE_EVIDENCE && hfi_kronecker_applies(e)
               ? evaluate_kronecker(e, value, gradient)
               : hfi_exact_run(e, objective, value, gradient);
}

const hfi_evaluator_kind hfi_kronecker_kind = {.absence = true,
                                               .select = hfi_exact_select,
                                               .run = kronecker_run,
                                               .holdout = hfi_exact_holdout,
                                               .solve = hfi_exact_posterior,
                                               .outlook = hfi_exact_outlook,
                                               .matrix = &hfi_local_matrix,
                                               .unfactored = true,
                                               .release = hfi_kronecker_free};
