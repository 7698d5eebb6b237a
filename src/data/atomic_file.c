/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_TMPFILE, realpath */
#include "data/atomic_file.h"

#include "data/text.h"

#include <holdfast/table.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 1 << 16,
    NAME_ATTEMPTS = 100
};

static hf_status write_failed(hf_context *ctx, const hfi_file *file, int error)
{
    char words[128];
    return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be written: %s", file->label, hfi_error_text(error, words));
}

/* ---- begin ----------------------------------------------------------------------------------- */

/* Length of the folder part of a path, with its slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Hard to guess, so that two programs that write the same file do not meet. Nor can anybody lie in wait with
 * a link of that name (O_EXCL refuses one anyway). */
static uint64_t random_name(const void *salt)
{
    uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        bits = (uint64_t)(hfi_now() * 1e9) ^ ((uint64_t)getpid() << 40) ^ (uint64_t)(uintptr_t)salt;
    return bits;
}

/* "folder/.holdfast-0123456789abcdef.tmp" beside the final file: only there is a rename atomic.
 * NULL when out of memory. */
static char *temporary_name(const hfi_file *file)
{
    const size_t folder = folder_length(file->path), bytes = folder + 40;
    char *name = hfi_memory_alloc(&file->memory, bytes, 1);
    if (name == NULL) return NULL;
    memcpy(name, file->path, folder);
    hfi_print(name + folder, bytes - folder, ".holdfast-%016" PRIx64 ".tmp", random_name(file));
    return name;
}

/* A file without a name in the folder of the final one: a program that is killed leaves nothing
 * there. False where the system has none, or no way to name one later. */
static bool create_nameless(hfi_file *file)
{
#ifdef O_TMPFILE
    char folder[PATH_MAX] = ".";
    const size_t length = folder_length(file->path);
    if (length >= sizeof folder || access("/proc/self/fd", X_OK) != 0) return false;
    if (length > 0) {
        memcpy(folder, file->path, length);
        folder[length] = '\0';
    }
    file->descriptor = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
#endif
    return file->descriptor >= 0;
}

static hf_status create_temporary(hf_context *ctx, hfi_file *file)
{
    if (create_nameless(file)) return HF_OK;
    int error = EEXIST;
    for (int attempt = 0; attempt < NAME_ATTEMPTS && (error == EEXIST || error == EINTR); attempt++) {
        file->temporary = temporary_name(file);
        if (file->temporary == NULL) return hfi_out_of_memory(ctx);
        file->descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->descriptor >= 0) return HF_OK;
        error = errno;
        hfi_memory_free(&file->memory, file->temporary); /* not ours to remove */
        file->temporary = NULL;
    }
    return write_failed(ctx, file, error);
}

/* A file that replaces another one keeps its permissions and, where allowed, its owner. */
static hf_status replace(hf_context *ctx, hfi_file *file, const struct stat *old)
{
    char resolved[PATH_MAX];
    if (access(file->label, W_OK) != 0) return write_failed(ctx, file, errno);
    if (realpath(file->label, resolved) == NULL) return write_failed(ctx, file, errno);
    file->path = hfi_memory_strdup(&file->memory, resolved);
    if (file->path == NULL) return hfi_out_of_memory(ctx);
    hf_status status = create_temporary(ctx, file);
    if (status != HF_OK) return status;
    if (fchown(file->descriptor, old->st_uid, old->st_gid) != 0) {
        /* Only root may give a file away; for everybody else it belongs to who writes it, as with any editor.
         */
    }
    if (fchmod(file->descriptor, old->st_mode & 0777U) != 0) return write_failed(ctx, file, errno);
    return HF_OK;
}

static hf_status create_temporary_file(hf_context *ctx, hfi_file *file)
{
    struct stat link;
    if (lstat(file->label, &link) == 0)
        return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be written: it is a link to a file that does not exist",
                        file->label);
    if (file->label[strlen(file->label) - 1] == '/') return write_failed(ctx, file, EISDIR);
    file->path = hfi_memory_strdup(&file->memory, file->label);
    if (file->path == NULL) return hfi_out_of_memory(ctx);
    return create_temporary(ctx, file);
}

