/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track_advice.h
 * @brief Whether tracking pays: standing still as the rival, and methods compared.
 *
 * A track that explores for ever can lose more than whoever never moves. Its readings say so,
 * and what is here makes them say it: hf_track_standing_of() looks back, hf_track_advise()
 * looks ahead.
 *
 * Both go by a posterior of f in place and time: prior covariance k(x, x') exp(-(t - t')^2 / (2
 * T^2)), the track's kernel k, an estimated constant, and readings of variance noise / weight,
 * as hf_track_fit() has them. It knows what readings before and after say about a time between,
 * which no method that must choose in time can know.
 *
 * One thread at a time uses a track, the survey and what was learnt too.
 */
#ifndef HOLDFAST_TRACK_ADVICE_H
#define HOLDFAST_TRACK_ADVICE_H

#include <holdfast/settings.h>
#include <holdfast/track.h>

HF_BEGIN_DECLS

/** Gain of standing still, in units of y; positive where it would have been better
 * (also where a track minimises). */
typedef struct hf_track_standing {
    /** the candidate to stand at; 0 in a box */
    size_t index;
    /** own readings: the newer half of those in memory for it */
    size_t compared;
    /** the expert's since the oldest of these */
    size_t answers;
    /** mean over the own readings of f(x, t_i) - f(x_i, t_i): posterior mean */
    double gain;
    /** and posterior standard deviation */
    double sd;
    /** the same of the best fixed place, chosen afterwards */
    double hindsight;
    double sd_of_hindsight;
    /** the same over own readings and answers: each answer taken for a run of the same plant
     * that standing still would not have tried */
    double gain_of_runs;
    double sd_of_runs;
    /** gain > 2 sd */
    bool better;
    /** gain_of_runs > 2 sd_of_runs */
    bool better_than_runs;
    /** T, in units of time */
    double period;
} hf_track_standing;

/**
 * A track against whoever stops moving, by its own posterior. The newer half of the own
 * readings among the newest 256 readings is compared, so that what was explored at first is
 * forgiven. The place is the one of those read before that had the best posterior mean when
 * that half began, by what was known then: nobody needed to see the future to stand there.
 * `hindsight` is of the place read whose gain less two standard deviations is largest, by all
 * that is known now.
 *
 *     gain = sum_i a_i (f(x, t_i) - f(x_i, t_i))    a_i = 1 / compared
 *
 * is a linear functional of f: mean and variance are exact, the constant cancels. T is the one
 * of a ladder (factors of 1.6) of largest evidence, the scale of all variances likewise. With
 * `better` a track follows noise or explores more than it gains: a smaller drift, a method that
 * forgets less, or standing still at x lose less. hf_track_advise() compares.
 * @param x d entries: where to stand
 * HF_ERR_NO_DATA with fewer than 20 own readings; HF_ERR_ARGUMENT; HF_ERR_MEMORY;
 * HF_ERR_NOT_POSITIVE_DEFINITE when no T gives the readings a posterior. Changes nothing. O(30
 * n^3), n = min(readings, 256): up to a tenth of a second. The track is not changed.
 */
HF_API hf_status hf_track_standing_of(hf_context *ctx, const hf_track *track, double *x,
                                      hf_track_standing *out);

/* ---- before a method is chosen ---------------------------------------------------------- */

enum {
    /** methods and settings that are compared, at most */
    HF_ADVICE_ROWS = 16,
    /** of a survey, at most */
    HF_ADVICE_INPUTS = 16
};

/** How to compare. Start from hf_advice_settings_default(). */
typedef struct hf_advice_settings {
    /** sizeof(hf_advice_settings) */
    size_t size;
    /** Functions drawn; 2 to 1000. Default: 8. */
    size_t draws;
    /** Own readings on each; 2 to 1000. Default: 60. */
    size_t steps;
    /** Time from one to the next; 0: the survey's mean gap between times. Default: 0. */
    double step;
    /** Answers of an expert before each; 0: there is none. Default: 0. */
    size_t queries;
    /** An answer is a run of the same plant: rows are ranked by loss_of_runs. Default: false. */
    bool costly;
} hf_advice_settings;
HF_SETTINGS(hf_advice_settings)

/** A method with its settings, and what it would lose. */
typedef struct hf_advice_row {
    /** stand at the advice's `still`; no method */
    bool still;
    /** of hf_track_settings, as the next five; robust 0 but for sparq */
    hf_track_method method;
    /** none where the method has no age law */
    hf_age_kind law;
    double rate;
    /** NaN where the method has none */
    double window, forgetting;
    size_t queries;
    /** regret a step, mean over draws, and its standard error */
    double loss, loss_error;
    /** of the expert, a step */
    double answers;
    /** regret a run, each answer counted as a run at its place */
    double loss_of_runs;
    /** loss of standing still less this one's, draw by draw */
    double saved, saved_error;
} hf_advice_row;

/** Advice. */
typedef struct hf_track_advice {
    size_t rows;
    /** the least loss first */
    hf_advice_row row[HF_ADVICE_ROWS];
    /** the first row saves more than two standard errors over standing still */
    bool moving_pays;
    /** the row to use: the first, or standing still where moving does not pay */
    size_t best;
    /** where to stand: the best mean over the survey's times */
    double still[HF_ADVICE_INPUTS];
    /** learnt: variance, sd of f's rate of change, T */
    double noise, rate, period;
    /** time of a step, as it was used */
    double step;
    size_t steps;
} hf_track_advice;

/**
 * Chooses method, age law, rate, window or forgetting from a survey: readings at several places
 * and times. Kernel, noise and T are learnt from them as by hf_track_fit(), from five noises and
 * time scales, of which the highest evidence stays. Then functions of place and time are drawn from
 * the posterior given the survey. A draw is one of the prior over at most 101 places and a window
 * of the survey's time, moved by Matheron's rule. Each method is run on each function with errors
 * of the learnt variance, cold but for ten readings spread over the places. The rival stands still
 * at the place that the survey has the best mean for.
 *
 *     rates and windows from T and the rate r = sd / T that are learnt:
 *     ui-gp-ucb, sparq   quadratic r and 3 r; ui-gp-ucb also wiener sd / sqrt(2 T) and 0.3 of it
 *     tv-gp-ucb          correlation exp(-age / (2 T)) and exp(-age / (10 T)); w-gp-ucb exp(-1 / T)
 *     sw-gp-ucb          T
 *
 * It is as good as the survey: what f does where and when nothing was read is the kernel's
 * guess, and differences below two standard errors are chance. Wrong readings are not doubted.
 * @param survey a track that was told the readings (the newest 256 are used): its domain,
 *        kernel expression (held parameters stay) and `minimise` are those of the advice
 * @param learnt a track with what was learnt, told the survey, for its kernel and noise; the caller
 *        frees it; or NULL
 * HF_ERR_NO_DATA: fewer than 16 readings, all of one time, or all the same. HF_WARN_AT_BOUND,
 * HF_WARN_NOT_CONVERGED of the fit; HF_ERR_ARGUMENT; HF_ERR_CANCELLED; HF_ERR_MEMORY;
 * HF_ERR_NOT_POSITIVE_DEFINITE. The same seed of the context gives the same advice. O(rows
 * draws steps (P^3 + 101 P^2)), P readings that count: seconds. The survey is not changed.
 */
HF_API hf_status hf_track_advise(hf_context *ctx, const hf_track *survey,
                                 const hf_advice_settings *comparison, hf_track_advice *out,
                                 hf_track **learnt);

HF_END_DECLS

#endif
