/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certify.h
 * @brief Ranges that a prediction surely does not leave while its inputs move within a box.
 *
 * For a posterior and a box of inputs, lower_j <= x_j <= upper_j, hf_certify() returns numbers with
 *
 *     range.lower <= value(x) <= range.upper        for every x in the box,
 *
 * where the value is the latent mean, the latent standard deviation, or mean + beta sd. Best-first
 * branch and bound makes them as tight as asked: it splits boxes until upper - upper_attained and
 * lower_attained - lower are within the tolerance. The attained values are those of the posterior
 * at two points of the box, which are returned too. Stopped early, by a limit or a decision, the
 * range is wider and just as true: it holds over every box that is still open or was put aside.
 *
 * The same call is a deterministic global optimiser of posterior means: lower_attained at argmin is
 * within the tolerance of the minimum.
 *
 * Works on every posterior, whoever made it: exact, inducing, projected; Gaussian or robust sites;
 * one output or several.
 *
 * **Ground of a certificate.** A certificate rests on this: value(x) is the result of the formulas
 * of posterior.h for the stored kernel, weights and factor. By default the bounds are computed in
 * double precision. They are then moved outward by an a-priori bound on the rounding errors of that
 * computation (range.rounding), of values, slopes and curvatures alike. It covers sums, products
 * and the kernel's elementary functions as accurate as the C library states them; it is a bound on
 * the usual model of floating-point arithmetic, not a proof by intervals.
 *
 * **Units** are the user's, as everywhere in posterior.h.
 *
 * **Several outputs.** `settings.output` says which one; the box is about the inputs of the data,
 * without the number of the output.
 *
 * With `rigorous` every number on the way is an interval. So the range is proof for the function
 * that the stored doubles define by exact operations. The factor of an exact posterior is not taken
 * at its word then. A rigorous search takes some hundred times as long. The value at argmin is then
 * surely at most lower_attained, and that at argmax at least upper_attained. The
 * proof assumes that the C library's expl, log1pl, sinl and cosl are within 4 units in the last
 * place of the exact values. The GNU C library states at most 3 on x86-64.
 *
 * docs/methods/certify.md derives the bounds.
 *
 * Thread-safe, with a context for each thread: the posterior is only read.
 */
#ifndef HOLDFAST_CERTIFY_H
#define HOLDFAST_CERTIFY_H

#include <holdfast/posterior.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

/** The value that is enclosed. */
typedef enum hf_certify_what {
    /** latent mean */
    HF_CERTIFY_MEAN = 0,
    /** latent standard deviation */
    HF_CERTIFY_SD,
    /** mean + beta sd, beta of either sign */
    HF_CERTIFY_MEAN_PLUS
} hf_certify_what;

/** Bounds that are computed for each box and intersected; several are joined with |. */
enum {
    /** mean: sums over coordinates below and above each covariance (Patane et al. 2022) */
    HF_BOUND_DECOMPOSITION = 1,
    /** mean: Taylor polynomial at the centre, remainder by the norm of the mean in the kernel's
     * space */
    HF_BOUND_TAYLOR = 2,
    /** sd: the same for the posterior's features */
    HF_BOUND_FEATURE = 4,
    HF_BOUND_ALL = 7
};

#define HF_MOST_PARTS 1000000

/** Which points of a box are meant, about the middle c of it with half-widths h. */
typedef enum hf_shape {
    /** all of them */
    HF_SHAPE_BOX = 0,
    /** sum ((x_j - c_j) / h_j)^2 <= 1 */
    HF_SHAPE_L2,
    /** sum |x_j - c_j| / h_j <= 1 */
    HF_SHAPE_L1
} hf_shape;

/** A part of each box that inputs stay in. Always start from hf_region_default(). The caller owns
 * all that the pointers lead to. Not for rigorous settings but for HF_SHAPE_BOX with `least`,
 * `most`, `moves` and `sets`. */
