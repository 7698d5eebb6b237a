/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Counts blocks, fills them with rubbish and starts them at awkward addresses. */
typedef struct counter {
    int alive;
    int refuse_from; /* number of allocations after which it refuses; negative: never */
    int made;
} counter;

static void *count_allocate(size_t bytes, void *user)
{
    counter *c = user;
    if (c->refuse_from >= 0 && c->made >= c->refuse_from) return NULL;
    char *raw = malloc(bytes + 16);
    if (raw == NULL) return NULL;
    memset(raw, 0xA5, bytes + 16);
    c->alive++;
    c->made++;
    return raw + 16;
}

static void count_release(void *memory, void *user)
{
    assert_non_null(memory);
    ((counter *)user)->alive--;
    free((char *)memory - 16);
}

static void blocks_are_aligned_and_zeroed(void **state)
{
    (void)state;
    counter c = {.refuse_from = -1};
    hf_allocator allocator = {.allocate = count_allocate, .release = count_release, .user = &c};
    hf_context *plain = hf_context_create(), *counted = hf_context_create_with(&allocator);
    hf_context *contexts[] = {plain, counted};
    for (int which = 0; which < 2; which++)
        for (size_t bytes = 0; bytes < 300; bytes += 7) {
            unsigned char *block = hfi_alloc(contexts[which], bytes, 1);
            assert_non_null(block);
            assert_true((uintptr_t)block % 64 == 0);
            for (size_t i = 0; i < bytes; i++) assert_int_equal(block[i], 0);
            memset(block, 0xFF, bytes);
            hfi_free(contexts[which], block);
        }
    assert_int_equal(c.alive, 1); /* the context itself */
    for (int which = 0; which < 2; which++) {
        unsigned char *block = hfi_alloc_unset(contexts[which], 300, 7);
        assert_non_null(block);
        assert_true((uintptr_t)block % 64 == 0);
        if (which) assert_int_equal(block[0], 0xA5); /* nobody zeroed it */
        hfi_free(contexts[which], block);
        assert_null(hfi_alloc_unset(contexts[which], SIZE_MAX / 2, 3));
    }
    hf_context_free(counted);
    assert_int_equal(c.alive, 0);
    hf_context_free(plain);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    assert_null(hfi_alloc(ctx, SIZE_MAX, 2));
    assert_non_null(strstr(hf_context_message(ctx), "out of memory"));
    assert_null(hfi_alloc(ctx, SIZE_MAX, 1));
    assert_null(hfi_alloc(ctx, SIZE_MAX / 2, 1));
    assert_null(hfi_alloc(ctx, (size_t)1 << 40, (size_t)1 << 40));
    hfi_free(ctx, NULL);
    hf_context_free(ctx);
}

static void a_refusal_is_reported(void **state)
{
    (void)state;
    counter c = {.refuse_from = 1};
    hf_allocator allocator = {.allocate = count_allocate, .release = count_release, .user = &c};
    hf_context *ctx = hf_context_create_with(&allocator);
    assert_non_null(ctx);
    assert_null(hfi_alloc(ctx, 1000, 8));
    assert_non_null(strstr(hf_context_message(ctx), "1000"));
    hf_context_free(ctx);
    assert_int_equal(c.alive, 0);
}

static void memory_outlives_its_context(void **state)
{
    (void)state;
    counter c = {.refuse_from = -1};
    hf_allocator allocator = {.allocate = count_allocate, .release = count_release, .user = &c};
    hf_context *ctx = hf_context_create_with(&allocator);
    hfi_memory memory = hfi_context_memory(ctx);
    double *block = hfi_memory_alloc(&memory, 10, sizeof *block);
    hf_context_free(ctx);
    block[9] = 1.0;
    hfi_memory_free(&memory, block);
    hfi_memory_free(&memory, NULL);
    assert_int_equal(c.alive, 0);
}

static void strings_are_copied(void **state)
{
    (void)state;
    hfi_memory memory = hfi_context_memory(NULL);
    char text[] = "lengthscale";
    char *copy = hfi_memory_strdup(&memory, text);
    text[0] = 'X';
    assert_string_equal(copy, "lengthscale");
    hfi_memory_free(&memory, copy);
    copy = hfi_memory_strdup(&memory, "");
    assert_string_equal(copy, "");
    hfi_memory_free(&memory, copy);
}

