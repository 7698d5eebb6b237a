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
    /** A fit does not depend on it: no part of the fingerprint. */
    bool unhashed;
} hfi_setting;

enum {
    HFI_SETTINGS = 63,
    /* of one setting, at most */
    HFI_MOST_CHOICES = 8
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

/**
 * Ranges and choices of all members, and lists that are NULL but have a length.
 * Errors: HF_ERR_ARGUMENT, which names member, value and range.
 */
hf_status hfi_settings_check(hf_context *ctx, const hf_fit_settings *settings);

#endif
