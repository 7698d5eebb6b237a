/* SPDX-License-Identifier: Apache-2.0 */
#include "train/thin.h"
#include <string.h>

static void thinned_free(hfi_thinned *thinned)
{
    hfi_free(thinned->ctx, thinned->absent);
    hfi_free(thinned->ctx, thinned->weight);
    memset(thinned, 0, sizeof *thinned);
}

hf_status hfi_thin_back(hfi_evaluator *e, hfi_thinned *thinned)
{
    hf_status s = HF_OK;
    for (size_t i = 0; i < e->rows; i++) {
        if (!thinned->absent[i]) continue;
        s = hfi_worse(hf_sites_set_present(e->ctx, e->sites, i, true), s);
        if (thinned->weight[i] < 1.0 || thinned->shift[i] != 0.0)
            hfi_sites_weigh_as(e->sites, i, thinned->weight[i], thinned->shift[i]);
    }
    thinned_free(thinned);
    return s < 0 ? s : hfi_evaluator_select(e);
}

hf_status hfi_thin_out(hfi_evaluator *e, const size_t *order, size_t wanted, hfi_thinned *out)
{
    *out = (hfi_thinned){.ctx = e->ctx};
    out->absent = hfi_alloc(e->ctx, e->rows, sizeof *out->absent);
    out->weight = hfi_alloc(e->ctx, e->rows, 2 * sizeof *out->weight);
    if (!out->absent || !out->weight) {
        thinned_free(out);
        return HF_ERR_MEMORY;
    }
    out->shift = out->weight + e->rows;
    memcpy(out->weight, e->sites->weight, e->rows * sizeof *out->weight);
    memcpy(out->shift, e->sites->shift, e->rows * sizeof *out->shift);
    memset(out->absent, 0, e->rows * sizeof *out->absent);
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(e->ctx), HFI_PURPOSE_SAMPLE, 0);
    hf_status s = HF_OK;
    size_t left = e->n;
    for (size_t k = 0; s >= 0 && k < e->rows; k++) {
        const size_t i = order ? order[k] : k;
        if (!hf_sites_is_present(e->sites, i)) continue;
        const bool taken = hfi_stream_uniform(&stream) * (double)left-- < (double)wanted;
        if (taken) wanted--;
        if (taken) continue;
        out->absent[i] = true;
        s = hf_sites_set_present(e->ctx, e->sites, i, false);
    }
    if (s >= 0) s = hfi_evaluator_select(e);
    if (s < 0) (void)hfi_thin_back(e, out);
    return s;
}
