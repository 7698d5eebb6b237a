/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file taylor.h
 * @brief Taylor bounds: quadratic models of mean and standard deviation over boxes, with what they
 * may be off.
 *
 * In the solver's units; u in [-1, 1]^m are the coordinates of a box of the free inputs, x = centre
 * + half u.
 */
#ifndef HFI_TAYLOR_TAYLOR_H
#define HFI_TAYLOR_TAYLOR_H

#include "bound/subject.h"
#include "branch/search.h"
#include "taylor/terms.h"

typedef struct hfi_taylor {
    hfi_memory memory;
    const hfi_subject *subject;
    hfi_terms *terms;
    size_t m, n;
    double *mean_slope; /* m: of the prior mean */
    double condition;   /* of K + D, scaled to a unit diagonal if that is better; exact form */
    double factor_norm; /* Frobenius norm of a dense R, else 0 */
} hfi_taylor;

/** The mean in one box:  | mean(x) - (value + g'u + u'H u / 2) | <= remainder + rounding. */
typedef struct hfi_mean_model {
    double value;
    double *g, *h; /* m, m x m; the caller's */
    double remainder;
    /* The ends of the mean's range over the box are within `outside` of those of the quadratic
     * function, has_cubic: with T(u, u, u) / 6 added. */
    double outside;
    /* T, m x m x m; the caller's, NULL where neither of the functions below that fill it is
     * called */
    double *cubic;
    bool has_cubic;
    double rounding;
    double crude_lower,
        /* of the mean, by cruder means that are better in large boxes; rounding not taken off */
        crude_upper;
    /* m: how far d mean / du_a can be from (g + H u)_a; infinite where unknown. The caller's */
    double *slope_error;
    double *remainder_share; /* m: shares of the remainder, for splitting. The caller's */
} hfi_mean_model;

hf_status hfi_taylor_create(hf_context *ctx, const hfi_subject *subject, hfi_taylor **out);
void hfi_taylor_free(hfi_taylor *taylor);
/** Whether there is a term of which the models know no slope, so that other bounds of means may be
 * narrower. */
bool hfi_taylor_is_rough(const hfi_taylor *taylor);

/** Where a box is in units of a term, and its half-widths w in them (axes each); returns |w|,
 * rounded up. */
double hfi_taylor_place(const hfi_taylor *taylor, const hfi_term *term, const double *centre,
                        const double *half, double *x, double *w);
/** A-priori rounding of value, gradient and Hessian of sum_i weight_i k(x, z_i) in a radial term;
 * after hfi_taylor_place(). `size` is the sum of the sizes of weight_i factor_i. */
double hfi_term_rounding(const hfi_term *term, size_t n, double size, double tau, const double *x,
                         const double *w);
/** Models of `count` <= HFI_TOGETHER boxes: centre count x d, half count x m. Serial, no
 * allocation; scratch hfi_taylor_mean_scratch(). */
void hfi_taylor_mean(const hfi_taylor *taylor, size_t count, const double *centre,
                     const double *half, hfi_mean_model *models, double *scratch);
size_t hfi_taylor_mean_scratch(const hfi_taylor *taylor);

/** Whether models of third degree can be made: all that moves are few inputs of terms in se and
 * matern52. */
bool hfi_taylor_has_third(const hfi_taylor *taylor);
/** Gives a model that hfi_taylor_mean() made its cubic terms, the mean's own third derivatives,
 * where what is left then is less: `outside`, and remainder and slope_error where they gain. O(n
 * m^3 / 3). Serial, no allocation; only where it can. */
void hfi_taylor_third(const hfi_taylor *taylor, const double *centre, const double *half,
                      hfi_mean_model *model, double *scratch);
size_t hfi_taylor_third_scratch(const hfi_taylor *taylor);

/** Whether a model can be made sharper: one se term is all that moves beside the prior mean, and
 * few inputs do. */
bool hfi_taylor_can_sharpen(const hfi_taylor *taylor);
/** Sharpens a model that hfi_taylor_mean() made, by what the posterior mean is around the box's
 * centre: remainder, slope_error and their shares, and its cubic terms. O(n^2 m) for the n anchors
 * that matter, at most some 2000. Serial, no allocation; only where it can. */
void hfi_taylor_sharpen(const hfi_taylor *taylor, const double *centre, const double *half,
                        hfi_mean_model *model, double *scratch);
size_t hfi_taylor_sharpen_scratch(const hfi_taylor *taylor);

/** The standard deviation in one box. With the posterior's features phi (white noise being one
 * more, which does not move),
 *
 *     | |phi(x)| - |phi(c) + J u| | <= remainder,   |phi(c) + J u|^2 = var + 2 b'u + u'G u,
 *     | |phi(x)| - |phi(c)| | <= distance
 */
typedef struct hfi_spread_model {
    double var;
    double *b, *g;    /* m, m x m; the caller's */
    double remainder; /* infinite where the features' gradients are not known */
    double distance;
    double white_fall,
        /* white variance, where it depends on the inputs: at most so far below and above that at
         * the centre */
        white_rise;
    double ceiling;          /* |phi(x)| in the box is at most this: the prior's */
    double noise;            /* of a new reading, in none of the above: of bounds.c */
    double rounding;         /* of var and of the quadratic function, anywhere in the box */
    double *remainder_share; /* m */
    /* The whitened columns of features and slopes at the centre, in the scratch of the call. */
    double *white;
    size_t white_ld;
    bool solved; /* hfi_taylor_spread_on() has been there */
} hfi_spread_model;

