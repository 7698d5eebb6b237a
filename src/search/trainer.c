/* SPDX-License-Identifier: Apache-2.0 */
/* A state, its prior, and the maximisation of objective + prior over a box. */
#include "search/trainer.h"
#include "checkpoint/journal.h"
#include <math.h>
#include <string.h>

void hfi_trainer_free(hfi_trainer *t)
{
    hf_context *ctx = t->evaluator.ctx;
    HFI_FREE(ctx, t->free_index, t->lower, t->upper, t->prior_mean, t->prior_sd, t->start, t->work);
    hfi_evaluator_free(&t->evaluator);
    memset(t, 0, sizeof *t);
}

/* From logarithms of the noise variances. */
static hf_status set_noises(hfi_trainer *t, const double *logs)
{
    hfi_evaluator *e = &t->evaluator;
    if (hfi_trainer_noises(t) == 1) return hf_sites_set_noise(e->ctx, e->sites, exp(logs[0]));
    double *noise = hfi_alloc(e->ctx, hfi_trainer_noises(t), sizeof *noise);
    if (!noise) return HF_ERR_MEMORY;
    for (size_t c = 0; c < hfi_trainer_noises(t); c++) noise[c] = exp(logs[c]);
    const hf_status s = hf_sites_set_channel_noise(e->ctx, e->sites, noise);
    hfi_free(e->ctx, noise);
    return s;
}

hf_status hfi_trainer_set(hfi_trainer *t, const double *state)
{
    hfi_evaluator *e = &t->evaluator;
    const size_t kernel_count = hf_kernel_parameters(e->kernel);
    hfi_kernel_set_theta(e->kernel, state);
    hf_status s = hf_mean_set(e->ctx, e->mean, state + kernel_count, hf_mean_held(e->mean));
    if (s >= 0) s = set_noises(t, state + t->noise);
    hfi_evaluator_set_extras(e, state + t->noise + hfi_trainer_noises(t));
    return s;
}

void hfi_trainer_get(const hfi_trainer *t, double *state)
{
    const hfi_evaluator *e = &t->evaluator;
    const size_t kernel_count = hf_kernel_parameters(e->kernel);
    hfi_kernel_theta(e->kernel, state);
    memcpy(state + kernel_count, hf_mean_values(e->mean), hf_mean_coefficients(e->mean) * sizeof *state);
    for (size_t c = 0; c < hfi_trainer_noises(t); c++)
        state[t->noise + c] = log(hf_sites_channel_noise(e->sites, c));
    hfi_evaluator_get_extras(e, state + t->noise + hfi_trainer_noises(t));
}

/* The factor of a kernel parameter of this unit where inputs are seen `factor` times as near: 1 for those
 * that are no lengthscale. */
static double stretch(const hf_parameter *p, double factor)
{
    if (p->unit == HF_UNIT_FREQUENCY) return 1.0 / factor;
    if (p->unit == HF_UNIT_FREQUENCY2) return 1.0 / (factor * factor);
    return p->unit == HF_UNIT_INPUT && strstr(p->name, "lengthscale") ? factor : 1.0;
}

void hfi_trainer_move(const hfi_trainer *t, const hfi_start *start, double *state)
{
    const hf_kernel *kernel = t->evaluator.kernel;
    const size_t kernel_count = hf_kernel_parameters(kernel);
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        double factor = 1.0;
        hf_parameter p;
        if (i < kernel_count && hf_kernel_parameter(kernel, i, &p) >= 0)
            factor = stretch(&p, start->lengthscale);
        else if (i >= t->noise && i < t->noise + hfi_trainer_noises(t))
            factor = start->noise;
        if (factor != 1.0) state[i] = fmin(fmax(state[i] + log(factor), t->lower[i]), t->upper[i]);
    }
}

hf_status hfi_trainer_cold(hfi_trainer *t, double *state)
{
    hfi_evaluator *e = &t->evaluator;
    bool *present = hfi_alloc(e->ctx, e->rows, sizeof *present);
    if (!present) return HF_ERR_MEMORY;
    for (size_t i = 0; i < e->rows; i++) present[i] = hf_sites_is_present(e->sites, i);
    const hf_status s =
        hfi_mean_start(e->ctx, e->mean, e->rows, e->x, e->ldx, hf_sites_readings(e->sites), present);
    hfi_free(e->ctx, present);
    if (s < 0) return s;
    const size_t kernel_count = hf_kernel_parameters(e->kernel);
    memcpy(state, t->start, t->count * sizeof *state);
    if (!t->mean_started)
        memcpy(state + kernel_count, hf_mean_values(e->mean), hf_mean_coefficients(e->mean) * sizeof *state);
    if (t->moved) hfi_trainer_move(t, t->moved, state);
    return HF_OK;
}

