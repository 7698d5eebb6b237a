/* SPDX-License-Identifier: Apache-2.0 */
/* From the factors of the inducing solver to the form that every posterior has. */
#include "linalg/linalg.h"
#include "solver/inducing.h"
#include <math.h>
#include <string.h>

/* R = Lu^-T U diag(sqrt(1 - 1/lambda)), B = U diag(lambda) U'. */
static hf_status make_root(const hfi_inducing *u, double *r)
{
    const size_t m = u->m;
    double *values = hfi_alloc(u->ctx, m, sizeof *values);
    if (!values) return HF_ERR_MEMORY;
    memcpy(r, u->sums, m * m * sizeof *r);
    const hf_status status = hfi_symmetric_eigen(u->ctx, m, r, m, values);
    if (status >= 0) {
        for (size_t j = 0; j < m; j++) {
            /* No eigenvalue is below 1 but by rounding. */
            const double root = values[j] > 1.0 ? sqrt((values[j] - 1.0) / values[j]) : 0.0;
            for (size_t i = 0; i < m; i++) r[i + j * m] *= root;
        }
        hfi_chol_backward_block(m, m, u->lu, m, r, m);
    }
    hfi_free(u->ctx, values);
    return status;
}

static double find_largest_absolute(size_t n, const double *values)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(values[i]) <= most)) most = fabs(values[i]);
    return most;
}

/* |B w - Lu^-1 b| / (|B| |w| + |Lu^-1 b|) with w = Lu' t, which is Sigma t = b whitened. */
static double backward_error(const hfi_inducing *u, double *work)
{
    const size_t m = u->m;
    const double *b = u->sums, *right = b + m * m;
    double *w = work, *product = work + m;
    for (size_t j = 0; j < m; j++) w[j] = hfi_dot(m - j, u->lu + j * (m + 1), u->t + j);
    hfi_symv(m, b, m, w, product);
    hfi_axpy(m, -1.0, right, product);
    const double error = find_largest_absolute(m, product);
    const double size =
        hfi_symmetric_norm1(m, b, m, product) * find_largest_absolute(m, w) + find_largest_absolute(m, right);
    return error == 0.0 ? 0.0 : error / size;
}

hf_status hfi_inducing_solution(hfi_inducing *u, hfi_solution *out)
{
    const size_t m = u->m;
    hfi_solution s;
    hf_status status = hfi_solution_alloc_low_rank(u->ctx, HFI_FORM_DENSE, m, u->d, m, false, &s);
    memset(out, 0, sizeof *out);
    if (status < 0) return status;
    double *work = hfi_alloc(u->ctx, m, 3 * sizeof *work);
    int *iwork = hfi_alloc(u->ctx, m, sizeof *iwork);
    status = work && iwork ? make_root(u, s.r) : HF_ERR_MEMORY;
    if (status >= 0) {
        memcpy(s.z, u->z, m * u->d * sizeof *s.z);
        memcpy(s.t, u->t, m * sizeof *s.t);
        s.solver = HF_SOLVER_INDUCING;
        s.jitter = u->jitter;
        s.log_det = u->log_det;
        s.backward = backward_error(u, work);
        s.condition = hfi_chol_condition(m, u->lu, m, u->norm, work, iwork);
        *out = s;
    } else {
        hfi_solution_free(&s);
    }
    HFI_FREE(u->ctx, work, iwork);
    return status;
}
