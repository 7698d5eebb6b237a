/* SPDX-License-Identifier: Apache-2.0 */
/* Points of a box that are looked at before anything is climbed. */
#include "optimise/optimise.h"

#include "posterior/posterior.h"
#include <math.h>
#include <string.h>

enum {
    SAMPLES = 256, /* an input */
    MOST_SAMPLES = 4096,
    CORNER_INPUTS = 4 /* boxes of more have too many corners */
};

typedef struct collection {
    const hf_domain *domain;
    const size_t *free_inputs;
    size_t d, free, count;
    double *points; /* count x d so far */
} collection;

static size_t samples_of(size_t free, size_t wanted)
{
    if (free == 0) return 1;
    if (wanted > 0) return wanted;
    return free < MOST_SAMPLES / SAMPLES ? SAMPLES * free : MOST_SAMPLES;
}

/* Rows of the box where every free input has finitely many values, if these are no more than `most`; else 0. */
static size_t combinations(const collection *all, size_t most)
{
    size_t count = 1;
    for (size_t k = 0; k < all->free && count > 0; k++) {
        const size_t levels = hfi_domain_levels(all->domain, all->free_inputs[k]);
        count = levels > 0 && levels <= most / count ? count * levels : 0;
    }
    return all->free > 0 ? count : 0;
}

static double *next(collection *all)
{
    return all->points + all->count * all->d;
}

static void put_combinations(collection *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double *point = next(all);
        size_t rest = i;
        memcpy(point, all->domain->lower, all->d * sizeof *point);
        for (size_t k = 0; k < all->free; k++) {
            const size_t j = all->free_inputs[k], levels = hfi_domain_levels(all->domain, j);
            point[j] = hfi_domain_level(all->domain, j, rest % levels);
            rest /= levels;
        }
        all->count++;
    }
}

/* The tops of a mean are near readings, and narrow ones are hard to find otherwise. The last `most` anchors,
 * as far as they are in the box; inputs that are fixed, or not the domain's, do not matter. */
static void put_anchors(collection *all, const hf_posterior *posterior, size_t most)
{
    const hfi_scaling *scaling = &posterior->scaling;
    const hfi_solution *s = &posterior->solution;
    for (size_t i = s->n > most ? s->n - most : 0; i < s->n; i++) {
        const double *anchor = s->z + i * s->d;
        double *point = next(all);
        bool inside = true;
        memcpy(point, all->domain->lower, all->d * sizeof *point);
        for (size_t k = 0; k < all->free && inside; k++) {
            const size_t j = all->free_inputs[k];
            point[j] = anchor[j] * scaling->x_scale[j] + scaling->x_shift[j];
            inside = point[j] >= all->domain->lower[j] && point[j] <= all->domain->upper[j];
            if (inside) point[j] = hfi_domain_nearest(all->domain, j, point[j]);
        }
        all->count += inside;
    }
}

static void put_guesses(collection *all, size_t count, const double *guesses)
{
    for (size_t i = 0; i < count; i++) {
        double *point = next(all);
        for (size_t j = 0; j < all->d; j++)
            point[j] = hfi_domain_nearest(all->domain, j, guesses[i * all->d + j]);
        all->count++;
    }
}

/* Bit k of a corner's number says at which end the k-th free input is. */
static void put_corners(collection *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double *point = next(all);
        memcpy(point, all->domain->lower, all->d * sizeof *point);
        for (size_t k = 0; k < all->free; k++) {
            const size_t j = all->free_inputs[k];
            if (i >> k & 1) point[j] = hfi_domain_nearest(all->domain, j, all->domain->upper[j]);
        }
        all->count++;
    }
}

/* Room for samples, as many anchors, guesses and corners. */
static double *room_for(hf_context *ctx, size_t samples, size_t guesses, size_t corners, size_t d)
{
    size_t entries;
    if (samples > SIZE_MAX / 4 || guesses > SIZE_MAX / 4 ||
        !hfi_size_mul(2 * samples + guesses + corners, d, &entries)) {
        hfi_out_of_memory(ctx);
        return NULL;
    }
    return hfi_alloc_unset(ctx, entries, sizeof(double));
}

hf_status hfi_points_to_look_at(hf_context *ctx, const hf_posterior *near, const hf_domain *domain,
                                size_t free, const size_t *inputs, size_t asked, size_t guess_count,
                                const double *guesses, double **points, size_t *count)
{
    const size_t samples = samples_of(free, asked);
    collection all = {.domain = domain, .free_inputs = inputs, .d = domain->dimension, .free = free};
    const size_t whole = combinations(&all, samples);
    const size_t corners = whole == 0 && free > 0 && free <= CORNER_INPUTS ? (size_t)1 << free : 0;
    all.points = room_for(ctx, samples, guess_count, corners, all.d);
    if (all.points == NULL) return HF_ERR_MEMORY;
    if (whole > 0) {
        put_combinations(&all, whole);
    } else {
        hf_domain_quasirandom(domain, 0, samples, all.points);
        all.count = samples;
        if (near != NULL) put_anchors(&all, near, samples);
    }
    put_guesses(&all, guess_count, guesses);
    put_corners(&all, corners);
    *points = all.points;
    *count = all.count;
    return HF_OK;
}

/* ---- where climbs begin ------------------------------------------------------------------------------ */

enum {
    CONSIDERED = 2048 /* of the best points: looking for neighbours costs the square of it */
};

/* Share of the box's sides: points so near a better one are on the way to the same top, or tell little of another. */
static const double neighbourhood = 0.02;

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
    hfi_ranked *rank = hfi_alloc_unset(ctx, count, sizeof *rank);
    if (rank == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < count; i++)
        rank[i] = (hfi_ranked){.value = -values[i], .index = i}; /* the largest first */
    hfi_sort_ranked(rank, count);
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
