/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel in interval arithmetic: value.c with every rounding accounted for, of a point or of all points
 * of a box at once. Its derivatives in x come from the rules for sums and products. */
#include "kernel/enclosure.h"
#include "kernel/enclosure_leaf.h"

static void sum_jet(const hfi_enclosed *at, size_t sum, hfi_interval *jet, hfi_interval *room);

static void factor_jet(const hfi_enclosed *at, size_t factor, hfi_interval *jet, hfi_interval *room)
{
    const hfi_node *node = &at->kernel->nodes[factor];
    if (node->kind == HFI_NODE_SUM)
        sum_jet(at, factor, jet, room);
    else
        hfi_enclose_leaf(at, &at->kernel->leaves[node->leaf], jet);
}

/* a := a b, the highest derivatives first, as they need the lower ones of before. */
static void multiply_enclosed_jets(const hfi_enclosed *at, hfi_interval *a, const hfi_interval *b)
{
    const size_t d = at->kernel->d;
    for (size_t i = 0; i < d && at->order == 2; i++)
        for (size_t j = 0; j <= i; j++) {
            const size_t k = hfi_jet_second(d, i, j);
            const hfi_interval outer =
                hfi_interval_add(hfi_interval_multiply(a[k], b[0]), hfi_interval_multiply(a[0], b[k]));
            const hfi_interval inner = hfi_interval_add(hfi_interval_multiply(a[1 + i], b[1 + j]),
                                                        hfi_interval_multiply(a[1 + j], b[1 + i]));
            a[k] = hfi_interval_add(outer, inner);
        }
    for (size_t i = 0; i < d && at->order > 0; i++)
        a[1 + i] =
            hfi_interval_add(hfi_interval_multiply(a[1 + i], b[0]), hfi_interval_multiply(a[0], b[1 + i]));
    a[0] = hfi_interval_multiply(a[0], b[0]);
}

static void term_jet(const hfi_enclosed *at, size_t term, hfi_interval *jet, hfi_interval *room)
{
    const hf_kernel *kernel = at->kernel;
    const size_t scale = kernel->nodes[term].scale, size = hfi_jet_size(kernel->d, at->order);
    const size_t first = kernel->nodes[term].child;
    factor_jet(at, first, jet, room);
    for (size_t c = kernel->nodes[first].next; c != HFI_NONE; c = kernel->nodes[c].next) {
        factor_jet(at, c, room, room + size);
        multiply_enclosed_jets(at, jet, room);
    }
    if (scale == HFI_NONE) return;
    const hfi_interval factor = hfi_enclosed_parameter(at, scale);
    for (size_t k = 0; k < size; k++) jet[k] = hfi_interval_multiply(factor, jet[k]);
}

static void sum_jet(const hfi_enclosed *at, size_t sum, hfi_interval *jet, hfi_interval *room)
{
    const hf_kernel *kernel = at->kernel;
    const size_t size = hfi_jet_size(kernel->d, at->order), first = kernel->nodes[sum].child;
    term_jet(at, first, jet, room);
    for (size_t t = kernel->nodes[first].next; t != HFI_NONE; t = kernel->nodes[t].next) {
        term_jet(at, t, room, room + size);
        for (size_t k = 0; k < size; k++) jet[k] = hfi_interval_add(jet[k], room[k]);
    }
}

/* A sum has a term, and a term a factor, under way at the same time. */
#define LEVELS (2u * (HFI_MAX_DEPTH + 1u))

bool hfi_kernel_enclose(const hf_kernel *kernel, const double *x, const double *z, bool same,
                        long double *lower, long double *upper)
{
    if (!hfi_interval_usable()) return false;
    for (size_t j = 0; j < kernel->d; j++)
        if (!isfinite(x[j]) || !isfinite(z[j])) return false;
    const hfi_enclosed at = {.kernel = kernel, .x = x, .z = z, .same = same};
    hfi_interval value, room[LEVELS];
    sum_jet(&at, kernel->root, &value, room);
    if (!isfinite(value.lower) || !isfinite(value.upper)) return false;
    *lower = value.lower;
    *upper = value.upper;
    return true;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Sums under each other. */
static size_t depth(const hf_kernel *kernel, size_t sum)
{
    size_t most = 0;
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next)
        for (size_t c = kernel->nodes[t].child; c != HFI_NONE; c = kernel->nodes[c].next) {
            const size_t below = kernel->nodes[c].kind == HFI_NODE_SUM ? depth(kernel, c) : 0;
            if (below > most) most = below;
        }
    return most + 1;
}

size_t hfi_kernel_jet_size(const hf_kernel *kernel, int order)
{
    return hfi_jet_size(kernel->d, order);
}

size_t hfi_kernel_jet_scratch(const hf_kernel *kernel, int order)
{
    return HFI_LEAF_SCRATCH * kernel->d + 2 * depth(kernel, kernel->root) * hfi_jet_size(kernel->d, order);
}

bool hfi_kernel_enclose_box(const hf_kernel *kernel, const hfi_interval *x, const double *z, bool same,
                            int order, hfi_interval *jet, hfi_interval *scratch)
{
    if (!hfi_interval_usable()) return false;
    for (size_t j = 0; j < kernel->d; j++)
        if (!(x[j].lower <= x[j].upper) || !isfinite(x[j].lower) || !isfinite(x[j].upper) ||
            (z != NULL && !isfinite(z[j])))
            return false;
    const hfi_enclosed at = {
        .kernel = kernel, .box = x, .z = z, .same = same, .order = order, .scratch = scratch};
    sum_jet(&at, kernel->root, jet, scratch + HFI_LEAF_SCRATCH * kernel->d);
    return isfinite(jet[0].lower) && isfinite(jet[0].upper);
}
