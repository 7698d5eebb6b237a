/* SPDX-License-Identifier: Apache-2.0 */
/* From the options of `holdfast fit` to settings; which option implies which is decided here and nowhere
 * else. */
#include "fit_settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int wrong_choice(const tool_arguments *arguments, hf_context *ctx, const char *name)
{
    return usage_error(arguments->verb, "--%s: %s", name, hf_context_message(ctx));
}

static int read_switch(const tool_arguments *arguments, const char *name, bool *value)
{
    const char *text = argument(arguments, name);
    if (text == NULL) return TOOL_OK;
    *value = strcmp(text, "on") == 0;
    if (*value || strcmp(text, "off") == 0) return TOOL_OK;
    return usage_error(arguments->verb, "--%s: '%s' is neither on nor off", name, text);
}

/* --set NAME=VALUE...: `threshold` is no parameter of the model but a rule of the sites, as --threshold is.
 */
static int read_assignments(const tool_arguments *arguments, fit_settings *out, double *threshold)
{
    size_t count = 1, bytes = 1;
    for (size_t i = 0; i < arguments->count; i++) {
        if (strcmp(arguments->list[i].option->name, "set") != 0) continue;
        bytes += strlen(arguments->list[i].value) + 1;
        count++;
    }
    out->set = calloc(count, sizeof *out->set);
    out->set_text = calloc(bytes, 1);
    if (out->set == NULL || out->set_text == NULL) return complain("out of memory");
    char *text = out->set_text;
    size_t set = 0;
    for (size_t i = 0; i < arguments->count; i++) {
        const char *value = arguments->list[i].value;
        if (strcmp(arguments->list[i].option->name, "set") != 0) continue;
        memcpy(text, value, strlen(value) + 1);
        char *equals = strchr(text, '='), *end = NULL;
        double number = equals != NULL ? strtod(equals + 1, &end) : NAN;
        if (equals == NULL || equals == text || end == equals + 1 || *end != '\0' || isnan(number))
            return usage_error(arguments->verb, "--set: '%s' is not NAME=NUMBER, such as noise=0.04", value);
        *equals = '\0';
        for (size_t k = 0; k < set; k++)
            if (strcmp(out->set[k].name, text) == 0)
                return usage_error(arguments->verb, "--set: %s is set twice", text);
        if (strcmp(text, "threshold") == 0)
            *threshold = number;
        else
            out->set[set++] = (hf_assignment){text, number};
        text += strlen(value) + 1;
    }
    out->settings.set = out->set;
    out->settings.set_count = set;
    return TOOL_OK;
}

