/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file expert.h
 * @brief A prior mean from what an expert says about readings: which are wrong, and what they
 * should have been.
 *
 * Robust weights fall with the distance of a reading from the prior mean. A mean that knows what an
 * expert knows keeps the right readings and lets go of the wrong ones. The expert labels some
 * readings as believed or doubted and corrects some of those doubted; the rest is inference.
 *
 * **Is it wrong?** Reading i is wrong with probability d_i ~ Beta(a_i, b); a label counts as w
 * observations of that (rcagp S150-S153, where w = 1):
 *
 *     E[d_i] = (a_i + w o_i) / (a_i + b + w)      o_i = 1 if doubted, 0 if believed
 *     a_i = |y_i - average| / sd of all readings, unless given
 *
 * **The right value.** The prior of the right value is normal. Its mean m_i and variance v_i are
 * those of the readings of the J rows nearest to it that nobody doubts; a correction c_i has
 * variance s_i (rcagp S154-S159, with the precision 1 / v_i where Algorithm 1 prints the variance):
 *
 *     E[u_i] = (m_i / v_i + c_i / s_i) / (1 / v_i + 1 / s_i)
 *     Var[u_i] = 1 / (1 / v_i + 1 / s_i)
 *
 * and m_i and v_i themselves where there is no correction. So the right value t_i is u_i if the
 * reading is wrong, and else f_i, the reading itself:
 *
 *     E[t_i]   = (1 - E[d_i]) f_i + E[d_i] E[u_i]
 *     Var[t_i] = E[d_i] Var[u_i] + E[d_i] (1 - E[d_i]) (E[u_i] - f_i)^2
 *
 * **Elsewhere**, the prior mean is an average with the weights of a kernel l, scaled to
 * l(x, x) = 1, over the labelled readings, about a base B (rcagp 22):
 *
 *     m(x) = B + sum_i w_i(x) (E[t_i] - B)       Var = sum_i w_i(x)^2 Var[t_i]
 *     w_i(x) = l(x, x_i) / max(1, sum_k l(x, x_k))
 *
 * It never leaves the hull of B and the E[t_i], is the average of those near x, and B far from all
 * of them. m(x) - B is the expected correction.
 *
 * Source: Expert-guided robust mean prior, in: Robust and computation-aware Gaussian processes
 * (2025), section 5, appendix G and Algorithm 1.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_EXPERT_H
#define HOLDFAST_EXPERT_H

#include <holdfast/kernel.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

typedef struct hf_expert hf_expert;

/** An expert's word on a reading. */
typedef enum hf_expert_label {
    /** nothing */
    HF_EXPERT_UNKNOWN = 0,
    /** that it is right */
    HF_EXPERT_BELIEVED,
    /** that it is wrong */
    HF_EXPERT_DOUBTED
} hf_expert_label;

/** How right values become a mean. */
typedef enum hf_expert_rule {
    /** as above */
    HF_EXPERT_AVERAGE = 0,
    /** as printed in (22): f_i = B, and w_i(x) = l(x, x_i) / h of h labelled readings. With an
     * infinite lengthscale it is the constant of Algorithm 1 */
    HF_EXPERT_PUBLISHED
} hf_expert_rule;

/** Readings and what is said of them. All is copied. */
typedef struct hf_expert_data {
    size_t n, d;
    /** n x d row-major, finite */
    const double *x;
    /** row stride of x, >= d */
    size_t ldx;
    /** n readings; NaN = missing */
    const double *y;
    /** n labels, of readings that are there */
    const hf_expert_label *label;
    /** n corrections, of doubted readings; NaN = none. NULL: none */
    const double *correction;
    /** n variances of them, 0 or more; NaN or NULL: the settings' */
    const double *correction_var;
} hf_expert_data;

/** Start from hf_expert_settings_default(). */
typedef struct hf_expert_settings {
    /** sizeof(hf_expert_settings) */
    size_t size;
    /** How right values become a mean. Default: HF_EXPERT_AVERAGE. */
    hf_expert_rule rule;
    /** l, with its values, units of x. Default: NULL (se with `lengthscale`). */
    const hf_kernel *kernel;
    /** In standard deviations of each input; infinite: l = 1. 0: h^(-1 / (d + 4)) of h labelled
     * readings (Scott's rule). Default: 0. */
    double lengthscale;
    /** a_i. Default: NaN (the rule above). */
    double alpha;
    /** b; >= 0. Default: 0. */
    double beta;
    /** w; > 0. Infinite: labels are certain. Published: 1. Default: 10. */
    double label_weight;
    /** s_i, units of y squared; >= 0. Published: 1 for standardised readings. Default: NaN (a
     * hundredth of the variance of the readings that nobody doubts). */
    double correction_var;
    /** J; >= 1. Default: 3. */
    size_t neighbours;
    /** B. Default: NaN (the median of the readings that nobody doubts). */
    double base;
} hf_expert_settings;

