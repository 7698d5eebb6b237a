/* SPDX-License-Identifier: Apache-2.0 */
/* Names of choices. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_there_and_back),
        cmocka_unit_test(an_unknown_name_lists_the_valid_ones),
        cmocka_unit_test(a_long_list_is_cut),
    };
    return cmocka_run_group_tests_name("choice", tests, NULL, NULL);
}
