/* SPDX-License-Identifier: Apache-2.0 */
/* From the tree of a kernel to a plan. Everything is done twice: once to count, then to write. */
#include "decomposition/plan.h"
#include "kernel/expression.h"

#include <math.h>
#include <string.h>

/* The numbers in `plan` are those used so far; arrays that are NULL are not written. */
typedef struct builder {
    const hf_kernel *kernel;
    hfi_plan plan;
} builder;

static size_t append_node(builder *b, hfi_plan_node node)
{
    node.next = SIZE_MAX;
    if (b->plan.node != NULL) b->plan.node[b->plan.nodes] = node;
    return b->plan.nodes++;
}

static void append_part(builder *b, size_t column, double weight, size_t wave)
{
    if (b->plan.part != NULL) b->plan.part[b->plan.parts] = (hfi_plan_part){column, weight, wave};
    b->plan.parts++;
}

/* Sinusoids of one frequency share an entry once there are arrays; the count is that without sharing. */
static size_t append_wave(builder *b, size_t column, double frequency)
{
    if (b->plan.wave != NULL) {
        for (size_t w = 0; w < b->plan.waves; w++)
            if (b->plan.wave[w].column == column && b->plan.wave[w].frequency == frequency) return w;
        b->plan.wave[b->plan.waves] = (hfi_plan_wave){column, frequency};
    }
    return b->plan.waves++;
}

/* A list of children under construction. */
typedef struct children {
    size_t first, last;
} children;

static void add_child(builder *b, children *list, size_t node)
{
    if (list->first == SIZE_MAX)
        list->first = node;
    else if (b->plan.node != NULL)
        b->plan.node[list->last].next = node;
    list->last = node;
}

/* A node with a part for each column of the leaf, the next ones. */
static hfi_plan_node columns_node(const builder *b, hfi_plan_kind kind, const hfi_leaf *leaf, hfi_form psi)
{
    return (hfi_plan_node){
        .kind = kind, .child = SIZE_MAX, .first = b->plan.parts, .count = leaf->columns, .psi = psi};
}

