/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a value keeps to limits: in boxes, and how large they may be. */

#include "certify/certify.h"

#include <math.h>

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* Checks a claim, and finds the value that it is about. */
static hf_status check_claim(hf_context *ctx, const hf_claim *claim, hfi_value *value)
{
    if (!claim->posterior == !claim->classifier)
        return hfi_refuse(ctx, "a claim is of a posterior or of a classifier, and of one of them");
    if (claim->never_below > claim->never_above)
        return hfi_refuse(ctx, "the claim is never to be above %g and never below %g, which nothing is",
                          claim->never_above, claim->never_below);
    if (claim->never_above == (double)INFINITY && claim->never_below == -(double)INFINITY &&
        claim->delta == (double)INFINITY)
        return hfi_refuse(ctx, "nothing is claimed: all limits are infinite");
    return claim->classifier ? hfi_value_of_class(ctx, claim->classifier, value)
                             : hfi_value_of(ctx, claim->posterior, claim->what, value);
}

hf_status hfi_claim_check_and_begin(hf_context *ctx, const hf_claim *claim,
                                    const hf_certify_settings *settings, hfi_claimed *out)
{
    *out = (hfi_claimed){.spare = NULL};
    hf_status status = hfi_settings_open(ctx, hf_claim_table(), claim, &out->claim);
    if (status >= 0) status = hfi_certify_open(ctx, settings, &out->settings, &out->region);
    return status < 0 ? status : check_claim(ctx, &out->claim, &out->value);
}

/* The limits about a point. */
hf_status hfi_claim_about(hf_context *ctx, hfi_claimed *c, const double *x)
{
    hf_range at;
    const hf_status status = hfi_value_at(ctx, &c->value, &c->settings, x, c->spare, &at);
    if (status < 0) return status;
    const hf_claim *claim = &c->claim;
    c->at_point = at.lower_attained;
    for (int k = 0; k < 2; k++) {
        const double sign = k == 0 ? 1.0 : -1.0, most = k == 0 ? claim->never_above : -claim->never_below;
        const double low = k == 0 ? at.lower : -at.upper, high = k == 0 ? at.upper : -at.lower;
        c->side[k] = (hfi_limit){.sign = sign, .kept = most, .broken = most};
        if (!(claim->delta < (double)INFINITY)) continue;
        c->side[k].kept = fmin(most, nextafter(low + claim->delta, -(double)INFINITY));
        c->side[k].broken = fmin(most, nextafter(high + claim->delta, (double)INFINITY));
    }
    return status;
}

/* Whether the value at a point is surely beyond a limit. */
static hf_status is_beyond(hf_context *ctx, const hfi_claimed *c, const double *point, bool *out)
{
    hf_range at;
    const hf_status status = hfi_value_at(ctx, &c->value, &c->settings, point, c->spare, &at);
    *out = status >= 0 && (at.lower > c->side[0].broken || -at.upper > c->side[1].broken);
    return status;
}

/* ---- one box ----------------------------------------------------------------------------------------------------- */

/* Settings for one of `left` sides, with its share of the time that is left of `begun`. */
static hf_certify_settings share_claim_time(const hf_certify_settings *settings, double begun, double left)
{
    hf_certify_settings own = *settings;
    const double gone = hfi_now() - begun;
    if (own.time_limit > 0.0) own.time_limit = fmax((own.time_limit - gone) / left, DBL_MIN);
    if (own.total_time > 0.0) own.total_time = fmax((own.total_time - gone) / left, DBL_MIN);
    return own;
}

/* Looks at one side; `at` := where the largest value is that was attained. */
static hf_status look_at_side(hf_context *ctx, const hfi_claimed *c, const hfi_limit *side,
                              const hf_certify_settings *settings, const double *lower, const double *upper,
                              hf_claim_answer *out, bool *kept, double *at)
{
    hf_certify_settings own = *settings;
    hf_range r;
    const bool top = side->sign > 0.0;
    own.upper_only = top;
    own.lower_only = !top;
    own.decide_at = side->sign * side->kept;
    const hf_status status =
        hfi_value_certify_boxes(ctx, &c->value, &own, 1, lower, upper, &r, top ? NULL : at, top ? at : NULL);
    if (status < 0) return status;
    const double attained = top ? r.upper_attained : r.lower_attained;
    *(top ? &out->upper : &out->lower) = top ? r.upper : r.lower;
    *kept = top ? r.upper <= side->kept : -r.lower <= side->kept;
    out->worst = attained;
    out->margin = side->broken - side->sign * attained;
    out->nodes += r.nodes;
    if (!*kept && r.stop > out->stop) out->stop = r.stop;
    return status;
}

