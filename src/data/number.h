/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file number.h
 * @brief Numbers as text, the same under every locale and rounded correctly both ways.
 */
#ifndef HFI_DATA_NUMBER_H
#define HFI_DATA_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Kind of a field, as it was read. */
typedef enum hfi_field_kind {
    HFI_FIELD_NUMBER,  /* finite or infinite */
    HFI_FIELD_MISSING, /* empty, NA, nan, ... */
    HFI_FIELD_TEXT     /* anything else */
} hfi_field_kind;

/**
 * Reads a field. Blanks and tabs around it do not count. A number is [+-] digits [. digits] [e [+-]
 * digits] with at least one digit before the exponent, or [+-] inf or infinity; hexadecimal is
 * text. Missing, in any case: the empty field, NA, N/A, #N/A, nan (with or without sign), null,
 * none, ?, -. `*value` is set to the number, NaN for a missing field, untouched for text. A number
 * too large for a double becomes infinite, one too small becomes zero. O(length), no allocation.
 */
hfi_field_kind hfi_field_parse(const char *text, double *value);

/** significand x 10^exponent, correctly rounded. */
double hfi_decimal_value(uint64_t significand, int exponent);

/** True if the text would be a number with a point for its comma, or without its commas: 3,14 or
 * 1,234.5. */
bool hfi_field_has_comma_number(const char *text);

#endif
