/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certain.h
 * @brief An attack on certain constraints: random functions of a known norm, told with the worst
 * noise that is allowed, whose study is asked for ever more; no place that it asks for, or would,
 * may break the constraint. For the tests and for bench/certain-constraints.c.
 */
#ifndef TESTS_STUDY_CERTAIN_H
#define TESTS_STUDY_CERTAIN_H

#include "study/propose.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CERTAIN_D = 3,
    CERTAIN_CENTRES = 12,
    CERTAIN_AT_ONCE = 400, /* places that are held against an envelope at once */
    CERTAIN_ROUNDS =
        4, /* of such places: the first everywhere, the others where the truth is near the limit */
    CERTAIN_KERNELS = 3
};
static const char *const certain_kernels[CERTAIN_KERNELS] = {"se", "matern52", "matern32"};

/* f(u) = offset + sum_i weight_i k(u, centre_i), of norm `norm` less the offset. */
typedef struct certain_world {
    size_t d, kernel, centres, noise_kind;
    double scale, lengthscale, norm, offset;
    double centre[CERTAIN_CENTRES][CERTAIN_D], weight[CERTAIN_CENTRES];
    double sign; /* 1: at most the limit; -1: at least */
    double limit, noise;
    double first[CERTAIN_D]; /* a place where the constraint holds */
    char expression[96];
    hfi_stream stream;
} certain_world;

/* Counts of an attack. */
typedef struct certain_tally {
    size_t worlds, stuck;   /* stuck: the study found no place that is surely safe */
    size_t asked, admitted; /* places of hf_study_ask(); places that it would have asked for */
    size_t looked;          /* places that were held against an envelope */
    size_t violations;
    double nearest; /* room to the limit that was left, least over all, in norms */
} certain_tally;

static inline double certain_correlation(size_t kernel, double r)
{
    switch (kernel) {
    case 0:
        return exp(-0.5 * r * r);
    case 1:
        return (1.0 + sqrt(5.0) * r + 5.0 / 3.0 * r * r) * exp(-sqrt(5.0) * r);
    default:
        return (1.0 + sqrt(3.0) * r) * exp(-sqrt(3.0) * r);
    }
}

