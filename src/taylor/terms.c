/* SPDX-License-Identifier: Apache-2.0 */
/* Terms of the kernel, as they are once some inputs are fixed. */
#include "taylor/terms.h"

#include "kernel/expression.h"
#include "kernel/kernel.h"
#include "kernel/planes.h"

#include <math.h>
#include <string.h>

/* Doubles of features that a term may hold; beyond, Hessians are summed from the anchors themselves. */
#define MOST_FEATURES ((size_t)1 << 22)

static bool is_free(const hfi_terms *terms, size_t column)
{
    for (size_t f = 0; f < terms->free_count; f++)
        if (terms->free[f] == column) return true;
    return false;
}

static bool leaf_is_free(const hfi_terms *terms, const hfi_leaf *leaf)
{
    for (size_t a = 0; a < leaf->columns; a++)
        if (is_free(terms, hfi_leaf_column(terms->kernel, leaf, a))) return true;
    return false;
}

bool hfi_factor_is_free(const hfi_terms *terms, size_t factor)
{
    const hf_kernel *kernel = terms->kernel;
    const hfi_node *node = &kernel->nodes[factor];
    if (node->kind == HFI_NODE_LEAF) return leaf_is_free(terms, &kernel->leaves[node->leaf]);
    for (size_t t = node->child; t != HFI_NONE; t = kernel->nodes[t].next)
        for (size_t c = kernel->nodes[t].child; c != HFI_NONE; c = kernel->nodes[c].next)
            if (hfi_factor_is_free(terms, c)) return true;
    return false;
}

static int leaf_order(const hfi_leaf *leaf)
{
    const bool matern = leaf->form >= HFI_FORM_MATERN12 && leaf->form <= HFI_FORM_MATERN52;
    return matern ? (int)leaf->form - (int)HFI_FORM_MATERN12 : 3;
}

/* Derivatives of the features of everything below a term that is free. */
static int term_order(const hfi_terms *terms, size_t term)
{
    const hf_kernel *kernel = terms->kernel;
    int order = 3;
    for (size_t c = kernel->nodes[term].child; c != HFI_NONE; c = kernel->nodes[c].next) {
        if (!hfi_factor_is_free(terms, c)) continue;
        const hfi_node *factor = &kernel->nodes[c];
        int of_factor = 3;
        if (factor->kind == HFI_NODE_LEAF) {
            of_factor = leaf_order(&kernel->leaves[factor->leaf]);
        } else {
            for (size_t t = factor->child; t != HFI_NONE; t = kernel->nodes[t].next) {
                const int of_term = term_order(terms, t);
                if (of_term < of_factor) of_factor = of_term;
            }
        }
        if (of_factor < order) order = of_factor;
    }
    return order;
}

/* Census of the free factors of a term. */
typedef struct census {
    size_t radial, se, other; /* free factors: radial but se, se, any other */
    bool white;
} census;

static census count_factors(const hfi_terms *terms, size_t term)
{
    const hf_kernel *kernel = terms->kernel;
    census found = {0};
    for (size_t c = kernel->nodes[term].child; c != HFI_NONE; c = kernel->nodes[c].next) {
        const hfi_node *factor = &kernel->nodes[c];
        const bool leaf = factor->kind == HFI_NODE_LEAF;
        const hfi_form form = leaf ? kernel->leaves[factor->leaf].form : HFI_FORMS;
        if (form == HFI_FORM_WHITE) found.white = true;
        if (!hfi_factor_is_free(terms, c)) continue;
        if (form == HFI_FORM_SE)
            found.se++;
        else if (leaf && hfi_form_is_radial(form))
            found.radial++;
        else
            found.other++;
    }
    return found;
}

/* Squared scaled distance along the fixed columns of a leaf, from the middle to an anchor. */
static double fixed_distance(const hfi_terms *terms, const hfi_leaf *leaf, const double *z)
{
    double q = 0.0;
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t column = hfi_leaf_column(terms->kernel, leaf, a);
        if (is_free(terms, column)) continue;
        const double u = (terms->middle[column] - z[column]) /
                         hfi_leaf_entry(terms->kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
        q += u * u;
    }
    return q;
}

