/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and texts as bytes: what was put in comes out to the bit, and bytes that end too early are noticed. */
#include "core/bytes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void bytes_are_those_of_the_format(void **state)
{
    (void)state;
    static const unsigned char expected[] = {8, 7,    6,    5, 4, 3, 2, 1, 0, 0, 0, 0,   0,
                                             0, 0xf0, 0xbf, 2, 0, 0, 0, 0, 0, 0, 0, 'h', 'f'};
    hf_context *ctx = hf_context_create();
    hfi_bytes to = {.memory = hfi_context_memory(ctx)};
    hfi_bytes_add_u64(&to, 0x0102030405060708U);
    hfi_bytes_add_double(&to, -1.0);
    hfi_bytes_add_text(&to, "hf");
    assert_false(to.failed);
    assert_int_equal(to.count, sizeof expected);
    assert_memory_equal(to.data, expected, sizeof expected);
    hfi_bytes_free(&to);
    assert_int_equal(to.count, 0);
    hf_context_free(ctx);
}

static void everything_comes_out_as_it_went_in(void **state)
{
    (void)state;
    double values[100], back[100];
    for (int k = 0; k < 100; k++) values[k] = ldexp(0.1 * k - 3.0, 11 * k - 550);
    values[3] = -0.0;
    values[5] = -INFINITY;
    values[7] = NAN;
    hf_context *ctx = hf_context_create();
    const hfi_memory memory = hfi_context_memory(ctx);
    hfi_bytes to = {.memory = memory};
    hfi_bytes_add_text(&to, "");
    for (int k = 0; k < 10; k++) hfi_bytes_add_doubles(&to, 10, values + 10 * k);
    hfi_bytes_add_u64(&to, UINT64_MAX);
    hfi_bytes_add_text(&to, "\xc3\x85s");
    hfi_bytes_left from = {.at = to.data, .left = to.count};
    char *empty = hfi_bytes_take_text(&from, &memory);
    assert_string_equal(empty, "");
    assert_true(hfi_bytes_have(&from, 100, 8));
    assert_false(hfi_bytes_have(&from, 103, 8));
    hfi_bytes_take_doubles(&from, 100, back);
    assert_memory_equal(values, back, sizeof values);
    assert_true(hfi_bytes_take_u64(&from) == UINT64_MAX);
    char *text = hfi_bytes_take_text(&from, &memory);
    assert_string_equal(text, "\xc3\x85s");
    assert_false(from.bad);
    assert_int_equal(from.left, 0);
    hfi_memory_free(&memory, empty);
    hfi_memory_free(&memory, text);
    hfi_bytes_free(&to);
    hf_context_free(ctx);
}

static void bytes_that_end_too_early_are_noticed(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hfi_memory memory = hfi_context_memory(ctx);
    static const unsigned char bytes[20] = {255, 255, 255, 255, 255, 255, 255, 255, 3,  0,
                                            0,   0,   0,   0,   0,   0,   'a', 0,   'b'};
    double values[3] = {1.0, 1.0, 1.0};
    hfi_bytes_left from = {.at = bytes, .left = 20};
    hfi_bytes_take_doubles(&from, 3, values);
    assert_true(from.bad && values[0] == 0.0 && values[2] == 0.0);
    assert_true(hfi_bytes_take_u64(&from) == 0 && hfi_bytes_take_double(&from) == 0.0);
    from = (hfi_bytes_left){.at = bytes, .left = 20}; /* a length beyond all memory */
    assert_null(hfi_bytes_take_text(&from, &memory));
    assert_true(from.bad);
    from = (hfi_bytes_left){.at = bytes + 8, .left = 12}; /* a zero within */
    assert_null(hfi_bytes_take_text(&from, &memory));
    assert_true(from.bad);
    from = (hfi_bytes_left){.at = bytes, .left = 7};
    assert_true(hfi_bytes_take_u64(&from) == 0 && from.bad);
    hf_context_free(ctx);
}

static void *nothing(size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    return NULL;
}

static void lack_of_memory_sticks(void **state)
{
    (void)state;
    hfi_bytes to = {.memory = {.allocate = nothing}};
    hfi_bytes_add_u64(&to, 1);
    hfi_bytes_add_text(&to, "a");
    hfi_bytes_add_double(&to, 1.0);
    assert_true(to.failed && to.data == NULL && to.count == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_the_format),
        cmocka_unit_test(everything_comes_out_as_it_went_in),
        cmocka_unit_test(bytes_that_end_too_early_are_noticed),
        cmocka_unit_test(lack_of_memory_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
