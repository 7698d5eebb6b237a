/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file enclosure_leaf.h
 * @brief Enclosures of one leaf; for the kernel room only.
 *
 * A jet is what is known of a function of x on a box: its value, then, from order 1 on, its d
 * slopes, and, of order 2, the lower triangle of its second derivatives, row by row: an interval
 * each, that holds the number for every x of the box.
 */
#ifndef HFI_KERNEL_ENCLOSURE_LEAF_H
#define HFI_KERNEL_ENCLOSURE_LEAF_H

#include "core/interval.h"
#include "kernel/expression.h"

/** x in a box and one z. */
typedef struct hfi_enclosed {
    const hf_kernel *kernel;
    const double *x;         /**< a point; or NULL, and then */
    const hfi_interval *box; /**< d intervals */
    const double *z;         /**< NULL: z is x, and moves with it */
    bool same;               /**< white is seen */
    int order;
    hfi_interval *scratch; /**< HFI_LEAF_SCRATCH d intervals; unused at order 0 */
} hfi_enclosed;

#define HFI_LEAF_SCRATCH 3u

/** Intervals in a jet. */
static inline size_t hfi_jet_size(size_t d, int order)
{
    return order == 0 ? 1 : order == 1 ? 1 + d : 1 + d + d * (d + 1) / 2;
}

/** Where the second derivative of a jet in x_i and x_j is. */
static inline size_t hfi_jet_second(size_t d, size_t i, size_t j)
{
    return 1 + d + (i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i);
}

static inline hfi_interval hfi_interval_times(long double factor, hfi_interval a)
{
    return hfi_interval_multiply(hfi_interval_point(factor), a);
}

/** exp(-a) */
static inline hfi_interval hfi_interval_decay(hfi_interval a)
{
    return hfi_interval_exp(hfi_interval_negate(a));
}

static inline hfi_interval hfi_enclosed_parameter(const hfi_enclosed *at, size_t p)
{
    return hfi_interval_point(at->kernel->value[p]);
}

static inline hfi_interval hfi_enclosed_entry(const hfi_enclosed *at, const hfi_leaf *leaf,
                                              hfi_field field, size_t a)
{
    return hfi_enclosed_parameter(at, hfi_leaf_at(leaf, field) + (leaf->ard ? a : 0));
}

static inline size_t hfi_enclosed_column(const hfi_enclosed *at, const hfi_leaf *leaf, size_t a)
{
    return at->kernel->columns[leaf->column_at + a];
}

static inline hfi_interval hfi_enclosed_coordinate(const hfi_enclosed *at, const hfi_leaf *leaf,
                                                   size_t a)
{
    const size_t column = hfi_enclosed_column(at, leaf, a);
    return at->x != NULL ? hfi_interval_point(at->x[column]) : at->box[column];
}

static inline hfi_interval hfi_enclosed_difference(const hfi_enclosed *at, const hfi_leaf *leaf,
                                                   size_t a)
{
    if (at->z == NULL) return hfi_interval_point(0.0L);
    return hfi_interval_subtract(hfi_enclosed_coordinate(at, leaf, a),
                                 hfi_interval_point(at->z[hfi_enclosed_column(at, leaf, a)]));
}

/** se, matern, rq (enclosure_radial.c); the others (enclosure_leaf.c). Every entry of `jet` is
 * written. */
void hfi_enclose_radial(const hfi_enclosed *at, const hfi_leaf *leaf, hfi_interval *jet);
void hfi_enclose_leaf(const hfi_enclosed *at, const hfi_leaf *leaf, hfi_interval *jet);

#endif