void hfi_trainer_bound_extras(hfi_trainer *t)
{
    const size_t begin = t->noise + hfi_trainer_noises(t), count = t->count - begin;
    double reach = 0.0;
    hfi_evaluator_get_extras(&t->evaluator, t->work);
    for (size_t k = 0; k < count; k++) reach = fmax(reach, fabs(t->work[k]));
    for (size_t k = 0; k < count; k++) {
        t->lower[begin + k] = -10.0 * reach;
        t->upper[begin + k] = 10.0 * reach;
    }
}

hf_status hfi_trainer_start_actions(hfi_trainer *t, hf_action_start rule, double *state)
{
    hfi_evaluator *e = &t->evaluator;
    if (!e->kind->start_actions) return HF_OK;
    const hf_status s = e->kind->start_actions(e, rule);
    if (s < 0) return s;
    hfi_evaluator_get_extras(e, state + t->noise + hfi_trainer_noises(t));
    hfi_trainer_bound_extras(t);
    return s;
}

static bool is_noise(const hfi_trainer *t, size_t i)
{
    return i >= t->noise && i < t->noise + hfi_trainer_noises(t);
}

void hfi_trainer_scatter(const hfi_trainer *t, size_t number, double *state)
{
    const size_t kernel_count = hf_kernel_parameters(t->evaluator.kernel);
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(t->evaluator.ctx), HFI_PURPOSE_RESTART, number);
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        if (i < kernel_count || is_noise(t, i)) state[i] += 1.5 * hfi_stream_normal(&stream);
    }
}

double hfi_trainer_log_prior(const hfi_trainer *t, const double *state)
{
    double sum = 0.0;
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        if (!isfinite(t->prior_sd[i])) continue;
        const double u = (state[i] - t->prior_mean[i]) / t->prior_sd[i];
        sum -= 0.5 * u * u + log(t->prior_sd[i]) + HFI_HALF_LOG_2PI;
    }
    return sum;
}

double hfi_trainer_add_prior(const hfi_trainer *t, const double *state, double *gradient)
{
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        if (gradient && isfinite(t->prior_sd[i]))
            gradient[i] -= (state[i] - t->prior_mean[i]) / (t->prior_sd[i] * t->prior_sd[i]);
    }
    return hfi_trainer_log_prior(t, state);
}

/* ---- the objective ----------------------------------------------------------------------------------------- */

static hf_status trainer_place(void *self, const double *state)
{
    return hfi_trainer_set(self, state);
}

static hf_status trainer_evaluate(void *self, const double *state, double *value, double *gradient)
{
    (void)state;
    hfi_trainer *t = self;
    return hfi_evaluator_run(&t->evaluator, t->objective, value, gradient);
}

static double trainer_log_prior(void *self, const double *state, double *gradient)
{
    return hfi_trainer_add_prior(self, state, gradient);
}

static hf_status free_curvature(void *self, const double *state, double *matrix)
{
    return hfi_trainer_free_curvature(self, state, matrix);
}

static const hfi_objective_kind of_readings = {
    .place = trainer_place,
    .evaluate = trainer_evaluate,
    .log_prior = trainer_log_prior,
    .curvature = free_curvature,
    .nowhere = "the covariance of the readings cannot be factored at any hyperparameters tried"};

static hfi_objective own_objective(hfi_trainer *t)
{
    return (hfi_objective){.kind = &of_readings, .self = t, .count = t->count, .journal = t->journal};
}

hf_status hfi_trainer_evaluate(hfi_trainer *t, const double *state, double *value, double *prior,
                               double *gradient)
{
    const hfi_objective objective = own_objective(t);
    const hf_status status = hfi_objective_evaluate(t->evaluator.ctx, &objective, state, value, gradient);
    t->evaluations++;
    if (status >= 0) *prior = trainer_log_prior(t, state, gradient);
    return status;
}

/* A journal that ended between a value and this leaves an evaluator that knows nothing of the value. */
static hf_status compute_curvature(void *arg, hfi_journal_entry *entry)
{
    hfi_trainer *t = arg;
    double value = 0.0;
    const hf_status s =
        entry->unseen ? hfi_evaluator_run(&t->evaluator, t->objective, &value, t->work) : HF_OK;
    return s < 0 ? s : hfi_evaluator_curvature(&t->evaluator, t->objective, entry->answer);
}

hf_status hfi_trainer_curvature(hfi_trainer *t, const double *state, double *matrix)
{
    hfi_journal_entry entry = {
        .asked = t->count, .told = t->count * t->count, .key = state, .answer = matrix};
    return hfi_journal_answer(t->journal, &entry, compute_curvature, t);
}

hf_status hfi_trainer_free_curvature(hfi_trainer *t, const double *state, double *out)
{
    const size_t count = t->free_count;
    double *all = hfi_alloc_product(t->evaluator.ctx, t->count, t->count, sizeof *all);
    if (!all) return HF_ERR_MEMORY;
    const hf_status s = hfi_trainer_curvature(t, state, all);
    for (size_t j = 0; s >= 0 && j < count; j++) {
        const size_t b = t->free_index[j];
        for (size_t i = 0; i < count; i++) out[i + j * count] = all[t->free_index[i] + b * t->count];
        if (isfinite(t->prior_sd[b])) out[j + j * count] += 1.0 / (t->prior_sd[b] * t->prior_sd[b]);
    }
    hfi_free(t->evaluator.ctx, all);
    return s;
}

