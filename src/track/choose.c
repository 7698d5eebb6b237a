/* SPDX-License-Identifier: Apache-2.0 */
/* Where the expert is asked: places one after another, each answer to come taken into account. */
#include "track/track.h"

#include "linalg/linalg.h"

#include <holdfast/dpp.h>
#include <math.h>
#include <string.h>

typedef struct chooser {
    const hf_track *track;
    const hf_posterior *posterior;
    size_t count; /* places */
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
    double *columns; /* most x count: column k is what answer k takes off, rooted */
    double *scratch;
} chooser;

static void release(hf_context *ctx, chooser *c, double *room)
{
    hfi_free(ctx, c->mean);
    hfi_free(ctx, c->before);
    hfi_free(ctx, c->variance);
    hfi_free(ctx, c->columns);
    hfi_free(ctx, c->scratch);
    hfi_free(ctx, room);
}

static double score(const chooser *c, size_t i)
{
    return c->upper ? c->sign * c->mean[i] + c->beta * sqrt(c->variance[i]) : c->variance[i];
}

/* The best place that is worth an answer; `count` if there is none. The first of equals. */
static size_t best(const chooser *c)
{
    size_t found = c->count;
    for (size_t i = 0; i < c->count; i++) {
        if (!(c->variance[i] > c->enough)) continue;
        if (found == c->count || score(c, i) > score(c, found)) found = i;
    }
    return found;
}

/* An answer at place p with the expert's noise: what it takes off every variance. */
static void take(chooser *c, size_t p, size_t chosen)
{
    const double *x = c->track->places.x;
    const size_t d = c->track->d;
    double *column = c->columns + chosen * c->count;
    hfi_kernel_cross_block(c->track->kernel, 1, x + p * d, d, c->count, x, d, column, c->count, c->scratch);
    hfi_gemv_t(c->rank, c->count, -1.0, c->whitened, c->stride, c->whitened + p * c->stride, 1.0, column);
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

static hf_status prepare(hf_context *ctx, chooser *c, double **room)
{
    const hfi_solution *s = &c->posterior->solution;
    const size_t n = s->n, d = c->track->d, extra = hfi_solution_room(s, c->count);
    c->mean = hfi_alloc(ctx, c->count, sizeof *c->mean);
    c->before = hfi_alloc(ctx, c->count, sizeof *c->before);
    c->variance = hfi_alloc(ctx, c->count, sizeof *c->variance);
    c->columns = hfi_alloc_unset(ctx, c->count, c->most * sizeof *c->columns);
    c->scratch = hfi_alloc(ctx, hfi_kernel_scratch(c->track->kernel), sizeof *c->scratch);
    *room = hfi_alloc_unset(ctx, n * c->count + extra, sizeof **room);
    if (c->mean == NULL || c->before == NULL || c->variance == NULL || c->columns == NULL ||
        c->scratch == NULL || *room == NULL)
        return HF_ERR_MEMORY;
    hf_mean_evaluate(c->posterior->mean, c->count, c->track->places.x, d, c->mean);
    hfi_kernel_diagonal(c->track->kernel, c->count, c->track->places.x, d, false, c->variance);
    hfi_kernel_cross_block(c->track->kernel, c->count, c->track->places.x, d, n, s->z, d, *room, n,
                           c->scratch);
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

/* The paper's: a sample of the M-DPP of the prior. Its stream is the list's number, so that a track repeats itself. */
static hf_status sample(hf_context *ctx, const chooser *c, size_t *place, size_t *chosen)
{
    const size_t most = c->most < c->count ? c->most : c->count;
    hf_dpp_report report;
    const hf_status status = hf_dpp_sample(ctx, c->track->kernel, c->count, c->track->places.x, c->track->d,
                                           most, 0, c->track->batch + 1, place, &report);
    if (status >= 0) *chosen = report.chosen;
    return status;
}

static hf_status choose(hf_context *ctx, chooser *c, size_t *place, double *sd, size_t *chosen)
{
    double *room = NULL;
    hf_status status = prepare(ctx, c, &room);
    size_t count = 0;
    if (status >= 0 && c->track->own.s.places == HF_PLACES_DPP) {
        status = sample(ctx, c, place, &count);
        for (size_t k = 0; k < count && status >= 0; k++) sd[k] = sqrt(c->before[place[k]]);
    } else if (status >= 0) {
        for (size_t p = best(c); p < c->count && count < c->most; p = best(c)) {
            place[count] = p;
            sd[count] = sqrt(c->before[p]);
            take(c, p, count++);
        }
    }
    release(ctx, c, room);
    if (status >= 0) *chosen = count;
    return status;
}

hf_status hfi_track_choose(hf_context *ctx, hf_track *track, double time, size_t most, size_t *place,
                           double *sd, size_t *chosen)
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
                 .count = track->places.count,
                 .most = most,
                 .beta = hfi_track_beta(track, moment.step, solved.information),
                 .upper = s->places == HF_PLACES_UPPER,
                 .sign = s->minimise ? -1.0 : 1.0,
                 .noise = s->expert_noise,
                 .enough = s->enough * s->expert_noise};
    const hf_status made = choose(ctx, &c, place, sd, chosen);
    hf_posterior_free(solved.posterior);
    return made;
}
