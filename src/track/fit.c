/* SPDX-License-Identifier: Apache-2.0 */
/* Hyperparameters of a track from its newest readings. */
#include "track/evidence.h"
#include "track/track.h"

#include "search/maximise.h"

#include <math.h>
#include <string.h>

enum {
    LEAST = 8,
    EVALUATIONS = 100
};
/* A parameter of the kernel moves by this factor at most; the trained noise stays within these factors of the
 * readings' own variance; the time scale within these of their shortest gap and their span. */
#define FACTOR      1000.0
#define NOISE_LEAST 1e-8
#define TIME_LEAST  0.1
#define TIME_MOST   100.0

static void take_readings(const hf_track *track, hfi_evidence *e)
{
    const hfi_recent *recent = &track->recent;
    memcpy(e->x, recent->x, e->n * e->d * sizeof *e->x);
    memcpy(e->time, recent->time, e->n * sizeof *e->time);
    memcpy(e->y, recent->y, e->n * sizeof *e->y);
    for (size_t i = 0; i < e->n; i++) {
        const bool trained = recent->noise[i] == track->own.s.noise;
        e->share[i] = trained ? 1.0 / recent->weight[i] : 0.0;
        e->known[i] = trained ? 0.0 : recent->noise[i] / recent->weight[i];
    }
}

static double variance_of(const hfi_evidence *e)
{
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < e->n; i++) mean += e->y[i] / (double)e->n;
    for (size_t i = 0; i < e->n; i++) squares += (e->y[i] - mean) * (e->y[i] - mean) / (double)e->n;
    return squares;
}

/* Shortest gap between different times, and from the first to the last; infinite and 0 if all are the same. */
static hf_status spans(hf_context *ctx, const hfi_evidence *e, double *gap, double *span)
{
    double *sorted = hfi_alloc(ctx, e->n, sizeof *sorted);
    if (sorted == NULL) return HF_ERR_MEMORY;
    memcpy(sorted, e->time, e->n * sizeof *sorted);
    (void)hfi_quantile(sorted, e->n, 0.5); /* which sorts them */
    *gap = INFINITY;
    for (size_t i = 1; i < e->n; i++)
        if (sorted[i] > sorted[i - 1]) *gap = fmin(*gap, sorted[i] - sorted[i - 1]);
    *span = sorted[e->n - 1] - sorted[0];
    hfi_free(ctx, sorted);
    return HF_OK;
}

/* Box and start; rows of `room`: lower, upper, start. */
static hf_status find_search_box(hf_context *ctx, const hf_track *track, const hfi_evidence *e, double *lower,
                                 double *upper, double *start)
{
    const size_t p = hf_kernel_parameters(track->kernel);
    const hf_track_settings *s = &track->own.s;
    double gap, span;
    const hf_status status = spans(ctx, e, &gap, &span);
    if (status < 0) return status;
    hfi_kernel_theta(track->kernel, start);
    for (size_t i = 0; i < p; i++) {
        hf_parameter parameter;
        const bool held = hf_kernel_parameter(track->kernel, i, &parameter) >= 0 && parameter.fixed;
        lower[i] = start[i] - (held ? 0.0 : log(FACTOR));
        upper[i] = start[i] + (held ? 0.0 : log(FACTOR));
    }
    const double scale = fmax(variance_of(e), s->noise);
    lower[p] = log(NOISE_LEAST * scale);
    upper[p] = log(scale);
    start[p] = fmin(fmax(log(s->noise), lower[p]), upper[p]);
    const bool rated = s->age.kind == HF_AGE_QUADRATIC && s->age.rate > 0.0;
    const double drift = rated ? sqrt(track->typical) / s->age.rate : span > 0.0 ? span : 1.0;
    /* Readings of one time say nothing of T: it stays. Where it is now is never out of its box. */
    start[p + 1] = lower[p + 1] = upper[p + 1] = log(drift);
    if (span > 0.0) {
        lower[p + 1] = fmin(log(TIME_LEAST * gap), start[p + 1]);
        upper[p + 1] = fmax(log(TIME_MOST * span), start[p + 1]);
    }
    return HF_OK;
}

static hf_status track_evaluate(void *self, const double *point, double *value, double *gradient)
{
    return hfi_evidence_evaluate(self, point, value, gradient);
}

static const hfi_objective_kind of_track = {
    .evaluate = track_evaluate,
    .judge = hfi_judge_overflow,
    .nowhere = "no hyperparameters were found at which the readings have an evidence"};

static bool at_bound(size_t count, const double *point, const double *lower, const double *upper)
{
    for (size_t i = 0; i < count; i++)
        if (lower[i] < upper[i] && (point[i] <= lower[i] || point[i] >= upper[i])) return true;
    return false;
}

/* The values found as an event: parameters, log noise, rate. */
static hf_status adopt(hf_context *ctx, hf_track *track, const hfi_evidence *e, double *point)
{
    const size_t p = hf_kernel_parameters(track->kernel);
    hfi_kernel_set_theta(e->kernel, point);
    const double period = exp(point[p + 1]);
    const hf_age_law *law = &track->own.s.age;
    point[p + 1] =
        law->kind == HF_AGE_QUADRATIC ? sqrt(hfi_kernel_typical_variance(e->kernel)) / period : law->rate;
    const hfi_event event = {.kind = HFI_EVENT_FITTED, .time = track->clock, .count = p + 2, .values = point};
    return hfi_track_commit(ctx, track, 1, &event);
}

