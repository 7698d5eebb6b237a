/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mo_waves.h"
#include "common/mo_curves.h"

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
    double x[SAMPLES + GRID], *f = malloc(2 * sizeof x);
    *latent = malloc(2 * SAMPLES * sizeof **latent);
    *grid = malloc(2 * GRID * sizeof **grid);
    if (!f || !*latent || !*grid) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
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

bool mo_waves_picture(const problem *data, const double *grid, const double *hidden, const mo_terms *terms,
                      const words *models, const char *stem)
{
    static const char *const names[] = {"output 1", "output 2"};
    problem drawn = mo_problem_create(SAMPLES, GRID, 1, 2);
    hf_context *ctx = hf_context_create();
    memcpy(drawn.x, data->x, drawn.n * drawn.d * sizeof *drawn.x);
    memcpy(drawn.y, data->y, drawn.n * sizeof *drawn.y);
    memcpy(drawn.wrong, data->wrong, drawn.n * sizeof *drawn.wrong);
    mo_test_grid(&drawn, 0.0, 1.0);
    const mo_curves what = {.data = &drawn,
                            .latent = grid,
                            .hidden = hidden,
                            .outputs = names,
                            .axis = "x",
                            .settings = "set xrange [0:1]",
                            .latent_bands = true};
    const bool ok = ctx && mo_curves_draw(ctx, &what, terms, models, stem);
    hf_context_free(ctx);
    problem_free(&drawn);
    return ok;
}
