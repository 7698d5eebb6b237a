/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the library by options: given, refused and told. */
#include "shell/settings.h"

#include <stdlib.h>
#include <string.h>

/* "mean-only" is called like mean_only. */
static bool is_called(const char *option, const char *name)
{
    for (; *option != '\0' && (*option == *name || (*option == '-' && *name == '_')); option++) name++;
    return *option == *name;
}

const hf_setting *setting_of(const hf_settings_table *table, const char *option)
{
    for (size_t i = 0; i < hf_setting_count(table); i++) {
        const hf_setting *setting = hf_setting_at(table, i);
        if (is_called(option, setting->option != NULL ? setting->option : setting->name)) return setting;
    }
    return NULL;
}

/* Whether a flag is on where nothing is said. */
static bool is_on(const hf_settings_table *table, const hf_setting *setting)
{
    size_t usual[256];
    char text[8] = "";
    (void)hf_settings_init(table, usual, sizeof usual);
    (void)hf_settings_get(NULL, table, usual, setting->name, sizeof text, text);
    return strcmp(text, "on") == 0;
}

hf_status setting_apply(hf_context *ctx, const hf_settings_table *table, const hf_setting *setting,
                        const char *value, void *settings)
{
    if (value == NULL) value = is_on(table, setting) ? "off" : "on";
    return hf_settings_set(ctx, table, settings, setting->name, value);
}

/* "add --beta", "leave out --no-train", "say --solver inducing or projected" */
static void remedy(const tool_arguments *arguments, const hf_settings_table *table, const hf_setting_clash *c,
                   char *text, size_t room)
{
    const hf_setting *other = c->other;
    const bool stream = strcmp(other->name, "minibatch") == 0 && has_argument(arguments, "stream");
    const char *option = stream ? "stream" : other->option;
    if (*c->wanted != '\0' && other->argument != NULL) {
        snprintf(text, room, "say --%s %s", option, c->wanted);
        return;
    }
    const bool flag = other->type == HF_SETTING_FLAG;
    const bool absent = *c->other_value == '\0' || strcmp(c->other_value, "0") == 0;
    const bool out = flag ? strcmp(c->wanted, is_on(table, other) ? "on" : "off") == 0 : !absent;
    snprintf(text, room, "%s --%s", out ? "leave out" : "add", option);
}

int setting_clash_error(const tool_arguments *arguments, hf_context *ctx, const hf_settings_table *table,
                        const char *option, const hf_setting_clash *c)
{
    char what[128], way[224];
    const hf_setting *setting = c->setting, *other = c->other;
    const char *colon = c->why != NULL ? ": " : "", *why = c->why != NULL ? c->why : "";
    if (option == NULL || other == NULL || other->option == NULL)
        return usage_error(arguments->verb, "%s", hf_context_message(ctx));
    snprintf(what, sizeof what, "--%s%s%s", option, setting->argument != NULL && *c->value != '\0' ? " " : "",
             setting->argument != NULL ? c->value : "");
    remedy(arguments, table, c, way, sizeof way);
    if (other->type == HF_SETTING_CHOICE)
        return usage_error(arguments->verb, "%s does not go with --%s %s; %s%s%s", what, other->option,
                           c->other_value, way, colon, why);
    return usage_error(arguments->verb, "%s: %s%s%s", what, way, colon, why);
}

/* The setting that an option gives a value to; NULL: it names a file that is written, an array, or something else. */
static const hf_setting *given_setting(const hf_settings_table *table, const tool_given *given)
{
    const hf_setting *setting =
        (given->option->traits & TOOL_WRITES) != 0 ? NULL : setting_of(table, given->option->name);
    return setting != NULL && setting->type < HF_SETTING_LIST ? setting : NULL;
}

hf_status session_settings(tool_session *session, const hf_settings_table *table, void *settings)
{
    const tool_arguments *a = session->arguments;
    hf_status status = HF_OK;
    for (size_t i = 0; i < a->count && status >= 0; i++) {
        const hf_setting *setting = given_setting(table, &a->list[i]);
        if (setting != NULL)
            status =
                session_wrong_word(session, a->list[i].option->name,
                                   setting_apply(session->ctx, table, setting, a->list[i].value, settings));
    }
    for (size_t i = 0; i < a->count && status >= 0; i++) {
        const hf_setting *setting = given_setting(table, &a->list[i]);
        if (setting != NULL)
            status =
                session_wrong_word(session, a->list[i].option->name,
                                   hf_settings_check(session->ctx, table, settings, 1, setting->name, NULL));
    }
    return status;
}

/* The text of a setting, however long it is; the caller's to free. NULL: it has none, or out of memory. */
static char *text_of(const hf_settings_table *table, const void *settings, const hf_setting *setting)
{
    for (size_t room = 64;; room *= 2) {
        char *text = malloc(room);
        if (text == NULL) return NULL;
        const hf_status status = hf_settings_get(NULL, table, settings, setting->name, room, text);
        if (status >= 0) return text;
        free(text);
        if (status != HF_ERR_DIMENSION) return NULL; /* else the room was too small */
    }
}

static json_t *json_value(const hf_setting *setting, const char *text)
{
    const double number = strtod(text, NULL);
    switch (setting->type) {
    case HF_SETTING_FLAG:
        return json_boolean(strcmp(text, "on") == 0);
    case HF_SETTING_COUNT:
    case HF_SETTING_SEED:
        return json_count(strtoull(text, NULL, 10));
    case HF_SETTING_NUMBER:
        return setting->zero != NULL && number == 0.0 ? json_null() : json_number(number);
    default:
        return json_text(text);
    }
}

json_t *json_setting(const hf_settings_table *table, const void *settings, const hf_setting *setting)
{
    char *text = text_of(table, settings, setting);
    json_t *value = text != NULL ? json_value(setting, text) : json_null();
    free(text);
    return value;
}