typedef struct hf_region {
    /** sizeof(hf_region) */
    size_t size;
    /** Shape about c, of those inputs of a box that move. Default: HF_SHAPE_BOX. */
    hf_shape shape;
    /** Limits that points are within besides, `inputs` entries each: what is physical. Both or
     * none; infinite: none. c is within them, and need not be the middle any more. Default: NULL
     * (no limits). */
    const double *least, *most;
    /** `inputs` entries; above 0: the input moves by whole multiples of it from c; 0: freely.
     * Default: NULL (all move freely). */
    const double *step;
    /** At most so many inputs move (an L0 ball); 0: all may move at once. Default: 0. */
    size_t moves;
    /** set_count x inputs, true for the inputs that move together. A point is meant where all
     * inputs outside of one set are as in c. Patches of a picture, groups. Not with `moves`.
     * Default: NULL (all move together). */
    const bool *sets;
    /** Rows of `sets`. Default: 0. */
    size_t set_count;
    /** c of each box, boxes x inputs, inside it. Functions that are given points take these.
     * Default: NULL (c is the middle of the box). */
    const double *centre;
} hf_region;

/** Tolerance, limits and kind of a search for a certificate. */
typedef struct hf_certify_settings {
    /** sizeof(hf_certify_settings) */
    size_t size;
    /** beta of mean + beta sd. Default: 1. */
    double beta;
    /** The one of several outputs. Default: 0. */
    size_t output;
    /** Widest gap between a bound and a value attained; > 0, units of the value. Default: 0.01. */
    double tolerance;
    /** Seconds for one box, whose two ends take turns; 0: no limit. Where it ends a search the
     * result depends on the clock. Default: 60. */
    double time_limit;
    /** Seconds for all boxes of a call; 0: no limit. Each has an even share of what is left, so
     * that later ones have what earlier ones did not use. The box as a whole is bounded in any
     * case. Default: 0. */
    double total_time;
    /** Boxes whose bounds are computed, for each of the two ends; 0: no limit. 1 is the given box
     * alone. Default: 0. */
    size_t node_limit;
    /** Bytes for the parts of one box that are still open, half for each end; 0: no limit. 256
     * parts of each end are kept in any case. The result is that of the same search stopped
     * earlier. Default: 268435456 (256 MiB). */
    size_t memory_limit;
    /** The lower end alone, half the work: range.upper is infinite and upper_attained NaN. Default:
     * false. */
    bool lower_only;
    /** Likewise, the upper end alone. Default: false. */
    bool upper_only;
    /** The search stops as soon as all values are known to be on one side of this one, or values on
     * both sides are attained. Default: NaN (never). */
    double decide_at;
    /** The bounds that are used; fewer, to compare them. A value that none of them bounds has an
     * infinite range. Default: HF_BOUND_ALL. */
    size_t bounds;
    /** Proof against rounding, by interval arithmetic throughout; `bounds` is not looked at then.
     * Default: false. */
    bool rigorous;
    /** The sd is that of a new reading, (calibration (var + noise))^(1/2) as hf_predict() has it,
     * and else that of the latent function. For posteriors mean + beta sd is then a quantile of new
     * readings, and 1 - 2 Phi(-beta) of them are within mean +- beta sd. Default: false. */
    bool observed;
    /** The points of the boxes that are meant; the caller's. Default: NULL (all of them). */
    const hf_region *region;
} hf_certify_settings;

/** Why a search ended. */
typedef enum hf_certify_stop {
    /** both ends are within the tolerance of attained values */
    HF_CERTIFY_TOLERANCE = 0,
    /** decide_at is answered */
    HF_CERTIFY_DECIDED,
    HF_CERTIFY_TIME,
    HF_CERTIFY_NODES,
    /** the rounding allowance is more than the tolerance, or a box has become too small to split */
    HF_CERTIFY_ROUNDING,
    /** memory_limit */
    HF_CERTIFY_MEMORY,
    /** a bound or a value overflows: the range says nothing (infinite, of a probability 0 to 1),
     * and nothing is attained: NaN */
    HF_CERTIFY_NOT_FINITE
} hf_certify_stop;

