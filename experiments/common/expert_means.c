/* SPDX-License-Identifier: Apache-2.0 */
#include "common/expert_means.h"
#include "common/draws.h"
#include "common/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double toy_function(double x)
{
    return 3.0 * sin(6.283185307179586 * x) + 4.0 * x;
}

problem expert_toy(long split, long offset, double *clean)
{
    problem p = problem_create(TOY_ROWS, TOY_GRID, 1);
    draws stream = {(uint64_t)(offset + 7000 + split) * 0x2545f4914f6cdd1du + 1};
    double mean = 0.0;
    for (size_t i = 0; i < p.n; ++i) {
        p.x[i] = 2.0 * draw_uniform(&stream);
        clean[i] = toy_function(p.x[i]) + 0.1 * draw_normal(&stream);
        mean += clean[i] / (double)p.n;
    }
    const double sd = sample_sd(p.n, clean);
    const size_t wanted = p.n * 15 / 100;
    for (size_t i = 0, done = 0; i < p.n; ++i) {
        clean[i] = (clean[i] - mean) / sd;
        p.y[i] = clean[i];
        if (draw_uniform(&stream) * (double)(p.n - i) >= (double)(wanted - done)) continue;
        p.wrong[i] = true;
        p.y[i] += 1.0 + 2.0 * draw_uniform(&stream);
        done += 1;
    }
    for (size_t i = 0; i < p.m; ++i) {
        p.tx[i] = 2.0 * ((double)i + 0.5) / (double)p.m;
        p.ty[i] = (toy_function(p.tx[i]) + 0.1 * draw_normal(&stream) - mean) / sd;
    }
    return p;
}

static const char *const uses[EXPERT_USES] = {"const", "alg1", "eq22", "average", "replace"};

expert_use expert_use_of(const char *name)
{
    int use = 0;
    while (use < EXPERT_USES && strcmp(uses[use], name) != 0) ++use;
    return (expert_use)use;
}

const char *expert_use_name(expert_use use)
{
    return uses[use];
}

/* Labels and corrections of a share of the wrong readings; returns how many. */
static size_t say(const problem *p, const double *clean, const expert_skill *skill, hf_expert_label *label,
                  double *correction)
{
    draws stream = {skill->seed * 0x2545f4914f6cdd1du + 1};
    size_t wrong = 0, done = 0;
    for (size_t i = 0; i < p->n; ++i) wrong += p->wrong[i];
    const size_t wanted = (size_t)fmax(1.0, floor(skill->told * (double)wrong + 0.5));
    for (size_t i = 0, seen = 0; i < p->n; ++i) {
        label[i] = HF_EXPERT_UNKNOWN;
        correction[i] = NAN;
        if (!p->wrong[i]) continue;
        const double chance = draw_uniform(&stream), off = draw_normal(&stream);
        if (chance * (double)(wrong - seen++) >= (double)(wanted - done)) continue;
        label[i] = HF_EXPERT_DOUBTED;
        correction[i] = clean[i] + skill->sd * off;
        done += 1;
    }
    return done;
}

/* The published settings are in units of standardised readings, as the problem is. */
static hf_expert_settings settings_of(expert_use use, const expert_skill *skill)
{
    hf_expert_settings s = hf_expert_settings_default();
    s.correction_var = skill->sd * skill->sd;
    if (use == EXPERT_AVERAGE) return s;
    s.rule = HF_EXPERT_PUBLISHED;
    s.label_weight = 1.0;
    s.correction_var = 1.0;
    s.base = 0.0;
    s.lengthscale = use == EXPERT_ONE ? (double)INFINITY : 1.0;
    return s;
}

static bool learn(hf_context *ctx, const problem *p, const hf_expert_label *label, const double *correction,
                  const hf_expert_settings *settings, double *train, double *test)
{
    const hf_expert_data data = {
        .n = p->n, .d = p->d, .x = p->x, .ldx = p->d, .y = p->y, .label = label, .correction = correction};
    hf_expert *expert = NULL;
    hf_status s = hf_expert_create(ctx, &data, settings, &expert);
    if (s >= 0) s = hf_expert_mean(ctx, expert, p->n, p->x, p->d, train, NULL);
    if (s >= 0) s = hf_expert_mean(ctx, expert, p->m, p->tx, p->d, test, NULL);
    hf_expert_free(expert);
    if (s < 0) fprintf(stderr, "%s\n", hf_context_message(ctx));
    return s >= 0;
}

bool expert_means(hf_context *ctx, problem *data, const double *clean, expert_use use,
                  const expert_skill *skill, double *train, double *test)
{
    memset(train, 0, data->n * sizeof *train);
    memset(test, 0, data->m * sizeof *test);
    if (use == EXPERT_CONSTANT) return true;
    hf_expert_label *label = room(data->n, sizeof *label);
    double *correction = room(data->n, sizeof *correction);
    bool ok = say(data, clean, skill, label, correction) > 0;
    if (use == EXPERT_REPLACED) {
        for (size_t i = 0; i < data->n; ++i)
            if (!isnan(correction[i])) data->y[i] = correction[i];
    } else {
        const hf_expert_settings settings = settings_of(use, skill);
        ok = ok && learn(ctx, data, label, correction, &settings, train, test);
    }
    free(label);
    free(correction);
    return ok;
}
