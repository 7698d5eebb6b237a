/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbours on lattices and among categories. */
#include "optimise/optimise.h"

#include <string.h>

/* 1, 2, 4, ... steps up and down as far as there are any: twice as many as bits. */
static size_t most_neighbours(const hf_domain *domain, size_t j)
{
    const size_t levels = hfi_domain_levels(domain, j);
    if (hfi_domain_unordered(domain, j)) return levels - 1;
    size_t count = 0;
    for (size_t jump = 1; jump < levels; jump *= 2) count += 2;
    return count;
}

hf_status hfi_walk_begin(hf_context *ctx, const hf_domain *domain, size_t n, const size_t *inputs,
                         hfi_walk *walk)
{
    *walk = (hfi_walk){.domain = domain, .count = n, .inputs = inputs};
    if (n == 0) return HF_OK;
    for (size_t k = 0; k < n; k++) walk->most += most_neighbours(domain, inputs[k]);
    walk->points = hfi_alloc_product(ctx, walk->most, domain->dimension, sizeof *walk->points);
    walk->values = hfi_alloc_unset(ctx, walk->most, sizeof *walk->values);
    return walk->points != NULL && walk->values != NULL ? HF_OK : HF_ERR_MEMORY;
}

void hfi_walk_end(hf_context *ctx, hfi_walk *walk)
{
    HFI_FREE(ctx, walk->points, walk->values);
    *walk = (hfi_walk){.count = 0};
}

static void put_neighbour_level(hfi_walk *walk, size_t *at, const double *x, size_t j, size_t level)
{
    const size_t d = walk->domain->dimension;
    double *point = walk->points + (*at)++ * d;
    memcpy(point, x, d * sizeof *point);
    point[j] = hfi_domain_level(walk->domain, j, level);
}

size_t hfi_walk_neighbours(hfi_walk *walk, const double *x)
{
    size_t at = 0;
    for (size_t k = 0; k < walk->count; k++) {
        const size_t j = walk->inputs[k], levels = hfi_domain_levels(walk->domain, j);
        const size_t here = hfi_domain_level_of(walk->domain, j, x[j]);
        if (hfi_domain_unordered(walk->domain, j)) {
            for (size_t level = 0; level < levels; level++)
                if (level != here) put_neighbour_level(walk, &at, x, j, level);
            continue;
        }
        for (size_t jump = 1; jump < levels; jump *= 2) {
            if (here >= jump) put_neighbour_level(walk, &at, x, j, here - jump);
            if (levels - here > jump) put_neighbour_level(walk, &at, x, j, here + jump);
        }
    }
    return at;
}
