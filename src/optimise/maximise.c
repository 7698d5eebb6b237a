/* SPDX-License-Identifier: Apache-2.0 */
/* argmax of mean + beta sd, or argmin of mean - beta sd: over candidates by looking at all, over a box by looking at many and climbing from the best. */
#include "optimise/optimise.h"

#include "train/box_search.h"
#include <limits.h>
#include <math.h>
#include <string.h>

/* Values that differ by less, relative to the largest, are those of a tie that was rounded. */
static const double tie = 1e-12;
/* So many of a climb's units of length are a side of the box. The first step is as long as the gradient in these units, and the values' unit is the range that was
 * looked at: so it does not leave the hill it begins on. */
static const double units = 100.0;
/* In these units: where a climb has arrived. */
static const double flat = 1e-8, enough = 1e-13;

typedef struct search {
    hf_context *ctx;
    hf_confidence bound; /* mean + sign beta sd */
    double sign;         /* the largest sign x bound is looked for: 1, or -1 for the smallest bound */
    const hf_domain *domain;
    hf_search_settings settings;
    hf_workspace *mean, *spread;
    size_t d;
    size_t evaluations, climbs;
    /* of boxes only */
    size_t count;   /* points looked at */
    double *points; /* count x d */
    double *values; /* sign x bound there, as all values here */
    size_t free;    /* inputs that are not fixed */
    size_t *free_inputs;
    double *room;         /* 6 d: */
    double *x, *gradient; /* where a climb is, user's units */
    double *best;
    double best_value;
    double *at, *zeros, *ends; /* free: where a climb is, in its units, and its bounds */
    double base, scale;        /* of the values in a climb */
} search;

hf_search_settings hf_search_settings_default(void)
{
    return (hf_search_settings){.samples = 0, .starts = 6, .iterations = 40, .resolution = 0.0};
}

hf_status hfi_search_check(hf_context *ctx, const hf_search_settings *settings)
{
    if (!(settings->resolution >= 0.0 && settings->resolution <= 0.5))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the resolution is %g; it must be 0 or in (0, 1/2]",
                        settings->resolution);
    if (settings->iterations == 0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "climbs need at least one evaluation; iterations is 0");
    return HF_OK;
}

/* ---- a climb ----------------------------------------------------------------------------------------------------- */

static void place(search *s, const double *at)
{
    for (size_t k = 0; k < s->free; k++) {
        const size_t j = s->free_inputs[k];
        s->x[j] = hfi_domain_at(s->domain, j, at[k] / units);
    }
}

static double side(const search *s, size_t j)
{
    return s->domain->upper[j] - s->domain->lower[j];
}

static hf_status evaluate(void *arg, const double *at, double *value, double *gradient)
{
    search *s = arg;
    hfi_confidence_parts parts;
    place(s, at);
    s->evaluations++;
    const hf_status status =
        hfi_confidence_at(&s->bound, s->mean, s->spread, s->d, s->x, false, &parts, s->gradient);
    if (status < 0) return status;
    *value = (s->sign * parts.value - s->base) / s->scale;
    for (size_t k = 0; k < s->free; k++) {
        const size_t j = s->free_inputs[k];
        gradient[k] = s->sign * s->gradient[j] * side(s, j) / s->scale / units;
    }
    return status;
}

static hf_status climb(search *s, size_t start)
{
    const double *from = s->points + start * s->d;
    memcpy(s->x, from, s->d * sizeof *s->x);
    for (size_t k = 0; k < s->free; k++) {
        const size_t j = s->free_inputs[k];
        s->at[k] = (from[j] - s->domain->lower[j]) / side(s, j) * units;
    }
    hfi_box_search box = {.ctx = s->ctx,
                          .count = s->free,
                          .lower = s->zeros,
                          .upper = s->ends,
                          .enough = enough,
                          .flat = flat,
                          .most = s->settings.iterations < INT_MAX ? s->settings.iterations : INT_MAX,
                          .evaluate = evaluate,
                          .arg = s};
    const hf_status status = hfi_box_maximise(&box, s->at);
    if (status == HF_ERR_NOT_POSITIVE_DEFINITE) return HF_OK; /* nothing to be seen here */
    if (status < 0) return status;
    s->climbs++;
    const double value = s->base + s->scale * box.value;
    if (value > s->best_value) {
        s->best_value = value;
        place(s, s->at);
        memcpy(s->best, s->x, s->d * sizeof *s->best);
    }
    return HF_OK;
}

