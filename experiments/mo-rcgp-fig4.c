/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo-rcgp-fig4.c
 * @brief Figure 4: a tight cluster of wrong readings in one of two outputs.
 *
 * Functions and noise: common/mo_waves.h. A tenth of the samples, twelve, are taken at inputs uniform on
 * (0.42, 0.58), and their readings of output 1 are replaced by draws with mean 2.5 and sd 0.5; those of
 * output 2 are sound. Scored in sample as in Table 1.
 */
#include "common/mo_waves.h"

#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = MO_WAVES_SAMPLES
};

static problem make(const char *kind, uint64_t seed, double **latent, double **grid)
{
    draws stream = {seed * 0x2545f4914f6cdd1du + 4};
    problem p = mo_problem_create(SAMPLES, SAMPLES, 1, 2);
    bool chosen[SAMPLES];
    mo_choose(&stream, SAMPLES, SAMPLES / 10, chosen);
    for (size_t i = 0; i < SAMPLES; ++i) {
        const double u = draw_uniform(&stream), x = chosen[i] ? 0.42 + 0.16 * u : u;
        mo_set_input(&p, false, i, 0, x);
        mo_set_input(&p, true, i, 0, x);
    }
    mo_waves_draw(&stream, &p, latent, grid);
    for (size_t i = 0; i < SAMPLES && strcmp(kind, "focused") == 0; ++i) {
        if (!chosen[i]) continue;
        p.y[2 * i] = 2.5 + 0.5 * draw_normal(&stream);
        p.wrong[2 * i] = true;
    }
    return p;
}

static bool data(hf_context *ctx, const char *folder, const char *kind, uint64_t seed, mo_draw_result *out)
{
    double *grid;
    (void)ctx;
    (void)folder;
    out->data = make(kind, seed, &out->latent, &grid);
    free(grid);
    return true;
}

static void terms(const char *kind, mo_terms *out)
{
    (void)kind;
    mo_waves_terms(out);
    out->eps[0] = 0.1;
    out->eps[1] = 0.0;
}

static void more(const records *done, const words *kinds, const words *models, const char *stem)
{
    (void)done;
    (void)kinds;
    (void)models;
    if (!stem) return;
    mo_waves_drawing drawn = {.kind = "focused", .models = "MOGP,MO-RCGP,default,wRCGP,recentred"};
    drawn.data = make("focused", 1, &drawn.latent, &drawn.grid);
    mo_waves_picture(&drawn, terms, stem);
}

int main(int argc, char **argv)
{
    static const mo_table table = {
        .program = "mo-rcgp-fig4",
        .title = "Figure 4: a cluster of wrong readings in one of two outputs",
        .kinds = "focused,none",
        .models = "MOGP,wRCGP,MO-RCGP,morcgp,joint,recentred,independent,default",
        .latent = true,
        .data = data,
        .terms = terms,
        .more = more,
    };
    return mo_table_main(argc, argv, &table);
}
