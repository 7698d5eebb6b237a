/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast compare: from its options to models, each by the options of holdfast fit. */
#include "fit/compare.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_RIVALS = 20
};

/* Options of a fit that are not about its model. */
static const char *const others[] = {
    "target",  "output-column", "features", "drop",   "noise-column", "mean-column", "exposure",
    "stream",  "cache",         "resume",   "output", "checkpoint",   "dry-run",     "seed",
    "threads", "json",          "quiet",    "help",   "actions-file"};

/* A command line of fit begins with a table; which, is no matter of its model. */
static char some_table[] = "TRAIN.csv";

/* ---- one model -------------------------------------------------------------------------------------------- */

static void rival_free(rival *r)
{
    fit_settings_free(&r->settings);
    arguments_free(&r->options);
    TOOL_FREE(r->word, r->text, r->name);
}

static int check_options(const tool_verb *verb, const rival *r)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (has_argument(&r->options, others[i]))
            return usage_error(verb, "--model: --%s is no option of a model", others[i]);
    return TOOL_OK;
}

/* The next place of the list, once words and name are there; takes both over, also on failure. */
static int add_rival(const tool_arguments *arguments, hf_context *ctx, rivals *list, rival *made)
{
    const tool_verb *verb = arguments->verb;
    int status = TOOL_OK;
    if (made->name == NULL || made->word == NULL) status = complain("out of memory");
    if (status == TOOL_OK && list->count == MOST_RIVALS)
        status = usage_error(verb, "there are more than %d models to compare", MOST_RIVALS);
    for (size_t k = 0; k < list->count && status == TOOL_OK; k++)
        if (strcmp(list->list[k].name, made->name) == 0)
            status = usage_error(verb, "two models are called '%s'; say --model 'NAME: OPTIONS'", made->name);
    if (status == TOOL_OK) status = arguments_parse(&verb_fit, (int)made->words, made->word, &made->options);
    if (status == TOOL_OK) status = check_options(verb, made);
    if (status == TOOL_OK && made->options.operands > 1)
        status = usage_error(verb, "--model: '%s' is no option", made->options.operand[1]);
    if (status == TOOL_OK) status = fit_settings_from(&made->options, ctx, 1, &made->settings);
    if (status == TOOL_OK)
        list->list[list->count++] = *made;
    else
        rival_free(made);
    return status;
}

/* ---- --model ---------------------------------------------------------------------------------------------- */

/* Cuts a text into words at blanks outside of quotes, in place; NULL after an unclosed quote. */
static char **cut_words(char *text, size_t *count)
{
    char **word = calloc(strlen(text) + 2, sizeof *word), *to = text;
    if (word == NULL) return NULL;
    word[(*count)++] = some_table;
    for (const char *from = text; *from != '\0';) {
        while (*from == ' ' || *from == '\t') from++;
        if (*from == '\0') break;
        word[(*count)++] = to;
        char quote = '\0';
        while (*from != '\0' && (quote != '\0' || (*from != ' ' && *from != '\t'))) {
            if (*from == quote)
                quote = '\0', from++;
            else if (quote == '\0' && (*from == '\'' || *from == '"'))
                quote = *from++;
            else
                *to++ = *from++;
        }
        if (quote != '\0') {
            free(word);
            return NULL;
        }
        if (*from != '\0') from++;
        *to++ = '\0';
    }
    return word;
}

/* "NAME: OPTIONS", or OPTIONS, which are their own name. */
static int read_model(const tool_arguments *arguments, hf_context *ctx, const char *value, rivals *list)
{
    rival made = {0};
    const char *colon = value[0] != '-' ? strstr(value, ": ") : NULL;
    if (value[0] != '-' && (colon == NULL || colon == value))
        return usage_error(arguments->verb,
                           "--model: '%s' is not NAME: OPTIONS, such as 'rough: -k matern12'", value);
    const size_t length = colon != NULL ? (size_t)(colon - value) : strlen(value);
    made.name = strndup(value, length);
    made.text = strdup(colon != NULL ? colon + 2 : value);
    if (made.text != NULL) {
        made.word = cut_words(made.text, &made.words);
        if (made.word == NULL) {
            rival_free(&made);
            return usage_error(arguments->verb, "--model: a quote is not closed in '%s'", value);
        }
    }
    return add_rival(arguments, ctx, list, &made);
}

/* ---- all combinations of presets, kernels and means -------------------------------------------------------- */

/* Values that are combined; NULL leaves the option out. */
typedef struct axes {
    const char *const *preset, *const *kernel, *const *mean;
    size_t presets, kernels, means;
} axes;

static void append_rival_option(rival *made, char *option, const char *value)
{
    if (value == NULL) return;
    made->word[made->words++] = option;
    made->word[made->words++] = (char *)(uintptr_t)value; /* read only */
}