/* ---- searches ---------------------------------------------------------------------------------------------- */

hf_status hfi_trainer_widen(const hfi_trainer *t, const double *state, size_t more, hfi_wide_space *out)
{
    hf_context *ctx = t->evaluator.ctx;
    const size_t count = t->count + more, free_count = t->free_count + more;
    if (HFI_ALLOC(ctx, HFI_ROOMS(out->theta, count, 3), HFI_ROOM(out->free_index, free_count + 1)) < 0)
        return HF_ERR_MEMORY;
    out->lower = out->theta + count;
    out->upper = out->lower + count;
    memcpy(out->theta, state, t->count * sizeof *state);
    memcpy(out->lower, t->lower, t->count * sizeof *t->lower);
    memcpy(out->upper, t->upper, t->count * sizeof *t->upper);
    memcpy(out->free_index, t->free_index, t->free_count * sizeof *t->free_index);
    for (size_t k = 0; k < more; k++) out->free_index[t->free_count + k] = t->count + k;
    out->space = (hfi_space){.count = count,
                             .free_count = free_count,
                             .free_index = out->free_index,
                             .lower = out->lower,
                             .upper = out->upper};
    return HF_OK;
}

void hfi_wide_space_free(hf_context *ctx, hfi_wide_space *wide)
{
    HFI_FREE(ctx, wide->theta, wide->free_index);
}

hf_status hfi_trainer_search(hfi_trainer *t, hfi_optimiser by, const hfi_objective *objective,
                             const hfi_space *space, double enough, size_t iterations, double *theta)
{
    const hfi_space own = hfi_trainer_space(t);
    const hfi_search_settings settings = {.by = by,
                                          .most = by == hfi_by_adam ? iterations
                                                                    : iterations + iterations / 2 + 5,
                                          .enough = enough,
                                          .rate = t->learning_rate,
                                          .stage = "train",
                                          .evaluations = &t->evaluations,
                                          .budget = t->budget};
    const hf_status s =
        hfi_maximise(t->evaluator.ctx, objective, space ? space : &own, &settings, theta, &t->found);
    return s < 0 ? s : t->found.status;
}

/* Second derivatives of all pairs of hyperparameters, here and twice in the search: nothing beside
 * the readings, until a kernel has a lengthscale for each of many inputs. */
static hf_status require_memory(const hfi_trainer *t)
{
    const double gigabyte = 1e9, p = (double)t->count, m = (double)t->free_count;
    const double bytes = (double)sizeof(double) * (p * p + 2.0 * m * m);
    size_t available;
    if (hfi_memory_has(bytes, &available)) return HF_OK;
    return hfi_fail(t->evaluator.ctx, HF_ERR_TOO_LARGE,
                    "training %zu hyperparameters needs %.4g GB of memory for their second derivatives, %.4g "
                    "GB are available; a kernel with one lengthscale for all %zu inputs has few of them: "
                    "\"se\" (-k se) in place of \"se(ard)\"",
                    t->free_count, bytes / gigabyte, (double)available / gigabyte, t->evaluator.d);
}

hf_status hfi_trainer_maximise(hfi_trainer *t, double *state, size_t iterations)
{
    const hfi_objective objective = own_objective(t);
    const hfi_optimiser by = t->optimiser == HF_OPTIMISER_ADAM ? hfi_by_adam
                             : t->curved                       ? hfi_by_trust_region
                                                               : hfi_by_lbfgs;
    hf_status s = hfi_evaluator_select(&t->evaluator);
    if (s >= 0 && by == hfi_by_trust_region) s = require_memory(t);
    if (s < 0) return s;
    s = hfi_trainer_search(t, by, &objective, NULL, t->enough, iterations, state);
    if (s < 0) return s;
    const hf_status set = hfi_trainer_set(t, state);
    return set < 0 ? set : s;
}

hf_status hfi_trainer_restart(hfi_trainer *t, const double *start, size_t restarts, hfi_trainer_climb climb,
                              void *arg, double *state)
{
    double *trial = hfi_alloc(t->evaluator.ctx, t->count, sizeof *trial);
    if (!trial) return HF_ERR_MEMORY;
    hfi_optimum best = t->found;
    hf_status s = HF_OK;
    for (size_t k = 1; s >= 0 && k <= restarts; k++) {
        memcpy(trial, start, t->count * sizeof *trial);
        hfi_trainer_scatter(t, k, trial);
        s = climb(arg, trial);
        if (s < 0 || t->found.value + t->found.log_prior <= best.value + best.log_prior) continue;
        best = t->found;
        memcpy(state, trial, t->count * sizeof *state);
    }
    t->found = best;
    hfi_free(t->evaluator.ctx, trial);
    return s;
}
