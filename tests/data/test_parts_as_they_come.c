/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that are read in parts, with comments and packed: rows and lines are those that the reader of whole
 * files finds, wherever a part ends. */
#include "data/packed.h"
#include "data/parts.h"

typedef struct desk {
    hf_context *ctx;
    folder scratch;
    char path[256];
    collected whole, parts;
} desk;

static int set_up(void **state)
{
    desk *d = calloc(1, sizeof *d);
    if (d == NULL) return -1;
    d->ctx = hf_context_create();
    d->scratch = folder_make();
    folder_file(&d->scratch, "in.csv", d->path);
    *state = d;
    return d->ctx == NULL;
}

static int tear_down(void **state)
{
    desk *d = *state;
    folder_remove(&d->scratch);
    hf_context_free(d->ctx);
    free(d);
    return 0;
}

static const char *const texts[] = {
    "# made by hand\n#\n\na,b\n1,2\n# half way\n3,4\n",
    "\xef\xbb\xbf#x\r\na;b\r\n1;2\r\n#y\r\n#z\r\n3;4\r\n# end",
    "a,b\n1,2\n#3,4\n# three, fields, here\n5,6\n",              /* a record, and no record */
    "a,b\n1,\"x\n# inside\ny\"\n# \"quoted\n5,6\n#7,\"8\n9\"\n", /* quotes in all of them */
    "a\n1\n#2\n3\n",
    "a,b\n# nothing else\n",
    "a,b\n1,2\n#c,d,\"e\n3,4\n5,6\n",        /* never closed */
    "a,b\n1,2\n#c,\"d\n3,\"x,y\nz\"\n7,8\n", /* closed where a field begins that has two lines */
};

enum {
    TEXTS = sizeof texts / sizeof texts[0],
    ROOM = 4096
};

/* The file in parts of many sizes. */
static void compare(desk *d, const char *name)
{
    for (size_t bytes = 1; bytes < 90; bytes += bytes < 12 ? 1 : 7) {
        memset(&d->parts, 0, sizeof d->parts);
        const hf_status s = hfi_csv_stream(d->ctx, d->path, bytes, collect, &d->parts, NULL);
        if (s != HF_OK) fail_msg("%s, parts of %zu: %s", name, bytes, hf_context_message(d->ctx));
        if (strcmp(d->parts.text, d->whole.text) != 0)
            fail_msg("%s, parts of %zu: %s for %s", name, bytes, d->parts.text, d->whole.text);
    }
}

static void take_whole(desk *d, const char *text)
{
    hf_table *table = NULL;
    file_put(d->path, text, strlen(text));
    if (hf_table_parse(d->ctx, text, strlen(text), NULL, NULL, &table) != HF_OK)
        fail_msg("%s", hf_context_message(d->ctx));
    memset(&d->whole, 0, sizeof d->whole);
    collect(d->ctx, &d->whole, table);
    hf_table_free(table);
}

static void comments_are_left_out(void **state)
{
    desk *d = *state;
    for (size_t t = 0; t < TEXTS; t++) {
        take_whole(d, texts[t]);
        compare(d, texts[t]);
    }
}

static void nothing_but_comments_is_told(void **state)
{
    desk *d = *state;
    file_put(d->path, "# a\n\n# b", 8);
    for (size_t bytes = 1; bytes < 12; bytes++)
        assert_int_equal(hfi_csv_stream(d->ctx, d->path, bytes, collect, &d->parts, NULL), HF_ERR_NO_DATA);
}

static void out_of_memory_leaves_nothing(void **state)
{
    desk *d = *state;
    hf_status status = HF_ERR_MEMORY;
    char packed[ROOM];
    file_put(d->path, packed, pack_gzip(texts[0], strlen(texts[0]), packed, ROOM));
    for (size_t at = 1; status == HF_ERR_MEMORY; at++) {
        meter m;
        hf_context *ctx = meter_context(&m);
        m.fail_at = m.made + at;
        memset(&d->parts, 0, sizeof d->parts);
        status = hfi_csv_stream(ctx, d->path, 8, collect, &d->parts, NULL);
        hf_context_free(ctx);
        assert_true(m.live == 0);
        assert_true(at < 500);
    }
#ifdef HF_WITH_ZLIB
    assert_int_equal(status, HF_OK);
#endif
}

/* ---- packed ------------------------------------------------------------------------------------------------ */

typedef size_t (*packer)(const char *text, size_t bytes, char *out, size_t room);

static void try_packer(desk *d, packer pack, const char *cut)
{
    char packed[ROOM];
    for (size_t t = 0; t < TEXTS; t++) {
        take_whole(d, texts[t]);
        /* Two packed files one behind the other. */
        const size_t half = strlen(texts[t]) / 2, one = pack(texts[t], half, packed, ROOM),
                     two = pack(texts[t] + half, strlen(texts[t]) - half, packed + one, ROOM - one);
        file_put(d->path, packed, one + two);
        compare(d, cut);
    }
    const char *text = texts[0];
    const size_t bytes = pack(text, strlen(text), packed, ROOM);
    for (size_t k = 6; k < bytes; k++) {
        file_put(d->path, packed, k);
        assert_int_equal(hfi_csv_stream(d->ctx, d->path, 8, collect, &d->parts, NULL), HF_ERR_IO);
        assert_contains(hf_context_message(d->ctx), cut);
    }
    for (size_t k = 0; k < bytes; k++) {
        packed[k] ^= 0x55;
        file_put(d->path, packed, bytes);
        memset(&d->parts, 0, sizeof d->parts);
        hfi_csv_stream(d->ctx, d->path, 8, collect, &d->parts, NULL); /* refused or harmless */
        packed[k] ^= 0x55;
    }
}

static void packed_files_are_unpacked(void **state)
{
    desk *d = *state;
#ifdef HF_WITH_ZLIB
    try_packer(d, pack_gzip, "it is cut off: gzip expects more");
#endif
#ifdef HF_WITH_ZSTD
    try_packer(d, pack_zstd, "it is cut off: zstd expects more");
#endif
    file_put(d->path, "\x1f\x8b\x08\0", 4);
    assert_int_equal(hfi_csv_stream(d->ctx, d->path, 0, collect, &d->parts, NULL), HF_ERR_IO);
    assert_contains(hf_context_message(d->ctx), "gzip");
}

static hf_status forget(hf_context *ctx, void *arg, const hf_table *part)
{
    (void)ctx;
    (void)arg;
    (void)part;
    return HF_OK;
}

static void bombs_are_refused(void **state)
{
    desk *d = *state;
    const size_t bytes = (size_t)80 << 20, room = (size_t)1 << 20;
    char *text = malloc(bytes), *packed = malloc(room);
    assert_true(text != NULL && packed != NULL);
    memset(text, '1', bytes);
    for (size_t i = 0; i < bytes; i += 4096) text[i] = '\n';
#ifdef HF_WITH_ZLIB
    file_put(d->path, packed, pack_gzip(text, bytes, packed, room));
    assert_int_equal(hfi_csv_stream(d->ctx, d->path, 0, forget, NULL, NULL), HF_ERR_TOO_LARGE);
    assert_contains(hf_context_message(d->ctx), "more than 500 times");
#endif
    free(text);
    free(packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(comments_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_but_comments_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(out_of_memory_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(packed_files_are_unpacked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bombs_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