/** The settings named above. */
HF_SETTINGS(hf_expert_settings)

/**
 * Learns from labels and corrections.
 *
 * Neighbours are the undoubted readings of the largest l(x_i, x_k), all of them where the J-th has
 * equals; with an infinite lengthscale those of lengthscale 1. v_i is their sample variance, at
 * least 1e-6 of that of all readings; of a single one, and where everybody is doubted (m_i is then
 * B), that of the undoubted or else of all readings.
 * @param settings NULL: the default
 * @param out      the caller's, to be freed with hf_expert_free()
 * Errors: HF_ERR_NO_DATA (no reading), HF_ERR_DIMENSION (strides, dimension of the kernel),
 * HF_ERR_NOT_FINITE (row named; also beyond 1e150), HF_ERR_ARGUMENT (a label of a missing reading,
 * a correction of a reading that is not doubted, settings), HF_ERR_MEMORY, HF_ERR_CANCELLED. Then
 * `out` is untouched. Cost: O(n d) for each labelled reading; memory O(n d).
 */
HF_API hf_status hf_expert_create(hf_context *ctx, const hf_expert_data *data,
                                  const hf_expert_settings *settings, hf_expert **out);
HF_API void hf_expert_free(hf_expert *expert);

/** Labelled readings; 0 for NULL. */
HF_API size_t hf_expert_labelled(const hf_expert *expert);
/** B; NaN for NULL. */
HF_API double hf_expert_base(const hf_expert *expert);

/** Verdict on one reading; units of y. */
typedef struct hf_expert_reading {
    hf_expert_label label;
    /** E[d_i]; NaN without a label */
    double wrong;
    /** E[u_i]; NaN without a label */
    double corrected;
    /** Var[u_i] */
    double corrected_var;
    /** E[t_i]; of a reading without a label itself */
    double expected;
    /** Var[t_i]; 0 without a label */
    double expected_var;
} hf_expert_reading;

/** Reading `row` of the data, from 0. HF_ERR_ARGUMENT: NULL, or no such row. O(1). Thread-safe. */
HF_API hf_status hf_expert_reading_of(hf_context *ctx, const hf_expert *expert, size_t row,
                                      hf_expert_reading *out);

/**
 * The prior mean at m points.
 * @param x    m x d row-major, stride ldx >= d
 * @param mean m entries: m(x); or NULL
 * @param var  m entries: its variance; or NULL
 * Without labels m(x) = B and the variance is 0. Errors: HF_ERR_ARGUMENT, HF_ERR_DIMENSION,
 * HF_ERR_NOT_FINITE (row named), HF_ERR_MEMORY; outputs are undefined then. Cost O(m d h) for h
 * labelled readings. Threads may share an expert, each with a context of its own.
 */
HF_API hf_status hf_expert_mean(hf_context *ctx, const hf_expert *expert, size_t m, const double *x,
                                size_t ldx, double *mean, double *var);

/**
 * Which readings to ask the expert about: those that are expected to move the prior mean most.
 *
 * Candidates are readings without a label and doubted ones without a correction. One of them is
 * wrong with probability p, and its right value is normal with mean q and variance r before it is
 * asked about. The expert then moves the right value by, in the mean square,
 *
 *     p ((q - y)^2 + r^2 / (r + s))     without a label: p = e / (1 + e), e = |y - q| / sqrt(r)
 *     E[d]^2 r^2 / (r + s)              doubted
 *
 * and the prior mean at all readings by the sum of its squared weights there as much. Chosen one
 * after the other, each as if those before it were labelled: readings near each other are not asked
 * about together. The first of those that are equal to 1e-9 is taken.
 * @param expected n values q, such as leave-one-out means; NaN or NULL: of the neighbours
 * @param sd       n values sqrt(r) > 0; NaN or NULL: of the neighbours
 * @param count    how many at most; receives how many: fewer if others would move nothing
 * @param rows     as many entries: their rows, from 0, in the order of choice
 * @param move     as many or NULL: root mean square over all n readings of how far the prior mean
 *                 is expected to move, units of y
 * Errors, on which `count` is as it was: HF_ERR_ARGUMENT, HF_ERR_MEMORY, HF_ERR_CANCELLED. Cost
 * O(n^2 d) for the first, and for each further one O(n d) times how many candidates have to be
 * looked at again. Threads may share an expert, each with a context of its own.
 */
HF_API hf_status hf_expert_ask(hf_context *ctx, const hf_expert *expert, const double *expected,
                               const double *sd, size_t *count, size_t *rows, double *move);

HF_END_DECLS

#endif
