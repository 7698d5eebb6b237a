/* SPDX-License-Identifier: Apache-2.0 */
/* The place where a surface is largest: over candidates by looking at all, over a box by looking at many and
 * climbing from the best. Inputs that are not continuous are walked along between the climbs, from value to
 * value. */
#include "core/settings.h"
#include "optimise/optimise.h"

#include "search/maximise.h"
#include <math.h>
#include <string.h>

/* Values that differ by less, relative to the largest, are those of a tie that was rounded. */
static const double tie = 1e-12;
/* So many of a climb's units of length are a side of the box. The first step is as long as the gradient in
 * these units, and the values' unit is the range that was looked at: so it does not leave the hill it begins
 * on. */
static const double units = 100.0;
/* In these units: where a climb has arrived. */
static const double flat = 1e-8, enough = 1e-13;

/* Least gain of a step from value to value, as a share of their range. So rounding decides nothing, and walks end. */
static const double least_gain = 1e-9;
/* Multiplications and additions below which waking and gathering threads costs more than they save. */
static const double least_for_threads = 4e6;
/* Multiplications of a search with measured settings. */
static const double look_work = 1e9, climb_work = 1e9;
enum {
    ROUNDS = 50,       /* of climbs and walks in turn, at most: they end sooner, for each gains */
    FEW_SAMPLES = 512, /* as many are looked at however much a point costs */
    FEW_STARTS = 3
};

typedef struct surface_search {
    hf_context *ctx;
    const hfi_surface *surface;
    const hf_domain *domain;
    hf_search_settings settings;
    size_t d;
    size_t evaluations, climbs;
    /* of boxes only */
    size_t count;   /* points looked at */
    double *points; /* count x d */
    double *values;
    size_t free;    /* inputs that are not fixed */
    size_t smooth;  /* of which so many, the first, are continuous */
    size_t *inputs; /* free */
    hfi_walk walk;
    double *x, *gradient; /* where a climb is, user's units */
    double *best;
    double best_value;
    double *at, *zeros, *ends; /* smooth: where a climb is, in its units, and its bounds */
    double *before;            /* smooth: where it began, user's units */
    double base, scale;        /* of the values in a climb */
} surface_search;

/* ---- a climb ----------------------------------------------------------------------------------------------------- */

static void place_surface_point(surface_search *s, const double *at)
{
    for (size_t k = 0; k < s->smooth; k++) {
        const size_t j = s->inputs[k];
        s->x[j] = hfi_domain_at(s->domain, j, at[k] / units);
    }
}

static double side(const surface_search *s, size_t j)
{
    return s->domain->upper[j] - s->domain->lower[j];
}

static hf_status surface_evaluate(void *self, const double *at, double *value, double *gradient)
{
    surface_search *s = self;
    double here;
    place_surface_point(s, at);
    s->evaluations++;
    const hf_status status = s->surface->at(s->surface->of, s->d, s->x, &here, s->gradient);
    if (status < 0) return status;
    *value = (here - s->base) / s->scale;
    for (size_t k = 0; k < s->smooth; k++) {
        const size_t j = s->inputs[k];
        gradient[k] = s->gradient[j] * side(s, j) / s->scale / units;
    }
    return status;
}

static const hfi_objective_kind of_surface = {.evaluate = surface_evaluate, .judge = hfi_judge_overflow};

/* Along the continuous inputs from s->x, where the value is *value. Both become those of the climb's best
 * place, unless that is no better. */
