/* SPDX-License-Identifier: Apache-2.0 */
/* The search for hyperparameters, sigma^2 and nu. Theta is the trainer's state, then log(nu - 1), as its row
 * has it. Where an evaluation starts depends on where the best one before it ended, so its sites belong to
 * the answer that a journal keeps. */
#include "inference/student.h"
#include <math.h>
#include <string.h>

/* Nats: priors differ by less within a search. */
static const double FAR = 20.0;

enum {
    VECTORS = 4 /* that an answer holds, from the problem's w on, after whether it converged */
};

typedef struct student_training {
    const hfi_student_search *how;
    bool moves; /* nu is theta's, else it stays */
    double nu, best_value;
    bool any;
    bool refused; /* expectation propagation has no fixed point at some place the search went to */
} student_training;

hf_status hfi_student_problem(const hfi_evaluator *e, const hfi_likelihood *likelihood,
                              hf_inference inference, hfi_latent_problem *out)
{
    hfi_latent_given given = {.kernel = e->kernel,
                              .mean = e->mean,
                              .rows = e->rows,
                              .x = e->x,
                              .ldx = e->ldx,
                              .extra = e->sites->extra,
                              .matrix = e->a};
    memset(out, 0, sizeof *out);
    double *y = hfi_alloc(e->ctx, e->rows, sizeof *y);
    if (!y) return HF_ERR_MEMORY;
    for (size_t i = 0; i < e->rows; i++) y[i] = NAN;
    for (size_t i = 0; i < e->n; i++) y[e->row[i]] = e->sites->y[e->row[i]];
    given.y = y;
    const hf_status s = hfi_latent_problem_init(e->ctx, likelihood, inference, &given, out);
    hfi_free(e->ctx, y);
    return s;
}

hf_status hfi_student_evaluate(hfi_latent_problem *p, const hfi_evaluator *e, double nu, double *value,
                               double *gradient)
{
    p->dispersion = e->sites->noise;
    p->shape = nu;
    return hfi_latent_evaluate(p, value, gradient);
}

static double above(const hfi_student_search *how)
{
    return how->problem->likelihood->shape.above;
}

/* ---- the objective ----------------------------------------------------------------------------------------- */

static hf_status student_place(void *self, const double *theta)
{
    student_training *w = self;
    hfi_trainer *t = w->how->trainer;
    if (w->moves) w->nu = above(w->how) + exp(theta[t->count]);
    return hfi_trainer_set(t, theta);
}

static hf_status student_evaluate(void *self, const double *theta, double *value, double *gradient)
{
    (void)theta;
    const student_training *w = self;
    hfi_latent_problem *p = w->how->problem;
    /* Where the best point so far is out of reach a search only wants to know that. */
    p->floor = gradient && w->any ? w->best_value - FAR : -INFINITY;
    const hf_status s = hfi_student_evaluate(p, &w->how->trainer->evaluator, w->nu, value, gradient);
    p->floor = -INFINITY;
    if (s >= 0 && gradient) gradient[w->how->trainer->count] *= w->nu - above(w->how);
    return hfi_judge_overflow(NULL, s);
}

static double student_log_prior(void *self, const double *theta, double *gradient)
{
    const student_training *w = self;
    hfi_trainer *t = w->how->trainer;
    const double prior = hfi_trainer_add_prior(t, theta, gradient);
    if (!w->moves) return prior;
    const hfi_likelihood *l = w->how->problem->likelihood;
    const double sd = l->shape.sd, u = (theta[t->count] - log(l->shape.start - l->shape.above)) / sd;
    if (gradient) gradient[t->count] -= u / sd;
    return prior + (-0.5 * u * u - log(sd) - HFI_HALF_LOG_2PI);
}

/* Away from a fixed point expectation propagation's formula can give anything. */
static bool without_value(const hfi_latent_problem *p, hf_status s)
{
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) return true;
    return s >= 0 && p->method == &hfi_latent_ep && !p->converged;
}

static hf_status student_judge(void *self, hf_status answer)
{
    student_training *w = self;
    const hfi_latent_problem *p = w->how->problem;
    if (!without_value(p, answer)) return hfi_judge_overflow(NULL, answer);
    w->refused = p->method == &hfi_latent_ep && p->power == 1.0;
    return w->refused ? HF_ERR_CANCELLED : HF_ERR_NOT_POSITIVE_DEFINITE;
}

static void accepted(void *self, double value)
{
    student_training *w = self;
    w->best_value = value;
    w->any = true;
    hfi_latent_keep(w->how->problem);
}

static size_t beside(const void *self)
{
    const student_training *w = self;
    return 1 + VECTORS * w->how->problem->n;
}

static void student_tell(const void *self, double *numbers)
{
    const student_training *w = self;
    const hfi_latent_problem *p = w->how->problem;
    numbers[0] = p->converged ? 1.0 : 0.0;
    memcpy(numbers + 1, p->w, VECTORS * p->n * sizeof *numbers);
}

/* As if it had been evaluated, but for the covariances, which the next evaluation makes anew. */
static void student_take(void *self, const double *numbers)
{
    const student_training *w = self;
    hfi_latent_problem *p = w->how->problem;
    p->dispersion = w->how->trainer->evaluator.sites->noise;
    p->shape = w->nu;
    hfi_latent_place(p);
    p->converged = numbers[0] > 0.0;
    memcpy(p->w, numbers + 1, VECTORS * p->n * sizeof *numbers);
}