static void several_arrays_are_made_at_once(void **state)
{
    (void)state;
    for (int refuse_from = -1; refuse_from < 4; refuse_from++) {
        if (refuse_from == 0) continue; /* the context itself */
        counter c = {.refuse_from = refuse_from};
        hf_allocator allocator = {.allocate = count_allocate, .release = count_release, .user = &c};
        hf_context *ctx = hf_context_create_with(&allocator);
        double *a, *b;
        size_t *index;
        const hf_status status = HFI_ALLOC(ctx, HFI_ROOM(a, 5), HFI_ROOM(index, 0), HFI_ROOMS(b, 3, 7));
        assert_int_equal(status, refuse_from < 0 ? HF_OK : HF_ERR_MEMORY);
        assert_true((a != NULL) == (refuse_from != 1));
        assert_true((index != NULL) == (refuse_from < 0 || refuse_from > 2));
        assert_true((b != NULL) == (refuse_from < 0));
        for (size_t i = 0; b != NULL && i < 21; i++) assert_true(b[i] == 0.0);
        if (refuse_from == 3) assert_non_null(strstr(hf_context_message(ctx), "3 x 56 bytes"));
        HFI_FREE(ctx, a, index, b);
        hf_context_free(ctx);
        assert_int_equal(c.alive, 0);
    }
    const hfi_memory memory = hfi_context_memory(NULL);
    double *a, *huge;
    assert_false(HFI_MEMORY_ALLOC(&memory, HFI_ROOM(a, 5), HFI_ROOMS(huge, 2, SIZE_MAX / 8)));
    assert_true(a != NULL && huge == NULL);
    hfi_memory_free(&memory, a);
}

static void a_block_is_cut_into_parts(void **state)
{
    (void)state;
    double block[26], *a = block, *b = block, *c = block, *end = block;
    assert_int_equal(HFI_LAY_OUT(NULL, HFI_ROOM(a, 5), HFI_ROOM(b, 0), HFI_ROOMS(c, 3, 7), HFI_ROOM(end, 0)),
                     26);
    assert_true(a == NULL && b == NULL && c == NULL && end == NULL);
    assert_int_equal(HFI_LAY_OUT(block, HFI_ROOM(a, 5), HFI_ROOM(b, 0), HFI_ROOMS(c, 3, 7), HFI_ROOM(end, 0)),
                     26);
    assert_true(a == block && b == block + 5 && c == block + 5 && end == block + 26);
}

static void products_of_sizes(void **state)
{
    (void)state;
    size_t product = 77;
    assert_true(hfi_size_mul(6, 7, &product));
    assert_true(product == 42);
    assert_true(hfi_size_mul(0, SIZE_MAX, &product) && product == 0);
    assert_true(hfi_size_mul(SIZE_MAX, 1, &product) && product == SIZE_MAX);
    product = 5;
    assert_false(hfi_size_mul(SIZE_MAX / 2, 3, &product));
    assert_true(product == 5);
}

static void products_of_entries_are_checked(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double *entries = hfi_alloc_product(ctx, 6, 7, sizeof *entries);
    assert_non_null(entries);
    entries[41] = 1.0;
    hfi_free(ctx, entries);
    /* 2^63 * 2 entries would be none, and 2^61 of 8 bytes would be too. */
    assert_null(hfi_alloc_product(ctx, SIZE_MAX / 2 + 1, 2, 8));
    assert_null(hfi_alloc_product(ctx, (size_t)1 << 61, 1, 8));
    assert_true(strlen(hf_context_message(ctx)) > 0);
    hf_context_free(ctx);
}

static void available_memory_is_plausible(void **state)
{
    (void)state;
    size_t available = hfi_available_memory();
    assert_true(available > (size_t)1 << 20);
    if (available == SIZE_MAX) skip(); /* not Linux */
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    assert_true(available <= (size_t)pages * (size_t)page);
}

static void small_amounts_are_not_asked_for(void **state)
{
    (void)state;
    size_t available = 0;
    assert_true(hfi_memory_has(0.0, &available));
    assert_true(hfi_memory_has((double)(1 << 26), &available));
    assert_true(available == SIZE_MAX);
    if (hfi_available_memory() == SIZE_MAX) skip(); /* not Linux */
    assert_false(hfi_memory_has(1e18, &available));
    assert_true(available > (size_t)1 << 20 && (double)available < 1e18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_zeroed),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(a_refusal_is_reported),
        cmocka_unit_test(memory_outlives_its_context),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(several_arrays_are_made_at_once),
        cmocka_unit_test(a_block_is_cut_into_parts),
        cmocka_unit_test(products_of_sizes),
        cmocka_unit_test(products_of_entries_are_checked),
        cmocka_unit_test(available_memory_is_plausible),
        cmocka_unit_test(small_amounts_are_not_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
