/* SPDX-License-Identifier: Apache-2.0 */
/* From the parsed tree to a kernel: which terms have an outputscale, the table of parameters, the values
 * written. */
#include "kernel/coregion.h"
#include "kernel/parser.h"

#include <float.h>
#include <math.h>
#include <string.h>

static bool term_has_amplitude(const hfi_parser *parser, size_t term)
{
    for (size_t c = parser->nodes[term].child; c != HFI_NONE; c = parser->nodes[c].next) {
        const hfi_node *factor = &parser->nodes[c];
        if (factor->kind == HFI_NODE_SUM || hfi_form_has_amplitude(parser->leaves[factor->leaf].form))
            return true;
    }
    return false;
}

/* Counts terms with an outputscale under a sum (terms spliced away by the parser are not reached). */
static size_t count_scales(const hfi_parser *parser, size_t sum)
{
    size_t count = 0;
    for (size_t t = parser->nodes[sum].child; t != HFI_NONE; t = parser->nodes[t].next) {
        count += !term_has_amplitude(parser, t);
        for (size_t c = parser->nodes[t].child; c != HFI_NONE; c = parser->nodes[c].next)
            if (parser->nodes[c].kind == HFI_NODE_SUM) count += count_scales(parser, c);
    }
    return count;
}

static void place_parameter(hf_kernel *kernel, hfi_place place, double start)
{
    const size_t p = kernel->parameters++;
    kernel->place[p] = place;
    kernel->value[p] = start;
}

static void place_leaf(hf_kernel *kernel, size_t index)
{
    hfi_leaf *leaf = &kernel->leaves[index];
    const size_t count = hfi_leaf_parameters(leaf);
    leaf->first = kernel->parameters;
    for (size_t offset = 0; offset < count; offset++) {
        hfi_place place = {.leaf = index};
        hfi_leaf_place(leaf, offset, &place);
        double start = hfi_field_range(leaf->form, place.field).start;
        /* The components of sm start at different frequencies (else they would stay the same), with variance
         * 1 together. */
        if (place.field == HFI_FIELD_WEIGHT) start = 1.0 / (double)leaf->components;
        if (place.field == HFI_FIELD_MEAN) start *= (double)(place.i + 1);
        if (place.field == HFI_FIELD_FACTOR) start = hfi_coregion_start(leaf, place.i, place.j);
        place_parameter(kernel, place, start);
    }
}

/* Depth is bounded by the parser. Order: a term's outputscale, then its factors from left to right. */
static void place_sum(hf_kernel *kernel, const hfi_parser *parser, size_t sum)
{
    for (size_t t = parser->nodes[sum].child; t != HFI_NONE; t = parser->nodes[t].next) {
        const size_t first = parser->nodes[t].child;
        if (!term_has_amplitude(parser, t)) {
            kernel->nodes[t].scale = kernel->parameters;
            place_parameter(
                kernel, (hfi_place){.leaf = kernel->nodes[first].leaf, .field = HFI_FIELD_OUTPUTSCALE}, 1.0);
        }
        for (size_t c = first; c != HFI_NONE; c = parser->nodes[c].next) {
            if (kernel->nodes[c].kind == HFI_NODE_SUM)
                place_sum(kernel, parser, c);
            else
                place_leaf(kernel, kernel->nodes[c].leaf);
        }
    }
}

/* Numbers follow the expression from left to right, as the parameters do. */
static void number_leaves(hf_kernel *kernel)
{
    size_t count[HFI_FORMS] = {0}, last = HFI_NONE;
    for (size_t p = 0; p < kernel->parameters; p++) {
        const hfi_place *place = &kernel->place[p];
        if (place->field == HFI_FIELD_OUTPUTSCALE || place->leaf == last) continue;
        last = place->leaf;
        kernel->leaves[last].number = ++count[kernel->leaves[last].form];
    }
    for (size_t l = 0; l < kernel->leaf_count; l++)
        if (count[kernel->leaves[l].form] == 1) kernel->leaves[l].number = 0;
}

/* ---- values written -------------------------------------------------------------------------- */

/* The term whose factor the leaf is; HFI_NONE when there is none, which cannot be. */
static size_t term_of_leaf(const hf_kernel *kernel, size_t sum, size_t leaf)
{
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        for (size_t c = kernel->nodes[t].child; c != HFI_NONE; c = kernel->nodes[c].next) {
            const hfi_node *factor = &kernel->nodes[c];
            if (factor->kind == HFI_NODE_LEAF && factor->leaf == leaf) return t;
            const size_t found = factor->kind == HFI_NODE_SUM ? term_of_leaf(kernel, c, leaf) : HFI_NONE;
            if (found != HFI_NONE) return found;
        }
    }
    return HFI_NONE;
}

static hf_status assign(const hfi_parser *parser, hf_kernel *kernel, const hfi_assignment *given)
{
    const hfi_leaf *leaf = &kernel->leaves[given->leaf];
    size_t from = 0, to = 0;
    if (given->field == HFI_FIELD_OUTPUTSCALE) {
        const size_t term = term_of_leaf(kernel, kernel->root, given->leaf);
        from = kernel->nodes[term].scale;
        if (from == HFI_NONE)
            return hfi_lexer_fail(&parser->lexer, given->at,
                                  "this term has no outputscale: another factor carries its amplitude");
        to = from + 1;
    } else {
        from = hfi_leaf_at(leaf, given->field);
        to = from + hfi_leaf_entries(leaf, given->field);
        if (given->indices > 0) {
            from += hfi_leaf_index(leaf, given->field, given->i, given->j);
            to = from + 1;
        }
    }
    for (size_t p = from; p < to; p++) {
        if (kernel->given[p])
            return hfi_lexer_fail(&parser->lexer, given->at, "%s is given twice",
                                  hfi_field_name(given->field));
        kernel->value[p] = given->value;
        kernel->fixed[p] = given->held;
        kernel->given[p] = true;
    }
    return HF_OK;
}

