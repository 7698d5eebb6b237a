/* SPDX-License-Identifier: Apache-2.0 */
/* One evaluation of a search: from the journal as long as it lasts, else by the method. Where an evaluation starts depends on where the
 * best one before it ended, so its sites belong to the answer. */
#include "checkpoint/journal.h"
#include "inference/student_search.h"
#include <string.h>

/* What the answer holds of the problem, after the gradient: whether it converged, then these. */
enum {
    VECTORS = 4
};

static void list(const hfi_student_problem *p, double *vectors[VECTORS])
{
    vectors[0] = p->curved.w;
    vectors[1] = p->force;
    vectors[2] = p->pull;
    vectors[3] = p->latent;
}

static hf_status compute(hfi_student_problem *p, double nu, double *value, double *gradient)
{
    const hf_status s = hfi_student_evaluate(p, nu, value, gradient);
    /* Numbers that are not finite say as little about a place as a posterior that is none. */
    return s == HF_ERR_NOT_FINITE ? HF_ERR_NOT_POSITIVE_DEFINITE : s;
}

/* As if it had been evaluated, but for the covariances, which the next evaluation makes anew. */
static void put_back(hfi_student_problem *p, double nu, const double *kept)
{
    double *vectors[VECTORS];
    list(p, vectors);
    hfi_student_place(p, nu);
    p->converged = kept[0] > 0.0;
    for (size_t k = 0; k < VECTORS; k++) memcpy(vectors[k], kept + 1 + k * p->n, p->n * sizeof *vectors[k]);
}

static void take_down(const hfi_student_problem *p, double *kept)
{
    double *vectors[VECTORS];
    list(p, vectors);
    kept[0] = p->converged ? 1.0 : 0.0;
    for (size_t k = 0; k < VECTORS; k++) memcpy(kept + 1 + k * p->n, vectors[k], p->n * sizeof *vectors[k]);
}

hf_status hfi_student_ask(const hfi_student_search *how, const double *state, double nu, double *value,
                          double *gradient)
{
    hfi_trainer *t = how->trainer;
    hfi_student_problem *p = how->problem;
    hf_status s = hfi_trainer_set(t, state);
    if (s < 0) return s;
    if (!t->journal) return compute(p, nu, value, gradient);
    const size_t slopes = gradient ? t->noise + 2 : 0, told = slopes + 1 + VECTORS * p->n;
    double *numbers = hfi_alloc(t->evaluator.ctx, t->count + 1 + told, sizeof *numbers);
    if (!numbers) return HF_ERR_MEMORY;
    memcpy(numbers, state, t->count * sizeof *state);
    numbers[t->count] = nu;
    hfi_journal_entry entry = {
        .asked = t->count + 1, .told = told, .question = numbers, .answer = numbers + t->count + 1};
    bool found = false;
    s = hfi_journal_recall(t->journal, &entry, &found);
    if (s >= 0 && found) {
        s = entry.status;
        *value = entry.value;
        for (size_t i = 0; i < slopes; i++) gradient[i] = entry.answer[i];
        put_back(p, nu, entry.answer + slopes);
    } else if (s >= 0) {
        s = entry.status = compute(p, nu, value, gradient);
        entry.value = *value;
        for (size_t i = 0; i < slopes; i++) entry.answer[i] = gradient[i];
        take_down(p, entry.answer + slopes);
        hfi_journal_keep(t->journal, &entry);
    }
    hfi_free(t->evaluator.ctx, numbers);
    return s;
}
