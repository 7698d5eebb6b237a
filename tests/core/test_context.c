/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_new_context_has_the_promised_settings(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    assert_true(hf_context_threads(ctx) >= 1);
    assert_true(hf_context_seed(ctx) == 0);
    assert_string_equal(hf_context_message(ctx), "");
    assert_true(hfi_progress(ctx, "test", 0.5, NAN));
    hf_context_free(ctx);
    hf_context_free(NULL);
}

static void threads_are_checked(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    int all = hf_context_threads(ctx);
    assert_int_equal(hf_context_set_threads(ctx, 3), HF_OK);
    assert_int_equal(hf_context_threads(ctx), 3);
    assert_int_equal(hf_context_set_threads(ctx, -1), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "-1"));
    assert_int_equal(hf_context_set_threads(ctx, 1000000), HF_ERR_ARGUMENT);
    assert_int_equal(hf_context_threads(ctx), 3);
    assert_int_equal(hf_context_set_threads(ctx, 0), HF_OK);
    assert_int_equal(hf_context_threads(ctx), all);
    assert_int_equal(hf_context_set_threads(NULL, 1), HF_ERR_ARGUMENT);
    hf_context_free(ctx);
}

static void the_seed_is_kept(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_context_set_seed(ctx, UINT64_C(0xFEDCBA9876543210));
    assert_true(hf_context_seed(ctx) == UINT64_C(0xFEDCBA9876543210));
    hf_context_free(ctx);
}

static void fail_sets_the_message_and_returns_the_status(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    assert_int_equal(hfi_fail(ctx, HF_ERR_PARSE, "line %d: '%s'", 12, "abc"), HF_ERR_PARSE);
    assert_string_equal(hf_context_message(ctx), "line 12: 'abc'");
    assert_int_equal(hfi_out_of_memory(ctx), HF_ERR_MEMORY);
    assert_string_equal(hf_context_message(ctx), "out of memory");
    assert_int_equal(hfi_cancelled(ctx), HF_ERR_CANCELLED);
    assert_int_equal(hfi_fail(NULL, HF_WARN_DRIFT, "nobody reads %d", 1), HF_WARN_DRIFT);
    hf_context_free(ctx);
}

static void a_null_argument_is_named(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const int one = 1, *x = &one, *second_one = NULL, *out = NULL;
    assert_int_equal(HFI_REFUSE_NULL(ctx, "hf_f", x, second_one, out), HF_ERR_ARGUMENT);
    assert_string_equal(hf_context_message(ctx), "hf_f: second_one is NULL");
    out = x;
    assert_int_equal(HFI_REFUSE_NULL(ctx, "hf_f", second_one, out), HF_ERR_ARGUMENT);
    assert_string_equal(hf_context_message(ctx), "hf_f: second_one is NULL");
    assert_int_equal(HFI_REFUSE_NULL(NULL, "hf_f", x, out), HF_ERR_ARGUMENT);
    hf_context_free(ctx);
}

static void a_message_may_quote_the_one_before(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hfi_fail(ctx, HF_ERR_PARSE, "bad number");
    hfi_fail(ctx, HF_ERR_PARSE, "file x: %s", hf_context_message(ctx));
    assert_string_equal(hf_context_message(ctx), "file x: bad number");
    hf_context_free(ctx);
}

static void a_long_message_is_cut_between_characters(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    char text[5000];
    for (size_t shift = 0; shift < 2; shift++) {
        memset(text, 'a', shift);
        for (size_t i = shift; i + 2 < sizeof text; i += 2)
            memcpy(text + i, "\xC3\xA9", 3); /* e with acute accent */
        hfi_fail(ctx, HF_ERR_PARSE, "%s", text);
        const char *message = hf_context_message(ctx);
        size_t length = strlen(message);
        assert_true(length > 900 && length < 1100);
        assert_string_equal(message + length - 3, "...");
        assert_true((length - 3 - shift) % 2 == 0);
        assert_memory_equal(message, text, length - 3);
    }
    hf_context_free(ctx);
}

typedef struct progress_log {
    int calls;
    double last;
    bool go_on;
} progress_log;

static bool listen(const char *stage, double done, double value, void *user)
{
    progress_log *log = user;
    assert_string_equal(stage, "train");
    assert_true(value == 7.0);
    log->calls++;
    log->last = done;
    return log->go_on;
}

static void progress_is_told_and_can_cancel(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    progress_log log = {.go_on = true};
    hf_context_set_progress(ctx, listen, &log);
    assert_true(hfi_progress(ctx, "train", 0.25, 7.0));
    log.go_on = false;
    assert_false(hfi_progress(ctx, "train", 0.5, 7.0));
    assert_int_equal(log.calls, 2);
    assert_true(log.last == 0.5);
    hf_context_set_progress(ctx, NULL, NULL);
    assert_true(hfi_progress(ctx, "train", 0.75, 7.0));
    assert_int_equal(log.calls, 2);
    hf_context_free(ctx);
}

static void *refuse(size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    return NULL;
}

static void release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

static void no_memory_means_no_context(void **state)
{
    (void)state;
    const hf_allocator none = {.allocate = refuse, .release = release};
    assert_null(hf_context_create_with(&none));
    const hf_allocator half = {.allocate = refuse};
    assert_null(hf_context_create_with(&half));
}

static void a_borrowed_context_leaves_only_its_message(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_context_set_threads(ctx, 3);
    hf_context_set_seed(ctx, 9);
    hf_context *own = hfi_context_borrow(ctx);
    assert_non_null(own);
    assert_int_equal(hf_context_threads(own), 3);
    assert_true(hf_context_seed(own) == 9);
    hf_context_set_threads(own, 1);
    assert_int_equal(hfi_fail(own, HF_ERR_ARGUMENT, "told"), HF_ERR_ARGUMENT);
    assert_int_equal(hf_context_threads(ctx), 3);
    hfi_context_give_back(ctx, own);
    assert_int_equal(hf_context_threads(ctx), 3);
    assert_string_equal(hf_context_message(ctx), "told");
    hf_context_free(ctx);
    own = hfi_context_borrow(NULL);
    assert_int_equal(hf_context_threads(own), 1);
    hfi_context_give_back(NULL, own);
}

static void null_contexts_do_no_harm(void **state)
{
    (void)state;
    assert_int_equal(hf_context_threads(NULL), 1);
    assert_true(hf_context_seed(NULL) == 0);
    assert_string_equal(hf_context_message(NULL), "");
    hf_context_set_seed(NULL, 1);
    hf_context_set_progress(NULL, NULL, NULL);
    assert_true(hfi_progress(NULL, "", 0.0, 0.0));
}

static void the_clock_goes_forward(void **state)
{
    (void)state;
    double before = hfi_now(), after = hfi_now();
    assert_true(after >= before && before > 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_context_has_the_promised_settings),
        cmocka_unit_test(threads_are_checked),
        cmocka_unit_test(the_seed_is_kept),
        cmocka_unit_test(fail_sets_the_message_and_returns_the_status),
        cmocka_unit_test(a_null_argument_is_named),
        cmocka_unit_test(a_message_may_quote_the_one_before),
        cmocka_unit_test(a_long_message_is_cut_between_characters),
        cmocka_unit_test(progress_is_told_and_can_cancel),
        cmocka_unit_test(no_memory_means_no_context),
        cmocka_unit_test(a_borrowed_context_leaves_only_its_message),
        cmocka_unit_test(null_contexts_do_no_harm),
        cmocka_unit_test(the_clock_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
