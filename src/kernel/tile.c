/* SPDX-License-Identifier: Apache-2.0 */
/* The tree on one tile. Evaluation needs few buffers (a stack); reverse mode keeps the value of every factor.
 */
#include "kernel/tile.h"
#include "kernel/kernel.h"

#include <string.h>

#define PANEL 32768u /* doubles in a panel of fast points: 256 KiB */

/* ---- plan ------------------------------------------------------------------------------------ */

typedef struct plan {
    size_t buffers; /* to evaluate, the result's included */
    size_t levels;  /* of terms, to run backwards */
} plan;

static plan plan_sum(hf_kernel *kernel, size_t sum);

static plan plan_factor(hf_kernel *kernel, size_t factor)
{
    hfi_node *node = &kernel->nodes[factor];
    if (node->kind == HFI_NODE_SUM) {
        node->slot = kernel->adjoint_buffers++;
        return plan_sum(kernel, factor);
    }
    hfi_leaf *leaf = &kernel->leaves[node->leaf];
    leaf->slot = kernel->adjoint_buffers;
    kernel->adjoint_buffers += hfi_leaf_slots(leaf);
    if (leaf->form == HFI_FORM_SM) kernel->sm_columns = hfi_larger(kernel->sm_columns, leaf->columns);
    return (plan){1 + HFI_LEAF_SPARES, 0};
}

static plan plan_sum(hf_kernel *kernel, size_t sum)
{
    plan whole = {1, 1};
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        const size_t other_term = t != kernel->nodes[sum].child, first = kernel->nodes[t].child;
        for (size_t c = first; c != HFI_NONE; c = kernel->nodes[c].next) {
            const plan part = plan_factor(kernel, c);
            whole.buffers = hfi_larger(whole.buffers, part.buffers + other_term + (c != first));
            whole.levels = hfi_larger(whole.levels, part.levels + 1);
        }
    }
    return whole;
}

void hfi_tile_plan(hf_kernel *kernel)
{
    kernel->adjoint_buffers = 0;
    kernel->sm_columns = 0;
    const plan whole = plan_sum(kernel, kernel->root);
    kernel->value_buffers = whole.buffers;
    kernel->adjoint_levels = whole.levels;
}

/* Reverse mode: the weights, the adjoints of the levels, the stored values, a product, the leaf's own. */
static size_t adjoint_total(const hf_kernel *kernel)
{
    return 1 + kernel->adjoint_levels + kernel->adjoint_buffers + 1 + HFI_LEAF_SPARES;
}

/* A panel of fast points should stay in the second-level cache; one tile is the least. An odd number of tiles
 * keeps the columns out of each other's place in the first-level cache. */
static size_t panel_points(const hf_kernel *kernel)
{
    const size_t tiles = PANEL / (kernel->d * HFI_TILE);
    return (tiles > 1 ? tiles - 1 + tiles % 2 : 1) * HFI_TILE;
}

size_t hfi_kernel_scratch(const hf_kernel *kernel)
{
    const size_t buffers = hfi_larger(kernel->value_buffers, adjoint_total(kernel));
    return kernel->d * panel_points(kernel) + 2 * kernel->sm_columns * HFI_TILE + buffers * HFI_BUFFER;
}

double *hfi_kernel_scratch_alloc(hf_context *ctx, const hf_kernel *kernel, size_t *each)
{
    size_t total = 0;
    *each = hfi_kernel_scratch(kernel);
    if (!hfi_size_mul(*each, (size_t)hf_context_threads(ctx), &total)) {
        (void)hfi_out_of_memory(ctx);
        return NULL;
    }
    return hfi_alloc_unset(ctx, total, sizeof(double));
}

void hfi_tile_begin(hfi_tile *tile, const hf_kernel *kernel, double *scratch)
{
    *tile = (hfi_tile){.kernel = kernel, .panel = scratch, .room = panel_points(kernel)};
    tile->waves = scratch + kernel->d * tile->room;
    tile->buffers = tile->waves + 2 * kernel->sm_columns * HFI_TILE;
    tile->points.ldz = tile->room;
}

