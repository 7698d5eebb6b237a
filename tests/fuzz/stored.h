/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file stored.h
 * @brief Shared by the fuzzers of files.
 *
 * The checksum stops nearly every change at the door, which is its purpose and no help here. So
 * each input is tried four times: as it is, and with the fixed parts of the header put right; and
 * each of these, if SQLite can open it, once more with the checksum made to agree.
 */
#ifndef HF_FUZZ_STORED_H
#define HF_FUZZ_STORED_H

#include "model/file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct stored {
    const hfi_file_kind *kind;
    /* version of the tables in a file with that header */
    unsigned (*schema)(const unsigned char *bytes);
    void (*load)(hf_context *ctx, const unsigned char *bytes, size_t size);
    /* Makes the checksums of a database agree, if it has the right tables; NULL: those of
     * models. */
    bool (*seal)(hf_context *ctx, sqlite3 *db);
} stored;

/* Says what is wrong before libFuzzer or the replay keeps the input. */
static inline void must(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

static inline void stored_number(unsigned char *bytes, size_t number)
{
    for (unsigned b = 0; b < 4; b++) bytes[b] = (unsigned char)(number >> (24U - 8U * b));
}

/* Writes what the first look at a file wants to see: magic, sizes, marks, one of the formats. */
static inline void stored_repair(const stored *s, unsigned char *bytes, size_t size)
{
    static const unsigned char magic[16] = "SQLite format 3";
    const unsigned given = bytes[63];
    memcpy(bytes, magic, sizeof magic);
    bytes[16] = 2; /* pages of 512 bytes: the inputs stay small */
    bytes[17] = 0;
    bytes[18] = bytes[19] = 1; /* no write-ahead log */
    stored_number(bytes + 28, size / 512);
    stored_number(bytes + 60, given >= 1 && given <= s->kind->newest ? given : s->kind->newest);
    stored_number(bytes + 68, s->kind->application);
}

static inline bool stored_seal(hf_context *ctx, const stored *s, sqlite3 *db,
                               const unsigned char *bytes)
{
    if (s->seal != NULL) return s->seal(ctx, db);
    const hfi_file_tables tables = hfi_model_tables(s->schema(bytes));
    return hfi_schema_check(ctx, db, s->schema(bytes), "f.hf") == HF_OK &&
           hfi_tables_seal(db, &tables) == SQLITE_OK;
}

/* The image with a checksum that agrees, if SQLite can be brought to store one. */
static inline void stored_load_sealed(hf_context *ctx, const stored *s, const unsigned char *bytes,
                                      size_t size)
{
    sqlite3 *db = NULL;
    sqlite3_int64 length = 0;
    unsigned char *room = sqlite3_malloc64(size + 65536), *image = NULL;
    must(room != NULL && sqlite3_open(":memory:", &db) == SQLITE_OK, "out of memory");
    memcpy(room, bytes, size);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
    if (sqlite3_deserialize(db, "main", room, (sqlite3_int64)size, (sqlite3_int64)size + 65536,
                            SQLITE_DESERIALIZE_FREEONCLOSE) == SQLITE_OK &&
        stored_seal(ctx, s, db, bytes))
        image = sqlite3_serialize(db, "main", &length, 0);
    if (image != NULL) s->load(ctx, image, (size_t)length);
    sqlite3_free(image);
    sqlite3_close(db);
}

static inline int stored_try(const stored *s, const uint8_t *data, size_t size)
{
    hf_context *ctx = hf_context_create();
    must(ctx != NULL, "out of memory");
    s->load(ctx, data, size);
    if (size >= 512 && size < (1U << 20)) {
        const size_t whole = size - size % 512;
        unsigned char *copy = malloc(size);
        must(copy != NULL, "out of memory");
        memcpy(copy, data, size);
        stored_load_sealed(ctx, s, copy, size);
        stored_repair(s, copy, whole);
        s->load(ctx, copy, whole);
        stored_load_sealed(ctx, s, copy, whole);
        free(copy);
    }
    hf_context_free(ctx);
    return 0;
}

#endif
