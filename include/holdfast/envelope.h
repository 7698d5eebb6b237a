/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope.h
 * @brief Where exactly an unknown function can be, when the noise of its readings and its norm are
 * bounded and nothing is random.
 *
 * An unknown f lies in the reproducing kernel Hilbert space of the kernel k, with norm |f| <= G,
 * and reading i says
 *
 *     lo_i <= f(x_i) <= hi_i,        lo_i = y_i - below_i,  hi_i = y_i + above_i.
 *
 * No distribution, no independence. At a query x the tightest interval that holds f(x) for every f
 * of that kind is
 *
 *     upper(x) = max f(x),   lower(x) = min f(x)     over |f| <= G and all readings,
 *
 * and by duality, for *every* vector nu (one entry a reading),
 *
 *     f(x) <= U(nu) = G sqrt(k(x,x) - 2 nu'k_x + nu'K nu) + sum_i max(nu_i hi_i, nu_i lo_i),
 *     min U = upper(x),
 *
 * so a bound that is stopped early, started badly or computed inexactly is looser, never wrong;
 * lower(x) is the same with signs turned. An active-set method finds nu: a support with signs, on
 * which nu solves two triangular systems; each pivot adds the reading that the present f violates
 * most or drops one whose sign would turn. Neighbouring queries have nearly the same support, which
 * makes a warm query cost a few vector operations.
 *
 * Readings at equal inputs are merged: their intervals intersect. A limit may be infinite (a
 * reading from one side). A reading with lo = hi is exact.
 *
 * Limits are rounded outwards, by 2.2e-16 (|y_i| + below_i) and a unit of the last place. So they
 * hold for the decimals that y and its noise bound were written as. They hold too for a y that is
 * the rounded sum of a value and an error as large as its bound. Such readings are never called
 * inconsistent. A bound of 0 says that y is exact, to the bit.
 *
 * **An offset.** A function near 1000 with features of size 5 has a norm of thousands in most
 * spaces. Where nobody read it its bounds go far below: a ball of that norm holds 0 too. So the
 * readings may name an offset m, and then
 *
 *     f = m + g,   |g| <= G:     lo_i - m <= g(x_i) <= hi_i - m,     bounds of f = m + those of g.
 *
 * All norms are then those of f - m: G, the smallest norm of a report, the curve of
 * hf_norm_estimate(). Readings, limits and bounds stay in the units of f; m + a bound of g is
 * rounded outwards. m is an assumption like G: bounds are sure for functions with |f - m| <= G.
 * Far from all readings they go to m -+ sqrt((G^2 - N^2) k(x,x)), N the norm of the smoothest
 * consistent function. The middle of the readings is a good m. No G stands for every m: constants
 * are not in the space of a kernel like se, and another m asks for another G.
 *
 * **A level that nobody knows** is a constant in the space: `se(lengthscale=2) +
 * constant(variance=v)` has the functions f = g + c with the norm |f|^2 = |g|^2 + c^2/v, or the
 * least of that over all such sums. A caller who knows |g| <= A and |c| <= C gives G = sqrt(A^2 +
 * C^2/v).
 * The larger v, the less c costs: v = (30 C/A)^2 makes G 0.06 % larger than A; but values of the
 * kernel are rounded in units of v, and bounds next to readings wider by some 3e-8 G sqrt(v). So
 * take an offset too: c is then the level of f - m, and C how far m may be off.
 *
 * **Threads.** A hf_envelope is immutable while it is only asked: any number of threads may ask the
 * same one, each with a workspace of its own, without locks or allocation. hf_envelope_add() needs
 * it alone.
 *
 * **Units** are the caller's throughout: inputs, readings, the kernel's parameters and G (|f| is in
 * units of the target over the root of the kernel's). Nothing is standardised. The kernel may have
 * any number of terms; white adds nothing, and a kernel with white is refused.
 *
 * Source: Scharnhorst, Maddalena, Jiang, Jones, "Robust uncertainty bounds in reproducing kernel
 * Hilbert spaces: a convex optimization approach" (equations 6 and 12 to 15, with lambda
 * eliminated); docs/methods/envelope.md derives what is used here.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_ENVELOPE_H
#define HOLDFAST_ENVELOPE_H

#include <holdfast/kernel.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

typedef struct hf_envelope hf_envelope;
typedef struct hf_envelope_workspace hf_envelope_workspace;

