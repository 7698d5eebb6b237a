/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files in and out; what is written appears complete or not at all. */
/* realpath() */
#define _XOPEN_SOURCE 700
#include "model/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *hfi_error_words(int error, char *buffer, size_t bytes)
{
    if (strerror_r(error, buffer, bytes) != 0) snprintf(buffer, bytes, "system error %d", error);
    return buffer;
}

static hf_status io_error(hf_context *ctx, const char *path, const char *doing)
{
    char words[128];
    return hfi_fail(ctx, HF_ERR_IO, "%s: cannot %s: %s", path, doing,
                    hfi_error_words(errno, words, sizeof words));
}

/* Reads until the end; the size of a file may change while it is read, and a pipe has none. */
static hf_status read_all(hf_context *ctx, int fd, const char *path, size_t guess, unsigned char **out,
                          size_t *size)
{
    size_t capacity = guess + 1, used = 0;
    unsigned char *bytes = hfi_alloc(ctx, capacity, 1);
    while (bytes != NULL) {
        ssize_t got = read(fd, bytes + used, capacity - used);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            hfi_free(ctx, bytes);
            return io_error(ctx, path, "read");
        }
        if (got == 0) break;
        used += (size_t)got;
        if (used < capacity) continue;
        unsigned char *larger = capacity > SIZE_MAX / 2 ? NULL : hfi_alloc(ctx, 2 * capacity, 1);
        if (larger != NULL) memcpy(larger, bytes, used);
        hfi_free(ctx, bytes);
        bytes = larger;
        capacity *= 2;
    }
    if (bytes == NULL) return HF_ERR_MEMORY;
    *out = bytes;
    *size = used;
    return HF_OK;
}

hf_status hfi_file_read(hf_context *ctx, const char *path, unsigned char **bytes, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_error(ctx, path, "open");
    struct stat info;
    hf_status status;
    if (fstat(fd, &info) != 0)
        status = io_error(ctx, path, "read");
    else if (S_ISDIR(info.st_mode))
        status = hfi_fail(ctx, HF_ERR_IO, "%s: is a directory, not a model file", path);
    else
        status = read_all(ctx, fd, path, info.st_size > 0 ? (size_t)info.st_size : 4096, bytes, size);
    close(fd);
    return status;
}

static bool write_all(int fd, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, bytes, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        bytes += done;
        size -= (size_t)done;
    }
    return true;
}

static hf_status write_directly(hf_context *ctx, const char *path, const unsigned char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return io_error(ctx, path, "write");
    bool written = write_all(fd, bytes, size);
    int error = errno;
    if (close(fd) != 0 && written) {
        written = false;
        error = errno;
    }
    errno = error;
    return written ? HF_OK : io_error(ctx, path, "write");
}

/* A new file gets the permissions any program gives it, one that is replaced keeps its own; mkstemp's are
 * 0600. */
static void set_permissions(int fd, const struct stat *old)
{
    mode_t mode;
    if (old != NULL) {
        mode = old->st_mode & 07777;
    } else {
        /* The mask can only be read by setting it; another thread that makes a file in between gets 077 of
         * it. */
        mode_t mask = umask(077);
        umask(mask);
        mode = 0666 & ~mask;
    }
    /* Not being able to is no reason to lose the model. */
    if (fchmod(fd, mode) != 0) errno = 0;
}

static hf_status write_beside(hf_context *ctx, const char *path, const struct stat *old,
                              const unsigned char *bytes, size_t size)
{
    size_t length = strlen(path);
    char *beside = hfi_alloc(ctx, length + 16, 1);
    if (beside == NULL) return HF_ERR_MEMORY;
    snprintf(beside, length + 16, "%s.part-XXXXXX", path);
    int fd = mkstemp(beside);
    if (fd < 0) {
        hfi_free(ctx, beside);
        return io_error(ctx, path, "write");
    }
    set_permissions(fd, old);
    bool written = write_all(fd, bytes, size) && fsync(fd) == 0;
    int error = errno;
    if (close(fd) != 0 && written) {
        written = false;
        error = errno;
    }
    if (written && rename(beside, path) != 0) {
        written = false;
        error = errno;
    }
    if (!written) unlink(beside);
    hfi_free(ctx, beside);
    errno = error;
    return written ? HF_OK : io_error(ctx, path, "write");
}

hf_status hfi_file_write(hf_context *ctx, const char *path, const unsigned char *bytes, size_t size)
{
    struct stat info;
    if (stat(path, &info) != 0) return write_beside(ctx, path, NULL, bytes, size);
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return io_error(ctx, path, "write");
    }
    if (!S_ISREG(info.st_mode)) return write_directly(ctx, path, bytes, size);
    /* Through a symbolic link, so that the link stays one. */
    char *real = realpath(path, NULL);
    hf_status status = write_beside(ctx, real != NULL ? real : path, &info, bytes, size);
    free(real);
    return status;
}