void hfi_tile_load(hfi_tile *tile, size_t left, const double *z, size_t ldz)
{
    const size_t d = tile->kernel->d, count = left < tile->room ? left : tile->room;
    const size_t padded = (count + HFI_LANES - 1) / HFI_LANES * HFI_LANES;
    tile->loaded = count;
    for (size_t j = 0; j < padded; j++) {
        const double *row = z + (j < count ? j : count - 1) * ldz;
        for (size_t c = 0; c < d; c++) tile->panel[c * tile->room + j] = row[c];
    }
}

void hfi_tile_take(hfi_tile *tile, size_t first)
{
    const size_t left = tile->loaded - first;
    tile->count = left < HFI_TILE ? left : HFI_TILE;
    tile->points.width = (tile->count + HFI_LANES - 1) / HFI_LANES * HFI_LANES;
    tile->points.z = tile->panel + first;
}

/* ---- values ---------------------------------------------------------------------------------- */

static size_t entries(const hfi_tile *tile)
{
    return tile->points.rows * tile->points.width;
}

static void sum_value(const hfi_tile *tile, size_t sum, double *out, double *spare);

static void term_value(const hfi_tile *tile, size_t term, double *out, double *spare)
{
    const hf_kernel *kernel = tile->kernel;
    const size_t first = kernel->nodes[term].child;
    for (size_t c = first; c != HFI_NONE; c = kernel->nodes[c].next) {
        const hfi_node *factor = &kernel->nodes[c];
        double *to = c == first ? out : spare, *rest = c == first ? spare : spare + HFI_BUFFER;
        if (factor->kind == HFI_NODE_SUM)
            sum_value(tile, c, to, rest);
        else
            hfi_leaf_value(tile, &kernel->leaves[factor->leaf], to, rest);
        if (c != first) hfi_loop_multiply(entries(tile), spare, out);
    }
    const size_t scale = kernel->nodes[term].scale;
    if (scale != HFI_NONE) hfi_loop_scale(entries(tile), kernel->value[scale], out, out);
}

static void sum_value(const hfi_tile *tile, size_t sum, double *out, double *spare)
{
    const hf_kernel *kernel = tile->kernel;
    const size_t first = kernel->nodes[sum].child;
    for (size_t t = first; t != HFI_NONE; t = kernel->nodes[t].next) {
        if (t == first) {
            term_value(tile, t, out, spare);
        } else {
            term_value(tile, t, spare, spare + HFI_BUFFER);
            hfi_loop_add(entries(tile), spare, out);
        }
    }
}

const double *hfi_tile_value(hfi_tile *tile)
{
    sum_value(tile, tile->kernel->root, tile->buffers, tile->buffers + HFI_BUFFER);
    return tile->buffers;
}

bool hfi_tile_write(hfi_tile *tile, double *out, size_t ldo)
{
    const hf_kernel *kernel = tile->kernel;
    const hfi_node *term = &kernel->nodes[kernel->nodes[kernel->root].child];
    const hfi_leaf *radial = NULL, *coregion = NULL;
    if (term->next != HFI_NONE || kernel->leaf_count > 2) return false;
    for (size_t l = 0; l < kernel->leaf_count; l++) {
        const hfi_leaf *leaf = &kernel->leaves[l];
        if (hfi_form_is_radial(leaf->form)) radial = leaf;
        if (leaf->form == HFI_FORM_COREGION) coregion = leaf;
    }
    if (!radial || (coregion == NULL) != (kernel->leaf_count == 1)) return false;
    if (coregion)
        hfi_leaf_write_outputs(tile, radial, coregion, out, ldo, tile->buffers);
    else
        hfi_leaf_write(tile, radial, kernel->value[term->scale], out, ldo, tile->buffers);
    return true;
}

/* ---- reverse mode ---------------------------------------------------------------------------- */

double *hfi_tile_weights(hfi_tile *tile)
{
    return tile->buffers;
}

void hfi_tile_weigh(hfi_tile *tile, size_t r, const double *from)
{
    double *row = tile->buffers + r * tile->points.width;
    memcpy(row, from, tile->count * sizeof *row);
    for (size_t c = tile->count; c < tile->points.width; c++) row[c] = 0.0;
}

