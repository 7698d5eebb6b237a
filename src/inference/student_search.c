/* SPDX-License-Identifier: Apache-2.0 */
/* The search for hyperparameters, sigma^2 and nu. A point is the trainer's free parameters, then log(nu - 1) if it is trained. */
#include "inference/student_search.h"
#include "search/box_search.h"
#include <math.h>
#include <string.h>

/* Towards 2 the noise loses its variance. */
static const double least_nu = 2.0, most_nu = 50.0;
static const double prior_mean = 1.0986122886681098; /* log 3: nu = 4 */
static const double prior_sd = 1.0;

/* Nats: priors differ by less within a search. */
static const double FAR = 20.0;

static double log_prior_of_nu(double nu)
{
    const double u = (log(nu - 1.0) - prior_mean) / prior_sd;
    return -0.5 * u * u - log(prior_sd) - HFI_HALF_LOG_2PI;
}

typedef struct training {
    const hfi_student_search *how;
    double *state, *gradient; /* full ones of the point being evaluated */
    double nu, value, prior;
    double *best; /* full state */
    double best_nu, best_prior, best_value;
    bool any;
    bool refused; /* expectation propagation has no fixed point at some place the search went to */
} training;

/* Where expectation propagation has no fixed point its fractional form may have one, and Laplace's approximation is always of use. */
static void step_down(hfi_student_problem *p)
{
    p->started = false;
    if (p->power == 1.0) {
        p->power = 0.5;
        return;
    }
    p->method = HF_STUDENT_LAPLACE;
    p->replaced = true;
}

static bool without_value(const hfi_student_problem *p, hf_status s)
{
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) return true;
    return s >= 0 && p->method == HF_STUDENT_EP && !p->converged;
}

static hf_status evaluate(void *arg, const double *point, double *total, double *gradient)
{
    training *w = arg;
    hfi_trainer *t = w->how->trainer;
    hfi_student_problem *p = w->how->problem;
    const size_t count = t->free_count;
    for (size_t k = 0; k < count; k++) w->state[t->free_index[k]] = point[k];
    if (w->how->train_nu) w->nu = 1.0 + exp(point[count]);
    /* Where the best point so far is out of reach a search only wants to know that. */
    p->floor = w->any ? w->best_value - FAR : -INFINITY;
    hf_status s = hfi_student_ask(w->how, w->state, w->nu, &w->value, w->gradient);
    p->floor = -INFINITY;
    t->evaluations++;
    if (without_value(p, s)) {
        /* Away from a fixed point expectation propagation's formula can give anything. */
        w->refused = p->method == HF_STUDENT_EP && p->power == 1.0;
        return w->refused ? HF_ERR_CANCELLED : HF_ERR_NOT_POSITIVE_DEFINITE;
    }
    if (s < 0) return s;
    w->prior = hfi_trainer_add_prior(t, w->state, w->gradient);
    for (size_t k = 0; k < count; k++) gradient[k] = w->gradient[t->free_index[k]];
    if (w->how->train_nu) {
        w->prior += log_prior_of_nu(w->nu);
        gradient[count] =
            w->gradient[t->noise + 1] * (w->nu - 1.0) - (point[count] - prior_mean) / (prior_sd * prior_sd);
    }
    *total = w->value + w->prior;
    const double done = fmin(0.99, (double)t->evaluations / (double)(t->budget ? t->budget : 1));
    return hfi_progress(t->evaluator.ctx, "train", done, *total) ? s : hfi_cancelled(t->evaluator.ctx);
}

static void improved(void *arg)
{
    training *w = arg;
    w->best_nu = w->nu;
    w->best_prior = w->prior;
    w->best_value = w->value;
    w->any = true;
    memcpy(w->best, w->state, w->how->trainer->count * sizeof *w->best);
    hfi_student_keep(w->how->problem);
}

