/* SPDX-License-Identifier: Apache-2.0 */
/* Centres of k-means: seeding by squared distances (Arthur and Vassilvitskii 2007), then Lloyd steps. Distances are
 * computed by threads, everything that adds up or draws is done by one, in the order of the rows. */
#include "solver/choose.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK = 512
};

typedef struct clusters {
    size_t n, d, m;
    int exponent;    /* inputs here are x / 2^exponent, below 1 */
    double *columns; /* d x n */
    double *centres; /* m x d */
    size_t count;    /* centres there are */
    size_t from;     /* centres to look at: from .. count-1 */
    size_t *nearest; /* n */
    double *squared; /* n: distance to that centre, squared */
    size_t *members; /* m */
} clusters;

/* The nearest of the centres from .. count-1, where it is nearer than what is known already. */
static void improve(size_t chunk, int thread, void *arg)
{
    clusters *c = arg;
    (void)thread;
    size_t first = chunk * CHUNK, rows = c->n - first < CHUNK ? c->n - first : CHUNK;
    double distance[CHUNK], *squared = c->squared + first;
    size_t *nearest = c->nearest + first;
    for (size_t k = c->from; k < c->count; k++) {
        memset(distance, 0, sizeof distance);
        for (size_t j = 0; j < c->d; j++) {
            const double *column = c->columns + j * c->n + first, at = c->centres[k * c->d + j];
            for (size_t i = 0; i < rows; i++) distance[i] += (column[i] - at) * (column[i] - at);
        }
        for (size_t i = 0; i < rows; i++) {
            bool nearer = distance[i] < squared[i];
            squared[i] = nearer ? distance[i] : squared[i];
            nearest[i] = nearer ? k : nearest[i];
        }
    }
}

static void improve_all(hf_context *ctx, clusters *c, size_t from)
{
    c->from = from;
    hfi_parallel_for(ctx, c->n / CHUNK + (c->n % CHUNK != 0), improve, c);
}

static double cost(const clusters *c)
{
    double sum = 0.0;
    for (size_t i = 0; i < c->n; i++) sum += c->squared[i];
    return sum;
}

static void copy_row(clusters *c, size_t row, size_t centre)
{
    for (size_t j = 0; j < c->d; j++) c->centres[centre * c->d + j] = c->columns[j * c->n + row];
}

/* Ends early when every row is a centre. */
static hf_status seed(hf_context *ctx, clusters *c)
{
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_INDUCING, 1);
    for (size_t i = 0; i < c->n; i++) c->squared[i] = INFINITY;
    size_t row = hfi_stream_below(&stream, c->n);
    for (;;) {
        copy_row(c, row, c->count++);
        improve_all(ctx, c, c->count - 1);
        double total = cost(c);
        if (c->count == c->m || !(total > 0.0)) return HF_OK;
        if (!hfi_progress(ctx, "choose", -1.0, NAN)) return hfi_cancelled(ctx);
        double left = hfi_stream_uniform(&stream) * total;
        for (size_t i = 0; i < c->n; i++) {
            if (!(c->squared[i] > 0.0)) continue;
            row = i; /* the last one, should rounding leave something over */
            left -= c->squared[i];
            if (left < 0.0) break;
        }
    }
}

static void assign(hf_context *ctx, clusters *c)
{
    for (size_t i = 0; i < c->n; i++) c->squared[i] = INFINITY;
    improve_all(ctx, c, 0);
}

/* The row farthest from its centre becomes a centre, if it is not one. */
static void reseed(clusters *c, size_t centre)
{
    size_t row = 0;
    for (size_t i = 1; i < c->n; i++)
        if (c->squared[i] > c->squared[row]) row = i;
    if (!(c->squared[row] > 0.0)) return;
    copy_row(c, row, centre);
    c->squared[row] = 0.0; /* the next one goes elsewhere */
}

static void move_centres(clusters *c)
{
    memset(c->members, 0, c->count * sizeof *c->members);
    for (size_t i = 0; i < c->n; i++) c->members[c->nearest[i]]++;
    for (size_t k = 0; k < c->count; k++)
        for (size_t j = 0; j < c->d && c->members[k] > 0; j++) c->centres[k * c->d + j] = 0.0;
    for (size_t j = 0; j < c->d; j++)
        for (size_t i = 0; i < c->n; i++) c->centres[c->nearest[i] * c->d + j] += c->columns[j * c->n + i];
    for (size_t k = 0; k < c->count; k++)
        for (size_t j = 0; j < c->d && c->members[k] > 0; j++)
            c->centres[k * c->d + j] /= (double)c->members[k];
    for (size_t k = 0; k < c->count; k++)
        if (c->members[k] == 0) reseed(c, k);
}

/* Until nothing gets better. */
static hf_status lloyd(hf_context *ctx, clusters *c, size_t steps, double *costs, size_t *done)
{
    double before = cost(c);
    if (costs != NULL) costs[0] = before;
    *done = 0;
    while (*done < steps && before > 0.0) {
        if (!hfi_progress(ctx, "choose", (double)*done / (double)steps, NAN)) return hfi_cancelled(ctx);
        move_centres(c);
        assign(ctx, c);
        double now = cost(c);
        ++*done;
        if (costs != NULL) costs[*done] = now;
        if (!(now < before)) break;
        before = now;
    }
    return HF_OK;
}

/* The rows by columns, scaled so that no square overflows and none of a visible difference underflows. */
static void load_scaled_columns(clusters *c, const double *x, size_t ldx)
{
    double most = 0.0;
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < c->d; j++) most = fmax(most, fabs(x[i * ldx + j]));
    int exponent = 0;
    frexp(most, &exponent);
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < c->d; j++) c->columns[j * c->n + i] = ldexp(x[i * ldx + j], -exponent);
    c->exponent = exponent;
}

/* Back in the units of x, without repetitions. */
static hf_status unload(hf_context *ctx, const clusters *c, double *z, size_t *chosen)
{
    size_t *rows = hfi_alloc(ctx, c->count, sizeof *rows), count = 0;
    if (rows == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < c->count * c->d; k++) c->centres[k] = ldexp(c->centres[k], c->exponent);
    hf_status status = hfi_rows_distinct(ctx, c->count, c->d, c->centres, c->d, c->count, rows, NULL, &count);
    if (status >= 0) {
        for (size_t k = 0; k < count; k++)
            memcpy(z + k * c->d, c->centres + rows[k] * c->d, c->d * sizeof *z);
        *chosen = count;
    }
    hfi_free(ctx, rows);
    return status;
}

hf_status hfi_choose_kmeans(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx, size_t m,
                            size_t steps, double *z, size_t *chosen, double *costs, size_t *done)
{
    clusters c = {.n = n, .d = d, .m = m < n ? m : n};
    hf_status status = HFI_ALLOC(ctx, HFI_ROOMS(c.columns, n, d), HFI_ROOMS(c.centres, c.m, d),
                                 HFI_ROOM(c.nearest, n), HFI_ROOM(c.squared, n), HFI_ROOM(c.members, c.m));
    if (status >= 0) load_scaled_columns(&c, x, ldx);
    if (status >= 0) status = seed(ctx, &c);
    if (status >= 0) status = lloyd(ctx, &c, steps, costs, done);
    if (status >= 0) status = unload(ctx, &c, z, chosen);
    HFI_FREE(ctx, c.columns, c.centres, c.nearest, c.squared, c.members);
    return status;
}