/** n readings with bounded noise; all arrays are the caller's. */
typedef struct hf_bounded_readings {
    size_t n;
    /** n x d row-major */
    const double *x;
    size_t ldx;
    /** n readings */
    const double *y;
    /** how far a reading can be off, >= 0; used where `below` is NULL */
    double noise_bound;
    /** n entries: f(x_i) >= y_i - below_i; >= 0, may be infinite. NULL: `noise_bound` for all */
    const double *below;
    /** n entries: f(x_i) <= y_i + above_i; NULL: the same as below */
    const double *above;
    /** m: norms are those of f - m; finite. 0: those of f itself */
    double offset;
} hf_bounded_readings;

/** How an envelope is set up. */
typedef struct hf_envelope_settings {
    /** sizeof(hf_envelope_settings) */
    size_t size;
    /** Added to the diagonal of K in U. Any value >= 0 leaves the bounds valid; the wider, the
     * looser. Default: 0. */
    double jitter;
    /** Readings that can be added later without new memory and new workspaces. For each pair of
     * readings, of those to come too, the envelope then holds 16 bytes more. The search uses them,
     * and the operating system provides them as they are touched. Default: 0. */
    size_t reserve;
    /** U is evaluated with every rounding accounted for: kernel values enclosed, sums bounded from
     * above. Bounds then hold in exact arithmetic, for the kernel with exactly the stored
     * parameters at exactly the stored inputs; wider by about the root of a rounding next to
     * readings. Default: false. */
    bool rigorous;
} hf_envelope_settings;

/** When to stop a query early. Zero means no limit. */
typedef struct hf_envelope_limits {
    /** sizeof(hf_envelope_limits) */
    size_t size;
    /** changes of the active set for each of the two bounds. Default: 0. */
    size_t pivots;
    /** wall clock for each of the two bounds; looked at once a pivot. The result then depends on
     * the clock. Default: 0. */
    double seconds;
    /** stop as soon as the bound is within this of the optimum, in target units. Default: 0. */
    double gap;
} hf_envelope_limits;
HF_SETTINGS(hf_envelope_limits)

/** The bounds at one query. */
typedef struct hf_bound {
    double lower, upper;
    /** How much tighter each of them could be at most: the distance to a function that meets all
     * readings and the norm bound. >= 0; infinite where no such function is known (data that are
     * only just consistent). */
    double gap_lower, gap_upper;
    /** readings in the supports */
    size_t active_lower, active_upper;
    /** changes of both supports that this query took */
    size_t pivots;
} hf_bound;

/** Consistency of readings and norm bound; see hf_envelope_consistency(). */
typedef struct hf_consistency {
    /** inputs left after merging equal ones */
    size_t distinct;
    /** norm of the smoothest function that meets all readings, from below: a certified lower
     * estimate of |f|. Infinite when intervals at one input do not meet */
    double minimum_norm;
    /** smallest factor on all noise bounds that makes the readings consistent with G; below 1 when
     * they are. Infinite where none does (exact readings that need a larger norm) */
    double noise_factor;
    /** entries written to `conflict`; 0 when consistent */
    size_t conflicting;
    /** Share by which minimum_norm may be too small, because values of the kernel are known to so
     * many digits only: some 1e-9 ordinarily; 0.1 says that the true one may be a tenth larger
     * (near twins that contradict each other); infinite where no digit is left */
    double norm_open;
} hf_consistency;

/** The defaults that the fields name. */
HF_SETTINGS(hf_envelope_settings)

/**
 * Sets up an envelope.
 * @param kernel   positive semi-definite, without white; copied
 * @param readings copied
 * @param norm     G > 0
 * @param settings NULL for the defaults
 * Errors, which leave *out alone: HF_ERR_NO_DATA (n = 0),
 * HF_ERR_DIMENSION, HF_ERR_NOT_FINITE (inputs, readings; with row), HF_ERR_ARGUMENT (a negative or
 * NaN noise bound with its row, an offset that is not finite; norm or jitter not
 * positive and finite, both limits of a reading infinite, a kernel with white);
 * HF_ERR_INCONSISTENT: no function meets all readings and the norm bound; the message names the
 * conflicting readings (rows, from 1), the smallest norm and the smallest noise that would do.
 * HF_ERR_TOO_LARGE: 8 n^2 bytes are not there. HF_ERR_NOT_POSITIVE_DEFINITE: K has a negative
 * eigenvalue beyond rounding.
 * Cost: O(n^2 d) for K, and a search for the smoothest consistent function, O(n a) a pivot with a
 * active readings.
 */
