/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings.h
 * @brief Tables of the members of structs of settings.
 *
 * Defaults, checks, fingerprint, fields of files and public descriptions are made from them. A new
 * member is a row of its table (settings_rows.h) and its description in the public header; a house
 * rule compares the two.
 */
#ifndef HFI_SETTINGS_TABLE_H
#define HFI_SETTINGS_TABLE_H

#include <holdfast/enums.h>
#include <holdfast/settings.h>

enum {
    /* settings whose values make one clash */
    HFI_TERMS = 3,
    /* of one setting, at most */
    HFI_MOST_CHOICES = 16,
    /* of a struct, at most: bytes, and members */
    HFI_SETTINGS_BYTES = 1024,
    HFI_MOST_SETTINGS = 80
};

/** Values of others that a setting does not go with: all terms hold at once. */
typedef struct hfi_clash {
    /** Bits of the setting's own values that are meant; 0: all. A value's bit is
     * hfi_setting_bit(). */
    unsigned values;
    /** Functions refuse it; else the setting has no effect, and only who names it is told. */
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
    hf_setting face; /* first, so that it leads here */
    size_t offset;
    /** Names of a choice. */
    hf_enum names;
    /** Default of choices, flags, counts, seeds and numbers; lists have NULL. */
    double initial;
    /** Default of a text. */
    const char *usual;
    /** The name in files, after "settings."; NULL: the same. */
    const char *key;
    /** Version of the file's format that has it first; 0: files do not keep it by this table. */
    unsigned since;
    /** Some files of that version do not have it. */
    bool late;
    /** Choices that a model can have, where these are not those that a fit can be given; else 0. */
    size_t kept;
    /** Clashes up to one without terms; NULL: it goes with everything. */
    const hfi_clash *clashes;
    /** Its default is no less of a wish than another value: it clashes too, unless it is off. */
    bool strict;
    /** A fit does not depend on it: no part of the fingerprint. */
    bool unhashed;
} hfi_setting;

struct hf_settings_table {
    /** "a fit" and "hf_fit_settings", for messages. */
    const char *owner, *type;
    /** Size of the struct. */
    size_t bytes;
    size_t count;
    const hfi_setting *row;
};

/**
 * Copies an open struct of the caller's, whose first member is its size, over `own` of `bytes`
 * bytes. Errors: HF_ERR_ARGUMENT: NULL, a size below `least` or of no struct, or members that this
 * library does not know and that are set. `name` is for the message.
 */
hf_status hfi_struct_open(hf_context *ctx, const char *name, const void *given, size_t least,
                          void *own, size_t bytes);

/**
 * The settings that a function was given, over the defaults; NULL: the defaults.
 * @param own a struct of the library's own size
 * Errors: HF_ERR_ARGUMENT, `own` undefined: their size.
 */
hf_status hfi_settings_take(hf_context *ctx, const hf_settings_table *table, const void *given,
                            void *own);
/**
 * Whether settings that were taken are in their ranges and go together, as hf_settings_check() of
 * all members says; clash: NULL, or what is in the way.
 */
hf_status hfi_settings_agree(hf_context *ctx, const hf_settings_table *table, const void *own,
                             size_t outputs, hf_setting_clash *clash);
/**
 * HF_ERR_ARGUMENT where the value's bit is among those that do not go with something that is no
 * setting, such as a function; the message names setting, value, `beside` and the values that
 * would do. `why` may be NULL.
 */
hf_status hfi_setting_deny(hf_context *ctx, const hfi_setting *row, const void *settings,
                           unsigned bits, const char *beside, const char *why);
/** hfi_settings_take(), and hfi_settings_agree() as those of one output. */
hf_status hfi_settings_open(hf_context *ctx, const hf_settings_table *table, const void *given,
                            void *own);

/** The size that a caller's settings have. HF_ERR_ARGUMENT: NULL, or none of the struct. */
hf_status hfi_settings_size(hf_context *ctx, const hf_settings_table *table, const void *settings,
                            size_t *size);

/** Copies settings of the library's own into those of a program, whose size it is. HF_ERR_ARGUMENT:
 * NULL, or no size of the struct. */
hf_status hfi_settings_give(hf_context *ctx, const hf_settings_table *table, const void *own,
                            void *out, size_t size);

/** How many choices a model can have. */
static inline size_t hfi_setting_kept(const hfi_setting *row)
{
    return row->kept > 0 ? row->kept : row->face.choices;
}

/** Value of a choice, flag, count, length, seed or number as a number; counts beyond 2^53 are
 * rounded. */
double hfi_setting_value(const hfi_setting *row, const void *settings);
/** The same of choices, flags, counts, lengths and seeds, to the digit. */
uint64_t hfi_setting_whole(const hfi_setting *row, const void *settings);
/** Writes such a value, which is in the range of its type; NULL for texts and lists. */
void hfi_setting_assign(const hfi_setting *row, double value, void *settings);

/** Number of a value's bit in a clash: of a choice, a flag and "outputs" (one or several) the
 * value, else 0 for 0 or NULL, 1 for anything else, 2 for the text "auto". */
unsigned hfi_setting_bit(const hfi_setting *row, const void *settings);

/** The row of that name, NULL for NULL and where there is none. */
const hfi_setting *hfi_setting_find(const hf_settings_table *table, const char *name);
/** The same of rows that end within `size` bytes; NULL after a message that there is no such
 * setting. */
const hfi_setting *hfi_setting_named(hf_context *ctx, const hf_settings_table *table,
                                     const char *name, size_t size);

/** Text of a value that is in range, as hf_settings_get() has it; "" of lists. At least 48
 * bytes. */
void hfi_setting_text(const hfi_setting *row, const void *settings, size_t room, char *out);

/**
 * Ranges and choices of all members, and lists that are NULL but have a length.
 * Errors: HF_ERR_ARGUMENT, which names member, value and range.
 */
hf_status hfi_settings_ranges(hf_context *ctx, const hf_settings_table *table,
                              const void *settings);
/** The same of one member. */
hf_status hfi_setting_range(hf_context *ctx, const hfi_setting *row, const void *settings);

/**
 * Changes the choice `other`, which was not chosen, to its first value with which all of the chosen
 * rows can have an effect; of rows that exclude each other the first ones count. It stays where it
 * is such a value, and where it could be "auto" but is not.
 */
void hfi_settings_adapt(const hf_settings_table *table, void *settings, size_t count,
                        const hfi_setting *const *chosen, const char *other);

#endif
