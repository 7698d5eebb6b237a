/* SPDX-License-Identifier: Apache-2.0 */
/* Objectives of readings as they are: one factorisation, exact gradient; the matrices are held by one process
 * here, by several in evaluator_group.c. */
#include "linalg/linalg.h"
#include "objective/evaluator_impl.h"
#include <math.h>
#include <string.h>

/* ---- one process's matrix ---------------------------------------------------------------------------------- */

/* Lower triangle of K + D of the present readings. */
static hf_status fill(void *arg, double *a, size_t lda)
{
    hfi_evaluator *e = arg;
    const hf_status s = hfi_kernel_gram_lower(e->ctx, e->kernel, e->n, e->inputs, e->d, a, lda);
    if (s < 0) return s;
    const double *variance = hfi_evaluator_vector(e, HFI_EV_VARIANCE);
    for (size_t i = 0; i < e->n; i++) a[i + i * lda] += variance[i];
    return s;
}

hf_status hfi_evaluator_factor(hfi_evaluator *e)
{
    double *r = hfi_evaluator_vector(e, HFI_EV_RESIDUAL), *alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA);
    hfi_evaluator_residuals(e);
    if (e->kept) e->kept->whole = false;
    const hf_status s = hfi_chol_jitter(e->ctx, e->n, e->a, e->n, hfi_kernel_typical_variance(e->kernel),
                                        fill, e, &e->jitter);
    if (s < 0) return s;
    memcpy(alpha, r, e->n * sizeof *alpha);
    hfi_chol_solve(e->n, e->a, e->n, alpha);
    return s;
}

typedef struct outer_job {
    hfi_evaluator *e;
    bool leave_one_out;
} outer_job;

enum {
    COLUMNS = 32
}; /* of the weight matrix in one task */

/* Some columns of the weight matrix W with d objective = sum_ij W_ij d(K + D)_ij, lower triangle, in place of G
 * (evidence) or of G diag(g_bar) G (leave-one-out). */
static void weight_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const outer_job *job = arg;
    const hfi_evaluator *e = job->e;
    const double *alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA), *p = hfi_evaluator_vector(e, HFI_EV_PRODUCT);
    const size_t first = task * COLUMNS, end = first + COLUMNS < e->n ? first + COLUMNS : e->n;
    for (size_t j = first; j < end; j++) {
        double *w = (job->leave_one_out ? e->c : e->a) + j * e->n;
        if (job->leave_one_out)
            for (size_t i = j; i < e->n; i++) w[i] = -0.5 * (p[i] * alpha[j] + alpha[i] * p[j]) - w[i];
        else
            for (size_t i = j; i < e->n; i++) w[i] = 0.5 * (alpha[i] * alpha[j] - w[i]);
    }
}

static hf_status factor(hfi_evaluator *e, double *log_det)
{
    const hf_status s = hfi_evaluator_factor(e);
    if (s >= 0) *log_det = hfi_chol_logdet(e->n, e->a, e->n);
    return s;
}

/* From the factor in `a` to the inverse. */
static hf_status invert(hfi_evaluator *e)
{
    if (!e->kept) {
        hfi_chol_inverse(e->ctx, e->n, e->a, e->n);
        return HF_OK;
    }
    hfi_kept_take_factor(e);
    hfi_chol_inverse_diagonal(e->ctx, e->n, e->a, e->n, e->a, e->kept->diagonal);
    hfi_triangle_square(e->ctx, e->n, e->a, e->n);
    e->kept->valid = true;
    return HF_OK;
}

static hf_status diagonal(hfi_evaluator *e, const double **g, size_t *step)
{
    *g = e->a;
    *step = e->n + 1;
    return HF_OK;
}

static hf_status multiply(const hfi_evaluator *e, bool inverse, const double *v, double *out)
{
    (void)inverse;
    hfi_symv(e->n, e->a, e->n, v, out);
    return HF_OK;
}

static hf_status square(hfi_evaluator *e)
{
    hfi_symmetrise(e->ctx, e->n, e->a, e->n);
    hfi_weighted_square(e->ctx, e->n, e->a, e->n, hfi_evaluator_vector(e, HFI_EV_G_BAR), e->c, e->n, e->b);
    return HF_OK;
}

