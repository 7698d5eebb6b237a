/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file quantity.h
 * @brief The quantities of a posterior that can be certified: what a row of the table of quantities
 * says.
 *
 * A row says of which moments of the latent value a quantity is, and in which units. It also says
 * what the quantity makes of numbers, intervals and models of them. How boxes of inputs are
 * bounded, and points looked at, are functions that rows share (problem.h). Everything that depends
 * on what is asked about is in a row; nobody asks which one it is.
 */
#ifndef HFI_BOUND_QUANTITY_H
#define HFI_BOUND_QUANTITY_H

#include "core/interval.h"
#include <holdfast/certify.h>
#include <holdfast/classify.h>

typedef struct hfi_quantity hfi_quantity;
struct hfi_bounds_box;
struct hfi_problem_functions;

/** Mean and sd, as far as they are known. */
typedef struct hfi_moments_box {
    double mean_low, mean_high, sd_low, sd_high;
} hfi_moments_box;

/** `beta` is that of the settings; of a probability of two classes the lambda of its link. */
struct hfi_quantity {
    const char *name;
    bool mean, sd; /* which moments it is of */
    bool scaled;   /* in the output's units */
    bool shifted;  /* and from their zero */
    bool of_class; /* settings.output is the number of a class, an input of the posterior */
    /* and it is the least by which deciding for that class costs less than for another */
    bool of_margin;
    bool of_loss;       /* and it is what deciding for it is expected to cost */
    const double *loss; /* of these two, as hf_class_rule has it; the caller's */
    /* made by prepare() of its functions for several calls about it, which then make nothing of
     * their own; NULL: each call does. The caller's */
    void *prepared;
    hf_link link;       /* of two classes */
    double least, most; /* no value is beyond */
    /** How a box is bounded without rigour. */
    const struct hfi_problem_functions *functions;
    /** And with rigour; NULL: there is no proof against rounding. */
    const struct hfi_problem_functions *proof;

    /* The others are NULL where the quantity is none of the mean and the sd of one output. */
    double (*value)(const hfi_quantity *quantity, double beta, double mean, double sd);
    /** Derivatives of that. */
    void (*slopes)(const hfi_quantity *quantity, double beta, double mean, double sd,
                   double *of_mean, double *of_sd);
    /** Ends of the value where mean and sd are anything in a box; its own rounding is taken off. */
    void (*enclose)(const hfi_quantity *quantity, double beta, const hfi_moments_box *in,
                    double *lower, double *upper);
    /** Rounding of the value by that of mean and sd. */
    double (*rounding)(const hfi_quantity *quantity, double beta, double of_mean, double of_sd);
    /** Bounds sign value over a box from the models of mean and sd: bound, predicted, best_gap and
     * `own` of *box, and where it expects the least (m). */
    void (*bound)(struct hfi_bounds_box *box, double *point);
    /** In intervals. */
    hfi_interval (*exact)(const hfi_quantity *quantity, double beta, hfi_interval mean,
                          hfi_interval sd);
};

/** slope := that of the value (d entries, at least of the mean's), from the gradients of mean and
 * var; var is stretch times that of the gradient, plus constants. */
void hfi_quantity_gradient(const hfi_quantity *quantity, double beta, size_t d, double mean,
                           double sd, double stretch, const double *of_mean, const double *of_var,
                           double *slope);

#endif
