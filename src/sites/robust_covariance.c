/* SPDX-License-Identifier: Apache-2.0 */
/* Minimum covariance determinant: support, factors, reweighting, and back into the caller's units. */
#include "core/settings_rows.h"
#include "linalg/linalg.h"
#include "sites/mcd.h"
#include <holdfast/robust_covariance.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows without missing values, in robust units and in an order of their own ----------------------- */

typedef struct complete_rows {
    hfi_mcd_rows rows; /* u = (x - centre) / scale, within 1e100 */
    size_t half;       /* h */
    double *u;         /* what rows.u points to */
    size_t *index;     /* rows.n: where a row was in the table */
    double *centre;    /* p: medians */
    /* p: the h-th smallest distance from the median; where that is zero, the median of the others; or 1 */
    double *scale;
} complete_rows;

static const double FURTHEST = 1e100;

typedef struct sorted_row {
    const double *u;
    size_t p, index;
    double distance;
} sorted_row;

/* By distance (all the same at first), then by values, then by place. */
static int compare_sorted_rows(const void *left, const void *right)
{
    const sorted_row *a = left, *b = right;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    for (size_t j = 0; j < a->p; j++)
        if (a->u[j] != b->u[j]) return a->u[j] < b->u[j] ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Copies complete rows; with u and index NULL it only counts and checks. */
static hf_status copy_complete_rows(hf_context *ctx, size_t n, size_t p, const double *x, size_t ldx,
                                    double *u, size_t *index, size_t *count)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        bool complete = true;
        for (size_t j = 0; j < p; j++) {
            if (isinf(x[i * ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the value in row %zu, column %zu is infinite", i, j);
            complete = complete && !isnan(x[i * ldx + j]);
        }
        if (!complete) continue;
        if (u != NULL) {
            memcpy(u + found * p, x + i * ldx, p * sizeof *u);
            index[found] = i;
        }
        found++;
    }
    *count = found;
    return HF_OK;
}

static double limit(double value, double most)
{
    return fmax(-most, fmin(most, value));
}

/* Robust units for column j; `scratch` has 2 n entries. */
static void scale_column(complete_rows *r, size_t j, double *scratch)
{
    const size_t n = r->rows.n, p = r->rows.p;
    for (size_t i = 0; i < n; i++) scratch[i] = r->u[i * p + j];
    const double centre = hfi_median(scratch, n);
    for (size_t i = 0; i < n; i++) {
        const double away = limit(r->u[i * p + j] - centre, DBL_MAX);
        r->u[i * p + j] = away;
        scratch[i] = fabs(away);
    }
    (void)hfi_median(scratch, n); /* sorts */
    double scale = scratch[r->half - 1];
    if (!(scale > 0.0)) {
        size_t zeros = r->half;
        while (zeros < n && scratch[zeros] == 0.0) zeros++;
        scale = zeros < n ? hfi_median(scratch + zeros, n - zeros) : 1.0;
    }
    for (size_t i = 0; i < n; i++) r->u[i * p + j] = limit(r->u[i * p + j] / scale, FURTHEST);
    r->centre[j] = centre;
    r->scale[j] = scale;
}

/* Puts the rows into the order of the entries. `moved` has n p entries. */
static void reorder(complete_rows *r, const sorted_row *entries, double *moved, size_t *index)
{
    const size_t n = r->rows.n, p = r->rows.p;
    for (size_t i = 0; i < n; i++) {
        memcpy(moved + i * p, entries[i].u, p * sizeof *moved);
        index[i] = entries[i].index;
    }
    memcpy(r->u, moved, n * p * sizeof *moved);
    memcpy(r->index, index, n * sizeof *index);
}

static void sort_rows(complete_rows *r, sorted_row *entries, const double *distance, double *moved,
                      size_t *index)
{
    const size_t n = r->rows.n, p = r->rows.p;
    for (size_t i = 0; i < n; i++)
        entries[i] = (sorted_row){
            .u = r->u + i * p, .p = p, .index = r->index[i], .distance = distance ? distance[i] : 0.0};
    qsort(entries, n, sizeof *entries, compare_sorted_rows);
    reorder(r, entries, moved, index);
}

static hf_status prepare_complete_rows(hf_context *ctx, complete_rows *r)
{
    const size_t n = r->rows.n, p = r->rows.p;
    hfi_mcd_scratch scratch = {0};
    sorted_row *entries = hfi_alloc(ctx, n, sizeof *entries);
    double *moved = hfi_alloc_product(ctx, n, p > 2 ? p : 2, sizeof *moved);
    size_t *index = hfi_alloc(ctx, n, sizeof *index);
    hf_status status =
        entries && moved && index ? hfi_mcd_scratch_create(ctx, n, p, &scratch) : HF_ERR_MEMORY;
    if (status >= 0) {
        for (size_t j = 0; j < p; j++) scale_column(r, j, moved);
        sort_rows(r, entries, NULL, moved, index);
        if (p > 1) {
            for (size_t i = 0; i < n; i++) scratch.chosen[i] = true;
            hfi_mcd_fit_chosen(ctx, &r->rows, n, &scratch);
            hfi_mcd_concentrate(ctx, &r->rows, n, &scratch); /* for its distances */
            sort_rows(r, entries, scratch.distance, moved, index);
        }
    }
    hfi_mcd_scratch_free(ctx, &scratch);
    HFI_FREE(ctx, entries, moved, index);
    return status;
}

static void complete_rows_free(hf_context *ctx, complete_rows *rows)
{
    HFI_FREE(ctx, rows->u, rows->index, rows->centre);
    *rows = (complete_rows){0};
}

/* `fraction` as in hf_robust_covariance_settings. The order depends on the rows' values alone, and is that of
 * their distances by mean and covariance of them all (p = 1: ascending): neither the order of the table nor,
 * but for rounding, an invertible linear map changes it. O(n p (p + log n)). Errors: HF_ERR_NO_DATA,
 * HF_ERR_NOT_FINITE, HF_ERR_MEMORY. */
static hf_status complete_rows_create(hf_context *ctx, size_t n, size_t p, const double *x, size_t ldx,
                                      double fraction, complete_rows *out)
{
    size_t count = 0;
    hf_status status = copy_complete_rows(ctx, n, p, x, ldx, NULL, NULL, &count);
    if (status < 0) return status;
    if (count <= 2 * p)
        return hfi_fail(
            ctx, HF_ERR_NO_DATA,
            "%zu of %zu rows are complete; a robust covariance of %zu columns needs more than %zu", count, n,
            p, 2 * p);
    complete_rows r = {.rows = {.n = count, .p = p}, .half = (count + p + 1) / 2};
    const size_t wanted = (size_t)(fraction * (double)count);
    if (wanted > r.half) r.half = wanted < count ? wanted : count;
    status = HFI_ALLOC(ctx, HFI_ROOMS(r.u, count, p), HFI_ROOM(r.index, count), HFI_ROOMS(r.centre, p, 2));
    r.rows.u = r.u;
    if (status >= 0) r.scale = r.centre + p;
    if (status >= 0) status = copy_complete_rows(ctx, n, p, x, ldx, r.u, r.index, &count);
    if (status >= 0) status = prepare_complete_rows(ctx, &r);
    if (status < 0)
        complete_rows_free(ctx, &r);
    else
        *out = r;
    return status;
}

/* ---- mean and covariance of some rows and distances from them, singular or not ----------------------- */

typedef struct scatter {
    size_t p, rank;     /* rank: of the correlation matrix, as far as rounding lets one see */
    double *block;      /* everything below */
    double *mean;       /* p */
    double *covariance; /* p x p, both triangles, divided by the number of rows */
    double *sd;         /* p; of a column that is constant a length that no rounding reaches */
    /* p x p, columns: eigenvectors of the correlation matrix, in ascending order of the values */
    double *vectors;
    double *values; /* p */
    double *work;   /* p */
} scatter;

/* An eigenvalue below this times p is zero (the search's own limit, mcd.c); then the deviations in that
 * direction are below some 1e-6, and one ten times as large leaves the plane. A column with a standard
 * deviation below 1e-12 of its robust scale is constant. */
static const double FLAT_VALUE = 1e-13, OFF_PLANE = 1e-5, CONSTANT_SD = 1e-12, UNIT_OF_CONSTANT = 1e-6;

/* Whether the rows are all the same in column j. */
static bool scatter_is_constant(const scatter *s, size_t j)
{
    return !(s->covariance[j + j * s->p] > CONSTANT_SD * CONSTANT_SD);
}

static void correlate(scatter *s)
{
    const size_t p = s->p;
    for (size_t j = 0; j < p; j++) {
        const double sd = sqrt(s->covariance[j + j * p]);
        s->sd[j] = sd > CONSTANT_SD ? sd : UNIT_OF_CONSTANT;
    }
    for (size_t j = 0; j < p; j++) {
        for (size_t k = 0; k < p; k++) {
            const bool flat = scatter_is_constant(s, j) || scatter_is_constant(s, k);
            s->vectors[k + j * p] = flat ? 0.0 : s->covariance[k + j * p] / (s->sd[j] * s->sd[k]);
        }
    }
}

/* Makes the spread of the `count` chosen rows. O(count p^2 + p^3). */
static hf_status scatter_create(hf_context *ctx, const hfi_mcd_rows *rows, const bool *chosen, size_t count,
                                scatter *out)
{
    const size_t p = rows->p;
    double *block = hfi_alloc(ctx, 4 * p + 2 * p * p, sizeof *block);
    if (block == NULL) return HF_ERR_MEMORY;
    scatter s = {.p = p,
                 .block = block,
                 .mean = block,
                 .sd = block + p,
                 .values = block + 2 * p,
                 .work = block + 3 * p,
                 .covariance = block + 4 * p,
                 .vectors = block + 4 * p + p * p};
    hfi_mcd_moments(rows, chosen, count, s.mean, s.covariance);
    correlate(&s);
    hf_status status = hfi_symmetric_eigen(ctx, p, s.vectors, p, s.values);
    if (status < 0) {
        hfi_free(ctx, block);
        return status;
    }
    while (s.rank < p && s.values[p - 1 - s.rank] > (double)p * FLAT_VALUE) s.rank++;
    *out = s;
    return HF_OK;
}

static void scatter_free(hf_context *ctx, scatter *spread)
{
    hfi_free(ctx, spread->block);
    *spread = (scatter){0};
}

/* (u - mean)' covariance^-1 (u - mean); infinite off the plane of a singular covariance. O(p^2). */
static double scatter_squared(const scatter *s, const double *u)
{
    const size_t p = s->p;
    double sum = 0.0;
    for (size_t j = 0; j < p; j++) s->work[j] = (u[j] - s->mean[j]) / s->sd[j];
    for (size_t k = 0; k < p; k++) {
        const double along = hfi_dot(p, s->vectors + k * p, s->work);
        if (k >= p - s->rank)
            sum += along * along / s->values[k];
        else if (!(fabs(along) <= OFF_PLANE))
            return INFINITY;
    }
    return sum;
}

/* log det covariance, -infinity when singular. */
static double scatter_log_determinant(const scatter *s)
{
    double sum = 0.0;
    if (s->rank < s->p) return -INFINITY;
    for (size_t j = 0; j < s->p; j++) sum += log(s->values[j]) + 2.0 * log(s->sd[j]);
    return sum;
}

/* ---- the estimate ------------------------------------------------------------------------------------- */

#define SETTINGS hf_robust_covariance_settings
static const hfi_setting settings_rows[] = {
    {NUMBER(support_fraction, 0.5, 1), ZERO("the least support")},
    {COUNT_TO(starts, 1, 1e7), DEFAULT(500)},
    {FLAG(reweight), DEFAULT(true)},
};
SETTINGS_TABLE(hf_robust_covariance_settings, "a robust covariance", settings_rows)

static const double KEPT_SHARE = 0.975; /* of normal rows, by the reweighting step */

typedef struct scatter_estimate {
    complete_rows rows;
    bool *support, *kept; /* rows.n */
    scatter raw, final;
    hf_robust_covariance_report report;
} scatter_estimate;

static hf_status check_covariance_call(hf_context *ctx, size_t n, size_t p, const double *x, size_t ldx,
                                       const hf_robust_covariance_arrays *out)
{
    if (out == NULL || out->location == NULL || out->covariance == NULL)
        return hfi_refuse(ctx, "hf_robust_covariance: location and covariance are required");
    if (p == 0) return hfi_refuse(ctx, "hf_robust_covariance: there are no columns");
    if (x == NULL && n > 0) return hfi_refuse(ctx, "hf_robust_covariance: x is NULL");
    if (ldx < p) return hfi_fail(ctx, HF_ERR_DIMENSION, "rows are %zu apart but have %zu columns", ldx, p);
    return HF_OK;
}

static hf_status find_support(hf_context *ctx, size_t starts, scatter_estimate *e)
{
    const hfi_mcd_rows *rows = &e->rows.rows;
    const size_t h = e->rows.half;
    if (h < rows->n && rows->p > 1) return hfi_mcd_search(ctx, rows, h, starts, e->support, &e->report.steps);
    if (h < rows->n)
        hfi_mcd_window(rows->n, rows->u, h, e->support);
    else
        for (size_t i = 0; i < rows->n; i++) e->support[i] = true;
    return HF_OK;
}

/* 1 when there is no dimension left. */
static double consistency(size_t rank, double share)
{
    return rank > 0 ? hfi_chi_squared_consistency(rank, share) : 1.0;
}

static void keep_near(bool reweight, scatter_estimate *e)
{
    const hfi_mcd_rows *rows = &e->rows.rows;
    const size_t rank = e->raw.rank;
    const double furthest =
        rank > 0 ? hfi_chi_squared_quantile(rank, KEPT_SHARE) * e->report.raw_factor : 0.0;
    e->report.kept = 0;
    for (size_t i = 0; i < rows->n; i++) {
        e->kept[i] = reweight ? scatter_squared(&e->raw, rows->u + i * rows->p) <= furthest : e->support[i];
        e->report.kept += e->kept[i];
    }
}

static hf_status compute_robust_scatter(hf_context *ctx, size_t n,
                                        const hf_robust_covariance_settings *settings, scatter_estimate *e)
{
    const hfi_mcd_rows *rows = &e->rows.rows;
    hf_robust_covariance_report *report = &e->report;
    if (HFI_ALLOC(ctx, HFI_ROOM(e->support, rows->n), HFI_ROOM(e->kept, rows->n)) < 0) return HF_ERR_MEMORY;
    hf_status status = find_support(ctx, settings->starts, e);
    if (status >= 0) status = scatter_create(ctx, rows, e->support, e->rows.half, &e->raw);
    if (status < 0) return status;
    report->complete = rows->n;
    report->skipped = n - rows->n;
    report->support = e->rows.half;
    report->raw_factor = consistency(e->raw.rank, (double)e->rows.half / (double)rows->n);
    report->log_determinant = scatter_log_determinant(&e->raw);
    for (size_t j = 0; j < rows->p; j++) report->log_determinant += 2.0 * log(e->rows.scale[j]);
    keep_near(settings->reweight, e);
    status = scatter_create(ctx, rows, e->kept, report->kept, &e->final);
    if (status < 0) return status;
    report->rank = e->final.rank;
    report->final_factor = settings->reweight ? consistency(e->final.rank, KEPT_SHARE) : report->raw_factor;
    return HF_OK;
}

static void write_moments(const complete_rows *rows, const scatter *spread, double factor, double *location,
                          double *covariance)
{
    const size_t p = rows->rows.p;
    for (size_t j = 0; location && j < p; j++)
        location[j] = rows->centre[j] + rows->scale[j] * spread->mean[j];
    for (size_t j = 0; covariance && j < p; j++)
        for (size_t k = 0; k < p; k++)
            covariance[k + j * p] = factor * spread->covariance[k + j * p] * rows->scale[j] * rows->scale[k];
}

/* The flattest direction, in the caller's units, its largest component positive; zeros when no direction is flat. */
static void write_normal(const scatter_estimate *e, double *normal)
{
    const size_t p = e->rows.rows.p;
    size_t largest = 0;
    memset(normal, 0, p * sizeof *normal);
    if (e->final.rank == p) return;
    double top = 0.0, sum = 0.0;
    for (size_t j = 0; j < p; j++) {
        normal[j] = e->final.vectors[j] / e->final.sd[j] / e->rows.scale[j];
        top = fmax(top, fabs(normal[j]));
    }
    for (size_t j = 0; j < p; j++) {
        normal[j] /= top;
        sum += normal[j] * normal[j];
        if (fabs(normal[j]) > fabs(normal[largest])) largest = j;
    }
    const double length = copysign(sqrt(sum), normal[largest]);
    for (size_t j = 0; j < p; j++) normal[j] /= length;
}

static void write_rows(size_t n, const scatter_estimate *e, const hf_robust_covariance_arrays *out)
{
    const hfi_mcd_rows *rows = &e->rows.rows;
    for (size_t i = 0; i < n; i++) {
        if (out->distance) out->distance[i] = NAN;
        if (out->support) out->support[i] = false;
        if (out->kept) out->kept[i] = false;
    }
    for (size_t i = 0; i < rows->n; i++) {
        const size_t row = e->rows.index[i];
        if (out->distance)
            out->distance[row] =
                sqrt(scatter_squared(&e->final, rows->u + i * rows->p) / e->report.final_factor);
        if (out->support) out->support[row] = e->support[i];
        if (out->kept) out->kept[row] = e->kept[i];
    }
}

static hf_status verdict(hf_context *ctx, size_t n, const scatter_estimate *e)
{
    const hf_robust_covariance_report *r = &e->report;
    const size_t p = e->rows.rows.p;
    if (r->rank < p) {
        for (size_t j = 0; j < p; j++)
            if (scatter_is_constant(&e->final, j))
                return hfi_fail(ctx, HF_WARN_SINGULAR,
                                "column %zu has the same value in %zu of %zu complete rows: the robust "
                                "covariance is singular, of rank %zu (%zu rows were incomplete)",
                                j, r->kept, r->complete, r->rank, r->skipped);
        return hfi_fail(ctx, HF_WARN_SINGULAR,
                        "%zu of %zu complete rows lie in a hyperplane: the robust covariance is singular, of "
                        "rank %zu of %zu (%zu rows were incomplete)",
                        r->kept, r->complete, r->rank, p, r->skipped);
    }
    if (r->skipped > 0)
        return hfi_fail(ctx, HF_WARN_ROWS_SKIPPED, "%zu of %zu rows have missing values and were left out",
                        r->skipped, n);
    return HF_OK;
}

hf_status hf_robust_covariance(hf_context *ctx, size_t n, size_t p, const double *x, size_t ldx,
                               const hf_robust_covariance_settings *settings,
                               const hf_robust_covariance_arrays *out, hf_robust_covariance_report *report)
{
    hf_robust_covariance_settings own;
    scatter_estimate e = {0};
    hf_status status = hfi_settings_open(ctx, hf_robust_covariance_settings_table(), settings, &own);
    if (status >= 0) status = check_covariance_call(ctx, n, p, x, ldx, out);
    if (status < 0) return status;
    status = complete_rows_create(ctx, n, p, x, ldx, own.support_fraction, &e.rows);
    if (status >= 0) status = compute_robust_scatter(ctx, n, &own, &e);
    if (status >= 0) {
        write_moments(&e.rows, &e.raw, 1.0, out->raw_location, out->raw_covariance);
        write_moments(&e.rows, &e.final, e.report.final_factor, out->location, out->covariance);
        if (out->normal) write_normal(&e, out->normal);
        write_rows(n, &e, out);
        if (report) *report = e.report;
        status = verdict(ctx, n, &e);
    }
    scatter_free(ctx, &e.raw);
    scatter_free(ctx, &e.final);
    HFI_FREE(ctx, e.support, e.kept);
    complete_rows_free(ctx, &e.rows);
    return status;
}
