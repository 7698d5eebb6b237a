/* SPDX-License-Identifier: Apache-2.0 */
/* Objectives of readings as they are: one factorisation, exact gradient, whoever holds the matrix: one process
 * (exact_matrix.c) or several (evaluator_group.c). */
#include "linalg/linalg.h"
#include "objective/evaluator_impl.h"
#include <math.h>
#include <string.h>

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
