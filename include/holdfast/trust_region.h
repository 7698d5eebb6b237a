/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file trust_region.h
 * @brief Trust regions for many inputs: a box around the best place that grows with success,
 * shrinks with failure and starts anew where nothing is left to gain (TuRBO).
 *
 * Nothing here fits or measures. A region is a few plain numbers that its owner writes down; the
 * same numbers and the same outcomes make the same region. Values are maximised.
 *
 * A round goes like this. hf_trust_region_box() makes the box around the centre, the place of the
 * region's trials with the largest posterior mean. Something chooses points in the box:
 * hf_maximise_ucb(), or draws over hf_trust_candidates(). When they are told, the model is
 * fitted again. hf_trust_region_update() takes the posterior means of the old centre and of the
 * best new place, both by the new model. After HF_TRUST_ENDED
 * hf_trust_region_restart() begins again, with a centre that the owner chooses.
 *
 * The published method takes the largest reading for the centre and for success. One wrong reading
 * then holds the region where nothing is; posterior means of a robust model do not follow it.
 *
 * Source: Eriksson, Pearce, Gardner, Turner, Poloczek, Scalable global optimization via local
 * Bayesian optimization, NeurIPS 2019. All functions are thread-safe, with a context for each
 * thread.
 */
#ifndef HOLDFAST_TRUST_REGION_H
#define HOLDFAST_TRUST_REGION_H

#include <holdfast/optimise.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

/** How regions move. Start from hf_trust_settings_default(). Sides are shares of the domain's. */
typedef struct hf_trust_settings {
    /** sizeof(hf_trust_settings) */
    size_t size;
    /** Side at the start; in [smallest, largest]. Default: 0.8. */
    double side;
    /** A region with a smaller side has ended; > 0. Default: 1/128. */
    double smallest;
    /** The largest side. Default: 1.6. */
    double largest;
    /** So many successes in a row double the side; >= 1. Published with TuRBO: 3. Default: 10. */
    size_t successes;
    /** So many failures in a row halve the side; 0: ceil(max(4, d) / batch). Default: 0. */
    size_t failures;
    /** A success gains more than this times `scale`; >= 0. Default: 0.001. */
    double improvement;
} hf_trust_settings;
HF_SETTINGS(hf_trust_settings)

/** One region. Plain numbers, to be kept anywhere. The centre is the owner's. */
typedef struct hf_trust_region {
    /** present one */
    double side;
    /** in a row */
    size_t successes;
    /** in a row */
    size_t failures;
    /** in a row, until the side is halved */
    size_t failures_allowed;
    /** made so far */
    size_t restarts;
} hf_trust_region;

/** A round of a region, by the model that knows it. */
typedef struct hf_trust_outcome {
    /** posterior mean at the old centre */
    double before;
    /** largest posterior mean at the new places */
    double after;
    /** unit of an improvement, such as the values' sd; 0: |before|, as published */
    double scale;
} hf_trust_outcome;

/** Effect of a round on the side. */
typedef enum hf_trust_event {
    HF_TRUST_KEPT = 0,
    HF_TRUST_GREW,
    HF_TRUST_SHRANK,
    /** below the smallest side: to be restarted */
    HF_TRUST_ENDED
} hf_trust_event;

/**
 * A region at its start.
 * @param settings NULL: the defaults
 * @param free_inputs of the domain, d >= 1
 * @param batch    points a round, >= 1
 * HF_ERR_ARGUMENT, HF_ERR_NOT_FINITE; *out untouched. O(1).
 */
HF_API hf_status hf_trust_region_create(hf_context *ctx, const hf_trust_settings *settings,
                                        size_t free_inputs, size_t batch, hf_trust_region *out);

/**
 * Counts a round as a success if after > before + improvement * scale, else as a failure. So many
 * successes in a row double the side, up to the largest; so many failures halve it. A region that
 * has ended is only restarted.
 * @param event what happened, or NULL
 * HF_ERR_ARGUMENT (also for a region that has ended), HF_ERR_NOT_FINITE; outputs untouched. O(1).
 */
HF_API hf_status hf_trust_region_update(hf_context *ctx, const hf_trust_settings *settings,
                                        const hf_trust_outcome *outcome, hf_trust_region *region,
                                        hf_trust_event *event);

/** The side and the counts of the start; restarts + 1. HF_ERR_ARGUMENT, HF_ERR_NOT_FINITE. O(1). */
HF_API hf_status hf_trust_region_restart(hf_context *ctx, const hf_trust_settings *settings,
                                         hf_trust_region *region);

/**
 * The region's box: centre_j +- side w_j (upper_j - lower_j) / 2, cut at the domain's, where w_j =
 * l_j / (upper_j - lower_j) over the geometric mean of those. Inputs that are fixed, and those with
 * an infinite lengthscale (categories, say), do not count in the mean; the former stay, the latter
 * have their whole side. A side that would hold no number but the centre is the centre. On a
 * lattice the ends are the values nearest to those; a category has all its codes.
 * @param boundary     the domain, a box
 * @param centre       d entries, in the domain
 * @param lengthscales d entries > 0, units of the inputs; NULL: all w_j are 1
 * @param lower, upper d entries each
 * HF_ERR_ARGUMENT, HF_ERR_NOT_FINITE; outputs untouched. O(d).
 */
HF_API hf_status hf_trust_region_box(hf_context *ctx, const hf_trust_region *region,
                                     const hf_domain *boundary, const double *centre,
                                     const double *lengthscales, double *lower, double *upper);

/**
 * Candidates for draws of a posterior in many dimensions: points that fill the box evenly
 * (hf_domain_quasirandom()), of which each free input is kept with probability min(1, 20 / d) and
 * else the centre's; at least one is kept.
 * @param box    the region's
 * @param centre d entries
 * @param stream number of the random stream; with the context's seed it decides the points
 * @param x      count x d row-major
 * HF_ERR_ARGUMENT, HF_ERR_NOT_FINITE; x untouched. O(count d).
 */
HF_API hf_status hf_trust_candidates(hf_context *ctx, const hf_domain *box, const double *centre,
                                     uint64_t stream, size_t count, double *x);

/**
 * Several regions share a batch: draw k of the posterior, over the candidates of all regions
 * together, gives point k where it is largest, of equals the first, never a candidate twice.
 * Regions whose chances are best get most points: a bandit with Thompson's rule.
 * @param count   candidates of all regions together, >= draws
 * @param samples draws x count row-major
 * @param chosen  draws entries: numbers of candidates
 * HF_ERR_ARGUMENT, HF_ERR_NOT_FINITE, HF_ERR_MEMORY; outputs untouched. O(draws count).
 */
HF_API hf_status hf_trust_choose(hf_context *ctx, size_t draws, size_t count, const double *samples,
                                 size_t *chosen);

HF_END_DECLS

#endif
