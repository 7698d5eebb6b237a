/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file file.h
 * @brief Files of models, envelopes, tracks and studies:
 * SQLite databases, documented in docs/model-format.md.
 *
 * Writing makes the database in memory and writes its bytes in one go beside the final place;
 * reading takes the whole file into memory first. SQLite therefore never opens a file here: no
 * journals, no locks, nothing half-written, and a file that is being attacked is read exactly once.
 */
#ifndef HFI_STORE_FILE_H
#define HFI_STORE_FILE_H

#include "core/core.h"
#include "core/settings.h"
#include "core/sha256.h"
#include "kernel/kernel.h"
#include "store/database.h"
#include <holdfast/model.h>

/** "HFmd" in the database header, so that file(1) and we can tell a model from any other
 * database. */
#define HFI_APPLICATION_ID 0x48466d64
/** "HFen": an envelope. */
#define HFI_ENVELOPE_ID      0x4846656e
#define HFI_ENVELOPE_VERSION 2
/** An envelope without an offset is written as this one. */
#define HFI_ENVELOPE_PLAIN 1
/** Envelopes have the tables of this version of the model format. */
#define HFI_ENVELOPE_SCHEMA 1
/** "HFtr": a track. */
#define HFI_TRACK_ID      0x48467472
#define HFI_TRACK_VERSION 2
/** A track without a snapshot is written as this one. */
#define HFI_TRACK_PLAIN 1
/** "HFst": a study. */
#define HFI_STUDY_ID      0x48467374
#define HFI_STUDY_VERSION 1
/** Readings that an envelope file may reserve memory for: a file from strangers must not ask for
 * more than people have. */
#define HFI_ENVELOPE_RESERVE ((size_t)4096)
/** Latest version of the format; user_version of the database. Written for models with a prior of
 * lengthscales other than the weak one, with inputs as they are, or with a mean column; for those
 * of readings with codes of categories; and for nothing else. */
#define HFI_FORMAT_VERSION 6
/** Other models with a transform. */
#define HFI_FORMAT_TRANSFORM 5
/** Numbers of the array `suspects`: undecided, chance, error and sd with the suspects, and without.
 * */
#define HFI_EVIDENCE_NUMBERS 6
/** Classifiers. */
#define HFI_FORMAT_CLASSES 4
/** Several outputs. */
#define HFI_FORMAT_OUTPUTS 3
/** A model of one output that needs nothing of version 3 is written as this one. */
#define HFI_FORMAT_ONE_OUTPUT 2
/** Arrays larger than this are split by rows over several entries of the table `array`: far below
 * what SQLite allows (1 GB), so that neither writing, reading nor checksums ever need a large array
 * twice. */
#define HFI_PIECE_BYTES ((size_t)64 << 20)

/** Kind of a file. Envelopes have the tables of a model of format 1, tracks and studies their own,
 * and each has marks of its own. */
typedef struct hfi_file_kind {
    uint32_t application; /* in the database header */
    unsigned newest;      /* version of its format */
    const char *noun;     /* "model" */
    const char *article;  /* "a model" */
    const char *maker;    /* how one is made */
    const char *again;    /* how to go on when it cannot be read */
    const char *reader;   /* who reads it */
} hfi_file_kind;

extern const hfi_file_kind hfi_kind_model, hfi_kind_envelope, hfi_kind_track, hfi_kind_study;

/* ---- bytes (image.c) ------------------------------------------------------------------------- */

/** Reads a whole file. *bytes is hfi_alloc'ed. HF_ERR_IO with the system's words. */
hf_status hfi_file_read(hf_context *ctx, const char *path, unsigned char **bytes, size_t *size);

/** Whether the first bytes of a file, `known` of them (512 or all), are a header: that of a
 * database of that kind and of a format we know: HF_ERR_MODEL_FILE with what it is instead. */
hf_status hfi_file_marks(hf_context *ctx, const hfi_file_kind *kind, const unsigned char *bytes,
                         size_t known, const char *name);
/** Whether it is as long as its header says. */
hf_status hfi_file_length(hf_context *ctx, const hfi_file_kind *kind, const unsigned char *bytes,
                          size_t size, const char *name);

/* ---- tables (schema.c) ----------------------------------------------------------------------- */

/** A table, which is recognised by its name and the exact text that made it: a file whose tables
 * are views, virtual tables or have triggers is not ours, whatever it would answer. */
typedef struct hfi_file_table {
    const char *name, *create;
    const char
        /* every column of every row that the checksum is over, in an order that does not depend on
         * how they were inserted */
        *select;
} hfi_file_table;

