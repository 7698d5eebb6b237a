/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/block_stream.h"

#include <math.h>

#define NEAREST_CACHE 3072u /* coordinates of a chunk that stay in the first-level cache beside all else */
#define MOST          256u  /* rows of a chunk, HFI_CHUNK_MOST */
#define LEAST         64u /* so that what is done for a chunk costs little beside what is done for its pairs */
#define SHARED        128u /* rows of a chunk of several blocks */
#define CHUNKS        16u  /* at least, for the sake of the threads, where rows allow */

/* The term that is left when white is 0, or HFI_NONE. */
static size_t only_term(const hf_kernel *kernel)
{
    size_t found = HFI_NONE;
    for (size_t t = kernel->nodes[kernel->root].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        bool vanishes = false;
        for (size_t c = kernel->nodes[t].child; c != HFI_NONE; c = kernel->nodes[c].next)
            vanishes |= kernel->nodes[c].kind == HFI_NODE_LEAF &&
                        kernel->leaves[kernel->nodes[c].leaf].form == HFI_FORM_WHITE;
        if (vanishes) continue;
        if (found != HFI_NONE) return HFI_NONE;
        found = t;
    }
    return found;
}

static const hfi_leaf *only_leaf(const hf_kernel *kernel, size_t term)
{
    const hfi_node *factor = &kernel->nodes[kernel->nodes[term].child];
    if (factor->kind != HFI_NODE_LEAF || factor->next != HFI_NONE) return NULL;
    return &kernel->leaves[factor->leaf];
}

bool hfi_block_plan_fits(const hf_kernel *kernel)
{
    const size_t term = only_term(kernel);
    if (term == HFI_NONE || kernel->nodes[term].scale == HFI_NONE) return false;
    const hfi_leaf *leaf = only_leaf(kernel, term);
    return leaf && hfi_form_is_radial(leaf->form) && leaf->form != HFI_FORM_RQ;
}

/* sqrt(c) and the last column of the table in block_stream.h. */
static double form_factor(hfi_form form, double *slope)
{
    switch (form) {
    case HFI_FORM_MATERN12:
        *slope = 1.0;
        return 1.0;
    case HFI_FORM_MATERN32:
        *slope = 1.0;
        return sqrt(3.0);
    case HFI_FORM_MATERN52:
        *slope = 1.0 / 3.0;
        return sqrt(5.0);
    default:
        *slope = 2.0;
        return sqrt(0.5);
    }
}

static void measure_block_axes(const hfi_block_job *job, hfi_block_plan *plan)
{
    for (size_t a = 0; a < plan->axes; a++) {
        const double *column = job->x + plan->columns[a];
        double low = column[0], high = column[0];
        for (size_t l = 1; l < job->n; l++) {
            low = fmin(low, column[l * job->ldx]);
            high = fmax(high, column[l * job->ldx]);
        }
        plan->centre[a] = 0.5 * low + 0.5 * high;
        plan->reach = fmax(plan->reach, (0.5 * high - 0.5 * low) * plan->factor[a]);
    }
}

/* Beginnings of the chunks into plan->begin unless that is NULL; returns their number. */
static size_t cut_block_chunks(const hfi_block_job *job, const hfi_block_plan *plan)
{
    size_t most = NEAREST_CACHE / plan->padded, share = job->n / CHUNKS, chunks = 0;
    if (most > share) most = share;
    if (most > MOST) most = MOST;
    if (most < LEAST) most = LEAST;
    for (size_t a = 0; a < job->blocks;) {
        const size_t begin = job->first[a], rows = job->first[++a] - begin;
        const size_t pieces = (rows + most - 1) / most;
        for (size_t i = 0; i < pieces; i++, chunks++)
            if (plan->begin) plan->begin[chunks] = begin + rows * i / pieces;
        if (rows > LEAST) continue;
        while (a < job->blocks && job->first[a + 1] - begin <= SHARED) a++;
    }
    if (plan->begin) plan->begin[chunks] = job->n;
    return chunks;
}

hf_status hfi_block_plan_make(hf_context *ctx, const hfi_block_job *job, hfi_block_plan *plan)
{
    const hf_kernel *kernel = job->kernel;
    const size_t term = only_term(kernel);
    const hfi_leaf *leaf = only_leaf(kernel, term);
    *plan = (hfi_block_plan){.form = leaf->form,
                             .ard = leaf->ard,
                             .axes = leaf->columns,
                             .padded = (leaf->columns + 3) / 4 * 4,
                             .columns = kernel->columns + leaf->column_at,
                             .scale_at = kernel->nodes[term].scale,
                             .lengthscale_at = hfi_leaf_at(leaf, HFI_FIELD_LENGTHSCALE)};
    plan->scale = kernel->value[plan->scale_at];
    plan->factor = hfi_alloc(ctx, plan->axes, sizeof *plan->factor);
    plan->centre = plan->factor ? hfi_alloc(ctx, plan->axes, sizeof *plan->centre) : NULL;
    if (!plan->centre) return HF_ERR_MEMORY;
    const double factor = form_factor(plan->form, &plan->slope);
    for (size_t a = 0; a < plan->axes; a++)
        plan->factor[a] = factor / kernel->value[plan->lengthscale_at + (plan->ard ? a : 0)];
    measure_block_axes(job, plan);
    plan->chunks = cut_block_chunks(job, plan);
    plan->begin = hfi_alloc(ctx, plan->chunks + 1, sizeof *plan->begin);
    if (!plan->begin) return HF_ERR_MEMORY;
    (void)cut_block_chunks(job, plan);
    return HF_OK;
}

void hfi_block_plan_free(hf_context *ctx, hfi_block_plan *plan)
{
    HFI_FREE(ctx, plan->factor, plan->centre, plan->begin);
}