/** Models of `count` <= HFI_TOGETHER boxes, whose columns are whitened together: centre count x d,
 * half count x m. Serial, no allocation. */
void hfi_taylor_spread(const hfi_taylor *taylor, size_t count, const double *centre,
                       const double *half, hfi_spread_model *models, double *scratch);
size_t hfi_taylor_spread_scratch(const hfi_taylor *taylor);

/** The squared length of the features in one box, as a polynomial of third degree:
 *
 *     -below - rounding <= |phi(x)|^2 - (var + g'u + u'H u / 2 + T(u, u, u) / 6) <= above +
 *     rounding
 */
typedef struct hfi_square_model {
    double *g, *h, *t;   /* m, m x m, m x m x m; the caller's */
    double below, above; /* infinite where it says nothing */
    double rounding;     /* var's own among it */
    double *slope_error; /* m: how far d |phi|^2 / du_a can be from (g + H u)_a. The caller's */
    double *share;       /* m: shares of below and above. The caller's */
} hfi_square_model;

/** Makes of the whitened columns of `count` boxes, in the order hfi_taylor_spread() had them in, S
 * times the columns, by one solve: the triangle is read once. For exact solutions; others keep
 * theirs. */
void hfi_taylor_spread_on(const hfi_taylor *taylor, size_t count, hfi_spread_model *models);
/** Whether there is such a model: white noise does not move, and hfi_taylor_has_third(). */
bool hfi_taylor_has_square(const hfi_taylor *taylor);
/** Model of a box whose features hfi_taylor_spread() has just had, in scratch that is as it was
 * left. O(m n^2 + n m^3). Serial, no allocation; only where it can. */
void hfi_taylor_square(const hfi_taylor *taylor, const double *centre, const double *half,
                       const hfi_spread_model *spread, hfi_square_model *out, double *scratch);
size_t hfi_taylor_square_scratch(const hfi_taylor *taylor);
/** Where that model loses more than there is to show, about: some times `below` as it is known
 * before it is made. O(m). */
double hfi_taylor_square_estimate(const hfi_taylor *taylor, const double *half,
                                  const hfi_spread_model *spread);

/** (u'G u)^(1/2) from above for all u in the cube, by the sizes of G's entries or its largest
 * eigenvalue; G is no less than 0 but for rounding. Work 2 m^2. */
double hfi_taylor_longest(size_t m, const double *g, double rounding, double *work);

/** A-priori rounding of |phi(x)|^2 by whitened columns: `prior` is the prior variance, `slopes`
 * what the gradients add. */
double hfi_taylor_variance_rounding(const hfi_taylor *taylor, double prior, double slopes);

/** Rounding error of a prediction at the point subject->middle, in the solver's units: of
 * kernel values, their argument's change of units and sums. */
typedef struct hfi_point_rounding {
    double mean, variance;
} hfi_point_rounding;
/** The same for a subject without free inputs. O(n). HF_ERR_MEMORY. */
hf_status hfi_taylor_at_point(hf_context *ctx, const hfi_taylor *taylor, hfi_point_rounding *out);

/* ---- taylor_third.c: third and fourth derivatives of sums over the anchors, whatever the weights:
 * of the mean and of covariances. Forms se and matern52 alone. Serial, no allocation ---- */

/** Parts of the scratch; m and n are those of the models. */
typedef struct hfi_third_scratch {
    double *x, *w;   /* axes: the centre, and the box's half-widths, in units of a term */
    double *q;       /* n */
    double *weight;  /* n: 8 a psi''' */
    double *curve;   /* n: 4 a psi'' */
    double *sums;    /* axes (axes + 1) (axes + 2) / 6 */
    double *columns; /* n x axes: what is between centre and anchors, times w */
    double *slope;   /* m: of the remainder */
    double *share;   /* m */
} hfi_third_scratch;

/** How many numbers that takes, as HFI_LAY_OUT. */
size_t hfi_third_lay_out(const hfi_taylor *taylor, double *scratch, hfi_third_scratch *b);
/** sum_i |weight_i| E(q_i) from above, E(q) the largest fourth derivative at squared distances of q
 * and more, q_i that of anchor i from the box; after hfi_taylor_place(). */
double hfi_third_fourth_size(const hfi_term *term, size_t n, const double *weight,
                             const hfi_third_scratch *b);
/** t += third derivatives at the centre of sum_i weight_i k(x, z_i), m x m x m, a <= b <= c alone;
 * after hfi_taylor_place(). Leaves columns, not q. O(n axes^3 / 6). */
void hfi_third_add_cubic(const hfi_taylor *taylor, const hfi_term *term, const double *weight,
                         const hfi_third_scratch *b, double *t);
/** A-priori rounding of T(u, u, u) / 6 and of half its derivatives, `size` = sum_i |weight_i|: n
 * products of a weight and three coordinates, like the sums of lower degree. */
double hfi_third_rounding(const hfi_term *term, size_t n, double size, double tau,
                          const hfi_third_scratch *b);
/** t[abc] += entry, at a <= b <= c alone. */
void hfi_third_add_sorted(size_t m, size_t a, size_t b, size_t c, double entry, double *t);
/** The other entries of a symmetric t. */
void hfi_third_fill_up(size_t m, double *t);

#endif
