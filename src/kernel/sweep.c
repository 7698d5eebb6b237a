/* SPDX-License-Identifier: Apache-2.0 */
/* Panels of fast points, strips of slow points and tiles: all pairs of two tables in one order. */
#include "kernel/kernel.h"
#include "kernel/tile.h"

typedef struct sweep_job {
    const hfi_sweep *sweep;
    double *scratch;
    size_t scratch_each;
} sweep_job;

void hfi_sweep_part(const hfi_sweep *s, size_t begin, size_t end, double *scratch)
{
    const size_t strip = s->rows ? 1 : HFI_STRIP;
    hfi_tile tile;
    hfi_tile_begin(&tile, s->kernel, scratch);
    tile.points.ldx = s->ldx;
    tile.same = s->same;
    for (size_t panel = s->lower ? begin : 0; panel < s->n; panel += tile.loaded) {
        hfi_tile_load(&tile, s->n - panel, s->z + panel * s->ldz, s->ldz);
        for (size_t slow = begin; slow < end; slow += strip) {
            tile.points.rows = hfi_smaller(strip, end - slow);
            tile.points.x = s->x + slow * s->ldx;
            /* Tiles wholly above the diagonal have the last of their points before the strip. */
            const size_t first = s->lower && slow > panel ? (slow - panel) / HFI_TILE * HFI_TILE : 0;
            for (size_t f = first; f < tile.loaded; f += HFI_TILE) {
                hfi_tile_take(&tile, f);
                tile.diagonal = (ptrdiff_t)slow - (ptrdiff_t)(panel + f);
                s->visit(s->of, &tile, slow, panel + f);
            }
        }
    }
}

static size_t blocks(const hfi_sweep *s)
{
    return s->m / HFI_SWEEP_BLOCK + (s->m % HFI_SWEEP_BLOCK != 0);
}

static void block(size_t index, int thread, void *arg)
{
    const sweep_job *all = arg;
    const size_t begin = index * HFI_SWEEP_BLOCK, end = hfi_smaller(all->sweep->m, begin + HFI_SWEEP_BLOCK);
    hfi_sweep_part(all->sweep, begin, end, all->scratch + (size_t)thread * all->scratch_each);
}

hf_status hfi_sweep_run(hf_context *ctx, const hfi_sweep *sweep)
{
    sweep_job all = {.sweep = sweep};
    all.scratch = hfi_kernel_scratch_alloc(ctx, sweep->kernel, &all.scratch_each);
    if (!all.scratch) return HF_ERR_MEMORY;
    hfi_parallel_for(ctx, blocks(sweep), block, &all);
    hfi_free(ctx, all.scratch);
    return HF_OK;
}

/* ---- sums in the parameters ------------------------------------------------------------------ */

typedef struct sweep_sums {
    const hfi_sweep *weigh;
    double *partial; /* one row of parameters for each block */
} sweep_sums;

static void add_tile(void *of, hfi_tile *tile, size_t slow, size_t fast)
{
    const sweep_sums *all = of;
    all->weigh->visit(all->weigh->of, tile, slow, fast);
    hfi_tile_adjoint(tile, all->partial + slow / HFI_SWEEP_BLOCK * tile->kernel->parameters);
}

hf_status hfi_sweep_adjoint(hf_context *ctx, const hfi_sweep *sweep, double *theta)
{
    const size_t parameters = sweep->kernel->parameters, count = blocks(sweep);
    sweep_sums all = {sweep, hfi_alloc_product(ctx, count, parameters, sizeof(double))};
    if (!all.partial) return HF_ERR_MEMORY;
    hfi_sweep run = *sweep;
    run.visit = add_tile;
    run.of = &all;
    const hf_status status = hfi_sweep_run(ctx, &run);
    for (size_t b = 0; status >= 0 && b < count; b++)
        for (size_t p = 0; p < parameters; p++) theta[p] += all.partial[b * parameters + p];
    hfi_free(ctx, all.partial);
    return status;
}
