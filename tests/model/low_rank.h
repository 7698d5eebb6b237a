/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file low_rank.h
 * @brief Models whose posterior has low rank, made by hand from exact ones: projections on actions
 * that are as good as any.
 */
#ifndef TESTS_MODEL_LOW_RANK_H
#define TESTS_MODEL_LOW_RANK_H

#include "model/model_testing.h"

#include "linalg/linalg.h"
#include "model/model.h"

/* L of A'(K + D)A for block actions: reading l is in block l % rank with the entry 1 + l / n. */
static inline void low_rank_factor(const hf_posterior *posterior, hfi_solution *out)
{
    const hfi_solution *exact = &posterior->solution;
    size_t n = exact->n, rank = out->rank;
    double *factor =
        out->form == HFI_FORM_BLOCKS ? out->factor : calloc(rank * rank, sizeof *factor);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double k = hfi_kernel_value(posterior->kernel, exact->z + i * exact->d,
                                        exact->z + j * exact->d, i == j) +
                       (i == j ? exact->variance[i] : 0.0);
            double entries = (1.0 + (double)i / (double)n) * (1.0 + (double)j / (double)n);
            if (i % rank >= j % rank) factor[i % rank + j % rank * rank] += k * entries;
        }
    assert_int_equal(hfi_chol(NULL, rank, factor, rank), HF_OK);
    for (size_t l = 0; l < n; l++) {
        double entry = 1.0 + (double)l / (double)n;
        if (out->form == HFI_FORM_BLOCKS) {
            out->block[l] = l % rank;
            out->entry[l] = entry;
            continue;
        }
        double *row = calloc(rank, sizeof *row);
        row[l % rank] = entry;
        hfi_chol_forward(rank, factor, rank, row);
        for (size_t c = 0; c < rank; c++) out->r[l + c * n] = row[c];
        free(row);
    }
    if (out->form != HFI_FORM_BLOCKS) free(factor);
}

/* Replaces the exact solution of a model by a projection, or by what passes for an inducing one. */
static inline void low_rank_replace(hf_context *ctx, hf_model *model, hf_solver solver,
                                    hfi_factor_form form, size_t rank)
{
    hf_posterior *posterior = model->posterior;
    hfi_solution made, *exact = &posterior->solution;
    bool readings = solver == HF_SOLVER_PROJECTED;
    size_t n = exact->n;
    assert_int_equal(hfi_solution_alloc_low_rank(ctx, form, n, exact->d, rank, readings, &made),
                     HF_OK);
    made.solver = solver;
    made.jitter = 0.001953125;
    made.condition = NAN;
    memcpy(made.z, exact->z, n * exact->d * sizeof *made.z);
    if (readings) {
        memcpy(made.residual, exact->residual, n * sizeof *made.residual);
        memcpy(made.variance, exact->variance, n * sizeof *made.variance);
    }
    low_rank_factor(posterior, &made);
    double *gathered = calloc(n, sizeof *gathered), *room = calloc(rank, sizeof *room);
    size_t ld;
    memcpy(gathered, exact->residual, n * sizeof *gathered);
    hfi_solution_whiten(&made, 1, gathered, n, room, &ld);
    hfi_solution_spread(&made, room, made.t);
    free(gathered);
    free(room);
    hfi_solution_free(exact);
    *exact = made;
    model->report.solver = model->settings.solver = solver;
    model->report.actions = readings ? rank : 0;
    model->report.inducing = readings ? 0 : n;
    model->report.passes = 3;
    model->report.residual = 0.25;
    model->report.nu = INFINITY;
    for (size_t i = 0; i < model->n; i++) {
        model->reading[i].loo_mean = isnan(model->y[i]) ? NAN : model->y[i] + 0.5;
        model->reading[i].loo_var = isnan(model->y[i]) ? NAN : 0.01 * (double)(i + 1);
    }
}

#endif
