/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast certify --what outputs: how far the means of all outputs together move. */
#include "certify/certify_request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

hf_status certify_parse_norm(certified *run, certify_request *asked)
{
    const tool_arguments *a = run->arguments;
    const char *power = argument(a, "norm");
    size_t count = 0;
    asked->norm = hf_output_norm_default();
    if (has_argument(a, "never-above") || has_argument(a, "never-below") || has_argument(a, "max-radius"))
        return MISUSE(run, "--never-above, --never-below and --max-radius are not for --what outputs");
    asked->norm.delta = asked->claim.delta;
    if (power != NULL && strcmp(power, "inf") == 0)
        asked->norm.p = (double)INFINITY;
    else if (!argument_double(a, "norm", &asked->norm.p))
        return session_told(&run->session);
    if (!(asked->norm.p >= 1.0))
        return MISUSE(run, "--norm: %g is neither a number from 1 on nor inf", asked->norm.p);
    if (asked->settings.rigorous && asked->norm.p != 1.0 && asked->norm.p != 2.0 && isfinite(asked->norm.p))
        return MISUSE(run, "--norm %g: --rigorous is for 1, 2 and inf", asked->norm.p);
    if (!argument_doubles(a, "weights", &count, &asked->weight)) return session_told(&run->session);
    if (count > 0 && count != hf_model_outputs(run->model))
        return MISUSE(run, "--weights: there are %zu for %zu outputs", count, hf_model_outputs(run->model));
    for (size_t i = 0; i < count; i++)
        if (!(asked->weight[i] > 0.0) || !isfinite(asked->weight[i]))
            return MISUSE(run, "--weights: %g is not a number above 0", asked->weight[i]);
    asked->norm.weight = count > 0 ? asked->weight : NULL;
    return HF_OK;
}

static hf_status report_output_shifts(certified *run, certify_request *asked, const hf_output_shift *out,
                                      double *at)
{
    static const char *const first[] = {"upper", "attained", NULL};
    static const char *const last[] = {"parts", "nodes", "seconds", NULL};
    const size_t m = run->m;
    size_t by_time = 0;
    const bool judged = isfinite(asked->norm.delta);
    double *block = calloc(5 * m + 1, sizeof *block);
    size_t *verdict = calloc(2 * m + 1, sizeof *verdict), *stop = verdict != NULL ? verdict + m : NULL;
    hf_status status = block != NULL && verdict != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k < m && status >= 0; k++) {
        const hf_output_shift *s = &out[k];
        const double values[] = {s->upper, s->attained, (double)s->parts, (double)s->nodes, s->seconds};
        for (size_t c = 0; c < 5; c++) block[c * m + k] = values[c];
        verdict[k] = (size_t)s->verdict;
        stop[k] = (size_t)s->stop;
        by_time += s->stop == HF_CERTIFY_TIME;
    }
    if (status >= 0) status = certified_numbers(run, first, block);
    if (status >= 0)
        status = judged ? certify_verdicts(run, asked, verdict) : certify_stops(run, asked, stop);
    if (status >= 0) status = certified_numbers(run, last, block + 2 * m);
    if (status >= 0) status = certify_worst(run, asked, verdict, at);
    if (judged) certified_tell_limits(run, &asked->settings, by_time, 0, m);
    TOOL_FREE(block, verdict);
    return status;
}

hf_status certify_outputs(certified *run, certify_request *asked)
{
    static const char *const names[] = {"radius", "upper", "attained", "status",
                                        "parts",  "nodes", "seconds",  NULL};
    hf_status status = certify_begin(run, asked, names);
    hf_output_shift *out = calloc(run->m + 1, sizeof *out);
    if (out == NULL) status = HF_ERR_MEMORY;
    if (status >= 0)
        status = hf_certify_outputs(run->session.ctx, run->posterior, &asked->norm, &asked->settings, run->m,
                                    run->x, run->lower, run->upper, out, asked->counterexample);
    if (status >= 0) status = report_output_shifts(run, asked, out, asked->counterexample);
    free(out);
    return status;
}
