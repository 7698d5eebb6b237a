/* SPDX-License-Identifier: Apache-2.0 */
/* The next place. */
#include "track/track.h"

#include "optimise/optimise.h"

#include <math.h>
#include <string.h>

/* Both posteriors of a moment. */
typedef struct posterior_pair {
    hfi_solved mean;
    hfi_solved spread; /* w-gp-ucb; else empty */
} posterior_pair;

static void free_posterior_pair(posterior_pair *p)
{
    hf_posterior_free(p->mean.posterior);
    hf_posterior_free(p->spread.posterior);
}

static hf_status solve_both(hf_context *ctx, const hf_track *track, double time, bool spread,
                            posterior_pair *out)
{
    memset(out, 0, sizeof *out);
    hfi_moment moment = hfi_track_moment(track, time);
    hf_status status = hfi_track_solve(ctx, &moment, track->held, track->told, &out->mean);
    if (status < 0 || !spread || track->own.s.method != HF_TRACK_W_GP_UCB) return status;
    moment.squared = true;
    const hf_status second = hfi_track_solve(ctx, &moment, track->held, track->told, &out->spread);
    if (second < 0) free_posterior_pair(out);
    return second < 0 ? second : hfi_worse(status, second);
}

/* Algorithm 1's order: the posterior is that of the newest reading's time, whatever time is asked for. */
static double effective(const hf_track *track, double time)
{
    const bool late = hfi_track_has_expert(track) && track->own.s.expert_after && track->held > 0;
    return late ? fmin(time, track->newest) : time;
}

hf_status hfi_track_check_time(hf_context *ctx, const hf_track *track, double time)
{
    if (!isfinite(time)) return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the time asked about is %g", time);
    const double horizon = hfi_track_asking_horizon(track);
    const double clock = hfi_track_clock_for(track, time);
    if (!(clock - time > horizon)) return HF_OK;
    return hfi_refuse(ctx,
                      "time %.12g is %.12g behind the clock (%.12g): beyond the horizon of %g at which "
                      "readings count" HFI_CLOCK_HINT,
                      time, clock - time, clock, horizon);
}

/* ---- without readings -------------------------------------------------------------------------------------------- */

static size_t central_candidate(const hf_domain *domain, double *centre)
{
    const size_t d = domain->dimension;
    memset(centre, 0, d * sizeof *centre);
    for (size_t i = 0; i < domain->candidates; i++)
        for (size_t j = 0; j < d; j++) centre[j] += domain->points[i * d + j] / (double)domain->candidates;
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < domain->candidates; i++) {
        double squared = 0.0;
        for (size_t j = 0; j < d; j++) squared += pow(domain->points[i * d + j] - centre[j], 2.0);
        if (squared >= least) continue;
        least = squared;
        best = i;
    }
    return best;
}

static void first_place(const hf_track *track, double *x, hf_suggestion *out)
{
    const hf_track_settings *s = &track->own.s;
    const hf_domain *domain = &s->domain;
    *out =
        (hf_suggestion){.mean = s->mean_given ? s->mean : NAN, .prior_mean = s->mean_given ? s->mean : NAN};
    if (domain->candidates > 0) {
        out->index = central_candidate(domain, x);
        memcpy(x, domain->points + out->index * track->d, track->d * sizeof *x);
    } else {
        /* The middle is on the lattice that places are rounded to, so that it can come again. */
        const double step = s->resolution;
        const double middle = step > 0.0 ? nearbyint(0.5 / step) * step : 0.5;
        for (size_t j = 0; j < track->d; j++) x[j] = hfi_domain_at(domain, j, middle);
    }
    double variance;
    hfi_kernel_diagonal(track->kernel, 1, x, track->d, false, &variance);
    out->sd = sqrt(variance);
    out->beta = hfi_track_beta(track, (size_t)track->own_told + 1, 0.0);
    out->bound = out->mean + (s->minimise ? -out->beta : out->beta) * out->sd;
    out->pending = track->opened;
}

