/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file svgp.h
 * @brief Stochastic variational inference with inducing inputs: tables that do not fit in memory,
 * and noise that is not conjugate.
 *
 * With Kuu = K_ZZ (+ jitter) = Lu Lu', u = m(Z) + Lu v and q(v) = N(mu, S), S^-1 = P = Lp Lp', the
 * marginal of f at a row is, with a = Lu^-1 k(Z, x),
 *
 *     mean = m(x) + a'mu        variance = k(x, x) - a'a + a'S a
 *
 * and the bound is the sum over readings of E[log p(y | f)] - KL(q(v) || N(0, I)). In it E[log p]
 * is
 *
 *     Gaussian   log N(y; mean, s) - variance / (2 s)                        s = noise + extra + white
 *     robust     log N(z; mean, d) - variance / (2 d)                        (z, d) the site of a
 *     robust conjugate reading
 *     Student-t  the integral of log t_nu(y - f; s) over f ~ N(mean, variance), by
 *     hfi_student_expect()
 *
 * A step looks at b rows, standing for all. For q it is a natural gradient of size rho,
 *
 *     P := (1 - rho) P + rho (I - 2 sum_j h_j a_j a_j')        h_j = dE_j/dvariance
 *     P mu := (1 - rho) P mu + rho sum_j (g_j - 2 h_j a_j'mu) a_j       g_j = dE_j/dmean
 *
 * (Hensman, Fusi, Lawrence 2013; Salimbeni, Eleftheriadis, Hensman 2018); with rho = 1 and all rows
 * it is the optimum for conjugate noise in one step. Kernel, mean, noise, degrees of freedom and
 * inducing inputs follow Adam (Kingma, Ba 2015).
 */
#ifndef HFI_SVGP_H
#define HFI_SVGP_H

#include "search/trainer.h"

/* ---- rows (svgp_rows.c) ---------------------------------------------------------------------- */

/** Where rows come from, in the units of the fit. */
typedef struct hfi_row_source {
    size_t n, d;
    /** Rows begin .. begin + count - 1: x is count x d row-major, y NaN where there is no reading,
     * extra the known variances (0 where none). Called from one thread at a time. */
    hf_status (*read)(void *arg, size_t begin, size_t count, double *x, double *y, double *extra);
    void *arg;
} hfi_row_source;

/** Rows that lie in memory: x n x d with stride ldx, extra may be NULL. */
typedef struct hfi_row_arrays {
    size_t n, d;
    const double *x;
    size_t ldx;
    const double *y, *extra;
} hfi_row_arrays;

/** The source for them; `arrays` must outlive it. */
hfi_row_source hfi_row_source_in_memory(hfi_row_arrays *arrays);

/** About `wanted` rows (all where there are no more; else the largest multiple of 16 up to it) in a
 * seeded choice of handfuls of neighbours, in the order of the source; `index` numbers independent
 * choices. x, y and extra have room for `wanted` rows. */
hf_status hfi_row_source_sample(hf_context *ctx, const hfi_row_source *rows, size_t wanted,
                                uint64_t index, double *x, double *y, double *extra, size_t *count);

/* ---- the fit --------------------------------------------------------------------------------- */

/** How a fit by minibatches went. */
typedef struct hfi_svgp_report {
    size_t readings;      /* rows with a reading */
    size_t epochs, steps; /* passes over the rows; steps of Adam */
    /* Its value is the bound of all readings at the result (for robust noise: of their sites). */
    hfi_optimum found;
    double threshold; /* soft threshold c of robust noise, scaled units; infinity else */
    /* share of readings with a robust weight below 1/4, or beyond 3 scales of Student-t noise */
    double down_weighted;
    /* variance for new readings: the noise; hf_robust_consistent_noise() of it for robust noise
     * where the settings want that; hfi_student_normal_variance() for Student-t */
    double observed_noise;
    double jitter; /* on the diagonal of Kuu */
} hfi_svgp_report;

/**
 * Trains and solves.
 *
 * With settings->optimiser L-BFGS training starts from the exact bound of a share of the rows and
 * has little left to do; with Adam it starts where it is told and is stochastic from the first step
 * to the last, as in the publications.
 *
 * Gaussian and robust fits end with the closed form of q(u) for the final hyperparameters, from one
 * pass over all rows (robust: as many as the weights take to stand still); Student-t fits with
 * natural gradients on all rows until those stand still.
 *
 * @param space      what is trained: count, noise, free_index, lower, upper, prior_mean, prior_sd
 *                   are used, the evaluator is not.
 *                   States are as everywhere: kernel, mean, log noise, then m x d coordinates of
 *                   inducing inputs if those are trained
 * @param kernel, mean, noise  in: where training starts; out: where it ended
 * @param nu         degrees of freedom, written for Student-t noise: settings->student_nu where
 *                   positive, else trained from 4 in
 *                   [2, 50] with log(nu - 1) ~ N(log 3, 1) as hfi_student_fit() does; else infinity
 * @param settings   sites (Gaussian, robust, Student-t), minibatch (0: all rows a step), iterations
 *                   (epochs at most),
 *                   learning_rate, train, threshold_rule (a given threshold is `threshold`, else 3
 *                   x 1.4826 MAD), consistent_noise
 * @param threshold  given soft threshold in scaled units; looked at for HF_THRESHOLD_GIVEN only
 * @param m, z       m distinct inducing inputs, m x d; written back, since they are trained
 *           (train_inducing) or placed anew for what
 *                   has been learnt
 * @param out        dense form, anchors Z
 * @param report     may be NULL
 * On an error kernel, mean, noise, nu and z may have been moved, out is zeroed. HF_ERR_NO_DATA
 * without a reading, HF_ERR_ARGUMENT for sites it has no likelihood for, HF_ERR_NOT_FINITE,
 * HF_ERR_NOT_POSITIVE_DEFINITE, HF_ERR_MEMORY, HF_ERR_CANCELLED, and what reading rows returns.
 * Warnings: HF_WARN_JITTER, HF_WARN_NOT_CONVERGED. An epoch costs n (3 m^2 + m d) multiplications
 * and n / b factorisations of m x m; memory is O(m^2 + b m) and 64 MB of rows. The result does not
 * depend on the number of threads.
 */
hf_status hfi_svgp_fit(hf_context *ctx, const hfi_row_source *rows, const hfi_trainer *space,
                       hf_kernel *kernel, hf_mean *mean, double *noise, double *nu,
                       const hf_fit_settings *settings, double threshold, size_t m, double *z,
                       hfi_solution *out, hfi_svgp_report *report);

#endif
