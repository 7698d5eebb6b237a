/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file support.h
 * @brief Shared by several tests of tables: a scratch folder, whole files, an allocator that counts
 * and fails on purpose.
 */
#ifndef TESTS_DATA_SUPPORT_H
#define TESTS_DATA_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <holdfast/context.h>
#include <holdfast/table.h>

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct folder {
    char path[64];
} folder;

static inline folder folder_make(void)
{
    folder made;
    const char *below = getenv("TMPDIR");
    if (below == NULL || strlen(below) > 30) below = "/tmp";
    snprintf(made.path, sizeof made.path, "%s/holdfast-test-XXXXXX", below);
    assert_non_null(mkdtemp(made.path));
    return made;
}

/* "folder/name" in a buffer of 256 bytes. */
static inline const char *folder_file(const folder *in, const char *name, char buffer[256])
{
    snprintf(buffer, 256, "%s/%s", in->path, name);
    return buffer;
}

static inline size_t folder_count(const folder *in)
{
    DIR *listing = opendir(in->path);
    assert_non_null(listing);
    size_t count = 0;
    for (struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) count++;
    closedir(listing);
    return count;
}

static inline void folder_remove(const folder *in)
{
    char path[512];
    DIR *listing = opendir(in->path);
    assert_non_null(listing);
    for (struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(path, sizeof path, "%s/%s", in->path, entry->d_name);
        remove(path);
    }
    closedir(listing);
    assert_int_equal(rmdir(in->path), 0);
}

static inline void file_put(const char *path, const char *text, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* The whole file, zero-terminated; free() it. */
static inline char *file_get(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    fclose(file);
    return text;
}

/* ---- allocator ------------------------------------------------------------------------------- */

/* Counts live blocks, which begin with NaNs; the `fail_at`-th allocation (from 1) fails, 0:
 * none. */
typedef struct meter {
    atomic_size_t live, made;
    size_t fail_at;
} meter;

static inline void *meter_allocate(size_t bytes, void *user)
{
    meter *m = user;
    if (atomic_fetch_add(&m->made, 1) + 1 == m->fail_at) return NULL;
    void *block = malloc(bytes);
    if (block == NULL) return NULL;
    atomic_fetch_add(&m->live, 1);
    return memset(block, 0xFF, bytes < 4096 ? bytes : 4096);
}

static inline void meter_release(void *block, void *user)
{
    meter *m = user;
    atomic_fetch_sub(&m->live, 1);
    free(block);
}

static inline hf_context *meter_context(meter *m)
{
    hf_allocator allocator = {meter_allocate, meter_release, m};
    *m = (meter){0};
    return hf_context_create_with(&allocator);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Parses a text that must be good. */
static inline hf_table *table_of(hf_context *ctx, const char *text)
{
    hf_table *table = NULL;
    hf_status status = hf_table_parse_csv(ctx, text, strlen(text), "t.csv", &table);
    if (status != HF_OK) fail_msg("%s", hf_context_message(ctx));
    return table;
}

static inline void assert_field(const hf_table *table, size_t row, size_t column,
                                const char *expected)
{
    char buffer[32];
    assert_string_equal(hf_table_field(table, row, column, buffer), expected);
}

static inline void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("\"%s\" is not in \"%s\"", part, text);
}

#endif
