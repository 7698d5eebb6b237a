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

/* The options that a verb has from its table of settings. */
static const tool_option *setting_options(const tool_verb *verb, size_t *count)
{
    static struct {
        const tool_verb *verb;
        size_t count;
        tool_option option[TOOL_MOST_SETTINGS];
    } made[4], *m = made; /* there are three such verbs */
    const hf_settings_table *table = verb->settings();
    while (m->verb != NULL && m->verb != verb) m++;
    for (size_t g = 0; m->verb == NULL && (verb->groups == NULL ? g == 0 : verb->groups[g] != NULL); g++)
        for (size_t i = 0; i < hf_setting_count(table); i++) {
            const hf_setting *setting = hf_setting_at(table, i);
            if (setting->option != NULL &&
                (verb->groups == NULL || strcmp(setting->group, verb->groups[g]) == 0))
                m->option[m->count++] = option_of(setting, verb->traits);
        }
    m->verb = verb;
    *count = m->count;
    return m->option;
}

size_t option_total(const tool_verb *verb)
{
    size_t more = 0;
    if (verb->settings != NULL) (void)setting_options(verb, &more);
    return verb->option_count + more;
}

/* Own options before `place`, those that are made, the rest of the own ones, the common ones. */
const tool_option *option_at(const tool_verb *verb, size_t i)
{
    size_t count = 0;
    const tool_option *more = verb->settings != NULL ? setting_options(verb, &count) : NULL;
    const size_t before = more != NULL ? verb->place : verb->option_count;
    if (i < before) return &verb->options[i];
    if (i < before + count) return &more[i - before];
    i -= count;
    return i < verb->option_count ? &verb->options[i] : &common_options[i - verb->option_count];
}
