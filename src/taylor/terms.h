/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file terms.h
 * @brief The posterior mean as a sum over the kernel's terms, as functions of the free inputs
 * alone.
 *
 *     mean(x) - m(x) = sum_t f_t(x),        f_t(x) = sum_i t_i k_t(x, z_i)
 *
 * f_t lies in the space of k_t with the norm (t'K_t t)^(1/2). The inputs that are fixed go into one
 * factor per anchor of the term, and one of these is left
 *
 *     constant   f_t = sum_i a_i
 *     radial     f_t(x) = sum_i a_i psi(|(x - z_i) / l|^2 + o_i) over the free columns of the leaf;
 *     o_i is the squared distance along fixed ones (0 for se, which moves it into a_i)
 *     general    products of several kernels of free inputs: kept as a part of the tree, for jets
 *
 * Products of se kernels are one se kernel.
 */
#ifndef HFI_TAYLOR_TERMS_H
#define HFI_TAYLOR_TERMS_H

#include "core/core.h"
#include "taylor/loops.h"
#include <holdfast/kernel.h>

typedef enum hfi_term_kind {
    HFI_TERM_CONSTANT,
    HFI_TERM_RADIAL,
    HFI_TERM_GENERAL
} hfi_term_kind;

#define HFI_LEVELS 24u

/** The anchors of a term in two parts: those nearest to the box count by their norm, the others by
 * their own third derivatives, which fall quickly with the distance. */
typedef struct hfi_level {
    double norm; /* of the near part, rounded up */
    /* |D^3 of the far part| in a direction of scaled length 1, anywhere in the box; infinite where
     * unknown */
    double far;
} hfi_level;

typedef struct hfi_term {
    hfi_term_kind kind;
    size_t node; /* TERM of the kernel's tree */
    int order;   /* derivatives that its features have: 0 to 3, 3 standing for more */
    /* constant, radial: k_fixed(c, c), so that k_t(x, x') = self psi for two points of the box */
    double self;
    double *factor; /* n: k_fixed(c, z_i); constant, radial */
    double *a;      /* n: t_i factor_i */
    double total;   /* sum a_i */
    double size;    /* sum |a_i|; general: sum |t_i| k(z_i, z_i)^(1/2) */
    /* radial: the nearest anchors, more and more of them; the last holds all */
    hfi_level level[HFI_LEVELS];
    /* of f_t, rounded up: radial in the space of psi, general in that of the whole kernel */
    double norm;
    /* general */
    double *share; /* free_count: how quickly the term changes along each, about */
    double phase;  /* 1 + the largest argument of a wave: its rounding is relative to it */
    /* radial */
    hfi_form form;
    double alpha;
    size_t far_leaf; /* the leaf, unless it is se */
    size_t axes;     /* free inputs it sees */
    size_t *axis;    /* their positions among the free inputs */
    double *scale;   /* lengthscales */
    double *z;       /* n x axes column-major: (z - middle) / scale */
    double *reach;   /* largest |z| of an axis */
    double *offset;  /* n: o_i, or NULL when none */
    /* n x hfi_term_columns(): 1, z_a, z_a z_b (a <= b); NULL where that is too much */
    double *features;
} hfi_term;

typedef struct hfi_terms {
    hfi_memory memory;
    const hf_kernel *kernel;
    size_t n, d;
    const double *t;      /* n */
    const double *anchor; /* n x d row-major */
    size_t free_count;
    const size_t *free;
    const double *middle; /* d */
    size_t count;
    hfi_term *term;
    const double *extent; /* free_count: half-widths of the whole box */
    /* all terms are constant or radial with a derivative: the features have gradients that are
     * known */
    bool smooth_radial;
} hfi_terms;

/** Takes the kernel apart and finds the norms, O(n^2) kernel values. All arrays stay the caller's;
 * the number of an output must be fixed. */
hf_status hfi_terms_create(hf_context *ctx, const hf_kernel *kernel, size_t n, const double *anchor,
                           const double *t, size_t free_count, const size_t *free,
                           const double *middle, const double *extent, hfi_terms **out);
void hfi_terms_free(hfi_terms *terms);
/** Units of DBL_EPSILON that a covariance of x (d entries) and an anchor may be off, of (k(x, x)
 * k(z, z))^(1/2): a few for each operation, and what the arguments' rounding does, which is
 * relative to how far out x and anchors are. */
double hfi_terms_units(const hfi_terms *terms, const double *x);

/** 1 + axes + axes (axes + 1) / 2 */
size_t hfi_term_columns(size_t axes);

/** Per unit of the norm, anywhere in a box: how far a function can be from its Taylor polynomial at
 * the centre, from its value there, and from 0. */
typedef struct hfi_constants {
    double remainder; /* polynomial of degree order - 1, or 0 where order is 0 */
    double distance;
    double size;
    double orders; /* of value, slope and curvature together, as far as the term has them */
} hfi_constants;
/** Constants of a TERM of the tree in the box of half-widths `half` (free_count entries) around
 * `centre` (d). */
void hfi_general_constants(const hfi_terms *terms, size_t node, int order, const double *centre,
                           const double *half, hfi_constants *out);
/** Radial terms, per unit of norm in the space of psi, in a box with tau = |half / scale|: of the
 * polynomial of the degree that hfi_radial_degree() says. */
int hfi_radial_degree(hfi_form form);
double hfi_radial_remainder(hfi_form form, double alpha, double tau);
/** Bound of the third derivative of psi(|u|^2) in a direction of length 1, for all u with |u|^2 >=
 * q; infinite where q < 3 or the form has none. Decreasing. */
double hfi_radial_third(hfi_form form, double alpha, double q);
double hfi_radial_linear_remainder(hfi_form form, double alpha,
                                   double tau); /* of degree 1, infinite for matern12 */
double hfi_radial_distance_bound(hfi_form form, double alpha, double tau);
/** Derivative along an axis by that half-width times: how far it can be from its Taylor polynomial
 * of degree 1 (se, rq) or 0 (matern52); infinite for the others. v = half / scale. */
double hfi_radial_slope_remainder(hfi_form form, double alpha, double tau, double v);
/** The largest third derivative of psi(|u|^2) in a direction of length 1, for all |u|^2 >= q; se
 * and matern52. */
double hfi_radial_third_size(hfi_form form, double alpha, double q);
/** How many times what hfi_taylor_square_estimate() counts of a term there has to be to show for
 * its model to be worth making; measured, of se and matern52. */
double hfi_radial_square_share(hfi_form form);
/** Bounds of |2 psi'| and |4 psi''|, which are their sizes at 0; 0 where there is no derivative. */
double hfi_radial_slope_bound(hfi_form form);
double hfi_radial_curve_bound(hfi_form form, double alpha);

/** sum += weight_i (value, gradient, Hessian) of a general term at x (d entries) and each anchor,
 * hfi_term_columns(free_count) numbers in the order of the features; those of a degree of the
 * term's order or more are left alone. O(n free_count^2). */
void hfi_general_jet(const hfi_terms *terms, const hfi_term *term, const double *x,
                     const double *weight, double *sum, double *scratch);
size_t hfi_general_scratch(const hfi_terms *terms);

/** Whether a factor of a term looks at a free input. */
bool hfi_factor_is_free(const hfi_terms *terms, size_t factor);
/** The norms of all terms. O(n^2) kernel values, threads. */
hf_status hfi_terms_norms(hf_context *ctx, hfi_terms *terms);

#endif
