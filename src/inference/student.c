/* SPDX-License-Identifier: Apache-2.0 */
/* A fit with Student-t noise: rounds of training, then its sites. */
#include "inference/student.h"
#include "inference/latent_fit.h"
#include "settings/settings.h"
#include <math.h>
#include <string.h>

/* Change of the constant mean, in standard deviations of the noise, at which no further round is needed. */
static const double little = 0.01;
/* Nats that a step of a search must gain: an evaluation costs twenty of other noise, and the ridges between
 * scale and lengthscale are long. */
static const double enough = 0.02;

enum {
    LATER_ITERATIONS = 25 /* of rounds after the first */
};

/* A constant mean starts from the median of the readings, and if it is not trained it follows their weights. */
static bool is_constant(const hfi_trainer *t)
{
    const hf_mean *mean = t->evaluator.mean;
    return hf_mean_get_kind(mean) == HF_MEAN_CONSTANT && !hf_mean_held(mean);
}

static hf_status median_of_readings(const hfi_evaluator *e, double *median)
{
    double *sorted = hfi_alloc(e->ctx, e->n, sizeof *sorted);
    if (!sorted) return HF_ERR_MEMORY;
    for (size_t i = 0; i < e->n; i++) sorted[i] = e->sites->y[e->row[i]];
    *median = hfi_median(sorted, e->n);
    hfi_free(e->ctx, sorted);
    return HF_OK;
}

/* The average of the readings, each by the weight it has at the present fit. */
static double weighted_average(const hfi_latent_problem *p)
{
    double sum = 0.0, total = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const double w = p->likelihood->touch(&p->seen[i], p->offset[i] + p->latent[i], 1.0);
        sum += w * p->seen[i].y;
        total += w;
    }
    return sum / total;
}

static hf_status train(const hfi_student_search *how, const hf_fit_settings *settings, double *state,
                       double *nu, size_t *rounds)
{
    hfi_trainer *t = how->trainer;
    const size_t constant = hf_kernel_parameters(t->evaluator.kernel);
    const bool follows = is_constant(t) && !t->train_mean;
    const size_t most = follows && settings->rounds > 1 ? settings->rounds : 1;
    hf_status s = HF_OK;
    if (is_constant(t)) s = median_of_readings(&t->evaluator, &state[constant]);
    if (s >= 0) s = hfi_student_approach(how, state, nu, settings->iterations / 2);
    for (*rounds = 0; s >= 0 && *rounds < most;) {
        s = hfi_student_maximise(how, state, nu, *rounds == 0 ? settings->iterations : LATER_ITERATIONS);
        *rounds += 1;
        if (s < 0 || *rounds == most) break;
        const double moved = weighted_average(how->problem) - state[constant];
        if (fabs(moved) < little * exp(0.5 * state[t->noise])) break;
        state[constant] += moved;
    }
    return s;
}

/* A training from another start, for hfi_trainer_restart(). */
typedef struct student_restart {
    const hfi_student_search *how;
    const hf_fit_settings *settings;
    double first, best, *nu; /* where nu starts; value + log prior so far, and its nu */
    size_t *rounds;
} student_restart;

static hf_status try_start(void *arg, double *trial)
{
    student_restart *a = arg;
    const hfi_trainer *t = a->how->trainer;
    double nu = a->first;
    size_t more = 0;
    a->how->problem->started = false;
    const hf_status s = train(a->how, a->settings, trial, &nu, &more);
    const double total = t->found.value + t->found.log_prior;
    *a->rounds += more;
    if (s < 0 || total <= a->best) return s;
    a->best = total;
    *a->nu = nu;
    return s;
}

/* Training from the given start, from a shorter one where that is better, and from seeded random ones; the best is left
 * in the state and in the problem. `work`: two states. */