/* A device or a pipe: opening one end of a pipe waits for the other. */
static hf_status open_in_place(hf_context *ctx, hfi_file *file)
{
    for (;;) {
        file->descriptor = open(file->label, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        if (file->descriptor >= 0) return HF_OK;
        if (errno != EINTR) return write_failed(ctx, file, errno);
        if (!hfi_progress(ctx, "write", file->done, NAN)) return hfi_cancelled(ctx);
    }
}

static hf_status open_output(hf_context *ctx, hfi_file *file)
{
    struct stat about;
    if (file->standard_output) return HF_OK;
    if (stat(file->label, &about) != 0)
        return errno == ENOENT ? create_temporary_file(ctx, file) : write_failed(ctx, file, errno);
    if (S_ISDIR(about.st_mode))
        return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be written: it is a folder; give a file name",
                        file->label);
    return S_ISREG(about.st_mode) ? replace(ctx, file, &about) : open_in_place(ctx, file);
}

hf_status hfi_file_begin(hf_context *ctx, const char *path, hfi_file *file)
{
    *file = (hfi_file){.memory = hfi_context_memory(ctx), .descriptor = -1, .done = -1};
    if (path == NULL || *path == '\0') return hfi_refuse(ctx, "the name of the output file is empty");
    file->standard_output = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
    file->label = hfi_memory_strdup(&file->memory, file->standard_output ? "standard output" : path);
    file->buffer = hfi_memory_alloc(&file->memory, BUFFER_BYTES, 1);
    hf_status status = HF_OK;
    if (file->label == NULL || file->buffer == NULL) status = hfi_out_of_memory(ctx);
    if (status == HF_OK) status = open_output(ctx, file);
    if (status != HF_OK) hfi_file_abort(file);
    return status;
}

/* ---- write ----------------------------------------------------------------------------------- */

/* One write, in which a signal may cut in. Through stdio where the program's other output goes that way, to
 * keep the order. */
static ssize_t write_once(hfi_file *file, const char *bytes, size_t count)
{
    if (!file->standard_output) return write(file->descriptor, bytes, count);
    errno = 0;
    size_t put = fwrite(bytes, 1, count, stdout);
    if (put == count) return (ssize_t)put;
    if (errno != EINTR) return -1;
    clearerr(stdout);
    return (ssize_t)put;
}

static hf_status write_out(hf_context *ctx, hfi_file *file, const char *bytes, size_t count)
{
    while (count > 0) {
        if (!hfi_progress(ctx, "write", file->done, NAN)) return hfi_cancelled(ctx);
        ssize_t put = write_once(file, bytes, count < BUFFER_BYTES ? count : BUFFER_BYTES);
        if (put < 0 && errno != EINTR) return write_failed(ctx, file, errno);
        if (put > 0) {
            bytes += put;
            count -= (size_t)put;
        }
    }
    return HF_OK;
}

static hf_status flush(hf_context *ctx, hfi_file *file)
{
    size_t count = file->used;
    file->used = 0;
    return write_out(ctx, file, file->buffer, count);
}

hf_status hfi_file_write(hf_context *ctx, hfi_file *file, const void *bytes, size_t count)
{
    if (count > BUFFER_BYTES - file->used) {
        hf_status status = flush(ctx, file);
        if (status != HF_OK) return status;
    }
    if (count > BUFFER_BYTES) return write_out(ctx, file, bytes, count);
    if (count > 0) memcpy(file->buffer + file->used, bytes, count);
    file->used += count;
    return HF_OK;
}

/* ---- commit and abort ------------------------------------------------------------------------ */

static void free_file_buffers(hfi_file *file)
{
    if (file->descriptor >= 0) close(file->descriptor);
    HFI_MEMORY_FREE(&file->memory, file->label, file->path, file->temporary, file->buffer);
    *file = (hfi_file){.descriptor = -1};
}

/* The rename itself is on disk once the folder is. Not every file system can do that; the file is complete
 * all the same. */