/** The range over one box. */
typedef struct hf_range {
    /** lower <= value(x) <= upper for every x in the box */
    double lower, upper;
    /** values at argmin and argmax */
    double lower_attained, upper_attained;
    hf_certify_stop stop;
    /** boxes whose bounds were computed, both ends together */
    size_t nodes;
    /** wall clock */
    double seconds;
    /** allowance for rounding, and of several classes for quadrature, in the bounds of the given
     * box; those of its parts are smaller. 0 when rigorous */
    double rounding;
    /** proof against rounding, as asked for */
    bool rigorous;
    /** the range holds if an estimated error does, six standard errors of a quadrature:
     * probabilities of five classes and more (certify_uses.h). Else false */
    bool estimate;
} hf_range;

/** The defaults that the fields name. */
HF_SETTINGS(hf_certify_settings)
/** All points of a box. */
HF_SETTINGS(hf_region)

/**
 * The range of a value over one box.
 * @param settings NULL for the defaults
 * @param lower, upper the sides, one entry per input of the data; equal ones hold an input fixed.
 *                 All equal: a point, and the range is its value with the allowance for rounding
 *                 either way
 * @param argmin, argmax where lower_attained and upper_attained are attained: one entry per input,
 *                 or NULL. Inside the box to the last digit. Not written with upper_only,
 *                 lower_only
 *
 * Errors, which leave all outputs alone: HF_ERR_ARGUMENT for a NULL, a lower side above the upper,
 * an output that is not there; for a tolerance that is not above 0, and a negative time; for an
 * input that is the number of an output and moves (posteriors without outputs of their own whose
 * kernel has coregion); HF_ERR_NOT_FINITE for sides that are not finite; HF_ERR_MEMORY;
 * HF_ERR_CANCELLED.
 * HF_WARN_NOT_CONVERGED: stopped by a limit, by rounding or by what is not finite; the range holds
 * all the same.
 *
 * Cost: O(n^2) kernel values once a box for the norm of the mean, then O(n (d + m^2)) for each of
 * the boxes it is split into when m inputs move; with sd another O(n^2 m). Where the kernel is one
 * se and up to 16 inputs move, O(n^2 m) for boxes that would have to be split into very many parts.
 * A few hundred boxes are common for m = 2 and for wide boxes of m = 10. Threads: the same digits
 * for any number of them. The posterior is only read.
 *
 * With `region` the range is over those points of the box that are in the region: parts of the box
 * that do not meet it are dropped, others shrink to what does. At most `moves` inputs, and sets:
 * the union of a box for each choice, of which there may be HF_MOST_PARTS a box; the time limit is
 * for all of them. Attained points are in the region to rounding.
 *
 * Reports progress ("certify") in every round of the search, and where one box takes long within
 * it, and can be cancelled. Memory: the bytes of memory_limit at most, and what a box's bounds
 * need, for each box that is searched at the same time.
 *
 * Rigorous: also HF_ERR_ARGUMENT where the processor's long double is not what it claims
 * (valgrind); also for values with the sd of a posterior that is not exact; HF_ERR_NOT_FINITE where
 * a covariance of two anchors overflows.
 */
HF_API hf_status hf_certify(hf_context *ctx, const hf_posterior *posterior, hf_certify_what what,
                            const hf_certify_settings *settings, const double *lower,
                            const double *upper, hf_range *out, double *argmin, double *argmax);
/**
 * The same for m boxes, in parallel over boxes: lower, upper, argmin and argmax are m x inputs
 * row-major, out has m entries. Progress is the share of boxes with an answer. Errors name the box,
 * and leave all outputs alone; what is not finite in one box is that box's answer alone
 * (HF_CERTIFY_NOT_FINITE). The warning is that of the last box that has one. The digits are those
 * of hf_certify(). Cost: that of hf_certify() for each box; what no box changes is computed once.
 */
HF_API hf_status hf_certify_boxes(hf_context *ctx, const hf_posterior *posterior,
                                  hf_certify_what what, const hf_certify_settings *settings,
                                  size_t m, const double *lower, const double *upper, hf_range *out,
                                  double *argmin, double *argmax);

HF_END_DECLS

#endif
