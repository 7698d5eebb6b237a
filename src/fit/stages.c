/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large tables are trained in stages: cold on a small share of the rows with few inducing inputs, where the
 * suspect finder and the re-weighting make their hundreds of evaluations; warm on a larger share with all
 * inducing inputs; then, at those hyperparameters, the sites of all rows are found, which takes a few passes.
 * A dozen numbers are settled by some ten thousand readings as well as by a million; what a million readings
 * are needed for is the posterior.
 */
#include "fit/fit.h"
#include "settings/settings.h"
#include <math.h>
#include <string.h>

/* A stage that a table of more rows goes through. */
typedef struct table_stage {
    size_t rows, inducing;
} table_stage;

static const table_stage stages[] = {{4096, 128}, {8192, SIZE_MAX}};

enum {
    STAGES = sizeof stages / sizeof stages[0]
};

bool hfi_fit_has_stages(const hfi_fit *fit)
{
    const hf_fit_settings *settings = fit->settings;
    const bool whole = fit->inducing == 0 || settings->inducing_inputs != NULL || !settings->train ||
                       settings->train_inducing || settings->optimiser == HF_OPTIMISER_ADAM ||
                       hfi_fit_is_stochastic(fit) || !hfi_sites_kind_of(settings->sites)->direct;
    return !whole && fit->n > stages[0].rows;
}

size_t hfi_fit_training_rows(const hfi_fit *fit)
{
    const size_t most = stages[STAGES - 1].rows;
    return hfi_fit_has_stages(fit) && fit->n > most ? most : fit->n;
}

void hfi_fit_cold_stage(const hfi_fit *fit, size_t *rows, size_t *inducing)
{
    const bool first = hfi_fit_has_stages(fit);
    *rows = first ? stages[0].rows : fit->n;
    *inducing = first && stages[0].inducing < fit->inducing ? stages[0].inducing : fit->inducing;
}

/* A seeded choice of `count` rows, in their order. */
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
    HFI_FREE(fit->ctx, order, taken);
    return ready ? HF_OK : HF_ERR_MEMORY;
}

/* The share as a fit of its own, which borrows kernel, mean, scaling and settings. */
static hf_status make_share(const hfi_fit *fit, const table_stage *size, hfi_fit *share)
{
    *share = (hfi_fit){.ctx = fit->ctx,
                       .data = fit->data,
                       .settings = fit->settings,
                       .way = fit->way,
                       .code = fit->code,
                       .n = size->rows,
                       .d = fit->d,
                       .outputs = fit->outputs,
                       .scaling = fit->scaling,
                       .measured = fit->measured,
                       .solver = HF_SOLVER_INDUCING,
                       .inducing = fit->inducing < size->inducing ? fit->inducing : size->inducing,
                       .kernel = fit->kernel,
                       .mean = fit->mean,
                       .noise = fit->noise,
                       .noise_held = fit->noise_held,
                       .noises = fit->noises,
                       .noises_held = fit->noises_held,
                       .readings = fit->readings,
                       .by_rows = fit->by_rows,
                       .place_of = fit->place_of,
                       .threshold = fit->threshold,
                       .nu = fit->nu,
                       .cut = fit->cut,
                       .journal = fit->journal};
    share->verdict.adopted = fit->verdict.adopted;
    share->verdict.evidence = fit->verdict.evidence;
    const size_t n = share->n, d = share->d;
    hf_status s =
        HFI_ALLOC(fit->ctx, HFI_ROOM(share->row, n), HFI_ROOMS(share->x, n, d), HFI_ROOMS(share->y, n, 2),
                  HFI_ROOM(share->verdict.suspected, n), HFI_ROOM(share->verdict.group, n));
    if (s >= 0 && fit->sample) s = HFI_ALLOC(fit->ctx, HFI_ROOM(share->sample, n));
    if (s >= 0 && fit->comparable) s = HFI_ALLOC(fit->ctx, HFI_ROOMS(share->comparable, n, d));
    if (s < 0) return s;
    share->extra = share->y + n;
    s = choose_rows(fit, n, share->row);
    for (size_t k = 0; s >= 0 && k < n; k++) {
        const size_t i = share->row[k];
        memcpy(share->x + k * d, fit->x + i * d, d * sizeof *share->x);
        if (share->comparable) memcpy(share->comparable + k * d, fit->comparable + i * d, d * sizeof(double));
        if (share->sample) share->sample[k] = fit->sample[i];
        share->y[k] = fit->y[i];
        share->extra[k] = fit->extra[i];
    }
    if (s >= 0) s = hf_sites_gaussian(fit->ctx, n, share->y, share->noise, share->extra, &share->sites);
    if (s >= 0) s = hfi_fit_output_sites(share);
    return s < 0 ? s : hfi_fit_amplitude(share, share->sites);
}

/* Not what was borrowed. */
static void share_free(hfi_fit *share)
{
    hfi_trainer_free(&share->trainer);
    hf_sites_free(share->sites);
    HFI_FREE(share->ctx, share->row, share->x, share->y, share->comparable, share->sample);
    hfi_conditional_free(&share->conditional);
    HFI_FREE(share->ctx, share->verdict.suspected, share->verdict.group);
}

