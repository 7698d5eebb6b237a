/* SPDX-License-Identifier: Apache-2.0 */
/* Text in messages. */
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
        cmocka_unit_test(system_errors_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
