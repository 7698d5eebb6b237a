/* SPDX-License-Identifier: Apache-2.0 */
/* What the options say about several outputs. */
#include "fit_settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number for all outputs, or one for each, separated by commas; *list is to be freed. */
static int read_numbers(const tool_arguments *arguments, const char *name, double **list, size_t *count)
{
    const char *text = argument(arguments, name);
    *count = 1;
    for (const char *c = text; *c != '\0'; c++) *count += *c == ',';
    *list = calloc(*count, sizeof **list);
    if (*list == NULL) return complain("out of memory");
    const char *at = text;
    for (size_t k = 0; k < *count; k++) {
        char *end;
        (*list)[k] = strtod(at, &end);
        if (end == at || (*end != '\0' && *end != ',') || isnan((*list)[k]))
            return usage_error(arguments->verb, "--%s: '%s' is not a number, nor numbers separated by commas",
                               name, text);
        at = end + 1;
    }
    return TOOL_OK;
}

int read_beta(const tool_arguments *arguments, fit_settings *out, hf_fit_settings *s)
{
    size_t count = 0;
    if (!has_argument(arguments, "beta")) return TOOL_OK;
    const int status = read_numbers(arguments, "beta", &out->beta, &count);
    if (status != TOOL_OK) return status;
    for (size_t k = 0; k < count; k++)
        if (!(out->beta[k] > 0 && isfinite(out->beta[k])))
            return usage_error(arguments->verb, "--beta: it must be positive, not %g", out->beta[k]);
    s->beta = count == 1 ? out->beta[0] : 0.0;
    s->output_beta = count > 1 ? out->beta : NULL;
    s->output_beta_count = count > 1 ? count : 0;
    return TOOL_OK;
}

int read_eps(const tool_arguments *arguments, fit_settings *out, hf_fit_settings *s)
{
    size_t count = 0;
    if (!has_argument(arguments, "eps")) return TOOL_OK;
    const int status = read_numbers(arguments, "eps", &out->eps, &count);
    if (status != TOOL_OK) return status;
    double *list = out->eps;
    for (size_t k = 0; k < count; k++)
        if (!(list[k] >= 0 && list[k] < 1))
            return usage_error(arguments->verb, "--eps: %g is not a share from 0 to less than 1", list[k]);
    if (count == 1) {
        s->eps = list[0];
        return TOOL_OK;
    }
    if (s->centre != HF_CENTRE_CONDITIONAL)
        return usage_error(
            arguments->verb,
            "--eps: a share for each output goes with --preset morcgp or --centre conditional");
    s->output_eps = list;
    s->output_eps_count = count;
    return TOOL_OK;
}

/* Options that one output has no use for. */
static int check_several(const tool_arguments *arguments, size_t targets, const hf_fit_settings *s)
{
    static const char *const names[] = {"coregion-rank", "shared-noise", "weighting"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (has_argument(arguments, names[i]))
            return usage_error(arguments->verb,
                               "--%s is about several outputs; give --target several columns, or add "
                               "--output-column",
                               names[i]);
    if (targets == 1 && has_argument(arguments, "eps") && strchr(argument(arguments, "eps"), ',') != NULL)
        return usage_error(arguments->verb, "--eps: there is one output, which has one share of outliers");
    if (targets == 1 && s->output_beta_count > 0)
        return usage_error(arguments->verb, "--beta: there is one output, which has one amplitude");
    return TOOL_OK;
}

static int check_conflicts(const tool_arguments *arguments, size_t targets, const hf_fit_settings *s)
{
    const tool_verb *verb = arguments->verb;
    if (targets > 1 && has_argument(arguments, "output-column"))
        return usage_error(
            verb, "--output-column goes with one target, of which each row has a reading; there are %zu",
            targets);
    if (targets > 1 && has_argument(arguments, "noise-column"))
        return usage_error(
            verb, "--noise-column goes with one target; put the readings of several outputs in rows of "
                  "their own, with --output-column");
    if (has_argument(arguments, "mean-column"))
        return usage_error(
            verb, "--mean-column goes with one target; take the prior means off the readings of several "
                  "outputs in the table");
    if (has_argument(arguments, "stream"))
        return usage_error(verb, "--stream goes with one output; several are fitted from all rows at once");
    if (s->minibatch > 0)
        return usage_error(
            verb, "minibatches (--minibatch, --preset svgp) go with one output; several are fitted from "
                  "all rows at once");
    if (s->output_eps_count > 0 && targets > 1 && s->output_eps_count != targets)
        return usage_error(verb, "--eps: %zu shares of outliers for %zu outputs", s->output_eps_count,
                           targets);
    if (s->output_beta_count > 0 && targets > 1 && s->output_beta_count != targets)
        return usage_error(verb, "--beta: %zu amplitudes for %zu outputs", s->output_beta_count, targets);
    return TOOL_OK;
}

int choose_outputs(const tool_arguments *arguments, hf_context *ctx, size_t targets, hf_fit_settings *s)
{
    const char *weighting = argument(arguments, "weighting");
    if (has_argument(arguments, "max-noise")) {
        if (!argument_double(arguments, "max-noise", &s->max_noise)) return TOOL_USAGE;
        if (!(s->max_noise > 0 && isfinite(s->max_noise)))
            return usage_error(arguments->verb, "--max-noise: it must be positive, not %s",
                               argument(arguments, "max-noise"));
    }
    if (targets < 2 && !has_argument(arguments, "output-column")) return check_several(arguments, targets, s);
    if (!argument_size(arguments, "coregion-rank", &s->coregion_rank)) return TOOL_USAGE;
    if (has_argument(arguments, "coregion-rank") && (s->coregion_rank == 0 || s->independent))
        return usage_error(arguments->verb, s->independent
                                                ? "--coregion-rank: independent outputs have no covariance"
                                                : "--coregion-rank: it must be at least 1");
    if (has_argument(arguments, "shared-noise")) s->shared_noise = true;
    if (weighting != NULL &&
        hf_enum_parse(ctx, HF_ENUM_OUTPUTS_WEIGHTING, weighting, (int *)&s->weighting) < 0)
        return wrong_choice(arguments, ctx, "weighting");
    if (weighting != NULL && (s->sites != HF_SITES_ROBUST || s->centre != HF_CENTRE_CONDITIONAL))
        return usage_error(
            arguments->verb,
            "--weighting: it is about weights by what the other outputs say; say --preset morcgp or "
            "--centre conditional");
    return check_conflicts(arguments, targets, s);
}
