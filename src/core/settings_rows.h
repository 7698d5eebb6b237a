/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings_rows.h
 * @brief Words in which tables of settings are written; for those files alone.
 *
 * SETTINGS is the struct. A file defines it, includes this, lists its rows, and ends with
 * SETTINGS_TABLE:
 *
 *     #define SETTINGS hf_compare_settings
 *     #include "core/settings_rows.h"
 *     static const hfi_setting rows[] = {{COUNT(folds, 2), DEFAULT(10)}, {COUNT(repeats, 1), DEFAULT(1)}};
 *     SETTINGS_TABLE(hf_compare_settings, "a comparison", rows);
 */
#ifndef HFI_SETTINGS_ROWS_H
#define HFI_SETTINGS_ROWS_H

#include "core/settings.h"

#include <math.h>
#include <stddef.h>

/* Compiles only where the member has this type. */
#define IS(type, member)                                                                           \
    _Generic(((SETTINGS *)0)->member, type : 1) /* NOLINT(*-macro-parentheses) */

/* All enums with values from 0 on have the size of an unsigned int with the compilers that are
 * supported. */
_Static_assert(sizeof(hf_setting_type) == sizeof(unsigned), "enums must have the size of unsigned");

/* ---- what goes with what --------------------------------------------------------------------- */

#define BIT(value)   (1u << (value))
#define ALL_BUT(bit) (~0u & ~(bit))
#define OFF          BIT(false)
#define ON           BIT(true)
#define NONE         BIT(0)
#define SOME         (BIT(1) | BIT(2))
#define NOT(member, bits)                                                                          \
    {                                                                                              \
        .term = { {#member, (bits)} }                                                              \
    }
#define REFUSED(member, bits)                                                                      \
    {                                                                                              \
        .refused = true, .term = { {#member, (bits)} }                                             \
    }
#define VALUES(bits, member, others)                                                               \
    {                                                                                              \
        .values = (bits), .term = { {#member, (others)} }                                          \
    }
#define VALUES_REFUSED(bits, member, others)                                                       \
    {                                                                                              \
        .values = (bits), .refused = true, .term = { {#member, (others)} }                         \
    }

/* ---- rows ------------------------------------------------------------------------------------ */

#define OF_TYPE(type, member) (0 * sizeof(char[IS(type, member)]))
#define MEMBER(kind, member, check)                                                                \
    .offset = offsetof(SETTINGS, member) + (check), .face.name = #member, .face.type = (kind)
/* Its enum, the id of its names, and the last value that can be chosen. */
#define CHOICE(member, type, id, last)                                                             \
    MEMBER(HF_SETTING_CHOICE, member, OF_TYPE(type, member)), .face.choices = (last) + 1,          \
                                                              .names = HF_ENUM_##id
#define FLAG(member) MEMBER(HF_SETTING_FLAG, member, OF_TYPE(bool, member))
#define COUNT_TO(member, from, to)                                                                 \
    MEMBER(HF_SETTING_COUNT, member, OF_TYPE(size_t, member)), .face.least = (from),               \
                                                               .face.most = (to)
#define COUNT(member, from) COUNT_TO(member, from, INFINITY)
#define SEED(member)        MEMBER(HF_SETTING_SEED, member, OF_TYPE(uint64_t, member))
#define NUMBER(member, from, to)                                                                   \
    MEMBER(HF_SETTING_NUMBER, member, OF_TYPE(double, member)), .face.least = (from),              \
                                                                .face.most = (to)
/* More than 0, and finite. */
#define POSITIVE(member) NUMBER(member, 0, INFINITY), .face.above = true, .face.below = true
/* 0 or more, and finite. */
#define SIZE(member) NUMBER(member, 0, INFINITY), .face.below = true
/* Any finite number. */
#define FINITE(member) NUMBER(member, -INFINITY, INFINITY), .face.above = true, .face.below = true
#define TEXT(member)   MEMBER(HF_SETTING_TEXT, member, OF_TYPE(const char *, member))
#define LIST(member)   MEMBER(HF_SETTING_LIST, member, 0)
#define LENGTH(member)                                                                             \
    MEMBER(HF_SETTING_LENGTH, member, OF_TYPE(size_t, member)), .face.most = INFINITY
#define UNIT(what)    .face.unit = (what)
#define ZERO(meaning) .face.zero = (meaning)
#define CLASHES(...)                                                                               \
    .clashes = (const hfi_clash[])                                                                 \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define DEFAULT(value) .initial = (value)
#define SINCE(version) .since = (version)
#define OPTION(name, value, text)                                                                  \
    .face.option = (name), .face.argument = (value), .face.help = (text)
/* Help of a member that no option sets. */
#define HELP(text)     .face.help = (text)
#define UNSET(meaning) .face.unset = (meaning), .initial = (double)NAN

#define SETTINGS_TABLE(name, of, rows)                                                             \
    static const hf_settings_table name##_rows = {.owner = (of),                                   \
                                                  .type = #name,                                   \
                                                  .bytes = sizeof(name),                           \
                                                  .count = sizeof(rows) / sizeof(rows)[0],         \
                                                  .row = (rows)};                                  \
    _Static_assert(sizeof(name) <= HFI_SETTINGS_BYTES &&                                           \
                       sizeof(rows) / sizeof(rows)[0] <= HFI_MOST_SETTINGS &&                      \
                       offsetof(name, size) == 0,                                                  \
                   "a struct of settings");                                                        \
    const hf_settings_table *name##_table(void)                                                    \
    {                                                                                              \
        return &name##_rows;                                                                       \
    }

#endif
