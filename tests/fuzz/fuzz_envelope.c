/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of envelope files: any bytes are either refused with a message or become an envelope that can be asked.
 *
 * As in fuzz_model.c each input is tried as it is, with the fixed parts of the header put right, and with a checksum that agrees.
 */
#include "model/envelope_file.h"
#include "model/file.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says what is wrong before libFuzzer or the replay keeps the input. */
static void must(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_envelope: %s\n", what);
    abort();
}

static void use(hf_context *ctx, const hf_envelope *envelope, const hf_envelope_labels *labels)
{
    const size_t d = hf_envelope_dimension(envelope);
    must(d > 0 && labels->feature_count == d && hf_envelope_readings(envelope) > 0, "an envelope of nothing");
    must(labels->target != NULL && labels->features[d - 1] != NULL, "a label is missing");
    must(hf_envelope_minimum_norm(envelope) <= hf_envelope_norm(envelope) * (1.0 + 1e-6),
         "an envelope that contradicts itself");
    const double *x = NULL;
    double low, high;
    must(hf_envelope_reading(envelope, 0, &x, &low, &high) == HF_OK && low <= high, "a reading is missing");
    hf_envelope_workspace *workspace = hf_envelope_workspace_create(ctx, envelope);
    must(workspace != NULL, "out of memory");
    /* An end to it whatever the numbers are: a bound is valid wherever it stops. */
    const hf_envelope_limits limits = {.pivots = 50};
    hf_bound bound;
    const hf_status status = hf_envelope_bounds(envelope, workspace, x, &limits, &bound, NULL, NULL);
    must(status < 0 || !(bound.lower > bound.upper), "a lower bound above the upper one");
    hf_envelope_workspace_free(workspace);
}

static void load(hf_context *ctx, const unsigned char *bytes, size_t size)
{
    hf_envelope *envelope = NULL;
    hf_envelope_labels *labels = NULL;
    const hf_status status = hfi_envelope_from_bytes(ctx, bytes, size, "e.hf", &envelope, &labels);
    must((status >= 0) == (envelope != NULL && labels != NULL), "status and envelope disagree");
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
    if (envelope != NULL) use(ctx, envelope, labels);
    hf_envelope_labels_free(labels);
    hf_envelope_free(envelope);
}

/* What the first look at a file wants to see: magic, sizes, marks, the format. */
static void repair_header(unsigned char *bytes, size_t size)
{
    static const unsigned char magic[16] = "SQLite format 3", mark[4] = {0x48, 0x46, 0x65, 0x6e},
                               version[4] = {0, 0, 0, HFI_ENVELOPE_VERSION};
    memcpy(bytes, magic, sizeof magic);
    bytes[16] = 2; /* pages of 512 bytes: the inputs stay small */
    bytes[17] = 0;
    bytes[18] = bytes[19] = 1; /* no write-ahead log */
    size_t pages = size / 512;
    for (unsigned b = 0; b < 4; b++) bytes[28 + b] = (unsigned char)(pages >> (24U - 8U * b));
    memcpy(bytes + 60, version, sizeof version);
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
        hfi_schema_check(ctx, db, HFI_ENVELOPE_SCHEMA, "e.hf") == HF_OK &&
        hfi_schema_seal(db, HFI_ENVELOPE_SCHEMA) == SQLITE_OK)
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
        load_sealed(ctx, copy, size);
        repair_header(copy, size - size % 512);
        load(ctx, copy, size - size % 512);
        load_sealed(ctx, copy, size - size % 512);
        free(copy);
    }
    hf_context_free(ctx);
    return 0;
}