HF_API hf_status hf_envelope_create(hf_context *ctx, const hf_kernel *kernel,
                                    const hf_bounded_readings *readings, double norm,
                                    const hf_envelope_settings *settings, hf_envelope **out);
HF_API void hf_envelope_free(hf_envelope *envelope);

/**
 * Whether readings and norm bound fit together, and if not, why.
 * @param norm     G; infinity asks about the readings alone
 * @param conflict n entries or NULL: rows (from 0) of readings that cannot all be true, a set from
 *                 which none can be left out without making the rest consistent, as far as rounding
 *                 lets one tell
 * @return HF_OK also when they are inconsistent: *report says so (minimum_norm > G). Errors as
 * hf_envelope_create(), without HF_ERR_INCONSISTENT. Cost: that of hf_envelope_create(), and as
 * long a search for each step towards the factor and each reading of the conflict.
 */
HF_API hf_status hf_envelope_consistency(hf_context *ctx, const hf_kernel *kernel,
                                         const hf_bounded_readings *readings, double norm,
                                         hf_consistency *report, size_t *conflict);

/** Distinct inputs; dimension d; norm bound; norm of the smoothest consistent function; bytes held.
 * O(1). */
HF_API size_t hf_envelope_readings(const hf_envelope *envelope);
HF_API size_t hf_envelope_dimension(const hf_envelope *envelope);
HF_API double hf_envelope_norm(const hf_envelope *envelope);
HF_API double hf_envelope_minimum_norm(const hf_envelope *envelope);
HF_API double hf_envelope_bytes(const hf_envelope *envelope);
/** The offset m of its readings, whose norms these are without; NaN for NULL. O(1). */
HF_API double hf_envelope_offset(const hf_envelope *envelope);
/** The settings: jitter and rigorous as it was made, `reserve` what is left of it. NULL for NULL.
 * Owned by the envelope; hf_envelope_add() changes `reserve`. */
HF_API const hf_envelope_settings *hf_envelope_settings_of(const hf_envelope *envelope);
/** The kernel; owned by the envelope. */
HF_API const hf_kernel *hf_envelope_kernel(const hf_envelope *envelope);
/** Distinct reading i: input (d entries, owned by the envelope) and merged limits, in the units of
 * f; any of the places may be NULL. HF_ERR_ARGUMENT if i is out of range. O(1). */
HF_API hf_status hf_envelope_reading(const hf_envelope *envelope, size_t i, const double **x,
                                     double *lower, double *upper);

/**
 * Scratch and the two active sets with which the next query starts; one per thread. Memory for
 * supports of all readings is reserved (32 n^2 bytes), of which the operating system provides what
 * is touched. Usable until the envelope has grown beyond its reserve, then HF_ERR_ARGUMENT. NULL
 * when out of memory. O(1).
 */
HF_API hf_envelope_workspace *hf_envelope_workspace_create(hf_context *ctx,
                                                           const hf_envelope *envelope);
HF_API void hf_envelope_workspace_free(hf_envelope_workspace *workspace);
/** Forgets the active sets: the next query starts cold. */
HF_API void hf_envelope_workspace_reset(hf_envelope_workspace *workspace);

/**
 * The optimal bounds at x (d entries). Starts from the supports of the workspace's last query. The
 * value depends on that start by the solver's tolerance only (1e-9 of the prior scale G sqrt
 * k(x,x), about); the same sequence of queries gives the same digits.
 * @param limits         NULL for none
 * @param gradient_lower d entries, d lower / d x, or NULL. By the envelope theorem, G d sqrt(q)/dx
 *                       at the optimal nu; where x is an input with a reading the bound has a kink,
 *                       and one of its one-sided slopes' limits, or zero, is given.
 * @return HF_OK: both gaps are at most 1e-6 G sqrt k(x,x), or `gap` of the limits, besides what a
 * jitter costs; HF_WARN_NOT_CONVERGED: a gap is larger, or a limit of pivots or seconds was
 * reached. The bounds are valid, the gaps say how loose they may be. Without such a limit it is
 * rounding that makes a gap large: kernels nearly without curvature (lengthscales far beyond the
 * inputs' range), near twins, readings that leave the norm hardly any room. Errors:
 * HF_ERR_NOT_FINITE (x), HF_ERR_ARGUMENT; *out is untouched. Allocates nothing, takes no lock: fit
 * for a control loop. Cost: O(n d) for k_x and O(n a + a^2) a pivot; a warm query along a path
 * needs few.
 */
