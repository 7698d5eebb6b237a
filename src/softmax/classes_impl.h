/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file classes_impl.h
 * @brief Shared by the files about bounds of class probabilities: a box at hand, and the kinds of
 * bounds of a functional of its probabilities.
 */
#ifndef HFI_SOFTMAX_CLASSES_IMPL_H
#define HFI_SOFTMAX_CLASSES_IMPL_H

#include "softmax/classes.h"

/* Bounds of joint cumulants of variables with values in [0, 1], k(a, v, v), k(a, b, v, v), k(a, v,
 * v, u, u): 1 / (6 sqrt 3), 5 / 24 and 0.314; rounded up. */
#define HFI_CUMULANT_3 0.0962251
#define HFI_CUMULANT_4 0.2083334
#define HFI_CUMULANT_5 0.315
/* After smoothing with a covariance, per unit of lengths in it: sqrt(k!) / 2, for a square along
 * one direction E|z^2 - 1| / 2; rounded up. */
#define HFI_SMOOTH_2    0.4839415
#define HFI_SMOOTH_PAIR 0.7071068
#define HFI_SMOOTH_3    1.2247449
#define HFI_SMOOTH_4    2.4494898
/* The same along unit vectors of one basis, v v v, v v w, v v v v, v v w w, for functions that rise
 * and fall at most once along a line. */
#define HFI_SMOOTH_3_SAME  0.7978846
#define HFI_SMOOTH_3_OTHER 0.3861694
#define HFI_SMOOTH_4_SAME  1.1013
#define HFI_SMOOTH_4_OTHER 0.4684
/* D^4 G [D, D] : X, D^5 G [D] : X X and D^6 G : X X X for one and for two differences, the sums
 * over a basis of the eigenvectors of X. */
#define HFI_SMOOTH_4_MIXED                                                                         \
    {                                                                                              \
        1.1013, 2.011                                                                              \
    }
#define HFI_SMOOTH_5                                                                               \
    {                                                                                              \
        2.394, 3.411                                                                               \
    }
#define HFI_SMOOTH_6                                                                               \
    {                                                                                              \
        4.616, 5.531                                                                               \
    }

/* Most classes of which third and fourth derivatives are taken. */
#define HFI_TENSOR_CLASSES 3u

/* Scratch of one call. */
typedef struct hfi_box_scratch {
    double *centre;                     /* d x together */
    double *half;                       /* m x together */
    double *models;                     /* C x together structs of means */
    double *means;                      /* what they point to */
    double *covariance;                 /* what its model points to */
    double *tilt;                       /* m + m m: of H : X / 2 */
    double *g, *h, *gap, *point, *work; /* of a quadratic function */
    double *best_gap;                   /* m */
    double *at;                         /* C: means at some point */
    double *p, *q, *third, *third2, *fifth, *a, *w, *w2, *low;
    double *curve, *spare;  /* C x C */
    double *row;            /* C: weights */
    double *highest;        /* C: what each class's probability is not above; NaN: not known yet */
    double *wide;           /* C x C: a covariance that is nowhere less */
    double *factor;         /* C x C: of the covariance of differences */
    double *along;          /* m: how fast the length of X falls with each half-width */
    double *white;          /* (m + 2) x C x C + C */
    double *tensor;         /* hfi_tensor_room() */
    double *fine;           /* m x m: the tilt's Hessian with third and fourth derivatives */
    double *bent;           /* m x m: a Hessian for one bound */
    double *place, *place2; /* m: centre of a box, a point of it */
    double *full;           /* d */
    double *ball;           /* 2 m */
    double *shape;
    double *moments;
    double *jets;
    double *scratch; /* of the means' models, or of making jets */
} hfi_box_scratch;

typedef struct hfi_box {
    const hfi_classes *c;
    const hfi_box_scratch *b;
    size_t m, n;                 /* free inputs, classes */
    const double *centre, *half; /* m */
    const hfi_mean_model *mean;  /* n */
    const hfi_ball *ball;        /* that the box is cut by; NULL: none */
    hfi_covariance_model s;
    double error;  /* of the moments */
    double moves;  /* osc D */
    double spread; /* nu X */
    bool smooth;   /* that covariance has a factor */
    double scaled_moves,
        /* lengths of D and X in the covariance at the centre; infinite where they are not of use */
        scaled_spread;
    double moves_rest, spread_rest; /* what of them is not linear in the box */
    /* what the covariance may shrink by: its inverse is at most so many times that at the centre */
    double thinner;
    /* The functional at hand, constant + a'P: the size of a (at least osc a) and of its largest
     * entry, G_0, what H : X / 2 may be off, and its largest size. */
    double constant, osc, most, base, tilt_lost;
    double fine_lost; /* besides, of third and fourth derivatives */
    bool fine;        /* they are there */
    bool fifth;       /* and the moments that they are made of */
    double enough;    /* a bound that need not be better */
    double least_osc; /* of all functionals that are asked about */
    /* what the best bound by densities begins from: the largest weight of a class */
    double top;
    bool by_density; /* densities give the best bound */
    /* Results. */
    double bound, predicted, here;
} hfi_box;

/** nu of a symmetric matrix of differences: the least of a few ways to write it as a sum of l v v',
 * each counted as |l| osc^2 v. */
double hfi_matrix_size(size_t n, const double *x);
/** Fills moves, spread and their scaled likes from the models of means and covariance. */
void hfi_box_sizes(hfi_box *x);
/** Scaled length of a change of the mean of class c by 1. */
double hfi_box_length(const hfi_box *x, size_t c);
/** Takes the functional constant + scratch->a'P in hand, of which osc is the size: its slopes at
 * the centre, from the third moments there. */
void hfi_box_take(hfi_box *x, double constant, double osc);
/** Adds its third and fourth derivatives, where they are of use. */
void hfi_box_refine(hfi_box *x);
/** Whether bounds by derivatives could be `enough` for that functional, whose value at the centre
 * is x->here: what they lose at least is known before fifth moments are. */
bool hfi_box_may_do(const hfi_box *x);
/** Whether and with how much room third and fourth derivatives are taken. */
bool hfi_tensors_wanted(size_t classes);
size_t hfi_tensor_room(size_t classes);
/** h (m x m, a Hessian) += that of D^3 G [D] : X / 2 + D^4 G : X X / 8 for the linear parts of D
 * and X, of the functional in hand. Returns what quadrature may make of it. */
double hfi_tensor_tilt(const hfi_box *x, double *h);
/** Lower bounds of that functional. Taylor, any weights; also where it expects the least (m) and
 * the shares of the gap (m). */
double hfi_box_by_taylor(hfi_box *x, double *point, double *gap);
/** Lower bound of the probability of class c; weights e_c are in hand. */
double hfi_box_by_vertices(const hfi_box *x, size_t c);
/** Lower bound of minus that: weights are - e_c, and `point` is where the least is expected. */
double hfi_box_by_tangent(hfi_box *x, size_t c, const double *point);
/** Above the probability of class c, by a covariance that is nowhere less; leaves weights - e_c in
 * hand but w as it is. */
double hfi_box_by_density(hfi_box *x, size_t c);

#endif