/* The approximation at the present state, from the kept start or, where that fails, from a cold one. */
static hf_status settle(const hfi_student_search *how, const double *state, double nu, double *value)
{
    hfi_student_problem *p = how->problem;
    hf_status s = hfi_student_ask(how, state, nu, value, NULL);
    if (without_value(p, s) && p->started) {
        p->started = false;
        s = hfi_student_ask(how, state, nu, value, NULL);
    }
    while (without_value(p, s) && p->method == HF_STUDENT_EP) {
        step_down(p);
        s = hfi_student_ask(how, state, nu, value, NULL);
    }
    if (s != HF_ERR_NOT_POSITIVE_DEFINITE) return s;
    return hfi_fail(how->trainer->evaluator.ctx, s,
                    "no normal approximation of the posterior under Student-t noise was found");
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

/* Box and start of a point. */
static void place(const hfi_student_search *how, const double *state, double nu, double *point, double *lower,
                  double *upper)
{
    const hfi_trainer *t = how->trainer;
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        lower[k] = t->lower[i];
        upper[k] = t->upper[i];
        point[k] = state[i];
    }
    if (!how->train_nu) return;
    lower[t->free_count] = log(least_nu - 1.0);
    upper[t->free_count] = log(most_nu - 1.0);
    point[t->free_count] = log(nu - 1.0);
}

/* How near to the fixed point an evaluation of the search goes. Expectation propagation goes all the way: it has no bound that only rises. */
static void roughly(hfi_student_problem *p, bool rough)
{
    p->tolerance = rough && p->method == HF_STUDENT_VARIATIONAL ? hfi_student_rough : hfi_student_exact;
}

static hf_status finish(const training *w, const hfi_box_search *box, double *state, double *nu)
{
    hfi_trainer *t = w->how->trainer;
    memcpy(state, w->best, t->count * sizeof *state);
    *nu = w->best_nu;
    t->stop = box->stop;
    t->log_prior = w->best_prior;
    t->gradient_norm = box->gradient_norm;
    return settle(w->how, state, *nu, &t->value);
}

hf_status hfi_student_maximise(const hfi_student_search *how, double *state, double *nu, size_t iterations)
{
    hfi_trainer *t = how->trainer;
    if (t->free_count == 0 && !how->train_nu) return evaluate_only(how, state, *nu);
    const size_t most = t->count + 1;
    double *work = hfi_alloc(t->evaluator.ctx, most, 6 * sizeof *work);
    if (!work) return HF_ERR_MEMORY;
    training w = {.how = how,
                  .state = work,
                  .gradient = work + most,
                  .best = work + 2 * most,
                  .nu = *nu,
                  .best_nu = *nu};
    double *point = work + 3 * most, *lower = work + 4 * most, *upper = work + 5 * most;
    memcpy(w.state, state, t->count * sizeof *state);
    place(how, state, *nu, point, lower, upper);
    hfi_box_search box = {.ctx = t->evaluator.ctx,
                          .count = t->free_count + (how->train_nu ? 1 : 0),
                          .lower = lower,
                          .upper = upper,
                          .most = iterations + iterations / 2 + 5,
                          .enough = how->enough,
                          .evaluate = evaluate,
                          .improved = improved,
                          .arg = &w};
    roughly(how->problem, true);
    hf_status s = hfi_box_maximise(&box, point);
    while (w.refused || (s == HF_ERR_NOT_POSITIVE_DEFINITE && how->problem->method == HF_STUDENT_EP)) {
        w.refused = false;
        step_down(how->problem);
        place(how, state, *nu, point, lower, upper);
        s = hfi_box_maximise(&box, point);
    }
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE)
        s = hfi_fail(t->evaluator.ctx, s,
                     "no normal approximation of the posterior under Student-t noise was found at any "
                     "hyperparameters tried");
    roughly(how->problem, false);
    if (s >= 0) s = finish(&w, &box, state, nu);
    hfi_free(t->evaluator.ctx, work);
    return s;
}
