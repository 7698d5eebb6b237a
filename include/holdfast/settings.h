/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings.h
 * @brief Structs of settings: their size, their defaults, and their members by name.
 *
 * Every struct of settings has a table, with a row for each member: type, default, range, unit and
 * help. Defaults, checks, files, JSON and the tool's options are made from it. A binding makes its
 * keywords from the rows and passes values as text. So it knows a member that a later version adds,
 * without a change of its own:
 *
 *     hf_fit_settings settings = hf_fit_settings_default();
 *     const hf_settings_table *table = hf_fit_settings_table();
 *     hf_settings_set(ctx, table, &settings, "sites", "robust");
 *     hf_settings_set(ctx, table, &settings, "iterations", "100");
 *     for (size_t i = 0; i < hf_setting_count(table); i++) puts(hf_setting_at(table, i)->name);
 *
 * **Sizes.** A struct of settings begins with its size in bytes, and later versions add members at
 * its end. A program tells the library the size that it was compiled with, by hf_settings_init():
 *
 *     hf_fit_settings settings;
 *     hf_settings_init(hf_fit_settings_table(), &settings, sizeof settings);
 *
 * The inline functions hf_..._default() do the same for C, and are part of the program, not of the
 * library. A function that is given settings copies the members that the program knows over the
 * defaults. So a program works with later libraries. It works with earlier ones too, unless it sets
 * what they do not know. Functions refuse a size that is 0 or no size of the struct, by
 * HF_ERR_ARGUMENT. Structs within a struct of settings (hf_domain, hf_age_law) do not grow.
 *
 * **Thread-safety.** Tables do not change. Any thread may call these functions, each with settings
 * and a context of its own.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_SETTINGS_H
#define HOLDFAST_SETTINGS_H

#include <holdfast/context.h>

HF_BEGIN_DECLS

/** The table of a struct of settings; hf_fit_settings_table() and its like return one. */
typedef struct hf_settings_table hf_settings_table;

/**
 * Defaults.
 * @param table the table of the struct
 * @param settings a struct of that kind; all of its `size` bytes are set, `size` itself too
 * @param size sizeof of the struct
 *
 * Errors: HF_ERR_ARGUMENT: NULL, or a size that is none of the struct. O(size).
 */
HF_API hf_status hf_settings_init(const hf_settings_table *table, void *settings, size_t size);

/** Declares the table of a struct, NAME_table(). It never is NULL. */
#define HF_SETTINGS_TABLE(name) HF_API const hf_settings_table *name##_table(void);

/** Declares the table and, for C, the defaults by value, NAME_default(). */
#define HF_SETTINGS(name)                                                                          \
    HF_SETTINGS_TABLE(name)                                                                        \
    static inline name name##_default(void)                                                        \
    {                                                                                              \
        name settings;                                                                             \
        (void)hf_settings_init(name##_table(), &settings, sizeof settings);                        \
        return settings;                                                                           \
    }

/** Type of a setting, and the form of its text. */
typedef enum hf_setting_type {
    /** One of the names that hf_setting_choice() lists; the member is an enum. */
    HF_SETTING_CHOICE = 0,
    /** "on" or "off"; the member is a bool. */
    HF_SETTING_FLAG,
    /** A whole number in decimal digits; the member is a size_t. */
    HF_SETTING_COUNT,
    /** Likewise; the member is a uint64_t, and a text says it to the digit. */
    HF_SETTING_SEED,
    /** A decimal number, with a point in every locale; the member is a double. */
    HF_SETTING_NUMBER,
    /** Text; the member is a const char pointer, which points to the caller's text. */
    HF_SETTING_TEXT,
    /** An array, object or struct of the caller's. It has no text: assign the member. */
    HF_SETTING_LIST,
    /** How many entries an array has. It has no text either. */
    HF_SETTING_LENGTH
} hf_setting_type;

/** One setting. The library owns it, and later versions add members at the end. */
typedef struct hf_setting {
    /** Name of the member; "age.rate" of a member of a member. */
    const char *name;
    hf_setting_type type;
    /** Topic; those of fits are "model", "readings" (that may be wrong), "outputs", "solver",
     * "training". */
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
    /** Option of the tool that sets it, without dashes; NULL: none. */
    const char *option;
    /** Name of the option's value in help; NULL: the option is a switch. */
    const char *argument;
    /** True: a model keeps it, so that hf_model_settings_of() has the value that was used. */
    bool in_model;
    /** Help; newlines break lines. NULL where the header alone describes the member. */
    const char *help;
    /** Meaning of NaN, text "nan": the default, or the same as the default 0; NULL: the number is
     * never NaN. */
    const char *unset;
} hf_setting;

/** Number of settings; 0 for NULL. Never fails. */
HF_API size_t hf_setting_count(const hf_settings_table *table);

/** Setting number `index`, in an order that stays; NULL for NULL and beyond the last. */
HF_API const hf_setting *hf_setting_at(const hf_settings_table *table, size_t index);

/** The setting of that name; NULL for NULL and where there is none. O(settings). */
HF_API const hf_setting *hf_setting_find(const hf_settings_table *table, const char *name);

/** Name of choice `index`; NULL for NULL, other types and beyond the last. */
HF_API const char *hf_setting_choice(const hf_setting *setting, size_t index);

/**
 * Sets a member by its name.
 * @param table    the table of the struct.
 * @param settings a struct of that kind with its size.
 * @param name     name of the member.
 * @param value its text as hf_setting_type describes it, or "default" for the member's default. A
 *        text (kernel, checkpoint) is not copied: it must live as long as the settings are used
 *
 * Whether the value has an effect beside other settings is not looked at.
 * Errors: HF_ERR_ARGUMENT, settings untouched: NULL, a size that is none, no such setting, no such
 * choice, not a number, out of range, or an array. The message names setting, value and what is
 * possible. O(settings).
 */
HF_API hf_status hf_settings_set(hf_context *ctx, const hf_settings_table *table, void *settings,
                                 const char *name, const char *value);

/**
 * The text of a member, which hf_settings_set() takes back to the same value, to the digit.
 * @param out at least `room` bytes; a text that is NULL is ""
 *
 * Errors: HF_ERR_ARGUMENT (NULL, a size that is none, no such setting, an array, or a number that
 * is no choice), HF_ERR_DIMENSION (more than `room` bytes); `out` is untouched then. O(settings).
 */
HF_API hf_status hf_settings_get(hf_context *ctx, const hf_settings_table *table,
                                 const void *settings, const char *name, size_t room, char *out);

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
 * Whether settings are in their ranges and go together: the one place that decides it.
 * @param outputs of a fit: how many the readings have; 0 and 1: one
 * @param name a member whose value was chosen, to know whether it has an effect beside the others;
 * NULL: all members, as functions that are given settings check them. Those refuse less, so that
 * presets can be changed. They pass a value without effect (a number of actions for the exact
 * solver), unless it would be mistaken for one that has an effect.
 * @param clash what is in the way, or NULL; untouched where nothing is
 *
 * Errors: HF_ERR_ARGUMENT: NULL, a size that is none, no such setting, a value out of range, or a
 * clash. The message names setting, value and what it goes with. O(settings).
 */
HF_API hf_status hf_settings_check(hf_context *ctx, const hf_settings_table *table,
                                   const void *settings, size_t outputs, const char *name,
                                   hf_setting_clash *clash);

HF_END_DECLS

#endif
