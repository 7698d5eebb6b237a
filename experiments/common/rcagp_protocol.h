/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp_protocol.h
 * @brief Data and models as the tables of "Robust and Computation-Aware Gaussian Processes" (2025)
 * were made. Beside them stands what this library does when it is asked for nothing.
 *
 * **Data.** Inputs are standardised with the mean and sd of all rows, targets with those of all
 * clean targets; 80 % of the rows train, 20 % test. Exactly 10 % of the training rows are damaged,
 * s being the sd of all clean targets and u uniform on (0, 1), drawn afresh for each number:
 *
 *     asymmetric  y + U(3 s, 9 s)                     (the paper's text subtracts, its program
 *     adds)
 *     uniform     y + U(3 s, 9 s) for the first half of them, y - U(3 s, 9 s) for the other
 *     focused     inputs to the medians + 0.1 u MAD; y - 3 median(y) - 0.1 u MAD(y), medians of the
 *     training rows
 *                 (the paper's text: three sd below the median; where the median is small the
 *                 damage is small too)
 *
 * One thing that the program does is left out: its uniform damage permutes the training targets
 * first, which leaves nothing to be learnt.
 */
#ifndef EXPERIMENTS_RCAGP_PROTOCOL_H
#define EXPERIMENTS_RCAGP_PROTOCOL_H

#include "common/fits.h"

/** One split. Its scores are in units of the sd of the clean targets. false: reason on standard
 * error. */
bool rcagp_problem(hf_context *ctx, const char *data, const char *set, const char *kind, long split,
                   long offset, problem *out);

/** Models by their names in the paper (SVGP, CaGP, RCSVGP, RCaGP, Student-t, RRP), with its
 * settings: isotropic kernel ("matern32" or "se"). Trained by 50 steps of Adam at 0.01 are all
 * hyperparameters, inducing inputs (100, from the first training rows) and entries of the 5 block
 * actions; lengthscale, outputscale and noise start at log 2; weights centred on the constant mean,
 * beta = 1, c = (1 - eps) quantile. And ours, which take no settings: the presets of the library by
 * their names, and "forced", the default that sets aside whatever it suspects; "default-se", with
 * "-se" after any of these names, has the kernel "se(ard)" instead of the preset's.
 *
 * That is what the paper's program does, with which the sizes of its Table S4 agree. Its section 7
 * says otherwise: Matern-5/2 for "matern32", 25 actions, 25 inducing inputs; and its Table S4 gives
 * SVGP the prior mean 0. The rest is the same. */
typedef enum rcagp_source {
    RCAGP_PROGRAM,
    RCAGP_TEXT
} rcagp_source;
bool rcagp_model_known(const char *model);
bool rcagp_model_is_ours(const char *model);
hf_status rcagp_settings(hf_context *ctx, const char *model, rcagp_source source,
                         const char *kernel, double eps, hf_fit_settings *out);
/** The kernel's name under this source: "matern52" for the text's Matern. */
const char *rcagp_kernel(rcagp_source source, const char *kernel);

#endif
