/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */
/* Which files a command reads and writes: compared before the work, and before anything is lost. */
#include "shell/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one file ------------------------------------------------------------------------------------------------- */

typedef enum place_kind {
    PLACE_NONE, /* nothing to compare: a device, a pipe, a folder, or what is to be read and is not there */
    PLACE_STANDARD,
    PLACE_FILE,
    PLACE_NEW /* not there yet */
} place_kind;

/* Where a path leads, whatever it is called: links are followed. */
typedef struct file_place {
    place_kind kind;
    dev_t device;
    ino_t number;     /* of a new file its folder's */
    const char *base; /* and its name there */
} file_place;

typedef struct named_file {
    const char *path;
    const tool_option *option; /* that names it; NULL: an operand, or a file that goes with another */
    bool read, written;
    bool changed;  /* in place, which the verb is for */
    bool extended; /* what is written holds all of it */
    file_place where;
} named_file;

/* The folder part of a path, "." if it has none; to be freed. */
static char *folder_of(const char *path)
{
    char *folder = strdup(path);
    char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
    if (slash != NULL) slash[slash == folder ? 1 : 0] = '\0';
    if (slash != NULL || folder == NULL) return folder;
    free(folder);
    return strdup(".");
}

static file_place place_of(const char *path)
{
    struct stat about;
    file_place out = {.kind = PLACE_NONE};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        out.kind = PLACE_STANDARD;
        return out;
    }
    const char *slash = strrchr(path, '/');
    const bool there = stat(path, &about) == 0;
    if (there && !S_ISREG(about.st_mode)) return out;
    if (!there) {
        char *folder = folder_of(path);
        const bool found = folder != NULL && stat(folder, &about) == 0;
        free(folder);
        if (!found) return out;
        out.base = slash != NULL ? slash + 1 : path;
    }
    out.kind = there ? PLACE_FILE : PLACE_NEW;
    out.device = about.st_dev;
    out.number = about.st_ino;
    return out;
}

static bool is_same(const file_place *a, const file_place *b)
{
    if (a->kind != b->kind || a->kind == PLACE_NONE) return false;
    if (a->kind == PLACE_STANDARD) return true;
    return a->device == b->device && a->number == b->number &&
           (a->kind == PLACE_FILE || strcmp(a->base, b->base) == 0);
}

/* ---- whether it can be written -------------------------------------------------------------------------------- */

/* The kind of a file that nobody can measure again, "track" or "study"; NULL: none of them. */
static const char *keeper_of(const char *path)
{
    const hf_file_content kind = hf_file_type(path);
    return kind == HF_FILE_TRACK ? "track" : kind == HF_FILE_STUDY ? "study" : NULL;
}

/* No other file takes the place of a track or a study. Nor that of its journal, beside it while it is
 * changed. */
static bool is_a_keeper(const char *path)
{
    static const char ending[] = "-journal";
    const char *what = keeper_of(path);
    if (what != NULL) {
        complain("%s: cannot be written: it is a %s; remove it first if it is not needed", path, what);
        return true;
    }
    char *keeper = realpath(path, NULL); /* of a link, what it stands for */
    if (keeper == NULL) keeper = strdup(path);
    const size_t bytes = keeper != NULL ? strlen(keeper) : 0, end = sizeof ending - 1;
    if (bytes > end && strcmp(keeper + bytes - end, ending) == 0) {
        keeper[bytes - end] = '\0';
        what = keeper_of(keeper);
    }
    if (what != NULL) complain("%s: cannot be written: it is the journal of the %s %s", path, what, keeper);
    free(keeper);
    return what != NULL;
}

static bool is_forbidden(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0) {
        if (!S_ISDIR(info.st_mode) && access(path, W_OK) == 0) return false;
        complain("%s: cannot be written: %s", path,
                 S_ISDIR(info.st_mode) ? "it is a folder" : strerror(errno));
        return true;
    }
    char *folder = folder_of(path);
    if (folder == NULL) return false;
    const bool bad = access(folder, W_OK | X_OK) != 0;
    if (bad) complain("%s: cannot be written: %s", path, strerror(errno));
    free(folder);
    return bad;
}

/* ---- all files of a command ----------------------------------------------------------------------------------- */

typedef struct file_list {
    named_file *file;
    size_t count;
    char *derived[TOOL_DERIVED];
    size_t derived_count;
    tool_names *names; /* of options that take lists, one for each */
    size_t lists;
} file_list;

static void list_free(file_list *list)
{
    for (size_t k = 0; k < list->derived_count; k++) free(list->derived[k]);
    for (size_t k = 0; k < list->lists; k++) names_free(&list->names[k]);
    TOOL_FREE(list->names, list->file);
}

static void add_named_file(file_list *list, const char *path, const tool_option *option, unsigned traits)
{
    named_file file = {.path = path,
                       .option = option,
                       .read = (traits & TOOL_READS) != 0,
                       .written = (traits & TOOL_WRITES) != 0};
    file.where = place_of(path);
    if (file.read && file.where.kind != PLACE_FILE) return;
    list->file[list->count++] = file;
}

