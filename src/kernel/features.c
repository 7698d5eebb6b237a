/* SPDX-License-Identifier: Apache-2.0 */
/* Random features of a kernel's prior: drawn by walking its tree once for each feature. Where a factor of a
 * product is a sum, one of its terms is picked. */
#include "kernel/features.h"

#include "kernel/coregion.h"
#include "kernel/loops.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    CHUNK = 128 /* features that are evaluated side by side */
};

/* A number that the wave is multiplied with. */
typedef enum factor_kind {
    LINEAR, /* numbers' x, d numbers */
    TABLE,  /* the number of the output in `column`, `size` numbers */
    SIGN,   /* 1 or -1, by the code in `column` and the key */
} factor_kind;

struct hfi_feature_factor {
    factor_kind kind;
    size_t column, size;
    size_t at; /* first of its numbers */
    uint64_t key;
};

typedef struct drawing {
    const hf_kernel *kernel;
    hfi_stream *stream;
    hfi_features *out;
    size_t stride;                     /* features there will be */
    size_t factor_count, number_count; /* so far */
    double *frequency, amplitude;      /* d, and one: of the feature that is being drawn */
} drawing;

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

/* Adds a normal frequency, scaled, for each column. */
static void normal_frequencies(drawing *w, const hfi_leaf *leaf, double scale)
{
    for (size_t a = 0; a < leaf->columns; a++)
        w->frequency[hfi_leaf_column(w->kernel, leaf, a)] +=
            scale * hfi_stream_normal(w->stream) / hfi_leaf_entry(w->kernel, leaf, HFI_FIELD_LENGTHSCALE, a);
}

static void se_frequencies(drawing *w, const hfi_leaf *leaf)
{
    normal_frequencies(w, leaf, 1.0);
}

/* The spectral density of Matern nu is a multivariate t of 2 nu degrees of freedom. */
static void matern_frequencies(drawing *w, const hfi_leaf *leaf)
{
    const double nu = leaf->form == HFI_FORM_MATERN12 ? 0.5 : leaf->form == HFI_FORM_MATERN32 ? 1.5 : 2.5;
    normal_frequencies(w, leaf, sqrt(nu / hfi_stream_gamma(w->stream, nu)));
}

/* (1 + r^2 / (2 alpha))^-alpha is the mean of exp(-g r^2 / 2), g gamma of shape alpha and mean 1. */
static void rq_frequencies(drawing *w, const hfi_leaf *leaf)
{
    const double alpha = w->kernel->value[hfi_leaf_at(leaf, HFI_FIELD_ALPHA)];
    normal_frequencies(w, leaf, sqrt(hfi_stream_gamma(w->stream, alpha) / alpha));
}

/* exp(-2 sin^2(u/2)/l^2) = sum_j exp(-c) I_j(c) cos(j u), c = 1/l^2: probabilities of the difference of two
 * Poissons of mean c/2. */
static void periodic_frequencies(drawing *w, const hfi_leaf *leaf)
{
    for (size_t a = 0; a < leaf->columns; a++) {
        const double l = hfi_leaf_entry(w->kernel, leaf, HFI_FIELD_LENGTHSCALE, a), mean = 0.5 / l / l;
        const double up = hfi_stream_poisson(w->stream, mean), down = hfi_stream_poisson(w->stream, mean);
        w->frequency[hfi_leaf_column(w->kernel, leaf, a)] +=
            2.0 * HFI_PI * (up - down) / hfi_leaf_entry(w->kernel, leaf, HFI_FIELD_PERIOD, a);
    }
}

/* One component, by its weight; in each column to the left or to the right. */
static void spectral_frequencies(drawing *w, const hfi_leaf *leaf)
{
    const double *value = w->kernel->value, *weight = value + hfi_leaf_at(leaf, HFI_FIELD_WEIGHT);
    double all = 0.0;
    for (size_t q = 0; q < leaf->components; q++) all += weight[q];
    double left = all * hfi_stream_uniform(w->stream);
    size_t q = 0;
    while (q + 1 < leaf->components && left >= weight[q]) left -= weight[q++];
    w->amplitude *= sqrt(all);
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t p = q * leaf->columns + a;
        const double mean = value[hfi_leaf_at(leaf, HFI_FIELD_MEAN) + p];
        const double sd = sqrt(value[hfi_leaf_at(leaf, HFI_FIELD_VARIANCE) + p]);
        const double sign = hfi_stream_bits(w->stream) >> 63 ? -1.0 : 1.0;
        w->frequency[hfi_leaf_column(w->kernel, leaf, a)] +=
            2.0 * HFI_PI * (sign * mean + sd * hfi_stream_normal(w->stream));
    }
}