/* ---- what is looked at ------------------------------------------------------------------------------------------- */

static hf_status make_room(search *s)
{
    s->free_inputs = hfi_alloc(s->ctx, s->d, sizeof *s->free_inputs);
    s->room = hfi_alloc(s->ctx, s->d, 6 * sizeof *s->room);
    if (s->free_inputs == NULL || s->room == NULL) return HF_ERR_MEMORY;
    s->free = hfi_domain_free_inputs(s->domain, s->free_inputs);
    s->x = s->room;
    s->gradient = s->x + s->d;
    s->best = s->gradient + s->d;
    s->at = s->best + s->d;
    s->zeros = s->at + s->d;
    s->ends = s->zeros + s->d;
    for (size_t k = 0; k < s->d; k++) s->ends[k] = units;
    return HF_OK;
}

static hf_status look_at(search *s, size_t count, const double *points, double *values)
{
    const hf_status status = hfi_confidence_many(s->ctx, &s->bound, count, s->d, points, values);
    for (size_t i = 0; i < count && status >= 0; i++) values[i] *= s->sign;
    return status;
}

static hf_status look_around(search *s, size_t guess_count, const double *guesses)
{
    hf_status status =
        hfi_points_to_look_at(s->ctx, s->bound.mean, s->domain, s->free, s->free_inputs, s->settings.samples,
                              guess_count, guesses, &s->points, &s->count);
    if (status < 0) return status;
    s->values = hfi_alloc_unset(s->ctx, s->count, sizeof *s->values);
    if (s->values == NULL) return HF_ERR_MEMORY;
    status = look_at(s, s->count, s->points, s->values);
    if (status < 0) return status;
    s->evaluations += s->count;
    size_t best = 0;
    double least = s->values[0];
    for (size_t i = 1; i < s->count; i++) {
        if (s->values[i] > s->values[best]) best = i;
        least = fmin(least, s->values[i]);
    }
    s->base = s->best_value = s->values[best];
    s->scale = s->base - least;
    memcpy(s->best, s->points + best * s->d, s->d * sizeof *s->best);
    return status;
}

static hf_status climb_from_the_best(search *s)
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
                     ? climb(s, starts[k])
                     : hfi_cancelled(s->ctx);
    hfi_free(s->ctx, starts);
    return status;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* The nearest point of the lattice in the box. */
static void round_to_lattice(const search *s, double *x)
{
    const double step = s->settings.resolution;
    for (size_t k = 0; k < s->free; k++) {
        const size_t j = s->free_inputs[k];
        double number = nearbyint((x[j] - s->domain->lower[j]) / side(s, j) / step);
        if (number * step > 1.0 + 1e-12) number -= 1.0; /* the last one that is inside */
        x[j] = hfi_domain_at(s->domain, j, number * step);
    }
}

/* Of the gradient in sides of the box, the largest entry that does not push out of it. */
static hf_status steepness(search *s, double *largest)
{
    hfi_confidence_parts parts;
    const hf_status status =
        hfi_confidence_at(&s->bound, s->mean, s->spread, s->d, s->best, false, &parts, s->gradient);
    *largest = 0.0;
    if (status < 0) return hfi_fail(s->ctx, status, "the bound has no gradient at the best place");
    for (size_t k = 0; k < s->free; k++) {
        const size_t j = s->free_inputs[k];
        const double gradient = s->sign * s->gradient[j] * side(s, j);
        if (gradient < 0.0 && s->best[j] <= s->domain->lower[j]) continue;
        if (gradient > 0.0 && s->best[j] >= s->domain->upper[j]) continue;
        *largest = fmax(*largest, fabs(gradient));
    }
    return status;
}

static hf_status search_box(search *s, size_t guess_count, const double *guesses, hf_maximiser *found)
{
    hf_status status = make_room(s);
    if (status >= 0) status = look_around(s, guess_count, guesses);
    if (status >= 0) status = climb_from_the_best(s);
    if (status >= 0) status = steepness(s, &found->gradient);
    if (status >= 0 && s->settings.resolution > 0.0) round_to_lattice(s, s->best);
    return status;
}

