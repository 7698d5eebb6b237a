/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file optimise.h
 * @brief Where to measure next: domains, and the point of a domain where an acquisition function
 * is largest, or smallest.
 */
#ifndef HOLDFAST_OPTIMISE_H
#define HOLDFAST_OPTIMISE_H

#include <holdfast/posterior.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

/**
 * The places that may be chosen: a box, or one of finitely many candidates. A view: the arrays are
 * the caller's.
 *
 * In a box an input is continuous, a lattice, or a category. A lattice has the values lower + k
 * step up to upper, k whole. A category has the codes lower, lower + 1, ..., upper, whose order
 * means nothing.
 */
typedef struct hf_domain {
    /** inputs that are ours to choose, d >= 1 */
    size_t dimension;
    /** box: d entries, finite, lower <= upper; equal ones fix an input */
    const double *lower;
    const double *upper;
    /** 0: the domain is the box. Else the number of rows of `points` */
    size_t candidates;
    /** candidates x d row-major, stride d, finite; then bounds, steps and categories are not
     * looked at */
    const double *points;
    /** box: d entries, 0 for a continuous input, else the step of its lattice, at most 2^31 of
     * them; NULL: all are continuous */
    const double *step;
    /** box: d entries, whether an input is a category, of 1024 codes at most; its step is 0 or
     * 1; NULL: none is */
    const bool *category;
} hf_domain;

/**
 * HF_OK, or HF_ERR_ARGUMENT / HF_ERR_NOT_FINITE with what is wrong, and where. A box must not be
 * wider than the largest number. O(d), or O(candidates d).
 */
HF_API hf_status hf_domain_check(hf_context *ctx, const hf_domain *domain);
/**
 * Whether x (d entries) is in the box, or is one of the candidates, exactly (0 and -0 being the
 * same); *index then says which (of equal ones the first; 0 for a box). On a lattice x may be off
 * by 1e-9 of a step, since 0.3 is not 3 times 0.1. index may be NULL. False for a domain without
 * bounds or points. Thread-safe. O(dimension), and of candidates O(candidates dimension).
 */
HF_API bool hf_domain_contains(const hf_domain *domain, const double *x, size_t *index);
/**
 * Points that fill the box evenly: row k of the sequence is frac(1/2 + (k + 1) a) with a_j = p^-j,
 * p the positive root of p^(d+1) = p + 1 (the golden ratio in one dimension), stretched to the
 * box: any stretch of it is low-discrepancy, no point is on the boundary but by rounding, and d
 * may be anything. (Roberts 2018.) d counts the inputs that are free; those with lower = upper
 * stay. An input of L values takes number floor(L u) of them, u being the sequence. With n
 * candidates: number floor(n u), u the sequence for d = 1.
 * @param first number of the first point
 * @param x     count x d row-major; left alone if the domain has no bounds or points
 * Thread-safe. O(count d).
 */
HF_API void hf_domain_quasirandom(const hf_domain *domain, size_t first, size_t count, double *x);

/** How thoroughly a box is searched. Start from hf_search_settings_default(). */
typedef struct hf_search_settings {
    /** sizeof(hf_search_settings) */
    size_t size;
    /** Points of hf_domain_quasirandom() that are looked at; 0: 256 d, 4096 at most. Default: 0. */
    size_t samples;
    /** So many of the best of them, none within 2 % of the box's sides of a better one, are climbed
     * from; 0: none. Default: 6. */
    size_t starts;
    /** Evaluations of a climb at most; >= 1. Default: 40. */
    size_t iterations;
    /** The answer is rounded to the lattice lower + k (resolution (upper - lower)), k whole, never
     * out of the box: places then repeat. In (0, 1/2]; 0: it is where the climb ends. Default: 0.
     */
    double resolution;
} hf_search_settings;
HF_SETTINGS(hf_search_settings)

