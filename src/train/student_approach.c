/* SPDX-License-Identifier: Apache-2.0 */
/* Where a search under Student-t noise starts: the result of a cheap one, on some of the readings and with nu as it is, by the variational method whatever
 * follows: it is the one without jumps. From a cold start
 * with nu free most readings look like outliers, nu falls to what explains that, and the search ends in a mode of noise that is
 * nearly Cauchy's and of a function that follows little. */
#include "train/student_search.h"

enum {
    READINGS = 400 /* that the cheap search looks at */
};

/* Takes all but about READINGS present readings out, at random; `absent` receives which. */
static hf_status thin_out(hfi_evaluator *e, bool *absent)
{
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(e->ctx), HFI_PURPOSE_SAMPLE, 0);
    size_t wanted = READINGS;
    hf_status s = HF_OK;
    for (size_t a = 0; s >= 0 && a < e->n; a++) {
        const double left = (double)(e->n - a);
        const bool taken = hfi_stream_uniform(&stream) * left < (double)wanted;
        if (taken) wanted--;
        absent[e->row[a]] = !taken;
        if (!taken) s = hf_sites_set_present(e->ctx, e->sites, e->row[a], false);
    }
    return s < 0 ? s : hfi_evaluator_select(e);
}

static hf_status put_back(hfi_evaluator *e, const bool *absent)
{
    hf_status s = HF_OK;
    for (size_t i = 0; i < e->rows; i++)
        if (absent[i]) s = hfi_worse(hf_sites_set_present(e->ctx, e->sites, i, true), s);
    return s < 0 ? s : hfi_evaluator_select(e);
}

static hf_status search(const hfi_student_search *how, double *state, double nu, size_t iterations)
{
    hfi_student_problem problem;
    hf_status s = hfi_student_problem_init(&how->trainer->evaluator, HF_STUDENT_VARIATIONAL, &problem);
    if (s < 0) return s;
    const hfi_student_search held = {.trainer = how->trainer, .problem = &problem, .train_nu = false};
    s = hfi_student_maximise(&held, state, &nu, iterations);
    hfi_student_problem_free(&problem);
    return s;
}

hf_status hfi_student_approach(const hfi_student_search *how, double *state, double nu, size_t iterations)
{
    hfi_trainer *t = how->trainer;
    hfi_evaluator *e = &t->evaluator;
    if (t->free_count == 0 || !(how->train_nu || e->n > READINGS)) return HF_OK;
    bool *absent = hfi_alloc(e->ctx, e->rows, sizeof *absent);
    if (!absent) return HF_ERR_MEMORY;
    hf_status s = e->n > READINGS ? thin_out(e, absent) : HF_OK;
    if (s >= 0) s = search(how, state, nu, iterations);
    if (s == HF_ERR_NOT_POSITIVE_DEFINITE) s = HF_OK; /* the state is what it was */
    const hf_status back = put_back(e, absent);
    hfi_free(e->ctx, absent);
    return s < 0 ? s : back;
}
