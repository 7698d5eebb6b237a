/* SPDX-License-Identifier: Apache-2.0 */
/* The search for hyperparameters, sigma^2 and nu. */
#include "train/student_search.h"
#include <math.h>
#include <nlopt.h>
#include <string.h>

static const double least_nu = 1.5, most_nu = 50.0;
static const double prior_mean = 1.0986122886681098; /* log 3: nu = 4 */
static const double prior_sd = 1.0;
/* As of the other objectives: largest gradient entry of a search called converged. */
static const double gradient_tolerance = 1e-3;

double hfi_student_log_prior(double nu)
{
    const double u = (log(nu - 1.0) - prior_mean) / prior_sd;
    return -0.5 * u * u - log(prior_sd) - HFI_HALF_LOG_2PI;
}

/* What NLopt's callback needs. A point is the trainer's free parameters, then log(nu - 1) if it is trained. */
typedef struct search {
    const hfi_student_search *how;
    nlopt_opt opt;
    double *state, *gradient, *best;
    double nu, best_nu;
    double best_total, best_value, best_prior, best_norm;
    hf_status status;
    bool any, converged;
} search;

static double give_up(search *s, hf_status status)
{
    s->status = status;
    nlopt_force_stop(s->opt);
    return -HUGE_VAL;
}

/* From the gradient of the value in all parameters to that of value + priors in the point; its largest entry that does not push out of
 * the box. */
static double reduce_gradient(search *s, const double *point, double *gradient)
{
    const hfi_trainer *t = s->how->trainer;
    double norm = 0.0;
    for (size_t k = 0; k < t->free_count + (s->how->train_nu ? 1 : 0); k++) {
        double g, lower = log(least_nu - 1.0), upper = log(most_nu - 1.0);
        if (k < t->free_count) {
            const size_t i = t->free_index[k];
            lower = t->lower[i];
            upper = t->upper[i];
            g = s->gradient[i];
            if (isfinite(t->prior_sd[i]))
                g -= (point[k] - t->prior_mean[i]) / (t->prior_sd[i] * t->prior_sd[i]);
        } else {
            g = s->gradient[t->noise + 1] * (s->nu - 1.0) - (point[k] - prior_mean) / (prior_sd * prior_sd);
        }
        if (gradient) gradient[k] = g;
        if ((point[k] <= lower && g < 0.0) || (point[k] >= upper && g > 0.0)) continue;
        norm = fmax(norm, fabs(g));
    }
    return norm;
}

static void remember(search *s, double value, double prior, double norm, hf_status status)
{
    s->any = true;
    s->best_total = value + prior;
    s->best_value = value;
    s->best_prior = prior;
    s->best_norm = norm;
    s->best_nu = s->nu;
    s->status = status;
    memcpy(s->best, s->state, s->how->trainer->count * sizeof *s->best);
    hfi_student_keep(s->how->problem);
}

static double callback(unsigned count, const double *point, double *gradient, void *arg)
{
    search *s = arg;
    hfi_trainer *t = s->how->trainer;
    if (s->status < 0) return -HUGE_VAL; /* NLopt may finish its line search after having been told to stop */
    for (size_t k = 0; k < t->free_count; k++) s->state[t->free_index[k]] = point[k];
    if (s->how->train_nu) s->nu = 1.0 + exp(point[t->free_count]);
    double value = 0.0;
    hf_status status = hfi_trainer_set(t, s->state);
    if (status >= 0) status = hfi_student_evaluate(s->how->problem, s->nu, &value, s->gradient);
    t->evaluations++;
    if (status == HF_ERR_NOT_POSITIVE_DEFINITE || status == HF_ERR_NOT_FINITE ||
        (status >= 0 && !isfinite(value))) {
        if (gradient) memset(gradient, 0, count * sizeof *gradient);
        return s->any ? s->best_total - 1e6 * (1.0 + fabs(s->best_total)) : -1e300;
    }
    if (status < 0) return give_up(s, status);
    double prior = hfi_trainer_log_prior(t, s->state);
    if (s->how->train_nu) prior += hfi_student_log_prior(s->nu);
    const double norm = reduce_gradient(s, point, gradient);
    if (!s->any || value + prior > s->best_total) remember(s, value, prior, norm, status);
    if (norm < gradient_tolerance) {
        s->converged = true;
        nlopt_force_stop(s->opt);
    }
    const double done = fmin(0.99, (double)t->evaluations / (double)(t->budget ? t->budget : 1));
    if (!hfi_progress(t->evaluator.ctx, "train", done, s->best_total)) return give_up(s, HF_ERR_CANCELLED);
    return value + prior;
}

