/* SPDX-License-Identifier: Apache-2.0 */
/* The search for hyperparameters by an approximate evidence, from one start and others around it. */
#include "inference/latent_fit.h"
#include <string.h>

static hf_status latent_place(void *self, const double *state)
{
    const hfi_latent_search *how = self;
    return hfi_trainer_set(how->trainer, state);
}

static hf_status latent_evaluate(void *self, const double *state, double *value, double *gradient)
{
    (void)state;
    const hfi_latent_search *how = self;
    if (gradient) memset(gradient, 0, how->trainer->count * sizeof *gradient);
    return hfi_judge_overflow(NULL, how->evaluate(how->arg, value, gradient));
}

static double latent_log_prior(void *self, const double *state, double *gradient)
{
    const hfi_latent_search *how = self;
    return hfi_trainer_add_prior(how->trainer, state, gradient);
}

static void accepted(void *self, double value)
{
    (void)value;
    const hfi_latent_search *how = self;
    memcpy(how->kept, how->ended, how->count * sizeof *how->kept);
    *how->started = true;
}

static size_t beside(const void *self)
{
    const hfi_latent_search *how = self;
    return how->count;
}

static void latent_tell(const void *self, double *numbers)
{
    const hfi_latent_search *how = self;
    memcpy(numbers, how->ended, how->count * sizeof *numbers);
}

static void latent_take(void *self, const double *numbers)
{
    const hfi_latent_search *how = self;
    memcpy(how->ended, numbers, how->count * sizeof *numbers);
}

static const hfi_objective_kind of_latent = {
    .place = latent_place,
    .evaluate = latent_evaluate,
    .log_prior = latent_log_prior,
    .accepted = accepted,
    .beside = beside,
    .tell = latent_tell,
    .take = latent_take,
    .nowhere = "no normal approximation of the posterior was found at any hyperparameters tried"};

static hf_status climb_latent(void *arg, double *state)
{
    const hfi_latent_search *how = arg;
    hfi_trainer *t = how->trainer;
    const hfi_objective objective = {
        .kind = &of_latent, .self = arg, .count = t->count, .journal = t->journal};
    return hfi_trainer_search(t, hfi_by_lbfgs, &objective, NULL, t->enough, how->iterations, state);
}

static hf_status climb_from_all(hfi_latent_search *how, double *state)
{
    hfi_trainer *t = how->trainer;
    double *start = hfi_alloc(t->evaluator.ctx, t->count, sizeof *start);
    if (!start) return HF_ERR_MEMORY;
    memcpy(start, state, t->count * sizeof *start);
    hf_status s = climb_latent(how, state);
    if (s >= 0) s = hfi_trainer_restart(t, start, how->restarts, climb_latent, how, state);
    hfi_free(t->evaluator.ctx, start);
    return s;
}

hf_status hfi_latent_train(hfi_latent_search *how, double *state)
{
    hfi_trainer *t = how->trainer;
    hf_status s = HF_OK;
    t->found.stop = HF_STOP_NOT_TRAINED;
    t->found.gradient_norm = 0.0;
    t->found.log_prior = hfi_trainer_log_prior(t, state);
    if (t->free_count > 0) s = climb_from_all(how, state);
    if (s >= 0) s = hfi_trainer_set(t, state);
    t->evaluations++;
    return s < 0 ? s : how->evaluate(how->arg, &t->found.value, NULL);
}
