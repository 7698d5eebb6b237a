/* SPDX-License-Identifier: Apache-2.0 */
/* Options with a number for each output; settings that do not go with columns that the table has. */
#include "fit/fit_settings.h"

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

/* A list of one option; ranges are those of the number for all. */
static int read_list(const tool_arguments *arguments, const char *name, double **list, const double **member,
                     size_t *members)
{
    const hf_setting *setting = hf_setting_find(hf_fit_settings_table(), name);
    size_t count = 0;
    if (!has_argument(arguments, name) || strchr(argument(arguments, name), ',') == NULL) return TOOL_OK;
    const int status = read_numbers(arguments, name, list, &count);
    if (status != TOOL_OK || *list == NULL) return status;
    for (size_t k = 0; k < count; k++) {
        const double value = (*list)[k];
        const bool low = setting->above ? value > setting->least : value >= setting->least;
        if (!(low && (setting->below ? value < setting->most : value <= setting->most)))
            return setting->above
                       ? usage_error(arguments->verb, "--%s: it must be positive, not %g", name, value)
                       : usage_error(arguments->verb, "--%s: %g is not a share from 0 to less than 1", name,
                                     value);
    }
    *member = *list;
    *members = count;
    return TOOL_OK;
}

int read_lists(const tool_arguments *arguments, fit_settings *out, hf_fit_settings *s)
{
    const int status = read_list(arguments, "eps", &out->eps, &s->output_eps, &s->output_eps_count);
    if (status != TOOL_OK) return status;
    const int read = read_list(arguments, "beta", &out->beta, &s->output_beta, &s->output_beta_count);
    if (read == TOOL_OK && s->output_beta_count > 0) s->beta = 0.0;
    return read;
}

/* Options that are about a column, or about a table that is read in parts, and what does not go with them. */
static const char *const columns[] = {"noise-column",  "exposure", "mean-column",
                                      "output-column", "stream",   "cache"};

static int check_one_target(const tool_arguments *arguments, size_t targets)
{
    const tool_verb *verb = arguments->verb;
    if (targets > 1 && has_argument(arguments, "output-column"))
        return usage_error(
            verb, "--output-column goes with one target, of which each row has a reading; there are %zu",
            targets);
    if (targets > 1 && has_argument(arguments, "noise-column"))
        return usage_error(verb, "--noise-column goes with one target; put the readings of several outputs "
                                 "in rows of their own, with --output-column");
    if (has_argument(arguments, "mean-column"))
        return usage_error(verb, "--mean-column goes with one target; take the prior means off the readings "
                                 "of several outputs in the table");
    if (has_argument(arguments, "stream"))
        return usage_error(verb, "--stream goes with one output; several are fitted from all rows at once");
    return TOOL_OK;
}

int check_columns(const tool_arguments *arguments, size_t targets, const hf_fit_settings *s)
{
    const tool_verb *verb = arguments->verb;
    const bool automatic = s->kernel != NULL && strcmp(s->kernel, "auto") == 0;
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
        if (!has_argument(arguments, columns[k])) continue;
        if (hf_likelihood_has_labels(s->sites))
            return usage_error(verb, "--%s: it is about readings, and %s sites are of labels", columns[k],
                               hf_enum_name(HF_ENUM_LIKELIHOOD, s->sites));
        if (s->transform != HF_TRANSFORM_NONE)
            return usage_error(verb, "--transform %s is of one target as it is, in memory; leave out --%s",
                               hf_enum_name(HF_ENUM_TRANSFORM, s->transform), columns[k]);
        if (automatic && strcmp(columns[k], "stream") == 0)
            return usage_error(verb, "--kernel auto is for a table in memory; leave out --stream");
        if (automatic && strcmp(columns[k], "output-column") == 0)
            return usage_error(verb, "--kernel auto is for one target; leave out --output-column");
    }
    if (targets > 1 && s->output_eps_count > 0 && s->output_eps_count != targets)
        return usage_error(verb, "--eps: %zu shares of outliers for %zu outputs", s->output_eps_count,
                           targets);
    if (targets > 1 && s->output_beta_count > 0 && s->output_beta_count != targets)
        return usage_error(verb, "--beta: %zu amplitudes for %zu outputs", s->output_beta_count, targets);
    const bool several = targets > 1 || has_argument(arguments, "output-column");
    return several ? check_one_target(arguments, targets) : TOOL_OK;
}
