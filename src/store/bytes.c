/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file into memory. */
#include "store/file.h"

#include "data/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static hf_status read_failed(hf_context *ctx, const char *path)
{
    char words[128];
    return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be read: %s", path, hfi_error_text(errno, words));
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
            return read_failed(ctx, path);
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
    if (fd < 0) return read_failed(ctx, path);
    struct stat info;
    hf_status status;
    if (fstat(fd, &info) != 0)
        status = read_failed(ctx, path);
    else if (S_ISDIR(info.st_mode))
        status = hfi_fail(ctx, HF_ERR_IO, "%s: it is a folder, not a model file", path);
    else
        status = read_all(ctx, fd, path, info.st_size > 0 ? (size_t)info.st_size : 4096, bytes, size);
    close(fd);
    return status;
}
