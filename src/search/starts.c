/* SPDX-License-Identifier: Apache-2.0 */
/* From where a search starts with shorter lengthscales, and what a start is worth. */
#include "search/explore.h"

#include <math.h>
#include <string.h>

/* The search begins from the shortest of these whose value is within `nearly` nats a reading of the largest:
 * with little noise a value says whether neighbours are alike, and what is slow the cold start sees. Measured
 * on tables that come with R: from the cold start and one of these every maximum was found, to 5 nats, that
 * twenty starts found. */
static const hfi_start shorter[] = {
    {"short", 0.25, 0.1}, {"shorter", 0.0625, 0.1}, {"shortest", 0.015625, 0.1}};

static const double nearly = 0.1;

enum {
    SHORTER = sizeof shorter / sizeof shorter[0]
};

/* Nats: see hfi_explore_climb(). */
static const double roughly = 1.0, clearly = 0.5;

hf_status hfi_explore_value(void *trainer, const double *state, double *total)
{
    hfi_trainer *t = trainer;
    double value = 0.0, prior = 0.0;
    const hf_status s = hfi_trainer_evaluate(t, state, &value, &prior, NULL);
    *total = s < 0 || !isfinite(value) ? -INFINITY : value + prior;
    return hfi_unless_none(s);
}

hf_status hfi_start_shorter(hfi_trainer *t, hfi_start_value value_of, void *arg, const double *cold,
                            double *at, const hfi_start **out)
{
    const size_t bytes = t->count * sizeof *at;
    double value[SHORTER], best = -INFINITY;
    *out = NULL;
    for (size_t k = 0; k < SHORTER; k++) {
        value[k] = -INFINITY;
        memcpy(at, cold, bytes);
        hfi_trainer_move(t, &shorter[k], at);
        if (memcmp(at, cold, bytes) == 0) continue;
        const hf_status s = value_of(arg, at, &value[k]);
        if (s < 0) return s;
        best = fmax(best, value[k]);
    }
    for (size_t k = 0; k < SHORTER && isfinite(best); k++)
        if (value[k] >= best - nearly * (double)t->evaluator.n) *out = &shorter[k];
    memcpy(at, cold, bytes);
    if (*out) hfi_trainer_move(t, *out, at);
    return HF_OK;
}

bool hfi_explore_is_higher(const hfi_trainer *t, double than)
{
    return hfi_trainer_total(t) > than + clearly;
}

hf_status hfi_explore_climb(hfi_trainer *t, double *trial, size_t most, double than, bool *better)
{
    const double enough = t->enough;
    t->enough = fmax(roughly, enough);
    const hf_status s = hfi_trainer_maximise(t, trial, most);
    t->enough = enough;
    *better = s >= 0 && hfi_explore_is_higher(t, than);
    return hfi_unless_none(s);
}
