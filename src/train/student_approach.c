/* SPDX-License-Identifier: Apache-2.0 */
/* Where a search under Student-t noise starts: the result of a cheap one, on some of the readings and at first with nu as it is, by the variational method whatever
 * follows: it is the one without jumps. From a cold start
 * with nu free most readings look like outliers, nu falls to what explains that, and the search ends in a mode of noise that is
 * nearly Cauchy's and of a function that follows little. */
#include "train/student_search.h"
#include "train/thin.h"

enum {
    READINGS = 400 /* that the cheap search looks at */
};

/* Nats that a step of it must gain. */
static const double enough = 0.1;

/* With nu as it is and then, if `both`, with nu free. */
static hf_status search(const hfi_student_search *how, double *state, double *nu, bool both,
                        size_t iterations)
{
    hfi_student_problem problem;
    hf_status s = hfi_student_problem_init(&how->trainer->evaluator, HF_STUDENT_VARIATIONAL, &problem);
    if (s < 0) return s;
    hfi_student_search cheap = {.trainer = how->trainer, .problem = &problem, .enough = enough};
    s = hfi_student_maximise(&cheap, state, nu, iterations);
    cheap.train_nu = true;
    if (s >= 0 && both) s = hfi_student_maximise(&cheap, state, nu, iterations);
    hfi_student_problem_free(&problem);
    return s;
}

hf_status hfi_student_approach(const hfi_student_search *how, double *state, double *nu, size_t iterations)
{
    hfi_trainer *t = how->trainer;
    hfi_evaluator *e = &t->evaluator;
    const bool thin = e->n > READINGS;
    if (t->free_count == 0 || !(how->train_nu || thin)) return HF_OK;
    hfi_thinned thinned;
    hf_status s = thin ? hfi_thin_out(e, t->order, READINGS, &thinned) : HF_OK;
    if (s < 0) return s;
    s = search(how, state, nu, how->train_nu && thin, iterations);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) s = HF_OK; /* state and nu are what they were */
    const hf_status back = thin ? hfi_thin_back(e, &thinned) : HF_OK;
    return s < 0 ? s : back;
}
