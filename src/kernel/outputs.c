/* SPDX-License-Identifier: Apache-2.0 */
/* The coregions of a kernel as their users see them: matrices of covariances between outputs. */
#include "kernel/coregion.h"
#include "kernel/kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST 1e200 /* of which the square roots are factors, HFI_REAL_MOST */

static const hfi_leaf *find_coregion_leaf(const hf_kernel *kernel, size_t i)
{
    for (size_t l = 0; kernel && l < kernel->leaf_count; l++)
        if (kernel->leaves[l].form == HFI_FORM_COREGION && i-- == 0) return &kernel->leaves[l];
    return NULL;
}

size_t hf_kernel_coregions(const hf_kernel *kernel)
{
    size_t count = 0;
    while (find_coregion_leaf(kernel, count)) count++;
    return count;
}

size_t hf_kernel_coregion_outputs(const hf_kernel *kernel, size_t i)
{
    const hfi_leaf *leaf = find_coregion_leaf(kernel, i);
    return leaf ? leaf->outputs : 0;
}

bool hfi_kernel_coregion(const hf_kernel *kernel, size_t i, size_t *first, size_t *factors, size_t *own,
                         size_t *column)
{
    const hfi_leaf *leaf = find_coregion_leaf(kernel, i);
    if (!leaf) return false;
    if (first) *first = leaf->first;
    if (factors) *factors = hfi_coregion_factors(leaf);
    if (own) *own = hfi_leaf_entries(leaf, HFI_FIELD_OWN);
    if (column) *column = kernel->columns[leaf->column_at];
    return true;
}

static hf_status find_or_fail(hf_context *ctx, const char *what, const hf_kernel *kernel, size_t i,
                              const double *b, const hfi_leaf **leaf)
{
    if (!kernel || !b) return hfi_refuse(ctx, "%s needs a kernel and a matrix", what);
    *leaf = find_coregion_leaf(kernel, i);
    if (*leaf) return HF_OK;
    return hfi_refuse(ctx, "there is no coregion %zu: the kernel has %zu", i, hf_kernel_coregions(kernel));
}

hf_status hf_kernel_get_coregion(hf_context *ctx, const hf_kernel *kernel, size_t i, double *b)
{
    const hfi_leaf *leaf = NULL;
    const hf_status s = find_or_fail(ctx, "hf_kernel_get_coregion", kernel, i, b, &leaf);
    if (s < 0) return s;
    const size_t count = leaf->outputs * leaf->outputs;
    for (size_t k = 0; k < count; k++) b[k] = kernel->pairs[leaf->pairs_at + k];
    return HF_OK;
}

/* ---- from B to its factor -------------------------------------------------------------------- */

static hf_status check_entries(hf_context *ctx, size_t outputs, const double *b)
{
    for (size_t s = 0; s < outputs; s++) {
        for (size_t t = 0; t < outputs; t++) {
            const double value = b[s * outputs + t], mirror = b[t * outputs + s];
            if (!(fabs(value) <= MOST))
                return hfi_refuse(ctx, "B[%zu,%zu] = %g: expected a size of %g at most", s, t, value, MOST);
            if (t < s && !(fabs(value - mirror) <= 1e-12 * fmax(fabs(value), fabs(mirror))))
                return hfi_refuse(ctx, "B is not symmetric: B[%zu,%zu] = %.17g, but B[%zu,%zu] = %.17g", s, t,
                                  value, t, s, mirror);
        }
        if (b[s * outputs + s] < 0.0)
            return hfi_refuse(ctx, "B is not positive semi-definite: the variance B[%zu,%zu] is %g", s, s,
                              b[s * outputs + s]);
    }
    return HF_OK;
}

/* Remainder of B[t, q], t >= q, when the columns of w before q are taken away. */
static double remainder_of(size_t outputs, const double *b, const double *w, size_t t, size_t q)
{
    double left = b[t * outputs + q];
    for (size_t k = 0; k < q; k++) left -= w[t * outputs + k] * w[q * outputs + k];
    return left;
}

/* w (outputs x outputs, zero on entry) := the lower Cholesky factor, column by column. A pivot within
 * rounding of 0 is 0 if all that is left below it is. */