typedef struct reverse {
    const hfi_tile *tile;
    double *stored, *product, *spare;
    double *by_parameter, *by_input; /* one of them is NULL */
} reverse;

static double *factor_value(const reverse *run, size_t factor)
{
    const hf_kernel *kernel = run->tile->kernel;
    const hfi_node *node = &kernel->nodes[factor];
    const size_t slot = node->kind == HFI_NODE_SUM ? node->slot : kernel->leaves[node->leaf].slot;
    return run->stored + slot * HFI_BUFFER;
}

/* out := factor times the stored values of the term's factors, except one. */
static void product_without(const reverse *run, size_t term, size_t except, const double *factor, double *out)
{
    const hf_kernel *kernel = run->tile->kernel;
    const size_t scale = kernel->nodes[term].scale, count = entries(run->tile);
    hfi_loop_scale(count, scale == HFI_NONE ? 1.0 : kernel->value[scale], factor, out);
    for (size_t c = kernel->nodes[term].child; c != HFI_NONE; c = kernel->nodes[c].next)
        if (c != except) hfi_loop_multiply(count, factor_value(run, c), out);
}

/* Values of all factors below a sum; then, if it is a factor itself, its own. */
static void store_sum(const reverse *run, size_t sum, bool is_factor)
{
    const hf_kernel *kernel = run->tile->kernel;
    const size_t count = entries(run->tile);
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        for (size_t c = kernel->nodes[t].child; c != HFI_NONE; c = kernel->nodes[c].next) {
            const hfi_node *factor = &kernel->nodes[c];
            if (factor->kind == HFI_NODE_SUM)
                store_sum(run, c, true);
            else
                hfi_leaf_store(run->tile, &kernel->leaves[factor->leaf], factor_value(run, c), run->spare);
        }
    }
    if (!is_factor) return;
    double *out = factor_value(run, sum);
    hfi_loop_fill(count, 0.0, out);
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        const size_t first = kernel->nodes[t].child;
        product_without(run, t, first, factor_value(run, first), run->product);
        hfi_loop_add(count, run->product, out);
    }
}

/* `adjoint` is that of the sum and so that of each term; the buffer behind it takes the adjoint of one factor
 * at a time. */
static void reverse_sum(const reverse *run, size_t sum, double *adjoint)
{
    const hf_kernel *kernel = run->tile->kernel;
    double *of_factor = adjoint + HFI_BUFFER;
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        const size_t first = kernel->nodes[t].child, scale = kernel->nodes[t].scale;
        for (size_t c = first; c != HFI_NONE; c = kernel->nodes[c].next) {
            const hfi_node *factor = &kernel->nodes[c];
            const double *value = factor_value(run, c);
            product_without(run, t, c, adjoint, of_factor);
            if (c == first && scale != HFI_NONE && run->by_parameter)
                run->by_parameter[scale] += hfi_loop_dot(entries(run->tile), of_factor, value);
            if (factor->kind == HFI_NODE_SUM)
                reverse_sum(run, c, of_factor);
            else if (run->by_parameter)
                hfi_leaf_adjoint(run->tile, &kernel->leaves[factor->leaf], value, of_factor, run->spare,
                                 run->by_parameter);
            else
                hfi_leaf_backward(run->tile, &kernel->leaves[factor->leaf], value, of_factor, run->spare,
                                  run->by_input);
        }
    }
}

static void run_reverse(const hfi_tile *tile, double *by_parameter, double *by_input)
{
    const hf_kernel *kernel = tile->kernel;
    double *stored = tile->buffers + (1 + kernel->adjoint_levels) * HFI_BUFFER;
    double *product = stored + kernel->adjoint_buffers * HFI_BUFFER;
    const reverse run = {tile, stored, product, product + HFI_BUFFER, by_parameter, by_input};
    store_sum(&run, kernel->root, false);
    reverse_sum(&run, kernel->root, tile->buffers);
}

void hfi_tile_adjoint(hfi_tile *tile, double *grad)
{
    run_reverse(tile, grad, NULL);
}

void hfi_tile_backward(hfi_tile *tile, double *grad)
{
    run_reverse(tile, NULL, grad);
}
