/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a verb: its own, those that are settings of the library, and those of all verbs. */
#include "shell/settings.h"
#include "shell/tool.h"

#include <string.h>

const tool_option common_options[] = {
    {"seed", 0, "S", "seed of all random choices (default 0); the same seed gives the same result", false},
    {"threads", 0, "T", "threads to use (default: all processors); results do not depend on it", TOOL_TELLS},
    {"json", 0, NULL, "print JSON on standard output", TOOL_TELLS},
    {"quiet", 'q', NULL, "no warnings and no progress bar", TOOL_TELLS},
    {"help", 'h', NULL, "print this help", TOOL_TELLS},
};
const size_t common_option_count = sizeof common_options / sizeof common_options[0];

static tool_option option_of(const hf_setting *setting, const tool_option *traits)
{
    tool_option made = {.name = setting->option, .argument = setting->argument, .help = setting->help};
    for (; traits != NULL && traits->name != NULL; traits++) {
        if (strcmp(traits->name, made.name) != 0) continue;
        made.letter = traits->letter;
        made.traits = traits->traits;
    }
    return made;
}

/* A verb's options, those of settings in their places. */
typedef struct option_list {
    const tool_verb *verb;
    size_t count;
    tool_option option[TOOL_MOST_SETTINGS];
} option_list;

static void add_settings(option_list *out, const hf_settings_table *table, const char *group)
{
    for (size_t i = 0; i < hf_setting_count(table) && out->count < TOOL_MOST_SETTINGS; i++) {
        const hf_setting *setting = hf_setting_at(table, i);
        if (setting->option != NULL && (group == NULL || strcmp(setting->group, group) == 0))
            out->option[out->count++] = option_of(setting, out->verb->traits);
    }
}

static void make_list(option_list *out, const tool_verb *verb)
{
    out->verb = verb;
    for (size_t i = 0; i < verb->option_count; i++) {
        const tool_option *option = &verb->options[i];
        if (option->name == NULL)
            add_settings(out, verb->settings[option->traits](), option->argument);
        else if (out->count < TOOL_MOST_SETTINGS)
            out->option[out->count++] = *option;
    }
}

/* Lists of the verbs that have settings, made when they are first asked for. */
static const option_list *list_of(const tool_verb *verb)
{
    enum {
        VERBS = 8 /* fit, study create, track create and those of certificates */
    };
    static option_list made[VERBS];
    size_t k = 0;
    while (k + 1 < VERBS && made[k].verb != NULL && made[k].verb != verb) k++;
    if (made[k].verb != verb) {
        made[k].count = 0;
        make_list(&made[k], verb);
    }
    return &made[k];
}

size_t option_total(const tool_verb *verb)
{
    return verb->settings != NULL ? list_of(verb)->count : verb->option_count;
}

/* All options of a verb, then the common ones. */
const tool_option *option_at(const tool_verb *verb, size_t i)
{
    const size_t count = option_total(verb);
    if (i >= count) return &common_options[i - count];
    return verb->settings != NULL ? &list_of(verb)->option[i] : &verb->options[i];
}