static hf_status factor_output_covariance(hf_context *ctx, size_t outputs, const double *b, double *w)
{
    const double rounding = 16.0 * (double)(outputs + 3) * DBL_EPSILON;
    for (size_t q = 0; q < outputs; q++) {
        const double variance = b[q * outputs + q], pivot = remainder_of(outputs, b, w, q, q);
        size_t left = outputs; /* an output whose covariance with this one is not explained */
        if (fabs(pivot) <= rounding * variance) {
            for (size_t t = q + 1; t < outputs && left == outputs; t++)
                if (fabs(remainder_of(outputs, b, w, t, q)) >
                    rounding * sqrt(variance) * sqrt(b[t * outputs + t]))
                    left = t;
            if (left == outputs) continue;
        }
        if (!(pivot > 0.0))
            return left < outputs
                       ? hfi_refuse(ctx,
                                    "B is not positive semi-definite: the outputs before %zu leave nothing "
                                    "of its variance, but something of its covariance with output %zu",
                                    q, left)
                       : hfi_refuse(ctx,
                                    "B is not positive semi-definite: given the outputs before it, output "
                                    "%zu has the variance %g",
                                    q, pivot);
        const double root = sqrt(pivot);
        w[q * outputs + q] = root;
        for (size_t t = q + 1; t < outputs; t++)
            w[t * outputs + q] = remainder_of(outputs, b, w, t, q) / root;
    }
    return HF_OK;
}

hf_status hf_kernel_set_coregion(hf_context *ctx, hf_kernel *kernel, size_t i, const double *b)
{
    const hfi_leaf *leaf = NULL;
    hf_status status = find_or_fail(ctx, "hf_kernel_set_coregion", kernel, i, b, &leaf);
    if (status < 0) return status;
    const size_t outputs = leaf->outputs;
    if (leaf->rank < outputs)
        return hfi_refuse(ctx, "coregion %zu has rank %zu of %zu: set factor and own, or leave out rank", i,
                          leaf->rank, outputs);
    status = check_entries(ctx, outputs, b);
    if (status < 0) return status;
    double *w = hfi_alloc(ctx, outputs * outputs, 2 * sizeof *w);
    if (!w) return HF_ERR_MEMORY;
    const size_t *row_of = kernel->row_of + leaf->pairs_at;
    double *ordered = w + outputs * outputs;
    for (size_t s = 0; s < outputs; s++)
        for (size_t t = 0; t < outputs; t++) ordered[row_of[s] * outputs + row_of[t]] = b[s * outputs + t];
    status = factor_output_covariance(ctx, outputs, ordered, w);
    for (size_t s = 0; status >= 0 && s < outputs; s++) {
        for (size_t q = 0; q <= s; q++) {
            const size_t p = leaf->first + hfi_coregion_row(leaf, s) + q;
            const double value = w[s * outputs + q];
            kernel->value[p] = value;
            kernel->lower[p] = fmin(kernel->lower[p], value);
            kernel->upper[p] = fmax(kernel->upper[p], value);
        }
    }
    if (status >= 0) hfi_coregion_refresh(kernel, leaf);
    hfi_free(ctx, w);
    return status;
}

size_t hfi_kernel_coregion_own(const hf_kernel *kernel, size_t i, size_t s, bool *squared, size_t *first,
                               size_t *end)
{
    const hfi_leaf *leaf = find_coregion_leaf(kernel, i);
    const size_t row = kernel->row_of[leaf->pairs_at + s];
    *squared = leaf->rank < leaf->outputs;
    *first = leaf->first + hfi_coregion_row(leaf, row);
    *end = *first + hfi_coregion_length(leaf, row) - (*squared ? 0 : 1);
    const size_t own = *squared ? leaf->first + hfi_coregion_factors(leaf) + row : *end;
    return kernel->fixed[own] ? SIZE_MAX : own;
}

/* Whether nobody has said what an entry of W or of own is. */
static bool is_free(const hf_kernel *kernel, const hfi_leaf *leaf)
{
    const size_t count = hfi_coregion_factors(leaf) + hfi_leaf_entries(leaf, HFI_FIELD_OWN);
    for (size_t p = leaf->first; p < leaf->first + count; p++)
        if (kernel->fixed[p] || kernel->given[p]) return false;
    return true;
}

