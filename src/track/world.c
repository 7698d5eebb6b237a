/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of place and time that a survey allows: a draw of the prior, moved to where the survey's readings
 * are (Matheron). */
#include "track/advice.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Added to the prior's variance so that its factor exists, as a share of it. */
#define NUGGET 1e-6

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* The d-dimensional golden ratio: the root of g^(d + 1) = g + 1. */
static double golden(size_t d)
{
    double g = 1.5;
    for (int k = 0; k < 60; k++) g = pow(1.0 + g, 1.0 / (double)(d + 1));
    return g;
}

/* Candidates, evenly by their number where there are too many; else a lattice of one input or an additive
 * sequence of several. */
static void spread(hfi_world *w)
{
    const hf_domain *domain = &w->learnt->own.s.domain;
    const size_t d = w->d, m = w->places;
    const double g = golden(d);
    for (size_t i = 0; i < m; i++) {
        double *x = w->x + i * d, power = 1.0;
        if (domain->candidates > 0) {
            memcpy(x, domain->points + (i * domain->candidates / m) * d, d * sizeof *x);
            continue;
        }
        for (size_t j = 0; j < d; j++) {
            power /= g;
            const double along =
                d == 1 ? (double)i / (double)(m - 1) : fmod(0.5 + power * (double)(i + 1), 1.0);
            x[j] = domain->lower[j] + along * (domain->upper[j] - domain->lower[j]);
        }
    }
}

/* ---- the survey -------------------------------------------------------------------------------------------------- */

static hf_status condition(hfi_world *w)
{
    hfi_evidence *e = &w->evidence;
    const hf_track *t = w->learnt;
    const hfi_recent *recent = &t->recent;
    const size_t n = w->n, d = w->d, p = hf_kernel_parameters(t->kernel);
    w->first = INFINITY;
    w->last = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const size_t r = hfi_recent_row(recent, i);
        memcpy(e->x + i * d, recent->x + r * d, d * sizeof *e->x);
        e->time[i] = recent->time[r];
        e->y[i] = recent->y[r];
        e->share[i] = recent->noise[r] / w->noise;
        w->first = fmin(w->first, e->time[i]);
        w->last = fmax(w->last, e->time[i]);
    }
    double *point = hfi_alloc(w->ctx, p + 2, sizeof *point), value, above = 0.0, below = 0.0;
    if (point == NULL) return HF_ERR_MEMORY;
    hfi_kernel_theta(t->kernel, point);
    point[p] = log(w->noise);
    point[p + 1] = log(w->period);
    const hf_status status = hfi_evidence_evaluate(e, point, &value, NULL);
    hfi_free(w->ctx, point);
    for (size_t i = 0; i < n && status >= 0; i++) {
        above += e->ones[i] * e->y[i];
        below += e->ones[i];
    }
    w->mean = above / below;
    return status;
}

/* Where somebody stands who has the survey and nothing else: the best posterior mean over its times. */
static void stand(hfi_world *w)
{
    const double sign = w->learnt->own.s.minimise ? -1.0 : 1.0;
    double best = -INFINITY;
    for (size_t i = 0; i < w->n; i++) {
        w->residual[i] = 0.0;
        for (size_t j = 0; j < w->n; j++)
            w->residual[i] +=
                hfi_in_time(w->evidence.time[j], w->evidence.time[i], w->period) * w->evidence.alpha[i];
    }
    for (size_t g = 0; g < w->places; g++) {
        double there = 0.0;
        for (size_t i = 0; i < w->n; i++) there += w->cross[g + i * w->places] * w->residual[i];
        if (!(sign * there > best)) continue;
        best = sign * there;
        w->still = g;
    }
}

static hf_status factor_places(hfi_world *w)
{
    const size_t all = w->places + w->n;
    hf_status status =
        hfi_kernel_gram_lower(w->ctx, w->learnt->kernel, all, w->x, w->d, w->place_factor, all);
    for (size_t i = 0; i < all && status >= 0; i++) w->place_factor[i * (all + 1)] *= 1.0 + NUGGET;
    return status >= 0 ? hfi_chol(w->ctx, all, w->place_factor, all) : status;
}

