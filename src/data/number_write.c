/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Double to the shortest decimal that reads back. printf's %e rounds correctly; its decimal mark, which is
 * the locale's, is skipped, and the number is laid out here. 15 digits are tried first: when a normal double
 * has any decimal of at most 15 digits, rounding to 15 gives it, followed by zeros. Subnormal numbers have no
 * such guarantee and go through every length.
 */
#include "data/number.h"

#include "core/core.h"

#include <holdfast/table.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Plain notation from 1e-5 up to 1e17, where it is at most as long as a person likes to read. */
#define FIRST_PLAIN_EXPONENT (-5)
#define LAST_PLAIN_EXPONENT  16

typedef struct digits {
    uint64_t significand; /* `count` decimal digits */
    int count;
    int exponent; /* of the first digit */
} digits;

static digits round_to(double magnitude, int count)
{
    char text[64];
    digits out = {.count = count};
    hfi_print(text, sizeof text, "%.*e", count - 1, magnitude);
    const char *p = text;
    for (; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9') out.significand = 10 * out.significand + (uint64_t)(*p - '0');
    out.exponent = (int)strtol(p + 1, NULL, 10);
    return out;
}

static bool reads_back(const digits *candidate, double magnitude)
{
    return hfi_decimal_value(candidate->significand, candidate->exponent - candidate->count + 1) == magnitude;
}

/* Just above a power of two the doubles lie twice as far apart as just below. The decimal nearest to it may
 * therefore miss it while the next one, on the wide side, reads back. */
static bool neighbour_reads_back(digits *candidate, double magnitude)
{
    int exponent = 0;
    if (frexp(magnitude, &exponent) != 0.5) return false;
    digits next = *candidate;
    next.significand++;
    if (!reads_back(&next, magnitude)) return false;
    *candidate = next;
    return true;
}

/* round_to(magnitude, count) made from the 17 digits already at hand, which spares a slow printf. Rounding
 * twice goes wrong only where the digits dropped are exactly one half; there printf is asked after all. */
static digits shorten(const digits *full, double magnitude, int count)
{
    uint64_t unit = count == DBL_DIG ? 100 : 10;
    uint64_t rest = full->significand % unit;
    if (2 * rest == unit) return round_to(magnitude, count);
    digits out = {full->significand / unit + (2 * rest > unit), count, full->exponent};
    uint64_t limit = count == DBL_DIG ? UINT64_C(1000000000000000) : UINT64_C(10000000000000000);
    if (out.significand == limit) {
        out.significand = limit / 10;
        out.exponent++;
    }
    return out;
}

static digits shortest(double magnitude)
{
    digits full = round_to(magnitude, DBL_DECIMAL_DIG);
    for (int count = magnitude < DBL_MIN ? 1 : DBL_DIG; count < DBL_DECIMAL_DIG; count++) {
        digits candidate = count < DBL_DIG ? round_to(magnitude, count) : shorten(&full, magnitude, count);
        if (reads_back(&candidate, magnitude) || neighbour_reads_back(&candidate, magnitude))
            return candidate;
    }
    return full;
}

static void lay_out_digits(const digits *number, char *out)
{
    char text[24];
    int count = hfi_print(text, sizeof text, "%" PRIu64, number->significand);
    while (count > 1 && text[count - 1] == '0') count--;

    int exponent = number->exponent;
    bool plain = exponent >= FIRST_PLAIN_EXPONENT && exponent <= LAST_PLAIN_EXPONENT;
    int before = !plain ? 1 : exponent >= 0 ? exponent + 1 : 0; /* digits before the point */
    int zeros = plain && exponent < 0 ? -exponent - 1 : 0;      /* zeros after the point */
    if (before == 0) *out++ = '0';
    for (int i = 0; i < before; i++) *out++ = i < count ? text[i] : '0';
    if (count > before) {
        *out++ = '.';
        for (int i = 0; i < zeros; i++) *out++ = '0';
        for (int i = before; i < count; i++) *out++ = text[i];
    }
    *out = '\0';
    if (!plain) hfi_print(out, 8, "e%d", exponent);
}

const char *hf_format_double(double value, char buffer[32])
{
    char *out = buffer;
    if (isnan(value)) return memcpy(buffer, "nan", sizeof "nan");
    if (signbit(value)) *out++ = '-';
    double magnitude = fabs(value);
    if (isinf(value)) {
        memcpy(out, "inf", sizeof "inf");
    } else if (magnitude == 0) {
        memcpy(out, "0", sizeof "0");
    } else {
        digits number = shortest(magnitude);
        lay_out_digits(&number, out);
    }
    return buffer;
}
