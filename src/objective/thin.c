/* SPDX-License-Identifier: Apache-2.0 */
#include "objective/thin.h"
#include <string.h>

static void thinned_free(hfi_thinned *thinned)
{
    HFI_FREE(thinned->ctx, thinned->absent, thinned->stays, thinned->weight);
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

static hf_status thinned_init(hfi_evaluator *e, hfi_thinned *out)
{
    *out = (hfi_thinned){.ctx = e->ctx};
    if (HFI_ALLOC(e->ctx, HFI_ROOM(out->absent, e->rows), HFI_ROOMS(out->stays, e->rows, 2),
                  HFI_ROOMS(out->weight, e->rows, 2)) < 0) {
        thinned_free(out);
        return HF_ERR_MEMORY;
    }
    out->shift = out->weight + e->rows;
    memcpy(out->weight, e->sites->weight, e->rows * sizeof *out->weight);
    memcpy(out->shift, e->sites->shift, e->rows * sizeof *out->shift);
    return HF_OK;
}

/* Takes out all present readings that do not stay. */
static hf_status take_out(hfi_evaluator *e, hfi_thinned *out)
{
    hf_status s = HF_OK;
    for (size_t i = 0; s >= 0 && i < e->rows; i++) {
        if (out->stays[i] || !hf_sites_is_present(e->sites, i)) continue;
        out->absent[i] = true;
        s = hf_sites_set_present(e->ctx, e->sites, i, false);
    }
    if (s >= 0) s = hfi_evaluator_select(e);
    if (s < 0) (void)hfi_thin_back(e, out);
    return s;
}

/* Draws `wanted` of the present readings that do not stay yet. */
static void draw_thinned_readings(const hfi_evaluator *e, hfi_stream *stream, size_t wanted, bool *stays)
{
    size_t left = 0;
    for (size_t i = 0; i < e->rows; i++) left += hf_sites_is_present(e->sites, i) && !stays[i] ? 1 : 0;
    for (size_t i = 0; i < e->rows; i++) {
        if (!hf_sites_is_present(e->sites, i) || stays[i]) continue;
        if (hfi_stream_uniform(stream) * (double)left-- >= (double)wanted) continue;
        stays[i] = true;
        wanted--;
    }
}

hf_status hfi_thin_out(hfi_evaluator *e, size_t wanted, hfi_thinned *out)
{
    const hf_status s = thinned_init(e, out);
    if (s < 0) return s;
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(e->ctx), HFI_PURPOSE_SAMPLE, 0);
    draw_thinned_readings(e, &stream, wanted, out->stays);
    return take_out(e, out);
}

/* ---- neighbours -------------------------------------------------------------------------------------------- */

enum {
    FAMILY = 15 /* readings near each other, the one they are near to among them */
};

/* The nearest present readings of row `centre`, itself among them, stay. `nearest`, `distance`: FAMILY. Equal
 * ones: the first in order. */
static void keep_family(const hfi_evaluator *e, const double *x, size_t centre, bool *stays)
{
    size_t nearest[FAMILY], count = 0;
    double distance[FAMILY];
    for (size_t i = 0; i < e->rows; i++) {
        if (!hf_sites_is_present(e->sites, i)) continue;
        double square = 0.0;
        for (size_t j = 0; j < e->d; j++) {
            const double step = x[i * e->d + j] - x[centre * e->d + j];
            square += step * step;
        }
        if (count == FAMILY && !(square < distance[FAMILY - 1])) continue;
        size_t at = count < FAMILY ? count++ : FAMILY - 1;
        for (; at > 0 && square < distance[at - 1]; at--) {
            distance[at] = distance[at - 1];
            nearest[at] = nearest[at - 1];
        }
        distance[at] = square;
        nearest[at] = i;
    }
    for (size_t k = 0; k < count; k++) stays[nearest[k]] = true;
}

hf_status hfi_thin_near(hfi_evaluator *e, const double *x, size_t wanted, hfi_thinned *out)
{
    const hf_status s = thinned_init(e, out);
    if (s < 0) return s;
    bool *stays = out->stays, *centre = stays + e->rows;
    hfi_stream stream;
    hfi_stream_init(&stream, 0, HFI_PURPOSE_SAMPLE, 1);
    draw_thinned_readings(e, &stream, wanted / (2 * FAMILY), centre);
    for (size_t i = 0; i < e->rows; i++)
        if (centre[i]) keep_family(e, x, i, stays);
    size_t count = 0;
    for (size_t i = 0; i < e->rows; i++) count += stays[i] ? 1 : 0;
    if (count < wanted) draw_thinned_readings(e, &stream, wanted - count, stays);
    return take_out(e, out);
}
