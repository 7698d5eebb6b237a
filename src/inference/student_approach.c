/* SPDX-License-Identifier: Apache-2.0 */
/* Where a search under Student-t noise starts: the result of a cheap one, on some of the readings and at
 * first with nu as it is, by the variational method whatever follows: it is the one without jumps. From a
 * cold start with nu free most readings look like outliers, and nu falls to what explains that. The search then ends in
 * a mode of noise that is nearly Cauchy's and of a function that follows little. */
#include "inference/student.h"
#include "objective/thin.h"
#include "search/explore.h"
#include <math.h>
#include <string.h>

enum {
    READINGS = 400 /* that the cheap search looks at */
};

/* Nats that a step of it must gain; where starts are compared; by which one is better: see explore.h. */
static const double enough = 0.1, roughly = 1.0, clearly = 0.5;

/* With nu as it is and then, if `both`, with nu free. */
static hf_status search_variationally(const hfi_student_search *how, double *state, double *nu, bool both,
                                      size_t iterations)
{
    hfi_latent_problem problem;
    hf_status s = hfi_student_problem(&how->trainer->evaluator, how->problem->likelihood,
                                      HF_INFERENCE_VARIATIONAL, &problem);
    if (s < 0) return s;
    hfi_student_search cheap = {.trainer = how->trainer, .problem = &problem, .enough = enough};
    s = hfi_student_maximise(&cheap, state, nu, iterations);
    cheap.train_nu = true;
    if (s >= 0 && both) s = hfi_student_maximise(&cheap, state, nu, iterations);
    hfi_latent_problem_free(&problem);
    return s;
}

hf_status hfi_student_approach(const hfi_student_search *how, double *state, double *nu, size_t iterations)
{
    hfi_trainer *t = how->trainer;
    hfi_evaluator *e = &t->evaluator;
    const bool thin = e->n > READINGS;
    if (t->free_count == 0 || !(how->train_nu || thin)) return HF_OK;
    hfi_thinned thinned;
    hf_status s = thin ? hfi_thin_out(e, READINGS, &thinned) : HF_OK;
    if (s < 0) return s;
    s = search_variationally(how, state, nu, how->train_nu && thin, iterations);
    s = hfi_unless_none(s); /* state and nu are what they were */
    const hf_status back = thin ? hfi_thin_back(e, &thinned) : HF_OK;
    return s < 0 ? s : back;
}

/* ---- shorter starts ---------------------------------------------------------------------------------------- */

typedef struct start_comparison {
    hfi_student_search cheap;
    double nu;
    size_t iterations;
} start_comparison;

static hf_status evaluate_student_start(void *arg, const double *state, double *total)
{
    const start_comparison *c = arg;
    double value = 0.0;
    c->cheap.problem->started = false;
    const hf_status s = hfi_student_value(&c->cheap, state, c->nu, &value);
    c->cheap.trainer->evaluations++;
    *total = s < 0 ? -INFINITY : value + hfi_trainer_log_prior(c->cheap.trainer, state);
    return hfi_unless_none(s);
}

/* How high a search from `start` ends; -infinity where it finds no value. */
static hf_status climb_from_start(const start_comparison *c, const double *start, double *state,
                                  double *total)
{
    hfi_trainer *t = c->cheap.trainer;
    double nu = c->nu;
    c->cheap.problem->started = false;
    memcpy(state, start, t->count * sizeof *state);
    const hf_status s = hfi_student_maximise(&c->cheap, state, &nu, c->iterations);
    *total = s < 0 ? -INFINITY : hfi_trainer_total(t);
    return hfi_unless_none(s);
}

/* `work`: as long as a state. */
static hf_status compare_student_starts(start_comparison *c, const double *cold, double *trial, double *work,
                                        bool *found)
{
    hfi_trainer *t = c->cheap.trainer;
    const hfi_start *chosen = NULL;
    double from_cold = 0.0, from_shorter = -INFINITY;
    hf_status s = climb_from_start(c, cold, work, &from_cold);
    if (s >= 0) s = hfi_start_shorter(t, evaluate_student_start, c, cold, trial, &chosen);
    if (s >= 0 && chosen) s = climb_from_start(c, trial, work, &from_shorter);
    *found = s >= 0 && from_shorter > from_cold + clearly;
    return s;
}

/* On the readings that are present now. */
static hf_status compare_here(const hfi_student_search *how, const double *cold, double nu, size_t iterations,
                              double *trial, bool *found)
{
    hfi_trainer *t = how->trainer;
    hfi_latent_problem problem;
    hf_status s =
        hfi_student_problem(&t->evaluator, how->problem->likelihood, HF_INFERENCE_VARIATIONAL, &problem);
    if (s < 0) return s;
    double *work = hfi_alloc(t->evaluator.ctx, t->count, sizeof *work);
    problem.tolerance = hfi_student_rough;
    start_comparison c = {
        .cheap = {.trainer = t, .problem = &problem, .enough = roughly}, .nu = nu, .iterations = iterations};
    s = work ? compare_student_starts(&c, cold, trial, work, found) : HF_ERR_MEMORY;
    hfi_free(t->evaluator.ctx, work);
    hfi_latent_problem_free(&problem);
    return s;
}

hf_status hfi_student_shorter(const hfi_student_search *search, const double *cold, double nu,
                              size_t iterations, double *trial, bool *found)
{
    hfi_trainer *t = search->trainer;
    hfi_evaluator *e = &t->evaluator;
    *found = false;
    if (t->free_count == 0) return HF_OK;
    if (e->n <= HFI_EXPLORE_READINGS) return compare_here(search, cold, nu, iterations, trial, found);
    hfi_thinned thinned;
    hf_status s = hfi_thin_near(e, t->comparable, HFI_EXPLORE_READINGS, &thinned);
    if (s < 0) return s;
    s = compare_here(search, cold, nu, iterations, trial, found);
    const hf_status back = hfi_thin_back(e, &thinned);
    return s < 0 ? s : back;
}
