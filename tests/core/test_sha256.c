/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against the published examples and against itself in pieces. */
#include "core/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void digest(const char *text, size_t bytes, size_t piece, char hex[HFI_SHA256_HEX])
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    for (size_t at = 0; at < bytes; at += piece)
        hfi_sha256_add(&hash, text + at, bytes - at < piece ? bytes - at : piece);
    hfi_sha256_hex(&hash, hex);
}

static void agrees_with_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmno"
         "pq"
         "rstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    char hex[HFI_SHA256_HEX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        digest(cases[i].text, strlen(cases[i].text), 1000, hex);
        assert_string_equal(hex, cases[i].hex);
    }
}

static void a_million_letters(void **state)
{
    (void)state;
    char *text = malloc(1000000), hex[HFI_SHA256_HEX];
    assert_non_null(text);
    memset(text, 'a', 1000000);
    digest(text, 1000000, 4097, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(text);
}

static void pieces_make_no_difference(void **state)
{
    (void)state;
    char text[300], whole[HFI_SHA256_HEX], pieces[HFI_SHA256_HEX];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * 37 + 11);
    for (size_t bytes = 0; bytes < sizeof text; bytes++) {
        digest(text, bytes, sizeof text, whole);
        digest(text, bytes, 1 + bytes % 67, pieces);
        assert_string_equal(whole, pieces);
    }
}

static void texts_are_told_apart_by_their_lengths(void **state)
{
    (void)state;
    char first[HFI_SHA256_HEX], second[HFI_SHA256_HEX];
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    hfi_sha256_add_text(&hash, "ab");
    hfi_sha256_add_text(&hash, "c");
    hfi_sha256_hex(&hash, first);
    hfi_sha256_init(&hash);
    hfi_sha256_add_text(&hash, "a");
    hfi_sha256_add_text(&hash, "bc");
    hfi_sha256_hex(&hash, second);
    assert_string_not_equal(first, second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_standard), cmocka_unit_test(a_million_letters),
        cmocka_unit_test(pieces_make_no_difference), cmocka_unit_test(texts_are_told_apart_by_their_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
