/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of model files: any bytes are either refused with a message or become a model that can be used.
 *
 * The checksum stops nearly every change at the door, which is its purpose and no help here. So each input is tried three times: as it is;
 * with the fixed parts of the header put right; and, if SQLite can open that, with the checksum made to agree.
 */
#include "model/file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says what is wrong before libFuzzer or the replay keeps the input. */
static void must(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_model: %s\n", what);
    abort();
}

static void use(hf_context *ctx, const hf_model *model)
{
    hf_table *rows = NULL, *training = NULL;
    must(hf_model_target(model) != NULL && hf_model_features(model) > 0, "a model without columns");
    for (size_t i = 0; i < hf_model_parameters(model); i++) {
        hf_parameter parameter;
        must(hf_model_parameter(model, i, &parameter) == HF_OK && parameter.name != NULL,
             "a parameter is missing");
    }
    hf_status status = hf_model_training(ctx, model, &training);
    if (status >= 0) status = hf_predict_into_table(ctx, model, training);
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
    status = hf_model_rows(ctx, model, &rows);
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
    hf_table_free(rows);
    hf_table_free(training);
}

static void load(hf_context *ctx, const unsigned char *bytes, size_t size)
{
    hf_model *model = NULL;
    hf_status status = hfi_model_from_bytes(ctx, bytes, size, "m.hf", &model);
    must((status >= 0) == (model != NULL), "status and model disagree");
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
    if (model != NULL) use(ctx, model);
    hf_model_free(model);
}

/* What the first look at a file wants to see: magic, sizes, marks, one of the formats. */
static void repair_header(unsigned char *bytes, size_t size)
{
    static const unsigned char magic[16] = "SQLite format 3", mark[4] = {0x48, 0x46, 0x6d, 0x64},
                               version[4] = {0, 0, 0, 2};
    memcpy(bytes, magic, sizeof magic);
    bytes[16] = 2; /* pages of 512 bytes: the inputs stay small */
    bytes[17] = 0;
    bytes[18] = bytes[19] = 1; /* no write-ahead log */
    size_t pages = size / 512;
    for (unsigned b = 0; b < 4; b++) bytes[28 + b] = (unsigned char)(pages >> (24U - 8U * b));
    const unsigned char given = bytes[63];
    memcpy(bytes + 60, version, sizeof version);
    if (given >= 1 && given <= HFI_FORMAT_VERSION) bytes[63] = given;
    memcpy(bytes + 68, mark, sizeof mark);
}

/* The image with a checksum that agrees, if SQLite can be brought to store one. */
static void load_sealed(hf_context *ctx, const unsigned char *bytes, size_t size)
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
        hfi_schema_check(ctx, db, bytes[63], "m.hf") == HF_OK && hfi_schema_seal(db, bytes[63]) == SQLITE_OK)
        image = sqlite3_serialize(db, "main", &length, 0);
    if (image != NULL) load(ctx, image, (size_t)length);
    sqlite3_free(image);
    sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hf_context *ctx = hf_context_create();
    must(ctx != NULL, "out of memory");
    load(ctx, data, size);
    if (size >= 512 && size < (1U << 20)) {
        unsigned char *copy = malloc(size);
        must(copy != NULL, "out of memory");
        memcpy(copy, data, size);
        repair_header(copy, size - size % 512);
        load(ctx, copy, size - size % 512);
        load_sealed(ctx, copy, size - size % 512);
        free(copy);
    }
    hf_context_free(ctx);
    return 0;
}
