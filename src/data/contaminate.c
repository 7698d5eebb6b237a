/* SPDX-License-Identifier: Apache-2.0 */
/* Contamination protocols. All new values are computed before any is stored, so that an error leaves the data
 * as they were. */
#include "core/core.h"

#include <holdfast/contaminate.h>

#include <math.h>
#include <string.h>

/* Scale of a column for the protocols. */
typedef struct column_scale {
    size_t count; /* values that are not missing */
    double median;
    double mad; /* raw: the median of |value - median| */
} column_scale;

/* False if a value is infinite (its row is then in *row). */
static bool scale_of(const double *values, size_t stride, size_t n, double *scratch, column_scale *out,
                     size_t *row)
{
    *out = (column_scale){0};
    for (size_t i = 0; i < n; i++) {
        double value = values[i * stride];
        if (isnan(value)) continue;
        if (isinf(value)) {
            *row = i;
            return false;
        }
        scratch[out->count++] = value;
    }
    if (out->count == 0) return true;
    out->median = hfi_median(scratch, out->count);
    for (size_t i = 0; i < out->count; i++) scratch[i] = fabs(scratch[i] - out->median);
    out->mad = hfi_median(scratch, out->count);
    return true;
}

/* Standard deviation of the values that are not missing, n - 1 in the denominator; scaled, so that 1e300
 * squared does no harm. */
static double standard_deviation(const double *y, size_t n)
{
    double largest = 0, mean = 0, squares = 0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(y[i])) largest = fmax(largest, fabs(y[i]));
    if (largest == 0) return 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(y[i])) mean += (y[i] / largest - mean) / (double)++count;
    for (size_t i = 0; i < n; i++)
        if (!isnan(y[i])) squares += (y[i] / largest - mean) * (y[i] / largest - mean);
    return sqrt(squares / (double)(count - 1)) * largest;
}

typedef struct row_damage {
    hf_context *ctx;
    hf_contamination kind;
    hfi_stream stream;
    size_t n, d, ldx;
    size_t damaged; /* rows to damage: the first of `rows` */
    size_t *rows;
    double *new_y; /* `damaged` entries, then for focused ... */
    double *new_x; /* ... damaged x d */
    double *scratch;
} row_damage;

static void move_targets(row_damage *job, const double *y, double s)
{
    size_t up = job->kind == HF_CONTAMINATION_UNIFORM ? job->damaged - job->damaged / 2 : 0;
    for (size_t i = 0; i < job->damaged; i++) {
        double shift = s * (3.0 + 6.0 * hfi_stream_uniform(&job->stream));
        job->new_y[i] = y[job->rows[i]] + (i < up ? shift : -shift);
    }
}

static hf_status focus(row_damage *job, const double *x, const column_scale *target, double s)
{
    column_scale feature;
    size_t row = 0;
    for (size_t j = 0; j < job->d; j++) {
        if (!scale_of(x + j, job->ldx, job->n, job->scratch, &feature, &row))
            return hfi_fail(job->ctx, HF_ERR_NOT_FINITE, "contaminate: feature %zu of row %zu is infinite",
                            j + 1, row + 1);
        if (feature.count == 0)
            return hfi_fail(job->ctx, HF_ERR_NO_DATA,
                            "contaminate: feature %zu has no values, so it has no median", j + 1);
        for (size_t i = 0; i < job->damaged; i++)
            job->new_x[i * job->d + j] =
                feature.median + 0.1 * feature.mad * hfi_stream_uniform(&job->stream);
    }
    for (size_t i = 0; i < job->damaged; i++)
        job->new_y[i] = target->median - 3.0 * s + 0.1 * target->mad * hfi_stream_uniform(&job->stream);
    return HF_OK;
}

/* Rows with a target, shuffled, and how many of them to damage. */
static size_t choose_rows(row_damage *job, const double *y, double share)
{
    size_t present = 0;
    for (size_t i = 0; i < job->n; i++)
        if (!isnan(y[i])) job->rows[present++] = i;
    hfi_stream_shuffle(&job->stream, job->rows, present);
    return (size_t)round(share * (double)present);
}