static hf_status run_nlopt(search *s, double *point, double *lower, double *upper, size_t iterations,
                           nlopt_result *result)
{
    const hfi_trainer *t = s->how->trainer;
    const size_t count = t->free_count + (s->how->train_nu ? 1 : 0);
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        lower[k] = t->lower[i];
        upper[k] = t->upper[i];
        point[k] = fmin(fmax(s->state[i], lower[k]), upper[k]);
    }
    if (s->how->train_nu) {
        lower[count - 1] = log(least_nu - 1.0);
        upper[count - 1] = log(most_nu - 1.0);
        point[count - 1] = fmin(fmax(log(s->nu - 1.0), lower[count - 1]), upper[count - 1]);
    }
    s->opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)count);
    if (!s->opt) return hfi_out_of_memory(t->evaluator.ctx);
    nlopt_set_max_objective(s->opt, callback, s);
    nlopt_set_lower_bounds(s->opt, lower);
    nlopt_set_upper_bounds(s->opt, upper);
    nlopt_set_ftol_rel(s->opt, 1e-7);
    nlopt_set_maxeval(s->opt, (int)(1.5 * (double)iterations) + 5);
    double ignored = 0.0;
    *result = nlopt_optimize(s->opt, point, &ignored);
    nlopt_destroy(s->opt);
    return *result == NLOPT_OUT_OF_MEMORY ? hfi_out_of_memory(t->evaluator.ctx) : HF_OK;
}

static hf_stop why(const search *s, nlopt_result result)
{
    if (s->converged || result == NLOPT_FTOL_REACHED || result == NLOPT_XTOL_REACHED ||
        result == NLOPT_SUCCESS)
        return HF_STOP_CONVERGED;
    return result == NLOPT_MAXEVAL_REACHED ? HF_STOP_ITERATIONS : HF_STOP_ROUNDOFF;
}

/* The approximation at the present state, from the kept start or, where that fails, from a cold one. */
static hf_status settle(const hfi_student_search *how, const double *state, double nu, double *value)
{
    hf_status s = hfi_trainer_set(how->trainer, state);
    if (s >= 0) s = hfi_student_evaluate(how->problem, nu, value, NULL);
    if ((s == HF_ERR_NOT_POSITIVE_DEFINITE || s == HF_ERR_NOT_FINITE) && how->problem->started) {
        how->problem->started = false;
        s = hfi_student_evaluate(how->problem, nu, value, NULL);
    }
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE)
        return hfi_fail(how->trainer->evaluator.ctx, s,
                        "no normal approximation of the posterior under Student-t noise was found");
    return s;
}

static hf_status evaluate_only(const hfi_student_search *how, const double *state, double nu)
{
    hfi_trainer *t = how->trainer;
    t->evaluations++;
    t->stop = HF_STOP_NOT_TRAINED;
    t->log_prior = hfi_trainer_log_prior(t, state);
    t->gradient_norm = 0.0;
    return settle(how, state, nu, &t->value);
}

hf_status hfi_student_maximise(const hfi_student_search *how, double *state, double *nu, size_t iterations)
{
    hfi_trainer *t = how->trainer;
    hf_context *ctx = t->evaluator.ctx;
    if (t->free_count == 0 && !how->train_nu) return evaluate_only(how, state, *nu);
    const size_t most = t->count + 1;
    double *work = hfi_alloc(ctx, most, 6 * sizeof *work);
    if (!work) return HF_ERR_MEMORY;
    search s = {.how = how,
                .state = work,
                .gradient = work + most,
                .best = work + 2 * most,
                .nu = *nu,
                .best_nu = *nu};
    memcpy(s.state, state, t->count * sizeof *state);
    nlopt_result result = NLOPT_FAILURE;
    hf_status ran = run_nlopt(&s, work + 3 * most, work + 4 * most, work + 5 * most, iterations, &result);
    if (ran >= 0 && s.status < 0) ran = s.status == HF_ERR_CANCELLED ? hfi_cancelled(ctx) : s.status;
    if (ran >= 0 && !s.any)
        ran = hfi_fail(ctx, HF_ERR_NOT_POSITIVE_DEFINITE,
                       "no normal approximation of the posterior under Student-t noise was found at any "
                       "hyperparameters tried");
    if (ran >= 0) {
        memcpy(state, s.best, t->count * sizeof *state);
        *nu = s.best_nu;
        t->stop = why(&s, result);
        t->log_prior = s.best_prior;
        t->gradient_norm = s.best_norm;
        ran = settle(how, state, *nu, &t->value);
    }
    hfi_free(ctx, work);
    return ran < 0 ? ran : s.status;
}