/** All tables of a file that have a select; the first is `meta`, with content_sha256. */
typedef struct hfi_file_tables {
    size_t count;
    const hfi_file_table *table;
} hfi_file_tables;

/** Those of a version of the format of models. */
hfi_file_tables hfi_model_tables(unsigned version);

/** Creates the tables, empty. SQLite result code. */
int hfi_tables_create(sqlite3 *db, const hfi_file_tables *list);
/** HF_ERR_MODEL_FILE unless the database has these tables, as hfi_tables_create() made them. */
hf_status hfi_tables_check(hf_context *ctx, sqlite3 *db, const hfi_file_tables *list,
                           const char *path);
/** The same unless it has `count` tables in all, the indices that SQLite makes for their keys, and
 * nothing else. */
hf_status hfi_tables_check_count(hf_context *ctx, sqlite3 *db, size_t count, const char *noun,
                                 const char *path);
/** Whether the database has a table of that name, made by exactly that text. */
bool hfi_tables_has(sqlite3 *db, const char *name, const char *create);
/** SHA-256 over all values of all tables but the checksum itself. SQLite result code. */
int hfi_tables_digest(sqlite3 *db, const hfi_file_tables *list, hfi_sha256 *hash);

/** HF_ERR_MODEL_FILE unless the database has exactly the tables of that version of models. */
hf_status hfi_schema_check(hf_context *ctx, sqlite3 *db, unsigned version, const char *path);
/** Stores the digest of these tables. SQLite result code. */
int hfi_tables_seal(sqlite3 *db, const hfi_file_tables *list);

/* ---- scalars (field_value.c, fields.c) ------------------------------------------------------- */

typedef enum hfi_field_type {
    HFI_SIZE,   /* size_t; files have 2^63 - 1 for all that is more */
    HFI_REAL,   /* double; NaN is stored as NULL */
    HFI_FLAG,   /* bool */
    HFI_CHOICE, /* an enum of at most `choices` values from 0 on, stored as its name */
    HFI_TEXT,   /* a text of its own, without zero bytes */
    HFI_TEXT_OR_NULL
} hfi_field_type;

/** One number of a struct and its key in the table meta. */
typedef struct hfi_file_field {
    const char *key;
    hfi_field_type type;
    size_t offset;
    const char *const *names; /* HFI_CHOICE only */
    size_t choices;
    unsigned since; /* format version that has it first */
} hfi_file_field;

/** Texts of a field that is a setting. */
typedef struct hfi_setting_key {
    char key[48];
    const char *names[HFI_MOST_CHOICES];
} hfi_setting_key;
/** A row of a table of settings as a field, which refers to `room`; false: files do not keep it. */
bool hfi_setting_field(const hfi_setting *row, hfi_setting_key *room, hfi_file_field *out);

/** The field of `object` as a value of a statement; of no type when it is out of range. */
hfi_sql_value hfi_file_field_value(const hfi_file_field *field, const void *object);
/** Takes the value in a column of the present row; texts are copies in that memory.
 * HF_ERR_MODEL_FILE without a message when it is of the wrong type or out of range, HF_ERR_MEMORY
 * likewise. */
hf_status hfi_file_field_take(const hfi_memory *memory, sqlite3_stmt *statement, int column,
                              const hfi_file_field *field, void *object);

/* ---- rows that are structs (rows.c) ---------------------------------------------------------- */

/** Rows of a position, counted from 0, and fields, in the order of the table's columns. */
typedef struct hfi_file_rows {
    const char *noun;   /* "variable" */
    const char *insert; /* ?1: position, then the fields */
    const char *select; /* position and fields, in order of the positions */
    size_t fields;
    const hfi_file_field *field; /* key: as messages call a text */
} hfi_file_rows;

enum {
    HFI_MOST_ROW_FIELDS = 12
};

/* ---- lists of names (rows.c) ------------------------------------------------------------ */

/** Rows of a position, counted from 0, and a text. */
typedef struct hfi_text_rows {
    const char *noun;   /* "input" */
    const char *insert; /* ?1: position, ?2: text, ?3 if there is one: whose list it is */
    const char *select; /* position and text, in order; ?1 if there is one: whose list */
} hfi_text_rows;
/** A list of copies; NULL when out of memory. */
char **hfi_texts_copy(const hfi_memory *memory, const char *const *texts, size_t count);
/** NULL is fine, for all or for one. */
void hfi_texts_free(const hfi_memory *memory, char **texts, size_t count);

#endif