static void sync_folder(const hfi_file *file)
{
    char folder[PATH_MAX] = ".";
    size_t length = folder_length(file->path);
    if (length >= sizeof folder) return;
    if (length > 0) {
        memcpy(folder, file->path, length);
        folder[length] = '\0';
    }
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    (void)fsync(descriptor);
    close(descriptor);
}

/* Gives the nameless file a name that nothing has. */
static bool name_it(const hfi_file *file, const char *name)
{
    char descriptor[40];
    hfi_print(descriptor, sizeof descriptor, "/proc/self/fd/%d", file->descriptor);
    return linkat(AT_FDCWD, descriptor, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* A nameless file takes its place at once, or, where there is a file that it replaces, by a name for a moment. */
static bool put_nameless_in_place(hfi_file *file, bool fresh)
{
    if (name_it(file, file->path)) return true;
    int error = errno;
    for (int attempt = 0; error == EEXIST && !fresh && attempt < NAME_ATTEMPTS; attempt++) {
        char *name = temporary_name(file);
        const bool named = name != NULL && name_it(file, name);
        error = name != NULL ? errno : ENOMEM;
        file->temporary = named ? name : NULL; /* to be removed if this fails */
        if (named) return rename(name, file->path) == 0;
        hfi_memory_free(&file->memory, name);
    }
    errno = error;
    return false;
}

/* Puts the temporary file in place. `fresh`: never over another file; where there are no links, the last look
 * was a moment ago. */
static bool put_in_place(hfi_file *file, bool fresh)
{
    if (file->temporary == NULL) return put_nameless_in_place(file, fresh);
    if (!fresh) return rename(file->temporary, file->path) == 0;
    if (link(file->temporary, file->path) == 0) {
        unlink(file->temporary);
        return true;
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return false;
    if (access(file->path, F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(file->temporary, file->path) == 0;
}

static hf_status finish_atomic_file(hf_context *ctx, hfi_file *file, bool fresh)
{
    hf_status status = flush(ctx, file);
    if (status != HF_OK) return status;
    if (file->standard_output)
        return fflush(stdout) == 0 && !ferror(stdout) ? HF_OK : write_failed(ctx, file, errno);
    const bool beside = file->path != NULL;
    if (beside && fsync(file->descriptor) != 0) return write_failed(ctx, file, errno);
    if (beside && !put_in_place(file, fresh))
        return errno == ENOMEM ? hfi_out_of_memory(ctx) : write_failed(ctx, file, errno);
    const int descriptor = file->descriptor;
    file->descriptor = -1;
    /* A file put in place is on the disk; one written in place can still fail. */
    if (close(descriptor) != 0 && errno != EINTR && !beside) return write_failed(ctx, file, errno);
    if (beside) sync_folder(file);
    return HF_OK;
}

static hf_status commit(hf_context *ctx, hfi_file *file, bool fresh)
{
    hf_status status = finish_atomic_file(ctx, file, fresh);
    if (status != HF_OK)
        hfi_file_abort(file);
    else
        free_file_buffers(file);
    return status;
}

hf_status hfi_file_commit(hf_context *ctx, hfi_file *file)
{
    return commit(ctx, file, false);
}

hf_status hfi_file_commit_new(hf_context *ctx, hfi_file *file)
{
    return commit(ctx, file, true);
}

void hfi_file_abort(hfi_file *file)
{
    if (file->memory.allocate == NULL) return;
    if (file->temporary != NULL) unlink(file->temporary);
    free_file_buffers(file);
}

hf_status hf_file_write(hf_context *ctx, const char *path, const void *bytes, size_t size)
{
    if (path == NULL || (bytes == NULL && size > 0))
        return hfi_refuse(ctx, "hf_file_write: path or bytes is NULL");
    hfi_file file;
    hf_status status = hfi_file_begin(ctx, path, &file);
    if (status == HF_OK) status = hfi_file_write(ctx, &file, bytes, size);
    if (status == HF_OK) status = hfi_file_commit(ctx, &file);
    hfi_file_abort(&file);
    return status;
}
