/* SPDX-License-Identifier: Apache-2.0 */
/* A state, its prior, and the maximisation of objective + prior over a box. */
#include "search/trainer.h"
#include "checkpoint/journal.h"
#include <math.h>
#include <nlopt.h>
#include <string.h>

void hfi_trainer_free(hfi_trainer *t)
{
    hf_context *ctx = t->evaluator.ctx;
    hfi_free(ctx, t->free_index);
    hfi_free(ctx, t->lower);
    hfi_free(ctx, t->upper);
    hfi_free(ctx, t->prior_mean);
    hfi_free(ctx, t->prior_sd);
    hfi_free(ctx, t->start);
    hfi_free(ctx, t->work);
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
    if (!e->projected) return HF_OK;
    const hf_status s = hfi_projected_start(e, rule);
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
        if (isfinite(t->prior_sd[i]))
            gradient[i] -= (state[i] - t->prior_mean[i]) / (t->prior_sd[i] * t->prior_sd[i]);
    }
    return hfi_trainer_log_prior(t, state);
}

/* What NLopt's callback needs beside the trainer. */
typedef struct search {
    hfi_trainer *trainer;
    nlopt_opt opt;
    double *state;    /* full state of the point being evaluated */
    double *gradient; /* full gradient of objective + prior */
    double *best;     /* best full state so far */
    double best_total, best_value, best_prior, best_norm;
    hf_status status; /* error that ended the search, else the warning of the best point */
    bool any;
    bool converged;
} search;

double hfi_trainer_projected_norm(const hfi_trainer *t, const double *state, const double *gradient)
{
    double norm = 0.0;
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        const double g = gradient[i];
        if (state[i] <= t->lower[i] && g < 0.0) continue;
        if (state[i] >= t->upper[i] && g > 0.0) continue;
        norm = fmax(norm, fabs(g));
    }
    return norm;
}

static double give_up(search *s, hf_status status)
{
    s->status = status;
    nlopt_force_stop(s->opt);
    return -HUGE_VAL;
}

/* Largest gradient entry at which a search is called converged, in nats per unit of the training scale. */
static const double gradient_tolerance = 1e-3;

/* From the journal as long as it lasts, else by the evaluator; the model is at the state either way. */
static hf_status ask(hfi_trainer *t, const double *state, double *value, double *gradient)
{
    hfi_evaluator *e = &t->evaluator;
    bool found = false;
    hf_status answer = HF_OK;
    hf_status status = hfi_trainer_set(t, state);
    t->evaluations++;
    if (status >= 0 && t->journal)
        status = hfi_journal_take(t->journal, t->count, state, &found, value, gradient, &answer);
    if (status < 0) return status;
    t->recalled = found;
    if (found) return answer;
    status = hfi_evaluator_run(e, t->objective, value, gradient);
    if (t->journal) hfi_journal_append(t->journal, t->count, state, *value, gradient, status);
    return status;
}

hf_status hfi_trainer_evaluate(hfi_trainer *t, const double *state, double *value, double *log_prior,
                               double *gradient)
{
    const hf_status status = ask(t, state, value, gradient);
    if (status < 0) return status;
    *log_prior = gradient ? hfi_trainer_add_prior(t, state, gradient) : hfi_trainer_log_prior(t, state);
    return status;
}

hf_status hfi_trainer_curvature(hfi_trainer *t, const double *state, double *matrix)
{
    hfi_journal_entry entry = {
        .asked = t->count, .told = t->count * t->count, .question = state, .answer = matrix};
    bool found = false;
    if (t->journal) {
        const hf_status s = hfi_journal_recall(t->journal, &entry, &found);
        if (s < 0 || found) return s < 0 ? s : entry.status;
    }
    /* The journal ended between a value and this: the evaluator has to be where it was. */
    if (t->recalled) {
        double value = 0.0;
        const hf_status s = hfi_evaluator_run(&t->evaluator, t->objective, &value, t->work + 2 * t->count);
        if (s < 0) return s;
    }
    entry.status = hfi_evaluator_curvature(&t->evaluator, t->objective, matrix);
    if (t->journal) hfi_journal_keep(t->journal, &entry);
    return entry.status;
}

