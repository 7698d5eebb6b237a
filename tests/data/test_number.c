/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers from text and to text: grammar, correct rounding, fewest digits, no locale. */
#include "data/comma.h"

#include "core/core.h"
#include "data/number.h"

#include <float.h>
#include <math.h>

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void numbers_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1", 1},
        {"+1", 1},
        {"-1.5e3", -1500},
        {".5", 0.5},
        {"5.", 5},
        {"-.5E-1", -0.05},
        {"  7\t", 7},
        {"007", 7},
        {"0", 0},
        {"-0", -0.0},
        {"0e999999999", 0},
        {"1e999999999999999999999", INFINITY},
        {"1e309", INFINITY},
        {"-1e309", -INFINITY},
        {"1e-400", 0},
        {"4.9e-324", 4.9406564584124654e-324},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"1.7976931348623157e308", DBL_MAX},
        {"inf", INFINITY},
        {"-Infinity", -INFINITY},
        {"+INF", INFINITY},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.00000000000000000000000000000001", 9007199254740994.0},
        {"123456789012345678901234567890", 1.2345678901234568e29},
        {"1e23", 1e23},
        {"8.41e21", 8.41e21},
        {"0.000000000000000000000000000000000000001e39", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = 99;
        if (hfi_field_parse(cases[i].text, &value) != HFI_FIELD_NUMBER ||
            bits_of(value) != bits_of(cases[i].value))
            fail_msg("%s was read as %.17g", cases[i].text, value);
    }
}

static void missing_values_are_told_from_text(void **state)
{
    (void)state;
    static const char *const missing[] = {"",    "  ",   "NA",   "na",   "N/A", "#N/A", "NaN", "-nan",
                                          "nan", "null", "NULL", "None", "?",   "-",    " NA "};
    static const char *const text[] = {"0x10", "1e",    "e5",  ".",   "+",     "1 2",
                                       "3,14", "1_000", "--1", "1e+", "1.2.3", "nanx",
                                       "NAs",  "inff",  "1d5", "#1",  "1e5.0", "\342\210\2221"};
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        double value = 99;
        assert_int_equal(hfi_field_parse(missing[i], &value), HFI_FIELD_MISSING);
        assert_true(isnan(value));
    }
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        double value = 99;
        if (hfi_field_parse(text[i], &value) != HFI_FIELD_TEXT) fail_msg("\"%s\" is not text", text[i]);
        assert_true(value == 99);
    }
}

static void commas_in_numbers_are_noticed(void **state)
{
    (void)state;
    assert_true(hfi_field_has_comma_number("3,14"));
    assert_true(hfi_field_has_comma_number("-1,5e3"));
    assert_true(hfi_field_has_comma_number("1,234.5"));
    assert_true(hfi_field_has_comma_number("1,234,567"));
    assert_false(hfi_field_has_comma_number("3.14"));
    assert_false(hfi_field_has_comma_number("a,b"));
    assert_false(hfi_field_has_comma_number(","));
}

static void numbers_are_written(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.30000000000000004, "0.30000000000000004"},
        {1e16, "10000000000000000"},
        {1e17, "1e17"},
        {123456.789, "123456.789"},
        {1e-5, "0.00001"},
        {1.25e-6, "1.25e-6"},
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {1e300, "1e300"},
        {NAN, "nan"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {9007199254740992.0, "9007199254740992"},
        {1.0 / 3, "0.3333333333333333"},
        {5.684341886080802e-14, "5.684341886080802e-14"},
        {9.5367431640625e-07, "9.5367431640625e-7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buffer[32];
        assert_ptr_equal(hf_format_double(cases[i].value, buffer), buffer);
        assert_string_equal(buffer, cases[i].text);
    }
}