static size_t plan_radial_leaf(builder *b, const hfi_leaf *leaf)
{
    hfi_plan_node node = columns_node(b, HFI_PLAN_CONVEX, leaf, leaf->form);
    if (leaf->form == HFI_FORM_RQ) node.value = b->kernel->value[hfi_leaf_at(leaf, HFI_FIELD_ALPHA)];
    for (size_t a = 0; a < leaf->columns; a++) {
        const double l = hfi_leaf_entry(b->kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
        append_part(b, hfi_leaf_column(b->kernel, leaf, a), 1.0 / l / l, SIZE_MAX);
    }
    return append_node(b, node);
}

static size_t plan_periodic_leaf(builder *b, const hfi_leaf *leaf)
{
    hfi_plan_node node = columns_node(b, HFI_PLAN_CONVEX, leaf, HFI_FORM_PERIODIC);
    node.waves = true;
    for (size_t a = 0; a < leaf->columns; a++) {
        const double l = hfi_leaf_entry(b->kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
        const size_t c = hfi_leaf_column(b->kernel, leaf, a);
        append_part(b, c, 1.0 / l / l,
                    append_wave(b, c, 1.0 / hfi_leaf_entry(b->kernel, leaf, HFI_FIELD_PERIOD, a)));
    }
    return append_node(b, node);
}

/* A function of sum w x z; of sum w (x + value z), or the product of those of sum w x and of sum w z. The
 * entries of `field` times `unit` are w. */
static size_t plan_plane_leaf(builder *b, hfi_plan_kind kind, const hfi_leaf *leaf, hfi_field field,
                              double unit, double value)
{
    hfi_plan_node node = columns_node(b, kind, leaf, leaf->form);
    node.value = value;
    for (size_t a = 0; a < leaf->columns; a++)
        append_part(b, hfi_leaf_column(b->kernel, leaf, a), unit * hfi_leaf_entry(b->kernel, leaf, field, a),
                    SIZE_MAX);
    return append_node(b, node);
}

/* weight exp(-phi / 2) prod cos(2 pi m t), phi = sum 4 pi^2 s t^2 */
static size_t component(builder *b, const hfi_leaf *leaf, size_t q)
{
    const double *weight = b->kernel->value + hfi_leaf_at(leaf, HFI_FIELD_WEIGHT);
    const double *mean = b->kernel->value + hfi_leaf_at(leaf, HFI_FIELD_MEAN) + q * leaf->columns;
    const double *variance = b->kernel->value + hfi_leaf_at(leaf, HFI_FIELD_VARIANCE) + q * leaf->columns;
    children list = {SIZE_MAX, SIZE_MAX};
    const hfi_plan_node bell = columns_node(b, HFI_PLAN_CONVEX, leaf, HFI_FORM_SE);
    for (size_t a = 0; a < leaf->columns; a++)
        append_part(b, hfi_leaf_column(b->kernel, leaf, a), 4.0 * HFI_PI * HFI_PI * variance[a], SIZE_MAX);
    add_child(b, &list, append_node(b, bell));
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t c = hfi_leaf_column(b->kernel, leaf, a);
        hfi_plan_node wave = columns_node(b, HFI_PLAN_WAVE, leaf, HFI_FORM_SE);
        wave.count = 1;
        append_part(b, c, 1.0, append_wave(b, c, mean[a]));
        add_child(b, &list, append_node(b, wave));
    }
    return append_node(b, (hfi_plan_node){.kind = HFI_PLAN_PRODUCT, .child = list.first, .value = weight[q]});
}

static size_t spectral(builder *b, const hfi_leaf *leaf)
{
    children list = {SIZE_MAX, SIZE_MAX};
    for (size_t q = 0; q < leaf->components; q++) add_child(b, &list, component(b, leaf, q));
    return append_node(b, (hfi_plan_node){.kind = HFI_PLAN_SUM, .child = list.first});
}

static size_t table(builder *b, const hfi_leaf *leaf)
{
    hfi_plan_node node = columns_node(b, HFI_PLAN_TABLE, leaf, leaf->form);
    node.outputs = leaf->outputs;
    node.table = b->kernel->pairs + leaf->pairs_at;
    append_part(b, hfi_leaf_column(b->kernel, leaf, 0), 1.0, SIZE_MAX);
    return append_node(b, node);
}

/* exp(-1 / l) for each column whose category differs. */
static size_t codes(builder *b, const hfi_leaf *leaf)
{
    const hfi_plan_node node = columns_node(b, HFI_PLAN_CODES, leaf, leaf->form);
    for (size_t a = 0; a < leaf->columns; a++)
        append_part(b, hfi_leaf_column(b->kernel, leaf, a),
                    exp(-1.0 / hfi_leaf_entry(b->kernel, leaf, HFI_FIELD_LENGTHSCALE, a)), SIZE_MAX);
    return append_node(b, node);
}

static size_t constant(builder *b, double value)
{
    return append_node(b, (hfi_plan_node){.kind = HFI_PLAN_CONSTANT, .child = SIZE_MAX, .value = value});
}

static size_t leaf_node(builder *b, const hfi_leaf *leaf)
{
    switch (leaf->form) {
    case HFI_FORM_PERIODIC:
        return plan_periodic_leaf(b, leaf);
    case HFI_FORM_LINEAR:
        return plan_plane_leaf(b, HFI_PLAN_LINEAR, leaf, HFI_FIELD_VARIANCE, 1.0, 0.0);
    case HFI_FORM_WAVE:
        return plan_plane_leaf(b, HFI_PLAN_PLANE, leaf, HFI_FIELD_FREQUENCY, 2.0 * HFI_PI, -1.0);
    case HFI_FORM_SWELL:
        return plan_plane_leaf(b, HFI_PLAN_PLANE, leaf, HFI_FIELD_FREQUENCY, 2.0 * HFI_PI, 0.0);
    case HFI_FORM_TILT:
        return plan_plane_leaf(b, HFI_PLAN_PLANE, leaf, HFI_FIELD_RATE, 1.0, 1.0);
    case HFI_FORM_CONSTANT:
        return constant(b, b->kernel->value[leaf->first]);
    case HFI_FORM_WHITE:
        return constant(b, 0.0);
    case HFI_FORM_SM:
        return spectral(b, leaf);
    case HFI_FORM_COREGION:
        return table(b, leaf);
    case HFI_FORM_CATEGORY:
        return codes(b, leaf);
    default:
        return plan_radial_leaf(b, leaf);
    }
}

static size_t sum_node(builder *b, size_t sum)
{
    const hf_kernel *kernel = b->kernel;
    children terms = {SIZE_MAX, SIZE_MAX};
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        children factors = {SIZE_MAX, SIZE_MAX};
        for (size_t c = kernel->nodes[t].child; c != HFI_NONE; c = kernel->nodes[c].next)
            add_child(b, &factors,
                      kernel->nodes[c].kind == HFI_NODE_SUM
                          ? sum_node(b, c)
                          : leaf_node(b, &kernel->leaves[kernel->nodes[c].leaf]));
        const size_t scale = kernel->nodes[t].scale;
        const double value = scale == HFI_NONE ? 1.0 : kernel->value[scale];
        add_child(b, &terms,
                  append_node(
                      b, (hfi_plan_node){.kind = HFI_PLAN_PRODUCT, .child = factors.first, .value = value}));
    }
    return append_node(b, (hfi_plan_node){.kind = HFI_PLAN_SUM, .child = terms.first});
}

hf_status hfi_plan_create(hf_context *ctx, const hf_kernel *kernel, hfi_plan *out)
{
    builder count = {.kernel = kernel}, b = {.kernel = kernel};
    memset(out, 0, sizeof *out);
    (void)sum_node(&count, kernel->root);
    b.plan.memory = hfi_context_memory(ctx);
    b.plan.d = kernel->d;
    if (HFI_ALLOC(ctx, HFI_ROOM(b.plan.node, count.plan.nodes), HFI_ROOM(b.plan.part, count.plan.parts),
                  HFI_ROOM(b.plan.wave, count.plan.waves)) < 0) {
        hfi_plan_free(&b.plan);
        return HF_ERR_MEMORY;
    }
    (void)sum_node(&b, kernel->root);
    *out = b.plan;
    return HF_OK;
}

void hfi_plan_free(hfi_plan *plan)
{
    if (plan->memory.release != NULL) HFI_MEMORY_FREE(&plan->memory, plan->node, plan->part, plan->wave);
    memset(plan, 0, sizeof *plan);
}
