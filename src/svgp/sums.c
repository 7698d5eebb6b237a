/* SPDX-License-Identifier: Apache-2.0 */
/* Room for the sums over rows. */
#include "svgp/impl.h"

#include <string.h>

size_t hfi_svgp_gradient_length(const hfi_svgp *q, bool z_trained)
{
    return hf_kernel_parameters(q->kernel) + hf_mean_coefficients(q->mean) + 2 +
           (z_trained ? q->m * q->d : 0);
}

hf_status hfi_svgp_sums_init(const hfi_svgp *q, bool natural, bool gradient, bool z_trained,
                             hfi_svgp_sums *out)
{
    *out = (hfi_svgp_sums){.z_trained = z_trained};
    if (natural) {
        out->square = hfi_alloc(q->ctx, q->m, q->m * sizeof(double));
        out->linear = hfi_alloc(q->ctx, q->m, sizeof(double));
    }
    if (gradient) {
        out->gradient = hfi_alloc(q->ctx, hfi_svgp_gradient_length(q, z_trained), sizeof(double));
        out->corner = hfi_alloc(q->ctx, q->m, q->m * sizeof(double));
    }
    if ((!natural || (out->square && out->linear)) && (!gradient || (out->gradient && out->corner)))
        return HF_OK;
    hfi_svgp_sums_free(q, out);
    return HF_ERR_MEMORY;
}

void hfi_svgp_sums_free(const hfi_svgp *q, hfi_svgp_sums *sums)
{
    HFI_FREE(q->ctx, sums->square, sums->linear, sums->gradient, sums->corner);
    *sums = (hfi_svgp_sums){0};
}

void hfi_svgp_sums_clear(const hfi_svgp *q, hfi_svgp_sums *sums)
{
    const size_t m = q->m, length = hfi_svgp_gradient_length(q, sums->z_trained);
    sums->value = 0.0;
    sums->readings = sums->far = 0;
    if (sums->square) memset(sums->square, 0, m * m * sizeof(double));
    if (sums->linear) memset(sums->linear, 0, m * sizeof(double));
    if (sums->gradient) memset(sums->gradient, 0, length * sizeof(double));
    if (sums->corner) memset(sums->corner, 0, m * m * sizeof(double));
}
