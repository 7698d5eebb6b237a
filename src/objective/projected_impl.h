/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file projected_impl.h
 * @brief The members of an evaluator for block actions; only objective/projected_*.c include this.
 */
#ifndef HFI_PROJECTED_IMPL_H
#define HFI_PROJECTED_IMPL_H

#include "objective/evaluator.h"
#include "solver/projected_system.h"

typedef struct hfi_projected_evaluator {
    hf_context *ctx;
    hfi_block_actions actions;
    bool train_actions;
    hfi_precision precision;
    hfi_block_system system; /* made at the first run, when the sites are known */
    bool ready;
    double *work;    /* HFI_PROJECTED_VECTORS x n */
    double *squares; /* 3 x count x count: G^-1, adjoint of G, scratch */
    double *small;   /* 4 x count */
} hfi_projected_evaluator;

/** Vectors of n numbers, in `work`. Those named by row are in the order of the table, the others by
 * place. */
enum {
    HFI_PV_MEAN,      /* by row: mu */
    HFI_PV_VARIANCE,  /* by row: v */
    HFI_PV_MU_BAR,    /* by row */
    HFI_PV_V_BAR,     /* by row */
    HFI_PV_Z_BAR,     /* by row */
    HFI_PV_D_BAR,     /* by row */
    HFI_PV_S_BAR,     /* by row */
    HFI_PV_SITE,      /* by row: site variances as the objective sees them */
    HFI_PV_OWN,       /* by place: factor of G^-1 b_l in the adjoint of row l of B */
    HFI_PV_WEIGHT,    /* by place: factor of u in it */
    HFI_PV_CROSS,     /* by place: factor of G^-1 e_a in it */
    HFI_PV_PRIOR_BAR, /* by place: adjoint of k(x, x) */
    HFI_PV_NOISE_BAR, /* by place: adjoint of D through Lambda and directly */
    HFI_PV_WHITE_BAR, /* by place: adjoint of the kernel's white noise beside that */
    HFI_PV_R_BAR,     /* by place: adjoint of z - m */
    HFI_PV_ENTRY_BAR, /* by place */
    HFI_PROJECTED_VECTORS
};

static inline double *hfi_projected_vector(const hfi_projected_evaluator *p, int which)
{
    return p->work + (size_t)which * p->actions.n;
}

/** Adjoints that an objective leaves for the way back: those of places in the vectors OWN ...
 * R_BAR, and of the small system here. On entry B holds G^-1 b_l in its rows. */
typedef struct hfi_projected_bar {
    double *inverse; /* G^-1, both triangles */
    /* adjoint of G, lower triangle counts, symmetric: without its part through u */
    double *g;
    double *u;      /* adjoint of u = G^-1 A'r, times G^-1 */
    double *rhs;    /* direct adjoint of A'r */
    double *lambda; /* direct adjoint of Lambda */
} hfi_projected_bar;

/** In the evaluator's own room. */
static inline hfi_projected_bar hfi_projected_bar_of(hfi_projected_evaluator *p)
{
    const size_t n = p->actions.count;
    return (hfi_projected_bar){.inverse = p->squares,
                               .g = p->squares + n * n,
                               .u = p->small,
                               .rhs = p->small + n,
                               .lambda = p->small + 2 * n};
}

/** The system at the evaluator's present values. */
hf_status hfi_projected_factor(hfi_evaluator *evaluator);
/** Objectives. */
hf_status hfi_projected_bound(hfi_evaluator *evaluator, hf_objective objective, double *value,
                              double *gradient);
hf_status hfi_projected_leave_one_out(hfi_evaluator *evaluator, bool weighted, double *value,
                                      double *gradient);
/** The evaluator's query (query.h), after the factor: its value; its share of those adjoints; and,
 * after these are in the gradient, of that. */
hf_status hfi_projected_query_forward(hfi_evaluator *evaluator);
void hfi_projected_query_bars(const hfi_evaluator *evaluator, hfi_projected_bar *bar);
hf_status hfi_projected_query_backward(hfi_evaluator *evaluator, double *gradient);
/** From those adjoints to the gradient in the state and the extras. */
hf_status hfi_projected_collect(hfi_evaluator *evaluator, hfi_projected_bar *bar, double *gradient);

#endif