/** The confidence bound mean(x) + beta sd(x), latent, user's units. */
typedef struct hf_ucb {
    /** sizeof(hf_ucb) */
    size_t size;
    /** whose mean. Default: none. */
    const hf_posterior *mean;
    /** whose standard deviation; NULL: the same. Inputs as many as `mean` has. Default: none. */
    const hf_posterior *spread;
    /** finite. >= 0 for upper bounds; hf_ucb_evaluate() gives lower bounds with negative ones.
     * Default: 0. */
    double beta;
    /** inputs of the posterior behind the domain's: not ours to choose (time, weather); dimension
     * + contexts = those of the posterior. Default: 0. */
    size_t contexts;
    /** `contexts` values, or NULL for none. Default: none. */
    const double *context;
    /** hf_maximise_ucb() finds the argmin of mean - beta sd instead: the place and, with the sign
     * changed, the value that it finds for -f, to the last digit. Default: false. */
    bool minimise;
} hf_ucb;
HF_SETTINGS(hf_ucb)

/**
 * Value of the bound at one point x (the domain's d inputs), with its gradient (d entries or NULL):
 * O(n^2), or O(n d) with beta = 0. Where sd is 0 the gradient is the mean's.
 * @param mean, spread workspaces of the two posteriors (hf_posterior_workspace_create()); `spread`
 *         is not looked at when both are the same
 * Allocates nothing; thread-safe with workspaces of one's own. HF_ERR_ARGUMENT, HF_ERR_DIMENSION,
 * HF_ERR_NOT_FINITE (no message); outputs untouched.
 */
HF_API hf_status hf_ucb_evaluate(const hf_ucb *bound, hf_posterior_workspace *mean,
                                 hf_posterior_workspace *spread, size_t d, const double *x,
                                 double *value, double *gradient);

/** The place that was found. */
typedef struct hf_argmax {
    /** mean + beta sd; minimising, mean - beta sd */
    double value;
    /** latent */
    double mean;
    /** latent */
    double sd;
    /** the candidate; 0 for a box */
    size_t index;
    /** of the bound */
    size_t evaluations;
    /** made */
    size_t climbs;
    /** box: largest entry of the gradient at the end of the best climb, times the box's side, that
     * does not push out of the box */
    double gradient;
    double seconds;
} hf_argmax;

/**
 * argmax of the bound over a domain.
 *
 * Candidates: all are looked at; of equal ones the first wins. Box: `settings->samples`
 * quasi-random points are looked at all at once; with them the anchors of `bound->mean` in the box
 * (the last ones, no more than samples), the `guesses`, and the corners of the box when 2^d <= 16;
 * the best start bounded quasi-Newton climbs (L-BFGS, exact gradients). The result is the best
 * point seen; of equal ones the first. The same for the same arguments, whatever the threads.
 * Candidates whose values differ by less than 1e-12 of the largest are equal but for rounding. In
 * boxes d counts the inputs that are free. Lattices and categories: climbs move the continuous
 * inputs. Between them the best of all steps is taken that change one other input, by 1, 2, 4, ...
 * values or to any other code, until none gains more than 1e-9 of the range that was looked at. A
 * box of no more than `samples` points is searched wholly. Lattices are not rounded to
 * `resolution`.
 * @param settings NULL: the defaults. Not looked at for candidates.
 * @param guesses  guess_count x d row-major: further starts, e.g. where it was last time; put into
 *         the box; NULL for none. Not looked at for candidates.
 * @param x        d entries
 * @param report   or NULL
 * HF_WARN_NOT_CONVERGED is never returned: a global maximum is not certified (hf_certify() does
 * that). Errors: HF_ERR_ARGUMENT, HF_ERR_DIMENSION, HF_ERR_NOT_FINITE, HF_ERR_MEMORY,
 * HF_ERR_CANCELLED; outputs untouched. Cost: samples n (d + n) flops and starts x iterations x
 * O(n^2); threads take part in the former, from 4 10^6 on.
 */
HF_API hf_status hf_maximise_ucb(hf_context *ctx, const hf_ucb *bound, const hf_domain *domain,
                                 const hf_search_settings *settings, size_t guess_count,
                                 const double *guesses, double *x, hf_argmax *report);

HF_END_DECLS

#endif
