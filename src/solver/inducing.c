/* SPDX-License-Identifier: Apache-2.0 */
/* Life of the inducing solver, what it costs, and what can be read off it. */
#include "solver/inducing.h"

#include "linalg/linalg.h"
#include "solver/inducing_chunk.h"
#include <math.h>
#include <string.h>

#define GIBIBYTE (1024.0 * 1024.0 * 1024.0)

void hfi_inducing_cost(size_t n, size_t d, size_t m, double *bytes, double *flops)
{
    const double rows = (double)n, inputs = (double)d, order = (double)m;
    const double chunk = fmin(rows, HFI_INDUCING_ROWS);
    /* Lu, Lb and the sums; two more squares and a second pair of chunks while training differentiates. */
    *bytes = 8.0 * (5.0 * order * order + order * (inputs + 4.0) + chunk * (3.0 * order + inputs + 32.0));
    /* Covariances, whitening, the sum of outer products; the factors. */
    *flops = rows * order * (3.0 * inputs + 20.0 + 2.0 * order) + order * order * order;
}

static hf_status check_memory(hf_context *ctx, size_t m, size_t d)
{
    size_t available;
    double bytes, flops;
    hfi_inducing_cost(HFI_INDUCING_ROWS, d, m, &bytes, &flops);
    if (hfi_memory_has(bytes, &available)) return HF_OK;
    return hfi_fail(ctx, HF_ERR_TOO_LARGE,
                    "%zu inducing inputs need %.0f bytes (%.3g GiB), but only %zu (%.3g GiB) are available; "
                    "use at most about %.0f inducing inputs, or a machine with more memory",
                    m, bytes, bytes / GIBIBYTE, available, (double)available / GIBIBYTE,
                    floor((double)m * sqrt((double)available / bytes)));
}

hf_status hfi_inducing_init(hf_context *ctx, hf_inducing_method method, size_t m, size_t d, const double *z,
                            size_t ldz, hfi_inducing *out)
{
    hfi_inducing u = {.ctx = ctx, .method = method, .m = m, .d = d};
    memset(out, 0, sizeof *out);
    const hf_status status = check_memory(ctx, m, d);
    if (status < 0) return status;
    size_t square;
    if (!hfi_size_mul(m, m, &square)) return hfi_out_of_memory(ctx);
    if (HFI_ALLOC(ctx, HFI_ROOMS(u.z, m, d), HFI_ROOM(u.lu, square), HFI_ROOM(u.lb, square), HFI_ROOM(u.t, m),
                  HFI_ROOM(u.whitened, m), HFI_ROOM(u.w, m),
                  HFI_ROOM(u.sums, square + m + HFI_INDUCING_SCALARS)) < 0) {
        hfi_inducing_free(&u);
        return HF_ERR_MEMORY;
    }
    for (size_t i = 0; i < m; i++) memcpy(u.z + i * d, z + i * ldz, d * sizeof *z);
    *out = u;
    return HF_OK;
}

void hfi_inducing_free(hfi_inducing *inducing)
{
    HFI_FREE(inducing->ctx, inducing->z, inducing->lu, inducing->lb, inducing->t, inducing->whitened,
             inducing->w, inducing->sums);
    memset(inducing, 0, sizeof *inducing);
}

double hfi_inducing_log_evidence(const hfi_inducing *u)
{
    const double fit = u->log_det + u->quadratic + (u->method == HF_INDUCING_VFE ? u->unresolved : 0.0);
    return -0.5 * fit - (double)u->present * HFI_HALF_LOG_2PI;
}
