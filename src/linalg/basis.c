/* SPDX-License-Identifier: Apache-2.0 */
/* An orthonormal basis that grows. Each addition is made orthogonal twice to all that is there ("twice is
 * enough", Kahan and Parlett). Each time products of matrices do it panel against basis, and then column by column
 * within the panel. */
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum {
    PANEL = 32 /* columns that are projected together */
};

typedef struct basis_job {
    hf_context *ctx;
    size_t n;
    double *q;
    size_t ldq;
    double *coefficients; /* room for (columns there) x PANEL */
} basis_job;

/* V := V - Q Q'V for `have` columns of Q and `count` columns of V. */
static hf_status project_out(const basis_job *job, size_t have, size_t count, double *v)
{
    if (have == 0) return HF_OK;
    const hf_status s =
        hfi_tall_inner(job->ctx, job->n, have, job->q, job->ldq, count, v, job->ldq, job->coefficients, have);
    if (s >= 0)
        hfi_tall_add(job->ctx, job->n, have, count, -1.0, job->q, job->ldq, job->coefficients, have, v,
                     job->ldq);
    return s;
}

/* To unit length without overflow; false where there is no length. */
static bool normalise(size_t n, double *v)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
    if (!(most > 0.0 && isfinite(most))) return false;
    for (size_t i = 0; i < n; i++) v[i] /= most;
    const double length = sqrt(hfi_dot(n, v, v));
    for (size_t i = 0; i < n; i++) v[i] /= length;
    return true;
}

/* Makes `count` columns orthonormal among themselves, to the left; those of which not more than `tolerance` is left go.
 * @return how many stay. */
static size_t within_panel(const basis_job *job, size_t count, double *v, double tolerance)
{
    size_t kept = 0;
    for (size_t j = 0; j < count; j++) {
        double *column = v + j * job->ldq, *place = v + kept * job->ldq;
        for (int twice = 0; twice < 2; twice++)
            for (size_t k = 0; k < kept; k++) {
                const double *q = v + k * job->ldq;
                hfi_axpy(job->n, -hfi_dot(job->n, q, column), q, column);
            }
        const double left = sqrt(hfi_dot(job->n, column, column));
        if (!(left > tolerance) || !normalise(job->n, column)) continue;
        if (column != place) memcpy(place, column, job->n * sizeof *place);
        kept++;
    }
    return kept;
}

/* One panel of unit columns, behind the `have` columns that are there. The first round finds what is new in
 * each; stretched to unit length, that has kept errors as large as it was small, which the second round takes
 * out. */
static hf_status add_panel(const basis_job *job, size_t *have, size_t count, double *v, double tolerance)
{
    double *place = job->q + *have * job->ldq;
    if (place != v)
        for (size_t j = 0; j < count; j++) memcpy(place + j * job->ldq, v + j * job->ldq, job->n * sizeof *v);
    size_t kept = count;
    for (int round = 0; round < 2; round++) {
        const hf_status s = project_out(job, *have, kept, place);
        if (s < 0) return s;
        kept = within_panel(job, kept, place, round == 0 ? tolerance : 0.5);
    }
    *have += kept;
    return HF_OK;
}

hf_status hfi_orthonormalise(hf_context *ctx, size_t n, size_t have, size_t count, double *q, size_t ldq,
                             double tolerance, size_t *total)
{
    basis_job job = {.ctx = ctx, .n = n, .q = q, .ldq = ldq};
    job.coefficients = hfi_alloc(ctx, have + count, PANEL * sizeof *job.coefficients);
    if (!job.coefficients) return HF_ERR_MEMORY;
    hf_status status = HF_OK;
    size_t found = have;
    for (size_t j = 0; j < count && status >= 0; j += PANEL) {
        const size_t width = count - j < PANEL ? count - j : PANEL;
        double *v = q + (have + j) * ldq;
        for (size_t k = 0; k < width; k++) normalise(n, v + k * ldq);
        status = add_panel(&job, &found, width, v, tolerance);
    }
    hfi_free(ctx, job.coefficients);
    if (status >= 0) *total = found;
    return status;
}
