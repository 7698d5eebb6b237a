/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rigorous_impl.h
 * @brief Shared by the files of the rigorous ranges.
 */
#ifndef HFI_RIGOROUS_RIGOROUS_IMPL_H
#define HFI_RIGOROUS_RIGOROUS_IMPL_H

#include "kernel/enclosure.h"
#include "rigorous/rigorous.h"

struct hfi_rigorous {
    hfi_memory memory;
    const hf_posterior *posterior;
    long double norm;      /* of mean - m */
    double *gram;          /* n x n, nearest doubles of K; NULL without the sd */
    long double radius;    /* no entry of K is farther from them */
    long double *variance; /* n: lower bounds of d_i + jitter */
};

/* Arrays of one thread, and the question that it works on. */
typedef struct hfi_rigorous_work {
    const hfi_rigorous *of;
    const hfi_quantity *quantity;
    double beta;           /* of a link its lambda */
    bool observed;         /* the sd is that of a new reading; false */
    size_t output;         /* of the box */
    hfi_interval *box;     /* d */
    hfi_interval *middle;  /* d: a point, as intervals */
    hfi_interval *jet;     /* of the mean at the middle */
    hfi_interval *wide;    /* of the mean anywhere in the box */
    hfi_interval *one;     /* of one anchor */
    hfi_interval *scratch; /* of the kernel */
    long double *half;     /* d */
    double *centre;        /* d */
    double *solved;        /* (d + 1) n: about (K + D)^-1 of the columns */
    double *room;          /* of the solution */
    /* (d + 1) n: covariances with the anchors, of the value and of each slope */
    hfi_interval *column;
    hfi_interval *residual; /* (d + 1) n */
    hfi_interval *spread;   /* a jet: hfi_rigorous_spread() */
    long double *rest;      /* d + 1 */
    double *share;          /* d: how much each side of the box matters */
    double *step;           /* d: hfi_rigorous_step() */
    int degree;             /* of the polynomial that was bounded last; 0: none */
    hfi_watch *watch;       /* what stops the bounds of a box; NULL */
    void *block;
} hfi_rigorous_work;

/** Zeroed; block is NULL when out of memory. */
hfi_rigorous_work hfi_rigorous_work_create(const hfi_rigorous *of, const hfi_quantity *quantity,
                                           double beta);
void hfi_rigorous_work_free(hfi_rigorous_work *work);

/** A box in scaled units: bounds of the value over it and at its centre, in user units; writes
 * centre and share. */
typedef struct hfi_rigorous_bounds {
    hfi_interval box, centre;
} hfi_rigorous_bounds;
bool hfi_rigorous_bound(hfi_rigorous_work *work, const double *lower, const double *upper,
                        hfi_rigorous_bounds *out);
/** After a bound of that box: work->middle := where sign times the value should be small in it.
 * False: no idea. */
bool hfi_rigorous_step(hfi_rigorous_work *work, double sign, const double *lower,
                       const double *upper);
/** The value at the point work->middle; overwrites box and centre. */
bool hfi_rigorous_at(hfi_rigorous_work *work, hfi_interval *out);

/**
 * work->spread := the latent variance without white at work->middle, scaled units; of order 2 with
 * the slopes and second derivatives of
 *
 *     |phi(c) + sum delta_j d_j phi(c)|^2 = var(c) + 2 b'delta + delta'G delta
 *
 * where phi are the posterior's features, so that b and G are covariances of the value and its
 * slopes: 2 b and 2 G. Then the middle must be the point work->centre. O(n^2), of order 2 O(d n^2).
 */
bool hfi_rigorous_spread(hfi_rigorous_work *work, int order);

/** Doubles not above and not below. */
double hfi_double_down(long double v);
double hfi_double_up(long double v);

static inline hfi_interval hfi_interval_intersect(hfi_interval a, hfi_interval b)
{
    return (hfi_interval){a.lower > b.lower ? a.lower : b.lower,
                          a.upper < b.upper ? a.upper : b.upper};
}

/** a moved by up to `radius` either way. */
static inline hfi_interval hfi_interval_widen(hfi_interval a, long double radius)
{
    return (hfi_interval){hfi_down(a.lower - radius), hfi_up(a.upper + radius)};
}

#endif