static hf_status collect(hfi_evaluator *e, bool leave_one_out, double *gradient)
{
    outer_job job = {e, leave_one_out};
    const double *w = leave_one_out ? e->c : e->a;
    hfi_parallel_for(e->ctx, (e->n + COLUMNS - 1) / COLUMNS, weight_columns, &job);
    memset(gradient, 0, hf_kernel_parameters(e->kernel) * sizeof *gradient);
    const hf_status s = hfi_kernel_gram_adjoint(e->ctx, e->kernel, e->n, e->inputs, e->d, w, e->n, gradient);
    if (s >= 0) hfi_evaluator_collect(e, w, e->n + 1, leave_one_out, gradient);
    return s;
}

const hfi_exact_matrix hfi_local_matrix = {.factor = factor,
                                           .invert = invert,
                                           .diagonal = diagonal,
                                           .multiply = multiply,
                                           .square = square,
                                           .collect = collect};

/* ---- objectives, whoever holds the matrix ------------------------------------------------------------------ */

void hfi_evaluator_residuals(hfi_evaluator *e)
{
    double *r = hfi_evaluator_vector(e, HFI_EV_RESIDUAL),
           *variance = hfi_evaluator_vector(e, HFI_EV_VARIANCE);
    const double *z = hf_sites_targets(e->sites), *d = hf_sites_variances(e->sites);
    hf_mean_evaluate(e->mean, e->n, e->inputs, e->d, r);
    for (size_t i = 0; i < e->n; i++) {
        r[i] = z[e->row[i]] - r[i];
        variance[i] = d[e->row[i]];
    }
}

void hfi_evaluator_collect(hfi_evaluator *e, const double *w, size_t step, bool leave_one_out,
                           double *gradient)
{
    const size_t kernel_count = hf_kernel_parameters(e->kernel), mean_count = hf_mean_coefficients(e->mean);
    double *noise = gradient + kernel_count + mean_count;
    const double *v_bar = leave_one_out ? hfi_evaluator_vector(e, HFI_EV_V_BAR) : NULL;
    memset(gradient + kernel_count, 0, (mean_count + hf_sites_channels(e->sites)) * sizeof *gradient);
    hfi_mean_adjoint(e->mean, e->n, e->inputs, e->d, hfi_evaluator_vector(e, HFI_EV_MEAN_BAR),
                     gradient + kernel_count);
    const double *z_bar = hfi_evaluator_vector(e, HFI_EV_Z_BAR);
    for (size_t i = 0; i < e->n; i++) {
        const size_t row = e->row[i];
        const double slope = hfi_sites_variance_slope(e->sites, row);
        double bar = w[i * step] * slope + z_bar[i] * e->sites->shift[row];
        if (v_bar) bar += v_bar[i] * (1.0 - slope);
        noise[hfi_sites_channel(e->sites, row)] += bar;
    }
    for (size_t c = 0; c < hf_sites_channels(e->sites); c++) noise[c] *= hf_sites_channel_noise(e->sites, c);
}

static hf_status evidence(hfi_evaluator *e, double *value, double *gradient)
{
    const hfi_exact_matrix *matrix = e->kind->matrix;
    double log_det = 0.0;
    hf_status solved;
    if (hfi_kept_answers(e, &solved, value, gradient)) return solved;
    solved = matrix->factor(e, &log_det);
    if (solved < 0) return solved;
    const double *alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA);
    const double result = -0.5 * hfi_dot(e->n, hfi_evaluator_vector(e, HFI_EV_RESIDUAL), alpha) -
                          0.5 * log_det - (double)e->n * HFI_HALF_LOG_2PI;
    if (gradient) {
        hf_status s = matrix->invert(e);
        for (size_t i = 0; i < e->n; i++) {
            hfi_evaluator_vector(e, HFI_EV_MEAN_BAR)[i] = alpha[i];
            hfi_evaluator_vector(e, HFI_EV_Z_BAR)[i] = -alpha[i];
        }
        if (s >= 0) s = matrix->collect(e, false, gradient);
        if (s < 0) return s;
        if (e->kept) hfi_kept_take_answer(e, solved, result, gradient);
    }
    *value = result;
    return solved;
}

/* The sum over readings and, per reading, its derivatives in alpha_i, G_ii, z_i (direct) and v_i; G_ii = g[i
 * * step]. */
