/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database.h
 * @brief Where SQLite is opened: in memory, or on one file and its rollback journal and nothing
 * else.
 *
 * A journal may name further files (a "super-journal"), which SQLite looks at and deletes once the
 * journal is played back. Somebody else's journal would so delete any file that its reader may
 * delete. A database on disk is therefore opened through a file system of its own, which knows two
 * names: its path, and its path with "-journal" at the end. Every other name is refused, for
 * looking, opening and deleting; and so is a journal that is no file, or is a link, or has a second
 * name.
 */
#ifndef HFI_MODEL_DATABASE_H
#define HFI_MODEL_DATABASE_H

#include "core/core.h"

#include <sqlite3.h>

/** A file system of two names. */
typedef struct hfi_two_names hfi_two_names;

/** An empty database in memory. SQLite result code; *db is to be closed whatever it is. */
int hfi_database_in_memory(sqlite3 **db);

/** The database at `path`, which is absolute and free of links (realpath); *files must live for as
 * long as *db. SQLite result code; both are to be given to hfi_database_close() whatever it is.
 * Thread-safe. */
int hfi_database_open(const hfi_memory *memory, const char *path, bool write, sqlite3 **db,
                      hfi_two_names **files);
/** Closes and releases both, and sets them to NULL. */
void hfi_database_close(sqlite3 **db, hfi_two_names **files);

/** Forbids a stranger's database to run triggers and views, and to call functions that reach
 * outside. */
void hfi_database_distrust(sqlite3 *db);

/** Lets a distrusted database run views all the same, and nothing but reading in them: no
 * recursion, no value above 16 MiB; `ask` is asked every 10^5 steps, and what it returns but 0
 * interrupts. */
void hfi_database_views(sqlite3 *db, int (*ask)(void *), void *arg);

/* ---- statements ------------------------------------------------------------------------------ */

/** A value for a parameter of a statement. The bytes that it points to must live as long as it is
 * bound. */
typedef struct hfi_sql_value {
    int type; /* SQLITE_INTEGER and so on; 0: of no type, which cannot be bound */
    sqlite3_int64 whole;
    double number;
    const void *bytes; /* of a text up to its zero */
    size_t size;       /* of bytes that are no text */
} hfi_sql_value;

/** 64 bits, which SQLite takes for a signed number. */
hfi_sql_value hfi_whole(uint64_t value);
hfi_sql_value hfi_number(double value);
/** NULL is one too. */
hfi_sql_value hfi_text(const char *text);
/** NULL: no bytes, which are some all the same. */
hfi_sql_value hfi_blob(const void *bytes, size_t size);
/** Values for the parameters ?1, ?2, ... and how many there are, as the functions below take
 * them. */
#define HFI_VALUES(...)                                                                            \
    sizeof((hfi_sql_value[]){__VA_ARGS__}) / sizeof(hfi_sql_value), (hfi_sql_value[])              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/** SQLite result code, as those below. */
int hfi_statement_bind(sqlite3_stmt *statement, size_t count, const hfi_sql_value *values);
/** Prepared and bound; *out is to be finalized whatever the result is. */
int hfi_statement_open(sqlite3 *db, const char *sql, size_t count, const hfi_sql_value *values,
                       sqlite3_stmt **out);
/** Runs one that gives no rows. */
int hfi_statement_run(sqlite3 *db, const char *sql, size_t count, const hfi_sql_value *values);
/** One at the first row that it gives, to be finalized; NULL when there is none, or it failed. */
sqlite3_stmt *hfi_statement_row(sqlite3 *db, const char *sql, size_t count,
                                const hfi_sql_value *values);

/** Gives in *fault why the journal of the database at `path` is none of ours, as in "its journal,
 * k.hf-journal, <is a pipe>"; NULL where there is nothing against it, or none. Opens nothing that
 * could wait. False: out of memory, and nothing was looked at. */
bool hfi_journal_fault(const hfi_memory *memory, const char *path, const char **fault);

#endif
