/* SPDX-License-Identifier: Apache-2.0 */
/* Where the expert is asked: places one after another, each answer to come taken into account. */
#include "track/track.h"

#include "linalg/linalg.h"

#include <holdfast/dpp.h>
#include <math.h>
#include <string.h>

/* After so many lists the fresh places come again: a sequence's number of them is exact for far longer. */
#define TURNS 1000000U

/* Places that a survey is chosen from, at most. */
#define SURVEYED 256

/* The tolerance of a chain, and where it falls with t (SparQ-GP-UCB, Proposition 2: of the order 1/t) its most. */
#define TOLERANCE 0.01

typedef struct chooser {
    const hf_track *track;
    const hf_posterior *posterior;
    size_t count;    /* places */
    const double *x; /* count x d */
    double *fresh;   /* that, where it is made for this list; or NULL */
    size_t most;
    bool upper;  /* by the bound; else by variance */
    double sign; /* -1 minimising, else 1 */
    double beta;
    double noise, enough;
    double *mean;     /* count */
    double *before;   /* count: variance without them */
    double *variance; /* count: given the answers to come as well */
    double *whitened; /* rank x count: R' k(Z, x) */
    size_t rank, stride;
    double *columns; /* most x count: column k is what answer k takes off, rooted; of surveys count x count */
    double *scratch;
} chooser;

static void free_chooser(hf_context *ctx, chooser *c, double *room)
{
    HFI_FREE(ctx, c->fresh, c->mean, c->before, c->variance, c->columns, c->scratch, room);
}

static double score_place(const chooser *c, size_t i)
{
    return c->upper ? c->sign * c->mean[i] + c->beta * sqrt(c->variance[i]) : c->variance[i];
}

/* The best place that is worth an answer; `count` if there is none. The first of equals. */
static size_t best(const chooser *c)
{
    size_t found = c->count;
    for (size_t i = 0; i < c->count; i++) {
        if (!(c->variance[i] > c->enough)) continue;
        if (found == c->count || score_place(c, i) > score_place(c, found)) found = i;
    }
    return found;
}

/* Covariances of f at place p with f at all of them, given what counts. */
static void covariances(const chooser *c, size_t p, double *column)
{
    const size_t d = c->track->d;
    hfi_kernel_cross_block(c->track->kernel, 1, c->x + p * d, d, c->count, c->x, d, column, c->count,
                           c->scratch);
    hfi_gemv_t(c->rank, c->count, -1.0, c->whitened, c->stride, c->whitened + p * c->stride, 1.0, column);
}

/* An answer at place p with the expert's noise: what it takes off every variance. */
static void take_place_answer(chooser *c, size_t p, size_t chosen)
{
    double *column = c->columns + chosen * c->count;
    covariances(c, p, column);
    for (size_t k = 0; k < chosen; k++) {
        const double *earlier = c->columns + k * c->count;
        hfi_axpy(c->count, -earlier[p], earlier, column);
    }
    const double root = sqrt(c->variance[p] + c->noise);
    for (size_t i = 0; i < c->count; i++) {
        column[i] /= root;
        c->variance[i] = hfi_variance_clamp(c->variance[i] - column[i] * column[i]);
    }
}

/* Those that the track knows; or, wherever the expert can measure: all candidates, or as many new ones of the
 * domain as there may be places. */
static hf_status find_places(hf_context *ctx, chooser *c)
{
    const hf_track_settings *s = &c->track->own.s;
    c->count = c->track->places.count;
    c->x = c->track->places.x;
    if (s->places != HF_PLACES_ANYWHERE) return HF_OK;
    c->count = s->most_places < SURVEYED ? s->most_places : SURVEYED;
    c->x = s->domain.points;
    if (s->domain.candidates > 0 && s->domain.candidates <= c->count) {
        c->count = s->domain.candidates;
        return HF_OK;
    }
    c->fresh = hfi_alloc_unset(ctx, c->count, c->track->d * sizeof *c->fresh);
    if (c->fresh == NULL) return HF_ERR_MEMORY;
    hf_domain_quasirandom(&s->domain, (size_t)(c->track->batch % TURNS) * c->count, c->count, c->fresh);
    c->x = c->fresh;
    return HF_OK;
}

static hf_status prepare_chooser(hf_context *ctx, chooser *c, double **room)
{
    const hfi_solution *s = &c->posterior->solution;
    const size_t n = s->n, d = c->track->d;
    hf_status status = find_places(ctx, c);
    if (status < 0) return status;
    const size_t extra = hfi_solution_room(s, c->count);
    status = HFI_ALLOC(ctx, HFI_ROOM(c->mean, c->count), HFI_ROOM(c->before, c->count),
                       HFI_ROOM(c->variance, c->count),
                       HFI_ROOM(c->scratch, hfi_kernel_scratch(c->track->kernel)));
    if (status < 0) return status;
    const bool survey = c->track->own.s.places == HF_PLACES_ANYWHERE;
    c->columns = hfi_alloc_unset(ctx, c->count, (survey ? c->count : c->most) * sizeof *c->columns);
    *room = hfi_alloc_unset(ctx, n * c->count + extra, sizeof **room);
    if (c->columns == NULL || *room == NULL) return HF_ERR_MEMORY;
    hf_mean_evaluate(c->posterior->mean, c->count, c->x, d, c->mean);
    hfi_kernel_diagonal(c->track->kernel, c->count, c->x, d, false, c->variance);
    hfi_kernel_cross_block(c->track->kernel, c->count, c->x, d, n, s->z, d, *room, n, c->scratch);
    hfi_gemv_t(n, c->count, 1.0, *room, n, s->t, 1.0, c->mean);
    c->whitened = hfi_solution_whiten(s, c->count, *room, n, *room + n * c->count, &c->stride);
    c->rank = hfi_solution_rank(s);
    for (size_t i = 0; i < c->count; i++) {
        const double *w = c->whitened + i * c->stride;
        c->variance[i] = hfi_variance_clamp(c->variance[i] - hfi_dot(c->rank, w, w));
    }
    memcpy(c->before, c->variance, c->count * sizeof *c->before);
    return HF_OK;
}