/* Value of one factor for the middle and an anchor (NULL: for the middle twice), without its part of free inputs. */
static double fixed_factor(const hfi_terms *terms, size_t factor, const double *z)
{
    const double *other = z ? z : terms->middle;
    if (!hfi_factor_is_free(terms, factor))
        return hfi_kernel_factor_value(terms->kernel, factor, terms->middle, other);
    const hfi_leaf *leaf = &terms->kernel->leaves[terms->kernel->nodes[factor].leaf];
    if (leaf->form != HFI_FORM_SE) return 1.0;
    return exp(-0.5 * fixed_distance(terms, leaf, other));
}

static double fixed_product(const hfi_terms *terms, const hfi_term *term, const double *z)
{
    const hf_kernel *kernel = terms->kernel;
    const size_t scale = kernel->nodes[term->node].scale;
    double product = scale == HFI_NONE ? 1.0 : kernel->value[scale];
    for (size_t c = kernel->nodes[term->node].child; c != HFI_NONE; c = kernel->nodes[c].next)
        product *= fixed_factor(terms, c, z);
    return product;
}

static bool weigh_anchors(const hfi_terms *terms, hfi_term *term)
{
    const size_t n = terms->n;
    if (!HFI_MEMORY_ALLOC(&terms->memory, HFI_ROOM(term->factor, n), HFI_ROOM(term->a, n))) return false;
    term->self = fixed_product(terms, term, NULL);
    for (size_t i = 0; i < n; i++) {
        term->factor[i] = fixed_product(terms, term, terms->anchor + i * terms->d);
        term->a[i] = terms->t[i] * term->factor[i];
        term->total += term->a[i];
        term->size += fabs(term->a[i]);
    }
    return true;
}

/* ---- radial terms ------------------------------------------------------------------------------------------------ */

