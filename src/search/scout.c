/* SPDX-License-Identifier: Apache-2.0 */
/* Where periods start. From a period that is not one of the readings' no search finds theirs: it would have
 * to cross as many maxima as there are periods in between. */
#include "objective/thin.h"
#include "search/explore.h"
#include "search/spectrum.h"
#include <math.h>
#include <string.h>

enum {
    PERIODS = 8,  /* of one kernel that are looked for */
    CLIMBS = 3,   /* proposals with the largest values that are searched from */
    FINALISTS = 2 /* of these that are from more starts */
};

/* Factor of a periodic kernel's lengthscale, which says how sharply a wave bends, in another start. */
static const double pointed = 0.25;

/* Parameters of the kernel: a period, its input, and the lengthscale that goes with it. */
typedef struct period {
    size_t at, column, lengthscale;
    bool sought;            /* else it is where somebody has put it */
    bool settled;           /* that, or found */
    bool moves_lengthscale; /* the lengthscale may be moved */
} period;

typedef struct periods {
    size_t count, sought;
    period list[2 * PERIODS];
} periods;

/* Whether a parameter of the kernel is trained and nobody has said where from. */
static bool may_start_anywhere(const hfi_trainer *t, size_t i)
{
    if (hfi_kernel_parameter_given(t->evaluator.kernel, i)) return false;
    for (size_t k = 0; k < t->free_count && t->free_index[k] <= i; k++)
        if (t->free_index[k] == i) return true;
    return false;
}

/* Those of the kernel, as many at most that are not sought as are. */
static void list_periods(const hfi_trainer *t, periods *all)
{
    const hf_kernel *kernel = t->evaluator.kernel;
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        period p = {.at = i};
        if (!hfi_kernel_is_period(kernel, i, &p.column, &p.lengthscale)) continue;
        p.sought = may_start_anywhere(t, i);
        p.settled = !p.sought;
        p.moves_lengthscale = may_start_anywhere(t, p.lengthscale);
        if ((p.sought ? all->sought : all->count - all->sought) == PERIODS) continue;
        all->sought += p.sought ? 1 : 0;
        all->list[all->count++] = p;
    }
}

/* Proposes periods by the spectrum of the readings, beside those of its input that are settled. Readings in `thinned`
 * (or NULL) count too, although they are out for now. */
static hf_status propose(hfi_trainer *t, const hfi_thinned *thinned, const double *state,
                         const period *sought, const periods *all, double *proposal, size_t *count)
{
    const hfi_evaluator *e = &t->evaluator;
    double known[2 * PERIODS];
    hfi_spectrum_data data = {.row = NULL,
                              .d = e->d,
                              .x = e->x,
                              .ldx = e->ldx,
                              .y = hf_sites_readings(e->sites),
                              .column = sought->column,
                              .groups = 1,
                              .known = known};
    if (hfi_kernel_coregion(e->kernel, 0, NULL, NULL, NULL, &data.group_column))
        data.groups = hf_kernel_coregion_outputs(e->kernel, 0);
    for (size_t k = 0; k < all->count; k++)
        if (&all->list[k] != sought && all->list[k].settled && all->list[k].column == sought->column)
            known[data.knowns++] = exp(state[all->list[k].at]);
    size_t *row = hfi_alloc(e->ctx, e->rows, sizeof *row);
    if (!row) return HF_ERR_MEMORY;
    for (size_t i = 0; i < e->rows; i++)
        if (hf_sites_is_present(e->sites, i) || (thinned && thinned->absent[i])) row[data.n++] = i;
    data.row = row;
    const hf_status s = hfi_find_periods(e->ctx, &data, proposal, count);
    hfi_free(e->ctx, row);
    return s;
}

/* Room for a period where it is not in the box: kernel and trainer have one each. */
static hf_status widen_period_bounds(hfi_trainer *t, size_t at, double value)
{
    hf_kernel *kernel = t->evaluator.kernel;
    hf_parameter p;
    hf_status s = hf_kernel_parameter(kernel, at, &p);
    if (s < 0 || (log(value) > t->lower[at] && log(value) < t->upper[at])) return s;
    s = hfi_kernel_set_parameter(kernel, at, p.value, fmin(p.lower, 0.5 * value), fmax(p.upper, 2.0 * value),
                                 p.fixed);
    t->lower[at] = fmin(t->lower[at], log(0.5 * value));
    t->upper[at] = fmax(t->upper[at], log(2.0 * value));
    return s;
}

/* A start of a period, and what it led to. */
typedef struct period_start {
    double period, lengthscale; /* logarithms: the period, and the lengthscale that goes with it */
    double total;
} period_start;

/* The largest total first; equal ones as they were. */
static void sort_candidates(size_t count, period_start *list)
{
    for (size_t k = 1; k < count; k++) {
        const period_start own = list[k];
        size_t at = k;
        for (; at > 0 && own.total > list[at - 1].total; at--) list[at] = list[at - 1];
        list[at] = own;
    }
}

static void place_period_start(const hfi_trainer *t, const period *p, const period_start *c,
                               const double *state, double *trial)
{
    memcpy(trial, state, t->count * sizeof *trial);
    trial[p->at] = c->period;
    trial[p->lengthscale] = c->lengthscale;
}