static hf_status climb_surface(surface_search *s, double *value)
{
    for (size_t k = 0; k < s->smooth; k++) {
        const size_t j = s->inputs[k];
        s->at[k] = (s->x[j] - s->domain->lower[j]) / side(s, j) * units;
        s->before[k] = s->x[j];
    }
    const hfi_objective objective = {.kind = &of_surface, .self = s, .count = s->smooth};
    const hfi_space space = hfi_space_box(s->smooth, s->zeros, s->ends);
    const hfi_search_settings settings = {
        .by = hfi_by_lbfgs, .enough = enough, .flat = flat, .most = s->settings.iterations};
    hfi_optimum found;
    hf_status status = hfi_maximise(s->ctx, &objective, &space, &settings, s->at, &found);
    const bool nothing = status == HF_ERR_NOT_POSITIVE_DEFINITE; /* there is nothing to be seen here */
    if (status < 0 && !nothing) return status;
    if (!nothing) s->climbs++;
    const double there = nothing ? *value : s->base + s->scale * found.value;
    if (there > *value) {
        *value = there;
        place_surface_point(s, s->at);
    } else {
        for (size_t k = 0; k < s->smooth; k++) s->x[s->inputs[k]] = s->before[k];
    }
    return HF_OK;
}

static hf_status evaluate_surface_points(surface_search *s, size_t count, const double *points,
                                         double *values);

/* Steps to the best neighbour of s->x until none is better. *moved: whether there was one. */
static hf_status walk(surface_search *s, double *value, bool *moved)
{
    *moved = false;
    while (s->walk.count > 0) {
        const size_t count = hfi_walk_neighbours(&s->walk, s->x);
        const hf_status status = evaluate_surface_points(s, count, s->walk.points, s->walk.values);
        if (status < 0) return status;
        size_t best = 0;
        for (size_t i = 1; i < count; i++)
            if (s->walk.values[i] > s->walk.values[best]) best = i;
        s->evaluations += count;
        if (!(s->walk.values[best] > *value + least_gain * s->scale)) break;
        *value = s->walk.values[best];
        memcpy(s->x, s->walk.points + best * s->d, s->d * sizeof *s->x);
        *moved = true;
    }
    return HF_OK;
}

static hf_status go_up(surface_search *s, size_t start)
{
    double value = s->values[start];
    bool moved = true;
    hf_status status = HF_OK;
    memcpy(s->x, s->points + start * s->d, s->d * sizeof *s->x);
    for (int round = 0; moved && round < ROUNDS && status >= 0; round++) {
        if (s->smooth > 0) status = climb_surface(s, &value);
        if (status >= 0) status = walk(s, &value, &moved);
    }
    if (status >= 0 && value > s->best_value) {
        s->best_value = value;
        memcpy(s->best, s->x, s->d * sizeof *s->best);
    }
    return status;
}

/* ---- what is looked at ------------------------------------------------------------------------------------------- */

static hf_status allocate_surface_search(surface_search *s)
{
    const size_t d = s->d;
    const hf_status status = HFI_ALLOC(s->ctx, HFI_ROOM(s->inputs, d), HFI_ROOM(s->x, d),
                                       HFI_ROOM(s->gradient, d), HFI_ROOM(s->best, d), HFI_ROOM(s->at, d),
                                       HFI_ROOM(s->zeros, d), HFI_ROOM(s->ends, d), HFI_ROOM(s->before, d));
    if (status < 0) return status;
    s->free = hfi_domain_free_inputs(s->domain, s->inputs, &s->smooth);
    for (size_t k = 0; k < d; k++) s->ends[k] = units;
    return hfi_walk_begin(s->ctx, s->domain, s->free - s->smooth, s->inputs + s->smooth, &s->walk);
}

static hf_status evaluate_surface_points(surface_search *s, size_t count, const double *points,
                                         double *values)
{
    const hfi_surface *f = s->surface;
    if ((double)count * f->work >= least_for_threads || hf_context_threads(s->ctx) == 1)
        return f->many(s->ctx, f->of, count, s->d, points, values);
    hf_context *own = hfi_context_borrow(s->ctx);
    if (own == NULL) return HF_ERR_MEMORY;
    hf_context_set_threads(own, 1);
    const hf_status status = f->many(own, f->of, count, s->d, points, values);
    hfi_context_give_back(s->ctx, own);
    return status;
}