/* precision[f] += 1 / l^2 for the free inputs that a leaf sees. */
static void add_precisions(const hfi_terms *terms, const hfi_leaf *leaf, double *precision)
{
    for (size_t a = 0; a < leaf->columns; a++)
        for (size_t f = 0; f < terms->free_count; f++)
            if (terms->free[f] == hfi_leaf_column(terms->kernel, leaf, a)) {
                const double inverse = 1.0 / hfi_leaf_entry(terms->kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
                precision[f] += inverse * inverse;
            }
}

static bool place_axes(const hfi_terms *terms, hfi_term *term)
{
    const hf_kernel *kernel = terms->kernel;
    const hfi_memory *memory = &terms->memory;
    double *precision = hfi_memory_alloc(memory, terms->free_count, sizeof *precision);
    if (!precision) return false;
    for (size_t c = kernel->nodes[term->node].child; c != HFI_NONE; c = kernel->nodes[c].next) {
        if (!hfi_factor_is_free(terms, c)) continue;
        const hfi_leaf *leaf = &kernel->leaves[kernel->nodes[c].leaf];
        term->form = leaf->form;
        if (leaf->form == HFI_FORM_RQ) term->alpha = kernel->value[hfi_leaf_at(leaf, HFI_FIELD_ALPHA)];
        if (leaf->form != HFI_FORM_SE) term->far_leaf = kernel->nodes[c].leaf;
        add_precisions(terms, leaf, precision);
    }
    for (size_t f = 0; f < terms->free_count; f++) term->axes += precision[f] > 0.0;
    const bool fine =
        HFI_MEMORY_ALLOC(memory, HFI_ROOM(term->axis, term->axes), HFI_ROOM(term->scale, term->axes),
                         HFI_ROOM(term->reach, term->axes), HFI_ROOM(term->z, term->axes * terms->n));
    for (size_t f = 0, a = 0; fine && f < terms->free_count; f++)
        if (precision[f] > 0.0) {
            term->axis[a] = f;
            term->scale[a++] = 1.0 / sqrt(precision[f]);
        }
    hfi_memory_free(memory, precision);
    return fine;
}

/* z := (anchor - middle) / scale, and how far the anchors reach. */
static void place_anchors(const hfi_terms *terms, hfi_term *term)
{
    for (size_t a = 0; a < term->axes; a++) {
        const size_t column = terms->free[term->axis[a]];
        for (size_t i = 0; i < terms->n; i++) {
            const double z = (terms->anchor[i * terms->d + column] - terms->middle[column]) / term->scale[a];
            term->z[i + a * terms->n] = z;
            term->reach[a] = fmax(term->reach[a], fabs(z));
        }
    }
}

static bool place_offsets(const hfi_terms *terms, hfi_term *term)
{
    if (term->far_leaf == HFI_NONE) return true;
    const hfi_leaf *leaf = &terms->kernel->leaves[term->far_leaf];
    if (leaf->columns == term->axes) return true;
    term->offset = hfi_memory_alloc(&terms->memory, terms->n, sizeof *term->offset);
    if (!term->offset) return false;
    for (size_t i = 0; i < terms->n; i++)
        term->offset[i] = fixed_distance(terms, leaf, terms->anchor + i * terms->d);
    return true;
}

size_t hfi_term_columns(size_t axes)
{
    return 1 + axes + axes * (axes + 1) / 2;
}

static bool make_features(const hfi_terms *terms, hfi_term *term)
{
    const size_t n = terms->n, columns = hfi_term_columns(term->axes);
    if (columns > MOST_FEATURES / n) return true;
    term->features = hfi_memory_alloc(&terms->memory, n * columns, sizeof *term->features);
    if (!term->features) return false;
    double *out = term->features;
    for (size_t i = 0; i < n; i++) *out++ = 1.0;
    memcpy(out, term->z, n * term->axes * sizeof *out);
    out += n * term->axes;
    for (size_t a = 0; a < term->axes; a++)
        for (size_t b = a; b < term->axes; b++)
            for (size_t i = 0; i < n; i++) *out++ = term->z[i + a * n] * term->z[i + b * n];
    return true;
}

/* ---- general terms ----------------------------------------------------------------------------------------------- */

/* How quickly a leaf changes along one of its columns. */
static double rate_of(const hf_kernel *kernel, const hfi_leaf *leaf, size_t a, bool *wave)
{
    *wave = false;
    switch (leaf->form) {
    case HFI_FORM_PERIODIC: {
        const double l = hfi_leaf_entry(kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
        *wave = true;
        return 2.0 * HFI_PI / hfi_leaf_entry(kernel, leaf, HFI_FIELD_PERIOD, a) * fmax(1.0, 1.0 / l);
    }
    case HFI_FORM_LINEAR:
        return sqrt(hfi_leaf_entry(kernel, leaf, HFI_FIELD_VARIANCE, a));
    case HFI_FORM_SM: {
        double most = 0.0;
        for (size_t q = 0; q < leaf->components; q++) {
            const size_t p = q * leaf->columns + a;
            const double mean = kernel->value[hfi_leaf_at(leaf, HFI_FIELD_MEAN) + p],
                         variance = kernel->value[hfi_leaf_at(leaf, HFI_FIELD_VARIANCE) + p];
            most = fmax(most, 2.0 * HFI_PI * (mean + sqrt(variance)));
        }
        *wave = true;
        return most;
    }
    case HFI_FORM_WAVE:
    case HFI_FORM_SWELL:
    case HFI_FORM_TILT: {
        const hfi_plane plane = hfi_plane_of(kernel, leaf);
        *wave = true;
        return fabs(plane.turn * plane.slope[a]);
    }
    default:
        return hfi_form_is_radial(leaf->form) ? 1.0 / hfi_leaf_entry(kernel, leaf, HFI_FIELD_LENGTHSCALE, a)
                                              : 0.0;
    }
}

double hfi_terms_units(const hfi_terms *terms, const double *x)
{
    const hf_kernel *kernel = terms->kernel;
    double units = 16.0;
    for (size_t l = 0; l < kernel->leaf_count; l++) {
        const hfi_leaf *leaf = &kernel->leaves[l];
        units += 8.0 + 2.0 * (double)(leaf->columns + leaf->components + leaf->rank);
        for (size_t a = 0; a < leaf->columns; a++) {
            const size_t column = hfi_leaf_column(kernel, leaf, a);
            bool wave;
            double far = fabs(x[column]);
            for (size_t i = 0; i < terms->n; i++)
                far = fmax(far, fabs(x[column]) + fabs(terms->anchor[i * terms->d + column]));
            units += 2.0 * rate_of(kernel, leaf, a, &wave) * far;
        }
    }
    return units;
}

static void gather_rates(const hfi_terms *terms, const hfi_leaf *leaf, hfi_term *term)
{
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t column = hfi_leaf_column(terms->kernel, leaf, a);
        bool wave;
        const double rate = rate_of(terms->kernel, leaf, a, &wave);
        double far = 0.0;
        for (size_t f = 0; f < terms->free_count; f++)
            if (terms->free[f] == column) {
                term->share[f] += rate;
                far = terms->extent[f];
            }
        for (size_t i = 0; wave && i < terms->n; i++) {
            const double t = fabs(terms->anchor[i * terms->d + column] - terms->middle[column]) + far;
            term->phase = fmax(term->phase, 1.0 + rate * t);
        }
    }
}

static void gather_term(const hfi_terms *terms, size_t node, hfi_term *term)
{
    const hf_kernel *kernel = terms->kernel;
    for (size_t c = kernel->nodes[node].child; c != HFI_NONE; c = kernel->nodes[c].next) {
        const hfi_node *factor = &kernel->nodes[c];
        if (factor->kind == HFI_NODE_LEAF) {
            gather_rates(terms, &kernel->leaves[factor->leaf], term);
            continue;
        }
        for (size_t t = factor->child; t != HFI_NONE; t = kernel->nodes[t].next) gather_term(terms, t, term);
    }
}

/* ---- all terms --------------------------------------------------------------------------------------------------- */

static bool make_term(const hfi_terms *terms, size_t node, const census *found, hfi_term *term)
{
    term->node = node;
    term->far_leaf = HFI_NONE;
    term->order = term_order(terms, node);
    const bool single = found->other == 0 && (found->radial == 0 || (found->radial == 1 && found->se == 0));
    if (!single) {
        term->kind = HFI_TERM_GENERAL;
        term->phase = 1.0;
        term->share = hfi_memory_alloc(&terms->memory, terms->free_count, sizeof *term->share);
        if (!term->share) return false;
        gather_term(terms, node, term);
        return true;
    }
    term->kind = found->radial + found->se > 0 ? HFI_TERM_RADIAL : HFI_TERM_CONSTANT;
    if (!weigh_anchors(terms, term)) return false;
    if (term->kind == HFI_TERM_CONSTANT) return true;
    if (!place_axes(terms, term)) return false;
    place_anchors(terms, term);
    return place_offsets(terms, term) && make_features(terms, term);
}

static bool make_terms(hfi_terms *terms)
{
    const hf_kernel *kernel = terms->kernel;
    size_t room = 0;
    for (size_t t = kernel->nodes[kernel->root].child; t != HFI_NONE; t = kernel->nodes[t].next) room++;
    terms->term = hfi_memory_alloc(&terms->memory, room, sizeof *terms->term);
    if (!terms->term) return false;
    terms->smooth_radial = true;
    for (size_t t = kernel->nodes[kernel->root].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        const census found = count_factors(terms, t);
        if (found.white) continue; /* zero between the box and the anchors */
        hfi_term *term = &terms->term[terms->count++];
        if (!make_term(terms, t, &found, term)) return false;
        if (term->kind == HFI_TERM_GENERAL || (term->kind == HFI_TERM_RADIAL && term->order < 1))
            terms->smooth_radial = false;
    }
    return true;
}

hf_status hfi_terms_create(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *anchor,
                           const double *t, size_t free_count, const size_t *free, const double *middle,
                           const double *extent, hfi_terms **out)
{
    hfi_terms *terms = hfi_alloc(ctx, 1, sizeof *terms);
    if (!terms) return HF_ERR_MEMORY;
    *terms = (hfi_terms){.memory = hfi_context_memory(ctx),
                         .kernel = kernel,
                         .n = n,
                         .d = kernel->d,
                         .t = t,
                         .anchor = anchor,
                         .free_count = free_count,
                         .free = free,
                         .middle = middle,
                         .extent = extent};
    hf_status status = make_terms(terms) ? hfi_terms_norms(ctx, terms) : hfi_out_of_memory(ctx);
    if (status < 0) {
        hfi_terms_free(terms);
        return status;
    }
    *out = terms;
    return status;
}

void hfi_terms_free(hfi_terms *terms)
{
    if (!terms) return;
    const hfi_memory memory = terms->memory;
    for (size_t k = 0; terms->term && k < terms->count; k++) {
        hfi_term *term = &terms->term[k];
        HFI_MEMORY_FREE(&memory, term->factor, term->a, term->axis, term->scale, term->share, term->z,
                        term->reach, term->offset, term->features);
    }
    HFI_MEMORY_FREE(&memory, terms->term, terms);
}
