/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include <holdfast/version.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void every_status_has_its_name_and_text(void **state)
{
    (void)state;
    int count = 0;
#define CHECK(name, value, text)                                                                             \
    assert_int_equal(name, value);                                                                           \
    assert_string_equal(hf_status_name(name), #name);                                                        \
    assert_string_equal(hf_status_text(name), text);                                                         \
    count++;
    HF_STATUS_LIST(CHECK)
#undef CHECK
    assert_true(count > 10);
}

static void the_sign_is_the_severity(void **state)
{
    (void)state;
#define CHECK(name, value, text)                                                                             \
    if (strncmp(#name, "HF_ERR_", 7) == 0) assert_true((value) < 0);                                         \
    if (strncmp(#name, "HF_WARN_", 8) == 0) assert_true((value) > 0);
    HF_STATUS_LIST(CHECK)
#undef CHECK
}

static void values_are_distinct(void **state)
{
    (void)state;
#define VALUE(name, value, text) value,
    const int values[] = {HF_STATUS_LIST(VALUE)};
#undef VALUE
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (size_t j = 0; j < i; j++) assert_int_not_equal(values[i], values[j]);
}

static void an_unknown_status_is_named_too(void **state)
{
    (void)state;
    assert_non_null(hf_status_name((hf_status)1000));
    assert_non_null(hf_status_text((hf_status)-1000));
}

static void the_worse_of_two(void **state)
{
    (void)state;
    assert_int_equal(hfi_worse(HF_OK, HF_OK), HF_OK);
    assert_int_equal(hfi_worse(HF_OK, HF_WARN_JITTER), HF_WARN_JITTER);
    assert_int_equal(hfi_worse(HF_WARN_DRIFT, HF_WARN_JITTER), HF_WARN_DRIFT);
    assert_int_equal(hfi_worse(HF_WARN_DRIFT, HF_ERR_IO), HF_ERR_IO);
    assert_int_equal(hfi_worse(HF_ERR_IO, HF_ERR_MEMORY), HF_ERR_IO);
}

static void library_and_headers_agree(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", HF_VERSION_MAJOR, HF_VERSION_MINOR, HF_VERSION_PATCH);
    assert_string_equal(text, HF_VERSION_STRING);
    assert_string_equal(hf_version(), HF_VERSION_STRING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_name_and_text),
        cmocka_unit_test(the_sign_is_the_severity),
        cmocka_unit_test(values_are_distinct),
        cmocka_unit_test(an_unknown_status_is_named_too),
        cmocka_unit_test(the_worse_of_two),
        cmocka_unit_test(library_and_headers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
