/* SPDX-License-Identifier: Apache-2.0 */
/* Tight groups of rows. Copies of one wrong reading vouch for each other, so that no leave-one-out rule can
 * see them; here they are found by where they are, and whether they are wrong is for the trainer to test. */
#include "sites/sites_impl.h"

#include <math.h>

static const double TIGHT = 0.35; /* of the median distance to the nearest row */

/* Sizes that can be told apart from chance and from the data as a whole: max(4, n/50) to 2n/5. */
enum {
    SMALLEST_SIZE = 4,
    FEWEST_ROWS = 10
};

static bool allowed_size(size_t size, size_t n)
{
    return size >= SMALLEST_SIZE && size >= n / 50 + (n % 50 != 0) && size <= n / 5 * 2 + n % 5 * 2 / 5;
}

typedef struct nearest_search {
    const hfi_rows *rows;
    double *scratch; /* n per thread */
    double *squared; /* to the nearest other row */
} nearest_search;

static void nearest_of_row(size_t i, int thread, void *arg)
{
    nearest_search *s = arg;
    size_t n = s->rows->n;
    double *squared = s->scratch + (size_t)thread * n, nearest = INFINITY;
    hfi_rows_distances(s->rows, i, squared);
    squared[i] = INFINITY;
    for (size_t j = 0; j < n; j++) nearest = squared[j] < nearest ? squared[j] : nearest;
    s->squared[i] = nearest;
}

/* Arrays of the search for components; n entries each (distance: n per thread). */
typedef struct group_arrays {
    double *distance, *nearest, *sorted;
    size_t *candidate, *queue, *label, *size;
} group_arrays;

static void work_free(hf_context *ctx, group_arrays *w)
{
    HFI_FREE(ctx, w->distance, w->nearest, w->candidate);
}

static hf_status work_create(hf_context *ctx, size_t n, group_arrays *out)
{
    size_t entries = 0;
    if (!hfi_size_mul(n, (size_t)hf_context_threads(ctx), &entries))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows do not fit in memory", n);
    group_arrays w = {0};
    if (HFI_ALLOC(ctx, HFI_ROOM(w.distance, entries), HFI_ROOMS(w.nearest, n, 2),
                  HFI_ROOMS(w.candidate, n, 4)) < 0) {
        work_free(ctx, &w);
        return HF_ERR_MEMORY;
    }
    w.sorted = w.nearest + n;
    w.queue = w.candidate + n;
    w.label = w.candidate + 2 * n;
    w.size = w.candidate + 3 * n;
    *out = w;
    return HF_OK;
}

/* Labels the component of `seed` with `label` and returns its size. */
static size_t flood(const hfi_rows *rows, group_arrays *w, size_t candidates, size_t seed, size_t label,
                    double squared)
{
    size_t head = 0, tail = 0;
    w->queue[tail++] = seed;
    w->label[seed] = label;
    while (head < tail) {
        hfi_rows_distances(rows, w->queue[head++], w->distance);
        for (size_t c = 0; c < candidates; c++) {
            size_t j = w->candidate[c];
            if (w->label[j] != 0 || !(w->distance[j] < squared)) continue;
            w->label[j] = label;
            w->queue[tail++] = j;
        }
    }
    return tail;
}

/* Components of the graph "closer than h"; label[i] = 0 for rows without an edge, size[label - 1]. Only rows
 * whose nearest row is that close have edges, which is at most half of them. */
static size_t components(const hfi_rows *rows, group_arrays *w, double h)
{
    size_t candidates = 0, count = 0;
    for (size_t i = 0; i < rows->n; i++) {
        w->label[i] = 0;
        if (w->nearest[i] < h * h) w->candidate[candidates++] = i;
    }
    for (size_t c = 0; c < candidates; c++) {
        size_t seed = w->candidate[c];
        if (w->label[seed] != 0) continue;
        w->size[count] = flood(rows, w, candidates, seed, count + 1, h * h);
        count++;
    }
    return count;
}

/* group[i] from the labels: the largest allowed components in turn, of equal ones that of the first row. */
static size_t rank(size_t n, group_arrays *w, size_t components_count, size_t max_groups, size_t *group)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) group[i] = 0;
    while (count < max_groups) {
        size_t best = components_count;
        for (size_t c = 0; c < components_count; c++)
            if (allowed_size(w->size[c], n) && (best == components_count || w->size[c] > w->size[best]))
                best = c;
        if (best == components_count) break;
        count++;
        for (size_t i = 0; i < n; i++)
            if (w->label[i] == best + 1) group[i] = count;
        w->size[best] = 0; /* taken */
    }
    return count;
}

hf_status hfi_suspect_groups(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                             size_t max_groups, size_t *group, size_t *count)
{
    if (n < FEWEST_ROWS || max_groups == 0) {
        for (size_t i = 0; i < n; i++) group[i] = 0;
        *count = 0;
        return HF_OK;
    }
    hfi_rows rows = {0};
    group_arrays w = {0};
    hf_status status = hfi_rows_create(ctx, n, d, x, ldx, &rows);
    if (status < 0) return status;
    status = work_create(ctx, n, &w);
    if (status >= 0) {
        nearest_search search = {.rows = &rows, .scratch = w.distance, .squared = w.nearest};
        hfi_parallel_for(ctx, n, nearest_of_row, &search);
        for (size_t i = 0; i < n; i++) w.sorted[i] = sqrt(w.nearest[i]);
        *count = rank(n, &w, components(&rows, &w, TIGHT * hfi_median(w.sorted, n)), max_groups, group);
        work_free(ctx, &w);
    }
    hfi_rows_free(ctx, &rows);
    return status;
}