/* Steps of the chain for at most m of the places, 0 as by default; `room` has m entries. */
static hf_status chain_steps(hf_context *ctx, const chooser *c, size_t m, size_t *room, size_t *steps)
{
    *steps = 0;
    if (c->track->own.s.places != HF_PLACES_DPP_FALLING) return HF_OK;
    size_t chosen = 0; /* as many as are linearly independent */
    const hf_status status =
        hf_dpp_greedy(ctx, c->track->kernel, c->count, c->x, c->track->d, NULL, m, 0.0, room, &chosen, NULL);
    const double tolerance = fmin(TOLERANCE, 1.0 / (double)(c->track->own_told + 1));
    if (status >= 0) *steps = hf_dpp_mixing_steps(c->count, chosen, tolerance);
    return status;
}

/* The paper's: a sample of the M-DPP of the prior. Its stream is the list's number, so that a track repeats itself. */
static hf_status sample(hf_context *ctx, const chooser *c, size_t *place, size_t *chosen)
{
    const size_t most = c->most < c->count ? c->most : c->count;
    hf_dpp_report report;
    size_t steps;
    hf_status status = chain_steps(ctx, c, most, place, &steps);
    if (status >= 0)
        status = hf_dpp_sample(ctx, c->track->kernel, c->count, c->x, c->track->d, most, steps,
                               c->track->batch + 1, place, &report);
    if (status >= 0) *chosen = report.chosen;
    return status;
}

static bool is_sampled(const chooser *c)
{
    return c->track->own.s.places == HF_PLACES_DPP || c->track->own.s.places == HF_PLACES_DPP_FALLING;
}

/* Places that leave least variance over all of those that could be asked. */
static hf_status survey(hf_context *ctx, chooser *c, size_t *place, size_t *chosen)
{
    for (size_t p = 0; p < c->count; p++) covariances(c, p, c->columns + p * c->count);
    return hfi_survey_choose(ctx, c->count, c->columns, c->noise, c->enough, c->most, place, chosen);
}

static hf_status choose_track_places(hf_context *ctx, chooser *c, double *x, double *sd, size_t *chosen)
{
    double *room = NULL;
    size_t *place = hfi_alloc(ctx, c->most, sizeof *place), count = 0;
    hf_status status = place != NULL ? prepare_chooser(ctx, c, &room) : HF_ERR_MEMORY;
    if (status >= 0 && is_sampled(c)) {
        status = sample(ctx, c, place, &count);
    } else if (status >= 0 && c->track->own.s.places == HF_PLACES_ANYWHERE) {
        status = survey(ctx, c, place, &count);
    } else if (status >= 0) {
        for (size_t p = best(c); p < c->count && count < c->most; p = best(c)) {
            place[count] = p;
            take_place_answer(c, p, count++);
        }
    }
    const size_t d = c->track->d;
    for (size_t k = 0; k < count && status >= 0; k++) {
        sd[k] = sqrt(c->before[place[k]]);
        memcpy(x + k * d, c->x + place[k] * d, d * sizeof *x);
    }
    free_chooser(ctx, c, room);
    hfi_free(ctx, place);
    if (status >= 0) *chosen = count;
    return status;
}

hf_status hfi_track_choose(hf_context *ctx, hf_track *track, double time, size_t most, double *x, double *sd,
                           size_t *chosen)
{
    const hf_track_settings *s = &track->own.s;
    hfi_moment moment = hfi_track_moment(track, time);
    /* The answers that there are will be replaced by those to come. */
    moment.own_only = s->method == HF_TRACK_SPARQ;
    hfi_solved solved;
    hf_status status = hfi_track_solve(ctx, &moment, track->held, track->told, &solved);
    if (status == HF_ERR_NO_DATA && moment.own_only) {
        moment.own_only = false; /* only answers are left */
        status = hfi_track_solve(ctx, &moment, track->held, track->told, &solved);
    }
    if (status < 0) return status;
    chooser c = {.track = track,
                 .posterior = solved.posterior,
                 .most = most,
                 .beta = hfi_track_beta(track, moment.step, solved.information),
                 .upper = s->places == HF_PLACES_UPPER,
                 .sign = s->minimise ? -1.0 : 1.0,
                 .noise = s->expert_noise,
                 .enough = s->tolerance * s->expert_noise};
    const hf_status made = choose_track_places(ctx, &c, x, sd, chosen);
    hf_posterior_free(solved.posterior);
    return made;
}
