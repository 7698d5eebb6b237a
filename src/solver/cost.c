/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of an exact solve, told before it starts. */
#include "solver/solver.h"

#include <math.h>

#define GIBIBYTE (1024.0 * 1024.0 * 1024.0)

void hfi_exact_cost(size_t n, size_t d, double *bytes, double *flops)
{
    double rows = (double)n, inputs = (double)d;
    /* The factor; then per anchor its inputs, residual, site variance and weight, and the scratch of the
     * measurement (with one thread). */
    *bytes = (double)sizeof(double) * rows * (rows + inputs + 45.0);
    /* The factor; K once for its lower half and once in full for the measurement, some 3 d + 20 operations an
     * entry; and the triangular solves. */
    *flops = rows * rows * (rows / 3.0 + 1.5 * (3.0 * inputs + 20.0) + 12.0);
}

hf_status hfi_require_memory(hf_context *ctx, const char *what, size_t n, double bytes)
{
    size_t available;
    if (hfi_memory_has(bytes, &available)) return HF_OK;
    /* Everything here is n x n in the end, so what fits shrinks with the square root. */
    double fits = floor((double)n * sqrt((double)available / bytes));
    return hfi_fail(ctx, HF_ERR_TOO_LARGE,
                    "%s of %zu readings needs %.0f bytes (%.3g GiB), but only %zu (%.3g GiB) are available; "
                    "use at most about %.0f readings, or a machine with more memory",
                    what, n, bytes, bytes / GIBIBYTE, available, (double)available / GIBIBYTE, fits);
}