/* cos u is half of a wave to the left and half of one to the right. */
static void plane_frequencies(drawing *w, const hfi_leaf *leaf)
{
    const double sign = hfi_stream_bits(w->stream) >> 63 ? -1.0 : 1.0;
    for (size_t a = 0; a < leaf->columns; a++)
        w->frequency[hfi_leaf_column(w->kernel, leaf, a)] +=
            sign * 2.0 * HFI_PI * hfi_leaf_entry(w->kernel, leaf, HFI_FIELD_FREQUENCY, a);
}

static double *add_factor(drawing *w, factor_kind kind, size_t column, size_t size)
{
    w->out->factors[w->factor_count++] = (hfi_feature_factor){kind, column, size, w->number_count,
                                                              kind == SIGN ? hfi_stream_bits(w->stream) : 0};
    double *numbers = w->out->numbers + w->number_count;
    w->number_count += size;
    return numbers;
}

static void linear_factor(drawing *w, const hfi_leaf *leaf)
{
    double *slope = add_factor(w, LINEAR, 0, w->kernel->d);
    for (size_t a = 0; a < leaf->columns; a++)
        slope[hfi_leaf_column(w->kernel, leaf, a)] +=
            sqrt(hfi_leaf_entry(w->kernel, leaf, HFI_FIELD_VARIANCE, a)) * hfi_stream_normal(w->stream);
}

static void constant_factor(drawing *w, const hfi_leaf *leaf)
{
    w->amplitude *= sqrt(w->kernel->value[leaf->first]);
}

/* B = W W' + diag(own). */
static void coregion_factor(drawing *w, const hfi_leaf *leaf)
{
    double *table = add_factor(w, TABLE, w->kernel->columns[leaf->column_at], leaf->outputs);
    const double *value = w->kernel->value + leaf->first;
    const size_t *row = w->kernel->row_of + leaf->pairs_at, own = hfi_coregion_factors(leaf);
    for (size_t q = 0; q < leaf->rank; q++) {
        const double weight = hfi_stream_normal(w->stream);
        for (size_t s = 0; s < leaf->outputs; s++)
            if (q < hfi_coregion_length(leaf, row[s]))
                table[s] += value[hfi_coregion_row(leaf, row[s]) + q] * weight;
    }
    for (size_t s = 0; s < leaf->outputs && leaf->rank < leaf->outputs; s++)
        table[s] += sqrt(value[own + row[s]]) * hfi_stream_normal(w->stream);
}

/* rho + (1 - rho) [c = c'], rho = exp(-1/l), for each column: 1, or independent signs of the codes. */
static void category_factor(drawing *w, const hfi_leaf *leaf)
{
    for (size_t a = 0; a < leaf->columns; a++)
        if (hfi_stream_uniform(w->stream) >
            exp(-1.0 / hfi_leaf_entry(w->kernel, leaf, HFI_FIELD_LENGTHSCALE, a)))
            add_factor(w, SIGN, hfi_leaf_column(w->kernel, leaf, a), 0);
}

/* How a feature of a product is drawn from each of its leaves; NULL: there is no function to draw. */
static void (*const draw_leaf[HFI_FORMS])(drawing *w, const hfi_leaf *leaf) = {
    [HFI_FORM_SE] = se_frequencies,           [HFI_FORM_MATERN12] = matern_frequencies,
    [HFI_FORM_MATERN32] = matern_frequencies, [HFI_FORM_MATERN52] = matern_frequencies,
    [HFI_FORM_RQ] = rq_frequencies,           [HFI_FORM_PERIODIC] = periodic_frequencies,
    [HFI_FORM_SM] = spectral_frequencies,     [HFI_FORM_WAVE] = plane_frequencies,
    [HFI_FORM_LINEAR] = linear_factor,        [HFI_FORM_CONSTANT] = constant_factor,
    [HFI_FORM_COREGION] = coregion_factor,    [HFI_FORM_CATEGORY] = category_factor,
};

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static size_t children(const hf_kernel *kernel, size_t node)
{
    size_t count = 0;
    for (size_t c = kernel->nodes[node].child; c != HFI_NONE; c = kernel->nodes[c].next) count++;
    return count;
}