hf_status hfi_kernel_order_outputs(hf_context *ctx, hf_kernel *kernel, const size_t *order)
{
    size_t largest = 0;
    for (size_t l = 0; l < kernel->leaf_count; l++)
        if (kernel->leaves[l].outputs > largest) largest = kernel->leaves[l].outputs;
    if (largest == 0) return HF_OK;
    double *work = hfi_alloc(ctx, largest, (largest + 1) * sizeof *work);
    if (!work) return HF_ERR_MEMORY;
    for (size_t l = 0; l < kernel->leaf_count; l++)
        if (kernel->leaves[l].form == HFI_FORM_COREGION && is_free(kernel, &kernel->leaves[l]))
            hfi_coregion_reorder(kernel, &kernel->leaves[l], order, work);
    hfi_free(ctx, work);
    return HF_OK;
}

bool hfi_kernel_is_separable(const hf_kernel *kernel)
{
    size_t column;
    if (hf_kernel_coregions(kernel) != 1 || !hfi_kernel_coregion(kernel, 0, NULL, NULL, NULL, &column))
        return false;
    for (size_t l = 0; l < kernel->leaf_count; l++) {
        const hfi_leaf *leaf = &kernel->leaves[l];
        if (leaf->form == HFI_FORM_WHITE) return false;
        if (leaf->form == HFI_FORM_COREGION) continue;
        for (size_t j = 0; j < leaf->columns; j++)
            if (kernel->columns[leaf->column_at + j] == column) return false;
    }
    /* The one coregion must be a factor of the one term there is, and not stand in a sum within it. */
    const size_t term = kernel->nodes[kernel->root].child;
    if (kernel->nodes[term].next != HFI_NONE) return false;
    for (size_t f = kernel->nodes[term].child; f != HFI_NONE; f = kernel->nodes[f].next)
        if (kernel->nodes[f].kind == HFI_NODE_LEAF &&
            kernel->leaves[kernel->nodes[f].leaf].form == HFI_FORM_COREGION)
            return true;
    return false;
}

/* ---- the kernel of one output as one of several -------------------------------------------------- */

typedef struct kernel_writer {
    char *text;
    size_t used, bytes;
} kernel_writer;

static void append_kernel_text(kernel_writer *w, const char *format, ...) HF_PRINTF(2, 3);

static void append_kernel_text(kernel_writer *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    w->used += (size_t)hfi_print_list(w->text + w->used, w->bytes - w->used, format, list);
    va_end(list);
}

/* All of W is held at 0 but one entry of its diagonal. */
static void add_own(kernel_writer *w, size_t outputs, size_t own)
{
    for (size_t s = 0; s < outputs; s++)
        for (size_t q = 0; q <= s; q++)
            append_kernel_text(w, ", factor[%zu,%zu]%s", s, q, s == own && q == own ? "~1" : "=0");
    append_kernel_text(w, ")*(");
}

char *hfi_kernel_of_outputs(hf_context *ctx, const char *expression, const char *column, size_t d,
                            size_t outputs, const char *shared)
{
    const size_t terms = shared ? 1 : outputs, entries = shared ? 0 : outputs * (outputs + 1) / 2;
    const size_t words =
        strlen(expression) + (column ? 2 * strlen(column) : 0) + (shared ? strlen(shared) : 0);
    kernel_writer w = {.bytes = terms * (words + 128 + 64 * entries)};
    w.text = hfi_alloc(ctx, w.bytes, 1);
    for (size_t t = 0; w.text && t < terms; t++) {
        append_kernel_text(&w, "%scoregion(%s", t > 0 ? " + " : "", column ? "'" : "");
        for (const char *c = column; c && *c; c++) append_kernel_text(&w, "%s%c", *c == '\'' ? "'" : "", *c);
        if (!column) append_kernel_text(&w, "x%zu", d);
        append_kernel_text(&w, "%s, outputs=%zu%s", column ? "'" : "", outputs, shared ? shared : "");
        if (!shared) add_own(&w, outputs, t);
        append_kernel_text(&w, "%s)", expression);
    }
    return w.text;
}
