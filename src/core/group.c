/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes at one fit. */
#include "core/context_impl.h"

/* Order from which a factorisation by two processes on one machine is faster than one by each of them
 * (docs/scaling.md). */
enum {
    SHARED_FACTOR = 1024
};

hf_status hf_context_set_group(hf_context *ctx, const hf_group *group)
{
    if (ctx == NULL) return HF_ERR_ARGUMENT;
    if (group == NULL) {
        ctx->group = (hf_group){0};
        return HF_OK;
    }
    if (group->rank >= group->size || group->sum == NULL)
        return hfi_refuse(ctx, "process %zu of %zu%s makes no group", group->rank, group->size,
                          group->sum == NULL ? " without a sum" : "");
    ctx->group = *group;
    return HF_OK;
}

size_t hfi_group_rank(const hf_context *ctx)
{
    return ctx != NULL ? ctx->group.rank : 0;
}

size_t hfi_group_size(const hf_context *ctx)
{
    return ctx != NULL && ctx->group.size > 0 ? ctx->group.size : 1;
}

hf_status hfi_group_sum(hf_context *ctx, size_t count, double *values)
{
    if (hfi_group_size(ctx) == 1) return HF_OK;
    if (ctx->group.sum(count, values, ctx->group.user)) return HF_OK;
    return hfi_fail(ctx, HF_ERR_INTERNAL, "the processes of this fit could not add up %zu numbers", count);
}

/* One place for every error, so that the sum says which there were. */
hf_status hfi_group_agree(hf_context *ctx, hf_status status)
{
    enum {
        ERRORS = 16
    };
    double failed[ERRORS] = {0.0};
    if (hfi_group_size(ctx) == 1) return status;
    if (status < 0) failed[-(int)status % ERRORS] = 1.0;
    const hf_status summed = hfi_group_sum(ctx, ERRORS, failed);
    if (status < 0 || summed < 0) return status < 0 ? status : summed;
    for (int error = 0; error < ERRORS; error++)
        if (failed[error] > 0.0)
            return hfi_fail(ctx, (hf_status)-error, "%.0f of the %zu processes of this fit failed: %s",
                            failed[error], hfi_group_size(ctx), hf_status_text((hf_status)-error));
    return status;
}

size_t hfi_group_shared_factor(const hf_context *ctx)
{
    return ctx != NULL && ctx->shared_factor > 0 ? ctx->shared_factor : SHARED_FACTOR;
}

void hfi_part(size_t count, size_t parts, size_t k, size_t *begin, size_t *end)
{
    const size_t each = count / parts, rest = count % parts;
    *begin = k * each + (k < rest ? k : rest);
    *end = *begin + each + (k < rest ? 1 : 0);
}

void hfi_group_share(const hf_context *ctx, size_t count, size_t *begin, size_t *end)
{
    hfi_part(count, hfi_group_size(ctx), hfi_group_rank(ctx), begin, end);
}
