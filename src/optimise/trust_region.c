/* SPDX-License-Identifier: Apache-2.0 */
/* Trust regions: their sides, their boxes, and the points that draws are looked at. */
#include "core/settings.h"
#include "optimise/optimise.h"

#include <holdfast/trust_region.h>
#include <math.h>
#include <string.h>

/* Inputs of a candidate that differ from the centre's, on average, where there are more. */
static const double moved_inputs = 20.0;

static hf_status take_settings(hf_context *ctx, const hf_trust_settings *settings, hf_trust_settings *s)
{
    const hf_status status = hfi_settings_open(ctx, hf_trust_settings_table(), settings, s);
    if (status >= 0 && (s->side < s->smallest || s->side > s->largest))
        return hfi_refuse(
            ctx,
            "a trust region of side %g cannot be between %g and %g; give 0 < smallest <= side <= "
            "largest",
            s->side, s->smallest, s->largest);
    return status;
}

/* ceil(max(4, d) / batch) */
static size_t usual_failures(size_t d, size_t batch)
{
    const size_t most = d > 4 ? d : 4;
    return most / batch + (most % batch != 0);
}

hf_status hf_trust_region_create(hf_context *ctx, const hf_trust_settings *settings, size_t free_inputs,
                                 size_t batch, hf_trust_region *out)
{
    if (free_inputs == 0 || batch == 0 || out == NULL)
        return hfi_refuse(ctx, "a trust region of %zu inputs and %zu points a round%s cannot be", free_inputs,
                          batch, out == NULL ? ", to be put nowhere," : "");
    hf_trust_settings s;
    const hf_status status = take_settings(ctx, settings, &s);
    if (status < 0) return status;
    *out = (hf_trust_region){
        .side = s.side, .failures_allowed = s.failures > 0 ? s.failures : usual_failures(free_inputs, batch)};
    return status;
}

static hf_status check_region(hf_context *ctx, const hf_trust_region *region)
{
    if (region == NULL) return hfi_refuse(ctx, "the trust region is NULL");
    if (!isfinite(region->side))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the side of the trust region, %g, is not finite",
                        region->side);
    if (!(region->side > 0.0) || region->failures_allowed == 0)
        return hfi_refuse(
            ctx,
            "a trust region of side %g that allows %zu failures is none; hf_trust_region_create() makes one",
            region->side, region->failures_allowed);
    return HF_OK;
}

static hf_status check_outcome(hf_context *ctx, const hf_trust_outcome *outcome)
{
    if (outcome == NULL) return hfi_refuse(ctx, "the outcome of the round is NULL");
    if (!isfinite(outcome->before) || !isfinite(outcome->after) || !isfinite(outcome->scale))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                        "the outcome of a round, %g after %g in units of %g, is not finite", outcome->after,
                        outcome->before, outcome->scale);
    if (outcome->scale < 0.0)
        return hfi_refuse(ctx, "the unit of an improvement is %g; give at least 0", outcome->scale);
    return HF_OK;
}

hf_status hf_trust_region_update(hf_context *ctx, const hf_trust_settings *settings,
                                 const hf_trust_outcome *outcome, hf_trust_region *region,
                                 hf_trust_event *event)
{
    hf_trust_settings s;
    hf_status status = take_settings(ctx, settings, &s);
    if (status >= 0) status = check_region(ctx, region);
    if (status >= 0) status = check_outcome(ctx, outcome);
    if (status < 0) return status;
    if (region->side < s.smallest)
        return hfi_refuse(ctx, "the trust region has ended: its side, %g, is below %g; restart it",
                          region->side, s.smallest);
    const double scale = outcome->scale > 0.0 ? outcome->scale : fabs(outcome->before);
    const bool success = outcome->after > outcome->before + s.improvement * scale;
    hf_trust_event what = HF_TRUST_KEPT;
    region->successes = success ? region->successes + 1 : 0;
    region->failures = success ? 0 : region->failures + 1;
    if (region->successes >= s.successes) {
        what = region->side < s.largest ? HF_TRUST_GREW : HF_TRUST_KEPT;
        region->side = fmin(2.0 * region->side, s.largest);
        region->successes = 0;
    } else if (region->failures >= region->failures_allowed) {
        region->side *= 0.5;
        region->failures = 0;
        what = region->side < s.smallest ? HF_TRUST_ENDED : HF_TRUST_SHRANK;
    }
    if (event != NULL) *event = what;
    return HF_OK;
}

hf_status hf_trust_region_restart(hf_context *ctx, const hf_trust_settings *settings, hf_trust_region *region)
{
    hf_trust_settings s;
    hf_status status = take_settings(ctx, settings, &s);
    if (status >= 0) status = check_region(ctx, region);
    if (status < 0) return status;
    region->side = s.side;
    region->successes = region->failures = 0;
    region->restarts++;
    return HF_OK;
}

/* ---- boxes --------------------------------------------------------------------------------------------------- */