static bool multiply_parameter(hf_kernel *kernel, size_t p, double number)
{
    kernel->value[p] *= number;
    kernel->given[p] = true;
    if (hfi_field_is_real(kernel->place[p].field)) return fabs(kernel->value[p]) <= HFI_REAL_MOST;
    return kernel->value[p] >= DBL_MIN && kernel->value[p] <= DBL_MAX;
}

/* B is a square of its factor. */
static bool multiply_coregion(hf_kernel *kernel, const hfi_leaf *leaf, double number)
{
    const size_t factors = hfi_coregion_factors(leaf), count = hfi_leaf_parameters(leaf);
    bool fine = true;
    for (size_t k = 0; k < count; k++)
        fine = multiply_parameter(kernel, leaf->first + k, k < factors ? sqrt(number) : number) && fine;
    return fine;
}

/* The number in front of a term multiplies what the amplitude of the term starts at. */
static bool apply_number(hf_kernel *kernel, size_t term, double number)
{
    const hfi_node *nodes = kernel->nodes;
    if (nodes[term].scale != HFI_NONE) return multiply_parameter(kernel, nodes[term].scale, number);
    size_t c = nodes[term].child;
    while (nodes[c].kind == HFI_NODE_LEAF && !hfi_form_has_amplitude(kernel->leaves[nodes[c].leaf].form))
        c = nodes[c].next;
    bool fine = true;
    if (nodes[c].kind == HFI_NODE_SUM) {
        for (size_t t = nodes[c].child; t != HFI_NONE; t = nodes[t].next)
            fine = apply_number(kernel, t, number) && fine;
        return fine;
    }
    const hfi_leaf *leaf = &kernel->leaves[nodes[c].leaf];
    if (leaf->form == HFI_FORM_COREGION) return multiply_coregion(kernel, leaf, number);
    const hfi_field amplitude = hfi_form_amplitude(leaf->form);
    const size_t from = hfi_leaf_at(leaf, amplitude);
    for (size_t k = 0; k < hfi_leaf_entries(leaf, amplitude); k++)
        fine = multiply_parameter(kernel, from + k, number) && fine;
    return fine;
}

static hf_status apply_numbers(const hfi_parser *parser, hf_kernel *kernel, size_t sum)
{
    hf_status s = HF_OK;
    for (size_t t = kernel->nodes[sum].child; s >= 0 && t != HFI_NONE; t = kernel->nodes[t].next) {
        const hfi_multiplier *factor = &parser->factors[t];
        for (size_t c = kernel->nodes[t].child; s >= 0 && c != HFI_NONE; c = kernel->nodes[c].next)
            if (kernel->nodes[c].kind == HFI_NODE_SUM) s = apply_numbers(parser, kernel, c);
        if (s >= 0 && factor->written && !apply_number(kernel, t, factor->number))
            s = hfi_lexer_fail(&parser->lexer, factor->at,
                               "with this factor a variance overflows or vanishes");
    }
    return s;
}

hf_status hfi_build(hfi_parser *parser, size_t root, hf_kernel **out)
{
    const hf_kernel sizes = {.d = parser->d,
                             .node_count = parser->node_count,
                             .leaf_count = parser->leaf_count,
                             .column_count = parser->column_count,
                             .pair_count = parser->pairs,
                             .parameters = parser->parameters + count_scales(parser, root)};
    hf_kernel *kernel = hfi_kernel_allocate(&parser->memory, &sizes, parser->lexer.text);
    if (!kernel) return hfi_out_of_memory(parser->lexer.ctx);
    memcpy(kernel->nodes, parser->nodes, parser->node_count * sizeof *kernel->nodes);
    memcpy(kernel->leaves, parser->leaves, parser->leaf_count * sizeof *kernel->leaves);
    if (parser->column_count > 0)
        memcpy(kernel->columns, parser->columns, parser->column_count * sizeof *kernel->columns);
    kernel->pair_count = 0;
    for (size_t l = 0; l < kernel->leaf_count; l++) {
        kernel->leaves[l].pairs_at = kernel->pair_count;
        kernel->pair_count += kernel->leaves[l].outputs * kernel->leaves[l].outputs;
    }
    kernel->root = root;
    kernel->parameters = 0;
    place_sum(kernel, parser, root);
    number_leaves(kernel);
    hf_status s = HF_OK;
    for (size_t a = 0; s >= 0 && a < parser->assignment_count; a++)
        s = assign(parser, kernel, &parser->assignments[a]);
    if (s >= 0) s = apply_numbers(parser, kernel, root);
    if (s >= 0 && !hfi_kernel_finish(kernel)) s = hfi_out_of_memory(parser->lexer.ctx);
    if (s < 0) {
        hf_kernel_free(kernel);
        return s;
    }
    *out = kernel;
    return HF_OK;
}