static const hfi_objective_kind of_student = {.place = student_place,
                                              .evaluate = student_evaluate,
                                              .log_prior = student_log_prior,
                                              .judge = student_judge,
                                              .accepted = accepted,
                                              .beside = beside,
                                              .tell = student_tell,
                                              .take = student_take,
                                              .nowhere =
                                                  "no normal approximation of the posterior under Student-t "
                                                  "noise was found at any hyperparameters tried"};

static hfi_objective objective_of(student_training *w)
{
    const hfi_trainer *t = w->how->trainer;
    return (hfi_objective){.kind = &of_student, .self = w, .count = t->count + 1, .journal = t->journal};
}

hf_status hfi_student_value(const hfi_student_search *how, const double *state, double nu, double *value)
{
    const hfi_trainer *t = how->trainer;
    student_training w = {.how = how, .nu = nu};
    const hfi_objective objective = objective_of(&w);
    double *theta = hfi_alloc(t->evaluator.ctx, t->count + 1, sizeof *theta);
    if (!theta) return HF_ERR_MEMORY;
    memcpy(theta, state, t->count * sizeof *state);
    theta[t->count] = log(nu - above(how));
    const hf_status s = hfi_objective_evaluate(t->evaluator.ctx, &objective, theta, value, NULL);
    hfi_free(t->evaluator.ctx, theta);
    return s;
}

/* ---- the search -------------------------------------------------------------------------------------------- */

/* Where expectation propagation has no fixed point its fractional form may have one, and Laplace's
 * approximation is always of use. */
static void step_down(const hfi_student_search *how)
{
    hfi_latent_problem *p = how->problem;
    p->started = false;
    if (p->power == 1.0) {
        p->power = 0.5;
        return;
    }
    p->method = &hfi_latent_laplace;
    *how->replaced = true;
}

/* The approximation at the present state, from the kept start or, where that fails, from a cold one. */
static hf_status find_student_sites(const hfi_student_search *how, const double *state, double nu,
                                    double *value)
{
    hfi_latent_problem *p = how->problem;
    hf_status s = hfi_student_value(how, state, nu, value);
    if (without_value(p, s) && p->started) {
        p->started = false;
        s = hfi_student_value(how, state, nu, value);
    }
    while (without_value(p, s) && p->method == &hfi_latent_ep) {
        step_down(how);
        s = hfi_student_value(how, state, nu, value);
    }
    if (s != HF_ERR_NOT_POSITIVE_DEFINITE) return s;
    return hfi_fail(how->trainer->evaluator.ctx, s,
                    "no normal approximation of the posterior under Student-t noise was found");
}

static hf_status evaluate_only(const hfi_student_search *how, const double *state, double nu)
{
    hfi_trainer *t = how->trainer;
    t->evaluations++;
    t->found.stop = HF_STOP_NOT_TRAINED;
    t->found.log_prior = hfi_trainer_log_prior(t, state);
    t->found.gradient_norm = 0.0;
    return find_student_sites(how, state, nu, &t->found.value);
}

/* How near to the fixed point an evaluation of the search goes. Expectation propagation goes all the way: it
 * has no bound that only rises. */
static void roughly(hfi_latent_problem *p, bool rough)
{
    p->tolerance = rough && p->method == &hfi_latent_variational ? hfi_student_rough : hfi_student_exact;
}

/* From wide->theta, where a better method has not found anything. */
static hf_status search_student_state(student_training *w, hfi_wide_space *wide, size_t iterations)
{
    const hfi_student_search *how = w->how;
    const hfi_objective objective = objective_of(w);
    hf_status s;
    roughly(how->problem, true);
    for (;;) {
        w->refused = false;
        s = hfi_trainer_search(how->trainer, hfi_by_lbfgs, &objective, &wide->space, how->enough, iterations,
                               wide->theta);
        const bool nowhere = s == HF_ERR_NOT_POSITIVE_DEFINITE && how->problem->method == &hfi_latent_ep;
        if (!w->refused && !nowhere) break;
        step_down(how);
    }
    roughly(how->problem, false);
    return s;
}

hf_status hfi_student_maximise(const hfi_student_search *how, double *state, double *nu, size_t iterations)
{
    hfi_trainer *t = how->trainer;
    const size_t last = t->count;
    if (t->free_count == 0 && !how->train_nu) return evaluate_only(how, state, *nu);
    student_training w = {.how = how, .moves = how->train_nu, .nu = *nu};
    hfi_wide_space wide = {0};
    hf_status s = hfi_trainer_widen(t, state, 1, &wide);
    if (s >= 0) {
        const hfi_likelihood *l = how->problem->likelihood;
        wide.lower[last] = log(l->shape.least - l->shape.above);
        wide.upper[last] = log(l->shape.most - l->shape.above);
        wide.theta[last] = log(*nu - l->shape.above);
        if (!how->train_nu) wide.space.free_count--;
        s = search_student_state(&w, &wide, iterations);
    }
    if (s >= 0) {
        memcpy(state, wide.theta, t->count * sizeof *state);
        if (how->train_nu) *nu = above(how) + exp(wide.theta[last]);
        s = find_student_sites(how, state, *nu, &t->found.value);
    }
    hfi_wide_space_free(t->evaluator.ctx, &wide);
    return s;
}