static hf_status train_from_starts(const hfi_student_search *how, const hf_fit_settings *settings,
                                   double *state, double *nu, size_t *rounds, double *work)
{
    hfi_trainer *t = how->trainer;
    double *start = work, *shorter = work + t->count;
    student_restart a = {.how = how, .settings = settings, .first = *nu, .nu = nu, .rounds = rounds};
    bool found = false;
    hf_status s = HF_OK;
    if (is_constant(t))
        s = median_of_readings(&t->evaluator, &state[hf_kernel_parameters(t->evaluator.kernel)]);
    memcpy(start, state, t->count * sizeof *start);
    if (s >= 0) s = hfi_student_shorter(how, start, a.first, settings->iterations / 2, shorter, &found);
    if (s >= 0) s = train(how, settings, state, nu, rounds);
    if (s < 0 || t->free_count == 0 || !(found || settings->restarts > 0)) return s;
    const hfi_optimum first = t->found;
    a.best = first.value + first.log_prior;
    if (found) s = try_start(&a, shorter);
    if (found && s >= 0 && a.best > first.value + first.log_prior)
        memcpy(state, shorter, t->count * sizeof *state);
    else
        t->found = first;
    if (s >= 0) s = hfi_trainer_restart(t, start, settings->restarts, try_start, &a, state);
    if (s < 0) return s;
    how->problem->started = false;
    return hfi_student_maximise(how, state, nu, LATER_ITERATIONS);
}

/* Sites of the approximation. Their weights, which say how far each reading was trusted, are those of
 * re-weighted least squares relative to a reading without a residual: nu s / (nu s + r^2). */
static hf_status give_sites(const hfi_latent_problem *p, hf_sites *sites)
{
    const hf_status s = hfi_latent_give(p, sites);
    for (size_t i = 0; s >= 0 && i < p->n; i++) {
        const hfi_seen *seen = &p->seen[i];
        sites->weight[p->row[i]] = p->likelihood->touch(seen, p->offset[i] + p->latent[i], 1.0) /
                                   p->likelihood->touch(seen, seen->y, 1.0);
    }
    return s;
}

static hf_status check_student_settings(const hfi_trainer *t, const hf_fit_settings *settings)
{
    const hfi_evaluator *e = &t->evaluator;
    if (!e->kind->matrix)
        return hfi_refuse(
            e->ctx, "Student-t noise by Laplace's method, expectation propagation or a full variational fit "
                    "needs the exact solver's evaluator; the inducing solver has a variational fit");
    if (!(settings->student_nu == 0.0 || (settings->student_nu > 1.0 && isfinite(settings->student_nu))))
        return hfi_refuse(e->ctx,
                          "%g degrees of freedom; give a finite number above 1, or 0 to have it trained",
                          settings->student_nu);
    if (e->sites->given || isfinite(e->sites->threshold))
        return hfi_refuse(e->ctx, "Student-t noise is fitted to plain readings");
    return HF_OK;
}

hf_status hfi_student_fit(hfi_trainer *t, const hf_fit_settings *settings, double *state, double *nu,
                          size_t *rounds)
{
    hfi_evaluator *e = &t->evaluator;
    hf_status s = check_student_settings(t, settings);
    if (s >= 0) s = hfi_evaluator_select(e);
    if (s < 0) return s;
    const hfi_likelihood *likelihood = hfi_likelihood_row(settings->sites);
    const hf_inference inference = hfi_inference_of(settings);
    hfi_latent_problem problem;
    bool replaced = false;
    s = hfi_student_problem(e, likelihood, inference, &problem);
    if (s < 0) return s;
    const bool given = settings->student_nu > 0.0;
    const hfi_student_search how = {.trainer = t,
                                    .problem = &problem,
                                    .train_nu = settings->train && !given,
                                    .replaced = &replaced,
                                    .enough = enough};
    double found = given ? settings->student_nu : likelihood->shape.start;
    double *work = hfi_alloc(e->ctx, t->count, 2 * sizeof *work);
    s = work ? train_from_starts(&how, settings, state, &found, rounds, work) : HF_ERR_MEMORY;
    hfi_free(e->ctx, work);
    if (s >= 0) {
        const hf_status gave = give_sites(&problem, e->sites);
        if (gave < 0) s = gave;
    }
    if (s >= 0) *nu = found;
    if (s >= 0 && replaced)
        s = hfi_fail(
            e->ctx, HF_WARN_NOT_CONVERGED,
            "expectation propagation has no fixed point here; the sites are those of Laplace's method");
    else if (s >= 0 && !problem.converged)
        s = hfi_fail(e->ctx, HF_WARN_NOT_CONVERGED,
                     "the sites of Student-t noise (%s) did not settle; those of the last iteration are used",
                     hf_enum_name(HF_ENUM_INFERENCE, inference));
    hfi_latent_problem_free(&problem);
    return s;
}