static hf_status search_candidates(search *s, size_t *index)
{
    const hf_domain *domain = s->domain;
    const size_t n = domain->candidates;
    double *values = hfi_alloc_unset(s->ctx, n, sizeof *values);
    if (values == NULL) return HF_ERR_MEMORY;
    const hf_status status = look_at(s, n, domain->points, values);
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

static hf_status check(const search *s, size_t guess_count, const double *guesses, const double *x)
{
    hf_context *ctx = s->ctx;
    if (x == NULL) return hfi_fail(ctx, HF_ERR_ARGUMENT, "there is no room for the place: x is NULL");
    hf_status status = hf_domain_check(ctx, s->domain);
    if (status >= 0) status = hfi_confidence_check(ctx, &s->bound, s->domain->dimension);
    if (status < 0 || s->domain->candidates > 0) return status;
    status = hfi_search_check(ctx, &s->settings);
    if (status < 0) return status;
    if (guess_count > 0 && guesses == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "there are %zu guesses, but they are NULL", guess_count);
    for (size_t k = 0; k < guess_count * s->domain->dimension; k++)
        if (!isfinite(guesses[k]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "guess %zu (counted from 0) is not finite",
                            k / s->domain->dimension);
    return status;
}

static hf_status find(search *s, size_t guess_count, const double *guesses, double *x, hf_maximiser *report)
{
    hf_maximiser found = {.index = 0};
    const double *at = NULL;
    const hf_posterior *spread = hfi_confidence_spread(&s->bound);
    s->d = s->domain->dimension;
    s->mean = hf_workspace_create(s->ctx, s->bound.mean);
    s->spread = spread == s->bound.mean ? s->mean : hf_workspace_create(s->ctx, spread);
    if (s->mean == NULL || s->spread == NULL) return HF_ERR_MEMORY;
    hf_status status;
    if (s->domain->candidates > 0) {
        status = search_candidates(s, &found.index);
        at = s->domain->points + found.index * s->d;
    } else {
        status = search_box(s, guess_count, guesses, &found);
        at = s->best;
    }
    if (status < 0) return status;
    hfi_confidence_parts parts;
    status = hfi_confidence_at(&s->bound, s->mean, s->spread, s->d, at, report != NULL, &parts, NULL);
    if (status < 0) return hfi_fail(s->ctx, status, "the bound has no value at the place that was found");
    found.value = parts.value;
    found.mean = parts.mean;
    found.sd = parts.sd;
    found.evaluations = s->evaluations;
    found.climbs = s->climbs;
    memcpy(x, at, s->d * sizeof *x);
    if (report != NULL) *report = found;
    return HF_OK;
}

static hf_status optimise(hf_context *ctx, double sign, const hf_confidence *bound, const hf_domain *domain,
                          const hf_search_settings *settings, size_t guess_count, const double *guesses,
                          double *x, hf_maximiser *report)
{
    const double begin = hfi_now();
    search s = {.ctx = ctx,
                .bound = bound != NULL ? *bound : (hf_confidence){.mean = NULL},
                .sign = sign,
                .domain = domain,
                .settings = settings != NULL ? *settings : hf_search_settings_default()};
    s.bound.beta *= sign;
    hf_status status = check(&s, guess_count, guesses, x);
    if (status >= 0) status = find(&s, guess_count, guesses, x, report);
    if (status >= 0 && report != NULL) report->seconds = hfi_now() - begin;
    hfi_free(ctx, s.values);
    hfi_free(ctx, s.points);
    hfi_free(ctx, s.room);
    hfi_free(ctx, s.free_inputs);
    if (s.spread != s.mean) hf_workspace_free(s.spread);
    hf_workspace_free(s.mean);
    return status;
}

hf_status hf_maximise_confidence(hf_context *ctx, const hf_confidence *bound, const hf_domain *domain,
                                 const hf_search_settings *settings, size_t guess_count,
                                 const double *guesses, double *x, hf_maximiser *report)
{
    return optimise(ctx, 1.0, bound, domain, settings, guess_count, guesses, x, report);
}

hf_status hf_minimise_confidence(hf_context *ctx, const hf_confidence *bound, const hf_domain *domain,
                                 const hf_search_settings *settings, size_t guess_count,
                                 const double *guesses, double *x, hf_maximiser *report)
{
    return optimise(ctx, -1.0, bound, domain, settings, guess_count, guesses, x, report);
}
