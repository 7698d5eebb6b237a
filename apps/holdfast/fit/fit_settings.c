/* SPDX-License-Identifier: Apache-2.0 */
/* From the options of `holdfast fit` to settings. The library knows each setting, its range, what it goes
 * with and which other setting it implies. */
#include "fit/fit_settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int wrong_choice(const tool_arguments *arguments, hf_context *ctx, const char *name)
{
    return usage_error(arguments->verb, "--%s: %s", name, hf_context_message(ctx));
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

/* ---- --actions-file: the matrix of given actions --------------------------------------------------------------- */

/* Column j of the table into column j of the matrix; a gap is told by its place. */
static hf_status copy_column(hf_context *ctx, const hf_table *table, size_t j, double *matrix)
{
    const size_t rows = hf_table_rows(table), columns = hf_table_columns(table);
    const double *numbers;
    const hf_status status = hf_table_numbers(ctx, table, j, &numbers);
    if (status < 0) return status;
    for (size_t i = 0; i < rows; i++) {
        matrix[i * columns + j] = numbers[i];
        if (isfinite(numbers[i])) continue;
        complain("%s, line %zu, column \"%s\": an action needs a finite number in every row",
                 hf_table_source(table), hf_table_line(table, i), hf_table_name(table, j));
        return HF_ERR_NOT_FINITE;
    }
    return HF_OK;
}

static int read_matrix(hf_context *ctx, const hf_table *table, fit_settings *out)
{
    const size_t rows = hf_table_rows(table), columns = hf_table_columns(table);
    if (rows == 0) return complain("%s: no rows, only a header", hf_table_source(table));
    out->actions = calloc(rows * columns, sizeof *out->actions);
    if (out->actions == NULL) return complain("out of memory");
    for (size_t j = 0; j < columns; j++) {
        const hf_status status = copy_column(ctx, table, j, out->actions);
        if (status == HF_ERR_NOT_FINITE) return TOOL_FAILED;
        if (status < 0) return complain("%s", hf_context_message(ctx));
    }
    out->settings.action_matrix = out->actions;
    out->settings.action_rows = rows;
    out->settings.actions = columns;
    return TOOL_OK;
}

int read_actions(const tool_arguments *arguments, hf_context *ctx, fit_settings *out)
{
    const char *path = argument(arguments, "actions-file");
    hf_table *table = NULL;
    if (path == NULL) return TOOL_OK;
    if (hf_table_read_csv(ctx, path, &table) < 0) return complain("%s", hf_context_message(ctx));
    const int status = read_matrix(ctx, table, out);
    hf_table_free(table);
    return status;
}

/* ---- --eps and --beta with a number for each output; settings that do not go with columns ---------------------- */

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

static int read_lists(const tool_arguments *arguments, fit_settings *out, hf_fit_settings *s)
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

/* Complains about settings that do not go with columns of the table, or with a file of it, that options name:
 * these are no settings, and the library is given them apart. */
static int check_fit_columns(const tool_arguments *arguments, size_t targets, const hf_fit_settings *s)
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

/* ---- options that are settings ---------------------------------------------------------------------------------- */

/* The setting whose value an option has: of a list of numbers that for each output. */
static const hf_setting *chosen(const tool_given *given)
{
    const hf_setting *setting = setting_of(hf_fit_settings_table(), given->option->name);
    const bool list = given->value != NULL && strchr(given->value, ',') != NULL;
    if (setting != NULL && list && strcmp(setting->name, "eps") == 0)
        return hf_setting_find(hf_fit_settings_table(), "output_eps");
    if (setting != NULL && list && strcmp(setting->name, "beta") == 0)
        return hf_setting_find(hf_fit_settings_table(), "output_beta");
    return setting;
}

/* 0 is a default that one gets by leaving the option out. */
static int apply_fit_option(const tool_arguments *arguments, hf_context *ctx, const tool_given *given,
                            hf_fit_settings *s)
{
    const hf_setting *setting = chosen(given);
    const char *value = given->value;
    if (setting == NULL || setting->type == HF_SETTING_LIST) return TOOL_OK;
    if (setting_apply(ctx, hf_fit_settings_table(), setting, value, s) < 0)
        return wrong_choice(arguments, ctx, given->option->name);
    if (value == NULL || setting->zero == NULL) return TOOL_OK;
    if (setting->type == HF_SETTING_COUNT && strtod(value, NULL) == 0.0)
        return usage_error(arguments->verb, "--%s: it must be at least 1", given->option->name);
    if (strtod(value, NULL) == 0.0)
        return usage_error(arguments->verb, "--%s: it must be positive, not %s", given->option->name, value);
    return TOOL_OK;
}

/* Preset, or for labels, counts and amounts the one of the same name, and then what is said option by option. */
static int read_options(const tool_arguments *arguments, hf_context *ctx, hf_fit_settings *s)
{
    const char *preset = argument(arguments, "preset"), *sites = argument(arguments, "sites");
    if (preset != NULL && hf_fit_settings_preset(ctx, preset, s, sizeof *s) < 0)
        return wrong_choice(arguments, ctx, "preset");
    if (sites != NULL && hf_settings_set(ctx, hf_fit_settings_table(), s, "sites", sites) < 0)
        return wrong_choice(arguments, ctx, "sites");
    const bool labels = hf_likelihood_has_labels(s->sites) || hf_likelihood_has_rate(s->sites);
    if (labels && preset != NULL && sites != NULL && strcmp(preset, sites) != 0)
        return usage_error(arguments->verb, "--preset %s does not go with --sites %s; leave one out", preset,
                           sites);
    if (labels) (void)hf_fit_settings_preset(ctx, hf_enum_name(HF_ENUM_LIKELIHOOD, s->sites), s, sizeof *s);
    int status = TOOL_OK;
    for (size_t i = 0; status == TOOL_OK && i < arguments->count; i++)
        status = apply_fit_option(arguments, ctx, &arguments->list[i], s);
    return status;
}

/* ---- which implies which ---------------------------------------------------------------------------------------- */

enum {
    MOST_NAMES = TOOL_MOST_SETTINGS
};

static bool is_among(const char *name, size_t count, const char *const *names)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(names[k], name) == 0) return true;
    return false;
}