/* By their values at `state`. */
static hf_status value_all(hfi_trainer *t, const period *p, const double *state, size_t count,
                           period_start *list, double *trial)
{
    hf_status s = HF_OK;
    for (size_t k = 0; s >= 0 && k < count; k++) {
        s = widen_period_bounds(t, p->at, exp(list[k].period));
        place_period_start(t, p, &list[k], state, trial);
        if (s >= 0) s = hfi_explore_value(t, trial, &list[k].total);
    }
    sort_candidates(count, list);
    return s;
}

/* A search from one, with this wave; `shorter`: from there with shorter lengthscales. Its start becomes *best
 * if it ends clearly higher. */
static hf_status climb_from_period(hfi_trainer *t, const period *p, const double *state, size_t iterations,
                                   bool shorter, period_start *c, double *work, period_start *best)
{
    double *trial = work, *cold = work + t->count;
    const hfi_start *moved = NULL;
    bool better = false;
    hf_status s = HF_OK;
    c->total = -INFINITY;
    place_period_start(t, p, c, state, trial);
    if (shorter) {
        memcpy(cold, trial, t->count * sizeof *cold);
        s = hfi_start_shorter(t, hfi_explore_value, t, cold, trial, &moved);
        if (s < 0 || !moved) return s;
    }
    t->found.value = t->found.log_prior = -INFINITY;
    s = hfi_explore_climb(t, trial, iterations, best->total, &better);
    if (s >= 0) c->total = hfi_trainer_total(t);
    if (better) *best = *c;
    return s;
}

/* Searches from the candidates with the largest values, then from those of them that end highest with another
 * wave and with shorter lengthscales. */
static hf_status climb_all(hfi_trainer *t, const period *p, const double *state, size_t iterations,
                           size_t count, period_start *list, double *work, period_start *best)
{
    hf_status s = HF_OK;
    if (count > CLIMBS) count = CLIMBS;
    for (size_t k = 0; s >= 0 && k < count; k++)
        s = climb_from_period(t, p, state, iterations, false, &list[k], work, best);
    sort_candidates(count, list);
    for (size_t k = 0; s >= 0 && k < count && k < FINALISTS; k++) {
        period_start other = list[k];
        s = climb_from_period(t, p, state, iterations, true, &other, work, best);
        other.lengthscale = fmax(other.lengthscale + log(pointed), t->lower[p->lengthscale]);
        if (s >= 0 && p->moves_lengthscale)
            s = climb_from_period(t, p, state, iterations, false, &other, work, best);
    }
    return s;
}

/* *reached: where the best start so far ended. */
static hf_status choose_period(hfi_trainer *t, const hfi_thinned *thinned, const periods *all,
                               const period *p, double *state, size_t iterations, double *work,
                               double *reached)
{
    double proposal[HFI_PERIODS_MOST];
    period_start list[HFI_PERIODS_MOST];
    period_start best = {.period = state[p->at], .lengthscale = state[p->lengthscale], .total = *reached};
    size_t count = 0;
    hf_status s = propose(t, thinned, state, p, all, proposal, &count);
    for (size_t k = 0; k < count; k++)
        list[k] = (period_start){.period = log(proposal[k]), .lengthscale = best.lengthscale};
    if (s >= 0) s = value_all(t, p, state, count, list, work);
    if (s >= 0) s = climb_all(t, p, state, iterations, count, list, work, &best);
    if (s < 0) return s;
    state[p->at] = t->start[p->at] = best.period;
    state[p->lengthscale] = t->start[p->lengthscale] = best.lengthscale;
    *reached = best.total;
    return s;
}

/* One period after the other, beside those that are settled; several twice, because the first was without the
 * others. `work`: two states. */
static hf_status scout(hfi_trainer *t, const hfi_thinned *thinned, periods *all, double *state,
                       size_t iterations, double *work)
{
    bool any = false;
    memcpy(work, state, t->count * sizeof *work);
    hf_status s = hfi_explore_climb(t, work, iterations, -INFINITY, &any);
    double reached = any ? hfi_trainer_total(t) : -INFINITY;
    const size_t steps = all->sought > 1 ? 2 * all->count : all->count;
    for (size_t step = 0; s >= 0 && step < steps; step++) {
        period *p = &all->list[step % all->count];
        if (!p->sought) continue;
        s = choose_period(t, thinned, all, p, state, iterations, work, &reached);
        p->settled = true;
    }
    return s;
}

hf_status hfi_scout_periods(hfi_trainer *t, double *state, size_t iterations, double *work)
{
    periods all = {0};
    list_periods(t, &all);
    if (all.sought == 0) return HF_OK;
    hf_status s = hfi_evaluator_select(&t->evaluator);
    if (s < 0) return s;
    if (t->evaluator.n <= HFI_EXPLORE_READINGS) return scout(t, NULL, &all, state, iterations, work);
    hfi_thinned thinned;
    s = hfi_thin_near(&t->evaluator, t->comparable, HFI_EXPLORE_READINGS, &thinned);
    if (s < 0) return s;
    s = scout(t, &thinned, &all, state, iterations, work);
    const hf_status back = hfi_thin_back(&t->evaluator, &thinned);
    return s < 0 ? s : back;
}