static size_t significant_digits(const char *text)
{
    char digits[32];
    size_t count = 0;
    for (; *text != '\0' && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0')) digits[count++] = *text;
    while (count > 0 && digits[count - 1] == '0') count--;
    return count;
}

/* The slow reference: every length in turn, through the C library. */
static size_t fewest_digits(double value)
{
    char text[48];
    int count = 0;
    do snprintf(text, sizeof text, "%.*e", count++, value);
    while (strtod(text, NULL) != value);
    return significant_digits(text[0] == '-' ? text + 1 : text);
}

/* One number both ways, against the C library (in the C locale). */
static void check_both_ways(double value)
{
    char text[32], longer[64];
    double back = 0;
    hf_format_double(value, text);
    assert_true(strlen(text) < 32);
    if (hfi_field_parse(text, &back) != HFI_FIELD_NUMBER || bits_of(back) != bits_of(value) ||
        strtod(text, NULL) != value)
        fail_msg("%.17g was written as %s and read as %.17g", value, text, back);
    if (significant_digits(text) > fewest_digits(value)) fail_msg("%s has too many digits", text);
    snprintf(longer, sizeof longer, "%.25g", value);
    assert_int_equal(hfi_field_parse(longer, &back), HFI_FIELD_NUMBER);
    if (bits_of(back) != bits_of(value)) fail_msg("%s was read as %.17g", longer, back);
}

static void writing_and_reading_agree_on_all_sizes(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 1, HFI_PURPOSE_TEST, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = hfi_stream_bits(&stream);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) check_both_ways(value);
        check_both_ways(hfi_stream_normal(&stream));
        check_both_ways(round(hfi_stream_normal(&stream) * 1e6) / 1e3);
    }
    for (int k = -1074; k < 1024; k++) {
        check_both_ways(ldexp(1, k));
        check_both_ways(nextafter(ldexp(1, k), INFINITY));
        check_both_ways(nextafter(ldexp(1, k), 0) == 0 ? 1 : nextafter(ldexp(1, k), 0));
    }
}

static void long_significands_are_rounded_correctly(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 2, HFI_PURPOSE_TEST, 0);
    static char text[4096];
    for (int i = 0; i < 2000; i++) {
        size_t before = hfi_stream_below(&stream, 1400), after = hfi_stream_below(&stream, 1400), used = 0;
        for (size_t k = 0; k < before; k++) text[used++] = (char)('0' + hfi_stream_below(&stream, 10));
        text[used++] = '.';
        for (size_t k = 0; k <= after; k++) text[used++] = (char)('0' + hfi_stream_below(&stream, 10));
        snprintf(text + used, 16, "e%d", (int)hfi_stream_below(&stream, 2800) - 1700);
        double value = 0;
        assert_int_equal(hfi_field_parse(text, &value), HFI_FIELD_NUMBER);
        assert_true(bits_of(value) == bits_of(strtod(text, NULL)));
    }
}

/* A midpoint between two doubles, with a digit a thousand places behind it that decides. */
static void far_away_digits_break_ties(void **state)
{
    (void)state;
    static char text[1200];
    double value = 0;
    strcpy(text, "9007199254740993.");
    memset(text + 17, '0', 1000);
    strcpy(text + 1017, "0");
    hfi_field_parse(text, &value);
    assert_true(value == 9007199254740992.0);
    strcpy(text + 1017, "1");
    hfi_field_parse(text, &value);
    assert_true(value == 9007199254740994.0);
}

static void locale_does_not_matter(void **state)
{
    (void)state;
    char buffer[32];
    comma locale = comma_begin();
    if (locale.there) {
        static const double values[] = {0.5,           -1234567.25, 1.0 / 3, 2.2250738585072011e-308,
                                        6.02214076e23, DBL_MAX};
        static const char *const texts[] = {
            "0.5",           "-1234567.25",           "0.3333333333333333", "2.225073858507201e-308",
            "6.02214076e23", "1.7976931348623157e308"};
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            double value = 0;
            assert_string_equal(hf_format_double(values[i], buffer), texts[i]);
            assert_int_equal(hfi_field_parse(texts[i], &value), HFI_FIELD_NUMBER);
            assert_true(value == values[i]);
            assert_int_equal(hfi_field_parse("0,5", &value), HFI_FIELD_TEXT);
        }
    }
    comma_end(&locale);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(missing_values_are_told_from_text),
        cmocka_unit_test(commas_in_numbers_are_noticed),
        cmocka_unit_test(numbers_are_written),
        cmocka_unit_test(writing_and_reading_agree_on_all_sizes),
        cmocka_unit_test(long_significands_are_rounded_correctly),
        cmocka_unit_test(far_away_digits_break_ties),
        cmocka_unit_test(locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