/* Names of the settings that were chosen, each once, of one group, of all but this one, or (NULL) of all. */
static size_t chosen_names(const tool_arguments *arguments, const char *group, bool but, const char **names)
{
    size_t count = 0;
    for (size_t i = 0; i < arguments->count && count < MOST_NAMES; i++) {
        const hf_setting *setting = chosen(&arguments->list[i]);
        if (setting != NULL && (group == NULL || (strcmp(setting->group, group) == 0) != but) &&
            !is_among(setting->name, count, names))
            names[count++] = setting->name;
    }
    return count;
}

/* A threshold wants robust sites, a number of actions the projected solver, and so on, unless another choice was made.
 * A streamed fit keeps its wish for suspects, which hf_fit_stream() grants by robust sites. */
static int complete(const tool_arguments *arguments, hf_context *ctx, double set_threshold,
                    hf_fit_settings *s)
{
    const char *names[MOST_NAMES + 1];
    size_t count = chosen_names(arguments, NULL, false, names);
    const size_t rows = s->minibatch;
    if (!isnan(set_threshold)) names[count++] = "threshold";
    if (has_argument(arguments, "stream")) s->minibatch = 0;
    const bool preset = has_argument(arguments, "preset");
    const hf_status status = hf_fit_settings_complete(ctx, s, preset, count, names);
    s->minibatch = rows;
    return status < 0 ? complain("%s", hf_context_message(ctx)) : TOOL_OK;
}

/* A table that is read in parts is trained on parts, as many rows at a time as the preset for minibatches has. */
static int choose_stream(const tool_arguments *arguments, hf_fit_settings *s)
{
    enum {
        USUAL_ROWS = 1024
    };
    if (!has_argument(arguments, "stream")) return TOOL_OK;
    if (strcmp(arguments->operand[0], "-") == 0)
        return usage_error(arguments->verb, "--stream reads a file more than once; standard input cannot be");
    if (s->solver == HF_SOLVER_AUTO) s->solver = HF_SOLVER_INDUCING;
    if (s->minibatch == 0) s->minibatch = USUAL_ROWS;
    if (!has_argument(arguments, "optimiser")) s->optimiser = HF_OPTIMISER_ADAM;
    return TOOL_OK;
}

static int check_threshold(const tool_arguments *arguments, double set_threshold, hf_fit_settings *s)
{
    const bool given = has_argument(arguments, "threshold") || !isnan(set_threshold);
    if (has_argument(arguments, "threshold") && !isnan(set_threshold))
        return usage_error(arguments->verb, "--threshold and --set threshold= say the same; give one");
    if (!isnan(set_threshold)) s->threshold = set_threshold;
    if (!(s->threshold > 0))
        return usage_error(arguments->verb, "the threshold must be positive, not %g", s->threshold);
    if (given && has_argument(arguments, "eps"))
        return usage_error(arguments->verb, "--eps chooses the threshold; it cannot be given as well");
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
    if (name != NULL && (*name == '\0' || is_standard(name)))
        return usage_error(arguments->verb, "--checkpoint: it is a file; give it a name");
    if (name != NULL || !out->settings.resume) return TOOL_OK;
    if (output == NULL)
        return usage_error(
            arguments->verb,
            "--resume: from which checkpoint? Add --checkpoint FILE, or -o MODEL.hf for MODEL.hf.checkpoint");
    out->checkpoint = fit_checkpoint(arguments);
    if (out->checkpoint == NULL) return complain("out of memory");
    out->settings.checkpoint = out->checkpoint;
    return TOOL_OK;
}