/* "gp, se(ard), linear": what was said, where there is a choice. */
static char *name_of(const axes *a, const char *preset, const char *kernel, const char *mean)
{
    const char *parts[3];
    size_t count = 0, bytes = 1;
    if (preset != NULL) parts[count++] = preset;
    if (kernel != NULL && (a->kernels > 1 || preset == NULL)) parts[count++] = kernel;
    if (mean != NULL && (a->means > 1 || count == 0)) parts[count++] = mean;
    for (size_t k = 0; k < count; k++) bytes += strlen(parts[k]) + 2;
    char *name = calloc(bytes, 1);
    for (size_t k = 0; k < count && name != NULL; k++)
        snprintf(name + strlen(name), bytes - strlen(name), "%s%s", k > 0 ? ", " : "", parts[k]);
    return name;
}

static int add_combination(const tool_arguments *arguments, hf_context *ctx, const axes *a, size_t at,
                           rivals *list)
{
    static char preset_option[] = "--preset", kernel_option[] = "--kernel", mean_option[] = "--mean";
    const char *mean = a->mean[at % a->means];
    const char *kernel = a->kernel[at / a->means % a->kernels];
    const char *preset = a->preset[at / a->means / a->kernels];
    rival made = {.name = name_of(a, preset, kernel, mean), .word = calloc(8, sizeof *made.word)};
    if (made.word != NULL) {
        made.word[made.words++] = some_table;
        append_rival_option(&made, preset_option, preset);
        append_rival_option(&made, kernel_option, kernel);
        append_rival_option(&made, mean_option, mean);
    }
    return add_rival(arguments, ctx, list, &made);
}

/* Values of an option that may be given several times and has commas inside. */
static const char **values_of(const tool_arguments *arguments, const char *name, size_t *count)
{
    const char **values = calloc(arguments->count + 1, sizeof *values);
    *count = 0;
    for (size_t i = 0; i < arguments->count && values != NULL; i++)
        if (strcmp(arguments->list[i].option->name, name) == 0) values[(*count)++] = arguments->list[i].value;
    return values;
}

static int add_combinations(const tool_arguments *arguments, hf_context *ctx, const tool_names *presets,
                            const tool_names *means, rivals *list)
{
    static const char *const nothing[] = {NULL}, *const usual[] = {"default", "gp", "student-t"};
    const bool asked = presets->count > 0 || means->count > 0 || has_argument(arguments, "kernel");
    if (!asked && has_argument(arguments, "model")) return TOOL_OK;
    axes a = {.preset = presets->count > 0 ? presets->list
                        : asked            ? nothing
                                           : usual,
              .presets = presets->count > 0 ? presets->count
                         : asked            ? 1
                                            : 3,
              .mean = means->count > 0 ? means->list : nothing,
              .means = means->count > 0 ? means->count : 1};
    const char **kernels = values_of(arguments, "kernel", &a.kernels);
    if (kernels == NULL) return complain("out of memory");
    a.kernel = a.kernels > 0 ? kernels : nothing;
    a.kernels = a.kernels > 0 ? a.kernels : 1;
    int status = TOOL_OK;
    for (size_t at = 0; at < a.presets * a.kernels * a.means && status == TOOL_OK; at++)
        status = add_combination(arguments, ctx, &a, at, list);
    free(kernels);
    return status;
}

int rivals_from(const tool_arguments *arguments, hf_context *ctx, rivals *out)
{
    tool_names presets = {0}, means = {0};
    *out = (rivals){.list = calloc(MOST_RIVALS, sizeof *out->list),
                    .contender = calloc(MOST_RIVALS, sizeof *out->contender)};
    if (out->list == NULL || out->contender == NULL) return complain("out of memory");
    int status = argument_names(arguments, "preset", &presets) && argument_names(arguments, "mean", &means)
                     ? TOOL_OK
                     : TOOL_USAGE;
    if (status == TOOL_OK) status = add_combinations(arguments, ctx, &presets, &means, out);
    for (size_t i = 0; i < arguments->count && status == TOOL_OK; i++)
        if (strcmp(arguments->list[i].option->name, "model") == 0)
            status = read_model(arguments, ctx, arguments->list[i].value, out);
    for (size_t k = 0; k < out->count; k++)
        out->contender[k] = (hf_contender){out->list[k].name, out->list[k].settings.settings};
    names_free(&presets);
    names_free(&means);
    return status;
}

void rivals_free(rivals *list)
{
    for (size_t k = 0; k < list->count; k++) rival_free(&list->list[k]);
    TOOL_FREE(list->list, list->contender);
    *list = (rivals){0};
}
