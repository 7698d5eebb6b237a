/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file reach.h
 * @brief Where a system surely is after several steps that are known by readings.
 *
 * A system with s states and m inputs goes by x+ = f(x, u) + w, w_i within bounds. Nobody
 * knows f; each of its s outputs f_i has an envelope (envelope.h) of readings at points (x, u).
 * From a box of states and a sequence of inputs hf_reach_tube() makes a box for each step:
 *
 *     box k+1 holds f(x, u_k) + w for every x in box k, every f of the envelopes and every such w.
 *
 * So it holds every run of every system that meets readings and norm bounds. The run starts in the
 * first box and is disturbed by no more than w. The model that the plan was made with does not
 * matter.
 *
 * **How.** On a box (a cell of it) f_i is between its values at the corners, but for a rest:
 *
 *     f(x) = sum_v w_v(x) f(v) + r(x),   w_v >= 0, sum 1,   f(v) in [lower(v), upper(v)],
 *     |r(x)| <= G sum_j b_j,   b_j = min(1/2 |d_j^2 k(., x)| h_j^2, |d_j k(., x)| h_j, 2 |k(., x)|)
 *
 * over the box, h_j half its side along state j, norms in the space of the kernel. So the corners
 * have optimal bounds and the rest vanishes with h^2 (with h for kernels of one derivative, like
 * matern32; for matern12, which has none, only the last b_j is finite, and it does not vanish: of
 * boxes that are no points nothing useful is said). `splits` cells along every side make r smaller
 * by its square.
 *
 * A step forgets how states go together in its box, and which f made it: the tube is an outer
 * bound, and of a first box that is a point its first step is exact. Boxes of systems that do not
 * contract grow with the steps.
 *
 * **Increments.** Sampled quickly, x+ is nearly x. Then read y = x+ - x, make envelopes of that,
 * whose norms are small, and say `increments`: f_i(x, u) = x_i + g_i(x, u).
 *
 * **Rounding** is outwards, as for envelope.h; for proof against it make envelopes `rigorous`.
 *
 * **Threads.** A hf_reach belongs to one thread at a time; any number of them may share envelopes.
 *
 * Source: the bounds of envelope.h and the error of multilinear interpolation, 1/2 h^2 |f''| along
 * each axis, with |f''| <= G |d^2 k|; docs/methods/envelope.md.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_REACH_H
#define HOLDFAST_REACH_H

#include <holdfast/envelope.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

typedef struct hf_reach hf_reach;

/** How boxes are taken through a step. */
typedef struct hf_reach_settings {
    /** sizeof(hf_reach_settings) */
    size_t size;
    /** Cells along each side: (splits + 1)^s corners are asked. Default: 2. */
    size_t splits;
    /** Envelopes are of x+ - x. Default: false. */
    bool increments;
} hf_reach_settings;

/** The defaults that the fields name. */
HF_SETTINGS(hf_reach_settings)

/**
 * @param states   s, 1 or more
 * @param inputs   m, may be 0
 * @param known    s envelopes, each with s + m inputs, states first. Borrowed: they must outlive
 *                 it. They may grow meanwhile, within their reserve and between calls
 * @param settings NULL for the defaults
 * Errors, which leave *out alone: HF_ERR_ARGUMENT (NULL, no states, no splits, more than 65536
 * corners), HF_ERR_DIMENSION (an envelope with other inputs), HF_ERR_MEMORY. It holds a workspace
 * for each envelope. O(states) workspaces.
 */
HF_API hf_status hf_reach_create(hf_context *ctx, size_t states, size_t inputs,
                                 const hf_envelope *const *known, const hf_reach_settings *settings,
                                 hf_reach **out);
HF_API void hf_reach_free(hf_reach *reach);

/**
 * A box for each step.
 * @param low, high   s each, the box of states to begin with; a point where they are equal
 * @param u           steps x m row-major, the inputs; NULL when m = 0
 * @param w           what |w_i| is at most: s numbers from 0 on; NULL for none
 * @param limits      for each bound at a corner, as in hf_envelope_bounds(); NULL for none
 * @param lower, upper steps x s row-major: row k is the box after k + 1 steps.
 * @return HF_WARN_NOT_CONVERGED when some bound at a corner is looser than it could be (a limit
 * was reached, or rounding): the boxes hold. Errors: HF_ERR_ARGUMENT (NULL, low > high, a
 * negative w, an envelope that has grown beyond its reserve), HF_ERR_NOT_FINITE (a
 * number given, or a box that overflows); rows from the step on that failed are then as they were.
 * Allocates nothing, takes no lock: fit for a control loop. Cost of a step: s (splits + 1)^s
 * queries, each starting where its neighbour ended; one for each state where the box is a point.
 */
HF_API hf_status hf_reach_tube(hf_reach *reach, size_t steps, const double *low, const double *high,
                               const double *u, const double *w, const hf_envelope_limits *limits,
                               double *lower, double *upper);

HF_END_DECLS

#endif
