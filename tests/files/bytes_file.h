/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bytes_file.h
 * @brief A temporary file of any bytes whatever, for those who open files by their paths.
 */
#ifndef HF_TESTS_FILES_BYTES_FILE_H
#define HF_TESTS_FILES_BYTES_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct bytes_file {
    char path[64];
} bytes_file;

/* False where it cannot be written; remove() it. */
static inline bool bytes_file_make(bytes_file *file, const void *bytes, size_t size)
{
    const char *below = getenv("TMPDIR");
    if (below == NULL || strlen(below) > 30) below = "/tmp";
    snprintf(file->path, sizeof file->path, "%s/holdfast-bytes-XXXXXX", below);
    const int descriptor = mkstemp(file->path);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (stream == NULL) return false;
    const bool written = fwrite(bytes, 1, size, stream) == size;
    return fclose(stream) == 0 && written;
}

#endif
