/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings.h
 * @brief Options that are settings of the library: made, read, told and refused by its tables.
 */
#ifndef HF_TOOL_SETTINGS_H
#define HF_TOOL_SETTINGS_H

#include "shell/tool.h"

#include <holdfast/settings.h>

enum {
    TOOL_MOST_SETTINGS = 96 /* options of a verb */
};

/** The setting of an option, or else that of its name, and with a text; NULL: the option is about
 * something else. */
const hf_setting *setting_of(const hf_settings_table *table, const char *option);

/** Gives settings the values of all options that are called like them, but those that name files,
 * and refuses what has
 * no effect. */
hf_status session_settings(tool_session *session, const hf_settings_table *table, void *settings);

/** Gives a setting the value of an option; NULL, of a switch: not the default. As
 * hf_settings_set(). */
hf_status setting_apply(hf_context *ctx, const hf_settings_table *table, const hf_setting *setting,
                        const char *value, void *settings);

/** Wrong usage of the option of a clash, in words of options; its exit status. `option`: that of
 * the setting.
 * Without a way of saying it by options: the library's message. */
int setting_clash_error(const tool_arguments *arguments, hf_context *ctx,
                        const hf_settings_table *table, const char *option,
                        const hf_setting_clash *clash);

/** The value of a setting; null for a number that stands for what the library chooses. */
json_t *json_setting(const hf_settings_table *table, const void *settings,
                     const hf_setting *setting);

#endif