static hf_status check_centre(hf_context *ctx, const hf_domain *domain, const double *centre)
{
    if (centre == NULL) return hfi_refuse(ctx, "the centre of the trust region is NULL");
    const hf_status status = hf_domain_check(ctx, domain);
    if (status < 0) return status;
    if (domain->candidates > 0)
        return hfi_refuse(ctx, "a trust region is part of a box, not of %zu candidates", domain->candidates);
    for (size_t j = 0; j < domain->dimension; j++) {
        if (!isfinite(centre[j]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "input %zu (counted from 0) of the trust region's centre is not finite", j);
        if (centre[j] < domain->lower[j] || centre[j] > domain->upper[j])
            return hfi_refuse(
                ctx, "input %zu (counted from 0) of the trust region's centre, %g, is not in [%g, %g]", j,
                centre[j], domain->lower[j], domain->upper[j]);
    }
    return HF_OK;
}

static bool is_shaped(const hf_domain *domain, const double *lengthscales, size_t j)
{
    return domain->lower[j] < domain->upper[j] && lengthscales[j] < INFINITY;
}

/* log of the geometric mean of lengthscales in shares of the sides. */
static hf_status mean_lengthscale(hf_context *ctx, const hf_domain *domain, const double *lengthscales,
                                  double *mean)
{
    double sum = 0.0;
    size_t count = 0;
    for (size_t j = 0; j < domain->dimension; j++) {
        if (!(lengthscales[j] > 0.0))
            return hfi_refuse(ctx,
                              "lengthscale %zu (counted from 0) of the trust region, %g, is not positive", j,
                              lengthscales[j]);
        if (!is_shaped(domain, lengthscales, j)) continue;
        sum += log(lengthscales[j]) - log(domain->upper[j] - domain->lower[j]);
        count++;
    }
    *mean = count > 0 ? sum / (double)count : 0.0;
    return HF_OK;
}

hf_status hf_trust_region_box(hf_context *ctx, const hf_trust_region *region, const hf_domain *boundary,
                              const double *centre, const double *lengthscales, double *lower, double *upper)
{
    double mean = 0.0;
    if (lower == NULL || upper == NULL)
        return hfi_refuse(ctx, "there is no room for the box of the trust region");
    hf_status status = check_region(ctx, region);
    if (status >= 0) status = check_centre(ctx, boundary, centre);
    if (status >= 0 && lengthscales != NULL) status = mean_lengthscale(ctx, boundary, lengthscales, &mean);
    if (status < 0) return status;
    for (size_t j = 0; j < boundary->dimension; j++) {
        const double from = boundary->lower[j], to = boundary->upper[j], at = centre[j];
        double half = 0.5 * region->side * (to - from);
        if (lengthscales != NULL && is_shaped(boundary, lengthscales, j))
            half *= exp(log(lengthscales[j]) - log(to - from) - mean);
        else if (lengthscales != NULL)
            half = to - from;
        lower[j] = hfi_domain_nearest(boundary, j, hfi_domain_unordered(boundary, j) ? from : at - half);
        upper[j] = hfi_domain_nearest(boundary, j, hfi_domain_unordered(boundary, j) ? to : at + half);
    }
    return HF_OK;
}

hf_status hf_trust_candidates(hf_context *ctx, const hf_domain *box, const double *centre,
                              uint64_t stream_number, size_t count, double *x)
{
    const hf_status status = check_centre(ctx, box, centre);
    if (status < 0) return status;
    if (count > 0 && x == NULL) return hfi_refuse(ctx, "there is no room for %zu candidates", count);
    const size_t d = box->dimension, free = hfi_domain_free_inputs(box, NULL, NULL);
    hfi_stream stream;
    hfi_stream_init(&stream, hf_context_seed(ctx), HFI_PURPOSE_REGION, stream_number);
    hf_domain_quasirandom(box, hfi_stream_below(&stream, 1u << 20), count, x);
    for (size_t i = 0; i < count && (double)free > moved_inputs; i++) {
        const size_t sure = hfi_stream_below(&stream, free);
        for (size_t j = 0, k = 0; j < d; j++) {
            if (hfi_domain_fixed(box, j)) continue;
            const bool kept = hfi_stream_uniform(&stream) * (double)free < moved_inputs;
            if (!kept && k != sure) x[i * d + j] = centre[j];
            k++;
        }
    }
    return HF_OK;
}

hf_status hf_trust_choose(hf_context *ctx, size_t draws, size_t count, const double *samples, size_t *chosen)
{
    if (draws == 0 || count < draws || samples == NULL || chosen == NULL)
        return hfi_refuse(ctx,
                          "%zu draws cannot choose among %zu candidates%s; give at least one draw, as many "
                          "candidates, samples and room for the choice",
                          draws, count, samples == NULL || chosen == NULL ? " from or to NULL" : "");
    bool *taken = hfi_alloc(ctx, count, sizeof *taken);
    size_t *found = hfi_alloc(ctx, draws, sizeof *found);
    hf_status status = taken != NULL && found != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; status >= 0 && k < draws; k++) {
        const double *sample = samples + k * count;
        size_t best = count;
        for (size_t i = 0; i < count; i++) {
            if (!isfinite(sample[i])) {
                status = hfi_fail(ctx, HF_ERR_NOT_FINITE,
                                  "draw %zu at candidate %zu (both counted from 0) is not finite", k, i);
                break;
            }
            if (!taken[i] && (best == count || sample[i] > sample[best])) best = i;
        }
        if (status < 0) break;
        taken[best] = true;
        found[k] = best;
    }
    if (status >= 0) memcpy(chosen, found, draws * sizeof *found);
    HFI_FREE(ctx, taken, found);
    return status;
}