/* The verdict on one box about the point that `c` is about; `at` and `next` hold inputs doubles each. */
static hf_status decide(hf_context *ctx, const hfi_claimed *c, const hf_certify_settings *settings,
                        const double *lower, const double *upper, hf_claim_answer *out, double *at,
                        double *next)
{
    const double begun = hfi_now();
    const bool both = c->side[0].kept < (double)INFINITY && c->side[1].kept < (double)INFINITY;
    hf_status worst = HF_OK;
    bool all = true, broken = false;
    *out = (hf_claim_answer){.value = c->at_point,
                             .lower = -(double)INFINITY,
                             .upper = (double)INFINITY,
                             .margin = (double)INFINITY,
                             .rigorous = settings->rigorous,
                             .estimate = hfi_value_is_estimate(&c->value)};
    for (int k = 0; k < 2 && !broken; k++) {
        if (!(c->side[k].kept < (double)INFINITY)) continue;
        const hf_certify_settings share = share_claim_time(settings, begun, both && k == 0 ? 2.0 : 1.0);
        hf_claim_answer side = *out;
        bool kept;
        hf_status status = look_at_side(ctx, c, &c->side[k], &share, lower, upper, &side, &kept, next);
        if (status >= 0 && side.margin < 0.0) status = hfi_worse(status, is_beyond(ctx, c, next, &broken));
        if (status < 0) return status;
        if (!kept) worst = hfi_worse(worst, status);
        all = all && kept;
        const bool nearer = !(side.margin >= out->margin);
        const double margin = out->margin, value = out->worst;
        *out = side;
        if (nearer) {
            memcpy(at, next, c->value.inputs * sizeof *at);
        } else {
            out->margin = margin;
            out->worst = value;
        }
    }
    out->verdict = broken ? HF_VERDICT_COUNTEREXAMPLE : all ? HF_VERDICT_CERTIFIED : HF_VERDICT_OPEN;
    if (out->verdict != HF_VERDICT_OPEN) out->stop = HF_CERTIFY_DECIDED;
    out->seconds = hfi_now() - begun;
    return out->verdict == HF_VERDICT_OPEN ? hfi_worse(worst, HF_WARN_NOT_CONVERGED) : HF_OK;
}

/* ---- many boxes -------------------------------------------------------------------------------------------------- */

static hf_status decide_all(hf_context *ctx, hfi_claimed *c, size_t m, const double *x, const double *lower,
                            const double *upper, hf_claim_answer *out, double *at)
{
    const size_t d = c->value.inputs;
    const double end = hfi_call_deadline(&c->settings);
    hf_status worst = HF_OK;
    for (size_t k = 0; k < m; k++) {
        hf_certify_settings share = hfi_share_time(&c->settings, end, m - k);
        hf_region region;
        hfi_region_about(&share, x + k * d, &region);
        hf_status status = hfi_claim_about(ctx, c, x + k * d);
        if (status >= 0)
            status = decide(ctx, c, &share, lower + k * d, upper + k * d, &out[k], at + k * d, at + m * d);
        if (status < 0) return status;
        if (out[k].verdict == HF_VERDICT_OPEN)
            worst = hfi_fail(ctx, HF_WARN_NOT_CONVERGED,
                             "box %zu: whether the claim holds is open after %zu boxes (%s)", k + 1,
                             out[k].nodes, hf_enum_name(HF_ENUM_CERTIFY_STOP, out[k].stop));
        if (m > 1 && !hfi_progress(ctx, "certify", (double)(k + 1) / (double)m, (double)NAN))
            return hfi_cancelled(ctx);
    }
    return worst;
}

hf_status hf_certify_claims(hf_context *ctx, const hf_claim *claim, const hf_certify_settings *settings,
                            size_t m, const double *x, const double *lower, const double *upper,
                            hf_claim_answer *out, double *worst)
{
    hfi_claimed c;
    size_t numbers;
    if (!ctx || !claim || !x || !lower || !upper || !out)
        return HFI_REFUSE_NULL(ctx, "hf_certify_claims", claim, x, lower, upper, out);
    hf_status status = hfi_claim_check_and_begin(ctx, claim, settings, &c);
    if (status < 0 || m == 0) return status;
    const size_t d = c.value.inputs;
    if (!hfi_size_mul(m + 2, d, &numbers)) return hfi_out_of_memory(ctx);
    hf_claim_answer *own;
    double *at;
    status = HFI_ALLOC(ctx, HFI_ROOM(own, m), HFI_ROOM(at, numbers));
    if (status >= 0) {
        c.spare = at + (m + 1) * d;
        status = decide_all(ctx, &c, m, x, lower, upper, own, at);
    }
    if (status >= 0) {
        memcpy(out, own, m * sizeof *out);
        if (worst) memcpy(worst, at, m * d * sizeof *worst);
    }
    HFI_FREE(ctx, own, at);
    return status;
}