hf_status hfi_world_create(hf_context *ctx, const hf_track *learnt, size_t steps, double step, hfi_world *out)
{
    const hfi_recent *recent = &learnt->recent;
    const size_t n = recent->count < HFI_WORLD_READINGS ? recent->count : HFI_WORLD_READINGS;
    const size_t candidates = learnt->own.s.domain.candidates, d = learnt->d;
    const size_t m = candidates > 0 && candidates < HFI_WORLD_PLACES ? candidates : HFI_WORLD_PLACES;
    *out =
        (hfi_world){.ctx = ctx, .learnt = learnt, .n = n, .d = d, .places = m, .steps = steps, .step = step};
    out->noise = learnt->own.s.noise;
    out->period = sqrt(learnt->typical) / learnt->own.s.age.rate;
    const size_t all = m + n, times = steps + n, scratch = hfi_kernel_scratch(learnt->kernel);
    hf_status status = hfi_evidence_create(ctx, learnt->kernel, n, &out->evidence);
    if (status < 0) return status;
    if (HFI_ALLOC(ctx, HFI_ROOM(out->x, all * d + all * all + m * n + times + times * times + all * times),
                  HFI_ROOM(out->value, m * steps + n + all + steps + scratch)) < 0)
        return HF_ERR_MEMORY;
    out->place_factor = out->x + all * d;
    out->cross = out->place_factor + all * all;
    out->time = out->cross + m * n;
    out->time_factor = out->time + times;
    out->waves = out->time_factor + times * times;
    out->residual = out->value + m * steps;
    out->normals = out->residual + n;
    out->best = out->normals + all;
    spread(out);
    status = condition(out);
    if (status < 0) return status;
    memcpy(out->x + m * d, out->evidence.x, n * d * sizeof *out->x);
    hfi_kernel_cross_block(learnt->kernel, n, out->evidence.x, d, m, out->x, d, out->cross, m,
                           out->best + steps);
    stand(out);
    return factor_places(out);
}

void hfi_world_free(hfi_world *world)
{
    hfi_evidence_free(&world->evidence);
    HFI_FREE(world->ctx, world->x, world->value);
}

/* ---- draws ------------------------------------------------------------------------------------------------------- */

/* A window of the survey's time that begins anywhere in it, then the survey's times; their correlations factored. */
static hf_status choose_times(hfi_world *w, hfi_stream *stream)
{
    const size_t all = w->steps + w->n;
    const double room = fmax(0.0, w->last - w->first - w->step * (double)(w->steps - 1));
    const double begin = w->first + room * hfi_stream_uniform(stream);
    for (size_t h = 0; h < w->steps; h++) w->time[h] = begin + w->step * (double)h;
    memcpy(w->time + w->steps, w->evidence.time, w->n * sizeof *w->time);
    for (size_t j = 0; j < all; j++)
        for (size_t i = j; i < all; i++)
            w->time_factor[i + j * all] =
                hfi_in_time(w->time[i], w->time[j], w->period) + (i == j ? NUGGET : 0.0);
    return hfi_chol(w->ctx, all, w->time_factor, all);
}

/* waves := L_x Z: a draw over the places that is new at every time. */
static void draw_places(hfi_world *w, hfi_stream *stream)
{
    const size_t all = w->places + w->n, times = w->steps + w->n;
    memset(w->waves, 0, all * times * sizeof *w->waves);
    for (size_t h = 0; h < times; h++)
        for (size_t k = 0; k < all; k++)
            hfi_axpy(all - k, hfi_stream_normal(stream), w->place_factor + k * (all + 1),
                     w->waves + k + h * all);
}

/* Solves for what the draw misses of the survey's readings, errors of its own added: A^-1 of that. */
static void miss(hfi_world *w, hfi_stream *stream)
{
    const size_t all = w->places + w->n, times = w->steps + w->n;
    const hfi_evidence *e = &w->evidence;
    for (size_t i = 0; i < w->n; i++) {
        double there = 0.0;
        for (size_t k = 0; k <= w->steps + i; k++)
            there += w->time_factor[w->steps + i + k * times] * w->waves[w->places + i + k * all];
        w->residual[i] = e->y[i] - w->mean - there - sqrt(w->noise * e->share[i]) * hfi_stream_normal(stream);
    }
    hfi_chol_solve(w->n, e->factor, w->n, w->residual);
}

hf_status hfi_world_draw(hfi_world *w, uint64_t seed, uint64_t k)
{
    const size_t all = w->places + w->n, times = w->steps + w->n, m = w->places;
    const double sign = w->learnt->own.s.minimise ? -1.0 : 1.0;
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_SAMPLE, k);
    const hf_status status = choose_times(w, &stream);
    if (status < 0) return status;
    draw_places(w, &stream);
    miss(w, &stream);
    for (size_t h = 0; h < w->steps; h++) {
        double *value = w->value + h * m;
        for (size_t g = 0; g < m; g++) value[g] = w->mean;
        for (size_t j = 0; j <= h; j++) hfi_axpy(m, w->time_factor[h + j * times], w->waves + j * all, value);
        for (size_t i = 0; i < w->n; i++)
            hfi_axpy(m, hfi_in_time(w->time[h], w->evidence.time[i], w->period) * w->residual[i],
                     w->cross + i * m, value);
        w->best[h] = value[0];
        for (size_t g = 1; g < m; g++)
            if (sign * value[g] > sign * w->best[h]) w->best[h] = value[g];
    }
    return HF_OK;
}
