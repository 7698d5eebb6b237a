/* SPDX-License-Identifier: Apache-2.0 */
/* Exact evaluators, with matrices of one process or of several. */
#include "objective/evaluator_impl.h"
#include <string.h>

double hfi_evaluator_bytes(size_t rows, size_t d, bool leave_one_out)
{
    const double n = (double)rows;
    return 8.0 * ((leave_one_out ? 3.0 : 1.0) * n * n + n * ((double)d + HFI_EV_COUNT + 1.0));
}

static hf_status refuse_bytes(hf_context *ctx, size_t rows, double bytes)
{
    size_t available;
    if (hfi_memory_has(bytes, &available)) return HF_OK;
    return hfi_fail(
        ctx, HF_ERR_TOO_LARGE,
        "an exact fit of %zu readings needs %.3g GB of memory, %.3g GB are available; use fewer rows", rows,
        bytes / 1e9, (double)available / 1e9);
}

/* Allocates the arrays that an evaluator has whoever holds its matrices. */
static bool allocate_rows(hf_context *ctx, hfi_evaluator *e, size_t rows, size_t d, const double *x,
                          size_t ldx)
{
    *e = hfi_evaluator_bare(ctx, rows, d, x, ldx);
    return HFI_ALLOC(ctx, HFI_ROOM(e->row, rows), HFI_ROOMS(e->inputs, rows, d),
                     HFI_ROOMS(e->vectors, rows, HFI_EV_COUNT)) == HF_OK;
}

hf_status hfi_evaluator_init(hf_context *ctx, hfi_evaluator *e, bool leave_one_out, size_t rows, size_t d,
                             const double *x, size_t ldx)
{
    memset(e, 0, sizeof *e);
    const hf_status refused = refuse_bytes(ctx, rows, hfi_evaluator_bytes(rows, d, leave_one_out));
    if (refused < 0) return refused;
    size_t square;
    if (!hfi_size_mul(rows, rows, &square)) return hfi_out_of_memory(ctx);
    bool ok = allocate_rows(ctx, e, rows, d, x, ldx);
    e->kind = &hfi_exact_evaluator;
    if (ok) ok = (e->a = hfi_alloc(ctx, square, sizeof *e->a)) != NULL;
    if (ok && leave_one_out) ok = HFI_ALLOC(ctx, HFI_ROOM(e->b, square), HFI_ROOM(e->c, square)) == HF_OK;
    if (ok) return HF_OK;
    hfi_evaluator_free(e);
    return HF_ERR_MEMORY;
}

hf_status hfi_evaluator_init_group(hf_context *ctx, hfi_evaluator *e, bool leave_one_out, size_t rows,
                                   size_t d, const double *x, size_t ldx)
{
    memset(e, 0, sizeof *e);
    const double parts = leave_one_out ? 3.0 : 1.0;
    hf_status s = refuse_bytes(ctx, rows, parts * hfi_exact_grid_part_bytes(ctx, rows));
    if (s >= 0 && !allocate_rows(ctx, e, rows, d, x, ldx)) s = HF_ERR_MEMORY;
    e->kind = &hfi_group_kind;
    s = hfi_group_agree(ctx, s);
    if (s >= 0) s = hfi_group_evaluator_init(e, leave_one_out);
    if (s < 0) hfi_evaluator_free(e);
    return s;
}