/* ---- how far ----------------------------------------------------------------------------------------------------- */

static hf_status held_broken(hf_context *ctx, void *of, const double *point, bool *out)
{
    return is_beyond(ctx, of, point, out);
}

static hf_status held_decide(hf_context *ctx, void *of, const hfi_around *box, hfi_judged *out, double *found)
{
    const hfi_claimed *c = of;
    hf_claim_answer said;
    const hf_status status =
        decide(ctx, c, box->settings, box->lower, box->upper, &said, found, c->spare + c->value.inputs);
    if (status < 0) return status;
    *out = (hfi_judged){.verdict = said.verdict, .nodes = said.nodes};
    return status;
}

const hfi_held_kind hfi_held_claim = {held_broken, NULL, held_decide};

hf_verdict hfi_claim_at_point(const hfi_claimed *c, const hf_range *at)
{
    if (at->lower > c->side[0].broken || -at->upper > c->side[1].broken) return HF_VERDICT_COUNTEREXAMPLE;
    return at->upper <= c->claim.never_above && at->lower >= c->claim.never_below ? HF_VERDICT_CERTIFIED
                                                                                  : HF_VERDICT_OPEN;
}

double hfi_claim_tolerance(const hfi_claimed *c)
{
    const double share = 1e-4;
    const double room = fmin(c->side[0].kept - c->at_point, c->side[1].kept + c->at_point);
    return room > 0.0 ? fmin(c->settings.tolerance, share * room) : c->settings.tolerance;
}

static hf_status reach(hf_context *ctx, hfi_claimed *c, hfi_far *far, hf_claim_reach *out,
                       double *counterexample)
{
    const size_t d = far->d;
    const double *x = far->x;
    const double begun = hfi_now();
    hf_range at;
    hfi_reach found = {.certified = (double)NAN, .broken = (double)INFINITY};
    hf_status status = hfi_claim_about(ctx, c, x);
    if (status >= 0) status = hfi_value_at(ctx, &c->value, &c->settings, x, c->spare, &at);
    if (status < 0) return status;
    const hf_verdict here = hfi_claim_at_point(c, &at);
    far->settings.tolerance = hfi_claim_tolerance(c);
    double *where = c->spare + 2 * d;
    for (size_t j = 0; j < d; j++) where[j] = here == HF_VERDICT_COUNTEREXAMPLE ? x[j] : (double)NAN;
    if (here == HF_VERDICT_COUNTEREXAMPLE) found.broken = 0.0;
    status = HF_OK;
    if (here == HF_VERDICT_OPEN)
        status = hfi_fail(ctx, HF_WARN_NOT_CONVERGED,
                          "whether the claim holds at the point itself is open: the limit is nearer to its "
                          "value than rounding");
    if (here == HF_VERDICT_CERTIFIED) status = hfi_find_radius(ctx, &hfi_held_claim, c, far, &found, where);
    if (status < 0) return status;
    *out = (hf_claim_reach){.value = c->at_point,
                            .certified = found.certified,
                            .broken = found.broken,
                            .nodes = found.nodes,
                            .seconds = hfi_now() - begun,
                            .rigorous = c->settings.rigorous,
                            .estimate = hfi_value_is_estimate(&c->value)};
    if (counterexample) memcpy(counterexample, where, d * sizeof *counterexample);
    return status;
}

hf_status hf_certify_claim_radius(hf_context *ctx, const hf_claim *claim, const hf_certify_settings *settings,
                                  const double *x, const double *unit, double most, double accuracy,
                                  hf_claim_reach *out, double *counterexample)
{
    hfi_claimed c;
    if (!ctx || !claim || !x || !out) return HFI_REFUSE_NULL(ctx, "hf_certify_claim_radius", claim, x, out);
    hf_status status = hfi_claim_check_and_begin(ctx, claim, settings, &c);
    hfi_far far = {.settings = c.settings,
                   .d = c.value.inputs,
                   .x = x,
                   .unit = unit,
                   .most = most,
                   .accuracy = accuracy};
    if (status >= 0) status = hfi_check_radius(ctx, &far);
    if (status < 0) return status;
    c.spare = hfi_alloc(ctx, 3 * c.value.inputs, sizeof *c.spare);
    if (!c.spare) return HF_ERR_MEMORY;
    status = reach(ctx, &c, &far, out, counterexample);
    hfi_free(ctx, c.spare);
    return status;
}
