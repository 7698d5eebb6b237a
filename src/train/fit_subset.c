/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hyperparameters from a share of the rows. A dozen numbers are settled by some ten thousand readings as well as by a
 * million; what a million readings are needed for is the posterior. So a large table is trained on a random share
 * of its rows, and the sites of all rows are then found at those hyperparameters, which takes a few passes.
 */
#include "train/fit.h"
#include <math.h>
#include <string.h>

enum {
    TRAINING_ROWS = 16384,
    TRAINING_INDUCING = 256 /* of the share; the posterior has all that were asked for */
};

size_t hfi_fit_training_rows(const hfi_fit *fit)
{
    const hf_fit_settings *settings = fit->settings;
    const bool everything = fit->inducing == 0 || !settings->train || settings->train_inducing ||
                            settings->optimiser == HF_OPTIMISER_ADAM || settings->minibatch > 0 ||
                            settings->sites == HF_SITES_STUDENT_T || settings->sites == HF_SITES_PURSUIT ||
                            fit->n <= TRAINING_ROWS;
    return everything ? fit->n : TRAINING_ROWS;
}

/* A seeded choice of `count` rows, in the order of the table. */
static hf_status choose_rows(const hfi_fit *fit, size_t count, size_t *chosen)
{
    size_t *order = hfi_alloc(fit->ctx, fit->n, sizeof *order);
    bool *taken = hfi_alloc(fit->ctx, fit->n, sizeof *taken);
    const bool ready = order && taken;
    if (ready) {
        hfi_stream stream;
        hfi_stream_init(&stream, hf_context_seed(fit->ctx), HFI_PURPOSE_SPLIT, 1);
        for (size_t i = 0; i < fit->n; i++) order[i] = i;
        hfi_stream_shuffle(&stream, order, fit->n);
        for (size_t k = 0; k < count; k++) taken[order[k]] = true;
        size_t k = 0;
        for (size_t i = 0; i < fit->n; i++)
            if (taken[i]) chosen[k++] = i;
    }
    hfi_free(fit->ctx, order);
    hfi_free(fit->ctx, taken);
    return ready ? HF_OK : HF_ERR_MEMORY;
}

/* The share as a fit of its own, which borrows kernel, mean, scaling and settings. */
static hf_status make_share(const hfi_fit *fit, hfi_fit *share)
{
    *share = (hfi_fit){.ctx = fit->ctx,
                       .data = fit->data,
                       .settings = fit->settings,
                       .n = hfi_fit_training_rows(fit),
                       .d = fit->d,
                       .scaling = fit->scaling,
                       .measured = fit->measured,
                       .solver = HF_SOLVER_INDUCING,
                       .inducing = fit->inducing < TRAINING_INDUCING ? fit->inducing : TRAINING_INDUCING,
                       .kernel = fit->kernel,
                       .mean = fit->mean,
                       .noise = fit->noise,
                       .noise_held = fit->noise_held,
                       .threshold = fit->threshold,
                       .nu = fit->nu,
                       .journal = fit->journal};
    const size_t n = share->n, d = share->d;
    share->row = hfi_alloc(fit->ctx, n, sizeof *share->row);
    share->x = hfi_alloc(fit->ctx, n, d * sizeof *share->x);
    share->y = hfi_alloc(fit->ctx, n, 2 * sizeof *share->y);
    share->comparable = fit->comparable ? hfi_alloc(fit->ctx, n, d * sizeof *share->comparable) : NULL;
    share->verdict.suspected = hfi_alloc(fit->ctx, n, sizeof *share->verdict.suspected);
    share->verdict.group = hfi_alloc(fit->ctx, n, sizeof *share->verdict.group);
    if (!share->row || !share->x || !share->y || (fit->comparable && !share->comparable) ||
        !share->verdict.suspected || !share->verdict.group)
        return HF_ERR_MEMORY;
    share->extra = share->y + n;
    hf_status s = choose_rows(fit, n, share->row);
    for (size_t k = 0; s >= 0 && k < n; k++) {
        const size_t i = share->row[k];
        memcpy(share->x + k * d, fit->x + i * d, d * sizeof *share->x);
        if (fit->comparable) memcpy(share->comparable + k * d, fit->comparable + i * d, d * sizeof(double));
        share->y[k] = fit->y[i];
        share->extra[k] = fit->extra[i];
    }
    if (s >= 0) s = hf_sites_gaussian(fit->ctx, n, share->y, share->noise, share->extra, &share->sites);
    return s;
}

