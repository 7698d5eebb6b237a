/* SPDX-License-Identifier: Apache-2.0 */
/* Sums that bounds of class probabilities need, once for a whole box; and probabilities at points. */
#include "softmax/classes.h"

#include "classify/classify.h"
#include "classify/softmax.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    MOST_JETS = 420,  /* of all classes together, of the second degree, about the whole box */
    LOCAL_JETS = 240, /* about its parts */
    HEAVY = 4000000   /* multiplications of a look at a point */
};

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* A priori the classes know nothing of each other, which the bounds of features rest on. */
static hf_status check_apart(hf_context *ctx, const hfi_classes *c)
{
    const hf_posterior *posterior = c->posterior;
    const hfi_solution *s = &posterior->solution;
    for (size_t i = 0; i < c->classes; i++)
        for (size_t j = 0; j < s->n; j++) {
            const double *middle = c->side[i].subject.middle, *z = s->z + j * c->d;
            if (z[c->d - 1] == (double)i || hfi_kernel_value(posterior->kernel, middle, z, false) == 0.0)
                continue;
            return hfi_refuse(ctx,
                              "the kernel must make the classes independent, but classes %zu and %g have a "
                              "covariance",
                              i, z[c->d - 1]);
        }
    return HF_OK;
}

static hf_status check_scaling(hf_context *ctx, const hfi_classes *c)
{
    const hfi_scaling *scaling = &c->posterior->scaling;
    for (size_t i = 0; i < c->classes; i++)
        if (hfi_scaling_shift(scaling, i) != 0.0 || hfi_scaling_scale(scaling, i) != 1.0)
            return hfi_refuse(ctx, "the classifier's latent functions are in other units than its link's");
    return HF_OK;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static hf_status place_side(hf_context *ctx, hfi_classes *c, size_t i)
{
    hfi_class *side = &c->side[i];
    const hfi_solution *s = &c->posterior->solution;
    const size_t d = c->d;
    side->sides = hfi_alloc(ctx, 3 * d, sizeof *side->sides);
    if (!side->sides) return HF_ERR_MEMORY;
    double *lower = side->sides, *upper = lower + d, *middle = upper + d;
    memcpy(lower, c->subject->lower, d * sizeof *lower);
    memcpy(upper, c->subject->upper, d * sizeof *upper);
    memcpy(middle, c->subject->middle, d * sizeof *middle);
    lower[d - 1] = upper[d - 1] = middle[d - 1] = (double)i;
    side->subject = *c->subject;
    side->subject.lower = lower;
    side->subject.upper = upper;
    side->subject.middle = middle;
    size_t first = s->n, end = 0;
    for (size_t k = 0; k < s->n; k++)
        if (s->z[k * d + d - 1] == (double)i) {
            if (first == s->n) first = k;
            end = k + 1;
        }
    if (end == 0) return hfi_refuse(ctx, "no anchor of the posterior is of class %zu", i);
    side->first = first;
    side->taylor = (hfi_taylor){
        .memory = c->memory, .subject = &side->subject, .m = c->m, .n = end - first, .condition = 1.0};
    if (end - first > c->widest) c->widest = end - first;
    return HF_OK;
}

static hf_status make_terms(hf_context *ctx, hfi_classes *c, size_t i, const double *gradient)
{
    hfi_class *side = &c->side[i];
    const hfi_solution *s = &c->posterior->solution;
    const hfi_subject *subject = &side->subject;
    side->taylor.mean_slope = hfi_alloc(ctx, c->m, sizeof *side->taylor.mean_slope);
    if (!side->taylor.mean_slope) return HF_ERR_MEMORY;
    for (size_t f = 0; f < c->m; f++) side->taylor.mean_slope[f] = gradient[subject->free[f]];
    return hfi_terms_create(ctx, c->posterior->kernel, side->taylor.n, s->z + side->first * c->d,
                            s->t + side->first, c->m, subject->free, subject->middle, subject->extent,
                            &side->taylor.terms);
}

/* Derivatives that the features of all classes have and the jets take. */
static void choose_degrees(hfi_classes *c)
{
    int most = 2;
    for (size_t i = 0; i < c->classes; i++) {
        const hfi_terms *terms = c->side[i].taylor.terms;
        for (size_t k = 0; k < terms->count; k++) {
            const hfi_term *term = &terms->term[k];
            int own = 2;
            if (term->kind == HFI_TERM_GENERAL) own = 0;
            if (term->kind == HFI_TERM_RADIAL) own = hfi_radial_degree(term->form);
            if (own < most) most = own;
        }
    }
    const size_t all = c->classes * hfi_jet_count(c->m, 2);
    c->degree = most == 2 && all > MOST_JETS ? 1 : most;
    c->local_degree = most == 2 && all > LOCAL_JETS ? 1 : most;
}

static void find_prior(hfi_classes *c, double *corner)
{
    const hfi_solution *s = &c->posterior->solution;
    for (size_t i = 0; i < c->classes; i++) {
        double here, there;
        const hfi_subject *subject = &c->side[i].subject;
        memcpy(corner, subject->middle, c->d * sizeof *corner);
        hfi_kernel_diagonal(c->posterior->kernel, 1, corner, c->d, true, &here);
        for (size_t f = 0; f < c->m; f++)
            corner[subject->free[f]] = fabs(corner[subject->free[f]]) + subject->extent[f];
        hfi_kernel_diagonal(c->posterior->kernel, 1, corner, c->d, true, &there);
        c->prior = fmax(c->prior, fmax(here, there));
    }
    double sum = 0.0;
    if (s->form == HFI_FORM_DENSE)
        for (size_t k = 0; k < s->n * s->rank; k++) sum += s->r[k] * s->r[k];
    c->factor_norm = sqrt(sum);
}

/* Rounding error of probabilities at the point: they move by at most half of what the largest
 * of the means does, plus an eighth of what all entries of the covariance do. */
static hf_status find_rounding(hf_context *ctx, hfi_classes *c)
{
    const double n = (double)c->classes;
    hf_status status = HF_OK;
    for (size_t i = 0; status >= 0 && i < c->classes; i++) {
        hfi_point_rounding own = {0.0, 0.0};
        hfi_taylor whole = c->side[i].taylor; /* columns have a part for every class */
        whole.n = c->posterior->solution.n;
        whole.condition = fmax(c->posterior->solution.condition, 1.0);
        whole.factor_norm = c->factor_norm;
        status = hfi_taylor_at_point(ctx, &whole, &own);
        c->rounding = fmax(c->rounding, 0.5 * own.mean + 0.125 * n * n * own.variance);
    }
    return status;
}

/* Sketches need them without bounds. */
static hf_status fill_whole_now(hf_context *ctx, hfi_classes *c)
{
    double *scratch = hfi_alloc(ctx, hfi_jets_scratch(c, c->degree, 1), sizeof *scratch);
    if (!scratch) return HF_ERR_MEMORY;
    hfi_jets_fill(c, 1, &c->whole, scratch);
    c->filled = true;
    hfi_free(ctx, scratch);
    return HF_OK;
}

static hf_status make_models(hf_context *ctx, hfi_classes *c)
{
    hf_status status = HF_OK;
    double *gradient = hfi_alloc(ctx, c->d, sizeof *gradient);
    if (!gradient) return HF_ERR_MEMORY;
    hfi_mean_input_gradient(c->posterior->mean, gradient);
    for (size_t i = 0; status >= 0 && i < c->classes; i++) status = make_terms(ctx, c, i, gradient);
    if (status >= 0) find_prior(c, gradient);
    if (status >= 0 && c->m == 0) {
        status = find_rounding(ctx, c);
    } else if (status >= 0) {
        choose_degrees(c);
        /* Sketches are looked at in place of points that take long. */
        status = HFI_ALLOC(ctx, HFI_ROOM(c->whole_room, hfi_jets_room(c, c->degree)),
                           HFI_ROOM(c->sketch, c->heavy ? hfi_classes_scratch(c) : c->m));
        if (status >= 0) {
            for (size_t f = 0; f < c->m; f++) c->sketch[f] = c->subject->middle[c->subject->free[f]];
            c->whole = hfi_jets_about(c, c->degree, c->sketch, c->subject->extent, c->whole_room);
            if (c->heavy) status = fill_whole_now(ctx, c);
        }
    }
    hfi_free(ctx, gradient);
    return status;
}

/* Doubles of a look: a row of every class, k, R'k of every class, weights and gradient, and what the link needs. */
typedef struct class_look {
    double *row;   /* C x d, solver's units */
    double *slope; /* 2 d */
    double *k;     /* 2 n */
    double *w;     /* (C + 1) x rank: R'k of each class, and a sum of them */
    double *room, *scratch;
    double *mean, *p, *third, *a, *of_mean; /* C, ... */
    double *covariance, *of_covariance;     /* C x C */
    double *link;
} class_look;

static size_t lay_out_class_look(const hfi_classes *c, double *room, class_look *l)
{
    const hfi_solution *s = &c->posterior->solution;
    const size_t n = c->classes;
    return HFI_LAY_OUT(
        room, HFI_ROOMS(l->row, n, c->d), HFI_ROOM(l->slope, 2 * c->d), HFI_ROOM(l->k, 2 * s->n),
        HFI_ROOMS(l->w, n + 1, hfi_solution_rank(s)), HFI_ROOM(l->room, hfi_solution_room(s, 1)),
        HFI_ROOM(l->scratch, hfi_kernel_scratch(c->posterior->kernel)), HFI_ROOM(l->mean, n),
        HFI_ROOM(l->p, n), HFI_ROOM(l->a, n), HFI_ROOM(l->of_mean, n), HFI_ROOM(l->third, hfi_third_count(n)),
        HFI_ROOMS(l->covariance, n, n), HFI_ROOMS(l->of_covariance, n, n),
        HFI_ROOM(l->link, hfi_softmax_scratch(n) + hfi_rules_scratch(&c->quick)));
}

hf_status hfi_classes_create(hf_context *ctx, const hf_posterior *posterior, const hfi_subject *subject,
                             size_t winner, const hfi_quantity *quantity, double tolerance, hfi_classes **out)
{
    hfi_classes *c = hfi_alloc(ctx, 1, sizeof *c);
    if (!c) return HF_ERR_MEMORY;
    *c = (hfi_classes){.memory = hfi_context_memory(ctx),
                       .posterior = posterior,
                       .subject = subject,
                       .quantity = quantity,
                       .winner = winner,
                       .classes = posterior->scaling.outputs,
                       .m = subject->free_count,
                       .d = subject->d,
                       .tolerance = tolerance,
                       .unit = hfi_largest_cost(posterior->scaling.outputs, quantity->loss)};
    const bool four = c->classes > 3;
    tolerance /= c->unit;
    c->side = hfi_alloc(ctx, c->classes, sizeof *c->side);
    hf_status status = c->side ? check_scaling(ctx, c) : HF_ERR_MEMORY;
    for (size_t i = 0; status >= 0 && i < c->classes; i++) status = place_side(ctx, c, i);
    if (status >= 0) status = check_apart(ctx, c);
    if (status >= 0)
        status = hfi_rules_create(ctx, c->classes,
                                  four ? fmin(fmax(1e-3 * tolerance, 1e-8), 1e-5)
                                       : fmin(fmax(1e-4 * tolerance, 1e-10), 1e-6),
                                  &c->quick);
    if (status >= 0) {
        c->heavy =
            (double)c->classes * (double)c->widest * (double)hfi_solution_rank(&posterior->solution) > HEAVY;
        class_look l;
        c->look = hfi_alloc(ctx, lay_out_class_look(c, NULL, &l), sizeof *c->look);
        if (!c->look) status = HF_ERR_MEMORY;
    }
    if (status >= 0) status = make_models(ctx, c);
    if (status < 0) {
        hfi_classes_free(c);
        return status;
    }
    *out = c;
    return status;
}

void hfi_classes_free(hfi_classes *c)
{
    if (!c) return;
    const hfi_memory memory = c->memory;
    for (size_t i = 0; c->side && i < c->classes; i++) {
        hfi_terms_free(c->side[i].taylor.terms);
        HFI_MEMORY_FREE(&memory, c->side[i].taylor.mean_slope, c->side[i].sides);
    }
    if (c->quick.z) hfi_rules_free(&c->quick);
    HFI_MEMORY_FREE(&memory, c->side, c->whole_room, c->look, c->sketch, c);
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* R'k of one class. */
static void whiten_class_column(const hfi_classes *c, size_t i, const class_look *l)
{
    const hfi_solution *s = &c->posterior->solution;
    const hfi_class *side = &c->side[i];
    const size_t rank = hfi_solution_rank(s), n = side->taylor.n;
    double *out = l->w + i * rank;
    if (s->form == HFI_FORM_DENSE) {
        hfi_gemv_t(n, rank, 1.0, s->r + side->first, s->n, l->k, 0.0, out);
        return;
    }
    size_t ld;
    memmove(l->k + side->first, l->k, n * sizeof *l->k);
    memset(l->k, 0, side->first * sizeof *l->k);
    memset(l->k + side->first + n, 0, (s->n - side->first - n) * sizeof *l->k);
    memcpy(out, hfi_solution_whiten(s, 1, l->k, s->n, l->room, &ld), rank * sizeof *out);
}

static void find_moments(const hfi_classes *c, const double *x, const class_look *l)
{
    const hf_posterior *posterior = c->posterior;
    const hfi_solution *s = &posterior->solution;
    const size_t n = c->classes, d = c->d, rank = hfi_solution_rank(s);
    for (size_t i = 0; i < n; i++) {
        const hfi_class *side = &c->side[i];
        double *row = l->row + i * d;
        hfi_scaling_inputs(&posterior->scaling, 1, x, d, row);
        row[d - 1] = (double)i;
        hfi_kernel_cross_block(posterior->kernel, 1, row, d, side->taylor.n, s->z + side->first * d, d, l->k,
                               side->taylor.n, l->scratch);
        hf_mean_evaluate(posterior->mean, 1, row, d, &l->mean[i]);
        l->mean[i] += hfi_dot(side->taylor.n, l->k, s->t + side->first);
        whiten_class_column(c, i, l);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double value = -hfi_dot(rank, l->w + i * rank, l->w + j * rank);
            if (i == j)
                value = hfi_variance_clamp(
                    value + hfi_kernel_value(posterior->kernel, l->row + i * d, l->row + i * d, true));
            l->covariance[i * n + j] = l->covariance[j * n + i] = value;
        }
}

void hfi_classes_look(hfi_classes *c, const double *x, double *p)
{
    class_look l;
    (void)lay_out_class_look(c, c->look, &l);
    find_moments(c, x, &l);
    hfi_softmax_probability(c->classes, l.mean, l.covariance, p, NULL, l.link);
}

/* sum_i w_i dm_i + sum_ij H_ij dS_ij / 2 with dS_ij = - dk_i' S k_j - ...: of class i the weights of its
 * anchors are w_i t - S sum_j H_ij k_j. */
static void find_gradient(const hfi_classes *c, const class_look *l, double *gradient)
{
    const hf_posterior *posterior = c->posterior;
    const hfi_solution *s = &posterior->solution;
    const size_t n = c->classes, d = c->d, rank = hfi_solution_rank(s);
    double *sum = l->w + n * rank, *slope = l->slope, *of_prior = l->slope + d, *weights = l->k + s->n;
    hfi_moments_slopes(n, l->third, l->a, l->of_mean, l->of_covariance);
    memset(slope, 0, d * sizeof *slope);
    for (size_t i = 0; i < n; i++) {
        const hfi_class *side = &c->side[i];
        memset(sum, 0, rank * sizeof *sum);
        for (size_t j = 0; j < n; j++)
            hfi_add_multiple(rank, l->of_covariance[i * n + j], l->w + j * rank, sum);
        if (s->form == HFI_FORM_DENSE)
            hfi_gemv(side->taylor.n, rank, 1.0, s->r + side->first, s->n, sum, 0.0, weights + side->first);
        else
            hfi_solution_spread(s, sum, weights);
        for (size_t k = side->first; k < side->first + side->taylor.n; k++)
            weights[k] = l->of_mean[i] * s->t[k] - weights[k];
        memset(of_prior, 0, d * sizeof *of_prior);
        hfi_kernel_diagonal_input_gradient(posterior->kernel, l->row + i * d, of_prior);
        hfi_add_multiple(d, 0.5 * l->of_covariance[i * (n + 1)], of_prior, slope);
        memset(of_prior, 0, d * sizeof *of_prior);
        hfi_mean_input_gradient(posterior->mean, of_prior);
        hfi_add_multiple(d, l->of_mean[i], of_prior, slope);
        hfi_kernel_input_gradient(posterior->kernel, l->row + i * d, side->taylor.n, s->z + side->first * d,
                                  d, weights + side->first, slope, l->scratch);
    }
    for (size_t j = 0; j + 1 < d; j++) gradient[j] = slope[j] / posterior->scaling.x_scale[j];
}

double hfi_classes_point(hfi_classes *c, const double *x, double *error)
{
    class_look l;
    (void)lay_out_class_look(c, c->look, &l);
    find_moments(c, x, &l);
    hfi_softmax_probability(c->classes, l.mean, l.covariance, l.p, error, l.link);
    /* Twice the three standard errors of the estimate. */
    if (hfi_softmax_is_estimate(c->classes)) *error *= 2.0;
    *error += c->rounding;
    double size;
    const double least = hfi_classes_least(c, l.p, l.a, l.of_mean);
    (void)hfi_classes_centre(c->classes, l.a, &size);
    *error *= size;
    return least;
}

double hfi_classes_value(hfi_classes *c, const double *x, double *gradient)
{
    class_look l;
    (void)lay_out_class_look(c, c->look, &l);
    const size_t n = c->classes;
    find_moments(c, x, &l);
    if (gradient)
        (void)hfi_moments(&c->quick, l.mean, l.covariance, l.p, l.third, l.link);
    else
        hfi_softmax_probability(n, l.mean, l.covariance, l.p, NULL, l.link);
    const double least = hfi_classes_least(c, l.p, l.a, l.of_mean);
    if (gradient) find_gradient(c, &l, gradient);
    return least;
}
