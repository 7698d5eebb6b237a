/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* lstat */
#include "store/database.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ending[] = "-journal";

struct hfi_two_names {
    hfi_memory memory;
    sqlite3_vfs files; /* registered under `name`, which no other open database has */
    sqlite3_vfs *below;
    char *path, *journal;
    char name[40];
};

/* ---- two names ------------------------------------------------------------------------------------------------ */

static hfi_two_names *names_of(sqlite3_vfs *files)
{
    return files->pAppData;
}

/* Looked at without following a link: SQLite does not follow one either when it opens a journal. */
static bool is_plain_journal(const char *path)
{
    struct stat about;
    return lstat(path, &about) != 0 || (S_ISREG(about.st_mode) && about.st_nlink <= 1);
}

/* Files without a name are SQLite's own, made and unlinked where temporary files go. */
static int open_file(sqlite3_vfs *files, const char *name, sqlite3_file *file, int flags, int *opened)
{
    const hfi_two_names *own = names_of(files);
    const bool journal = name != NULL && strcmp(name, own->journal) == 0;
    file->pMethods = NULL;
    if (name != NULL && !journal && strcmp(name, own->path) != 0) return SQLITE_CANTOPEN;
    if (journal && !is_plain_journal(name)) return SQLITE_CANTOPEN;
    return own->below->xOpen(own->below, name, file, flags | SQLITE_OPEN_NOFOLLOW, opened);
}

static int delete_file(sqlite3_vfs *files, const char *name, int sync_folder)
{
    const hfi_two_names *own = names_of(files);
    if (strcmp(name, own->journal) != 0) return SQLITE_IOERR_DELETE;
    return own->below->xDelete(own->below, name, sync_folder);
}

/* A write-ahead log is asked for whenever a database is opened; there is none, whatever lies beside. */
static int look_at_file(sqlite3_vfs *files, const char *name, int flags, int *answer)
{
    const hfi_two_names *own = names_of(files);
    const size_t length = strlen(own->path);
    *answer = 0;
    if (strcmp(name, own->path) == 0 || strcmp(name, own->journal) == 0)
        return own->below->xAccess(own->below, name, flags, answer);
    const bool log = strncmp(name, own->path, length) == 0 && strcmp(name + length, "-wal") == 0;
    return log ? SQLITE_OK : SQLITE_IOERR_ACCESS;
}

static int full_path(sqlite3_vfs *files, const char *name, int bytes, char *out)
{
    if (strcmp(name, names_of(files)->path) != 0 || strlen(name) >= (size_t)bytes) return SQLITE_CANTOPEN;
    memcpy(out, name, strlen(name) + 1);
    return SQLITE_OK;
}

static int random_bytes(sqlite3_vfs *files, int count, char *out)
{
    sqlite3_vfs *below = names_of(files)->below;
    return below->xRandomness(below, count, out);
}

static int sleep_for(sqlite3_vfs *files, int microseconds)
{
    sqlite3_vfs *below = names_of(files)->below;
    return below->xSleep(below, microseconds);
}

static int current_time(sqlite3_vfs *files, double *days)
{
    sqlite3_vfs *below = names_of(files)->below;
    return below->xCurrentTime(below, days);
}

static int last_error(sqlite3_vfs *files, int bytes, char *out)
{
    sqlite3_vfs *below = names_of(files)->below;
    return below->xGetLastError(below, bytes, out);
}

static void forget_names(hfi_two_names *own)
{
    const hfi_memory memory = own->memory;
    if (own->files.zName != NULL) sqlite3_vfs_unregister(&own->files);
    HFI_MEMORY_FREE(&memory, own->path, own->journal, own);
}

static char *with_journal(const hfi_memory *memory, const char *path)
{
    const size_t length = strlen(path);
    char *name = hfi_memory_alloc(memory, length + sizeof ending, 1);
    if (name == NULL) return NULL;
    memcpy(name, path, length);
    memcpy(name + length, ending, sizeof ending);
    return name;
}

static hfi_two_names *learn_names(const hfi_memory *memory, const char *path)
{
    sqlite3_vfs *below = sqlite3_vfs_find(NULL);
    hfi_two_names *own = hfi_memory_alloc(memory, 1, sizeof *own);
    if (own == NULL) return NULL;
    *own = (hfi_two_names){.memory = *memory,
                           .below = below,
                           .path = hfi_memory_strdup(memory, path),
                           .journal = with_journal(memory, path)};
    sqlite3_snprintf(sizeof own->name, own->name, "holdfast-%p", (void *)own);
    if (below == NULL || own->path == NULL || own->journal == NULL) {
        forget_names(own);
        return NULL;
    }
    own->files = (sqlite3_vfs){.iVersion = 1,
                               .szOsFile = below->szOsFile,
                               .mxPathname = below->mxPathname,
                               .zName = own->name,
                               .pAppData = own,
                               .xOpen = open_file,
                               .xDelete = delete_file,
                               .xAccess = look_at_file,
                               .xFullPathname = full_path,
                               .xRandomness = random_bytes,
                               .xSleep = sleep_for,
                               .xCurrentTime = current_time,
                               .xGetLastError = last_error};
    if (sqlite3_vfs_register(&own->files, 0) == SQLITE_OK) return own;
    own->files.zName = NULL;
    forget_names(own);
    return NULL;
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

int hfi_database_in_memory(sqlite3 **db)
{
    return sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY,
                           NULL);
}

