/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file solver.h
 * @brief Solvers for budgets: what they are, and their choices. They end in the same posterior as
 * the exact one (posterior.h), and whatever a posterior can do works with each of them.
 *
 * | solver | sees | cost | variance |
 * |---|---|---|---|
 * | exact | everything | n^3/3 | the posterior's |
 * | inducing | everything, through m inputs | n m^2 | may be too small between inputs |
 * | projected | i "actions" (sums of readings) | n^2 i or n^2 | never below the exact one's |
 *
 * The projected solver's variance is the *combined* uncertainty: that of the exact posterior plus
 * what was not computed. See hf_predict_computational() for the second part alone.
 *
 * Thread-safe, with a context for each thread.
 */
#ifndef HOLDFAST_SOLVER_H
#define HOLDFAST_SOLVER_H

#include <holdfast/kernel.h>
#include <holdfast/mean.h>
#include <holdfast/settings.h>
#include <holdfast/sites.h>

HF_BEGIN_DECLS

/** The method that computes the posterior. */
typedef enum hf_solver {
    /** exact for small tables, else by the number of readings; the report says which */
    HF_SOLVER_AUTO = 0,
    HF_SOLVER_EXACT,
    /** hyperparameters and posterior from inducing inputs */
    HF_SOLVER_INDUCING,
    /** computation-aware: posterior by projection on actions */
    HF_SOLVER_PROJECTED
} hf_solver;

/** Which approximation the inducing solver makes. With Q = K_XZ K_ZZ^-1 K_ZX and sites (z, d). */
typedef enum hf_inducing_method {
    /** log N(z; m, Q + D) - tr(D^-1 (K - Q))/2: a lower bound on the evidence (Titsias 2009) */
    HF_INDUCING_VFE = 0,
    /** log N(z; m, Q + diag(K - Q) + D) (Snelson and Ghahramani 2006) */
    HF_INDUCING_FITC,
    /** log N(z; m, Q + D) (Seeger et al. 2003) */
    HF_INDUCING_DTC
} hf_inducing_method;

/** How inducing inputs are placed. */
typedef enum hf_inducing_choice {
    /** rows of largest conditional prior variance, one by one: pivoted Cholesky, O(n m^2) */
    HF_INDUCING_GREEDY = 0,
    /** centres of k-means++ and Lloyd steps, O(n m d) a step */
    HF_INDUCING_KMEANS,
    /** a sample of the M-determinantal point process by Metropolis swaps from the greedy rows
     * (Burt, Rasmussen, van der Wilk 2020) */
    HF_INDUCING_MDPP,
    /** the first m rows */
    HF_INDUCING_FIRST
} hf_inducing_choice;

/** The actions that the projected solver looks at: columns of A. */
typedef enum hf_actions {
    /** D^-1 times what the readings still have to say, z - m - (K + D) t, again and again:
     * what conjugate gradients visit; one pass over K each. With inducing inputs D^-1 K_XZ
     * comes first (one pass for all of it): the preconditioner, and what takes down the
     * variance */
    HF_ACTIONS_KRYLOV = 0,
    /** D^-1 K_XZ: readings enter with their precision; one pass over K in all */
    HF_ACTIONS_INDUCING,
    /** one non-zero per reading (the published CaGP and RCaGP), trained or fixed; one pass */
    HF_ACTIONS_BLOCKS,
    /** the columns of a matrix of your own; one pass over K in all */
    HF_ACTIONS_GIVEN
} hf_actions;

/** Which readings share a block. Blocks differ in size by at most one row; no row is dropped. */
typedef enum hf_blocks {
    /** In the order of the table (published); of several outputs sample by sample. */
    HF_BLOCKS_CONTIGUOUS = 0,
    /** near each other: recursive halving along the widest input */
    HF_BLOCKS_CLUSTERED
} hf_blocks;

/** Entries of block actions before training. */
typedef enum hf_action_start {
    /** N(0, 1) / sqrt(block size) (published) */
    HF_ACTION_START_RANDOM = 0,
    /** z - m, within the block */
    HF_ACTION_START_TARGETS,
    /** leading eigenvector of the block's K */
    HF_ACTION_START_EIGEN,
    /** 1 / d */
    HF_ACTION_START_PRECISION
} hf_action_start;

