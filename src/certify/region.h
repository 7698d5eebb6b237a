/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file region.h
 * @brief Parts of boxes that inputs stay in: balls, lattices, few inputs at once.
 */
#ifndef HFI_CERTIFY_REGION_H
#define HFI_CERTIFY_REGION_H

#include "bound/problem.h"

/** The region's view of one box: `inputs` entries each, in the user's units. */
typedef struct hfi_region_centre {
    const double *centre, *half;
} hfi_region_centre;

/** HF_ERR_ARGUMENT for a region that there is not. */
hf_status hfi_region_check(hf_context *ctx, const hf_region *region, size_t inputs, bool rigorous);
/** A box and its place, `inputs` entries each, all written or changed. */
typedef struct hfi_sides {
    double *lower, *upper, *centre, *half;
} hfi_sides;

/** The place of box number k, and its sides cut to what is physical. */
hf_status hfi_region_place(hf_context *ctx, const hf_region *region, size_t k, size_t inputs,
                           hfi_sides *box);
/** Lets the region of settings, if there is one, be about x; they then point to *into. */
void hfi_region_about(hf_certify_settings *settings, const double *x, hf_region *into);
/** Whether it is more than boxes: a shape or a lattice. NULL: false. */
bool hfi_region_cuts(const hf_region *region);
/** Whether it is a union of boxes. */
bool hfi_region_has_parts(const hf_region *region);
/** Size of a move by its shape, rounded up; infinite where what is held (unit 0) moves. */
double hfi_region_size(const hf_region *region, size_t inputs, const double *from, const double *to,
                       const double *unit);

/** Cuts what is searched to the region of the problem's settings: *whole becomes that, and needs
 * what it was. HF_ERR_MEMORY without a message, and *whole is as it was. */
hf_status hfi_region_cut(hfi_certify_problem *q, size_t threads, const hfi_region_centre *place,
                         hfi_branch_problem *whole);
/** *whole becomes what it was. */
void hfi_region_uncut(hfi_branch_problem *whole);

/** Boxes of which a few inputs move at once. */
typedef struct hfi_part_boxes {
    const hf_posterior *posterior;
    const hfi_quantity *quantity;
    const hf_certify_settings *settings;
    size_t m, inputs;
    const double *lower, *upper, *centre; /* m x inputs each */
} hfi_part_boxes;

/** The ranges over the unions of their parts (parts.c), as hf_certify_boxes() tells them. */
hf_status hfi_certify_parts(hf_context *ctx, const hfi_part_boxes *job, hf_range *out,
                            double *argmin, double *argmax);

#endif
