/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file evaluator_impl.h
 * @brief The parts of the exact evaluator, for one process (exact_matrix.c) and for several
 * (evaluator_group.c).
 */
#ifndef HFI_TRAIN_EVALUATOR_IMPL_H
#define HFI_TRAIN_EVALUATOR_IMPL_H

#include "objective/evaluator.h"
#include "solver/exact_grid.h"

/** Vectors of an evaluation, each `rows` long, in the order of `vectors`. */
enum {
    HFI_EV_RESIDUAL, /**< r = z - m */
    HFI_EV_ALPHA,    /**< (K + D)^-1 r */
    HFI_EV_VARIANCE, /**< d */
    HFI_EV_MEAN_BAR, /**< d objective / d m */
    HFI_EV_Z_BAR,    /**< d objective / d z */
    HFI_EV_A_BAR,    /**< d objective / d alpha, leave-one-out only */
    HFI_EV_G_BAR,    /**< d objective / d G_ii, leave-one-out only */
    HFI_EV_V_BAR,    /**< d objective / d v_-i, leave-one-out only */
    HFI_EV_PRODUCT,  /**< G a_bar */
    HFI_EV_COUNT
};

static inline double *hfi_evaluator_vector(const hfi_evaluator *e, int which)
{
    return e->vectors + (size_t)which * e->rows;
}

/** r and d of the present sites. */
void hfi_evaluator_residuals(hfi_evaluator *e);
/** Residuals and variances of the present readings, the factor of K + D in `a`, alpha, e->jitter:
 *  what an evaluation by one process begins with. Warns of jitter. */
hf_status hfi_evaluator_factor(hfi_evaluator *e);
/** The gradient in mean and noise, behind that of the kernel, from the derivatives in m and z (of a
 * leave-one-out density also v), and in d_i: w[i * step]. */
void hfi_evaluator_collect(hfi_evaluator *e, const double *w, size_t step, bool leave_one_out,
                           double *gradient);

/** K + D and what it becomes, whoever holds it: objectives of readings (exact.c) are written with
 * these. */
typedef struct hfi_exact_matrix {
    /** Residuals and variances of the present readings, K + D factored, alpha, e->jitter. */
    hf_status (*factor)(hfi_evaluator *e, double *log_det);
    /** From the factor to G = (K + D)^-1. */
    hf_status (*invert)(hfi_evaluator *e);
    /** G_ii is (*g)[i * *step]. */
    hf_status (*diagonal)(hfi_evaluator *e, const double **g, size_t *step);
    /** A vector times G if that is `inverse`, else times (alpha alpha' - G) / 2 after a
     * gradient. */
    hf_status (*multiply)(const hfi_evaluator *e, bool inverse, const double *v, double *out);
    /** G diag(g_bar) G, for collect(). */
    hf_status (*square)(hfi_evaluator *e);
    /** The gradient, from G or with `leave_one_out` from the square. */
    hf_status (*collect)(hfi_evaluator *e, bool leave_one_out, double *gradient);
    /** The worst status of all processes; NULL: there is one. */
    hf_status (*agree)(const hfi_evaluator *e, hf_status status);
} hfi_exact_matrix;

/** Held by one process (exact_matrix.c). */
extern const hfi_exact_matrix hfi_local_matrix;

/** The kinds, and functions that several of them share. */
extern const hfi_evaluator_kind hfi_exact_evaluator, hfi_group_kind, hfi_kronecker_kind,
    hfi_inducing_kind, hfi_projected_kind;
hf_status hfi_exact_select(hfi_evaluator *e);
hf_status hfi_exact_run(hfi_evaluator *e, hf_objective objective, double *value, double *gradient);
hf_status hfi_exact_posterior(hfi_evaluator *e, hfi_solution *out, double *log_evidence);
hf_status hfi_exact_holdout(hfi_evaluator *e, bool absent, struct hfi_holdout *r);
hf_status hfi_group_holdout(hfi_evaluator *e, bool absent, struct hfi_holdout *r);
hf_status hfi_inducing_holdout(hfi_evaluator *e, bool absent, struct hfi_holdout *r);
hf_status hfi_projected_residuals(hfi_evaluator *e, bool absent, struct hfi_holdout *r);
hf_status hfi_exact_outlook(hfi_evaluator *e, const double *known, hfi_outlook *out);
hf_status hfi_inducing_outlook(hfi_evaluator *e, const double *known, hfi_outlook *out);

/** Memory of an evaluation. */
typedef struct hfi_kept {
    bool valid;
    bool whole; /* the answer too, and `a` still holds its weights */
    hf_status status;
    double value, *gradient; /* kernel, mean, noises */
    size_t n;
    size_t *row; /* n: the readings */
    double *key; /* noises, kernel parameters, r, d, their slopes; and room for another */
    double jitter;
    double *alpha, *diagonal; /* n each: (K + D)^-1 r, diag((K + D)^-1) */
    double *factor;           /* n x n: the lower triangle */
} hfi_kept;

/** Whether that is of the present kernel, mean, sites and selection; leaves r and d of these in the
 * evaluator's vectors. */
bool hfi_kept_knows(hfi_evaluator *e);
/** Remembers all but the diagonal after hfi_evaluator_factor(); who adds that sets `valid`. */
void hfi_kept_take_factor(hfi_evaluator *e);
/** Remembers the answer as well; the evaluator's `a` and alpha are those of it until the next
 *  hfi_evaluator_factor(). */
void hfi_kept_take_answer(hfi_evaluator *e, hf_status status, double value, const double *gradient);
/** The answer, if it is remembered; `a` and alpha are those of it then. */
bool hfi_kept_answers(hfi_evaluator *e, hf_status *status, double *value, double *gradient);
/** hfi_evaluator_keep() for the first time. */
hf_status hfi_kept_begin(hfi_evaluator *e);
void hfi_kept_free(hfi_evaluator *e);

/** The matrices of an evaluation by several processes. */
typedef struct hfi_group_evaluator {
    hfi_exact_grid system;
    double *diagonal; /* of G, or of the weights of the gradient; `rows` */
    double *b, *c;    /* two more parts for the leave-one-out gradient; NULL otherwise */
} hfi_group_evaluator;

/** Into e->group. HF_ERR_MEMORY in all processes or in none. */
hf_status hfi_group_evaluator_init(hfi_evaluator *e, bool leave_one_out);

#endif
