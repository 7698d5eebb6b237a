/* SPDX-License-Identifier: Apache-2.0 */
/* Minimum covariance determinant: support, factors, reweighting, and back into the caller's units. */
#include "core/settings_rows.h"
#include "linalg/linalg.h"
#include "sites/chi_squared.h"
#include "sites/complete_rows.h"
#include "sites/spread.h"
#include <holdfast/robust_covariance.h>

#include <math.h>
#include <string.h>

#define SETTINGS hf_robust_covariance_settings
static const hfi_setting settings_rows[] = {
    {NUMBER(support_fraction, 0.5, 1), ZERO("the least support")},
    {COUNT_TO(starts, 1, 1e7), DEFAULT(500)},
    {FLAG(reweight), DEFAULT(true)},
};
SETTINGS_TABLE(hf_robust_covariance_settings, "a robust covariance", settings_rows)

static const double KEPT_SHARE = 0.975; /* of normal rows, by the reweighting step */

typedef struct estimate {
    hfi_complete_rows rows;
    bool *support, *kept; /* rows.n */
    hfi_spread raw, final;
    hf_robust_covariance_report report;
} estimate;

static hf_status check(hf_context *ctx, size_t n, size_t p, const double *x, size_t ldx,
                       const hf_robust_covariance_arrays *out)
{
    if (out == NULL || out->location == NULL || out->covariance == NULL)
        return hfi_refuse(ctx, "hf_robust_covariance: location and covariance are required");
    if (p == 0) return hfi_refuse(ctx, "hf_robust_covariance: there are no columns");
    if (x == NULL && n > 0) return hfi_refuse(ctx, "hf_robust_covariance: x is NULL");
    if (ldx < p) return hfi_fail(ctx, HF_ERR_DIMENSION, "rows are %zu apart but have %zu columns", ldx, p);
    return HF_OK;
}

static hf_status find_support(hf_context *ctx, size_t starts, estimate *e)
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

static void keep_near(bool reweight, estimate *e)
{
    const hfi_mcd_rows *rows = &e->rows.rows;
    const size_t rank = e->raw.rank;
    const double furthest =
        rank > 0 ? hfi_chi_squared_quantile(rank, KEPT_SHARE) * e->report.raw_factor : 0.0;
    e->report.kept = 0;
    for (size_t i = 0; i < rows->n; i++) {
        e->kept[i] =
            reweight ? hfi_spread_squared(&e->raw, rows->u + i * rows->p) <= furthest : e->support[i];
        e->report.kept += e->kept[i];
    }
}

static hf_status compute(hf_context *ctx, size_t n, const hf_robust_covariance_settings *settings,
                         estimate *e)
{
    const hfi_mcd_rows *rows = &e->rows.rows;
    hf_robust_covariance_report *report = &e->report;
    e->support = hfi_alloc(ctx, rows->n, sizeof *e->support);
    e->kept = hfi_alloc(ctx, rows->n, sizeof *e->kept);
    if (e->support == NULL || e->kept == NULL) return HF_ERR_MEMORY;
    hf_status status = find_support(ctx, settings->starts, e);
    if (status >= 0) status = hfi_spread_create(ctx, rows, e->support, e->rows.half, &e->raw);
    if (status < 0) return status;
    report->complete = rows->n;
    report->skipped = n - rows->n;
    report->support = e->rows.half;
    report->raw_factor = consistency(e->raw.rank, (double)e->rows.half / (double)rows->n);
    report->log_determinant = hfi_spread_log_determinant(&e->raw);
    for (size_t j = 0; j < rows->p; j++) report->log_determinant += 2.0 * log(e->rows.scale[j]);
    keep_near(settings->reweight, e);
    status = hfi_spread_create(ctx, rows, e->kept, report->kept, &e->final);
    if (status < 0) return status;
    report->rank = e->final.rank;
    report->final_factor = settings->reweight ? consistency(e->final.rank, KEPT_SHARE) : report->raw_factor;
    return HF_OK;
}

static void write_moments(const hfi_complete_rows *rows, const hfi_spread *spread, double factor,
                          double *location, double *covariance)
{
    const size_t p = rows->rows.p;
    for (size_t j = 0; location && j < p; j++)
        location[j] = rows->centre[j] + rows->scale[j] * spread->mean[j];
    for (size_t j = 0; covariance && j < p; j++)
        for (size_t k = 0; k < p; k++)
            covariance[k + j * p] = factor * spread->covariance[k + j * p] * rows->scale[j] * rows->scale[k];
}

/* The flattest direction, in the caller's units, its largest component positive; zeros when no direction is flat. */
static void write_normal(const estimate *e, double *normal)
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

static void write_rows(size_t n, const estimate *e, const hf_robust_covariance_arrays *out)
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
                sqrt(hfi_spread_squared(&e->final, rows->u + i * rows->p) / e->report.final_factor);
        if (out->support) out->support[row] = e->support[i];
        if (out->kept) out->kept[row] = e->kept[i];
    }
}

static hf_status verdict(hf_context *ctx, size_t n, const estimate *e)
{
    const hf_robust_covariance_report *r = &e->report;
    const size_t p = e->rows.rows.p;
    if (r->rank < p) {
        for (size_t j = 0; j < p; j++)
            if (hfi_spread_is_constant(&e->final, j))
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
    estimate e = {0};
    hf_status status = hfi_settings_open(ctx, hf_robust_covariance_settings_table(), settings, &own);
    if (status >= 0) status = check(ctx, n, p, x, ldx, out);
    if (status < 0) return status;
    status = hfi_complete_rows_create(ctx, n, p, x, ldx, own.support_fraction, &e.rows);
    if (status >= 0) status = compute(ctx, n, &own, &e);
    if (status >= 0) {
        write_moments(&e.rows, &e.raw, 1.0, out->raw_location, out->raw_covariance);
        write_moments(&e.rows, &e.final, e.report.final_factor, out->location, out->covariance);
        if (out->normal) write_normal(&e, out->normal);
        write_rows(n, &e, out);
        if (report) *report = e.report;
        status = verdict(ctx, n, &e);
    }
    hfi_spread_free(ctx, &e.raw);
    hfi_spread_free(ctx, &e.final);
    HFI_FREE(ctx, e.support, e.kept);
    hfi_complete_rows_free(ctx, &e.rows);
    return status;
}
