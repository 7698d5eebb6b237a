/* SPDX-License-Identifier: Apache-2.0 */
/* Start flags for the suspect finder that need no Gaussian process: what sticks out of its neighbourhood once
 * the linear trend is taken away. Where many inputs let the plain process interpolate its outliers, this
 * start finds them. */
#include "sites/distances.h"
#include "sites/huber.h"
#include "sites/sites.h"

#include <math.h>

/* With fewer readings nothing sticks out. */
enum {
    FEWEST = 4
};

static const double FLAG_BEYOND = 3.0; /* robust standard deviations */

/* Differences smaller than this share of the readings themselves are rounding: a constant target has no
 * outliers. */
static const double ROUNDING = 1e-12;

/* The present readings and their rows, one after the other. */
typedef struct readings {
    size_t n;
    size_t *row;
    double *x, *y, *r, *q, *scratch;
} readings;

static void readings_free(hf_context *ctx, readings *p)
{
    hfi_free(ctx, p->row);
    hfi_free(ctx, p->x);
    hfi_free(ctx, p->y);
}

static hf_status readings_create(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                                 const double *y, readings *out)
{
    size_t entries = 0;
    if (!hfi_size_mul(n, d, &entries))
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "%zu rows of %zu inputs do not fit in memory", n, d);
    readings p = {.row = hfi_alloc(ctx, n, sizeof *p.row)};
    if (p.row != NULL) p.x = hfi_alloc(ctx, entries, sizeof *p.x);
    if (p.x != NULL) p.y = hfi_alloc(ctx, n, 4 * sizeof *p.y);
    if (p.y == NULL) {
        readings_free(ctx, &p);
        return HF_ERR_MEMORY;
    }
    p.r = p.y + n;
    p.q = p.y + 2 * n;
    p.scratch = p.y + 3 * n;
    for (size_t i = 0; i < n; i++) {
        if (isnan(y[i])) continue;
        p.row[p.n] = i;
        p.y[p.n] = y[i];
        for (size_t k = 0; k < d; k++) p.x[p.n * d + k] = x[i * ldx + k];
        p.n++;
    }
    *out = p;
    return HF_OK;
}

/* q = r - what the neighbours have. */
static hf_status stick_out(hf_context *ctx, size_t d, readings *p)
{
    hfi_rows rows = {0};
    hf_status status = hfi_huber_residuals(ctx, p->n, d, p->x, d, p->y, p->r);
    if (status >= 0) status = hfi_rows_create(ctx, p->n, d, p->x, d, &rows);
    if (status < 0) return status;
    status = hfi_neighbour_median(ctx, &rows, p->r, p->q);
    hfi_rows_free(ctx, &rows);
    for (size_t i = 0; status >= 0 && i < p->n; i++) p->q[i] = p->r[i] - p->q[i];
    return status;
}

/* How far from the median q is too far. */
static double flag_distance(const readings *p)
{
    double beyond = FLAG_BEYOND * hfi_mad(p->q, p->n, p->scratch);
    for (size_t i = 0; i < p->n; i++) p->scratch[i] = fabs(p->y[i]);
    return fmax(beyond, ROUNDING * hfi_median(p->scratch, p->n));
}

hf_status hfi_suspect_start(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx, const double *y,
                            bool *flag)
{
    readings p = {0};
    hf_status status = readings_create(ctx, n, d, x, ldx, y, &p);
    if (status < 0) return status;
    bool enough = p.n >= FEWEST;
    if (enough) status = stick_out(ctx, d, &p);
    if (status >= 0)
        for (size_t i = 0; i < n; i++) flag[i] = false;
    if (status >= 0 && enough) {
        double beyond = flag_distance(&p);
        for (size_t i = 0; i < p.n; i++) p.scratch[i] = p.q[i];
        double centre = hfi_median(p.scratch, p.n);
        for (size_t i = 0; i < p.n; i++) flag[p.row[i]] = fabs(p.q[i] - centre) > beyond;
    }
    readings_free(ctx, &p);
    return status;
}