int hfi_database_open(const hfi_memory *memory, const char *path, bool write, sqlite3 **db,
                      hfi_two_names **files)
{
    *db = NULL;
    *files = NULL;
    if (sqlite3_initialize() != SQLITE_OK) return SQLITE_NOMEM;
    *files = learn_names(memory, path);
    if (*files == NULL) return SQLITE_NOMEM;
    return sqlite3_open_v2(path, db, write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, (*files)->name);
}

void hfi_database_close(sqlite3 **db, hfi_two_names **files)
{
    sqlite3_close(*db);
    *db = NULL;
    if (*files != NULL) forget_names(*files);
    *files = NULL;
}

void hfi_database_distrust(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
}

static int reads_only(void *arg, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)arg, (void)a, (void)b, (void)c, (void)d;
    const bool reads = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION;
    return reads ? SQLITE_OK : SQLITE_DENY;
}

void hfi_database_views(sqlite3 *db, int (*ask)(void *), void *arg)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 24);
    sqlite3_set_authorizer(db, reads_only, NULL);
    sqlite3_progress_handler(db, 100000, ask, arg);
}

/* ---- statements ----------------------------------------------------------------------------------------------- */

hfi_sql_value hfi_whole(uint64_t value)
{
    hfi_sql_value out = {.type = SQLITE_INTEGER};
    memcpy(&out.whole, &value, sizeof out.whole);
    return out;
}

hfi_sql_value hfi_number(double value)
{
    return (hfi_sql_value){.type = SQLITE_FLOAT, .number = value};
}

hfi_sql_value hfi_text(const char *text)
{
    return (hfi_sql_value){.type = SQLITE_TEXT, .bytes = text};
}

hfi_sql_value hfi_blob(const void *bytes, size_t size)
{
    return (hfi_sql_value){.type = SQLITE_BLOB, .bytes = bytes, .size = size};
}

static int bind(sqlite3_stmt *s, int at, const hfi_sql_value *value)
{
    switch (value->type) {
    case SQLITE_INTEGER:
        return sqlite3_bind_int64(s, at, value->whole);
    case SQLITE_FLOAT:
        return sqlite3_bind_double(s, at, value->number);
    case SQLITE_TEXT:
        return sqlite3_bind_text(s, at, value->bytes, -1, SQLITE_STATIC);
    case SQLITE_BLOB:
        return value->size > 0 ? sqlite3_bind_blob64(s, at, value->bytes, value->size, SQLITE_STATIC)
                               : sqlite3_bind_zeroblob(s, at, 0);
    default:
        return SQLITE_MISMATCH;
    }
}

int hfi_statement_bind(sqlite3_stmt *statement, size_t count, const hfi_sql_value *values)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) rc = bind(statement, (int)i + 1, &values[i]);
    return rc;
}

int hfi_statement_open(sqlite3 *db, const char *sql, size_t count, const hfi_sql_value *values,
                       sqlite3_stmt **out)
{
    *out = NULL;
    const int rc = sqlite3_prepare_v2(db, sql, -1, out, NULL);
    return rc == SQLITE_OK ? hfi_statement_bind(*out, count, values) : rc;
}

int hfi_statement_run(sqlite3 *db, const char *sql, size_t count, const hfi_sql_value *values)
{
    sqlite3_stmt *statement = NULL;
    int rc = hfi_statement_open(db, sql, count, values, &statement);
    if (rc == SQLITE_OK && sqlite3_step(statement) != SQLITE_DONE) rc = sqlite3_extended_errcode(db);
    sqlite3_finalize(statement);
    return rc;
}

sqlite3_stmt *hfi_statement_row(sqlite3 *db, const char *sql, size_t count, const hfi_sql_value *values)
{
    sqlite3_stmt *statement = NULL;
    if (hfi_statement_open(db, sql, count, values, &statement) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

/* ---- the journal ---------------------------------------------------------------------------------------------- */

/* A journal that names another file ends in the mark that each of its headers begins with. */
static bool names_a_file(int descriptor, off_t size)
{
    static const unsigned char mark[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char last[sizeof mark];
    if (size < (off_t)sizeof last) return false;
    const ssize_t got = pread(descriptor, last, sizeof last, size - (off_t)sizeof last);
    return got == (ssize_t)sizeof last && memcmp(last, mark, sizeof mark) == 0;
}

static const char *fault_of(const char *journal)
{
    struct stat about;
    if (lstat(journal, &about) != 0) return NULL;
    if (S_ISLNK(about.st_mode)) return "is a link";
    if (!S_ISREG(about.st_mode)) return "is a folder, a device or a pipe";
    if (!is_plain_journal(journal)) return "is a file with a second name";
    const int descriptor = open(journal, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return NULL; /* SQLite says why */
    const bool fault = fstat(descriptor, &about) == 0 && names_a_file(descriptor, about.st_size);
    close(descriptor);
    return fault ? "names another file, to be deleted" : NULL;
}

bool hfi_journal_fault(const hfi_memory *memory, const char *path, const char **fault)
{
    char *journal = with_journal(memory, path);
    if (journal == NULL) return false;
    *fault = fault_of(journal);
    hfi_memory_free(memory, journal);
    return true;
}