/* Noise and time scale that a search starts from, as shares of the readings' variance and span. The evidence of
 * a survey of few readings at scattered times has several maxima. The one with much noise and no drift draws
 * searches from most starts. */
typedef struct cold_start {
    double noise, period;
} cold_start;
static const cold_start cold_starts[] = {{0.05, 0.3}, {0.005, 0.3}, {0.005, 0.1}, {0.05, 0.1}, {0.05, 1.0}};

enum {
    COLD_STARTS = sizeof cold_starts / sizeof cold_starts[0]
};

typedef struct track_search {
    const hfi_objective objective;
    const hfi_space space;
    const hfi_search_settings settings;
} track_search;

static double clamp(double x, double lower, double upper)
{
    return fmin(fmax(x, lower), upper);
}

/* Variances of the kernel that are free start together at the readings' variance. */
static void start_at_variance(const hf_track *track, double variance, const hfi_space *space, double *start)
{
    for (size_t i = 0; i < hf_kernel_parameters(track->kernel); i++) {
        hf_parameter parameter;
        const bool known = hf_kernel_parameter(track->kernel, i, &parameter) >= 0;
        if (known && parameter.unit == HF_UNIT_OUTPUT2)
            start[i] = clamp(start[i] + log(variance / track->typical), space->lower[i], space->upper[i]);
    }
}

/* From each cold start, into `point`, from which they differ in noise and time scale alone; the highest maximum stays.
 * `trial`: as long as a point. */
static hf_status search_cold(hf_context *ctx, const track_search *s, const hf_track *track, double *point,
                             double *trial, hfi_optimum *found)
{
    const size_t count = s->objective.count, p = count - 2;
    const hfi_evidence *e = s->objective.self;
    const double variance = variance_of(e);
    double gap, span;
    hf_status status = spans(ctx, e, &gap, &span), none = HF_ERR_NOT_POSITIVE_DEFINITE;
    double *start = trial + count;
    memcpy(start, point, count * sizeof *start);
    start_at_variance(track, variance, &s->space, start);
    for (size_t k = 0; k < COLD_STARTS && status >= 0; k++) {
        hfi_optimum here;
        memcpy(trial, start, count * sizeof *trial);
        trial[p] = clamp(log(cold_starts[k].noise * variance), s->space.lower[p], s->space.upper[p]);
        trial[p + 1] = clamp(log(cold_starts[k].period * span), s->space.lower[p + 1], s->space.upper[p + 1]);
        const hf_status one = hfi_maximise(ctx, &s->objective, &s->space, &s->settings, trial, &here);
        status = hfi_unless_none(one);
        if (one < 0 || (none >= 0 && here.value <= found->value)) continue;
        none = HF_OK;
        *found = here;
        memcpy(point, trial, count * sizeof *point);
    }
    return status < 0 ? status : none;
}

static hf_status search_track_evidence(hf_context *ctx, hf_track *track, hfi_evidence *e, bool cold)
{
    const size_t count = hf_kernel_parameters(track->kernel) + 2;
    double *lower = hfi_alloc(ctx, count, 5 * sizeof *lower);
    if (lower == NULL) return HF_ERR_MEMORY;
    double *upper = lower + count, *point = upper + count;
    hf_status status = find_search_box(ctx, track, e, lower, upper, point);
    size_t evaluations = 0;
    const track_search s = {.objective = {.kind = &of_track, .self = e, .count = count},
                            .space = hfi_space_box(count, lower, upper),
                            .settings = {.by = hfi_by_lbfgs,
                                         .most = EVALUATIONS,
                                         .stage = "fit",
                                         .evaluations = &evaluations,
                                         .budget = EVALUATIONS * (cold ? COLD_STARTS : 1)}};
    hfi_optimum found;
    if (status >= 0)
        status = cold ? search_cold(ctx, &s, track, point, point + count, &found)
                      : hfi_maximise(ctx, &s.objective, &s.space, &s.settings, point, &found);
    if (status >= 0) {
        const bool bound = at_bound(count, point, lower, upper);
        status = adopt(ctx, track, e, point);
        if (status >= 0 && found.stop == HF_STOP_ITERATIONS)
            status =
                hfi_fail(ctx, HF_WARN_NOT_CONVERGED, "the fit stopped after %d evaluations", EVALUATIONS);
        else if (status >= 0 && bound)
            status = hfi_fail(ctx, HF_WARN_AT_BOUND, "a hyperparameter ended at its bound");
    }
    hfi_free(ctx, lower);
    return status;
}

static hf_status fit(hf_context *ctx, hf_track *track, bool cold)
{
    if (track->recent.count < LEAST)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "a fit needs %d readings; %zu were told", LEAST,
                        track->recent.count);
    hf_status status = hfi_track_writable(ctx, track);
    if (status < 0) return status;
    hfi_evidence evidence;
    status = hfi_evidence_create(ctx, track->kernel, track->recent.count, &evidence);
    if (status < 0) return status;
    take_readings(track, &evidence);
    status = search_track_evidence(ctx, track, &evidence, cold);
    hfi_evidence_free(&evidence);
    return status;
}

hf_status hf_track_fit(hf_context *ctx, hf_track *track)
{
    if (ctx == NULL || track == NULL) return hfi_refuse(ctx, "a fit needs a context and a track");
    return fit(ctx, track, false);
}

hf_status hfi_track_fit_cold(hf_context *ctx, hf_track *track)
{
    return fit(ctx, track, true);
}
