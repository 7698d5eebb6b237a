/* SPDX-License-Identifier: Apache-2.0 */
/* Robust weights: sites of readings, and the posterior that readings are compared with. */
#include "track/track.h"

#include <float.h>
#include <math.h>

hf_status hfi_track_site(hf_context *ctx, double y, double noise, double centre, double threshold,
                         hfi_told *out)
{
    hf_sites *sites = NULL;
    const hf_status status = isfinite(centre)
                                 ? hf_sites_robust(ctx, 1, &y, noise, NULL, &centre, threshold, &sites)
                                 : hf_sites_gaussian(ctx, 1, &y, noise, NULL, &sites);
    if (status < 0) return status;
    *out = (hfi_told){.y = y,
                      .noise = noise,
                      .target = hf_sites_targets(sites)[0],
                      .variance = hf_sites_variances(sites)[0],
                      .weight = hf_sites_weights(sites)[0]};
    hf_sites_free(sites);
    return status;
}

/* The posterior that readings of `time` are compared with: one that moves the clock on, or back from a
 * question, with all that was told until now. *its: the time of the posterior. NULL: there is none. Nothing
 * that is kept of it changes a later result. */
static hf_status compare_with(hf_context *ctx, hf_track *track, double time, const hf_posterior **out,
                              double *its)
{
    const hfi_snapshot *before = &track->before;
    const double clock = hfi_track_clock_for(track, time);
    const bool ahead = (time > clock || clock < track->clock) && track->held > 0;
    const size_t count = ahead ? track->held : before->count;
    *out = NULL;
    if (count == 0) return HF_OK;
    const hfi_moment moment = ahead ? hfi_track_moment(track, clock) : before->moment;
    hf_posterior **kept = ahead ? &track->ahead : &track->last;
    hf_status status = HF_OK;
    if (*kept == NULL) {
        hfi_solved solved;
        status = hfi_track_solve(ctx, &moment, count, ahead ? track->told : before->told, &solved);
        if (status >= 0) *kept = solved.posterior;
    }
    *its = moment.time;
    *out = *kept;
    return status;
}

hf_status hfi_track_centre(hf_context *ctx, hf_track *track, double time, const double *x, double noise,
                           double *centre, double *threshold)
{
    *centre = NAN;
    *threshold = INFINITY;
    const double k = track->own.s.robust;
    const hf_posterior *last;
    double its, variance;
    if (!(k > 0.0)) return HF_OK;
    hf_status status = compare_with(ctx, track, time, &last, &its);
    if (status < 0 || last == NULL) return status;
    double mean;
    status = hf_predict(ctx, last, 1, x, track->d, &mean, &variance, NULL);
    if (status < 0) return status;
    const double spread = hfi_track_aged(track, variance + noise, time - its);
    *centre = mean;
    *threshold = fmin(fmax(k * sqrt(spread), DBL_MIN), 0.5 * DBL_MAX);
    return status;
}
