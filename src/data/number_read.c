/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimal text to double. strtod rounds correctly but takes the decimal mark from the locale; it is therefore
 * only ever shown an integer and an exponent ("314e-2"), in which no locale has a say. Most numbers never get
 * that far: a significand below 2^53 and a power of ten up to 10^22 are both exact doubles, so one
 * multiplication or division rounds once and is right (Clinger 1990).
 */
#include "data/number.h"

#include "core/core.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No decimal expansion of a midpoint between two doubles has more significant digits than this; what follows
 * can only say "a little more", for which one non-zero digit is enough. */
#define DIGITS_THAT_MATTER 800

/* Beyond this exponent every double is zero or infinite, however long the significand of a file that fits in
 * memory. */
#define EXPONENT_CAP INT64_C(1000000000000000)

typedef struct decimal {
    bool negative;
    const char *digits; /* first significant digit; the decimal mark may follow anywhere */
    const char *end;    /* one past the significand */
    size_t significant; /* digits from the first that is not zero on */
    uint64_t leading;   /* the first 19 of them */
    int64_t exponent;   /* power of ten of the last digit */
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_word(const char *begin, const char *end, const char *word)
{
    while (begin < end && *word != '\0' && lower(*begin) == *word) {
        begin++;
        word++;
    }
    return begin == end && *word == '\0';
}

static void take_digit(decimal *number, const char *at)
{
    if (number->significant == 0 && *at == '0') return;
    if (number->significant == 0) number->digits = at;
    if (number->significant < 19) number->leading = 10 * number->leading + (uint64_t)(*at - '0');
    number->significant++;
}

/* [e [+-] digits] up to `end`; adds to the exponent. */
static bool scan_exponent(const char *p, const char *end, decimal *number)
{
    if (p == end) return true;
    if (lower(*p) != 'e') return false;
    p++;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end) return false;
    int64_t value = 0;
    for (; p < end; p++) {
        if (!is_digit(*p)) return false;
        if (value < EXPONENT_CAP) value = 10 * value + (*p - '0');
    }
    number->exponent += negative ? -value : value;
    return true;
}

static bool scan_decimal(const char *p, const char *end, decimal *number)
{
    bool any = false;
    *number = (decimal){.negative = p < end && *p == '-'};
    if (p < end && (*p == '-' || *p == '+')) p++;
    for (; p < end && is_digit(*p); p++) {
        any = true;
        take_digit(number, p);
    }
    if (p < end && *p == '.') {
        for (p++; p < end && is_digit(*p); p++) {
            any = true;
            take_digit(number, p);
            number->exponent--;
        }
    }
    number->end = p;
    return any && scan_exponent(p, end, number);
}

/* Significand and exponent as strtod cannot misread them. */
static double convert_slowly(const decimal *number)
{
    char text[DIGITS_THAT_MATTER + 32];
    size_t used = 0;
    bool rest = false;
    int64_t exponent = number->exponent;
    for (const char *p = number->digits; p < number->end; p++) {
        if (*p == '.') continue;
        if (used < DIGITS_THAT_MATTER) {
            text[used++] = *p;
        } else {
            exponent++;
            rest = rest || *p != '0';
        }
    }
    if (rest) {
        text[used++] = '1';
        exponent--;
    }
    if (exponent > 100000) exponent = 100000;
    if (exponent < -100000) exponent = -100000;
    hfi_print(text + used, sizeof text - used, "e%d", (int)exponent);
    return hfi_strtod(text, NULL);
}

/* True, and the value, where one exact operation on exact doubles gives it. */
static bool convert_quickly(uint64_t significand, int64_t exponent, double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (FLT_EVAL_METHOD != 0 || significand > (UINT64_C(1) << 53) || exponent < -22 || exponent > 22)
        return false;
    if (exponent < 0)
        *value = (double)significand / power[-exponent];
    else
        *value = (double)significand * power[exponent];
    return true;
}

static double convert(const decimal *number)
{
    double value = 0;
    if (number->significant > 19 ||
        (number->significant > 0 && !convert_quickly(number->leading, number->exponent, &value)))
        value = convert_slowly(number);
    return number->negative ? -value : value;
}

double hfi_decimal_value(uint64_t significand, int exponent)
{
    double value = 0;
    if (convert_quickly(significand, exponent, &value)) return value;
    char text[48];
    hfi_print(text, sizeof text, "%" PRIu64 "e%d", significand, exponent);
    return hfi_strtod(text, NULL);
}

static bool is_missing(const char *begin, const char *end)
{
    static const char *const words[] = {"",    "-",    "?",    "na",   "n/a", "#n/a",
                                        "nan", "-nan", "+nan", "null", "none"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (is_word(begin, end, words[i])) return true;
    return false;
}

static bool is_infinite(const char *begin, const char *end)
{
    if (begin < end && (*begin == '-' || *begin == '+')) begin++;
    return is_word(begin, end, "inf") || is_word(begin, end, "infinity");
}

hfi_field_kind hfi_field_parse(const char *text, double *value)
{
    while (is_blank(*text)) text++;
    const char *end = text + strlen(text);
    while (end > text && is_blank(end[-1])) end--;

    decimal number;
    if (scan_decimal(text, end, &number)) {
        *value = convert(&number);
        return HFI_FIELD_NUMBER;
    }
    if (is_missing(text, end)) {
        *value = NAN;
        return HFI_FIELD_MISSING;
    }
    if (is_infinite(text, end)) {
        *value = *text == '-' ? -INFINITY : INFINITY;
        return HFI_FIELD_NUMBER;
    }
    return HFI_FIELD_TEXT;
}

bool hfi_field_has_comma_number(const char *text)
{
    char with_point[64], without[64];
    size_t used = 0, kept = 0, commas = 0;
    for (; *text != '\0'; text++) {
        if (used + 1 >= sizeof with_point) return false;
        with_point[used++] = *text == ',' ? '.' : *text;
        if (*text == ',')
            commas++;
        else
            without[kept++] = *text;
    }
    with_point[used] = '\0';
    without[kept] = '\0';
    double value = 0;
    return commas > 0 && (hfi_field_parse(with_point, &value) == HFI_FIELD_NUMBER ||
                          hfi_field_parse(without, &value) == HFI_FIELD_NUMBER);
}
