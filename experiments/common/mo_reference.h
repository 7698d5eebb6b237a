/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo_reference.h
 * @brief The published MO-RCGP program's numbers at given hyperparameters, by this library.
 *
 * The program (public repository robust_conjugate_MOGP) adds 1e-6 to the diagonal of K and to the
 * variances it predicts, and 1e-3 to that of C_{-t,-t}; it takes the lower order statistic for a
 * quantile. Here the first is a second term of the kernel, white(1e-6): it enters K and k(x, x) but
 * neither the cross-covariances nor the noise that is weighted, so that leave-one-out variances 1 /
 * G_ii - d_i and predictions hold it, as theirs do. The second is hf_outputs_model.ridge.
 */
#ifndef EXPERIMENTS_MO_REFERENCE_H
#define EXPERIMENTS_MO_REFERENCE_H

#include <holdfast/holdfast.h>

enum {
    MO_REFERENCE_OUTPUTS = 3,
    MO_REFERENCE_QUERIES = 45,
    MO_REFERENCE_OBJECTIVES = 5
};

/** Names of the objectives, in their order: with the weights before the first fit the weighted
 * leave-one-out density with the powers 0, 1 and 2 of w / beta; log evidence of the plain model;
 * the second power with weights centred on the prior mean. */
extern const char *const mo_reference_objectives[MO_REFERENCE_OBJECTIVES];

/** Everything, for n samples of three outputs. Arrays have rows of three. */
typedef struct mo_reference {
    size_t n;
    double *x, *y; /**< n; n x 3, NaN = missing */
    double *centre, *weight,
        /** n x 3: gamma, w / beta, noise times d log w^2 / dy; NaN where there is no reading */
        *shift;
    double *first_centre, *first_weight; /**< the same with zero noise, as before the first fit */
    double threshold[3], first_threshold[3];
    /** Latent means and variances at -5.5, -5.25, ..., 5.5: with these weights, plain, and with
     * weights centred on the prior mean. */
    double mean[3][MO_REFERENCE_QUERIES * 3], var[3][MO_REFERENCE_QUERIES * 3];
    double objective[MO_REFERENCE_OBJECTIVES];
} mo_reference;

/** Room for n samples; ends the program when memory is out. */
mo_reference mo_reference_create(size_t n);
void mo_reference_free(mo_reference *r);
/** Fills in everything from x and y. */
hf_status mo_reference_compute(hf_context *ctx, mo_reference *r);

#endif