/* ---- with readings ----------------------------------------------------------------------------------------------- */

static hf_status best_place(hf_context *ctx, const hf_track *track, double time, double *x,
                            hf_suggestion *out)
{
    posterior_pair solved;
    hf_status status = solve_both(ctx, track, effective(track, time), true, &solved);
    if (status < 0) return status;
    const hf_track_settings *s = &track->own.s;
    const hfi_solved *m = &solved.mean;
    const hf_ucb bound = {.size = sizeof bound,
                          .mean = m->posterior,
                          .spread = solved.spread.posterior,
                          .beta = hfi_track_beta(track, (size_t)track->own_told + 1, m->information),
                          .minimise = s->minimise};
    /* Where the newest reading was is a good start, and follows from what is told alone. */
    const double *guess = track->places.x + track->told[track->held - 1].place * track->d;
    hf_argmax found;
    const size_t guesses = s->domain.candidates > 0 ? 0 : 1;
    hf_search_settings search = hf_search_settings_default();
    search.samples = s->samples;
    search.starts = s->starts;
    search.iterations = s->iterations;
    search.resolution = s->resolution;
    const hf_status searched = hf_maximise_ucb(ctx, &bound, &s->domain, &search, guesses, guess, x, &found);
    if (searched >= 0)
        *out = (hf_suggestion){.mean = found.mean,
                               .sd = found.sd,
                               .bound = found.value,
                               .beta = bound.beta,
                               .index = found.index,
                               .readings = m->readings,
                               .answers = m->answers,
                               .places = m->places,
                               .pending = track->opened,
                               .information = m->information,
                               .prior_mean = m->prior_mean,
                               .jitter = fmax(m->jitter, solved.spread.jitter)};
    free_posterior_pair(&solved);
    return searched < 0 ? searched : hfi_worse(status, searched);
}

hf_status hf_track_ask(hf_context *ctx, hf_track *track, double time, double *x, hf_suggestion *out)
{
    if (ctx == NULL || track == NULL || x == NULL || out == NULL)
        return hfi_refuse(ctx, "asking needs a context, a track and places for the answer");
    const double start = hfi_now();
    hf_status status = hfi_track_check_time(ctx, track, time);
    if (status >= 0) status = hfi_track_writable(ctx, track);
    if (status < 0) return status;
    if (!track->asked_valid || track->ask_time != time) {
        hf_suggestion made;
        if (track->held == 0)
            first_place(track, track->point, &made);
        else
            status = best_place(ctx, track, time, track->point, &made);
        if (status < 0) return status;
        const hfi_event event = {.kind = HFI_EVENT_ASKED,
                                 .time = time,
                                 .y = isfinite(made.bound) ? made.bound : 0.0,
                                 .a = isfinite(made.mean) ? made.mean : 0.0,
                                 .b = made.sd,
                                 .c = made.beta,
                                 .count = track->d,
                                 .values = track->point};
        const hf_status kept = hfi_track_commit(ctx, track, 1, &event);
        if (kept < 0) return kept;
        track->asked_valid = true;
        track->suggestion = made;
        track->suggestion.pending = track->opened;
        track->suggestion_status = status;
    }
    memcpy(x, track->ask_place, track->d * sizeof *x);
    *out = track->suggestion;
    out->seconds = hfi_now() - start;
    return track->suggestion_status;
}

hf_status hf_track_posterior(hf_context *ctx, const hf_track *track, double time, hf_posterior **out,
                             hf_posterior **spread)
{
    if (ctx == NULL || track == NULL || out == NULL)
        return hfi_refuse(ctx, "a posterior needs a context, a track and a place for it");
    hf_status status = hfi_track_check_time(ctx, track, time);
    if (status < 0) return status;
    posterior_pair solved;
    status = solve_both(ctx, track, effective(track, time), spread != NULL, &solved);
    if (status < 0) return status;
    *out = solved.mean.posterior;
    if (spread != NULL) *spread = solved.spread.posterior;
    return status;
}
