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
        if (!argument_double(a, limits[k].name, limits[k].value)) return session_told(&run->session);
        if (!isfinite(*limits[k].value)) return MISUSE(run, "--%s must be a finite number", limits[k].name);
    }
    if (out->delta < 0.0) return MISUSE(run, "--delta: %g is not a number from 0 on", out->delta);
    if (out->never_below > out->never_above)
        return MISUSE(run, "--never-below %g is above --never-above %g", out->never_below, out->never_above);
    if (*claims && has_argument(a, "box") && isfinite(out->delta))
        return MISUSE(run, "--delta is about points; give --at and --radius");
    return HF_OK;
}

void certify_json_claim(json_t *json, const hf_claim *claim)
{
    JSON_ADD(json, {"never_above", json_number(claim->never_above)},
             {"never_below", json_number(claim->never_below)}, {"delta", json_number(claim->delta)});
}

/* The claim with what it is of, and settings with the output or class of it. */
hf_claim certify_claim_of(const certified *run, const certify_request *asked, hf_certify_settings *settings)
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

static hf_status tell_verdicts(certified *run, certify_request *asked, const hf_claim_answer *out, double *at)
{
    static const char *const first[] = {"value", "lower", "upper", "worst", "margin", NULL};
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
    if (status >= 0) status = certified_numbers(run, certify_costs, block + 5 * m);
    if (status >= 0) status = certify_worst(run, asked, verdict, at);
    certified_tell_limits(run, &asked->settings, by_time, by_memory, m);
    TOOL_FREE(block, verdict);
    return status;
}

hf_status certify_claims(certified *run, certify_request *asked)
{
    static const char *const names[] = {"radius", "value",  "lower", "upper",   "worst",
                                        "margin", "status", "nodes", "seconds", NULL};
    hf_status status = certify_begin(run, asked, names);
    hf_claim_answer *out = calloc(run->m + 1, sizeof *out);
    if (out == NULL) status = HF_ERR_MEMORY;
    hf_certify_settings own = asked->settings;
    const hf_claim claim = certify_claim_of(run, asked, &own);
    if (status >= 0)
        status = hf_certify_claims(run->session.ctx, &claim, &own, run->m, run->x, run->lower, run->upper,
                                   out, asked->counterexample);
    if (status >= 0) status = tell_verdicts(run, asked, out, asked->counterexample);
    free(out);
    return status;
}
