/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast certify --never-above, --never-below, --delta: verdicts, and how far they hold. */
#include "certify/certify_request.h"

#include <math.h>
#include <stdlib.h>

hf_status certified_claim(certified *run, hf_claim *out, bool *claims)
{
    const tool_arguments *a = run->arguments;
    *out = hf_claim_default();
    const struct {
        const char *name;
        double *value;
    } limits[] = {
        {"never-above", &out->never_above}, {"never-below", &out->never_below}, {"delta", &out->delta}};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        if (!has_argument(a, limits[k].name)) continue;
        *claims = true;
        if (!argument_double(a, limits[k].name, limits[k].value)) return certified_told(run);
        if (!isfinite(*limits[k].value))
            return certified_misuse(run, "--%s must be a finite number", limits[k].name);
    }
    if (out->delta < 0.0) return certified_misuse(run, "--delta: %g is not a number from 0 on", out->delta);
    if (out->never_below > out->never_above)
        return certified_misuse(run, "--never-below %g is above --never-above %g", out->never_below,
                                out->never_above);
    if (*claims && has_argument(a, "box") && isfinite(out->delta))
        return certified_misuse(run, "--delta is about points; give --at and --radius");
    return HF_OK;
}

void certify_json_claim(json_t *json, const hf_claim *claim)
{
    const tool_entry entries[] = {{"never_above", json_number(claim->never_above)},
                                  {"never_below", json_number(claim->never_below)},
                                  {"delta", json_number(claim->delta)}};
    json_add_entries(json, entries, sizeof entries / sizeof *entries);
}

/* The claim with what it is of, and settings with the output or class of it. */
static hf_claim claim_of(const certified *run, const certify_request *asked, hf_certify_settings *settings)
{
    const bool probability = asked->value == CERTIFY_PROBABILITY;
    hf_claim claim = asked->claim;
    claim.classifier = probability ? run->classifier : NULL;
    claim.posterior = probability ? NULL : run->posterior;
    claim.what = probability ? HF_CERTIFY_MEAN : certify_value(asked->value);
    settings->output = probability ? asked->of : certified_latent(run, asked->of);
    return claim;
}

/* ---- verdicts ------------------------------------------------------------------------------------------------ */

static hf_status tell_verdicts(certified *run, certify_request *asked, const hf_claim_answer *out)
{
    static const char *const first[] = {"value", "lower", "upper", "worst", "margin", NULL};
    static const char *const last[] = {"nodes", "seconds", NULL};
    const size_t m = run->m;
    size_t by_time = 0, by_memory = 0;
    double *block = calloc(7 * m + 1, sizeof *block);
    size_t *verdict = calloc(m + 1, sizeof *verdict);
    hf_status status = block != NULL && verdict != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k < m && status >= 0; k++) {
        const hf_claim_answer *v = &out[k];
        const double values[] = {v->value,  v->lower,         v->upper,  v->worst,
                                 v->margin, (double)v->nodes, v->seconds};
        for (size_t c = 0; c < 7; c++) block[c * m + k] = values[c];
        verdict[k] = (size_t)v->verdict;
        by_time += v->stop == HF_CERTIFY_TIME;
        by_memory += v->stop == HF_CERTIFY_MEMORY;
    }
    if (status >= 0) status = certified_numbers(run, first, block);
    if (status >= 0) status = certify_verdicts(run, asked, verdict);
    if (status >= 0) status = certified_numbers(run, last, block + 5 * m);
    certified_tell_limits(run, &asked->settings, by_time, by_memory, m);
    free(block);
    free(verdict);
    return status;
}

hf_status certify_claims(certified *run, certify_request *asked)
{
    static const char *const names[] = {"radius", "value",  "lower", "upper",   "worst",
                                        "margin", "status", "nodes", "seconds", NULL};
    const size_t d = run->d;
    hf_status status = certify_begin(run, asked, names);
    hf_claim_answer *out = calloc(run->m + 1, sizeof *out);
    double *at = calloc(run->m * d + 1, sizeof *at);
    if (out == NULL || at == NULL) status = HF_ERR_MEMORY;
    hf_certify_settings own = asked->settings;
    const hf_claim claim = claim_of(run, asked, &own);
    if (status >= 0)
        status = hf_certify_claims(run->session.ctx, &claim, &own, run->m, run->x, run->lower, run->upper,
                                   out, at);
    if (status >= 0) status = tell_verdicts(run, asked, out);
    if (status >= 0 && asked->where) status = certified_places(run, "_at_worst", at);
    for (size_t k = 0; status >= 0 && k < run->m; k++)
        if (out[k].verdict != HF_VERDICT_COUNTEREXAMPLE) at[k * d] = (double)NAN;
    asked->counterexample = at;
    asked->asked = run->m;
    free(out);
    return status;
}

/* ---- how far they hold --------------------------------------------------------------------------------------- */

static hf_status find_reach(certified *run, const certify_request *asked, size_t k, hf_claim_reach *out)
{
    hf_certify_settings share = certified_share(run, &asked->settings, run->m - k);
    const hf_claim claim = claim_of(run, asked, &share);
    return hf_certify_claim_radius(run->session.ctx, &claim, &share, run->x + k * run->d, run->unit,
                                   asked->radius[0], 0.01, out, asked->counterexample + k * run->d);
}

/* `block`: value, certified radius, broken radius, nodes and seconds of each row. */
static hf_status find_reaches(certified *run, certify_request *asked, double *block)
{
    const size_t m = run->m;
    hf_status worst = HF_OK;
    size_t by_time = 0;
    for (size_t k = 0; k < m; k++) {
        hf_claim_reach r;
        progress_part(run->session.progress, "certify", (double)k / (double)m, 1.0 / (double)m);
        const hf_status status = find_reach(run, asked, k, &r);
        if (status < 0) return status;
        if (status > 0) worst = status;
        const double values[] = {r.value, r.certified, isfinite(r.broken) ? r.broken : (double)NAN,
                                 (double)r.nodes, r.seconds};
        for (size_t c = 0; c < 5; c++) block[c * m + k] = values[c];
        asked->unfinished += status == HF_WARN_NOT_CONVERGED;
        by_time += status == HF_WARN_NOT_CONVERGED && certify_ran_out(asked, r.seconds);
        asked->certified += r.certified > 0.0;
        asked->broken += isfinite(r.broken) ? 1 : 0;
    }
    certified_tell_limits(run, &asked->settings, by_time, 0, m);
    return worst;
}

hf_status certify_reaches(certified *run, certify_request *asked)
{
    static const char *const names[] = {"value", "certified_radius", "broken_radius",
                                        "nodes", "seconds",          NULL};
    const size_t m = run->m;
    hf_status status = certified_begin(run, m, run->x, names);
    double *block = calloc(5 * m + 1, sizeof *block);
    asked->counterexample = calloc(m * run->d + 1, sizeof *asked->counterexample);
    if (block == NULL || asked->counterexample == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = find_reaches(run, asked, block);
    if (status >= 0) status = certified_numbers(run, names, block);
    if (status >= 0 && has_argument(run->arguments, "plot")) {
        const hf_status found = certify_radius_shares(run, asked, block + m, block + 2 * m);
        if (found < 0) status = found;
    }
    asked->asked = m;
    free(block);
    return status;
}
