/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file table.h
 * @brief The one list of the members of hf_fit_settings.
 *
 * Defaults, checks, fingerprint, fields of model files and public descriptions are made from it.
 * A new member is a row in table.c and its description in train.h; a house rule compares the two.
 */
#ifndef HFI_SETTINGS_TABLE_H
#define HFI_SETTINGS_TABLE_H

#include <holdfast/settings.h>

enum {
    /* settings whose values make one clash */
    HFI_TERMS = 3
};

/** Values of others that a setting does not go with: all terms hold at once. */
typedef struct hfi_clash {
    /** Bits of the setting's own values that are meant; 0: all. A value's bit is hfi_setting_bit(). */
    unsigned values;
    /** A fit refuses it; else the setting has no effect, and only who names it is told. */
    bool refused;
    /** Names of other settings, or "outputs", and bits of the values that clash; NULL ends them.
     * Messages name the last. */
    struct {
        const char *of;
        unsigned with;
    } term[HFI_TERMS];
    /** Why, where the names do not say it; else NULL. */
    const char *why;
} hfi_clash;

/** A row: what everybody may know of a setting, then what only the library needs. */
typedef struct hfi_setting {
    hf_setting face;
    size_t offset;
    /** Name of a choice, "unknown" beyond the last. */
    const char *(*choice)(size_t index);
    /** Default of choices, flags, counts and numbers; texts and lists have NULL. */
    double initial;
    /** Version of the model format that has it first; 0: a model does not keep it by this table. */
    unsigned since;
    /** Choices that a model can have, where these are not those that a fit can be given; else 0. */
    size_t kept;
    /** Clashes up to one without terms; NULL: it goes with everything. */
    const hfi_clash *clashes;
    /** Its default is no less of a wish than another value: it clashes too, unless it is off. */
    bool strict;
    /** A fit does not depend on it: no part of the fingerprint. */
    bool unhashed;
} hfi_setting;

enum {
    HFI_SETTINGS = 62,
    /* of one setting, at most */
    HFI_MOST_CHOICES = 16
};
extern const hfi_setting hfi_settings[HFI_SETTINGS];

/** How many choices a model can have. */
static inline size_t hfi_setting_kept(const hfi_setting *row)
{
    return row->kept > 0 ? row->kept : row->face.choices;
}

/** Value of a choice, flag, count, length or number as a number; counts beyond 2^53 are rounded. */
double hfi_setting_value(const hfi_setting *row, const hf_fit_settings *settings);
/** The same of choices, flags, counts and lengths, to the digit. */
uint64_t hfi_setting_whole(const hfi_setting *row, const hf_fit_settings *settings);
/** Writes such a value, which is in the range of its type; NULL for texts and lists. */
void hfi_setting_assign(const hfi_setting *row, double value, hf_fit_settings *settings);

/** Number of a value's bit in a clash: of a choice, a flag and "outputs" (one or several) the
 * value, else 0 for 0 or NULL, 1 for anything else, 2 for the text "auto". */
unsigned hfi_setting_bit(const hfi_setting *row, const hf_fit_settings *settings);

/** The row of that name, NULL for NULL and where there is none. */
const hfi_setting *hfi_setting_find(const char *name);

/** Text of a value that is in range, as hf_fit_settings_get() has it; "" of lists. At least 48 bytes. */
void hfi_setting_text(const hfi_setting *row, const hf_fit_settings *settings, size_t room, char *out);

/**
 * Ranges and choices of all members, and lists that are NULL but have a length.
 * Errors: HF_ERR_ARGUMENT, which names member, value and range.
 */
hf_status hfi_settings_ranges(hf_context *ctx, const hf_fit_settings *settings);
/** The same of one member. */
hf_status hfi_setting_range(hf_context *ctx, const hfi_setting *row, const hf_fit_settings *settings);

/**
 * Changes the choice `other`, which was not chosen, to its first value with which all of the chosen
 * rows can have an effect; of rows that exclude each other the first ones count. It stays where it
 * is such a value, and where it could be "auto" but is not.
 */
void hfi_settings_adapt(hf_fit_settings *settings, size_t count, const hfi_setting *const *chosen,
                        const char *other);

#endif
