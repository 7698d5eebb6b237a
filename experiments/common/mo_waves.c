/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mo_waves.h"
#include "common/mo_curves.h"
#include "common/room.h"

#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = MO_WAVES_SAMPLES,
    GRID = MO_WAVES_GRID
};

static const double b[] = {2.0, 1.25, 1.25, 1.0};
const mo_model mo_waves = {2, b, 0.1, 0.05};

void mo_waves_draw(draws *stream, problem *data, double **latent, double **grid)
{
    double x[SAMPLES + GRID], *f = room(2, sizeof x);
    *latent = room((size_t)2 * SAMPLES, sizeof **latent);
    *grid = room((size_t)2 * GRID, sizeof **grid);
    for (size_t i = 0; i < SAMPLES; ++i) x[i] = data->x[2 * i * data->d];
    for (size_t i = 0; i < GRID; ++i) x[SAMPLES + i] = (double)i / (double)(GRID - 1);
    mo_draw(stream, &mo_waves, SAMPLES + GRID, x, f);
    memcpy(*latent, f, 2 * SAMPLES * sizeof *f);
    memcpy(*grid, f + (size_t)2 * SAMPLES, 2 * GRID * sizeof *f);
    for (size_t i = 0; i < data->n; ++i)
        data->y[i] = data->ty[i] = f[i] + mo_waves.noise_sd * draw_normal(stream);
    free(f);
}

void mo_waves_terms(mo_terms *out)
{
    out->kernel = out->own_kernel = "se";
    out->average = true;
    out->nu = 3.0;
    out->known = &mo_waves;
}

static void draw_on_grid(hf_context *ctx, const mo_waves_drawing *drawing, const mo_terms *terms,
                         const char *stem)
{
    static const char *const names[] = {"output 1", "output 2"};
    const problem *data = &drawing->data;
    problem drawn = mo_problem_create(SAMPLES, GRID, 1, 2);
    words models;
    memcpy(drawn.x, data->x, drawn.n * drawn.d * sizeof *drawn.x);
    memcpy(drawn.y, data->y, drawn.n * sizeof *drawn.y);
    memcpy(drawn.wrong, data->wrong, drawn.n * sizeof *drawn.wrong);
    mo_test_grid(&drawn, 0.0, 1.0);
    words_parse(&models, "models", drawing->models, mo_method_known, NULL);
    const mo_curves what = {.data = &drawn,
                            .latent = drawing->grid,
                            .hidden = drawing->hidden,
                            .outputs = names,
                            .axis = "x",
                            .settings = "set xrange [0:1]",
                            .latent_bands = true};
    (void)mo_curves_draw(ctx, &what, terms, &models, stem);
    problem_free(&drawn);
}

void mo_waves_picture(mo_waves_drawing *drawing, void (*terms)(const char *kind, mo_terms *out),
                      const char *stem)
{
    mo_terms protocol = {.own_kernel = NULL};
    hf_context *ctx = stem ? hf_context_create() : NULL;
    terms(drawing->kind, &protocol);
    if (ctx) draw_on_grid(ctx, drawing, &protocol, stem);
    hf_context_free(ctx);
    problem_free(&drawing->data);
    free(drawing->latent);
    free(drawing->grid);
}
