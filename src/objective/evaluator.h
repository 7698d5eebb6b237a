/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file evaluator.h
 * @brief Objectives with exact gradients for every solver. A "state" of a model is one vector of
 * numbers on the training scale: all kernel parameters (log of positive ones), the mean's
 * coefficients, the log noise of every channel. Everything here works in scaled units.
 */
#ifndef HFI_EVALUATOR_H
#define HFI_EVALUATOR_H

#include "posterior/posterior.h"
#include "solver/inducing.h"
#include "solver/projected.h"
#include <holdfast/train.h>

struct hfi_evaluator;
struct hfi_holdout;

/** The prediction of one reading by all others, by which an objective depends on its own variance
 * (outliers/pursuit_impl.h). error: reading less prediction; variance: of that, noise included;
 * unresolved: its share of the trace term of the variational inducing bound, else 0. */
typedef struct hfi_outlook {
    double error, variance, unresolved, noise;
} hfi_outlook;

/** Functions of a kind of evaluator, at its present kernel, mean and sites. Nobody asks which kind
 * an evaluator is: a function that is NULL says what cannot be had. */
typedef struct hfi_evaluator_kind {
    bool absence; /* readings may be set aside */
    bool coarse;  /* its posterior has errors of its own, in size like residuals */
    hf_status (*select)(struct hfi_evaluator *e);
    hf_status (*run)(struct hfi_evaluator *e, hf_objective objective, double *value,
                     double *gradient);
    /** hfi_holdout_compute(), or with `absent` hfi_holdout_absent() (holdout.h). */
    hf_status (*holdout)(struct hfi_evaluator *e, bool absent, struct hfi_holdout *out);
    /** The posterior of the present readings, and their evidence. */
    hf_status (*solve)(struct hfi_evaluator *e, hfi_solution *out, double *log_evidence);
    /** One outlook a row; those of absent readings are 0. `known`: their variances beside the
     * noise's. */
    hf_status (*outlook)(struct hfi_evaluator *e, const double *known, hfi_outlook *out);
    hf_status (*keep)(struct hfi_evaluator *e); /* hfi_evaluator_keep() */
    /** Parameters beyond those of kernel, mean and noises, *count of them, where it keeps them. */
    double *(*extras)(const struct hfi_evaluator *e, size_t *count);
    /** Entries of its block actions anew. */
    hf_status (*start_actions)(struct hfi_evaluator *e, hf_action_start rule);
    /** Row i becomes row order[i]: block actions keep their readings, blocks and entries. */
    void (*renumber)(struct hfi_evaluator *e, const size_t *order);
    /** It has bounds, to which points beside the readings may add (query.h): rows of its largest
     * matrix. */
    size_t (*query_rows)(const struct hfi_evaluator *e);
    const struct hfi_exact_matrix *matrix; /* of readings, whoever holds it (evaluator_impl.h) */
    /* its evidence is never factored, and has no curvature */
    bool unfactored;
    void (*release)(struct hfi_evaluator *e);
} hfi_evaluator_kind;

/** Buffers for evaluating an objective again and again on the same rows. Kernel, mean and sites are
 * the caller's. */
typedef struct hfi_evaluator {
    const hfi_evaluator_kind *kind; /* NULL: it evaluates nothing, and is there to hold the rest */
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    size_t rows, d;
    const double *x; /* rows x d, row-major, stride ldx */
    size_t ldx;
    size_t n;       /* present readings, gathered by hfi_evaluator_select */
    size_t *row;    /* their rows */
    double *inputs; /* n x d */
    /* n x n: K + D, its factor, its inverse, the weight matrix of the gradient; or NULL */
    double *a;
    double *b, *c;   /* two more for the leave-one-out gradient; NULL otherwise */
    double *vectors; /* HFI_EVALUATOR_VECTORS x rows */
    double jitter;   /* of the last evaluation */
    /* Owned, each by the kind of its name; NULL for others. */
    hfi_inducing *inducing;
    struct hfi_projected_evaluator *projected;
    struct hfi_group_evaluator *group;
    struct hfi_kronecker *kronecker;
    struct hfi_kept *kept; /* of the last evaluation (evaluator_kept.c); NULL: nothing. Owned too */
    /* With several outputs: their order in sums (fit/order.c); NULL: by number. Not owned. */
    const size_t *place_of;
    /* Points that add to the objective (query.h); NULL: none. Not owned. */
    struct hfi_query *query;
} hfi_evaluator;

/** Parameters of an evaluator beyond kernel, mean and noise: coordinates of trained inducing inputs
 * (m x d), or entries of trained block actions (n, by place). They follow log noise in a state and
 * in a gradient. */
size_t hfi_evaluator_extras(const hfi_evaluator *evaluator);
/** Those before them: of kernel, mean and noises. */
static inline size_t hfi_evaluator_parameters(const hfi_evaluator *e)
{
    return hf_kernel_parameters(e->kernel) + hf_mean_coefficients(e->mean) +
           hf_sites_channels(e->sites);
}
void hfi_evaluator_get_extras(const hfi_evaluator *evaluator, double *values);
void hfi_evaluator_set_extras(hfi_evaluator *evaluator, const double *values);

/** An evaluator of nothing: rows, and room for a trainer to put kernel, mean and noises into. */
hfi_evaluator hfi_evaluator_bare(hf_context *ctx, size_t rows, size_t d, const double *x,
                                 size_t ldx);