static double sum_left_out(hfi_evaluator *e, bool weighted, const double *g, size_t step)
{
    const double *alpha = hfi_evaluator_vector(e, HFI_EV_ALPHA),
                 *d = hfi_evaluator_vector(e, HFI_EV_VARIANCE);
    double *a_bar = hfi_evaluator_vector(e, HFI_EV_A_BAR), *g_bar = hfi_evaluator_vector(e, HFI_EV_G_BAR),
           *z_bar = hfi_evaluator_vector(e, HFI_EV_Z_BAR);
    double *v_bar = hfi_evaluator_vector(e, HFI_EV_V_BAR);
    double sum = 0.0;
    for (size_t i = 0; i < e->n; i++) {
        const size_t row = e->row[i];
        const double own = g[i * step];
        const double s = hfi_sites_noise(e->sites, row);
        const double omega = weighted ? e->sites->weight[row] : 1.0;
        /* Exactly 1/own >= d; rounding may not know it, and the floor keeps the density finite. */
        const double v = fmax(1.0 / own - d[i], 0.0) + fmax(s, 1e-300);
        const double error = e->sites->y[row] - e->sites->target[row] + alpha[i] / own;
        sum -= omega * (HFI_HALF_LOG_2PI + 0.5 * log(v) + 0.5 * error * error / v);
        const double error_bar = -omega * error / v;
        v_bar[i] = omega * 0.5 * (error * error / v - 1.0) / v;
        a_bar[i] = error_bar / own;
        g_bar[i] = -error_bar * alpha[i] / (own * own) - v_bar[i] / (own * own);
        z_bar[i] = -error_bar;
    }
    return sum;
}

static hf_status leave_one_out_gradient(hfi_evaluator *e, double *gradient)
{
    const hfi_exact_matrix *matrix = e->kind->matrix;
    double *product = hfi_evaluator_vector(e, HFI_EV_PRODUCT);
    hf_status s = matrix->multiply(e, true, hfi_evaluator_vector(e, HFI_EV_A_BAR), product);
    if (s < 0) return s;
    for (size_t i = 0; i < e->n; i++) {
        hfi_evaluator_vector(e, HFI_EV_MEAN_BAR)[i] = -product[i];
        hfi_evaluator_vector(e, HFI_EV_Z_BAR)[i] += product[i];
    }
    s = matrix->square(e);
    return s < 0 ? s : matrix->collect(e, true, gradient);
}

static hf_status leave_one_out(hfi_evaluator *e, bool weighted, double *value, double *gradient)
{
    const hfi_exact_matrix *matrix = e->kind->matrix;
    const double *g = NULL;
    size_t step = 0;
    double log_det = 0.0;
    const hf_status solved = matrix->factor(e, &log_det);
    hf_status s = solved < 0 ? solved : matrix->invert(e);
    if (s >= 0) s = matrix->diagonal(e, &g, &step);
    if (s < 0) return s;
    const double result = sum_left_out(e, weighted, g, step);
    if (gradient) s = leave_one_out_gradient(e, gradient);
    if (s < 0) return s;
    *value = result;
    return solved;
}

hf_status hfi_exact_run(hfi_evaluator *e, hf_objective objective, double *value, double *gradient)
{
    return objective == HF_OBJECTIVE_EVIDENCE
               ? evidence(e, value, gradient)
               : leave_one_out(e, objective == HF_OBJECTIVE_WLOO, value, gradient);
}

/* ---- the kind ---------------------------------------------------------------------------------------------- */

hf_status hfi_exact_select(hfi_evaluator *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->rows; i++) {
        if (!hf_sites_is_present(e->sites, i)) continue;
        e->row[n] = i;
        memcpy(e->inputs + n * e->d, e->x + i * e->ldx, e->d * sizeof *e->inputs);
        n++;
    }
    e->n = n;
    return HF_OK;
}

hf_status hfi_exact_posterior(hfi_evaluator *e, hfi_solution *out, double *log_evidence)
{
    const hf_status s = hfi_exact_solve(e->ctx, e->kernel, e->mean, e->sites, e->d, e->x, e->ldx, out);
    if (s >= 0) *log_evidence = hfi_solution_log_evidence(out);
    return s;
}

const hfi_evaluator_kind hfi_exact_evaluator = {.absence = true,
                                                .select = hfi_exact_select,
                                                .run = hfi_exact_run,
                                                .holdout = hfi_exact_holdout,
                                                .solve = hfi_exact_posterior,
                                                .outlook = hfi_exact_outlook,
                                                .keep = hfi_kept_begin,
                                                .matrix = &hfi_local_matrix};