/**
 * Places at most m inducing inputs among n rows x (row-major, stride ldx) for a kernel: z (room
 * for m rows of d numbers, stride d) receives *chosen <= m rows, no two equal.
 *
 * - Greedy: the row whose latent prior variance given those chosen is largest, each time (pivoted
 *   Cholesky); of equals (to 1e-12 of the largest prior variance) the first. Ends early when the
 *   largest is below 1e-10 of the largest prior variance: further rows are determined by those
 *   chosen, as duplicates are. Looks at the kernel's values, so hyperparameters matter.
 * - k-means: k-means++ and at most 25 Lloyd steps; a centre that lost its rows moves to the row
 * farthest from its own. Euclid on
 *   the inputs as they are given; the kernel is only asked for d.
 * - M-DPP: 10 m Metropolis swaps from the greedy rows, each accepted with probability min(1, det
 * K' / det K), K the prior
 *   covariance of the chosen rows. As many rows as the greedy choice found.
 * - First: the first rows no two of which are equal.
 *
 * Greedy holds 8 n m bytes, but at most 1 GiB: where that is too little, it chooses from a random
 * sample of 2^27 / m rows (M-DPP then swaps with any of the n rows). k-means works on a random
 * sample of 50 000 rows when there are more. Random choices come from the context's seed; the
 * number of threads changes nothing. At least one row is chosen. z and *chosen are untouched on
 * error: HF_ERR_NO_DATA (n = 0), HF_ERR_ARGUMENT (m = 0, NULL), HF_ERR_NOT_FINITE (the row is
 * named; or a prior variance overflows), HF_ERR_DIMENSION (ldx < d), HF_ERR_MEMORY,
 * HF_ERR_CANCELLED. Reports progress as "choose".
 * Cost O(n m (m + d)) greedy, O(n m d) a step k-means, O(m^3) more for M-DPP, O(n d) first.
 */
HF_API hf_status hf_choose_inducing(hf_context *ctx, const hf_kernel *kernel,
                                    hf_inducing_choice choice, size_t n, const double *x,
                                    size_t ldx, size_t m, double *z, size_t *chosen);

/**
 * Choices of the projected solver. Zero but for `size`: Krylov actions without inducing inputs.
 *
 * Krylov actions are what makes the mean right, inducing ones what makes the variance small: the
 * variance is known only along the actions' span. Measured on kin40k (8000 rows, noise variance
 * 0.01; error of the mean relative to the exact root mean square error, variance relative to the
 * exact one):
 *
 * | inducing | Krylov | passes | mean off by | variance |
 * |----------|--------|--------|-------------|----------|
 * | 512      | -      | 1      | 1.82        | 3.4 x    |
 * | -        | 64     | 64     | 1.77        | 16 x     |
 * | 256      | 32     | 33     | 0.087       | 5.1 x    |
 * | 512      | 16     | 17     | 0.111       | 3.3 x    |
 * | 512      | 32     | 33     | 0.006       | 3.3 x    |
 *
 * So: as many inducing inputs as memory and n m^2 allow, and Krylov actions to a tolerance of 0.01.
 */
typedef struct hf_projection {
    /** sizeof(hf_projection) */
    size_t size;
    /** Default: HF_ACTIONS_KRYLOV. */
    hf_actions actions;
    /** i: at most so many actions, Krylov's beside the inducing ones; more than readings is
     * HF_ERR_ARGUMENT. Without a tolerance as many Krylov actions as this, or as there are
     * readings: where the residual is gone, the space goes on, and where that is exhausted,
     * single readings do. Default: 0. */
    size_t count;
    /** Krylov: stop when |z - m - (K + D) t| / |z - m| (in the norm D^-1/2) is below; 0: never.
     * Below some 1e-12 it is a matter of rounding when that is. Default: 0. */
    double tolerance;
    /** inducing inputs whose D^-1 K_XZ goes before Krylov's actions (0: none), or of the inducing
     * actions (0: count); more than readings count as all. Default: 0. */
    size_t inducing;
    /** Default: HF_INDUCING_GREEDY. */
    hf_inducing_choice choice;
    /** NULL: inducing inputs are chosen. Else they are these, `inducing` x d row-major, finite.
     * Default: none. */
    const double *inputs;
    /** block actions: which readings share one. Default: HF_BLOCKS_CONTIGUOUS. */
    hf_blocks blocks;
    /** block actions: their entries. Default: HF_ACTION_START_RANDOM. */
    hf_action_start start;
    /** tiles of K in single precision, sums in double: about twice as fast; the posterior is
     * conservative up to 1e-6 of the prior variance instead of 1e-14. Default: false. */
    bool single_precision;
    /** Given actions: A, row-major, a row for each row of x and `count` columns; NULL for the
     * other kinds. It is read during the call only. Units do not count: the posterior depends on
     * the span of the columns alone. A column times any number is the same action (readings in
     * other units make such numbers, and nothing else). A row is looked at where its reading is
     * present, and a column that says nothing new there, or is zero, is dropped. With the
     * identity, or any other n independent columns, the posterior is the exact one. Errors:
     * HF_ERR_NOT_FINITE (row and column are named), HF_ERR_ARGUMENT: NULL, no column, more
     * columns than rows; a column that is a combination of those before it over all rows, to
     * 1e-10 of its length (it is named). Cost beside the pass: O(n i^2), and 8 n i bytes for the
     * check. Default: none. */
    const double *matrix;
} hf_projection;
HF_SETTINGS(hf_projection)

/** Report of a projection. */
typedef struct hf_projection_report {
    /** columns of A that were used (dependent ones are dropped) */
    size_t actions;
    /** times all of K was evaluated */
    size_t passes;
    /** |z - m - (K + D) t| / |z - m| in the norm D^-1/2; NaN where it was not computed */
    double residual;
    /** absolute amount added to the diagonal of A'(K + D)A */
    double jitter;
} hf_projection_report;

HF_END_DECLS

#endif
