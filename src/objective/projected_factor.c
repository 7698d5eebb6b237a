/* SPDX-License-Identifier: Apache-2.0 */
/* The small system of an evaluator for block actions: made at the first run, factored at every one. */
#include "objective/projected_impl.h"

hf_status hfi_projected_factor(hfi_evaluator *e)
{
    hfi_projected_evaluator *p = e->projected;
    if (hf_sites_present(e->sites) != e->rows)
        return hfi_refuse(
            e->ctx, "block actions are over all %zu readings, but %zu of these are set aside or missing",
            e->rows, e->rows - hf_sites_present(e->sites));
    if (!p->ready) {
        const hf_status s =
            hfi_block_system_init(e->ctx, &p->actions, e->sites, e->d, e->x, e->ldx, &p->system);
        if (s < 0) return s;
        p->ready = true;
    }
    const hf_status s = hfi_block_system_factor(&p->system, e->kernel, e->mean, e->sites, p->precision);
    if (s >= 0) e->jitter = hfi_projected_core_jitter(&p->system.core);
    return s;
}

void hfi_projected_rest(hfi_projected_evaluator *p)
{
    if (p->ready) hfi_block_system_free(&p->system);
    p->ready = false;
}
