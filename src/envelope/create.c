/* SPDX-License-Identifier: Apache-2.0 */
/* From readings to an envelope, or to the reason why there is none. */
#include "core/settings.h"
#include "envelope/envelope.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Distinct inputs and the kernel matrix. */
static hf_status fill_distinct_readings(hf_context *ctx, const hf_bounded_readings *readings,
                                        const hfi_distinct *distinct, hf_envelope *envelope)
{
    const size_t d = envelope->d;
    envelope->n = distinct->n;
    for (size_t i = 0; i < distinct->n; i++) {
        /* Adding a zero makes one zero of the two. */
        for (size_t j = 0; j < d; j++)
            envelope->x[i * d + j] = readings->x[distinct->first[i] * readings->ldx + j] + 0.0;
        hfi_envelope_set_limits(envelope, i, distinct->lower[i], distinct->upper[i]);
    }
    hf_status status =
        hfi_kernel_gram_lower(ctx, envelope->kernel, envelope->n, envelope->x, d, envelope->k, envelope->ldk);
    if (status < 0) return status;
    hfi_symmetrise(ctx, envelope->n, envelope->k, envelope->ldk);
    for (size_t i = 0; i < envelope->n; i++) {
        const double diagonal = envelope->k[i * (envelope->ldk + 1)];
        if (!isfinite(diagonal))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the kernel overflows at row %zu",
                            distinct->first[i] + 1);
        if (diagonal < 0.0)
            return hfi_fail(ctx, HF_ERR_NOT_POSITIVE_DEFINITE,
                            "the kernel is negative on the diagonal at row %zu", distinct->first[i] + 1);
        envelope->sd[i] = sqrt(diagonal);
    }
    return HF_OK;
}

/* Parts that an envelope is made with, and the envelope, which is not settled yet, consistent or not. */
typedef struct workshop {
    hfi_distinct distinct;
    bool meet; /* every intersection holds a number */
    hf_envelope *envelope;
} workshop;

static void clear(hf_context *ctx, workshop *w)
{
    hfi_distinct_free(ctx, &w->distinct);
    hf_envelope_free(w->envelope);
}

/* Cleared by the caller, whatever becomes of it. */
static hf_status build(hf_context *ctx, const hf_kernel *kernel, const hf_bounded_readings *readings,
                       double norm, const hf_envelope_settings *settings, workshop *w)
{
    *w = (workshop){0};
    hf_status status = hfi_distinct_find(ctx, hf_kernel_dimension(kernel), readings, &w->distinct);
    if (status < 0) return status;
    w->meet = hfi_distinct_limits(readings, 1.0, &w->distinct);
    if (settings->reserve > SIZE_MAX - w->distinct.n)
        return hfi_fail(ctx, HF_ERR_TOO_LARGE, "a reserve of %zu readings", settings->reserve);
    status = hfi_envelope_allocate(ctx, hfi_context_memory(ctx), hf_kernel_dimension(kernel),
                                   w->distinct.n + settings->reserve, &w->envelope);
    if (status >= 0) status = hf_kernel_copy(ctx, kernel, &w->envelope->kernel);
    if (status < 0) return status;
    hf_envelope *envelope = w->envelope;
    envelope->norm = norm;
    envelope->offset = readings->offset;
    envelope->settings = *settings;
    status = fill_distinct_readings(ctx, readings, &w->distinct, envelope);
    if (status >= 0 && !hfi_envelope_equip(envelope)) status = hfi_out_of_memory(ctx);
    return status;
}

static hf_status explain(hf_context *ctx, const hf_bounded_readings *readings, workshop *w)
{
    size_t *conflict = hfi_alloc(ctx, readings->n, sizeof *conflict);
    if (!conflict) return HF_ERR_MEMORY;
    hf_consistency report;
    hfi_explain(w->envelope, readings, &w->distinct, &report, conflict);
    const hf_status status = hfi_inconsistent(ctx, w->envelope->norm, &report, conflict);
    hfi_free(ctx, conflict);
    return status;
}

static hf_status check_norm(hf_context *ctx, double norm)
{
    if (!(norm > 0.0 && isfinite(norm)))
        return hfi_refuse(ctx, "the norm bound is %g; give a positive, finite one", norm);
    return HF_OK;
}

hf_status hf_envelope_create(hf_context *ctx, const hf_kernel *kernel, const hf_bounded_readings *readings,
                             double norm, const hf_envelope_settings *settings, hf_envelope **out)
{
    hf_envelope_settings chosen;
    if (!ctx || !out) return hfi_refuse(ctx, "hf_envelope_create needs a context and a place for it");
    hf_status status = hfi_readings_check(ctx, kernel, readings);
    if (status >= 0) status = check_norm(ctx, norm);
    if (status >= 0) status = hfi_settings_open(ctx, hf_envelope_settings_table(), settings, &chosen);
    if (status < 0) return status;
    workshop w;
    status = build(ctx, kernel, readings, norm, &chosen, &w);
    if (status >= 0) {
        status = w.meet ? hfi_envelope_find_smoothest(ctx, w.envelope) : HF_ERR_INCONSISTENT;
        if (status == HF_ERR_INCONSISTENT) status = explain(ctx, readings, &w);
    }
    if (status >= 0) {
        /* Without a reserve, adding is rare and the memory is freed. */
        if (chosen.reserve == 0) hfi_envelope_strip(w.envelope);
        *out = w.envelope;
        w.envelope = NULL;
    }
    clear(ctx, &w);
    return status;
}

/* `rows`: room for as many as there are readings. */
static hf_status report_on(hf_context *ctx, const hf_bounded_readings *readings, workshop *w, size_t *rows,
                           hf_consistency *report)
{
    hf_consistency answer;
    hfi_explain(w->envelope, readings, &w->distinct, &answer, rows);
    if (w->envelope->work_area.chain.indefinite)
        return hfi_fail(ctx, HF_ERR_NOT_POSITIVE_DEFINITE,
                        "the kernel matrix of the readings has a negative eigenvalue");
    *report = answer;
    return HF_OK;
}

hf_status hf_envelope_consistency(hf_context *ctx, const hf_kernel *kernel,
                                  const hf_bounded_readings *readings, double norm, hf_consistency *report,
                                  size_t *conflict)
{
    const hf_envelope_settings settings = hf_envelope_settings_default();
    if (!ctx || !report)
        return hfi_refuse(ctx, "hf_envelope_consistency needs a context and a place for the report");
    hf_status status = hfi_readings_check(ctx, kernel, readings);
    if (status < 0) return status;
    if (!(norm > 0.0)) return hfi_refuse(ctx, "the norm bound is %g; give a positive one, or infinity", norm);
    workshop w;
    status = build(ctx, kernel, readings, norm, &settings, &w);
    size_t *rows = status >= 0 ? hfi_alloc(ctx, readings->n, sizeof *rows) : NULL;
    if (status >= 0) status = rows ? report_on(ctx, readings, &w, rows, report) : HF_ERR_MEMORY;
    if (status >= 0 && conflict && report->conflicting > 0)
        memcpy(conflict, rows, report->conflicting * sizeof *conflict);
    hfi_free(ctx, rows);
    clear(ctx, &w);
    return status;
}