/* Options that only robust sites know; that only Student-t sites know. */
static const char *robust_option(const tool_arguments *arguments, bool threshold)
{
    static const char *const names[] = {"centre", "eps", "threshold", "beta", "scaled-beta"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (has_argument(arguments, names[i])) return names[i];
    return threshold ? "set threshold=" : NULL;
}

static const char *student_option(const tool_arguments *arguments)
{
    if (has_argument(arguments, "nu")) return "nu";
    return has_argument(arguments, "student-method") ? "student-method" : NULL;
}

/* Preset and kind of sites. Who speaks of thresholds wants robust sites, and who speaks of degrees of freedom Student-t
 * ones, unless another kind was asked for. */
static int choose_sites(const tool_arguments *arguments, hf_context *ctx, const char *robust,
                        hf_fit_settings *s)
{
    const char *preset = argument(arguments, "preset"), *sites = argument(arguments, "sites");
    const char *tails = student_option(arguments);
    if (preset != NULL && hf_fit_settings_preset(ctx, preset, s) < 0)
        return wrong_choice(arguments, ctx, "preset");
    if (sites != NULL && hf_enum_parse(ctx, HF_ENUM_SITE_KIND, sites, (int *)&s->sites) < 0)
        return wrong_choice(arguments, ctx, "sites");
    const int labels = choose_labels(arguments, ctx, s);
    if (labels != TOOL_OK) return labels;
    if (has_argument(arguments, "no-train")) s->train = false;
    if (preset == NULL && sites == NULL && tails != NULL) s->sites = HF_SITES_STUDENT_T;
    if (preset == NULL && sites == NULL && robust != NULL) s->sites = HF_SITES_ROBUST;
    if (robust != NULL && s->sites != HF_SITES_ROBUST)
        return usage_error(arguments->verb, "--%s is about robust sites; add --sites robust", robust);
    if (tails != NULL && s->sites != HF_SITES_STUDENT_T)
        return usage_error(arguments->verb, "--%s is about Student-t sites; add --sites student-t", tails);
    return TOOL_OK;
}

/* The suspect finder is part of the default recipe, and of others if it is asked for. What is streamed keeps the wish, which
 * hf_fit_stream() grants by robust sites. */
static int choose_suspects(const tool_arguments *arguments, hf_context *ctx, hf_fit_settings *s)
{
    const char *suspects = argument(arguments, "suspects");
    const bool streamed = has_argument(arguments, "stream");
    if (has_argument(arguments, "sites") || (s->minibatch > 0 && !streamed) ||
        s->sites != HF_SITES_GAUSSIAN || !s->train ||
        (s->solver == HF_SOLVER_PROJECTED && s->action_kind == HF_ACTIONS_BLOCKS))
        s->suspects = HF_SUSPECTS_OFF;
    if (suspects != NULL && hf_enum_parse(ctx, HF_ENUM_SUSPECTS, suspects, (int *)&s->suspects) < 0)
        return wrong_choice(arguments, ctx, "suspects");
    if (s->suspects == HF_SUSPECTS_OFF || (streamed && suspects == NULL)) return TOOL_OK;
    if (s->sites != HF_SITES_GAUSSIAN)
        return usage_error(arguments->verb,
                           "--suspects %s goes with Gaussian sites: %s ones weigh every reading themselves",
                           suspects, hf_enum_name(HF_ENUM_SITE_KIND, s->sites));
    if (s->minibatch > 0)
        return usage_error(arguments->verb,
                           "--suspects %s looks at all rows; leave out --%s, or say --sites robust", suspects,
                           streamed ? "stream" : "minibatch");
    if (!s->train)
        return usage_error(arguments->verb, "--suspects %s needs training; leave out --no-train", suspects);
    if (s->solver == HF_SOLVER_PROJECTED && s->action_kind == HF_ACTIONS_BLOCKS)
        return usage_error(arguments->verb,
                           "--suspects %s does not go with block actions, which every reading is part of; "
                           "say --action-kind krylov or --sites robust",
                           suspects);
    return TOOL_OK;
}

/* Centre and threshold. The published formulas (prior mean, quantile, given threshold) come with the
 * published noise. */
static int choose_robust(const tool_arguments *arguments, hf_context *ctx, double set_threshold,
                         fit_settings *out, hf_fit_settings *s)
{
    const char *centre = argument(arguments, "centre");
    if (centre != NULL && hf_enum_parse(ctx, HF_ENUM_CENTRE, centre, (int *)&s->centre) < 0)
        return wrong_choice(arguments, ctx, "centre");
    int status = read_beta(arguments, out, s);
    if (status != TOOL_OK) return status;
    if (has_argument(arguments, "beta")) s->scaled_beta = false; /* that of a preset */
    if (has_argument(arguments, "scaled-beta")) s->scaled_beta = true;
    if (has_argument(arguments, "threshold") && !isnan(set_threshold))
        return usage_error(arguments->verb, "--threshold and --set threshold= say the same; give one");
    double threshold = set_threshold;
    if (!argument_double(arguments, "threshold", &threshold)) return TOOL_USAGE;
    status = read_eps(arguments, out, s);
    if (status != TOOL_OK) return status;
    if (!isnan(threshold)) {
        if (!(threshold > 0))
            return usage_error(arguments->verb, "the threshold must be positive, not %g", threshold);
        if (has_argument(arguments, "eps"))
            return usage_error(arguments->verb, "--eps chooses the threshold; it cannot be given as well");
        s->threshold_rule = HF_THRESHOLD_GIVEN;
        s->threshold = threshold;
        s->consistent_noise = false;
    } else if (has_argument(arguments, "eps") ||
               (centre != NULL && (s->centre == HF_CENTRE_PRIOR || s->centre == HF_CENTRE_CONDITIONAL))) {
        s->threshold_rule = HF_THRESHOLD_QUANTILE;
        s->consistent_noise = false;
    }
    return TOOL_OK;
}

static int choose_rest(const tool_arguments *arguments, hf_context *ctx, hf_fit_settings *s)
{
    const char *kernel = argument(arguments, "kernel"), *mean = argument(arguments, "mean");
    const char *objective = argument(arguments, "objective"), *transform = argument(arguments, "transform");
    if (kernel != NULL) s->kernel = kernel;
    if (mean != NULL && hf_enum_parse(ctx, HF_ENUM_MEAN_KIND, mean, (int *)&s->mean) < 0)
        return wrong_choice(arguments, ctx, "mean");
    if (objective != NULL && hf_enum_parse(ctx, HF_ENUM_OBJECTIVE, objective, (int *)&s->objective) < 0)
        return wrong_choice(arguments, ctx, "objective");
    if (transform != NULL && hf_enum_parse(ctx, HF_ENUM_TRANSFORM, transform, (int *)&s->transform) < 0)
        return wrong_choice(arguments, ctx, "transform");
    if (!argument_size(arguments, "restarts", &s->restarts)) return TOOL_USAGE;
    const char *prior = argument(arguments, "lengthscale-prior");
    s->unit_inputs = has_argument(arguments, "unit-inputs");
    if (prior != NULL && hf_enum_parse(ctx, HF_ENUM_PRIOR_KIND, prior, (int *)&s->lengthscale_prior) < 0)
        return wrong_choice(arguments, ctx, "lengthscale-prior");
    int status = read_switch(arguments, "standardise", &s->standardise);
    if (status != TOOL_OK || s->train) return status;
    /* The closed form at exactly the values given: nothing is learnt from residuals either. */
    s->calibrate = false;
    s->consistent_noise = false;
    return TOOL_OK;
}

/* --resume alone means the checkpoint that lies beside the model. */
char *fit_checkpoint(const tool_arguments *arguments)
{
    const char *output = argument(arguments, "output");
    return with_ending(output, strlen(output), ".checkpoint");
}

static int choose_checkpoint(const tool_arguments *arguments, fit_settings *out)
{
    const char *name = argument(arguments, "checkpoint"), *output = argument(arguments, "output");
    out->settings.resume = has_argument(arguments, "resume");
    out->settings.checkpoint = name;
    if (name != NULL && (*name == '\0' || strcmp(name, "-") == 0))
        return usage_error(arguments->verb, "--checkpoint: it is a file; give it a name");
    if (name != NULL || !out->settings.resume) return TOOL_OK;
    if (output == NULL)
        return usage_error(arguments->verb,
                           "--resume: from which checkpoint? Add --checkpoint FILE, or -o MODEL.hf for "
                           "MODEL.hf.checkpoint");
    out->checkpoint = fit_checkpoint(arguments);
    if (out->checkpoint == NULL) return complain("out of memory");
    out->settings.checkpoint = out->checkpoint;
    return TOOL_OK;
}

int fit_settings_from(const tool_arguments *arguments, hf_context *ctx, size_t targets, fit_settings *out)
{
    *out = (fit_settings){.settings = hf_fit_settings_default()};
    double threshold = NAN;
    hf_fit_settings recipe = out->settings;
    int status = read_assignments(arguments, out, &threshold);
    if (status == TOOL_OK)
        status = choose_sites(arguments, ctx, robust_option(arguments, !isnan(threshold)), &recipe);
    if (status == TOOL_OK) status = check_labels(arguments, &recipe);
    if (status == TOOL_OK) status = choose_robust(arguments, ctx, threshold, out, &recipe);
    if (status == TOOL_OK) status = choose_rest(arguments, ctx, &recipe);
    if (status == TOOL_OK) status = choose_solver(arguments, ctx, &recipe);
    if (status == TOOL_OK) status = choose_outputs(arguments, ctx, targets, &recipe);
    if (status == TOOL_OK) status = choose_suspects(arguments, ctx, &recipe);
    if (status == TOOL_OK) status = check_effects(arguments, &recipe);
    recipe.set = out->settings.set;
    recipe.set_count = out->settings.set_count;
    out->settings = recipe;
    return status == TOOL_OK ? choose_checkpoint(arguments, out) : status;
}

void fit_settings_free(fit_settings *settings)
{
    free(settings->set);
    free(settings->set_text);
    free(settings->checkpoint);
    free(settings->eps);
    free(settings->beta);
    free(settings->actions);
    *settings = (fit_settings){0};
}
