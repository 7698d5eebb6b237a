/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track.h
 * @brief Optimising what drifts: time-varying Gaussian process bandits that may ask an expert.
 *
 * f_t(x) is to be maximised, or minimised (`minimise`), while t goes on. A step is
 *
 *     hf_track_requests(track, t)   where the expert should measure f_t again (SparQ
 *                                   methods; the list may be empty)
 *     hf_track_answer(...)          for all, some or none of them, now or later
 *     hf_track_ask(track, t)        the next place: argmax of mean + beta sd, or argmin of
 *                                   mean - beta sd
 *     hf_track_tell(...)            what was measured there (or anywhere else)
 *
 * and every call is optional: whoever only tells and predicts has a tracker. Time is any real
 * number in any unit; stamps may be irregular and come out of order.
 *
 * | method | readings at time t | source |
 * |---|---|---|
 * | gp-ucb | all, as if nothing drifted | Srinivas et al. 2012 |
 * | r-gp-ucb | those of the block of length w that t is in | Bogunovic 2016, Zhou, Shroff 2021 |
 * | sw-gp-ucb | those of age < w | Zhou, Shroff 2021 |
 * | tv-gp-ucb | all; kernel times (1 - eps)^(|t - t'| / 2) | Bogunovic et al. 2016 |
 * | w-gp-ucb | all; noise eta^-age for the mean, eta^(-2 age) for the sd | Deng et al. 2022 |
 * | ui-gp-ucb | all, aged (ageing.h) | Brunzema et al. 2022 |
 * | sparq | aged, dropped above g(t); the expert's last answers | SparQ-GP-UCB, Algorithm 1 |
 * | sparq-reuse | aged, dropped when they say nothing; all answers, aged | this library |
 *
 * "All" ends where a reading's variance is `negligible` times the prior's. The newest reading
 * always counts.
 *
 * Readings at one place are merged exactly (precisions add), so that the cost of a step follows
 * the places, not the time: with P places that count O(P^3) for the posterior, and
 * hf_maximise_ucb()'s cost with n = P. tv-gp-ucb has a place for each reading.
 *
 * **Prior mean**: a constant, estimated at every step by generalised least squares from the
 * readings that count; or given. Zero is a bad idea (docs/methods/track.md).
 *
 * **Robust sites** (`robust` = k): a reading's weight is 1 / (1 + r^2 / c^2), r its distance from
 * the last posterior's mean there (hf_sites_robust()). c^2 = k^2 (var + drift + noise), with that
 * posterior's variance there and what the age law adds since. Weights are decided once, when the
 * reading is told.
 *
 * Thread-safety: a track is used by one thread at a time. Readings and answers are lost only with
 * the object; track_file.h keeps it in a file. On error nothing changes, unless said otherwise.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_TRACK_H
#define HOLDFAST_TRACK_H

#include <holdfast/ageing.h>
#include <holdfast/optimise.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

typedef struct hf_track hf_track;

/** The methods of the table above. */
typedef enum hf_track_method {
    HF_TRACK_GP_UCB = 0,
    HF_TRACK_R_GP_UCB,
    HF_TRACK_SW_GP_UCB,
    HF_TRACK_TV_GP_UCB,
    HF_TRACK_W_GP_UCB,
    HF_TRACK_UI_GP_UCB,
    HF_TRACK_SPARQ,
    HF_TRACK_SPARQ_REUSE
} hf_track_method;

/** The confidence multiplier beta. With t the number of the step (own readings told, plus one). */
typedef enum hf_beta_rule {
    /** sqrt(0.8 log(4 t)) (Bogunovic et al. 2016, sec. 5) */
    HF_BETA_PRACTICAL = 0,
    /** B + sqrt(2 log(2 |K + D|^1/2 / (delta |D|^1/2))), D the variances of the sites that count
     * (SparQ-GP-UCB eq. 26) */
    HF_BETA_THEORY,
    HF_BETA_GIVEN
} hf_beta_rule;

/** Which readings are dropped for their age. */
typedef enum hf_discard_rule {
    /** variance above `negligible` x prior variance */
    HF_DISCARD_NEGLIGIBLE = 0,
    /** variance above noise log t (SparQ-GP-UCB, Algorithm 1), or above that */
    HF_DISCARD_LOG,
    /** variance above discard_variance, or above that */
    HF_DISCARD_VARIANCE
} hf_discard_rule;

/** Where the expert is asked: among the places where something was told, but for anywhere. A place
 * may be on a list more than once, where its variance after one answer is still above that of
 * others.
 * Answers are taken to err independently. */
typedef enum hf_place_rule {
    /** one after another where the variance given the readings that count and the answers to come
     * is largest; ends where that falls below `tolerance` x expert noise */
    HF_PLACES_VARIANCE = 0,
    /** the same with the upper bound mean + beta sd (minimising: the lowest mean - beta sd),
     * answers to come lowering sd (Desautels, Krause, Burdick 2014): what is not refreshed is
     * explored instead, so only where beta is small */
    HF_PLACES_UPPER,
    /** a sample of the M-DPP of the kernel over the places (dpp.h), as in the paper: distinct ones
     */
    HF_PLACES_DPP,
    /** a survey: the places of the domain whose answers leave least variance on average, out of at
     * most min(`most_places`, 256). They come from hf_domain_quasirandom(), new for each list, or
     * are all candidates; ends where none exceeds `tolerance` x expert noise. For an expert who can
     * measure anywhere; docs/methods/track.md says when it is better */
    HF_PLACES_ANYWHERE,
    /** as dpp, with a chain whose tolerance is 1/t and at most 0.01 (SparQ-GP-UCB, Proposition 2:
     * of the order 1/t): 2 log(t / 100) N Q steps more */
    HF_PLACES_DPP_FALLING
} hf_place_rule;

/** Settings of a track. Always start from hf_track_settings_default(). hf_track_create() copies
 * what pointers lead to. */
typedef struct hf_track_settings {
    /** sizeof(hf_track_settings) */
    size_t size;
    /** Method of the table above. Default: HF_TRACK_GP_UCB; hf_track_settings_init() sets the one
     * it is given. */
    hf_track_method method;
    /** true: the smallest value is looked for, as the largest would be if -y had been told.
     * Default: false. */
    bool minimise;
    /** Required. Default: none. */
    hf_domain domain;
    /** Names of the inputs. Default: NULL (x1, x2, ...). */
    const char *const *names;
    /** Expression (kernel.h) in the inputs, user's units, without white and coregion. The values it
     * says or starts at are used; hf_track_fit() trains those that are not held. Default: NULL
     * ("se" with outputscale 1 and lengthscale a tenth of the box's sides, or of the candidates'
     * range). */
    const char *kernel;
    /** Variance of a reading; > 0. Default: 0.01. */
    double noise;
    /** Variance of an answer; 0: `noise`. Default: 0. */
    double expert_noise;
    /** true: the prior mean is `mean`; false: it is estimated. Default: false. */
    bool mean_given;
    /** The prior mean, where it is given. Default: 0. */
    double mean;
    /** Law of ageing; its rate is the largest drift per unit of time, in units of y. The rate must
     * be set for ui-gp-ucb and the SparQ methods. Default: HF_AGE_QUADRATIC with rate 0. */
    hf_age_law age;
    /** Readings that are dropped for their age. Default: HF_DISCARD_NEGLIGIBLE; for sparq
     * HF_DISCARD_LOG. */
    hf_discard_rule discard;
    /** Limit of HF_DISCARD_VARIANCE. Default: 0. */
    double discard_variance;
    /** A reading's variance counts as too large above so many times the prior's. Default: 100. */
    double negligible;
    /** w of r-gp-ucb and sw-gp-ucb, in time; required there, > 0. Elsewhere 0, or the NaN of a row
     * of advice. Default: 0. */
    double window;
    /** eps in [0, 1) of tv-gp-ucb; eta in (0, 1] of w-gp-ucb; required there. Default: NaN. */
    double forgetting;

    /** Rule of the confidence multiplier. Default: HF_BETA_GIVEN. */
    hf_beta_rule beta_rule;
    /** Multiplier of HF_BETA_GIVEN; >= 0. Default: 2. */
    double beta;
    /** B of the theorem: at least the RKHS norm of every f_t. Default: 1. */
    double norm_bound;
    /** The theorem fails with at most this probability; in (0, 1). Default: 0.05. */
    double delta;
    /** k of robust sites; 0: Gaussian sites. Default: 0; for the SparQ methods 2. */
    double robust;

    /** Where the expert is asked. Default: HF_PLACES_VARIANCE. */
    hf_place_rule places;
    /** c of Q_t = ceil(c log(max(t, 2))^p), the most requests at a time. Default: 6. */
    double query_factor;
    /** p; 0: the number of inputs, as the theorem asks for. Default: 1. */
    double query_power;
    /** So many requests at most; 0: Q_t as above. Default: 0. */
    size_t queries;
    /** Requests are due when so much time went by since the last; 0: at every new time. Default: 0.
     */
    double every;
    /** A list ends where no variance exceeds this share of the expert's noise; >= 0. At 0.05 it
     * nearly always has Q_t places, for a tenth less regret and twice the queries. Default: 0.5.
     */
    double tolerance;
    /** sparq-reuse: a batch of more than 4 answers replaces older answers that are correlated this
     * much with one of its places. 1: only those at the same place; above 1: none. Default: 0.6
     * (about a lengthscale). */
    double superseded;
    /** false: the expert is asked about f_t before x_t is chosen. true: Algorithm 1's order: asking
     * uses the posterior of the time of the newest reading or answer. Default: false. */
    bool expert_after;
    /** Beyond so many, pivoted Cholesky keeps half of the places where the expert can be asked.
     * Anywhere: so many are looked at. >= 16. Default: 512. */
    size_t most_places;
    /** For the search of a box, as hf_search_settings have them. Default: 0. */
    size_t samples;
    /** Likewise. Default: 6. */
    size_t starts;
    /** Likewise. Default: 40. */
    size_t iterations;
    /** Likewise. Default: 1/2048; with candidates 0. */
    double resolution;
} hf_track_settings;

HF_SETTINGS_TABLE(hf_track_settings)
/** The defaults of a method, as hf_settings_init() has those of gp-ucb. HF_ERR_ARGUMENT: NULL, or a
 * size that is none of the struct. O(size). */
HF_API hf_status hf_track_settings_init(hf_track_settings *settings, size_t size,
                                        hf_track_method method);
static inline hf_track_settings hf_track_settings_default(hf_track_method method)
{
    hf_track_settings settings;
    (void)hf_track_settings_init(&settings, sizeof settings, method);
    return settings;
}

/**
 * The window or forgetting that the authors of a baseline recommend, for settings.window or
 * settings.forgetting:
 *
 *     r-gp-ucb, sw-gp-ucb   w = I^(1/4) (T / V)^(1/2), at least 1 Zhou, Shroff 2021, Theorems 1, 2
 *     w-gp-ucb              eta = 1 - I^(-1/4) (V / T)^(1/2), at least 0.01  Deng 2022, Theorem 3
 *     tv-gp-ucb             eps = 1 - (1 - D^2 / (2 v))^2: f_{t+1} - f_t then has the
 *                           standard deviation D under the prior of variance v
 *                           (Bogunovic et al. 2016, eq. 2)
 *
 * in steps, with T steps in all, the variation V = sum_t |f_{t+1} - f_t|_k and the maximum
 * information gain I (nats, at least 1) of T readings.
 * @param change for tv-gp-ucb D; for the others V / T
 * @param scale  for tv-gp-ucb v; for the others I
 * @param out    not more than T, not less than what is said above
 * They are what theorems ask for, with their constants; docs/methods/track.md says what they are
 * worth. HF_ERR_ARGUMENT: another method, a number that is not positive and finite. Thread-safe.
 * O(1).
 */
HF_API hf_status hf_track_theoretical_window(hf_context *ctx, hf_track_method method, double steps,
                                             double change, double scale, double *out);

/** An empty track. HF_ERR_ARGUMENT, HF_ERR_PARSE (kernel), HF_ERR_NOT_FINITE, HF_ERR_MEMORY.
 * O(candidates dimension), and parsing the kernel. */
HF_API hf_status hf_track_create(hf_context *ctx, const hf_track_settings *settings,
                                 hf_track **out);
HF_API void hf_track_free(hf_track *track);
/** The settings in use, with nothing left to a default (the kernel as the expression it was parsed
 * from); owned by the track. hf_track_fit() changes noise and rate. */
HF_API const hf_track_settings *hf_track_settings_of(const hf_track *track);
/** The kernel with its values of now; owned by the track. */
HF_API const hf_kernel *hf_track_kernel(const hf_track *track);
/** Name of input i (< dimension); owned by the track. */
HF_API const char *hf_track_name(const hf_track *track, size_t i);

/* ---- the steps ----------------------------------------------------------------------------- */

/** A place where the expert should measure. */
typedef struct hf_track_request {
    /** 1, 2, ... over the life of the track */
    uint64_t id;
    /** of what is to be measured */
    double time;
    /** inputs; owned by the track until its next change */
    const double *x;
    /** the candidate; 0 in a box */
    size_t index;
    /** latent sd there before any answer of this batch */
    double sd;
} hf_track_request;

/**
 * New requests for time t, and how many there are; then read them by hf_track_request_at().
 * Requests that were not answered stay open while their list is one of the eight newest (sparq:
 * and not older than one that was answered): they can be answered late, and measured late where an
 * answer of their own time would count no longer. Asking again for the same time gives no further
 * ones. None before the first reading, none by methods without an expert.
 * @param count the number of pending requests for this time (those not answered yet)
 * HF_ERR_ARGUMENT: t is before the clock by more than the horizon; HF_ERR_NOT_FINITE,
 * HF_ERR_MEMORY, HF_ERR_CANCELLED. O(P N + N Q^2), N places, P of them with readings that count.
 */
HF_API hf_status hf_track_requests(hf_context *ctx, hf_track *track, double time, size_t *count);
/** Pending requests, oldest first, of the eight newest lists at most; index <
 * hf_track_pending_count().
 * Errors: HF_ERR_ARGUMENT for NULL and an index that is none. O(1); of candidates O(candidates
 * dimension).
 */
HF_API size_t hf_track_pending_count(const hf_track *track);
HF_API hf_status hf_track_request_at(const hf_track *track, size_t index, hf_track_request *out);

/**
 * The expert's answer to a request, or one of several.
 * @param time  when it was measured: the request's, or later (NaN: the request's)
 * @param noise variance; 0: the track's
 * HF_ERR_ARGUMENT, and the message says which: never requested; no longer pending (answered
 * already, or dropped); measured before it was requested; too old to count. Cost: that of
 * hf_track_tell().
 */
HF_API hf_status hf_track_answer(hf_context *ctx, hf_track *track, uint64_t request, double time,
                                 double y, double noise);

/**
 * A reading y of f_time(x). Any place of the domain, any order of times.
 * @param x     d entries; a box takes places in it, candidates only themselves: else
 * HF_ERR_ARGUMENT
 * @param noise variance; 0: the track's
 * @param id    number of the reading, or NULL
 * HF_ERR_ARGUMENT: so far behind the clock that it would never count (the message says by how
 * much); HF_ERR_NOT_FINITE; HF_ERR_IO from a file that is attached: then it is not told.
 * The clock is the latest time told, answered or asked for; but questions (hf_track_ask(),
 * hf_track_requests()) about a time to come move it only until something of an earlier time is
 * told or answered. O(places dimension); with robust sites O(P^2) beside, and O(P^3) where the last
 * posterior has to be made.
 */
HF_API hf_status hf_track_tell(hf_context *ctx, hf_track *track, double time, const double *x,
                               double y, double noise, uint64_t *id);

/** The proposal of hf_track_ask(). */
typedef struct hf_suggestion {
    /** latent, at the place; before any reading counts the mean, and with it the bound, is NaN
     * unless the prior's is given */
    double mean, sd;
    /** mean + beta sd: above f_t everywhere, if beta is large enough; minimising, mean - beta sd:
     * below */
    double bound;
    double beta;
    /** the candidate; 0 in a box */
    size_t index;
    /** that count */
    size_t readings;
    /** of these, the expert's */
    size_t answers;
    /** distinct: the order of the system that was solved */
    size_t places;
    /** requests without an answer */
    size_t pending;
    /** 1/2 log |I + D^-1 K| in nats */
    double information;
    /** estimated or given; NaN before there is anything to estimate it from */
    double prior_mean;
    /** added to the diagonal, 0 if none */
    double jitter;
    double seconds;
} hf_suggestion;

/**
 * The next place at time t. Before the first reading it is the centre of the box, or the candidate
 * nearest to the candidates' centre.
 * Asking twice without telling gives the same answer. @param x d entries
 * HF_ERR_ARGUMENT: t is before the clock by more than the horizon (nothing told would count).
 * HF_WARN_JITTER. O(P^3 + search).
 */
HF_API hf_status hf_track_ask(hf_context *ctx, hf_track *track, double time, double *x,
                              hf_suggestion *out);

/**
 * The posterior at time t, as any other: predict, sample, certify, plot. Inputs are the domain's.
 * Mean and spread of w-gp-ucb differ: *spread is another posterior there and NULL for the others;
 * pass NULL if it does not matter. The caller frees them. HF_ERR_NO_DATA when no reading counts.
 * O(P^3), for w-gp-ucb with a spread twice.
 */
HF_API hf_status hf_track_posterior(hf_context *ctx, const hf_track *track, double time,
                                    hf_posterior **out, hf_posterior **spread);

/**
 * Trains what the kernel's expression does not hold, the noise, and the rate of a quadratic age
 * law. It maximises the evidence of the newest 512 readings and answers (counting or not, each with
 * the noise noise / weight). Their prior covariance is k(x, x') exp(-(t - t')^2 / (2 T^2)), about
 * an estimated constant. f's rate of change then has the standard deviation sqrt(k(x, x)) / T,
 * which becomes the rate. Readings told with a noise of their own keep it. Starts from the values
 * there are. Other age laws keep their numbers.
 * @return HF_WARN_NOT_CONVERGED, HF_WARN_AT_BOUND: the best values seen are in use. HF_ERR_NO_DATA
 * with fewer than 8 readings. HF_ERR_CANCELLED from the progress callback (then nothing changes).
 * At most 100 evaluations of O(512^3).
 */
HF_API hf_status hf_track_fit(hf_context *ctx, hf_track *track);

/* ---- books --------------------------------------------------------------------------------- */

/** The truth about a step, when it is known (simulations; hindsight): max f_t (minimising: min
 * f_t) and f_t at the place taken. Regret is |best - value|; a value better than the best by
 * rounding counts as 0. HF_ERR_ARGUMENT when it is better by more than 1e-9 of their size. O(1). */
HF_API hf_status hf_track_record_optimum(hf_context *ctx, hf_track *track, double time, double best,
                                         double value);

/** A track in numbers. */
typedef struct hf_track_summary {
    /** NaN while empty */
    double clock;
    /** t of the formulas: own readings told, plus one */
    size_t step;
    /** own readings */
    uint64_t told;
    /** hf_track_ask() calls that changed place or time */
    uint64_t asked;
    /** of the expert */
    uint64_t requested;
    uint64_t answered;
    /** readings in memory; those that can never count again are let go */
    size_t held;
    /** in memory */
    size_t places;
    /** requests */
    size_t pending;
    /** steps whose regret is known */
    uint64_t truths;
    /** cumulative */
    double regret;
    /** per step known; NaN if none is */
    double average_regret;
    /** cumulative regret / answers; NaN without */
    double regret_per_answer;
    /** of memory held */
    size_t bytes;
} hf_track_summary;
HF_API void hf_track_summary_of(const hf_track *track, hf_track_summary *out);

/** A reading in memory. */
typedef struct hf_track_reading {
    uint64_t id;
    double time;
    /** owned by the track until its next change */
    const double *x;
    double y;
    /** variance */
    double noise;
    /** robust weight in (0, 1] */
    double weight;
    /** the expert's */
    bool answer;
    /** at the clock */
    bool counts;
    /** of its site at the clock; infinite if it does not count */
    double variance;
} hf_track_reading;
/** Reading index < held of the summary, in the order told. HF_ERR_ARGUMENT. O(1). */
HF_API hf_status hf_track_reading_at(const hf_track *track, size_t index, hf_track_reading *out);

HF_END_DECLS

#endif