/* The range of the values, or of the better half of them; spoils s->values[] no more than by their order in a copy. */
static hf_status measure_surface_range(surface_search *s)
{
    double least = s->values[0];
    for (size_t i = 1; i < s->count; i++) least = fmin(least, s->values[i]);
    s->scale = s->base - least;
    if (!s->surface->bottomless) return HF_OK;
    double *copy = hfi_alloc_unset(s->ctx, s->count, sizeof *copy);
    if (copy == NULL) return HF_ERR_MEMORY;
    memcpy(copy, s->values, s->count * sizeof *copy);
    const double half = s->base - hfi_median(copy, s->count);
    if (half > 0.0) s->scale = half;
    hfi_free(s->ctx, copy);
    return HF_OK;
}

static hf_status look_around(surface_search *s, size_t guess_count, const double *guesses)
{
    hf_status status =
        hfi_points_to_look_at(s->ctx, s->surface->near, s->domain, s->free, s->inputs, s->settings.samples,
                              guess_count, guesses, &s->points, &s->count);
    if (status < 0) return status;
    s->values = hfi_alloc_unset(s->ctx, s->count, sizeof *s->values);
    if (s->values == NULL) return HF_ERR_MEMORY;
    status = evaluate_surface_points(s, s->count, s->points, s->values);
    if (status < 0) return status;
    s->evaluations += s->count;
    size_t best = 0;
    for (size_t i = 1; i < s->count; i++)
        if (s->values[i] > s->values[best]) best = i;
    s->base = s->best_value = s->values[best];
    memcpy(s->best, s->points + best * s->d, s->d * sizeof *s->best);
    return measure_surface_range(s);
}