static double objective_callback(unsigned count, const double *point, double *gradient, void *arg)
{
    search *s = arg;
    hfi_trainer *t = s->trainer;
    if (s->status < 0) return -HUGE_VAL; /* NLopt may finish its line search after having been told to stop */
    for (unsigned k = 0; k < count; k++) s->state[t->free_index[k]] = point[k];
    double value = 0.0, prior = 0.0;
    const hf_status status = hfi_trainer_evaluate(t, s->state, &value, &prior, s->gradient);
    if (status == HF_ERR_NOT_POSITIVE_DEFINITE || (status >= 0 && !isfinite(value))) {
        /* Outside of what floating point can factor: worse than anything seen, flat, so the line search steps
         * back. */
        if (gradient) memset(gradient, 0, count * sizeof *gradient);
        return s->any ? s->best_total - 1e6 * (1.0 + fabs(s->best_total)) : -1e300;
    }
    if (status < 0) return give_up(s, status);
    for (unsigned k = 0; gradient && k < count; k++) gradient[k] = s->gradient[t->free_index[k]];
    const double norm = hfi_trainer_projected_norm(t, s->state, s->gradient);
    if (!s->any || value + prior > s->best_total) {
        s->any = true;
        s->best_total = value + prior;
        s->best_value = value;
        s->best_prior = prior;
        s->best_norm = norm;
        s->status = status;
        memcpy(s->best, s->state, t->count * sizeof *s->best);
    }
    if (norm < gradient_tolerance) {
        s->converged = true;
        nlopt_force_stop(s->opt);
    }
    const double done = fmin(0.99, (double)t->evaluations / (double)t->budget);
    if (!hfi_progress(t->evaluator.ctx, "train", done, s->best_total)) return give_up(s, HF_ERR_CANCELLED);
    return value + prior;
}

/* NLopt's own search in the box of the free parameters. */
static hf_status run_nlopt(search *s, double *point, double *lower, double *upper, size_t iterations,
                           nlopt_result *result)
{
    hfi_trainer *t = s->trainer;
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        lower[k] = t->lower[i];
        upper[k] = t->upper[i];
        point[k] = fmin(fmax(s->state[i], lower[k]), upper[k]);
    }
    s->opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)t->free_count);
    if (!s->opt) return hfi_out_of_memory(t->evaluator.ctx);
    nlopt_set_max_objective(s->opt, objective_callback, s);
    nlopt_set_lower_bounds(s->opt, lower);
    nlopt_set_upper_bounds(s->opt, upper);
    nlopt_set_ftol_rel(s->opt, 1e-7);
    nlopt_set_ftol_abs(s->opt, t->enough);
    nlopt_set_maxeval(s->opt, (int)(1.5 * (double)iterations) + 5);
    double ignored = 0.0;
    *result = nlopt_optimize(s->opt, point, &ignored);
    nlopt_destroy(s->opt);
    return *result == NLOPT_OUT_OF_MEMORY ? hfi_out_of_memory(t->evaluator.ctx) : HF_OK;
}

static hf_stop why(const search *s, nlopt_result result)
{
    if (s->best_norm < gradient_tolerance) return HF_STOP_CONVERGED;
    if (s->converged || result == NLOPT_FTOL_REACHED || result == NLOPT_XTOL_REACHED ||
        result == NLOPT_SUCCESS)
        return HF_STOP_LEVEL;
    return result == NLOPT_MAXEVAL_REACHED ? HF_STOP_ITERATIONS : HF_STOP_ROUNDOFF;
}

/* Nothing is free: the objective at the state as it is. */
static hf_status evaluate_only(hfi_trainer *t, const double *state)
{
    hf_status s = hfi_trainer_set(t, state);
    if (s >= 0) s = hfi_evaluator_run(&t->evaluator, t->objective, &t->value, NULL);
    t->evaluations++;
    t->stop = HF_STOP_NOT_TRAINED;
    t->log_prior = hfi_trainer_log_prior(t, state);
    t->gradient_norm = 0.0;
    return s;
}

hf_status hfi_trainer_maximise(hfi_trainer *t, double *state, size_t iterations)
{
    const hf_status selected = hfi_evaluator_select(&t->evaluator);
    if (selected < 0) return selected;
    if (t->free_count == 0) return evaluate_only(t, state);
    if (t->optimiser == HF_OPTIMISER_ADAM) return hfi_trainer_adam(t, state, iterations);
    if (t->curved) return hfi_trainer_climb_curved(t, state, iterations);
    search s = {.trainer = t,
                .state = t->work,
                .gradient = t->work + t->count,
                .best = t->work + 2 * t->count,
                .status = HF_OK};
    double *point = t->work + 3 * t->count;
    memcpy(s.state, state, t->count * sizeof *state);
    nlopt_result result = NLOPT_FAILURE;
    const hf_status ran = run_nlopt(&s, point, point + t->count, point + 2 * t->count, iterations, &result);
    if (ran < 0) return ran;
    if (s.status == HF_ERR_CANCELLED) return hfi_cancelled(t->evaluator.ctx);
    if (s.status < 0) return s.status;
    if (!s.any)
        return hfi_fail(t->evaluator.ctx, HF_ERR_NOT_POSITIVE_DEFINITE,
                        "the covariance of the readings cannot be factored at any hyperparameters tried");
    memcpy(state, s.best, t->count * sizeof *state);
    t->stop = why(&s, result);
    t->value = s.best_value;
    t->log_prior = s.best_prior;
    t->gradient_norm = s.best_norm;
    const hf_status set = hfi_trainer_set(t, state);
    return set < 0 ? set : s.status;
}
