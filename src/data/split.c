/* SPDX-License-Identifier: Apache-2.0 */
/* Random train/test splits. */
#include "core/core.h"

#include <holdfast/contaminate.h>

#include <math.h>

hf_status hf_split(hf_context *ctx, uint64_t seed, double test_share, size_t n, size_t *order, size_t *train)
{
    if (train == NULL || (order == NULL && n > 0)) return hfi_refuse(ctx, "hf_split: order or train is NULL");
    if (!(test_share >= 0 && test_share <= 1))
        return hfi_refuse(ctx, "hf_split: the test share is %g; it must lie between 0 and 1", test_share);
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_SPLIT, 0);
    for (size_t i = 0; i < n; i++) order[i] = i;
    hfi_stream_shuffle(&stream, order, n);
    *train = n - (size_t)round(test_share * (double)n);
    return HF_OK;
}