static void draw_term(drawing *w, size_t term)
{
    const hfi_node *nodes = w->kernel->nodes;
    if (nodes[term].scale != HFI_NONE) w->amplitude *= sqrt(w->kernel->value[nodes[term].scale]);
    for (size_t c = nodes[term].child; c != HFI_NONE; c = nodes[c].next) {
        if (nodes[c].kind == HFI_NODE_LEAF) {
            const hfi_leaf *leaf = &w->kernel->leaves[nodes[c].leaf];
            draw_leaf[leaf->form](w, leaf);
            continue;
        }
        const size_t terms = children(w->kernel, c);
        size_t picked = nodes[c].child;
        for (size_t left = hfi_stream_below(w->stream, terms); left > 0; left--) picked = nodes[picked].next;
        w->amplitude *= sqrt((double)terms);
        draw_term(w, picked);
    }
}

/* A term that one feature draws exactly: constants, and at most one linear or coregion. */
static bool is_finite(const hf_kernel *kernel, size_t term, bool *random)
{
    size_t others = 0;
    for (size_t c = kernel->nodes[term].child; c != HFI_NONE; c = kernel->nodes[c].next) {
        if (kernel->nodes[c].kind != HFI_NODE_LEAF) return false;
        const hfi_form form = kernel->leaves[kernel->nodes[c].leaf].form;
        if (form == HFI_FORM_LINEAR || form == HFI_FORM_COREGION)
            others++;
        else if (form != HFI_FORM_CONSTANT)
            return false;
    }
    *random = others == 1;
    return others <= 1;
}

/* Factors and numbers that a feature of a term may have. */
static void count_factors(const hf_kernel *kernel, size_t node, size_t *factors, size_t *numbers)
{
    for (size_t c = kernel->nodes[node].child; c != HFI_NONE; c = kernel->nodes[c].next) {
        if (kernel->nodes[c].kind != HFI_NODE_LEAF) {
            count_factors(kernel, c, factors, numbers);
            continue;
        }
        const hfi_leaf *leaf = &kernel->leaves[kernel->nodes[c].leaf];
        if (leaf->form == HFI_FORM_CATEGORY) *factors += leaf->columns;
        if (leaf->form != HFI_FORM_LINEAR && leaf->form != HFI_FORM_COREGION) continue;
        *factors += 1;
        *numbers += leaf->form == HFI_FORM_LINEAR ? kernel->d : leaf->outputs;
    }
}

/* ---- the features ------------------------------------------------------------------------------------------------ */

static hf_status check_drawable_leaves(hf_context *ctx, const hf_kernel *kernel)
{
    for (size_t l = 0; l < kernel->leaf_count; l++)
        if (draw_leaf[kernel->leaves[l].form] == NULL)
            return hfi_refuse(ctx, "no function can be drawn from a posterior with the kernel '%s' (in %s)",
                              hfi_form_name(kernel->leaves[l].form), kernel->expression);
    return HF_OK;
}

static hf_status allocate_features(hf_context *ctx, const hf_kernel *kernel, size_t each, hfi_features *out)
{
    size_t count = 0, factors = 0, numbers = 0;
    bool random;
    for (size_t t = kernel->nodes[kernel->root].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        const size_t here = is_finite(kernel, t, &random) ? 1 : each;
        size_t own_factors = 0, own_numbers = 0;
        count_factors(kernel, t, &own_factors, &own_numbers);
        if (own_numbers > 0 && here > (SIZE_MAX >> 8) / own_numbers) return hfi_out_of_memory(ctx);
        count += here;
        factors += here * own_factors;
        numbers += here * own_numbers;
    }
    *out = (hfi_features){.memory = hfi_context_memory(ctx), .d = kernel->d, .count = count};
    const hf_status status =
        HFI_ALLOC(ctx, HFI_ROOMS(out->frequency, count, kernel->d), HFI_ROOM(out->phase, count),
                  HFI_ROOM(out->amplitude, count), HFI_ROOM(out->first, count + 1),
                  HFI_ROOM(out->factors, factors), HFI_ROOM(out->numbers, numbers));
    if (status < 0) hfi_features_free(out);
    return status;
}

/* `share` of the term's variance. With a weight of its own: two normal weights of cosine and sine are a
 * Rayleigh amplitude and a uniform phase. */
static void draw_feature(drawing *w, size_t term, double share, bool weighted)
{
    hfi_features *out = w->out;
    const size_t i = out->count++;
    memset(w->frequency, 0, out->d * sizeof *w->frequency);
    w->amplitude = sqrt(share);
    draw_term(w, term);
    for (size_t j = 0; j < out->d; j++) out->frequency[j * w->stride + i] = w->frequency[j];
    if (weighted) {
        w->amplitude *= sqrt(-2.0 * log(hfi_stream_uniform(w->stream)));
        out->phase[i] = 2.0 * HFI_PI * hfi_stream_uniform(w->stream);
    }
    out->amplitude[i] = w->amplitude;
    out->first[i + 1] = w->factor_count;
}