HF_API hf_status hf_envelope_bounds(const hf_envelope *envelope, hf_envelope_workspace *workspace,
                                    const double *x, const hf_envelope_limits *limits,
                                    hf_bound *out, double *gradient_lower, double *gradient_upper);

/** One of the two bounds. */
typedef enum hf_side {
    HF_LOWER = 0,
    HF_UPPER
} hf_side;

/** The dual variables of the workspace's last query: `count` readings (distinct ones, numbers from
 * 0) with their nu; the arrays have hf_envelope_readings() places and may be NULL. For HF_UPPER
 * they are those of U: nu > 0 where the upper limit of a reading holds the bound, nu < 0 where the
 * lower one does. For HF_LOWER, signs turned, f(x) >= -G sqrt(k(x,x) - 2 nu'k_x + nu'K nu) + sum_i
 * min(nu_i hi_i, nu_i lo_i): nu > 0 where the lower limit holds the bound. Whoever puts them in has
 * checked the bound, but for the offset: with one f and all limits in there are less it. O(a). */
HF_API void hf_envelope_active(const hf_envelope_workspace *workspace, hf_side side, size_t *count,
                               size_t *reading, double *nu);

/**
 * m queries on all threads, in chunks of 32 consecutive ones that start cold and go on warm: order
 * the queries along a path. The number of threads changes no digit (without a limit of seconds).
 * @param x   m x d row-major
 * @param out m entries; untouched on error
 * @return HF_WARN_NOT_CONVERGED when a limit was reached at some query. Reports progress
 * ("bounds"); can be cancelled. 32 n^2 bytes a thread at most.
 * Errors: HF_ERR_ARGUMENT (NULL, limits that are none), HF_ERR_DIMENSION, HF_ERR_NOT_FINITE (names
 * the row), HF_ERR_MEMORY, HF_ERR_CANCELLED. Cost: that of hf_envelope_bounds() for each query.
 */
HF_API hf_status hf_envelope_bounds_batch(hf_context *ctx, const hf_envelope *envelope, size_t m,
                                          const double *x, size_t ldx,
                                          const hf_envelope_limits *limits, hf_bound *out);

/**
 * A further reading: lo = y - below <= f(x) <= y + above. At an input that has one already the
 * intervals intersect. No bound gets wider by it. Errors, with the envelope as it was and its
 * workspaces as usable: HF_ERR_INCONSISTENT, HF_ERR_NOT_FINITE, HF_ERR_ARGUMENT, HF_ERR_TOO_LARGE,
 * HF_ERR_MEMORY. O(n d), and the search for the smoothest consistent function, warm. While the
 * reserve lasts, workspaces go on warm and nothing is allocated, whatever becomes of the call: fit
 * for a control loop. A reading that is refused costs a further search for each reading of the
 * support, which finds those that it contradicts; the message names them (distinct readings, from
 * 1) and the smallest norm that would do, hf_envelope_conflict() gives them.
 */
HF_API hf_status hf_envelope_add(hf_context *ctx, hf_envelope *envelope, const double *x, double y,
                                 double below, double above);

/**
 * Names the readings that contradict the one that hf_envelope_add() refused last
 * (HF_ERR_INCONSISTENT), until it takes one.
 * @param count   how many readings; 0: nothing was refused, or what was contradicts the norm bound
 *                alone. NULL or one place
 * @param reading distinct readings, from 0, as hf_envelope_reading() has them, in their order: with
 *                the refused one they have no function in common, and none of them can be left out,
 *                as far as rounding lets one tell. One with the same input is there where the two
 *                intervals do not meet. NULL or hf_envelope_readings() places
 * @param smallest_norm with which it would have been taken, as minimum_norm of hf_consistency;
 *                infinite where none would do, NaN where nothing was refused. NULL or one place
 * A NULL envelope has none. O(n), allocates nothing; like hf_envelope_add() it needs it alone.
 */
HF_API void hf_envelope_conflict(const hf_envelope *envelope, size_t *count, size_t *reading,
                                 double *smallest_norm);

HF_END_DECLS

#endif