/* Not what was borrowed. */
static void share_free(hfi_fit *share)
{
    hfi_trainer_free(&share->trainer);
    hf_sites_free(share->sites);
    hfi_free(share->ctx, share->row);
    hfi_free(share->ctx, share->x);
    hfi_free(share->ctx, share->y);
    hfi_free(share->ctx, share->comparable);
    hfi_free(share->ctx, share->verdict.suspected);
    hfi_free(share->ctx, share->verdict.group);
}

/* What the share's posterior says about every row of the table. */
static hf_status predict_all(const hfi_fit *fit, hfi_fit *share, hfi_holdout *all)
{
    hfi_inducing *inducing = share->trainer.evaluator.inducing;
    hf_status s =
        hfi_inducing_factor(inducing, fit->kernel, fit->mean, share->sites, share->n, share->x, share->d);
    if (s >= 0) s = hfi_holdout_init(fit->ctx, all, fit->n);
    if (s >= 0)
        s = hfi_inducing_marginals(inducing, fit->kernel, fit->mean, fit->sites, fit->n, fit->x, fit->d,
                                   false, all->mean, all->sd);
    return s;
}

/* What the main fit reports about training comes from the share. */
static void hand_over(hfi_fit *fit, const hfi_fit *share, const double *state)
{
    const hfi_trainer *t = &share->trainer;
    fit->noise = exp(state[t->noise]);
    fit->threshold = isfinite(fit->threshold) ? fit->threshold : share->sites->threshold;
    fit->nu = share->nu;
    fit->shared = (hfi_share_report){.stop = t->stop,
                                     .evaluations = t->evaluations,
                                     .value = t->value,
                                     .log_prior = t->log_prior,
                                     .gradient_norm = t->gradient_norm};
}

hf_status hfi_fit_train_on_subset(hfi_fit *fit, hfi_holdout *all)
{
    hfi_fit share;
    memset(all, 0, sizeof *all);
    hf_status s = make_share(fit, &share);
    double *state = NULL;
    if (s >= 0) s = hfi_fit_evaluator(&share);
    if (s >= 0) s = hfi_fit_trainer(&share);
    if (s >= 0) {
        state = hfi_alloc(fit->ctx, share.trainer.count, sizeof *state);
        s = state ? hfi_fit_train(&share, state) : HF_ERR_MEMORY;
    }
    if (s >= 0) s = hfi_trainer_set(&share.trainer, state);
    if (s >= 0) s = predict_all(fit, &share, all);
    if (s >= 0) {
        hand_over(fit, &share, state);
        s = hf_sites_set_noise(fit->ctx, fit->sites, fit->noise);
    }
    hfi_free(fit->ctx, state);
    share_free(&share);
    return s;
}

void hfi_fit_adopt_shared(hfi_fit *fit)
{
    hfi_trainer *t = &fit->trainer;
    t->stop = fit->shared.stop;
    t->evaluations = fit->shared.evaluations;
    t->value = fit->shared.value;
    t->log_prior = fit->shared.log_prior;
    t->gradient_norm = fit->shared.gradient_norm;
}

hf_status hfi_fit_settle(hfi_fit *fit, const hfi_holdout *start, double *state)
{
    hfi_trainer *t = &fit->trainer;
    hfi_trainer_get(t, state);
    hf_status s = hfi_evaluator_select(&t->evaluator);
    if (s >= 0 && fit->settings->sites == HF_SITES_ROBUST) {
        s = hfi_robust_settle(t, fit->settings, fit->threshold, start->mean, &fit->verdict.rounds);
        for (size_t i = 0; s >= 0 && i < fit->n; i++)
            fit->verdict.suspected[i] = hf_sites_weights(fit->sites)[i] < hfi_suspect_weight;
    }
    hfi_fit_adopt_shared(fit);
    return s;
}