hf_status hfi_features_create(hf_context *ctx, const hf_kernel *kernel, size_t features_of_each,
                              hfi_stream *stream, hfi_features *out)
{
    hf_status status = check_drawable_leaves(ctx, kernel);
    if (status >= 0) status = allocate_features(ctx, kernel, features_of_each, out);
    if (status < 0) return status;
    drawing w = {.kernel = kernel, .stream = stream, .out = out, .stride = out->count};
    w.frequency = hfi_alloc(ctx, kernel->d, sizeof *w.frequency);
    if (w.frequency == NULL) {
        hfi_features_free(out);
        return HF_ERR_MEMORY;
    }
    out->count = 0;
    for (size_t t = kernel->nodes[kernel->root].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        bool random = false;
        const size_t here = is_finite(kernel, t, &random) ? 1 : features_of_each;
        for (size_t i = 0; i < here; i++) draw_feature(&w, t, 1.0 / (double)here, !random);
    }
    hfi_free(ctx, w.frequency);
    return HF_OK;
}

void hfi_features_free(hfi_features *features)
{
    if (features->memory.release != NULL) {
        HFI_MEMORY_FREE(&features->memory, features->frequency, features->phase, features->amplitude,
                        features->first, features->factors, features->numbers);
    }
    memset(features, 0, sizeof *features);
}

/* One bit of a mixture of key and code (splitmix64's). */
static double sign_of(uint64_t key, double code)
{
    const double whole = hfi_code_of(code) + 0.0; /* -0 is 0 */
    uint64_t bits;
    memcpy(&bits, &whole, sizeof bits);
    bits ^= key;
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (bits ^ (bits >> 31)) >> 63 ? -1.0 : 1.0;
}

static double factor_value(const hfi_features *f, const hfi_feature_factor *factor, const double *x)
{
    const double *numbers = f->numbers + factor->at;
    if (factor->kind == SIGN) return sign_of(factor->key, x[factor->column]);
    if (factor->kind == TABLE) return numbers[hfi_output_of(x[factor->column], factor->size)];
    double sum = 0.0;
    for (size_t j = 0; j < f->d; j++) sum += numbers[j] * x[j];
    return sum;
}

/* The product of feature i's factors, but for one (HFI_NONE: all). */
static double product(const hfi_features *f, size_t i, size_t but, const double *x)
{
    double value = f->amplitude[i];
    for (size_t k = f->first[i]; k < f->first[i + 1]; k++)
        if (k != but) value *= factor_value(f, &f->factors[k], x);
    return value;
}

static void add_weighted_row(size_t d, double weight, const double *from, double *to)
{
    for (size_t j = 0; j < d; j++) to[j] += weight * from[j];
}

/* Features first .. first + count - 1: their sum, and the slopes are added. */
static double chunk_sum(const hfi_features *f, size_t first, size_t count, const double *x, double *gradient)
{
    double phase[CHUNK], cosine[CHUNK], sine[CHUNK], amplitude[CHUNK], sum = 0.0;
    const double *frequency = f->frequency + first;
    memcpy(phase, f->phase + first, count * sizeof *phase);
    hfi_loop_phases(count, f->d, frequency, f->count, x, phase);
    hfi_loop_cosines(count, phase, cosine);
    for (size_t i = 0; i < count; i++) {
        amplitude[i] = product(f, first + i, HFI_NONE, x);
        sum += amplitude[i] * cosine[i];
    }
    if (gradient == NULL) return sum;
    hfi_loop_sines(count, phase, sine);
    for (size_t i = 0; i < count; i++) sine[i] *= amplitude[i];
    for (size_t j = 0; j < f->d; j++) gradient[j] -= hfi_dot(count, sine, frequency + j * f->count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = f->first[first + i]; k < f->first[first + i + 1]; k++)
            if (f->factors[k].kind == LINEAR)
                add_weighted_row(f->d, cosine[i] * product(f, first + i, k, x), f->numbers + f->factors[k].at,
                                 gradient);
    return sum;
}

double hfi_features_evaluate(const hfi_features *f, const double *x, double *gradient)
{
    double sum = 0.0;
    for (size_t first = 0; first < f->count; first += CHUNK)
        sum += chunk_sum(f, first, f->count - first < CHUNK ? f->count - first : CHUNK, x, gradient);
    return sum;
}
