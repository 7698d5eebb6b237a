/* SPDX-License-Identifier: Apache-2.0 */
/* Text in messages, and nearness of names. */
#include "data/support.h"

#include "data/text.h"

#include <errno.h>

static void shown_text_fits_and_is_harmless(void **state)
{
    (void)state;
    char long_text[128], buffer[HFI_SHOWN_BYTES];
    for (size_t length = 0; length < sizeof long_text; length++) {
        memset(long_text, 'x', length);
        long_text[length] = '\0';
        assert_ptr_equal(hfi_text_shown(long_text, buffer), buffer);
        size_t shown = strlen(buffer);
        assert_true(shown < HFI_SHOWN_BYTES);
        if (length <= HFI_SHOWN_BYTES - 4)
            assert_string_equal(buffer, long_text);
        else
            assert_string_equal(buffer + shown - 3, "...");
    }
    assert_string_equal(hfi_text_shown("a\x1b[31mb\tc\n\x7f", buffer), "a?[31mb?c??");
}

static void characters_are_not_cut(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        char text[128] = "", buffer[HFI_SHOWN_BYTES];
        memset(text, 'x', shift);
        for (size_t k = 0; k < 30; k++) memcpy(text + shift + 3 * k, "\xe6\x95\xb0", 3);
        size_t shown = strlen(hfi_text_shown(text, buffer));
        assert_int_equal((shown - 3 - shift) % 3, 0);
        assert_memory_equal(buffer, text, shown - 3);
    }
}

static void distances(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"abc", "abc", 0},
        {"ABC", "abc", 0},
        {"abc", "abd", 1},
        {"abc", "ab", 1},
        {"abc", "acb", 1},
        {"kitten", "sitting", 3},
        {"abcd", "badc", 2},
        {"a", "b", 1},
        {"dose", "doses", 1},
        {"flaw", "lawn", 2},
        {"sunday", "saturday", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(hfi_edit_distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(hfi_edit_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
}

static void long_names_are_compared_at_their_beginning(void **state)
{
    (void)state;
    char a[200], b[200];
    memset(a, 'a', sizeof a - 1);
    memset(b, 'a', sizeof b - 1);
    a[199] = b[199] = '\0';
    b[3] = 'b';
    b[150] = 'b';
    assert_int_equal(hfi_edit_distance(a, b), 1);
}

static void system_errors_have_words(void **state)
{
    (void)state;
    char buffer[128];
    assert_string_equal(hfi_error_text(ENOSPC, buffer),
                        "No space left on device; free some space or write elsewhere");
    assert_string_equal(hfi_error_text(EACCES, buffer), "Permission denied; choose a place you may use");
    assert_contains(hfi_error_text(99999, buffer), "99999");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shown_text_fits_and_is_harmless),
        cmocka_unit_test(characters_are_not_cut),
        cmocka_unit_test(distances),
        cmocka_unit_test(long_names_are_compared_at_their_beginning),
        cmocka_unit_test(system_errors_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
