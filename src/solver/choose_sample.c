/* SPDX-License-Identifier: Apache-2.0 */
/* Random samples of rows. */
#include "solver/choose.h"

void hfi_choose_sample(const hf_context *ctx, size_t n, size_t count, size_t *rows)
{
    /* Selection sampling (Knuth, The Art of Computer Programming, 3.4.2, algorithm S): ascending at once. */
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_INDUCING, 0);
    size_t taken = 0;
    for (size_t i = 0; i < n && taken < count; i++)
        if (hfi_stream_below(&stream, n - i) < count - taken) rows[taken++] = i;
}