/* ---- what does not go together ---------------------------------------------------------------------------------- */

/* Minibatches that nobody asked for but --stream. */
static bool is_streamed(const tool_arguments *arguments, const hf_setting *setting)
{
    return setting != NULL && strcmp(setting->name, "minibatch") == 0 && has_argument(arguments, "stream") &&
           !has_argument(arguments, "minibatch");
}

static int stream_error(const tool_arguments *arguments, hf_context *ctx, const hf_setting_clash *c)
{
    hf_setting_clash valueless = *c;
    valueless.value[0] = '\0';
    return setting_clash_error(arguments, ctx, hf_fit_settings_table(), "stream", &valueless);
}

static int clash_error(const tool_arguments *arguments, hf_context *ctx, const hf_setting_clash *c)
{
    const tool_verb *verb = arguments->verb;
    const char *colon = c->why != NULL ? ": " : "", *why = c->why != NULL ? c->why : "";
    const char *option = c->setting != NULL ? c->setting->option : NULL;
    if (is_streamed(arguments, c->setting)) return stream_error(arguments, ctx, c);
    if (c->setting != NULL && strcmp(c->setting->name, "output_eps") == 0) option = "eps";
    if (c->setting != NULL && strcmp(c->setting->name, "output_beta") == 0) option = "beta";
    if (option == NULL || c->other != NULL)
        return setting_clash_error(arguments, ctx, hf_fit_settings_table(), option, c);
    const bool valued = c->setting->argument != NULL && *c->value != '\0';
    if (strcmp(c->other_value, "one") == 0)
        return usage_error(verb,
                           "--%s%s%s is about several outputs, and there is one output; give --target "
                           "several columns, or add --output-column%s%s",
                           option, valued ? " " : "", valued ? c->value : "", colon, why);
    return usage_error(verb, "--%s%s%s goes with one output, and there are several%s%s", option,
                       valued ? " " : "", valued ? c->value : "", colon, why);
}

/* Every option has an effect or is a mistake that is told. */
static int check_effects(const tool_arguments *arguments, hf_context *ctx, size_t outputs,
                         const hf_fit_settings *s)
{
    static const double some_actions = 0.0;
    const char *names[2 * MOST_NAMES + 3];
    hf_setting_clash clash = {0};
    hf_fit_settings asked = *s;
    /* The file is read when all else is right. */
    if (has_argument(arguments, "actions-file")) asked.action_matrix = &some_actions;
    /* The model itself is in nobody's way until all else is said. */
    size_t count = chosen_names(arguments, "model", true, names);
    count += chosen_names(arguments, "model", false, names + count);
    if (s->train && s->objective != HF_OBJECTIVE_EVIDENCE) names[count++] = "objective";
    if (s->train && has_argument(arguments, "stream")) names[count++] = "minibatch";
    names[count++] = NULL; /* the whole */
    for (size_t k = 0; k < count; k++)
        if (hf_settings_check(ctx, hf_fit_settings_table(), &asked, outputs, names[k], &clash) < 0)
            return clash_error(arguments, ctx, &clash);
    return TOOL_OK;
}

int fit_settings_from(const tool_arguments *arguments, hf_context *ctx, size_t targets, fit_settings *out)
{
    *out = (fit_settings){.settings = hf_fit_settings_default()};
    const size_t outputs = targets > 1 || has_argument(arguments, "output-column") ? 2 : 1;
    double threshold = NAN;
    hf_fit_settings recipe = out->settings;
    int status = read_assignments(arguments, out, &threshold);
    if (status == TOOL_OK) status = read_options(arguments, ctx, &recipe);
    if (status == TOOL_OK) status = read_lists(arguments, out, &recipe);
    if (status == TOOL_OK) status = complete(arguments, ctx, threshold, &recipe);
    if (status == TOOL_OK) status = check_threshold(arguments, threshold, &recipe);
    if (status == TOOL_OK) status = choose_stream(arguments, &recipe);
    if (status == TOOL_OK) status = check_fit_columns(arguments, targets, &recipe);
    if (status == TOOL_OK) status = check_effects(arguments, ctx, outputs, &recipe);
    recipe.set = out->settings.set;
    recipe.set_count = out->settings.set_count;
    out->settings = recipe;
    return status == TOOL_OK ? choose_checkpoint(arguments, out) : status;
}

void fit_settings_free(fit_settings *settings)
{
    TOOL_FREE(settings->set, settings->set_text, settings->checkpoint, settings->eps, settings->beta,
              settings->actions);
    *settings = (fit_settings){0};
}