static hf_status climb_from_the_best(surface_search *s)
{
    /* A function that is the same everywhere has no better place, and one of infinite range no scale. */
    if (s->free == 0 || s->settings.starts == 0 || !(s->scale > 0.0) || !isfinite(s->scale)) return HF_OK;
    const size_t most = s->settings.starts < s->count ? s->settings.starts : s->count;
    size_t *starts = hfi_alloc_unset(s->ctx, most, sizeof *starts), chosen = 0;
    if (starts == NULL) return HF_ERR_MEMORY;
    hf_status status =
        hfi_choose_starts(s->ctx, s->domain, s->count, s->points, s->values, most, starts, &chosen);
    for (size_t k = 0; k < chosen && status >= 0; k++)
        status = hfi_progress(s->ctx, "maximise", (double)k / (double)chosen, s->best_value)
                     ? go_up(s, starts[k])
                     : hfi_cancelled(s->ctx);
    hfi_free(s->ctx, starts);
    return status;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* The nearest point of the lattice in the box. */
static void round_to_lattice(const surface_search *s, double *x)
{
    const double step = s->settings.resolution;
    for (size_t k = 0; k < s->smooth; k++) {
        const size_t j = s->inputs[k];
        double number = nearbyint((x[j] - s->domain->lower[j]) / side(s, j) / step);
        if (number * step > 1.0 + 1e-12) number -= 1.0; /* the last one that is inside */
        x[j] = hfi_domain_at(s->domain, j, number * step);
    }
}

/* Largest entry of the gradient, in sides of the box, that does not push out of it. */
static hf_status steepness(surface_search *s, double *largest)
{
    double value;
    const hf_status status = s->surface->at(s->surface->of, s->d, s->best, &value, s->gradient);
    *largest = 0.0;
    if (status < 0) return hfi_fail(s->ctx, status, "%s has no gradient at the best place", s->surface->what);
    for (size_t k = 0; k < s->smooth; k++) {
        const size_t j = s->inputs[k];
        const double gradient = s->gradient[j] * side(s, j);
        if (gradient < 0.0 && s->best[j] <= s->domain->lower[j]) continue;
        if (gradient > 0.0 && s->best[j] >= s->domain->upper[j]) continue;
        *largest = fmax(*largest, fabs(gradient));
    }
    return status;
}

static hf_status search_box(surface_search *s, size_t guess_count, const double *guesses, hf_argmax *found)
{
    hf_status status = allocate_surface_search(s);
    if (status >= 0) status = look_around(s, guess_count, guesses);
    if (status >= 0) status = climb_from_the_best(s);
    if (status >= 0) status = steepness(s, &found->gradient);
    if (status >= 0 && s->settings.resolution > 0.0) round_to_lattice(s, s->best);
    return status;
}

static hf_status search_candidates(surface_search *s, size_t *index)
{
    const hf_domain *domain = s->domain;
    const size_t n = domain->candidates;
    double *values = hfi_alloc_unset(s->ctx, n, sizeof *values);
    if (values == NULL) return HF_ERR_MEMORY;
    const hf_status status = evaluate_surface_points(s, n, domain->points, values);
    if (status >= 0) {
        double best = values[0], largest = 0.0;
        for (size_t i = 0; i < n; i++) {
            best = fmax(best, values[i]);
            largest = fmax(largest, fabs(values[i]));
        }
        size_t at = 0;
        while (values[at] < best - tie * largest) at++;
        *index = at;
        s->evaluations += n;
    }
    hfi_free(s->ctx, values);
    return status;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

hf_status hfi_maximise_check_call(hf_context *ctx, const hf_domain *domain,
                                  const hf_search_settings *settings, size_t guess_count,
                                  const double *guesses, const double *x)
{
    if (x == NULL) return hfi_refuse(ctx, "there is no room for the place: x is NULL");
    hf_status status = hf_domain_check(ctx, domain);
    if (status < 0 || domain->candidates > 0) return status;
    hf_search_settings own;
    status = hfi_settings_open(ctx, hf_search_settings_table(), settings, &own);
    if (status < 0) return status;
    if (guess_count > 0 && guesses == NULL)
        return hfi_refuse(ctx, "there are %zu guesses, but they are NULL", guess_count);
    for (size_t k = 0; k < guess_count * domain->dimension; k++)
        if (!isfinite(guesses[k]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "guess %zu (counted from 0) is not finite",
                            k / domain->dimension);
    return status;
}

/* Looking costs a product a point, climbing two solves a step, which wait for memory. */
static hf_search_settings measured_settings(double work, size_t d)
{
    hf_search_settings settings = hf_search_settings_default();
    const double samples = look_work / work,
                 starts = climb_work / (10.0 * (double)settings.iterations * work);
    if (samples < 256.0 * (double)(d < 16 ? d : 16))
        settings.samples = (size_t)fmax(samples, (double)FEW_SAMPLES);
    if (starts < (double)settings.starts) settings.starts = (size_t)fmax(starts, (double)FEW_STARTS);
    return settings;
}

hf_status hfi_maximise_surface(hf_context *ctx, const hfi_surface *surface, const hf_domain *domain,
                               const hf_search_settings *settings_or_null, size_t guess_count,
                               const double *guesses, double *x, hf_argmax *found)
{
    surface_search s = {.ctx = ctx, .surface = surface, .domain = domain, .d = domain->dimension};
    hf_argmax result = {.index = 0};
    if (settings_or_null == NULL && surface->measured)
        s.settings = measured_settings(surface->work, s.d);
    else
        (void)hfi_settings_take(ctx, hf_search_settings_table(), settings_or_null, &s.settings);
    const bool listed = domain->candidates > 0;
    hf_status status =
        listed ? search_candidates(&s, &result.index) : search_box(&s, guess_count, guesses, &result);
    const double *place = listed ? domain->points + result.index * s.d : s.best;
    if (status >= 0 && surface->describe != NULL) {
        status = surface->describe(ctx, surface->of, s.d, place, &result);
        if (status == HF_ERR_NOT_FINITE)
            (void)hfi_fail(ctx, status, "%s has no value at the place that was found", surface->what);
    }
    if (status >= 0) {
        memcpy(x, place, s.d * sizeof *x);
        result.evaluations = s.evaluations;
        result.climbs = s.climbs;
        *found = result;
    }
    hfi_walk_end(ctx, &s.walk);
    HFI_FREE(ctx, s.values, s.points, s.inputs, s.x, s.gradient, s.best, s.at, s.zeros, s.ends, s.before);
    return status;
}
