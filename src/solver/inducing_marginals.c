/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions of every row by the inducing solver, with and without that row's own site. */
#include "solver/inducing_chunk.h"
#include <math.h>
#include <string.h>

static void write_chunk(const hfi_inducing_chunk *c, bool cavity, double *mean, double *variance)
{
    for (size_t j = 0; j < c->count; j++) {
        double m = c->mean_part[j], h = c->variance_part[j];
        if (cavity) {
            const hfi_inducing_cavity without = hfi_inducing_cavity_make(c, j);
            m = without.mean;
            h = without.variance;
        }
        mean[c->row[j]] = c->offset[j] + m;
        variance[c->row[j]] = fmax(c->prior[j] - c->resolved[j], 0.0) + h + c->white[j];
    }
}

hf_status hfi_inducing_marginals(hfi_inducing *u, const hf_kernel *kernel, const hf_mean *mean,
                                 const hf_sites *sites, size_t rows, const double *x, size_t ldx, bool cavity,
                                 double *marginal_mean, double *marginal_variance)
{
    hfi_inducing_chunk chunk = {0};
    hfi_parts parts;
    size_t begin, end;
    double *none;
    hf_status status = hfi_parts_init(u->ctx, rows, 0, NULL, &parts);
    if (status >= 0)
        status = hfi_inducing_chunk_init(&chunk, u, kernel, mean, sites, hfi_parts_rows(u->ctx, rows), x, ldx,
                                         true);
    status = hfi_group_agree(u->ctx, status);
    if (status >= 0 && hfi_group_size(u->ctx) > 1) {
        memset(marginal_mean, 0, rows * sizeof *marginal_mean);
        memset(marginal_variance, 0, rows * sizeof *marginal_variance);
    }
    while (status >= 0 && hfi_parts_next(&parts, &begin, &end, &none))
        for (size_t at = begin; at < end; at += chunk.capacity) {
            const size_t left = end - at;
            hfi_inducing_chunk_load(&chunk, at, at + (left < chunk.capacity ? left : chunk.capacity), true);
            hfi_inducing_chunk_solve(&chunk);
            write_chunk(&chunk, cavity, marginal_mean, marginal_variance);
        }
    hfi_inducing_chunk_free(&chunk);
    status = hfi_parts_finish(&parts, status);
    if (status >= 0) status = hfi_group_sum(u->ctx, rows, marginal_mean);
    if (status >= 0) status = hfi_group_sum(u->ctx, rows, marginal_variance);
    return status;
}
