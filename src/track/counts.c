/* SPDX-License-Identifier: Apache-2.0 */
/* Which readings count at a time, and with what variance. */
#include "track/track.h"

#include <math.h>

/* The newest reading counts, also where its variance is infinite: then it says no more than that. */
#define NOTHING 1e300

hfi_moment hfi_track_moment(const hf_track *track, double time)
{
    return (hfi_moment){.track = track,
                        .time = time,
                        .newest = track->newest,
                        .answered_batch = track->answered_batch,
                        .step = (size_t)track->own_told + 1};
}

double hfi_track_fading(const hf_track *track, double age)
{
    if (track->own.s.method != HF_TRACK_TV_GP_UCB) return 1.0;
    return exp(0.5 * fabs(age) * log1p(-track->own.s.forgetting));
}

/* Above this a reading is dropped. Answers of an expert who is asked again and again need no other rule than
 * that they still say something. */
static double limit(const hf_track *track, size_t step, bool answer)
{
    const hf_track_settings *s = &track->own.s;
    const double negligible = s->negligible * track->typical;
    if (answer || s->discard == HF_DISCARD_NEGLIGIBLE) return negligible;
    /* log t < 1 before t = e would drop readings of no age at all. */
    const double most =
        s->discard == HF_DISCARD_LOG ? s->noise * fmax(1.0, log((double)step)) : s->discard_variance;
    return fmin(most, negligible);
}

/* The law of the methods that age. */
static hf_age_law law_of(const hf_track *track, bool squared)
{
    const hf_track_settings *s = &track->own.s;
    if (s->method == HF_TRACK_W_GP_UCB)
        return (hf_age_law){.kind = HF_AGE_EXPONENTIAL, .rate = (squared ? -2.0 : -1.0) * log(s->forgetting)};
    if (s->method == HF_TRACK_UI_GP_UCB || hfi_track_has_expert(track)) return s->age;
    return (hf_age_law){.kind = HF_AGE_NONE};
}

double hfi_track_aged(const hf_track *track, double variance, double age)
{
    const hf_age_law law = law_of(track, false);
    return hf_age_variance(&law, variance, age);
}

static bool in_window(const hf_track *track, double time, double told)
{
    const hf_track_settings *s = &track->own.s;
    if (s->method == HF_TRACK_R_GP_UCB) return floor(time / s->window) == floor(told / s->window);
    return s->method != HF_TRACK_SW_GP_UCB || fabs(time - told) < s->window;
}

/* tv-gp-ucb: f_told says about f_now what a reading of f_now of this variance would say. */
static double faded(double variance, double typical, double fading)
{
    const double left = fading * fading;
    return (typical * (1.0 - left) + variance) / left;
}

double hfi_track_variance(const hfi_moment *moment, const hfi_told *told)
{
    const hf_track *track = moment->track;
    const double age = fabs(moment->time - told->time);
    const hf_age_law law = law_of(track, moment->squared);
    const bool sparq = track->own.s.method == HF_TRACK_SPARQ;
    if (told->batch != 0 && (moment->own_only || (sparq && told->batch != moment->answered_batch)))
        return INFINITY;
    const double variance = hf_age_variance(&law, told->variance, age);
    if (told->time >= moment->newest) return fmin(variance, NOTHING);
    if (!in_window(track, moment->time, told->time)) return INFINITY;
    /* Whether it counts is decided by the mean's variance, so that mean and spread are of the same readings. */
    const hf_age_law plain = law_of(track, false);
    double judged = moment->squared ? hf_age_variance(&plain, told->variance, age) : variance;
    judged = faded(judged, track->typical, hfi_track_fading(track, age));
    return judged > limit(track, moment->step, told->batch != 0) ? INFINITY : variance;
}

/* Largest age at which a reading counts at a step, were it not the newest. */
static double horizon_at(const hf_track *track, size_t step, double variance, bool answer)
{
    const hf_track_settings *s = &track->own.s;
    const hf_age_law law = law_of(track, false);
    const double most = limit(track, step, answer);
    double horizon = hf_age_horizon(&law, variance, most);
    if (s->method == HF_TRACK_R_GP_UCB || s->method == HF_TRACK_SW_GP_UCB) horizon = fmin(horizon, s->window);
    if (s->method == HF_TRACK_TV_GP_UCB && s->forgetting > 0.0 && most > variance)
        /* faded() solved for the age: left = (typical + variance) / (typical + limit) */
        horizon =
            fmax(0.0, log((track->typical + variance) / (track->typical + most)) / log1p(-s->forgetting));
    return horizon;
}

double hfi_track_last_horizon(const hf_track *track, double variance, bool answer)
{
    return horizon_at(track, SIZE_MAX, variance, answer); /* the logarithm of which is 44 */
}

double hfi_track_clock_for(const hf_track *track, double time)
{
    return time < track->clock ? track->told_clock : track->clock;
}

double hfi_track_asking_horizon(const hf_track *track)
{
    return horizon_at(track, (size_t)track->own_told + 1, track->own.s.noise, hfi_track_has_expert(track));
}

double hfi_track_beta(const hf_track *track, size_t step, double information)
{
    const hf_track_settings *s = &track->own.s;
    if (s->beta_rule == HF_BETA_GIVEN) return s->beta;
    if (s->beta_rule == HF_BETA_PRACTICAL) return sqrt(0.8 * log(4.0 * (double)step));
    return s->norm_bound + sqrt(2.0 * (log(2.0 / s->delta) + information));
}