static inline double certain_kernel(const certain_world *w, const double *a, const double *b)
{
    double square = 0.0;
    for (size_t j = 0; j < w->d; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return w->scale * certain_correlation(w->kernel, sqrt(square) / w->lengthscale);
}

static inline double certain_truth(const certain_world *w, const double *u)
{
    double sum = 0.0;
    for (size_t i = 0; i < w->centres; i++)
        sum += w->weight[i] * certain_kernel(w, u, w->centre[i]);
    return w->offset + sum;
}

static inline double certain_between(certain_world *w, double from, double to)
{
    return from + (to - from) * hfi_stream_uniform(&w->stream);
}

/* Weights of norm 1 less a hair: many centres, or one, the steepest function that there is. */
static inline void certain_draw_function(certain_world *w)
{
    double square = 0.0;
    w->centres = hfi_stream_uniform(&w->stream) < 0.25
                     ? 1
                     : 2 + (size_t)(hfi_stream_uniform(&w->stream) * (CERTAIN_CENTRES - 1));
    if (w->centres > CERTAIN_CENTRES) w->centres = CERTAIN_CENTRES;
    for (size_t i = 0; i < w->centres; i++) {
        for (size_t j = 0; j < w->d; j++) w->centre[i][j] = hfi_stream_uniform(&w->stream);
        w->weight[i] = hfi_stream_normal(&w->stream);
    }
    for (size_t i = 0; i < w->centres; i++)
        for (size_t j = 0; j < w->centres; j++)
            square += w->weight[i] * w->weight[j] * certain_kernel(w, w->centre[i], w->centre[j]);
    for (size_t i = 0; i < w->centres; i++) w->weight[i] *= w->norm * (1.0 - 1e-9) / sqrt(square);
}

static inline certain_world certain_draw(uint64_t seed, size_t kernel)
{
    certain_world w = {.kernel = kernel};
    hfi_stream_init(&w.stream, seed, HFI_PURPOSE_TEST, 40 + kernel);
    w.d = 1 + (size_t)(hfi_stream_uniform(&w.stream) * CERTAIN_D) % CERTAIN_D;
    w.scale = exp(certain_between(&w, -2.0, 2.0));
    w.lengthscale = certain_between(&w, 0.15, 0.8);
    w.norm = exp(certain_between(&w, -3.0, 3.0));
    w.offset = 3.0 * w.norm * hfi_stream_normal(&w.stream);
    w.sign = hfi_stream_uniform(&w.stream) < 0.5 ? 1.0 : -1.0;
    w.noise_kind = (size_t)(hfi_stream_uniform(&w.stream) * 4.0) % 4;
    certain_draw_function(&w);
    const double unit = w.norm * sqrt(w.scale);
    w.noise = unit * exp(certain_between(&w, -9.0, -3.0));
    snprintf(w.expression, sizeof w.expression, "%.17g*%s(lengthscale=%.17g)", w.scale,
             certain_kernels[kernel], w.lengthscale);
    /* The best of a few places, and a limit a little beyond. */
    double best = INFINITY;
    for (int k = 0; k < 8; k++) {
        double u[CERTAIN_D] = {0.0};
        for (size_t j = 0; j < w.d; j++) u[j] = hfi_stream_uniform(&w.stream);
        const double here = w.sign * certain_truth(&w, u);
        if (here >= best) continue;
        best = here;
        memcpy(w.first, u, sizeof u);
    }
    w.limit = w.sign * (best + 2.0 * w.noise + unit * certain_between(&w, 0.02, 0.5));
    return w;
}

/* A reading that is off by as much as it may be: at random, at an end, always on the side that
 * makes the constraint look safe, or in waves. */
static inline double certain_reading(certain_world *w, const double *u)
{
    const double draw = certain_between(w, -1.0, 1.0);
    const double waves = sin(40.0 * u[0]);
    const double share = w->noise_kind == 0   ? draw
                         : w->noise_kind == 1 ? copysign(1.0, draw)
                         : w->noise_kind == 2 ? -w->sign
                                              : waves;
    return certain_truth(w, u) + (1.0 - 1e-9) * share * w->noise;
}

/* Room to the limit, in units of the norm; below 0 by more than our own rounding it is a
 * violation. */
static inline void certain_count(const certain_world *w, const double *u, certain_tally *t)
{
    const double room = w->sign * (w->limit - certain_truth(w, u)) / (w->norm * sqrt(w->scale));
    const double rounding = 1e-13 * (1.0 + fabs(w->limit) / (w->norm * sqrt(w->scale)));
    if (room < -rounding) t->violations++;
    t->nearest = fmin(t->nearest, room);
}

/* The objective pulls towards the limit. `weaken` divides the norm bound that the study is told:
 * above 1 it is told less than the truth. */
static inline hf_status certain_study(hf_context *ctx, const certain_world *w, double weaken,
                                      hf_study **out)
{
    static const char *const names[CERTAIN_D] = {"a", "b", "c"};
    hf_variable v[CERTAIN_D];
    const hf_outcome o[2] = {{.name = "gain", .goal = HF_GOAL_MAXIMISE},
                             {.name = "danger",
                              .goal = w->sign > 0.0 ? HF_GOAL_AT_MOST : HF_GOAL_AT_LEAST,
                              .limit = w->limit,
                              .certain = true,
                              .noise_bound = w->noise,
                              .norm_bound = w->norm / weaken,
                              .centre = w->offset,
                              .kernel = w->expression}};
    for (size_t j = 0; j < w->d; j++)
        v[j] = (hf_variable){.name = names[j], .lower = -1.0 - 0.7 * (double)j, .upper = 2.3};
    hf_study_settings s = hf_study_settings_default();
    s.variables = w->d;
    s.variable = v;
    s.outcomes = 2;
    s.outcome = o;
    s.start = 3;
    s.preset = "gp";
    return hf_study_create(ctx, &s, out);
}

/* Places that the study would ask for if the acquisition chose them: everywhere, then about those
 * nearest to the limit. */
static inline hf_status certain_gate(hf_context *ctx, certain_world *w, const hf_study *study,
                                     size_t rounds, certain_tally *t)
{
    hfi_safe *safe = NULL;
    double u[CERTAIN_AT_ONCE * CERTAIN_D], unknown[CERTAIN_AT_ONCE], top[CERTAIN_D],
        least = INFINITY;
    bool fine[CERTAIN_AT_ONCE];
    const size_t d = w->d;
    hf_status s = hfi_safe_open(ctx, study, &safe);
    memcpy(top, w->first, sizeof top);
    for (size_t round = 0; round < rounds && s >= 0; round++) {
        const double reach = round == 0 ? 1.0 : 0.3 * pow(0.3, (double)round);
        for (size_t i = 0; i < CERTAIN_AT_ONCE; i++)
            for (size_t j = 0; j < d; j++) {
                const double draw = hfi_stream_uniform(&w->stream);
                u[i * d + j] =
                    round == 0 ? draw : fmin(fmax(top[j] + reach * (2.0 * draw - 1.0), 0.0), 1.0);
            }
        s = hfi_safe_many(ctx, safe, CERTAIN_AT_ONCE, u, fine, unknown);
        t->looked += CERTAIN_AT_ONCE;
        for (size_t i = 0; i < CERTAIN_AT_ONCE && s >= 0; i++) {
            if (!fine[i]) continue;
            t->admitted++;
            certain_count(w, u + i * d, t);
            const double room = w->sign * (w->limit - certain_truth(w, u + i * d));
            if (room >= least) continue;
            least = room;
            memcpy(top, u + i * d, d * sizeof *top);
        }
    }
    hfi_safe_close(ctx, safe);
    return s;
}

/* One function: `steps` times a batch of two is asked for and told, and the gate is attacked. */
static inline hf_status certain_attack(hf_context *ctx, uint64_t seed, size_t kernel, size_t steps,
                                       size_t rounds, double weaken, certain_tally *t)
{
    certain_world w = certain_draw(seed, kernel);
    hf_study *study = NULL;
    hf_status s = certain_study(ctx, &w, weaken, &study);
    double at[CERTAIN_D] = {0.0};
    for (size_t j = 0; j < w.d && s >= 0; j++) {
        const hf_variable *v = &hf_study_settings_of(study)->variable[j];
        at[j] = hfi_variable_decode(v, w.first[j]);
        w.first[j] = hfi_variable_encode(v, at[j]);
    }
    const double first[2] = {0.0, certain_reading(&w, w.first)};
    if (s >= 0) s = hf_study_add(ctx, study, at, first, NULL, NULL, NULL);
    for (size_t k = 0; k < steps && s >= 0; k++) {
        hf_proposal p[2];
        s = hf_study_ask(ctx, study, 2, (double)k, p);
        if (s == HF_ERR_ARGUMENT &&
            strstr(hf_context_message(ctx), "no settings are known") != NULL) {
            t->stuck++;
            s = HF_OK;
            break;
        }
        for (size_t i = 0; i < 2 && s >= 0; i++) {
            const double *u = hfi_study_find(study, p[i].trial)->u;
            t->asked++;
            certain_count(&w, u, t);
            const double y[2] = {w.sign * certain_truth(&w, u), certain_reading(&w, u)};
            s = hf_study_tell(ctx, study, p[i].trial, y, NULL, NULL);
        }
        if (s >= 0) s = certain_gate(ctx, &w, study, rounds, t);
    }
    t->worlds++;
    hf_study_free(study);
    return s;
}

#endif
