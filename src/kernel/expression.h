/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file expression.h
 * @brief The parsed kernel: leaves, the tree that joins them, and the table of parameters.
 *
 * The tree is kept in one normal form. The root is a SUM; the children of a SUM are TERMs; the
 * children (factors) of a TERM are LEAFs, or SUMs when the term has another factor beside them.
 * Parentheses that change nothing are gone. A TERM has a factor `outputscale` exactly when none of
 * its factors carries an amplitude of its own.
 */
#ifndef HFI_KERNEL_EXPRESSION_H
#define HFI_KERNEL_EXPRESSION_H

#include "core/core.h"
#include "kernel/forms.h"
#include <holdfast/kernel.h>

#define HFI_NONE SIZE_MAX

/* Limits of what is not refused as absurd. The depth bounds every recursion over the tree. */
#define HFI_MAX_LENGTH     16384u
#define HFI_MAX_DEPTH      32u
#define HFI_MAX_LEAVES     256u
#define HFI_MAX_PARAMETERS 1000000u
#define HFI_MAX_OUTPUTS    1000u
#define HFI_MAX_PAIRS      4000000u /* entries of the matrices B of all coregions */

typedef struct hfi_leaf {
    hfi_form form;
    bool ard;         /**< one entry per column in the arrays of parameters */
    size_t column_at; /**< its columns are kernel->columns[column_at .. column_at + columns) */
    size_t columns;   /**< 0 for constant and white */
    /** no column was written: it sees all inputs that are not the number of an output */
    bool unwritten;
    size_t components; /**< of sm, else 0 */
    size_t outputs;    /**< of coregion, else 0 */
    size_t rank;       /**< columns of the factor of coregion */
    /** B of coregion is kernel->pairs[pairs_at .. pairs_at + outputs^2), row by row */
    size_t pairs_at;
    /** index of its first parameter; its arrays follow each other in the order of
     * hfi_form_fields */
    size_t first;
    /** 1, 2, ... among the kernels of this form when there are several, else 0 */
    size_t number;
    size_t slot; /**< first of its tile buffers in reverse mode */
    size_t at;   /**< byte of the expression after its name */
} hfi_leaf;

typedef enum hfi_node_kind {
    HFI_NODE_SUM,
    HFI_NODE_TERM,
    HFI_NODE_LEAF
} hfi_node_kind;

typedef struct hfi_node {
    hfi_node_kind kind;
    size_t child; /**< first child; HFI_NONE for a leaf */
    size_t next;  /**< next sibling or HFI_NONE */
    size_t leaf;  /**< LEAF: index into leaves */
    size_t scale; /**< TERM: parameter that multiplies it, or HFI_NONE */
    size_t slot;  /**< SUM that is a factor: its tile buffer in reverse mode */
} hfi_node;

/** Where a parameter stands: the leaf that lends it its name, the array, and the place in the
 * array. */
typedef struct hfi_place {
    size_t leaf;
    hfi_field field;
    size_t i, j;    /**< indices; j is the column's position for a two-dimensional array */
    int dimensions; /**< 0, 1 or 2: indices written in the name */
} hfi_place;

struct hf_kernel {
    hfi_memory memory;
    char *expression;
    size_t d;

    hfi_node *nodes;
    size_t node_count, root;
    hfi_leaf *leaves;
    size_t leaf_count;
    size_t *columns;
    size_t column_count;

    size_t parameters;
    double *value, *lower, *upper;
    bool *fixed, *given;
    hfi_place *place;
    size_t *name_at; /**< offsets into names */
    char *names;
    size_t names_size;

    double *pairs; /**< B of every coregion, always that of the values */
    /** coregion: output s stands in row row_of[pairs_at + s] of W, s itself but while a fit trains
     * (hfi_kernel_order_outputs()) */
    size_t *row_of;
    size_t pair_count;

    size_t value_buffers; /**< tile buffers the evaluation needs */
    /** tile buffers that reverse mode needs for stored values, without the adjoints */
    size_t adjoint_buffers;
    size_t adjoint_levels; /**< adjoints alive at the same time */
    size_t sm_columns;     /**< most columns of any sm leaf */
};

/** Whether one of its kernels has the form, or such a form. */
bool hfi_kernel_has(const hf_kernel *kernel, hfi_form form);
bool hfi_kernel_any(const hf_kernel *kernel, bool (*is)(hfi_form form));
/** Whether k(x, x) depends on x. */
bool hfi_kernel_variance_varies(const hf_kernel *kernel);

/** Number of entries of one of a leaf's arrays. */
size_t hfi_leaf_entries(const hfi_leaf *leaf, hfi_field field);
/** Index of the first entry of one of a leaf's arrays. */
size_t hfi_leaf_at(const hfi_leaf *leaf, hfi_field field);
/** The number of an array that is the one of the leaf's column a. */
static inline double hfi_leaf_entry(const hf_kernel *kernel, const hfi_leaf *leaf, hfi_field field,
                                    size_t a)
{
    return kernel->value[hfi_leaf_at(leaf, field) + (leaf->ard ? a : 0)];
}
/** Which input the leaf's column a is. */
static inline size_t hfi_leaf_column(const hf_kernel *kernel, const hfi_leaf *leaf, size_t a)
{
    return kernel->columns[leaf->column_at + a];
}
/** Number of parameters of a leaf. */
size_t hfi_leaf_parameters(const hfi_leaf *leaf);
/** Where a leaf's parameter number `offset` (from leaf->first) stands; place->leaf is left
 * alone. */
void hfi_leaf_place(const hfi_leaf *leaf, size_t offset, hfi_place *place);

/** Index of an entry of one of a leaf's arrays, counted from the first of that array. */
size_t hfi_leaf_index(const hfi_leaf *leaf, hfi_field field, size_t i, size_t j);

/** One factor of a term (a LEAF or a SUM) for one pair of points, without white; as
 * hfi_kernel_value(). */
double hfi_kernel_factor_value(const hf_kernel *kernel, size_t factor, const double *x,
                               const double *z);

/** A kernel with room for everything, arrays zeroed; NULL when out of memory. */
hf_kernel *hfi_kernel_allocate(const hfi_memory *memory, const hf_kernel *sizes,
                               const char *expression);
/** Writes names, boxes and buffer needs from leaves and places; false when out of memory. */
bool hfi_kernel_finish(hf_kernel *kernel);

#endif
