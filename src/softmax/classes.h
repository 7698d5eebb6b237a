/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file classes.h
 * @brief Bounds of class probabilities of more than two classes, and of their differences.
 *
 * The posterior has an output for each class. In a box the C latent means have quadratic models
 * (taylor.h), one for each class. The covariance between the classes has one from jets of their
 * features (classes_spread.c); what is asked about is the least expectation of a'softmax for a few
 * weights a, and docs/methods/certify.md says how the three come together.
 *
 * All in the solver's units of the inputs. The latent values are in units of the link.
 */
#ifndef HFI_SOFTMAX_CLASSES_H
#define HFI_SOFTMAX_CLASSES_H

#include "bound/problem.h"
#include "softmax/classes_moments.h"
#include "taylor/taylor.h"

/** One class: its own box (which differs in the number of the class alone), its mean's terms over
 * its own anchors. */
typedef struct hfi_class {
    hfi_subject subject;
    double *sides; /* 3 d: lower, upper, middle */
    hfi_taylor taylor;
    size_t first; /* its anchors are among `taylor.n` from this one on */
} hfi_class;

/** The features of all classes about a point: phi_i(x) = sum_k e_k(v) Phi_ik + what is left, x =
 * centre + half v, e = 1, v_a, v_a v_b (a <= b) up to the degree. */
typedef struct hfi_jets {
    int degree;      /* 0, 1, 2 */
    size_t count;    /* of e */
    double *centre;  /* m */
    double *half;    /* m */
    double *gram;    /* (C count)^2: posterior covariances of the Phi, class after class */
    double rounding; /* of each of them */
} hfi_jets;

/** The covariance between the classes in a box: | S_ij(u) - (here + sum_a u_a linear_a + sum_ab u_a
 * u_b square_ab)_ij | <= lost_ij, besides what the remainders r of the features add: 2 |<phi, r>| +
 * |r|^2. Arrays are the caller's. */
typedef struct hfi_covariance_model {
    double *here;      /* C x C */
    double *linear;    /* m of C x C */
    double *square;    /* m (m + 1) / 2 of C x C, a <= b */
    double *lost;      /* C x C */
    double *remainder; /* C: |r_i| */
    double *meets;     /* C x C: Gram matrix of the phi_i that r_i meets, at the centre */
    double *moved;     /* C: |phi_i(x) - phi_i(centre)| */
    double *share;     /* m: along which the remainders grow */
} hfi_covariance_model;

typedef struct hfi_classes {
    hfi_memory memory;
    const struct hfi_order *order; /* classes_order.h; NULL: there is none */
    const hf_posterior *posterior;
    const hfi_subject *subject; /* the question's */
    const hfi_quantity *quantity;
    size_t winner, classes, m, d;
    double tolerance;
    double unit;              /* the largest loss, 1 without one */
    hfi_class *side;          /* C */
    hfi_rules quick;          /* for bounds, and for gradients */
    int degree, local_degree; /* of jets about the whole box, about parts of it */
    hfi_jets whole;
    /* bounds were; and `whole` is, which first bounds do where they need it */
    bool asked, filled;
    double *whole_room;
    size_t widest; /* most anchors of a class */
    double prior;  /* largest prior variance */
    double factor_norm;
    double rounding;  /* of probabilities at the point, where no input is free */
    bool heavy;       /* a look at a point takes long */
    double *look;     /* scratch of looking at points */
    double *sketch;   /* of sketches */
    hfi_watch *watch; /* what stops bounds; then they mean nothing. NULL */
} hfi_classes;

/** Problems of several classes; their `state` is a hfi_classes. */
extern const hfi_problem_functions hfi_problem_of_classes;

/** HF_ERR_ARGUMENT unless the posterior is one of several classes that a priori know nothing of
 * each other. `subject` is kept; without free inputs there are points to look at alone. */
hf_status hfi_classes_create(hf_context *ctx, const hf_posterior *posterior,
                             const hfi_subject *subject, size_t winner,
                             const hfi_quantity *quantity, double tolerance, hfi_classes **out);
void hfi_classes_free(hfi_classes *classes);

/** The value that is asked about is the least of a few functionals v'P, rows 0, 1, ... of
 * classes->classes at most: v (C) := one of them. False: there is none of that number. */
bool hfi_classes_row(const hfi_classes *classes, size_t row, double *v);
/** The least functional of probabilities; `a` (C) := its weights, `spare` (C) scratch. */
double hfi_classes_least(const hfi_classes *classes, const double *p, double *a, double *spare);
/** Takes off the weights what makes them least, as probabilities add up to 1: a'P is then at most
 * *size times the largest change of a probability. @return what was taken off. */
double hfi_classes_centre(size_t count, double *a, double *size);

/** Probabilities (C entries) at a point (d entries, the last one is not looked at; user's units),
 * as a prediction has them. One thread at a time. */
void hfi_classes_look(hfi_classes *classes, const double *x, double *p);
/** The value that is asked about. With the gradient (d - 1 entries, user's units; or NULL) both are
 * by the quicker quadrature of bounds. */
double hfi_classes_value(hfi_classes *classes, const double *x, double *gradient);
/** That as a prediction has it, and how far it may be off: the quadrature's error (of more than
 * four classes six standard errors, an estimate) and rounding. Without free inputs. */
double hfi_classes_point(hfi_classes *classes, const double *x, double *error);
/** The same at a point of the box (m, solver's units) by the models, quicker where looking takes
 * long. */
double hfi_classes_sketch(hfi_classes *classes, const double *point, double *gradient);

size_t hfi_classes_scratch(const hfi_classes *classes);
/** As hfi_branch_functions has it. */
void hfi_classes_bounds(const hfi_certify_problem *q, double sign, double enough, size_t count,
                        const double *low, const double *high, hfi_box_bound *bounds,
                        double *scratch);

/* ---- covariances (classes_spread.c) ---- */

size_t hfi_jet_count(size_t m, int degree);
/** Doubles that jets of that degree take, beside the struct; and scratch to fill `together` of
 * them. */
size_t hfi_jets_room(const hfi_classes *classes, int degree);
size_t hfi_jets_scratch(const hfi_classes *classes, int degree, size_t together);
/** Empty jets about centre with half-widths half (m entries each) in `room`. */
hfi_jets hfi_jets_about(const hfi_classes *classes, int degree, const double *centre,
                        const double *half, double *room);
/** Fills `together` jets of one degree, whose features are whitened by one product of matrices for
 * each class. */
void hfi_jets_fill(const hfi_classes *classes, size_t together, hfi_jets *jets, double *scratch);
/** How far the features of class i can be from their polynomial of that degree about `origin`
 * (degree 0: from where they are there) in the box of half-widths half about centre (m entries
 * each); `full` d entries of scratch. */
double hfi_jets_remainder(const hfi_classes *classes, int degree, const double *origin, size_t i,
                          const double *centre, const double *half, double *full);
size_t hfi_covariance_scratch(const hfi_classes *classes);
/** The model of a box by jets about it or about a larger one. */
void hfi_covariance_of_box(const hfi_classes *classes, const hfi_jets *jets, const double *centre,
                           const double *half, hfi_covariance_model *out, double *scratch);

#endif
