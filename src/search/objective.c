/* SPDX-License-Identifier: Apache-2.0 */
/* An objective's answers, from a journal where there is one. */
#include "search/objective.h"
#include "checkpoint/journal.h"
#include <string.h>

hf_status hfi_judge_overflow(void *self, hf_status answer)
{
    (void)self;
    return answer == HF_ERR_NOT_FINITE ? HF_ERR_NOT_POSITIVE_DEFINITE : answer;
}

typedef struct objective_key {
    const hfi_objective *objective;
    double *gradient;
    size_t slopes; /* entries of the gradient; 0 without one */
    bool beside;
} objective_key;

static hf_status compute_journal_answer(void *arg, hfi_journal_entry *entry)
{
    const objective_key *q = arg;
    const hfi_objective_kind *kind = q->objective->kind;
    const hf_status s = kind->evaluate(q->objective->self, entry->key, &entry->value, q->gradient);
    if (s < 0) return s;
    if (q->gradient) memcpy(entry->answer, q->gradient, q->slopes * sizeof *entry->answer);
    if (q->beside) kind->tell(q->objective->self, entry->answer + q->slopes);
    return s;
}

hf_status hfi_objective_evaluate(hf_context *ctx, const hfi_objective *o, const double *theta, double *value,
                                 double *gradient)
{
    hf_status s = o->kind->place ? o->kind->place(o->self, theta) : HF_OK;
    if (s < 0) return s;
    if (!o->journal) return o->kind->evaluate(o->self, theta, value, gradient);
    objective_key q = {.objective = o,
                       .gradient = gradient,
                       .slopes = gradient ? o->count : 0,
                       .beside = o->kind->beside != NULL};
    const size_t told = q.slopes + (q.beside ? o->kind->beside(o->self) : 0);
    double *answer = hfi_alloc(ctx, told + 1, sizeof *answer);
    if (!answer) return HF_ERR_MEMORY;
    hfi_journal_entry entry = {.asked = o->count, .told = told, .key = theta, .answer = answer};
    s = hfi_journal_answer(o->journal, &entry, compute_journal_answer, &q);
    *value = entry.value;
    if (entry.recalled && gradient) memcpy(gradient, answer, q.slopes * sizeof *gradient);
    if (entry.recalled && q.beside) o->kind->take(o->self, answer + q.slopes);
    hfi_free(ctx, answer);
    return s;
}
