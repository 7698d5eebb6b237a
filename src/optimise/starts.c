/* SPDX-License-Identifier: Apache-2.0 */
/* Where climbs begin. */
#include "optimise/optimise.h"

#include <math.h>
#include <stdlib.h>

enum {
    CONSIDERED = 2048 /* of the best points: looking for neighbours costs the square of it */
};

/* Share of the box's sides: points so near a better one are on the way to the same top, or tell little of another. */
static const double neighbourhood = 0.02;

typedef struct ranked {
    double value;
    size_t index;
} ranked;

/* The largest first, and of equal ones the first. */
static int compare(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->value != right->value) return left->value > right->value ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

static bool near(const hf_domain *domain, const double *a, const double *b)
{
    for (size_t j = 0; j < domain->dimension; j++) {
        const double reach = hfi_domain_unordered(domain, j) ? 0.0 : neighbourhood;
        if (fabs(a[j] - b[j]) > reach * (domain->upper[j] - domain->lower[j])) return false;
    }
    return true;
}

hf_status hfi_choose_starts(hf_context *ctx, const hf_domain *domain, size_t count, const double *x,
                            const double *values, size_t most, size_t *starts, size_t *chosen)
{
    const size_t d = domain->dimension;
    ranked *rank = hfi_alloc_unset(ctx, count, sizeof *rank);
    if (rank == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) rank[i] = (ranked){.value = values[i], .index = i};
    qsort(rank, count, sizeof *rank, compare);
    size_t found = 0;
    for (size_t i = 0; i < count && i < CONSIDERED && found < most; i++) {
        const double *point = x + rank[i].index * d;
        size_t better = 0;
        while (better < i && !near(domain, point, x + rank[better].index * d)) better++;
        if (better == i) starts[found++] = rank[i].index;
    }
    hfi_free(ctx, rank);
    *chosen = found;
    return HF_OK;
}
