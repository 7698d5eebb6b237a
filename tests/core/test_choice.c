/* SPDX-License-Identifier: Apache-2.0 */
/* Names of choices, and nearness of names. */
#include "core/core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"red", "green", "blue"};

static void names_go_there_and_back(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t i = 0; i < 3; i++) {
        size_t index = 99;
        assert_int_equal(hfi_choice_parse(ctx, "colour", names, 3, names[i], &index), HF_OK);
        assert_int_equal(index, i);
        assert_string_equal(hfi_choice_name(names, 3, i), names[i]);
    }
    assert_string_equal(hfi_choice_name(names, 3, 3), "unknown");
    hf_context_free(ctx);
}

static void an_unknown_name_lists_the_valid_ones(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    size_t index = 99;
    assert_int_equal(hfi_choice_parse(ctx, "colour", names, 3, "Red", &index), HF_ERR_ARGUMENT);
    assert_string_equal(hf_context_message(ctx), "there is no colour 'Red'; give red, green or blue");
    assert_int_equal(hfi_choice_parse(ctx, "colour", names, 3, NULL, &index), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_choice_parse(ctx, "colour", names, 3, "red", NULL), HF_ERR_ARGUMENT);
    assert_int_equal(index, 99);
    hf_context_free(ctx);
}

/* A list that is longer than the message has room for is cut, not overrun. */
static void a_long_list_is_cut(void **state)
{
    (void)state;
    const char *many[64];
    for (size_t i = 0; i < 64; i++) many[i] = "a-rather-long-name";
    hf_context *ctx = hf_context_create();
    size_t index = 0;
    assert_int_equal(hfi_choice_parse(ctx, "thing", many, 64, "x", &index), HF_ERR_ARGUMENT);
    assert_true(strlen(hf_context_message(ctx)) < 512);
    hf_context_free(ctx);
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
        const char *a = cases[i].a, *b = cases[i].b;
        assert_int_equal(hfi_edit_distance(a, strlen(a), b, strlen(b)), cases[i].distance);
        assert_int_equal(hfi_edit_distance(b, strlen(b), a, strlen(a)), cases[i].distance);
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
    assert_int_equal(hfi_edit_distance(a, strlen(a), b, strlen(b)), 1);
}

static void letters_behind_the_end_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(hfi_edit_distance("lengthscale=3", 11, "lengthscale", 11), 0);
    assert_int_equal(hfi_edit_distance("abx", 2, "bay", 2), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_there_and_back),
        cmocka_unit_test(an_unknown_name_lists_the_valid_ones),
        cmocka_unit_test(a_long_list_is_cut),
        cmocka_unit_test(distances),
        cmocka_unit_test(long_names_are_compared_at_their_beginning),
        cmocka_unit_test(letters_behind_the_end_do_not_count),
    };
    return cmocka_run_group_tests_name("choice", tests, NULL, NULL);
}