/** An evaluator for the inducing solver: takes over (moves) `inducing`. Objectives: all five. */
hf_status hfi_evaluator_init_inducing(hf_context *ctx, hfi_evaluator *evaluator, size_t rows,
                                      size_t d, const double *x, size_t ldx,
                                      hfi_inducing *inducing);

/** An evaluator for block actions: takes over `actions` (over all rows, all of which must stay
 * present). Objectives: all five; leave-one-out ones only with `train_actions` false. */
hf_status hfi_evaluator_init_projected(hf_context *ctx, hfi_evaluator *evaluator, size_t rows,
                                       size_t d, const double *x, size_t ldx,
                                       hfi_block_actions *actions, bool train_actions,
                                       hfi_precision precision);

/** hfi_evaluator_run of the inducing solver (inducing_objective.c). */
hf_status hfi_inducing_run(hfi_evaluator *evaluator, hf_objective objective, double *value,
                           double *gradient);

/** Gives back the product of K with the actions, most of what such an evaluator holds; the next
 * evaluation makes it again. */
void hfi_projected_rest(struct hfi_projected_evaluator *projected);

/** Entries of the block actions by their rule, from the evaluator's present kernel, mean and sites.
 * HF_ERR_ARGUMENT (no such rule), HF_ERR_MEMORY. */
hf_status hfi_projected_start(hfi_evaluator *evaluator, hf_action_start rule);

/** The block actions as they are now; owned by the evaluator. */
const hfi_block_actions *hfi_projected_actions(const struct hfi_projected_evaluator *projected);

/** Latent mean (prior mean included) and variance of every row without its own site, at the
 * evaluator's present values. */
hf_status hfi_projected_holdout(hfi_evaluator *evaluator, double *mean, double *variance);

/* ---- expected log densities (expected.c)
 * ------------------------------------------------------------------
 *
 * sum_j l_j(mu_j, v_j) with f_j ~ N(mu_j, v_j) under q, and its derivatives; the solvers add their
 * own -KL.
 *
 *     evidence  -log(2 pi d)/2 - ((z - mu)^2 + v) / (2 d)   the ELBO of the sites
 *     weighted  rho [ -log(2 pi s)/2 - ((y - mu)^2 + v) / (2 s) ]
 *     rcagp     -(w^2 / s^2) ((y - mu)^2 + v) + (2 / s) [ (dw^2/dy) (y - mu) + w^2 ],
 *               w^2 = beta^2 rho
 */

/** Adjoints, `rows` entries each; 0 for absent readings. */
typedef struct hfi_expected {
    double *mu, *v;    /* in mu and v */
    double *z, *d, *s; /* direct ones in site target, site variance and noise variance s_j */
} hfi_expected;

/** Value of the sum, and if `bar` is not NULL the adjoints. */
double hfi_expected_terms(hf_objective objective, const hf_sites *sites, const double *mu,
                          const double *v, hfi_expected *bar);

/** gradient[c] += d/d log noise of channel c, from adjoints in z, d and s (NULL: none): sum over
 * its readings of (z_bar shift + d_bar slope + s_bar) * noise. */
void hfi_noise_adjoint(const hf_sites *sites, const double *z_bar, const double *d_bar,
                       const double *s_bar, double *gradient);

/** Makes buffers; `leave_one_out` reserves what the leave-one-out gradient needs. HF_ERR_TOO_LARGE
 * beforehand if they cannot fit. */
hf_status hfi_evaluator_init(hf_context *ctx, hfi_evaluator *evaluator, bool leave_one_out,
                             size_t rows, size_t d, const double *x, size_t ldx);

/** The same with the matrices held by all processes of the context's group together
 * (evaluator_group.c). There is no `a` then for those who want to read the weights of the
 * gradient. */
hf_status hfi_evaluator_init_group(hf_context *ctx, hfi_evaluator *evaluator, bool leave_one_out,
                                   size_t rows, size_t d, const double *x, size_t ldx);
void hfi_evaluator_free(hfi_evaluator *evaluator);

/** Gathers the present readings; must be called after presence changed. HF_ERR_NO_DATA if there is
 * none. */
hf_status hfi_evaluator_select(hfi_evaluator *evaluator);

/** Objective and gradient (or NULL) at the present values of kernel, mean and sites; see
 * hf_objective_evaluate(). */
hf_status hfi_evaluator_run(hfi_evaluator *evaluator, hf_objective objective, double *value,
                            double *gradient);

/** Whether there is a curvature to be had: by the exact solver, unless it evaluates without ever
 * forming K + D. */
bool hfi_evaluator_knows_curvature(const hfi_evaluator *evaluator, hf_objective objective);

/** Minus the second derivatives of the evidence in the parameters of kernel, mean and log noises,
 * averaged with their expectation (curvature.c). They are at the values of the last evaluation,
 * which must have been of this objective and with a gradient: symmetric, not negative definite,
 * both triangles. For a leave-one-out density they are a stand-in for its own. O(n^2 count);
 * collective where several processes share the matrix. */
hf_status hfi_evaluator_curvature(hfi_evaluator *evaluator, hf_objective objective, double *matrix);

/** From now on an evaluation of the evidence with a gradient is remembered. Residuals of the same
 * model and readings then take O(n^2), and not n^3, to the same digits. Takes a copy of the
 * factor, rows x rows. Does nothing for solvers other than the exact one in one process.
 * HF_ERR_MEMORY. */
hf_status hfi_evaluator_keep(hfi_evaluator *evaluator);

/** Bytes an evaluator takes. */
double hfi_evaluator_bytes(size_t rows, size_t d, bool leave_one_out);

#endif
