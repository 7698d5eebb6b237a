/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ways in which fits go, by kind of sites. */
#include "fit/fit.h"
#include "sites/likelihood.h"

/* ---- evaluations of a typical fit: measured on the seven regression sets of docs/, rounded -------------- */

static double one_training(const hf_fit_settings *settings)
{
    return (1.0 + (double)settings->restarts) * (double)settings->iterations;
}

static double plain_evaluations(const hf_fit_settings *settings)
{
    if (!settings->train) return 1.0;
    return settings->suspects == HF_OUTLIERS_OFF ? one_training(settings) : one_training(settings) + 250.0;
}

static double robust_evaluations(const hf_fit_settings *settings)
{
    const double rounds = (double)settings->rounds;
    return settings->train ? one_training(settings) + 15.0 * rounds : rounds;
}

static double iterated_evaluations(const hf_fit_settings *settings)
{
    return settings->train ? 3.0 * one_training(settings) : 1.0;
}

/* ---- the table ------------------------------------------------------------------------------------------ */

#define NOISE(id, symbol, name, help)                                                                        \
    [HF_LIKELIHOOD_##id] = {hfi_fit_train_noise, hfi_fit_refine_noise, iterated_evaluations},
#define RATE(id, symbol, name, help)                                                                         \
    [HF_LIKELIHOOD_##id] = {hfi_fit_train_likelihood, hfi_fit_refine_plain, iterated_evaluations},
/* Refused before: the classify room fits them. */
#define LABEL(id, symbol, name, help)                                                                        \
    [HF_LIKELIHOOD_##id] = {hfi_fit_train_plain, hfi_fit_refine_plain, iterated_evaluations},

static const hfi_fit_way ways[] = {
    [HF_LIKELIHOOD_GAUSSIAN] = {hfi_fit_train_plain, hfi_fit_refine_plain, plain_evaluations},
    [HF_LIKELIHOOD_ROBUST] = {hfi_fit_train_robust, hfi_fit_refine_robust, robust_evaluations},
    [HF_LIKELIHOOD_PURSUIT] = {hfi_fit_train_pursuit, hfi_fit_refine_plain, iterated_evaluations},
    LABEL(SOFTMAX, softmax, "softmax", "") HF_NOISE_LIKELIHOODS(NOISE) HF_LABEL_LIKELIHOODS(LABEL)
        HF_RATE_LIKELIHOODS(RATE)};

enum {
    WAYS = sizeof ways / sizeof ways[0]
};

const hfi_fit_way *hfi_fit_way_of(hf_likelihood sites)
{
    return &ways[(size_t)sites < WAYS ? sites : HF_LIKELIHOOD_GAUSSIAN];
}