/* Predicts every row of the table by the share's posterior, with the sd of a reading and the standardised residual. */
static hf_status predict_all(const hfi_fit *fit, hfi_fit *share, hfi_holdout *all)
{
    hfi_inducing *inducing = share->trainer.evaluator.inducing;
    hf_status s =
        hfi_inducing_factor(inducing, fit->kernel, fit->mean, share->sites, share->n, share->x, share->d);
    if (s >= 0 && !all->mean) s = hfi_holdout_init(fit->ctx, all, fit->n);
    if (s >= 0)
        s = hfi_inducing_marginals(inducing, fit->kernel, fit->mean, fit->sites, fit->n, fit->x, fit->d,
                                   false, all->mean, all->sd);
    for (size_t i = 0; s >= 0 && i < fit->n; i++) {
        const double noise =
            hf_sites_channel_noise(share->sites, hf_sites_channel(fit->sites, i)) + fit->extra[i];
        all->sd[i] = sqrt(fmax(all->sd[i], 0.0) + fmax(noise, 1e-300));
        all->t[i] = (fit->y[i] - all->mean[i]) / all->sd[i];
    }
    return s;
}

/* Hands over to the main fit what it reports about training. */
static void hand_over(hfi_fit *fit, const hfi_fit *share, const double *state)
{
    const hfi_trainer *t = &share->trainer;
    const size_t before = fit->shared.evaluations;
    fit->noise = exp(state[t->noise]);
    for (size_t c = 0; hfi_trainer_noises(t) > 1 && c < fit->outputs; c++)
        fit->noises[c] = exp(state[t->noise + c]);
    fit->verdict.adopted = share->verdict.adopted;
    fit->verdict.evidence = share->verdict.evidence;
    fit->verdict.rounds += share->verdict.rounds;
    fit->by_rows = share->conditional.by_rows;
    fit->shared = (hfi_share_report){.found = t->found, .evaluations = before + t->evaluations};
}

/* The rows of the share among those of the table. */
static hf_status pick(const hfi_fit *share, const hfi_holdout *all, hfi_holdout *own)
{
    const hf_status s = hfi_holdout_init(share->ctx, own, share->n);
    for (size_t k = 0; s >= 0 && k < share->n; k++) {
        own->mean[k] = all->mean[share->row[k]];
        own->sd[k] = all->sd[share->row[k]];
        own->t[k] = all->t[share->row[k]];
    }
    return s;
}

static bool finds_suspects(const hfi_fit *fit)
{
    return hfi_sites_kind_of(fit->settings->sites)->plain && fit->settings->suspects != HF_OUTLIERS_OFF;
}

/* Carries over what the finder thought of the share's rows, as a cut for all others. */
static hf_status carry_cut(hfi_fit *fit, const hfi_fit *share, const hfi_holdout *all)
{
    hfi_holdout own;
    const hf_status picked = pick(share, all, &own);
    hf_status s = picked;
    if (s >= 0 && share->verdict.adopted)
        s = hfi_fit_find_cut(fit->ctx, share->n, own.t, share->verdict.suspected, &fit->cut);
    else if (s >= 0)
        fit->cut = hfi_fit_gross_cut(fit->n, share->n, own.t);
    hfi_holdout_free(fit->ctx, &own);
    return s;
}

/* The first share is trained like any table, later ones go on from what the one before says about their rows. */
static hf_status train_share(hfi_fit *share, const hfi_holdout *all, double *state)
{
    if (!all->mean) return hfi_fit_train(share, state);
    hfi_holdout own;
    const hf_status picked = pick(share, all, &own);
    const hf_status s = picked < 0 ? picked : share->way->refine(share, &own, true, state);
    hfi_holdout_free(share->ctx, &own);
    return s;
}

static hf_status run_stage(hfi_fit *fit, const table_stage *size, hfi_holdout *all)
{
    hfi_fit share;
    double *state = NULL;
    const bool first = !all->mean;
    hf_status s = make_share(fit, size, &share);
    if (s >= 0) s = hfi_fit_evaluator(&share);
    if (s >= 0) s = hfi_fit_trainer(&share);
    if (s >= 0) {
        state = hfi_alloc(fit->ctx, share.trainer.count, sizeof *state);
        s = state ? train_share(&share, all, state) : HF_ERR_MEMORY;
    }
    if (s >= 0) s = hfi_trainer_set(&share.trainer, state);
    if (s >= 0) s = predict_all(fit, &share, all);
    if (s >= 0 && first && finds_suspects(fit)) s = carry_cut(fit, &share, all);
    if (s >= 0) {
        hand_over(fit, &share, state);
        s = hf_sites_channels(fit->sites) > 1 ? hf_sites_set_channel_noise(fit->ctx, fit->sites, fit->noises)
                                              : hf_sites_set_noise(fit->ctx, fit->sites, fit->noise);
    }
    hfi_free(fit->ctx, state);
    share_free(&share);
    return s;
}

hf_status hfi_fit_train_in_stages(hfi_fit *fit, hfi_holdout *all)
{
    hf_status s = HF_OK;
    for (size_t k = 0; s >= 0 && k < STAGES && stages[k].rows < fit->n; k++)
        s = run_stage(fit, &stages[k], all);
    fit->warm = s >= 0 && fit->n <= stages[STAGES - 1].rows;
    return s;
}