/* Files named by an option that may be a list; words that are no file are left out. */
static bool add_names(file_list *list, const tool_arguments *arguments, const tool_option *option)
{
    tool_names *names = &list->names[list->lists];
    if (!argument_names(arguments, option->name, names)) return false;
    list->lists++;
    for (size_t k = 0; k < names->count; k++) add_named_file(list, names->list[k], option, option->traits);
    return true;
}

static bool add_options(file_list *list, const tool_arguments *arguments)
{
    const unsigned files = TOOL_READS | TOOL_WRITES;
    for (size_t i = 0; i < arguments->count; i++) {
        const tool_given *given = &arguments->list[i];
        bool before = false;
        for (size_t k = 0; k < i; k++) before = before || arguments->list[k].option == given->option;
        if ((given->option->traits & files) == 0 || before) continue;
        if ((given->option->traits & TOOL_REPEATS) == 0)
            add_named_file(list, given->value, given->option, given->option->traits);
        else if (!add_names(list, arguments, given->option))
            return false;
    }
    return true;
}

/* Room for every file that arguments can name. */
static bool allocate_file_list(file_list *list, const tool_arguments *arguments)
{
    size_t most = arguments->operands + arguments->count + TOOL_DERIVED;
    for (size_t i = 0; i < arguments->count; i++)
        for (const char *c = arguments->list[i].value; c != NULL && *c != '\0'; c++)
            most += *c == ',' ? 1 : 0;
    list->file = calloc(most, sizeof *list->file);
    list->names = calloc(arguments->count + 1, sizeof *list->names);
    return list->file != NULL && list->names != NULL;
}

/* TOOL_OK, or an exit status after a message. */
static int collect(file_list *list, const tool_arguments *arguments)
{
    const tool_verb *verb = arguments->verb;
    if (!allocate_file_list(list, arguments)) return complain("out of memory");
    for (size_t i = 0; i < arguments->operands && verb->most != SIZE_MAX; i++) {
        const bool changed = verb->changes && i == 0;
        const size_t before = list->count;
        add_named_file(list, arguments->operand[i], NULL, changed ? TOOL_WRITES : TOOL_READS);
        if (list->count == before) continue;
        list->file[before].changed = changed;
        list->file[before].extended = verb->extends && i == 1;
    }
    if (!add_options(list, arguments)) return TOOL_USAGE;
    if (verb->derives != NULL) list->derived_count = verb->derives(arguments, list->derived);
    for (size_t k = 0; k < list->derived_count; k++) {
        if (list->derived[k] == NULL) return complain("out of memory");
        add_named_file(list, list->derived[k], NULL, TOOL_WRITES);
    }
    return TOOL_OK;
}

/* "--mask", "-o", or the file that goes with another, by its name. */
static const char *called(const named_file *file, char words[64])
{
    if (file->option == NULL) return file->path;
    if (file->option->letter == 'o') return "-o";
    snprintf(words, 64, "--%s", file->option->name);
    return words;
}

/* A file that is written, and another one of the command. */
static int check_pair(const tool_verb *verb, const named_file *written, const named_file *other)
{
    char first[64], second[64];
    if (other->extended || !is_same(&written->where, &other->where)) return TOOL_OK;
    if (other->read || other->changed)
        return complain("%s: cannot be written: it is what the command %s; name another file", written->path,
                        other->read ? "reads" : "changes");
    if (written->where.kind == PLACE_STANDARD)
        return usage_error(verb, "%s and %s cannot both go to standard output", called(written, first),
                           called(other, second));
    return usage_error(verb, "%s and %s name the same file, %s", called(written, first),
                       called(other, second), written->path);
}

static int check_file_clashes(const tool_verb *verb, const file_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const named_file *file = &list->file[i];
        if (!file->written || file->changed) continue;
        if (file->where.kind != PLACE_STANDARD && is_a_keeper(file->path)) return TOOL_FAILED;
        for (size_t k = 0; k < list->count; k++) {
            const named_file *other = &list->file[k];
            if (k == i || (k < i && !other->read && !other->changed)) continue; /* two outputs: once */
            const int code = check_pair(verb, file, other);
            if (code != TOOL_OK) return code;
        }
        if (file->where.kind != PLACE_STANDARD && is_forbidden(file->path)) return TOOL_FAILED;
    }
    return TOOL_OK;
}

int files_check(const tool_arguments *arguments)
{
    file_list list = {0};
    int code = collect(&list, arguments);
    if (code == TOOL_OK) code = check_file_clashes(arguments->verb, &list);
    list_free(&list);
    return code;
}

char *with_ending(const char *path, size_t length, const char *ending)
{
    const size_t bytes = length + strlen(ending) + 1;
    char *name = malloc(bytes);
    if (name != NULL) snprintf(name, bytes, "%.*s%s", (int)length, path, ending);
    return name;
}
