/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings.h
 * @brief The settings of a fit by name: for bindings, configuration files and tools.
 *
 * One table has a row for each member of hf_fit_settings: its type, default, range, unit and help.
 * A binding makes its keywords from the rows and passes values as text. So it knows a member that
 * a later version adds, without a change of its own:
 *
 *     hf_fit_settings settings = hf_fit_settings_default();
 *     hf_fit_settings_set(ctx, &settings, "sites", "robust");
 *     hf_fit_settings_set(ctx, &settings, "iterations", "100");
 *     for (size_t i = 0; i < hf_fit_setting_count(); i++) puts(hf_fit_setting_at(i)->name);
 */
#ifndef HOLDFAST_SETTINGS_H
#define HOLDFAST_SETTINGS_H

#include <holdfast/train.h>

HF_BEGIN_DECLS

/** Type of a setting, and the form of its text. */
typedef enum hf_setting_type {
    /** One of the names that hf_setting_choice() lists; the member is an enum. */
    HF_SETTING_CHOICE = 0,
    /** "on" or "off"; the member is a bool. */
    HF_SETTING_FLAG,
    /** A whole number in decimal digits; the member is a size_t. */
    HF_SETTING_COUNT,
    /** A number as strtod() reads it (so in the locale of the program); the member is a double. */
    HF_SETTING_NUMBER,
    /** Text; the member is a const char pointer, which points to the caller's text. */
    HF_SETTING_TEXT,
    /** An array of the caller's. It has no text: assign the member. */
    HF_SETTING_LIST,
    /** How many entries an array has. It has no text either. */
    HF_SETTING_LENGTH
} hf_setting_type;

/** One setting. The library owns it, and later versions add members at the end. */
typedef struct hf_setting {
    /** Name of the member of hf_fit_settings. */
    const char *name;
    hf_setting_type type;
    /** Topic: "model", "readings" (that may be wrong), "outputs", "solver", "training". */
    const char *group;
    /** How many choices; 0 for other types. */
    size_t choices;
    /** Range of counts and numbers; `most` is infinity where there is no limit. */
    double least, most;
    /** True: `least` or `most` itself is excluded. */
    bool above, below;
    /** Meaning of the default 0, where 0 is outside of the range; else NULL. */
    const char *zero;
    /** Unit of a number: "target", "target^2", "share"; NULL for pure numbers and other types. */
    const char *unit;
    /** Option of `holdfast fit` that sets it, without dashes; NULL: none. */
    const char *option;
    /** Name of the option's value in help; NULL: the option is a switch. */
    const char *argument;
    /** True: a model keeps it, so that hf_model_settings() has the value that was used. */
    bool in_model;
    /** Help; newlines break lines. NULL for members that only programs set. */
    const char *help;
} hf_setting;

/** Number of settings. Never fails. Any thread. */
HF_API size_t hf_fit_setting_count(void);

/** Setting number `index`, in an order that stays; NULL beyond the last. Any thread. */
HF_API const hf_setting *hf_fit_setting_at(size_t index);

/** The setting of that name; NULL for NULL and where there is none. Any thread. */
HF_API const hf_setting *hf_fit_setting_find(const char *name);

/** Name of choice `index`; NULL for NULL, other types and beyond the last. Any thread. */
HF_API const char *hf_setting_choice(const hf_setting *setting, size_t index);

/**
 * Sets a member by its name.
 * @param name name of the member
 * @param value its text as hf_setting_type describes it, or "default" for the member's default. A
 * text (kernel, checkpoint) is not copied: it must live as long as the settings are used
 *
 * Whether the value has an effect beside other settings is not looked at.
 * Errors: HF_ERR_ARGUMENT, settings untouched: NULL, no such setting, no such choice, not a number,
 * out of range, or an array. The message names setting, value and what is possible. O(1). Any
 * thread, each with settings and a context of its own.
 */
HF_API hf_status hf_fit_settings_set(hf_context *ctx, hf_fit_settings *settings, const char *name,
                                     const char *value);

/**
 * The text of a member, which hf_fit_settings_set() takes back to the same value, to the digit.
 * @param out at least `room` bytes; a text that is NULL is ""
 *
 * Errors: HF_ERR_ARGUMENT (NULL, no such setting, an array, or a number that is no choice),
 * HF_ERR_DIMENSION (more than `room` bytes); `out` is untouched then. O(1). Any thread.
 */
HF_API hf_status hf_fit_settings_get(hf_context *ctx, const hf_fit_settings *settings,
                                     const char *name, size_t room, char *out);

/** Two settings that do not go together. The caller's; all texts are set. */
typedef struct hf_setting_clash {
    /** The setting that is in the way, and its value as text ("" of an array). */
    const hf_setting *setting;
    char value[48];
    /** The setting that it does not go with; NULL: the number of outputs. */
    const hf_setting *other;
    /** Its value; of the number of outputs "one" or "several". */
    char other_value[48];
    /** Values that would do: "inducing or projected", "on"; "" of other types. */
    char wanted[160];
    /** Why, where the names do not say it; else NULL. */
    const char *why;
} hf_setting_clash;

/**
 * Whether settings go together: the one place that decides it.
 * @param outputs how many the readings have; 0 and 1: one
 * @param name a member whose value was chosen, to know whether it has an effect beside the others;
 * NULL: all members, as hf_fit() and hf_fit_data() check them. Those refuse less, so that presets
 * can be changed: a value without effect, such as a number of actions for the exact solver, is
 * refused only where it would be mistaken for one
 * @param clash what is in the way, or NULL; untouched where nothing is
 *
 * Errors: HF_ERR_ARGUMENT: NULL, no such setting, a value out of range, or a clash. The message
 * names setting, value and what it goes with. O(1). Any thread.
 */
HF_API hf_status hf_fit_settings_check(hf_context *ctx, const hf_fit_settings *settings,
                                       size_t outputs, const char *name, hf_setting_clash *clash);

/**
 * Gives members that were not chosen the values which go with those that were: 20 inducing inputs
 * want the inducing solver, a given threshold its rule, minibatches Adam. Options of
 * `holdfast fit` and keywords of bindings have these consequences, by this one function.
 * @param preset true: settings come from a preset that was chosen, whose sites stay
 * @param count  names in `names`: the members that were chosen, those without a text too, in the
 * order of their weight. Where they exclude each other the first ones count
 *
 * Whether the settings go together then is hf_fit_settings_check()'s to say. Errors:
 * HF_ERR_ARGUMENT, settings untouched: NULL, or no such setting. O(count). Any thread.
 */
HF_API hf_status hf_fit_settings_complete(hf_context *ctx, hf_fit_settings *settings, bool preset,
                                          size_t count, const char *const *names);

HF_END_DECLS

#endif