static hf_status compute_contamination(row_damage *job, double share, const double *x, const double *y)
{
    column_scale target;
    size_t row = 0;
    if (!scale_of(y, 1, job->n, job->scratch, &target, &row))
        return hfi_fail(job->ctx, HF_ERR_NOT_FINITE, "contaminate: the target of row %zu is infinite",
                        row + 1);
    job->damaged = choose_rows(job, y, share);
    if (job->damaged == 0) return HF_OK;
    if (target.count < 2)
        return hfi_fail(job->ctx, HF_ERR_NO_DATA,
                        "contaminate: the spread of %zu target cannot be measured; at least 2 are needed",
                        target.count);
    double s = standard_deviation(y, job->n);
    if (s == 0 && job->kind != HF_CONTAMINATION_FOCUSED)
        return hfi_fail(
            job->ctx, HF_ERR_NO_DATA,
            "contaminate: all targets are equal, so shifts in units of their spread change nothing");
    hf_status status = HF_OK;
    if (job->kind == HF_CONTAMINATION_FOCUSED)
        status = focus(job, x, &target, s);
    else
        move_targets(job, y, s);
    for (size_t i = 0; i < job->damaged && status == HF_OK; i++)
        if (!isfinite(job->new_y[i]))
            status =
                hfi_fail(job->ctx, HF_ERR_NOT_FINITE,
                         "contaminate: the new target of row %zu is beyond the range of a double (sd %g)",
                         job->rows[i] + 1, s);
    return status;
}

static void store(const row_damage *job, double *x, double *y, bool *mask)
{
    if (mask != NULL) memset(mask, 0, job->n * sizeof *mask);
    for (size_t i = 0; i < job->damaged; i++) {
        size_t row = job->rows[i];
        y[row] = job->new_y[i];
        if (job->new_x != NULL && job->d > 0)
            memcpy(x + row * job->ldx, job->new_x + i * job->d, job->d * sizeof *x);
        if (mask != NULL) mask[row] = true;
    }
}

static hf_status contaminate_rows(row_damage *job, double share, double *x, double *y, bool *mask)
{
    size_t inputs = 0;
    bool focused = job->kind == HF_CONTAMINATION_FOCUSED;
    if (focused && !hfi_size_mul(job->n, job->d, &inputs)) return hfi_out_of_memory(job->ctx);
    job->rows = hfi_alloc(job->ctx, job->n, sizeof *job->rows);
    job->new_y = hfi_alloc(job->ctx, job->n, sizeof *job->new_y);
    job->scratch = hfi_alloc(job->ctx, job->n, sizeof *job->scratch);
    if (focused) job->new_x = hfi_alloc(job->ctx, inputs, sizeof *job->new_x);
    hf_status status = HF_OK;
    if (job->rows == NULL || job->new_y == NULL || job->scratch == NULL || (focused && job->new_x == NULL))
        status = HF_ERR_MEMORY;
    if (status == HF_OK) status = compute_contamination(job, share, x, y);
    if (status == HF_OK) store(job, x, y, mask);
    HFI_FREE(job->ctx, job->new_x, job->scratch, job->new_y, job->rows);
    return status;
}

hf_status hf_contaminate(hf_context *ctx, hf_contamination kind, double share, uint64_t seed, size_t n,
                         size_t d, double *x, size_t ldx, double *y, bool *mask)
{
    if ((unsigned)kind >= hf_enum_count(HF_ENUM_CONTAMINATION))
        return hfi_refuse(ctx, "contaminate: no contamination has the number %d", (int)kind);
    if (!(share >= 0 && share <= 1))
        return hfi_refuse(ctx, "contaminate: the share is %g; it must lie between 0 and 1", share);
    if (n > 0 && y == NULL) return hfi_refuse(ctx, "contaminate: y is NULL");
    if (kind == HF_CONTAMINATION_FOCUSED && n > 0 && d > 0 && x == NULL)
        return hfi_refuse(ctx, "contaminate: focused moves inputs, but x is NULL");
    if (kind == HF_CONTAMINATION_FOCUSED && ldx < d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "contaminate: row stride %zu is less than %zu features", ldx,
                        d);
    if (n == 0) return HF_OK;
    if (kind == HF_CONTAMINATION_NONE) {
        if (mask != NULL) memset(mask, 0, n * sizeof *mask);
        return HF_OK;
    }
    row_damage job = {.ctx = ctx, .kind = kind, .n = n, .d = d, .ldx = ldx};
    hfi_stream_init(&job.stream, seed, HFI_PURPOSE_CONTAMINATE, 0);
    return contaminate_rows(&job, share, x, y, mask);
}
