/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo-rcgp-fig2.c
 * @brief Figure 2: a gap in one output is filled in from the other, which has wrong readings there.
 *
 * Functions and noise: common/mo_waves.h. The readings of output 1 with 0.3 < x < 0.7 are not given.
 * "outliers": 2.5 % of the readings of output 2, three, are replaced by draws with mean -2.5 where they are
 * positive and 2.5 elsewhere, sd 0.5; the paper does not say where, here they are three whose x is nearest to
 * 0.5. Scored against the readings of output 1 that were not given.
 */
#include "common/mo_waves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = MO_WAVES_SAMPLES,
    WRONG = 3
};

static void damage(problem *p, draws *stream)
{
    for (size_t k = 0; k < WRONG; ++k) {
        size_t nearest = SAMPLES;
        for (size_t i = 0; i < SAMPLES; ++i) {
            if (p->wrong[2 * i + 1]) continue;
            if (nearest == SAMPLES || fabs(p->x[2 * i * p->d] - 0.5) < fabs(p->x[2 * nearest * p->d] - 0.5))
                nearest = i;
        }
        double *y = &p->y[2 * nearest + 1];
        *y = (*y > 0.0 ? -2.5 : 2.5) + 0.5 * draw_normal(stream);
        p->wrong[2 * nearest + 1] = true;
    }
}

/* `hidden` (n) gets the readings that are taken away. */
static problem make(const char *kind, uint64_t seed, double **latent, double **grid, double *hidden)
{
    draws stream = {seed * 0x2545f4914f6cdd1du + 2};
    problem p = mo_problem_create(SAMPLES, SAMPLES, 1, 2);
    for (size_t i = 0; i < SAMPLES; ++i) {
        const double x = draw_uniform(&stream);
        mo_set_input(&p, false, i, 0, x);
        mo_set_input(&p, true, i, 0, x);
    }
    mo_waves_draw(&stream, &p, latent, grid);
    if (strcmp(kind, "outliers") == 0) damage(&p, &stream);
    for (size_t i = 0; i < p.n; ++i) {
        const double x = p.x[i * p.d];
        const bool gap = i % 2 == 0 && x > 0.3 && x < 0.7;
        hidden[i] = gap ? p.y[i] : NAN;
        if (gap)
            p.y[i] = NAN;
        else
            p.ty[i] = NAN;
    }
    return p;
}

static bool data(hf_context *ctx, const char *folder, const char *kind, uint64_t seed, mo_draw_result *out)
{
    double hidden[2 * SAMPLES], *grid;
    (void)ctx;
    (void)folder;
    out->data = make(kind, seed, &out->latent, &grid, hidden);
    for (size_t i = 0; i < out->data.m; ++i)
        if (isnan(out->data.ty[i])) out->latent[i] = NAN;
    free(grid);
    return true;
}

static void terms(const char *kind, mo_terms *out)
{
    (void)kind;
    mo_waves_terms(out);
    out->eps[0] = 0.0;
    out->eps[1] = 0.025;
}

static void more(const records *done, const words *kinds, const words *models, const char *stem)
{
    (void)done;
    (void)kinds;
    (void)models;
    if (!stem) return;
    double hidden[2 * SAMPLES];
    mo_waves_drawing drawn = {.kind = "outliers", .models = "MOGP,MO-RCGP,default", .hidden = hidden};
    drawn.data = make("outliers", 1, &drawn.latent, &drawn.grid, hidden);
    mo_waves_picture(&drawn, terms, stem);
}

int main(int argc, char **argv)
{
    static const mo_table table = {
        .program = "mo-rcgp-fig2",
        .title = "Figure 2: a gap in one output, wrong readings in the other",
        .kinds = "outliers,none",
        .models = "MOGP,wRCGP,MO-RCGP,morcgp,joint,recentred,independent,default",
        .latent = true,
        .data = data,
        .terms = terms,
        .more = more,
    };
    return mo_table_main(argc, argv, &table);
}
